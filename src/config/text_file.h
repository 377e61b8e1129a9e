/*
 * text_file.h - read a small text file of the operator.
 *
 * Never blocks on a pipe or a device; the size is checked before the text is used.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/stat.h>

struct text_file {
	char *text; /* without a byte order mark; lines end in LF */
	struct stat status;
};

/**
 * Read a file.
 *
 * @param file  all zero; call text_file_clear() in any case
 * @return NULL, or an error message without the path, a new string
 */
char *text_file_load(struct text_file *file, const char *path, size_t max_bytes);

void text_file_clear(struct text_file *file);
