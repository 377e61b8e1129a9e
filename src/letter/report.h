/*
 * report.h - the machine-readable part of a report (RFC 6522), as records.
 */
#ifndef PAPERBOY_LETTER_REPORT_H
#define PAPERBOY_LETTER_REPORT_H

#include "letter/charset.h"
#include "letter/fields.h"
#include "letter/part.h"
#include "mail/letter_wire.h"

/**
 * Append what a multipart/report says: its kind, groups of fields, and the header of
 * the message that it is about (mail/letter_wire.h).  Nothing for another message.
 */
void
report_append(GString *out, const struct part_tree *tree, struct charset_set *charsets);

/** Append one field as a record, "Name: value", its encoded words read. */
void report_append_field(GString *out, enum letter_tag tag,
    const struct fields_entry *entry, struct charset_set *charsets);

#endif
