/*
 * paper_row.h - read rows of the table paper; for src/store only.
 */
#ifndef PAPERBOY_STORE_PAPER_PAPER_ROW_H
#define PAPERBOY_STORE_PAPER_PAPER_ROW_H

#include "store/core/sql.h"
#include "store/paper/papers.h"

/* In the order of paper_row_load(); the table is `paper`. */
#define PAPER_ROW_COLUMNS                                                           \
	"paper.seq, paper.id, paper.title, paper.abstract, paper.authors,"          \
	" paper.url, paper.code_url, paper.project_url, paper.video_url,"           \
	" paper.organization, paper.keywords, paper.categories, paper.comment,"     \
	" paper.journal, paper.doi, paper.published_at, paper.upvotes,"             \
	" paper.comments, paper.stars, paper.revision, paper.last_day,"             \
	" paper.first_seen_at, paper.is_revised, paper.source_rank, paper.summary," \
	" (SELECT group_concat(l.day || '\t' || coalesce(l.type, '') || '\t' ||"    \
	"   l.first_seen_at || '\t' || l.source, '\n')"                             \
	"  FROM listing l WHERE l.paper_seq = paper.seq),"                          \
	" coalesce(paper.upvotes_day, ''), paper.upvotes_before"

/**
 * Step a statement whose first columns are PAPER_ROW_COLUMNS
 * (store/core/enumeration.h).
 */
enum sql_step paper_row_step(struct sql_statement *row, GError **error);

/** Load the paper of the current row. */
struct stored_paper *paper_row_load(struct sql_statement *row);

/** Load all rows of a statement. @return of struct stored_paper * */
GPtrArray *paper_row_load_all(struct sql_statement *statement, GError **error);

/**
 * Whether a listing was first seen too late for the relative dates of filters.
 *
 * @param listed_at, first_seen_at  when the listing and the paper were first seen, s
 */
bool paper_row_is_late(const char *day, int64_t listed_at, int64_t first_seen_at);

/** Join texts with newlines. @return a new string; NULL for NULL */
char *paper_row_join(const GPtrArray *texts);

/** Inverse of paper_row_join(). @return NULL for NULL */
GPtrArray *paper_row_load_texts(struct sql_statement *row, int column);

#endif
