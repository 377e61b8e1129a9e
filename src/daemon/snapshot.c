/*
 * snapshot.c - one configuration that was checked whole, and its way to the stages.
 */
#include "daemon/snapshot.h"

#include <stdatomic.h>

static void
free_parts(struct snapshot *snapshot)
{
	renderer_free(snapshot->renderer);
	renderer_free(snapshot->press_renderer);
	house_free((struct house *)snapshot->house);
	assembly_free_outlet((struct assembly_outlet *)snapshot->outlet);
	g_bytes_unref(snapshot->key);
	settings_free((struct settings *)snapshot->settings);
	g_free(snapshot);
}

/* What letters are handled with, where they are. */
static bool
load_parts(struct snapshot *snapshot, GError **error)
{
	const struct settings *settings = snapshot->settings;

	snapshot->house = house_new(settings, error);
	if (!snapshot->house || !snapshot->house->has_commands)
		return snapshot->house != NULL;
	snapshot->press_renderer =
	    assembly_new_renderer(settings, snapshot->key, error);
	return snapshot->press_renderer != NULL;
}

struct snapshot *
snapshot_new(
    struct settings *settings, const char *credentials, GBytes *key, GError **error)
{
	struct snapshot *snapshot = g_new0(struct snapshot, 1);

	snapshot->references = 1;
	snapshot->settings = settings;
	snapshot->key = g_bytes_ref(key);
	snapshot->outlet = assembly_new_outlet(settings, credentials, error);
	if (snapshot->outlet)
		snapshot->renderer = assembly_new_renderer(settings, key, error);
	if (snapshot->renderer && load_parts(snapshot, error))
		return snapshot;
	free_parts(snapshot);
	return NULL;
}

struct snapshot *
snapshot_ref(struct snapshot *snapshot)
{
	atomic_fetch_add(&snapshot->references, 1);
	return snapshot;
}

void
snapshot_unref(struct snapshot *snapshot)
{
	if (snapshot && atomic_fetch_sub(&snapshot->references, 1) == 1)
		free_parts(snapshot);
}

void
snapshot_offer(struct snapshot_slot *slot, struct snapshot *snapshot)
{
	snapshot_unref(atomic_exchange(&slot->next, snapshot_ref(snapshot)));
}

struct snapshot *
snapshot_take(struct snapshot_slot *slot)
{
	return atomic_exchange(&slot->next, NULL);
}

void
snapshot_put_back(struct snapshot_slot *slot, struct snapshot *snapshot)
{
	struct snapshot *none = NULL;

	if (!atomic_compare_exchange_strong(&slot->next, &none, snapshot))
		snapshot_unref(snapshot);
}
