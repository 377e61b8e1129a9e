/*
 * command_table.c - the commands: names, authorisation, syntax and help.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/edit_distance.h"
#include "base/token.h"
#include "model/phrases.h"
#include "service/command/command_help.h"
#include "service/command/command_private.h"
#include "service/people/policy.h"

#define PREFIX_CHARS 3  /* minimum length of an abbreviated verb */
#define LONG_WORD    6  /* characters from which two typos are accepted */
#define WORD_BYTES   40 /* longer words are not verbs */

#define NONE    COMMAND_AUTH_NONE
#define READ    COMMAND_AUTH_READ
#define CHANGE  COMMAND_AUTH_CHANGE
#define CONFIRM COMMAND_AUTH_CONFIRM

const struct command_row command_rows[] = {
    {"subscribe", "sub join", CONFIRM, COMMAND_ARITY_OPTIONAL, true,
        COMMAND_CONFIRM_SUBSCRIBE, "[name=\"YOUR NAME\"] [TOPICS]",
        command_run_subscribe, command_decide_subscribe},
    {"confirm", "con accept", NONE, COMMAND_ARITY_OPTIONAL, true, 0, "[TOKEN]",
        command_run_confirm, NULL},
    {"unsubscribe", "unsub uns leave signoff cancel remove", NONE,
        COMMAND_ARITY_OPTIONAL, true, 0, "[*]", command_run_unsubscribe, NULL},
    {"yes", "ok", CHANGE, COMMAND_ARITY_OPTIONAL, false, COMMAND_CONFIRM_CHANGE,
        "[N...]", command_run_yes, command_decide_yes},
    {"no", "", CHANGE, COMMAND_ARITY_OPTIONAL, false, COMMAND_CONFIRM_CHANGE, "[N...]",
        command_run_no, command_decide_no},
    {"undo", "", NONE, COMMAND_ARITY_REQUIRED, true, 0, "N | TOKEN", command_run_undo,
        NULL},
    {"add", "", CHANGE, COMMAND_ARITY_REQUIRED, true, COMMAND_CONFIRM_CHANGE,
        "[name=N] [max=N] [note=\"...\"] QUERY", command_run_add, command_decide_add},
    {"del", "delete rm", CHANGE, COMMAND_ARITY_REQUIRED, false, COMMAND_CONFIRM_CHANGE,
        "FILTER...", command_run_del, command_decide_del},
    {"edit", "change", CHANGE, COMMAND_ARITY_REQUIRED, false, COMMAND_CONFIRM_CHANGE,
        "FILTER [name=N] [max=N] [note=\"...\"] QUERY", command_run_edit,
        command_decide_edit},
    {"block", "", CHANGE, COMMAND_ARITY_REQUIRED, true, COMMAND_CONFIRM_CHANGE, "QUERY",
        command_run_add, command_decide_add},
    {"unblock", "", CHANGE, COMMAND_ARITY_REQUIRED, false, COMMAND_CONFIRM_CHANGE,
        "BLOCK...", command_run_del, command_decide_del},
    {"list", "which filters", READ, COMMAND_ARITY_NONE, false, 0, "", command_run_list,
        NULL},
    {"set", "", CHANGE, COMMAND_ARITY_REQUIRED, true, COMMAND_CONFIRM_CHANGE,
        "KEY VALUE...", command_run_set, command_decide_set},
    {"pause", "hold vacation", CHANGE, COMMAND_ARITY_OPTIONAL, false,
        COMMAND_CONFIRM_CHANGE, "[14d | until 2026-12-01]", command_run_pause,
        command_decide_pause},
    {"resume", "", CHANGE, COMMAND_ARITY_OPTIONAL, false, COMMAND_CONFIRM_CHANGE,
        "[catchup=N]", command_run_resume, command_decide_resume},
    {"test", "try preview", READ, COMMAND_ARITY_REQUIRED, true, 0, "[since=30d] QUERY",
        command_run_test, NULL},
    {"search", "find", READ, COMMAND_ARITY_REQUIRED, true, 0,
        "[since=90d] [max=N] QUERY", command_run_search, NULL},
    {"why", "", READ, COMMAND_ARITY_REQUIRED, false, 0, "PAPER", command_run_why, NULL},
    {"more", "", READ, COMMAND_ARITY_REQUIRED, false, 0, "PAPER...", command_run_more,
        NULL},
    {"like", "", CHANGE, COMMAND_ARITY_REQUIRED, false, COMMAND_CONFIRM_CHANGE,
        "PAPER...", command_run_like, command_decide_like},
    {"hide", "", CHANGE, COMMAND_ARITY_REQUIRED, false, COMMAND_CONFIRM_CHANGE,
        "PAPER...", command_run_hide, command_decide_like},
    {"watch", "", CHANGE, COMMAND_ARITY_OPTIONAL, false, COMMAND_CONFIRM_CHANGE,
        "[PAPER...]", command_run_watch, command_decide_like},
    {"unwatch", "", CHANGE, COMMAND_ARITY_OPTIONAL, false, COMMAND_CONFIRM_CHANGE,
        "[PAPER...]", command_run_watch, command_decide_like},
    {"known", "", CHANGE, COMMAND_ARITY_OPTIONAL, false, COMMAND_CONFIRM_CHANGE,
        "[PAPER...]", command_run_known, command_decide_known},
    {"taste", "", CHANGE, COMMAND_ARITY_OPTIONAL, false, COMMAND_CONFIRM_CHANGE,
        "[forget]", command_run_taste, command_decide_taste},
    {"status", "", READ, COMMAND_ARITY_NONE, false, 0, "", command_run_status, NULL},
    {"last", "get", READ, COMMAND_ARITY_OPTIONAL, false, 0, "[DATE]", command_run_last,
        NULL},
    {"share", "", CHANGE, COMMAND_ARITY_REQUIRED, false, COMMAND_CONFIRM_CHANGE,
        "FILTER as NAME", command_run_share, command_decide_share},
    {"unshare", "", CHANGE, COMMAND_ARITY_REQUIRED, false, COMMAND_CONFIRM_CHANGE,
        "NAME", command_run_unshare, command_decide_unshare},
    {"follow", "", CHANGE, COMMAND_ARITY_REQUIRED, false, COMMAND_CONFIRM_CHANGE,
        "NAME [version=N]", command_run_follow, command_decide_follow},
    {"unfollow", "", CHANGE, COMMAND_ARITY_REQUIRED, false, COMMAND_CONFIRM_CHANGE,
        "NAME", command_run_unfollow, command_decide_unfollow},
    {"fork", "", CHANGE, COMMAND_ARITY_REQUIRED, false, COMMAND_CONFIRM_CHANGE,
        "NAME [version=N]", command_run_fork, command_decide_fork},
    {"invite", "", CHANGE, COMMAND_ARITY_REQUIRED, false, COMMAND_CONFIRM_CHANGE,
        "ADDRESS...", command_run_invite, command_decide_invite},
    {"address", "", CONFIRM, COMMAND_ARITY_REQUIRED, false, COMMAND_CONFIRM_ADDRESS,
        "NEW@HOST", command_run_address, command_decide_address},
    {"export", "", CONFIRM, COMMAND_ARITY_OPTIONAL, false, COMMAND_CONFIRM_EXPORT,
        "[json | text]", command_run_export, command_decide_export},
    {"forget", "", CONFIRM, COMMAND_ARITY_REQUIRED, true, COMMAND_CONFIRM_ERASE, "me",
        command_run_forget, command_decide_forget},
    {"sources", "", NONE, COMMAND_ARITY_NONE, true, 0, "", command_run_sources, NULL},
    {"info", "", NONE, COMMAND_ARITY_NONE, true, 0, "", command_run_info, NULL},
    {"help", "", NONE, COMMAND_ARITY_OPTIONAL, true, 0, "[COMMAND]", command_run_help,
        NULL},
    {0},
};

/* `undo 2` of a proposal; nothing but a token authenticates other ones. */
static const struct command_row undo_number = {"undo", "", CHANGE,
    COMMAND_ARITY_REQUIRED, false, COMMAND_CONFIRM_CHANGE, "N", command_run_undo_number,
    command_decide_yes};

char *
command_table_split(const char *line, const char **arguments)
{
	const char *end = strchr(line, ' ');
	char *word = end ? g_strndup(line, (size_t)(end - line)) : g_strdup(line);

	/* "unsubscribe.", "Help!", "list: ..." */
	for (size_t size = strlen(word); size > 0 && strchr(".!,:;", word[size - 1]);)
		word[--size] = '\0';
	*arguments = end ? end + 1 : line + strlen(line);
	return word;
}

static bool
has_alias(const struct command_row *row, const char *word)
{
	g_auto(GStrv) aliases = g_strsplit(row->aliases, " ", -1);

	return g_strv_contains((const char *const *)aliases, word);
}

/* The English verb for one of another language: "hilfe". @return NULL if it is none */
static const char *
find_foreign(const char *word)
{
	g_autofree char *lower =
	    g_utf8_validate(word, -1, NULL) ? g_utf8_strdown(word, -1) : NULL;

	return lower ? phrases_find_value("verbs", lower) : NULL;
}

const struct command_row *
command_table_find(const char *text)
{
	g_autofree char *word = g_ascii_strdown(text, -1);
	const struct command_row *found = NULL;
	const char *verb;
	unsigned count = 0;

	for (const struct command_row *row = command_rows; row->verb; row++)
		if (strcmp(word, row->verb) == 0 || has_alias(row, word))
			return row;
	if ((verb = find_foreign(text)))
		return command_table_find(verb);
	/* Aliases are not abbreviated: "Can you ..." is not `cancel`. */
	for (const struct command_row *row = command_rows; row->verb; row++) {
		if (strlen(word) >= PREFIX_CHARS && g_str_has_prefix(row->verb, word)) {
			found = row;
			count++;
		}
	}
	return count == 1 ? found : NULL;
}

/* Commands on papers: "More on this below" is none. */
static bool
is_of_papers(const struct command_row *row)
{
	return row->run == command_run_like || row->run == command_run_hide ||
	       row->run == command_run_more || row->run == command_run_watch ||
	       row->run == command_run_known;
}

/* "Like 1 and hide 2" is a sentence. */
static bool
has_other_verb(const struct command_row *row, const char *arguments)
{
	g_auto(GStrv) words = g_strsplit_set(arguments, " ,;", -1);
	bool has = false;

	for (char **word = words; *word; word++) {
		const struct command_row *other = command_table_find(*word);

		has |= other && other != row && is_of_papers(other);
	}
	return has;
}

/* "ok TOKEN" is a confirmation, "accept 2" a yes; "yes, but ..." is neither. */
static const struct command_row *
choose_row(const struct command_row *row, const char *word, const char *arguments)
{
	bool is_number = *arguments && command_is_numbers(arguments);
	bool is_yes = row && row->run == command_run_yes;

	/* "Abmelden will ich mich nicht" is a sentence. */
	if (row && *arguments && row->arity != COMMAND_ARITY_REQUIRED &&
	    find_foreign(word))
		return NULL;
	if (row && row->run == command_run_undo && is_number)
		return &undo_number;
	if (row && row->run == command_run_confirm && is_number)
		return command_table_find("yes");
	if (is_yes && g_ascii_strcasecmp(word, "ok") == 0 &&
	    (strlen(arguments) == TOKEN_RANDOM_LENGTH && !strchr(arguments, ' ')))
		return command_table_find("confirm");
	if ((is_yes || (row && row->run == command_run_no)) &&
	    !command_is_numbers(arguments))
		return NULL;
	if (row && is_of_papers(row) && *arguments &&
	    (!command_is_papers(arguments) || has_other_verb(row, arguments)))
		return NULL;
	return row;
}

const struct command_row *
command_table_parse(const char *line, const char **arguments)
{
	g_autofree char *word = command_table_split(line, arguments);
	const struct command_row *row = command_table_find(word);

	row = choose_row(row, word, *arguments);
	if (row || !command_is_settings(line))
		return row;
	*arguments = line;
	return command_table_find("set");
}

/* Typos are rare in the first letter, except for a swap with the second. */
static bool
is_close(const char *word, const char *name)
{
	size_t size = strlen(word);
	bool begins = word[0] == name[0] || (word[0] == name[1] && word[1] == name[0]);

	return begins && strlen(name) > PREFIX_CHARS &&
	       edit_distance_count_slips(word, size, name, strlen(name)) <=
	           (size >= LONG_WORD ? 2 : 1);
}

const struct command_row *
command_table_find_closest(const char *text)
{
	g_autofree char *word = g_ascii_strdown(text, -1);

	if (strlen(word) <= PREFIX_CHARS || strlen(word) > WORD_BYTES)
		return NULL;
	for (const struct command_row *row = command_rows; row->verb; row++) {
		g_auto(GStrv) aliases = g_strsplit(row->aliases, " ", -1);

		if (is_close(word, row->verb))
			return row;
		for (char **alias = aliases; *alias; alias++)
			if (is_close(word, *alias))
				return row;
	}
	return NULL;
}

/* Its aliases are common in replies, and need a token. */
static bool
is_confirming(const char *word, const char *arguments)
{
	return g_ascii_strncasecmp(word, "conf", 4) == 0 ||
	       (strlen(arguments) == TOKEN_RANDOM_LENGTH && !strchr(arguments, ' '));
}

enum command_kind
command_table_classify(const char *line)
{
	const char *arguments;
	g_autofree char *word = command_table_split(line, &arguments);
	const struct command_row *found = command_table_find(word);
	const struct command_row *row = choose_row(found, word, arguments);

	/* "Ok, thanks" is not a yes, either. */
	if (found && !row)
		return COMMAND_KIND_NONE;
	if (row && row->run == command_run_confirm && !is_confirming(word, arguments))
		return COMMAND_KIND_NONE;
	if (row || command_is_settings(line))
		return COMMAND_KIND_VERB;
	row = command_table_find_closest(word);
	/* "Lost: one cat" is not `list`. */
	if (!row || (row->arity == COMMAND_ARITY_NONE && *arguments) ||
	    (row->arity == COMMAND_ARITY_REQUIRED && !*arguments))
		return COMMAND_KIND_NONE;
	return COMMAND_KIND_NEAR;
}

/* Commands whose arguments are a filter. */
static bool
takes_query(const struct command_row *row)
{
	return strstr(row->arguments, "QUERY") != NULL;
}

/* Numbers, quoted text, options, fields, operators: not prose. */
static bool
is_formal(const struct command_row *row, const char *arguments)
{
	static const char query[] = "(?:^|[\\s(])(?:\\w+[:=]|[-!]\\w|=\\w)|\"|\\w\\*|"
	                            "\\b(?:AND|OR|NOT|ANDNOT|NEAR)\\b|^\\d+ \\S";

	if (!*arguments || command_is_numbers(arguments))
		return true;
	if (takes_query(row))
		return g_regex_match_simple(query, arguments, 0, 0);
	return g_regex_match_simple("\\w[=\"]|^\\*$", arguments, 0, 0) ||
	       (row->arity != COMMAND_ARITY_NONE &&
	           strlen(arguments) == TOKEN_RANDOM_LENGTH && !strchr(arguments, ' '));
}

/* Whether a wish is what the verb does: "pause for two weeks", "add diffusion". */
static bool
is_same_wish(const struct command_row *row, const char *arguments,
    const struct phrases_match *wish)
{
	const char *topic = phrases_get_value(wish, "topic", 0);

	if (!command_prose_is_verb(wish->intent, row->verb))
		return false;
	/* "pause, please" */
	if (row->arity == COMMAND_ARITY_OPTIONAL && *arguments &&
	    !(wish->values && wish->values->len))
		return false;
	if (!takes_query(row) || !topic)
		return row->run != command_run_subscribe && !takes_query(row) &&
		       row->run != command_run_unsubscribe &&
		       row->run != command_run_del && !is_of_papers(row);
	return !phrases_get_value(wish, "topic", 1) && strcmp(topic, arguments) == 0;
}

bool
command_table_is_slip(const char *line)
{
	const char *arguments;
	g_autofree char *word = command_table_split(line, &arguments);
	const struct command_row *row = command_table_find_closest(word);

	/* "Sparse autoencoders" is not "share". */
	return row && command_table_classify(line) == COMMAND_KIND_NEAR &&
	       (is_formal(row, arguments) || g_ascii_isdigit(*arguments));
}

bool
command_table_is_command(const char *line)
{
	const char *arguments;
	const struct command_row *row = command_table_parse(line, &arguments);
	pb_auto(prose_item) item = NULL;

	if (!row || command_table_classify(line) != COMMAND_KIND_VERB)
		return false;
	if (is_formal(row, arguments))
		return true;
	if (row->run == command_run_invite)
		return strchr(arguments, '@');
	/* Names of shares. */
	if (!strchr(arguments, ' ') &&
	    (row->run == command_run_follow || row->run == command_run_unfollow ||
	        row->run == command_run_fork || row->run == command_run_unshare))
		return true;
	item = prose_read_line(line);
	if (item)
		return is_same_wish(row, arguments, &item->wish) ||
		       (row->run == command_run_set && command_is_settings(arguments));
	if (row->arity == COMMAND_ARITY_NONE || row->run == command_run_subscribe ||
	    row->run == command_run_unsubscribe)
		return false;
	/* "change of address" */
	if (row->run == command_run_edit &&
	    g_ascii_strncasecmp(line, row->verb, strlen(row->verb)) != 0)
		return false;
	if (takes_query(row))
		return prose_is_topic(arguments);
	return !strchr(arguments, ' ') || row->run == command_run_set ||
	       row->run == command_run_share ||
	       (row->run == command_run_del && prose_is_topic(arguments)) ||
	       row->run == command_run_pause || command_is_papers(arguments);
}

/* ---- help ---- */

static char *
format_usage(const struct command_row *row)
{
	return g_strdup_printf(
	    "%s%s%s", row->verb, *row->arguments ? " " : "", row->arguments);
}

/* Load command_help.ini once. */
static void *
load_texts(void *data)
{
	g_autoptr(GBytes) bytes = g_resource_lookup_data(
	    command_help_get_resource(), data, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
	GKeyFile *texts = g_key_file_new();

	g_assert(g_key_file_load_from_bytes(texts, bytes, G_KEY_FILE_NONE, NULL));
	return texts;
}

char *
command_table_find_text(const struct command_row *row, const char *kind)
{
	static GOnce once = G_ONCE_INIT;

	return g_key_file_get_string(
	    g_once(&once, load_texts, "/paperboy/commands/command_help.ini"), row->verb,
	    kind, NULL);
}

static void
add_command_help(struct request *request, const struct command_row *row)
{
	g_autofree char *usage = format_usage(row);
	g_autofree char *help = command_table_find_text(row, "help");
	g_autofree char *example = command_table_find_text(row, "example");

	reply_text_add_block(&request->text, usage);
	reply_phrase(&request->text, "", help, "most",
	    MSG_INT(request->settings->subscribe_filters));
	if (*row->aliases) {
		g_auto(GStrv) words = g_strsplit(row->aliases, " ", -1);
		g_autofree char *aliases = g_strjoinv(", ", words);

		reply_phrase(
		    &request->text, "", N_("Also: {aliases}"), "aliases", aliases);
	}
	if (example)
		reply_phrase(
		    &request->text, "", N_("Example: {line}"), "line", example);
}

static void
add_all_help(struct request *request)
{
	reply_text_add_paragraph(&request->text,
	    N_("Write what you want in your own words, or reply with one of these "
	       "lines:"));
	reply_text_add_blank(&request->text);
	command_add_examples(request);
	reply_text_add_blank(&request->text);
	reply_text_add_paragraph(&request->text,
	    N_("All commands, one on a line, to {address}. Arguments in [brackets] are "
	       "optional. \"help add\" explains one command."),
	    "address", request->commands_address);
	reply_text_add_blank(&request->text);
	for (const struct command_row *row = command_rows; row->verb; row++) {
		g_autofree char *usage = format_usage(row);
		g_autofree char *brief = command_table_find_text(row, "brief");

		reply_text_add_block(&request->text, usage);
		reply_phrase(&request->text, "", brief);
	}
	reply_text_add_blank(&request->text);
	reply_text_add_paragraph(
	    &request->text, N_("A filter is a few words; all of them must be in the "
	                       "title or the abstract. \"state space\" in quotation "
	                       "marks is a phrase, -survey excludes surveys, OR "
	                       "matches either, author:hinton matches an author."));
}

bool
command_run_help(struct request *request, const char *arguments, GError **error)
{
	g_autofree char *word = command_take_word(&arguments);
	const struct command_row *row = word ? command_table_find(word) : NULL;

	if (word && !row)
		row = command_table_find_closest(word);
	/* "Help me, please" */
	if (row)
		add_command_help(request, row);
	else
		add_all_help(request);
	(void)error;
	return true;
}

/* Add the policy of who can subscribe, unless everybody can. */
static void
add_policy(struct request *request)
{
	static const enum policy_verdict refusals[] = {
	    [SETTINGS_POLICY_OPEN] = POLICY_ALLOWED,
	    [SETTINGS_POLICY_DOMAINS] = POLICY_OTHER_DOMAIN,
	    [SETTINGS_POLICY_APPROVAL] = POLICY_ALLOWED,
	    [SETTINGS_POLICY_CLOSED] = POLICY_CLOSED,
	};
	enum settings_policy policy =
	    (enum settings_policy)request->settings->subscribe_policy;
	const char *refusal = policy_get_refusal(refusals[policy]);
	g_autofree char *domains = policy_format_domains(request->settings);

	if (refusal)
		reply_phrase(&request->text, "", refusal, "value", domains, "owner",
		    request->settings->mail_owner);
	else if (policy == SETTINGS_POLICY_APPROVAL)
		reply_phrase(&request->text, "",
		    N_("{owner} decides about new subscriptions."), "owner",
		    request->settings->mail_owner);
}

bool
command_run_info(struct request *request, const char *arguments, GError **error)
{
	(void)arguments;
	(void)error;
	reply_phrase(&request->text, "ok",
	    N_("{name} reads what the sources list each day, compares it with your "
	       "filters, and mails you the papers that match: one digest, each paper "
	       "once. It stores your address, your filters and settings, and which "
	       "papers you were sent. It does not track what you open or click. "
	       "\"export\" shows all data stored about you, \"forget me\" erases it. "
	       "Operated by: {owner}"),
	    "name", request->settings->mail_from_name, "owner",
	    request->settings->mail_owner);
	add_policy(request);
	if (*request->settings->web_url)
		reply_phrase(&request->text, "",
		    N_("The page {url} shows and changes all this, too: the "
		       "unsubscribe link of a digest leads there, and mails you a link "
		       "to your preferences."),
		    "url", request->settings->web_url);
	return true;
}
