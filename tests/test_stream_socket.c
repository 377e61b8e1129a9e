/*
 * test_stream_socket.c - stream I/O with deadlines, and limits while opening.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/fakesmtp.h"
#include "lib/unit.h"
#include "net/stream.h"

#define FEW_MS  100
#define LONG_MS 20000

static int64_t
after(unsigned wait_ms)
{
	return g_get_monotonic_time() + (int64_t)wait_ms * 1000;
}

static struct stream *
make_pair(int *peer)
{
	static const char *const hello[] = {"host.example", "SIZE 1000", NULL};
	int small = 4096;
	int fds[2];

	g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
	for (int i = 0; i < 2; i++)
		setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	*peer = fds[1];
	return stream_new_socket(fds[0], hello);
}

TEST(data_is_received_and_eof_is_permanent)
{
	g_autoptr(GError) error = NULL;
	char buffer[16];
	int peer;
	pb_auto(stream) stream = make_pair(&peer);

	g_assert_cmpuint(stream_get_hello(stream)->len, ==, 2);
	g_assert_cmpstr(
	    g_ptr_array_index(stream_get_hello(stream), 1), ==, "SIZE 1000");
	g_assert_true(stream_write(stream, "ping", 4, after(LONG_MS), &error));
	g_assert_cmpint(read(peer, buffer, sizeof(buffer)), ==, 4);
	g_assert_cmpint(write(peer, "pong", 4), ==, 4);
	g_assert_cmpint(stream_read(stream, buffer, 3, after(LONG_MS), &error), ==, 3);
	g_assert_cmpint(stream_read(stream, buffer, 3, after(LONG_MS), &error), ==, 1);
	close(peer);
	for (int i = 0; i < 2; i++)
		g_assert_cmpint(
		    stream_read(stream, buffer, 3, after(LONG_MS), &error), ==, 0);
	g_assert_no_error(error);
}

TEST(waits_end_at_the_deadline)
{
	static char much[1024 * 1024];
	g_autoptr(GError) first = NULL, second = NULL;
	char buffer[16];
	int peer;
	pb_auto(stream) stream = make_pair(&peer);

	g_assert_cmpint(
	    stream_read(stream, buffer, sizeof(buffer), after(FEW_MS), &first), ==, -1);
	g_assert_error(first, PB_ERROR, PB_ERROR_TEMPORARY);
	g_assert_false(
	    stream_write(stream, much, sizeof(much), after(FEW_MS), &second));
	g_assert_error(second, PB_ERROR, PB_ERROR_TEMPORARY);
	close(peer);
}

/* A peer that writes this much before it reads. */
struct talker {
	int fd;
	size_t size;
};

static gpointer
talk_then_listen(gpointer data)
{
	struct talker *talker = data;
	g_autofree char *buffer = g_malloc0(64 * 1024);

	for (size_t left = talker->size; left > 0;) {
		ssize_t n = send(talker->fd, buffer, MIN(left, 1000), MSG_NOSIGNAL);

		if (n <= 0)
			break;
		left -= (size_t)n;
	}
	while (read(talker->fd, buffer, 64 * 1024) > 0)
		;
	close(talker->fd);
	return NULL;
}

TEST(full_buffers_on_both_sides_do_not_deadlock)
{
	static char much[1024 * 1024];
	static const struct {
		size_t size;
		bool is_taken;
	} rows[] = {
	    {BOUNDS_STREAM_INBOUND_BYTES, true},
	    {4 * BOUNDS_STREAM_INBOUND_BYTES, false}, /* the kernel buffers some, too */
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		struct talker talker = {.size = rows[i].size};
		struct stream *stream = make_pair(&talker.fd);
		GThread *thread = g_thread_new("talker", talk_then_listen, &talker);
		size_t n_read = 0;
		bool is_written = stream_write(stream, much, sizeof(much),
		    after(rows[i].is_taken ? LONG_MS : FEW_MS), &error);

		g_assert_cmpint(is_written, ==, rows[i].is_taken);
		while (rows[i].is_taken && n_read < rows[i].size) {
			char buffer[5000];
			gssize n = stream_read(
			    stream, buffer, sizeof(buffer), after(LONG_MS), &error);

			g_assert_cmpint(n, >, 0);
			n_read += (size_t)n;
		}
		stream_free(stream);
		g_thread_join(thread);
	}
}

TEST(data_can_be_read_after_a_failed_write)
{
	static char much[1024 * 1024];
	char buffer[16] = "";
	int peer;
	pb_auto(stream) stream = make_pair(&peer);

	g_assert_cmpint(write(peer, "421 bye\r\n", 9), ==, 9);
	close(peer);
	FAILS(PB_ERROR_TEMPORARY,
	    stream_write(stream, much, sizeof(much), after(LONG_MS), &error));
	g_assert_cmpint(
	    stream_read(stream, buffer, sizeof(buffer), after(LONG_MS), NULL), ==, 9);
	g_assert_cmpmem(buffer, 9, "421 bye\r\n", 9);
}

TEST(invalid_settings_are_reported)
{
	static const struct stream_options rows[] = {
	    {.host = "", .port = 25, .hello = "a.example"},
	    {.host = "[::1]", .port = 25, .hello = "a.example"},
	    {.host = "a b", .port = 25, .hello = "a.example"},
	    {.host = "a.example/x", .port = 25, .hello = "a.example"},
	    {.host = "u@a.example", .port = 25, .hello = "a.example"},
	    {.host = "a\r\nb", .port = 25, .hello = "a.example"},
	    {.host = "a.example", .port = 0, .hello = "a.example"},
	    {.host = "a.example", .port = 25, .hello = ""},
	    {.host = "a.example", .port = 25, .hello = "a b"},
	    {.host = "a.example", .port = 25, .hello = "a\r\nQUIT"},
	    {.host = "a.example", .port = 25, .hello = "a/b"},
	    {.host = "127.0.0.1", .port = 25, .hello = "a", .user = "u"},
	    {.host = "a.example",
	        .port = 25,
	        .hello = "a",
	        .user = "u",
	        .password = "p"},
	    {.host = "127.a.example",
	        .port = 25,
	        .hello = "a",
	        .user = "u",
	        .password = "p"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct stream_options options = rows[i];
		pb_local(stream_error) failure = {0};

		options.connect_ms = options.open_ms = LONG_MS;
		FAILS(PB_ERROR_INPUT, stream_open(&options, &failure, &error));
		g_assert_cmpint(failure.kind, ==, STREAM_ERROR_SETTINGS);
	}
}

static bool
opens(struct fakesmtp *server, enum stream_error_kind *kind)
{
	struct stream_options options = {.host = "127.0.0.1",
	    .port = fakesmtp_get_port(server),
	    .hello = "client.example",
	    .connect_ms = LONG_MS,
	    .open_ms = LONG_MS};
	pb_local(stream_error) failure = {0};
	pb_auto(stream) stream = stream_open(&options, &failure, NULL);

	if (!stream)
		*kind = failure.kind;
	return stream != NULL;
}

TEST(replies_while_opening_are_limited)
{
	static const struct {
		enum fake_stage stage;
		size_t n_line;
		unsigned n_lines;
		bool is_good;
	} rows[] = {
	    {FAKE_GREETING, BOUNDS_REPLY_LINE_BYTES, 1, true},
	    {FAKE_GREETING, BOUNDS_REPLY_LINE_BYTES + 1, 1, false},
	    {FAKE_GREETING, 10, BOUNDS_REPLY_LINES + 1, false},
	    {FAKE_EHLO, 10, BOUNDS_REPLY_LINES, true},
	    {FAKE_EHLO, 10, BOUNDS_REPLY_LINES + 1, false},
	    {FAKE_EHLO, BOUNDS_REPLY_LINE_BYTES, 10, true},
	    {FAKE_EHLO, BOUNDS_REPLY_LINE_BYTES + 1, 2, false},
	    {FAKE_EHLO, 100000, 1, false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(fakesmtp) server = fakesmtp_new();
		const char *code = rows[i].stage == FAKE_EHLO ? "250" : "220";
		g_autofree char *filler = g_strnfill(rows[i].n_line - 4, 'x');
		g_autoptr(GString) text = g_string_new(NULL);
		enum stream_error_kind kind = STREAM_ERROR_SETTINGS;

		for (unsigned k = 1; k <= rows[i].n_lines; k++)
			g_string_append_printf(text, "%s%c%s\r\n", code,
			    k < rows[i].n_lines ? '-' : ' ', filler);
		fakesmtp_set(server, rows[i].stage,
		    (struct fake_rule){.act = FAKE_REPLY, .text = text->str});
		if (opens(server, &kind) != rows[i].is_good)
			g_error("row %zu", i);
		if (!rows[i].is_good)
			g_assert_cmpint(kind, ==, STREAM_ERROR_PROTOCOL);
	}
}

TEST(endless_reply_aborts_opening)
{
	pb_auto(fakesmtp) server = fakesmtp_new();
	g_autofree char *filler = g_strnfill(8 * 1024 * 1024, 'x');
	g_autoptr(GString) lines = g_string_new(NULL);
	enum stream_error_kind kind = STREAM_ERROR_SETTINGS;

	while (lines->len < 2 * 1024 * 1024)
		g_string_append(lines, "250-x\r\n");
	/* libcurl has limits of its own, which may apply first. */
	fakesmtp_set(
	    server, FAKE_EHLO, (struct fake_rule){FAKE_REPLY, lines->str, 0, 1});
	g_assert_false(opens(server, &kind));
	fakesmtp_set(
	    server, FAKE_EHLO, (struct fake_rule){FAKE_REPLY_DROP, filler, 0, 1});
	g_assert_false(opens(server, &kind));
	g_assert_true(opens(server, &kind));
}

/* A listener with a full backlog: the kernel does not reply. */
static int
make_full_listener(int clients[8], uint16_t *port)
{
	struct sockaddr_in address = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	g_assert_cmpint(
	    bind(listener, (struct sockaddr *)&address, sizeof(address)), ==, 0);
	g_assert_cmpint(listen(listener, 0), ==, 0);
	getsockname(listener, (struct sockaddr *)&address, &size);
	for (int i = 0; i < 8; i++) {
		clients[i] =
		    socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		connect(clients[i], (struct sockaddr *)&address, sizeof(address));
	}
	*port = ntohs(address.sin_port);
	return listener;
}

TEST(unreachable_host_has_a_shorter_timeout)
{
	struct stream_options options = {.host = "127.0.0.1",
	    .hello = "client.example",
	    .connect_ms = FEW_MS,
	    .open_ms = 10 * LONG_MS};
	struct stream_error failure = {0};
	g_autoptr(GError) error = NULL;
	int clients[8];
	int listener = make_full_listener(clients, &options.port);
	int64_t limit = after(LONG_MS);

	g_assert_null(stream_open(&options, &failure, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
	g_assert_nonnull(strstr(error->message, "connection timed out"));
	g_assert_cmpint(failure.kind, ==, STREAM_ERROR_UNREACHABLE);
	g_assert_cmpint(failure.step, ==, STREAM_STEP_CONNECT);
	g_assert_cmpint(g_get_monotonic_time(), <, limit);
	for (int i = 0; i < 8; i++)
		close(clients[i]);
	close(listener);
}

TEST(slow_greeting_is_awaited)
{
	struct stream_options options = {.host = "127.0.0.1",
	    .hello = "client.example",
	    .connect_ms = 1000,
	    .open_ms = 1500};
	pb_auto(fakesmtp) server = fakesmtp_new();
	struct stream_error failure = {0};
	g_autoptr(GError) error = NULL;

	options.port = fakesmtp_get_port(server);
	fakesmtp_set(server, FAKE_GREETING, (struct fake_rule){.act = FAKE_STALL});
	g_assert_null(stream_open(&options, &failure, &error));
	g_assert_nonnull(strstr(error->message, "timeout waiting for the greeting"));
}

UNIT_MAIN
