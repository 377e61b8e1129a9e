/*
 * inlet.h - the mailboxes at work: each in a thread and with a store of its own.
 *
 * What a mailbox brings is stored (service/intake.h); then somebody is told that there
 * is something to read.  A mailbox that cannot go on is started again after a while.
 */
#ifndef PAPERBOY_DAEMON_INLET_H
#define PAPERBOY_DAEMON_INLET_H

#include <glib.h>
#include <stdbool.h>

#include "base/clock.h"
#include "daemon/snapshot.h"
#include "service/pulse.h"

struct inlet_options {
	const struct clock *clock;
	const char *credentials;     /* $CREDENTIALS_DIRECTORY, or NULL */
	void (*arrived)(void *data); /* a letter is new; from any thread */
	void *data;
	struct pulses *pulses; /* where the threads promise to live on; or NULL */
};

struct inlets;

/** Start the mailboxes that are configured. @param options  what it names outlives it
 */
struct inlets *inlets_new(
    const struct inlet_options *options, struct snapshot *snapshot, GError **error);

/** Ends them in good order. NULL is fine. */
void inlets_free(struct inlets *inlets);

/** Go over to other settings: a mailbox that they change is started anew. */
void inlets_use(struct inlets *inlets, struct snapshot *snapshot);

/** How they are, on one line: "lmtp:ok,maildir:fails", or "none". @return a new string
 */
char *inlets_format(struct inlets *inlets);

/**
 * Take in what waits, once, with no thread.
 *
 * @param is_clean  set on success: all that waited was taken in
 */
bool inlets_sweep(const struct inlet_options *options, struct snapshot *snapshot,
    bool *is_clean, GError **error);

#endif
