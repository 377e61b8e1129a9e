/*
 * imap_private.h - what the files of one IMAP session share.
 */
#ifndef PAPERBOY_RECEIVE_IMAP_PRIVATE_H
#define PAPERBOY_RECEIVE_IMAP_PRIVATE_H

#include <libetpan/mailimap.h>

#include "receive/imap_session.h"
#include "receive/imap_wire.h"

struct imap_session {
	const struct imap_options *options; /* borrowed */
	struct imap_wire *wire;
	mailimap *etpan;
	const struct receiver_sink *sink; /* borrowed */
	int stop_fd;
	int64_t selected_at; /* g_get_monotonic_time() */
	unsigned n_idles;    /* for their tags */
	enum imap_disposition receiver;
	bool has_idle, has_move, has_uidplus;
};

/**
 * Turn libetpan's result of a command into an error.
 *
 * @param result   of libetpan: its success has three codes
 * @param what     "search in the folder"
 * @return whether the command succeeded
 */
bool imap_session_check(
    struct imap_session *session, int result, const char *what, GError **error);

/** Select the folder, and see how letters can be marked in it. */
bool imap_session_select(struct imap_session *session, GError **error);

#endif
