/*
 * test_filters.c - filters are moved, named, changed and tried.
 */
#include "service/filters.h"

#include <glib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/lab.h"
#include "service/backtest.h"
#include "service/profile.h"
#include "store/people.h"

#define NOW "2026-11-20T09:00:00Z" /* a Friday */
#define ADA "ada@example.org"
#define NUMBERS                                         \
	"SELECT group_concat(number || text, ' ') FROM" \
	" (SELECT * FROM subscription ORDER BY number)"

/* Filters a, b, c, d with these numbers. */
static struct lab *
new_lab(const int numbers[4])
{
	static const char *const texts[] = {"aa", "bb", "cc", "dd"};
	struct lab *lab = lab_new();

	lab_subscribe(lab, ADA, "UTC", NULL, lab_time(NOW));
	for (int i = 0; i < 4; i++)
		lab_add_filter(lab, ADA, texts[i], lab_time(NOW));
	for (int i = 3; i >= 0; i--) {
		g_autofree char *sql = g_strdup_printf(
		    "UPDATE subscription SET number = %d WHERE text = '%s'", numbers[i],
		    texts[i]);

		lab_run(lab, sql);
	}
	return lab;
}

static void
others_make_room_only_where_it_is_needed(void)
{
	static const struct {
		int numbers[4];
		int from, to;
		const char *wanted;
	} rows[] = {
	    {{1, 2, 3, 4}, 4, 1, "1dd 2aa 3bb 4cc"},
	    {{1, 2, 3, 4}, 1, 4, "1bb 2cc 3dd 4aa"},
	    {{1, 2, 3, 4}, 2, 3, "1aa 2cc 3bb 4dd"},
	    {{1, 2, 3, 4}, 3, 2, "1aa 2cc 3bb 4dd"},
	    {{1, 2, 3, 4}, 2, 2, "1aa 2bb 3cc 4dd"},
	    {{1, 2, 3, 4}, 2, 9, "1aa 3cc 4dd 9bb"},
	    {{1, 2, 5, 9}, 9, 3, "1aa 2bb 3dd 5cc"},
	    {{1, 2, 5, 9}, 9, 2, "1aa 2dd 3bb 6cc"},
	    {{1, 2, 5, 9}, 1, 5, "1bb 4cc 5aa 9dd"},
	    {{1, 2, 5, 9}, 1, FILTERS_NUMBER_MAX, "2bb 5cc 9dd 9999aa"},
	    {{1, 2, 3, FILTERS_NUMBER_MAX}, 1, FILTERS_NUMBER_MAX,
	        "1bb 2cc 9998dd 9999aa"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(lab) lab = new_lab(rows[i].numbers);
		g_autoptr(GError) error = NULL;

		g_assert_true(filters_move(lab->store, ADA, rows[i].from, rows[i].to,
		    "test", lab_time(NOW), &error));
		lab_assert_idle(lab);
		lab_assert_text(lab, NUMBERS, rows[i].wanted);
	}
}

static void
a_move_to_no_place_or_of_no_filter_is_refused(void)
{
	static const int numbers[] = {1, 2, 3, 4};
	static const struct {
		int from, to;
		enum pb_error code;
	} rows[] = {
	    {1, 0, PB_ERROR_INPUT},
	    {1, FILTERS_NUMBER_MAX + 1, PB_ERROR_INPUT},
	    {1, -1, PB_ERROR_INPUT},
	    {7, 1, PB_ERROR_NOT_FOUND},
	    {7, 7, PB_ERROR_NOT_FOUND},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(lab) lab = new_lab(numbers);
		g_autoptr(GError) error = NULL;

		g_assert_false(filters_move(lab->store, ADA, rows[i].from, rows[i].to,
		    "test", lab_time(NOW), &error));
		g_assert_error(error, PB_ERROR, (int)rows[i].code);
		lab_assert_idle(lab);
		lab_assert_text(lab, NUMBERS, "1aa 2bb 3cc 4dd");
	}
}

static bool
call_move(struct lab *lab, void *data, GError **error)
{
	(void)data;
	return filters_move(lab->store, ADA, 4, 1, "test", lab_time(NOW), error);
}

static void
a_move_is_whole_or_not_at_all(void)
{
	pb_auto(lab) lab = new_lab((const int[]){1, 2, 3, 4});

	g_assert_cmpuint(lab_fail_everywhere(lab, call_move, NULL, true), >, 5);
	lab_assert_text(lab, NUMBERS, "1dd 2aa 3bb 4cc");
}

static void
names_are_given_and_taken_away(void)
{
	pb_auto(lab) lab = new_lab((const int[]){1, 2, 3, 4});
	g_autofree char *most = g_strnfill(BOUNDS_FILTER_NAME, 'n');
	g_autofree char *more = g_strnfill(BOUNDS_FILTER_NAME + 1, 'n');
	static const char name[] = "SELECT name FROM subscription WHERE number = 2";
	g_autoptr(GError) error = NULL;
	int64_t now = lab_time(NOW);

	g_assert_true(filters_rename(lab->store, ADA, 2, most, "test", now, &error));
	lab_assert_text(lab, name, most);
	g_assert_false(filters_rename(lab->store, ADA, 2, more, "test", now, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	g_clear_error(&error);
	g_assert_false(filters_rename(lab->store, ADA, 2, "a\tb", "test", now, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	g_clear_error(&error);
	g_assert_false(filters_rename(lab->store, ADA, 5, "x", "test", now, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_NOT_FOUND);
	g_assert_true(filters_rename(lab->store, ADA, 2, "", "test", now, NULL));
	lab_assert_text(lab, name, "-");
	lab_assert_text(lab,
	    "SELECT detail FROM change WHERE what = 'filter renamed'"
	    " ORDER BY id DESC LIMIT 1",
	    "filter 2: no name");
}

/* @return the refusal, NULL when it went well */
static char *
edit(struct lab *lab, int number, const char *text, const char *now)
{
	const struct filters_change change = {
	    .address = ADA, .number = number, .text = text, .who = "test"};
	struct query_problem problem = {0};
	g_autoptr(GError) error = NULL;
	pb_auto(subscription) subscription =
	    filters_edit(lab->store, &change, lab_time(now), &problem, NULL, &error);

	lab_assert_idle(lab);
	g_assert_true(!subscription == !!error);
	query_problem_clear(&problem);
	return error ? g_strdup(error->message) : NULL;
}

static void
an_edit_keeps_number_and_name_and_takes_blanks_as_one_line(void)
{
	pb_auto(lab) lab = new_lab((const int[]){1, 2, 3, 4});
	g_autofree char *says = NULL;

	g_assert_true(
	    filters_rename(lab->store, ADA, 2, "mine", "test", lab_time(NOW), NULL));
	g_assert_null(edit(lab, 2, "mamba\tOR\nssm", NOW));
	lab_assert_text(lab,
	    "SELECT s.number, s.name, s.text, f.canonical FROM subscription s"
	    " JOIN filter f ON f.id = s.filter_id WHERE s.number = 2",
	    "2|mine|mamba OR ssm|mamba OR ssm");
	lab_assert_text(lab, "SELECT what, detail FROM change ORDER BY id DESC LIMIT 1",
	    "filter changed|mamba OR ssm");
	/* The same once more is fine; that of another filter is not. */
	g_assert_null(edit(lab, 2, "ssm OR mambas", NOW));
	says = edit(lab, 2, "AA", NOW);
	g_assert_cmpstr(says, ==, "filter 1 is the same: aa");
	g_free(says);
	says = edit(lab, 2, "ti:", NOW);
	g_assert_nonnull(strstr(says, "column 4"));
	g_free(says);
	says = edit(lab, 9, "x", NOW);
	g_assert_cmpstr(says, ==, "there is no filter 9");
	lab_assert_text(
	    lab, "SELECT text FROM subscription WHERE number = 2", "ssm OR mambas");
}

/*
 * A weekly reader changes a filter on the Friday: what was listed since the
 * Monday's digest must still come, and what is months old must not.
 */
static void
an_edit_loses_nothing_that_is_due_and_floods_nobody(void)
{
	static const struct {
		const char *cadence, *since, *wanted;
		bool is_paused;
	} rows[] = {
	    {"daily", "2026-08-01", "2026-11-17", false},
	    {"daily", "2026-11-19", "2026-11-19", false},
	    {"weekly:mon", "2026-08-01", "2026-11-16", false},
	    {"weekly:mon", "2026-11-18", "2026-11-18", false},
	    {"weekly:mon", "2026-08-01", "2026-08-01", true},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(lab) lab = lab_new();
		g_autofree char *sql = g_strdup_printf(
		    "UPDATE subscription SET since_day = '%s'", rows[i].since);
		const struct profile_change change = {
		    .cadence = rows[i].cadence, .who = "test"};
		pb_auto(subscriber) changed = NULL;

		lab_subscribe(lab, ADA, "UTC", "old", lab_time(NOW));
		changed = profile_set(lab->store, ADA, &change, lab_time(NOW), NULL);
		lab_run(lab, sql);
		if (rows[i].is_paused)
			lab_run(lab, "UPDATE subscriber SET state = 'paused'");
		g_assert_null(edit(lab, 1, "new", NOW));
		lab_assert_text(
		    lab, "SELECT since_day FROM subscription", rows[i].wanted);
	}
}

static struct backtest *
try_query(struct lab *lab, const char *text, int days, GError **error)
{
	g_autofree char *before = lab_hash(lab);
	struct backtest *backtest =
	    backtest_run(lab->store, text, days, lab_time(NOW), NULL, error);
	g_autofree char *after = lab_hash(lab);

	lab_assert_idle(lab);
	g_assert_cmpstr(before, ==, after);
	return backtest;
}

static void
a_query_is_tried_on_the_papers_of_the_days(void)
{
	pb_auto(lab) lab = lab_new();
	g_autoptr(GString) found = g_string_new(NULL);
	pb_auto(backtest) backtest = NULL;
	pb_auto(backtest) voted = NULL;

	/* The last of 30 days is the 22nd of October; the 21st is one too many. */
	lab_list(lab, "2026-10-21", "2610.00001", "Diffusion", 99);
	lab_list(lab, "2026-10-22", "2610.00002", "Diffusion", 99);
	lab_list(lab, "2026-11-18", "2611.00003", "Diffusion, old", 1);
	lab_list(lab, "2026-11-19", "2611.00004", "Diffusion models", 30);
	lab_list(lab, "2026-11-19", "2611.00005", "Diffusion", 2);
	lab_list(lab, "2026-11-19", "2611.00006", "Something else", 2);
	lab_list(lab, "2026-11-20", "2611.00007", "A diffusion", 30);
	lab_list(lab, "2026-11-20", "2611.00008", "Diffusions", 40);
	backtest = try_query(lab, "Diffusions", 30, NULL);
	g_assert_cmpstr(backtest->canonical, ==, "diffusion");
	g_assert_cmpuint(backtest->papers, ==, 7);
	g_assert_cmpuint(backtest->found, ==, 6);
	g_assert_cmpuint(backtest->waiting, ==, 0);
	for (guint i = 0; i < backtest->per_day->len; i++) {
		const struct backtest_day *day =
		    &g_array_index(backtest->per_day, struct backtest_day, i);

		g_string_append_printf(
		    found, "%s %u/%u\n", day->day, day->found, day->papers);
	}
	for (unsigned i = 0; i < backtest->newest->len; i++) {
		const struct backtest_paper *paper = backtest->newest->pdata[i];

		g_string_append_printf(
		    found, "%s %s: %s\n", paper->id, paper->title, paper->words);
	}
	g_assert_cmpstr(found->str, ==,
	    "2026-11-20 2/2\n2026-11-19 2/3\n2026-11-18 1/1\n2026-10-22 1/1\n"
	    "2611.00008 Diffusions: Diffusions in the title\n"
	    "2611.00007 A diffusion: diffusion in the title\n"
	    "2611.00004 Diffusion models: Diffusion in the title\n"
	    "2611.00005 Diffusion: Diffusion in the title\n"
	    "2611.00003 Diffusion, old: Diffusion in the title\n");
	voted = try_query(lab, "diffusion upvotes:>=30", 2, NULL);
	g_assert_cmpuint(voted->found, ==, 3);
	g_assert_cmpuint(voted->waiting, ==, 1);
}

static void
a_query_that_is_wrong_or_days_that_are_none_are_refused(void)
{
	pb_auto(lab) lab = lab_new();
	static const struct {
		const char *text;
		int days;
		enum pb_error code;
	} rows[] = {
	    {"ti:", 30, PB_ERROR_INPUT},
	    {"x", 0, PB_ERROR_LIMIT},
	    {"x", BOUNDS_BACKTEST_DAYS + 1, PB_ERROR_LIMIT},
	};
	pb_auto(backtest) most = try_query(lab, "x", BOUNDS_BACKTEST_DAYS, NULL);

	g_assert_nonnull(most);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;

		g_assert_null(try_query(lab, rows[i].text, rows[i].days, &error));
		g_assert_error(error, PB_ERROR, (int)rows[i].code);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define ADD(name) g_test_add_func("/filters/" #name, name)
	ADD(others_make_room_only_where_it_is_needed);
	ADD(a_move_to_no_place_or_of_no_filter_is_refused);
	ADD(a_move_is_whole_or_not_at_all);
	ADD(names_are_given_and_taken_away);
	ADD(an_edit_keeps_number_and_name_and_takes_blanks_as_one_line);
	ADD(an_edit_loses_nothing_that_is_due_and_floods_nobody);
	ADD(a_query_is_tried_on_the_papers_of_the_days);
	ADD(a_query_that_is_wrong_or_days_that_are_none_are_refused);
	return g_test_run();
}
