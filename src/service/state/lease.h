/*
 * lease.h - the lease of this process on a store: whether it may work on what it holds.
 *
 * One thread renews it; all threads check it.  Its end is measured by a clock that
 * advances during a suspend, from before the renewal on, and a little early: so work
 * ends here before another instance takes it over.
 *
 * On a store that is not shared the lease has no end (store/core/instances.h).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "store/core/jobs.h"
#include "store/core/store.h"

/* Work ends this long before the lease. */
#define LEASE_MARGIN_S 5

struct lease;

/**
 * Register this process as an instance.
 *
 * @param state_dir  locked by this process: earlier instances with it have ended
 * @param now        s
 */
struct lease *
lease_new(struct store *store, const char *state_dir, int64_t now, GError **error);
void lease_free(struct lease *lease);
PB_DEFINE_AUTO(lease, lease_free);

/** Get the id of the instance, which changes when a lease was lost. */
int64_t lease_get_holder(const struct lease *lease);

/** Whether an instance is this one and has time left; NULL is a lease without end. */
bool lease_is_held(const struct lease *lease, int64_t holder);

/**
 * Renew the lease.  If another instance has ended it, begin one as a new instance.
 *
 * Called by one thread at a time, every INSTANCES_RENEW_S if the store is shared.
 */
bool lease_renew(struct lease *lease, struct store *store, int64_t now, GError **error);

/** End all work until the next renewal: another instance may have ended the lease. */
void lease_suspend(struct lease *lease);

/** End the lease when all work has ended; a store that is not shared stays as it is. */
bool lease_end(struct lease *lease, struct store *store, GError **error);

/**
 * Take a job, and let a handle work for it (store/core/jobs.h); a NULL lease has all.
 *
 * @param is_held  set: false while another instance has it, or the lease is not held
 */
bool lease_take_job(struct lease *lease, struct store *store, enum job job, int64_t now,
    bool *is_held, GError **error);
