/*
 * fetch_days.c - which days of a source are due to be fetched.
 */
#include "sources/fetch_days.h"

#include <string.h>

#define DAY_S ((int64_t)86400)

bool
fetch_days_is_valid(const char *day)
{
	int year, month, date;

	if (strlen(day) != 10 || day[4] != '-' || day[7] != '-')
		return false;
	for (size_t i = 0; i < 10; i++)
		if (i != 4 && i != 7 && !g_ascii_isdigit(day[i]))
			return false;
	year = (int)g_ascii_strtoll(day, NULL, 10);
	month = (int)g_ascii_strtoll(day + 5, NULL, 10);
	date = (int)g_ascii_strtoll(day + 8, NULL, 10);
	return g_date_valid_dmy((GDateDay)date, (GDateMonth)month, (GDateYear)year);
}

static char *
format_day(int64_t at)
{
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(at);

	return g_date_time_format(time, "%Y-%m-%d");
}

bool
fetch_days_due(int64_t now, int64_t last_old_poll_at, GPtrArray *out)
{
	bool has_old = last_old_poll_at < 0 || last_old_poll_at / DAY_S != now / DAY_S;
	int64_t back = has_old ? FETCH_DAYS_OLDEST : FETCH_DAYS_RECENT;

	for (int64_t i = 0; i <= back; i++)
		g_ptr_array_add(out, format_day(now - i * DAY_S));
	return has_old;
}
