/*
 * rank_papers.c - order papers by what a person likes.
 *
 * rank CORPUS.jsonl LIKES.txt [HIDES.txt] CANDIDATES.txt: print "ID TAB SCORE" of the
 * candidates, the best first. The text files have one id a line.
 *
 * rank -w CORPUS.jsonl LIKES.txt [HIDES.txt]: print "WORD TAB WEIGHT" of the words that
 * are shown to people, the largest weight first.
 */
#include <glib.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paper_file.h"
#include "query/taste/taste.h"
#include "store/core/tokenizer.h"

struct candidate {
	const char *id;
	unsigned order; /* in the file */
	double score;
};

static void
add_paper(struct matrix *matrix, const struct paper *paper)
{
	g_autoptr(GError) error = NULL;

	if (!matrix_add(matrix, paper->title, paper->abstract, &error))
		paper_file_fail("%s", error->message);
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
rank(const GPtrArray *papers, const struct matrix *corpus,
    const struct matrix *answered, const GArray *terms, const GArray *candidates)
{
	g_autofree double *weights = g_new0(double, matrix_count_terms(corpus));
	g_autofree double *scores = g_new0(double, candidates->len);

	for (unsigned i = 0; i < terms->len; i++) {
		const struct taste_term *term =
		    &g_array_index(terms, struct taste_term, i);
		uint32_t same;

		if (matrix_find_term(
		        corpus, matrix_get_term(answered, term->term)->text, &same))
			weights[same] = term->weight;
	}
	for (unsigned i = 0; i < candidates->len; i++) {
		unsigned paper = g_array_index(candidates, unsigned, i);
		g_autofree double *own = taste_weigh(corpus, corpus, paper);
		size_t count;
		const struct matrix_count *counts =
		    matrix_get_counts(corpus, paper, &count);

		for (size_t j = 0; j < count; j++)
			scores[i] += own[j] * weights[counts[j].term];
	}
	print_ranked(papers, candidates, scores);
}

static void
print_words(const struct matrix *answered, const GArray *terms)
{
	for (unsigned i = 0; i < terms->len; i++) {
		const struct taste_term *term =
		    &g_array_index(terms, struct taste_term, i);

		if (term->is_shown)
			printf("%s\t%.6f\n",
			    matrix_get_term(answered, term->term)->text, term->weight);
	}
}

static void
learn(const GPtrArray *papers, const struct tokenizer *tokenizer, bool is_words,
    int count, char **paths)
{
	g_autoptr(GHashTable) numbers = g_hash_table_new(g_str_hash, g_str_equal);
	pb_auto(matrix) corpus = matrix_new(tokenizer, false);
	pb_auto(matrix) answered = matrix_new(tokenizer, false);
	g_autofree bool *is_like = g_new(bool, 2 * papers->len);
	int answers = is_words ? count : count - 1;
	g_autoptr(GArray) terms = NULL;

	for (unsigned i = 0; i < papers->len; i++) {
		add_paper(corpus, papers->pdata[i]);
		g_hash_table_insert(numbers, ((struct paper *)papers->pdata[i])->id,
		    GUINT_TO_POINTER(i + 1));
	}
	for (int kind = 0; kind < answers; kind++) {
		g_autoptr(GArray) ids = read_ids(paths[kind], numbers);

		for (unsigned i = 0; i < ids->len; i++) {
			is_like[matrix_count_papers(answered)] = kind == 0;
			add_paper(
			    answered, papers->pdata[g_array_index(ids, unsigned, i)]);
		}
	}
	terms = taste_learn(corpus, answered, is_like);
	if (is_words) {
		print_words(answered, terms);
	} else {
		g_autoptr(GArray) candidates = read_ids(paths[answers], numbers);

		rank(papers, corpus, answered, terms, candidates);
	}
}

int
main(int argc, char **argv)
{
	pb_auto(tokenizer) tokenizer = NULL;
	g_autoptr(GPtrArray) papers = NULL;
	g_autoptr(GError) error = NULL;
	bool is_words = argc > 1 && strcmp(argv[1], "-w") == 0;
	sqlite3 *db = NULL;

	g_set_prgname("rank");
	if (argc < 4 || argc > 5) {
		fprintf(stderr,
		    "usage: rank CORPUS.jsonl LIKES.txt [HIDES.txt] CANDIDATES.txt\n"
		    "       rank -w CORPUS.jsonl LIKES.txt [HIDES.txt]\n");
		return 64;
	}
	papers = paper_file_read(argv[1 + is_words]);
	sqlite3_open(":memory:", &db);
	tokenizer = tokenizer_new(db, &error);
	if (!tokenizer)
		paper_file_fail("%s", error->message);
	learn(papers, tokenizer, is_words, argc - 2 - is_words, argv + 2 + is_words);
	tokenizer_free(g_steal_pointer(&tokenizer));
	sqlite3_close(db);
	return 0;
}
