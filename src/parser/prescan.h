/*
 * prescan.h - a look at a foreign message before its parser sees it.
 *
 * The parser recurses: a message nested deep enough ends it or keeps it busy for
 * minutes.  Here are no recursion, no allocation that grows with depth, and one pass.
 * What the parser may take for structure is counted even where this reading of
 * RFC 2046 does not, so that no other reading gets past the bounds.
 */
#ifndef PAPERBOY_PARSER_PRESCAN_H
#define PAPERBOY_PARSER_PRESCAN_H

#include <glib.h>
#include <stdbool.h>

/**
 * Give a message plain line ends: LF for CRLF (and for CR CR LF, which gateways
 * make) and, in bodies, for CR alone.  A line "From " before the header goes.
 *
 * In the header a CR that ends no line is refused: it would make a field of its own
 * that the mail server, which removes forged fields, did not see.
 *
 * @param size_out  set on success only
 * @return NUL-terminated, owned by the caller; NULL with PB_ERROR_LIMIT that says which
 * bound was passed
 */
char *prescan_normalize(const char *raw, size_t size, size_t *size_out, GError **error);

/**
 * Check a message with plain line ends against the bounds of a letter.
 *
 * @return false with PB_ERROR_LIMIT that says which bound was passed
 */
bool prescan_check(const char *text, size_t size, GError **error);

#endif
