/*
 * test_forecast.c - how many papers filters are expected to find, and narrower ones.
 */
#include "base/clock.h"
#include "base/msg.h"
#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/advice/backtest.h"

#define ADA "ada@example.org"
#define NOW store_fixture_time("2026-11-20T13:00:00Z") /* a Friday */

/* Papers of one kind on each day with lists. */
struct kind {
	const char *title;
	unsigned count;
	int64_t upvotes;
	const char *category; /* or NULL */
	bool has_code;
};

static void
save(struct store_fixture *fixture, const char *day, unsigned number,
    const struct kind *kind)
{
	g_autofree char *id = g_strdup_printf("2611.%05u", number);
	struct paper *paper = store_fixture_paper(id, kind->title, "");

	paper->upvotes = kind->upvotes;
	if (kind->has_code)
		paper->code_url = g_strdup("https://code.example.net/");
	if (kind->category) {
		paper->categories = g_ptr_array_new_with_free_func(g_free);
		g_ptr_array_add(paper->categories, g_strdup(kind->category));
	}
	store_fixture_save(fixture, "hf", day, NOW, paper);
}

/* Save the papers of the days before today, without weekends. */
static void
save_days(struct store_fixture *fixture, unsigned days, const struct kind *kinds,
    size_t count)
{
	unsigned number = 1;

	for (unsigned ago = 1; ago <= days; ago++) {
		int64_t at = NOW - ago * CLOCK_DAY_S;
		char day[DAY_BYTES];

		if ((at / CLOCK_DAY_S + 3) % 7 >= 5)
			continue;
		day_format(at, day);
		for (size_t i = 0; i < count; i++)
			for (unsigned n = 0; n < kinds[i].count; n++)
				save(fixture, day, number++, &kinds[i]);
	}
}

static struct backtest *
run(struct store_fixture *fixture, const char *text, int64_t subscriber_id)
{
	const struct backtest_request request = {
	    .text = text, .subscriber_id = subscriber_id, .days = 7, .now = NOW};
	g_autoptr(GError) error = NULL;
	struct backtest *backtest =
	    backtest_run(fixture->store, &request, NULL, &error);

	g_assert_no_error(error);
	return backtest;
}

/* Quantiles of tables of the Poisson distribution. */
TEST(intervals_are_those_of_poisson)
{
	static const struct {
		double rate;
		unsigned low, high;
	} rows[] = {{0, 0, 0}, {0.05, 0, 0}, {0.1, 0, 1}, {1, 0, 3}, {2, 0, 5},
	    {3, 1, 6}, {5, 2, 9}, {10, 5, 15}, {20, 13, 28}, {100, 84, 117},
	    {1000, 948, 1052}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		unsigned low, high;

		forecast_get_interval(rows[i].rate, &low, &high);
		g_assert_cmpuint(low, ==, rows[i].low);
		g_assert_cmpuint(high, ==, rows[i].high);
	}
}

STORE_TEST(rate_decides_the_span)
{
	static const struct kind kinds[] = {
	    {"Kernel", 3, 0, NULL, false}, {"Zebra", 7, 0, NULL, false}};
	static const struct {
		const char *text;
		enum forecast_span span;
		double a_day, a_week;
		unsigned low, high;
	} rows[] = {
	    {"kernel", FORECAST_DAY, 3, 15, 0, 6},
	    {"kernel OR zebra", FORECAST_DAY, 10, 50, 5, 16},
	    {"yak", FORECAST_WEEK, 0.4, 2, 0, 5},
	    {"emu", FORECAST_RARE, 0.05, 0.25, 0, 1},
	    {"gnu", FORECAST_UNKNOWN, 0, 0, 0, 0},
	};
	static const char *const yaks[] = {"2026-10-26", "2026-10-27", "2026-11-03",
	    "2026-11-04", "2026-11-05", "2026-11-12", "2026-11-13", "2026-11-18"};

	save_days(fixture, 60, kinds, G_N_ELEMENTS(kinds));
	for (unsigned i = 0; i < G_N_ELEMENTS(yaks); i++)
		save(fixture, yaks[i], 90000 + i,
		    &(struct kind){.title = i ? "Yak" : "Yak emu"});
	/* Not in the window: an older day, and today, which is not complete. */
	save(fixture, "2026-10-20", 90100, &(struct kind){.title = "Gnu yak emu"});
	save(fixture, "2026-11-20", 90101, &(struct kind){.title = "Gnu yak emu"});
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(backtest) backtest = run(fixture, rows[i].text, 0);
		const struct forecast *forecast = &backtest->forecast;

		g_assert_cmpuint(forecast->span, ==, rows[i].span);
		g_assert_cmpuint(forecast->days, ==, FORECAST_DAYS);
		g_assert_cmpfloat_with_epsilon(forecast->a_day, rows[i].a_day, 0.05);
		g_assert_cmpfloat_with_epsilon(forecast->a_week, rows[i].a_week, 0.01);
		g_assert_cmpuint(forecast->low, ==, rows[i].low);
		g_assert_cmpuint(forecast->high, ==, rows[i].high);
		g_assert_true(forecast->is_weekdays == (forecast->a_week > 0));
		g_assert_cmpfloat(forecast->rates[5] + forecast->rates[6], ==, 0);
		g_assert_cmpuint(backtest->notes->len, ==, 0);
	}
}

TEST(young_archive_gives_no_forecast)
{
	static const struct kind kinds[] = {{"Kernel", 3, 0, NULL, false}};

	for (unsigned days = 6; days <= 8; days++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		pb_auto(backtest) backtest = NULL;

		save_days(fixture, days, kinds, G_N_ELEMENTS(kinds));
		backtest = run(fixture, "kernel", 0);
		/* Six days ago was a Saturday: the archive begins on a Monday. */
		g_assert_cmpuint(backtest->forecast.days, ==, days == 6 ? 4 : days);
		g_assert_cmpuint(backtest->forecast.span, ==,
		    days == 6 ? FORECAST_UNKNOWN : FORECAST_DAY);
		g_assert_cmpfloat_with_epsilon(
		    backtest->forecast.a_week, days == 6 ? 0 : 15, 0.01);
	}
}

static char *
join_notes(const struct backtest *backtest)
{
	GString *text = g_string_new(NULL);

	for (unsigned i = 0; i < backtest->notes->len; i++)
		g_string_append_printf(text, "%s%s", i ? "; " : "",
		    ((struct msg *)backtest->notes->pdata[i])->text);
	return g_string_free(text, FALSE);
}

STORE_TEST(narrower_filters_are_offered_in_a_flood)
{
	static const struct kind kinds[] = {
	    {"Kernel", 8, 0, "cs.CL", false},
	    {"Kernel of video", 11, 60, "cs.CV", false},
	    {"Kernel of a walrus", 6, 30, "cs.CV", true},
	    {"Zebra", 40, 0, "cs.LG", true},
	    {"Yak of sound", 9, 0, "cs.SD", false},
	};
	int64_t ada = store_fixture_subscribe(fixture, ADA, "UTC", "mamba", NOW);

	save_days(fixture, 28, kinds, G_N_ELEMENTS(kinds));
	CASES_FOREACH(row, "forecast_notes", *text, *max, *notes) {
		g_autofree char *sql =
		    g_strdup_printf("UPDATE subscriber SET max_full = %d",
		        (int)MAX(cases_number(row->max), 1));
		pb_auto(backtest) backtest = NULL;
		g_autofree char *notes = NULL;

		store_fixture_run(fixture, sql);
		backtest = run(fixture, row->text, cases_number(row->max) ? ada : 0);
		notes = join_notes(backtest);
		g_assert_cmpstr(notes, ==, row->notes);
	}
}

UNIT_MAIN
