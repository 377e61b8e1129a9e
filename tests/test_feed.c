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

/* One entry per format; expected: id, title, url, abstract, authors, day. */
TEST(all_formats_are_parsed)
{
	static const struct {
		const char *xml, *id, *title, *url, *abstract, *authors, *day;
	} rows[] = {
	    {RSS2("<item><title>A &lt;b&gt;bold&lt;/b&gt; paper</title>"
	          "<link>https://example.org/1</link>"
	          "<description>&lt;p&gt;One&lt;p&gt;two &amp;amp; &amp;eacute;"
	          "</description><pubDate>Tue, 17 Nov 2026 12:00:00 GMT</pubDate>"
	          "<author>ada@example.org (Ada Example)</author>"
	          "<guid isPermaLink='false'>g1</guid></item>"),
	        NULL, "A bold paper", "https://example.org/1", "One two & é",
	        "Ada Example", "2026-11-17"},
	    {RSS2(
	         "<item><title>Let's &lt;think&gt; about it</title>"
	         "<guid>https://example.org/2</guid><dc:creator>Ada Example, Bo Li and "
	         "Cy Doe</dc:creator><content:encoded><![CDATA[<div>All of "
	         "it</div>]]></content:encoded></item>"),
	        NULL, "Let's <think> about it", "https://example.org/2", "All of it",
	        "Ada Example|Bo Li and Cy Doe", TODAY},
	    {RSS2("<item><title>T</title><link>https://example.org/x</link><dc:creator>"
	          "Van Wees, S. C. M., zhang, a., Lin, H.-X., O&amp;#39;Neill, D, "
	          "The ABC Consortium, &amp;amp; G&amp;oacute;mez, G.</dc:creator>"
	          "</item>"),
	        NULL, "T", "https://example.org/x", "",
	        "Van Wees, S. C. M.|zhang, a.|Lin, H.-X.|O'Neill, D|The ABC Consortium"
	        "|Gómez, G.",
	        TODAY},
	    {RSS2("<item><title>T</title><link>https://example.org/x</link><dc:creator>"
	          "Li, Bo; G&amp;oacute;mez, Ana M.</dc:creator></item>"),
	        NULL, "T", "https://example.org/x", "", "Li, Bo|Gómez, Ana M.", TODAY},
	    {RSS2("<item><title>T</title><link>https://example.org/x</link>"
	          "<dc:creator>Li, B.</dc:creator></item>"),
	        NULL, "T", "https://example.org/x", "", "Li, B.", TODAY},
	    {RSS2("<item><title>T</title><link>https://example.org/x</link>"
	          "<dc:creator>B. Li, A. Wu, and C. Doe</dc:creator></item>"),
	        NULL, "T", "https://example.org/x", "", "B. Li|A. Wu|C. Doe", TODAY},
	    {RSS2("<item><title>T</title><link>../p/3?a=1&amp;b=2</link><description/>"
	          "<dc:creator>Li, Bo</dc:creator><dc:creator>Example, "
	          "Ada</dc:creator></item>"),
	        NULL, "T", "https://example.org/p/3?a=1&b=2", "", "Li, Bo|Example, Ada",
	        TODAY},
	    {RSS2(
	         "<item><title>T</title><link>https://arxiv.org/abs/2611.00001v2</link>"
	         "</item>"),
	        "2611.00001", "T", "https://arxiv.org/abs/2611.00001v2", "", "", TODAY},
	    {RSS2("<item><title>T</title><link>https://example.org/x</link>"
	          "<prism:doi>10.1000/ABC</prism:doi></item>"),
	        "doi:10.1000/abc", "T", "https://example.org/x", "", "", TODAY},
	    {RSS2("<item><title>T</title><prism:doi>10.1000/ABC</prism:doi></item>"),
	        "doi:10.1000/abc", "T", "https://doi.org/10.1000/abc", "", "", TODAY},
	    {RSS2("<item><title>T</title><link>https://example.org/x</link>"
	          "<pubDate>Mon, 18 Nov 2030 12:00:00 GMT</pubDate></item>"),
	        NULL, "T", "https://example.org/x", "", "", TODAY},
	    {"<rss version='0.91'><channel><item><title>T</title>"
	     "<link>https://example.org/x</link></item></channel></rss>",
	        NULL, "T", "https://example.org/x", "", "", TODAY},
	    {"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'"
	     " xmlns='http://purl.org/rss/1.0/'"
	     " xmlns:dc='http://purl.org/dc/elements/1.1/'><channel rdf:about='c'>"
	     "<title>C</title></channel><item rdf:about='https://example.org/4'>"
	     "<title>T</title><link>https://example.org/4</link>"
	     "<dc:date>2026-11-16T23:00:00-05:00</dc:date>"
	     "<dc:identifier>doi:10.1000/4</dc:identifier></item></rdf:RDF>",
	        "doi:10.1000/4", "T", "https://example.org/4", "", "", "2026-11-17"},
	    {"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'"
	     " xmlns='http://my.netscape.com/rdf/simple/0.9/'><item><title>T</title>"
	     "<link>https://example.org/5</link></item></rdf:RDF>",
	        NULL, "T", "https://example.org/5", "", "", TODAY},
	    {ATOM("<entry xml:base='https://example.net/a/'><id>tag:6</id>"
	          "<title type='html'>a &amp;lt; b &amp;amp;amp; c</title>"
	          "<link rel='self' href='https://example.org/no'/>"
	          "<link href='../six'/><link rel='enclosure' href='x.pdf'/>"
	          "<summary type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>"
	          "<p>One <b>b</b>old</p><p>two</p></div></summary>"
	          "<author><name>Ada Example</name><email>x@y</email></author>"
	          "<author><name>Bo Li</name></author>"
	          "<updated>2026-11-19T00:00:00Z</updated>"
	          "<published>2026-11-18T23:30:00-01:00</published></entry>"),
	        NULL, "a < b &amp; c", "https://example.net/six", "One bold two",
	        "Ada Example|Bo Li", "2026-11-19"},
	    {ATOM("<entry><id>tag:7</id><title>a &lt;b&gt; c</title>"
	          "<link href='https://example.org/7'/><content>&amp;amp;</content>"
	          "<source><id>x</id><title>Elsewhere</title></source></entry>"),
	        NULL, "a <b> c", "https://example.org/7", "&amp;", "", TODAY},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GPtrArray) listings = parse(rows[i].xml);
		const struct listing *listing;
		g_autofree char *authors = NULL;

		g_test_message("row %zu", i);
		g_assert_cmpuint(listings->len, ==, 1);
		listing = listings->pdata[0];
		authors = texts_join(listing->paper->authors);
		if (rows[i].id)
			g_assert_cmpstr(listing->paper->id, ==, rows[i].id);
		else
			g_assert_true(g_str_has_prefix(listing->paper->id, "lab:"));
		g_assert_cmpstr(listing->paper->title, ==, rows[i].title);
		g_assert_cmpstr(listing->paper->url, ==, rows[i].url);
		g_assert_cmpstr(listing->paper->abstract, ==, rows[i].abstract);
		g_assert_cmpstr(authors, ==, rows[i].authors);
		g_assert_cmpstr(listing->day, ==, rows[i].day);
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
