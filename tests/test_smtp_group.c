/*
 * test_smtp_group.c - pipelined messages, some of them rejected.
 */
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/fakesmtp.h"
#include "lib/unit.h"
#include "transport/lmtp.h"
#include "transport/smtp.h"

#define MESSAGES 5
#define LONG_MS  20000
#define FEW_MS   100

/* A relay and a queue of messages. */
struct line {
	struct fakesmtp *server;
	struct smtp_options options;
	struct transport *transport;
	struct delivery_job parcels[MESSAGES];
	char *ids[MESSAGES];
	char *recipients[MESSAGES];
	GBytes *messages[MESSAGES];
	unsigned taken, written, done;
	unsigned withdrawn_from; /* this message and later ones; 0: none */
};

static void
line_init(struct line *line, bool is_grouped)
{
	*line = (struct line){.server = fakesmtp_new()};
	if (is_grouped)
		fakesmtp_set(line->server, FAKE_EHLO,
		    (struct fake_rule){FAKE_REPLY, FAKE_HELLO_MODERN, 0, 0});
	line->options = (struct smtp_options){
	    .stream = {.host = "127.0.0.1",
	        .port = fakesmtp_get_port(line->server),
	        .hello = "client.example"},
	    .times = {LONG_MS, LONG_MS, LONG_MS, LONG_MS, LONG_MS, LONG_MS, LONG_MS},
	    .use_messages = SMTP_USE_MESSAGES,
	    .use_s = SMTP_USE_S,
	};
	line->transport = smtp_new(&line->options);
	for (unsigned i = 0; i < MESSAGES; i++) {
		char *text = g_strdup_printf("Subject: %u\r\n\r\n.body %u\r\n", i, i);

		line->ids[i] = g_strdup_printf("id+%u", i);
		line->recipients[i] = g_strdup_printf("to%u@b.example", i);
		line->messages[i] = g_bytes_new_take(text, strlen(text));
		line->parcels[i].envelope = (struct envelope){
		    .id = line->ids[i],
		    .sender = "from@a.example",
		    .recipient = line->recipients[i],
		    .message = line->messages[i],
		};
	}
}

static void
line_clear(struct line *line)
{
	transport_free(line->transport);
	fakesmtp_free(line->server);
	for (unsigned i = 0; i < MESSAGES; i++) {
		g_free(line->ids[i]);
		g_free(line->recipients[i]);
		g_clear_pointer(&line->messages[i], g_bytes_unref);
		delivery_clear(&line->parcels[i].result);
	}
}

static struct delivery_job *
take(void *data)
{
	struct line *line = data;

	/* At most one is ahead of the current one. */
	g_assert_cmpuint(line->taken - line->done, <=, 1);
	return line->taken < MESSAGES ? &line->parcels[line->taken++] : NULL;
}

static void
note_written(void *data, struct delivery_job *delivery_job)
{
	struct line *line = data;
	size_t i = (size_t)(delivery_job - line->parcels);

	/* Freed to detect later access. */
	delivery_job->envelope.message = NULL;
	g_clear_pointer(&line->messages[i], g_bytes_unref);
	line->written++;
}

static void
note_done(void *data, struct delivery_job *delivery_job)
{
	struct line *line = data;

	g_assert_true(delivery_job == &line->parcels[line->done]);
	line->done++;
}

static bool
may_write(void *data)
{
	const struct line *line = data;

	return !line->withdrawn_from || line->done < line->withdrawn_from;
}

static void
run(struct line *line)
{
	const struct job_queue feed = {.next = take,
	    .may_write = may_write,
	    .written = note_written,
	    .done = note_done,
	    .data = line};

	transport_run(line->transport, &feed);
	g_assert_cmpuint(line->done, ==, MESSAGES);
}

static void
assert_seen(struct line *line, const char *text)
{
	g_autofree char *transcript = fakesmtp_dup_transcript(line->server);

	if (!strstr(transcript, text))
		g_error("wanted \"%s\" in: %s", text, transcript);
}

TEST(all_messages_use_one_connection)
{
	for (int is_grouped = 0; is_grouped < 2; is_grouped++) {
		pb_local(line) line;

		line_init(&line, is_grouped);
		run(&line);
		for (unsigned i = 0; i < MESSAGES; i++)
			g_assert_cmpint(
			    line.parcels[i].result.outcome, ==, DELIVERY_SENT);
		g_assert_cmpuint(line.written, ==, MESSAGES);
		g_assert_cmpuint(fakesmtp_get_messages(line.server), ==, MESSAGES);
		g_assert_cmpuint(fakesmtp_get_connections(line.server), ==, 1);
	}
}

TEST(extensions_shape_the_envelope)
{
	pb_local(line) line;

	line_init(&line, true);
	run(&line);
	assert_seen(&line,
	    "..body 0\r\n.\r\nMAIL FROM:<from@a.example> SIZE=23 RET=HDRS"
	    " ENVID=id+2B1\r\nRCPT TO:<to1@b.example> NOTIFY=FAILURE"
	    " ORCPT=rfc822;to1@b.example\r\nDATA\r\nSubject: 1");
}

struct message_fault {
	enum fake_stage stage;
	struct fake_rule rule; /* at the third message */
	enum fake_stage more;  /* the stage behind it, at the third message */
	const char *text;      /* NULL: default, so 354 after a rejection */
	const char *outcomes;  /* a character each: sent, deferred, failed, unknown */
	unsigned connections, messages;
};

/* @return a difference, or NULL; a new string */
static char *
try_message_fault(const struct message_fault *row, unsigned wait_ms)
{
	char outcomes[MESSAGES + 1] = "";
	pb_local(line) line;
	char *problem = NULL;

	line_init(&line, true);
	if (row->rule.act == FAKE_STALL)
		line.options.times.dot_ms = wait_ms;
	fakesmtp_set(line.server, row->stage, row->rule);
	if (row->text)
		fakesmtp_set(line.server, row->more,
		    (struct fake_rule){FAKE_REPLY, row->text, 2, 1});
	run(&line);
	for (unsigned k = 0; k < MESSAGES; k++)
		outcomes[k] = "sdfu"[line.parcels[k].result.outcome];
	if (strcmp(outcomes, row->outcomes) != 0 ||
	    fakesmtp_get_connections(line.server) != row->connections ||
	    fakesmtp_get_messages(line.server) != row->messages)
		problem = g_strdup_printf("%s, %u connections, %u messages", outcomes,
		    fakesmtp_get_connections(line.server),
		    fakesmtp_get_messages(line.server));
	return problem;
}

TEST(fault_affects_one_message_only)
{
	static const struct message_fault rows[] = {
	    {FAKE_RCPT, {FAKE_REPLY, "550 5.1.1 no\r\n", 2, 1}, FAKE_DATA,
	        "554 5.5.1 no valid recipients\r\n", "ssfss", 1, 4},
	    {FAKE_RCPT, {FAKE_REPLY, "550 5.1.1 no\r\n", 2, 1}, FAKE_DATA,
	        "503 5.5.1 RCPT first\r\n", "ssfss", 1, 4},
	    /* The fake server counts the lone dot as a message. */
	    {FAKE_RCPT, {FAKE_REPLY, "550 5.1.1 no\r\n", 2, 1}, 0, NULL, "ssfss", 1, 5},
	    {FAKE_RCPT, {FAKE_REPLY, "450 4.2.1 later\r\n", 2, 1}, 0, NULL, "ssdss", 1,
	        5},
	    {FAKE_RCPT, {FAKE_REPLY, "550-5.1.1 no\r\n550 5.1.1 one\r\n", 2, 1},
	        FAKE_DATA, "503 5.5.1 RCPT first\r\n", "ssfss", 1, 4},
	    {FAKE_MAIL, {FAKE_REPLY, "552 5.3.4 too big\r\n", 2, 1}, FAKE_DATA,
	        "503 5.5.1 MAIL first\r\n", "ssfss", 1, 4},
	    {FAKE_MAIL, {FAKE_REPLY, "451 4.1.8 who?\r\n", 2, 1}, FAKE_DATA,
	        "503 5.5.1 MAIL first\r\n", "ssdss", 1, 4},
	    {FAKE_DATA, {FAKE_REPLY, "451 4.6.0 no\r\n", 2, 1}, 0, NULL, "ssdss", 1, 4},
	    {FAKE_DATA, {FAKE_REPLY, "554 5.6.0 no\r\n", 2, 1}, 0, NULL, "ssfss", 1, 4},
	    {FAKE_DOT, {FAKE_REPLY, "554 5.6.0 spam\r\n", 2, 1}, 0, NULL, "ssfss", 1,
	        5},
	    {FAKE_DOT, {FAKE_REPLY, "451 4.6.0 later\r\n", 2, 1}, 0, NULL, "ssdss", 1,
	        5},
	    /* Connection lost: the next message is started again. */
	    {FAKE_DOT, {FAKE_DROP, NULL, 2, 1}, 0, NULL, "ssuss", 2, 5},
	    {FAKE_DOT, {FAKE_REPLY_DROP, "250 taken\r\n", 2, 1}, 0, NULL, "sssss", 2,
	        5},
	    {FAKE_DOT, {FAKE_REPLY_DROP, "250 taken\r\n421 4.4.2 bye\r\n", 2, 1}, 0,
	        NULL, "sssss", 2, 5},
	    {FAKE_DOT, {FAKE_REPLY, "garbage\r\n", 2, 1}, 0, NULL, "ssuss", 2, 5},
	    {FAKE_DOT, {FAKE_STALL, NULL, 2, 1}, 0, NULL, "ssuss", 2, 5},
	    {FAKE_MAIL, {FAKE_DROP, NULL, 2, 1}, 0, NULL, "sssss", 2, 5},
	    {FAKE_RCPT, {FAKE_DROP, NULL, 2, 1}, 0, NULL, "ssdss", 2, 4},
	    {FAKE_DATA, {FAKE_DROP, NULL, 2, 1}, 0, NULL, "ssdss", 2, 4},
	    {FAKE_RCPT, {FAKE_REPLY_DROP, "550 5.1.1 no\r\n", 2, 1}, 0, NULL, "ssfss",
	        2, 4},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		unsigned wait_ms = FEW_MS;
		char *problem;

		/* A slow server is late for earlier messages, too: wait longer then. */
		while ((problem = try_message_fault(&rows[i], wait_ms))) {
			if (rows[i].rule.act != FAKE_STALL || wait_ms > LONG_MS)
				g_error("row %zu: %s", i, problem);
			g_free(problem);
			wait_ms *= 4;
		}
	}
}

TEST(rset_after_rejection_is_pipelined)
{
	pb_local(line) line;

	line_init(&line, true);
	fakesmtp_set(line.server, FAKE_RCPT,
	    (struct fake_rule){FAKE_REPLY, "550 5.1.1 no\r\n", 0, 1});
	run(&line);
	/* 354 to DATA without a recipient: a dot and nothing of the message. */
	assert_seen(&line, "ORCPT=rfc822;to0@b.example\r\nDATA\r\n.\r\nRSET\r\nMAIL");
}

TEST(message_over_the_size_limit_is_not_sent)
{
	struct line line;

	line_init(&line, false);
	fakesmtp_set(line.server, FAKE_EHLO,
	    (struct fake_rule){
	        FAKE_REPLY, "250-fake\r\n250-PIPELINING\r\n250 SIZE 22\r\n", 0, 0});
	run(&line);
	for (unsigned i = 0; i < MESSAGES; i++) {
		g_assert_cmpint(line.parcels[i].result.outcome, ==, DELIVERY_FAILED);
		g_assert_cmpstr(line.parcels[i].result.enhanced, ==, "5.3.4");
	}
	line_clear(&line);
	line_init(&line, false);
	fakesmtp_set(line.server, FAKE_EHLO,
	    (struct fake_rule){
	        FAKE_REPLY, "250-fake\r\n250-PIPELINING\r\n250 SIZE 23\r\n", 0, 0});
	run(&line);
	g_assert_cmpint(line.parcels[0].result.outcome, ==, DELIVERY_SENT);
	line_clear(&line);
}

TEST(messages_per_connection_are_limited)
{
	pb_local(line) line;

	line_init(&line, true);
	line.options.use_messages = 2;
	run(&line);
	g_assert_cmpuint(fakesmtp_get_connections(line.server), ==, 3);
	g_assert_cmpuint(fakesmtp_get_messages(line.server), ==, MESSAGES);
	assert_seen(&line, ".\r\nQUIT\r\nEHLO");
}

/* ---- LMTP ------------------------------------------------------------------- */

TEST(lmtp_differs_only_in_lhlo)
{
	for (int is_grouped = 0; is_grouped < 2; is_grouped++) {
		pb_local(line) line;

		line_init(&line, is_grouped);
		line.options.is_lmtp = true;
		run(&line);
		for (unsigned i = 0; i < MESSAGES; i++)
			g_assert_cmpint(
			    line.parcels[i].result.outcome, ==, DELIVERY_SENT);
		assert_seen(&line, "LHLO client.example\r\nNOOP\r\nMAIL");
		g_assert_cmpuint(fakesmtp_get_connections(line.server), ==, 1);
	}
}

TEST(lmtp_without_recipient_has_no_reply_to_the_dot)
{
	pb_local(line) line;

	line_init(&line, true);
	line.options.is_lmtp = true;
	fakesmtp_set(line.server, FAKE_RCPT,
	    (struct fake_rule){FAKE_REPLY, "550 5.1.1 no\r\n", 0, 1});
	run(&line);
	g_assert_cmpint(line.parcels[0].result.outcome, ==, DELIVERY_FAILED);
	g_assert_cmpint(line.parcels[1].result.outcome, ==, DELIVERY_SENT);
	g_assert_cmpuint(fakesmtp_get_connections(line.server), ==, 2);
}

struct open_fault {
	enum fake_stage stage;
	struct fake_rule rule;
	enum smtp_stage found;
	int code;
};

/* @return a difference, or NULL; a new string */
static char *
try_open_fault(const struct open_fault *row, unsigned wait_ms)
{
	const struct delivery *result;
	pb_local(line) line;
	char *problem = NULL;

	line_init(&line, false);
	line.options.is_lmtp = true;
	if (row->rule.act == FAKE_STALL)
		line.options.times.open_ms = wait_ms;
	fakesmtp_set(line.server, row->stage, row->rule);
	run(&line);
	result = &line.parcels[0].result;
	if (result->outcome != DELIVERY_DEFERRED ||
	    result->scope != DELIVERY_SCOPE_RELAY || result->stage != row->found ||
	    result->code != row->code || !*result->text)
		problem = g_strdup_printf("%d at %s: %s", result->code,
		    smtp_stage_get_name(result->stage), result->text);
	return problem;
}

TEST(lmtp_open_failures_have_relay_scope)
{
	static const struct open_fault rows[] = {
	    {FAKE_GREETING, {FAKE_REPLY, "421 4.3.2 no\r\n", 0, 0}, SMTP_STAGE_CONNECT,
	        421},
	    {FAKE_GREETING, {FAKE_DROP, NULL, 0, 0}, SMTP_STAGE_CONNECT, 0},
	    {FAKE_GREETING, {FAKE_REPLY, "hello\r\n", 0, 0}, SMTP_STAGE_CONNECT, 0},
	    {FAKE_GREETING, {FAKE_STALL, NULL, 0, 0}, SMTP_STAGE_CONNECT, 0},
	    {FAKE_EHLO, {FAKE_REPLY, "500 what?\r\n", 0, 0}, SMTP_STAGE_EHLO, 500},
	    {FAKE_EHLO, {FAKE_DROP, NULL, 0, 0}, SMTP_STAGE_EHLO, 0},
	    {FAKE_EHLO, {FAKE_STALL, NULL, 0, 0}, SMTP_STAGE_EHLO, 0},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		unsigned wait_ms = FEW_MS;
		char *problem;

		while ((problem = try_open_fault(&rows[i], wait_ms))) {
			if (rows[i].rule.act != FAKE_STALL || wait_ms > LONG_MS)
				g_error("row %zu: %s", i, problem);
			g_free(problem);
			wait_ms *= 4;
		}
	}
}

/* A host that greets and replies to LHLO only. */
static void *
serve_socket(void *data)
{
	static const char replies[] =
	    "250-here.example\r\n250-PIPELINING\r\n250 DSN\r\n";
	int listener = GPOINTER_TO_INT(data), fd = accept(listener, NULL, NULL);
	static const char hello[] = "LHLO a.example\r\n";
	char line[100];

	g_assert_cmpint(write(fd, "220 here LMTP\r\n", 15), ==, 15);
	g_assert_cmpint(read(fd, line, sizeof(line)), ==, strlen(hello));
	g_assert_cmpint(memcmp(line, hello, strlen(hello)), ==, 0);
	g_assert_cmpint(write(fd, replies, strlen(replies)), ==, strlen(replies));
	g_assert_cmpint(read(fd, line, sizeof(line)), ==, 0);
	close(fd);
	return NULL;
}

TEST(lmtp_works_over_a_unix_socket)
{
	g_autofree char *directory = g_dir_make_tmp("pb-lmtp-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "s", NULL);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct stream_options options = {.host = path,
	    .hello = "a.example",
	    .connect_ms = LONG_MS,
	    .open_ms = LONG_MS};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	g_autoptr(GError) error = NULL;
	struct stream *stream;
	GThread *thread;

	g_strlcpy(address.sun_path, path, sizeof(address.sun_path));
	g_assert_cmpint(
	    bind(listener, (struct sockaddr *)&address, sizeof(address)), ==, 0);
	g_assert_cmpint(listen(listener, 1), ==, 0);
	thread = g_thread_new("host", serve_socket, GINT_TO_POINTER(listener));
	stream = lmtp_open(&options, NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(stream_get_hello(stream)->len, ==, 3);
	g_assert_cmpstr(
	    g_ptr_array_index(stream_get_hello(stream), 1), ==, "PIPELINING");
	stream_free(stream);
	g_thread_join(thread);
	close(listener);
	/* Nobody listens; then no such path. */
	g_assert_null(lmtp_open(&options, NULL, &error));
	g_assert_nonnull(strstr(error->message, "refused"));
	g_clear_error(&error);
	unlink(path);
	g_assert_null(lmtp_open(&options, NULL, &error));
	g_assert_nonnull(strstr(error->message, path));
	rmdir(directory);
}

static void *
run_line(void *data)
{
	run(data);
	return NULL;
}

/* Deliver, and stop while the host does not reply. */
static void
run_until(struct line *line, const char *heard)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	uint64_t one = 1;
	GThread *thread;
	bool is_there = false;

	line->transport->stop_fd = &fd;
	thread = g_thread_new("line", run_line, line);
	while (!is_there) {
		g_autofree char *transcript = fakesmtp_dup_transcript(line->server);

		is_there = fakesmtp_get_connections(line->server) > 0 &&
		           strstr(transcript, heard);
		g_usleep(1000);
	}
	g_assert_cmpint(write(fd, &one, sizeof(one)), ==, sizeof(one));
	g_thread_join(thread);
	close(fd);
}

TEST(shutdown_does_not_wait_for_replies)
{
	static const struct {
		bool is_lmtp;
		enum fake_stage stage;
		const char *heard;
		enum smtp_stage found;
		enum delivery_outcome outcome;
	} rows[] = {
	    {false, FAKE_GREETING, "", SMTP_STAGE_CONNECT, DELIVERY_DEFERRED},
	    {false, FAKE_EHLO, "EHLO", SMTP_STAGE_EHLO, DELIVERY_DEFERRED},
	    {false, FAKE_NOOP, "NOOP", SMTP_STAGE_EHLO, DELIVERY_DEFERRED},
	    {false, FAKE_MAIL, "MAIL", SMTP_STAGE_MAIL, DELIVERY_DEFERRED},
	    {false, FAKE_DATA, "DATA", SMTP_STAGE_DATA, DELIVERY_DEFERRED},
	    {false, FAKE_DOT, "\r\n.\r\n", SMTP_STAGE_DOT, DELIVERY_UNKNOWN},
	    {true, FAKE_GREETING, "", SMTP_STAGE_CONNECT, DELIVERY_DEFERRED},
	    {true, FAKE_EHLO, "LHLO", SMTP_STAGE_EHLO, DELIVERY_DEFERRED},
	    {true, FAKE_DOT, "\r\n.\r\n", SMTP_STAGE_DOT, DELIVERY_UNKNOWN},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const struct delivery *result;
		pb_local(line) line;

		line_init(&line, rows[i].stage == FAKE_DOT);
		line.options.is_lmtp = rows[i].is_lmtp;
		fakesmtp_set(line.server, rows[i].stage,
		    (struct fake_rule){FAKE_STALL, NULL, 0, 0});
		run_until(&line, rows[i].heard);
		result = &line.parcels[0].result;
		if (result->outcome != rows[i].outcome ||
		    result->stage != rows[i].found || strstr(result->text, "timed out"))
			g_error("row %zu: %d at %s: %s", i, result->outcome,
			    smtp_stage_get_name(result->stage), result->text);
		/* The other messages have not been sent. */
		for (unsigned k = 1; k < MESSAGES; k++)
			g_assert_cmpint(
			    line.parcels[k].result.outcome, ==, DELIVERY_DEFERRED);
	}
}

TEST(withdrawn_message_is_not_completed)
{
	for (int is_grouped = 0; is_grouped < 2; is_grouped++) {
		pb_local(line) line;

		line_init(&line, is_grouped);
		line.withdrawn_from = 2;
		run(&line);
		for (unsigned i = 0; i < MESSAGES; i++) {
			const struct delivery *result = &line.parcels[i].result;

			g_assert_cmpint(result->outcome, ==,
			    i < 2 ? DELIVERY_SENT : DELIVERY_DEFERRED);
			g_assert_cmpint(result->scope, ==, DELIVERY_SCOPE_MESSAGE);
		}
		g_assert_cmpuint(line.written, ==, 2);
		g_assert_cmpuint(fakesmtp_get_messages(line.server), ==, 2);
	}
}

UNIT_MAIN
