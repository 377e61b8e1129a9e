/*
 * packed_papers.c - papers in packed values: digests and delivered papers.
 */
#include "store/paper/packed_papers.h"

#include "base/error.h"

GArray *
packed_papers_new(void)
{
	return g_array_new(FALSE, FALSE, sizeof(struct digest_contents_version));
}

bool
packed_papers_add(struct sql_statement *row, int column, GArray *papers, GError **error)
{
	struct sql_bytes packed = sql_get_bytes(row, column);

	return digest_contents_unpack_papers(
	    packed.data, packed.size, papers, NULL, error);
}

bool
packed_papers_find_moved(
    struct store *store, int64_t seq, int64_t *moved, GError **error)
{
	static const char sql[] = "SELECT coalesce((SELECT new_seq FROM paper_moved"
	                          " WHERE old_seq = ?1), 0)";
	int64_t found;

	if (!sql_number(store, sql, &found, error, SQL_INT(seq)))
		return false;
	if (!found)
		return pb_fail(error, PB_ERROR_DAMAGED,
		    "the store is damaged: paper %" G_GINT64_FORMAT
		    " of a digest does not exist; run paperboyctl doctor",
		    seq);
	*moved = found;
	return true;
}

bool
packed_papers_follow(struct store *store, GArray *papers, GError **error)
{
	static const char sql[] = "SELECT old_seq, new_seq FROM paper_moved"
	                          " WHERE old_seq BETWEEN ?1 AND ?2";
	int64_t first = INT64_MAX, last = 0;
	g_autoptr(GArray) moves = NULL;
	g_autoptr(GHashTable) moved = g_hash_table_new(g_int64_hash, g_int64_equal);

	for (unsigned i = 0; i < papers->len; i++) {
		int64_t seq = packed_papers_get(papers, i)->seq;

		first = MIN(first, seq);
		last = MAX(last, seq);
	}
	if (!papers->len)
		return true;
	moves = sql_load_numbers(store, sql, error, SQL_INT(first), SQL_INT(last));
	for (unsigned i = 0; moves && i < moves->len; i += 2)
		g_hash_table_insert(moved, &g_array_index(moves, int64_t, i),
		    &g_array_index(moves, int64_t, i + 1));
	for (unsigned i = 0; g_hash_table_size(moved) && i < papers->len; i++) {
		struct digest_contents_version *paper = packed_papers_get(papers, i);
		const int64_t *to = g_hash_table_lookup(moved, &paper->seq);

		if (to)
			paper->seq = *to;
	}
	return moves != NULL;
}
