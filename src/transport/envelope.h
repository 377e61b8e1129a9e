/*
 * envelope.h - one message on its way to one recipient, and its form on the wire.
 *
 * Whoever made the envelope has checked all of this; it is checked again here, for
 * a line break in an address would be a command (SMTP smuggling).
 */
#ifndef PAPERBOY_TRANSPORT_ENVELOPE_H
#define PAPERBOY_TRANSPORT_ENVELOPE_H

#include <glib.h>
#include <stdbool.h>

/* All borrowed. */
struct envelope {
	const char *id;        /* the same for every attempt: an outbox number or a
	                          Message-ID; names the file in a Maildir */
	const char *sender;    /* where bounces go; "" is the null sender */
	const char *recipient; /* one */
	GBytes *message;       /* headers and body, every line ending in CRLF */
	bool needs_smtputf8; /* the headers hold UTF-8; addresses are looked at here */
};

/**
 * Check the addresses: at most BOUNDS_ADDRESS_BYTES, no space, control character,
 * DEL, "<" or ">"; UTF-8 when not ASCII; the recipient is not empty.
 *
 * @return false with PB_ERROR_PERMANENT
 */
bool envelope_check_addresses(const struct envelope *envelope, GError **error);

/** Tell whether an address or a header needs SMTPUTF8 (RFC 6531). */
bool envelope_needs_smtputf8(const struct envelope *envelope);

/** Tell whether the message has octets over 127. */
bool envelope_is_8bit(const struct envelope *envelope);

/**
 * Append the message as it goes out behind DATA: dots doubled at the start of a line
 * (RFC 5321 section 4.5.2), a last line end if there was none, and the final dot.
 *
 * @return false with PB_ERROR_PERMANENT for a CR or LF alone, a NUL, or a line over
 *         BOUNDS_LINE_BYTES without its end; nothing is appended then
 */
bool
envelope_format_data(const struct envelope *envelope, GString *data, GError **error);

/**
 * Append the message as it lies in a file: lines end in LF.  Fails as
 * envelope_format_data() does.
 */
bool
envelope_format_file(const struct envelope *envelope, GString *file, GError **error);

#endif
