/*
 * envelope.h - a message to one recipient, and its wire format.
 *
 * The creator of the envelope has validated it; it is checked again here because a line
 * break in an address would be a command (SMTP smuggling).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* All borrowed. */
struct envelope {
	const char *id;     /* the same for every attempt: outbox id or Message-ID; file
	                       name in a Maildir */
	const char *sender; /* reverse-path; "" for the null sender */
	const char *recipient; /* forward-path */
	GBytes *message;       /* header and body with CRLF line ends */
	bool needs_smtputf8;   /* UTF-8 in the header; addresses are checked here */
};

/**
 * Check the addresses: at most BOUNDS_ADDRESS_BYTES, no space, control character, DEL,
 * "<" or ">"; valid UTF-8; the recipient is not empty.
 *
 * @return false with PB_ERROR_PERMANENT
 */
bool envelope_check_addresses(const struct envelope *envelope, GError **error);

/** Whether an address or the header needs SMTPUTF8 (RFC 6531). */
bool envelope_needs_smtputf8(const struct envelope *envelope);

/**
 * Check the lines of the message.
 *
 * @param is_8bit  set: the message has bytes above 127
 * @return false with PB_ERROR_PERMANENT for a bare CR or LF, a NUL, or a line longer
 *         than BOUNDS_LINE_BYTES without its end
 */
bool
envelope_check_message(const struct envelope *envelope, bool *is_8bit, GError **error);

/**
 * Append a checked message in DATA format: dots stuffed (RFC 5321 section 4.5.2), a
 * final line end if missing, and the final dot.
 */
void envelope_append_data(const struct envelope *envelope, GString *data);

/** Check the message and append it with LF line ends; nothing is appended on failure.
 */
bool
envelope_format_file(const struct envelope *envelope, GString *file, GError **error);
