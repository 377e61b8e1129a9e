/*
 * imap_session.h - one connection to an IMAP server, logged in, a folder selected.
 *
 * Each call is one command, or a few.  After a call has failed the session is good for
 * nothing but to be freed: answers that come late would be taken for later ones.
 */
#ifndef PAPERBOY_RECEIVE_IMAP_SESSION_H
#define PAPERBOY_RECEIVE_IMAP_SESSION_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "receive/imap.h"

struct imap_session;

/** Wait on the stop file alone. @return true when the time has passed */
bool imap_wait(const struct receiver_sink *sink, int stop_fd, int64_t wait_ms);

/* How a letter is marked as done. */
enum imap_disposition {
	IMAP_DISPOSITION_KEYWORD,
	IMAP_DISPOSITION_MOVE,
	IMAP_DISPOSITION_CURSOR, /* not on the server */
};

/**
 * Connect, log in and select the folder.
 *
 * @param sink        told of waits, in later calls too; borrowed
 * @param stop_fd     ends every wait, in later calls too
 * @param is_refused  set when false is returned: whether a login was refused
 * @return NULL with the codes of stream_open(), or PB_ERROR_TEMPORARY, or
 *         PB_ERROR_NOT_FOUND when there is no such folder
 */
struct imap_session *imap_session_open(const struct imap_options *options,
    const struct receiver_sink *sink, int stop_fd, bool *is_refused, GError **error);
void imap_session_free(struct imap_session *session);
PB_DEFINE_AUTO(imap_session, imap_session_free);

/** How letters are marked there, once the folder is selected. */
enum imap_disposition imap_session_get_disposition(const struct imap_session *session);
uint32_t imap_session_get_uidvalidity(const struct imap_session *session);

/** The server forgets keywords although it said that it would keep them. */
void imap_session_disable_keywords(struct imap_session *session);

/**
 * Find what is not done, in order of UID.
 *
 * @param after_uid  only behind this one; 0: all
 * @param skipped    UIDs that are added wherever they are, and not counted
 * @param is_whole   set: false when there is more than BOUNDS_IMAP_WAITING
 * @return of uint32_t, or NULL with PB_ERROR_TEMPORARY
 */
GArray *imap_session_search(struct imap_session *session, uint32_t after_uid,
    GHashTable *skipped, bool *is_whole, GError **error);

/**
 * Ask how large letters are.
 *
 * @param sizes  as many as uids; UINT32_MAX for one that the server told nothing of
 */
bool imap_session_fetch_sizes(struct imap_session *session, const uint32_t *uids,
    size_t count, uint32_t *sizes, GError **error);

/**
 * Fetch a letter, or its begin; nothing is marked as seen.
 *
 * @param most_bytes  at most BOUNDS_MAIL_BYTES + 1
 * @param raw         set on success: at most so much of it; NULL when it is gone
 */
bool imap_session_fetch(struct imap_session *session, uint32_t uid, uint32_t most_bytes,
    GBytes **raw, GError **error);

/** Mark letters as done, by the session's receiver; by IMAP_DISPOSITION_CURSOR does
 * nothing. */
bool imap_session_mark(
    struct imap_session *session, const uint32_t *uids, size_t count, GError **error);

/**
 * Wait until there may be news, or the time for it is over.
 *
 * @return false with PB_ERROR_TEMPORARY: the connection is gone, or told to stop
 */
bool imap_session_wait(struct imap_session *session, GError **error);

#endif
