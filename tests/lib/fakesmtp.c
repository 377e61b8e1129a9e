/*
 * fakesmtp.c - an SMTP server that misbehaves on demand, for tests.
 */
#include "fakesmtp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

struct fakesmtp {
	int listener;
	int stop; /* eventfd, readable to stop the thread */
	uint16_t port;
	GThread *thread;

	GMutex lock; /* protects the members below */
	struct fake_rule rules[N_FAKE_STAGES];
	unsigned seen[N_FAKE_STAGES];
	GString *transcript;
	unsigned n_connections;
	unsigned n_messages;
};

/* One connection of the thread. */
struct client {
	struct fakesmtp *server;
	int fd;
	GString *input;  /* read, not yet parsed */
	bool was_normal; /* the last reply followed no rule */
};

static const char *const normal_texts[N_FAKE_STAGES] = {
    [FAKE_GREETING] = "220 fake.example ESMTP\r\n",
    [FAKE_EHLO] = "250-fake.example\r\n250-SIZE 33554432\r\n250-8BITMIME\r\n"
                  "250-SMTPUTF8\r\n250 ENHANCEDSTATUSCODES\r\n",
    [FAKE_STARTTLS] = "454 4.7.0 no TLS here\r\n",
    [FAKE_AUTH] = "235 2.7.0 welcome\r\n",
    [FAKE_NOOP] = "250 2.0.0 fine\r\n",
    [FAKE_MAIL] = "250 2.1.0 fine\r\n",
    [FAKE_RCPT] = "250 2.1.5 fine\r\n",
    [FAKE_DATA] = "354 go on\r\n",
    [FAKE_DOT] = "250 2.0.0 taken as 1\r\n",
    [FAKE_RSET] = "250 2.0.0 fine\r\n",
    [FAKE_QUIT] = "221 2.0.0 bye\r\n",
};

static bool
wait_client(struct client *client)
{
	struct pollfd items[] = {
	    {.fd = client->fd, .events = POLLIN},
	    {.fd = client->server->stop, .events = POLLIN},
	};

	while (poll(items, G_N_ELEMENTS(items), -1) < 0)
		;
	return !items[1].revents;
}

/* Read more. @return false at the end of the client or test */
static bool
read_more(struct client *client)
{
	char chunk[4096];
	ssize_t n;

	if (!wait_client(client))
		return false;
	n = recv(client->fd, chunk, sizeof(chunk), 0);
	if (n <= 0)
		return false;
	g_string_append_len(client->input, chunk, n);
	g_mutex_lock(&client->server->lock);
	g_string_append_len(client->server->transcript, chunk, n);
	g_mutex_unlock(&client->server->lock);
	return true;
}

static bool
say(struct client *client, const char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		ssize_t n = send(client->fd, text, left, MSG_NOSIGNAL);

		if (n < 0)
			return false;
		text += n;
		left -= (size_t)n;
	}
	return true;
}

/* Apply the rule of a stage. @return false to disconnect */
static bool
act(struct client *client, enum fake_stage stage)
{
	struct fakesmtp *server = client->server;
	g_autofree char *text = NULL;
	struct fake_rule rule;
	bool is_due;

	g_mutex_lock(&server->lock);
	rule = server->rules[stage];
	text = g_strdup(rule.text);
	is_due = server->seen[stage] >= rule.skip &&
	         (rule.times == 0 || server->seen[stage] < rule.skip + rule.times);
	server->seen[stage]++;
	g_mutex_unlock(&server->lock);

	client->was_normal = !is_due || rule.act == FAKE_NORMAL;
	switch (is_due ? rule.act : FAKE_NORMAL) {
	case FAKE_NORMAL:
		return !normal_texts[stage] || say(client, normal_texts[stage]);
	case FAKE_REPLY:
		return say(client, text);
	case FAKE_REPLY_DROP:
		say(client, text);
		return false;
	case FAKE_DROP:
		return false;
	case FAKE_STALL:
		while (read_more(client))
			;
		return false;
	}
	g_assert_not_reached();
}

static bool
read_message(struct client *client)
{
	const char *end;

	while (client->input->len == 0)
		if (!read_more(client))
			return false;
	if (!act(client, FAKE_BODY))
		return false;
	for (;;) {
		if (g_str_has_prefix(client->input->str, ".\r\n")) {
			g_string_erase(client->input, 0, 3);
			break;
		}
		end = strstr(client->input->str, "\r\n.\r\n");
		if (end) {
			g_string_erase(client->input, 0, end + 5 - client->input->str);
			break;
		}
		if (!read_more(client))
			return false;
	}
	g_mutex_lock(&client->server->lock);
	client->server->n_messages++;
	g_mutex_unlock(&client->server->lock);
	return act(client, FAKE_DOT);
}

static bool
serve_command(struct client *client, const char *line)
{
	static const struct {
		const char *verb;
		enum fake_stage stage;
	} commands[] = {
	    {"EHLO ", FAKE_EHLO},
	    {"HELO ", FAKE_EHLO},
	    {"LHLO ", FAKE_EHLO},
	    {"STARTTLS", FAKE_STARTTLS},
	    {"AUTH ", FAKE_AUTH},
	    {"NOOP", FAKE_NOOP},
	    {"MAIL FROM:", FAKE_MAIL},
	    {"RCPT TO:", FAKE_RCPT},
	    {"DATA", FAKE_DATA},
	    {"RSET", FAKE_RSET},
	    {"QUIT", FAKE_QUIT},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
		bool goes_on;

		if (!g_str_has_prefix(line, commands[i].verb))
			continue;
		goes_on = act(client, commands[i].stage);
		if (commands[i].stage == FAKE_QUIT)
			return false;
		/* The body follows only our own 354. */
		if (goes_on && commands[i].stage == FAKE_DATA && client->was_normal)
			return read_message(client);
		return goes_on;
	}
	return say(client, "500 5.5.2 what?\r\n");
}

static void
serve_client(struct client *client)
{
	if (!act(client, FAKE_GREETING))
		return;
	for (;;) {
		g_autofree char *line = NULL;
		const char *end = strstr(client->input->str, "\r\n");

		if (!end) {
			if (!read_more(client))
				return;
			continue;
		}
		line = g_strndup(client->input->str, (gsize)(end - client->input->str));
		g_string_erase(client->input, 0, end + 2 - client->input->str);
		if (!serve_command(client, line))
			return;
	}
}

static gpointer
serve(gpointer data)
{
	struct fakesmtp *server = data;

	for (;;) {
		struct client client = {.server = server, .fd = server->listener};

		if (!wait_client(&client))
			return NULL;
		client.fd = accept(server->listener, NULL, NULL);
		if (client.fd < 0)
			continue;
		g_mutex_lock(&server->lock);
		server->n_connections++;
		g_mutex_unlock(&server->lock);
		client.input = g_string_new(NULL);
		serve_client(&client);
		g_string_free(client.input, TRUE);
		close(client.fd);
	}
}

struct fakesmtp *
fakesmtp_new(void)
{
	struct sockaddr_in address = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct fakesmtp *server = g_new0(struct fakesmtp, 1);
	socklen_t size = sizeof(address);

	server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	g_assert_cmpint(server->listener, >=, 0);
	g_assert_cmpint(
	    bind(server->listener, (struct sockaddr *)&address, sizeof(address)), ==,
	    0);
	g_assert_cmpint(listen(server->listener, 16), ==, 0);
	getsockname(server->listener, (struct sockaddr *)&address, &size);
	server->port = ntohs(address.sin_port);
	server->stop = eventfd(0, EFD_CLOEXEC);
	server->transcript = g_string_new(NULL);
	g_mutex_init(&server->lock);
	server->thread = g_thread_new("fakesmtp", serve, server);
	return server;
}

void
fakesmtp_free(struct fakesmtp *server)
{
	if (!server)
		return;
	g_assert_cmpint(eventfd_write(server->stop, 1), ==, 0);
	g_thread_join(server->thread);
	close(server->listener);
	close(server->stop);
	for (size_t i = 0; i < N_FAKE_STAGES; i++)
		g_free((char *)server->rules[i].text);
	g_string_free(server->transcript, TRUE);
	g_mutex_clear(&server->lock);
	g_free(server);
}

uint16_t
fakesmtp_get_port(const struct fakesmtp *server)
{
	return server->port;
}

void
fakesmtp_set(struct fakesmtp *server, enum fake_stage stage, struct fake_rule rule)
{
	g_mutex_lock(&server->lock);
	g_free((char *)server->rules[stage].text);
	server->rules[stage] = rule;
	server->rules[stage].text = g_strdup(rule.text);
	server->seen[stage] = 0;
	g_mutex_unlock(&server->lock);
}

char *
fakesmtp_dup_transcript(struct fakesmtp *server)
{
	char *text;

	g_mutex_lock(&server->lock);
	text = g_strdup(server->transcript->str);
	g_mutex_unlock(&server->lock);
	return text;
}

unsigned
fakesmtp_get_connections(struct fakesmtp *server)
{
	unsigned n;

	g_mutex_lock(&server->lock);
	n = server->n_connections;
	g_mutex_unlock(&server->lock);
	return n;
}

unsigned
fakesmtp_get_messages(struct fakesmtp *server)
{
	unsigned n;

	g_mutex_lock(&server->lock);
	n = server->n_messages;
	g_mutex_unlock(&server->lock);
	return n;
}
