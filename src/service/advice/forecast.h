/*
 * forecast.h - the number of papers that a filter will find.
 *
 * The filter's share of all papers of the last FORECAST_DAYS complete days, times the
 * usual number of papers on that weekday.  The share uses every match, the number of
 * papers every paper: both vary less than the matches of one weekday do.  The interval
 * of a day goes from the 5 % quantile of the Poisson distribution with the rate of the
 * quietest weekday with lists to the 95 % quantile of the busiest one, since days vary
 * more than a Poisson distribution; that of a week has the week's rate.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/day.h"
#include "store/core/store.h"

#define FORECAST_DAYS 28

/* Without one of each weekday there is no forecast. */
#define FORECAST_DAYS_MIN 7

/* Papers per day that are many for anybody. */
#define FORECAST_MANY 20

/* The span in which about one paper or more is expected. */
enum forecast_span {
	FORECAST_UNKNOWN, /* too few days, or no match */
	FORECAST_DAY,
	FORECAST_WEEK,
	FORECAST_RARE, /* less than one paper a week */
};

struct forecast {
	enum forecast_span span;
	unsigned days;                   /* it is based on */
	double rates[7];                 /* expected papers by weekday, Monday first */
	double a_day;                    /* on a weekday with lists, on average */
	double a_week;                   /* all weekdays together */
	bool is_weekdays;                /* lists come from Monday to Friday */
	unsigned low, high;              /* 90 % interval, for a day or week */
	char oldest[DAY_BYTES];          /* first day of the window */
	int64_t now;                     /* s */
	int64_t start;                   /* of that day, s */
	unsigned matches[FORECAST_DAYS]; /* by day */
};

/** Start a forecast with a window that ends yesterday. */
void forecast_init(struct forecast *forecast, int64_t now);

/** Count a match of the filter. @param day  when it was listed last; any day */
void forecast_count(struct forecast *forecast, const char *day);

/** Multiply the matches counted: they were a sample, one in so many. */
void forecast_scale(struct forecast *forecast, unsigned step);

bool forecast_compute(struct forecast *forecast, struct store *store, GError **error);

/** The 90 % interval of a Poisson distribution. @param rate  at least 0 */
void forecast_get_interval(double rate, unsigned *low, unsigned *high);

/** Whether these are too many papers for a digest. @param max  of the subscriber */
bool forecast_is_flood(const struct forecast *forecast, unsigned max);
