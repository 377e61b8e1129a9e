/*
 * jobs.h - work that one instance at a time does on a shared store.
 *
 * An instance holds a job until its lease ends (store/core/instances.h).  A handle for
 * which a job is set begins write transactions only while its instance holds the job:
 * so they commit in the order of the revisions that they draw.
 *
 * In a store that is not shared there is one instance, which holds all jobs; nothing is
 * recorded.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

enum job {
	JOB_NONE,
	JOB_COLLECTOR,   /* fetching papers */
	JOB_INBOX,       /* processing received mail, in order */
	JOB_MATCHING,    /* matching papers with filters */
	JOB_MAINTENANCE, /* retention, bounces, monthly reports, alerts */
	JOB_IMAP,        /* emptying the IMAP mailbox */
	N_JOBS
};

/* A job that was taken. */
struct job_holder {
	const char *name;
	int64_t holder; /* instance, perhaps one that has ended; -1: none */
};

const char *jobs_get_name(enum job job);

/**
 * Take a job for the handle's instance, unless another with a lease holds it.
 *
 * @param now      s
 * @param is_held  set: the instance holds the job now
 */
bool jobs_take(
    struct store *store, enum job job, int64_t now, bool *is_held, GError **error);

/** Set the job of the handle's next transactions. @return the one before */
enum job jobs_set(struct store *store, enum job job);

/**
 * Check that the handle's instance holds its job, in the caller's transaction.
 *
 * @return false with PB_ERROR_TEMPORARY if it does not
 */
bool jobs_check(struct store *store, GError **error);

/** Load all jobs that were taken, by name. @return of struct job_holder * */
GPtrArray *jobs_load_all(struct store *store, GError **error);
