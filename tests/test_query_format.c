/*
 * test_query_format.c - canonical text and hash of filters.
 */
#include <string.h>

#include "base/bounds.h"
#include "query/parse/canonical.h"
#include "query/parse/widen.h"
#include "test_query.h"

QUERY_TEST(filters_have_a_canonical_text)
{
	static const struct {
		const char *text;
		const char *canonical;
	} rows[] = {
	    /* Examples of the language. */
	    {"diffusion", "diffusion"},
	    {"diffusion model", "diffusion AND model"},
	    {"\"diffusion model\"", "\"diffusion model\""},
	    {"\"large language model*\" OR LLM", "\"large language model*\" OR llm"},
	    {"quantiz*", "quantiz*"},
	    {"agent -survey -benchmark", "agent NOT benchmark NOT survey"},
	    {"title:\"state space\"", "title:\"state space\""},
	    {"title:(mamba OR ssm)", "title:mamba OR title:ssm"},
	    {"author:\"Yann LeCun\" OR au:\"Y LeCun\"",
	        "author:\"y lecun\" OR author:\"yann lecun\""},
	    {"diffusion upvotes:>=20", "diffusion AND upvotes:>=20"},
	    {"ti:graph ANDNOT (ti:survey OR abs:molecule)",
	        "title:graph NOT (abstract:molecule OR title:survey)"},
	    /* Operators in all spellings. */
	    {"b AND a", "a AND b"},
	    {"b&a", "a AND b"},
	    {"b a", "a AND b"},
	    {"b | a", "a OR b"},
	    {"b|a OR c", "a OR b OR c"},
	    {"a !b", "a NOT b"},
	    {"a AND NOT b", "a NOT b"},
	    {"a–b –c", "\"a b\" NOT c"},
	    {"a AND -(b c)", "a NOT (b AND c)"},
	    {"a ANDNOT b", "a NOT b"},
	    {"a\"b c\"-d", "\"b c\" AND a NOT d"},
	    /* Typographic quotation marks of many languages. */
	    {"“b c”", "\"b c\""},
	    {"”b c”", "\"b c\""},
	    {"„b c“", "\"b c\""},
	    {"„b c”", "\"b c\""},
	    {"«b c»", "\"b c\""},
	    {"« b c »", "\"b c\""},
	    {"title:«\u00a0b mod*\u00a0» x", "title:\"b mod*\" AND x"},
	    {"»b c«", "\"b c\""},
	    {"«b c«", "\"b c\""},
	    {"「b c」 『d e』", "\"b c\" AND \"d e\""},
	    {"\"b c” “d e\" \"f g“", "\"b c\" AND \"d e\" AND \"f g\""},
	    {"a“b c”d", "\"b c\" AND a AND d"},
	    {"-“b c” a -(„d e“)", "a NOT \"b c\" NOT \"d e\""},
	    {"title:“b c” NEAR(‹b c› «d»)", "NEAR(\"b c\" d, 10) AND title:\"b c\""},
	    {"‘b c’", "\"b c\""},
	    {"‚b c‘ ‚d e’", "\"b c\" AND \"d e\""},
	    {"‘b’s c’", "\"b s c\""},
	    {"title:‘b c’^2 OR (‘d e’)", "\"d e\" OR title:\"b c\"^2"},
	    {"\"b’s ‘c’\"", "\"b s c\""},
	    {"researchers’ O’Neil", "\"o neil\" AND researcher"},
	    {"‘90 x", "90 AND x"},
	    {"’t x", "t AND x"},
	    {"au:“Gui‐Song Xia”", "author:\"gui-song xia\""},
	    {"au:O’Brien", "author:o-brien"},
	    {"au:‘Jean d’Alembert’", "author:\"jean d-alembert\""},
	    {"source:\"‘x’\"", "source:\"‘x’\""},
	    /* Precedence, needless parentheses, duplicates. */
	    {"a OR b c", "a OR b AND c"},
	    {"(a OR b) c", "(a OR b) AND c"},
	    {"((a)) (((b)))", "a AND b"},
	    {"a (b (c d))", "a AND b AND c AND d"},
	    {"a OR (b OR c) OR a", "a OR b OR c"},
	    {"a a A as", "a AND as"},
	    {"(b a) OR (a b)", "a AND b"},
	    {"c ((b a) OR (a b))", "a AND b AND c"},
	    {"a NOT (NOT b)", "a AND b"},
	    {"-(-a)", "a"},
	    {"-(-a OR -b)", "NOT (NOT a OR NOT b)"},
	    {"a (b OR NOT c)", "a AND (b OR NOT c)"},
	    /* Words. */
	    {"Models", "model"},
	    {"Müller", "muller"},
	    /* Marks on Latin letters are ignored, others are not. */
	    {"Việt cafe\u0301 Ğ ǖ", "cafe AND g AND u AND viet"},
	    {"Łódź", "łodz"},
	    {"Ørsted", "ørsted"},
	    {"άλφα", "άλφα"},
	    {"αλφα", "αλφα"},
	    {"Ёлка", "ёлка"},
	    {"елка", "елка"},
	    {"が", "が"},
	    {"か", "か"},
	    {"か\u3099", "が"},
	    /* Runs of scripts without spaces are one word; a star changes nothing. */
	    {"大型语言模型", "大型语言模型"},
	    {"title:「大型语言模型」", "title:大型语言模型"},
	    {"モデル* 型*", "モデル AND 型"},
	    {"=推理 型", "型 AND 推理"},
	    {"人人人", "人人人"},
	    {"\"大模 模型\"", "大模型"},
	    {"\"大模 型\"", "\"大模 型\""},
	    {"BERT模型（推理）", "\"bert 模型 推理\""},
	    {"第1章", "\"第 1 章\""},
	    {"模型+型号", "\"模型+型号\""},
	    {"au:王小明 au:\"小明, 王\"", "author:\"王 小明\" AND author:王小明"},
	    {"LLMs GPUs", "gpu AND llm"},
	    {"news analysis", "analysis AND news"},
	    {"self-play", "\"self play\""},
	    {"\"Self  Play!\"", "\"self play\""},
	    {"\"mamba\"", "mamba"},
	    {"Models*", "models*"},
	    {"self-play*", "\"self play*\""},
	    {"title:self-play", "title:\"self play\""},
	    {"C++", "c++"},
	    {"c#", "c#"},
	    {"Node.js", "\"node.js\""},
	    {"\"cs.LG\"", "\"cs.lg\""},
	    {"GPT-4.5", "\"gpt 4.5\""},
	    {"\"programming in C++ now\"", "\"programming in c++ now\""},
	    {"\"the end. really...\"", "\"the end really\""},
	    {"node.js.", "\"node.js\""},
	    {"c++.", "c++"},
	    {"github.com", "\"github.com\""},
	    {"and", "and"},
	    {"\"OR\"", "or"},
	    /* Fields. */
	    {"text:a", "a"},
	    {"all:a Text:b", "a AND b"},
	    {"TI:a Abs:b", "abstract:b AND title:a"},
	    {"title:a OR title:b", "title:a OR title:b"},
	    {"title:(b -a)", "title:b NOT title:a"},
	    {"title:(a abs:b text:c)", "abstract:b AND c AND title:a"},
	    {"title:(a upvotes:>3)", "title:a AND upvotes:>=4"},
	    /* Names. */
	    {"au:LeCun", "author:lecun"},
	    {"au:\"LeCun, Yann\"", "author:\"yann lecun\""},
	    {"au:\"Yann  LeCun\"", "author:\"yann lecun\""},
	    {"au:\"LeCun,\"", "author:\"lecun,\""},
	    {"au:\"Y. LeCun\"", "author:\"y lecun\""},
	    {"au:Ben-David", "author:ben-david"},
	    {"au:\"Shai Ben-David\"", "author:\"shai ben-david\""},
	    {"au:\"O'Brien, Ann\"", "author:\"ann o-brien\""},
	    {"au:\"García Márquez, Gabriel\"", "author:\"garcia marquez, gabriel\""},
	    {"au:\"van den Oord, Aaron\"", "author:\"aaron van den oord\""},
	    {"au:\"Robert Downey Jr.\"", "author:\"robert downey\""},
	    {"au:\"Robert Downey, Jr.\"", "author:\"robert downey\""},
	    {"au:\"Downey, Robert, Jr.\"", "author:\"robert downey\""},
	    {"au:\"Jr, T.\"", "author:\"jr, t\""},
	    {"au:\"Ann Lee Jr. III\"", "author:\"ann lee\""},
	    {"au:\"Downey, Robert Jr. II\"", "author:\"robert downey\""},
	    {"au:\"Robert Downey Jr. II\"", "author:\"robert downey\""},
	    {"au:\"Jr, Robert\"", "author:\"jr, robert\""},
	    {"au:(b OR a)", "author:a OR author:b"},
	    {"au:williams", "author:williams"},
	    /* Numbers. */
	    {"upvotes:>20", "upvotes:>=21"},
	    {"upvotes:<20", "upvotes:<=19"},
	    {"upvotes:=20", "upvotes:=20"},
	    {"upvotes:20", "upvotes:=20"},
	    {"upvotes:020..20", "upvotes:=20"},
	    {"upvotes:10..20", "upvotes:10..20"},
	    {"upvotes:10..", "upvotes:>=10"},
	    {"upvotes:..10", "upvotes:<=10"},
	    {"upvotes:0..10", "upvotes:<=10"},
	    {"upvotes:>=0", "upvotes:>=0"},
	    {"upvotes:>999999999", "upvotes:>999999999"},
	    {"upvotes:(3 OR 2..2)", "upvotes:=2 OR upvotes:=3"},
	    /* Exact words. */
	    {"=RAG", "=RAG"},
	    {"=Müller =mu\u0308ller", "=Müller AND =müller"},
	    {"=GPUs", "=GPUs"},
	    {"=C++", "=C++"},
	    {"title:=RAG OR text:=RAG", "=RAG OR title:=RAG"},
	    {"=RAG OR rag", "=RAG OR rag"},
	    {"-=RAG model", "model NOT =RAG"},
	    /* NEAR. */
	    {"b NEAR a", "NEAR(a b, 10)"},
	    {"b NEAR/5 a NEAR/5 b", "NEAR(a b, 5)"},
	    {"NEAR(b a)", "NEAR(a b, 10)"},
	    {"NEAR(b \"c d\" abc* =A,3)", "NEAR(\"c d\" =A abc* b, 3)"},
	    {"b NEAR/05 a", "NEAR(a b, 5)"},
	    {"models NEAR model", "model"},
	    {"title:(models NEAR model)", "title:model"},
	    {"title:(b NEAR a)", "title:NEAR(a b, 10)"},
	    {"ti:NEAR(b a, 10)", "title:NEAR(a b, 10)"},
	    {"all:NEAR(b a)", "NEAR(a b, 10)"},
	    {"x(a NEAR b)", "NEAR(a b, 10) AND x"},
	    {"NEAR(a b)NEAR(c d)", "NEAR(a b, 10) AND NEAR(c d, 10)"},
	    {"a NEAR(b c)", "NEAR(b c, 10) AND a"},
	    {"a NEAR b c", "NEAR(a b, 10) AND c"},
	    {"title:(cs.CL NEAR b)", "title:NEAR(\"cs.cl\" b, 10)"},
	    {"\"NEAR\"", "near"},
	    /* Weights. */
	    {"a^3 b", "a^3 AND b"},
	    {"a^1", "a"},
	    {"a^03", "a^3"},
	    {"(b a)^2", "(a AND b)^2"},
	    {"(b OR a)^2 c", "(a OR b)^2 AND c"},
	    {"(a b)^2 c", "(a AND b)^2 AND c"},
	    {"(a)^2", "a^2"},
	    {"((a^2))^3", "a^6"},
	    {"(a^5)^5", "a^10"},
	    {"a^2 a^3 a", "a^3"},
	    {"(a b)^2 OR b a", "(a AND b)^2"},
	    {"c -a^3", "c NOT a"},
	    {"c -(a^3 OR b)^2", "c NOT (a OR b)"},
	    {"c (NOT a)^3", "c NOT a"},
	    {"c (a b NOT d^2)^3", "(a AND b NOT d)^3 AND c"},
	    {"a NEAR b^2", "NEAR(a b, 10)^2"},
	    {"NEAR(a b)^2", "NEAR(a b, 10)^2"},
	    {"title:(a^2 b)", "title:a^2 AND title:b"},
	    {"cs.CL^2 OR upvotes:>=3^4 OR au:gu^5",
	        "author:gu^5 OR cat:cs.CL^2 OR upvotes:>=3^4"},
	    {"\"a b\"^2|date:7d^2", "\"a b\"^2 OR date:7d..^2"},
	    /* Days. */
	    {"date:2026-07-01..2026-07-31", "date:2026-07"},
	    {"date:2026-01..2026-12", "date:2026"},
	    {"date:2024-02-01..2024-02-29", "date:2024-02"},
	    {"date:2026-02-01..2026-02-27", "date:2026-02-01..2026-02-27"},
	    {"date:2026-07-03..2026-07-03", "date:2026-07-03"},
	    {"date:2026..", "date:2026-01-01.."},
	    {"date:..2026", "date:..2026-12-31"},
	    {"date:007D", "date:7d.."},
	    {"date:\"7d..\"", "date:7d.."},
	    {"date:..3m", "date:..3m"},
	    {"date:2026-07..1w", "date:2026-07-01..1w"},
	    {"date:4w..1m", "date:4w..1m"},
	    {"date:(7d OR 2025)", "date:2025 OR date:7d.."},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *once = canonical(fixture, rows[i].text);
		g_autofree char *twice = canonical(fixture, once);

		g_assert_cmpstr(once, ==, rows[i].canonical);
		g_assert_cmpstr(once, ==, twice);
	}
}

QUERY_TEST(hash_is_of_the_canonical_text)
{
	pb_auto(query) one = must_parse(fixture, "models Diffusion");
	pb_auto(query) same = must_parse(fixture, "diffusion & model");
	pb_auto(query) other = must_parse(fixture, "diffusion | model");
	g_autofree char *one_hash = query_hash(one);
	g_autofree char *same_hash = query_hash(same);
	g_autofree char *other_hash = query_hash(other);
	g_autofree char *expected =
	    g_compute_checksum_for_string(G_CHECKSUM_SHA256, "diffusion AND model", -1);

	g_assert_cmpstr(one_hash, ==, expected);
	g_assert_cmpstr(one_hash, ==, same_hash);
	g_assert_cmpstr(one_hash, !=, other_hash);
}

QUERY_TEST(time_dependent_filters_are_detected)
{
	pb_auto(query) words = must_parse(fixture, "a OR (title:b NOT au:c)");
	pb_auto(query) votes = must_parse(fixture, "a (b NOT (c OR upvotes:>3))");

	g_assert_false(query_is_time_dependent(words));
	g_assert_true(query_is_time_dependent(votes));
}

/* The longest canonical text of a filter of 512 bytes is still parsed. */
QUERY_TEST(longest_typed_filter_has_a_canonical_text_within_bounds)
{
	g_autoptr(GString) text = g_string_new("abs:(");
	g_autoptr(GString) wide = g_string_new("a");
	g_autoptr(GString) long_text = g_string_new(NULL);
	g_autoptr(GError) error = NULL;

	for (int i = 0; i < BOUNDS_QUERY_TERMS; i++)
		g_string_append_printf(text, "%c.%cabc%c%c|", 'b' + i % 20,
		    'b' + i / 20, 'b' + i % 20, 'b' + i / 20);
	g_string_overwrite(text, text->len - 1, ")");
	g_assert_cmpuint(text->len, <=, BOUNDS_QUERY_BYTES);
	/* U+023A has two bytes, its lower case three. */
	while (wide->len < BOUNDS_QUERY_BYTES - 1)
		g_string_append(wide, "Ⱥ");
	for (int i = 0; i < BOUNDS_QUERY_CANONICAL_BYTES; i++)
		g_string_append_c(long_text, 'a');
	for (int i = 0; i < 3; i++) {
		GString *typed[] = {text, wide, long_text};
		g_autofree char *once = i < 2 ? canonical(fixture, typed[i]->str)
		                              : g_strdup(long_text->str);
		pb_auto(query) query =
		    query_parse_canonical(once, fixture->tokenizer, &error);
		g_autofree char *twice = NULL;

		g_assert_no_error(error);
		g_assert_cmpuint(strlen(once), >, BOUNDS_QUERY_BYTES);
		twice = query_format(query);
		g_assert_cmpstr(once, ==, twice);
	}
	g_string_append_c(long_text, 'a');
	g_assert_null(
	    query_parse_canonical(long_text->str, fixture->tokenizer, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_LIMIT);
}

/* Find a clause by its canonical text. */
static const struct node *
find_clause(const struct node *node, const char *text)
{
	g_autoptr(GString) own = g_string_new(NULL);

	for (guint i = 0; node->operands && i < node->operands->len; i++) {
		const struct node *found = find_clause(node->operands->pdata[i], text);

		if (found)
			return found;
	}
	if (!node->operands)
		node_append_clause(node, own);
	return g_str_equal(own->str, text) ? node : NULL;
}

QUERY_TEST(a_clause_gets_an_alternative)
{
	static const struct {
		const char *text;
		const char *clause;
		const char *alternative;
		const char *widened; /* NULL: refused */
	} rows[] = {
	    {"rag", "rag", "\"retrieval generation\"",
	        "\"retrieval generation\" OR rag"},
	    {"rag answers", "rag", "x", "answer AND (rag OR x)"},
	    {"a OR b c NOT d", "b", "x", "(b OR x) AND c NOT d OR a"},
	    {"(rag OR x) answers", "rag", "x", "answer AND (rag OR x)"},
	    {"title:rag^3", "title:rag", "x", "title:rag^3 OR title:x^3"},
	    {"rag", "rag", "", NULL},
	    {"rag", "rag", "x y", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(query) query = must_parse(fixture, rows[i].text);
		const struct node *clause = find_clause(query->root, rows[i].clause);
		g_autofree char *before = query_format(query);
		pb_auto(query) widened = query_widen(
		    query, clause, clause, rows[i].alternative, fixture->tokenizer);
		g_autofree char *text = widened ? query_format(widened) : NULL;
		g_autofree char *after = query_format(query);

		g_assert_cmpstr(text, ==, rows[i].widened);
		g_assert_cmpstr(after, ==, before);
	}
}

/* People see the accents that they typed. */
QUERY_TEST(accents_are_shown)
{
	static const struct {
		const char *text;
		const char *shown;
	} rows[] = {
	    {"author:hernández", "author:hernández"},
	    {"au:\"José HERNÁNDEZ\"", "author:\"josé hernández\""},
	    {"author:\"Hernández, J.\" -café", "author:\"j hernández\" NOT café"},
	    {"(naïve OR org:Zürich) MODELS", "model AND (naïve OR org:zürich)"},
	    {"=Café title:mamba títle", "=Café AND títle AND title:mamba"},
	    {"mamba", "mamba"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *before = canonical(fixture, rows[i].text);
		g_autofree char *shown =
		    query_format_accented(before, rows[i].text, fixture->tokenizer);
		g_autofree char *after = canonical(fixture, shown);

		g_assert_cmpstr(after, ==, before);
		if (strcmp(shown, rows[i].shown) != 0)
			g_test_fail_printf("%s: %s", rows[i].text, shown);
	}
}

UNIT_MAIN
