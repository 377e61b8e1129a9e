/*
 * secret.c - the key file: secrets from which tokens in mail are derived.
 */
#include "service/state/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"

#define RESTORE                                                              \
	"restore it from a backup (paperboyctl key restore FILE), or, with " \
	"store.url, copy it from another machine"

static bool
write_all(int fd, const guint8 *data, size_t size)
{
	while (size) {
		ssize_t count = write(fd, data, size);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return false;
		data += count;
		size -= (size_t)count;
	}
	return fsync(fd) == 0;
}

/* Write a temporary file first: a truncated key would be a different key. */
static bool
create_key(const char *path, const guint8 *fresh, GError **error)
{
	g_autofree char *draft = g_strdup_printf("%s.new.%d", path, (int)getpid());
	bool is_made;
	int fd, saved;

	/* Left over from a killed program with our process id. */
	g_unlink(draft);
	fd = g_open(draft, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	is_made = fd >= 0 && write_all(fd, fresh, SECRET_KEY_BYTES);
	/* EEXIST: another process has created the key meanwhile; use that one. */
	is_made = is_made && (link(draft, path) == 0 || errno == EEXIST);
	saved = errno;
	if (fd >= 0) {
		close(fd);
		g_unlink(draft);
	}
	if (!is_made)
		pb_fail(error, PB_ERROR_PERMANENT, "cannot create the key '%s': %s",
		    path, g_strerror(saved));
	return is_made;
}

static bool
check_file(const char *path, const guint8 *fresh, GError **error)
{
	GStatBuf status;

	if (g_stat(path, &status) != 0) {
		int saved = errno;

		if (saved == ENOENT && fresh)
			return create_key(path, fresh, error);
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "cannot read the key '%s': %s%s", path, g_strerror(saved),
		    saved == ENOENT ? "; the store has been used with it: " RESTORE
		                    : "");
	}
	if (status.st_mode & (S_IRWXG | S_IRWXO))
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' is accessible to other users: chmod 600 it", path);
	return true;
}

GBytes *
secret_load_key(const char *state_dir, const guint8 *fresh, GError **error)
{
	g_autofree char *path = g_build_filename(state_dir, "key", NULL);
	g_autoptr(GError) problem = NULL;
	char *data;
	gsize size;

	if (!check_file(path, fresh, error))
		return NULL;
	if (!g_file_get_contents(path, &data, &size, &problem)) {
		pb_fail(error, PB_ERROR_PERMANENT, "cannot read the key: %s",
		    problem->message);
		return NULL;
	}
	if (!size || size % SECRET_KEY_BYTES || size > BOUNDS_KEYS * SECRET_KEY_BYTES) {
		g_free(data);
		pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' is not a key: it has %" G_GSIZE_FORMAT
		    " bytes instead of %d: " RESTORE,
		    path, size, SECRET_KEY_BYTES);
		return NULL;
	}
	return g_bytes_new_take(data, size);
}

bool
secret_replace_key(const char *state_dir, GBytes *key, GError **error)
{
	g_autofree char *path = g_build_filename(state_dir, "key", NULL);
	g_autofree char *draft = g_strdup_printf("%s.new.%d", path, (int)getpid());
	int fd, saved;
	bool is_ok;

	/* Left over from a killed program with our process id. */
	g_unlink(draft);
	fd = g_open(draft, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	is_ok = fd >= 0 &&
	        write_all(fd, g_bytes_get_data(key, NULL), g_bytes_get_size(key)) &&
	        rename(draft, path) == 0;
	saved = errno;
	if (fd >= 0)
		close(fd);
	if (is_ok)
		return true;
	g_unlink(draft);
	return pb_fail(error, PB_ERROR_PERMANENT, "cannot replace the key '%s': %s",
	    path, g_strerror(saved));
}

char *
secret_format_mac(GBytes *keys)
{
	gsize size;
	const guint8 *data = g_bytes_get_data(keys, &size);
	GString *text = g_string_new(NULL);
	char *mac;

	for (gsize i = 0; i < size; i++)
		g_string_append_printf(text, "%02x", data[i]);
	mac = token_hash_string(keys, "keys", text->str);
	explicit_bzero(text->str, text->len);
	g_string_free(text, TRUE);
	return mac;
}

bool
secret_check_mac(const char *state_dir, GBytes *keys, const char *mac, GError **error)
{
	g_autofree char *found = secret_format_mac(keys);

	if (!mac || strcmp(found, mac) == 0)
		return true;
	return pb_fail(error, PB_ERROR_PERMANENT,
	    "'%s/key' is not the key of this store: " RESTORE, state_dir);
}

char *
secret_find_problem(const char *state_dir, const char *mac)
{
	g_autoptr(GError) problem = NULL;
	g_autoptr(GBytes) keys = secret_load_key(state_dir, NULL, &problem);

	return keys && secret_check_mac(state_dir, keys, mac, &problem)
	           ? NULL
	           : g_strdup(problem->message);
}
