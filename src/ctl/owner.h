/*
 * owner.h - working as the owner of the state folder, also when root asks.
 */
#ifndef PAPERBOY_CTL_OWNER_H
#define PAPERBOY_CTL_OWNER_H

#include <glib.h>
#include <stdbool.h>

/**
 * Give up root's rights, for good, for those of who owns the state folder: what is
 * made there has to be the daemon's, too.  Who is not root stays who they are.
 *
 * @return false with PB_ERROR_PERMANENT when there is no such folder, or it is somebody
 *         else's
 */
bool owner_become(const char *state_dir, GError **error);

#endif
