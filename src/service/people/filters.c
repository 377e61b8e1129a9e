/*
 * filters.c - a person's filters: given, changed, named, and put in another order.
 */
#include "service/people/filters.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "base/zone.h"
#include "model/digest.h"
#include "query/query.h"
#include "service/match/match.h"
#include "service/people/profile.h"
#include "store/core/audit.h"
#include "store/paper/papers.h"
#include "store/subscriber/subscribers.h"

bool
filters_load_start(
    struct store *store, int64_t now, struct filters_start *start, GError **error)
{
	char oldest_day[DAY_BYTES];

	day_format(now - DIGEST_FIRST_DAYS * (int64_t)CLOCK_DAY_S, start->since_day);
	day_format(now - MATCH_WAIT_DAYS * (int64_t)CLOCK_DAY_S, oldest_day);
	return papers_load_revision_before(
	    store, oldest_day, &start->matched_through, error);
}

static bool
note_sources(
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
			g_ptr_array_add(
			    notes, msg_new(MSG_NOTE_NO_SOURCE, "name",
			               (char *)asked->pdata[i], "all", list, NULL));
	return true;
}

/* The slow clauses of a filter, in a list for a reader; NULL when there are none. */
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
note_delay(const struct query *query, const GPtrArray *slow, GPtrArray *notes)
{
	g_autofree char *negated = join_slow(slow, true);
	g_autofree char *other = join_slow(slow, false);

	if (negated)
		g_ptr_array_add(
		    notes, msg_new(MSG_NOTE_LATE_NOT, "days", MSG_INT(MATCH_WAIT_DAYS),
		               "clauses", negated, NULL));
	else if (other && query_has_relative_date(query))
		g_ptr_array_add(
		    notes, msg_new(MSG_NOTE_LATE_DATE, "days", MSG_INT(MATCH_WAIT_DAYS),
		               "clauses", other, NULL));
}

static bool
note_undecided(
    struct store *store, const GPtrArray *slow, GPtrArray *notes, GError **error)
{
	for (unsigned i = 0; i < slow->len; i++) {
		const struct query_slow *one = slow->pdata[i];
		bool has = true;

		if (!papers_has_field(store, one->name, &has, error))
			return false;
		if (!has)
			g_ptr_array_add(
			    notes, msg_new(one->is_negated ? MSG_NOTE_UNDECIDED_TRUE
			                                   : MSG_NOTE_UNDECIDED_FALSE,
			               "clause", one->text, "days",
			               MSG_INT(MATCH_WAIT_DAYS), NULL));
	}
	return true;
}

bool
filters_note_untold(struct store *store, const struct query *query, bool is_block,
    GPtrArray *notes, GError **error)
{
	bool has_categories = true;
	g_autoptr(GPtrArray) slow = query_list_slow(query);

	if (!is_block)
		note_delay(query, slow, notes);
	if (!note_undecided(store, slow, notes, error))
		return false;

	if (query_needs_enrichment(query) &&
	    !papers_has_categories(store, &has_categories, error))
		return false;
	if (!has_categories)
		g_ptr_array_add(notes, msg_new(MSG_NOTE_NO_ARXIV, NULL));
	return note_sources(store, query, notes, error);
}

/* Understand a query and put it into a subscription. @param hash set on success */
static bool
set_query(struct store *store, struct subscription *subscription, const char *text,
    char **hash, GPtrArray **warnings, struct query_error *problem, GError **error)
{
	pb_auto(query) query =
	    query_parse(text, store_get_tokenizer(store), warnings, problem, error);

	if (!query || !filters_note_untold(
	                  store, query, subscription->is_block, *warnings, error))
		return false;
	g_free(subscription->text);
	subscription->text = g_strdup(text);
	g_free(subscription->canonical);
	subscription->canonical = query_format(query);
	*hash = query_hash(query);
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
 * A name stands for one filter, and a number for another.
 *
 * @param id  the filter that is to have it, or 0 for a new one
 */
static bool
check_name_is_free(const GPtrArray *own, int64_t id, const char *name, GError **error)
{
	if (!name)
		return true;
	if (*name && strspn(name, "0123456789") == strlen(name)) {
		return pb_error_set(
		    error, PB_ERROR_INPUT, MSG_FILTER_NAME_NUMBER, "name", name, NULL);
	}
	for (unsigned i = 0; i < own->len; i++) {
		const struct subscription *one = own->pdata[i];

		if (one->id == id || !one->name ||
		    g_ascii_strcasecmp(one->name, name) != 0)
			continue;
		return pb_error_set(error, PB_ERROR_INPUT, MSG_FILTER_NAME_TAKEN,
		    "name", name, "number", MSG_INT(one->number), NULL);
	}
	return true;
}

/* The same, with the filters of whoever has that one. */
static bool
check_new_name(struct store *store, const struct subscription *subscription,
    const char *name, GError **error)
{
	g_autoptr(GPtrArray) own =
	    subscribers_load_subscriptions(store, subscription->subscriber_id, error);

	return own && check_name_is_free(own, subscription->id, name, error);
}

struct subscription *
filters_insert(struct store *store, const struct filters_insertion *to,
    const struct subscribe_filter *filter, GError **error)
{
	g_autoptr(GPtrArray) own =
	    subscribers_load_subscriptions(store, to->subscriber_id, error);
	g_autoptr(GPtrArray) notes = NULL;
	pb_auto(subscription) subscription = subscription_new();
	g_autofree char *hash = NULL;

	if (!own ||
	    !check_labels(filter->name, filter->note, filter->max_papers, error) ||
	    !check_name_is_free(own, 0, filter->name, error))
		return NULL;
	if (own->len >= BOUNDS_FILTERS_PERSON) {
		pb_error_set(error, PB_ERROR_LIMIT, MSG_FILTER_LIMIT, "most",
		    MSG_INT(BOUNDS_FILTERS_PERSON), NULL);
		return NULL;
	}
	subscription->is_block = filter->is_block;
	if (!set_query(
	        store, subscription, filter->text, &hash, &notes, to->problem, error))
		return NULL;
	subscription->subscriber_id = to->subscriber_id;
	subscription->number = filter->number;
	subscription->name = g_strdup(filter->name);
	subscription->note = g_strdup(filter->note);
	subscription->max_papers = filter->max_papers;
	g_strlcpy(subscription->since_day, to->start->since_day,
	    sizeof(subscription->since_day));
	if (!subscribers_insert_subscription(
	        store, subscription, hash, to->start->matched_through, to->now, error))
		return NULL;
	if (to->warnings)
		*to->warnings = g_steal_pointer(&notes);
	return g_steal_pointer(&subscription);
}

/* The one with a number, taken out of a person's filters. */
static struct subscription *
steal_number(GPtrArray *own, int number, GError **error)
{
	for (unsigned i = 0; i < own->len; i++) {
		const struct subscription *subscription = own->pdata[i];

		if (subscription->number == number)
			return g_ptr_array_steal_index(own, i);
	}
	pb_error_set(error, PB_ERROR_NOT_FOUND, MSG_FILTER_NONE, "number",
	    MSG_INT(number), NULL);
	return NULL;
}

struct subscription *
filters_load(struct store *store, const char *address, int number, GError **error)
{
	pb_auto(subscriber) subscriber = subscribe_load(store, address, error);
	g_autoptr(GPtrArray) own =
	    subscriber ? subscribers_load_subscriptions(store, subscriber->id, error)
	               : NULL;

	return own ? steal_number(own, number, error) : NULL;
}

static bool
has_number(const GPtrArray *own, int number)
{
	for (unsigned i = 0; i < own->len; i++)
		if (((struct subscription *)own->pdata[i])->number == number)
			return true;
	return false;
}

/* Move the filters between two places by one; the moved one stands elsewhere. */
static bool
shift(struct store *store, const GPtrArray *own, int from, int to, GError **error)
{
	bool is_up = to < from;

	/* The nearest to the place that was left goes first: each finds room. */
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
	int parking = FILTERS_NUMBER_MAX;

	if (!moved)
		return false;
	if (!has_number(own, to))
		return subscribers_number_subscription(store, moved->id, to, error);
	/* Where nobody is, and nobody moves to; a person has far fewer filters than
	 * there are numbers. */
	while (has_number(own, parking - 1) || has_number(own, parking) ||
	       has_number(own, parking + 1))
		parking--;
	return subscribers_number_subscription(store, moved->id, parking, error) &&
	       shift(store, own, from, to, error) &&
	       subscribers_number_subscription(store, moved->id, to, error);
}

bool
filters_move(struct store *store, const char *address, int from, int to,
    const char *who, int64_t now, GError **error)
{
	g_autofree char *detail = g_strdup_printf("filter %d is now %d", from, to);
	pb_auto(subscriber) subscriber = NULL;
	g_autoptr(GPtrArray) own = NULL;
	pb_transaction transaction = {0};

	if (to < 1 || to > FILTERS_NUMBER_MAX) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "a filter's number is from 1 to %d", FILTERS_NUMBER_MAX);
		return false;
	}
	if (!store_begin(store, &transaction, error))
		return false;
	subscriber = subscribe_load(store, address, error);
	own = subscriber ? subscribers_load_subscriptions(store, subscriber->id, error)
	                 : NULL;
	if (!own)
		return false;
	if (from == to && has_number(own, from))
		return true;
	return move(store, own, from, to, error) &&
	       audit_insert(
	           store, now, who, "filter moved", subscriber->id, detail, error) &&
	       store_commit(&transaction, error);
}

bool
filters_rename(struct store *store, const char *address, int number, const char *name,
    const char *who, int64_t now, GError **error)
{
	const char *wanted = name && *name ? name : NULL;
	g_autofree char *detail = g_strdup_printf("filter %d: %s%s%s", number,
	    wanted ? "\"" : "", wanted ? wanted : "no name", wanted ? "\"" : "");
	pb_auto(subscription) subscription = NULL;
	pb_transaction transaction = {0};

	if (!text_check_line("name", wanted, BOUNDS_FILTER_NAME, error) ||
	    !store_begin(store, &transaction, error))
		return false;
	subscription = filters_load(store, address, number, error);
	return subscription && check_new_name(store, subscription, wanted, error) &&
	       subscribers_name_subscription(store, subscription->id, wanted, error) &&
	       audit_insert(store, now, who, "filter renamed",
	           subscription->subscriber_id, detail, error) &&
	       store_commit(&transaction, error);
}

/* From which day on the new query counts; see filters_edit(). */
static void
choose_since(const struct subscriber *subscriber, struct subscription *subscription,
    const struct filters_start *start, int64_t now)
{
	g_autoptr(GTimeZone) zone = zone_load_or_utc(subscriber->zone);
	struct schedule_slot slot;
	char day[DAY_BYTES];

	if (subscriber->state == SUBSCRIBER_PAUSED)
		return;
	schedule_get_latest(&subscriber->rhythm, zone, now, &slot);
	day_format(slot.at, day);
	if (strcmp(start->since_day, day) < 0)
		g_strlcpy(day, start->since_day, sizeof(day));
	if (strcmp(day, subscription->since_day) > 0)
		g_strlcpy(subscription->since_day, day, sizeof(day));
}

static bool
edit(struct store *store, const struct filters_change *change,
    struct subscription *subscription, int64_t now, const char *hash, GError **error)
{
	pb_auto(subscriber) subscriber =
	    subscribers_load(store, subscription->subscriber_id, error);
	struct filters_start start;

	if (!subscriber || !filters_load_start(store, now, &start, error))
		return false;
	choose_since(subscriber, subscription, &start, now);
	return subscribers_change_subscription(
	           store, subscription, hash, start.matched_through, now, error) &&
	       audit_insert(store, now, change->who, "filter changed", subscriber->id,
	           subscription->canonical, error);
}

static const char *
choose_label(const char *wanted)
{
	return wanted && *wanted ? wanted : NULL;
}

static bool
set_labels(struct store *store, struct subscription *subscription,
    const struct filters_change *change, GError **error)
{
	if (!check_labels(choose_label(change->name), choose_label(change->note),
	        change->max_papers, error) ||
	    !check_new_name(store, subscription, choose_label(change->name), error))
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
		subscription->max_papers = change->max_papers;
	return true;
}

struct subscription *
filters_edit(struct store *store, const struct filters_change *change, int64_t now,
    struct query_error *problem, GPtrArray **warnings, GError **error)
{
	pb_auto(subscription) subscription = NULL;
	g_autoptr(GPtrArray) notes = NULL;
	g_autofree char *hash = NULL;
	pb_transaction transaction = {0};

	if (!store_begin(store, &transaction, error))
		return NULL;
	subscription = filters_load(store, change->address, change->number, error);
	if (!subscription || !set_labels(store, subscription, change, error) ||
	    !set_query(
	        store, subscription, change->text, &hash, &notes, problem, error) ||
	    !edit(store, change, subscription, now, hash, error) ||
	    !store_commit(&transaction, error))
		return NULL;
	if (warnings)
		*warnings = g_steal_pointer(&notes);
	return g_steal_pointer(&subscription);
}
