/*
 * test_match.c - every filter is matched once with every paper, and again after
 * changes.
 */
#include <string.h>

#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/digest/digest_build.h"
#include "service/match/match.h"
#include "service/match/paper_batch.h"
#include "store/paper/matches.h"
#include "store/paper/papers.h"

#define ADA "ada@example.org"

/* Matches of each filter: "filter:paper state", in order. */
#define MATCHES                                                     \
	"SELECT m.filter_id || ':' || substr(p.id, -2) || m.state " \
	"FROM " STORE_FIXTURE_MATCHES " m"                          \
	" JOIN paper p ON p.seq = m.paper_seq ORDER BY m.filter_id, p.id"

static struct match_report
run(struct store_fixture *fixture, int64_t now)
{
	struct match_report report = {0};

	NO_ERROR(match_run(fixture->store, now, &report, &error));
	store_fixture_assert_idle(fixture);
	return report;
}

STORE_TEST(every_filter_is_matched_once_with_each_new_paper)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
	struct match_report report;

	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
	store_fixture_subscribe(fixture, "bob@example.org", "UTC", "mamba", now);
	store_fixture_subscribe(fixture, "eve@example.org", "UTC", "Diffusions", now);
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion for all", 1);
	store_fixture_list(
	    fixture, "2026-11-20", "2611.00002", "A diffusion of mamba", 1);
	store_fixture_list(fixture, "2026-11-20", "2611.00003", "Something else", 1);
	report = run(fixture, now);
	/* Two subscribers share a filter: it is evaluated once, and only for papers
	 * with its word. */
	g_assert_cmpuint(report.papers, ==, 3);
	g_assert_cmpuint(report.found, ==, 3);
	assert_rows(fixture, MATCHES, "1:01yes 1:02yes 2:02yes");

	report = run(fixture, now);
	g_assert_cmpuint(report.papers, ==, 0);
	g_assert_cmpuint(report.found, ==, 0);

	/* Late papers, of yesterday. */
	store_fixture_list(fixture, "2026-11-19", "2611.00004", "Late mamba", 1);
	report = run(fixture, now);
	g_assert_cmpuint(report.papers, ==, 1);
	assert_rows(fixture, MATCHES, "1:01yes 1:02yes 2:02yes 2:04yes");
}

STORE_TEST(changed_text_is_matched_again)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");

	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Something", 1);
	store_fixture_list(fixture, "2026-11-20", "2611.00002", "Diffusion", 1);
	run(fixture, now);
	assert_rows(fixture, MATCHES, "1:02yes");
	/* The first gets the word; the second loses it, and its match stays. */
	store_fixture_list(
	    fixture, "2026-11-20", "2611.00001", "Diffusion after all", 1);
	store_fixture_list(fixture, "2026-11-20", "2611.00002", "Nothing", 1);
	g_assert_cmpuint(run(fixture, now).papers, ==, 1);
	assert_rows(fixture, MATCHES, "1:01yes 1:02yes");
	/* The same text again is not a change. */
	store_fixture_list(
	    fixture, "2026-11-20", "2611.00001", "Diffusion after all", 2);
	g_assert_cmpuint(run(fixture, now).papers, ==, 0);
}

STORE_TEST(votes_above_a_threshold_make_one_match_that_stays)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
	struct match_report report;

	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion upvotes:>=20", now);
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	store_fixture_list(
	    fixture, "2026-11-20", "2611.00002", "Diffusion", PAPER_UNKNOWN);
	store_fixture_list(fixture, "2026-11-20", "2611.00003", "Other", 3);
	report = run(fixture, now);
	g_assert_cmpuint(report.waiting, ==, 2);
	assert_rows(fixture, MATCHES, "1:01waiting 1:02waiting");

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 19);
	g_assert_cmpuint(run(fixture, now).decided, ==, 0);
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 20);
	store_fixture_list(fixture, "2026-11-20", "2611.00002", "Diffusion", 21);
	g_assert_cmpuint(run(fixture, now).decided, ==, 2);
	assert_rows(fixture, MATCHES, "1:01yes 1:02yes");

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 18);
	g_assert_cmpuint(run(fixture, now).decided, ==, 0);
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 22);
	g_assert_cmpuint(run(fixture, now).decided, ==, 0);
	assert_rows(fixture, MATCHES, "1:01yes 1:02yes");
}

TEST(missing_values_are_false_after_fourteen_days)
{
	static const struct {
		const char *filter;
		int64_t upvotes;
		const char *waits; /* on days 1 to 14 */
		const char *ends;  /* on day 15 */
	} rows[] = {
	    {"diffusion upvotes:>=20", PAPER_UNKNOWN, "1:01waiting", ""},
	    {"diffusion upvotes:>=20", 3, "1:01waiting", ""},
	    {"diffusion NOT upvotes:>=20", PAPER_UNKNOWN, "1:01waiting", "1:01yes"},
	    {"diffusion NOT upvotes:>=20", 25, "1:01waiting", ""},
	    {"diffusion (upvotes:>=20 OR mamba)", PAPER_UNKNOWN, "1:01waiting", ""},
	    {"diffusion (upvotes:>=20 OR title:diffusion)", PAPER_UNKNOWN, "1:01yes",
	        "1:01yes"},
	    {"other upvotes:>=20", PAPER_UNKNOWN, "", ""},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		int64_t now = store_fixture_time("2026-11-20T13:00:00Z");

		store_fixture_subscribe(fixture, ADA, "UTC", rows[i].filter, now);
		store_fixture_list(
		    fixture, "2026-11-20", "2611.00001", "Diffusion", rows[i].upvotes);
		/* Daily runs, some seconds apart from a day; an hour in autumn. */
		for (int day = 0; day < 17; day++) {
			run(fixture, now + day * (int64_t)CLOCK_DAY_S + day * 7 % 5 +
			                 day / 10 * CLOCK_HOUR_S);
			assert_rows(fixture, MATCHES,
			    day < MATCH_WAIT_DAYS ? rows[i].waits : rows[i].ends);
		}
	}
}

/* The paper was seen at 12:00 on its day, after it, or before it was listed again. */
TEST(values_are_final_at_the_hour_of_the_first_sight)
{
	static const struct {
		const char *day, *final_at;
	} rows[] = {
	    {"2026-11-20", "2026-12-04T12:00:00Z"},
	    {"2026-11-17", "2026-12-02T00:00:00Z"},
	    {"2026-11-24", "2026-12-08T00:00:00Z"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct stored_paper stored = {
		    .first_seen_at = store_fixture_time("2026-11-20T12:00:05Z")};
		int64_t at = store_fixture_time(rows[i].final_at);

		g_strlcpy(stored.day, rows[i].day, sizeof(stored.day));
		g_assert_cmpint(
		    paper_batch_get_finality(&stored, at), ==, QUERY_FINALITY_ALL);
		g_assert_cmpint(
		    paper_batch_get_finality(&stored, at - 1), !=, QUERY_FINALITY_ALL);
	}
}

STORE_TEST(after_a_clock_jump_nothing_is_final_for_a_day)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
	int64_t leapt = now + 10 * (int64_t)CLOCK_DAY_S;

	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion upvotes:>=20", now);
	store_fixture_subscribe(
	    fixture, "bob@example.org", "UTC", "diffusion NOT upvotes:>=5", now);
	store_fixture_list(fixture, "2026-11-10", "2611.00001", "Diffusion", 3);
	store_fixture_list(
	    fixture, "2026-11-10", "2611.00002", "Diffusion", PAPER_UNKNOWN);
	run(fixture, now);
	/* The paper is twenty days old by that clock, but really ten. */
	run(fixture, leapt);
	run(fixture, leapt + 6 * CLOCK_HOUR_S);
	assert_rows(fixture, MATCHES, "1:01waiting 1:02waiting 2:01yes 2:02waiting");
	run(fixture, now + 7 * CLOCK_HOUR_S);
	store_fixture_list(fixture, "2026-11-10", "2611.00001", "Diffusion", 25);
	store_fixture_list(fixture, "2026-11-10", "2611.00002", "Diffusion", 9);
	run(fixture, now + 8 * CLOCK_HOUR_S);
	assert_rows(fixture, MATCHES, "1:01yes 1:02waiting 2:01yes 2:02waiting");
	/* If the process was suspended for ten days instead, matches are final a day
	 * later. */
	run(fixture, leapt);
	assert_rows(fixture, MATCHES, "1:01yes 1:02waiting 2:01yes 2:02waiting");
	run(fixture, leapt + CLOCK_DAY_S);
	assert_rows(fixture, MATCHES, "1:01yes 2:01yes");
}

TEST(categories_are_final_after_two_hours)
{
	CASES_FOREACH(
	    row, "match_categories", *filter, *categories, *first, *reported, *end) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		int64_t now = store_fixture_time("2026-11-20T12:00:00Z"), due_at;

		store_fixture_subscribe(fixture, ADA, "UTC", row->filter, now);
		store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
		run(fixture, now);
		assert_rows(
		    fixture, "SELECT state FROM " STORE_FIXTURE_MATCHES, row->first);
		if (row->categories)
			store_fixture_enrich(
			    fixture, "2611.00001", row->categories, now + 3600);
		run(fixture, now + 3601);
		assert_rows(
		    fixture, "SELECT state FROM " STORE_FIXTURE_MATCHES, row->reported);
		run(fixture, now + PAPERS_LOOKUP_S - 1);
		assert_rows(
		    fixture, "SELECT state FROM " STORE_FIXTURE_MATCHES, row->reported);
		g_assert_true(matches_load_next_due(fixture->store, &due_at, NULL));
		if (*row->reported && !strcmp(row->reported, "waiting") &&
		    !row->categories)
			g_assert_cmpint(due_at, ==, now + PAPERS_LOOKUP_S);
		run(fixture, now + PAPERS_LOOKUP_S);
		assert_rows(
		    fixture, "SELECT state FROM " STORE_FIXTURE_MATCHES, row->end);
		g_assert_true(matches_load_next_due(fixture->store, &due_at, NULL));
		g_assert_cmpint(due_at, ==,
		    !strcmp(row->end, "waiting")
		        ? store_fixture_time("2026-12-04T12:00:00Z")
		        : -1);
	}
}

STORE_TEST(late_enrichment_is_matched)
{
	int64_t now = store_fixture_time("2026-11-20T12:00:00Z");

	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion cat:cs.CV", now);
	store_fixture_subscribe(
	    fixture, "bob@example.org", "UTC", "diffusion NOT cat:cs.CV", now);
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
	run(fixture, now);
	run(fixture, now + PAPERS_LOOKUP_S);
	assert_rows(fixture, MATCHES, "2:01yes");
	store_fixture_enrich(fixture, "2611.00001", "cs.CV", now + 5 * CLOCK_HOUR_S);
	run(fixture, now + 5 * CLOCK_HOUR_S);
	assert_rows(fixture, MATCHES, "1:01yes 2:01yes");
	/* The same values again are not a change. */
	store_fixture_enrich(fixture, "2611.00001", "cs.CV", now + 6 * CLOCK_HOUR_S);
	g_assert_cmpuint(run(fixture, now + 6 * CLOCK_HOUR_S).papers, ==, 0);
}

STORE_TEST(links_keywords_and_organizations_wait_too)
{
	int64_t now = store_fixture_time("2026-11-20T12:00:00Z");
	struct paper *paper = store_fixture_paper("2611.00001", "Diffusion", "");

	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion has:code", now);
	store_fixture_subscribe(
	    fixture, "bob@example.org", "UTC", "diffusion kw:video", now);
	store_fixture_subscribe(
	    fixture, "eve@example.org", "UTC", "diffusion NOT org:lab", now);
	store_fixture_subscribe(
	    fixture, "eva@example.org", "UTC", "diffusion has:video", now);
	store_fixture_save(fixture, "hf", "2026-11-20", now, paper);
	run(fixture, now);
	assert_rows(
	    fixture, MATCHES, "1:01waiting 2:01waiting 3:01waiting 4:01waiting");
	paper = store_fixture_paper("2611.00001", "Diffusion", "");
	paper->code_url = g_strdup("https://example.org/code");
	paper->keywords = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(paper->keywords, g_strdup("video models"));
	paper->organization = g_strdup("An Institute");
	store_fixture_save(fixture, "hf", "2026-11-20", now + 60, paper);
	run(fixture, now + 60);
	assert_rows(fixture, MATCHES, "1:01yes 2:01yes 3:01yes 4:01waiting");
	/* Values that are not reported again stay. */
	store_fixture_save(fixture, "hf", "2026-11-20", now + 120,
	    store_fixture_paper("2611.00001", "Diffusion", ""));
	assert_rows(fixture, "SELECT code_url, keywords, organization FROM paper",
	    "https://example.org/code|video models|An Institute");
	/* A changed value: all filters are matched again. */
	paper = store_fixture_paper("2611.00001", "Diffusion", "");
	paper->keywords = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(paper->keywords, g_strdup("robots"));
	store_fixture_save(fixture, "hf", "2026-11-20", now + 180, paper);
	g_assert_cmpuint(run(fixture, now + 180).papers, ==, 4);
}

STORE_TEST(paper_listed_by_another_source_is_matched_again)
{
	int64_t now = store_fixture_time("2026-11-20T12:00:00Z");

	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion source:arxiv", now);
	store_fixture_subscribe(
	    fixture, "bob@example.org", "UTC", "diffusion date:2026-11-18", now);
	store_fixture_save(fixture, "hf", "2026-11-20", now,
	    store_fixture_paper("2611.00001", "Diffusion", ""));
	run(fixture, now);
	assert_rows(fixture, MATCHES, "");
	store_fixture_save(fixture, "arxiv", "2026-11-18", now + 60,
	    store_fixture_paper("2611.00001", "Diffusion", ""));
	run(fixture, now + 60);
	assert_rows(fixture, MATCHES, "1:01yes 2:01yes");
	assert_rows(fixture, "SELECT last_day FROM paper", "2026-11-20");
}

STORE_TEST(new_filter_looks_back_fourteen_days)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
	struct match_report report;

	store_fixture_list(fixture, "2026-11-05", "2611.00005", "Old diffusion", 1);
	store_fixture_list(fixture, "2026-11-06", "2611.00006", "Diffusion", 1);
	store_fixture_list(fixture, "2026-11-19", "2611.00019", "Diffusion", 1);
	run(fixture, now);
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
	report = run(fixture, now);
	g_assert_cmpuint(report.papers, ==, 2);
	assert_rows(fixture, MATCHES, "1:06yes 1:19yes");
	/* A filter that another subscriber has is not matched again. */
	store_fixture_subscribe(fixture, "bob@example.org", "UTC", "diffusion", now);
	g_assert_cmpuint(run(fixture, now).papers, ==, 0);
	/* In an empty store there are no papers to match. */
	store_fixture_add_filter(
	    fixture, ADA, "nothing", now + 40 * (int64_t)CLOCK_DAY_S);
	g_assert_cmpuint(run(fixture, now + 40 * (int64_t)CLOCK_DAY_S).papers, ==, 0);
}

STORE_TEST(relisted_paper_is_new_to_later_filters)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");

	store_fixture_list(fixture, "2026-10-20", "2610.00001", "Diffusion", 1);
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
	run(fixture, now);
	assert_rows(fixture, MATCHES, "");
	store_fixture_list(fixture, "2026-11-20", "2610.00001", "Diffusion", 1);
	run(fixture, now);
	assert_rows(fixture, MATCHES, "1:01yes");
}

STORE_TEST(many_pages_of_filters_and_papers_are_matched)
{
	enum { FILTERS = 450, PAPERS = 1203 };
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
	struct match_report report;

	store_fixture_run(fixture, "BEGIN");
	store_fixture_run(fixture,
	    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
	    " WHERE i < 1203) INSERT INTO paper (id, title, abstract, authors,"
	    " url, fetched_at, first_seen_at, last_day, revision)"
	    " SELECT i, 'w' || (i % 450) || ' paper', '', 'A', 'https://e.org/',"
	    " 0, 0, '2026-11-20', i FROM n");
	store_fixture_run(fixture,
	    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n"
	    " WHERE i < 449) INSERT INTO filter (canonical, hash,"
	    " matched_revision, created_at) SELECT 'text:w' || i,"
	    " printf('%064d', i), i % 7, 0 FROM n");
	store_fixture_run(fixture, "COMMIT");
	report = run(fixture, now);
	g_assert_cmpuint(report.broken, ==, 0);
	/* Filters that lag less have fewer papers left. */
	g_assert_cmpuint(report.papers, ==,
	    (unsigned)store_fixture_number(fixture,
	        "SELECT sum(1203 - i % 7) FROM (SELECT id - 1 AS i FROM filter)"));
	/* Each paper matches one filter, besides those that had it. */
	g_assert_cmpint(store_fixture_number(
	                    fixture, "SELECT count(*) FROM " STORE_FIXTURE_MATCHES),
	    ==,
	    store_fixture_number(fixture,
	        "SELECT count(*) FROM paper p JOIN filter f"
	        " ON f.id - 1 = p.seq % 450 WHERE p.seq > (f.id - 1) % 7"));
	g_assert_cmpint(store_fixture_number(fixture,
	                    "SELECT count(*) FROM " STORE_FIXTURE_MATCHES
	                    " m JOIN filter f ON f.id ="
	                    " m.filter_id WHERE m.paper_seq % 450 <> f.id - 1"),
	    ==, 0);
	g_assert_cmpint(store_fixture_number(
	                    fixture, "SELECT value FROM cursor WHERE name = 'matched'"),
	    ==, PAPERS);
	assert_rows(fixture,
	    "SELECT count(*) FROM filter"
	    " WHERE matched_revision IS NOT NULL",
	    "0");
	g_assert_cmpuint(run(fixture, now).papers, ==, 0);
}

static void
ask_to_stop(void *data)
{
	g_atomic_int_inc((int *)data);
}

STORE_TEST(stop_ends_a_run_after_a_commit_and_the_next_continues)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
	struct digest_build_report made = {0};
	int stop = 0;

	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
	store_fixture_subscribe(fixture, "bob@example.org", "UTC", "mamba", now);
	run(fixture, now);
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Mamba diffusion", 1);
	store_set_stop(fixture->store, &stop);
	store_set_commit_hook(fixture->store, ask_to_stop, &stop);
	g_assert_cmpuint(run(fixture, now).found, ==, 0);
	g_assert_cmpint(stop, ==, 1);
	/* Digests wait until the whole day is matched. */
	g_assert_true(
	    digest_build_run(fixture->store, fixture->key, NULL, now, &made, NULL));
	g_assert_cmpuint(made.due, ==, 0);
	g_assert_cmpuint(run(fixture, now).found, ==, 0);
	store_set_commit_hook(fixture->store, NULL, NULL);
	g_atomic_int_set(&stop, 0);
	g_assert_cmpuint(run(fixture, now).found, ==, 2);
	g_assert_true(
	    digest_build_run(fixture->store, fixture->key, NULL, now, &made, NULL));
	g_assert_cmpuint(made.digests, ==, 2);
}

STORE_TEST(unparsable_filter_does_not_stop_others)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
	struct match_report report;

	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
	store_fixture_subscribe(
	    fixture, "bob@example.org", "UTC", "mamba upvotes:>=9", now);
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Mamba diffusion", 1);
	store_fixture_run(
	    fixture, "UPDATE filter SET canonical = 'future:(' WHERE id = 1");
	report = run(fixture, now);
	g_assert_cmpuint(report.broken, ==, 1);
	assert_rows(fixture, MATCHES, "2:01waiting");
	store_fixture_run(
	    fixture, "UPDATE filter SET canonical = 'future:)' WHERE id = 2");
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Mamba diffusion", 9);
	run(fixture, now);
	assert_rows(fixture, MATCHES, "");
}

static bool
call_match(struct store_fixture *fixture, void *data, GError **error)
{
	struct match_report report = {0};

	return match_run(fixture->store, *(int64_t *)data, &report, error);
}

STORE_TEST(failed_run_is_completed_by_the_next)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");

	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion upvotes:>=20", now);
	store_fixture_subscribe(
	    fixture, "bob@example.org", "UTC", "diffusion NOT upvotes:>=5", now);
	store_fixture_list(
	    fixture, "2026-11-06", "2611.00001", "Diffusion", PAPER_UNKNOWN);
	store_fixture_list(
	    fixture, "2026-11-20", "2611.00002", "Diffusion", PAPER_UNKNOWN);
	run(fixture, now);
	store_fixture_list(fixture, "2026-11-20", "2611.00002", "Diffusion", 30);
	store_fixture_list(fixture, "2026-11-20", "2611.00003", "Diffusion", 1);
	store_fixture_list(fixture, "2026-11-20", "2611.00004", "Mamba", 1);
	now += 5 * CLOCK_DAY_S;
	/* As if it had run all the time: a clock that jumps is not trusted at once. */
	store_fixture_run(
	    fixture, "UPDATE cursor SET value = value + 431000 WHERE name = 'match'");
	g_assert_cmpuint(
	    store_fixture_fail_everywhere(fixture, call_match, &now, false), >=, 20);
	assert_rows(
	    fixture, MATCHES, "1:02yes 1:03waiting 2:01yes 2:02waiting 2:03yes");
	assert_rows(fixture, "SELECT count(*) FROM paper WHERE is_changed = 1", "0");
}

/* Add filters without required terms: they are evaluated for every paper. */
static void
add_filters(struct store_fixture *fixture, const char *canonical, unsigned count)
{
	g_autofree char *sql = g_strdup_printf(
	    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
	    " WHERE i < %u) INSERT INTO filter (canonical, hash, created_at)"
	    " SELECT '%s' || i, printf('%%064d', i), 0 FROM n",
	    count, canonical);

	store_fixture_run(fixture, sql);
}

static void
add_papers(struct store_fixture *fixture, unsigned count)
{
	g_autofree char *sql = g_strdup_printf(
	    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
	    " WHERE i < %u) INSERT INTO paper (id, title, abstract, authors, url,"
	    " upvotes, fetched_at, first_seen_at, last_day, revision)"
	    " SELECT i, 'Diffusion ' || i, '', 'A', 'https://e.org/', 3, 0, 0,"
	    " '2026-11-20', i FROM n",
	    count);

	store_fixture_run(fixture, sql);
}

STORE_TEST(matches_per_commit_are_limited)
{
	struct match_report report;
	int64_t total;

	/* Three of them match all papers, the others wait for votes. */
	add_filters(fixture, "diffusion AND upvotes:>=", 200);
	add_papers(fixture, 250);
	report = run(fixture, store_fixture_time("2026-11-20T13:00:00Z"));
	/* Each filter is evaluated once for each of two batches. */
	g_assert_cmpuint(report.filters, ==, 2 * 200);
	g_assert_cmpuint(report.papers, ==, 200 * 250);
	g_assert_cmpuint(report.found, ==, 3 * 250);
	g_assert_cmpuint(report.waiting, ==, 197 * 250);
	g_assert_true(matches_load_total(fixture->store, &total, NULL));
	g_assert_cmpint(total, ==, 3 * 250);
	assert_rows(fixture,
	    "SELECT count(*) FROM (SELECT 1 FROM " STORE_FIXTURE_MATCHES
	    " GROUP BY filter_id"
	    " HAVING count(*) = 250 AND count(DISTINCT paper_seq) = 250)",
	    "200");
	report = run(fixture, store_fixture_time("2026-11-20T13:05:00Z"));
	g_assert_cmpuint(report.filters, ==, 0);
}

STORE_TEST(pending_matches_are_rechecked_in_pages)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
	struct match_report report;

	add_filters(fixture, "diffusion AND upvotes:>=", 1300);
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 100);
	store_fixture_list(fixture, "2026-11-20", "2611.00002", "Diffusion too", 0);
	report = run(fixture, now);
	g_assert_cmpuint(report.found, ==, 100);
	g_assert_cmpuint(report.waiting, ==, 1200 + 1300);
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 1000);
	store_fixture_list(fixture, "2026-11-20", "2611.00002", "Diffusion too", 1300);
	report = run(fixture, now + 60);
	g_assert_cmpuint(report.decided, ==, 900 + 1300);
	assert_rows(fixture,
	    "SELECT paper_seq || state || count(*) FROM " STORE_FIXTURE_MATCHES
	    " GROUP BY paper_seq, state"
	    " ORDER BY 1",
	    "1waiting300 1yes1000 2yes1300");
	/* Waiting matches become final, page by page. */
	report = run(fixture, now + 16 * CLOCK_DAY_S);
	report = run(fixture, now + 17 * CLOCK_DAY_S + 1);
	assert_rows(fixture, "SELECT count(*) FROM match_pending", "0");
	assert_rows(fixture, "SELECT count(*) FROM " STORE_FIXTURE_MATCHES, "2300");
}

/* A change between two pages also counts for the filters of the first page. */
STORE_TEST(change_between_two_pages_is_seen_by_all_filters)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
	struct match_report report;

	add_filters(fixture, "diffusion AND upvotes:>=", 900);
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 0);
	run(fixture, now);
	/* State of a run that was killed after its first page of filters. */
	store_fixture_run(fixture, "INSERT INTO cursor VALUES ('recheck paper', 1),"
	                           " ('recheck filter', 500)");
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 900);
	report = run(fixture, now + 60);
	g_assert_cmpuint(report.decided, ==, 900);
	assert_rows(
	    fixture, "SELECT sum(value) FROM cursor WHERE name GLOB 'recheck *'", "0");
}

UNIT_MAIN
