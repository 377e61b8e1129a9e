/*
 * slow_sync.c - syncs as slow as those of a memory card, preloaded into the programs.
 */
#include <glib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Time for which a sync waits before that of the disk, us: as memory cards take. */
#define SYNC_US 20000

__attribute__((visibility("default"))) int
fsync(int fd)
{
	g_usleep(SYNC_US);
	return (int)syscall(SYS_fsync, fd);
}

__attribute__((visibility("default"))) int
fdatasync(int fd)
{
	g_usleep(SYNC_US);
	return (int)syscall(SYS_fdatasync, fd);
}
