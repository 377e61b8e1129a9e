/*
 * digest_build.c - from matches to digests: one edition for each person who is due.
 */
#include "service/digest/digest_build.h"
#include "model/digest.h"

#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "base/token.h"
#include "base/zone.h"
#include "query/query.h"
#include "service/collect/coverage.h"
#include "service/digest/clock_repair.h"
#include "service/digest/digest_cache.h"
#include "service/digest/digest_order.h"
#include "service/people/profile.h"
#include "service/state/clock_watch.h"
#include "store/core/backup.h"
#include "store/mail/digests.h"
#include "store/mail/outbox_queue.h"
#include "store/paper/papers.h"
#include "store/subscriber/subscribers.h"

/* Of one commit: people, and about as many papers in their digests. */
#define PAGE_PEOPLE 25
#define PAGE_PAPERS 500
#define LABEL_CHARS 60

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
static struct digest_record_item *
make_item(struct digest_cache *cache, const GPtrArray *candidates, unsigned *at,
    GError **error)
{
	const struct candidate *first = candidates->pdata[*at];
	struct digest_record_item *item = g_new0(struct digest_record_item, 1);
	GString *reasons = g_string_new(NULL);

	item->paper_seq = first->paper_seq;
	item->upvotes = first->upvotes;
	item->replacement = first->replacement;
	item->at = *at;
	g_strlcpy(item->day, first->day, sizeof(item->day));
	for (; *at < candidates->len; (*at)++) {
		const struct candidate *candidate = candidates->pdata[*at];
		const char *words;

		if (candidate->paper_seq != first->paper_seq)
			break;
		words = digest_cache_get_words(cache, candidate, error);
		if (!words) {
			g_string_free(reasons, TRUE);
			digest_record_item_free(item);
			return NULL;
		}
		if (reasons->len)
			g_string_append_c(reasons, '\n');
		append_label(reasons, candidate->label);
		g_string_append_c(reasons, '\t');
		g_string_append(reasons, words);
	}
	item->finds = *at - item->at;
	item->reasons = g_string_free(reasons, FALSE);
	return item;
}

/*
 * Whether a block of the person takes a paper away, or may yet when arXiv has told of
 * it: then the paper waits for a later digest.  Asked now and not when the paper came,
 * since votes that a block asks for go on changing.
 */
static bool
is_blocked(struct digest_cache *cache, const GPtrArray *blocks, int64_t paper_seq,
    bool *is_out, GError **error)
{
	const struct digest_cache_paper *paper;

	*is_out = false;
	if (!blocks->len)
		return true;
	paper = digest_cache_get_paper(cache, paper_seq, error);
	if (!paper)
		return false;
	for (unsigned i = 0; i < blocks->len && !*is_out; i++) {
		const struct query *query =
		    digest_cache_get_query(cache, blocks->pdata[i]);
		enum query_verdict truth = QUERY_FALSE;

		if (query)
			truth =
			    query_evaluate(query, paper->document, QUERY_AS_REPORTED);
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

/*
 * Leave out what is not for the person: cross-lists and new versions that are not
 * wanted.  What was listed as new before the filter was there, and is now only
 * replaced, is none that is new.
 */
static bool
leave_unwanted(struct digest_cache *cache, const struct subscriber *subscriber,
    GPtrArray *candidates, GError **error)
{
	const int *choice = subscriber->preferences.choice;
	bool crosslist = choice[PREFERENCE_CROSSLIST] == PREFERENCE_CROSSLIST_ON;
	bool updates = choice[PREFERENCE_UPDATES] == PREFERENCE_UPDATES_ON;
	unsigned stored = 0;

	for (unsigned i = 0; i < candidates->len; i++) {
		struct candidate *candidate = candidates->pdata[i];
		const struct digest_cache_paper *paper =
		    digest_cache_get_paper(cache, candidate->paper_seq, error);

		if (!paper)
			return false;
		if (strcmp(paper->wanted_day[crosslist][updates],
		        candidate->since_day) < 0)
			continue;
		candidates->pdata[i] = candidates->pdata[stored];
		candidates->pdata[stored++] = candidate;
	}
	g_ptr_array_set_size(candidates, (int)stored);
	return true;
}

/* What is new for a person. @return of struct digest_record_item *, in reading order */
static GPtrArray *
make_items(
    struct digest_cache *cache, const struct subscriber *subscriber, GError **error)
{
	g_autoptr(GPtrArray) candidates = NULL;
	g_autoptr(GPtrArray) blocks =
	    digests_load_blocks(cache->store, subscriber->id, error);
	g_autoptr(GPtrArray) items =
	    g_ptr_array_new_with_free_func((GDestroyNotify)digest_record_item_free);
	char oldest_day[DAY_BYTES];

	if (!blocks)
		return NULL;
	day_format(
	    cache->now - DIGEST_ELIGIBLE_DAYS * (int64_t)CLOCK_DAY_S, oldest_day);
	candidates =
	    digests_load_candidates(cache->store, subscriber->id, oldest_day, error);
	if (!candidates || !leave_unwanted(cache, subscriber, candidates, error))
		return NULL;
	for (unsigned at = 0; at < candidates->len;) {
		const struct candidate *first = candidates->pdata[at];
		struct digest_record_item *item;
		bool is_out;

		if (!is_blocked(cache, blocks, first->paper_seq, &is_out, error))
			return NULL;
		if (is_out) {
			skip_paper(candidates, &at);
			continue;
		}
		item = make_item(cache, candidates, &at, error);
		if (!item)
			return NULL;
		g_ptr_array_add(items, item);
	}
	if (!digest_order_items(cache, subscriber, candidates, items, error))
		return NULL;
	return g_steal_pointer(&items);
}

/*
 * A slot has one digest, whatever the clock does.  A first edition is named by the time
 * from which it is due, that of the consent or of the end of a pause, so that it has
 * the same name when an older copy of the store builds it again; who leaves and returns
 * on one day has two.
 */
static char *
format_slot(const struct subscriber *subscriber, GTimeZone *zone, int64_t now)
{
	struct schedule_slot slot;

	if (subscriber->is_first_due)
		return g_strdup_printf(
		    "first-%" G_GINT64_FORMAT, subscriber->next_due_at);
	schedule_get_latest(&subscriber->rhythm, zone, now, &slot);
	return g_strdup(slot.name);
}

/*
 * What a backup knows of was perhaps mailed since, and so was what the sources tell
 * again of the days between: the first edition that can have it all is HELD, and so are
 * those before it.
 */
static bool
hold_restored(struct digest_cache *cache, const struct subscriber *subscriber,
    const char *slot, bool is_made, GError **error)
{
	bool is_held;

	if (!cache->is_restored)
		return true;
	if (!backup_is_next_held(cache->store, subscriber->id, &is_held, error))
		return false;
	if (!is_held)
		return true;
	return (!is_made || outbox_hold_slot(cache->store, subscriber->id, slot,
	                        "restore", error)) &&
	       (!cache->is_asked ||
	           backup_clear_next_held(cache->store, subscriber->id, error));
}

static struct digest_style
choose_look(const struct subscriber *subscriber)
{
	const int *choice = subscriber->preferences.choice;
	struct digest_style look = {
	    .abstract = (enum preference_abstract)choice[PREFERENCE_ABSTRACT],
	    .format = (enum preference_format)choice[PREFERENCE_FORMAT],
	    .attach = (enum preference_attach)choice[PREFERENCE_ATTACH],
	};

	g_strlcpy(look.language, subscriber->language, sizeof(look.language));
	return look;
}

/* Who wants mail at once would be told every hour that there is nothing. */
static bool
wants_note(const struct subscriber *subscriber)
{
	return subscriber->preferences.choice[PREFERENCE_EMPTY] ==
	           PREFERENCE_EMPTY_NOTE &&
	       subscriber->rhythm.cadence != SCHEDULE_NOW;
}

/*
 * "At once" is at most once an hour, though a digest went out of rhythm: late, or by
 * another rhythm before.  Then this one waits until the hour is over.
 */
static bool
put_off(struct digest_cache *cache, const struct subscriber *subscriber, int64_t now,
    bool *is_put_off, GError **error)
{
	int64_t made_at;

	*is_put_off = false;
	if (subscriber->rhythm.cadence != SCHEDULE_NOW)
		return true;
	if (!digests_load_latest(cache->store, subscriber->id, &made_at, error))
		return false;
	/* After now: the clock was wrong then. */
	if (made_at < 0 || made_at > now || made_at + CLOCK_HOUR_S <= now)
		return true;
	*is_put_off = true;
	return subscribers_put_off(
	    cache->store, subscriber->id, made_at + CLOCK_HOUR_S, error);
}

static int
compare_ids(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * Derive what names the digest in its Message-ID: the same papers for the same slot of
 * the same person are the same message, in whatever order.
 */
static char *
format_message_token(struct digest_cache *cache,
    const struct digest_record *digest_record, GError **error)
{
	g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GString) text = g_string_new(NULL);

	for (unsigned i = 0; i < digest_record->items->len; i++) {
		const struct digest_record_item *item = digest_record->items->pdata[i];
		const struct digest_cache_paper *paper =
		    digest_cache_get_paper(cache, item->paper_seq, error);

		if (!paper)
			return NULL;
		g_ptr_array_add(ids, g_strdup(paper->id));
	}
	g_ptr_array_sort(ids, compare_ids);
	g_string_printf(text, "%" G_GINT64_FORMAT ":%s:", digest_record->subscriber_id,
	    digest_record->slot);
	for (unsigned i = 0; i < ids->len; i++) {
		g_string_append(text, ids->pdata[i]);
		g_string_append_c(text, '\n');
	}
	return token_maker_derive_text(cache->tokens, "message-id", text->str);
}

static void
choose_texts(struct digest_cache *cache, const struct subscriber *subscriber)
{
	if (cache->book)
		cache->texts = catalog_get_texts(cache->book, subscriber->language);
}

/* Of what is new for a person, or of nothing, which is told to who wants it. */
static bool
save_edition(struct digest_cache *cache, const struct subscriber *subscriber,
    struct digest_record *digest_record, struct digest_build_report *report,
    bool *is_made, GError **error)
{
	g_autoptr(GPtrArray) items = NULL;
	g_autofree char *token = NULL;

	choose_texts(cache, subscriber);
	items = make_items(cache, subscriber, error);
	if (!items)
		return false;
	*is_made = items->len > 0 || wants_note(subscriber);
	if (!*is_made)
		return true;
	report->digests++;
	report->papers += items->len;
	digest_record->items = items;
	token = format_message_token(cache, digest_record, error);
	if (!token)
		return false;
	digest_record->message_token = token;
	digest_record->look = choose_look(subscriber);
	digest_record->coverage = digest_cache_get_coverage(cache);
	return digests_insert(cache->store, digest_record, error);
}

/* The edition that is due for one person; in the caller's transaction. */
static bool
make_edition(struct digest_cache *cache, const struct subscriber *subscriber,
    int64_t now, struct digest_build_report *report, GError **error)
{
	GTimeZone *zone = digest_cache_get_zone(cache, subscriber);
	g_autofree char *slot = format_slot(subscriber, zone, now);
	struct digest_record digest_record = {
	    .subscriber_id = subscriber->id, .slot = slot, .created_at = now};
	struct schedule_slot next;
	char date[DAY_BYTES];
	bool is_put_off, has_slot, is_made = false;

	if (!put_off(cache, subscriber, now, &is_put_off, error))
		return false;
	if (is_put_off)
		return true;
	schedule_format_date(now, zone, date);
	digest_record.date = date;
	schedule_get_next(&subscriber->rhythm, zone, now, &next);
	report->due++;
	if (!digests_has_slot(cache->store, subscriber->id, slot, &has_slot, error))
		return false;
	if (!has_slot &&
	    !save_edition(cache, subscriber, &digest_record, report, &is_made, error))
		return false;
	if (!is_made)
		report->quiet++;
	if (!hold_restored(cache, subscriber, slot, is_made, error))
		return false;
	return subscribers_save_due(cache->store, subscriber->id, next.at, error);
}

static bool
make_page(struct digest_cache *cache, int64_t now, struct digest_build_report *report,
    bool *is_end, GError **error)
{
	struct digest_build_report sums = *report;
	g_autoptr(GPtrArray) people = NULL;
	pb_transaction transaction = {0};

	if (!store_begin(cache->store, &transaction, error))
		return false;
	people =
	    subscribers_load_due(cache->store, now, cache->through, PAGE_PEOPLE, error);
	if (!people)
		return false;
	for (unsigned i = 0;
	     i < people->len && sums.papers < report->papers + PAGE_PAPERS; i++) {
		const struct subscriber *subscriber = people->pdata[i];

		if (!make_edition(cache, subscriber, now, &sums, error)) {
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

/* A list that is late is waited for by those who would be due after it; what was
 * promised at once comes at once, and what comes hourly has its next hour. */
static void
hear(struct digest_cache *cache, const struct coverage *coverage,
    struct digest_build_report *report)
{
	cache->coverage = coverage;
	cache->through = cache->now;
	if (coverage->held_from >= 0)
		cache->through = MIN(cache->now, coverage->held_from - 1);
	report->held_until = coverage->held_until;
}

bool
digest_build_run(struct store *store, GBytes *key, const struct catalog *book,
    int64_t now, struct digest_build_report *report, GError **error)
{
	pb_auto(token_signer) tokens = token_signer_new(key);
	struct digest_cache cache;
	struct backup_restored_from past;
	struct clock_jump jump;
	pb_auto(coverage) coverage = NULL;
	unsigned woken = 0;
	bool is_end = false;
	bool is_ok;

	if (!clock_watch_load(store, &jump, error))
		return false;
	if (jump.is_held)
		return true;
	is_ok = clock_repair_run(store, now, error) &&
	        profile_end_pause(store, now, &woken, error) &&
	        backup_load_restored_from(store, &past, error);
	digest_cache_init(&cache, store, now);
	cache.tokens = tokens;
	cache.book = book;
	coverage = is_ok ? coverage_load(store, now, error) : NULL;
	is_ok = is_ok && coverage;
	if (is_ok)
		hear(&cache, coverage, report);
	cache.is_restored = is_ok && past.restored_at >= 0;
	cache.is_asked = is_ok && past.asked_at >= past.restored_at;
	while (is_ok && !is_end && !store_is_stopped(store)) {
		is_ok = make_page(&cache, now, report, &is_end, error);
		store_yield();
	}
	digest_cache_clear(&cache);
	return is_ok;
}

static bool
add_preview_entry(struct store *store, const struct digest_record_item *item,
    struct digest *digest, GError **error)
{
	pb_auto(stored_paper) stored = papers_load(store, item->paper_seq, error);
	struct digest_entry *entry;

	if (!stored)
		return false;
	entry = digest_entry_new(g_steal_pointer(&stored->paper), item->day);
	entry->upvotes = item->upvotes;
	entry->shown = item->shown;
	digests_parse_reasons(item->reasons, entry->reasons);
	g_ptr_array_add(digest->entries, entry);
	return true;
}

struct digest *
digest_build_preview(struct store *store, const struct catalog *book,
    int64_t subscriber_id, int64_t now, GError **error)
{
	pb_auto(subscriber) subscriber = subscribers_load(store, subscriber_id, error);
	pb_auto(digest) digest = NULL;
	g_autoptr(GTimeZone) zone = NULL;
	g_autoptr(GPtrArray) items = NULL;
	pb_auto(coverage) coverage = NULL;
	struct digest_cache cache;

	if (!subscriber)
		return NULL;
	digest_cache_init(&cache, store, now);
	cache.book = book;
	choose_texts(&cache, subscriber);
	items = make_items(&cache, subscriber, error);
	digest_cache_clear(&cache);
	coverage = items ? coverage_load(store, now, error) : NULL;
	if (!coverage)
		return NULL;
	zone = zone_load_or_utc(subscriber->zone);
	digest = digest_new();
	digest->subscriber_id = subscriber_id;
	digest->slot = g_strdup("preview");
	digest->coverage = coverage_format_line(coverage, cache.texts);
	digest->created_at = now;
	digest->recipient = g_strdup(subscriber->address);
	digest->recipient_name = g_strdup(subscriber->name);
	digest->look = choose_look(subscriber);
	schedule_format_date(now, zone, digest->date);
	for (unsigned i = 0; i < items->len; i++)
		if (!add_preview_entry(store, items->pdata[i], digest, error))
			return NULL;
	digest->is_note = !items->len && wants_note(subscriber);
	return g_steal_pointer(&digest);
}
