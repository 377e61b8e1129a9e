/*
 * filter.c - the commands on one person's filters, and trying a query.
 */
#include <stdio.h>

#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/listing.h"
#include "ctl/print.h"
#include "service/backtest.h"
#include "service/filters.h"
#include "service/subscribe.h"
#include "store/people.h"

/* What a filter that was given or changed has become. */
static bool
print_filter(
    struct ctl *ctl, const struct subscription *subscription, GPtrArray *warnings)
{
	ctl_poke_daemon(ctl);
	ctl_print_warnings(warnings);
	if (ctl->is_json)
		print_json(json_pack("{s:i, s:s}", "number", subscription->number,
		    "canonical", subscription->canonical));
	else
		printf(
		    "filter %d: %s\n", subscription->number, subscription->canonical);
	return true;
}

bool
ctl_run_filter_add(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autofree char *name = NULL;
	const GOptionEntry entries[] = {
	    {"name", 0, 0, G_OPTION_ARG_STRING, &name, NULL, NULL}, {0}};
	g_autoptr(GPtrArray) warnings = NULL;
	struct query_problem problem = {0};
	struct subscribe_filter filter;
	pb_auto(subscription) subscription = NULL;

	if (!ctl_parse(entries, 2, &argc, &argv, error))
		return false;
	filter = (struct subscribe_filter){.text = argv[2], .name = name};
	subscription = subscribe_add_filter(ctl->store, argv[1], &filter, ctl->who,
	    clock_get_now(&ctl->clock), &problem, &warnings, error);
	if (!subscription)
		ctl_explain_problem(argv[2], &problem, error);
	query_problem_clear(&problem);
	return subscription && print_filter(ctl, subscription, warnings);
}

bool
ctl_run_filter_edit(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autoptr(GPtrArray) warnings = NULL;
	struct query_problem problem = {0};
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
	query_problem_clear(&problem);
	return subscription && print_filter(ctl, subscription, warnings);
}

bool
ctl_run_filter_list(struct ctl *ctl, int argc, char **argv, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autoptr(GPtrArray) filters = NULL;

	if (!ctl_parse(NULL, 1, &argc, &argv, error))
		return false;
	subscriber = subscribe_find(ctl->store, argv[1], error);
	filters = subscriber
	              ? people_load_subscriptions(ctl->store, subscriber->id, error)
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
	subscription = filters_find(ctl->store, argv[1], number, error);
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

static json_t *
json_of_backtest(const struct backtest *backtest)
{
	json_t *days = json_array(), *newest = json_array(), *warnings = json_array();

	for (guint i = 0; i < backtest->per_day->len; i++) {
		const struct backtest_day *day =
		    &g_array_index(backtest->per_day, struct backtest_day, i);

		json_array_append_new(
		    days, json_pack("{s:s, s:i, s:i}", "day", day->day, "found",
		              (int)day->found, "papers", (int)day->papers));
	}
	for (unsigned i = 0; i < backtest->newest->len; i++) {
		const struct backtest_paper *paper = backtest->newest->pdata[i];

		json_array_append_new(newest,
		    json_pack("{s:s, s:s, s:s, s:s, s:o, s:s}", "id", paper->id,
		        "title", paper->title, "url", paper->url, "day", paper->day,
		        "upvotes", print_json_number(paper->upvotes), "words",
		        paper->words));
	}
	for (unsigned i = 0; i < backtest->warnings->len; i++)
		json_array_append_new(
		    warnings, json_string(backtest->warnings->pdata[i]));
	return json_pack("{s:s, s:i, s:i, s:i, s:i, s:o, s:o, s:o}", "canonical",
	    backtest->canonical, "days", backtest->days, "papers",
	    (int)backtest->papers, "found", (int)backtest->found, "waiting",
	    (int)backtest->waiting, "per_day", days, "newest", newest, "warnings",
	    warnings);
}

static void
print_per_day(const struct backtest *backtest)
{
	g_autoptr(GPtrArray) rows =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);

	g_ptr_array_add(rows, print_row("DAY", "FOUND", "PAPERS", NULL));
	for (guint i = 0; i < backtest->per_day->len; i++) {
		const struct backtest_day *day =
		    &g_array_index(backtest->per_day, struct backtest_day, i);
		g_autofree char *found = g_strdup_printf("%u", day->found);
		g_autofree char *papers = g_strdup_printf("%u", day->papers);

		g_ptr_array_add(rows, print_row(day->day, found, papers, NULL));
	}
	putchar('\n');
	print_table(rows);
}

static void
print_backtest(const struct backtest *backtest)
{
	printf("means    %s\n", backtest->canonical);
	printf("found    %u of %u papers in %d days, %.1f a day\n", backtest->found,
	    backtest->papers, backtest->days, (double)backtest->found / backtest->days);
	if (backtest->waiting)
		printf("waiting  %u that more votes could bring\n", backtest->waiting);
	if (!backtest->papers)
		puts("         There are no papers of these days yet: paperboyctl "
		     "fetch");
	if (backtest->per_day->len)
		print_per_day(backtest);
	for (unsigned i = 0; i < backtest->newest->len; i++) {
		const struct backtest_paper *paper = backtest->newest->pdata[i];

		printf("%s%s  %s\n    %s: %s\n", i ? "" : "\nThe newest:\n", paper->day,
		    paper->title, paper->id, paper->words);
	}
}

/* The query to try: as typed, or that of a person's filter. @return a new string */
static char *
find_query(struct ctl *ctl, const char *address, const char *argument, GError **error)
{
	pb_auto(subscription) subscription = NULL;
	int number;

	if (!address)
		return g_strdup(argument);
	if (!listing_parse_number(address, argument, &number, error))
		return NULL;
	subscription = filters_find(ctl->store, address, number, error);
	return subscription ? g_strdup(subscription->text) : NULL;
}

bool
ctl_run_filter_test(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autofree char *address = NULL;
	int days = BACKTEST_DAYS;
	const GOptionEntry entries[] = {
	    {"address", 0, 0, G_OPTION_ARG_STRING, &address, NULL, NULL},
	    {"days", 0, 0, G_OPTION_ARG_INT, &days, NULL, NULL},
	    {0},
	};
	struct query_problem problem = {0};
	g_autofree char *query = NULL;
	pb_auto(backtest) backtest = NULL;

	if (!ctl_parse(entries, 1, &argc, &argv, error))
		return false;
	query = find_query(ctl, address, argv[1], error);
	if (!query)
		return false;
	backtest = backtest_run(
	    ctl->store, query, days, clock_get_now(&ctl->clock), &problem, error);
	if (!backtest)
		ctl_explain_problem(query, &problem, error);
	query_problem_clear(&problem);
	if (!backtest)
		return false;
	if (ctl->is_json) {
		print_json(json_of_backtest(backtest));
		return true;
	}
	ctl_print_warnings(backtest->warnings);
	print_backtest(backtest);
	return true;
}
