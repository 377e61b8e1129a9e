/*
 * maildir.h - delivery into a Maildir, as a local delivery agent does it.
 *
 * The file's name comes from the envelope's id alone.  A second delivery of an id
 * that is there already, in new/ or, read and flagged, in cur/, keeps the first file
 * and is SENT: so killing the process at any instant makes no duplicate.  Only a
 * message that its reader has deleted in between would come again.
 *
 * File and folder are on the disk before SENT is told.  One process delivers to a
 * Maildir at a time under the ids of its own.  Looking through cur/ takes time in
 * proportion to the messages there.
 */
#ifndef PAPERBOY_TRANSPORT_MAILDIR_H
#define PAPERBOY_TRANSPORT_MAILDIR_H

#include "transport/transport.h"

/**
 * Make a transport that stores what it is given, whoever the recipient is.
 *
 * The folder and its tmp, new and cur are made with mode 0700 at the first delivery;
 * the folder above must be there.  Files have mode 0600, LF line ends, and
 * Return-Path and Delivered-To at their top.  What goes wrong with the file system is
 * DEFERRED with the relay's scope.
 *
 * @param path  copied
 */
struct transport *transport_maildir_new(const char *path);

#endif
