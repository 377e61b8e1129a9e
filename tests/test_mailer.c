/*
 * test_mailer.c - states of messages with failing relays and stores.
 */
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "lib/mailer_fixture.h"
#include "lib/render_sample.h"
#include "lib/unit.h"
#include "service/people/filters.h"
#include "service/people/profile.h"
#include "service/people/subscribe.h"
#include "store/subscriber/suppression.h"

#define RELAY(stage_)                                                        \
	{                                                                    \
		.outcome = DELIVERY_DEFERRED, .scope = DELIVERY_SCOPE_RELAY, \
		.stage = (stage_)                                            \
	}

TEST(each_outcome_sets_its_state)
{
	static const struct {
		struct delivery answer;
		const char
		    *row; /* state, attempt, seconds to the next try, ended, code */
		const char *digest;
		int delivered, refused; /* papers */
	} rows[] = {
	    {{.outcome = DELIVERY_SENT, .stage = SMTP_STAGE_DOT, .code = 250},
	        "SENT|1|-|1|250|made up", "sent", 2, 0},
	    {{.outcome = DELIVERY_DEFERRED, .stage = SMTP_STAGE_RCPT, .code = 450},
	        "DEFERRED|1|60|0|450|made up", "live", 0, 0},
	    {{.outcome = DELIVERY_FAILED, .stage = SMTP_STAGE_RCPT, .code = 550},
	        "FAILED|1|-|1|550|made up", "failed", 0, 0},
	    {{.outcome = DELIVERY_FAILED, .stage = SMTP_STAGE_DATA, .code = 554},
	        "FAILED|1|-|1|554|made up", "failed", 0, 2},
	    {{.outcome = DELIVERY_FAILED, .stage = SMTP_STAGE_DOT, .code = 552},
	        "FAILED|1|-|1|552|made up", "failed", 0, 2},
	    {{.outcome = DELIVERY_UNKNOWN,
	         .scope = DELIVERY_SCOPE_RELAY,
	         .stage = SMTP_STAGE_DOT},
	        "UNKNOWN|1|60|0|-|made up", "live", 0, 0},
	    /* The relay is down: not an attempt. */
	    {RELAY(SMTP_STAGE_CONNECT), "DEFERRED|0|0|0|-|made up", "live", 0, 0},
	    {{.outcome = DELIVERY_DEFERRED,
	         .scope = DELIVERY_SCOPE_LOGIN,
	         .stage = SMTP_STAGE_AUTH,
	         .code = 535},
	        "DEFERRED|0|0|0|535|made up", "live", 0, 0},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(mailer_fixture) mailing = mailer_fixture_new(1, 1);
		g_autofree char *sql = g_strdup_printf(
		    "SELECT state, attempt, (next_try_at - %" G_GINT64_FORMAT
		    ") / 10 * 10, ended_at IS NOT NULL, code, reply FROM outbox",
		    store_fixture_time(NOW));
		g_autofree char *row = NULL, *digest = NULL;

		mailing->script.answer = rows[i].answer;
		mailer_fixture_run_at(mailing, store_fixture_time(NOW), NULL);
		row = store_fixture_text(mailing->fixture, sql);
		digest =
		    store_fixture_text(mailing->fixture, "SELECT state FROM digest");
		if (strcmp(row, rows[i].row) != 0)
			g_test_fail_printf("row %zu: %s", i, row);
		g_assert_cmpstr(digest, ==, rows[i].digest);
		g_assert_cmpint(store_fixture_number(mailing->fixture,
		                    "SELECT count(*) FROM delivered_paper"),
		    ==, rows[i].delivered);
		g_assert_cmpint(store_fixture_number(mailing->fixture,
		                    "SELECT count(*) FROM digest_rejected"),
		    ==, rows[i].refused);
	}
}

TEST(deferred_message_is_retried_unchanged_until_it_expires)
{
	static const struct {
		struct delivery answer;
		const char *end;
		const char *digest;
		int delivered;
		unsigned least, most; /* tries */
	} rows[] = {
	    /* 1, 5, 15, 30, 60 minutes, then an hour each, for 36 hours. */
	    {{.outcome = DELIVERY_DEFERRED, .stage = SMTP_STAGE_RCPT, .code = 450},
	        "FAILED", "failed", 0, 34, 42},
	    /* Each may have arrived: few attempts, and its papers are not mailed again.
	     */
	    {{.outcome = DELIVERY_UNKNOWN, .stage = SMTP_STAGE_DOT}, "UNKNOWN", "sent",
	        2, 5, 5},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(mailer_fixture) mailing = mailer_fixture_new(1, 1);
		int64_t now = store_fixture_time(NOW);
		unsigned runs = 0;

		mailing->script.answer = rows[i].answer;
		do {
			mailer_fixture_run_at(mailing, now, NULL);
			g_assert_cmpuint(mailing->script.tried, ==, ++runs);
			g_assert_true(mailing->next < 0 || mailing->next >= now + 60);
			now = mailing->next;
		} while (now >= 0);
		g_assert_cmpuint(runs, >=, rows[i].least);
		g_assert_cmpuint(runs, <=, rows[i].most);
		assert_rows(mailing->fixture, "SELECT state FROM outbox", rows[i].end);
		if (rows[i].answer.outcome == DELIVERY_DEFERRED)
			g_assert_cmpint(store_fixture_number(mailing->fixture,
			                    "SELECT ended_at FROM outbox"),
			    >=, store_fixture_time(NOW) + GIVE_UP_S);
		assert_rows(
		    mailing->fixture, "SELECT state FROM digest", rows[i].digest);
		g_assert_cmpint(store_fixture_number(mailing->fixture,
		                    "SELECT count(*) FROM delivered_paper"),
		    ==, rows[i].delivered);
		g_assert_cmpuint(g_hash_table_size(mailing->script.bytes), ==, 1);
	}
}

TEST(without_disk_space_nothing_is_sent)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(3, 2);
	struct mailer_options options = mailer_fixture_options(mailing);
	int64_t now = store_fixture_time(NOW);

	options.state_dir = mailing->fixture->directory;
	options.min_free_bytes = G_MAXINT64;
	g_assert_true(mailer_reload(mailing->mailer, &options, false, NULL));
	mailer_fixture_run_at(mailing, now, NULL);
	g_assert_cmpuint(mailing->script.tried, ==, 0);
	g_assert_cmpint(mailing->next, ==, now + 60);
	assert_rows(
	    mailing->fixture, "SELECT DISTINCT state, attempt FROM outbox", "NEW|0");
	options.min_free_bytes = 1;
	g_assert_true(mailer_reload(mailing->mailer, &options, false, NULL));
	mailer_fixture_run_at(mailing, mailing->next, NULL);
	assert_rows(
	    mailing->fixture, "SELECT DISTINCT state, attempt FROM outbox", "SENT|1");
}

TEST(message_cut_off_by_a_stop_does_not_expire)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(1, 1);
	struct mailer_options options = mailer_fixture_options(mailing);
	int ends[2];

	g_assert_cmpint(pipe(ends), ==, 0);
	close(ends[1]); /* which makes the other one readable */
	options.stop_fd = &ends[0];
	g_assert_true(mailer_reload(mailing->mailer, &options, false, NULL));
	mailing->script.answer = (struct delivery)RELAY(SMTP_STAGE_CONNECT);
	mailer_fixture_run_at(mailing, store_fixture_time(NOW) + 2 * GIVE_UP_S, NULL);
	assert_rows(
	    mailing->fixture, "SELECT state, attempt FROM outbox", "DEFERRED|0");
	close(ends[0]);
}

TEST(unknown_message_stays_unknown_when_deferred)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(1, 1);
	int64_t now = store_fixture_time(NOW);

	mailing->script.answer =
	    (struct delivery){.outcome = DELIVERY_UNKNOWN, .stage = SMTP_STAGE_DOT};
	mailer_fixture_run_at(mailing, now, NULL);
	mailing->script.answer = (struct delivery){
	    .outcome = DELIVERY_DEFERRED, .stage = SMTP_STAGE_RCPT, .code = 450};
	mailer_fixture_run_at(mailing, mailing->next, NULL);
	assert_rows(mailing->fixture, "SELECT state, attempt FROM outbox", "UNKNOWN|2");
	mailing->script.answer = (struct delivery)RELAY(SMTP_STAGE_CONNECT);
	mailer_fixture_run_at(mailing, mailing->next, NULL);
	assert_rows(mailing->fixture, "SELECT state, attempt FROM outbox", "UNKNOWN|2");
	/* Expired: an earlier copy may have arrived. */
	mailer_fixture_run_at(mailing, now + GIVE_UP_S + CLOCK_HOUR_S, NULL);
	assert_rows(mailing->fixture, "SELECT state, ended_at IS NULL FROM outbox",
	    "UNKNOWN|0");
	assert_rows(mailing->fixture, "SELECT count(*) FROM delivered_paper", "2");
}

TEST(many_messages_are_sent_once_with_any_number_of_connections)
{
	static const unsigned senders[] = {1, 3, 8};

	for (size_t i = 0; i < G_N_ELEMENTS(senders); i++) {
		enum { PEOPLE = 117 };
		pb_auto(mailer_fixture) mailing =
		    mailer_fixture_new(PEOPLE, senders[i]);
		struct mailer_report report =
		    mailer_fixture_run_at(mailing, store_fixture_time(NOW), NULL);

		g_assert_cmpuint(report.sent, ==, PEOPLE);
		g_assert_cmpuint(mailing->script.tried, ==, PEOPLE);
		g_assert_cmpuint(g_hash_table_size(mailing->script.bytes), ==, PEOPLE);
		g_assert_cmpint(mailing->next, ==, -1);
		assert_rows(mailing->fixture,
		    "SELECT DISTINCT state, attempt FROM outbox", "SENT|1");
		g_assert_nonnull(strstr(mailing->script.envelopes->str,
		    "p7@example.org<bounce@example.org digest-8."));
	}
}

TEST(failed_relay_is_tried_with_one_message)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(30, 3);
	int64_t now = store_fixture_time(NOW);
	struct mailer_report report;
	g_autofree char *line = NULL;
	unsigned tried;

	mailing->script.answer = (struct delivery)RELAY(SMTP_STAGE_CONNECT);
	report = mailer_fixture_run_at(mailing, now, NULL);
	/* Only those in flight when the first result came. */
	g_assert_cmpuint(mailing->script.tried, <=, 6);
	g_assert_cmpuint(report.failed + report.sent, ==, 0);
	g_assert_cmpint(mailing->next, ==, now + 60);
	assert_rows(mailing->fixture, "SELECT max(attempt) FROM outbox", "0");
	assert_rows(mailing->fixture,
	    "SELECT count(*) FROM outbox"
	    " WHERE state IN ('NEW', 'DEFERRED')",
	    "30");
	line = mailer_format_relay(mailing->mailer);
	g_assert_nonnull(strstr(line, "made up"));

	tried = mailing->script.tried;
	mailer_fixture_run_at(mailing, now + 59, NULL);
	g_assert_cmpuint(mailing->script.tried, ==, tried);
	mailer_fixture_run_at(mailing, now + 60, NULL);
	g_assert_cmpuint(mailing->script.tried, ==, tried + 1);
	g_assert_cmpint(mailing->next, ==, now + 60 + 120);

	mailing->script.answer = (struct delivery){
	    .outcome = DELIVERY_SENT, .stage = SMTP_STAGE_DOT, .code = 250};
	report = mailer_fixture_run_at(mailing, mailing->next, NULL);
	g_assert_cmpuint(report.sent, ==, 30);
	g_assert_cmpint(mailing->next, ==, -1);
}

TEST(messages_accepted_before_a_relay_failure_are_not_repeated)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(40, 2);
	struct mailer_report report;

	mailing->script.fail_after = 10;
	mailing->script.later = (struct delivery)RELAY(SMTP_STAGE_CONNECT);
	report = mailer_fixture_run_at(mailing, store_fixture_time(NOW), NULL);
	g_assert_cmpuint(report.sent, ==, 10);
	assert_rows(
	    mailing->fixture, "SELECT count(*) FROM outbox WHERE state = 'SENT'", "10");
	mailing->script.fail_after = 0;
	report = mailer_fixture_run_at(mailing, store_fixture_time(NOW) + 60, NULL);
	g_assert_cmpuint(report.sent, ==, 30);
	g_assert_cmpuint(g_hash_table_size(mailing->script.bytes), ==, 40);
}

/* One subscriber is erased while the message is sent, one while it waits. */
TEST(erased_subscriber_does_not_block_others)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(40, 1);
	struct mailer_report report;

	mailing->script.path = mailing->fixture->path;
	report = mailer_fixture_run_at(mailing, store_fixture_time(NOW), NULL);
	g_assert_cmpuint(report.sent, ==, 39);
	g_assert_nonnull(strstr(mailing->script.envelopes->str, "p0@"));
	g_assert_null(strstr(mailing->script.envelopes->str, "p39@"));
	assert_rows(mailing->fixture,
	    "SELECT state, count(*) FROM outbox GROUP BY state", "SENT|38");
	g_assert_cmpint(mailing->next, ==, -1);
}

/* Another program's change, once, in the moment after a commit. */
struct late_change {
	const char *path;
	const char *sql; /* NULL: made */
};

static void
change_once(void *data)
{
	struct late_change *change = data;
	const char *sql = g_steal_pointer(&change->sql);
	g_autoptr(GError) error = NULL;
	pb_auto(store) store = NULL;
	struct store_fixture other = {0};

	if (!sql)
		return;
	other.store = store = store_open(change->path, &error);
	g_assert_no_error(error);
	store_fixture_run(&other, sql);
}

TEST(subscribers_who_left_after_the_claim_get_no_mail)
{
	pb_auto(mailer_fixture) sample = mailer_fixture_new(1, 1);
	g_autofree char *hash = suppression_hash(sample->key, "p0@example.org");
	g_autofree char *suppress = g_strdup_printf(
	    "INSERT INTO suppression (hash, reason, at) VALUES ('%s', 'complaint', 1)",
	    hash);
	const char *const changes[] = {suppress,
	    "UPDATE subscriber SET state = 'paused' WHERE address = 'p0@example.org'",
	    "DELETE FROM outbox WHERE id = 1"};

	for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
		pb_auto(mailer_fixture) mailing = mailer_fixture_new(3, 1);
		struct late_change change = {mailing->fixture->path, changes[i]};
		struct mailer_report report;

		store_set_commit_hook(mailing->fixture->store, change_once, &change);
		report = mailer_fixture_run_at(mailing, store_fixture_time(NOW), NULL);
		g_assert_null(change.sql);
		g_assert_cmpuint(report.sent, ==, 2);
		g_assert_cmpuint(report.cancelled, ==, 1);
		g_assert_null(strstr(mailing->script.envelopes->str, "p0@"));
		store_set_commit_hook(mailing->fixture->store, NULL, NULL);
	}
}

TEST(suppressed_address_gets_no_mail)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(3, 1);
	g_autofree char *hash = suppression_hash(mailing->key, "p1@example.org");
	struct mailer_report report;

	g_assert_true(suppression_insert(
	    mailing->fixture->store, hash, "operator", store_fixture_time(NOW), NULL));
	report = mailer_fixture_run_at(mailing, store_fixture_time(NOW), NULL);
	g_assert_cmpuint(report.sent, ==, 2);
	g_assert_cmpuint(report.cancelled, ==, 1);
	assert_rows(mailing->fixture,
	    "SELECT s.address FROM outbox o JOIN subscriber s ON s.id = o.subscriber_id"
	    " WHERE o.state = 'CANCELLED'",
	    "p1@example.org");
}

TEST(stop_returns_claimed_messages_unchanged)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(40, 1);
	int stop = 1;
	struct mailer_report report =
	    mailer_fixture_run_at(mailing, store_fixture_time(NOW), &stop);

	g_assert_cmpuint(mailing->script.tried, ==, 0);
	g_assert_cmpuint(report.sent, ==, 0);
	assert_rows(mailing->fixture,
	    "SELECT DISTINCT state, attempt, code, reply, cache_key FROM outbox",
	    "NEW|0|-|-|-");

	stop = 0;
	mailing->script.stop = &stop;
	mailing->script.stop_after = 5;
	report = mailer_fixture_run_at(mailing, store_fixture_time(NOW), &stop);
	g_assert_cmpuint(report.sent, >=, 5);
	g_assert_cmpuint(report.sent, <, 40);
	g_assert_cmpuint(report.sent, ==, mailing->script.tried);
	assert_rows(mailing->fixture,
	    "SELECT DISTINCT state, attempt, code, reply, cache_key FROM outbox"
	    " WHERE state <> 'SENT'",
	    "NEW|0|-|-|-");
	g_assert_cmpint(store_fixture_number(mailing->fixture,
	                    "SELECT count(*) FROM outbox WHERE state = 'SENT'"),
	    ==, report.sent);
	stop = 0;
	mailing->script.stop = NULL;
	mailer_fixture_run_at(mailing, store_fixture_time(NOW), &stop);
	g_assert_cmpuint(g_hash_table_size(mailing->script.bytes), ==, 40);
	g_assert_cmpuint(mailing->script.tried, ==, 40);
}

static void
reload(struct mailer_fixture *mailing, const char *envelope_from, bool is_other_relay)
{
	struct mailer_options options = mailer_fixture_options(mailing);

	options.envelope_from = envelope_from;
	g_assert_true(
	    NO_ERROR(mailer_reload(mailing->mailer, &options, is_other_relay, &error)));
}

TEST(pause_ends_a_run_and_the_next_uses_new_options)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(40, 2);
	struct mailer_report report;

	mailing->script.stop = &mailing->pause;
	mailing->script.stop_after = 5;
	report = mailer_fixture_run_at(mailing, store_fixture_time(NOW), NULL);
	g_assert_cmpuint(report.sent, >=, 5);
	g_assert_cmpuint(report.sent, <, 40);
	/* The rest is unchanged and due at once. */
	assert_rows(mailing->fixture,
	    "SELECT DISTINCT state, attempt, code, reply, cache_key FROM outbox"
	    " WHERE state <> 'SENT'",
	    "NEW|0|-|-|-");
	g_assert_cmpint(mailing->next, <=, store_fixture_time(NOW) + 1);
	g_assert_null(strstr(mailing->script.envelopes->str, "<other@example.org"));
	mailing->script.stop = NULL;
	mailing->pause = 0;
	g_string_assign(mailing->script.envelopes, "");
	reload(mailing, "other@example.org", false);
	/* The old connections are closed. */
	g_assert_cmpuint(mailing->script.closed, >=, 2);
	report = mailer_fixture_run_at(mailing, store_fixture_time(NOW), NULL);
	g_assert_cmpuint(mailing->script.tried, ==, 40);
	g_assert_cmpuint(g_hash_table_size(mailing->script.bytes), ==, 40);
	g_assert_null(strstr(mailing->script.envelopes->str, "<bounce@example.org"));
	assert_rows(
	    mailing->fixture, "SELECT DISTINCT state, attempt FROM outbox", "SENT|1");
}

TEST(unrecorded_results_survive_a_reload)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(12, 2);
	struct mailer_report report = {0};

	store_fixture_run(mailing->fixture,
	    "CREATE TRIGGER made_up BEFORE UPDATE ON outbox WHEN"
	    " NEW.state = 'SENT' BEGIN SELECT"
	    " RAISE(FAIL, 'made-up refusal'); END");
	g_assert_false(
	    mailer_run(mailing->mailer, NULL, &report, &mailing->next, NULL));
	g_assert_cmpuint(mailing->script.tried, >, 0);
	store_fixture_run(mailing->fixture, "DROP TRIGGER made_up");
	reload(mailing, "bounce@example.org", true);
	mailer_fixture_run_at(mailing, store_fixture_time(NOW) + 60, NULL);
	assert_rows(
	    mailing->fixture, "SELECT DISTINCT state, attempt FROM outbox", "SENT|1");
	g_assert_cmpuint(mailing->script.tried, ==, 12);
}

TEST(only_a_new_relay_is_tried_before_the_retry_time)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(3, 1);
	int64_t now = store_fixture_time(NOW);

	mailing->script.answer = (struct delivery)RELAY(SMTP_STAGE_CONNECT);
	mailer_fixture_run_at(mailing, now, NULL);
	g_assert_cmpuint(mailing->script.tried, ==, 1);
	/* A template was edited: same relay. */
	reload(mailing, "bounce@example.org", false);
	mailer_fixture_run_at(mailing, now + 1, NULL);
	g_assert_cmpuint(mailing->script.tried, ==, 1);
	mailing->script.answer = (struct delivery){
	    .outcome = DELIVERY_SENT, .stage = SMTP_STAGE_DOT, .code = 250};
	reload(mailing, "bounce@example.org", true);
	mailer_fixture_run_at(mailing, now + 1, NULL);
	g_assert_cmpuint(mailing->script.tried, ==, 4);
	assert_rows(
	    mailing->fixture, "SELECT DISTINCT state, attempt FROM outbox", "SENT|1");
}

TEST(removed_or_paused_subscriber_gets_no_mail)
{
	static const char *const states[] = {"paused", "suspended", "pending"};

	for (size_t i = 0; i < G_N_ELEMENTS(states); i++) {
		pb_auto(mailer_fixture) mailing = mailer_fixture_new(2, 1);
		g_autofree char *sql = g_strdup_printf(
		    "UPDATE subscriber SET state = '%s' WHERE id = 1", states[i]);
		struct mailer_report report;

		store_fixture_run(mailing->fixture, sql);
		report = mailer_fixture_run_at(mailing, store_fixture_time(NOW), NULL);
		g_assert_cmpuint(report.sent, ==, 1);
		g_assert_cmpuint(report.cancelled, ==, 1);
		g_assert_cmpuint(mailing->script.tried, ==, 1);
		assert_rows(mailing->fixture,
		    "SELECT state, attempt FROM outbox ORDER BY id",
		    "CANCELLED|0 SENT|1");
		assert_rows(mailing->fixture, "SELECT state FROM digest ORDER BY id",
		    "cancelled sent");
	}
}

TEST(invalid_digest_does_not_block_others)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(3, 1);
	struct mailer_report report;

	/* Only manual changes can produce such a row. */
	store_fixture_run(
	    mailing->fixture, "UPDATE digest SET date = 'never' WHERE id = 2");
	report = mailer_fixture_run_at(mailing, store_fixture_time(NOW), NULL);
	g_assert_cmpuint(report.sent, ==, 2);
	g_assert_cmpuint(report.failed, ==, 1);
	assert_rows(mailing->fixture,
	    "SELECT state, attempt, code, length(reply) > 5 FROM outbox WHERE id = 2",
	    "FAILED|1|-|1");
	assert_rows(
	    mailing->fixture, "SELECT state FROM digest WHERE id = 2", "failed");
}

TEST(message_in_flight_at_a_kill_is_repeated_unchanged)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(2, 1);

	mailer_fixture_run_at(mailing, store_fixture_time(NOW), NULL);
	g_assert_cmpuint(mailing->script.tried, ==, 2);
	mailer_free(g_steal_pointer(&mailing->mailer));
	/* As if the result of the first had never been recorded. */
	store_fixture_run(mailing->fixture,
	    "DELETE FROM delivered; DROP TRIGGER outbox_end_is_final;"
	    "DROP TRIGGER digest_end_is_final; UPDATE outbox SET state = 'SENDING',"
	    " ended_at = NULL WHERE id = 1; UPDATE digest SET state = 'live'"
	    " WHERE id = 1");
	mailer_fixture_open(mailing);
	assert_rows(mailing->fixture,
	    "SELECT state, attempt, possible_copies, crashes FROM outbox ORDER BY id",
	    "UNKNOWN|1|1|1 SENT|1|0|0");
	/* The wait of a second attempt. */
	mailer_fixture_run_at(mailing, store_fixture_time(NOW) + 59, NULL);
	g_assert_cmpuint(mailing->script.tried, ==, 2);
	mailer_fixture_run_at(mailing, store_fixture_time(NOW) + 66, NULL);
	g_assert_cmpuint(mailing->script.tried, ==, 3);
	/* deliver() has seen that the bytes are the same. */
	g_assert_cmpuint(g_hash_table_size(mailing->script.bytes), ==, 2);
	assert_rows(mailing->fixture, "SELECT state, attempt FROM outbox ORDER BY id",
	    "SENT|2 SENT|1");
}

/* The state after a kill: claimed, committed, no result. */
#define KILLED                                                                        \
	"UPDATE outbox SET state = 'SENDING', attempt = attempt + 1, claimed_at = 1," \
	" next_try_at = NULL WHERE ended_at IS NULL AND state <> 'HELD'"

static void
kill_and_open(struct mailer_fixture *mailing, int64_t now)
{
	g_clear_pointer(&mailing->mailer, mailer_free);
	store_fixture_run(mailing->fixture, KILLED);
	store_fixture_set_now(mailing->fixture, now);
	mailer_fixture_open(mailing);
}

TEST(each_crash_is_counted_and_increases_the_wait)
{
	static const struct {
		const char *row; /* state, copies, crashes, held_why */
		int64_t wait_s;  /* -1: not tried again */
	} rows[] = {
	    {"UNKNOWN|1|1|-", 60},
	    {"UNKNOWN|2|2|-", 5 * 60},
	    {"UNKNOWN|3|3|-", 15 * 60},
	    {"UNKNOWN|4|4|-", 30 * 60},
	    {"HELD|5|5|crash", -1},
	    {"HELD|5|5|crash", -1},
	};
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(1, 1);
	/* Long after it would have expired, had the relay deferred it. */
	int64_t now = store_fixture_time(NOW) + 2 * GIVE_UP_S;

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		int64_t next_at;

		kill_and_open(mailing, now);
		assert_rows(mailing->fixture,
		    "SELECT state, possible_copies, crashes, held_why FROM outbox",
		    rows[i].row);
		next_at = store_fixture_number(
		    mailing->fixture, "SELECT coalesce(next_try_at, -1) FROM outbox");
		if (rows[i].wait_s < 0) {
			g_assert_cmpint(next_at, ==, -1);
			continue;
		}
		g_assert_cmpint(next_at, >=, now + rows[i].wait_s);
		g_assert_cmpint(next_at, <=, now + rows[i].wait_s * 11 / 10);
		now = next_at;
	}
	assert_rows(mailing->fixture, "SELECT count(*) FROM delivered_paper", "0");
	/* After release it is sent once more; a crash holds it again. */
	store_fixture_run(mailing->fixture,
	    "UPDATE outbox SET state = held_from, held_from = NULL, held_why = NULL,"
	    " next_try_at = 1");
	kill_and_open(mailing, now);
	assert_rows(mailing->fixture,
	    "SELECT state, possible_copies, crashes, held_why FROM outbox",
	    "HELD|6|6|crash");
}

TEST(five_possible_copies_count_as_delivered)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(1, 1);
	int64_t now = store_fixture_time(NOW);

	/* Killed once, then cut after the final dot each time; deferrals do not count.
	 */
	kill_and_open(mailing, now);
	mailing->script.answer = (struct delivery){
	    .outcome = DELIVERY_DEFERRED, .stage = SMTP_STAGE_RCPT, .code = 450};
	for (unsigned i = 0; i < 3; i++)
		mailer_fixture_run_at(mailing, now += CLOCK_HOUR_S, NULL);
	assert_rows(mailing->fixture,
	    "SELECT state, attempt, possible_copies FROM outbox", "UNKNOWN|4|1");
	mailing->script.answer =
	    (struct delivery){.outcome = DELIVERY_UNKNOWN, .stage = SMTP_STAGE_DOT};
	for (unsigned i = 0; i < 4; i++)
		mailer_fixture_run_at(mailing, now += CLOCK_HOUR_S, NULL);
	assert_rows(mailing->fixture,
	    "SELECT state, possible_copies, crashes, ended_at IS NULL FROM outbox",
	    "UNKNOWN|5|1|0");
	g_assert_cmpint(mailing->next, ==, -1);
	assert_rows(mailing->fixture, "SELECT state FROM digest", "sent");
	assert_rows(mailing->fixture, "SELECT count(*) FROM delivered_paper", "2");
}

TEST(message_with_two_crashes_is_sent_alone)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(40, 4);
	struct mailer_report report;

	store_fixture_run(mailing->fixture,
	    "UPDATE outbox SET possible_copies = 2, crashes = 2"
	    " WHERE id IN (3, 20, 40)");
	mailing->script.path_in_flight = mailing->fixture->path;
	mailing->script.alone = "p19@example.org";
	report = mailer_fixture_run_at(mailing, store_fixture_time(NOW), NULL);
	g_assert_cmpuint(report.sent, ==, 40);
	g_assert_cmpuint(mailing->script.most_sending, >, 4);
	g_assert_cmpuint(mailing->script.sending_with_alone, ==, 1);
}

TEST(crash_leaves_few_messages_in_flight)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(60, 2);

	mailing->script.path_in_flight = mailing->fixture->path;
	mailer_fixture_run_at(mailing, store_fixture_time(NOW), NULL);
	g_assert_cmpuint(mailing->script.most_sending, >, 2);
	g_assert_cmpuint(mailing->script.most_sending, <=, MAILER_IN_FLIGHT_MAX(2));
}

TEST(store_failure_neither_loses_nor_repeats_messages)
{
	enum { PEOPLE = 12 };
	unsigned failures = 0, runs = 0, least = 0;

	for (int nth = 1; nth < 40000; nth += nth < 300 ? 9 : nth / 8) {
		pb_auto(mailer_fixture) mailing = mailer_fixture_new(PEOPLE, 2);
		struct mailer_report report = {0};
		bool is_ok;

		store_fixture_interrupt_at(mailing->fixture, nth);
		is_ok =
		    mailer_run(mailing->mailer, NULL, &report, &mailing->next, NULL);
		store_fixture_interrupt_at(mailing->fixture, 0);
		store_fixture_assert_idle(mailing->fixture);
		runs++;
		failures += !is_ok;
		least = store_fixture_get_least(mailing->fixture, 10);
		mailer_fixture_run_at(mailing, store_fixture_time(NOW) + 60, NULL);
		assert_rows(mailing->fixture,
		    "SELECT DISTINCT state, attempt FROM outbox", "SENT|1");
		g_assert_cmpuint(mailing->script.tried, ==, PEOPLE);
	}
	g_assert_cmpuint(failures, >=, least);
	g_assert_cmpuint(failures, <, runs);
}

TEST(rejected_results_do_not_block_others)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(3, 1);
	struct mailer_report report = {0};

	store_fixture_run(mailing->fixture,
	    "CREATE TRIGGER made_up BEFORE UPDATE ON outbox WHEN"
	    " NEW.state = 'SENT' AND NEW.id = 2 BEGIN SELECT"
	    " RAISE(ABORT, 'made-up refusal'); END");
	FAILS(PB_ERROR_INPUT,
	    mailer_run(mailing->mailer, NULL, &report, &mailing->next, &error));
	store_fixture_run(mailing->fixture, "DROP TRIGGER made_up");
	store_fixture_run(mailing->fixture,
	    "CREATE TRIGGER made_up BEFORE UPDATE ON outbox WHEN"
	    " NEW.state = 'SENT' AND NEW.id = 2 AND OLD.attempt = 1"
	    " BEGIN SELECT RAISE(ABORT, 'made-up refusal'); END");
	mailer_fixture_run_at(mailing, store_fixture_time(NOW) + 60, NULL);
	/* It may have arrived, and is sent again with the same bytes. */
	assert_rows(mailing->fixture,
	    "SELECT state, possible_copies, crashes FROM outbox WHERE id = 2",
	    "UNKNOWN|1|0");
	mailer_fixture_run_at(mailing, store_fixture_time(NOW) + 180, NULL);
	assert_rows(mailing->fixture, "SELECT DISTINCT state FROM outbox", "SENT");
	g_assert_cmpuint(g_hash_table_size(mailing->script.bytes), ==, 3);
}

/* A paper as the source reports it later. @param later  0: as it was listed first */
static void
list_paper(struct store_fixture *fixture, const char *title, unsigned later)
{
	struct paper *paper =
	    store_fixture_paper("2611.00003", title, "We propose a model.");

	paper->summary = g_strdup(later ? "Another sentence." : "A sentence.");
	paper->code_url = g_strdup("https://example.org/code");
	paper->video_url =
	    g_strdup(later ? "https://example.org/new" : "https://example.org/video");
	paper->upvotes = 10 + later;
	paper->stars = 20 + later;
	store_fixture_save(
	    fixture, "made-up", "2026-11-20", store_fixture_time(NOW) + later, paper);
}

static void
change_settings(struct mailer_fixture *mailing, const char *address)
{
	const struct profile_change change = {.language = "de",
	    .words = {[PREFERENCE_ABSTRACT] = "none", [PREFERENCE_GROUP] = "on"},
	    .who = "test"};
	struct store *store = mailing->fixture->store;
	int64_t now = clock_get_now(&mailing->fixture->clock);
	pb_auto(subscriber) changed =
	    NO_ERROR(profile_set(store, address, &change, now, &error));

	NO_ERROR(filters_rename(store, address, 1, "Renamed", "test", now, &error));
}

/* As by arXiv, with all that attached files show. */
static void
enrich_paper(struct mailer_fixture *mailing)
{
	store_fixture_enrich(mailing->fixture, "2611.00003", "cs.CL cs.LG",
	    store_fixture_time(NOW) + 120);
	store_fixture_run(mailing->fixture, "UPDATE paper SET journal = 'A Journal' || "
	                                    "char(10) || 'A. J.', doi = '10.1000/1',"
	                                    " published_at = 1, keywords = 'one'");
}

/* Papers, filters and settings have changed, and the mailer has no memory of them. */
static void
check_changes_after_the_first_attempt(const char *attach)
{
	const struct profile_change change = {
	    .words = {[PREFERENCE_ATTACH] = attach}, .who = "test"};
	pb_auto(subscriber) changed = NULL;
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(1, 1);
	pb_auto(store) other = store_fixture_open(mailing->fixture);
	struct store_fixture collector = *mailing->fixture;
	int64_t now = store_fixture_time(NOW);

	collector.store = other;
	/* Composed for one, the paper is in the cache when it changes for others. */
	list_paper(&collector, "Diffusion first", 0);
	store_fixture_subscribe(
	    mailing->fixture, "q0@example.org", "UTC", "first", now);
	assert_digests(mailing->fixture, now, 1);
	mailer_fixture_run_at(mailing, now, NULL);
	list_paper(&collector, "Diffusion first", 60);
	store_fixture_subscribe(
	    mailing->fixture, "q1@example.org", "UTC", "first", now + 60);
	changed = profile_set(
	    mailing->fixture->store, "q1@example.org", &change, now + 60, NULL);
	g_assert_nonnull(changed);
	assert_digests(mailing->fixture, now + 60, 1);
	mailing->script.answer = (struct delivery){
	    .outcome = DELIVERY_DEFERRED, .stage = SMTP_STAGE_RCPT, .code = 450};
	mailer_fixture_run_at(mailing, now + 60, NULL);
	g_assert_cmpuint(g_hash_table_size(mailing->script.bytes), ==, 3);

	list_paper(&collector, "Diffusion second", 120);
	enrich_paper(mailing);
	change_settings(mailing, "q1@example.org");
	mailer_free(mailing->mailer);
	renderer_free(mailing->renderer);
	mailing->renderer = render_sample_new_renderer();
	mailer_fixture_open(mailing);
	mailer_fixture_run_at(mailing, mailing->next, NULL);
	assert_rows(mailing->fixture, "SELECT max(attempt) FROM outbox", "2");
	g_assert_cmpuint(g_hash_table_size(mailing->script.bytes), ==, 3);
}

TEST(changes_after_the_first_attempt_do_not_change_a_message)
{
	check_changes_after_the_first_attempt("none");
	check_changes_after_the_first_attempt("bibtex");
	check_changes_after_the_first_attempt("ris");
	check_changes_after_the_first_attempt("markdown");
}

TEST(held_message_waits_for_the_operator)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(1, 1);

	store_fixture_run(
	    mailing->fixture, "UPDATE outbox SET state = 'HELD', next_try_at = NULL");
	mailer_fixture_run_at(mailing, store_fixture_time(NOW), NULL);
	g_assert_cmpuint(mailing->script.tried, ==, 0);
	g_assert_cmpint(mailing->next, ==, -1);
}

UNIT_MAIN_WITH_WARNINGS
