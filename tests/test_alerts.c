/*
 * test_alerts.c - mail to the owner about problems: once a day each, and at the end.
 */
#include "service/health/alerts.h"

#include <string.h>

#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/delivery/queue.h"
#include "service/health/owner_report.h"
#include "service/state/own_addresses.h"
#include "store/mail/rate_log.h"

#define NOW "2026-11-20T09:00:00Z"
#define DAY 86400

/* As in the table of checks. */
#define SOURCE_ALERT_S (3 * 3600)
#define RELAY_ALERT_S  (3 * 60)

struct alerts_test {
	struct store_fixture *fixture;
	struct settings *settings;
	struct own_addresses *own_addresses;
	struct mailer_relay relay;
	struct alerts_retries retries;
	int64_t now;
};

static void
set(char **field, const char *value)
{
	g_free(*field);
	*field = g_strdup(value);
}

static void
alerts_test_init_unused(struct alerts_test *test)
{
	*test = (struct alerts_test){
	    .fixture = store_fixture_new(), .now = store_fixture_time(NOW)};
	test->settings = settings_new();
	set(&test->settings->state_dir, test->fixture->directory);
	set(&test->settings->mail_from, "paperboy@news.example");
	set(&test->settings->mail_owner, "owner@news.example");
	test->own_addresses = NO_ERROR(own_addresses_new(test->settings, &error));
}

static void
alerts_test_init(struct alerts_test *test)
{
	alerts_test_init_unused(test);
	store_fixture_subscribe(test->fixture, "ada@example.com", "UTC", NULL,
	    store_fixture_time("2026-10-01T09:00:00Z"));
}

static void
alerts_test_clear(struct alerts_test *test)
{
	mailer_relay_clear(&test->relay);
	own_addresses_free(test->own_addresses);
	settings_free(test->settings);
	store_fixture_free(test->fixture);
}

static unsigned
run_alerts(struct alerts_test *test, int64_t now)
{
	const struct alerts alerts = {
	    .store = test->fixture->store,
	    .settings = test->settings,
	    .own_addresses = test->own_addresses,
	    .relay = &test->relay,
	    .random = &random_system,
	    .retries = &test->retries,
	};
	unsigned reported;

	g_assert_true(NO_ERROR(alerts_run(&alerts, now, &reported, &error)));
	return reported;
}

/* Record a response of the source. */
static void
answer(struct alerts_test *test, int64_t at, const char *status, const char *reason)
{
	g_autofree char *sql = g_strdup_printf(
	    "INSERT INTO source_fetch (source, day, fetched_at, status, error)"
	    " VALUES ('hf', '2026-11-20', %" G_GINT64_FORMAT ", '%s', %s)",
	    at, status, reason);

	store_fixture_run(test->fixture, sql);
}

static void
quarantine(struct alerts_test *test)
{
	store_fixture_run(test->fixture,
	    "INSERT INTO inbox (key, receiver, received_at, size, raw, state, tries, "
	    "ended_at)"
	    " VALUES (printf('%064d', (SELECT count(*) FROM inbox)), 'lmtp', 1, 1, "
	    "x'41', 'quarantined', 3, 1)");
}

static void
make_relay_away(struct alerts_test *test)
{
	test->relay.is_away = true;
	test->relay.since = test->now - RELAY_ALERT_S;
}

static void
make_domain_paused(struct alerts_test *test)
{
	g_autofree char *sql = g_strdup_printf(
	    "INSERT INTO domain_pause VALUES ('big.example',"
	    " %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", 'authentication',"
	    " '550 5.7.26 unauthenticated mail')",
	    test->now, test->now + 4 * DAY);

	store_fixture_run(test->fixture, sql);
}

/* Ten of ten subscribers at a domain bounced. */
static void
make_outage(struct alerts_test *test)
{
	g_autofree char *sql = g_strdup_printf(
	    "INSERT INTO bounce (subscriber_id, message, at, class, is_scored, rule)"
	    " SELECT id, 'digest-1', %" G_GINT64_FORMAT ", 'temporary', 1, 'host'"
	    " FROM subscriber WHERE id >= 100",
	    test->now - DAY);

	store_fixture_run(test->fixture,
	    "WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i "
	    "< 109) INSERT INTO subscriber (id, address, address_key, state, frequency,"
	    " weekdays, minute, zone, max_full, created_at, consent_at, consent_text)"
	    " SELECT i, i || '@big.example', i || '@big.example', 'active', 'daily',"
	    " 127, 0, 'UTC', 20, 1, 1, 'asked' FROM n");
	store_fixture_run(test->fixture, sql);
}

static void
make_source_late(struct alerts_test *test)
{
	store_fixture_run(test->fixture, "DELETE FROM source_fetch");
	answer(test, test->now - 20 * DAY, "ok", "NULL");
}

static void
make_source_fail(struct alerts_test *test)
{
	store_fixture_run(test->fixture, "DELETE FROM source_fetch");
	answer(test, test->now - SOURCE_ALERT_S, "ok", "NULL");
	answer(test, test->now - 60, "failed", "'no answer'");
}

/* The source answers, but today's list is missing. */
static void
make_list_late(struct alerts_test *test)
{
	store_fixture_run(
	    test->fixture, "INSERT INTO source_list VALUES (0, 'hf', 'HF', 300, 0)");
	store_fixture_run(test->fixture, "DELETE FROM source_fetch");
	store_fixture_run(test->fixture,
	    "INSERT INTO source_fetch (source, day, fetched_at, status)"
	    " VALUES ('hf', '2026-11-19', 1795078800, 'ok')");
	answer(test, test->now, "not-yet", "NULL");
}

static void
make_quarantine(struct alerts_test *test)
{
	quarantine(test);
}

static void
make_crash(struct alerts_test *test)
{
	store_fixture_run(test->fixture,
	    "INSERT INTO outbox (id, kind, recipient, address_key, sender, message,"
	    " state, queued_at, claimed_at, possible_copies, crashes, held_from,"
	    " held_why) VALUES (999, 'answer', 'ada@example.org', 'ada@example.org',"
	    " '', x'41', 'HELD', 1, 1, 5, 5, 'UNKNOWN', 'crash')");
}

static void
make_disk_full(struct alerts_test *test)
{
	test->settings->min_free_mb = G_MAXINT;
}

static void
make_clock_jump(struct alerts_test *test)
{
	store_fixture_run(
	    test->fixture, "INSERT INTO cursor VALUES ('clock jump', 33 * 86400)");
}

static void
make_stale(struct alerts_test *test)
{
	g_autofree char *sql = g_strdup_printf(
	    "INSERT INTO cursor VALUES ('restored at', %" G_GINT64_FORMAT
	    "), ('restored from', -1)",
	    test->now);

	store_fixture_run(test->fixture, sql);
}

static void
end_all(struct alerts_test *test, int64_t now)
{
	test->settings->min_free_mb = 0;
	test->relay.is_away = false;
	store_fixture_run(
	    test->fixture, "DELETE FROM domain_pause; DELETE FROM bounce");
	store_fixture_run(
	    test->fixture, "DELETE FROM inbox; DELETE FROM outbox WHERE id = 999");
	store_fixture_run(test->fixture, "DELETE FROM cursor WHERE name = 'clock jump'"
	                                 " OR name GLOB 'restored *'");
	store_fixture_run(test->fixture, "DELETE FROM source_fetch");
	store_fixture_run(test->fixture, "DELETE FROM source_list");
	answer(test, now, "ok", "NULL");
}

/* Collapse runs of blanks. */
static void
unfold(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++)
		if (*at != ' ' || to == text || to[-1] != ' ')
			*to++ = *at;
	*to = '\0';
}

TEST(each_problem_is_mailed_once_a_day_while_it_lasts)
{
	static const struct {
		void (*make)(struct alerts_test *test);
		const char *subject, *word, *advice;
	} kinds[] = {
	    {make_relay_away, "Subject: paperboy: the relay does not accept mail",
	        "does not accept mail since", "paperboyctl queue retry all"},
	    {make_domain_paused, "Subject: paperboy: a domain refuses our mail",
	        "big.example refuses our mail", "check SPF, DKIM and DMARC"},
	    {make_outage, "Subject: paperboy: a provider returns mail to many",
	        "mail to 10 of 10 subscribers at big.example was returned",
	        "paperboyctl bounce list"},
	    {make_source_late, "Subject: paperboy: source hf", "source hf is late",
	        "paperboyctl source fetch"},
	    {make_list_late, "Subject: paperboy: source hf",
	        "its list of 2026-11-20 is missing", "paperboyctl source fetch"},
	    {make_source_fail, "Subject: paperboy: source hf", "source hf fails",
	        "paperboyctl source list"},
	    {make_quarantine, "Subject: paperboy: received messages are quarantined",
	        "1 received message is quarantined", "paperboyctl inbox list"},
	    {make_crash, "Subject: paperboy: a message is held after crashes",
	        "paperboyd was killed each time while it sent 1 message",
	        "queue release tries once more"},
	    {make_clock_jump, "Subject: paperboy: the clock jumped",
	        "the clock jumped forward by 33 days", "check the clock"},
	    {make_stale, "Subject: paperboy: the database is older than the mail",
	        "database was older than the mail", "queue release or queue drop"},
	    {make_disk_full, "Subject: paperboy: the disk is nearly full",
	        "received mail is deferred", "free some space"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		pb_local(alerts_test) test;
		g_autofree char *mail = NULL, *text = NULL, *ended = NULL;

		alerts_test_init(&test);
		answer(&test, test.now, "ok", "NULL");
		g_assert_cmpuint(run_alerts(&test, test.now), ==, 0);
		g_test_message("%s", kinds[i].subject);
		kinds[i].make(&test);

		g_assert_cmpuint(run_alerts(&test, test.now), ==, 1);
		assert_rows(test.fixture,
		    "SELECT kind, recipient, sender, state FROM outbox WHERE id <> 999",
		    "notice|owner@news.example||NEW");
		mail = store_fixture_text(test.fixture,
		    "SELECT CAST(message AS TEXT) FROM outbox WHERE id <> 999");
		g_assert_nonnull(strstr(mail, kinds[i].subject));
		text = g_strdelimit(g_strdup(mail), "\r\n", ' ');
		unfold(text);
		g_assert_nonnull(strstr(text, kinds[i].word));
		g_assert_nonnull(strstr(text, kinds[i].advice));
		g_assert_nonnull(strstr(mail, "Auto-Submitted: auto-generated"));
		g_assert_cmpuint(run_alerts(&test, test.now + 600), ==, 0);
		/* Other problems do not stop the source. */
		if (!strstr(kinds[i].subject, "source") ||
		    kinds[i].make == make_list_late)
			answer(&test, test.now + DAY - 1, "not-yet", "NULL");
		g_assert_cmpuint(run_alerts(&test, test.now + DAY - 1), ==, 0);
		g_assert_cmpuint(run_alerts(&test, test.now + DAY), ==, 1);
		end_all(&test, test.now + 3 * DAY);
		g_assert_cmpuint(run_alerts(&test, test.now + 3 * DAY), ==, 1);
		ended = store_fixture_text(test.fixture,
		    "SELECT CAST(message AS TEXT) FROM outbox ORDER BY "
		    "id DESC LIMIT 1");
		g_assert_nonnull(strstr(ended, "Subject: paperboy: ended: "));
		g_assert_cmpuint(run_alerts(&test, test.now + 3 * DAY + 600), ==, 0);
		store_fixture_assert_idle(test.fixture);
	}
}

TEST(refusals_are_quoted_with_advice)
{
	static const char *const rows[][2] = {
	    {"authentication", "check SPF, DKIM and DMARC of the domain in mail.from"},
	    {"reputation", "blocklists"},
	    {"blocked", "blocklists"},
	    {"rate", "delivery.domain_per_hour"},
	    {"reverse-dns", "PTR record"},
	    {"sender-address", "mail.envelope_from"},
	    {"relaying", "routing of the relay"},
	    {"policy", "postmaster of the domain"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_local(alerts_test) test;
		g_autofree char *sql = NULL, *text = NULL;

		alerts_test_init(&test);
		answer(&test, test.now, "ok", "NULL");
		sql =
		    g_strdup_printf("INSERT INTO domain_pause VALUES ('big.example', 1,"
		                    " %" G_GINT64_FORMAT ", '%s', '550 5.7.1 go away')",
		        test.now + 60, rows[i][0]);
		store_fixture_run(test.fixture, sql);
		g_assert_cmpuint(run_alerts(&test, test.now), ==, 1);
		text = store_fixture_text(
		    test.fixture, "SELECT CAST(message AS TEXT) FROM outbox");
		g_strdelimit(text, "\r\n", ' ');
		unfold(text);
		g_assert_nonnull(strstr(text, "550 5.7.1 go away"));
		g_assert_nonnull(strstr(text, rows[i][1]));
		/* Ended, unless the message after it is refused as well. */
		answer(&test, test.now + DAY, "ok", "NULL");
		g_assert_cmpuint(run_alerts(&test, test.now + DAY), ==, 1);
		g_free(text);
		text = store_fixture_text(test.fixture,
		    "SELECT CAST(message AS TEXT) FROM outbox ORDER BY "
		    "id DESC LIMIT 1");
		g_assert_nonnull(
		    strstr(text, "ended: a domain refuses our mail: big.example"));
	}
}

#define ALERTS_TEST(function) TEST_WITH_LOCAL(function, alerts_test, test)

ALERTS_TEST(a_few_bounces_are_not_an_outage)
{
	answer(test, test->now, "ok", "NULL");
	make_outage(test);
	store_fixture_run(
	    test->fixture, "DELETE FROM bounce WHERE subscriber_id = 100");
	g_assert_cmpuint(run_alerts(test, test->now), ==, 0);
}

ALERTS_TEST(short_problems_are_not_mailed)
{
	answer(test, test->now - SOURCE_ALERT_S + 1, "ok", "NULL");
	answer(test, test->now, "failed", "'no answer'");
	test->relay.is_away = true;
	test->relay.since = test->now - RELAY_ALERT_S + 1;
	g_assert_cmpuint(run_alerts(test, test->now), ==, 0);
	g_assert_cmpuint(run_alerts(test, test->now + 1), ==, 2);
}

ALERTS_TEST(dropped_requests_are_reported)
{
	g_autofree char *mail = NULL;

	answer(test, test->now, "ok", "NULL");
	for (int i = 0; i < 25; i++)
		g_assert_true(
		    rate_log_save_dropped(test->fixture->store, test->now - 60, NULL));
	g_assert_cmpuint(run_alerts(test, test->now), ==, 1);
	g_assert_cmpuint(run_alerts(test, test->now + 60), ==, 0);
	mail = store_fixture_text(
	    test->fixture, "SELECT CAST(message AS TEXT) FROM outbox");
	g_assert_nonnull(
	    strstr(mail, "Subject: paperboy: requests to subscribe are dropped"));
	g_assert_nonnull(strstr(mail, "25 requests to subscribe were dropped"));
	/* The count restarts after a day without any. */
	g_assert_true(
	    rate_log_save_dropped(test->fixture->store, test->now + 2 * DAY, NULL));
	answer(test, test->now + 2 * DAY, "ok", "NULL");
	g_assert_cmpuint(run_alerts(test, test->now + 2 * DAY), ==, 1);
	g_free(mail);
	mail = store_fixture_text(test->fixture,
	    "SELECT CAST(message AS TEXT) FROM outbox ORDER BY id DESC LIMIT 1");
	g_assert_nonnull(strstr(mail, "1 request to subscribe was dropped"));
}

/* Several at once are one mail, and so are their ends; one that comes back within an
 * hour is mailed after it. */
ALERTS_TEST(problems_of_one_check_share_a_mail)
{
	g_autofree char *mail = NULL;

	answer(test, test->now, "ok", "NULL");
	quarantine(test);
	make_relay_away(test);
	g_assert_cmpuint(run_alerts(test, test->now), ==, 2);
	mail = store_fixture_text(
	    test->fixture, "SELECT CAST(message AS TEXT) FROM outbox");
	g_assert_nonnull(strstr(mail, "Subject: paperboy: 2 problems"));
	end_all(test, test->now + 60);
	g_assert_cmpuint(run_alerts(test, test->now + 120), ==, 2);
	quarantine(test);
	g_assert_cmpuint(run_alerts(test, test->now + 180), ==, 0);
	g_assert_cmpuint(run_alerts(test, test->now + 119 + 3600), ==, 0);
	g_assert_cmpuint(run_alerts(test, test->now + 120 + 3600), ==, 1);
	/* The clock is set back by a week: alerts are not suppressed for that long. */
	g_assert_cmpuint(run_alerts(test, test->now - 7 * DAY), ==, 1);
}

ALERTS_TEST(paused_digests_are_reported_after_a_day)
{
	int64_t since;

	g_assert_true(queue_pause(
	    test->fixture->store, true, "operator", test->now - DAY + 1, &since, NULL));
	answer(test, test->now, "ok", "NULL");
	g_assert_cmpuint(run_alerts(test, test->now), ==, 0);
	g_assert_cmpuint(run_alerts(test, test->now + 1), ==, 1);
	g_assert_true(queue_pause(
	    test->fixture->store, false, "operator", test->now, &since, NULL));
	g_assert_cmpuint(run_alerts(test, test->now + 7200), ==, 1);
	g_assert_cmpuint(run_alerts(test, test->now + 7260), ==, 0);
}

ALERTS_TEST(a_ping_that_fails_does_not_delay_a_report)
{
	answer(test, test->now, "ok", "NULL");
	set(&test->settings->alerts_ping_url, "http://127.0.0.1:1/");
	g_assert_cmpuint(run_alerts(test, test->now), ==, 0);
	g_assert_cmpint(test->retries.ping.at, ==, test->now + ALERTS_INTERVAL_S);
	g_assert_cmpint(test->retries.post.at, ==, 0);
	g_assert_cmpuint(run_alerts(test, test->now + ALERTS_INTERVAL_S), ==, 0);
	g_assert_cmpint(test->retries.ping.wait_s, ==, 2 * ALERTS_INTERVAL_S);
}

ALERTS_TEST(a_relay_that_is_away_is_posted_within_five_minutes)
{
	int64_t now = test->now;

	answer(test, now, "ok", "NULL");
	set(&test->settings->alerts_url, "http://127.0.0.1:1/");
	test->relay.is_away = true;
	test->relay.since = now;
	/* The checks run at any time after the failure; nobody listens. */
	for (now += 1; now <= test->now + 300; now += ALERTS_INTERVAL_S)
		run_alerts(test, now);
	g_assert_cmpint(test->retries.post.wait_s, >, 0);
	/* Down for a day: it is tried each hour, and not forgotten. */
	for (; now <= test->now + DAY; now += ALERTS_INTERVAL_S)
		run_alerts(test, now);
	g_assert_cmpint(test->retries.post.wait_s, ==, 3600);
	assert_rows(test->fixture,
	    "SELECT count(*) FROM cursor WHERE name GLOB 'alert-post *'", "0");
}

ALERTS_TEST(nothing_is_mailed_with_alerts_off)
{
	answer(test, test->now, "ok", "NULL");
	quarantine(test);
	test->settings->mail_alerts = false;
	g_assert_cmpuint(run_alerts(test, test->now), ==, 0);
	test->settings->mail_alerts = true;
	g_assert_cmpuint(run_alerts(test, test->now), ==, 1);
}

ALERTS_TEST(the_owner_gets_a_report_on_each_monday)
{
	const struct alerts alerts = {
	    .store = test->fixture->store,
	    .settings = test->settings,
	    .own_addresses = test->own_addresses,
	    .relay = &test->relay,
	    .random = &random_system,
	};
	/* Mondays are 23 and 30 November. */
	static const char *const times[] = {"2026-11-20T09:00:00Z",
	    "2026-11-23T05:59:59Z", "2026-11-23T06:00:00Z", "2026-11-30T05:59:59Z",
	    "2026-11-30T06:00:00Z", "2026-10-01T06:00:00Z", "2026-10-05T06:00:00Z"};
	const char *counts[] = {"0", "0", "1", "1", "2", "2", "3"};
	g_autofree char *mail = NULL;

	quarantine(test);
	g_assert_true(owner_report_run(&alerts, test->now, NULL));
	assert_rows(
	    test->fixture, "SELECT count(*) FROM cursor WHERE name GLOB 'own*'", "0");
	test->settings->mail_owner_report = true;
	for (size_t i = 0; i < G_N_ELEMENTS(times); i++) {
		g_assert_true(
		    owner_report_run(&alerts, store_fixture_time(times[i]), NULL));
		assert_rows(test->fixture, "SELECT count(*) FROM outbox", counts[i]);
	}
	mail = store_fixture_text(test->fixture,
	    "SELECT CAST(message AS TEXT) FROM outbox ORDER BY id LIMIT 1");
	g_assert_nonnull(strstr(mail, "Subject: paperboy: 0 digests this week"));
	g_assert_nonnull(strstr(mail, "from 2026-11-16 to 2026-11-23"));
	g_assert_nonnull(strstr(mail, "People   1 active, 0 paused"));
	g_assert_nonnull(strstr(mail, "1 received message is quarantined"));
}

/* A package starts the daemon before it is configured. */
ALERTS_TEST(nothing_is_mailed_before_the_configuration_is_edited)
{
	quarantine(test);
	set(&test->settings->mail_owner, "postmaster@example.org");
	g_assert_cmpuint(run_alerts(test, test->now), ==, 0);
	assert_rows(test->fixture, "SELECT count(*) FROM outbox", "0");
}

TEST(sources_and_relay_wait_for_the_first_subscriber)
{
	pb_local(alerts_test) test;

	alerts_test_init_unused(&test);
	make_source_fail(&test);
	make_relay_away(&test);
	make_domain_paused(&test);
	g_assert_cmpuint(run_alerts(&test, test.now), ==, 0);
	quarantine(&test);
	g_assert_cmpuint(run_alerts(&test, test.now), ==, 1);
	store_fixture_subscribe(test.fixture, "bo@example.com", "UTC", NULL, test.now);
	g_assert_cmpuint(run_alerts(&test, test.now), ==, 3);
}

UNIT_MAIN_WITH_WARNINGS
