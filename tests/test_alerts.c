/*
 * test_alerts.c - mail to the owner about problems, once a day each.
 */
#include "service/health/alerts.h"

#include <glib.h>
#include <string.h>

#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/state/own_addresses.h"
#include "store/mail/rate_log.h"

#define NOW "2026-11-20T09:00:00Z"
#define DAY 86400

/* As in the table of checks. */
#define SOURCE_ALERT_S (3 * 3600)
#define RELAY_ALERT_S  (15 * 60)

struct command_fixture {
	struct store_fixture *fixture;
	struct settings *settings;
	struct own_addresses *own_addresses;
	struct mailer_relay relay;
	int64_t now;
};

static void
set(char **field, const char *value)
{
	g_free(*field);
	*field = g_strdup(value);
}

static void
command_fixture_init_unused(struct command_fixture *commands)
{
	g_autoptr(GError) error = NULL;

	*commands = (struct command_fixture){
	    .fixture = store_fixture_new(), .now = store_fixture_time(NOW)};
	commands->settings = settings_new();
	set(&commands->settings->state_dir, commands->fixture->directory);
	set(&commands->settings->mail_from, "paperboy@news.example");
	set(&commands->settings->mail_owner, "owner@news.example");
	commands->own_addresses = own_addresses_new(commands->settings, &error);
	g_assert_no_error(error);
}

static void
command_fixture_init(struct command_fixture *commands)
{
	command_fixture_init_unused(commands);
	store_fixture_subscribe(commands->fixture, "ada@example.com", "UTC", NULL,
	    store_fixture_time("2026-10-01T09:00:00Z"));
}

static void
command_fixture_clear(struct command_fixture *commands)
{
	mailer_relay_clear(&commands->relay);
	own_addresses_free(commands->own_addresses);
	settings_free(commands->settings);
	store_fixture_free(commands->fixture);
}

static unsigned
run_alerts(struct command_fixture *commands, int64_t now)
{
	const struct alerts alerts = {
	    .store = commands->fixture->store,
	    .settings = commands->settings,
	    .own_addresses = commands->own_addresses,
	    .relay = &commands->relay,
	    .random = &random_system,
	};
	g_autoptr(GError) error = NULL;
	unsigned reported;

	g_assert_true(alerts_run(&alerts, now, &reported, &error));
	g_assert_no_error(error);
	return reported;
}

/* Record an answer of the source. */
static void
answer(struct command_fixture *commands, int64_t at, const char *status,
    const char *reason)
{
	g_autofree char *sql = g_strdup_printf(
	    "INSERT INTO source_fetch (source, day, fetched_at, status, error)"
	    " VALUES ('hf', '2026-11-20', %" G_GINT64_FORMAT ", '%s', %s)",
	    at, status, reason);

	store_fixture_run(commands->fixture, sql);
}

static void
quarantine(struct command_fixture *commands)
{
	store_fixture_run(commands->fixture,
	    "INSERT INTO inbox (key, receiver, received_at, size, raw, state, tries, "
	    "ended_at)"
	    " VALUES (hex(randomblob(32)), 'lmtp', 1, 1, x'41', 'quarantined', 3, 1)");
}

static void
make_relay_away(struct command_fixture *commands)
{
	commands->relay.is_away = true;
	commands->relay.since = commands->now - RELAY_ALERT_S;
}

static void
make_domain_paused(struct command_fixture *commands)
{
	commands->relay.paused = 1;
	commands->relay.domain = g_strdup("big.example");
}

static void
make_source_late(struct command_fixture *commands)
{
	store_fixture_run(commands->fixture, "DELETE FROM source_fetch");
	answer(commands, commands->now - 20 * DAY, "ok", "NULL");
}

static void
make_source_fail(struct command_fixture *commands)
{
	store_fixture_run(commands->fixture, "DELETE FROM source_fetch");
	answer(commands, commands->now - SOURCE_ALERT_S, "ok", "NULL");
	answer(commands, commands->now - 60, "failed", "'no answer'");
}

/* The source answers, but today's list is missing. */
static void
make_list_late(struct command_fixture *commands)
{
	store_fixture_run(commands->fixture,
	    "INSERT INTO source_list VALUES (0, 'hf', 'HF', 300, 0)");
	store_fixture_run(commands->fixture, "DELETE FROM source_fetch");
	store_fixture_run(commands->fixture,
	    "INSERT INTO source_fetch (source, day, fetched_at, status)"
	    " VALUES ('hf', '2026-11-19', 1795078800, 'ok')");
	answer(commands, commands->now, "not-yet", "NULL");
}

static void
make_quarantine(struct command_fixture *commands)
{
	quarantine(commands);
}

static void
make_crash(struct command_fixture *commands)
{
	store_fixture_run(commands->fixture,
	    "INSERT INTO outbox (id, kind, recipient, address_key, sender, message,"
	    " state, queued_at, claimed_at, possible_copies, crashes, held_from,"
	    " held_why) VALUES (999, 'answer', 'ada@example.org', 'ada@example.org',"
	    " '', x'41', 'HELD', 1, 1, 5, 5, 'UNKNOWN', 'crash')");
}

static void
make_disk_full(struct command_fixture *commands)
{
	commands->settings->min_free_mb = G_MAXINT;
}

static void
make_clock_jump(struct command_fixture *commands)
{
	store_fixture_run(
	    commands->fixture, "INSERT INTO cursor VALUES ('clock jump', 33 * 86400)");
}

static void
make_stale(struct command_fixture *commands)
{
	g_autofree char *sql = g_strdup_printf(
	    "INSERT INTO cursor VALUES ('restored at', %" G_GINT64_FORMAT
	    "), ('restored from', -1)",
	    commands->now);

	store_fixture_run(commands->fixture, sql);
}

static void
end_all(struct command_fixture *commands, int64_t now)
{
	commands->settings->min_free_mb = 0;
	commands->relay.is_away = false;
	commands->relay.paused = 0;
	store_fixture_run(
	    commands->fixture, "DELETE FROM inbox; DELETE FROM outbox WHERE id = 999");
	store_fixture_run(commands->fixture,
	    "DELETE FROM cursor WHERE name = 'clock jump'"
	    " OR name GLOB 'restored *'");
	store_fixture_run(commands->fixture, "DELETE FROM source_fetch");
	store_fixture_run(commands->fixture, "DELETE FROM source_list");
	answer(commands, now, "ok", "NULL");
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

static void
each_problem_is_mailed_once_a_day_while_it_lasts(void)
{
	static const struct {
		void (*make)(struct command_fixture *commands);
		const char *subject, *word, *advice;
	} kinds[] = {
	    {make_relay_away, "Subject: paperboy: the relay does not accept mail",
	        "does not accept mail since", "paperboyctl queue retry all"},
	    {make_domain_paused, "Subject: paperboy: a domain rejects our mail",
	        "big.example rejects", "check SPF, DKIM and DMARC"},
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
		struct command_fixture commands;
		g_autofree char *mail = NULL, *text = NULL;

		command_fixture_init(&commands);
		answer(&commands, commands.now, "ok", "NULL");
		g_assert_cmpuint(run_alerts(&commands, commands.now), ==, 0);
		g_test_message("%s", kinds[i].subject);
		kinds[i].make(&commands);

		g_assert_cmpuint(run_alerts(&commands, commands.now), ==, 1);
		assert_rows(commands.fixture,
		    "SELECT kind, recipient, sender, state FROM outbox WHERE id <> 999",
		    "notice|owner@news.example||NEW");
		mail = store_fixture_text(commands.fixture,
		    "SELECT CAST(message AS TEXT) FROM outbox WHERE id <> 999");
		g_assert_nonnull(strstr(mail, kinds[i].subject));
		text = g_strdelimit(g_strdup(mail), "\r\n", ' ');
		unfold(text);
		g_assert_nonnull(strstr(text, kinds[i].word));
		g_assert_nonnull(strstr(text, kinds[i].advice));
		g_assert_nonnull(strstr(mail, "Auto-Submitted: auto-generated"));
		g_assert_cmpuint(run_alerts(&commands, commands.now + 600), ==, 0);
		/* Other problems do not stop the source. */
		if (!strstr(kinds[i].subject, "source") ||
		    kinds[i].make == make_list_late)
			answer(&commands, commands.now + DAY - 1, "not-yet", "NULL");
		g_assert_cmpuint(run_alerts(&commands, commands.now + DAY - 1), ==, 0);
		g_assert_cmpuint(run_alerts(&commands, commands.now + DAY), ==, 1);
		end_all(&commands, commands.now + 3 * DAY);
		g_assert_cmpuint(run_alerts(&commands, commands.now + 3 * DAY), ==, 0);
		store_fixture_assert_idle(commands.fixture);
		command_fixture_clear(&commands);
	}
}

static void
short_problems_are_not_mailed(void)
{
	struct command_fixture commands;

	command_fixture_init(&commands);
	answer(&commands, commands.now - SOURCE_ALERT_S + 1, "ok", "NULL");
	answer(&commands, commands.now, "failed", "'no answer'");
	commands.relay.is_away = true;
	commands.relay.since = commands.now - RELAY_ALERT_S + 1;
	g_assert_cmpuint(run_alerts(&commands, commands.now), ==, 0);
	g_assert_cmpuint(run_alerts(&commands, commands.now + 1), ==, 2);
	command_fixture_clear(&commands);
}

static void
dropped_requests_are_reported(void)
{
	struct command_fixture commands;
	g_autofree char *mail = NULL;

	command_fixture_init(&commands);
	answer(&commands, commands.now, "ok", "NULL");
	for (int i = 0; i < 25; i++)
		g_assert_true(rate_log_save_dropped(
		    commands.fixture->store, commands.now - 60, NULL));
	g_assert_cmpuint(run_alerts(&commands, commands.now), ==, 1);
	g_assert_cmpuint(run_alerts(&commands, commands.now + 60), ==, 0);
	mail = store_fixture_text(
	    commands.fixture, "SELECT CAST(message AS TEXT) FROM outbox");
	g_assert_nonnull(
	    strstr(mail, "Subject: paperboy: requests to subscribe are dropped"));
	g_assert_nonnull(strstr(mail, "25 requests to subscribe were dropped"));
	/* The next ones are counted anew after a day without any. */
	g_assert_true(rate_log_save_dropped(
	    commands.fixture->store, commands.now + 2 * DAY, NULL));
	answer(&commands, commands.now + 2 * DAY, "ok", "NULL");
	g_assert_cmpuint(run_alerts(&commands, commands.now + 2 * DAY), ==, 1);
	g_free(mail);
	mail = store_fixture_text(commands.fixture,
	    "SELECT CAST(message AS TEXT) FROM outbox ORDER BY id DESC LIMIT 1");
	g_assert_nonnull(strstr(mail, "1 request to subscribe was dropped"));
	command_fixture_clear(&commands);
}

/* A problem that comes back within a day is one mail; so are several at once. */
static void
problems_of_one_check_share_a_mail(void)
{
	struct command_fixture commands;
	g_autofree char *mail = NULL;

	command_fixture_init(&commands);
	answer(&commands, commands.now, "ok", "NULL");
	quarantine(&commands);
	make_relay_away(&commands);
	g_assert_cmpuint(run_alerts(&commands, commands.now), ==, 2);
	mail = store_fixture_text(
	    commands.fixture, "SELECT CAST(message AS TEXT) FROM outbox");
	g_assert_nonnull(strstr(mail, "Subject: paperboy: 2 problems"));
	end_all(&commands, commands.now + 60);
	g_assert_cmpuint(run_alerts(&commands, commands.now + 120), ==, 0);
	quarantine(&commands);
	g_assert_cmpuint(run_alerts(&commands, commands.now + 180), ==, 0);
	/* The clock is set back by a week: it is not silenced for that long. */
	g_assert_cmpuint(run_alerts(&commands, commands.now - 7 * DAY), ==, 1);
	command_fixture_clear(&commands);
}

static void
nothing_is_mailed_with_alerts_off(void)
{
	struct command_fixture commands;

	command_fixture_init(&commands);
	answer(&commands, commands.now, "ok", "NULL");
	quarantine(&commands);
	commands.settings->mail_alerts = false;
	g_assert_cmpuint(run_alerts(&commands, commands.now), ==, 0);
	commands.settings->mail_alerts = true;
	g_assert_cmpuint(run_alerts(&commands, commands.now), ==, 1);
	command_fixture_clear(&commands);
}

/* A package starts what it installs, before anybody has said who owns it. */
static void
nothing_is_mailed_before_the_configuration_is_edited(void)
{
	struct command_fixture commands;

	command_fixture_init(&commands);
	quarantine(&commands);
	set(&commands.settings->mail_owner, "postmaster@example.org");
	g_assert_cmpuint(run_alerts(&commands, commands.now), ==, 0);
	assert_rows(commands.fixture, "SELECT count(*) FROM outbox", "0");
	command_fixture_clear(&commands);
}

static void
sources_and_relay_wait_for_the_first_subscriber(void)
{
	struct command_fixture commands;

	command_fixture_init_unused(&commands);
	make_source_fail(&commands);
	make_relay_away(&commands);
	make_domain_paused(&commands);
	g_assert_cmpuint(run_alerts(&commands, commands.now), ==, 0);
	quarantine(&commands);
	g_assert_cmpuint(run_alerts(&commands, commands.now), ==, 1);
	store_fixture_subscribe(
	    commands.fixture, "bo@example.com", "UTC", NULL, commands.now);
	g_assert_cmpuint(run_alerts(&commands, commands.now), ==, 3);
	command_fixture_clear(&commands);
}

UNIT_MAIN(dropped_requests_are_reported,
    each_problem_is_mailed_once_a_day_while_it_lasts, short_problems_are_not_mailed,
    problems_of_one_check_share_a_mail, nothing_is_mailed_with_alerts_off,
    nothing_is_mailed_before_the_configuration_is_edited,
    sources_and_relay_wait_for_the_first_subscriber)
