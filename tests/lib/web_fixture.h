/*
 * web_fixture.h - requests of the page to a handler with a store.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "conversation.h"
#include "service/web/web_handler.h"

#define URL "https://papers.example.org"

/* A token that belongs to nobody. */
#define FORGED "aaaaaaaaaaaaaaaaab"

/* All that a request may change, for assert_rows(). */
#define STATE                                                                \
	"SELECT 's', id, address || ' ' || state || ' ' || frequency || ' '" \
	" || max_full || ' ' || coalesce(paused_until, '') || ' '"           \
	" || coalesce(name, '') || ' ' || coalesce(language, '') || ' '"     \
	" || coalesce(feeds_since, 0) FROM subscriber"                       \
	" UNION ALL SELECT 'f', subscriber_id, number || ' '"                \
	" || coalesce(name, '') || ' ' || text || ' '"                       \
	" || coalesce(max_papers, 0) || ' ' || is_block FROM subscription"   \
	" UNION ALL SELECT 'c', id, purpose || ' ' || address || ' '"        \
	" || coalesce(used_at, 0) FROM confirmation"                         \
	" UNION ALL SELECT 'o', id, kind || ' ' || coalesce(recipient, '')"  \
	" || ' ' || state FROM outbox"                                       \
	" UNION ALL SELECT 'a', id, what || ' ' || who || ' '"               \
	" || coalesce(detail, '') FROM audit_log"                            \
	" UNION ALL SELECT 'r', id, kind FROM rate_log"

/**
 * A conversation with the page at URL, and with a subscriber EVA of the filter
 * "diffusion", two papers, and a digest.
 */
struct conversation *web_fixture_new(void);

/** Process a request, which must succeed. @return owned by the caller */
struct web_reply *
web_ask_request(struct conversation *c, const struct web_request *request);

/** The same; names and values of fields follow, NULL-terminated. */
struct web_reply *web_ask(struct conversation *c, enum web_op op, const char *token,
    ...) G_GNUC_NULL_TERMINATED;

/** Get a text. @return borrowed from the reply; "" if there is none */
const char *web_value(const struct web_reply *reply, const char *name);

/** Get a flag. */
bool web_flag(const struct web_reply *reply, const char *name);

/** Format status, page, language and values, but for tokens. @return a new string */
char *web_print(const struct web_reply *reply);

/** Assert that nobody can tell two replies apart. */
void web_assert_same(const struct web_reply *one, const struct web_reply *other);

/** Assert that the values contain a text, as web_print() formats them. */
void web_assert_has(const struct web_reply *reply, const char *part);
void web_assert_has_not(const struct web_reply *reply, const char *part);

/** Get the token for the forms of a page. @return a new string */
char *web_get_csrf(struct conversation *c, enum web_op show, const char *token);

/** Submit a form of a page. */
#define web_submit(c, op, show, token, ...)                                \
	({                                                                 \
		g_autofree char *csrf_ = web_get_csrf(c, show, token);     \
		web_ask(c, op, token, "csrf", csrf_, ##__VA_ARGS__, NULL); \
	})

/** The unsubscribe token of EVA. @return a new string */
char *web_get_leave_token(struct conversation *c);

/** Get the token behind a text in the newest mail. @return a new string */
char *web_get_mailed(struct conversation *c, const char *before);

/** Like TEST, for tests that get a conversation of the page: struct conversation *c. */
#define WEB_TEST(function) TEST_WITH(function, conversation, c, web_fixture_new())
