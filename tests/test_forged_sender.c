/*
 * test_forged_sender.c - messages with a forged From, with the real commands.
 *
 * No verb changes anything but `unsubscribe`, and replies go to the forged address
 * only.
 */
#include <string.h>

#include "base/token.h"
#include "lib/conversation.h"
#include "lib/unit.h"
#include "service/command/command_private.h"
#include "store/mail/digests.h"

/* Eva shares her filter and follows one of Adam's; a block is proposed to her. */
static const char shares_and_proposals[] =
    "INSERT INTO share SELECT s.id, CASE address WHEN '" EVA
    "' THEN 'hers' ELSE 'robots'"
    " END, s.id, 1, 0 FROM subscription s JOIN subscriber p ON p.id = subscriber_id"
    " WHERE is_block = 0;"
    "INSERT INTO share_version SELECT share.id, 1, text, 0 FROM share"
    " JOIN subscription s ON s.id = subscription_id;"
    "INSERT INTO follow SELECT s.id, subscriber_id, (SELECT id FROM share WHERE name ="
    " 'robots'), 1, 1, NULL FROM subscription s JOIN subscriber p ON p.id ="
    " subscriber_id WHERE address = '" EVA "' AND is_block = 0;"
    "INSERT INTO proposal (subscriber_id, number, subscription_id, filter, term,"
    " command, gained, lost, days, title, shown_in, made_at, expires_at, state)"
    " SELECT id, 1, 0, '', 'images', 'block images', 0, 1, 30, '', 'letter.made-up', 0,"
    " 9000000000, 'open' FROM subscriber WHERE address = '" EVA "'";

/* With the real messages, subscribers and papers. */
static struct conversation *
begin(void)
{
	struct conversation *c = conversation_new();
	int64_t since = c->options.now - 60;

	c->settings->subscribe_invite = true;
	conversation_load_templates(c);
	store_fixture_list(c->fixture, "2026-11-19", "2611.00001", "Diffusion", 3);
	store_fixture_subscribe(c->fixture, EVA, "UTC", "diffusion", since);
	store_fixture_add_block(c->fixture, EVA, "survey", since);
	store_fixture_subscribe(c->fixture, ADAM, "UTC", "robots", since);
	store_fixture_build_digests(c->fixture, since);
	store_fixture_run(c->fixture, shares_and_proposals);
	return c;
}

/* All data of subscribers but pending confirmations. */
static char *
get_state(struct conversation *c)
{
	static const char *const queries[] = {
	    "SELECT id, address, name, state, frequency, weekdays, minute, zone,"
	    " max_full, next_due_at, paused_until, consent_text FROM subscriber",
	    "SELECT id, subscriber_id, number, filter_id, name, text, since_day,"
	    " is_block FROM subscription",
	    "SELECT id, subscriber_id, slot, state FROM digest",
	    "SELECT subscriber_id, paper_seq, is_like, at FROM feedback",
	    "SELECT subscriber_id, hex(words) FROM taste",
	    "SELECT id, state, ended_at FROM proposal",
	    "SELECT id, name, version FROM share",
	    "SELECT subscription_id, share_id, version, is_fork, news FROM follow",
	    "SELECT hash, reason FROM suppression",
	};
	GString *state = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(queries); i++) {
		g_autofree char *sql = g_strdup_printf("%s ORDER BY 1, 2", queries[i]);
		g_autofree char *rows = store_fixture_text(c->fixture, sql);

		g_string_append_printf(state, "%s\n", rows);
	}
	return g_string_free(state, FALSE);
}

/* Commands with arguments; the other verbs need none. */
static const char *const lines[] = {"confirm abcdefghijklmnopqrstuvwxyz",
    "undo abcdefghijklmnopqrstuvwxyz", "add name=spam lottery", "del 1",
    "edit 1 lottery", "block diffusion", "unblock 2", "set at 23:59", "pause 14d",
    "test diffusion", "search diffusion", "why 2611.00001", "address thief@example.net",
    "forget me", "yes 1", "no 1", "like 2611.00001", "hide 2611.00001",
    "watch 2611.00001", "unwatch 2611.00001", "taste forget", "more 2611.00001",
    "share 1 as mine", "unshare hers", "follow robots", "unfollow robots",
    "fork robots", "invite friend@example.com"};

static const char *
find_line(const char *verb)
{
	size_t length = strlen(verb);

	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
		if (g_str_has_prefix(lines[i], verb) && lines[i][length] == ' ')
			return lines[i];
	return verb;
}

/* Mail of a forger who has seen a digest or a reply, and the results of our server. */
static const struct forgery {
	const char *server; /* whose results are believed */
	/* In-Reply-To: "%s" is the Message-ID's token of the digest, or the token of a
	 * reply, which is that of its Reply-To, too. */
	const char *parent;
	const char *method, *result, *properties;
} forgeries[] = {
    {"", NULL, "dmarc", "pass", "header.from=example.com"},
    {"mx.example.org", NULL, "dkim", "pass", "header.d=example.com"},
    {"mx.example.org", "digest.%s", "dmarc", "none", "header.from=example.com"},
    {"", "digest.%s", "dkim", "pass", "header.d=example.com"},
    {"mx.example.org", "digest.%s", "dkim", "pass", "header.d=mail.example.com"},
    {"mx.example.org", "digest.%s", "spf", "pass", "smtp.mailfrom=a@example.net"},
    {"mx.example.org", "digest.%s", "dkim", "fail", "header.d=example.com"},
    {"mx.example.org", "letter.id.%s", "dmarc", "none", "header.from=example.com"},
    {"mx.example.org", "reply", "dmarc", "fail", "header.from=example.com"},
};

static void
forge(struct conversation *c, const struct forgery *forgery, const char *line)
{
	pb_auto(inmail) mail = conversation_new_mail(EVA, line, "");
	g_autofree char *stored = store_fixture_text(
	    c->fixture, "SELECT message_token FROM digest WHERE subscriber_id = 1");
	g_autofree char *digest = token_format_with_id(stored, 1);
	int64_t made_at = store_fixture_number(
	    c->fixture, "SELECT created_at FROM digest WHERE subscriber_id = 1");
	g_autofree char *token =
	    token_sign(c->fixture->key, SUBADDRESS_TOKEN_REPLY, 1, made_at);
	const char *parent = forgery->parent ? forgery->parent : "";
	g_autofree char *reply = g_strdup_printf("paperboy+r-%s@example.org", token);

	conversation_set(&c->settings->commands_authserv_id, forgery->server);
	conversation_add_result(mail, *forgery->server ? forgery->server : "mx.net",
	    forgery->method, forgery->result, forgery->properties);
	if (strchr(parent, '%')) {
		g_auto(GStrv) parts = g_strsplit(parent, "%s", 2);

		g_ptr_array_add(mail->in_reply_to,
		    g_strconcat(parts[0], *parent == 'd' ? digest : token,
		        "@example.org", NULL));
	}
	g_assert_cmpint(conversation_hand_in(
	                    c, mail, EVA, strcmp(parent, "reply") == 0 ? reply : HOME)
	                    .outcome,
	    !=, HANDLER_LIMITED);
}

/* Forge a mail; afterwards all is as before it, unless Eva was unsubscribed. */
static void
check_forgery(struct conversation *c, const struct forgery *forgery, const char *verb)
{
	g_autofree char *before = get_state(c);
	g_autofree char *after = NULL;
	const char *line = find_line(verb);

	g_test_message(
	    "%s, %s %s=%s", line, forgery->parent, forgery->method, forgery->result);
	forge(c, forgery, line);
	after = get_state(c);
	if (strcmp(verb, "unsubscribe") == 0)
		assert_rows(c->fixture,
		    "SELECT address, state FROM subscriber ORDER BY id",
		    "Eva@example.com|gone adam@example.com|active");
	else
		g_assert_cmpstr(after, ==, before);
	/* Only the subscriber and the new address get mail. */
	assert_rows(c->fixture,
	    "SELECT count(*) FROM outbox WHERE kind <> 'digest' AND recipient"
	    " NOT IN ('Eva@example.com', 'thief@example.net')",
	    "0");
	assert_rows(c->fixture,
	    "SELECT count(*) FROM outbox WHERE recipient = 'thief@example.net'",
	    strcmp(verb, "address") == 0 ? "1" : "0");
	store_fixture_run(c->fixture,
	    "DELETE FROM outbox WHERE kind <> 'digest'; DELETE FROM confirmation;"
	    "DELETE FROM rate_log");
}

TEST(forged_commands_change_nothing_but_unsubscribe)
{
	struct conversation *c = begin();

	for (const struct command_row *row = command_rows; row->verb; row++) {
		for (size_t i = 0; i < G_N_ELEMENTS(forgeries); i++) {
			check_forgery(c, &forgeries[i], row->verb);
			if (strcmp(row->verb, "unsubscribe") != 0)
				continue;
			conversation_free(c);
			c = begin();
		}
	}
	conversation_free(c);
}

#define STATE "SELECT state FROM subscriber WHERE id = 1"

/* A change of Eva's address waits for $new, in the only mail. */
#define CHANGE_ADDRESS                                                                \
	MAIL(EVA, HOME, "address thief@example.net", "confirmation requested", NULL), \
	    RUN("DELETE FROM outbox WHERE recipient <> 'thief@example.net'"),         \
	    SAVE("new")

static const struct step new_address_learns_nothing[] = {
    CHANGE_ADDRESS,
    HAS("c-"),
    HAS_NOT("va@example.com"),
    HAS_NOT("diffusion"),
    {.kind = STEP_END},
};

static const struct step suggestion_is_accepted[] = {
    MAIL(EVA, HOME, "list", "replied", NULL),
    SAVE("list"),
    MAIL(EVA, "$list", "Re: Your message to paperboy@example.org", "replied", NULL,
        .text = "puase 14d\n"),
    HAS("reply with the one word yes"),
    HAS("\r\npause 14d\r\n"),
    ROWS(STATE, "active"),
    SAVE("suggestion"),
    /* Consent of another sender does not count. */
    MAIL(ADAM, "$suggestion", "yes", "replied", NULL),
    ROWS(STATE, "active"),
    MAIL(EVA, "$suggestion", "Re: Your message to paperboy@example.org", "replied",
        NULL, .text = "Yes.\n"),
    ROWS(STATE, "paused"),
    /* The token was used. */
    MAIL(EVA, "$suggestion", "Re: Your message to paperboy@example.org", "replied",
        NULL, .text = "resume\n"),
    MAIL(EVA, "$suggestion", "Re: Your message to paperboy@example.org", "replied",
        NULL, .text = "yes\n"),
    ROWS(STATE, "active"),
    {.kind = STEP_END},
};

static const struct step every_mail_is_answered[] = {
    MAIL(EVA, HOME, "list", "replied", NULL),
    SAVE("list"),
    MAIL(EVA, "$list", "Re: Your message to paperboy@example.org", "replied", NULL,
        .text = "It rains.\n"),
    MAIL(EVA, "$list", "Re: Your message to paperboy@example.org", "replied", NULL,
        .text = "It rains!\n"),
    MAIL(EVA, HOME, "Re: Your message to paperboy@example.org", "replied", NULL,
        .text = "It rains\n"),
    {.kind = STEP_END},
};

#define FORGED_TEST(function) TEST_WITH(function, conversation, c, begin())

FORGED_TEST(new_address_learns_nothing_about_the_subscriber)
{
	conversation_play(c, new_address_learns_nothing);
}

FORGED_TEST(one_confirmation_does_not_change_the_address)
{
	static const struct step confirm[] = {
	    MAIL("thief@example.net", "$new", "ok", "replied", NULL, .times = 3),
	    {.kind = STEP_END}};
	g_autofree char *before = NULL;
	g_autofree char *after = NULL;

	conversation_play(c, new_address_learns_nothing);
	before = get_state(c);
	conversation_play(c, confirm);
	after = get_state(c);
	g_assert_cmpstr(after, ==, before);
}

FORGED_TEST(yes_to_a_reply_accepts_its_suggestion)
{
	conversation_play(c, suggestion_is_accepted);
}

FORGED_TEST(mail_that_is_not_understood_is_answered_each_time)
{
	conversation_play(c, every_mail_is_answered);
}

/* The recipient of the reply may be a victim. */
TEST(long_message_gets_a_short_reply)
{
	static const char *const starts[] = {"", "add ", "add title:", "list\n", "\n"};

	for (size_t i = 0; i < G_N_ELEMENTS(starts); i++) {
		pb_auto(conversation) c = begin();
		g_autoptr(GString) text = g_string_new("subscribe\n");
		pb_auto(inmail) mail = NULL;
		int64_t size;

		while (text->len < 9000)
			g_string_append_printf(
			    text, "%swords of an unknown sender\n", starts[i]);
		mail = conversation_new_mail(
		    i % 2 ? "victim@example.net" : EVA, "", text->str);
		conversation_hand_in(c, mail, EVA, HOME);
		size = store_fixture_number(c->fixture,
		    "SELECT max(length(message)) FROM outbox WHERE kind <> 'digest'");
		g_assert_cmpint(size, >, 0);
		g_assert_cmpint(size, <, 8192);
	}
}

TEST(every_verb_is_tested)
{
	for (const struct command_row *row = command_rows; row->verb; row++)
		if (row->arity == COMMAND_ARITY_REQUIRED)
			g_assert_cmpstr(find_line(row->verb), !=, row->verb);
}

/*
 * Find the mailto link of a digest whose subject ends with a text.
 *
 * @return its recipient; without subaddresses the one that has its tag
 */
static char *
find_link(const char *html, const char *subject)
{
	g_autofree char *escaped = g_uri_escape_string(subject, NULL, FALSE);
	g_autofree char *end = g_strconcat(escaped, "\"", NULL);
	const char *found = strstr(html, end), *start = found;
	g_autofree char *link = NULL;
	g_autofree char *tag = NULL;
	g_auto(GStrv) parts = NULL;

	g_assert_nonnull(found);
	while (!g_str_has_prefix(start, "href=\"mailto:"))
		start--;
	start += strlen("href=\"mailto:");
	link = g_uri_unescape_segment(start, found, NULL);
	parts = g_strsplit(link, "?subject=", 2);
	if (*parts[1] != '[')
		return g_strdup(parts[0]);
	g_assert_cmpstr(parts[0], ==, HOME);
	tag = g_strndup(parts[1] + 1, strcspn(parts[1] + 1, "]"));
	g_assert_cmpstr(parts[1] + strlen(tag) + 2, ==, " ");
	return g_strdup_printf("paperboy+%s@example.org", tag);
}

static char *
format_digest(struct conversation *c)
{
	pb_auto(digest) digest = digests_load(c->fixture->store, 1, NULL);
	char *html;

	g_assert_nonnull(digest);
	html = renderer_format_html(c->renderer, digest, NULL);
	g_assert_nonnull(html);
	return html;
}

/* Sender and text do not matter: the digest may have been forwarded. */
TEST(links_of_a_digest_reduce_only)
{
	static const char state[] =
	    "SELECT state, paused_until, frequency, max_full FROM subscriber"
	    " WHERE id = 1";
	static const struct {
		const char *subject;
		const char *state;
		const char *repeated; /* the second time */
	} rows[] = {
	    {"pause", "paused|2026-12-04|daily|20", "paused|2026-12-04|daily|20"},
	    {"weekly", "active|-|weekly|20", "active|-|weekly|20"},
	    {"fewer", "active|-|daily|10", "active|-|daily|5"},
	    {"unsubscribe", "gone|-|daily|20", "gone|-|daily|20"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(conversation) c = begin();
		g_autofree char *html = format_digest(c);
		g_autofree char *address = find_link(html, rows[i].subject);
		int64_t before = conversation_count_mails(c);

		conversation_send(c, ADAM, address, "add everything");
		assert_rows(c->fixture, state, rows[i].state);
		g_assert_cmpint(conversation_count_mails(c), ==, before + 1);
		assert_rows(c->fixture,
		    "SELECT recipient FROM outbox ORDER BY id DESC LIMIT 1", EVA);
		conversation_send(c, EVA, address, rows[i].subject);
		assert_rows(c->fixture, state, rows[i].repeated);
		if (i != 2)
			continue;
		for (int again = 0; again < 3; again++)
			conversation_send(c, EVA, address, "");
		assert_rows(c->fixture, state, "active|-|daily|3");
	}
}

/* A digest says how to edit its filters by a mail, which has no token. */
FORGED_TEST(edit_without_a_token_is_confirmed)
{
	static const char filter[] =
	    "SELECT text FROM subscription WHERE subscriber_id = 1 AND number = 1";
	static const struct step save[] = {SAVE("reply"), {.kind = STEP_END}};

	g_assert_cmpint(conversation_send(c, EVA, HOME, "edit 1 diffusion OR mamba"),
	    ==, HANDLER_CONFIRMING);
	assert_rows(c->fixture, filter, "diffusion");
	conversation_play(c, save);
	g_assert_cmpint(
	    conversation_send(c, EVA, "$reply", "yes"), ==, HANDLER_REPLIED);
	assert_rows(c->fixture, filter, "diffusion OR mamba");
}

TEST(invalid_links_change_nothing)
{
	static const char *const words[] = {"p", "w", "f"};

	for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
		pb_auto(conversation) c = begin();
		g_autofree char *before = get_state(c);
		g_autofree char *after = NULL;
		g_autofree char *address = g_strdup_printf(
		    "paperboy+%s-abcdefghijklmnopqr@example.org", words[i]);
		int64_t mails = conversation_count_mails(c);

		g_assert_cmpint(
		    conversation_send(c, EVA, address, "pause"), ==, HANDLER_IGNORED);
		after = get_state(c);
		g_assert_cmpstr(after, ==, before);
		g_assert_cmpint(conversation_count_mails(c), ==, mails);
	}
}

/* Tokens of Eva's, and where each belongs. */
struct token {
	char *token;
	const char *place; /* "c", "r", "u" (also p, w, f), "b" */
};

#define TOKENS 5

static char *
take_token(const char *address)
{
	const char *at = strchr(address, '+') + strlen("+c-");

	return g_strndup(at, strcspn(at, "@"));
}

static void
find_tokens(struct conversation *c, struct token *tokens)
{
	static const struct step talk[] = {MAIL(EVA, HOME, "list", "replied", NULL),
	    SAVE("reply"), MAIL(EVA, HOME, "del 1", "confirmation requested", NULL),
	    SAVE("confirm"), {.kind = STEP_END}};
	GBytes *key = c->fixture->key;
	g_autofree char *leave = conversation_format_leave(c, key, 1);
	pb_auto(digest) digest = digests_load(c->fixture->store, 1, NULL);

	conversation_play(c, talk);
	tokens[0] =
	    (struct token){take_token(g_hash_table_lookup(c->saved, "confirm")), "c"};
	tokens[1] =
	    (struct token){take_token(g_hash_table_lookup(c->saved, "reply")), "r"};
	tokens[2] = (struct token){take_token(leave), "upwf"};
	tokens[3] = (struct token){
	    token_sign(key, SUBADDRESS_TOKEN_REPLY, 1, digest->created_at), "r"};
	tokens[4] = (struct token){
	    token_sign(key, SUBADDRESS_TOKEN_BOUNCE, 1, digest->created_at), "b"};
}

/* A report that the message of the token could not be delivered. */
static void
send_report(struct conversation *c, const char *address)
{
	pb_auto(inmail) mail = conversation_new_mail("mailer-daemon@x.example", "", "");
	GPtrArray *fields;

	mail->report = INMAIL_REPORT_DELIVERY;
	inmail_add_group(mail);
	fields = inmail_add_group(mail);
	g_ptr_array_add(fields, inmail_field_new("Action", "failed"));
	g_ptr_array_add(fields, inmail_field_new("Status", "5.1.1"));
	conversation_hand_in(c, mail, "", address);
}

/* Of servers that do not send reports; a person's mail is no bounce. */
TEST(bounce_without_a_report_is_known_by_its_text)
{
	static const struct {
		const char *from, *sender;
		const char *bounces;
	} rows[] = {
	    {"mailer-daemon@x.example", "", "1"},
	    {"mailer-daemon@x.example", "mailer-daemon@x.example", "1"},
	    {EVA, EVA, "0"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(conversation) c = begin();
		pb_auto(digest) digest = digests_load(c->fixture->store, 1, NULL);
		g_autofree char *token = token_sign(
		    c->fixture->key, SUBADDRESS_TOKEN_BOUNCE, 1, digest->created_at);
		g_autofree char *text = g_strdup_printf(
		    "<" EVA ">: host mail.example.com said: 550 5.1.1 User unknown\n\n"
		    "--- Below is a copy of the message.\n\n"
		    "Return-Path: <" HOME ">\n" SUBADDRESS_BOUNCE_FIELD ": %s\n",
		    token);
		pb_auto(inmail) mail =
		    conversation_new_mail(rows[i].from, "failure notice", text);

		conversation_hand_in(c, mail, rows[i].sender, HOME);
		assert_rows(c->fixture, "SELECT count(*) FROM bounce", rows[i].bounces);
	}
}

TEST(token_of_one_purpose_is_not_valid_for_another)
{
	static const char places[] = "cruwpfb";

	for (size_t i = 0; i < TOKENS * strlen(places); i++) {
		const char place[] = {places[i % strlen(places)], '\0'};
		pb_auto(conversation) c = begin();
		struct token tokens[TOKENS];
		const struct token *token = &tokens[i / strlen(places)];
		g_autofree char *before = NULL;
		g_autofree char *after = NULL;
		g_autofree char *address = NULL;
		bool is_right;

		find_tokens(c, tokens);
		before = get_state(c);
		address =
		    g_strdup_printf("paperboy+%s-%s@example.org", place, token->token);
		is_right = strstr(token->place, place);
		g_test_message("%s", address);
		if (*place == 'b')
			send_report(c, address);
		else
			/* Eva's own mail unsubscribes her without any token. */
			conversation_send(c, strchr("cr", *place) ? EVA : ADAM, address,
			    strchr("cr", *place) ? "set max 7" : "");
		after = get_state(c);
		if (*place == 'b')
			assert_rows(c->fixture, "SELECT count(*) FROM bounce",
			    is_right ? "1" : "0");
		else if (*place != 'c')
			g_assert_true(
			    is_right == (strcmp(before, after) != 0) || *place == 'u');
		assert_rows(c->fixture,
		    "SELECT count(*) FROM subscriber WHERE id = 1 AND state <> "
		    "'active'",
		    is_right && strchr("up", *place) ? "1" : "0");
		assert_rows(c->fixture,
		    "SELECT count(*) FROM subscription WHERE subscriber_id = 1",
		    is_right && *place == 'u' ? "0" : "2");
		for (size_t j = 0; j < TOKENS; j++)
			g_free(tokens[j].token);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	conversation_add_functions(unit_tests);
	return g_test_run();
}
