/*
 * ctl_filter.c - the commands on one person's filters.
 */
#include <stdio.h>

#include "ctl/ctl.h"
#include "ctl/listing.h"
#include "ctl/print.h"
#include "service/people/filters.h"
#include "service/people/profile.h"
#include "service/people/subscribe.h"
#include "store/subscriber/subscribers.h"

/* What a filter that was given or changed has become. */
static bool
print_filter(
    struct ctl *ctl, const struct subscription *subscription, GPtrArray *warnings)
{
	ctl_poke_daemon(ctl);
	ctl_print_warnings(warnings);
	if (ctl->is_json)
		print_json(json_pack("{s:i, s:b, s:s}", "number", subscription->number,
		    "block", (int)subscription->is_block, "canonical",
		    subscription->canonical));
	else
		printf("%s %d: %s\n", subscription->is_block ? "block" : "filter",
		    subscription->number, subscription->canonical);
	return true;
}

bool
ctl_run_filter_add(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autofree char *name = NULL;
	g_autofree char *note = NULL;
	gboolean is_block = FALSE;
	int max = G_MININT;
	const GOptionEntry entries[] = {
	    {"name", 0, 0, G_OPTION_ARG_STRING, &name, NULL, NULL},
	    {"max", 0, 0, G_OPTION_ARG_INT, &max, NULL, NULL},
	    {"note", 0, 0, G_OPTION_ARG_STRING, &note, NULL, NULL},
	    {"block", 0, 0, G_OPTION_ARG_NONE, &is_block, NULL, NULL},
	    {0},
	};
	g_autoptr(GPtrArray) warnings = NULL;
	struct query_error problem = {0};
	struct subscribe_filter filter;
	pb_auto(subscription) subscription = NULL;

	if (!ctl_parse(entries, 2, &argc, &argv, error))
		return false;
	/* Checked here, since 0 says there that there is none. */
	if (max != G_MININT && !profile_check_max(max, error))
		return false;
	filter = (struct subscribe_filter){.text = argv[2],
	    .name = name,
	    .max_papers = max == G_MININT ? 0 : max,
	    .note = note,
	    .is_block = is_block};
	subscription = subscribe_add_filter(ctl->store, argv[1], &filter, ctl->who,
	    clock_get_now(&ctl->clock), &problem, &warnings, error);
	if (!subscription)
		ctl_explain_problem(argv[2], &problem, error);
	query_error_clear(&problem);
	return subscription && print_filter(ctl, subscription, warnings);
}

bool
ctl_run_filter_edit(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autoptr(GPtrArray) warnings = NULL;
	struct query_error problem = {0};
	struct filters_change change = {.who = ctl->who};
	pb_auto(subscription) subscription = NULL;

	if (!ctl_parse(NULL, 3, &argc, &argv, error) ||
	    !listing_parse_number(argv[1], argv[2], &change.number, error))
		return false;
	change.address = argv[1];
	change.text = argv[3];
	subscription = filters_edit(ctl->store, &change, clock_get_now(&ctl->clock),
	    &problem, &warnings, error);
	if (!subscription)
		ctl_explain_problem(argv[3], &problem, error);
	query_error_clear(&problem);
	return subscription && print_filter(ctl, subscription, warnings);
}

bool
ctl_run_filter_list(struct ctl *ctl, int argc, char **argv, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autoptr(GPtrArray) filters = NULL;

	if (!ctl_parse(NULL, 1, &argc, &argv, error))
		return false;
	subscriber = subscribe_load(ctl->store, argv[1], error);
	filters = subscriber ? subscribers_load_subscriptions(
	                           ctl->store, subscriber->id, error)
	                     : NULL;
	if (!filters)
		return false;
	if (ctl->is_json)
		print_json(listing_json_filters(filters));
	else
		listing_print_filters(filters);
	return true;
}

bool
ctl_run_filter_remove(struct ctl *ctl, int argc, char **argv, GError **error)
{
	gboolean is_yes = FALSE;
	const GOptionEntry entries[] = {
	    {"yes", 0, 0, G_OPTION_ARG_NONE, &is_yes, NULL, NULL}, {0}};
	pb_auto(subscription) subscription = NULL;
	g_autofree char *question = NULL;
	int number;

	if (!ctl_parse(entries, 2, &argc, &argv, error) ||
	    !listing_parse_number(argv[1], argv[2], &number, error))
		return false;
	subscription = filters_load(ctl->store, argv[1], number, error);
	if (!subscription)
		return false;
	question = g_strdup_printf(
	    "Remove filter %d of %s, %s", number, argv[1], subscription->text);
	if (!ctl_confirm(is_yes, question, error) ||
	    !subscribe_remove_filter(ctl->store, argv[1], number, ctl->who,
	        clock_get_now(&ctl->clock), error))
		return false;
	if (ctl->is_json)
		print_json(json_pack("{s:i}", "removed", number));
	else
		printf("filter %d removed\n", number);
	return true;
}

bool
ctl_run_filter_move(struct ctl *ctl, int argc, char **argv, GError **error)
{
	int from, to;

	if (!ctl_parse(NULL, 3, &argc, &argv, error) ||
	    !listing_parse_number(argv[1], argv[2], &from, error) ||
	    !listing_parse_number(argv[1], argv[3], &to, error) ||
	    !filters_move(ctl->store, argv[1], from, to, ctl->who,
	        clock_get_now(&ctl->clock), error))
		return false;
	if (ctl->is_json)
		print_json(json_pack("{s:i, s:i}", "from", from, "to", to));
	else
		printf("filter %d is now %d; paperboyctl filter list shows all\n", from,
		    to);
	return true;
}

bool
ctl_run_filter_rename(struct ctl *ctl, int argc, char **argv, GError **error)
{
	int number;

	if (!ctl_parse(NULL, 3, &argc, &argv, error) ||
	    !listing_parse_number(argv[1], argv[2], &number, error) ||
	    !filters_rename(ctl->store, argv[1], number, argv[3], ctl->who,
	        clock_get_now(&ctl->clock), error))
		return false;
	if (ctl->is_json)
		print_json(json_pack("{s:i, s:o}", "number", number, "name",
		    print_json_text(*argv[3] ? argv[3] : NULL)));
	else
		printf("filter %d %s%s\n", number,
		    *argv[3] ? "is now called " : "has no name now", argv[3]);
	return true;
}
