/*
 * lock.c - the locks of a state directory.
 */
#include "service/state/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

static bool
prepare_directory(const char *path, GError **error)
{
	GStatBuf status;

	if (g_mkdir_with_parents(path, 0700) != 0 || g_stat(path, &status) != 0)
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "cannot use the state directory '%s': %s", path, g_strerror(errno));
	if (status.st_mode & (S_IWGRP | S_IRWXO))
		return pb_fail(error, PB_ERROR_PERMANENT,
		    "state directory '%s' is accessible to other users: chmod 700 it",
		    path);
	return true;
}

/* A missing directory is created later, by us. */
static bool
check_access(const char *path, const char *mode, GError **error)
{
	g_autofree char *owner = NULL;
	g_autofree char *needed = file_format_user(geteuid());
	int wanted = R_OK | W_OK | (strcmp(mode, "700") == 0 ? X_OK : 0);
	GStatBuf status;

	if (g_stat(path, &status) != 0 ||
	    faccessat(AT_FDCWD, path, wanted, AT_EACCESS) == 0)
		return true;
	if (errno != EACCES)
		return pb_fail(error, PB_ERROR_PERMANENT, "cannot use '%s': %s", path,
		    g_strerror(errno));
	owner = file_format_user(status.st_uid);
	if (status.st_uid == geteuid())
		pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' is owned by %s but has mode %04o: chmod %s it", path, owner,
		    status.st_mode & 07777U, mode);
	else
		pb_fail(error, PB_ERROR_PERMANENT,
		    "'%s' is owned by %s, and this process runs as %s: chown it to %s",
		    path, owner, needed, needed);
	return false;
}

/* SQLite would only report that it cannot open the database file. */
static bool
check_files(const char *state_dir, GError **error)
{
	static const char *const names[] = {
	    "lock", "key", "paperboy.db", "paperboy.db-wal", "paperboy.db-shm"};

	if (!check_access(state_dir, "700", error))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_build_filename(state_dir, names[i], NULL);

		if (!check_access(path, "600", error))
			return false;
	}
	return true;
}

static int
open_lock(const char *state_dir, GError **error)
{
	g_autofree char *path = g_build_filename(state_dir, "lock", NULL);
	int fd;

	if (!check_files(state_dir, error))
		return -1;
	fd = g_open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		pb_fail(error, PB_ERROR_PERMANENT, "cannot open '%s': %s", path,
		    g_strerror(errno));
	return fd;
}

/* @param type  F_RDLCK or F_WRLCK */
static bool
lock_byte(int fd, short type)
{
	struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};

	return fcntl(fd, F_OFD_SETLK, &range) == 0;
}

int
lock_take(const char *state_dir, GError **error)
{
	int fd;

	if (!prepare_directory(state_dir, error))
		return -1;
	fd = open_lock(state_dir, error);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	pb_fail(error, PB_ERROR_TEMPORARY, "another paperboyd is running in '%s'",
	    state_dir);
	close(fd);
	return -1;
}

int
lock_share(const char *state_dir, GError **error)
{
	int fd = open_lock(state_dir, error);

	if (fd < 0 || lock_byte(fd, F_RDLCK))
		return fd;
	pb_fail(error, PB_ERROR_TEMPORARY,
	    "a backup is being restored in '%s': try again when that is done",
	    state_dir);
	close(fd);
	return -1;
}

int
lock_take_alone(const char *state_dir, GError **error)
{
	int fd = lock_take(state_dir, error);

	if (fd < 0) {
		if (error && g_error_matches(*error, PB_ERROR, PB_ERROR_TEMPORARY))
			g_prefix_error(error, "stop paperboyd first: ");
		return -1;
	}
	if (lock_byte(fd, F_WRLCK))
		return fd;
	pb_fail(error, PB_ERROR_TEMPORARY,
	    "another paperboyctl has the store of '%s' open: try again when it has "
	    "ended",
	    state_dir);
	close(fd);
	return -1;
}
