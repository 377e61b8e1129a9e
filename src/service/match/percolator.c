/*
 * percolator.c - looks up the filters that may match a batch of papers.
 */
#include "service/match/percolator.h"

#include <string.h>

#include "store/paper/filter_index.h"

/* Looking up one term takes as long as reading the terms of this many filters in
 * sequence. */
#define SCAN_MAX 6

/* A term and the papers that have it. */
struct posting {
	struct term term;
	guint hash;
	struct bitset papers;
};

/* Postings of one kind, adjacent in the sorted list. */
struct postings_of_kind {
	enum term_kind kind;
	unsigned first;
	GPtrArray *texts; /* of the postings, which own them */
};

struct percolator {
	unsigned paper_count;
	GHashTable *seen;    /* of struct posting * */
	GPtrArray *postings; /* sorted, owned */
	GPtrArray *kinds;    /* of struct postings_of_kind *; NULL: not sorted yet */
	int64_t after;       /* filter ids in (after, after + length] are looked up */
	unsigned length;
	unsigned capacity;    /* number of masks that are allocated */
	struct bitset *masks; /* papers, by filter id - after - 1; empty: none */
	const struct postings_of_kind *kind; /* the current one */
	const struct posting *last;          /* the last one scanned, or NULL */
	GString *last_text;                  /* of `last`; empty at the start */
	enum term_kind last_kind;
};

static guint
hash_posting(gconstpointer data)
{
	return ((const struct posting *)data)->hash;
}

static gboolean
is_posting_equal(gconstpointer a, gconstpointer b)
{
	const struct posting *left = a, *right = b;

	return left->hash == right->hash && left->term.kind == right->term.kind &&
	       strcmp(left->term.text, right->term.text) == 0;
}

static void
free_posting(gpointer data)
{
	g_free(((struct posting *)data)->term.text);
	g_free(data);
}

static void
free_kind(gpointer data)
{
	g_ptr_array_unref(((struct postings_of_kind *)data)->texts);
	g_free(data);
}

struct percolator *
percolator_new(void)
{
	struct percolator *percolator = g_new0(struct percolator, 1);

	percolator->seen = g_hash_table_new(hash_posting, is_posting_equal);
	percolator->postings = g_ptr_array_new_with_free_func(free_posting);
	percolator->last_text = g_string_new(NULL);
	return percolator;
}

void
percolator_free(struct percolator *percolator)
{
	if (!percolator)
		return;
	g_hash_table_unref(percolator->seen);
	g_ptr_array_unref(percolator->postings);
	g_clear_pointer(&percolator->kinds, g_ptr_array_unref);
	g_string_free(percolator->last_text, TRUE);
	g_free(percolator->masks);
	g_free(percolator);
}

static struct posting
make_posting(enum term_kind kind, const char *text)
{
	return (struct posting){
	    .term = {kind, (char *)text}, .hash = g_str_hash(text) * 5 + (guint)kind};
}

static void
add_posting(void *data, enum term_kind kind, const char *text)
{
	struct percolator *percolator = data;
	const struct posting key = make_posting(kind, text);
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

/* Sorted, since neighbours in the store are looked up in sequence. */
static void
sort_postings(struct percolator *percolator)
{
	struct postings_of_kind *kind = NULL;

	g_ptr_array_sort(percolator->postings, compare_postings);
	percolator->kinds = g_ptr_array_new_with_free_func(free_kind);
	for (unsigned i = 0; i < percolator->postings->len; i++) {
		const struct posting *posting = percolator->postings->pdata[i];

		if (!kind || kind->kind != posting->term.kind) {
			kind = g_new(struct postings_of_kind, 1);
			kind->kind = posting->term.kind;
			kind->first = i;
			kind->texts = g_ptr_array_new();
			g_ptr_array_add(percolator->kinds, kind);
		}
		g_ptr_array_add(kind->texts, posting->term.text);
	}
}

static void
add_candidate(
    struct percolator *percolator, const struct posting *posting, int64_t filter_id)
{
	struct bitset *mask = &percolator->masks[filter_id - percolator->after - 1];

	for (unsigned i = 0; i < G_N_ELEMENTS(mask->bits); i++)
		mask->bits[i] |= posting->papers.bits[i];
}

static void
add_found(void *data, unsigned term, int64_t filter_id)
{
	struct percolator *percolator = data;

	add_candidate(percolator,
	    percolator->postings->pdata[percolator->kind->first + term], filter_id);
}

static bool
find_terms(struct percolator *percolator, struct store *store,
    const struct filter_index_range *range, GError **error)
{
	if (!percolator->kinds)
		sort_postings(percolator);
	for (unsigned i = 0; i < percolator->kinds->len; i++) {
		struct filter_index_terms terms;

		percolator->kind = percolator->kinds->pdata[i];
		terms.kind = percolator->kind->kind;
		terms.texts = percolator->kind->texts;
		if (!filter_index_find(
		        store, &terms, range, add_found, percolator, error))
			return false;
	}
	return true;
}

/* Filters of one term are adjacent. */
static void
add_scanned(void *data, const struct term *term, int64_t filter_id)
{
	struct percolator *percolator = data;
	GString *last_text = percolator->last_text;

	if (term->kind != percolator->last_kind ||
	    strcmp(term->text, last_text->str) != 0) {
		const struct posting key = make_posting(term->kind, term->text);

		percolator->last = g_hash_table_lookup(percolator->seen, &key);
		percolator->last_kind = term->kind;
		g_string_assign(last_text, term->text);
	}
	if (percolator->last)
		add_candidate(percolator, percolator->last, filter_id);
}

static bool
scan_terms(struct percolator *percolator, struct store *store,
    const struct filter_index_range *range, GError **error)
{
	const struct posting always = make_posting(TERM_ALWAYS, "");

	percolator->last = g_hash_table_lookup(percolator->seen, &always);
	percolator->last_kind = TERM_ALWAYS;
	g_string_truncate(percolator->last_text, 0);
	return filter_index_foreach(store, range, add_scanned, percolator, error);
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
	if (!store_begin_reading(store, &snapshot, error))
		return false;
	/* The scan reads the entries of all filters, about `last` of them. */
	return last <= (int64_t)percolator->postings->len * SCAN_MAX
	           ? scan_terms(percolator, store, &range, error)
	           : find_terms(percolator, store, &range, error);
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
