/*
 * command_finish.c - how an answer ends: what to confirm, how many lines, what comes
 * next.
 */
#include <string.h>

#include "service/command/command_private.h"
#include "store/subscriber/subscribers.h"

static guint
count_filters(const GPtrArray *subscriptions)
{
	guint count = 0;

	for (guint i = 0; i < subscriptions->len; i++) {
		const struct subscription *own = subscriptions->pdata[i];

		count += !own->is_block;
	}
	return count;
}

/* How the person is now: filters, the next digest. */
static bool
say_status(struct command_work *work, GError **error)
{
	g_autoptr(GPtrArray) own = NULL;
	guint filters;
	g_autofree char *count = NULL;
	g_autofree char *due = NULL;

	if (!work->subscriber)
		return true;
	own = subscribers_load_subscriptions(
	    work->context->store, work->subscriber->id, error);
	if (!own)
		return false;
	filters = count_filters(own);
	if (!filters) {
		reply_text_say_plain(&work->answer, "you_have_none");
		return true;
	}
	count = reply_text_format_count(&work->answer, "you_have", filters);
	if (work->subscriber->state == SUBSCRIBER_PAUSED) {
		g_autofree char *day = reply_text_format_day(
		    &work->answer, work->subscriber->paused_until);

		due = *day ? reply_text_format(
		                 &work->answer, "standing_paused", "day", day)
		           : reply_text_format(&work->answer, "standing_paused_open");
	} else if (work->subscriber->state == SUBSCRIBER_SUSPENDED) {
		due = reply_text_format(&work->answer, "standing_suspended");
	} else if (work->subscriber->next_due_at <= work->context->now) {
		due = reply_text_format(&work->answer, "standing_soon");
	} else {
		g_autofree char *time = reply_text_format_time(&work->answer,
		    work->subscriber->next_due_at, work->subscriber->zone);

		due = reply_text_format(&work->answer, "standing_next", "time", time);
	}
	{
		g_autofree char *whole = g_strdup_printf("%s %s", count, due);

		reply_text_add_plain(&work->answer, whole);
	}
	return true;
}

static void
say_counts(struct command_work *work)
{
	const struct command_reply *reply = work->reply;
	const struct {
		const char *name;
		unsigned count;
	} counts[] = {{"done", reply->done}, {"waiting", reply->waiting},
	    {"failed", reply->failed}};
	g_autoptr(GString) text = g_string_new(NULL);

	if (reply->done + reply->failed + reply->waiting < 2 && !reply->failed)
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) {
		g_autofree char *part = reply_text_format_count(
		    &work->answer, counts[i].name, counts[i].count);

		if (counts[i].count)
			g_string_append_printf(
			    text, "%s%s", text->len ? ", " : "", part);
	}
	g_string_append_c(text, '.');
	reply_text_add_plain(&work->answer, text->str);
}

/* What a confirmation is asked for with, by purpose. */
static const char *const asking[] = {
    [COMMAND_CONFIRM_NOTHING] = NULL,
    [COMMAND_CONFIRM_SUBSCRIBE] = "ask_subscribe",
    [COMMAND_CONFIRM_CHANGE] = "ask_change",
    [COMMAND_CONFIRM_EXPORT] = "ask_export",
    [COMMAND_CONFIRM_ADDRESS] = "ask_address",
    [COMMAND_CONFIRM_FORGET] = "ask_forget",
};

static void
ask_new_address(struct command_work *work)
{
	struct reply_text answer;

	if (work->reply->purpose != COMMAND_CONFIRM_ADDRESS)
		return;
	reply_text_init(&answer, work->context->phrases, work->language, false);
	{
		g_autofree char *text = reply_text_format(
		    &answer, "ask_new_address", "address", work->context->address);

		reply_text_add_plain(&answer, text);
		reply_text_add_blank(&answer);
		reply_text_add_command(&answer, "confirm");
		g_string_insert(answer.text, (gssize)answer.text->len - 1,
		    " " COMMAND_CONFIRM_MARK);
	}
	work->reply->new_text = g_strdup(answer.text->str);
	reply_text_clear(&answer);
}

static void
ask(struct command_work *work)
{
	struct command_reply *reply = work->reply;
	bool is_english = strcmp(work->language, "en") == 0;
	g_autofree char *text = NULL;

	/* Waiting commands have to be confirmed first. */
	if (reply->waiting)
		g_clear_pointer(&reply->suggestion, g_free);
	if (reply->suggestion) {
		g_autofree char *shown =
		    reply_text_quote(&work->answer, reply->suggestion);

		reply_text_add_blank(&work->answer);
		reply_text_say_plain(&work->answer, "ask_suggestion", "line", shown);
	}
	if (!reply->waiting)
		return;
	text = reply_text_format(&work->answer, asking[reply->purpose], "address",
	    work->context->address, "new",
	    reply->new_address ? reply->new_address : "");
	reply_text_add_blank(&work->answer);
	reply_text_add_plain(&work->answer, text);
	reply_text_add_blank(&work->answer);
	/* On a line of its own: a token is too long for another. */
	g_string_append(work->answer.text, "confirm " COMMAND_CONFIRM_MARK "\n");
	/* A stranger who wants all erased wants nothing else. */
	if (!work->subscriber && reply->purpose == COMMAND_CONFIRM_FORGET)
		reply->pending = g_strdup("forget me");
	else if (!work->subscriber)
		reply->pending = g_strdup_printf("%s%s%ssubscribe %s\n%s",
		    is_english ? "" : COMMAND_LANGUAGE,
		    is_english ? "" : work->language, is_english ? "" : "\n",
		    work->subscribing ? work->subscribing : "", work->pending->str);
	else
		reply->pending = g_strdup(work->pending->str);
	ask_new_address(work);
}

bool
command_finish(struct command_work *work, GError **error)
{
	if (!command_work_load(work, error))
		return false;
	g_strlcpy(work->reply->language, work->language, sizeof(work->reply->language));
	ask(work);
	reply_text_add_blank(&work->answer);
	say_counts(work);
	if (!say_status(work, error))
		return false;
	reply_text_say_plain(
	    &work->answer, "footer", "help", work->context->help_address);
	work->reply->text = g_strdup(work->answer.text->str);
	return true;
}
