/*
 * lmtp_client.h - LMTP client for a Unix socket.
 */
#ifndef PAPERBOY_RECEIVE_LMTP_CLIENT_H
#define PAPERBOY_RECEIVE_LMTP_CLIENT_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * Deliver a message. Each step blocks for at most BOUNDS_LMTP_IDLE_S.
 *
 * @param path       of the socket
 * @param sender     "" for the null sender
 * @param recipient  one address
 * @param raw        line ends of either kind
 * @return false with PB_ERROR_TEMPORARY if connecting failed, on a timeout or a 4xx
 *         reply, PB_ERROR_NOT_FOUND for 550 5.1.1, PB_ERROR_INPUT for any other 5xx
 *         reply
 */
bool lmtp_client_send(const char *path, const char *sender, const char *recipient,
    const void *raw, size_t size, GError **error);

#endif
