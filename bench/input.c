/*
 * input.c - test data for the benchmarks, read from the store that fill.c made.
 */
#include "input.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/digest.h"
#include "store/core/sql.h"
#include "store/mail/digests.h"
#include "store/paper/archive_cache.h"
#include "store/paper/filter_progress.h"
#include "store/paper/papers.h"

struct store *
input_open_store(const char *path)
{
	g_autoptr(GError) error = NULL;
	struct store *store = store_open(path, &error);

	g_assert_no_error(error);
	/* Papers are indexed here, as SQLite does when it saves them. */
	if (store_is_server(path) &&
	    archive_cache_open(store, g_getenv("BENCH_ARCHIVE"), &error))
		archive_cache_refresh(store, &error);
	g_assert_no_error(error);
	store->trips = 0;
	return store;
}

double
input_load_server_cpu(struct store *store)
{
	uint64_t trips = store->trips;
	g_autofree char *path = NULL, *text = NULL;
	unsigned long long user = 0, system = 0;
	int64_t pid;

	if (!store->postgresql)
		return 0;
	g_assert_true(sql_number(store, "SELECT pg_backend_pid()", &pid, NULL));
	path = g_strdup_printf("/proc/%" G_GINT64_FORMAT "/stat", pid);
	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	/* proc(5): utime and stime, the 14th and 15th. */
	g_assert_cmpint(sscanf(strrchr(text, ')'),
	                    ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
	                    &user, &system),
	    ==, 2);
	store->trips = trips;
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

GPtrArray *
input_load_filters(struct store *store)
{
	g_autoptr(GError) error = NULL;
	GPtrArray *filters = filter_progress_load_filters(store, 0, G_MAXINT, &error);

	g_assert_no_error(error);
	return filters;
}

GPtrArray *
input_load_papers(struct store *store)
{
	g_autoptr(GError) error = NULL;
	GPtrArray *papers =
	    papers_load_revisions(store, 0, G_MAXINT64, INPUT_DAY, G_MAXINT, &error);

	g_assert_no_error(error);
	return papers;
}

struct digest *
input_load_digest(struct store *store, struct paper_cache *paper_cache, int64_t *id)
{
	g_autoptr(GError) error = NULL;
	int64_t last;

	digests_load_last(store, &last, &error);
	g_assert_no_error(error);
	while (*id <= last) {
		pb_local(digests_slot) slot = {.id = (*id)++};

		digests_load_shared(store, paper_cache, &slot, 1, &error);
		g_assert_no_error(error);
		g_assert_no_error(slot.problem);
		if (slot.digest->entries->len < INPUT_DIGEST_PAPERS)
			continue;
		g_ptr_array_set_size(slot.digest->entries, INPUT_DIGEST_PAPERS);
		return g_steal_pointer(&slot.digest);
	}
	return NULL;
}

GPtrArray *
input_load_digests(struct store *store, unsigned most)
{
	GPtrArray *digests =
	    g_ptr_array_new_with_free_func((GDestroyNotify)digest_free);
	pb_auto(paper_cache) paper_cache = paper_cache_new(store);
	struct digest *digest;
	int64_t id = 1;

	while (digests->len < most &&
	       (digest = input_load_digest(store, paper_cache, &id)))
		g_ptr_array_add(digests, digest);
	g_assert_cmpuint(digests->len, >, 0);
	return digests;
}

struct renderer *
input_new_renderer(const char *template_dir)
{
	g_autoptr(GBytes) key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	struct subaddress_base commands = {0};
	const struct renderer_settings settings = {
	    .template_dir = template_dir,
	    .from_name = "paperboy",
	    .from_address = "paperboy@papers.example.org",
	    .message_domain = "papers.example.org",
	    .list_id = "digest.papers.example.org",
	    .list_name = "paperboy",
	    .owner_address = "paperboy+owner@papers.example.org",
	    /* A digest has addresses of its own then, for answers and to leave. */
	    .commands = &commands,
	    .key = key,
	};
	g_autoptr(GError) error = NULL;
	struct renderer *renderer;

	subaddress_base_parse("paperboy@papers.example.org", "+", &commands, &error);
	g_assert_no_error(error);
	renderer = renderer_new(&settings, &error);
	g_assert_no_error(error);
	subaddress_base_clear(&commands);
	return renderer;
}
