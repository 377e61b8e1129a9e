/*
 * command_proposals.c - proposed commands: apply, refuse and undo them.
 */
#include <string.h>

#include "base/bounds.h"
#include "service/command/command_private.h"
#include "service/people/filters.h"
#include "store/subscriber/audit.h"
#include "store/subscriber/proposals.h"
#include "store/subscriber/shares.h"
#include "store/subscriber/subscribers.h"

/* ---- numbers ---- */

/* Whether arguments are numbers, such as "2", "1, 3" or "1 and 3"; also if empty. */
bool
command_is_numbers(const char *arguments)
{
	return strspn(arguments, "0123456789 ,.#") == strlen(arguments);
}

static void
add_number(GArray *numbers, unsigned number)
{
	for (guint i = 0; i < numbers->len; i++)
		if (g_array_index(numbers, unsigned, i) == number)
			return;
	g_array_append_val(numbers, number);
}

/* Whether a mail could show a proposal to the subscriber. */
static bool
was_shown(const struct proposal *proposal)
{
	return *proposal->shown_in;
}

bool
command_has_open_proposal(struct request *request, bool *has, GError **error)
{
	g_autoptr(GPtrArray) open = NULL;

	*has = false;
	if (!request->subscriber)
		return true;
	open = proposals_load_open(
	    request->store, request->subscriber->id, 0, request->now, error);
	for (unsigned i = 0; open && i < open->len; i++)
		*has = *has || was_shown(open->pdata[i]);
	return open != NULL;
}

void
command_add_nothing_waits(struct request *request)
{
	reply_text_add_paragraph(&request->text,
	    request->subscriber
	        ? N_("Nothing waits for a yes or no from you, so nothing was done. "
	             "Write what you want, such as \"add robots\", \"once a week\" or "
	             "\"unsubscribe\"; \"list\" shows what you have.")
	        : N_("Nothing waits for a yes or no from this address; a request that "
	             "was not confirmed in time has ended. To get new research papers "
	             "by mail, write \"subscribe\" and what they are to be about."));
}

/*
 * Which proposals an answer without numbers means: those of the message that it
 * answers, or else of the last one that was sent, if it shows any.
 *
 * @param message  set: as proposal.shown_in; NULL: none
 */
static bool
find_message(struct request *request, const GPtrArray *open, char **message,
    const struct proposal **newest, GError **error)
{
	bool is_last;

	*newest = NULL;
	for (unsigned i = 0; i < open->len; i++) {
		const struct proposal *proposal = open->pdata[i];

		if (was_shown(proposal) &&
		    (!*newest || proposal->made_at > (*newest)->made_at))
			*newest = proposal;
	}
	g_assert(*newest);
	if (!request_find_answered(request, message, error))
		return false;
	if (*message)
		return true;
	if (!proposals_is_last_mail(request->store, request->subscriber->id,
	        (*newest)->made_at, &is_last, error))
		return false;
	if (is_last)
		*message = g_strdup((*newest)->shown_in);
	return true;
}

/*
 * Without numbers: the proposals of the message that is answered.
 *
 * @param is_one  they must be one
 */
static bool
add_shown(struct request *request, bool is_one, GArray *numbers, GError **error)
{
	g_autoptr(GPtrArray) open = proposals_load_open(
	    request->store, request->subscriber->id, 0, request->now, error);
	g_autoptr(GString) list = g_string_new(NULL);
	const struct proposal *newest;
	g_autofree char *message = NULL;

	if (!open || !find_message(request, open, &message, &newest, error))
		return false;
	for (unsigned i = 0; i < open->len; i++) {
		const struct proposal *proposal = open->pdata[i];

		if (g_strcmp0(proposal->shown_in, message) == 0)
			add_number(numbers, proposal->number);
		if (strcmp(proposal->shown_in, newest->shown_in) == 0)
			g_string_append_printf(list, "%s%s %u", list->len ? ", " : "",
			    is_one ? "yes" : "no", proposal->number);
	}
	if (!numbers->len || (is_one && numbers->len > 1))
		return command_fail(request, error,
		    N_("which of them? Reply with one of: {choices}"), "choices",
		    list->str);
	return true;
}

/* @return of unsigned; NULL with an error for the user */
static GArray *
parse_numbers(
    struct request *request, const char *arguments, bool is_one, GError **error)
{
	g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(unsigned));
	g_auto(GStrv) words = g_strsplit_set(arguments, " ,.#", -1);

	for (char **word = words; *word; word++) {
		unsigned number;

		if (!**word)
			continue;
		if (!command_parse_number(
		        request, "N", *word, G_MAXINT32, &number, error))
			return NULL;
		add_number(numbers, number);
	}
	if (numbers->len > BOUNDS_COMMANDS) {
		command_fail(
		    request, error, N_("that is too much for one line. Use several."));
		return NULL;
	}
	if (!numbers->len && !add_shown(request, is_one, numbers, error))
		return NULL;
	return g_steal_pointer(&numbers);
}

static struct proposal *
find_number(struct request *request, unsigned number, GError **error)
{
	struct proposal *proposal;

	if (!proposals_find(request->store, request->subscriber->id, number,
	        request->now, &proposal, error))
		return NULL;
	/* Pages have a button; in a mail nobody can know the number of one that was not
	 * shown. */
	if (proposal && request->mail && proposal->state == PROPOSAL_OPEN &&
	    !was_shown(proposal))
		g_clear_pointer(&proposal, g_free);
	if (!proposal)
		command_fail(request, error,
		    N_("there is no suggestion {number}, or it is too old."), "number",
		    MSG_INT(number));
	return proposal;
}

/* ---- states ---- */

/*
 * Whether the filter still follows the share that has changed: its name may be that of
 * another person's share now.
 */
static bool
check_follow(struct request *request, const struct proposal *proposal, GError **error)
{
	g_autoptr(GPtrArray) follows = NULL;

	if (!g_str_has_prefix(proposal->command, "follow "))
		return true;
	follows = shares_load_follows(request->store, proposal->subscriber_id, error);
	for (unsigned i = 0; follows && i < follows->len; i++) {
		const struct follow *one = follows->pdata[i];

		if (one->subscription_id == proposal->subscription_id && one->name)
			return true;
	}
	return follows && command_fail(request, error,
	                      N_("nothing was done: the filter that it is from is no "
	                         "longer shared, or you do not follow it any more."));
}

static bool
check_filter(struct request *request, const struct proposal *proposal, GError **error)
{
	g_autoptr(GPtrArray) own = subscribers_load_subscriptions(
	    request->store, request->subscriber->id, error);
	const struct subscription *filter =
	    own ? subscription_find_id(own, proposal->subscription_id) : NULL;
	g_autofree char *shown = filter ? proposals_format_filter(filter) : NULL;

	if (!own)
		return false;
	if (proposal->subscription_id && g_strcmp0(shown, proposal->filter) != 0)
		return command_fail(request, error,
		    N_("nothing was done: the filter was changed or removed after this "
		       "was suggested. To do it all the same, send: {command}"),
		    "command", proposal->command);
	return check_follow(request, proposal, error);
}

static bool
check_open(struct request *request, const struct proposal *proposal, GError **error)
{
	switch (proposal->state) {
	case PROPOSAL_OPEN:
	case PROPOSAL_UNDONE:
	case PROPOSAL_REFUSED: /* on second thoughts */
		break;
	case PROPOSAL_APPLIED:
		return command_fail(request, error,
		    N_("suggestion {number} is applied already. To undo it: undo "
		       "{number}"),
		    "number", MSG_INT(proposal->number));
	}
	return proposal->expires_at > request->now
	           ? check_filter(request, proposal, error)
	           : command_fail(request, error,
	                 N_("this suggestion is older than 30 days, so nothing was "
	                    "done. To do it all the same, send: {command}"),
	                 "command", proposal->command);
}

static bool
audit(struct request *request, const struct proposal *proposal, const char *what,
    GError **error)
{
	return audit_insert(request->store, request->now, request->actor, what,
	    proposal->subscriber_id, proposal->command, error);
}

/* ---- apply ---- */

/* Apply a proposal, unless it has ended or its filter has changed since, and say how to
 * undo it. */
static bool
apply_proposal(struct request *request, const struct proposal *proposal, GError **error)
{
	struct store *store = request->store;
	g_autofree char *before = command_format_preferences(request->subscriber);
	g_autofree char *after = NULL;
	g_autofree char *shown = NULL;
	bool is_ok;

	if (!check_open(request, proposal, error) ||
	    !proposals_save_state(
	        store, proposal->id, PROPOSAL_APPLIED, request->now, error) ||
	    !proposals_save_before(store, proposal, error))
		return false;
	shown = reply_text_quote(&request->text, proposal->command);
	reply_phrase(&request->text, "ok", N_("{command}"), "command", shown);
	request->is_applying = true;
	is_ok = request->run_line(request, proposal->command, error);
	request->is_applying = false;
	if (!is_ok || !request_reload(request, error))
		return false;
	after = command_format_preferences(request->subscriber);
	if (!proposals_save_after(
	        store, proposal, strcmp(before, after) == 0 ? "" : before, error) ||
	    !audit(request, proposal, "proposal applied", error))
		return false;
	/* Pages have a button. */
	if (!request->text.results)
		reply_phrase(&request->text, "", N_("To undo it, reply: undo {number}"),
		    "number", MSG_INT(proposal->number));
	return true;
}

/* ---- commands ---- */

/* Fix the numbers, which may be left out. */
static bool
decide(struct request *request, const char *arguments, bool is_one,
    struct command_decision *decision, GError **error)
{
	g_autoptr(GArray) numbers = NULL;
	GString *text;

	numbers = parse_numbers(request, arguments, is_one, error);
	if (!numbers)
		return false;
	text = g_string_new(NULL);
	for (guint i = 0; i < numbers->len; i++)
		g_string_append_printf(
		    text, "%s%u", i ? " " : "", g_array_index(numbers, unsigned, i));
	decision->arguments = g_string_free(text, FALSE);
	return true;
}

bool
command_decide_yes(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	return decide(request, arguments, true, decision, error);
}

bool
command_decide_no(struct request *request, const char *arguments,
    struct command_decision *decision, GError **error)
{
	return decide(request, arguments, false, decision, error);
}

/* @param each  applied to the proposal of each number */
static bool
run_each(struct request *request, const char *arguments, bool is_one,
    bool (*each)(
        struct request *request, const struct proposal *proposal, GError **error),
    GError **error)
{
	g_autoptr(GArray) numbers = parse_numbers(request, arguments, is_one, error);

	for (guint i = 0; numbers && i < numbers->len; i++) {
		g_autofree struct proposal *proposal =
		    find_number(request, g_array_index(numbers, unsigned, i), error);

		if (!proposal || !each(request, proposal, error))
			return false;
	}
	return numbers != NULL;
}

bool
command_run_yes(struct request *request, const char *arguments, GError **error)
{
	return run_each(request, arguments, true, apply_proposal, error);
}

static bool
refuse(struct request *request, const struct proposal *proposal, GError **error)
{
	g_autofree char *term = NULL;

	if (proposal->state == PROPOSAL_APPLIED)
		return command_fail(request, error,
		    N_("suggestion {number} is applied already. To undo it: undo "
		       "{number}"),
		    "number", MSG_INT(proposal->number));
	if (!proposals_save_state(
	        request->store, proposal->id, PROPOSAL_REFUSED, request->now, error) ||
	    !audit(request, proposal, "proposal refused", error))
		return false;
	term = reply_text_quote(&request->text, proposal->term);
	reply_phrase(&request->text, "ok",
	    N_("this will not be suggested again: {term}"), "term", term);
	return true;
}

bool
command_run_no(struct request *request, const char *arguments, GError **error)
{
	return run_each(request, arguments, false, refuse, error);
}

static bool
run_settings(struct request *request, const char *settings, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(settings, "\n", -1);

	for (char **line = lines; *line; line++)
		if (**line && !request->run_line(request, *line, error))
			return false;
	return true;
}

static bool
undo(struct request *request, const struct proposal *proposal, GError **error)
{
	g_autofree char *shown = NULL, *settings = NULL;
	struct filters_start start;
	bool can;

	if (proposal->state != PROPOSAL_APPLIED)
		return command_fail(request, error,
		    N_("suggestion {number} is not applied, so there is nothing to "
		       "undo."),
		    "number", MSG_INT(proposal->number));
	if (!proposals_can_undo(request->store, proposal, &can, error))
		return false;
	if (!can)
		return command_fail(request, error,
		    N_("suggestion {number} cannot be undone: the filter was changed "
		       "again since. Nothing was done. \"list\" shows your filters."),
		    "number", MSG_INT(proposal->number));
	if (!filters_load_start(request->store, request->now, &start, error) ||
	    !proposals_restore(request->store, proposal, start.matched_revision,
	        request->now, &settings, error) ||
	    !proposals_save_state(
	        request->store, proposal->id, PROPOSAL_UNDONE, request->now, error) ||
	    !audit(request, proposal, "proposal undone", error))
		return false;
	shown = reply_text_quote(&request->text, proposal->command);
	reply_phrase(&request->text, "ok",
	    N_("undone, and all is as before: {command}"), "command", shown);
	request->reply.is_changed = true;
	return run_settings(request, settings, error) &&
	       command_add_changed_filter(request, proposal->subscription_id, error);
}

bool
command_run_undo_number(struct request *request, const char *arguments, GError **error)
{
	return run_each(request, arguments, true, undo, error);
}
