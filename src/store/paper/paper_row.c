/*
 * paper_row.c - read rows of the table paper; for src/store only.
 */
#include "store/paper/paper_row.h"

#include <string.h>

#include "base/clock.h"
#include "store/core/record.h"

void
stored_paper_free(struct stored_paper *stored)
{
	if (!stored)
		return;
	paper_free(stored->paper);
	g_free(stored);
}

char *
paper_row_join(const GPtrArray *texts)
{
	GString *lines;

	if (!texts)
		return NULL;
	lines = g_string_new(NULL);
	for (unsigned i = 0; i < texts->len; i++)
		g_string_append_printf(
		    lines, "%s%s", i ? "\n" : "", (char *)texts->pdata[i]);
	return g_string_free(lines, FALSE);
}

/* Append the lines of a column. @return false if it is NULL */
static bool
split(struct sql_statement *row, int column, GPtrArray *texts)
{
	const char *lines = sql_get_text(row, column);
	g_auto(GStrv) parts = NULL;

	if (!lines)
		return false;
	parts = g_strsplit(lines, "\n", -1);
	for (char **part = parts; *part; part++)
		if (**part)
			g_ptr_array_add(texts, g_strdup(*part));
	return true;
}

/* Inverse of paper_row_join(). @return NULL for NULL */
static GPtrArray *
load_texts(struct sql_statement *row, int column)
{
	g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);

	return split(row, column, texts) ? g_steal_pointer(&texts) : NULL;
}

char *
paper_row_format_journal(const struct paper *paper)
{
	g_autofree char *names = paper_row_join(paper->journal_names);

	return names ? g_strconcat(paper->journal, "\n", names, NULL)
	             : g_strdup(paper->journal);
}

/* Inverse of paper_row_format_journal(). */
static void
load_journal(struct sql_statement *row, int column, struct paper *paper)
{
	g_autoptr(GPtrArray) names = load_texts(row, column);

	paper->journal = names && names->len ? g_ptr_array_steal_index(names, 0)
	                                     : sql_dup_text(row, column);
	if (names && names->len)
		paper->journal_names = g_steal_pointer(&names);
}

static int
compare_listings(const void *a, const void *b)
{
	const struct paper_listing *left = a, *right = b;
	int by_day = strcmp(left->day, right->day);

	return by_day ? by_day : strcmp(left->source, right->source);
}

static void
add_listing(struct paper *paper, const char *source, const char *day,
    enum listing_type listing_type, bool is_late)
{
	for (unsigned i = 0; i < paper->listings->len; i++) {
		struct paper_listing *known =
		    &g_array_index(paper->listings, struct paper_listing, i);

		if (strcmp(known->day, day) == 0 &&
		    strcmp(known->source, source) == 0) {
			known->listing_type = MIN(known->listing_type, listing_type);
			known->is_late = known->is_late && is_late;
			return;
		}
	}
	paper_add_listing(paper, source, day, listing_type);
	g_array_index(paper->listings, struct paper_listing, paper->listings->len - 1)
	    .is_late = is_late;
}

/*
 * Whether a listing was first seen too late for the relative dates of filters.
 *
 * @param listed_at, first_seen_at  when the listing and the paper were first seen, s
 */
static bool
is_late(const char *day, int64_t listed_at, int64_t first_seen_at)
{
	char first_day[DAY_BYTES];

	if (listed_at / CLOCK_DAY_S <= first_seen_at / CLOCK_DAY_S)
		return false;
	day_format(first_seen_at, first_day);
	return strcmp(day, first_day) <= 0;
}

/*
 * The lists of one service count as one listing per day, with the strongest type: new
 * in one category and cross-listed in another is new.
 */
static bool
load_listings(struct store *store, const struct stored_paper *stored, GError **error)
{
	static const char sql[] = "SELECT paper_seq, day, type, first_seen_at, source"
	                          " FROM listing WHERE paper_seq = ?1";
	struct paper *paper = stored->paper;
	sql_auto *row = sql_bind(store, sql, error, SQL_INT(stored->seq));
	enum sql_step step = SQL_STEP_FAILED;

	while (row &&
	       (step = record_next(row, "listing", "id*nt", error)) == SQL_STEP_ROW) {
		const char *day = sql_get_text(row, 1);
		g_autofree char *service = sql_dup_text(row, 4);

		if (!record_check_word(row, 2, ENUMERATION_LISTING_TYPE, error))
			return false;
		service[strcspn(service, "/")] = '\0';
		add_listing(paper, service, day,
		    (enum listing_type)record_get_word_number(
		        row, 2, ENUMERATION_LISTING_TYPE),
		    is_late(day, sql_get_int(row, 3), stored->first_seen_at));
	}
	g_array_sort(paper->listings, compare_listings);
	return step == SQL_STEP_DONE;
}

static struct stored_paper *
load_columns(struct sql_statement *row)
{
	struct stored_paper *stored = g_new0(struct stored_paper, 1);
	struct paper *paper = paper_new();

	stored->paper = paper;
	stored->seq = sql_get_int(row, 0);
	paper->id = sql_dup_text(row, 1);
	paper->title = sql_dup_text(row, 2);
	paper->abstract = sql_dup_text(row, 3);
	split(row, 4, paper->authors);
	paper->url = sql_dup_text(row, 5);
	paper->code_url = sql_dup_text(row, 6);
	paper->project_url = sql_dup_text(row, 7);
	paper->video_url = sql_dup_text(row, 8);
	paper->organization = sql_dup_text(row, 9);
	paper->keywords = load_texts(row, 10);
	paper->categories = load_texts(row, 11);
	paper->comment = sql_dup_text(row, 12);
	load_journal(row, 13, paper);
	paper->doi = sql_dup_text(row, 14);
	paper->published_at = sql_get_int(row, 15);
	paper->upvotes = sql_get_int(row, 16);
	paper->comments = sql_get_int(row, 17);
	paper->stars = sql_get_int(row, 18);
	stored->revision = sql_get_int(row, 19);
	g_strlcpy(stored->day, sql_get_text(row, 20), sizeof(stored->day));
	stored->first_seen_at = sql_get_int(row, 21);
	stored->is_revised = sql_get_int(row, 22) == 1;
	paper->source_rank = (enum paper_source_rank)sql_get_int(row, 23);
	paper->summary = sql_dup_text(row, 24);
	g_strlcpy(
	    stored->upvotes_day, sql_get_text(row, 25), sizeof(stored->upvotes_day));
	stored->upvotes_before = sql_get_int(row, 26);
	paper->pmid = sql_dup_text(row, 27);
	paper->pmcid = sql_dup_text(row, 28);
	paper->mesh = load_texts(row, 29);
	paper->looked_up = (unsigned)sql_get_int(row, 30);
	stored->settled_at =
	    MAX(stored->first_seen_at + PAPERS_LOOKUP_S, sql_get_int(row, 31));
	stored->work = sql_get_int(row, 32);
	return stored;
}

bool
paper_row_find(struct store *store, struct sql_statement *statement,
    struct stored_paper **stored, GError **error)
{
	/* In the order of load_columns(). */
	static const char checks[] = "itttttTTTTTTTTTNNNNndnn*TDNTTTnnn";
	enum sql_step step = statement ? record_next(statement, "paper", checks, error)
	                               : SQL_STEP_FAILED;
	pb_auto(stored_paper) found = NULL;

	if (step == SQL_STEP_ROW) {
		if (!record_check_word(statement, 23, ENUMERATION_PAPER_SOURCE, error))
			return false;
		found = load_columns(statement);
		if (!load_listings(store, found, error))
			return false;
	}
	if (step != SQL_STEP_FAILED)
		*stored = g_steal_pointer(&found);
	return step != SQL_STEP_FAILED;
}

GPtrArray *
paper_row_load_all(struct store *store, struct sql_statement *statement, GError **error)
{
	g_autoptr(GPtrArray) papers =
	    g_ptr_array_new_with_free_func((GDestroyNotify)stored_paper_free);
	struct stored_paper *stored;
	bool is_ok;

	while ((is_ok = paper_row_find(store, statement, &stored, error)) && stored)
		g_ptr_array_add(papers, stored);
	return is_ok ? g_steal_pointer(&papers) : NULL;
}
