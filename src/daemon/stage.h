/*
 * stage.h - the three jobs of the daemon, each with a store of its own.
 *
 * A stage belongs to the one thread that runs it; they meet in the store only.  It
 * works by one snapshot of the settings; the next is offered to it from outside, and
 * it goes over to that at the begin of a run.
 */
#ifndef PAPERBOY_DAEMON_STAGE_H
#define PAPERBOY_DAEMON_STAGE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "daemon/snapshot.h"
#include "service/collect.h"
#include "service/edition.h"
#include "service/intake.h"
#include "service/match.h"
#include "service/post.h"

/* Asks the sources. */
struct collect_stage {
	struct snapshot *snapshot;
	struct snapshot_slot next;
	struct store *store;
	struct http *http;
	GPtrArray *sources;
	int stop; /* ends a transfer */
};

/* Handles letters, matches, makes editions, forgets the old. */
struct press_stage {
	struct snapshot *snapshot;
	struct snapshot_slot next;
	struct store *store;
	int64_t alerts_at;  /* the next look at what wants a person, s; 0: now */
	int64_t letters_at; /* when the letters in hand are handled, s */
	int64_t waited_id;  /* letters up to that were here at the start */
};

/* Sends. */
struct post_stage {
	const struct clock *clock;
	struct snapshot *snapshot;
	struct snapshot_slot next;
	struct pulses *pulses; /* borrowed; or NULL */
	const int *stop_fd;    /* likewise */
	int pause; /* not 0: something is in the slot, and a run is to end for it */
	struct store *store;
	struct post *post;
};

/** @param snapshot  to begin with; the stage takes a reference of its own */
bool collect_stage_init(
    struct collect_stage *stage, struct snapshot *snapshot, GError **error);
void collect_stage_clear(struct collect_stage *stage);

/** Go over to the snapshot that was offered. @return whether there was one */
bool collect_stage_renew(struct collect_stage *stage);
bool collect_stage_run(struct collect_stage *stage, int64_t now,
    struct collect_report *report, GError **error);

bool
press_stage_init(struct press_stage *stage, struct snapshot *snapshot, GError **error);
void press_stage_clear(struct press_stage *stage);
void press_stage_renew(struct press_stage *stage);

/**
 * Read and handle letters.
 *
 * @param stop      not 0: come back soon; NULL: all that are due in one go, else so
 *                  many that editions do not wait long
 * @param next_due  set to when the next letter is due, now for one that is left; -1
 */
bool press_stage_read_letters(struct press_stage *stage, int64_t now, const int *stop,
    struct intake_report *report, int64_t *next_due, GError **error);

/**
 * Tell the owner what wants a person, when it is time to look.
 *
 * @param relay  NULL: not known
 * @param told   set on success: so many things
 */
bool press_stage_alert(struct press_stage *stage, int64_t now,
    const struct post_relay *relay, unsigned *told, GError **error);

/** @param next_due  set to when the next edition or upkeep is due */
bool press_stage_run(struct press_stage *stage, int64_t now,
    struct edition_report *report, int64_t *next_due, GError **error);

/**
 * @param pulses   where its threads promise to live on; borrowed; or NULL
 * @param stop_fd  once readable no answer of the relay is waited for any more;
 *                 borrowed; or NULL
 */
bool post_stage_init(struct post_stage *stage, struct snapshot *snapshot,
    const struct clock *clock, struct pulses *pulses, const int *stop_fd,
    GError **error);
void post_stage_clear(struct post_stage *stage);

/** Offer a snapshot; from another thread.  Messages under way are finished first. */
void post_stage_offer(struct post_stage *stage, struct snapshot *snapshot);

/** @return false when a thread cannot be had: the old one stays until the next call */
bool post_stage_renew(struct post_stage *stage, GError **error);
bool post_stage_run(struct post_stage *stage, const int *stop,
    struct post_report *report, int64_t *next, GError **error);

#endif
