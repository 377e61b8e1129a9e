/*
 * command_account.c - the commands on the person: coming, going, moving.
 */
#include <string.h>

#include "message/address.h"
#include "service/command/command_private.h"
#include "service/people/data_export.h"
#include "service/people/subscribe.h"
#include "store/subscriber/subscribers.h"

/* A name that comes from a letter stands in the To field of what is sent. */
static char *
clean_name(const char *text)
{
	g_autofree char *name = g_strdup(text);

	g_strdelimit(name, "\"<>", ' ');
	g_strstrip(name);
	return *name ? g_steal_pointer(&name) : NULL;
}

static bool
come(struct command_work *work, const char *name, const char *consent, GError **error)
{
	const struct settings *settings = work->context->settings;
	g_autofree char *own = clean_name(name);
	struct subscribe_request request = {
	    .address = work->user->address,
	    .name = own,
	    .consent = consent,
	    .zone = settings->digest_zone,
	    .schedule = {.frequency = SCHEDULE_DAILY},
	    .max_full = settings->digest_max,
	    .who = work->context->who,
	    .key = work->context->key,
	};

	if (!schedule_parse_minute(
	        settings->digest_at, &request.schedule.minute, error))
		return false;
	work->subscriber = subscribe_add(
	    work->context->store, &request, work->context->now, NULL, NULL, error);
	return work->subscriber != NULL;
}

bool
command_run_subscribe(struct command_work *work, const char *arguments, GError **error)
{
	if (work->subscriber) {
		if (!work->is_rehearsal)
			reply_phrase(&work->answer, "ok", "already_subscribed");
		return work->is_rehearsal || command_say_list(work, error);
	}
	if (!come(work, arguments, "asked for by mail, and confirmed by mail", error))
		return false;
	if (work->is_rehearsal)
		return true;
	work->reply->is_changed = true;
	reply_phrase(&work->answer, "ok",
	    work->has_filters ? "welcome" : "welcome_bare", "address", work->address);
	return true;
}

/* CONSENT, tab, NAME; without a name its tab is missing, too.  The rest of what was
 * taken away follows in lines. */
bool
command_run_restore(struct command_work *work, const char *arguments, GError **error)
{
	g_auto(GStrv) parts = g_strsplit(arguments, "\t", 2);

	if (work->subscriber || !parts[0])
		return command_fail(work, error, "undo_nothing");
	if (!come(work, parts[1] ? parts[1] : "", parts[0], error))
		return false;
	work->reply->is_changed = true;
	reply_phrase(&work->answer, "ok", "restored", "address", work->address);
	return true;
}

static void
append_preferences(GString *lines, const struct subscriber *subscriber)
{
	const struct schedule *schedule = &subscriber->schedule;
	g_autofree char *days = schedule_format_weekdays(schedule->weekdays);

	g_string_append_printf(
	    lines, "set when %s\n", schedule_frequency_name(schedule->frequency));
	if (schedule->frequency == SCHEDULE_WEEKLY)
		g_string_append_printf(lines, "set days %s\n", days);
	g_string_append_printf(lines, "set at %02d:%02d tz %s max %d",
	    schedule->minute / 60, schedule->minute % 60, subscriber->zone,
	    subscriber->max_full);
	for (int i = 0; i < PREFERENCE_COUNT; i++)
		g_string_append_printf(lines, " %s %s",
		    preferences_get_name((enum preference)i),
		    preferences_get_word(&subscriber->preferences, (enum preference)i));
	if (*subscriber->language)
		g_string_append_printf(lines, " language %s", subscriber->language);
	g_string_append_c(lines, '\n');
}

/* Everything that leaving takes away, as lines that give it back. */
static char *
format_undo(struct command_work *work, GError **error)
{
	const struct subscriber *subscriber = work->subscriber;
	g_autoptr(GPtrArray) own =
	    subscribers_load_subscriptions(work->context->store, subscriber->id, error);
	g_autoptr(GString) lines = NULL;

	if (!own)
		return NULL;
	lines = g_string_new(NULL);
	/* The answer to the undo is in this language, too. */
	if (*subscriber->language)
		g_string_append_printf(
		    lines, COMMAND_LANGUAGE "%s\n", subscriber->language);
	g_string_append_printf(lines, COMMAND_RESTORE "%s\t%s\n",
	    subscriber->consent_text ? subscriber->consent_text : "undone",
	    subscriber->name ? subscriber->name : "");
	append_preferences(lines, subscriber);
	for (unsigned i = 0; i < own->len; i++) {
		g_autofree char *line = command_format_filter(own->pdata[i], true);

		g_string_append_printf(lines, "%s\n", line);
	}
	if (subscriber->state == SUBSCRIBER_PAUSED)
		g_string_append_printf(lines, "pause %s%s\n",
		    *subscriber->paused_until ? "until " : "",
		    subscriber->paused_until);
	return g_string_free(g_steal_pointer(&lines), FALSE);
}

static bool
is_word_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (g_ascii_strcasecmp(text, *words) == 0)
			return true;
	return false;
}

/* "remove 3" is about a filter.  Whoever means everything says so, or nothing. */
static bool
is_everything(const char *arguments)
{
	static const char *const all[] = {"*", "all", "me", "now", "please",
	    "me please", "me now", "paperboy", "everything", "from paperboy",
	    "me from paperboy", NULL};
	g_autofree char *bare = g_strdup(arguments);
	size_t size = strlen(bare);

	while (size > 0 && strchr(".!", bare[size - 1]))
		bare[--size] = '\0';
	return !*bare || is_word_of(bare, all);
}

bool
command_run_unsubscribe(
    struct command_work *work, const char *arguments, GError **error)
{
	g_autofree char *undo = NULL;

	if (!is_everything(arguments) &&
	    g_ascii_strcasecmp(arguments, work->user->address) != 0)
		return command_fail(work, error, "leave_what");
	if (!work->subscriber) {
		reply_phrase(&work->answer, "ok", "left_already");
		return true;
	}
	undo = format_undo(work, error);
	if (!undo || !subscribe_remove(work->context->store, work->address,
	                 work->context->who, work->context->now, error))
		return false;
	g_free(work->reply->undo);
	work->reply->undo = g_steal_pointer(&undo);
	reply_phrase(&work->answer, "ok", "left", "address", work->address);
	reply_text_add_blank(&work->answer);
	g_string_append(work->answer.text, "undo " COMMAND_UNDO_MARK "\n");
	reply_text_add_blank(&work->answer);
	reply_phrase(&work->answer, "", "left_kept");
	return command_work_load(work, error);
}

bool
command_run_confirm(struct command_work *work, const char *arguments, GError **error)
{
	(void)error;
	g_free(work->reply->confirm_token);
	work->reply->confirm_token = g_strdup(arguments);
	return command_fail(work, error, "no_such_token");
}

bool
command_run_undo(struct command_work *work, const char *arguments, GError **error)
{
	g_free(work->reply->undo_token);
	work->reply->undo_token = g_strdup(arguments);
	return command_fail(work, error, "no_such_undo");
}

/* Whoever forged the request reads the new address, so the old one has to be told. */
static void
tell_old_address(struct command_work *work, const char *address)
{
	struct command_reply *reply = work->reply;

	g_free(reply->old_address);
	g_free(reply->old_subject);
	g_free(reply->old_text);
	reply->old_address = g_strdup(work->address);
	reply->old_subject = reply_text_format(&work->answer, "subject.moved");
	{
		struct reply_text answer;
		g_autofree char *text = reply_text_format(&work->answer, "moved_notice",
		    "before", work->address, "after", address, "owner",
		    work->context->settings->mail_owner);

		reply_text_init(&answer, work->context->phrases, work->language, false);
		reply_text_add_plain(&answer, text);
		reply->old_text = g_strdup(answer.text->str);
		reply_text_clear(&answer);
	}
}

/* @return NULL when it is not an address */
static char *
format_key(const char *text)
{
	struct address address = {0};
	char *key;

	if (!address_parse(text, &address, NULL))
		return NULL;
	key = address_format_key(&address);
	address_clear(&address);
	return key;
}

static bool
is_same_address(const char *one, const char *other)
{
	g_autofree char *key = format_key(one);
	g_autofree char *other_key = format_key(other);

	return key && g_strcmp0(key, other_key) == 0;
}

bool
command_run_address(struct command_work *work, const char *arguments, GError **error)
{
	const char *waiting = work->reply->new_address;
	g_autofree char *word = command_take_word(&arguments);
	pb_auto(subscriber) after = NULL;

	if (!word || strcmp(word, work->context->address) == 0)
		return command_fail(work, error, "wrong_address");
	/* One that waits may be run again here, but not typed again. */
	if (work->is_rehearsal && waiting &&
	    (!is_same_address(word, waiting) || is_same_address(word, work->address)))
		return command_fail(work, error, "address_waits", "address", waiting);
	if (is_same_address(word, work->address))
		return command_fail(work, error, "same_address");
	after = subscribe_change_address(work->context->store, work->address, word,
	    work->context->key, work->context->who, work->context->now, error);
	if (!after)
		return false;
	if (work->is_rehearsal) {
		g_free(work->reply->new_address);
		work->reply->new_address = g_strdup(after->address);
	} else {
		reply_phrase(&work->answer, "ok", "moved", "before", work->address,
		    "after", after->address);
		tell_old_address(work, after->address);
	}
	return command_work_load(work, error);
}

bool
command_run_export(struct command_work *work, const char *arguments, GError **error)
{
	g_autofree char *word = command_take_word(&arguments);
	bool is_text = word && g_ascii_strcasecmp(word, "text") == 0;
	char *data_export;

	if (word && !is_text && g_ascii_strcasecmp(word, "json") != 0)
		return command_fail(work, error, "export_what");
	if (work->is_rehearsal)
		return true;
	data_export = data_export_format(work->context->store, work->context->key,
	    work->subscriber->id, is_text, work->context->now, error);
	if (!data_export)
		return false;
	g_free(work->reply->attachment);
	g_free(work->reply->attachment_name);
	g_free(work->reply->attachment_type);
	work->reply->attachment = data_export;
	work->reply->attachment_name =
	    g_strdup(is_text ? "paperboy-export.txt" : "paperboy-export.json");
	work->reply->attachment_type =
	    g_strdup(is_text ? "text/plain" : "application/json");
	reply_phrase(
	    &work->answer, "ok", "exported", "file", work->reply->attachment_name);
	return true;
}

bool
command_run_forget(struct command_work *work, const char *arguments, GError **error)
{
	if (g_ascii_strcasecmp(arguments, "me") != 0)
		return command_fail(work, error, "forget_whom");
	if (work->is_rehearsal)
		return true;
	/* No more mail from now on, though the rows go only after the answer. */
	if (work->subscriber && !subscribe_remove(work->context->store, work->address,
	                            work->context->who, work->context->now, error))
		return false;
	work->reply->is_forgotten = true;
	reply_phrase(&work->answer, "ok", "forgotten", "address", work->address);
	return command_work_load(work, error);
}
