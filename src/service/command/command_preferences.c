/*
 * command_preferences.c - the commands on how mail comes: set, pause, resume.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/zone.h"
#include "service/command/command_private.h"
#include "service/people/profile.h"

/* What `set` says so far. */
struct requested_preferences {
	struct profile_change change;
	char *values[PREFERENCE_COUNT + 8]; /* what it borrows */
	unsigned count;
};

static bool
request_preference(struct command_work *work, const char *key, const char *value,
    struct requested_preferences *requested, GError **error)
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
		        work, "max", value, BOUNDS_DIGEST_FULL_MAX, &max, error))
			return false;
		change->max_full = (int)max;
		return true;
	}
	{
		g_autofree char *shown = reply_text_quote(&work->answer, key);

		return command_fail(work, error, "wrong_key", "key", shown);
	}
}

/* "set weekly" is "set when weekly". */
static bool
is_frequency(const char *word)
{
	struct schedule schedule;

	return profile_parse_frequency(word, &schedule, NULL);
}

/* KEY VALUE, KEY=VALUE; a name may have blanks without quotation marks at the end. */
static bool
read_preferences(struct command_work *work, const char *arguments,
    struct requested_preferences *requested, GError **error)
{
	while (*arguments) {
		g_autofree char *key = command_take_word(&arguments);
		char *equals = key ? strchr(key, '=') : NULL;
		char *value;

		if (requested->count == G_N_ELEMENTS(requested->values))
			return command_fail(work, error, "too_many_words");
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
			return command_fail(work, error, "set_wants_value", "key", key);
		requested->values[requested->count++] = value;
		if (!request_preference(work, key, value, requested, error))
			return false;
	}
	return true;
}

/* What is different now, a line each: "at: 07:30 -> 08:00". */
static void
say_change(struct command_work *work, const char *key, const char *before,
    const char *after, bool *has_said)
{
	g_autofree char *from = reply_text_quote(&work->answer, before);
	g_autofree char *to = reply_text_quote(&work->answer, after);

	if (strcmp(before, after) == 0)
		return;
	reply_phrase(&work->answer, *has_said ? "" : "ok", "set_is", "key", key,
	    "before", *from ? from : "-", "after", *to ? to : "-");
	*has_said = true;
}

static void
say_changes(struct command_work *work, const struct subscriber *before,
    const struct subscriber *after)
{
	g_autofree char *when = profile_format_frequency(&before->schedule);
	g_autofree char *when_now = profile_format_frequency(&after->schedule);
	g_autofree char *at = g_strdup_printf(
	    "%02d:%02d", before->schedule.minute / 60, before->schedule.minute % 60);
	g_autofree char *at_now = g_strdup_printf(
	    "%02d:%02d", after->schedule.minute / 60, after->schedule.minute % 60);
	g_autofree char *max = g_strdup_printf("%d", before->max_full);
	g_autofree char *max_now = g_strdup_printf("%d", after->max_full);
	bool has_said = false;

	say_change(work, "when", when, when_now, &has_said);
	say_change(work, "at", at, at_now, &has_said);
	say_change(work, "tz", before->zone, after->zone, &has_said);
	say_change(work, "max", max, max_now, &has_said);
	for (int i = 0; i < PREFERENCE_COUNT; i++)
		say_change(work, preferences_get_name((enum preference)i),
		    preferences_get_word(&before->preferences, (enum preference)i),
		    preferences_get_word(&after->preferences, (enum preference)i),
		    &has_said);
	say_change(work, "language", before->language, after->language, &has_said);
	say_change(work, "name", before->name ? before->name : "",
	    after->name ? after->name : "", &has_said);
	if (!has_said)
		reply_phrase(&work->answer, "ok", "set_same");
}

static bool
check_language(struct command_work *work, const char *language, GError **error)
{
	g_autofree char *known = NULL;

	if (!language || !*language ||
	    catalog_has_language(work->context->phrases, language))
		return true;
	known = catalog_format_languages(work->context->phrases);
	return command_fail(work, error, "wrong_language", "known", known);
}

bool
command_run_set(struct command_work *work, const char *arguments, GError **error)
{
	struct requested_preferences requested = {
	    .change = {.who = work->context->who}};
	pb_auto(subscriber) after = NULL;

	if (read_preferences(work, arguments, &requested, error) &&
	    check_language(work, requested.change.language, error))
		after = profile_set(work->context->store, work->address,
		    &requested.change, work->context->now, error);
	for (unsigned i = 0; i < requested.count; i++)
		g_free(requested.values[i]);
	if (!after)
		return false;
	say_changes(work, work->subscriber, after);
	work->reply->is_changed = true;
	return command_work_load(work, error);
}

/* "until 2026-12-01", "14d", "for 2 weeks", or nothing. */
static const char *
skip_until(const char *arguments)
{
	return arguments + (g_ascii_strncasecmp(arguments, "until ", 6) == 0 ? 6 : 0);
}

char *
command_fix_pause(struct command_work *work, const char *arguments, GError **error)
{
	const char *until = skip_until(arguments);
	g_autoptr(GTimeZone) zone = zone_load_or_utc(work->subscriber->zone);
	char day[DAY_BYTES];

	if (!*until)
		return g_strdup("");
	if (!profile_parse_until(until, zone, work->context->now, day, error))
		return NULL;
	return g_strconcat("until ", day, NULL);
}

bool
command_run_pause(struct command_work *work, const char *arguments, GError **error)
{
	const char *until = skip_until(arguments);
	pb_auto(subscriber) after = profile_pause(work->context->store, work->address,
	    *until ? until : NULL, work->context->who, work->context->now, error);
	g_autofree char *day = NULL;

	if (!after)
		return false;
	day = reply_text_format_day(&work->answer, after->paused_until);
	reply_phrase(&work->answer, "ok", *day ? "paused" : "paused_open", "day", day);
	return command_work_load(work, error);
}

bool
command_run_resume(struct command_work *work, const char *arguments, GError **error)
{
	g_autofree char *text = command_take_option(&arguments, "catchup");
	pb_auto(subscriber) after = NULL;
	unsigned most = 0;

	if (text && !command_parse_number(
	                work, "catchup", text, BOUNDS_DIGEST_FULL_MAX, &most, error))
		return false;
	if (work->subscriber->state != SUBSCRIBER_PAUSED)
		return command_fail(work, error, "not_paused");
	after = profile_resume(work->context->store, work->address, (int)most,
	    work->context->who, work->context->now, error);
	if (!after)
		return false;
	reply_phrase(&work->answer, "ok", "resumed");
	work->reply->is_changed = true;
	return command_work_load(work, error);
}
