/*
 * lmtp.c - LMTP client (RFC 2033).
 */
#include "transport/lmtp.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"
#include "transport/reply.h"

/* A connection that is being opened, or that lmtp_send() uses. */
struct connecting {
	const struct stream_options *options;
	int fd;
	int64_t deadline;
	struct reply_parser parser;
	bool is_stopped; /* stop_fd was readable */
	bool is_open;    /* LHLO was accepted */
	GString *reply;  /* last reply, unmodified */
};

static void
connecting_init(struct connecting *connecting, const struct stream_options *options)
{
	*connecting = (struct connecting){
	    .options = options,
	    .fd = -1,
	    .deadline = g_get_monotonic_time() + (int64_t)options->open_ms * 1000,
	    .reply = g_string_new(NULL),
	};
	reply_parser_init(&connecting->parser);
}

static void
connecting_clear(struct connecting *connecting)
{
	reply_parser_clear(&connecting->parser);
	g_string_free(connecting->reply, TRUE);
}

static bool
fail(const struct connecting *connecting, const char *why, GError **error)
{
	const struct stream_options *options = connecting->options;

	if (connecting->is_stopped)
		why = "interrupted by shutdown";
	if (*options->host == '/')
		pb_fail(error, PB_ERROR_TEMPORARY, "%s %s: %s",
		    connecting->is_open ? "cannot deliver to" : "cannot connect to",
		    options->host, why);
	else
		pb_fail(error, PB_ERROR_TEMPORARY, "cannot connect to %s port %u: %s",
		    options->host, (unsigned)options->port, why);
	return false;
}

static int
get_stop(const struct stream_options *options)
{
	return options->stop_fd ? *options->stop_fd : -1;
}

static bool
wait_for(struct connecting *connecting, short events, int64_t deadline)
{
	struct pollfd items[] = {{.fd = connecting->fd, .events = events},
	    {.fd = get_stop(connecting->options), .events = POLLIN}};

	for (;;) {
		int64_t left_us = deadline - g_get_monotonic_time();
		int n;

		if (left_us <= 0)
			return false;
		n = poll(items, G_N_ELEMENTS(items),
		    (int)MIN((left_us + 999) / 1000, INT_MAX));
		connecting->is_stopped = n > 0 && items[1].revents;
		if (connecting->is_stopped)
			return false;
		if (n > 0 || (n < 0 && errno != EINTR))
			return true;
	}
}

/* @return whether the socket is connected; else errno is set */
static bool
connect_to(struct connecting *connecting, const struct sockaddr *address,
    socklen_t size, int family, int64_t deadline)
{
	int number = 0;
	socklen_t n = sizeof(number);

	connecting->fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (connecting->fd < 0)
		return false;
	if (connect(connecting->fd, address, size) == 0)
		return true;
	number = errno;
	if (number == EINPROGRESS) {
		number = ETIMEDOUT;
		if (wait_for(connecting, POLLOUT, deadline) &&
		    getsockopt(connecting->fd, SOL_SOCKET, SO_ERROR, &number, &n) != 0)
			number = errno;
	}
	if (number == 0)
		return true;
	close(connecting->fd);
	connecting->fd = -1;
	errno = number;
	return false;
}

static bool
connect_socket(struct connecting *connecting, int64_t deadline, GError **error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (strlen(connecting->options->host) >= sizeof(address.sun_path))
		return fail(connecting, "the socket path is too long", error);
	g_strlcpy(
	    address.sun_path, connecting->options->host, sizeof(address.sun_path));
	if (connect_to(connecting, (const struct sockaddr *)&address, sizeof(address),
	        AF_UNIX, deadline))
		return true;
	return fail(connecting, g_strerror(errno), error);
}

static bool
connect_port(struct connecting *connecting, int64_t deadline, GError **error)
{
	const struct addrinfo wanted = {
	    .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	g_autofree char *port =
	    g_strdup_printf("%u", (unsigned)connecting->options->port);
	struct addrinfo *found = NULL;
	int rc = getaddrinfo(connecting->options->host, port, &wanted, &found);
	int number = EHOSTUNREACH;

	if (rc != 0)
		return fail(connecting, gai_strerror(rc), error);
	for (struct addrinfo *one = found; one && connecting->fd < 0;
	     one = one->ai_next)
		if (!connect_to(connecting, one->ai_addr, one->ai_addrlen,
		        one->ai_family, deadline))
			number = errno;
	freeaddrinfo(found);
	if (connecting->fd >= 0)
		return true;
	return fail(connecting, g_strerror(number), error);
}

/* Read one reply byte by byte, so that nothing after it is consumed. */
static bool
read_reply(struct connecting *connecting, GError **error)
{
	enum reply_progress progress = REPLY_MORE;

	g_string_truncate(connecting->reply, 0);
	while (progress == REPLY_MORE) {
		char byte;
		size_t n_used;
		ssize_t n = recv(connecting->fd, &byte, 1, 0);

		if (n == 0)
			return fail(connecting, "lost connection", error);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return fail(connecting, g_strerror(errno), error);
		if (n < 0) {
			if (!wait_for(connecting, POLLIN, connecting->deadline))
				return fail(connecting, "timeout", error);
			continue;
		}
		g_string_append_c(connecting->reply, byte);
		progress = reply_parser_feed(&connecting->parser, &byte, 1, &n_used);
	}
	if (progress == REPLY_COMPLETE)
		return true;
	return fail(connecting, "invalid or too long LMTP reply", error);
}

/* @param failure  set if the reply is negative */
static bool
expect(struct connecting *connecting, struct stream_error *failure, GError **error)
{
	int code;

	if (!read_reply(connecting, error))
		return false;
	code = reply_parser_get(&connecting->parser)->code;
	if (code / 100 == 2)
		return true;
	failure->kind = STREAM_ERROR_REFUSED;
	failure->reply = g_strdup(connecting->reply->str);
	return fail(connecting, reply_parser_get(&connecting->parser)->text, error);
}

static bool
send_lhlo(struct connecting *connecting, struct stream_error *failure, GError **error)
{
	g_autofree char *line =
	    g_strdup_printf("LHLO %s\r\n", connecting->options->hello);
	size_t size = strlen(line);

	failure->step = STREAM_STEP_HELLO;
	/* The buffer of a new connection has room for a line. */
	if (send(connecting->fd, line, size, MSG_NOSIGNAL) != (ssize_t)size)
		return fail(connecting, g_strerror(errno), error);
	return expect(connecting, failure, error);
}

static bool
open_with(struct connecting *connecting, struct stream_error *failure, GError **error)
{
	int64_t deadline =
	    g_get_monotonic_time() + (int64_t)connecting->options->connect_ms * 1000;
	bool is_connected = *connecting->options->host == '/'
	                        ? connect_socket(connecting, deadline, error)
	                        : connect_port(connecting, deadline, error);

	connecting->is_open = is_connected && expect(connecting, failure, error) &&
	                      send_lhlo(connecting, failure, error);
	return connecting->is_open;
}

/* @return lines of the reply to LHLO, without code and line end */
static char **
split_reply(const char *reply)
{
	char **lines = g_strsplit(reply, "\n", -1);
	unsigned count = 0;

	for (unsigned i = 0; lines[i]; i++) {
		char *line = lines[i];

		g_strchomp(line);
		if (strlen(line) < 4)
			g_free(line);
		else
			memmove(lines[count++] = line, line + 4, strlen(line + 4) + 1);
	}
	lines[count] = NULL;
	return lines;
}

struct stream *
lmtp_open(
    const struct stream_options *options, struct stream_error *failure, GError **error)
{
	struct connecting connecting;
	struct stream_error found = {
	    .kind = STREAM_ERROR_UNREACHABLE, .step = STREAM_STEP_CONNECT};
	struct stream *stream = NULL;

	connecting_init(&connecting, options);
	if (open_with(&connecting, &found, error)) {
		g_auto(GStrv) hello = split_reply(connecting.reply->str);

		stream = stream_new_socket(connecting.fd, (const char *const *)hello);
		stream_set_stop(stream, get_stop(options));
	} else if (connecting.fd >= 0) {
		close(connecting.fd);
	}
	connecting_clear(&connecting);
	if (!stream && failure)
		*failure = found;
	else
		stream_error_clear(&found);
	return stream;
}

/* ---- one message to a Unix socket ---- */

static void
restart_timeout(struct connecting *connecting)
{
	connecting->deadline =
	    g_get_monotonic_time() + BOUNDS_LMTP_IDLE_S * G_USEC_PER_SEC;
}

static bool
write_all(struct connecting *connecting, const char *bytes, size_t size, GError **error)
{
	restart_timeout(connecting);
	while (size) {
		ssize_t sent = send(connecting->fd, bytes, size, MSG_NOSIGNAL);

		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return fail(connecting, g_strerror(errno), error);
		if (sent < 0) {
			if (!wait_for(connecting, POLLOUT, connecting->deadline))
				return fail(connecting, "timeout", error);
			continue;
		}
		restart_timeout(connecting);
		bytes += sent;
		size -= (size_t)sent;
	}
	return true;
}

/* @param expected  the first digit of the reply */
static bool
send_text(struct connecting *connecting, const char *text, size_t size, int expected,
    GError **error)
{
	const struct reply *reply;

	if (!write_all(connecting, text, size, error))
		return false;
	restart_timeout(connecting);
	if (!read_reply(connecting, error))
		return false;
	reply = reply_parser_get(&connecting->parser);
	if (reply->code / 100 == expected)
		return true;
	/* 5.1.1 is a bad destination mailbox (RFC 3463 section 3.2). */
	return pb_fail(error,
	    reply->code == 550 && strcmp(reply->enhanced, "5.1.1") == 0
	        ? PB_ERROR_NOT_FOUND
	    : reply->code / 100 == 5 ? PB_ERROR_INPUT
	                             : PB_ERROR_TEMPORARY,
	    "paperboyd replied: %s", reply->text);
}

/* @return the message with CRLF, dot stuffing and the final dot */
static GString *
encode_data(const char *raw, size_t size)
{
	GString *data = g_string_sized_new(size + size / 32 + 16);
	bool is_start = true;

	for (size_t i = 0; i < size; i++) {
		if (is_start && raw[i] == '.')
			g_string_append_c(data, '.');
		if (raw[i] == '\n' && (i == 0 || raw[i - 1] != '\r'))
			g_string_append_c(data, '\r');
		g_string_append_c(data, raw[i]);
		is_start = raw[i] == '\n';
	}
	g_string_append(data, is_start ? ".\r\n" : "\r\n.\r\n");
	return data;
}

static bool
run_transaction(struct connecting *connecting, const char *sender,
    const char *recipient, const GString *data, GError **error)
{
	bool is_utf8 = !g_str_is_ascii(sender) || !g_str_is_ascii(recipient);
	g_autofree char *mail = g_strdup_printf(
	    "MAIL FROM:<%s> BODY=8BITMIME%s\r\n", sender, is_utf8 ? " SMTPUTF8" : "");
	g_autofree char *rcpt = g_strdup_printf("RCPT TO:<%s>\r\n", recipient);

	return send_text(connecting, mail, strlen(mail), 2, error) &&
	       send_text(connecting, rcpt, strlen(rcpt), 2, error) &&
	       send_text(connecting, "DATA\r\n", 6, 3, error) &&
	       send_text(connecting, data->str, data->len, 2, error);
}

bool
lmtp_send(const char *path, const char *sender, const char *recipient, const void *raw,
    size_t size, GError **error)
{
	const struct stream_options options = {.host = path,
	    .hello = "localhost",
	    .connect_ms = BOUNDS_LMTP_IDLE_S * 1000,
	    .open_ms = BOUNDS_LMTP_IDLE_S * 1000};
	struct connecting connecting;
	pb_local(stream_error) failure = {0};
	GString *data = encode_data(raw, size);
	bool is_ok;

	connecting_init(&connecting, &options);
	is_ok = open_with(&connecting, &failure, error) &&
	        run_transaction(&connecting, sender, recipient, data, error);
	/* The reply to QUIT is not read. */
	if (is_ok)
		write_all(&connecting, "QUIT\r\n", 6, NULL);
	if (connecting.fd >= 0)
		close(connecting.fd);
	connecting_clear(&connecting);
	g_string_free(data, TRUE);
	return is_ok;
}
