/*
 * command_shares.c - commands on shared filters: share, follow, fork and their inverse.
 */
#include "service/command/command_private.h"
#include "service/people/filters.h"
#include "service/people/sharing.h"
#include "store/subscriber/shares.h"
#include "store/subscriber/subscribers.h"

static struct sharing_actor
get_actor(const struct request *request)
{
	return (struct sharing_actor){request->store, request->address, request->actor,
	    request->now, request->settings->subscribe_filters};
}

/* Take a word that ends the line. @return NULL with PB_ERROR_INPUT */
static char *
take_last(struct request *request, const char *arguments, GError **error)
{
	g_autofree char *word = command_take_word(&arguments);

	if (*arguments) {
		command_fail(
		    request, error, N_("that is too much for one line. Use several."));
		return NULL;
	}
	return g_steal_pointer(&word);
}

/* ---- share, unshare ---- */

/*
 * Parse "2 as rl-for-robots".
 *
 * @param filter  set to an element of own
 * @return the name; NULL with PB_ERROR_INPUT
 */
static char *
parse_share(struct request *request, const GPtrArray *own, const char *arguments,
    const struct subscription **filter, GError **error)
{
	g_autofree char *reference = command_take_word(&arguments);
	g_autofree char *as = command_take_word(&arguments);

	if (!as || g_ascii_strcasecmp(as, "as") != 0 || !*arguments) {
		command_fail(request, error,
		    N_("give the filter's number and the name: share 2 as "
		       "rl-for-robots"));
		return NULL;
	}
	*filter = command_find_filter(request, own, reference, error);
	return *filter ? take_last(request, arguments, error) : NULL;
}

bool
command_decide_share(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	const struct sharing_actor actor = get_actor(request);
	const struct subscription *filter;
	g_autofree char *name =
	    parse_share(request, request->planned_filters, arguments, &filter, error);
	g_autofree char *reference = name ? command_format_reference(filter) : NULL;

	if (!name || !sharing_check_share(&actor, filter, name, error))
		return false;
	decision->arguments = g_strdup_printf("%s as %s", reference, name);
	return true;
}

bool
command_run_share(struct request *request, const char *arguments, GError **error)
{
	const struct sharing_actor actor = get_actor(request);
	g_autoptr(GPtrArray) own = subscribers_load_subscriptions(
	    request->store, request->subscriber->id, error);
	const struct subscription *filter;
	g_autofree char *wanted =
	    own ? parse_share(request, own, arguments, &filter, error) : NULL;
	g_autofree char *name = NULL;

	if (!wanted || !sharing_share(&actor, filter->number, wanted, &name, error))
		return false;
	reply_phrase(&request->text, "ok",
	    N_("filter {number} is shared as \"{name}\". To follow it, others write: "
	       "follow {name}\n"
	       "They do not see your address, and you do not see who they are. Your "
	       "edits of the filter are proposed to them. \"unshare {name}\" ends it."),
	    "number", MSG_INT(filter->number), "name", name);
	return true;
}

bool
command_decide_unshare(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	g_autofree char *name = take_last(request, arguments, error);

	(void)decision;
	return name != NULL;
}

bool
command_run_unshare(struct request *request, const char *arguments, GError **error)
{
	const struct sharing_actor actor = get_actor(request);
	g_autofree char *name = take_last(request, arguments, error);
	g_autofree char *shown = name ? reply_text_quote(&request->text, name) : NULL;
	int number;

	if (!name || !sharing_unshare(&actor, name, &number, error))
		return false;
	reply_phrase(&request->text, "ok",
	    N_("filter {number} is no longer shared as \"{name}\", and stays yours. "
	       "Others who followed it keep it as it is now."),
	    "number", MSG_INT(number), "name", shown);
	return true;
}

/* ---- follow, unfollow, fork ---- */

/* Parse "rl-for-robots version=3". @param version  set; 0: the newest */
static char *
parse_name(
    struct request *request, const char *arguments, unsigned *version, GError **error)
{
	g_autofree char *name = command_take_word(&arguments);
	g_autofree char *text = command_take_option(&arguments, "version");

	*version = 0;
	if (*arguments) {
		command_fail(
		    request, error, N_("that is too much for one line. Use several."));
		return NULL;
	}
	return text && !command_parse_number(
	                   request, "version", text, G_MAXINT16, version, error)
	           ? NULL
	           : g_steal_pointer(&name);
}

/* A new filter counts towards the limits, like one that is added. */
static bool
plan_filter(struct request *request, const struct sharing_offer *offer,
    struct command_decision *decision, GError **error)
{
	const struct subscribe_filter filter = {
	    .text = offer->text, .most = request->settings->subscribe_filters};
	struct subscription *added = filters_prepare(
	    request->store, request->planned_filters, &filter, NULL, error);

	if (!added)
		return false;
	decision->filter = g_strdup(added->canonical);
	g_ptr_array_add(request->planned_filters, added);
	return true;
}

/* The version is fixed: that which the confirmation shows. */
static bool
decide_name(struct request *request, const char *arguments,
    struct command_decision *decision, bool is_fork, GError **error)
{
	const struct sharing_actor actor = get_actor(request);
	pb_local(sharing_offer) offer = {0};
	unsigned version;
	g_autofree char *name = parse_name(request, arguments, &version, error);

	if (!name || !sharing_find(&actor, name, (int)version, &offer, error) ||
	    (!offer.follow && !plan_filter(request, &offer, decision, error)))
		return false;
	if (offer.follow && !is_fork)
		decision->filter = g_strdup(offer.text);
	decision->arguments =
	    g_strdup_printf("%s version=%d", offer.share->name, offer.version);
	return true;
}

bool
command_decide_follow(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	return decide_name(request, arguments, decision, false, error);
}

bool
command_decide_fork(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	return decide_name(request, arguments, decision, true, error);
}

/* Which version a filter has. */
static bool
add_version(struct request *request, const struct subscription *filter, GError **error)
{
	g_autoptr(GPtrArray) follows =
	    shares_load_follows(request->store, filter->subscriber_id, error);

	for (unsigned i = 0; follows && i < follows->len; i++) {
		const struct follow *one = follows->pdata[i];

		if (one->subscription_id == filter->id && one->name)
			reply_phrase(&request->text, "",
			    one->is_fork ? N_("   your own now, from \"{name}\", "
			                      "version {version}")
			                 : N_("   follows \"{name}\", version "
			                      "{version}. Its changes are proposed to "
			                      "you; nothing changes unless you agree."),
			    "name", one->name, "version", MSG_INT(one->version));
	}
	return follows != NULL;
}

bool
command_run_follow(struct request *request, const char *arguments, GError **error)
{
	const struct sharing_actor actor = get_actor(request);
	unsigned version;
	g_autofree char *name = parse_name(request, arguments, &version, error);
	pb_auto(subscription) before = NULL;
	pb_auto(subscription) filter =
	    name ? sharing_follow(&actor, name, (int)version, &before, error) : NULL;

	if (!filter)
		return false;
	request->reply.is_changed = true;
	if (before)
		return command_add_edited(
		           request, before, filter, filter->text, error) &&
		       add_version(request, filter, error);
	command_add_filter(request, "ok", filter);
	return add_version(request, filter, error) &&
	       command_add_backtest(
	           request, filter->text, filter->number, false, 0, error);
}

bool
command_run_fork(struct request *request, const char *arguments, GError **error)
{
	const struct sharing_actor actor = get_actor(request);
	unsigned version;
	g_autofree char *name = parse_name(request, arguments, &version, error);
	pb_auto(subscription) filter =
	    name ? sharing_fork(&actor, name, (int)version, error) : NULL;

	if (!filter)
		return false;
	request->reply.is_changed = true;
	command_add_filter(request, "ok", filter);
	return add_version(request, filter, error);
}

bool
command_decide_unfollow(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	return command_decide_unshare(request, arguments, decision, error);
}

bool
command_run_unfollow(struct request *request, const char *arguments, GError **error)
{
	const struct sharing_actor actor = get_actor(request);
	g_autofree char *name = take_last(request, arguments, error);
	pb_auto(subscription) filter =
	    name ? sharing_unfollow(&actor, name, error) : NULL;
	g_autofree char *line = NULL;

	if (!filter)
		return false;
	reply_phrase(&request->text, "ok", N_("filter {number} is removed."), "number",
	    MSG_INT(filter->number));
	if (!request->text.results)
		reply_phrase(
		    &request->text, "", N_("To keep a copy of your own, send:"));
	line = command_format_filter(filter, false);
	reply_text_add_command(&request->text, line);
	return true;
}
