/*
 * lease_worker.h - a thread that renews the lease on a shared store.
 *
 * A thread of its own: steps of the others take minutes, and the main thread must not
 * wait for a database.  It also takes over what instances held whose leases have
 * expired.
 */
#pragma once

#include <glib.h>

#include "base/clock.h"
#include "service/log/heartbeat.h"
#include "service/state/lease.h"
#include "store/core/store.h"

struct lease_worker;

/* Functions that the worker calls, from its own thread. */
struct lease_worker_calls {
	/* The lease is held again, or messages were taken over. */
	void (*changed)(void *data);
	/* All is to be given up (store_is_outdated()); called until the worker ends. */
	void (*outdated)(void *data);
	void *data;
};

struct lease_worker_options {
	struct lease *lease; /* borrowed */
	/* Taken, also on failure.  No handle of the process is older: if one of them is
	 * outdated, so is this one. */
	struct store *store;
	GBytes *key; /* keys of the state directory; a reference is added */
	const struct clock *clock;
	struct heartbeats *heartbeats; /* or NULL */
	struct lease_worker_calls calls;
};

/** @param options  copied */
struct lease_worker *
lease_worker_new(const struct lease_worker_options *options, GError **error);
void lease_worker_free(struct lease_worker *worker);
