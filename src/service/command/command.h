/*
 * command.h - the commands of one letter, and the answer to it.
 *
 * Who wrote is settled before (the front does that): a command believes its visitor.
 * Nothing here begins or ends a transaction but savepoints: the caller's holds the
 * effects of all commands, the queued answer and the letter's done mark, and is one
 * commit.  A command that fails leaves nothing behind; the others stay.
 */
#ifndef PAPERBOY_SERVICE_COMMAND_COMMAND_H
#define PAPERBOY_SERVICE_COMMAND_COMMAND_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "config/settings.h"
#include "model/inmail.h"
#include "render/catalog.h"
#include "render/renderer.h"
#include "store/core/store.h"

/* Where a token goes in a text that is not finished; see command_reply_fill(). */
#define COMMAND_CONFIRM_MARK "\001"
#define COMMAND_UNDO_MARK    "\002"

/* What a confirmation is for; each letter asks for one at most. */
enum command_mode {
	COMMAND_CONFIRM_NOTHING,
	COMMAND_CONFIRM_SUBSCRIBE, /* of somebody who is no subscriber */
	COMMAND_CONFIRM_CHANGE,    /* what was asked for without a proof */
	COMMAND_CONFIRM_EXPORT,
	COMMAND_CONFIRM_ADDRESS, /* both addresses have to confirm, see new_address */
	COMMAND_CONFIRM_FORGET,
};

/* Who asks, and how surely.  Borrowed. */
struct command_user {
	const char *address;   /* as it is to be answered */
	const char *name;      /* of the From, or NULL; a stranger's */
	int64_t subscriber_id; /* 0: no subscriber, or pending, or gone */
	bool is_proven;        /* by a valid reply token, or the MTA vouches */
	const char *language;  /* "en", "de" where the subscriber chose none; or NULL */
	int64_t digest_id;     /* of the digest that is answered, or 0: `why 3` is its
	                          third paper */
	/* The local part said it (paperboy+subscribe@): this command stands alone,
	 * whatever subject and text hold.  NULL: they are read. */
	const char *verb;
	/* Text of the reply that confirmed; commands in it are not run.  Or NULL. */
	const char *confirmed_by;
};

/* What the commands work with.  Borrowed, and for one thread. */
struct command_context {
	struct store *store; /* a transaction is open */
	const struct settings *settings;
	const GPtrArray *sources; /* of struct source *: the enabled ones */
	const struct catalog *phrases;
	struct renderer *renderer; /* for `last` */
	GBytes *key;               /* the secret of the state folder */
	int64_t now;
	const char *address;      /* that takes commands: "paperboy@example.org" */
	const char *help_address; /* "paperboy+help@example.org" */
	const char *who; /* for the audit: "mail", "web"; never a subject or a text */
};

struct command_reply {
	/* NULL: "Re: " and the letter's own, which is the front's to make.  Else this
	 * one: a reply to "Re: del 3" would run that again. */
	char *subject;
	char *text; /* lines of at most 72 columns that end in LF; may hold marks */

	/* What waits for a confirmation, as lines for command_run_confirmed(); NULL
	 * when nothing does.  The text tells of it, with COMMAND_CONFIRM_MARK in it;
	 * the front mails it from an address whose answer confirms. */
	char *pending;
	enum command_mode purpose;
	char *new_address; /* COMMAND_CONFIRM_ADDRESS: where the second one goes */
	char *new_text;    /* its text, with COMMAND_CONFIRM_MARK */

	/* A change of address was made: what the address that was is told, whoever
	 * confirmed it last; or NULL. */
	char *old_address;
	char *old_subject;
	char *old_text;

	/* What the unsubscribing visitor had, as lines for command_run_confirmed();
	 * NULL when nothing can be undone.  The front keeps it for seven days, and the
	 * text has COMMAND_UNDO_MARK. */
	char *undo;

	/* A token that a line gave: `confirm TOKEN`, `undo TOKEN`.  The front looks
	 * it up, and sends what its running makes (command_run_confirmed) instead of
	 * this text, which is for a token that is not good. */
	char *confirm_token; /* or NULL; "" when `confirm` came without one */
	char *undo_token;    /* or NULL */

	/* A file to go with the text, or NULL.  UTF-8 text. */
	char *attachment;
	char *attachment_name; /* "paperboy-export.json" */
	char *attachment_type; /* "application/json" */

	bool is_forgotten; /* once this answer is out (or given up), erase_person() */
	bool is_changed;   /* the press is to look again: a filter or a due time is new
	                    */
	bool is_help;      /* no command at all: once a day for one address */
	char *suggestion;  /* what a slip may have meant, as lines for
	                      command_run_confirmed(); a plain yes runs it; or NULL */
	char language[8];  /* of the text */
	unsigned done, failed, waiting; /* lines */
};

void command_reply_clear(struct command_reply *reply);

/**
 * Run the commands of a letter.
 *
 * What a person does wrong is told in the answer; it is no error.
 *
 * @param letter  its subject and text are read; nothing else of it is believed
 * @param reply   zeroed by the caller; filled on success only, command_reply_clear() it
 * @return false when the store fails; then the caller rolls back
 */
bool command_run(const struct command_context *context, const struct command_user *user,
    const struct inmail *mail, struct command_reply *reply, GError **error);

/**
 * Run what waited for a confirmation, or what an `undo` gives back: exactly what was
 * fixed then, as proven.  For a subscription the text is the welcome.
 *
 * @param visitor  subscriber_id as it is now; address as it was when it was fixed
 * @param pending  as struct command_reply had it
 */
bool command_run_confirmed(const struct command_context *context,
    const struct command_user *user, const char *pending, struct command_reply *reply,
    GError **error);

/**
 * Say one phrase, without running anything; the text may have marks.
 *
 * @param value  for {value} in it; or NULL
 */
bool command_say(const struct command_context *context, const struct command_user *user,
    const char *phrase, const char *value, struct command_reply *reply, GError **error);

/**
 * Put tokens where the text has marks.
 *
 * @param confirm  what the reader types or answers to, or NULL where none is
 * @param undo     the same
 */
void
command_reply_fill(struct command_reply *reply, const char *confirm, const char *undo);

#endif
