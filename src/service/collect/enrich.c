/*
 * enrich.c - asks services for what the sources do not report about papers.
 */
#include "service/collect/enrich.h"

#include "base/clock.h"
#include "service/collect/source_status.h"
#include "service/log/event.h"
#include "sources/arxiv.h"
#include "sources/crossref.h"
#include "sources/europepmc.h"
#include "store/paper/papers.h"

/* Maximum number of requests to one service in one poll of the sources, and of the
 * papers that are loaded for them. */
#define REQUESTS 10
#define PAPERS   1000

/* Age of the oldest papers that are looked up, s. */
#define OLDEST_S (14 * (int64_t)CLOCK_DAY_S)

static const struct service {
	const char *name; /* of its pause */
	enum paper_lookup lookup;
	source_find_fn *find;
} services[COLLECT_LOOKUPS] = {
    [COLLECT_LOOKUP_ARXIV] = {"arxiv-api", PAPER_LOOKUP_ARXIV, arxiv_find},
    [COLLECT_LOOKUP_EUROPEPMC] = {"europepmc-api", PAPER_LOOKUP_EUROPEPMC,
        europepmc_find},
    [COLLECT_LOOKUP_CROSSREF] = {"crossref-api", PAPER_LOOKUP_CROSSREF, crossref_find},
};

/* Papers that a service was asked for. */
struct batch {
	const struct collect *collect;
	const struct service *service;
	const struct source_options *options;
	int64_t now;
	const GPtrArray *papers;   /* of struct paper *, those found */
	const GPtrArray *asked;    /* of struct stored_paper *, or NULL */
	int64_t until;             /* end of the pause after a failure */
	struct papers_saved saved; /* set */
};

static bool
save_batch(struct store *store, void *data, GError **error)
{
	struct batch *batch = data;

	return papers_save_lookup(store, batch->service->lookup, batch->papers,
	    batch->asked, batch->now, &batch->saved, error);
}

static bool
save_delay(struct store *store, void *data, GError **error)
{
	const struct batch *batch = data;

	return papers_delay_lookup(store, batch->service->lookup,
	    batch->until + PAPERS_LOOKUP_S, batch->now, error);
}

/* Pause the service, and let papers wait for it. */
static bool
save_failure(
    struct batch *batch, int64_t retry_after_s, const GError *failure, GError **error)
{
	struct store *store = batch->collect->store;
	const char *name = batch->service->name;
	const char *url = batch->options->url;

	event_log(EVENT_ENRICH_FAILED, EVENT_WORD("service", name),
	    EVENT_TEXT(failure->message));
	return source_backoff_save_pause(
	           store, name, url, retry_after_s, batch->now, error) &&
	       source_backoff_find_pause(
	           store, name, url, batch->now, &batch->until, error) &&
	       store_transact(store, save_delay, batch, error);
}

/* Send one request and store the answer. @param lookup  count is set */
static bool
ask(struct batch *batch, const GPtrArray *waiting, const GPtrArray *papers,
    struct source_lookup *lookup, bool *is_failed, GError **error)
{
	const struct collect *collect = batch->collect;
	g_autoptr(GError) failure = NULL;
	g_autoptr(GPtrArray) found = batch->service->find(
	    collect->http, batch->options, papers, lookup, &failure);
	g_autoptr(GPtrArray) answers = g_ptr_array_new();
	g_autoptr(GPtrArray) asked = g_ptr_array_new();

	*is_failed = !found;
	/* Cancelled by us: not an error of the service. */
	if (!found && collect->stop && g_atomic_int_get(collect->stop))
		return true;
	if (!found)
		return save_failure(batch, lookup->retry_after_s, failure, error);
	for (unsigned i = 0; i < found->len; i++)
		g_ptr_array_add(answers, ((struct listing *)found->pdata[i])->paper);
	for (unsigned i = 0; i < lookup->count; i++)
		g_ptr_array_add(asked, waiting->pdata[lookup->at + i]);
	batch->papers = answers;
	batch->asked = lookup->is_complete ? asked : NULL;
	if (!store_transact(collect->store, save_batch, batch, error))
		return false;
	event_log(EVENT_PAPERS_ENRICHED, EVENT_WORD("service", batch->service->name),
	    EVENT_INT("requested", lookup->count),
	    EVENT_INT("found", batch->saved.listed),
	    EVENT_INT("changed", batch->saved.changed));
	return true;
}

static bool
ask_all(struct batch *batch, const GPtrArray *waiting, struct collect_report *report,
    GError **error)
{
	const struct collect *collect = batch->collect;
	g_autoptr(GPtrArray) papers = g_ptr_array_new();
	struct source_lookup lookup = {0};
	bool is_failed = false;

	for (unsigned i = 0; i < waiting->len; i++)
		g_ptr_array_add(
		    papers, ((struct stored_paper *)waiting->pdata[i])->paper);
	for (unsigned i = 0; i < REQUESTS && lookup.at < papers->len; i++) {
		if (collect->progress)
			collect->progress(collect->progress_data, batch->service->name,
			    "missing fields");
		if (!ask(batch, waiting, papers, &lookup, &is_failed, error))
			return false;
		if (is_failed)
			return true;
		report->changed += batch->saved.changed;
		lookup.at += lookup.count;
	}
	return source_backoff_clear_pause(collect->store, batch->service->name, error);
}

static bool
run_service(const struct collect *collect, enum collect_lookup i, int64_t now,
    struct collect_report *report, GError **error)
{
	struct batch batch = {
	    .collect = collect,
	    .service = &services[i],
	    .options = &collect->lookups[i],
	    .now = now,
	};
	g_autoptr(GPtrArray) waiting = NULL;
	int64_t until;

	if (!source_backoff_find_pause(collect->store, batch.service->name,
	        batch.options->url, now, &until, error))
		return false;
	if (until >= 0)
		return true;
	waiting = papers_load_awaited(
	    collect->store, batch.service->lookup, now - OLDEST_S, PAPERS, error);
	return waiting && (!waiting->len || ask_all(&batch, waiting, report, error));
}

bool
enrich_run(const struct collect *collect, int64_t now, struct collect_report *report,
    GError **error)
{
	/* arXiv is first: it may know a DOI. */
	for (unsigned i = 0; i < COLLECT_LOOKUPS; i++)
		if (collect->lookups[i].url &&
		    !run_service(collect, (enum collect_lookup)i, now, report, error))
			return false;
	return true;
}
