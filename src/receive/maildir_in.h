/*
 * maildir_in.h - a Maildir into which the mail server delivers letters for us.
 *
 * Messages in `new` are taken in, the oldest first, and moved to `cur` with the flag S
 * (seen) once it is committed.  What is too large or cannot be read is skipped (the
 * sink's skip()) and stays in `new`.  The kernel tells of deliveries; a folder that is
 * missing is waited for.  Nothing is ever deleted.
 */
#ifndef PAPERBOY_RECEIVE_MAILDIR_IN_H
#define PAPERBOY_RECEIVE_MAILDIR_IN_H

#include "receive/receiver.h"

/** @param path  of the Maildir, absolute; copied */
struct receiver *maildir_in_new(const char *path);

#endif
