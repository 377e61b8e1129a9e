/*
 * plain.h - read a small text file that an operator names, whatever it turns out to be.
 *
 * A pipe or a device is never waited for, and nothing is read before its size is known.
 */
#ifndef PAPERBOY_CONFIG_PLAIN_H
#define PAPERBOY_CONFIG_PLAIN_H

#include <glib.h>
#include <stdbool.h>
#include <sys/stat.h>

struct plain {
	char *text; /* without an octet order mark; lines end in LF alone */
	struct stat status;
};

/**
 * Read a file.
 *
 * @param plain  all zero; plain_clear() it either way
 * @param most   octets that it may have
 * @return NULL, or what is wrong, without the path
 */
char *plain_load(struct plain *plain, const char *path, size_t most);

/** Whether both are one file. */
bool plain_is_same(const struct plain *one, const struct plain *other);

void plain_clear(struct plain *plain);

#endif
