/*
 * test_candidates.c - the candidates of digests in random stores, compared with SQL.
 */
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/digest/digest_decide.h"
#include "store/mail/digests.h"
#include "store/subscriber/subscribers.h"

#define SUBSCRIBERS 12
#define FILTERS     20
#define PAPERS      40
#define STORES      40
#define NOW         "2026-11-20T13:00:00Z"
#define OLDEST_DAY  "2026-10-21"

/* All in one statement: paper and filter, in reading order. */
#define REFERENCE                                                                  \
	"SELECT p.seq, s.number"                                                   \
	" FROM subscription s JOIN " STORE_FIXTURE_MATCHES                         \
	" m ON m.filter_id = s.filter_id AND m.state = 'yes'"                      \
	" JOIN paper p ON p.seq = m.paper_seq"                                     \
	" JOIN subscriber u ON u.id = s.subscriber_id"                             \
	" WHERE u.id = %d AND s.is_block = 0"                                      \
	" AND p.last_day >= s.since_day AND p.last_day >= '" OLDEST_DAY "'"        \
	" AND NOT EXISTS (SELECT 1 FROM delivered_paper d"                         \
	"  WHERE d.subscriber_id = u.id AND d.paper_seq = p.seq"                   \
	"  AND d.replacement >= iif(u.updates = 'on', p.replacement, 0))"          \
	" AND NOT EXISTS (SELECT 1 FROM digest g JOIN digest_item i"               \
	"  ON i.digest_id = g.id WHERE g.subscriber_id = u.id"                     \
	"  AND g.state = 'live' AND i.paper_seq = p.seq)"                          \
	" AND NOT EXISTS (SELECT 1 FROM digest_rejected r"                         \
	"  WHERE r.subscriber_id = u.id AND r.paper_seq = p.seq AND r.times >= 2)" \
	" ORDER BY coalesce(p.upvotes, 0) DESC, p.last_day DESC, p.id, s.number"

static const char *const days[] = {
    "2026-10-20", OLDEST_DAY, "2026-11-05", "2026-11-19", "2026-11-20"};

static const char *
pick_day(GRand *rand)
{
	return days[g_rand_int_range(rand, 0, G_N_ELEMENTS(days))];
}

static void
add_papers(struct store_fixture *fixture, GRand *rand)
{
	for (int seq = 1; seq <= PAPERS; seq++) {
		/* Ids in another order than numbers, and many equal votes. */
		g_autofree char *id = g_strdup_printf(
		    "%c%d", "abAB\xc3"[seq % 4], g_rand_int_range(rand, 0, 1000));
		g_autofree char *unique = g_strdup_printf("%s-%d", id, seq);
		g_autofree char *sql = g_strdup_printf(
		    "UPDATE paper SET last_day = '%s', upvotes = nullif(%d, 3),"
		    " replacement = %d WHERE seq = %d",
		    pick_day(rand), g_rand_int_range(rand, 0, 4),
		    g_rand_int_range(rand, 0, 4), seq);

		store_fixture_list(fixture, "2026-11-20", unique, "A title", 1);
		store_fixture_run(fixture, sql);
	}
}

/* A random list of papers, in one to three rows for each filter, or none. */
static void
add_matches(struct store_fixture *fixture, GRand *rand)
{
	for (int filter = 1; filter <= FILTERS; filter++) {
		int rows = g_rand_int_range(rand, 0, 4), seq = 0;

		for (int row = 0; row < rows; row++) {
			g_autoptr(GString) papers = g_string_new(NULL);
			g_autofree char *sql = NULL;

			while ((seq += g_rand_int_range(rand, 1, 6)) <= PAPERS &&
			       papers->len < 30)
				g_string_append_printf(
				    papers, "%s%d", papers->len ? "," : "", seq);
			if (!papers->len)
				break;
			sql = g_strdup_printf("INSERT INTO match VALUES (%d, %d, '%s')",
			    filter, row, papers->str);
			store_fixture_run(fixture, sql);
		}
	}
}

static void
add_subscribers(struct store_fixture *fixture, GRand *rand)
{
	int64_t now = store_fixture_time("2026-11-01T12:00:00Z");

	for (int id = 1; id <= SUBSCRIBERS; id++) {
		g_autofree char *address = g_strdup_printf("p%d@example.org", id);
		g_autofree char *sql = g_strdup_printf(
		    "UPDATE subscriber SET updates = '%s', next_due_at = 0"
		    " WHERE id = %d",
		    g_rand_boolean(rand) ? "on" : "off", id);
		int filters = g_rand_int_range(rand, 0, 6);

		store_fixture_subscribe(fixture, address, "UTC", NULL, now);
		store_fixture_run(fixture, sql);
		for (int number = 1; number <= filters; number++) {
			g_autofree char *added = g_strdup_printf(
			    "INSERT OR IGNORE INTO subscription (subscriber_id, number,"
			    " filter_id, text, since_day, created_at, is_block)"
			    " VALUES (%d, %d, %d, 'x', '%s', 0, %d)",
			    id, number, g_rand_int_range(rand, 1, FILTERS + 1),
			    pick_day(rand), g_rand_int_range(rand, 0, 4) == 0);

			store_fixture_run(fixture, added);
		}
	}
}

/* A digest with some papers, whose message has not ended. */
static void
add_digest(struct store_fixture *fixture, GRand *rand, int subscriber)
{
	pb_local(digest_contents) contents = {0};
	struct digest_record digest = {.subscriber_id = subscriber,
	    .slot = "x",
	    .date = "2026-11-19",
	    .message_token = "01234567890123456",
	    .contents = &contents};
	int seq = 0;

	digest_contents_init(&contents);
	while ((seq += g_rand_int_range(rand, 1, 9)) <= PAPERS) {
		const struct digest_contents_paper paper = {
		    .seq = seq, .day = "2026-11-19"};

		g_array_append_val(contents.papers, paper);
	}
	g_assert_true(digests_insert(
	    fixture->store, &(struct digest_record *){&digest}, 1, NULL));
}

/* Papers that were delivered, are in a digest, or were rejected. */
static void
add_history(struct store_fixture *fixture, GRand *rand)
{
	for (int i = 0; i < 100; i++) {
		g_autofree char *sql = g_strdup_printf(
		    "INSERT INTO delivered_paper (subscriber_id, paper_seq,"
		    " replacement, digest_id, at) SELECT %1$d, %2$d, %3$d, 1 + %2$d %% "
		    "5, 1795000000"
		    " WHERE %4$d = 1;"
		    "INSERT INTO digest_rejected (subscriber_id, paper_seq, times, at)"
		    " SELECT %1$d, %2$d, %3$d, 0 WHERE %4$d = 0 AND %3$d > 0"
		    " ON CONFLICT DO NOTHING",
		    g_rand_int_range(rand, 1, SUBSCRIBERS - 3),
		    g_rand_int_range(rand, 1, PAPERS + 1), g_rand_int_range(rand, 0, 4),
		    g_rand_boolean(rand));

		store_fixture_run(fixture, sql);
	}
	/* Delivered before two rows were merged. */
	for (int i = 1; i < 10; i++) {
		int seq = g_rand_int_range(rand, 1, PAPERS + 1);
		g_autofree char *sql = g_strdup_printf(
		    "INSERT INTO paper_moved VALUES (%1$d, %2$d);"
		    "INSERT INTO delivered_paper (subscriber_id, paper_seq, "
		    "replacement,"
		    " digest_id, at) VALUES (%3$d, %1$d, 1, 6, 1795000000)",
		    1000 * i + seq, seq, g_rand_int_range(rand, 1, SUBSCRIBERS - 3));

		store_fixture_run(fixture, sql);
	}
	for (int id = 3; id <= SUBSCRIBERS; id += 2)
		add_digest(fixture, rand, id);
	store_fixture_run(
	    fixture, "UPDATE digest SET state = 'failed' WHERE subscriber_id = 7");
}

static void
fill(struct store_fixture *fixture, GRand *rand)
{
	add_papers(fixture, rand);
	for (int filter = 1; filter <= FILTERS; filter++) {
		g_autofree char *sql = g_strdup_printf(
		    "INSERT INTO filter (id, canonical, hash, created_at)"
		    " VALUES (%d, 'word%d', printf('%%064d', %d), 0)",
		    filter, filter, filter);

		store_fixture_run(fixture, sql);
	}
	add_matches(fixture, rand);
	add_subscribers(fixture, rand);
	add_history(fixture, rand);
}

/* As store_fixture_text() formats the rows of the reference. */
static char *
format_candidates(struct digest_cache *cache, const struct subscriber *subscriber,
    const GPtrArray *filters)
{
	g_autoptr(GError) error = NULL;
	pb_auto(digest_rules) rules =
	    digest_rules_load(cache, subscriber, filters, &error);
	g_autoptr(GPtrArray) candidates =
	    rules ? digest_find_candidates(cache, rules) : NULL;
	GString *text = g_string_new(NULL);

	g_assert_no_error(error);
	for (unsigned i = 0; i < candidates->len; i++) {
		const struct candidate *one = candidates->pdata[i];

		if (candidates_find_exclusion(rules->excluded, one->paper->seq,
		        rules->wants_updates ? one->paper->replacement : 0) ==
		    DIGEST_EXCLUSION_NONE)
			g_string_append_printf(text, "%s%d|%d", text->len ? " " : "",
			    (int)one->paper->seq, one->filter->number);
	}
	return g_string_free(text, FALSE);
}

TEST(candidates_are_those_of_one_statement)
{
	int64_t now = store_fixture_time(NOW);
	size_t bytes = 0;

	for (unsigned seed = 1; seed <= STORES; seed++) {
		g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
		pb_auto(store_fixture) fixture = store_fixture_new();
		g_autoptr(GPtrArray) subscribers = NULL;
		g_autoptr(GPtrArray) filters = NULL;
		pb_local(digest_cache) cache;

		fill(fixture, rand);
		subscribers =
		    subscribers_load_due_after(fixture->store, -1, SUBSCRIBERS, NULL);
		g_assert_cmpuint(subscribers->len, ==, SUBSCRIBERS);
		digest_cache_init(&cache, fixture->store, now);
		filters = digest_cache_load_batch(
		    &cache, subscribers->pdata, subscribers->len, NULL);
		for (unsigned i = 0; i < SUBSCRIBERS; i++) {
			const struct subscriber *subscriber = subscribers->pdata[i];
			g_autofree char *sql =
			    g_strdup_printf(REFERENCE, (int)subscriber->id);
			g_autofree char *wanted = store_fixture_text(fixture, sql);
			g_autofree char *found =
			    format_candidates(&cache, subscriber, filters);

			g_assert_cmpstr(found, ==, wanted);
			bytes += strlen(found);
		}
	}
	/* Not about nothing. */
	g_assert_cmpuint(bytes, >, 10 * STORES * SUBSCRIBERS);
}

UNIT_MAIN
