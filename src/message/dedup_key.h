/*
 * dedup_key.h - by what a letter is known again, before anybody has parsed it.
 *
 * A linear look at the first header block: nothing is decoded, nothing is nested, and
 * memory does not grow with what is in it.  All else of a letter is for its reader.
 */
#ifndef PAPERBOY_MESSAGE_DEDUP_KEY_H
#define PAPERBOY_MESSAGE_DEDUP_KEY_H

#include <stdbool.h>
#include <stddef.h>

/* Hexadecimal digits. */
#define DEDUP_KEY_LENGTH 64

/**
 * Make the key of a letter: a hash of its Message-ID, From and body.
 *
 * The same letter has the same key whatever receiver it came by: other header fields,
 * CRLF or LF, empty lines at the end, and the name beside its author's address make no
 * difference.  One without a Message-ID is known by its Date, Subject and first hop
 * (the lowest Received) in its place.
 *
 * @param raw  any octets
 * @return DEDUP_KEY_LENGTH lower-case hexadecimal digits, owned by the caller
 */
char *inmail_key_format(const void *raw, size_t size);

/**
 * Find a field, the topmost of that name: what our own side wrote stands above what a
 * stranger did.
 *
 * @param name  in any case, without the colon
 * @return its value on one line, blanks at its ends off and without controls; at most
 *         BOUNDS_MAIL_VALUE_BYTES; not checked to be UTF-8.  NULL where there is
 * none. Owned by the caller
 */
char *inmail_key_find_field(const void *raw, size_t size, const char *name);

/**
 * Find an envelope address in a field: "<a@b>", "a@b", or "<>", which gives "".
 *
 * @return valid UTF-8 without blanks and controls, at most BOUNDS_ADDRESS_BYTES, owned
 *         by the caller; NULL where there is none
 */
char *inmail_key_find_address(const void *raw, size_t size, const char *name);

#endif
