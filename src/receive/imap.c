/*
 * imap.c - IMAP receiver: connect, poll the folder, wait for changes, reconnect.
 */
#include "receive/imap.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "receive/imap_session.h"

/* ---- one IMAP poll cycle ---- */

struct imap_poll {
	const struct imap_options *options; /* borrowed */
	struct imap_cursor cursor;          /* as last loaded or saved */
	uint32_t uidvalidity;               /* of the UIDs below; 0: none */
	int64_t selected_at;                /* time of the SELECT that returned it */
	GHashTable *stored;  /* stored UIDs; value: whether marked, too */
	GHashTable *broken;  /* UID: number of connections that broke on it */
	GHashTable *skipped; /* UIDs recorded by the sink as skipped */
	uint32_t fetching;   /* UID being fetched, or 0 */
	uint64_t n_taken;    /* messages stored; the caller resets it */
	bool keywords_lost;  /* the server accepts keywords but does not store them */
};

enum imap_poll_result {
	IMAP_POLL_EMPTY,     /* nothing to do, or all of it was skipped */
	IMAP_POLL_DONE,      /* messages were stored, none is left */
	IMAP_POLL_MORE,      /* more messages than one cycle handles */
	IMAP_POLL_POSTPONED, /* the sink cannot accept messages now */
};

/* Messages marked by one command. After a crash at most these are received again. */
#define GROUP_MESSAGES 25

/* Outcome for one message. */
enum outcome {
	OUTCOME_STORED,    /* mark it on the server */
	OUTCOME_GONE,      /* removed by another client */
	OUTCOME_SKIPPED,   /* left unchanged, recorded as skipped */
	OUTCOME_POSTPONED, /* the sink cannot accept it now */
	OUTCOME_FAILED,    /* the session failed */
};

static void
imap_poll_init(struct imap_poll *poll, const struct imap_options *options)
{
	poll->options = options;
	poll->stored = g_hash_table_new(NULL, NULL);
	poll->broken = g_hash_table_new(NULL, NULL);
	poll->skipped = g_hash_table_new(NULL, NULL);
}

static void
imap_poll_clear(struct imap_poll *poll)
{
	g_hash_table_unref(poll->stored);
	g_hash_table_unref(poll->broken);
	g_hash_table_unref(poll->skipped);
}

/* Load the cursor; call before the first connection. */
static void
imap_poll_begin(struct imap_poll *poll)
{
	poll->options->cursor_store.load(
	    poll->options->cursor_store.data, &poll->cursor);
}

/* Name of a message for the sink. A UID alone is ambiguous. */
static char *
format_name(const struct imap_poll *poll, uint32_t uid)
{
	return g_strdup_printf("%u.%u", poll->uidvalidity, uid);
}

/* @return the UID; 0 for another UIDVALIDITY */
static uint32_t
parse_name(const struct imap_poll *poll, const char *name)
{
	char *end;
	uint64_t validity = g_ascii_strtoull(name, &end, 10);

	if (validity != poll->uidvalidity || *end != '.')
		return 0;
	return (uint32_t)g_ascii_strtoull(end + 1, NULL, 10);
}

/* Messages of another UIDVALIDITY cannot be identified: they are recorded again. */
static bool
load_skipped(struct imap_poll *poll, const struct receiver_sink *sink, GError **error)
{
	g_autoptr(GPtrArray) names = sink->load_skipped(sink->data, error);

	g_hash_table_remove_all(poll->skipped);
	for (guint i = 0; names && i < names->len; i++) {
		uint32_t uid = parse_name(poll, names->pdata[i]);

		if (uid)
			g_hash_table_add(poll->skipped, GUINT_TO_POINTER(uid));
		else if (!sink->unskip(sink->data, names->pdata[i], error))
			return false;
	}
	return names != NULL;
}

/* UIDs are valid for one UIDVALIDITY; without one, for one SELECT. */
static bool
check_uidvalidity(struct imap_poll *poll, const struct imap_session *session,
    const struct receiver_sink *sink, GError **error)
{
	uint32_t validity = imap_session_get_uidvalidity(session);

	if (poll->uidvalidity == validity &&
	    (validity != 0 ||
	        poll->selected_at == imap_session_get_selected_at(session)))
		return true;
	poll->uidvalidity = validity;
	poll->selected_at = imap_session_get_selected_at(session);
	poll->fetching = 0;
	g_hash_table_remove_all(poll->stored);
	g_hash_table_remove_all(poll->broken);
	if (load_skipped(poll, sink, error))
		return true;
	poll->uidvalidity = 0;
	poll->selected_at = 0;
	return false;
}

static uint32_t
get_cursor_uid(const struct imap_poll *poll)
{
	return poll->cursor.uidvalidity == poll->uidvalidity && poll->uidvalidity != 0
	           ? poll->cursor.uid
	           : 0;
}

/* Blame a broken connection on the message that was being fetched. */
static void
count_broken_fetch(struct imap_poll *poll)
{
	gpointer key = GUINT_TO_POINTER(poll->fetching);
	guint n;

	if (poll->fetching == 0)
		return;
	n = GPOINTER_TO_UINT(g_hash_table_lookup(poll->broken, key)) + 1;
	g_hash_table_insert(poll->broken, key, GUINT_TO_POINTER(n));
	poll->fetching = 0;
}

/* Drop messages that are no longer found, so that the table stays bounded. */
static void
prune_stored(struct imap_poll *poll, const GArray *uids)
{
	g_autoptr(GHashTable) stored = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < uids->len; i++) {
		gpointer key = GUINT_TO_POINTER(g_array_index(uids, uint32_t, i));
		gpointer value;

		if (g_hash_table_lookup_extended(poll->stored, key, NULL, &value))
			g_hash_table_insert(stored, key, value);
	}
	g_hash_table_unref(poll->stored);
	poll->stored = g_steal_pointer(&stored);
}

/* Whether a marked message is found unmarked: the server did not store the keyword. */
static bool
has_marked_again(const struct imap_poll *poll, const GArray *uids)
{
	for (guint i = 0; i < uids->len; i++)
		if (GPOINTER_TO_INT(g_hash_table_lookup(poll->stored,
		        GUINT_TO_POINTER(g_array_index(uids, uint32_t, i)))))
			return true;
	return false;
}

/* List unprocessed messages by UID, with skipped ones that may be gone by now. */
static GArray *
search(struct imap_poll *poll, struct imap_session *session, bool *is_whole,
    GError **error)
{
	g_autoptr(GArray) uids = NULL;
	bool is_by_cursor;

	if (poll->keywords_lost)
		imap_session_disable_keywords(session);
	is_by_cursor = imap_session_get_disposition(session) == IMAP_DISPOSITION_CURSOR;
	uids = imap_session_search(session, is_by_cursor ? get_cursor_uid(poll) : 0,
	    poll->skipped, is_whole, error);
	if (!uids)
		return NULL;
	if (imap_session_get_disposition(session) == IMAP_DISPOSITION_KEYWORD &&
	    has_marked_again(poll, uids)) {
		poll->keywords_lost = true;
		g_array_unref(g_steal_pointer(&uids));
		return search(poll, session, is_whole, error);
	}
	if (*is_whole)
		prune_stored(poll, uids);
	return g_steal_pointer(&uids);
}

/* Record a message as skipped. @param head  NULL if unknown */
static enum outcome
skip(struct imap_poll *poll, const struct receiver_sink *sink, uint32_t uid,
    const struct receive_mail *head, const char *reason)
{
	g_autofree char *name = format_name(poll, uid);

	if (!sink->skip(sink->data, name, head, reason, NULL))
		return OUTCOME_POSTPONED;
	g_hash_table_add(poll->skipped, GUINT_TO_POINTER(uid));
	return OUTCOME_SKIPPED;
}

/*
 * @param raw   beginning of the message, with as much of the header as fits
 * @param size  of the whole message, bytes
 */
static enum outcome
skip_large(struct imap_poll *poll, const struct receiver_sink *sink, uint32_t uid,
    GBytes *raw, size_t size)
{
	g_autofree char *reason = g_strdup_printf(
	    "message with UID %u in '%s' has %zu bytes, the limit is %d", uid,
	    poll->options->folder, size, BOUNDS_MAIL_BYTES);
	struct receive_mail head = {.full_size = size};

	head.raw = g_bytes_get_data(raw, &head.size);
	head.size = receiver_measure_header(head.raw, head.size);
	if (head.size > BOUNDS_MAIL_HEADER_BYTES)
		head.size = 0;
	return skip(poll, sink, uid, head.size ? &head : NULL, reason);
}

static enum outcome
deliver(
    struct imap_poll *poll, const struct receiver_sink *sink, uint32_t uid, GBytes *raw)
{
	g_autoptr(GError) refusal = NULL;
	struct receive_mail mail = {0};

	mail.raw = g_bytes_get_data(raw, &mail.size);
	if (!mail.raw)
		mail.raw = "";
	if (sink->take(sink->data, &mail, &refusal)) {
		poll->n_taken++;
		return OUTCOME_STORED;
	}
	if (g_error_matches(refusal, PB_ERROR, PB_ERROR_INPUT) ||
	    g_error_matches(refusal, PB_ERROR, PB_ERROR_LIMIT))
		return skip(poll, sink, uid, NULL, refusal->message);
	return OUTCOME_POSTPONED;
}

static enum outcome
skip_broken(struct imap_poll *poll, const struct receiver_sink *sink, uint32_t uid)
{
	g_autofree char *reason =
	    g_strdup_printf("cannot fetch message with UID %u in '%s': the connection "
	                    "broke %d times",
	        uid, poll->options->folder, IMAP_TRIES);

	if (g_hash_table_contains(poll->skipped, GUINT_TO_POINTER(uid)))
		return OUTCOME_SKIPPED;
	return skip(poll, sink, uid, NULL, reason);
}

static unsigned
get_breaks(const struct imap_poll *poll, uint32_t uid)
{
	return GPOINTER_TO_UINT(
	    g_hash_table_lookup(poll->broken, GUINT_TO_POINTER(uid)));
}

/* Fetch a message, or the header of one that is too large (@param size). */
static enum outcome
fetch_and_deliver(struct imap_poll *poll, struct imap_session *session,
    const struct receiver_sink *sink, uint32_t uid, uint32_t size, GError **error)
{
	g_autoptr(GBytes) raw = NULL;
	bool is_large = size > BOUNDS_MAIL_BYTES;

	poll->fetching = uid;
	/* One more byte than the limit detects a message larger than announced. */
	if (!imap_session_fetch(session, uid,
	        is_large ? BOUNDS_MAIL_HEADER_BYTES + 2 : BOUNDS_MAIL_BYTES + 1, &raw,
	        error))
		return OUTCOME_FAILED;
	poll->fetching = 0;
	/*
	 * Its size was reported just now. If it was removed, the next cycle skips it.
	 */
	if (!raw) {
		g_autofree char *reason =
		    g_strdup_printf("the server does not send message UID %u of '%s'",
		        uid, poll->options->folder);

		return skip(poll, sink, uid, NULL, reason);
	}
	if (is_large || g_bytes_get_size(raw) > BOUNDS_MAIL_BYTES)
		return skip_large(
		    poll, sink, uid, raw, MAX(size, g_bytes_get_size(raw)));
	return deliver(poll, sink, uid, raw);
}

/* @param size  UINT32_MAX: not found */
static enum outcome
handle(struct imap_poll *poll, struct imap_session *session,
    const struct receiver_sink *sink, uint32_t uid, uint32_t size, GError **error)
{
	gpointer key = GUINT_TO_POINTER(uid);

	if (g_hash_table_contains(poll->stored, key))
		return OUTCOME_STORED;
	if (size == UINT32_MAX)
		return OUTCOME_GONE;
	if (get_breaks(poll, uid) >= IMAP_TRIES)
		return skip_broken(poll, sink, uid);
	if (size > BOUNDS_MAIL_BYTES && g_hash_table_contains(poll->skipped, key))
		return OUTCOME_SKIPPED;
	return fetch_and_deliver(poll, session, sink, uid, size, error);
}

static bool
unskip(struct imap_poll *poll, const struct receiver_sink *sink, uint32_t uid,
    GError **error)
{
	g_autofree char *name = NULL;

	if (!g_hash_table_contains(poll->skipped, GUINT_TO_POINTER(uid)))
		return true;
	name = format_name(poll, uid);
	if (!sink->unskip(sink->data, name, error))
		return false;
	g_hash_table_remove(poll->skipped, GUINT_TO_POINTER(uid));
	return true;
}

/* Save the cursor if the server does not store marks. */
static bool
save_cursor(struct imap_poll *poll, uint32_t uid, GError **error)
{
	struct imap_cursor cursor = {poll->uidvalidity, uid};

	if (cursor.uid <= get_cursor_uid(poll))
		return true;
	if (!poll->options->cursor_store.save(
	        poll->options->cursor_store.data, &cursor, error))
		return false;
	poll->cursor = cursor;
	return true;
}

static bool
mark_group(struct imap_poll *poll, struct imap_session *session, GArray *stored,
    GError **error)
{
	const uint32_t *uids = (const uint32_t *)(void *)stored->data;

	if (stored->len == 0)
		return true;
	/* UIDVALIDITY changed: the UIDs would name messages that were not stored. */
	if (imap_session_get_uidvalidity(session) != poll->uidvalidity)
		return pb_fail(
		    error, PB_ERROR_TEMPORARY, "UIDVALIDITY of the folder has changed");
	if (!imap_session_mark(session, uids, stored->len, error))
		return false;
	for (guint i = 0; i < stored->len; i++)
		g_hash_table_insert(
		    poll->stored, GUINT_TO_POINTER(uids[i]), GINT_TO_POINTER(TRUE));
	return true;
}

/* @return outcome of the last message, or of the one that ended the group early */
static enum outcome
run_group(struct imap_poll *poll, struct imap_session *session,
    const struct receiver_sink *sink, const uint32_t *uids, size_t count,
    GError **error)
{
	uint32_t sizes[GROUP_MESSAGES];
	g_autoptr(GArray) stored = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	enum outcome last = OUTCOME_STORED;
	uint32_t done = 0;

	if (!imap_session_fetch_sizes(session, uids, count, sizes, error))
		return OUTCOME_FAILED;
	for (size_t i = 0; i < count; i++) {
		last = handle(poll, session, sink, uids[i], sizes[i], error);
		if (last == OUTCOME_FAILED)
			return last;
		if (last == OUTCOME_POSTPONED)
			break;
		done = uids[i];
		if (last == OUTCOME_SKIPPED)
			continue;
		if (!unskip(poll, sink, done, error))
			return OUTCOME_FAILED;
		if (last != OUTCOME_STORED)
			continue;
		g_array_append_val(stored, done);
		if (!g_hash_table_contains(poll->stored, GUINT_TO_POINTER(done)))
			g_hash_table_insert(poll->stored, GUINT_TO_POINTER(done), NULL);
	}
	if (!mark_group(poll, session, stored, error))
		return OUTCOME_FAILED;
	if (imap_session_get_disposition(session) == IMAP_DISPOSITION_CURSOR &&
	    done != 0 && !save_cursor(poll, done, error))
		return OUTCOME_FAILED;
	return last;
}

/*
 * Store and mark all unprocessed messages.
 *
 * @param stop_fd  checked between groups of messages
 * @param result   set on success only
 * @return false if the session failed or stop_fd is readable
 */
static bool
imap_poll_run(struct imap_poll *poll, struct imap_session *session,
    const struct receiver_sink *sink, int stop_fd, enum imap_poll_result *result,
    GError **error)
{
	g_autoptr(GArray) uids = NULL;
	uint64_t n_before = poll->n_taken;
	guint n_skipped;
	bool is_whole = true;

	count_broken_fetch(poll);
	if (!check_uidvalidity(poll, session, sink, error))
		return false;
	n_skipped = g_hash_table_size(poll->skipped);
	uids = search(poll, session, &is_whole, error);
	if (!uids)
		return false;
	for (guint i = 0; i < uids->len; i += GROUP_MESSAGES) {
		const uint32_t *group = &g_array_index(uids, uint32_t, i);

		if (stream_is_stopped(stop_fd))
			return pb_fail(
			    error, PB_ERROR_TEMPORARY, "interrupted by shutdown");
		switch (run_group(poll, session, sink, group,
		    MIN(uids->len - i, GROUP_MESSAGES), error)) {
		case OUTCOME_FAILED:
			return false;
		case OUTCOME_POSTPONED:
			*result = IMAP_POLL_POSTPONED;
			return true;
		case OUTCOME_STORED:
		case OUTCOME_GONE:
		case OUTCOME_SKIPPED:
			break;
		}
	}
	if (!is_whole &&
	    (poll->n_taken > n_before || g_hash_table_size(poll->skipped) > n_skipped))
		*result = IMAP_POLL_MORE;
	else
		*result = poll->n_taken > n_before ? IMAP_POLL_DONE : IMAP_POLL_EMPTY;
	return true;
}

/* ---- imap ---- */

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
imap_check(struct receiver *receiver, char **reported, GError **error)
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
	    .check = imap_check,
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
