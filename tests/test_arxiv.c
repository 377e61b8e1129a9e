/*
 * test_arxiv.c - arXiv's feeds and API responses.
 */
#include <string.h>

#include "base/error.h"
#include "lib/cases.h"
#include "lib/paperserver.h"
#include "lib/texts.h"
#include "lib/unit.h"
#include "model/paper_id.h"
#include "sources/arxiv.h"
#include "sources/arxiv_listing.h"

#define DAY "2026-11-18"

#define REQUEST_INTERVAL_MS 3000

#define ARXIV_OPTIONS(server)                                          \
	{                                                              \
		.name = "arxiv", .url = (server), .api_url = (server), \
		.categories = (const char *const[]){"cs.CL", NULL},    \
		.request_interval_ms = REQUEST_INTERVAL_MS             \
	}

#define RSS(items)                                                                   \
	"<rss xmlns:arxiv='http://arxiv.org/schemas/atom'"                           \
	" xmlns:dc='http://purl.org/dc/elements/1.1/' version='2.0'><channel>"       \
	"<title>cs.CL updates</title><lastBuildDate>Wed, 18 Nov 2026 05:00:05 +0000" \
	"</lastBuildDate><pubDate>Wed, 18 Nov 2026 00:00:00 -0500</pubDate>"         \
	"<skipDays><day>Sunday</day><day>Saturday</day></skipDays>" items            \
	"</channel></rss>"
#define ITEM(id, type, rest)                                                  \
	"<item><title>T</title><link>https://arxiv.org/abs/2611.00001</link>" \
	"<guid>oai:arXiv.org:" id "</guid><arxiv:announce_type>" type         \
	"</arxiv:announce_type>" rest "</item>"

static GPtrArray *
parse(const char *xml, GError **error)
{
	g_autoptr(GBytes) bytes = g_bytes_new(xml, strlen(xml));
	pb_auto(feed_xml) feed = feed_xml_parse(bytes, NULL, error);

	return feed ? arxiv_listing_from_feed(feed, DAY, error) : NULL;
}

static GPtrArray *
parse_right(const char *xml)
{
	GPtrArray *listings = NO_ERROR(parse(xml, &error));

	return listings;
}

TEST(ids_are_stripped_of_prefix_and_version)
{
	CASES_FOREACH(row, "arxiv_ids", *text, *id, *version) {
		g_autofree char *id = NULL;
		unsigned version = 0;
		bool is_id = paper_id_parse_arxiv(row->text, &id, &version);

		g_test_message("%s", row->text ? row->text : "NULL");
		g_assert_cmpint(is_id, ==, row->id != NULL);
		g_assert_cmpstr(id, ==, row->id);
		g_assert_cmpuint(version, ==, cases_number(row->version));
	}
}

TEST(authors_are_split_without_affiliations)
{
	CASES_FOREACH(row, "arxiv_authors", *text, *authors) {
		g_autoptr(GPtrArray) authors = g_ptr_array_new_with_free_func(g_free);
		g_autofree char *joined = NULL;

		arxiv_listing_split_authors(row->text, authors);
		joined = texts_join(authors);
		g_assert_cmpstr(joined, ==, row->authors);
	}
}

TEST(all_fields_of_an_item_are_parsed)
{
	g_autoptr(GPtrArray) listings = parse_right(RSS(
	    "<item><title>On $\\alpha$ &amp; caf\\'e</title>"
	    "<link>https://arxiv.org/abs/2611.10010</link>"
	    "<description>arXiv:2611.10010v3 Announce Type: replace-cross \n"
	    "Abstract: Abstract: we &lt;think&gt; so.\n  Second.</description>"
	    "<guid isPermaLink='false'>oai:arXiv.org:2611.10010v3</guid>"
	    "<category>cs.LG</category><category>cs.CL</category>"
	    "<pubDate>Wed, 18 Nov 2026 00:00:00 -0500</pubDate>"
	    "<arxiv:announce_type>replace-cross</arxiv:announce_type>"
	    "<dc:rights>http://x</dc:rights><dc:creator>L\\'ea Mart\\'{\\i}n, Bo "
	    "Li</dc:creator>"
	    "<arxiv:DOI>10.1145/ABC.1</arxiv:DOI>"
	    "<arxiv:journal_reference>J. Made Up 3</arxiv:journal_reference></item>"));
	const struct listing *listing = listings->pdata[0];
	const struct paper *paper = listing->paper;
	g_autofree char *authors = texts_join(paper->authors);
	g_autofree char *categories = texts_join(paper->categories);

	g_assert_cmpuint(listings->len, ==, 1);
	g_assert_cmpstr(listing->day, ==, DAY);
	g_assert_cmpint(listing->listing_type, ==, LISTING_REPLACE_CROSS);
	g_assert_cmpuint(listing->version, ==, 3);
	g_assert_cmpstr(paper->id, ==, "2611.10010");
	g_assert_cmpstr(paper->title, ==, "On α & café");
	g_assert_cmpstr(paper->abstract, ==, "Abstract: we <think> so. Second.");
	g_assert_cmpstr(authors, ==, "Léa Martín|Bo Li");
	g_assert_cmpstr(categories, ==, "cs.LG|cs.CL");
	g_assert_cmpstr(paper->doi, ==, "10.1145/abc.1");
	g_assert_cmpstr(paper->journal, ==, "J. Made Up 3");
	g_assert_cmpstr(paper->url, ==, "https://arxiv.org/abs/2611.10010");
	/* The day of the list is not a date of the paper. */
	g_assert_cmpint(paper->published_at, ==, PAPER_UNKNOWN);
}

TEST(listing_type_comes_from_element_or_abstract)
{
	static const struct {
		const char *xml;
		enum listing_type listing_type;
	} rows[] = {
	    {RSS(ITEM("2611.00001v1", "new", "")), LISTING_NEW},
	    {RSS(ITEM("2611.00001v1", "cross", "")), LISTING_CROSS},
	    {RSS(ITEM("2611.00001v2", "replace", "")), LISTING_REPLACE},
	    {RSS(ITEM("2611.00001v2", "replace-cross", "")), LISTING_REPLACE_CROSS},
	    {RSS("<item><title>T</title><guid>oai:arXiv.org:2611.00001v1</guid>"
	         "<description>arXiv:2611.00001v1 Announce Type: cross \nAbstract: x"
	         "</description></item>"),
	        LISTING_CROSS},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GPtrArray) listings = parse_right(rows[i].xml);
		const struct listing *listing = listings->pdata[0];

		g_assert_cmpint(listing->listing_type, ==, rows[i].listing_type);
	}
}

TEST(repeated_paper_has_its_first_type)
{
	g_autoptr(GPtrArray) listings = parse_right(RSS(ITEM("2611.00001v1", "cross",
	    "") ITEM("2611.00001v2", "replace", "") ITEM("2611.00002v1", "new", "")));
	const struct listing *listing = listings->pdata[0];

	g_assert_cmpuint(listings->len, ==, 2);
	g_assert_cmpint(listing->listing_type, ==, LISTING_CROSS);
	g_assert_cmpuint(listing->version, ==, 2);
}

TEST(invalid_lists_are_rejected)
{
	static const struct {
		const char *xml, *message;
	} rows[] = {
	    {RSS(ITEM("2611.00001v1", "absonly", "")), "entry 1"},
	    {RSS("<item><title>T</title><guid>tag:x</guid></item>"), "entry 1"},
	    {RSS(ITEM("2611.00001v1", "new", "")) "x", "line 1, column"},
	    {"<rss><channel>", "line 1, column"},
	    {"", "line 1, column 1: no element found"},
	    {"<html><body/></html>", "<html>"},
	    {"<!DOCTYPE rss><rss/>", "DOCTYPE"},
	    {"<!DOCTYPE rss [<!ENTITY a 'b'>]><rss>&a;</rss>", "DOCTYPE"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(GPtrArray) listings = parse(rows[i].xml, &error);

		g_assert_null(listings);
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		g_assert_nonnull(strstr(error->message, rows[i].message));
	}
}

TEST(all_fields_of_an_api_response_are_parsed)
{
	static const char xml[] =
	    "<feed xmlns='http://www.w3.org/2005/Atom'"
	    " xmlns:opensearch='http://a9.com/-/spec/opensearch/1.1/'"
	    " xmlns:arxiv='http://arxiv.org/schemas/atom'><title>arXiv Query</title>"
	    "<opensearch:totalResults>41</opensearch:totalResults>"
	    "<entry><id>http://arxiv.org/abs/hep-ex/0307015v2</id><title>A\n  B</title>"
	    "<updated>2026-11-17T17:59:08Z</updated><summary>  One.\n  Two.</summary>"
	    "<category term='cs.CL'/><category term='cs.LG'/>"
	    "<published>2026-11-16T17:59:08Z</published>"
	    "<arxiv:comment>12 pages</arxiv:comment>"
	    "<arxiv:primary_category term='cs.LG'/>"
	    "<author><name> The Collaboration</name></author>"
	    "<author><name>Bo "
	    "Li</name><arxiv:affiliation>X</arxiv:affiliation></author>"
	    "<link rel='related' href='https://doi.org/10.1000/X.1' title='doi'/>"
	    "</entry><entry><id>http://arxiv.org/abs/2611.99999v1</id></entry></feed>";
	g_autoptr(GBytes) bytes = g_bytes_new_static(xml, sizeof(xml) - 1);
	pb_auto(feed_xml) feed = feed_xml_parse(bytes, NULL, NULL);
	g_autoptr(GPtrArray) found = arxiv_listing_from_api(feed, NULL);
	const struct paper *paper = ((struct listing *)found->pdata[0])->paper;
	g_autofree char *authors = texts_join(paper->authors);
	g_autofree char *categories = texts_join(paper->categories);

	g_assert_cmpuint(found->len, ==, 1);
	g_assert_cmpint(feed->total, ==, 41);
	g_assert_cmpstr(paper->id, ==, "hep-ex/0307015");
	g_assert_cmpstr(paper->title, ==, "A B");
	g_assert_cmpstr(paper->abstract, ==, "One. Two.");
	g_assert_cmpstr(categories, ==, "cs.LG|cs.CL");
	g_assert_cmpstr(authors, ==, "The Collaboration|Bo Li");
	g_assert_cmpstr(paper->comment, ==, "12 pages");
	g_assert_cmpstr(paper->doi, ==, "10.1000/x.1");
	g_assert_cmpint(paper->published_at, ==, 1794851948);
}

TEST(api_errors_are_entries)
{
	static const char xml[] =
	    "<feed xmlns='http://www.w3.org/2005/Atom'><entry>"
	    "<id>http://arxiv.org/api/errors#incorrect_id</id><title>Error</title>"
	    "<summary>incorrect id format for 1</summary></entry></feed>";
	g_autoptr(GBytes) bytes = g_bytes_new_static(xml, sizeof(xml) - 1);
	pb_auto(feed_xml) feed = feed_xml_parse(bytes, NULL, NULL);
	g_autoptr(GError) error = NULL;

	g_assert_null(arxiv_listing_from_api(feed, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_PERMANENT);
	g_assert_nonnull(strstr(error->message, "incorrect id format for 1"));
}

/* Server responses, and the result of the source. */
struct served {
	struct paperserver *server;
	struct http *http;
	unsigned waits;
};

static bool
count_wait(void *data, int64_t ms)
{
	g_assert_cmpint(ms, ==, REQUEST_INTERVAL_MS);
	((struct served *)data)->waits++;
	return true;
}

static bool
serve(struct served *served)
{
	const struct http_settings settings = {
	    .user_agent = "test",
	    .wait = count_wait,
	    .wait_data = served,
	    .body_bytes = 1 << 20,
	};

	*served = (struct served){.server = paperserver_start(NULL, NULL)};
	if (!served->server)
		return false;
	served->http = http_new(&settings);
	return true;
}

static void
stop_serving(struct served *served)
{
	http_free(served->http);
	paperserver_free(served->server);
}
#define served_auto __attribute__((cleanup(stop_serving))) struct served

static bool
fetch(struct served *served, const char *mode, const char *etag,
    struct source_answer *answer, GError **error)
{
	g_autofree char *url = paperserver_mode_url(served->server, mode);
	const struct source_options options = ARXIV_OPTIONS(url);
	pb_auto(source) source = arxiv_new(&options);

	g_assert_cmpstr(source->name, ==, "arxiv/cs.CL");
	source_answer_clear(answer);
	return source_poll(source, served->http, "2026-11-20", etag, answer, error);
}

TEST(feed_is_fetched_after_a_pause_with_its_own_date)
{
	served_auto served;
	source_answer_auto answer = {0};

	if (!serve(&served))
		return;
	NO_ERROR(fetch(&served, "feed-made-3", NULL, &answer, &error));
	g_assert_cmpint(answer.status, ==, SOURCE_OK);
	g_assert_cmpuint(answer.count, ==, 3);
	g_assert_cmpstr(answer.day, ==, "2026-11-18");
	g_assert_cmpuint(served.waits, ==, 1);
	NO_ERROR(fetch(&served, "feed-empty", NULL, &answer, &error));
	g_assert_cmpint(answer.status, ==, SOURCE_EMPTY);
	g_assert_cmpstr(answer.day, ==, "2026-11-18");
}

TEST(etag_without_quotes_is_sent_unchanged)
{
	served_auto served;
	source_answer_auto answer = {0};
	g_autofree char *etag = NULL;

	if (!serve(&served))
		return;
	g_assert_true(fetch(&served, "feed-etag", NULL, &answer, NULL));
	g_assert_cmpuint(strlen(answer.etag), ==, 64);
	etag = g_strdup(answer.etag);
	g_assert_true(fetch(&served, "feed-etag", etag, &answer, NULL));
	g_assert_cmpint(answer.status, ==, SOURCE_NOT_MODIFIED);
}

TEST(each_server_error_has_its_code)
{
	static const struct {
		const char *mode;
		enum pb_error code;
		const char *message;
	} rows[] = {
	    {"feed-unknown", PB_ERROR_PERMANENT, "no such arXiv category 'cs.CL'"},
	    {"feed-limit", PB_ERROR_TEMPORARY, "429"},
	    {"feed-cut", PB_ERROR_INPUT, "line"},
	    {"feed-laughs", PB_ERROR_INPUT, "DOCTYPE"},
	    {"feed-deep-41", PB_ERROR_LIMIT, "nested"},
	    {"feed-deep-40", PB_ERROR_NOT_FOUND, NULL},
	    {"html", PB_ERROR_INPUT, ""},
	    {"endless", PB_ERROR_LIMIT, "larger"},
	    {"headers", PB_ERROR_LIMIT, "headers"},
	    {"bomb", PB_ERROR_LIMIT, "larger"},
	    {"cut-length", PB_ERROR_TEMPORARY, ""},
	    {"redirect-host", PB_ERROR_PERMANENT, "not public"},
	    {"redirect-file", PB_ERROR_PERMANENT, "redirect"},
	    {"redirect-loop", PB_ERROR_LIMIT, "redirects"},
	};
	served_auto served;

	if (!serve(&served))
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		source_answer_auto answer = {0};
		g_autoptr(GError) error = NULL;
		bool is_ok;

		g_test_message("%s", rows[i].mode);
		is_ok = fetch(&served, rows[i].mode, NULL, &answer, &error);
		g_assert_cmpint(is_ok, ==, rows[i].message == NULL);
		if (!is_ok) {
			g_assert_error(error, PB_ERROR, (int)rows[i].code);
			g_assert_nonnull(strstr(error->message, rows[i].message));
		}
	}
}

/* Submission windows end at 14:00 Eastern before the announcement. */
TEST(past_days_are_fetched_by_the_api)
{
	served_auto served;

	if (!serve(&served))
		return;
	CASES_FOREACH(row, "arxiv_windows", *day, *window) {
		g_autofree char *url =
		    paperserver_mode_url(served.server, "feed-found-250");
		const struct source_options options = ARXIV_OPTIONS(url);
		pb_auto(source) source = arxiv_new(&options);
		source_answer_auto answer = {0};
		const struct listing *one, *other;

		served.waits = 0;
		NO_ERROR(source_fetch_day(
		    source, served.http, row->day, NULL, &answer, &error));
		g_assert_cmpuint(answer.count, ==, row->window ? 250 : 0);
		g_assert_cmpuint(served.waits, ==, row->window ? 2 : 0);
		for (unsigned page = 0; row->window && page < 2; page++) {
			g_autofree char *line = paperserver_read_line(served.server);

			g_assert_nonnull(strstr(line, row->window));
			g_assert_nonnull(strstr(line, "search_query=cat:cs.CL+AND"));
			g_assert_nonnull(
			    strstr(line, page ? "&start=200&" : "&start=0&"));
		}
		if (row->window) {
			/* The day of the list, not of submission. */
			one = answer.listings->pdata[0];
			other = answer.listings->pdata[1];
			g_assert_cmpstr(one->day, ==, row->day);
			g_assert_cmpint(one->listing_type, ==, LISTING_NEW);
			g_assert_cmpint(other->listing_type, ==, LISTING_CROSS);
		}
	}
}

UNIT_MAIN
