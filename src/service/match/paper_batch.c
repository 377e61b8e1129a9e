/*
 * paper_batch.c - evaluates filters for a batch of papers and records the results.
 */
#include "service/match/paper_batch.h"

#include "base/clock.h"
#include "base/day.h"
#include "store/paper/matches.h"

/*
 * Get the time from which all fields are final (match.h), s.  It is rounded down to the
 * hour, so that a digest due at that hour has the matches decided then.
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
paper_batch_get_finality(const struct stored_paper *stored, int64_t now)
{
	if (now >= get_final_due(stored))
		return QUERY_FINALITY_ALL;
	if (now >= stored->settled_at)
		return QUERY_FINALITY_LOOKED_UP;
	return QUERY_FINALITY_NONE;
}

int64_t
paper_batch_get_recheck_time(
    const struct query *query, const struct stored_paper *stored, int64_t now)
{
	int64_t final = get_final_due(stored);

	if (paper_find_lookups(stored->paper) & query_get_lookups(query) &&
	    paper_batch_get_finality(stored, now) == QUERY_FINALITY_NONE)
		return MIN(final, stored->settled_at);
	return final;
}

struct query_document *
paper_batch_make_document_at(
    struct store *store, const struct stored_paper *stored, int64_t now, GError **error)
{
	char first_day[DAY_BYTES];
	struct query_document *document;

	day_format(stored->first_seen_at, first_day);
	document = query_document_new(
	    stored->paper, first_day, store_get_tokenizer(store), error);
	if (document)
		query_document_finalize(
		    document, paper_batch_get_finality(stored, now));
	return document;
}

static void
free_paper(gpointer data)
{
	struct batch_paper *paper = data;

	query_document_free(paper->document);
	stored_paper_free(paper->stored);
	g_free(paper);
}

void
paper_batch_clear(struct paper_batch *paper_batch)
{
	/* It borrows the documents of the papers. */
	g_clear_pointer(&paper_batch->batch, batch_eval_free);
	g_clear_pointer(&paper_batch->papers, g_ptr_array_unref);
}

/* Before trusted_at only fields that are looked up may become final. */
static enum query_finality
get_finality(const struct stored_paper *stored, const struct match_context *context)
{
	enum query_finality finality = paper_batch_get_finality(stored, context->now);

	return context->now < context->trusted_at
	           ? MIN(finality, QUERY_FINALITY_LOOKED_UP)
	           : finality;
}

struct query_document *
paper_batch_make_document(struct store *store, const struct stored_paper *stored,
    const struct match_context *context, GError **error)
{
	struct query_document *document =
	    paper_batch_make_document_at(store, stored, context->now, error);

	if (document)
		query_document_finalize(document, get_finality(stored, context));
	return document;
}

/* @param stored  taken */
static bool
add_paper(struct paper_batch *paper_batch, struct store *store,
    struct stored_paper *stored, GError **error)
{
	struct batch_paper *paper = g_new0(struct batch_paper, 1);

	paper->stored = stored;
	paper->seq_len = g_snprintf(
	    paper->seq, sizeof(paper->seq), "%" G_GINT64_FORMAT ",", stored->seq);
	g_ptr_array_add(paper_batch->papers, paper);
	paper->document =
	    paper_batch_make_document(store, stored, &paper_batch->context, error);
	if (!paper->document)
		return false;
	batch_eval_add(paper_batch->batch, paper->document);
	return true;
}

bool
paper_batch_load(struct paper_batch *paper_batch, struct store *store, int64_t after,
    int64_t newest, const struct match_context *context, GError **error)
{
	char oldest_day[DAY_BYTES];
	g_autoptr(GPtrArray) stored = NULL;

	day_format(context->now - MATCH_WINDOW_DAYS * (int64_t)CLOCK_DAY_S, oldest_day);
	stored = papers_load_revisions(
	    store, after, newest, oldest_day, BATCH_EVAL_PAPERS, error);
	if (!stored)
		return false;
	paper_batch_clear(paper_batch);
	paper_batch->papers = g_ptr_array_new_with_free_func(free_paper);
	paper_batch->batch = batch_eval_new(store_get_tokenizer(store));
	paper_batch->context = *context;
	paper_batch->after = after;
	paper_batch->through = newest;
	if (stored->len == BATCH_EVAL_PAPERS)
		paper_batch->through =
		    ((struct stored_paper *)stored->pdata[stored->len - 1])->revision;
	while (stored->len)
		if (!add_paper(
		        paper_batch, store, g_ptr_array_steal_index(stored, 0), error))
			return false;
	return true;
}

/* Clean up after an earlier text of the paper: a match stays, a waiting match is
 * dropped. @param is_known  set, whether there is a match */
static bool
drop_earlier(struct store *store, int64_t filter_id, const struct stored_paper *stored,
    bool *is_known, GError **error)
{
	return matches_has_found(store, filter_id, stored->seq, is_known, error) &&
	       (*is_known ||
	           matches_delete_pending(store, filter_id, stored->seq, error));
}

static bool
save_found(struct paper_batch *paper_batch, struct store *store,
    const struct paper_batch_filter *filter, const struct bitset *papers,
    struct match_report *report, GError **error)
{
	g_autoptr(GString) seqs = g_string_new(NULL);

	for (unsigned i = bitset_find(papers, 0); i < BATCH_EVAL_PAPERS;
	     i = bitset_find(papers, i + 1)) {
		const struct batch_paper *paper = paper_batch->papers->pdata[i];
		bool is_known = false;

		if ((!filter->is_first_run || paper->stored->is_revised) &&
		    !drop_earlier(store, filter->id, paper->stored, &is_known, error))
			return false;
		if (is_known)
			continue;
		g_string_append_len(seqs, paper->seq, paper->seq_len);
		report->found++;
	}
	if (!seqs->len)
		return true;
	g_string_truncate(seqs, seqs->len - 1);
	return matches_save_found(
	    store, filter->id, seqs->str, paper_batch->context.now, error);
}

bool
paper_batch_save_waiting(struct store *store, int64_t filter_id,
    const struct query *query, const struct stored_paper *stored,
    const struct match_context *context, GError **error)
{
	int64_t due_at = paper_batch_get_recheck_time(query, stored, context->now);

	/* Due but not final: the clock is not trusted. */
	if (due_at <= context->now)
		due_at = context->trusted_at;
	return matches_save_pending(
	    store, filter_id, stored->seq, due_at, context->now, error);
}

static bool
save_waiting(struct paper_batch *paper_batch, struct store *store,
    const struct paper_batch_filter *filter, const struct bitset *papers,
    struct match_report *report, GError **error)
{
	pb_auto(query) query =
	    query_parse_canonical(filter->canonical, store_get_tokenizer(store), error);

	for (unsigned i = bitset_find(papers, 0); query && i < BATCH_EVAL_PAPERS;
	     i = bitset_find(papers, i + 1)) {
		const struct batch_paper *paper = paper_batch->papers->pdata[i];
		bool is_known = false;

		if ((!filter->is_first_run || paper->stored->is_revised) &&
		    !matches_has_found(
		        store, filter->id, paper->stored->seq, &is_known, error))
			return false;
		if (is_known)
			continue;
		if (!paper_batch_save_waiting(store, filter->id, query, paper->stored,
		        &paper_batch->context, error))
			return false;
		report->waiting++;
	}
	return query != NULL;
}

bool
paper_batch_run(struct paper_batch *paper_batch, struct store *store,
    const struct paper_batch_filter *filter, struct match_report *report,
    GError **error)
{
	struct batch_result answer;

	if (!batch_eval_run(paper_batch->batch, filter->canonical, &filter->papers,
	        &answer, NULL)) {
		report->broken++;
		return true;
	}
	report->filters++;
	report->papers += bitset_count(&filter->papers);
	return save_found(paper_batch, store, filter, &answer.yes, report, error) &&
	       (bitset_is_empty(&answer.waiting) ||
	           save_waiting(
	               paper_batch, store, filter, &answer.waiting, report, error));
}

bool
paper_batch_save_decided(struct store *store, int64_t filter_id,
    const struct stored_paper *stored, int64_t now, GError **error)
{
	g_autofree char *papers = g_strdup_printf("%" G_GINT64_FORMAT, stored->seq);
	bool is_known;

	return matches_has_found(store, filter_id, stored->seq, &is_known, error) &&
	       (is_known || (matches_save_found(store, filter_id, papers, now, error) &&
	                        matches_add_total(store, 1, error))) &&
	       matches_delete_pending(store, filter_id, stored->seq, error);
}
