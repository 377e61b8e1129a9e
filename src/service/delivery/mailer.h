/*
 * mailer.h - queue runner: claims messages, loads them, records the results.
 *
 * One thread owns the mailer and the store; each connection has a thread that composes
 * messages and sends them, with a transport and no store.  Claims are committed before
 * messages are sent; results are committed together with the next claims, half of
 * the messages in flight at a time: while that group is synced, connections send the
 * rest.  So at most MAILER_IN_FLIGHT_MAX messages are in flight when the daemon is
 * killed, and only these may arrive twice, with the same Message-ID and bytes
 * (store/mail/outbox.h). Recording each result before the next message is sent would
 * reduce that to one per connection, at the cost of a sync per message.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "message/subaddress.h"
#include "render/renderer.h"
#include "service/log/heartbeat.h"
#include "service/state/lease.h"
#include "store/core/store.h"
#include "transport/transport.h"

/*
 * Maximum number of messages in flight, from the commit of the claim to that of the
 * result.  Half of them occupy the connections while the other half is recorded, which
 * takes a few ms.
 */
#define MAILER_IN_FLIGHT_MAX(connections) (MIN((connections)*9 + 12, 200))

struct mailer;

struct mailer_options {
	struct store *store;       /* borrowed; of the thread that runs the mailer */
	struct renderer *renderer; /* borrowed; of the threads of all connections */
	struct lease *lease;       /* borrowed; NULL: without end */
	const struct clock *clock;
	GBytes *key;               /* the secret of the state directory; borrowed */
	const char *envelope_from; /* for bounces of digests; borrowed */
	/* Base of the VERP addresses of digests; NULL: envelope_from.  Borrowed. */
	const struct subaddress_base *bounces;
	unsigned connections; /* at least 1 */
	int64_t expire_s; /* maximum time of digests in the queue; replies have their
	                     own (transport/backoff.h) */
	/* Maximum numbers of messages; 0: no limit (transport/token_bucket.h,
	 * service/delivery/domain_throttle.h). */
	unsigned per_second, per_hour, per_day, domain_per_hour;
	/* Create a transport; called once for each connection, in the mailer's thread.
	 */
	struct transport *(*new_transport)(void *data);
	void *data;
	/* Borrowed; or NULL. */
	struct heartbeats *heartbeats;
	/* With less free space in the state directory nothing is sent: the result could
	 * not be recorded, and the message would be sent again.  NULL: no check.
	 */
	const char *state_dir; /* borrowed; also of service/state/generation.h */
	int64_t min_free_bytes;
	const int *pause; /* not 0: return as for a stop; borrowed; or NULL */
	/* Readable: cut connections short; borrowed; or NULL. */
	const int *stop_fd;
};

struct mailer_report {
	unsigned sent;
	unsigned deferred;
	unsigned failed;
	unsigned unknown;
	unsigned cancelled;
};

struct mailer_relay {
	bool is_away;
	bool is_auth_failed; /* it rejects the login */
	int64_t since;       /* s */
	int64_t retry_at;    /* next trial, s */
	unsigned paused;     /* domains paused after policy rejections */
	char *domain;        /* one of them, owned; or NULL */
};

void mailer_relay_clear(struct mailer_relay *relay);

/**
 * Start the connections.  Messages left as SENDING by the last run become UNKNOWN.
 *
 * @param options  copied
 */
struct mailer *mailer_new(const struct mailer_options *options, GError **error);

/** Stop the connections, which finish their messages. */
void mailer_free(struct mailer *mailer);
PB_DEFINE_AUTO(mailer, mailer_free);

/**
 * Change the options, between runs only, when nothing is in flight.  The state of the
 * relay and uncommitted results are kept.
 *
 * @param options         copied; data borrowed by the old ones may be freed afterwards
 * @param is_other_relay  reset the state of the relay: host, login or directory differ
 * @return false if a thread cannot be started; the old options stay
 */
bool mailer_reload(struct mailer *mailer, const struct mailer_options *options,
    bool is_other_relay, GError **error);

/** Get the state of the relay. @param relay  to be cleared by the caller */
void mailer_describe_relay(const struct mailer *mailer, struct mailer_relay *relay);

/** Format the state of the relay, without addresses. @return owned by the caller */
char *mailer_format_relay(const struct mailer *mailer);

/** Close the breaker and end pauses: the next run tries one message. */
void mailer_reset_breakers(struct mailer *mailer);

/**
 * Send all due messages, until there are none, the relay fails, or *stop or *pause is
 * set.  Messages in flight are completed first.
 *
 * @param stop  or NULL
 * @param next  set to the time of the next run, s; -1: none
 * @return false if the store fails; results known by then are recorded by the next run
 */
bool mailer_run(struct mailer *mailer, const int *stop, struct mailer_report *report,
    int64_t *next, GError **error);

/** Set the heartbeat of the thread that runs the mailer. @param heartbeat  borrowed; or
 * NULL */
void mailer_set_heartbeat(struct mailer *mailer, struct heartbeat *heartbeat);
