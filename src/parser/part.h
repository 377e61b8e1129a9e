/*
 * part.h - MIME parts of a message (RFC 2045, RFC 2046).
 *
 * libetpan parses; this module selects and decodes. Attachments are never decoded.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "parser/charset.h"

struct part_tree;
struct mailmime;

/**
 * Parse a message that passed prescan_check().
 *
 * @param text  borrowed by the tree
 * @return NULL if it cannot be parsed
 */
struct part_tree *part_tree_new(const char *text, size_t size);
void part_tree_free(struct part_tree *tree);
PB_DEFINE_AUTO(part_tree, part_tree_free);

/**
 * Find the body: the first text/plain that is neither an attachment nor empty (also
 * within multipart/alternative), else the first such text/html. Forwarded messages are
 * not searched.
 *
 * @return owned by the tree, or NULL
 */
const struct mailmime *part_find_text(const struct part_tree *tree);

/** Whether a part has a media type, e.g. "text" and "html", case-insensitively. */
bool part_is(const struct mailmime *part, const char *type, const char *subtype);

/** @return a parameter of the Content-Type, owned by the tree, or NULL */
const char *part_get_parameter(const struct mailmime *part, const char *name);

/** @return the message if its parts may be a report, owned by the tree, or NULL */
const struct mailmime *part_find_report(const struct part_tree *tree);

/** @return children of a multipart: array of struct mailmime, which the tree owns */
GPtrArray *part_get_children(const struct mailmime *part);

/**
 * Decode the transfer encoding and the charset of a part.
 *
 * @return valid UTF-8 with LF line ends, at most max_bytes, owned by the caller
 */
char *part_decode(
    const struct mailmime *part, struct charset_set *charsets, size_t max_bytes);
