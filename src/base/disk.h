/*
 * disk.h - free space of a file system.
 */
#ifndef PAPERBOY_BASE_DISK_H
#define PAPERBOY_BASE_DISK_H

#include <stdint.h>

/** Get the bytes that unprivileged users may still write at path. @return -1 when
 * unknown */
int64_t disk_get_free(const char *path);

#endif
