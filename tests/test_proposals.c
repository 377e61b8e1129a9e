/*
 * test_proposals.c - proposals are applied, refused and undone by mail.
 */
#include <glib.h>
#include <string.h>

#include "lib/conversation.h"
#include "lib/unit.h"
#include "store/subscriber/proposals.h"
#include "store/subscriber/subscribers.h"

#define FILTERS                                                                      \
	"SELECT group_concat(s.id || '|' || number || '|' || f.canonical || '|' ||"  \
	" text || '|' || ifnull(name, '-') || '|' || ifnull(max_papers, '-') || '|'" \
	" || ifnull(note, '-') || '|' || since_day || '|' || s.created_at || '|' ||" \
	" is_block, '; ') FROM (SELECT * FROM subscription ORDER BY id) s JOIN"      \
	" filter f ON f.id = s.filter_id"

#define STATES "SELECT number, state FROM proposal ORDER BY id"

static void
set_up(struct conversation *c)
{
	static const char *const titles[] = {"Agents with Tool Use",
	    "Tool Use at Scale", "Agents", "A Survey of Weather"};

	conversation_load_templates(c);
	store_fixture_set_now(c->fixture, c->options.now);
	for (size_t i = 0; i < G_N_ELEMENTS(titles); i++) {
		g_autofree char *id = g_strdup_printf("2611.0000%zu", i + 1);

		store_fixture_list(c->fixture, "2026-11-18", id, titles[i], 3);
	}
	conversation_subscribe(c, EVA);
}

/* @param number  of the filter that the command changes, or 0 */
static struct proposal *
offer(struct conversation *c, const char *command, const char *term, int number)
{
	g_autoptr(GPtrArray) own =
	    subscribers_load_subscriptions(c->fixture->store, 1, NULL);
	const struct subscription *filter = NULL;
	const struct proposal wanted = {.subscriber_id = 1,
	    .term = term,
	    .command = command,
	    .gained = 1,
	    .days = 30,
	    .title = "Tool Use at Scale"};
	struct proposal *offered;
	GError *error = NULL;

	for (unsigned i = 0; i < own->len; i++)
		if (((struct subscription *)own->pdata[i])->number == number)
			filter = own->pdata[i];
	g_assert_true(proposals_offer(
	    c->fixture->store, &wanted, filter, c->options.now, &offered, &error));
	g_assert_no_error(error);
	if (offered) {
		g_autofree char *message = conversation_get_message(c, EVA);

		g_assert_true(proposals_save_shown(c->fixture->store, 1,
		    offered->number, message, c->options.now, NULL));
	}
	return offered;
}

static void
offer_edit(struct conversation *c)
{
	g_free(offer(c, "edit 1 agents OR \"tool use\"", "tool use", 1));
}

static void
offer_block(struct conversation *c)
{
	g_free(offer(c, "block survey", "survey", 0));
}

static void
offer_settings(struct conversation *c)
{
	g_free(offer(c, "set max 7 group on", "max", 0));
}

static void
offer_removal(struct conversation *c)
{
	g_free(offer(c, "del 1", "del 1", 1));
}

static void
offer_what_was_refused(struct conversation *c)
{
	g_autofree struct proposal *offered =
	    offer(c, "edit 1 agents OR \"tool use\"", "tool use", 1);

	g_assert_null(offered);
}

#define NEW_READER                                                         \
	CALL(set_up), MAIL(EVA, HOME, "list", "replied", NULL), SAVE("r"), \
	    MAIL(EVA, "$r", "add name=a max=3 note=\"mine\" agents", "replied", NULL)

#define BEFORE "1|1|agent|agents|a|3|mine|2026-11-17|1795165200|0"
static const struct step conversations[] = {
    TITLE("a yes applies the command and undo restores the filter"),
    NEW_READER,
    ROWS(FILTERS, BEFORE),
    LATER(2 * DAY),
    CALL(offer_edit),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "yes"),
    HAS("ok     edit 1 agents OR \"tool use\""),
    HAS("2 papers before, 3 now; 1 added, 0 removed"),
    HAS("undo 1"),
    ROWS("SELECT f.canonical, name, max_papers, note FROM subscription s JOIN filter f"
         " ON f.id = s.filter_id",
        "\"tool use\" OR agent|a|3|mine"),
    ROWS(STATES, "1|applied"),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "yes 1"),
    HAS("is applied already"),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "undo 1"),
    HAS("all is as before"),
    ROWS(FILTERS, BEFORE),
    ROWS(STATES, "1|undone"),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "undo 1"),
    HAS("is not applied"),

    TITLE("ordinary words answer, in any language"),
    NEW_READER,
    CALL(offer_edit),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "Hallo,\n\nJa, gerne!"),
    ROWS(STATES, "1|applied"),
    CALL(offer_block),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "Nein danke\n\n> text"),
    ROWS(STATES, "1|applied 2|refused"),
    CALL(offer_settings),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "ok, thanks"),
    ROWS(STATES, "1|applied 2|refused 3|applied"),

    TITLE("several are numbered and a bare yes is a question"),
    NEW_READER,
    CALL(offer_edit),
    CALL(offer_block),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "ok"),
    HAS("Reply with one of: yes 1, yes 2"),
    ROWS(STATES, "1|open 2|open"),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "ja 2"),
    ROWS(STATES, "1|open 2|applied"),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "yes 7"),
    HAS("there is no suggestion 7"),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "undo 2\nyes 1"),
    ROWS(STATES, "1|applied 2|undone"),
    ROWS("SELECT count(*) FROM subscription", "1"),

    TITLE("a refused term is never offered again"),
    NEW_READER,
    CALL(offer_edit),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "no"),
    HAS("not be suggested again: tool use"),
    CALL(offer_what_was_refused),
    LATER(100 * DAY),
    CALL(offer_what_was_refused),

    TITLE("a changed filter voids its proposals"),
    NEW_READER,
    CALL(offer_edit),
    MAIL(EVA, "$r", "edit 1 agents weather", "replied", NULL),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "yes 1"),
    HAS("nothing was done: the filter was"),
    ROWS(STATES, "1|open"),

    TITLE("a later change prevents the undo"),
    NEW_READER,
    CALL(offer_edit),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "yes 1"),
    MAIL(EVA, "$r", "edit 1 agents weather", "replied", NULL),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "undo 1"),
    HAS("cannot be undone"),
    ROWS("SELECT text FROM subscription", "agents weather"),

    TITLE("removed filters and settings come back"),
    NEW_READER,
    CALL(offer_removal),
    CALL(offer_settings),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "yes 1 2"),
    ROWS("SELECT count(*) FROM subscription", "0"),
    ROWS("SELECT max_full, grouping FROM subscriber", "7|on"),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "undo 2\nundo 1"),
    ROWS(FILTERS, BEFORE),
    ROWS("SELECT max_full, grouping FROM subscriber", "20|off"),

    TITLE("a number in use is not taken away by an undo"),
    NEW_READER,
    CALL(offer_removal),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "yes 1\nadd weather"),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "undo 1"),
    HAS("cannot be undone"),
    ROWS("SELECT text FROM subscription", "weather"),

    TITLE("proposals expire"),
    NEW_READER,
    CALL(offer_edit),
    LATER(29 * DAY),
    MAIL(EVA, HOME, "list", "replied", NULL),
    SAVE("r"),
    LATER(2 * DAY),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "yes"),
    HAS("no suggestion is open"),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "yes 1"),
    HAS("older than 30 days"),
    /* The number is not reused yet. */
    CALL(offer_block),
    ROWS(STATES, "1|open 2|open"),

    TITLE("an unproven yes waits for a confirmation"),
    NEW_READER,
    CALL(offer_edit),
    RUN("UPDATE outbox SET state = 'UNKNOWN', claimed_at = 0, next_try_at = NULL"),
    MAIL(EVA, HOME, "Re: papers", "confirmation requested", NULL, .text = "yes"),
    SAVE("c"),
    ROWS(STATES, "1|open"),
    MAIL(EVA, "$c", "Re: papers", "replied", NULL, .text = "yes"),
    ROWS(STATES, "1|applied"),
    MAIL(EVA, HOME, "Re: papers", "confirmation requested", NULL, .text = "undo 1"),
    ROWS(STATES, "1|applied"),

    TITLE("a bare yes goes to the newer one of suggestion and proposal"),
    NEW_READER,
    CALL(offer_edit),
    LATER(60),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "lsit"),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "yes"),
    HAS("> list"),
    ROWS(STATES, "1|open"),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "lsit"),
    LATER(60),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "list"),
    /* The suggestion is in the mail before. */
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "yes"),
    HAS("Reply with one of: yes 1\r"),
    CALL(offer_edit),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "yes"),
    ROWS(STATES, "1|applied"),

    TITLE("other requests are not answers"),
    NEW_READER,
    CALL(offer_edit),
    MAIL(EVA, "$r", "Re: papers", "confirmation requested", NULL,
        .text = "no more papers about weather please, I said"),
    ROWS(STATES, "1|open"),
    MAIL(EVA, "$r", "list", "replied", NULL, .text = "no thanks"),
    HAS("> list"),
    ROWS(STATES, "1|open"),
    MAIL(EVA, "$r", "Re: papers", "replied", NULL, .text = "stop"),
    ROWS("SELECT state FROM subscriber", "gone"),
    {.kind = STEP_END},
};

TEST(an_open_proposal_keeps_its_number)
{
	pb_auto(conversation) c = conversation_new();
	g_autofree struct proposal *first = NULL, *again = NULL, *other = NULL;

	set_up(c);
	first = offer(c, "block survey", "survey", 0);
	c->options.now += DAY;
	again = offer(c, "block survey", "survey", 0);
	other = offer(c, "block weather", "weather", 0);
	g_assert_cmpuint(first->number, ==, 1);
	g_assert_cmpuint(again->number, ==, 1);
	g_assert_cmpint(again->made_at, ==, c->options.now);
	g_assert_cmpuint(other->number, ==, 2);
}

TEST(open_proposals_are_limited)
{
	pb_auto(conversation) c = conversation_new();

	set_up(c);
	for (int i = 0; i < 2 * PROPOSALS_OPEN_MAX; i++) {
		g_autofree char *command = g_strdup_printf("block word%d", i);

		c->options.now++;
		g_free(offer(c, command, command, 0));
	}
	g_assert_cmpint(
	    store_fixture_number(c->fixture, "SELECT count(*) FROM proposal"), ==,
	    PROPOSALS_OPEN_MAX);
	assert_rows(c->fixture, "SELECT max(number) FROM proposal", "100");
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_set_nonfatal_assertions();
	conversation_add_tests(conversations);
	conversation_add_functions(unit_tests);
	return g_test_run();
}
