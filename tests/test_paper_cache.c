/*
 * test_paper_cache.c - papers are loaded once, and again after a write.
 */
#include <sqlite3.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "store/core/sql.h"
#include "store/paper/paper_cache.h"

static struct paper *
take(struct paper_cache *paper_cache, int64_t seq)
{
	g_autoptr(GError) error = NULL;
	struct paper *paper;

	g_assert_true(paper_cache_refresh(paper_cache, &error));
	paper = paper_cache_get(paper_cache, seq, &error);
	g_assert_no_error(error);
	return paper;
}

/* The mailer reads on its own handle; the collector writes on another. */
STORE_TEST(a_paper_is_the_same_one_until_it_changes)
{
	pb_auto(store) reader = NULL;
	pb_auto(paper_cache) paper_cache = NULL;
	pb_auto(paper) first = NULL;
	pb_auto(paper) again = NULL;
	pb_auto(paper) changed = NULL;

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "A title", 23);
	reader = store_open(fixture->path, NULL);
	paper_cache = paper_cache_new(reader);
	first = take(paper_cache, 1);
	again = take(paper_cache, 1);
	g_assert_true(first == again);
	g_assert_cmpuint(first->shares, >, 0);

	store_fixture_run(
	    fixture, "UPDATE paper SET code_url = 'https://code.example.org/'");
	changed = take(paper_cache, 1);
	g_assert_true(changed != first);
	g_assert_cmpstr(changed->code_url, ==, "https://code.example.org/");
	g_assert_cmpstr(first->title, ==, "A title");
	g_assert_null(first->code_url);
}

static int
count_papers(unsigned event, void *context, void *statement, void *text)
{
	unsigned *loaded = context;

	(void)event;
	(void)text;
	*loaded += strstr(sqlite3_sql(statement), " FROM paper ") != NULL;
	return 0;
}

/* While messages are sent, the scheduler commits new digests. */
STORE_TEST(other_commits_load_no_papers)
{
	pb_auto(store) reader = NULL;
	pb_auto(paper_cache) paper_cache = NULL;
	unsigned loaded = 0;

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "A title", 23);
	reader = store_open(fixture->path, NULL);
	paper_cache = paper_cache_new(reader);
	sqlite3_trace_v2(reader->db, SQLITE_TRACE_STMT, count_papers, &loaded);
	paper_free(take(paper_cache, 1));
	g_assert_cmpuint(loaded, ==, 1);
	store_fixture_run(fixture, "INSERT INTO cursor VALUES ('digests', 1)");
	paper_free(take(paper_cache, 1));
	g_assert_cmpuint(loaded, ==, 1);
	store_fixture_run(fixture, "UPDATE paper SET upvotes = 99");
	paper_free(take(paper_cache, 1));
	g_assert_cmpuint(loaded, ==, 2);
}

/* A paper that is in use has no copy. */
STORE_TEST(it_holds_no_more_than_its_bound)
{
	pb_auto(paper_cache) paper_cache = paper_cache_new(fixture->store);
	pb_auto(paper) first = NULL;
	pb_auto(paper) again = NULL;
	unsigned loaded = 0;

	for (unsigned i = 1; i <= BOUNDS_CACHE_PAPERS + 1; i++) {
		g_autofree char *id = g_strdup_printf("2611.%05u", i);

		store_fixture_list(fixture, "2026-11-20", id, "A title", 1);
	}
	first = take(paper_cache, 1);
	for (int64_t seq = 2; seq <= BOUNDS_CACHE_PAPERS; seq++)
		paper_free(take(paper_cache, seq));
	sqlite3_trace_v2(fixture->store->db, SQLITE_TRACE_STMT, count_papers, &loaded);
	paper_free(take(paper_cache, 2));
	g_assert_cmpuint(loaded, ==, 0);
	paper_free(take(paper_cache, BOUNDS_CACHE_PAPERS + 1));
	g_assert_cmpuint(loaded, ==, 1);
	again = take(paper_cache, 1);
	g_assert_true(again == first);
	g_assert_cmpuint(loaded, ==, 1);
	paper_free(take(paper_cache, 2));
	g_assert_cmpuint(loaded, ==, 2);

	FAILS(PB_ERROR_NOT_FOUND,
	    paper_cache_get(paper_cache, BOUNDS_CACHE_PAPERS + 2, &error));
}

UNIT_MAIN
