/*
 * test_profile.c - a person's rhythm and pauses, in simulated time.
 */
#include "service/profile.h"

#include <glib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/day.h"
#include "base/error.h"
#include "lib/lab.h"
#include "service/subscribe.h"
#include "store/people.h"

#define NOW "2026-11-20T09:00:00Z" /* a Friday */
#define ADA "ada@example.org"

/* @return the refusal, NULL when it went well */
static char *
set(struct lab *lab, struct profile_change change, const char *now)
{
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) subscriber = NULL;

	change.who = "test";
	subscriber = profile_set(lab->store, ADA, &change, lab_time(now), &error);
	lab_assert_idle(lab);
	g_assert_true(!subscriber == !!error);
	return error ? g_strdup(error->message) : NULL;
}

static char *
try_pause(struct lab *lab, const char *until, const char *now)
{
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) subscriber =
	    profile_pause(lab->store, ADA, until, "test", lab_time(now), &error);

	lab_assert_idle(lab);
	g_assert_true(!subscriber == !!error);
	return error ? g_strdup(error->message) : NULL;
}

static char *
resume(struct lab *lab, const char *now)
{
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) subscriber =
	    profile_resume(lab->store, ADA, 0, "test", lab_time(now), &error);

	lab_assert_idle(lab);
	return error ? g_strdup(error->message) : NULL;
}

/* Somebody in Berlin whose first digest was made, empty, on the Friday. */
static struct lab *
new_lab(void)
{
	struct lab *lab = lab_new();

	lab_subscribe(lab, ADA, "Europe/Berlin", "diffusion", lab_time(NOW));
	g_assert_cmpuint(lab_press(lab, lab_time(NOW)), ==, 0);
	return lab;
}

static void
assert_due(struct lab *lab, const char *wanted)
{
	int64_t due = lab_number(lab, "SELECT next_due_at FROM subscriber");
	g_autofree char *text = due < 0 ? g_strdup("-") : day_format_time(due);

	g_assert_cmpstr(text, ==, wanted);
}

static void
cadences_are_read_and_written(void)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {
	    {"daily", "daily"},
	    {"WEEKDAYS", "weekdays"},
	    {"weekly", "weekly:mon"},
	    {"weekly:thu,mon", "weekly:mon,thu"},
	    {"Weekly:Sunday", "weekly:sun"},
	    {"weekly:", NULL},
	    {"weekly:noday", NULL},
	    {"daily:mon", NULL},
	    {"", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct rhythm rhythm = {.minute = 77};
		g_autoptr(GError) error = NULL;
		bool is_ok = profile_parse_cadence(rows[i].text, &rhythm, &error);
		g_autofree char *text = profile_format_cadence(&rhythm);

		g_assert_true(is_ok == (rows[i].wanted != NULL));
		g_assert_cmpint(rhythm.minute, ==, 77);
		if (is_ok)
			g_assert_cmpstr(text, ==, rows[i].wanted);
		else
			g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	}
}

static void
a_new_rhythm_moves_the_next_digest(void)
{
	static const struct {
		struct profile_change change;
		const char *due;
	} rows[] = {
	    {{.at = "12:00"}, "2026-11-20T11:00:00Z"},
	    {{.at = "09:00"}, "2026-11-21T08:00:00Z"},
	    {{.zone = "Asia/Tokyo"}, "2026-11-20T22:30:00Z"},
	    {{.cadence = "weekdays"}, "2026-11-23T06:30:00Z"},
	    {{.cadence = "weekly:wed", .at = "18:15", .zone = "UTC"},
	        "2026-11-25T18:15:00Z"},
	    {{.cadence = "now"}, "2026-11-20T11:00:00Z"},
	    {{.days = "tue,sun"}, "2026-11-22T06:30:00Z"},
	    {{.words = {[PREFERENCE_QUIET] = "note"}}, "2026-11-21T06:30:00Z"},
	    {{.name = "Ada"}, "2026-11-21T06:30:00Z"},
	    {{.max_full = 200}, "2026-11-21T06:30:00Z"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(lab) lab = new_lab();

		g_assert_null(set(lab, rows[i].change, "2026-11-20T10:00:00Z"));
		assert_due(lab, rows[i].due);
	}
}

/* Every word of every preference is stored, and read again. */
static void
what_people_choose_is_kept(void)
{
	pb_auto(lab) lab = new_lab();

	for (int i = 0; i < PREFERENCE_COUNT; i++) {
		enum preference preference = (enum preference)i;
		g_autofree char *words = preferences_format_words(preference);
		g_auto(GStrv) parts = g_strsplit_set(words, ", ", -1);

		for (char **word = parts; *word; word++) {
			struct profile_change change = {.language = "de"};
			g_autoptr(GError) error = NULL;
			pb_auto(subscriber) after = NULL;

			if (!**word || strcmp(*word, "or") == 0)
				continue;
			change.words[i] = *word;
			g_assert_null(set(lab, change, NOW));
			after = subscribe_find(lab->store, ADA, &error);
			g_assert_no_error(error);
			g_assert_cmpstr(
			    preferences_get_word(&after->preferences, preference), ==,
			    *word);
			g_assert_cmpstr(after->language, ==, "de");
		}
	}
}

static void
a_catch_up_has_its_own_length(void)
{
	pb_auto(lab) lab = new_lab();
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) wrong = NULL;
	pb_auto(subscriber) right = NULL;

	g_assert_null(try_pause(lab, NULL, NOW));
	wrong = profile_resume(
	    lab->store, ADA, BOUNDS_DIGEST_FULL_MAX + 1, "test", lab_time(NOW), &error);
	g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	g_clear_error(&error);
	right = profile_resume(
	    lab->store, ADA, BOUNDS_DIGEST_FULL_MAX, "test", lab_time(NOW), &error);
	g_assert_no_error(error);
	g_assert_cmpint(lab_number(lab, "SELECT catch_up FROM subscriber"), ==,
	    BOUNDS_DIGEST_FULL_MAX);
}

static void
what_is_wrong_is_refused_and_nothing_changed(void)
{
	g_autofree char *long_name = g_strnfill(BOUNDS_PERSON_NAME_BYTES + 1, 'n');
	const struct {
		struct profile_change change;
		const char *says;
	} rows[] = {
	    {{.zone = "Europe/Berlni", .at = "08:00"}, "did you mean Europe/Berlin?"},
	    {{.zone = "../etc/passwd"}, "unknown time zone"},
	    {{.at = "24:00", .name = "Ada"}, "is not a time of day"},
	    {{.at = "9"}, "is it 09:00 or 21:00?"},
	    {{.cadence = "hourly"}, "daily, weekdays or weekly"},
	    {{.max_full = 201}, "max must be from 1 to 200"},
	    {{.max_full = -1}, "max must be from 1 to 200"},
	    {{.name = "a\nb"}, "has a control character"},
	    {{.name = long_name}, "is too long"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(lab) lab = new_lab();
		g_autofree char *before = lab_hash(lab);
		g_autofree char *says = set(lab, rows[i].change, NOW);
		g_autofree char *after = lab_hash(lab);

		g_assert_nonnull(says);
		if (!strstr(says, rows[i].says))
			g_test_fail_printf("row %zu: %s", i, says);
		g_assert_cmpstr(before, ==, after);
	}
}

static void
a_name_is_set_and_taken_away_and_the_audit_tells(void)
{
	pb_auto(lab) lab = new_lab();

	g_assert_null(
	    set(lab, (struct profile_change){.name = "Ada", .at = "8:00"}, NOW));
	lab_assert_text(lab, "SELECT name, minute FROM subscriber", "Ada|480");
	g_assert_null(set(lab, (struct profile_change){.name = ""}, NOW));
	lab_assert_text(lab, "SELECT name FROM subscriber", "-");
	lab_assert_text(lab,
	    "SELECT detail FROM change WHERE what = 'subscriber changed'",
	    "at 8:00, name Ada name none");
}

/* Otherwise somebody whose first digest is under way would wait a day for it. */
static void
a_digest_that_is_due_stays_due(void)
{
	pb_auto(lab) lab = lab_new();

	lab_subscribe(lab, ADA, "UTC", "diffusion", lab_time(NOW));
	g_assert_null(set(lab, (struct profile_change){.at = "12:00"}, NOW));
	assert_due(lab, NOW);
}

static void
a_pause_cancels_what_is_unsent_and_frees_its_papers(void)
{
	pb_auto(lab) lab = new_lab();

	lab_list(lab, "2026-11-20", "2611.00001", "Diffusion", 3);
	g_assert_cmpuint(lab_press(lab, lab_time("2026-11-21T06:30:00Z")), ==, 1);
	g_assert_null(try_pause(lab, NULL, "2026-11-21T06:31:00Z"));
	lab_assert_text(lab, "SELECT state, next_due_at, paused_until FROM subscriber",
	    "paused|-|-");
	lab_assert_text(lab, "SELECT state FROM outbox", "CANCELLED");
	lab_assert_text(lab, "SELECT state FROM digest", "cancelled");
	g_assert_cmpuint(lab_press(lab, lab_time("2026-11-21T07:00:00Z")), ==, 0);
	/* On the day of the slot whose digest was cancelled: that slot is taken. */
	g_assert_null(resume(lab, "2026-11-21T08:00:00Z"));
	g_assert_cmpuint(lab_press(lab, lab_time("2026-11-21T08:00:00Z")), ==, 1);
	lab_assert_text(lab,
	    "SELECT count(*) FROM digest_item i JOIN digest d"
	    " ON d.id = i.digest_id WHERE d.state = 'live'",
	    "1");
	assert_due(lab, "2026-11-22T06:30:00Z");
}

static void
what_was_missed_comes_in_one_digest_on_the_day(void)
{
	pb_auto(lab) lab = new_lab();
	unsigned made = 0;

	g_assert_null(try_pause(lab, "2026-12-01", NOW));
	assert_due(lab, "2026-12-01T06:30:00Z");
	for (int day = 20; day <= 30; day++) {
		g_autofree char *date = g_strdup_printf("2026-11-%02d", day);
		g_autofree char *id = g_strdup_printf("2611.%05d", day);
		g_autofree char *noon = g_strconcat(date, "T12:00:00Z", NULL);

		lab_list(lab, date, id, "Diffusion", 3);
		g_assert_cmpuint(lab_press(lab, lab_time(noon)), ==, 0);
	}
	for (int64_t at = lab_time("2026-12-01T00:00:00Z");
	     at < lab_time("2026-12-01T06:30:00Z"); at += 600)
		g_assert_cmpuint(lab_press(lab, at), ==, 0);
	lab_assert_text(lab, "SELECT state FROM subscriber", "paused");
	for (int64_t at = lab_time("2026-12-01T06:30:00Z");
	     at < lab_time("2026-12-04T00:00:00Z"); at += 600)
		made += lab_press(lab, at);
	g_assert_cmpuint(made, ==, 1);
	lab_assert_text(lab,
	    "SELECT d.slot, count(*) FROM digest d JOIN digest_item i"
	    " ON i.digest_id = d.id GROUP BY d.id",
	    "2026-12-01T07:30|11");
	lab_assert_text(lab, "SELECT state, paused_until FROM subscriber", "active|-");
	lab_assert_text(lab, "SELECT who, what FROM change ORDER BY id DESC LIMIT 1",
	    "paperboy|subscriber resumed");
}

/* Asleep over the end of the pause: one digest all the same. */
static void
a_machine_that_slept_over_the_day_makes_one_digest(void)
{
	pb_auto(lab) lab = new_lab();
	int64_t due;

	lab_list(lab, "2026-11-20", "2611.00001", "Diffusion", 3);
	g_assert_null(try_pause(lab, "3d", NOW));
	g_assert_true(people_load_next_due(lab->store, &due, NULL));
	g_assert_cmpint(due, ==, lab_time("2026-11-23T06:30:00Z"));
	g_assert_cmpuint(lab_press(lab, lab_time("2026-11-30T15:00:00Z")), ==, 1);
	g_assert_cmpuint(lab_press(lab, lab_time("2026-11-30T15:00:01Z")), ==, 0);
	lab_assert_text(lab, "SELECT slot FROM digest", "2026-11-30T07:30");
}

static void
the_day_is_that_of_the_persons_zone_and_rhythm(void)
{
	static const struct {
		const char *zone, *cadence, *until, *due;
	} rows[] = {
	    {"Pacific/Kiritimati", "daily", "2026-12-01", "2026-11-30T17:30:00Z"},
	    {"Pacific/Niue", "daily", "2026-12-01", "2026-12-01T18:30:00Z"},
	    {"UTC", "weekly:wed", "2026-12-01", "2026-12-02T07:30:00Z"},
	    {"UTC", "weekdays", "2026-12-05", "2026-12-07T07:30:00Z"},
	    /* Clocks went on at midnight there: the day begins at one. */
	    {"Africa/Cairo", "daily", "2027-04-30", "2027-04-30T04:30:00Z"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(lab) lab = new_lab();

		g_assert_null(set(lab,
		    (struct profile_change){
		        .zone = rows[i].zone, .cadence = rows[i].cadence},
		    NOW));
		g_assert_null(try_pause(lab, rows[i].until, NOW));
		assert_due(lab, rows[i].due);
	}
}

static void
a_pause_follows_a_change_of_rhythm(void)
{
	pb_auto(lab) lab = new_lab();

	g_assert_null(try_pause(lab, "2026-12-01", NOW));
	g_assert_null(set(lab, (struct profile_change){.at = "20:00"}, NOW));
	assert_due(lab, "2026-12-01T19:00:00Z");
	g_assert_null(try_pause(lab, "2026-12-02", NOW));
	assert_due(lab, "2026-12-02T19:00:00Z");
	g_assert_null(try_pause(lab, NULL, NOW));
	assert_due(lab, "-");
	g_assert_null(set(lab, (struct profile_change){.at = "21:00"}, NOW));
	assert_due(lab, "-");
}

static void
days_that_cannot_end_a_pause_are_refused(void)
{
	g_autofree char *most = g_strdup_printf("%dd", BOUNDS_PAUSE_DAYS);
	g_autofree char *more = g_strdup_printf("%dd", BOUNDS_PAUSE_DAYS + 1);
	const struct {
		const char *until, *says;
	} rows[] = {
	    {"2026-11-20", "a pause ends on a day to come"},
	    {"2026-11-19", "a pause ends on a day to come"},
	    {"0d", "a pause ends on a day to come"},
	    {"next friday", "is not a day: YYYY-MM-DD"},
	    {"20 years", "is not a day"},
	    {"2 months", NULL},
	    {"tomorrow", NULL},
	    {"2026-11-31", "is not a day: YYYY-MM-DD"},
	    {"", "is not a day"},
	    {more, "at most 366 days long, until 2027-11-21"},
	    {"9999-12-31", "at most 366 days long"},
	    {most, NULL},
	    {"1d", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(lab) lab = new_lab();
		g_autofree char *before = lab_hash(lab);
		g_autofree char *says = try_pause(lab, rows[i].until, NOW);
		g_autofree char *after = lab_hash(lab);

		g_assert_true(!says == !rows[i].says);
		if (says && !strstr(says, rows[i].says))
			g_test_fail_printf("row %zu: %s", i, says);
		g_assert_true((strcmp(before, after) == 0) == (says != NULL));
	}
}

static void
only_who_is_paused_resumes_and_who_is_active_pauses(void)
{
	pb_auto(lab) lab = new_lab();
	g_autoptr(GError) error = NULL;
	g_autofree char *says = resume(lab, NOW);

	g_assert_nonnull(strstr(says, "is not paused: the state is active"));
	lab_run(lab, "UPDATE subscriber SET state = 'suspended'");
	g_free(says);
	says = try_pause(lab, NULL, NOW);
	g_assert_nonnull(strstr(says, "the state is suspended"));
	lab_run(lab, "UPDATE subscriber SET state = 'active'");
	g_assert_null(try_pause(lab, "5d", NOW));
	g_assert_true(subscribe_remove(lab->store, ADA, "test", lab_time(NOW), &error));
	g_assert_no_error(error);
	lab_assert_text(lab, "SELECT state, paused_until FROM subscriber", "gone|-");
	g_assert_cmpuint(lab_press(lab, lab_time("2026-12-20T09:00:00Z")), ==, 0);
	g_free(says);
	says = try_pause(lab, NULL, NOW);
	g_assert_nonnull(strstr(says, "is not a subscriber"));
}

/* A message in the sender's hands goes on; the relay's "later" then ends it. */
static void
a_message_under_way_is_not_sent_again_in_the_pause(void)
{
	pb_auto(lab) lab = new_lab();

	lab_list(lab, "2026-11-20", "2611.00001", "Diffusion", 3);
	g_assert_cmpuint(lab_press(lab, lab_time("2026-11-21T06:30:00Z")), ==, 1);
	lab_run(lab, "UPDATE outbox SET state = 'SENDING', attempt = 1, claimed_at = 1,"
	             " next_try_at = NULL");
	g_assert_null(try_pause(lab, NULL, "2026-11-21T06:31:00Z"));
	lab_assert_text(lab, "SELECT state FROM outbox", "SENDING");
	lab_assert_text(lab, "SELECT state FROM digest", "live");
}

static bool
call_pause(struct lab *lab, void *data, GError **error)
{
	pb_auto(subscriber) subscriber =
	    profile_pause(lab->store, ADA, data, "test", lab_time(NOW), error);

	return subscriber != NULL;
}

static bool
call_wake(struct lab *lab, void *data, GError **error)
{
	unsigned count = 0;

	(void)data;
	return profile_wake(
	    lab->store, lab_time("2026-12-05T00:00:00Z"), &count, error);
}

static void
a_pause_is_stored_whole_or_not_at_all(void)
{
	pb_auto(lab) lab = new_lab();

	lab_list(lab, "2026-11-20", "2611.00001", "Diffusion", 3);
	lab_press(lab, lab_time("2026-11-21T06:30:00Z"));
	g_assert_cmpuint(
	    lab_fail_everywhere(lab, call_pause, (void *)"2026-12-01", true), >, 5);
	lab_assert_text(lab, "SELECT state FROM subscriber", "paused");
	g_assert_cmpuint(lab_fail_everywhere(lab, call_wake, NULL, false), >, 3);
	lab_assert_text(lab, "SELECT state FROM subscriber", "active");
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define ADD(name) g_test_add_func("/profile/" #name, name)
	ADD(cadences_are_read_and_written);
	ADD(a_new_rhythm_moves_the_next_digest);
	ADD(what_is_wrong_is_refused_and_nothing_changed);
	ADD(what_people_choose_is_kept);
	ADD(a_catch_up_has_its_own_length);
	ADD(a_name_is_set_and_taken_away_and_the_audit_tells);
	ADD(a_digest_that_is_due_stays_due);
	ADD(a_pause_cancels_what_is_unsent_and_frees_its_papers);
	ADD(what_was_missed_comes_in_one_digest_on_the_day);
	ADD(a_machine_that_slept_over_the_day_makes_one_digest);
	ADD(the_day_is_that_of_the_persons_zone_and_rhythm);
	ADD(a_pause_follows_a_change_of_rhythm);
	ADD(days_that_cannot_end_a_pause_are_refused);
	ADD(only_who_is_paused_resumes_and_who_is_active_pauses);
	ADD(a_message_under_way_is_not_sent_again_in_the_pause);
	ADD(a_pause_is_stored_whole_or_not_at_all);
	return g_test_run();
}
