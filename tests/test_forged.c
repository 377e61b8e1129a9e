/*
 * test_forged.c - letters in somebody else's name, with the real commands.
 *
 * Whatever verb they hold: nothing changes but what anybody may do to anybody, and
 * nothing is told but to the address itself.
 */
#include <glib.h>
#include <string.h>

#include "lib/desk.h"
#include "service/assembly.h"
#include "service/command_work.h"
#include "service/forget.h"
#include "service/front.h"

#define EVA "eva@example.com"

/* With the real phrases, people and papers. */
static void
begin(struct desk *desk)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *templates =
	    g_build_filename(top ? top : ".", "etc", "templates", NULL);
	GError *error = NULL;

	desk_init(desk);
	desk->phrases = phrasebook_load(templates, &error);
	g_assert_no_error(error);
	desk_set(&desk->settings->template_dir, templates);
	desk->renderer = assembly_new_renderer(desk->settings, desk->lab->key, &error);
	g_assert_no_error(error);
	desk->options.phrases = desk->phrases;
	desk->options.renderer = desk->renderer;
	lab_list(desk->lab, "2026-11-19", "2611.00001", "Diffusion", 3);
	lab_subscribe(desk->lab, EVA, "UTC", "diffusion", desk->options.now - 60);
	lab_add_block(desk->lab, EVA, "survey", desk->options.now - 60);
	lab_subscribe(
	    desk->lab, "adam@example.com", "UTC", "robots", desk->options.now - 60);
	lab_press(desk->lab, desk->options.now - 60);
}

/* All that is kept about people, but what waits for their word. */
static char *
get_state(struct desk *desk)
{
	return lab_text(desk->lab,
	    "SELECT 's', id, address, name, state, cadence, weekdays, minute, zone,"
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
		desk_auto desk;
		g_autofree char *before = NULL;
		g_autofree char *after = NULL;
		const char *line = find_line(row->verb);
		bool is_leaving = strcmp(row->verb, "unsubscribe") == 0;

		begin(&desk);
		before = get_state(&desk);
		desk_write_to(&desk, EVA, DESK_HOME, line);
		after = get_state(&desk);
		g_test_message("%s", line);
		if (is_leaving) {
			g_assert_cmpstr(after, !=, before);
			lab_assert_text(desk.lab,
			    "SELECT address, state FROM subscriber ORDER BY id",
			    "eva@example.com|gone adam@example.com|active");
		} else {
			g_assert_cmpstr(after, ==, before);
		}
		/* Only she is told, and the address that is to be hers. */
		lab_assert_text(desk.lab,
		    "SELECT count(*) FROM outbox WHERE kind <> 'digest' AND recipient"
		    " NOT IN ('eva@example.com', 'thief@example.net')",
		    "0");
		g_assert_cmpint(
		    lab_number(desk.lab, "SELECT count(*) FROM outbox"
		                         " WHERE recipient = 'thief@example.net'"),
		    ==, strcmp(row->verb, "address") == 0);
	}
}

/* What the thief is sent says nothing about her. */
static void
a_new_address_learns_nothing(void)
{
	desk_auto desk;
	g_autofree char *mail = NULL;

	begin(&desk);
	desk_write_to(&desk, EVA, DESK_HOME, "address thief@example.net");
	mail = lab_text(desk.lab, "SELECT CAST(message AS TEXT) FROM outbox"
	                          " WHERE recipient = 'thief@example.net'");
	g_assert_nonnull(strstr(mail, "paperboy+c-"));
	g_assert_null(strstr(mail, "eva@"));
	g_assert_null(strstr(mail, "diffusion"));
}

/* Whoever holds the thief's half alone cannot move her away. */
static void
the_thiefs_half_does_nothing(void)
{
	desk_auto desk;
	g_autofree char *before = NULL;
	g_autofree char *after = NULL;
	g_autofree char *mail = NULL;
	g_auto(GStrv) lines_of = NULL;

	begin(&desk);
	desk_write_to(&desk, EVA, DESK_HOME, "address thief@example.net");
	mail = lab_text(desk.lab, "SELECT CAST(message AS TEXT) FROM outbox"
	                          " WHERE recipient = 'thief@example.net'");
	before = get_state(&desk);
	lines_of =
	    g_strsplit(strstr(mail, "Reply-To: ") + strlen("Reply-To: "), "\r", 2);
	for (int i = 0; i < 3; i++)
		desk_write_to(&desk, "thief@example.net", lines_of[0], "ok");
	after = get_state(&desk);
	g_assert_cmpstr(after, ==, before);
}

/* Whose octets somebody else may have to read. */
static void
row_4_12_a_long_letter_gets_a_short_answer(void)
{
	static const char *const starts[] = {"", "add ", "add title:", "list\n", "\n"};

	for (size_t i = 0; i < G_N_ELEMENTS(starts); i++)
		for (int is_stranger = 0; is_stranger < 2; is_stranger++) {
			desk_auto desk;
			g_autoptr(GString) text = g_string_new("subscribe\n");
			pb_auto(letter) letter = NULL;
			const struct front_envelope envelope = {
			    1, EVA, DESK_HOME, false};
			struct front_report report;
			pb_transaction transaction = {0};
			int64_t size;

			begin(&desk);
			while (text->len < 16000)
				g_string_append_printf(
				    text, "%swords of a stranger\n", starts[i]);
			letter = letters_new(
			    is_stranger ? "victim@example.net" : EVA, "", text->str);
			g_assert_true(store_begin(desk.lab->store, &transaction, NULL));
			g_assert_true(front_handle(desk.lab->store, &desk.options,
			    letter, &envelope, &report, NULL));
			g_assert_true(store_commit(&transaction, NULL));
			size = lab_number(desk.lab,
			    "SELECT max(length(message)) FROM outbox"
			    " WHERE kind <> 'digest'");
			g_assert_cmpint(size, >, 0);
			g_assert_cmpint(size, <, 8192);
		}
}

static enum front_outcome
reply_with(struct desk *desk, const char *recipient, const char *text)
{
	pb_auto(letter) letter = letters_new(EVA, "Re: Your commands", text);

	return desk_hand_in(desk, letter, EVA, recipient).outcome;
}

static void
yes_accepts_the_suggestion_in_a_reply(void)
{
	desk_auto desk;
	g_autofree char *first = NULL, *reply_to = NULL, *mail = NULL;

	begin(&desk);
	desk_write_to(&desk, EVA, DESK_HOME, "list");
	first = desk_find_reply_to(&desk);
	g_assert_cmpint(reply_with(&desk, first, "puase 14d\n"), ==, FRONT_ANSWERED);
	mail = desk_get_mail(&desk);
	g_assert_nonnull(strstr(mail, "reply with the one word yes"));
	g_assert_nonnull(strstr(mail, "\r\npause 14d\r\n"));
	lab_assert_text(
	    desk.lab, "SELECT state FROM subscriber WHERE id = 1", "active");
	reply_to = desk_find_reply_to(&desk);
	/* Somebody else's yes is none. */
	desk_write_to(&desk, "adam@example.com", reply_to, "yes");
	lab_assert_text(
	    desk.lab, "SELECT state FROM subscriber WHERE id = 1", "active");
	g_assert_cmpint(reply_with(&desk, reply_to, "Yes.\n"), ==, FRONT_ANSWERED);
	lab_assert_text(
	    desk.lab, "SELECT state FROM subscriber WHERE id = 1", "paused");
	/* It was used. */
	reply_with(&desk, reply_to, "resume\n");
	reply_with(&desk, reply_to, "yes\n");
	lab_assert_text(
	    desk.lab, "SELECT state FROM subscriber WHERE id = 1", "active");
}

static void
unasked_help_comes_once_a_day_also_in_reply_to_our_mail(void)
{
	desk_auto desk;
	g_autofree char *reply_to = NULL;

	begin(&desk);
	desk_write_to(&desk, EVA, DESK_HOME, "list");
	reply_to = desk_find_reply_to(&desk);
	g_assert_cmpint(reply_with(&desk, reply_to, "Lovely.\n"), ==, FRONT_ANSWERED);
	g_assert_cmpint(reply_with(&desk, reply_to, "Lovely!\n"), ==, FRONT_LIMITED);
	g_assert_cmpint(reply_with(&desk, DESK_HOME, "Lovely\n"), ==, FRONT_LIMITED);
	g_assert_cmpint(reply_with(&desk, reply_to, "help\n"), ==, FRONT_ANSWERED);
}

static void
every_verb_of_the_table_is_tried(void)
{
	for (const struct command_row *row = command_rows; row->verb; row++)
		if (row->arity == COMMAND_ARITY_WANTED)
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
