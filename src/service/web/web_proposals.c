/*
 * web_proposals.c - proposals on the page: suggestions for filters, and answers.
 */
#include <string.h>

#include "message/sanitize.h"
#include "service/advice/suggest.h"
#include "service/command/command.h"
#include "service/people/filters.h"
#include "service/web/web_private.h"
#include "store/subscriber/proposals.h"
#include "store/subscriber/subscribers.h"

bool
web_offer_suggestions(
    struct web_call *call, const char *text, int64_t subscriber_id, GError **error)
{
	struct store *store = call->handler->store;
	int64_t now = call->handler->options.now;
	int number = (int)web_get_number(call, "number", FILTERS_NUMBER_MAX);
	struct subscription typed = {
	    .subscriber_id = subscriber_id, .text = (char *)text};
	const struct subscription *filter = &typed;
	g_autoptr(GPtrArray) own =
	    subscribers_load_subscriptions(store, subscriber_id, error);
	g_autoptr(GPtrArray) offered = NULL;

	if (!own)
		return false;
	if (number) {
		filter = subscription_find_number(own, number);
		/* One that is being changed gets them once it is saved. */
		if (!filter || strcmp(filter->text, text) != 0)
			return true;
	}
	offered = suggest_offer(store, filter, now, error);
	if (!offered)
		return false;
	call->offered_at = now;
	return true;
}

bool
web_find_answered(
    struct web_call *call, const struct subscriber *subscriber, GError **error)
{
	unsigned number = web_get_number(call, "proposal", G_MAXINT32);
	g_autofree struct proposal *proposal = NULL;

	if (!proposals_find(call->handler->store, subscriber->id, number,
	        call->handler->options.now, &proposal, error))
		return false;
	if (!proposal)
		return true;
	call->offered_at = proposal->made_at;
	if (proposal->state == PROPOSAL_APPLIED)
		call->applied = number;
	return true;
}

/* ---- the list ---- */

/* Whether its filter is as it was when this was proposed. */
static bool
is_valid(const struct proposal *proposal, const GPtrArray *own)
{
	const struct subscription *filter =
	    subscription_find_id(own, proposal->subscription_id);
	g_autofree char *shown = filter ? proposals_format_filter(filter) : NULL;

	return shown ? strcmp(shown, proposal->filter) == 0
	             : proposal->subscription_id == 0;
}

static void
add_proposal(
    struct web_call *call, GVariantBuilder *list, const struct proposal *proposal)
{
	GVariantBuilder *values = web_values_new();
	pb_auto(msg) effect = command_format_effect(proposal);
	g_autofree char *text = reply_text_format_msg(&call->text, effect);
	g_autofree char *shown = sanitize_line(text, 0);

	web_values_add_number(values, "number", proposal->number);
	web_values_add(values, "text", shown);
	web_values_add(values, "query", proposal->command);
	web_values_add_flag(values, "is_applied", proposal->state == PROPOSAL_APPLIED);
	web_list_add(list, values);
}

bool
web_add_proposals(struct web_call *call, const struct subscriber *subscriber,
    const GPtrArray *own, bool is_all, GError **error)
{
	struct store *store = call->handler->store;
	int64_t now = call->handler->options.now;
	g_autoptr(GPtrArray) open =
	    proposals_load_open(store, subscriber->id, 0, now, error);
	g_autofree struct proposal *applied = NULL;
	GVariantBuilder *list;

	if (!open || (call->applied && !proposals_find(store, subscriber->id,
	                                   call->applied, now, &applied, error)))
		return false;
	list = web_list_new();
	if (applied)
		add_proposal(call, list, applied);
	for (unsigned i = 0; i < open->len; i++) {
		const struct proposal *proposal = open->pdata[i];

		if ((is_all || proposal->made_at == call->offered_at) &&
		    is_valid(proposal, own))
			add_proposal(call, list, proposal);
	}
	web_values_take(call->values, "proposals", list);
	return true;
}
