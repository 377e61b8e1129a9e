/*
 * test_sharing_mail.c - two people share and follow a filter by mail.
 */
#include <glib.h>
#include <string.h>

#include "base/token.h"
#include "lib/conversation.h"
#include "message/subaddress.h"
#include "service/jobs/share_news.h"

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

/* New versions are offered to Adam, in no mail. */
static void
offer(struct conversation *conversation)
{
	unsigned count;

	g_assert_true(share_news_run(
	    conversation->fixture->store, conversation->options.now, &count, NULL));
}

/* The same, and shown by the newest mail to him. */
static void
report(struct conversation *conversation)
{
	g_autofree char *message = conversation_get_message(conversation, ADAM);
	g_autofree char *sql = g_strdup_printf(
	    "UPDATE proposal SET shown_in = '%s' WHERE state = 'open'", message);

	offer(conversation);
	store_fixture_run(conversation->fixture, sql);
}

/* First digests. */
static void
build_digests(struct conversation *conversation)
{
	store_fixture_run(
	    conversation->fixture, "UPDATE subscriber SET next_due_at = 0");
	g_assert_cmpuint(store_fixture_build_digests(
	                     conversation->fixture, conversation->options.now),
	    ==, 2);
}

/* Adam answers his digest, at the address in its Reply-To. */
static void
answer_digest(struct conversation *conversation)
{
	struct store_fixture *fixture = conversation->fixture;
	g_autofree char *stored =
	    store_fixture_text(fixture, "SELECT message_token FROM digest"
	                                " WHERE subscriber_id = 2");
	g_autofree char *id = token_format_with_id(stored, 2);
	g_autofree char *token = token_sign(fixture->key, SUBADDRESS_TOKEN_REPLY,
	    store_fixture_number(
	        fixture, "SELECT id FROM digest WHERE subscriber_id = 2"),
	    store_fixture_number(
	        fixture, "SELECT created_at FROM digest WHERE subscriber_id = 2"));
	bool has_address = *conversation_delimiter;
	g_autofree char *recipient =
	    has_address ? g_strdup_printf("paperboy+r-%s@example.org", token)
	                : g_strdup_printf("<digest.%s@example.org>", id);
	pb_auto(inmail) mail = conversation_new_mail(ADAM, "Re: papers", "Ja bitte");

	if (has_address)
		g_ptr_array_add(
		    mail->in_reply_to, g_strdup_printf("digest.%s@example.org", id));
	g_assert_cmpint(
	    conversation_hand_in(conversation, mail, ADAM, recipient).outcome, ==,
	    HANDLER_REPLIED);
}

#define SENT \
	RUN("UPDATE outbox SET state = 'UNKNOWN', claimed_at = 0, next_try_at = NULL")

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

/* Eva shares her first filter; both have addresses for commands. */
#define SHARED                                                               \
	CALL(set_up), MAIL(EVA, HOME, "list", "replied", NULL), SAVE("eva"), \
	    MAIL(ADAM, HOME, "list", "replied", NULL), SAVE("adam"),         \
	    MAIL(EVA, "$eva", "add agents", "replied", NULL),                \
	    MAIL(EVA, "$eva", "share 1 as agent-news", "replied", NULL)

/* Adam follows it. */
#define FOLLOWED SHARED, MAIL(ADAM, "$adam", "follow agent-news", "replied", NULL)

static void
trust_our_server(struct conversation *conversation)
{
	conversation_set(
	    &conversation->settings->commands_authserv_id, "mx.example.org");
}

static const struct step conversations[] = {
    TITLE("a filter is shared, followed, changed, taken, undone and forked"),
    SHARED,
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

    TITLE("a yes takes what the answered mail has shown, and nothing else"),
    FOLLOWED,
    MAIL(EVA, "$eva", "edit 1 agents OR robots", "replied", NULL),
    CALL(offer),
    ROWS("SELECT count(*) FROM proposal WHERE state = 'open'", "1"),
    MAIL(ADAM, "$adam", "Re: papers", "replied", NULL, .text = "Ja bitte"),
    ROWS(FOLLOWS, "agent-news|1|0|agents"),
    MAIL(ADAM, "$adam", "Re: papers", "replied", NULL, .text = "yes"),
    HAS("no suggestion is open"),
    MAIL(ADAM, "$adam", "Re: papers", "replied", NULL, .text = "yes 1"),
    HAS("there is no suggestion 1"),
    SENT,
    LATER(60),
    CALL(build_digests),
    MAIL(EVA, "$eva", "edit 1 agents OR robots OR home", "replied", NULL),
    LATER(60),
    CALL(offer),
    ROWS("SELECT number, command, state FROM proposal ORDER BY id",
        "1|follow agent-news version=2|open 2|follow agent-news version=3|open"),
    /* An older mail, which showed none of both. */
    MAIL(ADAM, "$adam", "Re: papers", "replied", NULL, .text = "Ja bitte"),
    HAS("Reply with one of: yes 1\r"),
    ROWS(FOLLOWS, "agent-news|1|0|agents"),
    CALL(answer_digest),
    ROWS(FOLLOWS, "agent-news|2|0|agents OR robots"),
    ROWS("SELECT number, state FROM proposal ORDER BY id", "1|applied 2|open"),

    TITLE("a yes without an address or Message-ID of ours means the last mail sent"),
    FOLLOWED,
    MAIL(EVA, "$eva", "edit 1 agents OR robots", "replied", NULL),
    CALL(offer),
    SENT,
    LATER(60),
    CALL(build_digests),
    CALL(trust_our_server),
    /* Not sent yet. */
    MAIL(ADAM, HOME, "yes", "replied", NULL, .authserv = "mx.example.org"),
    HAS("Reply with one of: yes 1\r"),
    RUN("UPDATE digest SET state = 'sent'"),
    MAIL(ADAM, HOME, "yes", "replied", NULL, .authserv = "mx.example.org"),
    ROWS(FOLLOWS, "agent-news|2|0|agents OR robots"),

    TITLE("a change that is taken and undone as often as one likes"),
    FOLLOWED,
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
    FOLLOWED,
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
    FOLLOWED,
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
