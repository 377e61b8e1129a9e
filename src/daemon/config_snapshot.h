/*
 * config_snapshot.h - one configuration that was checked whole, and its way to the
 * stages.
 *
 * All that can be wrong with a configuration shows while its snapshot is made: the
 * templates are read, and so is the password.  After that nobody changes it; the main
 * thread offers it, each stage takes it between two of its runs and keeps a reference
 * as long as it works by it.  The last one frees it.
 */
#ifndef PAPERBOY_DAEMON_CONFIG_SNAPSHOT_H
#define PAPERBOY_DAEMON_CONFIG_SNAPSHOT_H

#include <glib.h>
#include <stdbool.h>

#include "config/settings.h"
#include "render/renderer.h"
#include "service/setup/factory.h"
#include "service/state/own_addresses.h"

struct config_snapshot {
	_Atomic unsigned references;
	const struct settings *settings;
	const struct factory_transport *outlet;
	GBytes *key;
	/* Keeps what it has rendered: of the post's thread alone. */
	struct renderer *renderer;
	const struct own_addresses *own_addresses;
	/* Where there are commands by mail: of the press's thread alone; else NULL. */
	struct renderer *digest_cache_renderer;
};

/**
 * Make a snapshot, with one reference.
 *
 * @param settings     taken, also on failure
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @param key          of the state folder
 */
struct config_snapshot *config_snapshot_new(
    struct settings *settings, const char *credentials, GBytes *key, GError **error);

/** Add a reference; from any thread, as the next. @return the same */
struct config_snapshot *config_snapshot_ref(struct config_snapshot *config_snapshot);

/** Give a reference back. NULL is fine. */
void config_snapshot_unref(struct config_snapshot *config_snapshot);

/* Where a stage finds what it is to work by next; zeroed it is empty. */
struct config_snapshot_holder {
	struct config_snapshot *_Atomic next;
};

/** Offer a snapshot in place of one that was not taken yet. */
void config_snapshot_publish(
    struct config_snapshot_holder *slot, struct config_snapshot *config_snapshot);

/** Take what was offered last. @return a reference, or NULL for nothing new */
struct config_snapshot *config_snapshot_take(struct config_snapshot_holder *slot);

/**
 * Put back what cannot be used yet, unless a newer one was offered meanwhile.
 *
 * @param snapshot  the reference is taken
 */
void config_snapshot_reject(
    struct config_snapshot_holder *slot, struct config_snapshot *config_snapshot);

#endif
