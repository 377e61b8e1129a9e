/*
 * percolator.c - looks up the filters that may match a batch of papers.
 */
#include "service/match/percolator.h"

#include <string.h>

#include "store/paper/filter_index.h"

/* A term and the papers that have it. */
struct posting {
	struct term term;
	struct bitset papers;
};

struct percolator {
	unsigned paper_count;
	GHashTable *seen;    /* of struct posting * */
	GPtrArray *postings; /* owned */
	unsigned first;      /* index of the first posting that is looked up */
	int64_t after;       /* filter ids in (after, after + length] are looked up */
	unsigned length;
	unsigned capacity;    /* number of masks that are allocated */
	struct bitset *masks; /* papers, by filter id - after - 1; empty: none */
};

static guint
hash_posting(gconstpointer data)
{
	const struct posting *posting = data;

	return g_str_hash(posting->term.text) * 5 + (guint)posting->term.kind;
}

static gboolean
is_posting_equal(gconstpointer a, gconstpointer b)
{
	const struct posting *left = a, *right = b;

	return left->term.kind == right->term.kind &&
	       strcmp(left->term.text, right->term.text) == 0;
}

static void
free_posting(gpointer data)
{
	g_free(((struct posting *)data)->term.text);
	g_free(data);
}

struct percolator *
percolator_new(void)
{
	struct percolator *percolator = g_new0(struct percolator, 1);

	percolator->seen = g_hash_table_new(hash_posting, is_posting_equal);
	percolator->postings = g_ptr_array_new_with_free_func(free_posting);
	return percolator;
}

void
percolator_free(struct percolator *percolator)
{
	if (!percolator)
		return;
	g_hash_table_unref(percolator->seen);
	g_ptr_array_unref(percolator->postings);
	g_free(percolator->masks);
	g_free(percolator);
}

static void
add_posting(void *data, enum term_kind kind, const char *text)
{
	struct percolator *percolator = data;
	const struct posting key = {.term = {kind, (char *)text}};
	struct posting *posting = g_hash_table_lookup(percolator->seen, &key);

	if (!posting) {
		posting = g_memdup2(&key, sizeof(key));
		posting->term.text = g_strdup(text);
		g_hash_table_add(percolator->seen, posting);
		g_ptr_array_add(percolator->postings, posting);
	}
	bitset_add(&posting->papers, percolator->paper_count);
}

void
percolator_add(struct percolator *percolator, const struct query_document *document)
{
	g_assert(percolator->paper_count < BATCH_EVAL_PAPERS && !percolator->capacity);
	add_posting(percolator, TERM_ALWAYS, "");
	terms_list(document, add_posting, percolator);
	percolator->paper_count++;
}

static gint
compare_postings(gconstpointer a, gconstpointer b)
{
	const struct posting *const *left = a, *const *right = b;

	if ((*left)->term.kind != (*right)->term.kind)
		return (*left)->term.kind < (*right)->term.kind ? -1 : 1;
	return strcmp((*left)->term.text, (*right)->term.text);
}

static void
add_found(void *data, unsigned term, int64_t filter_id)
{
	struct percolator *percolator = data;
	const struct posting *posting =
	    percolator->postings->pdata[percolator->first + term];
	struct bitset *mask = &percolator->masks[filter_id - percolator->after - 1];

	for (unsigned i = 0; i < G_N_ELEMENTS(mask->bits); i++)
		mask->bits[i] |= posting->papers.bits[i];
}

/* Look up the terms of each kind, sorted: neighbours are stored together. */
static bool
find_terms(struct percolator *percolator, struct store *store,
    const struct filter_index_range *range, GError **error)
{
	GPtrArray *postings = percolator->postings;

	g_ptr_array_sort(postings, compare_postings);
	for (unsigned i = 0; i < postings->len;) {
		g_autoptr(GPtrArray) texts = g_ptr_array_new();
		const struct posting *posting = postings->pdata[i];
		const struct filter_index_terms terms = {posting->term.kind, texts};

		percolator->first = i;
		for (; i < postings->len; i++) {
			posting = postings->pdata[i];
			if (posting->term.kind != terms.kind)
				break;
			g_ptr_array_add(texts, posting->term.text);
		}
		if (!filter_index_find(
		        store, &terms, range, add_found, percolator, error))
			return false;
	}
	return true;
}

bool
percolator_look_up(struct percolator *percolator, struct store *store, int64_t after,
    int64_t last, GError **error)
{
	unsigned length = (unsigned)CLAMP(last - after, 0, PERCOLATOR_RANGE);
	const struct filter_index_range range = {after, after + length};
	pb_snapshot snapshot = {0};

	if (length > percolator->capacity) {
		percolator->masks = g_renew(struct bitset, percolator->masks, length);
		percolator->capacity = length;
	}
	percolator->after = after;
	percolator->length = length;
	if (!length)
		return true;
	memset(percolator->masks, 0, length * sizeof(struct bitset));
	/* One transaction: a lock for each lookup would dominate the cost. */
	return store_begin_reading(store, &snapshot, error) &&
	       find_terms(percolator, store, &range, error);
}

bool
percolator_find_next(const struct percolator *percolator, int64_t *id)
{
	int64_t at = MAX(*id, percolator->after) - percolator->after;

	while (at < percolator->length && bitset_is_empty(&percolator->masks[at]))
		at++;
	*id = percolator->after + MIN(at + 1, (int64_t)percolator->length);
	return at < percolator->length;
}

const struct bitset *
percolator_get_papers(const struct percolator *percolator, int64_t id)
{
	g_assert(
	    id > percolator->after && id <= percolator->after + percolator->length);
	return &percolator->masks[id - percolator->after - 1];
}
