/*
 * test_tokenizer.c - the tokenizer splits text as FTS5 does.
 */
#include <sqlite3.h>
#include <string.h>

#include "lib/cases.h"
#include "query/text/tokens.h"
#include "test_query.h"

static char *
join_tokens(const struct query_fixture *fixture, const char *text, size_t len)
{
	g_autoptr(GArray) tokens = tokens_split(fixture->tokenizer, text, len);
	GString *out = g_string_new(NULL);

	g_assert_nonnull(tokens);
	for (guint i = 0; i < tokens->len; i++) {
		const struct token *token = &g_array_index(tokens, struct token, i);

		g_string_append_printf(
		    out, "%s[%zu-%zu]", token->text, token->start, token->end);
	}
	return g_string_free(out, FALSE);
}

QUERY_TEST(words_have_their_places)
{
	CASES_FOREACH(row, "tokenizer", *text, *tokens) {
		g_autofree char *tokens =
		    join_tokens(fixture, row->text, strlen(row->text));

		g_assert_cmpstr(tokens, ==, row->tokens);
	}
}

QUERY_TEST(only_the_given_length_is_tokenized)
{
	g_autofree char *tokens = join_tokens(fixture, "state space", 8);

	g_autofree char *run = join_tokens(fixture, "大模型", 6);
	g_autofree char *cut = join_tokens(fixture, "大模型", 4);

	g_assert_cmpstr(tokens, ==, "state[0-5]sp[6-8]");
	g_assert_cmpstr(run, ==, "大模[0-6]");
	g_assert_true(g_str_has_prefix(cut, "大[0-3]"));
}

/* Canonical text consists of tokens, so each must be its own token. */
QUERY_TEST(token_is_its_own_token)
{
	for (gunichar c = 1; c <= 0x10FFFF; c++) {
		char text[8] = {0};
		g_autoptr(GArray) tokens = NULL;
		g_autoptr(GArray) again = NULL;
		const char *token;

		if (!g_unichar_validate(c))
			continue;
		tokens =
		    tokens_split(fixture->tokenizer, text, g_unichar_to_utf8(c, text));
		if (tokens->len == 0)
			continue;
		g_assert_cmpuint(tokens->len, ==, 1);
		token = g_array_index(tokens, struct token, 0).text;
		again = tokens_split(fixture->tokenizer, token, strlen(token));
		if (again->len != 1 ||
		    strcmp(g_array_index(again, struct token, 0).text, token) != 0)
			g_error("U+%04X gives '%s', and that something else", c, token);
	}
}

QUERY_TEST(tokens_match_the_words_of_an_index)
{
	static const char text[] =
	    "Schrödinger's K-means, naïve LLMs: 100% of C++ ΑΒΓ, データ1型";
	sqlite3_stmt *statement;
	g_autoptr(GArray) tokens = tokens_split(fixture->tokenizer, text, strlen(text));
	guint at = 0;

	g_assert_cmpint(tokenizer_register(fixture->db), ==, SQLITE_OK);
	g_assert_cmpint(sqlite3_exec(fixture->db,
	                    "CREATE VIRTUAL TABLE t USING fts5(x, tokenize=bigram);"
	                    "CREATE VIRTUAL TABLE v USING fts5vocab(t, instance);",
	                    NULL, NULL, NULL),
	    ==, SQLITE_OK);
	sqlite3_prepare_v2(
	    fixture->db, "INSERT INTO t VALUES (?1)", -1, &statement, NULL);
	sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
	g_assert_cmpint(sqlite3_step(statement), ==, SQLITE_DONE);
	sqlite3_finalize(statement);
	sqlite3_prepare_v2(fixture->db,
	    "SELECT term, \"offset\" FROM v ORDER BY 2, length(term) DESC", -1,
	    &statement, NULL);
	for (; sqlite3_step(statement) == SQLITE_ROW; at++) {
		const char *term = (const char *)sqlite3_column_text(statement, 0);

		/* The end of a run has the place of its last pair. */
		if (sqlite3_column_int(statement, 1) < (int)at) {
			g_assert_cmpstr(term, ==, "タ");
			at--;
			continue;
		}
		g_assert_cmpuint(at, <, tokens->len);
		g_assert_cmpstr(term, ==, g_array_index(tokens, struct token, at).text);
	}
	sqlite3_finalize(statement);
	g_assert_cmpuint(at, ==, 14);
	g_assert_cmpuint(at, ==, tokens->len);
}

UNIT_MAIN
