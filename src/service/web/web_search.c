/*
 * web_search.c - searches of the archive by anybody, with web.search.
 */
#include "base/bounds.h"
#include "message/sanitize.h"
#include "service/match/search.h"
#include "service/web/web_private.h"

/* Papers on the page. */
#define SEARCH_RESULTS 20

static GVariantBuilder *
format_results(const struct search_answer *found)
{
	GVariantBuilder *papers = web_list_new();

	for (unsigned i = 0; i < found->results->len; i++) {
		const struct search_result *result = found->results->pdata[i];
		const struct paper *paper = result->stored->paper;
		GVariantBuilder *values = web_values_new();
		g_autofree char *title = sanitize_paper_text(paper->title, 0);

		web_values_add(values, "id", paper->id);
		web_values_add(values, "title", title);
		web_values_add(values, "url", paper->url);
		web_values_add(values, "day", result->stored->day);
		web_list_add(papers, values);
	}
	return papers;
}

static bool
search(struct web_call *call, const char *filter, GError **error)
{
	const struct search_scope scope = {.now = call->handler->options.now,
	    .texts = reply_text_get_texts(&call->text)};
	pb_local(query_error) problem = {0};
	g_autoptr(GError) wrong = NULL;
	pb_auto(search_answer) found = search_run(
	    call->handler->store, filter, &scope, SEARCH_RESULTS, &problem, &wrong);
	g_autofree char *count = NULL;
	GVariantBuilder *results;

	if (!found && !problem.message)
		return web_add_error(call, "filter", &wrong, error);
	if (!found) {
		web_add_query_error(call, filter, &problem);
		return true;
	}
	count = reply_text_format_count(
	    &call->text, found->is_more ? "papers_least" : "papers", found->found);
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
