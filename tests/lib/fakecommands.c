/*
 * fakecommands.c - commands that append their calls to conversation_calls.
 *
 * They replace service/command/command.c in tests of the handler.
 */
#include <string.h>

#include "conversation.h"
#include "service/command/command.h"
#include "service/command/command_private.h"
#include "service/people/subscribe.h"
#include "store/subscriber/subscribers.h"

static const struct {
	const char *word;
	enum command_confirm confirm;
} waiting[] = {
    {"change", COMMAND_CONFIRM_CHANGE},
    {"export", COMMAND_CONFIRM_EXPORT},
    {"address", COMMAND_CONFIRM_ADDRESS},
    {"forget", COMMAND_CONFIRM_ERASE},
};

static bool
unsubscribe(struct request *request, GError **error)
{
	request->reply.text = g_strdup("gone; undo " COMMAND_UNDO_MARK "\n");
	if (!request->subscriber)
		return true;
	request->reply.undo = g_strdup("restore");
	return subscribe_remove_now(
	           request->store, request->subscriber, request->now, error) &&
	       request_reload(request, error);
}

static void
wait(struct request *request, const char *said, const char *const *words)
{
	struct command_reply *reply = &request->reply;

	if (g_str_equal(words[0], "subscribe") && !request->subscriber) {
		reply->pending = g_strdup("subscribe\nadd diffusion");
		reply->confirm = COMMAND_CONFIRM_SUBSCRIBE;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(waiting); i++)
		if (g_str_equal(words[0], waiting[i].word) &&
		    (request->subscriber ||
		        waiting[i].confirm == COMMAND_CONFIRM_ERASE) &&
		    (i > 0 || !request->is_proven)) {
			reply->pending = g_strdup(said);
			reply->confirm = waiting[i].confirm;
		}
	if (reply->confirm == COMMAND_CONFIRM_ADDRESS) {
		reply->new_address = g_strdup(words[1]);
		reply->new_text = g_strdup("new " COMMAND_CONFIRM_MARK "\n");
	}
	if (reply->pending) {
		g_free(reply->text);
		reply->text = g_strdup("confirm " COMMAND_CONFIRM_MARK "\n");
	}
}

static void
record(const struct request *request, const char *what, const char *text)
{
	bool is_proven = request->is_proven && request->subscriber;

	g_string_append_printf(conversation_calls, "%s %s%s %s;", what,
	    request->address, is_proven ? " proven" : "", text);
}

bool
command_run(struct request *request, GError **error)
{
	const char *said = request->verb ? request->verb : request->mail->subject;
	struct command_reply *reply = &request->reply;
	g_auto(GStrv) words = g_strsplit(said, " ", -1);
	const char *const first[] = {
	    words[0] ? words[0] : "", words[0] && words[1] ? words[1] : NULL};

	record(request, "run", first[0]);
	if (request->subscriber)
		g_strlcpy(reply->language, request->subscriber->language,
		    sizeof(reply->language));
	if (g_str_equal(first[0], "unsubscribe"))
		return unsubscribe(request, error);
	reply->text = g_strdup("an answer\n");
	if (g_str_equal(first[0], "confirm"))
		reply->confirm_token = g_strdup(first[1] ? first[1] : "");
	else if (g_str_equal(first[0], "undo"))
		reply->undo_token = g_strdup(first[1]);
	wait(request, said, first);
	return true;
}

/* Four words recognise a text. @return a new string */
static char *
first_words(const char *text)
{
	g_auto(GStrv) words = g_strsplit(text, " ", 5);

	if (g_strv_length(words) > 4)
		g_clear_pointer(&words[4], g_free);
	return g_strjoinv(" ", words);
}

bool
command_reply_with(
    struct request *request, const char *text, const char *value, GError **error)
{
	g_autofree char *begin = first_words(text);

	(void)error;
	g_string_append_printf(conversation_calls, "say %s %s%s%s;", request->address,
	    begin, value ? " " : "", value ? value : "");
	request->reply.text =
	    g_strconcat(begin, "; undo " COMMAND_UNDO_MARK "\n", NULL);
	return true;
}

static bool
move(struct request *request, const char *address, GError **error)
{
	struct command_reply *reply = &request->reply;
	pb_auto(subscriber) moved =
	    subscribe_change_address(request->store, request->address, address,
	        request->key, request->actor, request->now, error);

	reply->old_address = g_strdup(request->address);
	reply->old_subject = g_strdup("moved");
	reply->old_text = g_strdup("it moved\n");
	return moved != NULL;
}

bool
command_run_confirmed(struct request *request, const char *pending, GError **error)
{
	const struct subscribe_request wanted = {.address = request->address,
	    .consent = "by mail",
	    .zone = "UTC",
	    .max_full = 20,
	    .who = request->actor,
	    .key = request->key};
	struct command_reply *reply = &request->reply;
	g_autofree char *shown = g_strdup_printf("%.9s", pending);

	if (g_str_has_prefix(pending, "address ") && request->subscriber &&
	    !move(request, pending + strlen("address "), error))
		return false;
	g_string_append_printf(conversation_calls, "pending %s%s %s;", request->address,
	    request->is_proven ? " proven" : "", shown);
	reply->text = g_strdup("welcome\n");
	if (g_str_equal(pending, "forget"))
		reply->is_erased = true;
	if (g_str_equal(pending, "export")) {
		reply->attachment = g_strdup("{}\n");
		reply->attachment_name = g_strdup("paperboy-export.json");
		reply->attachment_type = g_strdup("application/json");
	}
	if (!g_str_has_prefix(pending, "subscribe") && !g_str_equal(pending, "restore"))
		return request_reload(request, error);
	reply->is_changed = true;
	request->subscriber =
	    subscribe_add(request->store, &wanted, request->now, NULL, NULL, error);
	return request->subscriber != NULL;
}

void
command_add_examples(struct request *request)
{
	(void)request;
}

bool
command_prose_is_verb(const char *intent, const char *verb)
{
	return strcmp(intent, verb) == 0;
}

char *
command_find_answer(const struct inmail *mail, const char *verb, bool *has_numbers)
{
	(void)mail;
	(void)verb;
	*has_numbers = false;
	return NULL;
}

char *
command_find_language(const char *pending)
{
	(void)pending;
	return NULL;
}

bool
command_has_wish(const struct request *request, const char *asked)
{
	(void)request, (void)asked;
	return false;
}

const char *
command_find_question(const struct request *request)
{
	(void)request;
	return NULL;
}

bool
command_run_line(struct request *request, const char *line, GError **error)
{
	(void)request;
	(void)line;
	(void)error;
	g_assert_not_reached();
}
