/*
 * inmail.h - one inbound message, as its reader understood it.
 *
 * Everything in it was said by a stranger.  Texts are valid UTF-8 without NUL or
 * control characters (the long ones have line ends) and within base/bounds.h; nothing
 * more is promised: a From proves nothing, and a report may be made up.
 */
#ifndef PAPERBOY_MODEL_INMAIL_H
#define PAPERBOY_MODEL_INMAIL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

struct inmail_address {
	char *
	    address; /* an addr-spec that message/address.h takes, domain in A-labels */
	char *name;  /* decoded, or NULL */
};

struct inmail_field {
	char *name;  /* as written */
	char *value; /* on one line */
};

/* One result of an Authentication-Results field (RFC 8601 section 2.2). */
struct auth_result {
	char *method;     /* "dmarc", in lower case */
	char *result;     /* "pass", in lower case */
	char *properties; /* "header.from=example.org policy.x=y", or empty */
};

/* One Authentication-Results field; the first of a letter is the topmost. */
struct auth_results {
	char *raw;
	char *server;       /* the authserv-id in lower case; "" where it has none */
	GPtrArray *results; /* struct auth_result */
};

enum inmail_source {
	INMAIL_SOURCE_NONE, /* no part of it is text */
	INMAIL_SOURCE_PLAIN,
	INMAIL_SOURCE_HTML,
};

enum inmail_report {
	INMAIL_REPORT_NONE,
	INMAIL_REPORT_DELIVERY,    /* RFC 3464 */
	INMAIL_REPORT_FEEDBACK,    /* RFC 5965 */
	INMAIL_REPORT_DISPOSITION, /* RFC 8098 */
	INMAIL_REPORT_OTHER,       /* a multipart/report of a kind not known here */
};

struct inmail {
	/* struct inmail_address; addresses that cannot be used are left out */
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

	GPtrArray *marks; /* struct inmail_field: what tells automatic mail, in order */
	GPtrArray *authentications; /* struct auth_results, in order */

	enum inmail_source source;
	bool is_cut; /* the text was longer than BOUNDS_MAIL_TEXT_BYTES */
	char *text;  /* what the person wrote: no quotes, attributions, signature */
	char *body;  /* all of the same part, cut at BOUNDS_MAIL_BODY_BYTES */

	enum inmail_report report;
	/* Arrays of struct inmail_field.  Delivery: the first group is about the
	 * message, each other about one recipient. */
	GPtrArray *groups;
	GPtrArray *returned; /* struct inmail_field: headers of what was sent */
	bool is_filtered;    /* the reader could limit its own system calls */
};

struct inmail *inmail_new(void);
void inmail_free(struct inmail *mail);
PB_DEFINE_AUTO(inmail, inmail_free);

struct inmail_address *inmail_address_new(const char *address, const char *name);
void inmail_address_free(struct inmail_address *mailbox);

struct inmail_field *inmail_field_new(const char *name, const char *value);
void inmail_field_free(struct inmail_field *field);

struct auth_result *
auth_result_new(const char *method, const char *result, const char *properties);
void auth_result_free(struct auth_result *result);

struct auth_results *auth_results_new(const char *raw);
void auth_results_free(struct auth_results *authentication);

/** Append an empty group to the report. @return the letter's own */
GPtrArray *inmail_add_group(struct inmail *mail);

/**
 * Find a field by its name, in any case.
 *
 * @param fields  struct inmail_field: marks, a group, or the returned headers
 * @return the value of the first one, of the letter, or NULL
 */
const char *inmail_find_field(const GPtrArray *fields, const char *name);

#endif
