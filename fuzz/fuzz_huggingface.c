/*
 * fuzz_huggingface.c - parse any answer of Hugging Face.
 *
 * All papers are within their limits and valid in a mail.
 */
#include <string.h>

#include "base/bounds.h"
#include "fuzz.h"
#include "model/paper.h"
#include "sources/huggingface.h"

#define DAY "2026-11-20"

static void
check_page(GBytes *json)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GPtrArray) listings = NULL;
	struct json_page page = {.total = -1};

	listings = huggingface_parse(json, NULL, DAY, &page, &error);
	g_free(page.next);
	if (!listings) {
		fuzz_check_error(error);
		g_assert(!page.next);
		return;
	}
	g_assert(!error);
	g_assert(listings->len <= BOUNDS_PAPERS_BATCH);
	listings = source_merge_listings(listings);
	for (guint i = 0; i < listings->len; i++) {
		const struct listing *listing = listings->pdata[i];

		g_assert_cmpstr(listing->day, ==, DAY);
		fuzz_check_paper(listing->paper);
		g_assert(
		    strcspn(listing->paper->id, ":()") == strlen(listing->paper->id));
		g_assert(g_hash_table_add(ids, listing->paper->id));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	g_autoptr(GBytes) json = fuzz_take_bytes(&input);
	bool is_not_yet;
	g_autofree char *reported = huggingface_parse_error(json, &is_not_yet);

	check_page(json);
	if (reported)
		fuzz_check_line(reported, BOUNDS_SOURCE_ERROR_BYTES);
	return 0;
}
