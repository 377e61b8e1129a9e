/*
 * ctl_filter.c - the commands on a subscriber's filters, on shared ones, and search.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/bounds.h"
#include "base/day.h"
#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/subscriber_print.h"
#include "ctl/table.h"
#include "message/sanitize.h"
#include "query/query.h"
#include "service/advice/backtest.h"
#include "service/advice/suggest.h"
#include "service/match/search.h"
#include "service/people/filters.h"
#include "service/people/person.h"
#include "service/people/profile.h"
#include "service/people/sharing.h"
#include "service/people/subscribe.h"
#include "store/subscriber/shares.h"
#include "store/subscriber/subscribers.h"

/* @return false with PB_ERROR_INPUT */
static bool
parse_number(const char *address, const char *text, int *number, GError **error)
{
	guint64 parsed = 0;

	if (!g_ascii_string_to_unsigned(text, 10, 1, FILTERS_NUMBER_MAX, &parsed, NULL))
		return pb_fail(error, PB_ERROR_INPUT,
		    "invalid filter number '%s': see paperboyctl filter list %s", text,
		    address);
	*number = (int)parsed;
	return true;
}

static bool
print_filter(
    struct ctl *ctl, const struct subscription *subscription, GPtrArray *warnings)
{
	g_autofree char *shown = query_format_accented(subscription->canonical,
	    subscription->text, store_get_tokenizer(ctl->store));

	ctl_wake_daemon(ctl);
	ctl_print_warnings(warnings);
	return print_result(ctl,
	    json_pack("{s:i, s:b, s:s}", "number", subscription->number, "block",
	        (int)subscription->is_block, "canonical", subscription->canonical),
	    "%s %d: %s\n", subscription->is_block ? "block" : "filter",
	    subscription->number, shown);
}

bool
ctl_run_filter_add(struct ctl *ctl, GError **error)
{
	g_autoptr(GPtrArray) warnings = NULL;
	pb_local(query_error) query_error = {0};
	struct subscribe_filter filter;
	pb_auto(subscription) subscription = NULL;

	/* Checked here: subscribe_add_filter() takes 0 as no limit. */
	if (ctl->options.max != CTL_UNSET &&
	    !profile_check_max(ctl->options.max, error))
		return false;
	filter = (struct subscribe_filter){.text = ctl->argv[2],
	    .name = ctl->options.name,
	    .max_papers = ctl_get_number(ctl->options.max, 0),
	    .note = ctl->options.note,
	    .is_block = ctl->options.is_block};
	subscription = subscribe_add_filter(ctl->store, ctl->argv[1], &filter, ctl->who,
	    clock_get_now(&ctl->clock), &query_error, &warnings, error);
	if (!subscription)
		ctl_print_query_error(ctl->argv[2], &query_error, error);
	return subscription && print_filter(ctl, subscription, warnings);
}

bool
ctl_run_filter_edit(struct ctl *ctl, GError **error)
{
	g_autoptr(GPtrArray) warnings = NULL;
	pb_local(query_error) query_error = {0};
	struct filters_change change = {.who = ctl->who};
	pb_auto(subscription) subscription = NULL;

	if (!parse_number(ctl->argv[1], ctl->argv[2], &change.number, error))
		return false;
	change.address = ctl->argv[1];
	change.text = ctl->argv[3];
	subscription = filters_edit(ctl->store, &change, clock_get_now(&ctl->clock),
	    &query_error, &warnings, error);
	if (!subscription)
		ctl_print_query_error(ctl->argv[3], &query_error, error);
	return subscription && print_filter(ctl, subscription, warnings);
}

bool
ctl_run_filter_list(struct ctl *ctl, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autoptr(GPtrArray) filters = NULL;

	subscriber = person_load(ctl->store, ctl->argv[1], error);
	filters = subscriber ? subscribers_load_subscriptions(
	                           ctl->store, subscriber->id, error)
	                     : NULL;
	if (!filters)
		return false;
	subscriber_print_filters(ctl, filters);
	return true;
}

bool
ctl_run_filter_remove(struct ctl *ctl, GError **error)
{
	pb_auto(subscription) subscription = NULL;
	g_autofree char *question = NULL;
	int number = 0;

	if (!parse_number(ctl->argv[1], ctl->argv[2], &number, error))
		return false;
	subscription = filters_load(ctl->store, ctl->argv[1], number, error);
	if (!subscription)
		return false;
	question = g_strdup_printf(
	    "Remove filter %d of %s, %s", number, ctl->argv[1], subscription->text);
	if (!ctl_confirm(ctl, question, error) ||
	    !subscribe_remove_filter(ctl->store, ctl->argv[1], number, ctl->who,
	        clock_get_now(&ctl->clock), error))
		return false;
	return print_result(
	    ctl, json_pack("{s:i}", "removed", number), "filter %d removed\n", number);
}

bool
ctl_run_filter_move(struct ctl *ctl, GError **error)
{
	int from = 0, to = 0;

	if (!parse_number(ctl->argv[1], ctl->argv[2], &from, error) ||
	    !parse_number(ctl->argv[1], ctl->argv[3], &to, error) ||
	    !filters_move(ctl->store, ctl->argv[1], from, to, ctl->who,
	        clock_get_now(&ctl->clock), error))
		return false;
	return print_result(ctl, json_pack("{s:i, s:i}", "from", from, "to", to),
	    "filter %d is now %d\n", from, to);
}

bool
ctl_run_filter_rename(struct ctl *ctl, GError **error)
{
	const char *name = ctl->argv[3];
	int number = 0;

	if (!parse_number(ctl->argv[1], ctl->argv[2], &number, error) ||
	    !filters_rename(ctl->store, ctl->argv[1], number, name, ctl->who,
	        clock_get_now(&ctl->clock), error))
		return false;
	return print_result(ctl,
	    json_pack("{s:i, s:o}", "number", number, "name",
	        print_json_text(*name ? name : NULL)),
	    "filter %d %s%s\n", number, *name ? "renamed to " : "no longer has a name",
	    name);
}

/* ---- shared filters ---- */

static const struct table_column columns[] = {
    TABLE_COLUMN("NAME", "name", TABLE_TEXT, share_listing, name),
    TABLE_COLUMN("OWNER", "owner", TABLE_TEXT, share_listing, address),
    TABLE_COLUMN("FILTER", "filter", TABLE_INT, share_listing, number),
    TABLE_COLUMN("VERSION", "version", TABLE_INT, share_listing, version),
    TABLE_COLUMN("SINCE", "created_at", TABLE_TIME, share_listing, created_at),
    TABLE_COLUMN("QUERY", "query", TABLE_TEXT, share_listing, text),
    {0},
};

static GPtrArray *
load_batch(void *store, const void *last, GError **error)
{
	const struct share_listing *before = last;

	return shares_load_batch(
	    store, before ? before->name : "", TABLE_BATCH_ROWS, error);
}

bool
ctl_run_share_list(struct ctl *ctl, GError **error)
{
	const struct table table = {
	    columns, "No filter is shared.", load_batch, ctl->store};

	return table_print_pages(ctl, &table, error);
}

bool
ctl_run_share_remove(struct ctl *ctl, GError **error)
{
	g_autofree char *question = NULL;

	question = g_strdup_printf("End the sharing of %s", ctl->argv[1]);
	if (!ctl_confirm(ctl, question, error) ||
	    !sharing_remove(
	        ctl->store, ctl->argv[1], ctl->who, clock_get_now(&ctl->clock), error))
		return false;
	return print_result(ctl, json_pack("{s:s}", "removed", ctl->argv[1]),
	    "%s is no longer shared\n", ctl->argv[1]);
}

/* ---- filter test, filter suggest, and search ---- */

#define SEARCH_LIMIT 20 /* results, if --limit is not given */

static json_t *
json_of_messages(const GPtrArray *messages)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < messages->len; i++)
		json_array_append_new(
		    list, json_string(((struct msg *)messages->pdata[i])->text));
	return list;
}

static const char *const span_names[] = {
    [FORECAST_UNKNOWN] = "unknown",
    [FORECAST_DAY] = "day",
    [FORECAST_WEEK] = "week",
    [FORECAST_RARE] = "rare",
};

static json_t *
json_of_forecast(const struct forecast *forecast)
{
	json_t *rates = json_array();

	for (size_t i = 0; i < G_N_ELEMENTS(forecast->rates); i++)
		json_array_append_new(rates, json_real(forecast->rates[i]));
	return json_pack("{s:s, s:i, s:f, s:f, s:i, s:i, s:o}", "span",
	    span_names[forecast->span], "days", (int)forecast->days, "a_day",
	    forecast->a_day, "a_week", forecast->a_week, "low", (int)forecast->low,
	    "high", (int)forecast->high, "weekdays", rates);
}

static void
print_forecast(const struct forecast *forecast)
{
	switch (forecast->span) {
	case FORECAST_UNKNOWN:
		break;
	case FORECAST_DAY:
		printf("Expect about %.0f a day%s (%u to %u).\n", forecast->a_day,
		    forecast->is_weekdays ? " from Monday to Friday" : "",
		    forecast->low, forecast->high);
		break;
	case FORECAST_WEEK:
		printf("Expect about %.0f a week (%u to %u).\n", forecast->a_week,
		    forecast->low, forecast->high);
		break;
	case FORECAST_RARE:
		puts("Expect less than one a week.");
		break;
	}
}

static json_t *
json_of_backtest(const struct backtest *backtest)
{
	json_t *newest = json_array();

	for (unsigned i = 0; i < backtest->newest->len; i++) {
		const struct backtest_paper *paper = backtest->newest->pdata[i];

		json_array_append_new(newest,
		    json_pack("{s:s, s:s, s:s, s:s}", "id", paper->id, "title",
		        paper->title, "day", paper->day, "words", paper->words));
	}
	return json_pack("{s:s, s:i, s:i, s:i, s:f, s:i, s:i, s:o, s:o, s:o}",
	    "canonical", backtest->canonical, "days", (int)backtest->days,
	    "covered_days", (int)backtest->covered_days, "found", (int)backtest->found,
	    "a_day", backtest->a_day, "known", (int)backtest->known, "blocked",
	    (int)backtest->blocked, "forecast", json_of_forecast(&backtest->forecast),
	    "newest", newest, "notes", json_of_messages(backtest->notes));
}

/* Columns before a paper's words. */
#define PAPER_INDENT 14

/* @param width  of the terminal, or 0 */
static void
print_paper(const char *id, const char *day, const char *title, const char *words,
    unsigned width)
{
	g_autofree char *shown_title = sanitize_paper_text(title, 0);
	g_autofree char *shown_words = sanitize_paper_text(words, 0);
	g_autofree char *line = g_strdup_printf("  %s  %s  %s", day, id, shown_title);
	g_autofree char *cut = print_dup_cut(line, width);
	g_autofree char *cut_words =
	    print_dup_cut(shown_words, width > PAPER_INDENT ? width - PAPER_INDENT : 0);

	puts(cut);
	if (*words)
		printf("%*s%s\n", PAPER_INDENT, "", cut_words);
}

static void
print_backtest(
    const struct backtest *backtest, const char *filter, bool is_block, unsigned width)
{
	printf("%s\n%u days: %u paper%s, %.1f a day", filter, backtest->days,
	    backtest->found, backtest->found == 1 ? "" : "s", backtest->a_day);
	if (backtest->known)
		printf(is_block
		           ? "; %u of them match other filters and would be blocked"
		           : "; %u of them also match other filters",
		    backtest->known);
	if (backtest->blocked)
		printf("; %u of them are blocked", backtest->blocked);
	putchar('\n');
	if (!backtest->covered_days)
		puts("No papers of these days yet: paperboyctl source fetch");
	else if (backtest->covered_days < backtest->days)
		printf(
		    "The archive covers %u of these days.\n", backtest->covered_days);
	print_forecast(&backtest->forecast);
	if (backtest->newest->len)
		puts("Newest:");
	for (unsigned i = 0; i < backtest->newest->len; i++) {
		const struct backtest_paper *paper = backtest->newest->pdata[i];

		print_paper(paper->id, paper->day, paper->title, paper->words, width);
	}
	for (unsigned i = 0; i < backtest->notes->len; i++)
		printf("Note: %s\n", ((struct msg *)backtest->notes->pdata[i])->text);
}

/*
 * Resolve the subscriber, and a filter number to its query.
 *
 * @param own  set to the filter that request->text is borrowed from, or to NULL
 */
static bool
find_filter(struct ctl *ctl, const char *address, struct backtest_request *request,
    struct subscription **own, GError **error)
{
	pb_auto(subscriber) subscriber = person_load(ctl->store, address, error);
	guint64 number = 0;

	if (!subscriber)
		return false;
	request->subscriber_id = subscriber->id;
	if (!g_ascii_string_to_unsigned(request->text, 10, 1, 9999, &number, NULL))
		return true;
	*own = filters_load(ctl->store, address, (int)number, error);
	if (!*own)
		return false;
	request->number = (*own)->number;
	request->text = (*own)->text;
	request->is_block = (*own)->is_block;
	return true;
}

bool
ctl_run_filter_test(struct ctl *ctl, GError **error)
{
	int days = ctl_get_number(ctl->options.days, BACKTEST_DAYS);
	struct backtest_request request = {.now = clock_get_now(&ctl->clock)};
	pb_local(query_error) query_error = {0};
	pb_auto(subscription) own = NULL;
	pb_auto(backtest) backtest = NULL;

	if (days < 1 || days > BOUNDS_BACKTEST_DAYS)
		return pb_fail(error, PB_ERROR_INPUT, "--days must be from 1 to %d",
		    BOUNDS_BACKTEST_DAYS);
	request.text = ctl->argv[1];
	request.days = (unsigned)days;
	if (ctl->options.address &&
	    !find_filter(ctl, ctl->options.address, &request, &own, error))
		return false;
	backtest = backtest_run(ctl->store, &request, &query_error, error);
	if (!backtest)
		return ctl_print_query_error(request.text, &query_error, error);
	if (ctl->is_json) {
		print_json(json_of_backtest(backtest));
	} else {
		g_autofree char *filter = query_format_accented(
		    backtest->canonical, request.text, store_get_tokenizer(ctl->store));

		print_backtest(
		    backtest, filter, request.is_block, print_get_width(ctl));
	}
	return true;
}

/* ---- suggestions ---- */

static json_t *
json_of_suggestions(const GPtrArray *suggestions)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < suggestions->len; i++) {
		const struct suggestion *one = suggestions->pdata[i];

		json_array_append_new(
		    list, json_pack("{s:s, s:s, s:i, s:i, s:s}", "term", one->term,
		              "filter", one->text, "papers", (int)one->gained, "days",
		              SUGGEST_DAYS, "newest", one->title));
	}
	return list;
}

static void
print_suggestions(const GPtrArray *suggestions)
{
	if (!suggestions->len)
		puts("No suggestions: no other term would find similar papers.");
	for (unsigned i = 0; i < suggestions->len; i++) {
		const struct suggestion *one = suggestions->pdata[i];

		printf("%s: %u more paper%s in %d days\n  newest: %s\n  %s\n",
		    one->term, one->gained, one->gained == 1 ? "" : "s", SUGGEST_DAYS,
		    one->title, one->text);
	}
}

bool
ctl_run_filter_suggest(struct ctl *ctl, GError **error)
{
	struct backtest_request wanted = {0};
	pb_auto(subscription) own = NULL;
	g_autoptr(GPtrArray) found = NULL;
	struct suggest_request request = {.now = clock_get_now(&ctl->clock)};

	wanted.text = ctl->argv[1];
	if (ctl->options.address &&
	    !find_filter(ctl, ctl->options.address, &wanted, &own, error))
		return false;
	request.text = wanted.text;
	request.subscriber_id = own ? own->subscriber_id : 0;
	request.subscription_id = own ? own->id : 0;
	found = suggest_find(ctl->store, &request, error);
	if (!found)
		return false;
	if (ctl->is_json)
		print_json(
		    json_pack("{s:o}", "suggestions", json_of_suggestions(found)));
	else
		print_suggestions(found);
	return true;
}

static json_t *
json_of_search(const struct search_answer *answer)
{
	json_t *results = json_array();

	for (unsigned i = 0; i < answer->results->len; i++) {
		const struct search_result *result = answer->results->pdata[i];
		const struct paper *paper = result->stored->paper;

		json_array_append_new(
		    results, json_pack("{s:s, s:s, s:s, s:s, s:o, s:f, s:s}", "id",
		                 paper->id, "title", paper->title, "url", paper->url,
		                 "day", result->stored->day, "upvotes",
		                 print_json_number(paper->upvotes), "score",
		                 result->score, "words", result->words));
	}
	return json_pack("{s:s, s:i, s:b, s:b, s:o, s:o}", "canonical",
	    answer->canonical, "found", (int)answer->found, "more",
	    (int)answer->is_more, "cut", (int)answer->is_cut, "results", results,
	    "warnings", json_of_messages(answer->warnings));
}

static void
print_search(const struct search_answer *answer, const char *filter, unsigned width)
{
	bool is_part = answer->results->len < answer->found || answer->is_more;

	printf("%s\n%s%u paper%s%s\n", filter, answer->is_more ? "at least " : "",
	    answer->found, answer->found == 1 ? "" : "s",
	    is_part ? "; the best of them (more with --limit):" : "");
	for (unsigned i = 0; i < answer->results->len; i++) {
		const struct search_result *result = answer->results->pdata[i];
		const struct paper *paper = result->stored->paper;

		print_paper(
		    paper->id, result->stored->day, paper->title, result->words, width);
	}
	if (answer->is_cut)
		printf("Only %d papers were read one by one: others may match.\n",
		    BOUNDS_SEARCH_EVALUATED);
}

bool
ctl_run_search(struct ctl *ctl, GError **error)
{
	int limit = ctl_get_number(ctl->options.limit, SEARCH_LIMIT);
	struct search_scope scope = {.now = clock_get_now(&ctl->clock)};
	pb_local(query_error) query_error = {0};
	pb_auto(search_answer) answer = NULL;

	if (ctl->options.since && !day_is_valid(ctl->options.since))
		return pb_fail(error, PB_ERROR_INPUT,
		    "invalid day '%s' (expected 2026-11-01)", ctl->options.since);
	scope.oldest_day = ctl->options.since;
	answer = search_run(ctl->store, ctl->argv[1], &scope, (unsigned)MAX(limit, 0),
	    &query_error, error);
	if (!answer)
		return ctl_print_query_error(ctl->argv[1], &query_error, error);
	if (ctl->is_json) {
		print_json(json_of_search(answer));
	} else {
		g_autofree char *filter = query_format_accented(
		    answer->canonical, ctl->argv[1], store_get_tokenizer(ctl->store));

		ctl_print_warnings(answer->warnings);
		print_search(answer, filter, print_get_width(ctl));
	}
	return true;
}
