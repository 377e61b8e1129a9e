/*
 * digest_cache.c - papers, filters and explanations shared by the digests of a run.
 */
#include "service/digest/digest_cache.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/zone.h"
#include "model/digest.h"
#include "service/log/event.h"
#include "service/match/paper_batch.h"
#include "store/paper/filter_progress.h"
#include "store/paper/matches.h"
#include "store/paper/paper_events.h"
#include "store/paper/papers.h"
#include "store/paper/works.h"

/* A batch of digests that begins with more papers, or more memory for filters, forgets
 * all: larger values need more memory, smaller ones more reading. */
#define CACHE_PAPERS        5000
#define CACHE_FILTERS_BYTES (4 * 1024 * 1024)

/* About what a filter needs, its parsed query if it matches something, and a paper that
 * some match. */
#define FILTER_BYTES 150
#define QUERY_BYTES  1500
#define LISTED_BYTES 150

/* Memory for the documents of papers, bytes: about 230 preprints.  With more, those
 * that were used last are kept. */
#define CACHE_DOCUMENTS_BYTES (4 * 1024 * 1024)

/* About what a document needs, computed from its arrays and not measured: itself, for
 * each byte of title and abstract, and for each author. */
#define DOCUMENT_BYTES        4000
#define DOCUMENT_BYTE_BYTES   8
#define DOCUMENT_AUTHOR_BYTES 250

/* About what malloc() adds to a text. */
#define MALLOC_BYTES 16

/* Number of entries after which a table is emptied. */
#define CACHE_ZONES 1000
#define CACHE_SLOTS 10000

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

/* A paper that a filter matches. */
struct match {
	const struct listed_paper *paper;
	double score;
	char *hits; /* NULL: score and hits are not known */
};

struct digest_cache_filter {
	int64_t id;
	bool is_parsed;      /* if it blocks or matches something */
	struct query *query; /* NULL: not parsed, or it cannot be */
	struct rank *rank;   /* NULL before its first use */
	GArray *matches;     /* of struct match by listed_paper_compare(); or NULL */
};

static void
clear_match(void *data)
{
	g_free(((struct match *)data)->hits);
}

static void
free_filter(void *data)
{
	struct digest_cache_filter *filter = data;

	g_clear_pointer(&filter->matches, g_array_unref);
	rank_free(filter->rank);
	query_free(filter->query);
	g_free(filter);
}

void
digest_cache_init(struct digest_cache *cache, struct store *store, int64_t now)
{
	*cache = (struct digest_cache){.store = store, .now = now};
	day_format(
	    now - DIGEST_ELIGIBLE_DAYS * (int64_t)CLOCK_DAY_S, cache->oldest_day);
	g_queue_init(&cache->documents);
	cache->papers =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, free_paper);
	cache->filters =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, free_filter);
	cache->listed =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	cache->works = g_hash_table_new_full(
	    g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
	cache->scorer = scorer_new(store);
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
	g_hash_table_unref(cache->papers);
	g_hash_table_unref(cache->filters);
	g_hash_table_unref(cache->listed);
	g_hash_table_unref(cache->works);
	g_clear_pointer(&cache->events, g_ptr_array_unref);
	g_clear_pointer(&cache->corpus, corpus_free);
	scorer_free(cache->scorer);
	g_hash_table_unref(cache->previous);
	g_hash_table_unref(cache->zones);
	g_hash_table_unref(cache->slots);
	g_hash_table_unref(cache->coverage_lines);
}

/* Forget papers and matches if others have changed papers, or if there are too many. */
static bool
refresh(struct digest_cache *cache, GError **error)
{
	int64_t changes;

	if (!papers_load_changes(cache->store, &changes, error))
		return false;
	if (changes == cache->changes && cache->filter_bytes <= CACHE_FILTERS_BYTES &&
	    g_hash_table_size(cache->papers) <= CACHE_PAPERS)
		return true;
	/* Its links are in the papers. */
	g_queue_init(&cache->documents);
	cache->document_bytes = 0;
	g_hash_table_remove_all(cache->papers);
	g_hash_table_remove_all(cache->filters);
	g_hash_table_remove_all(cache->listed);
	g_hash_table_remove_all(cache->works);
	g_clear_pointer(&cache->events, g_ptr_array_unref);
	scorer_forget(cache->scorer);
	cache->filter_bytes = 0;
	cache->changes = changes;
	return true;
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

static size_t
estimate_document(const struct paper *paper)
{
	return DOCUMENT_BYTES + paper->authors->len * DOCUMENT_AUTHOR_BYTES +
	       (strlen(paper->title) + strlen(paper->abstract)) * DOCUMENT_BYTE_BYTES;
}

/* Forget the documents that were not used for longest. */
static void
make_room(struct digest_cache *cache, size_t bytes)
{
	while (cache->documents.tail &&
	       cache->document_bytes + bytes > CACHE_DOCUMENTS_BYTES) {
		GList *last = g_queue_pop_tail_link(&cache->documents);
		struct digest_cache_paper *paper = last->data;

		cache->document_bytes -= paper->document_bytes;
		g_clear_pointer(&paper->document, query_document_free);
	}
}

static bool
set_document(struct digest_cache *cache, struct digest_cache_paper *paper,
    const struct stored_paper *stored, GError **error)
{
	paper->document_bytes = estimate_document(stored->paper);
	make_room(cache, paper->document_bytes);
	paper->document =
	    paper_batch_make_document_at(cache->store, stored, cache->now, error);
	if (!paper->document)
		return false;
	cache->document_bytes += paper->document_bytes;
	paper->used.data = paper;
	g_queue_push_head_link(&cache->documents, &paper->used);
	return true;
}

/* A paper is nearly always loaded to evaluate filters: it has its document at first. */
static struct digest_cache_paper *
get_paper(struct digest_cache *cache, int64_t seq, GError **error)
{
	struct digest_cache_paper *paper = g_hash_table_lookup(cache->papers, &seq);
	pb_auto(stored_paper) stored = NULL;

	if (paper)
		return paper;
	stored = papers_load(cache->store, seq, error);
	if (!stored)
		return NULL;
	paper = g_new0(struct digest_cache_paper, 1);
	if (!set_document(cache, paper, stored, error)) {
		free_paper(paper);
		return NULL;
	}
	paper->seq = seq;
	paper->id = g_strdup(stored->paper->id);
	if (paper_batch_get_finality(stored, cache->now) == QUERY_FINALITY_NONE)
		paper->awaited = paper_find_lookups(stored->paper);
	paper->is_old = stored->first_seen_at <
	                cache->now - DIGEST_ELIGIBLE_DAYS * (int64_t)CLOCK_DAY_S;
	set_matching_days(paper, stored);
	set_details(paper, stored, cache->now);
	g_hash_table_insert(cache->papers, &paper->seq, paper);
	return paper;
}

const struct digest_cache_paper *
digest_cache_get_paper(struct digest_cache *cache, int64_t seq, GError **error)
{
	return get_paper(cache, seq, error);
}

const struct query_document *
digest_cache_get_document(struct digest_cache *cache, int64_t seq, GError **error)
{
	struct digest_cache_paper *paper = get_paper(cache, seq, error);
	pb_auto(stored_paper) stored = NULL;

	if (!paper)
		return NULL;
	if (paper->document) {
		g_queue_unlink(&cache->documents, &paper->used);
		g_queue_push_head_link(&cache->documents, &paper->used);
		return paper->document;
	}
	stored = papers_load(cache->store, seq, error);
	if (!stored || !set_document(cache, paper, stored, error))
		return NULL;
	return paper->document;
}

const GPtrArray *
digest_cache_get_records(struct digest_cache *cache, int64_t work, GError **error)
{
	GPtrArray *records = g_hash_table_lookup(cache->works, &work);

	if (records)
		return records;
	records = works_load_records(cache->store, work, error);
	if (records)
		g_hash_table_insert(
		    cache->works, g_memdup2(&work, sizeof(work)), records);
	return records;
}

const GPtrArray *
digest_cache_get_events(struct digest_cache *cache, GError **error)
{
	if (!cache->events)
		cache->events = paper_events_load(cache->store,
		    cache->now - DIGEST_ELIGIBLE_DAYS * (int64_t)CLOCK_DAY_S, error);
	return cache->events;
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

/* Get a filter, which may have no matches and no query yet. */
static struct digest_cache_filter *
get_filter(struct digest_cache *cache, int64_t filter_id)
{
	struct digest_cache_filter *filter =
	    g_hash_table_lookup(cache->filters, &filter_id);

	if (filter)
		return filter;
	filter = g_new0(struct digest_cache_filter, 1);
	filter->id = filter_id;
	g_hash_table_insert(cache->filters, &filter->id, filter);
	cache->filter_bytes += FILTER_BYTES;
	return filter;
}

const struct query *
digest_cache_get_query(struct digest_cache *cache, int64_t filter_id)
{
	return get_filter(cache, filter_id)->query;
}

/* @param paper  set; NULL if it does not exist */
static bool
find_listed(struct digest_cache *cache, int64_t seq, struct listed_paper **paper,
    GError **error)
{
	*paper = g_hash_table_lookup(cache->listed, &seq);
	if (*paper)
		return true;
	if (!papers_find_listed(cache->store, seq, paper, error))
		return false;
	if (!*paper)
		return true;
	g_hash_table_insert(cache->listed, &(*paper)->seq, *paper);
	cache->filter_bytes += LISTED_BYTES;
	return true;
}

static int
compare_matches(const void *a, const void *b)
{
	const struct match *one = a, *other = b;

	return listed_paper_compare(one->paper, other->paper);
}

/* Set the matches of a filter with papers that are not too old. */
static bool
set_matches(
    struct digest_cache *cache, int64_t filter_id, const GArray *seqs, GError **error)
{
	g_autoptr(GArray) matches =
	    g_array_sized_new(FALSE, TRUE, sizeof(struct match), seqs->len);
	struct digest_cache_filter *filter;

	g_array_set_clear_func(matches, clear_match);
	for (unsigned i = 0; i < seqs->len; i++) {
		struct match match = {0};
		struct listed_paper *paper;

		if (!find_listed(cache, g_array_index(seqs, int64_t, i), &paper, error))
			return false;
		match.paper = paper;
		if (paper && strcmp(paper->day, cache->oldest_day) >= 0)
			g_array_append_val(matches, match);
	}
	g_array_sort(matches, compare_matches);
	filter = get_filter(cache, filter_id);
	cache->filter_bytes += matches->len * sizeof(struct match);
	filter->matches = g_steal_pointer(&matches);
	return true;
}

/* Filters that are loaded, and those of them that are to be parsed. */
struct loading {
	struct digest_cache *cache;
	GArray *parsed; /* of int64_t: ids */
};

static bool
add_matches(void *data, int64_t filter_id, const GArray *seqs, GError **error)
{
	struct loading *loading = data;
	struct digest_cache *cache = loading->cache;

	if (seqs->len && !get_filter(cache, filter_id)->is_parsed)
		g_array_append_val(loading->parsed, filter_id);
	return set_matches(cache, filter_id, seqs, error);
}

static bool
add_filter(void *data, int64_t filter_id, const char *canonical, GError **error)
{
	struct digest_cache *cache = data;
	struct digest_cache_filter *filter = get_filter(cache, filter_id);

	(void)error;
	if (filter->is_parsed)
		return true;
	filter->is_parsed = true;
	filter->query =
	    query_parse_canonical(canonical, store_get_tokenizer(cache->store), NULL);
	cache->filter_bytes += QUERY_BYTES;
	return true;
}

/* Load the blocks, and the matches of the other filters, that are not in the cache. */
static bool
load_filters(struct digest_cache *cache, const GPtrArray *filters, GError **error)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
	g_autoptr(GArray) unknown = g_array_new(FALSE, FALSE, sizeof(int64_t));
	g_autoptr(GArray) parsed = g_array_new(FALSE, FALSE, sizeof(int64_t));
	struct loading loading = {cache, parsed};

	for (unsigned i = 0; i < filters->len; i++) {
		const struct candidate_filter *candidate = filters->pdata[i];
		struct digest_cache_filter *filter =
		    get_filter(cache, candidate->filter_id);

		if (candidate->is_block && !filter->is_parsed)
			g_array_append_val(parsed, filter->id);
		else if (!candidate->is_block && !filter->matches &&
		         g_hash_table_add(seen, filter))
			g_array_append_val(unknown, filter->id);
	}
	return matches_load_each(cache->store, unknown, add_matches, &loading, error) &&
	       filter_progress_load_texts(
	           cache->store, parsed, add_filter, cache, error);
}

/*
 * A slot has one digest, whatever the clock does.  A first digest is named after its
 * due time, which a restored backup has too; leaving and returning on one day makes
 * two.
 */
static char *
format_slot(const struct subscriber *subscriber, const struct digest_cache_slots *slots)
{
	if (subscriber->is_first_due)
		return g_strdup_printf(
		    "first-%" G_GINT64_FORMAT, subscriber->next_due_at);
	return g_strdup(slots->latest.name);
}

static bool
load_previous(struct digest_cache *cache, const gpointer *subscribers, unsigned count,
    GError **error)
{
	g_autoptr(GPtrArray) all = g_ptr_array_sized_new(count);

	g_hash_table_remove_all(cache->previous);
	for (unsigned i = 0; i < count; i++) {
		const struct subscriber *subscriber = subscribers[i];
		struct candidate_previous *previous =
		    g_new0(struct candidate_previous, 1);

		previous->subscriber_id = subscriber->id;
		previous->slot =
		    format_slot(subscriber, digest_cache_get_slots(cache, subscriber));
		g_ptr_array_add(all, previous);
		g_hash_table_insert(
		    cache->previous, &previous->subscriber_id, previous);
	}
	return candidates_load_previous(cache->store,
	    (struct candidate_previous **)all->pdata, count, cache->now, error);
}

GPtrArray *
digest_cache_load_batch(struct digest_cache *cache, const gpointer *subscribers,
    unsigned count, GError **error)
{
	g_autoptr(GPtrArray) filters =
	    candidates_load_filters(cache->store, subscribers, count, error);

	return filters && refresh(cache, error) &&
	               load_previous(cache, subscribers, count, error) &&
	               load_filters(cache, filters, error)
	           ? g_steal_pointer(&filters)
	           : NULL;
}

struct candidate_previous *
digest_cache_get_previous(const struct digest_cache *cache, int64_t subscriber_id)
{
	return g_hash_table_lookup(cache->previous, &subscriber_id);
}

void
digest_cache_append_papers(struct digest_cache *cache, int64_t filter_id,
    const char *since_day, GPtrArray *papers)
{
	const GArray *matches = get_filter(cache, filter_id)->matches;

	for (unsigned i = 0; i < matches->len; i++) {
		const struct match *match = &g_array_index(matches, struct match, i);

		if (strcmp(match->paper->day, since_day) >= 0)
			g_ptr_array_add(papers, (gpointer)match->paper);
	}
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

static char *
format_hits(const struct query *query, const struct query_document *document)
{
	g_autoptr(GPtrArray) hits = query_list_hits(query, document);
	g_autoptr(GString) text = g_string_new(NULL);

	hits_append(text, hits);
	/* A copy has no room to grow: there are as many as there are matches. */
	return g_strndup(text->str, text->len);
}

static bool
find_details(struct digest_cache *cache, struct digest_cache_filter *filter,
    struct match *match, GError **error)
{
	const struct query_document *document;
	const struct rank *rank;
	int64_t age_s;

	if (!filter->query) {
		match->hits = g_strdup("");
		return true;
	}
	rank = get_rank(cache, filter, error);
	document =
	    rank ? digest_cache_get_document(cache, match->paper->seq, error) : NULL;
	if (!document)
		return false;
	match->hits = format_hits(filter->query, document);
	cache->filter_bytes += strlen(match->hits) + MALLOC_BYTES;
	age_s = MAX(cache->now - day_start(match->paper->day), 0);
	match->score = rank_blend(rank_get_relevance(rank, document),
	    match->paper->upvotes, age_s / CLOCK_DAY_S);
	return true;
}

bool
digest_cache_get_match(struct digest_cache *cache, const struct candidate *candidate,
    struct match_details *details, GError **error)
{
	struct digest_cache_filter *filter =
	    get_filter(cache, candidate->filter->filter_id);
	const struct match key = {.paper = candidate->paper};
	struct match *match;

	match = bsearch(&key, filter->matches->data, filter->matches->len, sizeof(key),
	    compare_matches);
	if (!match->hits && !find_details(cache, filter, match, error))
		return false;
	*details = (struct match_details){match->score, match->hits};
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
	key = g_strdup_printf("%p %s", (const void *)cache->po, after);
	coverage = g_hash_table_lookup(cache->coverage_lines, key);
	if (coverage)
		return coverage;
	line = cache->coverage ? coverage_format_line(cache->coverage, cache->store,
	                             after, cache->po, &missing, error)
	                       : g_strdup("");
	if (!line)
		return NULL;
	coverage = g_new0(struct digest_cache_coverage, 1);
	coverage->line = g_steal_pointer(&line);
	coverage->missing = missing ? missing : g_strdup("");
	g_hash_table_insert(cache->coverage_lines, g_steal_pointer(&key), coverage);
	return coverage;
}
