/*
 * web_backtest.c - tests of filters as values of a page, and searches of the archive by
 * anybody, with web.search.
 */
#include "base/clock.h"
#include "message/sanitize.h"
#include "service/match/search.h"
#include "service/web/web_private.h"

static char *
format_count(struct web_call *call, const struct backtest *backtest)
{
	g_autofree char *papers = reply_text_format_count(
	    &call->text, PL_("1 paper", "{count} papers"), backtest->found);
	g_autofree char *days = reply_text_format_count(
	    &call->text, PL_("1 day", "{count} days"), backtest->days);

	return reply_text_format(
	    &call->text, N_("{papers} in {days}"), "papers", papers, "days", days);
}

static GVariantBuilder *
format_days(const struct backtest *backtest)
{
	GVariantBuilder *days = web_list_new();

	for (unsigned i = 0; i < backtest->by_day->len; i++) {
		GVariantBuilder *day = web_values_new();
		char name[DAY_BYTES];

		day_format(backtest->first_day_at + i * (int64_t)CLOCK_DAY_S, name);
		web_values_add(day, "day", name);
		web_values_add_number(
		    day, "papers", g_array_index(backtest->by_day, unsigned, i));
		web_list_add(days, day);
	}
	return days;
}

static void
add_paper(GVariantBuilder *papers, const char *id, const char *title, const char *url,
    const char *day)
{
	GVariantBuilder *values = web_values_new();
	g_autofree char *shown = sanitize_paper_text(title, 0);

	web_values_add(values, "id", id);
	web_values_add(values, "title", shown);
	web_values_add(values, "url", url);
	web_values_add(values, "day", day);
	web_list_add(papers, values);
}

static GVariantBuilder *
format_papers(const struct backtest *backtest)
{
	GVariantBuilder *papers = web_list_new();

	for (unsigned i = 0; i < backtest->newest->len; i++) {
		const struct backtest_paper *paper = backtest->newest->pdata[i];

		add_paper(papers, paper->id, paper->title, paper->url, paper->day);
	}
	return papers;
}

GVariantBuilder *
web_format_backtest(
    struct web_call *call, const struct backtest *backtest, bool has_papers)
{
	GVariantBuilder *values = web_values_new();
	g_autofree char *count = format_count(call, backtest);
	g_autofree char *forecast =
	    reply_text_format_forecast(&call->text, &backtest->forecast);

	web_values_add(values, "count", count);
	if (forecast)
		web_values_add(values, "forecast", forecast);
	web_values_take(values, "days", format_days(backtest));
	if (has_papers)
		web_values_take(values, "papers", format_papers(backtest));
	return values;
}

bool
web_add_test(
    struct web_call *call, const char *filter, int64_t subscriber_id, GError **error)
{
	const struct backtest_request wanted = {
	    .text = filter,
	    .subscriber_id = subscriber_id,
	    .now = call->handler->options.now,
	    .has_suggestions = subscriber_id != 0,
	    .po = reply_text_get_po(&call->text),
	};
	pb_local(query_error) problem = {0};
	g_autoptr(GError) wrong = NULL;
	pb_auto(backtest) backtest =
	    backtest_run(call->handler->store, &wanted, &problem, &wrong);

	if (!backtest)
		return web_add_filter_error(call, filter, &problem, &wrong, error);
	web_values_take(
	    call->values, "backtest", web_format_backtest(call, backtest, true));
	return !subscriber_id ||
	       web_offer_suggestions(call, filter, subscriber_id, error);
}

/* ---- search ---- */

/* Papers on the page. */
#define SEARCH_RESULTS 20

static GVariantBuilder *
format_results(const struct search_answer *found)
{
	GVariantBuilder *papers = web_list_new();

	for (unsigned i = 0; i < found->results->len; i++) {
		const struct search_result *result = found->results->pdata[i];
		const struct paper *paper = result->stored->paper;

		add_paper(
		    papers, paper->id, paper->title, paper->url, result->stored->day);
	}
	return papers;
}

static bool
search(struct web_call *call, const char *filter, GError **error)
{
	const struct search_scope scope = {
	    .now = call->handler->options.now, .po = reply_text_get_po(&call->text)};
	pb_local(query_error) problem = {0};
	g_autoptr(GError) wrong = NULL;
	pb_auto(search_answer) found = search_run(
	    call->handler->store, filter, &scope, SEARCH_RESULTS, &problem, &wrong);
	g_autofree char *count = NULL;
	GVariantBuilder *results;

	if (!found)
		return web_add_filter_error(call, filter, &problem, &wrong, error);
	count = reply_text_format_count(&call->text,
	    found->is_more ? PL_("at least 1 paper", "at least {count} papers")
	                   : PL_("1 paper", "{count} papers"),
	    found->found);
	results = web_values_new();
	web_values_add(results, "count", count);
	web_values_take(results, "papers", format_results(found));
	web_values_take(call->values, "backtest", results);
	return true;
}

bool
web_run_search(struct web_call *call, GError **error)
{
	g_autofree char *filter = web_get_line(call, "filter");

	if (!call->handler->options.settings->web_search)
		return web_refuse(call, WEB_STATUS_NOT_FOUND);
	call->page = WEB_PAGE_SEARCH;
	web_values_add(call->values, "form_filter", filter);
	return !*filter || !web_take_test(call, WEB_LIMIT_ANYBODY) ||
	       search(call, filter, error);
}
