/*
 * front_work.h - what the files of the front share; for them only.
 */
#ifndef PAPERBOY_SERVICE_FRONT_WORK_H
#define PAPERBOY_SERVICE_FRONT_WORK_H

#include "model/subscriber.h"
#include "service/command.h"
#include "service/consent.h"
#include "service/dispatch.h"
#include "service/front.h"
#include "service/limits.h"
#include "service/proof.h"
#include "store/tickets.h"

/* A letter in hand. */
struct front_work {
	struct store *store;
	const struct front_options *options;
	const struct letter *letter;
	const struct front_envelope *envelope;
	struct front_report *report;
	struct door_judgement door;
	struct proof proof;
	struct limits limits;
	struct dispatch dispatch;
	struct command_context context;
	bool is_reply; /* the letter is a reply that confirms */
};

/* Whom it is about, as far as that is known. */
struct front_guest {
	char *address; /* whom the answer goes to */
	char *key;
	struct subscriber *subscriber; /* NULL: none, or pending, or gone */
	bool is_proven;
	bool has_token; /* of one of our own addresses, or in the text */
	bool has_left;  /* before this letter, which has its unsubscribe token */
	const struct ticket *undo; /* borrowed: of when it left; or NULL */
	int64_t digest_id;
	const char *name;     /* borrowed, or NULL */
	const char *verb;     /* borrowed, or NULL */
	const char *reply_to; /* borrowed; NULL: who is a subscriber gets a token */
};

void front_guest_clear(struct front_guest *guest);

/** Take whoever has that address. @param guest  its address, key and subscriber are set
 */
bool front_find_guest(struct front_work *work, const char *address,
    struct front_guest *guest, GError **error);

/** What the commands are to see of a guest. */
struct command_visitor front_get_visitor(const struct front_guest *guest);

/** Note that there is no answer. */
void
front_keep_silent(struct front_work *work, enum front_outcome outcome, const char *why);

/**
 * Send what the commands came to, if the limits let it.
 *
 * @param reply  tokens are put into its texts
 */
bool front_answer(struct front_work *work, const struct front_guest *guest,
    struct command_reply *reply, GError **error);

/** The subject of each confirmation: it names the service. @return a new string */
char *front_format_confirm_subject(const struct front_work *work, const char *language);

/** The id of a confirmation's Message-ID, from the hash of its token. @return a new
 * string */
char *front_format_confirm_id(const struct ticket *ticket);

/** Keep what was taken away, though nobody is told how to have it back. */
bool front_keep_undo(struct front_work *work, const struct front_guest *guest,
    const struct command_reply *reply, GError **error);

/** Answer an unsubscribe token of an address that has left: how to come back. */
bool front_offer_undo(
    struct front_work *work, const struct front_guest *guest, GError **error);

/**
 * Find the ticket of a token that is good now.
 *
 * @param purposes  a bit for each enum ticket_purpose that it may be of
 * @param ticket    set: NULL when it is not good; owned by the caller
 */
bool front_find_ticket(struct front_work *work, const char *token, unsigned purposes,
    struct ticket **ticket, GError **error);

/**
 * Do what a good ticket says, if the letter to its address agrees, and answer.
 *
 * @param token  as it stood in the address
 */
bool front_weigh(struct front_work *work, const struct ticket *ticket,
    const char *token, GError **error);

/**
 * Judge what the letter says to a confirmation.
 *
 * @param ticket  NULL: it is not valid any more
 * @param token   that the letter came with
 */
enum consent front_judge_consent(
    const struct front_work *work, const struct ticket *ticket, const char *token);

/** Do what a good ticket says, and answer. */
bool front_redeem(struct front_work *work, const struct ticket *ticket, GError **error);

#endif
