/*
 * maildir.h - delivery into a Maildir.
 *
 * The file name is derived from the envelope's id. If a file of that name exists in
 * new/ or (read and flagged) in cur/, it is kept and the delivery is SENT: a crash at
 * any point creates no duplicate, unless the message was deleted in between.
 *
 * File and directory are synced before SENT. Only one process may deliver to a Maildir
 * with these ids. The search in cur/ is linear in the number of messages.
 */
#pragma once

#include "transport/transport.h"

/**
 * Create a transport that stores all messages, for any recipient.
 *
 * The directory and its tmp, new and cur are created with mode 0700 at the first
 * delivery; the parent must exist.  Files have mode 0600, LF line ends, and start with
 * Return-Path and Delivered-To.  File system errors are DEFERRED with the relay's
 * scope.
 *
 * @param path  copied
 */
struct transport *transport_maildir_new(const char *path);
