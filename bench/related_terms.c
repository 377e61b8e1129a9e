/*
 * related_terms.c - terms related to filters, from a file of papers.
 *
 * related CORPUS.jsonl: read filters from standard input, one a line, and print up to
 * ten terms for each, the best first: "FILTER TAB TERM TAB SCORE".
 */
#include <glib.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "paper_file.h"
#include "query/query.h"
#include "service/advice/related.h"
#include "store/core/tokenizer.h"

#define TERMS_MAX  10
#define LINE_BYTES 4096

struct archive {
	struct tokenizer *tokenizer;
	GPtrArray *papers;    /* of struct paper * */
	GPtrArray *documents; /* of struct query_document * */
	struct matrix *matrix;
};

static void
archive_clear(struct archive *archive)
{
	matrix_free(archive->matrix);
	if (archive->documents)
		g_ptr_array_unref(archive->documents);
	if (archive->papers)
		g_ptr_array_unref(archive->papers);
	tokenizer_free(archive->tokenizer);
}

static void
archive_init(struct archive *archive, sqlite3 *db, const char *path)
{
	g_autoptr(GError) error = NULL;

	archive->tokenizer = tokenizer_new(db, &error);
	if (!archive->tokenizer)
		paper_file_fail("%s", error->message);
	archive->papers = paper_file_read(path);
	archive->documents =
	    g_ptr_array_new_with_free_func((GDestroyNotify)query_document_free);
	archive->matrix = matrix_new(archive->tokenizer, true);
	for (unsigned i = 0; i < archive->papers->len; i++) {
		const struct paper *paper = archive->papers->pdata[i];
		struct query_document *document =
		    query_document_new(paper, NULL, archive->tokenizer, &error);

		if (!document ||
		    !matrix_add(archive->matrix, paper->title, paper->abstract, &error))
			paper_file_fail("%s", error->message);
		g_ptr_array_add(archive->documents, document);
	}
}

/* Add the papers that match to a matrix of them. */
static void
find_matching(
    const struct archive *archive, const struct query *query, struct matrix *matching)
{
	g_autoptr(GError) error = NULL;

	for (unsigned i = 0; i < archive->papers->len; i++) {
		const struct paper *paper = archive->papers->pdata[i];

		if (query_evaluate(query, archive->documents->pdata[i],
		        QUERY_AS_REPORTED) == QUERY_TRUE &&
		    !matrix_add(matching, paper->title, paper->abstract, &error))
			paper_file_fail("%s", error->message);
	}
}

static unsigned
count_term(void *data, const struct matrix_term *term, unsigned at_least)
{
	const struct archive *archive = data;
	uint32_t number;

	return matrix_find_term(archive->matrix, term->text, &number)
	           ? matrix_get_term(archive->matrix, number)->papers
	           : at_least;
}

static void
print_related(struct archive *archive, const char *text, const struct query *query)
{
	pb_auto(matrix) matching = matrix_new(archive->tokenizer, true);
	struct related_source source = {.matrix = matching,
	    .papers = archive->papers->len,
	    .count = count_term,
	    .data = archive};
	g_autoptr(GPtrArray) terms = NULL;

	find_matching(archive, query, matching);
	source.matching = matrix_count_papers(matching);
	terms = related_find(query, &source, TERMS_MAX);
	for (unsigned i = 0; i < terms->len; i++) {
		const struct related_term *term = terms->pdata[i];

		printf("%s\t%s\t%.3f\n", text, term->text, term->score);
	}
}

static void
print_filter(struct archive *archive, const char *text)
{
	g_autoptr(GError) error = NULL;
	pb_auto(query) query =
	    query_parse(text, archive->tokenizer, NULL, NULL, &error);

	if (!query)
		fprintf(stderr, "%s: %s\n", text, error->message);
	else
		print_related(archive, text, query);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	pb_local(archive) archive = {0};
	char line[LINE_BYTES];
	sqlite3 *db = NULL;

	g_set_prgname("related");
	if (argc != 2) {
		fprintf(stderr, "usage: related CORPUS.jsonl <FILTERS\n");
		return 64;
	}
	sqlite3_open(":memory:", &db);
	archive_init(&archive, db, argv[argc - 1]);
	while (fgets(line, sizeof(line), stdin)) {
		if (!strchr(line, '\n') && !feof(stdin))
			paper_file_fail("standard input: line too long");
		g_strstrip(line);
		if (*line)
			print_filter(&archive, line);
	}
	return 0;
}
