/*
 * file.c - syncing of files and directories, free space, and errors with file names.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
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
