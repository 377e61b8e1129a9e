/*
 * fuzz_oauth.c - parse any response of an OAuth server, and any challenge of a mail
 * server.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "fuzz.h"
#include "net/oauth.h"

static void
check_printable(const char *text)
{
	for (; *text; text++)
		g_assert(g_ascii_isprint(*text));
}

static void
check_token(const char *token)
{
	g_assert(*token);
	for (; *token; token++)
		g_assert(g_ascii_isgraph(*token));
}

static void
check_response(const uint8_t *data, size_t size, int status)
{
	pb_local(oauth_response) response = {0};
	g_autoptr(GError) error = NULL;

	if (!oauth_parse_response(
	        (const char *)data, size, status, &response, &error)) {
		g_assert_nonnull(error);
		g_assert(status != 503 || error->code == PB_ERROR_TEMPORARY);
		check_printable(error->message);
		return;
	}
	g_assert_cmpint(status, ==, 200);
	check_token(response.access_token);
	if (response.refresh_token)
		check_token(response.refresh_token);
	g_assert(response.lifetime_s >= 1 && response.lifetime_s <= 366 * 86400);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *explained = oauth_format_challenge((const char *)data, size);
	g_autofree char *base64 = g_base64_encode(data, size);
	g_autofree char *decoded = oauth_format_challenge(base64, strlen(base64));

	if (explained)
		check_printable(explained);
	if (decoded) {
		check_printable(decoded);
		g_assert(strlen(decoded) <= 2 * BOUNDS_REPLY_TEXT_BYTES);
	}
	check_response(data, size, 200);
	check_response(data, size, 400);
	check_response(data, size, 503);
	return 0;
}
