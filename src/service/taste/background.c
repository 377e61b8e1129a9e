/*
 * background.c - loads papers against which the words of others are weighed.
 */
#include "service/taste/background.h"

#include "store/paper/archive_cache.h"
#include "store/paper/papers.h"

/*
 * Maximum number of papers of the background: more would tell rare words apart better,
 * and take more time and memory.
 */
#define BACKGROUND_PAPERS 1000

struct matrix *
background_load(struct store *store, GError **error)
{
	struct store *archive = archive_cache_refresh(store, error);
	g_autoptr(GPtrArray) texts =
	    archive ? papers_load_texts(archive, BACKGROUND_PAPERS, error) : NULL;
	pb_auto(matrix) matrix =
	    texts ? matrix_new(store_get_tokenizer(store), false) : NULL;

	for (unsigned i = 0; texts && i < texts->len; i++) {
		const struct paper_text *text = texts->pdata[i];

		if (!matrix_add(matrix, text->title, text->abstract, error))
			return NULL;
	}
	return g_steal_pointer(&matrix);
}
