/*
 * lmtp_client.c - LMTP client for a Unix socket.
 */
#include "receive/lmtp_client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/error.h"

#define REPLY_BYTES 4096

/* Bad destination mailbox address (RFC 3463 section 3.2). */
#define UNKNOWN_USER "550 5.1.1 "

struct client {
	int fd;
	char buffer[REPLY_BYTES]; /* received, not yet parsed */
	size_t size;
};

static bool
fail(GError **error, const char *what)
{
	int code = errno;

	return pb_fail(error, PB_ERROR_TEMPORARY, "%s: %s", what,
	    code == EAGAIN ? "timeout" : g_strerror(code));
}

static bool
connect_to(struct client *client, const char *path, GError **error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval timeout = {.tv_sec = BOUNDS_LMTP_IDLE_S};
	g_autofree char *what =
	    g_strdup_printf("cannot connect to paperboyd at '%s'", path);

	if (g_strlcpy(address.sun_path, path, sizeof(address.sun_path)) >=
	    sizeof(address.sun_path))
		return pb_fail(
		    error, PB_ERROR_TEMPORARY, "socket path '%s' is too long", path);
	client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (client->fd < 0 ||
	    setsockopt(
	        client->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) != 0 ||
	    setsockopt(
	        client->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) != 0 ||
	    connect(client->fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		return fail(error, what);
	return true;
}

static bool
write_all(struct client *client, const char *bytes, size_t size, GError **error)
{
	while (size) {
		ssize_t sent = send(client->fd, bytes, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return fail(error, "lost connection to paperboyd");
		bytes += sent;
		size -= (size_t)sent;
	}
	return true;
}

/* @return a line without its line end, owned by the caller, or NULL */
static char *
read_line(struct client *client, GError **error)
{
	for (;;) {
		char *end = memchr(client->buffer, '\n', client->size);
		ssize_t got;

		if (end) {
			size_t used = (size_t)(end - client->buffer) + 1;
			char *line = g_strndup(client->buffer, used);

			client->size -= used;
			memmove(client->buffer, end + 1, client->size);
			return g_strchomp(line);
		}
		if (client->size == sizeof(client->buffer)) {
			pb_fail(error, PB_ERROR_TEMPORARY, "invalid LMTP reply");
			return NULL;
		}
		got = recv(client->fd, client->buffer + client->size,
		    sizeof(client->buffer) - client->size, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			errno = got ? errno : ECONNRESET;
			fail(error, "lost connection to paperboyd");
			return NULL;
		}
		client->size += (size_t)got;
	}
}

/* Read a reply. @return false unless its first digit is the expected one */
static bool
expect(struct client *client, char expected, GError **error)
{
	g_autofree char *line = NULL;

	do {
		g_free(line);
		line = read_line(client, error);
		if (!line)
			return false;
	} while (strlen(line) > 3 && line[3] == '-');
	if (line[0] == expected)
		return true;
	return pb_fail(error,
	    g_str_has_prefix(line, UNKNOWN_USER) ? PB_ERROR_NOT_FOUND
	    : line[0] == '5'                     ? PB_ERROR_INPUT
	                                         : PB_ERROR_TEMPORARY,
	    "paperboyd replied: %s", line);
}

static bool
command(struct client *client, const char *line, char expected, GError **error)
{
	return write_all(client, line, strlen(line), error) &&
	       expect(client, expected, error);
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
run_transaction(struct client *client, const char *sender, const char *recipient,
    const GString *data, GError **error)
{
	bool is_utf8 = !g_str_is_ascii(sender) || !g_str_is_ascii(recipient);
	g_autofree char *mail = g_strdup_printf(
	    "MAIL FROM:<%s> BODY=8BITMIME%s\r\n", sender, is_utf8 ? " SMTPUTF8" : "");
	g_autofree char *rcpt = g_strdup_printf("RCPT TO:<%s>\r\n", recipient);

	return expect(client, '2', error) &&
	       command(client, "LHLO localhost\r\n", '2', error) &&
	       command(client, mail, '2', error) && command(client, rcpt, '2', error) &&
	       command(client, "DATA\r\n", '3', error) &&
	       write_all(client, data->str, data->len, error) &&
	       expect(client, '2', error);
}

bool
lmtp_client_send(const char *path, const char *sender, const char *recipient,
    const void *raw, size_t size, GError **error)
{
	struct client client = {.fd = -1};
	GString *data;
	bool is_ok = connect_to(&client, path, error);

	if (is_ok) {
		data = encode_data(raw, size);
		is_ok = run_transaction(&client, sender, recipient, data, error);
		g_string_free(data, TRUE);
	}
	/* The reply to QUIT is not read. */
	if (is_ok)
		write_all(&client, "QUIT\r\n", 6, NULL);
	if (client.fd >= 0)
		close(client.fd);
	return is_ok;
}
