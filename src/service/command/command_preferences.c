/*
 * command_preferences.c - commands on schedule and style: set, pause, resume.
 */
#include <string.h>

#include "base/bounds.h"
#include "model/natural_time.h"
#include "model/preferences.h"
#include "model/schedule.h"
#include "service/command/command_private.h"
#include "service/people/profile.h"

/* ---- settings without `set` ---- */

static bool
is_time(const char *value)
{
	int minute;

	/* "at 25:00" is recognised as a time, since its error is helpful. */
	return natural_time_parse_minute(value, &minute) ||
	       g_regex_match_simple("^\\d{1,2}([:.]\\d\\d?)?$", value, 0, 0);
}

static bool
is_days(const char *value)
{
	unsigned weekdays;

	return schedule_parse_weekdays(value, &weekdays, NULL);
}

static bool
is_frequency(const char *value)
{
	struct schedule schedule;

	return profile_parse_frequency(value, &schedule, NULL);
}

static bool
is_number(const char *value)
{
	return g_ascii_string_to_unsigned(value, 10, 0, G_MAXINT, NULL, NULL);
}

/* "de"; unsupported ones are errors of `set`. */
static bool
is_language(const char *value)
{
	return strlen(value) == 2 && g_ascii_isalpha(value[0]) &&
	       g_ascii_isalpha(value[1]);
}

/* Accept any word: `set` reports unknown zones. */
static bool
is_word(const char *value)
{
	(void)value;
	return true;
}

static const struct {
	const char *key;
	bool (*is_value)(const char *value);
	bool is_first; /* may start a line; prose does not start so */
} bare_keys[] = {
    {"at", is_time, true},
    {"days", is_days, true},
    {"on", is_days, false},
    {"max", is_number, true},
    {"tz", is_word, true},
    {"timezone", is_word, true},
    {"language", is_language, true},
    {"lang", is_language, true},
    {"when", is_frequency, true},
};

static bool
is_setting(const char *key, const char *value, bool is_first)
{
	struct preferences chosen = {{0}};
	enum preference preference;

	for (size_t i = 0; i < G_N_ELEMENTS(bare_keys); i++)
		if (g_ascii_strcasecmp(key, bare_keys[i].key) == 0)
			return (!is_first || bare_keys[i].is_first) &&
			       bare_keys[i].is_value(value);
	return preferences_find(key, &preference) &&
	       preferences_choose(&chosen, preference, value, NULL);
}

/* "weekly", "daily at 9pm"; "now" is too common in prose. */
static bool
is_bare_frequency(const char *word)
{
	return is_frequency(word) && g_ascii_strcasecmp(word, "now") != 0;
}

bool
command_is_settings(const char *line)
{
	bool is_first = true;

	while (*line) {
		g_autofree char *key = command_take_word(&line);
		g_autofree char *value = NULL;

		if (!key)
			return false;
		if (is_bare_frequency(key)) {
			is_first = false;
			continue;
		}
		value = command_take_value(&line, key);
		if (!value || !is_setting(key, value, is_first))
			return false;
		is_first = false;
	}
	return !is_first;
}

/* ---- set ---- */

struct requested {
	struct profile_change change;
	char *values[PREFERENCE_COUNT + 8]; /* borrowed by change */
	unsigned count;
};

static bool
set_requested(struct request *request, const char *key, const char *value,
    struct requested *requested, GError **error)
{
	struct profile_change *change = &requested->change;
	const struct {
		const char *key;
		const char **place;
	} keys[] = {{"when", &change->frequency}, {"days", &change->days},
	    {"on", &change->days}, {"at", &change->at}, {"tz", &change->zone},
	    {"zone", &change->zone}, {"timezone", &change->zone},
	    {"name", &change->name}, {"language", &change->language},
	    {"lang", &change->language}};
	enum preference preference;
	unsigned max;

	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
		if (g_ascii_strcasecmp(key, keys[i].key) == 0) {
			*keys[i].place = value;
			return true;
		}
	}
	if (preferences_find(key, &preference)) {
		change->words[preference] = value;
		return true;
	}
	if (g_ascii_strcasecmp(key, "max") == 0) {
		if (!command_parse_number(
		        request, "max", value, BOUNDS_DIGEST_FULL_MAX, &max, error))
			return false;
		change->max_full = (int)max;
		return true;
	}
	{
		g_autofree char *shown = reply_text_quote(&request->text, key);

		return command_fail(request, error,
		    N_("there is no setting \"{key}\". These are: when, days, at, tz, "
		       "max, order, group, abstract, format, quiet, updates, "
		       "crosslist, attach, feedback, checkup, versions, "
		       "retractions, language, name."),
		    "key", shown);
	}
}

/* KEY VALUE or KEY=VALUE; a trailing name needs no quotation marks. */
static bool
parse_requested(struct request *request, const char *arguments,
    struct requested *requested, GError **error)
{
	while (*arguments) {
		g_autofree char *key = command_take_word(&arguments);
		char *equals = key ? strchr(key, '=') : NULL;
		char *value;

		if (requested->count == G_N_ELEMENTS(requested->values))
			return command_fail(request, error,
			    N_("that is too much for one line. Use several."));
		if (equals) {
			*equals = '\0';
			value = g_strdup(equals + 1);
		} else if (g_ascii_strcasecmp(key, "name") == 0 && *arguments != '"') {
			value = g_strdup(arguments);
			arguments += strlen(arguments);
		} else if (is_frequency(key)) {
			value = g_steal_pointer(&key);
			key = g_strdup("when");
		} else {
			value = command_take_value(&arguments, key);
		}
		if (!value)
			return command_fail(
			    request, error, N_("give a value for {key}."), "key", key);
		requested->values[requested->count++] = value;
		if (!set_requested(request, key, value, requested, error))
			return false;
	}
	return true;
}

/* "at: 07:30 -> 08:00" */
static void
add_change(struct request *request, const char *key, const char *before,
    const char *after, bool *is_any)
{
	g_autofree char *from = reply_text_quote(&request->text, before);
	g_autofree char *to = reply_text_quote(&request->text, after);

	if (strcmp(before, after) == 0)
		return;
	reply_phrase(&request->text, *is_any ? "" : "ok", "{key}: {before} -> {after}",
	    "key", key, "before", *from ? from : "-", "after", *to ? to : "-");
	*is_any = true;
}

static void
add_changes(struct request *request, const struct subscriber *before,
    const struct subscriber *after)
{
	g_autofree char *when = profile_format_frequency(&before->schedule);
	g_autofree char *when_now = profile_format_frequency(&after->schedule);
	g_autofree char *at = g_strdup_printf(
	    "%02d:%02d", before->schedule.minute / 60, before->schedule.minute % 60);
	g_autofree char *at_now = g_strdup_printf(
	    "%02d:%02d", after->schedule.minute / 60, after->schedule.minute % 60);
	bool is_any = false;

	add_change(request, "when", when, when_now, &is_any);
	add_change(request, "at", at, at_now, &is_any);
	add_change(request, "tz", before->zone, after->zone, &is_any);
	add_change(request, "max", MSG_INT(before->max_full), MSG_INT(after->max_full),
	    &is_any);
	for (int i = 0; i < PREFERENCE_COUNT; i++)
		add_change(request, preferences_get_name((enum preference)i),
		    preferences_get_word(&before->preferences, (enum preference)i),
		    preferences_get_word(&after->preferences, (enum preference)i),
		    &is_any);
	add_change(request, "language", before->language, after->language, &is_any);
	add_change(request, "name", before->name ? before->name : "",
	    after->name ? after->name : "", &is_any);
	if (!is_any)
		reply_phrase(
		    &request->text, "ok", N_("already set; nothing was changed."));
}

static bool
check_language(struct request *request, const char *language, GError **error)
{
	g_autofree char *known = NULL;

	if (!language || !*language || catalog_has_language(request->catalog, language))
		return true;
	known = catalog_format_languages(request->catalog);
	return command_fail(
	    request, error, N_("available languages: {known}."), "known", known);
}

/* @param requested zeroed by the caller; freed with requested_clear() */
static bool
parse_set(struct request *request, const char *arguments, struct requested *requested,
    GError **error)
{
	requested->change.who = request->actor;
	return parse_requested(request, arguments, requested, error) &&
	       check_language(request, requested->change.language, error);
}

static void
requested_clear(struct requested *requested)
{
	for (unsigned i = 0; i < requested->count; i++)
		g_free(requested->values[i]);
}

bool
command_decide_set(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	pb_local(requested) requested = {0};
	pb_auto(subscriber) after = subscriber_copy(request->planned);
	bool is_ok = parse_set(request, arguments, &requested, error) &&
	             profile_apply(after, &requested.change, error);

	(void)decision;
	if (is_ok) {
		subscriber_free(request->planned);
		request->planned = g_steal_pointer(&after);
	}
	return is_ok;
}

bool
command_run_set(struct request *request, const char *arguments, GError **error)
{
	pb_local(requested) requested = {0};
	pb_auto(subscriber) after = NULL;

	if (parse_set(request, arguments, &requested, error))
		after = profile_set(request->store, request->address, &requested.change,
		    request->now, error);
	if (!after)
		return false;
	add_changes(request, request->subscriber, after);
	request->reply.is_changed = true;
	return request_reload(request, error);
}

/* ---- pauses ---- */

/* "until 2026-12-01", "14d", "for 2 weeks", or nothing */
static const char *
skip_until(const char *arguments)
{
	return arguments + (g_ascii_strncasecmp(arguments, "until ", 6) == 0 ? 6 : 0);
}

bool
command_decide_pause(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	const char *until = skip_until(arguments);

	if (!profile_apply_pause(
	        request->planned, *until ? until : NULL, request->now, error))
		return false;
	decision->arguments =
	    *until ? g_strconcat("until ", request->planned->paused_until, NULL)
	           : g_strdup("");
	return true;
}

bool
command_run_pause(struct request *request, const char *arguments, GError **error)
{
	const char *until = skip_until(arguments);
	pb_auto(subscriber) after = profile_pause(request->store, request->address,
	    *until ? until : NULL, request->actor, request->now, error);
	g_autofree char *day = NULL;

	if (!after)
		return false;
	day = reply_text_format_day(&request->text, after->paused_until);
	reply_phrase(&request->text, "ok",
	    *day ? N_("no mail until {day}. What you miss comes in one digest then, as "
	              "far back as 30 days. \"resume\" ends it sooner.")
	         : N_("no mail until you write \"resume\". What you miss comes in one "
	              "digest then, as far back as 30 days."),
	    "day", day);
	return request_reload(request, error);
}

static bool
parse_resume(struct request *request, const char *arguments,
    const struct subscriber *subscriber, unsigned *most, GError **error)
{
	g_autofree char *text = command_take_option(&arguments, "catchup");

	*most = 0;
	if (text && !command_parse_number(
	                request, "catchup", text, BOUNDS_DIGEST_FULL_MAX, most, error))
		return false;
	return subscriber->state == SUBSCRIBER_PAUSED ||
	       command_fail(
	           request, error, N_("you are not paused, so mail comes as usual."));
}

bool
command_decide_resume(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	unsigned most;

	(void)decision;
	if (!parse_resume(request, arguments, request->planned, &most, error))
		return false;
	request->planned->state = SUBSCRIBER_ACTIVE;
	return true;
}

bool
command_run_resume(struct request *request, const char *arguments, GError **error)
{
	pb_auto(subscriber) after = NULL;
	unsigned most;

	if (!parse_resume(request, arguments, request->subscriber, &most, error))
		return false;
	after = profile_resume(request->store, request->address, (int)most,
	    request->actor, request->now, error);
	if (!after)
		return false;
	reply_phrase(&request->text, "ok",
	    N_("mail comes again. What you missed is in one digest, which comes at "
	       "once."));
	request->reply.is_changed = true;
	return request_reload(request, error);
}
