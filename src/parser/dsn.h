/*
 * dsn.h - parse multipart/report messages (RFC 6522): DSN, MDN, ARF.
 */
#ifndef PAPERBOY_PARSER_DSN_H
#define PAPERBOY_PARSER_DSN_H

#include "message/parser_proto.h"
#include "parser/charset.h"
#include "parser/headers.h"
#include "parser/part.h"

/**
 * Append the kind of a multipart/report, its groups of fields, and the header of the
 * returned message. Appends nothing for other messages.
 */
void
dsn_append(GString *out, const struct part_tree *tree, struct charset_set *charsets);

/** Append a field as a record "Name: value", with encoded words decoded. */
void dsn_append_field(GString *out, enum proto_tag tag,
    const struct headers_entry *entry, struct charset_set *charsets);

#endif
