/*
 * disk.h - free space of a file system.
 */
#ifndef PAPERBOY_BASE_DISK_H
#define PAPERBOY_BASE_DISK_H

#include <stdint.h>

/** @return bytes available to unprivileged users at path, or -1 if unknown */
int64_t disk_get_free(const char *path);

#endif
