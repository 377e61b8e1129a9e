/*
 * self_test.h - self-test of sending, receiving and one-click unsubscribing (RFC 8058).
 *
 * It does what a mailbox provider does: reads the header of a mail that we have sent to
 * ourselves, and sends the POST to the public URL, through DNS, TLS and the web server.
 * The token belongs to nobody (mail_token_format_check()); the running daemon receives
 * the mail (check_mail.h) and records that the POST has arrived.
 *
 * A wrong result removes the https link from the headers of digests until a test
 * passes (service/state/one_click.h); people can still unsubscribe by mail.  A failure
 * of the network does not: many routers do not let a host reach its own public address.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/random.h"
#include "config/settings.h"
#include "service/inbound/check_mail.h"
#include "service/setup/factory.h"
#include "store/core/store.h"

/* Interval of the tests of the daemon, and while one fails. */
#define SELF_TEST_INTERVAL_S CLOCK_DAY_S
#define SELF_TEST_RETRY_S    CLOCK_HOUR_S

/* Maximum time for one response of the page, and for the mail. */
#define SELF_TEST_RESPONSE_S 10
#define SELF_TEST_MAIL_S     60

enum self_test_fault {
	SELF_TEST_FAULT_NONE,
	SELF_TEST_FAULT_MAIL,        /* the mail did not come back */
	SELF_TEST_FAULT_HEADER,      /* it came back without our link */
	SELF_TEST_FAULT_SIGNATURE,   /* missing or wrong */
	SELF_TEST_FAULT_NETWORK,     /* no connection, or no response */
	SELF_TEST_FAULT_TLS,         /* no TLS, or an invalid certificate */
	SELF_TEST_FAULT_HTTP,        /* a wrong response */
	SELF_TEST_FAULT_NOT_ARRIVED, /* the right response, but not from us */
	SELF_TEST_FAULTS
};

struct self_test_row {
	const char *name; /* stable: in the state file and in events */
	bool is_wrong;    /* one click does not work: no link in the header */
	const char *text;
	const char *action; /* NULL for NONE */
};

extern const struct self_test_row self_test_rows[SELF_TEST_FAULTS];

/** @return SELF_TEST_FAULT_NONE for "" and an unknown name */
enum self_test_fault self_test_find_fault(const char *name);

/* Result of a part of the test.  Owned. */
struct self_test_result {
	enum self_test_fault fault;
	char *detail; /* one line; or "" */
};

void self_test_result_clear(struct self_test_result *result);

/** "the page gives a wrong response: status 404" @return a new string */
char *self_test_format(enum self_test_fault fault, const char *detail);

/* Borrowed. */
struct self_test {
	const struct settings *settings;
	struct store *store; /* of the calling thread */
	GBytes *key;
	const struct clock *clock;
	const struct random_source *random;
	const struct factory_transport *transport; /* NULL: send no mail */
	bool is_daemon;     /* else paperboyctl, which may test at the same time */
	int64_t mail_s;     /* timeout for the mail */
	int64_t response_s; /* timeout for each response of the page */
	const int *stop;    /* not 0: give up; or NULL */
	const int *stop_fd; /* the same, for the transport (transport.h) */
};

/** Whether there is a page to test: web.url is set, and has https. */
bool self_test_has_page(const struct settings *settings);

/** Make a link of a test, as in a digest. @return a new string */
char *self_test_new_link(const struct self_test *test);

/**
 * Send a mail with the header of digests to ourselves, so that it is signed and changed
 * on its way as they are, and wait for it.  Needs commands.address and a running
 * daemon.
 *
 * @param link     https link in List-Unsubscribe, or NULL
 * @param is_bare  with the token in the subject, even if commands.delimiter is set
 * @param mail     set if true; to be cleared
 * @param reason   set if false; owned by the caller
 */
bool self_test_send_mail(const struct self_test *test, const char *link, bool is_bare,
    struct check_mail *mail, char **reason);

/**
 * Check link and signature of a returned mail.
 *
 * @param link    that it was sent with
 * @param result  set
 */
void self_test_check_mail(
    const struct check_mail *mail, const char *link, struct self_test_result *result);

/**
 * Send the requests to the page.
 *
 * @param result  set
 * @return false if the store fails
 */
bool self_test_check_page(
    const struct self_test *test, struct self_test_result *result, GError **error);

/**
 * Save the result: a wrong one before a failure of the network.
 *
 * @param is_offered  set: whether digests offer one click
 * @return the one of the two that was saved, or NULL on failure
 */
const struct self_test_result *
self_test_save(const struct self_test *test, const struct self_test_result *mail,
    const struct self_test_result *page, bool *is_offered, GError **error);

/** @return the time of the next test of the daemon, s; -1: none */
int64_t self_test_get_due(const struct settings *settings, int64_t now);

/**
 * Run the whole test, and save its result.  Blocks for a minute or so.
 *
 * @param result      set on success
 * @param is_offered  as above
 */
bool self_test_run(const struct self_test *test, struct self_test_result *result,
    bool *is_offered, GError **error);
