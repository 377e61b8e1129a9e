/*
 * random.h - a source of unpredictable bytes, which tests replace.
 */
#ifndef PAPERBOY_BASE_RANDOM_H
#define PAPERBOY_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random_source {
	/* At most 256 bytes. */
	void (*fill)(void *data, void *bytes, size_t size);
	void *data;
};

/* getrandom(2) */
extern const struct random_source random_system;

#endif
