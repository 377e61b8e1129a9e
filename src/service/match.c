/*
 * match.c - which papers are whose: filters against papers, once each.
 */
#include "service/match.h"

#include "base/clock.h"
#include "base/day.h"
#include "query/query.h"
#include "store/matches.h"
#include "store/papers.h"

#define PAGE_FILTERS 200
#define PAGE_PAPERS  500

/* The clock at the last run, and when it was seen to have leapt. */
#define LAST_RUN  "match"
#define LAST_LEAP "match leap"

/* A paper made ready for many filters. */
struct ready {
	struct query_document *document;
	int64_t seq;
	int64_t revision;
};

static void
ready_free(gpointer data)
{
	struct ready *ready = data;

	query_document_free(ready->document);
	g_free(ready);
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
    const char *oldest_day, GError **error)
{
	g_autoptr(GPtrArray) stored =
	    papers_load_revisions(store, after, newest, oldest_day, PAGE_PAPERS, error);

	if (!stored)
		return false;
	window_clear(window);
	window->papers = g_ptr_array_new_with_free_func(ready_free);
	window->after = after;
	window->through = newest;
	for (unsigned i = 0; i < stored->len; i++) {
		const struct stored_paper *paper = stored->pdata[i];
		struct ready *ready = g_new0(struct ready, 1);

		ready->seq = paper->seq;
		ready->revision = paper->revision;
		g_ptr_array_add(window->papers, ready);
		ready->document =
		    query_document_new(paper->paper, store_get_tokenizer(store), error);
		if (!ready->document)
			return false;
		if (stored->len == PAGE_PAPERS)
			window->through = paper->revision;
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

static bool
match_filter(struct store *store, const struct stored_filter *filter,
    const struct window *window, int64_t now, struct match_report *report,
    GError **error)
{
	pb_auto(query) query =
	    query_parse_canonical(filter->canonical, store_get_tokenizer(store), NULL);
	bool is_changing = query && query_is_changing(query);

	if (!query)
		report->broken++;
	for (unsigned i = 0; query && i < window->papers->len; i++) {
		const struct ready *paper = window->papers->pdata[i];
		enum verdict verdict;

		if (paper->revision <= filter->matched_through)
			continue;
		report->compared++;
		verdict = decide(query, is_changing, paper->document);
		if (verdict == VERDICT_NO)
			continue;
		report->found += verdict == VERDICT_YES;
		report->waiting += verdict == VERDICT_WAITING;
		if (!matches_save(store, filter->id, paper->seq, verdict == VERDICT_YES,
		        now, error))
			return false;
	}
	return matches_save_through(store, filter->id, window->through, error);
}

static bool
match_page(struct store *store, const GPtrArray *filters, const struct window *window,
    int64_t now, struct match_report *report, GError **error)
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
		if (!match_filter(store, filter, window, now, &sums, error))
			return false;
	}
	if (!store_commit(&transaction, error))
		return false;
	*report = sums;
	return true;
}

static bool
match_new(struct store *store, int64_t now, struct match_report *report, GError **error)
{
	struct window window = {0};
	char oldest_day[DAY_BYTES];
	int64_t newest;
	bool is_ok = true;

	day_format(now - MATCH_WINDOW_DAYS * (int64_t)CLOCK_DAY_S, oldest_day);
	if (!papers_load_newest_revision(store, &newest, error))
		return false;
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
			    newest, oldest_day, error);
		is_ok =
		    is_ok && match_page(store, filters, &window, now, report, error);
		if (!is_ok)
			break;
	}
	window_clear(&window);
	return is_ok;
}

/* Decide the waiting matches of one paper again; in the caller's transaction. */
static bool
decide_again(struct store *store, const struct stored_paper *stored, bool is_last_word,
    int64_t now, struct match_report *report, GError **error)
{
	const struct tokenizer *tokenizer = store_get_tokenizer(store);
	g_autoptr(GPtrArray) filters = matches_load_waiting(store, stored->seq, error);
	pb_auto(query_document) document = NULL;

	if (!filters)
		return false;
	if (!filters->len)
		return true;
	document = query_document_new(stored->paper, tokenizer, error);
	if (!document)
		return false;
	for (unsigned i = 0; i < filters->len; i++) {
		const struct stored_filter *filter = filters->pdata[i];
		pb_auto(query) query =
		    query_parse_canonical(filter->canonical, tokenizer, NULL);
		enum verdict verdict = VERDICT_NO;

		if (query && is_last_word)
			verdict = query_evaluate(query, document,
			              QUERY_UNKNOWN_IS_FALSE) == QUERY_TRUE
			              ? VERDICT_YES
			              : VERDICT_NO;
		else if (query)
			verdict = decide(query, query_is_changing(query), document);
		report->decided += verdict == VERDICT_YES;
		if (verdict == VERDICT_YES &&
		    !matches_save(store, filter->id, stored->seq, true, now, error))
			return false;
		if (verdict == VERDICT_NO &&
		    !matches_delete_waiting(store, filter->id, stored->seq, error))
			return false;
	}
	return true;
}

static bool
match_changed(
    struct store *store, int64_t now, struct match_report *report, GError **error)
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

			if (!decide_again(store, stored, false, now, &sums, error) ||
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
 * Whether the last word on what waits may be spoken.  A clock that has gone on by
 * more than a day since the last run may be wrong, and be put right soon: then nothing
 * is given up before a day has gone by on it.
 */
static bool
is_clock_trusted(struct store *store, int64_t now, bool *is_trusted, GError **error)
{
	int64_t last, leapt;

	if (!store_load_cursor(store, LAST_RUN, now, &last, error) ||
	    !store_load_cursor(store, LAST_LEAP, 0, &leapt, error))
		return false;
	if (now - last > CLOCK_DAY_S || leapt > now) {
		leapt = now;
		if (!store_save_cursor(store, LAST_LEAP, leapt, error))
			return false;
	}
	/* Not at every run: each would be a commit. */
	if ((now == last || now < last || now - last >= CLOCK_HOUR_S) &&
	    !store_save_cursor(store, LAST_RUN, now, error))
		return false;
	*is_trusted = !leapt || now - leapt >= CLOCK_DAY_S;
	return true;
}

static bool
match_overdue(
    struct store *store, int64_t now, struct match_report *report, GError **error)
{
	char day[DAY_BYTES];
	bool is_trusted;

	if (!is_clock_trusted(store, now, &is_trusted, error))
		return false;
	day_format(now - MATCH_WAIT_DAYS * (int64_t)CLOCK_DAY_S, day);
	while (is_trusted) {
		struct match_report sums = *report;
		pb_transaction transaction = {0};
		g_autoptr(GArray) papers = NULL;

		if (!store_begin(store, &transaction, error))
			return false;
		papers = matches_load_overdue(store, day, 100, error);
		if (!papers)
			return false;
		for (unsigned i = 0; i < papers->len; i++) {
			pb_auto(stored_paper) stored = papers_load(
			    store, g_array_index(papers, int64_t, i), error);

			if (!stored ||
			    !decide_again(store, stored, true, now, &sums, error))
				return false;
		}
		if (!store_commit(&transaction, error))
			return false;
		*report = sums;
		is_trusted = papers->len > 0;
	}
	return true;
}

bool
match_run(struct store *store, int64_t now, struct match_report *report, GError **error)
{
	return match_new(store, now, report, error) &&
	       match_changed(store, now, report, error) &&
	       match_overdue(store, now, report, error);
}
