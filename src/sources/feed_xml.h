/*
 * feed_xml.h - an RSS or Atom document, read.
 *
 * RSS 0.90 to 2.0, RSS 1.0 (RDF), Atom 0.3 and 1.0, with the parts of Dublin Core,
 * PRISM, content: and arXiv's own that tell of papers.  Strict about XML, lenient about
 * all else: what is not known is skipped.  A document with a DOCTYPE is refused, so
 * there is no entity to grow or to lead elsewhere.
 */
#ifndef PAPERBOY_SOURCES_FEED_XML_H
#define PAPERBOY_SOURCES_FEED_XML_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/day.h"

/* How a text is written. */
enum feed_xml_form {
	FEED_XML_PLAIN,
	FEED_XML_MAYBE_HTML, /* RSS does not tell */
	FEED_XML_HTML,
};

/* Texts are as they were told, not normalised, or NULL; each is valid UTF-8. */
struct feed_xml_entry {
	char *guid;
	char *url; /* of its page, absolute (xml:base, RFC 3986 section 5.2) */
	char *title;
	enum feed_xml_form title_form;
	char *summary;
	enum feed_xml_form summary_form;
	bool has_summary;      /* summary is one; else it is the content, or NULL */
	GPtrArray *authors;    /* of char *, as <author><name> and the like give them */
	char *creator;         /* all of dc:creator, ", " between several */
	GPtrArray *categories; /* of char * */
	char *primary;         /* arxiv:primary_category */
	char *listing_type;    /* arxiv:announce_type */
	char *comment;         /* arxiv:comment */
	char *journal;         /* arxiv's, or prism:publicationName */
	char *doi;
	int64_t published_at; /* s, -1: not told */
	int64_t updated_at;   /* likewise */
};

struct feed_xml {
	char *title;
	char *url;           /* of the page that it is the feed of, absolute, or NULL */
	char day[DAY_BYTES]; /* of pubDate or updated, in its own zone; "" */
	int64_t built_at;    /* lastBuildDate or updated, s; -1: not told */
	unsigned skip_days;  /* bit 0 is Monday */
	int64_t total;       /* opensearch:totalResults, or -1 */
	GPtrArray *entries;  /* of struct feed_xml_entry * */
};

/**
 * Read a document.
 *
 * Encodings are UTF-8 and UTF-16, and those of one octet or of East Asia that the XML
 * declaration names.  Texts past BOUNDS_XML_TEXT_BYTES are cut; authors past
 * BOUNDS_PAPER_AUTHORS and categories past BOUNDS_PAPER_KEYWORDS are left out.
 *
 * @param base  the document's own address, or NULL
 * @return NULL with PB_ERROR_INPUT, the message says line and column; PB_ERROR_LIMIT
 *         past BOUNDS_PAPERS_BATCH or BOUNDS_XML_DEPTH
 */
struct feed_xml *feed_xml_parse(GBytes *xml, const char *base, GError **error);
void feed_xml_free(struct feed_xml *bulletin);
PB_DEFINE_AUTO(feed_xml, feed_xml_free);

/**
 * A text of an entry as one normalised line.
 *
 * @return newly allocated; NULL when there is none or nothing is left of it
 */
char *feed_xml_format_line(const char *text, enum feed_xml_form form, size_t max_bytes);

#endif
