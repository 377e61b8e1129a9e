/*
 * clock_repair.h - repairs due times that a wrong clock produced.
 *
 * Due times are computed when written. A clock that was ahead then would delay digests
 * until that time. So due times beyond any schedule are recomputed, and all of them
 * after the clock was set back.
 */
#ifndef PAPERBOY_SERVICE_DIGEST_CLOCK_REPAIR_H
#define PAPERBOY_SERVICE_DIGEST_CLOCK_REPAIR_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/** Recompute wrong due times. Works in pages of one commit each. */
bool clock_repair_run(struct store *store, int64_t now, GError **error);

#endif
