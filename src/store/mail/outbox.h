/*
 * outbox.h - messages to send and their delivery status.
 *
 *   NEW, DEFERRED, UNKNOWN -> SENDING (the claim is committed first)
 *     -> SENT | DEFERRED | FAILED | UNKNOWN
 *   and CANCELLED when the subscriber left, HELD until an operator decides.
 *
 * A message in flight when the daemon is killed, or cut off after its final dot, may
 * have been accepted (RFC 1047).  Each such attempt is a possible copy and is counted
 * apart from deferrals: the message is sent again as the same bytes, after a wait that
 * grows with the count, and counts as delivered after OUTBOX_COPIES_MAX.  A message may
 * cause the crash of the daemon: after OUTBOX_CRASHES_ALONE crashes it is sent while
 * nothing else is in flight, so that a crash can be attributed to it, and it is HELD
 * after OUTBOX_CRASHES_HELD.
 *
 * A SENDING message belongs to the instance that claimed it (store/core/instances.h):
 * results of others are fenced, that is not recorded.
 *
 * Claims, results and takeovers run in store_transact_rows(), so that those of several
 * instances do not conflict.  Without SERIALIZABLE they are right for these reasons:
 *   - A message is changed by the transaction that has locked its row, on a condition
 *     that holds in its last version.  Claims lock what is due and leave out what is
 *     locked: two are disjoint.  Results lock what is SENDING and held.  What follows
 *     from them (digest, delivered papers, refused ones) is written by the same
 *     transaction, which still has that lock.
 *   - A claim keeps its instance from being deleted, and finds it.  A takeover deletes
 *     it first: all claims are committed and seen then, and none follows.
 *   - A serializable transaction that cancels, holds or deletes a message waits for its
 *     lock, and runs again if the message has changed since it was read.  Erasure must
 *     delete the message before the digest and the subscriber, to which it refers.
 *   - The subscriber and suppressions are only read.  If they change before the claim
 *     is committed, that is as if they changed after it: the recipient is the one
 *     before a change of address, and outbox_mark_cancelled() is asked before the
 * message is sent, in a later snapshot than the claim's.
 *
 * The papers of a digest count as delivered in the commit that records SENT, or that
 * ends an UNKNOWN message; those of a failed digest are available again.
 *
 * All other messages are system mail.  It is stored as sent, so that a retry sends the
 * same bytes, which may quote the user: they are deleted in the commit that ends it.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/* Maximum number of possible copies; then the message counts as delivered. */
#define OUTBOX_COPIES_MAX    5
/* Crashes with a message in flight after which it is sent alone. */
#define OUTBOX_CRASHES_ALONE 2
/* And after which it is HELD: three more, all of them alone. */
#define OUTBOX_CRASHES_HELD  (OUTBOX_CRASHES_ALONE + 3)

enum outbox_kind {
	OUTBOX_DIGEST,       /* to active subscribers only */
	OUTBOX_REPLY,        /* reply to a command */
	OUTBOX_CONFIRMATION, /* request for confirmation */
	OUTBOX_NOTICE,       /* without a preceding command */
};

/* Higher ones are claimed first: a mailing does not delay what somebody waits for. */
enum outbox_priority {
	OUTBOX_PRIORITY_DIGEST,
	OUTBOX_PRIORITY_NOW,   /* a digest of an immediate schedule */
	OUTBOX_PRIORITY_FIRST, /* the first digest of a subscriber */
	OUTBOX_PRIORITY_MAIL,  /* system mail */
};

/* A claimed message. */
struct outbox_job {
	int64_t id;
	enum outbox_kind kind;
	enum outbox_priority priority;
	int64_t digest_id;     /* or -1: system mail */
	int64_t subscriber_id; /* or -1 */
	const char *recipient;
	const char *address_key; /* of it */
	const char *sender; /* of system mail: envelope sender, "" is the null sender */
	const char *cache_key; /* of the bytes sent before, or NULL */
	int64_t queued_at;
	unsigned attempt;     /* this one, from 1 */
	unsigned copies;      /* earlier attempts that may have arrived */
	unsigned crashes;     /* earlier attempts during which the daemon was killed */
	bool was_unknown;     /* an earlier copy may have arrived */
	int64_t message_hash; /* set by the connection that sends the message; or -1 */
	bool is_cancelled;    /* the subscriber left: cancelled instead of claimed */
};

/* System mail to queue.  All borrowed. */
struct outbox_mail {
	enum outbox_kind kind; /* not a digest */
	int64_t subscriber_id; /* or 0: not a subscriber, or known by address only */
	const char *recipient; /* addr-spec, valid */
	const char
	    *address_key;   /* address_format_key() of it: suppression and erasure */
	const char *sender; /* envelope sender; "" is the null sender */
	GBytes *message;    /* headers with a Message-ID, and body */
	int64_t now;        /* s */
};

/**
 * Queue system mail, in the caller's transaction.  It is sent to any address that is
 * not suppressed, also to former and non-subscribers; see suppression_can_end().
 *
 * @param id  set on success
 * @return false with PB_ERROR_INPUT when it cannot be sent: over BOUNDS_STORED_BYTES,
 *         without Message-ID or empty line, with a bare CR or LF, a NUL, or a line over
 *         BOUNDS_LINE_BYTES
 */
bool outbox_add_mail(
    struct store *store, const struct outbox_mail *mail, int64_t *id, GError **error);

/** Find the bytes of a system mail. @param message  set; NULL when it has ended */
bool
outbox_find_mail(struct store *store, int64_t id, GBytes **message, GError **error);

struct outbox_claim {
	int64_t now;           /* s */
	unsigned limit;        /* maximum number of messages */
	bool is_idle;          /* nothing is in flight */
	const char *cache_key; /* recorded for messages that have none yet */
	GBytes *key;           /* keys of the state directory, for suppressions */
	/*
	 * Whether a message may go to this address now; if not, set the time to check
	 * again, s. NULL: all may.
	 */
	bool (*allow)(void *data, const char *recipient, int64_t *next_at);
	void *data;
};

/**
 * Claim messages that are due for the handle's instance, by priority, then longest due
 * first, in the caller's transaction.  An instance that was ended claims nothing.
 *
 * Digests of subscribers who are no longer active, and all mail to suppressed
 * addresses, are cancelled in the same commit and returned with is_cancelled.  A
 * message that allow() refuses is postponed.  One that is to be sent alone is claimed
 * only when nothing is in flight, and without any other.  Nothing is claimed while
 * another machine has a newer copy of the store (backup_is_superseded()), and no digest
 * while they are paused (outbox_load_pause()).
 *
 * @param is_more  set: there may be more due messages
 * @return of struct outbox_job *
 */
GPtrArray *outbox_claim(struct store *store, const struct outbox_claim *claim,
    bool *is_more, GError **error);

/** Whether a message is sent only while nothing else is in flight. */
bool outbox_is_sent_alone(const struct outbox_job *job);

/** Set is_cancelled of claimed messages that must not be sent any more: as in the
 * claim, or the subscriber was erased. */
bool outbox_mark_cancelled(struct store *store, GBytes *key,
    struct outbox_job *const *jobs, unsigned count, GError **error);

/* Result of one job. */
enum outbox_status {
	OUTBOX_SENT,
	OUTBOX_DEFERRED, /* retry at next_try_at */
	OUTBOX_RETURNED, /* not tried (the relay is down): does not count as an attempt
	                  */
	OUTBOX_UNKNOWN,  /* may have arrived; ended if next_try_at is -1 */
	OUTBOX_HELD,     /* may have arrived; waits until an operator decides */
	OUTBOX_FAILED,
	OUTBOX_REJECTED,  /* failed, and for what is in it */
	OUTBOX_CANCELLED, /* not tried: the person left since the claim */
};

struct outbox_result {
	int64_t id;
	enum outbox_status end;
	int64_t next_try_at;  /* s, for DEFERRED, RETURNED and UNKNOWN */
	bool was_unknown;     /* of the job: a RETURNED one goes back to UNKNOWN */
	unsigned copies;      /* of the message now */
	unsigned crashes;     /* of the message now */
	int code;             /* SMTP reply code, or -1 */
	int stage;            /* of a failure (enum smtp_stage), or -1 */
	char *reply;          /* one printable line, or NULL */
	int64_t message_hash; /* of the job */
	bool is_fenced; /* set: not recorded, another instance holds the message, or it
	                   was erased */
};

void outbox_result_free(struct outbox_result *result);

/**
 * Record results of messages that the handle's instance holds, in the caller's
 * transaction.
 *
 * @param results  of struct outbox_result *; is_fenced is set in each
 */
bool outbox_save_results(
    struct store *store, const GPtrArray *results, int64_t now, GError **error);

/**
 * Load the SENDING messages of the handle's instance.  While none is in flight, each
 * needs a result.
 *
 * @param key  as in struct outbox_claim
 * @return of struct outbox_job *
 */
GPtrArray *outbox_load_in_flight(struct store *store, GBytes *key, GError **error);

/**
 * Take over SENDING messages whose holder was deleted (instances_delete_expired()), in
 * the caller's transaction.  Each needs a result: it was in flight when its holder was
 * killed or cut off.
 */
GPtrArray *outbox_take_over(struct store *store, GBytes *key, GError **error);

/**
 * Make messages due that are to be tried in more than a day: no backoff is that long,
 * so the clock was wrong.
 */
bool outbox_retry_now(struct store *store, int64_t now, GError **error);

/**
 * Cancel the digests of a subscriber that are not in flight, in the caller's
 * transaction. System mail is still sent; the reply to an unsubscription is one.
 */
bool
outbox_cancel(struct store *store, int64_t subscriber_id, int64_t now, GError **error);

/**
 * Count the messages that the relay has, or may have, accepted, in intervals.
 *
 * @param since  the first time, s
 * @param step   of the intervals, s
 * @param add    called with the beginning of each interval that has messages
 */
bool outbox_foreach_sent(struct store *store, int64_t since, int64_t step,
    void (*add)(void *data, int64_t at, int64_t count), void *data, GError **error);

/**
 * Load since when digests are paused by the operator: none is claimed then, other mail
 * is.
 *
 * @param since  set, s; -1: they are not
 */
bool outbox_load_pause(struct store *store, int64_t *since, GError **error);

/** Pause digests. @param since  -1: resume */
bool outbox_save_pause(struct store *store, int64_t since, GError **error);

/** Time of the next attempt, s. @param at  -1: nothing is queued, or only paused */
bool outbox_load_next_try(struct store *store, int64_t *at, GError **error);

/* A line of paperboyctl queue. */
struct outbox_row {
	int64_t id;
	const char *kind;  /* "digest", ... */
	int64_t digest_id; /* or -1 */
	const char *recipient;
	const char *state;
	unsigned attempt;
	unsigned copies; /* that may have arrived */
	unsigned crashes;
	int64_t queued_at;
	int64_t next_try_at;  /* or -1 */
	int64_t ended_at;     /* or -1 */
	int code;             /* or -1 */
	const char *reply;    /* or NULL */
	const char *held_why; /* "restore", "operator", "crash"; NULL unless HELD */
};

struct outbox_filter {
	bool is_all;           /* including ended messages */
	const char *state;     /* or NULL for any */
	int64_t subscriber_id; /* or 0 for any */
};

/** Load a batch of rows, by id. @param after  the last id of the batch before, 0 first
 */
GPtrArray *outbox_load_rows(struct store *store, const struct outbox_filter *choice,
    int64_t after, unsigned limit, GError **error);

/**
 * Cancel a message that has not ended, in the caller's transaction.
 *
 * @param is_delivered  its papers count as delivered; else they are available again
 */
bool outbox_cancel_one(
    struct store *store, int64_t id, bool is_delivered, int64_t now, GError **error);

/*
 * ---- queue administration ----
 *
 * Callers check the state first, in the same transaction: a SENDING message belongs to
 * the mailer, an ended one cannot change.
 */

/* A message with its digest. */
struct outbox_message {
	int64_t id;
	const char *kind;      /* "digest", ... */
	int64_t digest_id;     /* or -1 */
	int64_t subscriber_id; /* or -1 */
	const char *recipient;
	const char *recipient_state; /* "active", ...; NULL: not a subscriber */
	const char *state;
	unsigned attempt;
	unsigned copies;  /* that may have arrived */
	unsigned crashes; /* of the daemon with it in flight */
	int64_t queued_at;
	int64_t next_try_at;   /* or -1 */
	int64_t claimed_at;    /* the last attempt, or -1 */
	int64_t ended_at;      /* or -1 */
	int code;              /* of the relay's last answer, or -1 */
	const char *reply;     /* that answer, or NULL */
	const char *cache_key; /* of the bytes that were sent first, or NULL */
	int64_t message_hash;  /* fingerprint of what was composed last, or -1 */
	const char *held_from; /* the state before HELD, or NULL */
	const char *held_why;  /* "restore", "operator", "crash", or NULL */
	/* Of a digest; else NULL, -1 and 0. */
	const char *slot;
	const char *date;
	const char *digest_state;
	int64_t created_at;
	int64_t papers;
	const char *newest_day; /* of its papers */
};

/** @return NULL with PB_ERROR_NOT_FOUND when there is no message with that number */
struct outbox_message *
outbox_load_message(struct store *store, int64_t id, GError **error);

/** Load a message as it is when no other transaction changes it, until the end of the
 * caller's. @return as outbox_load_message() */
struct outbox_message *
outbox_lock_message(struct store *store, int64_t id, GError **error);

/** Find the message of a digest. @param message  set; NULL when it was pruned */
bool outbox_find_digest(struct store *store, int64_t digest_id,
    struct outbox_message **message, GError **error);

/**
 * Load a batch of numbers of messages that have not ended, by number.
 *
 * @param state  or NULL for any
 * @return GArray of int64_t
 */
GArray *outbox_load_ids(struct store *store, const char *state, int64_t after,
    unsigned limit, GError **error);

/** Make a NEW, DEFERRED or UNKNOWN message due now. */
bool outbox_save_due(struct store *store, int64_t id, int64_t now, GError **error);

/** Hold a NEW, DEFERRED or UNKNOWN message. @param why "restore" or "operator" */
bool outbox_hold(struct store *store, int64_t id, const char *why, GError **error);

/**
 * Hold the message with a subscriber's digest for a slot, if it is NEW.
 *
 * @param slot  digest.slot
 * @param why   as for outbox_hold()
 */
bool outbox_hold_slot(struct store *store, int64_t subscriber_id, const char *slot,
    const char *why, GError **error);

/** Restore the previous state of a HELD message, as if it were queued now. */
bool outbox_release(struct store *store, int64_t id, int64_t now, GError **error);

/** Count messages that may have arrived and are not given up: SENDING, UNKNOWN, or HELD
 * after that. */
bool outbox_count_in_doubt(struct store *store, int64_t *count, GError **error);

/**
 * Find the oldest message that has not ended and is not HELD.
 *
 * @param is_deferred  only among DEFERRED messages
 * @param message      set; NULL when there is none
 */
bool outbox_find_oldest(struct store *store, bool is_deferred,
    struct outbox_message **message, GError **error);

/** Find the message that failed last, after a time. @param message  set; NULL for none
 */
bool outbox_find_last_failed(struct store *store, int64_t after,
    struct outbox_message **message, GError **error);

/** Count messages that FAILED after a time. */
bool outbox_count_failed_since(
    struct store *store, int64_t after, int64_t *count, GError **error);

/* ---- bounces ---- */

/* A failed message whose reply is not classified yet. */
struct outbox_failure {
	int64_t id;
	int64_t digest_id; /* or -1 */
	int64_t subscriber_id;
	bool is_current; /* was sent to the present address of the subscriber */
	int64_t ended_at;
	int stage;         /* enum smtp_stage */
	int code;          /* or -1 */
	const char *reply; /* or NULL */
};

/** Load unclassified failures of mail to subscribers. @return of struct outbox_failure
 */
GPtrArray *outbox_load_failures(struct store *store, unsigned limit, GError **error);
bool outbox_mark_classified(struct store *store, int64_t id, GError **error);

/**
 * Send a digest again that a report returned for our fault, with the same bytes: its
 * papers no longer count as delivered.
 *
 * @param is_requeued  set; false if it has not been SENT, or is older than `since`
 */
bool outbox_requeue_returned(struct store *store, int64_t digest_id, int64_t since,
    int64_t next_try_at, bool *is_requeued, GError **error);
