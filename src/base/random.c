/*
 * random.c - source of random bytes, replaceable in tests.
 */
#include "base/random.h"

#include <glib.h>
#include <sys/random.h>

static void
fill(void *data, void *bytes, size_t size)
{
	(void)data;
	/* Reads of up to 256 bytes are complete and not interrupted (getrandom(2)). */
	g_assert(getrandom(bytes, size, 0) == (ssize_t)size);
}

const struct random_source random_system = {fill, NULL};
