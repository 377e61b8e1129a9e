/*
 * command_preference.c - lines that are settings without the word `set` before them.
 */
#include <string.h>

#include "model/natural_time.h"
#include "model/preferences.h"
#include "service/command/command_private.h"
#include "service/people/profile.h"

static bool
is_time(const char *value)
{
	int minute;

	/* "at 9" is one too: it is asked which of the two; and so is "at 25:00", whose
	 * error says what is wrong. */
	return natural_time_parse_minute(value, &minute) != NATURAL_TIME_HOUR_NOTHING ||
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

/* "de"; whether it is spoken is told in the answer. */
static bool
is_language(const char *value)
{
	return strlen(value) == 2 && g_ascii_isalpha(value[0]) &&
	       g_ascii_isalpha(value[1]);
}

/* Whether there is such a zone is told in the answer. */
static bool
is_word(const char *value)
{
	(void)value;
	return true;
}

static const struct {
	const char *key;
	bool (*judge)(const char *value);
	bool is_first; /* a line may begin with it: prose does not */
} keys[] = {
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
judge_pair(const char *key, const char *value, bool is_first)
{
	struct preferences chosen = {{0}};
	enum preference preference;

	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		if (g_ascii_strcasecmp(key, keys[i].key) == 0)
			return (!is_first || keys[i].is_first) && keys[i].judge(value);
	return preferences_find(key, &preference) &&
	       preferences_choose(&chosen, preference, value, NULL);
}

/* "weekly", "daily at 9pm"; "now" is a word of letters. */
static bool
is_bare_cadence(const char *word)
{
	return is_frequency(word) && g_ascii_strcasecmp(word, "now") != 0;
}

bool
command_setting_judge(const char *line)
{
	bool is_first = true;

	while (*line) {
		g_autofree char *key = command_take_word(&line);
		g_autofree char *value = NULL;

		if (!key)
			return false;
		if (is_bare_cadence(key)) {
			is_first = false;
			continue;
		}
		value = command_take_value(&line, key);
		if (!value || !judge_pair(key, value, is_first))
			return false;
		is_first = false;
	}
	return !is_first;
}
