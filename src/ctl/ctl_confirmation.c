/*
 * ctl_confirmation.c - the commands on what waits for somebody's word.
 */
#include "store/subscriber/confirmations.h"

#include "ctl/ctl.h"
#include "ctl/pages.h"
#include "ctl/print.h"

static json_t *
json_of_row(const void *data)
{
	const struct confirmation *ticket = data;

	return json_pack("{s:I, s:s, s:s, s:s, s:b, s:I, s:I}", "id",
	    (json_int_t)ticket->id, "purpose",
	    confirmation_purpose_name(ticket->purpose), "address", ticket->address,
	    "recipient", ticket->recipient, "is_subscriber", ticket->subscriber_id != 0,
	    "made_at", (json_int_t)ticket->made_at, "expires_at",
	    (json_int_t)ticket->expires_at);
}

static char **
table_row(const void *data)
{
	const struct confirmation *ticket = data;
	g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, ticket->id);
	g_autofree char *made = ctl_format_time(ticket->made_at);
	g_autofree char *expires = ctl_format_time(ticket->expires_at);

	return print_row(id, confirmation_purpose_name(ticket->purpose), made, expires,
	    ticket->subscriber_id ? "subscriber" : "stranger", ticket->recipient, NULL);
}

/* How far the list has come. */
struct tickets {
	struct store *store;
	int64_t now, after;
};

static GPtrArray *
load_page(void *data, GError **error)
{
	struct tickets *tickets = data;
	GPtrArray *rows = confirmations_load_page(
	    tickets->store, tickets->now, tickets->after, PAGES_ROWS, error);

	if (rows && rows->len)
		tickets->after =
		    ((const struct confirmation *)rows->pdata[rows->len - 1])->id;
	return rows;
}

bool
ctl_run_confirmation_list(struct ctl *ctl, int argc, char **argv, GError **error)
{
	struct tickets tickets = {
	    .store = ctl->store, .now = clock_get_now(&ctl->clock)};
	struct pages pages = {
	    .load = load_page,
	    .data = &tickets,
	    .format = table_row,
	    .pack = json_of_row,
	    .when_empty = "Nothing waits for a confirmation.",
	};

	if (!ctl_parse(NULL, 0, &argc, &argv, error))
		return false;
	pages.head =
	    print_row("ID", "PURPOSE", "MADE", "EXPIRES", "WHO", "ASKED", NULL);
	return pages_show(ctl, &pages, error);
}
