/*
 * test_query_evaluate.c - verdicts, hits and explanations of filters.
 */
#include <string.h>

#include "base/bounds.h"
#include "test_query.h"

static enum query_verdict
evaluate(const struct query_fixture *fixture, const struct query_document *document,
    const char *text, enum query_mode mode)
{
	pb_auto(query) query = must_parse(fixture, text);

	return query_evaluate(query, document, mode);
}

static void
words_match_by_text_and_form(struct query_fixture *fixture, const void *unused)
{
	static const struct {
		const char *text;
		bool is_match;
	} rows[] = {
	    {"mamba", true},
	    {"MAMBA", true},
	    {"mambas", true},
	    {"title:mamba", true},
	    {"abstract:mamba", false},
	    {"text:mamba", true},
	    {"mam", false},
	    {"model", true},
	    {"models", true},
	    {"new", false},
	    {"news", true},
	    {"analysis", true},
	    {"generative", true},
	    {"general", false},
	    {"muller", true},
	    {"Müller", true},
	    /* AND may be spread over the texts, a phrase may not. */
	    {"mamba language", true},
	    {"title:(mamba language)", false},
	    {"\"state space\"", true},
	    {"\"state spaces\"", true},
	    {"state-space", true},
	    {"\"space state\"", false},
	    {"\"state models\"", false},
	    {"\"recipes language\"", false},
	    {"\"news of\"", true},
	    {"abs:\"state space\"", false},
	    {"self-play", true},
	    {"\"self play\"", true},
	    {"play-self", false},
	    /* Prefixes match unfolded words. */
	    {"gener*", true},
	    {"generative*", true},
	    {"generatives*", false},
	    {"spac*", true},
	    {"spaces*", true},
	    {"title:gener*", false},
	    {"\"large lang*\"", true},
	    {"\"large mod*\"", false},
	    {"zzz*", false},
	    {"\"recipes larg*\"", false},
	    /* Signs. */
	    {"c", true},
	    {"c++", true},
	    {"C#", true},
	    {"c+", false},
	    {"d++", false},
	    {"node.js", true},
	    {"node-js", true},
	    {"node.net", false},
	    {"large.language", false},
	    {"gpt-4.5", true},
	    {"gpt.4.5", false},
	    {"\"in c++\"", true},
	    {"\"c++ and c#\"", true},
	    {"\"c and c\"", true},
	    {"\"c# and c++\"", false},
	    /* Operators. */
	    {"mamba OR zebra", true},
	    {"zebra OR mamba", true},
	    {"mamba -zebra", true},
	    {"mamba -news", false},
	    {"mamba NOT (zebra OR news)", false},
	    {"mamba NOT (zebra news)", true},
	    {"zebra OR mamba news", true},
	    {"(zebra OR mamba) zebra", false},
	};
	pb_auto(query_document) document =
	    make_document(fixture, "Mamba: State Spaces, recipes",
	        "Large language models, generative Müller self-play; news of analysis. "
	        "Written in C++ and C#, with Node.js. GPT 4.5!",
	        "", 5);

	(void)unused;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if ((evaluate(fixture, document, rows[i].text, QUERY_AS_REPORTED) ==
		        QUERY_TRUE) != rows[i].is_match)
			g_error("'%s' should %smatch", rows[i].text,
			    rows[i].is_match ? "" : "not ");
}

static void
signs_match_at_the_end_of_a_text(struct query_fixture *fixture, const void *unused)
{
	pb_auto(query_document) document =
	    make_document(fixture, "From C to C++", "Written in C#.", "", 5);
	pb_auto(query_document) plain =
	    make_document(fixture, "From C to C", "node", "", 5);

	(void)unused;
	g_assert_true(
	    evaluate(fixture, document, "c++ c#", QUERY_AS_REPORTED) == QUERY_TRUE);
	g_assert_true(
	    evaluate(fixture, plain, "c++", QUERY_AS_REPORTED) == QUERY_FALSE);
	g_assert_true(
	    evaluate(fixture, plain, "node.js", QUERY_AS_REPORTED) == QUERY_FALSE);
}

static void
names_match_within_one_author(struct query_fixture *fixture, const void *unused)
{
	static const struct {
		const char *asked;
		const char *printed;
		bool is_match;
	} rows[] = {
	    {"Yann LeCun", "Yann LeCun", true},
	    {"LeCun, Yann", "Yann LeCun", true},
	    {"Y. LeCun", "Yann LeCun", true},
	    {"Y LeCun", "Yann LeCun", true},
	    {"LeCun, Y.", "Yann LeCun", true},
	    {"Yann LeCun", "Y. LeCun", true},
	    {"Yann LeCun", "LeCun, Yann", true},
	    {"Yann LeCun", "Yann A. LeCun", true},
	    {"Y. A. LeCun", "Yann André LeCun", true},
	    {"Y.A. LeCun", "Yann André LeCun", true},
	    {"A LeCun", "Yann A. LeCun", false},
	    {"Yves LeCun", "Yann LeCun", false},
	    {"Yan LeCun", "Yann LeCun", false},
	    {"Yann Le", "Yann LeCun", false},
	    {"Yann LeCun", "Yann LeCunn", false},
	    {"Yann LeCun", "LeCun", false},
	    {"Yann LeCun", "Yann Dupont;Anna LeCun", false},
	    {"Yann LeCun", "Anna Dupont;Yann LeCun", true},
	    {"Yann Dupont", "Yann LeCun;Anna Dupont", false},
	    /* One word matches any whole word. */
	    {"LeCun", "Yann LeCun", true},
	    {"Yann", "Yann LeCun", true},
	    {"LeC", "Yann LeCun", false},
	    {"qwen", "Qwen Team", true},
	    {"William", "Ada Williams", false},
	    {"David", "Shai Ben-David", false},
	    {"Ben-David", "Shai Ben-David", true},
	    {"Fei-Fei", "Fei-Fei Li", true},
	    {"Y", "Yann LeCun", false},
	    /* With a comma it is the last name. */
	    {"Yann,", "Yann LeCun", false},
	    {"LeCun,", "Yann LeCun", true},
	    /* Last names of several words. */
	    {"Shai Ben-David", "S. Ben-David", true},
	    {"Shai David", "Shai Ben-David", false},
	    {"Ben David, Shai", "Shai Ben-David", true},
	    {"García Márquez, Gabriel", "Gabriel Garcia Marquez", true},
	    {"García Márquez, Gabriel", "Gabriel G. Marquez", false},
	    {"van den Oord", "Aäron van den Oord", true},
	    {"Aaron van den Oord", "Aäron van den Oord", true},
	    {"Aaron Oord", "Aäron van den Oord", true},
	    {"Di Wang", "D. Wang", true},
	    {"D Wang", "Di Wang", true},
	    {"Jean-Pierre Serre", "J.-P. Serre", true},
	    {"Jean Serre", "Jean-Pierre Serre", true},
	    {"Ann O'Brien", "Ann O’Brien", true},
	    {"Robert Downey", "Robert Downey Jr.", true},
	    {"Robert Downey, Jr.", "Robert Downey", true},
	    {"Jürgen Schmidhuber", "Jurgen Schmidhuber", true},
	    {"Yann LeCun", "", false},
	    {"Yann LeCun", "???", false},
	};

	(void)unused;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *text = g_strdup_printf("author:\"%s\"", rows[i].asked);
		g_autofree char *same = canonical(fixture, text);
		pb_auto(query_document) document =
		    make_document(fixture, "a", "", rows[i].printed, 0);
		bool is_match =
		    evaluate(fixture, document, text, QUERY_AS_REPORTED) == QUERY_TRUE;

		if (is_match != rows[i].is_match)
			g_error("'%s' should %smatch '%s'", rows[i].asked,
			    rows[i].is_match ? "" : "not ", rows[i].printed);
		g_assert_cmpint(evaluate(fixture, document, same, QUERY_AS_REPORTED),
		    ==, is_match ? QUERY_TRUE : QUERY_FALSE);
	}
}

static void
missing_and_mutable_fields_are_unknown_until_final(
    struct query_fixture *fixture, const void *unused)
{
	enum { F = QUERY_FALSE, U = QUERY_UNKNOWN, T = QUERY_TRUE };
	static const struct {
		const char *text;
		int64_t upvotes;
		int truths[3]; /* as reported, may change, all final */
	} rows[] = {
	    {"diffusion upvotes:>=20", 5, {F, U, F}},
	    {"diffusion upvotes:>=20", 20, {T, U, T}},
	    {"diffusion upvotes:>=20", PAPER_UNKNOWN, {U, U, F}},
	    {"diffusion NOT upvotes:>=20", 5, {T, U, T}},
	    {"diffusion NOT upvotes:>=20", 20, {F, U, F}},
	    {"diffusion NOT upvotes:>=20", PAPER_UNKNOWN, {U, U, T}},
	    {"zebra upvotes:>=20", 5, {F, F, F}},
	    {"zebra upvotes:>=20", PAPER_UNKNOWN, {F, F, F}},
	    {"zebra NOT upvotes:>=20", PAPER_UNKNOWN, {F, F, F}},
	    {"diffusion OR upvotes:>=20", PAPER_UNKNOWN, {T, T, T}},
	    {"zebra OR upvotes:>=20", PAPER_UNKNOWN, {U, U, F}},
	    {"zebra OR upvotes:>=20", 5, {F, U, F}},
	    {"diffusion NOT (zebra upvotes:>=20)", PAPER_UNKNOWN, {T, T, T}},
	    {"diffusion NOT (zebra OR upvotes:>=20)", PAPER_UNKNOWN, {U, U, T}},
	    {"upvotes:10", 10, {T, U, T}},
	    {"upvotes:10", 11, {F, U, F}},
	    {"upvotes:10..20", 9, {F, U, F}},
	    {"upvotes:10..20", 10, {T, U, T}},
	    {"upvotes:10..20", 20, {T, U, T}},
	    {"upvotes:10..20", 21, {F, U, F}},
	    {"upvotes:<10", 9, {T, U, T}},
	    {"upvotes:<10", 10, {F, U, F}},
	    {"upvotes:>10", 10, {F, U, F}},
	    {"upvotes:>10", 11, {T, U, T}},
	    {"upvotes:=0", 0, {T, U, T}},
	    {"upvotes:>=0", PAPER_UNKNOWN, {U, U, F}},
	    {"diffusion", PAPER_UNKNOWN, {T, T, T}},
	    {"author:gu", PAPER_UNKNOWN, {T, T, T}},
	};

	(void)unused;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(query_document) document = make_document(
		    fixture, "Diffusion", "", "Albert Gu", rows[i].upvotes);

		for (int mode = 0; mode < 3; mode++) {
			int truth;

			if (mode == 2)
				query_document_finalize(document, QUERY_FINALITY_ALL);
			truth = evaluate(fixture, document, rows[i].text,
			    (enum query_mode)(mode % 2));

			if (truth != rows[i].truths[mode])
				g_error("'%s' with %d votes in mode %d is %d",
				    rows[i].text, (int)rows[i].upvotes, mode, truth);
		}
	}
}

static void
hits_are_explained_on_one_line(struct query_fixture *fixture, const void *unused)
{
	static const struct {
		const char *text;
		const char *explained;
	} rows[] = {
	    {"\"state space\" mamba (ssm OR zebra) upvotes:>=20",
	        "Mamba, \"State Spaces\" in the title; SSMs in the abstract; 23 votes"},
	    {"mamba", "Mamba in the title"},
	    {"abs:mamba", "mamba in the abstract"},
	    {"(zebra OR ssm) -survey", "SSMs in the abstract"},
	    {"mamba NOT (zebra NOT ssm)", "Mamba in the title"},
	    {"mamba OR (state zebra)", "Mamba in the title"},
	    {"state-space", "\"State Spaces\" in the title"},
	    {"abs:state-space", "state-space in the abstract"},
	    {"quantiz*", "quantized, quantization in the abstract"},
	    {"c++", "C++ in the abstract"},
	    {"author:gu OR author:dao", "by Albert Gu, Tri Dao"},
	    {"au:gu mamba", "Mamba in the title; by Albert Gu"},
	    {"zebra", ""},
	    {"mamba zebra", ""},
	    {"mamba OR upvotes:>=99", "Mamba in the title"},
	};
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

	(void)unused;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(query) query = must_parse(fixture, rows[i].text);
		g_autofree char *explained = query_explain_text(query, document, NULL);

		g_assert_cmpstr(explained, ==, rows[i].explained);
	}
	g_assert_cmpstr(one, ==, "Mamba in the title; 1 vote");
	g_assert_cmpstr(none, ==, "Mamba in the title");
}

static void
hits_have_places(struct query_fixture *fixture, const void *unused)
{
	static const struct {
		enum query_field field;
		unsigned item;
		size_t start;
		size_t end;
		const char *words;
		const char *folded;
	} rows[] = {
	    {QUERY_FIELD_TITLE, 0, 4, 11, "Größe", "große"},
	    {QUERY_FIELD_TITLE, 0, 13, 24, "State Space", "state space"},
	    {QUERY_FIELD_TITLE, 0, 19, 24, "Space", "space"},
	    {QUERY_FIELD_ABSTRACT, 0, 2, 8, "spaces", "space"},
	    {QUERY_FIELD_AUTHOR, 1, 0, 7, "Tri Dao", "tri dao"},
	    {QUERY_FIELD_UPVOTES, 0, 0, 0, "7", "7"},
	};
	pb_auto(query_document) document = make_document(
	    fixture, "Der Größe: State Space", "a spaces", "Albert Gu;Tri Dao", 7);
	pb_auto(query) query = must_parse(
	    fixture, "\"state space\" space spaces große au:dao upvotes:<9 -zebra");
	g_autoptr(GPtrArray) hits = query_explain(query, document);

	(void)unused;
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

/* At the bound the line is whole; one character beyond it is cut at a word. */
static void
explanations_are_bounded(struct query_fixture *fixture, const void *unused)
{
	g_autoptr(GString) word = g_string_new(NULL);
	pb_auto(query) query = must_parse(fixture, "éaaa*");
	const size_t behind = strlen(" in the title");

	(void)unused;
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

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	ADD_TEST("/query_evaluate/words match by text and form",
	    words_match_by_text_and_form);
	ADD_TEST("/query_evaluate/signs match at the end of a text",
	    signs_match_at_the_end_of_a_text);
	ADD_TEST("/query_evaluate/names match within one author",
	    names_match_within_one_author);
	ADD_TEST("/query_evaluate/missing and mutable fields are unknown until final",
	    missing_and_mutable_fields_are_unknown_until_final);
	ADD_TEST("/query_evaluate/hits are explained on one line",
	    hits_are_explained_on_one_line);
	ADD_TEST("/query_evaluate/hits have places", hits_have_places);
	ADD_TEST("/query_evaluate/explanations are bounded", explanations_are_bounded);
	return g_test_run();
}
