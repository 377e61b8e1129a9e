/*
 * address.h - mail addresses: what may enter, and when two are the same.
 *
 * Stricter than RFC 5322 on purpose: what passes here goes into SMTP commands
 * and headers as it stands.  Every way in and the way out use it.
 */
#ifndef PAPERBOY_MESSAGE_ADDRESS_H
#define PAPERBOY_MESSAGE_ADDRESS_H

#include <glib.h>
#include <stdbool.h>

struct address {
	char *local;  /* as given: [A-Za-z0-9] and the like, or UTF-8 (RFC 6531) */
	char *domain; /* A-labels in lower case (RFC 5890), at least two */
	char *text;   /* local@domain, at most BOUNDS_ADDRESS_BYTES */
};

/**
 * Parse an addr-spec and nothing else.
 *
 * Refused: blanks, controls, invisible characters, angle brackets, comments,
 * source routes in any of their forms (`@a:b@c`, `a%b@c`, `a!b@c`), address
 * literals, domains without a dot or with a number as the last label, empty
 * labels, dots at the ends of the local part or side by side, more than 64
 * octets before `@` or 254 in all (RFC 5321 section 4.5.3.1).  A quoted local
 * part may hold letters, digits and dots in any order, since a few providers
 * gave out such names; it keeps its quotes only where it needs them.
 *
 * @param text   any octets up to the NUL
 * @param out    set on success only; address_clear() it
 * @return false with PB_ERROR_INPUT, or PB_ERROR_LIMIT where it is too long
 */
bool address_parse(const char *text, struct address *out, GError **error);

/**
 * Parse `addr`, `<addr>`, `Name <addr>` or `"Name" <addr>`.  The name is taken
 * as it stands: encoded words are not decoded.
 *
 * @param name  set on success only: the name, owned by the caller, or NULL;
 *              at most BOUNDS_PERSON_NAME_BYTES
 * @return as address_parse()
 */
bool address_parse_mailbox(
    const char *text, struct address *out, char **name, GError **error);

/** Check a domain by the rules above. @return it in A-labels and lower case, or NULL */
char *address_parse_domain(const char *text, GError **error);

/** Free what an address holds and leave it empty; an empty one is fine. */
void address_clear(struct address *address);

/**
 * The key that says whether two addresses are one person: the local part in
 * NFC and folded case, the domain as above; tags and dots count.
 *
 * @return owned by the caller
 */
char *address_format_key(const struct address *address);

/**
 * Format a mailto link (RFC 6068).
 *
 * @param subject  plain text, or NULL for none
 * @return pure ASCII without blanks, quotes or angle brackets, owned by the caller
 */
char *address_format_mailto(const struct address *address, const char *subject);

#endif
