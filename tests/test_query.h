/*
 * test_query.h - helpers of the tests of the filter language.
 */
#pragma once

#include <sqlite3.h>

#include "base/cleanup.h"
#include "lib/unit.h"
#include "query/query.h"
#include "store/core/tokenizer.h"

struct query_fixture {
	sqlite3 *db;
	struct tokenizer *tokenizer;
};

static inline void
query_fixture_init(struct query_fixture *fixture)
{
	g_assert_cmpint(sqlite3_open(":memory:", &fixture->db), ==, SQLITE_OK);
	fixture->tokenizer = NO_ERROR(tokenizer_new(fixture->db, &error));
}

static inline void
query_fixture_clear(struct query_fixture *fixture)
{
	tokenizer_free(fixture->tokenizer);
	g_assert_cmpint(sqlite3_close(fixture->db), ==, SQLITE_OK);
}

static inline struct query *
must_parse(const struct query_fixture *fixture, const char *text)
{
	g_autoptr(GError) error = NULL;
	struct query *query = query_parse(text, fixture->tokenizer, NULL, NULL, &error);

	if (!query)
		g_error("'%s' was refused: %s", text, error->message);
	return query;
}

static inline char *
canonical(const struct query_fixture *fixture, const char *text)
{
	pb_auto(query) query = must_parse(fixture, text);

	return query_format(query);
}

/* @param authors  separated by ";" */
static inline struct paper *
make_text_paper(const char *title, const char *abstract, const char *authors)
{
	struct paper *paper = paper_new();
	g_auto(GStrv) names = g_strsplit(authors, ";", -1);

	paper->id = g_strdup("2611.00001");
	paper->title = g_strdup(title);
	paper->abstract = g_strdup(abstract);
	for (guint i = 0; names[i]; i++)
		g_ptr_array_add(paper->authors, g_strdup(names[i]));
	return paper;
}

static inline struct query_document *
make_document(const struct query_fixture *fixture, const char *title,
    const char *abstract, const char *authors, int64_t upvotes)
{
	pb_auto(paper) paper = make_text_paper(title, abstract, authors);
	struct query_document *document;

	paper->upvotes = upvotes;
	document =
	    NO_ERROR(query_document_new(paper, NULL, fixture->tokenizer, &error));
	return document;
}

/** Like TEST, for tests that get a struct query_fixture *fixture. */
#define QUERY_TEST(function) TEST_WITH_LOCAL(function, query_fixture, fixture)
