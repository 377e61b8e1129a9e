/*
 * enrich.c - asks services for what the sources do not report about papers, and for
 * what becomes of those that somebody watches.
 */
#include "service/collect/enrich.h"

#include "base/clock.h"
#include "service/collect/source_status.h"
#include "service/log/event.h"
#include "sources/arxiv.h"
#include "sources/crossref.h"
#include "sources/europepmc.h"
#include "sources/huggingface.h"
#include "store/paper/paper_events.h"
#include "store/paper/papers.h"

/* Maximum number of requests to one service in one poll of the sources, of those to one
 * that has no batches, and of the papers that are loaded for them. */
#define REQUESTS        10
#define REQUESTS_SINGLE 40
#define PAPERS          1000

/* Maximum number of watched papers about which a service is asked in a day, how often
 * it is asked about each, and age of the oldest change of which it is asked for a list.
 */
#define WATCHED_PAPERS 2000
#define WATCHED_S      (7 * (int64_t)CLOCK_DAY_S)
#define CHANGES_S      (7 * (int64_t)CLOCK_DAY_S)

/* When a service was asked for a list of changes (source_backoff_save()), s. */
#define CHANGES "changes"

/* Age of the oldest papers that are looked up, s. */
#define OLDEST_S (14 * (int64_t)CLOCK_DAY_S)

static const struct service {
	const char *name; /* of its pause */
	enum paper_lookup lookup;
	source_find_fn *find;
	source_find_fn *find_changes; /* or NULL: asked about each paper daily */
} services[COLLECT_LOOKUPS] = {
    [COLLECT_LOOKUP_ARXIV] = {"arxiv-api", PAPER_LOOKUP_ARXIV, arxiv_find,
        arxiv_find_versions},
    [COLLECT_LOOKUP_EUROPEPMC] = {"europepmc-api", PAPER_LOOKUP_EUROPEPMC,
        europepmc_find, europepmc_find_notices},
    [COLLECT_LOOKUP_CROSSREF] = {"crossref-api", PAPER_LOOKUP_CROSSREF, crossref_find,
        crossref_find_notices},
    [COLLECT_LOOKUP_HUGGINGFACE] = {"huggingface-api", PAPER_LOOKUP_HUGGINGFACE,
        huggingface_find, NULL},
};

/* Papers that a service was asked for. */
struct batch {
	const struct collect *collect;
	const struct service *service;
	const struct source_options *options;
	int64_t now;
	const GPtrArray *papers;   /* of struct paper *, those found */
	const GPtrArray *listings; /* the same */
	const GPtrArray *asked;    /* of struct stored_paper * */
	bool is_complete;          /* what was not found is unknown to the service */
	bool is_watched;           /* they are asked for because they are watched */
	bool is_failed;
	int64_t until;             /* end of the pause after a failure */
	struct papers_saved saved; /* set */
};

static bool
save_batch(struct store *store, void *data, GError **error)
{
	struct batch *batch = data;
	enum paper_lookup lookup = batch->service->lookup;
	bool is_unknown = batch->is_complete && !batch->is_watched;

	if (!papers_save_lookup(store, lookup, batch->papers,
	        is_unknown ? batch->asked : NULL, batch->now, &batch->saved, error))
		return false;
	return !batch->is_watched ||
	       (papers_save_versions(store, batch->listings, batch->now, error) &&
	           paper_events_save_asked(
	               store, lookup, batch->asked, batch->now, error));
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
ask(struct batch *batch, source_find_fn *find, const GPtrArray *waiting,
    const GPtrArray *papers, struct source_lookup *lookup, GError **error)
{
	const struct collect *collect = batch->collect;
	g_autoptr(GError) failure = NULL;
	g_autoptr(GPtrArray) found =
	    find(collect->http, batch->options, papers, lookup, &failure);
	g_autoptr(GPtrArray) answers = g_ptr_array_new();
	g_autoptr(GPtrArray) asked = g_ptr_array_new();

	batch->is_failed = !found;
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
	batch->listings = found;
	batch->asked = asked;
	batch->is_complete = lookup->is_complete;
	if (!store_transact(collect->store, save_batch, batch, error))
		return false;
	event_log(EVENT_PAPERS_ENRICHED, EVENT_WORD("service", batch->service->name),
	    EVENT_INT("requested", lookup->count),
	    EVENT_INT("found", batch->saved.listed),
	    EVENT_INT("changed", batch->saved.changed));
	return true;
}

/* @param waiting  of struct stored_paper * @return of struct paper * */
static GPtrArray *
get_papers(const GPtrArray *waiting)
{
	GPtrArray *papers = g_ptr_array_new();

	for (unsigned i = 0; i < waiting->len; i++)
		g_ptr_array_add(
		    papers, ((struct stored_paper *)waiting->pdata[i])->paper);
	return papers;
}

static bool
ask_all(struct batch *batch, const GPtrArray *waiting, struct collect_report *report,
    GError **error)
{
	const struct collect *collect = batch->collect;
	const struct service *service = batch->service;
	unsigned requests = service->find_changes ? REQUESTS : REQUESTS_SINGLE;
	g_autoptr(GPtrArray) papers = get_papers(waiting);
	struct source_lookup lookup = {0};

	for (unsigned i = 0; i < requests && lookup.at < papers->len; i++) {
		if (collect->stop && g_atomic_int_get(collect->stop))
			return true;
		if (collect->progress)
			collect->progress(collect->progress_data, service->name,
			    batch->is_watched ? "watched papers" : "missing fields");
		if (!ask(batch, service->find, waiting, papers, &lookup, error))
			return false;
		if (batch->is_failed)
			return true;
		report->changed += batch->saved.changed;
		lookup.at += lookup.count;
	}
	return source_backoff_clear_pause(collect->store, service->name, error);
}

/* Ask for a list of what has changed, once on each UTC day. */
static bool
ask_changes(struct batch *batch, struct collect_report *report, GError **error)
{
	struct store *store = batch->collect->store;
	const struct service *service = batch->service;
	struct source_lookup lookup = {0};
	g_autoptr(GPtrArray) watched = NULL;
	g_autoptr(GPtrArray) papers = NULL;
	int64_t at;

	if (!source_backoff_load(store, service->name, CHANGES, &at, error))
		return false;
	if (at / CLOCK_DAY_S == batch->now / CLOCK_DAY_S)
		return true;
	watched = paper_events_load_due(
	    store, service->lookup, batch->now, batch->now, WATCHED_PAPERS, error);
	if (!watched || !watched->len)
		return watched != NULL;
	papers = get_papers(watched);
	/* Lists of a day are not complete before it ends. */
	lookup.since = CLAMP(at, batch->now - CHANGES_S, batch->now) - CLOCK_DAY_S;
	if (!ask(batch, service->find_changes, watched, papers, &lookup, error))
		return false;
	if (batch->is_failed)
		return true;
	report->changed += batch->saved.changed;
	return source_backoff_save(store, service->name, CHANGES, batch->now, error);
}

/* Ask what became of watched papers: about each once a week, or once on each UTC day.
 */
static bool
ask_watched(struct batch *batch, struct collect_report *report, GError **error)
{
	struct store *store = batch->collect->store;
	const struct service *service = batch->service;
	int64_t now = batch->now, count;
	int64_t before =
	    service->find_changes ? now - WATCHED_S : now - now % CLOCK_DAY_S - 1;
	g_autoptr(GPtrArray) due = NULL;

	batch->is_watched = true;
	if (!paper_events_count_asked(
	        store, service->lookup, now - CLOCK_DAY_S, &count, error))
		return false;
	due = paper_events_load_due(store, service->lookup, before, now,
	    (unsigned)CLAMP(WATCHED_PAPERS - count, 0, PAPERS), error);
	if (!due || (due->len && !ask_all(batch, due, report, error)))
		return false;
	return batch->is_failed || !service->find_changes ||
	       ask_changes(batch, report, error);
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
	return waiting && (!waiting->len || ask_all(&batch, waiting, report, error)) &&
	       (batch.is_failed || ask_watched(&batch, report, error));
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
