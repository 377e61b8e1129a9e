/*
 * test_mailer_faults.c - each fault of a relay: state, wait and text.
 */
#include <string.h>

#include "lib/fakesmtp.h"
#include "lib/mailer_fixture.h"
#include "lib/unit.h"
#include "service/delivery/relay_state.h"
#include "store/core/transaction.h"
#include "store/mail/outbox.h"
#include "transport/smtp.h"

#define FEW_MS  100
#define LONG_MS 20000

enum where { CONNECT, HELLO, STARTTLS, AUTH, MAIL, RCPT, DATA, DOT, PLACES };

static const struct {
	const char *name;
	enum fake_stage fake;
} places[PLACES] = {
    {"connect", FAKE_GREETING},
    {"EHLO", FAKE_EHLO},
    {"STARTTLS", FAKE_STARTTLS},
    {"AUTH", FAKE_AUTH},
    {"MAIL", FAKE_MAIL},
    {"RCPT", FAKE_RCPT},
    {"DATA", FAKE_DATA},
    {"dot", FAKE_DOT},
};

/*
 * Codes of the table: the row's state and attempts, the seconds until the next attempt,
 * and the start of the relay's status line.
 */
static const struct fate {
	char name;
	const char *row;
	int64_t wait_s; /* -1: never */
	const char *relay;
} fates[] = {
    /* Relay failure: not an attempt. */
    {'r', "DEFERRED|0", BREAKER_WAIT_S, "does not accept mail, next attempt in 60 s: "},
    /* Login failure: an operator has to act. */
    {'l', "DEFERRED|0", BREAKER_WAIT_MAX_S,
        "rejects our login (smtp.user), next attempt in 1800 s: "},
    /* Temporary failure of message or recipient. */
    {'d', "DEFERRED|1", 60, "accepts mail"},
    /* Relay failure after DATA: an attempt. */
    {'t', "DEFERRED|1", 60, "fails now and then, 1 in a row: "},
    /* Login failure after DATA. */
    {'L', "DEFERRED|1", BREAKER_WAIT_MAX_S,
        "rejects our login (smtp.user), next attempt in 1800 s: "},
    {'f', "FAILED|1", -1, "accepts mail"},
    {'u', "UNKNOWN|1", 60, "fails now and then, 1 in a row: "},
};

static const struct fault {
	const char *name;
	enum fake_act act;
	const char *text;
	const char *at;    /* a code for each stage */
	const char *words; /* of the row's reply; NULL: those of `silence` */
} faults[] = {
    {"421", FAKE_REPLY, "421 4.3.2 closing\r\n", "rrrrrrtt", "421 4.3.2 closing"},
    {"450", FAKE_REPLY, "450 4.2.0 later\r\n", "rrrrdddd", "450 4.2.0 later"},
    {"451", FAKE_REPLY, "451 4.7.1 later\r\n", "rrrrrddd", "451 4.7.1 later"},
    {"452", FAKE_REPLY, "452 4.3.1 full\r\n", "rrrrrrtt", "452 4.3.1 full"},
    {"454", FAKE_REPLY, "454 4.7.0 later\r\n", "rrrrrddd", "454 4.7.0 later"},
    {"500", FAKE_REPLY, "500 5.5.2 what?\r\n", "rrrlrddf", "500 5.5.2 what?"},
    {"503", FAKE_REPLY, "503 5.5.1 order\r\n", "rrrlrddf", "503 5.5.1 order"},
    {"535", FAKE_REPLY, "535 5.7.8 login\r\n", "rrrlllLL", "535 5.7.8 login"},
    {"550", FAKE_REPLY, "550 5.1.1 nobody\r\n", "rrrlrfff", "550 5.1.1 nobody"},
    {"552", FAKE_REPLY, "552 5.3.4 size\r\n", "rrrlfdff", "552 5.3.4 size"},
    {"554", FAKE_REPLY, "554 5.6.0 no\r\n", "rrrlffff", "554 5.6.0 no"},
    {"drop", FAKE_DROP, NULL, "rrrrrrtu", NULL},
    {"stall", FAKE_STALL, NULL, "rrrrrrtu", NULL},
    {"garbage", FAKE_REPLY, "<html>\r\n", "rrrrrrtu", NULL},
};

static struct transport *
new_smtp(void *data)
{
	return smtp_new(data);
}

static const struct fate *
find_fate(char name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(fates); i++)
		if (fates[i].name == name)
			return &fates[i];
	g_assert_not_reached();
}

static void
set_up(struct fakesmtp *server, enum where where, struct smtp_options *options)
{
	struct fake_rule hello = {FAKE_REPLY, FAKE_HELLO_MODERN, 0, 0};

	if (where == STARTTLS) {
		options->stream.tls = STREAM_TLS_STARTTLS;
		hello.text = "250-STARTTLS\r\n" FAKE_HELLO_MODERN;
	} else if (where == AUTH) {
		options->stream.user = "ada";
		options->stream.password = "secret";
		hello.text = "250-AUTH PLAIN\r\n" FAKE_HELLO_MODERN;
	}
	fakesmtp_set(server, FAKE_EHLO, hello);
}

/* Add a message to the outbox; all cells share a store. */
static int64_t
add_mail(struct mailer_fixture *mailing)
{
	static const char text[] = "Message-ID: <1@a.example>\r\n\r\nHello.\r\n";
	g_autoptr(GBytes) message = g_bytes_new_static(text, strlen(text));
	const struct outbox_mail mail = {.kind = OUTBOX_REPLY,
	    .recipient = "ada@b.example",
	    .address_key = "ada@b.example",
	    .sender = "",
	    .message = message,
	    .now = store_fixture_time(NOW)};
	int64_t id;

	NO_ERROR(outbox_add_mail(mailing->fixture->store, &mail, &id, &error));
	return id;
}

/* @return a difference from the fate, or NULL; a new string */
static char *
try_fault(struct mailer_fixture *mailing, const struct fault *fault, enum where where,
    unsigned ms)
{
	const struct fate *fate = find_fate(fault->at[where]);
	pb_auto(fakesmtp) server = fakesmtp_new();
	struct smtp_options smtp = {.stream = {.host = "127.0.0.1",
	                                .port = fakesmtp_get_port(server),
	                                .hello = "client.example"},
	    .times = {LONG_MS, ms, ms, ms, ms, ms, ms},
	    .use_messages = SMTP_USE_MESSAGES,
	    .use_s = SMTP_USE_S};
	struct mailer_options options = mailer_fixture_options(mailing);
	g_autofree char *sql = NULL, *row = NULL, *words = NULL, *relay = NULL;
	char *problem = NULL;
	int64_t id, wait_s;

	set_up(server, where, &smtp);
	fakesmtp_set(server, places[where].fake,
	    (struct fake_rule){fault->act, fault->text, 0, 0});
	options.new_transport = new_smtp;
	options.data = &smtp;
	options.connections = 1;
	mailer_free(mailing->mailer);
	mailing->mailer = NO_ERROR(mailer_new(&options, &error));
	store_fixture_run(mailing->fixture, "DELETE FROM outbox");
	id = add_mail(mailing);
	mailer_fixture_run_at(mailing, store_fixture_time(NOW), NULL);
	sql =
	    g_strdup_printf("SELECT state, attempt FROM outbox WHERE id = %d", (int)id);
	row = store_fixture_text(mailing->fixture, sql);
	words = store_fixture_text(mailing->fixture, "SELECT reply FROM outbox");
	relay = mailer_format_relay(mailing->mailer);
	wait_s = mailing->next < 0 ? -1 : mailing->next - store_fixture_time(NOW);
	/* Up to 10 % jitter. */
	if (strcmp(row, fate->row) != 0 || wait_s < fate->wait_s ||
	    wait_s > fate->wait_s + fate->wait_s / 10 ||
	    !g_str_has_prefix(relay, fate->relay) ||
	    (fault->words ? strcmp(words, fault->words) != 0 : strlen(words) < 10))
		problem = g_strdup_printf("%s at %s: %s, %d s, '%s', relay '%s'",
		    fault->name, places[where].name, row, (int)wait_s, words, relay);
	/* The connections use data of this stack frame. */
	g_clear_pointer(&mailing->mailer, mailer_free);
	mailer_fixture_open(mailing);
	return problem;
}

/* On a slow machine the server is late at earlier stages, too: wait longer then. */
static void
check(struct mailer_fixture *mailing, const struct fault *fault, enum where where)
{
	unsigned ms = fault->act == FAKE_STALL ? FEW_MS : LONG_MS;
	char *problem;

	while ((problem = try_fault(mailing, fault, where, ms))) {
		if (ms >= LONG_MS)
			g_error("%s", problem);
		g_free(problem);
		ms *= 4;
	}
}

TEST(each_fault_at_each_stage_sets_state_wait_and_text)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(0, 1);

	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++)
		for (enum where where = 0; where < PLACES; where++)
			check(mailing, &faults[i], where);
}

TEST(one_invalid_recipient_fails_one_transaction_only)
{
	pb_auto(mailer_fixture) mailing = mailer_fixture_new(0, 1);
	pb_auto(fakesmtp) server = fakesmtp_new();
	struct smtp_options smtp = {.stream = {.host = "127.0.0.1",
	                                .port = fakesmtp_get_port(server),
	                                .hello = "client.example"},
	    .times = {LONG_MS, LONG_MS, LONG_MS, LONG_MS, LONG_MS, LONG_MS, LONG_MS},
	    .use_messages = 1000,
	    .use_s = SMTP_USE_S};
	struct mailer_options options = mailer_fixture_options(mailing);
	pb_transaction transaction = {0};
	g_autoptr(GError) error = NULL;

	set_up(server, MAIL, &smtp);
	fakesmtp_set(server, FAKE_RCPT,
	    (struct fake_rule){FAKE_REPLY, "550 5.1.1 nobody\r\n", 499, 1});
	fakesmtp_set(server, FAKE_DATA,
	    (struct fake_rule){FAKE_REPLY, "503 5.5.1 RCPT first\r\n", 499, 1});
	options.new_transport = new_smtp;
	options.data = &smtp;
	mailer_free(mailing->mailer);
	mailing->mailer = mailer_new(&options, &error);
	g_assert_no_error(error);
	g_assert_true(store_begin(mailing->fixture->store, &transaction, &error));
	for (int i = 0; i < 1000; i++)
		add_mail(mailing);
	g_assert_true(store_commit(&transaction, &error));
	mailer_fixture_run_at(mailing, store_fixture_time(NOW), NULL);
	assert_rows(mailing->fixture,
	    "SELECT state, count(*), max(attempt) FROM outbox GROUP BY 1",
	    "FAILED|1|1 SENT|999|1");
	g_assert_cmpuint(fakesmtp_get_connections(server), ==, 1);
	g_assert_cmpuint(fakesmtp_get_messages(server), ==, 999);
	g_clear_pointer(&mailing->mailer, mailer_free);
	mailer_fixture_open(mailing);
}

UNIT_MAIN_WITH_WARNINGS
