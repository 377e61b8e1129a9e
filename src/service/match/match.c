/*
 * match.c - which papers are whose: filters against papers, once each.
 */
#include "service/match/match.h"

#include "base/clock.h"
#include "base/day.h"
#include "query/query.h"
#include "service/match/match_batch.h"
#include "service/match/match_page.h"
#include "store/paper/filter_progress.h"
#include "store/paper/matches.h"
#include "store/paper/papers.h"

#define PAGE_FILTERS 100
#define PAGE_JOINING 500

/* Of one commit: papers that changed, and filters that wait for one of them. */
#define PAGE_PAPERS  100
#define PAGE_WAITING 500

/* The clock at the last run, and when it was seen to have leapt. */
#define LAST_RUN  "match"
#define LAST_LEAP "match leap"

/* The paper whose waiting filters are being asked again, and the last one asked. */
#define AGAIN_PAPER  "deciding paper"
#define AGAIN_FILTER "deciding filter"

static int64_t
get_final_due(const struct stored_paper *stored)
{
	return day_start(stored->day) + (MATCH_WAIT_DAYS + 1) * (int64_t)CLOCK_DAY_S;
}

enum query_finality
match_get_finality(const struct stored_paper *stored, int64_t now)
{
	if (now >= get_final_due(stored))
		return QUERY_FINALITY_ALL;
	if (now >= stored->first_seen_at + PAPERS_ENRICH_S)
		return QUERY_FINALITY_ENRICHED;
	return QUERY_FINALITY_NONE;
}

int64_t
match_get_recheck_time(
    const struct query *query, const struct stored_paper *stored, int64_t now)
{
	int64_t final = get_final_due(stored);

	if (!stored->paper->categories && query_needs_enrichment(query) &&
	    match_get_finality(stored, now) == QUERY_FINALITY_NONE)
		return MIN(final, stored->first_seen_at + PAPERS_ENRICH_S);
	return final;
}

struct query_document *
match_make_document(
    struct store *store, const struct stored_paper *stored, int64_t now, GError **error)
{
	char first_day[DAY_BYTES];
	struct query_document *document;

	day_format(stored->first_seen_at, first_day);
	document = query_document_new(
	    stored->paper, first_day, store_get_tokenizer(store), error);
	if (document)
		query_document_finalize(document, match_get_finality(stored, now));
	return document;
}

bool
match_load_next_due(struct store *store, int64_t *due_at, GError **error)
{
	return matches_load_next_due(store, due_at, error);
}

/* @param filter  outside the crowd */
static bool
show_filter(struct match_page *match_page, struct store *store,
    const struct stored_filter *filter, struct match_report *report, GError **error)
{
	struct match_page_filter shown = {
	    .id = filter->id, .canonical = filter->canonical};
	bool is_there;

	/* It may have been forgotten since it was read. */
	if (!filter_progress_save_revision(
	        store, filter->id, match_page->through, &is_there, error))
		return false;
	if (!is_there)
		return true;
	for (unsigned i = 0; i < match_page->papers->len; i++) {
		const struct match_page_paper *paper = match_page->papers->pdata[i];

		if (paper->stored->revision > filter->matched_revision)
			bitset_add(&shown.papers, i);
	}
	return match_page_run(match_page, store, &shown, report, error);
}

static bool
run_page(struct match_page *match_page, struct store *store, const GPtrArray *filters,
    struct match_report *report, GError **error)
{
	struct match_report sums = *report;
	pb_transaction transaction = {0};

	if (!store_begin(store, &transaction, error))
		return false;
	for (unsigned i = 0; i < filters->len; i++) {
		const struct stored_filter *filter = filters->pdata[i];

		/* Filters come furthest behind first; the showing starts there. */
		if (filter->matched_revision < match_page->through &&
		    !show_filter(match_page, store, filter, &sums, error))
			return false;
	}
	if (!match_page_save(match_page, store, error) ||
	    !store_commit(&transaction, error))
		return false;
	*report = sums;
	return true;
}

/* The filters that are not of the crowd: they are shown what they have not seen. */
static bool
match_others(struct store *store, const struct page_context *moment,
    struct match_report *report, GError **error)
{
	struct filter_progress progress;
	match_page_auto match_page = {0};
	int64_t newest;
	unsigned joined;

	if (!filter_progress_load(store, &progress, error))
		return false;
	/* As far as the crowd is, so that they can join it. */
	newest = progress.matched;
	while (!store_is_stopped(store)) {
		g_autoptr(GPtrArray) filters =
		    filter_progress_load_lagging(store, newest, PAGE_FILTERS, error);
		const struct stored_filter *first;

		if (!filters)
			return false;
		if (!filters->len)
			break;
		first = filters->pdata[0];
		if ((!match_page.papers || first->matched_revision < match_page.after ||
		        first->matched_revision >= match_page.through) &&
		    !match_page_load(&match_page, store, first->matched_revision,
		        newest, moment, error))
			return false;
		if (!run_page(&match_page, store, filters, report, error))
			return false;
	}
	do {
		if (!filter_progress_join_batch(store, PAGE_JOINING, &joined, error))
			return false;
	} while (joined == PAGE_JOINING && !store_is_stopped(store));
	return true;
}

/* ---- what waits ---- */

static bool
ask_again(struct store *store, const struct stored_filter *filter,
    const struct stored_paper *stored, const struct query_document *document,
    const struct page_context *moment, struct match_report *report, GError **error)
{
	pb_auto(query) query =
	    query_parse_canonical(filter->canonical, store_get_tokenizer(store), NULL);

	if (query && query_evaluate(query, document, QUERY_AS_REPORTED) == QUERY_TRUE) {
		report->decided++;
		return match_page_save_decided(
		    store, filter->id, stored, moment->now, error);
	}
	if (query && query_is_time_dependent(query) &&
	    query_evaluate(query, document, QUERY_MAY_CHANGE) != QUERY_FALSE)
		return match_page_save_waiting(
		    store, filter->id, query, stored, moment, error);
	return matches_delete_pending(store, filter->id, stored->seq, error);
}

/*
 * Decide the waiting matches of one paper again, a page of them.
 *
 * @param after  the last filter that was asked; set to the last one of the page, or to
 *               0 when all have been
 * @param room   how many may be asked; lowered
 */
static bool
decide_again(struct store *store, int64_t seq, int64_t *after, unsigned *room,
    const struct page_context *moment, struct match_report *report, GError **error)
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
		document = match_page_make_document(store, stored, moment, error);
	if (!document)
		return false;
	for (unsigned i = 0; i < filters->len; i++) {
		const struct stored_filter *filter = filters->pdata[i];

		if (!ask_again(store, filter, stored, document, moment, report, error))
			return false;
		*after = filter->id;
	}
	if (!is_full)
		*after = 0;
	return true;
}

/*
 * The next paper whose waiting filters are to be asked again: one that changed, or that
 * was waited for long enough.  It counts as unchanged from the first page on: a change
 * that comes between two pages marks it again.
 *
 * @param seq  set; 0: there is none
 */
static bool
take_paper(struct store *store, int64_t now, int64_t *seq, GError **error)
{
	if (!papers_find_changed(store, seq, error))
		return false;
	if (*seq)
		return papers_clear_changed(store, *seq, error);
	return matches_find_due(store, now, seq, error);
}

static bool
match_again_page(struct store *store, const struct page_context *moment,
    struct match_report *report, bool *is_done, GError **error)
{
	struct match_report sums = *report;
	unsigned room = PAGE_WAITING;
	pb_transaction transaction = {0};
	int64_t seq, after, left;

	if (!store_begin(store, &transaction, error) ||
	    !store_load_cursor(store, AGAIN_PAPER, 0, &seq, error) ||
	    !store_load_cursor(store, AGAIN_FILTER, 0, &after, error))
		return false;
	left = seq;
	for (unsigned i = 0; i < PAGE_PAPERS && room; i++) {
		if (!seq && !take_paper(store, moment->now, &seq, error))
			return false;
		*is_done = !seq;
		if (!seq)
			break;
		if (!decide_again(store, seq, &after, &room, moment, &sums, error))
			return false;
		if (!after)
			seq = 0;
	}
	if ((seq || left) && (!store_save_cursor(store, AGAIN_PAPER, seq, error) ||
	                         !store_save_cursor(store, AGAIN_FILTER, after, error)))
		return false;
	if (!store_commit(&transaction, error))
		return false;
	*report = sums;
	return true;
}

static bool
match_again(struct store *store, const struct page_context *moment,
    struct match_report *report, GError **error)
{
	bool is_done = false;

	while (!is_done && !store_is_stopped(store))
		if (!match_again_page(store, moment, report, &is_done, error))
			return false;
	return true;
}

/*
 * From when on the last word on what waits may be spoken.  A clock that has gone on by
 * more than a day since the last run may be wrong, and be put right soon: then nothing
 * is given up before a day has gone by on it.
 */
static bool
load_trusted(struct store *store, int64_t now, int64_t *trusted_at, GError **error)
{
	int64_t last, leapt;
	bool is_rare = false;

	if (!store_load_cursor(store, LAST_RUN, now, &last, error) ||
	    !store_load_cursor(store, LAST_LEAP, 0, &leapt, error))
		return false;
	if (now - last > CLOCK_DAY_S || leapt > now) {
		/* The last run leapt too, and none was between: they are just rare. */
		is_rare = last == leapt;
		leapt = now;
		if (!store_save_cursor(store, LAST_LEAP, leapt, error))
			return false;
	}
	/* Not at every run: each would be a commit. */
	if ((now == last || now < last || now - last >= CLOCK_HOUR_S) &&
	    !store_save_cursor(store, LAST_RUN, now, error))
		return false;
	*trusted_at = !leapt || is_rare ? now : leapt + CLOCK_DAY_S;
	return true;
}

bool
match_run(struct store *store, int64_t now, struct match_report *report, GError **error)
{
	struct page_context moment = {.now = now};

	return load_trusted(store, now, &moment.trusted_at, error) &&
	       match_batch_run(store, &moment, report, error) &&
	       (store_is_stopped(store) ||
	           match_others(store, &moment, report, error)) &&
	       match_again(store, &moment, report, error);
}
