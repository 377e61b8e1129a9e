/*
 * why_rules.c - the one thing that decided whether a paper is in a digest.
 */
#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "model/digest.h"
#include "service/explain/why_private.h"

static char *
format_time(int64_t at)
{
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(at);

	return g_date_time_format(time, "%Y-%m-%d %H:%M UTC");
}

/* @param sentence  taken */
static void
decide(struct why *why, enum why_outcome outcome, int64_t at, char *sentence)
{
	g_free(why->sentence);
	why->outcome = outcome;
	why->at = at;
	why->sentence = sentence;
}

static const char *
shown_words(enum digest_detail shown)
{
	switch (shown) {
	case DIGEST_DETAIL_FULL:
		return "with its abstract";
	case DIGEST_DETAIL_TITLE:
		return "by its title alone: there were more papers than max";
	case DIGEST_DETAIL_COUNT:
		return "only counted under \"and more\": there were far more papers "
		       "than max";
	}
	return "";
}

/* "; 5 copies may have arrived" @param digest  or NULL */
static char *
format_copies(const struct history_digest *digest)
{
	unsigned copies = digest ? digest->copies : 0;

	if (!copies)
		return g_strdup("");
	return g_strdup_printf(
	    "; %u %s may have arrived", copies, copies == 1 ? "copy" : "copies");
}

static bool
is_sent(const struct why_context *inquiry)
{
	const struct history_delivery *delivery = &inquiry->delivery;
	const struct history_digest *digest = NULL;
	g_autofree char *at = NULL, *copies = NULL;

	if (delivery->at < 0)
		return false;
	at = format_time(delivery->at);
	for (unsigned i = 0; i < inquiry->why->digests->len; i++) {
		const struct history_digest *one = inquiry->why->digests->pdata[i];

		if (one->id == delivery->digest_id)
			digest = one;
	}
	copies = format_copies(digest);
	if (digest && g_strcmp0(digest->message, "SENT") != 0)
		decide(inquiry->why, WHY_READ, delivery->at,
		    g_strdup_printf("the message of digest %" G_GINT64_FORMAT
		                    " %s at %s, and its papers count as read%s",
		        digest->id,
		        g_strcmp0(digest->message, "UNKNOWN") == 0 ? "was given up"
		                                                   : "was cancelled",
		        at, copies));
	else
		decide(inquiry->why, WHY_SENT, delivery->at,
		    g_strdup_printf("it was mailed at %s in digest %" G_GINT64_FORMAT
		                    "%s%s",
		        at, delivery->digest_id, digest ? ", " : "",
		        digest ? shown_words(digest->shown) : ""));
	return true;
}

/* What becomes of a message that has not ended, for a reader. */
static const char *
message_words(const char *state)
{
	static const char *const rows[][2] = {
	    {"NEW", ", about to go out"},
	    {"SENDING", ", on the line"},
	    {"DEFERRED", ", tried again by itself"},
	    {"UNKNOWN", ", sent again by itself"},
	    {"HELD", " until the operator releases it"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (g_strcmp0(state, rows[i][0]) == 0)
			return rows[i][1];
	return "";
}

static bool
is_on_its_way(const struct why_context *inquiry)
{
	const GPtrArray *digests = inquiry->why->digests;
	const struct history_digest *digest =
	    digests->len ? digests->pdata[digests->len - 1] : NULL;
	g_autofree char *next = NULL, *copies = format_copies(digest);

	if (!digest || strcmp(digest->state, "live") != 0)
		return false;
	if (digest->next_try_at >= 0)
		next = format_time(digest->next_try_at);
	decide(inquiry->why, WHY_ON_ITS_WAY, digest->next_try_at,
	    g_strdup_printf("it is in digest %" G_GINT64_FORMAT
	                    ", whose message is %s%s%s%s%s%s%s",
	        digest->id, digest->message ? digest->message : "lost",
	        message_words(digest->message), copies,
	        next ? "; the next try is at " : "", next ? next : "",
	        digest->reply ? "; the mail server said: " : "",
	        digest->reply ? digest->reply : ""));
	return true;
}

static bool
is_stopped_by_history(const struct why_context *inquiry)
{
	if (is_sent(inquiry) || is_on_its_way(inquiry))
		return true;
	if (inquiry->delivery.refusals < 2)
		return false;
	decide(inquiry->why, WHY_REFUSED, -1,
	    g_strdup("messages with it were refused for their content twice, so it is "
	             "left out"));
	return true;
}

/* Papers that were listed before a filter's first day are not for it, come what may. */
static bool
is_before(const struct why *why, const struct why_filter *filter)
{
	return strcmp(why->stored->day, filter->since_day) < 0;
}

static void
decide_before(const struct why_context *inquiry, const struct why_filter *filter)
{
	struct why *why = inquiry->why;
	char subscribed[DAY_BYTES];

	day_format(MAX(inquiry->subscriber->consent_at, 0), subscribed);
	if (inquiry->subscriber->consent_at >= 0 &&
	    strcmp(why->stored->day, subscribed) < 0)
		decide(why, WHY_NOT_SUBSCRIBED, inquiry->subscriber->consent_at,
		    g_strdup_printf("it was listed on %s, more than %d days before "
		                    "the person subscribed, on %s",
		        why->stored->day, DIGEST_FIRST_DAYS, subscribed));
	else
		decide(why, WHY_FILTER_NEWER, -1,
		    g_strdup_printf("it was listed on %s; filter %d is newer and for "
		                    "papers from %s on",
		        why->stored->day, filter->number, filter->since_day));
}

static void
decide_waiting(struct why *why, const struct why_filter *filter)
{
	g_autofree char *until = format_time(filter->waits_until);

	decide(why, WHY_WAITING, filter->waits_until,
	    g_strdup_printf("filter %d waits for %s, until %s at most", filter->number,
	        filter->waits_for_arxiv ? "what arXiv tells of it"
	                                : "votes, links and the like to change",
	        until));
}

/* No filter that it is for has found it, as far as is known. */
static void
decide_not_found(const struct why_context *inquiry)
{
	struct why *why = inquiry->why;
	const struct why_filter *waiting = NULL, *newer = NULL;
	bool fits = false;

	for (unsigned i = 0; i < why->filters->len; i++) {
		const struct why_filter *filter = why->filters->pdata[i];
		bool waits = filter->waits_until >= 0;
		bool is_true = filter->truth == QUERY_TRUE;

		if (filter->is_block)
			continue;
		if (is_before(why, filter)) {
			if (!newer && (filter->is_found || is_true || waits))
				newer = filter;
			continue;
		}
		fits |= is_true;
		if (waits && (!waiting || filter->waits_until < waiting->waits_until))
			waiting = filter;
	}
	if (newer && !fits && !waiting)
		decide_before(inquiry, newer);
	else if (inquiry->is_behind || fits)
		decide(why, WHY_NOT_MATCHED_YET, -1,
		    g_strdup("the filters have not seen it yet; paperboyd does that "
		             "within a minute"));
	else if (waiting)
		decide_waiting(why, waiting);
	else
		decide(why, WHY_NO_CLAUSE, -1,
		    g_strdup("no filter finds it: see the clauses that are false"));
}

static bool
is_blocked(const struct why_context *inquiry)
{
	struct why *why = inquiry->why;

	for (unsigned i = 0; i < why->filters->len; i++) {
		const struct why_filter *filter = why->filters->pdata[i];

		if (!filter->is_block || filter->truth != QUERY_TRUE)
			continue;
		decide(why, WHY_BLOCKED, -1,
		    g_strdup_printf("block %d takes it away", filter->number));
		return true;
	}
	for (unsigned i = 0; i < why->filters->len; i++) {
		const struct why_filter *filter = why->filters->pdata[i];
		g_autofree char *until = NULL;

		if (!filter->is_block || filter->truth != QUERY_UNKNOWN ||
		    filter->waits_until < 0 || !filter->waits_for_arxiv)
			continue;
		until = format_time(filter->waits_until);
		decide(why, WHY_BLOCK_WAITING, filter->waits_until,
		    g_strdup_printf("block %d waits for what arXiv tells of it, until "
		                    "%s at most",
		        filter->number, until));
		return true;
	}
	return false;
}

/* Whether some filter that found it takes what it was listed as on such a day. */
static bool
is_listed_for(const struct why_context *inquiry, bool crosslist, bool updates)
{
	const struct why *why = inquiry->why;
	const struct paper *paper = why->stored->paper;
	const char *day = paper_find_matching_day(paper, crosslist, updates);

	for (unsigned i = 0; day && i < why->filters->len; i++) {
		const struct why_filter *filter = why->filters->pdata[i];

		if (!filter->is_block && filter->is_found &&
		    strcmp(day, filter->since_day) >= 0)
			return true;
	}
	return paper->appearances->len == 0;
}

static bool
is_unwanted(const struct why_context *inquiry)
{
	const int *choice = inquiry->subscriber->preferences.choice;
	bool crosslist = choice[PREFERENCE_CROSSLIST] == PREFERENCE_CROSSLIST_ON;
	bool updates = choice[PREFERENCE_UPDATES] == PREFERENCE_UPDATES_ON;

	if (is_listed_for(inquiry, crosslist, updates))
		return false;
	if (is_listed_for(inquiry, true, updates))
		decide(inquiry->why, WHY_UNWANTED, -1,
		    g_strdup("it was only cross-listed, and the person leaves such "
		             "papers out: crosslist off"));
	else
		decide(inquiry->why, WHY_UNWANTED, -1,
		    g_strdup_printf("it was only replaced by a new version, and the "
		                    "person leaves such papers out: updates %s",
		        updates ? "on, crosslist off" : "off"));
	return true;
}

/* It was found: why is it in no digest yet? */
static void
decide_found(const struct why_context *inquiry)
{
	struct why *why = inquiry->why;
	const struct subscriber *subscriber = inquiry->subscriber;
	char oldest_day[DAY_BYTES];
	g_autofree char *due = NULL;

	if (is_unwanted(inquiry) || is_blocked(inquiry))
		return;
	day_format(
	    inquiry->now - DIGEST_ELIGIBLE_DAYS * (int64_t)CLOCK_DAY_S, oldest_day);
	if (strcmp(why->stored->day, oldest_day) < 0) {
		decide(why, WHY_TOO_OLD, -1,
		    g_strdup_printf("it was last listed on %s, and digests go back %d "
		                    "days",
		        why->stored->day, DIGEST_ELIGIBLE_DAYS));
	} else if (subscriber->state != SUBSCRIBER_ACTIVE) {
		bool has_end = *subscriber->paused_until != '\0';

		decide(why, WHY_NOT_ACTIVE, has_end ? subscriber->next_due_at : -1,
		    g_strdup_printf("the person is %s%s%s: no digests are made",
		        subscriber_state_name(subscriber->state),
		        has_end ? " until " : "", subscriber->paused_until));
	} else {
		due = format_time(MAX(subscriber->next_due_at, 0));
		decide(why, WHY_NEXT, subscriber->next_due_at,
		    g_strdup_printf("it will be in the next digest, at %s", due));
	}
}

/* An earlier digest with it came to nothing: worth a word. */
static void
add_lost_digest(struct why *why)
{
	const struct history_digest *digest = NULL;
	char *sentence;

	for (unsigned i = 0; i < why->digests->len; i++) {
		const struct history_digest *one = why->digests->pdata[i];

		if (g_str_equal(one->state, "failed") ||
		    g_str_equal(one->state, "cancelled"))
			digest = one;
	}
	if (!digest || why->outcome == WHY_SENT || why->outcome == WHY_READ)
		return;
	sentence = g_strdup_printf("%s; digest %" G_GINT64_FORMAT " with it %s%s%s",
	    why->sentence, digest->id,
	    g_str_equal(digest->state, "failed") ? "could not be delivered"
	                                         : "was cancelled",
	    digest->reply ? ": " : "", digest->reply ? digest->reply : "");
	g_free(why->sentence);
	why->sentence = sentence;
}

void
why_rules_run(const struct why_context *inquiry)
{
	struct why *why = inquiry->why;
	bool is_found = false, has_filter = false;

	for (unsigned i = 0; i < why->filters->len; i++) {
		const struct why_filter *filter = why->filters->pdata[i];

		has_filter |= !filter->is_block;
		is_found |=
		    !filter->is_block && filter->is_found && !is_before(why, filter);
	}
	if (is_stopped_by_history(inquiry))
		return;
	if (inquiry->subscriber->state == SUBSCRIBER_GONE)
		decide(why, WHY_GONE, -1, g_strdup("the person has left"));
	else if (!has_filter)
		decide(why, WHY_NO_FILTER, -1, g_strdup("the person has no filter"));
	else if (is_found)
		decide_found(inquiry);
	else
		decide_not_found(inquiry);
	add_lost_digest(why);
}
