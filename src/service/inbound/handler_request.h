/*
 * handler_request.h - steps of processing a request, by mail or from a page.
 *
 * Each is part of the caller's transaction.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "service/command/request.h"
#include "service/inbound/handler.h"
#include "store/subscriber/confirmations.h"

/* Purposes of confirmations, as a set. */
#define HANDLER_CONFIRM_PURPOSES                                      \
	(1U << CONFIRMATION_CONFIRM | 1U << CONFIRMATION_ADDRESS |    \
	    1U << CONFIRMATION_FORGET | 1U << CONFIRMATION_APPROVAL | \
	    1U << CONFIRMATION_INVITATION)
#define HANDLER_UNDO_PURPOSES (1U << CONFIRMATION_UNDO)

/**
 * Initialise a request.
 *
 * @param help    address for help, borrowed
 * @param actor   "mail" or "web"
 * @param report  filled by the steps; borrowed
 */
void handler_request_init(struct request *request, struct store *store,
    const struct handler_options *options, const char *help, const char *actor,
    struct handler_report *report);

/* Mail that an address may get. */
enum handler_mail {
	HANDLER_MAIL_ANY,
	HANDLER_MAIL_ANSWER, /* suppressed, but the person can come back */
	HANDLER_MAIL_NONE,   /* suppressed */
};

/**
 * Make an address the requester.
 *
 * @param may_mail  set
 * @return false with PB_ERROR_INPUT if it is not an address, or if the store fails
 */
bool handler_set_requester(struct request *request, const char *address,
    enum handler_mail *may_mail, GError **error);

/** Record when the subscriber wrote, and restore a suspended one, whose proven request
 * shows that the address works. */
bool handler_record_request(struct request *request, GError **error);

/** Run the commands of the request, and reply. */
bool handler_run_commands(struct request *request, GError **error);

/**
 * Invite an address to subscribe; an earlier invitation ends.
 *
 * @param request  of a subscriber, or of the operator: without a requester
 * @param reason   set: why the address gets no invitation, static; or NULL
 * @return false with PB_ERROR_INPUT if it is not an address, or if the store fails
 */
bool handler_invite(
    struct request *request, const char *wanted, const char **reason, GError **error);

/** Send the reply, or the request to confirm, within the rate limits. */
bool handler_reply(struct request *request, GError **error);

/**
 * Unsubscribe by the token alone (RFC 8058): the request may be automatic, or from
 * somebody to whom a digest was forwarded.  It can be undone.
 *
 * @param reason   why the sender gets no reply, static; or NULL.  The subscriber gets a
 *                 notice.
 * @param is_done  set: false for an invalid token
 */
bool handler_leave(struct request *request, const char *token, const char *reason,
    bool *is_done, GError **error);

/* Changes that reduce mail, which the token of a digest allows as well. */
enum handler_reduction {
	HANDLER_REDUCE_PAUSE,  /* days; 0: until resumed */
	HANDLER_REDUCE_WEEKLY, /* no number */
	HANDLER_REDUCE_FEWER,  /* papers in a digest; 0: the next step */
};

/** Make the subscriber of such a token the requester, if it is valid. */
bool
handler_set_token_requester(struct request *request, const char *token, GError **error);

/**
 * Reduce the mail of the subscriber of a token, who gets the reply.  A change that
 * would not reduce it is not made.
 */
bool handler_reduce(struct request *request, const char *token,
    enum handler_reduction reduction, unsigned number, GError **error);

/**
 * Find a pending confirmation by its token.
 *
 * @param purposes      bits by enum confirmation_purpose
 * @param confirmation  set: NULL if there is none; owned by the caller
 */
bool handler_find_confirmation(struct request *request, const char *token,
    unsigned purposes, struct confirmation **confirmation, GError **error);

/** Apply a confirmation and reply. */
bool handler_apply_confirmation(
    struct request *request, const struct confirmation *confirmation, GError **error);
