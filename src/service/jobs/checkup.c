/*
 * checkup.c - a monthly report to each subscriber on filters that could be better.
 */
#include "service/jobs/checkup.h"

#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/token.h"
#include "base/zone.h"
#include "message/subaddress.h"
#include "render/sender.h"
#include "service/advice/backtest.h"
#include "service/advice/suggest.h"
#include "service/collect/coverage.h"
#include "service/command/command.h"
#include "service/delivery/mail_token.h"
#include "service/digest/digest_news.h"
#include "service/state/one_click.h"
#include "store/subscriber/proposals.h"
#include "store/subscriber/shares.h"
#include "store/subscriber/subscribers.h"

#define BATCH_SUBSCRIBERS 200

/* Number of days of a month on which reports are sent, to an equal number of
 * subscribers on each: those that every month has. */
#define MONTH_DAYS 28

/* Days between the reports of subscribers with consecutive ids: has no common factor
 * with MONTH_DAYS, so that all days are used. */
#define DAY_STRIDE 11

/* Minimum time between two reports to a subscriber, s: less than the shortest month, so
 * that each month has one. */
#define INTERVAL_S (25 * (int64_t)CLOCK_DAY_S)

/* A list is silent after so many days without papers. */
#define SILENT_DAYS 7

/* Minimum number of papers that a filter has found for its removal to be proposed since
 * another one finds them, too; fewer may be chance. */
#define OVERLAP_PAPERS 5

/* Minimum part of these papers that the other filter has to find, %. */
#define OVERLAP_PERCENT 90

/* Maximum number of filters of a subscriber that are compared, each with each other. */
#define OVERLAP_FILTERS 10

/* Filters of a subscriber for which terms are suggested. */
#define SUGGEST_FILTERS 3

/* Value of max= that is proposed for a filter with more papers than anybody reads. */
#define FLOOD_MAX 10

/* Maximum length of the name or text of a filter in a report, characters. */
#define LABEL_CHARS 60

/* ---- when ---- */

static int
get_day_of_month(int64_t subscriber_id)
{
	return 1 + (int)(subscriber_id * DAY_STRIDE % MONTH_DAYS);
}

/* Hourly digests have no time of the day. */
static struct schedule
get_schedule(const struct subscriber *subscriber)
{
	struct schedule schedule = subscriber->schedule;

	if (schedule.frequency == SCHEDULE_NOW)
		schedule.frequency = SCHEDULE_DAILY;
	return schedule;
}

/* @return s; the first slot from the subscriber's day of a month on, after a time */
static int64_t
find_slot(const struct subscriber *subscriber, GTimeZone *zone, int64_t after)
{
	g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc(after);
	g_autoptr(GDateTime) local = g_date_time_to_timezone(utc, zone);
	int year = g_date_time_get_year(local), month = g_date_time_get_month(local);
	struct schedule schedule = get_schedule(subscriber);
	struct schedule_slot slot;

	do {
		g_autoptr(GDateTime) day = g_date_time_new(
		    zone, year, month, get_day_of_month(subscriber->id), 0, 0, 0);

		schedule_get_next(&schedule, zone, g_date_time_to_unix(day) - 1, &slot);
		year += month == 12;
		month = month % 12 + 1;
	} while (slot.at <= after);
	return slot.at;
}

/* @param is_due  whether the report is to be made now @return the next time, s */
static int64_t
plan(const struct subscriber *subscriber, int64_t due_at, int64_t now, bool *is_due)
{
	g_autoptr(GTimeZone) zone = zone_load_or_utc(subscriber->zone);
	struct schedule schedule = get_schedule(subscriber);
	struct schedule_slot slot;

	schedule_get_next(&schedule, zone, due_at - 1, &slot);
	*is_due = slot.at <= now && slot.at + CHECKUP_LATE_S > now;
	if (slot.at > now)
		return slot.at;
	return find_slot(subscriber, zone, *is_due ? now + INTERVAL_S : now);
}

/* ---- points ---- */

/* A filter that is old enough, and what it found. */
struct looked {
	const struct subscription *filter;
	const char *followed; /* name of the share, or NULL */
	bool is_shared;
	unsigned found;
	bool is_flood;
};

struct draft {
	const struct checkup *checkup;
	const struct subscriber *subscriber;
	struct reply_text text;
	GArray *filters; /* of struct looked */
	GArray *shown;   /* of unsigned: numbers of proposals */
	char *page;      /* of the proposals; NULL: there is no page */
	unsigned points;
};

static char *
quote_filter(const struct draft *draft, const struct subscription *filter)
{
	g_autofree char *part =
	    text_quote(filter->name ? filter->name : filter->text, LABEL_CHARS);

	return reply_text_quote(&draft->text, part);
}

/* @param text  taken */
static void
add_point(struct draft *draft, unsigned number, char *text, const char *command)
{
	reply_text_add_blank(&draft->text);
	if (number)
		g_array_append_val(draft->shown, number);
	if (number)
		reply_text_add_paragraph(&draft->text,
		    N_("{text}\n"
		       "   yes {number}: {command}"),
		    "text", text, "number", MSG_INT(number), "command", command);
	if (number && draft->page)
		g_string_append_printf(
		    draft->text.text, "   %s#s%u\n", draft->page, number);
	if (!number)
		reply_text_add_paragraph(&draft->text,
		    N_("{text}\n"
		       "   {command}"),
		    "text", text, "command", command);
	draft->points++;
	g_free(text);
}

/* Propose a command, unless it was refused. @param text  taken */
static bool
propose(struct draft *draft, const struct subscription *filter, const char *command,
    const struct backtest_difference *effect, char *text, GError **error)
{
	const struct system_mailer *mailer = &draft->checkup->mailer;
	g_autofree char *words = text;
	const struct proposal proposal = {
	    .subscriber_id = draft->subscriber->id,
	    .term = command,
	    .command = command,
	    .lost = effect ? effect->before : 0,
	    .days = BACKTEST_DAYS,
	    .title = "",
	};
	g_autofree struct proposal *offered = NULL;

	if (draft->points >= CHECKUP_POINTS_MAX)
		return true;
	if (!proposals_offer(
	        mailer->store, &proposal, filter, mailer->now, &offered, error))
		return false;
	if (offered)
		add_point(
		    draft, offered->number, g_steal_pointer(&words), offered->command);
	return true;
}

/* Others follow a shared filter: its owner is not asked to remove it. */
static char *
format_removal(const struct looked *looked)
{
	if (looked->is_shared)
		return NULL;
	return looked->followed ? g_strdup_printf("unfollow %s", looked->followed)
	                        : g_strdup_printf("del %d", looked->filter->number);
}

static bool
add_empty(struct draft *draft, const struct looked *looked, GError **error)
{
	g_autofree char *filter = quote_filter(draft, looked->filter);
	g_autofree char *command = looked->found ? NULL : format_removal(looked);

	return !command || propose(draft, looked->filter, command, NULL,
	                       reply_text_format(&draft->text,
	                           N_("Filter {number} ({filter}) has found no paper "
	                              "in {days} days. Remove it?"),
	                           "number", MSG_INT(looked->filter->number), "filter",
	                           filter, "days", MSG_INT(BACKTEST_DAYS)),
	                       error);
}

static bool
add_flood(struct draft *draft, const struct looked *looked, GError **error)
{
	g_autofree char *filter = quote_filter(draft, looked->filter);
	g_autofree char *command = g_strdup_printf(
	    "edit %d max=" G_STRINGIFY(FLOOD_MAX), looked->filter->number);

	if (!looked->is_flood || looked->filter->max_papers)
		return true;
	return propose(draft, looked->filter, command, NULL,
	    reply_text_format(&draft->text,
	        N_("Filter {number} ({filter}) has found {count} papers in {days} "
	           "days, more than anybody reads. Show at most {max} of them in a "
	           "digest?"),
	        "number", MSG_INT(looked->filter->number), "filter", filter, "count",
	        MSG_INT(looked->found), "days", MSG_INT(BACKTEST_DAYS), "max",
	        MSG_INT(FLOOD_MAX)),
	    error);
}

/* Propose to remove the filter with fewer papers if the other one finds most of them,
 * too. */
static bool
add_overlap(struct draft *draft, const struct looked *one, const struct looked *other,
    GError **error)
{
	const struct looked *small = one->found < other->found ? one : other;
	const struct looked *large = small == one ? other : one;
	const struct system_mailer *mailer = &draft->checkup->mailer;
	g_autofree char *command = format_removal(small);
	struct backtest_difference both;
	g_autofree char *filter = NULL, *by = NULL;

	if (!command || small->found < OVERLAP_PAPERS)
		return true;
	if (!backtest_compare(mailer->store, small->filter->canonical,
	        large->filter->canonical, BACKTEST_DAYS, mailer->now, &both, error))
		return false;
	if (!both.before || both.both * 100 < both.before * OVERLAP_PERCENT)
		return true;
	filter = quote_filter(draft, small->filter);
	by = quote_filter(draft, large->filter);
	return propose(draft, small->filter, command,
	    &(struct backtest_difference){.before = both.before - both.both},
	    reply_text_format(&draft->text,
	        N_("Filter {number} ({filter}) has found {found} papers in {days} "
	           "days, and filter {other} ({by}) found {both} of them, too. Remove "
	           "it?"),
	        "number", MSG_INT(small->filter->number), "filter", filter, "found",
	        MSG_INT(both.before), "both", MSG_INT(both.both), "days",
	        MSG_INT(BACKTEST_DAYS), "other", MSG_INT(large->filter->number), "by",
	        by),
	    error);
}

static bool
add_overlaps(struct draft *draft, GError **error)
{
	unsigned count = MIN(draft->filters->len, OVERLAP_FILTERS);

	for (unsigned i = 0; i < count; i++)
		for (unsigned j = i + 1; j < count; j++)
			if (!add_overlap(draft,
			        &g_array_index(draft->filters, struct looked, i),
			        &g_array_index(draft->filters, struct looked, j),
			        error))
				return false;
	return true;
}

/* New versions of followed filters that no digest has reported. */
static bool
add_news(struct draft *draft, GError **error)
{
	const struct system_mailer *mailer = &draft->checkup->mailer;
	const struct po *po = reply_text_get_po(&draft->text);
	g_autoptr(GPtrArray) all = shares_load_news(mailer->store,
	    draft->subscriber->id, mailer->now + DIGEST_NEWS_PROPOSAL_S / 2, error);

	for (unsigned i = 0; all && i < all->len; i++) {
		const struct share_news *news = all->pdata[i];
		g_autofree char *change = NULL, *command = NULL;

		if (news->news <= 0 || !news->added || news->proposal <= 0 ||
		    draft->points >= CHECKUP_POINTS_MAX)
			continue;
		change = digest_news_format_change(news->added, news->removed, po);
		command =
		    g_strdup_printf("follow %s version=%d", news->name, news->news);
		add_point(draft, (unsigned)news->proposal,
		    reply_text_format(&draft->text,
		        N_("Filter {number} follows {name}, which has a version "
		           "{version}: {change}; papers of {days} days: {gained} more, "
		           "{lost} fewer. Take it?"),
		        "number", MSG_INT(news->number), "name", news->name, "version",
		        MSG_INT(news->news), "change", change, "gained",
		        MSG_INT(news->gained), "lost", MSG_INT(news->lost), "days",
		        MSG_INT(BACKTEST_DAYS)),
		    command);
		if (!shares_clear_news(
		        mailer->store, news->subscription_id, news->news, error))
			return false;
	}
	return all != NULL;
}

static bool
add_suggestions(struct draft *draft, GError **error)
{
	const struct system_mailer *mailer = &draft->checkup->mailer;
	unsigned filters = 0;

	for (unsigned i = 0; i < draft->filters->len && filters < SUGGEST_FILTERS;
	     i++) {
		const struct looked *looked =
		    &g_array_index(draft->filters, struct looked, i);
		g_autoptr(GPtrArray) offered = NULL;

		/* A change by the follower would be a fork. */
		if (looked->followed || looked->is_flood || !looked->found)
			continue;
		filters++;
		offered =
		    suggest_offer(mailer->store, looked->filter, mailer->now, error);
		if (!offered)
			return false;
		for (unsigned k = 0; k < MIN(offered->len, 1); k++) {
			const struct proposal *proposal = offered->pdata[k];
			pb_auto(msg) effect = command_format_effect(proposal);
			g_autofree char *words =
			    reply_text_format_msg(&draft->text, effect);
			g_autofree char *filter = quote_filter(draft, looked->filter);

			if (draft->points < CHECKUP_POINTS_MAX)
				add_point(draft, proposal->number,
				    reply_text_format(&draft->text,
				        N_("Filter {number} ({filter}) would find more "
				           "with one more term. {effect}"),
				        "number", MSG_INT(looked->filter->number),
				        "filter", filter, "effect", words),
				    proposal->command);
		}
	}
	return true;
}

/* Lists that have brought nothing for long; nobody but the operator can help. */
static bool
add_silent(struct draft *draft, GError **error)
{
	const struct system_mailer *mailer = &draft->checkup->mailer;
	pb_auto(coverage) coverage = coverage_load(mailer->store, mailer->now, error);
	char before[DAY_BYTES];

	day_format(mailer->now - SILENT_DAYS * (int64_t)CLOCK_DAY_S, before);
	for (unsigned i = 0; coverage && i < coverage->lists->len; i++) {
		const struct coverage_list *list = coverage->lists->pdata[i];
		g_autofree char *day = NULL;

		if (!*list->since_day || strcmp(list->since_day, before) > 0 ||
		    draft->points >= CHECKUP_POINTS_MAX)
			continue;
		day = reply_text_format_day(&draft->text, list->since_day);
		add_point(draft, 0,
		    reply_text_format(&draft->text,
		        N_("{list} has brought no papers since {day}. To see all "
		           "sources, reply:"),
		        "list", list->label, "day", day),
		    "sources");
	}
	return coverage != NULL;
}

/* ---- the report ---- */

static bool
is_shared(const GPtrArray *shares, int64_t id)
{
	for (unsigned i = 0; i < shares->len; i++)
		if (((struct share *)shares->pdata[i])->subscription_id == id)
			return true;
	return false;
}

/* @param follows  borrowed by draft->filters */
static bool
count_papers(struct draft *draft, const GPtrArray *own, const GPtrArray *follows,
    const GPtrArray *shares, GError **error)
{
	const struct system_mailer *mailer = &draft->checkup->mailer;
	int64_t newest = mailer->now - CHECKUP_NEW_DAYS * (int64_t)CLOCK_DAY_S;

	for (unsigned i = 0; i < own->len; i++) {
		const struct subscription *filter = own->pdata[i];
		const struct follow *follow = shares_get_followed(follows, filter->id);
		pb_auto(backtest) found = NULL;
		struct looked looked = {.filter = filter,
		    .followed = follow ? follow->name : NULL,
		    .is_shared = is_shared(shares, filter->id)};

		if (filter->is_block || filter->created_at > newest)
			continue;
		found = backtest_load(mailer->store, filter, mailer->now, error);
		if (!found)
			return false;
		looked.found = found->found;
		looked.is_flood = forecast_is_flood(
		    &found->forecast, (unsigned)draft->subscriber->max_full);
		g_array_append_val(draft->filters, looked);
	}
	return true;
}

static bool
add_points(struct draft *draft, GError **error)
{
	struct store *store = draft->checkup->mailer.store;
	int64_t id = draft->subscriber->id;
	g_autoptr(GPtrArray) own = subscribers_load_subscriptions(store, id, error);
	g_autoptr(GPtrArray) follows =
	    own ? shares_load_follows(store, id, error) : NULL;
	g_autoptr(GPtrArray) shares =
	    follows ? shares_load_own(store, id, error) : NULL;
	bool is_ok = shares && count_papers(draft, own, follows, shares, error) &&
	             add_news(draft, error);

	for (unsigned i = 0; is_ok && i < draft->filters->len; i++) {
		const struct looked *looked =
		    &g_array_index(draft->filters, struct looked, i);

		is_ok =
		    add_empty(draft, looked, error) && add_flood(draft, looked, error);
	}
	return is_ok && add_overlaps(draft, error) && add_suggestions(draft, error) &&
	       add_silent(draft, error);
}

bool
checkup_send_letter(const struct checkup *checkup, const struct subscriber *subscriber,
    const char *subject, const char *id, const char *text, GError **error)
{
	const struct system_mailer *mailer = &checkup->mailer;
	const struct settings *settings = mailer->settings;
	g_autofree char *leave = token_sign(checkup->key, SUBADDRESS_TOKEN_LEAVE,
	    subscriber->id, subscriber_get_joined(subscriber));
	bool has_commands = mailer->own_addresses->has_commands;
	g_autofree char *reply = has_commands ? mail_token_format_answer(checkup->key,
	                                            subscriber, mailer->now)
	                                      : NULL;
	g_autofree char *link =
	    has_commands ? subaddress_format_mailto(&mailer->own_addresses->commands,
	                       SUBADDRESS_LEAVE, leave)
	                 : g_strconcat("mailto:", settings->mail_owner,
	                       "?subject=unsubscribe", NULL);
	bool has_one_click = one_click_is_offered(settings);
	g_autofree char *page =
	    has_one_click ? g_strconcat(settings->web_url, "/u/", leave, NULL) : NULL;
	g_autofree char *list = sender_format_unsubscribe(page, link);
	const struct system_mail mail = {
	    .kind = OUTBOX_NOTICE,
	    .subscriber_id = subscriber->id,
	    .recipient = subscriber->address,
	    .sender = "",
	    .reply_token = reply,
	    .reply_kind = SUBADDRESS_REPLY,
	    .subject = subject,
	    .id = id,
	    .text = text,
	    .list_unsubscribe = list,
	    .has_one_click = has_one_click,
	};
	int64_t outbox_id;

	return system_mail_send(mailer, &mail, &outbox_id, error);
}

static bool
send(struct draft *draft, GError **error)
{
	const struct system_mailer *mailer = &draft->checkup->mailer;
	const struct subscriber *subscriber = draft->subscriber;
	g_autofree char *subject =
	    reply_text_format(&draft->text, N_("Your filters: what could be better"));
	g_autofree char *id = system_mail_new_token(mailer);
	g_autofree char *message = g_strconcat("letter.", id, NULL);

	for (guint i = 0; i < draft->shown->len; i++)
		if (!proposals_save_shown(mailer->store, subscriber->id,
		        g_array_index(draft->shown, unsigned, i), message, mailer->now,
		        error))
			return false;
	return checkup_send_letter(
	    draft->checkup, subscriber, subject, id, draft->text.text->str, error);
}

static bool
make_report(const struct checkup *checkup, const struct subscriber *subscriber,
    struct checkup_report *report, GError **error)
{
	struct draft draft = {.checkup = checkup,
	    .subscriber = subscriber,
	    .filters = g_array_new(FALSE, FALSE, sizeof(struct looked)),
	    .shown = g_array_new(FALSE, FALSE, sizeof(unsigned))};
	const char *language = *subscriber->language ? subscriber->language : "en";
	g_autofree char *token = mail_token_format_preferences(
	    checkup->key, subscriber, checkup->mailer.now);
	bool is_ok;

	if (*checkup->mailer.settings->web_url)
		draft.page = g_strdup_printf(
		    "%s/p/%s?show=account", checkup->mailer.settings->web_url, token);
	reply_text_init(&draft.text, checkup->catalog,
	    catalog_has_language(checkup->catalog, language) ? language : "en", false);
	reply_text_add_paragraph(&draft.text,
	    N_("Once a month paperboy looks at your filters. Reply \"yes 2\" to do "
	       "what "
	       "point 2 says (you can undo it), \"no 2\" to dismiss it for good."));
	if (draft.page)
		reply_text_add_paragraph(&draft.text,
		    N_("The links show the same on a page, for 24 hours."));
	report->due++;
	is_ok = add_points(&draft, error);
	if (is_ok && draft.points) {
		reply_text_add_blank(&draft.text);
		reply_text_add_paragraph(&draft.text,
		    N_("This report comes at most once a month, and only if there is "
		       "something to say. To end it, reply: set checkup off"));
		report->sent++;
		is_ok = send(&draft, error);
	}
	g_array_unref(draft.filters);
	g_array_unref(draft.shown);
	reply_text_clear(&draft.text);
	g_free(draft.page);
	return is_ok;
}

/* A subscriber in a transaction. */
struct person {
	const struct checkup *checkup;
	const struct checkup_due *due;
	struct checkup_report before, report;
};

static bool
run_one(struct store *store, void *data, GError **error)
{
	struct person *person = data;
	pb_auto(subscriber) subscriber =
	    subscribers_load(store, person->due->subscriber_id, error);
	int64_t next_at;
	bool is_due;

	if (!subscriber)
		return false;
	person->report = person->before;
	next_at =
	    plan(subscriber, person->due->at, person->checkup->mailer.now, &is_due);
	return (!is_due ||
	           make_report(person->checkup, subscriber, &person->report, error)) &&
	       subscribers_save_checkup(store, subscriber->id, next_at, error);
}

bool
checkup_run(const struct checkup *checkup, unsigned time_ms,
    struct checkup_report *report, int64_t *next_at, GError **error)
{
	struct store *store = checkup->mailer.store;
	int64_t end_us = g_get_monotonic_time() + (int64_t)time_ms * 1000;
	g_autoptr(GPtrArray) batch = NULL;

	*report = (struct checkup_report){0};
	*next_at = -1;
	if (!checkup->catalog || !checkup->mailer.own_addresses->has_commands)
		return true;
	for (;;) {
		g_clear_pointer(&batch, g_ptr_array_unref);
		batch = subscribers_load_checkups(
		    store, checkup->mailer.now, BATCH_SUBSCRIBERS, error);
		if (!batch)
			return false;
		for (unsigned i = 0; i < batch->len; i++) {
			struct person person = {
			    checkup, batch->pdata[i], *report, *report};

			if (!store_transact(store, run_one, &person, error))
				return false;
			*report = person.report;
			store_call_between(store);
			if (store_is_stopped(store) ||
			    (time_ms && g_get_monotonic_time() > end_us)) {
				*next_at = checkup->mailer.now;
				return true;
			}
		}
		if (batch->len < BATCH_SUBSCRIBERS)
			break;
	}
	return subscribers_load_next_checkup(store, next_at, error);
}
