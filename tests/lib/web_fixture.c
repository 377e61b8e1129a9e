/*
 * web_fixture.c - requests of the page to a handler with a store.
 */
#include "web_fixture.h"

#include <string.h>

#include "base/token.h"
#include "message/subaddress.h"

struct conversation *
web_fixture_new(void)
{
	struct conversation *c = conversation_new();
	int64_t since = c->options.now - 60;

	conversation_set(&c->settings->web_url, URL);
	conversation_load_templates(c);
	store_fixture_list(c->fixture, "2026-11-19", "2611.00001", "Diffusion", 3);
	store_fixture_list(c->fixture, "2026-11-18", "2611.00002", "Old diffusion", 3);
	store_fixture_subscribe(c->fixture, EVA, "UTC", "diffusion", since);
	store_fixture_build_digests(c->fixture, since);
	return c;
}

/* paperboy-web accepts it. */
static void
assert_valid(const struct web_reply *reply)
{
	GError *error = NULL;
	g_autoptr(GBytes) frame = web_reply_write(reply);
	g_autoptr(GBytes) body =
	    g_bytes_new_from_bytes(frame, 4, g_bytes_get_size(frame) - 4);
	pb_auto(web_reply) parsed = web_reply_parse(body, &error);

	g_assert_no_error(error);
	g_assert_true(g_variant_equal(parsed->values, reply->values));
}

struct web_reply *
web_ask_request(struct conversation *c, const struct web_request *request)
{
	const struct web_handler handler = {
	    .store = c->fixture->store, .options = c->options};
	struct handler_report report;
	GError *error = NULL;
	struct web_reply *reply = web_handler_run(&handler, request, &report, &error);

	g_assert_no_error(error);
	store_fixture_assert_idle(c->fixture);
	assert_valid(reply);
	return reply;
}

struct web_reply *
web_ask(struct conversation *c, enum web_op op, const char *token, ...)
{
	pb_auto(web_request) request = web_request_new(op);
	const char *name;
	va_list fields;

	g_free(request->token);
	request->token = g_strdup(token);
	va_start(fields, token);
	while ((name = va_arg(fields, const char *)))
		g_hash_table_insert(request->fields, g_strdup(name),
		    g_strdup(va_arg(fields, const char *)));
	va_end(fields);
	return web_ask_request(c, request);
}

const char *
web_value(const struct web_reply *reply, const char *name)
{
	const char *text = "";

	g_variant_lookup(reply->values, name, "&s", &text);
	return text;
}

bool
web_flag(const struct web_reply *reply, const char *name)
{
	gboolean is_set = FALSE;

	g_variant_lookup(reply->values, name, "b", &is_set);
	return is_set;
}

char *
web_print(const struct web_reply *reply)
{
	GVariantDict dict;
	g_autoptr(GVariant) rest = NULL;
	g_autofree char *text = NULL;

	g_variant_dict_init(&dict, reply->values);
	g_variant_dict_remove(&dict, "csrf");
	g_variant_dict_remove(&dict, "undo");
	rest = g_variant_ref_sink(g_variant_dict_end(&dict));
	text = g_variant_print(rest, FALSE);
	return g_strdup_printf(
	    "%d %d %s %s", (int)reply->status, (int)reply->page, reply->language, text);
}

void
web_assert_same(const struct web_reply *one, const struct web_reply *other)
{
	g_autofree char *text = web_print(one);
	g_autofree char *expected = web_print(other);

	g_assert_cmpstr(text, ==, expected);
	g_assert_cmpuint(
	    strlen(web_value(one, "undo")), ==, strlen(web_value(other, "undo")));
}

void
web_assert_has(const struct web_reply *reply, const char *part)
{
	g_autofree char *text = web_print(reply);

	if (!strstr(text, part))
		g_error("%s is not in %s", part, text);
}

void
web_assert_has_not(const struct web_reply *reply, const char *part)
{
	g_autofree char *text = web_print(reply);

	if (strstr(text, part))
		g_error("%s is in %s", part, text);
}

char *
web_get_csrf(struct conversation *c, enum web_op show, const char *token)
{
	pb_auto(web_reply) reply = web_ask(c, show, token, NULL);

	return g_strdup(web_value(reply, "csrf"));
}

char *
web_get_leave_token(struct conversation *c)
{
	int64_t since = store_fixture_number(
	    c->fixture, "SELECT created_at FROM subscriber WHERE id = 1");

	return token_sign(c->fixture->key, SUBADDRESS_TOKEN_LEAVE, 1, since);
}

char *
web_get_mailed(struct conversation *c, const char *before)
{
	g_autofree char *mail = conversation_get_mail(c);
	const char *found = strstr(mail, before);

	if (!found)
		g_error("%s is not in %s", before, mail);
	found += strlen(before);
	return g_strndup(found, strspn(found, "abcdefghijklmnopqrstuvwxyz234567"));
}
