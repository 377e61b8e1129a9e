/*
 * filters.c - add, edit, rename and reorder a subscriber's filters.
 */
#include "service/people/filters.h"
#include "service/people/person.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "base/zone.h"
#include "model/digest.h"
#include "service/match/match.h"
#include "service/people/profile.h"
#include "store/paper/papers.h"
#include "store/subscriber/audit.h"
#include "store/subscriber/subscribers.h"

bool
filters_load_start(
    struct store *store, int64_t now, struct filters_start *start, GError **error)
{
	char oldest_day[DAY_BYTES];

	day_format(now - DIGEST_FIRST_DAYS * (int64_t)CLOCK_DAY_S, start->since_day);
	day_format(now - MATCH_WAIT_DAYS * (int64_t)CLOCK_DAY_S, oldest_day);
	return papers_load_revision_before(
	    store, oldest_day, &start->matched_revision, error);
}

static bool
add_source_notes(
    struct store *store, const struct query *query, GPtrArray *notes, GError **error)
{
	g_autoptr(GPtrArray) asked = query_list_sources(query);
	g_autoptr(GPtrArray) known = NULL;
	g_autofree char *list = NULL;

	if (!asked->len)
		return true;
	known = papers_load_services(store, error);
	if (!known)
		return false;
	g_ptr_array_add(known, NULL);
	list = g_strjoinv(", ", (char **)known->pdata);
	for (unsigned i = 0; i < asked->len && *list; i++)
		if (!g_strv_contains(
		        (const char *const *)known->pdata, asked->pdata[i]))
			g_ptr_array_add(notes,
			    msg_new(N_("unknown source '{name}'; known: {all}"), "name",
			        (char *)asked->pdata[i], "all", list, NULL));
	return true;
}

/* Format a list of the clauses that can delay papers; NULL if there are none. */
static char *
join_slow(const GPtrArray *slow, bool is_negated)
{
	GString *list = g_string_new(NULL);

	for (unsigned i = 0; i < slow->len; i++) {
		const struct query_slow *one = slow->pdata[i];

		if (one->is_negated == is_negated)
			g_string_append_printf(
			    list, "%s%s", list->len ? ", " : "", one->text);
	}
	return g_string_free(list, list->len == 0);
}

static void
add_delay_note(const struct query *query, const GPtrArray *slow, GPtrArray *notes)
{
	g_autofree char *negated = join_slow(slow, true);
	g_autofree char *other = join_slow(slow, false);

	if (negated)
		g_ptr_array_add(notes,
		    msg_new(N_("papers come up to {days} days late: until then a "
		               "source can make this false: {clauses}"),
		        "days", MSG_INT(MATCH_WAIT_DAYS), "clauses", negated, NULL));
	else if (other && query_has_relative_date(query))
		g_ptr_array_add(notes,
		    msg_new(N_("papers come up to {days} days late: the date is "
		               "measured from the day on which a paper is first seen, "
		               "and this can become known later: {clauses}"),
		        "days", MSG_INT(MATCH_WAIT_DAYS), "clauses", other, NULL));
}

static bool
add_undecided_notes(
    struct store *store, const GPtrArray *slow, GPtrArray *notes, GError **error)
{
	for (unsigned i = 0; i < slow->len; i++) {
		const struct query_slow *one = slow->pdata[i];
		bool has = true;

		if (!papers_has_field(store, one->name, &has, error))
			return false;
		if (!has)
			g_ptr_array_add(notes,
			    msg_new(one->is_negated
			                ? N_("{clause} can never be decided: no source "
			                     "has reported this for any paper so far; "
			                     "after {days} days it counts as true")
			                : N_("{clause} can never be decided: no source "
			                     "has reported this for any paper so far; "
			                     "after {days} days it counts as false"),
			        "clause", one->text, "days", MSG_INT(MATCH_WAIT_DAYS),
			        NULL));
	}
	return true;
}

bool
filters_add_notes(struct store *store, const struct query *query, bool is_block,
    GPtrArray *notes, GError **error)
{
	bool has_categories = true;
	g_autoptr(GPtrArray) slow = query_list_slow(query);

	if (!is_block)
		add_delay_note(query, slow, notes);
	if (!add_undecided_notes(store, slow, notes, error))
		return false;

	if (query_get_lookups(query) & PAPER_LOOKUP_ARXIV &&
	    !papers_has_categories(store, &has_categories, error))
		return false;
	if (!has_categories)
		g_ptr_array_add(
		    notes, msg_new(N_("no data from arXiv yet: until then categories, "
		                      "comment, journal and doi can never be decided "
		                      "and count as missing after two hours"),
		               NULL));
	return add_source_notes(store, query, notes, error);
}

/* Results of parsing a query, besides the subscription. */
struct parsed {
	struct query_error *problem; /* borrowed, or NULL */
	GPtrArray *warnings;
	char *hash;
};

static void
parsed_clear(struct parsed *parsed)
{
	g_clear_pointer(&parsed->warnings, g_ptr_array_unref);
	g_clear_pointer(&parsed->hash, g_free);
}

static bool
set_query(struct store *store, struct subscription *subscription, const char *text,
    struct parsed *parsed, GError **error)
{
	pb_auto(query) query = query_parse(text, store_get_tokenizer(store),
	    &parsed->warnings, parsed->problem, error);

	if (!query || !filters_add_notes(store, query, subscription->is_block,
	                  parsed->warnings, error))
		return false;
	g_free(subscription->text);
	subscription->text = g_strdup(text);
	g_free(subscription->canonical);
	subscription->canonical = query_format(query);
	parsed->hash = query_hash(query);
	return true;
}

static bool
check_labels(const char *name, const char *note, int max_papers, GError **error)
{
	return text_check_line("name", name, BOUNDS_FILTER_NAME, error) &&
	       text_check_line("note", note, BOUNDS_FILTER_NOTE, error) &&
	       (!max_papers || profile_check_max(max_papers, error));
}

/*
 * Check a name: it must be unique, and distinct from any number.
 *
 * @param number  of the filter to be named, or 0 for a new one
 */
static bool
check_name_is_free(const GPtrArray *own, int number, const char *name, GError **error)
{
	if (!name)
		return true;
	if (*name && strspn(name, "0123456789") == strlen(name)) {
		return pb_error_set(
		    error, PB_ERROR_INPUT, FILTERS_NAME_NUMBER, "name", name, NULL);
	}
	for (unsigned i = 0; i < own->len; i++) {
		const struct subscription *one = own->pdata[i];

		if (one->number == number || !one->name ||
		    g_ascii_strcasecmp(one->name, name) != 0)
			continue;
		return pb_error_set(error, PB_ERROR_INPUT, FILTERS_NAME_TAKEN, "name",
		    name, "number", MSG_INT(one->number), NULL);
	}
	return true;
}

/* Load the filters of the subscriber, and check a name against them. */
static bool
check_new_name(struct store *store, const struct subscription *subscription,
    const char *name, GError **error)
{
	g_autoptr(GPtrArray) own =
	    subscribers_load_subscriptions(store, subscription->subscriber_id, error);

	return own && check_name_is_free(own, subscription->number, name, error);
}

static bool
check_is_new(
    const GPtrArray *own, const struct subscription *subscription, GError **error)
{
	for (unsigned i = 0; i < own->len; i++) {
		const struct subscription *one = own->pdata[i];

		if (one->number != subscription->number &&
		    strcmp(one->canonical, subscription->canonical) == 0)
			return pb_error_set(error, PB_ERROR_INPUT,
			    N_("filter {number} is the same: {filter}"), "number",
			    MSG_INT(one->number), "filter", subscription->canonical,
			    NULL);
	}
	return true;
}

/* @return the smallest unused number */
static int
find_free_number(const GPtrArray *own)
{
	int number = 1;

	while (subscription_find_number(own, number))
		number++;
	return number;
}

static struct subscription *
prepare(struct store *store, const GPtrArray *own,
    const struct subscribe_filter *filter, struct parsed *parsed, GError **error)
{
	int most = filter->most ? filter->most : BOUNDS_FILTERS_PERSON;
	pb_auto(subscription) subscription = subscription_new();

	if (!check_labels(filter->name, filter->note, filter->max_papers, error) ||
	    !check_name_is_free(own, 0, filter->name, error))
		return NULL;
	if ((int)own->len >= most) {
		pb_error_set(error, PB_ERROR_LIMIT,
		    N_("limit of {most} filters reached"), "most", MSG_INT(most), NULL);
		return NULL;
	}
	subscription->is_block = filter->is_block;
	if (!set_query(store, subscription, filter->text, parsed, error) ||
	    !check_is_new(own, subscription, error))
		return NULL;
	subscription->number = filter->number ? filter->number : find_free_number(own);
	subscription->name = g_strdup(filter->name);
	subscription->note = g_strdup(filter->note);
	subscription->max_papers = filter->max_papers;
	return g_steal_pointer(&subscription);
}

struct subscription *
filters_prepare(struct store *store, const GPtrArray *own,
    const struct subscribe_filter *filter, struct query_error *problem, GError **error)
{
	pb_local(parsed) parsed = {.problem = problem};
	struct subscription *subscription = prepare(store, own, filter, &parsed, error);

	return subscription;
}

static bool
insert(struct store *store, const struct filters_insertion *to,
    struct subscription *subscription, const char *hash, GError **error)
{
	subscription->subscriber_id = to->subscriber_id;
	g_strlcpy(subscription->since_day, to->start->since_day,
	    sizeof(subscription->since_day));
	return subscribers_insert_subscription(
	    store, subscription, hash, to->start->matched_revision, to->now, error);
}

struct subscription *
filters_insert(struct store *store, const struct filters_insertion *to,
    const struct subscribe_filter *filter, GError **error)
{
	g_autoptr(GPtrArray) own =
	    subscribers_load_subscriptions(store, to->subscriber_id, error);
	pb_local(parsed) parsed = {.problem = to->problem};
	pb_auto(subscription) subscription =
	    own ? prepare(store, own, filter, &parsed, error) : NULL;
	bool is_ok =
	    subscription && insert(store, to, subscription, parsed.hash, error);

	if (is_ok && to->warnings)
		*to->warnings = g_steal_pointer(&parsed.warnings);
	return is_ok ? g_steal_pointer(&subscription) : NULL;
}

static struct subscription *
find_number(const GPtrArray *own, int number, GError **error)
{
	struct subscription *found = subscription_find_number(own, number);

	if (!found)
		pb_error_set(error, PB_ERROR_NOT_FOUND, N_("no such filter: {number}"),
		    "number", MSG_INT(number), NULL);
	return found;
}

/* Remove the filter with a number from an array of filters. */
static struct subscription *
steal_number(GPtrArray *own, int number, GError **error)
{
	struct subscription *found = find_number(own, number, error);
	guint index;

	return found && g_ptr_array_find(own, found, &index)
	           ? g_ptr_array_steal_index(own, index)
	           : NULL;
}

struct subscription *
filters_load(struct store *store, const char *address, int number, GError **error)
{
	pb_auto(subscriber) subscriber = person_load(store, address, error);
	g_autoptr(GPtrArray) own =
	    subscriber ? subscribers_load_subscriptions(store, subscriber->id, error)
	               : NULL;

	return own ? steal_number(own, number, error) : NULL;
}

/* Shift the filters between two positions by one; the moved one is parked. */
static bool
shift(struct store *store, const GPtrArray *own, int from, int to, GError **error)
{
	bool is_up = to < from;

	/* Start next to the vacated position, so that each target is free. */
	for (unsigned i = 0; i < own->len; i++) {
		const struct subscription *other =
		    own->pdata[is_up ? own->len - 1 - i : i];
		bool is_between = is_up ? other->number >= to && other->number < from
		                        : other->number > from && other->number <= to;

		if (is_between && !subscribers_number_subscription(store, other->id,
		                      other->number + (is_up ? 1 : -1), error))
			return false;
	}
	return true;
}

static bool
move(struct store *store, GPtrArray *own, int from, int to, GError **error)
{
	pb_auto(subscription) moved = steal_number(own, from, error);
	int free_number = FILTERS_NUMBER_MAX;

	if (!moved)
		return false;
	if (!subscription_find_number(own, to))
		return subscribers_number_subscription(store, moved->id, to, error);
	/* Find a number that is unused before and after the shift; the limit on filters
	 * is far below the number of numbers. */
	while (subscription_find_number(own, free_number - 1) ||
	       subscription_find_number(own, free_number) ||
	       subscription_find_number(own, free_number + 1))
		free_number--;
	return subscribers_number_subscription(store, moved->id, free_number, error) &&
	       shift(store, own, from, to, error) &&
	       subscribers_number_subscription(store, moved->id, to, error);
}

struct numbers {
	int from, to;
};

static bool
move_own(struct store *store, struct subscriber *subscriber,
    const struct person_change *change, GError **error)
{
	const struct numbers *numbers = change->data;
	int from = numbers->from, to = numbers->to;
	g_autofree char *detail = g_strdup_printf("filter %d is now %d", from, to);
	g_autoptr(GPtrArray) own =
	    subscribers_load_subscriptions(store, subscriber->id, error);

	if (!own)
		return false;
	if (from == to && subscription_find_number(own, from))
		return true;
	return move(store, own, from, to, error) &&
	       audit_insert(store, change->now, change->who, "filter moved",
	           subscriber->id, detail, error);
}

bool
filters_move(struct store *store, const char *address, int from, int to,
    const char *who, int64_t now, GError **error)
{
	struct numbers numbers = {from, to};
	const struct person_change change = {address, who, now, move_own, &numbers};
	pb_auto(subscriber) subscriber = NULL;

	if (to < 1 || to > FILTERS_NUMBER_MAX)
		return pb_fail(error, PB_ERROR_INPUT,
		    "a filter's number must be from 1 to %d", FILTERS_NUMBER_MAX);
	subscriber = person_transact(store, &change, error);
	return subscriber != NULL;
}

struct naming {
	int number;
	const char *name; /* or NULL */
};

static bool
rename_own(struct store *store, struct subscriber *subscriber,
    const struct person_change *change, GError **error)
{
	const struct naming *naming = change->data;
	const char *name = naming->name;
	g_autofree char *detail = g_strdup_printf("filter %d: %s%s%s", naming->number,
	    name ? "\"" : "", name ? name : "no name", name ? "\"" : "");
	pb_auto(subscription) subscription =
	    filters_load(store, change->address, naming->number, error);

	return subscription && check_new_name(store, subscription, name, error) &&
	       subscribers_name_subscription(store, subscription->id, name, error) &&
	       audit_insert(store, change->now, change->who, "filter renamed",
	           subscriber->id, detail, error);
}

bool
filters_rename(struct store *store, const char *address, int number, const char *name,
    const char *who, int64_t now, GError **error)
{
	struct naming naming = {number, name && *name ? name : NULL};
	const struct person_change change = {address, who, now, rename_own, &naming};
	pb_auto(subscriber) subscriber = NULL;

	if (!text_check_line("name", naming.name, BOUNDS_FILTER_NAME, error))
		return false;
	subscriber = person_transact(store, &change, error);
	return subscriber != NULL;
}

/* Choose the first day of the new query; see filters_edit(). */
static void
choose_since(const struct subscriber *subscriber, struct subscription *subscription,
    const struct filters_start *start, int64_t now)
{
	g_autoptr(GTimeZone) zone = zone_load_or_utc(subscriber->zone);
	struct schedule_slot slot;
	char day[DAY_BYTES];

	if (subscriber->state == SUBSCRIBER_PAUSED)
		return;
	schedule_get_latest(&subscriber->schedule, zone, now, &slot);
	day_format(slot.at, day);
	if (strcmp(start->since_day, day) < 0)
		g_strlcpy(day, start->since_day, sizeof(day));
	if (strcmp(day, subscription->since_day) > 0)
		g_strlcpy(subscription->since_day, day, sizeof(day));
}

static bool
save_edit(struct store *store, const struct filters_change *change,
    struct subscription *subscription, const char *hash, int64_t now, GError **error)
{
	pb_auto(subscriber) subscriber =
	    subscribers_load(store, subscription->subscriber_id, error);
	struct filters_start start;

	if (!subscriber || !filters_load_start(store, now, &start, error))
		return false;
	choose_since(subscriber, subscription, &start, now);
	return subscribers_change_subscription(
	           store, subscription, hash, start.matched_revision, now, error) &&
	       audit_insert(store, now, change->who, "filter changed", subscriber->id,
	           subscription->canonical, error);
}

static const char *
choose_label(const char *wanted)
{
	return wanted && *wanted ? wanted : NULL;
}

static bool
set_labels(struct subscription *subscription, const GPtrArray *own,
    const struct filters_change *change, GError **error)
{
	if (!check_labels(choose_label(change->name), choose_label(change->note),
	        MAX(change->max_papers, 0), error) ||
	    !check_name_is_free(
	        own, subscription->number, choose_label(change->name), error))
		return false;
	if (change->name) {
		g_free(subscription->name);
		subscription->name = g_strdup(choose_label(change->name));
	}
	if (change->note) {
		g_free(subscription->note);
		subscription->note = g_strdup(choose_label(change->note));
	}
	if (change->max_papers)
		subscription->max_papers = MAX(change->max_papers, 0);
	return true;
}

static struct subscription *
prepare_edit(struct store *store, const GPtrArray *own,
    const struct filters_change *change, struct parsed *parsed, GError **error)
{
	const struct subscription *found = find_number(own, change->number, error);
	pb_auto(subscription) subscription = found ? subscription_copy(found) : NULL;

	if (!subscription || !set_labels(subscription, own, change, error) ||
	    !set_query(store, subscription, change->text, parsed, error) ||
	    !check_is_new(own, subscription, error))
		return NULL;
	return g_steal_pointer(&subscription);
}

struct subscription *
filters_prepare_edit(struct store *store, const GPtrArray *own,
    const struct filters_change *change, struct query_error *problem, GError **error)
{
	pb_local(parsed) parsed = {.problem = problem};
	struct subscription *subscription =
	    prepare_edit(store, own, change, &parsed, error);

	return subscription;
}

struct editing {
	const struct filters_change *change;
	struct parsed parsed;
	struct subscription *subscription; /* set */
};

static void
editing_clear(struct editing *editing)
{
	parsed_clear(&editing->parsed);
	g_clear_pointer(&editing->subscription, subscription_free);
}

static bool
edit(struct store *store, struct subscriber *subscriber,
    const struct person_change *change, GError **error)
{
	struct editing *editing = change->data;
	g_autoptr(GPtrArray) own =
	    subscribers_load_subscriptions(store, subscriber->id, error);

	editing_clear(editing);
	editing->subscription =
	    own ? prepare_edit(store, own, editing->change, &editing->parsed, error)
	        : NULL;
	return editing->subscription &&
	       save_edit(store, editing->change, editing->subscription,
	           editing->parsed.hash, change->now, error);
}

struct subscription *
filters_edit(struct store *store, const struct filters_change *change, int64_t now,
    struct query_error *problem, GPtrArray **warnings, GError **error)
{
	pb_local(editing) editing = {.change = change, .parsed.problem = problem};
	const struct person_change work = {
	    change->address, change->who, now, edit, &editing};
	pb_auto(subscriber) subscriber = person_transact(store, &work, error);

	if (!subscriber)
		return NULL;
	if (warnings)
		*warnings = g_steal_pointer(&editing.parsed.warnings);
	return g_steal_pointer(&editing.subscription);
}
