/*
 * intake.h - letters: stored as they come, read by a process of their own, handed on.
 *
 * What comes is stored first, whatever it is, and the road by which it came is told
 * only then that it is here.  Later each letter is read (service/reading.h) and given
 * to a handler inside the transaction that marks it done: what it brought about, the
 * answer, and that it was handled are one commit.
 */
#ifndef PAPERBOY_SERVICE_INTAKE_H
#define PAPERBOY_SERVICE_INTAKE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "mailbox/mailbox.h"
#include "model/letter.h"
#include "service/reading.h"
#include "store/store.h"

/* A letter that cannot be read is tried so often, and then quarantined. */
#define INTAKE_TRIES 3

/* So often paperboyd may die with it in hand.  More, since most deaths are not the
 * letter's: a machine that is switched off meets some letter, too. */
#define INTAKE_DEATHS 10

/* After the first failed try it waits so long, after the second four times that; a
 * refusal, which will not change, waits for nothing. */
#define INTAKE_WAIT_S 10

/* How letters are stored. */
struct intake_rules {
	const char *state_dir;
	int64_t disk_floor_bytes; /* with less room than that they are to come later */
	/* Of mailboxes that tell no envelope: the field with its recipient, topmost
	 * only; NULL or "" for none. */
	const char *recipient_header;
};

/**
 * Store a letter and commit it.
 *
 * @param road      of the mailbox
 * @param is_fresh  set on success: false when it was here before
 * @return false with PB_ERROR_TEMPORARY when it has to come later: the store is busy or
 * fails, the disk is nearly full; PB_ERROR_LIMIT when it is larger than
 * BOUNDS_LETTER_BYTES
 */
bool
intake_save(struct store *store, const struct intake_rules *rules, const char *road,
    const struct mailbox_letter *letter, int64_t now, bool *is_fresh, GError **error);

/**
 * Record that a message stays in its mailbox, and store its header to be answered.
 *
 * @param name      by which the mailbox finds it again
 * @param head      of a message that is too large; NULL: it gets no answer
 * @param is_new    set on success: false when it was recorded before
 * @param is_fresh  set on success: whether the header is to be handled now
 * @return false with PB_ERROR_TEMPORARY: nothing is recorded
 */
bool intake_skip(struct store *store, const struct intake_rules *rules,
    const char *road, const char *name, const struct mailbox_letter *head,
    const char *reason, int64_t now, bool *is_new, bool *is_fresh, GError **error);

/* What is known of a letter beside what it says.  Borrowed for the call. */
struct intake_envelope {
	int64_t id;       /* of the letter's row */
	const char *road; /* "lmtp", "maildir" or "imap" */
	/*
	 * Envelope sender: "" is the null one, NULL is not told.  Where the road
	 * does not tell it, that is the topmost Return-Path.
	 */
	const char *sender;
	const char *recipient; /* envelope recipients, one a line; NULL: not known */
	int64_t received_at;   /* s */
	bool is_too_large;     /* only the header is known: it is in a mailbox still */
};

/**
 * Do what a letter asks for, within the caller's transaction.
 *
 * @param verdict  may be set on success: what became of it, in a few words of ours
 *                 without addresses; g_free() by the caller
 * @return false with PB_ERROR_TEMPORARY when nothing is to be held against the letter;
 * any other error counts as a failed try
 */
typedef bool (*intake_handler)(void *data, struct store *store,
    const struct letter *letter, const struct intake_envelope *envelope, char **verdict,
    GError **error);

/** The handler while there is no other: the verdict is "no handler". */
bool intake_handle_nothing(void *data, struct store *store, const struct letter *letter,
    const struct intake_envelope *envelope, char **verdict, GError **error);

/*
 * A letter at which the program itself dies would be tried for ever.  So a try of one
 * that has waited since before the program began is counted before it begins, up to
 * INTAKE_DEATHS.
 */
struct intake_options {
	struct reading_options reading;
	int64_t waited_id; /* intake_load_waited(); 0: none has waited */
	intake_handler handle;
	void *data;      /* of the handler */
	unsigned limit;  /* letters in one run; 0: all that are due */
	int64_t time_ms; /* after that no other is begun; 0: no such limit */
	const int *stop; /* not 0: come back after the letter in hand; or NULL */
};

struct intake_report {
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
bool intake_run(struct store *store, const struct intake_options *options, int64_t now,
    struct intake_report *report, GError **error);

/**
 * Which letters have waited since before the program began; to be asked then.
 *
 * @param id  the newest of them, or 0
 */
bool intake_load_waited(struct store *store, int64_t *id, GError **error);

/** When the next letter is due. @param at  s; -1: none waits */
bool intake_load_due(struct store *store, int64_t *at, GError **error);

#endif
