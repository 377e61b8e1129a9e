/*
 * lock.c - one daemon for one state folder, and nobody while its store is exchanged.
 */
#include "service/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static bool
prepare_folder(const char *path, GError **error)
{
	GStatBuf status;

	if (g_mkdir_with_parents(path, 0700) != 0 || g_stat(path, &status) != 0) {
		g_set_error(error, PB_ERROR, PB_ERROR_PERMANENT,
		    "cannot use the state folder '%s': %s", path, g_strerror(errno));
		return false;
	}
	if (status.st_mode & (S_IWGRP | S_IRWXO)) {
		g_set_error(error, PB_ERROR, PB_ERROR_PERMANENT,
		    "others may look into the state folder '%s': chmod 700 it", path);
		return false;
	}
	return true;
}

static int
open_lock(const char *state_dir, GError **error)
{
	g_autofree char *path = g_build_filename(state_dir, "lock", NULL);
	int fd = g_open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		g_set_error(error, PB_ERROR, PB_ERROR_PERMANENT, "cannot open '%s': %s",
		    path, g_strerror(errno));
	return fd;
}

/* @param type  F_RDLCK or F_WRLCK */
static bool
lock_octet(int fd, short type)
{
	struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};

	return fcntl(fd, F_OFD_SETLK, &range) == 0;
}

int
lock_take(const char *state_dir, GError **error)
{
	int fd;

	if (!prepare_folder(state_dir, error))
		return -1;
	fd = open_lock(state_dir, error);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
	    "another paperboyd works in '%s'", state_dir);
	close(fd);
	return -1;
}

int
lock_share(const char *state_dir, GError **error)
{
	int fd = open_lock(state_dir, error);

	if (fd < 0 || lock_octet(fd, F_RDLCK))
		return fd;
	g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
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
		g_prefix_error(error, "stop paperboyd first: ");
		return -1;
	}
	if (lock_octet(fd, F_WRLCK))
		return fd;
	g_set_error(error, PB_ERROR, PB_ERROR_TEMPORARY,
	    "another paperboyctl has the store of '%s' open: try again when it has "
	    "ended",
	    state_dir);
	close(fd);
	return -1;
}
