/*
 * ctl_subscriber.c - the commands on subscribers, invitations, confirmations and
 * suppressions.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/subscriber_print.h"
#include "ctl/table.h"
#include "query/query.h"
#include "service/inbound/handler_request.h"
#include "service/people/erase.h"
#include "service/people/filters.h"
#include "service/people/person.h"
#include "service/people/policy.h"
#include "service/people/profile.h"
#include "service/people/subscribe.h"
#include "service/setup/factory.h"
#include "service/state/own_addresses.h"
#include "service/taste/answers.h"
#include "store/subscriber/confirmations.h"
#include "store/subscriber/subscribers.h"
#include "store/subscriber/suppression.h"

static bool
parse_schedule(const struct ctl *ctl, struct schedule *schedule, GError **error)
{
	const struct ctl_options *options = &ctl->options;
	const char *at = options->at ? options->at : ctl->settings->digest_at;

	*schedule = (struct schedule){.frequency = SCHEDULE_DAILY};
	return (!options->frequency ||
	           profile_parse_frequency(options->frequency, schedule, error)) &&
	       profile_parse_minute(at, &schedule->minute, error);
}

/* Warnings are printed after the filters are stored. */
static void
warn_of_filters(struct ctl *ctl, char **filters)
{
	for (; filters && *filters; filters++) {
		g_autoptr(GPtrArray) warnings = NULL;
		pb_auto(query) query = query_parse(
		    *filters, store_get_tokenizer(ctl->store), &warnings, NULL, NULL);

		if (!query)
			continue;
		filters_add_notes(ctl->store, query, false, warnings, NULL);
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
	print_result(ctl,
	    json_pack("{s:s, s:i}", "address", subscriber->address, "filters",
	        (int)filters->len),
	    "%s added%s\n", subscriber->address,
	    filters->len ? "; the first digest is sent once papers match" : "");
	if (!ctl->is_json)
		subscriber_print_filters(ctl, filters);
	return true;
}

/* The operator can subscribe everybody, as long as subscribe.max allows it. */
static bool
check_room(struct ctl *ctl, const char *address, GError **error)
{
	enum policy_verdict verdict;

	return policy_decide(ctl->store, ctl->settings, address, POLICY_OPERATOR,
	           &verdict, error) &&
	       (verdict == POLICY_ALLOWED ||
	           pb_fail(error, PB_ERROR_LIMIT, "subscribe.max is reached: %d",
	               ctl->settings->subscribe_max));
}

static bool
add_subscriber(struct ctl *ctl, const char *address, GError **error)
{
	const struct ctl_options *options = &ctl->options;
	guint count = options->filters ? g_strv_length(options->filters) : 0;
	g_autofree struct subscribe_filter *filters =
	    g_new0(struct subscribe_filter, count + 1);
	struct subscribe_request request = {
	    .address = address,
	    .name = options->name,
	    .consent = options->consent,
	    .zone = options->zone ? options->zone : ctl->settings->digest_zone,
	    .max_full = ctl_get_number(options->max, ctl->settings->digest_max),
	    .filters = filters,
	    .filter_count = count,
	    .who = ctl->who,
	};
	pb_local(query_error) query_error = {0};
	pb_auto(subscriber) subscriber = NULL;
	unsigned refused = 0;

	request.key = ctl_get_key(ctl, error);
	if (!request.key)
		return false;
	for (guint i = 0; i < count; i++)
		filters[i].text = options->filters[i];
	if (!parse_schedule(ctl, &request.schedule, error) ||
	    !check_room(ctl, address, error))
		return false;
	subscriber = subscribe_add(ctl->store, &request, clock_get_now(&ctl->clock),
	    &query_error, &refused, error);
	if (!subscriber && count)
		ctl_print_query_error(filters[refused].text, &query_error, error);
	if (!subscriber)
		return false;
	ctl_wake_daemon(ctl);
	warn_of_filters(ctl, options->filters);
	return print_added(ctl, subscriber, error);
}

bool
ctl_run_subscriber_add(struct ctl *ctl, GError **error)
{
	if (ctl->options.consent)
		return add_subscriber(ctl, ctl->argv[1], error);
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
	    "--consent is missing: how the person agreed, in words");
	return false;
}

static GPtrArray *
load_batch(void *store, const void *last, GError **error)
{
	const struct subscriber *before = last;

	return subscribers_load_batch(
	    store, before ? before->id : 0, TABLE_BATCH_ROWS, error);
}

bool
ctl_run_subscriber_list(struct ctl *ctl, GError **error)
{
	const struct table table = {subscriber_columns,
	    "No subscribers: paperboyctl subscriber add", load_batch, ctl->store};

	return table_print_pages(ctl, &table, error);
}

static void
print_bounces(const struct bounce_summary *bounces)
{
	g_autofree char *counts = print_format_bounces(bounces);
	g_autofree char *last = day_format_minute(bounces->last_at);

	printf("bounces      %s; last %s: see paperboyctl bounce show\n", counts, last);
}

bool
ctl_run_subscriber_show(struct ctl *ctl, GError **error)
{
	const struct bounce_summary no_bounces = {0};
	pb_auto(subscriber) subscriber = NULL;
	pb_local(answers) answers = {0};
	g_autoptr(GPtrArray) filters = NULL;
	g_autofree struct bounce_summary *bounces = NULL;
	unsigned words;

	subscriber = person_load(ctl->store, ctl->argv[1], error);
	filters = subscriber ? subscribers_load_subscriptions(
	                           ctl->store, subscriber->id, error)
	                     : NULL;
	if (!filters ||
	    !bounces_find_summary(ctl->store, subscriber->id, 0, &bounces, error) ||
	    !answers_load(ctl->store, subscriber->id, &answers, error))
		return false;
	words = answers.raising->len + answers.lowering->len + answers.other_words;
	if (ctl->is_json) {
		json_t *object = subscriber_to_json(subscriber, filters);

		json_object_set_new(object, "bounces",
		    print_json_bounces(bounces ? bounces : &no_bounces));
		json_object_set_new(object, "answers",
		    json_pack("{s:i, s:i, s:i}", "liked", (int)answers.likes, "hidden",
		        (int)answers.hides, "words", (int)words));
		print_json(object);
		return true;
	}
	subscriber_print(subscriber);
	if (bounces)
		print_bounces(bounces);
	if (answers.likes + answers.hides)
		printf("answers      %u liked, %u hidden; %u words learned\n",
		    answers.likes, answers.hides, words);
	putchar('\n');
	subscriber_print_filters(ctl, filters);
	return true;
}

static bool
print_changed(struct ctl *ctl, const struct subscriber *subscriber, const char *text)
{
	g_autofree char *due = day_format_minute(subscriber->next_due_at);

	ctl_wake_daemon(ctl);
	return print_result(ctl, subscriber_to_json(subscriber, NULL),
	    "%s %s; next digest %s\n", subscriber->address, text, due);
}

bool
ctl_run_subscriber_set(struct ctl *ctl, GError **error)
{
	const struct ctl_options *options = &ctl->options;
	struct profile_change change = {
	    .name = options->name,
	    .zone = options->zone,
	    .at = options->at,
	    .frequency = options->frequency,
	    .language = options->language,
	    .max_full = ctl_get_number(options->max, 0),
	    .who = ctl->who,
	};
	pb_auto(subscriber) subscriber = NULL;
	g_autofree char *schedule = NULL, *text = NULL;

	memcpy(change.words, options->words, sizeof(change.words));
	/* Checked here: profile_set() takes 0 as unchanged. */
	if (options->max != CTL_UNSET && !profile_check_max(options->max, error))
		return false;
	if (!profile_is_change(&change)) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
		    "nothing to set: give --zone, --at, --cadence, --max or another "
		    "option of --help");
		return false;
	}
	subscriber = profile_set(
	    ctl->store, ctl->argv[1], &change, clock_get_now(&ctl->clock), error);
	if (!subscriber)
		return false;
	schedule = subscriber_format_schedule(subscriber);
	text = g_strdup_printf(
	    "is now %s, %d papers with abstract", schedule, subscriber->max_full);
	return print_changed(ctl, subscriber, text);
}

bool
ctl_run_subscriber_pause(struct ctl *ctl, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;
	g_autofree char *state = NULL;

	subscriber = profile_pause(ctl->store, ctl->argv[1], ctl->options.until,
	    ctl->who, clock_get_now(&ctl->clock), error);
	if (!subscriber)
		return false;
	state = subscriber_format_state(subscriber);
	return print_changed(ctl, subscriber, state);
}

bool
ctl_run_subscriber_resume(struct ctl *ctl, GError **error)
{
	int max = ctl->options.catch_up;
	pb_auto(subscriber) subscriber = NULL;

	/* Checked here: profile_resume() takes 0 as the usual number. */
	if (max != CTL_UNSET && !profile_check_max(max, error))
		return false;
	subscriber = profile_resume(ctl->store, ctl->argv[1], ctl_get_number(max, 0),
	    ctl->who, clock_get_now(&ctl->clock), error);
	return subscriber && print_changed(ctl, subscriber,
	                         "active; the next digest has the papers missed");
}

/* ---- invitations ---- */

struct invitation {
	const struct handler_options *options;
	const char *who, *address;
	const char *reason; /* set */
};

static bool
invite(struct store *store, void *data, GError **error)
{
	struct invitation *invitation = data;
	struct handler_report report = {0};
	struct request request;

	handler_request_init(
	    &request, store, invitation->options, "", invitation->who, &report);
	return handler_invite(
	    &request, invitation->address, &invitation->reason, error);
}

/* @param count  increased */
static bool
invite_all(
    struct ctl *ctl, const struct handler_options *options, int *count, GError **error)
{
	for (int i = 1; i < ctl->argc; i++) {
		struct invitation invitation = {options, ctl->who, ctl->argv[i], NULL};
		g_autoptr(GError) problem = NULL;

		if (!store_transact(ctl->store, invite, &invitation, &problem)) {
			/* A wrong address does not keep the others from their mail. */
			if (ctl->argc == 2 ||
			    !g_error_matches(problem, PB_ERROR, PB_ERROR_INPUT)) {
				g_prefix_error(&problem, "%s: ", ctl->argv[i]);
				return pb_error_forward(error, &problem);
			}
			invitation.reason = problem->message;
		}
		*count += !invitation.reason;
		if (invitation.reason)
			fprintf(stderr, "%s: not invited: %s\n", ctl->argv[i],
			    invitation.reason);
	}
	return true;
}

bool
ctl_run_invite(struct ctl *ctl, GError **error)
{
	GBytes *key = ctl_get_key(ctl, error);
	pb_auto(renderer) renderer =
	    key ? factory_new_renderer(ctl->settings, key, error) : NULL;
	pb_auto(own_addresses) own =
	    renderer ? own_addresses_new(ctl->settings, error) : NULL;
	struct handler_options options = {.settings = ctl->settings,
	    .own_addresses = own,
	    .renderer = renderer,
	    .key = key,
	    .random = &random_system,
	    .now = clock_get_now(&ctl->clock)};
	int count = 0;

	if (!own)
		return false;
	if (!own->has_commands)
		return pb_fail(error, PB_ERROR_INPUT,
		    "commands.address is not set: there is no address for replies");
	options.phrases = renderer_get_catalog(renderer);
	if (!invite_all(ctl, &options, &count, error))
		return false;
	ctl_wake_daemon(ctl);
	if (count < ctl->argc - 1)
		ctl->status = 1;
	return print_result(ctl, json_pack("{s:i}", "invited", count),
	    "%d %s invited\n", count, count == 1 ? "address" : "addresses");
}

/* ---- confirmations ---- */

static char *
format_purpose(const void *data)
{
	const struct confirmation *confirmation = data;

	return g_strdup(confirmation_purpose_name(confirmation->purpose));
}

static char *
format_sender_kind(const void *data)
{
	const struct confirmation *confirmation = data;

	return g_strdup(confirmation->subscriber_id ? "subscriber" : "unknown");
}

static json_t *
pack_is_subscriber(const void *data)
{
	return json_boolean(((const struct confirmation *)data)->subscriber_id != 0);
}

static const struct table_column confirmation_columns[] = {
    TABLE_COLUMN("ID", "id", TABLE_INT64, confirmation, id),
    TABLE_COLUMN_STRING("PURPOSE", "purpose", format_purpose),
    TABLE_COLUMN("CREATED", "created_at", TABLE_TIME, confirmation, made_at),
    TABLE_COLUMN("EXPIRES", "expires_at", TABLE_TIME, confirmation, expires_at),
    TABLE_COLUMN_STRING("SENDER", NULL, format_sender_kind),
    TABLE_COLUMN("RECIPIENT", "recipient", TABLE_TEXT, confirmation, recipient),
    TABLE_COLUMN(NULL, "address", TABLE_TEXT, confirmation, address),
    TABLE_COLUMN_JSON("is_subscriber", pack_is_subscriber),
    {0},
};

static GPtrArray *
load_confirmations(void *data, const void *last, GError **error)
{
	const struct ctl *ctl = data;
	const struct confirmation *before = last;

	return confirmations_load_batch(ctl->store, clock_get_now(&ctl->clock),
	    before ? before->id : 0, TABLE_BATCH_ROWS, error);
}

bool
ctl_run_confirmation_list(struct ctl *ctl, GError **error)
{
	const struct table table = {
	    confirmation_columns, "No pending confirmations.", load_confirmations, ctl};

	return table_print_pages(ctl, &table, error);
}

/* ---- remove and forget; suppressions ---- */

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
load_suppressions(void *store, const void *last, GError **error)
{
	const struct suppression *before = last;

	return suppression_load_batch(
	    store, before ? before->hash : "", TABLE_BATCH_ROWS, error);
}

bool
ctl_run_suppression_list(struct ctl *ctl, GError **error)
{
	const struct table table = {suppression_columns, "No suppressed addresses.",
	    load_suppressions, ctl->store};

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
