/*
 * receivers.h - the threads that receive mail: LMTP, Maildir, IMAP.
 *
 * Each has its own store connection, stores what it receives
 * (service/inbound/inbox_process.h) and then calls back.  A receiver that fails is
 * restarted after a pause.  One instance at a time empties the IMAP mailbox.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/clock.h"
#include "daemon/config_snapshot.h"
#include "service/log/heartbeat.h"
#include "service/state/lease.h"

struct receivers_options {
	const struct clock *clock;
	const char *credentials;     /* $CREDENTIALS_DIRECTORY, or NULL */
	void (*arrived)(void *data); /* a message was stored; from any thread */
	void *data;
	struct heartbeats *heartbeats; /* of the threads; or NULL */
	struct lease *lease;           /* or NULL */
};

struct receivers;

/** Start the configured receivers. @param options  copied; pointers are borrowed */
struct receivers *receivers_new(const struct receivers_options *options,
    struct config_snapshot *config_snapshot, GError **error);

/** End all threads and wait for them. @param receivers  or NULL */
void receivers_free(struct receivers *receivers);

/** Switch to other settings; a receiver with changed settings is restarted. */
void
receivers_reload(struct receivers *receivers, struct config_snapshot *config_snapshot);

/** "lmtp:ok,maildir:failed", or "none". @return a new string */
char *receivers_format(struct receivers *receivers);

/**
 * Poll each receiver once, in the calling thread.
 *
 * @param is_clean  set on success: whether all waiting messages were stored
 */
bool receivers_poll(const struct receivers_options *options,
    struct config_snapshot *config_snapshot, bool *is_clean, GError **error);
