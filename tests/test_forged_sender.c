/*
 * test_forged_sender.c - letters in somebody else's name, with the real commands.
 *
 * Whatever verb they hold: nothing changes but what anybody may do to anybody, and
 * nothing is told but to the address itself.
 */
#include <glib.h>
#include <string.h>

#include "lib/command_fixture.h"
#include "service/command/command_private.h"
#include "service/inbound/handler.h"
#include "service/people/erase.h"
#include "service/setup/factory.h"

#define EVA "eva@example.com"

/* With the real phrases, people and papers. */
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

/* All that is kept about people, but what waits for their word. */
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

/* What somebody who knows a verb would write. */
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
of_every_verb_nothing_but_unsubscribing_acts(void)
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
		/* Only she is told, and the address that is to be hers. */
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

/* What the thief is sent says nothing about her. */
static void
a_new_address_learns_nothing(void)
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

/* Whoever holds the thief's half alone cannot move her away. */
static void
the_thiefs_half_does_nothing(void)
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

/* Whose octets somebody else may have to read. */
static void
row_4_12_a_long_letter_gets_a_short_answer(void)
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
				    text, "%swords of a stranger\n", starts[i]);
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
yes_accepts_the_suggestion_in_a_reply(void)
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
	/* Somebody else's yes is none. */
	command_fixture_write_to(&commands, "adam@example.com", reply_to, "yes");
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber WHERE id = 1", "active");
	g_assert_cmpint(reply_with(&commands, reply_to, "Yes.\n"), ==, HANDLER_REPLIED);
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber WHERE id = 1", "paused");
	/* It was used. */
	reply_with(&commands, reply_to, "resume\n");
	reply_with(&commands, reply_to, "yes\n");
	store_fixture_assert_text(
	    commands.fixture, "SELECT state FROM subscriber WHERE id = 1", "active");
}

static void
unasked_help_comes_once_a_day_also_in_reply_to_our_mail(void)
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
every_verb_of_the_table_is_tried(void)
{
	for (const struct command_row *row = command_rows; row->verb; row++)
		if (row->arity == COMMAND_ARITY_REQUIRED)
			g_assert_cmpstr(find_line(row->verb), !=, row->verb);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/forged/of every verb nothing but unsubscribing acts",
	    of_every_verb_nothing_but_unsubscribing_acts);
	g_test_add_func(
	    "/forged/a new address learns nothing", a_new_address_learns_nothing);
	g_test_add_func(
	    "/forged/the thief's half does nothing", the_thiefs_half_does_nothing);
	g_test_add_func("/forged/yes accepts the suggestion in a reply",
	    yes_accepts_the_suggestion_in_a_reply);
	g_test_add_func(
	    "/forged/unasked help comes once a day, also in reply to our mail",
	    unasked_help_comes_once_a_day_also_in_reply_to_our_mail);
	g_test_add_func("/forged/every verb of the table is tried",
	    every_verb_of_the_table_is_tried);
	g_test_add_func("/forged/4.12 a long letter gets a short answer",
	    row_4_12_a_long_letter_gets_a_short_answer);
	return g_test_run();
}
