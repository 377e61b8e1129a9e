/*
 * dispatch.h - one of our answers becomes a message in the outbox.
 *
 * Headers as RFC 3834 section 3.1 has them.  All that came from a stranger goes through
 * mail/header.h, which lets no text start a line of its own.
 */
#ifndef PAPERBOY_SERVICE_DISPATCH_H
#define PAPERBOY_SERVICE_DISPATCH_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/settings.h"
#include "model/letter.h"
#include "service/house.h"
#include "store/outbox.h"
#include "store/store.h"

/* Who sends, and where randomness comes from.  Borrowed. */
struct dispatch {
	struct store *store;
	const struct settings *settings;
	const struct house *house; /* without an address for commands: mail.from */
	/* Fill with random octets that nobody can foretell. */
	void (*draw)(void *data, uint8_t *octets, size_t size);
	void *data;
	int64_t now;
};

/* What is sent.  Borrowed. */
struct dispatch_letter {
	enum outbox_kind kind; /* not a digest */
	int64_t subscriber_id; /* or 0 */
	const char *recipient; /* an addr-spec */
	const char *sender;    /* where bounces go; "" is the null sender */
	const char *reply_to;  /* an addr-spec, or NULL */
	const char *subject;   /* any text */
	const char *id;   /* of the Message-ID "letter.ID@domain"; NULL: a random one */
	const char *text; /* lines that end in LF */
	const char *file_name; /* or NULL: no file goes with it */
	const char *file_type;
	const char *file_text;
	const struct letter *answered; /* what it answers, or NULL */
};

/**
 * Put it into the outbox, in the caller's transaction.
 *
 * @param id  set on success: of the outbox
 * @return false with PB_ERROR_INPUT too when it is too large
 */
bool dispatch_send(const struct dispatch *dispatch,
    const struct dispatch_letter *letter, int64_t *id, GError **error);

/** Draw a token of 128 bits. @return owned by the caller */
char *dispatch_draw_token(const struct dispatch *dispatch);

/** The Message-ID of a mail, without angle brackets. @return a new string */
char *dispatch_format_message_id(const struct dispatch *dispatch, const char *id);

/** "Re: " and the subject of a letter, which may say so already. @return a new string
 */
char *dispatch_format_subject(const struct letter *letter);

#endif
