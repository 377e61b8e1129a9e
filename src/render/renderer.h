/*
 * renderer.h - a digest as a message.
 *
 * A pure function of digest, templates and settings: the same input gives the same
 * bytes on any machine and day.  So a message may be composed when it is sent and again
 * after a crash; renderer_get_cache_key() shows whether the second would be identical.
 *
 * Templates are read once, from one directory: `digest.subject`, `digest.txt` and
 * `digest.html` for the whole digest, `paper.txt` and `paper.html` for one paper and
 * the heading before it; `reply.html` for replies. Their first comments list the names
 * that they may use.
 */
#pragma once

#include <glib.h>

#include "base/cleanup.h"
#include "message/subaddress.h"
#include "model/digest.h"

struct renderer;

/* Everything is copied. */
struct renderer_settings {
	const char *template_dir;
	const char *po_dir;         /* see catalog_load() */
	const char *from_name;      /* any text, or NULL */
	const char *from_address;   /* addr-spec */
	const char *message_domain; /* right side of Message-ID */
	const char *list_id;        /* RFC 2919: "digest.example.org", never changes */
	const char *list_name;      /* to be shown: "paperboy" */
	const char *owner_address;  /* a person who can change or stop the digest */
	/* Address for commands by mail; NULL: people write to the owner. */
	const struct subaddress_base *commands;
	bool has_feedback;   /* add CFBL-Address (RFC 9477); needs commands */
	const char *web_url; /* base of the page's links, without final "/"; or NULL */
	/* Add the https link to List-Unsubscribe (RFC 8058); needs an https page. */
	bool has_one_click;
	GBytes *key; /* secret, at least BOUNDS_KEY_BYTES_MIN bytes */
};

/**
 * Load and check the templates and settings.
 *
 * Several threads may compose at a time.  Up to BOUNDS_RENDER_CACHE_BYTES of rendered
 * papers are cached for each language.
 *
 * @return NULL with PB_ERROR_INPUT (an invalid setting or template, the latter with
 *         `file:line:column`), PB_ERROR_NOT_FOUND (no such file), or PB_ERROR_LIMIT
 */
struct renderer *renderer_new(const struct renderer_settings *settings, GError **error);
void renderer_free(struct renderer *renderer);
PB_DEFINE_AUTO(renderer, renderer_free);

/** Get the message catalogue, which any thread may read. */
const struct catalog *renderer_get_catalog(const struct renderer *renderer);

/** Get 64 hex digits that identify the templates, settings and code. */
const char *renderer_get_cache_key(const struct renderer *renderer);

/**
 * Compose the whole message with its header, lines ending in CRLF.
 *
 * The HTML part fits BOUNDS_HTML_PART_BYTES: if necessary the last papers are shown by
 * title only, then the last titles are only counted, in both parts alike.
 *
 * @param digest  at least one entry; a valid recipient and date
 * @return NULL with PB_ERROR_INPUT for an invalid digest, PB_ERROR_LIMIT if the
 *         templates leave no room for any paper
 */
GBytes *renderer_compose(
    struct renderer *renderer, const struct digest *digest, GError **error);

/** Format the HTML part of a reply. @param text  its text part */
char *renderer_format_reply(struct renderer *renderer, const char *language,
    const char *subject, const char *text);

/** Format one part as the reader sees it, lines ending in LF. */
char *renderer_format_text(
    struct renderer *renderer, const struct digest *digest, GError **error);
char *renderer_format_html(
    struct renderer *renderer, const struct digest *digest, GError **error);

/** Format the HTML part for a browser: all papers, with their abstracts on demand. */
char *renderer_format_page(
    struct renderer *renderer, const struct digest *digest, GError **error);
