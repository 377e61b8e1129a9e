/*
 * address_fields.h - who wrote to whom: addresses, ids and dates of a header, as
 * records.
 *
 * libetpan reads the syntax; message/address.h decides what is an address.  Those that
 * it refuses are left out.
 */
#ifndef PAPERBOY_PARSER_ADDRESS_FIELDS_H
#define PAPERBOY_PARSER_ADDRESS_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "message/parser_proto.h"
#include "parser/charset.h"
#include "parser/headers.h"

/**
 * Append every usable address of all fields of a name, groups' members too.
 *
 * @return how many such fields there are
 */
unsigned address_fields_append_mailboxes(GString *out, const GArray *fields,
    const char *name, enum proto_tag tag, struct charset_set *charsets);

/**
 * Append the one address that the topmost field of a name has.
 *
 * @param is_null_told  append an empty record for "<>"
 */
void address_fields_append_address(GString *out, const GArray *fields, const char *name,
    enum proto_tag tag, bool is_null_reported);

/** Append the message ids in the topmost field of a name: the last `count` of them. */
void address_fields_append_ids(GString *out, const GArray *fields, const char *name,
    enum proto_tag tag, unsigned count);

/** Append the topmost Date, where it can be read and is of the years 1970 to 9999. */
void address_fields_append_date(GString *out, const GArray *fields);

#endif
