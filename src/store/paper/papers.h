/*
 * papers.h - papers, their listings, and the fetches of the sources.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/paper.h"
#include "store/core/store.h"

/* Time after a paper was first seen for which matches wait for values that services are
 * asked for; PAPERS_LOOKUP_MAX_S while a service fails, s. */
#define PAPERS_LOOKUP_S     (2 * 3600)
#define PAPERS_LOOKUP_MAX_S (3 * 86400)

/* Result of fetching one day. */
enum source_fetch_status {
	SOURCE_FETCH_OK,
	SOURCE_FETCH_SAME,    /* unchanged since the last response (304) */
	SOURCE_FETCH_EMPTY,   /* the day has no papers (so far) */
	SOURCE_FETCH_NOT_YET, /* the source does not know the day yet */
	SOURCE_FETCH_STALE,   /* the papers of another day under this day's date */
	SOURCE_FETCH_FAILED,
};

struct source_fetch {
	const char *source;
	const char *day; /* YYYY-MM-DD */
	int64_t fetched_at;
	enum source_fetch_status status;
	const char *etag;     /* or NULL */
	const char *ids_hash; /* SHA-256 of the sorted ids, or NULL */
	const char *error;    /* when SOURCE_FETCH_FAILED, else NULL */
	/* Only a success for this day ends the failure; else one for any day does. */
	bool is_of_day;
	/* The source lists its newest papers without days (a feed): a paper is listed
	 * once, on the day on which it appears. */
	bool is_rolling;
};

struct papers_saved {
	unsigned listed;  /* papers returned by the source */
	unsigned fresh;   /* not seen before */
	unsigned changed; /* in a field that pending matches may refer to */
	unsigned frozen;  /* new text not stored yet, see below */
};

struct stored_paper {
	struct paper *paper; /* owned */
	int64_t seq;
	/* Unique and increasing.  A paper gets a new one when it is stored, and when
	 * all filters have to be matched with it again. */
	int64_t revision;
	bool is_revised; /* it is not the first revision */
	int64_t work;    /* store/paper/works.h; 0: it has one record */
	int64_t first_seen_at;
	/* Time from which values that no service has reported count as missing, s. */
	int64_t settled_at;
	char day[11];         /* the last day it was listed on */
	char upvotes_day[11]; /* UTC day on which votes were read last; "": never */
	/* The last number of votes read on the day before upvotes_day, or
	 * PAPER_UNKNOWN. */
	int64_t upvotes_before;
};

void stored_paper_free(struct stored_paper *stored);
PB_DEFINE_AUTO(stored_paper, stored_paper_free);

const char *source_fetch_status_name(enum source_fetch_status status);

/**
 * Store one fetch with its papers.
 *
 * Fields without a new value keep the old one.  A new text, a new listing or another
 * value of a known field gives the paper a new revision, so that all filters are
 * matched again.  New numbers and links, and fields set for the first time, mark it as
 * changed, so that pending matches are decided again.  The archive (archive.h) is
 * updated in the same transaction.
 *
 * New text or links of a paper in a queued digest are not stored before delivery of
 * that digest has ended, since a retry sends the same bytes; the fetch is then recorded
 * without its ETag, so that the next one is complete again.
 *
 * @param listings  of struct listing *; NULL unless SOURCE_FETCH_OK
 * @param saved  set on success
 */
bool papers_save_fetch(struct store *store, const struct source_fetch *fetch,
    const GPtrArray *listings, struct papers_saved *saved, GError **error);

/**
 * Store what a service reports about papers that it was asked for.
 *
 * Only missing values are set, and fuller names of authors; those of arXiv replace
 * categories, comment, journal and DOI.  Marks papers as changed, so that pending
 * matches are decided again.  Values that come later than settled_at, or differ from
 * before, and abstracts and names give a new revision.
 *
 * @param lookup  one of enum paper_lookup, which is not asked for these papers again
 * @param papers  of struct paper *, with the answers; unknown ones are skipped
 * @param asked   of struct stored_paper *: those not among the answers are unknown to
 *                the service; or NULL
 * @param saved   set on success: listed (known ids), changed and frozen
 */
bool papers_save_lookup(struct store *store, enum paper_lookup lookup,
    const GPtrArray *papers, const GPtrArray *asked, int64_t now,
    struct papers_saved *saved, GError **error);

/**
 * Note the versions that arXiv's API reports of watched papers.  The first one that it
 * reports is no event: it may be older than the wish to watch the paper.
 *
 * @param listings  of struct listing *
 */
bool papers_save_versions(
    struct store *store, const GPtrArray *listings, int64_t now, GError **error);

/**
 * Let the papers that wait for a failing service wait longer: up to PAPERS_LOOKUP_MAX_S
 * after they were first seen.
 */
bool papers_delay_lookup(struct store *store, enum paper_lookup lookup, int64_t until,
    int64_t now, GError **error);

/**
 * Merge duplicate papers that were in queued messages before.
 *
 * @param limit  pairs to check
 */
bool papers_merge_duplicates(
    struct store *store, int64_t now, unsigned limit, GError **error);

/**
 * Load papers to be looked up at a service, first seen after a time, newest first.
 *
 * @return of struct stored_paper *
 */
GPtrArray *papers_load_awaited(struct store *store, enum paper_lookup lookup,
    int64_t seen_after, unsigned limit, GError **error);

/**
 * Load the ETag of the last successful fetch of a day. @param etag  set; NULL for none
 */
bool papers_load_etag(struct store *store, const char *source, const char *day,
    char **etag, GError **error);

/**
 * Load the ETag of a source's last successful fetch, and its day.
 *
 * @param etag  set; NULL for none
 */
bool papers_load_last_etag(
    struct store *store, const char *source, char **etag, char day[11], GError **error);

/**
 * Whether a source's last list of an earlier day has the same ids.
 *
 * @param is_known  set
 */
bool papers_has_ids(struct store *store, const char *source, const char *ids_hash,
    const char *day, bool *is_known, GError **error);

/**
 * Whether a list is a copy of an earlier day: more than half of its papers, at least
 * two, were listed by the source on one such day.
 *
 * @param listings  of struct listing *
 */
bool papers_is_copied(struct store *store, const char *source, const char *day,
    const GPtrArray *listings, bool *is_copied, GError **error);

/** Load the time of the last fetch with an ETag, s. @param at  -1: never */
bool papers_load_etag_time(
    struct store *store, const char *source, int64_t *at, GError **error);

/** @param revision  set to the newest; 0 for an empty store */
bool
papers_load_newest_revision(struct store *store, int64_t *revision, GError **error);

/* Fields that select and sort the papers of digests. */
struct listed_paper {
	int64_t seq;
	const char *id;
	char day[11];        /* the last it was listed on */
	int64_t upvotes;     /* or PAPER_UNKNOWN */
	int64_t replacement; /* newest version announced as one; 0: none */
	int64_t work;        /* as in struct stored_paper */
};

/** Compare the reading order of two papers: by votes, day, id. */
int
listed_paper_compare(const struct listed_paper *one, const struct listed_paper *other);

/** Find a paper. @param paper  set, g_free() it; NULL when there is none */
bool papers_find_listed(
    struct store *store, int64_t seq, struct listed_paper **paper, GError **error);

/* Name of the cursor of papers_load_changes(); triggers advance it. */
#define PAPERS_CHANGES "paper changes"

/** Load a number that differs after each commit that changes or deletes papers. */
bool papers_load_changes(struct store *store, int64_t *changes, GError **error);

/**
 * Load the matched revision for a new filter, so that it will be matched against papers
 * listed on or after a day.
 */
bool papers_load_revision_before(
    struct store *store, const char *day, int64_t *revision, GError **error);

/**
 * Load the papers with revisions in (after, through] listed on or after a day.
 *
 * @return of struct stored_paper *, by revision, at most limit
 */
GPtrArray *papers_load_revisions(struct store *store, int64_t after, int64_t through,
    const char *oldest_day, unsigned limit, GError **error);

/** Find a paper marked as changed. @param seq  set; 0: none */
bool papers_find_changed(struct store *store, int64_t *seq, GError **error);
bool papers_clear_changed(struct store *store, int64_t seq, GError **error);

/**
 * Find a paper by its id or another name, such as "pmid:41792208". @param stored  set;
 * NULL: not listed by any source
 */
bool papers_find(
    struct store *store, const char *id, struct stored_paper **stored, GError **error);

/** Find the canonical id of a paper. @param id  set; NULL: it does not exist */
bool papers_find_id(struct store *store, int64_t seq, char **id, GError **error);

/** Load one paper. @return NULL with PB_ERROR_NOT_FOUND when it does not exist */
struct stored_paper *papers_load(struct store *store, int64_t seq, GError **error);
struct stored_paper *
papers_load_id(struct store *store, const char *id, GError **error);

/* Words of a paper. */
struct paper_text {
	int64_t seq;
	const char *title;
	const char *abstract;
};

/** Load the papers stored last, newest first. @return of struct paper_text * */
GPtrArray *papers_load_texts(struct store *store, unsigned limit, GError **error);

struct source_report {
	int64_t fetch_id; /* of the last fetch */
	const char *source;
	const char *day;
	const char *status;
	const char *error;  /* "DAY: message" of the newest day that failed and has not
	                 succeeded since, or NULL */
	int64_t fetched_at; /* last response, s */
	int64_t good_at;    /* last successful response, s; -1: never */
	int64_t papers;     /* listed on the newest day that had papers */
	const char *papers_day; /* that day, or NULL */
};

/** @return of struct source_report *, one for each source */
GPtrArray *papers_load_reports(struct store *store, GError **error);

/**
 * Load the names of all services queried ("arxiv" for all its lists).
 *
 * @return of char *, sorted
 */
GPtrArray *papers_load_services(struct store *store, GError **error);

/** Whether any of the newest papers has categories. @param has  set */
bool papers_has_categories(struct store *store, bool *has, GError **error);

/**
 * Whether any of the newest papers has a field.
 *
 * @param name  as in struct query_slow
 * @param has   set; also true while there are no papers, and for other fields
 */
bool papers_has_field(struct store *store, const char *name, bool *has, GError **error);
