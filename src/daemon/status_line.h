/*
 * status_line.h - the STATUS= line of sd_notify(3), for systemctl status.
 */
#pragma once

#include <stdint.h>

#include "service/delivery/mailer.h"

struct status_line {
	const char *activity;   /* "sending"; NULL: idle */
	int64_t next_digest_at; /* s; -1: none is due */
	int64_t waiting;        /* messages */
	struct mailer_relay relay;
};

/** @param waiting  set to the number of unsent messages that are not held */
bool status_line_load(
    struct store *store, int64_t *next_digest_at, int64_t *waiting, GError **error);

/** "idle; next digest 2026-11-22 07:30 UTC; 12 messages queued". @return a new string
 */
char *status_line_format(const struct status_line *status_line);
