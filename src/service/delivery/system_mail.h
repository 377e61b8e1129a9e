/*
 * system_mail.h - one of our answers becomes a message in the outbox.
 *
 * Headers as RFC 3834 section 3.1 has them.  All that came from a stranger goes through
 * message/header.h, which lets no text start a line of its own.
 */
#ifndef PAPERBOY_SERVICE_DELIVERY_SYSTEM_MAIL_H
#define PAPERBOY_SERVICE_DELIVERY_SYSTEM_MAIL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "config/settings.h"
#include "model/inmail.h"
#include "service/state/own_addresses.h"
#include "store/core/store.h"
#include "store/mail/outbox.h"

/* Who sends, and where randomness comes from.  Borrowed. */
struct system_mailer {
	struct store *store;
	const struct settings *settings;
	const struct own_addresses
	    *own_addresses; /* without an address for commands: mail.from */
	const struct random_source *random;
	int64_t now;
};

/* What is sent.  Borrowed. */
struct system_mail {
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
	const struct inmail *answered; /* what it answers, or NULL */
};

/**
 * Put it into the outbox, in the caller's transaction.
 *
 * @param id  set on success: of the outbox
 * @return false with PB_ERROR_INPUT too when it is too large
 */
bool system_mail_send(const struct system_mailer *system_mailer,
    const struct system_mail *mail, int64_t *id, GError **error);

/** Draw a token of 128 bits. @return owned by the caller */
char *system_mail_new_token(const struct system_mailer *system_mailer);

/** The Message-ID of a mail, without angle brackets. @return a new string */
char *system_mail_format_message_id(
    const struct system_mailer *system_mailer, const char *id);

/** "Re: " and the subject of a letter, which may say so already. @return a new string
 */
char *system_mail_format_subject(const struct inmail *mail);

#endif
