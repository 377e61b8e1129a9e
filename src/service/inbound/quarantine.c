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

/* Changes in one transaction. */
struct changes {
	const struct quarantine_request *request;
	const int64_t *ids;
	unsigned count;
	bool *is_done;
};

static bool
change_named(struct store *store, void *data, GError **error)
{
	const struct changes *changes = data;

	for (unsigned i = 0; i < changes->count; i++)
		if (!change_one(store, changes->request, changes->ids[i],
		        &changes->is_done[i], error))
			return false;
	return true;
}

bool
quarantine_change(struct store *store, const struct quarantine_request *request,
    const int64_t *ids, unsigned count, bool *is_done, GError **error)
{
	struct changes changes = {request, ids, count, is_done};

	return store_transact(store, change_named, &changes, error);
}

/* Changes of a page. */
struct page {
	const struct quarantine_request *request;
	int64_t before; /* lowest id of the page before */
	int64_t last;   /* of this one */
	unsigned count;
};

static bool
change_page(struct store *store, void *data, GError **error)
{
	struct page *page = data;
	g_autoptr(GPtrArray) rows =
	    inbox_load_page(store, "quarantined", page->before, PAGE, error);

	if (!rows)
		return false;
	page->count = rows->len;
	for (unsigned i = 0; i < rows->len; i++) {
		bool is_done;

		page->last = ((const struct inbox_row *)rows->pdata[i])->id;
		if (!change_one(store, page->request, page->last, &is_done, error))
			return false;
	}
	return true;
}

bool
quarantine_change_all(struct store *store, const struct quarantine_request *request,
    unsigned *count, GError **error)
{
	struct page page = {.request = request, .before = INT64_MAX};

	do {
		if (!store_transact(store, change_page, &page, error))
			return false;
		*count += page.count;
		page.before = page.last;
	} while (page.count == PAGE);
	return true;
}
