/*
 * daemon_private.h - what the files of the daemon share; for them only.
 */
#ifndef PAPERBOY_DAEMON_DAEMON_PRIVATE_H
#define PAPERBOY_DAEMON_DAEMON_PRIVATE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/control.h"
#include "daemon/daemon.h"
#include "daemon/pipeline.h"
#include "daemon/receivers.h"
#include "daemon/status_line.h"
#include "daemon/worker.h"
#include "service/health/metrics.h"
#include "service/state/clock_watch.h"

/* Whose work is told to systemd, the most telling last. */
enum job { JOB_COLLECT, JOB_SCHEDULE, JOB_DELIVER, N_JOBS };

struct daemon {
	const struct daemon_options *options;
	struct config_snapshot *config_snapshot; /* the newest; of the main thread */
	struct collector collect;
	struct scheduler scheduler;
	struct mailer_stage mailer;
	struct worker *collector;
	struct worker *presser;
	struct worker *poster;
	struct heartbeats *heartbeats; /* of all threads */
	struct heartbeat *collector_heartbeat, *scheduler_heartbeat, *mailer_heartbeat;
	struct receivers *receivers; /* of the main thread */
	struct control *control;
	GMainLoop *loop;
	/* Once readable the relay is not waited for any more; or -1. */
	int shutdown_fd;
	/* The next look at the sources, s; until then editions may be made. */
	_Atomic int64_t collect_at;
	/* The relay is to be tried, though it is left alone. */
	_Atomic bool is_retry_wanted;
	/* The last look at the sources that ended, s; or -1. */
	_Atomic int64_t collected_at;
	/* The last time all that was due had been sent, s; or -1. */
	_Atomic int64_t posted_at;
	int64_t retry_at; /* of the collector: when a source in a pause may be asked */
	int64_t started_at;
	GMutex clock_lock;
	struct clock_watch clock_watch; /* under that lock */
	GMutex stats_lock;
	char *relay;                    /* what the post last said of the relay */
	struct status_line status_line; /* under the lock */
	const char *doing[N_JOBS];      /* static; NULL: nothing; under the lock */
	struct metrics_work work;       /* as the relay, under the lock */
};

/** Take the lock of the state folder. @return it, or -1, and then the settings are
 * freed */
int daemon_lock_state(const struct daemon_options *options, GError **error);

/** Open all stages; daemon_clear_stages() them also after a failure. */
bool daemon_init_stages(struct daemon *daemon, GError **error);
void daemon_clear_stages(struct daemon *daemon);

/** Notice a jump of the clock, before anything of a step. */
bool daemon_watch_clock(
    struct daemon *daemon, struct store *store, int64_t now, GError **error);

/* One step of a thread each, as struct worker_options wants it; data is the daemon. */
int64_t daemon_step_collect(void *data, int64_t now, const int *stop);
int64_t daemon_step_schedule(void *data, int64_t now, const int *stop);
int64_t daemon_step_deliver(void *data, int64_t now, const int *stop);

/* What paperboyctl may say; for control_new(), with the daemon as its data. */
extern const struct control_command daemon_words[];

/** Read the configuration again. @return what to say to who asked for it; NULL for ok
 */
char *daemon_reload(struct daemon *daemon);

#endif
