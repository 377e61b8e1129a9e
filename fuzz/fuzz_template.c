/*
 * fuzz_template.c - compile and expand any text as a template.
 *
 * Values are data: none is parsed as a template, and none keeps its angle brackets in
 * HTML unless the template asks for that.
 */
#include <string.h>

#include "base/bounds.h"
#include "fuzz.h"
#include "render/template.h"

/* More sections in sections than this only take time. */
#define SECTIONS_MAX 6

#define HOSTILE "<x y='\"&{{#list}}{{hostile}}"
#define ESCAPED "&lt;x y=&#39;&quot;&amp;{{#list}}{{hostile}}"

static const char *const names[] = {
    "hostile", "list", "map", "inner", "yes", "no", "empty", "papers", "titles", NULL};

static struct view *
make_view(void)
{
	struct view *view = view_new_map();
	struct view *list = view_new_list();
	struct view *map = view_new_map();

	view_put_text(view, "hostile", HOSTILE);
	view_append(list, view_new_text(HOSTILE));
	view_put_text(map, "inner", "one");
	view_append(list, map);
	view_append(list, view_new_list());
	view_put(view, "list", list);
	map = view_new_map();
	view_put_text(map, "inner", HOSTILE);
	view_put(map, "list", view_new_list());
	view_put(view, "map", map);
	view_put(view, "yes", view_new_bool(true));
	view_put(view, "no", view_new_bool(false));
	view_put_text(view, "empty", "");
	return view;
}

static void
check_made(const struct template *template, const char *text, bool is_html)
{
	pb_auto(view) view = make_view();
	g_autoptr(GString) out = g_string_new(NULL);

	template_append(template, view, out);
	g_assert(g_utf8_validate_len(out->str, out->len, NULL));
	if (is_html && !strchr(text, '&') && !strchr(text, '<') && !strstr(text, "{{{"))
		g_assert(!strchr(out->str, '<'));
	if (!strstr(text, "{{"))
		g_assert_cmpstr(out->str, ==, text);
}

/* Around any template that is whole, a value is still escaped. */
static void
check_escaped(const char *text)
{
	g_autofree char *longer = g_strconcat(text, "{{hostile}}", NULL);
	pb_auto(template) template =
	    template_parse("label", longer, TEMPLATE_HTML, NULL, NULL);
	pb_auto(view) view = make_view();
	g_autoptr(GString) out = g_string_new(NULL);

	if (!template)
		return;
	template_append(template, view, out);
	g_assert(g_str_has_suffix(out->str, ESCAPED));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	unsigned choice = fuzz_take_byte(&input);
	g_autofree char *text = fuzz_take_text(&input);
	bool is_html = choice & 1;
	g_autoptr(GError) error = NULL;
	pb_auto(template) template = template_parse("label", text,
	    is_html ? TEMPLATE_HTML : TEMPLATE_TEXT, choice & 2 ? names : NULL, &error);
	size_t sections = 0;

	if (!template) {
		fuzz_check_error(error);
		g_assert(g_str_has_prefix(error->message, "label:"));
		return 0;
	}
	for (const char *p = text; (p = strstr(p, "{{")); p++)
		sections += strchr("#", p[2 + strspn(p + 2, " \t")]) != NULL;
	if (sections > SECTIONS_MAX)
		return 0;
	check_made(template, text, is_html);
	check_escaped(text);
	return 0;
}
