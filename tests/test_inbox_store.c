/*
 * test_inbox_store.c - inbox rows: stored once, raw until processed, deleted after
 * retention.
 */
#include "store/mail/inbox.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/cases.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/jobs/maintenance.h"

#define NOW "2026-11-20T09:00:00Z"

/* 64 digits. */
#define KEY(c)                                                                        \
	c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c \
	    c c c c c c c c c c c c c c c c c c c c c c c c c

static bool
insert(
    struct store_fixture *fixture, const char *key, const char *recipient, int64_t now)
{
	const struct inbox_new fresh = {
	    .key = key,
	    .receiver = "lmtp",
	    .sender = "",
	    .recipient = recipient,
	    .raw = "a\0b\n",
	    .size = 4,
	};
	bool is_stored = false;

	g_assert_true(
	    NO_ERROR(inbox_insert(fixture->store, &fresh, now, &is_stored, &error)));
	store_fixture_assert_idle(fixture);
	return is_stored;
}

STORE_TEST(a_mail_is_stored_once_and_as_it_came)
{
	g_autoptr(GBytes) raw = NULL;
	g_autofree struct inbox_row *row = NULL;
	g_autoptr(GError) error = NULL;

	g_assert_true(insert(fixture, KEY("a"), "p@n.example", 5));
	g_assert_false(insert(fixture, KEY("a"), "p@n.example", 6));
	g_assert_true(insert(fixture, KEY("b"), NULL, 7));
	row = inbox_load(fixture->store, 1, &raw, &error);
	g_assert_nonnull(row);
	g_assert_cmpmem(
	    g_bytes_get_data(raw, NULL), g_bytes_get_size(raw), "a\0b\n", 4);
	g_assert_cmpstr(row->state, ==, "new");
	g_assert_cmpstr(row->sender, ==, "");
	g_assert_cmpstr(row->recipient, ==, "p@n.example");
	g_assert_cmpint(row->received_at, ==, 5);
	g_assert_cmpint(row->next_try_at, ==, 5);
	g_assert_cmpint(row->size, ==, 4);
	g_assert_null(inbox_load(fixture->store, 9, NULL, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_NOT_FOUND);
}

STORE_TEST(all_recipients_are_stored_while_it_is_new)
{
	static const char sql[] = "SELECT ifnull(recipient, '-') FROM inbox";

	insert(fixture, KEY("a"), NULL, 5);
	insert(fixture, KEY("a"), "p@n.example", 5);
	assert_rows(fixture, sql, "p@n.example");
	insert(fixture, KEY("a"), "p+r-x@n.example", 5);
	insert(fixture, KEY("a"), "p@n.example", 5);
	insert(fixture, KEY("a"), NULL, 5);
	assert_rows(fixture, sql, "p@n.example\np+r-x@n.example");
	/* Up to a limit. */
	for (int i = 0; i < 2 * BOUNDS_LMTP_RECIPIENTS; i++) {
		g_autofree char *more = g_strdup_printf("p+r-%0240d@n.example", i);

		insert(fixture, KEY("a"), more, 5);
	}
	g_assert_cmpint(
	    store_fixture_number(fixture, "SELECT length(recipient) FROM inbox"), <=,
	    BOUNDS_RECIPIENTS_BYTES);
	g_assert_true(inbox_mark_done(fixture->store, 1, "x", 6, NULL));
	insert(fixture, KEY("a"), "p+r-xyz@n.example", 7);
	assert_rows(fixture, sql, "-");
}

STORE_TEST(processed_row_has_no_content)
{
	g_autoptr(GBytes) raw = NULL;
	g_autofree struct inbox_row *row = NULL;
	g_autofree char *said = NULL;

	insert(fixture, KEY("a"), "p@n.example", 5);
	g_assert_true(inbox_mark_done(fixture->store, 1, "no handler", 6, NULL));
	row = inbox_load(fixture->store, 1, &raw, NULL);
	g_assert_null(raw);
	g_assert_null(row->sender);
	g_assert_null(row->recipient);
	g_assert_cmpstr(row->verdict, ==, "no handler");
	/* The state is final for all writers. */
	g_assert_true(inbox_retry_at(fixture->store, 1, 7, NULL));
	g_assert_true(inbox_save_quarantined(fixture->store, 1, "x", 7, NULL));
	assert_rows(fixture, "SELECT state, tries FROM inbox", "done|0");
	said = store_fixture_try(fixture,
	    "UPDATE inbox SET state = 'new', raw = x'00', ended_at = NULL,"
	    " next_try_at = 1");
	g_assert_nonnull(strstr(said, "stays done"));
}

STORE_TEST(bad_rows_are_impossible)
{
	insert(fixture, KEY("a"), "p@n.example", 5);
	CASES_FOREACH(row, "inbox_store_bad", *text) {
		g_autofree char *said = store_fixture_try(fixture, row->text);

		g_assert_nonnull(said);
	}
}

STORE_TEST(due_rows_are_sorted_oldest_first)
{
	g_autoptr(GArray) ids = NULL;
	int64_t at = 0;

	g_assert_true(inbox_load_next_due(fixture->store, &at, NULL));
	g_assert_cmpint(at, ==, -1);
	insert(fixture, KEY("a"), NULL, 20);
	insert(fixture, KEY("b"), NULL, 10);
	insert(fixture, KEY("c"), NULL, 30);
	insert(fixture, KEY("d"), NULL, 20);
	g_assert_true(inbox_save_failure(fixture->store, 2, "died", 25, NULL));
	ids = inbox_load_due(fixture->store, 29, 2, NULL);
	g_assert_cmpuint(ids->len, ==, 2);
	g_assert_cmpint(g_array_index(ids, int64_t, 0), ==, 1);
	g_assert_cmpint(g_array_index(ids, int64_t, 1), ==, 4);
	g_array_unref(g_steal_pointer(&ids));
	ids = inbox_load_due(fixture->store, 29, 9, NULL);
	g_assert_cmpuint(ids->len, ==, 3);
	g_assert_true(inbox_load_next_due(fixture->store, &at, NULL));
	g_assert_cmpint(at, ==, 20);
}

STORE_TEST(pages_are_sorted_newest_first)
{
	g_autoptr(GPtrArray) page = NULL;

	insert(fixture, KEY("a"), NULL, 1);
	insert(fixture, KEY("b"), NULL, 2);
	insert(fixture, KEY("c"), NULL, 3);
	inbox_save_quarantined(fixture->store, 2, "x", 4, NULL);
	inbox_mark_done(fixture->store, 3, "x", 4, NULL);
	page = inbox_load_batch(fixture->store, NULL, INT64_MAX, 9, NULL);
	g_assert_cmpuint(page->len, ==, 2);
	g_assert_cmpint(((struct inbox_row *)page->pdata[0])->id, ==, 2);
	g_ptr_array_unref(g_steal_pointer(&page));
	page = inbox_load_batch(fixture->store, NULL, 2, 9, NULL);
	g_assert_cmpuint(page->len, ==, 1);
	g_ptr_array_unref(g_steal_pointer(&page));
	page = inbox_load_batch(fixture->store, "done", INT64_MAX, 9, NULL);
	g_assert_cmpuint(page->len, ==, 1);
	g_assert_cmpint(((struct inbox_row *)page->pdata[0])->id, ==, 3);
}

TEST(maintenance_deletes_rows_after_retention)
{
	int64_t now = store_fixture_time(NOW);

	for (int offset = -1; offset <= 1; offset++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		int64_t fourteen =
		    now - MAINTENANCE_QUARANTINE_DAYS * (int64_t)CLOCK_DAY_S + offset;
		int64_t thirty =
		    now - MAINTENANCE_INBOX_DAYS * (int64_t)CLOCK_DAY_S + offset;
		g_autoptr(GError) error = NULL;

		insert(fixture, KEY("a"), NULL, thirty);
		inbox_mark_done(fixture->store, 1, "x", now, NULL);
		insert(fixture, KEY("b"), NULL, thirty);
		insert(fixture, KEY("c"), NULL, fourteen);
		inbox_save_quarantined(fixture->store, 3, "x", fourteen, NULL);
		g_assert_true(maintenance_run(fixture->store, now, &error));
		/* New messages are not deleted. */
		assert_rows(fixture, "SELECT id, state FROM inbox WHERE id > 1",
		    offset < 0 ? "2|new 3|done" : "2|new 3|quarantined");
		g_assert_cmpint(store_fixture_number(
		                    fixture, "SELECT count(*) FROM inbox WHERE id = 1"),
		    ==, offset >= 0);
	}
}

static bool
call_insert(struct store_fixture *fixture, void *data, GError **error)
{
	const struct inbox_new fresh = {
	    .key = data, .receiver = "imap", .raw = "x", .size = 1};
	bool is_stored;

	return inbox_insert(fixture->store, &fresh, 5, &is_stored, error);
}

STORE_TEST(failing_store_leaves_no_partial_change)
{
	char key[] = KEY("a");

	g_assert_cmpuint(
	    store_fixture_fail_everywhere(fixture, call_insert, key, true), >=, 1);
	assert_rows(fixture, "SELECT count(*) FROM inbox", "1");
}

UNIT_MAIN
