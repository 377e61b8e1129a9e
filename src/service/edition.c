/*
 * edition.c - from matches to digests: one edition for each person who is due.
 */
#include "service/edition.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/day.h"
#include "base/zone.h"
#include "query/query.h"
#include "service/event.h"
#include "service/match.h"
#include "service/profile.h"
#include "store/backup.h"
#include "store/editions.h"
#include "store/papers.h"
#include "store/people.h"
#include "store/waiting.h"

#define PAGE_PEOPLE   50
#define CACHE_WORDS   50000
#define CACHE_PAPERS  2000
#define CACHE_QUERIES 5000
#define CACHE_ZONES   1000
#define LABEL_CHARS   60
#define FARTHEST_DAYS 15

/* The clock at the last run, and how far back is more than putting it right. */
#define LAST_RUN   "editions"
#define SET_BACK_S CLOCK_HOUR_S

/* What many people's editions share: made once, kept while the run lasts. */
struct press {
	struct store *store;
	int64_t now;
	GHashTable *documents; /* paper seq -> struct ready * */
	GHashTable *queries;   /* filter id -> struct query * */
	GHashTable *words;     /* "filter id/paper seq" -> what it hit, in words */
	GHashTable *zones;     /* name -> GTimeZone *: slow to load, and few */
	bool is_restored;      /* from a backup: some next editions are HELD */
	bool is_asked;         /* all sources were asked since that */
};

/* A paper made ready for the filters of many people. */
struct ready {
	struct query_document *document;
	bool is_bare; /* what arXiv will tell is still waited for */
};

static void
ready_free(void *data)
{
	struct ready *ready = data;

	query_document_free(ready->document);
	g_free(ready);
}

static void
press_init(struct press *press, struct store *store, int64_t now)
{
	*press = (struct press){.store = store, .now = now};
	press->documents =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, ready_free);
	press->queries = g_hash_table_new_full(
	    g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)query_free);
	press->words = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	press->zones = g_hash_table_new_full(
	    g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_time_zone_unref);
}

static void
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

static const struct ready *
get_paper(struct press *press, int64_t seq, GError **error)
{
	struct ready *ready = g_hash_table_lookup(press->documents, &seq);
	pb_auto(stored_paper) stored = NULL;
	struct query_document *document;

	if (ready)
		return ready;
	stored = papers_load(press->store, seq, error);
	if (!stored)
		return NULL;
	document = match_make_document(press->store, stored, press->now, error);
	if (!document)
		return NULL;
	ready = g_new(struct ready, 1);
	ready->document = document;
	ready->is_bare =
	    !stored->paper->categories &&
	    match_get_settlement(stored, press->now) == QUERY_SETTLED_NOTHING;
	remember(press->documents, seq, ready, CACHE_PAPERS);
	return ready;
}

/* @return NULL for a stored filter that this program cannot read */
static const struct query *
get_query(struct press *press, const struct candidate *candidate)
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
explain_as_of(
    const char *day, int64_t now, const struct query *query, const struct ready *paper)
{
	char today[DAY_BYTES];
	char *words;

	query_document_set_today(paper->document, day);
	words = query_explain_text(query, paper->document);
	day_format(now, today);
	query_document_set_today(paper->document, today);
	return words;
}

/* What a filter hit in a paper, for a reader; kept, since many people share it. */
static const char *
get_words(struct press *press, const struct candidate *candidate, GError **error)
{
	g_autofree char *key = g_strdup_printf("%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT,
	    candidate->filter_id, candidate->paper_seq);
	char *words = g_hash_table_lookup(press->words, key);
	const struct ready *paper;
	const struct query *query;

	if (words)
		return words;
	query = get_query(press, candidate);
	if (!query)
		return "";
	paper = get_paper(press, candidate->paper_seq, error);
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

static void
append_label(GString *text, const char *label)
{
	bool is_long = g_utf8_strlen(label, -1) > LABEL_CHARS;
	g_autofree char *part =
	    is_long ? g_utf8_substring(label, 0, LABEL_CHARS - 1) : g_strdup(label);

	g_strdelimit(part, "\t\n", ' ');
	g_string_append(text, part);
	if (is_long)
		g_string_append(text, "\xe2\x80\xa6");
}

/* The candidates of one paper, from *at on, become one item. */
static struct edition_item *
make_item(
    struct press *press, const GPtrArray *candidates, unsigned *at, GError **error)
{
	const struct candidate *first = candidates->pdata[*at];
	struct edition_item *item = g_new0(struct edition_item, 1);
	GString *reasons = g_string_new(NULL);

	item->paper_seq = first->paper_seq;
	item->upvotes = first->upvotes;
	g_strlcpy(item->day, first->day, sizeof(item->day));
	for (; *at < candidates->len; (*at)++) {
		const struct candidate *candidate = candidates->pdata[*at];
		const char *words;

		if (candidate->paper_seq != first->paper_seq)
			break;
		words = get_words(press, candidate, error);
		if (!words) {
			g_string_free(reasons, TRUE);
			edition_item_free(item);
			return NULL;
		}
		if (reasons->len)
			g_string_append_c(reasons, '\n');
		append_label(reasons, candidate->label);
		g_string_append_printf(reasons, "\t%s", words);
	}
	item->reasons = g_string_free(reasons, FALSE);
	return item;
}

static enum digest_shown
shown_at(unsigned position, int max_full)
{
	if (position < (unsigned)max_full)
		return DIGEST_SHOWN_FULL;
	if (position < (unsigned)max_full + BOUNDS_DIGEST_TITLES_MAX)
		return DIGEST_SHOWN_TITLE;
	return DIGEST_SHOWN_COUNT;
}

/*
 * Whether a block of the person takes a paper away, or may yet when arXiv has told of
 * it: then the paper waits for a later digest.  Asked now and not when the paper came,
 * since votes that a block asks for go on changing.
 */
static bool
is_blocked(struct press *press, const GPtrArray *blocks, int64_t paper_seq,
    bool *is_out, GError **error)
{
	const struct ready *paper;

	*is_out = false;
	if (!blocks->len)
		return true;
	paper = get_paper(press, paper_seq, error);
	if (!paper)
		return false;
	for (unsigned i = 0; i < blocks->len && !*is_out; i++) {
		const struct query *query = get_query(press, blocks->pdata[i]);
		enum query_truth truth = QUERY_FALSE;

		if (query)
			truth = query_evaluate(query, paper->document, QUERY_AS_TOLD);
		*is_out =
		    truth == QUERY_TRUE || (truth == QUERY_UNKNOWN && paper->is_bare &&
		                               query_needs_enrichment(query));
	}
	return true;
}

static void
skip_paper(const GPtrArray *candidates, unsigned *at)
{
	int64_t seq = ((const struct candidate *)candidates->pdata[*at])->paper_seq;

	while (*at < candidates->len &&
	       ((const struct candidate *)candidates->pdata[*at])->paper_seq == seq)
		(*at)++;
}

/* What is new for a person. @return of struct edition_item *, in reading order */
static GPtrArray *
make_items(struct press *press, const struct subscriber *subscriber, GError **error)
{
	g_autoptr(GPtrArray) candidates = NULL;
	g_autoptr(GPtrArray) blocks =
	    editions_load_blocks(press->store, subscriber->id, error);
	g_autoptr(GPtrArray) items =
	    g_ptr_array_new_with_free_func((GDestroyNotify)edition_item_free);
	char oldest_day[DAY_BYTES];

	if (!blocks)
		return NULL;
	day_format(
	    press->now - EDITION_ELIGIBLE_DAYS * (int64_t)CLOCK_DAY_S, oldest_day);
	candidates =
	    editions_load_candidates(press->store, subscriber->id, oldest_day, error);
	if (!candidates)
		return NULL;
	for (unsigned at = 0; at < candidates->len;) {
		const struct candidate *first = candidates->pdata[at];
		struct edition_item *item;
		bool is_out;

		if (!is_blocked(press, blocks, first->paper_seq, &is_out, error))
			return NULL;
		if (is_out) {
			skip_paper(candidates, &at);
			continue;
		}
		item = make_item(press, candidates, &at, error);
		if (!item)
			return NULL;
		item->shown = shown_at(items->len, subscriber->max_full);
		g_ptr_array_add(items, item);
	}
	return g_steal_pointer(&items);
}

/* A zone that was removed from the system must not silence anybody. */
static GTimeZone *
get_zone(struct press *press, const struct subscriber *subscriber)
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

/* A slot has one digest, whatever the clock does.  A first edition has the name of
 * its moment: who leaves and returns on one day has two. */
static char *
format_slot(const struct subscriber *subscriber, GTimeZone *zone, int64_t now)
{
	struct rhythm_slot slot;

	if (subscriber->is_first_due)
		return g_strdup_printf("first-%" G_GINT64_FORMAT, now);
	rhythm_get_latest(&subscriber->rhythm, zone, now, &slot);
	return g_strdup(slot.name);
}

/*
 * What a backup knows of was perhaps mailed since, and so was what the sources tell
 * again of the days between: the first edition that can have it all is HELD, and so are
 * those before it.
 */
static bool
hold_restored(struct press *press, const struct subscriber *subscriber,
    const char *slot, bool is_made, GError **error)
{
	bool is_held;

	if (!press->is_restored)
		return true;
	if (!backup_is_next_held(press->store, subscriber->id, &is_held, error))
		return false;
	if (!is_held)
		return true;
	return (!is_made || waiting_hold_slot(press->store, subscriber->id, slot,
	                        "restore", error)) &&
	       (!press->is_asked ||
	           backup_clear_next_held(press->store, subscriber->id, error));
}

/* The edition that is due for one person; in the caller's transaction. */
static bool
make_edition(struct press *press, const struct subscriber *subscriber, int64_t now,
    struct edition_report *report, GError **error)
{
	GTimeZone *zone = get_zone(press, subscriber);
	g_autoptr(GPtrArray) items = NULL;
	g_autofree char *slot = format_slot(subscriber, zone, now);
	struct rhythm_slot next;
	char date[11];
	bool is_made;

	rhythm_format_date(now, zone, date);
	rhythm_get_next(&subscriber->rhythm, zone, now, &next);
	report->due++;
	if (!editions_has_slot(press->store, subscriber->id, slot, &is_made, error))
		return false;
	if (!is_made) {
		items = make_items(press, subscriber, error);
		if (!items)
			return false;
	}
	if (items && items->len) {
		report->digests++;
		report->papers += items->len;
		if (!editions_insert(
		        press->store, subscriber->id, slot, date, items, now, error))
			return false;
	} else {
		report->quiet++;
	}
	if (!hold_restored(press, subscriber, slot, items && items->len > 0, error))
		return false;
	return people_save_due(press->store, subscriber->id, next.at, error);
}

static bool
make_page(struct press *press, int64_t now, struct edition_report *report, bool *is_end,
    GError **error)
{
	struct edition_report sums = *report;
	g_autoptr(GPtrArray) people = NULL;
	pb_transaction transaction = {0};

	if (!store_begin(press->store, &transaction, error))
		return false;
	people = people_load_due(press->store, now, PAGE_PEOPLE, error);
	if (!people)
		return false;
	for (unsigned i = 0; i < people->len; i++) {
		const struct subscriber *subscriber = people->pdata[i];

		if (!make_edition(press, subscriber, now, &sums, error)) {
			g_prefix_error(error,
			    "edition of subscriber %" G_GINT64_FORMAT ": ",
			    subscriber->id);
			return false;
		}
	}
	if (!store_commit(&transaction, error))
		return false;
	*is_end = people->len == 0;
	*report = sums;
	return true;
}

/* The next edition is on the next slot, were it now; a first one is due at once. */
static bool
plan_again(
    struct store *store, struct subscriber *subscriber, int64_t now, GError **error)
{
	g_autoptr(GTimeZone) zone = zone_load_or_utc(subscriber->zone);
	struct rhythm_slot next;

	rhythm_get_next(&subscriber->rhythm, zone, now - 1, &next);
	if (subscriber->state != SUBSCRIBER_ACTIVE ||
	    subscriber->next_due_at <= next.at)
		return true;
	subscriber->next_due_at = subscriber->is_first_due ? now : next.at;
	return people_update(store, subscriber, error);
}

/*
 * No rhythm has a slot further away than this: the clock was wrong when the due
 * time was written, and without this the person would hear nothing until then.
 */
static bool
pull_in(struct store *store, int64_t now, GError **error)
{
	for (;;) {
		g_autoptr(GPtrArray) people = NULL;
		pb_transaction transaction = {0};

		if (!store_begin(store, &transaction, error))
			return false;
		people = people_load_far(store,
		    now + FARTHEST_DAYS * (int64_t)CLOCK_DAY_S, PAGE_PEOPLE, error);
		if (!people)
			return false;
		for (unsigned i = 0; i < people->len; i++)
			if (!plan_again(store, people->pdata[i], now, error))
				return false;
		if (!store_commit(&transaction, error))
			return false;
		if (!people->len)
			return true;
	}
}

/*
 * The clock was set back: it may have been days ahead, and everybody's next edition
 * and what new filters look back to was reckoned by it.  A slot that had its digest
 * meanwhile gets no other, since digests are known by their slots.
 */
static bool
pull_in_all(struct store *store, int64_t now, GError **error)
{
	char today[DAY_BYTES], since[DAY_BYTES];
	int64_t after = 0;

	day_format(now, today);
	day_format(now - EDITION_FIRST_DAYS * (int64_t)CLOCK_DAY_S, since);
	for (;;) {
		g_autoptr(GPtrArray) people = NULL;
		pb_transaction transaction = {0};

		if (!store_begin(store, &transaction, error))
			return false;
		people = people_load_page(store, after, PAGE_PEOPLE, error);
		if (!people)
			return false;
		for (unsigned i = 0; i < people->len; i++) {
			struct subscriber *subscriber = people->pdata[i];

			if (!plan_again(store, subscriber, now, error))
				return false;
			after = subscriber->id;
		}
		if (!people->len && !people_pull_in_since(store, today, since, error))
			return false;
		if (!store_commit(&transaction, error))
			return false;
		if (!people->len)
			return true;
	}
}

/* Where the clock stood the last time, to see when it was set back.  Noted so often
 * that no slot lies between, and not at every run: each would be a commit. */
static bool
note_clock(struct store *store, int64_t now, GError **error)
{
	int64_t last;

	if (!store_load_cursor(store, LAST_RUN, 0, &last, error))
		return false;
	if (last - now > SET_BACK_S) {
		event_log(EVENT_CLOCK_SET_BACK, EVENT_SECONDS("by", last - now));
		if (!pull_in_all(store, now, error))
			return false;
	} else if (now - last < SET_BACK_S / 2) {
		return true;
	}
	return store_save_cursor(store, LAST_RUN, now, error);
}

bool
edition_run(
    struct store *store, int64_t now, struct edition_report *report, GError **error)
{
	struct press press;
	struct backup_past past;
	unsigned woken = 0;
	bool is_end = false;
	bool is_ok =
	    note_clock(store, now, error) && profile_wake(store, now, &woken, error) &&
	    pull_in(store, now, error) && backup_load_past(store, &past, error);

	press_init(&press, store, now);
	press.is_restored = is_ok && past.restored_at >= 0;
	press.is_asked = is_ok && past.asked_at >= past.restored_at;
	while (is_ok && !is_end)
		is_ok = make_page(&press, now, report, &is_end, error);
	press_clear(&press);
	return is_ok;
}

static bool
add_preview_entry(struct store *store, const struct edition_item *item,
    struct digest *digest, GError **error)
{
	pb_auto(stored_paper) stored = papers_load(store, item->paper_seq, error);
	struct digest_entry *entry;

	if (!stored)
		return false;
	entry = digest_entry_new(g_steal_pointer(&stored->paper), item->day);
	entry->upvotes = item->upvotes;
	entry->shown = item->shown;
	edition_parse_reasons(item->reasons, entry->reasons);
	g_ptr_array_add(digest->entries, entry);
	return true;
}

struct digest *
edition_preview(struct store *store, int64_t subscriber_id, int64_t now, GError **error)
{
	pb_auto(subscriber) subscriber = people_load(store, subscriber_id, error);
	pb_auto(digest) digest = NULL;
	g_autoptr(GTimeZone) zone = NULL;
	g_autoptr(GPtrArray) items = NULL;
	struct press press;

	if (!subscriber)
		return NULL;
	press_init(&press, store, now);
	items = make_items(&press, subscriber, error);
	press_clear(&press);
	if (!items)
		return NULL;
	zone = zone_load_or_utc(subscriber->zone);
	digest = digest_new();
	digest->subscriber_id = subscriber_id;
	digest->slot = g_strdup("preview");
	digest->created_at = now;
	digest->recipient = g_strdup(subscriber->address);
	digest->recipient_name = g_strdup(subscriber->name);
	rhythm_format_date(now, zone, digest->date);
	for (unsigned i = 0; i < items->len; i++)
		if (!add_preview_entry(store, items->pdata[i], digest, error))
			return NULL;
	return g_steal_pointer(&digest);
}
