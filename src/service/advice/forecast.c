/*
 * forecast.c - the number of papers that a filter will find.
 */
#include "service/advice/forecast.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "store/paper/paper_history.h"

#define WEEKDAYS 7

/* A weekday has lists if it has this share of the papers of the busiest one. */
#define LISTS_SHARE 0.1

/* Rate above which quantiles are NORMAL_90 standard deviations from the mean. */
#define NORMAL_RATE   500
#define NORMAL_90     1.645
#define QUANTILE_LOW  0.05
#define QUANTILE_HIGH 0.95

/* Weekday of a day of the window, Monday is 0; 1970-01-01 was a Thursday. */
static unsigned
get_weekday(const struct forecast *forecast, unsigned day)
{
	return (unsigned)((forecast->start / CLOCK_DAY_S + 3 + day) % WEEKDAYS);
}

void
forecast_init(struct forecast *forecast, int64_t now)
{
	memset(forecast, 0, sizeof(*forecast));
	forecast->now = now;
	forecast->start = now - now % CLOCK_DAY_S - FORECAST_DAYS * CLOCK_DAY_S;
	day_format(forecast->start, forecast->oldest);
}

/* @return FORECAST_DAYS or more for a day outside of the window */
static unsigned
get_index(const struct forecast *forecast, const char *day)
{
	int64_t at = day_start(day);

	return at < forecast->start ? FORECAST_DAYS
	                            : (unsigned)((at - forecast->start) / CLOCK_DAY_S);
}

void
forecast_count(struct forecast *forecast, const char *day)
{
	unsigned index = get_index(forecast, day);

	if (index < FORECAST_DAYS)
		forecast->matches[index]++;
}

void
forecast_scale(struct forecast *forecast, unsigned step)
{
	for (unsigned i = 0; i < FORECAST_DAYS; i++)
		forecast->matches[i] *= step;
}

/* Quantile of the Poisson distribution. */
static unsigned
get_quantile(double rate, double probability)
{
	double term = exp(-rate), sum = term;
	unsigned count = 0;

	if (rate > NORMAL_RATE)
		return (unsigned)lround(
		    rate + (probability < 0.5 ? -1 : 1) * NORMAL_90 * sqrt(rate));
	while (sum < probability) {
		count++;
		term *= rate / count;
		sum += term;
	}
	return count;
}

void
forecast_get_interval(double rate, unsigned *low, unsigned *high)
{
	*low = get_quantile(rate, QUANTILE_LOW);
	*high = get_quantile(rate, QUANTILE_HIGH);
}

/* The first day of the window with complete counts. */
static bool
load_first(const struct forecast *forecast, struct store *store, unsigned *first,
    GError **error)
{
	char day[DAY_BYTES];

	*first = FORECAST_DAYS;
	if (!paper_history_load_first_day(store, day, error))
		return false;
	if (*day)
		*first =
		    day_start(day) < forecast->start ? 0 : get_index(forecast, day);
	return true;
}

static void
set_rates(
    struct forecast *forecast, const unsigned papers[FORECAST_DAYS], unsigned first)
{
	unsigned matches = 0, all = 0;
	unsigned by_weekday[WEEKDAYS] = {0}, count[WEEKDAYS] = {0};

	for (unsigned i = first; i < FORECAST_DAYS; i++) {
		unsigned weekday = get_weekday(forecast, i);

		matches += forecast->matches[i];
		all += papers[i];
		by_weekday[weekday] += papers[i];
		count[weekday]++;
	}
	for (unsigned i = 0; all && i < WEEKDAYS; i++) {
		forecast->rates[i] = (double)matches / all * by_weekday[i] / count[i];
		forecast->a_week += forecast->rates[i];
	}
}

static void
set_span(struct forecast *forecast)
{
	double most = 0, sum = 0;
	unsigned with_lists = 0, count = 0, low, high;

	for (unsigned i = 0; i < WEEKDAYS; i++)
		most = MAX(most, forecast->rates[i]);
	forecast->low = G_MAXUINT;
	for (unsigned i = 0; i < WEEKDAYS; i++) {
		if (forecast->rates[i] < LISTS_SHARE * most)
			continue;
		with_lists |= 1U << i;
		count++;
		sum += forecast->rates[i];
		forecast_get_interval(forecast->rates[i], &low, &high);
		forecast->low = MIN(forecast->low, low);
		forecast->high = MAX(forecast->high, high);
	}
	forecast->a_day = sum / count;
	forecast->is_weekdays = with_lists == 0x1f;
	if (forecast->a_day >= 1) {
		forecast->span = FORECAST_DAY;
		return;
	}
	forecast->span = forecast->a_week >= 1 ? FORECAST_WEEK : FORECAST_RARE;
	forecast_get_interval(forecast->a_week, &forecast->low, &forecast->high);
}

bool
forecast_compute(struct forecast *forecast, struct store *store, GError **error)
{
	g_autoptr(GPtrArray) days =
	    paper_history_load_days(store, forecast->oldest, error);
	unsigned papers[FORECAST_DAYS] = {0};
	unsigned first;

	if (!days || !load_first(forecast, store, &first, error))
		return false;
	for (unsigned i = 0; i < days->len; i++) {
		const struct paper_history_day *day = days->pdata[i];
		unsigned index = get_index(forecast, day->day);

		if (index < FORECAST_DAYS)
			papers[index] = (unsigned)day->papers;
	}
	forecast->days = FORECAST_DAYS - MIN(first, FORECAST_DAYS);
	if (forecast->days < FORECAST_DAYS_MIN)
		return true;
	set_rates(forecast, papers, first);
	if (forecast->a_week > 0)
		set_span(forecast);
	return true;
}

bool
forecast_is_flood(const struct forecast *forecast, unsigned max)
{
	return forecast->span == FORECAST_DAY &&
	       (forecast->a_day > FORECAST_MANY ||
	           (max && forecast->a_day > 2.0 * max));
}
