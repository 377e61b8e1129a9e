/*
 * inbox_process.h - letters: stored as they come, read by a process of their own,
 * handed on.
 *
 * What comes is stored first, whatever it is, and the receiver by which it came is told
 * only then that it is here.  Later each letter is read
 * (service/inbound/parser_process.h) and given to a handler inside the transaction that
 * marks it done: what it brought about, the answer, and that it was handled are one
 * commit.
 */
#ifndef PAPERBOY_SERVICE_INBOUND_INBOX_PROCESS_H
#define PAPERBOY_SERVICE_INBOUND_INBOX_PROCESS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/inmail.h"
#include "receive/receiver.h"
#include "service/inbound/parser_process.h"
#include "store/core/store.h"

/* A letter that cannot be read is tried so often, and then quarantined. */
#define INBOX_PROCESS_TRIES 3

/* So often paperboyd may die with it in hand.  More, since most deaths are not the
 * letter's: a machine that is switched off meets some letter, too. */
#define INBOX_PROCESS_CRASHES 10

/* After the first failed try it waits so long, after the second four times that; a
 * refusal, which will not change, waits for nothing. */
#define INBOX_PROCESS_WAIT_S 10

/* How letters are stored. */
struct inbox_process_rules {
	const char *state_dir;
	int64_t disk_floor_bytes; /* with less room than that they are to come later */
	/* Of mailboxes that tell no envelope: the field with its recipient, topmost
	 * only; NULL or "" for none. */
	const char *recipient_header;
};

/**
 * Store a letter and commit it.
 *
 * @param receiver      of the mailbox
 * @param is_fresh  set on success: false when it was here before
 * @return false with PB_ERROR_TEMPORARY when it has to come later: the store is busy or
 * fails, the disk is nearly full; PB_ERROR_LIMIT when it is larger than
 * BOUNDS_MAIL_BYTES
 */
bool inbox_process_store(struct store *store, const struct inbox_process_rules *rules,
    const char *receiver, const struct receive_mail *mail, int64_t now, bool *is_fresh,
    GError **error);

/**
 * Record that a message stays in its mailbox, and store its header to be answered.
 *
 * @param name      by which the mailbox finds it again
 * @param head      of a message that is too large; NULL: it gets no answer
 * @param is_new    set on success: false when it was recorded before
 * @param is_fresh  set on success: whether the header is to be handled now
 * @return false with PB_ERROR_TEMPORARY: nothing is recorded
 */
bool inbox_process_skip(struct store *store, const struct inbox_process_rules *rules,
    const char *receiver, const char *name, const struct receive_mail *head,
    const char *reason, int64_t now, bool *is_new, bool *is_fresh, GError **error);

/**
 * Do what a letter asks for, within the caller's transaction.
 *
 * @param verdict  may be set on success: what became of it, in a few words of ours
 *                 without addresses; g_free() by the caller
 * @return false with PB_ERROR_TEMPORARY when nothing is to be held against the letter;
 * any other error counts as a failed try
 */
typedef bool (*inbox_handler)(void *data, struct store *store,
    const struct inmail *mail, const struct receive_mail *envelope, char **verdict,
    GError **error);

/** The handler while there is no other: the verdict is "no handler". */
bool
inbox_process_noop_handler(void *data, struct store *store, const struct inmail *mail,
    const struct receive_mail *envelope, char **verdict, GError **error);

/*
 * A letter at which the program itself dies would be tried for ever.  So a try of one
 * that has waited since before the program began is counted before it begins, up to
 * INBOX_PROCESS_CRASHES.
 */
struct inbox_process_options {
	struct parser_process_options reading;
	int64_t waited_id; /* inbox_process_load_oldest_waiting(); 0: none has waited */
	inbox_handler handle;
	void *data;      /* of the handler */
	unsigned limit;  /* letters in one run; 0: all that are due */
	int64_t time_ms; /* after that no other is begun; 0: no such limit */
	const int *stop; /* not 0: come back after the letter in hand; or NULL */
};

struct inbox_process_report {
	unsigned handled;
	unsigned failed;      /* tries */
	unsigned quarantined; /* of them the last ones */
	bool is_more;         /* the limit, the time or the stop ended the run */
};

/**
 * Read and hand on letters that are due, the oldest first, one transaction each.
 *
 * @param report  increased, also on failure
 * @return false when the store or the machine fails, PB_ERROR_PERMANENT when letters
 * cannot be read at all; nothing is held against the letter in hand
 */
bool inbox_process_run(struct store *store, const struct inbox_process_options *options,
    int64_t now, struct inbox_process_report *report, GError **error);

/**
 * Which letters have waited since before the program began; to be asked then.
 *
 * @param id  the newest of them, or 0
 */
bool
inbox_process_load_oldest_waiting(struct store *store, int64_t *id, GError **error);

/** When the next letter is due. @param at  s; -1: none waits */
bool inbox_process_load_due(struct store *store, int64_t *at, GError **error);

#endif
