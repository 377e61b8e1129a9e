/*
 * delivery.c - result of one attempt to deliver one message.
 */
#include "transport/delivery.h"

void
delivery_clear(struct delivery *delivery)
{
	g_free(delivery->text);
	*delivery = (struct delivery){.outcome = DELIVERY_DEFERRED};
}

const char *
delivery_outcome_get_name(enum delivery_outcome outcome)
{
	switch (outcome) {
	case DELIVERY_SENT:
		return "sent";
	case DELIVERY_DEFERRED:
		return "deferred";
	case DELIVERY_FAILED:
		return "failed";
	case DELIVERY_UNKNOWN:
		return "unknown";
	}
	g_assert_not_reached();
}

const char *
delivery_scope_get_name(enum delivery_scope scope)
{
	switch (scope) {
	case DELIVERY_SCOPE_MESSAGE:
		return "message";
	case DELIVERY_SCOPE_RELAY:
		return "relay";
	case DELIVERY_SCOPE_LOGIN:
		return "login";
	}
	g_assert_not_reached();
}

const char *
smtp_stage_get_name(enum smtp_stage stage)
{
	switch (stage) {
	case SMTP_STAGE_NONE:
		return "none";
	case SMTP_STAGE_CONNECT:
		return "connect";
	case SMTP_STAGE_EHLO:
		return "ehlo";
	case SMTP_STAGE_STARTTLS:
		return "starttls";
	case SMTP_STAGE_AUTH:
		return "auth";
	case SMTP_STAGE_MAIL:
		return "mail";
	case SMTP_STAGE_RCPT:
		return "rcpt";
	case SMTP_STAGE_DATA:
		return "data";
	case SMTP_STAGE_DOT:
		return "dot";
	}
	g_assert_not_reached();
}
