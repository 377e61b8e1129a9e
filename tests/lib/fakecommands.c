/*
 * fakecommands.c - commands that note what they were asked for, and do little.
 */
#include "lib/fakecommands.h"

#include <string.h>

#include "service/command/command.h"
#include "service/people/subscribe.h"
#include "store/subscriber/subscribers.h"

GString *fakecommands_done;

static const struct {
	const char *word;
	enum command_mode purpose;
} waiting[] = {
    {"change", COMMAND_CONFIRM_CHANGE},
    {"export", COMMAND_CONFIRM_EXPORT},
    {"address", COMMAND_CONFIRM_ADDRESS},
    {"forget", COMMAND_CONFIRM_FORGET},
};

static bool
unsubscribe(const struct command_context *context, const struct command_user *user,
    struct command_reply *reply, GError **error)
{
	pb_auto(subscriber) subscriber = NULL;

	reply->text = g_strdup("gone; undo " COMMAND_UNDO_MARK "\n");
	if (!user->subscriber_id)
		return true;
	reply->undo = g_strdup("restore");
	subscriber = subscribers_load(context->store, user->subscriber_id, error);
	return subscriber &&
	       subscribe_remove_now(context->store, subscriber, context->now, error);
}

bool
command_run(const struct command_context *context, const struct command_user *user,
    const struct inmail *mail, struct command_reply *reply, GError **error)
{
	const char *said = user->verb ? user->verb : mail->subject;
	g_auto(GStrv) words = g_strsplit(said, " ", -1);
	const char *word = words[0] ? words[0] : "";

	g_string_append_printf(fakecommands_done, "run %s%s %s;", user->address,
	    user->is_proven ? " proven" : "", word);
	if (g_str_equal(word, "unsubscribe"))
		return unsubscribe(context, user, reply, error);
	reply->text = g_strdup("an answer\n");
	if (g_str_equal(word, "confirm"))
		reply->confirm_token = g_strdup(words[1] ? words[1] : "");
	else if (g_str_equal(word, "undo"))
		reply->undo_token = g_strdup(words[1]);
	else if (g_str_equal(word, ""))
		reply->is_help = true;
	else if (g_str_equal(word, "subscribe") && !user->subscriber_id) {
		reply->pending = g_strdup("subscribe\nadd diffusion");
		reply->purpose = COMMAND_CONFIRM_SUBSCRIBE;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(waiting); i++)
		if (g_str_equal(word, waiting[i].word) &&
		    (user->subscriber_id ||
		        waiting[i].purpose == COMMAND_CONFIRM_FORGET) &&
		    (i > 0 || !user->is_proven)) {
			reply->pending = g_strdup(said);
			reply->purpose = waiting[i].purpose;
		}
	if (reply->purpose == COMMAND_CONFIRM_ADDRESS) {
		reply->new_address = g_strdup(words[1]);
		reply->new_text = g_strdup("new " COMMAND_CONFIRM_MARK "\n");
	}
	if (reply->pending) {
		g_free(reply->text);
		reply->text = g_strdup("confirm " COMMAND_CONFIRM_MARK "\n");
	}
	return true;
}

bool
command_say(const struct command_context *context, const struct command_user *user,
    const char *phrase, const char *value, struct command_reply *reply, GError **error)
{
	(void)context;
	(void)error;
	g_string_append_printf(fakecommands_done, "say %s %s%s%s;", user->address,
	    phrase, value ? " " : "", value ? value : "");
	reply->text = g_strconcat(phrase, "; undo " COMMAND_UNDO_MARK "\n", NULL);
	return true;
}

bool
command_run_confirmed(const struct command_context *context,
    const struct command_user *user, const char *pending, struct command_reply *reply,
    GError **error)
{
	const struct subscribe_request request = {.address = user->address,
	    .consent = "by mail",
	    .zone = "UTC",
	    .max_full = 20,
	    .who = context->who,
	    .key = context->key};
	pb_auto(subscriber) added = NULL;

	if (g_str_has_prefix(pending, "address ") && user->subscriber_id) {
		added = subscribe_change_address(context->store, user->address,
		    pending + strlen("address "), context->key, context->who,
		    context->now, error);
		reply->old_address = g_strdup(user->address);
		reply->old_subject = g_strdup("moved");
		reply->old_text = g_strdup("it moved\n");
		if (!added)
			return false;
	}
	g_string_append_printf(fakecommands_done, "pending %s%s %.9s;", user->address,
	    user->is_proven ? " proven" : "", pending);
	reply->text = g_strdup("welcome\n");
	if (g_str_equal(pending, "forget"))
		reply->is_forgotten = true;
	if (g_str_equal(pending, "export")) {
		reply->attachment = g_strdup("{}\n");
		reply->attachment_name = g_strdup("paperboy-export.json");
		reply->attachment_type = g_strdup("application/json");
	}
	if (!g_str_has_prefix(pending, "subscribe") && !g_str_equal(pending, "restore"))
		return true;
	reply->is_changed = true;
	added =
	    subscribe_add(context->store, &request, context->now, NULL, NULL, error);
	return added != NULL;
}

void
fakecommands_assert(const char *wanted)
{
	g_assert_cmpstr(fakecommands_done->str, ==, wanted);
	g_string_truncate(fakecommands_done, 0);
}
