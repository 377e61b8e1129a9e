/*
 * request.c - the requester of a request, and the owned parts of its reply.
 */
#include "service/command/request.h"

#include <string.h>

#include "base/token.h"
#include "message/address.h"
#include "model/digest.h"
#include "store/mail/digests.h"
#include "store/subscriber/subscribers.h"

static void
set_subscriber(struct request *request, struct subscriber *subscriber)
{
	subscriber_free(request->subscriber);
	request->subscriber = subscriber;
	if (subscriber && !subscriber_is_subscribed(subscriber))
		g_clear_pointer(&request->subscriber, subscriber_free);
	if (!request->subscriber)
		return;
	/* The stored spelling, not that of the message. */
	g_free(request->address);
	request->address = g_strdup(request->subscriber->address);
}

bool
request_set_requester(struct request *request, const char *text, GError **error)
{
	pb_local(address) address = {0};
	struct subscriber *subscriber;

	if (!address_parse(text, &address, error))
		return false;
	g_free(request->address);
	g_free(request->address_key);
	request->address = g_strdup(address.text);
	request->address_key = address_format_key(&address);
	if (!subscribers_find(request->store, request->address_key, &subscriber, error))
		return false;
	set_subscriber(request, subscriber);
	request->subscriber_id = request->subscriber ? request->subscriber->id : 0;
	return true;
}

/* Start of the Message-ID of a digest. */
#define DIGEST_ID "digest."

bool
request_reload(struct request *request, GError **error)
{
	int64_t id =
	    request->subscriber ? request->subscriber->id : request->subscriber_id;
	struct subscriber *loaded =
	    id ? subscribers_load(request->store, id, error) : NULL;

	if (id && !loaded)
		return false;
	set_subscriber(request, loaded);
	return true;
}

/*
 * The Message-ID of a digest ends in the id of its subscriber (token_format_with_id()),
 * that of another mail may end in a token for replies.
 *
 * @return the local part of a Message-ID of ours without these; or NULL
 */
static char *
parse_own_id(const struct request *request, const char *id)
{
	const char *at = strrchr(id, '@');
	g_autofree char *local = at ? g_ascii_strdown(id, at - id) : NULL;
	g_auto(GStrv) parts = local ? g_strsplit(local, ".", 3) : NULL;

	if (!at || g_strv_length(parts) < 2 ||
	    g_ascii_strcasecmp(at + 1, request->own_addresses->domain) != 0)
		return NULL;
	if (strcmp(parts[0], "digest") == 0 && strlen(parts[1]) > TOKEN_LENGTH)
		parts[1][TOKEN_LENGTH] = '\0';
	return g_strconcat(parts[0], ".", parts[1], NULL);
}

bool
request_find_answered(const struct request *request, char **answered, GError **error)
{
	pb_auto(digest) digest = NULL;
	const GPtrArray *ids = NULL;

	*answered = NULL;
	if (request->mail)
		ids = request->mail->in_reply_to->len ? request->mail->in_reply_to
		                                      : request->mail->references;
	/* The parent is last. */
	if (ids && ids->len)
		*answered = parse_own_id(request, ids->pdata[ids->len - 1]);
	if (*answered || !request->digest_id)
		return true;
	if (!digests_find_head(request->store, request->digest_id, &digest, error))
		return false;
	if (digest)
		*answered = g_strconcat(DIGEST_ID, digest->message_token, NULL);
	return true;
}

bool
request_find_digest(struct request *request, GError **error)
{
	const GPtrArray *ids = request->mail ? request->mail->references : NULL;
	guint left = ids && request->has_token && request->subscriber ? ids->len : 0;

	while (left-- && !request->digest_id) {
		const char *whole = ids->pdata[left];
		g_autofree char *own = parse_own_id(request, whole);
		g_autofree char *token = NULL;
		int64_t id, subscriber_id;

		if (!own || !g_str_has_prefix(own, DIGEST_ID))
			continue;
		whole += strlen(DIGEST_ID);
		token = g_strndup(whole, strcspn(whole, "@"));
		if (!digests_find_by_token(
		        request->store, token, &id, &subscriber_id, error))
			return false;
		if (subscriber_id == request->subscriber->id)
			request->digest_id = id;
	}
	return true;
}

void
request_clear(struct request *request)
{
	g_clear_pointer(&request->address, g_free);
	g_clear_pointer(&request->address_key, g_free);
	g_clear_pointer(&request->subscriber, subscriber_free);
	request->subscriber_id = 0;
	request->is_proven = request->has_token = request->is_removed = false;
	request->digest_id = 0;
	request->undo = NULL;
	request->name = request->verb = request->confirm_token = NULL;
	command_reply_clear(&request->reply);
}

void
command_reply_clear(struct command_reply *reply)
{
	g_free(reply->subject);
	g_free(reply->text);
	g_free(reply->pending);
	g_free(reply->new_address);
	g_free(reply->new_text);
	g_free(reply->old_address);
	g_free(reply->old_subject);
	g_free(reply->old_text);
	g_free(reply->undo);
	g_free(reply->suggestion);
	g_free(reply->confirm_token);
	g_free(reply->undo_token);
	g_free(reply->attachment);
	g_free(reply->attachment_name);
	g_free(reply->attachment_type);
	g_clear_pointer(&reply->invited, g_ptr_array_unref);
	g_clear_pointer(&reply->results, g_ptr_array_unref);
	g_clear_pointer(&reply->shown, g_array_unref);
	*reply = (struct command_reply){0};
}
