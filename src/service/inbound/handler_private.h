/*
 * handler_private.h - shared by the handler files only.
 *
 * handler.c calls handler_report.c, both call handler_run.c, which calls
 * handler_confirm.c; all call handler_reply.c.
 */
#pragma once

#include "service/command/request.h"
#include "service/delivery/system_mail.h"
#include "service/inbound/autoreply_policy.h"
#include "service/inbound/confirm_match.h"
#include "service/inbound/handler_request.h"
#include "service/people/policy.h"
#include "store/subscriber/confirmations.h"

/** Whether a message is a report rather than a request. */
bool handler_is_report(
    const struct request *request, const struct autoreply_verdict *verdict);

/**
 * Act on a bounce or complaint.  It gets no reply; without a valid token it has no
 * effect.
 */
bool handler_process_report(
    struct request *request, const struct autoreply_verdict *verdict, GError **error);

/** Send no reply. @param reason  static */
void
handler_drop(struct request *request, enum handler_outcome outcome, const char *reason);

/** Save what undoes a removal without telling the requester. */
bool handler_save_undo(struct request *request, GError **error);

struct system_mailer handler_get_mailer(const struct request *request);

/** Subject of a confirmation request, with the name of the service. */
char *handler_format_confirm_subject(
    const struct request *request, const char *language, const char *pending);

/** Id in the Message-ID of a confirmation request, from the hash of its token. */
char *handler_format_confirm_id(const struct confirmation *confirmation);

/**
 * Decide whether the requester may subscribe.
 *
 * @param pending     lines that wait, or NULL; all but a subscription are allowed
 * @param is_invited  the lines are those of an invitation, or approved
 */
bool handler_decide(struct request *request, const char *pending, bool is_invited,
    enum policy_verdict *verdict, GError **error);

/** Reply with a refusal. */
bool
handler_refuse(struct request *request, enum policy_verdict verdict, GError **error);

/**
 * Ask the owner whether somebody who has confirmed may subscribe; once.
 *
 * @param reason  set: NULL, or the limit that prevents it; static
 */
bool handler_ask_owner(struct request *request, const struct confirmation *asked,
    const char **reason, GError **error);

/** Classify the message as a reply to a confirmation request, NULL if it expired. */
enum consent handler_match_consent(const struct request *request,
    const struct confirmation *confirmation, const char *token);

/** Apply or decline a confirmation, or ask again, depending on the message. */
bool handler_process_confirmation(struct request *request,
    const struct confirmation *confirmation, const char *token, GError **error);
