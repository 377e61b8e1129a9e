/*
 * test_sharing.c - filters are shared, followed and forked.
 */
#include "service/people/sharing.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/jobs/maintenance.h"
#include "service/jobs/share_news.h"
#include "service/match/match.h"
#include "service/people/data_export.h"
#include "service/people/erase.h"
#include "service/people/filters.h"
#include "service/people/subscribe.h"
#include "store/subscriber/shares.h"

#define NOW "2026-11-20T09:00:00Z" /* a Friday */
#define ADA "ada@example.org"      /* shares filter 1, diffusion */
#define EVE "eve@example.net"      /* follows */
#define BOB "bob@example.com"

#define NAME "diffusion-news"

static struct sharing_actor
act(struct store_fixture *fixture, const char *address)
{
	return (struct sharing_actor){
	    fixture->store, address, "test", store_fixture_time(NOW), 0};
}

static struct store_fixture *
new_fixture(void)
{
	struct store_fixture *fixture = store_fixture_new();
	const struct sharing_actor ada = act(fixture, ADA);
	g_autofree char *name = NULL;
	g_autoptr(GError) error = NULL;

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	store_fixture_list(fixture, "2026-11-20", "2611.00002", "State spaces", 3);
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", ada.now);
	store_fixture_subscribe(fixture, EVE, "UTC", NULL, ada.now);
	store_fixture_subscribe(fixture, BOB, "UTC", NULL, ada.now);
	g_assert_true(sharing_share(&ada, 1, "Diffusion-News", &name, &error));
	g_assert_cmpstr(name, ==, NAME);
	return fixture;
}

static void
follow(struct store_fixture *fixture, const char *address, int version)
{
	const struct sharing_actor actor = act(fixture, address);
	pb_auto(subscription) before = NULL;
	pb_auto(subscription) filter =
	    NO_ERROR(sharing_follow(&actor, NAME, version, &before, &error));

	g_assert_nonnull(filter);
	store_fixture_assert_idle(fixture);
}

static void
edit(struct store_fixture *fixture, const char *address, int number, const char *text)
{
	const struct filters_change change = {
	    .address = address, .number = number, .text = text, .who = "test"};
	pb_auto(subscription) after = NO_ERROR(filters_edit(
	    fixture->store, &change, store_fixture_time(NOW), NULL, NULL, &error));
}

/* Filters of Eve, with what they follow: number, name, text, version, fork, news. */
#define EVES                                                                    \
	"SELECT s.number, s.name, s.text, h.name, f.version, f.is_fork, f.news" \
	" FROM subscription s LEFT JOIN follow f ON f.subscription_id = s.id"   \
	" LEFT JOIN share h ON h.id = f.share_id JOIN subscriber p"             \
	" ON p.id = s.subscriber_id WHERE p.address = '" EVE "' ORDER BY s.number"

TEST(names_are_folded_and_checked)
{
	g_assert_cmpint(BOUNDS_SHARE_NAME, ==, 40);
	CASES_FOREACH(row, "sharing_names", *name, *folded) {
		g_autoptr(GError) error = NULL;
		g_autofree char *folded = sharing_fold_name(row->name, &error);

		g_assert_cmpstr(folded, ==, row->folded);
		if (!row->folded)
			g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	}
}

#define SHARING_TEST(function) \
	TEST_WITH(function, store_fixture, fixture, new_fixture())

SHARING_TEST(changes_reach_followers_only_when_they_take_them)
{
	follow(fixture, EVE, 0);
	assert_rows(fixture, EVES, "1|" NAME "|diffusion|" NAME "|1|0|-");
	edit(fixture, ADA, 1, "diffusion OR mamba");
	edit(fixture, ADA, 1, "diffusion OR mamba -survey");
	assert_rows(fixture, EVES, "1|" NAME "|diffusion|" NAME "|1|0|3");
	follow(fixture, EVE, 2);
	assert_rows(fixture, EVES, "1|" NAME "|diffusion OR mamba|" NAME "|2|0|-");
	follow(fixture, EVE, 0);
	assert_rows(
	    fixture, EVES, "1|" NAME "|diffusion OR mamba -survey|" NAME "|3|0|-");
	follow(fixture, EVE, 1);
	assert_rows(fixture, EVES, "1|" NAME "|diffusion|" NAME "|1|0|-");
	/* Other spelling, the same filter: no version. */
	edit(fixture, ADA, 1, "mamba -survey OR diffusion");
	edit(fixture, ADA, 1, "mamba -survey OR Diffusion");
	assert_rows(fixture, "SELECT max(version) FROM share_version", "3");
	assert_rows(fixture, "SELECT version FROM share", "3");
}

SHARING_TEST(own_edit_makes_a_fork_and_undoing_it_follows_again)
{
	follow(fixture, EVE, 0);
	edit(fixture, ADA, 1, "diffusion OR mamba");
	/* The text of a version is that version. */
	edit(fixture, EVE, 1, "diffusion OR mamba");
	assert_rows(fixture, EVES, "1|" NAME "|diffusion OR mamba|" NAME "|2|0|2");
	edit(fixture, EVE, 1, "diffusion");
	assert_rows(fixture, EVES, "1|" NAME "|diffusion|" NAME "|1|0|2");
	edit(fixture, EVE, 1, "diffusion OR weather");
	assert_rows(fixture, EVES, "1|" NAME "|diffusion OR weather|" NAME "|1|1|-");
	edit(fixture, ADA, 1, "mamba");
	assert_rows(fixture, EVES, "1|" NAME "|diffusion OR weather|" NAME "|1|1|-");
	follow(fixture, EVE, 0);
	assert_rows(fixture, EVES,
	    "1|" NAME "|diffusion OR weather|" NAME "|1|1|- 2|-|mamba|" NAME "|3|0|-");
}

SHARING_TEST(forks_are_own_filters)
{
	const struct sharing_actor eve = act(fixture, EVE);
	g_autoptr(GError) error = NULL;
	pb_auto(subscription) copied = sharing_fork(&eve, NAME, 0, &error);
	pb_auto(subscription) own = NULL;

	assert_rows(fixture, EVES, "1|" NAME "|diffusion|" NAME "|1|1|-");
	/* An equal filter begins to follow. */
	follow(fixture, EVE, 0);
	assert_rows(fixture, EVES, "1|" NAME "|diffusion|" NAME "|1|0|-");
	edit(fixture, ADA, 1, "mamba");
	own = sharing_fork(&eve, NAME, 0, &error);
	g_assert_no_error(error);
	assert_rows(fixture, EVES, "1|" NAME "|diffusion|" NAME "|1|1|-");
}

static bool
leave_by_unshare(struct store_fixture *fixture, GError **error)
{
	const struct sharing_actor ada = act(fixture, ADA);
	int number = 0;

	return sharing_unshare(&ada, "DIFFUSION-news", &number, error) && number == 1;
}

static bool
leave_by_del(struct store_fixture *fixture, GError **error)
{
	return subscribe_remove_filter(
	    fixture->store, ADA, 1, "test", store_fixture_time(NOW), error);
}

static bool
leave_by_unsubscribe(struct store_fixture *fixture, GError **error)
{
	return subscribe_remove(
	    fixture->store, ADA, "test", store_fixture_time(NOW), error);
}

static bool
leave_by_erasure(struct store_fixture *fixture, GError **error)
{
	const struct erase_request request = {
	    .address = ADA, .key = fixture->key, .who = "test"};

	return erase_person(fixture->store, &request, store_fixture_time(NOW), error);
}

static bool
leave_by_operator(struct store_fixture *fixture, GError **error)
{
	return sharing_remove(
	    fixture->store, NAME, "operator", store_fixture_time(NOW), error);
}

TEST(followers_of_a_departed_owner_keep_what_they_have)
{
	static bool (*const ways[])(struct store_fixture *, GError **) = {
	    leave_by_unshare, leave_by_del, leave_by_unsubscribe, leave_by_erasure,
	    leave_by_operator};

	for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
		pb_auto(store_fixture) fixture = new_fixture();
		const struct sharing_actor bob = act(fixture, BOB);
		g_autoptr(GError) error = NULL;
		pb_auto(subscription) fork = NULL;
		bool is_left;

		follow(fixture, EVE, 0);
		fork = sharing_fork(&bob, NAME, 0, &error);
		g_assert_nonnull(fork);
		edit(fixture, ADA, 1, "mamba");
		is_left = ways[i](fixture, &error);
		g_assert_no_error(error);
		g_assert_true(is_left);
		assert_rows(fixture, EVES, "1|" NAME "|diffusion|-|1|0|0");
		assert_rows(fixture, "SELECT count(*) FROM share", "0");
		assert_rows(fixture, "SELECT count(*) FROM share_version", "0");
		/* The follower alone has to be told. */
		assert_rows(fixture, "SELECT count(*) FROM follow", "1");
		g_assert_true(shares_clear_news(fixture->store,
		    store_fixture_number(fixture, "SELECT subscription_id FROM follow"),
		    0, &error));
		assert_rows(fixture, EVES, "1|" NAME "|diffusion|-|-|-|-");
		/* The name is free, and its new owner has no followers. */
		store_fixture_add_filter(fixture, BOB, "weather", bob.now);
		{
			g_autofree char *name = NULL;

			g_assert_true(sharing_share(&bob, 2, NAME, &name, &error));
		}
		edit(fixture, BOB, 2, "sky");
		assert_rows(fixture, EVES, "1|" NAME "|diffusion|-|-|-|-");
	}
}

/* The error of sharing filter 1 of somebody. */
static void
assert_not_shared(struct store_fixture *fixture, const char *address, int number,
    const char *wanted, enum pb_error code)
{
	const struct sharing_actor actor = act(fixture, address);
	g_autofree char *name = NULL;

	FAILS((int)code, sharing_share(&actor, number, wanted, &name, &error));
	store_fixture_assert_idle(fixture);
}

SHARING_TEST(what_cannot_be_shared_is_refused)
{
	const struct sharing_actor ada = act(fixture, ADA), bob = act(fixture, BOB);
	g_autofree char *name = NULL;
	int number;

	follow(fixture, EVE, 0);
	assert_not_shared(fixture, ADA, 1, "other", PB_ERROR_INPUT);
	assert_not_shared(fixture, ADA, 7, "other", PB_ERROR_NOT_FOUND);
	assert_not_shared(fixture, EVE, 1, "other", PB_ERROR_INPUT);
	store_fixture_add_block(fixture, BOB, "weather", ada.now);
	assert_not_shared(fixture, BOB, 1, "other", PB_ERROR_INPUT);
	store_fixture_add_filter(fixture, BOB, "ssm", ada.now);
	assert_not_shared(fixture, BOB, 2, "DIFFUSION-NEWS", PB_ERROR_INPUT);
	FAILS(PB_ERROR_INPUT, sharing_unshare(&bob, NAME, &number, &error));
	for (int i = 1; i <= BOUNDS_SHARES_PERSON; i++) {
		g_autofree char *text = g_strdup_printf("word%d", i);
		g_autofree char *shared = NULL;

		store_fixture_add_filter(fixture, ADA, text, ada.now);
		if (i == BOUNDS_SHARES_PERSON)
			break;
		g_assert_true(sharing_share(&ada, i + 1, text, &shared, NULL));
	}
	assert_not_shared(
	    fixture, ADA, BOUNDS_SHARES_PERSON + 1, "one-more", PB_ERROR_LIMIT);
}

SHARING_TEST(owner_does_not_follow_the_own_filter)
{
	const struct sharing_actor ada = act(fixture, ADA);
	pb_auto(subscription) before = NULL;

	FAILS(PB_ERROR_INPUT, sharing_follow(&ada, NAME, 0, &before, &error));
}

static bool
call_follow(struct store_fixture *fixture, void *data, GError **error)
{
	const struct sharing_actor eve = act(fixture, EVE);
	pb_auto(subscription) before = NULL;
	pb_auto(subscription) filter = sharing_follow(&eve, NAME, 0, &before, error);

	(void)data;
	return filter != NULL;
}

SHARING_TEST(following_is_whole_or_not_at_all)
{
	g_assert_cmpuint(
	    store_fixture_fail_everywhere(fixture, call_follow, NULL, true), >, 10);
	assert_rows(fixture, EVES, "1|" NAME "|diffusion|" NAME "|1|0|-");
	edit(fixture, ADA, 1, "diffusion OR mamba");
	g_assert_cmpuint(
	    store_fixture_fail_everywhere(fixture, call_follow, NULL, true), >, 10);
	assert_rows(fixture, EVES, "1|" NAME "|diffusion OR mamba|" NAME "|2|0|-");
}

/* Neither side is in the other's data. */
SHARING_TEST(nobody_learns_of_the_other_side)
{
	static const char *const addresses[] = {ADA, EVE};

	follow(fixture, EVE, 0);
	edit(fixture, ADA, 1, "diffusion OR mamba");
	for (size_t i = 0; i < G_N_ELEMENTS(addresses); i++) {
		g_autofree char *sql = g_strdup_printf(
		    "SELECT id FROM subscriber WHERE address = '%s'", addresses[i]);
		g_autofree char *text = NO_ERROR(data_export_format(fixture->store,
		    fixture->key, store_fixture_number(fixture, sql), i,
		    store_fixture_time(NOW), &error));

		g_assert_nonnull(strstr(text, addresses[i]));
		g_assert_nonnull(strstr(text, NAME));
		g_assert_null(strstr(text, addresses[!i]));
	}
	/* No count of followers is stored. */
	assert_rows(fixture,
	    "SELECT count(*) FROM pragma_table_info('share') WHERE name LIKE"
	    " '%follow%' OR name LIKE '%count%'",
	    "0");
}

#define NOTICES                                                                \
	"SELECT h.notices FROM digest_head h JOIN digest g ON g.id = h.id"     \
	" JOIN subscriber p ON p.id = g.subscriber_id WHERE p.address = '" EVE \
	"' ORDER BY g.id DESC LIMIT 1"

static void
report_news(struct store_fixture *fixture, int64_t now)
{
	unsigned count;

	g_assert_true(NO_ERROR(share_news_run(fixture->store, now, &count, &error)));
	store_fixture_assert_idle(fixture);
}

SHARING_TEST(next_digest_reports_a_change_once)
{
	int64_t now = store_fixture_time(NOW);

	follow(fixture, EVE, 0);
	store_fixture_build_digests(fixture, now);
	edit(fixture, ADA, 1, "(diffusion OR \"state space\") -survey");
	/* Of several edits only the last one. */
	edit(fixture, ADA, 1, "diffusion OR \"state space\" OR mamba");
	report_news(fixture, now + 60);
	assert_rows(fixture,
	    "SELECT number, term, command, gained, lost, days, state FROM proposal",
	    "1|" NAME " version 3|follow " NAME " version=3|1|0|30|open");
	/* Nothing new. */
	report_news(fixture, now + 60);
	assert_rows(fixture, "SELECT count(*) FROM proposal", "1");
	assert_rows(fixture, "SELECT count(*) FROM share_change", "1");
	/* No papers for Eve, no digest. */
	assert_digests_at(fixture, "2026-11-21T08:00:00Z", 1);
	store_fixture_list(fixture, "2026-11-21", "2611.00009", "Diffusion too", 3);
	assert_digests_at(fixture, "2026-11-22T08:00:00Z", 2);
	assert_rows(fixture, NOTICES,
	    "\"" NAME "\" (your filter 1) has a version 3: adds \"state space\", mamba;"
	    " papers of 30 days: 1 more, 0 less. Reply \"yes 1\" to take it, \"no 1\""
	    " to keep version 1");
	assert_rows(fixture, EVES, "1|" NAME "|diffusion|" NAME "|1|0|-");
	store_fixture_list(fixture, "2026-11-22", "2611.00010", "Diffusion again", 3);
	assert_digests_at(fixture, "2026-11-23T08:00:00Z", 2);
	assert_rows(fixture, NOTICES, "");
}

/* Versions that a follower has, or would get by `undo`, and the newest one stay. */
SHARING_TEST(versions_that_nobody_has_are_deleted)
{
	int64_t after = store_fixture_time(NOW) +
	                MAINTENANCE_VERSION_DAYS * (int64_t)CLOCK_DAY_S + 1;
	g_autoptr(GError) error = NULL;

	follow(fixture, EVE, 0);
	edit(fixture, ADA, 1, "diffusion OR mamba");
	edit(fixture, ADA, 1, "diffusion OR robots");
	edit(fixture, ADA, 1, "diffusion OR agents");
	store_fixture_run(fixture,
	    "INSERT INTO proposal (id, subscriber_id, number, subscription_id, filter,"
	    " term, command, gained, lost, days, title, made_at, expires_at, ended_at,"
	    " state) VALUES (7, 2, 1, 2, '', '', 'x', 0, 0, 0, '', 1, 9000000000, 1,"
	    " 'applied');"
	    "INSERT INTO proposal_change (proposal_id, subscription_id, is_after,"
	    " number, text, canonical, since_day, created_at, is_block, share_id,"
	    " version, is_fork) VALUES (7, 2, 0, 1, 'x', 'x', '', 1, 0, 1, 3, 0)");
	g_assert_true(maintenance_run(fixture->store, after - 1, &error));
	assert_rows(fixture, "SELECT version FROM share_version", "1 2 3 4");
	g_assert_true(maintenance_run(fixture->store, after + CLOCK_DAY_S, &error));
	g_assert_no_error(error);
	assert_rows(fixture, "SELECT version FROM share_version", "1 3 4");
	assert_rows(fixture, EVES, "1|" NAME "|diffusion|" NAME "|1|0|4");
}

SHARING_TEST(next_digest_reports_the_end_once)
{
	int64_t now = store_fixture_time(NOW);
	g_autoptr(GError) error = NULL;

	follow(fixture, EVE, 0);
	store_fixture_build_digests(fixture, now);
	edit(fixture, ADA, 1, "mamba");
	g_assert_true(leave_by_unsubscribe(fixture, &error));
	report_news(fixture, now + 60);
	store_fixture_list(fixture, "2026-11-20", "2611.00009", "Diffusion too", 3);
	assert_digests_at(fixture, "2026-11-21T08:00:00Z", 1);
	assert_rows(fixture, NOTICES,
	    "Filter 1 (" NAME ") is no longer shared by its owner. It stays as it is,"
	    " and is your own now");
	assert_rows(fixture, EVES, "1|" NAME "|diffusion|-|-|-|-");
	store_fixture_list(fixture, "2026-11-21", "2611.00010", "Diffusion again", 3);
	assert_digests_at(fixture, "2026-11-22T08:00:00Z", 1);
	assert_rows(fixture, NOTICES, "");
}

SHARING_TEST(an_edit_that_was_taken_back_is_no_news)
{
	follow(fixture, EVE, 0);
	edit(fixture, ADA, 1, "mamba");
	edit(fixture, ADA, 1, "DIFFUSION");
	report_news(fixture, store_fixture_time(NOW));
	assert_rows(fixture, EVES, "1|" NAME "|diffusion|" NAME "|3|0|-");
	assert_rows(fixture, "SELECT count(*) FROM proposal", "0");
}

#define FOLLOWERS 10000

static void
add_followers(struct store_fixture *fixture)
{
	store_fixture_run(fixture,
	    "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n"
	    " WHERE n < " G_STRINGIFY(
	        FOLLOWERS) ")"
	                   "INSERT INTO subscriber (address, address_key, state, "
	                   "frequency, weekdays,"
	                   " minute, zone, max_full, created_at, consent_at, "
	                   "consent_text, next_due_at,"
	                   " is_first_due) SELECT 'f' || n || '@example.org', 'f' || n "
	                   "||"
	                   " '@example.org', 'active', 'daily', 127, 450, 'UTC', 20, "
	                   "1, 1, 'yes',"
	                   " 1795248000, 0 FROM n;"
	                   "INSERT INTO subscription (subscriber_id, number, "
	                   "filter_id, name, text,"
	                   " since_day, created_at) SELECT p.id, 1, s.filter_id, '" NAME
	                   "', s.text,"
	                   " s.since_day, 1 FROM subscriber p JOIN subscription s ON "
	                   "s.id ="
	                   " (SELECT subscription_id FROM share) WHERE p.address LIKE "
	                   "'f%@example.org';"
	                   "INSERT INTO follow (subscription_id, subscriber_id, "
	                   "share_id, version,"
	                   " is_fork) SELECT s.id, s.subscriber_id, 1, 1, 0 FROM "
	                   "subscription s"
	                   " JOIN subscriber p ON p.id = s.subscriber_id WHERE "
	                   "p.address LIKE"
	                   " 'f%@example.org'");
}

SHARING_TEST(thousands_of_followers_cost_one_match)
{
	struct match_report report = {0};
	g_autoptr(GError) error = NULL;
	int64_t start_us;

	add_followers(fixture);
	store_fixture_list(fixture, "2026-11-20", "2611.00003", "Diffusion again", 3);
	g_assert_true(
	    match_run(fixture->store, store_fixture_time(NOW), &report, &error));
	g_assert_cmpuint(report.found, ==, 2); /* the papers of one filter */
	assert_rows(fixture, "SELECT count(*) FROM filter", "1");

	start_us = g_get_monotonic_time();
	edit(fixture, ADA, 1, "diffusion OR mamba");
	assert_rows(fixture, "SELECT count(*) FROM follow WHERE news = 2",
	    G_STRINGIFY(FOLLOWERS));
	g_test_message("an edit with %d followers: %.0f ms", FOLLOWERS,
	    (double)(g_get_monotonic_time() - start_us) / 1000);
	assert_rows(fixture, "SELECT count(*) FROM filter", "2");

	start_us = g_get_monotonic_time();
	report_news(fixture, store_fixture_time(NOW));
	assert_rows(fixture, "SELECT count(*) FROM share_change", "1");
	assert_rows(fixture, "SELECT count(*) FROM proposal", G_STRINGIFY(FOLLOWERS));
	assert_rows(fixture, "SELECT count(*) FROM outbox", "0");
	g_test_message("its proposals: %.0f ms",
	    (double)(g_get_monotonic_time() - start_us) / 1000);

	start_us = g_get_monotonic_time();
	g_assert_true(leave_by_erasure(fixture, &error));
	assert_rows(fixture, "SELECT count(*) FROM follow WHERE news = 0",
	    G_STRINGIFY(FOLLOWERS));
	assert_rows(fixture, "SELECT count(*) FROM filter", "1");
	g_test_message("erasure of their owner: %.0f ms",
	    (double)(g_get_monotonic_time() - start_us) / 1000);
}

UNIT_MAIN
