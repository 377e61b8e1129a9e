/*
 * test_lmtp.c - LMTP sessions, limits, and slow clients.
 */
#include "receive/lmtp_listen.h"
#include "receive/lmtp_server.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "receive/lmtp_session.h"
#include "transport/lmtp.h"

/* Last message of the sink, and its next result. */
struct basket {
	unsigned count;
	char *sender, *recipient;
	GString *raw;
	int failure; /* a pb_error, or -1 */
};

static bool
take(void *data, const struct receive_mail *mail, GError **error)
{
	struct basket *basket = data;

	basket->count++;
	g_free(basket->sender);
	g_free(basket->recipient);
	basket->sender = g_strdup(mail->sender);
	basket->recipient = g_strdup(mail->recipient);
	g_string_truncate(basket->raw, 0);
	g_string_append_len(basket->raw, mail->raw, (gssize)mail->size);
	if (basket->failure < 0)
		return true;
	g_set_error(error, PB_ERROR, basket->failure, "no\r\n250 way \303\244");
	return false;
}

static void
note(void *data, const GError *problem)
{
	(void)data;
	g_assert_no_error(problem);
}

static bool
is_known(void *data, const char *recipient)
{
	(void)data;
	return !g_str_has_prefix(recipient, "unknown");
}

static void
clear_basket(struct basket *basket)
{
	g_free(basket->sender);
	g_free(basket->recipient);
	g_string_free(basket->raw, TRUE);
}

#define LHLO "LHLO x\r\n"
#define MAIL "MAIL FROM:<a@b.example>\r\n"
#define RCPT "RCPT TO:<c@d.example>\r\n"
#define ALL  LHLO MAIL RCPT "DATA\r\n"

/* Input, expected reply codes, and messages in the sink. */
struct dialogue {
	const char *name, *said, *codes, *messages;
	const char *raw, *sender, *recipient; /* of the last message; NULL: any */
};

/* @return codes of all replies without continuation lines; owned by the caller */
static char *
list_codes(const GString *out)
{
	GString *codes = g_string_new(NULL);
	g_auto(GStrv) lines = g_strsplit(out->str, "\r\n", -1);

	for (char **line = lines; *line; line++) {
		if (!**line)
			continue;
		g_assert_null(strpbrk(*line, "\r\n"));
		g_assert_true(g_ascii_isdigit(**line) && strlen(*line) > 4);
		if ((*line)[3] == ' ')
			g_string_append_printf(
			    codes, "%s%.3s", codes->len ? " " : "", *line);
	}
	return g_string_free(codes, FALSE);
}

/* In chunks of this size. */
static char *
talk(struct basket *basket, const char *said, size_t size, size_t piece)
{
	const struct receiver_sink sink = {
	    .take = take, .report = note, .is_known = is_known, .data = basket};
	pb_auto(lmtp_session) session = lmtp_session_new(&sink);

	for (size_t at = 0; at < size; at += piece)
		lmtp_session_feed(session, said + at, MIN(piece, size - at));
	g_assert_cmpuint(lmtp_session_get_accepted(session), ==, basket->count);
	return list_codes(lmtp_session_get_output(session));
}

static void
test_session(gconstpointer data)
{
	const struct dialogue *row = data;
	size_t pieces[] = {1, 2, 7, 100000};

	for (size_t j = 0; j < G_N_ELEMENTS(pieces); j++) {
		struct basket basket = {.raw = g_string_new(NULL), .failure = -1};
		g_autofree char *codes =
		    talk(&basket, row->said, strlen(row->said), pieces[j]);

		g_assert_cmpstr(codes, ==, row->codes);
		g_assert_cmpuint(basket.count, ==, cases_number(row->messages));
		if (row->raw)
			g_assert_cmpstr(basket.raw->str, ==, row->raw);
		if (row->sender)
			g_assert_cmpstr(basket.sender, ==, row->sender);
		if (row->recipient)
			g_assert_cmpstr(basket.recipient, ==, row->recipient);
		clear_basket(&basket);
	}
}

TEST(sink_results_become_reply_codes)
{
	static const struct {
		int failure;
		const char *codes;
	} rows[] = {
	    {PB_ERROR_TEMPORARY, "220 250 250 250 354 451"},
	    {PB_ERROR_PERMANENT, "220 250 250 250 354 451"},
	    {PB_ERROR_LIMIT, "220 250 250 250 354 552"},
	    {PB_ERROR_INPUT, "220 250 250 250 354 554"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct basket basket = {
		    .raw = g_string_new(NULL), .failure = rows[i].failure};
		g_autofree char *codes =
		    talk(&basket, ALL "x\r\n.\r\n", strlen(ALL "x\r\n.\r\n"), G_MAXINT);

		g_assert_cmpstr(codes, ==, rows[i].codes);
		clear_basket(&basket);
	}
}

/* Input repeated up to a bound and beyond, and the end of the replies. */
static const struct {
	const char *name, *before, *again, *behind;
	unsigned times;
	const char *wanted, *beyond;
} floods[] = {
    {"the octets of a line", "NOOP ", "x", "\r\nNOOP\r\n", BOUNDS_LMTP_LINE_BYTES - 5,
        "250 250", "500 250"},
    {"the octets of a line that does not end", "", "x", "\r\nNOOP\r\n",
        BOUNDS_LMTP_SKIP_BYTES - 1 /* and the CR */, "500 250", "421"},
    {"recipients", LHLO MAIL, RCPT, "", BOUNDS_LMTP_RECIPIENTS, "250 250", "250 452"},
    {"unknown recipients", LHLO MAIL, "RCPT TO:<unknown@d.example>\r\n", "",
        BOUNDS_LMTP_RECIPIENTS, "550 550", "550 452"},
    {"errors", "", "X\r\n", "", BOUNDS_LMTP_ERRORS - 1, "500 500", "500 421"},
    {"commands without a letter", "", "NOOP\r\n", "", BOUNDS_LMTP_COMMANDS, "250 250",
        "250 421"},
    {"the octets of a letter", ALL, "x", "\r\n.\r\nNOOP\r\n", BOUNDS_MAIL_BYTES - 2,
        "354 250 250", "354 552 250"},
    {"the octets of one that is refused", ALL, "x", "",
        BOUNDS_MAIL_BYTES + BOUNDS_LMTP_FLOOD_BYTES, "354", "421"},
};

static void
test_flood(gconstpointer data)
{
	size_t i = GPOINTER_TO_SIZE(data);

	for (unsigned more = 0; more <= 1; more++) {
		struct basket basket = {.raw = g_string_new(NULL), .failure = -1};
		GString *said = g_string_new(floods[i].before);
		g_autofree char *codes = NULL;

		for (unsigned k = 0; k < floods[i].times + more; k++)
			g_string_append(said, floods[i].again);
		g_string_append(said, floods[i].behind);
		codes = talk(&basket, said->str, said->len, 4096);
		g_test_message("%s", codes);
		g_assert_true(g_str_has_suffix(
		    codes, more ? floods[i].beyond : floods[i].wanted));
		g_string_free(said, TRUE);
		clear_basket(&basket);
	}
}

/* Whether an address of this length is accepted. */
TEST(address_length_is_limited)
{
	for (int more = 0; more <= 1; more++) {
		struct basket basket = {.raw = g_string_new(NULL), .failure = -1};
		g_autofree char *name =
		    g_strnfill((gsize)(BOUNDS_ADDRESS_BYTES - 10 + more), 'x');
		g_autofree char *said =
		    g_strdup_printf(LHLO MAIL "RCPT TO:<%s@d.example>\r\n", name);
		g_autofree char *codes = talk(&basket, said, strlen(said), 100);

		g_assert_cmpstr(
		    codes, ==, more ? "220 250 250 553" : "220 250 250 250");
		clear_basket(&basket);
	}
}

/* ---- On a socket ---- */

struct server {
	struct receiver *mailbox;
	struct basket basket;
	struct receiver_sink sink;
	int stop_fd;
	GThread *thread;
	char *path;
};

static gpointer
serve(gpointer data)
{
	struct server *server = data;
	GError *error = NULL;

	g_assert_true(
	    receiver_run(server->mailbox, &server->sink, server->stop_fd, &error));
	g_assert_no_error(error);
	return NULL;
}

static int
connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	g_strlcpy(address.sun_path, path, sizeof(address.sun_path));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

static struct server *
start_server(const struct store_fixture *fixture, struct lmtp_times times)
{
	struct server *server = g_new0(struct server, 1);
	const struct lmtp_options options = {
	    .path = server->path = g_build_filename(fixture->directory, "lmtp", NULL),
	    .times = times,
	};
	int fd;

	server->basket = (struct basket){.raw = g_string_new(NULL), .failure = -1};
	server->sink = (struct receiver_sink){
	    .take = take, .report = note, .data = &server->basket};
	server->mailbox = lmtp_new(&options);
	server->stop_fd = eventfd(0, EFD_CLOEXEC);
	server->thread = g_thread_new("lmtp", serve, server);
	while ((fd = connect_to(server->path)) < 0)
		g_thread_yield();
	close(fd);
	return server;
}

static void
stop_server(struct server *server)
{
	uint64_t one = 1;

	g_assert_cmpint(write(server->stop_fd, &one, sizeof(one)), ==, sizeof(one));
	g_thread_join(server->thread);
	g_assert_cmpint(access(server->path, F_OK), !=, 0);
	receiver_free(server->mailbox);
	close(server->stop_fd);
	clear_basket(&server->basket);
	g_free(server->path);
	g_free(server);
}

/* Read until the peer closes. */
static char *
read_to_end(int fd)
{
	GString *text = g_string_new(NULL);
	char buffer[1024];
	ssize_t got;

	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		g_string_append_len(text, buffer, got);
	return g_string_free(text, FALSE);
}

STORE_TEST(silent_client_is_disconnected)
{
	static const char *const said[] = {"", LHLO, LHLO MAIL RCPT, ALL "half\r\n."};
	struct server *server =
	    start_server(fixture, (struct lmtp_times){.idle = 50, .mail = 600000});

	for (size_t i = 0; i < G_N_ELEMENTS(said); i++) {
		int fd = connect_to(server->path);
		g_autofree char *heard = NULL;

		/* Fails if the timeout has passed already. */
		send(fd, said[i], strlen(said[i]), MSG_NOSIGNAL);
		heard = read_to_end(fd);
		g_assert_nonnull(strstr(heard, "421 4.4.2"));
		close(fd);
	}
	g_assert_cmpuint(server->basket.count, ==, 0);
	stop_server(server);
}

STORE_TEST(slow_client_is_disconnected)
{
	struct server *server =
	    start_server(fixture, (struct lmtp_times){.idle = 600000, .mail = 200});
	int fd = connect_to(server->path);

	while (send(fd, "NOOP", 1, MSG_NOSIGNAL) == 1) {
		struct pollfd news = {.fd = fd, .events = POLLIN};
		char greeting[64];

		if (poll(&news, 1, 5) == 1 &&
		    recv(fd, greeting, sizeof(greeting), 0) == 0)
			break;
	}
	close(fd);
	g_assert_cmpuint(server->basket.count, ==, 0);
	stop_server(server);
}

STORE_TEST(client_that_does_not_read_is_disconnected)
{
	struct server *server =
	    start_server(fixture, (struct lmtp_times){.idle = 200, .mail = 600000});
	int fd = connect_to(server->path), put;
	GString *flood = g_string_new(LHLO);

	for (int i = 0; i < 20; i++)
		g_string_append(flood, LHLO);
	/* Recipients do not count as commands: this may be repeated. */
	for (int i = 0; i < 2000; i++)
		g_string_append(flood, MAIL RCPT RCPT RCPT "DATA\r\nx\r\n.\r\n");
	do {
		put = (int)send(fd, flood->str, flood->len, MSG_NOSIGNAL);
	} while (put > 0);
	g_assert_true(errno == EPIPE || errno == ECONNRESET);
	close(fd);
	g_string_free(flood, TRUE);
	stop_server(server);
}

STORE_TEST(client_and_server_interoperate)
{
	static const struct {
		const char *raw, *stored;
	} rows[] = {
	    {"x\n", "x\r\n"},
	    {"x", "x\r\n"},
	    {"x\r\ny\n", "x\r\ny\r\n"},
	    {".\n..\nx.\n", ".\r\n..\r\nx.\r\n"},
	};
	struct server *server = start_server(fixture, LMTP_TIMES_STANDARD);
	g_autoptr(GError) error = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_assert_true(lmtp_send(server->path, "a@b.example",
		    "\303\244@d.example", rows[i].raw, strlen(rows[i].raw), &error));
		g_assert_cmpstr(server->basket.raw->str, ==, rows[i].stored);
		g_assert_cmpstr(server->basket.recipient, ==, "\303\244@d.example");
	}
	server->basket.failure = PB_ERROR_TEMPORARY;
	g_assert_false(lmtp_send(server->path, "", "c@d.example", "x", 1, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
	g_clear_error(&error);
	server->basket.failure = PB_ERROR_INPUT;
	g_assert_false(lmtp_send(server->path, "", "c@d.example", "x", 1, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	g_clear_error(&error);
	stop_server(server);
	g_assert_false(
	    lmtp_send(fixture->directory, "", "c@d.example", "x", 1, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
}

TEST(only_loopback_is_accepted)
{
	CASES_FOREACH(row, "lmtp_loopback", *text, *is_ok) {
		g_autoptr(GError) error = NULL;

		g_assert_true(
		    lmtp_listen_check(row->text, &error) == cases_is_yes(row->is_ok));
		g_assert_true((error == NULL) == cases_is_yes(row->is_ok));
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	CASES_FOREACH_AS(struct dialogue, row, "lmtp_dialogues") {
		g_autofree char *path =
		    g_strdup_printf("/lmtp/dialogue: %s", row->name);

		g_test_add_data_func(path, row, test_session);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(floods); i++) {
		g_autofree char *path = g_strdup_printf(
		    "/lmtp/bound and bound plus one: %s", floods[i].name);

		g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_flood);
	}
	unit_add_all();
	return g_test_run();
}
