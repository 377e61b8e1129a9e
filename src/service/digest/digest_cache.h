/*
 * digest_cache.h - papers, filters and explanations shared by the digests of a run.
 *
 * Entries are created on first use.  Results are borrowed until the next call of
 * digest_cache_load_batch(), which forgets what has changed, and all if it is too much.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/day.h"
#include "base/po.h"
#include "model/subscriber.h"
#include "query/query.h"
#include "render/catalog.h"
#include "service/collect/coverage.h"
#include "service/match/corpus.h"
#include "service/taste/scorer.h"
#include "store/core/store.h"
#include "store/mail/candidates.h"

struct digest_cache {
	struct store *store;
	struct token_signer *tokens; /* borrowed; NULL in a preview */
	int64_t now;
	int64_t changes;            /* papers_load_changes() of the papers */
	char oldest_day[DAY_BYTES]; /* of papers in digests */
	GHashTable *listed;         /* seq -> struct listed_paper *, of the matches */
	GPtrArray *events;          /* that digests still report; NULL: not loaded */
	GHashTable *works;          /* number -> array of struct work_record * */
	const struct catalog *book; /* languages; NULL: English */
	GHashTable *papers;         /* seq -> struct digest_cache_paper * */
	GQueue documents;           /* of the papers that have one, last used first */
	size_t document_bytes;      /* about what the documents need */
	GHashTable *filters;        /* id -> struct digest_cache_filter * */
	size_t filter_bytes;        /* about what the filters need */
	struct corpus *corpus;      /* NULL before its first use */
	struct scorer *scorer;      /* of the papers for people with answers */
	GHashTable *previous; /* id -> struct candidate_previous *, of this batch */
	GHashTable *zones;    /* name -> GTimeZone * */
	GHashTable *slots;    /* zone and schedule -> struct digest_cache_slots * */
	bool is_restored;     /* from a backup: some digests are HELD */
	bool is_asked;        /* all sources have answered since the restore */
	bool has_news;        /* some filters that are followed have changed */
	int64_t through; /* digests due later wait, except first and immediate ones */
	const struct coverage *coverage; /* of the sources */
	/* Translations to the current language; NULL: English */
	const struct po *po;
	GHashTable
	    *coverage_lines; /* language and day -> struct digest_cache_coverage * */
};

/* The slots of a schedule around this run. */
struct digest_cache_slots {
	struct schedule_slot latest, next;
	char date[DAY_BYTES]; /* local one of this run */
};

/* Why a filter matches a paper. */
struct match_details {
	double score;     /* query/eval/rank.h */
	const char *hits; /* as stored (model/hit.h) */
};

/* Coverage in words. */
struct digest_cache_coverage {
	char *line;    /* what has been read; "" without sources */
	char *missing; /* what is late, stale or failed; "" if nothing is */
};

/* An indexed paper. */
struct digest_cache_paper {
	int64_t seq;
	char *id;
	unsigned awaited; /* services of enum paper_lookup that it still waits for */
	bool is_old;      /* first seen more than DIGEST_ELIGIBLE_DAYS ago */
	/* As in struct digest_entry. */
	int64_t upvotes_before, stars;
	char *venue;
	/*
	 * Last day of a listing that matches the preferences, indexed by crosslist and
	 * updates; "" if none.
	 */
	char matching_day[2][2][DAY_BYTES];
	/* Of digest_cache_get_document() only. */
	struct query_document *document; /* NULL: not loaded, or forgotten */
	size_t document_bytes;
	GList used; /* in digest_cache.documents */
};

void digest_cache_init(struct digest_cache *cache, struct store *store, int64_t now);
void digest_cache_clear(struct digest_cache *cache);

/** Get a paper. @return NULL with the store's error */
const struct digest_cache_paper *
digest_cache_get_paper(struct digest_cache *cache, int64_t seq, GError **error);

/** Get the document of a paper, borrowed until the next call with another paper or of
 * digest_cache_get_paper(). @return NULL with the store's error */
const struct query_document *
digest_cache_get_document(struct digest_cache *cache, int64_t seq, GError **error);

/** Get the records of a work, the preferred one first. @return NULL on failure */
const GPtrArray *
digest_cache_get_records(struct digest_cache *cache, int64_t work, GError **error);

/**
 * Get the events of papers of the days that digests go back, the oldest first.
 *
 * @return of struct paper_event *; NULL on failure
 */
const GPtrArray *digest_cache_get_events(struct digest_cache *cache, GError **error);

/** Get a block, or a filter that matches something. @return NULL: cannot be parsed */
const struct query *
digest_cache_get_query(struct digest_cache *cache, int64_t filter_id);

/**
 * Append the papers that a filter matches, listed on or after a day and the oldest day.
 *
 * @param papers  gets struct listed_paper *, borrowed
 */
void digest_cache_append_papers(struct digest_cache *cache, int64_t filter_id,
    const char *since_day, GPtrArray *papers);

/**
 * Get score and hits of a match; 0 and none for a filter that cannot be parsed.
 *
 * @param details  set; its hits are borrowed
 */
bool digest_cache_get_match(struct digest_cache *cache,
    const struct candidate *candidate, struct match_details *details, GError **error);

/**
 * Get the coverage since a subscriber's last digest, in the current language.
 *
 * @param since  when that was built, s; -1: none
 * @return NULL if the store fails
 */
const struct digest_cache_coverage *
digest_cache_get_coverage(struct digest_cache *cache, int64_t since, GError **error);

/**
 * Load filters and blocks, matches and previous digests of some subscribers, in a few
 * statements.  Papers that others have changed are loaded again.
 *
 * @return of struct candidate_filter *, by subscriber; NULL on failure
 */
GPtrArray *digest_cache_load_batch(struct digest_cache *cache,
    const gpointer *subscribers, unsigned count, GError **error);

/** Get the digests before one of the batch. Borrowed. */
struct candidate_previous *
digest_cache_get_previous(const struct digest_cache *cache, int64_t subscriber_id);

/**
 * Get the slots of a subscriber, in UTC when the system does not have the time zone.
 */
const struct digest_cache_slots *
digest_cache_get_slots(struct digest_cache *cache, const struct subscriber *subscriber);
