/*
 * fuzz_query_canonical.c - parse any text as a stored filter.
 *
 * The canonical text of an accepted one is stable and has the same meaning.
 */
#include <string.h>

#include "../tests/test_query.h"
#include "base/bounds.h"
#include "fuzz.h"

static void
check_truth(const struct query_fixture *fixture, const struct query *query,
    const struct query *again)
{
	static const char *const titles[] = {"Mamba", "State space mamba diffusion",
	    "Diffusion", "A survey of graph networks"};

	for (size_t i = 0; i < G_N_ELEMENTS(titles); i++) {
		pb_auto(query_document) document =
		    make_document(fixture, titles[i], titles[i / 2], "Ada Smith", 5);

		g_assert(query_evaluate(query, document, QUERY_AS_REPORTED) ==
		         query_evaluate(again, document, QUERY_AS_REPORTED));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Static: opening it is slower than parsing a filter. */
	static struct query_fixture fixture;
	struct fuzz_input input = {data, size};
	g_autofree char *text = fuzz_take_text(&input);
	g_autofree char *once = NULL;
	g_autofree char *twice = NULL;
	g_autoptr(GError) error = NULL;
	pb_auto(query) query = NULL;
	pb_auto(query) again = NULL;

	if (!fixture.db)
		query_fixture_init(&fixture);
	query = query_parse_canonical(text, fixture.tokenizer, &error);
	if (!query) {
		fuzz_check_error(error);
		return 0;
	}
	once = query_format(query);
	/* Only filters of the typed length are certain to be short enough. */
	if (strlen(once) <= BOUNDS_QUERY_CANONICAL_BYTES) {
		again = query_parse_canonical(once, fixture.tokenizer, &error);
		if (!again)
			g_error("canonical '%s' was refused: %s", once, error->message);
		twice = query_format(again);
		g_assert_cmpstr(once, ==, twice);
		check_truth(&fixture, query, again);
	}
	return 0;
}
