/*
 * test_match_cache.c - the matches that digests share.
 */
#include <glib.h>
#include <string.h>

#include "service/digest/match_cache.h"

/* Scores and hits in these tests depend on the key alone. */
static double
get_score(int64_t filter_id, int64_t paper_seq)
{
	return (double)filter_id + (double)paper_seq / 1000;
}

static char *
make_hits(int64_t filter_id, int64_t paper_seq)
{
	g_autofree char *words = g_strnfill((gsize)(filter_id + paper_seq) % 60, 'x');

	return g_strdup_printf("t%s %d", words, (int)paper_seq);
}

static void
assert_match(const struct cached_match *match, int64_t filter_id, int64_t paper_seq)
{
	g_autofree char *hits = make_hits(filter_id, paper_seq);

	g_assert_true(match->score == get_score(filter_id, paper_seq));
	g_assert_cmpstr(match->hits, ==, hits);
}

static void
insert(struct match_cache *cache, int64_t filter_id, int64_t paper_seq)
{
	g_autofree char *hits = make_hits(filter_id, paper_seq);
	struct cached_match match = {get_score(filter_id, paper_seq), hits};

	match_cache_insert(cache, filter_id, paper_seq, &match);
	g_assert_true(match.hits != hits);
	assert_match(&match, filter_id, paper_seq);
}

static bool
has(struct match_cache *cache, int64_t filter_id, int64_t paper_seq)
{
	struct cached_match match;

	if (!match_cache_find(cache, filter_id, paper_seq, &match))
		return false;
	assert_match(&match, filter_id, paper_seq);
	return true;
}

/* Without evictions it is a table; with them, all that it finds is right. */
static void
test_random(gconstpointer data)
{
	size_t max_bytes = GPOINTER_TO_SIZE(data);
	bool is_large = max_bytes > 1000000;
	g_autoptr(GRand) rand = g_rand_new_with_seed(1);
	struct match_cache cache;
	bool known[50][200] = {{false}};
	unsigned found = 0, lost = 0;

	match_cache_init(&cache, max_bytes);
	for (unsigned i = 0; i < 20000; i++) {
		int filter = g_rand_int_range(rand, 0, 50);
		int paper = g_rand_int_range(rand, 0, 200);
		bool is_found = has(&cache, filter, paper);

		if (is_large || !known[filter][paper])
			g_assert_cmpint(is_found, ==, known[filter][paper]);
		found += is_found;
		lost += known[filter][paper] && !is_found;
		if (!is_found)
			insert(&cache, filter, paper);
		known[filter][paper] = true;
		g_assert_cmpuint(cache.filters.weight, <=, max_bytes);
	}
	g_assert_cmpuint(found, >, 1000);
	g_assert_cmpint(lost > 0, ==, !is_large);
	match_cache_clear(&cache);
}

static void
test_least_recent(void)
{
	struct match_cache cache;

	match_cache_init(&cache, 2000);
	for (int filter = 0; filter < 100; filter++) {
		insert(&cache, filter, 7);
		/* Used again and again, it stays. */
		g_assert_true(has(&cache, 0, 7));
		g_assert_true(has(&cache, filter, 7));
		/* One goes at a time: the cache is never empty. */
		g_assert_cmpuint(cache.filters.order.length, >=, MIN(filter + 1, 4));
	}
	g_assert_false(has(&cache, 1, 7));
	match_cache_clear(&cache);
}

/* The matches of one filter may exceed the limit: they stay while it is used. */
static void
test_large_filter(void)
{
	struct match_cache cache;

	match_cache_init(&cache, 2000);
	insert(&cache, 1, 1);
	for (int paper = 500; paper > 0; paper--)
		insert(&cache, 2, paper);
	for (int paper = 1; paper <= 500; paper++)
		g_assert_true(has(&cache, 2, paper));
	g_assert_false(has(&cache, 1, 1));
	insert(&cache, 3, 1);
	g_assert_false(has(&cache, 2, 1));
	match_cache_clear(&cache);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_data_func("/match-cache/finds all that was inserted",
	    GSIZE_TO_POINTER(16 * 1024 * 1024), test_random);
	g_test_add_data_func("/match-cache/finds what is right, or nothing",
	    GSIZE_TO_POINTER(200 * 1024), test_random);
	g_test_add_func(
	    "/match-cache/frees the filter used least recently, one at a time",
	    test_least_recent);
	g_test_add_func("/match-cache/one filter may be larger", test_large_filter);
	return g_test_run();
}
