/*
 * test_percolator.c - batches find the same matches as each filter alone, whatever
 * changes in between and wherever a run is interrupted.
 *
 * PAPERBOY_LONG=1: more than 20,000 filters and 500 papers instead of a few.
 */
#include <sqlite3.h>
#include <string.h>

#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "query/query.h"
#include "service/match/match.h"
#include "service/match/paper_batch.h"
#include "service/match/percolator.h"
#include "store/core/sql.h"
#include "store/core/transaction.h"
#include "store/paper/filter_index.h"
#include "store/paper/filter_progress.h"
#include "store/paper/papers.h"
#include "store/subscriber/subscribers.h"

#define DAY    "2026-11-20"
#define NOW    "2026-11-20T13:00:00Z"
#define PEOPLE 8

/* Random state of a store. */
struct world {
	struct store_fixture *fixture;
	GRand *rand;
	int64_t now;
	GPtrArray *papers; /* of struct paper *: NULL once listed */
	GPtrArray *words;  /* of char *: words of all papers, in order */
	GPtrArray *names;  /* of char * */
	unsigned listed, filters;
	int commits_left; /* until one fails; 0: none does */
};

static const char *const made_up[] = {"diffusion", "model", "models", "deep", "mamba",
    "state", "space", "quantized", "quantization", "graphs", "for", "the", "of",
    "agents", "c++", "vision", "language", "sparse", "attention", "protein",
    "大模型的推理", "模型", "BERT模型"};

static unsigned
random_below(struct world *world, unsigned n)
{
	return (unsigned)g_rand_int_range(world->rand, 0, (gint32)n);
}

static char *
make_up_text(struct world *world, unsigned length)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < length; i++)
		g_string_append_printf(text, "%s%s", i ? " " : "",
		    made_up[random_below(world, G_N_ELEMENTS(made_up))]);
	return g_string_free(text, FALSE);
}

/* Load real papers when available. */
static GPtrArray *
load_papers(unsigned count)
{
	pb_auto(store_fixture) fixture = store_fixture_new();
	g_autoptr(GError) error = NULL;

	if (store_fixture_fill_real(fixture) == 0)
		return g_ptr_array_new_with_free_func(
		    (GDestroyNotify)stored_paper_free);
	return papers_load_revisions(
	    fixture->store, 0, G_MAXINT64, "2000-01-01", count, &error);
}

static void
learn_words(struct world *world, const struct paper *paper)
{
	g_autofree char *text = g_strconcat(paper->title, " ", paper->abstract, NULL);
	g_auto(GStrv) words =
	    g_strsplit_set(text, " \n\t.,;:()\"'*=-|&![]{}<>/\\+#$%^~`?_", -1);

	for (char **word = words; *word; word++)
		if (g_utf8_strlen(*word, -1) > 1 && !strchr("/0123456789", **word))
			g_ptr_array_add(world->words, g_strdup(*word));
	for (unsigned i = 0; i < paper->authors->len; i++)
		if (!strpbrk(paper->authors->pdata[i], "\"*"))
			g_ptr_array_add(
			    world->names, g_strdup(paper->authors->pdata[i]));
}

static void
fill_world(struct world *world, unsigned count)
{
	g_autoptr(GPtrArray) real = load_papers(count);

	for (unsigned i = 0; i < count; i++) {
		g_autofree char *id = g_strdup_printf("2611.%05u", i + 1);
		g_autofree char *title = make_up_text(world, 4);
		g_autofree char *abstract = make_up_text(world, 40);
		const struct stored_paper *model =
		    i < real->len && i % 4 ? real->pdata[i] : NULL;
		struct paper *paper = model
		                          ? store_fixture_paper(id, model->paper->title,
		                                model->paper->abstract)
		                          : store_fixture_paper(id, title, abstract);

		for (unsigned n = 0; model && n < model->paper->authors->len; n++)
			g_ptr_array_add(
			    paper->authors, g_strdup(model->paper->authors->pdata[n]));
		paper->upvotes = g_rand_int_range(world->rand, -1, 40);
		if (random_below(world, 2))
			paper->code_url = g_strdup("https://example.org/code");
		learn_words(world, paper);
		g_ptr_array_add(world->papers, paper);
	}
}

/* ---- filters ---- */

static void
append_clause(struct world *world, GString *out)
{
	unsigned at = random_below(world, world->words->len - 2);
	const char *word = world->words->pdata[at];
	const char *next = world->words->pdata[at + 1];
	const char *third = world->words->pdata[at + 2];
	g_autofree char *stem =
	    g_utf8_substring(word, 0, MIN(g_utf8_strlen(word, -1), 5));

	switch (random_below(world, 12)) {
	case 0:
	case 1:
		g_string_append(out, word);
		break;
	case 2:
		g_string_append_printf(out, "\"%s %s\"", word, next);
		break;
	case 3:
		g_string_append_printf(out, "\"%s %s %s*\"", word, next, third);
		break;
	case 4:
		g_string_append_printf(out, "%s*", stem);
		break;
	case 5:
		g_string_append_printf(out, "title:%s", word);
		break;
	case 6:
		g_string_append_printf(
		    out, "NEAR(%s %s, %u)", word, third, random_below(world, 9));
		break;
	case 7:
		g_string_append_printf(out, "author:\"%s\"",
		    (char *)
		        world->names->pdata[random_below(world, world->names->len)]);
		break;
	case 8:
		g_string_append_printf(out, "upvotes:>=%u", random_below(world, 40));
		break;
	case 9:
		g_string_append(out, random_below(world, 2) ? "has:code" : "cs.LG");
		break;
	case 10:
		g_string_append_printf(out, "=%s", word);
		break;
	case 11:
		g_string_append(out, "型"); /* in a run, and at its end */
		break;
	}
}

static void
append_filter(struct world *world, GString *out, unsigned depth)
{
	static const char *const joints[] = {" ", " ", " OR ", " AND NOT "};
	unsigned n = depth ? 1 + random_below(world, 3) : 1;
	const char *joint = joints[random_below(world, G_N_ELEMENTS(joints))];

	for (unsigned i = 0; i < n; i++) {
		g_string_append(out, i ? joint : "");
		if (n == 1 || random_below(world, 3)) {
			append_clause(world, out);
			continue;
		}
		g_string_append_c(out, '(');
		append_filter(world, out, depth - 1);
		g_string_append_c(out, ')');
	}
}

/* A new subscription, and the hash of its filter. */
static struct subscription *
make_subscription(struct world *world, char **hash)
{
	const struct tokenizer *tokenizer = store_get_tokenizer(world->fixture->store);
	struct subscription *subscription = subscription_new();
	pb_auto(query) query = NULL;

	while (!query) {
		g_autoptr(GString) text = g_string_new(NULL);

		append_filter(world, text, 2);
		query = query_parse(text->str, tokenizer, NULL, NULL, NULL);
		g_free(subscription->text);
		subscription->text = g_strdup(text->str);
	}
	subscription->canonical = query_format(query);
	*hash = query_hash(query);
	g_strlcpy(subscription->since_day, DAY, sizeof(subscription->since_day));
	return subscription;
}

static int64_t
load_start(struct world *world)
{
	int64_t revision;

	g_assert_true(papers_load_revision_before(
	    world->fixture->store, "2026-11-06", &revision, NULL));
	return revision;
}

static void
add_filters(struct world *world, unsigned count)
{
	pb_transaction transaction = {0};

	g_assert_true(store_begin(world->fixture->store, &transaction, NULL));
	for (unsigned i = 0; i < count; i++) {
		g_autofree char *hash = NULL;
		pb_auto(subscription) subscription = make_subscription(world, &hash);

		subscription->subscriber_id = 1 + world->filters % PEOPLE;
		subscription->number = 1 + (int)(world->filters++ / PEOPLE);
		/* Some exist already. */
		subscribers_insert_subscription(world->fixture->store, subscription,
		    hash, load_start(world), world->now, NULL);
	}
	g_assert_true(store_commit(&transaction, NULL));
}

/* Leave a gap in the ids, larger than one lookup. */
static void
skip_ids(struct world *world)
{
	g_autofree char *sql = g_strdup_printf(
	    "INSERT INTO filter (id, canonical, hash, matched_revision, created_at)"
	    " SELECT 3 * %d, 'text:model', printf('%%064d', 1), 0, 0 WHERE NOT EXISTS"
	    "  (SELECT 1 FROM filter WHERE id = 3 * %d OR canonical = 'text:model');"
	    "INSERT OR IGNORE INTO subscription (subscriber_id, number, filter_id, "
	    "text,"
	    " since_day, created_at) SELECT 1, 9999, 3 * %d, 'model', '" DAY "', 0"
	    " WHERE EXISTS (SELECT 1 FROM filter WHERE id = 3 * %d)",
	    PERCOLATOR_RANGE, PERCOLATOR_RANGE, PERCOLATOR_RANGE, PERCOLATOR_RANGE);

	store_fixture_run(world->fixture, sql);
}

static void
change_filters(struct world *world, unsigned count)
{
	pb_transaction transaction = {0};

	g_assert_true(store_begin(world->fixture->store, &transaction, NULL));
	for (unsigned i = 0; i < count; i++) {
		g_autofree char *hash = NULL;
		pb_auto(subscription) subscription = make_subscription(world, &hash);
		g_autofree char *sql =
		    g_strdup_printf("SELECT subscriber_id FROM subscription"
		                    " WHERE id = %u",
		        subscription ? 1 + random_below(world, world->filters) : 0);
		const char *id = strrchr(sql, ' ') + 1;

		subscription->id = g_ascii_strtoll(id, NULL, 10);
		subscription->subscriber_id = store_fixture_number(world->fixture, sql);
		if (subscription->subscriber_id > 0)
			subscribers_change_subscription(world->fixture->store,
			    subscription, hash, load_start(world), world->now, NULL);
	}
	g_assert_true(store_commit(&transaction, NULL));
}

static void
remove_filters(struct world *world, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		g_autofree char *sql =
		    g_strdup_printf("DELETE FROM subscription WHERE id = %u",
		        random_below(world, world->filters));

		store_fixture_run(world->fixture, sql);
	}
	g_assert_true(filter_progress_prune(
	    world->fixture->store, world->now + 1, 0, INT64_MAX, NULL));
}

static void
list_papers(struct world *world, unsigned count)
{
	for (unsigned i = 0; i < count && world->listed < world->papers->len; i++) {
		struct paper *paper =
		    g_steal_pointer(&world->papers->pdata[world->listed++]);

		store_fixture_save(world->fixture, "hf", DAY, world->now, paper);
	}
}

/* Rebuild the index as maintenance does: twice, so that words change places. */
static void
rebuild_index(struct world *world)
{
	bool is_done = false;

	store_fixture_run(world->fixture,
	    "INSERT INTO cursor VALUES ('indexed papers', 99999) ON "
	    "CONFLICT (name) DO UPDATE SET value = 99999");
	store_fixture_run(
	    world->fixture, "UPDATE vocabulary SET papers = 1 + (papers * 7919) % 500");
	for (unsigned pages = 0; !is_done; pages++) {
		g_assert_cmpuint(pages, <, 1000);
		g_assert_true(
		    filter_index_rebuild(world->fixture->store, 100, &is_done, NULL));
		if (random_below(world, 4) == 0)
			return; /* the rest another time */
	}
}

/* ---- runs ---- */

static int
fail_sometimes(void *data)
{
	struct world *world = data;

	return world->commits_left > 0 && --world->commits_left == 0;
}

/* Stop at the nth commit, as if killed there. */
static bool
run_interrupted(struct world *world, unsigned nth)
{
	struct match_report report = {0};
	g_autoptr(GError) error = NULL;
	bool is_done;

	world->commits_left = (int)nth;
	is_done = match_run(world->fixture->store, world->now, &report, &error);
	world->commits_left = 0;
	store_fixture_assert_idle(world->fixture);
	g_assert_true(is_done || error);
	g_assert_cmpuint(report.broken, ==, 0);
	return is_done;
}

/* One character per paper: "." no, "w" waiting, "y" yes. */
static char *
format_stored(struct world *world, int64_t filter_id)
{
	g_autofree char *sql =
	    g_strdup_printf("SELECT group_concat(coalesce((SELECT substr(state, 1, 1)"
	                    " FROM " STORE_FIXTURE_MATCHES
	                    " m WHERE m.paper_seq = p.seq AND m.filter_id ="
	                    " %" G_GINT64_FORMAT "), '.'), '')"
	                    " FROM (SELECT seq FROM paper ORDER BY seq) p",
	        filter_id);

	return store_fixture_text(world->fixture, sql);
}

static char *
format_evaluated(const struct query *query, const GPtrArray *documents)
{
	GString *reported = g_string_new(NULL);

	for (unsigned i = 0; i < documents->len; i++) {
		const struct query_document *document = documents->pdata[i];
		char mail = '.';

		if (query_evaluate(query, document, QUERY_AS_REPORTED) == QUERY_TRUE)
			mail = 'y';
		else if (query_evaluate(query, document, QUERY_MAY_CHANGE))
			mail = 'w';
		g_string_append_c(reported, mail);
	}
	return g_string_free(reported, FALSE);
}

static GPtrArray *
make_documents(struct world *world)
{
	GPtrArray *documents =
	    g_ptr_array_new_with_free_func((GDestroyNotify)query_document_free);

	for (unsigned seq = 1; seq <= world->listed; seq++) {
		pb_auto(stored_paper) stored =
		    papers_load(world->fixture->store, seq, NULL);
		struct query_document *document = query_document_new(stored->paper, DAY,
		    store_get_tokenizer(world->fixture->store), NULL);

		query_document_finalize(
		    document, paper_batch_get_finality(stored, world->now));
		g_ptr_array_add(documents, document);
	}
	return documents;
}

/* Compare every filter with every paper. */
static void
assert_all_pairs(struct world *world)
{
	g_autoptr(GPtrArray) documents = make_documents(world);
	g_autoptr(GPtrArray) filters =
	    filter_progress_load_filters(world->fixture->store, 0, G_MAXINT, NULL);
	unsigned found = 0, waiting = 0;

	for (unsigned i = 0; i < filters->len; i++) {
		const struct stored_filter *filter = filters->pdata[i];
		pb_auto(query) query = query_parse_canonical(filter->canonical,
		    store_get_tokenizer(world->fixture->store), NULL);
		g_autofree char *stored = format_stored(world, filter->id);
		g_autofree char *wanted = format_evaluated(query, documents);

		if (strcmp(stored, wanted) != 0)
			g_error("%s:\n%s stored\n%s evaluated", filter->canonical,
			    stored, wanted);
		found += strchr(stored, 'y') != NULL;
		waiting += strchr(stored, 'w') != NULL;
		g_assert_true(filter->is_batched);
	}
	g_test_message("%u filters x %u papers: %u find, %u wait", filters->len,
	    documents->len, found, waiting);
	g_assert_cmpuint(found, >, filters->len / 8);
	g_assert_cmpuint(waiting, >, filters->len / 20);
}

STORE_TEST(batch_finds_what_each_filter_finds_alone)
{
	bool is_long = g_getenv("PAPERBOY_LONG") != NULL;
	unsigned paper_count = is_long ? 500 : 150, most = is_long ? 28000 : 600;
	struct world world = {
	    .fixture = fixture,
	    .rand = g_rand_new_with_seed(7),
	    .now = store_fixture_time(NOW),
	    .papers = g_ptr_array_new_with_free_func((GDestroyNotify)paper_free),
	    .words = g_ptr_array_new_with_free_func(g_free),
	    .names = g_ptr_array_new_with_free_func(g_free),
	};
	unsigned cut_off = 0;

	fill_world(&world, paper_count);
	for (unsigned i = 0; i < PEOPLE; i++) {
		g_autofree char *address = g_strdup_printf("p%u@example.org", i);

		store_fixture_subscribe(fixture, address, "UTC", NULL, world.now);
	}
	sqlite3_commit_hook(fixture->store->db, NULL, NULL);
	while (world.filters < most || world.listed < paper_count) {
		switch (random_below(&world, 6)) {
		case 0:
			add_filters(&world, MIN(most / 8, most - world.filters));
			break;
		case 1:
			list_papers(&world, 1 + random_below(&world, paper_count / 3));
			break;
		case 2:
			change_filters(&world, world.filters / 20);
			break;
		case 3:
			remove_filters(&world, world.filters / 20);
			break;
		case 4:
			if (random_below(&world, 3) == 0)
				rebuild_index(&world);
			break;
		case 5:
			skip_ids(&world);
			break;
		}
		sqlite3_commit_hook(fixture->store->db, fail_sometimes, &world);
		cut_off += !run_interrupted(&world, 1 + random_below(&world, 6));
		sqlite3_commit_hook(fixture->store->db, NULL, NULL);
	}
	g_assert_cmpuint(cut_off, >, 5);
	/* Interrupt the run at each of its commits. */
	sqlite3_commit_hook(fixture->store->db, fail_sometimes, &world);
	for (unsigned nth = 1; !run_interrupted(&world, nth); nth++)
		;
	sqlite3_commit_hook(fixture->store->db, NULL, NULL);
	assert_all_pairs(&world);
	g_rand_free(world.rand);
	g_ptr_array_unref(world.papers);
	g_ptr_array_unref(world.words);
	g_ptr_array_unref(world.names);
}

/* "filter:papers ..." of all candidates. */
static char *
list_candidates(
    struct percolator *percolator, struct store_fixture *fixture, int64_t last)
{
	g_autoptr(GString) text = g_string_new(NULL);
	int64_t id = 0;

	NO_ERROR(percolator_look_up(percolator, fixture->store, 0, last, &error));
	while (percolator_find_next(percolator, &id))
		g_string_append_printf(text, "%d:%x ", (int)id,
		    (unsigned)percolator_get_papers(percolator, id)->bits[0]);
	return g_string_free(g_steal_pointer(&text), FALSE);
}

STORE_TEST(candidates_have_one_of_the_terms)
{
	static const char *const filters[] = {"diffusion", "\"state space\"", "quanti*",
	    "mamba OR \"deep diffusion\"", "author:adams", "nothing", "upvotes:>=3",
	    "deep NOT mamba", "dif* OR author:\"c adams\""};
	int64_t now = store_fixture_time(NOW);
	pb_auto(percolator) percolator = percolator_new();
	g_autofree char *found = NULL;

	store_fixture_list(fixture, DAY, "2611.00001", "Deep diffusion", 1);
	store_fixture_list(fixture, DAY, "2611.00002", "Mamba, a state space", 1);
	store_fixture_list(
	    fixture, DAY, "2611.00003", "Quantized diffusion of spaces", 1);
	for (size_t i = 0; i < G_N_ELEMENTS(filters); i++) {
		g_autofree char *address = g_strdup_printf("p%zu@example.org", i);

		store_fixture_subscribe(fixture, address, "UTC", filters[i], now);
	}
	for (int64_t seq = 1; seq <= 3; seq++) {
		pb_auto(stored_paper) stored = papers_load(fixture->store, seq, NULL);
		pb_auto(query_document) document = query_document_new(
		    stored->paper, DAY, store_get_tokenizer(fixture->store), NULL);

		percolator_add(percolator, document);
	}
	found = list_candidates(percolator, fixture, PERCOLATOR_RANGE);
	g_assert_true(g_str_has_prefix(found, "1:5 2:2 3:4 4:3 "));
}

TEST(new_filter_joins_only_between_batches)
{
	CASES_FOREACH(row, "percolator_cursors", *cursors, *through) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		int64_t now = store_fixture_time(NOW);
		g_autofree char *sql =
		    g_strconcat("INSERT INTO cursor VALUES ", row->cursors, NULL);
		struct match_report report = {0};
		unsigned count;

		store_fixture_list(fixture, "2026-10-01", "2610.00001", "Diffusion", 1);
		store_fixture_list(fixture, "2026-10-01", "2610.00002", "Diffusion", 1);
		store_fixture_run(fixture, sql);
		store_fixture_subscribe(
		    fixture, "ada@example.org", "UTC", "diffusion", now);
		assert_rows(fixture, "SELECT ifnull(matched_revision, '') FROM filter",
		    row->through);
		g_assert_true(
		    filter_progress_join_batch(fixture->store, 5, &count, NULL));
		g_assert_cmpuint(count, ==, 0);
		/* It has joined at the end. */
		g_assert_true(match_run(fixture->store, now, &report, NULL));
		assert_rows(
		    fixture, "SELECT ifnull(matched_revision, '') FROM filter", "");
		assert_rows(
		    fixture, "SELECT count(*) FROM " STORE_FIXTURE_MATCHES, "0");
	}
}

UNIT_MAIN
