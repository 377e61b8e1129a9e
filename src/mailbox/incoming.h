/*
 * incoming.h - a Maildir into which the mail server delivers letters for us.
 *
 * What is in `new` is taken in, the oldest first, and moved to `cur` once it is
 * committed: with the flag S (seen), or F (flagged) when it will never be taken.  The
 * kernel tells of deliveries; a folder that is missing is waited for.  Nothing is ever
 * deleted.
 */
#ifndef PAPERBOY_MAILBOX_INCOMING_H
#define PAPERBOY_MAILBOX_INCOMING_H

#include "mailbox/mailbox.h"

/** @param path  of the Maildir, absolute; copied */
struct mailbox *incoming_new(const char *path);

#endif
