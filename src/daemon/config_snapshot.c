/*
 * config_snapshot.c - an immutable, validated configuration with a reference count.
 */
#include "daemon/config_snapshot.h"

#include <stdatomic.h>

#include "service/state/one_click.h"

static void
free_parts(struct config_snapshot *config_snapshot)
{
	renderer_free(config_snapshot->renderer);
	own_addresses_free((struct own_addresses *)config_snapshot->own_addresses);
	factory_free_transport((struct factory_transport *)config_snapshot->transport);
	g_bytes_unref(config_snapshot->key);
	g_ptr_array_unref(config_snapshot->sources);
	if (!config_snapshot->origin)
		settings_free((struct settings *)config_snapshot->settings);
	config_snapshot_unref(config_snapshot->origin);
	g_free(config_snapshot);
}

/* @param config_snapshot  with settings; taken, also on failure */
static struct config_snapshot *
load_parts(struct config_snapshot *config_snapshot, const char *credentials,
    GBytes *key, GError **error)
{
	const struct settings *settings = config_snapshot->settings;

	config_snapshot->references = 1;
	config_snapshot->key = g_bytes_ref(key);
	config_snapshot->sources = factory_new_sources(settings);
	config_snapshot->is_one_click_offered = one_click_is_offered(settings);
	config_snapshot->transport = factory_new_transport_options(
	    settings, credentials, config_snapshot->clock, error);
	if (config_snapshot->transport)
		config_snapshot->renderer = factory_new_renderer(settings, key, error);
	if (config_snapshot->renderer)
		config_snapshot->own_addresses = own_addresses_new(settings, error);
	if (config_snapshot->own_addresses)
		return config_snapshot;
	free_parts(config_snapshot);
	return NULL;
}

struct config_snapshot *
config_snapshot_new(struct settings *settings, const char *credentials,
    const struct clock *clock, GBytes *key, GError **error)
{
	struct config_snapshot *config_snapshot = g_new0(struct config_snapshot, 1);

	config_snapshot->settings = settings;
	config_snapshot->clock = clock;
	return load_parts(config_snapshot, credentials, key, error);
}

struct config_snapshot *
config_snapshot_renew(
    struct config_snapshot *current, const char *credentials, GError **error)
{
	struct config_snapshot *config_snapshot = g_new0(struct config_snapshot, 1);

	config_snapshot->origin =
	    config_snapshot_ref(current->origin ? current->origin : current);
	config_snapshot->settings = current->settings;
	config_snapshot->clock = current->clock;
	return load_parts(config_snapshot, credentials, current->key, error);
}

struct config_snapshot *
config_snapshot_ref(struct config_snapshot *config_snapshot)
{
	atomic_fetch_add(&config_snapshot->references, 1);
	return config_snapshot;
}

void
config_snapshot_unref(struct config_snapshot *config_snapshot)
{
	if (config_snapshot && atomic_fetch_sub(&config_snapshot->references, 1) == 1)
		free_parts(config_snapshot);
}

void
config_snapshot_publish(
    struct config_snapshot_slot *slot, struct config_snapshot *config_snapshot)
{
	config_snapshot_unref(
	    atomic_exchange(&slot->next, config_snapshot_ref(config_snapshot)));
}

struct config_snapshot *
config_snapshot_take(struct config_snapshot_slot *slot)
{
	return atomic_exchange(&slot->next, NULL);
}

bool
config_snapshot_switch(
    struct config_snapshot **current, struct config_snapshot_slot *slot)
{
	struct config_snapshot *next = config_snapshot_take(slot);

	if (!next)
		return false;
	config_snapshot_unref(*current);
	*current = next;
	return true;
}

void
config_snapshot_reject(
    struct config_snapshot_slot *slot, struct config_snapshot *config_snapshot)
{
	struct config_snapshot *none = NULL;

	if (!atomic_compare_exchange_strong(&slot->next, &none, config_snapshot))
		config_snapshot_unref(config_snapshot);
}
