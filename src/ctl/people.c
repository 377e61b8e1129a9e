/*
 * people.c - the commands on subscribers and their filters.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/bounds.h"
#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "query/query.h"
#include "service/subscribe.h"
#include "store/people.h"

#define PAGE 500

/* What --filter, --zone and the like said. */
struct add_options {
	char **filters;
	char *consent, *name, *zone, *at, *when, *days;
	int max;
};

static void
add_options_clear(struct add_options *options)
{
	g_strfreev(options->filters);
	g_free(options->consent);
	g_free(options->name);
	g_free(options->zone);
	g_free(options->at);
	g_free(options->when);
	g_free(options->days);
}

static bool
parse_rhythm(const struct ctl *ctl, const struct add_options *options,
    struct rhythm *rhythm, GError **error)
{
	const char *at = options->at ? options->at : ctl->settings->digest_at;

	*rhythm = (struct rhythm){.weekdays = RHYTHM_MONDAY};
	if (options->when &&
	    !rhythm_parse_cadence(options->when, &rhythm->cadence, error))
		return false;
	if (options->days) {
		if (options->when && rhythm->cadence != RHYTHM_WEEKLY) {
			g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
			    "--days goes with --when weekly");
			return false;
		}
		rhythm->cadence = RHYTHM_WEEKLY;
		if (!rhythm_parse_weekdays(options->days, &rhythm->weekdays, error))
			return false;
	}
	return rhythm_parse_minute(at, &rhythm->minute, error);
}

static void
print_filters(const GPtrArray *filters)
{
	g_autoptr(GPtrArray) rows =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);

	if (!filters->len) {
		puts("No filters: nothing will be found. paperboyctl filter add");
		return;
	}
	g_ptr_array_add(rows, print_row("NO", "KIND", "NAME", "FILTER", "MEANS", NULL));
	for (unsigned i = 0; i < filters->len; i++) {
		const struct subscription *filter = filters->pdata[i];
		g_autofree char *number = g_strdup_printf("%d", filter->number);

		g_ptr_array_add(
		    rows, print_row(number, filter->is_block ? "block" : "filter",
		              filter->name ? filter->name : "-", filter->text,
		              filter->canonical, NULL));
	}
	print_table(rows);
}

/* What was stored may not be what was meant. */
static void
warn_of_filters(struct ctl *ctl, char **filters)
{
	for (; filters && *filters; filters++) {
		g_autoptr(GPtrArray) warnings = NULL;
		pb_auto(query) query = query_parse(
		    *filters, store_get_tokenizer(ctl->store), &warnings, NULL, NULL);

		if (query)
			ctl_print_warnings(warnings);
	}
}

static bool
print_added(struct ctl *ctl, const struct subscriber *subscriber, GError **error)
{
	g_autoptr(GPtrArray) filters =
	    people_load_subscriptions(ctl->store, subscriber->id, error);

	if (!filters)
		return false;
	if (ctl->is_json) {
		print_json(json_pack("{s:s, s:i}", "address", subscriber->address,
		    "filters", (int)filters->len));
		return true;
	}
	printf("%s added%s\n", subscriber->address,
	    filters->len ? "; the first digest comes as soon as there are papers for it"
	                 : "");
	print_filters(filters);
	return true;
}

static bool
add_subscriber(struct ctl *ctl, const char *address, const struct add_options *options,
    GError **error)
{
	guint count = options->filters ? g_strv_length(options->filters) : 0;
	g_autofree struct subscribe_filter *filters =
	    g_new0(struct subscribe_filter, count + 1);
	struct subscribe_request request = {
	    .address = address,
	    .name = options->name,
	    .consent = options->consent,
	    .zone = options->zone ? options->zone : ctl->settings->digest_zone,
	    .max_full = options->max,
	    .filters = filters,
	    .filter_count = count,
	    .who = ctl->who,
	};
	struct query_problem problem = {0};
	pb_auto(subscriber) subscriber = NULL;
	unsigned refused = 0;

	for (guint i = 0; i < count; i++)
		filters[i].text = options->filters[i];
	if (!parse_rhythm(ctl, options, &request.rhythm, error))
		return false;
	subscriber = subscribe_add(ctl->store, &request, clock_get_now(&ctl->clock),
	    &problem, &refused, error);
	if (!subscriber && count)
		ctl_explain_problem(filters[refused].text, &problem, error);
	query_problem_clear(&problem);
	if (!subscriber)
		return false;
	ctl_poke_daemon(ctl);
	warn_of_filters(ctl, options->filters);
	return print_added(ctl, subscriber, error);
}

bool
ctl_run_subscriber_add(struct ctl *ctl, int argc, char **argv, GError **error)
{
	struct add_options options = {.max = ctl->settings->digest_max};
	const GOptionEntry entries[] = {
	    {"filter", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.filters, NULL, NULL},
	    {"consent", 0, 0, G_OPTION_ARG_STRING, &options.consent, NULL, NULL},
	    {"name", 0, 0, G_OPTION_ARG_STRING, &options.name, NULL, NULL},
	    {"zone", 0, 0, G_OPTION_ARG_STRING, &options.zone, NULL, NULL},
	    {"at", 0, 0, G_OPTION_ARG_STRING, &options.at, NULL, NULL},
	    {"when", 0, 0, G_OPTION_ARG_STRING, &options.when, NULL, NULL},
	    {"days", 0, 0, G_OPTION_ARG_STRING, &options.days, NULL, NULL},
	    {"max", 0, 0, G_OPTION_ARG_INT, &options.max, NULL, NULL},
	    {0},
	};
	bool is_ok = ctl_parse(entries, 1, &argc, &argv, error);

	if (is_ok && !options.consent) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
		    "--consent is missing: how this person agreed, in words");
		is_ok = false;
	}
	is_ok = is_ok && add_subscriber(ctl, argv[1], &options, error);

	add_options_clear(&options);
	return is_ok;
}

static char *
format_rhythm(const struct subscriber *subscriber)
{
	const struct rhythm *rhythm = &subscriber->rhythm;
	g_autofree char *days = rhythm->cadence == RHYTHM_WEEKLY
	                            ? rhythm_format_weekdays(rhythm->weekdays)
	                            : NULL;

	return g_strdup_printf("%s%s%s at %02d:%02d %s",
	    rhythm_cadence_name(rhythm->cadence), days ? " on " : "", days ? days : "",
	    rhythm->minute / 60, rhythm->minute % 60, subscriber->zone);
}

static json_t *
json_of_subscriber(const struct subscriber *subscriber)
{
	g_autofree char *rhythm = format_rhythm(subscriber);

	return json_pack("{s:s, s:o, s:s, s:s, s:i, s:o, s:o, s:o}", "address",
	    subscriber->address, "name", print_json_text(subscriber->name), "state",
	    subscriber_state_name(subscriber->state), "rhythm", rhythm, "max",
	    subscriber->max_full, "next_due_at",
	    print_json_number(subscriber->next_due_at), "consent_at",
	    print_json_number(subscriber->consent_at), "consent",
	    print_json_text(subscriber->consent_text));
}

static void
list_page(const GPtrArray *people, json_t *list, GPtrArray *rows)
{
	for (unsigned i = 0; i < people->len; i++) {
		const struct subscriber *subscriber = people->pdata[i];
		g_autofree char *rhythm = format_rhythm(subscriber);
		g_autofree char *due = ctl_format_time(subscriber->next_due_at);

		if (list)
			json_array_append_new(list, json_of_subscriber(subscriber));
		else
			g_ptr_array_add(
			    rows, print_row(subscriber->address,
			              subscriber_state_name(subscriber->state), due,
			              rhythm, NULL));
	}
}

bool
ctl_run_subscriber_list(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autoptr(GPtrArray) rows =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
	json_t *list = ctl->is_json ? json_array() : NULL;
	int64_t after = 0;

	if (!ctl_parse(NULL, 0, &argc, &argv, error)) {
		json_decref(list);
		return false;
	}
	g_ptr_array_add(
	    rows, print_row("ADDRESS", "STATE", "NEXT DIGEST", "RHYTHM", NULL));
	for (;;) {
		g_autoptr(GPtrArray) people =
		    people_load_page(ctl->store, after, PAGE, error);

		if (!people) {
			json_decref(list);
			return false;
		}
		if (!people->len)
			break;
		list_page(people, list, rows);
		after = ((struct subscriber *)people->pdata[people->len - 1])->id;
	}
	if (list)
		print_json(list);
	else if (rows->len > 1)
		print_table(rows);
	else
		puts("There are no subscribers yet: paperboyctl subscriber add");
	return true;
}

static json_t *
json_of_filters(const GPtrArray *filters)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < filters->len; i++) {
		const struct subscription *filter = filters->pdata[i];

		json_array_append_new(list,
		    json_pack("{s:i, s:b, s:o, s:s, s:s, s:s}", "number",
		        filter->number, "block", (int)filter->is_block, "name",
		        print_json_text(filter->name), "text", filter->text,
		        "canonical", filter->canonical, "since", filter->since_day));
	}
	return list;
}

/* Find somebody by the one argument that is wanted, and that person's filters. */
static GPtrArray *
find_with_filters(struct ctl *ctl, int argc, char **argv,
    struct subscriber **subscriber, GError **error)
{
	if (!ctl_parse(NULL, 1, &argc, &argv, error))
		return NULL;
	*subscriber = subscribe_find(ctl->store, argv[1], error);
	return *subscriber
	           ? people_load_subscriptions(ctl->store, (*subscriber)->id, error)
	           : NULL;
}

bool
ctl_run_subscriber_show(struct ctl *ctl, int argc, char **argv, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autoptr(GPtrArray) filters = NULL;
	g_autofree char *rhythm = NULL, *due = NULL, *agreed = NULL;
	json_t *object;

	filters = find_with_filters(ctl, argc, argv, &subscriber, error);
	if (!filters)
		return false;
	if (ctl->is_json) {
		object = json_of_subscriber(subscriber);
		json_object_set_new(object, "filters", json_of_filters(filters));
		print_json(object);
		return true;
	}
	rhythm = format_rhythm(subscriber);
	due = ctl_format_time(subscriber->next_due_at);
	agreed = ctl_format_time(subscriber->consent_at);
	printf("address      %s\nname         %s\nstate        %s\nrhythm       %s\n"
	       "max          %d papers with abstract\nnext digest  %s\n"
	       "consent      %s: %s\n\n",
	    subscriber->address, subscriber->name ? subscriber->name : "-",
	    subscriber_state_name(subscriber->state), rhythm, subscriber->max_full, due,
	    agreed, subscriber->consent_text ? subscriber->consent_text : "-");
	print_filters(filters);
	return true;
}

bool
ctl_run_subscriber_remove(struct ctl *ctl, int argc, char **argv, GError **error)
{
	if (!ctl_parse(NULL, 1, &argc, &argv, error) ||
	    !subscribe_remove(
	        ctl->store, argv[1], ctl->who, clock_get_now(&ctl->clock), error))
		return false;
	if (ctl->is_json)
		print_json(json_pack("{s:s}", "removed", argv[1]));
	else
		printf("%s removed: no more mail goes there\n", argv[1]);
	return true;
}

bool
ctl_run_filter_add(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autofree char *name = NULL;
	gboolean is_block = FALSE;
	const GOptionEntry entries[] = {
	    {"name", 0, 0, G_OPTION_ARG_STRING, &name, NULL, NULL},
	    {"block", 0, 0, G_OPTION_ARG_NONE, &is_block, NULL, NULL},
	    {0},
	};
	g_autoptr(GPtrArray) warnings = NULL;
	struct query_problem problem = {0};
	struct subscribe_filter filter;
	pb_auto(subscription) subscription = NULL;

	if (!ctl_parse(entries, 2, &argc, &argv, error))
		return false;
	filter = (struct subscribe_filter){
	    .text = argv[2], .name = name, .is_block = is_block};
	subscription = subscribe_add_filter(ctl->store, argv[1], &filter, ctl->who,
	    clock_get_now(&ctl->clock), &problem, &warnings, error);
	if (!subscription)
		ctl_explain_problem(argv[2], &problem, error);
	query_problem_clear(&problem);
	if (!subscription)
		return false;
	ctl_poke_daemon(ctl);
	ctl_print_warnings(warnings);
	if (ctl->is_json)
		print_json(json_pack("{s:i, s:b, s:s}", "number", subscription->number,
		    "block", (int)is_block, "canonical", subscription->canonical));
	else
		printf("%s %d: %s\n", is_block ? "block" : "filter",
		    subscription->number, subscription->canonical);
	return true;
}

bool
ctl_run_filter_list(struct ctl *ctl, int argc, char **argv, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autoptr(GPtrArray) filters = NULL;

	filters = find_with_filters(ctl, argc, argv, &subscriber, error);
	if (!filters)
		return false;
	if (ctl->is_json)
		print_json(json_of_filters(filters));
	else
		print_filters(filters);
	return true;
}

bool
ctl_run_filter_remove(struct ctl *ctl, int argc, char **argv, GError **error)
{
	guint64 number = 0;

	if (!ctl_parse(NULL, 2, &argc, &argv, error))
		return false;
	if (!g_ascii_string_to_unsigned(argv[2], 10, 1, 9999, &number, NULL)) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "'%s' is no filter number: paperboyctl filter list %s tells them",
		    argv[2], argv[1]);
		return false;
	}
	if (!subscribe_remove_filter(ctl->store, argv[1], (int)number, ctl->who,
	        clock_get_now(&ctl->clock), error))
		return false;
	if (ctl->is_json)
		print_json(json_pack("{s:i}", "removed", (int)number));
	else
		printf("filter %d removed\n", (int)number);
	return true;
}
