/*
 * stages.h - all stages of a process, and the lock of their state directory.
 */
#ifndef PAPERBOY_DAEMON_STAGES_H
#define PAPERBOY_DAEMON_STAGES_H

#include <glib.h>
#include <stdbool.h>

#include "daemon/daemon.h"
#include "daemon/pipeline.h"

/* Longest step of a stage: the slowest source, or a night's mail. */
#define STAGES_STEP_S (30 * 60)

struct stages {
	struct config_snapshot *config_snapshot; /* the newest */
	struct collector collector;
	struct scheduler scheduler;
	struct mailer_stage mailer;
};

/** Lock the state directory. @return an open file; or -1, and then the settings are
 * freed */
int stages_lock(const struct daemon_options *options, GError **error);

/**
 * Initialize the stages with a first snapshot.  Also after a failure, stages_clear()
 * frees them.
 *
 * @param options     its settings are taken
 * @param heartbeats  borrowed; or NULL
 * @param stop_fd     borrowed: see struct mailer_stage
 */
bool stages_init(struct stages *stages, const struct daemon_options *options,
    struct heartbeats *heartbeats, const int *stop_fd, GError **error);

void stages_clear(struct stages *stages);

#endif
