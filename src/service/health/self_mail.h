/*
 * self_mail.h - send a mail to ourselves, and wait until it was received.
 *
 * It has the header fields of digests, so that it is signed and changed on its way as
 * they are.  The running daemon receives it and stores the result (probe_mail.h).
 */
#ifndef PAPERBOY_SERVICE_HEALTH_SELF_MAIL_H
#define PAPERBOY_SERVICE_HEALTH_SELF_MAIL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/random.h"
#include "config/settings.h"
#include "service/inbound/probe_mail.h"
#include "service/setup/factory.h"
#include "store/core/store.h"

/* Borrowed. */
struct self_mail {
	const struct settings *settings;
	struct store *store;
	const struct clock *clock;
	const struct random_source *random;
	const struct factory_transport *transport;
	const char *link;   /* https link in List-Unsubscribe, or NULL */
	bool is_bare;       /* to commands.address, whatever commands.delimiter is */
	int64_t wait_s;     /* until it must have been received */
	const int *stop;    /* not 0: give up; or NULL */
	const int *stop_fd; /* likewise, of the transport (transport.h) */
};

enum self_mail_result {
	SELF_MAIL_RECEIVED,
	SELF_MAIL_REJECTED, /* by the relay, or it cannot be composed */
	SELF_MAIL_LOST,     /* accepted by the relay, but not received */
};

/**
 * Send a mail and wait for it; needs commands.address and a running daemon.
 *
 * @param mail    set for RECEIVED; to be cleared
 * @param reason  set for REJECTED; owned by the caller
 */
enum self_mail_result self_mail_run(
    const struct self_mail *self_mail, struct probe_mail *mail, char **reason);

#endif
