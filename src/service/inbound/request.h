/*
 * request.h - what the files of the front share; for them only.
 */
#ifndef PAPERBOY_SERVICE_INBOUND_REQUEST_H
#define PAPERBOY_SERVICE_INBOUND_REQUEST_H

#include "model/subscriber.h"
#include "service/command/command.h"
#include "service/delivery/mail_token.h"
#include "service/delivery/system_mail.h"
#include "service/inbound/confirm_match.h"
#include "service/inbound/handler.h"
#include "service/inbound/rate_limit.h"
#include "store/subscriber/confirmations.h"

/* A letter in hand. */
struct request {
	struct store *store;
	const struct handler_options *options;
	const struct inmail *mail;
	const struct receive_mail *envelope;
	struct handler_report *report;
	struct autoreply_verdict autoreply;
	struct mail_token mail_token;
	struct rate_limit limits;
	struct system_mailer system_mailer;
	struct command_context context;
	bool is_reply; /* the letter is a reply that confirms */
};

/* Whom it is about, as far as that is known. */
struct requester {
	char *address; /* whom the answer goes to */
	char *key;
	struct subscriber *subscriber; /* NULL: none, or pending, or gone */
	bool is_proven;
	bool has_token; /* of one of our own addresses, or in the text */
	bool has_left;  /* before this letter, which has its unsubscribe token */
	const struct confirmation *undo; /* borrowed: of when it left; or NULL */
	int64_t digest_id;
	const char *name;     /* borrowed, or NULL */
	const char *verb;     /* borrowed, or NULL */
	const char *reply_to; /* borrowed; NULL: who is a subscriber gets a token */
};

void requester_clear(struct requester *requester);

/** Take whoever has that address. @param guest  its address, key and subscriber are set
 */
bool request_find_requester(struct request *work, const char *address,
    struct requester *requester, GError **error);

/** What the commands are to see of a guest. */
struct command_user requester_get_user(const struct requester *requester);

/** Note that there is no answer. */
void request_drop(struct request *work, enum handler_outcome outcome, const char *why);

/**
 * Send what the commands came to, if the limits let it.
 *
 * @param reply  tokens are put into its texts
 */
bool request_reply(struct request *work, const struct requester *requester,
    struct command_reply *reply, GError **error);

/** The subject of each confirmation: it names the service. @return a new string */
char *handler_format_confirm_subject(const struct request *work, const char *language);

/** The id of a confirmation's Message-ID, from the hash of its token. @return a new
 * string */
char *handler_format_confirm_id(const struct confirmation *ticket);

/** Keep what was taken away, though nobody is told how to have it back. */
bool request_save_undo(struct request *work, const struct requester *requester,
    const struct command_reply *reply, GError **error);

/** Answer an unsubscribe token of an address that has left: how to come back. */
bool request_offer_undo(
    struct request *work, const struct requester *requester, GError **error);

/**
 * Find the ticket of a token that is good now.
 *
 * @param purposes  a bit for each enum confirmation_purpose that it may be of
 * @param ticket    set: NULL when it is not good; owned by the caller
 */
bool request_find_confirmation(struct request *work, const char *token,
    unsigned purposes, struct confirmation **ticket, GError **error);

/**
 * Do what a good ticket says, if the letter to its address agrees, and answer.
 *
 * @param token  as it stood in the address
 */
bool request_authorize(struct request *work, const struct confirmation *ticket,
    const char *token, GError **error);

/**
 * Judge what the letter says to a confirmation.
 *
 * @param ticket  NULL: it is not valid any more
 * @param token   that the letter came with
 */
enum consent handler_judge_consent(
    const struct request *work, const struct confirmation *ticket, const char *token);

/** Do what a good ticket says, and answer. */
bool request_confirm(
    struct request *work, const struct confirmation *ticket, GError **error);

#endif
