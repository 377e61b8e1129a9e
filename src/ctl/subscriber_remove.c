/*
 * subscriber_remove.c - the commands subscriber remove, forget, and suppression.
 */
#include <stdio.h>

#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "service/people/erase.h"
#include "service/people/subscribe.h"
#include "store/core/suppression.h"
#include "store/subscriber/subscribers.h"

#define HASH_PREFIX_CHARS 12

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
		printf("%s removed; no more mail is sent to it\n", argv[1]);
	return true;
}

/* Without a subscriber there is nothing to confirm. */
static bool
confirm_forget(struct ctl *ctl, const char *address, bool is_yes, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autofree char *question =
	    g_strdup_printf("Erase all data of %s permanently", address);

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
		print_json(json_pack("{s:s, s:b}", "erased", argv[1], "suppressed",
		    (int)is_never_again));
	else
		printf(
		    "%s erased%s\n", argv[1], is_never_again ? " and suppressed" : "");
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
load_page(void *store, const void *last, GError **error)
{
	const struct suppression *before = last;

	return suppression_load_page(
	    store, before ? before->hash : "", TABLE_PAGE_ROWS, error);
}

bool
ctl_run_suppression_list(struct ctl *ctl, int argc, char **argv, GError **error)
{
	const struct table table = {
	    suppression_columns, "No suppressed addresses.", load_page, ctl->store};

	return ctl_parse(NULL, 0, &argc, &argv, error) &&
	       table_print_pages(ctl, &table, error);
}

/* A subscriber with that address is removed, so ask for confirmation. */
static bool
confirm_suppress(struct ctl *ctl, const char *address, bool is_yes, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autofree char *question = g_strdup_printf(
	    "Remove the subscriber %s and suppress the address", address);

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
		printf("%s suppressed\n", argv[1]);
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
	question = g_strdup_printf("Stop suppressing %s", argv[1]);
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
		printf("%s is no longer suppressed; add it with paperboyctl subscriber "
		       "add\n",
		    argv[1]);
	return true;
}
