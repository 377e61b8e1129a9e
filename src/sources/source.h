/*
 * source.h - interface of the sources of papers.
 *
 * A source lists papers by day.  It keeps no state between calls: ETags and retry times
 * are the caller's.  An answer is all or nothing: one malformed element or page and
 * none of it is used.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/day.h"
#include "model/paper.h"
#include "net/http.h"

enum source_status {
	SOURCE_OK,           /* papers */
	SOURCE_NOT_MODIFIED, /* since the given ETag */
	SOURCE_EMPTY,        /* an empty list: a weekend, or too early */
	SOURCE_NOT_YET,      /* the day does not exist yet at the source */
};

struct source_answer {
	enum source_status status;
	char day[DAY_BYTES];   /* YYYY-MM-DD */
	GPtrArray *listings;   /* of struct listing *, distinct papers, in the source's
	                          order; NULL unless SOURCE_OK */
	char *etag;            /* for the next request, or NULL */
	size_t count;          /* of listings */
	char ids_sha256[65];   /* hexadecimal, of the sorted ids, each with "\n" */
	int64_t retry_after_s; /* or HTTP_RETRY_AFTER_UNKNOWN */
};

void source_answer_init(struct source_answer *answer);
void source_answer_clear(struct source_answer *answer);

/** Set listings, count, hash and SOURCE_OK or SOURCE_EMPTY. @param listings taken */
void source_answer_set_listings(struct source_answer *answer, GPtrArray *listings);

enum source_kind {
	SOURCE_BY_DAY,  /* any day can be requested repeatedly */
	SOURCE_DATED,   /* the list of one day, which the source states */
	SOURCE_ROLLING, /* the newest papers, of any day */
};

/* A group of the list `sources` in paperboy.conf.  Strings are borrowed, and "" if not
 * set, as are lists without elements. */
struct source_options {
	const char *name;     /* "biorxiv": `source:biorxiv` in filters */
	const char *kind;     /* "feed", "arxiv", "biorxiv", ... */
	const char *url;      /* of the feed, or of another server than the kind's own;
	                         file:///DIRECTORY for recorded answers */
	const char *api_url;  /* of arXiv's second service */
	const char *feed_url; /* of bioRxiv's fallback */
	const char *const *categories; /* NULL-terminated */
	const char *list;              /* Hugging Face: "days", "weeks", "trending" */
	const char *query;             /* Europe PMC */
	const char *issn;              /* Crossref: "0092-8674" */
	const char *prefix;            /* Crossref: DOI prefix "10.1101" */
	const char *contact;           /* address for services that ask for one */
	int64_t request_interval_ms;   /* between requests to the service */
};

struct source {
	/* As in the store; lists of one service are "SERVICE/LIST", and users write
	 * `source:SERVICE`.  All three live as long as the source. */
	const char *name;
	const char *label; /* to be shown: "arXiv cs.CL" */
	const char *url;   /* as configured */
	enum source_kind kind;
	/* Minute of a working day, UTC, by which its list is complete; -1: none. */
	int expected_by;
	int64_t interval_s; /* least time between two polls; 0: as others */
	int days; /* before today that are fetched at every poll; 0: the usual number */
	/* Fetch the current list; NULL for SOURCE_BY_DAY. */
	bool (*poll)(struct source *source, struct http *http, const char *today,
	    const char *etag, struct source_answer *answer, GError **error);
	/* NULL if past days are not available. */
	bool (*fetch_day)(struct source *source, struct http *http, const char *day,
	    const char *etag, struct source_answer *answer, GError **error);
	/*
	 * Parse an answer of one page, from a URL or a file (NULL), and set the
	 * listings.  The day of the answer is the one requested; set if another one
	 * is stated.
	 */
	bool (*parse)(struct source *source, GBytes *body, const char *url,
	    struct source_answer *answer, GError **error);
	/* Source of the newest papers that is polled while this one fails for long; or
	 * NULL.  Owned. */
	struct source *fallback;
	/* Set the error of an answer with another status than 200; NULL: by status. */
	void (*set_error)(struct source *source, const struct http_response *response,
	    GError **error);
	void (*free)(struct source *source);
};

/**
 * Fetch one day.
 *
 * @param http    this thread's handle
 * @param day     YYYY-MM-DD, UTC
 * @param etag    of the last answer for this day, or NULL
 * @param answer  initialised; set on success.  On failure only retry_after_s is set
 * @return false with PB_ERROR_TEMPORARY: retry, after retry_after_s if known;
 *         PB_ERROR_PERMANENT: rejected by the source; PB_ERROR_INPUT: malformed answer
 *         or day; PB_ERROR_LIMIT: answer too large
 */
bool source_fetch_day(struct source *source, struct http *http, const char *day,
    const char *etag, struct source_answer *answer, GError **error);

/**
 * Fetch the current list.
 *
 * @param today  YYYY-MM-DD, UTC, for papers that the source does not date
 * @param etag   of the last answer, or NULL
 * @return as source_fetch_day()
 */
bool source_poll(struct source *source, struct http *http, const char *today,
    const char *etag, struct source_answer *answer, GError **error);

/**
 * Fetch what the source has now: its current list, or that of a day.
 *
 * @return as source_fetch_day()
 */
bool source_fetch_current(struct source *source, struct http *http, const char *day,
    struct source_answer *answer, GError **error);

/** Fetch an answer of one page, for source->poll(). */
bool source_get(struct source *source, struct http *http, const char *url,
    const char *etag, struct source_answer *answer, GError **error);

/**
 * Set the error of an HTTP status: PB_ERROR_TEMPORARY for 408, 429 and 5xx,
 * PB_ERROR_INPUT for 200, PB_ERROR_PERMANENT for others.
 *
 * @param message  of the service, or NULL
 */
void source_set_status_error(int status, const char *message, GError **error);

/* A lookup of papers by their identities, or of what has changed. */
struct source_lookup {
	unsigned at;           /* index of the first paper */
	int64_t since;         /* of a list of changes: when the last one was read, s */
	unsigned count;        /* set to the number of papers in the request */
	int64_t retry_after_s; /* set, or HTTP_RETRY_AFTER_UNKNOWN */
	/* Set on success: the service does not know the papers that it left out. */
	bool is_complete;
};

/**
 * Request as many papers as one request may have.
 *
 * A function that finds changes sends one request for all that has changed, for which
 * some services use the papers, and sets no count.
 *
 * @param papers  of struct paper *
 * @param lookup  in: at, since; the other members are set
 * @return of struct listing *, those found, in any order; NULL with an error as of
 *         source_fetch_day()
 */
typedef GPtrArray *
source_find_fn(struct http *http, const struct source_options *options,
    const GPtrArray *papers, struct source_lookup *lookup, GError **error);

/**
 * Format the identities of the papers of one request.
 *
 * @param append  adds one, with a separator if it is not the first
 */
GString *source_lookup_format(struct source_lookup *lookup, const GPtrArray *papers,
    void (*append)(const struct paper *paper, GString *text));

/**
 * Read a day from a file with an answer of one page.
 *
 * @return as source_fetch_day(); also PB_ERROR_INPUT if it is the list of another day
 */
bool source_read_day(struct source *source, const char *path, const char *day,
    struct source_answer *answer, GError **error);

/**
 * Move listings to a list without repeated papers.  Of several versions of a paper the
 * newest is kept; if the first version is among them, the paper is a new one.
 *
 * @param from  emptied
 * @param seen  of g_str_hash, empty at first: positions in `to` by the paper's id
 */
void source_move_listings(GPtrArray *from, GPtrArray *to, GHashTable *seen);

/** The same for a whole list. @param listings freed @return a new list */
GPtrArray *source_merge_listings(GPtrArray *listings);

/**
 * Check the directory of recorded answers, one of which is missing: a missing file is
 * a future day.
 *
 * @param url  file:///DIRECTORY
 * @return false with PB_ERROR_TEMPORARY if the directory is missing, too
 */
bool source_check_directory(const char *url, GError **error);

/** @return a copy of the URL without slashes at its end; for "" of the usual one */
char *source_format_base(const char *url, const char *usual);

void source_free(struct source *source);
PB_DEFINE_AUTO(source, source_free);
