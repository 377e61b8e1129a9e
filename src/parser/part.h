/*
 * part.h - the parts of a message that matter (RFC 2045, RFC 2046).
 *
 * libetpan parses; this chooses and decodes.  Attachments are never opened.
 */
#ifndef PAPERBOY_PARSER_PART_H
#define PAPERBOY_PARSER_PART_H

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "parser/charset.h"

struct part_tree;
struct mailmime;

/**
 * Parse a message that passed the scan (parser/prescan.h).
 *
 * @param text  borrowed by the tree
 * @return NULL where it cannot be parsed
 */
struct part_tree *part_tree_new(const char *text, size_t size);
void part_tree_free(struct part_tree *tree);
PB_DEFINE_AUTO(part_tree, part_tree_free);

/**
 * Find the part that a person wrote: the first text/plain that is neither attached nor
 * empty, where an alternative offers both, else the first text/html like that.
 * Forwarded messages are not looked into.
 *
 * @return of the tree, or NULL
 */
const struct mailmime *part_find_text(const struct part_tree *tree);

/** Tell whether a part is of a type, such as "text" and "html", in any case. */
bool part_is(const struct mailmime *part, const char *type, const char *subtype);

/** Get a parameter of a part's Content-Type. @return of the tree, or NULL */
const char *part_get_parameter(const struct mailmime *part, const char *name);

/**
 * The part that is a multipart/report, when the message is one.
 *
 * @return of the tree, or NULL
 */
const struct mailmime *part_find_report(const struct part_tree *tree);

/** The parts in a multipart. @return struct mailmime of the tree; owned by the caller
 */
GPtrArray *part_get_children(const struct mailmime *part);

/**
 * Undo a part's transfer encoding and charset.
 *
 * @return valid UTF-8 with plain line ends, at most max_bytes, owned by the caller
 */
char *part_decode(
    const struct mailmime *part, struct charset_set *charsets, size_t max_bytes);

#endif
