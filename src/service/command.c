/*
 * command.c - the commands of one letter, and the answer to it.
 */
#include "service/command.h"

#include <string.h>

#include "base/bounds.h"
#include "mail/command_lines.h"
#include "service/command_work.h"
#include "store/people.h"

#define ENGLISH "en"

static const char *
choose_language(const struct command_work *work)
{
	const struct phrasebook *book = work->context->phrases;
	const char *own = work->subscriber ? work->subscriber->language : "";

	if (*own && phrasebook_has_language(book, own))
		return own;
	if (work->visitor->language &&
	    phrasebook_has_language(book, work->visitor->language))
		return work->visitor->language;
	return ENGLISH;
}

bool
command_work_load(struct command_work *work, GError **error)
{
	int64_t id =
	    work->subscriber ? work->subscriber->id : work->visitor->subscriber_id;
	struct subscriber *loaded =
	    id ? people_load(work->context->store, id, error) : NULL;

	if (id && !loaded)
		return false;
	subscriber_free(work->subscriber);
	work->subscriber = loaded;
	if (loaded &&
	    (loaded->state == SUBSCRIBER_GONE || loaded->state == SUBSCRIBER_PENDING))
		g_clear_pointer(&work->subscriber, subscriber_free);
	if (work->subscriber) {
		g_free(work->address);
		work->address = g_strdup(work->subscriber->address);
	}
	return true;
}

static bool
begin(struct command_work *work, const struct command_context *context,
    const struct command_visitor *visitor, struct command_reply *reply, bool is_final,
    GError **error)
{
	*work = (struct command_work){.context = context,
	    .visitor = visitor,
	    .reply = reply,
	    .is_final = is_final,
	    .address = g_strdup(visitor->address),
	    .echoed = g_string_new(NULL),
	    .pending = g_string_new(NULL)};
	if (!command_work_load(work, error))
		return false;
	g_strlcpy(work->language, choose_language(work), sizeof(work->language));
	answer_init(&work->answer, context->phrases, work->language,
	    !is_final && !visitor->subscriber_id);
	return true;
}

static void
end(struct command_work *work)
{
	subscriber_free(work->subscriber);
	g_string_free(work->echoed, TRUE);
	g_string_free(work->pending, TRUE);
	g_free(work->subscribing);
	g_free(work->rehearsed);
	g_free(work->address);
	answer_clear(&work->answer);
}

static bool
run_lines(struct command_work *work, const struct command_lines *lines, GError **error)
{
	for (unsigned i = 0; i < lines->lines->len; i++)
		if (!command_run_line(work, lines->lines->pdata[i], error))
			return false;
	if (lines->stopped_at && !work->answer.is_guarded) {
		g_autofree char *shown = answer_quote(&work->answer, lines->stopped_at);

		answer_add_gap(&work->answer);
		answer_say_plain(&work->answer, "stopped", "line", shown);
	}
	if (lines->is_more || lines->is_cut) {
		g_autofree char *most = g_strdup_printf("%d", BOUNDS_COMMANDS);

		answer_add_gap(&work->answer);
		answer_say_plain(&work->answer,
		    lines->is_more ? "too_many" : "too_long", "most", most);
	}
	return true;
}

/* A letter without any command: the help, which tells how to write one. */
static bool
run_nothing(struct command_work *work, GError **error)
{
	work->reply->is_help = true;
	answer_say_plain(&work->answer, "nothing_read");
	answer_add_gap(&work->answer);
	return command_run_help(work, "", error);
}

static bool
run_letter(struct command_work *work, const struct letter *letter, GError **error)
{
	struct command_lines lines;
	bool is_ok;

	if (work->visitor->verb)
		return command_run_line(work, work->visitor->verb, error);
	command_lines_read(letter->subject, letter->text, command_table_judge, &lines);
	is_ok = lines.lines->len ? run_lines(work, &lines, error)
	                         : run_nothing(work, error);
	if (lines.is_in_subject)
		work->reply->subject = answer_format(&work->answer, "subject");
	command_lines_clear(&lines);
	return is_ok;
}

bool
command_run(const struct command_context *context,
    const struct command_visitor *visitor, const struct letter *letter,
    struct command_reply *reply, GError **error)
{
	struct command_work work;
	bool is_ok = begin(&work, context, visitor, reply, false, error) &&
	             run_letter(&work, letter, error) && command_close(&work, error);

	end(&work);
	if (!is_ok)
		command_reply_clear(reply);
	return is_ok;
}

bool
command_say(const struct command_context *context,
    const struct command_visitor *visitor, const char *phrase, const char *value,
    struct command_reply *reply, GError **error)
{
	struct command_work work;
	bool is_ok = begin(&work, context, visitor, reply, false, error);

	if (is_ok) {
		answer_say_plain(&work.answer, phrase, "token", COMMAND_CONFIRM_MARK,
		    "undo", COMMAND_UNDO_MARK, "address", context->address, "value",
		    value ? value : "");
		is_ok = command_close(&work, error);
	}
	end(&work);
	if (!is_ok)
		command_reply_clear(reply);
	return is_ok;
}

/* A line of what is given back: only what cannot be is told. */
static bool
run_quietly(struct command_work *work, const char *line, GError **error)
{
	g_autofree char *said = g_strdup(work->answer.text->str);
	unsigned failed = work->reply->failed;

	if (!command_run_line(work, line, error))
		return false;
	if (work->reply->failed == failed)
		g_string_assign(work->answer.text, said);
	return true;
}

static bool
run_pending_line(
    struct command_work *work, const char *line, bool *is_restoring, GError **error)
{
	static const struct command_row restore = {
	    .verb = "restore", .arguments = "", .run = command_run_restore};

	if (*is_restoring)
		return run_quietly(work, line, error);
	*is_restoring = g_str_has_prefix(line, COMMAND_RESTORE);
	return *is_restoring ? command_run_row(work, &restore,
	                           line + strlen(COMMAND_RESTORE), error)
	                     : command_run_line(work, line, error);
}

static bool
run_pending_lines(struct command_work *work, const char *pending, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(pending, "\n", -1);
	bool is_new = !work->subscriber, is_restoring = false;

	for (char **line = lines; *line; line++)
		if (**line &&
		    !run_pending_line(work, g_strchomp(*line), &is_restoring, error))
			return false;
	if (is_restoring)
		work->reply->done = 1;
	if (!is_new || !work->subscriber)
		return true;
	answer_add_gap(&work->answer);
	return command_say_list(work, error);
}

bool
command_run_pending(const struct command_context *context,
    const struct command_visitor *visitor, const char *pending,
    struct command_reply *reply, GError **error)
{
	struct command_work work;
	bool is_ok = begin(&work, context, visitor, reply, true, error) &&
	             run_pending_lines(&work, pending, error) &&
	             command_close(&work, error);

	end(&work);
	if (!is_ok)
		command_reply_clear(reply);
	return is_ok;
}
