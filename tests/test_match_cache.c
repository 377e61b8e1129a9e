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
assert_match(const struct match_details *match, int64_t filter_id, int64_t paper_seq)
{
	g_autofree char *hits = make_hits(filter_id, paper_seq);

	g_assert_true(match->score == get_score(filter_id, paper_seq));
	g_assert_cmpstr(match->hits, ==, hits);
}

/* The papers 0 to 199, of which every filter matches every `step`th. */
struct cases {
	struct listed_paper papers[200];
	unsigned step;
};

static void
init_cases(struct cases *cases, unsigned step)
{
	*cases = (struct cases){.step = step};
	for (int i = 0; i < 200; i++)
		cases->papers[i] = (struct listed_paper){.seq = i,
		    .id = g_strdup_printf("%03d", i),
		    .day = "2026-11-20",
		    .upvotes = i * 7 % 20};
}

static void
clear_cases(struct cases *cases)
{
	for (int i = 0; i < 200; i++)
		g_free((char *)cases->papers[i].id);
}

static void
insert(struct match_cache *cache, struct cases *cases, int64_t filter_id)
{
	g_autoptr(GPtrArray) papers = g_ptr_array_new();

	for (unsigned i = 0; i < 200; i += cases->step)
		g_ptr_array_add(papers, &cases->papers[i]);
	match_cache_insert(cache, filter_id, papers);
}

static void
set(struct match_cache *cache, struct cases *cases, int64_t filter_id, int paper)
{
	g_autofree char *hits = make_hits(filter_id, paper);
	struct match_details details = {get_score(filter_id, paper), hits};

	match_cache_set_details(cache, filter_id, &cases->papers[paper], &details);
	g_assert_true(details.hits != hits);
	assert_match(&details, filter_id, paper);
}

static bool
has(struct match_cache *cache, struct cases *cases, int64_t filter_id, int paper)
{
	struct match_details details;

	if (!match_cache_find_details(
	        cache, filter_id, &cases->papers[paper], &details))
		return false;
	assert_match(&details, filter_id, paper);
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
	struct cases cases;
	bool known[50][200] = {{false}};
	unsigned found = 0, lost = 0;

	init_cases(&cases, 1);
	match_cache_init(&cache, max_bytes);
	for (unsigned i = 0; i < 20000; i++) {
		int filter = g_rand_int_range(rand, 0, 50);
		int paper = g_rand_int_range(rand, 0, 200);
		bool is_found;

		if (!match_cache_has(&cache, filter))
			insert(&cache, &cases, filter);
		is_found = has(&cache, &cases, filter, paper);
		if (is_large || !known[filter][paper])
			g_assert_cmpint(is_found, ==, known[filter][paper]);
		found += is_found;
		lost += known[filter][paper] && !is_found;
		if (!is_found)
			set(&cache, &cases, filter, paper);
		known[filter][paper] = true;
		g_assert_cmpuint(cache.filters.weight, <=, max_bytes);
	}
	g_assert_cmpuint(found, >, 1000);
	g_assert_cmpint(lost > 0, ==, !is_large);
	match_cache_clear(&cache);
	clear_cases(&cases);
}

static void
test_least_recent(void)
{
	struct match_cache cache;
	struct cases cases;

	init_cases(&cases, 100);
	match_cache_init(&cache, 2000);
	for (int filter = 0; filter < 100; filter++) {
		insert(&cache, &cases, filter);
		/* Used again and again, it stays. */
		g_assert_true(match_cache_has(&cache, 0));
		g_assert_true(match_cache_has(&cache, filter));
		/* One goes at a time: the cache is never empty. */
		g_assert_cmpuint(cache.filters.order.length, >=, MIN(filter + 1, 4));
	}
	g_assert_false(match_cache_has(&cache, 1));
	match_cache_clear(&cache);
	clear_cases(&cases);
}

/* The matches of one filter may exceed the limit: they stay while it is used. */
static void
test_large_filter(void)
{
	struct match_cache cache;
	struct cases cases;

	init_cases(&cases, 1);
	match_cache_init(&cache, 2000);
	insert(&cache, &cases, 1);
	insert(&cache, &cases, 2);
	g_assert_false(match_cache_has(&cache, 1));
	for (int paper = 0; paper < 200; paper++)
		set(&cache, &cases, 2, paper);
	for (int paper = 0; paper < 200; paper++)
		g_assert_true(has(&cache, &cases, 2, paper));
	insert(&cache, &cases, 3);
	g_assert_false(match_cache_has(&cache, 2));
	match_cache_clear(&cache);
	clear_cases(&cases);
}

static void
test_days(void)
{
	g_autoptr(GPtrArray) papers = g_ptr_array_new();
	struct match_cache cache;
	struct cases cases;

	init_cases(&cases, 1);
	for (int i = 0; i < 150; i++)
		strcpy(cases.papers[i].day, "2026-11-19");
	match_cache_init(&cache, 2000);
	insert(&cache, &cases, 1);
	match_cache_append_papers(&cache, 1, "2026-11-20", papers);
	g_assert_cmpuint(papers->len, ==, 50);
	match_cache_append_papers(&cache, 1, "2026-11-19", papers);
	g_assert_cmpuint(papers->len, ==, 250);
	for (unsigned i = 51; i < papers->len; i++)
		g_assert_cmpint(
		    listed_paper_compare(papers->pdata[i - 1], papers->pdata[i]), <, 0);
	match_cache_clear(&cache);
	clear_cases(&cases);
}

static void
test_empty(void)
{
	static const int64_t ids[] = {1, 7, 8, 99, (1 << 24) - 1, 1 << 24, INT64_MAX};
	g_autoptr(GPtrArray) papers = g_ptr_array_new();
	struct match_cache cache;

	match_cache_init(&cache, 2000);
	for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
		g_assert_false(match_cache_has(&cache, ids[i]));
		match_cache_insert(&cache, ids[i], papers);
		g_assert_true(match_cache_has(&cache, ids[i]));
		g_assert_false(match_cache_has(&cache, ids[i] - 1) &&
		               (i == 0 || ids[i - 1] != ids[i] - 1));
		match_cache_append_papers(&cache, ids[i], "", papers);
		g_assert_cmpuint(papers->len, ==, 0);
	}
	g_assert_cmpuint(cache.filters.order.length, ==, 2);
	match_cache_clear(&cache);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_data_func("/match-cache/finds all that was inserted",
	    GSIZE_TO_POINTER(16 * 1024 * 1024), test_random);
	g_test_add_data_func("/match-cache/finds what is right, or nothing",
	    GSIZE_TO_POINTER(400 * 1024), test_random);
	g_test_add_func(
	    "/match-cache/frees the filter used least recently, one at a time",
	    test_least_recent);
	g_test_add_func("/match-cache/one filter may be larger", test_large_filter);
	g_test_add_func(
	    "/match-cache/papers are sorted, and none is too old", test_days);
	g_test_add_func("/match-cache/knows filters without matches", test_empty);
	return g_test_run();
}
