/*
 * desk.h - a front that letters are handed to, and what it sent.
 */
#ifndef TESTS_LIB_DESK_H
#define TESTS_LIB_DESK_H

#include <glib.h>
#include <stdint.h>

#include "config/settings.h"
#include "lib/lab.h"
#include "lib/letters.h"
#include "service/front.h"
#include "service/house.h"

#define DESK_NOW  "2026-11-20T09:00:00Z"
#define DESK_HOME "paperboy@example.org"

/* A house with a door. */
struct desk {
	struct lab *lab;
	struct settings *settings;
	struct house *house;
	struct phrasebook *phrases; /* or NULL */
	struct renderer *renderer;  /* or NULL */
	struct front_options options;
	uint8_t drawn;
};

/** Set it up: commands go to DESK_HOME, and it is DESK_NOW. */
void desk_init(struct desk *desk);
void desk_clear(struct desk *desk);
#define desk_auto __attribute__((cleanup(desk_clear))) struct desk

/** Say another text in the settings. */
void desk_set(char **setting, const char *text);

/** Hand in a letter, in a transaction of its own. */
struct front_report desk_hand_in(struct desk *desk, const struct letter *letter,
    const char *sender, const char *recipient);

/** The same of a plain one. @return what came of it */
enum front_outcome desk_write_to(
    struct desk *desk, const char *from, const char *recipient, const char *subject);

int64_t desk_count_mails(struct desk *desk);

/** The newest mail. @return a new string */
char *desk_get_mail(struct desk *desk);

/** An address of ours in the newest mail. @param field  "From: " @return a new string
 */
char *desk_find_address(struct desk *desk, const char *field);
char *desk_find_reply_to(struct desk *desk);

/** The address that unsubscribes somebody. @return a new string */
char *desk_format_leave(struct desk *desk, GBytes *key, int64_t id);

#endif
