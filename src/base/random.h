/*
 * random.h - source of random bytes, replaceable in tests.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct random_source {
	/* Fill a buffer of at most 256 bytes. */
	void (*fill)(void *data, void *bytes, size_t size);
	void *data;
};

/* getrandom(2) */
extern const struct random_source random_system;
