/*
 * store_copy_service.c - move a store between SQLite and PostgreSQL, while nothing
 * runs.
 */
#include "service/admin/store_copy_service.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "service/state/lock.h"
#include "store/admin/store_copy.h"
#include "store/core/instances.h"
#include "store/core/store.h"
#include "store/paper/archive.h"

static struct store *
open_from(const struct store_copy_request *request, GError **error)
{
	const struct store_server server = {.url = request->from,
	    .password = request->from_password,
	    .is_read_only = true};
	pb_auto(store) store = store_is_server(request->from)
	                           ? store_open_server(&server, error)
	                           : store_open_for_reading(request->from, error);
	int version, ours;

	if (!store || !store_get_data_version(store, &version, &ours, error))
		return NULL;
	if (version == ours)
		return store_copy_check(store, request->from, error)
		           ? g_steal_pointer(&store)
		           : NULL;
	pb_fail(error, PB_ERROR_PERMANENT,
	    "'%s' has store version %d instead of %d: start this paperboyd with it "
	    "first",
	    request->from, version, ours);
	return NULL;
}

static struct store *
open_to(const struct store_copy_request *request, GError **error)
{
	const struct store_server server = {
	    .url = request->to, .password = request->to_password};

	return store_is_server(request->to) ? store_open_server(&server, error)
	                                    : store_open(request->to, error);
}

struct copying {
	struct store *from;
	bool is_server; /* the target */
	const struct store_copy_progress *progress;
	GPtrArray **tables;
};

static bool
copy(struct store *to, void *data, GError **error)
{
	const struct copying *copying = data;
	g_autoptr(GPtrArray) tables = NULL;

	if (!store_copy_rows(copying->from, to, copying->progress, &tables, error) ||
	    (!copying->is_server && !archive_rebuild(to, error)))
		return false;
	g_clear_pointer(copying->tables, g_ptr_array_unref);
	*copying->tables = g_steal_pointer(&tables);
	return true;
}

static bool
mark(struct store *to, void *data, GError **error)
{
	(void)data;
	return store_copy_mark(to, error);
}

static bool
run(const struct store_copy_request *request, GPtrArray **tables, GError **error)
{
	pb_auto(store) from = open_from(request, error);
	pb_auto(store) to = NULL;
	pb_snapshot snapshot = {0};
	struct copying copying = {
	    .from = from,
	    .is_server = store_is_server(request->to),
	    .progress = request->progress,
	    .tables = tables,
	};

	/* Of a file, the lock of its directory shows that they have ended. */
	if (!from || (store_is_server(request->from) &&
	                 !instances_check_none(from, request->now, error)))
		return false;
	to = open_to(request, error);
	return to && store_copy_prepare(to, error) &&
	       store_transact(to, mark, NULL, error) &&
	       store_begin_reading(from, &snapshot, error) &&
	       store_transact(to, copy, &copying, error);
}

/* @param locks  set: descriptors, -1 for none; a directory is locked once */
static bool
lock_directories(const struct store_copy_request *request, int locks[2], GError **error)
{
	const char *names[] = {request->from, request->to};
	g_autofree char *first = NULL;

	for (int i = 0; i < 2; i++) {
		g_autofree char *directory = g_path_get_dirname(names[i]);

		if (store_is_server(names[i]) || g_strcmp0(first, directory) == 0)
			continue;
		/* Locking creates the directory. */
		if (strstr(names[i], "://"))
			return pb_fail(error, PB_ERROR_INPUT,
			    "'%s' is not a file, and not a URL postgresql://...",
			    names[i]);
		locks[i] = lock_take_alone(directory, error);
		if (locks[i] < 0)
			return false;
		first = g_steal_pointer(&directory);
	}
	return true;
}

bool
store_copy_service_run(
    const struct store_copy_request *request, GPtrArray **tables, GError **error)
{
	int locks[] = {-1, -1};
	bool is_ok;

	*tables = NULL;
	is_ok = lock_directories(request, locks, error) && run(request, tables, error);
	for (int i = 0; i < 2; i++)
		if (locks[i] >= 0)
			close(locks[i]);
	return is_ok;
}
