/*
 * daemon.h - the whole program at work: once, or day after day.
 */
#ifndef PAPERBOY_DAEMON_DAEMON_H
#define PAPERBOY_DAEMON_DAEMON_H

#include <glib.h>
#include <stdbool.h>

#include "base/clock.h"
#include "config/settings.h"

/* What both ways of running have in common. */
struct daemon_options {
	const struct settings *settings;
	const struct clock *clock;
	const char *credentials; /* $CREDENTIALS_DIRECTORY, or NULL */
};

/**
 * Collect, match, make editions and send what is due, and come back.
 *
 * @param is_clean  set on success: no source failed, no message waits, and not all
 * failed
 */
bool
daemon_run_once(const struct daemon_options *options, bool *is_clean, GError **error);

/** Work until SIGTERM or SIGINT. */
bool daemon_run(const struct daemon_options *options, GError **error);

#endif
