/*
 * match.c - matches filters with papers.
 */
#include "service/match/match.h"

#include "base/clock.h"
#include "service/match/paper_batch.h"
#include "service/match/percolator.h"
#include "store/paper/archive_cache.h"
#include "store/paper/filter_progress.h"
#include "store/paper/matches.h"

/* ---- matches a batch of papers with the filters that have seen all others ---- */

/* Maximum number of candidate filters in one commit; more delay other writers. */
#define COMMIT_CANDIDATES 2000

/* Saved rows after which a commit ends, so that other writers wait for some ten
 * milliseconds only. */
#define COMMIT_ROWS 4000

/* A batch of papers. */
struct batch {
	struct store *store;
	struct paper_batch paper_batch;
	struct percolator *percolator;
	struct filter_progress progress; /* as last committed */
	struct filter_progress next;     /* as of the current transaction */
	bool is_ours;        /* false: another process made progress, start again */
	int64_t last;        /* highest id of a filter */
	bool has_candidates; /* the percolator may have further candidates */
};

/* Candidates of one commit. */
struct candidates {
	struct batch *batch;
	const GArray *ids; /* the candidates, ascending, int64_t */
	int64_t end;       /* the last candidate, or the end of the lookup */
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
	paper_batch_clear(&batch->paper_batch);
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
	const struct paper_batch *paper_batch = &batch->paper_batch;

	if (!load_progress(batch, error))
		return false;
	if (!batch->is_ours)
		return true;
	if (batch->next.batch != paper_batch->through) {
		batch->next.batch = paper_batch->through;
		batch->next.filter_id = 0;
	}
	/* No paper to match: those with these revisions were merged, got a newer
	 * revision, or were last listed more than MATCH_WINDOW_DAYS ago. */
	if (!paper_batch->papers->len)
		batch->next.matched = batch->next.batch;
	return filter_progress_save(store, &batch->next, error);
}

/*
 * Begin a batch, or resume one.  Its start is committed before any lookup: from then on
 * no filter joins, so the highest id read afterwards is that of the last filter of the
 * batch.
 */
static bool
begin_batch(struct batch *batch, int64_t newest, const struct match_context *context,
    GError **error)
{
	const struct filter_progress *progress = &batch->progress;
	bool is_left = progress->batch > progress->matched;

	if (!paper_batch_load(&batch->paper_batch, batch->store, progress->matched,
	        is_left ? progress->batch : newest, context, error) ||
	    !store_transact(batch->store, save_start, batch, error))
		return false;
	if (batch->is_ours)
		batch->progress = batch->next;
	return true;
}

static bool
run_candidate(void *data, int64_t id, const char *canonical, GError **error)
{
	struct candidates *candidates = data;
	struct batch *batch = candidates->batch;
	struct match_report *report = &candidates->report;
	const struct match_report before = *report;
	const struct paper_batch_filter filter = {
	    .id = id,
	    .canonical = canonical,
	    .papers = *percolator_get_papers(batch->percolator, id),
	    .is_first_run = true,
	};

	if (candidates->saved >= COMMIT_ROWS)
		return true;
	candidates->last = id;
	if (!paper_batch_run(&batch->paper_batch, batch->store, &filter, report, error))
		return false;
	candidates->saved +=
	    (report->found > before.found) + report->waiting - before.waiting;
	return true;
}

static bool
save_candidates(struct store *store, void *data, GError **error)
{
	struct candidates *candidates = data;
	struct batch *batch = candidates->batch;
	bool is_full;

	candidates->report = *candidates->before;
	candidates->saved = 0;
	if (!load_progress(batch, error))
		return false;
	if (!batch->is_ours)
		return true;
	if (!filter_progress_foreach(
	        store, candidates->ids, run_candidate, candidates, error) ||
	    !matches_add_total(
	        store, candidates->report.found - candidates->before->found, error))
		return false;
	/* A full commit ends early; the remaining candidates are looked up again. */
	is_full = candidates->saved >= COMMIT_ROWS;
	candidates->is_more = is_full || candidates->ids->len == COMMIT_CANDIDATES;
	batch->next.filter_id = is_full ? candidates->last : candidates->end;
	if (!candidates->is_more && batch->next.filter_id >= batch->last)
		batch->next.matched = batch->next.batch;
	return filter_progress_save(store, &batch->next, error);
}

/* Match the batch with the next candidates. After the last ones the batch is done. */
static bool
match_candidates(struct batch *batch, struct match_report *report, GError **error)
{
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
	struct candidates candidates = {.batch = batch,
	    .ids = ids,
	    .end = batch->progress.filter_id,
	    .before = report};

	while (ids->len < COMMIT_CANDIDATES &&
	       percolator_find_next(batch->percolator, &candidates.end))
		g_array_append_val(ids, candidates.end);
	if (!store_transact(batch->store, save_candidates, &candidates, error))
		return false;
	if (!batch->is_ours)
		return true;
	batch->progress = batch->next;
	batch->has_candidates = candidates.is_more;
	*report = candidates.report;
	return true;
}

static bool
run_batch(struct batch *batch, struct match_report *report, GError **error)
{
	const struct filter_progress *progress = &batch->progress;

	if (!filter_progress_load_last_id(batch->store, &batch->last, error))
		return false;
	batch->percolator = percolator_new();
	for (unsigned i = 0; i < batch->paper_batch.papers->len; i++) {
		const struct batch_paper *paper = batch->paper_batch.papers->pdata[i];

		percolator_add(batch->percolator, paper->document);
	}
	while (batch->is_ours && progress->matched < progress->batch &&
	       !store_is_stopped(batch->store)) {
		if (!batch->has_candidates &&
		    !percolator_look_up(batch->percolator, batch->store,
		        progress->filter_id, batch->last, error))
			return false;
		if (!match_candidates(batch, report, error))
			return false;
		store_yield();
	}
	return true;
}

/* Match all new papers. @param report  added to */
static bool
match_batch_run(struct store *store, const struct match_context *context,
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

/* ---- matches new filters with the papers that they have not seen ---- */

/* Maximum number of filters matched in one commit; more keep other writers waiting. */
#define COMMIT_FILTERS 100

/* Maximum number of filters that join the batch in one commit. */
#define COMMIT_JOINING 500

/* @param filter  not in the current batch */
static bool
run_filter(struct paper_batch *paper_batch, struct store *store,
    const struct stored_filter *filter, struct match_report *report, GError **error)
{
	struct paper_batch_filter batch_filter = {
	    .id = filter->id, .canonical = filter->canonical};
	bool is_there;

	/* It may have been deleted since it was loaded. */
	if (!filter_progress_save_revision(
	        store, filter->id, paper_batch->through, &is_there, error))
		return false;
	if (!is_there)
		return true;
	for (unsigned i = 0; i < paper_batch->papers->len; i++) {
		const struct batch_paper *paper = paper_batch->papers->pdata[i];

		if (paper->stored->revision > filter->matched_revision)
			bitset_add(&batch_filter.papers, i);
	}
	return paper_batch_run(paper_batch, store, &batch_filter, report, error);
}

/* Filters that lag behind, and the papers for them. */
struct lagging {
	struct paper_batch *paper_batch;
	const GPtrArray *filters;
	struct match_report before, report;
};

static bool
run_lagging(struct store *store, void *data, GError **error)
{
	struct lagging *lagging = data;
	struct paper_batch *paper_batch = lagging->paper_batch;

	lagging->report = lagging->before;
	for (unsigned i = 0; i < lagging->filters->len; i++) {
		const struct stored_filter *filter = lagging->filters->pdata[i];

		/* Sorted by progress; the batch begins at or before the first. */
		if (filter->matched_revision < paper_batch->through &&
		    !run_filter(paper_batch, store, filter, &lagging->report, error))
			return false;
	}
	return matches_add_total(
	    store, lagging->report.found - lagging->before.found, error);
}

/* Match the filters that lag behind with the papers that they have not seen. */
static bool
match_lagging(struct store *store, const struct match_context *context,
    struct match_report *report, GError **error)
{
	struct filter_progress progress;
	pb_local(paper_batch) paper_batch = {0};
	int64_t newest;
	unsigned joined;

	if (!filter_progress_load(store, &progress, error))
		return false;
	/* Up to the cursor of the batched filters, which they join there. */
	newest = progress.matched;
	while (!store_is_stopped(store)) {
		g_autoptr(GPtrArray) filters =
		    filter_progress_load_lagging(store, newest, COMMIT_FILTERS, error);
		struct lagging lagging = {&paper_batch, filters, *report, *report};
		const struct stored_filter *first;

		if (!filters)
			return false;
		if (!filters->len)
			break;
		first = filters->pdata[0];
		if ((!paper_batch.papers ||
		        first->matched_revision < paper_batch.after ||
		        first->matched_revision >= paper_batch.through) &&
		    !paper_batch_load(&paper_batch, store, first->matched_revision,
		        newest, context, error))
			return false;
		if (!store_transact(store, run_lagging, &lagging, error))
			return false;
		*report = lagging.report;
	}
	do {
		if (!filter_progress_join_batch(store, COMMIT_JOINING, &joined, error))
			return false;
	} while (joined == COMMIT_JOINING && !store_is_stopped(store));
	return true;
}

/* ---- waiting matches ---- */

/* Maximum number of papers whose waiting matches are rechecked in one commit. */
#define COMMIT_PAPERS 100

/* Maximum number of waiting matches rechecked in one commit. */
#define COMMIT_WAITING 500

/* Cursors: the paper whose waiting matches are being rechecked, and the last filter of
 * which that is done; 0: none. */
#define RECHECK_PAPER  "recheck paper"
#define RECHECK_FILTER "recheck filter"

static bool
recheck_filter(struct store *store, const struct stored_filter *filter,
    const struct stored_paper *stored, const struct query_document *document,
    const struct match_context *context, struct match_report *report, GError **error)
{
	pb_auto(query) query =
	    query_parse_canonical(filter->canonical, store_get_tokenizer(store), NULL);

	if (query && query_evaluate(query, document, QUERY_AS_REPORTED) == QUERY_TRUE) {
		report->decided++;
		return paper_batch_save_decided(
		    store, filter->id, stored, context->now, error);
	}
	if (query && query_is_time_dependent(query) &&
	    query_evaluate(query, document, QUERY_MAY_CHANGE) != QUERY_FALSE)
		return paper_batch_save_waiting(
		    store, filter->id, query, stored, context, error);
	return matches_delete_pending(store, filter->id, stored->seq, error);
}

/*
 * Recheck some of the waiting matches of one paper.
 *
 * @param after  id of the last filter; set to the last one rechecked, or to 0 at the
 *               end
 * @param room   maximum number of filters; decreased by those that were rechecked
 */
static bool
recheck_paper(struct store *store, int64_t seq, int64_t *after, unsigned *room,
    const struct match_context *context, struct match_report *report, GError **error)
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
		document = paper_batch_make_document(store, stored, context, error);
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
 * Find a paper whose waiting matches are to be rechecked: it changed, or they have
 * waited long enough.  The mark of a changed paper is cleared before its first match is
 * rechecked, so that a change between two commits marks it again.
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

/* Waiting matches of one commit. */
struct rechecking {
	const struct match_context *context;
	struct match_report before, report;
	bool is_done;
};

static bool
recheck_papers(struct store *store, void *data, GError **error)
{
	struct rechecking *rechecking = data;
	const struct match_context *context = rechecking->context;
	unsigned room = COMMIT_WAITING;
	int64_t seq, after, left;

	rechecking->report = rechecking->before;
	if (!store_load_cursor(store, RECHECK_PAPER, 0, &seq, error) ||
	    !store_load_cursor(store, RECHECK_FILTER, 0, &after, error))
		return false;
	left = seq;
	for (unsigned i = 0; i < COMMIT_PAPERS && room; i++) {
		if (!seq && !find_recheck(store, context->now, &seq, error))
			return false;
		rechecking->is_done = !seq;
		if (!seq)
			break;
		if (!recheck_paper(
		        store, seq, &after, &room, context, &rechecking->report, error))
			return false;
		if (!after)
			seq = 0;
	}
	return !(seq || left) ||
	       (store_save_cursor(store, RECHECK_PAPER, seq, error) &&
	           store_save_cursor(store, RECHECK_FILTER, after, error));
}

static bool
recheck_all(struct store *store, const struct match_context *context,
    struct match_report *report, GError **error)
{
	struct rechecking rechecking = {context, *report, *report, false};

	while (!rechecking.is_done && !store_is_stopped(store)) {
		if (!store_transact(store, recheck_papers, &rechecking, error))
			return false;
		*report = rechecking.before = rechecking.report;
	}
	return true;
}

/* ---- runs ---- */

/*
 * Maximum time between two runs, s; after a longer one the clock is taken to have
 * jumped.  Daily runs are up to 25 hours apart when clocks change, and LAST_RUN may be
 * an hour old, since it is saved once an hour.
 */
#define JUMP_S (26 * CLOCK_HOUR_S)

/* Time after a jump in which only fields that are looked up become final, s; shorter
 * than a day, so that the next daily run is after it. */
#define DISTRUST_S (23 * CLOCK_HOUR_S)

/* Cursors: time of the last run, and of the last forward jump of the clock, s. */
#define LAST_RUN  "match"
#define LAST_JUMP "match jump"

/* Find the time from which fields that are not looked up may become final: after a jump
 * the clock may be wrong. */
static bool
load_trusted_at(struct store *store, int64_t now, int64_t *trusted_at, GError **error)
{
	int64_t last, jumped_at;
	bool is_rare = false;

	if (!store_load_cursor(store, LAST_RUN, now, &last, error) ||
	    !store_load_cursor(store, LAST_JUMP, 0, &jumped_at, error))
		return false;
	if (now - last > JUMP_S || jumped_at > now) {
		/* There was a jump before the previous run, too: runs are rare. */
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
	struct match_context context = {.now = now};

	return archive_cache_refresh(store, error) &&
	       load_trusted_at(store, now, &context.trusted_at, error) &&
	       match_batch_run(store, &context, report, error) &&
	       (store_is_stopped(store) ||
	           match_lagging(store, &context, report, error)) &&
	       recheck_all(store, &context, report, error);
}
