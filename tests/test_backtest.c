/*
 * test_backtest.c - tests of filters on the archive, with suggestions.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/advice/backtest.h"

#define ADA "ada@example.org"
#define NOW store_fixture_time("2026-11-20T13:00:00Z")

static void
list(struct store_fixture *fixture, const char *day, const char *id, const char *title,
    const char *abstract)
{
	store_fixture_save(fixture, "hf", day,
	    store_fixture_time("2026-11-20T12:00:00Z"),
	    store_fixture_paper(id, title, abstract));
}

static struct backtest *
run(struct store_fixture *fixture, const struct backtest_request *request)
{
	struct backtest_request wanted = *request;
	struct backtest *backtest;

	wanted.now = NOW;
	backtest = NO_ERROR(backtest_run(fixture->store, &wanted, NULL, &error));
	store_fixture_assert_idle(fixture);
	return backtest;
}

static char *
join_newest(const struct backtest *backtest)
{
	GString *ids = g_string_new(NULL);

	for (unsigned i = 0; i < backtest->newest->len; i++)
		g_string_append_printf(ids, "%s%s", i ? " " : "",
		    ((struct backtest_paper *)backtest->newest->pdata[i])->id);
	return g_string_free(ids, FALSE);
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

STORE_TEST(backtest_counts_matches)
{
	list(fixture, "2026-09-20", "1", "Trees", "");
	list(fixture, "2026-10-20", "2", "Mamba", "");
	for (int i = 3; i < 10; i++) {
		g_autofree char *id = g_strdup_printf("%d", i);
		g_autofree char *day = g_strdup_printf("2026-11-%02d", 10 + i);

		list(fixture, day, id, "Mambas", "");
	}
	CASES_FOREACH(row, "backtest_counts", *text, *days, *found, *covered, *newest) {
		const struct backtest_request request = {
		    .text = row->text, .days = cases_number(row->days)};
		pb_auto(backtest) backtest = run(fixture, &request);
		g_autofree char *newest = join_newest(backtest);

		g_assert_cmpuint(backtest->found, ==, cases_number(row->found));
		g_assert_cmpuint(
		    backtest->covered_days, ==, cases_number(row->covered));
		g_assert_cmpstr(newest, ==, row->newest);
		g_assert_cmpfloat_with_epsilon(backtest->a_day,
		    (double)cases_number(row->found) / cases_number(row->covered),
		    1e-9);
		if (backtest->newest->len)
			g_assert_nonnull(
			    strstr(((struct backtest_paper *)backtest->newest->pdata[0])
			               ->words,
			        "in the title"));
	}
}

STORE_TEST(backtest_compares_with_other_filters_of_the_subscriber)
{
	static const struct {
		const char *text;
		int number;
		unsigned found, known, blocked;
	} rows[] = {
	    {"mamba", 0, 3, 2, 1}, /* the title of 1 and 2 has it */
	    {"mamba", 1, 3, 1, 1}, /* the other filter matches only 2 */
	    {"tree", 2, 2, 1, 0},  /* not compared with itself */
	    {"tree", 0, 2, 2, 0},
	    {"survey", 3, 1, 1, 0},
	};
	int64_t ada = store_fixture_subscribe(fixture, ADA, "UTC", "title:mamba", NOW);

	store_fixture_add_filter(fixture, ADA, "tree", NOW);
	store_fixture_add_block(fixture, ADA, "survey", NOW);
	/* Of another subscriber. */
	store_fixture_subscribe(fixture, "bob@example.org", "UTC", "mamba", NOW);
	list(fixture, "2026-11-18", "1", "A survey of mamba", "");
	list(fixture, "2026-11-19", "2", "Mamba and tree", "");
	list(fixture, "2026-11-20", "3", "Tree", "");
	list(fixture, "2026-11-20", "4", "None", "mamba");
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const struct backtest_request request = {.text = rows[i].text,
		    .number = rows[i].number,
		    .subscriber_id = ada};
		pb_auto(backtest) backtest = run(fixture, &request);

		g_test_message("row %zu", i);
		g_assert_cmpuint(backtest->found, ==, rows[i].found);
		g_assert_cmpuint(backtest->known, ==, rows[i].known);
		g_assert_cmpuint(backtest->blocked, ==, rows[i].blocked);
	}
}

STORE_TEST(notes_suggest_corrections)
{
	list(fixture, "2026-08-01", "0", "Ancient", "");
	list(fixture, "2026-09-20", "1", "Old", "");
	list(fixture, "2026-11-20", "2", "Mamba", "low-rank adaptation (LoRA)");
	list(fixture, "2026-11-20", "3", "Mamba", "a low-rank adaptation");
	list(fixture, "2026-11-20", "4", "Trees", "Low rank adaptations");
	list(fixture, "2026-11-20", "5", "On LoRAs", "");
	CASES_FOREACH(row, "backtest_notes", *text, *notes) {
		const struct backtest_request request = {.text = row->text};
		pb_auto(backtest) backtest = run(fixture, &request);
		g_autofree char *notes = join_notes(backtest);

		if (strcmp(notes, row->notes) != 0)
			g_test_fail_printf("%s: %s", row->text, notes);
	}
}

/* Nothing is said of days before the first paper. */
TEST(notes_count_days_of_the_archive)
{
	static const struct {
		const char *first_day;
		unsigned days;
		const char *wanted;
	} rows[] = {
	    {"2026-11-06", 30, "mmaba: in no paper"},
	    {"2026-11-06", 7, "no papers in 15 days: is this the intended filter?; "},
	    {"2026-10-06", 30, "no papers in 46 days: is this the intended filter?; "},
	    {"2026-10-06", 120, "mmaba: in no paper"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const struct backtest_request request = {
		    .text = "mmaba", .days = rows[i].days};
		pb_auto(store_fixture) fixture = store_fixture_new();
		pb_auto(backtest) backtest = NULL;
		g_autofree char *notes = NULL;

		list(fixture, rows[i].first_day, "1", "Mamba", "");
		backtest = run(fixture, &request);
		notes = join_notes(backtest);
		if (!g_str_has_prefix(notes, rows[i].wanted))
			g_test_fail_printf("row %zu: %s", i, notes);
	}
}

#define LATE "papers come up to 14 days late: until then a source can make this false: "
#define MEASURED                                                                      \
	"papers come up to 14 days late: the date is measured from the day on which " \
	"a "                                                                          \
	"paper is first seen, and this can become known later: "
#define NEVER                                                                       \
	" can never be decided: no source has reported this for any paper so far; " \
	"after "                                                                    \
	"14 days it counts as "

STORE_TEST(clauses_that_may_wait_are_reported)
{
	static const struct {
		const char *text;
		const char *notes;
	} rows[] = {
	    {"mamba has:code", ""},
	    {"mamba upvotes:>=3", ""},
	    {"mamba date:7d..", ""},
	    {"mamba NOT title:x", ""},
	    {"mamba NOT has:code", LATE "NOT has:code"},
	    {"mamba date:7d.. NOT has:code", LATE "NOT has:code"},
	    {"mamba NOT (has:code OR upvotes:<3)",
	        LATE "NOT has:code, NOT upvotes:<=2"},
	    {"mamba NOT (x NOT has:code)", ""},
	    {"mamba date:7d.. has:code", MEASURED "has:code"},
	    {"mamba (date:..3d OR upvotes:>=3)", MEASURED "upvotes:>=3"},
	    {"mamba date:2026-11.. has:code", ""},
	    {"mamba OR org:x", "org:x" NEVER "false"},
	    {"mamba NOT stars:>9", LATE "NOT stars:>=10; NOT stars:>=10" NEVER "true"},
	};
	struct paper *paper = store_fixture_paper("1", "Mamba", "");

	paper->code_url = g_strdup("https://code.example.org/");
	paper->upvotes = 5;
	store_fixture_save(fixture, "hf", "2026-11-20", NOW, paper);
	list(fixture, "2026-11-20", "2", "Mamba x", "");
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const struct backtest_request request = {.text = rows[i].text};
		const struct backtest_request block = {
		    .text = rows[i].text, .is_block = true};
		pb_auto(backtest) backtest = run(fixture, &request);
		pb_auto(backtest) of_block = run(fixture, &block);
		g_autofree char *notes = join_notes(backtest);
		g_autofree char *block_notes = join_notes(of_block);

		/* Further notes may follow. */
		if (!g_str_has_prefix(notes, rows[i].notes) ||
		    (!*rows[i].notes && (strstr(notes, "days late") ||
		                            strstr(notes, "never be decided"))))
			g_test_fail_printf("%s: %s", rows[i].text, notes);
		if (strstr(block_notes, "days late"))
			g_test_fail_printf("block %s: %s", rows[i].text, block_notes);
	}
}

STORE_TEST(empty_archive_gives_no_suggestions)
{
	const struct backtest_request request = {.text = "mamba"};
	pb_auto(backtest) backtest = run(fixture, &request);

	g_assert_cmpuint(backtest->covered_days, ==, 0);
	g_assert_cmpfloat(backtest->a_day, ==, 0);
	g_assert_cmpuint(backtest->notes->len, ==, 0);
}

/* For each field, with no paper and with older ones only. */
STORE_TEST(window_without_papers_has_no_match)
{
	static const char *const texts[] = {"mamba cat:cs.LG", "mamba org:acme",
	    "mamba has:code", "mamba upvotes:>=3", "mamba source:hf", "mamba type:new",
	    "mamba date:2026-11", "mamba kw:ssm", "mamba -cs.LG"};

	for (unsigned has_papers = 0; has_papers < 2; has_papers++) {
		for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
			const struct backtest_request request = {
			    .text = texts[i], .days = 2};
			pb_auto(backtest) backtest = run(fixture, &request);

			g_assert_cmpuint(backtest->found, ==, 0);
		}
		list(fixture, "2026-08-20", "1", "Mamba", "");
	}
}

STORE_TEST(days_are_limited)
{
	struct backtest_request request = {
	    .text = "mamba", .days = BOUNDS_BACKTEST_DAYS, .now = NOW};
	pb_auto(backtest) backtest = run(fixture, &request);

	request.days++;
	FAILS(PB_ERROR_INPUT, backtest_run(fixture->store, &request, NULL, &error));
	request = (struct backtest_request){.text = "mamba (", .now = NOW};
	FAILS(PB_ERROR_INPUT, backtest_run(fixture->store, &request, NULL, &error));
}

UNIT_MAIN
