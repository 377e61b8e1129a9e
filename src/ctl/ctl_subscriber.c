/*
 * ctl_subscriber.c - the commands that add, list, show and change subscribers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/listing.h"
#include "ctl/print.h"
#include "query/query.h"
#include "service/people/filters.h"
#include "service/people/profile.h"
#include "service/people/subscribe.h"
#include "store/subscriber/subscribers.h"

#define PAGE 500

/* What --filter, --zone and the like said. */
struct add_options {
	char **filters;
	char *consent, *name, *zone, *at, *frequency;
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
	g_free(options->frequency);
}

static bool
parse_rhythm(const struct ctl *ctl, const struct add_options *options,
    struct schedule *schedule, GError **error)
{
	const char *at = options->at ? options->at : ctl->settings->digest_at;

	*schedule = (struct schedule){.frequency = SCHEDULE_DAILY};
	return (!options->frequency ||
	           profile_parse_frequency(options->frequency, schedule, error)) &&
	       profile_parse_minute(at, &schedule->minute, error);
}

/* What was stored may not be what was meant. */
static void
warn_of_filters(struct ctl *ctl, char **filters)
{
	for (; filters && *filters; filters++) {
		g_autoptr(GPtrArray) warnings = NULL;
		pb_auto(query) query = query_parse(
		    *filters, store_get_tokenizer(ctl->store), &warnings, NULL, NULL);

		if (!query)
			continue;
		filters_note_untold(ctl->store, query, false, warnings, NULL);
		ctl_print_warnings(warnings);
	}
}

static bool
print_added(struct ctl *ctl, const struct subscriber *subscriber, GError **error)
{
	g_autoptr(GPtrArray) filters =
	    subscribers_load_subscriptions(ctl->store, subscriber->id, error);

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
	listing_print_filters(filters);
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
	struct query_error problem = {0};
	pb_auto(subscriber) subscriber = NULL;
	g_autoptr(GBytes) key = ctl_load_key(ctl, error);
	unsigned refused = 0;

	if (!key)
		return false;
	request.key = key;
	for (guint i = 0; i < count; i++)
		filters[i].text = options->filters[i];
	if (!parse_rhythm(ctl, options, &request.schedule, error))
		return false;
	subscriber = subscribe_add(ctl->store, &request, clock_get_now(&ctl->clock),
	    &problem, &refused, error);
	if (!subscriber && count)
		ctl_explain_problem(filters[refused].text, &problem, error);
	query_error_clear(&problem);
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
	    {"cadence", 0, 0, G_OPTION_ARG_STRING, &options.frequency, NULL, NULL},
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

static void
list_page(const GPtrArray *people, json_t *list, GPtrArray *rows)
{
	for (unsigned i = 0; i < people->len; i++) {
		const struct subscriber *subscriber = people->pdata[i];
		g_autofree char *schedule = listing_format_rhythm(subscriber);
		g_autofree char *state = listing_format_state(subscriber);
		g_autofree char *due = ctl_format_time(subscriber->next_due_at);

		if (list)
			json_array_append_new(
			    list, listing_json_subscriber(subscriber));
		else
			g_ptr_array_add(rows,
			    print_row(subscriber->address, state, due, schedule, NULL));
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
		    subscribers_load_page(ctl->store, after, PAGE, error);

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
		puts("There are no subscribers: paperboyctl subscriber add");
	return true;
}

bool
ctl_run_subscriber_show(struct ctl *ctl, int argc, char **argv, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autoptr(GPtrArray) filters = NULL;
	json_t *object;

	if (!ctl_parse(NULL, 1, &argc, &argv, error))
		return false;
	subscriber = subscribe_load(ctl->store, argv[1], error);
	filters = subscriber ? subscribers_load_subscriptions(
	                           ctl->store, subscriber->id, error)
	                     : NULL;
	if (!filters)
		return false;
	if (ctl->is_json) {
		object = listing_json_subscriber(subscriber);
		json_object_set_new(object, "filters", listing_json_filters(filters));
		print_json(object);
		return true;
	}
	listing_print_subscriber(subscriber);
	putchar('\n');
	listing_print_filters(filters);
	return true;
}

/* What became of a change: the person as JSON, or a line and the next digest. */
static bool
print_changed(struct ctl *ctl, const struct subscriber *subscriber, const char *words)
{
	g_autofree char *due = ctl_format_time(subscriber->next_due_at);

	ctl_poke_daemon(ctl);
	if (ctl->is_json)
		print_json(listing_json_subscriber(subscriber));
	else
		printf("%s %s; next digest %s\n", subscriber->address, words, due);
	return true;
}

static bool
set(struct ctl *ctl, const char *address, struct profile_change *change, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autofree char *schedule = NULL;
	g_autofree char *words = NULL;

	if (!profile_is_change(change)) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
		    "say what to set: --zone, --at, --cadence, --max or --name; "
		    "--help tells more");
		return false;
	}
	change->who = ctl->who;
	subscriber =
	    profile_set(ctl->store, address, change, clock_get_now(&ctl->clock), error);
	if (!subscriber)
		return false;
	schedule = listing_format_rhythm(subscriber);
	words = g_strdup_printf(
	    "is now %s, %d papers with abstract", schedule, subscriber->max_full);
	return print_changed(ctl, subscriber, words);
}

bool
ctl_run_subscriber_set(struct ctl *ctl, int argc, char **argv, GError **error)
{
	char *name = NULL, *zone = NULL, *at = NULL, *frequency = NULL,
	     *language = NULL;
	char *words[PREFERENCE_COUNT] = {0};
	int max = G_MININT;
	const GOptionEntry entries[] = {
	    {"name", 0, 0, G_OPTION_ARG_STRING, &name, NULL, NULL},
	    {"zone", 0, 0, G_OPTION_ARG_STRING, &zone, NULL, NULL},
	    {"at", 0, 0, G_OPTION_ARG_STRING, &at, NULL, NULL},
	    {"cadence", 0, 0, G_OPTION_ARG_STRING, &frequency, NULL, NULL},
	    {"max", 0, 0, G_OPTION_ARG_INT, &max, NULL, NULL},
	    {"language", 0, 0, G_OPTION_ARG_STRING, &language, NULL, NULL},
	    {"order", 0, 0, G_OPTION_ARG_STRING, &words[PREFERENCE_ORDER], NULL, NULL},
	    {"abstract", 0, 0, G_OPTION_ARG_STRING, &words[PREFERENCE_ABSTRACT], NULL,
	        NULL},
	    {"format", 0, 0, G_OPTION_ARG_STRING, &words[PREFERENCE_FORMAT], NULL,
	        NULL},
	    {"quiet", 0, 0, G_OPTION_ARG_STRING, &words[PREFERENCE_EMPTY], NULL, NULL},
	    {"updates", 0, 0, G_OPTION_ARG_STRING, &words[PREFERENCE_UPDATES], NULL,
	        NULL},
	    {"crosslist", 0, 0, G_OPTION_ARG_STRING, &words[PREFERENCE_CROSSLIST], NULL,
	        NULL},
	    {"attach", 0, 0, G_OPTION_ARG_STRING, &words[PREFERENCE_ATTACH], NULL,
	        NULL},
	    {0},
	};
	bool is_ok = ctl_parse(entries, 1, &argc, &argv, error);
	struct profile_change change = {.name = name,
	    .zone = zone,
	    .at = at,
	    .frequency = frequency,
	    .language = language};

	memcpy(change.words, words, sizeof(words));

	/* Checked here, since 0 says there that it stays. */
	if (is_ok && max != G_MININT)
		is_ok = profile_check_max(change.max_full = max, error);
	is_ok = is_ok && set(ctl, argv[1], &change, error);
	for (int i = 0; i < PREFERENCE_COUNT; i++)
		g_free(words[i]);
	g_free(language);
	g_free(name);
	g_free(zone);
	g_free(at);
	g_free(frequency);
	return is_ok;
}

bool
ctl_run_subscriber_pause(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autofree char *until = NULL;
	const GOptionEntry entries[] = {
	    {"until", 0, 0, G_OPTION_ARG_STRING, &until, NULL, NULL}, {0}};
	pb_auto(subscriber) subscriber = NULL;
	g_autofree char *words = NULL;

	if (!ctl_parse(entries, 1, &argc, &argv, error))
		return false;
	subscriber = profile_pause(
	    ctl->store, argv[1], until, ctl->who, clock_get_now(&ctl->clock), error);
	if (!subscriber)
		return false;
	words = listing_format_state(subscriber);
	return print_changed(ctl, subscriber, words);
}

bool
ctl_run_subscriber_resume(struct ctl *ctl, int argc, char **argv, GError **error)
{
	int max = G_MININT;
	const GOptionEntry entries[] = {
	    {"catch-up", 0, 0, G_OPTION_ARG_INT, &max, NULL, NULL}, {0}};
	pb_auto(subscriber) subscriber = NULL;

	/* Checked here, since 0 says there that it is as any other digest. */
	if (!ctl_parse(entries, 1, &argc, &argv, error) ||
	    (max != G_MININT && !profile_check_max(max, error)))
		return false;
	subscriber = profile_resume(ctl->store, argv[1], max == G_MININT ? 0 : max,
	    ctl->who, clock_get_now(&ctl->clock), error);
	return subscriber &&
	       print_changed(ctl, subscriber, "active, with what was missed");
}
