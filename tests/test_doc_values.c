/*
 * test_doc_values.c - missing values, dates and explanations, for every kind of clause.
 */
#include <string.h>

#include "lib/cases.h"
#include "test_query.h"

#define F QUERY_FALSE
#define U QUERY_UNKNOWN
#define T QUERY_TRUE

static struct paper *
make_paper(void)
{
	struct paper *paper = paper_new();

	paper->id = g_strdup("2607.01234");
	paper->title = g_strdup("Diffusion");
	paper->abstract = g_strdup("");
	g_ptr_array_add(paper->authors, g_strdup("Ada Smith"));
	return paper;
}

static void
add_strings(GPtrArray **list, const char *const *strings)
{
	*list = g_ptr_array_new_with_free_func(g_free);
	for (; *strings; strings++)
		g_ptr_array_add(*list, g_strdup(*strings));
}

static struct query_document *
make_ready(
    const struct query_fixture *fixture, const struct paper *paper, const char *today)
{
	g_autoptr(GError) error = NULL;
	struct query_document *document =
	    query_document_new(paper, today, fixture->tokenizer, &error);

	g_assert_no_error(error);
	return document;
}

QUERY_TEST(missing_values_are_unknown_until_final)
{
	static const struct {
		const char *text;
		enum query_verdict truths[3]; /* by enum query_finality */
	} rows[] = {
	    {"cat:cs.CV", {U, F, F}},
	    {"primary:cs", {U, F, F}},
	    {"comment:neurips", {U, F, F}},
	    {"journal:nature", {U, F, F}},
	    {"doi:10.1145*", {U, F, F}},
	    {"upvotes:>=1", {U, U, F}},
	    {"comments:>=1", {U, U, F}},
	    {"stars:>=1", {U, U, F}},
	    {"has:code", {U, U, F}},
	    {"org:mila", {U, U, F}},
	    {"kw:reward", {U, U, F}},
	    {"source:hf", {F, F, F}},
	    {"id:1234", {F, F, F}},
	    {"type:new", {F, F, F}},
	    {"date:2026", {F, F, F}},
	    {"author:jones", {F, F, F}},
	    {"first:jones", {F, F, F}},
	    {"authors:>=2", {F, F, F}},
	    {"title:mamba", {F, F, F}},
	    {"mamba NEAR ssm", {F, F, F}},
	    {"diffusion NOT cat:cs.CV", {U, T, T}},
	    {"diffusion NOT has:code", {U, U, T}},
	    {"diffusion OR cat:cs.CV", {T, T, T}},
	    {"mamba cat:cs.CV", {F, F, F}},
	    {"cat:cs.CV has:code", {U, F, F}},
	    {"cat:cs.CV OR has:code", {U, U, F}},
	};
	pb_auto(paper) paper = make_paper();
	pb_auto(query_document) document = make_ready(fixture, paper, NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(query) query = must_parse(fixture, rows[i].text);

		for (int settled = 0; settled < 3; settled++) {
			query_document_finalize(document, (enum query_finality)settled);
			if (query_evaluate(query, document, QUERY_AS_REPORTED) !=
			    rows[i].truths[settled])
				g_error("'%s' should be %d when %d is settled",
				    rows[i].text, rows[i].truths[settled], settled);
		}
	}
}

/* Reported, but without the value that the clause requires. */
QUERY_TEST(reported_values_that_differ_are_false)
{
	static const struct {
		const char *text;
		enum query_verdict reported;
		enum query_verdict may_change;
	} rows[] = {
	    {"cat:cs.CV", F, F},
	    {"comment:neurips", F, F},
	    {"journal:nature", F, F},
	    {"doi:10.1145*", F, F},
	    {"org:mila", F, F},
	    {"kw:reward", F, F},
	    {"has:code", U, U},
	    {"upvotes:>=1", F, U},
	    {"comments:>=1", F, U},
	    {"stars:>=1", F, U},
	    {"upvotes:0", T, U},
	    {"diffusion NOT stars:0", F, U},
	};
	static const char *const categories[] = {"cs.CL", NULL};
	static const char *const keywords[] = {NULL};
	pb_auto(paper) paper = make_paper();
	pb_auto(query_document) document = NULL;

	add_strings(&paper->categories, categories);
	paper->looked_up = PAPER_LOOKUP_ALL;
	add_strings(&paper->keywords, keywords);
	paper->organization = g_strdup("ETH");
	paper->upvotes = paper->comments = paper->stars = 0;
	document = make_ready(fixture, paper, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(query) query = must_parse(fixture, rows[i].text);

		query_document_finalize(document, QUERY_FINALITY_NONE);
		g_assert_cmpint(query_evaluate(query, document, QUERY_AS_REPORTED), ==,
		    rows[i].reported);
		g_assert_cmpint(query_evaluate(query, document, QUERY_MAY_CHANGE), ==,
		    rows[i].may_change);
		/* After its time nothing changes. */
		query_document_finalize(document, QUERY_FINALITY_ALL);
		g_assert_cmpint(query_evaluate(query, document, QUERY_MAY_CHANGE), ==,
		    query_evaluate(query, document, QUERY_AS_REPORTED));
	}
}

QUERY_TEST(filters_know_whether_they_need_a_lookup)
{
	CASES_FOREACH(row, "doc_values_lookups", *text, *is_changing, *lookups) {
		pb_auto(query) query = must_parse(fixture, row->text);

		g_assert_cmpint(
		    query_is_time_dependent(query), ==, cases_is_yes(row->is_changing));
		g_assert_cmpint(
		    query_get_lookups(query), ==, cases_number(row->lookups));
	}
}

QUERY_TEST(relative_days_count_from_the_first_day)
{
	CASES_FOREACH(row, "doc_values_days", *range, *day, *today, *is_within) {
		g_autofree char *text = g_strconcat("date:", row->range, NULL);
		pb_auto(query) query = must_parse(fixture, text);
		pb_auto(paper) paper = make_paper();
		pb_auto(query_document) document = NULL;
		enum query_verdict wanted = cases_is_yes(row->is_within) ? T : F;

		paper_add_listing(paper, "hf", row->day, LISTING_NEW);
		document = make_ready(fixture, paper, row->today);
		if (query_evaluate(query, document, QUERY_AS_REPORTED) != wanted)
			g_error("date:%s on %s with today %s should be %d", row->range,
			    row->day, row->today, wanted);
	}
}

static struct query_document *
make_rich(const struct query_fixture *fixture)
{
	static const char *const categories[] = {"cs.CL", "cs.LG", NULL};
	static const char *const keywords[] = {"reward models", "RLHF", NULL};
	pb_auto(paper) paper = make_paper();

	g_free(paper->abstract);
	paper->abstract = g_strdup("Reward for hacking; the RAG of a reward. Hacking!");
	add_strings(&paper->categories, categories);
	paper->looked_up = PAPER_LOOKUP_ALL;
	add_strings(&paper->keywords, keywords);
	paper->organization = g_strdup("Allen Institute for AI");
	paper->comment = g_strdup("Accepted at NeurIPS");
	paper->doi = g_strdup("10.1145/3292500");
	paper->upvotes = 23;
	paper->comments = 1;
	paper->stars = 1;
	paper->code_url = g_strdup("https://example.org/");
	paper_add_listing(paper, "hf", "2026-07-30", LISTING_NEW);
	paper_add_listing(paper, "arxiv", "2026-08-03", LISTING_CROSS);
	return make_ready(fixture, paper, "2026-08-03");
}

QUERY_TEST(every_kind_of_clause_is_explained)
{
	pb_auto(query_document) document = make_rich(fixture);

	CASES_FOREACH(row, "doc_values_explained", *text, *reported) {
		pb_auto(query) query = must_parse(fixture, row->text);
		g_autofree char *reported = query_explain_text(query, document, NULL);

		g_assert_cmpstr(reported, ==, row->reported);
	}
}

QUERY_TEST(tree_is_listed_in_reading_order)
{
	static const struct {
		enum query_step_kind kind;
		unsigned depth;
		unsigned boost;
		const char *text;
		enum query_verdict truth;
		bool is_final;
		const char *words; /* of the hits */
	} rows[] = {
	    {QUERY_STEP_AND, 0, 1, "AND", U, false, ""},
	    {QUERY_STEP_OR, 1, 2, "OR", T, true, ""},
	    {QUERY_STEP_CLAUSE, 2, 3, "diffusion", T, true, "Diffusion"},
	    {QUERY_STEP_CLAUSE, 2, 1, "mamba", F, true, ""},
	    {QUERY_STEP_CLAUSE, 1, 1, "upvotes:>=20", T, false, "23"},
	    {QUERY_STEP_NOT, 1, 1, "NOT", F, true, ""},
	    {QUERY_STEP_CLAUSE, 2, 1, "abstract:reward", T, true, "Reward,reward"},
	    {QUERY_STEP_NOT, 1, 1, "NOT", U, false, ""},
	    {QUERY_STEP_CLAUSE, 2, 1, "has:video", U, false, ""},
	};
	pb_auto(query_document) document = make_rich(fixture);
	pb_auto(query) query = must_parse(fixture,
	    "(diffusion^3 OR mamba)^2 upvotes:>=20 -has:video NOT abs:reward^9");
	g_autoptr(GPtrArray) steps = query_explain_tree(query, document);

	g_assert_cmpuint(steps->len, ==, G_N_ELEMENTS(rows));
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const struct query_step *step = g_ptr_array_index(steps, i);
		g_autoptr(GString) words = g_string_new(NULL);

		for (guint j = 0; j < step->hits->len; j++) {
			const struct query_hit *hit = g_ptr_array_index(step->hits, j);

			g_string_append_printf(
			    words, "%s%s", j > 0 ? "," : "", hit->words);
		}
		g_assert_cmpint(step->kind, ==, rows[i].kind);
		g_assert_cmpuint(step->depth, ==, rows[i].depth);
		g_assert_cmpuint(step->boost, ==, rows[i].boost);
		g_assert_cmpstr(step->text, ==, rows[i].text);
		if (i > 0)
			g_assert_cmpint(step->truth, ==, rows[i].truth);
		if (i > 0)
			g_assert_cmpint(step->is_final, ==, rows[i].is_final);
		g_assert_cmpstr(words->str, ==, rows[i].words);
	}
	/* NOT of an existing value is false for good. */
	g_assert_cmpint(((struct query_step *)steps->pdata[0])->truth, ==, QUERY_FALSE);
	g_assert_true(((struct query_step *)steps->pdata[0])->is_final);
}

#undef F
#undef U
#undef T

/* A tokenizer that works for texts and fails for values. */
static bool
fail_to_split(
    void *self, const char *text, size_t len, tokenizer_found found, void *data)
{
	const struct tokenizer *good = self;

	if (strcmp(text, "Allen Institute") == 0)
		return false;
	return good->split(good->self, text, len, found, data);
}

QUERY_TEST(values_that_cannot_be_tokenized_are_unknown)
{
	const struct tokenizer broken = {fail_to_split, fixture->tokenizer};
	pb_auto(paper) paper = make_paper();
	pb_auto(query_document) document = NULL;
	pb_auto(query) query = must_parse(fixture, "org:allen");
	g_autoptr(GPtrArray) hits = NULL;

	paper->organization = g_strdup("Allen Institute");
	document = NO_ERROR(query_document_new(paper, NULL, &broken, &error));
	g_assert_cmpint(
	    query_evaluate(query, document, QUERY_AS_REPORTED), ==, QUERY_UNKNOWN);
	hits = query_explain(query, document);
	g_assert_cmpuint(hits->len, ==, 0);
}

UNIT_MAIN
