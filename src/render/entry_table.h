/*
 * entry_table.h - caches of rendered papers and reasons, which threads share.
 */
#pragma once

#include <glib.h>

/* Everything that determines a cached value. */
struct entry_key {
	const char *bytes; /* not text; borrowed */
	size_t size;
	guint hash;
};

/** Append a text with its NUL, so that fields cannot run together. @param text or NULL
 */
void entry_key_add(GString *bytes, const char *text);

/** Make a key. @param hashed  size of the first bytes, which are hashed */
struct entry_key entry_key_make(const GString *bytes, size_t hashed);

/*
 * A set of values that contain their key, allocated by g_atomic_rc_box_alloc().  Values
 * in use outlive the table's contents.
 */
struct entry_table {
	GMutex lock; /* of the other members */
	GHashTable *keys;
	size_t key_offset; /* in a value */
	GDestroyNotify unref;
	size_t bytes, limit_bytes;
};

/** @param unref  drops a reference to a value */
void entry_table_init(struct entry_table *table, size_t key_offset,
    GDestroyNotify unref, size_t limit_bytes);
void entry_table_clear(struct entry_table *table);

/** Find a value. @return a new reference; NULL if there is none */
void *entry_table_find(struct entry_table *table, const struct entry_key *key);

/**
 * Add a value, unless another thread has added one with this key meanwhile.  A full
 * table is emptied first.
 *
 * @param value  a reference, borrowed
 * @param bytes  that it takes
 */
void entry_table_add(struct entry_table *table, void *value, size_t bytes);
