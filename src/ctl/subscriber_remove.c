/*
 * subscriber_remove.c - the commands subscriber remove, forget, and suppression.
 */
#include <stdio.h>

#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "service/people/erase.h"
#include "service/people/person.h"
#include "service/people/subscribe.h"
#include "store/subscriber/subscribers.h"
#include "store/subscriber/suppression.h"

#define HASH_PREFIX_CHARS 12

bool
ctl_run_subscriber_remove(struct ctl *ctl, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autofree char *question = NULL;

	subscriber = person_load(ctl->store, ctl->argv[1], error);
	if (!subscriber)
		return false;
	question = g_strdup_printf("Remove %s with all filters", subscriber->address);
	if (!ctl_confirm(ctl, question, error) ||
	    !subscribe_remove(
	        ctl->store, ctl->argv[1], ctl->who, clock_get_now(&ctl->clock), error))
		return false;
	if (ctl->is_json)
		print_json(json_pack("{s:s}", "removed", ctl->argv[1]));
	else
		printf("%s removed; no more mail is sent to it\n", ctl->argv[1]);
	return true;
}

/* Without a subscriber there is nothing to confirm. */
static bool
confirm_forget(struct ctl *ctl, const char *address, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autofree char *question =
	    g_strdup_printf("Erase all data of %s permanently", address);

	return person_find(ctl->store, address, &subscriber, error) &&
	       (!subscriber || ctl_confirm(ctl, question, error));
}

bool
ctl_run_subscriber_forget(struct ctl *ctl, GError **error)
{
	g_autoptr(GBytes) key = NULL;
	struct erase_request request = {.who = ctl->who};

	if (!confirm_forget(ctl, ctl->argv[1], error))
		return false;
	key = ctl_load_key(ctl, error);
	if (!key)
		return false;
	request.address = ctl->argv[1];
	request.is_never_again = ctl->options.is_never_again;
	request.key = key;
	if (!erase_person(ctl->store, &request, clock_get_now(&ctl->clock), error))
		return false;
	if (ctl->is_json)
		print_json(json_pack("{s:s, s:b}", "erased", ctl->argv[1], "suppressed",
		    (int)ctl->options.is_never_again));
	else
		printf("%s erased%s\n", ctl->argv[1],
		    ctl->options.is_never_again ? " and suppressed" : "");
	return true;
}

static char *
format_hash(const void *data)
{
	return g_strndup(((const struct suppression *)data)->hash, HASH_PREFIX_CHARS);
}

static const struct table_column suppression_columns[] = {
    TABLE_COLUMN("SINCE", "at", TABLE_TIME, suppression, at),
    TABLE_COLUMN("REASON", "reason", TABLE_TEXT, suppression, reason),
    TABLE_COLUMN_STRING("HASH", NULL, format_hash),
    TABLE_COLUMN(NULL, "hash", TABLE_TEXT, suppression, hash),
    {0},
};

static GPtrArray *
load_batch(void *store, const void *last, GError **error)
{
	const struct suppression *before = last;

	return suppression_load_batch(
	    store, before ? before->hash : "", TABLE_BATCH_ROWS, error);
}

bool
ctl_run_suppression_list(struct ctl *ctl, GError **error)
{
	const struct table table = {
	    suppression_columns, "No suppressed addresses.", load_batch, ctl->store};

	return table_print_pages(ctl, &table, error);
}

/* A subscriber with that address is removed, so ask for confirmation. */
static bool
confirm_suppress(struct ctl *ctl, const char *address, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autofree char *question = g_strdup_printf(
	    "Remove the subscriber %s and suppress the address", address);

	return person_find(ctl->store, address, &subscriber, error) &&
	       (!subscriber || subscriber->state == SUBSCRIBER_GONE ||
	           ctl_confirm(ctl, question, error));
}

bool
ctl_run_suppression_add(struct ctl *ctl, GError **error)
{
	g_autoptr(GBytes) key = NULL;
	struct erase_request request = {.who = ctl->who};

	if (!confirm_suppress(ctl, ctl->argv[1], error))
		return false;
	key = ctl_load_key(ctl, error);
	if (!key)
		return false;
	request.address = ctl->argv[1];
	request.key = key;
	if (!erase_suppress(ctl->store, &request,
	        ctl->options.reason ? ctl->options.reason : ERASE_OPERATOR,
	        clock_get_now(&ctl->clock), error))
		return false;
	if (ctl->is_json)
		print_json(json_pack("{s:s}", "suppressed", ctl->argv[1]));
	else
		printf("%s suppressed\n", ctl->argv[1]);
	return true;
}

bool
ctl_run_suppression_remove(struct ctl *ctl, GError **error)
{
	g_autoptr(GBytes) key = NULL;
	g_autofree char *question = NULL;
	struct erase_request request = {.who = ctl->who};

	question = g_strdup_printf("Stop suppressing %s", ctl->argv[1]);
	if (!ctl_confirm(ctl, question, error))
		return false;
	key = ctl_load_key(ctl, error);
	if (!key)
		return false;
	request.address = ctl->argv[1];
	request.key = key;
	if (!erase_release(ctl->store, &request, clock_get_now(&ctl->clock), error))
		return false;
	if (ctl->is_json)
		print_json(json_pack("{s:s}", "released", ctl->argv[1]));
	else
		printf("%s is no longer suppressed; add it with paperboyctl subscriber "
		       "add\n",
		    ctl->argv[1]);
	return true;
}
