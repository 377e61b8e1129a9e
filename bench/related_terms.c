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
#include "query/taste/related.h"
#include "query/text/acronym.h"
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

	archive->tokenizer = tokenizer_new_unicode61(db, &error);
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

/* Find the papers that match. @param acronyms  NULL, or defined by these: added */
static unsigned
find_matching(const struct archive *archive, const struct query *query, bool *matches,
    GPtrArray *acronyms)
{
	unsigned found = 0;

	for (unsigned i = 0; i < archive->papers->len; i++) {
		const struct paper *paper = archive->papers->pdata[i];
		g_autoptr(GPtrArray) defined = NULL;

		matches[i] = query_evaluate(query, archive->documents->pdata[i],
		                 QUERY_AS_REPORTED) == QUERY_TRUE;
		if (!matches[i])
			continue;
		found++;
		if (!acronyms)
			continue;
		defined = acronym_find(paper->abstract);
		g_ptr_array_extend_and_steal(acronyms, g_steal_pointer(&defined));
	}
	return found;
}

static void
print_related(
    const struct archive *archive, const char *text, const struct query *query)
{
	g_autoptr(GPtrArray) acronyms =
	    g_ptr_array_new_with_free_func((GDestroyNotify)acronym_free);
	g_autofree bool *matches = g_new0(bool, archive->papers->len);
	g_autoptr(GPtrArray) terms = NULL;

	find_matching(archive, query, matches, acronyms);
	terms = related_find(query,
	    &(const struct related_source){
	        .matrix = archive->matrix, .matches = matches, .acronyms = acronyms},
	    TERMS_MAX);
	for (unsigned i = 0; i < terms->len; i++) {
		const struct related_term *term = terms->pdata[i];

		printf("%s\t%s\t%.3f\n", text, term->text, term->score);
	}
}

static void
print_filter(const struct archive *archive, const char *text)
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
