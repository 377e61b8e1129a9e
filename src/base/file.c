/*
 * file.c - reading and syncing of files, free space, and errors with file names.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <pwd.h>
#include <sys/statvfs.h>
#include <unistd.h>

bool
file_set_error(const char *doing, const char *path, enum pb_error code, GError **error)
{
	int number = errno;

	return pb_fail(
	    error, (gint)code, "%s '%s': %s", doing, path, g_strerror(number));
}

static bool
read_some(int fd, size_t max_bytes, GByteArray *content, bool *is_end, GError **error)
{
	guint8 buffer[16384];
	ssize_t got = read(fd, buffer, sizeof(buffer));

	if (got < 0 && errno != EINTR)
		return pb_fail(error, PB_ERROR_TEMPORARY, "%s", g_strerror(errno));
	*is_end = got == 0;
	if (got > 0 && (size_t)got > max_bytes - content->len)
		return pb_fail(
		    error, PB_ERROR_LIMIT, "larger than %zu bytes", max_bytes);
	g_byte_array_append(content, buffer, (guint)MAX(got, 0));
	return true;
}

GByteArray *
file_read(const char *path, size_t max_bytes, struct stat *status, GError **error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	g_autoptr(GByteArray) content = g_byte_array_new();
	bool is_end = false, is_ok;

	if (fd < 0 || fstat(fd, status) != 0)
		is_ok = pb_fail(error,
		    errno == ENOENT ? PB_ERROR_NOT_FOUND : PB_ERROR_TEMPORARY, "%s",
		    g_strerror(errno));
	else
		is_ok = S_ISREG(status->st_mode) ||
		        pb_fail(error, PB_ERROR_INPUT,
		            S_ISDIR(status->st_mode) ? "is a directory"
		                                     : "not a regular file");
	while (is_ok && !is_end)
		is_ok = read_some(fd, max_bytes, content, &is_end, error);
	if (fd >= 0)
		close(fd);
	return is_ok ? g_steal_pointer(&content) : NULL;
}

static bool
sync_path(const char *path, int flags, enum pb_error code, GError **error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
	bool is_ok = fd >= 0 && fsync(fd) == 0;

	if (!is_ok)
		file_set_error("cannot sync", path, code, error);
	if (fd >= 0)
		close(fd);
	return is_ok;
}

bool
file_sync(const char *path, enum pb_error code, GError **error)
{
	return sync_path(path, 0, code, error);
}

bool
file_sync_directory(const char *path, enum pb_error code, GError **error)
{
	return sync_path(path, O_DIRECTORY, code, error);
}

char *
file_format_user(uid_t uid)
{
	const struct passwd *user = getpwuid(uid);

	return user ? g_strdup(user->pw_name)
	            : g_strdup_printf("uid %u", (unsigned)uid);
}

void
file_remove_database(const char *path)
{
	static const char *const ends[] = {"", "-journal", "-wal", "-shm"};

	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
		g_autofree char *name = g_strconcat(path, ends[i], NULL);

		g_unlink(name);
	}
}

bool
file_is_read_only(const char *path)
{
	struct statvfs system;

	return statvfs(path, &system) == 0 && (system.f_flag & ST_RDONLY);
}

int64_t
file_get_free_bytes(const char *path)
{
	struct statvfs disk;

	/* A file system that does not count its blocks reports 0 of 0. */
	if (statvfs(path, &disk) != 0 || disk.f_blocks == 0)
		return -1;
	return (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
}
