/*
 * test_week.c - a week from Hugging Face, arXiv and a feed at once: each paper is one
 * row and one delivery.
 */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "lib/paperserver.h"
#include "lib/store_fixture.h"
#include "service/collect/collect.h"
#include "sources/arxiv.h"
#include "sources/feed.h"
#include "sources/huggingface.h"

#define DAYS   5
#define PAPERS 4 /* a day; all three list each but the last, which is arXiv's alone */

/* 2026-11-16 is a Monday. */
#define FIRST_DAY 16

static void G_GNUC_PRINTF(3, 4)
    write_file(const char *folder, const char *name, const char *format, ...)
{
	g_autofree char *path = g_build_filename(folder, name, NULL);
	g_autofree char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	text = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static char *
title_of(int day, int number)
{
	return g_strdup_printf("Mamba of the made-up day %d, paper %d", day, number);
}

/* The files of one day, as each of the three would tell it. */
static void
write_day(const char *folder, int day)
{
	g_autoptr(GString) hf = g_string_new("[");
	g_autoptr(GString) arxiv = g_string_new(NULL);
	g_autoptr(GString) feed = g_string_new(NULL);
	g_autofree char *name = g_strdup_printf("daily_papers-2026-11-%d.json", day);

	for (int i = 0; i < PAPERS; i++) {
		g_autofree char *title = title_of(day, i);

		if (i < PAPERS - 1)
			g_string_append_printf(hf,
			    "%s{\"paper\":{\"id\":\"2611.%d00%d\",\"title\":\"%s\","
			    "\"summary\":\"Of hf.\",\"upvotes\":%d,\"authors\":["
			    "{\"name\":\"Ada Example\"}]}}",
			    i ? "," : "", day, i, title, i);
		g_string_append_printf(arxiv,
		    "<item><title>%s</title><description>arXiv:2611.%d00%dv1 Announce "
		    "Type: new \nAbstract: Of arXiv.</description><guid>"
		    "oai:arXiv.org:2611.%d00%dv1</guid>%s<dc:creator>Ada "
		    "Example, Bo Li</dc:creator></item>",
		    title, day, i, day, i,
		    i == PAPERS - 1 ? "<category>cs.CL</category>" : "");
		/* By its link, by its title alone. */
		if (i < PAPERS - 1)
			g_string_append_printf(feed,
			    "<item><title>%s</title><author>Ada Example</author>"
			    "<link>%s/%d/%d</link></item>",
			    title, "https://example.org", day, i);
	}
	write_file(folder, name, "%s]", hf->str);
	write_file(folder, "cs.CL.xml",
	    "<rss xmlns:dc='http://purl.org/dc/elements/1.1/' version='2.0'><channel>"
	    "<pubDate>%d Nov 2026 00:00:00 -0500</pubDate>%s</channel></rss>",
	    day, arxiv->str);
	write_file(folder, "lab.xml", "<rss version='2.0'><channel>%s</channel></rss>",
	    feed->str);
}

/* As if every message had been sent. */
static void
deliver(struct store_fixture *fixture)
{
	store_fixture_run(fixture,
	    "INSERT OR FAIL INTO delivered (subscriber_id, paper_seq, digest_id, at) "
	    "SELECT d.subscriber_id, i.paper_seq, d.id, 5"
	    " FROM digest_item i JOIN digest d ON d.id = i.digest_id"
	    " WHERE d.state = 'live';"
	    "UPDATE outbox SET state = 'CANCELLED', ended_at = 5, next_try_at = NULL"
	    " WHERE ended_at IS NULL;"
	    "UPDATE digest SET state = 'sent' WHERE state = 'live'");
}

static void
run_week(struct store_fixture *fixture, struct paperserver *server, const int order[3])
{
	g_autofree char *folder = g_dir_make_tmp("paperboy-week-XXXXXX", NULL);
	g_autofree char *base = g_filename_to_uri(folder, NULL, NULL);
	g_autofree char *store_fixture_url = g_strconcat(base, "/lab.xml", NULL);
	g_autofree char *api = paperserver_mode_url(server, "feed-api");
	const struct arxiv_options options = {base, api, 0};
	struct source *all[] = {huggingface_new(base), arxiv_new(&options, "cs.CL"),
	    feed_source_new("lab", store_fixture_url)};
	struct source *sources[] = {all[order[0]], all[order[1]], all[order[2]]};
	const struct http_settings settings = {
	    .user_agent = "test", .allow_private = true, .allow_file = true};
	pb_auto(http) http = http_new(&settings);
	const struct collect collect = {
	    .store = fixture->store,
	    .http = http,
	    .sources = sources,
	    .source_count = 3,
	    .arxiv = &options,
	};
	int64_t start = store_fixture_time("2026-11-16T06:00:00Z");

	store_fixture_subscribe(fixture, "ada@example.org", "UTC", "mamba", start);
	store_fixture_subscribe(
	    fixture, "bo@example.org", "UTC", "mamba cat:cs.LG", start);
	store_fixture_subscribe(
	    fixture, "cy@example.org", "UTC", "mamba -cs.LG", start);
	for (int day = 0; day < DAYS; day++) {
		struct collect_report report = {0};
		g_autoptr(GError) error = NULL;
		int64_t at = start + day * (int64_t)CLOCK_DAY_S;

		write_day(folder, FIRST_DAY + day);
		/* Twice: what is told again changes nothing. */
		for (int i = 0; i < 2; i++) {
			collect_run(&collect, true, at + i * 1800, &report, &error);
			g_assert_no_error(error);
			g_assert_cmpuint(report.failed, ==, 0);
		}
		store_fixture_press(fixture, at + 2 * 3600);
		deliver(fixture);
	}
	store_fixture_press(fixture, start + DAYS * (int64_t)CLOCK_DAY_S + 3600);
	deliver(fixture);
	for (int i = 0; i < 3; i++)
		source_free(all[i]);
	store_fixture_remove_folder(folder);
}

static void
each_paper_is_one_row_and_one_delivery(void)
{
	static const int orders[][3] = {{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {2, 0, 1}};
	pb_auto(paperserver) server = paperserver_start(NULL, NULL);

	if (!server) {
		g_test_skip("there is no Python to serve papers");
		return;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(orders); i++) {
		pb_auto(store_fixture) fixture = store_fixture_new();

		run_week(fixture, server, orders[i]);
		g_test_message("order %zu", i);
		g_assert_cmpint(
		    store_fixture_number(fixture, "SELECT count(*) FROM paper"), ==,
		    DAYS * PAPERS);
		/* Whoever was first: arXiv's id, text and people, the votes of hf. */
		g_assert_cmpint(store_fixture_number(fixture,
		                    "SELECT count(*) FROM paper WHERE id GLOB '2611.*'"
		                    " AND abstract = 'Of arXiv.' AND authors ="
		                    " 'Ada Example' || char(10) || 'Bo Li'"),
		    ==, DAYS * PAPERS);
		store_fixture_assert_text(fixture,
		    "SELECT source, count(*) FROM listing GROUP BY 1 ORDER BY 1",
		    "arxiv/cs.CL|20 hf|15 lab|15");
		store_fixture_assert_text(fixture,
		    "SELECT group_concat(upvotes) FROM paper WHERE id GLOB '2611.16*'"
		    " ORDER BY id",
		    "0,1,2");
		/* The API told categories; who waited for them got their papers. */
		store_fixture_assert_text(fixture,
		    "SELECT categories, count(*) FROM paper GROUP BY 1 ORDER BY 1",
		    "cs.CL|5 cs.LG\nstat.ML|15");
		store_fixture_assert_text(fixture,
		    "SELECT s.name, count(*), count(DISTINCT paper_seq) FROM delivered"
		    " JOIN (SELECT id, substr(address, 1, 3) AS name FROM subscriber) s"
		    " ON s.id = subscriber_id GROUP BY 1 ORDER BY 1",
		    "ada|20|20 bo@|15|15 cy@|5|5");
		g_assert_cmpint(
		    store_fixture_number(
		        fixture, "SELECT count(*) FROM match WHERE state = 'waiting'"),
		    ==, 0);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define ADD(name) g_test_add_func("/week/" #name, name)
	ADD(each_paper_is_one_row_and_one_delivery);
	return g_test_run();
}
