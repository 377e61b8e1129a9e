/*
 * test_enrich.c - papers are looked up at the services that know their identities.
 */
#include <string.h>

#include "base/clock.h"
#include "lib/paperserver.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "model/paper_id.h"
#include "service/collect/enrich.h"
#include "store/paper/paper_events.h"
#include "store/paper/papers.h"

#define DAY  "2026-11-20"
#define NOON DAY "T12:00:00Z"

/* A service for the lookups, and the papers. */
struct world {
	struct store_fixture *store;
	struct paperserver *server;
	struct http *http;
	int64_t now;
};

static void
world_free(struct world *world)
{
	http_free(world->http);
	paperserver_free(world->server);
	store_fixture_free(world->store);
	g_free(world);
}
PB_DEFINE_AUTO(world, world_free);

static struct world *
world_new(void)
{
	static const struct http_settings settings = {.user_agent = "test"};
	struct world *world = g_new0(struct world, 1);

	world->store = store_fixture_new();
	world->server = paperserver_start(NULL, NULL);
	world->http = http_new(&settings);
	world->now = store_fixture_time(NOON);
	return world;
}

#define WORLD_TEST(function) TEST_WITH(function, world, world, world_new())

/* Save a paper of a journal's feed. @param doi  or NULL */
static void
save(struct world *world, const char *source, const char *doi)
{
	struct paper *paper = store_fixture_paper("", "A made-up title", "");

	g_free(g_ptr_array_index(paper->authors, 0));
	paper->authors->pdata[0] = g_strdup("Example, A.");
	g_ptr_array_add(paper->authors, g_strdup("Li, B. C."));
	paper->doi = g_strdup(doi);
	paper->source_rank = PAPER_SOURCE_RANK_FEED;
	paper_id_choose(paper, NULL, source, "own");
	store_fixture_save(world->store, source, DAY, world->now, paper);
}

/* Run at a time. @param modes  of the server for each service; NULL: it is off */
static void
run(struct world *world, const char *const modes[COLLECT_LOOKUPS], int64_t now)
{
	struct collect collect = {.store = world->store->store, .http = world->http};
	struct collect_report report = {0};
	g_autoptr(GPtrArray) urls = g_ptr_array_new_with_free_func(g_free);

	for (unsigned i = 0; i < COLLECT_LOOKUPS; i++) {
		if (modes[i])
			g_ptr_array_add(
			    urls, paperserver_mode_url(world->server, modes[i]));
		collect.lookups[i] = (struct source_options){
		    .name = "service",
		    .url = modes[i] ? urls->pdata[urls->len - 1] : NULL,
		    .contact = "postmaster@example.org",
		};
	}
	NO_ERROR(enrich_run(&collect, now, &report, &error));
	store_fixture_assert_idle(world->store);
}

static const char *const all[COLLECT_LOOKUPS] = {
    "feed-api", "find-articles", "find-works"};

WORLD_TEST(each_service_is_asked_once_for_what_it_knows)
{
	static const char *const paths[] = {
	    "/feed-api/api/query?max_results=1&id_list=",
	    "/find-articles/"
	    "search?query=DOI%3A%2210.5555%2F1%22%20OR%20DOI%3A%2210.1000",
	    "/find-works/works?filter=doi%3A10.5555%2F1%2Cdoi%3A10.1000%2F2611.00003"};

	struct paper *paper =
	    store_fixture_paper("2611.00003", "Of hf", "Its abstract");

	paper->source_rank = PAPER_SOURCE_RANK_HF;
	store_fixture_save(world->store, "hf", DAY, world->now, paper);
	if (!world->server)
		return;
	save(world, "journal", "10.5555/1");
	save(world, "blog", NULL);
	run(world, all, world->now);
	for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
		g_autofree char *line = paperserver_read_line(world->server);

		if (!strstr(line, paths[i]))
			g_error("%s lacks %s", line, paths[i]);
	}
	assert_rows(world->store,
	    "SELECT id, doi, pmid, pmcid, mesh, journal, abstract, comment, categories,"
	    " looked_up, awaited FROM paper WHERE id LIKE '2611%'",
	    "2611.00003|10.1000/2611.00003|461100003|PMC461100003|Alzheimer Disease|"
	    "Made-Up Letters\nLett. Made Up|Its abstract|Accepted at "
	    "NeurIPS|cs.CL|7|0");
	/* The first to tell is kept; names become fuller. */
	assert_rows(world->store,
	    "SELECT doi, pmid, pmcid, mesh, journal, abstract, looked_up, awaited"
	    " FROM paper WHERE authors LIKE 'Ada Example_Bo C. Li'",
	    "10.5555/1|41|PMC41|Alzheimer Disease|Made-Up Letters\nLett. Made Up|"
	    "Aim Told by Europe PMC.|6|0");
	assert_rows(world->store,
	    "SELECT count(*) FROM paper WHERE doi IS NULL AND awaited = 0", "1");
	/* Nothing is left to ask; a new paper is the next request. */
	run(world, all, world->now + 3600);
	save(world, "other", "10.5555/20");
	run(world, all, world->now + 7200);
	for (size_t i = 1; i < G_N_ELEMENTS(paths); i++) {
		g_autofree char *line = paperserver_read_line(world->server);

		g_assert_nonnull(strstr(line, "10.5555%2F20"));
	}
	/* That one is not known to them: its fields are missing. */
	assert_rows(world->store,
	    "SELECT looked_up, awaited, pmid, is_changed FROM paper"
	    " WHERE doi = '10.5555/20'",
	    "6|0|-|1");
}

WORLD_TEST(a_pmid_identifies_a_paper)
{
	struct paper *paper = store_fixture_paper("lab:1", "Found by its PMID", "");
	pb_auto(stored_paper) stored = NULL;

	if (!world->server)
		return;
	paper->pmid = g_strdup("4177");
	store_fixture_save(world->store, "lab", DAY, world->now, paper);
	run(world, all, world->now);
	assert_rows(world->store, "SELECT doi, pmcid, looked_up, awaited FROM paper",
	    "10.5555/4177|PMC4177|6|0");
	stored = papers_load_id(world->store->store, "pmid:4177", NULL);
	g_assert_nonnull(stored);
	/* The journal's feed has the DOI: it is the same paper. */
	save(world, "journal", "10.5555/4177");
	assert_rows(world->store, "SELECT count(*) FROM paper", "1");
}

TEST(a_paper_is_one_with_all_fields_in_any_order)
{
	/* The feed, bioRxiv's API, and lookups. */
	static const char *const orders[] = {"fal", "fla", "afl", "alf", "lfa", "laf"};

	for (size_t i = 0; i < G_N_ELEMENTS(orders); i++) {
		pb_auto(world) world = world_new();

		if (!world->server)
			return;
		for (const char *step = orders[i]; *step; step++) {
			struct paper *paper;

			world->now++;
			if (*step == 'f')
				save(world, "journal", "10.5555/1");
			if (*step == 'l')
				run(world, all, world->now);
			if (*step != 'a')
				continue;
			paper = store_fixture_paper(
			    "doi:10.5555/1", "A made-up title", "Its abstract");
			paper->doi = g_strdup("10.5555/1");
			paper->categories = g_ptr_array_new_with_free_func(g_free);
			g_ptr_array_add(paper->categories, g_strdup("cell-biology"));
			store_fixture_save(
			    world->store, "biorxiv", DAY, world->now, paper);
		}
		run(world, all, world->now + 1);
		g_test_message("%s", orders[i]);
		assert_rows(world->store,
		    "SELECT id, abstract, replace(authors, char(10), '|'), categories,"
		    " journal, pmid, mesh, awaited,"
		    " (SELECT count(*) FROM listing) FROM paper",
		    "doi:10.5555/1|Its abstract|Ada Example|Bo C. Li|cell-biology|"
		    "Made-Up Letters\nLett. Made Up|41|Alzheimer Disease|0|2");
	}
}

/* A request has at most 1,400 bytes of identities. */
WORLD_TEST(many_papers_are_asked_for_in_few_requests)
{
	static const char *const articles[COLLECT_LOOKUPS] = {NULL, "find-articles"};

	if (!world->server)
		return;
	for (unsigned i = 1; i <= 90; i++) {
		g_autofree char *doi = g_strdup_printf("10.64898/2026.11.20.%06u1", i);

		save(world, "biorxiv", doi);
	}
	run(world, articles, world->now);
	g_assert_cmpuint(paperserver_count_requests(world->server), ==, 3);
	assert_rows(world->store,
	    "SELECT count(*) FROM paper WHERE pmid IS NOT NULL AND awaited = 4", "90");
}

static int64_t
get_settled_at(struct world *world)
{
	pb_auto(stored_paper) stored =
	    papers_load_id(world->store->store, "doi:10.5555/1", NULL);

	g_assert_nonnull(stored);
	return stored->settled_at - world->now;
}

WORLD_TEST(a_service_that_fails_is_waited_for)
{
	/* When it fails, its Retry-After, and from when the papers do not wait. */
	static const struct {
		int64_t at;
		const char *mode;
		int64_t settled_at;
	} rows[] = {
	    {0, "429", 60 + PAPERS_LOOKUP_S},
	    {3600, "429-retry", 3600 + 120 + PAPERS_LOOKUP_S},
	    {2 * 3600, "503", 2 * 3600 + 60 + PAPERS_LOOKUP_S},
	    {4 * 3600, "429-date", PAPERS_LOOKUP_S + 4 * 3600 + 86400},
	    {4 * 3600 + 90000, "429-date", 4 * 3600 + 90000 + 86400 + PAPERS_LOOKUP_S},
	    {4 * 3600 + 180000, "429-date", PAPERS_LOOKUP_MAX_S},
	};
	static const char *const recovered[COLLECT_LOOKUPS] = {
	    NULL, "find-articles", "find-works"};

	if (!world->server)
		return;
	save(world, "journal", "10.5555/1");
	g_assert_cmpint(get_settled_at(world), ==, PAPERS_LOOKUP_S);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const char *const modes[COLLECT_LOOKUPS] = {
		    NULL, rows[i].mode, "find-works"};

		g_test_message("%s", rows[i].mode);
		run(world, modes, world->now + rows[i].at);
		g_assert_cmpint(get_settled_at(world), ==, rows[i].settled_at);
	}
	/* The other service has told the journal. */
	assert_rows(world->store, "SELECT journal, pmid, awaited FROM paper",
	    "Letters, Made Up\nLett. Made Up|-|2");
	run(world, recovered, world->now + 5 * CLOCK_DAY_S);
	assert_rows(world->store, "SELECT journal, pmid, awaited FROM paper",
	    "Letters, Made Up\nLett. Made Up|41|0");
}

/* Of a feed that abbreviates it, now and later. */
WORLD_TEST(a_lookup_tells_the_full_name_of_a_journal)
{
	static const char *const works[COLLECT_LOOKUPS] = {NULL, NULL, "find-works"};
	static const char *const reported[] = {"Lett. Made Up", "Another Journal"};

	if (!world->server)
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(reported); i++) {
		g_autofree char *doi = g_strdup_printf("10.5555/%zu", i + 1);
		struct paper *paper = store_fixture_paper("", doi, "");

		paper->doi = g_strdup(doi);
		paper->journal = g_strdup(reported[i]);
		paper_id_choose(paper, NULL, "journal", "own");
		store_fixture_save(world->store, "journal", DAY, world->now, paper);
	}
	run(world, works, world->now);
	/* Filters are matched again. */
	assert_rows(world->store, "SELECT journal, is_revised FROM paper ORDER BY doi",
	    "Letters, Made Up\nLett. Made Up|1 Another Journal\nLett. Made Up|1");
}

/* After its time nobody waits for it again. */
WORLD_TEST(a_service_that_fails_later_delays_nothing)
{
	static const char *const modes[COLLECT_LOOKUPS] = {NULL, "503"};

	if (!world->server)
		return;
	save(world, "journal", "10.5555/1");
	run(world, modes, world->now + PAPERS_LOOKUP_S);
	g_assert_cmpint(get_settled_at(world), ==, PAPERS_LOOKUP_S);
}

#define HF     "2611.00003"
#define EVENTS "2|version|2 2|code|0"

static void
watch(struct world *world, int64_t seq, int64_t until)
{
	NO_ERROR(
	    paper_events_watch(world->store->store, 1, seq, world->now, until, &error));
}

/* About watched papers: each at Hugging Face daily and elsewhere weekly, and a list of
 * changes daily. */
WORLD_TEST(what_becomes_of_watched_papers_is_asked)
{
	static const struct {
		int hours;
		const char *mode, *events;
	} rows[] = {
	    {0, "watched-0", ""},
	    {1, "watched-4", ""},
	    {24, "watched-2", EVENTS},
	    {48, "watched-2", EVENTS},
	    {7 * 24, "watched-3", EVENTS " 3|published|0"},
	    {8 * 24, "watched-4", EVENTS " 3|published|0 3|retracted|0"},
	    {9 * 24, "watched-5", EVENTS " 3|published|0 3|retracted|0"},
	};
	int64_t year = world->now + 365 * (int64_t)CLOCK_DAY_S;

	if (!world->server)
		return;
	for (int i = 1; i < 3; i++) {
		struct paper *paper =
		    store_fixture_paper(i == 1 ? "2611.00001" : HF, "Of hf", "Text");

		store_fixture_save(world->store, "hf", DAY, world->now, paper);
	}
	save(world, "journal", "10.5555/1");
	store_fixture_subscribe(
	    world->store, "ada@example.org", "UTC", "made", world->now);
	watch(world, 1, world->now - 1);
	watch(world, 2, year);
	watch(world, 3, year);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const char *mode = rows[i].mode;
		const char *const modes[COLLECT_LOOKUPS] = {mode, mode, mode, mode};

		run(world, modes, world->now + rows[i].hours * (int64_t)CLOCK_HOUR_S);
		g_test_message("%s", mode);
		assert_rows(world->store,
		    "SELECT paper_seq, kind, version FROM paper_event ORDER BY id",
		    rows[i].events);
	}
	/* At first 3 about missing fields and 7 about watched ones, then 4 a day,
	 * once 7.
	 */
	g_assert_cmpuint(
	    paperserver_count_requests(world->server), ==, 3 + 7 + 4 + 4 + 7 + 4 + 4);
}

UNIT_MAIN_WITH_WARNINGS
