/*
 * helper_enrich.c - save categories of papers as if arXiv's API had returned them.
 *
 * helper_enrich STORE TIME: each line on standard input is an id and its categories,
 * separated by blanks.  TIME as in --now.
 */
#include <glib.h>
#include <stdio.h>

#include "base/error.h"
#include "store/core/transaction.h"
#include "store/paper/papers.h"

static GPtrArray *
read_papers(void)
{
	GPtrArray *papers = g_ptr_array_new_with_free_func((GDestroyNotify)paper_free);
	char line[1000];

	while (fgets(line, sizeof(line), stdin)) {
		g_auto(GStrv) words = g_strsplit(g_strstrip(line), " ", -1);
		struct paper *paper = paper_new();

		paper->id = g_strdup(words[0]);
		paper->title = g_strdup("");
		paper->abstract = g_strdup("");
		paper->categories = g_ptr_array_new_with_free_func(g_free);
		for (char **word = words + 1; words[0] && *word; word++)
			g_ptr_array_add(paper->categories, g_strdup(*word));
		g_ptr_array_add(papers, paper);
	}
	return papers;
}

int
main(int argc, char **argv)
{
	g_autoptr(GDateTime) time =
	    argc == 3 ? g_date_time_new_from_iso8601(argv[2], NULL) : NULL;
	g_autoptr(GPtrArray) papers = NULL;
	g_autoptr(GError) error = NULL;
	pb_auto(store) store = NULL;
	struct papers_saved saved = {0};
	pb_transaction transaction = {0};

	if (!time) {
		fprintf(stderr, "usage: helper_enrich STORE TIME\n");
		return 64;
	}
	papers = read_papers();
	store = store_open(argv[1], &error);
	if (!store || !store_begin(store, &transaction, &error) ||
	    !papers_save_lookup(store, PAPER_LOOKUP_ARXIV, papers, NULL,
	        g_date_time_to_unix(time), &saved, &error) ||
	    !store_commit(&transaction, &error))
		fprintf(stderr, "helper_enrich: %s\n", error->message);
	printf("%u known, %u changed\n", saved.listed, saved.changed);
	return pb_error_exit_status(error);
}
