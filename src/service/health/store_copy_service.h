/*
 * store_copy_service.h - move a store between SQLite and PostgreSQL, while nothing
 * runs.
 */
#ifndef PAPERBOY_SERVICE_HEALTH_STORE_COPY_SERVICE_H
#define PAPERBOY_SERVICE_HEALTH_STORE_COPY_SERVICE_H

#include <glib.h>
#include <stdbool.h>

struct store_copy_request {
	const char *from, *to; /* paths of files, or URLs of servers */
	const char *password;  /* of the servers; NULL: as libpq finds it */
	int64_t now;           /* s */
};

/**
 * Copy all rows to a store that is new or empty.
 *
 * Files: the state directories are locked.  Servers: no instance may hold a lease.
 *
 * @param tables  set: of struct store_copy_table * (store/core/store_copy.h)
 * @return false with PB_ERROR_TEMPORARY while a paperboy uses one of the stores, else
 * as store_copy_rows()
 */
bool store_copy_service_run(
    const struct store_copy_request *request, GPtrArray **tables, GError **error);

#endif
