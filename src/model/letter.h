/*
 * letter.h - one inbound message, as its reader understood it.
 *
 * Everything in it was said by a stranger.  Texts are valid UTF-8 without NUL or
 * control characters (the long ones have line ends) and within base/bounds.h; nothing
 * more is promised: a From proves nothing, and a report may be made up.
 */
#ifndef PAPERBOY_MODEL_LETTER_H
#define PAPERBOY_MODEL_LETTER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/auto.h"

struct letter_mailbox {
	char *address; /* an addr-spec that mail/address.h takes, domain in A-labels */
	char *name;    /* decoded, or NULL */
};

struct letter_field {
	char *name;  /* as written */
	char *value; /* on one line */
};

/* One result of an Authentication-Results field (RFC 8601 section 2.2). */
struct letter_result {
	char *method;     /* "dmarc", in lower case */
	char *result;     /* "pass", in lower case */
	char *properties; /* "header.from=example.org policy.x=y", or empty */
};

/* One Authentication-Results field; the first of a letter is the topmost. */
struct letter_authentication {
	char *raw;
	char *server;       /* the authserv-id in lower case; "" where it has none */
	GPtrArray *results; /* struct letter_result */
};

enum letter_source {
	LETTER_SOURCE_NONE, /* no part of it is text */
	LETTER_SOURCE_PLAIN,
	LETTER_SOURCE_HTML,
};

enum letter_report {
	LETTER_REPORT_NONE,
	LETTER_REPORT_DELIVERY,    /* RFC 3464 */
	LETTER_REPORT_FEEDBACK,    /* RFC 5965 */
	LETTER_REPORT_DISPOSITION, /* RFC 8098 */
	LETTER_REPORT_OTHER,       /* a multipart/report of a kind not known here */
};

struct letter {
	/* struct letter_mailbox; addresses that cannot be used are left out */
	GPtrArray *from;
	GPtrArray *sender;
	GPtrArray *reply_to;
	GPtrArray *to;
	GPtrArray *cc;
	char *subject;          /* decoded; "" where there is none */
	char *message_id;       /* without angle brackets, or NULL */
	GPtrArray *in_reply_to; /* char *, ids like the above */
	GPtrArray *references;  /* char *, the same; the nearest is the last */
	int64_t sent_at;        /* Date, s since the epoch, or -1 */
	unsigned from_fields;   /* how many From fields there are; one is right */
	unsigned received;      /* how many Received fields */
	char *return_path;      /* topmost: an address, "" for the null one, or NULL */
	char *delivered_to;     /* topmost Delivered-To, an address, or NULL */
	char *original_to;      /* topmost X-Original-To, an address, or NULL */

	GPtrArray *marks; /* struct letter_field: what tells automatic mail, in order */
	GPtrArray *authentications; /* struct letter_authentication, in order */

	enum letter_source source;
	bool is_cut; /* the text was longer than BOUNDS_LETTER_TEXT_BYTES */
	char *text;  /* what the person wrote: no quotes, attributions, signature */
	char *body;  /* all of the same part, cut at BOUNDS_LETTER_BODY_BYTES */

	enum letter_report report;
	/* Arrays of struct letter_field.  Delivery: the first group is about the
	 * message, each other about one recipient. */
	GPtrArray *groups;
	GPtrArray *returned; /* struct letter_field: headers of what was sent */
	bool is_filtered;    /* the reader could limit its own system calls */
};

struct letter *letter_new(void);
void letter_free(struct letter *letter);
PB_DEFINE_AUTO(letter, letter_free);

struct letter_mailbox *letter_mailbox_new(const char *address, const char *name);
void letter_mailbox_free(struct letter_mailbox *mailbox);

struct letter_field *letter_field_new(const char *name, const char *value);
void letter_field_free(struct letter_field *field);

struct letter_result *
letter_result_new(const char *method, const char *result, const char *properties);
void letter_result_free(struct letter_result *result);

struct letter_authentication *letter_authentication_new(const char *raw);
void letter_authentication_free(struct letter_authentication *authentication);

/** Append an empty group to the report. @return the letter's own */
GPtrArray *letter_add_group(struct letter *letter);

/**
 * Find a field by its name, in any case.
 *
 * @param fields  struct letter_field: marks, a group, or the returned headers
 * @return the value of the first one, of the letter, or NULL
 */
const char *letter_find_field(const GPtrArray *fields, const char *name);

#endif
