/*
 * key_change.c - rotate the key of a state directory, or restore it from a backup.
 */
#include "service/admin/key_change.h"

#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/random.h"
#include "base/token.h"
#include "service/setup/factory.h"
#include "service/setup/startup.h"
#include "service/state/lock.h"
#include "service/state/secret.h"
#include "store/admin/backup.h"
#include "store/core/instances.h"
#include "store/mail/outbox.h"
#include "store/subscriber/audit.h"
#include "store/subscriber/suppression.h"

/* @return the new key followed by the old ones, or NULL */
static GBytes *
make_keys(GBytes *old, GError **error)
{
	g_autoptr(GByteArray) keys = g_byte_array_new();
	guint8 fresh[TOKEN_KEY_BYTES];

	if (old && token_count_keys(old) >= BOUNDS_KEYS) {
		pb_fail(error, PB_ERROR_LIMIT, "limit of %d keys reached", BOUNDS_KEYS);
		return NULL;
	}
	random_system.fill(random_system.data, fresh, sizeof(fresh));
	g_byte_array_append(keys, fresh, sizeof(fresh));
	if (old)
		g_byte_array_append(
		    keys, g_bytes_get_data(old, NULL), (guint)g_bytes_get_size(old));
	return g_byte_array_free_to_bytes(g_steal_pointer(&keys));
}

/* Refuse a rotation while messages are in doubt: composed again with another key, they
 * would get another Message-ID and arrive twice. */
static bool
check_doubt(struct store *store, GError **error)
{
	int64_t count;

	if (!outbox_count_in_doubt(store, &count, error))
		return false;
	if (!count)
		return true;
	return pb_fail(error, PB_ERROR_INPUT,
	    "%" G_GINT64_FORMAT
	    " %s may have arrived and will be sent again: rotate the "
	    "key later, or end %s (paperboyctl queue drop --delivered)",
	    count, count == 1 ? "message" : "messages", count == 1 ? "it" : "them");
}

/* A rotation. */
struct rotation {
	const struct key_change *change;
	GBytes *keys;
	int64_t suppressed; /* set */
};

static bool
save_keys(struct store *store, void *data, GError **error)
{
	struct rotation *rotation = data;
	const struct key_change *change = rotation->change;
	g_autofree char *mac = secret_format_mac(rotation->keys);

	return instances_check_none(store, change->now, error) &&
	       check_doubt(store, error) &&
	       (!change->is_lost ||
	           suppression_count(store, &rotation->suppressed, error)) &&
	       backup_save_key(store, rotation->keys, change->now, error) &&
	       store_save_key_check(store, mac, error) &&
	       audit_insert(store, change->now, change->who,
	           change->is_lost ? "key replaced" : "key rotated", 0, NULL, error);
}

static bool
rotate(struct store *store, const struct settings *settings,
    const struct key_change *change, int64_t *suppressed, GError **error)
{
	g_autoptr(GBytes) old =
	    change->is_lost ? NULL : startup_load_key(settings, store, error);
	g_autoptr(GBytes) keys = NULL;
	g_autoptr(GBytes) loaded = NULL;
	struct rotation rotation = {.change = change};

	if (!change->is_lost && !old)
		return false;
	keys = make_keys(old, error);
	if (!keys)
		return false;
	rotation.keys = keys;
	if (!store_transact(store, save_keys, &rotation, error))
		return false;
	loaded = startup_load_key(settings, store, error);
	if (!loaded)
		return false;
	*suppressed = rotation.suppressed;
	return true;
}

bool
key_rotate(const struct settings *settings, const struct key_change *change,
    int64_t *suppressed, GError **error)
{
	int lock = lock_take_alone(settings->state_dir, error);
	struct store *store;
	bool is_ok;

	if (lock < 0)
		return false;
	store = factory_open_store(settings, error);
	is_ok = store && rotate(store, settings, change, suppressed, error);
	store_free(store);
	close(lock);
	return is_ok;
}

static bool
restore(struct store *store, const struct settings *settings, const char *path,
    GError **error)
{
	pb_auto(store) backup = store_open_for_reading(path, error);
	g_autofree char *mac = NULL;
	g_autofree char *wanted = NULL;
	g_autoptr(GBytes) keys = NULL;

	if (!backup || !backup_load_key(backup, &keys, error) ||
	    !store_load_key_check(store, &wanted, error))
		return false;
	if (!keys)
		return pb_fail(error, PB_ERROR_INPUT,
		    "'%s' is a store, but not a backup: it does not contain the key",
		    path);
	mac = secret_format_mac(keys);
	if (g_strcmp0(mac, wanted) != 0)
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' has the key of another store, or one from before a rotation",
		    path);
	return secret_replace_key(settings->state_dir, keys, error);
}

bool
key_restore(const struct settings *settings, const char *path, GError **error)
{
	int lock = lock_take_alone(settings->state_dir, error);
	struct store *store;
	bool is_ok;

	if (lock < 0)
		return false;
	store = factory_open_store(settings, error);
	is_ok = store && restore(store, settings, path, error);
	store_free(store);
	close(lock);
	return is_ok;
}
