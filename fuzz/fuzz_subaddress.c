/*
 * fuzz_subaddress.c - parse any text as one of our addresses, or as a token in one.
 *
 * Our addresses are formatted to themselves again, in any case of letters; a valid
 * token was made here.
 */
#include <string.h>

#include "base/token.h"
#include "fuzz.h"
#include "message/subaddress.h"

/* Addresses from a template are the same. */
static void
check_form(const struct subaddress_base *base, enum subaddress_kind kind,
    const char *token, const char *wanted)
{
	g_autofree char *link = NULL;
	g_autofree char *filled = NULL;
	g_autofree char *filled_link = NULL;
	struct subaddress_template form;

	if (strspn(token, "abcdefghijklmnopqrstuvwxyz234567") != strlen(token))
		return;
	subaddress_template_init(&form, base, kind, false);
	filled = subaddress_template_expand(&form, token);
	g_assert_cmpstr(filled, ==, wanted);
	subaddress_template_clear(&form);
	subaddress_template_init(&form, base, kind, true);
	filled_link = subaddress_template_expand(&form, token);
	link = subaddress_format_mailto(base, kind, token);
	g_assert_cmpstr(filled_link, ==, link);
	subaddress_template_clear(&form);
}

static void
check_address(const struct subaddress_base *base, const char *text)
{
	g_autofree char *token = NULL;
	g_autofree char *again_token = NULL;
	g_autofree char *again = NULL;
	g_autofree char *upper = g_ascii_strup(text, -1);
	g_autofree char *upper_token = NULL;
	enum subaddress_kind kind, again_kind;
	struct address address = {0};

	if (!subaddress_parse(base, text, &kind, &token))
		return;
	g_assert(address_parse(text, &address, NULL));
	g_assert_cmpstr(address.domain, ==, base->address.domain);
	address_clear(&address);
	g_assert(subaddress_parse(base, upper, &again_kind, &upper_token));
	g_assert(again_kind == kind);
	g_assert_cmpstr(upper_token, ==, token);
	g_assert((kind >= SUBADDRESS_CONFIRM && kind < SUBADDRESS_UNKNOWN) == !!*token);
	if (kind == SUBADDRESS_UNKNOWN)
		return;
	again = subaddress_format(base, kind, *token ? token : NULL);
	g_assert(subaddress_parse(base, again, &again_kind, &again_token));
	g_assert(again_kind == kind);
	g_assert_cmpstr(again_token, ==, token);
	if (*token)
		check_form(base, kind, token, again);
}

static void
check_token(const char *text)
{
	static const uint8_t secret[32] = "a key that nobody has";
	g_autoptr(GBytes) key = g_bytes_new_static(secret, sizeof(secret));
	g_autofree char *hash = token_hash_random(text);
	int64_t id = -1;

	g_assert(!hash || strlen(hash) == 64);
	if (token_parse_id(text, &id)) {
		g_autofree char *good = token_sign(key, "reply", id, 7);
		g_autofree char *lower = g_ascii_strdown(text, -1);
		int64_t again = -1;

		g_assert(id >= 0);
		g_assert(token_parse_id(good, &again) && again == id);
		g_assert(token_check_signed(key, "reply", id, 7, text) ==
		         (strcmp(lower, good) == 0));
		g_assert(!token_check_signed(key, "reply", id, 8, good));
	} else {
		g_assert(id == -1);
		g_assert(!token_check_signed(key, "reply", 7, 7, text));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	struct subaddress_base base = {0}, other = {0};
	g_autofree char *text = fuzz_take_text(&input);
	g_autofree char *address = fuzz_take_text(&input);
	g_autofree char *delimiter = fuzz_take_text(&input);
	g_autoptr(GError) error = NULL;

	g_assert(subaddress_base_parse("paperboy@example.org", "+", &base, NULL));
	check_address(&base, text);
	check_token(text);
	if (subaddress_base_parse(address, delimiter, &other, &error)) {
		g_autofree char *joined = g_strdup_printf("%s%s%s@%s",
		    other.address.local, delimiter, text, other.address.domain);

		check_address(&other, joined);
	} else {
		fuzz_check_error(error);
	}
	subaddress_base_clear(&base);
	subaddress_base_clear(&other);
	return 0;
}
