/*
 * token.c - tokens that are derived from a secret and so need no row.
 */
#include "base/token.h"

#include <string.h>

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

#define MAC_BYTES   32
#define TOKEN_BYTES 10

static void
hmac(GBytes *key, const char *text, size_t size, uint8_t mac[MAC_BYTES])
{
	size_t key_size = 0;
	const uint8_t *secret = g_bytes_get_data(key, &key_size);
	size_t length = MAC_BYTES;
	GHmac *state;

	g_assert(key_size > 0);
	state = g_hmac_new(G_CHECKSUM_SHA256, secret, key_size);
	g_hmac_update(state, (const guchar *)text, (gssize)size);
	g_hmac_get_digest(state, mac, &length);
	g_hmac_unref(state);
}

char *
token_hash_text(GBytes *key, const char *purpose, const char *text)
{
	g_autofree char *whole = g_strdup_printf("%s:%s", purpose, text);
	uint8_t mac[MAC_BYTES];
	GString *digits = g_string_sized_new(sizeof(mac) * 2);

	g_assert(purpose[0] != '\0' && !strchr(purpose, ':'));
	hmac(key, whole, strlen(whole), mac);
	for (size_t i = 0; i < sizeof(mac); i++)
		g_string_append_printf(digits, "%02x", mac[i]);
	return g_string_free(digits, FALSE);
}

char *
token_derive(GBytes *key, const char *purpose, int64_t id)
{
	g_autofree char *text = g_strdup_printf("%s:%" G_GINT64_FORMAT, purpose, id);
	uint8_t mac[MAC_BYTES];
	char token[TOKEN_LENGTH + 1];
	char *next = token;
	unsigned bits = 0;
	uint32_t held = 0;

	/* No purpose is empty, so this MAC is nobody's token. */
	g_assert(purpose[0] != '\0' && !strchr(purpose, ':'));
	hmac(key, ":key", strlen(":key"), mac);
	*next++ = alphabet[mac[0] & 31];

	hmac(key, text, strlen(text), mac);
	for (size_t i = 0; i < TOKEN_BYTES; i++) {
		held = held << 8 | mac[i];
		for (bits += 8; bits >= 5; bits -= 5)
			*next++ = alphabet[held >> (bits - 5) & 31];
	}
	*next = '\0';
	return g_strdup(token);
}
