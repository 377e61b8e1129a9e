/*
 * test_query_parse.c - errors and warnings of the parser, with their columns.
 */
#include "base/bounds.h"
#include "lib/broken_tokenizer.h"
#include "lib/cases.h"
#include "test_query.h"

struct refusal {
	const char *text;
	const char *column, *message;
};

static void
assert_refused(const struct query_fixture *fixture, const struct refusal *refusal,
    enum pb_error code)
{
	g_autoptr(GError) error = NULL;
	GPtrArray *warnings = NULL;
	pb_local(query_error) problem = {0};
	g_autofree char *whole =
	    g_strdup_printf("column %s: %s", refusal->column, refusal->message);
	pb_auto(query) query =
	    query_parse(refusal->text, fixture->tokenizer, &warnings, &problem, &error);

	if (query) {
		g_autofree char *text = query_format(query);

		g_error("'%s' was taken as '%s'", refusal->text, text);
	}
	g_assert_cmpstr(error->message, ==, whole);
	g_assert_error(error, PB_ERROR, (int)code);
	g_assert_cmpint(problem.code, ==, code);
	g_assert_cmpint(problem.column, ==, cases_number(refusal->column));
	g_assert_cmpstr(problem.message->text, ==, refusal->message);
	g_assert_null(warnings);
}

QUERY_TEST(invalid_filters_are_rejected_with_the_column)
{
	CASES_FOREACH_AS(struct refusal, row, "query_parse_bad")
		assert_refused(fixture, row, PB_ERROR_INPUT);
}

QUERY_TEST(invalid_values_are_rejected_with_the_closest_one)
{
	CASES_FOREACH_AS(struct refusal, row, "query_parse_bad_values")
		assert_refused(fixture, row, PB_ERROR_INPUT);
}

QUERY_TEST(invalid_signs_are_rejected_with_the_column)
{
	CASES_FOREACH_AS(struct refusal, row, "query_parse_bad_signs")
		assert_refused(fixture, row, PB_ERROR_INPUT);
}

/* They would invisibly split words or reverse text. */
QUERY_TEST(invisible_characters_are_rejected_by_code_point)
{
	static const gunichar marks[] = {0x00AD, 0x034F, 0x061C, 0x180E, 0x200B, 0x200C,
	    0x200D, 0x200E, 0x200F, 0x202A, 0x202E, 0x2060, 0x2064, 0x2066, 0x2069,
	    0xFEFF, 0xFFFE, 0xE0041};

	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++) {
		static const char *const places[][2] = {{"dif", "fusion"},
		    {"", "diffusion"}, {"diffusion", ""}, {"\"self ", "play\""},
		    {"author:", "gu"}};
		char mark[8] = {0};
		g_autofree char *message =
		    g_strdup_printf("unexpected invisible character (U+%04X): type the "
		                    "word again, without it",
		        marks[i]);

		g_unichar_to_utf8(marks[i], mark);
		for (size_t j = 0; j < G_N_ELEMENTS(places); j++) {
			g_autofree char *text =
			    g_strconcat(places[j][0], mark, places[j][1], NULL);
			g_autofree char *column =
			    g_strdup_printf("%ld", g_utf8_strlen(places[j][0], -1) + 1);
			struct refusal row = {text, column, message};

			assert_refused(fixture, &row, PB_ERROR_INPUT);
		}
	}
}

static char *
repeat(const char *part, unsigned n, const char *end)
{
	GString *out = g_string_new(NULL);

	while (n-- > 0)
		g_string_append(out, part);
	g_string_append(out, end);
	return g_string_free(out, FALSE);
}

QUERY_TEST(limits_hold_exactly)
{
	g_autofree char *bytes = repeat("a", BOUNDS_QUERY_BYTES, "");
	g_autofree char *bytes_past = repeat("a", BOUNDS_QUERY_BYTES - 1, "é");
	g_autofree char *terms = repeat("a ", BOUNDS_QUERY_TERMS, "");
	g_autofree char *terms_past = repeat("a ", BOUNDS_QUERY_TERMS + 1, "");
	g_autofree char *open = repeat("(", BOUNDS_QUERY_DEPTH, "a");
	g_autofree char *depth = repeat(")", BOUNDS_QUERY_DEPTH, "");
	g_autofree char *nested = g_strconcat(open, depth, NULL);
	g_autofree char *nested_past = g_strconcat("(", open, depth, ")", NULL);
	const char *good[] = {bytes, terms, nested, "abc*", "upvotes:>=999999999",
	    "upvotes:..000000010", "a NEAR/1 b", "a NEAR/99 b", "NEAR(a b, 99)", "a^1",
	    "a^10", "date:999d", "date:999y..0d", "doi:abc*"};
	const struct refusal beyond[] = {
	    {bytes_past, "512", "longer than 512 bytes"},
	    {terms_past, "81", "more than 40 words and phrases"},
	    {nested_past, "9", "parentheses are nested deeper than 8"},
	    {"upvotes:>=1000000000", "11", "a number has at most 9 digits"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(good); i++)
		query_free(must_parse(fixture, good[i]));
	for (size_t i = 0; i < G_N_ELEMENTS(beyond); i++)
		assert_refused(fixture, &beyond[i], PB_ERROR_LIMIT);
}

QUERY_TEST(lower_case_operators_are_words_with_a_warning)
{
	CASES_FOREACH(row, "query_parse_lower_case", *text, *warning) {
		g_autoptr(GPtrArray) warnings = NULL;
		pb_auto(query) query = NO_ERROR(query_parse(
		    row->text, fixture->tokenizer, &warnings, NULL, &error));

		g_assert_nonnull(query);
		g_assert_cmpuint(warnings->len, ==, row->warning ? 1 : 0);
		if (row->warning)
			g_assert_cmpstr(
			    ((struct msg *)warnings->pdata[0])->text, ==, row->warning);
	}
}

QUERY_TEST(and_inside_or_without_brackets_gives_both_readings)
{
	CASES_FOREACH(row, "query_parse_mixed", *text, *meant, *other) {
		g_autoptr(GPtrArray) warnings = NULL;
		pb_auto(query) query =
		    query_parse(row->text, fixture->tokenizer, &warnings, NULL, NULL);
		const struct msg *warning;

		g_assert_nonnull(query);
		g_assert_cmpuint(warnings->len, ==, row->meant ? 1 : 0);
		if (!row->meant)
			continue;
		warning = warnings->pdata[0];
		g_assert_cmpstr(warning->source, ==, QUERY_MIXED);
		g_assert_cmpstr(msg_get_arg(warning, "meant"), ==, row->meant);
		g_assert_cmpstr(msg_get_arg(warning, "reading"), ==, row->other);
	}
}

QUERY_TEST(signs_of_other_languages_give_a_warning)
{
	CASES_FOREACH(row, "query_parse_signs", *text, *warning) {
		g_autoptr(GPtrArray) warnings = NULL;
		pb_auto(query) query =
		    query_parse(row->text, fixture->tokenizer, &warnings, NULL, NULL);

		g_assert_nonnull(query);
		g_assert_cmpuint(warnings->len, ==, row->warning ? 1 : 0);
		if (row->warning &&
		    !g_str_has_prefix(
		        ((struct msg *)warnings->pdata[0])->text, row->warning))
			g_test_fail_printf("%s: %s", row->text,
			    ((struct msg *)warnings->pdata[0])->text);
	}
}

QUERY_TEST(errors_are_shown_with_a_caret)
{
	g_autofree char *long_text = repeat("abcdefg ", 12, "OR");
	const struct {
		const char *text;
		unsigned lead;
		const char *shown;
	} rows[] = {
	    {"upvotes:>=ten diffusion", 4,
	        "error  column 15: expected a number after \">=\"\n"
	        "         upvotes:>=ten diffusion\n"
	        "                   ^\n"},
	    {"日本 OR", 0,
	        "error  column 4: expected a word after \"OR\"\n"
	        "         日本 OR\n"
	        "              ^\n"},
	    {"a\tb", 0,
	        "error  column 2: unexpected control character\n"
	        "         a?b\n"
	        "          ^\n"},
	    {"a \xff", 0,
	        "error  column 3: the text is not valid UTF-8 from here\n"
	        "         a \xef\xbf\xbd\n"
	        "           ^\n"},
	    {long_text, 0,
	        "error  column 97: expected a word after \"OR\"\n"
	        "         ...cdefg abcdefg abcdefg abcdefg abcdefg abcdefg abcdefg "
	        "abcdefg OR\n"
	        "                                                                      "
	        "    ^\n"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_local(query_error) problem = {0};
		g_autofree char *shown = NULL;

		g_assert_null(query_parse(
		    rows[i].text, fixture->tokenizer, NULL, &problem, NULL));
		shown = query_error_format(&problem, rows[i].text, rows[i].lead);
		g_assert_cmpstr(shown, ==, rows[i].shown);
	}
}

QUERY_TEST(failing_tokenizer_is_a_temporary_error)
{
	static const char *const texts[] = {"a", "author:a"};
	const struct tokenizer broken = {broken_tokenizer_split, NULL};
	pb_auto(paper) paper = paper_new();

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		FAILS(PB_ERROR_TEMPORARY,
		    query_parse(texts[i], &broken, NULL, NULL, &error));
	}
	paper->id = g_strdup("1");
	paper->title = g_strdup("a");
	paper->abstract = g_strdup("");
	FAILS(PB_ERROR_TEMPORARY, query_document_new(paper, NULL, &broken, &error));
}

QUERY_TEST(random_text_is_parsed_or_rejected)
{
	static const char *const bits[] = {"a", "abc", " ", " ", "(", ")", "\"", ":",
	    "*", "-", "!", "|", "&", "^", ",", "=", ">=", "..", "9", "OR", "AND", "NOT",
	    "ANDNOT", "NEAR/3", "title", "au", "upvotes", "é", "日", "\xff", "\x01",
	    "c++", ".", "#", "“", "–", "NEAR(", "NEAR", "^2", "=a", "cs.CL", "cat:cs",
	    "date:7d", "2026-07", "has:code", "id", "org", "/"};
	g_autoptr(GRand) rand = g_rand_new_with_seed(2);

	for (int i = 0; i < 50000; i++) {
		g_autoptr(GString) text = g_string_new(NULL);
		g_autoptr(GError) error = NULL;
		int n = g_rand_int_range(rand, 0, 14);
		pb_auto(query) query = NULL;

		while (n-- > 0)
			g_string_append(
			    text, bits[g_rand_int_range(rand, 0, G_N_ELEMENTS(bits))]);
		query = query_parse(text->str, fixture->tokenizer, NULL, NULL, &error);
		if (query) {
			g_autofree char *once = query_format(query);
			pb_auto(query) again =
			    query_parse_canonical(once, fixture->tokenizer, &error);
			g_autofree char *twice = NULL;

			g_assert_no_error(error);
			twice = query_format(again);
			g_assert_cmpstr(once, ==, twice);
		} else {
			g_assert_true(g_str_has_prefix(error->message, "column "));
		}
	}
}

UNIT_MAIN
