/*
 * feed_date.c - date formats of feeds.
 */
#include "sources/feed_date.h"

#include <string.h>

#include "base/clock.h"
#include "net/http.h"

#define TIME            "(?<H>\\d\\d?):(?<M>\\d\\d)(?::(?<S>\\d\\d)(?:[.,]\\d*)?)?"
#define TIME_AFTER_DATE "(?!\\d)(?:(?:\\s*T\\s*|\\s+)" TIME ")?"
#define ZONE            "\\s*(?:(?<name>[A-Z]+)|(?<zh>[+-]\\d\\d):?(?<zm>\\d\\d)?)?"
#define WEEKDAY         "(?:[^\\d\\s]+?\\s*)??"
#define MONTH           "(?<month>(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[A-Z]*)[.,]?"

/* Without regard to case; what follows is ignored. */
static const char *const formats[] = {
    /* ISO 8601 */
    "^(?<year>\\d{4})(?:-?(?<month>\\d\\d)(?:-?(?<day>\\d\\d))?)?(?![^T\\s]"
    ")" TIME_AFTER_DATE ZONE,
    /* RFC 5322 sections 3.3 and 4.3, RFC 850 */
    "^" WEEKDAY "(?<day>\\d\\d?)[\\s,-]*" MONTH
    "[\\s,-]*(?<year>\\d{2,4})" TIME_AFTER_DATE ZONE,
    /* ctime() has the time before the year. */
    "^" WEEKDAY MONTH "\\s*(?<day>\\d\\d?)[\\s,-]+(?:" TIME
    "\\s+)?(?<year>\\d{2,4})" TIME_AFTER_DATE ZONE,
};

/* @return the digits of a group, with a sign or not; `missing` if there are none */
static int
get_number(const GMatchInfo *match, const char *group, int missing)
{
	g_autofree char *text = g_match_info_fetch_named(match, group);

	return text && *text ? (int)g_ascii_strtoll(text, NULL, 10) : missing;
}

/* Years of two and three digits (RFC 5322 section 4.3). */
static int
get_year(const GMatchInfo *match)
{
	int year = get_number(match, "year", 0);

	if (year < 50)
		return year + 2000;
	return year < 1000 ? year + 1900 : year;
}

/* @return 1 if it is missing, as in an ISO date of a year */
static int
get_month(const GMatchInfo *match)
{
	static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";
	g_autofree char *text = g_match_info_fetch_named(match, "month");
	g_autofree char *name = text ? g_ascii_strdown(text, 3) : NULL;

	if (!name || !*name)
		return 1;
	return g_ascii_isdigit(*name) ? get_number(match, "month", 0)
	                              : (int)(strstr(names, name) - names) / 3 + 1;
}

/* The HTTP client knows the names of zones. */
static int64_t
get_offset_s(const GMatchInfo *match)
{
	g_autofree char *name = g_match_info_fetch_named(match, "name");
	g_autofree char *date = g_strconcat("1 Jan 2000 12:00:00 ", name, NULL);
	int64_t noon = http_parse_date("1 Jan 2000 12:00:00 GMT");
	int64_t there = name && strlen(name) > 1 ? http_parse_date(date) : -1;
	int hours = get_number(match, "zh", 0), minutes = get_number(match, "zm", 0);

	if (name && *name)
		return there < 0 ? 0 : noon - there;
	if (ABS(hours) > 15 || minutes > 59)
		return 0;
	return hours * (int64_t)CLOCK_HOUR_S + (hours < 0 ? -minutes : minutes) * 60;
}

static bool
read_match(const GMatchInfo *match, int64_t *at, char day[DAY_BYTES])
{
	int year = get_year(match), month = get_month(match);
	int day_number = get_number(match, "day", 1);
	int hour = get_number(match, "H", 0), minute = get_number(match, "M", 0);
	int second = get_number(match, "S", 0);
	g_autoptr(GDateTime) start =
	    g_date_time_new_utc(year, month, day_number, 0, 0, 0);
	int64_t seconds;

	/* 60 is a leap second, 24:00 the end of a day. */
	if (!start || hour > 24 || minute > 59 || second > 60)
		return false;
	seconds = g_date_time_to_unix(start) + hour * (int64_t)CLOCK_HOUR_S +
	          minute * 60 + second - get_offset_s(match);
	if (year < 1970 || seconds < 0)
		return false;
	*at = seconds;
	if (day)
		g_snprintf(day, DAY_BYTES, "%04d-%02d-%02d", year, month, day_number);
	return true;
}

bool
feed_date_parse(const char *text, int64_t *at, char day[DAY_BYTES])
{
	g_autofree char *line = g_strstrip(g_strdup(text ? text : ""));

	for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
		g_autoptr(GRegex) format = g_regex_new(formats[i],
		    G_REGEX_CASELESS | G_REGEX_RAW | G_REGEX_DUPNAMES, 0, NULL);
		g_autoptr(GMatchInfo) match = NULL;

		if (g_regex_match(format, line, 0, &match))
			return read_match(match, at, day);
	}
	return false;
}
