/*
 * why.c - why a paper is, or is not, in somebody's digest.
 */
#include "service/why.h"

#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "base/error.h"
#include "mail/address.h"
#include "service/edition.h"
#include "service/match.h"
#include "store/history.h"
#include "store/matches.h"
#include "store/people.h"

static const char *const outcome_names[] = {
    [WHY_SENT] = "sent",
    [WHY_READ] = "read",
    [WHY_ON_ITS_WAY] = "on-its-way",
    [WHY_REFUSED] = "refused",
    [WHY_GONE] = "gone",
    [WHY_NO_FILTER] = "no-filter",
    [WHY_NOT_MATCHED_YET] = "not-matched-yet",
    [WHY_NO_CLAUSE] = "no-clause",
    [WHY_WAITING] = "waiting",
    [WHY_NOT_SUBSCRIBED] = "not-subscribed",
    [WHY_FILTER_NEWER] = "filter-newer",
    [WHY_UNWANTED] = "unwanted",
    [WHY_BLOCKED] = "blocked",
    [WHY_BLOCK_WAITING] = "block-waiting",
    [WHY_TOO_OLD] = "too-old",
    [WHY_NOT_ACTIVE] = "not-active",
    [WHY_NEXT] = "next",
};

/* What is known when the outcome is sought. */
struct inquiry {
	struct why *why;
	const struct subscriber *subscriber;
	struct history_delivery delivery;
	bool is_behind; /* a filter has not seen the paper yet */
	int64_t now;
};

const char *
why_outcome_name(enum why_outcome outcome)
{
	return outcome_names[outcome];
}

char *
why_clean_id(const char *text)
{
	static const char *const links[] = {"/papers/", "/abs/", "/pdf/"};
	bool has_name = g_ascii_strncasecmp(text, "arxiv:", 6) == 0;
	g_autoptr(GRegex) version =
	    g_regex_new("^(\\d{4}\\.\\d{4,5})v\\d+$", 0, 0, NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(links); i++) {
		const char *place = strstr(text, "://") ? strstr(text, links[i]) : NULL;

		if (place)
			text = place + strlen(links[i]);
	}
	return g_regex_replace(
	    version, has_name ? text + 6 : text, -1, 0, "\\1", 0, NULL);
}

const char *
why_truth_name(enum query_truth truth)
{
	static const char *const names[] = {
	    [QUERY_FALSE] = "false",
	    [QUERY_UNKNOWN] = "unknown",
	    [QUERY_TRUE] = "true",
	};

	return names[truth];
}

void
why_filter_free(struct why_filter *filter)
{
	if (!filter)
		return;
	g_free(filter->label);
	g_free(filter->canonical);
	g_clear_pointer(&filter->steps, g_ptr_array_unref);
	g_free(filter);
}

void
why_free(struct why *why)
{
	if (!why)
		return;
	stored_paper_free(why->stored);
	g_clear_pointer(&why->listings, g_ptr_array_unref);
	g_clear_pointer(&why->filters, g_ptr_array_unref);
	g_clear_pointer(&why->digests, g_ptr_array_unref);
	g_free(why->sentence);
	g_free(why);
}

/* What a filter says of the paper, whoever's it is. */
static void
explain(struct why_filter *filter, const struct query *query,
    const struct query_document *document, const struct stored_paper *stored,
    int64_t now)
{
	bool is_final = match_get_settlement(stored, now) == QUERY_SETTLED_FINALLY;

	filter->is_readable = true;
	filter->truth = query_evaluate(query, document, QUERY_AS_TOLD);
	filter->steps = query_explain_tree(query, document);
	if (filter->truth == QUERY_TRUE || is_final || !query_is_changing(query) ||
	    query_evaluate(query, document, QUERY_MAY_CHANGE) == QUERY_FALSE)
		return;
	filter->waits_until = match_get_due(query, stored, now);
	filter->waits_for_arxiv =
	    filter->waits_until == stored->first_seen_at + PAPERS_ENRICH_S;
}

static struct why_filter *
new_filter(void)
{
	struct why_filter *filter = g_new0(struct why_filter, 1);

	filter->found_at = -1;
	filter->waits_until = -1;
	return filter;
}

struct why_filter *
why_explain(struct store *store, const char *text, const struct stored_paper *stored,
    int64_t now, GPtrArray **warnings, struct query_problem *problem, GError **error)
{
	/* Without a paper, one that has nothing: its truth is of no interest. */
	struct paper none = {.id = (char *)"",
	    .title = (char *)"",
	    .abstract = (char *)"",
	    .authors = g_ptr_array_new(),
	    .appearances = g_array_new(FALSE, FALSE, sizeof(struct appearance))};
	const struct stored_paper nothing = {.paper = &none, .day = "1970-01-01"};
	pb_auto(query) query =
	    query_parse(text, store_get_tokenizer(store), warnings, problem, error);
	pb_auto(query_document) document = NULL;
	struct why_filter *filter = NULL;

	if (!stored)
		stored = &nothing;
	if (query)
		document = match_make_document(store, stored, now, error);
	if (document) {
		filter = new_filter();
		filter->label = g_strdup(text);
		filter->canonical = query_format(query);
		explain(filter, query, document, stored, now);
	}
	g_ptr_array_unref(none.authors);
	g_array_unref(none.appearances);
	return filter;
}

/* One filter of the person, with what matching made of the paper. */
static struct why_filter *
ask_filter(struct store *store, const struct subscription *subscription,
    const struct query_document *document, const struct stored_paper *stored,
    int64_t now, GError **error)
{
	pb_auto(query) query = query_parse_canonical(
	    subscription->canonical, store_get_tokenizer(store), NULL);
	pb_auto(why_filter) filter = new_filter();
	struct stored_match match;

	filter->number = subscription->number;
	filter->label =
	    g_strdup(subscription->name ? subscription->name : subscription->text);
	filter->canonical = g_strdup(subscription->canonical);
	filter->is_block = subscription->is_block;
	g_strlcpy(
	    filter->since_day, subscription->since_day, sizeof(filter->since_day));
	if (query)
		explain(filter, query, document, stored, now);
	if (!matches_find(store, subscription->filter_id, stored->seq, &match, error))
		return NULL;
	filter->is_found = match.is_yes;
	filter->found_at = match.is_yes ? match.decided_at : -1;
	if (match.is_yes)
		filter->waits_until = -1;
	return g_steal_pointer(&filter);
}

static bool
ask_filters(struct store *store, struct inquiry *inquiry, GError **error)
{
	struct why *why = inquiry->why;
	g_autoptr(GPtrArray) own =
	    people_load_subscriptions(store, inquiry->subscriber->id, error);
	pb_auto(query_document) document =
	    own ? match_make_document(store, why->stored, inquiry->now, error) : NULL;
	int64_t through;

	if (!document)
		return false;
	why->filters = g_ptr_array_new_with_free_func((GDestroyNotify)why_filter_free);
	for (unsigned i = 0; i < own->len; i++) {
		const struct subscription *subscription = own->pdata[i];
		struct why_filter *filter = ask_filter(
		    store, subscription, document, why->stored, inquiry->now, error);

		if (!filter)
			return false;
		g_ptr_array_add(why->filters, filter);
		if (!matches_load_through(
		        store, subscription->filter_id, &through, error))
			return false;
		inquiry->is_behind |=
		    !subscription->is_block && through < why->stored->revision;
	}
	return true;
}

/* ---- the outcome ------------------------------------------------------------ */

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
shown_words(enum digest_shown shown)
{
	switch (shown) {
	case DIGEST_SHOWN_FULL:
		return "with its abstract";
	case DIGEST_SHOWN_TITLE:
		return "by its title alone: there were more papers than max";
	case DIGEST_SHOWN_COUNT:
		return "only counted under \"and more\": there were far more papers "
		       "than max";
	}
	return "";
}

static bool
is_sent(const struct inquiry *inquiry)
{
	const struct history_delivery *delivery = &inquiry->delivery;
	const struct history_digest *digest = NULL;
	g_autofree char *at = NULL;

	if (delivery->at < 0)
		return false;
	at = format_time(delivery->at);
	for (unsigned i = 0; i < inquiry->why->digests->len; i++) {
		const struct history_digest *one = inquiry->why->digests->pdata[i];

		if (one->id == delivery->digest_id)
			digest = one;
	}
	if (digest && g_strcmp0(digest->message, "SENT") != 0)
		decide(inquiry->why, WHY_READ, delivery->at,
		    g_strdup_printf("the message of digest %" G_GINT64_FORMAT
		                    " %s at %s, and its papers count as read",
		        digest->id,
		        g_strcmp0(digest->message, "UNKNOWN") == 0
		            ? "may have arrived, was given up"
		            : "was cancelled",
		        at));
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
	    {"UNKNOWN", ": it may have arrived, and is sent again"},
	    {"HELD", " until the operator releases it"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (g_strcmp0(state, rows[i][0]) == 0)
			return rows[i][1];
	return "";
}

static bool
is_on_its_way(const struct inquiry *inquiry)
{
	const GPtrArray *digests = inquiry->why->digests;
	const struct history_digest *digest =
	    digests->len ? digests->pdata[digests->len - 1] : NULL;
	g_autofree char *next = NULL;

	if (!digest || strcmp(digest->state, "live") != 0)
		return false;
	if (digest->next_try_at >= 0)
		next = format_time(digest->next_try_at);
	decide(inquiry->why, WHY_ON_ITS_WAY, digest->next_try_at,
	    g_strdup_printf("it is in digest %" G_GINT64_FORMAT
	                    ", whose message is %s%s%s%s%s%s",
	        digest->id, digest->message ? digest->message : "lost",
	        message_words(digest->message), next ? "; the next try is at " : "",
	        next ? next : "", digest->reply ? "; the mail server said: " : "",
	        digest->reply ? digest->reply : ""));
	return true;
}

static bool
is_stopped_by_history(const struct inquiry *inquiry)
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
decide_before(const struct inquiry *inquiry, const struct why_filter *filter)
{
	struct why *why = inquiry->why;
	char subscribed[DAY_BYTES];

	day_format(MAX(inquiry->subscriber->consent_at, 0), subscribed);
	if (inquiry->subscriber->consent_at >= 0 &&
	    strcmp(why->stored->day, subscribed) < 0)
		decide(why, WHY_NOT_SUBSCRIBED, inquiry->subscriber->consent_at,
		    g_strdup_printf("it was listed on %s, more than %d days before "
		                    "the person subscribed, on %s",
		        why->stored->day, EDITION_FIRST_DAYS, subscribed));
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
decide_not_found(const struct inquiry *inquiry)
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
is_blocked(const struct inquiry *inquiry)
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
is_listed_for(const struct inquiry *inquiry, bool crosslist, bool updates)
{
	const struct why *why = inquiry->why;
	const struct paper *paper = why->stored->paper;
	const char *day = paper_find_wanted_day(paper, crosslist, updates);

	for (unsigned i = 0; day && i < why->filters->len; i++) {
		const struct why_filter *filter = why->filters->pdata[i];

		if (!filter->is_block && filter->is_found &&
		    strcmp(day, filter->since_day) >= 0)
			return true;
	}
	return paper->appearances->len == 0;
}

static bool
is_unwanted(const struct inquiry *inquiry)
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
decide_found(const struct inquiry *inquiry)
{
	struct why *why = inquiry->why;
	const struct subscriber *subscriber = inquiry->subscriber;
	char oldest_day[DAY_BYTES];
	g_autofree char *due = NULL;

	if (is_unwanted(inquiry) || is_blocked(inquiry))
		return;
	day_format(
	    inquiry->now - EDITION_ELIGIBLE_DAYS * (int64_t)CLOCK_DAY_S, oldest_day);
	if (strcmp(why->stored->day, oldest_day) < 0) {
		decide(why, WHY_TOO_OLD, -1,
		    g_strdup_printf("it was last listed on %s, and digests go back %d "
		                    "days",
		        why->stored->day, EDITION_ELIGIBLE_DAYS));
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

static void
find_outcome(const struct inquiry *inquiry)
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

/* Whoever that was, gone or not. */
static struct subscriber *
find_person(struct store *store, const char *text, GError **error)
{
	struct address address = {0};
	g_autofree char *key = NULL;
	g_autoptr(GError) problem = NULL;
	struct subscriber *subscriber;

	if (!address_parse(text, &address, error))
		return NULL;
	key = address_format_key(&address);
	address_clear(&address);
	subscriber = people_find(store, key, &problem);
	if (g_error_matches(problem, PB_ERROR, PB_ERROR_NOT_FOUND))
		g_set_error(
		    error, PB_ERROR, PB_ERROR_NOT_FOUND, "%s is no subscriber", text);
	else if (problem)
		g_propagate_error(error, g_steal_pointer(&problem));
	return subscriber;
}

struct why *
why_ask(struct store *store, const char *address, const char *paper_id, int64_t now,
    GError **error)
{
	pb_auto(subscriber) subscriber = find_person(store, address, error);
	pb_auto(why) why = g_new0(struct why, 1);
	struct inquiry inquiry = {.why = why, .subscriber = subscriber, .now = now};

	why->stored = subscriber ? papers_find(store, paper_id, error) : NULL;
	if (!why->stored)
		return NULL;
	why->listings = history_load_listings(store, why->stored->seq, error);
	why->digests = why->listings ? history_load_digests(store, subscriber->id,
	                                   why->stored->seq, error)
	                             : NULL;
	if (!why->digests ||
	    !history_load_delivery(
	        store, subscriber->id, why->stored->seq, &inquiry.delivery, error) ||
	    !ask_filters(store, &inquiry, error))
		return NULL;
	find_outcome(&inquiry);
	return g_steal_pointer(&why);
}
