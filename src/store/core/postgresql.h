/*
 * postgresql.h - the engine PostgreSQL, by libpq.
 *
 * A statement is prepared by name with its first run.  All messages are sent in
 * libpq's pipeline mode: BEGIN, and inside a transaction INSERT, UPDATE and DELETE
 * without a result, wait in a queue for the next statement that has one, and take no
 * round trip of their own.  Their errors are reported there, by a savepoint or by the
 * commit.
 *
 * A lost connection is made again at the next transaction, or statement outside of
 * one, unless the server was replaced (store_is_outdated()).  A serialization failure,
 * or a connection lost before the commit was sent, makes store_transact() run again; a
 * statement outside of a transaction is run again here.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/visible.h"
#include "store/core/store.h"

/** Check a URL without connecting. @return false with PB_ERROR_INPUT */
PB_EXPORT bool postgresql_check_url(const char *url, GError **error);

/**
 * Connect; the schema is not looked at.
 *
 * @return NULL with PB_ERROR_INPUT for a wrong URL, PB_ERROR_TEMPORARY when there is no
 *         connection
 */
PB_EXPORT struct store *
postgresql_open(const struct store_server *server, GError **error);
