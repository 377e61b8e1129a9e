/*
 * receivers.h - the mailboxes at work: each in a thread and with a store of its own.
 *
 * What a mailbox brings is stored (service/inbound/inbox_process.h); then somebody is
 * told that there is something to read.  A mailbox that cannot go on is started again
 * after a while.
 */
#ifndef PAPERBOY_DAEMON_RECEIVERS_H
#define PAPERBOY_DAEMON_RECEIVERS_H

#include <glib.h>
#include <stdbool.h>

#include "base/clock.h"
#include "daemon/config_snapshot.h"
#include "service/log/heartbeat.h"

struct receivers_options {
	const struct clock *clock;
	const char *credentials;     /* $CREDENTIALS_DIRECTORY, or NULL */
	void (*arrived)(void *data); /* a letter is new; from any thread */
	void *data;
	struct heartbeats
	    *heartbeats; /* where the threads promise to live on; or NULL */
};

struct receivers;

/** Start the mailboxes that are configured. @param options  what it names outlives it
 */
struct receivers *receivers_new(const struct receivers_options *options,
    struct config_snapshot *config_snapshot, GError **error);

/** Ends them in good order. NULL is fine. */
void receivers_free(struct receivers *receivers);

/** Go over to other settings: a mailbox that they change is started anew. */
void
receivers_reload(struct receivers *receivers, struct config_snapshot *config_snapshot);

/** How they are, on one line: "lmtp:ok,maildir:fails", or "none". @return a new string
 */
char *receivers_format(struct receivers *receivers);

/**
 * Take in what waits, once, with no thread.
 *
 * @param is_clean  set on success: all that waited was taken in
 */
bool receivers_poll(const struct receivers_options *options,
    struct config_snapshot *config_snapshot, bool *is_clean, GError **error);

#endif
