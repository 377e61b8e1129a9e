/*
 * test_alerts.c - the owner is told of what wants a person, once a day each.
 */
#include "service/alerts.h"

#include <glib.h>
#include <string.h>

#include "lib/lab.h"
#include "service/house.h"
#include "store/allowance.h"

#define NOW "2026-11-20T09:00:00Z"
#define DAY 86400

struct desk {
	struct lab *lab;
	struct settings *settings;
	struct house *house;
	struct post_relay relay;
	int64_t now;
};

static void
draw(void *data, uint8_t *octets, size_t size)
{
	(void)data;
	for (size_t i = 0; i < size; i++)
		octets[i] = (uint8_t)g_random_int();
}

static void
set(char **field, const char *value)
{
	g_free(*field);
	*field = g_strdup(value);
}

static void
desk_init_unused(struct desk *desk)
{
	g_autoptr(GError) error = NULL;

	*desk = (struct desk){.lab = lab_new(), .now = lab_time(NOW)};
	desk->settings = settings_new();
	set(&desk->settings->state_dir, desk->lab->folder);
	set(&desk->settings->mail_from, "paperboy@news.example");
	set(&desk->settings->mail_owner, "owner@news.example");
	desk->house = house_new(desk->settings, &error);
	g_assert_no_error(error);
}

static void
desk_init(struct desk *desk)
{
	desk_init_unused(desk);
	lab_subscribe(desk->lab, "ada@example.com", "UTC", NULL,
	    lab_time("2026-10-01T09:00:00Z"));
}

static void
desk_clear(struct desk *desk)
{
	post_relay_clear(&desk->relay);
	house_free(desk->house);
	settings_free(desk->settings);
	lab_free(desk->lab);
}

static unsigned
look_at(struct desk *desk, int64_t now)
{
	const struct alerts alerts = {
	    .store = desk->lab->store,
	    .settings = desk->settings,
	    .house = desk->house,
	    .relay = &desk->relay,
	    .draw = draw,
	};
	g_autoptr(GError) error = NULL;
	unsigned told;

	g_assert_true(alerts_run(&alerts, now, &told, &error));
	g_assert_no_error(error);
	return told;
}

/* A source that is well at a time, or fails. */
static void
answer(struct desk *desk, int64_t at, const char *status, const char *reason)
{
	g_autofree char *sql = g_strdup_printf(
	    "INSERT INTO batch (source, day, asked_at, status, error)"
	    " VALUES ('hf', '2026-11-20', %" G_GINT64_FORMAT ", '%s', %s)",
	    at, status, reason);

	lab_run(desk->lab, sql);
}

static void
quarantine(struct desk *desk)
{
	lab_run(desk->lab,
	    "INSERT INTO letter (key, road, came_at, size, raw, state, tries, ended_at)"
	    " VALUES (hex(randomblob(32)), 'lmtp', 1, 1, x'41', 'quarantined', 3, 1)");
}

static void
make_relay_away(struct desk *desk)
{
	desk->relay.is_away = true;
	desk->relay.since = desk->now - ALERTS_RELAY_S;
}

static void
make_domain_paused(struct desk *desk)
{
	desk->relay.paused = 1;
	desk->relay.domain = g_strdup("big.example");
}

static void
make_source_late(struct desk *desk)
{
	lab_run(desk->lab, "DELETE FROM batch");
	answer(desk, desk->now - 20 * DAY, "ok", "NULL");
}

static void
make_source_fail(struct desk *desk)
{
	lab_run(desk->lab, "DELETE FROM batch");
	answer(desk, desk->now - ALERTS_SOURCE_S, "ok", "NULL");
	answer(desk, desk->now - 60, "failed", "'no answer'");
}

/* It answers, but today's list has not come. */
static void
make_list_late(struct desk *desk)
{
	lab_run(desk->lab, "INSERT INTO list VALUES (0, 'hf', 'HF', 300, 0)");
	lab_run(desk->lab, "DELETE FROM batch");
	lab_run(desk->lab, "INSERT INTO batch (source, day, asked_at, status)"
	                   " VALUES ('hf', '2026-11-19', 1795078800, 'ok')");
	answer(desk, desk->now, "not-yet", "NULL");
}

static void
make_quarantine(struct desk *desk)
{
	quarantine(desk);
}

static void
make_crash(struct desk *desk)
{
	lab_run(desk->lab,
	    "INSERT INTO outbox (id, kind, recipient, address_key, sender, message,"
	    " state, queued_at, claimed_at, possible_copies, crashes, held_from,"
	    " held_why) VALUES (999, 'answer', 'ada@example.org', 'ada@example.org',"
	    " '', x'41', 'HELD', 1, 1, 5, 5, 'UNKNOWN', 'crash')");
}

static void
make_disk_full(struct desk *desk)
{
	desk->settings->disk_floor_mb = G_MAXINT;
}

static void
make_clock_jump(struct desk *desk)
{
	lab_run(desk->lab, "INSERT INTO cursor VALUES ('clock jump', 33 * 86400)");
}

static void
make_stale(struct desk *desk)
{
	g_autofree char *sql = g_strdup_printf(
	    "INSERT INTO cursor VALUES ('restored at', %" G_GINT64_FORMAT
	    "), ('restored from', -1)",
	    desk->now);

	lab_run(desk->lab, sql);
}

static void
end_all(struct desk *desk, int64_t now)
{
	desk->settings->disk_floor_mb = 0;
	desk->relay.is_away = false;
	desk->relay.paused = 0;
	lab_run(desk->lab, "DELETE FROM letter; DELETE FROM outbox WHERE id = 999");
	lab_run(desk->lab, "DELETE FROM cursor WHERE name = 'clock jump'"
	                   " OR name GLOB 'restored *'");
	lab_run(desk->lab, "DELETE FROM batch");
	lab_run(desk->lab, "DELETE FROM list");
	answer(desk, now, "ok", "NULL");
}

/* One blank for many. */
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
each_is_told_once_a_day_until_it_is_well(void)
{
	static const struct {
		void (*make)(struct desk *desk);
		const char *subject, *word, *advice;
	} kinds[] = {
	    {make_relay_away, "Subject: paperboy: the relay does not take mail",
	        "does not take mail since", "paperboyctl queue retry all"},
	    {make_domain_paused, "Subject: paperboy: a domain refuses our mail",
	        "big.example refuses", "look at SPF, DKIM and DMARC"},
	    {make_source_late, "Subject: paperboy: source hf", "source hf is late",
	        "paperboyctl source fetch"},
	    {make_list_late, "Subject: paperboy: source hf",
	        "but its list of 2026-11-20 has not come", "paperboyctl source fetch"},
	    {make_source_fail, "Subject: paperboy: source hf", "source hf fails",
	        "paperboyctl source list"},
	    {make_quarantine, "Subject: paperboy: letters are quarantined",
	        "1 letter is quarantined", "paperboyctl letter list"},
	    {make_crash, "Subject: paperboy: a message is held after crashes",
	        "paperboyd was killed each time while it sent a message",
	        "queue release tries once more"},
	    {make_clock_jump, "Subject: paperboy: the clock jumped",
	        "the clock jumped forward by 33 days", "check the clock"},
	    {make_stale, "Subject: paperboy: the database is older than the mail",
	        "an older copy of it was put back", "queue release or queue drop"},
	    {make_disk_full, "Subject: paperboy: the disk is nearly full",
	        "letters are told to come later", "make room"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		struct desk desk;
		g_autofree char *mail = NULL, *text = NULL;

		desk_init(&desk);
		answer(&desk, desk.now, "ok", "NULL");
		g_assert_cmpuint(look_at(&desk, desk.now), ==, 0);
		g_test_message("%s", kinds[i].subject);
		kinds[i].make(&desk);

		g_assert_cmpuint(look_at(&desk, desk.now), ==, 1);
		lab_assert_text(desk.lab,
		    "SELECT kind, recipient, sender, state FROM outbox WHERE id <> 999",
		    "notice|owner@news.example||NEW");
		mail = lab_text(desk.lab,
		    "SELECT CAST(message AS TEXT) FROM outbox WHERE id <> 999");
		g_assert_nonnull(strstr(mail, kinds[i].subject));
		text = g_strdelimit(g_strdup(mail), "\r\n", ' ');
		unfold(text);
		g_assert_nonnull(strstr(text, kinds[i].word));
		g_assert_nonnull(strstr(text, kinds[i].advice));
		g_assert_nonnull(strstr(mail, "Auto-Submitted: auto-generated"));
		g_assert_cmpuint(look_at(&desk, desk.now + 600), ==, 0);
		/* The source of those that are not about it goes on well. */
		if (!strstr(kinds[i].subject, "source") ||
		    kinds[i].make == make_list_late)
			answer(&desk, desk.now + DAY - 1, "not-yet", "NULL");
		g_assert_cmpuint(look_at(&desk, desk.now + DAY - 1), ==, 0);
		g_assert_cmpuint(look_at(&desk, desk.now + DAY), ==, 1);
		end_all(&desk, desk.now + 3 * DAY);
		g_assert_cmpuint(look_at(&desk, desk.now + 3 * DAY), ==, 0);
		lab_assert_idle(desk.lab);
		desk_clear(&desk);
	}
}

static void
what_lasts_a_moment_is_not_told(void)
{
	struct desk desk;

	desk_init(&desk);
	answer(&desk, desk.now - ALERTS_SOURCE_S + 1, "ok", "NULL");
	answer(&desk, desk.now, "failed", "'no answer'");
	desk.relay.is_away = true;
	desk.relay.since = desk.now - ALERTS_RELAY_S + 1;
	g_assert_cmpuint(look_at(&desk, desk.now), ==, 0);
	g_assert_cmpuint(look_at(&desk, desk.now + 1), ==, 2);
	desk_clear(&desk);
}

static void
dropped_requests_are_reported(void)
{
	struct desk desk;
	g_autofree char *mail = NULL;

	desk_init(&desk);
	answer(&desk, desk.now, "ok", "NULL");
	for (int i = 0; i < 25; i++)
		g_assert_true(
		    allowance_save_dropped(desk.lab->store, desk.now - 60, NULL));
	g_assert_cmpuint(look_at(&desk, desk.now), ==, 1);
	g_assert_cmpuint(look_at(&desk, desk.now + 60), ==, 0);
	mail = lab_text(desk.lab, "SELECT CAST(message AS TEXT) FROM outbox");
	g_assert_nonnull(
	    strstr(mail, "Subject: paperboy: requests to subscribe are dropped"));
	g_assert_nonnull(strstr(mail, "25 requests to subscribe were dropped"));
	/* The next ones are counted anew after a day without any. */
	g_assert_true(
	    allowance_save_dropped(desk.lab->store, desk.now + 2 * DAY, NULL));
	answer(&desk, desk.now + 2 * DAY, "ok", "NULL");
	g_assert_cmpuint(look_at(&desk, desk.now + 2 * DAY), ==, 1);
	g_free(mail);
	mail = lab_text(desk.lab,
	    "SELECT CAST(message AS TEXT) FROM outbox ORDER BY id DESC LIMIT 1");
	g_assert_nonnull(strstr(mail, "1 request to subscribe was dropped"));
	desk_clear(&desk);
}

/* Bad, well and bad again within a day is one mail; several at once too. */
static void
all_that_is_due_is_one_mail(void)
{
	struct desk desk;
	g_autofree char *mail = NULL;

	desk_init(&desk);
	answer(&desk, desk.now, "ok", "NULL");
	quarantine(&desk);
	make_relay_away(&desk);
	g_assert_cmpuint(look_at(&desk, desk.now), ==, 2);
	mail = lab_text(desk.lab, "SELECT CAST(message AS TEXT) FROM outbox");
	g_assert_nonnull(strstr(mail, "Subject: paperboy: 2 things want you"));
	end_all(&desk, desk.now + 60);
	g_assert_cmpuint(look_at(&desk, desk.now + 120), ==, 0);
	quarantine(&desk);
	g_assert_cmpuint(look_at(&desk, desk.now + 180), ==, 0);
	/* The clock is set back by a week: it is not silenced for that long. */
	g_assert_cmpuint(look_at(&desk, desk.now - 7 * DAY), ==, 1);
	desk_clear(&desk);
}

static void
switched_off_nothing_is_told(void)
{
	struct desk desk;

	desk_init(&desk);
	answer(&desk, desk.now, "ok", "NULL");
	quarantine(&desk);
	desk.settings->mail_alerts = false;
	g_assert_cmpuint(look_at(&desk, desk.now), ==, 0);
	desk.settings->mail_alerts = true;
	g_assert_cmpuint(look_at(&desk, desk.now), ==, 1);
	desk_clear(&desk);
}

/* A package starts what it installs, before anybody has said who owns it. */
static void
nobody_is_told_of_what_was_only_installed(void)
{
	struct desk desk;

	desk_init(&desk);
	quarantine(&desk);
	set(&desk.settings->mail_owner, "postmaster@example.org");
	g_assert_cmpuint(look_at(&desk, desk.now), ==, 0);
	lab_assert_text(desk.lab, "SELECT count(*) FROM outbox", "0");
	desk_clear(&desk);
}

static void
sources_and_relay_wait_for_the_first_subscriber(void)
{
	struct desk desk;

	desk_init_unused(&desk);
	make_source_fail(&desk);
	make_relay_away(&desk);
	make_domain_paused(&desk);
	g_assert_cmpuint(look_at(&desk, desk.now), ==, 0);
	quarantine(&desk);
	g_assert_cmpuint(look_at(&desk, desk.now), ==, 1);
	lab_subscribe(desk.lab, "bo@example.com", "UTC", NULL, desk.now);
	g_assert_cmpuint(look_at(&desk, desk.now), ==, 3);
	desk_clear(&desk);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func(
	    "/alerts/dropped requests are reported", dropped_requests_are_reported);
	g_test_add_func("/alerts/each_is_told_once_a_day_until_it_is_well",
	    each_is_told_once_a_day_until_it_is_well);
	g_test_add_func(
	    "/alerts/what_lasts_a_moment_is_not_told", what_lasts_a_moment_is_not_told);
	g_test_add_func(
	    "/alerts/all_that_is_due_is_one_mail", all_that_is_due_is_one_mail);
	g_test_add_func(
	    "/alerts/switched_off_nothing_is_told", switched_off_nothing_is_told);
	g_test_add_func("/alerts/nobody_is_told_of_what_was_only_installed",
	    nobody_is_told_of_what_was_only_installed);
	g_test_add_func("/alerts/sources_and_relay_wait_for_the_first_subscriber",
	    sources_and_relay_wait_for_the_first_subscriber);
	return g_test_run();
}
