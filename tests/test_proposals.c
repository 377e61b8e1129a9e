/*
 * test_proposals.c - proposals are applied, refused and undone by mail.
 */
#include "lib/conversation.h"
#include "lib/unit.h"
#include "store/subscriber/proposals.h"
#include "store/subscriber/subscribers.h"

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

static const struct conversation_call calls[] = {
    {"set_up", set_up},
    {"offer_edit", offer_edit},
    {"offer_block", offer_block},
    {"offer_settings", offer_settings},
    {"offer_what_was_refused", offer_what_was_refused},
    {"offer_removal", offer_removal},
    {NULL, NULL},
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
	conversation_add_script("proposals", calls);
	conversation_add_functions(unit_tests);
	return g_test_run();
}
