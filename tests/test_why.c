/*
 * test_why.c - explanations of why a paper is, or is not, in a digest.
 */
#include <string.h>

#include "base/error.h"
#include "lib/cases.h"
#include "lib/digest_views.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/advice/why.h"
#include "service/digest/digest_build.h"
#include "store/paper/paper_history.h"

#define ADA  "ada@example.org"
#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define TIME "2026-11-20T12:00:00Z"
#define SENT                                                                     \
	"UPDATE outbox SET state = 'SENDING', next_try_at = NULL, attempt = 1, " \
	"claimed_at = 1;"                                                        \
	"UPDATE outbox SET state = 'SENT', ended_at = 2, next_try_at = NULL;"    \
	"UPDATE digest SET state = 'sent';"                                      \
	"INSERT INTO delivered_paper (subscriber_id, paper_seq, digest_id, at) " \
	"SELECT 1, "                                                             \
	"paper_seq, digest_id, 1795176000"                                       \
	" FROM digest_item;"
#define DROPPED                                                                    \
	"UPDATE outbox SET state = 'CANCELLED', ended_at = 2, next_try_at = NULL;" \
	"UPDATE digest SET state = 'cancelled';"
#define DROPPED_READ                                                               \
	"UPDATE outbox SET state = 'CANCELLED', ended_at = 2, next_try_at = NULL;" \
	"UPDATE digest SET state = 'sent';"                                        \
	"INSERT INTO delivered_paper (subscriber_id, paper_seq, digest_id, at) "   \
	"SELECT 1, "                                                               \
	"paper_seq, digest_id, 1795176000"                                         \
	" FROM digest_item;"
#define DOUBTED                                                                  \
	"UPDATE outbox SET state = 'SENDING', next_try_at = NULL, attempt = 1, " \
	"claimed_at = 1;"                                                        \
	"UPDATE outbox SET state = 'UNKNOWN', ended_at = 2, next_try_at = NULL," \
	" possible_copies = 5;"                                                  \
	"UPDATE digest SET state = 'sent';"                                      \
	"INSERT INTO delivered_paper (subscriber_id, paper_seq, digest_id, at) " \
	"SELECT 1, "                                                             \
	"paper_seq, digest_id, 1795176000"                                       \
	" FROM digest_item;"

/* One paper, a diffusion survey of cs.CV, listed on `day`. */
struct world {
	const char *name;
	const char *filter;      /* of Ada, who subscribed a day before; or NULL */
	const char *block;       /* or NULL */
	const char *day;         /* or NULL: 2026-11-20 */
	const char *is_enriched; /* with categories */
	const char *is_built;    /* matched, and the digest built */
	const char *fate;        /* of its message, see fates; or NULL */
	const char *then;        /* SQL, or NULL */
	const char *days_later;  /* until `why` */
	const char *outcome;
	const char *says;
};

static struct why *
ask(struct store_fixture *fixture, int64_t now)
{
	g_autoptr(GError) error = NULL;
	struct why *why =
	    why_find_outcome(fixture->store, ADA, "2611.00001", now, &error);

	g_assert_no_error(error);
	store_fixture_assert_idle(fixture);
	return why;
}

static const struct {
	const char *name, *sql;
} fates[] = {
    {"sent", SENT},
    {"dropped", DROPPED},
    {"dropped as read", DROPPED_READ},
    {"doubted", DOUBTED},
};

static struct store_fixture *
make_world(const struct world *world, int64_t now)
{
	struct store_fixture *fixture = store_fixture_new();
	struct paper *paper = store_fixture_paper("2611.00001", "Diffusion survey", "");

	paper->upvotes = 3;
	store_fixture_subscribe(fixture, ADA, "UTC", world->filter, now - CLOCK_DAY_S);
	if (world->block)
		store_fixture_add_block(fixture, ADA, world->block, now - CLOCK_DAY_S);
	store_fixture_save(
	    fixture, "hf", world->day ? world->day : "2026-11-20", now, paper);
	if (cases_is_yes(world->is_enriched))
		store_fixture_enrich(fixture, "2611.00001", "cs.CV cs.LG", now);
	if (cases_is_yes(world->is_built))
		store_fixture_build_digests(fixture, now);
	for (size_t i = 0; world->fate && i < G_N_ELEMENTS(fates); i++)
		if (strcmp(world->fate, fates[i].name) == 0)
			store_fixture_run(fixture, fates[i].sql);
	if (world->then)
		store_fixture_run(fixture, world->then);
	return fixture;
}

/* Whether a digest built now would have the paper. */
static bool
is_previewed(struct store_fixture *fixture, int64_t now)
{
	pb_auto(digest) digest =
	    NO_ERROR(digest_build_preview(fixture->store, NULL, 1, now, &error));

	return digest->entries->len > 0;
}

TEST(outcome_is_the_decision_of_the_digest)
{
	CASES_FOREACH_AS(struct world, row, "why_outcomes") {
		int64_t now = store_fixture_time(TIME);
		int64_t later = now + cases_number(row->days_later) * CLOCK_DAY_S;
		pb_auto(store_fixture) fixture = make_world(row, now);
		pb_auto(why) why = ask(fixture, later);

		if (strcmp(why_outcome_name(why->outcome), row->outcome) != 0 ||
		    !strstr(why->sentence, row->says))
			g_test_fail_printf("%s: %s: %s", row->name,
			    why_outcome_name(why->outcome), why->sentence);
		if (is_previewed(fixture, later) !=
		    (why->outcome == WHY_NEXT || why->outcome == WHY_NOT_ACTIVE))
			g_test_fail_printf("%s: %s, but the preview differs", row->name,
			    why_outcome_name(why->outcome));
	}
}

/* A weekly digest that failed leaves papers for one that is due a week later. */
TEST(paper_may_be_too_old_for_the_next_digest)
{
	static const struct world world = {
	    .filter = "diffusion",
	    .is_enriched = "no",
	    .is_built = "yes",
	    .fate = "dropped",
	    .then = "UPDATE subscriber SET next_due_at = 1797764400",
	};
	const int64_t due_at = store_fixture_time("2026-12-20T11:00:00Z");
	int64_t now = store_fixture_time(TIME);
	pb_auto(store_fixture) fixture = make_world(&world, now);
	pb_auto(why) last = ask(fixture, now);
	pb_auto(why) late = NULL;

	g_assert_cmpstr(last->sentence, ==,
	    "it will be in the next digest, at 2026-12-20 11:00 UTC; digest 1 with it "
	    "was cancelled");
	g_assert_true(is_previewed(fixture, due_at));
	store_fixture_run(
	    fixture, "UPDATE subscriber SET next_due_at = next_due_at + 86400");
	late = ask(fixture, now);
	g_assert_cmpint(late->outcome, ==, WHY_TOO_OLD);
	g_assert_cmpstr(late->sentence, ==,
	    "last listed on 2026-11-20, and the next digest, at 2026-12-21 11:00 UTC, "
	    "goes back 30 days; digest 1 with it was cancelled");
	g_assert_false(is_previewed(fixture, due_at + CLOCK_DAY_S));
}

TEST(delivered_paper_beyond_max_has_its_detail)
{
	static const struct {
		enum digest_detail shown;
		const char *says;
	} rows[] = {
	    {0, "in digest 1, with its abstract"},
	    {1, "in digest 1, by its title alone"},
	    {2, "in digest 1, only counted"},
	};
	const struct world world = {
	    .filter = "diffusion", .is_enriched = "no", .is_built = "yes"};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		int64_t now = store_fixture_time(TIME);
		pb_auto(store_fixture) fixture = make_world(&world, now);
		pb_auto(why) why = NULL;

		store_fixture_run(fixture, "DROP TRIGGER digest_is_frozen");
		digest_views_set_shown(fixture->store, rows[i].shown);
		store_fixture_run(fixture, SENT);
		why = ask(fixture, now);
		g_assert_cmpint(why->outcome, ==, WHY_SENT);
		g_assert_nonnull(strstr(why->sentence, rows[i].says));
		/* The message is stored for two weeks. */
		g_clear_pointer(&why, why_free);
		store_fixture_run(fixture, "DELETE FROM outbox");
		why = ask(fixture, now);
		g_assert_cmpint(why->outcome, ==, WHY_SENT);
		g_assert_nonnull(strstr(why->sentence, rows[i].says));
		/* The digest is stored for a month, and its detail with it. */
		g_clear_pointer(&why, why_free);
		store_fixture_run(fixture, "DELETE FROM digest");
		why = ask(fixture, now);
		g_assert_cmpint(why->outcome, ==, WHY_SENT);
		g_assert_true(g_str_has_suffix(why->sentence, "in digest 1"));
	}
}

TEST(clauses_have_their_verdict_and_hit)
{
	static const struct {
		unsigned depth;
		const char *text;
		enum query_verdict truth;
		const char *hit; /* the first one, or NULL */
	} wanted[] = {
	    {0, "AND", QUERY_UNKNOWN, NULL},
	    {1, "diffusion", QUERY_TRUE, "Diffusion"},
	    {1, "cat:cs.CV", QUERY_UNKNOWN, NULL},
	    {1, "mamba", QUERY_FALSE, NULL},
	    {1, "survey", QUERY_TRUE, "survey"},
	};
	const struct world world = {
	    .filter = "diffusion (cat:cs.CV OR mamba) NOT (survey mamba)",
	    .is_enriched = "no",
	    .is_built = "yes"};
	int64_t now = store_fixture_time(TIME);
	pb_auto(store_fixture) fixture = make_world(&world, now);
	pb_auto(why) why = ask(fixture, now);
	const struct why_filter *filter = why->filters->pdata[0];

	g_assert_cmpint(filter->truth, ==, QUERY_UNKNOWN);
	g_assert_true(filter->waits_for_lookup);
	for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++) {
		bool is_there = false;

		for (unsigned n = 0; n < filter->steps->len; n++) {
			const struct query_step *step = filter->steps->pdata[n];
			const struct query_hit *hit =
			    step->hits->len ? step->hits->pdata[0] : NULL;

			if (!strstr(step->text, wanted[i].text) ||
			    step->truth != wanted[i].truth)
				continue;
			g_assert_cmpuint(step->depth, >=, wanted[i].depth);
			g_assert_cmpstr(hit ? hit->words : NULL, ==, wanted[i].hit);
			is_there = true;
			break;
		}
		if (!is_there)
			g_test_fail_printf("no line for %s", wanted[i].text);
	}
}

TEST(listings_and_matches_are_reported)
{
	const struct world world = {
	    .filter = "diffusion", .is_enriched = "no", .is_built = "yes"};
	int64_t now = store_fixture_time(TIME);
	pb_auto(store_fixture) fixture = make_world(&world, now);
	pb_auto(why) why = NULL;
	const struct paper_history_listing *listing;
	const struct why_filter *filter;

	store_fixture_save(fixture, "arxiv", "2026-11-19", now + 60,
	    store_fixture_paper("2611.00001", "Another title", ""));
	why = ask(fixture, now + 120);
	g_assert_cmpuint(why->listings->len, ==, 2);
	listing = why->listings->pdata[0];
	g_assert_cmpstr(listing->source, ==, "hf");
	g_assert_cmpstr(listing->day, ==, "2026-11-20");
	g_assert_cmpint(listing->first_seen_at, ==, now);
	listing = why->listings->pdata[1];
	g_assert_cmpstr(listing->source, ==, "arxiv");
	g_assert_cmpint(listing->first_seen_at, ==, now + 60);
	/* The new title does not match; the match of the old one stays. */
	filter = why->filters->pdata[0];
	g_assert_cmpint(filter->truth, ==, QUERY_FALSE);
	g_assert_true(filter->is_found);
	g_assert_cmpint(filter->found_at, ==, now);
}

TEST(unknown_subscriber_or_paper_is_an_error)
{
	static const struct {
		const char *address, *paper, *says;
		int code;
	} rows[] = {
	    {"nobody@example.org", "2611.00001",
	        "nobody@example.org is not a subscriber", PB_ERROR_NOT_FOUND},
	    {ADA, "2611.99999", "no source has listed a paper '2611.99999'",
	        PB_ERROR_NOT_FOUND},
	    {"no address", "2611.00001", "", PB_ERROR_INPUT},
	};
	const struct world world = {
	    .filter = "diffusion", .is_enriched = "no", .is_built = "no"};
	pb_auto(store_fixture) fixture = make_world(&world, store_fixture_time(TIME));

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;

		g_assert_null(why_find_outcome(
		    fixture->store, rows[i].address, rows[i].paper, 5, &error));
		g_assert_error(error, PB_ERROR, rows[i].code);
		g_assert_nonnull(strstr(error->message, rows[i].says));
		store_fixture_assert_idle(fixture);
	}
}

TEST(filter_is_explained_without_subscriber)
{
	const struct world world = {
	    .filter = "diffusion", .is_enriched = "no", .is_built = "no"};
	int64_t now = store_fixture_time(TIME);
	pb_auto(store_fixture) fixture = make_world(&world, now);
	pb_auto(stored_paper) stored =
	    papers_load_id(fixture->store, "2611.00001", NULL);
	pb_auto(why_filter) filter = why_explain(
	    fixture->store, "diffusion NOT cat:cs.CL", stored, now, NULL, NULL, NULL);
	pb_auto(why_filter) alone = why_explain(
	    fixture->store, "diffusion OR mamba", NULL, now, NULL, NULL, NULL);

	g_assert_cmpint(filter->truth, ==, QUERY_UNKNOWN);
	g_assert_cmpint(filter->waits_until, ==, now + PAPERS_LOOKUP_S);
	g_assert_cmpuint(alone->steps->len, ==, 3);
	FAILS(PB_ERROR_INPUT,
	    why_explain(fixture->store, "mamba (", stored, now, NULL, NULL, &error));
}

UNIT_MAIN
