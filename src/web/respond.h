/*
 * respond.h - responses to HTTP requests: routes, paperboyd and pages put together.
 */
#ifndef PAPERBOY_WEB_RESPOND_H
#define PAPERBOY_WEB_RESPOND_H

#include <glib.h>

#include "base/cleanup.h"
#include "config/settings.h"
#include "web/http_request.h"

struct responder;

/** Load the pages. @return NULL with an error; owned by the caller */
struct responder *responder_new(const struct settings *settings, GError **error);
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
