/*
 * lmtp_client_transport.h - opening a connection to an LMTP host on this machine (RFC
 * 2033).
 *
 * libcurl does not speak it.  There is neither TLS nor a login: the host is behind a
 * Unix socket or on an inner network.
 */
#ifndef PAPERBOY_TRANSPORT_LMTP_CLIENT_TRANSPORT_H
#define PAPERBOY_TRANSPORT_LMTP_CLIENT_TRANSPORT_H

#include "net/stream.h"

/**
 * Connect, hear the greeting and say LHLO; as stream_open() does.
 *
 * @param options  `host` is a name or an address, or the path of a Unix socket, which
 *                 begins with "/"; `tls` is off and there is no `user`
 */
struct stream *lmtp_open(
    const struct stream_options *options, struct stream_error *failure, GError **error);

#endif
