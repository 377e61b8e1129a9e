/*
 * natural_time.c - parse informal times and dates: "9pm", "2 weeks", "friday".
 */
#include "model/natural_time.h"

#include <string.h>

#include "model/schedule.h"

#define HALF_DAY_HOURS 12

/* Length of a unit in days or months. */
static const struct unit {
	const char *name;
	int days, months;
} units[] = {
    {"d", 1, 0},
    {"day", 1, 0},
    {"days", 1, 0},
    {"tag", 1, 0},
    {"tage", 1, 0},
    {"tagen", 1, 0},
    {"w", 7, 0},
    {"week", 7, 0},
    {"weeks", 7, 0},
    {"woche", 7, 0},
    {"wochen", 7, 0},
    {"fortnight", 14, 0},
    {"fortnights", 14, 0},
    {"month", 0, 1},
    {"months", 0, 1},
    {"monat", 0, 1},
    {"monate", 0, 1},
    {"monaten", 0, 1},
    {"year", 0, 12},
    {"jahr", 0, 12},
};

static const struct number {
	const char *name;
	int value;
} numbers[] = {
    {"a", 1},
    {"an", 1},
    {"one", 1},
    {"ein", 1},
    {"eine", 1},
    {"einen", 1},
    {"two", 2},
    {"zwei", 2},
    {"three", 3},
    {"drei", 3},
    {"four", 4},
    {"vier", 4},
    {"five", 5},
    {"fünf", 5},
    {"fuenf", 5},
    {"six", 6},
    {"sechs", 6},
    {"seven", 7},
    {"sieben", 7},
    {"eight", 8},
    {"acht", 8},
    {"nine", 9},
    {"neun", 9},
    {"ten", 10},
    {"zehn", 10},
    {"eleven", 11},
    {"elf", 11},
    {"twelve", 12},
    {"zwölf", 12},
    {"zwoelf", 12},
};

/* Words that may precede a duration or day, longest first. */
static const char *const before[] = {
    "for the next ", "for ", "the next ", "next ", "für ", "fuer "};
static const char *const until[] = {"until ", "till ", "til ", "bis "};

static const char *const hour_words[] = {
    "am", "a.m.", "a.m", "pm", "p.m.", "p.m", "h", "uhr", "o'clock"};

bool
natural_time_is_of_hour(const char *word)
{
	for (size_t i = 0; i < G_N_ELEMENTS(hour_words); i++)
		if (g_ascii_strcasecmp(word, hour_words[i]) == 0)
			return true;
	return false;
}

/* @return in lower case, without trailing punctuation; owned by the caller */
static char *
make_plain(const char *text)
{
	char *plain = g_utf8_validate(text, -1, NULL) ? g_utf8_strdown(text, -1)
	                                              : g_ascii_strdown(text, -1);

	g_strstrip(plain);
	for (size_t size = strlen(plain); size && strchr("!,; ", plain[size - 1]);)
		plain[--size] = '\0';
	return plain;
}

static enum natural_time_hour
set_hour(int hour, int minutes, const char *word, int *minute)
{
	bool is_half = *word == 'a' || *word == 'p';
	bool is_open = !*word || strcmp(word, "o'clock") == 0;

	if (hour > 23 || minutes > 59 ||
	    (is_half && (hour < 1 || hour > HALF_DAY_HOURS)))
		return NATURAL_TIME_HOUR_NOTHING;
	if (is_half)
		hour = hour % HALF_DAY_HOURS + (*word == 'p' ? HALF_DAY_HOURS : 0);
	*minute = hour * 60 + minutes;
	return is_open && hour >= 1 && hour <= HALF_DAY_HOURS ? NATURAL_TIME_HOUR_EITHER
	                                                      : NATURAL_TIME_HOUR_CLEAR;
}

enum natural_time_hour
natural_time_parse_minute(const char *text, int *minute)
{
	static const char shape[] = "^(\\d{1,2})(?:[:.](\\d\\d))? *(\\S*)$";
	g_autofree char *plain = make_plain(text);
	g_autoptr(GRegex) regex = g_regex_new(shape, 0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	g_autofree char *hour = NULL, *minutes = NULL, *word = NULL;

	if (strcmp(plain, "noon") == 0 || strcmp(plain, "midnight") == 0) {
		*minute = *plain == 'n' ? HALF_DAY_HOURS * 60 : 0;
		return NATURAL_TIME_HOUR_CLEAR;
	}
	if (!g_regex_match(regex, plain, 0, &match))
		return NATURAL_TIME_HOUR_NOTHING;
	hour = g_match_info_fetch(match, 1);
	minutes = g_match_info_fetch(match, 2);
	word = g_match_info_fetch(match, 3);
	if (*word && !natural_time_is_of_hour(word))
		return NATURAL_TIME_HOUR_NOTHING;
	/* With minutes, it is a 24-hour time unless a suffix says otherwise. */
	return set_hour((int)g_ascii_strtoll(hour, NULL, 10),
	    (int)g_ascii_strtoll(minutes, NULL, 10), *minutes && !*word ? "h" : word,
	    minute);
}

static const char *
skip_any(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (g_str_has_prefix(text, words[i]))
			return text + strlen(words[i]);
	return text;
}

/* @return -1 if none */
static int
parse_number(const char *text)
{
	guint64 parsed;

	if (g_ascii_string_to_unsigned(text, 10, 0, 9999, &parsed, NULL))
		return (int)parsed;
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
		if (strcmp(text, numbers[i].name) == 0)
			return numbers[i].value;
	return -1;
}

/* "2 weeks", "2weeks", "two weeks". @return NULL if not a duration */
static GDateTime *
add_span(const char *text, GDateTime *here)
{
	size_t digits = strspn(text, "0123456789");
	size_t size = digits ? digits : strcspn(text, " ");
	g_autofree char *number = g_strndup(text, size);
	const char *name = text + size + strspn(text + size, " ");
	int count = parse_number(number);

	for (size_t i = 0; count >= 0 && i < G_N_ELEMENTS(units); i++) {
		if (strcmp(name, units[i].name) != 0)
			continue;
		return units[i].days
		           ? g_date_time_add_days(here, count * units[i].days)
		           : g_date_time_add_months(here, count * units[i].months);
	}
	return NULL;
}

/* The next such weekday after today. @return NULL if not a weekday */
static GDateTime *
find_weekday(const char *text, GDateTime *here)
{
	unsigned bits;
	int wanted, days;

	if (!g_regex_match_simple("^[a-z]+$", text, 0, 0) ||
	    !schedule_parse_weekdays(text, &bits, NULL))
		return NULL;
	wanted = g_bit_nth_lsf(bits, -1) + 1;
	days = (wanted - g_date_time_get_day_of_week(here) + 7) % 7;
	return g_date_time_add_days(here, days ? days : 7);
}

bool
natural_time_parse_day(const char *text, GDateTime *here, char day[DAY_BYTES])
{
	g_autofree char *plain = make_plain(text);
	const char *rest;
	g_autoptr(GDateTime) then = NULL;
	g_autofree char *found = NULL;

	if (g_str_has_suffix(plain, "."))
		plain[strlen(plain) - 1] = '\0';
	rest = skip_any(plain, until, G_N_ELEMENTS(until));
	if (strcmp(rest, "tomorrow") == 0 || strcmp(rest, "morgen") == 0)
		then = g_date_time_add_days(here, 1);
	else
		then = find_weekday(rest, here);
	if (!then)
		then = add_span(skip_any(rest, before, G_N_ELEMENTS(before)), here);
	if (!then)
		return false;
	found = g_date_time_format(then, "%Y-%m-%d");
	g_strlcpy(day, found, DAY_BYTES);
	return true;
}
