/*
 * test_query_parse.c - errors and warnings of the parser, with their columns.
 */
#include "base/bounds.h"
#include "lib/broken_tokenizer.h"
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
	pb_local(query_error) problem = {0};
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
	g_assert_cmpstr(problem.message->text, ==, refusal->message);
	g_assert_null(warnings);
}

#define BEGINS(mark)                                          \
	"the quotation mark " mark                            \
	" may start another phrase: use straight quotes, as " \
	"in \"state space\""
#define APOSTROPHE(mark)                                     \
	"the quotation mark " mark                           \
	" may be an apostrophe: use straight quotes, as in " \
	"\"state space\""

QUERY_TEST(invalid_filters_are_rejected_with_the_column)
{
	static const struct refusal rows[] = {
	    {"", 1, "the query is empty"},
	    {"   ", 1, "the query is empty"},
	    /* Fields. */
	    {"tilte:mamba", 1, "unknown field \"tilte\": did you mean \"title\"?"},
	    {"mamba auther:gu", 7,
	        "unknown field \"auther\": did you mean \"author\"?"},
	    {"vote:>=3", 1, "unknown field \"vote\": did you mean \"upvotes\"?"},
	    {"Category:cs", 1, "unknown field \"Category\": did you mean \"cat\"?"},
	    {"x:y", 1, "unknown field \"x\": did you mean \"title\"?"},
	    {"year:2024", 1, "unknown field \"year\": did you mean \"date\"?"},
	    {"Tags:rlhf", 1, "unknown field \"Tags\": did you mean \"kw\"?"},
	    {"affiliation:mit", 1,
	        "unknown field \"affiliation\": did you mean \"org\"?"},
	    {"a title:abstract:b", 9,
	        "unexpected second \":\" after \"title:\": write one field per word, "
	        "and "
	        "a value that contains \":\" in quotes"},
	    {"id:arXiv:2608.20335", 4,
	        "unexpected second \":\" after \"id:\": write one field per word, and "
	        "a "
	        "value that contains \":\" in quotes"},
	    {"upvote:>=3", 1, "unknown field \"upvote\": did you mean \"upvotes\"?"},
	    {"title: mamba", 7,
	        "expected a word, a phrase or \"(\" directly after \"title:\""},
	    {"title:", 7,
	        "expected a word, a phrase or \"(\" directly after \"title:\""},
	    {"title:OR", 7,
	        "expected a word, a phrase or \"(\" directly after \"title:\""},
	    {"a title:-b", 9, "\"-\" must be before the field name: -title:"},
	    {"a :b", 3, "expected a field name before \":\""},
	    {"a >=20", 3, "a comparison needs the name of a numeric field before it"},
	    {"title:>3", 7, "a comparison needs the name of a numeric field before it"},
	    /* Numbers. */
	    {"upvotes:>=ten diffusion", 11, "expected a number after \">=\""},
	    {"upvotes:>=", 11, "expected a number after \">=\""},
	    {"upvotes:>= 10", 11, "expected a number after \">=\""},
	    {"upvotes:>10x", 10, "expected a number after \">\""},
	    {"upvotes:<0", 10, "numbers cannot be negative"},
	    {"upvotes:20..10", 9, "the end of the range is before its start"},
	    {"upvotes:1..x", 12, "expected a number after \"..\""},
	    {"upvotes:..", 11, "expected a number after \"..\""},
	    {"upvotes:ten", 9,
	        "expected a comparison such as >=10 or a range such as 10..20 after "
	        "\"upvotes:\""},
	    {"upvotes:20x", 9, "expected a number after \"upvotes\""},
	    {"upvotes:(ten)", 10,
	        "expected a comparison such as >=10 or a range such as 10..20 after "
	        "\"upvotes:\""},
	    {"upvotes:()", 9, "empty parentheses"},
	    {"authors:three", 9,
	        "\"authors:\" wants a number: did you mean \"author:\"?"},
	    {"authors: Kaiming He", 9,
	        "\"authors:\" wants a number: did you mean \"author:\"?"},
	    {"authors:\"Kaiming He\"", 9,
	        "\"authors:\" wants a number: did you mean \"author:\"?"},
	    {"comments:NeurIPS", 10,
	        "\"comments:\" wants a number: did you mean \"comment:\"?"},
	    {"authors: >3", 9, "expected a number after \"authors:\""},
	    {"stars:\"20\"", 7,
	        "expected a comparison such as >=10 or a range such as 10..20 after "
	        "\"stars:\""},
	    {"comments:-1", 10, "\"-\" must be before the field name: -comments:"},
	    {"upvotes:", 9, "expected a number after \"upvotes:\""},
	    /* Groups and quotation marks. */
	    {"a ()", 3, "empty parentheses"},
	    {"title:()", 7, "empty parentheses"},
	    {"a (b OR c", 3, "\"(\" without \")\""},
	    {"a (b (c)", 3, "\"(\" without \")\""},
	    {"a)", 2, "\")\" without \"(\""},
	    {")", 1, "\")\" without \"(\""},
	    {"(", 1, "\"(\" without \")\""},
	    {"a OR (", 6, "\"(\" without \")\""},
	    {"title:(", 7, "\"(\" without \")\""},
	    {"a (b OR", 6, "expected a word after \"OR\""},
	    {"a \"b c", 3, "missing closing quotation mark for \""},
	    {"a “b c", 3, "missing closing quotation mark for “"},
	    {"a «b c", 3, "missing closing quotation mark for «"},
	    {"«a\"", 3, BEGINS("\"")},
	    {"\"he said “hello” there\"", 10, BEGINS("“")},
	    {"“a \"b\" c”", 4, BEGINS("\"")},
	    {"«a “b” c»", 4, BEGINS("“")},
	    {"a”", 2, "closing quotation mark ” without an opening one"},
	    {"state space» x", 12, "closing quotation mark » without an opening one"},
	    {"」a「", 1, "closing quotation mark 」 without an opening one"},
	    {"x ‘researchers’ work’", 3, APOSTROPHE("‘")},
	    {"’state space’", 1, APOSTROPHE("’")},
	    {"a \"\"", 4, "the phrase is empty"},
	    {"a \"...\"", 4, "no letter or digit in \"...\""},
	    {"a / b", 3, "no letter or digit in \"/\""},
	    {"author:\"...\"", 8, "no name in \"...\""},
	    {"author:\", Yann\"", 8, "expected a last name before the comma"},
	    /* Operands. */
	    {"a OR", 3, "expected a word after \"OR\""},
	    {"OR a", 1, "expected a word before \"OR\""},
	    {"a AND | b", 3, "expected a word after \"AND\""},
	    {"a & & b", 3, "expected a word after \"&\""},
	    {"(a OR) b", 4, "expected a word after \"OR\""},
	    {"a (OR b)", 4, "expected a word before \"OR\""},
	    {"a NOT", 3, "expected a word after \"NOT\""},
	    {"ANDNOT a", 1, "expected a word before \"ANDNOT\""},
	    {"a NOT NOT b", 7, "duplicate NOT"},
	    {"a --b", 4, "duplicate NOT"},
	    {"a - b", 3, "\"-\" must be directly before its word"},
	    {"a !", 3, "\"!\" must be directly before its word"},
	    {"a, b", 2, "unexpected comma: a space means AND, write OR for either"},
	    /* Only negations. */
	    {"-a", 1,
	        "this would match every paper without a word: combine it by AND with "
	        "one "
	        "that must occur"},
	    {"-a -b", 1,
	        "this would match every paper without a word: combine it by AND with "
	        "one "
	        "that must occur"},
	    {"a OR -b", 6,
	        "this would match every paper without a word: combine it by AND with "
	        "one "
	        "that must occur"},
	    {"a OR (c OR NOT b)", 12,
	        "this would match every paper without a word: combine it by AND with "
	        "one "
	        "that must occur"},
	    {"NOT (a -b)", 1,
	        "this would match every paper without a word: combine it by AND with "
	        "one "
	        "that must occur"},
	    /* Prefixes. */
	    {"ab*", 1, "expected at least 3 letters before \"*\""},
	    {"x \"self pl*\"", 9, "expected at least 3 letters before \"*\""},
	    {"x self-*", 3, "expected at least 3 letters before \"*\""},
	    {"é mü*", 3, "expected at least 3 letters before \"*\""},
	    {"a*b", 2, "\"*\" is only allowed at the end of a word or phrase"},
	    {"\"abc* def\"", 5, "\"*\" is only allowed at the end of a word or phrase"},
	    {"abc**", 4, "\"*\" is only allowed at the end of a word or phrase"},
	    {"*", 1, "no letter or digit in \"*\""},
	    {"au:lecun*", 4, "names are matched as whole words, without \"*\""},
	    {"+diffusion", 1, "\"+\" may follow a word, but not precede it"},
	    {"a =#ON", 4, "\"#\" may follow a word, but not precede it"},
	    /* Columns count characters, not bytes. */
	    {"a\tb", 2, "unexpected control character"},
	    {"é\nb", 2, "unexpected control character"},
	    {"é\x7f", 2, "unexpected control character"},
	    {"é \xc2\x85", 3, "unexpected control character"},
	    {"é \xff", 3, "the text is not valid UTF-8 from here"},
	    {"é \xed\xa0\x80", 3, "the text is not valid UTF-8 from here"},
	    {"日本 OR", 4, "expected a word after \"OR\""},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		assert_refused(fixture, &rows[i], PB_ERROR_INPUT);
}

QUERY_TEST(invalid_values_are_rejected_with_the_closest_one)
{
#define NO_DAY                                                                         \
	"expected a day such as 2026-07-31 or 2026-07, or a duration such as 7d, 2w, " \
	"3m, 1y"
	static const struct refusal rows[] = {
	    /* Categories. */
	    {"cat:cs.XL", 5,
	        "unknown arXiv category \"cs.XL\": did you mean \"cs.CL\"?"},
	    {"a -cat:csCL", 8,
	        "unknown arXiv category \"csCL\": did you mean \"cs.CL\"?"},
	    {"primary:maths", 9,
	        "unknown arXiv category \"maths\": did you mean \"math\"?"},
	    {"cat:hepth", 5,
	        "unknown arXiv category \"hepth\": did you mean \"hep-th\"?"},
	    {"cat:cs.C*", 5,
	        "unknown arXiv category \"cs.C*\": did you mean \"cs.CC\"?"},
	    {"cat:(cs.CL OR cs.QQ)", 15,
	        "unknown arXiv category \"cs.QQ\": did you mean \"cs.AI\"?"},
	    {"cat:=cs.CL", 5,
	        "\"=\" (exact spelling) applies to words, not to \"cat:\""},
	    {"cat:", 5,
	        "expected a category such as cs.CL or cs directly after \"cat:\""},
	    {"cat: cs.CL", 5,
	        "expected a category such as cs.CL or cs directly after \"cat:\""},
	    /* Fixed choices. */
	    {"has:coed", 5,
	        "\"has:\" must be one of code, project, video, not \"coed\": did you "
	        "mean \"code\"?"},
	    {"a has:(code OR vidoe)", 16,
	        "\"has:\" must be one of code, project, video, not \"vidoe\": did you "
	        "mean \"video\"?"},
	    {"type:replaced", 6,
	        "\"type:\" must be one of new, cross, replace, not \"replaced\": did "
	        "you "
	        "mean \"replace\"?"},
	    {"type:", 6, "expected a value directly after \"type:\""},
	    /* Whole values. */
	    {"doi:10*", 5, "expected at least 3 letters before \"*\""},
	    {"doi:10.1*45", 9, "\"*\" is only allowed at the end of a value"},
	    {"id:\"2607 *x\"", 10, "\"*\" is only allowed at the end of a value"},
	    {"id:260**", 7, "\"*\" is only allowed at the end of a value"},
	    {"id:--", 4, "\"-\" must be before the field name: -id:"},
	    {"id:\"--\"", 4, "no letter or digit in \"--\""},
	    {"source:h*", 8, "source names are matched as a whole, without \"*\""},
	    {"source:=hf", 8,
	        "\"=\" (exact spelling) applies to words, not to \"source:\""},
	    {"first:=hinton", 7,
	        "\"=\" (exact spelling) applies to words, not to \"first:\""},
	    {"first:hin*", 7, "names are matched as whole words, without \"*\""},
	    {"org:>=3", 5, "a comparison needs the name of a numeric field before it"},
	    {"kw:ab*", 4, "expected at least 3 letters before \"*\""},
	    {"journal:", 9,
	        "expected a word, a phrase or \"(\" directly after \"journal:\""},
	    /* Days. */
	    {"date:2026-02-30", 6, "invalid date 2026-02-30"},
	    {"date:2026-13..", 6, "invalid date 2026-13"},
	    {"date:2026..2026-00", 12, "invalid date 2026-00"},
	    {"date:0000", 6, "invalid date 0000"},
	    {"date:2025-02-29", 6, "invalid date 2025-02-29"},
	    {"date:2026-7", 6, NO_DAY},
	    {"date:20260731", 6, NO_DAY},
	    {"date:7", 6, NO_DAY},
	    {"date:7h", 6, NO_DAY},
	    {"date:yesterday", 6, NO_DAY},
	    {"date:2026..x", 12, NO_DAY},
	    {"date:..", 8, NO_DAY},
	    {"date:1d..2d..3d", 10, NO_DAY},
	    {"date:>=2026-07", 6,
	        "dates use ranges instead of comparisons: 2026-07.. or ..2026-07"},
	    {"date:2026-08..2026-07", 6, "the end of the range is before its start"},
	    {"date:2027..2026", 6, "the end of the range is before its start"},
	    {"date:3d..7d", 6, "the end of the range is before its start"},
	    {"date:1w..8d", 6, "the end of the range is before its start"},
	    {"date:1m..1y", 6, "the end of the range is before its start"},
	    {"date:", 6,
	        "expected a day such as 2026-07-31 or a duration such as 7d after "
	        "\"date:\""},
	    {"date:-7d", 6, "\"-\" must be before the field name: -date:"},
	};
#undef NO_DAY

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		assert_refused(fixture, &rows[i], PB_ERROR_INPUT);
}

QUERY_TEST(invalid_signs_are_rejected_with_the_column)
{
#define DISTANCE "the distance must be a number of words from 1 to 99"
#define OPERANDS "NEAR can only join words, phrases and prefixes"
#define WEIGHT   "a weight is a number from 1 to 10"
#define STRAY    "\"^\" (a weight) may occur once, directly after a word or a group"
	static const struct refusal rows[] = {
	    /* NEAR. */
	    {"a NEAR/0 b", 8, DISTANCE},
	    {"a NEAR/ b", 8, DISTANCE},
	    {"a NEAR/x b", 8, DISTANCE},
	    {"NEAR(a b, 0)", 11, DISTANCE},
	    {"NEAR(a b, x)", 11, DISTANCE},
	    {"NEAR(a b,)", 10, DISTANCE},
	    {"NEAR(a, b)", 9, DISTANCE},
	    {"NEAR(a b, 5 c)", 13, "expected \")\" after the number of words"},
	    {"NEAR(a b", 5, "\"(\" without \")\""},
	    {"NEAR(a b, 5", 5, "\"(\" without \")\""},
	    {"x NEAR(a)", 3, "NEAR needs at least two words"},
	    {"NEAR()", 1, "NEAR needs at least two words"},
	    {"title:NEAR(a, 5)", 7, "NEAR needs at least two words"},
	    {"a NEAR", 3, "expected a word after \"NEAR\""},
	    {"a NEAR/5", 3, "expected a word after \"NEAR/5\""},
	    {"a NEAR OR b", 3, "expected a word after \"NEAR\""},
	    {"(a NEAR) b", 4, "expected a word after \"NEAR\""},
	    {"NEAR b", 1, "expected a word before \"NEAR\""},
	    {"a OR NEAR b", 3, "expected a word after \"OR\""},
	    {"a NEAR/5 b NEAR/3 c", 12,
	        "all NEAR of a chain must have the same distance"},
	    {"a NEAR/5 b NEAR c", 12,
	        "all NEAR of a chain must have the same distance"},
	    {"a NEAR (b)", 8, OPERANDS},
	    {"(a) NEAR b", 1, OPERANDS},
	    {"a NEAR title:b", 8, OPERANDS},
	    {"x title:a NEAR b", 3, OPERANDS},
	    {"a NEAR -b", 8, OPERANDS},
	    {"a NEAR NOT b", 8, OPERANDS},
	    {"a NEAR NEAR(b c)", 8, OPERANDS},
	    {"NEAR(b c) NEAR a", 1, OPERANDS},
	    {"a NEAR cs.CL", 8, OPERANDS},
	    {"cs.CL NEAR a", 1, OPERANDS},
	    {"NEAR(a OR b)", 8, OPERANDS},
	    {"NEAR(a (b))", 8, OPERANDS},
	    {"NEAR(a title:b)", 8, OPERANDS},
	    {"NEAR(a upvotes:>3)", 8, OPERANDS},
	    {"NEAR(a b^2)", 9, OPERANDS},
	    {"NEAR(a ab*)", 8, "expected at least 3 letters before \"*\""},
	    {"author:(a NEAR b)", 11,
	        "NEAR applies to title, abstract and text, not to \"author:\""},
	    {"org:NEAR(a b)", 5,
	        "NEAR applies to title, abstract and text, not to \"org:\""},
	    {"cat:(cs.CL NEAR cs.LG)", 12,
	        "NEAR applies to title, abstract and text, not to \"cat:\""},
	    {"title:NEAR b", 7,
	        "expected a word, a phrase or \"(\" directly after \"title:\""},
	    {"a^2 NEAR b", 5,
	        "a weight applies to all of NEAR and comes last: a NEAR b^2"},
	    /* Weights. */
	    {"a^0", 3, WEIGHT},
	    {"a^", 3, WEIGHT},
	    {"a^x", 3, WEIGHT},
	    {"a^2x", 3, WEIGHT},
	    {"a^ 2", 3, WEIGHT},
	    {"a^-2", 3, WEIGHT},
	    {"a^002", 3, WEIGHT},
	    {"\"a b\"^\"2\"", 7, WEIGHT},
	    {"a ^2", 3, STRAY},
	    {"^2", 1, STRAY},
	    {"a^2^3", 4, STRAY},
	    {"a OR ^2", 6, STRAY},
	    {"title:^2", 7,
	        "expected a word, a phrase or \"(\" directly after \"title:\""},
	    /* Exact words. */
	    {"=", 1, "\"=\" (exact spelling) must be directly before its word"},
	    {"a = b", 3, "\"=\" (exact spelling) must be directly before its word"},
	    {"=\"a b\"", 1, "\"=\" (exact spelling) must be directly before its word"},
	    {"a =...", 3, "\"=\" (exact spelling) must be directly before its word"},
	    {"=self-play", 1, "\"=\" (exact spelling) applies to one whole word"},
	    {"title:=node.js", 7, "\"=\" (exact spelling) applies to one whole word"},
	    {"x =RAG*", 3, "\"=\" (exact spelling) applies to one whole word"},
	};
#undef DISTANCE
#undef OPERANDS
#undef WEIGHT
#undef STRAY

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		assert_refused(fixture, &rows[i], PB_ERROR_INPUT);
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
			struct refusal row = {text,
			    (unsigned)g_utf8_strlen(places[j][0], -1) + 1, message};

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
	const struct refusal past_signs[] = {
	    {"a NEAR/100 b", 8, "the distance must be a number of words from 1 to 99"},
	    {"NEAR(a b, 100)", 11,
	        "the distance must be a number of words from 1 to 99"},
	    {"a^11", 3, "a weight is a number from 1 to 10"},
	    {"date:1000d", 6,
	        "expected a day such as 2026-07-31 or 2026-07, or a duration such as "
	        "7d, 2w, 3m, 1y"},
	};
	const struct refusal beyond[] = {
	    {bytes_past, BOUNDS_QUERY_BYTES, "longer than 512 bytes"},
	    {terms_past, 2 * BOUNDS_QUERY_TERMS + 1, "more than 40 words and phrases"},
	    {nested_past, BOUNDS_QUERY_DEPTH + 1,
	        "parentheses are nested deeper than 8"},
	    {"upvotes:>=1000000000", 11, "a number has at most 9 digits"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(good); i++)
		query_free(must_parse(fixture, good[i]));
	for (size_t i = 0; i < G_N_ELEMENTS(beyond); i++)
		assert_refused(fixture, &beyond[i], PB_ERROR_LIMIT);
	for (size_t i = 0; i < G_N_ELEMENTS(past_signs); i++)
		assert_refused(fixture, &past_signs[i], PB_ERROR_INPUT);
}

QUERY_TEST(lower_case_operators_are_words_with_a_warning)
{
	static const struct {
		const char *text;
		const char *warning; /* the only one, or NULL */
	} rows[] = {
	    {"a or b", "column 3: \"or\" is searched as a word: did you mean OR?"},
	    {"é and \"b\"",
	        "column 3: \"and\" is searched as a word: did you mean AND?"},
	    {"(a) Or (b)", "column 5: \"Or\" is searched as a word: did you mean OR?"},
	    {"a not b", "column 3: \"not\" is searched as a word: did you mean NOT?"},
	    {"not b", "column 1: \"not\" is searched as a word: did you mean NOT?"},
	    {"a andnot b",
	        "column 3: \"andnot\" is searched as a word: did you mean ANDNOT?"},
	    {"a near b",
	        "column 3: \"near\" is searched as a word: did you mean NEAR?"},
	    {"a near/5 b",
	        "column 3: \"near/5\" is searched as a word: did you mean NEAR?"},
	    {"a Or NEAR(b c)",
	        "column 3: \"Or\" is searched as a word: did you mean OR?"},
	    {"near b", NULL},
	    {"a NEAR b", NULL},
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

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(GPtrArray) warnings = NULL;
		pb_auto(query) query = query_parse(
		    rows[i].text, fixture->tokenizer, &warnings, NULL, &error);

		g_assert_no_error(error);
		g_assert_nonnull(query);
		g_assert_cmpuint(warnings->len, ==, rows[i].warning ? 1 : 0);
		if (rows[i].warning)
			g_assert_cmpstr(((struct msg *)warnings->pdata[0])->text, ==,
			    rows[i].warning);
	}
}

QUERY_TEST(and_inside_or_without_brackets_gives_both_readings)
{
	static const struct {
		const char *text, *meant, *other; /* NULL: no warning */
	} rows[] = {
	    {"agent* OR \"tool use\" upvotes:>=10",
	        "agent* OR (\"tool use\" upvotes:>=10)",
	        "(agent* OR \"tool use\") upvotes:>=10"},
	    {"a OR b AND c", "a OR (b c)", "(a OR b) c"},
	    {"a b OR c d OR e", "(a b) OR (c d) OR e", "a (b OR c) (d OR e)"},
	    {"a OR b -survey", "a OR (b NOT survey)", "(a OR b) NOT survey"},
	    {"a OR b ANDNOT c", "a OR (b NOT c)", "(a OR b) NOT c"},
	    {"title:(a OR b) c | d", "(title:(a OR b) c) OR d",
	        "title:(a OR b) (c OR d)"},
	    {"a NEAR/5 b OR c d", "a NEAR/5 b OR (c d)", "(a NEAR/5 b OR c) d"},
	    {"NEAR(a b) c OR d^2", "(NEAR(a b) c) OR d^2", "NEAR(a b) (c OR d^2)"},
	    {"a OR b OR c", NULL, NULL},
	    {"a b c", NULL, NULL},
	    {"(a OR b) c", NULL, NULL},
	    {"a OR (b c)", NULL, NULL},
	    {"a -b OR c", NULL, NULL},
	    {"a", NULL, NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GPtrArray) warnings = NULL;
		pb_auto(query) query = query_parse(
		    rows[i].text, fixture->tokenizer, &warnings, NULL, NULL);
		const struct msg *warning;

		g_assert_nonnull(query);
		g_assert_cmpuint(warnings->len, ==, rows[i].meant ? 1 : 0);
		if (!rows[i].meant)
			continue;
		warning = warnings->pdata[0];
		g_assert_cmpstr(warning->source, ==, QUERY_MIXED);
		g_assert_cmpstr(msg_get_arg(warning, "meant"), ==, rows[i].meant);
		g_assert_cmpstr(msg_get_arg(warning, "reading"), ==, rows[i].other);
	}
}

QUERY_TEST(signs_of_other_languages_give_a_warning)
{
	static const struct {
		const char *text;
		const char *warning; /* beginning of the only one, or NULL */
	} rows[] = {
	    {"diffusion[ti]", "column 10: \"[\" is ignored; write a field before"},
	    {"a {b}", "column 3: \"{\" is ignored; write a field before"},
	    {"wom?n", "column 4: \"?\" is ignored; \"*\" finds other endings"},
	    {"étude~", "column 6: \"~\" is ignored; \"*\" finds"},
	    {"title:model?", "column 12: \"?\" is ignored; \"*\" finds"},
	    {"upvotes>=20 a", "column 8: \">\" is ignored; compare a number"},
	    {"ti:%22a", "column 4: \"%\" is ignored; type characters as they are"},
	    {"'mamba ssm'", "column 1: this quotation mark is ignored"},
	    {"‘mamba", "column 1: this quotation mark is ignored"},
	    {"«state space»", NULL},
	    {"‘mamba’", NULL},
	    {"O’Neil", NULL},
	    {"log(n)", "column 4: \"(\" starts a group here"},
	    {"doi:10.1/a(20)", "column 11: \"(\" starts a group here"},
	    {"R&D", "column 2: \"&\" means AND here"},
	    {"\"R&D\"", NULL},
	    {"mamba&ssm", NULL},
	    {"R & D", NULL},
	    {"=RAG", NULL},
	    {"title:=RAG", NULL},
	    {"models'", NULL},
	    {"O'Neil", NULL},
	    {"\"what? [a]\"", NULL},
	    {"upvotes:>=20 a", NULL},
	    {"c++ C# node.js self-play w/o $x$", NULL},
	    {"NOT(b) a", NULL},
	    {"NEAR(a b)", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GPtrArray) warnings = NULL;
		pb_auto(query) query = query_parse(
		    rows[i].text, fixture->tokenizer, &warnings, NULL, NULL);

		g_assert_nonnull(query);
		g_assert_cmpuint(warnings->len, ==, rows[i].warning ? 1 : 0);
		if (rows[i].warning &&
		    !g_str_has_prefix(
		        ((struct msg *)warnings->pdata[0])->text, rows[i].warning))
			g_test_fail_printf("%s: %s", rows[i].text,
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
	g_autoptr(GError) error = NULL;

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
