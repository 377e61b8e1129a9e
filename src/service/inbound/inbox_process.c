/*
 * inbox_process.c - store inbound messages, and process them in order.
 */
#include <string.h>

#include "service/inbound/inbox_process.h"

#include "base/bounds.h"
#include "base/error.h"
#include "base/file.h"
#include "message/dedup_key.h"
#include "service/inbound/check_mail.h"
#include "service/log/event.h"
#include "store/mail/inbox.h"
#include "store/mail/skipped.h"
#include "store/subscriber/audit.h"

#define BATCH 100 /* messages loaded at a time */

static bool
has_room(const struct inbox_process_rules *rules, GError **error)
{
	int64_t free_bytes = file_get_free_bytes(rules->state_dir);

	/* Accept mail if the free space is unknown. */
	if (free_bytes < 0 || free_bytes >= rules->min_free_bytes)
		return true;
	return pb_fail(error, PB_ERROR_TEMPORARY,
	    "the disk of the state directory is nearly full");
}

/* Any failure of the store defers the message. */
static bool
insert(struct store *store, const struct inbox_new *row, int64_t now, bool *is_stored,
    GError **error)
{
	g_autoptr(GError) problem = NULL;

	if (inbox_insert(store, row, now, is_stored, &problem))
		return true;
	return pb_fail(error, PB_ERROR_TEMPORARY, "%s", problem->message);
}

/* A header received alone differs from a message without a body. */
static char *
format_key(const struct receive_mail *mail)
{
	g_autofree char *key = dedup_key_format(mail->raw, mail->size);
	g_autofree char *text = NULL;

	if (!mail->full_size)
		return g_steal_pointer(&key);
	text = g_strdup_printf("%s header of %zu", key, mail->full_size);
	return g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
}

static bool
save(struct store *store, const struct inbox_process_rules *rules, const char *receiver,
    const struct receive_mail *mail, int64_t now, bool *is_stored, GError **error)
{
	g_autofree char *key = format_key(mail), *recipient = NULL;
	struct inbox_new row = {
	    .key = key,
	    .receiver = receiver,
	    .sender = mail->sender,
	    .recipient = mail->recipient,
	    .raw = mail->raw,
	    .size = mail->size,
	    .full_size = mail->full_size,
	};

	if (!row.recipient && rules->recipient_header && *rules->recipient_header) {
		recipient = dedup_key_find_address(
		    mail->raw, mail->size, rules->recipient_header);
		row.recipient = recipient;
	}
	return insert(store, &row, now, is_stored, error);
}

bool
inbox_process_store(struct store *store, const struct inbox_process_rules *rules,
    const char *receiver, const struct receive_mail *mail, int64_t now, bool *is_stored,
    GError **error)
{
	if (mail->size > BOUNDS_MAIL_BYTES)
		return pb_fail(error, PB_ERROR_LIMIT,
		    "the message has more than %d bytes", BOUNDS_MAIL_BYTES);
	return has_room(rules, error) &&
	       save(store, rules, receiver, mail, now, is_stored, error);
}

/* Arguments of inbox_process_skip(). */
struct skipping {
	const struct inbox_process_rules *rules;
	const char *receiver, *name;
	const struct receive_mail *head;
	const char *reason;
	int64_t now;
	bool is_new, is_stored; /* set */
};

static bool
record_skipped(struct store *store, void *data, GError **error)
{
	struct skipping *skipping = data;

	skipping->is_stored = false;
	return skipped_insert(store, skipping->receiver, skipping->name,
	           skipping->reason, skipping->now, &skipping->is_new, error) &&
	       (!skipping->is_new || !skipping->head ||
	           save(store, skipping->rules, skipping->receiver, skipping->head,
	               skipping->now, &skipping->is_stored, error));
}

bool
inbox_process_skip(struct store *store, const struct inbox_process_rules *rules,
    const char *receiver, const char *name, const struct receive_mail *head,
    const char *reason, int64_t now, bool *is_new, bool *is_stored, GError **error)
{
	g_autoptr(GError) problem = NULL;
	struct skipping skipping = {.rules = rules,
	    .receiver = receiver,
	    .name = name,
	    .head = head,
	    .reason = reason,
	    .now = now};

	if (!has_room(rules, error))
		return false;
	if (!store_transact(store, record_skipped, &skipping, &problem))
		return pb_fail(error, PB_ERROR_TEMPORARY, "%s", problem->message);
	*is_new = skipping.is_new;
	*is_stored = skipping.is_stored;
	return true;
}

bool
inbox_process_noop_handler(void *data, struct store *store, const struct inmail *mail,
    const struct receive_mail *envelope, char **verdict, GError **error)
{
	(void)data;
	(void)store;
	(void)mail;
	(void)envelope;
	(void)error;
	*verdict = g_strdup("no handler");
	return true;
}

struct run {
	struct store *store;
	const struct inbox_process_options *options;
	int64_t now;
	int64_t ends_at; /* of the monotonic clock, us; or INT64_MAX */
	struct inbox_process_report *report;
	unsigned started;
};

static bool
is_ending(const struct run *run)
{
	const struct inbox_process_options *options = run->options;

	return (options->limit && run->started >= options->limit) ||
	       g_get_monotonic_time() >= run->ends_at ||
	       (options->stop && g_atomic_int_get(options->stop));
}

/* @param is_ended  set on success: do not try again in this run */
static bool
save_failure(struct run *run, const struct inbox_row *row, bool waits,
    const GError *problem, bool *is_ended, GError **error)
{
	unsigned tries = row->tries + 1;
	int64_t wait_s = waits ? INBOX_PROCESS_WAIT_S * (int64_t)tries * tries : 0;

	run->report->failed++;
	if (tries >= INBOX_PROCESS_TRIES) {
		if (!inbox_save_quarantined(
		        run->store, row->id, problem->message, run->now, error))
			return false;
		event_log(EVENT_INBOX_QUARANTINED, EVENT_INT("inbox", row->id),
		    EVENT_INT("attempts", tries), EVENT_TEXT(problem->message));
		run->report->quarantined++;
		*is_ended = true;
		return true;
	}
	if (!inbox_save_failure(
	        run->store, row->id, problem->message, run->now + wait_s, error))
		return false;
	event_log(EVENT_INBOX_FAILED, EVENT_INT("inbox", row->id),
	    EVENT_INT("attempt", tries), EVENT_SECONDS("next_in", wait_s),
	    EVENT_TEXT(problem->message));
	*is_ended = waits;
	return true;
}

/* A message that is being handled. */
struct handling {
	const struct run *run;
	const struct inmail *mail;
	const struct receive_mail *envelope;
	bool is_handled; /* not dropped in the meantime */
	char *verdict;   /* or NULL */
};

static void
handling_clear(struct handling *handling)
{
	g_clear_pointer(&handling->verdict, g_free);
}

/* Effects, reply and "done" in one commit. */
static bool
handle_in_transaction(struct store *store, void *data, GError **error)
{
	struct handling *handling = data;
	const struct run *run = handling->run;
	int64_t id = handling->envelope->id;
	g_autofree struct inbox_row *still = inbox_load(store, id, NULL, error);

	handling_clear(handling);
	if (!still)
		return false;
	/* An operator may have dropped it. */
	handling->is_handled = g_strcmp0(still->state, "new") == 0;
	if (!handling->is_handled)
		return true;
	return run->options->handle(run->options->data, store, handling->mail,
	           handling->envelope, &handling->verdict, error) &&
	       inbox_mark_done(store, id, handling->verdict, run->now, error);
}

static bool
handle(struct run *run, const struct inbox_row *row, GBytes *raw,
    const struct inmail *mail, GError **error)
{
	const struct receive_mail envelope = {
	    .id = row->id,
	    .raw = g_bytes_get_data(raw, NULL),
	    .size = g_bytes_get_size(raw),
	    .full_size = row->size > BOUNDS_MAIL_BYTES ? (size_t)row->size : 0,
	    /* A receiver without an envelope has the topmost Return-Path. */
	    .sender = row->sender ? row->sender : mail->return_path,
	    .recipient = row->recipient,
	};
	pb_local(handling) handling = {.run = run, .mail = mail, .envelope = &envelope};

	if (!store_transact(run->store, handle_in_transaction, &handling, error))
		return false;
	if (!handling.is_handled)
		return true;
	run->report->handled++;
	/* The verdict of a check mail has its token. */
	event_log(EVENT_INBOX_HANDLED, EVENT_INT("inbox", row->id),
	    EVENT_WORD("receiver", row->receiver),
	    EVENT_WORD("filtered", mail->is_filtered ? "yes" : "no"),
	    EVENT_TEXT(
	        handling.verdict && g_str_has_prefix(handling.verdict, CHECK_MAIL_WORD)
	            ? "check"
	            : handling.verdict));
	return true;
}

/* Undo count_start(): the message is not the cause.  May fail. */
static void
uncount_start(struct run *run, const struct inbox_row *row)
{
	if (row->id <= run->options->backlog_id)
		inbox_mark_started(run->store, row->id, row->started, NULL);
}

/* @param is_ended  set on success: it has crashed too often */
static bool
count_start(
    struct run *run, const struct inbox_row *row, bool *is_ended, GError **error)
{
	static const char verdict[] = "crashed while processing it";

	*is_ended = false;
	if (row->id > run->options->backlog_id)
		return true;
	/* The first crash was not counted. */
	if (row->started + 1 < INBOX_PROCESS_CRASHES)
		return inbox_mark_started(run->store, row->id, row->started + 1, error);
	if (!inbox_save_quarantined(run->store, row->id, verdict, run->now, error))
		return false;
	event_log(EVENT_INBOX_QUARANTINED, EVENT_INT("inbox", row->id),
	    EVENT_INT("attempts", row->started + 1), EVENT_TEXT(verdict));
	run->report->quarantined++;
	*is_ended = true;
	return true;
}

/* One try. @param is_ended  set on success: do not try again in this run */
static bool
try_mail(struct run *run, int64_t id, bool *is_ended, GError **error)
{
	g_autoptr(GBytes) raw = NULL;
	g_autofree struct inbox_row *row = inbox_load(run->store, id, &raw, error);
	pb_auto(inmail) mail = NULL;
	g_autoptr(GError) problem = NULL;
	const void *bytes;
	bool waits = true;
	gsize size;

	if (!row)
		return false;
	*is_ended = true;
	if (g_strcmp0(row->state, "new") != 0 || !raw)
		return true;
	if (!count_start(run, row, is_ended, error))
		return false;
	if (*is_ended)
		return true;
	*is_ended = true;
	bytes = g_bytes_get_data(raw, &size);
	if (parser_process_run(
	        bytes ? bytes : "", size, &run->options->parser, &mail, &problem)) {
		if (handle(run, row, raw, mail, &problem))
			return true;
		/* The message is not the cause. */
		if (g_error_matches(problem, PB_ERROR, PB_ERROR_TEMPORARY) ||
		    g_error_matches(problem, PB_ERROR, PB_ERROR_STOPPED)) {
			uncount_start(run, row);
			return pb_error_forward(error, &problem);
		}
	} else {
		/* The parser cannot be run. */
		if (g_error_matches(problem, PB_ERROR, PB_ERROR_PERMANENT)) {
			uncount_start(run, row);
			return pb_error_forward(error, &problem);
		}
		waits = g_error_matches(problem, PB_ERROR, PB_ERROR_TEMPORARY);
	}
	return save_failure(run, row, waits, problem, is_ended, error);
}

/* @return false if the run ends, with or without an error */
static bool
run_batch(struct run *run, const GArray *ids, GError **error)
{
	for (unsigned i = 0; i < ids->len; i++) {
		bool is_ended = false;

		if (is_ending(run)) {
			run->report->is_more = true;
			return false;
		}
		run->started++;
		while (!is_ended)
			if (!try_mail(
			        run, g_array_index(ids, int64_t, i), &is_ended, error))
				return false;
	}
	return true;
}

bool
inbox_process_run(struct store *store, const struct inbox_process_options *options,
    int64_t now, struct inbox_process_report *report, GError **error)
{
	struct run run = {
	    .store = store,
	    .options = options,
	    .now = now,
	    .ends_at = options->time_ms
	                   ? g_get_monotonic_time() + options->time_ms * 1000
	                   : INT64_MAX,
	    .report = report,
	};
	g_autoptr(GError) problem = NULL;
	unsigned count;

	report->is_more = false;
	do {
		g_autoptr(GArray) ids = inbox_load_due(store, now, BATCH, error);

		if (!ids)
			return false;
		count = ids->len;
		if (!run_batch(&run, ids, &problem))
			break;
	} while (count == BATCH);
	return pb_error_forward(error, &problem);
}

/* ---- messages that could not be processed ---- */

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

bool
quarantine_change_all(struct store *store, const struct quarantine_request *request,
    unsigned *count, GError **error)
{
	int64_t ids[BATCH], before = INT64_MAX;
	bool is_done[BATCH];
	unsigned found;

	do {
		g_autoptr(GPtrArray) rows =
		    inbox_load_batch(store, "quarantined", before, BATCH, error);

		for (found = 0; rows && found < rows->len; found++)
			before = ids[found] =
			    ((const struct inbox_row *)rows->pdata[found])->id;
		if (!rows ||
		    !quarantine_change(store, request, ids, found, is_done, error))
			return false;
		*count += found;
	} while (found == BATCH);
	return true;
}
