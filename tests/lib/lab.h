/*
 * lab.h - a store in a folder of its own, filled by hand, at a made-up time.
 */
#ifndef PAPERBOY_TESTS_LIB_LAB_H
#define PAPERBOY_TESTS_LIB_LAB_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/clock.h"
#include "model/paper.h"
#include "store/store.h"

/* The consent of everybody in the tests. */
#define LAB_CONSENT "signed the made-up list"

/* The secret of a made-up state folder. */
#define LAB_KEY "0123456789abcdef0123456789abcdef"

struct lab {
	char *folder; /* removed at the end, with all in it */
	char *path;   /* of the store */
	struct store *store;
	GBytes *key;        /* of a made-up state folder */
	struct clock clock; /* reads as set by lab_set_now() */
	int steps_left;     /* of lab_interrupt_at() */
};

struct lab *lab_new(void);
void lab_free(struct lab *lab);
PB_DEFINE_AUTO(lab, lab_free);

/** Remove a folder and all in it. */
void lab_remove_folder(const char *folder);

/** Seconds since the epoch. @param text such as "2026-11-20T09:00:00Z" */
int64_t lab_time(const char *text);

/** Make the clock stand at that time. */
void lab_set_now(struct lab *lab, int64_t now);

/**
 * A source lists one paper, in a batch of its own.
 *
 * @param upvotes  or PAPER_UNKNOWN
 */
void lab_list(struct lab *lab, const char *day, const char *id, const char *title,
    int64_t upvotes);

/* Why a test is skipped in a tree that has no real papers beside it; see real_files()
 * of tests/lib/tap.py. */
#define LAB_NO_REAL_DATA "no real data"

/**
 * Store all real days that are at hand, at noon of each.
 *
 * @return how many days; 0: there are none
 */
unsigned lab_fill_real(struct lab *lab);

/** A paper to be filled further: id, title, abstract, an author and a link. */
struct paper *lab_paper(const char *id, const char *title, const char *abstract);

/** A source lists one paper at a time. @param paper taken */
void lab_save(struct lab *lab, const char *source, const char *day, int64_t at,
    struct paper *paper);

/** The same, announced as something. @param version  0: not told */
void lab_announce(struct lab *lab, const char *source, const char *day, int64_t at,
    struct paper *paper, enum announcement announcement, unsigned version);

/**
 * arXiv tells the categories of a paper.
 *
 * @param categories  blanks between; "" for none
 */
void lab_enrich(struct lab *lab, const char *id, const char *categories, int64_t at);

/**
 * Somebody subscribes at `now` to a daily digest at 07:30 in a zone.
 *
 * @param filter  or NULL
 * @return the subscriber's id
 */
int64_t lab_subscribe(struct lab *lab, const char *address, const char *zone,
    const char *filter, int64_t now);

void
lab_add_filter(struct lab *lab, const char *address, const char *filter, int64_t now);

/** The same of a block. */
void
lab_add_block(struct lab *lab, const char *address, const char *filter, int64_t now);

/** Match, and make the editions that are due. @return digests made */
unsigned lab_press(struct lab *lab, int64_t now);

/** Run SQL; fails the test when SQLite refuses. */
void lab_run(struct lab *lab, const char *sql);

/** Run SQL that is to be refused. @return what SQLite says, NULL when it did it */
char *lab_try(struct lab *lab, const char *sql);

/** The one number that SQL selects; -1 for NULL or no row. */
int64_t lab_number(struct lab *lab, const char *sql);

/** All rows that SQL selects: cells joined by "|", rows by " ". @return a new string */
char *lab_text(struct lab *lab, const char *sql);

/** Every statement that the store has prepared, with its plan below. @return a new
 * string */
char *lab_format_plans(struct lab *lab);

#define lab_assert_text(lab, sql, wanted)                        \
	do {                                                     \
		g_autofree char *lab_text_ = lab_text(lab, sql); \
		g_assert_cmpstr(lab_text_, ==, wanted);          \
	} while (0)

/** All that is in the store, as one hash. @return a new string */
char *lab_hash(struct lab *lab);

/** No statement may be open and no transaction under way. */
void lab_assert_idle(struct lab *lab);

/** Make SQLite fail once, at its nth step from now on; 0: not any more. */
void lab_interrupt_at(struct lab *lab, int nth);

/**
 * Call a function with SQLite refusing to commit, then failing at its first step,
 * then at a later one, and so on until it gets through.  After each failure there must
 * be an error, no statement open, no transaction under way, and, when `is_whole`, the
 * store as it was.
 *
 * @return how often it failed
 */
unsigned lab_fail_everywhere(struct lab *lab,
    bool (*call)(struct lab *lab, void *data, GError **error), void *data,
    bool is_whole);

#endif
