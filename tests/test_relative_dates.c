/*
 * test_relative_dates.c - relative dates beside clauses that wait: matcher, search and
 * explanation agree with a plain evaluation on every day.
 */
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "query/query.h"
#include "service/advice/backtest.h"
#include "service/advice/why.h"
#include "service/match/match.h"
#include "service/match/search.h"
#include "store/paper/papers.h"

#define ADA    "ada@example.org"
#define DAYS   40 /* of simulated time */
#define PAPERS 60
#define ROUNDS 40 /* filters */
#define WAIT   14 /* days after the last listing until a paper is final */

/* ---- filters ---- */

enum kind { FROM, UNTIL, CODE, ORGANIZATION, VOTES, NOT, AND, OR };

struct expression {
	enum kind kind;
	int number; /* of days or votes */
	struct expression *operands[2];
};

static void
expression_free(struct expression *expression)
{
	if (!expression)
		return;
	expression_free(expression->operands[0]);
	expression_free(expression->operands[1]);
	g_free(expression);
}

static struct expression *
random_expression(GRand *random, int depth)
{
	struct expression *expression = g_new0(struct expression, 1);

	expression->kind =
	    (enum kind)g_rand_int_range(random, FROM, depth > 0 ? OR + 1 : NOT);
	expression->number =
	    g_rand_int_range(random, 0, expression->kind == VOTES ? 20 : 9);
	if (expression->kind >= NOT)
		expression->operands[0] = random_expression(random, depth - 1);
	if (expression->kind >= AND)
		expression->operands[1] = random_expression(random, depth - 1);
	return expression;
}

static char *
format_expression(const struct expression *expression)
{
	g_autofree char *left = NULL, *right = NULL;

	if (expression->operands[0])
		left = format_expression(expression->operands[0]);
	if (expression->operands[1])
		right = format_expression(expression->operands[1]);
	switch (expression->kind) {
	case FROM:
		return g_strdup_printf("date:%dd..", expression->number);
	case UNTIL:
		return g_strdup_printf("date:..%dd", expression->number);
	case CODE:
		return g_strdup("has:code");
	case ORGANIZATION:
		return g_strdup("org:example");
	case VOTES:
		return g_strdup_printf("upvotes:>=%d", expression->number);
	case NOT:
		return g_strdup_printf("NOT (%s)", left);
	case AND:
		return g_strdup_printf("(%s) (%s)", left, right);
	case OR:
		break;
	}
	return g_strdup_printf("(%s) OR (%s)", left, right);
}

/* ---- papers ---- */

/* Days are counted from the first simulated one. */
struct story {
	char id[16];
	int seen;      /* day on which it is first seen */
	int listed;    /* day of that listing */
	int again;     /* day of a second listing, or -1 */
	int backdated; /* a day after `seen` on which a listing of `early` arrives, or
	                  -1 */
	int early;
	int code, organization; /* when they become known, or DAYS */
	int votes_at[2];        /* when the votes become known, and when they rise */
	int votes[2];
};

static void
random_story(GRand *random, struct story *story, int number)
{
	g_snprintf(story->id, sizeof(story->id), "2611.%05d", number);
	story->seen = g_rand_int_range(random, 0, 20);
	story->listed = story->seen - g_rand_int_range(random, 0, 9);
	story->again = g_rand_int_range(random, 0, 3)
	                   ? -1
	                   : story->seen + g_rand_int_range(random, 1, 12);
	story->backdated = g_rand_int_range(random, 0, 3)
	                       ? -1
	                       : story->seen + g_rand_int_range(random, 1, 12);
	story->early = story->seen - g_rand_int_range(random, 0, 12);
	story->code = story->seen + g_rand_int_range(random, 0, 20);
	story->organization = story->seen + g_rand_int_range(random, 0, 20);
	story->votes_at[0] = story->seen + g_rand_int_range(random, 0, 6);
	story->votes_at[1] = story->votes_at[0] + g_rand_int_range(random, 0, 8);
	story->votes[0] = g_rand_int_range(random, 0, 15);
	story->votes[1] = story->votes[0] + g_rand_int_range(random, 0, 12);
}

static int64_t
at(int day)
{
	return store_fixture_time("2026-11-01T12:00:00Z") + day * (int64_t)CLOCK_DAY_S;
}

static int64_t
get_votes(const struct story *story, int day)
{
	return day < story->votes_at[0]   ? PAPER_UNKNOWN
	       : day < story->votes_at[1] ? story->votes[0]
	                                  : story->votes[1];
}

static void
save_listing(
    struct store_fixture *fixture, const struct story *story, int day, int listed)
{
	struct paper *paper = store_fixture_paper(story->id, "Diffusion", "");
	char text[DAY_BYTES];

	if (day >= story->code)
		paper->code_url = g_strdup("https://code.example.org/");
	if (day >= story->organization)
		paper->organization = g_strdup("Example Institute");
	paper->upvotes = get_votes(story, day);
	day_format(at(listed), text);
	store_fixture_save(fixture, "hf", text, at(day), paper);
}

static void
save_story(struct store_fixture *fixture, const struct story *story, int day)
{
	if (day < story->seen)
		return;
	save_listing(fixture, story, day, story->listed);
	if (day == story->again)
		save_listing(fixture, story, day, story->again);
	if (day == story->backdated)
		save_listing(fixture, story, day, story->early);
}

/* ---- plain evaluation ---- */

static bool
is_final(const struct story *story, int day)
{
	int last = story->listed;

	if (story->again >= 0 && day >= story->again)
		last = MAX(last, story->again);
	if (story->backdated >= 0 && day >= story->backdated)
		last = MAX(last, story->early);
	/* Not before all polls of its day if it was seen late. */
	return day >= last + WAIT + (story->seen > last);
}

/* A listing that arrives late counts only for days after the first sight. */
static bool
has_day(const struct story *story, int day, int from, int until)
{
	bool is_again = story->again >= 0 && day >= story->again;

	return (story->listed >= from && story->listed <= until) ||
	       (is_again && story->again >= from && story->again <= until);
}

static int
read_plainly(const struct expression *expression, const struct story *story, int day)
{
	int missing = is_final(story, day) ? QUERY_FALSE : QUERY_UNKNOWN;
	int votes = (int)get_votes(story, day);
	int left, right;

	switch (expression->kind) {
	case FROM:
		return has_day(story, day, story->seen - expression->number, DAYS * 2)
		           ? QUERY_TRUE
		           : QUERY_FALSE;
	case UNTIL:
		return has_day(story, day, -DAYS, story->seen - expression->number)
		           ? QUERY_TRUE
		           : QUERY_FALSE;
	case CODE:
		return day >= story->code ? QUERY_TRUE : missing;
	case ORGANIZATION:
		return day >= story->organization ? QUERY_TRUE : missing;
	case VOTES:
		if (votes == PAPER_UNKNOWN)
			return missing;
		return votes >= expression->number ? QUERY_TRUE : QUERY_FALSE;
	case NOT:
		return QUERY_TRUE - read_plainly(expression->operands[0], story, day);
	case AND:
	case OR:
		break;
	}
	left = read_plainly(expression->operands[0], story, day);
	right = read_plainly(expression->operands[1], story, day);
	return expression->kind == AND ? MIN(left, right) : MAX(left, right);
}

/* ---- the tests ---- */

static void
assert_explained(struct store_fixture *fixture, const char *text,
    const struct expression *expression, const struct story *story, int day)
{
	pb_auto(stored_paper) stored =
	    NO_ERROR(papers_load_id(fixture->store, story->id, &error));
	struct why_filter *filter;

	filter = NO_ERROR(
	    why_explain(fixture->store, text, stored, at(day), NULL, NULL, &error));
	if ((int)filter->truth != read_plainly(expression, story, day))
		g_error("%s: why says %d of %s on day %d", text, filter->truth,
		    story->id, day);
	why_filter_free(filter);
}

static bool
note_id(void *data, struct search_match *match, GError **error)
{
	if (!search_match_load(match, error))
		return false;
	g_hash_table_add(data, g_strdup(match->stored->paper->id));
	return true;
}

static void
assert_searched(struct store_fixture *fixture, const char *text,
    const struct expression *expression, const struct story *stories)
{
	g_autoptr(GHashTable) found =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const struct search_scope scope = {.now = at(DAYS)};
	pb_auto(query) query = NO_ERROR(
	    query_parse(text, store_get_tokenizer(fixture->store), NULL, NULL, &error));

	NO_ERROR(search_foreach(
	    fixture->store, query, &scope, note_id, found, NULL, &error));
	for (int i = 0; i < PAPERS; i++)
		if (g_hash_table_contains(found, stories[i].id) !=
		    (read_plainly(expression, &stories[i], DAYS + WAIT) == QUERY_TRUE))
			g_error("%s: search differs on %s", text, stories[i].id);
}

static bool
is_matched(struct store_fixture *fixture, const char *address, const char *id)
{
	g_autofree char *sql = g_strdup_printf(
	    "SELECT count(*) FROM " STORE_FIXTURE_MATCHES
	    " m JOIN paper p ON p.seq = m.paper_seq"
	    " JOIN subscription s ON s.filter_id = m.filter_id"
	    " JOIN subscriber r ON r.id = s.subscriber_id"
	    " WHERE m.state = 'yes' AND p.id = '%s' AND r.address = '%s'",
	    id, address);

	return store_fixture_number(fixture, sql) > 0;
}

/* Each subscriber has one filter; a match on any day stays. */
struct trial {
	struct expression *expression;
	char *text;
	char *address;
	bool is_found[PAPERS];
};

static void
random_trial(
    struct store_fixture *fixture, GRand *random, struct trial *trial, int number)
{
	g_autofree char *inner = NULL;

	trial->expression = random_expression(random, 3);
	inner = format_expression(trial->expression);
	trial->text = g_strdup_printf("diffusion (%s)", inner);
	trial->address = g_strdup_printf("p%d@example.org", number);
	store_fixture_subscribe(fixture, trial->address, "UTC", trial->text, at(-1));
}

/* Whether filters are matched with a paper: it may change, or was listed again. */
static bool
is_matched_again(const struct story *story, int day)
{
	return day >= story->seen &&
	       (day == story->seen || day == story->again || day == story->backdated ||
	           !is_final(story, day - 1));
}

static void
live_a_day(struct store_fixture *fixture, GRand *random, struct trial *trials,
    struct story *stories, int day)
{
	struct match_report report = {0};

	for (int i = 0; i < PAPERS; i++)
		save_story(fixture, &stories[i], day);
	NO_ERROR(match_run(fixture->store, at(day), &report, &error));
	for (int i = 0; i < ROUNDS; i++) {
		const struct expression *expression = trials[i].expression;
		int asked = g_rand_int_range(random, 0, PAPERS);

		for (int j = 0; j < PAPERS; j++)
			trials[i].is_found[j] |=
			    is_matched_again(&stories[j], day) &&
			    read_plainly(expression, &stories[j], day) == QUERY_TRUE;
		if (day >= stories[asked].seen)
			assert_explained(
			    fixture, trials[i].text, expression, &stories[asked], day);
	}
}

STORE_TEST(matcher_search_and_why_agree_with_a_plain_evaluation_for_forty_days)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(12);
	struct story stories[PAPERS];
	struct trial trials[ROUNDS] = {0};
	unsigned found = 0;

	for (int i = 0; i < PAPERS; i++)
		random_story(random, &stories[i], i);
	for (int i = 0; i < ROUNDS; i++)
		random_trial(fixture, random, &trials[i], i);
	for (int day = 0; day <= DAYS; day++)
		live_a_day(fixture, random, trials, stories, day);
	for (int i = 0; i < ROUNDS; i++) {
		assert_searched(fixture, trials[i].text, trials[i].expression, stories);
		for (int j = 0; j < PAPERS; j++) {
			found += trials[i].is_found[j];
			if (is_matched(fixture, trials[i].address, stories[j].id) !=
			    trials[i].is_found[j])
				g_error("%s: the matcher differs on %s", trials[i].text,
				    stories[j].id);
		}
		expression_free(trials[i].expression);
		g_free(trials[i].text);
		g_free(trials[i].address);
	}
	g_test_message("%u of %d pairs found", found, PAPERS * ROUNDS);
	g_assert_cmpuint(found, >, PAPERS * ROUNDS / 5);
	g_assert_cmpuint(found, <, PAPERS * ROUNDS * 4 / 5);
}

/* Two papers a day, one of which gets a link to code three days later. */
static void
list_papers(struct store_fixture *fixture, int day)
{
	char text[DAY_BYTES];

	for (int i = 0; i < 2; i++)
		for (int age = 0; age <= 3 && age <= day; age += 3) {
			g_autofree char *id =
			    g_strdup_printf("2611.%03d%02d", day - age, i);
			struct paper *paper = store_fixture_paper(id, "Diffusion", "");

			if (age == 3 && i == 1)
				paper->code_url = g_strdup("https://code.example.org/");
			day_format(at(day - age), text);
			store_fixture_save(fixture, "hf", text, at(day), paper);
		}
}

/* Simulate days: papers arrive, and the digests of the day are built and sent. */
static void
live(struct store_fixture *fixture, int days)
{
	for (int day = 0; day <= days; day++) {
		list_papers(fixture, day);
		store_fixture_build_digests(fixture, at(day));
		store_fixture_run(fixture,
		    "UPDATE outbox SET state = 'SENDING', next_try_at = NULL,"
		    " attempt = 1, claimed_at = 1 WHERE state = 'NEW';"
		    "UPDATE outbox SET state = 'SENT', ended_at = 2,"
		    " next_try_at = NULL WHERE state = 'SENDING';"
		    "INSERT INTO delivered_paper (subscriber_id, paper_seq,"
		    " digest_id, at) SELECT d.subscriber_id, i.paper_seq, d.id,"
		    " d.created_at"
		    " FROM digest_item i JOIN digest d ON d.id = i.digest_id"
		    " WHERE d.state = 'live';"
		    "UPDATE digest SET state = 'sent' WHERE state = 'live'");
	}
}

#define DELIVERED "SELECT count(*) FROM delivered_paper"

STORE_TEST(papers_without_code_are_delivered_when_the_deadline_passes)
{
	const struct backtest_request request = {
	    .text = "diffusion date:7d.. NOT has:code", .now = at(20)};
	pb_auto(backtest) backtest = NULL;

	store_fixture_subscribe(fixture, ADA, "UTC", request.text, at(-1));
	live(fixture, 20);
	/* One paper of each of the days 0 to 6 has no code. */
	assert_rows(fixture, DELIVERED, "7");
	assert_rows(fixture,
	    DELIVERED " WHERE paper_seq IN (SELECT seq FROM paper WHERE code_url IS"
	              " NOT NULL OR last_day > '2026-11-07')",
	    "0");
	/* A backtest of the filter shows the papers that are delivered in the end. */
	backtest = NO_ERROR(backtest_run(fixture->store, &request, NULL, &error));
	g_assert_cmpuint(backtest->found, ==, 24);
}

STORE_TEST(no_paper_is_delivered_because_it_became_old)
{
	store_fixture_subscribe(
	    fixture, ADA, "UTC", "diffusion (date:..3d OR org:x)", at(-1));
	live(fixture, 25);
	assert_rows(fixture, DELIVERED, "0");
}

UNIT_MAIN
