/*
 * fakesmtp.h - an SMTP server that misbehaves on demand, for tests.
 *
 * Runs in a thread on a free port of 127.0.0.1 and serves one connection at a time.
 * Without rules it accepts everything.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

#include "base/cleanup.h"

enum fake_stage {
	FAKE_GREETING,
	FAKE_EHLO,     /* and HELO, LHLO */
	FAKE_STARTTLS, /* without TLS */
	FAKE_AUTH,
	FAKE_NOOP,
	FAKE_MAIL,
	FAKE_RCPT,
	FAKE_DATA,
	FAKE_BODY, /* the first bytes of a message have arrived */
	FAKE_DOT,
	FAKE_RSET,
	FAKE_QUIT,
	N_FAKE_STAGES,
};

enum fake_act {
	FAKE_NORMAL,
	FAKE_REPLY,      /* send the text, which includes its line ends */
	FAKE_REPLY_DROP, /* send it and disconnect */
	FAKE_DROP,       /* disconnect; at FAKE_DOT the message was stored */
	FAKE_STALL,      /* do not reply until the client disconnects */
};

struct fake_rule {
	enum fake_act act;
	const char *text; /* copied; for FAKE_REPLY and FAKE_REPLY_DROP */
	unsigned skip;    /* number of normal replies before */
	unsigned times;   /* number of replies by the rule; 0: always */
};

/* An EHLO reply with the usual extensions; may be preceded by others. */
#define FAKE_HELLO_MODERN                                           \
	"250-fake.example\r\n250-SIZE 33554432\r\n250-8BITMIME\r\n" \
	"250-SMTPUTF8\r\n250-PIPELINING\r\n250-DSN\r\n"             \
	"250 ENHANCEDSTATUSCODES\r\n"

struct fakesmtp;

struct fakesmtp *fakesmtp_new(void);
void fakesmtp_free(struct fakesmtp *server);
PB_DEFINE_AUTO(fakesmtp, fakesmtp_free);

uint16_t fakesmtp_get_port(const struct fakesmtp *server);

/** Set the rule of a stage, between deliveries. */
void
fakesmtp_set(struct fakesmtp *server, enum fake_stage stage, struct fake_rule rule);

/** @return a copy of everything received, on all connections */
char *fakesmtp_dup_transcript(struct fakesmtp *server);
unsigned fakesmtp_get_connections(struct fakesmtp *server);
unsigned fakesmtp_get_messages(struct fakesmtp *server);
