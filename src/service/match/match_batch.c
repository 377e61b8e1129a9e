/*
 * match_batch.c - matches a batch of papers with the filters that have seen all others.
 */
#include "service/match/match_batch.h"

#include "base/append.h"
#include "service/match/percolator.h"
#include "store/paper/filter_progress.h"

/* Maximum number of candidates, and about that of rows, in one commit: other writers
 * wait for some ten milliseconds. */
#define PAGE_CANDIDATES 4000
#define PAGE_SAVED      8000

/* Reading this many filters in sequence takes as long as one lookup. */
#define SEEK_FILTERS 24

/* A batch of papers. */
struct batch {
	struct store *store;
	struct match_page match_page;
	struct percolator *percolator;
	struct filter_progress progress; /* as last committed */
	int64_t last;                    /* highest id of a filter */
	bool has_candidates; /* the percolator may have further candidates */
};

/* Candidates of one commit. */
struct page {
	struct batch *batch;
	struct match_report *report;
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

/*
 * Begin a batch, or resume one.  Its start is committed before any lookup: from then on
 * no filter joins, so the highest id read afterwards is that of the last filter of the
 * batch.
 *
 * @param is_ours  set; false: another process made progress, start again
 */
static bool
begin_batch(struct batch *batch, int64_t newest, const struct page_context *context,
    bool *is_ours, GError **error)
{
	struct filter_progress *progress = &batch->progress;
	bool is_left = progress->batch > progress->matched;
	pb_transaction transaction = {0};
	struct filter_progress now;

	if (!match_page_load(&batch->match_page, batch->store, progress->matched,
	        is_left ? progress->batch : newest, context, error) ||
	    !store_begin(batch->store, &transaction, error) ||
	    !filter_progress_load(batch->store, &now, error))
		return false;
	*is_ours = is_same_progress(&now, progress);
	if (!*is_ours)
		return true;
	if (now.batch != batch->match_page.through) {
		now.batch = batch->match_page.through;
		now.filter_id = 0;
	}
	/* The papers have been deleted. */
	if (!batch->match_page.papers->len)
		now.matched = now.batch;
	if (!filter_progress_save(batch->store, &now, error) ||
	    !store_commit(&transaction, error))
		return false;
	*progress = now;
	return true;
}

/*
 * List the next page of candidates.
 *
 * @param ids   a JSON array of them
 * @param last  set to the last one, or to the end of the lookup
 * @return their number; fewer than a page: there are no more
 */
static unsigned
list_candidates(
    const struct percolator *percolator, int64_t after, GString *ids, int64_t *last)
{
	unsigned count = 0;

	*last = after;
	g_string_assign(ids, "[");
	for (; count < PAGE_CANDIDATES && percolator_find_next(percolator, last);
	     count++) {
		if (count)
			g_string_append_c(ids, ',');
		append_number(ids, *last);
	}
	g_string_append_c(ids, ']');
	return count;
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
	struct match_report *report = page->report;
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

/* Match the batch with a page of candidates. After the last page the batch is done. */
static bool
run_page(
    struct batch *batch, struct match_report *report, bool *is_ours, GError **error)
{
	struct match_report sums = *report;
	struct page page = {.batch = batch, .report = &sums};
	g_autoptr(GString) ids = g_string_new(NULL);
	const struct filter_callbacks callbacks = {is_candidate, run_candidate, &page};
	pb_transaction transaction = {0};
	struct filter_progress now;
	int64_t last, after = batch->progress.filter_id;
	unsigned count = list_candidates(batch->percolator, after, ids, &last);
	bool is_more = count == PAGE_CANDIDATES;

	if (!store_begin(batch->store, &transaction, error) ||
	    !filter_progress_load(batch->store, &now, error))
		return false;
	*is_ours = is_same_progress(&now, &batch->progress);
	if (!*is_ours)
		return true;
	if (last - after <= count * (int64_t)SEEK_FILTERS
	        ? !filter_progress_foreach_range(
	              batch->store, after, last, &callbacks, error)
	        : !filter_progress_foreach(batch->store, ids->str, &callbacks, error))
		return false;
	if (!match_page_save(&batch->match_page, batch->store, error))
		return false;
	/* A full page ends early; the remaining candidates are looked up again. */
	is_more = is_more || page.saved >= PAGE_SAVED;
	now.filter_id = page.saved >= PAGE_SAVED ? page.last : last;
	if (!is_more && now.filter_id >= batch->last)
		now.matched = now.batch;
	if (!filter_progress_save(batch->store, &now, error) ||
	    !store_commit(&transaction, error))
		return false;
	batch->progress = now;
	batch->has_candidates = is_more;
	*report = sums;
	return true;
}

static bool
run_batch(struct batch *batch, struct match_report *report, GError **error)
{
	const struct filter_progress *progress = &batch->progress;
	bool is_ours = true;

	if (!filter_progress_load_last_id(batch->store, &batch->last, error))
		return false;
	batch->percolator = percolator_new();
	for (unsigned i = 0; i < batch->match_page.papers->len; i++) {
		const struct match_page_paper *paper =
		    batch->match_page.papers->pdata[i];

		percolator_add(batch->percolator, paper->document);
	}
	while (is_ours && progress->matched < progress->batch &&
	       !store_is_stopped(batch->store)) {
		if (!batch->has_candidates &&
		    !percolator_look_up(batch->percolator, batch->store,
		        progress->filter_id, batch->last, error))
			return false;
		if (!run_page(batch, report, &is_ours, error))
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
		bool is_ours;

		if (!filter_progress_load(store, &batch.progress, error) ||
		    !papers_load_newest_revision(store, &newest, error))
			return false;
		if (batch.progress.batch <= batch.progress.matched &&
		    newest <= batch.progress.matched)
			return true;
		if (!begin_batch(&batch, newest, context, &is_ours, error))
			return false;
		if (is_ours && !run_batch(&batch, report, error))
			return false;
	}
	return true;
}
