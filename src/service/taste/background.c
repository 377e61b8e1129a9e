/*
 * background.c - papers of the archive against which answers are learned and papers are
 * weighed.
 */
#include "service/taste/background.h"

#include "model/taste_vector.h"
#include "store/paper/archive_cache.h"
#include "store/paper/papers.h"

struct background {
	const struct tokenizer *tokenizer;
	bool folds_plurals; /* query/taste/vectors.h */
	struct matrix *matrix;
	struct vectors *vectors;
	GHashTable *numbers; /* int64_t * -> number of the paper + 1 */
};

static bool
add(struct background *background, int64_t seq, const char *title, const char *abstract,
    GError **error)
{
	if (g_hash_table_contains(background->numbers, &seq))
		return true;
	if (!matrix_add(background->matrix, title, abstract, error))
		return false;
	g_hash_table_insert(background->numbers, g_memdup2(&seq, sizeof(seq)),
	    GUINT_TO_POINTER(matrix_count_papers(background->matrix)));
	return true;
}

static bool
add_newest(struct background *background, struct store *store, GError **error)
{
	g_autoptr(GPtrArray) texts = papers_load_texts(store, BACKGROUND_PAPERS, error);

	for (unsigned i = 0; texts && i < texts->len; i++) {
		const struct paper_text *text = texts->pdata[i];

		if (!add(background, text->seq, text->title, text->abstract, error))
			return false;
	}
	return texts != NULL;
}

static bool
add_papers(struct background *background, struct store *store, const GArray *papers,
    GError **error)
{
	for (unsigned i = 0; i < papers->len; i++) {
		int64_t seq = g_array_index(papers, int64_t, i);
		pb_auto(stored_paper) stored = NULL;

		if (g_hash_table_contains(background->numbers, &seq))
			continue;
		stored = papers_load(store, seq, error);
		if (!stored || !add(background, seq, stored->paper->title,
		                   stored->paper->abstract, error))
			return false;
	}
	return true;
}

/* @param papers  or NULL */
static struct background *
load(struct store *store, const GArray *papers, bool folds_plurals, GError **error)
{
	pb_auto(background) background = g_new0(struct background, 1);

	background->tokenizer = store_get_tokenizer(store);
	background->folds_plurals = folds_plurals;
	background->matrix = matrix_new(background->tokenizer, folds_plurals);
	background->numbers =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	if (!add_newest(background, store, error) ||
	    (papers && !add_papers(background, store, papers, error)))
		return NULL;
	background->vectors = vectors_new(background->matrix);
	return g_steal_pointer(&background);
}

struct background *
background_load(struct store *store, const GArray *papers, GError **error)
{
	struct store *archive = archive_cache_refresh(store, error);
	pb_auto(background) background =
	    archive ? load(archive, papers, true, error) : NULL;

	if (background && vectors_is_repetitive(background->vectors))
		return load(archive, papers, false, error);
	return g_steal_pointer(&background);
}

void
background_free(struct background *background)
{
	if (!background)
		return;
	vectors_free(background->vectors);
	matrix_free(background->matrix);
	g_hash_table_unref(background->numbers);
	g_free(background);
}

const struct vectors *
background_get_vectors(const struct background *background)
{
	return background->vectors;
}

bool
background_find(const struct background *background, int64_t seq, unsigned *number)
{
	void *found = g_hash_table_lookup(background->numbers, &seq);

	if (found)
		*number = GPOINTER_TO_UINT(found) - 1;
	return found != NULL;
}

GArray *
background_list_terms(const struct background *background, const char *title,
    const char *abstract, GError **error)
{
	pb_auto(matrix) matrix =
	    matrix_new(background->tokenizer, background->folds_plurals);
	const struct matrix_count *counts;
	g_autofree float *values = NULL;
	GArray *terms;
	size_t count;

	if (!matrix_add(matrix, title, abstract, error))
		return NULL;
	values = vectors_project(background->vectors, matrix, 0);
	counts = matrix_get_counts(matrix, 0, &count);
	terms =
	    g_array_sized_new(FALSE, FALSE, sizeof(struct weighed_term), (guint)count);
	for (size_t i = 0; i < count; i++) {
		struct weighed_term term = {.weight = values[i]};

		if (values[i] == 0)
			continue;
		term.hash =
		    taste_vector_hash(matrix_get_term(matrix, counts[i].term)->text);
		g_array_append_val(terms, term);
	}
	return terms;
}
