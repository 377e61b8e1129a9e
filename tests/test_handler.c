/*
 * test_handler.c - handling a message: rate limits, suppressed replies, and what is
 * sent.
 *
 * The commands are fakes, which show what the handler passes to them.
 */
#include <glib.h>
#include <string.h>

#include "base/error.h"
#include "base/token.h"
#include "lib/command_fixture.h"
#include "lib/fakecommands.h"
#include "service/people/erase.h"
#include "service/people/subscribe.h"
#include "store/mail/rate_log.h"
#include "store/subscriber/subscribers.h"

#define DAY  86400
#define HOUR 3600
#define EVA  "Eva@example.com"

static void
subscribe(struct command_fixture *commands, const char *address)
{
	store_fixture_subscribe(
	    commands->fixture, address, "UTC", NULL, commands->options.now - DAY);
	g_string_truncate(fakecommands_done, 0);
}

static void
unknown_sender_is_subscribed_only_by_confirmation(void)
{
	command_fixture_auto commands;
	g_autofree char *reply_to = NULL;
	g_autofree char *mail = NULL;

	command_fixture_init(&commands);
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "subscribe"),
	    ==, HANDLER_CONFIRMING);
	store_fixture_assert_text(
	    commands.fixture, "SELECT count(*) FROM subscriber", "0");
	store_fixture_assert_text(commands.fixture,
	    "SELECT kind, recipient, sender GLOB 'paperboy+b-*@example.org' FROM "
	    "outbox",
	    "confirmation|Eva@example.com|1");
	mail = command_fixture_get_mail(&commands);
	g_assert_nonnull(strstr(mail, "\r\nAuto-Submitted: auto-replied\r\n"));
	g_assert_nonnull(
	    strstr(mail, "\r\nIn-Reply-To: <made-up@mail.example.com>\r\n"));
	g_assert_nonnull(
	    strstr(mail, "\r\nReferences: <made-up@mail.example.com>\r\n"));
	g_assert_nonnull(strstr(mail, "\r\nX-Loop: paperboy@example.org\r\n"));
	g_assert_null(strstr(mail, "subscribe"));
	reply_to = command_fixture_find_reply_to(&commands);
	g_assert_true(g_str_has_prefix(reply_to, "paperboy+c-"));
	fakecommands_assert("run Eva@example.com subscribe;");

	/* With other spelling, From and text: the token is the proof. */
	commands.options.now += HOUR;
	g_free(mail);
	mail = g_ascii_strup(reply_to, -1);
	g_assert_cmpint(command_fixture_write_to(
	                    &commands, "eva.private@example.net", mail, "Re: ok"),
	    ==, HANDLER_REPLIED);
	fakecommands_assert("pending Eva@example.com proven subscribe;");
	store_fixture_assert_text(commands.fixture,
	    "SELECT address, state, next_due_at FROM subscriber",
	    "Eva@example.com|active|1795168800");
	store_fixture_assert_text(commands.fixture,
	    "SELECT kind, recipient, sender FROM outbox ORDER BY id DESC LIMIT 1",
	    "answer|Eva@example.com|");
}

static void
thousand_requests_send_one_confirmation(void)
{
	command_fixture_auto commands;

	command_fixture_init(&commands);
	for (int i = 0; i < 1000; i++) {
		g_autofree char *from = i % 2
		                            ? g_strdup_printf("e.va+%d@example.com", i)
		                            : g_strdup("Eva@example.com");

		commands.options.now += 60;
		g_assert_cmpint(
		    command_fixture_write_to(&commands, from,
		        i % 3 ? COMMAND_FIXTURE_HOME : "paperboy+subscribe@example.org",
		        "subscribe"),
		    ==, i ? HANDLER_LIMITED : HANDLER_CONFIRMING);
	}
	g_assert_cmpint(command_fixture_count_mails(&commands), ==, 1);
	store_fixture_assert_text(
	    commands.fixture, "SELECT count(*) FROM confirmation", "1");
}

static void
three_confirmations_a_month_and_a_new_one_revokes_the_last(void)
{
	command_fixture_auto commands;
	g_autofree char *first = NULL;

	command_fixture_init(&commands);
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "subscribe");
	first = command_fixture_find_reply_to(&commands);
	commands.options.now += DAY - 1;
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "subscribe"),
	    ==, HANDLER_LIMITED);
	commands.options.now += 1;
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "subscribe"),
	    ==, HANDLER_CONFIRMING);
	g_string_truncate(fakecommands_done, 0);
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, first, "ok"), ==, HANDLER_REPLIED);
	fakecommands_assert("run Eva@example.com confirm;");
	commands.options.now += DAY;
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "subscribe"),
	    ==, HANDLER_CONFIRMING);
	for (int day = 3; day < 30; day++) {
		commands.options.now += DAY;
		g_assert_cmpint(command_fixture_write_to(
		                    &commands, EVA, COMMAND_FIXTURE_HOME, "subscribe"),
		    ==, HANDLER_LIMITED);
	}
	commands.options.now += DAY;
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "subscribe"),
	    ==, HANDLER_CONFIRMING);
}

static void
confirmations_are_limited_per_domain_and_overall(void)
{
	command_fixture_auto commands;
	int asked = 0;

	command_fixture_init(&commands);
	for (int i = 0; i < 100; i++) {
		g_autofree char *from = g_strdup_printf("p%d@example.com", i);

		asked += command_fixture_write_to(&commands, from, COMMAND_FIXTURE_HOME,
		             "subscribe") == HANDLER_CONFIRMING;
	}
	g_assert_cmpint(
	    asked, ==, commands.settings->limit_confirmations_per_domain_hour);
	for (int i = 0; i < 100; i++) {
		g_autofree char *from = g_strdup_printf("p@d%d.example.com", i);

		asked += command_fixture_write_to(&commands, from, COMMAND_FIXTURE_HOME,
		             "subscribe") == HANDLER_CONFIRMING;
	}
	g_assert_cmpint(asked, ==, commands.settings->limit_confirmations_per_hour);
	commands.options.now += HOUR;
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "subscribe"),
	    ==, HANDLER_CONFIRMING);
}

/* Each from another domain. */
static enum handler_outcome
request(struct command_fixture *commands, unsigned number, const char *server)
{
	g_autofree char *domain = g_strdup_printf("d%u.example.com", number);
	g_autofree char *from = g_strconcat("p@", domain, NULL);
	g_autofree char *properties = g_strconcat("header.from=", domain, NULL);
	pb_auto(inmail) inmail = inbox_new(from, "subscribe", "");

	if (server)
		inbox_vouch(inmail, server, "dmarc", "pass", properties);
	return command_fixture_hand_in(commands, inmail, from, COMMAND_FIXTURE_HOME)
	    .outcome;
}

static void
confirmations_are_reserved_for_authenticated_senders(void)
{
	command_fixture_auto commands;
	struct rate_log_dropped dropped;
	unsigned asked = 0;

	command_fixture_init(&commands);
	command_fixture_set(&commands.settings->commands_authserv_id, "mx.example.org");
	for (unsigned i = 0; i < 70; i++)
		asked += request(&commands, i, i % 2 ? "mx.forger.example" : NULL) ==
		         HANDLER_CONFIRMING;
	g_assert_cmpuint(asked, ==, 45);
	g_assert_true(rate_log_load_dropped(commands.fixture->store, &dropped, NULL));
	g_assert_cmpint(dropped.total, ==, 25);
	g_assert_cmpint(dropped.lately, ==, 25);
	g_assert_cmpint(dropped.last_at, ==, commands.options.now);
	asked = 0;
	for (unsigned i = 100; i < 120; i++)
		asked += request(&commands, i, "mx.example.org") == HANDLER_CONFIRMING;
	g_assert_cmpuint(asked, ==, 15);
	/* Within one domain, too. */
	commands.options.now += HOUR;
	asked = 0;
	for (int i = 0; i < 40; i++) {
		g_autofree char *from = g_strdup_printf("p%d@example.com", i);

		asked += command_fixture_write_to(&commands, from, COMMAND_FIXTURE_HOME,
		             "subscribe") == HANDLER_CONFIRMING;
	}
	g_assert_cmpuint(asked, ==, 23);
	{
		pb_auto(inmail) inmail = inbox_new(EVA, "subscribe", "");

		inbox_vouch(inmail, "mx.example.org", "dmarc", "pass",
		    "header.from=example.com");
		g_assert_cmpint(command_fixture_hand_in(
		                    &commands, inmail, EVA, COMMAND_FIXTURE_HOME)
		                    .outcome,
		    ==, HANDLER_CONFIRMING);
	}
}

static void
sender_verified_by_our_server_is_proven(void)
{
	command_fixture_auto commands;
	pb_auto(inmail) inmail = inbox_new(EVA, "change", "");

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	inbox_vouch(
	    inmail, "mx.example.org", "dmarc", "pass", "header.from=example.com");
	command_fixture_hand_in(&commands, inmail, EVA, COMMAND_FIXTURE_HOME);
	fakecommands_assert("run Eva@example.com change;");
	command_fixture_set(&commands.settings->commands_authserv_id, "mx.example.org");
	command_fixture_hand_in(&commands, inmail, EVA, COMMAND_FIXTURE_HOME);
	fakecommands_assert("run Eva@example.com proven change;");
}

static void
export_goes_to_its_own_address_only(void)
{
	command_fixture_auto commands;
	g_autofree char *reply_to = NULL;
	g_autofree char *mail = NULL;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "export");
	reply_to = command_fixture_find_reply_to(&commands);
	command_fixture_write_to(&commands, "thief@example.net", reply_to, "ok");
	store_fixture_assert_text(
	    commands.fixture, "SELECT DISTINCT recipient FROM outbox", EVA);
	mail = command_fixture_get_mail(&commands);
	g_assert_nonnull(strstr(mail, "multipart/mixed"));
	g_assert_nonnull(strstr(mail, "filename=\"paperboy-export.json\""));
}

static void
data_is_erased_after_the_last_reply(void)
{
	command_fixture_auto commands;
	g_autofree char *reply_to = NULL;
	unsigned count = 0;
	GError *error = NULL;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "forget");
	reply_to = command_fixture_find_reply_to(&commands);
	g_assert_cmpint(command_fixture_write_to(&commands, EVA, reply_to, "ok"), ==,
	    HANDLER_REPLIED);
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber", "gone");
	g_assert_true(erase_finish(commands.fixture->store, commands.fixture->key,
	    commands.options.now, &count, &error));
	g_assert_cmpuint(count, ==, 0);
	store_fixture_assert_text(commands.fixture,
	    "SELECT count(*) FROM outbox WHERE state = 'NEW'"
	    " AND kind = 'answer'",
	    "1");
	store_fixture_run(commands.fixture,
	    "UPDATE outbox SET state = 'FAILED', ended_at = 1,"
	    " next_try_at = NULL, message = NULL");
	g_assert_true(erase_finish(commands.fixture->store, commands.fixture->key,
	    commands.options.now, &count, &error));
	g_assert_cmpuint(count, ==, 1);
	store_fixture_assert_text(commands.fixture,
	    "SELECT (SELECT count(*) FROM subscriber), (SELECT count(*) FROM "
	    "confirmation),"
	    " (SELECT count(*) FROM outbox), (SELECT count(*) FROM pending_erasure)",
	    "0|0|0|0");
}

/* Former subscribers, and addresses that never confirmed. */
static void
unknown_sender_can_have_data_erased(void)
{
	for (int has_left = 0; has_left < 2; has_left++) {
		command_fixture_auto commands;
		g_autofree char *reply_to = NULL;
		unsigned count = 0;
		GError *error = NULL;

		command_fixture_init(&commands);
		if (has_left) {
			subscribe(&commands, EVA);
			command_fixture_write_to(
			    &commands, EVA, COMMAND_FIXTURE_HOME, "unsubscribe");
		} else {
			command_fixture_write_to(
			    &commands, EVA, COMMAND_FIXTURE_HOME, "subscribe");
			commands.options.now += DAY;
		}
		g_assert_cmpint(command_fixture_write_to(
		                    &commands, EVA, COMMAND_FIXTURE_HOME, "forget"),
		    ==, HANDLER_CONFIRMING);
		reply_to = command_fixture_find_reply_to(&commands);
		g_assert_cmpint(
		    command_fixture_write_to(&commands, EVA, reply_to, "yes"), ==,
		    HANDLER_REPLIED);
		store_fixture_run(commands.fixture,
		    "UPDATE outbox SET state = 'FAILED', ended_at = 1,"
		    " next_try_at = NULL, message = NULL");
		g_assert_true(erase_finish(commands.fixture->store,
		    commands.fixture->key, commands.options.now, &count, &error));
		g_assert_cmpuint(count, ==, 1);
		store_fixture_assert_text(commands.fixture,
		    "SELECT (SELECT count(*) FROM subscriber),"
		    " (SELECT count(*) FROM confirmation), (SELECT count(*) FROM "
		    "outbox),"
		    " (SELECT count(*) FROM pending_erasure)",
		    "0|0|0|0");
	}
}

static void
automatic_mail_has_no_effect(void)
{
	static const struct {
		const char *name, *value;
	} marks[] = {{"Auto-Submitted", "auto-replied"}, {"Precedence", "bulk"},
	    {"List-Id", "<x.example>"}, {"X-Auto-Response-Suppress", "OOF"},
	    {"X-Loop", COMMAND_FIXTURE_HOME}};
	static const char *const robots[] = {"mailer-daemon@example.com",
	    "cats-request@example.com", COMMAND_FIXTURE_HOME};
	command_fixture_auto commands;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++) {
		pb_auto(inmail) inmail = inbox_new(EVA, "list", "");

		inbox_mark(inmail, marks[i].name, marks[i].value);
		command_fixture_hand_in(&commands, inmail, EVA, COMMAND_FIXTURE_HOME);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(robots); i++)
		command_fixture_write_to(
		    &commands, robots[i], COMMAND_FIXTURE_HOME, "help");
	{
		pb_auto(inmail) inmail = inbox_new(EVA, "list", "");

		command_fixture_hand_in(&commands, inmail, "", COMMAND_FIXTURE_HOME);
		inmail->report = INMAIL_REPORT_DELIVERY;
		command_fixture_hand_in(&commands, inmail, EVA, COMMAND_FIXTURE_HOME);
	}
	g_assert_cmpint(command_fixture_count_mails(&commands), ==, 0);
	fakecommands_assert("");
}

static void
ten_replies_a_day_and_one_help(void)
{
	command_fixture_auto commands;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, ""), ==,
	    HANDLER_REPLIED);
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, ""), ==,
	    HANDLER_LIMITED);
	for (int i = 1; i < 10; i++)
		g_assert_cmpint(command_fixture_write_to(
		                    &commands, EVA, COMMAND_FIXTURE_HOME, "list"),
		    ==, HANDLER_REPLIED);
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "list"), ==,
	    HANDLER_LIMITED);
	g_assert_cmpint(command_fixture_count_mails(&commands), ==, 10);
	/* Proven requests have a limit of their own, which forgeries cannot use up. */
	{
		g_autofree char *reply_to = command_fixture_find_reply_to(&commands);

		g_assert_cmpint(
		    command_fixture_write_to(&commands, EVA, reply_to, "list"), ==,
		    HANDLER_REPLIED);
	}
	/* Unsubscribing is not limited, and is reported. */
	g_assert_cmpint(command_fixture_write_to(
	                    &commands, EVA, COMMAND_FIXTURE_HOME, "unsubscribe"),
	    ==, HANDLER_REPLIED);
	commands.options.now += DAY;
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "list"), ==,
	    HANDLER_REPLIED);
}

static void
unknown_sender_gets_three_replies_a_day(void)
{
	command_fixture_auto commands;

	command_fixture_init(&commands);
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, ""), ==,
	    HANDLER_REPLIED);
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, ""), ==,
	    HANDLER_LIMITED);
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "help"), ==,
	    HANDLER_REPLIED);
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "help"), ==,
	    HANDLER_REPLIED);
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "help"), ==,
	    HANDLER_LIMITED);
	/* It does not prevent subscribing. */
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "subscribe"),
	    ==, HANDLER_CONFIRMING);
}

/* Only the last reply announces the limit. */
static void
write_until_limited(struct command_fixture *commands, const char *recipient,
    const char *words, const char *exception)
{
	bool was_said = false;

	for (int i = 0; i < 11; i++) {
		g_autofree char *mail = NULL;
		enum handler_outcome outcome =
		    command_fixture_write_to(commands, EVA, recipient, "list");

		g_assert_cmpint(
		    outcome, ==, was_said ? HANDLER_LIMITED : HANDLER_REPLIED);
		if (was_said)
			return;
		mail = command_fixture_get_mail(commands);
		was_said = strstr(mail, words) != NULL;
		g_assert_true(was_said == (strstr(mail, exception) != NULL));
	}
	g_assert_not_reached();
}

static void
last_reply_of_a_day_announces_the_limit(void)
{
	static const struct {
		const char *language; /* NULL: unknown sender */
		const char *words, *proven;
		const char *exception; /* in no other reply */
	} rows[] = {
	    {"en", "name: the limit is 10 in 24 hours.",
	        "This is the last reply for now: the limit is 10 in 24 hours.",
	        "\"unsubscribe\""},
	    {"de", "mehr als 10 gibt es in 24 Stunden nicht.",
	        "die letzte Antwort: mehr als 10", "\"unsubscribe\""},
	    {NULL, "This is the last reply for now: the limit is 3 in 24 hours.", NULL,
	        "\"subscribe\" still"},
	};
	const char *top = g_getenv("top_srcdir");
	g_autofree char *templates =
	    g_build_filename(top ? top : ".", "etc", "templates", NULL);
	g_autoptr(GError) error = NULL;
	pb_auto(catalog) book = catalog_load(templates, &error);

	g_assert_no_error(error);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		command_fixture_auto commands;
		g_autofree char *mail = NULL, *reply_to = NULL;

		command_fixture_init(&commands);
		commands.options.phrases = book;
		if (rows[i].language) {
			g_autofree char *sql = g_strdup_printf(
			    "UPDATE subscriber SET language = '%s'", rows[i].language);

			subscribe(&commands, EVA);
			store_fixture_run(commands.fixture, sql);
		}
		write_until_limited(
		    &commands, COMMAND_FIXTURE_HOME, rows[i].words, rows[i].exception);
		reply_to =
		    rows[i].language ? command_fixture_find_reply_to(&commands) : NULL;
		if (reply_to)
			write_until_limited(
			    &commands, reply_to, rows[i].proven, rows[i].exception);
		/* Unsubscribing is always reported. */
		g_assert_cmpint(command_fixture_write_to(&commands, EVA,
		                    COMMAND_FIXTURE_HOME, "unsubscribe"),
		    ==, reply_to ? HANDLER_REPLIED : HANDLER_LIMITED);
		mail = command_fixture_get_mail(&commands);
		g_assert_true(!strstr(mail, rows[i].exception) == !!reply_to);
		/* The limit on help is not announced. */
		commands.options.now += DAY;
		command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "");
		g_free(mail);
		mail = command_fixture_get_mail(&commands);
		g_assert_null(strstr(mail, rows[i].exception));
	}
}

static void
header_injection_is_impossible(void)
{
	command_fixture_auto commands;
	pb_auto(inmail) inmail =
	    inbox_new(EVA, "list\r\nBcc: victim@example.net\nX: \xe2\x80\xae", "");
	g_autofree char *mail = NULL;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	g_free(inmail->message_id);
	inmail->message_id = g_strdup("a@b>\r\nBcc: victim@example.net");
	g_ptr_array_add(inmail->references, g_strdup("x\r\nBcc: victim@example.net"));
	command_fixture_hand_in(&commands, inmail, EVA, COMMAND_FIXTURE_HOME);
	mail = command_fixture_get_mail(&commands);
	g_assert_null(strstr(mail, "\nBcc:"));
	g_assert_null(strstr(mail, "\r\nIn-Reply-To:"));
	g_assert_nonnull(
	    strstr(mail, "\r\nSubject: Re: list Bcc: victim@example.net X:\r\n"));
}

static void
replies_have_the_null_sender_and_confirmations_a_token(void)
{
	command_fixture_auto commands;
	g_autofree char *sender = NULL;
	pb_auto(inmail) back = inbox_new("mailer-daemon@example.com", "failed", "");
	struct handler_report report;

	command_fixture_init(&commands);
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "help");
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "subscribe");
	store_fixture_assert_text(commands.fixture,
	    "SELECT kind, sender = '' FROM outbox ORDER BY id",
	    "answer|1 confirmation|0");
	sender = store_fixture_text(
	    commands.fixture, "SELECT sender FROM outbox WHERE id = 2");
	/* A bounced confirmation is deleted, and bounces get no reply. */
	report = command_fixture_hand_in(&commands, back, "", sender);
	g_assert_cmpint(report.outcome, ==, HANDLER_BOUNCED);
	g_assert_cmpint(report.confirmation_id, ==, 1);
	store_fixture_assert_text(
	    commands.fixture, "SELECT count(*) FROM confirmation", "1");
	back->report = INMAIL_REPORT_DELIVERY;
	inmail_add_group(back);
	g_ptr_array_add(inmail_add_group(back), inmail_field_new("Action", "failed"));
	report = command_fixture_hand_in(&commands, back, "", sender);
	store_fixture_assert_text(
	    commands.fixture, "SELECT count(*) FROM confirmation", "0");
	g_assert_cmpint(command_fixture_count_mails(&commands), ==, 2);
}

static void
unknown_sender_cannot_find_out_who_subscribes(void)
{
	command_fixture_auto commands;
	int64_t before;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	/* All replies go to the address itself. */
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "subscribe");
	command_fixture_write_to(
	    &commands, "adam@example.com", COMMAND_FIXTURE_HOME, "subscribe");
	before = store_fixture_number(commands.fixture,
	    "SELECT count(*) FROM outbox WHERE recipient NOT IN"
	    " ('Eva@example.com', 'adam@example.com')");
	g_assert_cmpint(before, ==, 0);
}

static void
suppressed_address_gets_no_mail(void)
{
	command_fixture_auto commands;
	const struct erase_request request = {.address = EVA, .who = "test"};
	struct erase_request keyed = request;
	g_autofree char *leave = NULL;

	command_fixture_init(&commands);
	keyed.key = commands.fixture->key;
	subscribe(&commands, EVA);
	leave = command_fixture_format_leave(&commands, commands.fixture->key, 1);
	g_assert_true(erase_suppress(commands.fixture->store, &keyed, ERASE_OPERATOR,
	    commands.options.now, NULL));
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "subscribe");
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "");
	command_fixture_write_to(&commands, EVA, leave, "");
	fakecommands_assert("");
	g_assert_cmpint(command_fixture_count_mails(&commands), ==, 0);
}

static void
mail_to_the_owner_is_forwarded(void)
{
	command_fixture_auto commands;
	pb_auto(inmail) inmail =
	    inbox_new(EVA, "hello\r\nBcc: x@y.example", "A question.");
	g_autofree char *mail = NULL;
	struct handler_report report;

	command_fixture_init(&commands);
	report = command_fixture_hand_in(
	    &commands, inmail, EVA, "paperboy+owner@example.org");
	g_assert_cmpint(report.outcome, ==, HANDLER_FORWARDED);
	store_fixture_assert_text(commands.fixture,
	    "SELECT kind, recipient, sender FROM outbox", "notice|owner@example.org|");
	mail = command_fixture_get_mail(&commands);
	g_assert_nonnull(strstr(mail, "\r\nReply-To: Eva@example.com\r\n"));
	g_assert_nonnull(strstr(mail, "A question."));
	g_assert_null(strstr(mail, "\nBcc:"));
	commands.settings->limit_owner_mail_per_day = 1;
	report = command_fixture_hand_in(
	    &commands, inmail, EVA, "paperboy+owner@example.org");
	g_assert_cmpint(report.outcome, ==, HANDLER_LIMITED);
}

static bool
call_handler(struct store_fixture *fixture, void *data, GError **error)
{
	struct command_fixture *commands = data;
	pb_auto(inmail) inmail = inbox_new(EVA, "subscribe", "");
	const struct receive_mail envelope = {
	    .id = 1, .sender = EVA, .recipient = COMMAND_FIXTURE_HOME};
	struct handler_report report;
	pb_transaction transaction = {0};

	return store_begin(fixture->store, &transaction, error) &&
	       handler_run(fixture->store, &commands->options, inmail, &envelope,
	           &report, error) &&
	       store_commit(&transaction, error);
}

static void
failing_store_leaves_no_partial_effect(void)
{
	command_fixture_auto commands;

	command_fixture_init(&commands);
	g_assert_cmpuint(store_fixture_fail_everywhere(
	                     commands.fixture, call_handler, &commands, true),
	    >, 5);
	g_assert_cmpint(command_fixture_count_mails(&commands), ==, 1);
	store_fixture_assert_text(
	    commands.fixture, "SELECT count(*) FROM confirmation", "1");
}

static const struct {
	const char *name;
	void (*test)(void);
} tests[] = {
    {"unknown sender is subscribed only by confirmation",
        unknown_sender_is_subscribed_only_by_confirmation},
    {"thousand requests send one confirmation",
        thousand_requests_send_one_confirmation},
    {"three confirmations a month and a new one revokes the last",
        three_confirmations_a_month_and_a_new_one_revokes_the_last},
    {"confirmations are limited per domain and overall",
        confirmations_are_limited_per_domain_and_overall},
    {"confirmations are reserved for authenticated senders",
        confirmations_are_reserved_for_authenticated_senders},
    {"unknown sender cannot find out who subscribes",
        unknown_sender_cannot_find_out_who_subscribes},
    {"automatic mail has no effect", automatic_mail_has_no_effect},
    {"unknown sender gets three replies a day",
        unknown_sender_gets_three_replies_a_day},
    {"last reply of a day announces the limit",
        last_reply_of_a_day_announces_the_limit},
    {"ten replies a day and one help", ten_replies_a_day_and_one_help},
    {"replies have the null sender and confirmations a token",
        replies_have_the_null_sender_and_confirmations_a_token},
    {"header injection is impossible", header_injection_is_impossible},
    {"sender verified by our server is proven",
        sender_verified_by_our_server_is_proven},
    {"export goes to its own address only", export_goes_to_its_own_address_only},
    {"data is erased after the last reply", data_is_erased_after_the_last_reply},
    {"unknown sender can have data erased", unknown_sender_can_have_data_erased},
    {"suppressed address gets no mail", suppressed_address_gets_no_mail},
    {"mail to the owner is forwarded", mail_to_the_owner_is_forwarded},
    {"failing store leaves no partial effect", failing_store_leaves_no_partial_effect},
};

int
main(int argc, char **argv)
{
	int result;

	g_test_init(&argc, &argv, NULL);
	fakecommands_done = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++) {
		g_autofree char *path = g_strconcat("/handler/", tests[i].name, NULL);

		g_test_add_func(path, tests[i].test);
	}
	result = g_test_run();
	g_string_free(fakecommands_done, TRUE);
	return result;
}
