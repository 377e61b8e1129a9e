/*
 * paper_row.c - read rows of the table paper; for src/store only.
 */
#include "store/paper/paper_row.h"

#include <string.h>

#include "base/clock.h"
#include "store/core/enumeration.h"

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

GPtrArray *
paper_row_load_texts(struct sql_statement *row, int column)
{
	g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);

	return split(row, column, texts) ? g_steal_pointer(&texts) : NULL;
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

bool
paper_row_is_late(const char *day, int64_t listed_at, int64_t first_seen_at)
{
	char first_day[DAY_BYTES];

	if (listed_at / CLOCK_DAY_S <= first_seen_at / CLOCK_DAY_S)
		return false;
	day_format(first_seen_at, first_day);
	return strcmp(day, first_day) <= 0;
}

/*
 * Parse listings, one per line: day, type, time first seen and source, separated by
 * tabs.
 *
 * The lists of one service count as one listing per day, with the strongest type: new
 * in one category and cross-listed in another is new.
 */
static void
load_listings(
    struct sql_statement *row, int column, int64_t first_seen_at, struct paper *paper)
{
	g_autofree char *lines = sql_dup_text(row, column);
	g_auto(GStrv) parts = lines ? g_strsplit(lines, "\n", -1) : NULL;

	for (char **part = parts; part && *part; part++) {
		g_auto(GStrv) cells = g_strsplit(*part, "\t", 4);
		enum listing_type listing_type = LISTING_NEW;

		cells[3][strcspn(cells[3], "/")] = '\0';
		listing_type_parse(cells[1], &listing_type);
		add_listing(paper, cells[3], cells[0], listing_type,
		    paper_row_is_late(
		        cells[0], g_ascii_strtoll(cells[2], NULL, 10), first_seen_at));
	}
	g_array_sort(paper->listings, compare_listings);
}

enum sql_step
paper_row_step(struct sql_statement *row, GError **error)
{
	static const struct enumeration_column source = {
	    23, ENUMERATION_PAPER_SOURCE, ENUMERATION_VALUE, 0};
	static const struct enumeration_column listings = {
	    25, ENUMERATION_LISTING_TYPE, ENUMERATION_LINES, 0};
	enum sql_step step = sql_step(row, error);

	if (step == SQL_STEP_ROW && (!enumeration_check(row, &source, error) ||
	                                !enumeration_check(row, &listings, error)))
		return SQL_STEP_FAILED;
	return step;
}

struct stored_paper *
paper_row_load(struct sql_statement *row)
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
	paper->keywords = paper_row_load_texts(row, 10);
	paper->categories = paper_row_load_texts(row, 11);
	paper->comment = sql_dup_text(row, 12);
	paper->journal = sql_dup_text(row, 13);
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
	load_listings(row, 25, stored->first_seen_at, paper);
	g_strlcpy(
	    stored->upvotes_day, sql_get_text(row, 26), sizeof(stored->upvotes_day));
	stored->upvotes_before = sql_get_int(row, 27);
	return stored;
}

GPtrArray *
paper_row_load_all(struct sql_statement *statement, GError **error)
{
	g_autoptr(GPtrArray) papers =
	    g_ptr_array_new_with_free_func((GDestroyNotify)stored_paper_free);
	enum sql_step step;

	if (!statement)
		return NULL;
	while ((step = paper_row_step(statement, error)) == SQL_STEP_ROW)
		g_ptr_array_add(papers, paper_row_load(statement));
	return step == SQL_STEP_DONE ? g_steal_pointer(&papers) : NULL;
}
