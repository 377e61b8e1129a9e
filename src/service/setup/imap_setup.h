/*
 * imap_setup.h - the IMAP receiver, with its cursor in the store.
 */
#ifndef PAPERBOY_SERVICE_SETUP_IMAP_SETUP_H
#define PAPERBOY_SERVICE_SETUP_IMAP_SETUP_H

#include <glib.h>

#include "base/clock.h"
#include "config/settings.h"
#include "receive/receiver.h"
#include "store/core/store.h"

/** Check the names of folders. @return a problem, a new string; or NULL */
char *imap_setup_find_problem(const struct settings *settings);

/**
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @param clock        for the expiry of access tokens; borrowed
 * @param store        where the store will be when the receiver runs
 * @return NULL with PB_ERROR_INPUT
 */
struct receiver *
imap_setup_new(const struct settings *settings, const char *credentials,
    const struct clock *clock, struct store *const *store, GError **error);

#endif
