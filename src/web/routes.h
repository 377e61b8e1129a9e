/*
 * routes.h - HTTP requests as requests of web_proto.h.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "message/web_proto.h"
#include "web/http_request.h"
#include "web/web_page.h"

/* Borrowed. */
struct routes {
	const struct web_pages *pages;
	const char *origin;    /* our own */
	const GArray *proxies; /* client_network_parse_proxies() */
};

/* Why a request is refused. */
struct route_refusal {
	int status;        /* 400, 403, 404 or 405 */
	const char *allow; /* methods, for 405 */
};

/**
 * Find the operation of a request and its fields.
 *
 * A token that cannot be one of ours becomes "": paperboyd answers it as any other
 * unknown token.
 *
 * @param refusal  set on failure only
 * @return NULL if the request is refused; owned by the caller
 */
struct web_request *routes_parse(const struct routes *routes,
    const struct http_request *request, struct route_refusal *refusal);

/** The language that a request asks for, or "". @return owned by the caller */
char *
routes_get_language(const struct routes *routes, const struct http_request *request);

/** Whether pages of an operation belong to somebody. */
bool routes_is_private(enum web_op op);
