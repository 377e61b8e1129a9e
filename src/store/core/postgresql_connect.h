/*
 * postgresql_connect.h - connections to PostgreSQL: URL, TLS, timeouts, error codes.
 */
#pragma once

#include <glib.h>
#include <libpq-fe.h>
#include <stdbool.h>

#include "store/core/history.h"
#include "store/core/store.h"

/**
 * Connect, and set up the session.
 *
 * A server on another host must have a certificate for its name, unless the URL has
 * another sslmode.
 *
 * @param known    of the server that the caller used last
 * @param history  set on success
 * @return in pipeline mode; NULL with PB_ERROR_INPUT for a wrong URL,
 *         PB_ERROR_PERMANENT for a version that is too old or a file that is damaged,
 *         else PB_ERROR_TEMPORARY
 */
PGconn *postgresql_connect(const struct store_server *server,
    const struct history *known, struct history *history, GError **error);

/**
 * As PQgetResult(), with a limit for a server, or its disk, that hangs.
 *
 * @param wait_s  then the connection is lost
 */
PGresult *postgresql_get_result(PGconn *connection, int64_t wait_s);

/** Whether the server rejected a transaction that will succeed when it runs again. */
bool postgresql_is_conflict(const PGresult *result);

/** Whether the session cannot be used any more, such as after a failover. */
bool postgresql_is_session_over(const PGresult *result);

/** Set a GError from a result with an error. */
void postgresql_set_error(GError **error, const PGresult *result);

/** Set a GError of a connection that was lost. */
void postgresql_set_lost(GError **error, PGconn *connection);
