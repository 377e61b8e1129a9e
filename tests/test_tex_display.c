/*
 * test_tex_display.c - TeX that is left in stored text, as people see it.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/tex.h"
#include "base/text.h"
#include "lib/cases.h"
#include "lib/unit.h"
#include "message/sanitize.h"

/* @param name  of a table of texts and what becomes of them; NULL: unchanged */
static void
check_table(const char *name)
{
	CASES_FOREACH(row, name, *in, *out) {
		g_autofree char *shown = tex_display(row->in);

		g_test_message("%s", row->in);
		g_assert_cmpstr(shown, ==, row->out ? row->out : row->in);
	}
}

TEST(formulas_become_unicode)
{
	check_table("tex_display");
}

TEST(formulas_are_converted_whole_or_not_at_all)
{
	check_table("tex_whole");
}

TEST(prices_are_not_formulas)
{
	check_table("tex_prices");
}

TEST(commands_in_text_become_text)
{
	check_table("tex_text");
}

TEST(typography_is_converted)
{
	check_table("tex_typography");
}

/* @return the text that a number of nested groups leaves */
static char *
format_nested(unsigned depth, const char *command)
{
	g_autoptr(GString) text = g_string_new("$");

	for (unsigned i = 0; i < depth; i++)
		g_string_append(text, command);
	g_string_append_c(text, 'x');
	for (unsigned i = 0; i < depth; i++)
		g_string_append_c(text, '}');
	g_string_append_c(text, '$');
	return tex_display(text->str);
}

TEST(limits_hold)
{
	g_autofree char *at = format_nested(BOUNDS_TEX_DEPTH, "{");
	g_autofree char *over = format_nested(BOUNDS_TEX_DEPTH + 1, "{");
	g_autofree char *body = g_strnfill(BOUNDS_TEX_FORMULA_BYTES - 1, 'x');
	g_autofree char *longest = g_strdup_printf("$%s$", body);
	g_autofree char *longer = g_strdup_printf("$%sx$", body);
	g_autofree char *shown = tex_display(longest);
	g_autofree char *unchanged = tex_display(longer);
	g_autofree char *words = g_strnfill(BOUNDS_TEX_ARGUMENT_BYTES - 2, 'x');
	g_autofree char *cite = g_strdup_printf("a \\cite{%s}", words);
	g_autofree char *long_cite = g_strdup_printf("a \\cite{%sx}", words);
	g_autofree char *removed = tex_display(cite);
	g_autofree char *stays = tex_display(long_cite);

	g_assert_cmpstr(at, ==, "x");
	g_assert_cmpstr(over, ==, "${{{{{{{{{x}}}}}}}}}$");
	g_assert_cmpstr(shown, ==, body);
	g_assert_cmpstr(unchanged, ==, longer);
	g_assert_cmpstr(removed, ==, "a");
	g_assert_cmpuint(strlen(stays), ==, strlen(long_cite) - strlen(" \\cite"));
}

TEST(hostile_tex_is_survived)
{
	static const char *const pieces[] = {"\\a{", "{\\a ", "\\cite{", "$\\sqrt{",
	    "$x^{", "\\(", "\\[", "$", "\\", "{", "~\\", "``", "''", "---",
	    "\\frac{1}{", "$\\frac", "\\textsuperscript{", "\\footnote{", "\\foo[",
	    "https://"};

	for (size_t i = 0; i < G_N_ELEMENTS(pieces); i++) {
		g_autoptr(GString) text = g_string_new(NULL);
		g_autofree char *shown = NULL;

		while (text->len < BOUNDS_PAPER_ABSTRACT_BYTES)
			g_string_append(text, pieces[i]);
		shown = tex_display(text->str);
		g_assert_true(g_utf8_validate(shown, -1, NULL));
		/* A formula that is left may have one. */
		if (!strchr(pieces[i], '$'))
			g_assert_null(strchr(shown, '\\'));
	}
}

TEST(any_text_is_shown_without_backslash)
{
	static const char *const alphabet[] = {"\\", "{", "}", "[", "]", "^", "_", "~",
	    "-", "'", "`", "\"", " ", "x", "1", "é", "α", "cite", "sqrt", "frac", "log",
	    "left", "mathcal", "hat", "in", "text", "foo", "https://", "(", ")", ".",
	    "%"};
	g_autoptr(GRand) random = g_rand_new_with_seed(5);

	for (unsigned round = 0; round < 20000; round++) {
		g_autoptr(GString) text = g_string_new(NULL);
		g_autoptr(GString) formula = g_string_new(NULL);
		g_autofree char *shown = NULL;
		g_autofree char *shown_formula = NULL;

		for (int i = g_rand_int_range(random, 0, 20); i > 0; i--)
			g_string_append(text, alphabet[g_rand_int_range(
			                          random, 0, G_N_ELEMENTS(alphabet))]);
		g_string_printf(formula, "a $%s$ b", text->str);
		shown = tex_display(text->str);
		shown_formula = tex_display(formula->str);
		g_test_message("%s", text->str);
		g_assert_true(g_utf8_validate(shown, -1, NULL));
		g_assert_true(g_utf8_validate(shown_formula, -1, NULL));
		if (!strstr(text->str, "\\(") && !strstr(text->str, "\\["))
			g_assert_null(strchr(shown, '\\'));
		if (!strchr(shown_formula, '$'))
			g_assert_null(strchr(shown_formula, '\\'));
	}
}

TEST(stored_text_is_unchanged)
{
	static const char text[] =
	    "the $\\mathcal{O}(n)$ \\method~(X) \\cite{a} -- ``b''";
	g_autofree char *stored =
	    text_normalize(text, strlen(text), BOUNDS_PAPER_TITLE_BYTES);

	g_assert_cmpstr(stored, ==, text);
}

TEST(shown_text_is_one_clean_line)
{
	const struct {
		const char *in;
		size_t limit_chars;
		const char *out;
	} rows[] = {
	    {NULL, 0, ""},
	    {"plain \n text", 0, "plain text"},
	    {"a \\cite{b} \\cite{c} $x^2$", 0, "a x²"},
	    {"\xff$x^2$", 0, "\ufffdx²"},
	    {"$x^2$ is the square of it", 10, "x² is the…"},
	    {"$O(n)$ is fast", 12, "O(n) is fast"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *shown =
		    sanitize_paper_text(rows[i].in, rows[i].limit_chars);

		g_assert_cmpstr(shown, ==, rows[i].out);
	}
}

UNIT_MAIN
