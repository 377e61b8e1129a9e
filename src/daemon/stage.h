/*
 * stage.h - the three jobs of the daemon, each with a store of its own.
 *
 * A stage belongs to the one thread that runs it; they meet in the store only.
 */
#ifndef PAPERBOY_DAEMON_STAGE_H
#define PAPERBOY_DAEMON_STAGE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/daemon.h"
#include "service/assembly.h"
#include "service/collect.h"
#include "service/edition.h"
#include "service/match.h"
#include "service/post.h"

/* Asks the sources. */
struct collect_stage {
	const struct daemon_options *options;
	struct store *store;
	struct http *http;
	GPtrArray *sources;
	int stop; /* ends a transfer */
};

/* Matches, makes editions, forgets the old. */
struct press_stage {
	const struct daemon_options *options;
	struct store *store;
};

/* Sends. */
struct post_stage {
	const struct daemon_options *options;
	struct store *store;
	GBytes *key;
	struct renderer *renderer;
	struct assembly_outlet *outlet;
	struct post *post;
};

bool collect_stage_init(
    struct collect_stage *stage, const struct daemon_options *options, GError **error);
void collect_stage_clear(struct collect_stage *stage);
bool collect_stage_run(struct collect_stage *stage, int64_t now,
    struct collect_report *report, GError **error);

bool press_stage_init(
    struct press_stage *stage, const struct daemon_options *options, GError **error);
void press_stage_clear(struct press_stage *stage);

/** @param next_due  set to when the next edition or upkeep is due */
bool press_stage_run(struct press_stage *stage, int64_t now,
    struct edition_report *report, int64_t *next_due, GError **error);

bool post_stage_init(
    struct post_stage *stage, const struct daemon_options *options, GError **error);
void post_stage_clear(struct post_stage *stage);
bool post_stage_run(struct post_stage *stage, const int *stop,
    struct post_report *report, int64_t *next, GError **error);

#endif
