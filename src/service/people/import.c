/*
 * import.c - import subscribers from CSV.
 */
#include "service/people/import.h"

#include <string.h>

#include "base/error.h"
#include "base/zone.h"
#include "service/people/filters.h"
#include "service/people/profile.h"
#include "store/subscriber/audit.h"
#include "store/subscriber/subscribers.h"
#include "store/subscriber/suppression.h"

#define BATCH_PEOPLE 500

enum fate {
	FATE_ADD,
	FATE_RESUBSCRIBE,
	FATE_PRESENT,
	FATE_LEFT,
	FATE_SUPPRESSED,
	FATE_FULL,
	FATE_BLOCKED
};

struct import {
	struct store *store;
	const struct import_request *request;
	const struct subscriber_csv *subscriber_csv;
	struct filters_start start;
};

void
import_report_clear(struct import_report *report)
{
	g_clear_pointer(&report->problems, g_ptr_array_unref);
	g_clear_pointer(&report->ignored, g_free);
}

static bool
is_suppressed(
    struct import *import, const char *address_key, bool *is_found, GError **error)
{
	g_autofree struct suppression *found = NULL;

	if (!suppression_find(
	        import->store, import->request->key, address_key, &found, error))
		return false;
	*is_found = found != NULL;
	return true;
}

/* @param known  set to the subscriber with the address, or NULL */
static bool
decide(struct import *import, const struct subscriber_csv_row *row, enum fate *fate,
    struct subscriber **known, GError **error)
{
	const char *key = row->subscriber->address_key;
	bool is_never;

	if (!is_suppressed(import, key, &is_never, error) ||
	    !subscribers_find(import->store, key, known, error))
		return false;
	if (*known && (*known)->state != SUBSCRIBER_GONE)
		*fate = FATE_PRESENT;
	else if (is_never)
		*fate = FATE_SUPPRESSED;
	else if (!*known)
		*fate = FATE_ADD;
	else
		*fate = import->request->is_resubscribe ? FATE_RESUBSCRIBE : FATE_LEFT;
	return true;
}

/* Set when the first digest is due. */
static void
set_due(const struct import *import, struct subscriber *subscriber)
{
	int64_t now = import->request->source.now;
	g_autoptr(GTimeZone) zone = zone_load_or_utc(subscriber->zone);
	struct schedule_slot slot;

	subscriber->is_first_due = false;
	subscriber->next_due_at = -1;
	if (*subscriber->paused_until)
		subscriber->next_due_at =
		    profile_find_slot(subscriber, zone, subscriber->paused_until);
	if (subscriber->state != SUBSCRIBER_ACTIVE)
		return;
	subscriber->is_first_due = import->request->is_first;
	schedule_get_next(&subscriber->schedule, zone, now, &slot);
	subscriber->next_due_at = import->request->is_first ? now : slot.at;
}

static bool
store_person(struct import *import, const struct subscriber_csv_row *row,
    const struct subscriber *known, GError **error)
{
	const struct import_request *request = import->request;
	struct subscriber *subscriber = row->subscriber;
	int64_t now = request->source.now;
	struct filters_insertion to = {.start = &import->start, .now = now};

	set_due(import, subscriber);
	subscriber->id = known ? known->id : 0;
	if (known ? !subscribers_update(import->store, subscriber, error)
	          : !subscribers_insert(import->store, subscriber, error))
		return false;
	to.subscriber_id = subscriber->id;
	for (unsigned i = 0; i < row->filters->len; i++) {
		const struct subscription *filter = row->filters->pdata[i];
		const struct subscribe_filter wanted = {
		    .text = filter->text,
		    .name = filter->name,
		    .number = filter->number,
		    .max_papers = filter->max_papers,
		    .note = filter->note,
		    .is_block = filter->is_block,
		};
		pb_auto(subscription) made =
		    filters_insert(import->store, &to, &wanted, error);

		if (!made)
			return false;
	}
	return audit_insert(import->store, now, request->who, "subscriber imported",
	    subscriber->id, subscriber->consent_text, error);
}

static void
count(struct import_report *report, enum fate fate)
{
	switch (fate) {
	case FATE_ADD:
		report->added++;
		break;
	case FATE_RESUBSCRIBE:
		report->resubscribed++;
		break;
	case FATE_PRESENT:
		report->present++;
		break;
	case FATE_LEFT:
		report->left++;
		break;
	case FATE_SUPPRESSED:
		report->suppressed++;
		break;
	case FATE_FULL:
		report->full++;
		break;
	case FATE_BLOCKED:
		report->blocked++;
		break;
	}
}

static bool
store_row(struct import *import, const struct subscriber_csv_row *row,
    struct import_report *sums, GError **error)
{
	pb_auto(subscriber) known = NULL;
	enum fate fate;
	bool is_added;

	if (!decide(import, row, &fate, &known, error))
		return false;
	is_added = fate == FATE_ADD || fate == FATE_RESUBSCRIBE;
	if (is_added && row->is_blocked)
		fate = FATE_BLOCKED;
	else if (is_added && sums->added + sums->resubscribed >= import->request->room)
		fate = FATE_FULL;
	count(sums, fate);
	sums->unfiltered +=
	    (fate == FATE_ADD || fate == FATE_RESUBSCRIBE) && !row->filters->len;
	if (import->request->is_dry_run ||
	    (fate != FATE_ADD && fate != FATE_RESUBSCRIBE) ||
	    store_person(import, row, known, error))
		return true;
	g_prefix_error(error, "%s:%u: ", import->request->source.file, row->line);
	return false;
}

/* Rows of one transaction. */
struct batch {
	struct import *import;
	unsigned begin, end;
	struct import_report before, report;
};

static bool
store_batch(struct store *store, void *data, GError **error)
{
	struct batch *batch = data;
	const GPtrArray *rows = batch->import->subscriber_csv->rows;

	(void)store;
	batch->report = batch->before;
	for (unsigned i = batch->begin; i < batch->end; i++)
		if (!store_row(batch->import, rows->pdata[i], &batch->report, error))
			return false;
	return true;
}

static bool
store_rows(struct import *import, struct import_report *report, GError **error)
{
	unsigned count = import->subscriber_csv->rows->len;

	for (unsigned at = 0; at < count; at += BATCH_PEOPLE) {
		struct batch batch = {
		    import, at, MIN(at + BATCH_PEOPLE, count), *report, *report};

		if (!store_transact(import->store, store_batch, &batch, error))
			return false;
		*report = batch.report;
	}
	return true;
}

bool
import_people(struct store *store, const struct import_request *request,
    struct import_report *report, GError **error)
{
	pb_auto(subscriber_csv) subscriber_csv =
	    subscriber_csv_read(&request->source, error);
	struct import import = {store, request, subscriber_csv, {0}};

	if (!subscriber_csv)
		return false;
	report->problems = g_ptr_array_ref(subscriber_csv->problems);
	report->ignored = g_strdup(subscriber_csv->ignored);
	report->bad = subscriber_csv->bad;
	/* Without a valid first line there are no valid lines. */
	if (subscriber_csv->bad && !(request->is_skip_bad && subscriber_csv->rows->len))
		return pb_fail(error, PB_ERROR_INPUT,
		    "%u %s invalid in %s; nothing was stored", subscriber_csv->bad,
		    subscriber_csv->bad == 1 ? "line is" : "lines are",
		    request->source.file);
	return filters_load_start(store, request->source.now, &import.start, error) &&
	       store_rows(&import, report, error);
}
