/*
 * handler.h - everything between a letter and its one answer.
 *
 * The door says who may have written and whether there is to be an answer at all; a
 * token proves more; then the commands run, and what they come to is put into the
 * outbox.  All of it is part of the caller's transaction, which also marks the letter
 * as done: it is handled once, and answered once.
 */
#ifndef PAPERBOY_SERVICE_INBOUND_HANDLER_H
#define PAPERBOY_SERVICE_INBOUND_HANDLER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "config/settings.h"
#include "model/inmail.h"
#include "receive/receiver.h"
#include "render/catalog.h"
#include "render/renderer.h"
#include "service/inbound/autoreply_policy.h"
#include "service/state/own_addresses.h"
#include "store/core/store.h"

/* How long tickets are good. */
#define HANDLER_CONFIRM_S (72 * 3600)
#define HANDLER_FORGET_S  3600
#define HANDLER_UNDO_S    (7 * 24 * 3600)

#define HANDLER_FOUND_BYTES 512

/* Borrowed, for one thread. */
struct handler_options {
	const struct settings *settings;
	const struct own_addresses *own_addresses; /* with an address for commands */
	const GPtrArray *sources; /* of struct source *: the enabled ones */
	const struct catalog *phrases;
	struct renderer *renderer;
	GBytes *key; /* keys of the state directory (base/token.h) */
	const struct random_source *random;
	int64_t now;
};

enum handler_outcome {
	HANDLER_IGNORED, /* not to be answered, and nothing was done */
	HANDLER_LIMITED, /* past a limit: nothing is answered */
	HANDLER_ANSWERED,
	HANDLER_ASKED,     /* a confirmation went out */
	HANDLER_LEFT,      /* unsubscribed, in silence */
	HANDLER_CAME_BACK, /* something of ours; see the numbers */
	HANDLER_PASSED_ON, /* to the owner */
	HANDLER_CHECKED,   /* a mail of ours to ourselves; see found */
};

struct handler_report {
	enum handler_outcome outcome;
	const char *why;   /* of IGNORED and LIMITED; static; or NULL */
	bool is_changed;   /* the press is to look again */
	bool is_queued;    /* the post is to look */
	int64_t digest_id; /* of what came back, or 0 */
	int64_t ticket_id;
	char found[HANDLER_FOUND_BYTES]; /* of CHECKED, as probe_mail_format() has it */
};

/** "answered", "silent: automatic": for the letter's row. @return a new string */
char *handler_format_verdict(const struct handler_report *report);

/**
 * Handle a letter, in the caller's transaction.
 *
 * @param report  set on success
 * @return false when the store fails; then the caller rolls back
 */
bool handler_run(struct store *store, const struct handler_options *options,
    const struct inmail *mail, const struct receive_mail *envelope,
    struct handler_report *report, GError **error);

#endif
