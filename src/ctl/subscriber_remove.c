/*
 * subscriber_remove.c - the commands subscriber remove, forget, and suppression.
 */

#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "service/people/erase.h"
#include "service/people/person.h"
#include "service/people/subscribe.h"
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
	return print_result(ctl, json_pack("{s:s}", "removed", ctl->argv[1]),
	    "%s removed; no more mail is sent to it\n", ctl->argv[1]);
}

/* @return false without a key; it is borrowed from ctl */
static bool
init_request(struct ctl *ctl, struct erase_request *request, GError **error)
{
	*request = (struct erase_request){
	    .address = ctl->argv[1],
	    .is_never_again = ctl->options.is_never_again,
	    .key = ctl_get_key(ctl, error),
	    .who = ctl->who,
	};
	return request->key != NULL;
}

bool
ctl_run_subscriber_forget(struct ctl *ctl, GError **error)
{
	bool is_suppressed = ctl->options.is_never_again;
	g_autofree char *question =
	    g_strdup_printf("Erase all data of %s permanently", ctl->argv[1]);
	pb_auto(subscriber) subscriber = NULL;
	struct erase_request request;

	/* Without a subscriber there is nothing to confirm. */
	if (!person_find(ctl->store, ctl->argv[1], &subscriber, error) ||
	    (subscriber && !ctl_confirm(ctl, question, error)) ||
	    !init_request(ctl, &request, error) ||
	    !erase_person(ctl->store, &request, clock_get_now(&ctl->clock), error))
		return false;
	return print_result(ctl,
	    json_pack(
	        "{s:s, s:b}", "erased", ctl->argv[1], "suppressed", (int)is_suppressed),
	    "%s erased%s\n", ctl->argv[1], is_suppressed ? " and suppressed" : "");
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

bool
ctl_run_suppression_add(struct ctl *ctl, GError **error)
{
	g_autofree char *question = g_strdup_printf(
	    "Remove the subscriber %s and suppress the address", ctl->argv[1]);
	const char *reason = ctl->options.reason ? ctl->options.reason : ERASE_OPERATOR;
	pb_auto(subscriber) subscriber = NULL;
	struct erase_request request;

	/* A subscriber with that address is removed, so ask for confirmation. */
	if (!person_find(ctl->store, ctl->argv[1], &subscriber, error) ||
	    (subscriber && subscriber->state != SUBSCRIBER_GONE &&
	        !ctl_confirm(ctl, question, error)) ||
	    !init_request(ctl, &request, error) ||
	    !erase_suppress(
	        ctl->store, &request, reason, clock_get_now(&ctl->clock), error))
		return false;
	return print_result(ctl, json_pack("{s:s}", "suppressed", ctl->argv[1]),
	    "%s suppressed\n", ctl->argv[1]);
}

bool
ctl_run_suppression_remove(struct ctl *ctl, GError **error)
{
	g_autofree char *question =
	    g_strdup_printf("Stop suppressing %s", ctl->argv[1]);
	struct erase_request request;

	if (!ctl_confirm(ctl, question, error) || !init_request(ctl, &request, error) ||
	    !erase_release(ctl->store, &request, clock_get_now(&ctl->clock), error))
		return false;
	return print_result(ctl, json_pack("{s:s}", "released", ctl->argv[1]),
	    "%s is no longer suppressed; add it with paperboyctl subscriber add\n",
	    ctl->argv[1]);
}
