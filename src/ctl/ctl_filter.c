/*
 * ctl_filter.c - the commands on a subscriber's filters, and on shared ones.
 */
#include <jansson.h>

#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/subscriber_print.h"
#include "ctl/table.h"
#include "query/query.h"
#include "service/people/filters.h"
#include "service/people/person.h"
#include "service/people/profile.h"
#include "service/people/sharing.h"
#include "service/people/subscribe.h"
#include "store/subscriber/shares.h"
#include "store/subscriber/subscribers.h"

/* @return false with PB_ERROR_INPUT */
static bool
parse_number(const char *address, const char *text, int *number, GError **error)
{
	guint64 parsed = 0;

	if (!g_ascii_string_to_unsigned(text, 10, 1, FILTERS_NUMBER_MAX, &parsed, NULL))
		return pb_fail(error, PB_ERROR_INPUT,
		    "invalid filter number '%s': see paperboyctl filter list %s", text,
		    address);
	*number = (int)parsed;
	return true;
}

static bool
print_filter(
    struct ctl *ctl, const struct subscription *subscription, GPtrArray *warnings)
{
	g_autofree char *shown = query_format_accented(subscription->canonical,
	    subscription->text, store_get_tokenizer(ctl->store));

	ctl_wake_daemon(ctl);
	ctl_print_warnings(warnings);
	return print_result(ctl,
	    json_pack("{s:i, s:b, s:s}", "number", subscription->number, "block",
	        (int)subscription->is_block, "canonical", subscription->canonical),
	    "%s %d: %s\n", subscription->is_block ? "block" : "filter",
	    subscription->number, shown);
}

bool
ctl_run_filter_add(struct ctl *ctl, GError **error)
{
	g_autoptr(GPtrArray) warnings = NULL;
	pb_local(query_error) query_error = {0};
	struct subscribe_filter filter;
	pb_auto(subscription) subscription = NULL;

	/* Checked here: subscribe_add_filter() takes 0 as no limit. */
	if (ctl->options.max != CTL_UNSET &&
	    !profile_check_max(ctl->options.max, error))
		return false;
	filter = (struct subscribe_filter){.text = ctl->argv[2],
	    .name = ctl->options.name,
	    .max_papers = ctl_get_number(ctl->options.max, 0),
	    .note = ctl->options.note,
	    .is_block = ctl->options.is_block};
	subscription = subscribe_add_filter(ctl->store, ctl->argv[1], &filter, ctl->who,
	    clock_get_now(&ctl->clock), &query_error, &warnings, error);
	if (!subscription)
		ctl_print_query_error(ctl->argv[2], &query_error, error);
	return subscription && print_filter(ctl, subscription, warnings);
}

bool
ctl_run_filter_edit(struct ctl *ctl, GError **error)
{
	g_autoptr(GPtrArray) warnings = NULL;
	pb_local(query_error) query_error = {0};
	struct filters_change change = {.who = ctl->who};
	pb_auto(subscription) subscription = NULL;

	if (!parse_number(ctl->argv[1], ctl->argv[2], &change.number, error))
		return false;
	change.address = ctl->argv[1];
	change.text = ctl->argv[3];
	subscription = filters_edit(ctl->store, &change, clock_get_now(&ctl->clock),
	    &query_error, &warnings, error);
	if (!subscription)
		ctl_print_query_error(ctl->argv[3], &query_error, error);
	return subscription && print_filter(ctl, subscription, warnings);
}

bool
ctl_run_filter_list(struct ctl *ctl, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autoptr(GPtrArray) filters = NULL;

	subscriber = person_load(ctl->store, ctl->argv[1], error);
	filters = subscriber ? subscribers_load_subscriptions(
	                           ctl->store, subscriber->id, error)
	                     : NULL;
	if (!filters)
		return false;
	subscriber_print_filters(ctl, filters);
	return true;
}

bool
ctl_run_filter_remove(struct ctl *ctl, GError **error)
{
	pb_auto(subscription) subscription = NULL;
	g_autofree char *question = NULL;
	int number = 0;

	if (!parse_number(ctl->argv[1], ctl->argv[2], &number, error))
		return false;
	subscription = filters_load(ctl->store, ctl->argv[1], number, error);
	if (!subscription)
		return false;
	question = g_strdup_printf(
	    "Remove filter %d of %s, %s", number, ctl->argv[1], subscription->text);
	if (!ctl_confirm(ctl, question, error) ||
	    !subscribe_remove_filter(ctl->store, ctl->argv[1], number, ctl->who,
	        clock_get_now(&ctl->clock), error))
		return false;
	return print_result(
	    ctl, json_pack("{s:i}", "removed", number), "filter %d removed\n", number);
}

bool
ctl_run_filter_move(struct ctl *ctl, GError **error)
{
	int from = 0, to = 0;

	if (!parse_number(ctl->argv[1], ctl->argv[2], &from, error) ||
	    !parse_number(ctl->argv[1], ctl->argv[3], &to, error) ||
	    !filters_move(ctl->store, ctl->argv[1], from, to, ctl->who,
	        clock_get_now(&ctl->clock), error))
		return false;
	return print_result(ctl, json_pack("{s:i, s:i}", "from", from, "to", to),
	    "filter %d is now %d\n", from, to);
}

bool
ctl_run_filter_rename(struct ctl *ctl, GError **error)
{
	const char *name = ctl->argv[3];
	int number = 0;

	if (!parse_number(ctl->argv[1], ctl->argv[2], &number, error) ||
	    !filters_rename(ctl->store, ctl->argv[1], number, name, ctl->who,
	        clock_get_now(&ctl->clock), error))
		return false;
	return print_result(ctl,
	    json_pack("{s:i, s:o}", "number", number, "name",
	        print_json_text(*name ? name : NULL)),
	    "filter %d %s%s\n", number, *name ? "renamed to " : "no longer has a name",
	    name);
}

/* ---- shared filters ---- */

static const struct table_column columns[] = {
    TABLE_COLUMN("NAME", "name", TABLE_TEXT, share_listing, name),
    TABLE_COLUMN("OWNER", "owner", TABLE_TEXT, share_listing, address),
    TABLE_COLUMN("FILTER", "filter", TABLE_INT, share_listing, number),
    TABLE_COLUMN("VERSION", "version", TABLE_INT, share_listing, version),
    TABLE_COLUMN("SINCE", "created_at", TABLE_TIME, share_listing, created_at),
    TABLE_COLUMN("QUERY", "query", TABLE_TEXT, share_listing, text),
    {0},
};

static GPtrArray *
load_batch(void *store, const void *last, GError **error)
{
	const struct share_listing *before = last;

	return shares_load_batch(
	    store, before ? before->name : "", TABLE_BATCH_ROWS, error);
}

bool
ctl_run_share_list(struct ctl *ctl, GError **error)
{
	const struct table table = {
	    columns, "No filter is shared.", load_batch, ctl->store};

	return table_print_pages(ctl, &table, error);
}

bool
ctl_run_share_remove(struct ctl *ctl, GError **error)
{
	g_autofree char *question = NULL;

	question = g_strdup_printf("End the sharing of %s", ctl->argv[1]);
	if (!ctl_confirm(ctl, question, error) ||
	    !sharing_remove(
	        ctl->store, ctl->argv[1], ctl->who, clock_get_now(&ctl->clock), error))
		return false;
	return print_result(ctl, json_pack("{s:s}", "removed", ctl->argv[1]),
	    "%s is no longer shared\n", ctl->argv[1]);
}
