/*
 * confirm_match.h - classify a reply to a confirmation request: yes, no, or unclear.
 */
#pragma once

#include "model/inmail.h"

enum consent {
	CONSENT_YES,
	CONSENT_NO,
	CONSENT_AUTOMATIC, /* auto-reply, by its subject or text */
	CONSENT_UNCLEAR,
};

/* The confirmation request.  Borrowed. */
struct consent_question {
	const char *token;           /* named by a line "confirm TOKEN" */
	const char *message_id;      /* without angle brackets */
	const char *const *subjects; /* in each language, ends with NULL */
};

/**
 * Classify a reply by its first line after a short greeting, without quotes.
 *
 * The tests are, in this order: automatic responder, refusal, consent.  A refusal or
 * consent with a condition is unclear, and free text is never consent.
 */
enum consent
confirm_match(const struct inmail *mail, const struct consent_question *question);
