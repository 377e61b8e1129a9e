/*
 * imap_setup.h - the IMAP mailbox as the settings have it, and its mark in the store.
 */
#ifndef PAPERBOY_SERVICE_SETUP_IMAP_SETUP_H
#define PAPERBOY_SERVICE_SETUP_IMAP_SETUP_H

#include <glib.h>

#include "config/settings.h"
#include "receive/receiver.h"
#include "store/core/store.h"

/** Say what is wrong with the names of folders. @return NULL when nothing is */
char *imap_setup_find_problem(const struct settings *settings);

/**
 * Make the mailbox.
 *
 * @param credentials  $CREDENTIALS_DIRECTORY, or NULL
 * @param store        where the store will be when the mailbox is at work
 * @return NULL with PB_ERROR_INPUT
 */
struct receiver *imap_setup_new(const struct settings *settings,
    const char *credentials, struct store *const *store, GError **error);

#endif
