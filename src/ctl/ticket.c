/*
 * ticket.c - the commands on what waits for somebody's word.
 */
#include "store/tickets.h"

#include <stdio.h>

#include "ctl/ctl.h"
#include "ctl/print.h"

#define PAGE 500

static json_t *
json_of_ticket(const struct ticket *ticket)
{
	return json_pack("{s:I, s:s, s:s, s:s, s:b, s:I, s:I}", "id",
	    (json_int_t)ticket->id, "purpose", ticket_purpose_name(ticket->purpose),
	    "address", ticket->address, "recipient", ticket->recipient, "is_subscriber",
	    ticket->subscriber_id != 0, "made_at", (json_int_t)ticket->made_at,
	    "expires_at", (json_int_t)ticket->expires_at);
}

static char **
table_row(const struct ticket *ticket)
{
	g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, ticket->id);
	g_autofree char *made = ctl_format_time(ticket->made_at);
	g_autofree char *expires = ctl_format_time(ticket->expires_at);

	return print_row(id, ticket_purpose_name(ticket->purpose), made, expires,
	    ticket->subscriber_id ? "subscriber" : "stranger", ticket->recipient, NULL);
}

bool
ctl_run_ticket_list(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autoptr(GPtrArray) rows =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
	int64_t now = clock_get_now(&ctl->clock), after = 0;
	json_t *list;

	if (!ctl_parse(NULL, 0, &argc, &argv, error))
		return false;
	list = json_array();
	g_ptr_array_add(
	    rows, print_row("ID", "PURPOSE", "MADE", "EXPIRES", "WHO", "ASKED", NULL));
	for (;;) {
		g_autoptr(GPtrArray) page =
		    tickets_load_page(ctl->store, now, after, PAGE, error);

		if (!page || !page->len) {
			if (page)
				break;
			json_decref(list);
			return false;
		}
		for (unsigned i = 0; i < page->len; i++) {
			const struct ticket *ticket = page->pdata[i];

			after = ticket->id;
			g_ptr_array_add(rows, table_row(ticket));
			json_array_append_new(list, json_of_ticket(ticket));
		}
	}
	if (ctl->is_json)
		print_json(json_incref(list));
	else if (rows->len > 1)
		print_table(rows);
	else
		puts("Nothing waits for a confirmation.");
	json_decref(list);
	return true;
}
