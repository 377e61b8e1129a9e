/*
 * overflow.h - numbers in a configuration that libconfig would change in silence.
 *
 * libconfig 1.5 keeps the lower 32 bits of a whole number that has more, so that
 * 4294967321 is read as 25.  Afterwards nothing tells; only the text does.
 */
#ifndef PAPERBOY_CONFIG_OVERFLOW_H
#define PAPERBOY_CONFIG_OVERFLOW_H

#include <stddef.h>

/**
 * Find the next whole number over 32 bits that has no L behind it, not in comments
 * and not in texts.
 *
 * @param text  a configuration, or its rest from the number found before on
 * @param line  counted up by the lines passed; 1 at the beginning
 * @param size  set to the octets of the number
 * @return where it is in the text, or NULL
 */
const char *overflow_find(const char *text, unsigned *line, size_t *size);

#endif
