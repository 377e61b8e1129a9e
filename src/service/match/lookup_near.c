/*
 * lookup_near.c - the places of the phrases of a NEAR in all papers.
 */
#include "service/match/lookup_near.h"

#include <string.h>

#include "query/parse/tree.h"
#include "store/paper/archive.h"

/* A paper with a variant. */
struct entry {
	guint seq;
	guint ends[FTS_AUTHORS]; /* of its places in those of the variant */
};

/* A variant of a phrase. */
struct variant {
	GArray *entries;             /* of struct entry, by seq */
	GArray *places[FTS_COLUMNS]; /* of int, in title and abstract */
	guint next;                  /* entry to look at */
};

struct lookup_near {
	const struct fts_clause *clause;
	GArray *variants; /* of struct variant, in the order of the expression */
	guint papers;
	guint phrase; /* number of the current one */
	uint8_t
	    *found; /* by seq: number of the phrases that it has, from the first on */
	guint seq;  /* to look at */
};

static void
variant_clear(void *data)
{
	struct variant *variant = data;

	g_array_unref(variant->entries);
	for (unsigned i = 0; i < FTS_COLUMNS; i++)
		g_array_unref(variant->places[i]);
}

struct lookup_near *
lookup_near_new(const struct fts_clause *clause, guint papers)
{
	struct lookup_near *near = g_new0(struct lookup_near, 1);

	near->clause = clause;
	near->papers = papers;
	near->found = g_new0(uint8_t, papers);
	near->variants = g_array_new(FALSE, FALSE, sizeof(struct variant));
	g_array_set_clear_func(near->variants, variant_clear);
	return near;
}

void
lookup_near_free(struct lookup_near *near)
{
	if (!near)
		return;
	g_array_unref(near->variants);
	g_free(near->found);
	g_free(near);
}

static const struct fts_near *
get_phrase(const struct lookup_near *near, guint phrase)
{
	return &g_array_index(near->clause->near, struct fts_near, phrase);
}

int
lookup_near_next(struct lookup_near *near)
{
	guint index = near->clause->first + near->variants->len;
	struct variant variant = {
	    .entries = g_array_new(FALSE, FALSE, sizeof(struct entry))};

	if (near->variants->len == near->clause->phrases)
		return -1;
	for (unsigned i = 0; i < FTS_COLUMNS; i++)
		variant.places[i] = g_array_new(FALSE, FALSE, sizeof(int));
	g_array_append_val(near->variants, variant);
	while (index >= get_phrase(near, near->phrase)->first +
	                    get_phrase(near, near->phrase)->phrases)
		near->phrase++;
	return (int)index;
}

void
lookup_near_add(struct lookup_near *near, guint seq, void *row)
{
	struct variant *variant =
	    &g_array_index(near->variants, struct variant, near->variants->len - 1);
	struct entry entry = {.seq = seq};

	if (near->found[seq] < near->phrase)
		return;
	near->found[seq] = (uint8_t)(near->phrase + 1);
	archive_list_places(row, 0, variant->places);
	g_array_set_size(variant->places[FTS_AUTHORS], 0);
	for (unsigned i = 0; i < FTS_AUTHORS; i++)
		entry.ends[i] = variant->places[i]->len;
	g_array_append_val(variant->entries, entry);
}

/* As fts_paper.list. */
static void
list_places(void *row, unsigned phrase, GArray *const columns[FTS_COLUMNS])
{
	struct lookup_near *near = row;
	struct variant *variant = &g_array_index(
	    near->variants, struct variant, phrase - near->clause->first);
	const struct entry *entries =
	    (const struct entry *)(void *)variant->entries->data;
	unsigned texts = near->clause->node->field->texts;

	while (variant->next < variant->entries->len &&
	       entries[variant->next].seq < near->seq)
		variant->next++;
	if (variant->next == variant->entries->len ||
	    entries[variant->next].seq > near->seq)
		return;
	for (unsigned i = 0; i < FTS_AUTHORS; i++) {
		guint start = variant->next ? entries[variant->next - 1].ends[i] : 0;
		guint end = entries[variant->next].ends[i];

		if (texts & 1U << i && end > start)
			g_array_append_vals(columns[i],
			    &g_array_index(variant->places[i], int, start),
			    end - start);
	}
}

void
lookup_near_foreach(struct lookup_near *near, lookup_near_found found, void *data)
{
	for (; near->seq < near->papers; near->seq++) {
		const struct fts_paper paper = {
		    .seq = near->seq, .list = list_places, .row = near};
		struct rank_hits hits;

		if (near->found[near->seq] < near->clause->near->len)
			continue;
		fts_query_count_clause(near->clause, &paper, &hits);
		if (hits.texts[0] || hits.texts[1])
			found(data, near->seq, &hits);
	}
}
