/*
 * command_prose.c - carry out or propose what a message asks for.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/zone.h"
#include "message/address.h"
#include "message/prose_time.h"
#include "model/digest.h"
#include "service/command/command_private.h"
#include "store/mail/digests.h"
#include "store/subscriber/confirmations.h"

/* Lines that were not understood are listed up to this number. */
#define UNREAD_SHOWN 5
#define UNREAD_CHARS 200

/* Examples beside those that the text of a message suggests. */
#define EXAMPLES_MAX 6

/* ---- what intents do ---- */

/* The commands for a wish, separated by LF; NULL: it cannot be done as it is said. */
typedef char *format_fn(struct request *request, const struct prose_item *item);

static format_fn format_topics, format_block, format_del, format_edit, format_author,
    format_pause, format_frequency, format_time, format_zone, format_max,
    format_language, format_papers, format_search, format_address;

enum effect {
	EFFECT_PROPOSED,
	EFFECT_DONE, /* it only answers, or can be undone */
	EFFECT_NONE, /* see run_wishes() */
};

/*
 * Intents of etc/phrases.  The example is shown to those who may mean the intent; the
 * order is that of these examples.
 */
static const struct wish {
	const char *intent;
	const char *verb;
	enum effect effect;
	format_fn *format; /* NULL: the example */
	const char *example;
} wishes[] = {
    {"leave", "unsubscribe", EFFECT_DONE, NULL, "unsubscribe"},
    {"forget", "forget", EFFECT_PROPOSED, NULL, "forget me"},
    {"pause", "pause", EFFECT_PROPOSED, format_pause, "pause 14d"},
    {"away", "pause", EFFECT_NONE, NULL, "pause 14d"},
    {"resume", "resume", EFFECT_PROPOSED, NULL, "resume"},
    {"frequency", "set", EFFECT_PROPOSED, format_frequency, "set when weekly"},
    {"time", "set", EFFECT_PROPOSED, format_time, "set at 18:30"},
    {"zone", "set", EFFECT_PROPOSED, format_zone, "set tz Europe/Berlin"},
    {"fewer", "set", EFFECT_PROPOSED, format_max, "set max 10"},
    {"language", "set", EFFECT_PROPOSED, format_language, "set language en"},
    {"exclude", "block", EFFECT_PROPOSED, format_block, "block survey"},
    {"remove", "del", EFFECT_PROPOSED, format_del, "del 1"},
    {"edit", "edit", EFFECT_PROPOSED, format_edit, "edit 1 diffusion"},
    {"author", "add", EFFECT_PROPOSED, format_author, "add author:\"Yann LeCun\""},
    {"like", "like", EFFECT_PROPOSED, format_papers, "like 1"},
    {"hide", "hide", EFFECT_PROPOSED, format_papers, "hide 1"},
    {"more", "more", EFFECT_DONE, format_papers, "more 1"},
    {"why", "why", EFFECT_DONE, format_papers, "why 1"},
    {"show", "list", EFFECT_DONE, NULL, "list"},
    {"search", "search", EFFECT_DONE, format_search, "search diffusion"},
    {"address", "address", EFFECT_PROPOSED, format_address, "address new@example.org"},
    {"undo", "subscribe", EFFECT_NONE, NULL, "subscribe"},
    {"subscribe", "subscribe", EFFECT_PROPOSED, format_topics, "subscribe"},
    {"add", "add", EFFECT_PROPOSED, format_topics, "add diffusion"},
    {"complaint", "info", EFFECT_DONE, NULL, "info"},
    {"human", "info", EFFECT_DONE, NULL, "info"},
    {"help", "help", EFFECT_DONE, NULL, "help"},
    {"thanks", "", EFFECT_NONE, NULL, ""},
    {NULL, NULL, EFFECT_NONE, NULL, NULL},
};

static const struct wish *
find_wish(const char *intent)
{
	for (const struct wish *wish = wishes; wish->intent; wish++)
		if (strcmp(wish->intent, intent) == 0)
			return wish;
	return NULL;
}

bool
command_prose_is_verb(const char *intent, const char *verb)
{
	const struct wish *wish = find_wish(intent);

	return wish && strcmp(wish->verb, verb) == 0;
}

/* ---- filters ---- */

static GString *
add_line(GString *lines, char *line)
{
	g_string_append_printf(lines, "%s%s", lines->len ? "\n" : "", line);
	g_free(line);
	return lines;
}

static void
add_topics(GString *lines, const struct prose_item *item, const char *verb)
{
	const char *topic;

	for (unsigned i = 0; (topic = prose_get(item, "topics", i)); i++) {
		g_autofree char *unused = NULL;
		g_autofree char *query = prose_format_topic(topic, &unused);

		add_line(lines, g_strdup_printf("%s %s", verb, query));
	}
}

static char *
format_topics(struct request *request, const struct prose_item *item)
{
	GString *lines = g_string_new(NULL);
	const char *every = prose_get(item, "every", 0);

	(void)request;
	add_topics(lines, item, "add");
	if (every)
		add_line(lines, g_strdup_printf("set when %s", every));
	return g_string_free(lines, FALSE);
}

static char *
format_block(struct request *request, const struct prose_item *item)
{
	GString *lines = g_string_new(NULL);

	(void)request;
	add_topics(lines, item, "block");
	return g_string_free(lines, FALSE);
}

static char *
format_author(struct request *request, const struct prose_item *item)
{
	(void)request;
	return g_strdup_printf("add author:\"%s\"", prose_get(item, "author", 0));
}

/* Lower case, letters and digits only, for comparison. */
static char *
fold(const char *text)
{
	pb_auto(phrases_text) words = phrases_text_new(text);
	GString *folded = g_string_new(NULL);

	for (guint i = 0; i < words->words->len; i++)
		if (!phrases_get_word(words, i)->mark)
			g_string_append_printf(folded, "%s%s", folded->len ? " " : "",
			    phrases_get_word(words, i)->plain);
	return g_string_free(folded, FALSE);
}

/* The filter that a person means by its number, name or words. @return 0: none */
static int
find_filter(struct request *request, const struct prose_item *item)
{
	const char *named = prose_get(item, "filter", 0);
	int number = prose_find_number(item, 0), found = 0;
	g_autofree char *wanted = named ? fold(named) : NULL;
	g_autoptr(GPtrArray) own =
	    request->subscriber ? command_load_filters(request, NULL) : NULL;

	for (guint i = 0; own && i < own->len; i++) {
		const struct subscription *one = own->pdata[i];
		g_autofree char *name = fold(one->name ? one->name : "");
		g_autofree char *text = fold(one->text);

		if (!wanted ? one->number == number
		            : strcmp(wanted, name) == 0 || strcmp(wanted, text) == 0)
			found = found ? -1 : one->number;
	}
	return MAX(found, 0);
}

static char *
format_del(struct request *request, const struct prose_item *item)
{
	int number = find_filter(request, item);

	return number ? g_strdup_printf("del %d", number) : NULL;
}

static char *
format_edit(struct request *request, const struct prose_item *item)
{
	int number = find_filter(request, item);
	g_autofree char *unused = NULL;
	g_autofree char *query =
	    prose_format_topic(prose_get(item, "topics", 0), &unused);

	return number && !prose_get(item, "topics", 1)
	           ? g_strdup_printf("edit %d %s", number, query)
	           : NULL;
}

/* ---- settings ---- */

static GDateTime *
get_today(const struct request *request)
{
	g_autoptr(GTimeZone) zone =
	    zone_load_or_utc(request->subscriber ? request->subscriber->zone
	                                         : request->settings->digest_zone);

	g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc(request->now);

	return g_date_time_to_timezone(utc, zone);
}

static char *
format_pause(struct request *request, const struct prose_item *item)
{
	g_autoptr(GDateTime) here = get_today(request);
	char day[DAY_BYTES];

	return prose_find_day(item, here, day) && *day
	           ? g_strdup_printf("pause until %s", day)
	           : g_strdup("pause");
}

static char *
format_frequency(struct request *request, const struct prose_item *item)
{
	const char *every = prose_get(item, "every", 0), *day;
	GString *days = g_string_new(NULL);
	g_autofree char *list = NULL;

	(void)request;
	for (unsigned i = 0; (day = prose_get(item, "weekday", i)); i++)
		g_string_append_printf(days, "%s%s", days->len ? "," : "", day);
	list = g_string_free(days, FALSE);
	if (*list)
		return g_strdup_printf("set when weekly days %s", list);
	return g_strdup_printf("set when %s", every ? every : "weekly");
}

static char *
format_time(struct request *request, const struct prose_item *item)
{
	char text[SCHEDULE_MINUTE_BYTES];
	int minute;

	(void)request;
	if (!prose_find_minute(item, &minute))
		return NULL;
	schedule_format_minute(minute, text);
	return g_strdup_printf("set at %s", text);
}

/* The installed zone of a place, or of its last words: "in New York". */
static char *
format_zone(struct request *request, const struct prose_item *item)
{
	const char *zone = prose_get(item, "zone", 0);
	const char *place = prose_get(item, "place", 0);

	(void)request;
	if (zone)
		return g_strdup_printf("set tz %s", zone);
	while (place) {
		g_autofree char *found = zone_find(place, NULL);

		if (found)
			return g_strdup_printf("set tz %s", found);
		place = strchr(place, ' ');
		place += place != NULL;
	}
	return NULL;
}

static char *
format_max(struct request *request, const struct prose_item *item)
{
	int number = prose_find_number(item, 0);

	if (prose_get(item, "value", 0))
		number = request->subscriber ? MAX(request->subscriber->max_full / 2, 1)
		                             : 10;
	return number > 0 ? g_strdup_printf("set max %d", number) : NULL;
}

static char *
format_language(struct request *request, const struct prose_item *item)
{
	(void)request;
	return g_strdup_printf("set language %s", prose_get(item, "speech", 0));
}

static char *
format_address(struct request *request, const struct prose_item *item)
{
	const char *address = prose_get(item, "address", 0), *next;

	(void)request;
	/* "from old@... to new@..." */
	for (unsigned i = 1; (next = prose_get(item, "address", i)); i++)
		address = next;
	return g_strdup_printf("address %s", address);
}

static char *
format_search(struct request *request, const struct prose_item *item)
{
	g_autofree char *unused = NULL;
	g_autofree char *query =
	    prose_format_topic(prose_get(item, "topics", 0), &unused);

	(void)request;
	return g_strdup_printf("search %s", query);
}

/* ---- papers ---- */

/* The number of the only paper of the digest whose title has all words. */
static int
find_title(struct request *request, const char *words)
{
	g_autofree char *wanted = fold(words);
	g_auto(GStrv) parts = g_strsplit(wanted, " ", -1);
	pb_auto(digest) digest =
	    request->digest_id ? digests_load(request->store, request->digest_id, NULL)
	                       : NULL;
	int found = 0;

	for (guint i = 0; digest && i < digest->entries->len; i++) {
		const struct digest_entry *entry = digest->entries->pdata[i];
		g_autofree char *title = fold(entry->paper->title);
		g_auto(GStrv) of_title = g_strsplit(title, " ", -1);
		bool has_all = true;

		for (char **part = parts; *part; part++)
			has_all = has_all &&
			          g_strv_contains((const char *const *)of_title, *part);
		if (has_all)
			found = found ? -1 : (int)i + 1;
	}
	return MAX(found, 0);
}

static char *
format_papers(struct request *request, const struct prose_item *item)
{
	const char *title = prose_get(item, "title", 0);
	GString *line = g_string_new(find_wish(item->intent)->verb);
	int number = title ? find_title(request, title) : prose_find_number(item, 0);

	for (unsigned i = 1; number > 0; i++) {
		g_string_append_printf(line, " %d", number);
		number = title ? 0 : prose_find_number(item, i);
	}
	return g_string_free(line, !strchr(line->str, ' '));
}

/* ---- the message ---- */

/* State while a message is read. */
struct mail {
	struct request *request;
	const struct prose *prose;
	GPtrArray *unread; /* struct prose_item *, borrowed */
	GHashTable *seen;  /* lines that were done or proposed */
	bool is_doubt, is_subscribing;
	unsigned commands, proposed, answered;
};

static const struct prose_item *
find_item(const struct prose *prose, const char *intent)
{
	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];

		if (item->kind == PROSE_WISH && strcmp(item->intent, intent) == 0)
			return item;
	}
	return NULL;
}

static bool
is_leaving(const char *line)
{
	const char *arguments;
	const struct command_row *row = command_table_parse(line, &arguments);

	return row && row->run == command_run_unsubscribe;
}

/* Whether the message asks for a change besides leaving. */
static bool
has_change(const struct prose *prose)
{
	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];
		const struct wish *wish =
		    item->kind == PROSE_WISH ? find_wish(item->intent) : NULL;

		if ((item->kind == PROSE_COMMAND && !is_leaving(item->line)) ||
		    (wish && wish->effect == EFFECT_PROPOSED &&
		        strcmp(wish->intent, "remove") != 0))
			return true;
	}
	return false;
}

/* Run or propose lines, each once. */
static bool
run_lines(struct mail *mail, const char *text, enum effect effect, GError **error)
{
	struct request *request = mail->request;
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++) {
		if (!**line || !g_hash_table_add(mail->seen, g_strdup(*line)))
			continue;
		if (effect == EFFECT_DONE)
			mail->answered++;
		else
			mail->proposed++;
		if (effect == EFFECT_DONE
		        ? !command_answer_line(request, *line, error)
		        : !command_propose_line(request, *line, error))
			return false;
	}
	return true;
}

static bool
has_command(const struct prose *prose)
{
	for (guint i = 0; i < prose->items->len; i++)
		if (((struct prose_item *)prose->items->pdata[i])->kind ==
		    PROSE_COMMAND)
			return true;
	return false;
}

static bool
subscribe(struct mail *mail, GError **error)
{
	if (mail->is_subscribing || mail->request->subscribe_name)
		return true;
	mail->is_subscribing = true;
	/* "Subscription" above commands */
	if (mail->request->subscriber && has_command(mail->prose))
		return true;
	return run_lines(mail, mail->request->subscriber ? "list" : "subscribe",
	    mail->request->subscriber ? EFFECT_DONE : EFFECT_PROPOSED, error);
}

/* Offer what somebody had before leaving. */
static bool
restore(struct mail *mail, GError **error)
{
	struct request *request = mail->request;
	g_autofree struct confirmation *undo = NULL;

	if (request->subscriber)
		return true;
	if (!confirmations_find_pending(request->store, CONFIRMATION_UNDO,
	        request->address_key, request->now, &undo, error))
		return false;
	if (undo && !mail->is_subscribing && !request->subscribe_name) {
		g_free(request->restored);
		request->restored = g_strdup(undo->action);
	}
	return subscribe(mail, error);
}

/* A wish that changes or adds nothing by itself is part of another one. */
static bool
is_redundant(const struct mail *mail, const struct prose_item *item)
{
	const struct prose *prose = mail->prose;

	if (strcmp(item->intent, "thanks") == 0)
		return true;
	if (strcmp(item->intent, "help") == 0 &&
	    (has_change(prose) || find_item(prose, "leave")))
		return true;
	if (strcmp(item->intent, "complaint") == 0 && find_item(prose, "human"))
		return true;
	/* "Pause" above "please pause until Monday" */
	if (strcmp(item->intent, "pause") == 0 && item->values->len == 0)
		for (guint i = 0; i < prose->items->len; i++) {
			const struct prose_item *other = prose->items->pdata[i];

			if (other->kind == PROSE_WISH &&
			    strcmp(other->intent, "pause") == 0 && other->values->len)
				return true;
		}
	if (strcmp(item->intent, "away") == 0)
		return find_item(prose, "pause") || find_item(prose, "resume");
	return false;
}

/* Whether a sentence that was not understood names a time. */
static bool
has_other_time(const struct prose *prose)
{
	static const char *const sets[] = {"unit", "month", "weekday", "hour", "date"};

	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];

		if (item->kind != PROSE_UNREAD && item->kind != PROSE_DOUBT)
			continue;
		for (size_t j = 0; j < G_N_ELEMENTS(sets); j++)
			if (prose_has(sets[j], item->line))
				return true;
	}
	return false;
}

static bool
run_wish(struct mail *mail, const struct prose_item *item, GError **error)
{
	struct request *request = mail->request;
	const struct wish *wish = find_wish(item->intent);
	g_autofree char *lines = NULL;

	if (is_redundant(mail, item))
		return true;
	if (strcmp(item->intent, "undo") == 0)
		return restore(mail, error);
	if (wish->effect == EFFECT_NONE ||
	    (strcmp(item->intent, "pause") == 0 && !item->values->len &&
	        has_other_time(mail->prose))) {
		mail->is_doubt = true;
		return true;
	}
	lines = wish->format ? wish->format(request, item) : g_strdup(wish->example);
	if (!lines) {
		if (!item->is_in_subject)
			g_ptr_array_add(mail->unread, (gpointer)item);
		return true;
	}
	if (strcmp(item->intent, "subscribe") == 0 && !subscribe(mail, error))
		return false;
	/* "add" of a stranger */
	if (!request->subscriber && wish->effect == EFFECT_PROPOSED &&
	    strcmp(wish->verb, "forget") != 0 && !subscribe(mail, error))
		return false;
	return run_lines(mail, lines, wish->effect, error);
}

/* A misspelt "unsubscribe" or "subscribe" is read as meant. */
static bool
run_unread(struct mail *mail, const struct prose_item *item, GError **error)
{
	struct request *request = mail->request;
	const char *arguments;
	g_autofree char *word = command_table_split(item->line, &arguments);
	const struct command_row *row = command_table_find_closest(word);

	if (row && !*arguments && row->run == command_run_unsubscribe)
		return run_lines(mail, "unsubscribe", EFFECT_DONE, error);
	if (row && !*arguments && row->run == command_run_subscribe)
		return subscribe(mail, error);
	if (!item->is_in_subject &&
	    command_table_classify(item->line) == COMMAND_KIND_NEAR) {
		mail->commands++;
		return command_answer_typed(request, item->line, error);
	}
	if (!item->is_in_subject)
		g_ptr_array_add(mail->unread, (gpointer)item);
	return true;
}

/* A question that is asked again has the same answer. */
static bool
is_repeated(const struct mail *mail, const char *line)
{
	const char *arguments;
	const struct command_row *row = command_table_parse(line, &arguments);

	return !g_hash_table_add(mail->seen, g_strdup(line)) && row &&
	       row->auth == COMMAND_AUTH_READ;
}

static bool
run_item(struct mail *mail, const struct prose_item *item, GError **error)
{
	switch (item->kind) {
	case PROSE_COMMAND:
		if (mail->commands++ >= BOUNDS_COMMANDS ||
		    is_repeated(mail, item->line))
			return true;
		return command_answer_typed(mail->request, item->line, error);
	case PROSE_WISH:
		return run_wish(mail, item, error);
	case PROSE_DOUBT:
		mail->is_doubt = true;
		return true;
	case PROSE_UNREAD:
		return run_unread(mail, item, error);
	case PROSE_CUT:
		return true;
	}
	g_assert_not_reached();
}

/* Leaving never waits; with another wish it is asked about. @param is_done  set */
static bool
run_leave(struct mail *mail, bool *is_done, GError **error)
{
	const struct prose *prose = mail->prose;
	bool is_leave = find_item(prose, "leave");

	*is_done = false;
	if (find_item(prose, "forget")) {
		*is_done = true;
		return run_lines(mail, "forget me", EFFECT_PROPOSED, error);
	}
	if (!is_leave)
		return true;
	if (!mail->request->subscriber && find_item(prose, "complaint")) {
		*is_done = true;
		return run_lines(mail, "info", EFFECT_DONE, error);
	}
	*is_done = true;
	if (has_change(prose)) {
		mail->is_doubt = true;
		return true;
	}
	return run_lines(mail, "unsubscribe", EFFECT_DONE, error);
}

static bool
run_items(struct mail *mail, GError **error)
{
	const GPtrArray *items = mail->prose->items;
	bool is_done;

	if (!run_leave(mail, &is_done, error))
		return false;
	for (guint i = 0; !is_done && i < items->len; i++)
		if (!run_item(mail, items->pdata[i], error))
			return false;
	return true;
}

/* ---- what was not understood ---- */

/* Whether a line that was not understood may ask for something. */
static bool
has_request(const struct mail *mail)
{
	const char *intents[G_N_ELEMENTS(wishes)];

	for (size_t i = 0; i < G_N_ELEMENTS(wishes); i++)
		intents[i] = g_strcmp0(wishes[i].intent, "thanks") == 0
		                 ? NULL
		                 : wishes[i].intent;
	for (guint i = 0; i < mail->unread->len; i++) {
		const struct prose_item *item = mail->unread->pdata[i];

		if (item->kind == PROSE_WISH || strchr(item->line, '?') ||
		    prose_guess(item->line, intents, -1) >= 0)
			return true;
	}
	return mail->is_subscribing && mail->unread->len;
}

static void
add_unread(const struct mail *mail)
{
	struct reply_text *text = &mail->request->text;
	guint count = mail->unread->len;

	if (!count)
		return;
	reply_text_add_blank(text);
	reply_text_add_paragraph(text, has_request(mail) ? "not_read" : "not_asked");
	for (guint i = 0; i < MIN(count, UNREAD_SHOWN); i++) {
		const struct prose_item *item = mail->unread->pdata[i];
		g_autofree char *shown = NULL;

		if (text->is_guarded &&
		    mail->request->echoed->len > BOUNDS_UNKNOWN_ECHO)
			break;
		g_string_append_printf(mail->request->echoed, "%s\n", item->line);
		shown = sanitize_line(item->line, UNREAD_CHARS);
		reply_text_add_quoted(text, shown);
	}
	if (count > UNREAD_SHOWN)
		reply_text_add_paragraph(
		    text, "not_read_more", "count", MSG_INT(count - UNREAD_SHOWN));
}

static void
add_example(struct request *request, const struct wish *wish, GHashTable *shown)
{
	g_autofree char *name = g_strconcat("brief.", wish->verb, NULL);
	g_autofree char *brief = NULL;

	if (!*wish->example || g_hash_table_size(shown) == EXAMPLES_MAX ||
	    !g_hash_table_add(shown, (gpointer)wish->example))
		return;
	brief = reply_text_format(&request->text, name);
	brief[strcspn(brief, ";")] = '\0';
	g_string_append_printf(
	    request->text.text, "  %-20s  %s\n", wish->example, brief);
}

/* Lines to reply with: first those that the text suggests. */
static void
add_examples(const struct mail *mail)
{
	static const char *const for_strangers[] = {
	    "subscribe", "add", "search", "complaint", "help"};
	static const char *const for_subscribers[] = {
	    "leave", "pause", "add", "frequency", "show", "help"};
	struct request *request = mail->request;
	const char *intents[G_N_ELEMENTS(wishes)];
	g_autoptr(GHashTable) shown = g_hash_table_new(g_str_hash, g_str_equal);
	bool is_known = request->subscriber;
	size_t count =
	    is_known ? G_N_ELEMENTS(for_subscribers) : G_N_ELEMENTS(for_strangers);

	for (size_t i = 0; i < G_N_ELEMENTS(wishes); i++)
		intents[i] = wishes[i].intent;
	for (guint i = 0; i < mail->prose->items->len; i++) {
		const struct prose_item *item = mail->prose->items->pdata[i];

		if (item->kind == PROSE_WISH)
			add_example(request, find_wish(item->intent), shown);
		if (item->kind != PROSE_UNREAD && item->kind != PROSE_DOUBT)
			continue;
		for (int at = prose_guess(item->line, intents, -1); at >= 0;
		     at = prose_guess(item->line, intents, at))
			add_example(request, &wishes[at], shown);
	}
	for (size_t i = 0; i < count; i++)
		add_example(request,
		    find_wish(is_known ? for_subscribers[i] : for_strangers[i]), shown);
}

static void
add_not_understood(const struct mail *mail)
{
	struct request *request = mail->request;

	request->reply.is_help = true;
	reply_text_add_paragraph(
	    &request->text, mail->is_doubt ? "not_clear" : "not_understood");
	add_examples(mail);
	reply_text_add_blank(&request->text);
	reply_text_add_paragraph(
	    &request->text, "ask_person", "owner", request->settings->mail_owner);
}

/* Thanks alone need no answer. */
static bool
is_only_thanks(const struct mail *mail)
{
	return find_item(mail->prose, "thanks") && !mail->is_doubt &&
	       !mail->unread->len;
}

static void
finish_text(struct mail *mail)
{
	struct command_reply *reply = &mail->request->reply;
	bool is_empty = !mail->commands && !mail->proposed && !mail->answered;

	if (is_empty && mail->prose->is_automatic)
		reply->silence = "automatic";
	else if (is_empty && is_only_thanks(mail))
		reply->silence = "thanks";
	else if (is_empty)
		add_not_understood(mail);
	else
		add_unread(mail);
}

/* That of a reply is ours, perhaps: topics are not read from it. */
static const char *
get_subject(const struct request *request)
{
	const char *subject = request->mail->subject ? request->mail->subject : "";
	const char *rest = command_text_skip_prefixes(subject);
	pb_auto(prose_item) wish = NULL;

	if (rest == subject || command_table_is_command(rest))
		return rest;
	wish = prose_read_line(rest);
	return !request->has_token && wish && !wish->values->len &&
	               (strcmp(wish->intent, "leave") == 0 ||
	                   strcmp(wish->intent, "subscribe") == 0)
	           ? rest
	           : "";
}

static bool
is_command(const char *line, void *data)
{
	(void)data;
	return command_table_is_command(line);
}

static bool
is_slip(const char *line, void *data)
{
	(void)data;
	return command_table_classify(line) == COMMAND_KIND_NEAR;
}

bool
command_run_prose(struct request *request, GError **error)
{
	const char *text = request->mail->text ? request->mail->text : "";
	size_t size = strlen(text);
	g_autofree char *body = g_strndup(text, MIN(size, BOUNDS_COMMAND_BYTES));
	g_autofree char *local =
	    g_strndup(request->address, strcspn(request->address, "@"));
	const char *const names[] = {local, request->name, NULL};
	g_autofree char *subject = sanitize_line(get_subject(request), 0);
	const struct prose_mail raw = {.subject = subject,
	    .text = body,
	    .names = names,
	    .is_command = is_command,
	    .is_slip = is_slip};
	pb_auto(prose) prose = NULL;
	g_autoptr(GPtrArray) unread = g_ptr_array_new();
	g_autoptr(GHashTable) seen =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct mail mail = {.request = request, .unread = unread, .seen = seen};

	/* Drop the incomplete last line. */
	if (size > BOUNDS_COMMAND_BYTES)
		*(strrchr(body, '\n') ? strrchr(body, '\n') : body) = '\0';
	mail.prose = prose = prose_read(&raw);
	if (!prose->is_automatic && !run_items(&mail, error))
		return false;
	finish_text(&mail);
	if (mail.commands > BOUNDS_COMMANDS || size > BOUNDS_COMMAND_BYTES) {
		reply_text_add_blank(&request->text);
		reply_text_add_paragraph(&request->text,
		    mail.commands > BOUNDS_COMMANDS ? "too_many" : "too_long", "most",
		    MSG_INT(BOUNDS_COMMANDS));
	}
	if (prose->items->len &&
	    ((struct prose_item *)prose->items->pdata[0])->is_in_subject &&
	    ((struct prose_item *)prose->items->pdata[0])->kind <= PROSE_WISH)
		request->reply.subject = reply_text_format(&request->text, "subject");
	return true;
}

bool
command_propose_more(struct request *request, const char *text, GError **error)
{
	const struct prose_mail raw = {
	    .subject = "", .text = text, .is_command = is_command};
	pb_auto(prose) prose = prose_read(&raw);
	g_autoptr(GHashTable) seen =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct mail mail = {.request = request, .prose = prose, .seen = seen};

	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];
		const struct wish *wish =
		    item->kind == PROSE_WISH ? find_wish(item->intent) : NULL;
		g_autofree char *lines = NULL;

		if (!wish || wish->effect != EFFECT_PROPOSED || !wish->format)
			continue;
		lines = wish->format(request, item);
		reply_text_add_blank(&request->text);
		if (lines && !run_lines(&mail, lines, EFFECT_PROPOSED, error))
			return false;
	}
	return true;
}
