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
delivery_scope_get_name(enum delivery_scope scope)
{
	static const char *const names[] = {
	    [DELIVERY_SCOPE_MESSAGE] = "message",
	    [DELIVERY_SCOPE_RELAY] = "relay",
	    [DELIVERY_SCOPE_LOGIN] = "login",
	};

	return names[scope];
}

const char *
smtp_stage_get_name(enum smtp_stage stage)
{
	static const char *const names[] = {
	    [SMTP_STAGE_NONE] = "none",
	    [SMTP_STAGE_CONNECT] = "connect",
	    [SMTP_STAGE_EHLO] = "ehlo",
	    [SMTP_STAGE_STARTTLS] = "starttls",
	    [SMTP_STAGE_AUTH] = "auth",
	    [SMTP_STAGE_MAIL] = "mail",
	    [SMTP_STAGE_RCPT] = "rcpt",
	    [SMTP_STAGE_DATA] = "data",
	    [SMTP_STAGE_DOT] = "dot",
	};

	return names[stage];
}
