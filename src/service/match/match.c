/*
 * match.c - matches filters with papers.
 */
#include "service/match/match.h"

#include <glib.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/day.h"
#include "query/query.h"
#include "service/match/match_page.h"
#include "service/match/percolator.h"
#include "store/core/store.h"
#include "store/paper/archive_cache.h"
#include "store/paper/filter_progress.h"
#include "store/paper/matches.h"
#include "store/paper/papers.h"

/* ---- matches a batch of papers with the filters that have seen all others ---- */

/* Maximum number of candidate filters in one commit. */
#define PAGE_CANDIDATES 2000

/* Saved rows after which a commit ends, so that other writers wait for some ten
 * milliseconds only. */
#define PAGE_SAVED 4000

/* Reading this many filters in sequence takes as long as reading one by its id. */
#define SEEK_FILTERS 24

/* A batch of papers. */
struct batch {
	struct store *store;
	struct match_page match_page;
	struct percolator *percolator;
	struct filter_progress progress; /* as last committed */
	struct filter_progress next;     /* as of the current transaction */
	bool is_ours;        /* false: another process made progress, start again */
	int64_t last;        /* highest id of a filter */
	bool has_candidates; /* the percolator may have further candidates */
};

/* Candidates of one commit. */
struct candidate_page {
	struct batch *batch;
	const GArray *ids; /* of them, int64_t */
	unsigned count;    /* of them */
	int64_t end;       /* the last one, or the end of the lookup */
	const struct match_report *before;
	/* Set by the transaction. */
	struct match_report report;
	bool is_more;
	int64_t last;   /* the last candidate that was run */
	unsigned saved; /* rows: one for all matches of a filter, one for each waiting
	                   match */
};

static void
batch_clear(struct batch *batch)
{
	match_page_clear(&batch->match_page);
	percolator_free(batch->percolator);
}

static bool
is_same_progress(const struct filter_progress *a, const struct filter_progress *b)
{
	return a->matched == b->matched && a->batch == b->batch &&
	       a->filter_id == b->filter_id;
}

/* Load the progress, and check that it is the one last committed. */
static bool
load_progress(struct batch *batch, GError **error)
{
	if (!filter_progress_load(batch->store, &batch->next, error))
		return false;
	batch->is_ours = is_same_progress(&batch->next, &batch->progress);
	return true;
}

static bool
save_start(struct store *store, void *data, GError **error)
{
	struct batch *batch = data;
	const struct match_page *match_page = &batch->match_page;

	if (!load_progress(batch, error))
		return false;
	if (!batch->is_ours)
		return true;
	if (batch->next.batch != match_page->through) {
		batch->next.batch = match_page->through;
		batch->next.filter_id = 0;
	}
	/* No paper to match: those with these revisions were merged, got a newer
	 * revision, or were last listed more than MATCH_WINDOW_DAYS ago. */
	if (!match_page->papers->len)
		batch->next.matched = batch->next.batch;
	return filter_progress_save(store, &batch->next, error);
}

/*
 * Begin a batch, or resume one.  Its start is committed before any lookup: from then on
 * no filter joins, so the highest id read afterwards is that of the last filter of the
 * batch.
 */
static bool
begin_batch(struct batch *batch, int64_t newest, const struct page_context *context,
    GError **error)
{
	const struct filter_progress *progress = &batch->progress;
	bool is_left = progress->batch > progress->matched;

	if (!match_page_load(&batch->match_page, batch->store, progress->matched,
	        is_left ? progress->batch : newest, context, error) ||
	    !store_transact(batch->store, save_start, batch, error))
		return false;
	if (batch->is_ours)
		batch->progress = batch->next;
	return true;
}

/*
 * List the next page of candidates.
 *
 * @param ids   to add them to
 * @param last  set to the last one, or to the end of the lookup
 * @return their number; fewer than a page: there are no more
 */
static unsigned
list_candidates(
    const struct percolator *percolator, int64_t after, GArray *ids, int64_t *last)
{
	*last = after;
	while (ids->len < PAGE_CANDIDATES && percolator_find_next(percolator, last))
		g_array_append_val(ids, *last);
	return ids->len;
}

static bool
is_candidate(void *data, int64_t id)
{
	const struct candidate_page *page = data;

	return page->saved < PAGE_SAVED &&
	       !bitset_is_empty(percolator_get_papers(page->batch->percolator, id));
}

static bool
run_candidate(void *data, int64_t id, const char *canonical, GError **error)
{
	struct candidate_page *page = data;
	struct batch *batch = page->batch;
	struct match_report *report = &page->report;
	const struct match_report before = *report;
	const struct match_page_filter filter = {
	    .id = id,
	    .canonical = canonical,
	    .papers = *percolator_get_papers(batch->percolator, id),
	    .is_first_run = true,
	};

	page->last = id;
	if (!match_page_run(&batch->match_page, batch->store, &filter, report, error))
		return false;
	page->saved +=
	    (report->found > before.found) + report->waiting - before.waiting;
	return true;
}

static bool
run_candidates(struct candidate_page *page, GError **error)
{
	struct batch *batch = page->batch;
	const struct filter_callbacks callbacks = {is_candidate, run_candidate, page};
	int64_t after = batch->progress.filter_id;

	return page->end - after <= page->count * (int64_t)SEEK_FILTERS
	           ? filter_progress_foreach_range(
	                 batch->store, after, page->end, &callbacks, error)
	           : filter_progress_foreach(
	                 batch->store, page->ids, &callbacks, error);
}

static bool
save_page(struct store *store, void *data, GError **error)
{
	struct candidate_page *page = data;
	struct batch *batch = page->batch;
	bool is_full;

	page->report = *page->before;
	page->saved = 0;
	match_page_forget(&batch->match_page);
	if (!load_progress(batch, error))
		return false;
	if (!batch->is_ours)
		return true;
	if (!run_candidates(page, error) ||
	    !match_page_save(&batch->match_page, store, error))
		return false;
	/* A full page ends early; the remaining candidates are looked up again. */
	is_full = page->saved >= PAGE_SAVED;
	page->is_more = is_full || page->count == PAGE_CANDIDATES;
	batch->next.filter_id = is_full ? page->last : page->end;
	if (!page->is_more && batch->next.filter_id >= batch->last)
		batch->next.matched = batch->next.batch;
	return filter_progress_save(store, &batch->next, error);
}

/* Match the batch with a page of candidates. After the last page the batch is done. */
static bool
run_page(struct batch *batch, struct match_report *report, GError **error)
{
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
	struct candidate_page page = {.batch = batch, .ids = ids, .before = report};

	page.count = list_candidates(
	    batch->percolator, batch->progress.filter_id, ids, &page.end);
	if (!store_transact(batch->store, save_page, &page, error))
		return false;
	if (!batch->is_ours)
		return true;
	batch->progress = batch->next;
	batch->has_candidates = page.is_more;
	*report = page.report;
	return true;
}

static bool
run_batch(struct batch *batch, struct match_report *report, GError **error)
{
	const struct filter_progress *progress = &batch->progress;

	if (!filter_progress_load_last_id(batch->store, &batch->last, error))
		return false;
	batch->percolator = percolator_new();
	for (unsigned i = 0; i < batch->match_page.papers->len; i++) {
		const struct match_page_paper *paper =
		    batch->match_page.papers->pdata[i];

		percolator_add(batch->percolator, paper->document);
	}
	while (batch->is_ours && progress->matched < progress->batch &&
	       !store_is_stopped(batch->store)) {
		if (!batch->has_candidates &&
		    !percolator_look_up(batch->percolator, batch->store,
		        progress->filter_id, batch->last, error))
			return false;
		if (!run_page(batch, report, error))
			return false;
		store_yield();
	}
	return true;
}

/* Match all new papers. @param report  added to */
static bool
match_batch_run(struct store *store, const struct page_context *context,
    struct match_report *report, GError **error)
{
	while (!store_is_stopped(store)) {
		pb_local(batch) batch = {.store = store};
		int64_t newest;

		if (!filter_progress_load(store, &batch.progress, error) ||
		    !papers_load_newest_revision(store, &newest, error))
			return false;
		if (batch.progress.batch <= batch.progress.matched &&
		    newest <= batch.progress.matched)
			return true;
		if (!begin_batch(&batch, newest, context, error))
			return false;
		if (batch.is_ours && !run_batch(&batch, report, error))
			return false;
	}
	return true;
}

#define PAGE_FILTERS 100
#define PAGE_JOINING 500

/* Maximum number of changed papers, and of filters waiting for these, in one commit. */
#define PAGE_PAPERS  100
#define PAGE_WAITING 500

/*
 * A longer time between two runs is a jump of the clock.  Daily runs are up to an hour
 * apart from a day when clocks change, and LAST_RUN may be an hour older.
 */
#define JUMP_S (26 * CLOCK_HOUR_S)

/* Time after a jump in which only fields from arXiv become final, s; shorter than a
 * day, so that the next daily run is after it. */
#define DISTRUST_S (23 * CLOCK_HOUR_S)

/* Time of the last run, and of the last forward jump of the clock. */
#define LAST_RUN  "match"
#define LAST_JUMP "match jump"

/* Paper whose waiting filters are being rechecked, and the last of these. */
#define RECHECK_PAPER  "recheck paper"
#define RECHECK_FILTER "recheck filter"

/* @param filter  not in the current batch */
static bool
run_filter(struct match_page *match_page, struct store *store,
    const struct stored_filter *filter, struct match_report *report, GError **error)
{
	struct match_page_filter page_filter = {
	    .id = filter->id, .canonical = filter->canonical};
	bool is_there;

	/* It may have been deleted since it was loaded. */
	if (!filter_progress_save_revision(
	        store, filter->id, match_page->through, &is_there, error))
		return false;
	if (!is_there)
		return true;
	for (unsigned i = 0; i < match_page->papers->len; i++) {
		const struct match_page_paper *paper = match_page->papers->pdata[i];

		if (paper->stored->revision > filter->matched_revision)
			bitset_add(&page_filter.papers, i);
	}
	return match_page_run(match_page, store, &page_filter, report, error);
}

/* Filters that lag behind, and the papers for them. */
struct lagging {
	struct match_page *match_page;
	const GPtrArray *filters;
	struct match_report before, report;
};

static bool
run_lagging(struct store *store, void *data, GError **error)
{
	struct lagging *lagging = data;
	struct match_page *match_page = lagging->match_page;

	lagging->report = lagging->before;
	match_page_forget(match_page);
	for (unsigned i = 0; i < lagging->filters->len; i++) {
		const struct stored_filter *filter = lagging->filters->pdata[i];

		/* Filters are sorted by progress; the page begins at the first one. */
		if (filter->matched_revision < match_page->through &&
		    !run_filter(match_page, store, filter, &lagging->report, error))
			return false;
	}
	return match_page_save(match_page, store, error);
}

/* Match the filters that lag behind with the papers that they have not seen. */
static bool
match_lagging(struct store *store, const struct page_context *context,
    struct match_report *report, GError **error)
{
	struct filter_progress progress;
	pb_local(match_page) match_page = {0};
	int64_t newest;
	unsigned joined;

	if (!filter_progress_load(store, &progress, error))
		return false;
	/* As far as the current batch, so that they can join it. */
	newest = progress.matched;
	while (!store_is_stopped(store)) {
		g_autoptr(GPtrArray) filters =
		    filter_progress_load_lagging(store, newest, PAGE_FILTERS, error);
		struct lagging lagging = {&match_page, filters, *report, *report};
		const struct stored_filter *first;

		if (!filters)
			return false;
		if (!filters->len)
			break;
		first = filters->pdata[0];
		if ((!match_page.papers || first->matched_revision < match_page.after ||
		        first->matched_revision >= match_page.through) &&
		    !match_page_load(&match_page, store, first->matched_revision,
		        newest, context, error))
			return false;
		if (!store_transact(store, run_lagging, &lagging, error))
			return false;
		*report = lagging.report;
	}
	do {
		if (!filter_progress_join_batch(store, PAGE_JOINING, &joined, error))
			return false;
	} while (joined == PAGE_JOINING && !store_is_stopped(store));
	return true;
}

/* Waiting matches */

static bool
recheck_filter(struct store *store, const struct stored_filter *filter,
    const struct stored_paper *stored, const struct query_document *document,
    const struct page_context *context, struct match_report *report, GError **error)
{
	pb_auto(query) query =
	    query_parse_canonical(filter->canonical, store_get_tokenizer(store), NULL);

	if (query && query_evaluate(query, document, QUERY_AS_REPORTED) == QUERY_TRUE) {
		report->decided++;
		return match_page_save_decided(
		    store, filter->id, stored, context->now, error);
	}
	if (query && query_is_time_dependent(query) &&
	    query_evaluate(query, document, QUERY_MAY_CHANGE) != QUERY_FALSE)
		return match_page_save_waiting(
		    store, filter->id, query, stored, context, error);
	return matches_delete_pending(store, filter->id, stored->seq, error);
}

/*
 * Recheck a page of the waiting matches of one paper.
 *
 * @param after  id of the last filter; set to the last one of the page, or to 0 at the
 *               end
 * @param room   maximum number of filters; decreased by those that were rechecked
 */
static bool
recheck_paper(struct store *store, int64_t seq, int64_t *after, unsigned *room,
    const struct page_context *context, struct match_report *report, GError **error)
{
	g_autoptr(GPtrArray) filters =
	    filter_progress_load_pending(store, seq, *after, *room, error);
	pb_auto(stored_paper) stored = NULL;
	pb_auto(query_document) document = NULL;
	bool is_full;

	if (!filters)
		return false;
	is_full = filters->len == *room;
	*room -= filters->len;
	if (!filters->len) {
		*after = 0;
		return true;
	}
	stored = papers_load(store, seq, error);
	if (stored)
		document = match_page_make_document(store, stored, context, error);
	if (!document)
		return false;
	for (unsigned i = 0; i < filters->len; i++) {
		const struct stored_filter *filter = filters->pdata[i];

		if (!recheck_filter(
		        store, filter, stored, document, context, report, error))
			return false;
		*after = filter->id;
	}
	if (!is_full)
		*after = 0;
	return true;
}

/*
 * Find a paper whose waiting filters are to be rechecked: it changed, or has waited
 * long enough. It counts as unchanged from its first page on: a change between two
 * pages marks it again.
 *
 * @param seq  set; 0: there is none
 */
static bool
find_recheck(struct store *store, int64_t now, int64_t *seq, GError **error)
{
	if (!papers_find_changed(store, seq, error))
		return false;
	if (*seq)
		return papers_clear_changed(store, *seq, error);
	return matches_find_due(store, now, seq, error);
}

/* A page of waiting matches. */
struct rechecking {
	const struct page_context *context;
	struct match_report before, report;
	bool is_done;
};

static bool
recheck_page(struct store *store, void *data, GError **error)
{
	struct rechecking *page = data;
	const struct page_context *context = page->context;
	unsigned room = PAGE_WAITING;
	int64_t seq, after, left;

	page->report = page->before;
	if (!store_load_cursor(store, RECHECK_PAPER, 0, &seq, error) ||
	    !store_load_cursor(store, RECHECK_FILTER, 0, &after, error))
		return false;
	left = seq;
	for (unsigned i = 0; i < PAGE_PAPERS && room; i++) {
		if (!seq && !find_recheck(store, context->now, &seq, error))
			return false;
		page->is_done = !seq;
		if (!seq)
			break;
		if (!recheck_paper(
		        store, seq, &after, &room, context, &page->report, error))
			return false;
		if (!after)
			seq = 0;
	}
	return !(seq || left) ||
	       (store_save_cursor(store, RECHECK_PAPER, seq, error) &&
	           store_save_cursor(store, RECHECK_FILTER, after, error));
}

static bool
recheck_all(struct store *store, const struct page_context *context,
    struct match_report *report, GError **error)
{
	struct rechecking page = {context, *report, *report, false};

	while (!page.is_done && !store_is_stopped(store)) {
		if (!store_transact(store, recheck_page, &page, error))
			return false;
		*report = page.before = page.report;
	}
	return true;
}

/* Find the time from which fields from other sources than arXiv may become final: after
 * a jump the clock may be wrong. */
static bool
load_trusted_at(struct store *store, int64_t now, int64_t *trusted_at, GError **error)
{
	int64_t last, jumped_at;
	bool is_rare = false;

	if (!store_load_cursor(store, LAST_RUN, now, &last, error) ||
	    !store_load_cursor(store, LAST_JUMP, 0, &jumped_at, error))
		return false;
	if (now - last > JUMP_S || jumped_at > now) {
		/* The previous run jumped too, with none between: runs are rare. */
		is_rare = last == jumped_at;
		jumped_at = now;
		if (!store_save_cursor(store, LAST_JUMP, jumped_at, error))
			return false;
	}
	/* At most once an hour, since each is a commit; also at the first run (now ==
	 * last) and when the clock was set back. */
	if ((now == last || now < last || now - last >= CLOCK_HOUR_S) &&
	    !store_save_cursor(store, LAST_RUN, now, error))
		return false;
	*trusted_at = !jumped_at || is_rare ? now : jumped_at + DISTRUST_S;
	return true;
}

bool
match_run(struct store *store, int64_t now, struct match_report *report, GError **error)
{
	struct page_context context = {.now = now};

	return archive_cache_refresh(store, error) &&
	       load_trusted_at(store, now, &context.trusted_at, error) &&
	       match_batch_run(store, &context, report, error) &&
	       (store_is_stopped(store) ||
	           match_lagging(store, &context, report, error)) &&
	       recheck_all(store, &context, report, error);
}
