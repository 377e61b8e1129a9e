/*
 * status.h - counts and times of the service, and the state of the daemon.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/settings.h"
#include "model/subscriber.h"
#include "service/delivery/mailer.h"
#include "service/state/clock_watch.h"
#include "store/admin/backup.h"
#include "store/core/instances.h"
#include "store/core/store.h"
#include "store/mail/bounces.h"
#include "store/mail/outbox.h"
#include "store/mail/rate_log.h"

/* Below this much free space nothing is sent, since results could not be stored. */
#define STATUS_DISK_MIN_BYTES (16 * INT64_C(1048576))

/* Free space below this is reported. */
#define STATUS_DISK_LOW_BYTES (200 * INT64_C(1048576))

/* A larger write-ahead log is reported: some reader prevents checkpoints. */
#define STATUS_WAL_HIGH_BYTES (64 * INT64_C(1048576))

/* The reply of a running daemon to "status".  Times are s, -1 for never. */
struct status_daemon {
	bool is_running;
	int64_t started_at;
	int64_t collected_at;  /* last completed poll of the sources */
	int64_t delivered_at;  /* last run in which all due mail was sent */
	char *receivers;       /* "lmtp:ok,maildir:failed", "none"; NULL: unknown */
	bool is_inbox_failing; /* received mail could not be processed */
	struct mailer_relay relay;
	char *relay_text; /* one line; NULL: unknown */
};

/** State of a daemon that is not running. */
#define STATUS_DAEMON_NONE       \
	((struct status_daemon){ \
	    .started_at = -1, .collected_at = -1, .delivered_at = -1})

/** Format the reply: one line. @return a new string */
char *status_daemon_format(const struct status_daemon *daemon);

/** Parse the reply; unknown words are ignored. @param daemon  to be cleared */
void status_daemon_parse(const char *line, struct status_daemon *daemon);
void status_daemon_clear(struct status_daemon *daemon);

/* Times are s, -1 for none. */
struct status {
	GPtrArray *sources; /* of struct source_status_source * */
	int64_t papers, filters;
	int64_t matches; /* found so far */
	int64_t waiting; /* matches that wait for a field (service/match/match.h) */
	int64_t people[SUBSCRIBER_GONE + 1]; /* by state */
	int64_t next_due;                    /* of a digest */
	/* The outbox by state. */
	int64_t fresh, sending, deferred, unknown, held, failed;
	int64_t failed_lately;   /* in the last day */
	int64_t held_by_restore; /* of those held */
	int64_t held_by_crash;
	struct outbox_message *oldest;          /* queued, not held; or NULL */
	struct outbox_message *oldest_deferred; /* or NULL */
	struct outbox_message *last_failed;     /* in the last day; or NULL */
	/* Limits of delivery, 0: none; what was sent; and when more can be, or -1. */
	int64_t per_hour, sent_in_hour;
	int64_t per_day, sent_in_day;
	int64_t next_in_day;
	/* Received mail. */
	int64_t messages, inbox_oldest_at; /* not processed yet */
	int64_t quarantined;
	int64_t skipped;         /* messages left in a mailbox */
	GPtrArray *skip_reasons; /* of char *: the oldest few */
	GPtrArray *unanswered;   /* of char *: "3 rate limited: replies-per-day" */
	struct bounce_summary bounces; /* messages returned in BOUNCE_OUTAGE_S */
	GPtrArray *bounce_domains;     /* struct bounce_domain *: many people bounced */
	GPtrArray *pauses;             /* struct domain_pause *: domains that refuse */
	/* Requests to confirm a subscription. */
	int64_t pending;                         /* sent, without a response */
	int64_t requested_in_hour[RATE_BUDGETS]; /* sent in the last hour */
	int64_t request_limit;                   /* of each of these */
	struct rate_log_dropped dropped;         /* above the limit */
	struct backup_restored_from restore;
	struct clock_jump jump; /* unconfirmed */
	int64_t paused_since;   /* digests, by the operator */
	/* The database is older than the mail that was sent
	 * (service/state/generation.h), and nobody has resolved that yet. */
	bool is_stale;
	bool is_superseded;      /* another machine has a newer copy */
	int64_t disk_free_bytes; /* available to this user */
	int64_t store_bytes, wal_bytes;
	char *coverage; /* one line of received lists; may be empty */
	/* Of a shared store; NULL for a local one. */
	GPtrArray *instances; /* struct instance * */
	GPtrArray *jobs;      /* struct job_holder * */
	int64_t store_now;    /* the time of leases */
	struct instances_standbys standbys;
};

/** @return false if the store fails; there is nothing to clear then */
bool status_load(struct store *store, const struct settings *settings, int64_t now,
    struct status *status, GError **error);

/** Number of instances with a lease; -1 for a local store. */
int64_t status_count_live(const struct status *status);

/** @param status  or zeroed */
void status_clear(struct status *status);
