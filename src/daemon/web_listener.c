/*
 * web_listener.c - serves paperboy-web on a Unix socket.
 */
#include "daemon/web_listener.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/frame.h"
#include "base/listen_socket.h"
#include "message/web_proto.h"
#include "service/log/event.h"
#include "service/web/web_handler.h"

#define BACKLOG 256

/* Timeout for a whole frame. */
#define TRANSFER_US (3 * G_USEC_PER_SEC)

/* Delay after a connection that cannot be accepted. */
#define RETRY_MS 200

/* Longest processing of a request: the store's timeout, and a search. */
#define STEP_S 120

/* Number of threads. */
#define THREADS 2

struct web_thread {
	struct web_listener *listener;
	struct config_snapshot *config_snapshot;
	struct config_snapshot_slot next;
	struct store *store;
	struct heartbeat *heartbeat;
	GThread *gthread;
};

struct web_listener {
	struct web_listener_options options;
	struct web_budget *budget;
	int fd;         /* listening; or -1 */
	int stop_fd;    /* readable: end; or -1 */
	int is_failing; /* a request failed, which was logged; atomic */
	char *path;     /* of the socket; NULL: not listening */
	struct web_thread threads[THREADS];
};

/* ---- requests ---- */

/* Log the first of several failures, and the first change after them. */
static void
set_problem(struct web_listener *listener, const struct web_request *request,
    const GError *problem)
{
	int *is_failing = &listener->is_failing;

	if (problem && g_atomic_int_compare_and_exchange(is_failing, 0, 1))
		event_log(EVENT_WEB_FAILED, EVENT_TEXT(problem->message));
	if (!problem && web_handler_is_change(request->op) &&
	    g_atomic_int_compare_and_exchange(is_failing, 1, 0))
		event_log(EVENT_WEB_RECOVERED);
}

/* @return NULL if the store fails */
static struct web_reply *
process(struct web_thread *thread, const struct web_request *request, GError **error)
{
	struct web_listener *listener = thread->listener;
	const struct config_snapshot *config_snapshot = thread->config_snapshot;
	struct renderer *renderer = config_snapshot->renderer;
	const struct web_handler handler = {
	    .store = thread->store,
	    .options = {.settings = config_snapshot->settings,
	        .own_addresses = config_snapshot->own_addresses,
	        .sources = config_snapshot->sources,
	        .phrases = renderer_get_catalog(renderer),
	        .renderer = renderer,
	        .key = config_snapshot->key,
	        .random = &random_system,
	        .now = clock_get_now(listener->options.clock)},
	    .budget = listener->budget,
	};
	struct handler_report report = {0};
	struct web_reply *reply = web_handler_run(&handler, request, &report, error);

	if (report.is_changed || report.is_queued)
		listener->options.changed(listener->options.data, &report);
	return reply;
}

static GBytes *
format_status(enum web_status status)
{
	pb_auto(web_reply) reply = web_reply_new(status, WEB_PAGE_NONE, "", NULL);

	return web_reply_write(reply);
}

/* @return the frame of the reply */
static GBytes *
process_frame(struct web_thread *thread, GBytes *frame)
{
	pb_auto(web_request) request = web_request_parse(frame, NULL);
	pb_auto(web_reply) reply = NULL;
	g_autoptr(GError) problem = NULL;
	GBytes *made = NULL;

	if (!request)
		return format_status(WEB_STATUS_BAD_REQUEST);
	reply = process(thread, request, &problem);
	if (reply)
		made = web_reply_write(reply);
	if (reply && !made)
		pb_fail(
		    &problem, PB_ERROR_LIMIT, "a reply to paperboy-web is too large");
	set_problem(thread->listener, request, problem);
	return made ? made : format_status(WEB_STATUS_UNAVAILABLE);
}

static void
serve(struct web_thread *thread, int fd)
{
	/* NULL if the peer is slow or has closed the connection. */
	g_autoptr(GBytes) frame = frame_receive(
	    fd, WEB_PROTO_REQUEST_BYTES, g_get_monotonic_time() + TRANSFER_US);
	g_autoptr(GBytes) reply = frame ? process_frame(thread, frame) : NULL;

	/* The peer may be gone; what it asked for is done. */
	if (reply)
		frame_send(fd, reply, g_get_monotonic_time() + TRANSFER_US);
}

/* ---- threads ---- */

/* @return false when the thread is to end */
static bool
wait_for_client(struct web_thread *thread, int fd)
{
	struct pollfd fds[] = {
	    {.fd = thread->listener->stop_fd, .events = POLLIN},
	    {.fd = fd, .events = POLLIN},
	};
	int count;

	do {
		int64_t beat_s = heartbeat_idle(thread->heartbeat);

		count = poll(fds, G_N_ELEMENTS(fds), beat_s ? (int)beat_s * 1000 : -1);
	} while (count == 0 || (count < 0 && errno == EINTR));
	return !fds[0].revents;
}

/* @return -1 if another thread has accepted it, or on a failure */
static int
accept_client(struct web_thread *thread, int listen_fd)
{
	int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	struct pollfd stop = {.fd = thread->listener->stop_fd, .events = POLLIN};

	/* Too many open files, perhaps: the client stays in the queue. */
	if (fd < 0 && errno != EAGAIN && errno != EINTR)
		poll(&stop, 1, RETRY_MS);
	return fd;
}

static gpointer
run(gpointer data)
{
	struct web_thread *thread = data;
	int listen_fd = thread->listener->fd;

	while (wait_for_client(thread, listen_fd)) {
		int fd;

		heartbeat_arm(thread->heartbeat, STEP_S);
		fd = accept_client(thread, listen_fd);
		if (fd < 0)
			continue;
		config_snapshot_switch(&thread->config_snapshot, &thread->next);
		serve(thread, fd);
		close(fd);
	}
	return NULL;
}

static bool
start_thread(struct web_thread *thread, struct web_listener *listener, unsigned number,
    struct config_snapshot *config_snapshot, GError **error)
{
	g_autofree char *name = g_strdup_printf("web-%u", number + 1);

	*thread = (struct web_thread){
	    .listener = listener,
	    .config_snapshot = config_snapshot_ref(config_snapshot),
	    .store = factory_open_store(config_snapshot->settings, error),
	};
	if (!thread->store)
		return false;
	thread->heartbeat = heartbeat_new(listener->options.heartbeats, name);
	thread->gthread = g_thread_try_new(name, run, thread, error);
	return thread->gthread != NULL;
}

static void
stop_thread(struct web_thread *thread)
{
	if (thread->gthread)
		g_thread_join(thread->gthread);
	heartbeat_free(thread->heartbeat);
	store_free(thread->store);
	config_snapshot_unref(config_snapshot_take(&thread->next));
	config_snapshot_unref(thread->config_snapshot);
	*thread = (struct web_thread){0};
}

static void
stop(struct web_listener *listener)
{
	uint64_t one = 1;

	if (!listener->path)
		return;
	if (listener->stop_fd >= 0) {
		ssize_t size = write(listener->stop_fd, &one, sizeof(one));

		/* Cannot fail: the counter is 0. */
		(void)size;
	}
	for (unsigned i = 0; i < THREADS; i++)
		stop_thread(&listener->threads[i]);
	if (listener->stop_fd >= 0)
		close(listener->stop_fd);
	if (listener->fd >= 0) {
		unlink(listener->path);
		close(listener->fd);
	}
	listener->stop_fd = listener->fd = -1;
	g_clear_pointer(&listener->path, g_free);
}

/* Anybody may connect, as to the page; its directory may restrict that. */
static bool
open_socket(struct web_listener *listener, GError **error)
{
	listener->fd = listen_socket_bind_unix(listener->path, error);
	if (listener->fd < 0) {
		g_prefix_error(error, "web.socket: ");
		return false;
	}
	if (chmod(listener->path, 0666) != 0 || listen(listener->fd, BACKLOG) != 0)
		return pb_fail(error, PB_ERROR_TEMPORARY,
		    "web.socket: cannot listen on '%s': %s", listener->path,
		    g_strerror(errno));
	listener->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return listener->stop_fd >= 0 ||
	       pb_fail(error, PB_ERROR_TEMPORARY,
	           "cannot create an event file descriptor: %s", g_strerror(errno));
}

/* Without web.url nothing is started. */
static bool
start(struct web_listener *listener, struct config_snapshot *config_snapshot,
    GError **error)
{
	const struct settings *settings = config_snapshot->settings;
	bool is_ok;

	if (!*settings->web_url)
		return true;
	listener->path = g_strdup(settings->web_socket);
	is_ok = open_socket(listener, error);
	for (unsigned i = 0; is_ok && i < THREADS; i++)
		is_ok = start_thread(
		    &listener->threads[i], listener, i, config_snapshot, error);
	if (!is_ok)
		stop(listener);
	return is_ok;
}

struct web_listener *
web_listener_new(const struct web_listener_options *options,
    struct config_snapshot *config_snapshot, GError **error)
{
	struct web_listener *listener = g_new0(struct web_listener, 1);

	listener->options = *options;
	listener->fd = listener->stop_fd = -1;
	listener->budget = web_budget_new(WEB_TESTS_PER_HOUR);
	if (start(listener, config_snapshot, error))
		return listener;
	web_listener_free(listener);
	return NULL;
}

void
web_listener_free(struct web_listener *listener)
{
	if (!listener)
		return;
	stop(listener);
	web_budget_free(listener->budget);
	g_free(listener);
}

void
web_listener_reload(
    struct web_listener *listener, struct config_snapshot *config_snapshot)
{
	const struct settings *settings = config_snapshot->settings;
	const char *path = *settings->web_url ? settings->web_socket : NULL;
	g_autoptr(GError) problem = NULL;

	if (listener->path && g_strcmp0(listener->path, path) == 0) {
		for (unsigned i = 0; i < THREADS; i++)
			config_snapshot_publish(
			    &listener->threads[i].next, config_snapshot);
		return;
	}
	stop(listener);
	if (!start(listener, config_snapshot, &problem))
		event_log(EVENT_WEB_FAILED, EVENT_TEXT(problem->message));
}
