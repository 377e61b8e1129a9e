/*
 * paperserver.h - run the fake paper server beside a C test.
 */
#pragma once

#include <gio/gio.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "sources/source.h"

/* An answer that is cleared at the end of its scope. */
#define source_answer_auto \
	__attribute__((cleanup(source_answer_clear))) struct source_answer

struct paperserver {
	GSubprocess *process;
	GDataInputStream *log; /* a line per request, see paperserver.py */
	char *url; /* "http://127.0.0.1:PORT", or "https://localhost:PORT" */
};

/**
 * Start the server.
 *
 * @param directory  with daily_papers-DAY.json files, or NULL
 * @param pem     file with certificate and key for https, or NULL
 * @return NULL without Python; then the test is skipped
 */
struct paperserver *paperserver_start(const char *directory, const char *pem);

/** @return "URL/MODE", newly allocated */
char *paperserver_mode_url(const struct paperserver *server, const char *mode);

/** Wait for the next line of the log. @return newly allocated */
char *paperserver_read_line(struct paperserver *server);

/**
 * Fetch a day with an HTTP handle of its own.
 *
 * @param source  freed
 * @param answer  zeroed, or of another fetch
 */
bool paperserver_fetch(struct source *source, const char *day, const char *etag,
    struct source_answer *answer, GError **error);

/* The expected result of a source for a mode of the server. */
struct paperserver_failure {
	const char *mode;
	enum pb_error code;
	int64_t wait_s;   /* retry_after_s of the answer */
	const char *says; /* part of the error */
};

/** Assert that fetching a day fails as described. @param source  freed */
void paperserver_check_failure(
    struct source *source, const char *day, const struct paperserver_failure *failure);

/** End the server. @return the number of requests that were not read yet */
unsigned paperserver_count_requests(struct paperserver *server);

void paperserver_free(struct paperserver *server);
PB_DEFINE_AUTO(paperserver, paperserver_free);
