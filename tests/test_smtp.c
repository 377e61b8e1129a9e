/*
 * test_smtp.c - faults of a relay at each stage, and the result for the message.
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/cases.h"
#include "lib/fakesmtp.h"
#include "lib/unit.h"
#include "transport/smtp.h"

#define FEW_MS  100 /* for timeouts */
#define LONG_MS 20000

#define TEXT "Subject: t\r\n\r\nHello.\r\n"

struct smtp_test {
	struct fakesmtp *server;
	struct smtp_options options;
	struct transport *transport;
	struct delivery result;
};

static void
smtp_test_init(struct smtp_test *test)
{
	*test = (struct smtp_test){.server = fakesmtp_new()};
	test->options = (struct smtp_options){
	    .stream = {.host = "127.0.0.1",
	        .port = fakesmtp_get_port(test->server),
	        .hello = "client.example"},
	    .times = {LONG_MS, LONG_MS, LONG_MS, LONG_MS, LONG_MS, LONG_MS, LONG_MS},
	    .use_messages = SMTP_USE_MESSAGES,
	    .use_s = SMTP_USE_S,
	};
	test->transport = smtp_new(&test->options);
}

static void
smtp_test_clear(struct smtp_test *test)
{
	transport_free(test->transport);
	fakesmtp_free(test->server);
	delivery_clear(&test->result);
}

static void
deliver_as(
    struct smtp_test *test, const char *sender, const char *recipient, const char *text)
{
	g_autoptr(GBytes) message = g_bytes_new(text, strlen(text));
	struct envelope envelope = {
	    .id = "1", .sender = sender, .recipient = recipient, .message = message};

	transport_deliver(test->transport, &envelope, &test->result);
}

static void
deliver(struct smtp_test *test)
{
	deliver_as(test, "from@a.example", "to@b.example", TEXT);
}

static void
assert_seen(struct smtp_test *test, const char *text, bool is_expected)
{
	g_autofree char *transcript = fakesmtp_dup_transcript(test->server);

	if ((strstr(transcript, text) != NULL) != is_expected)
		g_error("wanted %s\"%s\" in: %s", is_expected ? "" : "no ", text,
		    transcript);
}

/* The client does not wait for the server. */
static void
wait_seen(struct smtp_test *test, const char *text)
{
	bool is_seen = false;

	for (int i = 0; i < LONG_MS && !is_seen; i++) {
		g_autofree char *transcript = fakesmtp_dup_transcript(test->server);

		is_seen = strstr(transcript, text) != NULL;
		g_usleep(1000);
	}
	assert_seen(test, text, true);
}

/* ---- The table ------------------------------------------------------------ */

static const struct column {
	enum fake_stage fake;
	enum smtp_stage stage;
} columns[] = {
    {FAKE_GREETING, SMTP_STAGE_CONNECT},
    {FAKE_EHLO, SMTP_STAGE_EHLO},
    {FAKE_STARTTLS, SMTP_STAGE_STARTTLS},
    {FAKE_AUTH, SMTP_STAGE_AUTH},
    {FAKE_MAIL, SMTP_STAGE_MAIL},
    {FAKE_RCPT, SMTP_STAGE_RCPT},
    {FAKE_DATA, SMTP_STAGE_DATA},
    {FAKE_DOT, SMTP_STAGE_DOT},
};

/* A cell is outcome (sent, deferred, failed, unknown) and scope (message, relay,
 * login). */
static const struct line {
	const char *name;
	enum fake_act act;
	const char *text;
	int code;
	const char *cells[G_N_ELEMENTS(columns)];
} lines[] = {
    {"421", FAKE_REPLY, "421 x\r\n", 421,
        {"dr", "dr", "dr", "dr", "dr", "dr", "dr", "dr"}},
    {"450", FAKE_REPLY, "450 x\r\n", 450,
        {"dr", "dr", "dr", "dr", "dr", "dm", "dm", "dm"}},
    {"451", FAKE_REPLY, "451 x\r\n", 451,
        {"dr", "dr", "dr", "dr", "dr", "dm", "dm", "dm"}},
    {"452", FAKE_REPLY, "452 x\r\n", 452,
        {"dr", "dr", "dr", "dr", "dr", "dm", "dr", "dr"}},
    {"454", FAKE_REPLY, "454 x\r\n", 454,
        {"dr", "dr", "dr", "dr", "dr", "dm", "dm", "dm"}},
    {"500", FAKE_REPLY, "500 x\r\n", 500,
        {"dr", "dr", "dr", "dl", "dr", "dm", "dm", "fm"}},
    {"503", FAKE_REPLY, "503 x\r\n", 503,
        {"dr", "dr", "dr", "dl", "dr", "dm", "dm", "fm"}},
    {"535", FAKE_REPLY, "535 x\r\n", 535,
        {"dr", "dr", "dr", "dl", "dl", "dl", "dl", "dl"}},
    {"550", FAKE_REPLY, "550 x\r\n", 550,
        {"dr", "dr", "dr", "dl", "dr", "fm", "fm", "fm"}},
    {"552", FAKE_REPLY, "552 x\r\n", 552,
        {"dr", "dr", "dr", "dl", "fm", "dm", "fm", "fm"}},
    {"554", FAKE_REPLY, "554 x\r\n", 554,
        {"dr", "dr", "dr", "dl", "dr", "fm", "fm", "fm"}},
    {"421, closed", FAKE_REPLY_DROP, "421 x\r\n", 421,
        {"dr", "dr", "dr", "dr", "dr", "dr", "dr", "dr"}},
    {"drop", FAKE_DROP, NULL, 0, {"dr", "dr", "dr", "dr", "dr", "dr", "dr", "ur"}},
    {"stall", FAKE_STALL, NULL, 0, {"dr", "dr", "dr", "dr", "dr", "dr", "dr", "ur"}},
    {"garbage", FAKE_REPLY, "HTTP/1.1 200\r\n", 0,
        {"dr", "dr", "dr", "dr", "dr", "dr", "dr", "ur"}},
    {"half a reply", FAKE_REPLY_DROP, "250-x\r\n25", 0,
        {"dr", "dr", "dr", "dr", "dr", "dr", "dr", "ur"}},
    {"two codes", FAKE_REPLY, "250-x\r\n550 x\r\n", 0,
        {NULL, NULL, NULL, NULL, "dr", "dr", "dr", "ur"}},
    {"other 2yz", FAKE_REPLY, "259 x\r\n", 259,
        {NULL, NULL, NULL, NULL, NULL, NULL, "dr", "sm"}},
    {"3yz", FAKE_REPLY, "354 x\r\n", 354,
        {NULL, NULL, NULL, NULL, "dr", "dr", NULL, "ur"}},
};

static void
shorten(struct smtp_times *times, enum smtp_stage stage, unsigned wait_ms)
{
	switch (stage) {
	case SMTP_STAGE_NONE:
	case SMTP_STAGE_CONNECT:
	case SMTP_STAGE_EHLO:
	case SMTP_STAGE_STARTTLS:
	case SMTP_STAGE_AUTH:
		times->open_ms = wait_ms;
		break;
	case SMTP_STAGE_MAIL:
	case SMTP_STAGE_RCPT:
		times->command_ms = wait_ms;
		break;
	case SMTP_STAGE_DATA:
		times->data_ms = wait_ms;
		break;
	case SMTP_STAGE_DOT:
		times->dot_ms = wait_ms;
		break;
	}
}

/* Extensions, so that the fault shows at its stage. */
static void
set_stage_up(struct smtp_test *test, enum smtp_stage stage, bool is_grouped)
{
	struct fake_rule hello = {.act = FAKE_NORMAL};

	if (stage == SMTP_STAGE_STARTTLS) {
		test->options.stream.tls = STREAM_TLS_STARTTLS;
		hello = (struct fake_rule){
		    FAKE_REPLY, "250-STARTTLS\r\n" FAKE_HELLO_MODERN, 0, 0};
	} else if (stage == SMTP_STAGE_AUTH) {
		test->options.stream.user = "ada";
		test->options.stream.password = "secret";
		hello = (struct fake_rule){
		    FAKE_REPLY, "250-fake\r\n250-AUTH PLAIN\r\n250 SIZE\r\n", 0, 0};
	} else if (is_grouped) {
		hello = (struct fake_rule){FAKE_REPLY, FAKE_HELLO_MODERN, 0, 0};
	}
	fakesmtp_set(test->server, FAKE_EHLO, hello);
}

/* @return a difference from the cell, or NULL; a new string */
static char *
try_cell(const struct line *line, const struct column *column, const char *cell,
    bool is_grouped, unsigned wait_ms)
{
	pb_local(smtp_test) test;
	const struct delivery *result = &test.result;
	char found[3];

	smtp_test_init(&test);
	set_stage_up(&test, column->stage, is_grouped);
	if (line->act == FAKE_STALL)
		shorten(&test.options.times, column->stage, wait_ms);
	fakesmtp_set(test.server, column->fake,
	    (struct fake_rule){.act = line->act, .text = line->text});
	deliver(&test);
	found[0] = "sdfu"[result->outcome];
	found[1] = delivery_scope_get_name(result->scope)[0];
	found[2] = '\0';
	if (strcmp(found, cell) != 0 || result->stage != column->stage ||
	    result->code != line->code || !result->text || !*result->text ||
	    /* A new connection that fails is not retried in the same delivery. */
	    fakesmtp_get_connections(test.server) != 1)
		return g_strdup_printf(
		    "%s at %s: wanted %s, found %s at %s, %d, %s; %u connections",
		    line->name, smtp_stage_get_name(column->stage), cell, found,
		    smtp_stage_get_name(result->stage), result->code, result->text,
		    fakesmtp_get_connections(test.server));
	return NULL;
}

/* On a slow machine the server is late at earlier stages, too: wait longer then. */
static void
check_cell(const struct line *line, const struct column *column, const char *cell,
    bool is_grouped)
{
	unsigned wait_ms = FEW_MS;
	char *problem;

	while ((problem = try_cell(line, column, cell, is_grouped, wait_ms))) {
		if (line->act != FAKE_STALL || wait_ms > LONG_MS)
			g_error("%s", problem);
		g_free(problem);
		wait_ms *= 4;
	}
}

TEST(faults_are_classified_by_stage)
{
	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
		for (size_t k = 0; k < G_N_ELEMENTS(columns); k++)
			for (int is_grouped = 0; is_grouped < 2; is_grouped++)
				if (lines[i].cells[k])
					check_cell(&lines[i], &columns[k],
					    lines[i].cells[k], is_grouped);
}

/* ---- Connections ---------------------------------------------------------- */

#define SMTP_TEST(function) TEST_WITH_LOCAL(function, smtp_test, test)

SMTP_TEST(connection_refused_defers)
{
	g_autofree char *wanted = NULL;

	wanted =
	    g_strdup_printf("cannot connect to 127.0.0.1 port %u: connection refused",
	        test->options.stream.port);
	fakesmtp_free(g_steal_pointer(&test->server));
	deliver(test);
	g_assert_cmpint(test->result.outcome, ==, DELIVERY_DEFERRED);
	g_assert_cmpint(test->result.scope, ==, DELIVERY_SCOPE_RELAY);
	g_assert_cmpint(test->result.stage, ==, SMTP_STAGE_CONNECT);
	g_assert_cmpstr(test->result.text, ==, wanted);
}

SMTP_TEST(rejection_is_followed_by_rset_on_the_same_connection)
{
	fakesmtp_set(test->server, FAKE_RCPT,
	    (struct fake_rule){FAKE_REPLY, "550 5.1.1 nobody\r\n", 0, 1});
	deliver(test);
	g_assert_cmpint(test->result.outcome, ==, DELIVERY_FAILED);
	g_assert_cmpint(test->result.code, ==, 550);
	g_assert_cmpstr(test->result.enhanced, ==, "5.1.1");
	g_assert_cmpstr(test->result.text, ==, "550 5.1.1 nobody");
	assert_seen(test, "RSET", false);
	deliver(test);
	g_assert_cmpint(test->result.outcome, ==, DELIVERY_SENT);
	assert_seen(
	    test, "RCPT TO:<to@b.example>\r\nRSET\r\nMAIL FROM:<from@a.example>", true);
	deliver(test);
	assert_seen(test, ".\r\nMAIL FROM", true);
	g_assert_cmpuint(fakesmtp_get_connections(test->server), ==, 1);
	g_assert_cmpuint(fakesmtp_get_messages(test->server), ==, 2);
}

TEST(stale_connection_is_replaced_silently)
{
	static const struct {
		enum fake_stage stage;
		struct fake_rule rule;
	} rows[] = {
	    {FAKE_MAIL, {FAKE_DROP, NULL, 1, 1}},
	    {FAKE_MAIL, {FAKE_REPLY_DROP, "421 4.4.2 idle too long\r\n", 1, 1}},
	    {FAKE_MAIL, {FAKE_REPLY, "421 4.4.2 idle too long\r\n", 1, 1}},
	    {FAKE_DOT, {FAKE_REPLY_DROP, "250 taken\r\n", 0, 1}},
	    {FAKE_DOT, {FAKE_REPLY_DROP, "250 taken\r\n421 bye\r\n", 0, 1}},
	    {FAKE_DOT, {FAKE_REPLY_DROP, "554 no\r\n", 0, 1}},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_local(smtp_test) test;

		smtp_test_init(&test);
		fakesmtp_set(test.server, rows[i].stage, rows[i].rule);
		deliver(&test);
		deliver(&test);
		g_assert_cmpint(test.result.outcome, ==, DELIVERY_SENT);
		g_assert_cmpuint(fakesmtp_get_connections(test.server), ==, 2);
		g_assert_cmpuint(fakesmtp_get_messages(test.server), ==, 2);
	}
}

SMTP_TEST(stale_connection_is_replaced_only_once)
{
	fakesmtp_set(
	    test->server, FAKE_MAIL, (struct fake_rule){FAKE_DROP, NULL, 1, 0});
	deliver(test);
	g_assert_cmpint(test->result.outcome, ==, DELIVERY_SENT);
	deliver(test);
	g_assert_cmpint(test->result.outcome, ==, DELIVERY_DEFERRED);
	g_assert_cmpint(test->result.scope, ==, DELIVERY_SCOPE_RELAY);
	g_assert_cmpuint(fakesmtp_get_connections(test->server), ==, 2);
}

SMTP_TEST(connection_lost_after_mail_is_not_replaced)
{
	fakesmtp_set(test->server, FAKE_DOT, (struct fake_rule){FAKE_DROP, NULL, 1, 1});
	deliver(test);
	deliver(test);
	g_assert_cmpint(test->result.outcome, ==, DELIVERY_UNKNOWN);
	g_assert_cmpuint(fakesmtp_get_connections(test->server), ==, 1);
}

TEST(connection_is_closed_after_max_messages_or_age)
{
	for (int is_timed = 0; is_timed < 2; is_timed++) {
		pb_local(smtp_test) test;

		smtp_test_init(&test);
		if (is_timed)
			test.options.use_s = 0;
		else
			test.options.use_messages = 2;
		for (int i = 0; i < 3; i++)
			deliver(&test);
		g_assert_cmpuint(
		    fakesmtp_get_connections(test.server), ==, is_timed ? 3 : 2);
		assert_seen(&test, ".\r\nQUIT\r\nEHLO", true);
	}
}

SMTP_TEST(failed_rset_opens_a_new_connection)
{
	fakesmtp_set(test->server, FAKE_RCPT,
	    (struct fake_rule){FAKE_REPLY, "450 no\r\n", 0, 1});
	fakesmtp_set(test->server, FAKE_RSET, (struct fake_rule){.act = FAKE_DROP});
	deliver(test);
	deliver(test);
	g_assert_cmpint(test->result.outcome, ==, DELIVERY_SENT);
	g_assert_cmpuint(fakesmtp_get_connections(test->server), ==, 2);
}

SMTP_TEST(close_sends_quit_and_does_not_hang)
{
	test->options.times.quit_ms = FEW_MS;
	fakesmtp_set(test->server, FAKE_QUIT, (struct fake_rule){.act = FAKE_STALL});
	deliver(test);
	transport_close(test->transport);
	wait_seen(test, "QUIT");
	transport_close(test->transport);
	deliver(test);
	g_assert_cmpint(test->result.outcome, ==, DELIVERY_SENT);
}

SMTP_TEST(noop_is_the_first_command_and_its_421_counts)
{
	fakesmtp_set(test->server, FAKE_NOOP,
	    (struct fake_rule){FAKE_REPLY, "421 no\r\n", 0, 1});
	deliver(test);
	g_assert_cmpint(test->result.outcome, ==, DELIVERY_DEFERRED);
	g_assert_cmpint(test->result.stage, ==, SMTP_STAGE_EHLO);
	deliver(test);
	g_assert_cmpint(test->result.outcome, ==, DELIVERY_SENT);
	assert_seen(test, "EHLO client.example\r\nNOOP\r\nMAIL FROM", true);
}

/* ---- Wire format ----------------------------------------------------------- */

TEST(wire_format_is_exact)
{
	CASES_FOREACH(row, "smtp_wire", *message, *wire) {
		g_autofree char *wanted =
		    g_strdup_printf("EHLO client.example\r\nNOOP\r\nMAIL "
		                    "FROM:<from@a.example> SIZE=%zu\r\n"
		                    "RCPT TO:<to@b.example>\r\nDATA\r\n%s",
		        strlen(row->message), row->wire);
		g_autofree char *found = NULL;
		pb_local(smtp_test) test;

		smtp_test_init(&test);
		deliver_as(&test, "from@a.example", "to@b.example", row->message);
		g_assert_cmpint(test.result.outcome, ==, DELIVERY_SENT);
		found = fakesmtp_dup_transcript(test.server);
		g_assert_cmpstr(found, ==, wanted);
	}
}

TEST(invalid_messages_are_not_sent)
{
	g_autofree char *at = g_strnfill(254, 'a');
	g_autofree char *beyond = g_strnfill(255, 'a');
	g_autofree char *line_at = g_strnfill(998, 'x');
	g_autofree char *line_past = g_strnfill(999, 'x');
	const struct {
		const char *sender, *recipient, *message;
		bool is_good;
	} rows[] = {
	    {"", "b@b.example", TEXT, true},
	    {"a@a.example", "b@b.example\r\nRCPT TO:<evil@b.example>", TEXT, false},
	    {"a@a.example>\r\nRCPT TO:<evil@b.example", "b@b.example", TEXT, false},
	    {"a@a.example\n", "b@b.example", TEXT, false},
	    {"a@a.example", "b@b.example\r", TEXT, false},
	    {"a b@a.example", "b@b.example", TEXT, false},
	    {"a@a.example", "b@b.example> NOTIFY=NEVER", TEXT, false},
	    {"a@a.example", "<b@b.example", TEXT, false},
	    {"a@a.example", "b\x7f@b.example", TEXT, false},
	    {"a@a.example", "b\xff@b.example", TEXT, false},
	    {"a@a.example", "", TEXT, false},
	    {at, at, TEXT, true},
	    {beyond, "b@b.example", TEXT, false},
	    {"a@a.example", beyond, TEXT, false},
	    {"a@a.example", "b@b.example", "evil\n.\r\n", false},
	    {"a@a.example", "b@b.example", "evil\r.\r\n", false},
	    {"a@a.example", "b@b.example", "evil\r", false},
	    {"a@a.example", "b@b.example", line_at, true},
	    {"a@a.example", "b@b.example", line_past, false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_local(smtp_test) test;

		smtp_test_init(&test);
		deliver_as(&test, rows[i].sender, rows[i].recipient, rows[i].message);
		g_assert_cmpint(test.result.outcome, ==,
		    rows[i].is_good ? DELIVERY_SENT : DELIVERY_FAILED);
		g_assert_cmpint(test.result.scope, ==, DELIVERY_SCOPE_MESSAGE);
		g_assert_cmpuint(
		    fakesmtp_get_connections(test.server), ==, rows[i].is_good ? 1 : 0);
	}
}

TEST(extensions_are_used_if_supported)
{
	CASES_FOREACH(
	    row, "smtp_extensions", *ehlo, *recipient, *message, *mail, *enhanced) {
		pb_local(smtp_test) test;

		smtp_test_init(&test);
		fakesmtp_set(test.server, FAKE_EHLO,
		    (struct fake_rule){.act = FAKE_REPLY, .text = row->ehlo});
		deliver_as(&test, "a@a.example", row->recipient, row->message);
		g_assert_cmpint(test.result.outcome, ==,
		    row->mail ? DELIVERY_SENT : DELIVERY_FAILED);
		g_assert_cmpstr(test.result.enhanced, ==, row->enhanced);
		assert_seen(&test, row->mail ? row->mail : "MAIL", row->mail != NULL);
	}
}

SMTP_TEST(host_without_ehlo_gets_helo)
{
	fakesmtp_set(test->server, FAKE_EHLO,
	    (struct fake_rule){FAKE_REPLY, "502 5.5.1 what?\r\n", 0, 1});
	deliver(test);
	g_assert_cmpint(test->result.outcome, ==, DELIVERY_SENT);
	assert_seen(test, "EHLO client.example\r\nHELO client.example\r\n", true);
}

TEST(connection_lost_within_the_body_is_not_in_doubt)
{
	static const struct {
		struct fake_rule rule;
		enum delivery_outcome outcome;
	} rows[] = {
	    {{FAKE_DROP, NULL, 0, 0}, DELIVERY_DEFERRED},
	    {{FAKE_STALL, NULL, 0, 0},
	        DELIVERY_UNKNOWN}, /* it reads everything and does not reply */
	};
	g_autoptr(GString) text = g_string_new("Subject: big\r\n\r\n");

	while (text->len < 16 * 1024 * 1024)
		g_string_append(text, "0123456789012345678901234567890123456789\r\n");
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_local(smtp_test) test;

		smtp_test_init(&test);
		test.options.times.dot_ms = FEW_MS;
		fakesmtp_set(test.server, FAKE_BODY, rows[i].rule);
		deliver_as(&test, "a@a.example", "b@b.example", text->str);
		g_assert_cmpint(test.result.outcome, ==, rows[i].outcome);
		g_assert_cmpint(test.result.stage, ==,
		    rows[i].outcome == DELIVERY_UNKNOWN ? SMTP_STAGE_DOT
		                                        : SMTP_STAGE_DATA);
	}
}

/* ---- Without a network ---------------------------------------------------- */

static struct stream *
open_pair(const struct stream_options *options, void *data,
    struct stream_error *failure, GError **error)
{
	static const char *const hello[] = {"host.example", "SIZE", NULL};
	int *fd = data;

	(void)options, (void)failure, (void)error;
	return stream_new_socket(*fd, hello);
}

SMTP_TEST(any_stream_can_be_used)
{
	static const char replies[] =
	    "250 ok\r\n250 ok\r\n250 ok\r\n354 go on\r\n250 2.0.0 taken\r\n";
	int fds[2];

	g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), ==, 0);
	g_assert_cmpint(write(fds[1], replies, strlen(replies)), ==, strlen(replies));
	test->options.open = open_pair;
	test->options.open_data = &fds[0];
	deliver(test);
	g_assert_cmpint(test->result.outcome, ==, DELIVERY_SENT);
	g_assert_cmpstr(test->result.text, ==, "250 2.0.0 taken");
	g_assert_cmpuint(fakesmtp_get_connections(test->server), ==, 0);
	close(fds[1]);
}

UNIT_MAIN
