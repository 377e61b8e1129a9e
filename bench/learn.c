/*
 * learn.c - give each subscriber of a store a vector of words, as if they had answered
 * digests.
 *
 * learn STORE: learns from four papers for each of the first people, and copies the
 * results to all others.  Prints their number, and that of the bytes of all.
 */
#include <glib.h>
#include <sqlite3.h>
#include <stdio.h>

#include "input.h"
#include "service/taste/answers.h"
#include "store/core/sql.h"
#include "store/core/transaction.h"
#include "store/subscriber/feedback.h"

#define PEOPLE 50
#define LIKES  4

static void
learn(struct store *store, int64_t subscriber_id)
{
	int64_t papers[LIKES];
	struct answers_request request = {.subscriber_id = subscriber_id,
	    .papers = papers,
	    .count = LIKES,
	    .is_like = true,
	    .source = "operator",
	    .now = INPUT_NOW};
	g_autoptr(GError) error = NULL;
	struct answers answers = {0};

	for (unsigned i = 0; i < LIKES; i++)
		papers[i] = subscriber_id + (int64_t)i * PEOPLE;
	answers_save(store, &request, &answers, &error);
	g_assert_no_error(error);
	answers_clear(&answers);
}

static int64_t
count(struct store *store, const char *sql)
{
	g_autoptr(GError) error = NULL;
	sql_auto *statement = sql_bind(store, sql, &error);
	int64_t number;

	g_assert_no_error(error);
	g_assert_true(sql_step(statement, &error) == SQL_STEP_ROW);
	number = sql_get_int(statement, 0);
	return number;
}

int
main(int argc, char **argv)
{
	static const char sql[] =
	    "INSERT OR IGNORE INTO taste (subscriber_id, learned_at, words)"
	    " SELECT s.id, t.learned_at, t.words FROM subscriber AS s"
	    " JOIN taste AS t ON t.subscriber_id = 1 + s.id % ?1";
	pb_auto(store) store = NULL;
	pb_transaction transaction = {0};
	g_autoptr(GError) error = NULL;

	if (argc != 2) {
		fprintf(stderr, "usage: learn STORE\n");
		return 64;
	}
	store = input_open_store(argv[1]);
	g_assert_true(store_begin(store, &transaction, &error));
	for (int64_t id = 1; id <= PEOPLE; id++)
		learn(store, id);
	sql_exec(store, sql, &error, SQL_INT(PEOPLE));
	g_assert_no_error(error);
	store_commit(&transaction, &error);
	g_assert_no_error(error);
	printf("people=%" G_GINT64_FORMAT " bytes=%" G_GINT64_FORMAT "\n",
	    count(store, "SELECT count(*) FROM taste"),
	    count(store, "SELECT sum(length(words)) FROM taste"));
	store_checkpoint(store);
	return 0;
}
