/*
 * why.c - why a paper is, or is not, in a subscriber's digest.
 */
#include "service/advice/why.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "message/address.h"
#include "model/digest.h"
#include "model/paper_id.h"
#include "model/subscriber.h"
#include "service/digest/digest_decide.h"
#include "service/match/paper_batch.h"
#include "service/match/search.h"
#include "store/paper/filter_progress.h"
#include "store/paper/matches.h"
#include "store/paper/paper_history.h"
#include "store/subscriber/feedback.h"
#include "store/subscriber/subscribers.h"

/* Facts that the outcome is made of. */
struct why_context {
	struct store *store;
	struct why *why;
	const struct subscriber *subscriber;
	const struct query_document *document; /* of the paper; borrowed */
	int64_t now;
	bool is_old; /* the paper was listed too long ago for a digest */
	struct paper_history_delivery delivery;
	bool is_behind;  /* a filter has not been matched with the paper yet */
	bool is_pending; /* a match that is true now is still recorded as pending */
};

static const char *const outcome_names[] = {
    [WHY_SENT] = "sent",
    [WHY_READ] = "read",
    [WHY_IN_DELIVERY] = "in-delivery",
    [WHY_REFUSED] = "refused",
    [WHY_UNSUBSCRIBED] = "unsubscribed",
    [WHY_NO_FILTER] = "no-filter",
    [WHY_NOT_MATCHED_YET] = "not-matched-yet",
    [WHY_NO_CLAUSE] = "no-clause",
    [WHY_TOO_LATE] = "too-late",
    [WHY_NOT_STORED] = "not-stored",
    [WHY_WAITING] = "waiting",
    [WHY_NOT_SUBSCRIBED] = "not-subscribed",
    [WHY_FILTER_NEWER] = "filter-newer",
    [WHY_UNWANTED] = "unwanted",
    [WHY_BLOCKED] = "blocked",
    [WHY_BLOCK_WAITING] = "block-waiting",
    [WHY_TOO_OLD] = "too-old",
    [WHY_KNOWN] = "known",
    [WHY_RECORD] = "record",
    [WHY_NOT_ACTIVE] = "not-active",
    [WHY_NEXT] = "next",
};

const char *
why_outcome_name(enum why_outcome outcome)
{
	return outcome_names[outcome];
}

char *
why_clean_id(const char *text)
{
	/* Numbers of up to four digits are of papers in a digest. */
	static const char medline[] = "^((pmid:)?[1-9]\\d{4,8}|(pmcid:)?PMC\\d+)$";
	g_autofree char *link = paper_id_format_link(text);
	g_autofree char *doi = paper_id_parse_doi(text);
	char *id = NULL;

	if (g_regex_match_simple(medline, text, G_REGEX_CASELESS, 0)) {
		const char *number = strchr(text, ':');
		g_autofree char *upper = g_ascii_strup(number ? number + 1 : text, -1);

		return g_strconcat(*upper == 'P' ? "pmcid:" : "pmid:", upper, NULL);
	}
	if (paper_id_parse_arxiv(link ? link : text, &id, NULL))
		return id;
	return doi ? g_strconcat("doi:", doi, NULL) : g_strdup(text);
}

/* Papers that are named when a title is not enough. */
#define TITLES_NAMED 5

/* @return the id, or NULL */
static char *
choose_title(const GPtrArray *results, const char *text, GError **error)
{
	g_autoptr(GString) ids = g_string_new(NULL);

	for (unsigned i = 0; i < results->len; i++) {
		const struct search_result *result = results->pdata[i];
		const struct paper *paper = result->stored->paper;

		if (results->len == 1 || g_ascii_strcasecmp(paper->title, text) == 0)
			return g_strdup(paper->id);
		g_string_append_printf(ids, "%s%s", i ? ", " : "", paper->id);
	}
	if (results->len)
		pb_error_set(error, PB_ERROR_INPUT,
		    N_("several papers have these words in their title: {ids}"), "ids",
		    ids->str, NULL);
	else
		pb_error_set(error, PB_ERROR_NOT_FOUND,
		    N_("no paper has these words in its title: {title}"), "title", text,
		    NULL);
	return NULL;
}

char *
why_find_id(struct store *store, const char *text, int64_t now, GError **error)
{
	const struct search_scope scope = {.now = now};
	g_autofree char *words = g_strdup(text);
	g_autofree char *query = NULL;
	pb_auto(search_answer) answer = NULL;

	if (!strchr(text, ' '))
		return why_clean_id(text);
	query = g_strdup_printf("title:\"%s\"", g_strdelimit(words, "\"*\\", ' '));
	answer = search_run(store, query, &scope, TITLES_NAMED, NULL, error);
	return answer ? choose_title(answer->results, text, error) : NULL;
}

const char *
why_verdict_name(enum query_verdict truth)
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
	scorer_reasons_clear(&why->taste);
	g_free(why);
}

/* Explain the verdict of a filter. */
static void
explain(struct why_filter *filter, const struct query *query,
    const struct query_document *document, const struct stored_paper *stored,
    int64_t now)
{
	bool is_final = paper_batch_get_finality(stored, now) == QUERY_FINALITY_ALL;

	filter->is_readable = true;
	filter->truth = query_evaluate(query, document, QUERY_AS_REPORTED);
	filter->steps = query_explain_tree(query, document);
	if (filter->truth == QUERY_TRUE || is_final ||
	    !query_is_time_dependent(query) ||
	    query_evaluate(query, document, QUERY_MAY_CHANGE) == QUERY_FALSE)
		return;
	filter->waits_until = paper_batch_get_recheck_time(query, stored, now);
	filter->waits_for_lookup = filter->waits_until == stored->settled_at;
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
    int64_t now, GPtrArray **warnings, struct query_error *problem, GError **error)
{
	/* Use an empty paper if there is none. */
	struct paper none = {.id = (char *)"",
	    .title = (char *)"",
	    .abstract = (char *)"",
	    .authors = g_ptr_array_new(),
	    .listings = g_array_new(FALSE, FALSE, sizeof(struct paper_listing))};
	const struct stored_paper nothing = {.paper = &none, .day = "1970-01-01"};
	pb_auto(query) query =
	    query_parse(text, store_get_tokenizer(store), warnings, problem, error);
	pb_auto(query_document) document = NULL;
	struct why_filter *filter = NULL;

	if (!stored)
		stored = &nothing;
	if (query)
		document = paper_batch_make_document_at(store, stored, now, error);
	if (document) {
		filter = new_filter();
		filter->label = g_strdup(text);
		filter->canonical = query_format(query);
		explain(filter, query, document, stored, now);
	}
	g_ptr_array_unref(none.authors);
	g_array_unref(none.listings);
	return filter;
}

/* Explain one filter of the subscriber, with the result of matching. */
static bool
explain_filter(struct why_context *context, const struct subscription *subscription,
    GError **error)
{
	struct why *why = context->why;
	pb_auto(query) query = query_parse_canonical(
	    subscription->canonical, store_get_tokenizer(context->store), NULL);
	struct why_filter *filter = new_filter();
	struct stored_match match;
	int64_t through;

	g_ptr_array_add(why->filters, filter);
	filter->number = subscription->number;
	filter->label =
	    g_strdup(subscription->name ? subscription->name : subscription->text);
	filter->canonical = g_strdup(subscription->canonical);
	filter->is_block = subscription->is_block;
	g_strlcpy(
	    filter->since_day, subscription->since_day, sizeof(filter->since_day));
	if (query)
		explain(filter, query, context->document, why->stored, context->now);
	if (!matches_find(context->store, subscription->filter_id, why->stored->seq,
	        &match, error) ||
	    !filter_progress_load_revision(
	        context->store, subscription->filter_id, &through, error))
		return false;
	context->is_behind |=
	    !subscription->is_block && through < why->stored->revision;
	context->is_pending |=
	    match.is_there && !match.is_yes && filter->truth == QUERY_TRUE;
	if (!match.is_yes)
		return true;
	filter->is_found = true;
	filter->found_at = match.decided_at;
	filter->waits_until = -1;
	return true;
}

static bool
explain_filters(struct why_context *context, GError **error)
{
	g_autoptr(GPtrArray) own = subscribers_load_subscriptions(
	    context->store, context->subscriber->id, error);

	if (!own)
		return false;
	context->why->filters =
	    g_ptr_array_new_with_free_func((GDestroyNotify)why_filter_free);
	for (unsigned i = 0; i < own->len; i++)
		if (!explain_filter(context, own->pdata[i], error))
			return false;
	return true;
}

static char *
format_time(int64_t at)
{
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(at);

	return g_date_time_format(time, "%Y-%m-%d %H:%M UTC");
}

/* @param format  as of printf(), for the sentence */
G_GNUC_PRINTF(4, 5)
static void
set_outcome(
    struct why *why, enum why_outcome outcome, int64_t at, const char *format, ...)
{
	va_list arguments;

	g_free(why->sentence);
	why->outcome = outcome;
	why->at = at;
	va_start(arguments, format);
	why->sentence = g_strdup_vprintf(format, arguments);
	va_end(arguments);
}

static const char *
detail_words(enum digest_detail detail)
{
	switch (detail) {
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
format_copies(const struct paper_history_digest *digest)
{
	unsigned copies = digest ? digest->copies : 0;

	if (!copies)
		return g_strdup("");
	return g_strdup_printf(
	    "; %u %s may have arrived", copies, copies == 1 ? "copy" : "copies");
}

static void
set_delivered(const struct why_context *context)
{
	const struct paper_history_delivery *delivery = &context->delivery;
	const struct paper_history_digest *digest = NULL;
	g_autofree char *at = format_time(delivery->at);
	g_autofree char *copies = NULL;

	for (unsigned i = 0; i < context->why->digests->len; i++) {
		const struct paper_history_digest *one =
		    context->why->digests->pdata[i];

		if (one->id == delivery->digest_id)
			digest = one;
	}
	copies = format_copies(digest);
	/* The message is deleted before the digest, and nearly all were sent. */
	if (digest && digest->message && strcmp(digest->message, "SENT") != 0)
		set_outcome(context->why, WHY_READ, delivery->at,
		    "the message of digest %" G_GINT64_FORMAT
		    " %s at %s, and its papers count as read%s",
		    digest->id,
		    strcmp(digest->message, "UNKNOWN") == 0 ? "was abandoned in doubt"
		                                            : "was cancelled",
		    at, copies);
	else
		set_outcome(context->why, WHY_SENT, delivery->at,
		    "mailed at %s in digest %" G_GINT64_FORMAT "%s%s", at,
		    delivery->digest_id, digest ? ", " : "",
		    digest ? detail_words(digest->shown) : "");
}

/* The next step for a message that has not ended. */
static const char *
message_words(const char *state)
{
	static const char *const rows[][2] = {
	    {"NEW", ", about to be sent"},
	    {"SENDING", ", being sent"},
	    {"DEFERRED", ", retried automatically"},
	    {"UNKNOWN", ", retried automatically"},
	    {"HELD", " until the operator releases it"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (g_strcmp0(state, rows[i][0]) == 0)
			return rows[i][1];
	return "";
}

static void
set_in_progress(const struct why_context *context)
{
	const GPtrArray *digests = context->why->digests;
	const struct paper_history_digest *digest =
	    digests->len ? digests->pdata[digests->len - 1] : NULL;
	g_autofree char *next = NULL, *copies = format_copies(digest);

	if (!digest) {
		set_outcome(context->why, WHY_IN_DELIVERY, -1,
		    "it is in a digest that is being made");
		return;
	}
	if (digest->next_try_at >= 0)
		next = format_time(digest->next_try_at);
	set_outcome(context->why, WHY_IN_DELIVERY, digest->next_try_at,
	    "in digest %" G_GINT64_FORMAT ", whose message is %s%s%s%s%s%s%s",
	    digest->id, digest->message ? digest->message : "lost",
	    message_words(digest->message), copies, next ? "; next attempt at " : "",
	    next ? next : "", digest->reply ? "; reply of the mail server: " : "",
	    digest->reply ? digest->reply : "");
}

static bool
is_before(const struct why *why, const struct why_filter *filter)
{
	return strcmp(why->stored->day, filter->since_day) < 0;
}

/* @return false if the paper was listed since the subscriber subscribed at a time */
static bool
set_not_subscribed(struct why *why, int64_t at)
{
	char subscribed[DAY_BYTES];

	day_format(MAX(at, 0), subscribed);
	if (strcmp(why->stored->day, subscribed) >= 0)
		return false;
	set_outcome(why, WHY_NOT_SUBSCRIBED, at,
	    "listed on %s, more than %d days before the subscription of %s",
	    why->stored->day, DIGEST_FIRST_DAYS, subscribed);
	return true;
}

static void
set_before(const struct why_context *context, const struct why_filter *filter)
{
	struct why *why = context->why;

	if (!set_not_subscribed(why, context->subscriber->consent_at))
		set_outcome(why, WHY_FILTER_NEWER, -1,
		    "listed on %s; filter %d is newer and covers papers from %s on",
		    why->stored->day, filter->number, filter->since_day);
}

static void
set_waiting(struct why *why, const struct why_filter *filter)
{
	g_autofree char *until = format_time(filter->waits_until);

	set_outcome(why, WHY_WAITING, filter->waits_until,
	    "filter %d waits for %s, until %s at the latest", filter->number,
	    filter->waits_for_lookup ? "fields that are being looked up"
	                             : "votes, links and the like to change",
	    until);
}

static void
set_too_old(const struct why_context *context)
{
	const char *day = context->why->stored->day;
	int64_t due_at = context->subscriber->next_due_at;
	g_autofree char *due = format_time(MAX(due_at, 0));

	if (due_at > context->now)
		set_outcome(context->why, WHY_TOO_OLD, -1,
		    "last listed on %s, and the next digest, at %s, goes back %d days",
		    day, due, DIGEST_ELIGIBLE_DAYS);
	else
		set_outcome(context->why, WHY_TOO_OLD, -1,
		    "last listed on %s, and digests go back %d days", day,
		    DIGEST_ELIGIBLE_DAYS);
}

/* A filter matches the paper as it is now, but did not when that was decided. */
static void
set_too_late(const struct why_context *context)
{
	if (context->is_old)
		set_too_old(context);
	else
		set_outcome(context->why, WHY_TOO_LATE, -1,
		    "no filter matched it in time; the votes or links that a "
		    "filter asks for came later");
}

/* No filter matches it in time: report the most useful reason. */
static void
set_not_matched(const struct why_context *context)
{
	struct why *why = context->why;
	const struct why_filter *waiting = NULL, *newer = NULL;
	bool has_filter = false, matches_now = false;

	for (unsigned i = 0; i < why->filters->len; i++) {
		const struct why_filter *filter = why->filters->pdata[i];
		bool waits = filter->waits_until >= 0;
		bool is_true = filter->truth == QUERY_TRUE;

		if (filter->is_block)
			continue;
		has_filter = true;
		if (is_before(why, filter)) {
			if (!newer && (filter->is_found || is_true || waits))
				newer = filter;
			continue;
		}
		matches_now |= is_true;
		if (waits && (!waiting || filter->waits_until < waiting->waits_until))
			waiting = filter;
	}
	if (!has_filter)
		set_outcome(why, WHY_NO_FILTER, -1, "the subscriber has no filter");
	else if (newer && !matches_now && !waiting)
		set_before(context, newer);
	else if (!context->is_old && (context->is_behind || context->is_pending))
		set_outcome(why, WHY_NOT_MATCHED_YET, -1,
		    "not matched with the filters yet; paperboyd does this "
		    "within a minute");
	else if (matches_now)
		set_too_late(context);
	else if (waiting)
		set_waiting(why, waiting);
	else
		set_outcome(why, WHY_NO_CLAUSE, -1,
		    "no filter matches it: see the clauses that are false");
}

/* Whether the paper may have been mailed so long ago that it is not recorded. */
static bool
is_forgotten(const struct why_context *context)
{
	int64_t from =
	    MAX(context->why->stored->first_seen_at, context->subscriber->created_at);

	return context->delivery.at < 0 &&
	       from < context->now - DIGEST_DELIVERED_DAYS * (int64_t)CLOCK_DAY_S;
}

static void
set_forgotten(const struct why_context *context)
{
	int64_t joined_at = context->subscriber->created_at;
	char seen[DAY_BYTES], first_day[DAY_BYTES];

	day_format(context->why->stored->first_seen_at, seen);
	day_format(
	    MAX(joined_at - DIGEST_FIRST_DAYS * (int64_t)CLOCK_DAY_S, 0), first_day);
	if (strcmp(context->why->stored->day, first_day) >= 0 ||
	    !set_not_subscribed(context->why, joined_at))
		set_outcome(context->why, WHY_NOT_STORED, -1,
		    "first seen on %s; digests of that age are not "
		    "kept, only those of the last %d days",
		    seen, DIGEST_DELIVERED_DAYS);
}

/* @param is_cross  with crosslist on it would be in the digest */
static void
set_unwanted(
    const struct why_context *context, const struct digest_rules *rules, bool is_cross)
{
	if (is_cross)
		set_outcome(context->why, WHY_UNWANTED, -1,
		    "it was only cross-listed, and the subscriber does not "
		    "want cross-lists: crosslist off");
	else
		set_outcome(context->why, WHY_UNWANTED, -1,
		    "it was only replaced by a new version, and the "
		    "subscriber does not want these: updates %s",
		    rules->wants_updates ? "on, crosslist off" : "off");
}

static void
set_block_pending(const struct why_context *context, int number)
{
	struct why *why = context->why;
	int64_t at = why->stored->settled_at;
	g_autofree char *until = format_time(at);

	set_outcome(why, WHY_BLOCK_WAITING, at,
	    "block %d waits for fields that are being looked up, until %s at the "
	    "latest",
	    number, until);
}

/* The next digest has it; the subscriber may not be getting any. */
static void
set_included(const struct why_context *context)
{
	const struct subscriber *subscriber = context->subscriber;
	bool has_end = *subscriber->paused_until != '\0';
	g_autofree char *due = format_time(MAX(subscriber->next_due_at, 0));

	if (subscriber->state == SUBSCRIBER_ACTIVE)
		set_outcome(context->why, WHY_NEXT, subscriber->next_due_at,
		    "it will be in the next digest, at %s", due);
	else
		set_outcome(context->why, WHY_NOT_ACTIVE,
		    has_end ? subscriber->next_due_at : -1,
		    "the subscriber is %s%s%s: no digests are made",
		    subscriber_state_name(subscriber->state), has_end ? " until " : "",
		    subscriber->paused_until);
}

/* Mention an earlier digest that did not arrive, or had an earlier version. */
static void
add_earlier_digest(const struct why_context *context)
{
	struct why *why = context->why;
	const struct paper_history_digest *digest = NULL;
	GString *text;

	if (why->outcome == WHY_SENT || why->outcome == WHY_READ)
		return;
	text = g_string_new(why->sentence);
	if (context->delivery.at >= 0)
		g_string_append_printf(text,
		    "; digest %" G_GINT64_FORMAT " had an earlier version",
		    context->delivery.digest_id);
	for (unsigned i = 0; i < why->digests->len; i++) {
		const struct paper_history_digest *one = why->digests->pdata[i];

		if (g_str_equal(one->state, "failed") ||
		    g_str_equal(one->state, "cancelled"))
			digest = one;
	}
	if (digest && why->outcome != WHY_IN_DELIVERY && why->outcome != WHY_REFUSED)
		g_string_append_printf(text,
		    "; digest %" G_GINT64_FORMAT " with it %s%s%s", digest->id,
		    g_str_equal(digest->state, "failed") ? "could not be delivered"
		                                         : "was cancelled",
		    digest->reply ? ": " : "", digest->reply ? digest->reply : "");
	g_free(why->sentence);
	why->sentence = g_string_free(text, FALSE);
}

/* Put the decision of the digest into words. */
static void
explain_decision(const struct why_context *context, const struct digest_rules *rules,
    const struct digest_decision *decision, bool is_cross)
{
	struct why *why = context->why;

	switch (decision->outcome) {
	case DIGEST_OUTCOME_DELIVERED:
		set_delivered(context);
		break;
	case DIGEST_OUTCOME_IN_PROGRESS:
		set_in_progress(context);
		break;
	case DIGEST_OUTCOME_REJECTED:
		set_outcome(why, WHY_REFUSED, -1,
		    "two messages with it were rejected for their content, so "
		    "it is left out");
		break;
	case DIGEST_OUTCOME_NOT_MATCHED:
	case DIGEST_OUTCOME_BEFORE_FILTER:
		set_not_matched(context);
		break;
	case DIGEST_OUTCOME_TOO_OLD:
		set_too_old(context);
		break;
	case DIGEST_OUTCOME_UNWANTED:
		set_unwanted(context, rules, is_cross);
		break;
	case DIGEST_OUTCOME_BLOCKED:
		set_outcome(why, WHY_BLOCKED, -1, "block %d excludes it",
		    decision->block->number);
		break;
	case DIGEST_OUTCOME_BLOCK_PENDING:
		set_block_pending(context, decision->block->number);
		break;
	case DIGEST_OUTCOME_KNOWN:
		set_outcome(why, WHY_KNOWN, -1,
		    "the subscriber marked it, or another record of its work, as "
		    "known");
		break;
	case DIGEST_OUTCOME_RECORD:
		set_outcome(why, WHY_RECORD, -1,
		    "%s, another record of the same work, was mailed or is in a "
		    "digest that is being sent, and the subscriber wants one: "
		    "versions one",
		    decision->record_id);
		break;
	case DIGEST_OUTCOME_INCLUDED:
		set_included(context);
		break;
	}
}

static bool
is_found(const struct why *why, int number)
{
	for (unsigned i = 0; i < why->filters->len; i++) {
		const struct why_filter *filter = why->filters->pdata[i];

		if (filter->number == number)
			return filter->is_found && !filter->is_block;
	}
	return false;
}

/* @return the matches of the paper, of struct candidate * */
static GPtrArray *
list_matches(
    const struct why *why, const GPtrArray *filters, const struct listed_paper *paper)
{
	GPtrArray *matches = g_ptr_array_new_with_free_func(g_free);

	for (unsigned i = 0; i < filters->len; i++) {
		const struct candidate match = {paper, filters->pdata[i]};

		if (is_found(why, match.filter->number))
			g_ptr_array_add(matches, g_memdup2(&match, sizeof(match)));
	}
	return matches;
}

/* Let the digest decide, and decide again as if cross-lists were wanted. */
static bool
decide(struct why_context *context, struct digest_cache *cache, GError **error)
{
	g_autoptr(GPtrArray) filters = digest_cache_load_batch(
	    cache, &(gpointer){(gpointer)context->subscriber}, 1, error);
	pb_auto(digest_rules) rules =
	    filters ? digest_rules_load(cache, context->subscriber, filters, error)
	            : NULL;
	g_autofree struct listed_paper *paper = NULL;
	g_autoptr(GPtrArray) found = NULL;
	g_autoptr(GPtrArray) eligible = g_ptr_array_new();
	struct digest_matches matches;
	struct digest_rules with_cross;
	struct digest_decision decision, other;
	bool is_ok;

	if (!rules || !papers_find_listed(
	                  context->store, context->why->stored->seq, &paper, error))
		return false;
	if (!paper)
		return pb_fail(error, PB_ERROR_NOT_FOUND, "no such paper");
	/* The paper may become too old for the next digest before that is due. */
	day_format(MAX(context->now, context->subscriber->next_due_at) -
	               DIGEST_ELIGIBLE_DAYS * (int64_t)CLOCK_DAY_S,
	    cache->oldest_day);
	found = list_matches(context->why, filters, paper);
	matches = (struct digest_matches){paper, found->pdata, found->len};
	if (!digest_decide(cache, rules, &matches, eligible, &decision, error))
		return false;
	with_cross = *rules;
	with_cross.wants_crosslist = true;
	is_ok = digest_decide(cache, &with_cross, &matches, eligible, &other, error);
	rules->delivered = with_cross.delivered;
	rules->known = with_cross.known;
	if (!is_ok)
		return false;
	context->is_old = strcmp(paper->day, cache->oldest_day) < 0;
	/* A digest does not read what was delivered long before. */
	if (decision.outcome > DIGEST_OUTCOME_REJECTED && context->delivery.at >= 0 &&
	    context->delivery.replacement >=
	        (rules->wants_updates ? paper->replacement : 0))
		decision.outcome = DIGEST_OUTCOME_DELIVERED;
	if (decision.outcome > DIGEST_OUTCOME_REJECTED &&
	    decision.outcome <= DIGEST_OUTCOME_UNWANTED && is_forgotten(context))
		set_forgotten(context);
	else if (context->subscriber->state == SUBSCRIBER_GONE &&
	         decision.outcome > DIGEST_OUTCOME_REJECTED)
		set_outcome(
		    context->why, WHY_UNSUBSCRIBED, -1, "the subscriber has left");
	else
		explain_decision(
		    context, rules, &decision, other.outcome > DIGEST_OUTCOME_UNWANTED);
	add_earlier_digest(context);
	return true;
}

/* Find a subscriber, also one who has left. */
static struct subscriber *
find_subscriber(struct store *store, const char *text, GError **error)
{
	struct address address = {0};
	g_autofree char *key = NULL;
	struct subscriber *subscriber = NULL;

	if (!address_parse(text, &address, error))
		return NULL;
	key = address_format_key(&address);
	address_clear(&address);
	if (subscribers_find(store, key, &subscriber, error) && !subscriber)
		pb_error_set(error, PB_ERROR_NOT_FOUND,
		    N_("{address} is not a subscriber"), "address", text, NULL);
	return subscriber;
}

static bool
load_history(struct why_context *context, GError **error)
{
	struct why *why = context->why;
	int64_t seq = why->stored->seq, id = context->subscriber->id;

	why->listings = paper_history_load_listings(context->store, seq, error);
	if (!why->listings)
		return false;
	why->digests = paper_history_load_digests(context->store, id, seq, error);
	return why->digests && paper_history_load_delivery(
	                           context->store, id, seq, &context->delivery, error);
}

/* Which words raise and lower it in the order `score`; a damaged taste is as none. */
static bool
explain_taste(
    const struct why_context *context, struct digest_cache *cache, GError **error)
{
	const struct subscriber *subscriber = context->subscriber;
	pb_local(taste_vector) vector = {0};
	g_autoptr(GError) problem = NULL;

	taste_vector_init(&vector);
	if (subscriber->preferences.choice[PREFERENCE_ORDER] != PREFERENCE_ORDER_SCORE)
		return true;
	if (!feedback_load_taste(context->store, subscriber->id, &vector, &problem))
		return g_error_matches(problem, PB_ERROR, PB_ERROR_DAMAGED) ||
		       pb_error_forward(error, &problem);
	return !vector.weights->len ||
	       scorer_explain(cache->scorer, &vector, context->why->stored->seq,
	           &context->why->taste, error);
}

struct why *
why_find_outcome(struct store *store, const char *address, const char *paper_id,
    int64_t now, GError **error)
{
	pb_auto(subscriber) subscriber = find_subscriber(store, address, error);
	pb_auto(why) why = g_new0(struct why, 1);
	struct why_context context = {
	    .store = store, .why = why, .subscriber = subscriber, .now = now};
	struct digest_cache cache;
	bool is_ok;

	why->stored = subscriber ? papers_load_id(store, paper_id, error) : NULL;
	if (!why->stored || !load_history(&context, error))
		return NULL;
	digest_cache_init(&cache, store, now);
	context.document = digest_cache_get_document(&cache, why->stored->seq, error);
	is_ok = context.document && explain_filters(&context, error) &&
	        decide(&context, &cache, error) &&
	        explain_taste(&context, &cache, error);
	digest_cache_clear(&cache);
	return is_ok ? g_steal_pointer(&why) : NULL;
}
