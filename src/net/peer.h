/*
 * peer.h - recognise public IP addresses.
 */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

/**
 * Whether an address is public unicast: not loopback, private, link-local, shared,
 * documentation, benchmarking, multicast or reserved (IANA special-purpose registries,
 * RFC 6890). IPv4 addresses within IPv6 ones (mapped, NAT64, 6to4) are checked as such;
 * Teredo is not public.
 *
 * @param address  of `length` bytes; families other than IPv4 and IPv6 are not public
 */
bool peer_is_public(const struct sockaddr *address, socklen_t length);
