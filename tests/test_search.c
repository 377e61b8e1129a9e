/*
 * test_search.c - a search agrees with evaluating every paper, in order.
 */
#include <glib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "query/eval/fts_query.h"
#include "service/match/search.h"
#include "store/paper/archive.h"

#define DAY "2026-11-20"
#define NOW store_fixture_time("2026-11-20T13:00:00Z")

static GPtrArray *
load_class(void *data, const char *folded, GError **error)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

	(void)data;
	if (strcmp(folded, "broken") == 0) {
		g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY, "made-up trouble");
		return NULL;
	}
	if (strcmp(folded, "model") == 0) {
		g_ptr_array_add(words, g_strdup("model"));
		g_ptr_array_add(words, g_strdup("models"));
	}
	if (strcmp(folded, "matrix") == 0)
		g_ptr_array_add(words, g_strdup("matrices"));
	for (int i = 0; g_str_has_prefix(folded, "many") && i < 6; i++)
		g_ptr_array_add(words, g_strdup_printf("%s%d", folded, i));
	return g_steal_pointer(&words);
}

static const struct term_frequencies lexicon = {load_class, NULL};

static void
expression_has_the_words_of_the_filter(void)
{
	static const struct {
		const char *query;
		const char *expression; /* NULL: all papers */
	} rows[] = {
	    {"mamba", "{title abstract} : (\"mamba\")"},
	    {"title:models", "{title} : (\"model\" OR \"models\")"},
	    {"abstract:matrix", "{abstract} : (\"matrices\" OR \"matrix\")"},
	    {"\"a models\"", "{title abstract} : (\"a model\" OR \"a models\")"},
	    {"quantiz*", "{title abstract} : (\"quantiz\" *)"},
	    {"\"model quan*\"",
	        "{title abstract} : (\"model quan\" * OR \"models quan\" *)"},
	    {"mamba ssm", "({title abstract} : (\"mamba\")) AND"
	                  " ({title abstract} : (\"ssm\"))"},
	    {"mamba OR ssm", "({title abstract} : (\"mamba\")) OR"
	                     " ({title abstract} : (\"ssm\"))"},
	    {"mamba -ssm", "({title abstract} : (\"mamba\"))"},
	    {"c++", "{title abstract} : (\"c\")"},
	    {"mamba cat:cs.CL upvotes:>=3", "({title abstract} : (\"mamba\"))"},
	    {"mamba OR cat:cs.CL", NULL},
	    {"cat:cs.CL", NULL},
	    {"has:code date:7d..", NULL},
	    {"a NEAR/3 models",
	        "{title abstract} : ((\"a\") AND (\"model\" OR \"models\"))"},
	    {"author:\"Yann LeCun\"", "{authors} : (\"lecun\")"},
	    {"author:\"LeCun, Y\"", "{authors} : (\"lecun\")"},
	    {"first:ben-david", "{authors} : (\"ben\" AND \"david\")"},
	    {"author:yann", "{authors} : (\"yann\")"},
	    /* Too many variants: its words separately. */
	    {"\"many manya\"",
	        "{title abstract} : ((\"many0\" OR \"many1\" OR \"many2\" OR \"many3\""
	        " OR \"many4\" OR \"many5\" OR \"many\") AND (\"manya0\" OR"
	        " \"manya1\" OR \"manya2\" OR \"manya3\" OR \"manya4\" OR \"manya5\""
	        " OR \"manya\"))"},
	};
	pb_auto(store_fixture) fixture = store_fixture_new();

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(query) query = query_parse(rows[i].query,
		    store_get_tokenizer(fixture->store), NULL, NULL, NULL);
		g_autofree char *expression = NULL;

		g_assert_nonnull(query);
		g_assert_true(fts_query_format(query, &lexicon, &expression, NULL));
		g_assert_cmpstr(expression, ==, rows[i].expression);
	}
}

static void
failing_lexicon_is_an_error(void)
{
	static const char *const rows[] = {"broken", "a OR broken", "a NEAR broken",
	    "a -b broken", "title:\"a broken b\""};
	pb_auto(store_fixture) fixture = store_fixture_new();

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(query) query = query_parse(
		    rows[i], store_get_tokenizer(fixture->store), NULL, NULL, NULL);
		g_autoptr(GError) error = NULL;
		char *expression = (char *)"untouched";

		g_assert_false(fts_query_format(query, &lexicon, &expression, &error));
		g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
		g_assert_cmpstr(expression, ==, "untouched");
	}
}

/* ---- agreement with evaluating all papers ---- */

static bool
note_id(void *data, const struct stored_paper *stored,
    const struct query_document *document, GError **error)
{
	(void)document;
	(void)error;
	g_assert_true(g_hash_table_add(data, g_strdup(stored->paper->id)));
	return true;
}

struct everything {
	struct store_fixture *fixture;
	GPtrArray *documents; /* of struct query_document * */
	GPtrArray *ids;       /* of char * */
	GPtrArray *words;     /* of char *: as in the papers */
};

static bool
note_paper(void *data, const struct stored_paper *stored, GError **error)
{
	struct everything *all = data;
	g_auto(GStrv) words = g_strsplit(stored->paper->title, " ", -1);
	struct query_document *document = query_document_new(
	    stored->paper, DAY, store_get_tokenizer(all->fixture->store), error);

	g_assert_nonnull(document);
	query_document_finalize(document, QUERY_FINALITY_ALL);
	g_ptr_array_add(all->documents, document);
	g_ptr_array_add(all->ids, g_strdup(stored->paper->id));
	for (char **word = words; *word; word++)
		if (**word && !strpbrk(*word, ",():\"|&^*"))
			g_ptr_array_add(all->words, g_strdup(*word));
	for (unsigned i = 0; i < stored->paper->authors->len; i++)
		g_ptr_array_add(
		    all->words, g_strdup_printf("author:\"%s\"",
		                    (char *)stored->paper->authors->pdata[i]));
	return true;
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
	int kind = g_rand_int_range(random, 0, depth > 0 ? 10 : 6);

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
		return;
	}
	case 5:
		g_string_append(
		    text, g_rand_boolean(random) ? "upvotes:>=20" : "has:code");
		return;
	case 6:
		g_string_append_printf(text, "%s NEAR/%d %s", pick(random, all->words),
		    g_rand_int_range(random, 1, 10), pick(random, all->words));
		return;
	}
	g_string_append_c(text, '(');
	append_query(random, all, depth - 1, text);
	g_string_append(text, kind == 7 ? " OR " : kind == 8 ? " " : " NOT ");
	append_query(random, all, depth - 1, text);
	g_string_append_c(text, ')');
}

/* @return whether the text is a valid filter */
static bool
compare(const struct everything *all, const char *text, unsigned *found)
{
	pb_auto(query) query = query_parse(
	    text, store_get_tokenizer(all->fixture->store), NULL, NULL, NULL);
	const struct search_scope scope = {.now = NOW};
	g_autoptr(GHashTable) ids =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GError) error = NULL;
	unsigned wanted = 0;

	if (!query)
		return false;
	search_foreach(all->fixture->store, query, &scope, note_id, ids, NULL, &error);
	g_assert_no_error(error);
	for (unsigned i = 0; i < all->documents->len; i++) {
		if (query_evaluate(query, all->documents->pdata[i],
		        QUERY_AS_REPORTED) != QUERY_TRUE)
			continue;
		wanted++;
		if (!g_hash_table_contains(ids, all->ids->pdata[i]))
			g_test_fail_printf(
			    "%s does not find %s", text, (char *)all->ids->pdata[i]);
	}
	g_assert_cmpuint(g_hash_table_size(ids), ==, wanted);
	*found += wanted;
	return true;
}

static void
search_agrees_with_evaluating_every_paper(void)
{
	enum { FILTERS = 600 };
	pb_auto(store_fixture) fixture = store_fixture_new();
	struct everything all = {fixture,
	    g_ptr_array_new_with_free_func((GDestroyNotify)query_document_free),
	    g_ptr_array_new_with_free_func(g_free),
	    g_ptr_array_new_with_free_func(g_free)};
	const struct archive_scan scan = {.most = 100000};
	g_autoptr(GRand) random = g_rand_new_with_seed(20261120);
	unsigned found = 0, asked = 0;
	bool is_cut;

	if (!store_fixture_fill_real(fixture)) {
		g_test_skip(STORE_FIXTURE_NO_REAL_DATA);
		goto end;
	}
	g_assert_true(
	    archive_scan(fixture->store, &scan, note_paper, &all, &is_cut, NULL));
	for (int i = 0; i < 3 * FILTERS && asked < FILTERS; i++) {
		g_autoptr(GString) text = g_string_new(NULL);

		append_query(random, &all, 2, text);
		asked += compare(&all, text->str, &found);
	}
	g_test_message(
	    "%u papers, %u filters, %u pairs found", all.documents->len, asked, found);
	g_assert_cmpuint(asked, ==, FILTERS);
	g_assert_cmpuint(found, >, FILTERS);
end:
	g_ptr_array_unref(all.documents);
	g_ptr_array_unref(all.ids);
	g_ptr_array_unref(all.words);
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

static void
best_result_comes_first(void)
{
	static const struct {
		const char *query;
		unsigned limit;
		const char *since;
		const char *wanted;
	} rows[] = {
	    /* Title before abstract, then votes, then age. */
	    {"mamba", 9, NULL, "4 3 2 1 of 4"},
	    {"mamba", 2, NULL, "4 3 of 4"},
	    {"mamba", 9, "2026-11-01", "3 2 1 of 3"},
	    {"mamba OR trees^10", 9, NULL, "5 4 3 2 1 of 5"},
	    {"mamba cat:cs.CV", 9, NULL, " of 0"},
	    {"mamba NOT cat:cs.CV", 9, NULL, "4 3 2 1 of 4"},
	    {"nothing", 9, NULL, " of 0"},
	};
	pb_auto(store_fixture) fixture = store_fixture_new();

	list(fixture, "2026-11-19", "1", "A paper", "on mamba it is", 0);
	list(fixture, "2026-11-20", "2", "A paper", "on mamba it is", 0);
	list(fixture, "2026-11-20", "3", "A paper", "on mamba it is", 40);
	list(fixture, "2026-10-20", "4", "Mamba paper", "on and on it goes", 0);
	list(fixture, "2026-10-20", "5", "Trees", "", 0);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *got =
		    search(fixture, rows[i].query, rows[i].limit, rows[i].since);

		if (strcmp(got, rows[i].wanted) != 0)
			g_test_fail_printf(
			    "%s: %s, not %s", rows[i].query, got, rows[i].wanted);
	}
}

static void
search_is_limited_and_reports_it(void)
{
	pb_auto(store_fixture) fixture = store_fixture_new();
	pb_auto(query) query =
	    query_parse("mamba", store_get_tokenizer(fixture->store), NULL, NULL, NULL);

	for (int i = 0; i < 3; i++) {
		g_autofree char *id = g_strdup_printf("%d", i);

		list(fixture, DAY, id, "Mamba", "", 0);
	}
	for (unsigned most = 2; most < 5; most++) {
		const struct search_scope scope = {.now = NOW, .most = most};
		g_autoptr(GHashTable) ids =
		    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
		bool is_cut;

		g_assert_true(search_foreach(
		    fixture->store, query, &scope, note_id, ids, &is_cut, NULL));
		g_assert_cmpuint(g_hash_table_size(ids), ==, MIN(most, 3));
		g_assert_true(is_cut == (most < 3));
	}
}

static void
invalid_searches_are_rejected(void)
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
	pb_auto(store_fixture) fixture = store_fixture_new();
	g_autofree char *most = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;

		g_assert_null(search_run(fixture->store, rows[i].query, &scope,
		    rows[i].limit, NULL, &error));
		g_assert_error(error, PB_ERROR, rows[i].code);
	}
	most = search(fixture, "mamba", BOUNDS_SEARCH_RESULTS, NULL);
	g_assert_cmpstr(most, ==, " of 0");
}

UNIT_MAIN(expression_has_the_words_of_the_filter, failing_lexicon_is_an_error,
    search_agrees_with_evaluating_every_paper, best_result_comes_first,
    search_is_limited_and_reports_it, invalid_searches_are_rejected)
