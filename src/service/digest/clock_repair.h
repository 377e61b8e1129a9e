/*
 * clock_repair.h - when editions are due, though the clock was wrong.
 *
 * Due times are reckoned when they are written.  If the clock was ahead then, the
 * person would hear nothing until it is that late: so what no rhythm can have meant is
 * reckoned again, and everything once the clock has been set back.
 */
#ifndef PAPERBOY_SERVICE_DIGEST_CLOCK_REPAIR_H
#define PAPERBOY_SERVICE_DIGEST_CLOCK_REPAIR_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/** Bring due times that a wrong clock wrote back to what their rhythms say. Works in
 * pages, each one commit. */
bool clock_repair_run(struct store *store, int64_t now, GError **error);

#endif
