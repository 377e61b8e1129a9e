/*
 * test_compiled_template.c - lines encoded before and lines filled later come out as
 * one text.
 */
#include <glib.h>
#include <string.h>

#include "message/encoding.h"
#include "render/compiled_template.h"
#include "render/template.h"
#include "render/view.h"
#include "render/wrap.h"

enum { READER, COUNT, VALUES };

/* Each holds {0}, {1} or nothing, and ends with a line or without. */
static const char *const texts[] = {
    "",
    "no hole at all\nin two lines = 3\n",
    "{0}",
    "{0}\n",
    "To {0}: {1} papers for {0}, which is so long a line that it has to be wrapped\n",
    "first\n{1} in the middle\nlast",
    ".{0}\nFrom {1}\n\n{0}{1}\n  * {1} and more of it, far beyond the columns that "
    "there are\nend = end\n",
};

static const char *const values[][VALUES] = {
    {"reader@example.org", "5"},
    {"", ""},
    {"a \"b\" & <c>", "na\u00EFve \u957F\u6587\u672C\u6A21\u578B"},
    {"{1}", "&lt;"},
};

/* @param value  what stands for {number} */
static char *
replace(const char *text, unsigned number, const char *value)
{
	g_autofree char *mark = g_strdup_printf("{%u}", number);
	g_auto(GStrv) parts = g_strsplit(text, mark, -1);

	return g_strjoinv(value, parts);
}

static struct compiled_template *
new_pattern(const char *text, unsigned columns)
{
	char reader[COMPILED_TEMPLATE_HOLE_BYTES], count[COMPILED_TEMPLATE_HOLE_BYTES];
	g_autofree char *half = NULL;
	g_autofree char *whole = NULL;

	compiled_template_format_hole(READER, reader);
	compiled_template_format_hole(COUNT, count);
	half = replace(text, READER, reader);
	whole = replace(half, COUNT, count);
	return compiled_template_new(whole, columns);
}

/* What the text is without any pattern. */
static char *
format_wanted(const char *text, const char *const *filled, unsigned columns)
{
	/* Backwards, so that no value is taken for a mark. */
	g_auto(GStrv) parts = g_strsplit(text, "{0}", -1);
	char *whole;

	for (unsigned i = 0; parts[i]; i++) {
		char *part = replace(parts[i], COUNT, filled[COUNT]);

		g_free(parts[i]);
		parts[i] = part;
	}
	whole = g_strjoinv(filled[READER], parts);
	if (*text && text[strlen(text) - 1] != '\n') {
		char *ended = g_strconcat(whole, "\n", NULL);

		g_free(whole);
		whole = ended;
	}
	if (columns > 0) {
		char *wrapped = wrap_format_text(whole, columns);

		g_free(whole);
		whole = wrapped;
	}
	return whole;
}

static void
check(const struct compiled_template *pattern, const char *const *filled,
    const char *wanted)
{
	g_autoptr(GString) plain = g_string_new(NULL);
	g_autoptr(GString) encoded = g_string_new(NULL);
	struct chunk_stats sum = {0};
	struct filling filling;

	compiled_template_append_plain(pattern, filled, plain);
	g_assert_cmpstr(plain->str, ==, wanted);

	filling_init(&filling);
	compiled_template_fill(pattern, filled, &filling);
	chunk_stats_append(&sum, encoded, wanted, strlen(wanted));
	g_assert_cmpstr(filling.encoded->str, ==, encoded->str);
	g_assert_cmpmem(&filling.sum, sizeof(sum), &sum, sizeof(sum));
	filling_clear(&filling);
}

static void
it_is_what_the_whole_text_would_be(void)
{
	static const unsigned widths[] = {0, 20, 72};

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		for (size_t j = 0; j < G_N_ELEMENTS(values); j++)
			for (size_t k = 0; k < G_N_ELEMENTS(widths); k++) {
				const char *const reader[] = {values[j][READER], NULL};
				const char *const count[] = {NULL, values[j][COUNT]};
				g_autofree char *wanted =
				    format_wanted(texts[i], values[j], widths[k]);
				struct compiled_template *pattern =
				    new_pattern(texts[i], widths[k]);
				struct compiled_template *bound =
				    compiled_template_bind(pattern, count);
				struct compiled_template *whole =
				    compiled_template_bind(bound, reader);

				check(pattern, values[j], wanted);
				check(bound, values[j], wanted);
				check(whole, values[j], wanted);
				g_assert_false(compiled_template_has_hole(whole));
				g_assert_true(compiled_template_has_hole(bound) ==
				              (strstr(texts[i], "{0}") != NULL));
				compiled_template_free(pattern);
				compiled_template_free(bound);
				compiled_template_free(whole);
			}
}

static void
a_hole_is_escaped_as_its_template_says(void)
{
	static const char wanted[] = "a &lt;b&gt; &amp; c <b>&lt;b&gt;\n";
	const char *const filled[] = {"<b>"};
	g_autoptr(GString) out = g_string_new(NULL);
	g_autoptr(GString) rendered = g_string_new(NULL);
	char placeholder[COMPILED_TEMPLATE_HOLE_BYTES];
	pb_auto(view) view = view_new_map();
	pb_auto(template) template = template_parse(
	    "x", "a {{x}} &amp; c {{{x}}}{{x}}\n", TEMPLATE_HTML, NULL, NULL);
	struct compiled_template *pattern;

	compiled_template_format_hole(0, placeholder);
	view_put_text(view, "x", placeholder);
	template_append(template, view, rendered);
	pattern = compiled_template_new(rendered->str, 0);
	compiled_template_append_plain(pattern, filled, out);
	g_assert_cmpstr(out->str, ==, wanted);
	compiled_template_free(pattern);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/pattern/it is what the whole text would be",
	    it_is_what_the_whole_text_would_be);
	g_test_add_func("/pattern/a hole is escaped as its template says",
	    a_hole_is_escaped_as_its_template_says);
	return g_test_run();
}
