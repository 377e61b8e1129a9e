/*
 * match_batch.c - the filters that have seen all papers so far, moved on as one.
 */
#include "service/match/match_batch.h"

#include "service/match/percolator.h"
#include "store/paper/filter_progress.h"

/* Of one commit: candidates, whether they find anything or not, and about as many
 * rows.  Others who write wait so long, some ten milliseconds. */
#define PAGE_CANDIDATES 4000
#define PAGE_SAVED      8000

/* To read this many filters in a row takes as long as to look for one. */
#define SEEK_FILTERS 24

/* A batch of papers that is shown to the crowd. */
struct turn {
	struct store *store;
	struct match_page match_page;
	struct percolator *percolator;
	struct filter_progress progress; /* as it was last committed */
	int64_t last;                    /* the highest id of a filter */
	bool is_looked_up; /* there may be candidates that were not shown yet */
};

/* Candidates of one commit. */
struct page {
	struct turn *turn;
	struct match_report *report;
	int64_t shown; /* the last candidate that had its turn */
	unsigned
	    saved; /* rows: one for all that a filter found, one for each that waits */
};

static void
turn_clear(struct turn *turn)
{
	match_page_clear(&turn->match_page);
	percolator_free(turn->percolator);
}

#define turn_auto __attribute__((cleanup(turn_clear))) struct turn

static bool
is_same_progress(const struct filter_progress *a, const struct filter_progress *b)
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
begin_turn(struct turn *turn, int64_t newest, const struct page_context *moment,
    bool *is_ours, GError **error)
{
	struct filter_progress *progress = &turn->progress;
	bool is_left = progress->batch > progress->matched;
	pb_transaction transaction = {0};
	struct filter_progress now;

	if (!match_page_load(&turn->match_page, turn->store, progress->matched,
	        is_left ? progress->batch : newest, moment, error) ||
	    !store_begin(turn->store, &transaction, error) ||
	    !filter_progress_load(turn->store, &now, error))
		return false;
	*is_ours = is_same_progress(&now, progress);
	if (!*is_ours)
		return true;
	if (now.batch != turn->match_page.through) {
		now.batch = turn->match_page.through;
		now.filter_id = 0;
	}
	/* Papers that nobody is to see any more. */
	if (!turn->match_page.papers->len)
		now.matched = now.batch;
	if (!filter_progress_save(turn->store, &now, error) ||
	    !store_commit(&transaction, error))
		return false;
	*progress = now;
	return true;
}

/* A number in digits: there are so many that printf() would be seen. */
static void
append_number(GString *text, int64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	g_string_append_len(text, digits + at, (gssize)(sizeof(digits) - at));
}

/*
 * List the next candidates, a page of them.
 *
 * @param ids    a JSON array of them
 * @param last   set to the last one, or to the end of what was looked up
 * @return how many they are; fewer than a page: there are no more
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
	       !bitset_is_empty(percolator_get_papers(page->turn->percolator, id));
}

static bool
show_candidate(void *data, int64_t id, const char *canonical, GError **error)
{
	struct page *page = data;
	struct turn *turn = page->turn;
	struct match_report *report = page->report;
	const struct match_report before = *report;
	const struct match_page_filter filter = {
	    .id = id,
	    .canonical = canonical,
	    .papers = *percolator_get_papers(turn->percolator, id),
	    .is_new_to_them = true,
	};

	page->shown = id;
	if (!match_page_run(&turn->match_page, turn->store, &filter, report, error))
		return false;
	page->saved +=
	    (report->found > before.found) + report->waiting - before.waiting;
	return true;
}

/*
 * Show the batch to a page of the candidates that were looked up; when they have all
 * seen it, it is done.
 */
static bool
show_page(struct turn *turn, struct match_report *report, bool *is_ours, GError **error)
{
	struct match_report sums = *report;
	struct page page = {.turn = turn, .report = &sums};
	g_autoptr(GString) ids = g_string_new(NULL);
	const struct filter_callbacks callbacks = {is_candidate, show_candidate, &page};
	pb_transaction transaction = {0};
	struct filter_progress now;
	int64_t last, after = turn->progress.filter_id;
	unsigned count = list_candidates(turn->percolator, after, ids, &last);
	bool is_more = count == PAGE_CANDIDATES;

	if (!store_begin(turn->store, &transaction, error) ||
	    !filter_progress_load(turn->store, &now, error))
		return false;
	*is_ours = is_same_progress(&now, &turn->progress);
	if (!*is_ours)
		return true;
	if (last - after <= count * (int64_t)SEEK_FILTERS
	        ? !filter_progress_foreach_range(
	              turn->store, after, last, &callbacks, error)
	        : !filter_progress_foreach(turn->store, ids->str, &callbacks, error))
		return false;
	if (!match_page_save(&turn->match_page, turn->store, error))
		return false;
	/* A full page ends early: what was left of it is looked for again. */
	is_more = is_more || page.saved >= PAGE_SAVED;
	now.filter_id = page.saved >= PAGE_SAVED ? page.shown : last;
	if (!is_more && now.filter_id >= turn->last)
		now.matched = now.batch;
	if (!filter_progress_save(turn->store, &now, error) ||
	    !store_commit(&transaction, error))
		return false;
	turn->progress = now;
	turn->is_looked_up = is_more;
	*report = sums;
	return true;
}

static bool
show_all(struct turn *turn, struct match_report *report, GError **error)
{
	const struct filter_progress *progress = &turn->progress;
	bool is_ours = true;

	if (!filter_progress_load_last_id(turn->store, &turn->last, error))
		return false;
	turn->percolator = percolator_new();
	for (unsigned i = 0; i < turn->match_page.papers->len; i++) {
		const struct match_page_paper *paper =
		    turn->match_page.papers->pdata[i];

		percolator_add(turn->percolator, paper->document);
	}
	while (is_ours && progress->matched < progress->batch &&
	       !store_is_stopped(turn->store)) {
		if (!turn->is_looked_up &&
		    !percolator_look_up(turn->percolator, turn->store,
		        progress->filter_id, turn->last, error))
			return false;
		if (!show_page(turn, report, &is_ours, error))
			return false;
		store_yield();
	}
	return true;
}

bool
match_batch_run(struct store *store, const struct page_context *moment,
    struct match_report *report, GError **error)
{
	while (!store_is_stopped(store)) {
		turn_auto turn = {.store = store};
		int64_t newest;
		bool is_ours;

		if (!filter_progress_load(store, &turn.progress, error) ||
		    !papers_load_newest_revision(store, &newest, error))
			return false;
		if (turn.progress.batch <= turn.progress.matched &&
		    newest <= turn.progress.matched)
			return true;
		if (!begin_turn(&turn, newest, moment, &is_ours, error))
			return false;
		if (is_ours && !show_all(&turn, report, error))
			return false;
	}
	return true;
}
