/*
 * date.c - date ranges of a filter: 2026-07, ..2026-08-15, 7d...
 */
#include "query/parse/date.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/clock.h"
#include "base/day.h"

#define YEAR_BYTES  4 /* YYYY */
#define MONTH_BYTES 7 /* YYYY-MM */

/* Three digits. */
G_STATIC_ASSERT(BOUNDS_DATE_BACK == 999);

static const char example[] = "diffusion date:2026-07..2026-08-15";

/* First and last day of a day, a month or a year as typed. */
struct span {
	struct date_end first;
	struct date_end last;
};

static GDate
get_date(unsigned day)
{
	GDate date;

	g_date_clear(&date, 1);
	g_date_set_julian(&date, day);
	return date;
}

/* Find the last day of what is typed with that many bytes: a day, a month or a year. */
static unsigned
find_last(unsigned first, size_t len)
{
	GDate next = get_date(first);

	if (len == YEAR_BYTES)
		g_date_add_years(&next, 1);
	else if (len == MONTH_BYTES)
		g_date_add_months(&next, 1);
	else
		return first;
	return g_date_get_julian(&next) - 1;
}

/* Read YYYY, YYYY-MM or YYYY-MM-DD. */
static bool
read_absolute(const char *text, struct span *span, bool *is_absolute)
{
	static const char shape[] = "^[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?\\z";
	size_t len = strlen(text);
	g_autofree char *whole = g_strconcat(text,
	    len == YEAR_BYTES    ? "-01-01"
	    : len == MONTH_BYTES ? "-01"
	                         : "",
	    NULL);

	*is_absolute = g_regex_match_simple(shape, text, 0, 0);
	if (!*is_absolute || date_read_day(whole) == DATE_NONE)
		return false;
	span->first.kind = span->last.kind = DATE_DAY;
	span->first.day = date_read_day(whole);
	span->last.day = find_last(span->first.day, len);
	return true;
}

/* Read 7d, 2w, 3m or 1y. */
static bool
read_back(const char *text, struct span *span)
{
	if (!g_regex_match_simple("^[0-9]{1,3}[dwmyDWMY]\\z", text, 0, 0))
		return false;
	span->first = (struct date_end){
	    .kind = DATE_BACK,
	    .count = (unsigned)atoi(text),
	    .unit = g_ascii_tolower(text[strlen(text) - 1]),
	};
	span->last = span->first;
	return true;
}

static bool
read_span(const char *text, size_t len, unsigned column, struct span *span,
    struct query_error *problem)
{
	bool is_absolute;
	g_autofree char *typed = g_strndup(text, len);

	if (read_absolute(typed, span, &is_absolute) || read_back(typed, span))
		return true;
	if (is_absolute)
		query_error_set(problem, PB_ERROR_INPUT, column, example,
		    N_("invalid date {text}"), "text", typed, NULL);
	else if (len > 0 && strchr("<>=", *text))
		query_error_set(problem, PB_ERROR_INPUT, column, example,
		    N_("dates use ranges instead of comparisons: 2026-07.. or "
		       "..2026-07"),
		    NULL);
	else
		query_error_set(problem, PB_ERROR_INPUT, column, example,
		    N_("expected a day such as 2026-07-31 or 2026-07, or a duration "
		       "such as 7d, 2w, 3m, 1y"),
		    NULL);
	return false;
}

/* Distance of a relative end in whole days, the minimum or maximum over all origins. */
static unsigned
measure_back(const struct date_end *end, bool is_most)
{
	switch (end->unit) {
	case 'm':
		return end->count * (is_most ? 31 : 28);
	case 'y':
		return end->count * (is_most ? 366 : 365);
	case 'w':
		return end->count * 7;
	}
	return end->count;
}

/* Whether the range is empty for every origin. */
static bool
is_backwards(const struct date_range *range)
{
	const struct date_end *from = &range->from, *until = &range->until;

	if (from->kind == DATE_DAY && until->kind == DATE_DAY)
		return from->day > until->day;
	if (from->kind != DATE_BACK || until->kind != DATE_BACK)
		return false;
	if (from->unit == until->unit)
		return from->count < until->count;
	return measure_back(from, true) < measure_back(until, false);
}

bool
date_parse(const char *text, size_t len, unsigned column, struct date_range *range,
    struct query_error *problem)
{
	const char *dots = g_strstr_len(text, (gssize)len, "..");
	size_t left = dots ? (size_t)(dots - text) : len;
	size_t right = dots ? len - left - 2 : 0;
	unsigned behind = column + (unsigned)g_utf8_strlen(text, (gssize)left) + 2;
	struct date_range read = {0};
	struct span span;

	if (left > 0) {
		if (!read_span(text, left, column, &span, problem))
			return false;
		read.from = span.first;
		if (!dots && span.first.kind == DATE_DAY)
			read.until = span.last;
	}
	if (right > 0 || left == 0) {
		if (!read_span(text + left + 2, right, behind, &span, problem))
			return false;
		read.until = span.last;
	}
	if (is_backwards(&read)) {
		query_error_set(problem, PB_ERROR_INPUT, column, example,
		    N_("the end of the range is before its start"), NULL);
		return false;
	}
	*range = read;
	return true;
}

/* Append the first bytes of YYYY-MM-DD. */
static void
append_day(unsigned day, size_t len, GString *out)
{
	GDate date = get_date(day);
	size_t before = out->len;

	g_string_append_printf(out, "%04u-%02u-%02u", g_date_get_year(&date),
	    (unsigned)g_date_get_month(&date), g_date_get_day(&date));
	g_string_truncate(out, before + len);
}

static void
append_end(const struct date_end *end, GString *out)
{
	if (end->kind == DATE_DAY)
		append_day(end->day, DAY_BYTES - 1, out);
	else if (end->kind == DATE_BACK)
		g_string_append_printf(out, "%u%c", end->count, end->unit);
}

/* Days, whole months and whole years have a shorter form. */
static bool
append_short(unsigned from, unsigned until, GString *out)
{
	static const size_t lengths[] = {DAY_BYTES - 1, YEAR_BYTES, MONTH_BYTES};
	GDate date = get_date(from);
	bool is_first[] = {
	    true, g_date_get_day_of_year(&date) == 1, g_date_is_first_of_month(&date)};

	for (size_t i = 0; i < G_N_ELEMENTS(lengths); i++) {
		if (!is_first[i] || find_last(from, lengths[i]) != until)
			continue;
		append_day(from, lengths[i], out);
		return true;
	}
	return false;
}

void
date_append(const struct date_range *range, GString *out)
{
	if (range->from.kind == DATE_DAY && range->until.kind == DATE_DAY &&
	    append_short(range->from.day, range->until.day, out))
		return;
	append_end(&range->from, out);
	g_string_append(out, "..");
	append_end(&range->until, out);
}

unsigned
date_read_day(const char *text)
{
	return day_is_valid(text)
	           ? (unsigned)(day_start(text) / CLOCK_DAY_S + DAY_EPOCH)
	           : DATE_NONE;
}

/*
 * Resolve an end that is not open.  31 March minus one month is the last day of
 * February.
 */
static unsigned
find_day(const struct date_end *end, unsigned origin)
{
	GDate date;

	if (end->kind == DATE_DAY)
		return end->day;
	/* No paper is that old. */
	if (origin <= (BOUNDS_DATE_BACK + 1) * 366)
		return 1;
	date = get_date(origin);
	if (end->unit == 'm')
		g_date_subtract_months(&date, end->count);
	else if (end->unit == 'y')
		g_date_subtract_years(&date, end->count);
	else
		g_date_subtract_days(&date, measure_back(end, true));
	return g_date_get_julian(&date);
}

bool
date_is_relative(const struct date_range *range)
{
	return range->from.kind == DATE_BACK || range->until.kind == DATE_BACK;
}

bool
date_is_within(const struct date_range *range, unsigned day, unsigned origin)
{
	if (day == DATE_NONE || (origin == DATE_NONE && date_is_relative(range)))
		return false;
	if (range->from.kind != DATE_OPEN && day < find_day(&range->from, origin))
		return false;
	return range->until.kind == DATE_OPEN || day <= find_day(&range->until, origin);
}
