/*
 * mailer_fixture.h - a mailer over a made-up store, with a scripted transport.
 */
#pragma once

#include "service/delivery/mailer.h"
#include "store_fixture.h"

#define NOW "2026-11-20T09:00:00Z"

#define GIVE_UP_S (36 * CLOCK_HOUR_S)

/* Replies of the transports of a test, and the messages that they received. */
struct script {
	GMutex mutex;
	struct delivery answer; /* to every message */
	const char *domain;     /* only for recipients in this one; or NULL */
	unsigned fail_after;    /* `later` after this many messages; 0: never */
	struct delivery later;
	unsigned tried;
	unsigned closed;
	GString *envelopes; /* "recipient<sender id\n" of each */
	GHashTable *bytes;  /* id -> checksum of the message */
	int *stop;          /* set after stop_after messages, or NULL */
	unsigned stop_after;
	const char *path_in_flight;  /* of the store: count SENDING rows; or NULL */
	unsigned most_sending;       /* their maximum */
	const char *alone;           /* a recipient, or NULL */
	unsigned sending_with_alone; /* SENDING rows while its message is sent */
	void (*hook)(void *data);    /* called while message hook_at is sent; or NULL */
	void *hook_data;
	unsigned hook_at;
	const char *path; /* of the store: erase people while the first is sent */
};

/* A store with subscribers whose digests are queued, a renderer and a mailer. */
struct mailer_fixture {
	struct store_fixture *fixture;
	struct renderer *renderer;
	GBytes *key;
	struct script script;
	struct mailer *mailer;
	unsigned senders;
	int pause;
	int64_t next; /* result of the last run */
};

/** Options of its mailer; a copy may be changed for mailer_reload(). */
struct mailer_options mailer_fixture_options(struct mailer_fixture *mailing);

/** New transport that follows the script. @param data of struct script * */
struct transport *mailer_fixture_new_fake(void *data);

/** Start its mailer, again after mailer_free(). */
void mailer_fixture_open(struct mailer_fixture *mailing);

/** Add people p0@example.org and so on, each with one queued digest of two papers. */
struct mailer_fixture *mailer_fixture_new(unsigned people, unsigned senders);
void mailer_fixture_free(struct mailer_fixture *mailing);
PB_DEFINE_AUTO(mailer_fixture, mailer_fixture_free);

/** Run the mailer at a time; it must succeed and leave nothing open. */
struct mailer_report
mailer_fixture_run_at(struct mailer_fixture *mailing, int64_t now, const int *stop);
