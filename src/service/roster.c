/*
 * roster.c - people as a table in CSV: writing it.
 */
#include "service/roster.h"

#include "base/csv.h"
#include "base/day.h"

static const char *const names[ROSTER_COLUMNS] = {
    [ROSTER_ADDRESS] = "address",
    [ROSTER_NAME] = "name",
    [ROSTER_STATE] = "state",
    [ROSTER_CADENCE] = "cadence",
    [ROSTER_WEEKDAYS] = "weekdays",
    [ROSTER_AT] = "at",
    [ROSTER_ZONE] = "zone",
    [ROSTER_MAX] = "max",
    [ROSTER_PAUSED_UNTIL] = "paused_until",
    [ROSTER_LANGUAGE] = "language",
    [ROSTER_CATCH_UP] = "catch_up",
    [ROSTER_CONSENT_AT] = "consent_at",
    [ROSTER_CONSENT_TEXT] = "consent_text",
    [ROSTER_CREATED_AT] = "created_at",
    [ROSTER_FILTERS] = "filters",
};

const char *
roster_column_name(enum roster_column column)
{
	if (column >= ROSTER_PREFERENCES && column < ROSTER_LANGUAGE)
		return preferences_get_name(
		    (enum preference)(column - ROSTER_PREFERENCES));
	return names[column];
}

void
roster_append_head(GString *out, bool has_filters)
{
	for (int column = 0; column < ROSTER_COLUMNS; column++)
		if (column != ROSTER_FILTERS || has_filters)
			csv_append(out, roster_column_name((enum roster_column)column),
			    column == 0);
	csv_append_end(out);
}

/* What most filters do not have. */
static void
append_wishes(GString *text, const struct subscription *filter)
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
			append_wishes(text, filter);
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
roster_append(
    GString *out, const struct subscriber *subscriber, const GPtrArray *filters)
{
	const struct rhythm *rhythm = &subscriber->rhythm;
	g_autofree char *weekdays = rhythm->cadence == RHYTHM_WEEKLY
	                                ? rhythm_format_weekdays(rhythm->weekdays)
	                                : g_strdup("");
	g_autofree char *at =
	    g_strdup_printf("%02d:%02d", rhythm->minute / 60, rhythm->minute % 60);
	g_autofree char *max = g_strdup_printf("%d", subscriber->max_full);
	g_autofree char *consent_at = format_time(subscriber->consent_at);
	g_autofree char *created_at = format_time(subscriber->created_at);
	g_autofree char *queries = filters ? format_filters(filters) : NULL;
	g_autofree char *catch_up =
	    subscriber->catch_up ? g_strdup_printf("%d", subscriber->catch_up) : NULL;
	const char *cells[ROSTER_COLUMNS] = {
	    [ROSTER_ADDRESS] = subscriber->address,
	    [ROSTER_NAME] = subscriber->name,
	    [ROSTER_STATE] = subscriber_state_name(subscriber->state),
	    [ROSTER_CADENCE] = rhythm_cadence_name(rhythm->cadence),
	    [ROSTER_WEEKDAYS] = weekdays,
	    [ROSTER_AT] = at,
	    [ROSTER_ZONE] = subscriber->zone,
	    [ROSTER_MAX] = max,
	    [ROSTER_PAUSED_UNTIL] = subscriber->paused_until,
	    [ROSTER_LANGUAGE] = subscriber->language,
	    [ROSTER_CATCH_UP] = catch_up,
	    [ROSTER_CONSENT_AT] = consent_at,
	    [ROSTER_CONSENT_TEXT] = subscriber->consent_text,
	    [ROSTER_CREATED_AT] = created_at,
	    [ROSTER_FILTERS] = queries,
	};

	for (int i = 0; i < PREFERENCE_COUNT; i++)
		cells[ROSTER_PREFERENCES + i] =
		    preferences_get_word(&subscriber->preferences, (enum preference)i);
	for (int column = 0; column < ROSTER_COLUMNS; column++)
		if (column != ROSTER_FILTERS || filters)
			csv_append(
			    out, cells[column] ? cells[column] : "", column == 0);
	csv_append_end(out);
}
