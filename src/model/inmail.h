/*
 * inmail.h - a parsed inbound message.
 *
 * All of it is untrusted.  Strings are valid UTF-8 without NUL or control characters
 * (text and body contain line ends) and within the limits of base/bounds.h.  Nothing
 * else is guaranteed: From is not authenticated, and reports may be forged.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

struct inmail_address {
	char *address; /* addr-spec valid for message/address.h, domain in A-labels */
	char *name;    /* decoded, or NULL */
};

struct inmail_field {
	char *name;  /* as written */
	char *value; /* unfolded */
};

/* One result of an Authentication-Results field (RFC 8601 section 2.2). */
struct auth_result {
	char *method;     /* "dmarc", in lower case */
	char *result;     /* "pass", in lower case */
	char *properties; /* "header.from=example.org policy.x=y", or empty */
};

/* One Authentication-Results field; the first of a message is the topmost. */
struct auth_results {
	char *raw;
	char *server;       /* the authserv-id in lower case; "" if absent */
	GPtrArray *results; /* struct auth_result */
};

enum inmail_source {
	INMAIL_SOURCE_NONE, /* no text part */
	INMAIL_SOURCE_PLAIN,
	INMAIL_SOURCE_HTML,
};

enum inmail_report {
	INMAIL_REPORT_NONE,
	INMAIL_REPORT_DELIVERY,    /* RFC 3464 */
	INMAIL_REPORT_FEEDBACK,    /* RFC 5965 */
	INMAIL_REPORT_DISPOSITION, /* RFC 8098 */
	INMAIL_REPORT_OTHER,       /* multipart/report of an unsupported type */
};

struct inmail {
	/* struct inmail_address; unusable addresses are omitted */
	GPtrArray *from;
	GPtrArray *sender;
	GPtrArray *reply_to;
	GPtrArray *to;
	GPtrArray *cc;
	char *subject;          /* decoded; "" if absent */
	char *message_id;       /* without angle brackets, or NULL */
	GPtrArray *in_reply_to; /* char *, same format */
	GPtrArray *references;  /* char *, same format; the parent is last */
	int64_t sent_at;        /* Date, s since the epoch, or -1 */
	unsigned from_fields;   /* number of From fields; valid if 1 */
	unsigned received;      /* number of Received fields */
	char *return_path;      /* topmost: address, "" for the null path, or NULL */
	char *delivered_to;     /* topmost Delivered-To, or NULL */
	char *original_to;      /* topmost X-Original-To, or NULL */

	GPtrArray *marks; /* struct inmail_field: header fields that indicate automatic
	                   * mail, in order */
	GPtrArray *authentications; /* struct auth_results, in order */

	enum inmail_source source;
	bool is_cut; /* text was cut at BOUNDS_MAIL_TEXT_BYTES */
	char *text;  /* without quotes, attribution lines and signature */
	char *body;  /* the whole part, cut at BOUNDS_MAIL_BODY_BYTES */

	enum inmail_report report;
	/* Arrays of struct inmail_field.  In a delivery report the first group has the
	 * per-message fields, each other group those of one recipient. */
	GPtrArray *groups;
	GPtrArray *returned; /* struct inmail_field: header of the returned message */
	/* The works of attached files, as in struct bibliography. */
	GPtrArray *works;
	unsigned unnamed_works;
	bool is_filtered; /* the parser ran under its seccomp filter */
};

struct inmail *inmail_new(void);
void inmail_free(struct inmail *mail);
PB_DEFINE_AUTO(inmail, inmail_free);

struct inmail_address *inmail_address_new(const char *address, const char *name);
struct inmail_field *inmail_field_new(const char *name, const char *value);
struct auth_result *
auth_result_new(const char *method, const char *result, const char *properties);
struct auth_results *auth_results_new(const char *raw);

/** Append an empty group to the report. @return owned by the message */
GPtrArray *inmail_add_group(struct inmail *mail);

/**
 * Find the first field with a name, ignoring case.
 *
 * @param fields  struct inmail_field: marks, a group, or the returned header
 * @return its value, owned by the message, or NULL
 */
const char *inmail_find_field(const GPtrArray *fields, const char *name);
