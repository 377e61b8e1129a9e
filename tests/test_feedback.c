/*
 * test_feedback.c - answers to papers: what is learned from them, and what it changes.
 */
#include <string.h>

#include "base/bounds.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "query/taste/taste.h"
#include "service/people/profile.h"
#include "service/taste/answers.h"
#include "service/taste/scorer.h"
#include "store/paper/papers.h"
#include "store/subscriber/feedback.h"

#define ADA "ada@example.org"
#define NOW "2026-11-20T13:00:00Z"

#define PAPERS                                                           \
	"SELECT substr(p.id, -2), shown FROM digest_item i JOIN paper p" \
	" ON p.seq = i.paper_seq"                                        \
	" WHERE i.digest_id = (SELECT max(id) FROM digest) ORDER BY i.position"
#define ANSWERS "SELECT paper_seq, is_like, source FROM feedback ORDER BY paper_seq"

static void
save(struct store_fixture *fixture, const char *day, const char *id, const char *title)
{
	struct paper *paper = store_fixture_paper(id, title, "");

	store_fixture_save(
	    fixture, "made-up", day, store_fixture_time("2026-11-20T12:00:00Z"), paper);
}

/* Papers 1 to 9 of earlier days, and six papers of today that a filter finds. */
static struct store_fixture *
new_fixture(int max_full)
{
	static const char *const earlier[] = {"Speech of birds", "Speech of children",
	    "Vision of birds", "Vision in space", "Trees and graphs", "Sorting numbers",
	    "Proofs by machines", "Weather on Mars", "Robots that walk"};
	static const char *const today[] = {"Agents for vision", "Agents for speech",
	    "Agents for robots", "Agents see by vision", "Agents hear speech",
	    "Agents prove"};
	struct store_fixture *fixture = store_fixture_new();
	const struct profile_change change = {.max_full = max_full, .who = "test"};
	pb_auto(subscriber) subscriber = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(earlier); i++) {
		g_autofree char *id = g_strdup_printf("2610.000%02zu", i + 1);

		save(fixture, "2026-10-05", id, earlier[i]);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(today); i++) {
		g_autofree char *id = g_strdup_printf("2611.000%02zu", i + 1);

		save(fixture, "2026-11-20", id, today[i]);
	}
	store_fixture_subscribe(fixture, ADA, "UTC", "agents", store_fixture_time(NOW));
	subscriber =
	    profile_set(fixture->store, ADA, &change, store_fixture_time(NOW), NULL);
	g_assert_nonnull(subscriber);
	return fixture;
}

static void
answer(struct store_fixture *fixture, bool is_like, int64_t paper, int64_t at)
{
	const struct answers_request request = {.subscriber_id = 1,
	    .papers = &paper,
	    .count = 1,
	    .is_like = is_like,
	    .source = "mail",
	    .now = at};
	pb_local(answers) answers = {0};

	NO_ERROR(answers_save(fixture->store, &request, &answers, &error));
}

TEST(answers_order_the_papers_that_come_anyway)
{
	static const struct {
		int likes[3], hides[3];
		const char *papers;
	} rows[] = {
	    {{0}, {0}, "06|0 01|0 02|0 03|0 05|0 04|0"},
	    {{1, 2}, {0}, "02|0 05|0 06|0 01|0 03|0 04|0"},
	    {{3, 4}, {0}, "01|0 04|0 06|0 02|0 03|0 05|0"},
	    {{3, 4}, {1, 2}, "01|0 04|0 06|0 03|0 05|0 02|0"},
	    {{0}, {1, 2}, "06|0 01|0 03|0 04|0 05|0 02|0"},
	};
	g_autofree char *usual = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = new_fixture(20);
		g_autofree char *found = NULL, *set = NULL;

		for (size_t j = 0; rows[i].likes[j]; j++)
			answer(fixture, true, rows[i].likes[j], 5);
		for (size_t j = 0; rows[i].hides[j]; j++)
			answer(fixture, false, rows[i].hides[j], 6);
		assert_digests_at(fixture, NOW, 1);
		found = store_fixture_text(fixture, PAPERS);
		set = store_fixture_text(fixture, "SELECT paper_seq FROM digest_item"
		                                  " ORDER BY 1");
		if (!usual)
			usual = g_strdup(set);
		g_assert_cmpstr(set, ==, usual);
		if (strcmp(found, rows[i].papers) != 0)
			g_error("row %zu: %s", i, found);
	}
}

/* Votes make up for one answer, and not for many. */
TEST(few_answers_count_little)
{
	static const struct {
		int likes[4];
		const char *papers;
	} rows[] = {
	    {{0}, "04|0 06|0 01|0 02|0 03|0 05|0"},
	    {{1}, "02|0 04|0 05|0 06|0 01|0 03|0"},
	    {{1, 2}, "02|0 05|0 04|0 06|0 01|0 03|0"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = new_fixture(20);
		g_autofree char *found = NULL;

		store_fixture_run(
		    fixture, "UPDATE paper SET upvotes = 500 WHERE id = '2611.00004'");
		for (size_t j = 0; rows[i].likes[j]; j++)
			answer(fixture, true, rows[i].likes[j], 5);
		assert_digests_at(fixture, NOW, 1);
		found = store_fixture_text(fixture, PAPERS);
		if (strcmp(found, rows[i].papers) != 0)
			g_error("row %zu: %s", i, found);
	}
}

/* The best matches are shown in full, and then both kinds are sorted. */
TEST(answers_do_not_decide_what_is_shown_in_full)
{
	pb_auto(store_fixture) fixture = new_fixture(3);
	pb_auto(store_fixture) taught = new_fixture(3);

	assert_digests_at(fixture, NOW, 1);
	assert_rows(fixture, PAPERS, "06|0 01|0 02|0 03|1 05|1 04|1");
	answer(taught, true, 1, 5);
	answer(taught, true, 2, 5);
	answer(taught, false, 9, 5);
	assert_digests_at(taught, NOW, 1);
	assert_rows(taught, PAPERS, "02|0 06|0 01|0 05|1 04|1 03|1");
}

TEST(other_orders_ignore_answers)
{
	static const char *const orders[] = {"votes", "date"};

	for (size_t i = 0; i < G_N_ELEMENTS(orders); i++) {
		pb_auto(store_fixture) fixture = new_fixture(20);
		pb_auto(store_fixture) taught = new_fixture(20);
		struct profile_change change = {.who = "test"};
		g_autofree char *usual = NULL;

		change.words[PREFERENCE_ORDER] = orders[i];
		for (int j = 0; j < 2; j++) {
			pb_auto(subscriber) subscriber =
			    profile_set(j ? taught->store : fixture->store, ADA,
			        &change, store_fixture_time(NOW), NULL);

			g_assert_nonnull(subscriber);
		}
		answer(taught, true, 1, 5);
		assert_digests_at(fixture, NOW, 1);
		assert_digests_at(taught, NOW, 1);
		usual = store_fixture_text(fixture, PAPERS);
		assert_rows(taught, PAPERS, usual);
	}
}

#define FEEDBACK_TEST(function) \
	TEST_WITH(function, store_fixture, fixture, new_fixture(20))

FEEDBACK_TEST(a_built_digest_stays_as_it_is)
{
	g_autofree char *before = NULL;

	answer(fixture, true, 1, 5);
	assert_digests_at(fixture, NOW, 1);
	before = store_fixture_text(fixture, PAPERS);
	answer(fixture, false, 1, 6);
	answer(fixture, true, 3, 6);
	assert_rows(fixture, PAPERS, before);
}

FEEDBACK_TEST(the_last_answer_counts)
{
	pb_local(answers) answers = {0};
	unsigned count;

	answer(fixture, true, 1, 5);
	answer(fixture, true, 2, 5);
	answer(fixture, false, 1, 5);
	assert_rows(fixture, ANSWERS, "1|0|mail 2|1|mail");
	g_assert_true(answers_load(fixture->store, 1, &answers, NULL));
	g_assert_cmpuint(answers.likes, ==, 1);
	g_assert_cmpuint(answers.hides, ==, 1);
	g_assert_cmpuint(answers.raising->len, >, 0);
	g_assert_true(feedback_delete(fixture->store, 1, &count, NULL));
	g_assert_cmpuint(count, ==, 2);
	assert_rows(fixture, "SELECT count(*) FROM feedback", "0");
	assert_rows(fixture, "SELECT count(*) FROM taste", "0");
}

FEEDBACK_TEST(the_newest_answers_are_stored)
{
	struct feedback one = {.paper_seq = 1, .at = 5, .is_like = true};

	store_fixture_run(fixture,
	    "WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n"
	    " WHERE i < 1099) INSERT INTO paper (seq, id, title, abstract, authors,"
	    " url, fetched_at, first_seen_at, last_day, revision)"
	    " SELECT i, 'x' || i, 'T', '', '', 'https://example.org', 0, 0,"
	    " '2026-01-01', i FROM n;"
	    "INSERT INTO feedback SELECT 1, seq, 1, seq, 'page' FROM paper"
	    " WHERE seq >= 100");
	G_STATIC_ASSERT(BOUNDS_TASTE_ANSWERS == 1000);
	assert_rows(fixture, "SELECT count(*) FROM feedback", "1000");
	/* Older than all others. */
	g_assert_true(feedback_save(fixture->store, 1, &one, "mail", NULL));
	assert_rows(
	    fixture, "SELECT count(*), min(paper_seq) FROM feedback", "1000|100");
	one.at = 5000;
	g_assert_true(feedback_save(fixture->store, 1, &one, "mail", NULL));
	assert_rows(fixture,
	    "SELECT count(*), min(paper_seq) FROM feedback WHERE paper_seq > 1",
	    "999|101");
}

FEEDBACK_TEST(a_damaged_taste_leaves_the_usual_order)
{
	pb_local(answers) answers = {0};

	store_fixture_run(fixture, "INSERT INTO taste VALUES (1, 5, x'ff')");
	assert_digests_at(fixture, NOW, 1);
	assert_rows(fixture, PAPERS, "06|0 01|0 02|0 03|0 05|0 04|0");
	g_assert_true(answers_load(fixture->store, 1, &answers, NULL));
	g_assert_cmpuint(answers.raising->len, ==, 0);
	answer(fixture, true, 1, 5);
	answers_clear(&answers);
	g_assert_true(answers_load(fixture->store, 1, &answers, NULL));
	g_assert_cmpuint(answers.raising->len, >, 0);
}

FEEDBACK_TEST(contributions_are_explained)
{
	pb_local(taste_vector) vector = {0};
	pb_local(scorer_reasons) reasons = {0};
	pb_auto(scorer) scorer = scorer_new(fixture->store);
	int64_t paper = 16;
	double score;

	save(fixture, "2026-11-20", "2611.00099", "Speech of robots");
	answer(fixture, true, 1, 5);
	answer(fixture, true, 2, 5);
	answer(fixture, false, 9, 5);
	taste_vector_init(&vector);
	g_assert_true(feedback_load_taste(fixture->store, 1, &vector, NULL));
	g_assert_true(scorer_run(scorer, &vector, &paper, 1, &score, NULL));
	g_assert_cmpfloat(score, >, 0);
	g_assert_true(scorer_explain(scorer, &vector, paper, &reasons, NULL));
	g_assert_cmpstr(reasons.raised, ==, "speech");
	g_assert_cmpstr(reasons.lowered, ==, "robots");
}

/* @return the sum of the products */
static double
multiply(struct store_fixture *fixture, const struct matrix *background, int64_t seq,
    const struct taste_vector *vector)
{
	pb_auto(stored_paper) stored = papers_load(fixture->store, seq, NULL);
	pb_auto(matrix) paper = matrix_new(store_get_tokenizer(fixture->store), false);
	g_autofree double *weights = NULL;
	double sum = 0;

	g_assert_true(matrix_add(paper, stored->paper->title, "", NULL));
	weights = taste_weigh(background, paper, 0);
	for (unsigned i = 0; i < vector->weights->len; i++) {
		uint32_t term;

		if (matrix_find_term(paper, taste_vector_get(vector, i)->word, &term))
			sum += taste_vector_get(vector, i)->weight * weights[term];
	}
	return sum;
}

/* Nothing of one person is left for the next one. */
FEEDBACK_TEST(scores_are_sums_of_products)
{
	static const char *const words[] = {"agents", "vision", "agents vision",
	    "robots", "speech", "birds", "space", "walk", "see", "none", "prove",
	    "hear"};
	pb_auto(scorer) scorer = scorer_new(fixture->store);
	pb_auto(matrix) background = background_load(fixture->store, NULL);
	GRand *rand = g_rand_new_with_seed(21);

	for (unsigned run = 0; run < 300; run++) {
		pb_local(taste_vector) vector = {0};
		int64_t first = g_rand_int_range(rand, 1, 13);
		const int64_t papers[] = {first, first + 2, first + 1};
		double scores[3];

		taste_vector_init(&vector);
		for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
			if (g_rand_boolean(rand))
				taste_vector_add(&vector, words[i],
				    g_rand_int_range(
				        rand, -TASTE_VECTOR_SCALE, TASTE_VECTOR_SCALE),
				    true);
		taste_vector_sort(&vector);
		if (run % 50 == 49)
			scorer_forget(scorer);
		g_assert_true(scorer_run(scorer, &vector, papers, 3, scores, NULL));
		for (unsigned i = 0; i < 3; i++)
			g_assert_cmpfloat_with_epsilon(scores[i],
			    multiply(fixture, background, papers[i], &vector), 0.1);
	}
	g_rand_free(rand);
}

UNIT_MAIN
