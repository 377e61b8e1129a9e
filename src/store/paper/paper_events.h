/*
 * paper_events.h - what became of papers, for those who were sent or watch them.
 *
 * Retractions are recorded for all papers, other events for those that somebody
 * watches, and for the records of their works.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

enum paper_event_kind {
	PAPER_EVENT_RETRACTED,
	PAPER_EVENT_PUBLISHED, /* it is an article, or has one now */
	PAPER_EVENT_VERSION,
	PAPER_EVENT_CODE,
};

struct paper_event {
	int64_t id; /* ascending */
	int64_t paper_seq;
	int64_t work; /* as in struct stored_paper */
	enum paper_event_kind kind;
	int64_t version; /* of PAPER_EVENT_VERSION */
	int64_t at;      /* when it was noticed, s */
	const char *paper_id;
	const char *title;
	const char *journal; /* or NULL */
};

/**
 * Record an event, unless it is known or nobody is interested; PAPER_EVENT_VERSION has
 * to be added before the listing of that version.
 */
bool paper_events_add(struct store *store, int64_t paper_seq,
    enum paper_event_kind kind, int64_t version, int64_t now, GError **error);

/** Load the events since a time, the oldest first. @return of struct paper_event * */
GPtrArray *paper_events_load(struct store *store, int64_t since, GError **error);

/* A paper that a subscriber watches. */
struct watched_paper {
	int64_t work; /* its number; of a paper with one record, its seq */
	int64_t since;
};

/** Load what a subscriber watches at a time. @return of struct watched_paper * */
GPtrArray *paper_events_load_watched(
    struct store *store, int64_t subscriber_id, int64_t now, GError **error);

/** Watch a paper, or extend the time. */
bool paper_events_watch(struct store *store, int64_t subscriber_id, int64_t paper_seq,
    int64_t now, int64_t until, GError **error);

/** End to watch a paper, by any of its records. @param is_watched  set: it was */
bool paper_events_unwatch(struct store *store, int64_t subscriber_id, int64_t paper_seq,
    bool *is_watched, GError **error);
