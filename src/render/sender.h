/*
 * sender.h - sender identity: From, List-* fields, reply and unsubscribe addresses.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "base/token.h"
#include "message/compose.h"
#include "message/subaddress.h"
#include "model/digest.h"
#include "render/renderer.h"

/* Addresses that act by themselves, whatever is written to them. */
enum sender_action {
	SENDER_STOP,
	SENDER_PAUSE,
	SENDER_WEEKLY,
	SENDER_FEWER,
	SENDER_ACTIONS
};

struct sender_link {
	struct subaddress_template url; /* mailto link */
	/* Shown: the address, or with tokens in the subject the subject. */
	struct subaddress_template address;
	/* Added to the link: a subject, since mail programs ask for one, or with tokens
	 * in the subject the word after the token. */
	const char *end;
};

struct sender_identity {
	struct token_signer *tokens;
	GBytes *secret;
	struct sender_link links[SENDER_ACTIONS]; /* empty without commands */
	struct subaddress_template reply;
	struct subaddress_template reply_url; /* mailto link */
	char *mail_url;        /* mailto link to the address for commands; NULL without
	                        * commands */
	bool has_commands;     /* else people write to the owner */
	bool has_subaddresses; /* else tokens are in the subject */
	char *from_name;       /* or NULL */
	char *from_address;
	char *message_domain;
	char *list_name;
	char *owner;    /* shown: the address for commands, without these the owner's */
	char *stop_url; /* mailto link to the owner, used without commands */
	char *change_url; /* mailto link to `owner`, about changing filters */
	char *web_url;    /* base of the page's links, or NULL */
	bool has_one_click;
	/* Values of List-* fields (RFC 2369, RFC 2919). */
	char *list_id_value;
	char *list_owner_value;
	char *list_help_value;      /* NULL without commands */
	char *list_subscribe_value; /* NULL without commands */
	char *feedback_value;       /* of CFBL-Address, or NULL */
};

/**
 * Check and copy the settings.
 *
 * @param sender  empty after a failure
 * @return false with PB_ERROR_INPUT
 */
bool sender_identity_init(struct sender_identity *sender,
    const struct renderer_settings *settings, GError **error);
void sender_identity_clear(struct sender_identity *sender);

/** Add a text with its NUL, so that fields cannot run together. @param text or NULL */
static inline void
sender_hash_text(GChecksum *checksum, const char *text)
{
	if (!text)
		text = "";
	g_checksum_update(checksum, (const guchar *)text, (gssize)strlen(text) + 1);
}

/** Add everything that appears in digests, for renderer_get_cache_key(). */
void sender_identity_hash(const struct sender_identity *sender, GChecksum *checksum);

/* Value of List-Unsubscribe-Post (RFC 8058 section 3.1). */
#define SENDER_ONE_CLICK "List-Unsubscribe=One-Click"

/**
 * Format the value of List-Unsubscribe, which is folded between its links only.
 *
 * @param web_link  the only https link, or NULL
 * @return owned by the caller
 */
char *sender_format_unsubscribe(const char *web_link, const char *mail_link);

/** Format the value of CFBL-Address (RFC 9477 section 5.1). @return owned by the caller
 */
char *sender_format_feedback(const struct subaddress_base *commands);

/* Tokens of one digest.  Owned. */
struct sender_links {
	char *leave_token; /* to unsubscribe, pause or reduce */
	char *view_token;  /* of the digest in a browser; NULL without a page */
	char *list_value;  /* of List-Unsubscribe (RFC 2369 section 3.2) */
};

void sender_links_init(struct sender_links *links, const struct sender_identity *sender,
    const struct digest *digest);
void sender_links_clear(struct sender_links *links);

/**
 * Format the signed Reply-To address of a digest (service/inbound/handler.h).
 *
 * @return owned by the caller; NULL without commands by mail
 */
char *sender_identity_format_reply_to(
    const struct sender_identity *sender, const struct digest *digest);

/**
 * Format the token of a digest in the links that answer its papers.
 *
 * @return owned by the caller; "" with tokens in the subject; NULL without commands by
 *         mail
 */
char *sender_format_answer_token(
    const struct sender_identity *sender, const struct digest *digest);

/** Format a link that mails an answer to a paper. @param verb  such as "like" @return
 * owned by the caller */
char *sender_format_answer_url(const struct sender_identity *sender, const char *verb,
    const char *id, const char *token);
