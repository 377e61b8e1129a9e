/*
 * dedup_key.h - key for duplicate suppression, computed without a MIME parser.
 *
 * A linear scan of the top-level header: no decoding, no nesting, bounded memory.
 * Everything else is done by paperboy-parser.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Length of a key in hexadecimal digits. */
#define DEDUP_KEY_LENGTH 64

/**
 * Hash the Message-ID, the From address and the body.
 *
 * The key does not depend on the receiver: other header fields, CRLF or LF, empty lines
 * at the end, and the display name in From are ignored. Without a Message-ID, the Date,
 * Subject and first hop (the lowest Received) are used instead.
 *
 * @param raw  any bytes
 * @return DEDUP_KEY_LENGTH lower-case hexadecimal digits, owned by the caller
 */
char *dedup_key_format(const void *raw, size_t size);

/**
 * Find the topmost field of a name: fields added by our own server are above those of
 * the sender.
 *
 * @param name  case-insensitive, without the colon
 * @return its value on one line without controls and surrounding blanks, at most
 *         BOUNDS_MAIL_VALUE_BYTES, not validated as UTF-8, owned by the caller; NULL if
 *         there is none
 */
char *dedup_key_find_field(const void *raw, size_t size, const char *name);

/**
 * Find an envelope address in a field: "<a@b>", "a@b", or "<>" for "".
 *
 * @return valid UTF-8 without blanks and controls, at most BOUNDS_ADDRESS_BYTES, owned
 *         by the caller; NULL if there is none
 */
char *dedup_key_find_address(const void *raw, size_t size, const char *name);
