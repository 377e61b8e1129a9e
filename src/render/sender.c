/*
 * sender.c - sender identity: From, List-* fields, reply and unsubscribe addresses.
 */
#include "render/sender.h"

#include "base/bounds.h"
#include "base/error.h"
#include "message/address.h"
#include "message/header.h"

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
set_owner(struct sender_identity *sender, const char *text, GError **error)
{
	pb_local(address) owner = {0};
	g_autofree char *link = NULL;

	if (!check_address("owner", text, &owner, error))
		return false;
	link = address_format_mailto(&owner, NULL);
	sender->owner = g_strdup(owner.text);
	sender->stop_url = address_format_mailto(&owner, "unsubscribe");
	sender->change_url = address_format_mailto(&owner, "change my filters");
	sender->list_owner_value = g_strdup_printf("<%s>", link);
	return true;
}

/* Replace the links to the owner by commands. */
static void
set_commands(struct sender_identity *sender, const struct subaddress_base *base)
{
	static const struct {
		enum subaddress_kind kind;
		/* Ends of the link: with subaddresses, with tokens in the subject. */
		const char *ends[2];
	} actions[] = {
	    [SENDER_STOP] = {SUBADDRESS_LEAVE,
	        {"?subject=unsubscribe", "%20unsubscribe"}},
	    [SENDER_PAUSE] = {SUBADDRESS_PAUSE, {"?subject=pause", "%20pause"}},
	    [SENDER_WEEKLY] = {SUBADDRESS_WEEKLY, {"?subject=weekly", "%20weekly"}},
	    [SENDER_FEWER] = {SUBADDRESS_FEWER, {"?subject=fewer", "%20fewer"}},
	};
	g_autofree char *subscribe =
	    subaddress_format_mailto(base, SUBADDRESS_SUBSCRIBE, NULL);
	g_autofree char *help = subaddress_format_mailto(base, SUBADDRESS_HELP, NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(actions); i++) {
		struct sender_link *link = &sender->links[i];

		subaddress_template_init(&link->url, base, actions[i].kind, true);
		subaddress_template_init(&link->address, base, actions[i].kind, false);
		link->end = actions[i].ends[base->delimiter == 0];
	}
	subaddress_template_init(&sender->reply, base, SUBADDRESS_REPLY, false);
	subaddress_template_init(&sender->reply_url, base, SUBADDRESS_REPLY, true);
	sender->has_commands = true;
	sender->has_subaddresses = base->delimiter != 0;
	sender->list_subscribe_value = g_strdup_printf("<%s>", subscribe);
	sender->list_help_value = g_strdup_printf("<%s>", help);
	g_free(sender->owner);
	sender->owner = g_strdup(base->address.text);
	g_free(sender->change_url);
	sender->change_url = address_format_mailto(&base->address, "help");
	sender->mail_url = address_format_mailto(&base->address, NULL);
}

/* A list id has the form of a domain name (RFC 2919 section 2). */
static bool
check_list_id(const char *list_id, GError **error)
{
	g_autofree char *domain = address_parse_domain(list_id, NULL);

	if (!domain || strcmp(domain, list_id) != 0 ||
	    strlen(list_id) > BOUNDS_LIST_ID_BYTES)
		return pb_fail(error, PB_ERROR_INPUT,
		    "list id: expected a lower-case name like 'digest.example.org'");
	return true;
}

char *
sender_format_feedback(const struct subaddress_base *commands)
{
	g_autofree char *address =
	    subaddress_format(commands, SUBADDRESS_FEEDBACK, NULL);

	return g_strdup_printf("%s; report=arf", address);
}

static bool
set_settings(struct sender_identity *sender, const struct renderer_settings *settings,
    GError **error)
{
	pb_local(address) from = {0};
	g_autofree char *phrase = NULL;

	if (g_bytes_get_size(settings->key) < BOUNDS_KEY_BYTES_MIN)
		return pb_fail(error, PB_ERROR_INPUT,
		    "the secret key is shorter than %d bytes", BOUNDS_KEY_BYTES_MIN);
	if (!check_list_id(settings->list_id, error) ||
	    !set_owner(sender, settings->owner_address, error))
		return false;
	if (settings->commands)
		set_commands(sender, settings->commands);
	if (settings->commands && settings->has_feedback)
		sender->feedback_value = sender_format_feedback(settings->commands);
	sender->message_domain = address_parse_domain(settings->message_domain, error);
	if (!sender->message_domain) {
		g_prefix_error(error, "message domain: ");
		return false;
	}
	if (!check_address("from", settings->from_address, &from, error))
		return false;
	sender->from_address = g_strdup(from.text);
	sender->from_name = g_strdup(settings->from_name);
	sender->list_name = g_strdup(settings->list_name);
	if (settings->web_url)
		sender->web_url = g_strdup(settings->web_url);
	/* RFC 8058 section 3.1 requires https. */
	sender->has_one_click = settings->has_one_click && settings->web_url &&
	                        g_str_has_prefix(settings->web_url, "https://");
	sender->secret = g_bytes_ref(settings->key);
	sender->tokens = token_signer_new(settings->key);
	phrase = header_format_phrase(settings->list_name);
	sender->list_id_value = g_strdup_printf(
	    "%s%s<%s>", phrase, phrase[0] != '\0' ? " " : "", settings->list_id);
	return true;
}

bool
sender_identity_init(struct sender_identity *sender,
    const struct renderer_settings *settings, GError **error)
{
	*sender = (struct sender_identity){0};
	if (set_settings(sender, settings, error))
		return true;
	sender_identity_clear(sender);
	return false;
}

void
sender_identity_clear(struct sender_identity *sender)
{
	token_signer_free(sender->tokens);
	g_clear_pointer(&sender->secret, g_bytes_unref);
	for (size_t i = 0; i < SENDER_ACTIONS; i++) {
		subaddress_template_clear(&sender->links[i].url);
		subaddress_template_clear(&sender->links[i].address);
	}
	subaddress_template_clear(&sender->reply);
	subaddress_template_clear(&sender->reply_url);
	g_free(sender->from_name);
	g_free(sender->from_address);
	g_free(sender->message_domain);
	g_free(sender->list_name);
	g_free(sender->list_id_value);
	g_free(sender->list_owner_value);
	g_free(sender->list_help_value);
	g_free(sender->list_subscribe_value);
	g_free(sender->feedback_value);
	g_free(sender->owner);
	g_free(sender->stop_url);
	g_free(sender->change_url);
	g_free(sender->mail_url);
	g_free(sender->web_url);
	*sender = (struct sender_identity){0};
}

/* Hash a token derived from the secret, not the secret itself. */
void
sender_identity_hash(const struct sender_identity *sender, GChecksum *checksum)
{
	g_autofree char *token = token_derive(sender->secret, "render-key", 0);

	sender_hash_text(checksum, sender->from_name);
	sender_hash_text(checksum, sender->from_address);
	sender_hash_text(checksum, sender->message_domain);
	sender_hash_text(checksum, sender->list_id_value);
	sender_hash_text(checksum, sender->list_name);
	sender_hash_text(checksum, sender->owner);
	sender_hash_text(checksum, sender->stop_url);
	sender_hash_text(checksum, sender->list_help_value);
	sender_hash_text(checksum, sender->feedback_value);
	sender_hash_text(checksum, sender->web_url);
	sender_hash_text(checksum, sender->has_one_click ? SENDER_ONE_CLICK : NULL);
	sender_hash_text(checksum, token);
}

char *
sender_format_unsubscribe(const char *web_link, const char *mail_link)
{
	return web_link ? g_strdup_printf("<%s>, <%s>", web_link, mail_link)
	                : g_strdup_printf("<%s>", mail_link);
}

void
sender_links_init(struct sender_links *links, const struct sender_identity *sender,
    const struct digest *digest)
{
	g_autofree char *web_url = NULL;
	g_autofree char *mail_url = NULL;

	*links = (struct sender_links){0};
	links->leave_token = token_signer_sign(sender->tokens, SUBADDRESS_TOKEN_LEAVE,
	    digest->subscriber_id, digest->subscriber_since);
	mail_url = sender->has_commands
	               ? subaddress_template_expand(
	                     &sender->links[SENDER_STOP].url, links->leave_token)
	               : g_strdup(sender->stop_url);
	if (sender->web_url)
		links->view_token = token_signer_sign(sender->tokens,
		    SUBADDRESS_TOKEN_VIEW, digest->id, digest->created_at);
	if (sender->has_one_click)
		web_url = g_strconcat(sender->web_url, "/u/", links->leave_token, NULL);
	links->list_value = sender_format_unsubscribe(web_url, mail_url);
}

void
sender_links_clear(struct sender_links *links)
{
	g_free(links->leave_token);
	g_free(links->view_token);
	g_free(links->list_value);
	*links = (struct sender_links){0};
}

char *
sender_format_answer_token(
    const struct sender_identity *sender, const struct digest *digest)
{
	if (!sender->has_commands)
		return NULL;
	if (!sender->has_subaddresses)
		return g_strdup("");
	return token_signer_sign(
	    sender->tokens, SUBADDRESS_TOKEN_REPLY, digest->id, digest->created_at);
}

char *
sender_identity_format_reply_to(
    const struct sender_identity *sender, const struct digest *digest)
{
	g_autofree char *token = sender_format_answer_token(sender, digest);

	if (!token)
		return NULL;
	/* The Message-ID identifies the digest in replies. */
	return *token ? subaddress_template_expand(&sender->reply, token)
	              : g_strdup(sender->owner);
}

char *
sender_format_answer_url(const struct sender_identity *sender, const char *verb,
    const char *id, const char *token)
{
	g_autofree char *command = g_strconcat(verb, " ", id, NULL);
	g_autofree char *subject = g_uri_escape_string(command, NULL, FALSE);
	g_autofree char *url = sender->has_subaddresses ? subaddress_template_expand(
	                                                      &sender->reply_url, token)
	                                                : g_strdup(sender->mail_url);

	return g_strconcat(url, "?subject=", subject, NULL);
}
