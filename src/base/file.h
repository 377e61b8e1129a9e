/*
 * file.h - what was written is on the disk, and errors name the file.
 */
#ifndef PAPERBOY_BASE_FILE_H
#define PAPERBOY_BASE_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/**
 * Make an error of errno: "cannot write '/some/file': no space left on device".
 *
 * @param doing  "cannot write"
 * @return false
 */
bool
file_set_error(const char *doing, const char *path, enum pb_error code, GError **error);

/** Wait until what was written to a file is on the disk. @return false with code */
bool file_sync(const char *path, enum pb_error code, GError **error);

/** The same for a folder: its entries stay, whatever happens to the machine. */
bool file_sync_directory(const char *path, enum pb_error code, GError **error);

/** The name of a user, or "uid 12345" of one without. @return a new string */
char *file_format_user(uid_t uid);

/** Tell whether a file or directory is on a file system that is mounted read-only. */
bool file_is_read_only(const char *path);

#endif
