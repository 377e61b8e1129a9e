/*
 * text_file.h - read a small text file that an operator names, whatever it turns out to
 * be.
 *
 * A pipe or a device is never waited for, and nothing is read before its size is known.
 */
#ifndef PAPERBOY_CONFIG_TEXT_FILE_H
#define PAPERBOY_CONFIG_TEXT_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <sys/stat.h>

struct text_file {
	char *text; /* without an octet order mark; lines end in LF alone */
	struct stat status;
};

/**
 * Read a file.
 *
 * @param plain  all zero; text_file_clear() it either way
 * @param most   octets that it may have
 * @return NULL, or what is wrong, without the path
 */
char *text_file_load(struct text_file *plain, const char *path, size_t most);

/** Whether both are one file. */
bool text_file_is_same(const struct text_file *one, const struct text_file *other);

void text_file_clear(struct text_file *plain);

#endif
