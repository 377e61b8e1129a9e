/*
 * address_fields.h - addresses, message ids and dates of a header as records.
 *
 * libetpan parses the syntax, message/address.h validates the addresses. Invalid ones
 * are omitted.
 */
#ifndef PAPERBOY_PARSER_ADDRESS_FIELDS_H
#define PAPERBOY_PARSER_ADDRESS_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "message/parser_proto.h"
#include "parser/charset.h"
#include "parser/headers.h"

/**
 * Append the valid addresses in all fields of a name, including group members.
 *
 * @return number of such fields
 */
unsigned address_fields_append_mailboxes(GString *out, const GArray *fields,
    const char *name, enum proto_tag tag, struct charset_set *charsets);

/**
 * Append the single address in the topmost field of a name.
 *
 * @param has_null  whether to append an empty record for "<>"
 */
void address_fields_append_address(GString *out, const GArray *fields, const char *name,
    enum proto_tag tag, bool has_null);

/** Append the last `count` message ids in the topmost field of a name. */
void address_fields_append_ids(GString *out, const GArray *fields, const char *name,
    enum proto_tag tag, unsigned count);

/** Append the topmost Date if valid, years 1970 to 9999. */
void address_fields_append_date(GString *out, const GArray *fields);

#endif
