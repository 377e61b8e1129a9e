/*
 * daemon.h - the main loop of paperboyd.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/clock.h"
#include "config/settings.h"
#include "service/log/log.h"

struct daemon_options {
	struct settings *settings; /* checked; taken, also on failure */
	const char *config;        /* their file; NULL: the installed one */
	const struct clock *clock;
	const char *credentials; /* $CREDENTIALS_DIRECTORY, or NULL */
	struct log *log;
};

/**
 * Run each stage once: paperboyd --once.
 *
 * @param is_clean  set on success: no source failed, no message waits, and not all mail
 *                  failed
 */
bool
daemon_run_once(const struct daemon_options *options, bool *is_clean, GError **error);

/** Run until SIGTERM or SIGINT.  SIGHUP and paperboyctl reload the configuration. */
bool daemon_run(const struct daemon_options *options, GError **error);
