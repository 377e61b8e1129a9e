/*
 * feed_date.c - date formats of feeds.
 */
#include "sources/feed_date.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* RFC 5322 section 4.3; military zones are treated as UTC. */
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

struct date_time {
	int year, month, day, hour, minute, second;
	int offset_s;
};

/* @return the number of digits, at most `max` */
static int
read_number(const char **at, int max, int *number)
{
	int digits = 0;

	*number = 0;
	while (digits < max && g_ascii_isdigit(**at)) {
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
read_time(const char **at, struct date_time *date_time)
{
	if (!read_number(at, 2, &date_time->hour) || **at != ':')
		return false;
	(*at)++;
	if (read_number(at, 2, &date_time->minute) != 2)
		return false;
	if (**at == ':') {
		(*at)++;
		if (read_number(at, 2, &date_time->second) != 2)
			return false;
		if (**at == '.' || **at == ',')
			*at += 1 + strspn(*at + 1, "0123456789");
	}
	return true;
}

/* Z, +01:00, +0100, +01, or a name. */
static void
read_zone(const char **at, struct date_time *date_time)
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
				date_time->offset_s = zones[i].hours * CLOCK_HOUR_S;
		*at += size;
		return;
	}
	rest = *at + 1;
	if (read_number(&rest, 2, &hours) != 2)
		return;
	if (*rest == ':')
		rest++;
	if (read_number(&rest, 2, &minutes) == 1 || hours > 15 || minutes > 59)
		return;
	date_time->offset_s = sign * (hours * CLOCK_HOUR_S + minutes * 60);
	*at = rest;
}

static bool
read_iso(const char *at, struct date_time *date_time)
{
	bool is_dashed;

	if (read_number(&at, 4, &date_time->year) != 4)
		return false;
	is_dashed = *at == '-';
	if (is_dashed)
		at++;
	if (*at && !g_ascii_isspace(*at) && read_number(&at, 2, &date_time->month) != 2)
		return false;
	if (*at == '-')
		at++;
	if (g_ascii_isdigit(*at) && read_number(&at, 2, &date_time->day) != 2)
		return false;
	if (*at == 'T' || *at == 't')
		at++;
	else if (*at && !g_ascii_isspace(*at))
		return false;
	skip_blanks(&at);
	if (!*at)
		return true;
	if (!read_time(&at, date_time))
		return false;
	skip_blanks(&at);
	read_zone(&at, date_time);
	return true;
}

/* "Sep", "September" or "Sept." @return 0 if it is not a month */
static int
read_month(const char **at)
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

/* Years of two and three digits (RFC 5322 section 4.3). */
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
read_rfc822(const char *at, struct date_time *date_time)
{
	const char *comma = strchr(at, ',');
	bool is_ctime;
	int digits;

	if (comma && g_ascii_isalpha(*at) && !read_month(&(const char *){at}))
		at = comma + 1;
	else if (g_ascii_isalpha(*at) && !read_month(&(const char *){at}))
		at += strcspn(at, " ");
	skip_blanks(&at);
	is_ctime = g_ascii_isalpha(*at);
	if (is_ctime)
		date_time->month = read_month(&at);
	skip_blanks(&at);
	if (!read_number(&at, 2, &date_time->day))
		return false;
	at += strspn(at, " \t\r\n-,");
	if (!is_ctime)
		date_time->month = read_month(&at);
	at += strspn(at, " \t\r\n-,");
	if (is_ctime && strchr(at, ':') && !read_time(&at, date_time))
		return false;
	skip_blanks(&at);
	digits = read_number(&at, 4, &date_time->year);
	if (!date_time->month || digits < 2)
		return false;
	date_time->year = widen_year(date_time->year, digits);
	skip_blanks(&at);
	if (!is_ctime && g_ascii_isdigit(*at) && !read_time(&at, date_time))
		return false;
	skip_blanks(&at);
	read_zone(&at, date_time);
	return true;
}

bool
feed_date_parse(const char *text, int64_t *at, char day[DAY_BYTES])
{
	struct date_time date_time = {.month = 1, .day = 1};
	g_autoptr(GDateTime) time = NULL;
	int64_t seconds;

	if (!text)
		return false;
	skip_blanks(&text);
	if (strspn(text, "0123456789") >= 4 ? !read_iso(text, &date_time)
	                                    : !read_rfc822(text, &date_time))
		return false;
	/* 60 is a leap second, 24:00 the end of a day. */
	if (date_time.second > 60 || date_time.hour > 24 || date_time.minute > 59 ||
	    date_time.year < 1970 ||
	    !g_date_valid_dmy((GDateDay)date_time.day, (GDateMonth)date_time.month,
	        (GDateYear)date_time.year))
		return false;
	time = g_date_time_new_utc(
	    date_time.year, date_time.month, date_time.day, 0, 0, 0);
	if (!time)
		return false;
	seconds = g_date_time_to_unix(time) + date_time.hour * (int64_t)CLOCK_HOUR_S +
	          date_time.minute * 60 + date_time.second - date_time.offset_s;
	if (seconds < 0)
		return false;
	*at = seconds;
	if (day)
		g_snprintf(day, 11, "%04d-%02d-%02d", date_time.year % 10000,
		    date_time.month, date_time.day);
	return true;
}
