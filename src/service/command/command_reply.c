/*
 * command_reply.c - the reply to commands: errors, what to confirm, counts and status.
 */
#include <string.h>

#include "base/error.h"
#include "message/sanitize.h"
#include "query/query.h"
#include "service/advice/backtest.h"
#include "service/command/command_private.h"
#include "store/subscriber/subscribers.h"

/* Characters of a filter shown around an error. */
#define EXCERPT_CHARS 54

bool
command_fail_with(GError **error, char *message)
{
	g_set_error_literal(error, PB_ERROR, PB_ERROR_INPUT, message);
	g_free(message);
	return false;
}

/* ---- errors ---- */

/* Add an example after an error, unless it was just shown; queries have their own. */
static void
add_example(struct request *request, const struct command_row *row, bool is_usage)
{
	g_autofree char *text = NULL;

	/* A page has examples beside its fields. */
	if (request->text.results || row == request->example_row ||
	    (!is_usage && strstr(row->arguments, "QUERY")))
		return;
	text = command_table_find_text(row, "example");
	/* A line that failed is not an example. */
	if (!text || g_strcmp0(text, request->line) == 0)
		return;
	reply_phrase(&request->text, "", N_("Example: {line}"), "line", text);
	request->example_row = row;
}

static struct reply_result *
get_last_result(const struct request *request)
{
	const GPtrArray *results = request->text.results;

	return results->pdata[results->len - 1];
}

/* The page marks the column itself. */
static void
record_query_error(struct request *request)
{
	struct reply_result *last;

	if (!request->error_filter || !request->text.results)
		return;
	last = get_last_result(request);
	last->filter = g_steal_pointer(&request->error_filter);
	last->column = request->error_column;
}

static void
add_error(struct request *request, const struct command_row *row, const char *message,
    bool is_usage)
{
	g_autofree char *shown = reply_text_quote_message(&request->text, message);

	reply_text_add(&request->text, "error", shown);
	record_query_error(request);
	add_example(request, row, is_usage);
	request->reply.failed++;
}

void
command_add_error(
    struct request *request, const struct command_row *row, const GError *problem)
{
	const struct msg *msg = pb_error_get_msg(problem);
	g_autofree char *text = msg ? reply_text_format_msg(&request->text, msg)
	                            : g_strdup(problem->message);

	add_error(request, row, text, false);
	if (request->text.results && msg)
		get_last_result(request)->message = msg->source;
}

void
command_add_usage_error(struct request *request, const struct command_row *row)
{
	g_autofree char *message = reply_text_format(&request->text,
	    N_("something is missing: {verb} {arguments}"), "verb", row->verb,
	    "arguments", row->arguments);

	add_error(request, row, message, true);
}

/* The message, an excerpt of the filter, and a caret. */
static char *
format_query_error(
    struct request *request, const char *text, const struct query_error *problem)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);
	glong chars = g_utf8_strlen(valid, -1);
	glong from = CLAMP((glong)problem->column - 1 - EXCERPT_CHARS / 2, 0,
	    MAX(chars - EXCERPT_CHARS, 0));
	g_autofree char *part =
	    g_utf8_substring(valid, from, MIN(from + EXCERPT_CHARS, chars));
	struct query_error shifted = *problem;
	g_autofree char *column = g_strdup_printf("%u", problem->column);
	g_autofree char *message =
	    reply_text_format_msg(&request->text, problem->message);
	g_autofree char *head = reply_text_format(&request->text,
	    N_("column {column}: {message}"), "column", column, "message", message);
	g_autofree char *whole = NULL;
	g_autofree char *below = NULL;
	g_auto(GStrv) lines = NULL;

	if (request->text.is_guarded || request->text.results)
		return g_steal_pointer(&head);
	shifted.column -= (unsigned)from;
	whole = query_error_format(&shifted, part, (unsigned)from);
	/* Replace its margin by a narrower one. */
	lines = g_strsplit(strchr(whole, '\n') + 1, "\n         ", -1);
	below = g_strjoinv("\n  ", lines);
	return g_strconcat(head, "\n  ", g_strchomp(g_strchug(below)), NULL);
}

bool
command_set_query_error(struct request *request, const char *text,
    const struct query_error *problem, GError **error)
{
	g_autofree char *message = NULL;

	if (!problem->message || !error || !*error)
		return false;
	message = format_query_error(request, text, problem);
	g_free(request->error_filter);
	request->error_filter = g_strdup(text);
	request->error_column = problem->column;
	if (problem->example) {
		g_autofree char *example = reply_text_format(
		    &request->text, N_("Example: {line}"), "line", problem->example);
		char *whole = g_strconcat(message, "\n", example, NULL);

		g_free(message);
		message = whole;
	}
	g_clear_error(error);
	return pb_fail(error, problem->code, "%s", message);
}

/* The number of papers that the other reading of `a OR b c` finds; 0: not known. */
static unsigned
count_other(struct request *request, const char *text)
{
	pb_auto(query) query =
	    query_parse(text, store_get_tokenizer(request->store), NULL, NULL, NULL);
	g_autofree char *canonical = query ? query_format(query) : NULL;
	unsigned found = 0;

	if (!canonical || !backtest_count(request->store, canonical, BACKTEST_DAYS,
	                      request->now, &found, NULL))
		return 0;
	return found;
}

/* Add the count to the other reading of `a OR b c`. */
static char *
format_warning(struct request *request, const struct msg *warning)
{
	g_autofree char *text = reply_text_format_msg(&request->text, warning);
	g_autofree char *papers = NULL;

	if (!g_str_equal(warning->source, QUERY_MIXED))
		return g_steal_pointer(&text);
	papers =
	    reply_text_format_count(&request->text, PL_("1 paper", "{count} papers"),
	        count_other(request, msg_get_arg(warning, "reading")));
	return reply_text_format(&request->text, N_("{text} ({papers} in {days} days)"),
	    "text", text, "papers", papers, "days", G_STRINGIFY(BACKTEST_DAYS));
}

void
command_add_warnings(struct request *request, const GPtrArray *warnings)
{
	for (unsigned i = 0; i < warnings->len; i++) {
		const struct msg *warning = warnings->pdata[i];
		g_autofree char *text = format_warning(request, warning);

		/* It repeats what was typed, perhaps a link. */
		if (request->text.is_guarded &&
		    g_str_equal(warning->source, BACKTEST_NARROWER))
			continue;
		reply_phrase(&request->text, "", N_("Note: {text}"), "text", text);
	}
}

/* ---- request for a confirmation ---- */

/* The first lines: what is asked, and what happens without an answer. */
static const struct {
	const char *question, *otherwise;
} confirm_texts[] = {
    [COMMAND_CONFIRM_NOTHING] = {NULL, NULL},
    [COMMAND_CONFIRM_SUBSCRIBE] = {N_("Do you want new research papers by mail? Please "
                                      "confirm: reply with the one word yes."),
        N_("If it was not you who asked, do nothing: nothing is sent before you "
           "confirm.")},
    [COMMAND_CONFIRM_CHANGE] = {N_("Shall I do this? Please confirm: reply with the "
                                   "one "
                                   "word yes."),
        N_("Nothing is changed before you confirm, since anybody can write a mail in "
           "your name. Shorter next time: reply to a digest with your commands, and "
           "they are carried out at once.")},
    [COMMAND_CONFIRM_EXPORT] = {N_("Shall I mail you all that is stored about you? "
                                   "Please confirm: reply with the one word yes."),
        N_("If it was not you who asked, do nothing.")},
    [COMMAND_CONFIRM_ADDRESS] = {N_("Shall your mail go to {new} from now on? Please "
                                    "confirm: reply with the one word yes."),
        N_("Both addresses have to confirm; a mail went to the new one, too. If it was "
           "not you who asked, do nothing.")},
    [COMMAND_CONFIRM_ERASE] = {N_("Shall I erase all that is stored about you? That "
                                  "cannot be undone. Please confirm: reply with the "
                                  "one word yes."),
        N_("If it was not you who asked, do nothing.")},
};

static void
add_page_link(const struct request *request, struct reply_text *text, const char *mark)
{
	const char *url = request->settings->web_url;

	if (!*url)
		return;
	reply_text_add_blank(text);
	reply_text_add_paragraph(text, N_("Or open this page and press its button:"));
	reply_text_add_blank(text);
	/* The token is too long to share a line. */
	g_string_append_printf(text->text, "%s/c/%s\n", url, mark);
}

void
command_add_token(struct request *request, struct reply_text *text, const char *verb,
    const char *mark)
{
	g_string_append_printf(text->text, "%s %s\n", verb, mark);
	add_page_link(request, text, mark);
}

/* The question, the button, and what happens without an answer. */
static void
add_question(struct request *request, struct reply_text *text, const char *question,
    const char *otherwise)
{
	const char *address = request->reply.new_address;

	reply_text_add_paragraph(text, question, "new", address ? address : "");
	if (request->rest) {
		reply_text_add_blank(text);
		g_string_append(text->text, request->rest);
	}
	g_clear_pointer(&request->rest, g_free);
	add_page_link(request, text, COMMAND_CONFIRM_MARK);
	if (!otherwise)
		return;
	reply_text_add_blank(text);
	reply_text_add_paragraph(text, otherwise);
}

/* The token is last. */
static void
add_confirm_line(const struct request *request, struct reply_text *text)
{
	reply_text_add_blank(text);
	reply_text_add_paragraph(text,
	    N_("paperboy collects new research papers every day and mails each "
	       "subscriber "
	       "those that match the subscriber's filters. To confirm by another mail, "
	       "write to {address} this line:"),
	    "address", request->commands_address);
	reply_text_add_blank(text);
	g_string_append(text->text, "confirm " COMMAND_CONFIRM_MARK "\n");
}

char *
command_format_invitation(
    const struct request *request, const char *language, const char *inviter)
{
	pb_local(reply_text) text = {0};

	reply_text_init(&text, request->catalog, language, false);
	reply_text_add_paragraph(&text,
	    N_("{inviter} invites you to get new research papers by mail: those that "
	       "match your own keywords. To accept, reply with the one word yes, or "
	       "with what you want to read about, such as: yes, papers on diffusion"),
	    "inviter", inviter);
	add_page_link(request, &text, COMMAND_CONFIRM_MARK);
	reply_text_add_blank(&text);
	reply_text_add_paragraph(&text,
	    N_("If you do nothing, nothing else comes. {owner} is the person who runs "
	       "this service."),
	    "owner", request->settings->mail_owner);
	add_confirm_line(request, &text);
	return g_strdup(text.text->str);
}

static void
set_new_address_text(struct request *request)
{
	pb_local(reply_text) text = {0};

	if (request->reply.confirm != COMMAND_CONFIRM_ADDRESS)
		return;
	reply_text_init(&text, request->catalog, request->text_language, false);
	add_question(request, &text,
	    N_("Shall the mail of a subscription come to this address from now on? "
	       "Please "
	       "confirm: reply with the one word yes."),
	    N_("Both addresses have to confirm. If it was not you who asked, do "
	       "nothing."));
	add_confirm_line(request, &text);
	request->reply.new_text = g_strdup(text.text->str);
}

static char *
format_pending(const struct request *request)
{
	bool is_english = strcmp(request->text_language, "en") == 0;

	if (request->subscriber)
		return g_strdup(request->pending->str);
	if (request->restored)
		return g_strconcat(request->restored, request->pending->str, NULL);
	/* Nothing else remains to be done. */
	if (request->reply.confirm == COMMAND_CONFIRM_ERASE)
		return g_strdup("forget me");
	return g_strdup_printf("%s%s%ssubscribe %s\n%s",
	    is_english ? "" : COMMAND_LANGUAGE,
	    is_english ? "" : request->text_language, is_english ? "" : "\n",
	    request->subscribe_name ? request->subscribe_name : "",
	    request->pending->str);
}

static void
add_suggestion(struct request *request)
{
	g_autofree char *shown = NULL;

	/* A "yes" confirms the pending lines. */
	if (request->reply.waiting)
		g_clear_pointer(&request->reply.suggestion, g_free);
	if (!request->reply.suggestion)
		return;
	shown = reply_text_quote(&request->text, request->reply.suggestion);
	reply_text_add_blank(&request->text);
	reply_text_add_paragraph(&request->text,
	    N_("If you meant this, reply with the one word yes:\n\n"
	       "{line}"),
	    "line", shown);
}

/* Ask for a confirmation; the question is the first line of the reply. */
static void
add_confirmation(struct request *request)
{
	struct command_reply *reply = &request->reply;
	bool is_proposal =
	    reply->confirm == COMMAND_CONFIRM_CHANGE && request->is_proven;
	pb_local(reply_text) head = {0};

	if (!reply->waiting) {
		if (request->rest) {
			g_string_prepend_c(request->text.text, '\n');
			g_string_prepend(request->text.text, request->rest);
		}
		return;
	}
	reply_text_init(&head, request->catalog, request->text_language, false);
	if (request->is_confirmed) {
		/* The result of the first yes is above. */
		reply_text_add_blank(&request->text);
		add_question(request, &request->text,
		    N_("Shall I do this, too? Please confirm: reply with the one word "
		       "yes."),
		    NULL);
	} else {
		add_question(request, &head, confirm_texts[reply->confirm].question,
		    is_proposal ? N_("Nothing is changed yet.")
		                : confirm_texts[reply->confirm].otherwise);
		reply_text_add_blank(&head);
		g_string_prepend(request->text.text, head.text->str);
	}
	if (reply->confirm == COMMAND_CONFIRM_SUBSCRIBE && !request->pending->len) {
		reply_text_add_blank(&request->text);
		reply_text_add_paragraph(
		    &request->text, N_("No topic was named yet. Once you have "
		                       "confirmed, reply with a line "
		                       "for each, such as: add diffusion"));
	}
	reply->pending = format_pending(request);
	set_new_address_text(request);
}

bool
command_is_subscription(const char *pending)
{
	g_auto(GStrv) lines = g_strsplit(pending, "\n", -1);
	bool is_found = false;

	for (char **line = lines; *line && !is_found; line++)
		is_found = g_str_has_prefix(*line, "subscribe") ||
		           g_str_has_prefix(*line, COMMAND_RESTORE);
	return is_found;
}

#define SUBJECT_TOPIC_CHARS 40

/* The filter of a pending line without its options, for a subject. */
static char *
format_topic(const struct reply_text *text, const char *line)
{
	g_autoptr(GRegex) options =
	    g_regex_new("^add (?:(?:name|max|note)=(?:\"[^\"]*\"|\\S+) )*", 0, 0, NULL);
	g_autofree char *query =
	    g_regex_replace_literal(options, line, -1, 0, "", 0, NULL);
	g_autofree char *safe = NULL;

	g_strdelimit(query, "\"", ' ');
	safe = reply_text_quote(text, g_strstrip(query));
	return sanitize_line(safe, SUBJECT_TOPIC_CHARS);
}

char *
command_format_confirm_subject(const struct catalog *catalog, const char *language,
    const char *pending, const char *address)
{
	pb_local(reply_text) text = {0};
	g_auto(GStrv) lines = g_strsplit(pending, "\n", -1);
	g_autofree char *topic = NULL;
	unsigned count = 0;
	bool is_new = false;

	reply_text_init(&text, catalog, language, true);
	for (char **line = lines; *line; line++) {
		is_new = is_new || g_str_has_prefix(*line, "subscribe");
		if (g_str_has_prefix(*line, "add ") && count++ == 0)
			topic = format_topic(&text, *line);
	}
	if (!is_new)
		return reply_text_format(&text,
		    N_("Please confirm your request to {address}"), "address", address);
	if (!topic)
		return reply_text_format(
		    &text, N_("Confirm: new research papers by mail"));
	return count == 1
	           ? reply_text_format(&text,
	                 N_("Confirm: papers about {topic} by mail"), "topic", topic)
	           : reply_text_format(&text,
	                 N_("Confirm: papers about {topic} and more by mail"), "topic",
	                 topic);
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
command_fill_tokens(struct command_reply *reply, const char *confirm, const char *undo)
{
	reply->text = fill_mark(reply->text, COMMAND_CONFIRM_MARK, confirm);
	reply->text = fill_mark(reply->text, COMMAND_UNDO_MARK, undo);
}

/* ---- counts and status ---- */

static void
add_counts(struct request *request)
{
	const struct command_reply *reply = &request->reply;
	const struct {
		const char *name;
		unsigned count;
	} counts[] = {{PL_("1 done", "{count} done"), reply->done},
	    {PL_("1 waits for your confirmation", "{count} wait for your confirmation"),
	        reply->waiting},
	    {PL_("1 failed", "{count} failed"), reply->failed}};
	g_autoptr(GString) text = g_string_new(NULL);

	if ((reply->done + reply->failed + reply->waiting < 2 || request->is_welcome ||
	        request->has_proposals) &&
	    !reply->failed)
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) {
		g_autofree char *part = reply_text_format_count(
		    &request->text, counts[i].name, counts[i].count);

		if (counts[i].count)
			g_string_append_printf(
			    text, "%s%s", text->len ? ", " : "", part);
	}
	g_string_append_c(text, '.');
	reply_text_add_block(&request->text, text->str);
}

static unsigned
count_filters(const GPtrArray *subscriptions)
{
	unsigned count = 0;

	for (unsigned i = 0; i < subscriptions->len; i++) {
		const struct subscription *own = subscriptions->pdata[i];

		count += !own->is_block;
	}
	return count;
}

/* @return when the next digest is due, in words */
static char *
format_due(struct request *request)
{
	const struct subscriber *subscriber = request->subscriber;

	if (subscriber->state == SUBSCRIBER_PAUSED) {
		g_autofree char *day =
		    reply_text_format_day(&request->text, subscriber->paused_until);

		return *day ? reply_text_format(
		                  &request->text, N_("paused until {day}."), "day", day)
		            : reply_text_format(&request->text,
		                  N_("paused until you write \"resume\"."));
	}
	if (subscriber->state == SUBSCRIBER_SUSPENDED)
		return reply_text_format(&request->text,
		    N_("but nothing is sent at present, because mail to you bounced."));
	if (subscriber->next_due_at <= request->now)
		return reply_text_format(&request->text,
		    N_("a digest is made at once if there are papers for it."));
	{
		g_autofree char *time = reply_text_format_time(
		    &request->text, subscriber->next_due_at, subscriber->zone);

		return reply_text_format(
		    &request->text, N_("next digest {time}."), "time", time);
	}
}

static bool
add_status(struct request *request, GError **error)
{
	g_autoptr(GPtrArray) own = NULL;
	g_autofree char *count = NULL;
	g_autofree char *due = NULL;
	g_autofree char *whole = NULL;
	unsigned filters;

	if (!request->subscriber || request->is_welcome)
		return true;
	own = subscribers_load_subscriptions(
	    request->store, request->subscriber->id, error);
	if (!own)
		return false;
	filters = count_filters(own);
	if (!filters) {
		reply_text_add_paragraph(&request->text,
		    N_("You have no filters, so nothing comes. Try: add diffusion"));
		return true;
	}
	count = reply_text_format_count(&request->text,
	    PL_("You have 1 filter;", "You have {count} filters;"), filters);
	due = format_due(request);
	whole = g_strdup_printf("%s %s", count, due);
	reply_text_add_block(&request->text, whole);
	return true;
}

bool
command_finish(struct request *request, GError **error)
{
	if (!request_reload(request, error))
		return false;
	g_strlcpy(request->reply.language, request->text_language,
	    sizeof(request->reply.language));
	add_suggestion(request);
	add_confirmation(request);
	reply_text_add_blank(&request->text);
	add_counts(request);
	if (!add_status(request, error))
		return false;
	if (request->own_addresses->commands.delimiter)
		reply_text_add_paragraph(&request->text, N_("Help: write to {help}"),
		    "help", request->help_address);
	else
		reply_text_add_paragraph(&request->text,
		    N_("Help: write \"help\" to {address}"), "address",
		    request->commands_address);
	if (request->reply.waiting)
		add_confirm_line(request, &request->text);
	if (!request->mail && !request->reply.subject)
		request->reply.subject =
		    reply_text_format(&request->text, N_("Your subscription"));
	request->reply.text = g_strdup(request->text.text->str);
	return true;
}
