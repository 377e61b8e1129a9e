/*
 * handler.h - process an inbound message, with one reply at most.
 *
 * The auto-reply policy identifies the sender, tokens in addresses prove more, the
 * commands run, and the reply goes into the outbox within the rate limits.  All of it
 * is part of the caller's transaction, which also marks the message as done: it is
 * processed once and answered once.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "base/token.h"
#include "config/settings.h"
#include "model/inmail.h"
#include "receive/receiver.h"
#include "render/catalog.h"
#include "render/renderer.h"
#include "service/state/own_addresses.h"
#include "store/core/store.h"

/* Validity of confirmations. */
#define HANDLER_CONFIRM_S (72 * 3600)
#define HANDLER_ERASE_S   3600
#define HANDLER_UNDO_S    (7 * 24 * 3600)
/* Of invitations, and of requests that the owner decides about. */
#define HANDLER_OTHERS_S  (14 * 24 * 3600)

#define HANDLER_CHECK_BYTES 1024

/* Borrowed, for one thread. */
struct handler_options {
	const struct settings *settings;
	const struct own_addresses *own_addresses; /* with an address for commands */
	const GPtrArray *sources; /* struct source *, the enabled ones */
	const struct catalog *phrases;
	struct renderer *renderer;
	GBytes *key; /* keys of the state directory (base/token.h) */
	const struct random_source *random;
	int64_t now;
};

enum handler_outcome {
	HANDLER_IGNORED, /* no reply, no effect */
	HANDLER_LIMITED, /* no reply: a rate limit */
	HANDLER_REPLIED,
	HANDLER_CONFIRMING,   /* asked to confirm */
	HANDLER_UNSUBSCRIBED, /* without a reply */
	HANDLER_BOUNCED,      /* a bounce, complaint or other report; see reason */
	HANDLER_FORWARDED,    /* to the owner */
	HANDLER_CHECK_MAIL,   /* mail of paperboyctl check, see check */
};

struct handler_report {
	enum handler_outcome outcome;
	const char *reason; /* of IGNORED, LIMITED and BOUNCED, or NULL; static */
	bool is_changed;    /* filters or due times: the scheduler has to run */
	bool is_queued;     /* the mailer has to run */
	char check[HANDLER_CHECK_BYTES]; /* of CHECK_MAIL, by check_mail_format() */
	/* Token of the reply that restores a removed subscription, or "". */
	char undo[TOKEN_RANDOM_LENGTH + 1];
};

/** Format the verdict in the inbox: "replied", "ignored: automatic". */
char *handler_format_verdict(const struct handler_report *report);

/**
 * Process a message, in the caller's transaction.
 *
 * @param report  set on success
 * @return false if the store fails; then the caller rolls back
 */
bool handler_run(struct store *store, const struct handler_options *options,
    const struct inmail *mail, const struct receive_mail *envelope,
    struct handler_report *report, GError **error);
