/*
 * fuzz_url.c - check any text as a link.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/text.h"
#include "fuzz.h"
#include "message/sanitize.h"

/* Nothing in it can end an attribute, a line or a pair of brackets. */
static void
check_harmless(const char *url)
{
	size_t scheme = strcspn(url, "/") + 2;

	g_assert(g_ascii_strncasecmp(url, "http://", 7) == 0 ||
	         g_ascii_strncasecmp(url, "https://", 8) == 0);
	for (const char *p = url; *p; p++)
		g_assert(g_ascii_isgraph(*p) && !strchr("\"'<>\\`", *p));
	g_assert(!memchr(url + scheme, '@', strcspn(url + scheme, "/?#")));
	g_assert(strcspn(url + scheme, "/?#:") > 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	size_t limit = fuzz_take_byte(&input) & 1 ? 40 : BOUNDS_PAPER_URL_BYTES;
	g_autofree char *text = fuzz_take_text(&input);
	g_autofree char *url = text_normalize_url(text, limit);

	if (url) {
		g_autofree char *again = text_normalize_url(url, limit);

		g_assert(strlen(url) <= limit);
		check_harmless(url);
		g_assert_cmpstr(url, ==, again);
	}
	if (sanitize_is_web_url(text)) {
		g_assert(strlen(text) <= BOUNDS_PAPER_URL_BYTES);
		check_harmless(text);
	}
	return 0;
}
