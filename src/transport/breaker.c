/*
 * breaker.c - circuit breaker for a relay.
 */
#include "transport/breaker.h"

#include <glib.h>

void
breaker_init(struct breaker *breaker)
{
	*breaker = (struct breaker){.state = BREAKER_CLOSED};
}

bool
breaker_allow(struct breaker *breaker, int64_t now)
{
	if (breaker->state == BREAKER_CLOSED)
		return true;
	if (now < breaker->retry_at)
		return false;
	breaker->state = BREAKER_HALF_OPEN;
	breaker->retry_at = now + breaker->wait_s;
	return true;
}

/* Starts with the shortest wait; a failed trial doubles it. */
static void
open_for(struct breaker *breaker, bool is_login, int64_t now)
{
	int64_t wait_s = BREAKER_WAIT_S;

	if (is_login)
		wait_s = BREAKER_WAIT_MAX_S;
	else if (breaker->state == BREAKER_HALF_OPEN)
		wait_s = MIN(breaker->wait_s * 2, BREAKER_WAIT_MAX_S);
	if (breaker->state == BREAKER_CLOSED)
		breaker->opened_at = now;
	breaker->state = BREAKER_OPEN;
	breaker->is_login = is_login;
	breaker->wait_s = wait_s;
	breaker->retry_at = now + wait_s;
}

static void
report_failure(struct breaker *breaker, const struct delivery *delivery, int64_t now)
{
	bool is_login = delivery->scope == DELIVERY_SCOPE_LOGIN;
	bool is_unopened =
	    delivery->stage >= SMTP_STAGE_CONNECT && delivery->stage <= SMTP_STAGE_AUTH;
	const char *end;

	if (breaker->failures < G_MAXUINT)
		breaker->failures++;
	g_strlcpy(
	    breaker->text, delivery->text ? delivery->text : "", sizeof(breaker->text));
	/* Remove a character truncated by the copy. */
	if (!g_utf8_validate(breaker->text, -1, &end))
		breaker->text[end - breaker->text] = '\0';
	switch (breaker->state) {
	case BREAKER_CLOSED:
		if (is_login || is_unopened || breaker->failures >= BREAKER_FAILURES)
			open_for(breaker, is_login, now);
		break;
	case BREAKER_OPEN:
		/* Started before it opened: only a failed login is new information. */
		if (is_login && !breaker->is_login)
			open_for(breaker, true, now);
		break;
	case BREAKER_HALF_OPEN:
		open_for(breaker, is_login, now);
		break;
	}
}

void
breaker_report(struct breaker *breaker, const struct delivery *delivery, int64_t now)
{
	if (delivery->scope != DELIVERY_SCOPE_MESSAGE) {
		report_failure(breaker, delivery, now);
		return;
	}
	/* Failed before connecting: not a result of the relay. */
	if (delivery->outcome != DELIVERY_SENT && delivery->stage == SMTP_STAGE_NONE)
		return;
	if (breaker->state == BREAKER_OPEN && breaker->is_login)
		return;
	breaker_init(breaker);
	breaker->is_used = true;
}

char *
breaker_format(const struct breaker *breaker, int64_t now)
{
	int64_t left_s = MAX(breaker->retry_at - now, 0);
	const char *what = breaker->is_login ? "rejects our login (smtp.user)"
	                                     : "does not accept mail";

	switch (breaker->state) {
	case BREAKER_CLOSED:
		if (breaker->failures == 0)
			return g_strdup(
			    breaker->is_used ? "accepts mail" : "not tried yet");
		return g_strdup_printf("fails now and then, %u in a row: %s",
		    breaker->failures, breaker->text);
	case BREAKER_OPEN:
		return g_strdup_printf("%s, next attempt in %" G_GINT64_FORMAT " s: %s",
		    what, left_s, breaker->text);
	case BREAKER_HALF_OPEN:
		return g_strdup_printf(
		    "%s, attempt in progress: %s", what, breaker->text);
	}
	g_assert_not_reached();
}
