/*
 * feed_entry.h - what the texts of a feed come to in its entries.
 *
 * No XML: an element's text, and what it means where it stood.
 */
#ifndef PAPERBOY_SOURCES_FEED_ENTRY_H
#define PAPERBOY_SOURCES_FEED_ENTRY_H

#include <glib.h>
#include <stdbool.h>

#include "sources/feed_vocabulary.h"
#include "sources/feed_xml.h"

/* The text of one element.  Borrowed. */
struct feed_entry {
	const char *text;
	enum meaning meaning;
	enum feed_xml_form form;
	bool is_permalink; /* an RSS guid that is the page's address */
	const char *base;  /* that links are relative to, or NULL */
};

/* An entry that nothing was told of yet; its free function is GDestroyNotify's. */
struct feed_xml_entry *feed_entry_new_entry(void);
void feed_entry_free_entry(void *entry);

/** Put a text where it belongs; what means nothing there is left out. */
void
feed_entry_take_entry(struct feed_xml_entry *entry, const struct feed_entry *reported);
void
feed_entry_take_channel(struct feed_xml *bulletin, const struct feed_entry *reported);

/**
 * Make a link absolute (RFC 3986 section 5.2).
 *
 * @param base  ignored unless it is a web address
 * @return a new string, as it was when it cannot be resolved; NULL for an empty or an
 *         overlong link
 */
char *feed_entry_resolve(const char *base, const char *link);

/** Set a field that is not set yet: the first one that is told stays. */
void feed_entry_set(char **field, const char *text);

/** Add a text that is not empty, if there are fewer than that. */
void feed_entry_add(GPtrArray *texts, const char *text, unsigned most);

#endif
