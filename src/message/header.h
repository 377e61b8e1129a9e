/*
 * header.h - header fields, appended to a message one by one.
 *
 * Lines end in CRLF, aim at 78 columns (RFC 5322 section 2.1.1) and never pass
 * 998.  Text is made inert first (message/sanitize.h), so that no value can start a
 * line of its own.  Everything is ASCII, save an address that is not ASCII
 * itself (RFC 6532).  Field names are ours and valid.  On failure nothing is
 * appended; errors are PB_ERROR_INPUT.
 */
#ifndef PAPERBOY_MESSAGE_HEADER_H
#define PAPERBOY_MESSAGE_HEADER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct header_mailbox {
	const char *name;    /* any text, or NULL; cut at BOUNDS_PERSON_NAME_BYTES */
	const char *address; /* an addr-spec as address_parse() takes it */
};

/**
 * Append unstructured text: as it is where it is ASCII and can be folded, else as
 * encoded words of at most 75 octets that end between characters (RFC 2047).
 */
void header_append_text(GString *out, const char *name, const char *text);

/** Append a list of mailboxes, `Name <addr>, addr`; every address is checked again. */
bool header_append_mailboxes(GString *out, const char *name,
    const struct header_mailbox *list, size_t count, GError **error);

/**
 * Append a date (RFC 5322 section 3.3) in English, whatever the locale.
 *
 * @param at            s since the epoch, UTC; years 1 to 9999
 * @param offset_min    zone to show it in: minutes east of UTC, within a day
 */
bool header_append_date(
    GString *out, const char *name, int64_t at, int offset_min, GError **error);

/**
 * Append one message id (RFC 5322 section 3.6.4).
 *
 * @param id  without the angle brackets: dot-atom@dot-atom, ASCII
 */
bool header_append_message_id(
    GString *out, const char *name, const char *id, GError **error);

/**
 * Append a structured value that is composed already.  It may be folded at its
 * blanks.
 *
 * @param value  printable ASCII; no word longer than a line can be
 */
bool
header_append_folded(GString *out, const char *name, const char *value, GError **error);

/**
 * Format a phrase (RFC 5322 section 3.2.5): plain words, a quoted string, or
 * encoded words, whichever is the simplest that holds the text.
 *
 * @return may be folded at its blanks; empty for empty text; owned by the caller
 */
char *header_format_phrase(const char *text);

/** Tell whether text is dot-atom@dot-atom of at most BOUNDS_MESSAGE_ID_BYTES. */
bool header_is_message_id(const char *text);

#endif
