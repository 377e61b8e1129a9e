/*
 * daemon.h - the whole program at work: once, or day after day.
 */
#ifndef PAPERBOY_DAEMON_DAEMON_H
#define PAPERBOY_DAEMON_DAEMON_H

#include <glib.h>
#include <stdbool.h>

#include "base/clock.h"
#include "config/settings.h"
#include "service/log/log.h"

/* What both ways of running have in common. */
struct daemon_options {
	struct settings *settings; /* checked; taken, also on failure */
	const char *config; /* where they are from; NULL: where it is installed */
	const struct clock *clock;
	const char *credentials; /* $CREDENTIALS_DIRECTORY, or NULL */
	struct log *log;
};

/**
 * Collect, match, make editions and send what is due, and come back.
 *
 * @param is_clean  set on success: no source failed, no message waits, and not all
 * failed
 */
bool
daemon_run_once(const struct daemon_options *options, bool *is_clean, GError **error);

/**
 * Work until SIGTERM or SIGINT.  On SIGHUP, or when paperboyctl asks for it, the
 * configuration is read again; a bad one changes nothing.
 */
bool daemon_run(const struct daemon_options *options, GError **error);

#endif
