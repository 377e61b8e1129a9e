/*
 * test_huggingface.c - parsing and fetching of Hugging Face Daily Papers.
 */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/cases.h"
#include "lib/paperserver.h"
#include "lib/unit.h"
#include "sources/huggingface.h"
#include "sources/json.h"

#define DAY "2026-11-18"

/* One page with one element; keys of paper after its id, and keys beside paper. */
#define PAGE(inner, outer) "[{\"paper\":{\"id\":\"2611.10010\"" inner "}" outer "}]"
#define TITLED(inner)      PAGE(",\"title\":\"T\"" inner, "")

static GPtrArray *
parse(const char *json, GError **error)
{
	g_autoptr(GBytes) bytes = g_bytes_new(json, strlen(json));
	struct json_page page = {.total = -1};
	GPtrArray *listings = huggingface_parse(bytes, NULL, DAY, &page, error);

	g_free(page.next);
	return listings ? source_merge_listings(listings) : NULL;
}

/* Parse a valid page with one paper. @return owned by the caller */
static struct listing *
parse_one(const char *json)
{
	g_autoptr(GPtrArray) listings = NO_ERROR(parse(json, &error));

	g_assert_cmpuint(listings->len, ==, 1);
	return g_ptr_array_steal_index(listings, 0);
}

TEST(a_nul_in_a_text_does_not_affect_the_day)
{
	pb_auto(listing) listing =
	    parse_one("[{\"paper\":{\"id\":\"2611.10010\",\"title\":\"A\\u0000 b\","
	              "\"summary\":\"\\u0000c\"}}]");

	g_assert_cmpstr(listing->paper->title, ==, "A b");
	g_assert_cmpstr(listing->paper->abstract, ==, "c");
}

TEST(a_whole_element_is_read)
{
	static const char json[] =
	    "[{\"paper\":{\"id\":\"2611.10010\",\"authors\":["
	    "{\"_id\":\"a\",\"name\":\"L\\u00e9a Mart\\\\'{\\\\i}n\",\"hidden\":false},"
	    "{\"name\":\"Hidden One\",\"hidden\":true},"
	    "{\"name\":\"  \"},{\"name\":7},\"bare\",{},"
	    "{\"name\":\"Bo Li\",\"user\":{\"user\":\"boli\"}}],"
	    "\"publishedAt\":\"2026-11-16T01:02:03.000Z\","
	    "\"submittedOnDailyAt\":\"2026-11-19T00:00:00.000Z\","
	    "\"title\":\"Fast \\\\& \\\"small\\\"\\n  <models>\","
	    "\"summary\":\"One.\\n  Two.\\n\\nThree.\",\"upvotes\":12,"
	    "\"projectPage\":\" http://example.org/p\","
	    "\"githubRepo\":\"https://github.com/a/b/tree/main/c\",\"githubStars\":3,"
	    "\"mediaUrls\":[\"https://example.org/a.png\",7,\"ftp://example.org/"
	    "b.mp4\","
	    "\"https://example.org/c.MP4?x=.png\",\"https://example.org/d.webm\"],"
	    "\"ai_keywords\":[\"state  space models\",7,\" \",\"RLHF\"],"
	    "\"organization\":{\"name\":\"ex\",\"fullname\":\"Example  Lab\"}},"
	    "\"publishedAt\":\"2026-11-15T20:02:03.000Z\",\"title\":\"outer\","
	    "\"summary\":\"outer\",\"upvotes\":99,\"numComments\":4,\"newKey\":[{}]}]";
	pb_auto(listing) listing = parse_one(json);
	struct paper *paper = listing->paper;

	g_assert_cmpstr(listing->day, ==, DAY);
	g_assert_cmpstr(paper->id, ==, "2611.10010");
	g_assert_cmpstr(paper->title, ==, "Fast & \"small\" <models>");
	g_assert_cmpstr(paper->abstract, ==, "One. Two. Three.");
	g_assert_cmpuint(paper->authors->len, ==, 2);
	g_assert_cmpstr(g_ptr_array_index(paper->authors, 0), ==, "Léa Martín");
	g_assert_cmpstr(g_ptr_array_index(paper->authors, 1), ==, "Bo Li");
	g_assert_cmpstr(paper->url, ==, "https://huggingface.co/papers/2611.10010");
	g_assert_cmpint(paper->published_at, ==, 1794790923);
	g_assert_cmpint(paper->upvotes, ==, 12);
	g_assert_cmpint(paper->comments, ==, 4);
	g_assert_cmpint(paper->stars, ==, 3);
	g_assert_cmpstr(paper->code_url, ==, "https://github.com/a/b/tree/main/c");
	g_assert_cmpstr(paper->project_url, ==, "http://example.org/p");
	g_assert_cmpstr(paper->organization, ==, "Example Lab");
	g_assert_cmpstr(paper->video_url, ==, "https://example.org/c.MP4?x=.png");
	g_assert_cmpuint(paper->keywords->len, ==, 2);
	g_assert_cmpstr(paper->keywords->pdata[0], ==, "state space models");
	g_assert_cmpstr(paper->keywords->pdata[1], ==, "RLHF");
}

TEST(optional_keys_may_be_missing_or_odd)
{
	static const char *const pages[] = {
	    TITLED(""),
	    TITLED(",\"summary\":null,\"authors\":null,\"upvotes\":null"),
	    TITLED(
	        ",\"summary\":5,\"authors\":{},\"upvotes\":\"12\",\"githubStars\":1.5"),
	    TITLED(",\"upvotes\":-1,\"githubRepo\":\"javascript:x\",\"projectPage\":\" "
	           "\""),
	    TITLED(
	        ",\"publishedAt\":\"2026-11-16\",\"organization\":{\"fullname\":\"\"}"),
	    PAGE(",\"title\":\"T\"", ",\"organization\":[],\"numComments\":true"),
	    TITLED(",\"ai_keywords\":[],\"mediaUrls\":[\"https://example.org/a.gif\"]"),
	    TITLED(
	        ",\"ai_keywords\":\"a\",\"mediaUrls\":\"https://example.org/a.mp4\""),
	    PAGE(",\"title\":\"T\"", ",\"mediaUrl\":\"https://example.org/.mp4x\""),
	};

	for (size_t i = 0; i < G_N_ELEMENTS(pages); i++) {
		pb_auto(listing) listing = parse_one(pages[i]);
		struct paper *paper = listing->paper;

		g_assert_cmpstr(paper->abstract, ==, "");
		g_assert_cmpuint(paper->authors->len, ==, 0);
		g_assert_cmpint(paper->published_at, ==, PAPER_UNKNOWN);
		g_assert_cmpint(paper->upvotes, ==, PAPER_UNKNOWN);
		g_assert_cmpint(paper->comments, ==, PAPER_UNKNOWN);
		g_assert_cmpint(paper->stars, ==, PAPER_UNKNOWN);
		g_assert_null(paper->code_url);
		g_assert_null(paper->project_url);
		g_assert_null(paper->organization);
		g_assert_null(paper->video_url);
		g_assert_null(paper->keywords);
	}
}

TEST(outer_fields_are_used_if_inner_ones_are_missing)
{
	pb_auto(listing) listing =
	    parse_one(PAGE("", ",\"title\":\"$\\\\mu$LO\",\"summary\":\"S\","
	                       "\"organization\":{\"fullname\":\"Lab\"},"
	                       "\"mediaUrl\":\"https://example.org/v.mp4\""));
	struct paper *paper = listing->paper;

	g_assert_cmpstr(paper->title, ==, "μLO");
	g_assert_cmpstr(paper->abstract, ==, "S");
	g_assert_cmpstr(paper->organization, ==, "Lab");
	g_assert_cmpstr(paper->video_url, ==, "https://example.org/v.mp4");
}

TEST(ids_stay_strings)
{
	CASES_FOREACH(row, "huggingface_ids", *id, *want) {
		g_autofree char *json = g_strdup_printf(
		    "[{\"paper\":{\"id\":%s,\"title\":\"T\"}}]", row->id);
		g_autoptr(GError) error = NULL;
		g_autoptr(GPtrArray) listings = parse(json, &error);

		g_test_message("%s", row->id);
		if (!row->want) {
			g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
			g_assert_null(listings);
			continue;
		}
		g_assert_no_error(error);
		g_assert_cmpstr(
		    ((struct listing *)g_ptr_array_index(listings, 0))->paper->id, ==,
		    row->want);
	}
}

TEST(times_are_read_strictly)
{
	CASES_FOREACH(row, "huggingface_times", *text, *at) {
		g_autofree char *json =
		    g_strdup_printf(TITLED(",\"publishedAt\":\"%s\""), row->text);
		pb_auto(listing) listing = parse_one(json);
		struct paper *paper = listing->paper;

		g_test_message("%s", row->text);
		g_assert_cmpint(paper->published_at, ==, cases_number(row->at));
	}
}

TEST(an_invalid_page_is_rejected_with_its_position)
{
	static const struct {
		const char *json;
		const char *says;
	} rows[] = {
	    {"", "line 1, column 0"},
	    {"[\n{\"paper\":{\"id\":\"2611.1", "line 2, column"},
	    {"[{}, {]", "line 1, column 7"},
	    {"<!doctype html>", "line 1, column 1"},
	    {"[\"\xFF\"]", "line 1"},
	    {"[\"\\ud800\"]", "line 1"},
	    {"[99999999999999999999]", "line 1"},
	    {"[] []", "line 1"},
	    {"{}", "not a JSON array"},
	    {"\"x\"", "not a JSON array"},
	    {"[5]", "element 0"},
	    {"[[]]", "element 0"},
	    {"[{\"paper\":{\"id\":\"a\",\"title\":\"t\"}},{\"paper\":5}]", "element 1"},
	    {"[{\"paper\":{\"title\":\"t\"}}]",
	        "element 0 of the list is malformed: paper.id"},
	    {PAGE("", ""), "blank title"},
	    {PAGE(",\"title\":5", ",\"title\":\"t\""), "paper.title is not a string"},
	    {PAGE(",\"title\":\"\"", ""), "blank title"},
	    {PAGE("", ",\"title\":5"), "blank title"},
	    {PAGE(",\"title\":\" \\u200b\\n \"", ""), "blank title"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *shown = g_strescape(rows[i].json, NULL);

		g_test_message("%s", shown);
		g_assert_null(parse(rows[i].json, &error));
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		if (!strstr(error->message, rows[i].says))
			g_error("'%s' lacks '%s'", error->message, rows[i].says);
	}
}

static char *
make_page(size_t papers)
{
	GString *json = g_string_new("[");

	for (size_t i = 0; i < papers; i++)
		g_string_append_printf(json,
		    "%s{\"paper\":{\"id\":\"a%zu\",\"title\":\"t\"}}", i ? "," : "", i);
	return g_string_free(g_string_append_c(json, ']'), FALSE);
}

TEST(a_repeated_paper_on_a_page_counts_once)
{
	static const char json[] =
	    "[{\"paper\":{\"id\":\"2611.10010\",\"title\":\"first\"}},"
	    "{\"paper\":{\"id\":\"2611.10010\",\"title\":\"again\"}},"
	    "{\"paper\":{\"id\":\"2611.10011\",\"title\":\"other\"}},"
	    "{\"paper\":{\"id\":\"2611.10010\",\"title\":\"thrice\"}},"
	    "{\"paper\":{\"id\":\"2611.10011\",\"title\":\"again\"}}]";
	static const char *const titles[] = {"first", "other"};
	g_autoptr(GPtrArray) listings = NO_ERROR(parse(json, &error));

	g_assert_cmpuint(listings->len, ==, G_N_ELEMENTS(titles));
	for (guint i = 0; i < listings->len; i++) {
		const struct listing *listing = g_ptr_array_index(listings, i);

		g_assert_cmpstr(listing->paper->title, ==, titles[i]);
	}
}

TEST(papers_per_page_are_limited)
{
	g_autofree char *at = make_page(BOUNDS_PAPERS_BATCH);
	g_autofree char *over = make_page(BOUNDS_PAPERS_BATCH + 1);
	g_autoptr(GPtrArray) listings = NO_ERROR(parse(at, &error));

	g_assert_cmpuint(listings->len, ==, BOUNDS_PAPERS_BATCH);
	FAILS(PB_ERROR_LIMIT, parse(over, &error));
}

TEST(values_per_page_are_limited)
{
	GString *json =
	    g_string_new("[{\"paper\":{\"id\":\"a\",\"title\":\",[{\"},\"x\":[1");
	g_autoptr(GPtrArray) listings = NULL;

	/* The document, and one for each "[", "{" and "," outside of strings. */
	for (size_t i = 1 + 6; i < BOUNDS_JSON_VALUES; i++)
		g_string_append(json, ",1");
	g_string_append(json, "]}]");
	listings = NO_ERROR(parse(json->str, &error));
	g_assert_cmpuint(listings->len, ==, 1);
	g_string_truncate(json, json->len - 3);
	g_string_append(json, ",1]}]");
	FAILS(PB_ERROR_LIMIT, parse(json->str, &error));
	g_string_free(json, TRUE);
}

TEST(texts_and_authors_are_cut_at_their_limits)
{
	g_autofree char *title = g_strnfill(BOUNDS_PAPER_TITLE_BYTES + 1, 't');
	g_autofree char *summary = g_strnfill(BOUNDS_PAPER_ABSTRACT_BYTES + 1, 's');
	g_autofree char *name = g_strnfill(BOUNDS_PAPER_AUTHOR_BYTES + 1, 'n');
	g_autofree char *id = g_strnfill(BOUNDS_PAPER_ID_BYTES + 1, 'i');
	g_autofree char *org = g_strnfill(BOUNDS_PAPER_ORG_BYTES + 1, 'o');
	g_autofree char *page = NULL;
	GString *json = g_string_new("[{\"paper\":{\"ai_keywords\":[\"");
	g_autofree char *keyword = g_strnfill(BOUNDS_PAPER_KEYWORD_BYTES + 1, 'k');
	pb_auto(listing) listing = NULL;
	struct paper *paper;

	g_string_append(json, keyword);
	for (size_t i = 0; i < BOUNDS_PAPER_KEYWORDS; i++)
		g_string_append(json, "\",\"k");
	g_string_append(json, "\"],\"authors\":[");
	for (size_t i = 0; i < BOUNDS_PAPER_AUTHORS + 1; i++)
		g_string_append_printf(
		    json, "%s{\"name\":\"%s\"}", i ? "," : "", i ? "n" : name);
	page = g_strconcat(json->str, "],\"title\":\"", title, "\",\"summary\":\"",
	    summary, "\",\"organization\":{\"fullname\":\"", org, "\"},\"id\":\"",
	    id + 1, "\"}}]", NULL);
	g_string_free(json, TRUE);
	listing = parse_one(page);
	paper = listing->paper;
	g_assert_cmpuint(strlen(paper->title), ==, BOUNDS_PAPER_TITLE_BYTES);
	g_assert_cmpuint(strlen(paper->abstract), ==, BOUNDS_PAPER_ABSTRACT_BYTES);
	g_assert_cmpuint(strlen(paper->id), ==, BOUNDS_PAPER_ID_BYTES);
	g_assert_cmpuint(strlen(paper->organization), ==, BOUNDS_PAPER_ORG_BYTES);
	g_assert_cmpuint(paper->keywords->len, ==, BOUNDS_PAPER_KEYWORDS);
	g_assert_cmpuint(
	    strlen(paper->keywords->pdata[0]), ==, BOUNDS_PAPER_KEYWORD_BYTES);
	g_assert_cmpuint(paper->authors->len, ==, BOUNDS_PAPER_AUTHORS);
	g_assert_cmpuint(strlen(g_ptr_array_index(paper->authors, 0)), ==,
	    BOUNDS_PAPER_AUTHOR_BYTES);
	g_free(page);
	page = g_strdup_printf("[{\"paper\":{\"id\":\"%s\",\"title\":\"t\"}}]", id);
	FAILS(PB_ERROR_INPUT, parse(page, &error));
}

TEST(error_texts_are_recognised)
{
	g_autoptr(GBytes) object = g_bytes_new_static("{\"error\":\"a\\n b\"}", 17);
	g_autoptr(GBytes) list = g_bytes_new_static("[]", 2);
	bool is_not_yet;
	g_autofree char *reported = huggingface_parse_error(object, &is_not_yet);

	CASES_FOREACH(row, "huggingface_errors", *text, *is_not_yet) {
		g_autofree char *json =
		    g_strdup_printf("{\"error\":\"%s\"}", row->text);
		g_autoptr(GBytes) bytes = g_bytes_new(json, strlen(json));

		g_test_message("%s", row->text);
		g_free(huggingface_parse_error(bytes, &is_not_yet));
		g_assert_cmpint(is_not_yet, ==, cases_is_yes(row->is_not_yet));
	}
	g_assert_cmpstr(reported, ==, "a b");
	g_assert_null(huggingface_parse_error(list, &is_not_yet));
}

static struct source *
make_source(const char *base)
{
	const struct source_options options = {.name = "hf", .url = base};

	return huggingface_new(&options);
}

static bool
fetch(const char *base, const char *day, const char *etag, struct source_answer *answer,
    GError **error)
{
	return paperserver_fetch(make_source(base), day, etag, answer, error);
}

TEST(answers_have_their_status_and_count)
{
	static const struct {
		const char *mode;
		const char *day;
		const char *etag;
		enum source_status status;
		size_t count;
		const char *got_etag;
	} rows[] = {
	    {"many", DAY, NULL, SOURCE_OK, 230, NULL},
	    {"hundred", DAY, NULL, SOURCE_OK, 100, NULL},
	    {"same", DAY, NULL, SOURCE_OK, 100, NULL},
	    {"papers-4999", DAY, NULL, SOURCE_OK, 4999, NULL},
	    {"empty", DAY, NULL, SOURCE_EMPTY, 0, NULL},
	    {"ok", "2026-11-21", NULL, SOURCE_EMPTY, 0, NULL},
	    {"future", DAY, NULL, SOURCE_NOT_YET, 0, NULL},
	    {"future", "2026-11-17", NULL, SOURCE_NOT_YET, 0, NULL},
	    {"future-200", DAY, NULL, SOURCE_NOT_YET, 0, NULL},
	    {"etag-raw", DAY, NULL, SOURCE_OK, 1, "0123abcd"},
	    {"etag-raw", DAY, "0123abcd", SOURCE_NOT_MODIFIED, 0, "0123abcd"},
	    {"etag-raw", DAY, "old", SOURCE_OK, 1, "0123abcd"},
	    {"gzip", DAY, NULL, SOURCE_OK, 1, NULL},
	    {"redirect-3", DAY, NULL, SOURCE_EMPTY, 0, NULL},
	};
	pb_auto(paperserver) server = paperserver_start(NULL, NULL);

	for (size_t i = 0; server && i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *base = paperserver_mode_url(server, rows[i].mode);
		source_answer_auto answer = {0};

		g_test_message("%s %s", rows[i].mode, rows[i].day);
		NO_ERROR(fetch(base, rows[i].day, rows[i].etag, &answer, &error));
		g_assert_cmpint(answer.status, ==, rows[i].status);
		g_assert_cmpuint(answer.count, ==, rows[i].count);
		g_assert_cmpstr(answer.etag, ==, rows[i].got_etag);
		g_assert_cmpint(
		    answer.listings != NULL, ==, rows[i].status == SOURCE_OK);
		if (answer.listings)
			g_assert_cmpuint(answer.listings->len, ==, answer.count);
	}
}

TEST(a_list_is_of_days_weeks_or_trending)
{
	static const struct {
		const char *list, *day, *query;
		size_t count;
	} rows[] = {
	    {"", DAY, "date=" DAY "&limit=100&p=0", 230},
	    {"days", DAY, "date=" DAY "&limit=100&p=0", 230},
	    {"weeks", "2026-11-18", "week=2026-W47&limit=100&p=0", 230},
	    {"weeks", "2027-01-02", "week=2026-W52&limit=100&p=0", 230},
	    {"weeks", "2027-01-04", "week=2027-W01&limit=100&p=0", 230},
	    {"trending", DAY, "sort=trending&limit=100&p=0", 100},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(paperserver) server = paperserver_start(NULL, NULL);
		g_autofree char *base =
		    server ? paperserver_mode_url(server, "many") : NULL;
		const struct source_options options = {
		    .name = "hf", .url = base, .list = rows[i].list};
		g_autofree char *line = NULL;
		source_answer_auto answer = {0};

		if (!server)
			return;
		g_assert_true(paperserver_fetch(
		    huggingface_new(&options), rows[i].day, NULL, &answer, NULL));
		g_assert_cmpuint(answer.count, ==, rows[i].count);
		line = paperserver_read_line(server);
		g_assert_nonnull(strstr(line, rows[i].query));
	}
}

TEST(failures_return_no_papers_and_the_retry_time)
{
	static const struct paperserver_failure rows[] = {
	    {"429", PB_ERROR_TEMPORARY, -1, "status 429"},
	    {"429-ratelimit", PB_ERROR_TEMPORARY, 292, "We had to rate limit you"},
	    {"429-retry", PB_ERROR_TEMPORARY, 120, "slow down"},
	    {"429-date", PB_ERROR_TEMPORARY, 86400, "slow down"},
	    {"late-429", PB_ERROR_TEMPORARY, 292, "status 429"},
	    {"500", PB_ERROR_TEMPORARY, -1, "status 500: Internal Error"},
	    {"503", PB_ERROR_TEMPORARY, 60, "status 503"},
	    {"close", PB_ERROR_TEMPORARY, -1, "cannot fetch"},
	    {"cut-length", PB_ERROR_TEMPORARY, -1, "cannot fetch"},
	    {"403", PB_ERROR_PERMANENT, -1, "You are blocked"},
	    {"404", PB_ERROR_PERMANENT, -1, "we can't find"},
	    {"error", PB_ERROR_PERMANENT, -1, "<=100 → at limit"},
	    {"204", PB_ERROR_PERMANENT, -1, "status 204"},
	    {"304", PB_ERROR_PERMANENT, -1, "status 304"},
	    {"error-200", PB_ERROR_INPUT, -1, "something broke"},
	    {"cut", PB_ERROR_INPUT, -1, "invalid JSON: line 1, column"},
	    {"object", PB_ERROR_INPUT, -1, "not a JSON array"},
	    {"html", PB_ERROR_INPUT, -1, "line 1, column 1"},
	    {"papers-5000", PB_ERROR_LIMIT, -1, "more than 50 pages"},
	    {"redirect-4", PB_ERROR_LIMIT, -1, "more than 3 redirects"},
	};
	pb_auto(paperserver) server = paperserver_start(NULL, NULL);

	for (size_t i = 0; server && i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *base = paperserver_mode_url(server, rows[i].mode);

		paperserver_check_failure(make_source(base), DAY, &rows[i]);
	}
}

/* A day that has ended by the server's clock is missing. */
TEST(a_rejected_past_day_is_an_error)
{
	pb_auto(paperserver) server = paperserver_start(NULL, NULL);
	g_autofree char *base = NULL;
	source_answer_auto answer = {0};

	if (!server)
		return;
	base = paperserver_mode_url(server, "future");
	FAILS(PB_ERROR_PERMANENT, fetch(base, "2026-11-16", NULL, &answer, &error));
}

TEST(only_valid_days_are_fetched)
{
	source_answer_auto answer = {0};

	FAILS(PB_ERROR_INPUT,
	    fetch("http://127.0.0.1:1", "2026-13-01", NULL, &answer, &error));
}

TEST(a_directory_is_a_source)
{
	g_autofree char *directory = g_dir_make_tmp("paperboy-days-XXXXXX", NULL);
	g_autofree char *path =
	    g_build_filename(directory, "daily_papers-" DAY ".json", NULL);
	g_autofree char *base = g_filename_to_uri(directory, NULL, NULL);
	g_autofree char *slashed = g_strconcat(base, "/", NULL);
	g_autofree char *hash = NULL;
	g_autofree char *json = make_page(150);
	g_autoptr(GError) error = NULL;
	source_answer_auto answer = {0};

	g_assert_true(fetch(base, DAY, NULL, &answer, &error));
	g_assert_cmpint(answer.status, ==, SOURCE_NOT_YET);
	g_assert_true(g_file_set_contents(path, json, -1, NULL));
	g_assert_true(fetch(slashed, DAY, NULL, &answer, &error));
	g_assert_cmpint(answer.status, ==, SOURCE_OK);
	g_assert_cmpuint(answer.count, ==, 150);
	/* The hash is of sorted ids, whatever the order of the list. */
	g_assert_true(g_file_set_contents(path,
	    "[{\"paper\":{\"id\":\"b\",\"title\":\"t\"}},"
	    "{\"paper\":{\"id\":\"a\",\"title\":\"t\"}}]",
	    -1, NULL));
	g_assert_true(fetch(base, DAY, NULL, &answer, &error));
	hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, "a\nb\n", -1);
	g_assert_cmpstr(answer.ids_sha256, ==, hash);
	g_unlink(path);
	g_rmdir(directory);
	/* A missing directory is not a day without papers. */
	g_assert_false(fetch(base, DAY, NULL, &answer, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
	g_assert_nonnull(strstr(error->message, "no such directory"));
}

#ifndef __SANITIZE_ADDRESS__
/* Limit the process to little more memory than it has. */
static void
limit_memory(void)
{
	g_autofree char *pages = NULL;
	struct rlimit limit;

	g_assert_true(g_file_get_contents("/proc/self/statm", &pages, NULL, NULL));
	limit.rlim_cur = limit.rlim_max =
	    (rlim_t)g_ascii_strtoull(pages, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) +
	    1000000;
	g_assert_cmpint(setrlimit(RLIMIT_AS, &limit), ==, 0);
}
#endif

TEST(out_of_memory_is_reported_as_such)
{
#ifdef __SANITIZE_ADDRESS__
	g_test_skip("the sanitizer needs address space of its own");
#else
	if (g_test_subprocess()) {
		GString *json = g_string_new("[0");
		struct json_page page = {0};

		for (int i = 1; i < 900000; i++)
			g_string_append(json, ",0");
		g_string_append_c(json, ']');
		json_init();
		limit_memory();
		huggingface_parse(
		    g_bytes_new_static(json->str, json->len), NULL, DAY, &page, NULL);
		return;
	}
	g_test_trap_subprocess(NULL, 0, 0);
	g_test_trap_assert_failed();
	/* The message of g_malloc(), or of its logging. */
	g_test_trap_assert_stderr("*allocate*");
#endif
}

UNIT_MAIN
