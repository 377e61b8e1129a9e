/*
 * web_policy.c - the Content-Security-Policy of a page.
 */
#include "web/web_policy.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#define HASH_BYTES 32 /* SHA-256 */

/* Hashes are 53 characters; web servers limit the size of a header. */
#define HASHES_MAX 30

/* @param hashes  of char *, without duplicates */
static void
add_hash(GPtrArray *hashes, const char *style, gsize size)
{
	g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
	g_autofree char *base64 = NULL;
	guint8 digest[HASH_BYTES];
	gsize length = sizeof digest;
	char *hash;

	g_checksum_update(checksum, (const guchar *)style, (gssize)size);
	g_checksum_get_digest(checksum, digest, &length);
	base64 = g_base64_encode(digest, length);
	hash = g_strdup_printf("'sha256-%s'", base64);
	if (hashes->len < HASHES_MAX &&
	    !g_ptr_array_find_with_equal_func(hashes, hash, g_str_equal, NULL))
		g_ptr_array_add(hashes, hash);
	else
		g_free(hash);
}

/* Add the hash of each text between two marks. @return whether there was one */
static bool
add_styles(GPtrArray *hashes, const char *html, const char *open, const char *close)
{
	bool has_any = false;
	const char *end;

	for (const char *at = strstr(html, open); at; at = strstr(end, open)) {
		at += strlen(open);
		end = strstr(at, close);
		if (!end)
			break;
		/* The hash is that of the decoded value; none of ours has entities. */
		add_hash(hashes, at, (gsize)(end - at));
		has_any = true;
	}
	return has_any;
}

char *
web_policy_format(const char *html)
{
	g_autoptr(GPtrArray) hashes = g_ptr_array_new_with_free_func(g_free);
	GString *policy = g_string_new("default-src 'none'");
	bool has_attributes;

	add_styles(hashes, html, "<style>", "</style>");
	has_attributes = add_styles(hashes, html, " style=\"", "\"");
	if (hashes->len > 0)
		g_string_append(policy, "; img-src data:; style-src");
	if (has_attributes)
		g_string_append(policy, " 'unsafe-hashes'");
	for (unsigned i = 0; i < hashes->len; i++)
		g_string_append_printf(policy, " %s", (char *)hashes->pdata[i]);
	g_string_append(
	    policy, "; form-action 'self'; frame-ancestors 'none'; base-uri 'none'");
	return g_string_free(policy, FALSE);
}
