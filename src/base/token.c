/*
 * token.c - tokens derived from a secret key, which need no database row.
 */
#include "base/token.h"

#include <inttypes.h>
#include <string.h>

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";

#define MAC_BYTES   32
#define TOKEN_BYTES 10

struct token_signer {
	GHmac *primed;  /* initialised with the key only */
	char key_digit; /* identifies the key */
};

/* Copy the keyed HMAC state: setting the key is half of the cost. */
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
	return g_hmac_new(G_CHECKSUM_SHA256, secret, MIN(size, TOKEN_KEY_BYTES));
}

unsigned
token_count_keys(GBytes *keys)
{
	return MAX(1, (unsigned)(g_bytes_get_size(keys) / TOKEN_KEY_BYTES));
}

GBytes *
token_get_key(GBytes *keys, unsigned number)
{
	g_assert(number < token_count_keys(keys));
	return g_bytes_new_from_bytes(keys, (gsize)number * TOKEN_KEY_BYTES,
	    MIN(g_bytes_get_size(keys), TOKEN_KEY_BYTES));
}

char *
token_hash_string(GBytes *key, const char *purpose, const char *text)
{
	g_autofree char *whole = g_strdup_printf("%s:%s", purpose, text);
	size_t size = 0;
	const uint8_t *secret = g_bytes_get_data(key, &size);

	g_assert(purpose[0] != '\0' && !strchr(purpose, ':'));
	return g_compute_hmac_for_string(
	    G_CHECKSUM_SHA256, secret, MIN(size, TOKEN_KEY_BYTES), whole, -1);
}

/* Append lower-case base32; the last digit is padded with zero bits. */
static void
append_base32(GString *out, const uint8_t *bytes, size_t count)
{
	unsigned bits = 0;
	uint32_t held = 0;

	for (size_t i = 0; i < count; i++) {
		held = held << 8 | bytes[i];
		for (bits += 8; bits >= 5; bits -= 5)
			g_string_append_c(out, alphabet[held >> (bits - 5) & 31]);
	}
	if (bits)
		g_string_append_c(out, alphabet[held << (5 - bits) & 31]);
}

struct token_signer *
token_signer_new(GBytes *key)
{
	struct token_signer *signer = g_new0(struct token_signer, 1);
	uint8_t mac[MAC_BYTES];

	signer->primed = prime(key);
	/* Purposes are not empty, so this MAC never occurs in a token. */
	derive_mac(signer->primed, ":key", mac);
	signer->key_digit = alphabet[mac[0] & 31];
	return signer;
}

void
token_signer_free(struct token_signer *signer)
{
	if (!signer)
		return;
	g_hmac_unref(signer->primed);
	g_free(signer);
}

char *
token_signer_derive_text(
    const struct token_signer *signer, const char *purpose, const char *text)
{
	g_autofree char *whole = g_strconcat(purpose, ":", text, NULL);
	GString *token = g_string_sized_new(TOKEN_SIGNED_BYTES_MAX);
	uint8_t mac[MAC_BYTES];

	g_assert(purpose[0] != '\0' && !strchr(purpose, ':'));
	derive_mac(signer->primed, whole, mac);
	g_string_append_c(token, signer->key_digit);
	append_base32(token, mac, TOKEN_BYTES);
	return g_string_free(token, FALSE);
}

char *
token_signer_derive(const struct token_signer *signer, const char *purpose, int64_t id)
{
	g_autofree char *text = g_strdup_printf("%" PRId64, id);

	return token_signer_derive_text(signer, purpose, text);
}

char *
token_format_with_id(const char *token, int64_t id)
{
	char digits[TOKEN_SIGNED_BYTES_MAX - TOKEN_LENGTH];
	size_t first = sizeof(digits);

	g_assert(id >= 0);
	do {
		digits[--first] = alphabet[id & 31];
		id >>= 5;
	} while (id);
	return g_strdup_printf(
	    "%s%.*s", token, (int)(sizeof(digits) - first), digits + first);
}

char *
token_signer_sign(
    const struct token_signer *signer, const char *purpose, int64_t id, int64_t bound)
{
	g_autofree char *text = g_strdup_printf("%" PRId64 ":%" PRId64, id, bound);
	g_autofree char *token = token_signer_derive_text(signer, purpose, text);

	return token_format_with_id(token, id);
}

char *
token_sign(GBytes *key, const char *purpose, int64_t id, int64_t bound)
{
	pb_auto(token_signer) signer = token_signer_new(key);

	return token_signer_sign(signer, purpose, id, bound);
}

/* @return the value of a base32 digit in any case, or -1 */
static int
get_digit(char digit)
{
	const char *at = digit ? strchr(alphabet, g_ascii_tolower(digit)) : NULL;

	return at ? (int)(at - alphabet) : -1;
}

/* Check for exactly this number of base32 digits. */
static bool
is_base32(const char *text, size_t least, size_t most)
{
	size_t size = 0;

	while (size <= most && get_digit(text[size]) >= 0)
		size++;
	return !text[size] && size >= least && size <= most;
}

bool
token_parse_id(const char *text, int64_t *id)
{
	uint64_t value = 0;

	if (!is_base32(text, TOKEN_LENGTH + 1, TOKEN_SIGNED_BYTES_MAX))
		return false;
	for (const char *p = text + TOKEN_LENGTH; *p; p++) {
		/* 13 digits hold 65 bits: check for overflow. */
		if (value > (uint64_t)INT64_MAX >> 5)
			return false;
		value = value << 5 | (unsigned)get_digit(*p);
	}
	*id = (int64_t)value;
	return true;
}

bool
token_is_equal(const char *one, const char *other)
{
	size_t size = strlen(one);
	bool differs_in_size = strlen(other) != size;
	unsigned differs = differs_in_size;

	for (size_t k = 0; !differs_in_size && k < size; k++)
		differs |= (unsigned char)(one[k] ^ other[k]);
	return !differs;
}

bool
token_check_signed(
    GBytes *keys, const char *purpose, int64_t id, int64_t bound, const char *text)
{
	g_autofree char *given = g_ascii_strdown(text, -1);
	bool is_good = false;

	for (unsigned i = 0; i < token_count_keys(keys); i++) {
		g_autoptr(GBytes) key = token_get_key(keys, i);
		g_autofree char *wanted = token_sign(key, purpose, id, bound);

		is_good |= token_is_equal(wanted, given);
	}
	return is_good;
}

char *
token_format_random(const uint8_t *bytes)
{
	GString *token = g_string_new(NULL);

	append_base32(token, bytes, TOKEN_RANDOM_BYTES);
	return g_string_free(token, FALSE);
}

char *
token_hash_random(const char *text)
{
	g_autofree char *lower = NULL;

	if (!is_base32(text, TOKEN_RANDOM_LENGTH, TOKEN_RANDOM_LENGTH))
		return NULL;
	lower = g_ascii_strdown(text, -1);
	return g_compute_checksum_for_string(G_CHECKSUM_SHA256, lower, -1);
}

char *
token_derive(GBytes *key, const char *purpose, int64_t id)
{
	pb_auto(token_signer) signer = token_signer_new(key);

	return token_signer_derive(signer, purpose, id);
}
