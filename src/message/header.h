/*
 * header.h - append header fields to a message.
 *
 * Lines end in CRLF, are folded at 78 columns if possible (RFC 5322 section 2.1.1) and
 * never exceed 998. Text is sanitized first (message/sanitize.h), so that no value can
 * start a new line. All output is ASCII, except for addresses (RFC 6532). Field names
 * are trusted. On failure (PB_ERROR_INPUT) nothing is appended.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct header_mailbox {
	const char *name;    /* any text, or NULL; cut at BOUNDS_PERSON_NAME_BYTES */
	const char *address; /* addr-spec valid for address_parse() */
};

/**
 * Append unstructured text: literally if it is ASCII and can be folded, else as encoded
 * words of at most 75 bytes of whole characters (RFC 2047).
 */
void header_append_text(GString *out, const char *name, const char *text);

/** Append a list of mailboxes `Name <addr>, addr`; the addresses are validated. */
bool header_append_mailboxes(GString *out, const char *name,
    const struct header_mailbox *list, size_t count, GError **error);

/**
 * Append a date in UTC (RFC 5322 section 3.3), independent of the locale.
 *
 * @param at  s since the epoch; years 1 to 9999
 */
bool header_append_date(GString *out, const char *name, int64_t at, GError **error);

/**
 * Append a message id (RFC 5322 section 3.6.4).
 *
 * @param id  without angle brackets: dot-atom@dot-atom, ASCII
 */
bool header_append_message_id(
    GString *out, const char *name, const char *id, GError **error);

/**
 * Append a structured value, which may be folded at blanks.
 *
 * @param value  printable ASCII; no word longer than a line
 */
bool
header_append_folded(GString *out, const char *name, const char *value, GError **error);

/**
 * Format a phrase (RFC 5322 section 3.2.5) as plain words, a quoted string, or encoded
 * words, whichever is the simplest possible.
 *
 * @return may be folded at blanks; empty for empty text; owned by the caller
 */
char *header_format_phrase(const char *text);

/** Whether text is dot-atom@dot-atom of at most BOUNDS_MESSAGE_ID_BYTES. */
bool header_is_message_id(const char *text);
