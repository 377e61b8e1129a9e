/*
 * test_text.c - normalisation of external text and links.
 */
#include <glib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/text.h"
#include "lib/unit.h"

struct row {
	const char *in;
	const char *out; /* NULL: unchanged */
};

static void
check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *want = rows[i].out ? rows[i].out : rows[i].in;
		g_autofree char *once =
		    text_normalize(rows[i].in, strlen(rows[i].in), 1000);
		g_autofree char *shown = g_strescape(rows[i].in, NULL);
		g_autofree char *twice = text_normalize(once, strlen(once), 1000);

		g_test_message("%s", shown);
		g_assert_cmpstr(once, ==, want);
		g_assert_cmpstr(twice, ==, want);
	}
}

TEST(accents_are_decoded)
{
	static const struct row rows[] = {
	    {"L\\'evy", "Lévy"},
	    {"L\\'{e}vy", "Lévy"},
	    {"L{\\'e}vy", "Lévy"},
	    {"L{\\'{e}}vy", "Lévy"},
	    {"Schr{\\\"o}dinger", "Schrödinger"},
	    {"J\\\"org Deigm\\\"oller", "Jörg Deigmöller"},
	    {"\\\"Ust\\\"un et al.", "Üstün et al."},
	    {"Nikola Pi\\v{z}urica", "Nikola Pižurica"},
	    {"Pi\\v zurica", "Pižurica"},
	    {"Jovan\\v{c}evi\\'c", "Jovančević"},
	    {"Jakub\\r{u}v", "Jakubův"},
	    {"Mikol\\'a\\v{s} Janota", "Mikoláš Janota"},
	    {"In\\`es, Fran\\c{c}ois, Nu\\~nez", "Inès, François, Nuñez"},
	    {"Fran\\c cois", "François"},
	    {"Bolet\\'{\\i}n", "Boletín"},
	    {"Mart\\'\\i nez", "Martínez"},
	    {"Erd\\H{o}s, Ta\\c{s}k\\i n", "Erdős, Taşkın"},
	    {"Hendrik Kra{\\ss}", "Hendrik Kraß"},
	    {"Kra\\ss{}e", "Kraße"},
	    {"S{\\o}gaard, S\\o ren, \\O{}ystein", "Søgaard, Søren, Øystein"},
	    {"\\AA ngstr\\\"om, H{\\aa}kon", "Ångström, Håkon"},
	    {"\\L ukasz, Pawe{\\l}", "Łukasz, Paweł"},
	    {"B\\'ezier", "Bézier"},
	};

	check_rows(rows, G_N_ELEMENTS(rows));
}

TEST(symbols_and_text_commands_are_decoded)
{
	static const struct row rows[] = {
	    {"Prefill \\& Decode", "Prefill & Decode"},
	    {"19\\% of \\$5 \\#1 a\\_b \\{x\\}", "19% of $5 #1 a_b {x}"},
	    {"$\\alpha$-divergence", "α-divergence"},
	    {"$\\mu$LO", "μLO"},
	    {"$μ$LO", "μLO"},
	    {"{\\tau}-Bench", "τ-Bench"},
	    {"360{\\deg} and 90$^\\circ$ and 9$^{\\circ}$", "360° and 90° and 9°"},
	    {"$\\sim 3\\times$ faster", "∼ 3× faster"},
	    {"$10\\%$", "10%"},
	    {"\\(\\lambda\\)-calculus", "λ-calculus"},
	    {"costs \\geq 100,000", "costs ≥ 100,000"},
	    {"\\textsc{AIEV-Instruct}", "AIEV-Instruct"},
	    {"\\emph{X} \\textbf{43.2}", "X 43.2"},
	    {"\\textbf{\\emph{L\\'evy}}", "Lévy"},
	    {"$\\textit{Trans-LoRA}$: towards", "Trans-LoRA: towards"},
	    {"scaling a {\\it Shallow UNet}, {\\bf so}", "scaling a Shallow UNet, so"},
	    {"e.g.\\ by 300\\,k", "e.g. by 300 k"},
	    {"GPT-4o\\'s and don\\'t", "GPT-4o's and don't"},
	};

	check_rows(rows, G_N_ELEMENTS(rows));
}

TEST(formulas_prices_and_unknown_commands_stay)
{
	static const struct row rows[] = {
	    {"$x^2$ and $O(n \\log n)$", NULL},
	    {"$\\alpha^2$", NULL},
	    {"$\\mathcal{E}$ \\mathbb{R}", NULL},
	    {"$1 Million", NULL},
	    {"between $5 and $10 for L\\'evy", "between $5 and $10 for Lévy"},
	    {"$5\\times$3, costs $5-$ or $10$", "$5×$3, costs $5-$ or $10$"},
	    {"$$", NULL},
	    {"$", NULL},
	    {"(\\(TPP\\))", NULL},
	    {"(\\ie, \\eg Eikonal)", NULL},
	    {"\\ours{}, \\footnote{http://x.example/}", NULL},
	    {"\\foo{\\'e}", "\\foo{é}"},
	    {"\\22K \\500", NULL},
	    {"a \\\\ b", NULL},
	    {"\\", NULL},
	    {"{", NULL},
	    {"\\textbf{open", NULL},
	    {"\\'", NULL},
	    {"\\v", NULL},
	    {"\\v{", NULL},
	    {"{\\", NULL},
	    {"{\\it", NULL},
	    {"\\'{ab}", NULL},
	    {"say \\\"quoted\\\" words", NULL},
	    {"1{,}182 {True, False} {W}", NULL},
	    {"Let's <think> & \"say\"", NULL},
	};

	check_rows(rows, G_N_ELEMENTS(rows));
}

TEST(white_space_becomes_one_blank)
{
	static const struct row rows[] = {
	    {"", NULL},
	    {" \t\n ", ""},
	    {"  Two\n  lines ", "Two lines"},
	    {"a\xC2\xA0\xE2\x80\xA8 b\xE3\x80\x80"
	     "c\xC2\x85"
	     "d\ve\ff",
	        "a b c d e f"},
	};

	check_rows(rows, G_N_ELEMENTS(rows));
}

TEST(invisible_characters_are_removed)
{
	static const struct row rows[] = {
	    {"a\x01\x1b[1m\x7f"
	     "b\xC2\x9b",
	        "a[1mb"},
	    {"a\xE2\x80\xAE"
	     "b\xE2\x81\xA6"
	     "c\xE2\x80\x8F",
	        "abc"},
	    {"a\xE2\x80\x8B"
	     "b\xEF\xBB\xBF"
	     "c\xC2\xAD"
	     "d",
	        "abcd"},
	    {"a\xEF\xBF\xBF"
	     "b\xEF\xB7\x90"
	     "c\xF4\x8F\xBF\xBE",
	        "abc"},
	    {"a\xF3\xA0\x81\x81"
	     "b",
	        "ab"},
	};
	g_autofree char *nul = text_normalize("a\0b", 3, 10);

	check_rows(rows, G_N_ELEMENTS(rows));
	g_assert_cmpstr(nul, ==, "ab");
}

TEST(text_is_composed_and_bad_bytes_are_replaced)
{
	static const struct row rows[] = {
	    {"e\xCC\x81", "é"},
	    {"\xE2\x84\xAB", "Å"},
	    {"a\xFF"
	     "b\xC3",
	        "a\xEF\xBF\xBD"
	        "b\xEF\xBF\xBD"},
	    {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
	    {"\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD"},
	    {"\\d{a}\\'{q}", "ạq\xCC\x81"},
	};

	check_rows(rows, G_N_ELEMENTS(rows));
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
	static const struct {
		const char *in;
		size_t max;
		const char *out;
	} rows[] = {
	    {"abcd", 4, "abcd"},
	    {"abcde", 4, "abcd"},
	    {"abcé", 5, "abcé"},
	    {"abcé", 4, "abc"},
	    {"ab cd", 3, "ab"},
	    {"abq\xCC\x81", 4, "ab"},
	    {"L\\'evy", 5, "Lévy"},
	    {"é", 1, ""},
	    {"a", 0, ""},
	    {"One sentence. Another sentence", 30, "One sentence. Another sentence"},
	    {"One sentence. Another sentence", 29, "One sentence. Another…"},
	    {"One sentence. Another sentence", 24, "One sentence. Another…"},
	    {"One sentence. Another sentence", 23, "One sentence.…"},
	    {"One sentence. Another", 20, "One sentence.…"},
	    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 20, "aaaaaaaaaaaaaaaaa…"},
	    {"大型语言模型的推理能力", 20, "大型语言模…"},
	};
	g_autofree char *blanks = g_strnfill(100000, ' ');
	g_autofree char *late = g_strconcat(blanks, "late", NULL);
	g_autofree char *found = text_normalize(late, strlen(late), 4);

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *out =
		    text_normalize(rows[i].in, strlen(rows[i].in), rows[i].max);

		g_assert_cmpstr(out, ==, rows[i].out);
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
	static const struct {
		const char *in;
		const char *out;
	} rows[] = {
	    {"https://example.org/a?b=c&d#e", "https://example.org/a?b=c&d#e"},
	    {"  http://example.org\n", "http://example.org"},
	    {"https://example.org/a\n  b/\r\nc\td", "https://example.org/a"
	                                            "b/cd"},
	    {"https://exam\nple.org/a", "https://example.org/a"},
	    {"https://example.org/a\nhttps://example.org/b", "https://example.org/a"},
	    {"https://example.org/\n", "https://example.org/"},
	    {"https://example.org/a \n b c", NULL},
	    {"HTTPS://Example.org:8443/", "https://Example.org:8443/"},
	    {"https://[2001:db8::1]:80/", "https://[2001:db8::1]:80/"},
	    {"https://example.org/caf\xC3\xA9", "https://example.org/caf%C3%A9"},
	    {"https://github.com/a/b/tree/main/x",
	        "https://github.com/a/b/tree/main/x"},
	    {"", NULL},
	    {"example.org", NULL},
	    {"ftp://example.org/", NULL},
	    {"javascript:alert(1)", NULL},
	    {"https://", NULL},
	    {"https:///path", NULL},
	    {"https://user@example.org/", NULL},
	    {"https://user:pw@example.org/", NULL},
	    {"https://ex\xC3\xA4mple.org/", NULL},
	    {"https://-example.org/", NULL},
	    {"https://example.org:99999/", NULL},
	    {"https://example.org:12x/", NULL},
	    {"https://[::1/", NULL},
	    {"https://example.org/a b", NULL},
	    {"https://example.org/\"onmouseover=x", NULL},
	    {"https://example.org/'", NULL},
	    {"https://example.org/<a>", NULL},
	    {"https://example.org\\@evil.example/", NULL},
	    {"https://example.org/\x01", NULL},
	    {"https://example.org/\xE2\x80\xAE", NULL},
	    {"https://example.org/\xC2\xA0x", NULL},
	    {"https://example.org/\xFF", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *out = text_normalize_url(rows[i].in, 900);
		g_autofree char *shown = g_strescape(rows[i].in, NULL);

		g_test_message("%s", shown);
		g_assert_cmpstr(out, ==, rows[i].out);
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
	static const struct {
		const char *text, *says;
	} rows[] = {
	    {NULL, NULL},
	    {"12345", NULL},
	    {"123456", "the name is too long"},
	    {"", "the name is empty"},
	    {"a\nb", "the name contains a control character"},
	    {"a\xc2\x9b", "the name contains a control character"},
	    {"a\xc3", "the name is not UTF-8"},
	    {"\xc3\xa4\xc3\xa4", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		bool is_ok = text_check_line("name", rows[i].text, 5, &error);

		g_assert_cmpstr(error ? error->message : NULL, ==, rows[i].says);
		g_assert_true(is_ok == !rows[i].says);
	}
}

TEST(user_input_is_shown_on_one_line)
{
	static const struct {
		const char *text, *shown;
	} rows[] = {
	    {"", ""},
	    {"12345678", "12345678"},
	    {"123456789", "12345678..."},
	    {"\xc3\xa4\xc3\xa4\xc3\xa4", "\xc3\xa4\xc3\xa4\xc3\xa4"},
	    {"a\nb\tc\x7f", "a\xef\xbf\xbd"
	                    "b\xef\xbf\xbd"
	                    "c\xef\xbf\xbd"},
	    {"\xff", "\xef\xbf\xbd"},
	    {"\\'e  ", "\\'e  "},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *shown = text_quote(rows[i].text, 8);

		g_assert_cmpstr(shown, ==, rows[i].shown);
	}
}

UNIT_MAIN
