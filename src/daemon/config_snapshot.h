/*
 * config_snapshot.h - an immutable, validated configuration with a reference count.
 *
 * Templates and the password are read when it is created, so all errors appear then.
 * The main thread publishes a snapshot; each stage takes it between two runs and holds
 * a reference while it uses it.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "config/settings.h"
#include "render/renderer.h"
#include "service/setup/factory.h"
#include "service/state/own_addresses.h"

struct config_snapshot {
	_Atomic unsigned references;
	struct config_snapshot *origin; /* has the settings; or NULL */
	const struct settings *settings;
	const struct clock *clock; /* borrowed */
	bool is_one_click_offered; /* in the headers of digests (one_click.h) */
	const struct factory_transport *transport;
	GBytes *key;
	GPtrArray *sources;        /* of struct source *, enabled; to be read only */
	struct renderer *renderer; /* any thread may use it */
	const struct own_addresses *own_addresses;
};

/**
 * Create a snapshot, with one reference.
 *
 * @param settings     taken, also on failure
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @param clock        borrowed
 * @param key          of the state directory
 */
struct config_snapshot *config_snapshot_new(struct settings *settings,
    const char *credentials, const struct clock *clock, GBytes *key, GError **error);

/** Create a snapshot with the same settings, which reads its files again. */
struct config_snapshot *config_snapshot_renew(
    struct config_snapshot *current, const char *credentials, GError **error);

/** Add a reference, from any thread. @return the snapshot */
struct config_snapshot *config_snapshot_ref(struct config_snapshot *config_snapshot);

/** Drop a reference, from any thread. @param config_snapshot  or NULL */
void config_snapshot_unref(struct config_snapshot *config_snapshot);

/* The next snapshot of a stage; zeroed: none. */
struct config_snapshot_slot {
	struct config_snapshot *_Atomic next;
};

/** Put a snapshot into the slot, instead of one that was not taken yet. */
void config_snapshot_publish(
    struct config_snapshot_slot *slot, struct config_snapshot *config_snapshot);

/** Take the snapshot out of the slot. @return a reference, or NULL when it is empty */
struct config_snapshot *config_snapshot_take(struct config_snapshot_slot *slot);

/** Replace a reference by that in the slot. @return whether there was one */
bool config_snapshot_switch(
    struct config_snapshot **current, struct config_snapshot_slot *slot);

/**
 * Put back a snapshot that cannot be used yet, unless a newer one was published.
 *
 * @param config_snapshot  the reference is taken
 */
void config_snapshot_reject(
    struct config_snapshot_slot *slot, struct config_snapshot *config_snapshot);
