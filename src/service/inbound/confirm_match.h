/*
 * confirm_match.h - whether a reply to a confirmation says yes, no, or something else.
 */
#ifndef PAPERBOY_SERVICE_INBOUND_CONFIRM_MATCH_H
#define PAPERBOY_SERVICE_INBOUND_CONFIRM_MATCH_H

#include "model/inmail.h"

enum consent {
	CONSENT_YES,
	CONSENT_NO,
	CONSENT_AUTOMATIC, /* a program wrote it, which its headers did not say */
	CONSENT_UNCLEAR,
};

/* The confirmation that is replied to.  Borrowed. */
struct consent_question {
	const char *token;           /* named by a line "confirm TOKEN" */
	const char *message_id;      /* without angle brackets */
	const char *const *subjects; /* in each language, ends with NULL */
};

/**
 * Judge a reply by its first own line after a short greeting.
 *
 * The tests are, in this order: automatic responder, refusal, consent; so a reply with
 * both a refusal and a consent is a refusal.  Free text is never consent.
 */
enum consent
confirm_match(const struct inmail *mail, const struct consent_question *question);

#endif
