/*
 * system_mail.h - transactional mail: replies, confirmations and notices.
 *
 * Header fields follow RFC 3834 section 3.1.  Text from senders goes through
 * message/header.h, which rules out header injection.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "config/settings.h"
#include "model/inmail.h"
#include "service/state/own_addresses.h"
#include "store/core/store.h"
#include "store/mail/outbox.h"

/* Borrowed. */
struct system_mailer {
	struct store *store;
	const struct settings *settings;
	const struct own_addresses
	    *own_addresses; /* without an address for commands, mail.from is used */
	const struct random_source *random;
	int64_t now;
};

/* Borrowed. */
struct system_mail {
	enum outbox_kind kind; /* not a digest */
	int64_t subscriber_id; /* or 0 */
	const char *recipient; /* an addr-spec */
	const char *sender;    /* envelope sender; "" is the null sender */
	/* Of a confirmation: the address with this token replaces `sender`; or NULL. */
	const char *bounce_token;
	const char *reply_to; /* an addr-spec, or NULL */
	/* Our own address with this token replaces reply_to; or NULL. */
	const char *reply_token;
	enum subaddress_kind reply_kind; /* of that address: CONFIRM or REPLY */
	const char *subject;             /* any text */
	const char *id;   /* of the Message-ID "letter.ID@domain"; NULL: a random one */
	const char *text; /* lines ending in LF */
	const char *html; /* or NULL */
	const char *file_name; /* or NULL: no attachment */
	const char *file_type;
	const char *file_text;
	/* Of mail that nobody asked for: List-Unsubscribe, with the fields that digests
	 * have; or NULL. */
	const char *list_unsubscribe;
	bool has_one_click;            /* its link (RFC 8058) */
	const struct inmail *answered; /* the message replied to, or NULL */
};

/**
 * Add a message to the outbox, in the caller's transaction.
 *
 * @param id  set on success: its outbox id
 * @return false also with PB_ERROR_INPUT if it is too large
 */
bool system_mail_send(const struct system_mailer *system_mailer,
    const struct system_mail *mail, int64_t *id, GError **error);

/** Generate a random token of 128 bits. @return owned by the caller */
char *system_mail_new_token(const struct system_mailer *system_mailer);

/** Format a Message-ID, without angle brackets. @return owned by the caller */
char *system_mail_format_message_id(
    const struct system_mailer *system_mailer, const char *id);

/** Format "Re: " and the subject, without a second "Re: ". @return owned by the caller;
 * NULL without a subject */
char *system_mail_format_subject(const struct inmail *mail);
