/*
 * test_paper_dedup.c - one paper is one row, for all sources in any order.
 */
#include <stdlib.h>
#include <string.h>

#include "base/day.h"
#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/texts.h"
#include "lib/unit.h"
#include "model/paper_id.h"
#include "service/match/match.h"
#include "sources/feed.h"
#include "store/core/transaction.h"
#include "store/mail/digests.h"
#include "store/paper/paper_dedup.h"
#include "store/paper/paper_history.h"
#include "store/paper/papers.h"

#define DAY  "2026-11-18"
#define NOON "2026-11-18T12:00:00Z"
#define LONG "A made-up way to merge papers"

static GPtrArray *
list_of(const char *text)
{
	GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
	g_auto(GStrv) parts = g_strsplit(text, "|", -1);

	for (char **part = parts; *part; part++)
		if (**part)
			g_ptr_array_add(list, g_strdup(*part));
	return list;
}

/* Values of one field from two sources, and the value that is stored in either order.
 */
struct row {
	const char *field;
	enum paper_source_rank one, other;
	const char *reported, *too; /* "" if not reported */
	const char *stored;
};

static const struct row rows[] = {
    {"id", 0, 2, "doi:10.1/x", "2611.00001", "2611.00001"},
    {"id", 0, 0, "nature:abc", "doi:10.1/x", "doi:10.1/x"},
    {"title", PAPER_SOURCE_RANK_HF, PAPER_SOURCE_RANK_ARXIV, "of hf", "of arXiv",
        "of arXiv"},
    {"title", PAPER_SOURCE_RANK_HF, PAPER_SOURCE_RANK_FEED, "of hf", "of a feed",
        "of hf"},
    {"abstract", PAPER_SOURCE_RANK_FEED, PAPER_SOURCE_RANK_ARXIV, "short", "longer",
        "longer"},
    {"abstract", PAPER_SOURCE_RANK_HF, PAPER_SOURCE_RANK_ARXIV, "words", "", "words"},
    {"authors", PAPER_SOURCE_RANK_HF, PAPER_SOURCE_RANK_ARXIV, "A|B|C", "A|B", "A|B|C"},
    {"authors", PAPER_SOURCE_RANK_HF, PAPER_SOURCE_RANK_ARXIV, "A|B", "A. A|B. B",
        "A. A|B. B"},
    {"url", PAPER_SOURCE_RANK_HF, PAPER_SOURCE_RANK_ARXIV,
        "https://huggingface.co/papers/1", "https://arxiv.org/abs/1",
        "https://huggingface.co/papers/1"},
    {"url", PAPER_SOURCE_RANK_FEED, PAPER_SOURCE_RANK_ARXIV, "https://example.org/1",
        "https://arxiv.org/abs/1", "https://arxiv.org/abs/1"},
    {"categories", PAPER_SOURCE_RANK_FEED, PAPER_SOURCE_RANK_ARXIV, "cs.AI",
        "cs.CL|cs.AI", "cs.CL|cs.AI"},
    {"journal", PAPER_SOURCE_RANK_FEED, PAPER_SOURCE_RANK_ARXIV, "Made Up",
        "J. Made Up 3", "J. Made Up 3"},
    {"journal", PAPER_SOURCE_RANK_HF, PAPER_SOURCE_RANK_FEED, "", "Made Up", "Made Up"},
    {"doi", PAPER_SOURCE_RANK_HF, PAPER_SOURCE_RANK_ARXIV, "", "10.1/x", "10.1/x"},
    {"comment", PAPER_SOURCE_RANK_FEED, PAPER_SOURCE_RANK_ARXIV, "", "12 pages",
        "12 pages"},
    {"published_at", PAPER_SOURCE_RANK_FEED, PAPER_SOURCE_RANK_ARXIV, "200", "100",
        "100"},
    {"upvotes", PAPER_SOURCE_RANK_HF, PAPER_SOURCE_RANK_ARXIV, "7", "", "7"},
    {"code_url", PAPER_SOURCE_RANK_HF, PAPER_SOURCE_RANK_ARXIV, "https://example.org/c",
        "", "https://example.org/c"},
    {"keywords", PAPER_SOURCE_RANK_HF, PAPER_SOURCE_RANK_ARXIV, "a|b", "", "a|b"},
};

static struct paper *
make(const struct row *row, enum paper_source_rank source_rank, const char *value)
{
	struct paper *paper = store_fixture_paper("x", "T", "");
	const struct {
		const char *name;
		char **text;
	} texts[] = {{"id", &paper->id}, {"title", &paper->title},
	    {"abstract", &paper->abstract}, {"url", &paper->url},
	    {"journal", &paper->journal}, {"doi", &paper->doi},
	    {"comment", &paper->comment}, {"code_url", &paper->code_url}};

	paper->source_rank = source_rank;
	if (!*value)
		return paper;
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		if (strcmp(row->field, texts[i].name) == 0) {
			g_free(*texts[i].text);
			*texts[i].text = g_strdup(value);
		}
	if (strcmp(row->field, "authors") == 0) {
		g_ptr_array_unref(paper->authors);
		paper->authors = list_of(value);
	} else if (strcmp(row->field, "categories") == 0) {
		paper->categories = list_of(value);
	} else if (strcmp(row->field, "keywords") == 0) {
		paper->keywords = list_of(value);
	} else if (strcmp(row->field, "published_at") == 0) {
		paper->published_at = g_ascii_strtoll(value, NULL, 10);
	} else if (strcmp(row->field, "upvotes") == 0) {
		paper->upvotes = g_ascii_strtoll(value, NULL, 10);
	}
	return paper;
}

static char *
read_field(const struct row *row, const struct paper *paper)
{
	const struct {
		const char *name, *text;
	} texts[] = {{"id", paper->id}, {"title", paper->title},
	    {"abstract", paper->abstract}, {"url", paper->url},
	    {"journal", paper->journal}, {"doi", paper->doi},
	    {"comment", paper->comment}, {"code_url", paper->code_url}};

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		if (strcmp(row->field, texts[i].name) == 0)
			return g_strdup(texts[i].text);
	if (strcmp(row->field, "authors") == 0)
		return texts_join(paper->authors);
	if (strcmp(row->field, "categories") == 0)
		return texts_join(paper->categories);
	if (strcmp(row->field, "keywords") == 0)
		return texts_join(paper->keywords);
	return g_strdup_printf("%" G_GINT64_FORMAT,
	    strcmp(row->field, "upvotes") == 0 ? paper->upvotes : paper->published_at);
}

TEST(fields_are_merged_by_rule_in_any_order)
{
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(paper) one = make(&rows[i], rows[i].one, rows[i].reported);
		pb_auto(paper) other = make(&rows[i], rows[i].other, rows[i].too);
		pb_auto(paper) forth = paper_dedup_merge(one, other);
		pb_auto(paper) back = paper_dedup_merge(other, one);
		pb_auto(paper) again = paper_dedup_merge(forth, one);
		g_autofree char *first = read_field(&rows[i], forth);
		g_autofree char *second = read_field(&rows[i], back);
		g_autofree char *third = read_field(&rows[i], again);

		g_test_message(
		    "%s: %s, %s", rows[i].field, rows[i].reported, rows[i].too);
		g_assert_cmpstr(first, ==, rows[i].stored);
		g_assert_cmpstr(second, ==, rows[i].stored);
		g_assert_cmpstr(third, ==, rows[i].stored);
	}
}

TEST(votes_that_fall_are_reported_too)
{
	static const struct row row = {"upvotes", 1, 1, "", "", ""};
	pb_auto(paper) stored = make(&row, PAPER_SOURCE_RANK_HF, "9");
	pb_auto(paper) reported = make(&row, PAPER_SOURCE_RANK_HF, "7");
	pb_auto(paper) merged = paper_dedup_merge(stored, reported);

	g_assert_cmpint(merged->upvotes, ==, 7);
}

/* A paper of a feed. @param guid, doi  or NULL */
static struct paper *
of_feed(const char *id, const char *guid, const char *doi, const char *title)
{
	struct paper *paper = store_fixture_paper(id, title, "Of a feed.");

	paper->guid = g_strdup(guid);
	paper->doi = g_strdup(doi);
	return paper;
}

static struct paper *
of_arxiv(const char *id, const char *doi, const char *title)
{
	struct paper *paper = store_fixture_paper(id, title, "Of arXiv.");

	paper->source_rank = PAPER_SOURCE_RANK_ARXIV;
	paper->doi = g_strdup(doi);
	paper->categories = list_of("cs.CL");
	return paper;
}

/* A source lists a paper, at NOON. */
static void
save(struct store_fixture *fixture, const char *source, struct paper *paper)
{
	store_fixture_save(fixture, source, DAY, store_fixture_time(NOON), paper);
}

#define IDS "SELECT id FROM paper ORDER BY seq"

/* @param short_name  or NULL */
static struct paper *
in_journal(const char *name, const char *short_name)
{
	struct paper *paper = of_feed("doi:10.5555/1", NULL, "10.5555/1", "T");

	paper_add_journal_name(paper, g_strdup(name));
	paper_add_journal_name(paper, g_strdup(short_name));
	return paper;
}

#define FULL      "Made-Up Review Letters"
#define SHORT     "M. Rev. Lett."
#define REVISIONS "SELECT journal, revision FROM paper"

STORE_TEST(a_journal_keeps_its_full_name_and_its_abbreviation)
{
	pb_auto(stored_paper) stored = NULL;

	/* A new listing would be a revision by itself. */
	save(fixture, "list", in_journal(SHORT, NULL));
	assert_rows(fixture, REVISIONS, SHORT "|1");
	save(fixture, "list", in_journal(FULL, SHORT));
	assert_rows(fixture, REVISIONS, FULL "\n" SHORT "|2");
	/* The name alone, the abbreviation alone, and another one change nothing. */
	save(fixture, "list", in_journal(FULL, NULL));
	save(fixture, "list", in_journal(SHORT, NULL));
	save(fixture, "list", in_journal(FULL, "M Rev Lett"));
	save(fixture, "list", in_journal(FULL, SHORT));
	assert_rows(fixture, REVISIONS, FULL "\n" SHORT "|2");
	stored = papers_load_id(fixture->store, "doi:10.5555/1", NULL);
	g_assert_cmpstr(stored->paper->journal, ==, FULL);
	g_assert_cmpuint(stored->paper->journal_names->len, ==, 1);
	/* An abbreviation that is the name is not stored. */
	store_fixture_run(fixture, "UPDATE paper SET journal = NULL");
	save(fixture, "list", in_journal("Cell", "Cell"));
	assert_rows(fixture, "SELECT journal FROM paper", "Cell");
}

STORE_TEST(a_paper_is_found_by_any_of_its_names)
{
	save(fixture, "nature",
	    of_feed("doi:10.1000/x", "nature:1", "10.1000/x", LONG " once"));
	/* By DOI, under another title. */
	save(fixture, "arxiv/cs.CL",
	    of_arxiv("2611.00001", "10.1000/x", "Quite another title than the first"));
	assert_rows(fixture, IDS, "2611.00001");
	/* By id only; by the source's identifier, now without a DOI. */
	save(fixture, "hf", store_fixture_paper("2611.00001", "Short", "Of hf."));
	save(fixture, "nature", of_feed("nature:h", "nature:1", NULL, LONG));
	assert_rows(fixture, IDS, "2611.00001");
	/* By title and first author: only letters are compared. */
	save(fixture, "lab",
	    of_feed("lab:1", "lab:1", NULL, "A Made-Up way, to merge PAPERS, once"));
	assert_rows(fixture, IDS, "2611.00001");
	assert_rows(fixture, "SELECT source FROM listing ORDER BY 1",
	    "arxiv/cs.CL hf lab nature");
	assert_rows(
	    fixture, "SELECT title FROM paper", "Quite another title than the first");
}

STORE_TEST(papers_with_a_shared_alias_may_differ)
{
	/* Two ids of arXiv, two DOIs, two entries of one feed. */
	save(fixture, "arxiv/cs.CL", of_arxiv("2611.00001", NULL, LONG));
	save(fixture, "arxiv/cs.CL", of_arxiv("2611.00002", NULL, LONG));
	save(fixture, "nature", of_feed("doi:10.1/a", "nature:1", "10.1/a", LONG "s"));
	save(fixture, "nature", of_feed("doi:10.1/b", "nature:2", "10.1/b", LONG "s"));
	save(fixture, "lab", of_feed("lab:1", "lab:1", NULL, LONG "t"));
	save(fixture, "lab", of_feed("lab:2", "lab:2", NULL, LONG "t"));
	/* Too short to distinguish papers. */
	save(fixture, "lab", of_feed("lab:3", "lab:3", NULL, "Editorial"));
	save(fixture, "nature", of_feed("nature:4", "nature:4", NULL, "Editorial"));
	assert_rows(fixture, "SELECT count(*) FROM paper", "8");
}

STORE_TEST(names_that_papers_had_do_not_join_others)
{
	/* arXiv corrects the DOI of a paper that a feed goes on listing with the first.
	 */
	save(fixture, "nature", of_feed("doi:10.1/a", "nature:1", "10.1/a", LONG));
	save(fixture, "arxiv/cs.CL", of_arxiv("2611.00001", "10.1/a", LONG));
	save(fixture, "arxiv/cs.CL", of_arxiv("2611.00001", "10.1/b", LONG));
	for (int i = 0; i < 3; i++)
		save(fixture, "nature",
		    of_feed("doi:10.1/a", "nature:1", "10.1/a", LONG));
	assert_rows(fixture, IDS, "2611.00001 doi:10.1/a");
	/* The DOI of one paper and the title of another. */
	save(fixture, "arxiv/cs.CL", of_arxiv("2611.00002", NULL, LONG " twice"));
	save(fixture, "lab", of_feed("doi:10.1/b", "lab:1", "10.1/b", LONG " twice"));
	assert_rows(fixture, IDS, "2611.00001 doi:10.1/a 2611.00002");
}

static void
enrich_doi(struct store_fixture *fixture, const char *id, const char *doi, int64_t now)
{
	g_autoptr(GPtrArray) papers =
	    g_ptr_array_new_with_free_func((GDestroyNotify)paper_free);
	struct papers_saved saved;

	g_ptr_array_add(papers, of_arxiv(id, doi, ""));
	NO_ERROR(papers_save_lookup(
	    fixture->store, PAPER_LOOKUP_ARXIV, papers, NULL, now, &saved, &error));
}

/* One from a feed and one from Hugging Face, identified by a DOI. */
static void
fill_two(struct store_fixture *fixture)
{
	save(
	    fixture, "nature", of_feed("doi:10.1000/x", "nature:1", "10.1000/x", LONG));
	save(fixture, "hf", store_fixture_paper("2611.00001", "Mamba", "Of hf."));
}

/* Authors type the DOIs that arXiv reports. */
STORE_TEST(a_wrong_doi_joins_no_paper_of_others)
{
	struct paper *other = of_feed("doi:10.1000/x", "nature:1", "10.1000/x", LONG);

	g_ptr_array_set_size(other->authors, 0);
	g_ptr_array_add(other->authors, g_strdup("Somebody Else"));
	save(fixture, "nature", other);
	save(fixture, "hf", store_fixture_paper("2611.00001", "Mamba", "Of hf."));
	enrich_doi(fixture, "2611.00001", "10.1000/x", store_fixture_time(NOON));
	assert_rows(fixture, "SELECT id, doi FROM paper ORDER BY 1",
	    "2611.00001|- doi:10.1000/x|10.1000/x");
}

STORE_TEST(two_rows_become_one_without_a_second_delivery)
{
	int64_t now = store_fixture_time(NOON);

	store_fixture_subscribe(
	    fixture, "ada@example.org", "UTC", "merge OR mamba", now);
	save(
	    fixture, "nature", of_feed("doi:10.1000/x", "nature:1", "10.1000/x", LONG));
	assert_digests(fixture, now, 1);
	store_fixture_run(fixture,
	    "INSERT INTO delivered_paper (subscriber_id, paper_seq, digest_id, at) "
	    "SELECT 1, paper_seq, digest_id, 1795000000"
	    " FROM digest_item;"
	    "UPDATE digest SET state = 'sent';"
	    "UPDATE outbox SET state = 'CANCELLED', ended_at = 5,"
	    " next_try_at = NULL");
	save(fixture, "hf", store_fixture_paper("2611.00001", "Mamba", "Of hf."));
	enrich_doi(fixture, "2611.00001", "10.1000/x", now);
	assert_rows(fixture, IDS, "2611.00001");
	assert_rows(fixture, "SELECT source FROM listing ORDER BY 1", "hf nature");
	assert_digests(fixture, now + CLOCK_DAY_S, 0);
	assert_rows(fixture, "SELECT count(*) FROM delivered_paper", "1");
	assert_rows(fixture, "SELECT count(*) FROM pragma_foreign_key_check", "0");
}

/* Both rows are in the digest, which has the paper once afterwards. */
static void
assert_digest_follows(struct store_fixture *fixture)
{
	g_autoptr(GError) error = NULL;
	pb_auto(digest) digest = digests_load(fixture->store, 1, &error);
	int64_t seq = store_fixture_number(fixture, "SELECT seq FROM paper");
	g_autoptr(GPtrArray) history =
	    paper_history_load_digests(fixture->store, 1, seq, &error);

	g_assert_no_error(error);
	g_assert_cmpuint(digest->entries->len, ==, 1);
	g_assert_cmpuint(history->len, ==, 1);
}

STORE_TEST(rows_in_queued_messages_are_merged_later)
{
	int64_t now = store_fixture_time(NOON);

	store_fixture_subscribe(
	    fixture, "ada@example.org", "UTC", "merge OR mamba", now);
	fill_two(fixture);
	assert_digests(fixture, now, 1);
	store_fixture_run(fixture,
	    "UPDATE outbox SET state = 'UNKNOWN', attempt = 1, claimed_at = 5");
	enrich_doi(fixture, "2611.00001", "10.1000/x", now);
	assert_rows(fixture, IDS, "doi:10.1000/x 2611.00001");
	assert_rows(fixture, "SELECT count(*) FROM paper_duplicate", "1");
	g_assert_true(papers_merge_duplicates(fixture->store, now, 10, NULL));
	assert_rows(fixture, "SELECT count(*) FROM paper", "2");
	store_fixture_run(fixture,
	    "UPDATE outbox SET state = 'CANCELLED', ended_at = 5,"
	    " next_try_at = NULL; UPDATE digest SET state = 'sent'");
	g_assert_true(papers_merge_duplicates(fixture->store, now, 10, NULL));
	assert_rows(fixture, IDS, "2611.00001");
	assert_rows(fixture, "SELECT count(*) FROM paper_duplicate", "0");
	assert_rows(fixture, "SELECT count(*) FROM pragma_foreign_key_check", "0");
	assert_digest_follows(fixture);
	/* Merged again. */
	store_fixture_run(fixture,
	    "INSERT INTO paper (id, title, abstract, authors, url, fetched_at,"
	    " first_seen_at, last_day, revision) SELECT 'third', title, '', '', url, 0,"
	    " 0, last_day, 0 FROM paper; UPDATE paper_moved SET new_seq = 3;"
	    "INSERT INTO paper_moved SELECT min(seq), 3 FROM paper;"
	    "UPDATE listing SET paper_seq = 3; UPDATE paper_alias SET paper_seq = 3;"
	    "DELETE FROM match; DELETE FROM paper WHERE seq < 3");
	assert_digest_follows(fixture);
}

STORE_TEST(text_of_merged_papers_is_frozen)
{
	int64_t now = store_fixture_time(NOON);

	store_fixture_subscribe(
	    fixture, "ada@example.org", "UTC", "merge OR mamba", now);
	save(
	    fixture, "nature", of_feed("doi:10.1000/x", "nature:1", "10.1000/x", LONG));
	assert_digests(fixture, now, 1);
	save(fixture, "hf", store_fixture_paper("2611.00001", "Mamba", "Of hf."));
	enrich_doi(fixture, "2611.00001", "10.1000/x", now);
	assert_rows(fixture, "SELECT count(*) FROM paper_moved", "1");
	store_fixture_run(fixture,
	    "UPDATE outbox SET state = 'UNKNOWN', attempt = 1, claimed_at = 5");
	save(fixture, "hf", store_fixture_paper("2611.00001", "Changed", "Another."));
	assert_rows(fixture, "SELECT count(*) FROM paper WHERE title = 'Changed'", "0");
	store_fixture_run(fixture,
	    "UPDATE outbox SET state = 'CANCELLED', ended_at = 5, next_try_at = NULL");
	save(fixture, "hf", store_fixture_paper("2611.00001", "Changed", "Another."));
	assert_rows(fixture, "SELECT count(*) FROM paper WHERE title = 'Changed'", "1");
}

/* Tables added later must be handled when two rows are merged. */
STORE_TEST(everything_that_names_a_paper_is_moved)
{
	assert_rows(fixture,
	    "SELECT m.name || '.' || f.\"from\" FROM sqlite_schema m,"
	    " pragma_foreign_key_list(m.name) f WHERE f.\"table\" = 'paper'"
	    " ORDER BY 1",
	    "digest_rejected.paper_seq feedback.paper_seq listing.paper_seq"
	    " match_pending.paper_seq paper_alias.paper_seq paper_duplicate.one_seq"
	    " paper_duplicate.other_seq paper_event.paper_seq paper_link.paper_seq"
	    " paper_moved.new_seq watch.paper_seq watch_check.paper_seq");
	/* Packed values are not changed: readers follow the move. */
	assert_rows(fixture,
	    "SELECT m.name || '.' || c.name FROM sqlite_schema m,"
	    " pragma_table_info(m.name) c WHERE m.type = 'table' AND c.type = 'BLOB'"
	    " AND m.name NOT IN ('inbox', 'outbox', 'taste')"
	    " AND m.name NOT LIKE 'paper_fts%' ORDER BY 1",
	    "delivered.papers digest.contents");
	/* A match is a list of papers: a foreign key cannot refer to it. */
	assert_rows(fixture,
	    "SELECT m.name || '.' || c.name FROM sqlite_schema m,"
	    " pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'papers'"
	    " AND c.type = 'TEXT'",
	    "match.papers");
}

/* For filters 1, 2, ...: "f@at:papers", and "f?paper" for pending matches. */
static void
assert_matches(struct store_fixture *fixture, const char *found, const char *waiting)
{
	assert_rows(fixture,
	    "SELECT filter_id || '@' || decided_at || ':' || papers FROM match"
	    " ORDER BY filter_id, decided_at",
	    found);
	assert_rows(fixture,
	    "SELECT filter_id || '?' || paper_seq FROM match_pending ORDER BY 1",
	    waiting);
}

STORE_TEST(matches_of_one_row_become_matches_of_the_other)
{
	static const char *const filters[] = {
	    "merge", "mamba", "zebra", "made-up", "way", "papers"};
	int64_t now = store_fixture_time(NOON);

	for (size_t i = 0; i < G_N_ELEMENTS(filters); i++) {
		g_autofree char *address = g_strdup_printf("p%zu@example.org", i);

		store_fixture_subscribe(fixture, address, "UTC", filters[i], now);
	}
	fill_two(fixture);
	/*
	 * Row 1 is merged into row 2: matched with others, alone, in another run, both,
	 * and pending for either.
	 */
	store_fixture_run(fixture,
	    "INSERT INTO paper (seq, id, title, abstract, authors, url, fetched_at,"
	    " first_seen_at, last_day, revision) SELECT 11, '2611.00011', title,"
	    " abstract, authors, url, fetched_at, first_seen_at, last_day, 11 FROM "
	    "paper"
	    " WHERE seq = 1;"
	    "INSERT INTO match VALUES (1, 5, '11,1'), (2, 5, '1'), (2, 6, '2'),"
	    " (3, 5, '1,11,2'), (6, 5, '1');"
	    "INSERT INTO match_pending VALUES (4, 1, 5, 9), (5, 1, 5, 9), (5, 2, 5, 9),"
	    " (6, 2, 5, 9)");
	enrich_doi(fixture, "2611.00001", "10.1000/x", now);
	assert_rows(fixture, IDS, "2611.00001 2611.00011");
	assert_matches(fixture, "1@5:11,2 2@6:2 3@5:11,2 6@5:2", "4?2 5?2");
	assert_rows(fixture, "SELECT count(*) FROM pragma_foreign_key_check", "0");
}

static void
run_once(struct store_fixture *fixture, int64_t now)
{
	struct match_report report = {0};

	NO_ERROR(match_run(fixture->store, now, &report, &error));
}

/* The text that a filter matched may be the one that is replaced. */
STORE_TEST(merge_does_not_lose_a_delivery)
{
	int64_t now = store_fixture_time(NOON);

	store_fixture_subscribe(fixture, "ada@example.org", "UTC", "merge", now);
	fill_two(fixture);
	store_fixture_run(
	    fixture, "UPDATE paper SET source_rank = 1 WHERE id = '2611.00001'");
	run_once(fixture, now);
	enrich_doi(fixture, "2611.00001", "10.1000/x", now);
	assert_rows(fixture, "SELECT title FROM paper", "Mamba");
	assert_digests(fixture, now, 1);
	assert_digests(fixture, now + CLOCK_DAY_S, 0);
}

static void
assert_final(struct store_fixture *fixture, const char *sql)
{
	g_autofree char *refusal = store_fixture_try(fixture, sql);

	g_assert_cmpstr(refusal, ==, "a match that was decided stays");
}

STORE_TEST(merge_changes_only_matches_of_merged_rows)
{
	static const char *const table[] = {"12", "1,2", "2,11", "11", "1", "11,2,3"};
	int64_t now = store_fixture_time(NOON);

	store_fixture_subscribe(fixture, "ada@example.org", "UTC", "merge", now);
	fill_two(fixture);
	store_fixture_run(fixture, "INSERT INTO match VALUES (1, 5, '11,1')");
	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		g_autofree char *sql =
		    g_strdup_printf("UPDATE match SET papers = '%s'", table[i]);

		assert_final(fixture, sql);
	}
	store_fixture_run(fixture, "INSERT INTO paper_duplicate VALUES (1, 2)");
	assert_final(fixture, "UPDATE match SET papers = '12'");
	store_fixture_run(fixture, "UPDATE match SET papers = '11,2'");
	store_fixture_run(fixture, "UPDATE match SET papers = '11'");
}

/* A reused number would belong to matches of the first paper. */
STORE_TEST(the_number_of_a_paper_that_went_is_not_used_again)
{
	int64_t now = store_fixture_time(NOON);

	save(fixture, "hf", store_fixture_paper("2611.00001", "Mamba", "Of hf."));
	save(
	    fixture, "nature", of_feed("doi:10.1000/x", "nature:1", "10.1000/x", LONG));
	enrich_doi(fixture, "2611.00001", "10.1000/x", now);
	save(fixture, "hf", store_fixture_paper("2611.00002", "Zebra", "Of hf."));
	assert_rows(fixture, "SELECT seq || ':' || id FROM paper ORDER BY seq",
	    "1:2611.00001 3:2611.00002");
}

static bool
unite_two(struct store_fixture *fixture, void *data, GError **error)
{
	g_autoptr(GPtrArray) papers =
	    g_ptr_array_new_with_free_func((GDestroyNotify)paper_free);
	struct papers_saved saved;
	pb_transaction transaction = {0};

	(void)data;
	g_ptr_array_add(papers, of_arxiv("2611.00001", "10.1000/x", ""));
	return store_begin(fixture->store, &transaction, error) &&
	       papers_save_lookup(fixture->store, PAPER_LOOKUP_ARXIV, papers, NULL,
	           store_fixture_time(NOON), &saved, error) &&
	       store_commit(&transaction, error);
}

STORE_TEST(uniting_is_whole_or_not_at_all)
{
	store_fixture_subscribe(fixture, "ada@example.org", "UTC", "merge OR mamba",
	    store_fixture_time(NOON));
	fill_two(fixture);
	run_once(fixture, store_fixture_time(NOON));
	g_assert_cmpuint(
	    store_fixture_fail_everywhere(fixture, unite_two, NULL, true), >, 10);
	assert_rows(fixture, IDS, "2611.00001");
}

STORE_TEST(source_lists_of_one_service_are_one_listing_a_day)
{
	pb_auto(stored_paper) stored = NULL;

	save(fixture, "arxiv/cs.CL", of_arxiv("2611.00001", NULL, LONG));
	save(fixture, "arxiv/cs.LG", of_arxiv("2611.00001", NULL, LONG));
	store_fixture_run(fixture, "UPDATE listing SET type = 'cross'"
	                           " WHERE source = 'arxiv/cs.CL'");
	stored = papers_load_id(fixture->store, "2611.00001", NULL);
	g_assert_cmpuint(stored->paper->listings->len, ==, 1);
	g_assert_cmpstr(
	    g_array_index(stored->paper->listings, struct paper_listing, 0).source, ==,
	    "arxiv");
	g_assert_cmpint(g_array_index(stored->paper->listings, struct paper_listing, 0)
	                    .listing_type,
	    ==, LISTING_NEW);
}

TEST(cross_lists_and_new_versions_are_for_those_who_want_them)
{
	static const struct {
		enum listing_type one, other;
		bool plain, crosslist, updates, both;
	} table[] = {
	    {LISTING_NEW, LISTING_NEW, 1, 1, 1, 1},
	    {LISTING_CROSS, LISTING_CROSS, 0, 1, 0, 1},
	    {LISTING_REPLACE, LISTING_REPLACE, 0, 0, 1, 1},
	    {LISTING_REPLACE_CROSS, LISTING_REPLACE_CROSS, 0, 0, 0, 1},
	    {LISTING_CROSS, LISTING_NEW, 1, 1, 1, 1},
	    {LISTING_REPLACE, LISTING_CROSS, 0, 1, 1, 1},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		pb_auto(paper) paper = store_fixture_paper("1", "T", "");

		paper_add_listing(paper, "arxiv", DAY, table[i].one);
		paper_add_listing(paper, "hf", DAY, table[i].other);
		g_assert_cmpint(
		    paper_matches_preferences(paper, false, false), ==, table[i].plain);
		g_assert_cmpint(paper_matches_preferences(paper, true, false), ==,
		    table[i].crosslist);
		g_assert_cmpint(paper_matches_preferences(paper, false, true), ==,
		    table[i].updates);
		g_assert_cmpint(
		    paper_matches_preferences(paper, true, true), ==, table[i].both);
	}
}

TEST(dois_are_read_in_their_dresses)
{
	CASES_FOREACH(row, "paper_dedup_dois", *text, *doi) {
		g_autofree char *doi = paper_id_parse_doi(row->text);

		g_assert_cmpstr(doi, ==, row->doi);
	}
}

#define HOME "https://example.org/blog/"

/* @param poll  feed and day of November 2026, then lines "title|link|guid|text|its day"
 */
static void
save_poll(struct store_fixture *fixture, const char *poll)
{
	g_auto(GStrv) lines = g_strsplit(poll, "\n", -1);
	g_auto(GStrv) head = g_strsplit(lines[0], " ", 2);
	GString *xml = g_string_new("<rss><channel><link>" HOME "</link>");
	g_autofree char *day = g_strdup_printf("2026-11-%02d", atoi(head[1]));
	const struct source_fetch batch = {
	    .source = head[0],
	    .day = day,
	    .fetched_at = day_start(day) + 43200,
	    .is_rolling = true,
	};
	g_autoptr(GPtrArray) listings = NULL;
	g_autoptr(GBytes) bytes = NULL;
	g_autoptr(GError) error = NULL;
	pb_auto(feed_xml) feed = NULL;
	struct papers_saved saved;

	for (char **line = lines + 1; *line; line++) {
		g_auto(GStrv) item = g_strsplit(*line, "|", -1);
		unsigned cells = g_strv_length(item);

		g_string_append_printf(xml,
		    "<item><title>%s</title><link>%s</link><guid>%s</guid>"
		    "<description>%s</description>",
		    item[0], item[1], item[2], cells > 3 ? item[3] : "");
		if (cells > 4)
			g_string_append_printf(
			    xml, "<pubDate>%s Nov 2026 06:00 GMT</pubDate>", item[4]);
		g_string_append(xml, "</item>");
	}
	g_string_append(xml, "</channel></rss>");
	bytes = g_string_free_to_bytes(xml);
	feed = feed_xml_parse(bytes, NULL, &error);
	g_assert_no_error(error);
	listings = feed_source_make_listings(feed, head[0], day);
	g_assert_true(
	    papers_save_fetch(fixture->store, &batch, listings, &saved, &error));
	g_assert_no_error(error);
}

TEST(entries_of_feeds_are_known_by_link_then_guid_then_title)
{
	CASES_FOREACH(row, "feed_polls", *name, *papers, *polls[3]) {
		pb_auto(store_fixture) fixture = store_fixture_new();

		g_test_message("%s", row->name);
		/* The second time the same documents change nothing. */
		for (size_t i = 0; i < 2 * G_N_ELEMENTS(row->polls); i++) {
			const char *poll = row->polls[i % G_N_ELEMENTS(row->polls)];

			if (poll)
				save_poll(fixture, poll);
			if (i % G_N_ELEMENTS(row->polls) == 2)
				assert_rows(
				    fixture, "SELECT count(*) FROM paper", row->papers);
		}
		/* No alias refers to a deleted row. */
		assert_rows(fixture,
		    "SELECT count(*) FROM paper_alias WHERE"
		    " paper_seq NOT IN (SELECT seq FROM paper)",
		    "0");
	}
}

/* Fetches are deleted after some time, while a feed fails or has nothing new. */
TEST(feed_without_stored_fetches_is_not_new)
{
	pb_auto(store_fixture) fixture = store_fixture_new();

	save_poll(fixture, "lab 18\nA|https://example.org/p/1|g1|Text|17");
	assert_rows(fixture, "SELECT max(day) FROM listing", "2026-11-17");
	store_fixture_run(fixture, "DELETE FROM source_fetch");
	save_poll(fixture, "lab 19\nB|https://example.org/p/2|g2|Text|10");
	assert_rows(fixture, "SELECT max(day) FROM listing", "2026-11-19");
}

/* Few, so that they collide. */
#define CHOICES 6
#define RUNS    4
#define STEPS   100

/* A paper of arXiv or of a feed, which shares its names with others. */
static struct paper *
make_random(GRand *rand, bool is_feed, const char *source)
{
	static const char *const titles[] = {
	    LONG, LONG " once", LONG " again", "Mamba"};
	const char *title = titles[g_rand_int_range(rand, 0, G_N_ELEMENTS(titles))];
	g_autofree char *arxiv =
	    g_strdup_printf("2611.%05d", g_rand_int_range(rand, 0, CHOICES));
	g_autofree char *doi =
	    g_rand_boolean(rand)
	        ? g_strdup_printf("10.1000/%d", g_rand_int_range(rand, 0, CHOICES))
	        : NULL;
	g_autofree char *guid =
	    g_strdup_printf("%s:%d", source, g_rand_int_range(rand, 0, CHOICES));
	g_autofree char *own = doi ? g_strconcat("doi:", doi, NULL) : g_strdup(guid);
	struct paper *paper;

	if (!is_feed)
		return of_arxiv(arxiv, doi, title);
	paper = of_feed(g_rand_int_range(rand, 0, 4) ? own : arxiv, guid, doi, title);
	if (g_rand_boolean(rand))
		paper->link = g_strdup_printf(
		    "link=example.org/%d", g_rand_int_range(rand, 0, CHOICES));
	paper->entry_key = paper_id_format_entry(source, title);
	return paper;
}

/* A batch of a source. */
static void
save_random(struct store_fixture *fixture, GRand *rand, int64_t now)
{
	static const char *const sources[] = {
	    "arxiv/cs.CL", "arxiv/cs.LG", "nature", "lab", "planet"};
	size_t i = (size_t)g_rand_int_range(rand, 0, G_N_ELEMENTS(sources));
	g_autoptr(GPtrArray) listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);
	const struct source_fetch fetch = {.source = sources[i],
	    .day = DAY,
	    .fetched_at = now,
	    .status = SOURCE_FETCH_OK,
	    .is_rolling = i >= 2};
	struct papers_saved saved;

	for (int left = g_rand_int_range(rand, 1, 4); left > 0; left--) {
		struct listing *listing =
		    listing_new(make_random(rand, i >= 2, sources[i]), DAY);

		listing->version = (unsigned)g_rand_int_range(rand, 0, 3);
		if (listing->version > 1)
			listing->listing_type = LISTING_REPLACE;
		g_ptr_array_add(listings, listing);
	}
	NO_ERROR(papers_save_fetch(fixture->store, &fetch, listings, &saved, &error));
}

static void
change_random(struct store_fixture *fixture, GRand *rand, int64_t now)
{
	g_autofree char *arxiv =
	    g_strdup_printf("2611.%05d", g_rand_int_range(rand, 0, CHOICES));
	g_autofree char *doi =
	    g_strdup_printf("10.1000/%d", g_rand_int_range(rand, 0, CHOICES));
	g_autoptr(GError) error = NULL;

	switch (g_rand_int_range(rand, 0, 12)) {
	case 0:
		store_fixture_build_digests(fixture, now);
		store_fixture_run(fixture,
		    "UPDATE outbox SET state = 'UNKNOWN', attempt = 1, claimed_at = 5"
		    " WHERE ended_at IS NULL");
		break;
	case 1:
		store_fixture_run(fixture,
		    "UPDATE outbox SET state = 'CANCELLED', ended_at = 5,"
		    " next_try_at = NULL WHERE ended_at IS NULL;"
		    "UPDATE digest SET state = 'sent'");
		break;
	case 2:
		papers_merge_duplicates(fixture->store, now, 10, &error);
		g_assert_no_error(error);
		break;
	case 3:
		enrich_doi(fixture, arxiv, doi, now);
		break;
	default:
		save_random(fixture, rand, now);
	}
}

/* Whatever sources list. */
TEST(papers_that_share_names_are_always_saved)
{
	for (guint32 seed = 104; seed < 104 + RUNS; seed++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
		int64_t now = store_fixture_time(NOON);

		g_test_message("seed %u", seed);
		store_fixture_subscribe(
		    fixture, "ada@example.org", "UTC", "merge OR mamba", now);
		store_fixture_run(fixture,
		    "CREATE TEMP TABLE lost (id TEXT);"
		    "CREATE TEMP TRIGGER lost_id AFTER UPDATE OF id ON paper"
		    " BEGIN INSERT INTO lost VALUES (OLD.id); END;"
		    "CREATE TEMP TRIGGER lost_row AFTER DELETE ON paper"
		    " BEGIN INSERT INTO lost VALUES (OLD.id); END");
		for (int i = 0; i < STEPS; i++)
			change_random(fixture, rand, now + i * 7200);
		assert_rows(fixture,
		    "SELECT p.id FROM paper p LEFT JOIN paper_alias a ON a.name = p.id"
		    " WHERE a.paper_seq IS DISTINCT FROM p.seq",
		    "");
		assert_rows(fixture,
		    "SELECT id FROM lost WHERE id GLOB '2611.*'"
		    " EXCEPT SELECT id FROM paper",
		    "");
		assert_rows(
		    fixture, "SELECT count(*) FROM pragma_foreign_key_check", "0");
	}
}

UNIT_MAIN
