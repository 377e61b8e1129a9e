/*
 * words.c - counts and dates as a reader says them, in English.
 */
#include "render/words.h"

#include <stdbool.h>
#include <string.h>

#include "mail/inert.h"

char *
words_format_count(int64_t count, const char *noun)
{
	return g_strdup_printf(
	    "%" G_GINT64_FORMAT " %s%s", count, noun, count == 1 ? "" : "s");
}

static bool
parse_day(const char *day, GDate *out)
{
	static const char shape[] = "dddd-dd-dd";
	unsigned year;
	unsigned month;
	unsigned mday;

	for (size_t i = 0; i < strlen(shape); i++) {
		if (shape[i] == 'd' ? !g_ascii_isdigit(day[i]) : day[i] != shape[i])
			return false;
	}
	if (day[strlen(shape)] != '\0')
		return false;
	year = (unsigned)g_ascii_strtoull(day, NULL, 10);
	month = (unsigned)g_ascii_strtoull(day + 5, NULL, 10);
	mday = (unsigned)g_ascii_strtoull(day + 8, NULL, 10);
	if (!g_date_valid_dmy((GDateDay)mday, (GDateMonth)month, (GDateYear)year))
		return false;
	g_date_clear(out, 1);
	g_date_set_dmy(out, (GDateDay)mday, (GDateMonth)month, (GDateYear)year);
	return true;
}

char *
words_format_day(const char *day, enum words_length length)
{
	/* Not strftime(): that speaks the language of the locale. */
	static const char *const days[] = {"Monday", "Tuesday", "Wednesday", "Thursday",
	    "Friday", "Saturday", "Sunday"};
	static const char *const months[] = {"January", "February", "March", "April",
	    "May", "June", "July", "August", "September", "October", "November",
	    "December"};
	int letters = length == WORDS_SHORT ? 3 : 9;
	GDate date;

	if (!parse_day(day, &date))
		return NULL;
	return g_strdup_printf("%.*s %d %.*s %d", letters,
	    days[g_date_get_weekday(&date) - 1], g_date_get_day(&date), letters,
	    months[g_date_get_month(&date) - 1], g_date_get_year(&date));
}

char *
words_format_names(const GPtrArray *names, unsigned limit)
{
	GString *out;

	if (names->len == 0)
		return NULL;
	out = g_string_new(NULL);
	for (unsigned i = 0; i < names->len && i < limit; i++) {
		g_autofree char *name = inert_format_line(names->pdata[i], 0);

		g_string_append_printf(out, "%s%s", i > 0 ? ", " : "", name);
	}
	if (names->len > limit)
		g_string_append_printf(out, " and %u more", names->len - limit);
	return g_string_free(out, FALSE);
}
