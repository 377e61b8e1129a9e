/*
 * test_compiled_template.c - compiled templates give the same output as templates.
 */
#include <glib.h>
#include <string.h>

#include "lib/unit.h"
#include "message/encoding.h"
#include "render/compiled_template.h"
#include "render/template.h"
#include "render/view.h"
#include "render/wrap.h"

enum { READER, COUNT, VALUES };

/* With or without {0}, {1} and a final LF. */
static const char *const texts[] = {
    "",
    "no placeholder\nin two lines = 3\n",
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

/* Replace {number}. */
static char *
replace(const char *text, unsigned number, const char *value)
{
	g_autofree char *marker = g_strdup_printf("{%u}", number);
	g_auto(GStrv) parts = g_strsplit(text, marker, -1);

	return g_strjoinv(value, parts);
}

static struct compiled_template *
new_compiled(const char *text, unsigned columns)
{
	char reader[COMPILED_TEMPLATE_PLACEHOLDER_BYTES],
	    count[COMPILED_TEMPLATE_PLACEHOLDER_BYTES];
	g_autofree char *half = NULL;
	g_autofree char *whole = NULL;

	compiled_template_format_placeholder(READER, reader);
	compiled_template_format_placeholder(COUNT, count);
	half = replace(text, READER, reader);
	whole = replace(half, COUNT, count);
	return compiled_template_new(whole, columns);
}

/* Substitute first, then wrap. */
static char *
format_expected(const char *text, const char *const *filled, unsigned columns)
{
	/* Split first, so that values are not searched. */
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
check(const struct compiled_template *compiled, const char *const *filled,
    const char *expected)
{
	g_autoptr(GString) plain = g_string_new(NULL);
	g_autoptr(GString) encoded = g_string_new(NULL);
	struct chunk_stats stats = {0};
	g_autoptr(GString) joined = g_string_new(NULL);
	const struct compose_span *spans;
	pb_local(template_buffer) buffer;

	compiled_template_append_plain(compiled, filled, plain);
	g_assert_cmpstr(plain->str, ==, expected);

	template_buffer_init(&buffer);
	compiled_template_fill(compiled, filled, &buffer);
	chunk_stats_append(&stats, encoded, expected, strlen(expected));
	spans = template_buffer_get_spans(&buffer);
	for (unsigned i = 0; i < buffer.spans->len; i++)
		g_string_append_len(joined, spans[i].data, (gssize)spans[i].size);
	g_assert_cmpstr(joined->str, ==, encoded->str);
	g_assert_cmpmem(&buffer.stats, sizeof(stats), &stats, sizeof(stats));
}

TEST(output_equals_the_text_with_all_values)
{
	static const unsigned widths[] = {0, 20, 72};

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		for (size_t j = 0; j < G_N_ELEMENTS(values); j++)
			for (size_t k = 0; k < G_N_ELEMENTS(widths); k++) {
				g_autofree char *expected =
				    format_expected(texts[i], values[j], widths[k]);
				struct compiled_template *compiled =
				    new_compiled(texts[i], widths[k]);

				check(compiled, values[j], expected);
				compiled_template_free(compiled);
			}
}

TEST(placeholder_is_escaped_as_in_its_template)
{
	static const char expected[] = "a &lt;b&gt; &amp; c <b>&lt;b&gt;\n";
	const char *const filled[] = {"<b>"};
	g_autoptr(GString) out = g_string_new(NULL);
	g_autoptr(GString) rendered = g_string_new(NULL);
	char placeholder[COMPILED_TEMPLATE_PLACEHOLDER_BYTES];
	pb_auto(view) view = view_new_map();
	pb_auto(template) template = template_parse(
	    "x", "a {{x}} &amp; c {{{x}}}{{x}}\n", TEMPLATE_HTML, NULL, NULL);
	struct compiled_template *compiled;

	compiled_template_format_placeholder(0, placeholder);
	view_put_text(view, "x", placeholder);
	template_append(template, view, rendered);
	compiled = compiled_template_new(rendered->str, 0);
	compiled_template_append_plain(compiled, filled, out);
	g_assert_cmpstr(out->str, ==, expected);
	compiled_template_free(compiled);
}

UNIT_MAIN
