/*
 * test_collect.c - fetching of due days, and pauses after failures.
 */
#include "service/collect/collect.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "store/paper/papers.h"
#include "store/paper/source_lists.h"

#define NOW "2026-11-20T09:00:00Z"

/* A source with scripted responses, which records its requests, and a store. */
struct fake {
	struct source source;
	struct store_fixture *fixture;
	GString *asked; /* "DAY[etag] " for each request */
	const char *bad_day;
	enum pb_error code; /* of the bad day */
	int64_t retry_after_s;
	enum source_status status; /* of all other days */
	const char *etag;
	unsigned papers;          /* of each day; 0: one */
	const char *serve_day;    /* its papers are served for newer days */
	const char *serve_one_of; /* a day whose first paper is served for newer ones */
	int *stop;                /* set when the bad day is requested, or NULL */
};

/* The nth paper of one day on the list of another. */
static void
add_paper(GPtrArray *listings, const char *source, const char *of, unsigned number,
    const char *day)
{
	struct paper *paper = paper_new();

	paper->id = number ? g_strdup_printf("%s.%s.%u", source, of, number)
	                   : g_strdup_printf("%s.%s", source, of);
	paper->title = g_strdup("Made up");
	paper->abstract = g_strdup("");
	paper->url = g_strdup("https://example.org/");
	paper->upvotes = 1;
	g_ptr_array_add(listings, listing_new(paper, day));
}

static bool
fetch_day(struct source *source, struct http *http, const char *day, const char *etag,
    struct source_answer *answer, GError **error)
{
	struct fake *fake = (struct fake *)source;
	g_autoptr(GPtrArray) listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);

	(void)http;
	g_string_append_printf(
	    fake->asked, "%s%s%s ", day + 8, etag ? "=" : "", etag ? etag : "");
	if (fake->bad_day && (strcmp(fake->bad_day, day) == 0 || !*fake->bad_day)) {
		answer->retry_after_s = fake->retry_after_s;
		if (fake->stop)
			*fake->stop = 1;
		g_set_error(error, PB_ERROR, fake->code, "made-up trouble of %s", day);
		return false;
	}
	answer->status = fake->status;
	if (fake->status != SOURCE_OK)
		return true;
	if (fake->serve_one_of && strcmp(day, fake->serve_one_of) > 0)
		add_paper(listings, source->name, fake->serve_one_of, 0, day);
	for (unsigned i = 0; i < MAX(fake->papers, 1); i++)
		add_paper(listings, source->name,
		    fake->serve_day && strcmp(day, fake->serve_day) > 0
		        ? fake->serve_day
		        : day,
		    i, day);
	answer->etag = g_strdup(fake->etag);
	source_answer_set_listings(answer, g_steal_pointer(&listings));
	return true;
}

static bool
fetch_today(struct source *source, struct http *http, const char *today,
    const char *etag, struct source_answer *answer, GError **error)
{
	return fetch_day(source, http, today, etag, answer, error);
}

static struct fake *
fake_new(void)
{
	struct fake *fake = g_new0(struct fake, 1);

	fake->source = (struct source){.name = "made-up", .fetch_day = fetch_day};
	fake->fixture = store_fixture_new();
	fake->asked = g_string_new(NULL);
	fake->code = PB_ERROR_TEMPORARY;
	fake->retry_after_s = HTTP_RETRY_AFTER_UNKNOWN;
	fake->status = SOURCE_OK;
	return fake;
}

static void
fake_free(struct fake *fake)
{
	store_fixture_free(fake->fixture);
	g_string_free(fake->asked, TRUE);
	g_free(fake);
}
PB_DEFINE_AUTO(fake, fake_free);

static struct collect_report
run(struct fake *fake, bool is_all, int64_t now)
{
	struct source *sources[] = {&fake->source};
	const struct collect collect = {.store = fake->fixture->store,
	    .sources = sources,
	    .source_count = 1,
	    .stop = fake->stop};
	struct collect_report report = {0};

	g_string_truncate(fake->asked, 0);
	if (fake->stop)
		*fake->stop = 0;
	NO_ERROR(collect_run(&collect, is_all, now, &report, &error));
	store_fixture_assert_idle(fake->fixture);
	return report;
}

/* Run at a time; check the requests and the number of failures. */
static struct collect_report
poll_at(struct fake *fake, int64_t now, const char *asked, unsigned failed)
{
	struct collect_report report = run(fake, false, now);

	g_assert_cmpstr(fake->asked->str, ==, asked);
	g_assert_cmpuint(report.failed, ==, failed);
	return report;
}

#define RECENT "20 19 18 17 "
#define ALL    "20 19 18 17 16 15 14 13 12 11 10 09 08 07 06 "

#define FAKE_TEST(function) TEST_WITH(function, fake, fake, fake_new())

FAKE_TEST(old_days_are_fetched_once_a_day)
{
	int64_t now = store_fixture_time(NOW);
	int64_t midnight = store_fixture_time("2026-11-21T00:00:00Z");
	struct collect_report report = poll_at(fake, now, ALL, 0);

	g_assert_cmpuint(report.answers, ==, 15);
	g_assert_cmpuint(report.fresh, ==, 15);
	g_assert_cmpuint(poll_at(fake, now + 1800, RECENT, 0).fresh, ==, 0);
	run(fake, true, now + 3600);
	g_assert_cmpstr(fake->asked->str, ==, ALL);
	poll_at(fake, midnight - 1, RECENT, 0);
	run(fake, false, midnight);
	g_assert_true(g_str_has_prefix(fake->asked->str, "21 20 19 18 17 16 15 "));
	poll_at(fake, midnight + 1800, "21 20 19 18 ", 0);
}

FAKE_TEST(a_source_may_have_an_interval_and_days_of_its_own)
{
	int64_t now = store_fixture_time(NOW);

	fake->source.interval_s = 7200;
	fake->source.days = 1;
	poll_at(fake, now, ALL, 0);
	poll_at(fake, now + 7199, "", 0);
	poll_at(fake, now + 7200, "20 19 ", 0);
	poll_at(fake, now + 9000, "", 0);
	/* On request it is not waited for. */
	run(fake, true, now + 9001);
	g_assert_cmpstr(fake->asked->str, ==, ALL);
}

FAKE_TEST(a_past_day_is_compared_with_the_source_once_a_week)
{
	int64_t now = store_fixture_time(NOW);
	const char missed[] = "SELECT value FROM cursor WHERE name = 'made-up missed'";

	run(fake, false, now);
	now += (int64_t)15 * CLOCK_DAY_S;
	/* The only day that is old enough is 20 November; a paper is added to it. */
	fake->papers = 2;
	fake->bad_day = "2026-11-20";
	run(fake, false, now);
	assert_rows(fake->fixture, missed, "");
	fake->bad_day = NULL;
	now += CLOCK_HOUR_S;
	poll_at(fake, now, "05 04 03 02 20 ", 0);
	assert_rows(fake->fixture, missed, "1");
	poll_at(fake, now + CLOCK_HOUR_S, "05 04 03 02 ", 0);
	run(fake, false, now + (int64_t)6 * CLOCK_DAY_S);
	assert_rows(fake->fixture, missed, "1");
	g_assert_cmpuint(
	    run(fake, false, now + (int64_t)7 * CLOCK_DAY_S).answers, ==, 16);
}

struct renaming {
	const char *from, *to;
};

static bool
rename_source(struct store *store, void *data, GError **error)
{
	const struct renaming *names = data;
	unsigned filters;

	return source_lists_rename(store, names->from, names->to, &filters, error);
}

FAKE_TEST(a_source_is_renamed_with_its_filters)
{
	struct renaming names = {"made-up", "other"};
	struct store *store = fake->fixture->store;
	int64_t now = store_fixture_time(NOW);

	store_fixture_subscribe(
	    fake->fixture, "ada@example.org", "UTC", "source:made-up mamba", now);
	poll_at(fake, now, ALL, 0);
	NO_ERROR(store_transact(store, rename_source, &names, &error));
	assert_rows(fake->fixture,
	    "SELECT DISTINCT l.source, f.source, s.text, t.canonical"
	    " FROM listing l, source_fetch f, subscription s, filter t",
	    "other|other|source:other mamba|mamba AND source:other");
	FAILS(PB_ERROR_NOT_FOUND, store_transact(store, rename_source, &names, &error));
}

TEST(each_answer_is_recorded_with_its_status)
{
	static const struct {
		enum source_status status;
		const char *recorded, *hashed;
	} rows[] = {
	    {SOURCE_OK, "ok|1|1", "15|15"},
	    {SOURCE_NOT_MODIFIED, "same|0|0", "15|0"},
	    {SOURCE_EMPTY, "empty|0|0", "15|0"},
	    {SOURCE_NOT_YET, "not-yet|0|0", "15|0"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(fake) fake = fake_new();

		fake->status = rows[i].status;
		run(fake, false, store_fixture_time(NOW));
		assert_rows(fake->fixture,
		    "SELECT DISTINCT status, count, fresh FROM source_fetch"
		    " WHERE error IS NULL",
		    rows[i].recorded);
		assert_rows(fake->fixture,
		    "SELECT count(*), count(ids_hash) FROM source_fetch",
		    rows[i].hashed);
	}
}

FAKE_TEST(etag_of_the_last_success_is_sent)
{
	int64_t now = store_fixture_time(NOW);

	fake->etag = "W/1";
	poll_at(fake, now, ALL, 0);
	fake->status = SOURCE_NOT_MODIFIED;
	poll_at(fake, now + 1800, "20=W/1 19=W/1 18=W/1 17=W/1 ", 0);
	/* Failures in between do not matter. */
	fake->bad_day = "";
	run(fake, false, now + 3600);
	fake->bad_day = NULL;
	fake->status = SOURCE_OK;
	fake->etag = NULL;
	run(fake, true, now + 5400);
	g_assert_true(g_str_has_prefix(fake->asked->str, "20=W/1 19=W/1 "));
	poll_at(fake, now + 7200, RECENT, 0);
}

TEST(failure_stores_no_papers_and_ends_the_fetching)
{
	static const enum pb_error codes[] = {
	    PB_ERROR_TEMPORARY, PB_ERROR_PERMANENT, PB_ERROR_NOT_FOUND};

	for (size_t i = 0; i < G_N_ELEMENTS(codes); i++) {
		pb_auto(fake) fake = fake_new();
		int64_t now = store_fixture_time(NOW);

		fake->bad_day = "2026-11-19";
		fake->code = codes[i];
		poll_at(fake, now, "20 19 ", 1);
		assert_rows(fake->fixture,
		    "SELECT day, status, error FROM source_fetch ORDER BY id",
		    "2026-11-20|ok|- 2026-11-19|failed|made-up trouble of 2026-11-19");
		assert_rows(fake->fixture, "SELECT day FROM listing", "2026-11-20");
		/* The old days were not fetched: they are at the next poll. */
		fake->bad_day = NULL;
		poll_at(fake, now + 60, ALL, 0);
	}
}

TEST(malformed_day_does_not_affect_other_days)
{
	static const enum pb_error codes[] = {PB_ERROR_INPUT, PB_ERROR_LIMIT};

	for (size_t i = 0; i < G_N_ELEMENTS(codes); i++) {
		pb_auto(fake) fake = fake_new();
		int64_t now = store_fixture_time(NOW);

		fake->bad_day = "2026-11-19";
		fake->code = codes[i];
		g_assert_cmpuint(poll_at(fake, now, ALL, 1).fresh, ==, 14);
		/* No pause, and no second fetch of the old days. */
		poll_at(fake, now + 60, RECENT, 1);
	}
}

FAKE_TEST(pauses_double_up_to_an_hour_and_end_with_a_success)
{
	static const int64_t pauses_s[] = {60, 120, 240, 480, 960, 1920, 3600, 3600};
	int64_t now = store_fixture_time(NOW);

	fake->bad_day = "";
	for (size_t i = 0; i < G_N_ELEMENTS(pauses_s); i++) {
		poll_at(fake, now, "20 ", 1);
		poll_at(fake, now + pauses_s[i] - 1, "", 0);
		now += pauses_s[i];
	}
	fake->bad_day = NULL;
	poll_at(fake, now, ALL, 0);
	fake->bad_day = "";
	poll_at(fake, now + 1, "20 ", 1);
	poll_at(fake, now + 60, "", 0);
	poll_at(fake, now + 61, "20 ", 1);
}

/* A feed with one paper. */
static bool
poll_newest(struct source *source, struct http *http, const char *today,
    const char *etag, struct source_answer *answer, GError **error)
{
	GPtrArray *listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);

	(void)http;
	(void)etag;
	(void)error;
	add_paper(listings, source->name, "newest", 0, today);
	source_answer_set_listings(answer, listings);
	return true;
}

FAKE_TEST(a_fallback_is_polled_after_an_hour_of_failures)
{
	struct source newest = {
	    .name = "made-up", .url = "https://example.org/feed", .poll = poll_newest};
	int64_t now = store_fixture_time(NOW);

	fake->source.fallback = &newest;
	fake->bad_day = "";
	for (int64_t pause_s = 60; pause_s <= 1920; now += pause_s, pause_s *= 2)
		g_assert_cmpuint(poll_at(fake, now, "20 ", 1).fresh, ==, 0);
	g_assert_cmpuint(poll_at(fake, now, "20 ", 1).fresh, ==, 1);
	assert_rows(fake->fixture,
	    "SELECT error FROM source_fetch ORDER BY id DESC LIMIT 1",
	    "made-up trouble of 2026-11-20 (read meanwhile: the newest 1 papers, "
	    "https://example.org/feed)");
	g_assert_cmpuint(poll_at(fake, now + 3600, "20 ", 1).fresh, ==, 0);
}

/* Load the error and the last success of the only source. */
static char *
report_of(struct fake *fake, int64_t *good_at)
{
	g_autoptr(GPtrArray) reports =
	    NO_ERROR(papers_load_reports(fake->fixture->store, &error));
	const struct source_report *report;

	g_assert_cmpuint(reports->len, ==, 1);
	report = reports->pdata[0];
	*good_at = report->good_at;
	return g_strdup(report->error);
}

#define assert_report(fake, says, good)                            \
	do {                                                       \
		int64_t good_at;                                   \
		g_autofree char *said = report_of(fake, &good_at); \
                                                                   \
		g_assert_cmpstr(said, ==, says);                   \
		g_assert_cmpint(good_at, ==, good);                \
	} while (0)

FAKE_TEST(recovered_source_is_not_reported_as_failed)
{
	int64_t now = store_fixture_time("2026-11-20T23:50:00Z");

	run(fake, false, now - 3600);
	assert_report(fake, NULL, now - 3600);
	fake->bad_day = "";
	run(fake, false, now);
	assert_report(fake, "2026-11-20: made-up trouble of 2026-11-20", now - 3600);
	/* The next list is of another day. */
	fake->bad_day = "2026-11-17";
	fake->source.kind = SOURCE_DATED;
	fake->source.poll = fetch_today;
	run(fake, false, now + 1200);
	assert_report(fake, NULL, now + 1200);
}

FAKE_TEST(malformed_day_stays_failed_until_it_is_valid)
{
	int64_t now = store_fixture_time(NOW);

	run(fake, false, now);
	fake->bad_day = "2026-11-18";
	fake->code = PB_ERROR_INPUT;
	run(fake, false, now + 3600);
	assert_report(fake, "2026-11-18: made-up trouble of 2026-11-18", now);
	run(fake, false, now + 7200);
	assert_report(fake, "2026-11-18: made-up trouble of 2026-11-18", now);
	fake->bad_day = NULL;
	run(fake, false, now + 10800);
	assert_report(fake, NULL, now + 10800);
}

FAKE_TEST(empty_list_of_a_day_with_papers_is_an_error)
{
	int64_t now = store_fixture_time(NOW);

	fake->status = SOURCE_EMPTY;
	poll_at(fake, now, ALL, 0);
	fake->status = SOURCE_OK;
	poll_at(fake, now + 60, RECENT, 0);
	fake->status = SOURCE_EMPTY;
	poll_at(fake, now + 120, RECENT, 4);
	assert_rows(fake->fixture,
	    "SELECT day, status, error FROM source_fetch ORDER BY id DESC LIMIT 1",
	    "2026-11-17|failed|the list of 2026-11-17 is empty but had 1 papers "
	    "before");
	assert_report(fake,
	    "2026-11-17: the list of 2026-11-17 is empty but had 1 papers before",
	    now + 60);
	/* The papers stay. */
	assert_rows(fake->fixture, "SELECT count(*) FROM listing", "4");
	fake->status = SOURCE_OK;
	run(fake, false, now + 180);
	assert_report(fake, NULL, now + 180);
}

FAKE_TEST(list_of_an_earlier_day_under_a_new_date_is_stale)
{
	int64_t now = store_fixture_time(NOW);

	fake->papers = 4;
	run(fake, false, now);
	/* Today's has grown by one since it was last read. */
	fake->papers = 5;
	fake->serve_day = "2026-11-20";
	run(fake, false, now + CLOCK_DAY_S);
	assert_rows(fake->fixture,
	    "SELECT day, status, count FROM source_fetch WHERE day >= '2026-11-20'"
	    " AND fetched_at > (SELECT min(fetched_at) FROM source_fetch) ORDER BY id "
	    "LIMIT 2",
	    "2026-11-21|stale|0 2026-11-20|ok|5");
	assert_rows(fake->fixture,
	    "SELECT count(*) FROM listing WHERE day = '2026-11-21'", "0");
	/* The day's own papers with one that was listed before. */
	fake->serve_day = NULL;
	fake->serve_one_of = "2026-11-20";
	run(fake, false, now + CLOCK_DAY_S + 3600);
	assert_rows(fake->fixture,
	    "SELECT count(*) FROM listing WHERE day = '2026-11-21'", "6");
}

FAKE_TEST(source_with_a_new_address_is_fetched_at_once)
{
	int64_t now = store_fixture_time(NOW);

	fake->source.url = "https://example.org/";
	fake->bad_day = "";
	fake->retry_after_s = 7200;
	run(fake, false, now);
	poll_at(fake, now + 100, "", 0);
	fake->source.url = "https://example.net/";
	fake->retry_after_s = HTTP_RETRY_AFTER_UNKNOWN;
	poll_at(fake, now + 100, "20 ", 1);
	/* Its pauses restart with the shortest. */
	poll_at(fake, now + 159, "", 0);
	poll_at(fake, now + 160, "20 ", 1);
}

FAKE_TEST(retry_after_of_a_source_is_observed)
{
	int64_t now = store_fixture_time(NOW);

	fake->bad_day = "";
	fake->retry_after_s = 7200;
	run(fake, false, now);
	poll_at(fake, now + 7199, "", 0);
	/* A request of the operator ignores the pause. */
	g_assert_cmpuint(run(fake, true, now + 7199).answers, ==, 1);
	fake->retry_after_s = 1; /* shorter than our own */
	now += 7199 + 7200;
	poll_at(fake, now, "20 ", 1);
	poll_at(fake, now + 239, "", 0);
	poll_at(fake, now + 240, "20 ", 1);
}

FAKE_TEST(setting_the_clock_back_ends_a_pause)
{
	int64_t now = store_fixture_time(NOW);

	fake->bad_day = "";
	run(fake, false, now);
	poll_at(fake, now - 400 * (int64_t)CLOCK_DAY_S, "16 ", 1);
}

TEST(sources_fail_independently)
{
	pb_auto(fake) bad = fake_new();
	pb_auto(fake) good = fake_new();
	struct source *sources[] = {&bad->source, &good->source};
	const struct collect collect = {
	    .store = good->fixture->store, .sources = sources, .source_count = 2};
	struct collect_report report = {0};
	g_autoptr(GError) error = NULL;

	good->source.name = "good";
	bad->bad_day = "";
	g_assert_true(
	    collect_run(&collect, false, store_fixture_time(NOW), &report, &error));
	g_assert_cmpstr(bad->asked->str, ==, "20 ");
	g_assert_cmpstr(good->asked->str, ==, ALL);
	g_assert_cmpuint(report.failed, ==, 1);
	g_assert_cmpuint(report.fresh, ==, 15);
}

FAKE_TEST(stopped_run_is_not_a_source_failure)
{
	int64_t now = store_fixture_time(NOW);
	int stop;

	fake->bad_day = "2026-11-19";
	fake->stop = &stop;
	poll_at(fake, now, "20 19 ", 0);
	assert_rows(fake->fixture, "SELECT DISTINCT status FROM source_fetch", "ok");
	fake->bad_day = NULL;
	poll_at(fake, now + 1, ALL, 0);
}

static bool
call_collect(struct store_fixture *fixture, void *data, GError **error)
{
	struct fake *fake = data;
	struct source *sources[] = {&fake->source};
	const struct collect collect = {
	    .store = fixture->store, .sources = sources, .source_count = 1};
	struct collect_report report = {0};

	return collect_run(&collect, false, store_fixture_time(NOW), &report, error);
}

FAKE_TEST(store_failure_is_reported_and_the_next_run_recovers)
{
	g_assert_cmpuint(
	    store_fixture_fail_everywhere(fake->fixture, call_collect, fake, false), >=,
	    15);
	assert_rows(fake->fixture, "SELECT count(*) FROM listing", "15");
	assert_rows(fake->fixture, "SELECT count(*) FROM paper", "15");
}

UNIT_MAIN_WITH_WARNINGS
