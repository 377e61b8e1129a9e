/*
 * fuzz_web_request.c - requests on the socket of the page: as bytes, and with valid
 * tokens and forms against a store.
 */
#include <stdlib.h>
#include <string.h>

#include "../tests/lib/web_fixture.h"
#include "fuzz.h"
#include "message/subaddress.h"
#include "service/delivery/mail_token.h"
#include "service/web/web_private.h"
#include "store/core/transaction.h"
#include "store/subscriber/subscribers.h"

enum token {
	TOKEN_NONE,
	TOKEN_LEAVE,
	TOKEN_PREFERENCES,
	TOKEN_CONFIRM,
	TOKEN_VIEW,
	TOKEN_FEED,
	TOKEN_TYPED,
	TOKENS
};

static struct {
	struct conversation *c;
	char *tokens[TOKENS];
	uint64_t count;
} world;

/* Never the same: the fixture's numbers would be used again after 256. */
static void
fill(void *data, void *bytes, size_t size)
{
	uint64_t *count = data;

	++*count;
	memset(bytes, 0, size);
	memcpy(bytes, count, MIN(size, sizeof(*count)));
}

static void
clear_world(void)
{
	for (int i = 0; i < TOKENS; i++)
		g_free(world.tokens[i]);
	conversation_free(world.c);
}

static void
make_tokens(struct conversation *c)
{
	GBytes *key = c->fixture->key;
	int64_t now = c->options.now;
	pb_auto(subscriber) eva = NULL;

	store_fixture_run(
	    c->fixture, "UPDATE subscriber SET feeds_since = 7, language = 'de'");
	g_assert(subscribers_find_id(c->fixture->store, 1, &eva, NULL));
	world.tokens[TOKEN_NONE] = g_strdup("");
	world.tokens[TOKEN_TYPED] = g_strdup("");
	world.tokens[TOKEN_LEAVE] = web_get_leave_token(c);
	world.tokens[TOKEN_PREFERENCES] = mail_token_format_preferences(key, eva, now);
	world.tokens[TOKEN_FEED] = web_token_format_feed(key, 1, 7);
	world.tokens[TOKEN_VIEW] = token_sign(key, SUBADDRESS_TOKEN_VIEW, 1,
	    store_fixture_number(c->fixture, "SELECT created_at FROM digest"));
	web_reply_free(web_submit(
	    c, WEB_OP_SUBSCRIBE, WEB_OP_HOME, "", "address", ADAM, "filter", "robots"));
	world.tokens[TOKEN_CONFIRM] = web_get_mailed(c, URL "/c/");
}

static void
make_world(void)
{
	if (world.c)
		return;
	world.c = web_fixture_new();
	world.c->settings->web_search = true;
	world.c->random = (struct random_source){fill, &world.count};
	make_tokens(world.c);
	atexit(clear_world);
}

/* The page whose forms request an operation. */
static enum web_op
get_form(enum web_op op)
{
	return op == WEB_OP_PREFERENCES ? WEB_OP_PREFERENCES_SHOW
	       : op == WEB_OP_CONFIRM   ? WEB_OP_CONFIRM_SHOW
	       : op == WEB_OP_LEAVE     ? WEB_OP_LEAVE_SHOW
	                                : WEB_OP_HOME;
}

static void
add_field(struct web_request *request, const char *name, char *value)
{
	g_hash_table_insert(request->fields, g_strdup(name), value);
}

/* The rest of the input are names and values. */
static struct web_request *
build_request(struct fuzz_input *input)
{
	struct web_request *request = web_request_new(fuzz_take_byte(input) % WEB_OPS);
	unsigned flags = fuzz_take_byte(input);

	g_free(request->token);
	request->token = g_strdup(world.tokens[flags % TOKENS]);
	if (flags % TOKENS == TOKEN_TYPED) {
		g_free(request->token);
		request->token = fuzz_take_text(input);
	}
	if (flags & 0x40) {
		g_free(request->language);
		request->language = g_strdup("de");
	}
	while (input->left && g_hash_table_size(request->fields) < 30) {
		g_autofree char *name = fuzz_take_text(input);
		g_autofree char *value = fuzz_take_text(input);

		if (g_utf8_validate(name, -1, NULL))
			add_field(request, name, g_utf8_make_valid(value, -1));
	}
	if (!(flags & 0x80) && g_utf8_validate(request->token, -1, NULL))
		add_field(request, "csrf",
		    web_get_csrf(world.c, get_form(request->op), request->token));
	return request;
}

/* @return NULL unless the bytes are a request */
static struct web_request *
parse(GBytes *frame)
{
	GError *error = NULL;
	struct web_request *request = web_request_parse(frame, &error);

	if (request)
		return request;
	fuzz_check_error(error);
	g_clear_error(&error);
	return NULL;
}

/* Through a frame, as paperboy-web sends it. */
static struct web_request *
pass_on(struct web_request *built)
{
	g_autoptr(GBytes) frame = NULL;
	g_autoptr(GBytes) body = NULL;

	if (!g_utf8_validate(built->token, -1, NULL))
		return NULL;
	frame = web_request_write(built);
	if (!frame)
		return NULL;
	body = g_bytes_new_from_bytes(frame, 4, g_bytes_get_size(frame) - 4);
	return parse(body);
}

static int64_t
count_changes(void)
{
	return store_fixture_number(world.c->fixture, "SELECT total_changes()");
}

/* In a transaction that is rolled back. */
static void
run(const struct web_request *request)
{
	struct store *store = world.c->fixture->store;
	const struct web_handler handler = {
	    .store = store, .options = world.c->options};
	struct handler_report report;
	pb_transaction transaction = {0};
	pb_auto(web_reply) reply = NULL;
	GError *error = NULL;
	int64_t before;

	g_assert(store_begin(store, &transaction, NULL));
	before = count_changes();
	reply = web_handler_run(&handler, request, &report, &error);
	g_assert_no_error(error);
	g_assert(web_handler_is_change(request->op) || count_changes() == before);
	{
		g_autoptr(GBytes) frame = web_reply_write(reply);
		g_autoptr(GBytes) body =
		    g_bytes_new_from_bytes(frame, 4, g_bytes_get_size(frame) - 4);
		pb_auto(web_reply) parsed = web_reply_parse(body, &error);

		g_assert_no_error(error);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	pb_auto(web_request) built = NULL;
	pb_auto(web_request) request = NULL;
	bool is_raw;

	make_world();
	is_raw = fuzz_take_byte(&input) & 1;
	if (is_raw) {
		g_autoptr(GBytes) frame = fuzz_take_bytes(&input);

		request = parse(frame);
	} else {
		built = build_request(&input);
		request = pass_on(built);
	}
	if (request)
		run(request);
	store_fixture_assert_idle(world.c->fixture);
	return 0;
}
