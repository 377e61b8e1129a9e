/*
 * client_network.h - the network of a client, for limits per network.
 *
 * One person has many addresses: those of a /24 (IPv4) or a /48 (IPv6) count as one.
 * Behind a web server the address is the last element of X-Forwarded-For, which that
 * server has added; the elements before it can be made up by the client.
 */
#pragma once

#include <glib.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

/**
 * Parse web.trusted_proxy: addresses and networks, separated by blanks.
 *
 * @return of an internal type; NULL with PB_ERROR_INPUT; owned by the caller
 */
GArray *client_network_parse_proxies(const char *text, GError **error);

/** The address of a peer; IPv4 is mapped, a Unix socket counts as ::1. */
struct in6_addr client_network_get_peer(const struct sockaddr *address);

/**
 * Find the network of a client.
 *
 * @param peer           who is connected
 * @param forwarded_for  value of X-Forwarded-For, or NULL; read from proxies only
 * @return "192.0.2.0/24" or "2001:db8:1::/48"; "" if a proxy does not name the client;
 *         owned by the caller
 */
char *client_network_find(
    const GArray *proxies, const struct in6_addr *peer, const char *forwarded_for);
