/*
 * command.c - run the commands of a message or a page, or ask for their confirmation.
 */
#include "service/command/command.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "message/command_text.h"
#include "message/prose.h"
#include "service/advice/backtest.h"
#include "service/command/command_private.h"
#include "service/people/profile.h"

#define ENGLISH "en"

char *
command_find_language(const char *pending)
{
	const char *code = pending + strlen(COMMAND_LANGUAGE);

	return g_str_has_prefix(pending, COMMAND_LANGUAGE)
	           ? g_strndup(code, strcspn(code, "\n"))
	           : NULL;
}

/* Language of the request that is not confirmed yet. @return static, or NULL */
static const char *
find_pending_language(const struct request *request)
{
	g_autofree struct confirmation *pending = NULL;
	g_autofree char *code = NULL;

	if (!confirmations_find_pending(request->store, CONFIRMATION_CONFIRM,
	        request->address_key, request->now, &pending, NULL) ||
	    !pending)
		return NULL;
	code = command_find_language(pending->action);
	return code ? g_intern_string(code) : NULL;
}

/* The subscriber's language; else that of the text, if it is known and translated. */
static const char *
choose_language(const struct request *request, const struct inmail *mail)
{
	const struct catalog *catalog = request->catalog;
	const char *own = request->subscriber ? request->subscriber->language : "";

	/* Of the page that shows the results. */
	if (request->lines && request->is_proven && request->language)
		return request->language;
	if (*own && catalog_has_language(catalog, own))
		return own;
	if (request->language && catalog_has_language(catalog, request->language))
		return request->language;
	if (mail && !request->subscriber) {
		g_autofree char *text = g_strdup_printf("%s\n%s",
		    command_text_skip_prefixes(mail->subject ? mail->subject : ""),
		    mail->text ? mail->text : "");
		const struct prose_mail raw = {.subject = "", .text = text};
		pb_auto(prose) prose = prose_read(&raw);
		const char *guessed = prose->language;

		if (!guessed)
			guessed = find_pending_language(request);
		if (guessed && catalog_has_language(catalog, guessed))
			return guessed;
	}
	return ENGLISH;
}

static bool
begin(struct request *request, const struct inmail *mail, bool is_confirmed,
    GError **error)
{
	request->is_confirmed = is_confirmed;
	request->echoed = g_string_new(NULL);
	request->pending = g_string_new(NULL);
	request->example_row = NULL;
	request->is_welcome = request->has_proposals = false;
	request->text.text = NULL;
	if (!request_reload(request, error))
		return false;
	g_strlcpy(request->text_language, choose_language(request, mail),
	    sizeof(request->text_language));
	reply_text_init(&request->text, request->catalog, request->text_language,
	    !is_confirmed && !request->subscriber_id);
	if (!request->lines || is_confirmed)
		return true;
	request->reply.results =
	    g_ptr_array_new_with_free_func((GDestroyNotify)reply_result_free);
	request->text.results = request->reply.results;
	return true;
}

static bool
end(struct request *request, bool is_ok)
{
	g_string_free(request->echoed, TRUE);
	g_string_free(request->pending, TRUE);
	g_clear_pointer(&request->subscribe_name, g_free);
	g_clear_pointer(&request->rest, g_free);
	g_clear_pointer(&request->restored, g_free);
	g_clear_pointer(&request->planned, subscriber_free);
	g_clear_pointer(&request->planned_filters, g_ptr_array_unref);
	g_clear_pointer(&request->error_filter, g_free);
	reply_text_clear(&request->text);
	if (!is_ok)
		command_reply_clear(&request->reply);
	return is_ok;
}

/* ---- one line ---- */

/* Mistakes of the user are reported to the user. */
static bool
is_user_error(const GError *error)
{
	return error->domain == PB_ERROR &&
	       (error->code == PB_ERROR_INPUT || error->code == PB_ERROR_LIMIT ||
	           error->code == PB_ERROR_NOT_FOUND);
}

/* A command in its savepoint. */
struct command {
	struct request *request;
	const struct command_row *row;
	const char *arguments;
	bool is_run; /* set: it has failed by itself if the savepoint fails */
};

static bool
run_in_savepoint(struct store *store, void *data, GError **error)
{
	struct command *command = data;

	(void)store;
	command->request->row = command->row;
	command->is_run = true;
	return command->row->run(command->request, command->arguments, error);
}

static bool
run_row(struct request *request, const struct command_row *row, const char *arguments,
    GError **error)
{
	struct command command = {request, row, arguments, false};
	g_autoptr(GError) problem = NULL;

	if (store_transact(request->store, run_in_savepoint, &command, &problem))
		request->reply.done++;
	else if (command.is_run && is_user_error(problem))
		command_add_error(request, row, problem);
	else
		return pb_error_forward(error, &problem);
	return true;
}

/* Show a proposal as the command that it is, a filter with what it finds. */
static bool
add_proposed(struct request *request, const struct command_row *row,
    const char *arguments, const struct command_decision *decision, GError **error)
{
	bool is_english = strcmp(request->text_language, "en") == 0;
	g_autofree char *line =
	    g_strconcat(row->verb, *arguments ? " " : "", arguments, NULL);
	g_autofree char *shown = reply_text_quote(&request->text, line);
	g_autofree char *papers = NULL, *span = NULL;
	unsigned found, days = BACKTEST_DAYS;

	/* The question asks for that. */
	if (row->run == command_run_subscribe)
		return true;
	if (!request->has_proposals)
		reply_text_add_paragraph(&request->text, N_("I understood:"));
	request->has_proposals = true;
	if (!decision->filter) {
		reply_text_add(&request->text, "-", shown);
		if (decision->what) {
			g_autofree char *what =
			    reply_text_quote(&request->text, decision->what);

			reply_text_add(&request->text, "", what);
		}
		return true;
	}
	if (!backtest_count(request->store, decision->filter, BACKTEST_DAYS,
	        request->now, &found, error) ||
	    !backtest_limit_days(request->store, request->now, &days, error))
		return false;
	span = reply_text_format_count(
	    &request->text, PL_("in 1 day", "in {count} days"), days);
	papers = reply_text_format_count(
	    &request->text, PL_("1 paper", "{count} papers"), found);
	reply_phrase(&request->text, "-",
	    found        ? N_("{line}  ({papers} {span})")
	    : is_english ? N_("{line}  (nothing {span}; it is kept for later papers)")
	                 : N_("{line}  (nothing {span}; it is kept for later papers, "
	                      "and nearly all papers are in English)"),
	    "line", shown, "papers", papers, "span", span);
	return true;
}

/* Former and unconfirmed subscribers can have all data erased, too. */
static enum command_confirm
get_confirm(const struct request *request, const struct command_row *row)
{
	return request->subscriber || row->confirm == COMMAND_CONFIRM_ERASE
	           ? row->confirm
	           : COMMAND_CONFIRM_SUBSCRIBE;
}

static bool
save_decision(struct request *request, const struct command_row *row,
    const char *arguments, const struct command_decision *decision, GError **error)
{
	const char *fixed = decision->arguments ? decision->arguments : arguments;

	if (row->run == command_run_subscribe) {
		g_free(request->subscribe_name);
		request->subscribe_name = g_strdup(arguments);
	} else if (decision->pending) {
		g_string_append_printf(request->pending, "%s\n", decision->pending);
	} else {
		g_string_append_printf(
		    request->pending, "%s%s%s\n", row->verb, *fixed ? " " : "", fixed);
	}
	request->reply.confirm = MAX(request->reply.confirm, get_confirm(request, row));
	request->reply.waiting++;
	return add_proposed(request, row, arguments, decision, error);
}

static bool
decide_row(struct request *request, const struct command_row *row,
    const char *arguments, GError **error)
{
	struct command_decision decision = {0};
	g_autoptr(GError) problem = NULL;

	request->row = row;
	if ((request->planned || command_plan_start(request, &problem)) &&
	    row->decide(request, arguments, &decision, &problem))
		save_decision(request, row, arguments, &decision, &problem);
	g_free(decision.arguments);
	g_free(decision.filter);
	g_free(decision.what);
	g_free(decision.pending);
	if (!problem)
		return true;
	if (!is_user_error(problem))
		return pb_error_forward(error, &problem);
	command_add_error(request, row, problem);
	return true;
}

static bool
needs_confirmation(
    const struct request *request, const struct command_row *row, const char *arguments)
{
	if (request->is_confirmed)
		return false;
	/* It only lists. */
	if (row->run == command_run_taste && !*arguments)
		return false;
	switch (row->auth) {
	case COMMAND_AUTH_NONE:
	case COMMAND_AUTH_READ:
		return false;
	case COMMAND_AUTH_CHANGE:
		return !request->subscriber || !request->is_proven;
	case COMMAND_AUTH_CONFIRM:
		/* For a subscriber, `subscribe` only lists the filters. */
		return !request->subscriber || row->run != command_run_subscribe;
	}
	return true;
}

static void
add_no_subscription(struct request *request)
{
	reply_phrase(&request->text, "error",
	    N_("this address has no subscription. To get one, write "
	       "\"subscribe\", and a line such as \"add diffusion\" for each "
	       "thing that you want to read about."));
	request->reply.failed++;
}

static void
add_unknown_command(struct request *request, const char *line)
{
	const char *arguments;
	g_autofree char *word = command_table_split(line, &arguments);
	g_autofree char *shown = reply_text_quote(&request->text, word);
	const struct command_row *closest = command_table_find_closest(word);

	if (closest && request->subscriber && !request->reply.suggestion)
		request->reply.suggestion =
		    *arguments ? g_strconcat(closest->verb, " ", arguments, NULL)
		               : g_strdup(closest->verb);
	if (closest)
		reply_phrase(&request->text, "error",
		    N_("there is no command \"{word}\". Did you mean {verb}? Nothing "
		       "was done for this line."),
		    "word", shown, "verb", closest->verb);
	else
		reply_phrase(&request->text, "error",
		    N_("there is no command \"{word}\". \"help\" lists all commands."),
		    "word", shown);
	request->reply.failed++;
}

/* "yes" and "no" without numbers: they mean what the answered mail has shown. */
static bool
is_answer(const struct command_row *row, const char *arguments)
{
	return (row->run == command_run_yes || row->run == command_run_no) &&
	       !*arguments;
}

/* @return false if the message cannot be processed */
static bool
execute(struct request *request, const char *line, GError **error)
{
	const char *arguments;
	const struct command_row *row = command_table_parse(line, &arguments);
	bool has_open = true;

	request->line = line;
	if (!row) {
		add_unknown_command(request, line);
		return true;
	}
	if (is_answer(row, arguments) &&
	    !command_has_open_proposal(request, &has_open, error))
		return false;
	if (!has_open) {
		command_add_nothing_waits(request);
		return true;
	}
	if (row->arity == COMMAND_ARITY_REQUIRED && !*arguments) {
		command_add_usage_error(request, row);
		return true;
	}
	if (!request->subscriber && !row->is_for_unknown) {
		add_no_subscription(request);
		return true;
	}
	return needs_confirmation(request, row, arguments)
	           ? decide_row(request, row, arguments, error)
	           : run_row(request, row, arguments, error);
}

bool
command_run_line(struct request *request, const char *line, GError **error)
{
	const struct command_row *before = request->row;
	const char *arguments;
	bool is_ok;

	request->row = command_table_parse(line, &arguments);
	g_assert(request->row);
	is_ok = request->row->run(request, arguments, error);
	request->row = before;
	return is_ok;
}

/* Quote a line; references in a confirmed one are shown as numbers. */
static bool
echo(struct request *request, const char *line, GError **error)
{
	g_autofree char *shown = request->is_confirmed && request->subscriber
	                             ? command_format_references(request, line, error)
	                             : g_strdup(line);

	if (shown)
		reply_text_add_quoted(&request->text, shown);
	return shown != NULL;
}

/* At most one line of an unknown sender is quoted. */
static bool
was_echoed(const struct request *request, const char *line)
{
	g_auto(GStrv) lines = g_strsplit(request->echoed->str, "\n", -1);

	return g_strv_contains((const char *const *)lines, line);
}

/*
 * Of what was confirmed only lines that failed are quoted: the person may have written
 * no line.  The sender may be forged: of such a mail, lines that failed are not quoted,
 * and of the others only BOUNDS_UNKNOWN_ECHO bytes.
 */
static bool
is_quoted(const struct request *request, const char *line, unsigned failed)
{
	const char *arguments;
	const struct command_row *row = command_table_parse(line, &arguments);
	bool has_failed = request->reply.failed > failed;

	if (!has_failed &&
	    (request->is_confirmed || (row && is_answer(row, arguments))))
		return false;
	return !request->text.is_guarded ||
	       (!has_failed && request->echoed->len <= BOUNDS_UNKNOWN_ECHO);
}

/* Lines that wait for a confirmation are listed, the others quoted. */
static bool
run_line(struct request *request, const char *line, GError **error)
{
	unsigned failed = request->reply.failed, waiting = request->reply.waiting;
	bool is_first = !request->has_proposals;
	GString *text = request->text.text;
	size_t start = text->len, from, to;

	if (request->text.is_guarded && was_echoed(request, line))
		return true;
	g_string_append_printf(request->echoed, "%s\n", line);
	reply_text_add_blank(&request->text);
	from = text->len;
	if (!echo(request, line, error))
		return false;
	to = text->len;
	if (!execute(request, line, error))
		return false;
	if (request->reply.waiting > waiting && !is_first)
		from = start;
	else if (request->reply.waiting == waiting && is_quoted(request, line, failed))
		return true;
	g_string_erase(text, (gssize)from, (gssize)(to - from));
	return true;
}

bool
command_answer_typed(struct request *request, const char *line, GError **error)
{
	return run_line(request, line, error);
}

bool
command_answer_line(struct request *request, const char *line, GError **error)
{
	reply_text_add_blank(&request->text);
	return execute(request, line, error);
}

bool
command_propose_line(struct request *request, const char *line, GError **error)
{
	const char *arguments;
	const struct command_row *row = command_table_parse(line, &arguments);

	g_assert(row);
	if (!request->subscriber && !row->is_for_unknown) {
		add_no_subscription(request);
		return true;
	}
	return decide_row(request, row, arguments, error);
}

/* ---- a message ---- */

/* Longer lines are more than an answer to a proposal. */
#define ANSWER_WORDS 4

static char *
format_answer(const char *verb, const char *line)
{
	g_auto(GStrv) words = g_strsplit_set(line, " ,.!", -1);
	GString *answer = g_string_new(verb);

	for (char **word = words; *word; word++)
		if (**word && strspn(*word, "0123456789") == strlen(*word))
			g_string_append_printf(answer, " %s", *word);
	return g_string_free(answer, FALSE);
}

static unsigned
count_words(const char *line)
{
	g_auto(GStrv) words = g_strsplit(line, " ", -1);

	return g_strv_length(words);
}

/* The first own line that is not a greeting. @return a new string, or NULL */
static char *
find_first_line(const struct inmail *mail)
{
	const struct prose_mail raw = {
	    .subject = "", .text = mail->text ? mail->text : ""};
	pb_auto(prose) prose = prose_read(&raw);

	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];

		if (!item->reason || strcmp(item->reason, "filler") == 0)
			return g_strdup(item->line);
	}
	return NULL;
}

char *
command_find_answer(const struct inmail *mail, const char *verb, bool *has_numbers)
{
	const char *subject =
	    command_text_skip_prefixes(mail->subject ? mail->subject : "");
	g_autofree char *line = find_first_line(mail);
	const struct command_row *row;
	const char *arguments;
	pb_auto(prose_item) item = NULL;

	*has_numbers = false;
	if (!line || command_table_is_command(subject))
		return NULL;
	row = command_table_parse(line, &arguments);
	if (row && (row->run == command_run_yes || row->run == command_run_no))
		*has_numbers = *arguments;
	item = prose_read_line(line);
	if (command_table_is_command(line) || count_words(line) > ANSWER_WORDS ||
	    (item && strcmp(item->wish.intent, "thanks") != 0))
		return NULL;
	return format_answer(verb, line);
}

static bool
run_page_lines(struct request *request, GError **error)
{
	for (const char *const *line = request->lines; *line; line++)
		if (!run_line(request, *line, error))
			return false;
	return true;
}

static bool
run_message(struct request *request, GError **error)
{
	if (request->lines)
		return run_page_lines(request, error);
	if (request->verb)
		return run_line(request, request->verb, error);
	return command_run_prose(request, error);
}

bool
command_run(struct request *request, GError **error)
{
	bool is_ok = begin(request, request->mail, false, error) &&
	             request_find_digest(request, error) &&
	             run_message(request, error) && command_finish(request, error);

	return end(request, is_ok);
}

bool
command_reply_with(
    struct request *request, const char *phrase, const char *value, GError **error)
{
	bool is_ok = begin(request, NULL, false, error);

	if (is_ok) {
		reply_text_add_paragraph(&request->text, phrase, "token",
		    COMMAND_CONFIRM_MARK, "undo", COMMAND_UNDO_MARK, "address",
		    request->commands_address, "value", value ? value : "", "owner",
		    request->settings->mail_owner);
		is_ok = command_finish(request, error);
	}
	return end(request, is_ok);
}

/* ---- confirmed lines ---- */

/* Lines of a new subscription, or of a restored one, are reported only if they fail. */
static bool
run_quiet_line(struct request *request, const char *line, GError **error)
{
	unsigned failed = request->reply.failed;
	size_t length = request->text.text->len;

	if (!run_line(request, line, error))
		return false;
	if (request->reply.failed == failed)
		g_string_truncate(request->text.text, length);
	return true;
}

static bool
run_pending_line(
    struct request *request, const char *line, bool *is_restoring, GError **error)
{
	static const struct command_row restore = {
	    .verb = "restore", .arguments = "", .run = command_run_restore};
	static const struct command_row known = {
	    .verb = "known", .arguments = "", .run = command_run_known_file};

	if (g_str_has_prefix(line, COMMAND_LANGUAGE)) {
		g_strlcpy(request->text_language, line + strlen(COMMAND_LANGUAGE),
		    sizeof(request->text_language));
		return true;
	}
	if (g_str_has_prefix(line, COMMAND_KNOWN))
		return run_row(request, &known, line + strlen(COMMAND_KNOWN), error);
	if (*is_restoring || request->is_welcome)
		return run_quiet_line(request, line, error);
	*is_restoring = g_str_has_prefix(line, COMMAND_RESTORE);
	return *is_restoring
	           ? run_row(request, &restore, line + strlen(COMMAND_RESTORE), error)
	           : run_line(request, line, error);
}

/* A subscription keeps the language of its request, unless a line chose another. */
static bool
save_language(struct request *request, const char *pending, GError **error)
{
	const struct profile_change change = {
	    .language = request->text_language, .who = request->actor};
	pb_auto(subscriber) after = NULL;

	if (!g_str_has_prefix(pending, COMMAND_LANGUAGE) ||
	    *request->subscriber->language)
		return true;
	after =
	    profile_set(request->store, request->address, &change, request->now, error);
	return after && request_reload(request, error);
}

static bool
run_pending_lines(struct request *request, const char *pending, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(pending, "\n", -1);
	bool is_new = !request->subscriber, is_restoring = false;

	request->is_welcome = is_new &&
	                      (g_str_has_prefix(pending, "subscribe") ||
	                          strstr(pending, "\nsubscribe")) &&
	                      !strstr(pending, COMMAND_RESTORE);
	for (char **line = lines; *line; line++)
		if (**line &&
		    !run_pending_line(request, g_strchomp(*line), &is_restoring, error))
			return false;
	if (is_restoring)
		request->reply.done = 1;
	if (!request->is_welcome || !request->subscriber)
		return true;
	if (!save_language(request, pending, error))
		return false;
	reply_text_add_blank(&request->text);
	return command_add_welcome(request, error);
}

bool
command_run_confirmed(struct request *request, const char *pending, GError **error)
{
	bool is_ok = begin(request, NULL, true, error) &&
	             run_pending_lines(request, pending, error);

	if (is_ok && request->is_reply && request->mail->text)
		is_ok = command_propose_more(request, request->mail->text, error);
	is_ok = is_ok && command_finish(request, error);
	return end(request, is_ok);
}
