/*
 * respond.c - responses to HTTP requests: routes, paperboyd and pages put together.
 */
#include "web/respond.h"

#include <stdio.h>

#include "base/bounds.h"
#include "base/error.h"
#include "web/client_network.h"
#include "web/daemon_client.h"
#include "web/negotiate.h"
#include "web/routes.h"
#include "web/web_page.h"
#include "web/web_response.h"

#define METHOD_NOT_ALLOWED 405
#define UNAVAILABLE        503

/* Methods of all routes. */
#define ALL_METHODS "GET, HEAD, POST"

static const int http_status[WEB_STATUSES] = {
    [WEB_STATUS_OK] = 200,
    [WEB_STATUS_NOT_MODIFIED] = 304,
    [WEB_STATUS_BAD_REQUEST] = 400,
    [WEB_STATUS_FORBIDDEN] = 403,
    [WEB_STATUS_NOT_FOUND] = 404,
    [WEB_STATUS_LIMITED] = 429,
    [WEB_STATUS_UNAVAILABLE] = UNAVAILABLE,
};

struct responder {
	struct web_pages *pages;
	char *origin, *socket;
	GArray *proxies;
	struct routes routes;
	gint has_failed; /* atomic: the last exchange with paperboyd */
};

struct responder *
responder_new(const struct settings *settings, GError **error)
{
	pb_auto(responder) responder = g_new0(struct responder, 1);

	responder->pages =
	    web_pages_load(settings->template_dir, settings->web_url, error);
	if (!responder->pages)
		return NULL;
	responder->proxies =
	    client_network_parse_proxies(settings->web_trusted_proxy, error);
	if (!responder->proxies)
		return NULL;
	responder->origin = negotiate_get_origin(settings->web_url);
	responder->socket = g_strdup(settings->web_socket);
	responder->routes = (struct routes){.pages = responder->pages,
	    .origin = responder->origin,
	    .proxies = responder->proxies};
	return g_steal_pointer(&responder);
}

void
responder_free(struct responder *responder)
{
	if (!responder)
		return;
	web_pages_free(responder->pages);
	g_free(responder->origin);
	g_free(responder->socket);
	g_clear_pointer(&responder->proxies, g_array_unref);
	g_free(responder);
}

/* Once for each change.  The error names no token and no address. */
static void
report(struct responder *responder, const GError *error)
{
	if (g_atomic_int_compare_and_exchange(
	        &responder->has_failed, error == NULL, error != NULL))
		fprintf(stderr, "paperboy-web: %s\n",
		    error ? error->message : "paperboyd responds again");
}

static GBytes *
format(const struct web_response *response, const struct http_request *request)
{
	return web_response_format(response, g_get_real_time() / G_USEC_PER_SEC,
	    http_request_is_head(request));
}

static GBytes *
format_error(const struct responder *responder, const struct http_request *request,
    int status, const char *language, const char *allow)
{
	pb_local(web_body) body = {0};

	web_page_render_error(responder->pages, (unsigned)status, language, &body);
	return format(&(struct web_response){.status = status,
	                  .type = body.type,
	                  .content_policy = body.content_policy,
	                  .allow = allow,
	                  .is_private = true,
	                  .body = body.bytes},
	    request);
}

GBytes *
responder_refuse(void *data, const struct http_request *request, int status)
{
	const struct responder *responder = data;
	g_autofree char *language = routes_get_language(&responder->routes, request);

	return format_error(responder, request, status, language,
	    status == METHOD_NOT_ALLOWED ? ALL_METHODS : NULL);
}

/* @return false if the daemon's reply is not usable */
static bool
format_reply(const struct responder *responder, const struct http_request *request,
    const struct web_request *asked, const struct web_reply *reply, GBytes **out,
    GError **error)
{
	pb_local(web_body) body = {0};
	struct web_response response = {.status = http_status[reply->status],
	    .is_private = routes_is_private(asked->op)};

	if (reply->status != WEB_STATUS_NOT_MODIFIED) {
		if (!web_page_render(
		        responder->pages, reply, request->path, &body, error))
			return false;
		response.type = body.type;
		response.content_policy = body.content_policy;
		response.body = body.bytes;
	}
	if (asked->op == WEB_OP_FEED)
		g_variant_lookup(reply->values, "etag", "&s", &response.tag);
	*out = format(&response, request);
	return true;
}

GBytes *
responder_answer(void *data, const struct http_request *request)
{
	struct responder *responder = data;
	struct route_refusal refusal;
	pb_auto(web_request) asked =
	    routes_parse(&responder->routes, request, &refusal);
	pb_auto(web_reply) reply = NULL;
	g_autoptr(GError) error = NULL;
	GBytes *out = NULL;
	int status = UNAVAILABLE;

	if (!asked) {
		g_autofree char *language =
		    routes_get_language(&responder->routes, request);

		return format_error(
		    responder, request, refusal.status, language, refusal.allow);
	}
	reply =
	    daemon_client_call(responder->socket, asked, BOUNDS_WEB_ANSWER_S, &error);
	if (reply) {
		bool has_page = reply->page != WEB_PAGE_NONE ||
		                reply->status == WEB_STATUS_OK ||
		                reply->status == WEB_STATUS_NOT_MODIFIED;

		status = http_status[reply->status];
		if (has_page &&
		    !format_reply(responder, request, asked, reply, &out, &error))
			status = UNAVAILABLE;
	}
	report(responder, error);
	return out ? out
	           : format_error(responder, request, status, asked->language, NULL);
}
