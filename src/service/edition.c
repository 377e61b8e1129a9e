/*
 * edition.c - from matches to digests: one edition for each person who is due.
 */
#include "service/edition.h"

#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "base/token.h"
#include "base/zone.h"
#include "query/query.h"
#include "service/arrange.h"
#include "service/clock_watch.h"
#include "service/press.h"
#include "service/profile.h"
#include "service/schedule.h"
#include "service/silence.h"
#include "store/backup.h"
#include "store/editions.h"
#include "store/papers.h"
#include "store/people.h"
#include "store/waiting.h"

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
static struct edition_item *
make_item(
    struct press *press, const GPtrArray *candidates, unsigned *at, GError **error)
{
	const struct candidate *first = candidates->pdata[*at];
	struct edition_item *item = g_new0(struct edition_item, 1);
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
		words = press_get_words(press, candidate, error);
		if (!words) {
			g_string_free(reasons, TRUE);
			edition_item_free(item);
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
is_blocked(struct press *press, const GPtrArray *blocks, int64_t paper_seq,
    bool *is_out, GError **error)
{
	const struct press_paper *paper;

	*is_out = false;
	if (!blocks->len)
		return true;
	paper = press_get_paper(press, paper_seq, error);
	if (!paper)
		return false;
	for (unsigned i = 0; i < blocks->len && !*is_out; i++) {
		const struct query *query = press_get_query(press, blocks->pdata[i]);
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

/*
 * Leave out what is not for the person: cross-lists and new versions that are not
 * wanted.  What was listed as new before the filter was there, and is now only
 * replaced, is none that is new.
 */
static bool
leave_unwanted(struct press *press, const struct subscriber *subscriber,
    GPtrArray *candidates, GError **error)
{
	const int *choice = subscriber->preferences.choice;
	bool crosslist = choice[PREFERENCE_CROSSLIST] == PREFERENCE_CROSSLIST_ON;
	bool updates = choice[PREFERENCE_UPDATES] == PREFERENCE_UPDATES_ON;
	unsigned kept = 0;

	for (unsigned i = 0; i < candidates->len; i++) {
		struct candidate *candidate = candidates->pdata[i];
		const struct press_paper *paper =
		    press_get_paper(press, candidate->paper_seq, error);

		if (!paper)
			return false;
		if (strcmp(paper->wanted_day[crosslist][updates],
		        candidate->since_day) < 0)
			continue;
		candidates->pdata[i] = candidates->pdata[kept];
		candidates->pdata[kept++] = candidate;
	}
	g_ptr_array_set_size(candidates, (int)kept);
	return true;
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
	if (!candidates || !leave_unwanted(press, subscriber, candidates, error))
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
		g_ptr_array_add(items, item);
	}
	if (!arrange_items(press, subscriber, candidates, items, error))
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
	struct rhythm_slot slot;

	if (subscriber->is_first_due)
		return g_strdup_printf(
		    "first-%" G_GINT64_FORMAT, subscriber->next_due_at);
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

static struct digest_look
choose_look(const struct subscriber *subscriber)
{
	const int *choice = subscriber->preferences.choice;
	struct digest_look look = {
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
	return subscriber->preferences.choice[PREFERENCE_QUIET] ==
	           PREFERENCE_QUIET_NOTE &&
	       subscriber->rhythm.cadence != RHYTHM_NOW;
}

/*
 * "At once" is at most once an hour, though a digest went out of rhythm: late, or by
 * another rhythm before.  Then this one waits until the hour is over.
 */
static bool
put_off(struct press *press, const struct subscriber *subscriber, int64_t now,
    bool *is_put_off, GError **error)
{
	int64_t made_at;

	*is_put_off = false;
	if (subscriber->rhythm.cadence != RHYTHM_NOW)
		return true;
	if (!editions_load_latest(press->store, subscriber->id, &made_at, error))
		return false;
	/* After now: the clock was wrong then. */
	if (made_at < 0 || made_at > now || made_at + CLOCK_HOUR_S <= now)
		return true;
	*is_put_off = true;
	return people_put_off(
	    press->store, subscriber->id, made_at + CLOCK_HOUR_S, error);
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
format_message_token(struct press *press, const struct edition *edition, GError **error)
{
	g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GString) text = g_string_new(NULL);

	for (unsigned i = 0; i < edition->items->len; i++) {
		const struct edition_item *item = edition->items->pdata[i];
		const struct press_paper *paper =
		    press_get_paper(press, item->paper_seq, error);

		if (!paper)
			return NULL;
		g_ptr_array_add(ids, g_strdup(paper->id));
	}
	g_ptr_array_sort(ids, compare_ids);
	g_string_printf(
	    text, "%" G_GINT64_FORMAT ":%s:", edition->subscriber_id, edition->slot);
	for (unsigned i = 0; i < ids->len; i++) {
		g_string_append(text, ids->pdata[i]);
		g_string_append_c(text, '\n');
	}
	return token_maker_derive_text(press->tokens, "message-id", text->str);
}

static void
choose_texts(struct press *press, const struct subscriber *subscriber)
{
	if (press->book)
		press->texts = phrasebook_get_texts(press->book, subscriber->language);
}

/* Of what is new for a person, or of nothing, which is told to who wants it. */
static bool
save_edition(struct press *press, const struct subscriber *subscriber,
    struct edition *edition, struct edition_report *report, bool *is_made,
    GError **error)
{
	g_autoptr(GPtrArray) items = NULL;
	g_autofree char *token = NULL;

	choose_texts(press, subscriber);
	items = make_items(press, subscriber, error);
	if (!items)
		return false;
	*is_made = items->len > 0 || wants_note(subscriber);
	if (!*is_made)
		return true;
	report->digests++;
	report->papers += items->len;
	edition->items = items;
	token = format_message_token(press, edition, error);
	if (!token)
		return false;
	edition->message_token = token;
	edition->look = choose_look(subscriber);
	edition->coverage = press_get_coverage(press);
	return editions_insert(press->store, edition, error);
}

/* The edition that is due for one person; in the caller's transaction. */
static bool
make_edition(struct press *press, const struct subscriber *subscriber, int64_t now,
    struct edition_report *report, GError **error)
{
	GTimeZone *zone = press_get_zone(press, subscriber);
	g_autofree char *slot = format_slot(subscriber, zone, now);
	struct edition edition = {
	    .subscriber_id = subscriber->id, .slot = slot, .created_at = now};
	struct rhythm_slot next;
	char date[DAY_BYTES];
	bool is_put_off, has_slot, is_made = false;

	if (!put_off(press, subscriber, now, &is_put_off, error))
		return false;
	if (is_put_off)
		return true;
	rhythm_format_date(now, zone, date);
	edition.date = date;
	rhythm_get_next(&subscriber->rhythm, zone, now, &next);
	report->due++;
	if (!editions_has_slot(press->store, subscriber->id, slot, &has_slot, error))
		return false;
	if (!has_slot &&
	    !save_edition(press, subscriber, &edition, report, &is_made, error))
		return false;
	if (!is_made)
		report->quiet++;
	if (!hold_restored(press, subscriber, slot, is_made, error))
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
	people = people_load_due(press->store, now, press->through, PAGE_PEOPLE, error);
	if (!people)
		return false;
	for (unsigned i = 0;
	     i < people->len && sums.papers < report->papers + PAGE_PAPERS; i++) {
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

/* A list that is late is waited for by those who would be due after it; what was
 * promised at once comes at once, and what comes hourly has its next hour. */
static void
hear(struct press *press, const struct silence *silence, struct edition_report *report)
{
	press->silence = silence;
	press->through = press->now;
	if (silence->held_from >= 0)
		press->through = MIN(press->now, silence->held_from - 1);
	report->held_until = silence->held_until;
}

bool
edition_run(struct store *store, GBytes *key, const struct phrasebook *book,
    int64_t now, struct edition_report *report, GError **error)
{
	pb_auto(token_maker) tokens = token_maker_new(key);
	struct press press;
	struct backup_past past;
	struct clock_jump jump;
	pb_auto(silence) silence = NULL;
	unsigned woken = 0;
	bool is_end = false;
	bool is_ok;

	if (!clock_watch_load(store, &jump, error))
		return false;
	if (jump.is_held)
		return true;
	is_ok = schedule_mend(store, now, error) &&
	        profile_wake(store, now, &woken, error) &&
	        backup_load_past(store, &past, error);
	press_init(&press, store, now);
	press.tokens = tokens;
	press.book = book;
	silence = is_ok ? silence_load(store, now, error) : NULL;
	is_ok = is_ok && silence;
	if (is_ok)
		hear(&press, silence, report);
	press.is_restored = is_ok && past.restored_at >= 0;
	press.is_asked = is_ok && past.asked_at >= past.restored_at;
	while (is_ok && !is_end && !store_is_stopped(store)) {
		is_ok = make_page(&press, now, report, &is_end, error);
		store_let_others();
	}
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
edition_preview(struct store *store, const struct phrasebook *book,
    int64_t subscriber_id, int64_t now, GError **error)
{
	pb_auto(subscriber) subscriber = people_load(store, subscriber_id, error);
	pb_auto(digest) digest = NULL;
	g_autoptr(GTimeZone) zone = NULL;
	g_autoptr(GPtrArray) items = NULL;
	pb_auto(silence) silence = NULL;
	struct press press;

	if (!subscriber)
		return NULL;
	press_init(&press, store, now);
	press.book = book;
	choose_texts(&press, subscriber);
	items = make_items(&press, subscriber, error);
	press_clear(&press);
	silence = items ? silence_load(store, now, error) : NULL;
	if (!silence)
		return NULL;
	zone = zone_load_or_utc(subscriber->zone);
	digest = digest_new();
	digest->subscriber_id = subscriber_id;
	digest->slot = g_strdup("preview");
	digest->coverage = silence_format_line(silence, press.texts);
	digest->created_at = now;
	digest->recipient = g_strdup(subscriber->address);
	digest->recipient_name = g_strdup(subscriber->name);
	digest->look = choose_look(subscriber);
	rhythm_format_date(now, zone, digest->date);
	for (unsigned i = 0; i < items->len; i++)
		if (!add_preview_entry(store, items->pdata[i], digest, error))
			return NULL;
	digest->is_note = !items->len && wants_note(subscriber);
	return g_steal_pointer(&digest);
}
