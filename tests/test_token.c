/*
 * test_token.c - derived tokens: what they are made of and what they keep apart.
 */
#include <glib.h>
#include <string.h>

#include "base/token.h"

static GBytes *
new_key(char first)
{
	char key[32] = {first};

	return g_bytes_new(key, sizeof(key));
}

static void
has_the_shape_it_promises(void)
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
static void
equals_a_known_token(void)
{
	char octets[32];
	g_autoptr(GBytes) key = NULL;
	g_autofree char *token = NULL;

	for (size_t i = 0; i < sizeof(octets); i++)
		octets[i] = (char)i;
	key = g_bytes_new(octets, sizeof(octets));
	token = token_derive(key, "reply", 42);
	g_assert_cmpstr(token, ==, "qmdriejd7hk75ahmt");
}

static void
differs_by_key_purpose_and_id(void)
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
static void
stands_for_a_text_that_it_does_not_tell(void)
{
	char octets[32];
	g_autoptr(GBytes) key = NULL;
	g_autofree char *hash = NULL;
	g_autofree char *other = NULL;

	for (size_t i = 0; i < sizeof(octets); i++)
		octets[i] = (char)i;
	key = g_bytes_new(octets, sizeof(octets));
	hash = token_hash_text(key, "suppression", "ada@example.org");
	other = token_hash_text(key, "suppressing", "ada@example.org");
	g_assert_cmpstr(hash, ==,
	    "8a8a3bbb622ec8a8532c9bbacb668ec3a331a9fa27ab70fbe06273f2058fe25b");
	g_assert_cmpstr(hash, !=, other);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/token/has the shape it promises", has_the_shape_it_promises);
	g_test_add_func("/token/equals a known token", equals_a_known_token);
	g_test_add_func(
	    "/token/differs by key, purpose and id", differs_by_key_purpose_and_id);
	g_test_add_func("/token/stands for a text that it does not tell",
	    stands_for_a_text_that_it_does_not_tell);
	return g_test_run();
}
