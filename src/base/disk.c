/*
 * disk.c - free space of a file system.
 */
#include "base/disk.h"

#include <sys/statvfs.h>

int64_t
disk_get_free(const char *path)
{
	struct statvfs disk;

	/* A file system that does not count its blocks reports 0 of 0. */
	if (statvfs(path, &disk) != 0 || disk.f_blocks == 0)
		return -1;
	return (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
}
