/*
 * handler_reduce.c - changes that the token of a digest allows.
 *
 * A digest may have been forwarded, so its reader must not be able to ask for more.
 */
#include <string.h>

#include "base/zone.h"
#include "service/delivery/mail_token.h"
#include "service/inbound/handler_private.h"
#include "service/people/profile.h"

/* Papers in a digest, for those who want fewer. */
static const int fewer_steps[] = {10, 5, 3};

static int
find_fewer(const struct subscriber *subscriber)
{
	for (size_t i = 0; i < G_N_ELEMENTS(fewer_steps); i++)
		if (fewer_steps[i] < subscriber->max_full)
			return fewer_steps[i];
	return subscriber->max_full;
}

/* @param days  0: until resumed */
static bool
is_longer_pause(
    const struct request *request, const struct subscriber *before, unsigned days)
{
	g_autofree char *text = g_strdup_printf("%ud", days);
	g_autoptr(GTimeZone) zone = zone_load_or_utc(before->zone);
	char until[DAY_BYTES];

	if (before->state != SUBSCRIBER_PAUSED)
		return true;
	return *before->paused_until &&
	       (!days || (profile_parse_until(text, zone, request->now, until, NULL) &&
	                     strcmp(until, before->paused_until) > 0));
}

/* Format the command. @return NULL if it would not reduce mail */
static char *
format_line(
    const struct request *request, enum handler_reduction reduction, unsigned number)
{
	const struct subscriber *subscriber = request->subscriber;

	switch (reduction) {
	case HANDLER_REDUCE_PAUSE:
		if (!is_longer_pause(request, subscriber, number))
			return NULL;
		return number ? g_strdup_printf("pause %ud", number)
		              : g_strdup("pause");
	case HANDLER_REDUCE_WEEKLY:
		return subscriber->schedule.frequency != SCHEDULE_WEEKLY
		           ? g_strdup("set when weekly")
		           : NULL;
	case HANDLER_REDUCE_FEWER:
		if (!number)
			number = (unsigned)find_fewer(subscriber);
		return (int)number < subscriber->max_full
		           ? g_strdup_printf("set max %u", number)
		           : NULL;
	}
	g_assert_not_reached();
}

/* Make the subscriber of the token the requester, if there is one. */
bool
handler_set_token_requester(struct request *request, const char *token, GError **error)
{
	const struct mail_token mail_token = {
	    request->store, request->key, request->now};
	pb_auto(subscriber) found = NULL;
	enum handler_mail may_mail;

	if (!mail_token_find_unsubscribe(&mail_token, token, &found, error))
		return false;
	if (!found)
		return true;
	request->is_proven = request->has_token = true;
	return handler_set_requester(request, found->address, &may_mail, error);
}

bool
handler_reduce(struct request *request, const char *token,
    enum handler_reduction reduction, unsigned number, GError **error)
{
	g_autofree char *line = NULL;
	const char *lines[] = {NULL, NULL};
	bool is_ok;

	if (!handler_set_token_requester(request, token, error))
		return false;
	/* A token does not show that a suspended address works again, as a mailed link
	 * does. */
	if (request->subscriber && request->subscriber->state != SUBSCRIBER_SUSPENDED)
		line = format_line(request, reduction, number);
	/* A mail gets a reply in any case: how things are. */
	if (!line && request->mail && request->subscriber &&
	    request->subscriber->state != SUBSCRIBER_SUSPENDED)
		line = g_strdup("list");
	if (!line) {
		if (request->mail)
			handler_drop(request, HANDLER_IGNORED, "invalid-token");
		return true;
	}
	lines[0] = line;
	request->lines = lines;
	is_ok = handler_run_commands(request, error);
	request->lines = NULL;
	return is_ok;
}
