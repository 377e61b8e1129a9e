/*
 * request.h - a request by mail or from a page, from the handler to the reply.
 *
 * The handler identifies the requester, the commands fill the reply, and the handler
 * sends it.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/random.h"
#include "config/settings.h"
#include "model/inmail.h"
#include "model/subscriber.h"
#include "receive/receiver.h"
#include "render/catalog.h"
#include "render/renderer.h"
#include "service/command/reply_text.h"
#include "service/state/own_addresses.h"
#include "store/core/store.h"
#include "store/subscriber/confirmations.h"

struct command_row;
struct handler_report;

/* Kinds of confirmation.  A reply requests at most one, the highest that applies. */
enum command_confirm {
	COMMAND_CONFIRM_NOTHING,
	COMMAND_CONFIRM_SUBSCRIBE, /* a new subscriber */
	COMMAND_CONFIRM_CHANGE,    /* a change by an unauthenticated sender */
	COMMAND_CONFIRM_EXPORT,
	COMMAND_CONFIRM_ADDRESS, /* confirmed by both addresses, see new_address */
	COMMAND_CONFIRM_ERASE,
};

/* Result of the commands of one message.  Texts are owned. */
struct command_reply {
	/* NULL: "Re: " and the subject of the message.  Set after commands in the
	 * subject: a reply to "Re: del 3" would run that again. */
	char *subject;
	char *text; /* lines of at most 72 columns ending in LF; may have marks */

	/* Commands waiting for a confirmation, as lines for command_run_confirmed(), or
	 * NULL.  The text then has COMMAND_CONFIRM_MARK. */
	char *pending;
	enum command_confirm confirm;
	char
	    *new_address; /* COMMAND_CONFIRM_ADDRESS: recipient of the second request */
	char *new_text;   /* its text, with COMMAND_CONFIRM_MARK */

	/* Notice to the previous address after a change of address, or NULL. */
	char *old_address;
	char *old_subject;
	char *old_text;

	/* Lines for command_run_confirmed() that restore a removed subscription, or
	 * NULL.  The text then has COMMAND_UNDO_MARK. */
	char *undo;

	GPtrArray *invited; /* char *: addresses to invite; or NULL */

	/* Tokens from `confirm TOKEN` and `undo TOKEN`, or NULL.  If one is valid, the
	 * handler replies with the result of what it confirms instead of this text. */
	char *confirm_token; /* "" without an argument */
	char *undo_token;

	/* Attached file in UTF-8, or NULL. */
	char *attachment;
	char *attachment_name; /* "paperboy-export.json" */
	char *attachment_type; /* "application/json" */

	bool is_erased;      /* erase_person() once this reply is sent or has expired */
	bool is_changed;     /* filters or due times changed: run the scheduler */
	const char *silence; /* why it needs no reply, static; or NULL */
	char *suggestion;    /* corrected command, which a plain "yes" runs; or NULL */
	char language[8];    /* of the text */
	unsigned done, failed, waiting; /* command lines */
	GPtrArray *results; /* struct reply_result *, of `lines` only; else NULL */
	GArray *shown;      /* unsigned: numbers of proposals in the text; or NULL */
};

struct request {
	/* Environment.  Borrowed. */
	struct store *store; /* with an open transaction */
	const struct settings *settings;
	const struct own_addresses *own_addresses;
	const GPtrArray *sources; /* struct source *, the enabled ones */
	const struct catalog *catalog;
	struct renderer *renderer; /* for `last` */
	GBytes *key;               /* keys of the state directory (base/token.h) */
	const struct random_source *random;
	int64_t now;
	const char *commands_address; /* "paperboy@example.org" */
	const char *help_address;     /* "paperboy+help@example.org" */
	const char *actor;            /* for the audit log: "mail" or "web" */

	/* Commands from a page, one a line, NULL-terminated; there is no message then.
	 * Or NULL.  Borrowed. */
	const char *const *lines;

	/* Message; NULL for a request from a page.  Borrowed. */
	const struct receive_mail *envelope; /* used by the handler only */
	const struct inmail *mail;
	/* Command in the local part (paperboy+subscribe@): subject and text are not
	 * read.  Or NULL. */
	const char *verb;
	const struct command_row *row; /* the command that runs or is decided */
	/* command_run_line(), for the commands of proposals */
	bool (*run_line)(struct request *request, const char *line, GError **error);

	/* Requester. */
	char *address; /* recipient of the reply */
	char *address_key;
	const char *name;              /* display name in From, or NULL; borrowed */
	int64_t subscriber_id;         /* before any command; 0: not subscribed */
	struct subscriber *subscriber; /* now; NULL: not subscribed */
	bool is_proven;                /* by a reply token or the MTA's DMARC result */
	bool has_token;                /* a valid token of ours came with the request */
	bool is_removed;               /* unsubscribed before this message */
	bool is_reply;     /* the message replies to a confirmation request */
	bool is_awaited;   /* it is the yes to one, which was counted as a reply */
	int64_t digest_id; /* the digest replied to, or 0 */
	const struct confirmation *undo; /* of the earlier removal; borrowed, or NULL */
	const char *language; /* preferred, or NULL: by subscriber and text */

	/* State while commands run. */
	bool is_confirmed; /* confirmed, and applied */
	struct reply_text text;
	char text_language[8];
	char *subscribe_name; /* name in a `subscribe` that waits, or ""; NULL: none */
	GString *echoed;      /* lines quoted for an unknown sender, each with LF */
	GString *pending;     /* pending lines, except for `subscribe` */
	/* Subscriber and filters as they will be once the pending lines are applied. */
	struct subscriber *planned;
	GPtrArray *planned_filters;            /* struct subscription * */
	const struct command_row *example_row; /* example that was shown last */
	const char *line;                      /* that is being carried out; borrowed */
	bool has_proposals;                    /* what was understood is shown */
	bool is_welcome;   /* the confirmed lines are a new subscription */
	bool is_applying;  /* a proposal */
	bool is_file_read; /* works of attached files were marked or proposed */
	char *rest;        /* text: how to ask for what was not understood, or NULL */
	char *restored; /* lines of the subscription that somebody had, to be pending */
	/* Filter with a syntax error, and its column from 1; of the last error. */
	char *error_filter;
	unsigned error_column;

	/* Result. */
	struct command_reply reply;
	const char *confirm_token;     /* of replies to the reply; borrowed; NULL:
	                                * a token for subscribers */
	struct handler_report *report; /* used by the handler only */
};

/**
 * Make an address the requester, with its subscriber if there is an active one.
 *
 * @return false with PB_ERROR_INPUT if it is not an address
 */
bool request_set_requester(struct request *request, const char *text, GError **error);

/**
 * Find the message of ours that a mail answers.
 *
 * @param answered  set: as proposal.shown_in; NULL if the mail does not name it; owned
 *                  by the caller
 * @return false if the store fails
 */
bool
request_find_answered(const struct request *request, char **answered, GError **error);

/**
 * Find the digest with which a conversation began, if the mail answers another mail:
 * "why 1" in a reply to the answer to "more 1".
 *
 * @return false if the store fails
 */
bool request_find_digest(struct request *request, GError **error);

/** Reload the subscriber after a change. */
bool request_reload(struct request *request, GError **error);

/** Reset requester and reply. */
void request_clear(struct request *request);

void command_reply_clear(struct command_reply *reply);
