/*
 * test_profile.c - a subscriber's schedule and pauses, in simulated time.
 */
#include "service/people/profile.h"

#include <string.h>

#include "base/bounds.h"
#include "base/day.h"
#include "base/error.h"
#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/people/person.h"
#include "service/people/subscribe.h"
#include "store/subscriber/subscribers.h"

#define NOW "2026-11-20T09:00:00Z" /* a Friday */
#define ADA "ada@example.org"

/* @return the error, NULL on success */
static char *
set(struct store_fixture *fixture, struct profile_change change, const char *now)
{
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) subscriber = NULL;

	change.who = "test";
	subscriber =
	    profile_set(fixture->store, ADA, &change, store_fixture_time(now), &error);
	store_fixture_assert_idle(fixture);
	g_assert_true(!subscriber == !!error);
	return error ? g_strdup(error->message) : NULL;
}

static char *
try_pause(struct store_fixture *fixture, const char *until, const char *now)
{
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) subscriber = profile_pause(
	    fixture->store, ADA, until, "test", store_fixture_time(now), &error);

	store_fixture_assert_idle(fixture);
	g_assert_true(!subscriber == !!error);
	return error ? g_strdup(error->message) : NULL;
}

static char *
resume(struct store_fixture *fixture, const char *now)
{
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) subscriber = profile_resume(
	    fixture->store, ADA, 0, "test", store_fixture_time(now), &error);

	store_fixture_assert_idle(fixture);
	return error ? g_strdup(error->message) : NULL;
}

/* A subscriber in Berlin whose first digest was built, empty, on the Friday. */
static struct store_fixture *
new_fixture(void)
{
	struct store_fixture *fixture = store_fixture_new();

	store_fixture_subscribe(
	    fixture, ADA, "Europe/Berlin", "diffusion", store_fixture_time(NOW));
	assert_digests_at(fixture, NOW, 0);
	return fixture;
}

static void
assert_due(struct store_fixture *fixture, const char *wanted)
{
	int64_t due =
	    store_fixture_number(fixture, "SELECT next_due_at FROM subscriber");
	g_autofree char *text = due < 0 ? g_strdup("-") : day_format_time(due);

	g_assert_cmpstr(text, ==, wanted);
}

TEST(frequencies_are_parsed_and_formatted)
{
	CASES_FOREACH(row, "profile_frequencies", *text, *wanted) {
		struct schedule schedule = {.minute = 77};
		g_autoptr(GError) error = NULL;
		bool is_ok = profile_parse_frequency(row->text, &schedule, &error);
		g_autofree char *text = profile_format_frequency(&schedule);

		g_assert_true(is_ok == (row->wanted != NULL));
		g_assert_cmpint(schedule.minute, ==, 77);
		if (is_ok)
			g_assert_cmpstr(text, ==, row->wanted);
		else
			g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	}
}

TEST(a_new_schedule_moves_the_next_digest)
{
	static const struct {
		struct profile_change change;
		const char *due;
	} rows[] = {
	    {{.at = "12:00"}, "2026-11-20T11:00:00Z"},
	    {{.at = "09:00"}, "2026-11-21T08:00:00Z"},
	    {{.zone = "Asia/Tokyo"}, "2026-11-20T22:30:00Z"},
	    {{.frequency = "weekdays"}, "2026-11-23T06:30:00Z"},
	    {{.frequency = "weekly:wed", .at = "18:15", .zone = "UTC"},
	        "2026-11-25T18:15:00Z"},
	    {{.frequency = "now"}, "2026-11-20T11:00:00Z"},
	    {{.days = "tue,sun"}, "2026-11-22T06:30:00Z"},
	    {{.words = {[PREFERENCE_EMPTY] = "note"}}, "2026-11-21T06:30:00Z"},
	    {{.name = "Ada"}, "2026-11-21T06:30:00Z"},
	    {{.max_full = 200}, "2026-11-21T06:30:00Z"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = new_fixture();

		g_assert_null(set(fixture, rows[i].change, "2026-11-20T10:00:00Z"));
		assert_due(fixture, rows[i].due);
	}
}

#define PROFILE_TEST(function) \
	TEST_WITH(function, store_fixture, fixture, new_fixture())

/* Every value of every preference is stored and loaded. */
PROFILE_TEST(preferences_are_stored)
{
	for (int i = 0; i < PREFERENCE_COUNT; i++) {
		enum preference preference = (enum preference)i;
		g_autofree char *words = preferences_format_words(preference);
		g_auto(GStrv) parts = g_strsplit_set(words, ", ", -1);

		for (char **word = parts; *word; word++) {
			struct profile_change change = {.language = "de"};
			pb_auto(subscriber) after = NULL;

			if (!**word || strcmp(*word, "or") == 0)
				continue;
			change.words[i] = *word;
			g_assert_null(set(fixture, change, NOW));
			after = NO_ERROR(person_load(fixture->store, ADA, &error));
			g_assert_cmpstr(
			    preferences_get_word(&after->preferences, preference), ==,
			    *word);
			g_assert_cmpstr(after->language, ==, "de");
		}
	}
}

PROFILE_TEST(a_catch_up_has_its_own_length)
{
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) wrong = NULL;
	pb_auto(subscriber) right = NULL;

	g_assert_null(try_pause(fixture, NULL, NOW));
	wrong = profile_resume(fixture->store, ADA, BOUNDS_DIGEST_FULL_MAX + 1, "test",
	    store_fixture_time(NOW), &error);
	g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	g_clear_error(&error);
	right = profile_resume(fixture->store, ADA, BOUNDS_DIGEST_FULL_MAX, "test",
	    store_fixture_time(NOW), &error);
	g_assert_no_error(error);
	g_assert_cmpint(
	    store_fixture_number(fixture, "SELECT catch_up FROM subscriber"), ==,
	    BOUNDS_DIGEST_FULL_MAX);
}

TEST(invalid_change_is_rejected_and_changes_nothing)
{
	g_autofree char *long_name = g_strnfill(BOUNDS_PERSON_NAME_BYTES + 1, 'n');
	const struct {
		struct profile_change change;
		const char *says;
	} rows[] = {
	    {{.zone = "Europe/Berlni", .at = "08:00"}, "did you mean Europe/Berlin?"},
	    {{.zone = "../etc/passwd"}, "unknown time zone"},
	    {{.at = "24:00", .name = "Ada"}, "is not a time of day"},
	    {{.frequency = "hourly"}, "daily, weekdays or weekly"},
	    {{.max_full = 201}, "max must be from 1 to 200"},
	    {{.max_full = -1}, "max must be from 1 to 200"},
	    {{.name = "a\nb"}, "contains a control character"},
	    {{.name = long_name}, "is too long"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = new_fixture();
		g_autofree char *before = store_fixture_hash(fixture);
		g_autofree char *says = set(fixture, rows[i].change, NOW);
		g_autofree char *after = store_fixture_hash(fixture);

		g_assert_nonnull(says);
		if (!strstr(says, rows[i].says))
			g_test_fail_printf("row %zu: %s", i, says);
		g_assert_cmpstr(before, ==, after);
	}
}

PROFILE_TEST(name_is_set_and_removed_with_an_audit_entry)
{
	g_assert_null(
	    set(fixture, (struct profile_change){.name = "Ada", .at = "8:00"}, NOW));
	assert_rows(fixture, "SELECT name, minute FROM subscriber", "Ada|480");
	g_assert_null(set(fixture, (struct profile_change){.name = ""}, NOW));
	assert_rows(fixture, "SELECT name FROM subscriber", "-");
	assert_rows(fixture,
	    "SELECT detail FROM audit_log WHERE what = 'subscriber changed'",
	    "at 8:00, name Ada name none");
}

/* Otherwise a subscriber whose first digest is pending would wait a day for it. */
STORE_TEST(a_digest_that_is_due_stays_due)
{
	store_fixture_subscribe(
	    fixture, ADA, "UTC", "diffusion", store_fixture_time(NOW));
	g_assert_null(set(fixture, (struct profile_change){.at = "12:00"}, NOW));
	assert_due(fixture, NOW);
}

PROFILE_TEST(pause_cancels_unsent_digests_and_frees_their_papers)
{
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	assert_digests_at(fixture, "2026-11-21T06:30:00Z", 1);
	g_assert_null(try_pause(fixture, NULL, "2026-11-21T06:31:00Z"));
	assert_rows(fixture, "SELECT state, next_due_at, paused_until FROM subscriber",
	    "paused|-|-");
	assert_rows(fixture, "SELECT state FROM outbox", "CANCELLED");
	assert_rows(fixture, "SELECT state FROM digest", "cancelled");
	assert_digests_at(fixture, "2026-11-21T07:00:00Z", 0);
	/* On the day of the slot whose digest was cancelled: that slot is taken. */
	g_assert_null(resume(fixture, "2026-11-21T08:00:00Z"));
	assert_digests_at(fixture, "2026-11-21T08:00:00Z", 1);
	assert_rows(fixture,
	    "SELECT count(*) FROM digest_item i JOIN digest d"
	    " ON d.id = i.digest_id WHERE d.state = 'live'",
	    "1");
	assert_due(fixture, "2026-11-22T06:30:00Z");
}

PROFILE_TEST(missed_papers_are_in_one_digest_after_the_pause)
{
	unsigned made = 0;

	g_assert_null(try_pause(fixture, "2026-12-01", NOW));
	assert_due(fixture, "2026-12-01T06:30:00Z");
	for (int day = 20; day <= 30; day++) {
		g_autofree char *date = g_strdup_printf("2026-11-%02d", day);
		g_autofree char *id = g_strdup_printf("2611.%05d", day);
		g_autofree char *noon = g_strconcat(date, "T12:00:00Z", NULL);

		store_fixture_list(fixture, date, id, "Diffusion", 3);
		assert_digests_at(fixture, noon, 0);
	}
	for (int64_t at = store_fixture_time("2026-12-01T00:00:00Z");
	     at < store_fixture_time("2026-12-01T06:30:00Z"); at += 600)
		assert_digests(fixture, at, 0);
	assert_rows(fixture, "SELECT state FROM subscriber", "paused");
	for (int64_t at = store_fixture_time("2026-12-01T06:30:00Z");
	     at < store_fixture_time("2026-12-04T00:00:00Z"); at += 600)
		made += store_fixture_build_digests(fixture, at);
	g_assert_cmpuint(made, ==, 1);
	assert_rows(fixture,
	    "SELECT d.slot, count(*) FROM digest d JOIN digest_item i"
	    " ON i.digest_id = d.id GROUP BY d.id",
	    "2026-12-01T07:30|11");
	assert_rows(fixture, "SELECT state, paused_until FROM subscriber", "active|-");
	assert_rows(fixture, "SELECT who, what FROM audit_log ORDER BY id DESC LIMIT 1",
	    "paperboy|subscriber resumed");
}

/* Suspended at the end of the pause: still one digest. */
PROFILE_TEST(day_of_suspend_gives_one_digest)
{
	int64_t due;

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	g_assert_null(try_pause(fixture, "3d", NOW));
	g_assert_true(subscribers_load_next_due(fixture->store, &due, NULL));
	g_assert_cmpint(due, ==, store_fixture_time("2026-11-23T06:30:00Z"));
	assert_digests_at(fixture, "2026-11-30T15:00:00Z", 1);
	assert_digests_at(fixture, "2026-11-30T15:00:01Z", 0);
	assert_rows(fixture, "SELECT slot FROM digest", "2026-11-30T07:30");
}

TEST(the_day_is_that_of_the_persons_zone_and_schedule)
{
	CASES_FOREACH(row, "profile_days", *zone, *frequency, *until, *due) {
		pb_auto(store_fixture) fixture = new_fixture();

		g_assert_null(set(fixture,
		    (struct profile_change){
		        .zone = row->zone, .frequency = row->frequency},
		    NOW));
		g_assert_null(try_pause(fixture, row->until, NOW));
		assert_due(fixture, row->due);
	}
}

PROFILE_TEST(a_pause_follows_a_change_of_schedule)
{
	g_assert_null(try_pause(fixture, "2026-12-01", NOW));
	g_assert_null(set(fixture, (struct profile_change){.at = "20:00"}, NOW));
	assert_due(fixture, "2026-12-01T19:00:00Z");
	g_assert_null(try_pause(fixture, "2026-12-02", NOW));
	assert_due(fixture, "2026-12-02T19:00:00Z");
	g_assert_null(try_pause(fixture, NULL, NOW));
	assert_due(fixture, "-");
	g_assert_null(set(fixture, (struct profile_change){.at = "21:00"}, NOW));
	assert_due(fixture, "-");
}

TEST(days_that_cannot_end_a_pause_are_refused)
{
	g_autofree char *most = g_strdup_printf("%dd", BOUNDS_PAUSE_DAYS);
	g_autofree char *more = g_strdup_printf("%dd", BOUNDS_PAUSE_DAYS + 1);
	const struct {
		const char *until, *says;
	} rows[] = {
	    {"2026-11-20", "a pause must end in the future"},
	    {"2026-11-19", "a pause must end in the future"},
	    {"0d", "a pause must end in the future"},
	    {"next friday", NULL},
	    {"yesterday", "a pause must end in the future"},
	    {"20 years", "at most 366 days"},
	    {"2 months", NULL},
	    {"tomorrow", NULL},
	    {"2026-11-31", "is not a day (expected YYYY-MM-DD"},
	    {"", "is not a day"},
	    {more, "at most 366 days, until 2027-11-21"},
	    {"9999-12-31", "at most 366 days"},
	    {most, NULL},
	    {"1d", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = new_fixture();
		g_autofree char *before = store_fixture_hash(fixture);
		g_autofree char *says = try_pause(fixture, rows[i].until, NOW);
		g_autofree char *after = store_fixture_hash(fixture);

		g_assert_true(!says == !rows[i].says);
		if (says && !strstr(says, rows[i].says))
			g_test_fail_printf("row %zu: %s", i, says);
		g_assert_true((strcmp(before, after) == 0) == (says != NULL));
	}
}

PROFILE_TEST(only_paused_resume_and_only_active_pause)
{
	g_autofree char *says = resume(fixture, NOW);

	g_assert_nonnull(strstr(says, "is not paused: its state is active"));
	store_fixture_run(fixture, "UPDATE subscriber SET state = 'suspended'");
	g_free(says);
	says = try_pause(fixture, NULL, NOW);
	g_assert_nonnull(strstr(says, "state is suspended"));
	store_fixture_run(fixture, "UPDATE subscriber SET state = 'active'");
	g_assert_null(try_pause(fixture, "5d", NOW));
	g_assert_true(NO_ERROR(subscribe_remove(
	    fixture->store, ADA, "test", store_fixture_time(NOW), &error)));
	assert_rows(fixture, "SELECT state, paused_until FROM subscriber", "gone|-");
	assert_digests_at(fixture, "2026-12-20T09:00:00Z", 0);
	g_free(says);
	says = try_pause(fixture, NULL, NOW);
	g_assert_nonnull(strstr(says, "is not a subscriber"));
}

/* A message being sent is not cancelled; if the relay defers it, it ends. */
PROFILE_TEST(message_in_flight_is_not_retried_in_the_pause)
{
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	assert_digests_at(fixture, "2026-11-21T06:30:00Z", 1);
	store_fixture_run(fixture,
	    "UPDATE outbox SET state = 'SENDING', attempt = 1, claimed_at = 1,"
	    " next_try_at = NULL");
	g_assert_null(try_pause(fixture, NULL, "2026-11-21T06:31:00Z"));
	assert_rows(fixture, "SELECT state FROM outbox", "SENDING");
	assert_rows(fixture, "SELECT state FROM digest", "live");
}

static bool
call_pause(struct store_fixture *fixture, void *data, GError **error)
{
	pb_auto(subscriber) subscriber = profile_pause(
	    fixture->store, ADA, data, "test", store_fixture_time(NOW), error);

	return subscriber != NULL;
}

static bool
call_wake(struct store_fixture *fixture, void *data, GError **error)
{
	unsigned count = 0;

	(void)data;
	return profile_end_pause(
	    fixture->store, store_fixture_time("2026-12-05T00:00:00Z"), &count, error);
}

PROFILE_TEST(pause_is_atomic)
{
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	store_fixture_build_digests(
	    fixture, store_fixture_time("2026-11-21T06:30:00Z"));
	g_assert_cmpuint(store_fixture_fail_everywhere(
	                     fixture, call_pause, (void *)"2026-12-01", true),
	    >, 5);
	assert_rows(fixture, "SELECT state FROM subscriber", "paused");
	g_assert_cmpuint(
	    store_fixture_fail_everywhere(fixture, call_wake, NULL, false), >, 3);
	assert_rows(fixture, "SELECT state FROM subscriber", "active");
}

UNIT_MAIN
