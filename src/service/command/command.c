/*
 * command.c - run the commands of a message or a page, or ask for their confirmation.
 */
#include "service/command/command.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "message/command_text.h"
#include "service/command/command_private.h"
#include "service/command/request_match.h"
#include "service/people/profile.h"

#define ENGLISH "en"

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
		const char *guessed = request_guess_language(text);

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
	request->has_filters = false;
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

static void
add_waiting(struct request *request, const char *filter)
{
	g_autofree char *shown =
	    filter ? reply_text_quote(&request->text, filter) : NULL;

	if (!filter)
		reply_phrase(&request->text, "wait",
		    N_("not done yet: this waits for your confirmation"));
	else
		reply_phrase(&request->text, "wait",
		    request->is_inferred
		        ? N_("taken for a keyword, since it follows \"subscribe\": it "
		             "waits for your confirmation, too\n"
		             "filter: {filter}")
		        : N_("not stored yet: this waits for your confirmation\n"
		             "filter: {filter}"),
		    "filter", shown);
}

/* Former and unconfirmed subscribers can have all data erased, too. */
static enum command_confirm
get_confirm(const struct request *request, const struct command_row *row)
{
	return request->subscriber || row->confirm == COMMAND_CONFIRM_ERASE
	           ? row->confirm
	           : COMMAND_CONFIRM_SUBSCRIBE;
}

static void
save_decision(struct request *request, const struct command_row *row,
    const char *arguments, const struct command_decision *decision)
{
	const char *fixed = decision->arguments ? decision->arguments : arguments;

	if (row->run == command_run_subscribe) {
		g_free(request->subscribe_name);
		request->subscribe_name = g_strdup(arguments);
	} else {
		g_string_append_printf(
		    request->pending, "%s%s%s\n", row->verb, *fixed ? " " : "", fixed);
	}
	request->reply.confirm = MAX(request->reply.confirm, get_confirm(request, row));
	request->reply.waiting++;
	add_waiting(request, decision->filter);
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
		save_decision(request, row, arguments, &decision);
	g_free(decision.arguments);
	g_free(decision.filter);
	if (!problem)
		return true;
	if (!is_user_error(problem))
		return pb_error_forward(error, &problem);
	if (request->is_inferred)
		reply_phrase(&request->text, "",
		    N_("not used: this is not a filter. To add one, write a line such "
		       "as: add diffusion"));
	else
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

/* @return false if the message cannot be processed */
static bool
execute(struct request *request, const char *line, GError **error)
{
	const char *arguments;
	const struct command_row *row = command_table_parse(line, &arguments);

	request->line = line;
	if (!row) {
		add_unknown_command(request, line);
		return true;
	}
	if (row->arity == COMMAND_ARITY_REQUIRED && !*arguments) {
		command_add_usage_error(request, row);
		return true;
	}
	if (!request->subscriber && !row->is_for_unknown) {
		reply_phrase(&request->text, "error",
		    N_("this address has no subscription. To get one, write "
		       "\"subscribe\", and a line such as \"add diffusion\" for each "
		       "thing that you want to read about."));
		request->reply.failed++;
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

/*
 * Run a function with an empty reply text.
 *
 * @return the text, or NULL
 */
static GString *
run_apart(struct request *request, const char *line,
    bool (*run)(struct request *request, const char *line, GError **error),
    GError **error)
{
	GString *text = request->text.text;
	GString *part = request->text.text = g_string_new(NULL);
	bool is_ok = run(request, line, error);

	request->text.text = text;
	if (is_ok)
		return part;
	g_string_free(part, TRUE);
	return NULL;
}

/* At most one line of an unknown sender is quoted. */
static bool
was_echoed(const struct request *request, const char *line)
{
	g_auto(GStrv) lines = g_strsplit(request->echoed->str, "\n", -1);

	return g_strv_contains((const char *const *)lines, line);
}

/*
 * The sender may be forged: lines that failed are not quoted, and of the others only
 * BOUNDS_UNKNOWN_ECHO bytes.
 */
static bool
run_unknown_sender_line(struct request *request, const char *line, GError **error)
{
	unsigned failed = request->reply.failed;
	GString *part;
	bool is_ok = true;

	if (was_echoed(request, line))
		return true;
	g_string_append_printf(request->echoed, "%s\n", line);
	part = run_apart(request, line, execute, error);
	if (!part)
		return false;
	reply_text_add_blank(&request->text);
	if (request->reply.failed == failed &&
	    request->echoed->len <= BOUNDS_UNKNOWN_ECHO)
		is_ok = echo(request, line, error);
	g_string_append(request->text.text, part->str);
	g_string_free(part, TRUE);
	return is_ok;
}

static bool
run_line(struct request *request, const char *line, GError **error)
{
	if (request->text.is_guarded)
		return run_unknown_sender_line(request, line, error);
	reply_text_add_blank(&request->text);
	return echo(request, line, error) && execute(request, line, error);
}

static bool
run_lines(struct request *request, const struct command_text *lines, GError **error)
{
	for (unsigned i = 0; i < lines->lines->len; i++)
		if (!run_line(request, lines->lines->pdata[i], error))
			return false;
	if (lines->stopped_at && !request->text.is_guarded) {
		g_autofree char *shown =
		    reply_text_quote(&request->text, lines->stopped_at);

		reply_text_add_blank(&request->text);
		reply_text_add_paragraph(&request->text,
		    N_("Reading stopped at \"{line}\", which is not a command. The "
		       "lines after it were not read."),
		    "line", shown);
	}
	if (lines->is_more || lines->is_cut) {
		reply_text_add_blank(&request->text);
		reply_text_add_paragraph(&request->text,
		    lines->is_more
		        ? N_("Only the first {most} commands of a message are read. "
		             "Send the others in a second message.")
		        : N_("Your message is very long, and only its first 8 KB were "
		             "read."),
		    "most", MSG_INT(BOUNDS_COMMANDS));
	}
	return true;
}

/* ---- keywords without a command ---- */

#define KEYWORDS_MAX  5
#define KEYWORD_CHARS 60
#define KEYWORD_WORDS 5

/* "- diffusion", "2. agents" */
static const char *
skip_list_mark(const char *text)
{
	g_autoptr(GRegex) mark =
	    g_regex_new("^(?:[-*+\u2022\u00b7]|\\d{1,2}[.)])\\s+", 0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	int end = 0;

	if (g_regex_match(mark, text, 0, &match))
		g_match_info_fetch_pos(match, 0, NULL, &end);
	return text + end;
}

static bool
is_keyword(const char *text)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	size_t size = strlen(text);

	return size && g_utf8_strlen(text, -1) <= KEYWORD_CHARS &&
	       g_strv_length(words) <= KEYWORD_WORDS && !strchr(".?!:", text[size - 1]);
}

/* @return false if the message cannot be processed */
static bool
infer_filter(struct request *request, const char *text, unsigned *count, GError **error)
{
	gsize before = request->echoed->len;
	bool is_ok;

	g_string_append_printf(request->echoed, "%s\n", text);
	reply_text_add_blank(&request->text);
	if (before <= BOUNDS_UNKNOWN_ECHO)
		reply_text_add_quoted(&request->text, text);
	if (*count == KEYWORDS_MAX || !is_keyword(text)) {
		reply_phrase(&request->text, "",
		    N_("not used: this is not a filter. To add one, write a line such "
		       "as: add diffusion"));
		return true;
	}
	request->is_inferred = true;
	is_ok = decide_row(request, command_table_find("add"), text, error);
	request->is_inferred = false;
	++*count;
	return is_ok;
}

/*
 * Offer the keywords after a bare `subscribe` as filters.
 *
 * @param asking  the line that asked to subscribe, or NULL
 */
static bool
infer_filters(
    struct request *request, const char *text, const char *asking, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
	unsigned count = 0, seen = 0;

	for (char **at = lines; *at && seen < BOUNDS_COMMANDS; at++) {
		g_auto(GStrv) parts = NULL;
		enum request_kind kind;

		if (strcmp(g_strchomp(*at), "--") == 0)
			break;
		g_strchug(*at);
		if (!**at || **at == '>' || (asking && strcmp(*at, asking) == 0))
			continue;
		kind = request_match(*at);
		/* It repeats the subject. */
		if (kind == REQUEST_SUBSCRIBE)
			continue;
		/* A greeting starts a message, or ends it. */
		if (kind == REQUEST_FILLER) {
			if (seen || request_is_closing(*at))
				break;
			continue;
		}
		parts = g_strsplit_set(skip_list_mark(*at), ",;", -1);
		for (char **part = parts; *part; part++)
			if (*g_strstrip(*part) && ++seen <= BOUNDS_COMMANDS &&
			    !infer_filter(request, *part, &count, error))
				return false;
	}
	return true;
}

/* ---- a message ---- */

static void
add_first_help(struct request *request, enum request_kind kind)
{
	request->reply.is_help = true;
	reply_text_add_paragraph(&request->text,
	    kind == REQUEST_LEAVE_UNCLEAR
	        ? N_("Do you want to unsubscribe? Nothing was done. To end all mail, "
	             "reply with the one word unsubscribe. To remove one filter, reply "
	             "with del and its number.")
	        : N_("Your message had no known command, so nothing was done."));
	reply_text_add_blank(&request->text);
	reply_text_add_paragraph(&request->text,
	    request->subscriber ? N_("unsubscribe ends all mail,\n"
	                             "pause 14d stops it for a while,\n"
	                             "add diffusion adds a filter,\n"
	                             "list shows your filters and settings,\n"
	                             "help explains everything else.")
	                        : N_("subscribe begins a subscription,\n"
	                             "add diffusion asks for papers about diffusion,\n"
	                             "test diffusion shows what that would find,\n"
	                             "info says what this is,\n"
	                             "help explains everything else."));
}

/*
 * Find a request in ordinary words: in the subject, or in the first line after a
 * greeting.
 *
 * @param line  set to that line, a new string, or NULL
 */
static enum request_kind
find_request(const struct inmail *mail, char **line)
{
	g_auto(GStrv) lines = g_strsplit(mail->text ? mail->text : "", "\n", -1);
	const char *subject =
	    command_text_skip_prefixes(mail->subject ? mail->subject : "");
	enum request_kind found = request_match(subject);

	*line = NULL;
	if (found >= REQUEST_SUBSCRIBE)
		return found;
	for (char **at = lines; *at; at++) {
		enum request_kind kind;

		g_strstrip(*at);
		if (**at == '>' || !**at)
			continue;
		kind = request_match(*at);
		if (kind == REQUEST_FILLER)
			continue;
		*line = g_strdup(*at);
		return kind == REQUEST_NONE ? found : kind;
	}
	return found;
}

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

char *
command_find_answer(const struct inmail *mail, const char *verb, bool *has_numbers)
{
	g_autofree char *line = NULL;
	const struct command_row *row;
	const char *arguments;

	*has_numbers = false;
	if (command_table_classify(command_text_skip_prefixes(
	        mail->subject ? mail->subject : "")) == COMMAND_KIND_VERB ||
	    find_request(mail, &line) >= REQUEST_SUBSCRIBE || !line)
		return NULL;
	row = command_table_parse(line, &arguments);
	if (row && (row->run == command_run_yes || row->run == command_run_no))
		*has_numbers = *arguments;
	if (command_table_classify(line) == COMMAND_KIND_VERB ||
	    request_match(line) == REQUEST_LEAVE_UNCLEAR ||
	    count_words(line) > ANSWER_WORDS)
		return NULL;
	return format_answer(verb, line);
}

/* @param asking  the line that asked to subscribe, or NULL */
static bool
run_subscription(struct request *request, struct command_text *lines,
    const char *asking, GError **error)
{
	const char *first = lines->lines->len ? lines->lines->pdata[0] : NULL;

	if (!first || (asking && strcmp(first, asking) == 0)) {
		if (first)
			g_ptr_array_remove_index(lines->lines, 0);
		if (!run_line(request, "subscribe", error))
			return false;
	}
	return run_lines(request, lines, error) &&
	       (request->pending->len || !request->subscribe_name ||
	           infer_filters(request, request->mail->text, asking, error));
}

static bool
run_text(struct request *request, struct command_text *lines, GError **error)
{
	g_autofree char *line = NULL;
	enum request_kind kind =
	    lines->is_in_subject ? REQUEST_NONE : find_request(request->mail, &line);

	if (kind == REQUEST_UNSUBSCRIBE)
		return run_line(request, "unsubscribe", error);
	if (kind == REQUEST_SUBSCRIBE || lines->is_in_subject)
		return run_subscription(request, lines, line, error);
	if (lines->lines->len)
		return run_lines(request, lines, error);
	add_first_help(request, kind);
	return true;
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
	const struct inmail *mail = request->mail;
	struct command_text lines;
	bool is_ok;

	if (request->lines)
		return run_page_lines(request, error);
	if (request->verb)
		return run_line(request, request->verb, error);
	command_text_read(mail->subject, mail->text, command_table_classify, &lines);
	is_ok = run_text(request, &lines, error);
	if (lines.is_in_subject || request_match(command_text_skip_prefixes(
	                               mail->subject)) >= REQUEST_SUBSCRIBE)
		request->reply.subject =
		    reply_text_format(&request->text, N_("Your commands"));
	command_text_clear(&lines);
	return is_ok;
}

bool
command_run(struct request *request, GError **error)
{
	bool is_ok = begin(request, request->mail, false, error) &&
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
		    request->commands_address, "value", value ? value : "");
		is_ok = command_finish(request, error);
	}
	return end(request, is_ok);
}

/* ---- confirmed lines ---- */

/* Restored lines are reported only if they fail. */
static bool
run_restored_line(struct request *request, const char *line, GError **error)
{
	unsigned failed = request->reply.failed;
	GString *part = run_apart(request, line, run_line, error);

	if (!part)
		return false;
	if (request->reply.failed > failed) {
		reply_text_add_blank(&request->text);
		g_string_append(request->text.text, part->str);
	}
	g_string_free(part, TRUE);
	return true;
}

static bool
run_pending_line(
    struct request *request, const char *line, bool *is_restoring, GError **error)
{
	static const struct command_row restore = {
	    .verb = "restore", .arguments = "", .run = command_run_restore};

	if (g_str_has_prefix(line, COMMAND_LANGUAGE)) {
		g_strlcpy(request->text_language, line + strlen(COMMAND_LANGUAGE),
		    sizeof(request->text_language));
		return true;
	}
	if (*is_restoring)
		return run_restored_line(request, line, error);
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

	request->has_filters = strstr(pending, "\nadd ") != NULL;
	for (char **line = lines; *line; line++)
		if (**line &&
		    !run_pending_line(request, g_strchomp(*line), &is_restoring, error))
			return false;
	if (is_restoring)
		request->reply.done = 1;
	if (!is_new || !request->subscriber)
		return true;
	if (!save_language(request, pending, error))
		return false;
	if (!request->has_filters)
		return true;
	reply_text_add_blank(&request->text);
	return command_add_list(request, error);
}

static bool
has_other_commands(const char *text)
{
	struct command_text lines;
	bool is_found = false;

	command_text_read(NULL, text, command_table_classify, &lines);
	for (guint i = 0; i < lines.lines->len; i++) {
		const char *arguments;
		const struct command_row *row =
		    command_table_parse(lines.lines->pdata[i], &arguments);

		if (row && row->run != command_run_confirm &&
		    row->run != command_run_yes && row->run != command_run_no &&
		    row->run != command_run_subscribe)
			is_found = true;
	}
	command_text_clear(&lines);
	return is_found;
}

/* Commands in the confirming reply are not run. */
static void
add_ignored_commands(struct request *request)
{
	const char *text = request->is_reply ? request->mail->text : NULL;

	if (!text || !has_other_commands(text))
		return;
	reply_text_add_blank(&request->text);
	reply_text_add_paragraph(&request->text,
	    N_("Your message was taken as a yes; the commands in it were not carried "
	       "out. Send them again in a reply to this message."));
}

bool
command_run_confirmed(struct request *request, const char *pending, GError **error)
{
	bool is_ok = begin(request, NULL, true, error) &&
	             run_pending_lines(request, pending, error);

	if (is_ok)
		add_ignored_commands(request);
	is_ok = is_ok && command_finish(request, error);
	return end(request, is_ok);
}
