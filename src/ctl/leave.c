/*
 * leave.c - the commands by which people go: remove, forget, suppression.
 */
#include <stdio.h>

#include "ctl/ctl.h"
#include "ctl/pages.h"
#include "ctl/print.h"
#include "service/people/erase.h"
#include "service/people/subscribe.h"
#include "store/core/suppression.h"
#include "store/subscriber/subscribers.h"

#define HASH_SHOWN 12

bool
ctl_run_subscriber_remove(struct ctl *ctl, int argc, char **argv, GError **error)
{
	gboolean is_yes = FALSE;
	const GOptionEntry entries[] = {
	    {"yes", 0, 0, G_OPTION_ARG_NONE, &is_yes, NULL, NULL}, {0}};
	pb_auto(subscriber) subscriber = NULL;
	g_autofree char *question = NULL;

	if (!ctl_parse(entries, 1, &argc, &argv, error))
		return false;
	subscriber = subscribe_load(ctl->store, argv[1], error);
	if (!subscriber)
		return false;
	question = g_strdup_printf("Remove %s with all filters", subscriber->address);
	if (!ctl_confirm(is_yes, question, error) ||
	    !subscribe_remove(
	        ctl->store, argv[1], ctl->who, clock_get_now(&ctl->clock), error))
		return false;
	if (ctl->is_json)
		print_json(json_pack("{s:s}", "removed", argv[1]));
	else
		printf("%s removed: no more mail goes there\n", argv[1]);
	return true;
}

/* Ask, unless nobody is there: then forgetting only says so. */
static bool
confirm_forget(struct ctl *ctl, const char *address, bool is_yes, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autofree char *question = g_strdup_printf("Forget %s, for good", address);

	return subscribe_find(ctl->store, address, &subscriber, error) &&
	       (!subscriber || ctl_confirm(is_yes, question, error));
}

bool
ctl_run_subscriber_forget(struct ctl *ctl, int argc, char **argv, GError **error)
{
	gboolean is_yes = FALSE, is_never_again = FALSE;
	const GOptionEntry entries[] = {
	    {"yes", 0, 0, G_OPTION_ARG_NONE, &is_yes, NULL, NULL},
	    {"never-again", 0, 0, G_OPTION_ARG_NONE, &is_never_again, NULL, NULL},
	    {0},
	};
	g_autoptr(GBytes) key = NULL;
	struct erase_request request = {.who = ctl->who};

	if (!ctl_parse(entries, 1, &argc, &argv, error) ||
	    !confirm_forget(ctl, argv[1], is_yes, error))
		return false;
	key = ctl_load_key(ctl, error);
	if (!key)
		return false;
	request.address = argv[1];
	request.is_never_again = is_never_again;
	request.key = key;
	if (!erase_person(ctl->store, &request, clock_get_now(&ctl->clock), error))
		return false;
	if (ctl->is_json)
		print_json(json_pack("{s:s, s:b}", "forgotten", argv[1], "suppressed",
		    (int)is_never_again));
	else
		printf("%s forgotten%s\n", argv[1],
		    is_never_again ? ", and never to be mailed again" : "");
	return true;
}

/* How far the list has come. */
struct suppressions {
	struct store *store;
	char *after;
};

static GPtrArray *
load_page(void *data, GError **error)
{
	struct suppressions *list = data;
	GPtrArray *rows =
	    suppression_load_page(list->store, list->after, PAGES_ROWS, error);

	if (rows && rows->len) {
		const struct suppression *last = rows->pdata[rows->len - 1];

		g_free(list->after);
		list->after = g_strdup(last->hash);
	}
	return rows;
}

static char **
table_row(const void *data)
{
	const struct suppression *row = data;
	g_autofree char *since = ctl_format_time(row->at);
	g_autofree char *hash = g_strndup(row->hash, HASH_SHOWN);

	return print_row(since, row->reason, hash, NULL);
}

static json_t *
json_of_row(const void *data)
{
	const struct suppression *row = data;

	return json_pack("{s:s, s:s, s:I}", "hash", row->hash, "reason", row->reason,
	    "at", (json_int_t)row->at);
}

bool
ctl_run_suppression_list(struct ctl *ctl, int argc, char **argv, GError **error)
{
	struct suppressions list = {.store = ctl->store};
	struct pages pages = {
	    .load = load_page,
	    .data = &list,
	    .format = table_row,
	    .pack = json_of_row,
	    .when_empty = "No address is suppressed.",
	};
	bool is_ok;

	if (!ctl_parse(NULL, 0, &argc, &argv, error))
		return false;
	list.after = g_strdup("");
	pages.head = print_row("SINCE", "REASON", "HASH", NULL);
	is_ok = pages_show(ctl, &pages, error);
	g_free(list.after);
	return is_ok;
}

/* Somebody who is a subscriber leaves by it: that is asked first. */
static bool
confirm_suppress(struct ctl *ctl, const char *address, bool is_yes, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autofree char *question = g_strdup_printf(
	    "Remove the subscriber %s, never to be mailed again", address);

	return subscribe_find(ctl->store, address, &subscriber, error) &&
	       (!subscriber || subscriber->state == SUBSCRIBER_GONE ||
	           ctl_confirm(is_yes, question, error));
}

bool
ctl_run_suppression_add(struct ctl *ctl, int argc, char **argv, GError **error)
{
	gboolean is_yes = FALSE;
	g_autofree char *reason = NULL;
	const GOptionEntry entries[] = {
	    {"reason", 0, 0, G_OPTION_ARG_STRING, &reason, NULL, NULL},
	    {"yes", 0, 0, G_OPTION_ARG_NONE, &is_yes, NULL, NULL},
	    {0},
	};
	g_autoptr(GBytes) key = NULL;
	struct erase_request request = {.who = ctl->who};

	if (!ctl_parse(entries, 1, &argc, &argv, error) ||
	    !confirm_suppress(ctl, argv[1], is_yes, error))
		return false;
	key = ctl_load_key(ctl, error);
	if (!key)
		return false;
	request.address = argv[1];
	request.key = key;
	if (!erase_suppress(ctl->store, &request, reason ? reason : ERASE_OPERATOR,
	        clock_get_now(&ctl->clock), error))
		return false;
	if (ctl->is_json)
		print_json(json_pack("{s:s}", "suppressed", argv[1]));
	else
		printf("%s is suppressed: no mail goes there\n", argv[1]);
	return true;
}

bool
ctl_run_suppression_remove(struct ctl *ctl, int argc, char **argv, GError **error)
{
	gboolean is_yes = FALSE;
	const GOptionEntry entries[] = {
	    {"yes", 0, 0, G_OPTION_ARG_NONE, &is_yes, NULL, NULL}, {0}};
	g_autoptr(GBytes) key = NULL;
	g_autofree char *question = NULL;
	struct erase_request request = {.who = ctl->who};

	if (!ctl_parse(entries, 1, &argc, &argv, error))
		return false;
	question = g_strdup_printf("Let %s be mailed again", argv[1]);
	if (!ctl_confirm(is_yes, question, error))
		return false;
	key = ctl_load_key(ctl, error);
	if (!key)
		return false;
	request.address = argv[1];
	request.key = key;
	if (!erase_release(ctl->store, &request, clock_get_now(&ctl->clock), error))
		return false;
	if (ctl->is_json)
		print_json(json_pack("{s:s}", "released", argv[1]));
	else
		printf("%s is suppressed no more; paperboyctl subscriber add adds it\n",
		    argv[1]);
	return true;
}
