/*
 * feed_xml.h - parser for RSS and Atom documents.
 *
 * RSS 0.90 to 2.0, RSS 1.0 (RDF), Atom 0.3 and 1.0, with elements of Dublin Core,
 * PRISM, content: and arXiv that describe papers.  Strict about XML, lenient otherwise:
 * unknown elements are skipped.  Documents with a DOCTYPE are rejected, which rules out
 * entity expansion and external entities.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/day.h"

enum feed_xml_form {
	FEED_XML_PLAIN,
	FEED_XML_MAYBE_HTML, /* RSS does not declare it */
	FEED_XML_HTML,
};

/* Texts are valid UTF-8 but not normalised, or NULL. */
struct feed_xml_entry {
	char *guid;
	char *url; /* of the page, absolute (xml:base, RFC 3986 section 5.2) */
	char *title;
	enum feed_xml_form title_form;
	char *summary;
	enum feed_xml_form summary_form;
	bool has_summary;      /* else summary is the content, or NULL */
	GPtrArray *authors;    /* of char *, from <author><name> and the like */
	char *creator;         /* dc:creator, several joined by ", " */
	GPtrArray *categories; /* of char * */
	char *primary;         /* arxiv:primary_category */
	char *listing_type;    /* arxiv:announce_type */
	char *comment;         /* arxiv:comment */
	char *journal;         /* arxiv:journal_ref or prism:publicationName */
	char *doi;
	int64_t published_at; /* s; -1: unknown */
	int64_t updated_at;   /* s; -1: unknown */
};

struct feed_xml {
	char *title;
	char *url;           /* of the web page of the feed, absolute, or NULL */
	char day[DAY_BYTES]; /* of pubDate or updated, in its own zone; "" */
	int64_t total;       /* opensearch:totalResults, or -1 */
	GPtrArray *entries;  /* of struct feed_xml_entry * */
};

/**
 * Parse a document.
 *
 * Supported encodings are UTF-8, UTF-16, and single-byte and East Asian ones that the
 * XML declaration names.  Texts are cut at BOUNDS_XML_TEXT_BYTES; authors beyond
 * BOUNDS_PAPER_AUTHORS and categories beyond BOUNDS_PAPER_KEYWORDS are left out.
 *
 * @param base  the document's address, or NULL
 * @return NULL with PB_ERROR_INPUT (with line and column), or PB_ERROR_LIMIT beyond
 *         BOUNDS_PAPERS_BATCH or BOUNDS_XML_DEPTH
 */
struct feed_xml *feed_xml_parse(GBytes *xml, const char *base, GError **error);
void feed_xml_free(struct feed_xml *feed);
PB_DEFINE_AUTO(feed_xml, feed_xml_free);

/**
 * Format a text of an entry as one normalised line.
 *
 * @return owned by the caller; NULL if there is none or it is blank
 */
char *feed_xml_format_line(const char *text, enum feed_xml_form form, size_t max_bytes);
