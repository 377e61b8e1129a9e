/*
 * status.h - everything that one screen tells of how paperboy is doing.
 */
#ifndef PAPERBOY_SERVICE_HEALTH_STATUS_H
#define PAPERBOY_SERVICE_HEALTH_STATUS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/settings.h"
#include "model/subscriber.h"
#include "service/state/clock_watch.h"
#include "store/core/backup.h"
#include "store/core/store.h"
#include "store/mail/outbox_queue.h"
#include "store/mail/rate_log.h"

/* With less room than this on the disk nothing is sent either, octets. */
#define STATUS_DISK_LEAST (16 * INT64_C(1048576))

/* Less room than this on the disk is told, octets. */
#define STATUS_DISK_FLOOR (200 * INT64_C(1024) * 1024)

/* A log that has grown beyond this is told: somebody reads and does not end. */
#define STATUS_LOG_MOST (64 * INT64_C(1024) * 1024)

/* What a running daemon says of itself.  Times are s, -1 for never. */
struct status_daemon {
	bool is_running;
	int64_t started_at;
	int64_t collected_at;
	int64_t delivered_at;
	char *relay;     /* owned by the caller; NULL when it is not running */
	char *receivers; /* "lmtp:ok,maildir:failed", "none"; the same */
};

enum status_problem_kind {
	STATUS_PROBLEM_SOURCE,
	STATUS_PROBLEM_RELAY,
	STATUS_PROBLEM_QUARANTINE,
	STATUS_PROBLEM_DISK,
	STATUS_PROBLEM_CRASH,
	STATUS_PROBLEM_CLOCK,
	STATUS_PROBLEM_STALE, /* the database is older than the mail that was sent */
	STATUS_PROBLEM_DROPPED,
	STATUS_PROBLEM_OTHER,
};

/* What wants a person. */
struct status_problem {
	enum status_problem_kind kind;
	char *about;   /* the source's name; or NULL */
	int64_t since; /* s; -1 when not known */
	char *text;    /* with what to do */
};

struct status {
	GPtrArray *sources; /* of struct source_status_source * */
	int64_t papers, filters, matches, waiting;
	int64_t people[SUBSCRIBER_GONE + 1]; /* by state */
	int64_t next_due;                    /* of an edition, or -1 */
	int64_t fresh, sending, deferred, unknown, held, failed;
	int64_t failed_lately;             /* of the last day */
	int64_t messages, inbox_oldest_at; /* that wait; -1 for none */
	int64_t quarantined;               /* letters */
	int64_t skipped;                   /* messages that stay in a mailbox */
	int64_t pending;    /* confirmations that were asked for and not given */
	int64_t asked_hour; /* strangers who were asked for one in the last hour */
	int64_t asked_most; /* and how many may be */
	struct rate_log_dropped dropped; /* requests beyond that */
	int64_t held_by_restore;         /* messages */
	int64_t held_by_crash;           /* likewise */
	struct outbox_message *oldest;   /* waits longest; NULL when nothing does */
	struct outbox_message *deferred_first; /* or NULL */
	struct backup_restored_from past;
	struct clock_jump jump;  /* of the clock, that is not confirmed */
	bool is_stale;           /* and paperboyd has not noticed yet */
	int64_t disk_free_bytes; /* for the daemon's user */
	int64_t store_bytes, log_bytes;
	char *coverage;      /* which lists came, in one line; may be empty */
	GPtrArray *problems; /* of struct status_problem * */
};

/** @return false when the store fails; then nothing is to be cleared */
bool status_load(struct store *store, const struct settings *settings,
    const struct status_daemon *daemon, int64_t now, struct status *status,
    GError **error);

void status_clear(struct status *status);

#endif
