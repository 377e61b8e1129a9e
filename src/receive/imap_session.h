/*
 * imap_session.h - one connection to an IMAP server, logged in, a folder selected.
 *
 * After a failed call the session can only be freed: late responses would be taken for
 * those of later commands.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "receive/imap.h"

struct imap_session;

/** Wait for a time or for stop_fd. @return true after the whole time */
bool imap_wait(const struct receiver_sink *sink, int stop_fd, int64_t wait_ms);

/* How processed messages are told from new ones. */
enum imap_disposition {
	IMAP_DISPOSITION_KEYWORD, /* they get a keyword */
	IMAP_DISPOSITION_MOVE,    /* they are moved to another folder */
	IMAP_DISPOSITION_CURSOR,  /* their UID is saved, nothing on the server */
};

/**
 * Connect, log in and select the folder.
 *
 * @param sink        its pause and wake are called, in later calls too; borrowed
 * @param stop_fd     ends every wait, in later calls too
 * @param is_refused  set on failure: whether the login was refused
 * @return NULL with the codes of stream_open(), or PB_ERROR_TEMPORARY, or
 *         PB_ERROR_NOT_FOUND if the folder does not exist
 */
struct imap_session *imap_session_open(const struct imap_options *options,
    const struct receiver_sink *sink, int stop_fd, bool *is_refused, GError **error);
void imap_session_free(struct imap_session *session);
PB_DEFINE_AUTO(imap_session, imap_session_free);

enum imap_disposition imap_session_get_disposition(const struct imap_session *session);
uint32_t imap_session_get_uidvalidity(const struct imap_session *session);
/** @return time of the last SELECT, g_get_monotonic_time() */
int64_t imap_session_get_selected_at(const struct imap_session *session);

/** Use a cursor: the server accepts keywords but does not store them. */
void imap_session_disable_keywords(struct imap_session *session);

/**
 * Find unprocessed messages, in order of UID.
 *
 * @param after_uid  only UIDs greater than this; 0: all
 * @param skipped    UIDs that are added in any case, and not counted
 * @param is_whole   set: false if there are more than BOUNDS_IMAP_WAITING
 * @return array of uint32_t, or NULL with PB_ERROR_TEMPORARY
 */
GArray *imap_session_search(struct imap_session *session, uint32_t after_uid,
    GHashTable *skipped, bool *is_whole, GError **error);

/**
 * Fetch RFC822.SIZE of messages.
 *
 * @param sizes  one per UID, bytes; UINT32_MAX if not reported
 */
bool imap_session_fetch_sizes(struct imap_session *session, const uint32_t *uids,
    size_t count, uint32_t *sizes, GError **error);

/**
 * Fetch a message or its beginning, without setting \Seen.
 *
 * @param max_bytes  at most BOUNDS_MAIL_BYTES + 1
 * @param raw        set on success: at most max_bytes; NULL if the message is gone
 */
bool imap_session_fetch(struct imap_session *session, uint32_t uid, uint32_t max_bytes,
    GBytes **raw, GError **error);

/** Mark messages as processed; IMAP_DISPOSITION_CURSOR only expunges. */
bool imap_session_mark(
    struct imap_session *session, const uint32_t *uids, size_t count, GError **error);

/**
 * Wait for new messages, at most for one IDLE or poll interval.
 *
 * @return false with PB_ERROR_TEMPORARY: the connection failed, or stop_fd is readable
 */
bool imap_session_wait(struct imap_session *session, GError **error);
