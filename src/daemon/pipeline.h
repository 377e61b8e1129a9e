/*
 * pipeline.h - the three jobs of the daemon, each with a store of its own.
 *
 * A stage belongs to the one thread that runs it; they meet in the store only.  It
 * works by one snapshot of the settings; the next is offered to it from outside, and
 * it goes over to that at the begin of a run.
 */
#ifndef PAPERBOY_DAEMON_PIPELINE_H
#define PAPERBOY_DAEMON_PIPELINE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "daemon/config_snapshot.h"
#include "service/collect/collect.h"
#include "service/delivery/mailer.h"
#include "service/digest/digest_build.h"
#include "service/inbound/inbox_process.h"
#include "service/match/match.h"

/* Asks the sources. */
struct collector {
	struct config_snapshot *config_snapshot;
	struct config_snapshot_holder next;
	struct store *store;
	struct http *http;
	GPtrArray *sources;
	int stop; /* ends a transfer */
};

/* Handles letters, matches, makes editions, forgets the old. */
struct scheduler {
	struct config_snapshot *config_snapshot;
	struct config_snapshot_holder next;
	struct store *store;
	int64_t alerts_at; /* the next look at what wants a person, s; 0: now */
	int64_t inbox_at;  /* when the letters in hand are handled, s */
	int64_t waited_id; /* letters up to that were here at the start */
};

/* Sends. */
struct mailer_stage {
	const struct clock *clock;
	struct config_snapshot *config_snapshot;
	struct config_snapshot_holder next;
	struct heartbeats *heartbeats; /* borrowed; or NULL */
	const int *stop_fd;            /* likewise */
	int pause; /* not 0: something is in the slot, and a run is to end for it */
	struct store *store;
	struct mailer *mailer;
};

/** @param snapshot  to begin with; the stage takes a reference of its own */
bool collector_init(
    struct collector *stage, struct config_snapshot *config_snapshot, GError **error);
void collector_clear(struct collector *stage);

/** Go over to the snapshot that was offered. @return whether there was one */
bool collector_renew(struct collector *stage);
bool collector_run(struct collector *stage, int64_t now, struct collect_report *report,
    GError **error);

bool digest_cache_stage_init(
    struct scheduler *stage, struct config_snapshot *config_snapshot, GError **error);
void digest_cache_stage_clear(struct scheduler *stage);
void digest_cache_stage_renew(struct scheduler *stage);

/**
 * Read and handle letters.
 *
 * @param stop      not 0: come back soon; NULL: all that are due in one go, else so
 *                  many that editions do not wait long
 * @param next_due  set to when the next letter is due, now for one that is left; -1
 */
bool scheduler_process_inbox(struct scheduler *stage, int64_t now, const int *stop,
    struct inbox_process_report *report, int64_t *next_due, GError **error);

/**
 * Tell the owner what wants a person, when it is time to look.
 *
 * @param relay  NULL: not known
 * @param told   set on success: so many things
 */
bool digest_cache_stage_alert(struct scheduler *stage, int64_t now,
    const struct mailer_relay *relay, unsigned *reported, GError **error);

/** @param next_due  set to when the next edition or upkeep is due */
bool digest_cache_stage_run(struct scheduler *stage, int64_t now,
    struct digest_build_report *report, int64_t *next_due, GError **error);

/**
 * @param pulses   where its threads promise to live on; borrowed; or NULL
 * @param stop_fd  once readable no answer of the relay is waited for any more;
 *                 borrowed; or NULL
 */
bool mailer_stage_init(struct mailer_stage *stage,
    struct config_snapshot *config_snapshot, const struct clock *clock,
    struct heartbeats *heartbeats, const int *stop_fd, GError **error);
void mailer_stage_clear(struct mailer_stage *stage);

/** Offer a snapshot; from another thread.  Messages under way are finished first. */
void
mailer_stage_offer(struct mailer_stage *stage, struct config_snapshot *config_snapshot);

/** @return false when a thread cannot be had: the old one stays until the next call */
bool mailer_stage_renew(struct mailer_stage *stage, GError **error);
bool mailer_stage_run(struct mailer_stage *stage, const int *stop,
    struct mailer_report *report, int64_t *next, GError **error);

#endif
