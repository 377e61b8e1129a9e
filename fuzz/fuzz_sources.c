/*
 * fuzz_sources.c - parse any answer of bioRxiv, Europe PMC or Crossref.
 *
 * The first byte chooses the service and whether the page is the first one.  All papers
 * are within their limits and valid in a mail, and distinct.
 */
#include <string.h>

#include "base/bounds.h"
#include "fuzz.h"
#include "sources/biorxiv.h"
#include "sources/crossref.h"
#include "sources/europepmc.h"

#define DAY "2026-11-20"

typedef GPtrArray *parse_fn(GBytes *json, const struct source_options *options,
    const char *day, struct json_page *page, GError **error);

/* @param listings  taken */
static void
check_listings(GPtrArray *listings)
{
	g_autoptr(GPtrArray) merged = source_merge_listings(listings);
	g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);

	g_assert(merged->len <= BOUNDS_PAPERS_BATCH);
	for (guint i = 0; i < merged->len; i++) {
		const struct listing *listing = merged->pdata[i];

		g_assert_cmpstr(listing->day, ==, DAY);
		fuzz_check_paper(listing->paper);
		g_assert(g_hash_table_add(ids, listing->paper->id));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static parse_fn *const parsers[] = {
	    biorxiv_parse, europepmc_parse, crossref_parse};
	static const struct source_options options = {.name = "x", .kind = "medrxiv"};
	struct fuzz_input input = {data, size};
	unsigned choice = fuzz_take_byte(&input);
	struct json_page page = {.cursor = choice & 4 ? "100" : NULL, .total = -1};
	g_autoptr(GBytes) json = fuzz_take_bytes(&input);
	g_autoptr(GError) error = NULL;
	GPtrArray *listings =
	    parsers[(choice & 3) % 3](json, &options, DAY, &page, &error);

	g_assert(listings ? !error : !page.next);
	if (listings)
		check_listings(listings);
	else
		fuzz_check_error(error);
	g_free(page.next);
	return 0;
}
