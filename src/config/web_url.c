/*
 * web_url.c - check of web.url, for all programs that read it.
 */
#include "config/web_url.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"

static bool
is_base(const char *url, GUri *uri)
{
	for (const char *at = url; *at; at++)
		if (!g_ascii_isgraph(*at) || strchr("\"<>,'", *at))
			return false;
	return uri && strlen(url) <= BOUNDS_WEB_URL_BYTES &&
	       (g_str_has_prefix(url, "https://") ||
	           g_str_has_prefix(url, "http://")) &&
	       g_uri_get_host(uri) && *g_uri_get_host(uri) &&
	       !g_uri_get_userinfo(uri) && !g_uri_get_query(uri) &&
	       !g_uri_get_fragment(uri) && !*g_uri_get_path(uri);
}

/* One click and links need TLS, but for tests on the same machine. */
static bool
is_insecure(GUri *uri)
{
	const char *host = g_uri_get_host(uri);

	return strcmp(g_uri_get_scheme(uri), "http") == 0 &&
	       strcmp(host, "localhost") != 0 &&
	       !g_str_has_suffix(host, ".localhost") &&
	       !g_str_has_prefix(host, "127.") && strcmp(host, "::1") != 0;
}

bool
web_url_check(const char *url, GError **error)
{
	g_autoptr(GUri) uri = g_uri_parse(url, G_URI_FLAGS_ENCODED, NULL);

	if (!is_base(url, uri))
		return pb_fail(error, PB_ERROR_INPUT,
		    "'%s' is not the base of links (expected, for example, "
		    "https://papers.example.org, without a slash at the end)",
		    url);
	if (is_insecure(uri))
		return pb_fail(error, PB_ERROR_INPUT,
		    "https:// is needed, but for tests on localhost (links contain "
		    "tokens)");
	return true;
}
