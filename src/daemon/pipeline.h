/*
 * pipeline.h - the stages of the daemon: collector, scheduler, mailer.
 *
 * A stage and its store connection belong to one thread; stages share only the
 * database.  A stage uses one snapshot of the settings; another thread publishes the
 * next one, and the stage switches to it between two runs.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "daemon/config_snapshot.h"
#include "service/collect/collect.h"
#include "service/delivery/mailer.h"
#include "service/digest/digest_build.h"
#include "service/health/alerts.h"
#include "service/inbound/inbox_process.h"
#include "service/match/match.h"
#include "service/state/lease.h"

/* Polls the sources. */
struct collector {
	struct config_snapshot *config_snapshot;
	struct config_snapshot_slot next;
	struct store *store;
	struct http *http;
	GPtrArray *sources;
	struct lease *lease;  /* borrowed; or NULL */
	_Atomic bool is_idle; /* another instance polls the sources */
	int stop;             /* not 0: abort transfers */
};

/* Processes the inbox, matches papers, builds digests, runs the maintenance. */
struct scheduler {
	struct config_snapshot *config_snapshot;
	struct config_snapshot_slot next;
	struct store *store;
	struct lease *lease; /* borrowed; or NULL */
	bool is_matcher;     /* in the current run: it holds the job */
	int64_t alerts_at;   /* the next check for alerts, s; 0: now */
	struct alerts_retries alerts_retries;
	int64_t bounces_at;   /* time of the next bounce_run(), s; 0: now */
	int64_t inbox_at;     /* time of the current inbox run, s */
	int64_t list_id_hash; /* of digests, once it was compared; or 0 */
	int64_t waited_id;    /* last message that had waited since before the start */
	/* Maximum time for monthly reports in a run, so that digests are not delayed;
	 * 0: no limit, they are all sent in this run. */
	unsigned checkups_ms;
	/* Called when digests have been built, before the maintenance; or NULL. */
	void (*built)(void *data);
	void *data;
};

/* Parts of a process, borrowed.  All but the clock may be NULL. */
struct process_parts {
	const struct clock *clock;
	struct lease *lease;
	struct heartbeats *heartbeats;
	/* Once readable, replies of the relay are no longer awaited. */
	const int *stop_fd;
};

/* Sends the outbox. */
struct mailer_stage {
	struct process_parts parts;
	struct config_snapshot *config_snapshot;
	struct config_snapshot_slot next;
	int pause; /* not 0: end the run, a snapshot was published */
	struct store *store;
	struct mailer *mailer;
};

/**
 * @param config_snapshot  the first; the stage adds a reference
 * @param store            taken
 */
void collector_init(struct collector *stage, struct config_snapshot *config_snapshot,
    struct store *store);
void collector_clear(struct collector *stage);

/** Switch to the published snapshot. @return whether there was one */
bool collector_reload(struct collector *stage);

/** Poll the sources, or set is_idle if another instance does. */
bool collector_run(struct collector *stage, int64_t now, struct collect_report *report,
    GError **error);

/**
 * Test one-click unsubscribing when it is due, which blocks for a minute or so.
 *
 * @param stop_fd     as in struct process_parts
 * @param is_changed  set on success: whether digests offer it has changed
 * @return the time of the next test, s; -1: none
 */
int64_t collector_check_web(struct collector *stage, const struct clock *clock,
    const int *stop_fd, bool *is_changed);

bool scheduler_init(
    struct scheduler *stage, struct config_snapshot *config_snapshot, GError **error);
void scheduler_clear(struct scheduler *stage);
void scheduler_reload(struct scheduler *stage);

/**
 * Process received mail.
 *
 * @param stop      not 0: return soon; NULL: process all that is due, else a batch
 *                  that does not delay digests for long
 * @param next_due  set to when the next message is due, s; `now` when some are left; -1
 */
bool scheduler_process_inbox(struct scheduler *stage, int64_t now, const int *stop,
    struct inbox_process_report *report, int64_t *next_due, GError **error);

/**
 * Mail alerts to the owner, when the next check is due.
 *
 * @param relay     NULL: not known
 * @param reported  set on success: number of alerts in the mail
 */
bool scheduler_send_alerts(struct scheduler *stage, int64_t now,
    const struct mailer_relay *relay, unsigned *reported, GError **error);

/**
 * Do what is due of the jobs that this instance holds, and build digests.
 *
 * @param report    updated after each commit (store_set_commit_hook())
 * @param next_due  set to when the next digest or maintenance is due, s
 */
bool scheduler_run(struct scheduler *stage, int64_t now,
    struct digest_build_report *report, int64_t *next_due, GError **error);

/** @param parts  copied */
bool
mailer_stage_init(struct mailer_stage *stage, struct config_snapshot *config_snapshot,
    const struct process_parts *parts, GError **error);
void mailer_stage_clear(struct mailer_stage *stage);

/** From another thread.  Messages in flight are finished with the old snapshot. */
void mailer_stage_publish(
    struct mailer_stage *stage, struct config_snapshot *config_snapshot);

/** @return false when no thread can be created: keeps the old one until the next call
 */
bool mailer_stage_reload(struct mailer_stage *stage, GError **error);
bool mailer_stage_run(struct mailer_stage *stage, const int *stop,
    struct mailer_report *report, int64_t *next, GError **error);

/** Log the results of one or more runs. */
void mailer_stage_log(const struct mailer_report *report);
