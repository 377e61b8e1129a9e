/*
 * web_settings.c - the settings of a subscriber, as fields of a form.
 */
#include <string.h>

#include "model/preferences.h"
#include "service/web/web_private.h"

#define DEFAULT_LANGUAGE "en"

/* Settings before and after the preferences of model/preferences.h. */
enum { WHEN, DAYS, AT, ZONE, MAX_FULL, LANGUAGE, NAME };

static const struct {
	const char *key;
	const char *words; /* possible values; NULL: a text field */
} own_rows[] = {
    [WHEN] = {"when", "now, daily, weekdays, weekly"},
    [DAYS] = {"days", NULL},
    [AT] = {"at", NULL},
    [ZONE] = {"tz", NULL},
    [MAX_FULL] = {"max", NULL},
    [LANGUAGE] = {"language", NULL}, /* by the catalogue */
    [NAME] = {"name", NULL},
};

/* @return the value of a row, a new string */
static char *
format_value(const struct subscriber *subscriber, size_t row)
{
	const struct schedule *schedule = &subscriber->schedule;

	switch (row) {
	case WHEN:
		return g_strdup(schedule_frequency_name(schedule->frequency));
	case DAYS:
		return schedule->frequency == SCHEDULE_WEEKLY
		           ? schedule_format_weekdays(schedule->weekdays)
		           : g_strdup("");
	case AT:
		return g_strdup_printf(
		    "%02d:%02d", schedule->minute / 60, schedule->minute % 60);
	case ZONE:
		return g_strdup(subscriber->zone);
	case MAX_FULL:
		return g_strdup_printf("%d", subscriber->max_full);
	case LANGUAGE:
		return g_strdup(
		    *subscriber->language ? subscriber->language : DEFAULT_LANGUAGE);
	}
	return g_strdup(subscriber->name ? subscriber->name : "");
}

/* ---- the form ---- */

/* @param words  possible values, separated by ", "; NULL: a text field */
static void
add_setting(
    GVariantBuilder *list, const char *key, const char *value, const char *words)
{
	GVariantBuilder *values = web_values_new();
	GVariantBuilder *options = web_list_new();
	g_auto(GStrv) all = g_strsplit(words ? words : "", ", ", -1);

	web_values_add(values, "key", key);
	web_values_add(values, "value", value);
	for (char **word = all; *word; word++) {
		GVariantBuilder *option = web_values_new();

		web_values_add(option, "value", *word);
		web_values_add_flag(option, "is_selected", strcmp(*word, value) == 0);
		web_list_add(options, option);
	}
	web_values_take(values, "options", options);
	web_list_add(list, values);
}

static void
add_own(struct web_call *call, GVariantBuilder *list,
    const struct subscriber *subscriber, size_t row)
{
	const struct catalog *catalog = call->handler->options.phrases;
	g_autofree char *languages = catalog_format_languages(catalog);
	g_autofree char *value = format_value(subscriber, row);

	add_setting(list, own_rows[row].key, value,
	    row == LANGUAGE ? languages : own_rows[row].words);
}

void
web_add_settings(struct web_call *call, const struct subscriber *subscriber)
{
	GVariantBuilder *list = web_list_new();

	for (size_t row = 0; row < G_N_ELEMENTS(own_rows); row++)
		add_own(call, list, subscriber, row);
	for (int i = 0; i < PREFERENCE_COUNT; i++) {
		enum preference preference = (enum preference)i;
		g_autofree char *words = preferences_format_words(preference);

		add_setting(list, preferences_get_name(preference),
		    preferences_get_word(&subscriber->preferences, preference), words);
	}
	web_values_take(call->values, "settings", list);
}

/* ---- changes ---- */

static bool
is_changed(const struct web_call *call, const char *key, const char *value)
{
	g_autofree char *typed = web_get_line(call, key);

	return g_hash_table_contains(call->request->fields, key) &&
	       strcmp(typed, value) != 0;
}

/* Days imply the frequency "weekly", and belong to it. */
static void
add_schedule_line(struct web_call *call, const struct subscriber *subscriber,
    GPtrArray *lines, const char **field)
{
	g_autofree char *when = format_value(subscriber, WHEN);
	g_autofree char *days = format_value(subscriber, DAYS);
	g_autofree char *typed = web_get_line(call, "when");
	bool is_weekly = strcmp(*typed ? typed : when, "weekly") == 0;
	bool has_days =
	    is_weekly && *web_get(call, "days") && is_changed(call, "days", days);
	GString *line;

	if (!has_days && !(*typed && is_changed(call, "when", when)))
		return;
	line = g_string_new("set");
	if (*typed)
		web_append_quoted(call, line, "when ", "when");
	if (has_days)
		web_append_quoted(call, line, "days ", "days");
	g_ptr_array_add(lines, g_string_free(line, FALSE));
	*field = has_days ? "days" : "when";
}

static void
add_line(struct web_call *call, const char *key, const char *value, GPtrArray *lines,
    GPtrArray *fields)
{
	g_autofree char *before = g_strconcat(key, " ", NULL);
	GString *line;

	/* Only a name can be removed. */
	if (!is_changed(call, key, value) ||
	    (!*web_get(call, key) && strcmp(key, "name") != 0))
		return;
	line = g_string_new("set");
	web_append_quoted(call, line, before, key);
	g_ptr_array_add(lines, g_string_free(line, FALSE));
	g_ptr_array_add(fields, (gpointer)key);
}

void
web_list_changes(struct web_call *call, const struct subscriber *subscriber,
    GPtrArray *lines, GPtrArray *fields)
{
	const char *field = NULL;

	add_schedule_line(call, subscriber, lines, &field);
	if (field)
		g_ptr_array_add(fields, (gpointer)field);
	for (size_t row = AT; row < G_N_ELEMENTS(own_rows); row++) {
		g_autofree char *value = format_value(subscriber, row);

		add_line(call, own_rows[row].key, value, lines, fields);
	}
	for (int i = 0; i < PREFERENCE_COUNT; i++) {
		enum preference preference = (enum preference)i;

		add_line(call, preferences_get_name(preference),
		    preferences_get_word(&subscriber->preferences, preference), lines,
		    fields);
	}
}
