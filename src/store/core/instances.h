/*
 * instances.h - the processes that work on a store, and their leases.
 *
 * An instance is one run of paperboyd.  It is the holder of messages that are SENDING
 * and of jobs (store/core/jobs.h) until its lease ends: its row has expired or was
 * deleted.  Ids are never reused, so a holder names one run.
 *
 * An expired row is deleted in the transaction that takes over what the instance held:
 * all rows whose holder has no row.
 * Its later writes are fenced: writes that depend on holding a row check the holder,
 * and have no effect.
 *
 * In a store that is not shared the lock of the state directory allows one instance,
 * whose lease has no end: renewals are not needed.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* Length of a lease, and the interval of its renewals. */
#define INSTANCES_LEASE_S 30
#define INSTANCES_RENEW_S 10

/* Interval of attempts while others have locked rows that are due. */
#define INSTANCES_LOCKED_S 1

struct instance {
	int64_t id;
	const char *name;    /* host and state directory */
	const char *program; /* version */
	int64_t started_at;  /* s */
	int64_t expires_at;  /* s; -1: while it runs */
};

/** Load the time that leases are compared with: the server's, if there is one.
 * @param now  of this machine, s */
bool instances_load_time(
    struct store *store, int64_t now, int64_t *store_now, GError **error);

/**
 * Add an instance with a new lease, in the caller's transaction.  If the store is not
 * shared, the others have ended, and are deleted.
 *
 * @param instance  its id and expiry are ignored
 * @param id        set on success
 */
bool instances_insert(struct store *store, const struct instance *instance, int64_t now,
    int64_t *id, GError **error);

/** Renew a lease. @param is_held  set: false if the instance was ended */
bool instances_renew(
    struct store *store, int64_t id, int64_t now, bool *is_held, GError **error);

/**
 * Keep the handle's instance from being ended until the caller's transaction ends.
 *
 * @param is_held  set: it has not been ended; always if the store is not shared or the
 *                 handle has none
 */
bool instances_lock(struct store *store, bool *is_held, GError **error);

/** End a lease: what is still held can be taken over. */
bool instances_delete(struct store *store, int64_t id, GError **error);

/** Let the leases of all other instances with this name expire: the lock of their state
 * directory shows that they have ended.  So have those without expiry: the store was
 * copied from one that is not shared. */
bool instances_expire_name(
    struct store *store, const char *name, int64_t id, GError **error);

/**
 * Delete other expired instances, in the transaction that then takes over what they
 * held.  Left for the next time is one that another transaction has locked.
 */
bool instances_delete_expired(
    struct store *store, int64_t now, unsigned *count, GError **error);

/** Load all instances, by id. @return of struct instance * */
GPtrArray *instances_load_all(struct store *store, GError **error);

/* Servers that follow that of a shared store. */
struct instances_standbys {
	int64_t gone;   /* have a replication slot, and are not connected */
	int64_t behind; /* bytes that they lack, at most; 0 of a local store */
};

/** Load how servers follow. @param standbys  set; all zero of a local store */
bool instances_load_standbys(
    struct store *store, struct instances_standbys *standbys, GError **error);

/** Check that no instance holds a lease of a shared store. @return false: set to
 * TEMPORARY */
bool instances_check_none(struct store *store, int64_t now, GError **error);

/* SQL: whether an instance holds a lease. */
#define INSTANCES_IS_LIVE(id, now)                          \
	"EXISTS (SELECT 1 FROM instance i WHERE i.id = " id \
	" AND (i.expires_at IS NULL OR i.expires_at > " now "))"
