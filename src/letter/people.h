/*
 * people.h - who wrote to whom: addresses, ids and dates of a header, as records.
 *
 * libetpan reads the syntax; mail/address.h decides what is an address.  Those that it
 * refuses are left out.
 */
#ifndef PAPERBOY_LETTER_PEOPLE_H
#define PAPERBOY_LETTER_PEOPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "letter/charset.h"
#include "letter/fields.h"
#include "mail/letter_wire.h"

/**
 * Append every usable address of all fields of a name, groups' members too.
 *
 * @return how many such fields there are
 */
unsigned people_append_mailboxes(GString *out, const GArray *fields, const char *name,
    enum letter_tag tag, struct charset_set *charsets);

/**
 * Append the one address that the topmost field of a name has.
 *
 * @param is_null_told  append an empty record for "<>"
 */
void people_append_address(GString *out, const GArray *fields, const char *name,
    enum letter_tag tag, bool is_null_told);

/** Append the message ids in the topmost field of a name: the last `count` of them. */
void people_append_ids(GString *out, const GArray *fields, const char *name,
    enum letter_tag tag, unsigned count);

/** Append the topmost Date, where it can be read and is of the years 1970 to 9999. */
void people_append_date(GString *out, const GArray *fields);

#endif
