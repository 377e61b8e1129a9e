/*
 * store_copy_service.h - move a store between SQLite and PostgreSQL, while nothing
 * runs.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "store/admin/store_copy.h"

struct store_copy_request {
	const char *from, *to; /* paths of files, or URLs of servers */
	/* Of a server; NULL: as libpq finds it. */
	const char *from_password, *to_password;
	int64_t now;                                /* s */
	const struct store_copy_progress *progress; /* or NULL */
};

/**
 * Copy all rows to a store that is new or empty.  Until the end it is not to be used:
 * store_copy_check() fails.
 *
 * Files: the state directories are locked.  Servers: no instance may hold a lease.
 *
 * @param tables  set: of struct store_copy_table *
 * @return false with PB_ERROR_TEMPORARY while a paperboy uses one of the stores, else
 * as store_copy_rows()
 */
bool store_copy_service_run(
    const struct store_copy_request *request, GPtrArray **tables, GError **error);
