/*
 * random.c - a source of unpredictable bytes, which tests replace.
 */
#include "base/random.h"

#include <glib.h>
#include <sys/random.h>

static void
fill(void *data, void *bytes, size_t size)
{
	(void)data;
	/* Up to 256 bytes are never short, nor interrupted (getrandom(2)). */
	g_assert(getrandom(bytes, size, 0) == (ssize_t)size);
}

const struct random_source random_system = {fill, NULL};
