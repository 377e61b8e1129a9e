/*
 * rows.c - SQLite alone writes the rows of a mailing, as paperboy stored them in the
 * revision that mailing.sql is of.
 *
 * rows STORE mailing.sql PEOPLE DIGESTS PAPERS: PEOPLE subscribers were sent DIGESTS
 * digests with PAPERS papers.  The rows are written in one commit.  They are copied
 * from STORE-made, which is not timed: a statement for each row takes longer.  Shape
 * and number of the rows do not depend on what paperboy stores today.
 */
#include <glib.h>
#include <sqlite3.h>
#include <stdio.h>

#include "stopwatch.h"

#define NOW        ((int64_t)1795176000)
#define DAY_PAPERS 100
/* Multiplied by it, the numbers of the papers of a day change places. */
#define STRIDE     37
/* Multiplied by it, the numbers of digests become tokens in no order. */
#define TOKEN      6364136223846793005U

static const char pragmas[] =
    "PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
    "PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY";

/*
 * Papers of a digest, in hundredths, and bytes of the reasons of a paper: means of each
 * twentieth of a mailing for 10,000 subscribers with 28,000 filters on 100 papers.
 */
static const unsigned papers_of[] = {100, 100, 141, 200, 285, 365, 460, 565, 709, 867,
    1043, 1211, 1482, 1728, 2062, 2397, 2964, 3638, 4573, 7292};
static const int reasons_of[] = {
    23, 25, 25, 27, 27, 28, 29, 30, 31, 33, 33, 34, 35, 37, 39, 43, 48, 53, 60, 79};

static const char reasons[] =
    "language models\tlanguage models in the title and in the "
    "abstract, model in the title";

enum statement {
	ADD_DIGEST,
	ADD_ITEM,
	ADD_DELIVERED,
	ADD_SENT,
	STATEMENTS,
};

/* ?1 is the digest, ?2 the subscriber, ?3 the time. */
static const char *const sql[STATEMENTS] = {
    [ADD_DIGEST] =
        "INSERT INTO digest (id, subscriber_id, slot, date, created_at, state, "
        "abstract,"
        " format, attach, grouping, language, is_note, coverage, message_token)"
        " VALUES (?1, ?2, 'first-1795176000', '2026-11-20', ?3,"
        " 'sent', 'brief', 'both', 'none', 'off', NULL, 0, '',"
        " printf('d%016x', ?4))",
    [ADD_ITEM] =
        "INSERT INTO digest_item (digest_id, position, paper_seq, day, upvotes, shown,"
        " reasons, replacement)"
        " VALUES (?1, ?4, ?5, '2026-11-20', 100 - ?4, ?4 <= 10, ?6, 0)",
    [ADD_DELIVERED] =
        "INSERT INTO delivered (subscriber_id, paper_seq, digest_id, at, replacement)"
        " VALUES (?2, ?4, ?1, ?3, 0)",
    [ADD_SENT] =
        "INSERT INTO outbox (kind, subscriber_id, digest_id, state, queued_at, attempt,"
        " claimed_at, ended_at, code, reply, cache_key, message_hash)"
        " VALUES ('digest', ?2, ?1, 'SENT', ?3, 1, ?3, ?3, 250, '250 2.0.0 Ok',"
        " '0db6eb8d7074ecb126839dc3da5c5d98c7d531b852e9296d307ef327adf171dc',"
        " 9223372036854775807)",
};

struct mailing {
	sqlite3 *db;
	sqlite3_stmt *statements[STATEMENTS];
	int64_t people, digests, papers;
	int64_t digest;     /* written so far */
	int64_t paper;      /* written so far */
	double paper_share; /* sum of papers_of so far */
};

static void
run(sqlite3 *db, const char *text)
{
	if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
		g_error("%s", sqlite3_errmsg(db));
}

static sqlite3_stmt *
compile(sqlite3 *db, const char *text)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v2(db, text, -1, &statement, NULL) != SQLITE_OK)
		g_error("%s", sqlite3_errmsg(db));
	return statement;
}

static void
finish(sqlite3 *db, sqlite3_stmt *statement)
{
	if (sqlite3_step(statement) != SQLITE_DONE)
		g_error("%s", sqlite3_errmsg(db));
	sqlite3_reset(statement);
}

static void
step(const struct mailing *mailing, enum statement statement)
{
	finish(mailing->db, mailing->statements[statement]);
}

static void
bind(const struct mailing *mailing, enum statement statement, int at, int64_t value)
{
	sqlite3_bind_int64(mailing->statements[statement], at, value);
}

/* A new database with subscribers, who are all due, and the papers. */
static sqlite3 *
new_store(const char *path, const char *schema, int64_t people)
{
	static const char fill[] =
	    "BEGIN;"
	    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
	    " WHERE i < %d) INSERT INTO paper SELECT i FROM n;"
	    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
	    " WHERE i < %" G_GINT64_FORMAT ") INSERT INTO subscriber (address,"
	    " address_key, state, frequency, weekdays, minute, zone, max_full,"
	    " created_at, consent_at, consent_text, next_due_at)"
	    " SELECT printf('person-%%06d@example.org', i),"
	    " printf('person-%%06d@example.org', i), 'active', 'daily', 127, 450,"
	    " 'Europe/Berlin', 10, %" G_GINT64_FORMAT ", 1, 'made up for a benchmark',"
	    " %" G_GINT64_FORMAT " FROM n;"
	    "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)";
	g_autofree char *rows = g_strdup_printf(fill, DAY_PAPERS, people, NOW, NOW);
	g_autofree char *tables = NULL;
	g_autoptr(GError) error = NULL;
	sqlite3 *db = NULL;

	g_file_get_contents(schema, &tables, NULL, &error);
	g_assert_no_error(error);
	g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
	g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
	run(db, pragmas);
	run(db, tables);
	run(db, rows);
	return db;
}

/* How many papers the next digest has: by shares, so that the sum is right. */
static unsigned
count_papers(struct mailing *mailing)
{
	const size_t n = G_N_ELEMENTS(papers_of);
	double mean = 0, wanted;

	for (size_t i = 0; i < n; i++)
		mean += papers_of[i] / (double)n;
	/* Small and large digests in turn. */
	mailing->paper_share += papers_of[(size_t)mailing->digest * 7 % n] / mean;
	wanted =
	    mailing->paper_share * (double)mailing->papers / (double)mailing->digests;
	return (unsigned)CLAMP((int64_t)(wanted + 0.5) - mailing->paper, 1, DAY_PAPERS);
}

static void
write_item(struct mailing *mailing, unsigned position)
{
	size_t share = (size_t)mailing->paper++ % G_N_ELEMENTS(reasons_of);
	int64_t paper = (mailing->digest * 11 + position * STRIDE) % DAY_PAPERS + 1;

	bind(mailing, ADD_ITEM, 4, position);
	bind(mailing, ADD_ITEM, 5, paper);
	sqlite3_bind_text(mailing->statements[ADD_ITEM], 6, reasons, reasons_of[share],
	    SQLITE_STATIC);
	step(mailing, ADD_ITEM);
	bind(mailing, ADD_DELIVERED, 4, paper);
	step(mailing, ADD_DELIVERED);
}

static void
write_digest(struct mailing *mailing, int64_t subscriber)
{
	unsigned count = count_papers(mailing);

	mailing->digest++;
	for (int i = 0; i < STATEMENTS; i++) {
		bind(mailing, (enum statement)i, 1, mailing->digest);
		bind(mailing, (enum statement)i, 2, subscriber);
		bind(mailing, (enum statement)i, 3, NOW);
	}
	bind(mailing, ADD_DIGEST, 4, (int64_t)((uint64_t)mailing->digest * TOKEN));
	step(mailing, ADD_DIGEST);
	for (unsigned i = 1; i <= count; i++)
		write_item(mailing, i);
	step(mailing, ADD_SENT);
}

/* The digests are spread over the subscribers. */
static void
write_made(struct mailing *mailing)
{
	run(mailing->db, "PRAGMA synchronous = OFF; BEGIN");
	for (int i = 0; i < STATEMENTS; i++)
		mailing->statements[i] = compile(mailing->db, sql[i]);
	for (int64_t i = 1; i <= mailing->people; i++)
		if (mailing->digest * mailing->people < i * mailing->digests)
			write_digest(mailing, i);
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(mailing->statements[i]);
	run(mailing->db, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
}

/* The subscribers are due again the next day. */
static const char copy_mailing[] =
    "BEGIN IMMEDIATE;"
    "INSERT INTO digest SELECT * FROM made.digest ORDER BY id;"
    "INSERT INTO digest_item SELECT * FROM made.digest_item ORDER BY digest_id;"
    "INSERT INTO outbox SELECT * FROM made.outbox ORDER BY id;"
    "INSERT INTO delivered SELECT * FROM made.delivered ORDER BY subscriber_id;"
    "UPDATE subscriber SET next_due_at = next_due_at + 86400, is_first_due = 0;"
    "COMMIT";

int
main(int argc, char **argv)
{
	struct mailing mailing = {0};
	struct stopwatch watch = {0};
	g_autofree char *made = NULL;
	g_autofree char *attach = NULL;
	sqlite3 *db;

	if (argc != 6) {
		fprintf(
		    stderr, "usage: rows STORE mailing.sql PEOPLE DIGESTS PAPERS\n");
		return 64;
	}
	mailing.people = g_ascii_strtoll(argv[3], NULL, 10);
	mailing.digests = g_ascii_strtoll(argv[4], NULL, 10);
	mailing.papers = g_ascii_strtoll(argv[5], NULL, 10);
	made = g_strconcat(argv[1], "-made", NULL);
	mailing.db = new_store(made, argv[2], mailing.people);
	write_made(&mailing);
	sqlite3_close(mailing.db);
	db = new_store(argv[1], argv[2], mailing.people);
	attach = g_strdup_printf("ATTACH '%s' AS made", made);
	run(db, attach);
	stopwatch_start(&watch);
	run(db, copy_mailing);
	stopwatch_stop(&watch);
	stopwatch_print(&watch);
	printf("digests=%" G_GINT64_FORMAT " papers=%" G_GINT64_FORMAT "\n",
	    mailing.digest, mailing.paper);
	sqlite3_close(db);
	return 0;
}
