/*
 * address.h - validation and comparison of mail addresses.
 *
 * Stricter than RFC 5322 on purpose: addresses are copied unchanged into SMTP commands
 * and headers. All input and output goes through it.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

struct address {
	char *local;  /* as given: ASCII, or UTF-8 (RFC 6531) */
	char *domain; /* lower-case A-labels (RFC 5890), at least two */
	char *text;   /* local@domain, at most BOUNDS_ADDRESS_BYTES */
};

/**
 * Parse an addr-spec.
 *
 * Rejected: blanks, controls, invisible characters, angle brackets, comments, source
 * routes (`@a:b@c`, `a%b@c`, `a!b@c`), address literals, domains without a dot or with
 * a numeric last label, empty labels, leading, trailing or repeated dots in the local
 * part, more than 64 bytes before `@` or 254 in total (RFC 5321 section 4.5.3.1). A
 * quoted local part may contain letters, digits and dots in any order, because a few
 * providers issued such addresses; it keeps its quotes only where needed.
 *
 * @param text  any bytes up to the NUL
 * @param out   set on success only; address_clear() it
 * @return false with PB_ERROR_INPUT, or PB_ERROR_LIMIT if too long
 */
bool address_parse(const char *text, struct address *out, GError **error);

/**
 * Parse `addr`, `<addr>`, `Name <addr>` or `"Name" <addr>`. Encoded words in the name
 * are not decoded.
 *
 * @param name  set on success only: the name or NULL, at most BOUNDS_PERSON_NAME_BYTES,
 *              owned by the caller
 * @return as address_parse()
 */
bool address_parse_mailbox(
    const char *text, struct address *out, char **name, GError **error);

/** Validate a domain. @return its lower-case A-labels, or NULL */
char *address_parse_domain(const char *text, GError **error);

/** Free the members and set them to NULL. */
void address_clear(struct address *address);

/**
 * Key for comparison: the local part in NFC and case-folded, the domain as above;
 * subaddresses and dots count.
 *
 * @return owned by the caller
 */
char *address_format_key(const struct address *address);

/**
 * Format a mailto URI (RFC 6068).
 *
 * @param subject  plain text, or NULL
 * @return ASCII without blanks, quotes or angle brackets, owned by the caller
 */
char *address_format_mailto(const struct address *address, const char *subject);
