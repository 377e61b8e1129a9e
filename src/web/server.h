/*
 * server.h - connections of paperboy-web: one request each, many at a time.
 *
 * One thread reads and writes all connections without blocking; complete requests are
 * answered by a few threads.  Each phase of a connection has a deadline for the whole
 * of it, so slow clients cannot stay; when there are too many connections, those that
 * have been slow for longest are closed.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "web/http_request.h"

/* Borrowed while the server runs. */
struct server_options {
	const int *listeners; /* listening, non-blocking sockets */
	unsigned listener_count;
	unsigned max_connections;
	unsigned threads;
	/*
	 * Responses as bytes to send.  answer is called in any thread, for a complete
	 * request; refuse in any thread, also for an incomplete one.
	 */
	GBytes *(*answer)(void *data, const struct http_request *request);
	GBytes *(*refuse)(void *data, const struct http_request *request, int status);
	void *data;
};

struct server;

/**
 * Start the threads and accept connections.
 *
 * @return NULL with PB_ERROR_TEMPORARY; owned by the caller
 */
struct server *server_new(const struct server_options *options, GError **error);

/** Serve until SIGTERM or SIGINT; requests that are complete are answered first. */
void server_run(struct server *server);

void server_free(struct server *server);
PB_DEFINE_AUTO(server, server_free);
