/*
 * desk.c - a front that letters are handed to, and what it sent.
 */
#include "lib/desk.h"

#include <string.h>

#include "base/token.h"

static void
draw(void *data, uint8_t *octets, size_t size)
{
	struct desk *desk = data;

	memset(octets, 0, size);
	octets[0] = ++desk->drawn;
	octets[1] = (uint8_t)(desk->options.now & 0xff);
	octets[2] = (uint8_t)(desk->options.now >> 8 & 0xff);
	octets[3] = (uint8_t)(desk->options.now >> 16 & 0xff);
}

void
desk_set(char **setting, const char *text)
{
	g_free(*setting);
	*setting = g_strdup(text);
}

void
desk_init(struct desk *desk)
{
	GError *error = NULL;

	*desk = (struct desk){.lab = lab_new(), .settings = settings_new()};
	desk_set(&desk->settings->mail_from, DESK_HOME);
	desk_set(&desk->settings->mail_owner, "owner@example.org");
	desk_set(&desk->settings->commands_address, DESK_HOME);
	desk->house = house_new(desk->settings, &error);
	g_assert_no_error(error);
	desk->options = (struct front_options){
	    .settings = desk->settings,
	    .house = desk->house,
	    .key = desk->lab->key,
	    .draw = draw,
	    .data = desk,
	    .now = lab_time(DESK_NOW),
	};
}

void
desk_clear(struct desk *desk)
{
	lab_assert_idle(desk->lab);
	house_free(desk->house);
	phrasebook_free(desk->phrases);
	renderer_free(desk->renderer);
	settings_free(desk->settings);
	lab_free(desk->lab);
}

struct front_report
desk_hand_in(struct desk *desk, const struct letter *letter, const char *sender,
    const char *recipient)
{
	const struct front_envelope envelope = {1, sender, recipient, false};
	struct front_report report = {0};
	pb_transaction transaction = {0};
	GError *error = NULL;

	g_assert_true(store_begin(desk->lab->store, &transaction, &error));
	front_handle(
	    desk->lab->store, &desk->options, letter, &envelope, &report, &error);
	g_assert_no_error(error);
	g_assert_true(store_commit(&transaction, &error));
	return report;
}

enum front_outcome
desk_write_to(
    struct desk *desk, const char *from, const char *recipient, const char *subject)
{
	pb_auto(letter) letter = letters_new(from, subject, "");

	return desk_hand_in(desk, letter, from, recipient).outcome;
}

int64_t
desk_count_mails(struct desk *desk)
{
	return lab_number(desk->lab, "SELECT count(*) FROM outbox");
}

char *
desk_get_mail(struct desk *desk)
{
	return lab_text(desk->lab,
	    "SELECT CAST(message AS TEXT) FROM outbox ORDER BY id DESC LIMIT 1");
}

char *
desk_find_address(struct desk *desk, const char *field)
{
	g_autofree char *mail = desk_get_mail(desk);
	const char *at = strstr(mail, field);
	const char *end;

	g_assert_nonnull(at);
	at += strlen(field);
	end = strstr(at, "\r\n");
	return g_strndup(at, (gsize)(end - at));
}

char *
desk_find_reply_to(struct desk *desk)
{
	return desk_find_address(desk, "Reply-To: ");
}

char *
desk_format_leave(struct desk *desk, GBytes *key, int64_t id)
{
	int64_t since = lab_number(
	    desk->lab, "SELECT created_at FROM subscriber ORDER BY id LIMIT 1");
	g_autofree char *token = token_sign(key, EXTENSION_TOKEN_LEAVE, id, since);

	return extension_format(&desk->house->commands, EXTENSION_LEAVE, token);
}
