/*
 * test_archive_cache.c - the copy of the papers equals the papers of the database.
 */
#include <string.h>

#include "lib/broken_tokenizer.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/digest/digest_build.h"
#include "service/match/search.h"
#include "store/core/sql.h"
#include "store/paper/archive.h"
#include "store/paper/archive_cache.h"
#include "store/paper/papers.h"

#define START store_fixture_time("2026-11-20T12:00:00Z")
#define STEPS 600

/* Columns but the one that only matching needs. */
#define COLUMNS                                              \
	"SELECT group_concat(name) FROM pragma_table_info('" \
	"paper') WHERE name <> 'is_changed'"

static char *
pick(GRand *rand, const char *const *words, int count)
{
	GString *text = g_string_new(NULL);

	for (int left = count; left > 0; left--)
		g_string_append_printf(text, "%s%s", text->len ? " " : "",
		    words[g_rand_int_range(rand, 0, 12)]);
	return g_string_free(text, FALSE);
}

static struct paper *
make_paper(GRand *rand, const char *id)
{
	static const char *const words[] = {"diffusion", "models", "model", "of",
	    "protein", "low-rank adaptation (LoRA)", "LoRA", "attention",
	    "chain of thought (CoT)", "graphs", "graph", "r\xc3\xa9sum\xc3\xa9"};
	g_autofree char *start = pick(rand, words, 4);
	/* Equal titles would be one paper. */
	g_autofree char *title = g_strdup_printf("%s %s", start, id);
	g_autofree char *abstract = pick(rand, words, 9);
	struct paper *paper = store_fixture_paper(id, title, abstract);

	if (g_rand_boolean(rand))
		paper->upvotes = g_rand_int_range(rand, 0, 50);
	if (g_rand_boolean(rand))
		paper->stars = g_rand_int_range(rand, 0, 50);
	if (g_rand_boolean(rand))
		paper->code_url = g_strdup("https://example.org/code");
	return paper;
}

/* A paper of arXiv turns out to be one of a feed. */
static void
enrich(struct store_fixture *fixture, const char *id, const char *doi, int64_t now)
{
	g_autoptr(GPtrArray) papers =
	    g_ptr_array_new_with_free_func((GDestroyNotify)paper_free);
	struct paper *paper = store_fixture_paper(id, "", "");
	struct papers_saved saved;

	paper->doi = g_strdup(doi);
	paper->categories = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(paper->categories, g_strdup("cs.CL"));
	g_ptr_array_add(papers, paper);
	NO_ERROR(papers_save_lookup(
	    fixture->store, PAPER_LOOKUP_ARXIV, papers, NULL, now, &saved, &error));
}

/* One change, at a time that does not always advance. */
static void
change(struct store_fixture *fixture, GRand *rand, int64_t now)
{
	int number = g_rand_int_range(rand, 1, 100);
	g_autofree char *id = g_strdup_printf("2611.%05d", number);
	g_autofree char *doi = g_strdup_printf("10.1000/%d", number);
	g_autofree char *feed_id = g_strdup_printf("doi:%s", doi);
	struct paper *paper;

	switch (g_rand_int_range(rand, 0, 6)) {
	case 0:
		enrich(fixture, id, doi, now);
		break;
	case 1:
		paper = make_paper(rand, feed_id);
		paper->doi = g_strdup(doi);
		paper->guid = g_strdup_printf("nature:%d", number);
		store_fixture_save(fixture, "nature", "2026-11-20", now, paper);
		break;
	case 2:
		/* The next one is in another block. */
		store_fixture_run(
		    fixture, fixture->store->postgresql
		                 ? "SELECT setval('paper_seq_seq', last_value + 256)"
		                   " FROM paper_seq_seq WHERE is_called"
		                 : "UPDATE sqlite_sequence SET seq = seq + 256"
		                   " WHERE name = 'paper'");
		break;
	case 3:
		store_fixture_announce(fixture, "arxiv/cs.CL", "2026-11-21", now,
		    make_paper(rand, id), LISTING_CROSS, 0);
		break;
	default:
		store_fixture_save(fixture, g_rand_boolean(rand) ? "hf" : "arxiv/cs.AI",
		    "2026-11-20", now, make_paper(rand, id));
	}
}

/* Format the results of a search, with scores. */
static char *
search(struct store *store, const char *text)
{
	const struct search_scope scope = {.now = START};
	g_autoptr(GError) error = NULL;
	pb_auto(search_answer) answer =
	    search_run(store, text, &scope, 20, NULL, &error);
	GString *found = g_string_new(NULL);

	g_assert_no_error(error);
	for (unsigned i = 0; i < answer->results->len; i++) {
		const struct search_result *result = answer->results->pdata[i];

		g_string_append_printf(found, "%s %.6f %s\n", result->stored->paper->id,
		    result->score, result->words);
	}
	return g_string_free(found, FALSE);
}

static void
assert_same(struct store *store, struct store *cache)
{
	static const char *const queries[] = {"diffusion model", "LoRA", "upvotes:>10",
	    "resume OR graph", "doi:10.1000/*", "has:code protein", "cat:cs.CL",
	    "source:nature attention", "stars:>20 -model"};
	static const char *const tables[] = {
	    "SELECT * FROM listing ORDER BY paper_seq, source, day",
	    "SELECT * FROM vocabulary ORDER BY text",
	    "SELECT * FROM acronym ORDER BY short, long",
	    "SELECT name, value FROM cursor WHERE name LIKE 'archive%' ORDER BY name"};
	struct store_fixture one = {.store = store}, other = {.store = cache};
	g_autofree char *columns = store_fixture_text(&one, COLUMNS);
	g_autofree char *papers =
	    g_strdup_printf("SELECT %s FROM paper ORDER BY seq", columns);
	g_autofree char *wanted = store_fixture_text(&one, papers);
	g_autofree char *problem = store_fixture_check_archive(&other);

	assert_rows(&other, papers, wanted);
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
		g_autofree char *rows = store_fixture_text(&one, tables[i]);

		assert_rows(&other, tables[i], rows);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(queries); i++) {
		g_autofree char *found = search(store, queries[i]);
		g_autofree char *copied = search(cache, queries[i]);

		g_assert_cmpstr(copied, ==, found);
	}
	g_assert_cmpstr(problem, ==, NULL);
	store_fixture_assert_idle(&other);
}

/* Copy the papers of a store to a file that is its archive from now on. */
static struct store *
copy(struct store *store, const char *path)
{
	g_autoptr(GError) error = NULL;
	struct store *cache;
	bool is_same;

	if (store_get_archive(store) == store)
		g_assert_true(archive_cache_open(store, path, &error));
	cache = archive_cache_refresh(store, &error);
	g_assert_no_error(error);
	g_assert_true(archive_cache_compare(store, cache, &is_same, &error));
	g_assert_true(is_same);
	return cache;
}

/* The same changes in SQLite, with its own index. */
static struct store *
open_plain(struct store_fixture *fixture)
{
	g_autofree char *path = g_build_filename(fixture->directory, "plain.db", NULL);
	struct store *store = NO_ERROR(store_open(path, &error));

	return store;
}

/* Like STORE_TEST, for tests that get the path of a copy as well. */
#define CACHE_TEST(function)                                                  \
	UNIT_CALLER(function, struct store_fixture *, const char *)           \
	{                                                                     \
		pb_auto(store_fixture) fixture = store_fixture_new();         \
		g_autofree char *path =                                       \
		    g_build_filename(fixture->directory, "archive.db", NULL); \
		function(fixture, path);                                      \
	}                                                                     \
	static void function(struct store_fixture *fixture, const char *path)

CACHE_TEST(searches_in_a_copy_find_the_same)
{
	pb_auto(store) plain = open_plain(fixture);
	struct store_fixture other = {.store = plain};
	g_autoptr(GRand) rand = g_rand_new_with_seed(7);
	g_autoptr(GRand) again = g_rand_new_with_seed(7);
	g_autoptr(GRand) times = g_rand_new_with_seed(7);

	copy(fixture->store, path);
	for (int i = 0; i < STEPS; i++) {
		change(fixture, rand, START + i / 2);
		change(&other, again, START + i / 2);
		/* First more changes than a page has, then few. */
		if (i < STEPS / 2 ? i % 100 == 99 : !g_rand_int_range(times, 0, 5))
			assert_same(plain, copy(fixture->store, path));
	}
	g_assert_cmpint(
	    store_fixture_number(fixture, "SELECT count(*) FROM paper_moved"), >, 3);
}

/* Its papers have the same numbers as others that were copied. */
CACHE_TEST(a_copy_follows_a_restored_database)
{
	pb_auto(store) plain = open_plain(fixture);
	struct store_fixture restored = {.store = plain};
	g_autofree char *name = g_build_filename(fixture->directory, "plain.db", NULL);
	g_autoptr(GRand) rand = g_rand_new_with_seed(8);
	pb_auto(store) machine = store_open(name, NULL);

	for (int i = 0; i < STEPS / 2; i++) {
		change(fixture, rand, START + i);
		change(&restored, rand, START + i);
	}
	copy(fixture->store, path);
	machine->history = fixture->store->history + 1;
	assert_same(plain, copy(machine, path));
}

CACHE_TEST(a_copy_without_a_paper_is_made_again)
{
	pb_auto(store) plain = open_plain(fixture);
	struct store_fixture other = {.store = plain}, cache = {0};
	g_autoptr(GRand) rand = g_rand_new_with_seed(9);
	g_autoptr(GRand) again = g_rand_new_with_seed(9);

	for (int i = 0; i < STEPS / 10; i++) {
		if (i == STEPS / 20) {
			cache.store = copy(fixture->store, path);
			store_fixture_run(&cache,
			    "DELETE FROM paper WHERE seq = (SELECT min(seq) FROM "
			    "paper)");
		}
		change(fixture, rand, START + i);
		change(&other, again, START + i);
	}
	assert_same(plain, copy(fixture->store, path));
}

/* The other paper is copied after it. */
CACHE_TEST(a_paper_with_the_former_id_of_another_is_copied)
{
	static const char sql[] =
	    "UPDATE paper SET id = 'x', revision = 1000 WHERE seq = 1;"
	    "UPDATE paper SET id = '2611.00001', revision = 1 WHERE seq = 2;"
	    "UPDATE paper SET upvotes = 9 WHERE seq = 1";
	pb_auto(store) plain = open_plain(fixture);
	struct store_fixture stores[] = {{.store = plain}, *fixture};

	for (size_t i = 0; i < G_N_ELEMENTS(stores); i++) {
		g_autoptr(GRand) rand = g_rand_new_with_seed(1);

		store_fixture_save(&stores[i], "hf", "2026-11-20", START,
		    make_paper(rand, "2611.00001"));
		store_fixture_save(&stores[i], "hf", "2026-11-20", START,
		    make_paper(rand, "2611.00002"));
	}
	copy(fixture->store, path);
	store_fixture_run(&stores[0], sql);
	store_fixture_run(fixture, sql);
	assert_same(plain, copy(fixture->store, path));
}

static struct store *
refresh(struct store *store)
{
	struct store *archive = NO_ERROR(archive_cache_refresh(store, &error));

	return archive;
}

/* The database itself has no index then. */
CACHE_TEST(a_store_searches_its_copy)
{
	g_autofree char *found = NULL, *again = NULL;
	struct archive_size size;

	if (!fixture->store->postgresql) { /* which has one from the beginning */
		g_assert_true(refresh(fixture->store) == fixture->store);
		g_assert_true(archive_cache_open(fixture->store, path, NULL));
	}
	g_assert_true(store_get_archive(fixture->store) != fixture->store);
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "A diffusion model", 7);
	if (!fixture->store->postgresql)
		assert_rows(fixture, "SELECT count(*) FROM vocabulary", "0");
	found = search(fixture->store, "diffusion");
	g_assert_true(g_str_has_prefix(found, "2611.00001 "));
	g_assert_true(archive_load_size(fixture->store, &size, NULL));
	g_assert_cmpint(size.papers, ==, 1);
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "A diffusion model", 9);
	again = search(fixture->store, "diffusion upvotes:9");
	g_assert_true(g_str_has_prefix(again, "2611.00001 "));
}

static void
assert_not_tokenized(struct store *store, const char *message)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(archive_cache_refresh(store, &error));
	g_assert_nonnull(error);
	g_assert_cmpstr(error->message, ==, message);
}

CACHE_TEST(paper_that_cannot_be_indexed_is_named)
{
	struct tokenizer failing = {.split = broken_tokenizer_split};
	struct tokenizer *tokenizer;
	struct store *cache;

	cache = copy(fixture->store, path);
	tokenizer = cache->tokenizer;
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "A diffusion model", 7);
	cache->tokenizer = &failing;
	assert_not_tokenized(fixture->store, "cannot tokenize paper 2611.00001");
	cache->tokenizer = tokenizer;
	refresh(fixture->store);
	/* Its old text is tokenized first. */
	store_fixture_run(fixture, "UPDATE paper SET id = '2611.00002'");
	cache->tokenizer = &failing;
	assert_not_tokenized(fixture->store, "cannot tokenize paper 2611.00001");
	cache->tokenizer = tokenizer;
}

/* Their order depends on word frequencies of the archive. */
CACHE_TEST(digests_are_ordered_by_a_current_copy)
{
	struct digest_build_report report = {0};
	struct store_fixture cache = {0};

	g_assert_true(archive_cache_open(fixture->store, path, NULL));
	refresh(fixture->store);
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "A diffusion model", 7);
	g_assert_true(
	    digest_build_run(fixture->store, fixture->key, NULL, START, &report, NULL));
	cache.store = store_get_archive(fixture->store);
	assert_rows(&cache, "SELECT count(*) FROM vocabulary WHERE papers > 0", "3");
}

CACHE_TEST(a_damaged_copy_is_made_again)
{
	g_autofree char *garbage = g_strnfill(200000, 'x');
	g_autofree char *found = NULL;

	/* Not a store, then one that is damaged while it is in use. */
	g_assert_true(g_file_set_contents(path, garbage, -1, NULL));
	g_assert_true(archive_cache_open(fixture->store, path, NULL));
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "A diffusion model", 7);
	refresh(fixture->store);
	store_checkpoint(store_get_archive(fixture->store));
	g_assert_true(g_file_set_contents(path, garbage, -1, NULL));
	store_free(fixture->store);
	fixture->store = store_open(fixture->path, NULL);
	g_assert_true(archive_cache_open(fixture->store, path, NULL));
	found = search(fixture->store, "diffusion");
	g_assert_true(g_str_has_prefix(found, "2611.00001 "));
}

CACHE_TEST(damage_is_noticed_by_the_next_copy)
{
	struct store_fixture cache = {0};
	g_autofree char *found = NULL;

	g_assert_true(archive_cache_open(fixture->store, path, NULL));
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "A diffusion model", 7);
	cache.store = refresh(fixture->store);
	store_fixture_run(&cache,
	    "PRAGMA writable_schema = ON;"
	    "UPDATE sqlite_schema SET rootpage = 99999 WHERE name = 'listing';"
	    "PRAGMA writable_schema = RESET");
	store_fixture_list(fixture, "2026-11-20", "2611.00002", "Another model", 7);
	found = search(fixture->store, "model");
	g_assert_true(store_get_archive(fixture->store) != cache.store);
	g_assert_nonnull(strstr(found, "2611.00002 "));
	g_assert_nonnull(strstr(found, "2611.00001 "));
}

UNIT_MAIN
