/*
 * ctl_share.c - the commands share ...
 */
#include <jansson.h>
#include <stdio.h>

#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "service/people/sharing.h"
#include "store/subscriber/shares.h"

static const struct table_column columns[] = {
    TABLE_COLUMN("NAME", "name", TABLE_TEXT, share_listing, name),
    TABLE_COLUMN("OWNER", "owner", TABLE_TEXT, share_listing, address),
    TABLE_COLUMN("FILTER", "filter", TABLE_INT, share_listing, number),
    TABLE_COLUMN("VERSION", "version", TABLE_INT, share_listing, version),
    TABLE_COLUMN("SINCE", "created_at", TABLE_TIME, share_listing, created_at),
    TABLE_COLUMN("QUERY", "query", TABLE_TEXT, share_listing, text),
    {0},
};

static GPtrArray *
load_page(void *store, const void *last, GError **error)
{
	const struct share_listing *before = last;

	return shares_load_page(
	    store, before ? before->name : "", TABLE_PAGE_ROWS, error);
}

bool
ctl_run_share_list(struct ctl *ctl, GError **error)
{
	const struct table table = {
	    columns, "No filter is shared.", load_page, ctl->store};

	return table_print_pages(ctl, &table, error);
}

bool
ctl_run_share_remove(struct ctl *ctl, GError **error)
{
	g_autofree char *question = NULL;

	question = g_strdup_printf("End the sharing of %s", ctl->argv[1]);
	if (!ctl_confirm(ctl, question, error) ||
	    !sharing_remove(
	        ctl->store, ctl->argv[1], ctl->who, clock_get_now(&ctl->clock), error))
		return false;
	if (ctl->is_json)
		print_json(json_pack("{s:s}", "removed", ctl->argv[1]));
	else
		printf("%s is no longer shared\n", ctl->argv[1]);
	return true;
}
