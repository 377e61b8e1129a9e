/*
 * command_fixture.c - a handler with a store, and the mail that it sent.
 */
#include "lib/command_fixture.h"

#include <string.h>

#include "base/token.h"
#include "service/setup/factory.h"

static void
fill(void *data, void *to, size_t size)
{
	struct command_fixture *commands = data;
	uint8_t *bytes = to;

	memset(bytes, 0, size);
	bytes[0] = ++commands->last_random;
	bytes[1] = (uint8_t)(commands->options.now & 0xff);
	bytes[2] = (uint8_t)(commands->options.now >> 8 & 0xff);
	bytes[3] = (uint8_t)(commands->options.now >> 16 & 0xff);
}

void
command_fixture_set(char **setting, const char *text)
{
	g_free(*setting);
	*setting = g_strdup(text);
}

void
command_fixture_init(struct command_fixture *commands)
{
	GError *error = NULL;

	*commands = (struct command_fixture){
	    .fixture = store_fixture_new(), .settings = settings_new()};
	command_fixture_set(&commands->settings->mail_from, COMMAND_FIXTURE_HOME);
	command_fixture_set(&commands->settings->mail_owner, "owner@example.org");
	command_fixture_set(
	    &commands->settings->commands_address, COMMAND_FIXTURE_HOME);
	commands->own_addresses = own_addresses_new(commands->settings, &error);
	g_assert_no_error(error);
	commands->random = (struct random_source){fill, commands};
	commands->sources = factory_new_sources(commands->settings);
	commands->options = (struct handler_options){
	    .settings = commands->settings,
	    .own_addresses = commands->own_addresses,
	    .sources = commands->sources,
	    .key = commands->fixture->key,
	    .random = &commands->random,
	    .now = store_fixture_time(COMMAND_FIXTURE_NOW),
	};
}

void
command_fixture_clear(struct command_fixture *commands)
{
	store_fixture_assert_idle(commands->fixture);
	own_addresses_free(commands->own_addresses);
	g_ptr_array_unref(commands->sources);
	catalog_free(commands->phrases);
	renderer_free(commands->renderer);
	settings_free(commands->settings);
	store_fixture_free(commands->fixture);
}

struct handler_report
command_fixture_hand_in(struct command_fixture *commands, const struct inmail *mail,
    const char *sender, const char *recipient)
{
	const struct receive_mail envelope = {
	    .id = 1, .sender = sender, .recipient = recipient};
	struct handler_report report = {0};
	pb_transaction transaction = {0};
	GError *error = NULL;

	g_assert_true(store_begin(commands->fixture->store, &transaction, &error));
	handler_run(commands->fixture->store, &commands->options, mail, &envelope,
	    &report, &error);
	g_assert_no_error(error);
	g_assert_true(store_commit(&transaction, &error));
	return report;
}

enum handler_outcome
command_fixture_write_to(struct command_fixture *commands, const char *from,
    const char *recipient, const char *subject)
{
	pb_auto(inmail) mail = inbox_new(from, subject, "");

	return command_fixture_hand_in(commands, mail, from, recipient).outcome;
}

int64_t
command_fixture_count_mails(struct command_fixture *commands)
{
	return store_fixture_number(commands->fixture, "SELECT count(*) FROM outbox");
}

char *
command_fixture_get_mail(struct command_fixture *commands)
{
	return store_fixture_text(commands->fixture,
	    "SELECT CAST(message AS TEXT) FROM outbox ORDER BY id DESC LIMIT 1");
}

char *
command_fixture_find_address(struct command_fixture *commands, const char *field)
{
	g_autofree char *mail = command_fixture_get_mail(commands);
	const char *at = strstr(mail, field);
	const char *end;

	g_assert_nonnull(at);
	at += strlen(field);
	end = strstr(at, "\r\n");
	return g_strndup(at, (gsize)(end - at));
}

char *
command_fixture_find_reply_to(struct command_fixture *commands)
{
	return command_fixture_find_address(commands, "Reply-To: ");
}

char *
command_fixture_format_leave(struct command_fixture *commands, GBytes *key, int64_t id)
{
	int64_t since = store_fixture_number(
	    commands->fixture, "SELECT created_at FROM subscriber ORDER BY id LIMIT 1");
	g_autofree char *token = token_sign(key, SUBADDRESS_TOKEN_LEAVE, id, since);

	return subaddress_format(
	    &commands->own_addresses->commands, SUBADDRESS_LEAVE, token);
}
