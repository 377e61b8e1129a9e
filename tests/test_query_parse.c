/*
 * test_query_parse.c - what the filter language refuses, with the column.
 */
#include "base/bounds.h"
#include "test_query.h"

struct refusal {
	const char *text;
	unsigned column;
	const char *message;
};

static void
assert_refused(const struct query_fixture *fixture, const struct refusal *refusal,
    enum pb_error code)
{
	g_autoptr(GError) error = NULL;
	GPtrArray *warnings = NULL;
	struct query_problem problem = {0};
	g_autofree char *whole =
	    g_strdup_printf("column %u: %s", refusal->column, refusal->message);
	pb_auto(query) query =
	    query_parse(refusal->text, fixture->tokenizer, &warnings, &problem, &error);

	if (query) {
		g_autofree char *text = query_format(query);

		g_error("'%s' was taken as '%s'", refusal->text, text);
	}
	g_assert_cmpstr(error->message, ==, whole);
	g_assert_error(error, PB_ERROR, (int)code);
	g_assert_cmpint(problem.code, ==, code);
	g_assert_cmpuint(problem.column, ==, refusal->column);
	g_assert_cmpstr(problem.message, ==, refusal->message);
	g_assert_null(warnings);
	query_problem_clear(&problem);
}

static void
wrong_filters_are_refused_with_the_column(
    struct query_fixture *fixture, const void *unused)
{
	static const struct refusal rows[] = {
	    {"", 1, "there is nothing to search for"},
	    {"   ", 1, "there is nothing to search for"},
	    /* Fields. */
	    {"tilte:mamba", 1, "there is no field \"tilte\"; the nearest is \"title\""},
	    {"mamba auther:gu", 7,
	        "there is no field \"auther\"; the nearest is \"author\""},
	    {"vote:>=3", 1, "there is no field \"vote\"; the nearest is \"upvotes\""},
	    {"Category:cs", 1,
	        "there is no field \"Category\"; the nearest is \"cat\""},
	    {"x:y", 1, "there is no field \"x\"; the nearest is \"title\""},
	    {"upvote:>=3", 1,
	        "there is no field \"upvote\"; the nearest is \"upvotes\""},
	    {"title: mamba", 7,
	        "a word, a phrase or \"(\" is wanted right after \"title:\""},
	    {"title:", 7, "a word, a phrase or \"(\" is wanted right after \"title:\""},
	    {"title:OR", 7,
	        "a word, a phrase or \"(\" is wanted right after \"title:\""},
	    {"a title:-b", 9, "\"-\" stands before the field's name: -title:"},
	    {"a :b", 3, "a field's name is wanted before \":\""},
	    {"a >=20", 3, "a comparison follows the name of a number's field"},
	    {"title:>3", 7, "a comparison follows the name of a number's field"},
	    /* Numbers. */
	    {"upvotes:>=ten diffusion", 11, "a number is wanted after \">=\""},
	    {"upvotes:>=", 11, "a number is wanted after \">=\""},
	    {"upvotes:>= 10", 11, "a number is wanted after \">=\""},
	    {"upvotes:>10x", 10, "a number is wanted after \">\""},
	    {"upvotes:<0", 10, "no number is below 0"},
	    {"upvotes:20..10", 9, "the range ends before it begins"},
	    {"upvotes:1..x", 12, "a number is wanted after \"..\""},
	    {"upvotes:..", 11, "a number is wanted after \"..\""},
	    {"upvotes:ten", 9,
	        "a comparison such as >=10 or a range such as 10..20 is wanted after "
	        "\"upvotes:\""},
	    {"upvotes:20x", 9, "a number is wanted after \"upvotes\""},
	    {"upvotes:(>=20)", 9, "a number is wanted after \"upvotes:\""},
	    {"upvotes:", 9, "a number is wanted after \"upvotes:\""},
	    /* Groups and quotation marks. */
	    {"a ()", 3, "there is nothing between \"(\" and \")\""},
	    {"title:()", 7, "there is nothing between \"(\" and \")\""},
	    {"a (b OR c", 3, "\"(\" has no \")\" after it"},
	    {"a (b (c)", 3, "\"(\" has no \")\" after it"},
	    {"a)", 2, "\")\" has no \"(\" before it"},
	    {")", 1, "\")\" has no \"(\" before it"},
	    {"a \"b c", 3, "a quotation mark has no second one"},
	    {"a \"\"", 4, "the phrase is empty"},
	    {"a \"...\"", 4, "there is no letter or digit in \"...\""},
	    {"a / b", 3, "there is no letter or digit in \"/\""},
	    {"author:\"...\"", 8, "there is no name in \"...\""},
	    {"author:\", Yann\"", 8, "a last name is wanted before the comma"},
	    /* Operands. */
	    {"a OR", 3, "a word is missing after \"OR\""},
	    {"OR a", 1, "a word is missing before \"OR\""},
	    {"a AND | b", 3, "a word is missing after \"AND\""},
	    {"a & & b", 3, "a word is missing after \"&\""},
	    {"(a OR) b", 4, "a word is missing after \"OR\""},
	    {"a (OR b)", 4, "a word is missing before \"OR\""},
	    {"a NOT", 3, "a word is missing after \"NOT\""},
	    {"ANDNOT a", 1, "a word is missing before \"ANDNOT\""},
	    {"a NOT NOT b", 7, "one NOT is enough"},
	    {"a --b", 4, "one NOT is enough"},
	    {"a - b", 3, "\"-\" must stand directly before its word"},
	    {"a !", 3, "\"!\" must stand directly before its word"},
	    {"a, b", 2,
	        "a comma joins nothing: a space means AND, write OR for either"},
	    /* Nothing but negatives. */
	    {"-a", 1,
	        "this would find every paper without a word: join it by AND to one "
	        "that "
	        "must be there"},
	    {"-a -b", 1,
	        "this would find every paper without a word: join it by AND to one "
	        "that "
	        "must be there"},
	    {"a OR -b", 6,
	        "this would find every paper without a word: join it by AND to one "
	        "that "
	        "must be there"},
	    {"a OR (c OR NOT b)", 12,
	        "this would find every paper without a word: join it by AND to one "
	        "that "
	        "must be there"},
	    {"NOT (a -b)", 1,
	        "this would find every paper without a word: join it by AND to one "
	        "that "
	        "must be there"},
	    /* Prefixes. */
	    {"ab*", 1, "at least 3 letters are wanted before \"*\""},
	    {"x \"self pl*\"", 9, "at least 3 letters are wanted before \"*\""},
	    {"x self-*", 3, "at least 3 letters are wanted before \"*\""},
	    {"é mü*", 3, "at least 3 letters are wanted before \"*\""},
	    {"a*b", 2, "\"*\" stands only at the end of a word or of a phrase"},
	    {"\"abc* def\"", 5,
	        "\"*\" stands only at the end of a word or of a phrase"},
	    {"abc**", 4, "\"*\" stands only at the end of a word or of a phrase"},
	    {"*", 1, "there is no letter or digit in \"*\""},
	    {"au:lecun*", 4, "names are whole words: no \"*\""},
	    {"+diffusion", 1, "\"+\" may follow a word, not stand before it"},
	    /* Characters: columns count characters, not octets. */
	    {"a\tb", 2, "a control character stands here"},
	    {"é\nb", 2, "a control character stands here"},
	    {"é\x7f", 2, "a control character stands here"},
	    {"é \xc2\x85", 3, "a control character stands here"},
	    {"a \u061Cb", 3, "an invisible character stands here"},
	    {"\u2066a", 1, "an invisible character stands here"},
	    {"\"a\u2069\"", 3, "an invisible character stands here"},
	    {"é \xff", 3, "the text is not valid UTF-8 from here on"},
	    {"é \xed\xa0\x80", 3, "the text is not valid UTF-8 from here on"},
	    {"日本 OR", 4, "a word is missing after \"OR\""},
	};

	(void)unused;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		assert_refused(fixture, &rows[i], PB_ERROR_INPUT);
}

static void
what_is_not_built_yet_says_so(struct query_fixture *fixture, const void *unused)
{
	static const struct refusal rows[] = {
	    {"reward NEAR/5 hacking", 8, "NEAR is not supported yet"},
	    {"reward NEAR hacking", 8, "NEAR is not supported yet"},
	    {"NEAR(\"chain of thought\" faithful*, 8)", 1, "NEAR is not supported yet"},
	    {"speech^3 recognition", 7, "\"^\" (a weight) is not supported yet"},
	    {"=RAG", 1,
	        "\"=\" before a word (these very letters) is not supported yet"},
	    {"title:=RAG", 7,
	        "\"=\" before a word (these very letters) is not supported yet"},
	    {"title:(mamba OR ssm) cs.LG", 22,
	        "the category cs.LG is not supported yet"},
	    {"hep-th", 1, "the category hep-th is not supported yet"},
	    {"stat.ml a", 1, "the category stat.ml is not supported yet"},
	    {"a -cond-mat.str-el", 4,
	        "the category cond-mat.str-el is not supported yet"},
	};
	static const char *const later[] = {"first", "cat", "primary", "source", "org",
	    "kw", "comment", "journal", "doi", "id", "has", "comments", "stars",
	    "authors", "date", "type"};

	(void)unused;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		assert_refused(fixture, &rows[i], PB_ERROR_INPUT);
	for (size_t i = 0; i < G_N_ELEMENTS(later); i++) {
		g_autofree char *text = g_strdup_printf("mamba %s:x", later[i]);
		g_autofree char *message =
		    g_strdup_printf("the field \"%s\" is not supported yet", later[i]);
		struct refusal row = {text, 7, message};

		assert_refused(fixture, &row, PB_ERROR_INPUT);
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

static void
limits_hold_at_the_number_and_not_one_past_it(
    struct query_fixture *fixture, const void *unused)
{
	g_autofree char *bytes = repeat("a", BOUNDS_QUERY_BYTES, "");
	g_autofree char *bytes_past = repeat("a", BOUNDS_QUERY_BYTES - 1, "é");
	g_autofree char *terms = repeat("a ", BOUNDS_QUERY_TERMS, "");
	g_autofree char *terms_past = repeat("a ", BOUNDS_QUERY_TERMS + 1, "");
	g_autofree char *open = repeat("(", BOUNDS_QUERY_DEPTH, "a");
	g_autofree char *depth = repeat(")", BOUNDS_QUERY_DEPTH, "");
	g_autofree char *nested = g_strconcat(open, depth, NULL);
	g_autofree char *nested_past = g_strconcat("(", open, depth, ")", NULL);
	const char *good[] = {
	    bytes, terms, nested, "abc*", "upvotes:>=999999999", "upvotes:..000000010"};
	const struct refusal past[] = {
	    {bytes_past, BOUNDS_QUERY_BYTES, "longer than 512 bytes"},
	    {terms_past, 2 * BOUNDS_QUERY_TERMS + 1, "more than 40 words and phrases"},
	    {nested_past, BOUNDS_QUERY_DEPTH + 1,
	        "parentheses are nested deeper than 8"},
	    {"upvotes:>=1000000000", 11, "a number has at most 9 digits"},
	};

	(void)unused;
	for (size_t i = 0; i < G_N_ELEMENTS(good); i++)
		query_free(must_parse(fixture, good[i]));
	for (size_t i = 0; i < G_N_ELEMENTS(past); i++)
		assert_refused(fixture, &past[i], PB_ERROR_LIMIT);
}

static void
lower_case_operators_are_words_with_a_warning(
    struct query_fixture *fixture, const void *unused)
{
	static const struct {
		const char *text;
		const char *warning; /* the only one, or NULL */
	} rows[] = {
	    {"a or b", "column 3: \"or\" is searched as a word; meant OR?"},
	    {"é and \"b\"", "column 3: \"and\" is searched as a word; meant AND?"},
	    {"(a) Or (b)", "column 5: \"Or\" is searched as a word; meant OR?"},
	    {"a not b", "column 3: \"not\" is searched as a word; meant NOT?"},
	    {"not b", "column 1: \"not\" is searched as a word; meant NOT?"},
	    {"a andnot b", "column 3: \"andnot\" is searched as a word; meant ANDNOT?"},
	    {"a OR b", NULL},
	    {"or b", NULL},
	    {"a (or b)", NULL},
	    {"a -or b", NULL},
	    {"a or", NULL},
	    {"a not", NULL},
	    {"\"or\" b", NULL},
	    {"a \"or\" b", NULL},
	    {"order and", NULL},
	};

	(void)unused;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(GPtrArray) warnings = NULL;
		pb_auto(query) query = query_parse(
		    rows[i].text, fixture->tokenizer, &warnings, NULL, &error);

		g_assert_no_error(error);
		g_assert_nonnull(query);
		g_assert_cmpuint(warnings->len, ==, rows[i].warning ? 1 : 0);
		if (rows[i].warning)
			g_assert_cmpstr(
			    g_ptr_array_index(warnings, 0), ==, rows[i].warning);
	}
}

static void
problems_are_shown_with_a_caret(struct query_fixture *fixture, const void *unused)
{
	g_autofree char *long_text = repeat("abcdefg ", 12, "OR");
	const struct {
		const char *text;
		unsigned lead;
		const char *shown;
	} rows[] = {
	    {"upvotes:>=ten diffusion", 4,
	        "error  column 15: a number is wanted after \">=\"\n"
	        "         upvotes:>=ten diffusion\n"
	        "                   ^\n"},
	    {"日本 OR", 0,
	        "error  column 4: a word is missing after \"OR\"\n"
	        "         日本 OR\n"
	        "              ^\n"},
	    {"a\tb", 0,
	        "error  column 2: a control character stands here\n"
	        "         a?b\n"
	        "          ^\n"},
	    {"a \xff", 0,
	        "error  column 3: the text is not valid UTF-8 from here on\n"
	        "         a \xef\xbf\xbd\n"
	        "           ^\n"},
	    {long_text, 0,
	        "error  column 97: a word is missing after \"OR\"\n"
	        "         ...cdefg abcdefg abcdefg abcdefg abcdefg abcdefg abcdefg "
	        "abcdefg "
	        "OR\n"
	        "                                                                      "
	        "    "
	        "^\n"},
	};

	(void)unused;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct query_problem problem = {0};
		g_autofree char *shown = NULL;

		g_assert_null(query_parse(
		    rows[i].text, fixture->tokenizer, NULL, &problem, NULL));
		shown = query_problem_format(&problem, rows[i].text, rows[i].lead);
		g_assert_cmpstr(shown, ==, rows[i].shown);
		query_problem_clear(&problem);
	}
}

static bool
fail_to_split(
    void *self, const char *text, size_t len, tokenizer_found found, void *data)
{
	(void)self;
	(void)text;
	(void)len;
	(void)found;
	(void)data;
	return false;
}

static void
a_tokenizer_that_fails_is_a_temporary_error(
    struct query_fixture *fixture, const void *unused)
{
	static const char *const texts[] = {"a", "author:a"};
	const struct tokenizer broken = {fail_to_split, NULL};
	pb_auto(paper) paper = paper_new();
	g_autoptr(GError) error = NULL;

	(void)fixture;
	(void)unused;
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_assert_null(query_parse(texts[i], &broken, NULL, NULL, &error));
		g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
		g_clear_error(&error);
	}
	paper->id = g_strdup("1");
	paper->title = g_strdup("a");
	paper->abstract = g_strdup("");
	g_assert_null(query_document_new(paper, NULL, &broken, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
}

static void
noise_is_parsed_or_refused_and_never_harms(
    struct query_fixture *fixture, const void *unused)
{
	static const char *const bits[] = {"a", "abc", " ", " ", "(", ")", "\"", ":",
	    "*", "-", "!", "|", "&", "^", ",", "=", ">=", "..", "9", "OR", "AND", "NOT",
	    "ANDNOT", "NEAR/3", "title", "au", "upvotes", "é", "日", "\xff", "\x01",
	    "c++", ".", "#", "“", "–"};
	g_autoptr(GRand) rand = g_rand_new_with_seed(2);

	(void)unused;
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

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	ADD_TEST("/query_parse/wrong filters are refused with the column",
	    wrong_filters_are_refused_with_the_column);
	ADD_TEST("/query_parse/what is not built yet says so",
	    what_is_not_built_yet_says_so);
	ADD_TEST("/query_parse/limits hold at the number and not one past it",
	    limits_hold_at_the_number_and_not_one_past_it);
	ADD_TEST("/query_parse/lower-case operators are words with a warning",
	    lower_case_operators_are_words_with_a_warning);
	ADD_TEST("/query_parse/problems are shown with a caret",
	    problems_are_shown_with_a_caret);
	ADD_TEST("/query_parse/a tokenizer that fails is a temporary error",
	    a_tokenizer_that_fails_is_a_temporary_error);
	ADD_TEST("/query_parse/noise is parsed or refused and never harms",
	    noise_is_parsed_or_refused_and_never_harms);
	return g_test_run();
}
