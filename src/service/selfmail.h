/*
 * selfmail.h - what a mail of ours to ourselves has met on its way.
 *
 * One line that becomes the verdict of its letter:
 *
 *     check TOKEN signed=news.example covers=list-id,list-unsubscribe results=dkim:pass
 *
 * All of it was said by strangers: a token, domains and words of ours come out of it,
 * and nothing else.
 */
#ifndef PAPERBOY_SERVICE_SELFMAIL_H
#define PAPERBOY_SERVICE_SELFMAIL_H

#include <glib.h>
#include <stdbool.h>

#include "base/auto.h"
#include "model/letter.h"

/* With which the line begins; a token follows, so no log has the rest. */
#define SELFMAIL_WORD "check "

/* What comes back from such a line.  Owned. */
struct selfmail {
	GPtrArray *signers; /* of char *: domains of DKIM-Signature fields (d=) */
	GPtrArray *missing; /* of char *: list headers that no signature covers (h=) */
	GPtrArray *results; /* of char *: "dkim:pass" */
};

void selfmail_clear(struct selfmail *mail);

/**
 * Format the line.
 *
 * @param token        of the address, in [a-z0-9]
 * @param authserv_id  whose Authentication-Results count; "": the topmost
 * @return owned by the caller
 */
char *selfmail_format(
    const struct letter *letter, const char *token, const char *authserv_id);

/** Read one. @return whether it is about that token; then mail is to be cleared */
bool selfmail_parse(const char *line, const char *token, struct selfmail *mail);

#endif
