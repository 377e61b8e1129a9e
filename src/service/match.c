/*
 * match.c - which papers are whose: filters against papers, once each.
 */
#include "service/match.h"

#include "base/clock.h"
#include "base/day.h"
#include "query/query.h"
#include "service/percolator.h"
#include "store/matches.h"
#include "store/papers.h"

#define PAGE_FILTERS 200
#define PAGE_JOINING 500
#define PAGE_PAPERS  500

/* Of one commit: candidates, whether they find anything or not, and about as many
 * matches.  Others who write wait so long, some ten milliseconds. */
#define PAGE_CANDIDATES 2000
#define PAGE_SAVED      4000

/* The clock at the last run, and when it was seen to have leapt. */
#define LAST_RUN  "match"
#define LAST_LEAP "match leap"

/* When a run is, and from when on the last word on what waits may be spoken. */
struct moment {
	int64_t now;
	int64_t trusted_at;
};

/* A paper made ready for many filters. */
struct ready {
	struct query_document *document;
	struct stored_paper *stored;
};

static void
ready_free(gpointer data)
{
	struct ready *ready = data;

	query_document_free(ready->document);
	stored_paper_free(ready->stored);
	g_free(ready);
}

static int64_t
get_final_due(const struct stored_paper *stored)
{
	return day_start(stored->day) + (MATCH_WAIT_DAYS + 1) * (int64_t)CLOCK_DAY_S;
}

enum query_settlement
match_get_settlement(const struct stored_paper *stored, int64_t now)
{
	if (now >= get_final_due(stored))
		return QUERY_SETTLED_FINALLY;
	if (now >= stored->first_seen_at + PAPERS_ENRICH_S)
		return QUERY_SETTLED_ENRICHED;
	return QUERY_SETTLED_NOTHING;
}

int64_t
match_get_due(const struct query *query, const struct stored_paper *stored, int64_t now)
{
	int64_t final = get_final_due(stored);

	if (!stored->paper->categories && query_needs_enrichment(query) &&
	    match_get_settlement(stored, now) == QUERY_SETTLED_NOTHING)
		return MIN(final, stored->first_seen_at + PAPERS_ENRICH_S);
	return final;
}

struct query_document *
match_make_document(
    struct store *store, const struct stored_paper *stored, int64_t now, GError **error)
{
	char today[DAY_BYTES];
	struct query_document *document;

	day_format(now, today);
	document =
	    query_document_new(stored->paper, today, store_get_tokenizer(store), error);
	if (document)
		query_document_settle(document, match_get_settlement(stored, now));
	return document;
}

bool
match_load_next_due(struct store *store, int64_t *due_at, GError **error)
{
	return matches_load_next_due(store, due_at, error);
}

/* The last word is only spoken by a clock that is trusted. */
static enum query_settlement
get_settlement(const struct stored_paper *stored, const struct moment *moment)
{
	enum query_settlement settlement = match_get_settlement(stored, moment->now);

	return moment->now < moment->trusted_at
	           ? MIN(settlement, QUERY_SETTLED_ENRICHED)
	           : settlement;
}

static struct query_document *
make_document(struct store *store, const struct stored_paper *stored,
    const struct moment *moment, GError **error)
{
	struct query_document *document =
	    match_make_document(store, stored, moment->now, error);

	if (document)
		query_document_settle(document, get_settlement(stored, moment));
	return document;
}

/* The papers that a page of filters has to look at: revisions in (after, through]. */
struct window {
	GPtrArray *papers; /* of struct ready *, or NULL when none is loaded */
	int64_t after;
	int64_t through;
};

static void
window_clear(struct window *window)
{
	g_clear_pointer(&window->papers, g_ptr_array_unref);
}

static bool
window_load(struct window *window, struct store *store, int64_t after, int64_t newest,
    unsigned most, const struct moment *moment, GError **error)
{
	char oldest_day[DAY_BYTES];
	g_autoptr(GPtrArray) stored = NULL;

	day_format(moment->now - MATCH_WINDOW_DAYS * (int64_t)CLOCK_DAY_S, oldest_day);
	stored = papers_load_revisions(store, after, newest, oldest_day, most, error);
	if (!stored)
		return false;
	window_clear(window);
	window->papers = g_ptr_array_new_with_free_func(ready_free);
	window->after = after;
	window->through = newest;
	if (stored->len == most)
		window->through =
		    ((struct stored_paper *)stored->pdata[stored->len - 1])->revision;
	while (stored->len) {
		struct ready *ready = g_new0(struct ready, 1);

		ready->stored = g_ptr_array_steal_index(stored, 0);
		g_ptr_array_add(window->papers, ready);
		ready->document = make_document(store, ready->stored, moment, error);
		if (!ready->document)
			return false;
	}
	return true;
}

/* A yes, a no for good, or a no that a changing field may turn. */
enum verdict { VERDICT_NO, VERDICT_WAITING, VERDICT_YES };

/* Few filters have a clause that can change: the others are asked once. */
static enum verdict
decide(
    const struct query *query, bool is_changing, const struct query_document *document)
{
	if (query_evaluate(query, document, QUERY_AS_TOLD) == QUERY_TRUE)
		return VERDICT_YES;
	if (is_changing &&
	    query_evaluate(query, document, QUERY_MAY_CHANGE) != QUERY_FALSE)
		return VERDICT_WAITING;
	return VERDICT_NO;
}

/* @param verdict  yes or waiting */
static bool
save_match(struct store *store, int64_t filter_id, const struct query *query,
    const struct stored_paper *stored, enum verdict verdict,
    const struct moment *moment, bool *is_new, GError **error)
{
	int64_t due_at = MATCHES_YES;

	if (verdict == VERDICT_WAITING) {
		due_at = match_get_due(query, stored, moment->now);
		/* What is due is not settled yet: the clock is not trusted. */
		if (due_at <= moment->now)
			due_at = moment->trusted_at;
	}
	return matches_save(
	    store, filter_id, stored->seq, due_at, moment->now, is_new, error);
}

/* @param mask  the papers to show to it; NULL: all that it has not seen */
static bool
match_filter(struct store *store, const struct stored_filter *filter,
    const struct window *window, const struct percolator_mask *mask,
    const struct moment *moment, struct match_report *report, GError **error)
{
	pb_auto(query) query =
	    query_parse_canonical(filter->canonical, store_get_tokenizer(store), NULL);
	bool is_changing = query && query_is_changing(query);

	if (!query)
		report->broken++;
	for (unsigned i = 0; query && i < window->papers->len; i++) {
		const struct ready *paper = window->papers->pdata[i];
		const struct stored_paper *stored = paper->stored;
		enum verdict verdict;
		bool is_new;

		if (mask ? !percolator_has_paper(mask, i)
		         : stored->revision <= filter->matched_through)
			continue;
		report->compared++;
		verdict = decide(query, is_changing, paper->document);
		if (verdict == VERDICT_NO)
			continue;
		if (!save_match(store, filter->id, query, stored, verdict, moment,
		        &is_new, error))
			return false;
		report->found += is_new && verdict == VERDICT_YES;
		report->waiting += is_new && verdict == VERDICT_WAITING;
	}
	return true;
}

static bool
match_page(struct store *store, const GPtrArray *filters, const struct window *window,
    const struct moment *moment, struct match_report *report, GError **error)
{
	struct match_report sums = *report;
	pb_transaction transaction = {0};

	if (!store_begin(store, &transaction, error))
		return false;
	for (unsigned i = 0; i < filters->len; i++) {
		const struct stored_filter *filter = filters->pdata[i];

		/* Filters come furthest behind first; the window starts there. */
		if (filter->matched_through >= window->through)
			continue;
		if (!match_filter(store, filter, window, NULL, moment, &sums, error) ||
		    !matches_save_through(store, filter->id, window->through, error))
			return false;
	}
	if (!store_commit(&transaction, error))
		return false;
	*report = sums;
	return true;
}

/* The filters that are not of the crowd: they are shown what they have not seen. */
static bool
match_others(struct store *store, const struct moment *moment,
    struct match_report *report, GError **error)
{
	struct matches_progress progress;
	struct window window = {0};
	int64_t newest;
	bool is_ok = true;
	unsigned joined;

	if (!matches_load_progress(store, &progress, error))
		return false;
	/* As far as the crowd is, so that they can join it. */
	newest = progress.matched;
	for (;;) {
		g_autoptr(GPtrArray) filters =
		    matches_load_behind(store, newest, PAGE_FILTERS, error);
		const struct stored_filter *first;

		is_ok = filters != NULL;
		if (!is_ok || !filters->len)
			break;
		first = filters->pdata[0];
		if (!window.papers || first->matched_through < window.after ||
		    first->matched_through >= window.through)
			is_ok = window_load(&window, store, first->matched_through,
			    newest, PAGE_PAPERS, moment, error);
		is_ok =
		    is_ok && match_page(store, filters, &window, moment, report, error);
		if (!is_ok)
			break;
	}
	window_clear(&window);
	do
		is_ok = is_ok && matches_join(store, PAGE_JOINING, &joined, error);
	while (is_ok && joined == PAGE_JOINING);
	return is_ok;
}

/* ---- the crowd ---- */

/* A batch of papers that is shown to the crowd. */
struct showing {
	struct window window;
	struct percolator *percolator;
	struct matches_progress progress; /* as it was last committed */
	int64_t last;                     /* the highest id of a filter */
	bool is_looked_up; /* there may be candidates that were not shown yet */
};

static void
showing_clear(struct showing *showing)
{
	window_clear(&showing->window);
	percolator_free(showing->percolator);
}

#define showing_auto __attribute__((cleanup(showing_clear))) struct showing

static bool
is_same_progress(const struct matches_progress *a, const struct matches_progress *b)
{
	return a->matched == b->matched && a->batch == b->batch &&
	       a->filter_id == b->filter_id;
}

/*
 * Begin a batch, or take up the one that was left.  That it is under way is committed
 * before anything is looked up: from then on no filter joins, so that the highest id
 * read after it is that of the last one in the crowd.
 *
 * @param is_ours  set; false: somebody else went on meanwhile, look again
 */
static bool
begin_showing(struct showing *showing, struct store *store, int64_t newest,
    const struct moment *moment, bool *is_ours, GError **error)
{
	struct matches_progress *progress = &showing->progress;
	bool is_left = progress->batch > progress->matched;
	pb_transaction transaction = {0};
	struct matches_progress now;

	if (!window_load(&showing->window, store, progress->matched,
	        is_left ? progress->batch : newest, PERCOLATOR_PAPERS, moment, error) ||
	    !store_begin(store, &transaction, error) ||
	    !matches_load_progress(store, &now, error))
		return false;
	*is_ours = is_same_progress(&now, progress);
	if (!*is_ours)
		return true;
	if (now.batch != showing->window.through) {
		now.batch = showing->window.through;
		now.filter_id = 0;
	}
	/* Papers that nobody is to see any more. */
	if (!showing->window.papers->len)
		now.matched = now.batch;
	if (!matches_save_progress(store, &now, error) ||
	    !store_commit(&transaction, error))
		return false;
	*progress = now;
	return true;
}

/* @param id  of a candidate, which may have gone since it was looked up */
static bool
show_to(const struct showing *showing, struct store *store, int64_t id,
    const struct percolator_mask *mask, const struct moment *moment,
    struct match_report *report, GError **error)
{
	pb_auto(stored_filter) filter = NULL;

	if (!matches_find_filter(store, id, &filter, error))
		return false;
	/* Others go their own way. */
	return !filter || !filter->is_joined ||
	       match_filter(
	           store, filter, &showing->window, mask, moment, report, error);
}

static unsigned
count_saved(const struct match_report *report)
{
	return report->found + report->waiting;
}

/*
 * Show the batch to a page of the candidates that were looked up; when they have all
 * seen it, it is done.
 */
static bool
show_page(struct showing *showing, struct store *store, const struct moment *moment,
    struct match_report *report, bool *is_ours, GError **error)
{
	struct match_report sums = *report;
	struct percolator_mask mask;
	pb_transaction transaction = {0};
	struct matches_progress now;
	unsigned shown = 0, most = count_saved(report) + PAGE_SAVED;
	bool is_there = true;

	if (!store_begin(store, &transaction, error) ||
	    !matches_load_progress(store, &now, error))
		return false;
	*is_ours = is_same_progress(&now, &showing->progress);
	if (!*is_ours)
		return true;
	while (shown++ < PAGE_CANDIDATES && count_saved(&sums) < most &&
	       (is_there = percolator_find_next(
	            showing->percolator, &now.filter_id, &mask)))
		if (!show_to(
		        showing, store, now.filter_id, &mask, moment, &sums, error))
			return false;
	if (!is_there && now.filter_id >= showing->last)
		now.matched = now.batch;
	if (!matches_save_progress(store, &now, error) ||
	    !store_commit(&transaction, error))
		return false;
	showing->progress = now;
	showing->is_looked_up = is_there;
	*report = sums;
	return true;
}

static bool
show_batch(struct showing *showing, struct store *store, const struct moment *moment,
    struct match_report *report, GError **error)
{
	const struct matches_progress *progress = &showing->progress;
	bool is_ours = true;

	if (!matches_load_last_filter(store, &showing->last, error))
		return false;
	showing->percolator = percolator_new();
	for (unsigned i = 0; i < showing->window.papers->len; i++) {
		const struct ready *paper = showing->window.papers->pdata[i];

		percolator_add(showing->percolator, paper->document);
	}
	while (is_ours && progress->matched < progress->batch) {
		if (!showing->is_looked_up &&
		    !percolator_look_up(showing->percolator, store, progress->filter_id,
		        showing->last, error))
			return false;
		if (!show_page(showing, store, moment, report, &is_ours, error))
			return false;
	}
	return true;
}

static bool
match_crowd(struct store *store, const struct moment *moment,
    struct match_report *report, GError **error)
{
	for (;;) {
		showing_auto showing = {0};
		int64_t newest;
		bool is_ours;

		if (!matches_load_progress(store, &showing.progress, error) ||
		    !papers_load_newest_revision(store, &newest, error))
			return false;
		if (showing.progress.batch <= showing.progress.matched &&
		    newest <= showing.progress.matched)
			return true;
		if (!begin_showing(&showing, store, newest, moment, &is_ours, error))
			return false;
		if (is_ours && !show_batch(&showing, store, moment, report, error))
			return false;
	}
}

/* Decide the waiting matches of one paper again; in the caller's transaction. */
static bool
decide_again(struct store *store, const struct stored_paper *stored,
    const struct moment *moment, struct match_report *report, GError **error)
{
	g_autoptr(GPtrArray) filters = matches_load_waiting(store, stored->seq, error);
	pb_auto(query_document) document = NULL;

	if (!filters)
		return false;
	if (!filters->len)
		return true;
	document = make_document(store, stored, moment, error);
	if (!document)
		return false;
	for (unsigned i = 0; i < filters->len; i++) {
		const struct stored_filter *filter = filters->pdata[i];
		pb_auto(query) query = query_parse_canonical(
		    filter->canonical, store_get_tokenizer(store), NULL);
		enum verdict verdict = VERDICT_NO;
		bool is_new;

		if (query)
			verdict = decide(query, query_is_changing(query), document);
		report->decided += verdict == VERDICT_YES;
		if (verdict == VERDICT_NO
		        ? !matches_delete_waiting(store, filter->id, stored->seq, error)
		        : !save_match(store, filter->id, query, stored, verdict, moment,
		              &is_new, error))
			return false;
	}
	return true;
}

static bool
match_changed(struct store *store, const struct moment *moment,
    struct match_report *report, GError **error)
{
	for (;;) {
		struct match_report sums = *report;
		pb_transaction transaction = {0};
		g_autoptr(GPtrArray) papers = NULL;

		/* Read inside: a change that comes later marks the paper again. */
		if (!store_begin(store, &transaction, error))
			return false;
		papers = papers_load_changed(store, 100, error);
		if (!papers)
			return false;
		for (unsigned i = 0; i < papers->len; i++) {
			const struct stored_paper *stored = papers->pdata[i];

			if (!decide_again(store, stored, moment, &sums, error) ||
			    !papers_clear_changed(store, stored->seq, error))
				return false;
		}
		if (!store_commit(&transaction, error))
			return false;
		*report = sums;
		if (!papers->len)
			return true;
	}
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

static bool
match_due(struct store *store, const struct moment *moment, struct match_report *report,
    GError **error)
{
	for (;;) {
		struct match_report sums = *report;
		pb_transaction transaction = {0};
		g_autoptr(GArray) papers = NULL;

		if (!store_begin(store, &transaction, error))
			return false;
		papers = matches_load_due(store, moment->now, 100, error);
		if (!papers)
			return false;
		for (unsigned i = 0; i < papers->len; i++) {
			pb_auto(stored_paper) stored = papers_load(
			    store, g_array_index(papers, int64_t, i), error);

			if (!stored ||
			    !decide_again(store, stored, moment, &sums, error))
				return false;
		}
		if (!store_commit(&transaction, error))
			return false;
		*report = sums;
		if (!papers->len)
			return true;
	}
}

bool
match_run(struct store *store, int64_t now, struct match_report *report, GError **error)
{
	struct moment moment = {.now = now};

	return load_trusted(store, now, &moment.trusted_at, error) &&
	       match_crowd(store, &moment, report, error) &&
	       match_others(store, &moment, report, error) &&
	       match_changed(store, &moment, report, error) &&
	       match_due(store, &moment, report, error);
}
