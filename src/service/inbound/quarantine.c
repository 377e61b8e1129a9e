/*
 * quarantine.c - retry or drop messages that could not be processed.
 */
#include "service/inbound/quarantine.h"

#include <string.h>

#include "store/core/audit.h"
#include "store/mail/inbox.h"

#define PAGE 100

static bool
change_one(struct store *store, const struct quarantine_request *request, int64_t id,
    bool *is_done, GError **error)
{
	g_autofree struct inbox_row *row = inbox_load(store, id, NULL, error);
	g_autofree char *detail = g_strdup_printf("inbox %" G_GINT64_FORMAT, id);
	const char *what = NULL;

	if (!row)
		return false;
	*is_done = strcmp(row->state, "done") == 0;
	if (*is_done)
		return true;
	switch (request->action) {
	case QUARANTINE_RETRY:
		what = "message retried";
		if (!inbox_retry_at(store, id, request->now, error))
			return false;
		break;
	case QUARANTINE_DROP:
		what = "message dropped";
		if (!inbox_mark_done(store, id, "dropped", request->now, error))
			return false;
		break;
	}
	return audit_insert(store, request->now, request->who, what, 0, detail, error);
}

bool
quarantine_change(struct store *store, const struct quarantine_request *request,
    const int64_t *ids, unsigned count, bool *is_done, GError **error)
{
	pb_transaction transaction = {0};

	if (!store_begin(store, &transaction, error))
		return false;
	for (unsigned i = 0; i < count; i++)
		if (!change_one(store, request, ids[i], &is_done[i], error))
			return false;
	return store_commit(&transaction, error);
}

/* @param before  lowest id of the previous page; updated */
static bool
change_page(struct store *store, const struct quarantine_request *request,
    int64_t *before, unsigned *count, GError **error)
{
	pb_transaction transaction = {0};
	g_autoptr(GPtrArray) rows = NULL;

	if (!store_begin(store, &transaction, error))
		return false;
	rows = inbox_load_page(store, "quarantined", *before, PAGE, error);
	if (!rows)
		return false;
	for (unsigned i = 0; i < rows->len; i++) {
		const struct inbox_row *row = rows->pdata[i];
		bool is_done;

		if (!change_one(store, request, row->id, &is_done, error))
			return false;
		*before = row->id;
	}
	if (!store_commit(&transaction, error))
		return false;
	*count = rows->len;
	return true;
}

bool
quarantine_change_all(struct store *store, const struct quarantine_request *request,
    unsigned *count, GError **error)
{
	int64_t before = INT64_MAX;
	unsigned part;

	do {
		if (!change_page(store, request, &before, &part, error))
			return false;
		*count += part;
	} while (part == PAGE);
	return true;
}
