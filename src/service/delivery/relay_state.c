/*
 * relay_state.c - breaker of the relay, its policy rejections, and events of both.
 */
#include "service/delivery/relay_state.h"

#include <limits.h>
#include <string.h>

#include "service/log/event.h"

void
relay_state_reset(struct relay_state *relay)
{
	breaker_init(&relay->breaker);
	relay->is_proven = false;
}

void
relay_state_clear(struct relay_state *relay)
{
	g_clear_pointer(&relay->policy_domain, g_free);
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

/* Whether the relay replied about the message itself. */
static bool
is_reply(const struct delivery *delivery)
{
	return delivery->scope == DELIVERY_SCOPE_MESSAGE &&
	       (delivery->outcome == DELIVERY_SENT ||
	           delivery->stage != SMTP_STAGE_NONE);
}

void
relay_state_report(struct relay_state *relay, const char *recipient,
    const struct delivery *delivery, int64_t now)
{
	const struct breaker *breaker = &relay->breaker;
	enum breaker_state before = breaker->state;
	bool was_login = breaker->is_login;
	struct delivery seen = *delivery;
	g_autofree char *code =
	    g_strdup_printf("%d %s", delivery->code, delivery->enhanced);

	if (delivery->code && delivery->stage >= SMTP_STAGE_MAIL)
		seen.text = g_strchomp(code);
	if (is_relay_policy(relay, recipient, delivery))
		seen.scope = DELIVERY_SCOPE_RELAY;
	breaker_report(&relay->breaker, &seen, now);
	if (seen.scope == DELIVERY_SCOPE_MESSAGE)
		relay->is_proven = true;
	if (relay->is_failure_logged && breaker->state == BREAKER_CLOSED &&
	    is_reply(&seen)) {
		relay->is_failure_logged = false;
		event_log(EVENT_RELAY_RECOVERED);
	}
	if (breaker->state != BREAKER_OPEN ||
	    (before == BREAKER_OPEN && was_login == breaker->is_login))
		return;
	relay->is_proven = false;
	relay->is_failure_logged = true;
	event_log(breaker->is_login ? EVENT_RELAY_AUTH_FAILED : EVENT_RELAY_FAILED,
	    EVENT_SECONDS("next_in", breaker->wait_s), EVENT_TEXT(breaker->text));
}

unsigned
relay_state_get_limit(const struct relay_state *relay, int64_t now)
{
	const struct breaker *breaker = &relay->breaker;

	if (breaker->state == BREAKER_CLOSED)
		return UINT_MAX;
	/* A wait above the maximum: the clock was wrong when it began. */
	return now >= breaker->retry_at || breaker->retry_at > now + BREAKER_WAIT_MAX_S
	           ? 1
	           : 0;
}
