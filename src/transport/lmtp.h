/*
 * lmtp.h - open a connection to an LMTP server (RFC 2033).
 *
 * libcurl does not support LMTP. There is neither TLS nor authentication: the server is
 * on a Unix socket or an internal network.
 */
#ifndef PAPERBOY_TRANSPORT_LMTP_H
#define PAPERBOY_TRANSPORT_LMTP_H

#include "net/stream.h"

/**
 * Connect, read the greeting and send LHLO; as stream_open().
 *
 * @param options  `host` is a name, an address, or the path of a Unix socket starting
 *                 with "/"; `tls` is off and there is no `user`
 */
struct stream *lmtp_open(
    const struct stream_options *options, struct stream_error *failure, GError **error);

#endif
