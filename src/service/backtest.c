/*
 * backtest.c - what a filter would have found; nothing is stored.
 */
#include "service/backtest.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/error.h"
#include "query/query.h"
#include "store/papers.h"

#define PAGE_PAPERS 500

static void
paper_free_found(gpointer data)
{
	struct backtest_paper *paper = data;

	g_free(paper->id);
	g_free(paper->title);
	g_free(paper->url);
	g_free(paper->words);
	g_free(paper);
}

static struct backtest *
backtest_new(int days)
{
	struct backtest *backtest = g_new0(struct backtest, 1);

	backtest->days = days;
	backtest->per_day = g_array_new(FALSE, TRUE, sizeof(struct backtest_day));
	backtest->newest = g_ptr_array_new_with_free_func(paper_free_found);
	return backtest;
}

void
backtest_free(struct backtest *backtest)
{
	if (!backtest)
		return;
	g_free(backtest->canonical);
	g_clear_pointer(&backtest->warnings, g_ptr_array_unref);
	g_array_unref(backtest->per_day);
	g_ptr_array_unref(backtest->newest);
	g_free(backtest);
}

static struct backtest_day *
get_day(struct backtest *backtest, const char *day)
{
	struct backtest_day fresh = {0};

	for (guint i = 0; i < backtest->per_day->len; i++) {
		struct backtest_day *known =
		    &g_array_index(backtest->per_day, struct backtest_day, i);

		if (strcmp(known->day, day) == 0)
			return known;
	}
	g_strlcpy(fresh.day, day, sizeof(fresh.day));
	g_array_append_val(backtest->per_day, fresh);
	return &g_array_index(
	    backtest->per_day, struct backtest_day, backtest->per_day->len - 1);
}

static int
compare_days(gconstpointer a, gconstpointer b)
{
	const struct backtest_day *left = a, *right = b;

	return -strcmp(left->day, right->day);
}

/* The newest first, then those with more votes. */
static int
compare_papers(const struct backtest_paper *left, const struct backtest_paper *right)
{
	int order = -strcmp(left->day, right->day);

	if (!order)
		order =
		    (left->upvotes < right->upvotes) - (left->upvotes > right->upvotes);
	return order ? order : strcmp(left->id, right->id);
}

/* Keep it when it is among the newest. */
static void
offer(struct backtest *backtest, const struct stored_paper *stored,
    const struct query *query, const struct query_document *document)
{
	struct backtest_paper *found = g_new0(struct backtest_paper, 1);
	guint place = backtest->newest->len;

	found->id = g_strdup(stored->paper->id);
	found->upvotes = stored->paper->upvotes;
	g_strlcpy(found->day, stored->day, sizeof(found->day));
	while (place && compare_papers(found, backtest->newest->pdata[place - 1]) < 0)
		place--;
	if (place >= BACKTEST_NEWEST) {
		paper_free_found(found);
		return;
	}
	found->title = g_strdup(stored->paper->title);
	found->url = g_strdup(stored->paper->url);
	found->words = query_explain_text(query, document);
	g_ptr_array_insert(backtest->newest, (gint)place, found);
	if (backtest->newest->len > BACKTEST_NEWEST)
		g_ptr_array_set_size(backtest->newest, BACKTEST_NEWEST);
}

static bool
look_at(struct backtest *backtest, struct store *store,
    const struct stored_paper *stored, const struct query *query, GError **error)
{
	pb_auto(query_document) document =
	    query_document_new(stored->paper, store_get_tokenizer(store), error);
	struct backtest_day *day;

	if (!document)
		return false;
	day = get_day(backtest, stored->day);
	day->papers++;
	backtest->papers++;
	if (query_evaluate(query, document, QUERY_AS_TOLD) == QUERY_TRUE) {
		day->found++;
		backtest->found++;
		offer(backtest, stored, query, document);
	} else if (query_is_changing(query) &&
	           query_evaluate(query, document, QUERY_MAY_CHANGE) != QUERY_FALSE) {
		backtest->waiting++;
	}
	return true;
}

static bool
look_at_all(struct backtest *backtest, struct store *store, const struct query *query,
    int64_t now, GError **error)
{
	char oldest_day[DAY_BYTES];
	int64_t after = 0, newest;
	unsigned count;

	day_format(now - (backtest->days - 1) * (int64_t)CLOCK_DAY_S, oldest_day);
	if (!papers_load_newest_revision(store, &newest, error))
		return false;
	do {
		g_autoptr(GPtrArray) page = papers_load_revisions(
		    store, after, newest, oldest_day, PAGE_PAPERS, error);

		if (!page)
			return false;
		count = page->len;
		for (unsigned i = 0; i < count; i++) {
			const struct stored_paper *stored = page->pdata[i];

			if (!look_at(backtest, store, stored, query, error))
				return false;
			after = stored->revision;
		}
	} while (count == PAGE_PAPERS);
	g_array_sort(backtest->per_day, compare_days);
	return true;
}

struct backtest *
backtest_run(struct store *store, const char *text, int days, int64_t now,
    struct query_problem *problem, GError **error)
{
	pb_auto(backtest) backtest = backtest_new(days);
	pb_auto(query) query = NULL;

	if (days < 1 || days > BOUNDS_BACKTEST_DAYS) {
		g_set_error(error, PB_ERROR, PB_ERROR_LIMIT,
		    "days must be from 1 to %d", BOUNDS_BACKTEST_DAYS);
		return NULL;
	}
	query = query_parse(
	    text, store_get_tokenizer(store), &backtest->warnings, problem, error);
	if (!query)
		return NULL;
	backtest->canonical = query_format(query);
	return look_at_all(backtest, store, query, now, error)
	           ? g_steal_pointer(&backtest)
	           : NULL;
}
