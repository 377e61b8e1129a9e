/*
 * mailer.h - from the outbox to the relay: claims, composes, records.
 *
 * One thread owns this and the store; K senders have a transport each and no store.
 * A claim is committed before its message goes out.  Results are committed as soon as
 * there is one, with the claims that follow: while one group is synced to the disk the
 * next one gathers.  So at most MAILER_AHEAD messages for each connection are in flight
 * when the daemon is killed, and only those may arrive twice, with the same Message-ID
 * and the same bytes (store/mail/outbox.h).  To record each result before the next
 * message goes out would make that one a connection, at the price of a sync for each
 * message.
 */
#ifndef PAPERBOY_SERVICE_DELIVERY_MAILER_H
#define PAPERBOY_SERVICE_DELIVERY_MAILER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "message/subaddress.h"
#include "render/renderer.h"
#include "service/log/heartbeat.h"
#include "store/core/store.h"
#include "transport/transport.h"

/*
 * Maximum number of messages for each connection that are in flight, which is from the
 * commit of the claim to that of the result: one that was answered, or whose answer is
 * awaited; one that follows it in the same write; and one that is ready.
 */
#define MAILER_AHEAD 3

struct mailer;

struct mailer_options {
	struct store *store;       /* borrowed; of the thread that runs the post */
	struct renderer *renderer; /* borrowed; likewise */
	const struct clock *clock;
	GBytes *key;               /* the secret of the state folder; borrowed */
	const char *envelope_from; /* where bounces of digests go; borrowed */
	/* Of what each digest has an address of its own for its bounces; NULL: all have
	 * envelope_from.  Borrowed. */
	const struct subaddress_base *bounces;
	unsigned senders; /* at least 1 */
	int64_t expire_s; /* a digest that is older is not tried again; letters have
	                      ages of their own (transport/backoff.h) */
	/* Messages at most; 0: no limit (transport/token_bucket.h,
	 * service/delivery/domain_throttle.h). */
	unsigned per_second, per_hour, domain_per_hour;
	/* Make a transport; called once for each sender, in the post's thread. */
	struct transport *(*new_transport)(void *data);
	void *data;
	/* Where the post and its senders promise to live on; borrowed; or NULL. */
	struct heartbeats *heartbeats;
	/* With less room than that in the state folder nothing is sent: what came of it
	 * could not be recorded, and would be sent again.  NULL: it is not looked at.
	 */
	const char *state_dir; /* borrowed; also of service/state/generation.h */
	int64_t disk_least_bytes;
	const int *pause; /* not 0: come back as for a stop; borrowed; or NULL */
	/* Once readable no answer of the relay is waited for any more; borrowed; or
	 * NULL. */
	const int *stop_fd;
};

struct mailer_report {
	unsigned sent;
	unsigned deferred;
	unsigned failed;
	unsigned unknown;
	unsigned cancelled;
};

/* What is known of the relay. */
struct mailer_relay {
	bool is_away;
	bool is_login;    /* it refuses our login */
	int64_t since;    /* away, s */
	int64_t retry_at; /* the next trial, s */
	unsigned paused;  /* domains that are left alone for their policy */
	char *domain;     /* one of them, owned; or NULL */
};

void mailer_relay_clear(struct mailer_relay *relay);

/**
 * Start the senders.  What the last run left as being sent is marked UNKNOWN.
 *
 * @param options  copied
 */
struct mailer *mailer_new(const struct mailer_options *options, GError **error);

/** End the senders, which finish what they have. */
void mailer_free(struct mailer *mailer);
PB_DEFINE_AUTO(mailer, mailer_free);

/**
 * Work by other options from the next run on.  Between two runs only: nothing is in
 * flight then, so no message that is under way changes.  What is known of the relay is
 * kept, and so are results that the store has not taken yet.
 *
 * @param options         copied; what the old ones borrowed may go afterwards
 * @param is_other_relay  forget what is known of the relay: host, login or folder
 * differ
 * @return false when a thread cannot be had: the old ones stay
 */
bool mailer_reload(struct mailer *mailer, const struct mailer_options *options,
    bool is_other_relay, GError **error);

/** Tell how the relay is. @param relay  to be cleared by the caller */
void mailer_describe_relay(const struct mailer *mailer, struct mailer_relay *relay);

/** One line about the relay, for a status display; without an address. @return a new
 * string */
char *mailer_format_relay(const struct mailer *mailer);

/** End a wait for the relay: the next run tries it with one message. */
void mailer_reset_breakers(struct mailer *mailer);

/**
 * Send all that is due, until nothing is, the relay is down, or *stop is set.
 * Nothing is in flight when it returns.  A pause ends it too; what is on its way is
 * heard out first.
 *
 * @param stop  NULL for never
 * @param next  set to when to run again, s; -1 for never
 * @return false when the store fails; what is known by then is recorded by the next
 *         run
 */
bool mailer_run(struct mailer *mailer, const int *stop, struct mailer_report *report,
    int64_t *next, GError **error);

/** Renew a promise while a run goes on. @param pulse  of the thread that runs it; NULL
 * for none; borrowed */
void mailer_set_heartbeat(struct mailer *mailer, struct heartbeat *heartbeat);

#endif
