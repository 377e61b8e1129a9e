/*
 * fuzz_feed.c - parse any XML as arXiv's feed, answer of its API, or other feed.
 *
 * All papers are within their limits and valid in a mail.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/day.h"
#include "base/text.h"
#include "fuzz.h"
#include "model/paper_id.h"
#include "sources/arxiv_listing.h"
#include "sources/feed.h"

#define DAY "2026-11-20"

static void
check_text(const char *text, size_t most)
{
	if (text)
		fuzz_check_line(text, most);
}

static void
check_listing(const struct listing *listing)
{
	const struct paper *paper = listing->paper;
	g_autofree char *url = text_normalize_url(paper->url, BOUNDS_PAPER_URL_BYTES);

	g_assert(paper->id[0] && strlen(paper->id) <= BOUNDS_PAPER_ID_BYTES);
	for (const char *at = paper->id; *at; at++)
		g_assert(g_ascii_isalnum(*at) || strchr(".-_/:()", *at));
	g_assert(paper->title[0]);
	check_text(paper->title, BOUNDS_PAPER_TITLE_BYTES);
	check_text(paper->abstract, BOUNDS_PAPER_ABSTRACT_BYTES);
	check_text(paper->comment, BOUNDS_PAPER_TITLE_BYTES);
	check_text(paper->journal, BOUNDS_PAPER_TITLE_BYTES);
	check_text(paper->doi, BOUNDS_PAPER_DOI_BYTES);
	g_assert(paper->authors->len <= BOUNDS_PAPER_AUTHORS);
	for (guint i = 0; i < paper->authors->len; i++) {
		g_assert(*(const char *)paper->authors->pdata[i]);
		check_text(paper->authors->pdata[i], BOUNDS_PAPER_AUTHOR_BYTES);
	}
	for (guint i = 0; paper->categories && i < paper->categories->len; i++)
		check_text(paper->categories->pdata[i], BOUNDS_PAPER_KEYWORD_BYTES);
	g_assert_cmpstr(paper->url, ==, url);
	g_assert(paper->published_at >= PAPER_UNKNOWN);
}

static void
check_listings(GPtrArray *listings)
{
	g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; listings && i < listings->len; i++) {
		const struct listing *listing = listings->pdata[i];

		check_listing(listing);
		g_assert(g_hash_table_add(ids, listing->paper->id));
	}
	if (listings)
		g_ptr_array_unref(listings);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	g_autoptr(GBytes) xml = fuzz_take_bytes(&input);
	g_autoptr(GError) error = NULL;
	pb_auto(feed_xml) feed =
	    feed_xml_parse(xml, "https://example.org/feed", &error);

	if (!feed) {
		fuzz_check_error(error);
		return 0;
	}
	g_assert(!error && feed->entries->len <= BOUNDS_PAPERS_BATCH);
	g_assert(!*feed->day || day_is_valid(feed->day));
	check_listings(feed_source_make_listings(feed, "made-up", DAY));
	check_listings(arxiv_listing_from_feed(feed, DAY, &error));
	g_clear_error(&error);
	check_listings(arxiv_listing_from_api(feed, &error));
	return 0;
}
