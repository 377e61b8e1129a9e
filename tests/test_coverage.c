/*
 * test_coverage.c - lists that are on time, late, stale or missing.
 */
#include "base/error.h"
#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "render/catalog.h"
#include "service/collect/collect.h"
#include "service/collect/coverage.h"
#include "service/digest/digest_build.h"

#define EXPECTED_BY (8 * 60)

/* Behaviours of a list on a day. */
enum deed { DEED_LIST, DEED_EMPTY, DEED_STALE, DEED_LATE, DEED_FAIL };

/* A list with its own date, such as arXiv's. */
struct fake {
	struct source source;
	enum deed deed;
	char yesterday[11]; /* of the last list served */
	unsigned asked;
};

static void
add(GPtrArray *listings, const char *day, unsigned number)
{
	g_autofree char *id =
	    g_strdup_printf("%.2s%.2s.%.2s%03u", day + 2, day + 5, day + 8, number);
	struct paper *paper = store_fixture_paper(id, "Mamba", "A made-up abstract.");

	g_free(g_ptr_array_index(paper->authors, 0));
	g_ptr_array_index(paper->authors, 0) = g_strdup(id);
	g_ptr_array_add(listings, listing_new(paper, day));
}

static bool
poll(struct source *source, struct http *http, const char *today, const char *etag,
    struct source_answer *answer, GError **error)
{
	struct fake *fake = (struct fake *)source;
	GPtrArray *listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);
	const char *of = fake->deed == DEED_LIST ? today : fake->yesterday;

	(void)http, (void)etag;
	fake->asked++;
	for (unsigned i = 0; i < 3 && fake->deed != DEED_EMPTY; i++)
		add(listings, of, i);
	switch (fake->deed) {
	case DEED_FAIL:
		g_ptr_array_unref(listings);
		g_set_error_literal(error, PB_ERROR, PB_ERROR_TEMPORARY, "status 503");
		return false;
	case DEED_LATE:
		g_strlcpy(answer->day, fake->yesterday, sizeof(answer->day));
		break;
	case DEED_LIST:
		g_strlcpy(fake->yesterday, today, sizeof(fake->yesterday));
		break;
	case DEED_EMPTY:
	case DEED_STALE:
		break;
	}
	source_answer_set_listings(answer, listings);
	return true;
}

static void
fake_init(struct fake *fake)
{
	*fake = (struct fake){
	    .source =
	        {
	            .name = "arxiv/cs.CL",
	            .label = "arXiv cs.CL",
	            .kind = SOURCE_DATED,
	            .expected_by = EXPECTED_BY,
	            .poll = poll,
	        },
	};
	g_strlcpy(fake->yesterday, "2026-10-30", sizeof(fake->yesterday));
}

static void
ask(struct store_fixture *fixture, struct fake *fake, enum deed deed, int64_t at)
{
	struct source *source = &fake->source;
	const struct collect collect = {.store = fixture->store,
	    .sources = &source,
	    .source_count = 1,
	    .wait_s = 3600};
	struct collect_report report = {0};

	fake->deed = deed;
	NO_ERROR(collect_run(&collect, true, at, &report, &error));
}

static char *
state_at(struct store_fixture *fixture, int64_t at)
{
	pb_auto(coverage) coverage = coverage_load(fixture->store, at, NULL);

	return coverage_format_line(coverage, fixture->store, NULL, NULL, NULL, NULL);
}

#define assert_line(fixture, time, wanted)                                            \
	do {                                                                          \
		g_autofree char *line_ = state_at(fixture, store_fixture_time(time)); \
		g_assert_cmpstr(line_, ==, wanted);                                   \
	} while (0)

/* The list of Monday, 2026-11-02, was read. */
#define FAKE_TEST(function)                                           \
	UNIT_CALLER(function, struct store_fixture *, struct fake *)  \
	{                                                             \
		pb_auto(store_fixture) fixture = store_fixture_new(); \
		struct fake fake;                                     \
		fake_init(&fake);                                     \
		ask(fixture, &fake, DEED_LIST,                        \
		    store_fixture_time("2026-11-02T06:00:00Z"));      \
		function(fixture, &fake);                             \
	}                                                             \
	static void function(                                         \
	    struct store_fixture *fixture, G_GNUC_UNUSED struct fake *fake)

FAKE_TEST(line_is_in_the_readers_language)
{
	static const char *const rows[][2] = {
	    {"2026-11-02T06:00:00Z", "arXiv cs.CL: 3 neue Artikel geprüft"},
	    {"2026-11-03T08:00:00Z",
	        "arXiv cs.CL bringt seit Dienstag keine neuen Artikel"},
	};
	const char *top = g_getenv("top_srcdir");
	g_autofree char *templates =
	    g_build_filename(top ? top : ".", "etc/templates", NULL);
	pb_auto(catalog) book = catalog_load(NULL, NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(coverage) coverage =
		    coverage_load(fixture->store, store_fixture_time(rows[i][0]), NULL);
		g_autofree char *line = coverage_format_line(coverage, fixture->store,
		    NULL, catalog_get_po(book, "de"), NULL, NULL);

		g_assert_cmpstr(line, ==, rows[i][1]);
	}
}

FAKE_TEST(line_covers_the_days_since_the_last_digest)
{
	pb_auto(coverage) coverage = NULL;

	ask(fixture, fake, DEED_LIST, store_fixture_time("2026-11-03T06:00:00Z"));
	ask(fixture, fake, DEED_LATE, store_fixture_time("2026-11-04T06:00:00Z"));
	coverage = coverage_load(
	    fixture->store, store_fixture_time("2026-11-04T09:00:00Z"), NULL);
	CASES_FOREACH(row, "coverage_days", *after, *line) {
		g_autofree char *line = coverage_format_line(
		    coverage, fixture->store, row->after, NULL, NULL, NULL);

		g_assert_cmpstr(line, ==, row->line);
	}
}

/* 2026-11-02 is a Monday. */
FAKE_TEST(each_state_has_its_text)
{
	assert_line(
	    fixture, "2026-11-02T06:00:00Z", "arXiv cs.CL: 3 new papers checked");
	/* It is late only after the expected time. */
	assert_line(
	    fixture, "2026-11-03T07:59:59Z", "arXiv cs.CL: 3 new papers checked");
	assert_line(fixture, "2026-11-03T08:00:00Z",
	    "arXiv cs.CL has had no new papers since Tuesday");
	ask(fixture, fake, DEED_LATE, store_fixture_time("2026-11-03T08:10:00Z"));
	assert_line(fixture, "2026-11-03T08:10:00Z",
	    "arXiv cs.CL has had no new papers since Tuesday");
	ask(fixture, fake, DEED_STALE, store_fixture_time("2026-11-03T08:20:00Z"));
	assert_line(fixture, "2026-11-03T08:20:00Z",
	    "arXiv cs.CL has shown only old papers since Tuesday");
	ask(fixture, fake, DEED_FAIL, store_fixture_time("2026-11-03T08:30:00Z"));
	assert_line(fixture, "2026-11-03T08:30:00Z",
	    "arXiv cs.CL has not answered since Tuesday");
	assert_line(fixture, "2026-11-04T09:00:00Z",
	    "arXiv cs.CL has had no new papers since Tuesday");
	ask(fixture, fake, DEED_LIST, store_fixture_time("2026-11-04T09:30:00Z"));
	assert_line(
	    fixture, "2026-11-04T09:30:00Z", "arXiv cs.CL: 3 new papers checked");
	/* A holiday; weekends have no lists. */
	ask(fixture, fake, DEED_EMPTY, store_fixture_time("2026-11-05T06:00:00Z"));
	assert_line(fixture, "2026-11-05T08:00:00Z", "arXiv cs.CL: nothing new");
	ask(fixture, fake, DEED_LIST, store_fixture_time("2026-11-06T06:00:00Z"));
	assert_line(
	    fixture, "2026-11-08T12:00:00Z", "arXiv cs.CL: 3 new papers checked");
	assert_line(fixture, "2026-11-09T08:00:00Z",
	    "arXiv cs.CL has had no new papers since Monday");
	assert_line(fixture, "2026-11-17T08:00:00Z",
	    "arXiv cs.CL has had no new papers since 2026-11-09");
}

FAKE_TEST(yesterdays_papers_under_todays_date_are_stale)
{
	ask(fixture, fake, DEED_STALE, store_fixture_time("2026-11-03T06:00:00Z"));
	assert_rows(fixture, "SELECT DISTINCT day FROM listing", "2026-11-02");
	assert_rows(fixture, "SELECT day, status FROM source_fetch ORDER BY id",
	    "2026-11-02|ok 2026-11-03|stale");
	ask(fixture, fake, DEED_LIST, store_fixture_time("2026-11-03T07:00:00Z"));
	assert_rows(fixture, "SELECT DISTINCT day FROM listing ORDER BY 1",
	    "2026-11-02 2026-11-03");
}

FAKE_TEST(digest_waits_for_a_late_list_and_then_shows_it_as_missing)
{
	struct digest_build_report report = {0};

	/* At 09:30 in Athens it is 07:30 UTC; at 07:30 in Reykjavik too. */
	store_fixture_subscribe(fixture, "ada@example.org", "UTC", "mamba",
	    store_fixture_time("2026-11-02T06:00:00Z"));
	store_fixture_run(fixture, "UPDATE subscriber SET minute = 510");
	assert_digests_at(fixture, "2026-11-02T06:00:01Z", 1);
	assert_rows(fixture, "SELECT coverage FROM digest_head",
	    "arXiv cs.CL: 3 new papers checked");
	store_fixture_run(fixture,
	    "UPDATE outbox SET state = 'CANCELLED', ended_at = 5,"
	    " next_try_at = NULL;"
	    "UPDATE digest SET state = 'sent';"
	    "INSERT INTO delivered_paper (subscriber_id, paper_seq, digest_id, at) "
	    "SELECT 1, paper_seq, digest_id, 5"
	    " FROM digest_item;"
	    "UPDATE subscriber SET next_due_at = "
	    " unixepoch('2026-11-03T08:30:00Z')");
	/* Due at 08:30, list expected by 08:00, wait until 09:00. */
	store_fixture_list(fixture, "2026-11-03", "2611.99999", "Mamba too", 1);
	g_assert_true(digest_build_run(fixture->store, fixture->key, NULL,
	    store_fixture_time("2026-11-03T08:30:00Z"), &report, NULL));
	g_assert_cmpuint(report.due, ==, 0);
	g_assert_cmpint(
	    report.held_until, ==, store_fixture_time("2026-11-03T09:00:00Z"));
	assert_digests_at(fixture, "2026-11-03T08:59:59Z", 0);
	assert_digests_at(fixture, "2026-11-03T09:00:00Z", 1);
	assert_rows(fixture,
	    "SELECT coverage, notices FROM digest_head ORDER BY id DESC LIMIT 1",
	    "|arXiv cs.CL has had no new papers since Tuesday");
}

FAKE_TEST(digest_is_built_as_soon_as_the_list_is_there)
{
	store_fixture_subscribe(fixture, "ada@example.org", "UTC", "mamba",
	    store_fixture_time("2026-11-03T08:05:00Z"));
	store_fixture_run(fixture, "UPDATE subscriber SET is_first_due = 0");
	assert_digests_at(fixture, "2026-11-03T08:05:00Z", 0);
	ask(fixture, fake, DEED_LIST, store_fixture_time("2026-11-03T08:15:00Z"));
	assert_digests_at(fixture, "2026-11-03T08:15:00Z", 1);
	assert_rows(fixture, "SELECT count(*) FROM digest_item", "6");
}

/* A first digest, or one after a pause; the next hour has the late papers. */
TEST(immediate_and_hourly_digests_do_not_wait)
{
	static const struct {
		const char *sql;
		unsigned digests;
	} rows[] = {
	    {"UPDATE subscriber SET is_first_due = 0", 0},
	    {"UPDATE subscriber SET is_first_due = 1", 1},
	    {"UPDATE subscriber SET is_first_due = 0, frequency = 'now'", 1},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		struct fake fake;

		fake_init(&fake);
		ask(fixture, &fake, DEED_LIST,
		    store_fixture_time("2026-11-02T06:00:00Z"));
		store_fixture_subscribe(fixture, "ada@example.org", "UTC", "mamba",
		    store_fixture_time("2026-11-03T08:05:00Z"));
		store_fixture_run(fixture, rows[i].sql);
		g_assert_cmpuint(store_fixture_build_digests(fixture,
		                     store_fixture_time("2026-11-03T08:05:00Z")),
		    ==, rows[i].digests);
	}
}

/* One behaviour per working day, three polls each; 20 days with a list. */
STORE_TEST(no_paper_is_missed_or_repeated_in_a_month)
{
	static const enum deed deeds[][3] = {
	    {DEED_LATE, DEED_LIST, DEED_LIST},
	    {DEED_STALE, DEED_LIST, DEED_LIST},
	    {DEED_FAIL, DEED_FAIL, DEED_LIST},
	    {DEED_LIST, DEED_LIST, DEED_FAIL},
	    {DEED_LIST, DEED_LATE, DEED_LIST},
	    {DEED_EMPTY, DEED_EMPTY, DEED_EMPTY},
	    {DEED_EMPTY, DEED_LIST, DEED_LIST},
	};
	static const int hours[] = {6, 8, 10};
	int64_t start = store_fixture_time("2026-11-02T00:00:00Z");
	unsigned with_list = 0, digests = 0;
	struct fake fake;

	fake_init(&fake);
	store_fixture_subscribe(fixture, "ada@example.org", "UTC", "mamba", start);
	for (int day = 0; day < 30; day++) {
		const enum deed *deed = deeds[day % G_N_ELEMENTS(deeds)];
		bool is_working = day % 7 < 5;

		for (int i = 0; i < 3; i++) {
			int64_t at =
			    start + day * (int64_t)CLOCK_DAY_S + hours[i] * 3600;

			ask(fixture, &fake, is_working ? deed[i] : DEED_EMPTY, at);
			digests += store_fixture_build_digests(fixture, at + 60);
			store_fixture_run(fixture,
			    "INSERT INTO delivered_paper (subscriber_id, "
			    "paper_seq, "
			    "digest_id, at) SELECT 1, i.paper_seq,"
			    " i.digest_id, 5 FROM digest_item i JOIN digest d ON"
			    " d.id = i.digest_id WHERE d.state = 'live';"
			    "UPDATE outbox SET state = 'CANCELLED', ended_at = 5,"
			    " next_try_at = NULL"
			    " WHERE ended_at IS NULL;"
			    "UPDATE digest SET state = 'sent'");
		}
		with_list +=
		    is_working && (deed[0] == DEED_LIST || deed[1] == DEED_LIST ||
		                      deed[2] == DEED_LIST);
	}
	digests +=
	    store_fixture_build_digests(fixture, start + 31 * (int64_t)CLOCK_DAY_S);
	store_fixture_run(fixture,
	    "INSERT INTO delivered_paper (subscriber_id, paper_seq, "
	    "digest_id, at) SELECT 1, i.paper_seq, i.digest_id,"
	    " 5 FROM digest_item i JOIN digest d ON d.id = i.digest_id"
	    " WHERE d.state = 'live'");
	g_assert_cmpuint(digests, >, 10);
	/* Each paper of each list once, with the day of the list. */
	g_assert_cmpint(
	    store_fixture_number(fixture, "SELECT count(*) FROM paper"
	                                  " WHERE last_day >= '2026-11-02'"),
	    ==, with_list * 3);
	g_assert_cmpint(store_fixture_number(fixture,
	                    "SELECT count(DISTINCT paper_seq) FROM delivered_paper"),
	    ==, store_fixture_number(fixture, "SELECT count(*) FROM paper"));
	g_assert_cmpint(store_fixture_number(fixture, "SELECT count(*) FROM listing"),
	    ==, store_fixture_number(fixture, "SELECT count(*) FROM paper"));
}

STORE_TEST(lists_of_one_service_are_summed)
{
	struct fake one, other;
	struct source *sources[] = {&one.source, &other.source};
	const struct collect collect = {
	    .store = fixture->store, .sources = sources, .source_count = 2};
	struct collect_report report = {0};

	fake_init(&one);
	fake_init(&other);
	other.source.name = "arxiv/cs.LG";
	other.source.label = "arXiv cs.LG";
	g_assert_true(collect_run(
	    &collect, true, store_fixture_time("2026-11-02T06:00:00Z"), &report, NULL));
	assert_line(fixture, "2026-11-02T09:00:00Z", "arXiv: 6 new papers checked");
	other.deed = DEED_EMPTY;
	g_assert_true(collect_run(
	    &collect, true, store_fixture_time("2026-11-03T06:00:00Z"), &report, NULL));
	assert_line(fixture, "2026-11-03T09:00:00Z",
	    "arXiv cs.CL: 3 new papers checked; arXiv cs.LG: nothing new");
}

UNIT_MAIN_WITH_WARNINGS
