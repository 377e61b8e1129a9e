/*
 * postgresql_connect.h - connections to PostgreSQL: URL, TLS, timeouts, error codes.
 */
#ifndef PAPERBOY_STORE_CORE_POSTGRESQL_CONNECT_H
#define PAPERBOY_STORE_CORE_POSTGRESQL_CONNECT_H

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
 * @param history  set on success, unless the handle is read-only
 * @return in pipeline mode; NULL with PB_ERROR_INPUT for a wrong URL, else
 *         PB_ERROR_TEMPORARY
 */
PGconn *postgresql_connect(
    const struct store_server *server, struct history *history, GError **error);

/** Whether the server rejected a transaction that will succeed when it runs again. */
bool postgresql_is_conflict(const PGresult *result);

/** Whether the session cannot be used any more, such as after a failover. */
bool postgresql_is_session_over(const PGresult *result);

/** Set a GError from a result with an error. */
void postgresql_set_error(GError **error, const PGresult *result);

/** Set a GError of a connection that was lost. */
void postgresql_set_lost(GError **error, PGconn *connection);

#endif
