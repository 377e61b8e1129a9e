/*
 * match.c - matches filters with papers.
 */
#include "service/match/match.h"

#include "base/clock.h"
#include "base/day.h"
#include "query/query.h"
#include "service/match/match_batch.h"
#include "service/match/match_page.h"
#include "store/paper/archive_cache.h"
#include "store/paper/filter_progress.h"
#include "store/paper/matches.h"
#include "store/paper/papers.h"

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

/* Time for which nothing becomes final after a jump; daily runs end it. */
#define DISTRUST_S (23 * CLOCK_HOUR_S)

/* Time of the last run, and of the last forward jump of the clock. */
#define LAST_RUN  "match"
#define LAST_JUMP "match jump"

/* Paper whose waiting filters are being rechecked, and the last of these. */
#define RECHECK_PAPER  "recheck paper"
#define RECHECK_FILTER "recheck filter"

/*
 * At the hour at which the paper was first seen, if that was on its day: the digest of
 * that hour is not made without it.
 */
static int64_t
get_final_due(const struct stored_paper *stored)
{
	int64_t day = day_start(stored->day);
	int64_t seen_at = CLAMP(stored->first_seen_at, day, day + CLOCK_DAY_S);

	return seen_at - seen_at % CLOCK_HOUR_S +
	       MATCH_WAIT_DAYS * (int64_t)CLOCK_DAY_S;
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

	if (paper_awaits_lookup(stored->paper) && query_needs_enrichment(query) &&
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

/* Find the time from which waiting matches become final: after a jump the clock may be
 * wrong. */
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
	/* Not at every run: each would be a commit. */
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
