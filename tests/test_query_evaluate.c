/*
 * test_query_evaluate.c - explain why a filter finds a paper.
 *
 * tests/test_language.py compares the evaluation with an oracle and with FTS5.
 */
#include <string.h>

#include "base/bounds.h"
#include "lib/cases.h"
#include "test_query.h"

QUERY_TEST(hits_are_explained_on_one_line)
{
	pb_auto(query_document) document =
	    make_document(fixture, "Mamba with State Spaces",
	        "SSMs and mamba: the SSM of state-space, state space quantized "
	        "quantization (C++)",
	        "Albert Gu;Tri Dao", 23);
	pb_auto(query_document) one_vote = make_document(fixture, "Mamba", "", "", 1);
	pb_auto(query_document) no_votes =
	    make_document(fixture, "Mamba", "", "", PAPER_UNKNOWN);
	pb_auto(query) votes = must_parse(fixture, "mamba upvotes:>=1");
	g_autofree char *one = query_explain_text(votes, one_vote, NULL);
	g_autofree char *none = query_explain_text(votes, no_votes, NULL);

	CASES_FOREACH(row, "query_hits", *text, *explained) {
		pb_auto(query) query = must_parse(fixture, row->text);
		g_autofree char *explained = query_explain_text(query, document, NULL);

		g_assert_cmpstr(explained, ==, row->explained);
	}
	g_assert_cmpstr(one, ==, "Mamba in the title; 1 vote");
	g_assert_cmpstr(none, ==, "Mamba in the title");
}

/* Of a run only what was asked for is shown, not the pairs of the index. */
QUERY_TEST(hits_in_a_run_are_the_characters_of_the_filter)
{
	pb_auto(query_document) document = make_document(fixture,
	    "大型语言模型的推理能力", "用BERT模型，第1章；第2章", "", PAPER_UNKNOWN);

	CASES_FOREACH(row, "query_runs", *text, *explained) {
		pb_auto(query) query = must_parse(fixture, row->text);
		g_autofree char *explained = query_explain_text(query, document, NULL);

		g_assert_cmpstr(explained, ==, row->explained);
	}
}

QUERY_TEST(hits_have_places)
{
	static const struct {
		enum hit_field field;
		unsigned item;
		size_t start;
		size_t end;
		const char *words;
		const char *folded;
	} rows[] = {
	    {HIT_FIELD_TITLE, 0, 4, 11, "Größe", "große"},
	    {HIT_FIELD_TITLE, 0, 13, 24, "State Space", "state space"},
	    {HIT_FIELD_TITLE, 0, 19, 24, "Space", "space"},
	    {HIT_FIELD_ABSTRACT, 0, 2, 8, "spaces", "space"},
	    {HIT_FIELD_AUTHOR, 1, 0, 7, "Tri Dao", "tri dao"},
	    {HIT_FIELD_UPVOTES, 0, 0, 0, "7", "7"},
	};
	pb_auto(query_document) document = make_document(
	    fixture, "Der Größe: State Space", "a spaces", "Albert Gu;Tri Dao", 7);
	pb_auto(query) query = must_parse(
	    fixture, "\"state space\" space spaces große au:dao upvotes:<9 -zebra");
	g_autoptr(GPtrArray) hits = query_explain(query, document);

	g_assert_cmpuint(hits->len, ==, G_N_ELEMENTS(rows));
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const struct query_hit *hit = g_ptr_array_index(hits, i);

		g_assert_cmpint(hit->field, ==, rows[i].field);
		g_assert_cmpuint(hit->item, ==, rows[i].item);
		g_assert_cmpuint(hit->start, ==, rows[i].start);
		g_assert_cmpuint(hit->end, ==, rows[i].end);
		g_assert_cmpstr(hit->words, ==, rows[i].words);
		g_assert_cmpstr(hit->folded, ==, rows[i].folded);
	}
}

/* Each form of a word is listed once per text, for marks. */
QUERY_TEST(stored_hits_include_other_forms_and_the_summary)
{
	pb_auto(paper) paper =
	    make_text_paper("Mamba: State Space", "state spaces, mamba", "");
	pb_auto(query_document) document = NULL;
	pb_auto(query) query = must_parse(
	    fixture, "\"state space\" (NEAR(state mamba) OR ti:zebra) mamba -zebra");
	g_autoptr(GPtrArray) hits = NULL, again = NULL;
	g_autoptr(GString) stored = g_string_new(NULL);
	g_autofree char *line = NULL;

	paper->summary = g_strdup("MAMBA has State spaces");
	document =
	    NO_ERROR(query_document_new(paper, NULL, fixture->tokenizer, &error));
	hits = query_list_hits(query, document);
	hits_append(stored, hits);
	g_assert_cmpstr(stored->str, ==,
	    "tMamba\x1fState\ttMamba\ttState Space\tbstate\x1fmamba"
	    "\tBstate spaces\tBmamba\tBState spaces\tBMAMBA\tBState");
	again = hits_parse(stored->str);
	line = hits_format(again, NULL);
	g_assert_cmpstr(line, ==,
	    "Mamba near State, Mamba, \"State Space\" in the title; "
	    "state near mamba in the abstract");
}

/* At the bound the line is whole; one character beyond it is cut at a word. */
QUERY_TEST(explanations_are_bounded)
{
	g_autoptr(GString) word = g_string_new(NULL);
	pb_auto(query) query = must_parse(fixture, "éaaa*");
	const size_t behind = strlen(" in the title");

	g_string_append(word, "é");
	while (g_utf8_strlen(word->str, -1) < BOUNDS_QUERY_EXPLAIN_CHARS - (int)behind)
		g_string_append_c(word, 'a');
	for (int beyond = 0; beyond < 2; beyond++) {
		pb_auto(query_document) document =
		    make_document(fixture, word->str, "", "", 0);
		g_autofree char *explained = query_explain_text(query, document, NULL);
		glong chars = g_utf8_strlen(explained, -1);

		g_assert_cmpint(chars, <=, BOUNDS_QUERY_EXPLAIN_CHARS);
		g_assert_true(g_utf8_validate(explained, -1, NULL));
		g_assert_true(g_str_has_suffix(
		    explained, beyond ? " in the …" : " in the title"));
		if (!beyond)
			g_assert_cmpint(chars, ==, BOUNDS_QUERY_EXPLAIN_CHARS);
		g_string_append_c(word, 'a');
	}
	for (int i = 0; i < 3; i++) {
		g_autofree char *twice = g_strdup_printf("%s", word->str);

		g_string_append(word, twice);
	}
	{
		pb_auto(query_document) document =
		    make_document(fixture, word->str, "", "", 0);
		g_autofree char *explained = query_explain_text(query, document, NULL);

		g_assert_cmpint(
		    g_utf8_strlen(explained, -1), <=, BOUNDS_QUERY_EXPLAIN_CHARS);
		g_assert_true(g_str_has_suffix(explained, "aaa…"));
	}
}

UNIT_MAIN
