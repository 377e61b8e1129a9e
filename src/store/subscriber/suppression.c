/*
 * suppression.c - suppression list: addresses that must not be mailed.
 */
#include "store/subscriber/suppression.h"

#include "base/error.h"
#include "base/token.h"
#include "store/core/record.h"

char *
suppression_hash(GBytes *key, const char *address_key)
{
	return token_hash_string(key, "suppression", address_key);
}

static char *
hash_with(GBytes *keys, unsigned number, const char *address_key)
{
	g_autoptr(GBytes) key = token_get_key(keys, number);

	return suppression_hash(key, address_key);
}

bool
suppression_can_end(const char *reason)
{
	return g_str_equal(reason, "complaint") || g_str_equal(reason, "dead");
}

bool
suppression_insert(struct store *store, const char *hash, const char *reason,
    int64_t now, GError **error)
{
	static const char sql[] = "INSERT INTO suppression (hash, reason, at) VALUES "
	                          "(?1, ?2, ?3)" SUPPRESSION_ON_CONFLICT;

	return sql_exec(
	    store, sql, error, SQL_TEXT(hash), SQL_TEXT(reason), SQL_INT(now));
}

bool
suppression_delete(
    struct store *store, GBytes *keys, const char *address_key, GError **error)
{
	static const char sql[] = "DELETE FROM suppression WHERE hash = ?1";
	unsigned sum = 0, count;

	for (unsigned i = 0; i < token_count_keys(keys); i++) {
		g_autofree char *hash = hash_with(keys, i, address_key);

		if (!sql_exec_count(store, sql, &count, error, SQL_TEXT(hash)))
			return false;
		sum += count;
	}
	if (sum)
		return true;
	return pb_fail(error, PB_ERROR_NOT_FOUND, "the address is not suppressed");
}

RECORD_LAYOUT(layout, suppression, "suppression", "twn",
    (ENUMERATION_SUPPRESSION_REASON), hash, reason, at);

bool
suppression_find(struct store *store, GBytes *keys, const char *address_key,
    struct suppression **suppression, GError **error)
{
	static const char sql[] =
	    "SELECT hash, reason, at FROM suppression WHERE hash = ?1";
	g_autofree struct suppression *chosen = NULL;

	for (unsigned i = 0; i < token_count_keys(keys); i++) {
		g_autofree char *hash = hash_with(keys, i, address_key);
		g_autofree struct suppression *found = NULL;

		if (!record_find(store, sql, &layout, &found, error, SQL_TEXT(hash)))
			return false;
		if (found && (!chosen || suppression_can_end(chosen->reason))) {
			g_free(chosen);
			chosen = g_steal_pointer(&found);
		}
	}
	*suppression = g_steal_pointer(&chosen);
	return true;
}

static void
mark_lookup(struct suppression_lookup *lookup, const char *hash, const GPtrArray *found)
{
	for (unsigned i = 0; i < found->len; i++) {
		const struct suppression *row = found->pdata[i];

		if (g_str_equal(row->hash, hash) &&
		    !(lookup->is_answer && suppression_can_end(row->reason)))
			lookup->is_suppressed = true;
	}
}

/* @param hashes  at most SQL_LIST_MAX, of those of the lookups with these numbers */
static bool
mark_found(struct store *store, const GPtrArray *hashes, const GArray *numbers,
    struct suppression_lookup *lookups, GError **error)
{
	static const char sql[] = "SELECT hash, reason, at FROM suppression"
	                          " WHERE hash IN (" SQL_LIST("?") ")";
	struct sql_value values[SQL_LIST_MAX + 1] = {0};
	g_autoptr(GPtrArray) found = NULL;

	for (unsigned i = 0; i < SQL_LIST_MAX; i++)
		values[i] = i < hashes->len ? SQL_TEXT(hashes->pdata[i]) : SQL_NULL;
	found = record_load_all_values(store, sql, values, &layout, error);
	for (unsigned i = 0; found && i < hashes->len; i++)
		mark_lookup(&lookups[g_array_index(numbers, unsigned, i)],
		    hashes->pdata[i], found);
	return found != NULL;
}

static bool
mark_all(struct store *store, GBytes *keys, struct suppression_lookup *lookups,
    unsigned count, GError **error)
{
	g_autoptr(GPtrArray) hashes = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(unsigned));
	unsigned key_count = token_count_keys(keys);

	for (unsigned i = 0; i < count * key_count; i++) {
		unsigned number = i / key_count;

		if (lookups[number].address_key) {
			g_ptr_array_add(hashes, hash_with(keys, i % key_count,
			                            lookups[number].address_key));
			g_array_append_val(numbers, number);
		}
		if (hashes->len < SQL_LIST_MAX && i + 1 < count * key_count)
			continue;
		if (!mark_found(store, hashes, numbers, lookups, error))
			return false;
		g_ptr_array_set_size(hashes, 0);
		g_array_set_size(numbers, 0);
	}
	return true;
}

bool
suppression_mark(struct store *store, GBytes *keys, struct suppression_lookup *lookups,
    unsigned count, GError **error)
{
	static const char sql[] =
	    "SELECT EXISTS (SELECT 1 FROM suppression WHERE hash > '')";
	bool has;

	return sql_has(store, sql, &has, error) &&
	       (!has || mark_all(store, keys, lookups, count, error));
}

GPtrArray *
suppression_load_batch(
    struct store *store, const char *after, unsigned limit, GError **error)
{
	static const char sql[] = "SELECT hash, reason, at FROM suppression"
	                          " WHERE hash > ?1 ORDER BY hash LIMIT ?2";

	return record_load_all(
	    store, sql, &layout, error, SQL_TEXT(after), SQL_INT(limit));
}

bool
suppression_count(struct store *store, int64_t *count, GError **error)
{
	static const char sql[] = "SELECT count(*) FROM suppression";

	return sql_number(store, sql, count, error);
}
