/*
 * press.c - what many people's editions share: papers, filters and words made ready.
 */
#include "service/press.h"

#include "base/clock.h"
#include "base/day.h"
#include "base/zone.h"
#include "service/event.h"
#include "service/match.h"
#include "service/search.h"
#include "store/papers.h"

#define CACHE_HITS    50000
#define CACHE_PAPERS  2000
#define CACHE_FILTERS 5000
#define CACHE_ZONES   1000

static void
free_paper(void *data)
{
	struct press_paper *paper = data;

	query_document_free(paper->document);
	g_free(paper->id);
	g_free(paper);
}

/* A filter made ready; how to rank what it finds once that is asked for. */
struct press_filter {
	struct query *query;
	struct rank *rank;
};

static void
free_filter(void *data)
{
	struct press_filter *filter = data;

	rank_free(filter->rank);
	query_free(filter->query);
	g_free(filter);
}

/* What words and scores are of. */
struct press_hit {
	int64_t filter_id;
	int64_t paper_seq;
	const char *const *texts; /* of words: their language */
};

static guint
hash_hit(gconstpointer key)
{
	const struct press_hit *hit = key;

	return (guint)hit->filter_id * 2654435761U ^ (guint)hit->paper_seq;
}

static gboolean
is_hit_equal(gconstpointer a, gconstpointer b)
{
	const struct press_hit *left = a, *right = b;

	return left->filter_id == right->filter_id &&
	       left->paper_seq == right->paper_seq && left->texts == right->texts;
}

static struct press_hit
get_hit(const struct candidate *candidate, const char *const *texts)
{
	return (struct press_hit){candidate->filter_id, candidate->paper_seq, texts};
}

void
press_init(struct press *press, struct store *store, int64_t now)
{
	*press = (struct press){.store = store, .now = now};
	press->documents =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_paper);
	press->filters =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_filter);
	press->words = g_hash_table_new_full(hash_hit, is_hit_equal, g_free, g_free);
	press->scores = g_hash_table_new_full(hash_hit, is_hit_equal, g_free, g_free);
	press->coverage = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	press->zones = g_hash_table_new_full(
	    g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_time_zone_unref);
}

void
press_clear(struct press *press)
{
	g_hash_table_unref(press->documents);
	g_hash_table_unref(press->filters);
	g_hash_table_unref(press->words);
	g_hash_table_unref(press->scores);
	g_hash_table_unref(press->zones);
	g_hash_table_unref(press->coverage);
}

static void
remember(GHashTable *table, int64_t id, gpointer value, unsigned most)
{
	if (g_hash_table_size(table) >= most)
		g_hash_table_remove_all(table);
	g_hash_table_insert(table, g_memdup2(&id, sizeof(id)), value);
}

static void
note_wanted_days(struct press_paper *paper, const struct stored_paper *stored)
{
	for (int i = 0; i < 4; i++) {
		bool crosslist = i & 1, updates = i & 2;
		const char *day = "";

		if (paper_is_wanted(stored->paper, crosslist, updates))
			day = paper_find_wanted_day(stored->paper, crosslist, updates);
		/* Of one that no source lists any more its last day is known. */
		g_strlcpy(paper->wanted_day[crosslist][updates],
		    day ? day : stored->day, DAY_BYTES);
	}
}

const struct press_paper *
press_get_paper(struct press *press, int64_t seq, GError **error)
{
	struct press_paper *paper = g_hash_table_lookup(press->documents, &seq);
	pb_auto(stored_paper) stored = NULL;
	struct query_document *document;

	if (paper)
		return paper;
	stored = papers_load(press->store, seq, error);
	if (!stored)
		return NULL;
	document = match_make_document(press->store, stored, press->now, error);
	if (!document)
		return NULL;
	paper = g_new(struct press_paper, 1);
	paper->id = g_strdup(stored->paper->id);
	paper->document = document;
	paper->is_bare =
	    !stored->paper->categories &&
	    match_get_settlement(stored, press->now) == QUERY_SETTLED_NOTHING;
	note_wanted_days(paper, stored);
	remember(press->documents, seq, paper, CACHE_PAPERS);
	return paper;
}

static struct press_filter *
get_filter(struct press *press, const struct candidate *candidate)
{
	struct press_filter *filter =
	    g_hash_table_lookup(press->filters, &candidate->filter_id);
	struct query *query;

	if (filter)
		return filter;
	query = query_parse_canonical(
	    candidate->canonical, store_get_tokenizer(press->store), NULL);
	if (!query)
		return NULL;
	filter = g_new0(struct press_filter, 1);
	filter->query = query;
	remember(press->filters, candidate->filter_id, filter, CACHE_FILTERS);
	return filter;
}

const struct query *
press_get_query(struct press *press, const struct candidate *candidate)
{
	struct press_filter *filter = get_filter(press, candidate);

	return filter ? filter->query : NULL;
}

/* A full table is emptied. */
static void
remember_hit(GHashTable *table, const struct press_hit *hit, gpointer value)
{
	if (g_hash_table_size(table) >= CACHE_HITS)
		g_hash_table_remove_all(table);
	g_hash_table_insert(table, g_memdup2(hit, sizeof(*hit)), value);
}

static bool
reckon_score(struct press *press, const struct candidate *candidate, double *score,
    GError **error)
{
	struct press_filter *filter = get_filter(press, candidate);
	const struct press_paper *paper;
	int64_t age_s = press->now - day_start(candidate->day);

	*score = 0;
	if (!filter)
		return true;
	if (!filter->rank)
		filter->rank = search_make_rank(press->store, filter->query, error);
	if (!filter->rank)
		return false;
	paper = press_get_paper(press, candidate->paper_seq, error);
	if (!paper)
		return false;
	*score = rank_blend(rank_get_relevance(filter->rank, paper->document),
	    candidate->upvotes, MAX(age_s, 0) / CLOCK_DAY_S);
	return true;
}

bool
press_get_score(struct press *press, const struct candidate *candidate, double *score,
    GError **error)
{
	const struct press_hit hit = get_hit(candidate, NULL);
	const double *known = g_hash_table_lookup(press->scores, &hit);
	double reckoned;

	if (!known) {
		if (!reckon_score(press, candidate, &reckoned, error))
			return false;
		known = g_memdup2(&reckoned, sizeof(reckoned));
		remember_hit(press->scores, &hit, (void *)known);
	}
	*score = *known;
	return true;
}

const char *
press_get_words(struct press *press, const struct candidate *candidate, GError **error)
{
	const struct press_hit hit = get_hit(candidate, press->texts);
	char *words = g_hash_table_lookup(press->words, &hit);
	const struct press_paper *paper;
	const struct query *query;

	if (words)
		return words;
	query = press_get_query(press, candidate);
	if (!query)
		return "";
	paper = press_get_paper(press, candidate->paper_seq, error);
	if (!paper)
		return NULL;
	words = query_explain_text(query, paper->document, press->texts);
	g_strdelimit(words, "\t\n", ' ');
	remember_hit(press->words, &hit, words);
	return words;
}

const char *
press_get_coverage(struct press *press)
{
	char *line = g_hash_table_lookup(press->coverage, press->texts);

	if (line || !press->silence)
		return line;
	line = silence_format_line(press->silence, press->texts);
	g_hash_table_insert(press->coverage, (gpointer)press->texts, line);
	return line;
}

/* A zone that was removed from the system must not silence anybody. */
GTimeZone *
press_get_zone(struct press *press, const struct subscriber *subscriber)
{
	GTimeZone *zone = g_hash_table_lookup(press->zones, subscriber->zone);

	if (zone)
		return zone;
	zone = zone_load(subscriber->zone, NULL);
	if (!zone) {
		/* Once a run, since it is kept. */
		event_log(EVENT_ZONE_GONE, EVENT_WORD("zone", subscriber->zone));
		zone = g_time_zone_new_utc();
	}
	if (g_hash_table_size(press->zones) >= CACHE_ZONES)
		g_hash_table_remove_all(press->zones);
	g_hash_table_insert(press->zones, g_strdup(subscriber->zone), zone);
	return zone;
}
