/*
 * dsn.h - parse reports (RFC 6522): DSN, MDN, ARF.
 *
 * Some servers send the parts of a report in a multipart/mixed.
 */
#ifndef PAPERBOY_PARSER_DSN_H
#define PAPERBOY_PARSER_DSN_H

#include "message/parser_proto.h"
#include "parser/charset.h"
#include "parser/headers.h"
#include "parser/part.h"

/**
 * Append the kind of a report, its groups of fields, and the header of the returned
 * message.  Of a message in a multipart/mixed without a report only the header is
 * appended.
 */
void
dsn_append(GString *out, const struct part_tree *tree, struct charset_set *charsets);

/** Append a field as a record "Name: value", with encoded words decoded. */
void dsn_append_field(GString *out, enum proto_tag tag,
    const struct headers_entry *entry, struct charset_set *charsets);

#endif
