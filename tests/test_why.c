/*
 * test_why.c - explanations of why a paper is, or is not, in a digest.
 */
#include <glib.h>
#include <string.h>

#include "base/error.h"
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
	const char *filter; /* of Ada, who subscribed a day before; or NULL */
	const char *block;  /* or NULL */
	const char *day;    /* or NULL: 2026-11-20 */
	bool is_enriched;   /* with categories */
	bool is_built;      /* matched, and the digest built */
	const char *then;   /* SQL, or NULL */
	int later_s;        /* time from then until `why` */
	enum why_outcome outcome;
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
	if (world->is_enriched)
		store_fixture_enrich(fixture, "2611.00001", "cs.CV cs.LG", now);
	if (world->is_built)
		store_fixture_build_digests(fixture, now);
	if (world->then)
		store_fixture_run(fixture, world->then);
	return fixture;
}

/* Whether a digest built now would have the paper. */
static bool
is_previewed(struct store_fixture *fixture, int64_t now)
{
	g_autoptr(GError) error = NULL;
	pb_auto(digest) digest =
	    digest_build_preview(fixture->store, NULL, 1, now, &error);

	g_assert_no_error(error);
	return digest->entries->len > 0;
}

TEST(outcome_is_the_decision_of_the_digest)
{
	static const struct world rows[] = {
	    {"sent", "diffusion", NULL, NULL, false, true, SENT, 0, WHY_SENT,
	        "mailed at 2026-11-20 12:00 UTC in digest 1, with its abstract"},
	    {"not matched yet", "diffusion", NULL, NULL, false, false,
	        "UPDATE subscriber SET next_due_at = NULL", 0, WHY_NOT_MATCHED_YET,
	        "not matched with the filters yet"},
	    {"on its way", "diffusion", NULL, NULL, false, true, NULL, 0,
	        WHY_IN_DELIVERY,
	        "in digest 1, whose message is NEW, about to be sent; next attempt at "
	        "2026-11-20 12:00"},
	    {"held", "diffusion", NULL, NULL, false, true,
	        "UPDATE outbox SET state = 'HELD', next_try_at = NULL, reply = '550 "
	        "no'",
	        0, WHY_IN_DELIVERY,
	        "message is HELD until the operator releases it; reply of the mail "
	        "server: 550 no"},
	    {"deferred", "diffusion", NULL, NULL, false, true,
	        "UPDATE outbox SET state = 'DEFERRED'", 0, WHY_IN_DELIVERY,
	        "message is DEFERRED, retried automatically; next attempt at"},
	    {"dropped as read", "diffusion", NULL, NULL, false, true, DROPPED_READ, 0,
	        WHY_READ,
	        "the message of digest 1 was cancelled at 2026-11-20 12:00 UTC, and "
	        "its papers count as read"},
	    {"given up in doubt", "diffusion", NULL, NULL, false, true, DOUBTED, 0,
	        WHY_READ,
	        "the message of digest 1 was abandoned in doubt at 2026-11-20 12:00 "
	        "UTC, and its "
	        "papers count as read; 5 copies may have arrived"},
	    {"held after crashes", "diffusion", NULL, NULL, false, true,
	        "UPDATE outbox SET state = 'HELD', next_try_at = NULL, held_why ="
	        " 'crash', held_from = 'UNKNOWN', possible_copies = 5, crashes = 5",
	        0, WHY_IN_DELIVERY,
	        "message is HELD until the operator releases it; 5 copies may have "
	        "arrived"},
	    {"refused", "diffusion", NULL, NULL, false, true,
	        DROPPED "INSERT INTO digest_rejected VALUES (1, 1, 2, 5)", 0,
	        WHY_REFUSED, "rejected for their content"},
	    {"cancelled", "diffusion", NULL, NULL, false, true, DROPPED, 0, WHY_NEXT,
	        "in the next digest, at 2026-11-21 07:30 UTC; digest 1 with it was "
	        "cancelled"},
	    {"gone", "diffusion", NULL, NULL, false, false,
	        "DELETE FROM subscription; UPDATE subscriber SET state = 'gone',"
	        " next_due_at = NULL",
	        0, WHY_UNSUBSCRIBED, "has left"},
	    {"no filter", NULL, NULL, NULL, false, false, NULL, 0, WHY_NO_FILTER,
	        "has no filter"},
	    {"only a block", NULL, "mamba", NULL, false, false, NULL, 0, WHY_NO_FILTER,
	        "has no filter"},
	    {"no clause", "mamba", NULL, NULL, false, true, NULL, 0, WHY_NO_CLAUSE,
	        "no filter matches it"},
	    {"waits for arXiv", "diffusion NOT cat:cs.CL", NULL, NULL, false, true,
	        NULL, 0, WHY_WAITING,
	        "filter 1 waits for its arXiv record, until 2026-11-20 14:00 UTC"},
	    {"waits for votes", "diffusion upvotes:>=20", NULL, NULL, false, true, NULL,
	        0, WHY_WAITING,
	        "filter 1 waits for votes, links and the like to change, until "
	        "2026-12-04 12:00 UTC"},
	    {"waited enough", "diffusion upvotes:>=20", NULL, NULL, false, true,
	        "DELETE FROM match_pending", 15 * CLOCK_DAY_S, WHY_NO_CLAUSE,
	        "no filter"},
	    {"about to be decided", "diffusion upvotes:>=20", NULL, NULL, false, true,
	        "UPDATE paper SET upvotes = 20", 0, WHY_NOT_MATCHED_YET,
	        "not matched with the filters yet"},
	    {"crossed too late", "diffusion upvotes:>=20", NULL, NULL, false, true,
	        "DELETE FROM match_pending; UPDATE paper SET upvotes = 20",
	        15 * CLOCK_DAY_S, WHY_TOO_LATE, "no filter matched it in time"},
	    {"its match is not kept", "diffusion", NULL, NULL, false, true,
	        DROPPED "DELETE FROM match", 46 * CLOCK_DAY_S, WHY_TOO_OLD,
	        "last listed on 2026-11-20, and digests go back 30 days"},
	    {"its delivery is not kept", "diffusion", NULL, NULL, false, true,
	        DROPPED "DELETE FROM match", 61 * CLOCK_DAY_S, WHY_NOT_STORED,
	        "first seen on 2026-11-20; digests of that age are not kept, only "
	        "those of the last 60 days"},
	    {"no clause, and too old to say", "mamba", NULL, NULL, false, true, NULL,
	        61 * CLOCK_DAY_S, WHY_NOT_STORED, "not kept"},
	    {"gone, and too old to say", "diffusion", NULL, NULL, false, true,
	        DROPPED "UPDATE subscriber SET state = 'gone', next_due_at = NULL;"
	                "DELETE FROM subscription",
	        61 * CLOCK_DAY_S, WHY_NOT_STORED, "not kept"},
	    {"older than the subscription", "diffusion", NULL, "2026-11-10", false,
	        true, NULL, 62 * CLOCK_DAY_S, WHY_NOT_SUBSCRIBED,
	        "listed on 2026-11-10, more than 3 days before the subscription of "
	        "2026-11-19"},
	    {"replaced after long", "diffusion", NULL, NULL, false, true,
	        DROPPED "INSERT INTO listing (paper_seq, source, day, type,"
	                " first_seen_at) SELECT 1, 'arxiv', '2027-01-19', 'replace', 5;"
	                "UPDATE paper SET last_day = '2027-01-19'",
	        61 * CLOCK_DAY_S, WHY_NOT_STORED, "not kept"},
	    {"its delivery would be kept", "diffusion", NULL, NULL, false, true,
	        DROPPED "UPDATE paper SET first_seen_at = first_seen_at + 345600,"
	                " last_day = '2026-11-24'",
	        61 * CLOCK_DAY_S, WHY_TOO_OLD, "last listed on 2026-11-24"},
	    {"blocked", "diffusion", "survey", NULL, false, true, NULL, 0, WHY_BLOCKED,
	        "block 2 excludes it"},
	    {"blocked by category", "diffusion", "cat:cs.CV", NULL, true, true, NULL, 0,
	        WHY_BLOCKED, "block 2 excludes it"},
	    {"block waits", "diffusion", "cat:cs.CV", NULL, false, true, NULL, 0,
	        WHY_BLOCK_WAITING,
	        "block 2 waits for its arXiv record, until 2026-11-20 14:00"},
	    {"block on votes", "diffusion", "upvotes:>=20", NULL, false, true, DROPPED,
	        0, WHY_NEXT, "in the next digest"},
	    {"before the person", "diffusion", NULL, "2026-11-10", false, true, NULL, 0,
	        WHY_NOT_SUBSCRIBED,
	        "listed on 2026-11-10, more than 3 days before the subscription"},
	    {"filter newer", "diffusion", NULL, "2026-11-10", false, true,
	        "UPDATE subscriber SET consent_at = 5", 0, WHY_FILTER_NEWER,
	        "listed on 2026-11-10; filter 1 is newer and covers papers from "
	        "2026-11-16"},
	    {"the filter that waits is newer", "diffusion upvotes:>=20", NULL,
	        "2026-11-10", false, true, "UPDATE subscriber SET consent_at = 5", 0,
	        WHY_FILTER_NEWER,
	        "filter 1 is newer and covers papers from 2026-11-16"},
	    {"one filter is newer, another waits", "diffusion", NULL, NULL, false, true,
	        DROPPED
	        "UPDATE subscription SET since_day = '2026-11-21';"
	        "INSERT INTO filter (id, canonical, hash, matched_revision, "
	        "created_at) VALUES (9, 'upvotes:>=20', '" HASH "', 1, 5);"
	        "INSERT INTO subscription SELECT 9, 1, 5, 9, NULL, 'upvotes:>=20',"
	        " '2026-11-01', 5, 0, NULL, NULL",
	        0, WHY_WAITING, "filter 5 waits for votes"},
	    {"too old", "diffusion", NULL, NULL, false, true, DROPPED, 40 * CLOCK_DAY_S,
	        WHY_TOO_OLD, "last listed on 2026-11-20, and digests go back 30 days"},
	    {"cross-listed only", "diffusion", NULL, NULL, false, true,
	        DROPPED "UPDATE listing SET type = 'cross';"
	                "UPDATE subscriber SET crosslist = 'off'",
	        0, WHY_UNWANTED, "only cross-listed, and the subscriber does not want"},
	    {"cross-listed", "diffusion", NULL, NULL, false, true,
	        DROPPED "UPDATE listing SET type = 'cross'", 0, WHY_NEXT,
	        "in the next digest"},
	    {"replaced only", "diffusion", NULL, NULL, false, true,
	        DROPPED "UPDATE listing SET type = 'replace'", 0, WHY_UNWANTED,
	        "only replaced by a new version, and the subscriber does not want "
	        "these: updates off"},
	    {"new long ago, replaced now", "diffusion", NULL, NULL, false, true,
	        DROPPED "INSERT INTO listing (paper_seq, source, day, type,"
	                " first_seen_at) SELECT 1, 'arxiv', '2026-12-29', 'replace', 5;"
	                "UPDATE paper SET last_day = '2026-12-29'",
	        40 * CLOCK_DAY_S, WHY_UNWANTED, "only replaced by a new version"},
	    {"mailed, and replaced since", "diffusion", NULL, NULL, false, true,
	        SENT "UPDATE subscriber SET updates = 'on';"
	             "UPDATE paper SET replacement = 7",
	        0, WHY_NEXT,
	        "in the next digest, at 2026-11-21 07:30 UTC; digest 1 had "
	        "an earlier version"},
	    {"mailed, and replaced for somebody else", "diffusion", NULL, NULL, false,
	        true, SENT "UPDATE paper SET replacement = 7", 0, WHY_SENT,
	        "mailed at"},
	    {"paused", "diffusion", NULL, NULL, false, true,
	        DROPPED "UPDATE subscriber SET state = 'paused'", 0, WHY_NOT_ACTIVE,
	        "the subscriber is paused: no digests are made"},
	    {"paused until", "diffusion", NULL, NULL, false, true,
	        DROPPED "UPDATE subscriber SET state = 'paused',"
	                " paused_until = '2026-12-01'",
	        0, WHY_NOT_ACTIVE,
	        "the subscriber is paused until 2026-12-01: no digests"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		int64_t now = store_fixture_time(TIME);
		pb_auto(store_fixture) fixture = make_world(&rows[i], now);
		pb_auto(why) why = ask(fixture, now + rows[i].later_s);

		if (why->outcome != rows[i].outcome ||
		    !strstr(why->sentence, rows[i].says))
			g_test_fail_printf("%s: %s: %s", rows[i].name,
			    why_outcome_name(why->outcome), why->sentence);
		if (is_previewed(fixture, now + rows[i].later_s) !=
		    (why->outcome == WHY_NEXT || why->outcome == WHY_NOT_ACTIVE))
			g_test_fail_printf("%s: %s, but the preview differs",
			    rows[i].name, why_outcome_name(why->outcome));
	}
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
	const struct world world = {.filter = "diffusion", .is_built = true};

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
	    .is_built = true};
	int64_t now = store_fixture_time(TIME);
	pb_auto(store_fixture) fixture = make_world(&world, now);
	pb_auto(why) why = ask(fixture, now);
	const struct why_filter *filter = why->filters->pdata[0];

	g_assert_cmpint(filter->truth, ==, QUERY_UNKNOWN);
	g_assert_true(filter->waits_for_arxiv);
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
	const struct world world = {.filter = "diffusion", .is_built = true};
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
	const struct world world = {.filter = "diffusion"};
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
	const struct world world = {.filter = "diffusion"};
	int64_t now = store_fixture_time(TIME);
	pb_auto(store_fixture) fixture = make_world(&world, now);
	pb_auto(stored_paper) stored =
	    papers_load_id(fixture->store, "2611.00001", NULL);
	pb_auto(why_filter) filter = why_explain(
	    fixture->store, "diffusion NOT cat:cs.CL", stored, now, NULL, NULL, NULL);
	pb_auto(why_filter) alone = why_explain(
	    fixture->store, "diffusion OR mamba", NULL, now, NULL, NULL, NULL);
	g_autoptr(GError) error = NULL;

	g_assert_cmpint(filter->truth, ==, QUERY_UNKNOWN);
	g_assert_cmpint(filter->waits_until, ==, now + PAPERS_ENRICH_S);
	g_assert_cmpuint(alone->steps->len, ==, 3);
	g_assert_null(
	    why_explain(fixture->store, "mamba (", stored, now, NULL, NULL, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
}

UNIT_MAIN
