/*
 * command.c - the commands of one letter, and the answer to it.
 */
#include "service/command.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "mail/command_lines.h"
#include "service/command_work.h"
#include "store/people.h"

#define ENGLISH "en"

/* A line of run_pending() that gives back who had left; nobody can type it. */
#define RESTORE "+restore "

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
	g_free(reply->confirm_token);
	g_free(reply->undo_token);
	g_free(reply->attachment);
	g_free(reply->attachment_name);
	g_free(reply->attachment_type);
	*reply = (struct command_reply){0};
}

static char *
fill_mark(char *text, const char *mark, const char *token)
{
	g_auto(GStrv) parts = text && token ? g_strsplit(text, mark, -1) : NULL;

	if (!parts)
		return text;
	g_free(text);
	return g_strjoinv(token, parts);
}

void
command_reply_fill(struct command_reply *reply, const char *confirm, const char *undo)
{
	reply->text = fill_mark(reply->text, COMMAND_CONFIRM_MARK, confirm);
	reply->text = fill_mark(reply->text, COMMAND_UNDO_MARK, undo);
}

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

/* What the person did wrong is told; what went wrong here is not. */
static bool
is_told(const GError *error)
{
	return error->domain == PB_ERROR &&
	       (error->code == PB_ERROR_INPUT || error->code == PB_ERROR_LIMIT ||
	           error->code == PB_ERROR_NOT_FOUND);
}

/* An example helps where a command was not understood, and once is enough. */
static void
say_example(struct command_work *work, const struct command_row *row, bool is_wanted)
{
	g_autofree char *name = g_strconcat("example.", row->verb, NULL);
	g_autofree char *text = NULL;

	/* What is wrong with a query has an example of its own. */
	if (row == work->exemplified || !phrases_has(work->context->phrases, name) ||
	    (!is_wanted && strstr(row->arguments, "QUERY")))
		return;
	text = answer_format(&work->answer, name);
	answer_say(&work->answer, "", "example", "line", text);
	work->exemplified = row;
}

static void
say_error(struct command_work *work, const struct command_row *row, const char *message,
    bool is_wanted)
{
	g_autofree char *shown = answer_quote_message(&work->answer, message);

	answer_add(&work->answer, "error", shown);
	say_example(work, row, is_wanted);
	work->reply->failed++;
}

/*
 * Run one command in a savepoint; what it said of a failure is taken back.
 *
 * @return false when the letter has to end; else `problem` tells whether it worked
 */
static bool
attempt(struct command_work *work, const struct command_row *row, const char *arguments,
    GError **problem, GError **error)
{
	pb_transaction transaction = {0};
	gsize before = work->answer.text->len;

	if (!store_begin(work->context->store, &transaction, error))
		return false;
	if (row->run(work, arguments, problem))
		return store_commit(&transaction, error);
	g_assert(*problem);
	g_string_truncate(work->answer.text, before);
	if (is_told(*problem))
		return true;
	g_propagate_error(error, g_steal_pointer(problem));
	return false;
}

static bool
run_now(struct command_work *work, const struct command_row *row, const char *arguments,
    GError **error)
{
	g_autoptr(GError) problem = NULL;

	if (!attempt(work, row, arguments, &problem, error))
		return false;
	if (problem)
		say_error(work, row, problem->message, false);
	else
		work->reply->done++;
	return true;
}

/* What waits already, so that a line that comes after it is tried behind it. */
static bool
replay(struct command_work *work, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(work->pending->str, "\n", -1);

	if (!work->subscriber && !command_run_subscribe(work,
	                             work->subscribing ? work->subscribing : "", error))
		return false;
	for (char **line = lines; *line; line++) {
		const char *arguments;
		const struct command_row *row =
		    **line ? command_table_read(*line, &arguments) : NULL;

		if (row && !row->run(work, arguments, error))
			return false;
	}
	return true;
}

/* Try a command and undo it. @return the line that waits, NULL with an error */
static char *
rehearse(struct command_work *work, const struct command_row *row,
    const char *arguments, GError **error)
{
	pb_transaction transaction = {0};
	g_autofree char *line = g_strdup(arguments);
	gsize before = work->answer.text->len;
	bool is_ok;

	g_clear_pointer(&work->rehearsed, g_free);
	if (!store_begin(work->context->store, &transaction, error))
		return NULL;
	work->is_rehearsal = true;
	is_ok = replay(work, error);
	g_clear_pointer(&work->rehearsed, g_free);
	if (is_ok && row->fix) {
		g_free(line);
		line = row->fix(work, arguments, error);
		is_ok = line != NULL;
	}
	is_ok =
	    is_ok && (row->run == command_run_subscribe || row->run(work, line, error));
	work->is_rehearsal = false;
	g_string_truncate(work->answer.text, before);
	store_rollback(&transaction);
	/* As it was before: a stranger is one again. */
	g_clear_pointer(&work->subscriber, subscriber_free);
	if (!command_work_load(work, is_ok ? error : NULL) || !is_ok)
		return NULL;
	return *line ? g_strconcat(row->verb, " ", line, NULL) : g_strdup(row->verb);
}

/* Also whoever has left, or was only ever asked, can have all erased. */
static bool
is_forgetting(const struct command_row *row)
{
	return row->purpose == COMMAND_CONFIRM_FORGET;
}

static bool
let_wait(struct command_work *work, const struct command_row *row,
    const char *arguments, GError **error)
{
	g_autoptr(GError) problem = NULL;
	g_autofree char *line = rehearse(work, row, arguments, &problem);
	enum command_purpose purpose = work->subscriber || is_forgetting(row)
	                                   ? row->purpose
	                                   : COMMAND_CONFIRM_SUBSCRIBE;

	if (!line) {
		if (!is_told(problem)) {
			g_propagate_error(error, g_steal_pointer(&problem));
			return false;
		}
		say_error(work, row, problem->message, false);
		return true;
	}
	if (row->run == command_run_subscribe) {
		g_free(work->subscribing);
		work->subscribing = g_strdup(arguments);
	} else {
		g_string_append_printf(work->pending, "%s\n", line);
	}
	work->reply->purpose = MAX(work->reply->purpose, purpose);
	work->reply->waiting++;
	if (work->rehearsed) {
		g_autofree char *shown = answer_quote(&work->answer, work->rehearsed);

		answer_say(&work->answer, "wait", "waits_filter", "filter", shown);
	} else {
		answer_say(&work->answer, "wait", "waits");
	}
	return true;
}

static bool
must_wait(const struct command_work *work, const struct command_row *row)
{
	if (work->is_final)
		return false;
	switch (row->trust) {
	case COMMAND_TRUST_NONE:
	case COMMAND_TRUST_READ:
		return false;
	case COMMAND_TRUST_CHANGE:
		return !work->subscriber || !work->visitor->is_proven;
	case COMMAND_TRUST_CONFIRM:
		/* To subscribe twice is to ask for the list. */
		return !work->subscriber || row->run != command_run_subscribe;
	}
	return true;
}

static bool
run_unknown(struct command_work *work, const char *line)
{
	const char *arguments;
	g_autofree char *word = command_table_split(line, &arguments);
	g_autofree char *shown = answer_quote(&work->answer, word);
	const struct command_row *near = command_table_find_near(word);

	if (near)
		answer_say(&work->answer, "error", "unknown_near", "word", shown,
		    "verb", near->verb);
	else
		answer_say(&work->answer, "error", "unknown", "word", shown);
	work->reply->failed++;
	return true;
}

/* As it was typed; a filter that waited has its number again. */
static bool
echo(struct command_work *work, const char *line, GError **error)
{
	g_autofree char *shown = work->is_final && work->subscriber
	                             ? command_format_references(work, line, error)
	                             : g_strdup(line);

	if (shown)
		answer_echo(&work->answer, shown);
	return shown != NULL;
}

static bool
run_echoed(struct command_work *work, const char *line, GError **error)
{
	const char *arguments;
	const struct command_row *row = command_table_read(line, &arguments);

	if (!row)
		return run_unknown(work, line);
	if (row->arity == COMMAND_ARITY_WANTED && !*arguments) {
		g_autofree char *message = answer_format(&work->answer, "wanted",
		    "verb", row->verb, "arguments", row->arguments);

		say_error(work, row, message, true);
		return true;
	}
	if (!work->subscriber && !row->is_for_strangers) {
		answer_say(&work->answer, "error", "stranger");
		work->reply->failed++;
		return true;
	}
	return must_wait(work, row) ? let_wait(work, row, arguments, error)
	                            : run_now(work, row, arguments, error);
}

/* A stranger's line comes back once at most. */
static bool
was_echoed(const struct command_work *work, const char *line)
{
	g_auto(GStrv) lines = g_strsplit(work->echoed->str, "\n", -1);

	return g_strv_contains((const char *const *)lines, line);
}

/*
 * The answer to a stranger may have been asked for in another's name: what did not work
 * is not repeated, nor more than a little of the rest.
 */
static bool
run_stranger_line(struct command_work *work, const char *line, GError **error)
{
	unsigned failed = work->reply->failed;
	gsize before, after;

	if (was_echoed(work, line))
		return true;
	answer_add_gap(&work->answer);
	before = work->answer.text->len;
	if (!echo(work, line, error))
		return false;
	after = work->answer.text->len;
	g_string_append_printf(work->echoed, "%s\n", line);
	if (!run_echoed(work, line, error))
		return false;
	if (work->reply->failed > failed || work->echoed->len > BOUNDS_STRANGER_ECHO)
		g_string_erase(
		    work->answer.text, (gssize)before, (gssize)(after - before));
	return true;
}

static bool
run_line(struct command_work *work, const char *line, GError **error)
{
	if (work->answer.is_guarded)
		return run_stranger_line(work, line, error);
	answer_add_gap(&work->answer);
	return echo(work, line, error) && run_echoed(work, line, error);
}

/* How the person is now: filters, the next digest. */
static bool
say_standing(struct command_work *work, GError **error)
{
	g_autoptr(GPtrArray) filters = NULL;
	g_autofree char *count = NULL;
	g_autofree char *due = NULL;

	if (!work->subscriber)
		return true;
	filters = people_load_subscriptions(
	    work->context->store, work->subscriber->id, error);
	if (!filters)
		return false;
	if (!filters->len) {
		answer_say_plain(&work->answer, "you_have_none");
		return true;
	}
	count = answer_format_count(&work->answer, "you_have", filters->len);
	if (work->subscriber->state == SUBSCRIBER_PAUSED) {
		g_autofree char *day =
		    answer_format_day(&work->answer, work->subscriber->paused_until);

		due = *day ? answer_format(&work->answer, "standing_paused", "day", day)
		           : answer_format(&work->answer, "standing_paused_open");
	} else if (work->subscriber->state == SUBSCRIBER_SUSPENDED) {
		due = answer_format(&work->answer, "standing_suspended");
	} else if (work->subscriber->next_due_at <= work->context->now) {
		due = answer_format(&work->answer, "standing_soon");
	} else {
		g_autofree char *time = answer_format_time(&work->answer,
		    work->subscriber->next_due_at, work->subscriber->zone);

		due = answer_format(&work->answer, "standing_next", "time", time);
	}
	{
		g_autofree char *whole = g_strdup_printf("%s %s", count, due);

		answer_add_plain(&work->answer, whole);
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
		g_autofree char *part =
		    answer_format_count(&work->answer, counts[i].name, counts[i].count);

		if (counts[i].count)
			g_string_append_printf(
			    text, "%s%s", text->len ? ", " : "", part);
	}
	g_string_append_c(text, '.');
	answer_add_plain(&work->answer, text->str);
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
	struct answer answer;

	if (work->reply->purpose != COMMAND_CONFIRM_ADDRESS)
		return;
	answer_init(&answer, work->context->phrases, work->language, false);
	{
		g_autofree char *text = answer_format(
		    &answer, "ask_new_address", "address", work->context->address);

		answer_add_plain(&answer, text);
		answer_add_gap(&answer);
		answer_add_command(&answer, "confirm");
		g_string_insert(answer.text, (gssize)answer.text->len - 1,
		    " " COMMAND_CONFIRM_MARK);
	}
	work->reply->new_text = g_strdup(answer.text->str);
	answer_clear(&answer);
}

static void
ask(struct command_work *work)
{
	struct command_reply *reply = work->reply;
	g_autofree char *text = NULL;

	if (!reply->waiting)
		return;
	text = answer_format(&work->answer, asking[reply->purpose], "address",
	    work->context->address, "new",
	    reply->new_address ? reply->new_address : "");
	answer_add_gap(&work->answer);
	answer_add_plain(&work->answer, text);
	answer_add_gap(&work->answer);
	/* On a line of its own: a token is too long for another. */
	g_string_append(work->answer.text, "confirm " COMMAND_CONFIRM_MARK "\n");
	/* A stranger who wants all erased wants nothing else. */
	if (!work->subscriber && reply->purpose == COMMAND_CONFIRM_FORGET)
		reply->pending = g_strdup("forget me");
	else if (!work->subscriber)
		reply->pending = g_strdup_printf("subscribe %s\n%s",
		    work->subscribing ? work->subscribing : "", work->pending->str);
	else
		reply->pending = g_strdup(work->pending->str);
	ask_new_address(work);
}

static bool
finish(struct command_work *work, GError **error)
{
	if (!command_work_load(work, error))
		return false;
	ask(work);
	answer_add_gap(&work->answer);
	say_counts(work);
	if (!say_standing(work, error))
		return false;
	answer_say_plain(&work->answer, "footer", "help", work->context->help_address);
	work->reply->text = g_strdup(work->answer.text->str);
	return true;
}

static bool
run_lines(struct command_work *work, const struct command_lines *lines, GError **error)
{
	for (unsigned i = 0; i < lines->lines->len; i++)
		if (!run_line(work, lines->lines->pdata[i], error))
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
		return run_line(work, work->visitor->verb, error);
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
	             run_letter(&work, letter, error) && finish(&work, error);

	end(&work);
	if (!is_ok)
		command_reply_clear(reply);
	return is_ok;
}

bool
command_say(const struct command_context *context,
    const struct command_visitor *visitor, const char *phrase,
    struct command_reply *reply, GError **error)
{
	struct command_work work;
	bool is_ok = begin(&work, context, visitor, reply, false, error);

	if (is_ok) {
		answer_say_plain(&work.answer, phrase, "token", COMMAND_CONFIRM_MARK,
		    "undo", COMMAND_UNDO_MARK);
		is_ok = finish(&work, error);
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

	if (!run_line(work, line, error))
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
	*is_restoring = g_str_has_prefix(line, RESTORE);
	return *is_restoring ? run_now(work, &restore, line + strlen(RESTORE), error)
	                     : run_line(work, line, error);
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
	             run_pending_lines(&work, pending, error) && finish(&work, error);

	end(&work);
	if (!is_ok)
		command_reply_clear(reply);
	return is_ok;
}
