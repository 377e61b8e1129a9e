/*
 * percolator.c - which filters a batch of papers is worth showing to.
 */
#include "service/percolator.h"

#include <string.h>

#include "store/filing.h"

/* A term and the papers that have it. */
struct probe {
	struct term term;
	guint hash;
	struct percolator_mask papers;
};

struct percolator {
	unsigned paper_count;
	GHashTable *seen;  /* of struct probe * */
	GPtrArray *probes; /* of the same, which it owns; sorted when is_sorted */
	bool is_sorted;    /* neighbours in the store are looked up one after another */
	int64_t after;     /* masks are of the ids in (after, after + length] */
	unsigned length;
	unsigned capacity;
	struct percolator_mask *masks;
	const struct probe *probe; /* the one that is being looked up */
};

static guint
hash_probe(gconstpointer data)
{
	return ((const struct probe *)data)->hash;
}

static gboolean
is_probe_equal(gconstpointer a, gconstpointer b)
{
	const struct probe *left = a, *right = b;

	return left->hash == right->hash && left->term.kind == right->term.kind &&
	       strcmp(left->term.text, right->term.text) == 0;
}

static void
free_probe(gpointer data)
{
	g_free(((struct probe *)data)->term.text);
	g_free(data);
}

struct percolator *
percolator_new(void)
{
	struct percolator *percolator = g_new0(struct percolator, 1);

	percolator->seen = g_hash_table_new(hash_probe, is_probe_equal);
	percolator->probes = g_ptr_array_new_with_free_func(free_probe);
	return percolator;
}

void
percolator_free(struct percolator *percolator)
{
	if (!percolator)
		return;
	g_hash_table_unref(percolator->seen);
	g_ptr_array_unref(percolator->probes);
	g_free(percolator->masks);
	g_free(percolator);
}

static void
add_probe(void *data, enum term_kind kind, const char *text)
{
	struct percolator *percolator = data;
	const struct probe wanted = {
	    .term = {kind, (char *)text}, .hash = g_str_hash(text) * 5 + (guint)kind};
	struct probe *probe = g_hash_table_lookup(percolator->seen, &wanted);
	unsigned paper = percolator->paper_count;

	if (!probe) {
		probe = g_memdup2(&wanted, sizeof(wanted));
		probe->term.text = g_strdup(text);
		g_hash_table_add(percolator->seen, probe);
		g_ptr_array_add(percolator->probes, probe);
	}
	probe->papers.bits[paper / 64] |= UINT64_C(1) << paper % 64;
}

void
percolator_add(struct percolator *percolator, const struct query_document *document)
{
	g_assert(percolator->paper_count < PERCOLATOR_PAPERS);
	percolator->is_sorted = false;
	add_probe(percolator, TERM_ALWAYS, "");
	terms_list(document, add_probe, percolator);
	percolator->paper_count++;
}

static gint
compare_probes(gconstpointer a, gconstpointer b)
{
	const struct probe *const *left = a, *const *right = b;

	if ((*left)->term.kind != (*right)->term.kind)
		return (*left)->term.kind < (*right)->term.kind ? -1 : 1;
	return strcmp((*left)->term.text, (*right)->term.text);
}

static void
add_candidate(void *data, int64_t filter_id)
{
	struct percolator *percolator = data;
	struct percolator_mask *mask =
	    &percolator->masks[filter_id - percolator->after - 1];

	for (unsigned i = 0; i < G_N_ELEMENTS(mask->bits); i++)
		mask->bits[i] |= percolator->probe->papers.bits[i];
}

bool
percolator_look_up(struct percolator *percolator, struct store *store, int64_t after,
    int64_t last, GError **error)
{
	unsigned length = (unsigned)CLAMP(last - after, 0, PERCOLATOR_RANGE);
	const struct filing_range range = {after, after + length};
	pb_transaction transaction = {0};

	if (!percolator->is_sorted)
		g_ptr_array_sort(percolator->probes, compare_probes);
	percolator->is_sorted = true;
	if (length > percolator->capacity) {
		percolator->masks =
		    g_renew(struct percolator_mask, percolator->masks, length);
		percolator->capacity = length;
	}
	percolator->after = after;
	percolator->length = length;
	if (!length)
		return true;
	memset(percolator->masks, 0, length * sizeof(struct percolator_mask));
	/* In one transaction: a lock for each would cost more than all the rest. */
	if (!store_begin_reading(store, &transaction, error))
		return false;
	for (unsigned i = 0; i < percolator->probes->len; i++) {
		percolator->probe = percolator->probes->pdata[i];
		if (!filing_find(store, &percolator->probe->term, &range, add_candidate,
		        percolator, error))
			return false;
	}
	return true;
}

static bool
is_empty(const struct percolator_mask *mask)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < G_N_ELEMENTS(mask->bits); i++)
		any |= mask->bits[i];
	return any == 0;
}

bool
percolator_find_next(
    const struct percolator *percolator, int64_t *id, struct percolator_mask *mask)
{
	int64_t at = MAX(*id, percolator->after) - percolator->after;

	while (at < percolator->length && is_empty(&percolator->masks[at]))
		at++;
	*id = percolator->after + MIN(at + 1, (int64_t)percolator->length);
	if (at >= percolator->length)
		return false;
	*mask = percolator->masks[at];
	return true;
}
