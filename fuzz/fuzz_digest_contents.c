/*
 * fuzz_digest_contents.c - unpack any bytes as the contents of a digest, or as
 * delivered papers.
 */
#include <string.h>

#include "fuzz.h"
#include "model/digest_contents.h"

/* The head of a value is a value of its own. */
static void
check_papers(const uint8_t *data, size_t size)
{
	g_autoptr(GArray) papers =
	    g_array_new(FALSE, FALSE, sizeof(struct digest_contents_version));
	g_autoptr(GError) error = NULL;
	size_t head_bytes;

	if (!digest_contents_unpack_papers(data, size, papers, &head_bytes, &error)) {
		fuzz_check_error(error);
		return;
	}
	g_assert(head_bytes <= size);
	g_array_set_size(papers, 0);
	g_assert(digest_contents_unpack_papers(data, head_bytes, papers, NULL, &error));
}

static void
check_hits(const struct digest_contents *contents)
{
	for (unsigned i = 0; i < contents->reasons->len; i++) {
		g_autoptr(GPtrArray) hits =
		    hits_parse(digest_contents_get_reason(contents, i)->hits);
		g_autoptr(GString) text = g_string_new(NULL);
		g_autoptr(GPtrArray) again = NULL;

		hits_append(text, hits);
		again = hits_parse(text->str);
		g_assert(again->len == hits->len);
	}
}

static void
check_entries(const struct digest_contents *contents)
{
	pb_auto(digest) digest = digest_new();

	digest_contents_fill_digest(contents, digest);
	for (unsigned i = 0; i < contents->papers->len; i++) {
		struct paper *paper = paper_new();

		digest_reference_apply(
		    &digest_contents_get_paper(contents, i)->reference, paper);
		digest_contents_add_entry(contents, i, paper, digest);
	}
	g_assert(digest->entries->len == contents->papers->len);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* In memory of its exact size. */
	g_autofree uint8_t *copy = g_memdup2(data, size);
	pb_local(digest_contents) contents = {0};
	g_autoptr(GByteArray) packed = NULL;
	g_autoptr(GError) error = NULL;

	check_papers(copy, size);
	digest_contents_init(&contents);
	if (!digest_contents_unpack(&contents, copy, size, &error)) {
		fuzz_check_error(error);
		return 0;
	}
	check_hits(&contents);
	check_entries(&contents);
	/* There is only one packed form. */
	packed = digest_contents_pack(&contents);
	g_assert(packed->len == size);
	g_assert(size == 0 || memcmp(packed->data, copy, size) == 0);
	return 0;
}
