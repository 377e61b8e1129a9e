/*
 * command_fixture.h - a handler with a store, and the mail that it sent.
 */
#ifndef TESTS_LIB_COMMAND_FIXTURE_H
#define TESTS_LIB_COMMAND_FIXTURE_H

#include <glib.h>
#include <stdint.h>

#include "config/settings.h"
#include "lib/inmail_fixture.h"
#include "lib/store_fixture.h"
#include "service/inbound/handler.h"
#include "service/state/own_addresses.h"

#define COMMAND_FIXTURE_NOW  "2026-11-20T09:00:00Z"
#define COMMAND_FIXTURE_HOME "paperboy@example.org"

struct command_fixture {
	struct random_source random;
	struct store_fixture *fixture;
	struct settings *settings;
	struct own_addresses *own_addresses;
	struct catalog *phrases;   /* or NULL */
	struct renderer *renderer; /* or NULL */
	GPtrArray *sources;
	struct handler_options options;
	uint8_t last_random;
};

/** Set up: commands go to COMMAND_FIXTURE_HOME, the time is COMMAND_FIXTURE_NOW. */
void command_fixture_init(struct command_fixture *commands);
void command_fixture_clear(struct command_fixture *commands);
#define command_fixture_auto \
	__attribute__((cleanup(command_fixture_clear))) struct command_fixture

/** Change a text in the settings. */
void command_fixture_set(char **setting, const char *text);

/** Handle a message, in a transaction. */
struct handler_report command_fixture_hand_in(struct command_fixture *commands,
    const struct inmail *mail, const char *sender, const char *recipient);

/** Handle a message without text. */
enum handler_outcome command_fixture_write_to(struct command_fixture *commands,
    const char *from, const char *recipient, const char *subject);

int64_t command_fixture_count_mails(struct command_fixture *commands);

/** Get the newest mail in the outbox. @return a new string */
char *command_fixture_get_mail(struct command_fixture *commands);

/** Get an address of ours in the newest mail. @param field  "From: " @return a new
 * string */
char *command_fixture_find_address(struct command_fixture *commands, const char *field);
char *command_fixture_find_reply_to(struct command_fixture *commands);

/** Format the unsubscribe address of a subscriber. @return a new string */
char *
command_fixture_format_leave(struct command_fixture *commands, GBytes *key, int64_t id);

#endif
