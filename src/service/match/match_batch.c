/*
 * match_batch.c - matches a batch of papers with the filters that have seen all others.
 */
#include "service/match/match_batch.h"

#include "service/match/percolator.h"
#include "store/paper/filter_progress.h"

/* Maximum number of candidates, and about that of rows, in one commit: other writers
 * wait for some ten milliseconds. */
#define PAGE_CANDIDATES 2000
#define PAGE_SAVED      4000

/* Reading this many filters in sequence takes as long as one lookup. */
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
struct page {
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
	/* The papers have been deleted. */
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
	const struct page *page = data;

	return page->saved < PAGE_SAVED &&
	       !bitset_is_empty(percolator_get_papers(page->batch->percolator, id));
}

static bool
run_candidate(void *data, int64_t id, const char *canonical, GError **error)
{
	struct page *page = data;
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
run_candidates(struct page *page, GError **error)
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
	struct page *page = data;
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
	struct page page = {.batch = batch, .ids = ids, .before = report};

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

bool
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
