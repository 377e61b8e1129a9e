/*
 * fakesmtp.h - an SMTP server that misbehaves on demand, for tests.
 *
 * It runs in a thread of its own on a port of 127.0.0.1 that the kernel chooses, and
 * serves one connection after the other.  Without rules it accepts everything.
 */
#ifndef PAPERBOY_TESTS_LIB_FAKESMTP_H
#define PAPERBOY_TESTS_LIB_FAKESMTP_H

#include <glib.h>
#include <stdint.h>

#include "base/cleanup.h"

enum fake_stage {
	FAKE_GREETING,
	FAKE_EHLO,     /* and HELO, LHLO */
	FAKE_STARTTLS, /* there is no TLS behind it */
	FAKE_AUTH,
	FAKE_NOOP,
	FAKE_MAIL,
	FAKE_RCPT,
	FAKE_DATA,
	FAKE_BODY, /* the first bytes of a message have come */
	FAKE_DOT,
	FAKE_RSET,
	FAKE_QUIT,
	N_FAKE_STAGES,
};

enum fake_act {
	FAKE_NORMAL,
	FAKE_REPLY,      /* say the text, which has its own line ends */
	FAKE_REPLY_DROP, /* say it and close */
	FAKE_DROP,       /* close without a word; at FAKE_DOT the message was taken */
	FAKE_STALL,      /* say nothing until the client goes */
};

struct fake_rule {
	enum fake_act act;
	const char *text; /* copied; for the two that reply */
	unsigned skip;    /* behave well this often first */
	unsigned times;   /* then follow the rule this often; 0: always */
};

/* An EHLO answer that offers what a modern host does; texts may be put before. */
#define FAKE_HELLO_MODERN                                           \
	"250-fake.example\r\n250-SIZE 33554432\r\n250-8BITMIME\r\n" \
	"250-SMTPUTF8\r\n250-PIPELINING\r\n250-DSN\r\n"             \
	"250 ENHANCEDSTATUSCODES\r\n"

struct fakesmtp;

/** Start a server. */
struct fakesmtp *fakesmtp_new(void);
void fakesmtp_free(struct fakesmtp *server);
PB_DEFINE_AUTO(fakesmtp, fakesmtp_free);

uint16_t fakesmtp_get_port(const struct fakesmtp *server);

/** Set the rule of a stage; before or between deliveries. */
void
fakesmtp_set(struct fakesmtp *server, enum fake_stage stage, struct fake_rule rule);

/** Copy all that clients have sent, on all connections. */
char *fakesmtp_dup_transcript(struct fakesmtp *server);
unsigned fakesmtp_get_connections(struct fakesmtp *server);
unsigned fakesmtp_get_messages(struct fakesmtp *server);

#endif
