/*
 * test_token_bucket.c - rate limits, paused domains, and an outage of the relay.
 */
#include "transport/token_bucket.h"

#include <string.h>

#include "base/bounds.h"
#include "lib/mailer_fixture.h"
#include "lib/unit.h"
#include "service/delivery/domain_throttle.h"
#include "service/delivery/relay_state.h"

#define HOUR CLOCK_HOUR_S

/* ---- token bucket -------------------------------------------------------------- */

TEST(no_window_exceeds_the_limit)
{
	static const struct {
		unsigned most;
		int64_t window_s;
	} rows[] = {{1, HOUR}, {2, HOUR}, {7, HOUR}, {59, HOUR}, {60, HOUR},
	    {100, HOUR}, {3600, HOUR}, {10000, HOUR}, {1, 1}, {10, 1}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree unsigned *sent = g_new0(unsigned, 5 * HOUR);
		unsigned in_window = 0, total = 0;
		struct token_bucket token_bucket;

		token_bucket_init(&token_bucket, rows[i].most, rows[i].window_s);
		for (int64_t t = 0; t < 5 * HOUR; t++) {
			int64_t now = 1000000 + t;

			while (token_bucket_get_available(&token_bucket, now, 1)) {
				g_assert_cmpint(
				    token_bucket_get_next(&token_bucket, now), ==, now);
				token_bucket_take(&token_bucket, now);
				sent[t]++;
			}
			g_assert_cmpint(
			    token_bucket_get_next(&token_bucket, now), >, now);
			in_window += sent[t];
			total += sent[t];
			if (t >= rows[i].window_s)
				in_window -= sent[t - rows[i].window_s];
			g_assert_cmpuint(in_window, <=, rows[i].most);
		}
		/* Nor much fewer: the burst is deducted from the rest. */
		g_assert_cmpuint(total, >=,
		    MAX(rows[i].most - rows[i].most / 60 - 1, 1) *
		        (5 * HOUR / rows[i].window_s) * 9 / 10);
	}
}

TEST(zero_is_unlimited_and_clock_errors_recover)
{
	struct token_bucket token_bucket;

	token_bucket_init(&token_bucket, 0, HOUR);
	token_bucket_take(&token_bucket, 5);
	g_assert_cmpuint(token_bucket_get_available(&token_bucket, 5, 1000), ==, 1000);
	g_assert_cmpint(token_bucket_get_next(&token_bucket, 5), ==, 5);
	token_bucket_init(&token_bucket, 2, HOUR);
	for (int i = 0; i < 3; i++)
		token_bucket_take(&token_bucket, 1000000000);
	g_assert_cmpuint(token_bucket_get_available(&token_bucket, 5, 1), ==, 1);
}

/* ---- domains ------------------------------------------------------------------ */

static const struct delivery policy = {.outcome = DELIVERY_DEFERRED,
    .stage = SMTP_STAGE_RCPT,
    .code = 550,
    .enhanced = "5.7.26",
    .is_policy = true};
static const struct delivery taken = {
    .outcome = DELIVERY_SENT, .stage = SMTP_STAGE_DOT, .code = 250};
static const struct delivery unknown_user = {
    .outcome = DELIVERY_FAILED, .stage = SMTP_STAGE_RCPT, .code = 550};

static unsigned
count_paused(const struct domain_throttle *domains, int64_t now)
{
	const char *name;

	return domain_throttle_count_paused(domains, now, &name);
}

TEST(domain_is_paused_after_refusals_and_probed)
{
	pb_auto(domain_throttle) domains = domain_throttle_new(0);
	int64_t now = 1000000, next = 0;
	const char *name;

	/* 19 refusals are too few, and 20 of 500 messages too small a share. */
	for (int i = 0; i < DOMAIN_THROTTLE_REFUSALS - 1; i++)
		domain_throttle_report(domains, "a@big.example", &policy, now);
	g_assert_cmpuint(count_paused(domains, now), ==, 0);
	for (int i = 0; i < 480; i++)
		domain_throttle_report(domains, "a@big.example", &unknown_user, now);
	for (int i = 0; i < 6; i++)
		domain_throttle_report(domains, "b@BIG.example", &policy, now);
	g_assert_cmpuint(count_paused(domains, now), ==, 0);
	domain_throttle_report(domains, "b@BIG.example", &policy, now);
	g_assert_false(domain_throttle_allow(domains, "c@big.example", now, &next));
	g_assert_cmpint(next, ==, now + DOMAIN_THROTTLE_PAUSE_S);
	g_assert_true(domain_throttle_allow(domains, "c@other.example", now, &next));
	g_assert_cmpuint(domain_throttle_count_paused(domains, now, &name), ==, 1);
	g_assert_cmpstr(name, ==, "big.example");
	/* Then one probe; its result decides for the others. */
	for (int64_t hours = 2; hours <= 32; hours *= 2) {
		now = next;
		g_assert_true(
		    domain_throttle_allow(domains, "c@big.example", now, &next));
		g_assert_false(
		    domain_throttle_allow(domains, "d@big.example", now, &next));
		domain_throttle_report(domains, "c@big.example", &policy, now);
		g_assert_false(
		    domain_throttle_allow(domains, "d@big.example", now, &next));
		g_assert_cmpint(next - now, ==,
		    MIN(hours * DOMAIN_THROTTLE_PAUSE_S, DOMAIN_THROTTLE_PAUSE_MAX_S));
	}
	now = next;
	g_assert_true(domain_throttle_allow(domains, "c@big.example", now, &next));
	domain_throttle_report(domains, "c@big.example", &taken, now);
	g_assert_true(domain_throttle_allow(domains, "d@big.example", now, &next));
	g_assert_cmpuint(count_paused(domains, now), ==, 0);
}

TEST(domain_paused_by_reports_waits_for_a_report_about_the_trial)
{
	pb_auto(domain_throttle) domains = domain_throttle_new(0);
	int64_t now = 1000000, next = 0;
	struct domain_pause pause = {"big.example", now, now + 3600, "", ""};

	domain_throttle_set_pause(domains, &pause, now);
	g_assert_false(domain_throttle_allow(domains, "a@big.example", now, &next));
	now += 3600;
	g_assert_true(domain_throttle_allow(domains, "a@big.example", now, &next));
	domain_throttle_report(domains, "a@big.example", &taken, now);
	g_assert_false(domain_throttle_allow(domains, "b@big.example", now, &next));
	now += DOMAIN_THROTTLE_REPORT_S;
	g_assert_true(domain_throttle_allow(domains, "b@big.example", now, &next));
	domain_throttle_report(domains, "b@big.example", &taken, now);
	g_assert_true(domain_throttle_allow(domains, "b@big.example", now, &next));
	/* A second report instead extends the pause. */
	pause.since = now;
	pause.until = now + 3600;
	domain_throttle_set_pause(domains, &pause, now);
	now += 3600;
	g_assert_true(domain_throttle_allow(domains, "a@big.example", now, &next));
	domain_throttle_report(domains, "a@big.example", &taken, now);
	pause.until = now + 7200;
	domain_throttle_set_pause(domains, &pause, now);
	g_assert_false(
	    domain_throttle_allow(domains, "b@big.example", now + 7000, &next));
}

TEST(deferred_messages_of_a_domain_are_spaced)
{
	pb_auto(domain_throttle) domains = domain_throttle_new(120);
	int64_t now = 1000000, last = now, next = 0;

	g_assert_true(domain_throttle_allow(domains, "a@big.example", now, &next));
	g_assert_true(domain_throttle_allow(domains, "a@big.example", now, &next));
	for (int i = 0; i < 500; i++) {
		g_assert_false(
		    domain_throttle_allow(domains, "a@big.example", now, &next));
		g_assert_cmpint(next, >=, last + (i ? 30 : 1));
		g_assert_cmpint(next, <=, last + 31);
		last = next;
	}
}

TEST(messages_of_a_claim_that_failed_are_not_counted)
{
	pb_auto(domain_throttle) domains = domain_throttle_new(60);
	int64_t now = 1000000, first = 0, again = 0, later = 0;

	g_assert_true(domain_throttle_allow(domains, "a@big.example", now, &first));
	domain_throttle_commit(domains);
	g_assert_false(domain_throttle_allow(domains, "b@BIG.example", now, &first));
	g_assert_true(domain_throttle_allow(domains, "b@other.example", now, &later));
	domain_throttle_undo(domains);
	g_assert_false(domain_throttle_allow(domains, "b@big.example", now, &again));
	g_assert_cmpint(again, ==, first);
	g_assert_true(domain_throttle_allow(domains, "b@other.example", now, &later));
	domain_throttle_commit(domains);
	domain_throttle_undo(domains);
	g_assert_false(domain_throttle_allow(domains, "c@big.example", now, &later));
	g_assert_cmpint(later, >, first);
}

TEST(number_of_domains_is_limited)
{
	pb_auto(domain_throttle) domains = domain_throttle_new(1);
	int64_t next;

	for (int i = 0; i <= BOUNDS_DOMAINS; i++) {
		g_autofree char *address = g_strdup_printf("a@d%d.example", i);

		g_assert_true(domain_throttle_allow(domains, address, 1000000, &next));
		/* One beyond the limit is not tracked and not delayed. */
		g_assert_true(domain_throttle_allow(domains, address, 1000000, &next) ==
		              (i == BOUNDS_DOMAINS));
	}
	/* After an hour all of them have expired. */
	g_assert_true(domain_throttle_allow(domains, "a@new.example", 1003700, &next));
	g_assert_false(domain_throttle_allow(domains, "a@new.example", 1003700, &next));
}

/* ---- mailer -------------------------------------------------------------------- */

static void
set_limits(struct mailer_fixture *mailing, unsigned per_second, unsigned per_hour,
    unsigned domain_per_hour)
{
	struct mailer_options options = mailer_fixture_options(mailing);

	options.per_second = per_second;
	options.per_hour = per_hour;
	options.domain_per_hour = domain_per_hour;
	NO_ERROR(mailer_reload(mailing->mailer, &options, false, &error));
}

/* @return time until the queue was empty, s */
static int64_t
drain(struct mailer_fixture *mailing, int64_t from, unsigned most_at_once)
{
	int64_t now = from;

	do {
		unsigned before = mailing->script.tried;

		mailer_fixture_run_at(mailing, now, NULL);
		g_assert_cmpuint(mailing->script.tried - before, <=, most_at_once);
		if (mailing->next < 0)
			return now - from;
		g_assert_cmpint(mailing->next, >, now);
		now = mailing->next;
	} while (now - from < 48 * HOUR);
	g_assert_not_reached();
}

TEST(rate_limits_hold_and_all_are_sent_once)
{
	static const struct {
		unsigned per_second, per_hour, domain_per_hour, at_once;
		int64_t least_s, most_s;
	} rows[] = {
	    {4, 0, 0, 4, 29, 31},
	    {0, 60, 0, 1, 119 * 60, 124 * 60},
	    {0, 600, 0, 10, 600, 720},
	    {0, 0, 60, 1, 119 * 60, 126 * 60},
	    {3, 600, 120, 2, 58 * 60, 62 * 60},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(mailer_fixture) mailing = mailer_fixture_new(120, 4);
		int64_t took_s;

		set_limits(mailing, rows[i].per_second, rows[i].per_hour,
		    rows[i].domain_per_hour);
		took_s = drain(mailing, store_fixture_time(NOW), rows[i].at_once);
		g_assert_cmpint(took_s, >=, rows[i].least_s);
		g_assert_cmpint(took_s, <=, rows[i].most_s);
		g_assert_cmpuint(mailing->script.tried, ==, 120);
		assert_rows(mailing->fixture,
		    "SELECT state, count(*), max(attempt) FROM outbox GROUP BY 1",
		    "SENT|120|1");
	}
}

TEST(domain_policy_pauses_it_and_no_row_is_lost)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(200, 4);
	g_autofree char *relay = NULL;

	store_fixture_run(mailing->fixture,
	    "UPDATE subscriber SET address = 'p' || id || "
	    "'@small.example' WHERE id > 150");
	mailing->script.answer = policy;
	mailing->script.domain = "example.org"; /* the others are accepted */
	mailer_fixture_run_at(mailing, store_fixture_time(NOW), NULL);
	/* In progress at the fifth rejection. */
	g_assert_cmpuint(mailing->script.tried, <=,
	    50 + DOMAIN_THROTTLE_REFUSALS + MAILER_IN_FLIGHT_MAX(4));
	assert_rows(
	    mailing->fixture, "SELECT count(*) FROM outbox WHERE state = 'SENT'", "50");
	assert_rows(mailing->fixture,
	    "SELECT count(*) FROM outbox WHERE state IN ('FAILED', 'CANCELLED')", "0");
	assert_rows(mailing->fixture,
	    "SELECT count(*) FROM subscriber WHERE state = 'active'", "200");
	relay = mailer_format_relay(mailing->mailer);
	g_assert_nonnull(
	    strstr(relay, "accepts mail; paused after policy rejections: example.org"));
	/* Repaired: one probe, then all. */
	mailing->script.answer = taken;
	drain(mailing, mailing->next, 200);
	assert_rows(mailing->fixture, "SELECT state, count(*) FROM outbox GROUP BY 1",
	    "SENT|200");
}

/* Expected log lines; others are not checked. */
static GLogWriterOutput
count_line(GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
	(void)fields, (void)n_fields;
	if (level <= G_LOG_LEVEL_MESSAGE)
		++*(unsigned *)data;
	return G_LOG_WRITER_HANDLED;
}

TEST(after_an_outage_all_are_sent_once_at_the_limit)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(300, 8);
	int64_t now = store_fixture_time(NOW), back = now + 6 * HOUR;
	static unsigned lines;
	unsigned knocks;

	g_log_set_writer_func(count_line, &lines, NULL);
	set_limits(mailing, 5, 0, 0);
	mailing->script.answer = (struct delivery){.outcome = DELIVERY_DEFERRED,
	    .scope = DELIVERY_SCOPE_RELAY,
	    .stage = SMTP_STAGE_CONNECT};
	while (now < back) {
		unsigned before = mailing->script.tried;

		mailer_fixture_run_at(mailing, now, NULL);
		/* Trials of one message. */
		g_assert_cmpuint(mailing->script.tried - before, <=, 1);
		g_assert_cmpint(mailing->next, >=, now + BREAKER_WAIT_S);
		now = mailing->next;
	}
	knocks = mailing->script.tried;
	g_assert_cmpuint(lines, <=, 20);
	/* 1, 2, 4, 8, 16 minutes, then every 30 minutes. */
	g_assert_cmpuint(knocks, >=, 15);
	g_assert_cmpuint(knocks, <=, 18);
	assert_rows(mailing->fixture, "SELECT max(attempt) FROM outbox", "0");
	g_assert_cmpint(now, <=, back + BREAKER_WAIT_MAX_S);
	mailing->script.answer = taken;
	g_assert_cmpint(drain(mailing, now, 5), >=, 300 / 5 - 2);
	g_assert_cmpuint(mailing->script.tried, ==, knocks + 300);
	assert_rows(mailing->fixture,
	    "SELECT state, count(*), max(attempt) FROM outbox GROUP BY 1",
	    "SENT|300|1");
	assert_rows(mailing->fixture, "SELECT count(*) FROM delivered_paper", "600");
}

UNIT_MAIN_WITH_WARNINGS
