/*
 * test_letters.c - rows of letters: kept once, raw until handled, gone after their
 * time.
 */
#include "store/letters.h"

#include <glib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/lab.h"
#include "service/upkeep.h"

#define NOW "2026-11-20T09:00:00Z"

/* 64 digits. */
#define KEY(c)                                                                        \
	c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c \
	    c c c c c c c c c c c c c c c c c c c c c c c c c

static bool
insert(struct lab *lab, const char *key, const char *recipient, int64_t now)
{
	const struct letters_fresh fresh = {
	    .key = key,
	    .road = "lmtp",
	    .sender = "",
	    .recipient = recipient,
	    .raw = "a\0b\n",
	    .size = 4,
	};
	g_autoptr(GError) error = NULL;
	bool is_fresh = false;

	g_assert_true(letters_insert(lab->store, &fresh, now, &is_fresh, &error));
	g_assert_no_error(error);
	lab_assert_idle(lab);
	return is_fresh;
}

static void
a_letter_is_kept_once_and_as_it_came(void)
{
	pb_auto(lab) lab = lab_new();
	g_autoptr(GBytes) raw = NULL;
	pb_auto(letters_row) row = NULL;
	g_autoptr(GError) error = NULL;

	g_assert_true(insert(lab, KEY("a"), "p@n.example", 5));
	g_assert_false(insert(lab, KEY("a"), "p@n.example", 6));
	g_assert_true(insert(lab, KEY("b"), NULL, 7));
	row = letters_load(lab->store, 1, &raw, &error);
	g_assert_nonnull(row);
	g_assert_cmpmem(
	    g_bytes_get_data(raw, NULL), g_bytes_get_size(raw), "a\0b\n", 4);
	g_assert_cmpstr(row->state, ==, "new");
	g_assert_cmpstr(row->sender, ==, "");
	g_assert_cmpstr(row->recipient, ==, "p@n.example");
	g_assert_cmpint(row->came_at, ==, 5);
	g_assert_cmpint(row->next_try_at, ==, 5);
	g_assert_cmpint(row->size, ==, 4);
	g_assert_null(letters_load(lab->store, 9, NULL, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_NOT_FOUND);
}

static void
all_recipients_are_kept_while_it_is_new(void)
{
	pb_auto(lab) lab = lab_new();
	static const char sql[] = "SELECT ifnull(recipient, '-') FROM letter";

	insert(lab, KEY("a"), NULL, 5);
	insert(lab, KEY("a"), "p@n.example", 5);
	lab_assert_text(lab, sql, "p@n.example");
	insert(lab, KEY("a"), "p+r-x@n.example", 5);
	insert(lab, KEY("a"), "p@n.example", 5);
	insert(lab, KEY("a"), NULL, 5);
	lab_assert_text(lab, sql, "p@n.example\np+r-x@n.example");
	/* Not without end. */
	for (int i = 0; i < 2 * BOUNDS_LMTP_RECIPIENTS; i++) {
		g_autofree char *more = g_strdup_printf("p+r-%0240d@n.example", i);

		insert(lab, KEY("a"), more, 5);
	}
	g_assert_cmpint(lab_number(lab, "SELECT length(recipient) FROM letter"), <=,
	    BOUNDS_RECIPIENTS_BYTES);
	g_assert_true(letters_save_done(lab->store, 1, "x", 6, NULL));
	insert(lab, KEY("a"), "p+r-xyz@n.example", 7);
	lab_assert_text(lab, sql, "-");
}

static void
what_is_done_says_nothing_any_more(void)
{
	pb_auto(lab) lab = lab_new();
	g_autoptr(GBytes) raw = NULL;
	pb_auto(letters_row) row = NULL;
	g_autofree char *said = NULL;

	insert(lab, KEY("a"), "p@n.example", 5);
	g_assert_true(letters_save_done(lab->store, 1, "no handler", 6, NULL));
	row = letters_load(lab->store, 1, &raw, NULL);
	g_assert_null(raw);
	g_assert_null(row->sender);
	g_assert_null(row->recipient);
	g_assert_cmpstr(row->verdict, ==, "no handler");
	/* It is final, whoever writes. */
	g_assert_true(letters_save_due(lab->store, 1, 7, NULL));
	g_assert_true(letters_save_quarantined(lab->store, 1, "x", 7, NULL));
	lab_assert_text(lab, "SELECT state, tries FROM letter", "done|0");
	said = lab_try(lab,
	    "UPDATE letter SET state = 'new', raw = x'00', ended_at = NULL,"
	    " next_try_at = 1");
	g_assert_nonnull(strstr(said, "stays so"));
}

static void
bad_rows_are_impossible(void)
{
	static const char *const bad[] = {
	    "UPDATE letter SET raw = NULL",
	    "UPDATE letter SET state = 'done'",
	    "UPDATE letter SET next_try_at = NULL",
	    "UPDATE letter SET state = 'quarantined'",
	    "UPDATE letter SET road = 'pigeon'",
	    "UPDATE letter SET key = 'short'",
	    "UPDATE letter SET tries = -1",
	};
	pb_auto(lab) lab = lab_new();

	insert(lab, KEY("a"), "p@n.example", 5);
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autofree char *said = lab_try(lab, bad[i]);

		g_assert_nonnull(said);
	}
}

static void
what_is_due_comes_the_oldest_first(void)
{
	pb_auto(lab) lab = lab_new();
	g_autoptr(GArray) ids = NULL;
	int64_t at = 0;

	g_assert_true(letters_load_next_due(lab->store, &at, NULL));
	g_assert_cmpint(at, ==, -1);
	insert(lab, KEY("a"), NULL, 20);
	insert(lab, KEY("b"), NULL, 10);
	insert(lab, KEY("c"), NULL, 30);
	insert(lab, KEY("d"), NULL, 20);
	g_assert_true(letters_save_failure(lab->store, 2, "died", 25, NULL));
	ids = letters_load_due(lab->store, 29, 2, NULL);
	g_assert_cmpuint(ids->len, ==, 2);
	g_assert_cmpint(g_array_index(ids, int64_t, 0), ==, 1);
	g_assert_cmpint(g_array_index(ids, int64_t, 1), ==, 4);
	g_array_unref(g_steal_pointer(&ids));
	ids = letters_load_due(lab->store, 29, 9, NULL);
	g_assert_cmpuint(ids->len, ==, 3);
	g_assert_true(letters_load_next_due(lab->store, &at, NULL));
	g_assert_cmpint(at, ==, 20);
}

static void
pages_go_from_the_newest_down(void)
{
	pb_auto(lab) lab = lab_new();
	g_autoptr(GPtrArray) page = NULL;

	insert(lab, KEY("a"), NULL, 1);
	insert(lab, KEY("b"), NULL, 2);
	insert(lab, KEY("c"), NULL, 3);
	letters_save_quarantined(lab->store, 2, "x", 4, NULL);
	letters_save_done(lab->store, 3, "x", 4, NULL);
	page = letters_load_page(lab->store, NULL, INT64_MAX, 9, NULL);
	g_assert_cmpuint(page->len, ==, 2);
	g_assert_cmpint(((struct letters_row *)page->pdata[0])->id, ==, 2);
	g_ptr_array_unref(g_steal_pointer(&page));
	page = letters_load_page(lab->store, NULL, 2, 9, NULL);
	g_assert_cmpuint(page->len, ==, 1);
	g_ptr_array_unref(g_steal_pointer(&page));
	page = letters_load_page(lab->store, "done", INT64_MAX, 9, NULL);
	g_assert_cmpuint(page->len, ==, 1);
	g_assert_cmpint(((struct letters_row *)page->pdata[0])->id, ==, 3);
}

static void
upkeep_forgets_each_in_its_time(void)
{
	int64_t now = lab_time(NOW);

	for (int offset = -1; offset <= 1; offset++) {
		pb_auto(lab) lab = lab_new();
		int64_t fourteen =
		    now - UPKEEP_QUARANTINE_DAYS * (int64_t)CLOCK_DAY_S + offset;
		int64_t thirty =
		    now - UPKEEP_LETTER_DAYS * (int64_t)CLOCK_DAY_S + offset;
		g_autoptr(GError) error = NULL;

		insert(lab, KEY("a"), NULL, thirty);
		letters_save_done(lab->store, 1, "x", now, NULL);
		insert(lab, KEY("b"), NULL, thirty);
		insert(lab, KEY("c"), NULL, fourteen);
		letters_save_quarantined(lab->store, 3, "x", fourteen, NULL);
		g_assert_true(upkeep_run(lab->store, now, &error));
		/* One that is new waits however long it takes. */
		lab_assert_text(lab, "SELECT id, state FROM letter WHERE id > 1",
		    offset < 0 ? "2|new 3|done" : "2|new 3|quarantined");
		g_assert_cmpint(
		    lab_number(lab, "SELECT count(*) FROM letter WHERE id = 1"), ==,
		    offset >= 0);
	}
}

static bool
call_insert(struct lab *lab, void *data, GError **error)
{
	const struct letters_fresh fresh = {
	    .key = data, .road = "imap", .raw = "x", .size = 1};
	bool is_fresh;

	return letters_insert(lab->store, &fresh, 5, &is_fresh, error);
}

static void
a_failing_store_keeps_nothing_by_half(void)
{
	pb_auto(lab) lab = lab_new();
	char key[] = KEY("a");

	g_assert_cmpuint(lab_fail_everywhere(lab, call_insert, key, true), >=, 1);
	g_assert_cmpint(lab_number(lab, "SELECT count(*) FROM letter"), ==, 1);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/letters/a letter is kept once and as it came",
	    a_letter_is_kept_once_and_as_it_came);
	g_test_add_func("/letters/all recipients are kept while it is new",
	    all_recipients_are_kept_while_it_is_new);
	g_test_add_func("/letters/what is done says nothing any more",
	    what_is_done_says_nothing_any_more);
	g_test_add_func("/letters/bad rows are impossible", bad_rows_are_impossible);
	g_test_add_func("/letters/what is due comes the oldest first",
	    what_is_due_comes_the_oldest_first);
	g_test_add_func(
	    "/letters/pages go from the newest down", pages_go_from_the_newest_down);
	g_test_add_func("/letters/upkeep forgets each in its time",
	    upkeep_forgets_each_in_its_time);
	g_test_add_func("/letters/a failing store keeps nothing by half",
	    a_failing_store_keeps_nothing_by_half);
	return g_test_run();
}
