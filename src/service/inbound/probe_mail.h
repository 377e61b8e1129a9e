/*
 * probe_mail.h - what a mail of ours to ourselves has met on its way.
 *
 * One line that becomes the verdict of its letter:
 *
 *     check TOKEN signed=news.example covers=list-id,list-unsubscribe results=dkim:pass
 *
 * All of it was said by strangers: a token, domains and words of ours come out of it,
 * and nothing else.
 */
#ifndef PAPERBOY_SERVICE_INBOUND_PROBE_MAIL_H
#define PAPERBOY_SERVICE_INBOUND_PROBE_MAIL_H

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "model/inmail.h"

/* With which the line begins; a token follows, so no log has the rest. */
#define PROBE_MAIL_WORD "check "

/* What comes back from such a line.  Owned. */
struct probe_mail {
	GPtrArray *signers; /* of char *: domains of DKIM-Signature fields (d=) */
	GPtrArray *missing; /* of char *: list headers that no signature covers (h=) */
	GPtrArray *results; /* of char *: "dkim:pass" */
};

void probe_mail_clear(struct probe_mail *mail);

/**
 * Format the line.
 *
 * @param token        of the address, in [a-z0-9]
 * @param authserv_id  whose Authentication-Results count; "": the topmost
 * @return owned by the caller
 */
char *probe_mail_format(
    const struct inmail *mail, const char *token, const char *authserv_id);

/** Read one. @return whether it is about that token; then mail is to be cleared */
bool probe_mail_parse(const char *line, const char *token, struct probe_mail *mail);

#endif
