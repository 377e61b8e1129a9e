/*
 * test_enumeration.c - a damaged value in a column of few values is an error.
 */
#include "store/enumeration.h"

#include <glib.h>
#include <string.h>

#include "base/error.h"
#include "lib/lab.h"
#include "model/digest.h"
#include "store/editions.h"
#include "store/history.h"
#include "store/letters.h"
#include "store/outbox.h"
#include "store/papers.h"
#include "store/people.h"
#include "store/suppression.h"
#include "store/tickets.h"
#include "store/waiting.h"

#define NOW "2026-11-20T09:00:00Z"

/* One row of each table; the digest and its message have the number 1. */
static struct lab *
new_world(void)
{
	struct lab *lab = lab_new();

	lab_list(lab, "2026-11-20", "2611.00001", "Diffusion", 3);
	lab_subscribe(lab, "ada@example.org", "UTC", "diffusion", lab_time(NOW));
	g_assert_cmpuint(lab_press(lab, lab_time(NOW)), ==, 1);
	lab_run(lab,
	    "INSERT INTO suppression VALUES (hex(zeroblob(32)), 'dead', 1);"
	    "INSERT INTO ticket (hash, purpose, address, address_key, recipient,"
	    " action, made_at, expires_at) VALUES (hex(zeroblob(32)), 'confirm',"
	    " 'a@b.example', 'a@b.example', 'a@b.example', 'add x', 1, 9e9);"
	    "INSERT INTO letter (key, road, came_at, size, state, next_try_at, raw)"
	    " VALUES (hex(zeroblob(32)), 'lmtp', 1, 1, 'new', 1, x'41')");
	return lab;
}

static void
execute(sqlite3 *db, const char *sql)
{
	char *problem = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &problem) != SQLITE_OK)
		g_error("%s: %s", sql, problem);
}

static sqlite3 *
open_raw(const struct lab *lab)
{
	sqlite3 *db = NULL;

	g_assert_cmpint(sqlite3_open(lab->path, &db), ==, SQLITE_OK);
	execute(db, "PRAGMA ignore_check_constraints = ON");
	return db;
}

/* As a flipped bit or a hand with a hex editor would: no rule of the schema holds. */
static void
damage(struct lab *lab, const char *table, const char *column, const char *value)
{
	g_autofree char *allow = g_strdup_printf(
	    "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE type ="
	    " 'trigger' AND tbl_name = '%s'; UPDATE sqlite_schema SET sql ="
	    " replace(replace(sql, 'TEXT NOT NULL', 'TEXT'), 'INTEGER NOT NULL',"
	    " 'INTEGER') WHERE type = 'table' AND name = '%s'",
	    table, table);
	g_autofree char *change =
	    g_strdup_printf("UPDATE %s SET %s = %s", table, column, value);
	g_autoptr(GError) error = NULL;
	sqlite3 *db;

	g_clear_pointer(&lab->store, store_free);
	db = open_raw(lab);
	execute(db, allow);
	sqlite3_close(db);
	db = open_raw(lab);
	execute(db, change);
	sqlite3_close(db);
	lab->store = store_open(lab->path, &error);
	g_assert_no_error(error);
}

/* ---- readers --------------------------------------------------------------- */

static void
free_rows(GPtrArray *rows)
{
	g_clear_pointer(&rows, g_ptr_array_unref);
}

static void
read_subscriber(struct lab *lab, GError **error)
{
	subscriber_free(people_load(lab->store, 1, error));
}

static void
read_suppressions(struct lab *lab, GError **error)
{
	free_rows(suppression_load_page(lab->store, "", 9, error));
}

static void
read_paper(struct lab *lab, GError **error)
{
	stored_paper_free(papers_load(lab->store, 1, error));
}

static void
read_listings(struct lab *lab, GError **error)
{
	free_rows(history_load_listings(lab->store, 1, error));
}

static void
read_reports(struct lab *lab, GError **error)
{
	free_rows(papers_load_reports(lab->store, error));
}

static void
read_digests(struct lab *lab, GError **error)
{
	free_rows(editions_load_newest(lab->store, 0, 9, error));
}

static void
read_digest(struct lab *lab, GError **error)
{
	digest_free(editions_load(lab->store, 1, error));
}

static void
read_history(struct lab *lab, GError **error)
{
	free_rows(history_load_digests(lab->store, 1, 1, error));
}

static void
read_claim(struct lab *lab, GError **error)
{
	const struct outbox_claim claim = {
	    .now = lab_time(NOW), .limit = 9, .render_key = "key", .key = lab->key};
	bool is_more;

	free_rows(outbox_claim(lab->store, &claim, &is_more, error));
}

static void
read_queue(struct lab *lab, GError **error)
{
	const struct outbox_choice all = {.is_all = true};

	free_rows(outbox_load_rows(lab->store, &all, 0, 9, error));
}

static void
read_message(struct lab *lab, GError **error)
{
	waiting_message_free(waiting_load(lab->store, 1, error));
}

static void
read_tickets(struct lab *lab, GError **error)
{
	free_rows(tickets_load_page(lab->store, 5, 0, 9, error));
}

static void
read_letters(struct lab *lab, GError **error)
{
	letters_row_free(letters_load(lab->store, 1, NULL, error));
}

#define READERS 3

static const struct {
	bool is_number, may_be_null;
	void (*readers[READERS])(struct lab *lab, GError **error);
} rows[ENUMERATIONS] = {
    [ENUMERATION_SUBSCRIBER_STATE] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_CADENCE] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_SORTING] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_ABSTRACT] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_FORMAT] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_QUIET] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_UPDATES] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_CROSSLIST] = {false, false, {read_subscriber}},
    [ENUMERATION_SUBSCRIBER_ATTACH] = {false, false, {read_subscriber}},
    [ENUMERATION_SUPPRESSION_REASON] = {false, false, {read_suppressions}},
    [ENUMERATION_PAPER_TELLER] = {true, false, {read_paper}},
    [ENUMERATION_LISTING_ANNOUNCEMENT] = {false, false, {read_listings, read_paper}},
    [ENUMERATION_BATCH_STATUS] = {false, false, {read_reports}},
    [ENUMERATION_DIGEST_STATE] = {false, false, {read_digests, read_history}},
    [ENUMERATION_DIGEST_ABSTRACT] = {false, false, {read_digest}},
    [ENUMERATION_DIGEST_FORMAT] = {false, false, {read_digest}},
    [ENUMERATION_DIGEST_ATTACH] = {false, false, {read_digest}},
    [ENUMERATION_DIGEST_ITEM_SHOWN] = {true, false, {read_digest, read_history}},
    [ENUMERATION_OUTBOX_KIND] = {false, false, {read_queue, read_message}},
    [ENUMERATION_OUTBOX_STATE] = {false, false, {read_queue, read_message}},
    [ENUMERATION_OUTBOX_HELD_FROM] = {false, true, {read_message}},
    [ENUMERATION_OUTBOX_HELD_WHY] = {false, true, {read_message}},
    [ENUMERATION_TICKET_PURPOSE] = {false, false, {read_tickets}},
    [ENUMERATION_LETTER_ROAD] = {false, false, {read_letters}},
    [ENUMERATION_LETTER_STATE] = {false, false, {read_letters}},
};

/* @param value  as SQL */
static void
check_damage(enum enumeration which, const char *value)
{
	const char *table, *column;

	enumeration_get_name(which, &table, &column);
	for (unsigned i = 0; i < READERS && rows[which].readers[i]; i++) {
		pb_auto(lab) lab = new_world();
		g_autoptr(GError) error = NULL;

		g_test_message("%s.%s = %s, reader %u", table, column, value, i);
		rows[which].readers[i](lab, &error);
		g_assert_no_error(error);
		damage(lab, table, column, value);
		rows[which].readers[i](lab, &error);
		g_assert_error(error, PB_ERROR, PB_ERROR_PERMANENT);
		g_assert_nonnull(strstr(error->message, table));
		g_assert_nonnull(strstr(error->message, column));
		g_assert_nonnull(strstr(error->message, ", row "));
		g_assert_nonnull(strstr(error->message, "paperboyctl doctor"));
		lab_assert_idle(lab);
	}
}

static void
every_damaged_value_is_an_error_that_names_its_place(void)
{
	for (enum enumeration which = 0; which < ENUMERATIONS; which++) {
		g_assert_nonnull(rows[which].readers[0]);
		check_damage(which, rows[which].is_number ? "99" : "'damaged'");
		check_damage(which, rows[which].is_number ? "-1" : "''");
		if (!rows[which].may_be_null)
			check_damage(which, "NULL");
	}
}

/* A claim reads the kind of what it claims. */
static void
a_claim_stops_at_a_damaged_kind(void)
{
	pb_auto(lab) lab = new_world();
	g_autoptr(GError) error = NULL;

	damage(lab, "outbox", "kind", "'damaged'");
	read_claim(lab, &error);
	/* It is neither a digest nor a letter, and so is not found, or refused. */
	g_assert_true(!error || g_error_matches(error, PB_ERROR, PB_ERROR_PERMANENT));
	lab_assert_text(lab, "SELECT state FROM outbox", "NEW");
}

/* No column of the schema that is bound to a list of words is left out. */
static void
every_list_of_words_in_the_schema_is_known(void)
{
	pb_auto(lab) lab = lab_new();
	g_autofree char *found =
	    lab_text(lab, "SELECT t.name || '.' || c.name FROM sqlite_schema t,"
	                  " pragma_table_info(t.name) c WHERE t.type = 'table'"
	                  " AND t.sql GLOB '*CHECK (' || c.name || ' IN*(''*'"
	                  " ORDER BY 1");
	g_auto(GStrv) names = g_strsplit(found, " ", -1);

	for (char **name = names; *name; name++) {
		bool is_known = false;

		for (enum enumeration which = 0; which < ENUMERATIONS; which++) {
			const char *table, *column;
			g_autofree char *known = NULL;

			enumeration_get_name(which, &table, &column);
			known = g_strconcat(table, ".", column, NULL);
			is_known |= strcmp(known, *name) == 0;
		}
		/* Only written and compared: never read. */
		is_known |= strcmp(*name, "allowance.kind") == 0 ||
		            strcmp(*name, "skipped_message.road") == 0;
		g_test_message("%s", *name);
		g_assert_true(is_known);
	}
	g_assert_cmpuint(g_strv_length(names), >, 10);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define ADD(name) g_test_add_func("/enumeration/" #name, name)
	ADD(every_damaged_value_is_an_error_that_names_its_place);
	ADD(a_claim_stops_at_a_damaged_kind);
	ADD(every_list_of_words_in_the_schema_is_known);
	return g_test_run();
}
