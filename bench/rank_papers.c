/*
 * rank_papers.c - order papers by what a person likes.
 *
 * rank CORPUS.jsonl LIKES.txt [HIDES.txt] CANDIDATES.txt: print "ID TAB SCORE" of the
 * candidates, the best first. The text files have one id a line.
 */
#include <glib.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "paper_file.h"
#include "query/taste/taste.h"
#include "store/core/tokenizer.h"

struct candidate {
	const char *id;
	unsigned order; /* in the file */
	double score;
};

static struct matrix *
make_matrix(
    const GPtrArray *papers, const struct tokenizer *tokenizer, bool folds_plurals)
{
	struct matrix *matrix = matrix_new(tokenizer, folds_plurals);
	g_autoptr(GError) error = NULL;

	for (unsigned i = 0; i < papers->len; i++) {
		const struct paper *paper = papers->pdata[i];

		if (!matrix_add(matrix, paper->title, paper->abstract, &error))
			paper_file_fail("%s", error->message);
	}
	return matrix;
}

/* @return of unsigned: numbers of the papers, distinct, in the order of the file */
static GArray *
read_ids(const char *path, GHashTable *numbers)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(unsigned));
	g_autoptr(GHashTable) distinct = g_hash_table_new(NULL, NULL);
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	if (!g_file_get_contents(path, &text, NULL, &error))
		paper_file_fail("%s", error->message);
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		void *number = g_hash_table_lookup(numbers, g_strstrip(*line));
		unsigned paper = GPOINTER_TO_UINT(number) - 1;

		if (!**line)
			continue;
		if (!number)
			paper_file_fail("%s: no paper '%s'", path, *line);
		if (g_hash_table_add(distinct, number))
			g_array_append_val(found, paper);
	}
	return found;
}

static int
compare_candidates(const void *a, const void *b)
{
	const struct candidate *first = a, *second = b;

	if (first->score != second->score)
		return first->score < second->score ? 1 : -1;
	return first->order < second->order ? -1 : first->order > second->order;
}

static void
print_ranked(const GPtrArray *papers, const GArray *numbers, const double *scores)
{
	g_autofree struct candidate *candidates = g_new(struct candidate, numbers->len);

	for (unsigned i = 0; i < numbers->len; i++) {
		const struct paper *paper =
		    papers->pdata[g_array_index(numbers, unsigned, i)];

		candidates[i] = (struct candidate){paper->id, i, scores[i]};
	}
	qsort(candidates, numbers->len, sizeof(*candidates), compare_candidates);
	for (unsigned i = 0; i < numbers->len; i++)
		printf("%s\t%.6f\n", candidates[i].id, candidates[i].score);
}

static void
rank(const GPtrArray *papers, const struct vectors *vectors, int count, char **paths)
{
	g_autoptr(GHashTable) numbers = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GArray) likes = NULL, hides = NULL, candidates = NULL;
	g_autoptr(GError) error = NULL;
	struct taste_answers answers;
	pb_auto(taste) taste = NULL;
	g_autofree double *scores = NULL;

	for (unsigned i = 0; i < papers->len; i++)
		g_hash_table_insert(numbers, ((struct paper *)papers->pdata[i])->id,
		    GUINT_TO_POINTER(i + 1));
	likes = read_ids(paths[0], numbers);
	hides = count == 3 ? read_ids(paths[1], numbers)
	                   : g_array_new(FALSE, FALSE, sizeof(unsigned));
	candidates = read_ids(paths[count - 1], numbers);
	answers = (struct taste_answers){
	    (unsigned *)likes->data, likes->len, (unsigned *)hides->data, hides->len};
	taste = taste_learn(vectors, &answers, &error);
	if (!taste)
		paper_file_fail("%s", error->message);
	scores = g_new(double, candidates->len);
	taste_score(
	    taste, vectors, (unsigned *)candidates->data, candidates->len, scores);
	print_ranked(papers, candidates, scores);
}

int
main(int argc, char **argv)
{
	pb_auto(tokenizer) tokenizer = NULL;
	pb_auto(matrix) matrix = NULL;
	pb_auto(vectors) vectors = NULL;
	g_autoptr(GPtrArray) papers = NULL;
	g_autoptr(GError) error = NULL;
	sqlite3 *db = NULL;

	g_set_prgname("rank");
	if (argc < 4 || argc > 5) {
		fprintf(stderr,
		    "usage: rank CORPUS.jsonl LIKES.txt [HIDES.txt] CANDIDATES.txt\n");
		return 64;
	}
	papers = paper_file_read(argv[1]);
	sqlite3_open(":memory:", &db);
	tokenizer = tokenizer_new_unicode61(db, &error);
	if (!tokenizer)
		paper_file_fail("%s", error->message);
	matrix = make_matrix(papers, tokenizer, true);
	vectors = vectors_new(matrix);
	if (vectors_is_repetitive(vectors)) {
		vectors_free(vectors);
		matrix_free(matrix);
		matrix = make_matrix(papers, tokenizer, false);
		vectors = vectors_new(matrix);
	}
	rank(papers, vectors, argc - 2, argv + 2);
	tokenizer_free(g_steal_pointer(&tokenizer));
	sqlite3_close(db);
	return 0;
}
