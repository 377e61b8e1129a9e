/*
 * feed_entry.h - the fields of a feed and its entries.
 *
 * Maps elements to fields, and stores their texts.  No XML parsing.
 */
#ifndef PAPERBOY_SOURCES_FEED_ENTRY_H
#define PAPERBOY_SOURCES_FEED_ENTRY_H

#include <glib.h>
#include <stdbool.h>

#include "sources/feed_xml.h"

#define FEED_ENTRY_NS_RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

enum feed_namespace {
	NS_RSS,
	NS_ATOM,
	NS_DC,
	NS_CONTENT,
	NS_ARXIV,
	NS_PRISM,
	NS_SEARCH,
	NS_RDF,
	NS_OTHER,
};

/* The role of a parent element. */
enum feed_place {
	PLACE_ELSEWHERE,
	PLACE_CHANNEL,
	PLACE_ENTRY,
	PLACE_AUTHOR,
};

enum feed_field {
	FIELD_NONE,
	FIELD_GUID,
	FIELD_LINK,
	FIELD_TITLE,
	FIELD_SUMMARY,
	FIELD_CONTENT,
	FIELD_AUTHOR,
	FIELD_CREATOR,
	FIELD_CATEGORY,
	FIELD_LISTING_TYPE,
	FIELD_COMMENT,
	FIELD_JOURNAL,
	FIELD_DOI,
	FIELD_IDENTIFIER,
	FIELD_PUBLISHED,
	FIELD_UPDATED,
	FIELD_DATE,
	FIELD_TOTAL,
};

/* An element with text.  Borrowed. */
struct feed_element {
	const char *text;
	enum feed_field field;
	enum feed_xml_form form;
	bool is_permalink; /* an RSS guid that is the page's address */
	const char *base;  /* base of relative links, or NULL */
};

/**
 * Find the namespace of an element.
 *
 * @param name   "URI name", as expat joins them, or a name alone
 * @param local  set to the local name
 */
enum feed_namespace feed_entry_find_namespace(const char *name, const char **local);

/** Find the field of an element. @param place  of the parent element */
enum feed_field feed_entry_find_field(
    enum feed_place place, enum feed_namespace namespace, const char *local);

/** Allocate an empty entry. */
struct feed_xml_entry *feed_entry_new(void);
void feed_entry_free(void *entry); /* a GDestroyNotify */

/** Store an element of an entry, or of the feed itself. */
void feed_entry_add_element(
    struct feed_xml_entry *entry, const struct feed_element *element);
void
feed_entry_add_feed_element(struct feed_xml *feed, const struct feed_element *element);

/**
 * Resolve a link (RFC 3986 section 5.2).
 *
 * @param base  ignored unless it is a web address
 * @return owned by the caller, unchanged if it cannot be resolved; NULL for an empty or
 *         overlong link
 */
char *feed_entry_resolve(const char *base, const char *link);

/** Set a field unless it is set: the first value wins. */
void feed_entry_set_field(char **field, const char *text);

/** Append a text unless it is empty or the list is full. */
void feed_entry_add_text(GPtrArray *texts, const char *text, unsigned max);

#endif
