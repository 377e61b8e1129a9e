/*
 * generation.h - detect a database that is older than the mail that was sent.
 *
 * Each claim of messages advances a counter in the database.  Between the claim's
 * commit and the sending the counter is written to a file beside the database and
 * synced.  A database whose counter is behind the file was replaced by an older copy,
 * or has lost its write-ahead log: mail sent since is unknown to it.
 *
 * Of two machines with copies of one database the counter tells which copy is the
 * newest.  The other machine sends nothing once it knows (store/admin/backup.h).
 *
 * A shared store has no counter, which all claims of all machines would write, and no
 * file: nothing is detected.  Who restores an older copy of a server's database holds
 * the mail explicitly.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "store/core/store.h"

struct generation;

/**
 * Open the counter file of a state directory, and compare it with the database.  If the
 * database is older, all messages that may have been sent since are HELD as after a
 * restore (store/admin/backup.h), and an event is logged.
 *
 * @return NULL with PB_ERROR_PERMANENT if the file cannot be used
 */
struct generation *
generation_new(struct store *store, const char *state_dir, int64_t now, GError **error);
void generation_free(struct generation *generation);
PB_DEFINE_AUTO(generation, generation_free);

/** Write the database's counter to the file and sync it: after a claim's commit, before
 * its messages are sent.  Does nothing for a shared store. */
bool
generation_save(struct generation *generation, struct store *store, GError **error);

/**
 * Load the counter file.
 *
 * @param value  set on success; 0 if there is no file
 */
bool generation_load_file(const char *state_dir, int64_t *value, GError **error);

/** Check whether the database is older than the file; a shared store never is. */
bool generation_is_stale(
    struct store *store, const char *state_dir, bool *is_stale, GError **error);
