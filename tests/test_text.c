/*
 * test_text.c - normalisation of external text and links.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/text.h"
#include "lib/cases.h"
#include "lib/unit.h"

/* @param name  of a table of texts and what becomes of them; NULL: unchanged */
static void
check_table(const char *name)
{
	CASES_FOREACH(row, name, *in, *out) {
		const char *want = row->out ? row->out : row->in;
		g_autofree char *once = text_normalize(row->in, strlen(row->in), 1000);
		g_autofree char *shown = g_strescape(row->in, NULL);
		g_autofree char *twice = text_normalize(once, strlen(once), 1000);

		g_test_message("%s", shown);
		g_assert_cmpstr(once, ==, want);
		g_assert_cmpstr(twice, ==, want);
	}
}

TEST(accents_are_decoded)
{
	check_table("tex_accents");
}

TEST(symbols_and_text_commands_are_decoded)
{
	check_table("tex_symbols");
}

TEST(formulas_prices_and_unknown_commands_stay)
{
	check_table("tex_kept");
}

TEST(white_space_becomes_one_blank)
{
	check_table("text_white_space");
}

TEST(invisible_characters_are_removed)
{
	g_autofree char *nul = text_normalize("a\0b", 3, 10);

	check_table("text_invisible");
	g_assert_cmpstr(nul, ==, "ab");
}

TEST(text_is_composed_and_bad_bytes_are_replaced)
{
	check_table("text_composed");
}

TEST(marks_in_a_row_are_limited)
{
	g_autoptr(GString) many = g_string_new("x");
	g_autofree char *at = NULL;
	g_autofree char *over = NULL;

	for (int i = 0; i < 30; i++)
		g_string_append(many, "\xCC\xA3");
	at = text_normalize(many->str, many->len, 1000);
	g_assert_cmpstr(at, ==, many->str);
	g_string_append(many, "\xCC\xA3");
	over = text_normalize(many->str, many->len, 1000);
	g_assert_cmpstr(over, ==, at);
}

TEST(long_text_is_cut_at_a_character)
{
	g_autofree char *blanks = g_strnfill(100000, ' ');
	g_autofree char *late = g_strconcat(blanks, "late", NULL);
	g_autofree char *found = text_normalize(late, strlen(late), 4);

	CASES_FOREACH(row, "text_cut", *in, *max, *out) {
		g_autofree char *out =
		    text_normalize(row->in, strlen(row->in), cases_number(row->max));

		g_assert_cmpstr(out, ==, row->out);
	}
	g_assert_cmpstr(found, ==, "late");
}

/* Nesting and unclosed arguments must exhaust neither stack nor time. */
TEST(hostile_tex_is_survived)
{
	static const char *const pieces[] = {"\\textbf{", "{\\it ", "{\\'",
	    "{\\textbf{", "$\\textbf{", "\\(", "$", "\\'{\\", "{", "\\v{",
	    "\\foo{{\\ss", "\\\\'"};

	for (size_t i = 0; i < G_N_ELEMENTS(pieces); i++) {
		g_autoptr(GString) text = g_string_new(NULL);
		g_autofree char *out = NULL;

		for (int n = 0; n < 20000; n++)
			g_string_append(text, pieces[i]);
		out = text_normalize(text->str, text->len, BOUNDS_PAPER_ABSTRACT_BYTES);
		g_assert_true(g_utf8_validate(out, -1, NULL));
		g_assert_cmpuint(strlen(out), <=, BOUNDS_PAPER_ABSTRACT_BYTES);
	}
}

TEST(any_bytes_become_clean_text)
{
	static const char *const alphabet[] = {"\\", "$", "{", "}", "'", "\"", "a", "e",
	    "ss", "textbf", "alpha", " ", "\n", "é", "\xCC\x81", "\xE2\x80\xAE", "\xFF",
	    "^", "1", "\\(", "\\)", "it ", "\\v", "\\'", "\xC2\xA0"};
	GRand *random = g_rand_new_with_seed(1118);

	for (int round = 0; round < 20000; round++) {
		g_autoptr(GString) text = g_string_new(NULL);
		g_autofree char *out = NULL;

		for (int n = g_rand_int_range(random, 0, 24); n > 0; n--)
			g_string_append(text, alphabet[g_rand_int_range(
			                          random, 0, G_N_ELEMENTS(alphabet))]);
		out = text_normalize(text->str, text->len, 60);
		g_assert_true(g_utf8_validate(out, -1, NULL));
		g_assert_cmpuint(strlen(out), <=, 60);
		g_assert_null(strstr(out, "  "));
		g_assert_null(strstr(out, "\n"));
		g_assert_null(strstr(out, "\xE2\x80\xAE"));
		g_assert_false(
		    g_str_has_prefix(out, " ") || g_str_has_suffix(out, " "));
	}
	g_rand_free(random);
}

TEST(links_are_normalised)
{
	CASES_FOREACH(row, "text_links", *in, *out) {
		g_autofree char *out = text_normalize_url(row->in, 900);
		g_autofree char *shown = g_strescape(row->in, NULL);

		g_test_message("%s", shown);
		g_assert_cmpstr(out, ==, row->out);
		if (out) {
			g_autofree char *again = text_normalize_url(out, 900);

			g_assert_cmpstr(again, ==, out);
		}
	}
	g_assert_null(text_normalize_url(NULL, 900));
}

TEST(a_link_has_a_greatest_length)
{
	g_autofree char *tail = g_strnfill(BOUNDS_PAPER_URL_BYTES, 'x');
	g_autofree char *url = g_strconcat("https://example.org/", tail, NULL);
	g_autofree char *at = NULL;

	url[BOUNDS_PAPER_URL_BYTES] = '\0';
	at = text_normalize_url(url, BOUNDS_PAPER_URL_BYTES);
	g_assert_cmpstr(at, ==, url);
	url[BOUNDS_PAPER_URL_BYTES] = 'x';
	url[BOUNDS_PAPER_URL_BYTES + 1] = '\0';
	g_assert_null(text_normalize_url(url, BOUNDS_PAPER_URL_BYTES));
}

TEST(line_is_checked_unmodified)
{
	CASES_FOREACH(row, "text_lines", *text, *says) {
		g_autoptr(GError) error = NULL;
		bool is_ok = text_check_line("name", row->text, 5, &error);

		g_assert_cmpstr(error ? error->message : NULL, ==, row->says);
		g_assert_true(is_ok == !row->says);
	}
}

TEST(user_input_is_shown_on_one_line)
{
	CASES_FOREACH(row, "text_shown", *text, *shown) {
		g_autofree char *shown = text_quote(row->text, 8);

		g_assert_cmpstr(shown, ==, row->shown);
	}
}

UNIT_MAIN
