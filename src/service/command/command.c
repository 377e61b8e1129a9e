/*
 * command.c - the commands of one letter, and the answer to it.
 */
#include "service/command/command.h"

#include <string.h>

#include "base/bounds.h"
#include "message/command_text.h"
#include "service/command/command_private.h"
#include "service/command/request_match.h"
#include "service/people/profile.h"
#include "store/subscriber/subscribers.h"

#define ENGLISH "en"

/* The person's language; else the message's, where it is known and there is a file. */
static const char *
choose_language(const struct command_work *work, const struct inmail *mail)
{
	const struct catalog *book = work->context->phrases;
	const char *own = work->subscriber ? work->subscriber->language : "";

	if (*own && catalog_has_language(book, own))
		return own;
	if (work->user->language && catalog_has_language(book, work->user->language))
		return work->user->language;
	if (mail && !work->subscriber) {
		g_autofree char *text = g_strdup_printf("%s\n%s",
		    command_text_skip_prefixes(mail->subject ? mail->subject : ""),
		    mail->text ? mail->text : "");
		const char *guessed = request_guess_language(text);

		if (guessed && catalog_has_language(book, guessed))
			return guessed;
	}
	return ENGLISH;
}

bool
command_work_load(struct command_work *work, GError **error)
{
	int64_t id =
	    work->subscriber ? work->subscriber->id : work->user->subscriber_id;
	struct subscriber *loaded =
	    id ? subscribers_load(work->context->store, id, error) : NULL;

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
    const struct command_user *user, const struct inmail *mail,
    struct command_reply *reply, bool is_final, GError **error)
{
	*work = (struct command_work){.context = context,
	    .user = user,
	    .reply = reply,
	    .is_final = is_final,
	    .address = g_strdup(user->address),
	    .echoed = g_string_new(NULL),
	    .pending = g_string_new(NULL)};
	if (!command_work_load(work, error))
		return false;
	g_strlcpy(work->language, choose_language(work, mail), sizeof(work->language));
	reply_text_init(&work->answer, context->phrases, work->language,
	    !is_final && !user->subscriber_id);
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
	reply_text_clear(&work->answer);
}

static bool
run_lines(struct command_work *work, const struct command_text *lines, GError **error)
{
	for (unsigned i = 0; i < lines->lines->len; i++)
		if (!command_run_line(work, lines->lines->pdata[i], error))
			return false;
	if (lines->stopped_at && !work->answer.is_guarded) {
		g_autofree char *shown =
		    reply_text_quote(&work->answer, lines->stopped_at);

		reply_text_add_blank(&work->answer);
		reply_text_say_plain(&work->answer, "stopped", "line", shown);
	}
	if (lines->is_more || lines->is_cut) {
		g_autofree char *most = g_strdup_printf("%d", BOUNDS_COMMANDS);

		reply_text_add_blank(&work->answer);
		reply_text_say_plain(&work->answer,
		    lines->is_more ? "too_many" : "too_long", "most", most);
	}
	return true;
}

/* A message without any command: what can be done from here, in a few lines. */
static void
run_nothing(struct command_work *work, enum request request)
{
	work->reply->is_help = true;
	reply_text_say_plain(&work->answer,
	    request == REQUEST_LEAVE_UNCLEAR ? "leave_unclear" : "nothing_read");
	reply_text_add_blank(&work->answer);
	reply_text_say_plain(
	    &work->answer, work->subscriber ? "first_help" : "first_help_stranger");
}

/*
 * Find a request in ordinary words: the subject, or the first own line of the text
 * behind a greeting.
 *
 * @param line  set to that line, a new string, or NULL
 */
static enum request
find_request(const struct inmail *mail, char **line)
{
	g_auto(GStrv) lines = g_strsplit(mail->text ? mail->text : "", "\n", -1);
	const char *subject =
	    command_text_skip_prefixes(mail->subject ? mail->subject : "");
	enum request found = request_match(subject);

	*line = NULL;
	if (found >= REQUEST_SUBSCRIBE)
		return found;
	for (char **at = lines; *at; at++) {
		enum request here;

		g_strstrip(*at);
		if (**at == '>' || !**at)
			continue;
		here = request_match(*at);
		if (here == REQUEST_FILLER)
			continue;
		*line = g_strdup(*at);
		return here == REQUEST_NONE ? found : here;
	}
	return found;
}

/* The lines behind a request to subscribe. @param line  which it was, or NULL */
static bool
run_subscription(struct command_work *work, const struct inmail *mail,
    struct command_text *lines, const char *line, GError **error)
{
	const char *first = lines->lines->len ? lines->lines->pdata[0] : NULL;

	if (!first || (line && strcmp(first, line) == 0)) {
		if (first)
			g_ptr_array_remove_index(lines->lines, 0);
		if (!command_run_line(work, "subscribe", error))
			return false;
	}
	if (!run_lines(work, lines, error))
		return false;
	return work->pending->len || !work->subscribing ||
	       command_infer_filters(work, mail->text, line, error);
}

static bool
run_words(struct command_work *work, const struct inmail *mail,
    struct command_text *lines, GError **error)
{
	g_autofree char *line = NULL;
	enum request request =
	    lines->is_in_subject ? REQUEST_NONE : find_request(mail, &line);

	if (request == REQUEST_UNSUBSCRIBE)
		return command_run_line(work, "unsubscribe", error);
	if (request == REQUEST_SUBSCRIBE || lines->is_in_subject)
		return run_subscription(work, mail, lines, line, error);
	if (lines->lines->len)
		return run_lines(work, lines, error);
	run_nothing(work, request);
	return true;
}

static bool
run_mail(struct command_work *work, const struct inmail *mail, GError **error)
{
	struct command_text lines;
	bool is_ok;

	if (work->user->verb)
		return command_run_line(work, work->user->verb, error);
	command_text_read(mail->subject, mail->text, command_table_judge, &lines);
	is_ok = run_words(work, mail, &lines, error);
	if (lines.is_in_subject || request_match(command_text_skip_prefixes(
	                               mail->subject)) >= REQUEST_SUBSCRIBE)
		work->reply->subject = reply_text_format(&work->answer, "subject");
	command_text_clear(&lines);
	return is_ok;
}

bool
command_run(const struct command_context *context, const struct command_user *user,
    const struct inmail *mail, struct command_reply *reply, GError **error)
{
	struct command_work work;
	bool is_ok = begin(&work, context, user, mail, reply, false, error) &&
	             run_mail(&work, mail, error) && command_finish(&work, error);

	end(&work);
	if (!is_ok)
		command_reply_clear(reply);
	return is_ok;
}

bool
command_say(const struct command_context *context, const struct command_user *user,
    const char *phrase, const char *value, struct command_reply *reply, GError **error)
{
	struct command_work work;
	bool is_ok = begin(&work, context, user, NULL, reply, false, error);

	if (is_ok) {
		reply_text_say_plain(&work.answer, phrase, "token",
		    COMMAND_CONFIRM_MARK, "undo", COMMAND_UNDO_MARK, "address",
		    context->address, "value", value ? value : "");
		is_ok = command_finish(&work, error);
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

	if (g_str_has_prefix(line, COMMAND_LANGUAGE)) {
		g_strlcpy(work->language, line + strlen(COMMAND_LANGUAGE),
		    sizeof(work->language));
		return true;
	}
	if (*is_restoring)
		return run_quietly(work, line, error);
	*is_restoring = g_str_has_prefix(line, COMMAND_RESTORE);
	return *is_restoring ? command_run_row(work, &restore,
	                           line + strlen(COMMAND_RESTORE), error)
	                     : command_run_line(work, line, error);
}

/* A subscription keeps the language of its request, unless a line chose another. */
static bool
save_language(struct command_work *work, const char *pending, GError **error)
{
	const struct profile_change change = {
	    .language = work->language, .who = work->context->who};
	pb_auto(subscriber) after = NULL;

	if (!g_str_has_prefix(pending, COMMAND_LANGUAGE) || *work->subscriber->language)
		return true;
	after = profile_set(
	    work->context->store, work->address, &change, work->context->now, error);
	return after && command_work_load(work, error);
}

static bool
run_pending_lines(struct command_work *work, const char *pending, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(pending, "\n", -1);
	bool is_new = !work->subscriber, is_restoring = false;

	work->has_filters = strstr(pending, "\nadd ") != NULL;
	for (char **line = lines; *line; line++)
		if (**line &&
		    !run_pending_line(work, g_strchomp(*line), &is_restoring, error))
			return false;
	if (is_restoring)
		work->reply->done = 1;
	if (!is_new || !work->subscriber)
		return true;
	if (!save_language(work, pending, error))
		return false;
	if (!work->has_filters)
		return true;
	reply_text_add_blank(&work->answer);
	return command_say_list(work, error);
}

static bool
has_other_commands(const char *text)
{
	struct command_text lines;
	bool is_found = false;

	command_text_read(NULL, text, command_table_judge, &lines);
	for (guint i = 0; i < lines.lines->len; i++) {
		const char *arguments;
		const struct command_row *row =
		    command_table_read(lines.lines->pdata[i], &arguments);

		if (row && row->run != command_run_confirm &&
		    row->run != command_run_subscribe)
			is_found = true;
	}
	command_text_clear(&lines);
	return is_found;
}

static void
note_unread_commands(struct command_work *work)
{
	const char *text = work->user->confirmed_by;

	if (!text || !has_other_commands(text))
		return;
	reply_text_add_blank(&work->answer);
	reply_text_say_plain(&work->answer, "only_confirmed");
}

bool
command_run_confirmed(const struct command_context *context,
    const struct command_user *user, const char *pending, struct command_reply *reply,
    GError **error)
{
	struct command_work work;
	bool is_ok = begin(&work, context, user, NULL, reply, true, error) &&
	             run_pending_lines(&work, pending, error);

	if (is_ok)
		note_unread_commands(&work);
	is_ok = is_ok && command_finish(&work, error);
	end(&work);
	if (!is_ok)
		command_reply_clear(reply);
	return is_ok;
}
