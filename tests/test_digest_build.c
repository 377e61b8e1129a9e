/*
 * test_digest_build.c - simulated months of digests: recipients, times, no duplicates.
 */
#include <string.h>

#include "base/bounds.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/digest/digest_build.h"
#include "service/digest/digest_overview.h"
#include "service/people/subscribe.h"
#include "store/mail/digests.h"
#include "store/mail/outbox.h"
#include "store/paper/papers.h"

#define ADA "ada@example.org"

#define DAY_S ((int64_t)86400)

#define SLOTS  "SELECT slot FROM digest ORDER BY id"
#define PAPERS /* of the newest digest */                                     \
	"SELECT substr(p.id, -2) FROM digest_item i JOIN paper p ON p.seq = " \
	"i.paper_seq"                                                         \
	" WHERE i.digest_id = (SELECT max(id) FROM digest) ORDER BY i.position"
#define DUE \
	"SELECT strftime('%Y-%m-%dT%H:%M', next_due_at, 'unixepoch') FROM subscriber"

/* All queued messages are sent, or end otherwise. */
static void
end_all(struct store_fixture *fixture, int64_t now, enum outbox_status end)
{
	const struct outbox_claim claim = {.now = now,
	    .limit = 500,
	    .is_idle = true,
	    .cache_key = "key",
	    .key = fixture->key};
	bool is_more;
	g_autoptr(GPtrArray) jobs =
	    NO_ERROR(outbox_claim(fixture->store, &claim, &is_more, &error));
	g_autoptr(GPtrArray) results =
	    g_ptr_array_new_with_free_func((GDestroyNotify)outbox_result_free);

	g_assert_false(is_more);
	for (unsigned i = 0; i < jobs->len; i++) {
		struct outbox_result *result = g_new0(struct outbox_result, 1);

		result->id = ((struct outbox_job *)jobs->pdata[i])->id;
		result->end = end;
		result->next_try_at = -1;
		result->code = 250;
		g_ptr_array_add(results, result);
	}
	NO_ERROR(outbox_save_results(fixture->store, results, now, &error));
}

static unsigned
build_digests(struct store_fixture *fixture, const char *at)
{
	return store_fixture_build_digests(fixture, store_fixture_time(at));
}

STORE_TEST(digest_waits_for_matching)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
	struct digest_build_report report = {0};

	store_fixture_subscribe(fixture, ADA, "Europe/Berlin", "diffusion", now);
	store_fixture_list(fixture, "2026-11-20", "2611.00020", "Diffusion", 1);
	g_assert_true(
	    digest_build_run(fixture->store, fixture->key, NULL, now, &report, NULL));
	g_assert_cmpuint(report.due, ==, 0);
	assert_digests(fixture, now, 1);
	assert_rows(fixture, PAPERS, "20");
}

/* Two papers and one subscriber, listed in the given order; other rows come before. */
static char *
make_token(unsigned before, const char *one, const char *other, const char *now)
{
	pb_auto(store_fixture) fixture = store_fixture_new();
	int64_t joined = store_fixture_time("2026-11-20T13:00:00Z");

	store_fixture_subscribe(fixture, ADA, "Europe/Berlin", "diffusion", joined);
	for (unsigned i = 0; i < before; i++) {
		store_fixture_list(fixture, "2026-11-01", "2611.00001", "Another", 1);
		store_fixture_set_sequence(fixture, "digest", 40);
	}
	store_fixture_list(fixture, "2026-11-20", one, "Diffusion", 1);
	store_fixture_list(fixture, "2026-11-20", other, "Diffusion", 9);
	assert_digests_at(fixture, now, 1);
	return store_fixture_text(
	    fixture, "SELECT slot || ' ' || message_token FROM digest");
}

TEST(digest_built_again_has_the_same_message_id)
{
	const char *now = "2026-11-20T13:00:00Z", *later = "2026-11-20T15:00:00Z";
	g_autofree char *first = make_token(0, "2611.00020", "2611.00021", now);
	g_autofree char *again = make_token(1, "2611.00021", "2611.00020", later);
	g_autofree char *other = make_token(0, "2611.00020", "2611.00022", now);

	g_assert_cmpstr(first, ==, again);
	g_assert_cmpstr(first, !=, other);
	g_assert_true(g_str_has_prefix(first, "first-1795179600 "));
}

STORE_TEST(first_digest_is_immediate_and_covers_three_days)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");

	store_fixture_list(fixture, "2026-11-16", "2611.00016", "Diffusion", 1);
	store_fixture_list(fixture, "2026-11-17", "2611.00017", "Diffusion", 1);
	store_fixture_list(fixture, "2026-11-20", "2611.00020", "Diffusion", 1);
	store_fixture_subscribe(fixture, ADA, "Europe/Berlin", "diffusion", now);
	assert_digests(fixture, now, 1);
	assert_rows(fixture, PAPERS, "20 17");
	assert_rows(fixture, "SELECT date FROM digest", "2026-11-20");
	assert_rows(fixture, DUE, "2026-11-21T06:30");
	assert_rows(fixture, "SELECT count(*) FROM outbox WHERE state = 'NEW'", "1");
	/* Nothing is due a minute later. */
	assert_digests(fixture, now + 60, 0);
}

STORE_TEST(each_day_has_one_slot_and_an_empty_day_only_moves_on)
{
	store_fixture_subscribe(fixture, ADA, "Europe/Berlin", "diffusion",
	    store_fixture_time("2026-11-20T13:00:00Z"));
	assert_digests_at(fixture, "2026-11-20T13:00:00Z", 0);
	assert_rows(fixture, DUE, "2026-11-21T06:30");
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 1);
	assert_digests_at(fixture, "2026-11-21T06:29:59Z", 0);
	assert_digests_at(fixture, "2026-11-21T06:30:00Z", 1);
	assert_rows(fixture, SLOTS, "2026-11-21T07:30");
	store_fixture_list(fixture, "2026-11-20", "2611.00002", "Diffusion", 1);
	assert_digests_at(fixture, "2026-11-21T23:59:00Z", 0);
	assert_rows(fixture, DUE, "2026-11-22T06:30");
	assert_digests_at(fixture, "2026-11-22T06:30:00Z", 1);
	assert_rows(fixture, PAPERS, "02");
	/* No new papers: no digest, and the due time moves. */
	assert_digests_at(fixture, "2026-11-23T06:30:00Z", 0);
	assert_rows(fixture, SLOTS, "2026-11-21T07:30 2026-11-22T07:30");
	assert_rows(fixture, DUE, "2026-11-24T06:30");
}

STORE_TEST(missed_week_gives_one_digest)
{
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion",
	    store_fixture_time("2026-11-01T13:00:00Z"));
	build_digests(fixture, "2026-11-01T13:00:00Z");
	store_fixture_list(fixture, "2026-11-02", "2611.00002", "Diffusion", 1);
	store_fixture_list(fixture, "2026-11-05", "2611.00005", "Diffusion", 1);
	store_fixture_list(fixture, "2026-11-09", "2611.00009", "Diffusion", 1);
	assert_digests_at(fixture, "2026-11-09T16:00:00Z", 1);
	assert_rows(fixture, SLOTS, "2026-11-09T07:30");
	assert_rows(fixture, PAPERS, "09 05 02");
	assert_rows(fixture, DUE, "2026-11-10T07:30");
}

STORE_TEST(no_paper_is_sent_twice_in_a_month)
{
	int64_t start = store_fixture_time("2026-10-10T05:30:00Z");
	unsigned digests = 0;

	store_fixture_subscribe(fixture, ADA, "Europe/Berlin", "diffusion", start);
	store_fixture_add_filter(fixture, ADA, "diffusion OR mamba", start);
	store_fixture_add_filter(fixture, ADA, "upvotes:>=4", start);
	for (int hour = 0; hour < 24 * 40; hour++) {
		int64_t now = start + hour * (int64_t)CLOCK_HOUR_S;
		g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(now);
		g_autofree char *day = g_date_time_format(time, "%Y-%m-%d");

		if (hour % 8 == 0) {
			g_autofree char *id = g_strdup_printf("2611.%05d", hour);

			store_fixture_list(
			    fixture, day, id, hour % 16 ? "Diffusion" : "Mamba", 0);
		}
		if (hour % 24 == 12) { /* Votes of papers rise after a day. */
			g_autofree char *id = g_strdup_printf("2611.%05d", hour - 20);

			if (hour > 24)
				store_fixture_list(fixture, day, id, "Diffusion", 5);
		}
		digests += store_fixture_build_digests(fixture, now);
		end_all(fixture, now, OUTBOX_SENT);
	}
	g_assert_cmpuint(digests, ==, 40);
	assert_rows(fixture,
	    "SELECT count(*) FROM (SELECT 1 FROM digest_item"
	    " GROUP BY paper_seq HAVING count(*) > 1)",
	    "0");
	g_assert_cmpint(
	    store_fixture_number(fixture, "SELECT count(DISTINCT slot) FROM digest"),
	    ==, store_fixture_number(fixture, "SELECT count(*) FROM digest"));
	/* One a day, also on the two days of the clock change. */
	assert_rows(fixture, "SELECT count(DISTINCT date) FROM digest", "40");
}

STORE_TEST(block_excludes_matches_of_the_same_subscriber_only)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion survey", 3);
	store_fixture_list(fixture, "2026-11-20", "2611.00002", "Diffusion", 3);
	store_fixture_list(fixture, "2026-11-20", "2611.00003", "Mamba survey", 30);
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
	store_fixture_add_filter(fixture, ADA, "survey OR mamba", now);
	store_fixture_add_block(fixture, ADA, "survey upvotes:<10", now);
	/* Of another subscriber, whom it does not affect. */
	store_fixture_subscribe(fixture, "bob@example.org", "UTC", "survey", now);
	assert_digests(fixture, now, 2);
	assert_rows(fixture,
	    "SELECT g.subscriber_id, substr(p.id, -1) FROM digest g JOIN digest_item i"
	    " ON i.digest_id = g.id JOIN paper p ON p.seq = i.paper_seq"
	    " ORDER BY 1, 2",
	    "1|2 1|3 2|1 2|3");
	/* Votes are those at the time of the digest. */
	store_fixture_run(fixture,
	    "UPDATE outbox SET state = 'CANCELLED', ended_at = 1,"
	    " next_try_at = NULL; UPDATE digest SET state = 'sent'");
	store_fixture_run(fixture,
	    "INSERT INTO delivered_paper (subscriber_id, paper_seq, digest_id, at) "
	    "SELECT g.subscriber_id, i.paper_seq, g.id, g.created_at"
	    " FROM digest g JOIN digest_item i ON i.digest_id = g.id");
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion survey", 12);
	assert_digests(fixture, now + CLOCK_DAY_S, 1);
	assert_rows(
	    fixture, "SELECT paper_seq FROM digest_item WHERE digest_id = 3", "1");
}

/* Titles of a subscriber's newest digest, in order. */
#define TITLES(person)                                                         \
	"SELECT group_concat(title, '') FROM (SELECT p.title FROM digest_item" \
	" JOIN paper p ON p.seq = paper_seq WHERE digest_id = (SELECT max(id)" \
	" FROM digest WHERE subscriber_id = " person ") ORDER BY p.title)"

static void
announce(struct store_fixture *fixture, const char *list, const char *day,
    const char *id, const char *title, enum listing_type listing_type, unsigned version)
{
	g_autofree char *time = g_strconcat(day, "T06:00:00Z", NULL);

	store_fixture_announce(fixture, list, day, store_fixture_time(time),
	    store_fixture_paper(id, title, "diffusion"), listing_type, version);
}

TEST(cross_lists_and_replacements_follow_preferences)
{
	static const struct {
		const char *crosslist, *updates, *titles;
	} rows[] = {{"on", "off", "AB"}, {"on", "on", "ABCD"}, {"off", "off", "A"},
	    {"off", "on", "AC"}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		int64_t now = store_fixture_time("2026-11-20T12:00:00Z");
		g_autofree char *sql = g_strdup_printf(
		    "UPDATE subscriber SET crosslist = '%s', updates = '%s'",
		    rows[i].crosslist, rows[i].updates);

		store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
		store_fixture_run(fixture, sql);
		announce(fixture, "arxiv/cs.CL", "2026-11-20", "2611.00001", "A",
		    LISTING_NEW, 1);
		announce(fixture, "arxiv/cs.CL", "2026-11-20", "2611.00002", "B",
		    LISTING_CROSS, 1);
		announce(fixture, "arxiv/cs.CL", "2026-11-20", "2611.00003", "C",
		    LISTING_REPLACE, 2);
		announce(fixture, "arxiv/cs.CL", "2026-11-20", "2611.00004", "D",
		    LISTING_REPLACE_CROSS, 3);
		assert_digests(fixture, now, 1);
		assert_rows(fixture, TITLES("1"), rows[i].titles);
		/* New in any list is new. */
		announce(fixture, "arxiv/cs.AI", "2026-11-20", "2611.00004", "D",
		    LISTING_NEW, 1);
		end_all(fixture, now, OUTBOX_SENT);
		g_assert_cmpuint(
		    store_fixture_build_digests(fixture, now + CLOCK_DAY_S), ==,
		    strchr(rows[i].titles, 'D') ? 0 : 1);
	}
}

STORE_TEST(replacement_is_sent_again_to_those_who_want_updates)
{
	/* For each day: the listing and the recipients. */
	static const struct {
		const char *day, *list;
		enum listing_type listing_type;
		unsigned version;
		const char *getters;
	} days[] = {
	    {"2026-11-02", "hf", LISTING_NEW, 0, "1 2"},
	    {"2026-11-03", "arxiv/cs.CL", LISTING_NEW, 1, ""},
	    {"2026-11-04", "arxiv/cs.CL", LISTING_REPLACE, 2, "1"},
	    {"2026-11-05", "arxiv/cs.CL", LISTING_REPLACE, 2, ""},
	    {"2026-11-06", "arxiv/cs.LG", LISTING_REPLACE_CROSS, 2, ""},
	    {"2026-11-09", "hf", LISTING_NEW, 0, ""},
	    {"2026-11-10", "arxiv/cs.LG", LISTING_REPLACE_CROSS, 3, "1"},
	    {"2026-11-11", "arxiv/cs.CL", LISTING_REPLACE, 3, ""},
	};
	int64_t start = store_fixture_time("2026-11-01T12:00:00Z");

	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", start);
	store_fixture_subscribe(fixture, "bob@example.org", "UTC", "diffusion", start);
	store_fixture_run(fixture, "UPDATE subscriber SET updates = 'on' WHERE id = 1");
	store_fixture_build_digests(fixture, start);
	for (size_t i = 0; i < G_N_ELEMENTS(days); i++) {
		g_autofree char *time = g_strconcat(days[i].day, "T08:00:00Z", NULL);

		announce(fixture, days[i].list, days[i].day, "2611.00001", "A",
		    days[i].listing_type, days[i].version);
		build_digests(fixture, time);
		g_test_message("%s", days[i].day);
		assert_rows(fixture,
		    "SELECT subscriber_id FROM digest WHERE state = 'live' ORDER BY 1",
		    days[i].getters);
		end_all(fixture, store_fixture_time(time), OUTBOX_SENT);
	}
	assert_rows(fixture,
	    "SELECT subscriber_id, replacement FROM delivered_paper ORDER BY 1, 2",
	    "1|0 1|2 1|3 2|0");
}

/* Deliveries are deleted after 60 days; it was new before the filter existed. */
TEST(replaced_old_paper_is_not_new)
{
	static const struct {
		const char *updates;
		unsigned digests;
	} rows[] = {{"off", 0}, {"on", 1}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		g_autofree char *sql = g_strdup_printf(
		    "UPDATE subscriber SET updates = '%s'", rows[i].updates);

		announce(fixture, "arxiv/cs.CL", "2026-09-01", "2609.00001", "A",
		    LISTING_NEW, 1);
		store_fixture_subscribe(fixture, ADA, "UTC", "diffusion",
		    store_fixture_time("2026-11-18T12:00:00Z"));
		store_fixture_run(fixture, sql);
		announce(fixture, "arxiv/cs.CL", "2026-11-20", "2609.00001", "A",
		    LISTING_REPLACE, 2);
		g_assert_cmpuint(build_digests(fixture, "2026-11-20T12:00:00Z"), ==,
		    rows[i].digests);
	}
}

TEST(block_that_waits_for_enrichment_delays_a_paper)
{
	static const struct {
		const char *categories; /* or NULL: not reported */
		unsigned digests;       /* after two hours */
	} rows[] = {{NULL, 1}, {"cs.LG", 1}, {"cs.CV", 0}};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		int64_t now = store_fixture_time("2026-11-20T12:00:00Z");

		store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
		store_fixture_add_block(fixture, ADA, "cat:cs.CV", now);
		store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 3);
		assert_digests(fixture, now, 0);
		if (rows[i].categories)
			store_fixture_enrich(
			    fixture, "2611.00001", rows[i].categories, now + 60);
		store_fixture_run(fixture, "UPDATE subscriber SET next_due_at = 0");
		g_assert_cmpuint(
		    store_fixture_build_digests(fixture, now + PAPERS_LOOKUP_S), ==,
		    rows[i].digests);
	}
}

TEST(papers_of_a_live_digest_wait_for_its_end)
{
	static const struct {
		enum outbox_status end;
		const char *next; /* papers of the next digest */
	} rows[] = {
	    {OUTBOX_SENT, ""},
	    {OUTBOX_UNKNOWN, ""}, /* abandoned: it may have arrived */
	    {OUTBOX_FAILED, "01"},
	    {OUTBOX_REJECTED, "01"}, /* a single rejection does not exclude it */
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		int64_t now = store_fixture_time("2026-11-20T13:00:00Z");

		store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 1);
		store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
		assert_digests(fixture, now, 1);
		assert_digests_at(fixture, "2026-11-21T07:30:00Z", 0);
		end_all(fixture, now, rows[i].end);
		g_assert_cmpuint(build_digests(fixture, "2026-11-22T07:30:00Z"), ==,
		    *rows[i].next ? 1 : 0);
		if (*rows[i].next)
			assert_rows(fixture, PAPERS, rows[i].next);
	}
}

STORE_TEST(paper_rejected_twice_is_skipped)
{
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 1);
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion",
	    store_fixture_time("2026-11-20T13:00:00Z"));
	build_digests(fixture, "2026-11-20T13:00:00Z");
	end_all(fixture, store_fixture_time("2026-11-20T13:00:00Z"), OUTBOX_REJECTED);
	assert_digests_at(fixture, "2026-11-21T07:30:00Z", 1);
	end_all(fixture, store_fixture_time("2026-11-21T07:30:00Z"), OUTBOX_REJECTED);
	store_fixture_list(fixture, "2026-11-21", "2611.00002", "Diffusion", 1);
	assert_digests_at(fixture, "2026-11-22T07:30:00Z", 1);
	assert_rows(fixture, PAPERS, "02");
}

STORE_TEST(paper_is_eligible_for_thirty_days)
{
	store_fixture_list(fixture, "2026-11-01", "2611.00001", "Diffusion", 1);
	store_fixture_list(fixture, "2026-11-02", "2611.00002", "Diffusion", 1);
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion",
	    store_fixture_time("2026-11-02T13:00:00Z"));
	store_fixture_run(fixture, "UPDATE subscriber SET state = 'paused'");
	build_digests(fixture, "2026-11-02T13:00:00Z");
	store_fixture_run(
	    fixture, "UPDATE subscriber SET state = 'active', is_first_due = 0");
	assert_digests_at(fixture, "2026-12-02T23:00:00Z", 1);
	assert_rows(fixture, PAPERS, "02");
}

STORE_TEST(details_follow_max)
{
	enum { MAX = 3, EXTRA = 5 };
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
	int papers = MAX + BOUNDS_DIGEST_TITLES_MAX + EXTRA;

	for (int i = 0; i < papers; i++) {
		g_autofree char *id = g_strdup_printf("2611.%05d", i);

		store_fixture_list(fixture, "2026-11-20", id, "Diffusion", papers - i);
	}
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
	store_fixture_run(fixture, "UPDATE subscriber SET max_full = 3");
	assert_digests(fixture, now, 1);
	assert_rows(fixture,
	    "SELECT shown, min(position), max(position), count(*)"
	    " FROM digest_item GROUP BY shown ORDER BY 1",
	    "0|1|3|3 1|4|203|200 2|204|208|5");
	/* Papers that were only counted count as delivered too. */
	end_all(fixture, now, OUTBOX_SENT);
	g_assert_cmpint(
	    store_fixture_number(fixture, "SELECT count(*) FROM delivered_paper"), ==,
	    papers);
	assert_digests_at(fixture, "2026-11-21T07:30:00Z", 0);
}

STORE_TEST(papers_are_sorted_by_votes_day_and_id)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");

	store_fixture_list(
	    fixture, "2026-11-20", "2611.00001", "Diffusion", PAPER_UNKNOWN);
	store_fixture_list(fixture, "2026-11-19", "2611.00002", "Diffusion", 7);
	store_fixture_list(fixture, "2026-11-20", "2611.00004", "Diffusion", 7);
	store_fixture_list(fixture, "2026-11-20", "2611.00003", "Diffusion", 7);
	store_fixture_list(fixture, "2026-11-18", "2611.00005", "Diffusion", 8);
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
	store_fixture_build_digests(fixture, now);
	assert_rows(fixture, PAPERS, "05 03 04 02 01");
}

STORE_TEST(clock_set_back_gives_no_second_digest_of_a_slot)
{
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion",
	    store_fixture_time("2026-11-19T13:00:00Z"));
	build_digests(fixture, "2026-11-19T13:00:00Z");
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 1);
	assert_digests_at(fixture, "2026-11-20T08:00:00Z", 1);
	store_fixture_list(fixture, "2026-11-20", "2611.00002", "Diffusion", 1);
	/* As if a clock two days behind had written the due time. */
	store_fixture_run(fixture, "UPDATE subscriber SET next_due_at = 1");
	assert_digests_at(fixture, "2026-11-20T07:45:00Z", 0);
	assert_rows(fixture, DUE, "2026-11-21T07:30");
	assert_digests_at(fixture, "2026-11-21T07:30:00Z", 1);
	assert_rows(fixture, PAPERS, "02");
}

STORE_TEST(due_times_are_repaired_after_a_clock_was_ten_days_ahead)
{
	static const char daily[] = "SELECT strftime('%d %H:%M', next_due_at, "
	                            "'unixepoch') FROM subscriber WHERE id = 1";
	static const char late[] = "SELECT strftime('%d %H:%M', next_due_at, "
	                           "'unixepoch') FROM subscriber WHERE id = 2";

	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion",
	    store_fixture_time("2026-11-19T13:00:00Z"));
	build_digests(fixture, "2026-11-19T13:00:00Z");
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 1);
	assert_digests_at(fixture, "2026-11-20T07:30:00Z", 1);
	end_all(fixture, store_fixture_time("2026-11-20T07:30:00Z"), OUTBOX_SENT);
	store_fixture_list(fixture, "2026-11-20", "2611.00002", "Diffusion", 1);
	/* Clock ahead: one digest, in the slot of that day. */
	assert_digests_at(fixture, "2026-11-30T09:00:00Z", 1);
	end_all(fixture, store_fixture_time("2026-11-30T09:00:00Z"), OUTBOX_SENT);
	assert_rows(fixture, daily, "01 07:30");
	/* A new subscriber looks back from a day in the future. */
	store_fixture_subscribe(fixture, "bob@example.org", "UTC", "diffusion",
	    store_fixture_time("2026-11-30T10:00:00Z"));
	/* Clock set back: the next morning is due again for everybody. */
	store_fixture_list(fixture, "2026-11-20", "2611.00003", "Diffusion", 1);
	assert_digests_at(fixture, "2026-11-20T11:00:00Z", 1);
	assert_rows(fixture, daily, "21 07:30");
	assert_rows(fixture, late, "21 07:30");
	assert_rows(fixture, PAPERS, "01 02 03");
	assert_digests_at(fixture, "2026-11-21T07:30:00Z", 1);
	assert_rows(fixture, PAPERS, "03");
	/* A slot that has a digest gets no other; new papers go into the next. */
	store_fixture_list(fixture, "2026-11-29", "2611.00004", "Diffusion", 1);
	build_digests(fixture, "2026-11-29T07:30:00Z");
	end_all(fixture, store_fixture_time("2026-11-29T07:30:00Z"), OUTBOX_SENT);
	store_fixture_list(fixture, "2026-11-29", "2611.00005", "Diffusion", 1);
	build_digests(fixture, "2026-11-30T07:30:00Z");
	build_digests(fixture, "2026-12-01T07:30:00Z");
	assert_rows(fixture,
	    "SELECT slot FROM digest WHERE subscriber_id = 1 AND id > 3 ORDER BY id",
	    "2026-11-21T07:30 2026-11-29T07:30 2026-12-01T07:30");
}

STORE_TEST(clock_correction_by_minutes_changes_no_due_time)
{
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion",
	    store_fixture_time("2026-11-19T13:00:00Z"));
	build_digests(fixture, "2026-11-19T13:00:00Z");
	build_digests(fixture, "2026-11-20T07:40:00Z");
	build_digests(fixture, "2026-11-20T07:20:00Z");
	assert_rows(fixture, DUE, "2026-11-21T07:30");
	build_digests(fixture, "2026-11-19T07:20:00Z");
	assert_rows(fixture, DUE, "2026-11-19T07:30");
}

STORE_TEST(unsubscribed_get_nothing_and_returning_ones_no_paper_again)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
	g_autoptr(GError) error = NULL;

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 1);
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
	store_fixture_build_digests(fixture, now);
	end_all(fixture, now, OUTBOX_SENT);
	g_assert_true(subscribe_remove(fixture->store, ADA, "test", now, &error));
	store_fixture_list(fixture, "2026-11-20", "2611.00002", "Diffusion", 1);
	assert_digests(fixture, now + 2 * CLOCK_DAY_S, 0);
	/*
	 * Set back to the day of the subscription: the first digest is immediate again.
	 */
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now + 600);
	assert_digests(fixture, now + 600, 1);
	assert_rows(fixture, PAPERS, "02");
}

STORE_TEST(cancelled_digest_releases_its_papers)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
	g_autoptr(GError) error = NULL;

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 1);
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
	store_fixture_build_digests(fixture, now);
	g_assert_true(subscribe_remove(fixture->store, ADA, "test", now, &error));
	assert_rows(fixture, "SELECT state FROM outbox", "CANCELLED");
	assert_rows(fixture, "SELECT state FROM digest", "cancelled");
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now + 60);
	assert_digests(fixture, now + 60, 1);
	assert_rows(fixture, PAPERS, "01");
}

static void
assert_hits(const struct digest_reason *reason, const char *wanted)
{
	g_autofree char *words = hits_format(reason->hits, NULL);

	g_assert_cmpstr(words, ==, wanted);
}

STORE_TEST(reasons_list_each_filter_and_its_hits)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
	const struct subscribe_filter named = {.text = "state space", .name = "ssm"};
	g_autoptr(GError) error = NULL;
	pb_auto(digest) digest = NULL;
	pb_auto(subscription) subscription = NULL;
	struct digest_entry *entry;
	struct digest_reason *reason;

	store_fixture_list(
	    fixture, "2026-11-20", "2611.00001", "Diffusion in State Spaces", 23);
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion upvotes:>=20", now);
	subscription = subscribe_add_filter(
	    fixture->store, ADA, &named, "test", now, NULL, NULL, &error);
	store_fixture_build_digests(fixture, now);
	digest = digests_load(fixture->store, 1, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(digest->entries->len, ==, 1);
	entry = digest->entries->pdata[0];
	g_assert_cmpuint(entry->reasons->len, ==, 2);
	reason = entry->reasons->pdata[0];
	/* One without a name is called by its first word. */
	g_assert_cmpstr(reason->filter, ==, "diffusion");
	assert_hits(reason, "Diffusion in the title; 23 votes");
	reason = entry->reasons->pdata[1];
	g_assert_cmpstr(reason->filter, ==, "ssm");
	assert_hits(reason, "State, Spaces in the title");
}

/* The votes of the day before count only if they were read. */
TEST(votes_are_compared_with_the_day_before)
{
	static const struct {
		const char *reads[4]; /* time=votes */
		const char *wanted;
	} rows[] = {
	    {{"2026-11-19T23:00:00Z=10", "2026-11-20T06:00:00Z=15",
	         "2026-11-20T07:00:00Z=17"},
	        "17,10"},
	    {{"2026-11-19T08:00:00Z=9", "2026-11-19T23:00:00Z=10",
	         "2026-11-20T06:00:00Z="},
	        "10,-"},
	    {{"2026-11-18T23:00:00Z=10", "2026-11-20T06:00:00Z=15"}, "15,-"},
	    {{"2026-11-20T06:00:00Z=15"}, "15,-"},
	    {{"2026-11-19T23:00:00Z=10", "2026-11-20T06:00:00Z=8"}, "8,10"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		int64_t now = store_fixture_time("2026-11-20T13:00:00Z");

		for (size_t j = 0; j < 4 && rows[i].reads[j]; j++) {
			g_auto(GStrv) read = g_strsplit(rows[i].reads[j], "=", 2);
			struct paper *paper = paper_new();

			paper->id = g_strdup("2611.00001");
			paper->title = g_strdup("Diffusion");
			paper->abstract = g_strdup("");
			paper->url = g_strdup("https://example.org/");
			paper->stars = 7;
			paper_add_journal_name(paper, g_strdup("J. Diff."));
			paper_add_journal_name(paper, g_strdup("JD"));
			if (*read[1])
				paper->upvotes = g_ascii_strtoll(read[1], NULL, 10);
			store_fixture_save(fixture, "hf", "2026-11-18",
			    store_fixture_time(read[0]), paper);
		}
		store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
		store_fixture_build_digests(fixture, now);
		assert_rows(fixture,
		    "SELECT upvotes || ',' || ifnull(CAST(upvotes_before AS TEXT), '-')"
		    " FROM digest_item WHERE stars = 7 AND venue = 'J. Diff.'",
		    rows[i].wanted);
	}
}

STORE_TEST(long_filter_is_cut_in_its_reason)
{
	static const char word[] =
	    "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
	    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
	g_autofree char *reasons = NULL;

	store_fixture_list(fixture, "2026-11-20", "2611.00001", word, 23);
	store_fixture_subscribe(fixture, ADA, "UTC", word, now);
	store_fixture_build_digests(fixture, now);
	reasons = store_fixture_text(fixture, "SELECT reasons FROM digest_item");
	g_assert_true(g_utf8_validate(reasons, -1, NULL));
	g_assert_nonnull(strstr(reasons, "bbb\xe2\x80\xa6\tt"));
	g_assert_cmpint(
	    g_utf8_strlen(reasons, strchr(reasons, '\t') - reasons), ==, 60);
}

STORE_TEST(preview_stores_nothing_and_equals_the_digest)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
	g_autofree char *before = NULL, *after = NULL;
	pb_auto(digest) digest = NULL;

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 1);
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
	store_fixture_run(fixture, "UPDATE subscriber SET state = 'paused'");
	store_fixture_build_digests(fixture, now);
	before = store_fixture_hash(fixture);
	digest = NO_ERROR(digest_build_preview(fixture->store, NULL, 1, now, &error));
	after = store_fixture_hash(fixture);
	g_assert_cmpstr(before, ==, after);
	g_assert_cmpuint(digest->entries->len, ==, 1);
	g_assert_cmpstr(digest->recipient, ==, ADA);
}

static void
count_commit(void *data)
{
	++*(unsigned *)data;
}

/* Other writers get in between: at most 200 people in one commit. */
STORE_TEST(more_subscribers_than_a_page_get_digests)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
	unsigned commits = 0;

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 1);
	for (int i = 0; i < 423; i++) {
		g_autofree char *address = g_strdup_printf("p%d@example.org", i);

		store_fixture_subscribe(
		    fixture, address, "UTC", i % 3 ? "diffusion" : "mamba", now);
	}
	store_set_commit_hook(fixture->store, count_commit, &commits);
	assert_digests(fixture, now, 282);
	g_assert_cmpuint(commits, >=, 3);
	assert_rows(
	    fixture, "SELECT count(*) FROM subscriber WHERE next_due_at <= 1", "0");
	assert_rows(fixture,
	    "SELECT count(*) FROM subscriber"
	    " WHERE is_first_due = 1",
	    "0");
}

STORE_TEST(first_and_immediate_digests_are_built_first)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 1);
	for (int i = 1; i <= 5; i++) {
		g_autofree char *address = g_strdup_printf("p%d@example.org", i);

		store_fixture_subscribe(fixture, address, "UTC", "diffusion", now);
	}
	store_fixture_run(fixture,
	    "UPDATE subscriber SET is_first_due = iif(id = 4, 1, 0),"
	    " frequency = iif(id = 2, 'now', 'daily'), "
	    "next_due_at = next_due_at - 10 * id"
	    " + iif(id = 4, 25, 0)");
	assert_digests(fixture, now + 60, 5);
	assert_rows(
	    fixture, "SELECT subscriber_id FROM digest ORDER BY id", "2 4 5 3 1");
}

/* As a command that is processed while digests are built. */
static void
pause_last(void *data)
{
	struct store_fixture *fixture = data;

	g_assert_cmpint(
	    store_fixture_number(fixture, "SELECT count(*) FROM digest"), >, 0);
	store_fixture_run(fixture,
	    "UPDATE subscriber SET state = 'paused' WHERE id = (SELECT max(id) FROM"
	    " subscriber)");
}

STORE_TEST(other_work_is_done_between_pages)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 1);
	for (int i = 0; i < 250; i++) {
		g_autofree char *address = g_strdup_printf("p%d@example.org", i);

		store_fixture_subscribe(fixture, address, "UTC", "diffusion", now);
	}
	store_set_between(fixture->store, pause_last, fixture);
	assert_digests(fixture, now, 249);
}

/* Count log lines about a time zone. */
static GLogWriterOutput
count_zones(GLogLevelFlags flags, const GLogField *fields, gsize count, gpointer data)
{
	for (gsize i = 0; i < count; i++)
		if (g_str_equal(fields[i].key, "MESSAGE") &&
		    strstr(fields[i].value, "zone=Mars/Olympus_Mons") &&
		    (flags & G_LOG_LEVEL_WARNING))
			++*(unsigned *)data;
	return G_LOG_WRITER_HANDLED;
}

TEST(missing_time_zone_falls_back_to_utc_and_is_logged_once)
{
	if (g_test_subprocess()) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
		unsigned lines = 0;

		g_log_set_writer_func(count_zones, &lines, NULL);
		store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 1);
		store_fixture_subscribe(
		    fixture, ADA, "America/Los_Angeles", "diffusion", now);
		store_fixture_subscribe(
		    fixture, "bob@example.org", "Asia/Tokyo", "diffusion", now);
		assert_digests(fixture, now, 2);
		end_all(fixture, now, OUTBOX_SENT);
		g_assert_cmpuint(lines, ==, 0);
		store_fixture_run(
		    fixture, "UPDATE subscriber SET zone = 'Mars/Olympus_Mons'");
		for (int day = 1; day < 5; day++) {
			g_autofree char *date = g_strdup_printf("2026-11-%d", 20 + day);
			g_autofree char *id = g_strdup_printf("2611.0001%d", day);

			/* Late in the day, when the day has begun everywhere. */
			now = store_fixture_time("2026-11-20T23:00:00Z") +
			      day * CLOCK_DAY_S;
			store_fixture_list(fixture, date, id, "Diffusion", 1);
			assert_digests(fixture, now, 2);
			end_all(fixture, now, OUTBOX_SENT);
			g_assert_cmpuint(lines, ==, day);
		}
		return;
	}
	g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
	g_test_trap_assert_passed();
}

STORE_TEST(unparsable_filter_does_not_stop_a_digest)
{
	int64_t now = store_fixture_time("2026-11-20T13:00:00Z");

	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 1);
	store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
	store_fixture_run(fixture, "UPDATE subscriber SET state = 'paused'");
	store_fixture_build_digests(fixture, now);
	store_fixture_run(fixture, "UPDATE filter SET canonical = 'future:('");
	store_fixture_run(fixture, "UPDATE subscriber SET state = 'active'");
	store_fixture_subscribe(fixture, "bob@example.org", "UTC", "diffusion", now);
	assert_digests(fixture, now, 2);
	assert_rows(fixture,
	    "SELECT quote(reasons) FROM digest_item WHERE digest_id = 1",
	    "'diffusion\t'");
}

STORE_TEST(relative_date_match_keeps_its_reasons)
{
	store_fixture_subscribe(fixture, ADA, "UTC", "date:2d.. diffusion",
	    store_fixture_time("2026-11-20T06:00:00Z"));
	store_fixture_run(fixture, "UPDATE subscriber SET is_first_due = 0,"
	                           " next_due_at = unixepoch('2026-11-25T07:30:00Z')");
	store_fixture_list(fixture, "2026-11-20", "2611.00001", "Diffusion", 1);
	assert_digests_at(fixture, "2026-11-20T13:00:00Z", 0);
	assert_digests_at(fixture, "2026-11-25T08:00:00Z", 1);
	assert_rows(
	    fixture, "SELECT reasons LIKE '%tDiffusion%' FROM digest_item", "1");
}

/* ---- the overview ---- */

static struct digest *
load_newest(struct store_fixture *fixture)
{
	struct digest *digest = NO_ERROR(digests_load(fixture->store,
	    store_fixture_number(fixture, "SELECT max(id) FROM digest"), &error));

	return digest;
}

static unsigned
count_reasons(const struct digest *digest, const char *label)
{
	unsigned count = 0;

	for (unsigned i = 0; i < digest->entries->len; i++) {
		const struct digest_entry *entry = digest->entries->pdata[i];

		for (unsigned j = 0; j < entry->reasons->len; j++) {
			const struct digest_reason *reason = entry->reasons->pdata[j];

			count += strcmp(reason->filter, label) == 0;
		}
	}
	return count;
}

/* Random papers, filters and limits. */
TEST(overview_counts_what_the_entries_say)
{
	static const char *const words[] = {
	    "diffusion", "agents", "kernels", "graphs", "proofs", "speech", "robots"};

	for (guint32 seed = 0; seed < 20; seed++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		int64_t now = store_fixture_time("2026-11-20T13:00:00Z");
		g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
		const GPtrArray *filters;
		pb_auto(digest) digest = NULL;
		unsigned matches = 0, listed = 0;
		int last = 0;

		for (unsigned i = 0; i < 40; i++) {
			g_autofree char *id = g_strdup_printf("2611.%05u", i);
			g_autofree char *title = g_strdup_printf("On %s and %s",
			    words[g_rand_int_range(rand, 0, 7)],
			    words[g_rand_int_range(rand, 0, 7)]);

			store_fixture_list(fixture, "2026-11-20", id, title,
			    g_rand_int_range(rand, 0, 50));
		}
		store_fixture_subscribe(fixture, ADA, "UTC", "diffusion", now);
		for (unsigned i = 1; i < 6; i++)
			if (g_rand_boolean(rand))
				store_fixture_add_filter(fixture, ADA, words[i], now);
		store_fixture_run(fixture,
		    "UPDATE subscription SET max_papers = 3 WHERE number % 2 = 1;"
		    "UPDATE subscriber SET max_full = 7");
		assert_digests(fixture, now, 1);
		digest = load_newest(fixture);
		filters = digest->filters;
		for (unsigned i = 0; i < filters->len; i++) {
			const struct digest_filter *filter = filters->pdata[i];

			g_assert_cmpint(filter->number, >, last);
			last = filter->number;
			g_assert_cmpuint(
			    filter->papers, ==, count_reasons(digest, filter->label));
			g_assert_cmpstr(filter->query, ==, filter->label);
			matches += filter->papers;
		}
		for (unsigned i = 0; i < digest->entries->len; i++)
			listed +=
			    ((const struct digest_entry *)digest->entries->pdata[i])
			        ->reasons->len;
		g_assert_cmpuint(matches, ==, listed);
		g_assert_cmpuint(matches, >, 0);
		assert_rows(fixture,
		    "SELECT papers = (SELECT count(*) FROM digest_item) FROM digest",
		    "1");
	}
}

#define NOTICES "SELECT notices FROM digest_head ORDER BY id DESC LIMIT 1"

STORE_TEST(new_filters_are_announced_once)
{
	int64_t at = store_fixture_time("2026-11-16T07:30:00Z");

	store_fixture_list(fixture, "2026-11-16", "2611.00001", "Mamba in Trees", 1);
	store_fixture_subscribe(fixture, ADA, "UTC", "mamba", at);
	assert_digests(fixture, at, 1);
	assert_rows(fixture, NOTICES,
	    "Welcome. These are the last three days; from tomorrow about 1 a day at "
	    "07:30.");
	end_all(fixture, at, OUTBOX_SENT);
	store_fixture_add_filter(fixture, ADA, "oaks", at + 60);
	store_fixture_add_filter(fixture, ADA, "kernels", at + 60);
	store_fixture_list(fixture, "2026-11-17", "2611.00002", "Mamba for Oaks", 1);
	assert_digests_at(fixture, "2026-11-17T07:30:00Z", 1);
	assert_rows(fixture, NOTICES, "First papers for oaks");
	end_all(fixture, at, OUTBOX_SENT);
	store_fixture_list(fixture, "2026-11-18", "2611.00003", "Mamba and Oaks", 1);
	assert_digests_at(fixture, "2026-11-18T07:30:00Z", 1);
	assert_rows(fixture, NOTICES, "");
	end_all(fixture, at, OUTBOX_SENT);
	/* As after a pause: nobody is welcomed twice. */
	store_fixture_list(fixture, "2026-11-19", "2611.00004", "Mamba again", 1);
	store_fixture_run(fixture, "UPDATE subscriber SET is_first_due = 1");
	assert_digests_at(fixture, "2026-11-19T09:30:00Z", 1);
	assert_rows(fixture, NOTICES, "");
}

TEST(the_first_digest_says_what_comes)
{
	static const char *const rows[][2] = {
	    {"daily", "from tomorrow about 2 a day at 07:30."},
	    {"now", "from now on about 2 a day, as they come."},
	    {"weekdays", "from now on about 2 a day, Monday to Friday at 07:30."},
	    {"weekly", "from now on about 10 a week at 07:30."},
	};
	int64_t at = store_fixture_time("2026-11-16T07:30:00Z");

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		g_autofree char *sql = g_strdup_printf(
		    "UPDATE subscriber SET frequency = '%s'", rows[i][0]);
		g_autofree char *notices = g_strconcat(
		    "Welcome. These are the last three days; ", rows[i][1], NULL);

		store_fixture_list(fixture, "2026-11-16", "2611.00001", "Mamba", 1);
		store_fixture_list(fixture, "2026-11-16", "2611.00002", "Mambas", 1);
		store_fixture_subscribe(fixture, ADA, "UTC", "mamba*", at);
		store_fixture_run(fixture, sql);
		assert_digests(fixture, at, 1);
		assert_rows(fixture, NOTICES, notices);
	}
}

/* Two papers a day; then more. */
TEST(more_papers_than_usual_are_noticed)
{
	static const struct {
		unsigned days, papers;
		const char *notices;
	} rows[] = {
	    {5, 7, ""},
	    {5, 8, "More papers than usual (about 2)"},
	    {4, 8, ""},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new();
		unsigned id = 1;

		for (unsigned day = 0; day <= rows[i].days; day++) {
			g_autofree char *date =
			    g_strdup_printf("2026-11-%02u", 16 + day);
			g_autofree char *time = g_strdup_printf("%sT07:30:00Z", date);
			unsigned papers = day < rows[i].days ? 2 : rows[i].papers;

			while (papers--) {
				g_autofree char *name =
				    g_strdup_printf("2611.%05u", id++);

				store_fixture_list(fixture, date, name, "Mamba", 1);
			}
			if (day == 0)
				store_fixture_subscribe(fixture, ADA, "UTC", "mamba",
				    store_fixture_time(time));
			assert_digests_at(fixture, time, 1);
			if (day == rows[i].days)
				break;
			if (day > 0)
				assert_rows(fixture, NOTICES, "");
			end_all(fixture, store_fixture_time(time), OUTBOX_SENT);
		}
		assert_rows(fixture, NOTICES, rows[i].notices);
	}
}

/* A digest of a longer time has more papers: that is not unusual. */
TEST(usual_number_of_papers_grows_with_the_time)
{
	static const struct {
		int64_t digests, papers, span_days, later_days;
		unsigned usual;
	} rows[] = {
	    {4, 40, 3, 1, 0},    /* too few digests */
	    {5, 40, 4, 1, 8},    /* 8 a day */
	    {5, 40, 4, 7, 56},   /* after a pause, or weekly from now on */
	    {5, 40, 6, 3, 16},   /* after a weekend */
	    {6, 300, 35, 7, 50}, /* weekly */
	    {6, 300, 35, 1, 50}, {5, 5, 4, 0, 1}, {5, 5, 0, 0, 1}, /* all at once */
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		const struct digest_history history = {
		    .digests = rows[i].digests,
		    .papers = rows[i].papers,
		    .oldest_at = DAY_S,
		    .latest_at = DAY_S + rows[i].span_days * DAY_S,
		};

		g_assert_cmpuint(digest_overview_find_usual(&history,
		                     history.latest_at + rows[i].later_days * DAY_S),
		    ==, rows[i].usual);
	}
}

UNIT_MAIN
