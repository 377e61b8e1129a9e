/*
 * masthead.c - who a digest is from, and how to answer, change or stop it.
 */
#include "render/masthead.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "mail/address.h"
#include "mail/header.h"
#include "render/render_key.h"

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
take_owner(struct masthead *masthead, const char *text, GError **error)
{
	struct address owner = {0};
	g_autofree char *link = NULL;

	if (!check_address("owner", text, &owner, error))
		return false;
	link = address_format_mailto(&owner, NULL);
	masthead->owner = g_strdup(owner.text);
	masthead->stop_url = address_format_mailto(&owner, "unsubscribe");
	masthead->change_url = address_format_mailto(&owner, "change my filters");
	masthead->list_owner_value = g_strdup_printf("<%s>", link);
	address_clear(&owner);
	return true;
}

/* People write commands instead of letters to the owner. */
static void
take_commands(struct masthead *masthead, const struct extension_base *base)
{
	g_autofree char *subscribe =
	    extension_format_mailto(base, EXTENSION_SUBSCRIBE, NULL);
	g_autofree char *help = extension_format_mailto(base, EXTENSION_HELP, NULL);

	extension_form_init(&masthead->leave, base, EXTENSION_LEAVE, true);
	extension_form_init(&masthead->reply, base, EXTENSION_REPLY, false);
	masthead->has_commands = true;
	masthead->list_subscribe_value = g_strdup_printf("<%s>", subscribe);
	masthead->list_help_value = g_strdup_printf("<%s>", help);
	g_free(masthead->owner);
	masthead->owner = g_strdup(base->address.text);
	g_free(masthead->change_url);
	masthead->change_url = address_format_mailto(&base->address, "help");
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
make_fixed(struct masthead *masthead, GError **error)
{
	const struct message_field extra[] = {
	    {"List-Id", masthead->list_id_value},
	    {"List-Help", masthead->list_help_value},
	    {"List-Subscribe", masthead->list_subscribe_value},
	    {"List-Owner", masthead->list_owner_value},
	    {"List-Post", "NO"},
	    {"Auto-Submitted", "auto-generated"},
	    {"Precedence", "bulk"},
	    /* Not "All": that would silence delivery reports too (MS-OXCMAIL). */
	    {"X-Auto-Response-Suppress", "OOF, AutoReply"},
	};
	const struct message_fields fields = {
	    .from = {masthead->from_name, masthead->from_address},
	    .extra = extra,
	    .extra_count = G_N_ELEMENTS(extra),
	};

	return message_fixed_init(&masthead->fixed, &fields, error);
}

static bool
take_settings(
    struct masthead *masthead, const struct renderer_settings *settings, GError **error)
{
	struct address from = {0};
	g_autofree char *phrase = NULL;

	if (g_bytes_get_size(settings->key) < BOUNDS_KEY_BYTES_MIN) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "the secret key has fewer than %d octets", BOUNDS_KEY_BYTES_MIN);
		return false;
	}
	if (!check_list_id(settings->list_id, error) ||
	    !take_owner(masthead, settings->owner_address, error))
		return false;
	if (settings->commands)
		take_commands(masthead, settings->commands);
	masthead->message_domain =
	    address_parse_domain(settings->message_domain, error);
	if (!masthead->message_domain) {
		g_prefix_error(error, "message domain: ");
		return false;
	}
	if (!check_address("from", settings->from_address, &from, error))
		return false;
	masthead->from_address = g_strdup(from.text);
	address_clear(&from);
	masthead->from_name = g_strdup(settings->from_name);
	masthead->list_name = g_strdup(settings->list_name);
	masthead->secret = g_bytes_ref(settings->key);
	masthead->tokens = token_maker_new(settings->key);
	phrase = header_format_phrase(settings->list_name);
	masthead->list_id_value = g_strdup_printf(
	    "%s%s<%s>", phrase, phrase[0] != '\0' ? " " : "", settings->list_id);
	return make_fixed(masthead, error);
}

bool
masthead_init(
    struct masthead *masthead, const struct renderer_settings *settings, GError **error)
{
	*masthead = (struct masthead){0};
	if (take_settings(masthead, settings, error))
		return true;
	masthead_clear(masthead);
	return false;
}

void
masthead_clear(struct masthead *masthead)
{
	message_fixed_clear(&masthead->fixed);
	token_maker_free(masthead->tokens);
	g_clear_pointer(&masthead->secret, g_bytes_unref);
	extension_form_clear(&masthead->leave);
	extension_form_clear(&masthead->reply);
	g_free(masthead->from_name);
	g_free(masthead->from_address);
	g_free(masthead->message_domain);
	g_free(masthead->list_name);
	g_free(masthead->list_id_value);
	g_free(masthead->list_owner_value);
	g_free(masthead->list_help_value);
	g_free(masthead->list_subscribe_value);
	g_free(masthead->owner);
	g_free(masthead->stop_url);
	g_free(masthead->change_url);
	*masthead = (struct masthead){0};
}

/* The secret itself is not hashed, only a token that changes with it. */
void
masthead_hash(const struct masthead *masthead, GChecksum *sum)
{
	g_autofree char *token = token_derive(masthead->secret, "render-key", 0);

	render_key_add(sum, masthead->from_name);
	render_key_add(sum, masthead->from_address);
	render_key_add(sum, masthead->message_domain);
	render_key_add(sum, masthead->list_id_value);
	render_key_add(sum, masthead->list_name);
	render_key_add(sum, masthead->owner);
	render_key_add(sum, masthead->stop_url);
	render_key_add(sum, masthead->list_help_value);
	render_key_add(sum, token);
}

char *
masthead_format_stop_url(const struct masthead *masthead, const struct digest *digest)
{
	g_autofree char *token = NULL;

	if (!masthead->has_commands)
		return g_strdup(masthead->stop_url);
	token = token_maker_sign(masthead->tokens, EXTENSION_TOKEN_LEAVE,
	    digest->subscriber_id, digest->subscriber_since);
	return extension_form_fill(&masthead->leave, token);
}

char *
masthead_format_reply_to(const struct masthead *masthead, const struct digest *digest)
{
	g_autofree char *token = NULL;

	if (!masthead->has_commands)
		return NULL;
	token = token_maker_sign(
	    masthead->tokens, EXTENSION_TOKEN_REPLY, digest->id, digest->created_at);
	return extension_form_fill(&masthead->reply, token);
}
