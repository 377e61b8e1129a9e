/*
 * stages.h - all stages of a process, and the lock of their state directory.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "daemon/daemon.h"
#include "daemon/lease_worker.h"
#include "daemon/pipeline.h"

/* Longest step of a stage: the slowest source, or a night's mail. */
#define STAGES_STEP_S (30 * 60)

struct stages {
	struct lease *lease;
	struct lease_worker *lease_worker; /* NULL: the store is not shared */
	struct store *lease_store; /* of the worker, until it is started; or NULL */
	struct config_snapshot *config_snapshot; /* the newest */
	struct collector collector;
	struct scheduler scheduler;
	struct mailer_stage mailer;
};

/** Lock the state directory. @return an open file; or -1, and then the settings are
 * freed */
int stages_lock(const struct daemon_options *options, GError **error);

/**
 * Begin a lease, and initialize the stages with a first snapshot.  Also after a
 * failure, stages_clear() frees them.
 *
 * @param options     its settings are taken
 * @param heartbeats  borrowed; or NULL
 * @param stop_fd     borrowed: see struct process_parts
 */
bool stages_init(struct stages *stages, const struct daemon_options *options,
    struct heartbeats *heartbeats, const int *stop_fd, GError **error);

/**
 * Renew the lease from now on, if the store is shared.
 *
 * @param calls  of struct lease_worker_options: only the functions and their data
 */
bool stages_start_lease_worker(struct stages *stages, const struct clock *clock,
    struct heartbeats *heartbeats, const struct lease_worker_calls *calls,
    GError **error);
void stages_stop_lease_worker(struct stages *stages);

void stages_clear(struct stages *stages);
