/*
 * press.c - what many people's editions share: papers, filters and words made ready.
 */
#include "service/press.h"

#include "base/day.h"
#include "base/zone.h"
#include "service/event.h"
#include "service/match.h"
#include "store/papers.h"

#define CACHE_WORDS   50000
#define CACHE_PAPERS  2000
#define CACHE_QUERIES 5000
#define CACHE_ZONES   1000

static void
free_paper(void *data)
{
	struct press_paper *paper = data;

	query_document_free(paper->document);
	g_free(paper);
}

void
press_init(struct press *press, struct store *store, int64_t now)
{
	*press = (struct press){.store = store, .now = now};
	press->documents =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_paper);
	press->queries = g_hash_table_new_full(
	    g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)query_free);
	press->words = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	press->zones = g_hash_table_new_full(
	    g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_time_zone_unref);
}

void
press_clear(struct press *press)
{
	g_hash_table_unref(press->documents);
	g_hash_table_unref(press->queries);
	g_hash_table_unref(press->words);
	g_hash_table_unref(press->zones);
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
	paper->document = document;
	paper->is_bare =
	    !stored->paper->categories &&
	    match_get_settlement(stored, press->now) == QUERY_SETTLED_NOTHING;
	note_wanted_days(paper, stored);
	remember(press->documents, seq, paper, CACHE_PAPERS);
	return paper;
}

const struct query *
press_get_query(struct press *press, const struct candidate *candidate)
{
	struct query *query =
	    g_hash_table_lookup(press->queries, &candidate->filter_id);

	if (query)
		return query;
	query = query_parse_canonical(
	    candidate->canonical, store_get_tokenizer(press->store), NULL);
	if (query)
		remember(press->queries, candidate->filter_id, query, CACHE_QUERIES);
	return query;
}

/* What was of the last two days when it was matched is not when it is mailed. */
static char *
explain_as_of(const char *day, int64_t now, const struct query *query,
    const struct press_paper *paper)
{
	char today[DAY_BYTES];
	char *words;

	query_document_set_today(paper->document, day);
	words = query_explain_text(query, paper->document);
	day_format(now, today);
	query_document_set_today(paper->document, today);
	return words;
}

const char *
press_get_words(struct press *press, const struct candidate *candidate, GError **error)
{
	g_autofree char *key = g_strdup_printf("%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT,
	    candidate->filter_id, candidate->paper_seq);
	char *words = g_hash_table_lookup(press->words, key);
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
	words = query_explain_text(query, paper->document);
	if (!*words) {
		g_free(words);
		words = explain_as_of(candidate->day, press->now, query, paper);
	}
	g_strdelimit(words, "\t\n", ' ');
	if (g_hash_table_size(press->words) >= CACHE_WORDS)
		g_hash_table_remove_all(press->words);
	g_hash_table_insert(press->words, g_steal_pointer(&key), words);
	return words;
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
