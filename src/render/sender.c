/*
 * sender.c - who a digest is from, and how to answer, change or stop it.
 */
#include "render/sender.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "message/address.h"
#include "message/header.h"
#include "render/cache_key.h"

static bool
check_address(const char *name, const char *text, struct address *out, GError **error)
{
	if (!address_parse(text, out, error)) {
		g_prefix_error(error, "%s: ", name);
		return false;
	}
	return true;
}

static bool
take_owner(struct sender_identity *sender_identity, const char *text, GError **error)
{
	struct address owner = {0};
	g_autofree char *link = NULL;

	if (!check_address("owner", text, &owner, error))
		return false;
	link = address_format_mailto(&owner, NULL);
	sender_identity->owner = g_strdup(owner.text);
	sender_identity->stop_url = address_format_mailto(&owner, "unsubscribe");
	sender_identity->change_url =
	    address_format_mailto(&owner, "change my filters");
	sender_identity->list_owner_value = g_strdup_printf("<%s>", link);
	address_clear(&owner);
	return true;
}

/* People write commands instead of letters to the owner. */
static void
take_commands(
    struct sender_identity *sender_identity, const struct subaddress_base *base)
{
	g_autofree char *subscribe =
	    subaddress_format_mailto(base, SUBADDRESS_SUBSCRIBE, NULL);
	g_autofree char *help = subaddress_format_mailto(base, SUBADDRESS_HELP, NULL);

	subaddress_template_init(&sender_identity->leave, base, SUBADDRESS_LEAVE, true);
	subaddress_template_init(
	    &sender_identity->reply, base, SUBADDRESS_REPLY, false);
	sender_identity->has_commands = true;
	sender_identity->list_subscribe_value = g_strdup_printf("<%s>", subscribe);
	sender_identity->list_help_value = g_strdup_printf("<%s>", help);
	g_free(sender_identity->owner);
	sender_identity->owner = g_strdup(base->address.text);
	g_free(sender_identity->change_url);
	sender_identity->change_url = address_format_mailto(&base->address, "help");
}

/* A list id looks like a domain (RFC 2919 section 2) and goes into angle brackets. */
static bool
check_list_id(const char *list_id, GError **error)
{
	g_autofree char *domain = address_parse_domain(list_id, NULL);

	if (!domain || strcmp(domain, list_id) != 0 ||
	    strlen(list_id) > BOUNDS_LIST_ID_BYTES) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "list id: wanted is a name like "
		    "'digest.example.org', in lower case");
		return false;
	}
	return true;
}

/* What stands in all our messages alike. */
static bool
make_fixed(struct sender_identity *sender_identity, GError **error)
{
	const struct compose_header extra[] = {
	    {"List-Id", sender_identity->list_id_value},
	    {"List-Help", sender_identity->list_help_value},
	    {"List-Subscribe", sender_identity->list_subscribe_value},
	    {"List-Owner", sender_identity->list_owner_value},
	    {"List-Post", "NO"},
	    {"Auto-Submitted", "auto-generated"},
	    {"Precedence", "bulk"},
	    /* Not "All": that would silence delivery reports too (MS-OXCMAIL). */
	    {"X-Auto-Response-Suppress", "OOF, AutoReply"},
	};
	const struct compose_headers fields = {
	    .from = {sender_identity->from_name, sender_identity->from_address},
	    .extra = extra,
	    .extra_count = G_N_ELEMENTS(extra),
	};

	return compose_prefix_init(&sender_identity->fixed, &fields, error);
}

static bool
take_settings(struct sender_identity *sender_identity,
    const struct renderer_settings *settings, GError **error)
{
	struct address from = {0};
	g_autofree char *phrase = NULL;

	if (g_bytes_get_size(settings->key) < BOUNDS_KEY_BYTES_MIN) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "the secret key has fewer than %d octets", BOUNDS_KEY_BYTES_MIN);
		return false;
	}
	if (!check_list_id(settings->list_id, error) ||
	    !take_owner(sender_identity, settings->owner_address, error))
		return false;
	if (settings->commands)
		take_commands(sender_identity, settings->commands);
	sender_identity->message_domain =
	    address_parse_domain(settings->message_domain, error);
	if (!sender_identity->message_domain) {
		g_prefix_error(error, "message domain: ");
		return false;
	}
	if (!check_address("from", settings->from_address, &from, error))
		return false;
	sender_identity->from_address = g_strdup(from.text);
	address_clear(&from);
	sender_identity->from_name = g_strdup(settings->from_name);
	sender_identity->list_name = g_strdup(settings->list_name);
	sender_identity->secret = g_bytes_ref(settings->key);
	sender_identity->tokens = token_signer_new(settings->key);
	phrase = header_format_phrase(settings->list_name);
	sender_identity->list_id_value = g_strdup_printf(
	    "%s%s<%s>", phrase, phrase[0] != '\0' ? " " : "", settings->list_id);
	return make_fixed(sender_identity, error);
}

bool
sender_identity_init(struct sender_identity *sender_identity,
    const struct renderer_settings *settings, GError **error)
{
	*sender_identity = (struct sender_identity){0};
	if (take_settings(sender_identity, settings, error))
		return true;
	sender_identity_clear(sender_identity);
	return false;
}

void
sender_identity_clear(struct sender_identity *sender_identity)
{
	compose_prefix_clear(&sender_identity->fixed);
	token_signer_free(sender_identity->tokens);
	g_clear_pointer(&sender_identity->secret, g_bytes_unref);
	subaddress_template_clear(&sender_identity->leave);
	subaddress_template_clear(&sender_identity->reply);
	g_free(sender_identity->from_name);
	g_free(sender_identity->from_address);
	g_free(sender_identity->message_domain);
	g_free(sender_identity->list_name);
	g_free(sender_identity->list_id_value);
	g_free(sender_identity->list_owner_value);
	g_free(sender_identity->list_help_value);
	g_free(sender_identity->list_subscribe_value);
	g_free(sender_identity->owner);
	g_free(sender_identity->stop_url);
	g_free(sender_identity->change_url);
	*sender_identity = (struct sender_identity){0};
}

/* The secret itself is not hashed, only a token that changes with it. */
void
sender_identity_hash(const struct sender_identity *sender_identity, GChecksum *sum)
{
	g_autofree char *token = token_derive(sender_identity->secret, "render-key", 0);

	cache_key_add(sum, sender_identity->from_name);
	cache_key_add(sum, sender_identity->from_address);
	cache_key_add(sum, sender_identity->message_domain);
	cache_key_add(sum, sender_identity->list_id_value);
	cache_key_add(sum, sender_identity->list_name);
	cache_key_add(sum, sender_identity->owner);
	cache_key_add(sum, sender_identity->stop_url);
	cache_key_add(sum, sender_identity->list_help_value);
	cache_key_add(sum, token);
}

char *
sender_identity_format_stop_url(
    const struct sender_identity *sender_identity, const struct digest *digest)
{
	g_autofree char *token = NULL;

	if (!sender_identity->has_commands)
		return g_strdup(sender_identity->stop_url);
	token = token_signer_sign(sender_identity->tokens, SUBADDRESS_TOKEN_LEAVE,
	    digest->subscriber_id, digest->subscriber_since);
	return subaddress_template_expand(&sender_identity->leave, token);
}

char *
sender_identity_format_reply_to(
    const struct sender_identity *sender_identity, const struct digest *digest)
{
	g_autofree char *token = NULL;

	if (!sender_identity->has_commands)
		return NULL;
	token = token_signer_sign(sender_identity->tokens, SUBADDRESS_TOKEN_REPLY,
	    digest->id, digest->created_at);
	return subaddress_template_expand(&sender_identity->reply, token);
}
