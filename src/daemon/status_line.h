/*
 * status_line.h - what goes on, in one line for systemctl status.
 */
#ifndef PAPERBOY_DAEMON_STATUS_LINE_H
#define PAPERBOY_DAEMON_STATUS_LINE_H

#include <stdint.h>

#include "service/delivery/mailer.h"

struct status_line {
	const char *doing;      /* "sending", NULL: nothing */
	int64_t next_digest_at; /* s; -1: none is due */
	int64_t waiting;        /* messages */
	struct mailer_relay relay;
};

/** Ask the store. @param waiting  messages that are to be sent */
bool status_line_load(
    struct store *store, int64_t *next_digest_at, int64_t *waiting, GError **error);

/** "idle; next digest 2026-11-22 07:30 UTC; 12 messages wait". @return a new string */
char *status_line_format(const struct status_line *status_line);

#endif
