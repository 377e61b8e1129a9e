/*
 * peer.h - which addresses are part of the public Internet.
 */
#ifndef PAPERBOY_NET_PEER_H
#define PAPERBOY_NET_PEER_H

#include <stdbool.h>
#include <sys/socket.h>

/**
 * Tell a public unicast address from loopback, private, link-local, shared,
 * documentation, benchmarking, multicast and reserved ones (the IANA special-purpose
 * registries of RFC 6890).  An IPv4 address inside an IPv6 one (mapped,
 * NAT64, 6to4) is judged as itself; Teredo is not public.
 *
 * @param address  of `length` octets; families other than IPv4 and IPv6 are not public
 */
bool peer_is_public(const struct sockaddr *address, socklen_t length);

#endif
