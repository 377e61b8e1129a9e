/*
 * bounce_report.h - read a bounce, complaint or other automatic report.
 *
 * Delivery reports (RFC 3464) are read from their fields; other formats (qmail, Exim,
 * sendmail, providers) from the refusal that their text quotes.  Nothing in a report is
 * authenticated: the token in the address it was sent to says whom it concerns.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "model/inmail.h"
#include "transport/bounce_class.h"

enum bounce_kind {
	BOUNCE_KIND_NONE, /* written by a person, or not recognized */
	BOUNCE_KIND_BOUNCE,
	BOUNCE_KIND_COMPLAINT,
	BOUNCE_KIND_AUTO,
	BOUNCE_KIND_DELAYED, /* delivery is still being tried */
	BOUNCE_KIND_DELIVERED,
};

/* Strings are one line of UTF-8, of at most BOUNDS_ADDRESS_BYTES characters. */
struct bounce_report {
	enum bounce_kind kind;
	struct bounce_verdict verdict;
	char *status;          /* RFC 3463, or NULL */
	int code;              /* SMTP reply code, or 0 */
	GPtrArray *recipients; /* char *, as written in the report */
	char *agent;           /* product, or host, that reports; or NULL */
	char *line; /* decisive text, of BOUNDS_REPLY_TEXT_BYTES characters; or NULL */
};

struct bounce_report *bounce_report_read(const struct inmail *mail);
/** Read the reply that ended an SMTP transaction; `status` is taken from its text. */
struct bounce_report *bounce_report_new_from_reply(const struct bounce_refusal *reply);

void bounce_report_free(struct bounce_report *report);
PB_DEFINE_AUTO(bounce_report, bounce_report_free);

/** Stable names: "bounce", "complaint", "auto", "delayed", "delivered", "none". */
const char *bounce_kind_get_name(enum bounce_kind kind);
