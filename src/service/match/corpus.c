/*
 * corpus.c - word frequencies of the archive for rankings.
 */
#include "service/match/corpus.h"

#include "store/paper/archive.h"

/* Maximum number of words whose counts are kept; others are counted at each use. */
#define CORPUS_WORDS 50000

struct corpus {
	struct store *store;
	struct rank_corpus size;
	GHashTable *counts; /* word, or '*' and prefix -> int64_t * */
};

static bool
count_word(
    void *data, const char *word, bool is_prefix, int64_t *papers, GError **error)
{
	struct corpus *corpus = data;
	g_autofree char *key = g_strconcat(is_prefix ? "*" : "", word, NULL);
	const int64_t *known = g_hash_table_lookup(corpus->counts, key);

	if (known) {
		*papers = *known;
		return true;
	}
	if (!(is_prefix ? archive_count_prefix(corpus->store, word, papers, error)
	                : archive_count_class(corpus->store, word, papers, error)))
		return false;
	if (g_hash_table_size(corpus->counts) < CORPUS_WORDS)
		g_hash_table_insert(corpus->counts, g_steal_pointer(&key),
		    g_memdup2(papers, sizeof(*papers)));
	return true;
}

struct corpus *
corpus_new(struct store *store, GError **error)
{
	struct archive_size size;
	struct corpus *corpus;

	if (!archive_load_size(store, &size, error))
		return NULL;
	corpus = g_new0(struct corpus, 1);
	corpus->store = store;
	corpus->size = (struct rank_corpus){
	    .papers = size.papers,
	    .title_words = size.title_words,
	    .abstract_words = size.abstract_words,
	    .count = count_word,
	    .data = corpus,
	};
	corpus->counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	return corpus;
}

void
corpus_free(struct corpus *corpus)
{
	if (!corpus)
		return;
	g_hash_table_unref(corpus->counts);
	g_free(corpus);
}

struct rank *
corpus_make_rank(struct corpus *corpus, const struct query *query, GError **error)
{
	return rank_new(query, &corpus->size, error);
}
