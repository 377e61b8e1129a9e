/*
 * test_address.c - validation and comparison of addresses.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/cases.h"
#include "lib/unit.h"
#include "message/address.h"

TEST(accepts_common_addresses)
{
	CASES_FOREACH(row, "address_accepted", *text, *canonical) {
		struct address address = {0};

		g_assert_true(NO_ERROR(address_parse(row->text, &address, &error)));
		g_assert_cmpstr(address.text, ==, row->canonical);
		g_assert_true(g_str_has_suffix(address.text, address.domain));
		g_assert_true(g_str_has_prefix(address.text, address.local));
		address_clear(&address);
		address_clear(&address);
	}
}

TEST(refuses_with_a_reason)
{
	CASES_FOREACH(row, "address_refused", *text, *why) {
		struct address address = {.local = (char *)"untouched"};
		g_autoptr(GError) error = NULL;

		if (address_parse(row->text, &address, &error))
			g_error("accepted: %s", row->text);
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		g_assert_cmpstr(address.local, ==, "untouched");
		if (!strstr(error->message, row->why))
			g_error("%s: %s", row->text, error->message);
	}
}

static bool
accepts(const char *text)
{
	pb_local(address) address = {0};
	g_autoptr(GError) error = NULL;
	bool is_accepted = address_parse(text, &address, &error);

	if (!is_accepted)
		g_assert_error(error, PB_ERROR, PB_ERROR_LIMIT);
	return is_accepted;
}

static char *
new_address(size_t local_size, size_t label_size, size_t total)
{
	g_autofree char *local = g_strnfill(local_size, 'l');
	g_autofree char *label = g_strnfill(label_size, 'd');
	GString *text = g_string_new(NULL);

	g_string_printf(text, "%s@%s", local, label);
	while (text->len < total) {
		g_autofree char *more =
		    g_strnfill(CLAMP(total - text->len - 1, 1, 60), 'd');

		g_string_append_printf(text, ".%s", more);
	}
	if (!strchr(text->str, '.'))
		g_string_append(text, ".example");
	return g_string_free(text, FALSE);
}

TEST(lengths_are_limited)
{
	g_autofree char *local_at = new_address(BOUNDS_LOCAL_PART_BYTES, 1, 0);
	g_autofree char *local_past = new_address(BOUNDS_LOCAL_PART_BYTES + 1, 1, 0);
	g_autofree char *label_at = new_address(1, BOUNDS_LABEL_BYTES, 0);
	g_autofree char *label_past = new_address(1, BOUNDS_LABEL_BYTES + 1, 0);
	g_autofree char *all_at = new_address(10, 10, BOUNDS_ADDRESS_BYTES);
	g_autofree char *all_past = new_address(10, 10, BOUNDS_ADDRESS_BYTES + 1);
	g_autofree char *huge = new_address(10, 10, 100000);
	g_autofree char *domain_at = new_address(1, 1, BOUNDS_DOMAIN_BYTES + 2);
	g_autofree char *domain_past = new_address(1, 1, BOUNDS_DOMAIN_BYTES + 3);
	g_autofree char *domain = address_parse_domain(domain_at + 2, NULL);

	g_assert_cmpuint(strlen(all_at), ==, BOUNDS_ADDRESS_BYTES);
	g_assert_cmpuint(strlen(all_past), ==, BOUNDS_ADDRESS_BYTES + 1);
	g_assert_true(accepts(local_at));
	g_assert_false(accepts(local_past));
	g_assert_true(accepts(label_at));
	g_assert_false(accepts(label_past));
	g_assert_true(accepts(all_at));
	g_assert_false(accepts(all_past));
	g_assert_false(accepts(huge));
	g_assert_nonnull(domain);
	g_assert_cmpuint(strlen(domain), ==, BOUNDS_DOMAIN_BYTES);
	g_assert_null(address_parse_domain(domain_past + 2, NULL));
}

TEST(parses_a_display_name)
{
	CASES_FOREACH(row, "address_display_names", *text, *name) {
		pb_local(address) address = {0};
		g_autofree char *name = NULL;
		g_autoptr(GError) error = NULL;

		g_assert_true(
		    address_parse_mailbox(row->text, &address, &name, &error));
		g_assert_no_error(error);
		g_assert_cmpstr(name, ==, row->name);
		g_assert_cmpstr(address.text, ==, "a@example.org");
	}
}

TEST(rejects_invalid_display_names)
{
	g_autofree char *at = g_strnfill(BOUNDS_PERSON_NAME_BYTES, 'n');
	g_autofree char *long_at = g_strconcat(at, " <a@example.org>", NULL);
	g_autofree char *long_past = g_strconcat("n", long_at, NULL);
	g_autofree char *found = NULL;
	pb_local(address) address = {0};

	CASES_FOREACH(row, "address_names_bad", *text) {
		char *name = NULL;
		g_autoptr(GError) error = NULL;

		if (address_parse_mailbox(row->text, &address, &name, &error))
			g_error("accepted: %s", row->text);
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		g_assert_null(name);
		g_assert_null(address.text);
	}
	g_assert_false(address_parse_mailbox(long_past, &address, &found, NULL));
	g_assert_true(address_parse_mailbox(long_at, &address, &found, NULL));
	g_assert_cmpstr(found, ==, at);
}

static char *
get_key(const char *text)
{
	pb_local(address) address = {0};
	char *key;

	g_assert_true(address_parse(text, &address, NULL));
	key = address_format_key(&address);
	return key;
}

TEST(keys_compare_equal_for_the_same_person)
{
	CASES_FOREACH(row, "address_keys", *one, *other, *is_same) {
		g_autofree char *one = get_key(row->one);
		g_autofree char *other = get_key(row->other);

		if ((strcmp(one, other) == 0) != cases_is_yes(row->is_same))
			g_error("%s and %s", one, other);
	}
}

TEST(formats_a_mailto_uri)
{
	pb_local(address) address = {0};
	g_autofree char *link = NULL;
	g_autofree char *plain = NULL;

	g_assert_true(address_parse("zoë+a&b?c@bücher.example", &address, NULL));
	link = address_format_mailto(&address, "stop & \"go\"\r\n");
	plain = address_format_mailto(&address, NULL);
	g_assert_cmpstr(link, ==,
	    "mailto:zo%C3%AB+a%26b%3Fc@xn--bcher-kva.example"
	    "?subject=stop%20%26%20%22go%22%0D%0A");
	g_assert_cmpstr(plain, ==, "mailto:zo%C3%AB+a%26b%3Fc@xn--bcher-kva.example");
}

UNIT_MAIN
