/*
 * sender.h - who a digest is from, and how to answer, change or stop it.
 *
 * As in a printed paper: what the settings say of the sender, the same in all digests,
 * and the addresses made from it that are one reader's own.
 */
#ifndef PAPERBOY_RENDER_SENDER_H
#define PAPERBOY_RENDER_SENDER_H

#include <glib.h>
#include <stdbool.h>

#include "base/token.h"
#include "message/compose.h"
#include "message/subaddress.h"
#include "model/digest.h"
#include "render/renderer.h"

struct sender_identity {
	struct compose_prefix fixed; /* the fields that all messages have alike */
	struct token_signer *tokens;
	GBytes *secret;
	struct subaddress_template leave; /* a link; empty without commands by mail */
	struct subaddress_template reply;
	bool has_commands; /* else people write to the owner */
	char *from_name;   /* or NULL */
	char *from_address;
	char *message_domain;
	char *list_name;
	char *owner;      /* an address, for people to read */
	char *stop_url;   /* without commands: a letter to the owner */
	char *change_url; /* how to change the filters */
	/* Values of the List- fields (RFC 2369, RFC 2919). */
	char *list_id_value;
	char *list_owner_value;
	char *list_help_value;      /* NULL without commands */
	char *list_subscribe_value; /* likewise */
};

/**
 * Check and copy the settings.
 *
 * @param masthead  empty after a failure
 * @return false with PB_ERROR_INPUT; what is wrong is named
 */
bool sender_identity_init(struct sender_identity *sender_identity,
    const struct renderer_settings *settings, GError **error);
void sender_identity_clear(struct sender_identity *sender_identity);

/** Add all of it that is seen in a digest, for renderer_get_cache_key(). */
void
sender_identity_hash(const struct sender_identity *sender_identity, GChecksum *sum);

/** How a reader stops: by a letter to the owner, or by one to an address that does it.
 */
char *sender_identity_format_stop_url(
    const struct sender_identity *sender_identity, const struct digest *digest);

/**
 * Format the address for replies, which is the reader's own
 * (service/inbound/handler.h).
 *
 * @return owned by the caller; NULL without commands by mail
 */
char *sender_identity_format_reply_to(
    const struct sender_identity *sender_identity, const struct digest *digest);

#endif
