/*
 * listen_socket.h - listening sockets: loopback addresses and Unix sockets.
 */
#pragma once

#include <glib.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

union listen_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/**
 * Parse "127.0.0.1:24" or "[::1]:24".
 *
 * @param size  set on success: size of the address
 * @return false with PB_ERROR_INPUT if it is not a loopback address with a port
 */
bool listen_address_parse(
    const char *text, union listen_address *address, socklen_t *size, GError **error);

/**
 * Create a listening, non-blocking socket on a loopback address.
 *
 * @return -1 with PB_ERROR_INPUT or PB_ERROR_TEMPORARY
 */
int listen_socket_open_loopback(const char *text, int backlog, GError **error);

/**
 * Create a non-blocking Unix socket at a path, instead of a stale one but not of one in
 * use.  Connections are refused until listen().
 *
 * @return -1 with an error
 */
int listen_socket_bind_unix(const char *path, GError **error);
