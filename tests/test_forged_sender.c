/*
 * test_forged_sender.c - messages with a forged From, with the real commands.
 *
 * No verb changes anything but `unsubscribe`, and replies go to the forged address
 * only.
 */
#include <glib.h>
#include <string.h>

#include "lib/command_fixture.h"
#include "lib/unit.h"
#include "service/command/command_private.h"
#include "service/inbound/handler.h"
#include "service/people/erase.h"
#include "service/setup/factory.h"

#define EVA "eva@example.com"

/* With the real phrases, subscribers and papers. */
static void
begin(struct command_fixture *commands)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *templates =
	    g_build_filename(top ? top : ".", "etc", "templates", NULL);
	GError *error = NULL;

	command_fixture_init(commands);
	commands->phrases = catalog_load(templates, &error);
	g_assert_no_error(error);
	command_fixture_set(&commands->settings->template_dir, templates);
	commands->renderer =
	    factory_new_renderer(commands->settings, commands->fixture->key, &error);
	g_assert_no_error(error);
	commands->options.phrases = commands->phrases;
	commands->options.renderer = commands->renderer;
	store_fixture_list(
	    commands->fixture, "2026-11-19", "2611.00001", "Diffusion", 3);
	store_fixture_subscribe(
	    commands->fixture, EVA, "UTC", "diffusion", commands->options.now - 60);
	store_fixture_add_block(
	    commands->fixture, EVA, "survey", commands->options.now - 60);
	store_fixture_subscribe(commands->fixture, "adam@example.com", "UTC", "robots",
	    commands->options.now - 60);
	store_fixture_build_digests(commands->fixture, commands->options.now - 60);
}

/* All data of subscribers but pending confirmations. */
static char *
get_state(struct command_fixture *commands)
{
	return store_fixture_text(commands->fixture,
	    "SELECT 's', id, address, name, state, frequency, weekdays, minute, zone,"
	    " max_full, next_due_at, paused_until, consent_text FROM subscriber"
	    " UNION ALL SELECT 'f', id, subscriber_id, number, filter_id, name, text,"
	    " since_day, is_block, 0, 0, 0, 0 FROM subscription"
	    " UNION ALL SELECT 'd', id, subscriber_id, slot, state, 0, 0, 0, 0, 0, 0,"
	    " 0, 0 FROM digest"
	    " UNION ALL SELECT 'h', hash, reason, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0"
	    " FROM suppression");
}

/* A command for each verb. */
static const struct {
	const char *verb, *line;
} lines[] = {
    {"subscribe", "subscribe"},
    {"confirm", "confirm abcdefghijklmnopqrstuvwxyz"},
    {"undo", "undo abcdefghijklmnopqrstuvwxyz"},
    {"add", "add name=spam lottery"},
    {"del", "del 1"},
    {"edit", "edit 1 lottery"},
    {"block", "block diffusion"},
    {"unblock", "unblock 2"},
    {"list", "list"},
    {"set", "set at 23:59"},
    {"pause", "pause 14d"},
    {"resume", "resume"},
    {"test", "test diffusion"},
    {"search", "search diffusion"},
    {"why", "why 2611.00001"},
    {"status", "status"},
    {"last", "last"},
    {"address", "address thief@example.net"},
    {"export", "export"},
    {"forget", "forget me"},
    {"sources", "sources"},
    {"info", "info"},
    {"help", "help"},
};

static const char *
find_line(const char *verb)
{
	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
		if (strcmp(lines[i].verb, verb) == 0)
			return lines[i].line;
	return verb;
}

static void
forged_commands_change_nothing_but_unsubscribe(void)
{
	for (const struct command_row *row = command_rows; row->verb; row++) {
		command_fixture_auto commands;
		g_autofree char *before = NULL;
		g_autofree char *after = NULL;
		const char *line = find_line(row->verb);
		bool is_leaving = strcmp(row->verb, "unsubscribe") == 0;

		begin(&commands);
		before = get_state(&commands);
		command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, line);
		after = get_state(&commands);
		g_test_message("%s", line);
		if (is_leaving) {
			g_assert_cmpstr(after, !=, before);
			store_fixture_assert_text(commands.fixture,
			    "SELECT address, state FROM subscriber ORDER BY id",
			    "eva@example.com|gone adam@example.com|active");
		} else {
			g_assert_cmpstr(after, ==, before);
		}
		/* Only the subscriber and the new address get mail. */
		store_fixture_assert_text(commands.fixture,
		    "SELECT count(*) FROM outbox WHERE kind <> 'digest' AND recipient"
		    " NOT IN ('eva@example.com', 'thief@example.net')",
		    "0");
		g_assert_cmpint(store_fixture_number(commands.fixture,
		                    "SELECT count(*) FROM outbox"
		                    " WHERE recipient = 'thief@example.net'"),
		    ==, strcmp(row->verb, "address") == 0);
	}
}

/* The request to the new address does not disclose the old one. */
static void
new_address_learns_nothing_about_the_subscriber(void)
{
	command_fixture_auto commands;
	g_autofree char *mail = NULL;

	begin(&commands);
	command_fixture_write_to(
	    &commands, EVA, COMMAND_FIXTURE_HOME, "address thief@example.net");
	mail = store_fixture_text(commands.fixture,
	    "SELECT CAST(message AS TEXT) FROM outbox"
	    " WHERE recipient = 'thief@example.net'");
	g_assert_nonnull(strstr(mail, "paperboy+c-"));
	g_assert_null(strstr(mail, "eva@"));
	g_assert_null(strstr(mail, "diffusion"));
}

/* A confirmation by the new address alone does not change it. */
static void
one_confirmation_does_not_change_the_address(void)
{
	command_fixture_auto commands;
	g_autofree char *before = NULL;
	g_autofree char *after = NULL;
	g_autofree char *mail = NULL;
	g_auto(GStrv) lines_of = NULL;

	begin(&commands);
	command_fixture_write_to(
	    &commands, EVA, COMMAND_FIXTURE_HOME, "address thief@example.net");
	mail = store_fixture_text(commands.fixture,
	    "SELECT CAST(message AS TEXT) FROM outbox"
	    " WHERE recipient = 'thief@example.net'");
	before = get_state(&commands);
	lines_of =
	    g_strsplit(strstr(mail, "Reply-To: ") + strlen("Reply-To: "), "\r", 2);
	for (int i = 0; i < 3; i++)
		command_fixture_write_to(
		    &commands, "thief@example.net", lines_of[0], "ok");
	after = get_state(&commands);
	g_assert_cmpstr(after, ==, before);
}

/* The recipient of the reply may be a victim. */
static void
long_message_gets_a_short_reply(void)
{
	static const char *const starts[] = {"", "add ", "add title:", "list\n", "\n"};

	for (size_t i = 0; i < G_N_ELEMENTS(starts); i++)
		for (int is_unknown = 0; is_unknown < 2; is_unknown++) {
			command_fixture_auto commands;
			g_autoptr(GString) text = g_string_new("subscribe\n");
			pb_auto(inmail) mail = NULL;
			const struct receive_mail envelope = {
			    .id = 1, .sender = EVA, .recipient = COMMAND_FIXTURE_HOME};
			struct handler_report report;
			pb_transaction transaction = {0};
			int64_t size;

			begin(&commands);
			while (text->len < 16000)
				g_string_append_printf(
				    text, "%swords of an unknown sender\n", starts[i]);
			mail = inbox_new(
			    is_unknown ? "victim@example.net" : EVA, "", text->str);
			g_assert_true(
			    store_begin(commands.fixture->store, &transaction, NULL));
			g_assert_true(handler_run(commands.fixture->store,
			    &commands.options, mail, &envelope, &report, NULL));
			g_assert_true(store_commit(&transaction, NULL));
			size = store_fixture_number(commands.fixture,
			    "SELECT max(length(message)) FROM outbox"
			    " WHERE kind <> 'digest'");
			g_assert_cmpint(size, >, 0);
			g_assert_cmpint(size, <, 8192);
		}
}

static enum handler_outcome
reply_with(struct command_fixture *commands, const char *recipient, const char *text)
{
	pb_auto(inmail) mail = inbox_new(EVA, "Re: Your commands", text);

	return command_fixture_hand_in(commands, mail, EVA, recipient).outcome;
}

static void
yes_to_a_reply_accepts_its_suggestion(void)
{
	command_fixture_auto commands;
	g_autofree char *first = NULL, *reply_to = NULL, *mail = NULL;

	begin(&commands);
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "list");
	first = command_fixture_find_reply_to(&commands);
	g_assert_cmpint(
	    reply_with(&commands, first, "puase 14d\n"), ==, HANDLER_REPLIED);
	mail = command_fixture_get_mail(&commands);
	g_assert_nonnull(strstr(mail, "reply with the one word yes"));
	g_assert_nonnull(strstr(mail, "\r\npause 14d\r\n"));
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber WHERE id = 1", "active");
	reply_to = command_fixture_find_reply_to(&commands);
	/* Consent of another sender does not count. */
	command_fixture_write_to(&commands, "adam@example.com", reply_to, "yes");
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber WHERE id = 1", "active");
	g_assert_cmpint(reply_with(&commands, reply_to, "Yes.\n"), ==, HANDLER_REPLIED);
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber WHERE id = 1", "paused");
	/* The token was used. */
	reply_with(&commands, reply_to, "resume\n");
	reply_with(&commands, reply_to, "yes\n");
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber WHERE id = 1", "active");
}

static void
help_without_a_command_is_sent_once_a_day(void)
{
	command_fixture_auto commands;
	g_autofree char *reply_to = NULL;

	begin(&commands);
	command_fixture_write_to(&commands, EVA, COMMAND_FIXTURE_HOME, "list");
	reply_to = command_fixture_find_reply_to(&commands);
	g_assert_cmpint(
	    reply_with(&commands, reply_to, "Lovely.\n"), ==, HANDLER_REPLIED);
	g_assert_cmpint(
	    reply_with(&commands, reply_to, "Lovely!\n"), ==, HANDLER_LIMITED);
	g_assert_cmpint(reply_with(&commands, COMMAND_FIXTURE_HOME, "Lovely\n"), ==,
	    HANDLER_LIMITED);
	g_assert_cmpint(reply_with(&commands, reply_to, "help\n"), ==, HANDLER_REPLIED);
}

static void
every_verb_is_tested(void)
{
	for (const struct command_row *row = command_rows; row->verb; row++)
		if (row->arity == COMMAND_ARITY_REQUIRED)
			g_assert_cmpstr(find_line(row->verb), !=, row->verb);
}

UNIT_MAIN(forged_commands_change_nothing_but_unsubscribe,
    new_address_learns_nothing_about_the_subscriber,
    one_confirmation_does_not_change_the_address, yes_to_a_reply_accepts_its_suggestion,
    help_without_a_command_is_sent_once_a_day, every_verb_is_tested,
    long_message_gets_a_short_reply)
