/*
 * respond.h - responses to HTTP requests: routes, paperboyd and pages put together.
 */
#ifndef PAPERBOY_WEB_RESPOND_H
#define PAPERBOY_WEB_RESPOND_H

#include <glib.h>

#include "base/cleanup.h"
#include "web/http_request.h"

struct responder;

/**
 * Load the pages.
 *
 * @param url     public base of the page
 * @param socket  path of paperboyd's socket
 * @return NULL with an error; owned by the caller
 */
struct responder *responder_new(
    const char *template_dir, const char *url, const char *socket, GError **error);
void responder_free(struct responder *responder);
PB_DEFINE_AUTO(responder, responder_free);

/**
 * Respond to a complete request; waits for paperboyd.  Safe in any thread.
 *
 * @return bytes to send; owned by the caller
 */
GBytes *responder_answer(void *responder, const struct http_request *request);

/** Respond with an error page.  @param request  may be incomplete */
GBytes *
responder_refuse(void *responder, const struct http_request *request, int status);

#endif
