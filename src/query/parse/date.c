/*
 * date.c - date ranges of a filter: 2026-07, ..2026-08-15, 7d...
 */
#include "query/parse/date.h"

#include <string.h>

#include "base/bounds.h"

/* Three digits. */
G_STATIC_ASSERT(BOUNDS_DATE_BACK == 999);

static const char example[] = "diffusion date:2026-07..2026-08-15";

/* First and last day of a day, a month or a year as typed. */
struct span {
	struct date_end first;
	struct date_end last;
};

static unsigned
make_day(unsigned year, unsigned month, unsigned day)
{
	return (year * 100 + month) * 100 + day;
}

static unsigned
get_last_of_month(unsigned year, unsigned month)
{
	return g_date_get_days_in_month((GDateMonth)month, (GDateYear)year);
}

/* Read exactly len digits. */
static bool
read_digits(const char *text, size_t len, unsigned *number)
{
	unsigned value = 0;

	for (size_t i = 0; i < len; i++) {
		if (!g_ascii_isdigit(text[i]))
			return false;
		value = value * 10 + (unsigned)(text[i] - '0');
	}
	*number = value;
	return len > 0;
}

/* Read YYYY, YYYY-MM or YYYY-MM-DD; a missing part is 0. */
static bool
read_parts(const char *text, size_t len, unsigned parts[3])
{
	parts[1] = parts[2] = 0;
	if (len < 4 || !read_digits(text, 4, &parts[0]))
		return false;
	if (len == 4)
		return true;
	if (len < 7 || text[4] != '-' || !read_digits(text + 5, 2, &parts[1]))
		return false;
	if (len == 7)
		return true;
	return len == 10 && text[7] == '-' && read_digits(text + 8, 2, &parts[2]);
}

static bool
is_in_calendar(const unsigned parts[3], size_t len)
{
	unsigned month = len > 4 ? parts[1] : 1;
	unsigned day = len > 7 ? parts[2] : 1;

	return parts[0] >= 1 && month >= 1 && month <= 12 && day >= 1 &&
	       day <= get_last_of_month(parts[0], month);
}

static bool
read_absolute(const char *text, size_t len, struct span *span, bool *is_absolute)
{
	unsigned parts[3];

	*is_absolute = read_parts(text, len, parts);
	if (!*is_absolute || !is_in_calendar(parts, len))
		return false;
	span->first.kind = span->last.kind = DATE_DAY;
	span->first.day =
	    make_day(parts[0], len > 4 ? parts[1] : 1, len > 7 ? parts[2] : 1);
	span->last.day = span->first.day;
	if (len == 4)
		span->last.day = make_day(parts[0], 12, 31);
	else if (len == 7)
		span->last.day =
		    make_day(parts[0], parts[1], get_last_of_month(parts[0], parts[1]));
	return true;
}

/* Read 7d, 2w, 3m or 1y. */
static bool
read_back(const char *text, size_t len, struct span *span)
{
	unsigned count;
	char unit;

	if (len < 2 || len > 4 || !read_digits(text, len - 1, &count))
		return false;
	unit = g_ascii_tolower(text[len - 1]);
	if (!strchr("dwmy", unit))
		return false;
	span->first =
	    (struct date_end){.kind = DATE_BACK, .count = count, .unit = unit};
	span->last = span->first;
	return true;
}

static bool
read_span(const char *text, size_t len, unsigned column, struct span *span,
    struct query_error *problem)
{
	bool is_absolute;
	g_autofree char *typed = g_strndup(text, len);

	if (read_absolute(text, len, span, &is_absolute) || read_back(text, len, span))
		return true;
	if (is_absolute)
		query_error_set(problem, PB_ERROR_INPUT, column, example,
		    MSG_QUERY_NO_DAY, "text", typed, NULL);
	else if (len > 0 && strchr("<>=", *text))
		query_error_set(problem, PB_ERROR_INPUT, column, example,
		    MSG_QUERY_DATE_COMPARISON, NULL);
	else
		query_error_set(
		    problem, PB_ERROR_INPUT, column, example, MSG_QUERY_DATE, NULL);
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
		query_error_set(
		    problem, PB_ERROR_INPUT, column, example, MSG_QUERY_RANGE, NULL);
		return false;
	}
	*range = read;
	return true;
}

static void
append_day(unsigned day, GString *out)
{
	g_string_append_printf(
	    out, "%04u-%02u-%02u", day / 10000, day / 100 % 100, day % 100);
}

static void
append_end(const struct date_end *end, GString *out)
{
	if (end->kind == DATE_DAY)
		append_day(end->day, out);
	else if (end->kind == DATE_BACK)
		g_string_append_printf(out, "%u%c", end->count, end->unit);
}

/* Days, whole months and whole years have a shorter form. */
static bool
append_short(unsigned from, unsigned until, GString *out)
{
	unsigned year = from / 10000, month = from / 100 % 100;

	if (from == until)
		append_day(from, out);
	else if (from == make_day(year, 1, 1) && until == make_day(year, 12, 31))
		g_string_append_printf(out, "%04u", year);
	else if (from == make_day(year, month, 1) &&
	         until == make_day(year, month, get_last_of_month(year, month)))
		g_string_append_printf(out, "%04u-%02u", year, month);
	else
		return false;
	return true;
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
	unsigned parts[3];
	size_t len = strlen(text);

	if (len != 10 || !read_parts(text, len, parts) || !is_in_calendar(parts, len))
		return DATE_NONE;
	return make_day(parts[0], parts[1], parts[2]);
}

static unsigned
go_back_days(unsigned today, unsigned days)
{
	GDate date;
	guint32 julian;

	g_date_clear(&date, 1);
	g_date_set_dmy(&date, (GDateDay)(today % 100), (GDateMonth)(today / 100 % 100),
	    (GDateYear)(today / 10000));
	julian = g_date_get_julian(&date);
	g_date_set_julian(&date, julian > days ? julian - days : 1);
	return make_day(g_date_get_year(&date), (unsigned)g_date_get_month(&date),
	    g_date_get_day(&date));
}

/* 31 March minus one month is the last day of February. */
static unsigned
go_back_months(unsigned today, unsigned months)
{
	unsigned all = today / 10000 * 12 + today / 100 % 100 - 1;
	unsigned left = all >= months + 12 ? all - months : 12;
	unsigned year = left / 12, month = left % 12 + 1;

	return make_day(year, month, MIN(today % 100, get_last_of_month(year, month)));
}

/* Resolve an end that is not open. */
static unsigned
find_day(const struct date_end *end, unsigned today)
{
	if (end->kind == DATE_DAY)
		return end->day;
	switch (end->unit) {
	case 'm':
		return go_back_months(today, end->count);
	case 'y':
		return go_back_months(today, end->count * 12);
	case 'w':
		return go_back_days(today, end->count * 7);
	}
	return go_back_days(today, end->count);
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
