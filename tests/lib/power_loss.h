/*
 * power_loss.h - a VFS of SQLite that loses unsynced writes.
 *
 * A layer over SQLite's default VFS that becomes the default of this process.  Files
 * are written through, and unsynced changes are recorded.  After the power loss every
 * write fails; once all handles are closed, each file gets contents that a disk could
 * have: all synced data, and of the rest none, all, the first few writes, or random
 * sectors of any of them.  A file that was never synced may be missing.  The index of a
 * log (-shm) is lost.  Not thread-safe.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

/** Become the default VFS; existing files count as synced when they are opened. */
void power_loss_install(void);

/** Count the writes, syncs, truncations and deletions since the last reset. */
unsigned power_loss_count(void);

/** Reset the count.  @param nth operation of the power loss; 0: none */
void power_loss_reset(unsigned nth);

/** Whether the power is lost. */
bool power_loss_is_dark(void);

/** Leave the files as a disk may have them, and restore the power. */
void power_loss_settle(GRand *rand);
