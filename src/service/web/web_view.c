/*
 * web_view.c - the views of the preferences: filters, blocks, settings, likes, account.
 */
#include <string.h>

#include "base/clock.h"
#include "base/day.h"
#include "service/people/filters.h"
#include "service/taste/answers.h"
#include "service/web/web_private.h"
#include "store/paper/archive.h"
#include "store/paper/paper_events.h"
#include "store/subscriber/feedback.h"
#include "store/subscriber/private_feeds.h"
#include "store/subscriber/shares.h"
#include "store/subscriber/subscribers.h"

/* A view being made. */
struct view {
	struct web_call *call;
	const struct subscriber *subscriber;
	GPtrArray *filters; /* struct subscription *, borrowed from `own` */
	GPtrArray *blocks;
	GPtrArray *own;
	GPtrArray *shares;  /* of struct share *, those of the subscriber */
	GPtrArray *follows; /* of struct follow *, those of the subscriber */
	const char *show;
};

static void
view_clear(struct view *view)
{
	g_clear_pointer(&view->filters, g_ptr_array_unref);
	g_clear_pointer(&view->blocks, g_ptr_array_unref);
	g_clear_pointer(&view->own, g_ptr_array_unref);
	g_clear_pointer(&view->shares, g_ptr_array_unref);
	g_clear_pointer(&view->follows, g_ptr_array_unref);
}

/* ---- pages of a list ---- */

static void
add_link(struct view *view, const char *name, bool is_there, unsigned page)
{
	if (is_there)
		web_values_add_number(view->call->values, name, page);
	else
		web_values_add(view->call->values, name, "");
}

/* @return index of the first item on the requested page */
static unsigned
add_pages(struct view *view, unsigned count, unsigned per_page)
{
	unsigned pages = MAX((count + per_page - 1) / per_page, 1);
	unsigned page = CLAMP(web_get_number(view->call, "page", 1000), 1, pages);

	web_values_add_number(view->call->values, "page", page);
	web_values_add_number(view->call->values, "pages", pages);
	add_link(view, "previous_page", page > 1, page - 1);
	add_link(view, "next_page", page < pages, page + 1);
	return (page - 1) * per_page;
}

/* ---- feeds ---- */

/* Add the feed of a filter, or of all (NULL), if feeds are on. */
static bool
add_feed(struct view *view, const struct subscription *one, GError **error)
{
	struct web_call *call = view->call;
	GBytes *key = call->handler->options.key;
	GVariantBuilder *list;
	int64_t since;

	if (!private_feeds_load_since(
	        call->handler->store, view->subscriber->id, &since, error))
		return false;
	list = web_list_new();
	if (since >= 0) {
		g_autofree char *token =
		    one ? web_token_format_filter_feed(key, one, since)
		        : web_token_format_feed(key, view->subscriber->id, since);
		g_autofree char *path = g_strconcat("/f/", token, NULL);
		GVariantBuilder *values = web_values_new();

		web_values_add(values, "path", path);
		web_list_add(list, values);
	}
	web_values_take(call->values, "feeds", list);
	return true;
}

/* ---- filters ---- */

static char *
format_follow(struct view *view, const struct follow *follow)
{
	const char *phrase = N_("   follows {name}, version {version}");

	if (follow->is_fork)
		phrase = N_("   from {name}, version {version}");
	else if (follow->newest > follow->version)
		phrase =
		    N_("follows {name}, version {version}; version {newest} is out");
	return reply_text_format(&view->call->text, phrase, "name", follow->name,
	    "version", MSG_INT(follow->version), "newest", MSG_INT(follow->newest));
}

/* Whose name a filter has: "follows rl-for-robots, version 2". @return "" for none */
static char *
format_sharing(struct view *view, int64_t id)
{
	for (unsigned i = 0; i < view->shares->len; i++) {
		const struct share *one = view->shares->pdata[i];

		if (one->subscription_id == id)
			return reply_text_format(&view->call->text,
			    N_("   shared as {name}, version {version}"), "name",
			    one->name, "version", MSG_INT(one->version));
	}
	for (unsigned i = 0; i < view->follows->len; i++) {
		const struct follow *one = view->follows->pdata[i];

		/* One that is no longer shared is an own filter. */
		if (one->subscription_id == id && one->name)
			return format_follow(view, one);
	}
	return g_strdup("");
}

static bool
load_sharing(struct view *view, GError **error)
{
	struct store *store = view->call->handler->store;

	view->shares = shares_load_own(store, view->subscriber->id, error);
	if (view->shares)
		view->follows = shares_load_follows(store, view->subscriber->id, error);
	return view->follows != NULL;
}

static bool
add_filter(struct view *view, GVariantBuilder *list, unsigned index, bool has_papers,
    GError **error)
{
	struct web_call *call = view->call;
	const struct subscription *one = view->filters->pdata[index];
	pb_auto(backtest) backtest =
	    backtest_load(call->handler->store, one, call->handler->options.now, error);
	g_autofree char *sharing = format_sharing(view, one->id);
	g_autofree char *shown = query_format_accented(
	    one->canonical, one->text, store_get_tokenizer(call->handler->store));
	GVariantBuilder *values;

	if (!backtest)
		return false;
	values = web_values_new();
	web_values_add_number(values, "number", one->number);
	web_values_add(values, "name", one->name);
	web_values_add(values, "query", one->text);
	web_values_add(values, "canonical", shown);
	if (one->max_papers)
		web_values_add_number(values, "max", one->max_papers);
	else
		web_values_add(values, "max", "");
	web_values_add(values, "note", one->note);
	web_values_add(values, "sharing", g_strstrip(sharing));
	web_values_add_flag(values, "is_first", index == 0);
	web_values_add_flag(values, "is_last", index + 1 == view->filters->len);
	web_values_take(
	    values, "backtest", web_format_backtest(call, backtest, has_papers));
	web_list_add(list, values);
	return true;
}

static bool
add_filters(
    struct view *view, unsigned first, unsigned count, bool has_papers, GError **error)
{
	GVariantBuilder *list = web_list_new();
	bool is_ok = load_sharing(view, error);

	for (unsigned i = first; is_ok && i < first + count && i < view->filters->len;
	     i++)
		is_ok = add_filter(view, list, i, has_papers, error);
	web_values_take(view->call->values, "filters", list);
	return is_ok;
}

/* @param stored  the filter being edited, or NULL */
static void
add_form(struct view *view, const struct subscription *stored)
{
	struct web_call *call = view->call;
	bool is_typed = !call->is_done && *web_get(call, "filter");
	g_autofree char *max = stored && stored->max_papers
	                           ? g_strdup_printf("%d", stored->max_papers)
	                           : g_strdup("");

	web_values_add(call->values, "form_filter",
	    is_typed ? web_get(call, "filter") : (stored ? stored->text : ""));
	web_values_add(call->values, "form_name",
	    is_typed ? web_get(call, "name") : (stored ? stored->name : ""));
	web_values_add(call->values, "form_max", is_typed ? web_get(call, "max") : max);
	web_values_add(call->values, "form_note",
	    is_typed ? web_get(call, "note") : (stored ? stored->note : ""));
}

static bool
show_filters(struct view *view, GError **error)
{
	unsigned first = add_pages(view, view->filters->len, WEB_PROTO_PAGE_FILTERS);

	add_form(view, NULL);
	return add_filters(view, first, WEB_PROTO_PAGE_FILTERS, false, error);
}

static bool
show_filter(struct view *view, GError **error)
{
	int number = (int)web_get_number(view->call, "number", FILTERS_NUMBER_MAX);

	for (unsigned i = 0; i < view->filters->len; i++) {
		const struct subscription *one = view->filters->pdata[i];

		if (one->number != number)
			continue;
		add_form(view, one);
		return add_filters(view, i, 1, true, error) &&
		       add_feed(view, one, error);
	}
	view->show = "";
	return show_filters(view, error);
}

static bool
show_blocks(struct view *view, GError **error)
{
	unsigned first = add_pages(view, view->blocks->len, WEB_PROTO_PAGE_BLOCKS);
	GVariantBuilder *list = web_list_new();

	(void)error;
	add_form(view, NULL);
	for (unsigned i = first;
	     i < first + WEB_PROTO_PAGE_BLOCKS && i < view->blocks->len; i++) {
		const struct subscription *one = view->blocks->pdata[i];
		GVariantBuilder *values = web_values_new();

		web_values_add_number(values, "number", one->number);
		web_values_add(values, "query", one->text);
		web_list_add(list, values);
	}
	web_values_take(view->call->values, "blocks", list);
	return true;
}

/* ---- settings ---- */

static bool
show_settings(struct view *view, GError **error)
{
	(void)error;
	web_add_settings(view->call, view->subscriber);
	return true;
}

/* ---- likes ---- */

/* Papers and words on the page, of each kind. */
#define LIKES_SHOWN 20

static void
add_words(struct view *view, const char *name, const GPtrArray *words)
{
	g_autofree char *text = answers_format_words(words, LIKES_SHOWN);

	web_values_add(view->call->values, name, text);
}

static bool
add_answered(struct view *view, GError **error)
{
	struct store *store = view->call->handler->store;
	g_autoptr(GArray) all = feedback_load(store, view->subscriber->id, error);
	GVariantBuilder *list = all ? web_list_new() : NULL;
	bool is_ok = all != NULL;

	for (unsigned i = 0; is_ok && i < all->len && i < LIKES_SHOWN; i++) {
		const struct feedback *one = &g_array_index(all, struct feedback, i);
		g_autofree struct archive_text *paper = NULL;
		GVariantBuilder *values;

		is_ok = archive_find_text(store, one->paper_seq, &paper, error);
		if (!paper)
			continue;
		values = web_values_new();
		web_values_add(values, "title", paper->title);
		web_values_add_flag(values, "is_liked", one->is_like);
		web_list_add(list, values);
	}
	if (list)
		web_values_take(view->call->values, "papers", list);
	return is_ok;
}

static bool
add_watched(struct view *view, GError **error)
{
	struct web_call *call = view->call;
	struct store *store = call->handler->store;
	g_autoptr(GPtrArray) all = paper_events_load_watched(
	    store, view->subscriber->id, call->handler->options.now, error);
	GVariantBuilder *list = all ? web_list_new() : NULL;
	bool is_ok = all != NULL;

	for (unsigned i = 0; is_ok && i < all->len; i++) {
		const struct watched_paper *one = all->pdata[i];
		pb_auto(stored_paper) stored = papers_load(store, one->work, error);
		g_autofree char *number = g_strdup_printf("%u", i + 1);
		char day[DAY_BYTES];
		GVariantBuilder *values;

		is_ok = stored != NULL;
		if (!is_ok)
			break;
		day_format(one->until, day);
		values = web_values_new();
		web_values_add(values, "id", stored->paper->id);
		web_values_add(values, "title", stored->paper->title);
		web_values_add(values, "day", day);
		web_values_add(values, "number", number);
		web_values_add_flag(values, "is_ending",
		    one->until - call->handler->options.now <
		        PAPER_EVENTS_ENDING_DAYS * (int64_t)CLOCK_DAY_S);
		web_list_add(list, values);
	}
	if (list)
		web_values_take(call->values, "watched", list);
	return is_ok;
}

static bool
show_taste(struct view *view, GError **error)
{
	pb_local(answers) answers = {0};

	if (!answers_load(
	        view->call->handler->store, view->subscriber->id, &answers, error))
		return false;
	add_words(view, "raising", answers.raising);
	add_words(view, "lowering", answers.lowering);
	return add_answered(view, error) && add_watched(view, error);
}

/* ---- account ---- */

static bool
show_account(struct view *view, GError **error)
{
	return add_feed(view, NULL, error);
}

/* ---- the page ---- */

static const struct {
	const char *name;
	bool (*show)(struct view *view, GError **error);
} views[] = {
    {"", show_filters},
    {"filter", show_filter},
    {"blocks", show_blocks},
    {"settings", show_settings},
    {"taste", show_taste},
    {"account", show_account},
};

static void
add_state(struct view *view, int64_t expires_at)
{
	struct web_call *call = view->call;
	const struct subscriber *subscriber = view->subscriber;
	bool is_active = subscriber->state == SUBSCRIBER_ACTIVE;
	g_autofree char *paused =
	    *subscriber->paused_until
	        ? reply_text_format_day(&call->text, subscriber->paused_until)
	        : g_strdup("");
	g_autofree char *next = is_active && subscriber->next_due_at >= 0
	                            ? reply_text_format_time(&call->text,
	                                  subscriber->next_due_at, subscriber->zone)
	                            : g_strdup("");
	g_autofree char *end =
	    reply_text_format_time(&call->text, expires_at, subscriber->zone);

	web_values_add(call->values, "subscriber", subscriber->address);
	web_values_add(call->values, "form_address",
	    call->is_done ? "" : web_get(call, "address"));
	web_values_add(
	    call->values, "form_zone", call->is_done ? "" : web_get(call, "zone"));
	web_values_add(call->values, "state", subscriber_state_name(subscriber->state));
	web_values_add(call->values, "paused_until", paused);
	web_values_add(call->values, "next", next);
	web_values_add(call->values, "valid_until", end);
}

static bool
view_load(struct view *view, GError **error)
{
	view->own = subscribers_load_subscriptions(
	    view->call->handler->store, view->subscriber->id, error);
	view->filters = g_ptr_array_new();
	view->blocks = g_ptr_array_new();
	for (unsigned i = 0; view->own && i < view->own->len; i++) {
		struct subscription *one = view->own->pdata[i];

		g_ptr_array_add(one->is_block ? view->blocks : view->filters, one);
	}
	return view->own != NULL;
}

static bool
show(struct view *view, GError **error)
{
	bool is_ok = false;
	size_t at = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(views); i++)
		if (g_str_equal(web_get(view->call, "show"), views[i].name))
			at = i;
	view->show = views[at].name;
	is_ok = view_load(view, error) && views[at].show(view, error) &&
	        web_add_proposals(view->call, view->subscriber, view->own,
	            views[at].show == show_account, error);
	web_values_add(view->call->values, "show", view->show);
	return is_ok;
}

bool
web_show_preferences(struct web_call *call, GError **error)
{
	pb_local(view) view = {.call = call};
	pb_auto(subscriber) subscriber = NULL;
	int64_t expires_at;

	if (!web_find_subscriber(call, &subscriber, &expires_at, error))
		return false;
	if (!subscriber)
		return true;
	call->page = WEB_PAGE_PREFERENCES;
	view.subscriber = subscriber;
	web_set_language(call, subscriber->language);
	web_add_csrf(call, "preferences");
	add_state(&view, expires_at);
	return show(&view, error);
}
