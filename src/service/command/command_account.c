/*
 * command_account.c - commands on the account: subscribe, address, export, erase.
 */
#include <string.h>

#include "message/address.h"
#include "service/advice/backtest.h"
#include "service/command/command_private.h"
#include "service/people/data_export.h"
#include "service/people/policy.h"
#include "service/people/subscribe.h"
#include "store/subscriber/confirmations.h"
#include "store/subscriber/subscribers.h"

/*
 * The name goes into the To field of digests: name="...", or the name alone in pending
 * lines.
 */
static char *
clean_name(const char *arguments)
{
	g_autofree char *option = command_take_option(&arguments, "name");
	const char *text = option ? option : arguments;
	g_autofree char *name = g_strdup(text);

	g_strdelimit(name, "\"<>", ' ');
	g_strstrip(name);
	return *name ? g_steal_pointer(&name) : NULL;
}

static bool
init_subscription(struct request *request, const char *consent,
    struct subscribe_request *wanted, GError **error)
{
	const struct settings *settings = request->settings;

	*wanted = (struct subscribe_request){
	    .address = request->address,
	    .consent = consent,
	    .zone = settings->digest_zone,
	    .schedule = {.frequency = SCHEDULE_DAILY},
	    .max_full = settings->digest_max,
	    .who = request->actor,
	    .key = request->key,
	};
	return schedule_parse_minute(
	    settings->digest_at, &wanted->schedule.minute, error);
}

/* @param is_return  as of struct subscribe_request */
static bool
subscribe(struct request *request, const char *name, const char *consent,
    bool is_return, GError **error)
{
	g_autofree char *clean = clean_name(name);
	struct subscribe_request wanted;

	if (!init_subscription(request, consent, &wanted, error))
		return false;
	wanted.name = clean;
	wanted.is_return = is_return;
	request->subscriber =
	    subscribe_add(request->store, &wanted, request->now, NULL, NULL, error);
	return request->subscriber != NULL;
}

static struct subscriber *
prepare_subscriber(struct request *request, const char *name, GError **error)
{
	g_autofree char *clean = clean_name(name);
	struct subscribe_request wanted;

	if (!init_subscription(request, "to be confirmed", &wanted, error))
		return NULL;
	wanted.name = clean;
	wanted.is_return = true;
	return subscribe_prepare(request->store, &wanted, request->now, error);
}

bool
command_plan_start(struct request *request, GError **error)
{
	const struct subscriber *own = request->subscriber;
	g_autoptr(GPtrArray) filters =
	    own ? subscribers_load_subscriptions(request->store, own->id, error)
	        : g_ptr_array_new_with_free_func((GDestroyNotify)subscription_free);

	if (!filters)
		return false;
	request->planned =
	    own ? subscriber_copy(own) : prepare_subscriber(request, "", error);
	if (request->planned)
		request->planned_filters = g_steal_pointer(&filters);
	return request->planned != NULL;
}

bool
command_decide_subscribe(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	struct subscriber *subscriber = prepare_subscriber(request, arguments, error);

	(void)decision;
	if (!subscriber)
		return false;
	subscriber_free(request->planned);
	request->planned = subscriber;
	return true;
}

bool
command_run_subscribe(struct request *request, const char *arguments, GError **error)
{
	if (request->subscriber) {
		reply_phrase(&request->text, "ok",
		    N_("you are subscribed already. This is what you have:"));
		return command_add_list(request, error);
	}
	if (!subscribe(request, arguments, "asked for by mail, and confirmed by mail",
	        true, error))
		return false;
	request->reply.is_changed = true;
	return true;
}

/* "diffusion", "reward model" */
static char *
format_filters(const GPtrArray *own, GString *all)
{
	GString *list = g_string_new(NULL);

	for (guint i = 0; i < own->len; i++) {
		const struct subscription *one = own->pdata[i];

		if (one->is_block)
			continue;
		g_string_append_printf(list, "%s%s", list->len ? ", " : "", one->text);
		g_string_append_printf(
		    all, "%s(%s)", all->len ? " OR " : "", one->canonical);
	}
	return g_string_free(list, FALSE);
}

bool
command_add_welcome(struct request *request, GError **error)
{
	const struct subscriber *subscriber = request->subscriber;
	g_autoptr(GPtrArray) own = command_load_filters(request, error);
	g_autoptr(GString) all = g_string_new(NULL);
	g_autofree char *filters = own ? format_filters(own, all) : NULL;
	g_autofree char *papers = NULL, *span = NULL;
	unsigned found = 0, days = BACKTEST_DAYS;

	if (!own)
		return false;
	request->reply.subject =
	    reply_text_format(&request->text, N_("Welcome to paperboy"));
	if (!all->len) {
		reply_text_add_paragraph(&request->text,
		    N_("Welcome! {address} is subscribed, but without a filter nothing "
		       "comes. Reply with a line for each thing that you want to read "
		       "about, such as: add diffusion"),
		    "address", subscriber->address);
		return true;
	}
	if (!backtest_count(
	        request->store, all->str, BACKTEST_DAYS, request->now, &found, error) ||
	    !backtest_limit_days(request->store, request->now, &days, error))
		return false;
	span = reply_text_format_count(
	    &request->text, PL_("in 1 day", "in {count} days"), days);
	papers = reply_text_format_count(
	    &request->text, PL_("1 paper", "{count} papers"), found);
	reply_text_add_paragraph(&request->text,
	    N_("Welcome! {address} gets new papers about: {filters}"), "address",
	    subscriber->address, "filters", filters);
	reply_text_add_blank(&request->text);
	reply_text_add_paragraph(&request->text,
	    found ? N_("This would have found {papers} {span}.")
	          : N_("This would have found nothing {span}: papers that match come "
	               "as soon as they appear."),
	    "span", span, "papers", papers);
	reply_text_add_blank(&request->text);
	reply_text_add_paragraph(&request->text,
	    N_("The first digest comes as soon as there are papers of the last three "
	       "days."));
	reply_text_add_blank(&request->text);
	reply_text_add_paragraph(&request->text,
	    N_("To change something, reply with a line such as \"add robots\", \"set "
	       "when weekly\", \"list\" or \"unsubscribe\", or write what you want."));
	reply_text_add_blank(&request->text);
	if (*request->settings->web_url)
		reply_text_add_paragraph(&request->text,
		    N_("Search, filters and settings: {url}"), "url",
		    request->settings->web_url);
	return true;
}

/* CONSENT, tab, NAME; no tab without a name.  Other lines follow. */
bool
command_run_restore(struct request *request, const char *arguments, GError **error)
{
	g_auto(GStrv) parts = g_strsplit(arguments, "\t", 2);

	if (request->subscriber || !parts[0])
		return command_fail(request, error,
		    N_("there is nothing to undo: this address is subscribed."));
	/* Anybody who unsubscribed by a link can use its undo: a complaint holds. */
	if (!subscribe(request, parts[1] ? parts[1] : "", parts[0], false, error))
		return false;
	request->reply.is_changed = true;
	reply_phrase(&request->text, "ok",
	    N_("{address} is subscribed again, and everything is as it was."),
	    "address", request->address);
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

char *
command_format_preferences(const struct subscriber *subscriber)
{
	GString *lines = g_string_new(NULL);

	append_preferences(lines, subscriber);
	return g_string_free(lines, FALSE);
}

/* @return lines for command_run_confirmed() that restore the subscription */
static char *
format_undo(struct request *request, GError **error)
{
	const struct subscriber *subscriber = request->subscriber;
	g_autoptr(GPtrArray) own =
	    subscribers_load_subscriptions(request->store, subscriber->id, error);
	g_autoptr(GString) lines = NULL;

	if (!own)
		return NULL;
	lines = g_string_new(NULL);
	/* Also the language of the reply. */
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
	if (!command_append_shares(request, lines, error))
		return NULL;
	if (subscriber->state == SUBSCRIBER_PAUSED)
		g_string_append_printf(lines, "pause %s%s\n",
		    *subscriber->paused_until ? "until " : "",
		    subscriber->paused_until);
	return g_string_free(g_steal_pointer(&lines), FALSE);
}

static bool
is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (g_ascii_strcasecmp(text, *words) == 0)
			return true;
	return false;
}

/* "remove 3" means a filter. */
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
	return !*bare || is_one_of(bare, all);
}

bool
command_run_unsubscribe(struct request *request, const char *arguments, GError **error)
{
	g_autofree char *undo = NULL;

	if (!is_everything(arguments) &&
	    g_ascii_strcasecmp(arguments, request->address) != 0)
		return command_fail(request, error,
		    N_("is this about one filter? Then write \"del\" and its number. "
		       "To end all mail, write \"unsubscribe\" alone."));
	if (!request->subscriber) {
		reply_phrase(&request->text, "ok",
		    N_("this address has no subscription, so no digests come."));
		return confirmations_revoke(
		    request->store, CONFIRMATION_APPROVAL, request->address_key, error);
	}
	undo = format_undo(request, error);
	if (!undo || !subscribe_remove(request->store, request->address, request->actor,
	                 request->now, error))
		return false;
	g_free(request->reply.undo);
	request->reply.undo = g_steal_pointer(&undo);
	reply_phrase(&request->text, "ok",
	    N_("{address} is unsubscribed, and no more digests come. If that was a "
	       "mistake, this line brings everything back within 7 days, filters and "
	       "settings too:"),
	    "address", request->address);
	reply_text_add_blank(&request->text);
	command_add_token(request, &request->text, "undo", COMMAND_UNDO_MARK);
	reply_text_add_blank(&request->text);
	reply_phrase(&request->text, "",
	    N_("Your address stays on record as unsubscribed. To have that erased as "
	       "well, write \"forget me\"."));
	return request_reload(request, error);
}

bool
command_run_confirm(struct request *request, const char *arguments, GError **error)
{
	g_autofree struct confirmation *newer = NULL;

	g_free(request->reply.confirm_token);
	request->reply.confirm_token = g_strdup(arguments);
	if (!confirmations_find_pending(request->store, CONFIRMATION_CONFIRM,
	        request->address_key, request->now, &newer, error))
		return false;
	if (newer)
		return command_fail(request, error,
		    N_("you asked for something else after this, and only the last "
		       "request counts. Nothing was done. Reply yes to the newest of "
		       "my mails, or send your commands again, all in one message."));
	return command_fail(request, error,
	    N_("this confirmation has expired, was used before, or is incomplete. "
	       "Nothing was done. Send your commands again for a new one."));
}

bool
command_run_undo(struct request *request, const char *arguments, GError **error)
{
	g_free(request->reply.undo_token);
	request->reply.undo_token = g_strdup(arguments);
	return command_fail(request, error,
	    N_("this can no longer be undone: the line is older than 7 days, was used "
	       "before, or is incomplete. To come back, write \"subscribe\"."));
}

/* A forged request could be confirmed by the new address, so notify the old one. */
static void
set_old_address_notice(struct request *request, const char *address)
{
	struct command_reply *reply = &request->reply;
	pb_local(reply_text) text = {0};

	g_free(reply->old_address);
	g_free(reply->old_subject);
	g_free(reply->old_text);
	reply->old_address = g_strdup(request->address);
	reply->old_subject =
	    reply_text_format(&request->text, N_("Your address has been changed"));
	reply_text_init(&text, request->catalog, request->text_language, false);
	reply_text_add_paragraph(&text,
	    N_("The mail of your subscription went to {before} until now. From now on "
	       "it goes to {after}: both addresses confirmed that. No more mail comes "
	       "here.\n\n"
	       "If you did not want this, write to {owner}, a person, who can undo "
	       "it."),
	    "before", request->address, "after", address, "owner",
	    request->settings->mail_owner);
	reply->old_text = g_strdup(text.text->str);
}

/* @return NULL if it is not an address */
static char *
format_key(const char *text)
{
	pb_local(address) address = {0};
	char *key;

	if (!address_parse(text, &address, NULL))
		return NULL;
	key = address_format_key(&address);
	return key;
}

static bool
is_same_address(const char *one, const char *other)
{
	g_autofree char *key = format_key(one);
	g_autofree char *other_key = format_key(other);

	return key && g_strcmp0(key, other_key) == 0;
}

/* @return the new address, a new string */
static char *
parse_address(struct request *request, const char *arguments, GError **error)
{
	g_autofree char *word = command_take_word(&arguments);

	if (!word || strcmp(word, request->commands_address) == 0) {
		command_fail(request, error,
		    N_("this is not an address that your mail can be sent to."));
		return NULL;
	}
	return g_steal_pointer(&word);
}

/* Refuse a new address at a domain that may not subscribe. */
static bool
check_domain(struct request *request, const char *address, GError **error)
{
	g_autofree char *domains = policy_format_domains(request->settings);

	return policy_allows_domain(request->settings, address) ||
	       command_fail(request, error, policy_get_refusal(POLICY_OTHER_DOMAIN),
	           "value", domains, "owner", request->settings->mail_owner);
}

bool
command_decide_address(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	const char *waiting = request->reply.new_address;
	g_autofree char *word = parse_address(request, arguments, error);
	pb_local(address) parsed = {0};

	(void)decision;
	if (!word)
		return false;
	if (is_same_address(word, request->address))
		return command_fail(
		    request, error, N_("your mail goes to this address already."));
	if (waiting && is_same_address(word, waiting))
		return true;
	if (waiting)
		return command_fail(request, error,
		    N_("the change to {address} waits already, and only one can wait. "
		       "To change to this address instead, send this line alone."),
		    "address", waiting);
	/* Whether it is subscribed or suppressed is decided once both addresses have
	 * confirmed: the sender is not to learn it. */
	if (!address_parse(word, &parsed, error) ||
	    !check_domain(request, parsed.text, error))
		return false;
	request->reply.new_address = g_strdup(parsed.text);
	return true;
}

bool
command_run_address(struct request *request, const char *arguments, GError **error)
{
	g_autofree char *word = parse_address(request, arguments, error);
	pb_auto(subscriber) after = NULL;

	if (!word)
		return false;
	if (is_same_address(word, request->address)) {
		reply_phrase(&request->text, "ok",
		    N_("your mail goes to this address already."));
		return true;
	}
	after = subscribe_change_address(request->store, request->address, word,
	    request->key, request->actor, request->now, error);
	if (!after || !check_domain(request, after->address, error))
		return false;
	reply_phrase(&request->text, "ok",
	    N_("mail goes to {after} from now on, and no longer to {before}."),
	    "before", request->address, "after", after->address);
	set_old_address_notice(request, after->address);
	return request_reload(request, error);
}

/* ---- invite ---- */

/* @param wrong  words that are not addresses are appended @return of char *: the
 * addresses; or NULL, also if there is none */
static GPtrArray *
parse_invite(
    struct request *request, const char *arguments, GString *wrong, GError **error)
{
	g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) problem = NULL;
	g_autofree char *text = g_strdup(arguments);
	g_auto(GStrv) words = g_strsplit(g_strdelimit(text, ",;", ' '), " ", -1);

	if (!request->settings->subscribe_invite) {
		command_fail(request, error,
		    N_("subscribers cannot invite others here. Write to {owner}."),
		    "owner", request->settings->mail_owner);
		return NULL;
	}
	for (char **word = words; *word; word++) {
		pb_local(address) address = {0};

		if (!**word)
			continue;
		if (address_parse(*word, &address, problem ? NULL : &problem))
			g_ptr_array_add(found, g_strdup(address.text));
		else
			g_string_append_printf(
			    wrong, "%s%s", wrong->len ? ", " : "", *word);
	}
	if (!found->len && !pb_error_forward(error, &problem))
		return NULL;
	return g_steal_pointer(&found);
}

bool
command_decide_invite(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	g_autoptr(GString) wrong = g_string_new(NULL);
	g_autoptr(GPtrArray) found = parse_invite(request, arguments, wrong, error);

	(void)decision;
	return found != NULL;
}

/* Invite; the reply is the same whether an address is subscribed. */
bool
command_run_invite(struct request *request, const char *arguments, GError **error)
{
	g_autoptr(GString) wrong = g_string_new(NULL);
	g_autoptr(GPtrArray) found = parse_invite(request, arguments, wrong, error);
	GPtrArray **all = &request->reply.invited;

	if (!found)
		return false;
	if (!*all)
		*all = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_extend_and_steal(*all, g_steal_pointer(&found));
	reply_phrase(&request->text, "ok",
	    N_("each address that can be invited, and is not subscribed, gets one mail "
	       "that names you."));
	if (wrong->len)
		reply_phrase(&request->text, "note",
		    N_("these are not addresses, and get no mail: {words}"), "words",
		    wrong->str);
	return true;
}

/* ---- export ---- */

static bool
parse_export(
    struct request *request, const char *arguments, bool *is_text, GError **error)
{
	g_autofree char *word = command_take_word(&arguments);

	*is_text = word && g_ascii_strcasecmp(word, "text") == 0;
	return !word || *is_text || g_ascii_strcasecmp(word, "json") == 0 ||
	       command_fail(
	           request, error, N_("the format is json or text; json if omitted."));
}

bool
command_decide_export(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	bool is_text;

	(void)decision;
	return parse_export(request, arguments, &is_text, error);
}

bool
command_run_export(struct request *request, const char *arguments, GError **error)
{
	struct command_reply *reply = &request->reply;
	char *data;
	bool is_text;

	if (!parse_export(request, arguments, &is_text, error))
		return false;
	data = data_export_format(request->store, request->key, request->subscriber->id,
	    is_text, request->now, error);
	if (!data)
		return false;
	g_free(reply->attachment);
	g_free(reply->attachment_name);
	g_free(reply->attachment_type);
	reply->attachment = data;
	reply->attachment_name =
	    g_strdup(is_text ? "paperboy-export.txt" : "paperboy-export.json");
	reply->attachment_type = g_strdup(is_text ? "text/plain" : "application/json");
	reply_phrase(&request->text, "ok",
	    N_("all data stored about you is in the attached file {file}."), "file",
	    reply->attachment_name);
	return true;
}

bool
command_decide_forget(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	(void)decision;
	return g_ascii_strcasecmp(arguments, "me") == 0 ||
	       command_fail(request, error,
	           N_("to have all data stored about you erased, write \"forget "
	              "me\"."));
}

bool
command_run_forget(struct request *request, const char *arguments, GError **error)
{
	if (g_ascii_strcasecmp(arguments, "me") != 0)
		return command_fail(request, error,
		    N_("to have all data stored about you erased, write \"forget "
		       "me\"."));
	/* Stop all mail now; the data is erased after the reply. */
	if (request->subscriber && !subscribe_remove(request->store, request->address,
	                               request->actor, request->now, error))
		return false;
	request->reply.is_erased = true;
	reply_phrase(&request->text, "ok",
	    N_("after this message all data stored about {address} is erased, and no "
	       "more mail comes. Backups of the store are kept for a while; this "
	       "message and the logs of mail servers cannot be erased by paperboy."),
	    "address", request->address);
	return request_reload(request, error);
}
