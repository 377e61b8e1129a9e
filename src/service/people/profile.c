/*
 * profile.c - a subscriber's name, schedule, preferences and pauses.
 */
#include "service/people/profile.h"

#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "base/zone.h"
#include "model/natural_time.h"
#include "model/schedule.h"
#include "service/people/person.h"
#include "store/mail/outbox.h"
#include "store/subscriber/audit.h"
#include "store/subscriber/subscribers.h"

#define BATCH_PEOPLE 200
#define WEEKLY_DAYS  "weekly:"

bool
profile_check_max(int max_full, GError **error)
{
	if (max_full >= 1 && max_full <= BOUNDS_DIGEST_FULL_MAX)
		return true;
	return pb_error_set(error, PB_ERROR_INPUT, N_("max must be from 1 to {most}"),
	    "most", MSG_INT(BOUNDS_DIGEST_FULL_MAX), NULL);
}

bool
profile_parse_minute(const char *text, int *minute, GError **error)
{
	return natural_time_parse_minute(text, minute) ||
	       schedule_parse_minute(text, minute, error);
}

bool
profile_parse_frequency(const char *text, struct schedule *schedule, GError **error)
{
	size_t prefix = strlen(WEEKLY_DAYS);
	struct schedule parsed = {.weekdays = SCHEDULE_MONDAY};

	if (g_ascii_strncasecmp(text, WEEKLY_DAYS, prefix) == 0) {
		parsed.frequency = SCHEDULE_WEEKLY;
		if (!schedule_parse_weekdays(text + prefix, &parsed.weekdays, error))
			return false;
	} else if (!schedule_parse_frequency(text, &parsed.frequency, error)) {
		return false;
	}
	parsed = schedule_normalize(&parsed);
	schedule->frequency = parsed.frequency;
	schedule->weekdays = parsed.weekdays;
	return true;
}

char *
profile_format_frequency(const struct schedule *schedule)
{
	g_autofree char *days = NULL;

	if (schedule->frequency != SCHEDULE_WEEKLY)
		return g_strdup(schedule_frequency_name(schedule->frequency));
	days = schedule_format_weekdays(schedule->weekdays);
	return g_strconcat(WEEKLY_DAYS, days, NULL);
}

static bool
parse_days(const char *text, struct schedule *schedule, GError **error)
{
	if (!schedule_parse_weekdays(text, &schedule->weekdays, error))
		return false;
	schedule->frequency = SCHEDULE_WEEKLY;
	return true;
}

bool
profile_check_language(const char *text, GError **error)
{
	if (!*text || g_regex_match_simple("^[a-z]{2}\\z", text, 0, 0))
		return true;
	return pb_error_set(error, PB_ERROR_INPUT,
	    N_("a language is two letters, such as en or de"), NULL);
}

bool
profile_apply(
    struct subscriber *subscriber, const struct profile_change *change, GError **error)
{
	g_autofree char *zone = NULL;

	if (change->name && *change->name &&
	    !text_check_line("name", change->name, BOUNDS_PERSON_NAME_BYTES, error))
		return false;
	if (change->zone && !(zone = zone_find(change->zone, error)))
		return false;
	if ((change->at && !profile_parse_minute(
	                       change->at, &subscriber->schedule.minute, error)) ||
	    (change->frequency && !profile_parse_frequency(change->frequency,
	                              &subscriber->schedule, error)) ||
	    (change->days && !parse_days(change->days, &subscriber->schedule, error)) ||
	    (change->max_full && !profile_check_max(change->max_full, error)))
		return false;
	for (int i = 0; i < PREFERENCE_COUNT; i++)
		if (change->words[i] &&
		    !preferences_choose(&subscriber->preferences, (enum preference)i,
		        change->words[i], error))
			return false;
	if (change->language && !profile_check_language(change->language, error))
		return false;
	if (change->language)
		g_strlcpy(subscriber->language, change->language,
		    sizeof(subscriber->language));
	if (change->name) {
		g_free(subscriber->name);
		subscriber->name = *change->name ? g_strdup(change->name) : NULL;
	}
	if (change->zone) {
		g_free(subscriber->zone);
		subscriber->zone = g_steal_pointer(&zone);
	}
	if (change->max_full)
		subscriber->max_full = change->max_full;
	return true;
}

int64_t
profile_find_slot(const struct subscriber *subscriber, GTimeZone *zone, const char *day)
{
	struct schedule_slot slot;
	int64_t midnight = 0;

	day_parse(day, zone, &midnight, NULL);
	schedule_get_next(&subscriber->schedule, zone, midnight - 1, &slot);
	return slot.at;
}

/* Set when the next digest is due after a change of schedule. */
static void
compute_due(struct subscriber *subscriber, int64_t now)
{
	g_autoptr(GTimeZone) zone = zone_load_or_utc(subscriber->zone);
	struct schedule_slot slot;

	/* A digest is due but not built: it is late, or the first. */
	if (subscriber->next_due_at < 0 || subscriber->next_due_at <= now)
		return;
	if (*subscriber->paused_until) {
		subscriber->next_due_at =
		    profile_find_slot(subscriber, zone, subscriber->paused_until);
		return;
	}
	schedule_get_next(&subscriber->schedule, zone, now, &slot);
	subscriber->next_due_at = slot.at;
}

bool
profile_is_change(const struct profile_change *change)
{
	for (int i = 0; i < PREFERENCE_COUNT; i++)
		if (change->words[i])
			return true;
	return change->name || change->zone || change->at || change->frequency ||
	       change->max_full || change->days || change->language;
}

char *
profile_format_preferences(const struct subscriber *subscriber)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (int i = 0; i < PREFERENCE_COUNT; i++)
		if (subscriber->preferences.choice[i])
			g_string_append_printf(text, "%s%s %s", text->len ? ", " : "",
			    preferences_get_name((enum preference)i),
			    preferences_get_word(
			        &subscriber->preferences, (enum preference)i));
	if (*subscriber->language)
		g_string_append_printf(
		    text, "%slanguage %s", text->len ? ", " : "", subscriber->language);
	return text->len ? g_strdup(text->str) : NULL;
}

static char *
describe(const struct profile_change *change)
{
	GString *text = g_string_new(NULL);
	const char *const parts[][2] = {
	    {"zone", change->zone},
	    {"at", change->at},
	    {"cadence", change->frequency},
	    {"days", change->days},
	    {"language", change->language},
	    {"name", change->name},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		if (parts[i][1])
			g_string_append_printf(text, "%s%s %s", text->len ? ", " : "",
			    parts[i][0], *parts[i][1] ? parts[i][1] : "none");
	for (int i = 0; i < PREFERENCE_COUNT; i++)
		if (change->words[i])
			g_string_append_printf(text, "%s%s %s", text->len ? ", " : "",
			    preferences_get_name((enum preference)i), change->words[i]);
	if (change->max_full)
		g_string_append_printf(
		    text, "%smax %d", text->len ? ", " : "", change->max_full);
	return g_string_free(text, FALSE);
}

static bool
set(struct store *store, struct subscriber *subscriber,
    const struct person_change *change, GError **error)
{
	const struct profile_change *wanted = change->data;
	g_autofree char *detail = describe(wanted);

	if (!profile_apply(subscriber, wanted, error))
		return false;
	if (wanted->zone || wanted->at || wanted->frequency || wanted->days)
		compute_due(subscriber, change->now);
	return subscribers_update(store, subscriber, error) &&
	       audit_insert(store, change->now, change->who, "subscriber changed",
	           subscriber->id, detail, error);
}

struct subscriber *
profile_set(struct store *store, const char *address,
    const struct profile_change *change, int64_t now, GError **error)
{
	const struct person_change setting = {
	    address, change->who, now, set, (void *)change};

	return person_transact(store, &setting, error);
}

bool
profile_parse_until(
    const char *text, GTimeZone *zone, int64_t now, char day[DAY_BYTES], GError **error)
{
	g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc(now);
	g_autoptr(GDateTime) here = g_date_time_to_timezone(utc, zone);
	g_autoptr(GDateTime) last = g_date_time_add_days(here, BOUNDS_PAUSE_DAYS);
	g_autofree char *today = g_date_time_format(here, "%Y-%m-%d");
	g_autofree char *last_day = g_date_time_format(last, "%Y-%m-%d");
	char wanted[DAY_BYTES];
	int64_t at;

	if (!natural_time_parse_day(text, here, wanted)) {
		if (!day_parse(text, zone, &at, error))
			return false;
		g_strlcpy(wanted, text, sizeof(wanted));
	}
	if (strcmp(wanted, today) <= 0)
		return pb_error_set(error, PB_ERROR_INPUT,
		    N_("a pause must end in the future: {day} is not after {today}"),
		    "day", wanted, "today", today, NULL);
	if (strcmp(wanted, last_day) > 0)
		return pb_error_set(error, PB_ERROR_LIMIT,
		    N_("a pause with an end may last at most {most} days, until {day}; "
		       "without one it lasts until resumed"),
		    "most", MSG_INT(BOUNDS_PAUSE_DAYS), "day", last_day, NULL);
	g_strlcpy(day, wanted, DAY_BYTES);
	return true;
}

bool
profile_apply_pause(
    struct subscriber *subscriber, const char *until, int64_t now, GError **error)
{
	g_autoptr(GTimeZone) zone = zone_load_or_utc(subscriber->zone);

	if (subscriber->state != SUBSCRIBER_ACTIVE &&
	    subscriber->state != SUBSCRIBER_PAUSED)
		return pb_error_set(error, PB_ERROR_INPUT,
		    N_("{address} cannot be paused: its state is {state}"), "address",
		    subscriber->address, "state",
		    subscriber_state_name(subscriber->state), NULL);
	if (until &&
	    !profile_parse_until(until, zone, now, subscriber->paused_until, error))
		return false;
	if (!until)
		*subscriber->paused_until = '\0';
	subscriber->state = SUBSCRIBER_PAUSED;
	subscriber->next_due_at =
	    until ? profile_find_slot(subscriber, zone, subscriber->paused_until) : -1;
	return true;
}

static bool
begin_pause(struct store *store, struct subscriber *subscriber,
    const struct person_change *change, GError **error)
{
	const char *until = change->data;
	g_autofree char *detail = NULL;

	if (!profile_apply_pause(subscriber, until, change->now, error))
		return false;
	if (until)
		detail = g_strdup_printf("until %s", subscriber->paused_until);
	return subscribers_update(store, subscriber, error) &&
	       outbox_cancel(store, subscriber->id, change->now, error) &&
	       audit_insert(store, change->now, change->who, "subscriber paused",
	           subscriber->id, detail, error);
}

struct subscriber *
profile_pause(struct store *store, const char *address, const char *until,
    const char *who, int64_t now, GError **error)
{
	const struct person_change change = {
	    address, who, now, begin_pause, (void *)until};

	return person_transact(store, &change, error);
}

/* In the caller's transaction. */
static bool
end_pause(struct store *store, struct subscriber *subscriber, const char *who,
    const char *detail, int64_t now, GError **error)
{
	subscriber->state = SUBSCRIBER_ACTIVE;
	*subscriber->paused_until = '\0';
	return subscribers_update(store, subscriber, error) &&
	       audit_insert(store, now, who, "subscriber resumed", subscriber->id,
	           detail, error);
}

static bool
resume(struct store *store, struct subscriber *subscriber,
    const struct person_change *change, GError **error)
{
	const int *catch_up = change->data;

	if (subscriber->state != SUBSCRIBER_PAUSED)
		return pb_error_set(error, PB_ERROR_INPUT,
		    N_("{address} is not paused: its state is {state}"), "address",
		    subscriber->address, "state",
		    subscriber_state_name(subscriber->state), NULL);
	/* A digest off schedule is named by its due time: the slot's name may be that
	 * of a cancelled digest. */
	subscriber->is_first_due = true;
	subscriber->next_due_at = change->now;
	subscriber->catch_up = *catch_up;
	return end_pause(store, subscriber, change->who, NULL, change->now, error);
}

struct subscriber *
profile_resume(struct store *store, const char *address, int catch_up, const char *who,
    int64_t now, GError **error)
{
	const struct person_change change = {address, who, now, resume, &catch_up};

	if (catch_up && !profile_check_max(catch_up, error))
		return NULL;
	return person_transact(store, &change, error);
}

/* Pauses that have expired. */
struct batch {
	int64_t now;
	unsigned count; /* set */
};

static bool
end_batch(struct store *store, void *data, GError **error)
{
	struct batch *batch = data;
	g_autoptr(GPtrArray) people =
	    subscribers_load_pause_ended(store, batch->now, BATCH_PEOPLE, error);

	if (!people)
		return false;
	batch->count = people->len;
	/* Keep the due time: it is that of the current slot. */
	for (unsigned i = 0; i < people->len; i++)
		if (!end_pause(store, people->pdata[i], "paperboy", "end of the pause",
		        batch->now, error))
			return false;
	return true;
}

bool
profile_end_pause(struct store *store, int64_t now, unsigned *count, GError **error)
{
	struct batch batch = {.now = now};

	do {
		if (!store_transact(store, end_batch, &batch, error))
			return false;
		*count += batch.count;
	} while (batch.count);
	return true;
}
