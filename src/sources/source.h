/*
 * source.h - the one small interface that every source of papers has.
 *
 * A source tells which papers it lists for a day.  It keeps nothing between calls;
 * what is worth remembering (the ETag, when to come back) goes through the caller.
 * An answer is all or nothing: one bad element, page or octet and none of it is used.
 */
#ifndef PAPERBOY_SOURCES_SOURCE_H
#define PAPERBOY_SOURCES_SOURCE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/day.h"
#include "model/paper.h"
#include "net/http.h"

enum source_status {
	SOURCE_OK,           /* papers */
	SOURCE_NOT_MODIFIED, /* as it was when the ETag was given */
	SOURCE_EMPTY,        /* an empty list: a weekend, or too early */
	SOURCE_NOT_YET,      /* the source says that this day does not exist yet */
};

struct source_answer {
	enum source_status status;
	char day[DAY_BYTES]; /* that it speaks of: YYYY-MM-DD */
	GPtrArray *listings; /* of struct listing *, distinct papers, in the source's
	                        order; NULL unless SOURCE_OK */
	char *etag;          /* for the next time, or NULL */
	size_t count;        /* of listings */
	char ids_sha256[65]; /* hexadecimal, of the sorted ids, each with "\n" */
	int64_t
	    retry_after_s; /* HTTP_RETRY_AFTER_UNKNOWN when the source did not say */
};

/** An answer is the caller's memory: init before use, clear after. */
void source_answer_init(struct source_answer *answer);
void source_answer_clear(struct source_answer *answer);

/** Take the listings as the answer: count, hash, SOURCE_OK or SOURCE_EMPTY. */
void source_answer_set_listings(struct source_answer *answer, GPtrArray *listings);

/* How a source gives its lists. */
enum source_kind {
	SOURCE_BY_DAY,  /* any day can be asked for, again and again */
	SOURCE_DATED,   /* the list of one day, which it says itself */
	SOURCE_ROLLING, /* the newest papers, of whatever day */
};

/**
 * Take from a response when to come back, and whether nothing is new.
 *
 * @param etag  that was sent, or NULL
 * @return whether that is the whole answer: SOURCE_NOT_MODIFIED
 */
bool source_answer_set_not_modified(struct source_answer *answer,
    const struct http_response *response, const char *etag);

/* A source's constructor is in its own header. */
struct source {
	/* As in the store; lists of one service are "SERVICE/LIST", and `source:` and
	 * people call them SERVICE.  Lives as long as the source. */
	const char *name;
	const char *label; /* for people: "arXiv cs.CL"; lives as long */
	const char *url;   /* where it is asked, as configured; lives as long */
	enum source_kind kind;
	/* The minute of a working day, UTC, by which its list is there; -1: any. */
	int expected_by;
	/* What it lists now; NULL for SOURCE_BY_DAY. */
	bool (*fetch_now)(struct source *source, struct http *http, const char *today,
	    const char *etag, struct source_answer *answer, GError **error);
	/* NULL when it cannot go back. */
	bool (*fetch_day)(struct source *source, struct http *http, const char *day,
	    const char *etag, struct source_answer *answer, GError **error);
	/* The same from a file that somebody has kept; NULL when it cannot. */
	bool (*read_day)(struct source *source, const char *path, const char *day,
	    struct source_answer *answer, GError **error);
	void (*free)(struct source *source);
};

/**
 * Ask a source for one day.
 *
 * @param http    this thread's handle
 * @param day     YYYY-MM-DD, UTC
 * @param etag    of the last answer for this day, or NULL
 * @param answer  initialised; filled on success.  On failure only retry_after_s is set
 * @return false with PB_ERROR_TEMPORARY: come back, after retry_after_s when it is
 * known; PB_ERROR_PERMANENT: the source refuses, the message has its words;
 *         PB_ERROR_INPUT: the answer (or the day) is malformed, the message says where;
 *         PB_ERROR_LIMIT: too large, too many, the message says what
 */
bool source_fetch_day(struct source *source, struct http *http, const char *day,
    const char *etag, struct source_answer *answer, GError **error);

/**
 * Ask a source for what it lists now.
 *
 * @param today  YYYY-MM-DD, UTC, for what it does not date itself
 * @param etag   of the last answer, or NULL
 * @return as source_fetch_day()
 */
bool source_poll(struct source *source, struct http *http, const char *today,
    const char *etag, struct source_answer *answer, GError **error);

/** Read what stands for an answer from a file. @return NULL as http_file_read() */
GBytes *source_load_file(const char *path, GError **error);

/**
 * What a status that is no answer means: 429, 408 and 5xx are PB_ERROR_TEMPORARY,
 * others PB_ERROR_PERMANENT.
 *
 * @param told  the service's own words, or NULL
 */
void source_set_status_error(int status, const char *reported, GError **error);

/**
 * Read a day from a file that has what the source answered, of one page.
 *
 * @return as source_fetch_day(); PB_ERROR_INPUT too when the source reads no files
 */
bool source_read_day(struct source *source, const char *path, const char *day,
    struct source_answer *answer, GError **error);

void source_free(struct source *source);
PB_DEFINE_AUTO(source, source_free);

#endif
