/*
 * test_imap_wire.c - an IMAP connection is limited in bytes and time.
 */
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libetpan/mailstream_low.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/unit.h"
#include "receive/imap_wire.h"

#define FOREVER_MS (60 * 1000)

/* A wire and the server's end. */
struct pair {
	struct imap_wire *wire;
	mailstream_low *low;
	int server;
};

static void
pair_init(struct pair *pair)
{
	char greeting[64];
	int fds[2];
	ssize_t n;

	g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), ==, 0);
	pair->server = fds[0];
	pair->wire = imap_wire_new(stream_new_socket(fds[1], NULL));
	pair->low = imap_wire_new_plain(pair->wire);
	imap_wire_begin(pair->wire, FOREVER_MS, true);
	/* The greeting made up for libetpan. */
	n = mailstream_low_read(pair->low, greeting, sizeof(greeting));
	g_assert_cmpint(n, >, 0);
	g_assert_true(strncmp(greeting, "* PREAUTH ", 10) == 0);
}

static void
pair_clear(struct pair *pair)
{
	if (pair->low)
		mailstream_low_free(pair->low);
	imap_wire_free(pair->wire);
	close(pair->server);
}

/* In a thread, because the text may exceed the socket buffer. */
static gpointer
say_all(gpointer data)
{
	const struct pair *pair = ((gpointer *)data)[0];
	const GString *text = ((gpointer *)data)[1];
	size_t done = 0;

	while (done < text->len) {
		ssize_t n = send(
		    pair->server, text->str + done, text->len - done, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	shutdown(pair->server, SHUT_WR);
	return NULL;
}

/* Everything that libetpan would read until the wire closes. */
static GString *
read_all(struct pair *pair, const GString *said)
{
	gpointer both[] = {pair, (gpointer)said};
	GThread *thread = g_thread_new("server", say_all, both);
	GString *got = g_string_new(NULL);
	char chunk[4096];
	ssize_t n;

	while ((n = mailstream_low_read(pair->low, chunk, sizeof(chunk))) > 0)
		g_string_append_len(got, chunk, n);
	imap_wire_close(pair->wire);
	g_clear_pointer(&pair->low, mailstream_low_free);
	g_thread_join(thread);
	return got;
}

TEST(irrelevant_lines_are_dropped)
{
	static const char said[] =
	    "* LIST () \"/\" a\r\n* 4 EXISTS\r\n* THREAD (1)\r\n"
	    "* 2 EXPUNGE\r\n7 OK done\r\n* BYE gone\r\n7 OK x\r\n";
	pb_local(pair) pair;
	g_autoptr(GString) text = g_string_new(said);
	g_autoptr(GString) got = NULL;

	pair_init(&pair);
	got = read_all(&pair, text);
	g_assert_cmpstr(got->str, ==, "* 4 EXISTS\r\n* 2 EXPUNGE\r\n7 OK done\r\n");
	g_assert_cmpuint(imap_wire_get_exists(pair.wire), ==, 3);
	g_assert_true(imap_wire_take_untagged(pair.wire));
	g_assert_false(imap_wire_take_untagged(pair.wire));
	g_assert_cmpstr(
	    imap_wire_get_problem(pair.wire)->message, ==, "the IMAP server sent BYE");
}

/* A line of this size. */
static void
check_line(size_t size, const char *wanted)
{
	pb_local(pair) pair;
	g_autoptr(GString) text = g_string_new("* OK ");
	g_autoptr(GString) got = NULL;

	pair_init(&pair);
	while (text->len < size - 1)
		g_string_append_c(text, 'x');
	g_string_append_c(text, '\n');
	got = read_all(&pair, text);
	g_assert_cmpuint(got->len, ==, wanted ? 0 : size);
	g_assert_cmpstr(imap_wire_get_problem(pair.wire)->message, ==,
	    wanted ? wanted : "the IMAP server closed the connection");
}

TEST(line_length_is_limited)
{
	check_line(BOUNDS_IMAP_LINE_BYTES, NULL);
	check_line(
	    BOUNDS_IMAP_LINE_BYTES + 1, "the IMAP server sent a line that is too long");
}

/* Dropped lines count, too; a message does not. */
static void
check_answer(size_t size, const char *wanted)
{
	pb_local(pair) pair;
	g_autoptr(GString) text = g_string_new("* 1 FETCH (BODY[] {500000}\r\n");
	size_t head = text->len;
	g_autoptr(GString) got = NULL;

	pair_init(&pair);
	g_string_set_size(text, head + 500000);
	memset(text->str + head, 'x', 500000);
	g_string_append(text, ")\r\n");
	while (text->len - 500000 < size)
		g_string_append(text, "x\n");
	g_string_truncate(text, size + 500000);
	text->str[text->len - 1] = '\n';
	got = read_all(&pair, text);
	g_assert_cmpuint(got->len, ==, head + 500000 + 3);
	g_assert_cmpstr(imap_wire_get_problem(pair.wire)->message, ==, wanted);
}

TEST(response_size_is_limited)
{
	check_answer(BOUNDS_IMAP_ANSWER_BYTES, "the IMAP server closed the connection");
	check_answer(BOUNDS_IMAP_ANSWER_BYTES + 1,
	    "the IMAP server sent a response that is too large");
}

TEST(one_literal_per_command)
{
	static const char one[] = "* 1 FETCH (BODY[] {3}\r\n(((";
	pb_local(pair) pair;
	g_autoptr(GString) text = g_string_new(one);
	g_autoptr(GString) got = NULL;

	pair_init(&pair);
	g_string_append(text, ")\r\n");
	g_string_append(text, one);
	got = read_all(&pair, text);
	g_assert_cmpuint(got->len, ==, sizeof(one) - 1 + 3);
	g_assert_cmpstr(imap_wire_get_problem(pair.wire)->message, ==,
	    "the IMAP server sent an unexpected literal");
}

TEST(a_timeout_differs_from_an_error)
{
	struct imap_line line;
	g_autoptr(GError) error = NULL;
	pb_local(pair) pair;
	bool is_time_up;
	char byte;

	pair_init(&pair);
	g_assert_false(imap_wire_read_line(
	    pair.wire, g_get_monotonic_time() + 1000, &line, &is_time_up, &error));
	g_assert_true(is_time_up);
	g_assert_null(imap_wire_get_problem(pair.wire));
	g_clear_error(&error);
	/* A line must be completed in time. */
	g_assert_cmpint(write(pair.server, "* O", 3), ==, 3);
	g_assert_false(imap_wire_read_line(
	    pair.wire, g_get_monotonic_time() + 1000, &line, &is_time_up, &error));
	if (is_time_up) {
		/* The bytes had not arrived yet. */
		g_clear_error(&error);
		g_assert_false(imap_wire_read_line(pair.wire,
		    g_get_monotonic_time() + 100000, &line, &is_time_up, &error));
	}
	g_assert_false(is_time_up);
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
	g_assert_cmpint(mailstream_low_read(pair.low, &byte, 1), ==, -1);
	g_assert_cmpint(mailstream_low_write(pair.low, "x", 1), ==, -1);
}

UNIT_MAIN_WITH(signal(SIGPIPE, SIG_IGN))
