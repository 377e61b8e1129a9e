/*
 * history.h - the line of commits that a database server continues.
 *
 * A standby that is promoted begins a new timeline, as a server does that was restored
 * to a point in time, and commits that it had not received are lost.  A new cluster has
 * another identifier.  Nothing else shows that commits are lost, so a new history is
 * treated as if some were.
 *
 * A file records the history of the server that was used last.  A server that was
 * replaced by that one is not used again, also by another process and when it is the
 * only one that answers: it has other data.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/visible.h"
#include "store/core/store.h"

/* The timelines of a cluster are numbered from 1. */
struct history {
	int64_t cluster;  /* its identifier */
	int64_t timeline; /* 0: unknown */
};

/** Get the cluster's identifier plus the timeline: another cluster or timeline almost
 * certainly has another number. */
PB_EXPORT int64_t history_get_number(const struct history *history);

/** Whether a history has been continued by another one. */
PB_EXPORT bool
history_is_before(const struct history *history, const struct history *other);

/**
 * Load the history of the server that was used last.
 *
 * @param path  NULL, or a file that is missing: the history is set to unknown
 * @return false with PB_ERROR_PERMANENT
 */
PB_EXPORT bool
history_load_file(const char *path, struct history *history, GError **error);

PB_EXPORT bool
history_save_file(const char *path, const struct history *history, GError **error);

/**
 * Record the history of a server in its database.  If another one was recorded, do not
 * use ids again that may have been in lost commits: they are in Message-IDs and signed
 * addresses of mail that was sent.
 */
bool history_update(struct store *store, GError **error);
