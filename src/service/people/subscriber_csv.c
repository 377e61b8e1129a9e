/*
 * subscriber_csv.c - people as a table in CSV: writing it.
 */
#include "service/people/subscriber_csv.h"

#include "base/csv.h"
#include "base/day.h"

static const char *const names[CSV_COLUMN_COLUMNS] = {
    [CSV_COLUMN_ADDRESS] = "address",
    [CSV_COLUMN_NAME] = "name",
    [CSV_COLUMN_STATE] = "state",
    [CSV_COLUMN_FREQUENCY] = "cadence",
    [CSV_COLUMN_WEEKDAYS] = "weekdays",
    [CSV_COLUMN_AT] = "at",
    [CSV_COLUMN_ZONE] = "zone",
    [CSV_COLUMN_MAX] = "max",
    [CSV_COLUMN_PAUSED_UNTIL] = "paused_until",
    [CSV_COLUMN_LANGUAGE] = "language",
    [CSV_COLUMN_CATCH_UP] = "catch_up",
    [CSV_COLUMN_CONSENT_AT] = "consent_at",
    [CSV_COLUMN_CONSENT_TEXT] = "consent_text",
    [CSV_COLUMN_CREATED_AT] = "created_at",
    [CSV_COLUMN_FILTERS] = "filters",
};

const char *
subscriber_csv_column_name(enum subscriber_csv_column column)
{
	if (column >= CSV_COLUMN_PREFERENCES && column < CSV_COLUMN_LANGUAGE)
		return preferences_get_name(
		    (enum preference)(column - CSV_COLUMN_PREFERENCES));
	return names[column];
}

void
subscriber_csv_append_head(GString *out, bool has_filters)
{
	for (int column = 0; column < CSV_COLUMN_COLUMNS; column++)
		if (column != CSV_COLUMN_FILTERS || has_filters)
			csv_append(out,
			    subscriber_csv_column_name(
			        (enum subscriber_csv_column)column),
			    column == 0);
	csv_append_end(out);
}

/* What most filters do not have. */
static void
append_preferences(GString *text, const struct subscription *filter)
{
	g_string_append_printf(text, "%s\t", filter->is_block ? "block" : "filter");
	if (filter->max_papers)
		g_string_append_printf(text, "%d", filter->max_papers);
	g_string_append_printf(text, "\t%s\t", filter->note ? filter->note : "");
}

static char *
format_filters(const GPtrArray *filters)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < filters->len; i++) {
		const struct subscription *filter = filters->pdata[i];

		g_string_append_printf(text, "%s%d\t%s\t", i ? "\n" : "",
		    filter->number, filter->name ? filter->name : "");
		if (filter->is_block || filter->max_papers || filter->note)
			append_preferences(text, filter);
		g_string_append(text, filter->text);
	}
	return g_string_free(text, FALSE);
}

static char *
format_time(int64_t at)
{
	return at < 0 ? g_strdup("") : day_format_time(at);
}

void
subscriber_csv_append(
    GString *out, const struct subscriber *subscriber, const GPtrArray *filters)
{
	const struct schedule *schedule = &subscriber->schedule;
	g_autofree char *weekdays = schedule->frequency == SCHEDULE_WEEKLY
	                                ? schedule_format_weekdays(schedule->weekdays)
	                                : g_strdup("");
	g_autofree char *at =
	    g_strdup_printf("%02d:%02d", schedule->minute / 60, schedule->minute % 60);
	g_autofree char *max = g_strdup_printf("%d", subscriber->max_full);
	g_autofree char *consent_at = format_time(subscriber->consent_at);
	g_autofree char *created_at = format_time(subscriber->created_at);
	g_autofree char *queries = filters ? format_filters(filters) : NULL;
	g_autofree char *catch_up =
	    subscriber->catch_up ? g_strdup_printf("%d", subscriber->catch_up) : NULL;
	const char *cells[CSV_COLUMN_COLUMNS] = {
	    [CSV_COLUMN_ADDRESS] = subscriber->address,
	    [CSV_COLUMN_NAME] = subscriber->name,
	    [CSV_COLUMN_STATE] = subscriber_state_name(subscriber->state),
	    [CSV_COLUMN_FREQUENCY] = schedule_frequency_name(schedule->frequency),
	    [CSV_COLUMN_WEEKDAYS] = weekdays,
	    [CSV_COLUMN_AT] = at,
	    [CSV_COLUMN_ZONE] = subscriber->zone,
	    [CSV_COLUMN_MAX] = max,
	    [CSV_COLUMN_PAUSED_UNTIL] = subscriber->paused_until,
	    [CSV_COLUMN_LANGUAGE] = subscriber->language,
	    [CSV_COLUMN_CATCH_UP] = catch_up,
	    [CSV_COLUMN_CONSENT_AT] = consent_at,
	    [CSV_COLUMN_CONSENT_TEXT] = subscriber->consent_text,
	    [CSV_COLUMN_CREATED_AT] = created_at,
	    [CSV_COLUMN_FILTERS] = queries,
	};

	for (int i = 0; i < PREFERENCE_COUNT; i++)
		cells[CSV_COLUMN_PREFERENCES + i] =
		    preferences_get_word(&subscriber->preferences, (enum preference)i);
	for (int column = 0; column < CSV_COLUMN_COLUMNS; column++)
		if (column != CSV_COLUMN_FILTERS || filters)
			csv_append(
			    out, cells[column] ? cells[column] : "", column == 0);
	csv_append_end(out);
}
