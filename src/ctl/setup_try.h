/*
 * setup_try.h - try what the answers of paperboyctl setup name.
 */
#ifndef PAPERBOY_CTL_SETUP_TRY_H
#define PAPERBOY_CTL_SETUP_TRY_H

#include <glib.h>
#include <stdbool.h>

#include "base/clock.h"
#include "config/settings.h"

/*
 * @param clock  borrowed
 * @param note   set on success only: what was found, a new string
 */

/** Connect to the relay, and log in if there is a user. */
bool setup_try_relay(const struct settings *settings, const struct clock *clock,
    char **note, GError **error);

/** Log in to the relay and to the mailbox. */
bool setup_try_mailbox(const struct settings *settings, const struct clock *clock,
    char **note, GError **error);

/** Fetch from each source; one that may work later is not a failure. */
bool setup_try_sources(const struct settings *settings, const struct clock *clock,
    char **note, GError **error);

/** Send a mail to the owner, about the configuration file `path`. */
bool setup_try_mail(const struct settings *settings, const struct clock *clock,
    const char *path, GError **error);

#endif
