/*
 * inbound_fixture.h - a post over a made-up store, with a transport that answers as
 * told.
 */
#ifndef PAPERBOY_TESTS_LIB_INBOUND_FIXTURE_H
#define PAPERBOY_TESTS_LIB_INBOUND_FIXTURE_H

#include "lib/store_fixture.h"
#include "service/delivery/mailer.h"

#define NOW "2026-11-20T09:00:00Z"

#define GIVE_UP_S (36 * CLOCK_HOUR_S)

/* Replies of the transports of a test, and the messages they got. */
struct script {
	GMutex mutex;
	struct delivery answer; /* to every message */
	const char *domain;  /* only to those to this one, others are taken; or NULL */
	unsigned fail_after; /* then `later` to those after so many; 0: never */
	struct delivery later;
	unsigned tried;
	unsigned closed;
	GString *envelopes; /* "recipient<sender id\n" of each */
	GHashTable *bytes;  /* id -> checksum of the message */
	int *stop;          /* set after stop_after messages, or NULL */
	unsigned stop_after;
	const char *path_in_flight;  /* of the store: count SENDING rows; or NULL */
	unsigned most_sending;       /* the most of them */
	const char *alone;           /* a recipient, or NULL */
	unsigned sending_with_alone; /* SENDING rows while its message is sent */
	const char
	    *path; /* of the store: while the first is sent, people are forgotten */
};

/* A lab with people whose digests wait, a renderer and a post. */
struct inbound_fixture {
	struct store_fixture *fixture;
	struct renderer *renderer;
	GBytes *key;
	struct script script;
	struct mailer *mailer;
	unsigned senders;
	int pause;
	int64_t next; /* as the last run said */
};

/** As the post of the office works; a copy may be changed for mailer_reload(). */
struct mailer_options inbound_fixture_options(struct inbound_fixture *inbound);

/** A transport that does as the script says. @param data of struct script * */
struct transport *inbound_fixture_new_fake(void *data);

/** Start its post, again after mailer_free(). */
void inbound_fixture_open(struct inbound_fixture *inbound);

/** People p0@example.org and so on, each with one digest of two papers that waits. */
struct inbound_fixture *inbound_fixture_new(unsigned people, unsigned senders);
void inbound_fixture_free(struct inbound_fixture *inbound);
PB_DEFINE_AUTO(inbound_fixture, inbound_fixture_free);

/** Run the post at a time; it has to succeed, and leave nothing open. */
struct mailer_report
inbound_fixture_run_at(struct inbound_fixture *inbound, int64_t now, const int *stop);

#endif
