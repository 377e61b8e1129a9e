/*
 * lmtp.h - LMTP client (RFC 2033): open a connection, or deliver one message.
 *
 * libcurl does not support LMTP. There is neither TLS nor authentication: the server is
 * on a Unix socket or an internal network.
 */
#pragma once

#include "net/stream.h"

/**
 * Connect, read the greeting and send LHLO; as stream_open().
 *
 * @param options  `host` is a name, an address, or the path of a Unix socket starting
 *                 with "/"; `tls` is off and there is no `user`
 */
struct stream *lmtp_open(
    const struct stream_options *options, struct stream_error *failure, GError **error);

/**
 * Deliver a message to paperboyd. Each step blocks for at most BOUNDS_LMTP_IDLE_S.
 *
 * @param path       of the socket
 * @param sender     "" for the null sender
 * @param recipient  one address
 * @param raw        line ends of either kind
 * @return false with PB_ERROR_TEMPORARY if connecting failed, on a timeout or a 4xx
 *         reply, PB_ERROR_NOT_FOUND for 550 5.1.1, PB_ERROR_INPUT for any other 5xx
 *         reply
 */
bool lmtp_send(const char *path, const char *sender, const char *recipient,
    const void *raw, size_t size, GError **error);
