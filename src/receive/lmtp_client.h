/*
 * lmtp_client.h - handing one letter to an LMTP server on a Unix socket.
 */
#ifndef PAPERBOY_RECEIVE_LMTP_CLIENT_H
#define PAPERBOY_RECEIVE_LMTP_CLIENT_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * Hand in a letter.  Blocks, for BOUNDS_LMTP_IDLE_S at most at each step.
 *
 * @param path       of the socket
 * @param sender     "" for the null one
 * @param recipient  one
 * @param raw        with line ends of either kind
 * @return false with PB_ERROR_TEMPORARY when nobody listens, the server hangs or says
 * 4xx, PB_ERROR_NOT_FOUND when it says 550 5.1.1, PB_ERROR_INPUT for any other 5xx
 */
bool lmtp_client_send(const char *path, const char *sender, const char *recipient,
    const void *raw, size_t size, GError **error);

#endif
