/*
 * web_settings.c - the settings of a subscriber, as fields of a form.
 */
#include <string.h>

#include "base/zone.h"
#include "model/preferences.h"
#include "service/web/web_private.h"

#define DEFAULT_LANGUAGE "en"

#define WEEKDAYS "mon, tue, wed, thu, fri, sat, sun"

/* Settings before and after the preferences of model/preferences.h. */
enum { WHEN, DAYS, AT, ZONE, MAX_FULL, LANGUAGE, NAME };

static const struct {
	const char *key;
	const char *words; /* possible values; NULL: a text field */
} own_rows[] = {
    [WHEN] = {"when", "now, daily, weekdays, weekly"},
    [DAYS] = {"days", WEEKDAYS}, /* a checkbox for each */
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

/* ---- time zones ---- */

/* One for each offset and region, from west to east; people may type another. */
static const char *const zones[] = {"Pacific/Midway", "Pacific/Honolulu",
    "America/Anchorage", "America/Los_Angeles", "America/Phoenix", "America/Denver",
    "America/Mexico_City", "America/Costa_Rica", "America/Chicago", "America/Bogota",
    "America/New_York", "America/Halifax", "America/Caracas", "America/Santiago",
    "America/St_Johns", "America/Sao_Paulo", "America/Argentina/Buenos_Aires",
    "America/Nuuk", "Atlantic/South_Georgia", "Atlantic/Azores", "Atlantic/Cape_Verde",
    "UTC", "Europe/London", "Europe/Lisbon", "Africa/Accra", "Africa/Casablanca",
    "Europe/Berlin", "Europe/Paris", "Africa/Lagos", "Europe/Athens", "Europe/Kyiv",
    "Africa/Cairo", "Africa/Johannesburg", "Asia/Jerusalem", "Europe/Istanbul",
    "Europe/Moscow", "Africa/Nairobi", "Asia/Riyadh", "Asia/Tehran", "Asia/Dubai",
    "Asia/Baku", "Asia/Kabul", "Asia/Karachi", "Asia/Tashkent", "Asia/Kolkata",
    "Asia/Kathmandu", "Asia/Dhaka", "Asia/Yangon", "Asia/Bangkok", "Asia/Jakarta",
    "Asia/Shanghai", "Asia/Singapore", "Australia/Perth", "Asia/Tokyo", "Asia/Seoul",
    "Australia/Adelaide", "Australia/Brisbane", "Australia/Sydney", "Pacific/Noumea",
    "Pacific/Auckland", "Pacific/Tongatapu", "Pacific/Kiritimati"};

/* @return "New York (UTC-5)", now */
static char *
format_zone(const char *name, int64_t now)
{
	g_autoptr(GTimeZone) zone = zone_load_or_utc(name);
	int interval = g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, now);
	int minutes = g_time_zone_get_offset(zone, interval) / 60;
	const char *slash = strrchr(name, '/');
	g_autofree char *city =
	    g_strdelimit(g_strdup(slash ? slash + 1 : name), "_", ' ');

	if (!minutes)
		return slash ? g_strdup_printf("%s (UTC)", city) : g_strdup(city);
	return minutes % 60 ? g_strdup_printf("%s (UTC%+d:%02d)", city, minutes / 60,
	                          ABS(minutes % 60))
	                    : g_strdup_printf("%s (UTC%+d)", city, minutes / 60);
}

static void
add_zone(GVariantBuilder *list, const char *name, const char *selected, int64_t now)
{
	GVariantBuilder *values = web_values_new();
	g_autofree char *label = format_zone(name, now);

	web_values_add(values, "value", name);
	web_values_add(values, "label", label);
	web_values_add_flag(values, "is_selected", strcmp(name, selected) == 0);
	web_list_add(list, values);
}

void
web_add_zones(struct web_call *call, GVariantBuilder *values, const char *selected)
{
	int64_t now = call->handler->options.now;
	GVariantBuilder *list = web_list_new();
	bool is_listed = false;

	for (size_t i = 0; i < G_N_ELEMENTS(zones); i++)
		is_listed |= strcmp(zones[i], selected) == 0;
	if (!is_listed)
		add_zone(list, selected, selected, now);
	for (size_t i = 0; i < G_N_ELEMENTS(zones); i++)
		add_zone(list, zones[i], selected, now);
	web_values_take(values, "zones", list);
}

/* ---- the form ---- */

/*
 * @param value  what is chosen; separated by "," if it is several
 * @param words  possible values, separated by ", "; NULL: a text field
 * @return the values
 */
static GVariantBuilder *
format_setting(const char *key, const char *value, const char *words)
{
	GVariantBuilder *values = web_values_new();
	GVariantBuilder *options = web_list_new();
	g_auto(GStrv) all = g_strsplit(words ? words : "", ", ", -1);
	g_auto(GStrv) parts = g_strsplit(value, ",", -1);
	const char *const *chosen = (const char *const *)parts;

	web_values_add(values, "key", key);
	web_values_add(values, "value", value);
	for (char **word = all; *word; word++) {
		GVariantBuilder *option = web_values_new();

		web_values_add(option, "value", *word);
		web_values_add_flag(
		    option, "is_selected", g_strv_contains(chosen, *word));
		web_list_add(options, option);
	}
	web_values_take(values, "options", options);
	return values;
}

static void
add_own(struct web_call *call, GVariantBuilder *list,
    const struct subscriber *subscriber, size_t row)
{
	const struct catalog *catalog = call->handler->options.phrases;
	g_autofree char *languages = catalog_format_languages(catalog);
	g_autofree char *value = format_value(subscriber, row);
	g_autofree char *typed = web_get_line(call, own_rows[row].key);
	/* A refused value is shown again. */
	bool is_again =
	    !call->is_done && *typed && (row == AT || row == MAX_FULL || row == NAME);
	GVariantBuilder *values;

	values = format_setting(own_rows[row].key, is_again ? typed : value,
	    row == LANGUAGE ? languages : own_rows[row].words);
	if (row == ZONE)
		web_add_zones(call, values, value);
	web_list_add(list, values);
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

		web_list_add(list,
		    format_setting(preferences_get_name(preference),
		        preferences_get_word(&subscriber->preferences, preference),
		        words));
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

/* The checked days, "mon,thu". */
static char *
get_days(const struct web_call *call)
{
	g_auto(GStrv) all = g_strsplit(WEEKDAYS, ", ", -1);
	GString *days = g_string_new(NULL);

	for (char **day = all; *day; day++) {
		g_autofree char *name = g_strconcat("day_", *day, NULL);

		if (*web_get(call, name))
			g_string_append_printf(
			    days, "%s%s", days->len ? "," : "", *day);
	}
	return g_string_free(days, FALSE);
}

/* Days imply the frequency "weekly", and belong to it. */
static void
add_schedule_line(struct web_call *call, const struct subscriber *subscriber,
    GPtrArray *lines, const char **field)
{
	g_autofree char *when = format_value(subscriber, WHEN);
	g_autofree char *before = format_value(subscriber, DAYS);
	g_autofree char *typed = web_get_line(call, "when");
	g_autofree char *days = get_days(call);
	bool is_weekly = strcmp(*typed ? typed : when, "weekly") == 0;
	bool has_days = is_weekly && *days && strcmp(days, before) != 0;
	GString *line;

	if (!has_days && !(*typed && is_changed(call, "when", when)))
		return;
	line = g_string_new("set");
	if (*typed)
		web_append_quoted(call, line, "when ", "when");
	if (has_days)
		g_string_append_printf(line, " days %s", days);
	g_ptr_array_add(lines, g_string_free(line, FALSE));
	*field = has_days ? "days" : "when";
}

static void
add_line(struct web_call *call, const char *key, const char *value, GPtrArray *lines,
    GPtrArray *fields)
{
	g_autofree char *before = g_strconcat(key, " ", NULL);
	/* A typed zone counts if none was chosen: a refused one stays typed. */
	const char *field = strcmp(key, "tz") == 0 && *web_get(call, "zone") &&
	                            !is_changed(call, key, value)
	                        ? "zone"
	                        : key;
	GString *line;

	/* Only a name can be removed. */
	if (!is_changed(call, field, value) ||
	    (!*web_get(call, field) && strcmp(key, "name") != 0))
		return;
	line = g_string_new("set");
	web_append_quoted(call, line, before, field);
	g_ptr_array_add(lines, g_string_free(line, FALSE));
	g_ptr_array_add(fields, (gpointer)field);
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
