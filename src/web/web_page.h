/*
 * web_page.h - replies of paperboyd as HTML pages and feeds.
 *
 * A page is the template web-NAME.html inside web-layout.html, translated by
 * catalog_expand().
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "message/web_proto.h"

struct web_pages;

/** The HTTP status of each reply. */
extern const unsigned web_page_statuses[WEB_STATUSES];

/* Owned. */
struct web_body {
	GBytes *bytes;
	const char *type;     /* Content-Type; static */
	char *content_policy; /* Content-Security-Policy */
};

void web_body_clear(struct web_body *body);

/**
 * Load the templates and the catalogue.
 *
 * @param po_dir  see catalog_load()
 * @param url     public base of the links, without a final "/"
 * @return NULL with an error; owned by the caller
 */
struct web_pages *web_pages_load(
    const char *template_dir, const char *po_dir, const char *url, GError **error);
void web_pages_free(struct web_pages *pages);
PB_DEFINE_AUTO(web_pages, web_pages_free);

/** Whether pages are available in a language, such as "de". */
bool web_pages_has_language(const struct web_pages *pages, const char *language);

/**
 * Render a reply.  WEB_PAGE_NONE gives an empty body.
 *
 * @param path  of the request: its suffix selects the format of a feed
 * @param body  to be cleared with web_body_clear(); unchanged on failure
 * @return false with PB_ERROR_INPUT if the reply lacks what its page needs
 */
bool web_page_render(const struct web_pages *pages, const struct web_reply *reply,
    const char *path, struct web_body *body, GError **error);

/**
 * Render an error page for an HTTP status such as 404.
 *
 * @param language  "" for English
 */
void web_page_render_error(const struct web_pages *pages, unsigned http_status,
    const char *language, struct web_body *body);
