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

#include "model/paper.h"
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
	const char *journal;  /* or NULL */
	const char *comment;  /* of the authors on the newest version, or NULL */
	const char *code_url; /* or NULL */
};

/**
 * Record an event, unless it is known, of another record of its work too, or nobody is
 * interested; PAPER_EVENT_VERSION has to be added before the listing of that version.
 */
bool paper_events_add(struct store *store, int64_t paper_seq,
    enum paper_event_kind kind, int64_t version, int64_t now, GError **error);

/**
 * Let times that a wrong clock has set in the future be now: an event would be reported
 * again when the digest that reported it is deleted, or none would be.
 */
bool paper_events_limit_times(struct store *store, int64_t now, GError **error);

/** Load the events since a time, the oldest first. @return of struct paper_event * */
GPtrArray *paper_events_load(struct store *store, int64_t since, GError **error);

/* Days before its end in which a digest and the page say how a watch is renewed. */
#define PAPER_EVENTS_ENDING_DAYS 30

/* A paper that a subscriber watches. */
struct watched_paper {
	int64_t work; /* its number; of a paper with one record, its seq */
	int64_t since;
	int64_t until; /* s */
};

/** Load what a subscriber watches at a time. @return of struct watched_paper * */
GPtrArray *paper_events_load_watched(
    struct store *store, int64_t subscriber_id, int64_t now, GError **error);

/* A retraction of a watched paper, to be reported by a mail of its own. */
struct retraction {
	int64_t subscriber_id;
	int64_t event_id;
	const char *paper_id;
	const char *title;
};

/**
 * Load the retractions since a time that active subscribers want by mail, and that
 * neither a mail nor a digest has reported.
 *
 * @return of struct retraction *, by subscriber and event
 */
GPtrArray *paper_events_load_retractions(
    struct store *store, int64_t since, int64_t now, unsigned limit, GError **error);

/** Record that a retraction was reported by a mail; in the transaction that loaded it.
 */
bool paper_events_save_retraction(
    struct store *store, int64_t subscriber_id, int64_t event_id, GError **error);

/** Whether a retraction was reported by a mail. */
bool paper_events_has_retraction(struct store *store, int64_t subscriber_id,
    int64_t event_id, bool *has, GError **error);

/** Watch a paper, or extend the time. */
bool paper_events_watch(struct store *store, int64_t subscriber_id, int64_t paper_seq,
    int64_t now, int64_t until, GError **error);

/**
 * Whether a paper or a record of its work is watched.
 *
 * @param was_asked  set: arXiv was asked about it before
 */
bool paper_events_find_watched(struct store *store, int64_t paper_seq, int64_t now,
    bool *is_watched, bool *was_asked, GError **error);

/**
 * Load the watched papers, and records of their works, that a service may know, those
 * that it was asked about longest ago first.
 *
 * @param before  when it was asked last, s, at most
 * @return of struct stored_paper *
 */
GPtrArray *paper_events_load_due(struct store *store, enum paper_lookup service,
    int64_t before, int64_t now, unsigned limit, GError **error);

/** Count the papers that a service was asked about since a time. */
bool paper_events_count_asked(struct store *store, enum paper_lookup service,
    int64_t since, int64_t *count, GError **error);

/** Record that a service was asked. @param papers  of struct stored_paper * */
bool paper_events_save_asked(struct store *store, enum paper_lookup service,
    const GPtrArray *papers, int64_t now, GError **error);

/** End to watch a paper, by any of its records. @param is_watched  set: it was */
bool paper_events_unwatch(struct store *store, int64_t subscriber_id, int64_t paper_seq,
    bool *is_watched, GError **error);
