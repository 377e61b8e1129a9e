/*
 * test_filters.c - filters are moved, renamed, edited and tested.
 */
#include "base/bounds.h"
#include "service/people/filters.h"

#include <string.h>

#include "base/error.h"
#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/people/profile.h"
#include "store/subscriber/subscribers.h"

#define NOW "2026-11-20T09:00:00Z" /* a Friday */
#define ADA "ada@example.org"
#define NUMBERS                                         \
	"SELECT group_concat(number || text, ' ') FROM" \
	" (SELECT * FROM subscription ORDER BY number)"

/* Filters a, b, c, d with these numbers. */
static struct store_fixture *
new_fixture(const int numbers[4])
{
	static const char *const texts[] = {"aa", "bb", "cc", "dd"};
	struct store_fixture *fixture = store_fixture_new();

	store_fixture_subscribe(fixture, ADA, "UTC", NULL, store_fixture_time(NOW));
	for (int i = 0; i < 4; i++)
		store_fixture_add_filter(
		    fixture, ADA, texts[i], store_fixture_time(NOW));
	for (int i = 3; i >= 0; i--) {
		g_autofree char *sql = g_strdup_printf(
		    "UPDATE subscription SET number = %d WHERE text = '%s'", numbers[i],
		    texts[i]);

		store_fixture_run(fixture, sql);
	}
	return fixture;
}

TEST(others_make_room_only_where_it_is_needed)
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
		pb_auto(store_fixture) fixture = new_fixture(rows[i].numbers);
		g_autoptr(GError) error = NULL;

		g_assert_true(filters_move(fixture->store, ADA, rows[i].from,
		    rows[i].to, "test", store_fixture_time(NOW), &error));
		store_fixture_assert_idle(fixture);
		assert_rows(fixture, NUMBERS, rows[i].wanted);
	}
}

TEST(a_move_to_no_place_or_of_no_filter_is_refused)
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
		pb_auto(store_fixture) fixture = new_fixture(numbers);

		FAILS((int)rows[i].code,
		    filters_move(fixture->store, ADA, rows[i].from, rows[i].to, "test",
		        store_fixture_time(NOW), &error));
		store_fixture_assert_idle(fixture);
		assert_rows(fixture, NUMBERS, "1aa 2bb 3cc 4dd");
	}
}

static bool
call_move(struct store_fixture *fixture, void *data, GError **error)
{
	(void)data;
	return filters_move(
	    fixture->store, ADA, 4, 1, "test", store_fixture_time(NOW), error);
}

TEST(a_move_is_whole_or_not_at_all)
{
	pb_auto(store_fixture) fixture = new_fixture((const int[]){1, 2, 3, 4});

	g_assert_cmpuint(
	    store_fixture_fail_everywhere(fixture, call_move, NULL, true), >, 5);
	assert_rows(fixture, NUMBERS, "1dd 2aa 3bb 4cc");
}

TEST(names_are_set_and_removed)
{
	pb_auto(store_fixture) fixture = new_fixture((const int[]){1, 2, 3, 4});
	g_autofree char *most = g_strnfill(BOUNDS_FILTER_NAME, 'n');
	g_autofree char *more = g_strnfill(BOUNDS_FILTER_NAME + 1, 'n');
	static const char name[] = "SELECT name FROM subscription WHERE number = 2";
	g_autoptr(GError) error = NULL;
	int64_t now = store_fixture_time(NOW);

	g_assert_true(
	    filters_rename(fixture->store, ADA, 2, most, "test", now, &error));
	assert_rows(fixture, name, most);
	g_assert_false(
	    filters_rename(fixture->store, ADA, 2, more, "test", now, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	g_clear_error(&error);
	g_assert_false(
	    filters_rename(fixture->store, ADA, 2, "a\tb", "test", now, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	g_clear_error(&error);
	g_assert_false(
	    filters_rename(fixture->store, ADA, 5, "x", "test", now, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_NOT_FOUND);
	g_assert_true(filters_rename(fixture->store, ADA, 2, "", "test", now, NULL));
	assert_rows(fixture, name, "-");
	assert_rows(fixture,
	    "SELECT detail FROM audit_log WHERE what = 'filter renamed'"
	    " ORDER BY id DESC LIMIT 1",
	    "filter 2: no name");
}

/* @return the error, NULL on success */
static char *
edit(struct store_fixture *fixture, int number, const char *text, const char *now)
{
	const struct filters_change change = {
	    .address = ADA, .number = number, .text = text, .who = "test"};
	struct query_error problem = {0};
	g_autoptr(GError) error = NULL;
	pb_auto(subscription) subscription = filters_edit(
	    fixture->store, &change, store_fixture_time(now), &problem, NULL, &error);

	store_fixture_assert_idle(fixture);
	g_assert_true(!subscription == !!error);
	query_error_clear(&problem);
	return error ? g_strdup(error->message) : NULL;
}

TEST(an_edit_keeps_number_and_name)
{
	pb_auto(store_fixture) fixture = new_fixture((const int[]){1, 2, 3, 4});
	g_autofree char *says = NULL;

	g_assert_true(filters_rename(
	    fixture->store, ADA, 2, "mine", "test", store_fixture_time(NOW), NULL));
	g_assert_null(edit(fixture, 2, "mamba OR ssm", NOW));
	assert_rows(fixture,
	    "SELECT s.number, s.name, s.text, f.canonical FROM subscription s"
	    " JOIN filter f ON f.id = s.filter_id WHERE s.number = 2",
	    "2|mine|mamba OR ssm|mamba OR ssm");
	assert_rows(fixture,
	    "SELECT what, detail FROM audit_log ORDER BY id DESC LIMIT 1",
	    "filter changed|mamba OR ssm");
	/* Its own name is accepted; that of another filter is not. */
	g_assert_null(edit(fixture, 2, "ssm OR mambas", NOW));
	says = edit(fixture, 2, "AA", NOW);
	g_assert_cmpstr(says, ==, "filter 1 is the same: aa");
	g_free(says);
	says = edit(fixture, 2, "ti:", NOW);
	g_assert_nonnull(strstr(says, "column 4"));
	g_free(says);
	says = edit(fixture, 9, "x", NOW);
	g_assert_cmpstr(says, ==, "no such filter: 9");
	assert_rows(
	    fixture, "SELECT text FROM subscription WHERE number = 2", "ssm OR mambas");
}

/*
 * A weekly subscriber edits a filter on a Friday: papers listed since Monday's digest
 * remain due, papers of months ago are not.
 */
TEST(edit_keeps_due_papers_and_adds_no_old_ones)
{
	CASES_FOREACH(row, "filters_edited", *frequency, *since, *wanted, *is_paused) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		g_autofree char *sql = g_strdup_printf(
		    "UPDATE subscription SET since_day = '%s'", row->since);
		const struct profile_change change = {
		    .frequency = row->frequency, .who = "test"};
		pb_auto(subscriber) changed = NULL;

		store_fixture_subscribe(
		    fixture, ADA, "UTC", "old", store_fixture_time(NOW));
		changed = profile_set(
		    fixture->store, ADA, &change, store_fixture_time(NOW), NULL);
		store_fixture_run(fixture, sql);
		if (cases_is_yes(row->is_paused))
			store_fixture_run(
			    fixture, "UPDATE subscriber SET state = 'paused'");
		g_assert_null(edit(fixture, 1, "new", NOW));
		assert_rows(fixture, "SELECT since_day FROM subscription", row->wanted);
	}
}

UNIT_MAIN
