/*
 * shelf.c - papers that were read, kept to be read again.
 */
#include "store/shelf.h"

#include <string.h>

#include "base/bounds.h"
#include "store/papers.h"
#include "store/sql.h"

struct shelf {
	struct store *store;
	GHashTable *books; /* paper seq -> struct book * */
	int64_t version;   /* of the store, when it was last looked at */
};

struct book {
	struct paper *paper;
	int64_t version; /* at which it was last read */
};

static void
book_free(void *data)
{
	struct book *book = data;

	paper_free(book->paper);
	g_free(book);
}

struct shelf *
shelf_new(struct store *store)
{
	struct shelf *shelf = g_new0(struct shelf, 1);

	shelf->store = store;
	shelf->version = -1;
	shelf->books =
	    g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, book_free);
	return shelf;
}

void
shelf_free(struct shelf *shelf)
{
	if (!shelf)
		return;
	g_hash_table_unref(shelf->books);
	g_free(shelf);
}

bool
shelf_look(struct shelf *shelf, GError **error)
{
	static const char sql[] = "PRAGMA data_version";

	return sql_number(shelf->store, sql, &shelf->version, error);
}

static bool
is_same_list(const GPtrArray *a, const GPtrArray *b)
{
	if (a->len != b->len)
		return false;
	for (unsigned i = 0; i < a->len; i++)
		if (strcmp(a->pdata[i], b->pdata[i]) != 0)
			return false;
	return true;
}

/* In all that a digest tells. */
static bool
is_same(const struct paper *a, const struct paper *b)
{
	return strcmp(a->id, b->id) == 0 && strcmp(a->title, b->title) == 0 &&
	       strcmp(a->abstract, b->abstract) == 0 && strcmp(a->url, b->url) == 0 &&
	       g_strcmp0(a->code_url, b->code_url) == 0 &&
	       g_strcmp0(a->project_url, b->project_url) == 0 &&
	       is_same_list(a->authors, b->authors);
}

struct paper *
shelf_get(struct shelf *shelf, int64_t seq, GError **error)
{
	struct book *book = g_hash_table_lookup(shelf->books, &seq);
	pb_auto(stored_paper) stored = NULL;

	if (book && book->version == shelf->version)
		return paper_share(book->paper);
	stored = papers_load(shelf->store, seq, error);
	if (!stored)
		return NULL;
	if (!book) {
		if (g_hash_table_size(shelf->books) >= BOUNDS_SHELF_PAPERS)
			g_hash_table_remove_all(shelf->books);
		book = g_new0(struct book, 1);
		g_hash_table_insert(shelf->books, g_memdup2(&seq, sizeof(seq)), book);
	}
	if (!book->paper || !is_same(book->paper, stored->paper)) {
		paper_free(book->paper);
		book->paper = g_steal_pointer(&stored->paper);
	}
	book->version = shelf->version;
	return paper_share(book->paper);
}
