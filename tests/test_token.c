/*
 * test_token.c - derived tokens: their input, and separation by purpose.
 */
#include <string.h>

#include "base/token.h"
#include "lib/unit.h"

static GBytes *
new_key(char first)
{
	char key[32] = {first};

	return g_bytes_new(key, sizeof(key));
}

static GBytes *
join_keys(GBytes *key, GBytes *older)
{
	g_autoptr(GByteArray) keys = g_byte_array_new();

	g_byte_array_append(keys, g_bytes_get_data(key, NULL), TOKEN_KEY_BYTES);
	g_byte_array_append(keys, g_bytes_get_data(older, NULL), TOKEN_KEY_BYTES);
	return g_byte_array_free_to_bytes(g_steal_pointer(&keys));
}

TEST(has_the_shape_it_promises)
{
	g_autoptr(GBytes) key = new_key('k');

	for (int64_t id = -3; id < 100; id++) {
		g_autofree char *token = token_derive(key, "message-id", id);

		g_assert_cmpuint(strlen(token), ==, TOKEN_LENGTH);
		g_assert_cmpuint(strspn(token, "abcdefghijklmnopqrstuvwxyz234567"), ==,
		    TOKEN_LENGTH);
	}
}

/*
 * Made apart from this code:
 * python3 -c 'import hmac,base64; m=lambda t:
 * hmac.new(bytes(range(32)),t,"sha256").digest(); a="abcdefghijklmnopqrstuvwxyz234567";
 * print(a[m(b":key")[0]&31] + base64.b32encode(m(b"reply:42")[:10]).decode().lower())'
 */
TEST(equals_a_known_token)
{
	char bytes[32];
	g_autoptr(GBytes) key = NULL;
	g_autofree char *token = NULL;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)i;
	key = g_bytes_new(bytes, sizeof(bytes));
	token = token_derive(key, "reply", 42);
	g_assert_cmpstr(token, ==, "qmdriejd7hk75ahmt");
}

TEST(differs_by_key_purpose_and_id)
{
	g_autoptr(GBytes) key = new_key('a');
	g_autoptr(GBytes) other_key = new_key('b');
	g_autofree char *token = token_derive(key, "reply", 12);
	g_autofree char *again = token_derive(key, "reply", 12);
	g_autofree char *other_id = token_derive(key, "reply", 21);
	g_autofree char *other_purpose = token_derive(key, "bounce", 12);
	g_autofree char *from_other_key = token_derive(other_key, "reply", 12);

	g_assert_cmpstr(token, ==, again);
	g_assert_cmpstr(token, !=, other_id);
	g_assert_cmpstr(token + 1, !=, other_purpose + 1);
	g_assert_cmpstr(token + 1, !=, from_other_key + 1);
	g_assert_cmpint(token[0], ==, other_purpose[0]);
	g_assert_cmpint(token[0], !=, from_other_key[0]);
}

/*
 * Made apart from this code:
 * python3 -c 'import hmac;
 * print(hmac.new(bytes(range(32)),b"suppression:ada@example.org","sha256").hexdigest())'
 */
TEST(a_token_does_not_reveal_its_text)
{
	char bytes[32];
	g_autoptr(GBytes) key = NULL;
	g_autofree char *hash = NULL;
	g_autofree char *other = NULL;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)i;
	key = g_bytes_new(bytes, sizeof(bytes));
	hash = token_hash_string(key, "suppression", "ada@example.org");
	other = token_hash_string(key, "suppressing", "ada@example.org");
	g_assert_cmpstr(hash, ==,
	    "8a8a3bbb622ec8a8532c9bbacb668ec3a331a9fa27ab70fbe06273f2058fe25b");
	g_assert_cmpstr(hash, !=, other);
}

TEST(a_signed_token_has_its_id_and_authenticates_it)
{
	static const int64_t ids[] = {0, 1, 31, 32, 1000000, INT64_MAX};
	g_autoptr(GBytes) key = new_key('a');
	g_autoptr(GBytes) older = new_key('b');
	for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
		g_autofree char *token = token_sign(key, "reply", ids[i], 7);
		g_autofree char *old = token_sign(older, "reply", ids[i], 7);
		g_autofree char *upper = g_ascii_strup(token, -1);
		g_autofree char *longer = g_strconcat(token, "a", NULL);
		int64_t id = -1;

		g_assert_cmpuint(strlen(token), <=, TOKEN_SIGNED_BYTES_MAX);
		g_assert_true(token_parse_id(upper, &id));
		g_assert_cmpint(id, ==, ids[i]);
		g_assert_true(token_check_signed(key, "reply", id, 7, upper));
		g_assert_false(token_check_signed(key, "reply", id, 8, token));
		g_assert_false(token_check_signed(key, "bounce", id, 7, token));
		g_assert_false(token_check_signed(key, "reply", id ^ 1, 7, token));
		g_assert_false(token_check_signed(key, "reply", id, 7, longer));
		g_assert_false(token_check_signed(key, "reply", id, 7, old));
		token[1] = token[1] == 'a' ? 'b' : 'a';
		g_assert_false(token_check_signed(key, "reply", id, 7, token));
	}
	{
		/* After a rotation both are valid. */
		g_autofree char *old = token_sign(older, "reply", 5, 7);
		g_autoptr(GBytes) both = join_keys(key, older);
		g_autofree char *now = token_sign(both, "reply", 5, 7);
		g_autofree char *alone = token_sign(key, "reply", 5, 7);

		g_assert_true(token_check_signed(both, "reply", 5, 7, old));
		g_assert_true(token_check_signed(both, "reply", 5, 7, now));
		g_assert_cmpstr(now, ==, alone);
	}
}

/* As equals_a_known_token(), of "message-id:7:2026-11-20T07:30:a b". */
TEST(a_text_has_a_token)
{
	char bytes[32];
	g_autoptr(GBytes) key = NULL;
	pb_auto(token_signer) maker = NULL;
	g_autofree char *token = NULL;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)i;
	key = g_bytes_new(bytes, sizeof(bytes));
	maker = token_signer_new(key);
	token = token_signer_derive_text(maker, "message-id", "7:2026-11-20T07:30:a b");
	g_assert_cmpstr(token, ==, "qyggknbrvpsalilie");
}

TEST(invalid_tokens_are_rejected)
{
	static const char *const texts[] = {"", "a", "qmdriejd7hk75ahmt",
	    "qmdriejd7hk75ahmt0", "qmdriejd7hk75ahmt-",
	    "qmdriejd7hk75ahmtqaaaaaaaaaaaa", "qmdriejd7hk75ahmtaaaaaaaaaaaaaa"};
	int64_t id = -1;

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		g_assert_false(token_parse_id(texts[i], &id));
	g_assert_cmpint(id, ==, -1);
	g_assert_null(token_hash_random("abcdefghijklmnopqrstuvwxy"));
	g_assert_null(token_hash_random("abcdefghijklmnopqrstuvwxyza"));
	g_assert_null(token_hash_random("abcdefghijklmnopqrstuvwxy1"));
}

TEST(a_random_token_is_found_by_its_hash_in_any_case)
{
	static const uint8_t bytes[TOKEN_RANDOM_BYTES] = {0xff, 1};
	g_autofree char *token = token_format_random(bytes);
	g_autofree char *upper = g_ascii_strup(token, -1);
	g_autofree char *hash = token_hash_random(token);
	g_autofree char *again = token_hash_random(upper);

	g_assert_cmpstr(token, ==, "74aqaaaaaaaaaaaaaaaaaaaaaa");
	g_assert_cmpstr(hash, ==, again);
	g_assert_cmpuint(strlen(hash), ==, 64);
}

TEST(an_id_is_found_in_a_stored_token)
{
	static const int64_t ids[] = {0, 1, 31, 32, 600000, INT64_MAX};

	for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
		g_autofree char *token =
		    token_format_with_id("abcdefghijklmnopq", ids[i]);
		int64_t id = -1;

		g_assert_true(g_str_has_prefix(token, "abcdefghijklmnopq"));
		g_assert_true(token_parse_id(token, &id));
		g_assert_cmpint(id, ==, ids[i]);
	}
}

UNIT_MAIN
