/*
 * showing.c - papers that are shown to filters, and what is recorded of it.
 */
#include "service/showing.h"

#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "store/matches.h"

static void
free_paper(gpointer data)
{
	struct showing_paper *paper = data;

	query_document_free(paper->document);
	stored_paper_free(paper->stored);
	g_free(paper);
}

void
showing_clear(struct showing *showing)
{
	/* It has the documents of the papers. */
	g_clear_pointer(&showing->bulk, bulk_free);
	g_clear_pointer(&showing->papers, g_ptr_array_unref);
	g_clear_pointer(&showing->found, g_array_unref);
	if (showing->found_texts)
		g_string_free(g_steal_pointer(&showing->found_texts), TRUE);
}

/* The last word is only spoken by a clock that is trusted. */
static enum query_settlement
get_settlement(const struct stored_paper *stored, const struct showing_moment *moment)
{
	enum query_settlement settlement = match_get_settlement(stored, moment->now);

	return moment->now < moment->trusted_at
	           ? MIN(settlement, QUERY_SETTLED_ENRICHED)
	           : settlement;
}

struct query_document *
showing_make_document(struct store *store, const struct stored_paper *stored,
    const struct showing_moment *moment, GError **error)
{
	struct query_document *document =
	    match_make_document(store, stored, moment->now, error);

	if (document)
		query_document_settle(document, get_settlement(stored, moment));
	return document;
}

/* @param stored  taken */
static bool
add_paper(struct showing *showing, struct store *store, struct stored_paper *stored,
    GError **error)
{
	struct showing_paper *paper = g_new0(struct showing_paper, 1);

	paper->stored = stored;
	paper->seq_len = g_snprintf(
	    paper->seq, sizeof(paper->seq), "%" G_GINT64_FORMAT ",", stored->seq);
	g_ptr_array_add(showing->papers, paper);
	paper->document = showing_make_document(store, stored, &showing->moment, error);
	if (!paper->document)
		return false;
	bulk_add(showing->bulk, paper->document);
	return true;
}

bool
showing_load(struct showing *showing, struct store *store, int64_t after,
    int64_t newest, const struct showing_moment *moment, GError **error)
{
	char oldest_day[DAY_BYTES];
	g_autoptr(GPtrArray) stored = NULL;

	day_format(moment->now - MATCH_WINDOW_DAYS * (int64_t)CLOCK_DAY_S, oldest_day);
	stored =
	    papers_load_revisions(store, after, newest, oldest_day, BULK_PAPERS, error);
	if (!stored)
		return false;
	showing_clear(showing);
	showing->papers = g_ptr_array_new_with_free_func(free_paper);
	showing->bulk = bulk_new(store_get_tokenizer(store));
	showing->found = g_array_new(FALSE, FALSE, sizeof(struct matches_found));
	showing->found_texts = g_string_new(NULL);
	showing->moment = *moment;
	showing->after = after;
	showing->through = newest;
	if (stored->len == BULK_PAPERS)
		showing->through =
		    ((struct stored_paper *)stored->pdata[stored->len - 1])->revision;
	while (stored->len)
		if (!add_paper(
		        showing, store, g_ptr_array_steal_index(stored, 0), error))
			return false;
	return true;
}

/* What the filter knew of the paper's earlier text: found stays found, and what waited
 * waits no more. */
static bool
settle_earlier(struct store *store, int64_t filter_id,
    const struct stored_paper *stored, bool *is_known, GError **error)
{
	return matches_has_found(store, filter_id, stored->seq, is_known, error) &&
	       (*is_known ||
	           matches_delete_waiting(store, filter_id, stored->seq, error));
}

bool
showing_flush(struct showing *showing, struct store *store, GError **error)
{
	struct matches_found *found =
	    (struct matches_found *)(void *)showing->found->data;
	const char *text = showing->found_texts->str;

	for (unsigned i = 0; i < showing->found->len; i++) {
		found[i].papers = text;
		text += strlen(text) + 1;
	}
	if (!matches_save_found(
	        store, found, showing->found->len, showing->moment.now, error))
		return false;
	g_array_set_size(showing->found, 0);
	g_string_truncate(showing->found_texts, 0);
	return true;
}

static bool
save_found(struct showing *showing, struct store *store,
    const struct showing_filter *filter, const struct bulk_mask *papers,
    struct match_report *report, GError **error)
{
	GString *texts = showing->found_texts;
	struct matches_found row = {.filter_id = filter->id};
	size_t start = texts->len;
	unsigned found = 0;
	char *to;

	/* There are so many that g_string_append() would be seen. */
	g_string_set_size(texts, start + bulk_mask_count(papers) * SHOWING_SEQ_BYTES);
	to = texts->str + start;
	for (unsigned i = bulk_mask_find(papers, 0); i < BULK_PAPERS;
	     i = bulk_mask_find(papers, i + 1)) {
		const struct showing_paper *paper = showing->papers->pdata[i];
		bool is_known = false;

		if ((!filter->is_new_to_them || paper->stored->is_revised) &&
		    !settle_earlier(store, filter->id, paper->stored, &is_known, error))
			return false;
		if (is_known)
			continue;
		memcpy(to, paper->seq, SHOWING_SEQ_BYTES);
		to += paper->seq_len;
		found++;
	}
	report->found += found;
	if (found)
		to[-1] = '\0';
	g_string_set_size(texts, (gsize)(to - texts->str));
	if (!found)
		return true;
	g_array_append_val(showing->found, row);
	return showing->found->len < MATCHES_FOUND_AT_ONCE ||
	       showing_flush(showing, store, error);
}

bool
showing_save_waiting(struct store *store, int64_t filter_id, const struct query *query,
    const struct stored_paper *stored, const struct showing_moment *moment,
    GError **error)
{
	int64_t due_at = match_get_due(query, stored, moment->now);

	/* What is due is not settled yet: the clock is not trusted. */
	if (due_at <= moment->now)
		due_at = moment->trusted_at;
	return matches_save_waiting(
	    store, filter_id, stored->seq, due_at, moment->now, error);
}

static bool
save_waiting(struct showing *showing, struct store *store,
    const struct showing_filter *filter, const struct bulk_mask *papers,
    struct match_report *report, GError **error)
{
	pb_auto(query) query =
	    query_parse_canonical(filter->canonical, store_get_tokenizer(store), error);

	for (unsigned i = bulk_mask_find(papers, 0); query && i < BULK_PAPERS;
	     i = bulk_mask_find(papers, i + 1)) {
		const struct showing_paper *paper = showing->papers->pdata[i];
		bool is_known = false;

		if ((!filter->is_new_to_them || paper->stored->is_revised) &&
		    !matches_has_found(
		        store, filter->id, paper->stored->seq, &is_known, error))
			return false;
		if (is_known)
			continue;
		if (!showing_save_waiting(store, filter->id, query, paper->stored,
		        &showing->moment, error))
			return false;
		report->waiting++;
	}
	return query != NULL;
}

bool
showing_show(struct showing *showing, struct store *store,
    const struct showing_filter *filter, struct match_report *report, GError **error)
{
	struct bulk_answer answer;

	if (!bulk_ask(
	        showing->bulk, filter->canonical, &filter->papers, &answer, NULL)) {
		report->broken++;
		return true;
	}
	report->asked++;
	report->compared += bulk_mask_count(&filter->papers);
	return save_found(showing, store, filter, &answer.yes, report, error) &&
	       (bulk_mask_is_empty(&answer.waiting) ||
	           save_waiting(
	               showing, store, filter, &answer.waiting, report, error));
}

bool
showing_save_decided(struct store *store, int64_t filter_id,
    const struct stored_paper *stored, int64_t now, GError **error)
{
	g_autofree char *papers = g_strdup_printf("%" G_GINT64_FORMAT, stored->seq);
	const struct matches_found found = {filter_id, papers};
	bool is_known;

	return matches_has_found(store, filter_id, stored->seq, &is_known, error) &&
	       (is_known || matches_save_found(store, &found, 1, now, error)) &&
	       matches_delete_waiting(store, filter_id, stored->seq, error);
}
