/*
 * event.h - the table of log events.
 *
 *	event_log(EVENT_DELIVERY_DEFERRED, EVENT_INT("outbox", 42),
 *	    EVENT_INT("attempt", 3), EVENT_SECONDS("next_in", 1200));
 *
 * On a terminal this is `delivery deferred outbox=42 attempt=3 next_in=1200s`: the name
 * of the event, then its fields.  The journal gets the same line with the MESSAGE_ID of
 * the event, its name in PAPERBOY_EVENT, and a field for each value:
 *PAPERBOY_OUTBOX=42, PAPERBOY_NEXT_IN=1200.
 *
 * Above debug level no event contains an address, a token, a subject or a text by a
 * person: fields are numbers and our own words, and addresses in a text from elsewhere
 * are masked.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

#include "store/core/store.h"

/* The names are those of the table in event.c; paperboyd(8) describes them. */
enum event_kind {
	EVENT_STARTED,
	EVENT_STOPPING,
	EVENT_ENDED,
	EVENT_THREAD_STUCK,
	EVENT_RUN_DONE,
	EVENT_CONFIG_RELOADED,
	EVENT_CONFIG_ERROR,
	EVENT_CONFIG_REFUSED,
	EVENT_CONFIG_APPLIED,
	EVENT_COLLECTOR_DONE,
	EVENT_COLLECTOR_FAILED,
	EVENT_FETCH_STORED,
	EVENT_FETCH_NOT_YET,
	EVENT_FETCH_STALE,
	EVENT_FETCH_FAILED,
	EVENT_PAPERS_ENRICHED,
	EVENT_ENRICH_FAILED,
	EVENT_SOURCE_PAUSED,
	EVENT_SOURCE_RECOVERED,
	EVENT_MATCH_DONE,
	EVENT_MATCH_SKIPPED,
	EVENT_DIGESTS_BUILT,
	EVENT_TIMEZONE_MISSING,
	EVENT_CLOCK_SET_BACK,
	EVENT_CLOCK_JUMPED,
	EVENT_CLOCK_TRUSTED,
	EVENT_MAINTENANCE_DONE,
	EVENT_WEB_CHECK_PASSED,
	EVENT_WEB_CHECK_FAILED,
	EVENT_ALERT_SENT,
	EVENT_ALERT_WAITING,
	EVENT_INDEX_REBUILT,
	EVENT_BACKUP_NOT_RECORDED,
	EVENT_STORE_STALE,
	EVENT_STORE_SUPERSEDED,
	EVENT_SCHEDULER_FAILED,
	EVENT_INBOX_STORED,
	EVENT_INBOX_REJECTED,
	EVENT_INBOX_HANDLED,
	EVENT_INBOX_FAILED,
	EVENT_INBOX_QUARANTINED,
	EVENT_INBOX_DONE,
	EVENT_INBOX_ERROR,
	EVENT_RECEIVER_FAILED,
	EVENT_RECEIVER_RECOVERED,
	EVENT_INBOX_SKIPPED,
	EVENT_INBOX_SKIP_CLEARED,
	EVENT_DELIVERY_SENT,
	EVENT_DELIVERY_DEFERRED,
	EVENT_DELIVERY_FAILED,
	EVENT_DELIVERY_UNKNOWN,
	EVENT_DELIVERY_EXPIRED,
	EVENT_DELIVERY_HELD,
	EVENT_DELIVERY_CANCELLED,
	EVENT_DELIVERY_REPLY,
	EVENT_DIGEST_CHANGED,
	EVENT_DIGEST_BROKEN,
	EVENT_DIGEST_SKIPPED,
	EVENT_REPLY_SUPPRESSED,
	EVENT_WEB_FAILED,
	EVENT_WEB_RECOVERED,
	EVENT_RELAY_FAILED,
	EVENT_RELAY_AUTH_FAILED,
	EVENT_RELAY_RECOVERED,
	EVENT_DOMAIN_PAUSED,
	EVENT_DOMAIN_RESUMED,
	EVENT_BOUNCE_RECORDED,
	EVENT_BOUNCES_DONE,
	EVENT_CHECKUPS_DONE,
	EVENT_SUBSCRIBER_SUSPENDED,
	EVENT_OUTBOX_RECOVERED,
	EVENT_OUTBOX_IN_DOUBT,
	EVENT_OUTBOX_FENCED,
	EVENT_LEASE_FAILED,
	EVENT_INSTANCE_EXPIRED,
	EVENT_STORE_REPLACED,
	EVENT_MAILER_DONE,
	EVENT_MAILER_FAILED,
	N_EVENTS,
};

/* Static. */
struct event_row {
	const char *name;       /* "delivery-deferred" */
	const char *message_id; /* of the journal: 32 hex digits; never changes */
	GLogLevelFlags level;
	const char *hint; /* end of the line, after a colon; or NULL */
};

const struct event_row *event_get_row(enum event_kind kind);

/** "error", "warning", "info" or "debug", as in the setting log_level. */
const char *event_get_level_name(const struct event_row *row);

enum event_type {
	EVENT_TYPE_NONE, /* terminates a list */
	EVENT_TYPE_INT,
	EVENT_TYPE_SECONDS,
	EVENT_TYPE_WORD,
	EVENT_TYPE_TEXT,
};

struct event_field {
	const char *name; /* lower case and '_'; static */
	enum event_type type;
	int64_t number;
	const char *text;
};

/* A negative number is omitted. */
#define EVENT_INT(name_, number_) \
	((struct event_field){    \
	    .name = (name_), .type = EVENT_TYPE_INT, .number = (number_)})
/* "20s" on a terminal. */
#define EVENT_SECONDS(name_, number_) \
	((struct event_field){        \
	    .name = (name_), .type = EVENT_TYPE_SECONDS, .number = (number_)})
/* A word without blanks, such as the name of a source; omitted if NULL or empty. */
#define EVENT_WORD(name_, word_) \
	((struct event_field){   \
	    .name = (name_), .type = EVENT_TYPE_WORD, .text = (word_)})
/* A text that may be external, last in the line; omitted if NULL or empty. */
#define EVENT_TEXT(text_) \
	((struct event_field){.name = "text", .type = EVENT_TYPE_TEXT, .text = (text_)})

/** Log an event: event_log(kind, field...). */
#define event_log(kind, ...) \
	event_log_fields(    \
	    (kind), (const struct event_field[]){__VA_ARGS__ __VA_OPT__(, ){0}})

/** @param fields terminated by EVENT_TYPE_NONE */
void event_log_fields(enum event_kind kind, const struct event_field *fields);

/** Log an event after the commit of the current transaction (store_after_commit()). */
#define event_log_committed(store, kind, ...)       \
	event_log_fields_committed((store), (kind), \
	    (const struct event_field[]){__VA_ARGS__ __VA_OPT__(, ){0}})
void event_log_fields_committed(
    struct store *store, enum event_kind kind, const struct event_field *fields);

/**
 * Replace mail addresses by [address], in the forms that mail servers use: bare, in
 * angle brackets, quoted, with an address literal, with %40.
 *
 * @return a new string
 */
char *event_mask_addresses(const char *text);
