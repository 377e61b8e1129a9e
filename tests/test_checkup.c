/*
 * test_checkup.c - monthly reports: when they come, and what they say.
 *
 * The reports are in tests/golden/answers; see test_command.c.
 */
#include "service/jobs/checkup.h"
#include "service/jobs/retraction_mail.h"

#include <string.h>

#include "lib/conversation.h"
#include "lib/unit.h"
#include "service/jobs/share_news.h"
#include "service/people/filters.h"
#include "service/people/profile.h"
#include "service/people/sharing.h"
#include "store/core/transaction.h"
#include "store/subscriber/subscribers.h"

#define ADA "ada@example.org"

/* Ada subscribed months ago and has five filters, one of which she follows. */
static struct conversation *
new_conversation(void)
{
	struct conversation *conversation = conversation_new();
	struct store_fixture *fixture = conversation->fixture;
	int64_t now = store_fixture_time(CONVERSATION_NOW);
	static const char *const filters[] = {
	    "weather forecast*", "mamba", "diffusion NOT survey", "weather"};
	const struct sharing_actor eva = {fixture->store, EVA, "test", now, 0};
	const struct sharing_actor ada = {fixture->store, ADA, "test", now, 0};
	const struct filters_change change = {.address = EVA,
	    .number = 1,
	    .text = "robot OR \"state space\" OR diffusion",
	    .who = "test"};
	g_autoptr(GError) error = NULL;
	pb_auto(subscription) before = NULL;
	pb_auto(subscription) followed = NULL;
	pb_auto(subscription) edited = NULL;
	g_autofree char *name = NULL;
	unsigned count;

	conversation_load_templates(conversation);
	for (int day = 1; day <= 19; day++)
		for (int i = 0; i < 3; i++) {
			static const char *const titles[] = {"Diffusion for all",
			    "Weather forecasts with little data",
			    "State spaces and robots"};
			g_autofree char *id = g_strdup_printf("2611.%02d%03d", day, i);
			g_autofree char *listed = g_strdup_printf("2026-11-%02d", day);

			store_fixture_list(fixture, listed, id, titles[i], 3);
		}
	store_fixture_subscribe(fixture, ADA, "Europe/Berlin", "diffusion", now);
	store_fixture_subscribe(fixture, EVA, "UTC", "robot OR \"state space\"", now);
	for (size_t i = 0; i < G_N_ELEMENTS(filters); i++)
		store_fixture_add_filter(fixture, ADA, filters[i], now);
	sharing_share(&eva, 1, "robot-news", &name, &error);
	g_assert_no_error(error);
	followed = sharing_follow(&ada, "robot-news", 0, &before, &error);
	g_assert_no_error(error);
	edited = filters_edit(fixture->store, &change, now, NULL, NULL, &error);
	g_assert_no_error(error);
	store_fixture_build_digests(fixture, now);
	g_assert_true(share_news_run(fixture->store, now, &count, &error));
	store_fixture_run(fixture,
	    "UPDATE subscriber SET created_at = 1780000000, checkup_at = 0;"
	    "UPDATE subscriber SET checkup = 'off' WHERE address <> '" ADA "';"
	    "UPDATE subscription SET created_at = 1780000000, since_day = '2026-06-01';"
	    "UPDATE follow SET news = 2; DELETE FROM outbox; DELETE FROM digest");
	return conversation;
}

static struct checkup
get_job(struct conversation *conversation, int64_t now)
{
	return (struct checkup){
	    .mailer = {conversation->fixture->store, conversation->settings,
	        conversation->own_addresses, &conversation->random, now},
	    .key = conversation->fixture->key,
	    .catalog = conversation->options.phrases,
	};
}

static struct checkup_report
run_at(struct conversation *conversation, int64_t now)
{
	const struct checkup checkup = get_job(conversation, now);
	struct checkup_report report;
	int64_t next;

	g_assert_true(NO_ERROR(checkup_run(&checkup, 0, &report, &next, &error)));
	store_fixture_assert_idle(conversation->fixture);
	g_assert_true(next < 0 || next > now);
	return report;
}

static void
send_retractions(struct conversation *conversation, int64_t now)
{
	const struct checkup job = get_job(conversation, now);

	g_assert_true(NO_ERROR(retraction_mail_run(&job, &error)));
}

#define RUN_AT(conversation, text) run_at(conversation, store_fixture_time(text))

/* Decode quoted-printable (RFC 2045 section 6.7). @return a new string */
static char *
decode(const char *text)
{
	GString *out = g_string_new(NULL);

	for (; *text; text++) {
		if (*text == '=' && text[1] == '\n')
			text++;
		else if (*text == '=') {
			g_string_append_c(
			    out, (char)(g_ascii_xdigit_value(text[1]) * 16 +
			                g_ascii_xdigit_value(text[2])));
			text += 2;
		} else {
			g_string_append_c(out, *text);
		}
	}
	return g_string_free(out, FALSE);
}

static void
compare_golden(struct conversation *conversation, const char *name)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *path =
	    g_strdup_printf("%s/tests/golden/answers/%s.txt", top ? top : ".", name);
	g_autofree char *mail = conversation_get_mail(conversation);
	g_auto(GStrv) lines = g_strsplit(strstr(mail, "\r\n\r\n") + 4, "\r\n", -1);
	g_autofree char *joined = g_strjoinv("\n", lines);
	g_autofree char *text = decode(joined);
	g_autofree char *wanted = NULL;
	g_autoptr(GError) error = NULL;

	g_assert_null(strchr(text, '{'));
	if (g_getenv("GOLDEN_WRITE"))
		g_file_set_contents(path, text, -1, &error);
	g_assert_no_error(error);
	g_file_get_contents(path, &wanted, NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpstr(text, ==, wanted);
}

#define CHECKUP_TEST(function) \
	TEST_WITH(function, conversation, conversation, new_conversation())

CHECKUP_TEST(report_names_each_point_with_its_reply)
{
	struct checkup_report report = RUN_AT(conversation, CONVERSATION_NOW);
	g_autofree char *mail = NULL;

	g_assert_cmpuint(report.due, ==, 0);
	store_fixture_run(conversation->fixture,
	    "UPDATE subscriber SET checkup_at = 1795156200 WHERE address = '" ADA "'");
	report = RUN_AT(conversation, CONVERSATION_NOW);
	g_assert_cmpuint(report.sent, ==, 1);
	mail = conversation_get_mail(conversation);
	g_assert_nonnull(strstr(mail, "\r\nList-Unsubscribe: <mailto:paperboy+u-"));
	g_assert_nonnull(strstr(mail, "\r\nList-Id: paperboy <digest.example."));
	g_assert_nonnull(strstr(mail, "\r\nReply-To: paperboy+r-"));
	g_assert_nonnull(strstr(mail, "\r\nPrecedence: bulk"));
	g_assert_null(strstr(mail, "example.com>\r\nSubject"));
	compare_golden(conversation, "checkup");
	/* The next digest does not repeat it. */
	assert_rows(conversation->fixture,
	    "SELECT count(*) FROM follow WHERE news IS NOT NULL", "0");
}

CHECKUP_TEST(report_is_in_the_language_of_its_reader)
{
	conversation_set(
	    &conversation->settings->web_url, "https://papers.example.org");
	store_fixture_run(conversation->fixture,
	    "UPDATE subscriber SET checkup_at = 1795156200, language = 'de'"
	    " WHERE address = '" ADA "'");
	g_assert_cmpuint(RUN_AT(conversation, CONVERSATION_NOW).sent, ==, 1);
	compare_golden(conversation, "checkup-german");
}

CHECKUP_TEST(nothing_to_report_is_no_mail)
{
	store_fixture_run(conversation->fixture,
	    "DELETE FROM subscription WHERE number > 1;"
	    "UPDATE subscription SET text = 'robot' WHERE number = 1;"
	    "UPDATE subscriber SET checkup_at = 1795156200 WHERE address = '" ADA
	    "'; INSERT INTO proposal (subscriber_id, number, subscription_id, filter,"
	    " term, command, gained, lost, days, title, made_at, expires_at, ended_at,"
	    " state) SELECT 1, 99, 1, '', 'del 1', 'del 1', 0, 0, 30, '', 1, 2, 3,"
	    " 'refused'");
	RUN_AT(conversation, CONVERSATION_NOW);
	g_assert_cmpint(conversation_count_mails(conversation), <=, 1);
	/* Everything was refused. */
	store_fixture_run(conversation->fixture,
	    "DELETE FROM outbox; UPDATE proposal SET state = 'refused', ended_at = 5;"
	    "UPDATE subscriber SET checkup_at = 1795156200 WHERE address = '" ADA "'");
	g_assert_cmpuint(RUN_AT(conversation, CONVERSATION_NOW).sent, ==, 0);
	g_assert_cmpint(conversation_count_mails(conversation), ==, 0);
}

TEST(paused_subscribers_get_none)
{
	static const char *const states[] = {"state = 'paused'", "state = 'suspended'",
	    "state = 'gone', next_due_at = NULL", "checkup = 'off'"};

	for (size_t i = 0; i < G_N_ELEMENTS(states); i++) {
		pb_auto(conversation) conversation = new_conversation();
		g_autofree char *sql =
		    g_strdup_printf("UPDATE subscriber SET checkup_at = 1795156200, %s"
		                    " WHERE address = '" ADA "'",
		        states[i]);

		store_fixture_run(conversation->fixture, sql);
		g_assert_cmpuint(RUN_AT(conversation, CONVERSATION_NOW).due, ==, 0);
	}
}

/* 400 days, hour by hour. */
CHECKUP_TEST(each_month_has_one_report_at_the_time_of_a_digest)
{
	int64_t now = store_fixture_time("2026-12-01T00:00:00Z"), last = 0;
	unsigned count = 0;

	store_fixture_run(conversation->fixture,
	    "UPDATE subscriber SET frequency = 'weekly', weekdays = 1, minute = 450"
	    " WHERE address = '" ADA "'");
	for (int hour = 0; hour < 400 * 24; hour++, now += 3600) {
		g_autoptr(GDateTime) utc = NULL, local = NULL;
		g_autoptr(GTimeZone) zone = g_time_zone_new_identifier("Europe/Berlin");

		if (!run_at(conversation, now).due)
			continue;
		utc = g_date_time_new_from_unix_utc(now);
		local = g_date_time_to_timezone(utc, zone);
		g_assert_cmpint(g_date_time_get_day_of_week(local), ==, 1);
		g_assert_cmpint(g_date_time_get_hour(local), ==, 8); /* after 07:30 */
		g_assert_true(!last || now - last > 25 * DAY);
		last = now;
		count++;
	}
	g_assert_cmpuint(count, >=, 12);
	g_assert_cmpuint(count, <=, 14);
}

/* @param created_at  s @return days with a first report, most on one, and the first */
static char *
spread(struct conversation *conversation, int64_t now, int64_t created_at)
{
	struct store *store = conversation->fixture->store;
	pb_transaction transaction = {0};
	g_autoptr(GError) error = NULL;
	g_autofree char *sql = g_strdup_printf(
	    "SELECT count(*) || '|' || max(c) || '|' || (min(day) - %" G_GINT64_FORMAT
	    " / 86400) FROM (SELECT count(*) AS c, checkup_at / 86400 AS day FROM "
	    "subscriber"
	    " WHERE consent_text = 'spread' GROUP BY day) AS days",
	    now);

	g_assert_true(store_begin(store, &transaction, &error));
	for (unsigned i = 0; i < 2800; i++) {
		pb_auto(subscriber) subscriber = subscriber_new();

		subscriber->address = g_strdup_printf("f%u@example.org", i);
		subscriber->address_key = g_strdup(subscriber->address);
		subscriber->zone = g_strdup("UTC");
		subscriber->state = SUBSCRIBER_ACTIVE;
		subscriber->schedule = (struct schedule){SCHEDULE_DAILY, 127, 450};
		subscriber->max_full = 20;
		subscriber->created_at = subscriber->consent_at = created_at;
		subscriber->consent_text = g_strdup("spread");
		subscriber->next_due_at = now;
		subscribers_insert(store, subscriber, &error);
		g_assert_no_error(error);
	}
	g_assert_true(store_commit(&transaction, &error));
	return store_fixture_text(conversation->fixture, sql);
}

TEST(first_reports_are_spread_over_a_month)
{
	int64_t now = store_fixture_time(CONVERSATION_NOW);
	static const struct {
		int64_t age_s;
		const char *wanted;
	} rows[] = {{0, "28|100|30"}, {10 * DAY, "28|100|20"}, {400 * DAY, "28|100|1"}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(conversation) conversation = new_conversation();
		g_autofree char *found = spread(conversation, now, now - rows[i].age_s);

		g_assert_cmpstr(found, ==, rows[i].wanted);
		g_assert_cmpuint(run_at(conversation, now).due, ==, 0);
	}
}

/* By a mail, or by a digest, but never twice. */
CHECKUP_TEST(a_retraction_of_a_watched_paper_has_a_mail)
{
	struct store_fixture *fixture = conversation->fixture;
	const char *count = "SELECT count(*) FROM outbox WHERE kind = 'notice'";
	int64_t now = store_fixture_time("2026-12-03T09:00:00Z");

	store_fixture_run(fixture,
	    "INSERT INTO watch SELECT id, (SELECT min(seq) FROM paper), 1, 1900000000"
	    " FROM subscriber");
	store_fixture_run(fixture,
	    "INSERT INTO paper_event (paper_seq, kind, version, at)"
	    " SELECT min(seq), 'retracted', 0, 1796288400 FROM paper");
	store_fixture_run(fixture, "UPDATE paper SET title = 'RETRACTED: On yeast'");
	send_retractions(conversation, now);
	assert_rows(fixture, count, "0");
	store_fixture_run(fixture,
	    "UPDATE subscriber SET retractions = 'mail' WHERE address = '" ADA "'");
	for (int i = 0; i < 2; i++) {
		g_autofree char *mail = NULL;

		/* Also where nobody can reply. */
		conversation->own_addresses->has_commands = i;
		send_retractions(conversation, now);
		mail = store_fixture_text(
		    fixture, "SELECT message FROM outbox WHERE kind = 'notice'");
		g_assert_nonnull(strstr(mail, "Subject: Retracted: On yeast"));
		g_assert_nonnull(
		    strstr(mail, "\nA paper that you watch was retracted"));
		g_assert_null(strstr(mail, "Reply-To"));
	}
	assert_rows(fixture, count, "1");
	/* Not by a digest either, also if the paper, which was sent, is not watched. */
	store_fixture_run(fixture, "DELETE FROM watch");
	store_fixture_run(fixture,
	    "INSERT INTO delivered_paper (subscriber_id, paper_seq, digest_id, at)"
	    " SELECT id, (SELECT min(seq) FROM paper), 1, 1796000000 FROM subscriber");
	store_fixture_build_digests(fixture, now);
	assert_rows(fixture,
	    "SELECT count(*) FROM digest g JOIN digest_head h ON h.id = g.id"
	    " JOIN subscriber s ON s.id = g.subscriber_id"
	    " WHERE h.notices LIKE '%was retracted%' AND s.address = '" ADA "'",
	    "0");
	assert_rows(fixture,
	    "SELECT count(*) FROM digest_head WHERE notices LIKE '%was retracted%'",
	    "1");
}

UNIT_MAIN
