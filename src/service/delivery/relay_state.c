/*
 * relay_state.c - whether the relay accepts mail: its circuit breaker, and events.
 */
#include "service/delivery/relay_state.h"

#include <limits.h>
#include <string.h>

#include "service/log/event.h"

static void
close_breaker(struct relay_state *relay)
{
	relay->breaker = BREAKER_CLOSED;
	relay->is_login = false;
	relay->failures = 0;
	relay->wait_s = relay->opened_at = relay->retry_at = 0;
	relay->text[0] = '\0';
}

void
relay_state_reset(struct relay_state *relay)
{
	close_breaker(relay);
	relay->is_used = relay->is_proven = false;
}

void
relay_state_clear(struct relay_state *relay)
{
	g_clear_pointer(&relay->policy_domain, g_free);
}

unsigned
relay_state_get_limit(const struct relay_state *relay, int64_t now)
{
	if (relay->breaker == BREAKER_CLOSED)
		return UINT_MAX;
	/* A wait above the maximum: the clock was wrong when it began. */
	return now >= relay->retry_at || relay->retry_at > now + BREAKER_WAIT_MAX_S ? 1
	                                                                            : 0;
}

bool
relay_state_allow(struct relay_state *relay, int64_t now)
{
	if (relay->breaker == BREAKER_CLOSED)
		return true;
	if (now < relay->retry_at)
		return false;
	relay->breaker = BREAKER_HALF_OPEN;
	relay->retry_at = now + relay->wait_s;
	return true;
}

/* Consecutive policy rejections for several domains are the relay's own policy. */
static bool
is_relay_policy(
    struct relay_state *relay, const char *recipient, const struct delivery *delivery)
{
	const char *at = strrchr(recipient, '@');
	const char *domain = at ? at + 1 : "";

	if (!delivery->is_policy) {
		if (delivery->scope == DELIVERY_SCOPE_MESSAGE)
			relay->policy_refusals = 0;
		return false;
	}
	if (relay->policy_refusals++ == 0) {
		g_free(relay->policy_domain);
		relay->policy_domain = g_ascii_strdown(domain, -1);
	} else if (relay->policy_domain &&
	           g_ascii_strcasecmp(relay->policy_domain, domain) != 0) {
		g_clear_pointer(&relay->policy_domain, g_free);
	}
	return relay->policy_refusals >= BREAKER_FAILURES && !relay->policy_domain;
}

/* Starts with the shortest wait; a failed trial doubles it. */
static void
open_breaker(struct relay_state *relay, bool is_login, int64_t now)
{
	int64_t wait_s = BREAKER_WAIT_S;

	if (is_login)
		wait_s = BREAKER_WAIT_MAX_S;
	else if (relay->breaker == BREAKER_HALF_OPEN)
		wait_s = MIN(relay->wait_s * 2, BREAKER_WAIT_MAX_S);
	if (relay->breaker == BREAKER_CLOSED)
		relay->opened_at = now;
	relay->breaker = BREAKER_OPEN;
	relay->is_login = is_login;
	relay->is_proven = false;
	relay->is_failure_logged = true;
	relay->wait_s = wait_s;
	relay->retry_at = now + wait_s;
	event_log(is_login ? EVENT_RELAY_AUTH_FAILED : EVENT_RELAY_FAILED,
	    EVENT_SECONDS("next_in", wait_s), EVENT_TEXT(relay->text));
}

static void
report_failure(struct relay_state *relay, const struct delivery *delivery,
    const char *text, int64_t now)
{
	bool is_login = delivery->scope == DELIVERY_SCOPE_LOGIN;
	bool is_unopened =
	    delivery->stage >= SMTP_STAGE_CONNECT && delivery->stage <= SMTP_STAGE_AUTH;
	const char *end;

	if (relay->failures < G_MAXUINT)
		relay->failures++;
	g_strlcpy(relay->text, text ? text : "", sizeof(relay->text));
	/* Remove a character truncated by the copy. */
	if (!g_utf8_validate(relay->text, -1, &end))
		relay->text[end - relay->text] = '\0';
	switch (relay->breaker) {
	case BREAKER_CLOSED:
		if (is_login || is_unopened || relay->failures >= BREAKER_FAILURES)
			open_breaker(relay, is_login, now);
		break;
	case BREAKER_OPEN:
		/* Started before it opened: only a failed login is new information. */
		if (is_login && !relay->is_login)
			open_breaker(relay, true, now);
		break;
	case BREAKER_HALF_OPEN:
		open_breaker(relay, is_login, now);
		break;
	}
}

void
relay_state_report(struct relay_state *relay, const char *recipient,
    const struct delivery *delivery, int64_t now)
{
	g_autofree char *code =
	    g_strdup_printf("%d %s", delivery->code, delivery->enhanced);
	bool is_policy = is_relay_policy(relay, recipient, delivery);

	if (is_policy || delivery->scope != DELIVERY_SCOPE_MESSAGE) {
		report_failure(relay, delivery,
		    delivery->code && delivery->stage >= SMTP_STAGE_MAIL
		        ? g_strchomp(code)
		        : delivery->text,
		    now);
		return;
	}
	relay->is_proven = true;
	/* Failed before connecting: not a result of the relay. */
	if (delivery->outcome != DELIVERY_SENT && delivery->stage == SMTP_STAGE_NONE)
		return;
	if (relay->breaker == BREAKER_OPEN && relay->is_login)
		return;
	close_breaker(relay);
	relay->is_used = true;
	if (relay->is_failure_logged)
		event_log(EVENT_RELAY_RECOVERED);
	relay->is_failure_logged = false;
}

char *
relay_state_format(const struct relay_state *relay, int64_t now)
{
	int64_t left_s = MAX(relay->retry_at - now, 0);
	const char *what =
	    relay->is_login ? "rejects our login (smtp.user)" : "does not accept mail";

	switch (relay->breaker) {
	case BREAKER_CLOSED:
		if (relay->failures == 0)
			return g_strdup(
			    relay->is_used ? "accepts mail" : "not tried yet");
		return g_strdup_printf("fails now and then, %u in a row: %s",
		    relay->failures, relay->text);
	case BREAKER_OPEN:
		return g_strdup_printf("%s, next attempt in %" G_GINT64_FORMAT " s: %s",
		    what, left_s, relay->text);
	case BREAKER_HALF_OPEN:
		return g_strdup_printf(
		    "%s, attempt in progress: %s", what, relay->text);
	}
	g_assert_not_reached();
}
