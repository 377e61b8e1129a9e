/*
 * office.h - a post over a made-up store, with a transport that answers as told.
 */
#ifndef PAPERBOY_TESTS_LIB_OFFICE_H
#define PAPERBOY_TESTS_LIB_OFFICE_H

#include "lib/lab.h"
#include "service/post.h"

#define NOW "2026-11-20T09:00:00Z"

#define GIVE_UP_S (36 * CLOCK_HOUR_S)

/* What the transports of a test answer, and what they were given. */
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
struct office {
	struct lab *lab;
	struct renderer *renderer;
	GBytes *key;
	struct script script;
	struct post *post;
	unsigned senders;
	int pause;
	int64_t next; /* as the last run said */
};

/** As the post of the office works; a copy may be changed for post_reload(). */
struct post_options office_options(struct office *office);

/** A transport that does as the script says. @param data of struct script * */
struct transport *office_new_fake(void *data);

/** Start its post, again after post_free(). */
void office_open(struct office *office);

/** People p0@example.org and so on, each with one digest of two papers that waits. */
struct office *office_new(unsigned people, unsigned senders);
void office_free(struct office *office);
PB_DEFINE_AUTO(office, office_free);

/** Run the post at a time; it has to succeed, and leave nothing open. */
struct post_report office_run_at(struct office *office, int64_t now, const int *stop);

#endif
