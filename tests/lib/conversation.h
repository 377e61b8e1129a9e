/*
 * conversation.h - mail in, reply out: a handler with a store, and tables of
 * conversations.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

#include "service/inbound/handler.h"
#include "service/state/own_addresses.h"
#include "store_fixture.h"
#include "unit.h"

#define CONVERSATION_NOW "2026-11-20T09:00:00Z"

#define DAY  86400
#define HOUR 3600
#define HOME "paperboy@example.org"
#define EVA  "Eva@example.com"
#define ADAM "adam@example.com"

struct conversation {
	struct random_source random;
	struct store_fixture *fixture;
	struct settings *settings;
	struct own_addresses *own_addresses;
	struct renderer *renderer; /* or NULL */
	GPtrArray *sources;
	struct handler_options options;
	uint8_t last_random;
	GHashTable *saved; /* char *name -> char *address, of SAVE */
};

/*
 * Delimiter of subaddresses of new conversations: "+", or "" without.  In the latter,
 * an address with a token stands for a message that has this token elsewhere: in its
 * subject, In-Reply-To or returned header.  Mail to a reply address answers the newest
 * mail to its sender, as its In-Reply-To says; "<ID>" stands for a reply to that
 * Message-ID.  Such replies have a valid DKIM signature of the domain in From, unless
 * they have other results.
 */
extern const char *conversation_delimiter;

/** Commands go to HOME, the time is CONVERSATION_NOW. */
struct conversation *conversation_new(void);
void conversation_free(struct conversation *conversation);
PB_DEFINE_AUTO(conversation, conversation_free);

/** Reply with the real templates and messages. */
void conversation_load_templates(struct conversation *conversation);

/** Change a text in the settings. */
void conversation_set(char **setting, const char *text);

/** Add a subscriber who subscribed a day ago. */
void conversation_subscribe(struct conversation *conversation, const char *address);

/*
 * Made-up messages.
 */

/** A message with one From, a Message-ID, a subject and a text. */
struct inmail *
conversation_new_mail(const char *from, const char *subject, const char *text);

/** Add a field that the parser reports. @param field  "Name: value" */
void conversation_add_field(struct inmail *mail, const char *field);

/** Add an address to one of the lists of a message. */
void conversation_add_address(GPtrArray *list, const char *address);

/** Append an Authentication-Results field with one result. */
void conversation_add_result(struct inmail *mail, const char *server,
    const char *method, const char *result, const char *properties);

/** The same, with dmarc=pass for the domain of From. */
void conversation_add_pass(struct inmail *mail, const char *server);

/** Handle a message, in a transaction. */
struct handler_report conversation_hand_in(struct conversation *conversation,
    const struct inmail *mail, const char *sender, const char *recipient);

/** Handle a message without text. @param recipient  expanded, see $name below */
enum handler_outcome conversation_send(struct conversation *conversation,
    const char *from, const char *recipient, const char *subject);

/*
 * The outbox.
 */

int64_t conversation_count_mails(struct conversation *conversation);

/** Get the newest mail. @return a new string */
char *conversation_get_mail(struct conversation *conversation);

/**
 * The newest mail to an address but digests, as the local part of its Message-ID
 * without a token for replies. @return a new string
 */
char *conversation_get_message(struct conversation *conversation, const char *address);

/** Find where a bounce of a mail in the outbox goes. @return a new string */
char *conversation_find_sender(struct conversation *conversation, int64_t outbox_id);

/** Format the unsubscribe address of a subscriber. @return a new string */
char *
conversation_format_leave(struct conversation *conversation, GBytes *key, int64_t id);

/*
 * Tables.  In addresses, subjects and texts, $name is what SAVE saved, #name its token.
 */

enum step_kind {
	STEP_END,
	STEP_TITLE,
	STEP_MAIL,
	STEP_LATER,
	STEP_SAVE,
	STEP_ROWS,
	STEP_RUN,
	STEP_HAS,
	STEP_HAS_NOT,
	STEP_CALL,
	STEP_LET,
};

struct step {
	enum step_kind kind;
	const char *sender;    /* From */
	const char *recipient; /* or several, separated by LF */
	const char *subject;
	const char *verdict;
	const char *calls;    /* of the fake commands, in order; NULL: not checked */
	const char *text;     /* NULL: empty */
	const char *field;    /* "Name: value", or NULL */
	const char *envelope; /* MAIL FROM; NULL: as From */
	const char *authserv; /* server that reports dmarc=pass, or NULL */
	int64_t seconds;      /* that pass before it */
	unsigned times;       /* 0: once */
	void (*call)(struct conversation *conversation);
};

#define STEP(...)           \
	{                   \
		__VA_ARGS__ \
	}

/* A message with an empty text; the verdict is handler_format_verdict()'s.  Members
 * may follow, such as `.text = "yes"`. */
#define MAIL(from, to, subject_, verdict_, calls_, ...)                               \
	STEP(.kind = STEP_MAIL, .sender = from, .recipient = to, .subject = subject_, \
	    .verdict = verdict_, .calls = calls_, ##__VA_ARGS__)

/* Save the Reply-To of the newest mail, or the "undo TOKEN" in its text. */
#define SAVE(name)      STEP(.kind = STEP_SAVE, .subject = name, .text = "\r\nReply-To: ")
#define SAVE_UNDO(name) STEP(.kind = STEP_SAVE, .subject = name, .text = "undo ")

/* Rows that SQL selects, and SQL to run. */
#define ROWS(sql, rows) STEP(.kind = STEP_ROWS, .text = sql, .subject = rows)
#define RUN(sql)        STEP(.kind = STEP_RUN, .text = sql)

/* Text in the newest mail. */
#define HAS(part)     STEP(.kind = STEP_HAS, .text = part)
#define HAS_NOT(part) STEP(.kind = STEP_HAS_NOT, .text = part)

/** Take the steps up to the next title. */
void conversation_play(struct conversation *conversation, const struct step *steps);

/** A function that a script calls. */
struct conversation_call {
	const char *name;
	void (*call)(struct conversation *conversation);
};

/**
 * Add the tests of a script, tests/tables/NAME.steps: one for each title; a second one
 * without subaddresses, unless it names some.
 *
 * A line is a step, with tabs between its fields, which are written as in cases.h:
 *
 *     title      name of a test; the steps before the first title begin each test
 *     mail       From, recipients, subject, verdict, calls of the fake commands ("-":
 * not checked), and NAME=VALUE for the other members of struct step later      seconds,
 * hours ("3h") or days ("2d") that pass save, save_undo    name of what SAVE() and
 * SAVE_UNDO() save let        name, text that $name stands for rows       SQL, the rows
 * that it selects run        SQL has, has_not       text in the newest mail call name
 * of one of the functions, which end with a name of NULL
 */
void conversation_add_script(const char *name, const struct conversation_call *calls);

/** Add these tests and those behind them, with and without subaddresses. */
void conversation_add_functions(struct unit_test *tests);

/** Call log of the fake commands: "run eva@example.com proven list;"; or NULL. */
extern GString *conversation_calls;

/** Compare and clear the call log. */
void conversation_assert_calls(const char *wanted);
