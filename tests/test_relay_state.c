/*
 * test_relay_state.c - circuit breaker of a relay.
 */
#include <string.h>

#include "lib/unit.h"
#include "service/delivery/relay_state.h"

static void
report(struct relay_state *relay, enum delivery_outcome outcome,
    enum delivery_scope scope, enum smtp_stage stage, int64_t now)
{
	struct delivery delivery = {.outcome = outcome,
	    .scope = scope,
	    .stage = stage,
	    .text = (char *)"421 busy"};

	relay_state_report(relay, "a@example.org", &delivery, now);
}

#define DOWN(relay, now) \
	report(relay, DELIVERY_DEFERRED, DELIVERY_SCOPE_RELAY, SMTP_STAGE_CONNECT, now)
#define BUSY(relay, now) \
	report(relay, DELIVERY_DEFERRED, DELIVERY_SCOPE_RELAY, SMTP_STAGE_MAIL, now)
#define LOCKED(relay, now) \
	report(relay, DELIVERY_DEFERRED, DELIVERY_SCOPE_LOGIN, SMTP_STAGE_AUTH, now)
#define SENT(relay, now) \
	report(relay, DELIVERY_SENT, DELIVERY_SCOPE_MESSAGE, SMTP_STAGE_DOT, now)

TEST(failed_connect_opens_it_at_once)
{
	static const enum smtp_stage stages[] = {
	    SMTP_STAGE_CONNECT, SMTP_STAGE_EHLO, SMTP_STAGE_STARTTLS, SMTP_STAGE_AUTH};

	for (size_t i = 0; i < G_N_ELEMENTS(stages); i++) {
		struct relay_state relay = {0};

		g_assert_true(relay_state_allow(&relay, 1000));
		report(
		    &relay, DELIVERY_DEFERRED, DELIVERY_SCOPE_RELAY, stages[i], 1000);
		g_assert_false(relay_state_allow(&relay, 1000));
		g_assert_false(relay_state_allow(&relay, 1059));
		g_assert_true(relay_state_allow(&relay, 1060));
	}
}

TEST(five_consecutive_failures_open_it)
{
	struct relay_state relay = {0};

	for (int i = 0; i < BREAKER_FAILURES - 1; i++)
		BUSY(&relay, 1000);
	g_assert_true(relay_state_allow(&relay, 1000));
	SENT(&relay, 1000);
	for (int i = 0; i < BREAKER_FAILURES - 1; i++)
		report(&relay, DELIVERY_UNKNOWN, DELIVERY_SCOPE_RELAY, SMTP_STAGE_DOT,
		    1000);
	g_assert_true(relay_state_allow(&relay, 1000));
	BUSY(&relay, 1000);
	g_assert_false(relay_state_allow(&relay, 1000));
}

TEST(failed_trial_doubles_the_wait_up_to_half_an_hour)
{
	static const int64_t waits_s[] = {60, 120, 240, 480, 960, 1800, 1800};
	struct relay_state relay = {0};
	int64_t now = 1000;

	DOWN(&relay, now);
	for (size_t i = 0; i < G_N_ELEMENTS(waits_s); i++) {
		g_assert_false(relay_state_allow(&relay, now + waits_s[i] - 1));
		now += waits_s[i];
		g_assert_true(relay_state_allow(&relay, now));
		g_assert_false(relay_state_allow(&relay, now));
		DOWN(&relay, now);
	}
}

TEST(only_one_trial_at_a_time)
{
	struct relay_state relay = {0};

	DOWN(&relay, 1000);
	g_assert_true(relay_state_allow(&relay, 2000));
	g_assert_false(relay_state_allow(&relay, 2000));
	g_assert_false(relay_state_allow(&relay, 2059));
	g_assert_true(relay_state_allow(&relay, 2060));
}

TEST(earlier_deliveries_count_once)
{
	struct relay_state relay = {0};

	for (int i = 0; i < 32; i++)
		DOWN(&relay, 1000 + i);
	g_assert_false(relay_state_allow(&relay, 1059));
	g_assert_true(relay_state_allow(&relay, 1060));
}

TEST(any_reply_about_a_message_closes_it)
{
	static const enum delivery_outcome outcomes[] = {
	    DELIVERY_SENT, DELIVERY_DEFERRED, DELIVERY_FAILED};

	for (size_t i = 0; i < G_N_ELEMENTS(outcomes); i++) {
		struct relay_state relay = {0};

		DOWN(&relay, 1000);
		g_assert_true(relay_state_allow(&relay, 1060));
		report(
		    &relay, outcomes[i], DELIVERY_SCOPE_MESSAGE, SMTP_STAGE_RCPT, 1061);
		g_assert_true(relay_state_allow(&relay, 1061));
		g_assert_true(relay_state_allow(&relay, 1061));
		DOWN(&relay, 1062);
		g_assert_true(relay_state_allow(&relay, 1122));
	}
}

TEST(invalid_message_does_not_count)
{
	struct relay_state relay = {0};

	DOWN(&relay, 1000);
	report(&relay, DELIVERY_FAILED, DELIVERY_SCOPE_MESSAGE, SMTP_STAGE_NONE, 1001);
	g_assert_false(relay_state_allow(&relay, 1002));
}

TEST(failed_login_waits_longest_and_is_flagged)
{
	struct relay_state relay = {0};

	LOCKED(&relay, 1000);
	g_assert_true(relay.is_login);
	SENT(&relay, 1001);
	g_assert_false(relay_state_allow(&relay, 1000 + BREAKER_WAIT_MAX_S - 1));
	g_assert_true(relay_state_allow(&relay, 1000 + BREAKER_WAIT_MAX_S));
	SENT(&relay, 4000);
	g_assert_false(relay.is_login);
	g_assert_true(relay_state_allow(&relay, 4000));

	DOWN(&relay, 5000);
	LOCKED(&relay, 5001);
	g_assert_true(relay.is_login);
	g_assert_false(relay_state_allow(&relay, 5000 + BREAKER_WAIT_MAX_S));
	relay_state_reset(&relay);
	g_assert_true(relay_state_allow(&relay, 5002));
}

TEST(status_is_one_line)
{
	struct relay_state relay = {0};
	char *line;

#define ASSERT_LINE(now, wanted)                \
	line = relay_state_format(&relay, now); \
	g_assert_cmpstr(line, ==, wanted);      \
	g_free(line)
	ASSERT_LINE(1000, "not tried yet");
	BUSY(&relay, 1000);
	ASSERT_LINE(1000, "fails now and then, 1 in a row: 421 busy");
	DOWN(&relay, 1000);
	ASSERT_LINE(1010, "does not accept mail, next attempt in 50 s: 421 busy");
	ASSERT_LINE(2000, "does not accept mail, next attempt in 0 s: 421 busy");
	g_assert_true(relay_state_allow(&relay, 2000));
	ASSERT_LINE(2000, "does not accept mail, attempt in progress: 421 busy");
	LOCKED(&relay, 2000);
	ASSERT_LINE(2000, "rejects our login (smtp.user), next attempt in 1800 s: "
	                  "421 busy");
	g_assert_true(relay_state_allow(&relay, 4000));
	SENT(&relay, 4000);
	ASSERT_LINE(4000, "accepts mail");
}

TEST(long_text_is_cut_at_a_character)
{
	g_autoptr(GString) text = g_string_new("x");
	struct delivery delivery = {
	    .outcome = DELIVERY_DEFERRED, .scope = DELIVERY_SCOPE_RELAY};
	struct relay_state relay = {0};

	while (text->len < 400)
		g_string_append(text, "\xe2\x82\xac");
	delivery.text = text->str;
	relay_state_reset(&relay);
	relay_state_report(&relay, "a@example.org", &delivery, 1);
	g_assert_true(g_utf8_validate(relay.text, -1, NULL));
	g_assert_cmpuint(strlen(relay.text), >, sizeof(relay.text) - 5);
}

UNIT_MAIN_WITH_WARNINGS
