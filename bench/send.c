/*
 * send.c - send messages of one size over SMTP, on one or several connections.
 *
 * send PORT CONNECTIONS COUNT BYTES: send to 127.0.0.1 with a thread and a transport
 * for each connection, as the mailer does; each message has its own recipient and
 * envelope sender (VERP).
 */
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "stopwatch.h"
#include "transport/smtp.h"

#define LINE_CHARS 70

/* Shared by all threads, read-only. */
struct job {
	struct smtp_options options;
	struct envelope envelope;
	unsigned count; /* for each */
};

static GBytes *
new_message(size_t body_bytes)
{
	GString *message =
	    g_string_new("From: paperboy <paperboy@papers.example.org>\r\n"
	                 "To: <person@example.org>\r\n"
	                 "Subject: a message\r\n"
	                 "Date: Fri, 20 Nov 2026 12:00:00 +0000\r\n"
	                 "Message-ID: <bench@papers.example.org>\r\n"
	                 "\r\n");
	g_autofree char *line = g_strnfill(LINE_CHARS, 'x');

	for (; body_bytes > LINE_CHARS + 2; body_bytes -= LINE_CHARS + 2)
		g_string_append_printf(message, "%s\r\n", line);
	g_string_append_printf(message, "%.*s\r\n", (int)body_bytes - 2, line);
	return g_string_free_to_bytes(message);
}

/* One connection's messages. */
struct sender {
	const struct job *job;
	/* One whose answer is awaited, one behind it. */
	struct {
		struct delivery_job delivery_job;
		char sender[64], recipient[64];
	} slots[2];
	unsigned taken, done, sent;
};

static struct delivery_job *
take(void *data)
{
	struct sender *sender = data;
	unsigned number = sender->taken, slot = number % 2;

	if (number == sender->job->count)
		return NULL;
	sender->taken++;
	g_snprintf(sender->slots[slot].sender, sizeof(sender->slots[slot].sender),
	    "paperboy+b-%010u@papers.example.org", number);
	g_snprintf(sender->slots[slot].recipient, sizeof(sender->slots[slot].recipient),
	    "person-%u@example.org", number);
	sender->slots[slot].delivery_job.envelope = sender->job->envelope;
	sender->slots[slot].delivery_job.envelope.sender = sender->slots[slot].sender;
	sender->slots[slot].delivery_job.envelope.recipient =
	    sender->slots[slot].recipient;
	return &sender->slots[slot].delivery_job;
}

static void
ignore(void *data, struct delivery_job *delivery_job)
{
	(void)data, (void)delivery_job;
}

static void
count(void *data, struct delivery_job *delivery_job)
{
	struct sender *sender = data;

	sender->done++;
	if (delivery_job->result.outcome == DELIVERY_SENT)
		sender->sent++;
	else if (sender->done == sender->sent + 1)
		fprintf(stderr, "send: %s\n", delivery_job->result.text);
}

/* @return how many were sent */
static void *
run_sender(void *data)
{
	struct sender sender = {.job = data};
	const struct job_queue feed = {
	    .next = take, .written = ignore, .done = count, .data = &sender};
	pb_auto(transport) transport = smtp_new(&sender.job->options);

	transport_run(transport, &feed);
	transport_close(transport);
	for (size_t i = 0; i < G_N_ELEMENTS(sender.slots); i++)
		delivery_clear(&sender.slots[i].delivery_job.result);
	return GUINT_TO_POINTER(sender.sent);
}

int
main(int argc, char **argv)
{
	g_autoptr(GPtrArray) threads = g_ptr_array_new();
	g_autoptr(GBytes) message = NULL;
	struct stopwatch watch = {0};
	struct job job = {
	    .options = {.stream = {.host = "127.0.0.1", .hello = "client.example"},
	        .times = SMTP_TIMES_STANDARD,
	        /* As its peers, which keep a connection for all. */
	        .use_messages = G_MAXUINT,
	        .use_s = SMTP_USE_S},
	    .envelope = {.id = "bench"},
	};
	unsigned connections, sent = 0;

	if (argc != 5) {
		fprintf(stderr, "usage: send PORT CONNECTIONS COUNT BYTES\n");
		return 64;
	}
	signal(SIGPIPE, SIG_IGN);
	connections = (unsigned)strtoul(argv[2], NULL, 10);
	message = new_message(strtoul(argv[4], NULL, 10));
	job.options.stream.port = (uint16_t)strtoul(argv[1], NULL, 10);
	job.envelope.message = message;
	job.count = (unsigned)strtoul(argv[3], NULL, 10) / connections;
	stopwatch_start(&watch);
	for (unsigned i = 0; i < connections; i++)
		g_ptr_array_add(threads, g_thread_new("sender", run_sender, &job));
	for (unsigned i = 0; i < connections; i++)
		sent += GPOINTER_TO_UINT(g_thread_join(threads->pdata[i]));
	stopwatch_stop(&watch);
	stopwatch_print(&watch);
	printf("sent=%u\n", sent);
	return sent == job.count * connections ? 0 : 1;
}
