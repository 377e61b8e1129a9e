/*
 * imap.c - IMAP receiver: connect, poll the folder, wait for changes, reconnect.
 */
#include "receive/imap.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "receive/imap_poll.h"
#include "receive/imap_session.h"

/* A connection that lasted this long resets the retry delay. */
#define STABLE_CONNECTION_US  (60 * G_USEC_PER_SEC)
/* Consecutive polls without a message before polling is slowed down. */
#define MAX_EMPTY_POLLS       3
#define MAX_EMPTY_DELAY_STEPS 30

/* Limits the retry delay after a successful poll to about half a minute. */
#define FAILURES_AFTER_POLL 4

struct imap_receiver {
	struct receiver receiver; /* first member */
	struct imap_options options;
	struct imap_poll poll;
	char *reported;    /* last problem reported to the sink, or NULL */
	unsigned failures; /* consecutive */
};

/* Report a problem once; NULL: resolved. */
static void
report(
    struct imap_receiver *self, const struct receiver_sink *sink, const GError *problem)
{
	if (g_strcmp0(self->reported, problem ? problem->message : NULL) == 0)
		return;
	g_free(self->reported);
	self->reported = problem ? g_strdup(problem->message) : NULL;
	sink->report(sink->data, problem);
}

/* Add up to 25 % jitter, so that clients do not reconnect at the same time. */
static int64_t
add_jitter(const struct imap_receiver *self, int64_t wait_ms)
{
	double part = self->options.random(self->options.random_data);

	return wait_ms + (int64_t)((double)wait_ms * CLAMP(part, 0, 1) / 4);
}

static int64_t
choose_retry_ms(const struct imap_receiver *self, bool is_refused)
{
	const struct imap_times *times = &self->options.times;
	int64_t wait_ms = is_refused ? times->login_failed_ms : times->retry_ms;
	int64_t max_ms = MAX(wait_ms, (int64_t)times->retry_max_ms);

	for (unsigned i = 1; i < self->failures && wait_ms < max_ms; i++)
		wait_ms *= 2;
	return add_jitter(self, MIN(wait_ms, max_ms));
}

/* Limit the rate of polls if the server announces messages that do not exist. */
static bool
pause_after_empty(struct imap_receiver *self, const struct receiver_sink *sink,
    int stop_fd, unsigned n_empty, int64_t waited_us)
{
	if (n_empty <= MAX_EMPTY_POLLS || waited_us >= G_USEC_PER_SEC)
		return true;
	return imap_wait(sink, stop_fd,
	    MIN(n_empty - MAX_EMPTY_POLLS, MAX_EMPTY_DELAY_STEPS) *
	        (int64_t)self->options.times.retry_ms / 2);
}

/* Use one connection until it ends. @return false with the reason */
static bool
run_connection(struct imap_receiver *self, struct imap_session *session,
    const struct receiver_sink *sink, int stop_fd, GError **error)
{
	unsigned n_empty = 0;

	for (;;) {
		enum imap_poll_result result = IMAP_POLL_EMPTY;
		int64_t began_at;

		if (!imap_poll_run(&self->poll, session, sink, stop_fd, &result, error))
			return false;
		self->failures = MIN(self->failures, FAILURES_AFTER_POLL);
		report(self, sink, NULL);
		began_at = g_get_monotonic_time();
		switch (result) {
		case IMAP_POLL_MORE:
			n_empty = 0;
			continue;
		case IMAP_POLL_POSTPONED:
			n_empty = 0;
			imap_wait(sink, stop_fd,
			    add_jitter(self, self->options.times.postponed_ms));
			continue;
		case IMAP_POLL_DONE:
			n_empty = 0;
			break;
		case IMAP_POLL_EMPTY:
			n_empty++;
			break;
		}
		if (!imap_session_wait(session, error))
			return false;
		if (!pause_after_empty(self, sink, stop_fd, n_empty,
		        g_get_monotonic_time() - began_at))
			return true;
	}
}

static bool
imap_run(struct receiver *receiver, const struct receiver_sink *sink, int stop_fd,
    GError **error)
{
	struct imap_receiver *self = (struct imap_receiver *)receiver;

	(void)error; /* server problems may be transient: always retried */
	imap_poll_begin(&self->poll);
	while (!stream_is_stopped(stop_fd)) {
		pb_auto(imap_session) session = NULL;
		g_autoptr(GError) problem = NULL;
		int64_t began_at = g_get_monotonic_time();
		bool is_refused = false;
		bool was_stable = false;

		session = imap_session_open(
		    &self->options, sink, stop_fd, &is_refused, &problem);
		if (session) {
			run_connection(self, session, sink, stop_fd, &problem);
			was_stable =
			    self->poll.n_taken > 0 ||
			    g_get_monotonic_time() - began_at >= STABLE_CONNECTION_US;
			self->poll.n_taken = 0;
		}
		if (stream_is_stopped(stop_fd))
			break;
		/* Servers close long-lived connections; this is not reported. */
		if (problem && !was_stable)
			report(self, sink, problem);
		self->failures = was_stable ? 1 : self->failures + 1;
		imap_wait(sink, stop_fd, choose_retry_ms(self, is_refused));
	}
	return true;
}

/* Use one connection until all that can be received now is received. */
static bool
imap_poll_once(
    struct receiver *receiver, const struct receiver_sink *sink, GError **error)
{
	struct imap_receiver *self = (struct imap_receiver *)receiver;
	pb_auto(imap_session) session = NULL;
	enum imap_poll_result result = IMAP_POLL_MORE;
	bool is_refused;

	imap_poll_begin(&self->poll);
	session = imap_session_open(&self->options, sink, -1, &is_refused, error);
	while (session && result == IMAP_POLL_MORE) {
		if (!imap_poll_run(&self->poll, session, sink, -1, &result, error))
			return false;
		report(self, sink, NULL);
	}
	return session != NULL;
}

static bool
imap_probe(struct receiver *receiver, char **reported, GError **error)
{
	struct imap_receiver *self = (struct imap_receiver *)receiver;
	static const struct receiver_sink no_sink;
	bool is_refused;
	pb_auto(imap_session) session =
	    imap_session_open(&self->options, &no_sink, -1, &is_refused, error);

	if (!session)
		return false;
	*reported = g_strdup_printf("logged in to %s as %s, folder %s exists",
	    self->options.host, self->options.user, self->options.folder);
	return true;
}

static void
imap_free(struct receiver *receiver)
{
	struct imap_receiver *self = (struct imap_receiver *)receiver;
	struct imap_options *options = &self->options;

	if (options->cursor_store.free)
		options->cursor_store.free(options->cursor_store.data);
	imap_poll_clear(&self->poll);
	g_free((char *)options->host);
	g_free((char *)options->ca_file);
	g_free((char *)options->user);
	g_free((char *)options->password);
	g_free((char *)options->folder);
	g_free((char *)options->move_to);
	g_free(self->reported);
	g_free(self);
}

/* Names are sent unchanged: libetpan quotes them but does not encode them. */
static bool
is_folder_name(const char *name)
{
	size_t length = strlen(name);

	if (length == 0 || length > BOUNDS_IMAP_NAME_BYTES)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!g_ascii_isprint(name[i]) || strchr("*%", name[i]))
			return false;
	return true;
}

static bool
check_options(const struct imap_options *options, GError **error)
{
	const char *wrong = NULL;

	if (!options->user || !*options->user ||
	    (!options->password && !options->tokens))
		wrong = "missing user or password";
	else if (!is_folder_name(options->folder) ||
	         (options->move_to && !is_folder_name(options->move_to)))
		wrong = "a folder name is empty, too long or not printable ASCII "
		        "(other characters need modified UTF-7, e.g. Entw&APw-rfe)";
	else if (options->move_to && strcmp(options->folder, options->move_to) == 0)
		wrong = "cannot move messages to the folder that they are in";
	if (!wrong)
		return true;
	return pb_fail(error, PB_ERROR_INPUT, "cannot use the IMAP folder: %s", wrong);
}

struct receiver *
imap_receiver_new(const struct imap_options *options, GError **error)
{
	struct imap_receiver *self;

	if (!check_options(options, error))
		return NULL;
	self = g_new0(struct imap_receiver, 1);
	self->receiver = (struct receiver){.kind = "imap",
	    .run = imap_run,
	    .poll_once = imap_poll_once,
	    .probe = imap_probe,
	    .free = imap_free};
	self->options = *options;
	self->options.host = g_strdup(options->host);
	self->options.ca_file = g_strdup(options->ca_file);
	self->options.user = g_strdup(options->user);
	self->options.password = g_strdup(options->password);
	self->options.folder = g_strdup(options->folder);
	self->options.move_to = g_strdup(options->move_to);
	imap_poll_init(&self->poll, &self->options);
	return &self->receiver;
}
