/*
 * token.c - tokens that are derived from a secret and so need no row.
 */
#include "base/token.h"

#include <string.h>

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

#define MAC_BYTES   32
#define TOKEN_BYTES 10

struct token_maker {
	GHmac *primed;  /* with the key, and nothing else */
	char key_digit; /* tells which key made a token */
};

/* Copied, since it takes half of the work to take in the key. */
static void
derive_mac(GHmac *primed, const char *text, uint8_t mac[MAC_BYTES])
{
	size_t length = MAC_BYTES;
	GHmac *state = g_hmac_copy(primed);

	g_hmac_update(state, (const guchar *)text, (gssize)strlen(text));
	g_hmac_get_digest(state, mac, &length);
	g_hmac_unref(state);
}

static GHmac *
prime(GBytes *key)
{
	size_t size = 0;
	const uint8_t *secret = g_bytes_get_data(key, &size);

	g_assert(size > 0);
	return g_hmac_new(G_CHECKSUM_SHA256, secret, size);
}

char *
token_hash_text(GBytes *key, const char *purpose, const char *text)
{
	g_autofree char *whole = g_strdup_printf("%s:%s", purpose, text);
	uint8_t mac[MAC_BYTES];
	GString *digits = g_string_sized_new(sizeof(mac) * 2);
	GHmac *primed = prime(key);

	g_assert(purpose[0] != '\0' && !strchr(purpose, ':'));
	derive_mac(primed, whole, mac);
	g_hmac_unref(primed);
	for (size_t i = 0; i < sizeof(mac); i++)
		g_string_append_printf(digits, "%02x", mac[i]);
	return g_string_free(digits, FALSE);
}

struct token_maker *
token_maker_new(GBytes *key)
{
	struct token_maker *maker = g_new0(struct token_maker, 1);
	uint8_t mac[MAC_BYTES];

	maker->primed = prime(key);
	/* No purpose is empty, so this MAC is nobody's token. */
	derive_mac(maker->primed, ":key", mac);
	maker->key_digit = alphabet[mac[0] & 31];
	return maker;
}

void
token_maker_free(struct token_maker *maker)
{
	if (!maker)
		return;
	g_hmac_unref(maker->primed);
	g_free(maker);
}

char *
token_maker_derive(const struct token_maker *maker, const char *purpose, int64_t id)
{
	g_autofree char *text = g_strdup_printf("%s:%" G_GINT64_FORMAT, purpose, id);
	uint8_t mac[MAC_BYTES];
	char token[TOKEN_LENGTH + 1];
	char *next = token;
	unsigned bits = 0;
	uint32_t held = 0;

	g_assert(purpose[0] != '\0' && !strchr(purpose, ':'));
	*next++ = maker->key_digit;
	derive_mac(maker->primed, text, mac);
	for (size_t i = 0; i < TOKEN_BYTES; i++) {
		held = held << 8 | mac[i];
		for (bits += 8; bits >= 5; bits -= 5)
			*next++ = alphabet[held >> (bits - 5) & 31];
	}
	*next = '\0';
	return g_strdup(token);
}

char *
token_derive(GBytes *key, const char *purpose, int64_t id)
{
	pb_auto(token_maker) maker = token_maker_new(key);

	return token_maker_derive(maker, purpose, id);
}
