/*
 * subscriber_print.c - subscribers and their filters as several commands print them.
 */
#include "ctl/subscriber_print.h"

#include "ctl/print.h"
#include "service/people/profile.h"

/* ---- subscribers ---- */

char *
subscriber_format_schedule(const void *row)
{
	const struct subscriber *subscriber = row;
	const struct schedule *schedule = &subscriber->schedule;
	g_autofree char *days = schedule->frequency == SCHEDULE_WEEKLY
	                            ? schedule_format_weekdays(schedule->weekdays)
	                            : NULL;

	return g_strdup_printf("%s%s%s at %02d:%02d %s",
	    schedule_frequency_name(schedule->frequency), days ? " on " : "",
	    days ? days : "", schedule->minute / 60, schedule->minute % 60,
	    subscriber->zone);
}

char *
subscriber_format_state(const void *row)
{
	const struct subscriber *subscriber = row;

	return g_strconcat(subscriber_state_name(subscriber->state),
	    *subscriber->paused_until ? " until " : "", subscriber->paused_until, NULL);
}

static char *
format_state(const void *data)
{
	return g_strdup(
	    subscriber_state_name(((const struct subscriber *)data)->state));
}

static char *
format_frequency(const void *data)
{
	return profile_format_frequency(&((const struct subscriber *)data)->schedule);
}

static char *
format_at(const void *data)
{
	int minute = ((const struct subscriber *)data)->schedule.minute;

	return g_strdup_printf("%02d:%02d", minute / 60, minute % 60);
}

static char *
format_max(const void *data)
{
	return g_strdup_printf(
	    "%d papers with abstract", ((const struct subscriber *)data)->max_full);
}

static char *
format_preferences(const void *data)
{
	return profile_format_preferences(data);
}

static char *
format_consent(const void *data)
{
	const struct subscriber *subscriber = data;
	g_autofree char *at = day_format_minute(subscriber->consent_at);

	return g_strdup_printf(
	    "%s: %s", at, subscriber->consent_text ? subscriber->consent_text : "-");
}

static json_t *
pack_preferences(const void *data)
{
	const struct subscriber *subscriber = data;
	json_t *object = json_object();

	for (int i = 0; i < PREFERENCE_COUNT; i++)
		json_object_set_new(object, preferences_get_name((enum preference)i),
		    json_string(preferences_get_word(
		        &subscriber->preferences, (enum preference)i)));
	json_object_set_new(object, "language",
	    print_json_text(*subscriber->language ? subscriber->language : NULL));
	return object;
}

const struct table_column subscriber_columns[] = {
    TABLE_COLUMN("ADDRESS", "address", TABLE_TEXT, subscriber, address),
    TABLE_COLUMN_STRING("STATE", NULL, subscriber_format_state),
    TABLE_COLUMN("NEXT DIGEST", "next_due_at", TABLE_TIME, subscriber, next_due_at),
    TABLE_COLUMN_STRING("SCHEDULE", "schedule", subscriber_format_schedule),
    TABLE_COLUMN("LAST WROTE", "wrote_at", TABLE_TIME, subscriber, wrote_at),
    TABLE_COLUMN(NULL, "name", TABLE_TEXT, subscriber, name),
    TABLE_COLUMN_STRING(NULL, "state", format_state),
    TABLE_COLUMN(NULL, "paused_until", TABLE_CHARS, subscriber, paused_until),
    TABLE_COLUMN_STRING(NULL, "cadence", format_frequency),
    TABLE_COLUMN_STRING(NULL, "at", format_at),
    TABLE_COLUMN(NULL, "zone", TABLE_TEXT, subscriber, zone),
    TABLE_COLUMN(NULL, "max", TABLE_INT, subscriber, max_full),
    TABLE_COLUMN(NULL, "created_at", TABLE_TIME, subscriber, created_at),
    TABLE_COLUMN(NULL, "consent_at", TABLE_TIME, subscriber, consent_at),
    TABLE_COLUMN(NULL, "consent", TABLE_TEXT, subscriber, consent_text),
    TABLE_COLUMN_JSON("preferences", pack_preferences),
    {0},
};

static const struct table_column record_columns[] = {
    TABLE_COLUMN("address", NULL, TABLE_TEXT, subscriber, address),
    TABLE_COLUMN("name", NULL, TABLE_TEXT, subscriber, name),
    TABLE_COLUMN_STRING("state", NULL, subscriber_format_state),
    TABLE_COLUMN_STRING("schedule", NULL, subscriber_format_schedule),
    TABLE_COLUMN_STRING("max", NULL, format_max),
    TABLE_COLUMN_STRING("preferences", NULL, format_preferences),
    TABLE_COLUMN("next digest", NULL, TABLE_TIME, subscriber, next_due_at),
    TABLE_COLUMN("added", NULL, TABLE_TIME, subscriber, created_at),
    TABLE_COLUMN("last wrote", NULL, TABLE_TIME, subscriber, wrote_at),
    TABLE_COLUMN_STRING("consent", NULL, format_consent),
    {0},
};

/* ---- filters ---- */

static char *
format_kind(const void *data)
{
	return g_strdup(
	    ((const struct subscription *)data)->is_block ? "block" : "filter");
}

static char *
format_filter_max(const void *data)
{
	int max = ((const struct subscription *)data)->max_papers;

	return max ? g_strdup_printf("%d", max) : NULL;
}

static json_t *
pack_filter_max(const void *data)
{
	int max = ((const struct subscription *)data)->max_papers;

	return print_json_number(max ? max : -1);
}

static const struct table_column filter_columns[] = {
    TABLE_COLUMN("NO", "number", TABLE_INT, subscription, number),
    TABLE_COLUMN_STRING("KIND", NULL, format_kind),
    TABLE_COLUMN("NAME", "name", TABLE_TEXT, subscription, name),
    TABLE_COLUMN_STRING("MAX", NULL, format_filter_max),
    TABLE_COLUMN("NOTE", "note", TABLE_TEXT, subscription, note),
    TABLE_COLUMN("FILTER", "text", TABLE_TEXT, subscription, text),
    TABLE_COLUMN("MEANS", "canonical", TABLE_TEXT, subscription, canonical),
    TABLE_COLUMN(NULL, "block", TABLE_BOOL, subscription, is_block),
    TABLE_COLUMN(NULL, "since", TABLE_CHARS, subscription, since_day),
    TABLE_COLUMN_JSON("max", pack_filter_max),
    {0},
};

/* ---- printing ---- */

json_t *
subscriber_to_json(const struct subscriber *subscriber, const GPtrArray *filters)
{
	json_t *object = table_to_json(subscriber_columns, subscriber);

	if (filters)
		json_object_set_new(
		    object, "filters", table_rows_to_json(filter_columns, filters));
	return object;
}

void
subscriber_print(const struct subscriber *subscriber)
{
	table_print_record(record_columns, subscriber, "");
}

void
subscriber_print_filters(const struct ctl *ctl, const GPtrArray *filters)
{
	const struct table table = {filter_columns,
	    "No filters, so no papers will match: paperboyctl filter add", NULL, NULL};

	table_print(ctl, &table, filters);
}
