/*
 * test_search.c - a search agrees with evaluating every paper, in order.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/day.h"
#include "base/error.h"
#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "query/eval/fts_query.h"
#include "service/match/corpus.h"
#include "service/match/search.h"
#include "store/paper/archive.h"
#include "store/paper/archive_cache.h"

#define DAY "2026-11-20"
#define NOW store_fixture_time("2026-11-20T13:00:00Z")

/*
 * FTS5 decides all, "exact", or a paper without these words is not a match, "words";
 * without an expression other papers may match, too.
 */
STORE_TEST(expression_has_the_words_of_the_filter)
{
	CASES_FOREACH(row, "search_expressions", *decides, *query, *expression) {
		pb_auto(query) query = query_parse(
		    row->query, store_get_tokenizer(fixture->store), NULL, NULL, NULL);
		pb_auto(fts_query) fts = NULL;

		g_assert_nonnull(query);
		fts = fts_query_new(query);
		if (g_strcmp0(fts->expression, row->expression) != 0)
			g_test_fail_printf("%s: %s", row->query, fts->expression);
		if (fts->is_match != (strcmp(row->decides, "exact") == 0))
			g_test_fail_printf("%s: %s", row->query,
			    fts->is_match ? "exact" : "not exact");
	}
}

STORE_TEST(votes_that_every_match_has_are_known)
{
	CASES_FOREACH(row, "search_votes", *query, *wanted) {
		pb_auto(query) query = query_parse(
		    row->query, store_get_tokenizer(fixture->store), NULL, NULL, NULL);
		pb_auto(fts_query) fts = fts_query_new(query);

		g_assert_cmpint(fts->upvotes, ==, cases_number(row->wanted));
	}
}

/* ---- agreement with evaluating all papers ---- */

static bool
note_seq(void *data, struct search_match *match, GError **error)
{
	(void)error;
	g_assert_true(
	    g_hash_table_add(data, g_memdup2(&match->seq, sizeof(match->seq))));
	return true;
}

/* Seqs of matches. */
static GHashTable *
new_seqs(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

struct everything {
	struct store_fixture *fixture;
	GPtrArray *papers;    /* of struct stored_paper * */
	GPtrArray *documents; /* of struct query_document * */
	GPtrArray *words;     /* of char *: as in the papers */
};

static void
everything_clear(struct everything *all)
{
	g_clear_pointer(&all->papers, g_ptr_array_unref);
	g_clear_pointer(&all->documents, g_ptr_array_unref);
	g_clear_pointer(&all->words, g_ptr_array_unref);
}

static void
add_paper(struct everything *all, const struct stored_paper *stored)
{
	g_auto(GStrv) words = g_strsplit(stored->paper->title, " ", -1);
	char first_day[DAY_BYTES];
	struct query_document *document;

	day_format(stored->first_seen_at, first_day);
	document = NO_ERROR(query_document_new(stored->paper, first_day,
	    store_get_tokenizer(all->fixture->store), &error));
	query_document_finalize(document, QUERY_FINALITY_ALL);
	g_ptr_array_add(all->documents, document);
	for (char **word = words; *word; word++)
		if (**word && !strpbrk(*word, ",():\"|&^*"))
			g_ptr_array_add(all->words, g_strdup(*word));
	for (unsigned i = 0; i < stored->paper->authors->len; i++)
		g_ptr_array_add(
		    all->words, g_strdup_printf("author:\"%s\"",
		                    (char *)stored->paper->authors->pdata[i]));
	if (stored->paper->authors->len) {
		const char *name = stored->paper->authors->pdata[0];
		const char *last = strrchr(name, ' ');
		g_autofree char *initial = g_utf8_substring(name, 0, 1);

		g_ptr_array_add(all->words,
		    g_strdup_printf("first:\"%s.%s\"", initial, last ? last : ""));
	}
}

static void
everything_load(struct everything *all, struct store_fixture *fixture)
{
	all->fixture = fixture;
	all->documents =
	    g_ptr_array_new_with_free_func((GDestroyNotify)query_document_free);
	all->words = g_ptr_array_new_with_free_func(g_free);
	all->papers = papers_load_revisions(
	    fixture->store, 0, G_MAXINT64, "2000-01-01", G_MAXINT, NULL);
	g_assert_nonnull(all->papers);
	for (unsigned i = 0; i < all->papers->len; i++)
		add_paper(all, all->papers->pdata[i]);
}

static const char *
pick(GRand *random, const GPtrArray *words)
{
	return words->pdata[g_rand_int_range(random, 0, (gint)words->len)];
}

static void
append_query(GRand *random, const struct everything *all, int depth, GString *text)
{
	static const char *const fields[] = {"", "", "", "title:", "abstract:"};
	static const char *const others[] = {"upvotes:>=20", "upvotes:5..30",
	    "has:code", "has:project", "has:video", "date:2025-08..", "date:30d..",
	    "date:2025-07", "date:..5d", "date:2d..", "authors:<=4", "upvotes:<10",
	    "comments:>=2", "stars:<100", "the", "of", "model", "id:2507*", "=LLM",
	    "kw:reasoning", "kw:\"language model\"", "org:nvidia", "cat:cs",
	    "cat:cs.CL", "primary:cs.AI", "source:hf", "source:arxiv", "type:cross",
	    "type:new", "type:replace", "journal:nature", "comment:pages", "doi:10.1*",
	    "doi:10.2/34"};
	int kind = g_rand_int_range(random, 0, depth > 0 ? 12 : 6);

	switch (kind) {
	case 0:
	case 1:
	case 2:
		g_string_append(text, pick(random, all->words));
		return;
	case 3: {
		/* Mostly words that are adjacent in some title. */
		guint at =
		    (guint)g_rand_int_range(random, 0, (gint)all->words->len - 2);

		g_string_append_printf(text, "%s\"%s %s\"",
		    fields[g_rand_int_range(random, 0, 5)],
		    (char *)all->words->pdata[at], (char *)all->words->pdata[at + 1]);
		return;
	}
	case 4: {
		const char *word = pick(random, all->words);
		g_autofree char *begin =
		    g_utf8_substring(word, 0, MIN(4, g_utf8_strlen(word, -1)));

		g_string_append_printf(text, "%s*", begin);
		if (g_rand_boolean(random))
			g_string_append_printf(
			    text, "^%d", g_rand_int_range(random, 1, 11));
		return;
	}
	case 5:
		g_string_append(
		    text, others[g_rand_int_range(random, 0, G_N_ELEMENTS(others))]);
		return;
	case 6:
		g_string_append_printf(text, "%s NEAR/%d %s", pick(random, all->words),
		    g_rand_int_range(random, 1, 10), pick(random, all->words));
		return;
	}
	g_string_append_c(text, '(');
	append_query(random, all, depth - 1, text);
	g_string_append(text, kind < 9 ? " OR " : kind < 11 ? " " : " NOT ");
	append_query(random, all, depth - 1, text);
	g_string_append_c(text, ')');
}

struct scored {
	const struct stored_paper *stored;
	double score;
};

static int
compare_scores(const void *a, const void *b)
{
	const struct scored *left = a, *right = b;
	int by_day = strcmp(right->stored->day, left->stored->day);

	if (left->score != right->score)
		return left->score > right->score ? -1 : 1;
	return by_day ? by_day : left->stored->seq < right->stored->seq ? 1 : -1;
}

/* All matches, the best first: evaluates every paper. */
static GArray *
evaluate_all(const struct everything *all, const struct query *query)
{
	GArray *scores = g_array_new(FALSE, FALSE, sizeof(struct scored));
	g_autoptr(GError) error = NULL;
	pb_auto(corpus) corpus = corpus_new(all->fixture->store, &error);
	pb_auto(rank) rank = corpus ? corpus_make_rank(corpus, query, &error) : NULL;

	g_assert_no_error(error);
	for (unsigned i = 0; i < all->documents->len; i++) {
		const struct stored_paper *stored = all->papers->pdata[i];
		int64_t age_s = MAX(NOW - day_start(stored->day), 0);
		struct scored one = {.stored = stored};

		if (query_evaluate(query, all->documents->pdata[i],
		        QUERY_AS_REPORTED) != QUERY_TRUE)
			continue;
		one.score =
		    rank_blend(rank_get_relevance(rank, all->documents->pdata[i]),
		        stored->paper->upvotes, age_s / CLOCK_DAY_S);
		g_array_append_val(scores, one);
	}
	g_array_sort(scores, compare_scores);
	return scores;
}

static void
compare_results(const struct everything *all, const char *text, const GArray *scores,
    unsigned limit)
{
	const struct search_scope scope = {.now = NOW};
	pb_auto(search_answer) answer = NO_ERROR(
	    search_run(all->fixture->store, text, &scope, limit, NULL, &error));

	g_assert_false(answer->is_cut);
	if (answer->results->len != MIN(scores->len, limit)) {
		g_test_fail_printf(
		    "%s: %u results, not %u", text, answer->results->len, scores->len);
		return;
	}
	if (answer->is_more ? answer->found > scores->len
	                    : answer->found != scores->len)
		g_test_fail_printf("%s: %s%u matches, not %u", text,
		    answer->is_more ? "at least " : "", answer->found, scores->len);
	for (unsigned i = 0; i < answer->results->len; i++) {
		const struct search_result *result = answer->results->pdata[i];
		const struct scored *wanted =
		    &g_array_index(scores, const struct scored, i);

		if (result->score != wanted->score ||
		    result->stored->seq != wanted->stored->seq) {
			g_test_fail_printf(
			    "%s, best %u: %u is %s (%.17g), not %s (%.17g)", text,
			    limit, i, result->stored->paper->id, result->score,
			    wanted->stored->paper->id, wanted->score);
			return;
		}
	}
}

/* Compare the matches last listed on a day or later. @param oldest  with that day */
static void
compare_newer(const struct everything *all, const struct query *query, const char *text,
    const GArray *scores, const struct stored_paper *oldest)
{
	const struct search_scope scope = {.oldest_day = oldest->day, .now = NOW};
	g_autoptr(GHashTable) seqs = new_seqs();
	unsigned newer = 0;

	NO_ERROR(search_foreach(
	    all->fixture->store, query, &scope, note_seq, seqs, NULL, &error));
	for (unsigned i = 0; i < scores->len; i++) {
		const struct stored_paper *stored =
		    g_array_index(scores, struct scored, i).stored;
		bool is_newer = strcmp(stored->day, oldest->day) >= 0;

		newer += is_newer;
		if (g_hash_table_contains(seqs, &stored->seq) != is_newer)
			g_test_fail_printf(
			    "%s since %s: %s", text, oldest->day, stored->paper->id);
	}
	g_assert_cmpuint(g_hash_table_size(seqs), ==, newer);
}

/* @return whether the text is a valid filter */
static bool
compare(const struct everything *all, const char *text, unsigned *found)
{
	static const unsigned limits[] = {1, 20, BOUNDS_SEARCH_RESULTS};
	pb_auto(query) query = query_parse(
	    text, store_get_tokenizer(all->fixture->store), NULL, NULL, NULL);
	const struct search_scope scope = {.now = NOW};
	g_autoptr(GHashTable) seqs = new_seqs();
	g_autoptr(GArray) scores = query ? evaluate_all(all, query) : NULL;

	if (!query)
		return false;
	NO_ERROR(search_foreach(
	    all->fixture->store, query, &scope, note_seq, seqs, NULL, &error));
	for (unsigned i = 0; i < scores->len; i++) {
		const struct stored_paper *stored =
		    g_array_index(scores, struct scored, i).stored;

		if (!g_hash_table_contains(seqs, &stored->seq))
			g_test_fail_printf(
			    "%s does not find %s", text, stored->paper->id);
	}
	if (g_hash_table_size(seqs) != scores->len)
		g_test_fail_printf("%s finds %u papers, not %u", text,
		    g_hash_table_size(seqs), scores->len);
	for (guint quarter = 3; quarter >= 1; quarter--)
		compare_newer(all, query, text, scores,
		    all->papers->pdata[all->papers->len * quarter / 4]);
	for (size_t i = 0; i < G_N_ELEMENTS(limits); i++)
		compare_results(all, text, scores, limits[i]);
	*found += scores->len;
	return true;
}

/* Without PAPERBOY_LONG=1 a fifth. */
static unsigned
count_filters(unsigned count)
{
	return g_getenv("PAPERBOY_LONG") ? count : count / 5;
}

/* Compare valid random filters. */
static void
ask(const struct everything *all, unsigned filters, unsigned *found)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(20261120);
	unsigned asked = 0;

	for (unsigned i = 0; i < 3 * filters && asked < filters; i++) {
		g_autoptr(GString) text = g_string_new(NULL);

		append_query(random, all, 2, text);
		asked += compare(all, text->str, found);
	}
	g_test_message("%u papers, %u filters, %u pairs found", all->documents->len,
	    asked, *found);
	g_assert_cmpuint(asked, ==, filters);
}

/* Give papers what arXiv reports, late listings, and none of it to some; list one
 * again. */
static void
fill_values(struct store_fixture *fixture)
{
	static const char *const statements[] = {
	    "UPDATE paper SET categories = CASE seq % 5"
	    "  WHEN 0 THEN 'cs.CL' WHEN 1 THEN 'cs.AI' || char(10) || 'cs.CL'"
	    "  WHEN 2 THEN 'math.CS' WHEN 3 THEN 'math-ph' || char(10) || 'cs.AI' END",
	    "UPDATE paper SET comment = seq || ' pages', doi = '10.' || seq % 7 || "
	    "'/34'"
	    " WHERE seq % 3 = 0",
	    "UPDATE paper SET journal = 'Nature ' || seq || char(10) || 'Nat. X'"
	    " WHERE seq % 11 = 0",
	    "UPDATE paper SET authors = '' WHERE seq % 50 = 0",
	    "UPDATE paper SET last_day = (SELECT max(last_day) FROM paper)"
	    " WHERE seq = 2",
	    "INSERT INTO listing (source, day, paper_seq, type, first_seen_at)"
	    " SELECT 'arxiv/' || CASE n WHEN 0 THEN 'cs.CL' ELSE 'cs.AI' END,"
	    "  date(paper.first_seen_at + (seq % 4 - 2) * 86400, 'unixepoch'), seq,"
	    "  CASE (seq + n) % 4 WHEN 0 THEN 'new' WHEN 1 THEN 'cross'"
	    "   WHEN 2 THEN 'replace' ELSE 'replace-cross' END,"
	    "  paper.first_seen_at + (seq + n) % 3 * 86400"
	    " FROM paper, (SELECT 0 AS n UNION SELECT 1) AS numbers WHERE seq % 4 <= n "
	    "+ 1",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(statements); i++)
		store_fixture_run(fixture, statements[i]);
}

STORE_TEST(search_agrees_with_evaluating_every_paper)
{
	unsigned filters = count_filters(300);
	/* Clauses whose hits FTS5 would skip, ties, and nothing to go by. */
	static const char *const fixed[] = {"(the zebra) OR model", "a OR (of -the)",
	    "upvotes:>=0", "upvotes:<1", "date:2025-07..2025-08", "the -upvotes:>=5",
	    "(a zebra)^10 OR of^2", "model OR (the has:code)", "authors:>=1",
	    "(reward NEAR/5 model) OR agent", "the NEAR/3 of",
	    "NEAR(the model* data, 4)",
	    "title:(\"large language\" NEAR/2 model) OR =LLM -(first:li OR kw:agent*)",
	    "author:wang OR (=The -c++)", "model -author:wang^2", "=AI -=ai",
	    "the OR upvotes:>=50^9", "cat:cs.CL^3 OR has:code", "cat:cs.CL OR model",
	    "cat:cs -the", "model OR (data -the) OR (source:hf -has:code)", "date:2d..",
	    "agent -(has:code OR (cat:cs.CL stars:>10))", "comments:>=0 -kw:reasoning",
	    "journal:\"nat x\"", "journal:\"11 nat\" OR journal:\"nature 22\"",
	    "model (the OR has:code^10)", "mod*^3 OR con* OR the", "con* -mod*",
	    "con* (mod* OR cat:cs.CL) -has:code", "(con* -the) OR (cat:cs.CL -con*)",
	    "\"large language model\" -\"language model*\"",
	    "model OR (language NEAR/5 video) OR author:wang OR =The",
	    "(image NEAR/8 model) OR (text NEAR/3 data) OR =LLM OR cat:cs.CL OR the",
	    "(language NEAR/4 model) OR (reward NEAR/4 model) OR (data NEAR/9 the)",
	    "title:(language NEAR/5 model) OR abstract:(the NEAR/1 of)^3 OR agent",
	    "(NEAR(large language model, 2) -(the NEAR/3 of)) OR (=The -author:li)",
	    "(=of NEAR/2 the) OR \"=the model\" OR \"of the\" OR author:\"Y. Wang\"",
	    "data OR (model -(language NEAR/3 model)) OR (agent -=The)",
	    "=of OR =the OR =and", "kw:reasoning OR model OR =LLM OR (a NEAR/2 of)",
	    "(model OR =LLM) (the OR author:li)", "(a OR of) (video OR data) cat:cs",
	    "(model OR (a NEAR/2 of)) (=The OR language) upvotes:>=3",
	    "(model OR kw:reasoning) (the OR -agent)",
	    "date:2025-07.. OR author:wang OR =The OR (model NEAR/2 a)"};
	pb_local(everything) all = {0};
	unsigned found = 0;

	if (!store_fixture_fill_real(fixture)) {
		g_test_skip(STORE_FIXTURE_NO_REAL_DATA);
		return;
	}
	fill_values(fixture);
	g_assert_nonnull(archive_cache_refresh(fixture->store, NULL));
	everything_load(&all, fixture);
	for (size_t i = 0; i < G_N_ELEMENTS(fixed); i++)
		g_assert_true(compare(&all, fixed[i], &found));
	ask(&all, filters, &found);
	g_assert_cmpuint(found, >, filters);
}

/* In Chinese with Latin words and digits: whole runs, parts of them, characters. */
STORE_TEST(search_in_runs_agrees_with_evaluating_every_paper)
{
	enum { PAPERS = 60 };
	unsigned filters = count_filters(400);
	static const char *const words[] = {
	    "大模型", "模型的", "型", "大", "推理", "BERT", "2", "の", "型型"};
	static const char *const names[] = {
	    "王小明", "王 小明", "ヤン・ルカン", "小 王"};
	static const char *const joints[] = {"", "", " ", "、", "-"};
	g_autoptr(GRand) random = g_rand_new_with_seed(17);
	pb_local(everything) all = {0};
	unsigned found = 0;

	for (int i = 0; i < PAPERS; i++) {
		g_autofree char *id = g_strdup_printf("%d", i);
		g_autoptr(GString) title = g_string_new("x");
		struct paper *paper;

		for (int n = g_rand_int_range(random, 1, 9); n > 0; n--)
			g_string_append_printf(title, "%s%s",
			    joints[g_rand_int_range(random, 0, G_N_ELEMENTS(joints))],
			    words[g_rand_int_range(random, 0, G_N_ELEMENTS(words))]);
		paper = store_fixture_paper(id, title->str, i % 2 ? "大模型" : "");
		g_ptr_array_add(paper->authors, g_strdup(names[i % 4]));
		store_fixture_save(fixture, "hf", DAY, NOW, paper);
	}
	everything_load(&all, fixture);
	ask(&all, filters, &found);
	g_assert_cmpuint(found, >, 2 * filters);
}

/* ---- results ---- */

static void
list(struct store_fixture *fixture, const char *day, const char *id, const char *title,
    const char *abstract, int64_t upvotes)
{
	struct paper *paper = store_fixture_paper(id, title, abstract);

	paper->upvotes = upvotes;
	store_fixture_save(
	    fixture, "hf", day, store_fixture_time("2026-11-20T12:00:00Z"), paper);
}

static char *
search(
    struct store_fixture *fixture, const char *text, unsigned limit, const char *since)
{
	const struct search_scope scope = {.now = NOW, .oldest_day = since};
	g_autoptr(GError) error = NULL;
	pb_auto(search_answer) answer =
	    search_run(fixture->store, text, &scope, limit, NULL, &error);
	GString *ids = g_string_new(NULL);

	g_assert_no_error(error);
	for (unsigned i = 0; i < answer->results->len; i++) {
		const struct search_result *result = answer->results->pdata[i];

		g_string_append_printf(
		    ids, "%s%s", i ? " " : "", result->stored->paper->id);
	}
	g_string_append_printf(ids, " of %u", answer->found);
	store_fixture_assert_idle(fixture);
	return g_string_free(ids, FALSE);
}

STORE_TEST(best_result_comes_first)
{
	list(fixture, "2026-11-19", "1", "A paper", "on mamba it is", 0);
	list(fixture, "2026-11-20", "2", "A paper", "on mamba it is", 0);
	list(fixture, "2026-11-20", "3", "A paper", "on mamba it is", 40);
	list(fixture, "2026-10-20", "4", "Mamba paper", "on and on it goes", 0);
	list(fixture, "2026-10-20", "5", "Trees", "", 0);
	CASES_FOREACH(row, "search_best", *query, *limit, *since, *wanted) {
		g_autofree char *got =
		    search(fixture, row->query, cases_number(row->limit), row->since);

		if (strcmp(got, row->wanted) != 0)
			g_test_fail_printf(
			    "%s: %s, not %s", row->query, got, row->wanted);
	}
}

static bool
is_first(void *data, struct search_match *match, GError **error)
{
	(void)error;
	return ++*(unsigned *)data == 1 && match->seq > BOUNDS_SEARCH_EVALUATED;
}

/* The index decides about a word; the evaluator about its capitals. */
STORE_TEST(search_is_limited_and_reports_it)
{
	const struct search_scope scope = {
	    .sample = BOUNDS_SEARCH_EVALUATED, .now = NOW};
	const struct search_scope larger = {
	    .sample = BOUNDS_SEARCH_EVALUATED + 1, .now = NOW};
	const struct tokenizer *tokenizer = store_get_tokenizer(fixture->store);
	pb_auto(query) all = query_parse("=Mamba", tokenizer, NULL, NULL, NULL);
	g_autoptr(GHashTable) seqs = new_seqs();
	pb_auto(search_answer) exact = NULL;
	pb_auto(search_answer) many = NULL;
	pb_auto(search_answer) none = NULL;
	unsigned step, first = 0;

	for (int i = 0; i <= BOUNDS_SEARCH_EVALUATED; i++) {
		g_autofree char *id = g_strdup_printf("%d", i);

		list(fixture, DAY, id, "Mamba", "", 0);
	}
	exact = search_run(fixture->store, "mamba", &scope, 9, NULL, NULL);
	g_assert_cmpuint(exact->found, ==, BOUNDS_SEARCH_EVALUATED + 1);
	g_assert_false(exact->is_more);
	many = search_run(fixture->store, "=Mamba", &scope, 9, NULL, NULL);
	g_assert_cmpuint(many->found, ==, BOUNDS_SEARCH_COUNTED);
	g_assert_true(many->is_more && !many->is_cut);
	none = search_run(fixture->store, "=MAMBA", &scope, 9, NULL, NULL);
	g_assert_cmpuint(none->found, ==, 0);
	g_assert_true(none->is_more && none->is_cut);

	g_assert_true(
	    search_foreach(fixture->store, all, &scope, note_seq, seqs, &step, NULL));
	g_assert_cmpuint(step, ==, 2);
	g_assert_cmpuint(g_hash_table_size(seqs), ==, BOUNDS_SEARCH_EVALUATED / 2 + 1);
	g_assert_false(
	    search_foreach(fixture->store, all, &scope, is_first, &first, NULL, NULL));
	g_assert_cmpuint(first, ==, 2);

	/* As many candidates as the sample are all evaluated. */
	g_hash_table_remove_all(seqs);
	g_assert_true(
	    search_foreach(fixture->store, all, &larger, note_seq, seqs, &step, NULL));
	g_assert_cmpuint(step, ==, 1);
	g_assert_cmpuint(g_hash_table_size(seqs), ==, BOUNDS_SEARCH_EVALUATED + 1);
}

STORE_TEST(invalid_searches_are_rejected)
{
	static const struct {
		const char *query;
		unsigned limit;
		int code;
	} rows[] = {
	    {"mamba", 0, PB_ERROR_INPUT},
	    {"mamba", BOUNDS_SEARCH_RESULTS + 1, PB_ERROR_INPUT},
	    {"mamba (", 5, PB_ERROR_INPUT},
	    {"NOT mamba", 5, PB_ERROR_INPUT},
	};
	const struct search_scope scope = {.now = NOW};
	g_autofree char *most = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		FAILS(rows[i].code, search_run(fixture->store, rows[i].query, &scope,
		                        rows[i].limit, NULL, &error));
	}
	most = search(fixture, "mamba", BOUNDS_SEARCH_RESULTS, NULL);
	g_assert_cmpstr(most, ==, " of 0");
}

UNIT_MAIN
