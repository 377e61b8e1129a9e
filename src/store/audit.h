/*
 * audit.h - who changed what, and how it was asked for.
 */
#ifndef PAPERBOY_STORE_AUDIT_H
#define PAPERBOY_STORE_AUDIT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

/**
 * Record a change, in the caller's transaction.
 *
 * @param who            such as "operator root"
 * @param what           a stable verb, such as "subscriber added"
 * @param subscriber_id  0 for none
 * @param detail         or NULL
 */
bool audit_insert(struct store *store, int64_t now, const char *who, const char *what,
    int64_t subscriber_id, const char *detail, GError **error);

#endif
