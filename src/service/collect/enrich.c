/*
 * enrich.c - looks up papers of other sources at arXiv.
 */
#include "service/collect/enrich.h"

#include "base/clock.h"
#include "service/collect/source_backoff.h"
#include "service/log/event.h"
#include "sources/fetch_days.h"
#include "store/paper/papers.h"

/* Names of the backoff state. */
#define NAME        "arxiv-api"
#define QUERIED     "queried"
#define QUERIED_ALL "queried all"

#define PAGES 10
#define ALL_S (6 * CLOCK_HOUR_S)

/* Papers to be saved. */
struct enrichment {
	const GPtrArray *papers; /* of struct paper * */
	int64_t now;
	struct papers_saved saved; /* set */
};

static bool
save_enrichment(struct store *store, void *data, GError **error)
{
	struct enrichment *enrichment = data;

	return papers_save_enrichment(
	    store, enrichment->papers, enrichment->now, &enrichment->saved, error);
}

/* Look up one page of papers and store the answer. */
static bool
enrich_page(const struct collect *collect, GPtrArray *ids, int64_t now,
    struct collect_report *report, bool *is_failed, GError **error)
{
	g_autoptr(GError) fetch_error = NULL;
	int64_t retry_after_s;
	g_autoptr(GPtrArray) found = arxiv_find(
	    collect->http, collect->arxiv, ids, &retry_after_s, &fetch_error);
	g_autoptr(GPtrArray) papers = g_ptr_array_new();
	struct enrichment enrichment = {.papers = papers, .now = now};

	if (!found) {
		*is_failed = true;
		if (collect->stop && g_atomic_int_get(collect->stop))
			return true;
		event_log(EVENT_ENRICH_FAILED, EVENT_TEXT(fetch_error->message));
		return source_backoff_save_pause(collect->store, NAME,
		    collect->arxiv->api_url, retry_after_s, now, error);
	}
	for (unsigned i = 0; i < found->len; i++)
		g_ptr_array_add(papers, ((struct listing *)found->pdata[i])->paper);
	if (!store_transact(collect->store, save_enrichment, &enrichment, error))
		return false;
	report->changed += enrichment.saved.changed;
	event_log(EVENT_PAPERS_ENRICHED, EVENT_INT("requested", ids->len),
	    EVENT_INT("found", enrichment.saved.listed),
	    EVENT_INT("changed", enrichment.saved.changed));
	return true;
}

bool
enrich_run(const struct collect *collect, int64_t now, struct collect_report *report,
    GError **error)
{
	g_autoptr(GPtrArray) ids = NULL;
	int64_t fetched_at, all_at, until,
	    oldest = now - FETCH_DAYS_OLDEST * (int64_t)CLOCK_DAY_S;
	bool is_failed = false, is_all;

	if (!source_backoff_load(collect->store, NAME, QUERIED, &fetched_at, error) ||
	    !source_backoff_load(collect->store, NAME, QUERIED_ALL, &all_at, error) ||
	    !source_backoff_find_pause(
	        collect->store, NAME, collect->arxiv->api_url, now, &until, error))
		return false;
	if (until >= 0)
		return true;
	is_all = all_at < 0 || all_at > now || now - all_at >= ALL_S;
	ids = papers_load_unenriched(collect->store,
	    is_all ? oldest : MAX(fetched_at, oldest), ARXIV_IDS_MAX * PAGES, error);
	for (unsigned at = 0; ids && at < ids->len && !is_failed; at += ARXIV_IDS_MAX) {
		g_autoptr(GPtrArray) page = g_ptr_array_new();

		for (unsigned i = at; i < MIN(at + ARXIV_IDS_MAX, ids->len); i++)
			g_ptr_array_add(page, ids->pdata[i]);
		if (!enrich_page(collect, page, now, report, &is_failed, error))
			return false;
	}
	if (!ids || is_failed || !ids->len)
		return ids != NULL;
	/* The rest is looked up at the next poll. */
	if (ids->len == ARXIV_IDS_MAX * PAGES)
		return source_backoff_clear_pause(collect->store, NAME, error);
	return source_backoff_clear_pause(collect->store, NAME, error) &&
	       source_backoff_save(collect->store, NAME, QUERIED, now, error) &&
	       (!is_all ||
	           source_backoff_save(collect->store, NAME, QUERIED_ALL, now, error));
}
