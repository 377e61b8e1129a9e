/*
 * test_digest_order.c - digests follow preferences: order, limits, empty days.
 */
#include <string.h>

#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/digest/digest_build.h"
#include "service/people/profile.h"
#include "service/people/subscribe.h"
#include "store/mail/digests.h"

#define ADA "ada@example.org"
#define NOW "2026-11-20T13:00:00Z" /* a Friday */

/* Of the newest digest: the end of each id, and its detail. */
#define PAPERS                                                           \
	"SELECT substr(p.id, -2), shown FROM digest_item i JOIN paper p" \
	" ON p.seq = i.paper_seq"                                        \
	" WHERE i.digest_id = (SELECT max(id) FROM digest) ORDER BY i.position"
#define MADE                                                                     \
	"SELECT strftime('%d %H:%M', created_at, 'unixepoch') FROM digest ORDER" \
	" BY id"

static void
choose(struct store_fixture *fixture, enum preference preference, const char *word,
    const char *at)
{
	struct profile_change change = {.who = "test"};
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) subscriber = NULL;

	change.words[preference] = word;
	subscriber =
	    profile_set(fixture->store, ADA, &change, store_fixture_time(at), &error);
	g_assert_no_error(error);
}

static void
choose_frequency(struct store_fixture *fixture, const char *frequency, const char *at)
{
	const struct profile_change change = {.frequency = frequency, .who = "test"};
	pb_auto(subscriber) subscriber = NO_ERROR(
	    profile_set(fixture->store, ADA, &change, store_fixture_time(at), &error));
}

static void
add_filter(struct store_fixture *fixture, const char *text, int max_papers)
{
	const struct subscribe_filter filter = {.text = text, .max_papers = max_papers};
	pb_auto(subscription) subscription =
	    NO_ERROR(subscribe_add_filter(fixture->store, ADA, &filter, "test",
	        store_fixture_time(NOW), NULL, NULL, &error));
}

static unsigned
build_digests(struct store_fixture *fixture, const char *at)
{
	return store_fixture_build_digests(fixture, store_fixture_time(at));
}

static void
save(struct store_fixture *fixture, const char *day, const char *id, const char *title,
    const char *abstract, int64_t upvotes)
{
	struct paper *paper = store_fixture_paper(id, title, abstract);

	paper->upvotes = upvotes;
	store_fixture_save(
	    fixture, "made-up", day, store_fixture_time("2026-11-20T12:00:00Z"), paper);
}

TEST(papers_are_in_the_chosen_order)
{
	CASES_FOREACH(row, "digest_order", *order, *wanted) {
		pb_auto(store_fixture) fixture = store_fixture_new();

		save(fixture, "2026-11-19", "2611.00001", "Of trees", "With a kernel.",
		    9);
		save(fixture, "2026-11-18", "2611.00002", "Kernel of kernels",
		    "A kernel.", 8);
		save(fixture, "2026-11-20", "2611.00003", "A kernel", "Of trees.", 0);
		store_fixture_subscribe(
		    fixture, ADA, "UTC", "kernel", store_fixture_time(NOW));
		if (row->order)
			choose(fixture, PREFERENCE_ORDER, row->order, NOW);
		assert_digests_at(fixture, NOW, 1);
		assert_rows(fixture, PAPERS, row->wanted);
	}
}

STORE_TEST(best_match_gives_the_score)
{
	save(fixture, "2026-11-20", "2611.00001", "A kernel", "", 1);
	save(fixture, "2026-11-20", "2611.00002", "A zebra", "", 0);
	store_fixture_subscribe(
	    fixture, ADA, "UTC", "kernel OR zebra", store_fixture_time(NOW));
	add_filter(fixture, "zebra^9", 0);
	choose(fixture, PREFERENCE_ORDER, "score", NOW);
	assert_digests_at(fixture, NOW, 1);
	assert_rows(fixture, PAPERS, "02|0 01|0");
}

STORE_TEST(filter_max_limits_papers_in_full)
{
	save(fixture, "2026-11-20", "2611.00001", "Kernel", "", 9);
	save(fixture, "2026-11-20", "2611.00002", "Kernel", "", 8);
	save(fixture, "2026-11-20", "2611.00003", "Kernel", "", 7);
	save(fixture, "2026-11-20", "2611.00004", "Kernel and zebra", "", 6);
	save(fixture, "2026-11-20", "2611.00005", "Zebra", "", 5);
	save(fixture, "2026-11-20", "2611.00006", "Zebra", "", 4);
	store_fixture_subscribe(fixture, ADA, "UTC", NULL, store_fixture_time(NOW));
	add_filter(fixture, "kernel", 1);
	add_filter(fixture, "zebra", 2);
	choose(fixture, PREFERENCE_ORDER, "votes", NOW);
	assert_digests_at(fixture, NOW, 1);
	/* 04 counts for the second filter, which has fewer papers. */
	assert_rows(fixture, PAPERS, "01|0 04|0 05|0 02|1 03|1 06|1");
}

/* Papers 01 to 05 of a broad filter, the later ones also of narrow ones. */
static struct store_fixture *
new_broad_and_narrow(int max)
{
	struct store_fixture *fixture = store_fixture_new();
	g_autofree char *sql =
	    g_strdup_printf("UPDATE subscriber SET max_full = %d", max);

	save(fixture, "2026-11-20", "2611.00001", "Kernel", "", 9);
	save(fixture, "2026-11-20", "2611.00002", "Kernel", "", 8);
	save(fixture, "2026-11-20", "2611.00003", "Kernel", "", 7);
	save(fixture, "2026-11-20", "2611.00004", "Kernel zebra", "", 6);
	save(fixture, "2026-11-20", "2611.00005", "Kernel yak zebra", "", 5);
	save(fixture, "2026-11-20", "2611.00006", "Zebra", "", 4);
	store_fixture_subscribe(fixture, ADA, "UTC", NULL, store_fixture_time(NOW));
	add_filter(fixture, "kernel", 0);
	add_filter(fixture, "zebra", 0);
	add_filter(fixture, "yak", 0);
	choose(fixture, PREFERENCE_ORDER, "votes", NOW);
	store_fixture_run(fixture, sql);
	return fixture;
}

TEST(filters_share_max)
{
	static const struct {
		int max;
		const char *wanted;
	} rows[] = {
	    {1, "05|0 01|1 02|1 03|1 04|1 06|1"},
	    {2, "04|0 05|0 01|1 02|1 03|1 06|1"},
	    {3, "01|0 04|0 05|0 02|1 03|1 06|1"},
	    {4, "01|0 04|0 05|0 06|0 02|1 03|1"},
	    {5, "01|0 02|0 04|0 05|0 06|0 03|1"},
	    {6, "01|0 02|0 03|0 04|0 05|0 06|0"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = new_broad_and_narrow(rows[i].max);

		assert_digests_at(fixture, NOW, 1);
		assert_rows(fixture, PAPERS, rows[i].wanted);
	}
}

/* 04 counts for kernel when zebra has shown its one, and 06 for nothing else. */
TEST(filter_at_its_max_leaves_papers_to_others)
{
	pb_auto(store_fixture) fixture = new_broad_and_narrow(20);

	store_fixture_run(fixture,
	    "UPDATE subscription SET max_papers = 1 WHERE text IN"
	    " ('zebra', 'yak')");
	choose(fixture, PREFERENCE_GROUP, "on", NOW);
	assert_digests_at(fixture, NOW, 1);
	assert_rows(fixture, PAPERS, "01|0 02|0 03|0 04|0 05|0 06|1");
	assert_rows(fixture,
	    "SELECT substr(reasons, 1, instr(reasons, char(9)) - 1) FROM digest_item"
	    " WHERE position IN (4, 5)",
	    "zebra yak");
}

TEST(groups_are_in_the_order_of_filters)
{
	pb_auto(store_fixture) fixture = new_broad_and_narrow(5);

	choose(fixture, PREFERENCE_GROUP, "on", NOW);
	assert_digests_at(fixture, NOW, 1);
	assert_rows(fixture, PAPERS, "01|0 02|0 04|0 06|0 05|0 03|1");
	/* The filter that a paper counts for is its first reason. */
	assert_rows(fixture,
	    "SELECT group_concat(substr(reasons, 1, instr(reasons, char(9)) - 1))"
	    " FROM digest_item",
	    "kernel,kernel,zebra,zebra,yak,kernel");
}

STORE_TEST(paper_beyond_filter_max_counts_as_delivered)
{
	save(fixture, "2026-11-20", "2611.00001", "Kernel", "", 9);
	save(fixture, "2026-11-20", "2611.00002", "Kernel", "", 8);
	store_fixture_subscribe(fixture, ADA, "UTC", NULL, store_fixture_time(NOW));
	add_filter(fixture, "kernel", 1);
	assert_digests_at(fixture, NOW, 1);
	assert_rows(fixture, PAPERS, "01|0 02|1");
	assert_digests_at(fixture, "2026-11-21T07:30:00Z", 0);
}

STORE_TEST(catch_up_applies_to_the_next_digest_only)
{
	pb_auto(subscriber) paused = NULL;
	pb_auto(subscriber) resumed = NULL;

	store_fixture_subscribe(fixture, ADA, "UTC", "kernel", store_fixture_time(NOW));
	assert_digests_at(fixture, NOW, 0);
	paused = NO_ERROR(profile_pause(
	    fixture->store, ADA, NULL, "test", store_fixture_time(NOW), &error));
	save(fixture, "2026-11-20", "2611.00001", "Kernel", "", 9);
	save(fixture, "2026-11-20", "2611.00002", "Kernel", "", 8);
	save(fixture, "2026-11-20", "2611.00003", "Kernel", "", 7);
	assert_digests_at(fixture, "2026-11-21T07:30:00Z", 0);
	resumed = NO_ERROR(profile_resume(fixture->store, ADA, 2, "test",
	    store_fixture_time("2026-11-22T12:00:00Z"), &error));
	assert_digests_at(fixture, "2026-11-22T12:00:00Z", 1);
	assert_rows(fixture, PAPERS, "01|0 02|0 03|1");
	g_assert_cmpint(
	    store_fixture_number(fixture, "SELECT catch_up FROM subscriber"), ==, -1);
	save(fixture, "2026-11-22", "2611.00004", "Kernel", "", 9);
	save(fixture, "2026-11-22", "2611.00005", "Kernel", "", 8);
	save(fixture, "2026-11-22", "2611.00006", "Kernel", "", 7);
	assert_digests_at(fixture, "2026-11-23T07:30:00Z", 1);
	assert_rows(fixture, PAPERS, "04|0 05|0 06|0");
}

STORE_TEST(catch_up_may_exceed_max)
{
	save(fixture, "2026-11-20", "2611.00001", "Kernel", "", 9);
	save(fixture, "2026-11-20", "2611.00002", "Kernel", "", 8);
	store_fixture_subscribe(fixture, ADA, "UTC", "kernel", store_fixture_time(NOW));
	store_fixture_run(fixture, "UPDATE subscriber SET max_full = 1, catch_up = 2");
	assert_digests_at(fixture, NOW, 1);
	assert_rows(fixture, PAPERS, "01|0 02|0");
}

TEST(empty_day_note_follows_preference_but_is_never_hourly)
{
	CASES_FOREACH(row, "digest_order_empty_days", *frequency, *quiet, *digests) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		unsigned digests = 0;

		store_fixture_subscribe(
		    fixture, ADA, "UTC", "kernel", store_fixture_time(NOW));
		assert_digests_at(fixture, NOW, 0);
		choose_frequency(fixture, row->frequency, NOW);
		choose(fixture, PREFERENCE_EMPTY, row->quiet, NOW);
		for (int hour = 14; hour < 13 + 3 * 24; hour++)
			digests += store_fixture_build_digests(fixture,
			    store_fixture_time("2026-11-20T00:00:00Z") + hour * 3600);
		g_assert_cmpuint(digests, ==, cases_number(row->digests));
		g_assert_cmpint(store_fixture_number(fixture,
		                    "SELECT count(*) FROM digest WHERE papers = 0"),
		    ==, cases_number(row->digests));
		g_assert_cmpint(store_fixture_number(fixture,
		                    "SELECT count(*) FROM outbox WHERE state = 'NEW'"),
		    ==, cases_number(row->digests));
	}
}

STORE_TEST(day_with_papers_has_no_note)
{
	store_fixture_subscribe(fixture, ADA, "UTC", "kernel", store_fixture_time(NOW));
	choose(fixture, PREFERENCE_EMPTY, "note", NOW);
	save(fixture, "2026-11-20", "2611.00001", "Kernel", "", 9);
	assert_digests_at(fixture, NOW, 1);
	assert_rows(fixture, "SELECT papers > 0 FROM digest", "1");
}

STORE_TEST(immediate_schedule_has_one_digest_per_hour)
{
	int64_t midnight = store_fixture_time("2026-11-21T00:00:00Z");

	store_fixture_subscribe(fixture, ADA, "UTC", "kernel", store_fixture_time(NOW));
	choose_frequency(fixture, "now", NOW);
	/* A new paper every five minutes; runs are late now and then. */
	for (int minute = 0; minute < 600; minute += 5) {
		g_autofree char *id = g_strdup_printf("2611.%05d", minute);

		save(fixture, "2026-11-20", id, "Kernel", "", 1);
		if (minute % 65)
			store_fixture_build_digests(fixture, midnight + minute * 60);
	}
	g_assert_cmpint(
	    store_fixture_number(fixture, "SELECT count(*) FROM digest"), >=, 8);
	g_assert_cmpint(
	    store_fixture_number(fixture,
	        "SELECT min(later - created_at) FROM (SELECT created_at,"
	        " lead(created_at) OVER (ORDER BY id) AS later FROM digest)"),
	    >=, 3600);
	assert_rows(fixture,
	    "SELECT count(*) - count(DISTINCT paper_seq)"
	    " FROM digest_item",
	    "0");
}

STORE_TEST(change_to_immediate_schedule_waits_for_an_hour)
{
	store_fixture_subscribe(fixture, ADA, "UTC", "kernel", store_fixture_time(NOW));
	build_digests(fixture, NOW);
	save(fixture, "2026-11-20", "2611.00001", "Kernel", "", 1);
	assert_digests_at(fixture, "2026-11-21T07:30:00Z", 1);
	choose_frequency(fixture, "now", "2026-11-21T07:35:00Z");
	save(fixture, "2026-11-21", "2611.00002", "Kernel", "", 1);
	assert_digests_at(fixture, "2026-11-21T08:00:00Z", 0);
	assert_digests_at(fixture, "2026-11-21T08:29:59Z", 0);
	assert_digests_at(fixture, "2026-11-21T08:30:00Z", 1);
	/* The hours that follow are regular again. */
	assert_digests_at(fixture, "2026-11-21T10:00:00Z", 0);
	assert_rows(fixture, MADE, "21 07:30 21 08:30");
	assert_rows(fixture,
	    "SELECT strftime('%H:%M', next_due_at, 'unixepoch') FROM subscriber",
	    "11:00");
}

STORE_TEST(style_is_frozen_with_the_digest)
{
	g_autoptr(GError) error = NULL;
	pb_auto(digest) digest = NULL;
	const struct profile_change german = {.language = "de", .who = "test"};
	const struct profile_change none = {.language = "", .who = "test"};
	pb_auto(subscriber) first = NULL;
	pb_auto(subscriber) second = NULL;

	save(fixture, "2026-11-20", "2611.00001", "Kernel", "", 9);
	store_fixture_subscribe(fixture, ADA, "UTC", "kernel", store_fixture_time(NOW));
	choose(fixture, PREFERENCE_ABSTRACT, "short", NOW);
	choose(fixture, PREFERENCE_FORMAT, "html", NOW);
	choose(fixture, PREFERENCE_ATTACH, "bibtex", NOW);
	choose(fixture, PREFERENCE_GROUP, "on", NOW);
	first =
	    profile_set(fixture->store, ADA, &german, store_fixture_time(NOW), &error);
	g_assert_no_error(error);
	assert_digests_at(fixture, NOW, 1);
	choose(fixture, PREFERENCE_ABSTRACT, "none", NOW);
	choose(fixture, PREFERENCE_FORMAT, "text", NOW);
	choose(fixture, PREFERENCE_ATTACH, "none", NOW);
	choose(fixture, PREFERENCE_GROUP, "off", NOW);
	second =
	    profile_set(fixture->store, ADA, &none, store_fixture_time(NOW), &error);
	g_assert_no_error(error);
	digest = digests_load(fixture->store, 1, &error);
	g_assert_no_error(error);
	g_assert_cmpint(digest->style.abstract, ==, PREFERENCE_ABSTRACT_SHORT);
	g_assert_cmpint(digest->style.format, ==, PREFERENCE_FORMAT_HTML);
	g_assert_cmpint(digest->style.attach, ==, PREFERENCE_ATTACH_BIBTEX);
	g_assert_cmpint(digest->style.group, ==, PREFERENCE_GROUP_ON);
	g_assert_cmpstr(digest->style.language, ==, "de");
}

/* Random changes of a subscriber on one day; the last one applies. */
static void
live_a_day(struct store_fixture *fixture, GRand *rand, const char *address, int64_t now)
{
	static const char *const cadences[] = {
	    "now", "daily", "weekdays", "weekly:mon,thu", "now"};
	static const char *const zones[] = {"UTC", "Europe/Berlin", "Asia/Tokyo",
	    "America/St_Johns", "Pacific/Kiritimati", "Australia/Lord_Howe"};
	struct profile_change change = {.who = "test"};
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) subscriber = NULL;
	int die = g_rand_int_range(rand, 0, 8);

	if (die == 0)
		change.frequency =
		    cadences[g_rand_int_range(rand, 0, (gint32)G_N_ELEMENTS(cadences))];
	else if (die == 1)
		change.zone =
		    zones[g_rand_int_range(rand, 0, (gint32)G_N_ELEMENTS(zones))];
	else if (die == 2)
		change.at = "18:45";
	if (die == 3)
		subscriber =
		    profile_pause(fixture->store, address, "2d", "test", now, &error);
	else if (die == 4)
		subscriber = profile_resume(fixture->store, address, 1, "test", now,
		    NULL); /* or was not paused */
	else if (die < 3)
		subscriber = profile_set(fixture->store, address, &change, now, &error);
	g_assert_no_error(error);
}

/* Everything queued is delivered. */
static void
deliver(struct store_fixture *fixture)
{
	store_fixture_run(fixture,
	    "INSERT INTO delivered_paper (subscriber_id, paper_seq, digest_id, at)"
	    " SELECT g.subscriber_id, i.paper_seq, g.id,"
	    " g.created_at FROM digest g JOIN digest_item i ON i.digest_id = g.id"
	    " WHERE g.state = 'live';"
	    "UPDATE outbox SET state = 'SENDING', next_try_at = NULL, attempt = 1, "
	    "claimed_at = 1"
	    " WHERE state = 'NEW';"
	    "UPDATE outbox SET state = 'SENT', ended_at = 1, next_try_at = NULL"
	    " WHERE state = 'SENDING';"
	    "UPDATE digest SET state = 'sent' WHERE state = 'live'");
}

/* Digests are sent, or cancelled by a pause: whatever subscribers change, no paper or
 * slot is repeated, and all papers are sent in the end. */
STORE_TEST(every_paper_is_sent_once_in_a_month_of_random_changes)
{
	enum { DAYS = 31, PEOPLE = 8, STEP_MIN = 20 };
	g_autoptr(GRand) rand = g_rand_new_with_seed(7);
	int64_t begin =
	    store_fixture_time("2026-10-20T00:00:00Z"); /* includes a clock change */
	int papers = 0;

	for (int person = 0; person < PEOPLE; person++) {
		g_autofree char *address = g_strdup_printf("p%d@example.org", person);

		store_fixture_subscribe(
		    fixture, address, "Europe/Berlin", "kernel", begin);
	}
	for (int minute = 0; minute < (DAYS + 12) * 24 * 60; minute += STEP_MIN) {
		int64_t now = begin + minute * 60;
		int day = minute / (24 * 60);

		if (day < DAYS && minute % (3 * 60) == 0) {
			g_autoptr(GDateTime) at = g_date_time_new_from_unix_utc(now);
			g_autofree char *date = g_date_time_format(at, "%Y-%m-%d");
			g_autofree char *id = g_strdup_printf("2611.%05d", ++papers);

			store_fixture_save(fixture, "made-up", date, now,
			    store_fixture_paper(id, "A kernel", ""));
		}
		if (day < DAYS && minute % (8 * 60) == 0)
			for (int person = 0; person < PEOPLE; person++) {
				g_autofree char *address =
				    g_strdup_printf("p%d@example.org", person);

				live_a_day(fixture, rand, address, now);
			}
		/* The last days: all subscribers are active. */
		if (day == DAYS && minute % (24 * 60) == 0)
			store_fixture_run(fixture,
			    "UPDATE subscriber SET state = 'active',"
			    " paused_until = NULL");
		store_fixture_build_digests(fixture, now);
		if (g_rand_boolean(rand))
			deliver(fixture);
	}
	deliver(fixture);
	g_assert_cmpint(
	    store_fixture_number(fixture, "SELECT count(*) FROM delivered_paper"), ==,
	    PEOPLE * papers);
	assert_rows(fixture,
	    "SELECT count(*) - count(DISTINCT subscriber_id || ' ' ||"
	    " paper_seq) FROM digest_item i JOIN digest g"
	    " ON g.id = i.digest_id WHERE g.state = 'sent'",
	    "0");
	assert_rows(fixture,
	    "SELECT count(*) - count(DISTINCT subscriber_id || slot)"
	    " FROM digest",
	    "0");
	g_assert_cmpint(
	    store_fixture_number(fixture, "SELECT count(*) FROM digest"), >, 100);
}

UNIT_MAIN
