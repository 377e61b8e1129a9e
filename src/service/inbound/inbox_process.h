/*
 * inbox_process.h - store inbound messages, and process them in order.
 *
 * A message is stored and committed before its receiver acknowledges it.  Later it is
 * parsed (parser_process.h) and given to the handler in the transaction that marks it
 * done: its effects, the reply and the mark are one commit.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/inmail.h"
#include "receive/receiver.h"
#include "service/inbound/parser_process.h"
#include "store/core/store.h"

/* Failed tries after which a message is quarantined. */
#define INBOX_PROCESS_TRIES 3

/* Crashes during a message after which it is quarantined; more than tries, since the
 * message is rarely the cause: the machine may have been switched off. */
#define INBOX_PROCESS_CRASHES 10

/* Delay of the second try; the third waits four times as long. */
#define INBOX_PROCESS_WAIT_S 10

/* Rules for storing messages. */
struct inbox_process_rules {
	const char *state_dir;
	int64_t min_free_bytes; /* with less free space messages are deferred */
	/* Header field with the recipient if there is no envelope, the topmost one;
	 * NULL or "": none. */
	const char *recipient_header;
};

/**
 * Store a message and commit it.
 *
 * @param receiver   name of the receiver
 * @param is_stored  set on success: false for a duplicate
 * @return false with PB_ERROR_TEMPORARY if it has to be deferred (the store fails or is
 * busy, the disk is nearly full); PB_ERROR_LIMIT if it is larger than BOUNDS_MAIL_BYTES
 */
bool inbox_process_store(struct store *store, const struct inbox_process_rules *rules,
    const char *receiver, const struct receive_mail *mail, int64_t now, bool *is_stored,
    GError **error);

/**
 * Record a message that the receiver skips, and store its header for a reply.
 *
 * @param name       of the message in its mailbox
 * @param head       header of a message that is too large; NULL: no reply
 * @param is_new     set on success: false if it was recorded before
 * @param is_stored  set on success: whether the header was stored
 * @return false with PB_ERROR_TEMPORARY: nothing is recorded
 */
bool inbox_process_skip(struct store *store, const struct inbox_process_rules *rules,
    const char *receiver, const char *name, const struct receive_mail *head,
    const char *reason, int64_t now, bool *is_new, bool *is_stored, GError **error);

/**
 * Process a message, in the caller's transaction: part of a work function
 * (store_transact()).
 *
 * @param envelope  sender from the topmost Return-Path if the receiver has none
 * @param verdict   may be set on success to a few words without addresses; owned by
 *                  the caller
 * @return false with PB_ERROR_TEMPORARY if the message is not the cause; any other
 * error is a failed try
 */
typedef bool (*inbox_handler)(void *data, struct store *store,
    const struct inmail *mail, const struct receive_mail *envelope, char **verdict,
    GError **error);

/** Handler without an address for commands: the verdict is "no handler". */
bool
inbox_process_noop_handler(void *data, struct store *store, const struct inmail *mail,
    const struct receive_mail *envelope, char **verdict, GError **error);

struct inbox_process_options {
	struct parser_process_options parser;
	/* Last message stored before the program started, 0: none.  Tries of these are
	 * counted when they start: one of them may have crashed the program. */
	int64_t backlog_id;
	inbox_handler handle;
	void *data;      /* for the handler */
	unsigned limit;  /* messages in one run; 0: all that are due */
	int64_t time_ms; /* no new message is started after that; 0: no limit */
	const int *stop; /* not 0: return after the current message; or NULL */
};

struct inbox_process_report {
	unsigned handled;
	unsigned failed; /* tries */
	unsigned quarantined;
	bool is_more; /* the run was ended by limit, time or stop */
};

/**
 * Process due messages, the oldest first, in a transaction each.
 *
 * @param report  increased, also on failure
 * @return false if the store or the machine fails, PB_ERROR_PERMANENT if the parser
 * cannot be run; this is not a failed try of the message
 */
bool inbox_process_run(struct store *store, const struct inbox_process_options *options,
    int64_t now, struct inbox_process_report *report, GError **error);

/* ---- messages that could not be processed ---- */

/* New messages can be retried or dropped, too.  Those done are left alone. */
enum quarantine_action {
	QUARANTINE_RETRY, /* make it new and due now, without failed tries */
	QUARANTINE_DROP,  /* mark it done: its content is deleted */
};

struct quarantine_request {
	enum quarantine_action action;
	const char *who; /* for the audit log */
	int64_t now;
};

/**
 * Retry or drop some messages, in one commit.
 *
 * @param is_done  set on success for each: it was done before
 * @return false with PB_ERROR_NOT_FOUND if one does not exist; then none is changed
 */
bool quarantine_change(struct store *store, const struct quarantine_request *request,
    const int64_t *ids, unsigned count, bool *is_done, GError **error);

/** Retry or drop all quarantined messages, in batches. @param count  increased */
bool quarantine_change_all(struct store *store,
    const struct quarantine_request *request, unsigned *count, GError **error);
