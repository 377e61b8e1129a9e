/*
 * test_query_plans.c - frequent statements use their indexes.
 */
#include <string.h>

#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "service/advice/backtest.h"
#include "service/jobs/maintenance.h"
#include "store/admin/retention.h"
#include "store/core/sql.h"
#include "store/mail/bounces.h"
#include "store/mail/candidates.h"
#include "store/mail/inbox.h"
#include "store/mail/outbox.h"
#include "store/paper/filter_index.h"
#include "store/paper/filter_progress.h"
#include "store/paper/matches.h"
#include "store/paper/papers.h"
#include "store/subscriber/audit.h"
#include "store/subscriber/subscribers.h"
#include "store/subscriber/suppression.h"

/* The plan of every statement that was prepared, but for those that write one row. */
static void
assert_plans(
    struct store_fixture *fixture, const char *what, const char *const *indexes)
{
	g_autofree char *plans = store_fixture_format_plans(fixture);

	g_test_message("%s: %s", what, plans);
	for (; *indexes; indexes++)
		if (!strstr(plans, *indexes))
			g_test_fail_printf(
			    "%s does not use %s:\n%s", what, *indexes, plans);
	/* A constant row is scanned, and once a day the filters (f) for those that
	 * nobody has, the paused domains, the index's sizes to count them, the listings
	 * into memory, a JSON array (j), and what FTS5 finds; else no table that grows.
	 */
	if (g_regex_match_simple(
	        "SCAN (?!CONSTANT|f |cursor|domain_pause|listing|j|\\d+ "
	        "|paper_fts VIRTUAL|paper_fts_docsize)\\S++(?! USING (COVERING "
	        ")?INDEX)",
	        plans, 0, 0) ||
	    strstr(plans, "TEMP B-TREE FOR DISTINCT"))
		g_test_fail_printf("%s scans a table:\n%s", what, plans);
}

static void
hot_due(struct store *store)
{
	g_autoptr(GPtrArray) rows = subscribers_load_due(store, 5, 5, 50, NULL);

	g_assert_nonnull(rows);
}

static void
hot_next_due(struct store *store)
{
	int64_t at;

	subscribers_load_next_due(store, &at, NULL);
}

static void
hot_pause_ended(struct store *store)
{
	g_autoptr(GPtrArray) rows = subscribers_load_pause_ended(store, 5, 50, NULL);

	g_assert_nonnull(rows);
}

static void
hot_audit(struct store *store)
{
	g_autoptr(GPtrArray) all = audit_load(store, 0, 5, 50, NULL);
	g_autoptr(GPtrArray) one = audit_load(store, 1, 5, 50, NULL);

	g_assert_true(all && one);
}

static void
hot_suppression(struct store *store)
{
	g_autoptr(GPtrArray) page = suppression_load_batch(store, "", 50, NULL);
	g_autoptr(GBytes) key =
	    g_bytes_new_static(STORE_FIXTURE_KEY, strlen(STORE_FIXTURE_KEY));
	g_autofree struct suppression *found = NULL;

	g_assert_true(suppression_find(store, key, "x", &found, NULL));
	g_assert_true(page && !found);
}

static void
hot_claim(struct store *store)
{
	g_autoptr(GBytes) key =
	    g_bytes_new_static(STORE_FIXTURE_KEY, strlen(STORE_FIXTURE_KEY));
	const struct outbox_claim claim = {
	    .now = 5, .limit = 50, .cache_key = "key", .key = key};
	bool is_more;
	g_autoptr(GPtrArray) rows = outbox_claim(store, &claim, &is_more, NULL);

	g_assert_nonnull(rows);
}

static void
hot_next_try(struct store *store)
{
	int64_t at;

	outbox_load_next_try(store, &at, NULL);
}

static void
hot_inbox(struct store *store)
{
	g_autoptr(GArray) ids = inbox_load_due(store, 5, 50, NULL);
	g_autofree struct inbox_row *row = inbox_load(store, 1, NULL, NULL);
	int64_t at;

	g_assert_nonnull(ids);
	inbox_load_next_due(store, &at, NULL);
}

static void
hot_new_mail(struct store *store)
{
	const struct inbox_new fresh = {.key = "x", .receiver = "lmtp", .raw = "x"};
	bool is_stored;

	inbox_insert(store, &fresh, 5, &is_stored, NULL);
	inbox_mark_done(store, 1, "x", 5, NULL);
}

static void
hot_old_mail(struct store *store)
{
	unsigned count;

	retention_prune(store, RETENTION_QUARANTINE, 5, 50, &count, NULL);
	retention_prune(store, RETENTION_INBOX, 5, 50, &count, NULL);
}

static void
hot_in_flight(struct store *store)
{
	g_autoptr(GBytes) key =
	    g_bytes_new_static(STORE_FIXTURE_KEY, strlen(STORE_FIXTURE_KEY));
	g_autoptr(GPtrArray) jobs = outbox_load_in_flight(store, key, NULL);

	g_assert_nonnull(jobs);
}

static void
hot_bounces(struct store *store)
{
	struct bounce_summary totals;
	g_autofree struct bounce_summary *summary = NULL;
	g_autofree struct bounce_probe *probe = NULL;
	g_autoptr(GPtrArray) page = bounces_load_summaries(store, 5, 50, NULL);
	g_autoptr(GPtrArray) rows = bounces_load_person(store, 1, NULL);
	g_autoptr(GPtrArray) scored = bounces_load_scored(store, 1, 5, 9, NULL);
	g_autoptr(GArray) suspects = bounces_load_suspects(store, 5, 50, NULL);

	g_assert_true(page && rows && scored && suspects);
	bounces_load_totals(store, 5, &totals, NULL);
	bounces_find_summary(store, 1, 5, &summary, NULL);
	bounces_find_probe(store, 1, &probe, NULL);
}

static void
hot_cancel(struct store *store)
{
	outbox_cancel(store, 2, 5, NULL);
}

static void
hot_retry_now(struct store *store)
{
	outbox_retry_now(store, 5, NULL);
}

static bool
ignore_seqs(void *data, int64_t id, const GArray *seqs, GError **error)
{
	return !data && id && seqs && !error;
}

static bool
count_filter(void *data, int64_t id, const char *canonical, GError **error)
{
	(void)data;
	(void)error;
	return id > 0 && canonical;
}

static void
hot_candidates(struct store *store)
{
	struct subscriber subscriber = {.id = 1};
	g_autoptr(GPtrArray) filters =
	    candidates_load_filters(store, &(gpointer){&subscriber}, 1, NULL);
	struct candidate_previous *previous = g_new0(struct candidate_previous, 1);
	g_autoptr(GArray) seqs = matches_load_seqs(store, 1, NULL);
	g_autofree struct listed_paper *paper = NULL;

	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
	int64_t id = 1;

	g_assert_true(filters && seqs);
	previous->subscriber_id = 1;
	g_assert_true(candidates_load_previous(store, &previous, 1, 0, NULL));
	candidate_previous_free(previous);
	g_array_append_val(ids, id);
	g_assert_true(matches_load_each(store, ids, ignore_seqs, NULL, NULL));
	g_assert_true(filter_progress_load_texts(store, ids, count_filter, NULL, NULL));
	g_assert_true(papers_find_listed(store, 1, &paper, NULL));
}

static void
hot_lagging(struct store *store)
{
	g_autoptr(GPtrArray) rows = filter_progress_load_lagging(store, 5, 50, NULL);

	g_assert_nonnull(rows);
}

static void
ignore_filter(void *data, unsigned term, int64_t filter_id)
{
	(void)data;
	(void)term;
	(void)filter_id;
}

static void
hot_index(struct store *store)
{
	g_autoptr(GPtrArray) texts = g_ptr_array_new();
	const struct filter_index_terms terms = {TERM_WORD, texts};
	const struct filter_index_range range = {0, 5};

	g_ptr_array_add(texts, (gpointer) "diffusion");
	filter_index_find(store, &terms, &range, ignore_filter, NULL, NULL);
	filter_index_save(store, 1, "text:diffusion OR text:quant*", NULL);
}

static void
hot_batch(struct store *store)
{
	const int64_t two[] = {1, 2};
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
	bool has;

	g_array_append_vals(ids, two, 2);
	g_assert_true(filter_progress_foreach(store, ids, count_filter, NULL, NULL));
	g_assert_true(matches_has_found(store, 1, 1, &has, NULL) && has);
	g_assert_true(matches_prune(store, 0, 0, 500, NULL));
	g_assert_true(filter_progress_prune(store, 0, 0, 500, NULL));
}

static void
hot_join_batch(struct store *store)
{
	unsigned count;

	filter_progress_join_batch(store, 5, &count, NULL);
}

static void
hot_pending(struct store *store)
{
	g_autoptr(GPtrArray) rows = filter_progress_load_pending(store, 2, 0, 50, NULL);

	g_assert_nonnull(rows);
}

static void
hot_match_due(struct store *store)
{
	int64_t seq, at;

	g_assert_true(matches_find_due(store, 5, &seq, NULL));
	matches_load_next_due(store, &at, NULL);
}

static void
hot_changed(struct store *store)
{
	int64_t seq;

	g_assert_true(papers_find_changed(store, &seq, NULL));
}

static void
hot_revisions(struct store *store)
{
	g_autoptr(GPtrArray) rows =
	    papers_load_revisions(store, 0, 5, "2026-11-01", 50, NULL);
	int64_t revision;

	g_assert_nonnull(rows);
	papers_load_newest_revision(store, &revision, NULL);
	papers_load_revision_before(store, "2026-11-01", &revision, NULL);
}

static void
hot_etag(struct store *store)
{
	g_autofree char *etag = NULL;

	papers_load_etag(store, "made-up", "2026-11-20", &etag, NULL);
}

static void
hot_prune(struct store *store)
{
	maintenance_run(store, 5, NULL);
}

/* Votes alone need no words: all papers of the days. */
static void
hot_backtest(struct store *store)
{
	static const char *const filters[] = {"diffusion OR quantiz*", "upvotes:>=3",
	    "cat:cs.CL OR id:250* OR doi:10.1* OR kw:a OR has:code date:2d.."};

	for (size_t i = 0; i < G_N_ELEMENTS(filters); i++) {
		const struct backtest_request request = {
		    .text = filters[i], .now = 1795176000};
		pb_auto(backtest) backtest = backtest_run(store, &request, NULL, NULL);

		g_assert_nonnull(backtest);
	}
}

TEST(hot_statements_use_their_indexes)
{
	static const struct {
		const char *what;
		void (*call)(struct store *store);
		const char *indexes[8];
	} rows[] = {
	    {"subscribers_load_due", hot_due,
	        {"subscriber_due (next_due_at<?)",
	            "subscriber_urgent (next_due_at<?)"}},
	    {"subscribers_load_next_due", hot_next_due,
	        {"subscriber_due", "subscriber_pause_end"}},
	    {"subscribers_load_pause_ended", hot_pause_ended,
	        {"subscriber_pause_end (next_due_at<?)"}},
	    {"audit_load", hot_audit,
	        {"audit_log_at (at>?)", "audit_log_subscriber (subscriber_id=?)"}},
	    {"suppression", hot_suppression,
	        {"PRIMARY KEY (hash>?)", "PRIMARY KEY (hash=?)"}},
	    {"outbox_claim", hot_claim,
	        {"outbox_due (next_try_at<?)",
	            "outbox_priority (priority=? AND next_try_at<?)"}},
	    {"outbox_load_next_try", hot_next_try, {"outbox_due"}},
	    {"inbox_load_due", hot_inbox,
	        {"inbox_due (next_try_at<?)", "inbox_due",
	            "inbox USING INTEGER PRIMARY KEY"}},
	    {"inbox_insert", hot_new_mail, {"inbox USING INTEGER PRIMARY KEY"}},
	    {"inbox_prune", hot_old_mail,
	        {"inbox_done (received_at<?)", "inbox_quarantined (ended_at<?)"}},
	    {"outbox_load_in_flight", hot_in_flight, {"outbox_sending"}},
	    {"bounces", hot_bounces,
	        {"bounce_at (at>?", "bounce_scored (subscriber_id>?"}},
	    {"outbox_cancel", hot_cancel, {"outbox_live (subscriber_id=?"}},
	    {"outbox_retry_now", hot_retry_now, {"outbox_due (next_try_at>?)"}},
	    {"candidates", hot_candidates,
	        {"s USING INDEX sqlite_autoindex_subscription_1 (subscriber_id=?)",
	            "SEARCH d USING PRIMARY KEY (subscriber_id=? AND digest_id>?)",
	            "digest_live", "SEARCH r USING PRIMARY KEY (subscriber_id=?)",
	            "match USING PRIMARY KEY (filter_id=?)",
	            "paper USING INTEGER PRIMARY KEY (rowid=?)"}},
	    {"filter_progress_load_lagging", hot_lagging,
	        {"filter_lagging (matched_revision<?)"}},
	    {"filter_progress_foreach", hot_batch,
	        {"f USING INTEGER PRIMARY KEY (rowid=?)",
	            "match USING PRIMARY KEY (filter_id=?)",
	            "match USING PRIMARY KEY (filter_id>? AND filter_id<?)",
	            "match_pending USING PRIMARY KEY (filter_id>? AND filter_id<?)"}},
	    {"filter_progress_join_batch", hot_join_batch, {"filter_lagging"}},
	    {"filter_index", hot_index,
	        {"PRIMARY KEY (kind=? AND term=? AND filter_id>? AND filter_id<?)",
	            "filter_term_filter (filter_id=?)", "vocabulary_class (folded=?)",
	            "PRIMARY KEY (text>? AND text<?)"}},
	    {"filter_progress_load_pending", hot_pending,
	        {"match_pending_paper (paper_seq=? AND filter_id>?)"}},
	    {"matches_find_due", hot_match_due,
	        {"match_pending_due (due_at<?)", "match_pending_due"}},
	    {"papers_find_changed", hot_changed, {"paper_changed"}},
	    {"papers_load_revisions", hot_revisions,
	        {"(revision>? AND revision<?)", "paper_last_day (last_day>?)"}},
	    {"papers_load_etag", hot_etag, {"source_fetch_day (source=? AND day=?)"}},
	    {"backtest_run", hot_backtest,
	        {"paper USING COVERING INDEX paper_rank (seq>?)",
	            "paper USING COVERING INDEX paper_rank (seq=?)",
	            "paper USING COVERING INDEX paper_last_day (last_day>?)"}},
	    {"maintenance_run", hot_prune,
	        {"outbox_ended (ended_at<?)", "delivered_at (at<?)",
	            "source_fetch_time (fetched_at<?)", "digest_rejected_at (at<?)",
	            "digest_created (created_at<?)"}},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new_filled();

		g_hash_table_remove_all(fixture->store->statements);
		rows[i].call(fixture->store);
		g_assert_cmpuint(g_hash_table_size(fixture->store->statements), >, 0);
		assert_plans(fixture, rows[i].what, rows[i].indexes);
		store_fixture_assert_idle(fixture);
	}
}

UNIT_MAIN
