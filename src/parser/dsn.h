/*
 * dsn.h - the machine-readable part of a report (RFC 6522), as records.
 */
#ifndef PAPERBOY_PARSER_DSN_H
#define PAPERBOY_PARSER_DSN_H

#include "message/parser_proto.h"
#include "parser/charset.h"
#include "parser/headers.h"
#include "parser/part.h"

/**
 * Append what a multipart/report says: its kind, groups of fields, and the header of
 * the message that it is about (mail/inmail_wire.h).  Nothing for another message.
 */
void
dsn_append(GString *out, const struct part_tree *tree, struct charset_set *charsets);

/** Append one field as a record, "Name: value", its encoded words read. */
void dsn_append_field(GString *out, enum proto_tag tag,
    const struct headers_entry *entry, struct charset_set *charsets);

#endif
