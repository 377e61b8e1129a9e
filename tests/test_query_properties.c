/*
 * test_query_properties.c - random filters on random papers: the matcher
 * agrees with a plain reading of the filter and with SQLite's full-text
 * search, and the canonical text is stable.
 */
#include <string.h>

#include "base/bounds.h"
#include "test_query.h"

#define TITLE_WORDS    3
#define ABSTRACT_WORDS 7
#define MAX_OPERANDS   3

enum kind { LEAF_WORD, LEAF_PHRASE, LEAF_PREFIX, LEAF_VOTES, AND, OR, NOT };

struct expression {
	enum kind kind;
	unsigned texts; /* bit 0: title, bit 1: abstract */
	const char *words[2];
	int votes;
	unsigned n;
	struct expression *operands[MAX_OPERANDS];
};

/* In the singular, and some of them prefixes of others. */
static const char *const vocabulary[] = {
    "alpha", "alphabet", "alpine", "beta", "betamax", "gamma", "müll", "müller"};

struct random_paper {
	const char *words[2][ABSTRACT_WORDS];
	unsigned n[2];
	int64_t upvotes;
};

static const char *
choose_word(GRand *rand)
{
	return vocabulary[g_rand_int_range(rand, 0, G_N_ELEMENTS(vocabulary))];
}

static void
free_expression(struct expression *expression)
{
	for (unsigned i = 0; i < expression->n; i++)
		free_expression(expression->operands[i]);
	g_free(expression);
}

static struct expression *
make_leaf(GRand *rand, bool has_votes)
{
	struct expression *leaf = g_new0(struct expression, 1);

	leaf->kind = g_rand_int_range(rand, LEAF_WORD, has_votes ? AND : LEAF_VOTES);
	leaf->texts = g_rand_boolean(rand) ? 3 : g_rand_int_range(rand, 1, 4);
	leaf->words[0] = choose_word(rand);
	leaf->words[1] = choose_word(rand);
	leaf->votes = g_rand_int_range(rand, 1, 20);
	return leaf;
}

/* Each AND begins with what is not negated, and NOT is nowhere else. */
static struct expression *
make_expression(GRand *rand, int depth, bool has_votes)
{
	struct expression *expression;

	if (depth == 0 || g_rand_int_range(rand, 0, 4) == 0)
		return make_leaf(rand, has_votes);
	expression = g_new0(struct expression, 1);
	expression->kind = g_rand_boolean(rand) ? AND : OR;
	expression->n = g_rand_int_range(rand, 2, MAX_OPERANDS + 1);
	for (unsigned i = 0; i < expression->n; i++) {
		struct expression *operand =
		    make_expression(rand, depth - 1, has_votes);

		if (i > 0 && expression->kind == AND &&
		    g_rand_int_range(rand, 0, 3) == 0) {
			struct expression *negation = g_new0(struct expression, 1);

			negation->kind = NOT;
			negation->n = 1;
			negation->operands[0] = operand;
			operand = negation;
		}
		expression->operands[i] = operand;
	}
	return expression;
}

/* ---- Spelling: what a person may type for an expression ---- */

static void
type_word(GRand *rand, GString *out, const char *word, bool may_be_plural)
{
	g_autofree char *upper = g_utf8_strup(word, -1);

	g_string_append(out, g_rand_int_range(rand, 0, 3) == 0 ? upper : word);
	if (may_be_plural && g_rand_int_range(rand, 0, 3) == 0)
		g_string_append_c(out, 's');
}

static void
type_leaf(GRand *rand, GString *out, const struct expression *leaf)
{
	static const char *const fields[][3] = {
	    {"title:", "ti:", "Title:"},
	    {"abstract:", "abs:", "ABS:"},
	    {"", "text:", "all:"},
	};
	bool is_hyphenated = g_rand_boolean(rand);

	if (leaf->kind == LEAF_VOTES) {
		g_string_append_printf(out,
		    g_rand_boolean(rand) ? "upvotes:>=%d" : "upvotes:%d..",
		    leaf->votes);
		return;
	}
	g_string_append(out, fields[leaf->texts - 1][g_rand_int_range(rand, 0, 3)]);
	if (leaf->kind == LEAF_PHRASE && !is_hyphenated)
		g_string_append_c(out, '"');
	type_word(rand, out, leaf->words[0], leaf->kind != LEAF_PREFIX);
	if (leaf->kind == LEAF_PREFIX)
		g_string_append_c(out, '*');
	if (leaf->kind == LEAF_PHRASE) {
		g_string_append_c(out, is_hyphenated ? '-' : ' ');
		type_word(rand, out, leaf->words[1], true);
		if (!is_hyphenated)
			g_string_append_c(out, '"');
	}
}

static void
type_expression(GRand *rand, GString *out, const struct expression *expression)
{
	static const char *const ands[] = {" AND ", " & ", " "};
	static const char *const ors[] = {" OR ", " | ", "|"};
	static const char *const nots[] = {"NOT ", "-", "!"};
	unsigned first = 0;

	if (expression->kind < AND) {
		type_leaf(rand, out, expression);
		return;
	}
	if (expression->kind == NOT)
		g_string_append(out, nots[g_rand_int_range(rand, 0, 3)]);
	else
		first = g_rand_int_range(rand, 0, expression->n);
	for (unsigned i = 0; i < expression->n; i++) {
		const struct expression *operand =
		    expression->operands[(first + i) % expression->n];
		bool is_grouped = operand->kind == AND || operand->kind == OR;

		if (i > 0)
			g_string_append(
			    out, (expression->kind == AND
			                 ? ands
			                 : ors)[g_rand_int_range(rand, 0, 3)]);
		g_string_append(out, is_grouped ? "(" : "");
		type_expression(rand, out, operand);
		g_string_append(out, is_grouped ? ")" : "");
	}
}

/* ---- A plain reading ---- */

static bool
has_leaf(const struct random_paper *paper, const struct expression *leaf)
{
	for (unsigned text = 0; text < 2; text++) {
		const char *const *words = paper->words[text];

		if (!(leaf->texts & 1U << text))
			continue;
		for (unsigned i = 0; i < paper->n[text]; i++) {
			if (leaf->kind == LEAF_PREFIX &&
			    g_str_has_prefix(words[i], leaf->words[0]))
				return true;
			if (strcmp(words[i], leaf->words[0]) == 0 &&
			    (leaf->kind == LEAF_WORD ||
			        (leaf->kind == LEAF_PHRASE && i + 1 < paper->n[text] &&
			            strcmp(words[i + 1], leaf->words[1]) == 0)))
				return true;
		}
	}
	return false;
}

static int
read_plainly(const struct random_paper *paper, const struct expression *expression,
    int mode) /* one of enum query_mode, or 2: finally */
{
	int truth;

	switch (expression->kind) {
	case LEAF_WORD:
	case LEAF_PHRASE:
	case LEAF_PREFIX:
		return has_leaf(paper, expression) ? QUERY_TRUE : QUERY_FALSE;
	case LEAF_VOTES:
		if (mode == QUERY_MAY_CHANGE)
			return QUERY_UNKNOWN;
		if (paper->upvotes == PAPER_UNKNOWN)
			return mode == QUERY_AS_TOLD ? QUERY_UNKNOWN : QUERY_FALSE;
		return paper->upvotes >= expression->votes ? QUERY_TRUE : QUERY_FALSE;
	case NOT:
		return 2 - read_plainly(paper, expression->operands[0], mode);
	case AND:
	case OR:
		break;
	}
	truth = read_plainly(paper, expression->operands[0], mode);
	for (unsigned i = 1; i < expression->n; i++) {
		int one = read_plainly(paper, expression->operands[i], mode);

		truth = expression->kind == AND ? MIN(truth, one) : MAX(truth, one);
	}
	return truth;
}

static void
make_paper(GRand *rand, struct random_paper *paper, GString *texts[2])
{
	static const char *const gaps[] = {" ", ", ", "-", ". ", " (", "' "};

	paper->n[0] = g_rand_int_range(rand, 1, TITLE_WORDS + 1);
	paper->n[1] = g_rand_int_range(rand, 0, ABSTRACT_WORDS + 1);
	paper->upvotes = g_rand_int_range(rand, -1, 25);
	for (unsigned text = 0; text < 2; text++) {
		g_string_truncate(texts[text], 0);
		for (unsigned i = 0; i < paper->n[text]; i++) {
			paper->words[text][i] = choose_word(rand);
			if (i > 0)
				g_string_append(
				    texts[text], gaps[g_rand_int_range(
				                     rand, 0, G_N_ELEMENTS(gaps))]);
			type_word(rand, texts[text], paper->words[text][i], false);
		}
	}
}

static void
the_matcher_reads_filters_plainly(struct query_fixture *fixture, const void *unused)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(3);
	GString *texts[2] = {g_string_new(NULL), g_string_new(NULL)};
	unsigned seen[3] = {0};

	(void)unused;
	for (int round = 0; round < 3000; round++) {
		struct expression *expression = make_expression(rand, 3, true);
		g_autoptr(GString) one = g_string_new(NULL);
		g_autoptr(GString) other = g_string_new(NULL);
		g_autofree char *once = NULL;
		g_autofree char *same = NULL;
		g_autofree char *twice = NULL;

		type_expression(rand, one, expression);
		type_expression(rand, other, expression);
		if (MAX(one->len, other->len) > BOUNDS_QUERY_BYTES) {
			free_expression(expression);
			continue;
		}
		once = canonical(fixture, one->str);
		same = canonical(fixture, other->str);
		g_assert_cmpstr(once, ==, same);
		if (strlen(once) <= BOUNDS_QUERY_BYTES) {
			twice = canonical(fixture, once);
			g_assert_cmpstr(once, ==, twice);
		}
		for (int i = 0; i < 5; i++) {
			struct random_paper paper;
			pb_auto(query_document) document = NULL;
			pb_auto(query) typed = must_parse(fixture, one->str);
			pb_auto(query) parsed =
			    query_parse_canonical(once, fixture->tokenizer, NULL);

			make_paper(rand, &paper, texts);
			document = make_document(
			    fixture, texts[0]->str, texts[1]->str, "", paper.upvotes);
			for (int mode = 0; mode < 3; mode++) {
				int truth = read_plainly(&paper, expression, mode);
				enum query_mode asked = (enum query_mode)(mode % 2);

				if (mode == 2)
					query_document_settle(
					    document, QUERY_SETTLED_FINALLY);
				g_assert_cmpint(
				    query_evaluate(typed, document, asked), ==, truth);
				g_assert_cmpint(
				    query_evaluate(parsed, document, asked), ==, truth);
				seen[truth]++;
			}
		}
		free_expression(expression);
	}
	/* Papers and filters are such that all three happen, and often. */
	for (int truth = 0; truth < 3; truth++)
		g_assert_cmpuint(seen[truth], >, 3000);
	g_string_free(texts[0], TRUE);
	g_string_free(texts[1], TRUE);
}

/* ---- FTS5 ---- */

static void
write_fts5(GString *out, const struct expression *expression)
{
	static const char *const columns[] = {
	    "{title}", "{abstract}", "{title abstract}"};
	bool is_first = true;

	if (expression->kind < AND) {
		g_string_append_printf(out, "%s : \"%s%s%s\"%s",
		    columns[expression->texts - 1], expression->words[0],
		    expression->kind == LEAF_PHRASE ? " " : "",
		    expression->kind == LEAF_PHRASE ? expression->words[1] : "",
		    expression->kind == LEAF_PREFIX ? " *" : "");
		return;
	}
	/* NOT takes two operands there: (a AND b) NOT c NOT d. */
	g_string_append(out, "((");
	for (unsigned i = 0; i < expression->n; i++) {
		const struct expression *operand = expression->operands[i];

		if (operand->kind == NOT)
			continue;
		if (!is_first)
			g_string_append(
			    out, expression->kind == AND ? " AND " : " OR ");
		is_first = false;
		write_fts5(out, operand);
	}
	g_string_append_c(out, ')');
	for (unsigned i = 0; i < expression->n; i++) {
		if (expression->operands[i]->kind != NOT)
			continue;
		g_string_append(out, " NOT (");
		write_fts5(out, expression->operands[i]->operands[0]);
		g_string_append_c(out, ')');
	}
	g_string_append_c(out, ')');
}

#define PAPERS 60

static void
fill_table(const struct query_fixture *fixture, GRand *rand,
    struct query_document *documents[PAPERS])
{
	GString *texts[2] = {g_string_new(NULL), g_string_new(NULL)};
	sqlite3_stmt *insert;

	g_assert_cmpint(
	    sqlite3_exec(fixture->db,
	        "CREATE VIRTUAL TABLE paper_fts USING fts5(title, abstract, "
	        "tokenize='unicode61 remove_diacritics 2')",
	        NULL, NULL, NULL),
	    ==, SQLITE_OK);
	sqlite3_prepare_v2(fixture->db,
	    "INSERT INTO paper_fts(rowid, title, abstract) VALUES (?1, ?2, ?3)", -1,
	    &insert, NULL);
	for (int i = 0; i < PAPERS; i++) {
		struct random_paper paper;

		make_paper(rand, &paper, texts);
		documents[i] =
		    make_document(fixture, texts[0]->str, texts[1]->str, "", 0);
		sqlite3_bind_int(insert, 1, i);
		sqlite3_bind_text(insert, 2, texts[0]->str, -1, SQLITE_TRANSIENT);
		sqlite3_bind_text(insert, 3, texts[1]->str, -1, SQLITE_TRANSIENT);
		g_assert_cmpint(sqlite3_step(insert), ==, SQLITE_DONE);
		sqlite3_reset(insert);
	}
	sqlite3_finalize(insert);
	g_string_free(texts[0], TRUE);
	g_string_free(texts[1], TRUE);
}

static void
the_matcher_agrees_with_the_full_text_search(
    struct query_fixture *fixture, const void *unused)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(4);
	struct query_document *documents[PAPERS];
	sqlite3_stmt *match;
	unsigned found = 0, missed = 0;

	(void)unused;
	fill_table(fixture, rand, documents);
	sqlite3_prepare_v2(fixture->db,
	    "SELECT rowid FROM paper_fts WHERE paper_fts MATCH ?1", -1, &match, NULL);
	for (int round = 0; round < 2000; round++) {
		struct expression *expression = make_expression(rand, 3, false);
		g_autoptr(GString) typed = g_string_new(NULL);
		g_autoptr(GString) fts5 = g_string_new(NULL);
		bool is_match[PAPERS] = {false};
		pb_auto(query) query = NULL;

		type_expression(rand, typed, expression);
		write_fts5(fts5, expression);
		free_expression(expression);
		if (typed->len > BOUNDS_QUERY_BYTES)
			continue;
		sqlite3_bind_text(match, 1, fts5->str, -1, SQLITE_TRANSIENT);
		while (sqlite3_step(match) == SQLITE_ROW)
			is_match[sqlite3_column_int(match, 0)] = true;
		g_assert_cmpint(sqlite3_reset(match), ==, SQLITE_OK);
		query = must_parse(fixture, typed->str);
		for (int i = 0; i < PAPERS; i++) {
			enum query_truth truth =
			    query_evaluate(query, documents[i], QUERY_AS_TOLD);

			if (truth != (is_match[i] ? QUERY_TRUE : QUERY_FALSE))
				g_error("paper %d: '%s' is %d, but '%s' is %d", i,
				    typed->str, truth, fts5->str, is_match[i]);
			found += is_match[i];
			missed += !is_match[i];
		}
	}
	sqlite3_finalize(match);
	for (int i = 0; i < PAPERS; i++)
		query_document_free(documents[i]);
	g_assert_cmpuint(found, >, 10000);
	g_assert_cmpuint(missed, >, 10000);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	ADD_TEST("/query_properties/the matcher reads filters plainly",
	    the_matcher_reads_filters_plainly);
	ADD_TEST("/query_properties/the matcher agrees with the full-text search",
	    the_matcher_agrees_with_the_full_text_search);
	return g_test_run();
}
