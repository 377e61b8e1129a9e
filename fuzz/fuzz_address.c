/*
 * fuzz_address.c - parse any text as an address or a mailbox.
 *
 * An accepted address is valid between the angle brackets of an SMTP command and in a
 * header, and formatting and parsing it again gives the same address.
 */
#include <string.h>

#include "base/bounds.h"
#include "fuzz.h"
#include "message/address.h"
#include "message/header.h"

/* RFC 5321 section 4.1.2: a dot-string, or a quoted one without escapes. */
static void
check_local(const char *local)
{
	size_t size = strlen(local);
	bool is_quoted = local[0] == '"';

	g_assert(size > 0 && size <= BOUNDS_LOCAL_PART_BYTES);
	if (is_quoted)
		g_assert(size > 2 && local[size - 1] == '"');
	else
		g_assert(
		    local[0] != '.' && local[size - 1] != '.' && !strstr(local, ".."));
	for (size_t i = is_quoted; i < size - is_quoted; i++)
		g_assert(
		    (local[i] & 0x80) || (g_ascii_isgraph(local[i]) &&
		                             !strchr("\"(),:;<>@[\\]%!", local[i])));
}

static void
check_domain(const char *domain)
{
	g_auto(GStrv) labels = g_strsplit(domain, ".", -1);

	g_assert(strlen(domain) <= BOUNDS_DOMAIN_BYTES);
	g_assert(g_strv_length(labels) >= 2);
	for (size_t i = 0; labels[i]; i++) {
		size_t size = strlen(labels[i]);

		g_assert(size > 0 && size <= BOUNDS_LABEL_BYTES);
		g_assert(
		    strspn(labels[i], "abcdefghijklmnopqrstuvwxyz0123456789-") == size);
		g_assert(labels[i][0] != '-' && labels[i][size - 1] != '-');
	}
}

static void
check_mailto(const struct address *address)
{
	g_autofree char *link = address_format_mailto(address, address->text);

	g_assert(g_str_has_prefix(link, "mailto:"));
	for (const char *p = link; *p; p++)
		g_assert(g_ascii_isgraph(*p) && !strchr("\"'<>\\", *p));
}

static void
check_address(const struct address *address)
{
	g_autofree char *joined =
	    g_strconcat(address->local, "@", address->domain, NULL);
	g_autofree char *key = address_format_key(address);
	struct address again = {0};

	g_assert_cmpstr(address->text, ==, joined);
	g_assert(strlen(joined) <= BOUNDS_ADDRESS_BYTES);
	fuzz_check_line(joined, BOUNDS_ADDRESS_BYTES);
	check_local(address->local);
	check_domain(address->domain);
	check_mailto(address);
	g_assert(g_utf8_validate(key, -1, NULL));
	g_assert(address_parse(address->text, &again, NULL));
	g_assert_cmpstr(again.text, ==, address->text);
	address_clear(&again);
}

static void
check_in_header(const struct address *address, const char *name)
{
	const struct header_mailbox mailbox = {name, address->text};
	g_autoptr(GString) field = g_string_new(NULL);

	g_assert(header_append_mailboxes(field, "To", &mailbox, 1, NULL));
	fuzz_check_field(field, "To", g_str_is_ascii(address->text));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	g_autofree char *text = fuzz_take_text(&input);
	g_autofree char *name = NULL;
	g_autoptr(GError) error = NULL;
	g_autoptr(GError) mailbox_error = NULL;
	struct address address = {0};
	struct address mailbox = {0};

	if (address_parse(text, &address, &error))
		check_address(&address);
	else
		fuzz_check_error(error);
	if (address_parse_mailbox(text, &mailbox, &name, &mailbox_error)) {
		check_address(&mailbox);
		if (name)
			fuzz_check_line(name, BOUNDS_PERSON_NAME_BYTES);
		check_in_header(&mailbox, name);
	} else {
		fuzz_check_error(mailbox_error);
		/* Every address is a mailbox. */
		g_assert(!address.text && !mailbox.text && !name);
	}
	address_clear(&address);
	address_clear(&mailbox);
	return 0;
}
