/*
 * imap.c - the IMAP mailbox: connect, take what is not done, wait, again.
 */
#include "receive/imap.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "receive/imap_poll.h"
#include "receive/imap_private.h"
#include "receive/imap_session.h"

/* A connection that stood so long was a good one: the next try is not put off. */
#define GOOD_US      (60 * G_USEC_PER_SEC)
/* Looks at the folder without a letter, one upon the other, before they are slowed. */
#define EMPTY_LOOKS  3
#define EMPTY_LOOK_S 30

/* A server that serves and then cuts is tried again after half a minute. */
#define ROUND_FAILURES 4

struct imap_receiver {
	struct receiver mailbox; /* first: a mailbox is one of these */
	struct imap_options options;
	struct imap_poll round;
	char *noted;       /* the problem that the sink knows of, or NULL */
	unsigned failures; /* one upon the other */
};

/* Tell of a problem once; NULL tells that all is well again. */
static void
note(
    struct imap_receiver *self, const struct receiver_sink *sink, const GError *problem)
{
	if (g_strcmp0(self->noted, problem ? problem->message : NULL) == 0)
		return;
	g_free(self->noted);
	self->noted = problem ? g_strdup(problem->message) : NULL;
	sink->note(sink->data, problem);
}

/* Longer by up to a quarter, so that those who went together do not come together. */
static int64_t
lengthen(const struct imap_receiver *self, int64_t wait_ms)
{
	double part = self->options.random(self->options.random_data);

	return wait_ms + (int64_t)((double)wait_ms * CLAMP(part, 0, 1) / 4);
}

static int64_t
choose_retry_ms(const struct imap_receiver *self, bool is_refused)
{
	const struct imap_times *times = &self->options.times;
	int64_t wait_ms = is_refused ? times->refused_ms : times->retry_ms;
	int64_t most_ms = MAX(wait_ms, (int64_t)times->retry_most_ms);

	for (unsigned i = 1; i < self->failures && wait_ms < most_ms; i++)
		wait_ms *= 2;
	return lengthen(self, MIN(wait_ms, most_ms));
}

/* A server that tells of news which are none is not asked without a break. */
static bool
slow_down(struct imap_receiver *self, const struct receiver_sink *sink, int stop_fd,
    unsigned n_empty, int64_t waited_us)
{
	if (n_empty <= EMPTY_LOOKS || waited_us >= G_USEC_PER_SEC)
		return true;
	return imap_wait(sink, stop_fd,
	    MIN(n_empty - EMPTY_LOOKS, EMPTY_LOOK_S) *
	        (int64_t)self->options.times.retry_ms / 2);
}

/* One connection to its end. @return false with the reason for its end */
static bool
attend(struct imap_receiver *self, struct imap_session *session,
    const struct receiver_sink *sink, int stop_fd, GError **error)
{
	unsigned n_empty = 0;

	for (;;) {
		enum imap_poll_result result = IMAP_POLL_EMPTY;
		int64_t began_at;

		if (!imap_poll_run(
		        &self->round, session, sink, stop_fd, &result, error))
			return false;
		self->failures = MIN(self->failures, ROUND_FAILURES);
		note(self, sink, NULL);
		began_at = g_get_monotonic_time();
		switch (result) {
		case IMAP_POLL_MORE:
			n_empty = 0;
			continue;
		case IMAP_POLL_POSTPONED:
			n_empty = 0;
			imap_wait(sink, stop_fd,
			    lengthen(self, self->options.times.postponed_ms));
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
		if (!slow_down(self, sink, stop_fd, n_empty,
		        g_get_monotonic_time() - began_at))
			return true;
	}
}

static bool
imap_serve(struct receiver *mailbox, const struct receiver_sink *sink, int stop_fd,
    GError **error)
{
	struct imap_receiver *self = (struct imap_receiver *)mailbox;

	(void)error; /* whatever is wrong with a server may be mended */
	imap_poll_begin(&self->round);
	while (!stream_is_stopped(stop_fd)) {
		pb_auto(imap_session) session = NULL;
		g_autoptr(GError) problem = NULL;
		int64_t began_at = g_get_monotonic_time();
		bool is_refused = false;
		bool was_good = false;

		session = imap_session_open(
		    &self->options, sink, stop_fd, &is_refused, &problem);
		if (session) {
			attend(self, session, sink, stop_fd, &problem);
			was_good = self->round.n_taken > 0 ||
			           g_get_monotonic_time() - began_at >= GOOD_US;
			self->round.n_taken = 0;
		}
		if (stream_is_stopped(stop_fd))
			break;
		/* Servers cut connections that have stood for long; that alone is not
		 * worth a word. */
		if (problem && !was_good)
			note(self, sink, problem);
		self->failures = was_good ? 1 : self->failures + 1;
		imap_wait(sink, stop_fd, choose_retry_ms(self, is_refused));
	}
	return true;
}

/* One connection, until nothing waits that can be taken now. */
static bool
imap_sweep(struct receiver *mailbox, const struct receiver_sink *sink, GError **error)
{
	struct imap_receiver *self = (struct imap_receiver *)mailbox;
	pb_auto(imap_session) session = NULL;
	enum imap_poll_result result = IMAP_POLL_MORE;
	bool is_refused;

	imap_poll_begin(&self->round);
	session = imap_session_open(&self->options, sink, -1, &is_refused, error);
	while (session && result == IMAP_POLL_MORE) {
		if (!imap_poll_run(&self->round, session, sink, -1, &result, error))
			return false;
		note(self, sink, NULL);
	}
	return session != NULL;
}

static bool
imap_probe(struct receiver *mailbox, char **reported, GError **error)
{
	struct imap_receiver *self = (struct imap_receiver *)mailbox;
	static const struct receiver_sink nobody;
	bool is_refused;
	pb_auto(imap_session) session =
	    imap_session_open(&self->options, &nobody, -1, &is_refused, error);

	if (!session)
		return false;
	*reported = g_strdup_printf("logged in at %s as %s, folder %s is there",
	    self->options.host, self->options.user, self->options.folder);
	return true;
}

static void
imap_free(struct receiver *mailbox)
{
	struct imap_receiver *self = (struct imap_receiver *)mailbox;
	struct imap_options *options = &self->options;

	if (options->keeper.free)
		options->keeper.free(options->keeper.data);
	imap_poll_clear(&self->round);
	g_free((char *)options->host);
	g_free((char *)options->ca_file);
	g_free((char *)options->user);
	g_free((char *)options->password);
	g_free((char *)options->folder);
	g_free((char *)options->move_to);
	g_free(self->noted);
	g_free(self);
}

/* Names go out as they are: libetpan quotes them, and knows no other letters. */
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

	if (!options->user || !*options->user || !options->password)
		wrong = "a user and a password are needed";
	else if (!is_folder_name(options->folder) ||
	         (options->move_to && !is_folder_name(options->move_to)))
		wrong = "the name of a folder is empty, too long, or not in printable "
		        "ASCII (write other letters as IMAP does: Entw&APw-rfe)";
	else if (options->move_to && strcmp(options->folder, options->move_to) == 0)
		wrong = "letters cannot be moved into the folder that they are in";
	if (!wrong)
		return true;
	g_set_error(
	    error, PB_ERROR, PB_ERROR_INPUT, "cannot use the IMAP folder: %s", wrong);
	return false;
}

struct receiver *
imap_receiver_new(const struct imap_options *options, GError **error)
{
	struct imap_receiver *self;

	if (!check_options(options, error))
		return NULL;
	self = g_new0(struct imap_receiver, 1);
	self->mailbox = (struct receiver){.receiver = "imap",
	    .serve = imap_serve,
	    .sweep = imap_sweep,
	    .probe = imap_probe,
	    .free = imap_free};
	self->options = *options;
	self->options.host = g_strdup(options->host);
	self->options.ca_file = g_strdup(options->ca_file);
	self->options.user = g_strdup(options->user);
	self->options.password = g_strdup(options->password);
	self->options.folder = g_strdup(options->folder);
	self->options.move_to = g_strdup(options->move_to);
	imap_poll_init(&self->round, &self->options);
	return &self->mailbox;
}
