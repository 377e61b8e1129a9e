/*
 * command_prose.c - carry out or propose what a message asks for.
 */
#include <string.h>

#include "base/bounds.h"
#include "base/zone.h"
#include "message/address.h"
#include "message/command_text.h"
#include "message/prose.h"
#include "message/sanitize.h"
#include "model/digest.h"
#include "model/natural_time.h"
#include "service/command/command_private.h"
#include "service/log/event.h"
#include "store/mail/digests.h"
#include "store/subscriber/confirmations.h"

/* Lines that were not understood are listed up to this number. */
#define UNREAD_SHOWN 5
#define UNREAD_CHARS 200

/* Lines that are shown to whoever was not understood, and how many of them are of what
 * the text suggests. */
#define EXAMPLES_MAX  10
#define SUGGESTED_MAX 8

/* A pause that is to begin within so many days begins now. */
#define PAUSE_SOON_DAYS 1

/* A remark beside thanks that is longer is answered. */
#define REMARK_BYTES 80

/* A longer line that starts with a yes has something else in it. */
#define CONSENT_BYTES 30

/* ---- what intents do ---- */

/* The commands for a wish, separated by LF; NULL: it cannot be done as it is said. */
typedef char *format_fn(struct request *request, const struct prose_item *item);

static format_fn format_topics, format_only, format_block, format_del, format_edit,
    format_author, format_pause, format_frequency, format_time, format_zone, format_max,
    format_language, format_papers, format_search, format_address;

enum effect {
	EFFECT_PROPOSED,
	EFFECT_DONE, /* it only answers, or can be undone */
	EFFECT_NONE, /* see run_wish() */
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
	const char *brief; /* of a key of `set`; NULL: that of the verb */
} wishes[] = {
    {"leave", "unsubscribe", EFFECT_DONE, NULL, "unsubscribe", NULL},
    {"pause", "pause", EFFECT_PROPOSED, format_pause, "pause 14d", NULL},
    {"away", "pause", EFFECT_NONE, NULL, "pause 14d", NULL},
    {"resume", "resume", EFFECT_PROPOSED, NULL, "resume", NULL},
    {"frequency", "set", EFFECT_PROPOSED, format_frequency, "set when weekly",
        N_("how often a digest comes")},
    {"time", "set", EFFECT_PROPOSED, format_time, "set at 18:30",
        N_("when a digest comes")},
    {"zone", "set", EFFECT_PROPOSED, format_zone, "set tz Europe/Berlin",
        N_("my time zone")},
    {"fewer", "set", EFFECT_PROPOSED, format_max, "set max 10",
        N_("fewer papers in a digest")},
    {"language", "set", EFFECT_PROPOSED, format_language, "set language en",
        N_("the language of all mail")},
    {"exclude", "block", EFFECT_PROPOSED, format_block, "block survey", NULL},
    {"remove", "del", EFFECT_PROPOSED, format_del, "del 1", NULL},
    {"edit", "edit", EFFECT_PROPOSED, format_edit, "edit 1 diffusion", NULL},
    {"author", "add", EFFECT_PROPOSED, format_author, "add author:\"Yann LeCun\"",
        NULL},
    {"like", "like", EFFECT_PROPOSED, format_papers, "like 1", NULL},
    {"hide", "hide", EFFECT_PROPOSED, format_papers, "hide 1", NULL},
    {"watch", "watch", EFFECT_PROPOSED, format_papers, "watch 1", NULL},
    {"unwatch", "unwatch", EFFECT_PROPOSED, format_papers, "unwatch 1", NULL},
    {"known", "known", EFFECT_PROPOSED, format_papers, "known 1", NULL},
    {"more", "more", EFFECT_DONE, format_papers, "more 1", NULL},
    {"why", "why", EFFECT_DONE, format_papers, "why 1", NULL},
    {"show", "list", EFFECT_DONE, NULL, "list", NULL},
    {"search", "search", EFFECT_DONE, format_search, "search diffusion", NULL},
    {"address", "address", EFFECT_PROPOSED, format_address, "address new@example.org",
        NULL},
    {"undo", "subscribe", EFFECT_NONE, NULL, "subscribe", NULL},
    {"subscribe", "subscribe", EFFECT_PROPOSED, format_topics, "subscribe", NULL},
    {"add", "add", EFFECT_PROPOSED, format_topics, "add diffusion", NULL},
    {"only", "add", EFFECT_PROPOSED, format_only, "add diffusion", NULL},
    {"field", "subscribe", EFFECT_NONE, format_topics, "subscribe", NULL},
    {"forget", "forget", EFFECT_PROPOSED, NULL, "forget me", NULL},
    {"complaint", "info", EFFECT_DONE, NULL, "info", NULL},
    {"human", "info", EFFECT_DONE, NULL, "info", NULL},
    {"sources", "info", EFFECT_DONE, NULL, "info", NULL},
    {"help", "help", EFFECT_DONE, NULL, "help", NULL},
    {"thanks", "", EFFECT_NONE, NULL, "", NULL},
    {"keep", "", EFFECT_NONE, NULL, "", NULL},
    {NULL, NULL, EFFECT_NONE, NULL, NULL, NULL},
};

static const struct wish *
find_wish(const char *intent)
{
	for (const struct wish *wish = wishes; wish->intent; wish++)
		if (strcmp(wish->intent, intent) == 0)
			return wish;
	return NULL;
}

/* @return NULL: the item is none */
static const struct wish *
get_wish(const struct prose_item *item)
{
	return item->kind == PROSE_WISH ? find_wish(item->wish.intent) : NULL;
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

	for (unsigned i = 0; (topic = phrases_get_value(&item->wish, "topic", i));
	     i++) {
		g_autofree char *unused = NULL;
		g_autofree char *query = prose_format_topic(topic, &unused);

		add_line(lines, g_strdup_printf("%s %s", verb, query));
	}
}

static char *
format_topics(struct request *request, const struct prose_item *item)
{
	GString *lines = g_string_new(NULL);
	const char *every = phrases_get_value(&item->wish, "every", 0);

	(void)request;
	add_topics(lines, item, "add");
	if (every)
		add_line(lines, g_strdup_printf("set when %s", every));
	return g_string_free(lines, FALSE);
}

/* Remove the line that adds the very text of a filter. @return whether there was one */
static bool
remove_line(GString *lines, const char *text)
{
	g_auto(GStrv) all = g_strsplit(lines->str, "\n", -1);
	g_autofree char *line = g_strconcat("add ", text, NULL);
	bool is_found = false;

	g_string_truncate(lines, 0);
	for (char **one = all; *one; one++)
		if (g_ascii_strcasecmp(*one, line) == 0)
			is_found = true;
		else if (**one)
			add_line(lines, g_strdup(*one));
	return is_found;
}

/* The topics take the place of the filters of the person, but for those that have the
 * very words. */
static char *
format_only(struct request *request, const struct prose_item *item)
{
	GString *lines = g_string_new(NULL);
	g_autoptr(GString) numbers = g_string_new(NULL);
	g_autoptr(GPtrArray) own =
	    request->subscriber ? command_load_filters(request, NULL) : NULL;

	add_topics(lines, item, "add");
	for (guint i = 0; own && i < own->len; i++) {
		const struct subscription *one = own->pdata[i];

		if (!one->is_block && !remove_line(lines, one->text))
			g_string_append_printf(numbers, " %d", one->number);
	}
	if (numbers->len)
		add_line(lines, g_strconcat("del", numbers->str, NULL));
	/* It is as they want: the answer to `add` says so. */
	if (!lines->len)
		add_topics(lines, item, "add");
	return g_string_free(lines, FALSE);
}

static char *
format_author(struct request *request, const struct prose_item *item)
{
	static const char *const genitives[] = {"'s", "\u2019s"};
	g_autofree char *name = g_strdup(phrases_get_value(&item->wish, "author", 0));

	(void)request;
	for (size_t i = 0; name && i < G_N_ELEMENTS(genitives); i++)
		if (g_str_has_suffix(name, genitives[i]))
			name[strlen(name) - strlen(genitives[i])] = '\0';
	return name ? g_strdup_printf("add author:\"%s\"", name) : NULL;
}

/* "the second one" @return 0: it is no number */
static int
parse_filter_number(const char *named)
{
	pb_auto(phrases_text) text = phrases_text_new(named);
	const struct phrases_span span = {text, 0, text->words->len};
	struct phrases_match match;
	int number = 0;

	if (phrases_cover("filter-number", &span, &match)) {
		number = natural_time_find_number(&match, 0);
		phrases_match_clear(&match);
	}
	return number;
}

/* The number of the only filter of which a text has the name or all words. @return 0:
 * none */
static int
find_mentioned(const GPtrArray *own, const char *text)
{
	g_autofree char *folded = command_fold_words(text);
	g_autofree char *all = g_strdup_printf(" %s ", folded);
	int found = 0;

	for (guint i = 0; own && i < own->len; i++) {
		const struct subscription *one = own->pdata[i];
		const char *const names[] = {
		    one->text, one->name ? one->name : one->text};
		bool is_here = false;

		for (size_t j = 0; j < G_N_ELEMENTS(names); j++) {
			g_autofree char *words = command_fold_words(names[j]);
			g_autofree char *within = g_strdup_printf(" %s ", words);

			is_here = is_here || (*words && strstr(all, within));
		}
		if (is_here)
			found = found ? -1 : one->number;
	}
	return MAX(found, 0);
}

/* The filter that a person means by its number, name or words, or by words in the same
 * sentence. @return 0: none */
static int
find_filter(struct request *request, const struct prose_item *item, const char *named)
{
	int number = named ? parse_filter_number(named)
	                   : natural_time_find_number(&item->wish, 0);
	const char *context;
	int found = 0;
	g_autoptr(GPtrArray) own =
	    request->subscriber ? command_load_filters(request, NULL) : NULL;

	for (guint i = 0; own && i < own->len; i++) {
		const struct subscription *one = own->pdata[i];

		if (!named || number > 0
		        ? one->number == number
		        : command_has_same_words(named, one->text) ||
		              (one->name && command_has_same_words(named, one->name)))
			found = found ? -1 : one->number;
	}
	if (!found && (context = phrases_get_value(&item->wish, "context", 0)))
		return find_mentioned(own, context);
	return MAX(found, 0);
}

static char *
format_del(struct request *request, const struct prose_item *item)
{
	const char *named = phrases_get_value(&item->wish, "filter", 0);
	int number = find_filter(request, item, named);
	GString *line = g_string_new("del");

	for (unsigned i = 1; number > 0; i++) {
		g_string_append_printf(line, " %d", number);
		number = named ? 0 : natural_time_find_number(&item->wish, i);
	}
	return g_string_free(line, !strchr(line->str, ' '));
}

/* No more of what a filter of the person is about: it is removed. */
static char *
format_block(struct request *request, const struct prose_item *item)
{
	GString *lines = g_string_new(NULL);
	const char *topic = phrases_get_value(&item->wish, "topic", 0);
	int number = find_filter(request, item, topic);

	if (number && !phrases_get_value(&item->wish, "topic", 1))
		add_line(lines, g_strdup_printf("del %d", number));
	else
		add_topics(lines, item, "block");
	return g_string_free(lines, FALSE);
}

static char *
format_edit(struct request *request, const struct prose_item *item)
{
	const char *named = phrases_get_value(&item->wish, "filter", 0);
	int number = find_filter(request, item, named);
	const char *topic = phrases_get_value(&item->wish, "topic", 0);
	g_autofree char *unused = NULL;
	g_autofree char *query = topic ? prose_format_topic(topic, &unused) : NULL;

	return number && query && !phrases_get_value(&item->wish, "topic", 1)
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

/* Whether a pause is to begin so late that it cannot begin now; it has no start. */
static bool
begins_later(
    struct request *request, const struct prose_item *item, char start[DAY_BYTES])
{
	g_autoptr(GDateTime) here = get_today(request);
	g_autoptr(GDateTime) soon = g_date_time_add_days(here, PAUSE_SOON_DAYS);
	g_autofree char *limit = g_date_time_format(soon, "%Y-%m-%d");

	return natural_time_find_start(&item->wish, here, start) &&
	       strcmp(start, limit) > 0;
}

static char *
format_pause(struct request *request, const struct prose_item *item)
{
	g_autoptr(GDateTime) here = get_today(request);
	char day[DAY_BYTES];

	return natural_time_find_day(&item->wish, here, day) && *day
	           ? g_strdup_printf("pause until %s", day)
	           : g_strdup("pause");
}

static char *
format_frequency(struct request *request, const struct prose_item *item)
{
	const char *every = phrases_get_value(&item->wish, "every", 0), *day;
	const char *value = phrases_get_value(&item->wish, "value", 0);
	GString *days = g_string_new(NULL);
	g_autofree char *list = NULL;

	(void)request;
	for (unsigned i = 0; (day = phrases_get_value(&item->wish, "weekday", i)); i++)
		g_string_append_printf(days, "%s%s", days->len ? "," : "", day);
	list = g_string_free(days, FALSE);
	if (*list)
		return g_strdup_printf("set when weekly days %s", list);
	if (!every && value)
		every = strcmp(value, "less") == 0 ? "weekly" : value;
	return every ? g_strdup_printf("set when %s", every) : NULL;
}

static char *
format_time(struct request *request, const struct prose_item *item)
{
	char text[SCHEDULE_MINUTE_BYTES];
	int minute;

	(void)request;
	if (!natural_time_find_minute(&item->wish, &minute))
		return NULL;
	schedule_format_minute(minute, text);
	return g_strdup_printf("set at %s", text);
}

/* The installed zone of a place, or of its last words: "in New York". */
static char *
format_zone(struct request *request, const struct prose_item *item)
{
	const char *zone = phrases_get_value(&item->wish, "zone", 0);
	const char *place = phrases_get_value(&item->wish, "place", 0);

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
	int number = natural_time_find_number(&item->wish, 0);

	if (phrases_get_value(&item->wish, "value", 0))
		number = request->subscriber ? MAX(request->subscriber->max_full / 2, 1)
		                             : 10;
	return number > 0 ? g_strdup_printf("set max %d", number) : NULL;
}

static char *
format_language(struct request *request, const struct prose_item *item)
{
	const char *code = phrases_get_value(&item->wish, "speech", 0);

	(void)request;
	return code ? g_strdup_printf("set language %s", code) : NULL;
}

static char *
format_address(struct request *request, const struct prose_item *item)
{
	const char *address = phrases_get_value(&item->wish, "address", 0), *next;

	(void)request;
	/* "from old@... to new@..." */
	for (unsigned i = 1; (next = phrases_get_value(&item->wish, "address", i)); i++)
		address = next;
	return address ? g_strdup_printf("address %s", address) : NULL;
}

static char *
format_search(struct request *request, const struct prose_item *item)
{
	GString *line = g_string_new("search");
	const char *topic;

	(void)request;
	for (unsigned i = 0; (topic = phrases_get_value(&item->wish, "topic", i));
	     i++) {
		g_autofree char *unused = NULL;
		g_autofree char *query = prose_format_topic(topic, &unused);

		g_string_append_printf(line, "%s %s", i ? " OR" : "", query);
	}
	return g_string_free(line, FALSE);
}

/* ---- papers ---- */

/* The digest that the mail answers, else the newest one. @return NULL if none is left
 */
static struct digest *
load_digest(struct request *request)
{
	g_autoptr(GPtrArray) rows = NULL;

	if (request->digest_id || !request->subscriber)
		return request->digest_id
		           ? digests_load(request->store, request->digest_id, NULL)
		           : NULL;
	rows = digests_load_newest(request->store, request->subscriber->id, 1, NULL);
	return rows && rows->len ? digests_load(request->store,
	                               ((struct digest_row *)rows->pdata[0])->id, NULL)
	                         : NULL;
}

/* The number of the only paper of the digest whose title has all words. */
static int
find_title(const struct digest *digest, const char *words)
{
	g_autofree char *wanted = command_fold_words(words);
	g_auto(GStrv) parts = g_strsplit(wanted, " ", -1);
	int found = 0;

	for (guint i = 0; digest && i < digest->entries->len; i++) {
		const struct digest_entry *entry = digest->entries->pdata[i];
		g_autofree char *title = command_fold_words(entry->paper->title);
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
	const char *title = phrases_get_value(&item->wish, "title", 0);
	GString *line = g_string_new(find_wish(item->wish.intent)->verb);
	pb_auto(digest) digest = load_digest(request);
	int number = title ? find_title(digest, title)
	                   : natural_time_find_number(&item->wish, 0);

	for (unsigned i = 1; number > 0; i++) {
		bool is_known = digest && (guint)number <= digest->entries->len;
		const struct digest_entry *entry =
		    is_known ? digest->entries->pdata[number - 1] : NULL;

		/* Numbers are those of a digest that is answered. */
		if (entry && !request->digest_id)
			g_string_append_printf(line, " %s", entry->paper->id);
		else
			g_string_append_printf(line, " %d", number);
		number = title ? 0 : natural_time_find_number(&item->wish, i);
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

/* Values of slots and of the file, not topics that were split. */
static guint
count_values(const struct prose_item *item)
{
	return item->wish.values ? item->wish.values->len : 0;
}

static bool
is_leaving(const char *line)
{
	const char *arguments;
	const struct command_row *row = command_table_parse(line, &arguments);

	return row && row->run == command_run_unsubscribe;
}

typedef bool item_test_fn(const struct prose_item *item);

static bool
has_item(const struct prose *prose, item_test_fn *test)
{
	for (guint i = 0; i < prose->items->len; i++)
		if (test(prose->items->pdata[i]))
			return true;
	return false;
}

static bool
is_leaving_command(const struct prose_item *item)
{
	return item->kind == PROSE_COMMAND && is_leaving(item->line);
}

/* Whether the file of phrases gives a wish that value. */
static bool
has_stated(const struct prose_item *item, const char *value)
{
	return g_strcmp0(phrases_get_value(&item->wish, "value", 0), value) == 0;
}

static bool
is_change_command(const struct prose_item *item)
{
	const char *arguments;
	const struct command_row *row =
	    item->kind == PROSE_COMMAND ? command_table_parse(item->line, &arguments)
	                                : NULL;

	return row && row->decide && row->run != command_run_unsubscribe;
}

/* A request for papers without topics */
static bool
is_open_wish(const struct prose_item *item)
{
	return item->kind == PROSE_WISH &&
	       find_wish(item->wish.intent)->format == format_topics &&
	       !phrases_get_value(&item->wish, "topic", 0);
}

/* Whether a wish names no value, or the one that is so now: "Daily is too much" */
static bool
is_vague(const struct request *request, const struct prose_item *item)
{
	const char *every = phrases_get_value(&item->wish, "every", 0);
	const struct subscriber *subscriber = request->subscriber;
	const char *now = subscriber
	                      ? schedule_frequency_name(subscriber->schedule.frequency)
	                      : "daily";

	return has_stated(item, "less") || has_stated(item, "fewer") ||
	       (g_strcmp0(every, now) == 0 &&
	           !phrases_get_value(&item->wish, "weekday", 0));
}

/* Whether the message asks for a change besides leaving; not to remove a filter that
 * there is not: "I no longer work on robots". */
static bool
has_change(const struct mail *mail, bool has_commands)
{
	for (guint i = 0; i < mail->prose->items->len; i++) {
		const struct prose_item *item = mail->prose->items->pdata[i];
		const struct wish *wish = get_wish(item);
		g_autofree char *removal = wish && wish->format == format_del
		                               ? format_del(mail->request, item)
		                               : NULL;

		/* "Too many mails"; "It comes every day"; "Cancel it at once";
		 * "Subscription" above a text */
		if ((wish && is_vague(mail->request, item)) ||
		    g_strcmp0(phrases_get_value(&item->wish, "every", 0), "now") == 0 ||
		    (item->is_in_subject && is_open_wish(item)))
			continue;
		if ((has_commands && is_change_command(item)) ||
		    phrases_get_value(&item->wish, "topic", 0) ||
		    (wish && wish->effect == EFFECT_PROPOSED &&
		        (wish->format != format_del || removal)))
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
is_command(const struct prose_item *item)
{
	return item->kind == PROSE_COMMAND;
}

static bool
subscribe(struct mail *mail, GError **error)
{
	if (mail->is_subscribing || mail->request->subscribe_name)
		return true;
	mail->is_subscribing = true;
	/* "Subscription" above commands */
	if (mail->request->subscriber && has_item(mail->prose, is_command))
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

/* Topics of a subject are those of the request, unless the text has them or another
 * wish than when mail comes: "Subscription request: ..." is a heading. */
static bool
is_heading(const struct prose *prose, const struct prose_item *heading)
{
	if (!heading->is_in_subject || !phrases_get_value(&heading->wish, "topic", 0))
		return false;
	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];
		const struct wish *wish = get_wish(item);

		/* "plus drones" below "Subscribe: robots" */
		if (wish && !item->is_in_subject && wish->effect != EFFECT_NONE &&
		    !prose_starts_with("connective", item->line) &&
		    (phrases_get_value(&item->wish, "topic", 0) ||
		        (wish->format != format_topics &&
		            strcmp(wish->verb, "set") != 0)))
			return true;
	}
	return false;
}

/* "I work on enzymes" */
static bool
is_field(const struct prose_item *item)
{
	if (item->kind != PROSE_WISH)
		return false;
	if (strcmp(item->wish.intent, "field") == 0)
		return true;
	return find_wish(item->wish.intent)->format == format_topics &&
	       phrases_get_value(&item->wish, "topic", 0) &&
	       prose_has("statement", item->line) && !prose_has("asking", item->line);
}

/* Whether there is a wish besides what the sender works on that has topics, or that has
 * nothing to do with topics; not in the same sentence: "I work on robots and drones".
 */
static bool
has_topics(const struct prose *prose, unsigned sentence)
{
	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];
		const struct wish *wish = get_wish(item);

		if (wish && !is_field(item) &&
		    (item->sentence != sentence || prose_has("asking", item->line)) &&
		    wish->format != format_block &&
		    (phrases_get_value(&item->wish, "topic", 0) ||
		        wish->effect == EFFECT_DONE))
			return true;
	}
	return false;
}

/*
 * Compare a setting with the other ones for the same.
 *
 * @return 0: they agree; -1: another one says more, as "pause until Monday" does beside
 * "pause", or "Thursdays only" beside "Daily is too much"; 1: they contradict each
 * other
 */
static int
compare_settings(const struct mail *mail, const struct prose_item *item)
{
	const struct wish *wish = find_wish(item->wish.intent);
	g_autofree char *own = NULL;
	int result = 0;

	if (!wish->format ||
	    !g_strv_contains((const char *[]){"set", "pause", NULL}, wish->verb))
		return 0;
	own = wish->format(mail->request, item);
	for (guint i = 0; own && i < mail->prose->items->len; i++) {
		const struct prose_item *other = mail->prose->items->pdata[i];
		bool is_same =
		    other->kind == PROSE_WISH && find_wish(other->wish.intent) == wish;
		g_autofree char *line =
		    is_same ? wish->format(mail->request, other) : NULL;

		if (!line || strcmp(line, own) == 0 || is_vague(mail->request, other))
			continue;
		if (is_vague(mail->request, item) ||
		    (g_str_has_prefix(line, own) && line[strlen(own)] == ' '))
			return -1;
		if (g_str_has_prefix(own, line) && own[strlen(line)] == ' ')
			continue;
		/* The text counts, not the subject. */
		if (item->is_in_subject && !other->is_in_subject)
			return -1;
		if (item->is_in_subject == other->is_in_subject)
			result = 1;
	}
	return result;
}

/* Find a wish, in the text rather than in the subject. */
static const struct prose_item *
find_in_text(const struct prose *prose, const char *intent)
{
	const struct prose_item *found = prose_find(prose, intent);

	for (guint i = 0; found && found->is_in_subject && i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];

		if (!item->is_in_subject && item->kind == PROSE_WISH &&
		    strcmp(item->wish.intent, intent) == 0)
			found = item;
	}
	return found;
}

/* "Paused" above "start again": the text counts. */
static bool
is_former_pause(const struct prose *prose, const struct prose_item *item)
{
	const struct prose_item *resume = find_in_text(prose, "resume");

	return item->is_in_subject && strcmp(item->wish.intent, "pause") == 0 &&
	       resume && !resume->is_in_subject;
}

/* A wish that changes or adds nothing by itself is part of another one. */
static bool
is_redundant(const struct mail *mail, const struct prose_item *item)
{
	/* An intent yields to another one in the same mail; NULL: it does nothing.
	 * "Put this on ice. I will write when I want it again." is not a wish to
	 * resume; one to leave that comes here is in the subject, "Remove". */
	static const struct {
		const char *intent, *other;
	} yields[] = {{"away", "pause"}, {"away", "resume"}, {"complaint", "human"},
	    {"help", "leave"}, {"help", "complaint"}, {"help", "human"},
	    {"help", "sources"}, {"show", "complaint"}, {"show", "human"},
	    {"keep", NULL}, {"leave", "remove"}, {"leave", "undo"}, {"resume", "pause"},
	    {"thanks", NULL}};
	const struct prose *prose = mail->prose;

	if (is_former_pause(prose, item))
		return true;
	for (size_t i = 0; i < G_N_ELEMENTS(yields); i++) {
		const struct prose_item *other =
		    yields[i].other ? find_in_text(prose, yields[i].other) : NULL;

		if (strcmp(item->wish.intent, yields[i].intent) == 0 &&
		    (other ? !is_former_pause(prose, other) : !yields[i].other))
			return true;
	}
	if (is_field(item))
		return has_topics(prose, item->sentence) ||
		       (mail->request->subscriber && !has_item(prose, is_open_wish));
	/* "Two more" above a text is a heading. */
	return is_heading(prose, item) ||
	       (item->is_in_subject && !mail->request->digest_id &&
	           find_wish(item->wish.intent)->format == format_papers) ||
	       /* "Too many", and then how often it is to come */
	       (item->is_in_subject && has_stated(item, "fewer") &&
	           prose_find(prose, "frequency")) ||
	       (strcmp(item->wish.intent, "help") == 0 && has_change(mail, true)) ||
	       compare_settings(mail, item) < 0;
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
is_unread_text(const struct prose_item *item)
{
	return !item->is_in_subject &&
	       (item->kind == PROSE_DOUBT ||
	           (item->kind == PROSE_UNREAD && item->is_whole));
}

/* The statement about an absence with the last day: "away on the 25th, back on the
 * 4th".
 */
static const struct prose_item *
find_absence(struct request *request, const struct prose *prose)
{
	const struct prose_item *found = prose_find(prose, "away");
	g_autoptr(GDateTime) here = get_today(request);
	char last[DAY_BYTES] = "", day[DAY_BYTES];

	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];

		if (item->kind != PROSE_WISH ||
		    strcmp(item->wish.intent, "away") != 0 ||
		    !natural_time_find_day(&item->wish, here, day) ||
		    strcmp(day, last) <= 0)
			continue;
		g_strlcpy(last, day, sizeof(last));
		found = item;
	}
	return found;
}

static bool
asks_for_papers(const struct prose_item *item)
{
	static const char *const verbs[] = {"subscribe", "add", "search", NULL};

	return is_command(item) ||
	       (item->kind == PROSE_WISH &&
	           g_strv_contains(verbs, find_wish(item->wish.intent)->verb));
}

static bool
run_wish(struct mail *mail, const struct prose_item *item, GError **error)
{
	struct request *request = mail->request;
	const struct wish *wish = find_wish(item->wish.intent);
	g_autofree char *lines = NULL;
	char start[DAY_BYTES];

	if (is_redundant(mail, item))
		return true;
	/* "Who are you, and who put me down for robots?" */
	if (phrases_get_value(&item->wish, "topic", 0) &&
	    prose_find(mail->prose, "complaint")) {
		g_ptr_array_add(mail->unread, (gpointer)item);
		return true;
	}
	if (strcmp(item->wish.intent, "undo") == 0)
		return restore(mail, error);
	/* "Too much" above a text that says something else, perhaps */
	if (item->is_in_subject && wish->effect == EFFECT_PROPOSED &&
	    wish->format != format_topics && has_item(mail->prose, is_unread_text)) {
		mail->is_doubt = true;
		return true;
	}
	/* "I am away until Monday. Please pause." */
	if (strcmp(item->wish.intent, "pause") == 0 && !count_values(item) &&
	    prose_find(mail->prose, "away")) {
		item = find_absence(request, mail->prose);
		wish = find_wish("pause");
	}
	if (is_field(item))
		wish = find_wish("subscribe");
	if (wish->effect == EFFECT_NONE || compare_settings(mail, item) > 0 ||
	    (strcmp(item->wish.intent, "pause") == 0 && !count_values(item) &&
	        has_other_time(mail->prose))) {
		mail->is_doubt = true;
		return true;
	}
	/* "Once a week, anything new about robots"; "Have you got anything about
	 * robots? Then sign me up." */
	if (strcmp(item->wish.intent, "search") == 0 &&
	    (has_item(mail->prose, is_open_wish) ||
	        (!request->subscriber && !strchr(item->line, '?') &&
	            (prose_find(mail->prose, "subscribe") ||
	                prose_find(mail->prose, "author") ||
	                prose_find(mail->prose, "frequency")))))
		wish = find_wish("add");
	lines = wish->format ? wish->format(request, item) : g_strdup(wish->example);
	if (lines && wish == find_wish("pause") && begins_later(request, item, start))
		reply_text_add_paragraph(&request->text,
		    N_("Shall the pause begin now, and not on {day}? Otherwise send "
		       "this line on that day: {line}"),
		    "day", start, "line", lines);
	if (!lines) {
		if (!item->is_in_subject)
			g_ptr_array_add(mail->unread, (gpointer)item);
		return true;
	}
	if (strcmp(wish->intent, "subscribe") == 0 && !subscribe(mail, error))
		return false;
	/* "10,000 visitors a month" of a stranger who asks for no papers */
	if (!request->subscriber && strcmp(wish->verb, "set") == 0 &&
	    !has_item(mail->prose, asks_for_papers)) {
		g_ptr_array_add(mail->unread, (gpointer)item);
		return true;
	}
	/* "add" of a stranger */
	if (!request->subscriber && wish->effect == EFFECT_PROPOSED &&
	    strcmp(wish->verb, "forget") != 0 && !subscribe(mail, error))
		return false;
	return run_lines(mail, lines, wish->effect, error);
}

/* A misspelt "unsubscribe" or "subscribe" is read as meant, but not "remvoe" above
 * "remvoe fliter 1". */
static bool
run_unread(struct mail *mail, const struct prose_item *item, GError **error)
{
	struct request *request = mail->request;
	const char *arguments;
	g_autofree char *word = command_table_split(item->line, &arguments);
	const struct command_row *row =
	    strstr(word, "scri") ? command_table_find_closest(word) : NULL;

	if (prose_is_answer(item->line)) {
		bool has_open = false;

		/* "No, I meant a pause" */
		if (!item->is_whole)
			return true;
		if (!command_has_open_proposal(request, &has_open, error))
			return false;
		if (!has_open) {
			mail->answered++;
			command_add_nothing_waits(request);
			return true;
		}
	}
	if (row && !*arguments && row->run == command_run_unsubscribe)
		return run_lines(mail, "unsubscribe", EFFECT_DONE, error);
	if (row && !*arguments && row->run == command_run_subscribe)
		return subscribe(mail, error);
	if (!item->is_in_subject && item->is_whole &&
	    command_table_is_slip(item->line)) {
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

/*
 * A verb alone in the subject is a heading if the text asks for something: "pause"
 * above "my holidays are over, please start again".
 */
static bool
is_title(struct mail *mail, const struct prose_item *title)
{
	const GPtrArray *items = mail->prose->items;
	const char *arguments;
	const struct command_row *row = command_table_parse(title->line, &arguments);

	if (!title->is_in_subject || *arguments || row->run == command_run_subscribe ||
	    row->run == command_run_unsubscribe)
		return false;
	for (guint i = 0; i < items->len; i++) {
		const struct prose_item *item = items->pdata[i];
		const struct wish *wish = get_wish(item);

		if (item->is_in_subject)
			continue;
		if (wish && wish->effect != EFFECT_NONE)
			return true;
		/* The lines below may say the opposite. */
		if (row->decide &&
		    (item->kind == PROSE_UNREAD || item->kind == PROSE_DOUBT)) {
			mail->is_doubt = true;
			return true;
		}
	}
	return false;
}

static bool
run_item(struct mail *mail, const struct prose_item *item, GError **error)
{
	switch (item->kind) {
	case PROSE_COMMAND:
		if (is_title(mail, item))
			return true;
		if (mail->commands++ >= BOUNDS_COMMANDS ||
		    is_repeated(mail, item->line))
			return true;
		return command_answer_typed(mail->request, item->line, error);
	case PROSE_WISH:
		return run_wish(mail, item, error);
	case PROSE_DOUBT:
		mail->is_doubt = true;
		g_ptr_array_add(mail->unread, (gpointer)item);
		return true;
	case PROSE_UNREAD:
		return run_unread(mail, item, error);
	case PROSE_CUT:
		return true;
	}
	g_assert_not_reached();
}

/* A condition, or "maybe", anywhere but in what is below the text. */
static bool
is_doubtful(const struct prose *prose, const struct prose_item *item)
{
	bool is_read = item->kind != PROSE_CUT ||
	               strcmp(item->reason, "closing") == 0 ||
	               strcmp(item->reason, "filler") == 0;

	/* "Remove me from the list. I retire in May and do not need it any longer." */
	if (item->is_leaving && find_in_text(prose, "leave") &&
	    !prose_has("until", item->line))
		return prose_has_doubt(prose, item->line);
	return item->kind == PROSE_DOUBT ||
	       (is_read && prose_has_doubt(prose, item->line));
}

static bool
has_doubtful(const struct prose *prose)
{
	for (guint i = 0; i < prose->items->len; i++)
		if (is_doubtful(prose, prose->items->pdata[i]))
			return true;
	return false;
}

/* "The filter is done with", below "Away with it" */
static bool
names_filter(const struct prose_item *item)
{
	return item->kind > PROSE_CUT && !item->is_in_subject &&
	       prose_has("filter-word", item->line);
}

/* "I am away until Monday. Stop the mails." is a pause, but not "Unsubscribe me". */
static bool
is_until_return(const struct mail *mail, const struct prose_item *leave)
{
	const struct prose_item *absence = find_absence(mail->request, mail->prose);
	g_autoptr(GDateTime) here = get_today(mail->request);
	char day[DAY_BYTES] = "";

	return leave && absence && !prose_has("misspelt", leave->line) &&
	       natural_time_find_day(&absence->wish, here, day) && *day;
}

/* Leaving never waits; with another wish it is asked about. @param is_done  set */
static bool
run_leave(struct mail *mail, bool *is_done, GError **error)
{
	const struct prose *prose = mail->prose;
	const struct prose_item *leave = find_in_text(prose, "leave");
	const struct prose_item *removal = prose_find(prose, "remove");
	/* "Remove" above "remove filter 1" is a heading; "Filter 1 can go, I no longer
	 * need it." is one wish. */
	bool is_leave =
	    leave && !(removal && (leave->is_in_subject ||
	                              leave->sentence == removal->sentence));

	*is_done = false;
	if (prose_find(prose, "forget")) {
		*is_done = true;
		/* "This account will be closed. Please write to ..." */
		mail->is_doubt = prose_find(prose, "address");
		if (mail->is_doubt)
			return true;
		return run_lines(mail, "forget me", EFFECT_PROPOSED, error);
	}
	/* "Unsubscribe" above "or once a week, if that is possible" */
	if (!is_leave && !(has_item(prose, is_leaving_command) &&
	                     (has_change(mail, false) || has_doubtful(prose))))
		return true;
	if (!mail->request->subscriber && prose_find(prose, "complaint")) {
		*is_done = true;
		return run_lines(mail, "info", EFFECT_DONE, error);
	}
	/* "No subscription, please, but what have you got about robots?", "I had
	 * unsubscribed, and want to be back" */
	if (!mail->request->subscriber &&
	    (prose_find(prose, "search") || prose_find(prose, "undo")))
		return true;
	*is_done = true;
	if (!has_change(mail, is_leave) && is_until_return(mail, leave)) {
		g_autofree char *pause =
		    format_pause(mail->request, find_absence(mail->request, prose));

		return run_lines(mail, pause, EFFECT_PROPOSED, error);
	}
	if (has_change(mail, is_leave) || prose_find(prose, "away") ||
	    prose_find(prose, "undo") || has_doubtful(prose) ||
	    (is_leave && leave->is_in_subject && has_item(prose, names_filter))) {
		mail->is_doubt = true;
		return true;
	}
	return run_lines(mail, "unsubscribe", EFFECT_DONE, error);
}

/* "Sign me up or don't, I cannot make up my mind": a question, whatever else is there.
 */
static bool
is_undecided(struct mail *mail)
{
	const GPtrArray *items = mail->prose->items;

	for (guint i = 0; i < items->len; i++) {
		const struct prose_item *item = items->pdata[i];

		if (item->kind == PROSE_COMMAND && !is_leaving(item->line))
			return false;
		mail->is_doubt =
		    mail->is_doubt ||
		    (item->kind != PROSE_CUT && prose_has("undecided", item->line));
	}
	return mail->is_doubt;
}

static bool
run_items(struct mail *mail, GError **error)
{
	const GPtrArray *items = mail->prose->items;
	bool is_done;

	if (is_undecided(mail))
		return true;
	if (!run_leave(mail, &is_done, error))
		return false;
	/* Filters are removed last, or a new one would get the number of an old one. */
	for (guint i = 0; i < 2 * items->len; i++) {
		struct prose_item *item = items->pdata[i % items->len];
		bool is_removal = item->kind == PROSE_WISH &&
		                  strcmp(item->wish.intent, "remove") == 0;

		if (is_removal != (i >= items->len))
			continue;
		if (!is_done && !run_item(mail, item, error))
			return false;
		if (is_done && item->kind == PROSE_UNREAD && !item->is_in_subject)
			g_ptr_array_add(mail->unread, item);
	}
	return true;
}

/* The works of an attached file are known, perhaps; `known` in the mail says so. */
static bool
propose_works(struct mail *mail, GError **error)
{
	struct request *request = mail->request;

	if (!request->subscriber || !request->mail->works->len || request->is_file_read)
		return true;
	reply_text_add_blank(&request->text);
	return run_lines(mail, "known", EFFECT_PROPOSED, error);
}

/* ---- what was not understood ---- */

/* Whether words of an intent are in a line: etc/phrases, sections "hint ...". */
static bool
has_hint(const struct prose_item *item, const struct wish *wish)
{
	g_autofree char *section = g_strconcat("hint ", wish->intent, NULL);

	return prose_has(section, item->line);
}

/* Whether a line that was not understood may ask for something. */
static bool
may_ask(const struct prose_item *item)
{
	if (item->kind != PROSE_UNREAD || strchr(item->line, '?'))
		return true;
	for (const struct wish *wish = wishes; wish->intent; wish++)
		if (wish->effect != EFFECT_NONE && has_hint(item, wish))
			return true;
	return false;
}

/* Whether it does: "I retire in May" is a remark. */
static bool
is_request(const struct prose_item *item)
{
	return may_ask(item) &&
	       (strchr(item->line, '?') || prose_has("asking", item->line));
}

static bool
has_unread(const struct mail *mail, item_test_fn *test)
{
	for (guint i = 0; i < mail->unread->len; i++)
		if (test(mail->unread->pdata[i]))
			return true;
	return (mail->is_subscribing || mail->request->subscribe_name) &&
	       mail->unread->len;
}

/* A wish that could not be carried out is none, whatever its words. */
static bool
is_no_remark(const struct prose_item *item)
{
	return item->kind != PROSE_UNREAD || is_request(item);
}

static void
log_cut(
    const struct request *request, const struct prose_item *item, const char *reason)
{
	event_log(EVENT_LINE_CUT,
	    EVENT_INT("inbox", request->envelope ? request->envelope->id : 0),
	    EVENT_INT("bytes", (int64_t)strlen(item->line)),
	    EVENT_WORD("reason", reason));
}

/* Lines that were not used; remarks beside an answer are not listed. */
static void
add_unread(const struct mail *mail)
{
	struct reply_text *text = &mail->request->text;
	guint count = mail->unread->len;
	bool is_listed =
	    mail->commands || mail->proposed || has_unread(mail, is_no_remark);

	for (guint i = 0; !is_listed && i < count; i++)
		log_cut(mail->request, mail->unread->pdata[i], "remark");
	if (!count || !is_listed)
		return;
	reply_text_add_blank(text);
	reply_text_add_paragraph(
	    text, has_unread(mail, may_ask)
	              ? N_("Not understood, and not used:")
	              : N_("This asks for nothing that I know, and was left aside:"));
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
		reply_text_add_paragraph(text, N_("and {count} more"), "count",
		    MSG_INT(count - UNREAD_SHOWN));
}

/* @param shown  examples so far; a new one is added */
static void
add_example(struct request *request, struct reply_text *reply, const struct wish *wish,
    GPtrArray *shown)
{
	const struct command_row *row = command_table_find(wish->verb);
	g_autofree char *brief = row ? command_table_find_text(row, "brief") : NULL;
	g_autofree char *text = NULL;
	bool is_of_papers = wish->format == format_papers;
	pb_auto(digest) digest = is_of_papers ? load_digest(request) : NULL;

	if (!brief || shown->len == EXAMPLES_MAX ||
	    (!request->subscriber && !row->is_for_unknown) ||
	    (is_of_papers && !digest) ||
	    g_ptr_array_find_with_equal_func(shown, wish->example, g_str_equal, NULL))
		return;
	g_ptr_array_add(shown, (gpointer)wish->example);
	text = reply_text_format(reply, wish->brief ? wish->brief : brief);
	text[strcspn(text, ";")] = '\0';
	g_string_append_printf(reply->text, "  %-20s  %s\n", wish->example, text);
}

/*
 * Whether an item that was not carried out may mean an intent.
 *
 * @param is_read  it was read as that; else it has words of it
 */
static bool
may_mean(const struct mail *mail, struct prose_item *item, const struct wish *wish,
    bool is_read)
{
	/* "Remove the papers on mice" of somebody without such a filter */
	bool is_unread = g_ptr_array_find(mail->unread, item, NULL) ||
	                 item->kind == PROSE_UNREAD || item->kind == PROSE_DOUBT;

	if (item->kind == PROSE_WISH && strcmp(item->wish.intent, wish->intent) == 0)
		return is_unread || mail->is_doubt;
	return !is_read && is_unread && has_hint(item, wish);
}

/* Lines for what the text may mean, first for what it was read as. */
static void
add_suggested(const struct mail *mail, struct reply_text *reply, GPtrArray *shown)
{
	const GPtrArray *items = mail->prose->items;

	for (int is_read = true; is_read >= false; is_read--)
		for (const struct wish *wish = wishes; wish->intent; wish++) {
			guint i = 0;

			while (i < items->len &&
			       !may_mean(mail, items->pdata[i], wish, is_read))
				i++;
			if (i < items->len && shown->len < SUGGESTED_MAX)
				add_example(mail->request, reply, wish, shown);
		}
}

/* Format the first suggestions as they stand in a sentence. @return NULL if there are
 * none */
static char *
format_suggested(const struct reply_text *text, const GPtrArray *shown)
{
	if (shown->len > 1)
		return reply_text_format(text, N_("\"{line}\" or \"{other}\""), "line",
		    shown->pdata[0], "other", shown->pdata[1]);
	return shown->len ? g_strdup_printf("\"%s\"", (char *)shown->pdata[0]) : NULL;
}

static void
add_usual_examples(struct request *request, struct reply_text *reply, GPtrArray *shown)
{
	static const char *const for_strangers[] = {
	    "subscribe", "add", "search", "complaint", "help", NULL};
	static const char *const for_subscribers[] = {"leave", "pause", "add",
	    "frequency", "show", "help", "fewer", "exclude", "remove", "time", NULL};
	static const char *const on_papers[] = {"like", "hide", "more", "why", NULL};
	const char *const *intent =
	    request->subscriber ? for_subscribers : for_strangers;

	for (const char *const *one = on_papers; request->digest_id && *one; one++)
		add_example(request, reply, find_wish(*one), shown);
	for (; *intent; intent++)
		add_example(request, reply, find_wish(*intent), shown);
}

void
command_add_examples(struct request *request)
{
	g_autoptr(GPtrArray) shown = g_ptr_array_new();

	add_usual_examples(request, &request->text, shown);
}

static void
add_owner(struct request *request)
{
	reply_text_add_blank(&request->text);
	reply_text_add_paragraph(&request->text,
	    N_("To ask a person, write to {owner}."), "owner",
	    request->settings->mail_owner);
}

/* First the lines that the text suggests. */
static void
add_not_understood(const struct mail *mail)
{
	struct request *request = mail->request;
	struct reply_text *text = &request->text;
	g_autoptr(GPtrArray) shown = g_ptr_array_new();
	pb_local(reply_text) rows = {0};
	g_autofree char *suggested = NULL;

	reply_text_init(&rows, request->catalog, request->text_language, false);
	add_suggested(mail, &rows, shown);
	suggested = format_suggested(text, shown);
	add_usual_examples(request, &rows, shown);
	reply_text_add_paragraph(text,
	    suggested
	        ? N_("I did not understand all of your message, so nothing was "
	             "done. Did you mean {lines}? Reply with one of these lines:")
	        : N_("I did not understand your message, and nothing was done. What "
	             "shall I do? Reply with one of these lines:"),
	    "lines", suggested ? suggested : "");
	reply_text_add_blank(text);
	g_string_append(text->text, rows.text->str);
	add_owner(request);
}

/* How to ask for the rest, when a part was understood. */
static void
set_rest(const struct mail *mail)
{
	struct request *request = mail->request;
	g_autoptr(GPtrArray) shown = g_ptr_array_new();
	pb_local(reply_text) rest = {0}, rows = {0};
	g_autofree char *suggested = NULL;

	/* A sender of commands knows them already. */
	if (mail->commands || !has_unread(mail, is_request))
		return;
	reply_text_init(&rest, request->catalog, request->text_language, false);
	reply_text_init(&rows, request->catalog, request->text_language, false);
	add_suggested(mail, &rows, shown);
	suggested = format_suggested(&rest, shown);
	if (!suggested)
		add_usual_examples(request, &rows, shown);
	reply_text_add_paragraph(&rest,
	    suggested ? N_("I did not understand all of your message. For the rest, "
	                   "did you mean {lines}? Reply with lines such as these")
	              : N_("I did not understand all of your message. For the rest, "
	                   "reply with lines such as these"),
	    "lines", suggested ? suggested : "");
	reply_text_add_blank(&rest);
	g_string_append(rest.text, rows.text->str);
	request->rest = g_strdup(rest.text->str);
}

/* Whether it is so long that it may be more than a remark. */
static bool
is_long(const struct prose_item *item)
{
	return strlen(item->line) > REMARK_BYTES;
}

/* "Thank you", alone or before a remark: "Thank you, I printed number one." */
static bool
has_thanks(const struct mail *mail)
{
	for (guint i = 0; i < mail->unread->len; i++) {
		const struct prose_item *item = mail->unread->pdata[i];

		if (prose_starts_with("thanks", item->line))
			return true;
	}
	return prose_find(mail->prose, "thanks");
}

static void
finish_text(struct mail *mail)
{
	bool is_empty = !mail->commands && !mail->proposed && !mail->answered;

	if (!is_empty) {
		set_rest(mail);
		add_unread(mail);
	} else if (mail->prose->is_automatic)
		mail->request->reply.silence = "automatic";
	/* Thanks need no answer, nor do remarks of a subscriber beside them.  Those of
	 * a stranger do: "kelp forests. thank you". */
	else if (has_thanks(mail) && !mail->is_doubt && !has_unread(mail, may_ask) &&
	         !has_unread(mail, is_long) &&
	         (mail->request->subscriber || !mail->unread->len))
		mail->request->reply.silence = "thanks";
	else
		add_not_understood(mail);
}

/* Get the subject to read: that of a reply may be ours, and has no topics. */
static const char *
get_subject(const struct inmail *mail, bool has_token)
{
	const char *subject = mail->subject ? mail->subject : "";
	const char *rest = command_text_skip_prefixes(subject);
	const char *arguments;
	const struct command_row *row = command_table_parse(rest, &arguments);
	pb_auto(prose_item) item = NULL;

	/* "Change" above a text is not a command without its arguments. */
	if (row && row->arity == COMMAND_ARITY_REQUIRED && !*arguments && mail->text &&
	    *mail->text)
		return "";
	if (rest == subject || command_table_is_command(rest))
		return rest;
	item = prose_read_line(rest);
	return !has_token && item && !count_values(item) &&
	               (strcmp(item->wish.intent, "leave") == 0 ||
	                   strcmp(item->wish.intent, "subscribe") == 0)
	           ? rest
	           : "";
}

/* "Why did I get number 1?" begins like a command. */
static bool
is_command_line(const char *line)
{
	pb_auto(prose_item) question =
	    g_str_has_suffix(line, "?") ? prose_read_line(line) : NULL;
	const char *arguments;
	const struct command_row *row = command_table_parse(line, &arguments);
	bool is_why = row && row->run == command_run_why;

	/* A paper's number or id has a digit. */
	if (is_why && *arguments &&
	    strcspn(arguments, "0123456789") >= strcspn(arguments, " "))
		return false;
	return !question && command_table_is_command(line);
}

struct prose *
command_read_prose(const struct inmail *mail, bool has_token)
{
	const struct inmail_address *from =
	    mail->from->len ? mail->from->pdata[0] : NULL;
	g_autofree char *local =
	    from ? g_strndup(from->address, strcspn(from->address, "@")) : NULL;
	const char *const names[] = {local, from ? from->name : NULL, NULL};
	g_autofree char *subject = sanitize_line(get_subject(mail, has_token), 0);
	g_autofree char *body =
	    g_strndup(mail->text ? mail->text : "", BOUNDS_COMMAND_BYTES);
	const char *whole = mail->subject ? mail->subject : "";
	const struct prose_mail raw = {.subject = subject,
	    .whole_subject = command_text_skip_prefixes(whole),
	    .text = body,
	    .is_reply = has_token || mail->in_reply_to->len,
	    .names = names,
	    .is_command = is_command_line,
	    .is_slip = command_table_is_slip};

	/* Drop the incomplete last line, or of a single one the last word. */
	if (strlen(body) == BOUNDS_COMMAND_BYTES) {
		char *end = strrchr(body, '\n');

		end = end ? end : strrchr(body, ' ');
		*(end ? end : body) = '\0';
	}
	return prose_read(&raw);
}

const char *
command_get_reply_kind(const struct prose *prose)
{
	bool has_doubt = false, has_wish = false, has_unread = false,
	     is_proposal = false;

	if (prose->is_automatic)
		return "none, automatic";
	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];
		const struct wish *wish = get_wish(item);

		has_doubt = has_doubt || item->kind == PROSE_DOUBT;
		has_unread = has_unread || item->kind == PROSE_UNREAD;
		is_proposal = is_proposal || (wish && wish->effect == EFFECT_PROPOSED);
		has_wish = has_wish || item->kind == PROSE_COMMAND ||
		           (wish && wish->effect == EFFECT_DONE);
	}
	if (is_proposal || has_wish)
		return is_proposal ? "proposal" : "answer";
	if (has_doubt)
		return "question";
	return prose_find(prose, "thanks") && !has_unread ? "none, thanks"
	                                                  : "not understood";
}

char *
command_format_wish(struct request *request, const struct prose_item *item)
{
	const struct wish *wish = get_wish(item);

	if (!wish || wish->effect == EFFECT_NONE)
		return NULL;
	return wish->format ? wish->format(request, item) : g_strdup(wish->example);
}

static void
log_cut_lines(const struct request *request, const struct prose *prose)
{
	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];

		if (item->kind == PROSE_CUT)
			log_cut(request, item, item->reason);
	}
}

bool
command_run_prose(struct request *request, GError **error)
{
	pb_auto(prose) prose = command_read_prose(request->mail, request->has_token);
	g_autoptr(GPtrArray) unread = g_ptr_array_new();
	g_autoptr(GHashTable) seen =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct mail mail = {
	    .request = request, .prose = prose, .unread = unread, .seen = seen};
	const struct prose_item *first =
	    prose->items->len ? prose->items->pdata[0] : NULL;
	bool is_long =
	    request->mail->text && strlen(request->mail->text) > BOUNDS_COMMAND_BYTES;

	log_cut_lines(request, prose);
	if (!prose->is_automatic &&
	    (!run_items(&mail, error) || !propose_works(&mail, error)))
		return false;
	finish_text(&mail);
	if (mail.commands > BOUNDS_COMMANDS || is_long) {
		reply_text_add_blank(&request->text);
		reply_text_add_paragraph(&request->text,
		    mail.commands > BOUNDS_COMMANDS
		        ? N_("Only the first {most} commands of a message are read. "
		             "Send the others in a second message.")
		        : N_("Your message is very long, and only its first 8 KB were "
		             "read."),
		    "most", MSG_INT(BOUNDS_COMMANDS));
	}
	if (first && first->is_in_subject && first->kind <= PROSE_WISH)
		request->reply.subject =
		    reply_text_format(&request->text, N_("Your message to {address}"),
		        "address", request->commands_address);
	return true;
}

const char *
command_find_question(const struct request *request)
{
	pb_auto(prose) prose = command_read_prose(request->mail, true);

	if (prose_find(prose, "forget"))
		return "forget me";
	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];

		if (item->kind != PROSE_CUT && g_str_has_suffix(item->line, "?"))
			return "info";
	}
	return NULL;
}

bool
command_has_wish(const struct request *request, const char *asked)
{
	pb_auto(prose) prose = command_read_prose(request->mail, true);

	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];
		const struct wish *wish = get_wish(item);

		/* A program may send our own lines back. */
		if ((is_change_command(item) && !strstr(asked, item->line)) ||
		    (wish && wish->effect == EFFECT_PROPOSED &&
		        strcmp(wish->intent, "forget") != 0))
			return true;
	}
	return false;
}

/* Beside a consent, whatever changes something is proposed. */
static bool
run_more(struct mail *mail, struct prose_item *item, GError **error)
{
	struct request *request = mail->request;
	const struct wish *wish = get_wish(item);
	g_autofree char *lines = item->kind == PROSE_COMMAND
	                             ? g_strdup(item->line)
	                             : command_format_wish(request, item);
	const char *arguments;
	const struct command_row *row =
	    lines ? command_table_parse(lines, &arguments) : NULL;

	if (item->kind == PROSE_CUT || (wish && wish->effect == EFFECT_NONE) ||
	    (row && (row->run == command_run_confirm || row->run == command_run_yes ||
	                row->run == command_run_subscribe)) ||
	    (!row && prose_starts_with("yes", item->line) &&
	        strlen(item->line) < CONSENT_BYTES))
		return true;
	if (!row || row->run == command_run_unsubscribe ||
	    (!request->subscriber && !row->is_for_unknown)) {
		g_ptr_array_add(mail->unread, item);
		return true;
	}
	return run_lines(
	    mail, lines, row->decide ? EFFECT_PROPOSED : EFFECT_DONE, error);
}

bool
command_propose_more(struct request *request, const char *text, GError **error)
{
	const struct prose_mail raw = {
	    .subject = "", .text = text, .is_command = is_command_line};
	pb_auto(prose) prose = prose_read(&raw);
	g_autoptr(GPtrArray) unread = g_ptr_array_new();
	g_autoptr(GHashTable) seen =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct mail mail = {
	    .request = request, .prose = prose, .unread = unread, .seen = seen};

	for (guint i = 0; i < prose->items->len; i++)
		if (!run_more(&mail, prose->items->pdata[i], error))
			return false;
	if (has_unread(&mail, may_ask)) {
		add_unread(&mail);
		add_owner(request);
	}
	return true;
}
