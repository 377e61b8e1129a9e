/*
 * web_check.h - self-test of one-click unsubscribing (RFC 8058).
 *
 * It does what a mailbox provider does: reads the header of a mail that we have sent to
 * ourselves, and sends the POST to the public URL, through DNS, TLS and the web server.
 * The token belongs to nobody (mail_token_format_check()); the daemon records that its
 * POST has arrived.
 *
 * A wrong result removes the https link from the headers of digests until a test
 * passes (service/state/one_click.h); people can still unsubscribe by mail.  A failure
 * of the network does not: many routers do not let a host reach its own public address.
 */
#ifndef PAPERBOY_SERVICE_HEALTH_WEB_CHECK_H
#define PAPERBOY_SERVICE_HEALTH_WEB_CHECK_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/random.h"
#include "config/settings.h"
#include "service/inbound/probe_mail.h"
#include "service/setup/factory.h"
#include "store/core/store.h"

/* Interval of the tests, and while one fails. */
#define WEB_CHECK_INTERVAL_S CLOCK_DAY_S
#define WEB_CHECK_RETRY_S    CLOCK_HOUR_S

/* Maximum time for one response of the page, and for the mail. */
#define WEB_CHECK_RESPONSE_S 10
#define WEB_CHECK_MAIL_S     60

/* In the order of the test. */
enum web_fault {
	WEB_FAULT_NONE,
	/* The returned mail. */
	WEB_FAULT_LOST_MAIL,
	WEB_FAULT_UNSIGNED,
	WEB_FAULT_INVALID_SIGNATURE,
	WEB_FAULT_NO_LINK,
	WEB_FAULT_SEVERAL_LINKS,
	WEB_FAULT_BROKEN_LINK,
	WEB_FAULT_OTHER_LINK,
	/* The page. */
	WEB_FAULT_NAME,
	WEB_FAULT_CONNECTION,
	WEB_FAULT_TIMEOUT,
	WEB_FAULT_NETWORK,
	WEB_FAULT_TLS,
	WEB_FAULT_EXPIRED,
	WEB_FAULT_WRONG_HOST,
	WEB_FAULT_UNTRUSTED,
	WEB_FAULT_ACTING_GET,
	WEB_FAULT_REDIRECT,
	WEB_FAULT_UNAVAILABLE,
	WEB_FAULT_SERVER_ERROR,
	WEB_FAULT_REFUSED,
	WEB_FAULT_CONTENT_TYPE,
	WEB_FAULT_BODY,
	WEB_FAULT_NOT_ARRIVED,
	WEB_FAULT_FORGED_TOKEN,
	WEB_FAULTS
};

struct web_fault_row {
	const char *name; /* stable: in the state file and in events */
	bool is_wrong;    /* one click does not work: no link in the header */
	const char *text;
	const char *action;
};

extern const struct web_fault_row web_fault_rows[WEB_FAULTS];

/** @return WEB_FAULT_NONE for "" and an unknown name */
enum web_fault web_fault_find(const char *name);

/* Result of a part of the test.  Owned. */
struct web_problem {
	enum web_fault fault;
	char *detail; /* one line; or "" */
};

void web_problem_clear(struct web_problem *problem);

/** "the page answers with a redirect: 302 to https://…" @return a new string */
char *web_problem_format(enum web_fault fault, const char *detail);

/* Borrowed. */
struct web_check {
	const struct settings *settings;
	struct store *store; /* of the calling thread */
	GBytes *key;
	const struct clock *clock;
	const struct random_source *random;
	bool is_daemon;      /* else paperboyctl, which may test at the same time */
	int64_t response_ms; /* timeout */
	const int *stop;     /* not 0: give up; or NULL */
};

/** Whether there is anything to test: web.url is set, and has https. */
bool web_check_is_possible(const struct settings *settings);

/** Make a link of a test, as in a digest. @return a new string */
char *web_check_new_link(const struct web_check *check);

/**
 * Check a returned mail.
 *
 * @param mail     NULL: not received
 * @param link     that it was sent with
 * @param problem  set
 */
void web_check_examine_mail(
    const struct probe_mail *mail, const char *link, struct web_problem *problem);

/**
 * Send the requests.
 *
 * @param problem  set, WEB_FAULT_NONE if it works
 * @return false if the store fails
 */
bool web_check_request(
    const struct web_check *check, struct web_problem *problem, GError **error);

/**
 * Save the result.
 *
 * @param problem     the worst one
 * @param is_changed  set to whether the headers of digests change
 */
bool web_check_save(const struct web_check *check, const struct web_problem *problem,
    bool *is_changed, GError **error);

/** Get the problem that is to be saved: a wrong result before one of the network. */
const struct web_problem *
web_problem_get_worst(const struct web_problem *one, const struct web_problem *other);

/** @return the time of the next test of the daemon, s; -1: none */
int64_t web_check_get_due(const struct settings *settings, int64_t now);

/**
 * Run the whole test, and save its result.  Blocks for a minute or so.
 *
 * @param transport   for the mail
 * @param problem     set on success
 * @param is_changed  as above
 */
bool
web_check_run(const struct web_check *check, const struct factory_transport *transport,
    const int *stop_fd, struct web_problem *problem, bool *is_changed, GError **error);

#endif
