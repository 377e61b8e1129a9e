/*
 * web_subscribe.c - the start page: try a filter, subscribe, confirm.
 */
#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "base/token.h"
#include "base/zone.h"
#include "message/address.h"
#include "query/query.h"
#include "service/collect/coverage.h"
#include "service/command/command.h"
#include "service/inbound/handler_request.h"
#include "service/people/policy.h"
#include "service/web/web_private.h"
#include "store/mail/rate_log.h"
#include "store/paper/archive.h"
#include "store/subscriber/subscribers.h"

/* Days of which the start page counts the papers. */
#define COUNTED_DAYS 30

/* More sources than this are only counted. */
#define SOURCES_NAMED 3

static const char *
get_label(const GPtrArray *lists, unsigned i)
{
	return ((const struct coverage_list *)lists->pdata[i])->label;
}

/* "Hugging Face, bioRxiv and arXiv"; "16 sources". @param lists  not empty */
static char *
format_sources(struct web_call *call, const GPtrArray *lists)
{
	char *text;

	if (lists->len > SOURCES_NAMED)
		return reply_text_format_count(
		    &call->text, PL_("1 source", "{count} sources"), lists->len);
	text = g_strdup(get_label(lists, 0));
	for (unsigned i = 1; i < lists->len; i++) {
		g_autofree char *first = text;

		text = i + 1 < lists->len
		           ? g_strconcat(first, ", ", get_label(lists, i), NULL)
		           : reply_text_format(&call->text, N_("{first} and {last}"),
		                 "first", first, "last", get_label(lists, i));
	}
	return text;
}

/* "504 papers in the last 30 days from Hugging Face and arXiv"; "" before the first */
static bool
add_count(struct web_call *call, GError **error)
{
	int64_t since =
	    call->handler->options.now - COUNTED_DAYS * (int64_t)CLOCK_DAY_S;
	pb_auto(coverage) coverage =
	    coverage_load(call->handler->store, call->handler->options.now, error);
	g_autofree char *sources = NULL, *papers = NULL, *text = NULL;
	char day[DAY_BYTES];
	int64_t count;

	day_format(since, day);
	if (!coverage || !archive_count_since(call->handler->store, day, &count, error))
		return false;
	if (!count || !coverage->lists->len)
		return true;
	sources = format_sources(call, coverage->lists);
	papers = reply_text_format_count(
	    &call->text, PL_("1 paper", "{count} papers"), count);
	text = reply_text_format(&call->text,
	    N_("{papers} in the last {days} days from {sources}."), "papers", papers,
	    "days", G_STRINGIFY(COUNTED_DAYS), "sources", sources);
	web_values_add(call->values, "count", text);
	return true;
}

/*
 * @param filter   as it was typed
 * @param is_sent  whether a confirmation was requested
 */
static bool
show_home(struct web_call *call, const char *filter, bool is_sent, GError **error)
{
	const struct settings *settings = call->handler->options.settings;
	const char *zone = web_get(call, "tz");
	bool is_landing = !is_sent && !*filter && !*web_get(call, "csrf");

	call->page = WEB_PAGE_HOME;
	web_values_add(call->values, "form_filter", filter);
	web_values_add_flag(call->values, "is_sent", is_sent);
	web_values_add_flag(call->values, "is_landing", is_landing);
	web_values_add_flag(call->values, "has_search", settings->web_search);
	web_add_csrf(call, "home");
	if (is_sent)
		return true;
	web_values_add(call->values, "form_address", web_get(call, "address"));
	web_values_add(call->values, "form_zone", web_get(call, "zone"));
	web_add_zones(call, call->values, *zone ? zone : settings->digest_zone);
	return !is_landing || add_count(call, error);
}

bool
web_run_home(struct web_call *call, GError **error)
{
	g_autofree char *filter = web_get_line(call, "filter");

	return show_home(call, filter, false, error) &&
	       (!*filter || !web_take_test(call, WEB_LIMIT_ANYBODY) ||
	           web_add_test(call, filter, 0, error));
}

/* ---- subscribe ---- */

/* Input of the form.  Owned. */
struct form {
	char *address; /* an addr-spec */
	char *zone;
	char *filter; /* or "" */
};

static void
form_clear(struct form *form)
{
	g_free(form->address);
	g_free(form->zone);
	g_free(form->filter);
}

static bool
check_address(struct web_call *call, struct form *form, bool *is_valid, GError **error)
{
	g_autofree char *typed = web_get_line(call, "address");
	pb_local(address) address = {0};
	g_autoptr(GError) problem = NULL;

	if (address_parse(typed, &address, &problem)) {
		form->address = g_strdup(address.text);
		return true;
	}
	*is_valid = false;
	return web_add_error(call, "address", &problem, error);
}

/* A zone chosen in the list counts before a typed one, which may stay from a refused
 * form; the default is chosen when nothing was. */
static bool
check_zone(struct web_call *call, struct form *form, bool *is_valid, GError **error)
{
	const char *standard = call->handler->options.settings->digest_zone;
	g_autofree char *typed = web_get_line(call, "zone");
	g_autofree char *chosen = web_get_line(call, "tz");
	bool is_chosen = *chosen && strcmp(chosen, standard) != 0;
	g_autoptr(GError) problem = NULL;

	form->zone = zone_find(is_chosen ? chosen
	                       : *typed  ? typed
	                                 : standard,
	    &problem);
	if (form->zone)
		return true;
	*is_valid = false;
	return web_add_error(call, "zone", &problem, error);
}

static bool
check_filter(struct web_call *call, struct form *form, bool *is_valid, GError **error)
{
	pb_local(query_error) problem = {0};
	g_autoptr(GError) wrong = NULL;
	pb_auto(query) query = NULL;

	form->filter = web_get_line(call, "filter");
	if (!*form->filter)
		return true;
	query = query_parse(form->filter, store_get_tokenizer(call->handler->store),
	    NULL, &problem, &wrong);
	if (query)
		return true;
	*is_valid = false;
	return web_add_filter_error(call, form->filter, &problem, &wrong, error);
}

/* Depends on the form only, not on who is subscribed. */
static bool
check_form(struct web_call *call, struct form *form, bool *is_valid, GError **error)
{
	*is_valid = true;
	return check_address(call, form, is_valid, error) &&
	       check_zone(call, form, is_valid, error) &&
	       check_filter(call, form, is_valid, error);
}

static bool
is_own_address(const struct web_call *call, const char *address)
{
	const struct own_addresses *own = call->handler->options.own_addresses;
	enum subaddress_kind kind;
	g_autofree char *token = NULL;

	return subaddress_parse(&own->commands, address, &kind, &token);
}

/* By mail, `subscribe` would list the filters of a subscriber and what they find; that
 * takes long, under the store's lock, and anybody may type any address. */
static bool
request_mail(struct web_call *call, struct request *request, GError **error)
{
	if (!request->subscriber)
		return handler_run_commands(request, error);
	request->lines += 2;
	return *request->lines ? handler_run_commands(request, error)
	                       : web_send_link(call, request, RATE_CASE_TYPED, error);
}

/*
 * Whether the limits for all allow one more confirmation to this domain.  The reply
 * must not depend on the address, so subscribers and others are treated alike.
 */
static bool
check_limits(
    struct web_call *call, const struct form *form, bool *is_open, GError **error)
{
	pb_local(request) request = {0};
	const char *reason;

	web_init_request(call, NULL, &request);
	if (!rate_limit_check_shared(
	        &request, RATE_CASE_CONFIRMATION_PAGE, form->address, &reason, error))
		return false;
	*is_open = !reason;
	if (*is_open)
		return true;
	web_refuse_form(call, reason);
	return rate_log_save_dropped(request.store, request.now, error);
}

/* The refusal of the policy is the same for all addresses of a domain: whether one is
 * subscribed, or was invited, only its owner learns by mail. */
static bool
add_policy(struct web_call *call, const struct form *form, GError **error)
{
	const struct settings *settings = call->handler->options.settings;
	g_autofree char *domains = policy_format_domains(settings);
	enum policy_verdict verdict;

	if (!policy_decide(call->handler->store, settings, form->address, POLICY_ASKED,
	        &verdict, error))
		return false;
	if (policy_get_refusal(verdict))
		web_add_phrase(call, "error", policy_get_refusal(verdict), "value",
		    domains, "owner", settings->mail_owner);
	else if (verdict == POLICY_APPROVAL)
		web_add_phrase(call, "ok",
		    N_("{owner} decides about new subscriptions, once you have "
		       "confirmed."),
		    "owner", settings->mail_owner);
	return true;
}

/* As by mail from an address that is not proven. */
static bool
request_subscription(struct web_call *call, const struct form *form, GError **error)
{
	g_autofree char *set = g_strdup_printf("set tz %s", form->zone);
	g_autofree char *add = g_strdup_printf("add %s", form->filter);
	const char *const lines[] = {
	    "subscribe", set, *form->filter ? add : NULL, NULL};
	pb_local(request) request = {0};
	enum handler_mail may_mail;

	if (is_own_address(call, form->address))
		return true;
	web_init_request(call, call->text.language, &request);
	request.lines = lines;
	return handler_set_requester(&request, form->address, &may_mail, error) &&
	       (may_mail == HANDLER_MAIL_NONE || request_mail(call, &request, error));
}

/*
 * Number of statements and writes to which each form is padded, more than any address
 * needs: the time of an answer does not tell who is subscribed, or may not get mail.
 */
#define FORM_STATEMENTS 48
#define FORM_WRITES     8

/* Add statements without effect. @param before  the work when the form was accepted */
static bool
even_out(struct web_call *call, struct store_work before, GError **error)
{
	static const char cursor[] = "form padding";
	struct store *store = call->handler->store;
	struct store_work now = store_get_work(store);
	int64_t value = call->handler->options.now;
	bool is_ok = true;

	for (; is_ok && now.statements - before.statements < FORM_STATEMENTS;
	     now = store_get_work(store))
		is_ok = now.writes - before.writes < FORM_WRITES
		            ? store_save_cursor(store, cursor, value, error)
		            : store_load_cursor(store, cursor, 0, &value, error);
	return is_ok;
}

bool
web_run_subscribe(struct web_call *call, GError **error)
{
	pb_local(form) form = {0};
	struct store_work before;
	bool is_valid;

	if (!check_form(call, &form, &is_valid, error))
		return false;
	if (is_valid && !add_policy(call, &form, error))
		return false;
	is_valid = is_valid && web_take_test(call, WEB_LIMIT_SUBSCRIPTIONS);
	if (is_valid && !check_limits(call, &form, &is_valid, error))
		return false;
	before = store_get_work(call->handler->store);
	return show_home(call, web_get(call, "filter"), is_valid, error) &&
	       (!is_valid || (request_subscription(call, &form, error) &&
	                         even_out(call, before, error)));
}

/* ---- confirm ---- */

/* Say why a link to confirm does not work. */
static bool
explain_link(struct web_call *call, GError **error)
{
	g_autofree char *hash = token_hash_random(call->request->token);
	g_autofree struct confirmation *found = NULL;
	const char *phrase = N_("This link has expired: subscribe again.");

	if (hash && !confirmations_find(call->handler->store, hash, &found, error))
		return false;
	if (!found)
		phrase =
		    N_("This link is incomplete, or expired long ago: open it from "
		       "the mail once more, or subscribe again.");
	else if (found->used_at >= 0)
		phrase = N_("This link was used before: what it asked for is done.");
	else if (found->purpose != CONFIRMATION_CONFIRM)
		phrase = N_("This link has expired: ask for a new one.");
	call->status = WEB_STATUS_NOT_FOUND;
	web_add_phrase(call, "error", phrase);
	return true;
}

/* Find the confirmation of the token, or explain why there is none (NULL). */
static bool
find_link(struct web_call *call, struct request *request,
    struct confirmation **confirmation, GError **error)
{
	/* The mail is in the subscriber's language, or in that of the request. */
	web_init_request(call, NULL, request);
	return handler_find_confirmation(request, call->request->token,
	           HANDLER_CONFIRM_PURPOSES | HANDLER_UNDO_PURPOSES, confirmation,
	           error) &&
	       (*confirmation || explain_link(call, error));
}

static bool
is_subscription(const struct confirmation *confirmation)
{
	return (confirmation->purpose == CONFIRMATION_CONFIRM ||
	           confirmation->purpose == CONFIRMATION_INVITATION) &&
	       command_is_subscription(confirmation->action);
}

/* Of a subscription there are "set" lines, too; else all lines are filters. */
static bool
adds_only(const struct confirmation *confirmation)
{
	g_auto(GStrv) lines = g_strsplit(confirmation->action, "\n", -1);
	bool is_filter = true;

	for (char **line = lines; *line; line++)
		is_filter &= !**line || g_str_has_prefix(*line, "add ");
	return is_filter;
}

/* The filters that wait, or the commands, if others wait as well. */
static void
add_waiting(struct web_call *call, const struct confirmation *confirmation)
{
	const char *prefix =
	    is_subscription(confirmation) || adds_only(confirmation) ? "add " : "";
	g_auto(GStrv) lines = g_strsplit(confirmation->action, "\n", -1);
	GVariantBuilder *list = web_list_new();

	for (char **line = lines; *line; line++) {
		GVariantBuilder *values;

		if (!**line || !g_str_has_prefix(*line, prefix))
			continue;
		values = web_values_new();
		web_values_add(values, "query", *line + strlen(prefix));
		web_list_add(list, values);
	}
	web_values_take(call->values, "filters", list);
}

static void
add_question(struct web_call *call, const struct confirmation *confirmation)
{
	static const char *const questions[] = {
	    [CONFIRMATION_CONFIRM] = N_("Do this for {address}?"),
	    [CONFIRMATION_UNDO] = N_("Subscribe {address} again, with everything as it "
	                             "was?"),
	    [CONFIRMATION_ADDRESS] = N_("Change the address that digests go to? Both "
	                                "addresses have to agree."),
	    [CONFIRMATION_FORGET] =
	        N_("Erase all data stored about {address}? It cannot "
	           "be undone."),
	    [CONFIRMATION_APPROVAL] = N_("May {address} subscribe?"),
	};
	g_autofree char *text = reply_text_format(&call->text,
	    is_subscription(confirmation) ? N_("Mail new research papers to {address}?")
	    : confirmation->purpose == CONFIRMATION_CONFIRM && adds_only(confirmation)
	        ? N_("Mail {address} papers about this, too?")
	        : questions[confirmation->purpose],
	    "address", confirmation->address);

	call->page = WEB_PAGE_CONFIRM;
	web_values_add(call->values, "text", text);
	if (confirmation->purpose == CONFIRMATION_CONFIRM)
		add_waiting(call, confirmation);
	web_add_csrf(call, "confirm");
}

bool
web_run_confirm_show(struct web_call *call, GError **error)
{
	g_autofree struct confirmation *confirmation = NULL;
	pb_local(request) request = {0};

	if (!find_link(call, &request, &confirmation, error))
		return false;
	if (confirmation)
		add_question(call, confirmation);
	return true;
}

/* Count the papers of the first digest. @param filters  set: number of filters */
static bool
count_first(struct web_call *call, const struct subscriber *subscriber,
    unsigned *filters, unsigned *papers, GError **error)
{
	struct store *store = call->handler->store;
	g_autoptr(GPtrArray) own =
	    subscribers_load_subscriptions(store, subscriber->id, error);
	g_autoptr(GString) all = g_string_new(NULL);

	*filters = *papers = 0;
	for (unsigned i = 0; own && i < own->len; i++) {
		const struct subscription *one = own->pdata[i];

		if (one->is_block)
			continue;
		g_string_append_printf(
		    all, "%s(%s)", all->len ? " OR " : "", one->canonical);
		++*filters;
	}
	return own && (!*filters || backtest_count(store, all->str, DIGEST_FIRST_DAYS,
	                                call->handler->options.now, papers, error));
}

static bool
welcome(struct web_call *call, const struct subscriber *subscriber, GError **error)
{
	const struct handler_options *options = &call->handler->options;
	const char *phrase = N_(
	    "{address} is subscribed. The first digest, with {papers}, is on its way.");
	g_autofree char *token =
	    mail_token_format_preferences(options->key, subscriber, options->now);
	g_autofree char *path = g_strconcat("/p/", token, NULL);
	g_autofree char *count = NULL;
	unsigned filters, papers;

	if (!count_first(call, subscriber, &filters, &papers, error))
		return false;
	if (!filters)
		phrase = N_("{address} is subscribed. Digests begin once you have a "
		            "filter.");
	else if (!papers)
		phrase =
		    N_("{address} is subscribed. The first digest comes as soon as "
		       "a paper matches.");
	count = reply_text_format_count(
	    &call->text, PL_("1 paper", "{count} papers"), papers);
	web_add_phrase(
	    call, "ok", phrase, "address", subscriber->address, "papers", count);
	web_values_add(call->values, "path", path);
	return true;
}

/* Say what a confirmation that was applied has done. */
static bool
add_result(struct web_call *call, const struct request *request,
    const struct confirmation *confirmation, GError **error)
{
	static const char *const results[] = {
	    [CONFIRMATION_CONFIRM] = N_("It is done. A mail has the details."),
	    [CONFIRMATION_UNDO] =
	        N_("{address} is subscribed again, and everything is as it was."),
	    [CONFIRMATION_ADDRESS] =
	        N_("Confirmed. The other address has to confirm as "
	           "well; until then nothing changes."),
	    [CONFIRMATION_FORGET] = N_(
	        "All data stored about {address} is erased. A last mail confirms it."),
	    [CONFIRMATION_APPROVAL] = N_("{address} is subscribed, and gets a mail."),
	};
	const char *phrase = results[confirmation->purpose];
	pb_auto(subscriber) subscriber = NULL;

	if (request->reply.failed) {
		web_add_phrase(
		    call, "error", N_("Not all of it could be done. A mail says why."));
		return true;
	}
	if (is_subscription(confirmation) &&
	    !subscribers_find(
	        call->handler->store, confirmation->address_key, &subscriber, error))
		return false;
	if (subscriber && subscriber_is_subscribed(subscriber))
		return welcome(call, subscriber, error);
	if (is_subscription(confirmation))
		phrase = N_("Confirmed. A person decides about new subscriptions here: "
		            "a mail says what happens next.");
	if (request->reply.old_text)
		phrase = N_("The address is changed: digests go to the new one.");
	web_add_phrase(call, "ok", phrase, "address", confirmation->address);
	return true;
}

/* The link proves access to the mailbox: the page says what has happened. */
bool
web_run_confirm(struct web_call *call, GError **error)
{
	g_autofree struct confirmation *confirmation = NULL;
	pb_local(request) request = {0};

	return find_link(call, &request, &confirmation, error) &&
	       (!confirmation ||
	           (handler_apply_confirmation(&request, confirmation, error) &&
	               add_result(call, &request, confirmation, error)));
}
