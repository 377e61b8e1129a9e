/*
 * checkup.h - a monthly report to each subscriber on filters that could be better.
 *
 * It comes at most once a month, on a day of the month by the subscriber's id, at the
 * first slot of the subscriber's schedule from that day on, and only to active
 * subscribers and if there is something to report.  The first one comes a month or two
 * after the subscription (subscribers_insert()).  Each point is a proposal
 * (store/subscriber/proposals.h), so that a reply of one word settles it.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/subscriber.h"
#include "render/catalog.h"
#include "service/delivery/system_mail.h"

/* Filters and subscriptions that are newer are left out. */
#define CHECKUP_NEW_DAYS 30

/* A report that is later, after a pause or an outage, waits for the next month. */
#define CHECKUP_LATE_S (2 * 86400)

/* Maximum number of points in a report. */
#define CHECKUP_POINTS_MAX 8

struct checkup {
	struct system_mailer mailer; /* with store and time */
	GBytes *key;                 /* keys of the state directory */
	const struct catalog *catalog;
};

struct checkup_report {
	unsigned due;  /* subscribers whose filters were looked at */
	unsigned sent; /* of these, with something to report */
};

/**
 * Send a mail that nobody asked for, with the links to leave, in the caller's
 * transaction.
 *
 * @param id  of the Message-ID; NULL: a random one
 */
bool
checkup_send_letter(const struct checkup *checkup, const struct subscriber *subscriber,
    const char *subject, const char *id, const char *text, GError **error);

/**
 * Send the reports that are due; each is one commit.
 *
 * @param time_ms  stop after this time; 0: no limit
 * @param next_at  set to when to run again, s; -1: never
 */
bool checkup_run(const struct checkup *checkup, unsigned time_ms,
    struct checkup_report *report, int64_t *next_at, GError **error);
