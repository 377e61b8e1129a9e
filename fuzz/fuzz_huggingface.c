/*
 * fuzz_huggingface.c - parse any answer of Hugging Face.
 *
 * All papers are within their limits and valid in a mail.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/text.h"
#include "fuzz.h"
#include "model/paper.h"
#include "sources/huggingface_parse.h"

#define DAY "2026-11-20"

static void
check_url(const char *url)
{
	g_autofree char *normal = text_normalize_url(url, BOUNDS_PAPER_URL_BYTES);

	g_assert_cmpstr(url, ==, normal);
}

static void
check_paper(const struct paper *paper)
{
	g_assert(paper->id[0] && strlen(paper->id) <= BOUNDS_PAPER_ID_BYTES);
	g_assert(
	    strspn(paper->id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                      "0123456789.-_/") == strlen(paper->id));
	g_assert(paper->title[0]);
	fuzz_check_line(paper->title, BOUNDS_PAPER_TITLE_BYTES);
	fuzz_check_line(paper->abstract, BOUNDS_PAPER_ABSTRACT_BYTES);
	g_assert(paper->authors->len <= BOUNDS_PAPER_AUTHORS);
	for (guint i = 0; i < paper->authors->len; i++) {
		g_assert(*(const char *)paper->authors->pdata[i]);
		fuzz_check_line(paper->authors->pdata[i], BOUNDS_PAPER_AUTHOR_BYTES);
	}
	if (paper->organization)
		fuzz_check_line(paper->organization, BOUNDS_PAPER_ORG_BYTES);
	g_assert(paper->url);
	check_url(paper->url);
	check_url(paper->code_url);
	check_url(paper->project_url);
	g_assert(paper->published_at >= PAPER_UNKNOWN);
	g_assert(paper->upvotes >= PAPER_UNKNOWN);
	g_assert(paper->comments >= PAPER_UNKNOWN);
	g_assert(paper->stars >= PAPER_UNKNOWN);
}

static void
check_page(GBytes *json)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GPtrArray) listings = NULL;
	size_t elements = SIZE_MAX;

	listings = huggingface_parse_page(json, DAY, &elements, &error);
	if (!listings) {
		fuzz_check_error(error);
		g_assert(elements == SIZE_MAX);
		return;
	}
	g_assert(!error);
	g_assert(listings->len <= elements && elements <= BOUNDS_PAPERS_BATCH);
	for (guint i = 0; i < listings->len; i++) {
		const struct listing *listing = listings->pdata[i];

		g_assert_cmpstr(listing->day, ==, DAY);
		check_paper(listing->paper);
		g_assert(g_hash_table_add(ids, listing->paper->id));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	g_autoptr(GBytes) json = fuzz_take_bytes(&input);
	g_autofree char *reported = huggingface_parse_error(json);

	check_page(json);
	if (reported) {
		fuzz_check_line(reported, BOUNDS_SOURCE_ERROR_BYTES);
		huggingface_is_not_yet(reported);
	}
	return 0;
}
