/*
 * check_mail.h - evaluate a mail of paperboyctl check to ourselves.
 *
 * The result is one line, the verdict of the message in the inbox:
 *
 *     check TOKEN signed=news.example unsigned=list-unsubscribe results=dkim:pass
 *     cfbl=no id=own link=https://papers.example.org/u/TOKEN
 *
 * It has tokens, domains, keywords and our link, and nothing else from the message.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "model/inmail.h"

/* Start of the line; a token follows, which must not be logged. */
#define CHECK_MAIL_WORD "check "

/* A parsed line.  Lists are separated by ", ".  Owned. */
struct check_mail {
	char *signers;     /* domains of DKIM-Signature fields (d=) */
	char *missing;     /* list headers that no signature covers (h=) */
	char *results;     /* of Authentication-Results: "dkim:pass" */
	bool has_feedback; /* a signature covers CFBL-Address (RFC 9477) */
	bool has_own_id;   /* its Message-ID was not replaced on the way */
	char *link; /* the only https link, with List-Unsubscribe-Post; else "" */
};

void check_mail_clear(struct check_mail *mail);

/**
 * Format the line.
 *
 * @param token        of the address, in [a-z0-9]
 * @param authserv_id  of the Authentication-Results to trust; "": the topmost
 * @return owned by the caller
 */
char *check_mail_format(
    const struct inmail *mail, const char *token, const char *authserv_id);

/** Parse a line. @return whether it has that token; then clear mail */
bool check_mail_parse(const char *line, const char *token, struct check_mail *mail);
