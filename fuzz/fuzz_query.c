/*
 * fuzz_query.c - parse any text as a filter.
 *
 * An accepted filter has one canonical text with the same meaning; an error has a
 * position.
 */
#include <string.h>

#include "../tests/test_query.h"
#include "base/bounds.h"
#include "fuzz.h"

/* Documents that match in every field, in few, and in hardly any. */
struct library {
	struct query_fixture fixture;
	struct query_document *documents[3];
};

/* All fields are reported. */
static struct query_document *
make_settled(const struct query_fixture *fixture)
{
	g_autoptr(GError) error = NULL;
	pb_auto(paper) paper = paper_new();
	struct query_document *document;

	paper->id = g_strdup("2607.01234");
	paper->title =
	    g_strdup("Diffusion models for state spaces: C++ and node.js at scale");
	paper->abstract = g_strdup("We train mamba, ssm and na\u00EFve graph networks "
	                           "(GPU-bound). State space models win. RAG of reward "
	                           "hacking. \u5F62\u72B6, BERT大模型的型");
	g_ptr_array_add(paper->authors, g_strdup("Yann LeCun"));
	g_ptr_array_add(paper->authors, g_strdup("Jo\u00E3o da Silva"));
	g_ptr_array_add(paper->authors, g_strdup("J. R. R. Smith"));
	g_ptr_array_add(paper->authors, g_strdup("O'Hara"));
	g_ptr_array_add(paper->authors, g_strdup("\u738B\u5C0F\u660E"));
	paper->upvotes = 23;
	paper->comments = 1;
	paper->stars = 100;
	paper->code_url = g_strdup("https://example.org/code");
	paper->organization = g_strdup("Allen Institute for AI");
	paper->keywords = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(paper->keywords, g_strdup("reward model"));
	g_ptr_array_add(paper->keywords, g_strdup("RAG"));
	paper->categories = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(paper->categories, g_strdup("cs.CL"));
	g_ptr_array_add(paper->categories, g_strdup("math-ph"));
	paper->comment = g_strdup("NeurIPS, 12 pages");
	paper->doi = g_strdup("10.1145/3292500");
	paper_add_listing(paper, "hf", "2026-07-30", LISTING_NEW);
	paper_add_listing(paper, "arxiv", "2026-08-03", LISTING_CROSS);
	document = query_document_new(paper, "2026-08-05", fixture->tokenizer, &error);
	g_assert_no_error(error);
	return document;
}

static void
open_library(struct library *library)
{
	query_fixture_init(&library->fixture);
	library->documents[0] = make_settled(&library->fixture);
	library->documents[1] =
	    make_document(&library->fixture, "A", "", "", PAPER_UNKNOWN);
	library->documents[2] =
	    make_document(&library->fixture, "A survey", "Of mambas.", "Ada Smith", 0);
}

static void
check_hits(const struct query *query, const struct query_document *document)
{
	g_autoptr(GPtrArray) hits = query_explain(query, document);
	g_autofree char *reported = query_explain_text(query, document, NULL);

	if (query_evaluate(query, document, QUERY_AS_REPORTED) == QUERY_FALSE)
		g_assert(hits->len == 0);
	for (guint i = 0; i < hits->len; i++) {
		const struct query_hit *hit = hits->pdata[i];

		g_assert(hit->start <= hit->end && hit->words && hit->folded);
	}
	fuzz_check_line(reported, 4 * BOUNDS_QUERY_EXPLAIN_CHARS);
	g_assert(g_utf8_strlen(reported, -1) <= BOUNDS_QUERY_EXPLAIN_CHARS);
}

/* The first step is the root, and the depth is limited. */
static void
check_steps(const struct query *query, const struct query_document *document)
{
	g_autoptr(GPtrArray) steps = query_explain_tree(query, document);
	const struct query_step *root = steps->pdata[0];

	g_assert(root->depth == 0);
	g_assert(root->truth == query_evaluate(query, document, QUERY_AS_REPORTED));
	g_assert(root->is_final ==
	         (query_evaluate(query, document, QUERY_MAY_CHANGE) != QUERY_UNKNOWN));
	for (guint i = 0; i < steps->len; i++) {
		const struct query_step *step = steps->pdata[i];

		g_assert(i == 0 || step->depth >= 1);
		g_assert(step->boost >= 1 && step->boost <= BOUNDS_BOOST);
		fuzz_check_line(step->text, BOUNDS_QUERY_CANONICAL_BYTES);
		if (step->truth != QUERY_TRUE || step->kind != QUERY_STEP_CLAUSE)
			g_assert(step->hits->len == 0);
	}
}

/* A definite verdict remains when more is known. */
static void
check_truth(const struct query *query, const struct query *again,
    struct query_document *document)
{
	enum query_verdict reported =
	    query_evaluate(query, document, QUERY_AS_REPORTED);
	enum query_verdict later = query_evaluate(query, document, QUERY_MAY_CHANGE);
	enum query_verdict soon, last;

	g_assert(reported == query_evaluate(again, document, QUERY_AS_REPORTED));
	g_assert(later == query_evaluate(again, document, QUERY_MAY_CHANGE));
	g_assert(later == QUERY_UNKNOWN || later == reported);
	g_assert(query_is_time_dependent(query) || later != QUERY_UNKNOWN);
	check_hits(query, document);
	check_steps(query, document);
	query_document_finalize(document, QUERY_FINALITY_LOOKED_UP);
	soon = query_evaluate(query, document, QUERY_AS_REPORTED);
	g_assert(soon == query_evaluate(again, document, QUERY_AS_REPORTED));
	g_assert(reported == QUERY_UNKNOWN || reported == soon);
	query_document_finalize(document, QUERY_FINALITY_ALL);
	last = query_evaluate(query, document, QUERY_AS_REPORTED);
	g_assert(last == query_evaluate(again, document, QUERY_AS_REPORTED));
	g_assert(last == query_evaluate(query, document, QUERY_MAY_CHANGE));
	g_assert(soon == QUERY_UNKNOWN || soon == last);
	g_assert(last != QUERY_UNKNOWN);
	query_document_finalize(document, QUERY_FINALITY_NONE);
}

static void
check_accepted(struct library *library, const struct query *query)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = query_format(query);
	g_autofree char *text_again = NULL;
	g_autofree char *hash = query_hash(query);
	g_autofree char *hash_again = NULL;
	pb_auto(query) again = NULL;

	g_assert(strlen(text) <= BOUNDS_QUERY_CANONICAL_BYTES);
	fuzz_check_line(text, BOUNDS_QUERY_CANONICAL_BYTES);
	again = query_parse_canonical(text, library->fixture.tokenizer, &error);
	if (!again)
		g_error("canonical '%s' was refused: %s", text, error->message);
	text_again = query_format(again);
	hash_again = query_hash(again);
	g_assert_cmpstr(text, ==, text_again);
	g_assert_cmpstr(hash, ==, hash_again);
	g_assert(query_is_time_dependent(query) == query_is_time_dependent(again));
	g_assert(query_get_lookups(query) == query_get_lookups(again));
	for (size_t i = 0; i < G_N_ELEMENTS(library->documents); i++)
		check_truth(query, again, library->documents[i]);
}

static void
check_refused(const char *text, const struct query_error *problem, const GError *error)
{
	g_autofree char *shown = NULL;
	g_autofree char *start = NULL;
	size_t lines = 0;

	fuzz_check_error(error);
	g_assert(problem->message && problem->column >= 1);
	start = g_strdup_printf("column %u: ", problem->column);
	g_assert(g_str_has_prefix(error->message, start));
	shown = query_error_format(problem, text, 4);
	g_assert(g_utf8_validate(shown, -1, NULL));
	for (const char *p = shown; *p; p++)
		lines += *p == '\n';
	g_assert(lines == 3);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Static: opening it is slower than parsing a filter. */
	static struct library library;
	struct fuzz_input input = {data, size};
	g_autofree char *text = fuzz_take_text(&input);
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) warnings = NULL;
	struct query_error problem = {0};
	pb_auto(query) query = NULL;

	if (!library.fixture.db)
		open_library(&library);
	query =
	    query_parse(text, library.fixture.tokenizer, &warnings, &problem, &error);
	if (query) {
		g_assert(!error && !problem.message && warnings);
		check_accepted(&library, query);
	} else {
		g_assert(!warnings);
		check_refused(text, &problem, error);
	}
	query_error_clear(&problem);
	return 0;
}
