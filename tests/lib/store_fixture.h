/*
 * store_fixture.h - a store in its own directory, filled by the test, at a simulated
 * time.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "model/paper.h"
#include "store/core/store.h"
#include "unit.h"

/* The consent of all subscribers in the tests. */
#define STORE_FIXTURE_CONSENT "signed the made-up list"

/* The secret of a made-up state directory. */
#define STORE_FIXTURE_KEY "0123456789abcdef0123456789abcdef"

/* A row for each filter and paper that it matches ('yes') or may match ('waiting'). */
#define STORE_FIXTURE_MATCHES                                   \
	"(SELECT filter_id, value AS paper_seq, 'yes' AS state" \
	" FROM match, json_each('[' || papers || ']')"          \
	" UNION ALL SELECT filter_id, paper_seq, 'waiting' FROM match_pending)"

struct store_fixture {
	char *directory; /* removed at the end, with its contents */
	char *path;      /* of the store; or its URL, see store_server.h */
	struct store *store;
	GBytes *key;        /* of a made-up state directory */
	struct clock clock; /* reads as set by store_fixture_set_now() */
	int steps_left;     /* of store_fixture_interrupt_at() */
};

struct store_fixture *store_fixture_new(void);
/** Open another handle, as another thread does. */
struct store *store_fixture_open(const struct store_fixture *fixture);
void store_fixture_free(struct store_fixture *fixture);
PB_DEFINE_AUTO(store_fixture, store_fixture_free);

/**
 * A store in which subscriber 1 is active and has a filter, a match, and a digest in
 * the outbox that is NEW; 2 is pending; 3 is gone.
 */
struct store_fixture *store_fixture_new_filled(void);

/** Remove a directory and its contents. */
void store_fixture_remove_directory(const char *directory);

/** Seconds since the epoch. @param text such as "2026-11-20T09:00:00Z" */
int64_t store_fixture_time(const char *text);

/** Stop the clock at that time. */
void store_fixture_set_now(struct store_fixture *fixture, int64_t now);

/**
 * List one paper from a source, in its own batch.
 *
 * @param upvotes  or PAPER_UNKNOWN
 */
void store_fixture_list(struct store_fixture *fixture, const char *day, const char *id,
    const char *title, int64_t upvotes);

/*
 * Reason for skipping a test in a tree without real papers beside it; see real_files()
 * in tests/lib/tap.py.
 */
#define STORE_FIXTURE_NO_REAL_DATA "no real data"

/**
 * Store all available real days, at noon of each.
 *
 * @return number of days; 0: none
 */
unsigned store_fixture_fill_real(struct store_fixture *fixture);

/** A new paper with id, title, abstract, an author and a link. */
struct paper *
store_fixture_paper(const char *id, const char *title, const char *abstract);

/** List one paper from a source at a time.  @param paper taken */
void store_fixture_save(struct store_fixture *fixture, const char *source,
    const char *day, int64_t at, struct paper *paper);

/* A title and abstract, and how many papers there are of it. */
struct store_fixture_copies {
	const char *title, *abstract;
	unsigned count;
};

/** List papers on 2026-11-18, with ids from 2611.00001 on. @param number  after that */
void store_fixture_save_copies(struct store_fixture *fixture,
    const struct store_fixture_copies *rows, size_t count, unsigned number);

/** As store_fixture_save(), with a listing type.  @param version 0: not reported */
void store_fixture_announce(struct store_fixture *fixture, const char *source,
    const char *day, int64_t at, struct paper *paper, enum listing_type listing_type,
    unsigned version);

/**
 * Save the categories of a paper, as reported by arXiv.
 *
 * @param categories  blanks between; "" for none
 */
void store_fixture_enrich(
    struct store_fixture *fixture, const char *id, const char *categories, int64_t at);

/**
 * Add a subscriber at `now`, with a daily digest at 07:30 in a zone.
 *
 * @param filter  or NULL
 * @return the subscriber's id
 */
int64_t store_fixture_subscribe(struct store_fixture *fixture, const char *address,
    const char *zone, const char *filter, int64_t now);

void store_fixture_add_filter(struct store_fixture *fixture, const char *address,
    const char *filter, int64_t now);

/** The same with a block. */
void store_fixture_add_block(struct store_fixture *fixture, const char *address,
    const char *filter, int64_t now);

/** Match, and build the digests that are due.  @return number of digests built */
unsigned store_fixture_build_digests(struct store_fixture *fixture, int64_t now);

/* It makes that many. @param text  of the time */
#define assert_digests(fixture, now, count) \
	g_assert_cmpuint(store_fixture_build_digests(fixture, now), ==, count)
#define assert_digests_at(fixture, text, count) \
	assert_digests(fixture, store_fixture_time(text), count)

/** Run SQL; fails the test on an error. */
void store_fixture_run(struct store_fixture *fixture, const char *sql);

/** Run SQL that must fail.  @return the error of SQLite, NULL if there was none */
char *store_fixture_try(struct store_fixture *fixture, const char *sql);

/** Make ids of a table begin after a number. */
void store_fixture_set_sequence(
    struct store_fixture *fixture, const char *table, int64_t last);

/** The one number that SQL selects; -1 for NULL or no row. */
int64_t store_fixture_number(struct store_fixture *fixture, const char *sql);

/** All rows that SQL selects: cells joined by "|", rows by " ". @return a new string */
char *store_fixture_text(struct store_fixture *fixture, const char *sql);

/**
 * Format each statement that the store has prepared, with its plan.  @return a new
 * string
 */
char *store_fixture_format_plans(struct store_fixture *fixture);

/** Find what a rebuild of the archive's tables would change. @return a new string, or
 * NULL */
char *store_fixture_check_archive(struct store_fixture *fixture);

#define assert_rows(fixture, sql, wanted)                         \
	do {                                                      \
		g_autofree char *store_fixture_text_ =            \
		    store_fixture_text(fixture, sql);             \
		g_assert_cmpstr(store_fixture_text_, ==, wanted); \
	} while (0)

/** Compute a hash of the contents of the store.  @return a new string */
char *store_fixture_hash(struct store_fixture *fixture);

/** Assert that no statement is open and no transaction active. */
void store_fixture_assert_idle(struct store_fixture *fixture);

/** Make SQLite fail once, at its nth step from now, or a server at the nth statement;
 * 0: never. */
void store_fixture_interrupt_at(struct store_fixture *fixture, int nth);

/**
 * Call a function with a failing commit, then with a failure at its first step, then at
 * later ones, until it succeeds.  After each failure there must be an error, no open
 * statement, no active transaction, and, if `is_whole`, an unchanged store.
 *
 * @return number of failures
 */
unsigned store_fixture_fail_everywhere(struct store_fixture *fixture,
    bool (*call)(struct store_fixture *fixture, void *data, GError **error), void *data,
    bool is_whole);

/** Minimum number of failures: a server counts statements. @param steps  of SQLite */
unsigned store_fixture_get_least(const struct store_fixture *fixture, unsigned steps);

/** Like TEST, for tests that get an empty store: struct store_fixture *fixture. */
#define STORE_TEST(function) \
	TEST_WITH(function, store_fixture, fixture, store_fixture_new())
