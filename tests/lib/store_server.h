/*
 * store_server.h - databases of a PostgreSQL server for store fixtures.
 *
 * $PAPERBOY_TEST_STORE is the URL of a server with %s for the name of a database.
 * Without it fixtures use SQLite.
 */
#pragma once

#include "store/core/store.h"

/** Create a database with an empty store. @return its URL; NULL: use SQLite */
char *store_server_create(void);
void store_server_drop(const char *url);

/** As the functions of store_fixture.h. */
char *store_server_try(struct store *store, const char *sql);
int64_t store_server_number(struct store *store, const char *sql);
char *store_server_text(struct store *store, const char *sql);
char *store_server_hash(struct store *store);

/** Make the server reject the nth statement from now; 0: none. */
void store_server_fail_at(struct store *store, int nth);
/** Make the server reject commits, or accept them again. */
void store_server_fail_commits(struct store *store, bool fails);
