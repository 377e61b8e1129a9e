/*
 * lease.c - the lease of this process on a store.
 */
#include "service/state/lease.h"

#include <time.h>

#include "store/core/instances.h"

struct lease {
	char *name;
	_Atomic int64_t holder;
	_Atomic int64_t ends_at; /* of CLOCK_BOOTTIME, s; INT64_MAX: never */
};

static int64_t
read_boot_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_BOOTTIME, &time);
	return time.tv_sec;
}

/* A renewal in progress. */
struct renewal {
	const char *name;
	int64_t now;        /* of the store */
	int64_t holder;     /* 0: this process has no instance yet */
	int64_t new_holder; /* set */
};

static bool
add_instance(struct store *store, struct renewal *renewal, GError **error)
{
	const struct instance instance = {
	    .name = renewal->name,
	    .program = PACKAGE_VERSION,
	    .started_at = renewal->now,
	};

	return instances_insert(
	           store, &instance, renewal->now, &renewal->new_holder, error) &&
	       (renewal->holder || instances_expire_name(store, renewal->name,
	                               renewal->new_holder, error));
}

static bool
save_renewal(struct store *store, void *data, GError **error)
{
	struct renewal *renewal = data;
	bool is_held = false;

	if (renewal->holder &&
	    !instances_renew(store, renewal->holder, renewal->now, &is_held, error))
		return false;
	renewal->new_holder = renewal->holder;
	return is_held || add_instance(store, renewal, error);
}

bool
lease_renew(struct lease *lease, struct store *store, int64_t now, GError **error)
{
	struct renewal renewal = {.name = lease->name, .holder = lease->holder};
	int64_t begins_at = read_boot_time();

	if (!instances_load_time(store, now, &renewal.now, error) ||
	    !store_transact(store, save_renewal, &renewal, error))
		return false;
	store_set_holder(store, renewal.new_holder);
	lease->holder = renewal.new_holder;
	lease->ends_at = store_is_shared(store)
	                     ? begins_at + INSTANCES_LEASE_S - LEASE_MARGIN_S
	                     : INT64_MAX;
	return true;
}

struct lease *
lease_new(struct store *store, const char *state_dir, int64_t now, GError **error)
{
	pb_auto(lease) lease = g_new0(struct lease, 1);

	lease->name = g_strdup_printf("%s:%s", g_get_host_name(), state_dir);
	if (!lease_renew(lease, store, now, error))
		return NULL;
	return g_steal_pointer(&lease);
}

void
lease_free(struct lease *lease)
{
	if (!lease)
		return;
	g_free(lease->name);
	g_free(lease);
}

int64_t
lease_get_holder(const struct lease *lease)
{
	return lease->holder;
}

bool
lease_is_held(const struct lease *lease, int64_t holder)
{
	int64_t ends_at;

	if (!lease)
		return true;
	ends_at = lease->ends_at;
	return lease->holder == holder &&
	       (ends_at == INT64_MAX || read_boot_time() < ends_at);
}

void
lease_suspend(struct lease *lease)
{
	lease->ends_at = 0;
}

bool
lease_end(struct lease *lease, struct store *store, GError **error)
{
	return !store_is_shared(store) || instances_delete(store, lease->holder, error);
}

bool
lease_take_job(struct lease *lease, struct store *store, enum job job, int64_t now,
    bool *is_held, GError **error)
{
	int64_t store_now;

	*is_held = true;
	if (!lease || !store_is_shared(store))
		return true;
	store_set_holder(store, lease->holder);
	jobs_set(store, job);
	*is_held = lease_is_held(lease, lease->holder);
	return !*is_held || (instances_load_time(store, now, &store_now, error) &&
	                        jobs_take(store, job, store_now, is_held, error));
}
