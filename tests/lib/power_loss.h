/*
 * power_loss.h - a disk that forgets what was not synced, for SQLite.
 *
 * A layer over SQLite's own files that becomes the default of this process.  Files are
 * written through, and what was not synced is noted.  When the power goes, every
 * write fails; once all handles are closed each file becomes what a disk could
 * hold then: all that was synced, and of the rest none, all, the first few writes, or
 * any sectors of any of them.
 *
 * A file that was never synced may be gone.  The index of a log (-shm) is not kept at
 * all.  One thread.
 */
#ifndef PAPERBOY_TESTS_POWERCUT_H
#define PAPERBOY_TESTS_POWERCUT_H

#include <glib.h>
#include <stdbool.h>

/** Become the default; files that exist are taken for synced when they are opened. */
void power_loss_install(void);

/** Count the writes, syncs, truncations and deletions since the last reset. */
unsigned power_loss_count(void);

/** Begin anew. @param nth  the power goes at this one; 0: it stays */
void power_loss_reset(unsigned nth);

/** Tell whether the power is gone. */
bool power_loss_is_dark(void);

/** Leave the files as a disk may hold them, and let the power come back. */
void power_loss_settle(GRand *rand);

#endif
