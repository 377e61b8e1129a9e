/*
 * test_sharing_mail.c - two people share and follow a filter by mail.
 */
#include <glib.h>

#include "lib/conversation.h"
#include "service/explain/share_news.h"

static void
set_up(struct conversation *conversation)
{
	conversation_load_templates(conversation);
	conversation_subscribe(conversation, EVA);
	conversation_subscribe(conversation, ADAM);
	store_fixture_list(
	    conversation->fixture, "2026-11-19", "2611.00001", "Agents for all", 3);
	store_fixture_list(
	    conversation->fixture, "2026-11-19", "2611.00002", "Robots at home", 3);
}

static void
report(struct conversation *conversation)
{
	unsigned count;

	g_assert_true(share_news_run(
	    conversation->fixture->store, conversation->options.now, &count, NULL));
}

#define FOLLOWS                                                              \
	"SELECT h.name, f.version, f.is_fork, s.text FROM follow f"          \
	" JOIN subscription s ON s.id = f.subscription_id LEFT JOIN share h" \
	" ON h.id = f.share_id"

/* The filters of Adam. */
#define OWN                                                                    \
	"SELECT s.number, s.name, s.text, c.canonical, s.max_papers, s.note, " \
	"f.version,"                                                           \
	" f.is_fork FROM subscription s JOIN filter c ON c.id = s.filter_id"   \
	" JOIN follow f ON f.subscription_id = s.id"

static const struct step conversations[] = {
    TITLE("a filter is shared, followed, changed, taken, undone and forked"),
    CALL(set_up),
    MAIL(EVA, HOME, "list", "replied", NULL),
    SAVE("eva"),
    MAIL(ADAM, HOME, "list", "replied", NULL),
    SAVE("adam"),
    MAIL(EVA, "$eva", "add agents", "replied", NULL),
    MAIL(EVA, "$eva", "share 1 as agent-news", "replied", NULL),
    HAS("follow agent-news"),
    MAIL(ADAM, "$adam", "follow Agent-News", "replied", NULL),
    HAS("version 1"),
    HAS_NOT("Eva@example.com"),
    ROWS(FOLLOWS, "agent-news|1|0|agents"),
    MAIL(EVA, "$eva", "edit 1 agents OR robots", "replied", NULL),
    HAS_NOT(ADAM),
    ROWS(FOLLOWS, "agent-news|1|0|agents"),
    CALL(report),
    LATER(HOUR),
    MAIL(ADAM, "$adam", "Re: papers", "replied", NULL, .text = "yes 1"),
    HAS("1 papers before, 2 now; 1 added, 0 removed"),
    ROWS(FOLLOWS, "agent-news|2|0|agents OR robots"),
    MAIL(ADAM, "$adam", "Re: papers", "replied", NULL, .text = "undo 1"),
    ROWS(FOLLOWS, "agent-news|1|0|agents"),
    MAIL(ADAM, "$adam", "del 1", "replied", NULL),
    HAS("follow agent-news version"),
    ROWS(FOLLOWS, ""),
    MAIL(ADAM, "$adam", "follow agent-news version=1", "replied", NULL),
    ROWS(FOLLOWS, "agent-news|1|0|agents"),
    MAIL(ADAM, "$adam", "fork agent-news", "replied", NULL),
    ROWS(FOLLOWS, "agent-news|1|1|agents"),
    MAIL(EVA, "$eva", "list", "replied", NULL),
    HAS_NOT(ADAM),

    TITLE("a change that is taken and undone as often as one likes"),
    CALL(set_up),
    MAIL(EVA, HOME, "list", "replied", NULL),
    SAVE("eva"),
    MAIL(ADAM, HOME, "list", "replied", NULL),
    SAVE("adam"),
    MAIL(EVA, "$eva", "add agents", "replied", NULL),
    MAIL(EVA, "$eva", "share 1 as agent-news", "replied", NULL),
    MAIL(ADAM, "$adam", "follow agent-news", "replied", NULL),
    MAIL(ADAM, "$adam", "edit 1 max=7 note=mine agents", "replied", NULL),
    ROWS(OWN, "1|agent-news|agents|agent|7|mine|1|0"),
    MAIL(EVA, "$eva", "edit 1 title:agents", "replied", NULL),
    CALL(report),
    LATER(HOUR),
    MAIL(ADAM, "$adam", "Re: papers", "replied", NULL, .text = "yes 1"),
    ROWS(OWN, "1|agent-news|title:agents|title:agent|7|mine|2|0"),
    LATER(HOUR),
    MAIL(ADAM, "$adam", "Re: papers", "replied", NULL, .text = "undo 1"),
    ROWS(OWN, "1|agent-news|agents|agent|7|mine|1|0"),
    LATER(HOUR),
    MAIL(ADAM, "$adam", "Re: papers", "replied", NULL, .text = "yes 1"),
    ROWS(OWN, "1|agent-news|title:agents|title:agent|7|mine|2|0"),
    LATER(HOUR),
    MAIL(ADAM, "$adam", "Re: papers", "replied", NULL, .text = "undo 1"),
    ROWS(OWN, "1|agent-news|agents|agent|7|mine|1|0"),

    TITLE("a proposal does not follow another share of the same name"),
    CALL(set_up),
    MAIL(EVA, HOME, "list", "replied", NULL),
    SAVE("eva"),
    MAIL(ADAM, HOME, "list", "replied", NULL),
    SAVE("adam"),
    MAIL(EVA, "$eva", "add agents", "replied", NULL),
    MAIL(EVA, "$eva", "share 1 as agent-news", "replied", NULL),
    MAIL(ADAM, "$adam", "follow agent-news", "replied", NULL),
    MAIL(EVA, "$eva", "edit 1 agents OR robots", "replied", NULL),
    CALL(report),
    MAIL(EVA, "$eva", "unshare agent-news", "replied", NULL),
    MAIL(EVA, "$eva", "add pills", "replied", NULL),
    MAIL(EVA, "$eva", "share 2 as agent-news", "replied", NULL),
    MAIL(EVA, "$eva", "edit 2 pills OR potions", "replied", NULL),
    LATER(HOUR),
    MAIL(ADAM, "$adam", "Re: papers", "replied", NULL, .text = "yes 1"),
    HAS("no longer shared"),
    ROWS(OWN, "1|agent-news|agents|agent|-|-|1|0"),
    ROWS("SELECT state FROM proposal", "open"),

    TITLE(
        "a refused version stays refused, and the follower of nobody keeps the filter"),
    CALL(set_up),
    MAIL(EVA, HOME, "list", "replied", NULL),
    SAVE("eva"),
    MAIL(ADAM, HOME, "list", "replied", NULL),
    SAVE("adam"),
    MAIL(EVA, "$eva", "add agents", "replied", NULL),
    MAIL(EVA, "$eva", "share 1 as agent-news", "replied", NULL),
    MAIL(ADAM, "$adam", "follow agent-news", "replied", NULL),
    MAIL(EVA, "$eva", "edit 1 agents OR robots", "replied", NULL),
    CALL(report),
    MAIL(ADAM, "$adam", "Re: papers", "replied", NULL, .text = "no 1"),
    CALL(report),
    ROWS("SELECT state FROM proposal", "refused"),
    ROWS(FOLLOWS, "agent-news|1|0|agents"),
    MAIL(EVA, "$eva", "unsubscribe", "replied", NULL),
    ROWS(FOLLOWS, "-|1|0|agents"),
    {0},
};

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	conversation_add_tests(conversations);
	return g_test_run();
}
