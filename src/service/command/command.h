/*
 * command.h - run the commands of a message or a page.
 *
 * Commands trust the requester that the handler has identified.  They run in the
 * caller's transaction, each in a savepoint: a command that fails changes nothing, and
 * the others still apply.  Mistakes in a command are reported in the reply and are not
 * errors.  On an error the caller rolls back, and the reply is empty.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/msg.h"
#include "message/prose.h"
#include "service/command/request.h"
#include "store/subscriber/proposals.h"

/* Placeholders for tokens, see command_fill_tokens(). */
#define COMMAND_CONFIRM_MARK "\001"
#define COMMAND_UNDO_MARK    "\002"

/** Run the verb of the request, the lines of a page, or the commands in a message. */
bool command_run(struct request *request, GError **error);

/**
 * Run lines that waited for a confirmation, or restore a subscription.  The requester
 * is authenticated.
 *
 * @param pending  from reply.pending or reply.undo
 */
bool
command_run_confirmed(struct request *request, const char *pending, GError **error);

/**
 * Reply with one phrase of the catalog; runs nothing.
 *
 * @param value  for {value} in it, or NULL; {owner} is mail.owner
 */
bool command_reply_with(
    struct request *request, const char *phrase, const char *value, GError **error);

/**
 * Read what a mail asks for.
 *
 * @param has_token  it is a reply: a subject that is not a command is that of our mail
 * @return free with prose_free()
 */
struct prose *command_read_prose(const struct inmail *mail, bool has_token);

/**
 * Format what an intent of a mail does: commands separated by LF.
 *
 * @param request  of the sender, perhaps without a subscriber
 * @return NULL if it is not a wish, or cannot be done as it is said
 */
char *command_format_wish(struct request *request, const struct prose_item *item);

/** Get the kind of the reply to a mail: "proposal", "answer", "not understood", ...
 * @return static */
const char *command_get_reply_kind(const struct prose *prose);

/**
 * Format the subject of a request to confirm.
 *
 * @param pending  lines that wait for the confirmation
 */
char *command_format_confirm_subject(const struct catalog *catalog,
    const char *language, const char *pending, const char *address);

/** Whether lines that wait start a subscription, also one that was left. */
bool command_is_subscription(const char *pending);

/**
 * Format an invitation, with COMMAND_CONFIRM_MARK.
 *
 * @param inviter  address of who invites, or name of the service
 * @return a new string
 */
char *command_format_invitation(
    const struct request *request, const char *language, const char *inviter);

/** Find the language of lines that wait. @return a new string; NULL: not known */
char *command_find_language(const char *pending);

/**
 * Find the command for a question, or the wish to be erased, in a reply to a
 * confirmation.
 *
 * @return static; NULL if there is none
 */
const char *command_find_question(const struct request *request);

/** Whether a reply to a confirmation has a wish: "No, pause until Monday".
 * @param asked  the lines that wait */
bool command_has_wish(const struct request *request, const char *asked);

/** Run the command of a line. Errors as in command_private.h. */
bool command_run_line(struct request *request, const char *line, GError **error);

/** Format the effect of a proposal: "tool use: 12 more papers in 30 days, ...". */
struct msg *command_format_effect(const struct proposal *proposal);

/**
 * Replace the marks in the text by tokens; a mark whose token is NULL is not replaced.
 */
void
command_fill_tokens(struct command_reply *reply, const char *confirm, const char *undo);

/** Whether a mail has shown the requester a proposal that is open. @param has set */
bool command_has_open_proposal(struct request *request, bool *has, GError **error);

/**
 * Find the answer to a proposal in the first own line of a message.
 *
 * @param verb         "yes" or "no", which the line means in some language; static
 * @param has_numbers  set: whether it is a command with the numbers of proposals
 * @return a command: "Ja, 2 bitte" is "yes 2"; NULL if it is a command already, or asks
 *         for something else
 */
char *
command_find_answer(const struct inmail *mail, const char *verb, bool *has_numbers);
