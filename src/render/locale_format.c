/*
 * locale_format.c - counts, dates and lists in the reader's language.
 */
#include "render/locale_format.h"

#include <stdlib.h>

#include "base/day.h"
#include "message/sanitize.h"

char *
locale_format_count(const struct locale_format *format, int64_t count, const char *text)
{
	return catalog_format_count(format->catalog, format->language, text, count);
}

char *
locale_format_text(const struct locale_format *format, const char *text)
{
	return catalog_format(format->catalog, format->language, text, NULL);
}

/* Get a word of a phrase, or "?" if it has fewer. @param number  from 1 */
static char *
get_word(const struct locale_format *format, const char *phrase, unsigned number)
{
	g_autofree char *text =
	    catalog_format(format->catalog, format->language, phrase, NULL);
	g_auto(GStrv) all = g_strsplit_set(text, " \n", -1);

	return g_strdup(number <= g_strv_length(all) ? all[number - 1] : "?");
}

char *
locale_format_day(const struct locale_format *format, const char *day,
    enum locale_format_length length)
{
	/* Not strftime(), which uses the language of the C locale. */
	static const struct {
		const char *weekdays;
		const char *months;
		const char *date;
	} names[] = {
	    [LOCALE_FORMAT_NO_YEAR] = {N_("Mon Tue Wed Thu Fri Sat Sun"),
	        N_("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"),
	        N_("{weekday} {day} {month}")},
	    [LOCALE_FORMAT_SHORT] = {N_("Mon Tue Wed Thu Fri Sat Sun"),
	        N_("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"),
	        NC_("short date", "{weekday} {day} {month} {year}")},
	    [LOCALE_FORMAT_LONG] =
	        {N_("Monday Tuesday Wednesday Thursday Friday Saturday Sunday"),
	            N_("January February March April May June July August September "
	               "October November December"),
	            NC_("long date", "{weekday} {day} {month} {year}")},
	};
	g_autofree char *weekday = NULL;
	g_autofree char *month = NULL;
	g_autofree char *mday = NULL;
	g_autofree char *year = NULL;
	g_autoptr(GDate) date = NULL;

	if (!day_is_valid(day))
		return NULL;
	date = g_date_new_dmy(
	    (GDateDay)atoi(day + 8), (GDateMonth)atoi(day + 5), (GDateYear)atoi(day));
	weekday = get_word(format, names[length].weekdays, g_date_get_weekday(date));
	month = get_word(format, names[length].months, g_date_get_month(date));
	mday = g_strdup_printf("%d", g_date_get_day(date));
	year = g_strdup_printf("%d", g_date_get_year(date));
	return catalog_format(format->catalog, format->language, names[length].date,
	    "weekday", weekday, "day", mday, "month", month, "year", year, NULL);
}

char *
locale_format_names(
    const struct locale_format *format, const GPtrArray *names, unsigned limit)
{
	GString *out;

	if (names->len == 0)
		return NULL;
	/* "and 1 more" would save nothing. */
	if (names->len == limit + 1)
		limit++;
	out = g_string_new(NULL);
	for (unsigned i = 0; i < names->len && i < limit; i++) {
		g_autofree char *name = sanitize_paper_text(names->pdata[i], 0);

		g_string_append_printf(out, "%s%s", i > 0 ? ", " : "", name);
	}
	if (names->len > limit) {
		g_autofree char *more = locale_format_count(
		    format, names->len - limit, PL_("and 1 more", "and {count} more"));

		g_string_append_printf(out, " %s", more);
	}
	return g_string_free(out, FALSE);
}
