/*
 * paper_row.h - read rows of the table paper; for src/store only.
 */
#pragma once

#include "store/core/sql.h"
#include "store/paper/papers.h"

/* In the order of load_columns(); the table is `paper`. */
#define PAPER_ROW_COLUMNS                                                           \
	"paper.seq, paper.id, paper.title, paper.abstract, paper.authors,"          \
	" paper.url, paper.code_url, paper.project_url, paper.video_url,"           \
	" paper.organization, paper.keywords, paper.categories, paper.comment,"     \
	" paper.journal, paper.doi, paper.published_at, paper.upvotes,"             \
	" paper.comments, paper.stars, paper.revision, paper.last_day,"             \
	" paper.first_seen_at, paper.is_revised, paper.source_rank, paper.summary," \
	" coalesce(paper.upvotes_day, ''), paper.upvotes_before, paper.pmid,"       \
	" paper.pmcid, paper.mesh, paper.looked_up, paper.delayed_until,"           \
	" coalesce(paper.work, 0)"

/**
 * Load the paper of the next row, with its listings (store/core/record.h).
 *
 * @param statement  with PAPER_ROW_COLUMNS; NULL: *error is set
 * @param stored  set; NULL if there is no row
 */
bool paper_row_find(struct store *store, struct sql_statement *statement,
    struct stored_paper **stored, GError **error);

/** Load the papers of all rows. @return of struct stored_paper * */
GPtrArray *paper_row_load_all(
    struct store *store, struct sql_statement *statement, GError **error);

/** Format the names of a journal as stored: the one that is shown is the first line. */
char *paper_row_format_journal(const struct paper *paper);

/** Join texts with newlines. @return a new string; NULL for NULL */
char *paper_row_join(const GPtrArray *texts);
