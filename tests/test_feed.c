/*
 * test_feed.c - RSS and Atom feeds in all their variants.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/cases.h"
#include "lib/paperserver.h"
#include "lib/texts.h"
#include "lib/unit.h"
#include "model/paper_id.h"
#include "sources/feed.h"
#include "sources/feed_date.h"

#define TODAY "2026-11-20"

static struct feed_xml *
parse_bytes(const char *xml, size_t size, GError **error)
{
	g_autoptr(GBytes) bytes = g_bytes_new(xml, size);

	return feed_xml_parse(bytes, "https://example.org/feeds/new.xml", error);
}

static GPtrArray *
parse(const char *xml)
{
	pb_auto(feed_xml) feed = NO_ERROR(parse_bytes(xml, strlen(xml), &error));

	return feed_source_make_listings(feed, "lab", TODAY);
}

TEST(dates_are_parsed_in_all_formats)
{
	CASES_FOREACH(row, "feed_dates", *text, *at, *day) {
		char day[11] = "";
		int64_t at = -1;
		bool is_date = feed_date_parse(row->text, &at, day);

		g_test_message("%s", row->text ? row->text : "NULL");
		g_assert_cmpint(is_date, ==, cases_number(row->at) >= 0);
		g_assert_cmpint(at, ==, cases_number(row->at));
		g_assert_cmpstr(day, ==, row->day);
	}
}

#define RSS2(items)                                                      \
	"<rss version='2.0'"                                             \
	" xmlns:dc='http://purl.org/dc/elements/1.1/'"                   \
	" xmlns:content='http://purl.org/rss/1.0/modules/content/'"      \
	" xmlns:prism='http://prismstandard.org/namespaces/basic/2.0/'>" \
	"<channel><title>F</title>" items "</channel></rss>"
#define ATOM(entries) "<feed xmlns='http://www.w3.org/2005/Atom'>" entries "</feed>"

/* @param kind  "rss": the content is items of RSS 2.0; "atom": entries; "xml": all of
 * it
 */
static char *
wrap(const char *kind, const char *content)
{
	if (strcmp(kind, "xml") == 0)
		return g_strdup(content);
	return strcmp(kind, "rss") == 0 ? g_strdup_printf(RSS2("%s"), content)
	                                : g_strdup_printf(ATOM("%s"), content);
}

/* One entry per format; expected: id, title, url, abstract, authors, day. */
TEST(all_formats_are_parsed)
{
	CASES_FOREACH(row, "feed_entries", *kind, *content, *id, *title, *url,
	    *abstract, *authors, *day) {
		g_autofree char *xml = wrap(row->kind, row->content);
		g_autoptr(GPtrArray) listings = parse(xml);
		const struct listing *listing;
		g_autofree char *authors = NULL;

		g_test_message("%s", row->content);
		g_assert_cmpuint(listings->len, ==, 1);
		listing = listings->pdata[0];
		authors = texts_join(listing->paper->authors);
		if (row->id)
			g_assert_cmpstr(listing->paper->id, ==, row->id);
		else
			g_assert_true(g_str_has_prefix(listing->paper->id, "lab:"));
		g_assert_cmpstr(listing->paper->title, ==, row->title);
		g_assert_cmpstr(listing->paper->url, ==, row->url);
		g_assert_cmpstr(listing->paper->abstract, ==, row->abstract);
		g_assert_cmpstr(authors, ==, row->authors);
		g_assert_cmpstr(listing->day, ==,
		    strcmp(row->day, "today") == 0 ? TODAY : row->day);
	}
}

TEST(links_are_resolved_against_web_addresses_only)
{
	CASES_FOREACH(row, "feed_resolved", *base, *link, *url) {
		g_autofree char *xml = g_strdup_printf(
		    ATOM("<entry xml:base='%s'><title>T</title><link href='%s'/>"
		         "</entry>"),
		    row->base, row->link);
		g_autoptr(GPtrArray) listings = parse(xml);

		g_test_message("%s with %s", row->link, row->base);
		g_assert_cmpuint(listings->len, ==, row->url ? 1 : 0);
		if (row->url)
			g_assert_cmpstr(
			    ((struct listing *)listings->pdata[0])->paper->url, ==,
			    row->url);
	}
}

TEST(equivalent_links_are_equal)
{
	CASES_FOREACH(row, "feed_links", *url, *link) {
		g_autofree char *link = paper_id_format_link(row->url);

		g_test_message("%s", row->url ? row->url : "NULL");
		g_assert_cmpstr(link, ==, row->link);
	}
}

TEST(ids_in_links_take_precedence)
{
	CASES_FOREACH(row, "feed_ids", *link, *id) {
		g_autofree char *xml = g_strdup_printf(
		    RSS2("<item><title>T</title><link>%s</link></item>"), row->link);
		g_autoptr(GPtrArray) listings = parse(xml);
		const struct listing *listing = listings->pdata[0];

		g_test_message("%s", row->link);
		g_assert_true(g_str_has_prefix(listing->paper->id, row->id));
		g_assert_cmpuint(strlen(listing->paper->id), ==,
		    strcmp(row->id, "lab:") == 0 ? 24 : strlen(row->id));
	}
}

TEST(entries_without_title_or_link_are_left_out)
{
	g_autoptr(GPtrArray) listings = parse(
	    RSS2("<item><title> </title><link>https://example.org/1</link></item>"
	         "<item><title>T</title><link>javascript:alert(1)</link></item>"
	         "<item><title>T</title></item><item/>"
	         "<item><title>T</title><link>https://example.org/2</link></item>"
	         "<item><title>T</title><link>https://example.org/2</link></item>"));

	g_assert_cmpuint(listings->len, ==, 1);
}

TEST(encodings_are_converted)
{
	static const struct {
		const char *head, *title;
	} rows[] = {
	    {"<?xml version='1.0' encoding='iso-8859-1'?>", "caf\xe9"},
	    {"<?xml version=\"1.0\" encoding=\"windows-1252\"?>", "caf\xe9"},
	    {"<?xml version='1.0' encoding = 'ISO-8859-15' ?>", "caf\xe9"},
	    {"<?xml version='1.0' encoding='utf-8'?>", "caf\xc3\xa9"},
	    {"\xef\xbb\xbf", "caf\xc3\xa9"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *xml = g_strdup_printf(
		    "%s<rss><channel><item><title>%s</title>"
		    "<link>https://example.org/1</link></item></channel></rss>",
		    rows[i].head, rows[i].title);
		g_autoptr(GPtrArray) listings = parse(xml);

		g_assert_cmpstr(
		    ((struct listing *)listings->pdata[0])->paper->title, ==, "café");
	}
}

TEST(limits_are_enforced)
{
	g_autoptr(GString) xml = g_string_new("<rss><channel>");
	g_autoptr(GError) error = NULL;
	pb_auto(feed_xml) feed = NULL;
	g_autofree char *text = g_strnfill(BOUNDS_XML_TEXT_BYTES + 1, 'x');
	g_autofree char *entry = g_strdup_printf(
	    "<rss><channel><item><title>%s</title></item></channel></rss>", text);

	for (unsigned i = 0; i < BOUNDS_PAPERS_BATCH; i++)
		g_string_append(xml, "<item/>");
	feed = parse_bytes(xml->str, 0, &error);
	g_assert_null(feed);
	g_clear_error(&error);
	g_string_append(xml, "</channel></rss>");
	feed = parse_bytes(xml->str, xml->len, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(feed->entries->len, ==, BOUNDS_PAPERS_BATCH);
	g_clear_pointer(&feed, feed_xml_free);
	g_string_insert(xml, 14, "<item/>");
	g_assert_null(parse_bytes(xml->str, xml->len, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_LIMIT);
	feed = parse_bytes(entry, strlen(entry), NULL);
	g_assert_cmpuint(
	    strlen(((struct feed_xml_entry *)feed->entries->pdata[0])->title), ==,
	    BOUNDS_XML_TEXT_BYTES);
}

TEST(each_server_error_has_its_code)
{
	static const struct {
		const char *mode;
		int code;
	} rows[] = {
	    {"feed-laughs", PB_ERROR_INPUT},
	    {"feed-cut", PB_ERROR_INPUT},
	    {"feed-limit", PB_ERROR_TEMPORARY},
	    {"404", PB_ERROR_PERMANENT},
	    {"endless", PB_ERROR_LIMIT},
	    {"bomb", PB_ERROR_LIMIT},
	    {"headers", PB_ERROR_LIMIT},
	    {"redirect-host", PB_ERROR_PERMANENT},
	    {"bytes-104857600", PB_ERROR_LIMIT},
	    {"bytes-chunked-104857600", PB_ERROR_LIMIT},
	};
	pb_auto(paperserver) server = paperserver_start(NULL, NULL);
	const struct http_settings settings = {.user_agent = "test"};
	pb_auto(http) http = http_new(&settings);

	for (size_t i = 0; server && i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *url = paperserver_mode_url(server, rows[i].mode);
		const struct source_options options = {.name = "lab", .url = url};
		pb_auto(source) source = feed_source_new(&options);
		source_answer_auto answer;

		g_test_message("%s", rows[i].mode);
		source_answer_init(&answer);
		FAILS(rows[i].code,
		    source_poll(source, http, TODAY, NULL, &answer, &error));
	}
}

UNIT_MAIN
