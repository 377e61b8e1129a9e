/*
 * bulletin_told.h - what the texts of a feed come to in its entries.
 *
 * No XML: an element's text, and what it means where it stood.
 */
#ifndef PAPERBOY_SOURCES_BULLETIN_TOLD_H
#define PAPERBOY_SOURCES_BULLETIN_TOLD_H

#include <glib.h>
#include <stdbool.h>

#include "sources/bulletin.h"
#include "sources/bulletin_words.h"

/* The text of one element.  Borrowed. */
struct bulletin_told {
	const char *text;
	enum meaning meaning;
	enum bulletin_form form;
	bool is_permalink; /* an RSS guid that is the page's address */
	const char *base;  /* that links are relative to, or NULL */
};

/* An entry that nothing was told of yet; its free function is GDestroyNotify's. */
struct bulletin_entry *bulletin_told_new_entry(void);
void bulletin_told_free_entry(void *entry);

/** Put a text where it belongs; what means nothing there is left out. */
void bulletin_told_take_entry(
    struct bulletin_entry *entry, const struct bulletin_told *told);
void
bulletin_told_take_channel(struct bulletin *bulletin, const struct bulletin_told *told);

/**
 * Make a link absolute (RFC 3986 section 5.2).
 *
 * @param base  ignored unless it is a web address
 * @return a new string, as it was when it cannot be resolved; NULL for an empty or an
 *         overlong link
 */
char *bulletin_told_resolve(const char *base, const char *link);

/** Set a field that is not set yet: the first one that is told stays. */
void bulletin_told_set(char **field, const char *text);

/** Add a text that is not empty, if there are fewer than that. */
void bulletin_told_add(GPtrArray *texts, const char *text, unsigned most);

#endif
