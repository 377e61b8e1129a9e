/*
 * fuzz_http_retry_after.c - parse any values of Retry-After and rate-limit headers.
 */
#include "base/bounds.h"
#include "fuzz.h"
#include "net/http_retry_after.h"

static void
check_wait(int64_t wait_s)
{
	g_assert(wait_s == HTTP_RETRY_AFTER_UNKNOWN ||
	         (wait_s >= 0 && wait_s <= BOUNDS_HTTP_WAIT_S));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	g_autofree char *first = fuzz_take_text(&input);
	g_autofree char *second = fuzz_take_text(&input);

	check_wait(http_retry_after_parse(first, second));
	check_wait(http_retry_after_parse(first, NULL));
	check_wait(http_retry_after_parse(first, "Fri, 20 Nov 2026 08:00:00 GMT"));
	check_wait(http_retry_after_parse_ratelimit(first));
	g_assert(http_retry_after_parse_date(first) >= HTTP_RETRY_AFTER_UNKNOWN);
	return 0;
}
