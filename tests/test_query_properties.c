/*
 * test_query_properties.c - random filters on random papers: the matcher agrees with a
 * plain evaluation and with FTS5, and the canonical text is stable.
 */
#include <sqlite3.h>
#include <string.h>

#include "base/bounds.h"
#include "query/eval/terms.h"
#include "test_query.h"

#define TITLE_WORDS    3
#define ABSTRACT_WORDS 7
#define MAX_OPERANDS   3

/* FTS5 has the kinds before LEAF_EXACT too. */
enum kind {
	LEAF_WORD,
	LEAF_PHRASE,
	LEAF_PREFIX,
	LEAF_NEAR,
	LEAF_EXACT,
	LEAF_VOTES,
	LEAF_CATEGORY,
	LEAF_LINK,
	LEAF_DAYS,
	AND,
	OR,
	NOT,
};

struct expression {
	enum kind kind;
	unsigned texts; /* bit 0: title, bit 1: abstract */
	const char *words[2];
	int number; /* votes, words between, category or day */
	unsigned boost;
	bool is_upper; /* LEAF_EXACT */
	unsigned n;
	struct expression *operands[MAX_OPERANDS];
};

/* Singular; some are prefixes of others. */
static const char *const vocabulary[] = {
    "alpha", "alphabet", "alpine", "beta", "betamax", "gamma", "müll", "müller"};

static const char *const categories[] = {"cs.CL", "cs.LG", "math.AG"};

struct random_paper {
	const char *words[2][ABSTRACT_WORDS];
	bool is_upper[2][ABSTRACT_WORDS];
	unsigned n[2];
	int64_t upvotes;
	int category; /* the only one; -1: not reported */
	bool has_code;
	int day; /* of July 2026, 1 to 9 */
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
make_leaf(GRand *rand, bool is_any)
{
	struct expression *leaf = g_new0(struct expression, 1);

	leaf->kind = g_rand_int_range(rand, LEAF_WORD, is_any ? AND : LEAF_EXACT);
	leaf->texts = g_rand_boolean(rand) ? 3 : g_rand_int_range(rand, 1, 4);
	leaf->words[0] = choose_word(rand);
	leaf->words[1] = choose_word(rand);
	leaf->number = g_rand_int_range(rand, 1, leaf->kind == LEAF_VOTES ? 20 : 4);
	leaf->is_upper = g_rand_boolean(rand);
	leaf->boost = is_any && g_rand_int_range(rand, 0, 4) == 0
	                  ? g_rand_int_range(rand, 2, 11)
	                  : 1;
	return leaf;
}

/* Each AND begins with an operand that is not negated; NOT appears only there. */
static struct expression *
make_expression(GRand *rand, int depth, bool is_any)
{
	struct expression *expression;

	if (depth == 0 || g_rand_int_range(rand, 0, 4) == 0)
		return make_leaf(rand, is_any);
	expression = g_new0(struct expression, 1);
	expression->kind = g_rand_boolean(rand) ? AND : OR;
	expression->boost = is_any && g_rand_int_range(rand, 0, 6) == 0 ? 2 : 1;
	expression->n = g_rand_int_range(rand, 2, MAX_OPERANDS + 1);
	for (unsigned i = 0; i < expression->n; i++) {
		struct expression *operand = make_expression(rand, depth - 1, is_any);

		if (i > 0 && expression->kind == AND &&
		    g_rand_int_range(rand, 0, 3) == 0) {
			struct expression *negation = g_new0(struct expression, 1);

			negation->kind = NOT;
			negation->boost = 1;
			negation->n = 1;
			negation->operands[0] = operand;
			operand = negation;
		}
		expression->operands[i] = operand;
	}
	return expression;
}

/* ---- Spelling: possible typed texts of an expression ---- */

static void
type_word(GRand *rand, GString *out, const char *word, bool may_be_plural)
{
	g_autofree char *upper = g_utf8_strup(word, -1);

	g_string_append(out, g_rand_int_range(rand, 0, 3) == 0 ? upper : word);
	if (may_be_plural && g_rand_int_range(rand, 0, 3) == 0)
		g_string_append_c(out, 's');
}

static void
type_near(GRand *rand, GString *out, const struct expression *leaf)
{
	bool is_call = leaf->texts != 3 || g_rand_boolean(rand);

	g_string_append(out, is_call ? "NEAR(" : "");
	type_word(rand, out, leaf->words[0], true);
	if (is_call)
		g_string_append_c(out, ' ');
	else
		g_string_append_printf(out, " NEAR/%d ", leaf->number);
	type_word(rand, out, leaf->words[1], true);
	if (is_call)
		g_string_append_printf(out, ", %d)", leaf->number);
}

static void
type_fact(GRand *rand, GString *out, const struct expression *leaf)
{
	bool is_long = g_rand_boolean(rand);

	if (leaf->kind == LEAF_VOTES)
		g_string_append_printf(
		    out, is_long ? "upvotes:>=%d" : "upvotes:%d..", leaf->number);
	else if (leaf->kind == LEAF_CATEGORY)
		g_string_append_printf(
		    out, "%s%s", is_long ? "cat:" : "", categories[leaf->number - 1]);
	else if (leaf->kind == LEAF_LINK)
		g_string_append(out, is_long ? "has:code" : "HAS:(\"Code\")");
	else
		g_string_append_printf(out,
		    is_long ? "date:2026-07-%02d..2026-07-31"
		            : "date:2026-07-%02d..2026-07",
		    leaf->number);
}

static void
type_words(GRand *rand, GString *out, const struct expression *leaf)
{
	bool is_hyphenated = g_rand_boolean(rand);
	g_autofree char *upper = g_utf8_strup(leaf->words[0], -1);

	if (leaf->kind == LEAF_EXACT) {
		g_string_append_printf(
		    out, "=%s", leaf->is_upper ? upper : leaf->words[0]);
		return;
	}
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
type_leaf(GRand *rand, GString *out, const struct expression *leaf)
{
	static const char *const fields[][3] = {
	    {"title:", "ti:", "Title:"},
	    {"abstract:", "abs:", "ABS:"},
	    {"", "text:", "all:"},
	};

	if (leaf->kind >= LEAF_VOTES) {
		type_fact(rand, out, leaf);
	} else if (leaf->kind == LEAF_NEAR) {
		g_string_append(
		    out, leaf->texts == 3 ? "" : fields[leaf->texts - 1][0]);
		type_near(rand, out, leaf);
	} else {
		g_string_append(
		    out, fields[leaf->texts - 1][g_rand_int_range(rand, 0, 3)]);
		type_words(rand, out, leaf);
	}
	if (leaf->boost > 1)
		g_string_append_printf(out, "^%u", leaf->boost);
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
		if (is_grouped && operand->boost > 1)
			g_string_append_printf(out, "^%u", operand->boost);
	}
}

/* ---- Plain evaluation ---- */

static bool
has_near(const struct random_paper *paper, const struct expression *leaf, unsigned text)
{
	for (int i = 0; i < (int)paper->n[text]; i++)
		for (int j = 0; j < (int)paper->n[text]; j++)
			if (strcmp(paper->words[text][i], leaf->words[0]) == 0 &&
			    strcmp(paper->words[text][j], leaf->words[1]) == 0 &&
			    ABS(i - j) - 1 <= leaf->number)
				return true;
	return false;
}

static bool
has_leaf(const struct random_paper *paper, const struct expression *leaf)
{
	for (unsigned text = 0; text < 2; text++) {
		const char *const *words = paper->words[text];

		if (!(leaf->texts & 1U << text))
			continue;
		if (leaf->kind == LEAF_NEAR && has_near(paper, leaf, text))
			return true;
		for (unsigned i = 0; i < paper->n[text]; i++) {
			if (leaf->kind == LEAF_EXACT &&
			    strcmp(words[i], leaf->words[0]) == 0 &&
			    paper->is_upper[text][i] == leaf->is_upper)
				return true;
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
    int mode) /* an enum query_mode, or 2: all final */
{
	int truth;

	switch (expression->kind) {
	case LEAF_WORD:
	case LEAF_PHRASE:
	case LEAF_PREFIX:
	case LEAF_NEAR:
	case LEAF_EXACT:
		return has_leaf(paper, expression) ? QUERY_TRUE : QUERY_FALSE;
	case LEAF_VOTES:
		if (mode == QUERY_MAY_CHANGE)
			return QUERY_UNKNOWN;
		if (paper->upvotes == PAPER_UNKNOWN)
			return mode == QUERY_AS_REPORTED ? QUERY_UNKNOWN : QUERY_FALSE;
		return paper->upvotes >= expression->number ? QUERY_TRUE : QUERY_FALSE;
	case LEAF_CATEGORY:
		if (paper->category < 0)
			return mode == 2 ? QUERY_FALSE : QUERY_UNKNOWN;
		return paper->category == expression->number - 1 ? QUERY_TRUE
		                                                 : QUERY_FALSE;
	case LEAF_LINK:
		return paper->has_code ? QUERY_TRUE
		       : mode == 2     ? QUERY_FALSE
		                       : QUERY_UNKNOWN;
	case LEAF_DAYS:
		return paper->day >= expression->number ? QUERY_TRUE : QUERY_FALSE;
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
	paper->category = g_rand_int_range(rand, -1, G_N_ELEMENTS(categories));
	paper->has_code = g_rand_boolean(rand);
	paper->day = g_rand_int_range(rand, 1, 5);
	for (unsigned text = 0; text < 2; text++) {
		g_string_truncate(texts[text], 0);
		for (unsigned i = 0; i < paper->n[text]; i++) {
			const char *word = choose_word(rand);
			g_autofree char *upper = g_utf8_strup(word, -1);

			paper->words[text][i] = word;
			paper->is_upper[text][i] = g_rand_int_range(rand, 0, 3) == 0;
			if (i > 0)
				g_string_append(
				    texts[text], gaps[g_rand_int_range(
				                     rand, 0, G_N_ELEMENTS(gaps))]);
			g_string_append(
			    texts[text], paper->is_upper[text][i] ? upper : word);
		}
	}
}

static struct query_document *
make_ready(const struct query_fixture *fixture, const struct random_paper *random,
    GString *texts[2])
{
	g_autoptr(GError) error = NULL;
	pb_auto(paper) paper = paper_new();
	g_autofree char *day = g_strdup_printf("2026-07-%02d", random->day);
	struct query_document *document;

	paper->id = g_strdup("2607.00001");
	paper->title = g_strdup(texts[0]->str);
	paper->abstract = g_strdup(texts[1]->str);
	paper->upvotes = random->upvotes;
	paper->code_url = random->has_code ? g_strdup("https://example.org/") : NULL;
	if (random->category >= 0) {
		paper->categories = g_ptr_array_new_with_free_func(g_free);
		g_ptr_array_add(
		    paper->categories, g_strdup(categories[random->category]));
	}
	paper_add_listing(paper, "hf", day, LISTING_NEW);
	document = query_document_new(paper, NULL, fixture->tokenizer, &error);
	g_assert_no_error(error);
	return document;
}

static void
matcher_agrees_with_a_plain_evaluation(
    struct query_fixture *fixture, const void *unused)
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
			document = make_ready(fixture, &paper, texts);
			for (int mode = 0; mode < 3; mode++) {
				int truth = read_plainly(&paper, expression, mode);
				enum query_mode asked = (enum query_mode)(mode % 2);

				if (mode == 2)
					query_document_finalize(
					    document, QUERY_FINALITY_ALL);
				g_assert_cmpint(
				    query_evaluate(typed, document, asked), ==, truth);
				g_assert_cmpint(
				    query_evaluate(parsed, document, asked), ==, truth);
				seen[truth]++;
			}
		}
		free_expression(expression);
	}
	/* Papers and filters are such that each verdict is frequent. */
	for (int truth = 0; truth < 3; truth++)
		g_assert_cmpuint(seen[truth], >, 3000);
	g_string_free(texts[0], TRUE);
	g_string_free(texts[1], TRUE);
}

/* ---- Terms ---- */

/* Any choice is valid, so each is equally likely. */
static bool
random_frequency(void *data, const struct term *term, int64_t *papers, GError **error)
{
	(void)term;
	(void)error;
	*papers = g_rand_int_range(data, 0, 300);
	return true;
}

static void
keep_term(void *data, enum term_kind kind, const char *text)
{
	g_hash_table_add(data, g_strdup_printf("%d %s", kind, text));
}

static bool
has_a_term(const GPtrArray *terms, GHashTable *listed)
{
	for (unsigned i = 0; i < terms->len; i++) {
		const struct term *term = terms->pdata[i];
		g_autofree char *key = g_strdup_printf("%d %s", term->kind, term->text);

		if (term->kind == TERM_ALWAYS || g_hash_table_contains(listed, key))
			return true;
	}
	return false;
}

static void
paper_without_required_terms_never_matches(
    struct query_fixture *fixture, const void *unused)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(5);
	const struct document_frequency frequency = {random_frequency, rand};
	GString *texts[2] = {g_string_new(NULL), g_string_new(NULL)};
	unsigned passed = 0, spared = 0;

	(void)unused;
	for (int round = 0; round < 3000; round++) {
		struct expression *expression = make_expression(rand, 3, true);
		g_autoptr(GString) typed = g_string_new(NULL);
		g_autoptr(GPtrArray) terms = NULL;
		pb_auto(query) query = NULL;

		type_expression(rand, typed, expression);
		free_expression(expression);
		if (typed->len > BOUNDS_QUERY_BYTES)
			continue;
		query = must_parse(fixture, typed->str);
		terms = terms_select_required(query, &frequency, NULL);
		for (int i = 0; i < 5; i++) {
			struct random_paper paper;
			pb_auto(query_document) document = NULL;
			g_autoptr(GHashTable) listed = g_hash_table_new_full(
			    g_str_hash, g_str_equal, g_free, NULL);

			make_paper(rand, &paper, texts);
			document = make_ready(fixture, &paper, texts);
			terms_list(document, keep_term, listed);
			if (has_a_term(terms, listed)) {
				passed++;
				continue;
			}
			spared++;
			for (int settled = 0; settled < 2; settled++) {
				if (query_evaluate(
				        query, document, QUERY_AS_REPORTED) ||
				    query_evaluate(query, document, QUERY_MAY_CHANGE))
					g_error("'%s' is found in '%s', '%s'",
					    typed->str, texts[0]->str, texts[1]->str);
				query_document_finalize(document, QUERY_FINALITY_ALL);
			}
		}
	}
	g_assert_cmpuint(passed, >, 3000);
	g_assert_cmpuint(spared, >, 1500);
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

	if (expression->kind == LEAF_NEAR) {
		g_string_append_printf(out, "%s : NEAR(\"%s\" \"%s\", %d)",
		    columns[expression->texts - 1], expression->words[0],
		    expression->words[1], expression->number);
		return;
	}
	if (expression->kind < AND) {
		g_string_append_printf(out, "%s : \"%s%s%s\"%s",
		    columns[expression->texts - 1], expression->words[0],
		    expression->kind == LEAF_PHRASE ? " " : "",
		    expression->kind == LEAF_PHRASE ? expression->words[1] : "",
		    expression->kind == LEAF_PREFIX ? " *" : "");
		return;
	}
	/* NOT has two operands in FTS5: (a AND b) NOT c NOT d. */
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
matcher_agrees_with_fts5(struct query_fixture *fixture, const void *unused)
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
			enum query_verdict truth =
			    query_evaluate(query, documents[i], QUERY_AS_REPORTED);

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

QUERY_MAIN(matcher_agrees_with_a_plain_evaluation,
    paper_without_required_terms_never_matches, matcher_agrees_with_fts5)
