/*
 * ctl_work.c - the commands work show, join and split.
 */
#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/table.h"
#include "service/advice/why.h"
#include "store/paper/works.h"

static const struct table_column columns[] = {
    TABLE_COLUMN("ID", "id", TABLE_TEXT, work_record, id),
    TABLE_COLUMN("LISTED", "listed", TABLE_CHARS, work_record, day),
    TABLE_COLUMN("JOURNAL", "journal", TABLE_TEXT, work_record, journal),
    TABLE_COLUMN("TITLE", "title", TABLE_TEXT, work_record, title),
    {0},
};

/* Load a paper by what an operator typed. */
static struct stored_paper *
load_paper(struct ctl *ctl, int argument, GError **error)
{
	g_autofree char *id = why_clean_id(ctl->argv[argument]);

	return papers_load_id(ctl->store, id, error);
}

bool
ctl_run_work_show(struct ctl *ctl, GError **error)
{
	const struct table table = {
	    .columns = columns, .empty_text = "The paper has no other records."};
	pb_auto(stored_paper) stored = load_paper(ctl, 1, error);
	g_autoptr(GPtrArray) records =
	    stored ? works_load_records(ctl->store, stored->work, error) : NULL;

	if (records)
		table_print(ctl, &table, records);
	return records != NULL;
}

/* Two papers to join. */
struct pair {
	int64_t one, other;
};

static bool
join(struct store *store, void *data, GError **error)
{
	const struct pair *pair = data;

	return works_join(store, pair->one, pair->other, error);
}

bool
ctl_run_work_join(struct ctl *ctl, GError **error)
{
	pb_auto(stored_paper) one = load_paper(ctl, 1, error);
	pb_auto(stored_paper) other = one ? load_paper(ctl, 2, error) : NULL;

	return other &&
	       store_transact(
	           ctl->store, join, &(struct pair){one->seq, other->seq}, error) &&
	       ctl_run_work_show(ctl, error);
}

static bool
split(struct store *store, void *data, GError **error)
{
	return works_split(store, *(const int64_t *)data, error);
}

bool
ctl_run_work_split(struct ctl *ctl, GError **error)
{
	pb_auto(stored_paper) stored = load_paper(ctl, 1, error);

	if (!stored)
		return false;
	if (!stored->work)
		return pb_fail(error, PB_ERROR_INPUT, "the paper has no other records");
	return store_transact(ctl->store, split, &stored->seq, error);
}
