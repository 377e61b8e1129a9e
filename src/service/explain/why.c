/*
 * why.c - why a paper is, or is not, in somebody's digest.
 */
#include <string.h>

#include "base/error.h"
#include "message/address.h"
#include "service/explain/why_private.h"
#include "service/match/match.h"
#include "store/paper/matches.h"
#include "store/subscriber/subscribers.h"

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
	g_free(why);
}

/* What a filter says of the paper, whoever's it is. */
static void
explain(struct why_filter *filter, const struct query *query,
    const struct query_document *document, const struct stored_paper *stored,
    int64_t now)
{
	bool is_final = match_get_finality(stored, now) == QUERY_SETTLED_FINALLY;

	filter->is_readable = true;
	filter->truth = query_evaluate(query, document, QUERY_AS_REPORTED);
	filter->steps = query_explain_tree(query, document);
	if (filter->truth == QUERY_TRUE || is_final ||
	    !query_is_time_dependent(query) ||
	    query_evaluate(query, document, QUERY_MAY_CHANGE) == QUERY_FALSE)
		return;
	filter->waits_until = match_get_recheck_time(query, stored, now);
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
    int64_t now, GPtrArray **warnings, struct query_error *problem, GError **error)
{
	/* Without a paper, one that has nothing: its truth is of no interest. */
	struct paper none = {.id = (char *)"",
	    .title = (char *)"",
	    .abstract = (char *)"",
	    .authors = g_ptr_array_new(),
	    .appearances = g_array_new(FALSE, FALSE, sizeof(struct paper_listing))};
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
ask_filters(struct store *store, struct why_context *inquiry, GError **error)
{
	struct why *why = inquiry->why;
	g_autoptr(GPtrArray) own =
	    subscribers_load_subscriptions(store, inquiry->subscriber->id, error);
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

/* Whoever that was, gone or not. */
static struct subscriber *
find_person(struct store *store, const char *text, GError **error)
{
	struct address address = {0};
	g_autofree char *key = NULL;
	struct subscriber *subscriber = NULL;

	if (!address_parse(text, &address, error))
		return NULL;
	key = address_format_key(&address);
	address_clear(&address);
	if (subscribers_find(store, key, &subscriber, error) && !subscriber)
		pb_error_set(
		    error, PB_ERROR_NOT_FOUND, MSG_PERSON_NONE, "address", text, NULL);
	return subscriber;
}

struct why *
why_ask(struct store *store, const char *address, const char *paper_id, int64_t now,
    GError **error)
{
	pb_auto(subscriber) subscriber = find_person(store, address, error);
	pb_auto(why) why = g_new0(struct why, 1);
	struct why_context inquiry = {.why = why, .subscriber = subscriber, .now = now};

	why->stored = subscriber ? papers_load_id(store, paper_id, error) : NULL;
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
	why_rules_run(&inquiry);
	return g_steal_pointer(&why);
}
