/*
 * feed_date.c - the dates of feeds, in all their spellings.
 */
#include "sources/feed_date.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* RFC 5322 section 4.3; the letters of the military mean nothing there. */
static const struct {
	const char *name;
	int hours;
} zones[] = {
    {"UT", 0},
    {"UTC", 0},
    {"GMT", 0},
    {"Z", 0},
    {"EST", -5},
    {"EDT", -4},
    {"CST", -6},
    {"CDT", -5},
    {"MST", -7},
    {"MDT", -6},
    {"PST", -8},
    {"PDT", -7},
    {"BST", 1},
    {"CET", 1},
    {"CEST", 2},
    {"JST", 9},
};

static const char *const months[] = {
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};

struct moment {
	int year, month, day, hour, minute, second;
	int offset_s;
};

/* Read up to `most` digits. @return how many there were */
static int
take_number(const char **at, int most, int *number)
{
	int digits = 0;

	*number = 0;
	while (digits < most && g_ascii_isdigit(**at)) {
		*number = *number * 10 + (**at - '0');
		(*at)++;
		digits++;
	}
	return digits;
}

static void
skip_blanks(const char **at)
{
	while (g_ascii_isspace(**at))
		(*at)++;
}

/* 12:34, 12:34:56 and 12:34:56.789 */
static bool
take_time(const char **at, struct moment *moment)
{
	if (!take_number(at, 2, &moment->hour) || **at != ':')
		return false;
	(*at)++;
	if (take_number(at, 2, &moment->minute) != 2)
		return false;
	if (**at == ':') {
		(*at)++;
		if (take_number(at, 2, &moment->second) != 2)
			return false;
		if (**at == '.' || **at == ',')
			*at += 1 + strspn(*at + 1, "0123456789");
	}
	return true;
}

/* Z, +01:00, +0100, +01, or a name. */
static void
take_zone(const char **at, struct moment *moment)
{
	int sign = **at == '-' ? -1 : 1;
	int hours, minutes = 0;
	const char *rest;

	if (**at != '+' && **at != '-') {
		size_t size = strspn(*at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		                          "abcdefghijklmnopqrstuvwxyz");

		for (size_t i = 0; i < G_N_ELEMENTS(zones); i++)
			if (strlen(zones[i].name) == size &&
			    !g_ascii_strncasecmp(*at, zones[i].name, size))
				moment->offset_s = zones[i].hours * CLOCK_HOUR_S;
		*at += size;
		return;
	}
	rest = *at + 1;
	if (take_number(&rest, 2, &hours) != 2)
		return;
	if (*rest == ':')
		rest++;
	if (take_number(&rest, 2, &minutes) == 1 || hours > 15 || minutes > 59)
		return;
	moment->offset_s = sign * (hours * CLOCK_HOUR_S + minutes * 60);
	*at = rest;
}

static bool
read_iso(const char *at, struct moment *moment)
{
	bool is_dashed;

	if (take_number(&at, 4, &moment->year) != 4)
		return false;
	is_dashed = *at == '-';
	if (is_dashed)
		at++;
	if (*at && !g_ascii_isspace(*at) && take_number(&at, 2, &moment->month) != 2)
		return false;
	if (*at == '-')
		at++;
	if (g_ascii_isdigit(*at) && take_number(&at, 2, &moment->day) != 2)
		return false;
	if (*at == 'T' || *at == 't')
		at++;
	else if (*at && !g_ascii_isspace(*at))
		return false;
	skip_blanks(&at);
	if (!*at)
		return true;
	if (!take_time(&at, moment))
		return false;
	skip_blanks(&at);
	take_zone(&at, moment);
	return true;
}

/* "Sep", "September" or "Sept." @return 0 when it is no month */
static int
take_month(const char **at)
{
	int month = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(months); i++)
		if (!g_ascii_strncasecmp(*at, months[i], 3))
			month = (int)i + 1;
	if (!month)
		return 0;
	while (g_ascii_isalpha(**at) || **at == '.' || **at == ',')
		(*at)++;
	return month;
}

/* RFC 5322 section 4.3: what years of two and three digits are. */
static int
widen_year(int year, int digits)
{
	if (digits >= 4)
		return year;
	if (digits == 2 && year < 50)
		return year + 2000;
	return year + 1900;
}

/* "Tue, 5 Aug 03 12:00:00 EST"; ctime() has the time before the year. */
static bool
read_words(const char *at, struct moment *moment)
{
	const char *comma = strchr(at, ',');
	bool is_ctime;
	int digits;

	if (comma && g_ascii_isalpha(*at) && !take_month(&(const char *){at}))
		at = comma + 1;
	else if (g_ascii_isalpha(*at) && !take_month(&(const char *){at}))
		at += strcspn(at, " ");
	skip_blanks(&at);
	is_ctime = g_ascii_isalpha(*at);
	if (is_ctime)
		moment->month = take_month(&at);
	skip_blanks(&at);
	if (!take_number(&at, 2, &moment->day))
		return false;
	at += strspn(at, " \t\r\n-,");
	if (!is_ctime)
		moment->month = take_month(&at);
	at += strspn(at, " \t\r\n-,");
	if (is_ctime && strchr(at, ':') && !take_time(&at, moment))
		return false;
	skip_blanks(&at);
	digits = take_number(&at, 4, &moment->year);
	if (!moment->month || digits < 2)
		return false;
	moment->year = widen_year(moment->year, digits);
	skip_blanks(&at);
	if (!is_ctime && g_ascii_isdigit(*at) && !take_time(&at, moment))
		return false;
	skip_blanks(&at);
	take_zone(&at, moment);
	return true;
}

bool
feed_date_parse(const char *text, int64_t *at, char day[DAY_BYTES])
{
	struct moment moment = {.month = 1, .day = 1};
	g_autoptr(GDateTime) time = NULL;
	int64_t seconds;

	if (!text)
		return false;
	skip_blanks(&text);
	if (strspn(text, "0123456789") >= 4 ? !read_iso(text, &moment)
	                                    : !read_words(text, &moment))
		return false;
	/* A leap second, and the midnight at a day's end. */
	if (moment.second > 60 || moment.hour > 24 || moment.minute > 59 ||
	    moment.year < 1970 ||
	    !g_date_valid_dmy(
	        (GDateDay)moment.day, (GDateMonth)moment.month, (GDateYear)moment.year))
		return false;
	time = g_date_time_new_utc(moment.year, moment.month, moment.day, 0, 0, 0);
	if (!time)
		return false;
	seconds = g_date_time_to_unix(time) + moment.hour * (int64_t)CLOCK_HOUR_S +
	          moment.minute * 60 + moment.second - moment.offset_s;
	if (seconds < 0)
		return false;
	*at = seconds;
	if (day)
		g_snprintf(day, 11, "%04d-%02d-%02d", moment.year % 10000, moment.month,
		    moment.day);
	return true;
}
