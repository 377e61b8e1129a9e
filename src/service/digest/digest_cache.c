/*
 * digest_cache.c - papers, filters and explanations shared by the digests of a run.
 */
#include "service/digest/digest_cache.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/day.h"
#include "base/zone.h"
#include "model/digest.h"
#include "service/log/event.h"
#include "service/match/match.h"
#include "store/paper/filter_progress.h"
#include "store/paper/matches.h"
#include "store/paper/papers.h"

#define CACHE_PAPERS        2000
#define CACHE_FILTERS       5000
#define CACHE_MATCHES_BYTES (6 * 1024 * 1024)
#define CACHE_ZONES         1000
#define CACHE_SLOTS         10000

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

/* A parsed filter; query is NULL if that failed, rank before its first use. */
struct digest_cache_filter {
	struct lru_entry entry;
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

static void
init_papers(struct digest_cache *cache)
{
	lru_init(&cache->papers, CACHE_PAPERS, free_paper);
	match_cache_init(&cache->matches, CACHE_MATCHES_BYTES);
	cache->listed =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
}

static void
clear_papers(struct digest_cache *cache)
{
	lru_clear(&cache->papers);
	match_cache_clear(&cache->matches);
	g_hash_table_unref(cache->listed);
}

void
digest_cache_init(struct digest_cache *cache, struct store *store, int64_t now)
{
	*cache = (struct digest_cache){.store = store, .now = now};
	day_format(
	    now - DIGEST_ELIGIBLE_DAYS * (int64_t)CLOCK_DAY_S, cache->oldest_day);
	init_papers(cache);
	cache->scorer = scorer_new(store);
	lru_init(&cache->filters, CACHE_FILTERS, free_filter);
	cache->coverage_lines =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_coverage);
	cache->previous = g_hash_table_new_full(
	    g_int64_hash, g_int64_equal, NULL, (GDestroyNotify)candidate_previous_free);
	cache->zones = g_hash_table_new_full(
	    g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_time_zone_unref);
	cache->slots = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

void
digest_cache_clear(struct digest_cache *cache)
{
	clear_papers(cache);
	lru_clear(&cache->filters);
	g_clear_pointer(&cache->corpus, corpus_free);
	scorer_free(cache->scorer);
	g_hash_table_unref(cache->previous);
	g_hash_table_unref(cache->zones);
	g_hash_table_unref(cache->slots);
	g_hash_table_unref(cache->coverage_lines);
}

void
digest_cache_refresh(struct digest_cache *cache, int64_t changes)
{
	if (changes == cache->changes)
		return;
	clear_papers(cache);
	init_papers(cache);
	scorer_forget(cache->scorer);
	cache->changes = changes;
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
	struct digest_cache_paper *paper = lru_find(&cache->papers, seq);
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
	    paper_awaits_lookup(stored->paper) &&
	    match_get_finality(stored, cache->now) == QUERY_FINALITY_NONE;
	set_matching_days(paper, stored);
	set_details(paper, stored, cache->now);
	lru_insert(&cache->papers, paper, seq, 1);
	return paper;
}

static struct digest_cache_filter *
insert_filter(struct digest_cache *cache, int64_t filter_id, const char *canonical)
{
	struct digest_cache_filter *filter = g_new0(struct digest_cache_filter, 1);

	filter->query =
	    query_parse_canonical(canonical, store_get_tokenizer(cache->store), NULL);
	lru_insert(&cache->filters, filter, filter_id, 1);
	return filter;
}

/* @return NULL with the store's error */
static struct digest_cache_filter *
get_filter(struct digest_cache *cache, int64_t filter_id, GError **error)
{
	struct digest_cache_filter *filter = lru_find(&cache->filters, filter_id);
	g_autofree char *canonical = NULL;

	if (filter)
		return filter;
	if (!filter_progress_load_canonical(cache->store, filter_id, &canonical, error))
		return NULL;
	return insert_filter(cache, filter_id, canonical);
}

bool
digest_cache_get_query(struct digest_cache *cache, int64_t filter_id,
    const struct query **query, GError **error)
{
	const struct digest_cache_filter *filter = get_filter(cache, filter_id, error);

	if (!filter)
		return false;
	*query = filter->query;
	return true;
}

/* @return borrowed until digest_cache_refresh(); NULL if it does not exist */
static bool
find_listed(struct digest_cache *cache, int64_t seq, struct listed_paper **paper,
    GError **error)
{
	*paper = g_hash_table_lookup(cache->listed, &seq);
	if (*paper)
		return true;
	if (!papers_find_listed(cache->store, seq, paper, error))
		return false;
	if (*paper)
		g_hash_table_insert(cache->listed, &(*paper)->seq, *paper);
	return true;
}

/* Insert the matches of a filter with papers that are not too old. */
static bool
insert_matches(
    struct digest_cache *cache, int64_t filter_id, const GArray *seqs, GError **error)
{
	g_autoptr(GPtrArray) papers = g_ptr_array_new();

	for (unsigned i = 0; i < seqs->len; i++) {
		struct listed_paper *paper;

		if (!find_listed(cache, g_array_index(seqs, int64_t, i), &paper, error))
			return false;
		if (paper && strcmp(paper->day, cache->oldest_day) >= 0)
			g_ptr_array_add(papers, paper);
	}
	match_cache_insert(&cache->matches, filter_id, papers);
	return true;
}

static bool
load_matches(struct digest_cache *cache, int64_t filter_id, GError **error)
{
	g_autoptr(GArray) seqs = NULL;

	if (match_cache_has(&cache->matches, filter_id))
		return true;
	seqs = matches_load_seqs(cache->store, filter_id, error);
	return seqs && insert_matches(cache, filter_id, seqs, error);
}

/* Filters whose matches are loaded, and those of them that are to be parsed. */
struct loading {
	struct digest_cache *cache;
	GArray *matching; /* of int64_t: ids */
};

static bool
add_matches(void *data, int64_t filter_id, const GArray *seqs, GError **error)
{
	struct loading *loading = data;
	struct digest_cache *cache = loading->cache;

	if (seqs->len && !lru_find(&cache->filters, filter_id))
		g_array_append_val(loading->matching, filter_id);
	return insert_matches(cache, filter_id, seqs, error);
}

static void
add_filter(void *data, int64_t filter_id, const char *canonical)
{
	insert_filter(data, filter_id, canonical);
}

static int
compare_ids(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

/* Sort ids, and remove duplicates. */
static void
sort_ids(GArray *ids)
{
	unsigned count = 0;

	g_array_sort(ids, compare_ids);
	for (unsigned i = 0; i < ids->len; i++)
		if (!count || g_array_index(ids, int64_t, count - 1) !=
		                  g_array_index(ids, int64_t, i))
			g_array_index(ids, int64_t, count++) =
			    g_array_index(ids, int64_t, i);
	g_array_set_size(ids, count);
}

/* Load the matches of filters that are not in the cache, and their texts. */
static bool
load_filters(struct digest_cache *cache, const GPtrArray *filters, GError **error)
{
	g_autoptr(GArray) unknown = g_array_new(FALSE, FALSE, sizeof(int64_t));
	g_autoptr(GArray) matching = g_array_new(FALSE, FALSE, sizeof(int64_t));
	struct loading loading = {cache, matching};

	for (unsigned i = 0; i < filters->len; i++) {
		const struct candidate_filter *filter = filters->pdata[i];

		if (!filter->is_block &&
		    !match_cache_has(&cache->matches, filter->filter_id))
			g_array_append_val(unknown, filter->filter_id);
	}
	sort_ids(unknown);
	return matches_load_each(cache->store, unknown, add_matches, &loading, error) &&
	       filter_progress_load_texts(
	           cache->store, matching, add_filter, cache, error);
}

bool
digest_cache_load_page(struct digest_cache *cache, GPtrArray *all,
    const GPtrArray *filters, GError **error)
{
	bool is_ok = candidates_load_previous(
	    cache->store, (struct candidate_previous **)all->pdata, all->len, error);

	g_hash_table_remove_all(cache->previous);
	for (unsigned i = 0; i < all->len; i++)
		g_hash_table_insert(cache->previous,
		    &((struct candidate_previous *)all->pdata[i])->subscriber_id,
		    all->pdata[i]);
	g_ptr_array_unref(all);
	return is_ok && load_filters(cache, filters, error);
}

struct candidate_previous *
digest_cache_get_previous(const struct digest_cache *cache, int64_t subscriber_id)
{
	return g_hash_table_lookup(cache->previous, &subscriber_id);
}

bool
digest_cache_append_papers(struct digest_cache *cache, int64_t filter_id,
    const char *since_day, GPtrArray *papers, GError **error)
{
	if (!load_matches(cache, filter_id, error))
		return false;
	match_cache_append_papers(&cache->matches, filter_id, since_day, papers);
	return true;
}

static const struct rank *
get_rank(struct digest_cache *cache, struct digest_cache_filter *filter, GError **error)
{
	if (!cache->corpus)
		cache->corpus = corpus_new(cache->store, error);
	if (cache->corpus && !filter->rank)
		filter->rank = corpus_make_rank(cache->corpus, filter->query, error);
	return filter->rank;
}

static void
append_hits(
    GString *text, const struct query *query, const struct query_document *document)
{
	g_autoptr(GPtrArray) hits = query_list_hits(query, document);

	hits_append(text, hits);
}

/* @param hits  gets the hits */
static bool
find_details(struct digest_cache *cache, const struct candidate *candidate,
    GString *hits, struct match_details *details, GError **error)
{
	const struct listed_paper *listed = candidate->paper;
	struct digest_cache_filter *filter =
	    get_filter(cache, candidate->filter->filter_id, error);
	const struct digest_cache_paper *paper;
	const struct rank *rank;
	int64_t age_s;

	*details = (struct match_details){.hits = ""};
	if (!filter || !filter->query)
		return filter != NULL;
	rank = get_rank(cache, filter, error);
	paper = rank ? digest_cache_get_paper(cache, listed->seq, error) : NULL;
	if (!paper)
		return false;
	append_hits(hits, filter->query, paper->document);
	details->hits = hits->str;
	age_s = MAX(cache->now - day_start(listed->day), 0);
	details->score = rank_blend(rank_get_relevance(rank, paper->document),
	    listed->upvotes, age_s / CLOCK_DAY_S);
	return true;
}

bool
digest_cache_get_match(struct digest_cache *cache, const struct candidate *candidate,
    struct match_details *details, GError **error)
{
	int64_t filter_id = candidate->filter->filter_id;
	g_autoptr(GString) hits = NULL;

	if (!load_matches(cache, filter_id, error))
		return false;
	if (match_cache_find_details(
	        &cache->matches, filter_id, candidate->paper, details))
		return true;
	hits = g_string_new(NULL);
	if (!find_details(cache, candidate, hits, details, error))
		return false;
	match_cache_set_details(&cache->matches, filter_id, candidate->paper, details);
	return true;
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
static GTimeZone *
get_zone(struct digest_cache *cache, const struct subscriber *subscriber)
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

/* Most subscribers share time zone and schedule with others. */
const struct digest_cache_slots *
digest_cache_get_slots(struct digest_cache *cache, const struct subscriber *subscriber)
{
	const struct schedule *schedule = &subscriber->schedule;
	struct digest_cache_slots *slots;
	GTimeZone *zone;
	char key[BOUNDS_ZONE_NAME_BYTES + 64];

	g_snprintf(key, sizeof(key), "%u %u %d %s", schedule->frequency,
	    schedule->weekdays, schedule->minute, subscriber->zone);
	slots = g_hash_table_lookup(cache->slots, key);
	if (slots)
		return slots;
	zone = get_zone(cache, subscriber);
	slots = g_new(struct digest_cache_slots, 1);
	schedule_get_latest(schedule, zone, cache->now, &slots->latest);
	schedule_get_next(schedule, zone, cache->now, &slots->next);
	schedule_format_date(cache->now, zone, slots->date);
	if (g_hash_table_size(cache->slots) >= CACHE_SLOTS)
		g_hash_table_remove_all(cache->slots);
	g_hash_table_insert(cache->slots, g_strdup(key), slots);
	return slots;
}
