/*
 * renderer.h - a digest becomes a message.
 *
 * A pure function of the digest, the templates and the settings: the same
 * three give the same octets, on any machine, locale and day.  So a message
 * may be composed when it is sent and again after a crash, and
 * renderer_get_cache_key() tells whether the second would equal the first.
 *
 * Templates are read once, from one folder: `digest.subject`, `digest.txt` and
 * `digest.html` see the reader and the whole digest; `paper.txt` and
 * `paper.html` see one paper alone.  What names they have is told in the
 * shipped ones.
 */
#ifndef PAPERBOY_RENDER_RENDERER_H
#define PAPERBOY_RENDER_RENDERER_H

#include <glib.h>

#include "base/cleanup.h"
#include "message/subaddress.h"
#include "model/digest.h"

struct renderer;

/* Everything is copied. */
struct renderer_settings {
	const char *template_dir;
	const char *from_name;      /* any text, or NULL */
	const char *from_address;   /* addr-spec */
	const char *message_domain; /* right side of Message-ID */
	const char *list_id;   /* RFC 2919: "digest.example.org", for ever the same */
	const char *list_name; /* for people: "paperboy" */
	const char *owner_address; /* a person: how to change or stop the digest */
	/* Where people write commands; NULL: nowhere, they write to the owner.  Copied.
	 */
	const struct subaddress_base *commands;
	GBytes *key; /* secret, BOUNDS_KEY_BYTES_MIN octets or more */
};

/**
 * Load and check the templates and settings.
 *
 * A renderer belongs to one thread.  It keeps fragments of papers, at most
 * BOUNDS_RENDER_CACHE_BYTES of them for each language.
 *
 * @return NULL with PB_ERROR_INPUT (a setting or template is wrong: `file:line:column`
 *         where it can be told), PB_ERROR_NOT_FOUND (no such file), or PB_ERROR_LIMIT
 */
struct renderer *renderer_new(const struct renderer_settings *settings, GError **error);
void renderer_free(struct renderer *renderer);
PB_DEFINE_AUTO(renderer, renderer_free);

/** Get its phrases, which any thread may read. */
const struct catalog *renderer_get_phrases(const struct renderer *renderer);

/** Get 64 hex digits that change when the same digest would become other octets. */
const char *renderer_get_cache_key(const struct renderer *renderer);

/**
 * Compose the whole message, headers and all, lines ending in CRLF.
 *
 * The HTML part keeps within BOUNDS_HTML_PART_BYTES: where it would not, the last
 * full papers are shown by title, then the last titles are counted, in both parts
 * alike.
 *
 * @param digest  at least one entry; a valid recipient and date
 * @return NULL with PB_ERROR_INPUT for a digest that is none, PB_ERROR_LIMIT where
 *         the templates leave no room for any paper
 */
GBytes *renderer_compose(
    struct renderer *renderer, const struct digest *digest, GError **error);

/** Format the text part, or the HTML part, as a reader gets it; lines end in LF. */
char *renderer_format_text(
    struct renderer *renderer, const struct digest *digest, GError **error);
char *renderer_format_html(
    struct renderer *renderer, const struct digest *digest, GError **error);

#endif
