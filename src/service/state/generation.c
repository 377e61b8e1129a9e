/*
 * generation.c - detect a database that is older than the mail that was sent.
 */
#include "service/state/generation.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "service/log/event.h"
#include "store/admin/backup.h"

/* Size of the file: one line of 20 digits.  It is overwritten in place, and as it fits
 * in a sector of a disk, a crash leaves the old line or the new one. */
#define LINE_BYTES 21

struct generation {
	char *path;
	int fd;        /* -1 until the first claim, if there was no file */
	int64_t value; /* in the file */
};

static char *
format_path(const char *state_dir)
{
	return g_build_filename(state_dir, "generation", NULL);
}

bool
generation_load_file(const char *state_dir, int64_t *value, GError **error)
{
	g_autofree char *path = format_path(state_dir);
	g_autofree char *text = NULL;
	g_autoptr(GError) problem = NULL;
	gsize size;
	guint64 found;

	if (!g_file_get_contents(path, &text, &size, &problem)) {
		*value = 0;
		if (g_error_matches(problem, G_FILE_ERROR, G_FILE_ERROR_NOENT))
			return true;
		return pb_fail(error, PB_ERROR_PERMANENT, "cannot read '%s': %s", path,
		    problem->message);
	}
	/*
	 * The process was killed after creating the file, before the first counter was
	 * written.
	 */
	if (!size) {
		*value = 0;
		return true;
	}
	if (size == LINE_BYTES)
		text[size - 1] = '\0';
	if (size != LINE_BYTES ||
	    !g_ascii_string_to_unsigned(text, 10, 0, INT64_MAX, &found, NULL))
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' is damaged, so an older copy of the store would not be "
		    "detected: make sure that the store is the newest one, then "
		    "remove it",
		    path);
	*value = (int64_t)found;
	return true;
}

bool
generation_is_stale(
    struct store *store, const char *state_dir, bool *is_stale, GError **error)
{
	struct backup_generation stored;
	int64_t sent;

	*is_stale = false;
	if (store_is_shared(store))
		return true;
	if (!generation_load_file(state_dir, &sent, error) ||
	    !backup_load_generation(store, &stored, error))
		return false;
	*is_stale = stored.own < sent;
	return true;
}

static bool
open_file(struct generation *generation, GError **error)
{
	g_autofree char *directory = g_path_get_dirname(generation->path);

	if (generation->fd >= 0)
		return true;
	generation->fd = g_open(generation->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (generation->fd < 0)
		return file_set_error(
		    "cannot open", generation->path, PB_ERROR_PERMANENT, error);
	return file_sync_directory(directory, PB_ERROR_PERMANENT, error);
}

static bool
write_value(struct generation *generation, int64_t value, GError **error)
{
	char line[LINE_BYTES + 1];

	if (value == generation->value)
		return true;
	if (!open_file(generation, error))
		return false;
	g_snprintf(line, sizeof(line), "%020" G_GINT64_FORMAT "\n", value);
	if (pwrite(generation->fd, line, LINE_BYTES, 0) != LINE_BYTES ||
	    fdatasync(generation->fd) != 0)
		return file_set_error(
		    "cannot write", generation->path, PB_ERROR_TEMPORARY, error);
	generation->value = value;
	return true;
}

bool
generation_save(struct generation *generation, struct store *store, GError **error)
{
	struct backup_generation stored;

	if (store_is_shared(store))
		return true;
	return backup_load_generation(store, &stored, error) &&
	       write_value(generation, stored.own, error);
}

struct holding {
	int64_t value; /* of the generation */
	int64_t now;
	struct backup_restored held; /* set */
};

static bool
hold_in_transaction(struct store *store, void *data, GError **error)
{
	struct holding *holding = data;

	return backup_hold_stale(
	    store, holding->value, holding->now, &holding->held, error);
}

static bool
hold_stale(const struct generation *generation, struct store *store, int64_t now,
    GError **error)
{
	struct holding holding = {.value = generation->value, .now = now};

	if (!store_transact(store, hold_in_transaction, &holding, error))
		return false;
	event_log(EVENT_STORE_STALE, EVENT_INT("held", holding.held.held),
	    EVENT_INT("subscribers", holding.held.people));
	return true;
}

struct generation *
generation_new(struct store *store, const char *state_dir, int64_t now, GError **error)
{
	pb_auto(generation) generation = g_new0(struct generation, 1);
	struct backup_generation stored;
	bool is_ok;

	generation->path = format_path(state_dir);
	generation->fd = -1;
	if (store_is_shared(store))
		return g_steal_pointer(&generation);
	if (!generation_load_file(state_dir, &generation->value, error) ||
	    !backup_load_generation(store, &stored, error))
		return NULL;
	/*
	 * Ahead of the file: the process was killed between a claim's commit and its
	 * sending.
	 */
	is_ok = stored.own < generation->value
	            ? hold_stale(generation, store, now, error)
	            : write_value(generation, stored.own, error);
	return is_ok ? g_steal_pointer(&generation) : NULL;
}

void
generation_free(struct generation *generation)
{
	if (!generation)
		return;
	if (generation->fd >= 0)
		close(generation->fd);
	g_free(generation->path);
	g_free(generation);
}
