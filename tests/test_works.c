/*
 * test_works.c - records of one paper: how they are linked, and that they are sent
 * once.
 */
#include <glib.h>
#include <string.h>

#include "base/day.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "model/paper_id.h"
#include "service/jobs/maintenance.h"
#include "service/match/search.h"
#include "store/core/store.h"
#include "store/paper/paper_events.h"
#include "store/paper/papers.h"
#include "store/paper/works.h"
#include "store/subscriber/known.h"
#include "store/subscriber/private_feeds.h"

#define ADA "ada@example.org"

/* A real pair: bioRxiv's and the journal's, and days as if a year apart. */
#define PREPRINT "doi:10.1101/2025.09.17.676679"
#define ARTICLE  "doi:10.1091/mbc.e25-09-0454"
#define TITLE \
	"YeastSAM: A Deep Learning Model for Accurate Segmentation of Budding Yeast"
#define OTHER "Accurate segmentation of yeast cells by a deep model, in all its stages"

#define WORKS                                                                      \
	"SELECT group_concat(id, ' ') FROM (SELECT id, work FROM paper WHERE work" \
	" IS NOT NULL ORDER BY id) GROUP BY work ORDER BY 1"

/* A record, and what its source says. */
struct record {
	const char *id, *title, *author;
	const char *day;    /* published and listed */
	const char *states; /* another record; or NULL */
};

static struct paper *
make(const struct record *record)
{
	struct paper *paper = store_fixture_paper(
	    record->id, record->title, "Cells of yeast are found by a made-up model.");

	g_ptr_array_set_size(paper->authors, 0);
	g_ptr_array_add(paper->authors, g_strdup(record->author));
	paper->doi = paper_id_parse_doi(record->id);
	paper->looked_up = PAPER_LOOKUP_ALL;
	paper->categories = g_ptr_array_new_with_free_func(g_free);
	paper->published_at = day_start(record->day);
	paper_id_add_record(paper, record->states);
	return paper;
}

static void
save(struct store_fixture *fixture, const struct record *record)
{
	store_fixture_save(fixture,
	    paper_id_is_preprint(record->id) ? "biorxiv" : "pubmed", record->day,
	    day_start(record->day) + 9 * CLOCK_HOUR_S, make(record));
}

static int64_t
load_seq(struct store_fixture *fixture, const char *id)
{
	g_autofree char *sql =
	    g_strdup_printf("SELECT seq FROM paper WHERE id = '%s'", id);

	return store_fixture_number(fixture, sql);
}

static const struct record preprint = {PREPRINT, TITLE, "Zhao, Y.", "2025-09-18", NULL};
static const struct record article = {
    ARTICLE, TITLE, "Yonghao Zhao", "2026-09-20", NULL};

/* In both orders, by what each of them states and by their title, a year apart. */
TEST(a_preprint_and_its_article_are_linked)
{
	static const struct {
		const char *of_preprint, *of_article, *title;
		bool is_linked;
	} rows[] = {
	    {"10.1091/mbc.E25-09-0454", NULL, OTHER, true},
	    {NULL, "https://doi.org/10.1101/2025.09.17.676679", OTHER, true},
	    {"10.1091/mbc.E25-09-0454", "10.1101/2025.09.17.676679", TITLE, true},
	    {NULL, NULL, TITLE, true},
	    {NULL, NULL, OTHER, false},
	    {"10.1091/mbc.other", "10.1101/2025.01.01.000001", OTHER, false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		for (int swap = 0; swap < 2; swap++) {
			pb_auto(store_fixture) fixture = store_fixture_new();
			struct record one = preprint, other = article;

			one.states = rows[i].of_preprint;
			other.states = rows[i].of_article;
			other.title = rows[i].title;
			save(fixture, swap ? &other : &one);
			save(fixture, swap ? &one : &other);
			/* Services repeat it at each request. */
			save(fixture, &one);
			assert_rows(fixture, WORKS,
			    rows[i].is_linked ? ARTICLE " " PREPRINT : "");
			assert_rows(fixture,
			    "SELECT count(*) FROM paper WHERE work > seq", "0");
		}
}

/* An arXiv paper and an article that the journal calls by arXiv's DOI. */
TEST(arxiv_is_linked_by_its_doi)
{
	pb_auto(store_fixture) fixture = store_fixture_new();
	struct record one = {"2511.01234", TITLE, "Zhao, Y.", "2025-11-03", NULL};
	struct record other = article;

	other.title = OTHER;
	other.states = "10.48550/arXiv.2511.01234";
	save(fixture, &other);
	save(fixture, &one);
	assert_rows(fixture, WORKS, "2511.01234 " ARTICLE);
}

/* Titles are compared with those of the last years, of the same author, and only of a
 * preprint. */
TEST(an_equal_title_alone_does_not_link)
{
	static const struct record rows[] = {
	    {ARTICLE, TITLE, "Yonghao Zhao", "2028-01-20", NULL},
	    {ARTICLE, TITLE, "Weihan Li", "2026-01-20", NULL},
	    {ARTICLE, TITLE " II", "Yonghao Zhao", "2026-01-20", NULL},
	    {"doi:10.1101/2026.01.01.000001", TITLE, "Yonghao Zhao", "2026-01-20",
	        NULL},
	};
	/* Two articles; and titles that many papers have. */
	static const struct record pairs[][2] = {
	    {{"doi:10.5555/1", TITLE, "Zhao, Y.", "2026-01-20", NULL},
	        {"doi:10.5555/2", TITLE, "Zhao, Y.", "2026-01-20", NULL}},
	    {{PREPRINT, "Introduction to the special issue", "Zhao, Y.", "2026-01-20",
	         NULL},
	        {ARTICLE, "Introduction to the special issue", "Zhao, Y.", "2026-01-20",
	            NULL}},
	    {{"2511.01234", TITLE, "Zhao, Y.", "2026-01-20", NULL},
	        {"2511.01235", TITLE, "Zhao, Y.", "2026-01-20", NULL}},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new();

		save(fixture, &preprint);
		save(fixture, &rows[i]);
		assert_rows(fixture, "SELECT count(*) FROM paper", "2");
		assert_rows(fixture, WORKS, "");
	}
	for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new();

		save(fixture, &pairs[i][0]);
		save(fixture, &pairs[i][1]);
		assert_rows(fixture, "SELECT count(*) FROM paper", "2");
		assert_rows(fixture, WORKS, "");
	}
}

/* An operator's decision outlasts what services state. */
STORE_TEST(a_work_is_split_and_joined)
{
	struct record third = {
	    "2511.01234", OTHER, "Zhao, Y.", "2025-11-03", "10.1101/2025.09.17.676679"};
	struct record stated = article;
	g_autoptr(GError) error = NULL;

	stated.states = "10.1101/2025.09.17.676679";
	save(fixture, &preprint);
	save(fixture, &stated);
	save(fixture, &third);
	assert_rows(fixture, WORKS, "2511.01234 " ARTICLE " " PREPRINT);
	works_split(fixture->store, load_seq(fixture, PREPRINT), &error);
	g_assert_no_error(error);
	assert_rows(fixture, WORKS, "2511.01234 " ARTICLE);
	assert_rows(fixture, "SELECT count(*) FROM paper WHERE work > seq", "0");
	save(fixture, &third);
	save(fixture, &stated);
	assert_rows(fixture, WORKS, "2511.01234 " ARTICLE);
	works_split(fixture->store, load_seq(fixture, ARTICLE), &error);
	g_assert_no_error(error);
	assert_rows(fixture, WORKS, "");
	works_join(fixture->store, load_seq(fixture, ARTICLE),
	    load_seq(fixture, PREPRINT), &error);
	g_assert_no_error(error);
	assert_rows(fixture, WORKS, ARTICLE " " PREPRINT);
	save(fixture, &stated);
	assert_rows(fixture, WORKS, ARTICLE " " PREPRINT);
}

/* A service that says that all is the same. */
STORE_TEST(a_work_has_few_records)
{
	save(fixture, &article);
	for (int i = 0; i < WORKS_RECORDS + 5; i++) {
		g_autofree char *id = g_strdup_printf("doi:10.1101/2026.01.01.%06d", i);
		struct record one = {
		    id, id, "Zhao, Y.", "2026-01-01", "10.1091/mbc.E25-09-0454"};

		save(fixture, &one);
	}
	g_assert_cmpint(
	    store_fixture_number(fixture, "SELECT count(*) FROM paper WHERE work = 1"),
	    ==, WORKS_RECORDS);
}

/* Two rows of a work turn out to be one paper; and the row of which others are records
 * is deleted. */
STORE_TEST(a_merged_record_stays_in_its_work)
{
	struct record third = {"2511.01234", OTHER, "Zhao, Y.", "2025-11-03", NULL};
	struct paper *same;

	third.states = "10.1101/2025.09.17.676679";
	save(fixture, &preprint);
	save(fixture, &article);
	save(fixture, &third);
	assert_rows(fixture, WORKS, "2511.01234 " ARTICLE " " PREPRINT);
	/* arXiv reports the DOI of the preprint. */
	same = make(&third);
	same->source_rank = PAPER_SOURCE_RANK_ARXIV;
	same->doi = g_strdup("10.1101/2025.09.17.676679");
	store_fixture_save(
	    fixture, "arxiv", "2025-11-04", day_start("2025-11-04"), same);
	assert_rows(fixture, WORKS, "2511.01234 " ARTICLE);
	assert_rows(fixture, "SELECT count(*) FROM paper WHERE work > seq", "0");
}

/* ---- digests ---- */

#define SENT                                                                         \
	"SELECT substr(p.id, 1, 12), coalesce(i.venue, '-') FROM digest_item i JOIN" \
	" paper p ON p.seq = i.paper_seq ORDER BY i.digest_id, i.position"

/* End all messages as sent. */
static void
send_all(struct store_fixture *fixture, int64_t now)
{
	g_autofree char *sql = g_strdup_printf(
	    "INSERT INTO delivered_paper (subscriber_id, paper_seq, digest_id, at)"
	    " SELECT g.subscriber_id, i.paper_seq, g.id, %" G_GINT64_FORMAT
	    " FROM digest g JOIN digest_item i ON i.digest_id = g.id"
	    " WHERE g.state = 'live'",
	    now);

	store_fixture_run(fixture, sql);
	store_fixture_run(fixture,
	    "UPDATE outbox SET state = 'CANCELLED', ended_at = queued_at,"
	    " next_try_at = NULL WHERE ended_at IS NULL;"
	    " UPDATE digest SET state = 'sent' WHERE state = 'live'");
}

/* Send the preprint in autumn 2025. */
static void
send_preprint(struct store_fixture *fixture, const char *preference)
{
	int64_t now = store_fixture_time("2025-09-18T12:00:00Z");

	store_fixture_subscribe(fixture, ADA, "UTC", "yeast", now);
	store_fixture_run(fixture, preference);
	save(fixture, &preprint);
	assert_digests(fixture, now, 1);
	send_all(fixture, now);
}

/* Maintenance has run every day until then. */
static void
maintain(struct store_fixture *fixture, const char *until)
{
	g_autoptr(GError) error = NULL;

	maintenance_run(fixture->store, day_start(until), &error);
	g_assert_no_error(error);
}

STORE_TEST(an_article_is_not_sent_a_year_after_its_preprint)
{
	send_preprint(fixture, "SELECT 1");
	maintain(fixture, "2026-09-20");
	assert_rows(fixture, "SELECT count(*) FROM digest", "0");
	save(fixture, &article);
	assert_digests_at(fixture, "2026-09-20T12:00:00Z", 0);
	/* It is a paper of its own. */
	works_split(fixture->store, load_seq(fixture, ARTICLE), NULL);
	assert_digests_at(fixture, "2026-09-21T12:00:00Z", 1);
	assert_rows(fixture, SENT, "doi:10.1091/|-");
}

/* By any record, before it is here. */
STORE_TEST(a_known_work_is_never_sent)
{
	struct record soon = article;
	g_autoptr(GError) error = NULL;
	bool is_new;

	soon.day = "2025-09-18";
	store_fixture_subscribe(fixture, ADA, "UTC", "yeast", day_start("2025-09-18"));
	known_add(fixture->store, 1, ARTICLE, 1, &is_new, &error);
	g_assert_no_error(error);
	g_assert_true(is_new);
	save(fixture, &preprint);
	save(fixture, &soon);
	assert_digests_at(fixture, "2025-09-18T12:00:00Z", 0);
}

STORE_TEST(who_wants_all_versions_gets_both)
{
	send_preprint(fixture, "UPDATE subscriber SET versions = 'all'");
	save(fixture, &article);
	assert_digests_at(fixture, "2026-09-20T12:00:00Z", 1);
	assert_rows(fixture, SENT,
	    "doi:10.1101/|- doi:10.1091/|preprint: 10.1101/2025.09.17.676679");
}

STORE_TEST(deliveries_are_forgotten_after_three_years)
{
	struct record late = article;

	late.day = "2028-09-20";
	late.states = "10.1101/2025.09.17.676679";
	send_preprint(fixture, "SELECT 1");
	save(fixture, &late);
	maintain(fixture, "2028-09-10");
	assert_digests_at(fixture, "2028-09-20T12:00:00Z", 0);
	maintain(fixture, "2028-09-21");
	assert_digests_at(fixture, "2028-09-21T12:00:00Z", 1);
}

/* A split does not send what was sent. */
STORE_TEST(a_split_sends_nothing_again)
{
	struct record soon = article;
	int64_t now = store_fixture_time("2025-09-18T12:00:00Z");

	soon.day = "2025-09-18";
	save(fixture, &soon);
	send_preprint(fixture, "SELECT 1");
	assert_rows(fixture, SENT, "doi:10.1101/|published: 10.1091/mbc.e25-09-0454");
	works_split(fixture->store, load_seq(fixture, PREPRINT), NULL);
	assert_digests(fixture, now + CLOCK_DAY_S, 1);
	assert_rows(
	    fixture, "SELECT count(*) FROM digest_item WHERE paper_seq = 1", "1");
	send_all(fixture, now + CLOCK_DAY_S);
	works_join(fixture->store, 1, 2, NULL);
	assert_digests(fixture, now + 2 * CLOCK_DAY_S, 0);
	works_split(fixture->store, 1, NULL);
	assert_digests(fixture, now + 3 * CLOCK_DAY_S, 0);
}

/* Both in one digest: the newest that has an abstract, with what it says about the
 * other. */
STORE_TEST(two_records_of_one_day_are_one_entry)
{
	struct record soon = article;
	struct paper *bare;

	soon.day = "2025-09-17";
	bare = make(&soon);
	g_free(bare->abstract);
	bare->abstract = g_strdup("");
	paper_add_journal_name(bare, g_strdup("Molecular Biology of the Cell"));
	paper_add_journal_name(bare, g_strdup("Mol Biol Cell"));
	store_fixture_save(fixture, "pubmed", soon.day,
	    store_fixture_time("2025-09-18T09:00:00Z"), bare);
	save(fixture, &preprint);
	store_fixture_subscribe(fixture, ADA, "UTC", "yeast", day_start("2025-09-18"));
	assert_digests_at(fixture, "2025-09-18T12:00:00Z", 1);
	assert_rows(fixture, SENT, "doi:10.1101/|now in Molecular Biology of the Cell");
}

/* While a digest with the preprint is being sent, the article waits for its result. */
STORE_TEST(a_record_in_delivery_excludes_the_others)
{
	struct record soon = article;
	int64_t now = store_fixture_time("2025-09-18T12:00:00Z");

	soon.day = "2025-09-18";
	store_fixture_subscribe(fixture, ADA, "UTC", "yeast", now);
	save(fixture, &preprint);
	assert_digests(fixture, now, 1);
	save(fixture, &soon);
	assert_digests(fixture, now + CLOCK_DAY_S, 0);
	store_fixture_run(fixture,
	    "UPDATE outbox SET state = 'FAILED', ended_at = queued_at,"
	    " next_try_at = NULL; UPDATE digest SET state = 'failed'");
	assert_digests(fixture, now + 2 * CLOCK_DAY_S, 1);
	assert_rows(fixture, SENT,
	    "doi:10.1101/|- doi:10.1091/|preprint: 10.1101/2025.09.17.676679");
}

/* A search counts a work once, as does a private feed, which keeps the record that was
 * found first. */
STORE_TEST(a_work_is_shown_once)
{
	struct record soon = article;
	const struct search_scope scope = {.now = day_start("2025-09-20")};
	g_autoptr(GError) error = NULL;

	soon.day = "2025-09-19";
	send_preprint(fixture, "SELECT 1");
	save(fixture, &soon);
	for (int i = 0; i < 2; i++) {
		/* Decided by FTS5, and by the evaluator. */
		pb_auto(search_answer) answer = search_run(fixture->store,
		    i ? "yeast AND NOT upvotes:>5" : "yeast", &scope, 10, NULL, &error);

		g_assert_no_error(error);
		g_assert_cmpuint(answer->found, ==, 1);
		g_assert_cmpuint(answer->results->len, ==, 1);
	}
	assert_digests_at(fixture, "2025-09-19T12:00:00Z", 0);
	{
		g_autoptr(GPtrArray) entries =
		    private_feeds_load(fixture->store, 1, 0, 10, &error);

		g_assert_no_error(error);
		g_assert_cmpuint(entries->len, ==, 1);
		g_assert_cmpint(
		    ((const struct private_feed_entry *)entries->pdata[0])->paper_seq,
		    ==, 1);
	}
}

/* ---- retractions ---- */

static void
save_notice(struct store_fixture *fixture, const char *of, const char *at)
{
	struct record notice = {
	    "doi:10.5555/notice", "Retraction notice", "Editors", "2025-10-01", of};
	struct paper *paper = make(&notice);

	paper->is_notice = true;
	store_fixture_save(
	    fixture, "journal", "2025-10-01", store_fixture_time(at), paper);
}

#define NOTICES                                                                  \
	"SELECT g.id, h.notices FROM digest g JOIN digest_head h ON h.id = g.id" \
	" ORDER BY g.id"
#define RETRACTED                                                                     \
	"A paper that you were sent on 2025-09-18 was retracted: \"RETRACTED: " TITLE \
	"\" (" PREPRINT ")"

/* Once, to whom the paper was sent, also if nothing else is new. */
STORE_TEST(a_retraction_is_reported_once)
{
	send_preprint(fixture, "SELECT 1");
	/* Somebody who was sent nothing. */
	store_fixture_subscribe(fixture, "bob@example.org", "UTC", "robots",
	    store_fixture_time("2025-09-18T12:00:00Z"));
	save_notice(fixture, "10.1101/2025.09.17.676679", "2025-10-01T09:00:00Z");
	save_notice(fixture, "10.1101/2025.09.17.676679", "2025-10-01T10:00:00Z");
	save_notice(fixture, "10.5555/unknown", "2025-10-01T10:00:00Z");
	assert_rows(fixture, "SELECT count(*) FROM paper", "1");
	assert_digests_at(fixture, "2025-10-01T12:00:00Z", 1);
	assert_rows(fixture, NOTICES " DESC LIMIT 1", "2|" RETRACTED);
	/* The digest is lost, and so comes again. */
	store_fixture_run(fixture,
	    "UPDATE outbox SET state = 'FAILED', ended_at = queued_at,"
	    " next_try_at = NULL WHERE ended_at IS NULL;"
	    " UPDATE digest SET state = 'failed' WHERE state = 'live'");
	assert_digests_at(fixture, "2025-10-02T12:00:00Z", 1);
	assert_rows(fixture, NOTICES " DESC LIMIT 1", "3|" RETRACTED);
	send_all(fixture, store_fixture_time("2025-10-02T12:00:00Z"));
	/* The source still lists it under its old title. */
	save(fixture, &preprint);
	assert_rows(fixture, "SELECT title FROM paper", "RETRACTED: " TITLE);
	assert_digests_at(fixture, "2025-10-03T12:00:00Z", 0);
}

/* The article is retracted; the preprint was sent. */
STORE_TEST(a_retraction_is_that_of_the_work)
{
	struct record soon = article;

	soon.day = "2025-09-25";
	send_preprint(fixture, "SELECT 1");
	save(fixture, &soon);
	save_notice(fixture, "10.1091/mbc.E25-09-0454", "2025-10-01T09:00:00Z");
	assert_digests_at(fixture, "2025-10-01T12:00:00Z", 1);
	g_assert_cmpint(store_fixture_number(fixture,
	                    "SELECT count(*) FROM digest_head WHERE notices LIKE"
	                    " '%was retracted%' AND id = 2"),
	    ==, 1);
}

/* A publisher changes the title itself; what is new has no report. */
STORE_TEST(a_title_says_that_a_paper_was_retracted)
{
	struct record changed = preprint;

	changed.title = "RETRACTED: " TITLE;
	save(fixture, &changed);
	assert_rows(fixture, "SELECT count(*) FROM paper_event", "0");
	store_fixture_run(fixture, "UPDATE paper SET title = 'On yeast'");
	save(fixture, &changed);
	assert_rows(fixture, "SELECT paper_seq FROM paper_event", "1");
	g_assert_true(paper_is_retracted("[Retracted] On yeast"));
	g_assert_true(paper_is_retracted("RETRACTED ARTICLE: On yeast"));
	g_assert_false(paper_is_retracted("Retracted horns of snails"));
}

static void
look_up(struct store_fixture *fixture, const struct record *record, bool is_notice)
{
	g_autoptr(GPtrArray) papers =
	    g_ptr_array_new_with_free_func((GDestroyNotify)paper_free);
	g_autoptr(GError) error = NULL;
	struct papers_saved saved;
	struct paper *paper = make(record);

	paper->is_notice = is_notice;
	g_ptr_array_add(papers, paper);
	papers_save_lookup(fixture->store, PAPER_LOOKUP_CROSSREF, papers, NULL,
	    store_fixture_time("2025-10-01T09:00:00Z"), &saved, &error);
	g_assert_no_error(error);
}

/* Of a notice, which is no record of the paper, and of a paper itself. */
STORE_TEST(a_lookup_finds_a_retraction)
{
	struct record notice = {"doi:10.5555/notice", "On a paper about yeast",
	    "Editors", "2025-10-01", NULL};
	struct record retracted = article;

	send_preprint(fixture, "SELECT 1");
	save(fixture, &notice);
	notice.states = "10.1101/2025.09.17.676679";
	look_up(fixture, &notice, true);
	assert_rows(fixture, "SELECT title, work IS NULL FROM paper ORDER BY seq",
	    "RETRACTED: " TITLE "|1 On a paper about yeast|1");
	assert_digests_at(fixture, "2025-10-01T12:00:00Z", 1);
	assert_rows(fixture, NOTICES " DESC LIMIT 1", "2|" RETRACTED);
	save(fixture, &article);
	retracted.title = "RETRACTED: Another title";
	look_up(fixture, &retracted, false);
	assert_rows(fixture, "SELECT title FROM paper WHERE id = '" ARTICLE "'",
	    "RETRACTED: " TITLE);
}

/* ---- watched papers ---- */

static void
watch(struct store_fixture *fixture, const char *id, const char *at)
{
	int64_t now = store_fixture_time(at);
	g_autoptr(GError) error = NULL;

	paper_events_watch(fixture->store, 1, load_seq(fixture, id), now,
	    now + 365 * (int64_t)CLOCK_DAY_S, &error);
	g_assert_no_error(error);
}

/* A work is watched once, by whichever records, and unwatched by any of them. */
STORE_TEST(all_records_of_a_work_are_watched_as_one)
{
	g_autoptr(GError) error = NULL;
	bool is_watched;

	send_preprint(fixture, "SELECT 1");
	save(fixture, &article);
	watch(fixture, PREPRINT, "2025-09-18T13:00:00Z");
	watch(fixture, ARTICLE, "2025-09-19T13:00:00Z");
	{
		g_autoptr(GPtrArray) watched = paper_events_load_watched(fixture->store,
		    1, store_fixture_time("2025-09-20T09:00:00Z"), &error);

		g_assert_no_error(error);
		g_assert_cmpuint(watched->len, ==, 1);
	}
	paper_events_unwatch(
	    fixture->store, 1, load_seq(fixture, ARTICLE), &is_watched, &error);
	g_assert_no_error(error);
	g_assert_true(is_watched);
	assert_rows(fixture, "SELECT count(*) FROM watch", "0");
}

#define ENDS(day)                               \
	WATCHED PREPRINT "): this ends on " day \
	                 ". For another year, reply: watch " PREPRINT
#define WATCHED "You watch \"" TITLE "\" ("

/* Each event once, on its own, to who watches the paper or a record of its work. */
STORE_TEST(what_becomes_of_a_watched_paper_is_reported)
{
	struct record soon = article;
	struct paper *paper;

	soon.day = "2025-09-25";
	send_preprint(fixture, "SELECT 1");
	watch(fixture, PREPRINT, "2025-09-18T13:00:00Z");
	/* A second version, listed on two days by two polls each. */
	for (int i = 0; i < 4; i++)
		store_fixture_announce(fixture, "biorxiv",
		    i < 2 ? "2025-09-19" : "2025-09-20",
		    store_fixture_time("2025-09-20T09:00:00Z"), make(&preprint),
		    LISTING_REPLACE, 2);
	assert_digests_at(fixture, "2025-09-20T12:00:00Z", 1);
	assert_rows(fixture, NOTICES " DESC LIMIT 1",
	    "2|" WATCHED PREPRINT "): version 2 is out");
	send_all(fixture, store_fixture_time("2025-09-20T12:00:00Z"));
	paper = make(&preprint);
	paper->code_url = g_strdup("https://example.org/code");
	store_fixture_save(fixture, "hf", "2025-09-21",
	    store_fixture_time("2025-09-21T09:00:00Z"), paper);
	assert_digests_at(fixture, "2025-09-21T12:00:00Z", 1);
	assert_rows(fixture, NOTICES " DESC LIMIT 1",
	    "3|" WATCHED PREPRINT "): it has code now: https://example.org/code");
	send_all(fixture, store_fixture_time("2025-09-21T12:00:00Z"));
	assert_digests_at(fixture, "2025-09-22T12:00:00Z", 0);
	paper = make(&soon);
	paper_add_journal_name(paper, g_strdup("Molecular Biology of the Cell"));
	paper_add_journal_name(paper, g_strdup("Mol Biol Cell"));
	store_fixture_save(fixture, "pubmed", "2025-09-25",
	    store_fixture_time("2025-09-25T09:00:00Z"), paper);
	assert_digests_at(fixture, "2025-09-25T12:00:00Z", 1);
	assert_rows(fixture, NOTICES " DESC LIMIT 1",
	    "4|" WATCHED ARTICLE
	    "): it was published in Molecular Biology of the Cell");
	send_all(fixture, store_fixture_time("2025-09-25T12:00:00Z"));
	save_notice(fixture, "10.1091/mbc.E25-09-0454", "2025-10-01T09:00:00Z");
	assert_digests_at(fixture, "2025-10-01T12:00:00Z", 1);
	g_assert_cmpint(store_fixture_number(fixture,
	                    "SELECT count(*) FROM digest_head WHERE id = 5 AND"
	                    " notices LIKE 'You watch%it was retracted'"),
	    ==, 1);
}

/* The article of a paper of arXiv with the same title is merged with it. */
STORE_TEST(an_article_that_is_merged_is_reported)
{
	static const struct record of_arxiv = {
	    "2511.01234", TITLE, "Yonghao Zhao", "2026-09-01", NULL};

	save(fixture, &of_arxiv);
	store_fixture_subscribe(
	    fixture, "ada@example.org", "UTC", "yeast", day_start("2026-09-01"));
	watch(fixture, "2511.01234", "2026-09-02T13:00:00Z");
	for (int i = 0; i < 2; i++) {
		struct paper *paper = make(&article);

		paper->journal = g_strdup("Cell");
		store_fixture_save(fixture, "pubmed", article.day,
		    store_fixture_time("2026-09-20T09:00:00Z"), paper);
	}
	assert_rows(fixture, "SELECT count(*) FROM paper", "1");
	assert_rows(fixture, "SELECT kind FROM paper_event", "published");
}

/* Neither what happened before, nor what happens after a year, nor to others. */
STORE_TEST(a_paper_is_watched_from_then_on_for_a_year)
{
	bool is_watched;

	send_preprint(fixture, "SELECT 1");
	store_fixture_announce(fixture, "biorxiv", "2025-09-19",
	    store_fixture_time("2025-09-19T09:00:00Z"), make(&preprint),
	    LISTING_REPLACE, 2);
	assert_rows(fixture, "SELECT count(*) FROM paper_event", "0");
	watch(fixture, PREPRINT, "2025-09-19T10:00:00Z");
	store_fixture_announce(fixture, "biorxiv", "2025-09-19",
	    store_fixture_time("2025-09-19T11:00:00Z"), make(&preprint),
	    LISTING_REPLACE, 2);
	assert_rows(fixture, "SELECT count(*) FROM paper_event", "0");
	store_fixture_announce(fixture, "biorxiv", "2026-09-20",
	    store_fixture_time("2026-09-20T09:00:00Z"), make(&preprint),
	    LISTING_REPLACE, 3);
	assert_digests_at(fixture, "2026-09-20T12:00:00Z", 0);
	maintain(fixture, "2026-09-21");
	assert_rows(fixture, "SELECT count(*) FROM watch", "0");
	watch(fixture, PREPRINT, "2026-09-21T10:00:00Z");
	paper_events_unwatch(fixture->store, 1, 1, &is_watched, NULL);
	g_assert_true(is_watched);
	assert_rows(fixture, "SELECT count(*) FROM watch", "0");
}

/* In the first digest of its last month; alone a week before, if there was none. */
STORE_TEST(the_end_of_a_watch_is_told_once)
{
	static const struct record other = {
	    "2708.00001", "More yeast", "Example, A.", "2027-08-20", NULL};

	send_preprint(fixture, "SELECT 1");
	watch(fixture, PREPRINT, "2025-09-18T13:00:00Z");
	assert_digests_at(fixture, "2026-08-20T12:00:00Z", 0);
	assert_digests_at(fixture, "2026-09-10T12:00:00Z", 0);
	assert_digests_at(fixture, "2026-09-11T12:00:00Z", 1);
	assert_rows(fixture, NOTICES " DESC LIMIT 1", "2|" ENDS("2026-09-18"));
	send_all(fixture, store_fixture_time("2026-09-11T12:00:00Z"));
	assert_digests_at(fixture, "2026-09-12T12:00:00Z", 0);
	watch(fixture, PREPRINT, "2026-09-13T10:00:00Z");
	assert_digests_at(fixture, "2026-09-14T12:00:00Z", 0);
	save(fixture, &other);
	assert_digests_at(fixture, "2027-08-20T12:00:00Z", 1);
	assert_rows(fixture, NOTICES " DESC LIMIT 1", "3|" ENDS("2027-09-13"));
	send_all(fixture, store_fixture_time("2027-08-20T12:00:00Z"));
	assert_digests_at(fixture, "2027-09-12T12:00:00Z", 0);
}

/* Somebody whose mail is paused cannot be told; nobody asks services for them. */
STORE_TEST(a_watch_does_not_end_in_a_pause)
{
	int64_t due = store_fixture_time("2026-12-24T12:00:00Z");
	bool is_watched, was_asked;

	send_preprint(fixture, "SELECT 1");
	watch(fixture, PREPRINT, "2025-09-18T13:00:00Z");
	for (int i = 0; i < 2; i++) {
		paper_events_find_watched(fixture->store, 1, due - 200 * CLOCK_DAY_S,
		    &is_watched, &was_asked, NULL);
		g_assert_cmpint(is_watched, ==, i == 0);
		store_fixture_run(fixture, "UPDATE subscriber SET state = 'paused'");
	}
	maintain(fixture, "2026-09-01");
	maintain(fixture, "2026-12-01");
	store_fixture_run(fixture, "UPDATE subscriber SET state = 'active'");
	assert_digests_at(fixture, "2026-12-25T12:00:00Z", 1);
	assert_rows(fixture,
	    "SELECT count(*) FROM digest_head WHERE notices LIKE"
	    "'You watch%this ends on 2026-12-31%'",
	    "1");
}

/* The digest that reported it is deleted before the time of the event comes. */
STORE_TEST(an_event_of_a_wrong_clock_is_reported_once)
{
	int64_t now = store_fixture_time("2025-09-19T12:00:00Z");
	struct paper *paper = make(&preprint);

	send_preprint(fixture, "SELECT 1");
	watch(fixture, PREPRINT, "2025-09-18T13:00:00Z");
	paper->comment = g_strdup("12 pages");
	store_fixture_announce(fixture, "biorxiv", "2025-09-19",
	    store_fixture_time("2025-10-15T09:00:00Z"), paper, LISTING_REPLACE, 2);
	assert_digests(fixture, now, 1);
	assert_rows(fixture, NOTICES " DESC LIMIT 1",
	    "2|" WATCHED PREPRINT "): version 2 is out: 12 pages");
	send_all(fixture, now);
	maintain(fixture, "2025-09-20");
	maintain(fixture, "2025-10-22");
	assert_rows(fixture, "SELECT count(*) FROM digest", "0");
	assert_digests_at(fixture, "2025-10-22T12:00:00Z", 0);
}

UNIT_MAIN
