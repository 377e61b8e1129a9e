/*
 * digest_cache.c - papers, filters and explanations shared by the digests of a run.
 */
#include "service/digest/digest_cache.h"

#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "base/zone.h"
#include "service/log/event.h"
#include "service/match/match.h"
#include "service/match/search.h"
#include "store/mail/digests.h"
#include "store/paper/papers.h"

#define CACHE_HITS    50000
#define CACHE_PAPERS  2000
#define CACHE_FILTERS 5000
#define CACHE_ZONES   1000

static void
free_paper(void *data)
{
	struct digest_cache_paper *paper = data;

	query_document_free(paper->document);
	g_free(paper->id);
	g_free(paper->venue);
	g_free(paper);
}

static void
free_coverage(void *data)
{
	struct digest_cache_coverage *coverage = data;

	g_free(coverage->line);
	g_free(coverage->missing);
	g_free(coverage);
}

/* A parsed filter; rank is NULL before its first use. */
struct digest_cache_filter {
	struct query *query;
	struct rank *rank;
};

static void
free_filter(void *data)
{
	struct digest_cache_filter *filter = data;

	rank_free(filter->rank);
	query_free(filter->query);
	g_free(filter);
}

/* Key of hits and scores. */
struct digest_cache_hit {
	int64_t filter_id;
	int64_t paper_seq;
};

static guint
hash_hit(gconstpointer key)
{
	const struct digest_cache_hit *hit = key;

	return (guint)hit->filter_id * 2654435761U ^ (guint)hit->paper_seq;
}

static gboolean
is_hit_equal(gconstpointer a, gconstpointer b)
{
	const struct digest_cache_hit *left = a, *right = b;

	return left->filter_id == right->filter_id &&
	       left->paper_seq == right->paper_seq;
}

static struct digest_cache_hit
get_hit(const struct candidate *candidate)
{
	return (struct digest_cache_hit){candidate->filter_id, candidate->paper_seq};
}

void
digest_cache_init(struct digest_cache *cache, struct store *store, int64_t now)
{
	*cache = (struct digest_cache){.store = store, .now = now};
	cache->documents =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_paper);
	cache->filters =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_filter);
	cache->hits = g_hash_table_new_full(hash_hit, is_hit_equal, g_free, g_free);
	cache->scores = g_hash_table_new_full(hash_hit, is_hit_equal, g_free, g_free);
	cache->coverage_lines =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_coverage);
	cache->zones = g_hash_table_new_full(
	    g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_time_zone_unref);
}

void
digest_cache_clear(struct digest_cache *cache)
{
	g_hash_table_unref(cache->documents);
	g_hash_table_unref(cache->filters);
	g_hash_table_unref(cache->hits);
	g_hash_table_unref(cache->scores);
	g_hash_table_unref(cache->zones);
	g_hash_table_unref(cache->coverage_lines);
}

static void
insert(GHashTable *table, int64_t id, gpointer value, unsigned max)
{
	if (g_hash_table_size(table) >= max)
		g_hash_table_remove_all(table);
	g_hash_table_insert(table, g_memdup2(&id, sizeof(id)), value);
}

static void
set_matching_days(struct digest_cache_paper *paper, const struct stored_paper *stored)
{
	for (int i = 0; i < 4; i++) {
		bool crosslist = i & 1, updates = i & 2;
		const char *day = "";

		if (paper_matches_preferences(stored->paper, crosslist, updates))
			day =
			    paper_find_matching_day(stored->paper, crosslist, updates);
		/* No source lists it any longer: use its last day. */
		g_strlcpy(paper->matching_day[crosslist][updates],
		    day ? day : stored->day, DAY_BYTES);
	}
}

/* Votes of the day before are known if those of today are. */
static void
set_details(
    struct digest_cache_paper *paper, const struct stored_paper *stored, int64_t now)
{
	const struct paper *from = stored->paper;
	char today[DAY_BYTES];

	day_format(now, today);
	paper->upvotes_before = strcmp(stored->upvotes_day, today) == 0
	                            ? stored->upvotes_before
	                            : PAPER_UNKNOWN;
	paper->stars = from->stars;
	if (from->journal)
		paper->venue = g_strdup(from->journal);
	else if (from->categories && from->categories->len)
		paper->venue = g_strdup(from->categories->pdata[0]);
}

const struct digest_cache_paper *
digest_cache_get_paper(struct digest_cache *cache, int64_t seq, GError **error)
{
	struct digest_cache_paper *paper = g_hash_table_lookup(cache->documents, &seq);
	pb_auto(stored_paper) stored = NULL;
	struct query_document *document;

	if (paper)
		return paper;
	stored = papers_load(cache->store, seq, error);
	if (!stored)
		return NULL;
	document = match_make_document(cache->store, stored, cache->now, error);
	if (!document)
		return NULL;
	paper = g_new0(struct digest_cache_paper, 1);
	paper->id = g_strdup(stored->paper->id);
	paper->document = document;
	paper->awaits_enrichment =
	    !stored->paper->categories &&
	    match_get_finality(stored, cache->now) == QUERY_FINALITY_NONE;
	set_matching_days(paper, stored);
	set_details(paper, stored, cache->now);
	insert(cache->documents, seq, paper, CACHE_PAPERS);
	return paper;
}

static struct digest_cache_filter *
get_filter(struct digest_cache *cache, const struct candidate *candidate)
{
	struct digest_cache_filter *filter =
	    g_hash_table_lookup(cache->filters, &candidate->filter_id);
	struct query *query;

	if (filter)
		return filter;
	query = query_parse_canonical(
	    candidate->canonical, store_get_tokenizer(cache->store), NULL);
	if (!query)
		return NULL;
	filter = g_new0(struct digest_cache_filter, 1);
	filter->query = query;
	insert(cache->filters, candidate->filter_id, filter, CACHE_FILTERS);
	return filter;
}

const struct query *
digest_cache_get_query(struct digest_cache *cache, const struct candidate *candidate)
{
	struct digest_cache_filter *filter = get_filter(cache, candidate);

	return filter ? filter->query : NULL;
}

/* Empties a full table. */
static void
insert_hit(GHashTable *table, const struct digest_cache_hit *hit, gpointer value)
{
	if (g_hash_table_size(table) >= CACHE_HITS)
		g_hash_table_remove_all(table);
	g_hash_table_insert(table, g_memdup2(hit, sizeof(*hit)), value);
}

static bool
compute_score(struct digest_cache *cache, const struct candidate *candidate,
    double *score, GError **error)
{
	struct digest_cache_filter *filter = get_filter(cache, candidate);
	const struct digest_cache_paper *paper;
	int64_t age_s = cache->now - day_start(candidate->day);

	*score = 0;
	if (!filter)
		return true;
	if (!filter->rank)
		filter->rank = search_make_rank(cache->store, filter->query, error);
	if (!filter->rank)
		return false;
	paper = digest_cache_get_paper(cache, candidate->paper_seq, error);
	if (!paper)
		return false;
	*score = rank_blend(rank_get_relevance(filter->rank, paper->document),
	    candidate->upvotes, MAX(age_s, 0) / CLOCK_DAY_S);
	return true;
}

bool
digest_cache_get_score(struct digest_cache *cache, const struct candidate *candidate,
    double *score, GError **error)
{
	const struct digest_cache_hit hit = get_hit(candidate);
	const double *known = g_hash_table_lookup(cache->scores, &hit);
	double computed;

	if (!known) {
		if (!compute_score(cache, candidate, &computed, error))
			return false;
		known = g_memdup2(&computed, sizeof(computed));
		insert_hit(cache->scores, &hit, (void *)known);
	}
	*score = *known;
	return true;
}

const char *
digest_cache_get_hits(
    struct digest_cache *cache, const struct candidate *candidate, GError **error)
{
	const struct digest_cache_hit hit = get_hit(candidate);
	const char *known = g_hash_table_lookup(cache->hits, &hit);
	g_autoptr(GPtrArray) hits = NULL;
	g_autoptr(GString) stored = NULL;
	const struct digest_cache_paper *paper;
	const struct query *query;

	if (known)
		return known;
	query = digest_cache_get_query(cache, candidate);
	if (!query)
		return "";
	paper = digest_cache_get_paper(cache, candidate->paper_seq, error);
	if (!paper)
		return NULL;
	hits = query_list_hits(query, paper->document);
	stored = g_string_new(NULL);
	hits_append(stored, hits);
	known = stored->str;
	insert_hit(cache->hits, &hit, g_string_free(g_steal_pointer(&stored), FALSE));
	return known;
}

const struct digest_cache_coverage *
digest_cache_get_coverage(struct digest_cache *cache, int64_t since, GError **error)
{
	g_autofree char *key = NULL;
	g_autofree char *line = NULL;
	struct digest_cache_coverage *coverage;
	char *missing = NULL, after[DAY_BYTES];

	if (since < 0)
		since = cache->now - DIGEST_FIRST_DAYS * CLOCK_DAY_S;
	day_format(since, after);
	key = g_strdup_printf("%p %s", (const void *)cache->texts, after);
	coverage = g_hash_table_lookup(cache->coverage_lines, key);
	if (coverage)
		return coverage;
	line = cache->coverage ? coverage_format_line(cache->coverage, cache->store,
	                             after, cache->texts, &missing, error)
	                       : g_strdup("");
	if (!line)
		return NULL;
	coverage = g_new0(struct digest_cache_coverage, 1);
	coverage->line = g_steal_pointer(&line);
	coverage->missing = missing ? missing : g_strdup("");
	g_hash_table_insert(cache->coverage_lines, g_steal_pointer(&key), coverage);
	return coverage;
}

/* Digests continue in UTC when the system drops a time zone. */
GTimeZone *
digest_cache_get_zone(struct digest_cache *cache, const struct subscriber *subscriber)
{
	GTimeZone *zone = g_hash_table_lookup(cache->zones, subscriber->zone);

	if (zone)
		return zone;
	zone = zone_load(subscriber->zone, NULL);
	if (!zone) {
		/* Once per run, since UTC is cached. */
		event_log(EVENT_TIMEZONE_MISSING, EVENT_WORD("zone", subscriber->zone));
		zone = g_time_zone_new_utc();
	}
	if (g_hash_table_size(cache->zones) >= CACHE_ZONES)
		g_hash_table_remove_all(cache->zones);
	g_hash_table_insert(cache->zones, g_strdup(subscriber->zone), zone);
	return zone;
}
