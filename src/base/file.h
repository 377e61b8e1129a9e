/*
 * file.h - reading and syncing of files, free space, and errors with file names.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"

/**
 * Set an error from errno: "cannot write '/some/file': no space left on device".
 *
 * @param doing  "cannot write"
 * @return false
 */
bool
file_set_error(const char *doing, const char *path, enum pb_error code, GError **error);

/**
 * Read a regular file; never blocks on a pipe or a device.
 *
 * @param status  set
 * @return NULL with a message that does not name the file: PB_ERROR_NOT_FOUND,
 *         PB_ERROR_LIMIT if it is larger, PB_ERROR_INPUT if it is not a regular file,
 *         else PB_ERROR_TEMPORARY
 */
GByteArray *
file_read(const char *path, size_t max_bytes, struct stat *status, GError **error);

/** Flush a file to disk with fsync(2). @return false with an error of `code` */
bool file_sync(const char *path, enum pb_error code, GError **error);

/** Flush a directory to disk, so that its entries survive a crash. */
bool file_sync_directory(const char *path, enum pb_error code, GError **error);

/** Remove a database of SQLite with the files that SQLite puts beside it. */
void file_remove_database(const char *path);

/** Format a user name, or "uid 12345" if there is none. @return a new string */
char *file_format_user(uid_t uid);

/** Check whether a file or directory is on a file system mounted read-only. */
bool file_is_read_only(const char *path);

/** @return bytes available to unprivileged users at path, or -1 if unknown */
int64_t file_get_free_bytes(const char *path);
