/*
 * lru.h - entries by id, of which those used least recently are freed.
 */
#ifndef PAPERBOY_BASE_LRU_H
#define PAPERBOY_BASE_LRU_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

/* First member of an entry. */
struct lru_entry {
	int64_t id;
	size_t weight;
	GList link;
};

struct lru {
	GHashTable *entries; /* id -> entry */
	GQueue order;        /* used least recently first */
	size_t weight, max;  /* sum of the weights, and its limit */
	GDestroyNotify free_entry;
};

/** @param max  limit of the sum of the weights, in any unit */
void lru_init(struct lru *lru, size_t max, GDestroyNotify free_entry);
void lru_clear(struct lru *lru);

/** Find and use an entry. @return borrowed until the next lru_insert() or lru_grow() */
void *lru_find(struct lru *lru, int64_t id);

/**
 * Insert an entry, used most recently, and free others that exceed the limit.
 *
 * @param entry  taken; begins with a struct lru_entry, set by this; its id is new
 */
void lru_insert(struct lru *lru, void *entry, int64_t id, size_t weight);

/** Increase the weight of the entry that was used most recently. */
void lru_grow(struct lru *lru, void *entry, size_t weight);

#endif
