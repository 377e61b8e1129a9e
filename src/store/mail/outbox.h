/*
 * outbox.h - messages to send and what became of them.
 *
 *   NEW, DEFERRED, UNKNOWN -> SENDING (the claim is committed first)
 *     -> SENT | DEFERRED | FAILED | UNKNOWN
 *   and CANCELLED when the person left, HELD when an operator must look.
 *
 * A message in flight when the daemon is killed, or cut off after its final dot, may
 * have been accepted (RFC 1047).  Each such attempt is a possible copy and is counted
 * apart from deferrals: the message is sent again as the same bytes, after a wait that
 * grows with the count, and counts as delivered after OUTBOX_COPIES_MAX.  A message may
 * itself be what kills the daemon: after OUTBOX_CRASHES_ALONE crashes it is sent while
 * nothing else is in flight, so that a crash can be attributed to it, and it is HELD
 * after OUTBOX_CRASHES_HELD.
 *
 * A digest's papers count as delivered in the commit that records SENT, or
 * that gives an UNKNOWN message up; a digest that fails frees its papers.
 *
 * What is no digest is a letter.  It is stored as it goes out, so that it goes out
 * again as the same octets, and is claimed before digests: somebody waits for it.  Its
 * octets, which may be a person's own words, go in the commit that ends it.
 */
#ifndef PAPERBOY_STORE_MAIL_OUTBOX_H
#define PAPERBOY_STORE_MAIL_OUTBOX_H

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
	OUTBOX_DIGEST,       /* only to who is active */
	OUTBOX_ANSWER,       /* to what somebody wrote */
	OUTBOX_CONFIRMATION, /* asks whether it was them */
	OUTBOX_NOTICE,       /* tells of something that they did not just ask for */
};

/** As in the store, and for people: "digest". */
const char *outbox_kind_get_name(enum outbox_kind kind);

/* A message that was claimed: it is ours to send, once. */
struct outbox_job {
	int64_t id;
	enum outbox_kind kind;
	int64_t digest_id;     /* or -1: a letter */
	int64_t subscriber_id; /* or -1: a stranger */
	char *recipient;
	char *sender;    /* of a letter: where bounces go, "" is the null sender */
	char *cache_key; /* of the bytes sent before, or NULL */
	int64_t queued_at;
	unsigned attempt; /* this one, from 1 */
	unsigned copies;  /* of earlier attempts, that may have arrived */
	unsigned crashes; /* earlier attempts during which the daemon was killed */
	bool was_unknown; /* an earlier copy may have arrived */
	int64_t
	    message_hash; /* fingerprint of what is composed, set by who does; or -1 */
	bool is_wanted; /* false: the person left, the message is cancelled, not claimed
	                 */
};

void outbox_job_free(struct outbox_job *job);

/* A letter to be sent.  All borrowed. */
struct outbox_mail {
	enum outbox_kind kind; /* not a digest */
	int64_t
	    subscriber_id; /* or 0: a stranger, or who is known by the address alone */
	const char *recipient; /* addr-spec, valid */
	const char
	    *address_key;   /* address_format_key() of it: suppression and erasure */
	const char *sender; /* where bounces go; "" is the null sender */
	GBytes *message;    /* all of it: headers with their Message-ID, and body */
	int64_t now;        /* s */
};

/**
 * Put a letter into the outbox, in the caller's transaction.  It goes to strangers and
 * to people in any state, but not to an address that is suppressed.
 *
 * @param id  set on success
 * @return false with PB_ERROR_INPUT when it cannot be sent as it is: over
 *         BOUNDS_STORED_BYTES, an empty line or a Message-ID missing, a CR or LF
 *         alone, a NUL, or a line over BOUNDS_LINE_BYTES
 */
bool outbox_add_mail(
    struct store *store, const struct outbox_mail *mail, int64_t *id, GError **error);

/** Find the bytes of a system mail. @param message  set; NULL when it has ended */
bool
outbox_find_mail(struct store *store, int64_t id, GBytes **message, GError **error);

/* Which messages to claim. */
struct outbox_claim {
	int64_t now;           /* s */
	unsigned limit;        /* maximum number of messages */
	bool is_idle;          /* nothing is in flight */
	const char *cache_key; /* recorded for messages that have none yet */
	GBytes *key;           /* the secret of the state directory, for suppressions */
	/* Whether a message may go to this address now; if not, set the time to ask
	 * again, s.  NULL: all may. */
	bool (*allow)(void *data, const char *recipient, int64_t *next_at);
	void *data;
};

/**
 * Claim messages that are due, letters first, then longest due first, in one commit.
 *
 * Digests of people who are no longer active, and all that goes to a suppressed
 * address, are cancelled in the same one, and are returned with is_wanted false.  One
 * that allow() refuses is postponed.  One that has to be sent alone is claimed only
 * when nothing is in flight, and then without any other.
 *
 * @param is_more  set: others that are due were not looked at
 * @return of struct outbox_job *
 */
GPtrArray *outbox_claim(struct store *store, const struct outbox_claim *claim,
    bool *is_more, GError **error);

/** Whether a message is to be sent while nothing else is in flight. */
bool outbox_is_sent_alone(const struct outbox_job *job);

/** Load the counter that each claim advances in its commit. */
bool outbox_load_generation(struct store *store, int64_t *generation, GError **error);

/** Is a claimed job still wanted?  As in the claim; or the person was forgotten. */
bool outbox_is_wanted(struct store *store, const struct outbox_job *job, GBytes *key,
    bool *is_wanted, GError **error);

/* What became of one job. */
enum outbox_status {
	OUTBOX_SENT,
	OUTBOX_DEFERRED, /* to be tried again at next_try_at */
	OUTBOX_RETURNED, /* not tried at all (the relay is down): the attempt is not
	                    counted */
	OUTBOX_UNKNOWN,  /* may have arrived; next_try_at -1 gives it up */
	OUTBOX_HELD,     /* likewise, but an operator has to look */
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
	unsigned crashes;     /* likewise */
	int code;             /* SMTP reply code, or -1 */
	char *reply;          /* one printable line, or NULL */
	int64_t message_hash; /* of the job */
};

void outbox_result_free(struct outbox_result *result);

/** Record results in one commit. @param results of struct outbox_result * */
bool outbox_save_results(
    struct store *store, const GPtrArray *results, int64_t now, GError **error);

/**
 * Load messages that are SENDING.  At start, those are the ones that were in flight
 * when the daemon was killed: each needs a result.
 *
 * @param key  as in struct outbox_claim
 * @return of struct outbox_job *
 */
GPtrArray *outbox_load_in_flight(struct store *store, GBytes *key, GError **error);

/**
 * Make due at once what waits for more than a day from now: no wait is that
 * long, so the clock was wrong when it was written.
 */
bool outbox_retry_now(struct store *store, int64_t now, GError **error);

/**
 * Cancel all digests that are not under way for a person; for the caller's transaction.
 * Letters go: what tells that somebody has left is one.
 */
bool
outbox_cancel(struct store *store, int64_t subscriber_id, int64_t now, GError **error);

/** When something is to be tried next. @param at -1 for never */
bool outbox_load_next_try(struct store *store, int64_t *at, GError **error);

/* A line for the operator. */
struct outbox_row {
	int64_t id;
	char *kind;        /* "digest", ... */
	int64_t digest_id; /* or -1 */
	char *recipient;
	char *state;
	unsigned attempt;
	unsigned copies; /* that may have arrived */
	unsigned crashes;
	int64_t queued_at;
	int64_t next_try_at; /* or -1 */
	int64_t ended_at;    /* or -1 */
	int code;            /* or -1 */
	char *reply;         /* or NULL */
	char *held_why;      /* "restore", "operator", "crash"; NULL unless HELD */
};

void outbox_row_free(struct outbox_row *row);

/* Which rows to load. */
struct outbox_filter {
	bool is_all;           /* also what has ended */
	const char *state;     /* or NULL for any */
	int64_t subscriber_id; /* or 0 for any */
};

/** Load a page of rows, by id. @param after  the last id of the page before, 0 first */
GPtrArray *outbox_load_rows(struct store *store, const struct outbox_filter *choice,
    int64_t after, unsigned limit, GError **error);

/**
 * End a message that has not ended, in the caller's transaction.
 *
 * @param is_delivered  its papers count as read; else they are free again
 */
bool outbox_cancel_one(
    struct store *store, int64_t id, bool is_delivered, int64_t now, GError **error);

/** Count messages that have not ended, in a state such as "DEFERRED". */
bool
outbox_count(struct store *store, const char *state, int64_t *count, GError **error);

/** Count messages that were given up, as long as they are kept (two weeks). */
bool outbox_count_failed(struct store *store, int64_t *count, GError **error);

/** Forget up to a limit of messages that ended before a time. @param count set */
bool outbox_prune(struct store *store, int64_t before, unsigned limit, unsigned *count,
    GError **error);

#endif
