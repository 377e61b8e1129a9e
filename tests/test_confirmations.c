/*
 * test_confirmations.c - tokens and confirmations: proof, consent, undo, unsubscribing.
 *
 * With fake commands, as test_handler.c.
 */
#include <glib.h>
#include <string.h>

#include "base/error.h"
#include "base/token.h"
#include "lib/command_fixture.h"
#include "lib/fakecommands.h"
#include "service/people/erase.h"
#include "service/people/subscribe.h"
#include "store/subscriber/subscribers.h"

#define DAY  86400
#define HOUR 3600
#define EVA  "Eva@example.com"

#define SUBJECT "Please confirm your request to paperboy@example.org"

static void
subscribe(struct command_fixture *commands, const char *address)
{
	store_fixture_subscribe(
	    commands->fixture, address, "UTC", NULL, commands->options.now - DAY);
	g_string_truncate(fakecommands_done, 0);
}

static void
consent_records_time_and_text(void)
{
	command_fixture_auto commands;
	g_autofree char *reply_to = NULL;
	g_autofree char *consent = NULL;

	command_fixture_init(&commands);
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "subscribe");
	reply_to = command_fixture_find_reply_to(&commands);
	commands.options.now += HOUR;
	command_fixture_write_to(&commands, EVA, reply_to, "Re: ok");
	consent =
	    store_fixture_text(commands.fixture, "SELECT consent_text FROM subscriber");
	g_assert_true(g_pattern_match_simple(
	    "asked by mail 2026-11-20 09:00:00 UTC; text of the confirmation "
	    "sha256:????????????????????????????????????????????????????????????????; "
	    "confirmed by mail 2026-11-20 10:00:00 UTC (confirmation 1)",
	    consent));
	store_fixture_assert_text(commands.fixture,
	    "SELECT what, detail FROM audit_log WHERE who = 'mail' ORDER BY id",
	    "confirmation asked|confirm subscriber added|by mail"
	    " confirmation used|confirm");
}

static void
token_is_valid_once_for_one_purpose_until_it_expires(void)
{
	command_fixture_auto commands;
	g_autofree char *reply_to = NULL;
	g_autofree char *token = NULL;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "change");
	reply_to = command_fixture_find_reply_to(&commands);
	token = g_strndup(reply_to + strlen("paperboy+c-"), TOKEN_RANDOM_LENGTH);
	/* The token is stored only in queued mail. */
	store_fixture_assert_text(commands.fixture,
	    "SELECT count(*), max(length(hash)) FROM confirmation", "1|64");
	{
		g_autofree char *sql = g_strdup_printf(
		    "SELECT count(*) FROM confirmation WHERE hash || action || details"
		    " LIKE '%%%s%%'",
		    token);

		store_fixture_assert_text(commands.fixture, sql, "0");
	}
	/* It is not valid for another purpose. */
	{
		g_autofree char *undo = g_strdup_printf("undo %s", token);
		g_autofree char *leave =
		    g_strdup_printf("paperboy+u-%s@example.org", token);
		g_autofree char *reply =
		    g_strdup_printf("paperboy+r-%s@example.org", token);

		command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, undo);
		command_fixture_write_to(&commands, EVA, reply, "list");
		command_fixture_write_to(&commands, "adam@example.com", leave, "");
		fakecommands_assert(
		    "run Eva@example.com change;run Eva@example.com undo;"
		    "run Eva@example.com list;"
		    "run adam@example.com unsubscribe;");
	}
	commands.options.now += HANDLER_CONFIRM_S;
	command_fixture_write_to(&commands, EVA, reply_to, "ok");
	fakecommands_assert("run Eva@example.com confirm;");
	commands.options.now -= 1;
	command_fixture_write_to(&commands, EVA, reply_to, "ok");
	fakecommands_assert("pending Eva@example.com proven change;");
	command_fixture_write_to(&commands, EVA, reply_to, "ok");
	fakecommands_assert("run Eva@example.com confirm;");
	store_fixture_assert_text(commands.fixture,
	    "SELECT action, used_at IS NOT NULL FROM confirmation", "|1");
}

static void
erasure_has_to_be_confirmed_within_an_hour(void)
{
	command_fixture_auto commands;
	g_autofree char *reply_to = NULL;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "forget");
	reply_to = command_fixture_find_reply_to(&commands);
	commands.options.now += HANDLER_ERASE_S;
	g_string_truncate(fakecommands_done, 0);
	command_fixture_write_to(&commands, EVA, reply_to, "ok");
	fakecommands_assert("run Eva@example.com confirm;");
}

/* Reply token of a digest. */
static char *
format_reply_to(struct command_fixture *commands, int64_t digest_id, int64_t made_at)
{
	g_autofree char *token = token_sign(
	    commands->fixture->key, SUBADDRESS_TOKEN_REPLY, digest_id, made_at);

	return subaddress_format(
	    &commands->own_addresses->commands, SUBADDRESS_REPLY, token);
}

static void
reply_token_proves_its_subscriber_for_thirty_days(void)
{
	command_fixture_auto commands;
	g_autofree char *reply_to = NULL;
	g_autofree char *other = NULL;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	subscribe(&commands, "adam@example.com");
	store_fixture_run(commands.fixture,
	    "INSERT INTO digest (subscriber_id, slot, date, created_at, state,"
	    " message_token) VALUES (1, 'x', '2026-11-20', 1795000000, 'sent',"
	    " 'abcdefghijklmnopq')");
	reply_to = format_reply_to(&commands, 1, 1795000000);
	other = format_reply_to(&commands, 1, 1795000001);
	commands.options.now = 1795000000 + 30 * DAY;
	command_fixture_write_to(&commands, "EVA@example.com", reply_to, "change");
	fakecommands_assert("run Eva@example.com proven change;");
	/* It proves nothing with another From or another token. */
	command_fixture_write_to(&commands, "adam@example.com", reply_to, "change");
	command_fixture_write_to(&commands, EVA, other, "change");
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "change");
	commands.options.now += 1;
	command_fixture_write_to(&commands, EVA, reply_to, "change");
	fakecommands_assert("run adam@example.com change;run Eva@example.com change;"
	                    "run Eva@example.com change;run Eva@example.com change;");
}

static void
reply_to_a_reply_is_proven(void)
{
	command_fixture_auto commands;
	g_autofree char *reply_to = NULL;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "list");
	reply_to = command_fixture_find_reply_to(&commands);
	g_assert_true(g_str_has_prefix(reply_to, "paperboy+r-"));
	g_string_truncate(fakecommands_done, 0);
	commands.options.now += 30 * DAY;
	command_fixture_write_to(&commands, EVA, reply_to, "change");
	fakecommands_assert("run Eva@example.com proven change;");
	commands.options.now += DAY;
	command_fixture_write_to(&commands, EVA, reply_to, "change");
	fakecommands_assert("run Eva@example.com change;");
}

static void
unsubscribe_token_in_automatic_mail_gets_no_reply(void)
{
	command_fixture_auto commands;
	g_autofree char *leave = NULL;
	g_autofree char *mail = NULL;
	g_autofree char *undo = NULL;
	pb_auto(inmail) inmail = inbox_new("mailer-daemon@example.net", "", "");
	struct handler_report report;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	leave = command_fixture_format_leave(&commands, commands.fixture->key, 1);
	inbox_mark(inmail, "Auto-Submitted", "auto-generated");
	report = command_fixture_hand_in(&commands, inmail, "", leave);
	g_assert_cmpint(report.outcome, ==, HANDLER_UNSUBSCRIBED);
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber", "gone");
	g_assert_cmpint(command_fixture_count_mails(&commands), ==, 0);
	store_fixture_assert_text(
	    commands.fixture, "SELECT purpose FROM confirmation", "undo");
	report = command_fixture_hand_in(&commands, inmail, "", leave);
	g_assert_cmpint(report.outcome, ==, HANDLER_IGNORED);

	/* A later request by the user gets a reply with an undo token. */
	g_string_truncate(fakecommands_done, 0);
	g_assert_cmpint(command_fixture_write_to(&commands, EVA, leave, "stop"), ==,
	    HANDLER_REPLIED);
	fakecommands_assert("say Eva@example.com left_before;");
	mail = command_fixture_get_mail(&commands);
	undo = g_strdup(strstr(mail, "undo "));
	undo[strlen("undo ") + TOKEN_RANDOM_LENGTH] = '\0';
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, undo);
	fakecommands_assert(
	    "run Eva@example.com undo;pending Eva@example.com proven restore;");
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber", "active");
}

static char *
find_undo(struct command_fixture *commands)
{
	g_autofree char *mail = command_fixture_get_mail(commands);
	const char *at = strstr(mail, "undo ");

	g_assert_nonnull(at);
	return g_strndup(at, strlen("undo ") + TOKEN_RANDOM_LENGTH);
}

static void
repeated_unsubscribe_tokens_get_one_reply_per_day(void)
{
	command_fixture_auto commands;
	g_autofree char *leave = NULL;
	g_autofree char *first = NULL;
	g_autofree char *second = NULL;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	leave = command_fixture_format_leave(&commands, commands.fixture->key, 1);
	for (int i = 0; i < 200; i++) {
		commands.options.now += 60;
		command_fixture_write_to(
		    &commands, i % 2 ? EVA : "adam@example.com", leave, "");
		if (i == 0)
			first = find_undo(&commands);
	}
	store_fixture_assert_text(commands.fixture,
	    "SELECT count(*), subscriber.state FROM outbox, subscriber", "1|gone");
	/* One reply the next day, with a second token. */
	commands.options.now += DAY;
	for (int i = 0; i < 200; i++)
		command_fixture_write_to(&commands, "adam@example.com", leave, "");
	g_assert_cmpint(command_fixture_count_mails(&commands), ==, 2);
	store_fixture_assert_text(
	    commands.fixture, "SELECT DISTINCT recipient FROM outbox", EVA);
	second = find_undo(&commands);
	g_assert_cmpstr(first, !=, second);
	store_fixture_assert_text(commands.fixture,
	    "SELECT count(*), count(DISTINCT expires_at) FROM confirmation", "2|1");

	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, first), ==,
	    HANDLER_REPLIED);
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber", "active");
	g_string_truncate(fakecommands_done, 0);
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, second);
	fakecommands_assert("run Eva@example.com undo;");

	/* Unsubscribing again is reported in spite of the limit. */
	g_assert_cmpint(
	    command_fixture_write_to(&commands, EVA, leave, ""), ==, HANDLER_REPLIED);
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber", "gone");
	store_fixture_run(commands.fixture, "DELETE FROM outbox");
	commands.options.now += 8 * DAY;
	for (int i = 0; i < 200; i++)
		command_fixture_write_to(&commands, EVA, leave, "");
	g_assert_cmpint(command_fixture_count_mails(&commands), ==, 1);
}

static void
unsubscribing_is_immediate_reported_and_can_be_undone(void)
{
	command_fixture_auto commands;
	g_autofree char *mail = NULL;
	g_autofree char *undo = NULL;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	/* The reply goes to the subscriber, whoever the sender is. */
	g_assert_cmpint(command_fixture_write_to(
	                    &commands, EVA, "paperboy+unsubscribe@example.org", "list"),
	    ==, HANDLER_REPLIED);
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber", "gone");
	store_fixture_assert_text(commands.fixture,
	    "SELECT purpose, recipient, expires_at - made_at FROM confirmation",
	    "undo|Eva@example.com|604800");
	mail = command_fixture_get_mail(&commands);
	undo = g_strdup(strstr(mail, "undo "));
	undo[strlen("undo ") + TOKEN_RANDOM_LENGTH] = '\0';
	g_string_truncate(fakecommands_done, 0);
	commands.options.now += HANDLER_UNDO_S - 1;
	g_assert_cmpint(command_fixture_write_to(
	                    &commands, "eva@example.net", COMMAND_FIXTURE_HOME, undo),
	    ==, HANDLER_REPLIED);
	fakecommands_assert(
	    "run eva@example.net undo;pending Eva@example.com proven restore;");
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber", "active");
	store_fixture_assert_text(commands.fixture,
	    "SELECT recipient FROM outbox ORDER BY id DESC LIMIT 1", "Eva@example.com");
	command_fixture_write_to(
	    &commands, "eva@example.net", COMMAND_FIXTURE_HOME, undo);
	fakecommands_assert("run eva@example.net undo;");
}

static void
unsubscribe_token_never_expires_and_survives_key_rotation(void)
{
	command_fixture_auto commands;
	char both[2 * TOKEN_KEY_BYTES + 1] =
	    STORE_FIXTURE_KEY "an older key of this directory..";
	g_autoptr(GBytes) keys = g_bytes_new(both, 2 * TOKEN_KEY_BYTES);
	g_autoptr(GBytes) older = token_get_key(keys, 1);
	g_autofree char *leave = NULL;
	g_autofree char *forged = NULL;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	leave = command_fixture_format_leave(&commands, older, 1);
	forged = command_fixture_format_leave(&commands, commands.fixture->key, 2);
	commands.options.now += 365 * (int64_t)DAY;
	command_fixture_write_to(&commands, "adam@example.com", forged, "");
	command_fixture_write_to(&commands, "adam@example.com", leave, "");
	fakecommands_assert(
	    "run adam@example.com unsubscribe;run adam@example.com unsubscribe;");
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber", "active");
	commands.options.key = keys;
	command_fixture_write_to(&commands, "adam@example.com", leave, "");
	fakecommands_assert("run Eva@example.com proven unsubscribe;");
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber", "gone");
	/* Repeating it is harmless, and notifies nobody else. */
	command_fixture_write_to(&commands, "adam@example.com", leave, "");
	store_fixture_assert_text(commands.fixture,
	    "SELECT recipient FROM outbox ORDER BY id DESC LIMIT 1", "Eva@example.com");
}

static void
unsubscribe_token_allows_nothing_else(void)
{
	command_fixture_auto commands;
	g_autofree char *leave = NULL;
	g_autofree char *as_reply = NULL;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	leave = command_fixture_format_leave(&commands, commands.fixture->key, 1);
	as_reply = g_strdup(leave);
	as_reply[strlen("paperboy+")] = 'r';
	command_fixture_write_to(&commands, EVA, as_reply, "change");
	command_fixture_write_to(&commands, EVA, leave, "export");
	fakecommands_assert(
	    "run Eva@example.com change;run Eva@example.com proven unsubscribe;");
}

static void
bounced_or_automatic_mail_does_not_use_a_token(void)
{
	command_fixture_auto commands;
	g_autofree char *reply_to = NULL;
	pb_auto(inmail) scanner = inbox_new("scanner@example.net", "seen", "");

	command_fixture_init(&commands);
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "subscribe");
	reply_to = command_fixture_find_reply_to(&commands);
	g_string_truncate(fakecommands_done, 0);
	/* An automatic reply confirms nothing. */
	inbox_mark(scanner, "Auto-Submitted", "auto-replied");
	g_assert_cmpint(
	    command_fixture_hand_in(&commands, scanner, NULL, reply_to).outcome, ==,
	    HANDLER_IGNORED);
	g_assert_cmpint(
	    command_fixture_hand_in(&commands, scanner, "", reply_to).outcome, ==,
	    HANDLER_IGNORED);
	fakecommands_assert("");
	store_fixture_assert_text(
	    commands.fixture, "SELECT count(*) FROM subscriber", "0");
	command_fixture_write_to(&commands, EVA, reply_to, "yes");
	store_fixture_assert_text(
	    commands.fixture, "SELECT count(*) FROM subscriber", "1");
}

static void
unsubscribing_needs_only_the_address(void)
{
	command_fixture_auto commands;
	g_autofree char *leave = NULL;
	pb_auto(inmail) empty = inbox_new("x@example.net", "", "");

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	leave = command_fixture_format_leave(&commands, commands.fixture->key, 1);
	empty->from_fields = 0;
	g_ptr_array_set_size(empty->from, 0);
	g_clear_pointer(&empty->message_id, g_free);
	g_assert_cmpint(command_fixture_hand_in(&commands, empty, NULL, leave).outcome,
	    ==, HANDLER_UNSUBSCRIBED);
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber", "gone");
}

static void
subscription_confirmed_by_a_robot_can_be_ended_in_one_step(void)
{
	command_fixture_auto commands;
	g_autofree char *reply_to = NULL;
	g_autofree char *answer = NULL;

	command_fixture_init(&commands);
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "subscribe");
	reply_to = command_fixture_find_reply_to(&commands);
	command_fixture_write_to(&commands, "scanner@example.net", reply_to, "yes");
	/* The welcome went to the address, and a reply to it is proven. */
	store_fixture_assert_text(commands.fixture,
	    "SELECT recipient FROM outbox ORDER BY id DESC LIMIT 1", "Eva@example.com");
	answer = command_fixture_find_reply_to(&commands);
	command_fixture_write_to(&commands, EVA, answer, "unsubscribe");
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber", "gone");
}

static void
change_of_address_is_confirmed_at_both_addresses(void)
{
	static const char newest[] = "SELECT hash FROM confirmation WHERE recipient = ";
	command_fixture_auto commands;
	g_autofree char *old = NULL;
	g_autofree char *fresh = NULL;
	g_autofree char *mail = NULL;

	(void)newest;
	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	g_assert_cmpint(command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME,
	                    "address eva@example.net"),
	    ==, HANDLER_CONFIRMING);
	store_fixture_assert_text(commands.fixture,
	    "SELECT recipient FROM outbox ORDER BY id",
	    "eva@example.net Eva@example.com");
	old = command_fixture_find_reply_to(&commands);
	store_fixture_run(commands.fixture, "DELETE FROM outbox WHERE id = 2");
	fresh = command_fixture_find_reply_to(&commands);
	g_assert_cmpstr(old, !=, fresh);
	g_string_truncate(fakecommands_done, 0);
	command_fixture_write_to(&commands, EVA, old, "ok");
	command_fixture_write_to(&commands, EVA, old, "ok");
	fakecommands_assert("say Eva@example.com half_confirmed_old eva@example.net;"
	                    "run Eva@example.com confirm;");
	command_fixture_write_to(&commands, "eva@example.net", fresh, "ok");
	fakecommands_assert("pending Eva@example.com proven address e;");

	/* One alone is not enough, even if the other one bounced. */
	command_fixture_write_to(&commands, "eva@example.net", COMMAND_FIXTURE_HOME,
	    "address wrong@example.net");
	g_free(old);
	old = command_fixture_find_reply_to(&commands);
	store_fixture_run(commands.fixture,
	    "DELETE FROM confirmation WHERE recipient = 'wrong@example.net'");
	g_string_truncate(fakecommands_done, 0);
	command_fixture_write_to(&commands, "eva@example.net", old, "ok");
	fakecommands_assert(
	    "say eva@example.net half_confirmed_old wrong@example.net;");
}

static void
old_address_is_notified_of_a_change_of_address(void)
{
	for (int is_old_last = 0; is_old_last < 2; is_old_last++) {
		command_fixture_auto commands;
		g_autofree char *old = NULL;
		g_autofree char *fresh = NULL;

		command_fixture_init(&commands);
		subscribe(&commands, EVA);
		command_fixture_write_to(
		    &commands, EVA, COMMAND_FIXTURE_HOME, "address thief@example.net");
		old = command_fixture_find_reply_to(&commands);
		store_fixture_run(commands.fixture, "DELETE FROM outbox WHERE id = 2");
		fresh = command_fixture_find_reply_to(&commands);
		store_fixture_run(commands.fixture, "DELETE FROM outbox");
		g_string_truncate(fakecommands_done, 0);
		command_fixture_write_to(
		    &commands, EVA, is_old_last ? fresh : old, "yes");
		fakecommands_assert(is_old_last
		                        ? "say thief@example.net half_confirmed_new;"
		                        : "say Eva@example.com half_confirmed_old "
		                          "thief@example.net;");
		store_fixture_assert_text(commands.fixture,
		    "SELECT recipient FROM outbox",
		    is_old_last ? "thief@example.net" : EVA);
		store_fixture_run(commands.fixture, "DELETE FROM outbox");
		command_fixture_write_to(
		    &commands, EVA, is_old_last ? old : fresh, "yes");
		store_fixture_assert_text(commands.fixture,
		    "SELECT address FROM subscriber", "thief@example.net");
		store_fixture_assert_text(commands.fixture,
		    "SELECT kind, recipient FROM outbox ORDER BY id",
		    "notice|Eva@example.com answer|thief@example.net");
	}
}

static void
tokens_from_before_a_change_of_address_prove_nothing(void)
{
	command_fixture_auto commands;
	g_autofree char *answer = NULL;
	g_autofree char *digest = NULL;
	g_autofree char *leave = NULL;
	g_autofree char *change = NULL;
	g_autofree char *fresh = NULL;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	store_fixture_run(commands.fixture,
	    "INSERT INTO digest (subscriber_id, slot, date, created_at, state,"
	    " message_token) VALUES (1, 'x', '2026-11-20', 1795160000, 'sent',"
	    " 'abcdefghijklmnopq')");
	digest = format_reply_to(&commands, 1, 1795160000);
	leave = command_fixture_format_leave(&commands, commands.fixture->key, 1);
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "change");
	change = command_fixture_find_reply_to(&commands);
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "list");
	answer = command_fixture_find_reply_to(&commands);
	g_string_truncate(fakecommands_done, 0);
	command_fixture_write_to(&commands, EVA, answer, "list");
	command_fixture_write_to(&commands, EVA, digest, "list");
	fakecommands_assert(
	    "run Eva@example.com proven list;run Eva@example.com proven list;");

	commands.options.now += HOUR;
	{
		pb_auto(subscriber) moved = subscribe_change_address(
		    commands.fixture->store, EVA, "eva@example.net",
		    commands.fixture->key, "test", commands.options.now, NULL);

		g_assert_nonnull(moved);
	}
	command_fixture_write_to(&commands, "eva@example.net", answer, "list");
	command_fixture_write_to(&commands, "eva@example.net", digest, "list");
	command_fixture_write_to(&commands, EVA, leave, "");
	command_fixture_write_to(&commands, EVA, change, "yes");
	fakecommands_assert(
	    "run eva@example.net list;run eva@example.net list;"
	    "run Eva@example.com unsubscribe;run Eva@example.com confirm;");
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber", "active");

	/* Tokens from after it are valid. */
	command_fixture_write_to(
	    &commands, "eva@example.net", COMMAND_FIXTURE_HOME, "list");
	fresh = command_fixture_find_reply_to(&commands);
	g_string_truncate(fakecommands_done, 0);
	command_fixture_write_to(&commands, "eva@example.net", fresh, "list");
	fakecommands_assert("run eva@example.net proven list;");
}

static void
only_consent_applies_a_request(void)
{
	static const struct {
		const char *subject, *text, *wanted;
	} rows[] = {
	    {"Re: " SUBJECT, "No, I did not ask for this.\n", "declined"},
	    {"Re: " SUBJECT, "nein danke\n", "declined"},
	    {"Re: " SUBJECT, "I never asked for this, leave me alone!", "declined"},
	    {"Re: " SUBJECT, "Please remove me from your list", "declined"},
	    {"Re: " SUBJECT, "\u4e0d\u8981", "declined"},
	    {"no", "", "declined"},
	    {"Undeliverable: " SUBJECT, "Yes", "automatic"},
	    {"[Ticket #123] " SUBJECT, "Yes, I am away.", "automatic"},
	    {"Out of Office: " SUBJECT, "I am away.", "automatic"},
	    {"Re: " SUBJECT, "What is this??", "unclear"},
	    {"Re: " SUBJECT, "Thanks", "unclear"},
	    {"Re: " SUBJECT, "", "unclear"},
	    {"Re: " SUBJECT, "Yes, no problem", "yes"},
	    {"Re: " SUBJECT, "OK", "yes"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		command_fixture_auto commands;
		g_autofree char *reply_to = NULL;
		pb_auto(inmail) inmail = inbox_new(EVA, rows[i].subject, rows[i].text);
		struct handler_report report;

		command_fixture_init(&commands);
		command_fixture_write_to(
		    &commands, EVA, COMMAND_FIXTURE_HOME, "subscribe");
		reply_to = command_fixture_find_reply_to(&commands);
		g_string_truncate(fakecommands_done, 0);
		report = command_fixture_hand_in(&commands, inmail, EVA, reply_to);
		if (g_str_equal(rows[i].wanted, "yes")) {
			fakecommands_assert(
			    "pending Eva@example.com proven subscribe;");
			continue;
		}
		store_fixture_assert_text(
		    commands.fixture, "SELECT count(*) FROM subscriber", "0");
		if (g_str_equal(rows[i].wanted, "unclear")) {
			fakecommands_assert("say Eva@example.com unclear;");
			continue;
		}
		fakecommands_assert("");
		g_assert_cmpstr(report.reason, ==, rows[i].wanted);
		g_assert_cmpint(command_fixture_count_mails(&commands), ==, 1);
		/* The user can still confirm. */
		store_fixture_assert_text(commands.fixture,
		    "SELECT count(*) FROM confirmation",
		    g_str_equal(rows[i].wanted, "automatic") ? "1" : "0");
	}
}

static void
tokens_in_any_recipient_are_used(void)
{
	command_fixture_auto commands;
	g_autofree char *old = NULL;
	g_autofree char *fresh = NULL;
	g_autofree char *leave = NULL;
	g_autofree char *recipients = NULL;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	command_fixture_write_to(
	    &commands, EVA, COMMAND_FIXTURE_HOME, "address eva@example.net");
	old = command_fixture_find_reply_to(&commands);
	store_fixture_run(commands.fixture, "DELETE FROM outbox WHERE id = 2");
	fresh = command_fixture_find_reply_to(&commands);
	recipients =
	    g_strjoin("\n", COMMAND_FIXTURE_HOME, old, "paperboy+help@example.org",
	        "paperboy+nothing-that-is-known@example.org", fresh, NULL);
	g_string_truncate(fakecommands_done, 0);
	command_fixture_write_to(&commands, EVA, recipients, "yes");
	fakecommands_assert("say Eva@example.com half_confirmed_old eva@example.net;"
	                    "pending Eva@example.com proven address e;");
	store_fixture_assert_text(
	    commands.fixture, "SELECT address FROM subscriber", "eva@example.net");

	/* Of a subscriber whose address has not changed. */
	subscribe(&commands, "adam@example.com");
	g_free(recipients);
	leave = command_fixture_format_leave(&commands, commands.fixture->key, 2);
	recipients = g_strjoin("\n", COMMAND_FIXTURE_HOME, leave, NULL);
	command_fixture_write_to(&commands, "adam@example.com", recipients, "list");
	store_fixture_assert_text(commands.fixture,
	    "SELECT state FROM subscriber ORDER BY id", "active gone");
	g_string_truncate(fakecommands_done, 0);
	command_fixture_write_to(
	    &commands, EVA, "paperboy+nothing@example.org", "list");
	fakecommands_assert("");
}

static void
empty_reply_is_recognised_by_message_id(void)
{
	command_fixture_auto commands;
	g_autofree char *reply_to = NULL;
	g_autofree char *id = NULL;
	pb_auto(inmail) inmail = inbox_new(EVA, "Re: " SUBJECT, "");

	command_fixture_init(&commands);
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "subscribe");
	reply_to = command_fixture_find_reply_to(&commands);
	id = command_fixture_find_address(&commands, "Message-ID: <");
	*strchr(id, '>') = '\0';
	g_ptr_array_add(inmail->in_reply_to, g_strdup(id));
	g_string_truncate(fakecommands_done, 0);
	command_fixture_hand_in(&commands, inmail, EVA, reply_to);
	fakecommands_assert("pending Eva@example.com proven subscribe;");
}

static void
unclear_reply_is_questioned_once(void)
{
	static const char *const asked[] = {
	    "change", "address eva@example.net", "forget", "export"};

	for (size_t i = 0; i < G_N_ELEMENTS(asked); i++) {
		command_fixture_auto commands;
		g_autofree char *reply_to = NULL;
		g_autofree char *again = NULL;
		g_autofree char *line = NULL;
		pb_auto(inmail) typed = NULL;
		struct handler_report report;

		command_fixture_init(&commands);
		subscribe(&commands, EVA);
		command_fixture_write_to(
		    &commands, EVA, COMMAND_FIXTURE_HOME, asked[i]);
		reply_to = command_fixture_find_reply_to(&commands);
		g_string_truncate(fakecommands_done, 0);
		for (int k = 0; k < 20; k++)
			g_assert_cmpint(command_fixture_write_to(
			                    &commands, EVA, reply_to, "What is this?"),
			    ==, k ? HANDLER_IGNORED : HANDLER_REPLIED);
		fakecommands_assert("say Eva@example.com unclear;");
		/* The question can be answered like the request. */
		again = command_fixture_find_reply_to(&commands);
		g_assert_cmpstr(again, ==, reply_to);
		line = g_strdup_printf("Dear paperboy\n\nconfirm %.*s\n",
		    TOKEN_RANDOM_LENGTH, reply_to + strlen("paperboy+c-"));
		typed = inbox_new(EVA, "Re: " SUBJECT, line);
		report = command_fixture_hand_in(&commands, typed, EVA, reply_to);
		g_assert_cmpint(report.outcome, ==, HANDLER_REPLIED);
	}
}

static void
refusal_overrides_a_line_with_a_token(void)
{
	command_fixture_auto commands;
	g_autofree char *reply_to = NULL;
	g_autofree char *subject = NULL;
	pb_auto(inmail) inmail = NULL;

	command_fixture_init(&commands);
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "subscribe");
	reply_to = command_fixture_find_reply_to(&commands);
	subject = g_strdup_printf(
	    "confirm %.*s", TOKEN_RANDOM_LENGTH, reply_to + strlen("paperboy+c-"));
	inmail = inbox_new(EVA, subject, "I never asked for this!");
	g_string_truncate(fakecommands_done, 0);
	command_fixture_hand_in(&commands, inmail, EVA, COMMAND_FIXTURE_HOME);
	fakecommands_assert("run Eva@example.com confirm;");
	store_fixture_assert_text(
	    commands.fixture, "SELECT count(*) FROM subscriber", "0");
	store_fixture_assert_text(
	    commands.fixture, "SELECT count(*) FROM confirmation", "0");
}

static void
declining_does_not_block_a_later_request(void)
{
	command_fixture_auto commands;

	command_fixture_init(&commands);
	for (int i = 0; i < 5; i++) {
		g_autofree char *reply_to = NULL;

		/* The limit per month still holds. */
		g_assert_cmpint(command_fixture_write_to(
		                    &commands, EVA, COMMAND_FIXTURE_HOME, "subscribe"),
		    ==, i < 3 ? HANDLER_CONFIRMING : HANDLER_LIMITED);
		reply_to = command_fixture_find_reply_to(&commands);
		/* A further request gets no reply. */
		for (int k = 0; k < 2; k++)
			g_assert_cmpint(
			    command_fixture_write_to(&commands, EVA, reply_to, "no"),
			    ==, HANDLER_IGNORED);
	}
	g_assert_cmpint(command_fixture_count_mails(&commands), ==, 3);
}

static void
declining_one_half_revokes_a_change_of_address(void)
{
	command_fixture_auto commands;
	g_autofree char *old = NULL;

	command_fixture_init(&commands);
	subscribe(&commands, EVA);
	command_fixture_write_to(
	    &commands, EVA, COMMAND_FIXTURE_HOME, "address thief@example.net");
	old = command_fixture_find_reply_to(&commands);
	command_fixture_write_to(&commands, EVA, old, "No");
	store_fixture_assert_text(
	    commands.fixture, "SELECT count(*) FROM confirmation", "0");
}

static const struct {
	const char *name;
	void (*test)(void);
} tests[] = {
    {"change of address is confirmed at both addresses",
        change_of_address_is_confirmed_at_both_addresses},
    {"reply token proves its subscriber for thirty days",
        reply_token_proves_its_subscriber_for_thirty_days},
    {"unsubscribing is immediate reported and can be undone",
        unsubscribing_is_immediate_reported_and_can_be_undone},
    {"repeated unsubscribe tokens get one reply per day",
        repeated_unsubscribe_tokens_get_one_reply_per_day},
    {"unsubscribe token in automatic mail gets no reply",
        unsubscribe_token_in_automatic_mail_gets_no_reply},
    {"reply to a reply is proven", reply_to_a_reply_is_proven},
    {"token is valid once for one purpose until it expires",
        token_is_valid_once_for_one_purpose_until_it_expires},
    {"erasure has to be confirmed within an hour",
        erasure_has_to_be_confirmed_within_an_hour},
    {"unsubscribe token never expires and survives key rotation",
        unsubscribe_token_never_expires_and_survives_key_rotation},
    {"unsubscribe token allows nothing else", unsubscribe_token_allows_nothing_else},
    {"bounced or automatic mail does not use a token",
        bounced_or_automatic_mail_does_not_use_a_token},
    {"unsubscribing needs only the address", unsubscribing_needs_only_the_address},
    {"subscription confirmed by a robot can be ended in one step",
        subscription_confirmed_by_a_robot_can_be_ended_in_one_step},
    {"consent records time and text", consent_records_time_and_text},
    {"old address is notified of a change of address",
        old_address_is_notified_of_a_change_of_address},
    {"tokens from before a change of address prove nothing",
        tokens_from_before_a_change_of_address_prove_nothing},
    {"only consent applies a request", only_consent_applies_a_request},
    {"tokens in any recipient are used", tokens_in_any_recipient_are_used},
    {"empty reply is recognised by message id",
        empty_reply_is_recognised_by_message_id},
    {"unclear reply is questioned once", unclear_reply_is_questioned_once},
    {"refusal overrides a line with a token", refusal_overrides_a_line_with_a_token},
    {"declining does not block a later request",
        declining_does_not_block_a_later_request},
    {"declining one half revokes a change of address",
        declining_one_half_revokes_a_change_of_address},
};

int
main(int argc, char **argv)
{
	int result;

	g_test_init(&argc, &argv, NULL);
	fakecommands_done = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++) {
		g_autofree char *path =
		    g_strconcat("/confirmations/", tests[i].name, NULL);

		g_test_add_func(path, tests[i].test);
	}
	result = g_test_run();
	g_string_free(fakecommands_done, TRUE);
	return result;
}
