/*
 * daemon_client.h - one request to paperboyd, blocking.
 */
#pragma once

#include <glib.h>

#include "message/web_proto.h"

/**
 * Send a request and wait for its reply.
 *
 * @param path       of paperboyd's socket
 * @param timeout_s  for the whole exchange
 * @return NULL with PB_ERROR_TEMPORARY if there is no reply in time, or with
 *         PB_ERROR_INPUT if it is invalid; owned by the caller
 */
struct web_reply *daemon_client_call(
    const char *path, const struct web_request *request, int timeout_s, GError **error);
