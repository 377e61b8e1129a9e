/*
 * maildir_in.h - receiver for a Maildir that the mail server delivers to.
 *
 * Messages in `new` are received, oldest first, and moved to `cur` with the flag S
 * (seen) after they are committed. Too large or unreadable ones are skipped (the sink's
 * skip()) and stay in `new`. Deliveries are noticed by inotify; a missing directory is
 * waited for. Nothing is ever deleted.
 */
#pragma once

#include "receive/receiver.h"

/** @param path  of the Maildir, absolute; copied */
struct receiver *maildir_in_new(const char *path);
