/*
 * lru.c - entries by id, of which those used least recently are freed.
 */
#include "base/lru.h"

void
lru_init(struct lru *lru, size_t max, GDestroyNotify free_entry)
{
	*lru = (struct lru){.max = max, .free_entry = free_entry};
	lru->entries = g_hash_table_new(g_int64_hash, g_int64_equal);
	g_queue_init(&lru->order);
}

static void
free_oldest(struct lru *lru)
{
	struct lru_entry *entry = g_queue_peek_head(&lru->order);

	g_hash_table_remove(lru->entries, &entry->id);
	g_queue_unlink(&lru->order, &entry->link);
	lru->weight -= entry->weight;
	lru->free_entry(entry);
}

void
lru_clear(struct lru *lru)
{
	while (lru->order.length)
		free_oldest(lru);
	g_clear_pointer(&lru->entries, g_hash_table_unref);
}

void *
lru_find(struct lru *lru, int64_t id)
{
	struct lru_entry *entry = g_hash_table_lookup(lru->entries, &id);

	if (!entry || lru->order.tail == &entry->link)
		return entry;
	g_queue_unlink(&lru->order, &entry->link);
	g_queue_push_tail_link(&lru->order, &entry->link);
	return entry;
}

void
lru_insert(struct lru *lru, void *entry, int64_t id, size_t weight)
{
	struct lru_entry *head = entry;

	*head = (struct lru_entry){.id = id, .link.data = entry};
	g_hash_table_add(lru->entries, &head->id);
	g_queue_push_tail_link(&lru->order, &head->link);
	lru_grow(lru, entry, weight);
}

void
lru_grow(struct lru *lru, void *entry, size_t weight)
{
	struct lru_entry *head = entry;

	g_assert(lru->order.tail == &head->link);
	head->weight += weight;
	lru->weight += weight;
	while (lru->weight > lru->max && lru->order.length > 1)
		free_oldest(lru);
}
