/*
 * web_proto.h - requests of paperboy-web to paperboyd, over a Unix socket.
 *
 * One request a connection: the client sends a frame, the daemon replies with a frame
 * and closes.  A frame is a length of 4 bytes, little endian, and a serialised GVariant
 * in little endian.  Both sides treat the other one as hostile.
 *
 * Requests carry the form fields of a page as they were typed; the daemon checks them.
 * Replies carry values for the page templates: texts are not escaped, and localised in
 * the language of the reply where they are prose.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"

/*
 * Operations.  Only those marked P change anything; they come from POST.
 *
 * Fields: `csrf` with each P but WEB_OP_ONE_CLICK; `action` where several are named
 * (in a form also as a field action_NAME).
 * The query of a GET may have lang (which becomes the language), show, number, page,
 * and for / and /search filter.
 */
enum web_op {
	WEB_OP_HEALTH,       /* status only */
	WEB_OP_HOME,         /* filter, which is tested */
	WEB_OP_SUBSCRIBE,    /* P: address, filter, tz, or zone as it was typed */
	WEB_OP_CONFIRM_SHOW, /* token */
	WEB_OP_CONFIRM,      /* P: token */
	WEB_OP_LEAVE_SHOW,   /* token */
	WEB_OP_ONE_CLICK,    /* P: token (RFC 8058) */
	WEB_OP_LEAVE, /* P: token; unsubscribe, pause (days), weekly, fewer (max),
	               * link (mails a link to the preferences), undo (undo) */
	WEB_OP_PREFERENCES_SHOW, /* token; show, number, page (see below) */
	/*
	 * P: token; add (filter, name, max), edit (number, filter, name, max, note),
	 * test (filter), up (number), down (number), remove (number), block (filter),
	 * unblock (number), set (any of when, day_mon to day_sun, at, tz, zone, max,
	 * order, abstract, group, format, quiet, updates, crosslist, attach, feedback,
	 * checkup, versions, retractions, language,
	 * name), yes, no and undo_answer (proposal: its
	 * number), like, hide, watch and unwatch (paper), taste_forget, pause (days or
	 * until; both empty: until resumed), resume, address (address), export
	 * (format), forget, feed_on, feed_off, unsubscribe. The reply has the view that
	 * show, number and page ask for.
	 */
	WEB_OP_PREFERENCES,
	WEB_OP_DIGEST, /* token */
	WEB_OP_FEED,   /* token; etag */
	WEB_OP_SEARCH, /* filter */
	WEB_OPS
};

enum web_status {
	WEB_STATUS_OK,           /* 200 */
	WEB_STATUS_NOT_MODIFIED, /* 304 */
	WEB_STATUS_BAD_REQUEST,  /* 400: an invalid or missing field */
	WEB_STATUS_FORBIDDEN,    /* 403: the form has expired or is forged */
	WEB_STATUS_NOT_FOUND,    /* 404 */
	WEB_STATUS_LIMITED,      /* 429 */
	WEB_STATUS_UNAVAILABLE,  /* 503: the store does not respond */
	WEB_STATUSES
};

/* The page that a reply is shown on; the template web-NAME.html. */
enum web_page {
	WEB_PAGE_NONE, /* an empty body */
	WEB_PAGE_HOME,
	WEB_PAGE_CONFIRM,
	WEB_PAGE_LEAVE,
	WEB_PAGE_LEFT,
	WEB_PAGE_PREFERENCES,
	WEB_PAGE_SEARCH,
	WEB_PAGE_MESSAGE, /* messages only */
	WEB_PAGE_DIGEST,  /* values: html */
	WEB_PAGE_FEED,    /* values: a feed, as Atom or JSON Feed by the URL */
	WEB_PAGES
};

#define WEB_PROTO_REQUEST_BYTES (24 * 1024)
#define WEB_PROTO_REPLY_BYTES   (1024 * 1024)
#define WEB_PROTO_FIELDS        40
#define WEB_PROTO_NAME_BYTES    20
#define WEB_PROTO_FIELD_BYTES   8192
#define WEB_PROTO_TOKEN_BYTES   64
#define WEB_PROTO_NETWORK_BYTES 24 /* "2001:db8:ffff::/48" */
#define WEB_PROTO_DEPTH         6  /* nested values of a reply */

/* Owned. */
struct web_request {
	enum web_op op;
	char *language;     /* requested by the reader, or "": the subscriber's */
	char *token;        /* [a-z2-7], or "" */
	char *network;      /* of the client, "192.0.2.0/24"; "" if unknown */
	GHashTable *fields; /* char * → char *: valid UTF-8 without controls but LF */
};

/* Owned. */
struct web_reply {
	enum web_status status;
	enum web_page page;
	char *language; /* of the texts and the page */
	/*
	 * Type a{sv}; a value is a string, a boolean, a nested a{sv}, or a list of
	 * them (aa{sv}); see below.
	 */
	GVariant *values;
};

/* Maximum number of filters and blocks in one reply; further ones are on other pages.
 */
#define WEB_PROTO_PAGE_FILTERS 6
#define WEB_PROTO_PAGE_BLOCKS  20

/*
 * Values, by page.  Texts are strings, flags (is_, has_) booleans; [] is a list.
 *
 * Every page
 *     service     name of the service ("paperboy")
 *     address     for commands by mail, or ""
 *     owner       address of the operator
 *     privacy_url, imprint_url  of the operator, or ""
 *     csrf        token for the forms of this page
 *     messages[]  results of what was posted: kind ("ok", "error", "wait": for a
 *                 confirmation by mail), text; for an error in a field also its name,
 *                 field; in a filter also line (the text) and column (from 1)
 *
 * WEB_PAGE_HOME
 *     form_address, form_zone, form_filter  as typed
 *     is_landing  the page without any input
 *     is_sent     a confirmation was requested: the same for every address
 *     has_search  /search exists
 *     count       if is_landing: the papers of a month and their sources, as text
 *     zones[]     time zones: value, label, is_selected
 *     backtest    of the filter, see below
 *
 * WEB_PAGE_CONFIRM
 *     text        what a click confirms
 *     filters[]   query: a filter or command that waits for it
 *
 * WEB_PAGE_LEAVE (the same for any token)
 *
 * WEB_PAGE_LEFT: unsubscribed, paused ...
 *     undo        token for the action undo, or ""; posted to the same URL, which may
 *                 be that of the preferences
 *
 * WEB_PAGE_MESSAGE
 *     path        of the preferences of a new subscriber; or missing
 *
 * WEB_PAGE_PREFERENCES
 *     show        view, as requested: "" (filters), "filter" (the one with number; ""
 *                 if there is none), "blocks", "settings", "taste", "account"
 *     subscriber  address
 *     state       "active", "paused", "suspended"
 *     paused_until  a date as text, or ""
 *     next        next digest, as text, or ""
 *     valid_until time at which the link expires, as text
 *     page, pages, previous_page, next_page  of "" and "blocks", as text; or ""
 *     form_filter, form_name, form_max, form_note  of the form: as typed, stored, or ""
 *     backtest    after the action test
 *     filters[]   in "": up to WEB_PROTO_PAGE_FILTERS, in "filter": one; number, name,
 *                 query (as typed), canonical, max, note, is_first, is_last; backtest,
 *                 in "" without papers
 *     blocks[]    in "blocks": number, query
 *     settings[]  in "settings": key, value, options[]: value, is_selected (no
 *                 options: a text field); of tz also zones[]
 *     papers[]    in "taste": title, is_liked; the newest first
 *     watched[]   in "taste": id, title, day (of its end), number, is_ending
 *     raising, lowering  in "taste": words of liked and of hidden papers, as text
 *     proposals[] open ones: in "account" all; after add, edit and test of a filter,
 * and after an answer, those that came with it; number, text (the effect), query (the
 * command), is_applied (it can be undone) feeds[]     path ("/f/TOKEN"): in "account"
 * of all filters, in "filter" of this one; empty while feeds are off
 *
 * WEB_PAGE_SEARCH
 *     form_filter, backtest (none before a search)
 *
 * backtest
 *     count       papers in as many days, as text: "23 papers in 30 days"
 *     forecast    how many papers to expect, as text; may be missing
 *     days[]      one for each day, oldest first: day ("2026-11-22"), papers ("3")
 *     papers[]    newest first, a few: id, title, url, day
 *
 * WEB_PAGE_DIGEST
 *     html        the HTML part, complete
 *
 * WEB_PAGE_FEED
 *     id (a URI), title, updated (RFC 3339), etag
 *     entries[]   id (a URI), title, url, updated, published, abstract, reasons,
 *                 authors[]: name
 */

struct web_request *web_request_new(enum web_op op);
void web_request_free(struct web_request *request);
PB_DEFINE_AUTO(web_request, web_request_free);

/** Get a field. @return "" if it is missing; borrowed */
const char *web_request_get(const struct web_request *request, const char *name);

/** @param values  a floating reference is taken; NULL for none */
struct web_reply *web_reply_new(
    enum web_status status, enum web_page page, const char *language, GVariant *values);
void web_reply_free(struct web_reply *reply);
PB_DEFINE_AUTO(web_reply, web_reply_free);

/** Serialise as a frame. @return owned by the caller */
GBytes *web_request_write(const struct web_request *request);

/** @return NULL if it is larger than WEB_PROTO_REPLY_BYTES */
GBytes *web_reply_write(const struct web_reply *reply);

/**
 * Parse a frame without its length: untrusted.
 *
 * @return NULL with PB_ERROR_INPUT; owned by the caller
 */
struct web_request *web_request_parse(GBytes *frame, GError **error);
struct web_reply *web_reply_parse(GBytes *frame, GError **error);
