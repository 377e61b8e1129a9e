/*
 * web_listen.h - listening sockets of paperboy-web.
 */
#ifndef PAPERBOY_WEB_WEB_LISTEN_H
#define PAPERBOY_WEB_WEB_LISTEN_H

#include <glib.h>
#include <stdbool.h>

/**
 * Take the listening sockets that systemd passes (sd_listen_fds(3)), or open one.
 *
 * @param listen  loopback address and port, or absolute path of a Unix socket, which
 *                any user may connect to who can reach it
 * @param fds     of int: the sockets are added, also before a failure
 */
bool web_listen_open(const char *listen, GArray *fds, GError **error);

/** Check a value of web.listen. @return false with PB_ERROR_INPUT */
bool web_listen_check(const char *listen, GError **error);

#endif
