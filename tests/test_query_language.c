/*
 * test_query_language.c - the documented language: every field, example and category.
 */
#include <string.h>

#include "query/parse/category.h"
#include "query/parse/field.h"
#include "test_query.h"

/* A paper with all fields, and one that has just been listed. */
static struct query_document *
make_settled(const struct query_fixture *fixture)
{
	g_autoptr(GError) error = NULL;
	pb_auto(paper) paper = paper_new();
	struct query_document *document;

	paper->id = g_strdup("2607.01234");
	paper->title =
	    g_strdup("Diffusion model agents: State Space RAG for protein graphs");
	paper->abstract =
	    g_strdup("Mamba and quantization for a large language model in "
	             "speech recognition. Reward models against hacking: "
	             "chain of thought may be faithfully told.");
	g_ptr_array_add(paper->authors, g_strdup("Geoffrey Hinton"));
	g_ptr_array_add(paper->authors, g_strdup("Yann A. LeCun"));
	paper->upvotes = 23;
	paper->comments = 4;
	paper->stars = 120;
	paper->code_url = g_strdup("https://example.org/code");
	paper->organization = g_strdup("Allen Institute for AI");
	paper->keywords = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(paper->keywords, g_strdup("reward model"));
	g_ptr_array_add(paper->keywords, g_strdup("state space"));
	paper->categories = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(paper->categories, g_strdup("cs.CL"));
	g_ptr_array_add(paper->categories, g_strdup("cs.LG"));
	g_ptr_array_add(paper->categories, g_strdup("math-ph"));
	paper->is_enriched = true;
	paper->comment = g_strdup("Accepted at NeurIPS, 12 pages");
	paper->journal = g_strdup("Nature 12 (2026) 34");
	paper->doi = g_strdup("10.1145/3292500.3330701");
	paper_add_listing(paper, "hf", "2026-07-30", LISTING_NEW);
	paper_add_listing(paper, "arxiv", "2026-08-03", LISTING_CROSS);
	document = query_document_new(paper, "2026-08-05", fixture->tokenizer, &error);
	g_assert_no_error(error);
	return document;
}

struct row {
	const char *text;
	const char *canonical;
	enum query_verdict reported; /* verdict for the paper with all fields */
	enum query_verdict blank;    /* verdict for the one with texts only */
};

static void
check_rows(const struct query_fixture *fixture, const struct row *rows, size_t n)
{
	pb_auto(query_document) reported = make_settled(fixture);
	pb_auto(query_document) blank = make_document(
	    fixture, "Protein diffusion model", "", "Ada Smith", PAPER_UNKNOWN);

	for (size_t i = 0; i < n; i++) {
		pb_auto(query) query = must_parse(fixture, rows[i].text);
		g_autofree char *text = query_format(query);
		pb_auto(query) again = must_parse(fixture, text);
		g_autofree char *same = query_format(again);

		g_assert_cmpstr(text, ==, rows[i].canonical);
		g_assert_cmpstr(same, ==, text);
		if (query_evaluate(query, reported, QUERY_AS_REPORTED) !=
		    rows[i].reported)
			g_error("'%s' should be %d", rows[i].text, rows[i].reported);
		if (query_evaluate(query, blank, QUERY_AS_REPORTED) != rows[i].blank)
			g_error("'%s' should be %d where nothing is told", rows[i].text,
			    rows[i].blank);
		g_assert_cmpint(query_evaluate(again, reported, QUERY_AS_REPORTED), ==,
		    rows[i].reported);
	}
}

#define F QUERY_FALSE
#define U QUERY_UNKNOWN
#define T QUERY_TRUE

QUERY_TEST(every_example_has_its_canonical_text_and_verdicts)
{
	static const struct row rows[] = {
	    {"diffusion", "diffusion", T, T},
	    {"diffusion model", "diffusion AND model", T, T},
	    {"\"diffusion model\"", "\"diffusion model\"", T, T},
	    {"\"large language model*\" OR LLM", "\"large language model*\" OR llm", T,
	        F},
	    {"=RAG", "=RAG", T, F},
	    {"=rag", "=rag", F, F},
	    {"quantiz*", "quantiz*", T, F},
	    {"agent -survey -benchmark", "agent NOT benchmark NOT survey", T, F},
	    {"title:\"state space\"", "title:\"state space\"", T, F},
	    {"title:(mamba OR ssm) cs.LG", "cat:cs.LG AND (title:mamba OR title:ssm)",
	        F, F},
	    {"author:\"Yann LeCun\" OR au:\"Y LeCun\"",
	        "author:\"y lecun\" OR author:\"yann lecun\"", T, F},
	    {"first:hinton", "first:hinton", T, F},
	    {"first:lecun", "first:lecun", F, F},
	    {"cat:cs.CL NOT cat:cs.CV", "cat:cs.CL NOT cat:cs.CV", T, U},
	    {"cat:cs.CL NOT cat:cs.LG", "cat:cs.CL NOT cat:cs.LG", F, U},
	    {"source:hf upvotes:>=20", "source:hf AND upvotes:>=20", T, F},
	    {"reward NEAR/5 hacking", "NEAR(hacking reward, 5)", T, F},
	    {"NEAR(\"chain of thought\" faithful*, 8)",
	        "NEAR(\"chain of thought\" faithful*, 8)", T, F},
	    {"speech^3 (recognition OR synthesis)",
	        "(recognition OR synthesis) AND speech^3", T, F},
	    {"org:(deepmind OR \"allen institute\") has:code",
	        "has:code AND (org:\"allen institute\" OR org:deepmind)", T, U},
	    {"type:new date:7d.. authors:<=3 protein",
	        "authors:<=3 AND date:7d.. AND protein AND type:new", T, F},
	    {"ti:graph ANDNOT (ti:survey OR abs:molecule)",
	        "title:graph NOT (abstract:molecule OR title:survey)", T, F},
	    {"diffusion upvotes:>=20", "diffusion AND upvotes:>=20", T, U},
	    {"diffusion NOT cat:cs.CV", "diffusion NOT cat:cs.CV", T, U},
	    {"self-play", "\"self play\"", F, F},
	};

	check_rows(fixture, rows, G_N_ELEMENTS(rows));
}

QUERY_TEST(every_field_has_an_example_that_parses)
{
	static const struct row rows[] = {
	    {"title:diffusion", "title:diffusion", T, T},
	    {"ti:mamba", "title:mamba", F, F},
	    {"abstract:mamba", "abstract:mamba", T, F},
	    {"abs:diffusion", "abstract:diffusion", F, F},
	    {"text:mamba", "mamba", T, F},
	    {"all:diffusion", "diffusion", T, T},
	    {"author:\"Y LeCun\"", "author:\"y lecun\"", T, F},
	    {"au:hinton", "author:hinton", T, F},
	    {"first:\"LeCun, Yann\"", "first:\"yann lecun\"", F, F},
	    {"first:\"Hinton, G.\"", "first:\"g hinton\"", T, F},
	    {"first:smith", "first:smith", F, T},
	    /* Categories. */
	    {"cat:cs.LG", "cat:cs.LG", T, U},
	    {"cat:CS.lg", "cat:cs.LG", T, U},
	    {"cat:\"cs.LG\"", "cat:cs.LG", T, U},
	    {"cat:cs.CV", "cat:cs.CV", F, U},
	    {"cat:cs", "cat:cs", T, U},
	    {"cat:cs.*", "cat:cs", T, U},
	    {"cat:CS", "cat:cs", T, U},
	    {"cat:math", "cat:math", F, U},
	    {"cat:math-ph", "cat:math-ph", T, U},
	    {"cat:math-ph.*", "cat:math-ph", T, U},
	    {"primary:cs.CL", "primary:cs.CL", T, U},
	    {"primary:cs.LG", "primary:cs.LG", F, U},
	    {"primary:cs", "primary:cs", T, U},
	    {"primary:math-ph", "primary:math-ph", F, U},
	    {"cat:(cs.CV OR cs.LG)", "cat:cs.CV OR cat:cs.LG", T, U},
	    {"cs.LG", "cat:cs.LG", T, U},
	    {"diffusion -CS.CV", "diffusion NOT cat:cs.CV", T, U},
	    {"Math-PH", "cat:math-ph", T, U},
	    {"\"cs.LG\"", "\"cs.lg\"", F, F},
	    {"math", "math", F, F},
	    {"cs", "cs", F, F},
	    {"astro-ph", "\"astro ph\"", F, F},
	    {"github.com", "\"github.com\"", F, F},
	    {"title:(cs.LG)", "title:\"cs.lg\"", F, F},
	    {"text:cs.LG", "\"cs.lg\"", F, F},
	    /* Words within one value. */
	    {"org:allen", "org:allen", T, U},
	    {"org:\"institutes for ai\"", "org:\"institute for ai\"", T, U},
	    {"org:=AI", "org:=AI", T, U},
	    {"org:=ai", "org:=ai", F, U},
	    {"org:inst*", "org:inst*", T, U},
	    {"org:mila", "org:mila", F, U},
	    {"kw:\"reward models\"", "kw:\"reward model\"", T, U},
	    {"kw:\"model state\"", "kw:\"model state\"", F, U},
	    {"kw:(model space)", "kw:model AND kw:space", T, U},
	    {"comment:neurips", "comment:neurip", T, U},
	    {"co:\"12 pages\"", "comment:\"12 page\"", T, U},
	    {"co:icml", "comment:icml", F, U},
	    {"journal:nature", "journal:nature", T, U},
	    {"jr:\"nature 12\"", "journal:\"nature 12\"", T, U},
	    {"jr:science", "journal:science", F, U},
	    /* Whole values. */
	    {"doi:10.1145/3292500.3330701", "doi:10.1145/3292500.3330701", T, U},
	    {"doi:10.1145*", "doi:10.1145*", T, U},
	    {"doi:10.1145", "doi:10.1145", F, U},
	    {"doi:\"10.1016/0370-2693(91)A1*\"", "doi:\"10.1016/0370-2693(91)a1*\"", F,
	        U},
	    {"id:2607.01234", "id:2607.01234", T, F},
	    {"id:2607.01234v3", "id:2607.01234", T, F},
	    {"id:\"arXiv:2607.01234v3\"", "id:2607.01234", T, F},
	    {"id:2607.01234v3v1", "id:2607.01234v3v1", F, F},
	    {"id:\"arXiv:arXiv:2607.01234\"", "id:\"arxiv:arxiv:2607.01234\"", F, F},
	    {"id:2607*", "id:2607*", T, F},
	    {"id:2607", "id:2607", F, F},
	    {"id:Hep-Th/9901001v2", "id:hep-th/9901001", F, F},
	    {"id:2611.00001", "id:2611.00001", F, T},
	    {"source:HF", "source:hf", T, F},
	    {"source:arxiv", "source:arxiv", T, F},
	    {"source:\" My   feed \"", "source:\"my feed\"", F, F},
	    {"doi:\" 10.1145 *\"", "doi:10.1145*", T, U},
	    {"has:code", "has:code", T, U},
	    {"has:Code", "has:code", T, U},
	    {"has:video", "has:video", U, U},
	    {"has:project", "has:project", U, U},
	    {"has:(video OR code)", "has:code OR has:video", T, U},
	    {"type:new", "type:new", T, F},
	    {"type:cross", "type:cross", T, F},
	    {"type:replace", "type:replace", F, F},
	    /* Numbers. */
	    {"upvotes:23", "upvotes:=23", T, U},
	    {"upvotes:>23", "upvotes:>=24", F, U},
	    {"upvotes:(>=100 OR 23)", "upvotes:=23 OR upvotes:>=100", T, U},
	    {"comments:<=4", "comments:<=4", T, U},
	    {"stars:100..200", "stars:100..200", T, U},
	    {"stars:..99", "stars:<=99", F, U},
	    {"authors:2", "authors:=2", T, F},
	    {"authors:<=1", "authors:<=1", F, T},
	    /* Days. */
	    {"date:2026-07", "date:2026-07", T, F},
	    {"date:2026-08..", "date:2026-08-01..", T, F},
	    {"date:..2026-07-29", "date:..2026-07-29", F, F},
	    {"date:(2026-06 OR 2026-08-03)", "date:2026-06 OR date:2026-08-03", T, F},
	    {"date:7d", "date:7d..", T, F},
	    {"date:1d..", "date:1d..", F, F},
	};

	check_rows(fixture, rows, G_N_ELEMENTS(rows));
}

#undef F
#undef U
#undef T

QUERY_TEST(every_name_and_alias_of_a_field_is_found)
{
	static const char *const names[] = {"title", "ti", "abstract", "abs", "text",
	    "all", "author", "au", "first", "cat", "primary", "source", "org", "kw",
	    "comment", "co", "journal", "jr", "doi", "id", "has", "upvotes", "comments",
	    "stars", "authors", "date", "type"};
	size_t spellings = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		g_assert_nonnull(field_find(names[i], strlen(names[i])));
	for (size_t i = 0; field_get(i); i++) {
		const struct field *field = field_get(i);

		spellings += field->alias ? 2 : 1;
		/* The examples in error messages are valid. */
		query_free(must_parse(fixture, field->example));
	}
	g_assert_cmpuint(spellings, ==, G_N_ELEMENTS(names));
}

/* "author, au" of each item of the list of fields in the manual page. */
static GPtrArray *
read_manual(void)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *path =
	    g_build_filename(top ? top : ".", "man", "paperboy-filters.7.in", NULL);
	g_autofree char *page = NULL;
	g_auto(GStrv) lines = NULL;
	g_autoptr(GError) error = NULL;
	GPtrArray *items = g_ptr_array_new_with_free_func(g_free);

	g_file_get_contents(path, &page, NULL, &error);
	g_assert_no_error(error);
	lines = g_strsplit(page, "\n", -1);
	for (guint i = 0; lines[i]; i++)
		if (g_str_has_prefix(lines[i], ".It Cm ") && !strstr(lines[i], " Ta "))
			g_ptr_array_add(items, g_strdup(lines[i] + strlen(".It Cm ")));
	return items;
}

QUERY_TEST(manual_page_lists_the_fields_of_the_program)
{
	g_autoptr(GPtrArray) items = read_manual();
	g_autoptr(GHashTable) reported = g_hash_table_new(g_str_hash, g_str_equal);
	guint n = 0;

	for (guint i = 0; i < items->len; i++)
		g_assert_true(g_hash_table_add(reported, items->pdata[i]));
	for (; field_get(n); n++) {
		const struct field *field = field_get(n);
		g_autofree char *item =
		    g_strconcat(field->name, field->alias ? " , Cm " : "",
		        field->alias ? field->alias : "", NULL);

		if (!g_hash_table_contains(reported, item))
			g_error("the manual page has no '.It Cm %s'", item);
	}
	g_assert_cmpuint(n, ==, items->len);
}

QUERY_TEST(every_category_is_found)
{
	static const char *const archives[] = {"astro-ph", "cond-mat", "cs", "econ",
	    "eess", "gr-qc", "hep-ex", "hep-lat", "hep-ph", "hep-th", "math", "math-ph",
	    "nlin", "nucl-ex", "nucl-th", "physics", "q-bio", "q-fin", "quant-ph",
	    "stat"};
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	size_t n = 0;

	for (; category_get(n); n++) {
		const char *name = category_get(n);
		g_autofree char *upper = g_ascii_strup(name, -1);
		g_autofree char *text = g_strconcat("cat:", name, NULL);
		g_autofree char *bare = canonical(fixture, upper);

		g_assert_cmpstr(bare, ==, text);
		g_assert_true(g_hash_table_add(seen, (gpointer)name));
	}
	g_assert_cmpuint(n, ==, 155);
	for (size_t i = 0; i < G_N_ELEMENTS(archives); i++) {
		g_autofree char *text = g_strconcat("cat:", archives[i], NULL);
		g_autofree char *same = canonical(fixture, text);

		g_assert_cmpstr(same, ==, text);
	}
}

UNIT_MAIN
