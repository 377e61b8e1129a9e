/*
 * digest_build.c - builds the digests that are due from matches.
 */
#include "service/digest/digest_build.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "base/msg.h"
#include "base/text.h"
#include "base/token.h"
#include "base/zone.h"
#include "model/digest.h"
#include "model/paper_id.h"
#include "service/collect/coverage.h"
#include "service/digest/digest_cache.h"
#include "service/digest/digest_decide.h"
#include "service/digest/digest_news.h"
#include "service/digest/digest_order.h"
#include "service/digest/digest_overview.h"
#include "service/log/event.h"
#include "service/people/profile.h"
#include "service/state/clock_watch.h"
#include "store/admin/backup.h"
#include "store/core/store.h"
#include "store/mail/digests.h"
#include "store/mail/outbox.h"
#include "store/paper/archive_cache.h"
#include "store/paper/paper_events.h"
#include "store/paper/papers.h"
#include "store/paper/works.h"
#include "store/subscriber/shares.h"
#include "store/subscriber/subscribers.h"

/* ---- repair due times that a wrong clock produced ---- */

#define REPAIR_SUBSCRIBERS 50 /* in one transaction */
#define DUE_DAYS_MAX       15 /* a due time further ahead is wrong */

/* Time of the last run, and the minimum step back that counts. */
#define LAST_RUN   "digests"
#define SET_BACK_S CLOCK_HOUR_S

/* Move a due time that is too late to the next slot; a first digest is due at once. */
static bool
reschedule(
    struct store *store, struct subscriber *subscriber, int64_t now, GError **error)
{
	g_autoptr(GTimeZone) zone = zone_load_or_utc(subscriber->zone);
	struct schedule_slot next;

	schedule_get_next(&subscriber->schedule, zone, now - 1, &next);
	if (subscriber->state != SUBSCRIBER_ACTIVE ||
	    subscriber->next_due_at <= next.at)
		return true;
	subscriber->next_due_at = subscriber->is_first_due ? now : next.at;
	return subscribers_update(store, subscriber, error);
}

/* A batch of subscribers. */
struct repair_batch {
	int64_t now;
	int64_t after; /* the last subscriber of the batch before */
	int64_t last;  /* of this one */
	bool is_end;
};

/* The last batch also repairs the first days of filters. */
static bool
repair_batch(struct store *store, void *data, GError **error)
{
	struct repair_batch *batch = data;
	char today[DAY_BYTES], since[DAY_BYTES];
	g_autoptr(GPtrArray) subscribers =
	    subscribers_load_batch(store, batch->after, REPAIR_SUBSCRIBERS, error);

	for (unsigned i = 0; subscribers && i < subscribers->len; i++) {
		struct subscriber *subscriber = subscribers->pdata[i];

		batch->last = subscriber->id;
		if (!reschedule(store, subscriber, batch->now, error))
			return false;
	}
	if (!subscribers)
		return false;
	batch->is_end = !subscribers->len;
	day_format(batch->now, today);
	day_format(batch->now - DIGEST_FIRST_DAYS * (int64_t)CLOCK_DAY_S, since);
	return !batch->is_end ||
	       subscribers_limit_since_day(store, today, since, error);
}

/*
 * Repair all due times and first days of filters after the clock was set back: it may
 * have been days ahead. A slot that has a digest already gets no second one, since
 * digests are identified by slot.
 */
static bool
repair_all(struct store *store, int64_t now, GError **error)
{
	struct repair_batch batch = {.now = now};

	while (!batch.is_end) {
		if (!store_transact(store, repair_batch, &batch, error))
			return false;
		batch.after = batch.last;
	}
	return true;
}

/*
 * Detect a step back since the last run, or due times that are further away than any
 * slot.  The time is stored often enough that there is no slot in between, but not at
 * every run: each would be a commit.
 */
static bool
repair_due_times(struct store *store, int64_t now, GError **error)
{
	g_autoptr(GPtrArray) far = subscribers_load_due_after(
	    store, now + DUE_DAYS_MAX * (int64_t)CLOCK_DAY_S, 1, error);
	bool is_back;
	int64_t last;

	if (!far || !store_load_cursor(store, LAST_RUN, 0, &last, error))
		return false;
	is_back = last - now > SET_BACK_S;
	if (is_back)
		event_log(EVENT_CLOCK_SET_BACK, EVENT_SECONDS("by", last - now));
	if ((is_back || far->len) && !repair_all(store, now, error))
		return false;
	return (!is_back && now - last < SET_BACK_S / 2) ||
	       store_save_cursor(store, LAST_RUN, now, error);
}

/* ---- digest build ---- */

/*
 * A batch of subscribers: their digests are decided and saved in one transaction, so
 * that nothing that they depend on changes between.  On a server their rows are locked
 * meanwhile, and others build the digests of the next ones.  A file has one writer, so
 * a batch has as many subscribers as the batch before could have decided about in
 * BATCH_US; after twice that time, it saves what is decided.
 */

/* Maximum number of subscribers in one transaction. */
#define BATCH_SUBSCRIBERS 200

/* Minimum number of subscribers in a batch, and the number in the first one; a batch
 * that takes twice BATCH_US ends earlier. */
#define BATCH_SUBSCRIBERS_LEAST 10

/* Time to decide about a batch, µs; loading and saving it take about as long again.  A
 * larger one lets other writers wait longer, a smaller one makes building slower. */
#define BATCH_US 3000

/* @return the index of a candidate's filter in the contents */
static unsigned
find_filter(const struct digest_contents *contents, const struct candidate *match)
{
	unsigned i = 0;

	while (digest_contents_get_filter(contents, i)->number != match->filter->number)
		i++;
	return i;
}

/* Add a reason to the paper that was added last. */
static bool
add_reason(struct digest_cache *cache, const struct candidate *match,
    struct digest_contents *contents, GError **error)
{
	struct match_details details;

	if (!digest_cache_get_match(cache, match, &details, error))
		return false;
	digest_contents_add_reason(
	    contents, find_filter(contents, match), details.hits);
	return true;
}

/* Get the name of another record, as in the line of a paper. */
static char *
format_record(const struct work_record *record)
{
	if (paper_id_is_arxiv(record->id))
		return g_strconcat("arXiv ", record->id, NULL);
	return g_strdup(record->id + (g_str_has_prefix(record->id, "doi:") ? 4 : 0));
}

/*
 * Format what a paper's line says about the other records of its work, before its
 * venue.
 *
 * @param line  set to a new string; NULL: nothing
 */
static bool
format_records(struct digest_cache *cache, const struct digest_item *item, char **line,
    GError **error)
{
	const GPtrArray *records = digest_cache_get_records(cache, item->work, error);
	const struct work_record *own = NULL, *other = NULL;
	g_autofree char *name = NULL;
	pb_auto(msg) msg = NULL;

	for (unsigned i = 0; records && i < records->len; i++)
		if (((const struct work_record *)records->pdata[i])->seq ==
		    item->paper_seq)
			own = records->pdata[i];
	/* The preprint names the article, and the article its preprint. */
	for (unsigned i = 0; own && !other && i < records->len; i++) {
		const struct work_record *record = records->pdata[i];

		if (paper_id_is_preprint(record->id) != paper_id_is_preprint(own->id))
			other = record;
	}
	*line = NULL;
	if (!other)
		return records != NULL;
	name = format_record(other);
	if (paper_id_is_preprint(other->id))
		msg = msg_new(N_("preprint: {record}"), "record", name, NULL);
	else if (other->journal)
		msg = msg_new(N_("now in {journal}"), "journal", other->journal, NULL);
	else
		msg = msg_new(N_("published: {record}"), "record", name, NULL);
	*line = msg_format(msg, cache->po);
	return true;
}

/* Set what a paper's line says: other records of its work, and its venue. */
static bool
set_venue(struct digest_cache *cache, const struct digest_item *item,
    const struct digest_cache_paper *paper, struct digest_contents *contents,
    const char **venue, GError **error)
{
	g_autofree char *records = NULL, *line = NULL;

	if (item->work && !format_records(cache, item, &records, error))
		return false;
	if (records)
		line = g_strconcat(
		    records, paper->venue ? " \xc2\xb7 " : "", paper->venue, NULL);
	if (line || paper->venue)
		*venue = digest_contents_keep(contents, line ? line : paper->venue);
	return true;
}

/* Add the paper of an item, with the filter that it counts for, then the others by
 * number. */
static bool
add_paper(struct digest_cache *cache, const GPtrArray *matches,
    const struct digest_item *item, struct digest_contents *contents, GError **error)
{
	const struct digest_cache_paper *paper =
	    digest_cache_get_paper(cache, item->paper_seq, error);
	struct digest_contents_paper added = {
	    .seq = item->paper_seq,
	    .replacement = item->replacement,
	    .upvotes = item->upvotes,
	    .shown = item->shown,
	};

	if (!paper)
		return false;
	added.upvotes_before = paper->upvotes_before;
	added.stars = paper->stars;
	if (!set_venue(cache, item, paper, contents, &added.venue, error))
		return false;
	g_strlcpy(added.day, item->day, sizeof(added.day));
	g_array_append_val(contents->papers, added);
	if (!add_reason(cache, matches->pdata[item->by], contents, error))
		return false;
	for (unsigned i = item->at; i < item->at + item->finds; i++)
		if (i != item->by &&
		    !add_reason(cache, matches->pdata[i], contents, error))
			return false;
	return true;
}

/* Make the item of a paper from its matches, which start at `at`; without reasons. */
static struct digest_item *
make_item(const GPtrArray *matches, unsigned at)
{
	const struct listed_paper *paper =
	    ((const struct candidate *)matches->pdata[at])->paper;
	struct digest_item *item = g_new0(struct digest_item, 1);

	item->paper_seq = paper->seq;
	item->upvotes = paper->upvotes;
	item->replacement = paper->replacement;
	item->work = paper->work;
	g_strlcpy(item->day, paper->day, sizeof(item->day));
	item->at = at;
	item->finds = matches->len - at;
	return item;
}

/* Get the place of an item's paper among the records of its work; 0: preferred. */
static unsigned
get_place(const GPtrArray *records, const struct digest_item *item)
{
	unsigned i = 0;

	while (i < records->len &&
	       ((const struct work_record *)records->pdata[i])->seq != item->paper_seq)
		i++;
	return i;
}

/*
 * Keep one record of each work: the preferred one.
 *
 * @param items  of struct digest_item *; the others keep their order
 */
static bool
unite_records(struct digest_cache *cache, GPtrArray *items, GError **error)
{
	g_autoptr(GHashTable) best = g_hash_table_new(g_int64_hash, g_int64_equal);

	for (unsigned i = 0; i < items->len; i++) {
		struct digest_item *item = items->pdata[i];
		const struct digest_item *other =
		    g_hash_table_lookup(best, &item->work);
		const GPtrArray *records =
		    item->work ? digest_cache_get_records(cache, item->work, error)
		               : NULL;

		if (item->work && !records)
			return false;
		if (item->work &&
		    (!other || get_place(records, item) < get_place(records, other)))
			g_hash_table_replace(best, &item->work, item);
	}
	for (unsigned i = items->len; i-- > 0;) {
		const struct digest_item *item = items->pdata[i];

		if (item->work && g_hash_table_lookup(best, &item->work) != item)
			g_ptr_array_remove_index(items, i);
	}
	return true;
}

/* Count the candidates of one paper, side by side from `at` on. */
static unsigned
count_matches(const GPtrArray *candidates, unsigned at)
{
	const struct candidate *first = candidates->pdata[at];
	unsigned end = at + 1;

	while (
	    end < candidates->len &&
	    ((const struct candidate *)candidates->pdata[end])->paper == first->paper)
		end++;
	return end - at;
}

/*
 * Choose the papers of a digest.
 *
 * @param matches  gets the candidates of the chosen papers, borrowed
 * @param items    gets struct digest_item *
 */
static bool
choose_papers(struct digest_cache *cache, struct digest_rules *rules,
    const GPtrArray *candidates, GPtrArray *matches, GPtrArray *items, GError **error)
{
	unsigned count;

	for (unsigned at = 0; at < candidates->len; at += count) {
		const struct candidate *first = candidates->pdata[at];
		struct digest_decision decision;
		unsigned from = matches->len;

		count = count_matches(candidates, at);
		if (!digest_decide(cache, rules,
		        &(struct digest_matches){.paper = first->paper,
		            .candidates = candidates->pdata + at,
		            .count = count},
		        matches, &decision, error))
			return false;
		if (decision.outcome == DIGEST_OUTCOME_INCLUDED)
			g_ptr_array_add(items, make_item(matches, from));
	}
	return true;
}

/* An immediate schedule has a slot every hour: no notes for these. */
static bool
wants_note(const struct subscriber *subscriber)
{
	return subscriber->preferences.choice[PREFERENCE_EMPTY] ==
	           PREFERENCE_EMPTY_NOTE &&
	       subscriber->schedule.frequency != SCHEDULE_NOW;
}

static struct digest_style
make_style(const struct subscriber *subscriber)
{
	const int *choice = subscriber->preferences.choice;
	struct digest_style style = {
	    .abstract = (enum preference_abstract)choice[PREFERENCE_ABSTRACT],
	    .format = (enum preference_format)choice[PREFERENCE_FORMAT],
	    .attach = (enum preference_attach)choice[PREFERENCE_ATTACH],
	    .group = (enum preference_group)choice[PREFERENCE_GROUP],
	    .order = (enum preference_order)choice[PREFERENCE_ORDER],
	    .feedback = (enum preference_feedback)choice[PREFERENCE_FEEDBACK],
	};

	g_strlcpy(style.language, subscriber->language, sizeof(style.language));
	return style;
}

/* @param word  learned from answers, which order the papers */
static void
add_liked(
    struct digest_cache *cache, const char *word, struct digest_contents *contents)
{
	pb_auto(msg) notice =
	    msg_new(N_("Papers about {words} come first"), "words", word, NULL);
	g_autofree char *line = msg_format(notice, cache->po);

	contents->notices = digest_contents_keep(contents, line);
}

/*
 * Decide what is in a digest.
 *
 * @param contents  empty; gets the papers, and unless there is nothing to send, what a
 *                  digest says about itself
 * @param is_made   set, whether there is something to send
 */
static bool
make_contents(struct digest_cache *cache, const struct subscriber *subscriber,
    const GPtrArray *filters, struct digest_contents *contents, bool *is_made,
    GError **error)
{
	pb_auto(digest_rules) rules =
	    digest_rules_load(cache, subscriber, filters, error);
	g_autoptr(GPtrArray) candidates =
	    rules ? digest_find_candidates(cache, rules) : NULL;
	g_autoptr(GPtrArray) matches = g_ptr_array_new();
	g_autoptr(GPtrArray) items = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *liked = NULL;
	g_autoptr(GString) events = g_string_new(NULL);
	bool is_due;

	contents->style = make_style(subscriber);
	contents->style.is_failed =
	    cache->coverage && coverage_is_failed(cache->coverage);
	if (!candidates ||
	    !choose_papers(cache, rules, candidates, matches, items, error) ||
	    (!rules->wants_records && !unite_records(cache, items, error)) ||
	    !digest_order_items(cache, subscriber, matches, items, &liked, error) ||
	    !digest_news_find_events(cache, subscriber, events, &is_due, error))
		return false;
	if (liked)
		add_liked(cache, liked, contents);
	contents->style.is_event = events->len > 0;
	*is_made = items->len || is_due || wants_note(subscriber);
	if (*is_made &&
	    !digest_overview_add(cache, subscriber, matches, items, contents, error))
		return false;
	if (events->len)
		digest_news_prepend(contents, events->str);
	for (unsigned i = 0; i < items->len; i++)
		if (!add_paper(cache, matches, items->pdata[i], contents, error))
			return false;
	return true;
}

/*
 * An immediate schedule has at most one digest per hour.  If the last one was late or
 * of another schedule, postpone this one until the hour is over.
 *
 * @param until  set to that time, s; -1: do not postpone
 */
static bool
find_postponement(struct digest_cache *cache, const struct subscriber *subscriber,
    int64_t now, int64_t *until, GError **error)
{
	int64_t made_at;

	*until = -1;
	if (subscriber->schedule.frequency != SCHEDULE_NOW)
		return true;
	if (!digests_load_latest(cache->store, subscriber->id, &made_at, error))
		return false;
	/* A time in the future: the clock was wrong then. */
	if (made_at >= 0 && made_at <= now && made_at + CLOCK_HOUR_S > now)
		*until = made_at + CLOCK_HOUR_S;
	return true;
}

/*
 * Derive the token of the Message-ID from subscriber, slot and papers in any order, so
 * that a digest that is built again is the same message.
 */
static char *
format_message_token(struct digest_cache *cache,
    const struct digest_record *digest_record, GError **error)
{
	g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GString) text = g_string_new(NULL);
	const struct digest_contents *contents = digest_record->contents;

	for (unsigned i = 0; i < contents->papers->len; i++) {
		const struct digest_cache_paper *paper = digest_cache_get_paper(
		    cache, digest_contents_get_paper(contents, i)->seq, error);

		if (!paper)
			return NULL;
		g_ptr_array_add(ids, g_strdup(paper->id));
	}
	g_ptr_array_sort(ids, text_compare_pointers);
	g_string_printf(text, "%" G_GINT64_FORMAT ":%s:", digest_record->subscriber_id,
	    digest_record->slot);
	for (unsigned i = 0; i < ids->len; i++) {
		g_string_append(text, ids->pdata[i]);
		g_string_append_c(text, '\n');
	}
	return token_signer_derive_text(cache->tokens, "message-id", text->str);
}

static void
choose_language(struct digest_cache *cache, const struct subscriber *subscriber)
{
	if (cache->book)
		cache->po = catalog_get_po(cache->book, subscriber->language);
}

/* Changes to save for a subscriber. */
struct plan {
	const struct subscriber *subscriber; /* borrowed */
	int64_t postponed_until;             /* or -1; then the rest is unset */
	struct subscriber_due due;
	struct digest_record digest;   /* unset if not is_made */
	enum outbox_priority priority; /* of its message */
	bool is_made;
	char *slot, *token;
	char *damage; /* why it was postponed, or NULL */
	char date[DAY_BYTES];
	struct digest_contents contents;
	GArray *reported; /* of struct digest_news; or NULL */
};

static void
plan_free(void *data)
{
	struct plan *plan = data;

	g_free(plan->slot);
	g_free(plan->token);
	g_free(plan->damage);
	g_clear_pointer(&plan->reported, g_array_unref);
	digest_contents_clear(&plan->contents);
	g_free(plan);
}

static enum outbox_priority
get_priority(const struct subscriber *subscriber)
{
	if (subscriber->is_first_due)
		return OUTBOX_PRIORITY_FIRST;
	return subscriber->schedule.frequency == SCHEDULE_NOW ? OUTBOX_PRIORITY_NOW
	                                                      : OUTBOX_PRIORITY_DIGEST;
}

/* Plan the digest, or a "nothing new" notice if the subscriber wants one. */
static bool
plan_digest(struct digest_cache *cache, const GPtrArray *filters, struct plan *plan,
    GError **error)
{
	const struct subscriber *subscriber = plan->subscriber;
	const GPtrArray *events;

	choose_language(cache, subscriber);
	digest_contents_init(&plan->contents);
	if (!make_contents(
	        cache, subscriber, filters, &plan->contents, &plan->is_made, error))
		return false;
	if (!plan->is_made)
		return true;
	events = digest_cache_get_events(cache, error);
	if (!events)
		return false;
	if (cache->has_news) {
		plan->reported = g_array_new(FALSE, FALSE, sizeof(struct digest_news));
		if (!digest_news_add(cache->store, subscriber->id, cache->now,
		        cache->po, &plan->contents, plan->reported, error))
			return false;
	}
	plan->digest = (struct digest_record){
	    .subscriber_id = subscriber->id,
	    .slot = plan->slot,
	    .date = plan->date,
	    .created_at = cache->now,
	    .contents = &plan->contents,
	};
	if (events->len)
		plan->digest.event_id =
		    ((const struct paper_event *)events->pdata[events->len - 1])->id;
	plan->token = format_message_token(cache, &plan->digest, error);
	plan->digest.message_token = plan->token;
	return plan->token != NULL;
}

static bool
fill_plan(struct digest_cache *cache, const GPtrArray *filters, struct plan *plan,
    GError **error)
{
	const struct subscriber *subscriber = plan->subscriber;
	const struct digest_cache_slots *slots =
	    digest_cache_get_slots(cache, subscriber);
	const struct candidate_previous *previous =
	    digest_cache_get_previous(cache, subscriber->id);

	if (!find_postponement(
	        cache, subscriber, cache->now, &plan->postponed_until, error))
		return false;
	if (plan->postponed_until >= 0)
		return true;
	plan->slot = g_strdup(previous->slot);
	g_strlcpy(plan->date, slots->date, sizeof(plan->date));
	plan->due = (struct subscriber_due){
	    .id = subscriber->id,
	    .next_at = slots->next.at,
	};
	plan->priority = get_priority(subscriber);
	return previous->has_slot || plan_digest(cache, filters, plan, error);
}

static bool
fail_plan(const struct plan *plan, GError **error)
{
	g_prefix_error(
	    error, "digest of subscriber %" G_GINT64_FORMAT ": ", plan->subscriber->id);
	return false;
}

static void
count_plan(struct digest_build_report *report, const struct plan *plan)
{
	report->due++;
	if (plan->is_made) {
		report->digests++;
		report->papers += plan->contents.papers->len;
	} else {
		report->quiet++;
	}
}

static bool
save_due(struct store *store, const GPtrArray *plans, GError **error)
{
	const struct subscriber_due *dues[BATCH_SUBSCRIBERS];
	unsigned planned = 0;

	for (unsigned i = 0; i < plans->len; i++) {
		const struct plan *plan = plans->pdata[i];

		if (plan->postponed_until < 0)
			dues[planned++] = &plan->due;
		else if (!subscribers_postpone(
		             store, plan->subscriber->id, plan->postponed_until, error))
			return fail_plan(plan, error);
	}
	return subscribers_save_due(store, dues, planned, error);
}

/* Save digests without their messages. */
static bool
save_digests(struct store *store, const GPtrArray *plans,
    struct digest_build_report *report, GError **error)
{
	struct digest_record *digests[BATCH_SUBSCRIBERS];
	unsigned made = 0;

	for (unsigned i = 0; i < plans->len; i++) {
		struct plan *plan = plans->pdata[i];

		if (plan->postponed_until >= 0)
			continue;
		count_plan(report, plan);
		if (plan->is_made)
			digests[made++] = &plan->digest;
		if (plan->reported &&
		    !digest_news_save(store, &plan->digest, plan->reported, error))
			return fail_plan(plan, error);
	}
	return digests_insert(store, digests, made, error);
}

/* Queue the messages of plans that were saved, those of one priority together. */
static bool
queue_messages(struct store *store, const GPtrArray *plans, GError **error)
{
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
	enum outbox_priority priority = OUTBOX_PRIORITY_DIGEST;

	for (unsigned i = 0; i < plans->len; i++) {
		const struct plan *plan = plans->pdata[i];

		if (!plan->digest.id)
			continue;
		if (ids->len && plan->priority != priority) {
			if (!digests_queue(store, ids, priority, error))
				return false;
			g_array_set_size(ids, 0);
		}
		priority = plan->priority;
		g_array_append_val(ids, plan->digest.id);
	}
	return digests_queue(store, ids, priority, error);
}

/*
 * After a restore, papers of the backup and of the days since may have been mailed
 * already: digests are HELD up to and including the first one that can contain them
 * all.
 */
static bool
hold_restored(struct digest_cache *cache, const struct plan *plan, GError **error)
{
	int64_t subscriber_id = plan->subscriber->id;
	bool is_held;

	if (!cache->is_restored)
		return true;
	if (!backup_is_next_held(cache->store, subscriber_id, &is_held, error))
		return false;
	if (!is_held)
		return true;
	return (!plan->is_made || outbox_hold_slot(cache->store, subscriber_id,
	                              plan->slot, "restore", error)) &&
	       (!cache->is_asked ||
	           backup_clear_next_held(cache->store, subscriber_id, error));
}

/*
 * Postpone the digest of a subscriber whose earlier digests cannot be read: their
 * papers would be sent again.
 */
static bool
skip_damaged(
    struct digest_cache *cache, struct plan *plan, GError **problem, GError **error)
{
	if (!g_error_matches(*problem, PB_ERROR, PB_ERROR_DAMAGED))
		return pb_error_forward(error, problem);
	plan->damage = g_strdup((*problem)->message);
	g_clear_error(problem);
	plan->postponed_until = cache->now + CLOCK_HOUR_S;
	return true;
}

/* A batch, and the result of building it. */
struct batch {
	struct digest_cache *cache;
	unsigned size;          /* maximum number of subscribers; then the next one's */
	GPtrArray *subscribers; /* that are due */
	GPtrArray *filters;     /* of struct candidate_filter * */
	GPtrArray *plans;       /* of struct plan *, of the first subscribers */
	const struct digest_build_report *before;
	struct digest_build_report report;
};

static void
batch_clear(struct batch *batch)
{
	g_clear_pointer(&batch->plans, g_ptr_array_unref);
	g_clear_pointer(&batch->filters, g_ptr_array_unref);
	g_clear_pointer(&batch->subscribers, g_ptr_array_unref);
}

static bool
plan_batch(struct batch *batch, GError **error)
{
	struct digest_cache *cache = batch->cache;
	int64_t start_us, took_us = 1;
	g_autoptr(GError) problem = NULL;

	batch_clear(batch);
	/* First: a subscriber that changes after the snapshot and before the lock makes
	 * the transaction run again. */
	batch->subscribers = subscribers_load_due(
	    cache->store, cache->now, cache->through, batch->size, error);
	if (!batch->subscribers)
		return false;
	batch->filters = digest_cache_load_batch(
	    cache, batch->subscribers->pdata, batch->subscribers->len, error);
	if (!batch->filters)
		return false;
	batch->plans = g_ptr_array_new_with_free_func(plan_free);
	start_us = g_get_monotonic_time();
	while (batch->plans->len < batch->subscribers->len && took_us < 2 * BATCH_US) {
		struct plan *plan = g_new0(struct plan, 1);

		plan->subscriber = batch->subscribers->pdata[batch->plans->len];
		g_ptr_array_add(batch->plans, plan);
		if (!fill_plan(cache, batch->filters, plan, &problem) &&
		    !skip_damaged(cache, plan, &problem, error))
			return fail_plan(plan, error);
		took_us = MAX(g_get_monotonic_time() - start_us, 1);
	}
	batch->size = CLAMP(batch->plans->len * BATCH_US / took_us,
	    BATCH_SUBSCRIBERS_LEAST, BATCH_SUBSCRIBERS);
	return true;
}

static bool
save_batch(struct batch *batch, GError **error)
{
	struct store *store = batch->cache->store;
	const GPtrArray *plans = batch->plans;

	batch->report = *batch->before;
	if (!save_due(store, plans, error) ||
	    !save_digests(store, plans, &batch->report, error) ||
	    !queue_messages(store, plans, error))
		return false;
	for (unsigned i = 0; i < plans->len; i++) {
		const struct plan *plan = plans->pdata[i];

		if (plan->postponed_until < 0 &&
		    !hold_restored(batch->cache, plan, error))
			return fail_plan(plan, error);
	}
	return true;
}

/*
 * Decide and save, from one snapshot, with the subscribers locked: no other transaction
 * builds their digests or ends their subscriptions.  On a server filters, matches and
 * papers may change meanwhile, as they may right after the commit.  Papers are not
 * locked: one of several instances that build digests would nearly always hold the
 * lock, and the collector would wait for it without end.
 */
static bool
build_batch(struct store *store, void *data, GError **error)
{
	(void)store;
	return plan_batch(data, error) && save_batch(data, error);
}

static void
log_damage(const GPtrArray *plans)
{
	for (unsigned i = 0; i < plans->len; i++) {
		const struct plan *plan = plans->pdata[i];

		if (plan->damage)
			event_log(EVENT_DIGEST_SKIPPED,
			    EVENT_INT("subscriber", plan->subscriber->id),
			    EVENT_TEXT(plan->damage));
	}
}

/* @param size  maximum number of subscribers; set to that of the next batch */
static bool
make_batch(struct digest_cache *cache, struct digest_build_report *report,
    unsigned *size, bool *is_end, GError **error)
{
	pb_local(batch) batch = {.cache = cache, .size = *size, .before = report};

	if (!store_transact_snapshot(cache->store, build_batch, &batch, error))
		return false;
	*is_end = batch.subscribers->len == 0;
	log_damage(batch.plans);
	*report = batch.report;
	*size = batch.size;
	return true;
}

/* Digests due after a list that is late wait for it; first and immediate ones do not.
 */
static void
set_coverage(struct digest_cache *cache, const struct coverage *coverage,
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
	struct backup_restored_from restore;
	struct clock_jump jump;
	int64_t paused;
	pb_auto(coverage) coverage = NULL;
	unsigned resumed = 0, size = BATCH_SUBSCRIBERS_LEAST;
	bool is_end = false;
	bool is_ok;

	if (!clock_watch_load(store, &jump, error) ||
	    !outbox_load_pause(store, &paused, error))
		return false;
	report->is_paused = paused >= 0;
	if (jump.is_held || report->is_paused)
		return true;
	/* Papers are ordered by word frequencies of the archive. */
	is_ok = archive_cache_refresh(store, error) &&
	        repair_due_times(store, now, error) &&
	        profile_end_pause(store, now, &resumed, error) &&
	        backup_load_restored_from(store, &restore, error);
	digest_cache_init(&cache, store, now);
	is_ok = is_ok && shares_has_news(store, &cache.has_news, error);
	cache.tokens = tokens;
	cache.book = book;
	coverage = is_ok ? coverage_load(store, now, error) : NULL;
	is_ok = is_ok && coverage;
	if (is_ok)
		set_coverage(&cache, coverage, report);
	cache.is_restored = is_ok && restore.restored_at >= 0;
	cache.is_asked = is_ok && restore.fetched_at >= restore.restored_at;
	/* Batches that a power loss undoes are built again: none of them was sent. */
	store_defer_sync(store);
	while (is_ok && !is_end && !store_is_stopped(store)) {
		is_ok = make_batch(&cache, report, &size, &is_end, error);
		store_call_between(store);
		store_yield();
	}
	is_ok &= store_resume_sync(store, is_ok ? error : NULL);
	digest_cache_clear(&cache);
	return is_ok;
}

struct digest *
digest_build_preview(struct store *store, const struct catalog *book,
    int64_t subscriber_id, int64_t now, GError **error)
{
	pb_auto(subscriber) subscriber = subscribers_load(store, subscriber_id, error);
	pb_auto(digest) digest = NULL;
	g_autoptr(GTimeZone) zone = NULL;
	g_autoptr(GPtrArray) filters = NULL;
	pb_auto(coverage) coverage = NULL;
	pb_local(digest_contents) contents = {0};
	struct digest_cache cache;
	bool is_made, is_due;

	if (!subscriber)
		return NULL;
	digest_cache_init(&cache, store, now);
	cache.book = book;
	choose_language(&cache, subscriber);
	cache.coverage = coverage = coverage_load(store, now, error);
	digest_contents_init(&contents);
	if (coverage)
		filters =
		    digest_cache_load_batch(&cache, &(gpointer){subscriber}, 1, error);
	is_made = filters &&
	          make_contents(&cache, subscriber, filters, &contents, &is_due, error);
	if (is_made) {
		digest = digest_new();
		digest_contents_fill_digest(&contents, digest);
	}
	digest_cache_clear(&cache);
	if (!is_made)
		return NULL;
	zone = zone_load_or_utc(subscriber->zone);
	digest->subscriber_id = subscriber_id;
	digest->slot = g_strdup("preview");
	digest->created_at = now;
	digest->recipient = g_strdup(subscriber->address);
	digest->recipient_name = g_strdup(subscriber->name);
	schedule_format_date(now, zone, digest->date);
	for (unsigned i = 0; i < contents.papers->len; i++) {
		pb_auto(stored_paper) stored = papers_load(
		    store, digest_contents_get_paper(&contents, i)->seq, error);

		if (!stored)
			return NULL;
		digest_contents_add_entry(
		    &contents, i, g_steal_pointer(&stored->paper), digest);
	}
	digest->is_note = digest->entries->len == 0 && is_due;
	return g_steal_pointer(&digest);
}
