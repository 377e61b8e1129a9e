/*
 * papers.h - papers, who listed them when, and every answer of a source.
 */
#ifndef PAPERBOY_STORE_PAPER_PAPERS_H
#define PAPERBOY_STORE_PAPER_PAPERS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/paper.h"
#include "store/core/store.h"

/* So long after a paper was first seen, filters wait for what arXiv tells of it. */
#define PAPERS_ENRICH_S (2 * 3600)

/* How a source answered for one day. */
enum source_fetch_status {
	SOURCE_FETCH_OK,
	SOURCE_FETCH_SAME,    /* nothing changed since the last answer (304) */
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
	/* The failure says nothing about other days: only a good answer for this day
	 * ends it, else any does. */
	bool is_of_day;
	/* The source lists the newest papers of whatever day: one that it listed before
	 * is not listed again, and one that appears later is of the day it appears. */
	bool is_rolling;
};

struct papers_saved {
	unsigned listed;  /* papers in the answer */
	unsigned fresh;   /* never seen before */
	unsigned changed; /* votes or other fields that a filter may wait for */
	unsigned frozen;  /* have new words that were not taken, see below */
};

/* A paper with its place in the store. */
struct stored_paper {
	struct paper *paper; /* owned */
	int64_t seq;
	int64_t revision;
	bool is_revised; /* filters may have found it by an earlier text */
	int64_t first_seen_at;
	char day[11]; /* the last day it was listed on */
};

void stored_paper_free(struct stored_paper *stored);
PB_DEFINE_AUTO(stored_paper, stored_paper_free);

const char *source_fetch_status_name(enum source_fetch_status status);

/**
 * Record one answer of a source with its papers, all in one transaction.
 *
 * A paper seen before keeps what this answer does not tell.  A new text, a listing
 * that was not there, or another value of a field that was told before gets a new
 * revision, so that every filter looks at it again; new numbers and links, and fields
 * told for the first time, mark it as changed, so that waiting matches are decided
 * again.  The archive (archive.h) learns in the same transaction.
 *
 * New words or links of a paper in a digest that is on its way are not taken
 * before that has ended, since sending it again has to give the same octets;
 * the answer is then kept without its ETag, so that the next one is whole again.
 *
 * @param listings  of struct listing *; NULL unless SOURCE_FETCH_OK
 * @param saved     set on success
 */
bool papers_save_fetch(struct store *store, const struct source_fetch *batch,
    const GPtrArray *listings, struct papers_saved *saved, GError **error);

/**
 * Record what arXiv tells of papers that are known: categories, comment, journal, DOI.
 *
 * It marks them as changed, so that waiting matches are decided again.  What comes
 * PAPERS_ENRICH_S after the paper or later, or is other than was told before, gets a
 * new revision instead of being lost: filters had taken it for settled.
 *
 * @param papers  of struct paper *: only id and those four are read; a NULL keeps what
 *                there is; ids that are not known are skipped
 * @param saved   set on success: listed (known ids) and changed
 */
bool papers_save_enrichment(struct store *store, const GPtrArray *papers, int64_t now,
    struct papers_saved *saved, GError **error);

/**
 * Unite rows that were found to be one paper while both were in messages on their way.
 *
 * @param limit  pairs that are looked at
 */
bool papers_merge_duplicates(
    struct store *store, int64_t now, unsigned limit, GError **error);

/** Papers of arXiv without categories first seen after a time, newest first. @return of
 * char *
 */
GPtrArray *papers_load_unenriched(
    struct store *store, int64_t seen_after, unsigned limit, GError **error);

/** The ETag of the last good answer for a day. @param etag set to NULL for none */
bool papers_load_etag(struct store *store, const char *source, const char *day,
    char **etag, GError **error);

/** The ETag of a source's last good answer for any day, and that day. @param etag set
 * to NULL for none */
bool papers_load_last_etag(
    struct store *store, const char *source, char **etag, char day[11], GError **error);

/** Whether a source told the same papers under an earlier day. @param is_known  set */
bool papers_has_ids(struct store *store, const char *source, const char *ids_hash,
    const char *day, bool *is_known, GError **error);

/**
 * Whether a list has the papers of an earlier day: more than half of it, and two at
 * least, were listed by the source on one such day.
 *
 * @param listings  of struct listing *
 */
bool papers_is_copied(struct store *store, const char *source, const char *day,
    const GPtrArray *listings, bool *is_copied, GError **error);

/** When a source last gave an ETag. @param at -1 for never */
bool papers_load_etag_time(
    struct store *store, const char *source, int64_t *at, GError **error);

/** The newest revision there is, 0 for an empty store. */
bool
papers_load_newest_revision(struct store *store, int64_t *revision, GError **error);

/**
 * The revision through which a new filter counts as matched, so that it will
 * be matched against papers listed on or after a day.
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

/** A paper whose changing fields changed. @param seq  set; 0: there is none */
bool papers_find_changed(struct store *store, int64_t *seq, GError **error);
bool papers_clear_changed(struct store *store, int64_t seq, GError **error);

/** Find a paper by its canonical id. @param stored  set; NULL when no source listed it
 */
bool papers_find(
    struct store *store, const char *id, struct stored_paper **stored, GError **error);

/** Load one paper. @return NULL with PB_ERROR_NOT_FOUND when it does not exist */
struct stored_paper *papers_load(struct store *store, int64_t seq, GError **error);
struct stored_paper *
papers_load_id(struct store *store, const char *id, GError **error);

/* The last answer of a source for its newest day, for status. */
struct source_report {
	char *source;
	char *day;
	char *status;
	char *error; /* "DAY: words" of the newest day that failed and has not been
	                good since, or NULL */
	int64_t fetched_at; /* the last answer, s */
	int64_t good_at;    /* the last answer that did not fail, s; -1 for never */
	int64_t papers;     /* listed on the newest day that had papers */
	char *papers_day;   /* that day, or NULL */
};

void source_report_free(struct source_report *report);

/** @return of struct source_report *, one a source */
GPtrArray *papers_load_reports(struct store *store, GError **error);

bool papers_count(struct store *store, int64_t *count, GError **error);

/** Names of all services that were asked ("arxiv" for all its lists). @return of char
 * *, sorted */
GPtrArray *papers_load_services(struct store *store, GError **error);

/** Whether arXiv has told the categories of any paper. @param has set */
bool papers_has_categories(struct store *store, bool *has, GError **error);

/**
 * Whether a source has given a field for any of the newest papers.
 *
 * @param name  as in struct query_slow
 * @param has   set; true while there are no papers
 */
bool papers_has_field(struct store *store, const char *name, bool *has, GError **error);

/** Forget up to a limit of answers of sources older than a time. @param count set */
bool papers_prune_fetches(struct store *store, int64_t before, unsigned limit,
    unsigned *count, GError **error);

#endif
