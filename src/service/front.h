/*
 * front.h - everything between a letter and its one answer.
 *
 * The door says who may have written and whether there is to be an answer at all; a
 * token proves more; then the commands run, and what they come to is put into the
 * outbox.  All of it is part of the caller's transaction, which also marks the letter
 * as done: it is handled once, and answered once.
 */
#ifndef PAPERBOY_SERVICE_FRONT_H
#define PAPERBOY_SERVICE_FRONT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/settings.h"
#include "model/letter.h"
#include "render/phrases.h"
#include "render/renderer.h"
#include "service/door.h"
#include "service/house.h"
#include "store/store.h"

/* How long tickets are good. */
#define FRONT_CONFIRM_S (72 * 3600)
#define FRONT_FORGET_S  3600
#define FRONT_UNDO_S    (7 * 24 * 3600)

#define FRONT_FOUND_BYTES 512

/* Borrowed, for one thread. */
struct front_options {
	const struct settings *settings;
	const struct house *house; /* with an address for commands */
	const struct phrasebook *phrases;
	struct renderer *renderer;
	GBytes *key; /* keys of the state directory (base/token.h) */
	/* Fill with random octets that nobody can foretell. */
	void (*draw)(void *data, uint8_t *octets, size_t size);
	void *data;
	int64_t now;
};

struct front_envelope {
	int64_t id;            /* of the letter, for the log */
	const char *sender;    /* "" is the null one; NULL: not told */
	const char *recipient; /* one a line; NULL: not known */
	bool is_too_large;     /* only its header is known */
};

enum front_outcome {
	FRONT_IGNORED, /* not to be answered, and nothing was done */
	FRONT_LIMITED, /* past a limit: nothing is answered */
	FRONT_ANSWERED,
	FRONT_ASKED,     /* a confirmation went out */
	FRONT_LEFT,      /* unsubscribed, in silence */
	FRONT_CAME_BACK, /* something of ours; see the numbers */
	FRONT_PASSED_ON, /* to the owner */
	FRONT_CHECKED,   /* a mail of ours to ourselves; see found */
};

struct front_report {
	enum front_outcome outcome;
	const char *why;   /* of IGNORED and LIMITED; static; or NULL */
	bool is_changed;   /* the press is to look again */
	bool is_queued;    /* the post is to look */
	int64_t digest_id; /* of what came back, or 0 */
	int64_t ticket_id;
	char found[FRONT_FOUND_BYTES]; /* of CHECKED, as selfmail_format() has it */
};

/** "answered", "silent: automatic": for the letter's row. @return a new string */
char *front_format_verdict(const struct front_report *report);

/**
 * Handle a letter, in the caller's transaction.
 *
 * @param report  set on success
 * @return false when the store fails; then the caller rolls back
 */
bool front_handle(struct store *store, const struct front_options *options,
    const struct letter *letter, const struct front_envelope *envelope,
    struct front_report *report, GError **error);

#endif
