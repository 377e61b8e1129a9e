/*
 * evaluate_filters.c - evaluate all distinct filters on the papers of a day.
 *
 * evaluate_filters STORE: index the papers, parse the stored filters, and evaluate each
 * filter on each paper.  decide_wall and decide_cpu are of the last step alone.
 */
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>

#include "input.h"
#include "query/query.h"
#include "stopwatch.h"
#include "store/paper/filter_progress.h"
#include "store/paper/papers.h"

static GPtrArray *
prepare(const GPtrArray *papers, const struct tokenizer *tokenizer)
{
	GPtrArray *documents =
	    g_ptr_array_new_with_free_func((GDestroyNotify)query_document_free);

	for (unsigned i = 0; i < papers->len; i++) {
		const struct stored_paper *stored = papers->pdata[i];
		g_autoptr(GError) error = NULL;

		g_ptr_array_add(documents,
		    query_document_new(stored->paper, NULL, tokenizer, &error));
		g_assert_no_error(error);
	}
	return documents;
}

static GPtrArray *
parse(const GPtrArray *filters, const struct tokenizer *tokenizer)
{
	GPtrArray *queries = g_ptr_array_new_with_free_func((GDestroyNotify)query_free);

	for (unsigned i = 0; i < filters->len; i++) {
		const struct stored_filter *filter = filters->pdata[i];
		g_autoptr(GError) error = NULL;

		g_ptr_array_add(queries,
		    query_parse_canonical(filter->canonical, tokenizer, &error));
		g_assert_no_error(error);
	}
	return queries;
}

int
main(int argc, char **argv)
{
	pb_auto(store) store = NULL;
	g_autoptr(GPtrArray) filters = NULL, papers = NULL;
	g_autoptr(GPtrArray) documents = NULL, queries = NULL;
	struct stopwatch all = {0}, decide = {0};
	unsigned pairs = 0;
	uint64_t sum = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: evaluate_filters STORE\n");
		return 64;
	}
	store = input_open_store(argv[1]);
	filters = input_load_filters(store);
	papers = input_load_papers(store);
	stopwatch_start(&all);
	documents = prepare(papers, store_get_tokenizer(store));
	queries = parse(filters, store_get_tokenizer(store));
	stopwatch_start(&decide);
	for (unsigned i = 0; i < queries->len; i++)
		for (unsigned j = 0; j < documents->len; j++) {
			const struct stored_filter *filter = filters->pdata[i];
			const struct stored_paper *paper = papers->pdata[j];

			if (query_evaluate(queries->pdata[i], documents->pdata[j],
			        QUERY_AS_REPORTED) != QUERY_TRUE)
				continue;
			pairs++;
			sum += (uint64_t)(filter->id * 1000003 + paper->seq);
		}
	stopwatch_stop(&decide);
	stopwatch_stop(&all);
	stopwatch_print(&all);
	printf("decide_wall=%.6f decide_cpu=%.6f pairs=%u sum=%" PRIu64 "\n",
	    (double)decide.wall_us / 1e6, (double)decide.cpu_us / 1e6, pairs, sum);
	return 0;
}
