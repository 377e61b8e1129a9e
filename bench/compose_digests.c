/*
 * compose_digests.c - renderer_compose() of digests with five papers.
 *
 * compose_digests STORE TEMPLATES WAY COUNT.  "warm": all papers are cached; "cold":
 * none is; "mixed": each subscriber's digest once, in the order of the mailer.
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "stopwatch.h"

/* Their papers fit into the cache. */
#define DIGESTS 50

/* Other votes make another block of a paper. */
static void
make_cold(struct digest *digest, unsigned serial)
{
	for (unsigned i = 0; i < digest->entries->len; i++) {
		struct digest_entry *entry = digest->entries->pdata[i];

		entry->upvotes = serial;
	}
}

struct sums {
	struct stopwatch watch;
	struct stopwatch load; /* reading rows */
	struct stopwatch copy; /* copying the messages once */
	unsigned messages;
	size_t bytes;
};

static void
compose_some(struct renderer *renderer, const GPtrArray *digests, struct sums *sums)
{
	g_autoptr(GPtrArray) messages =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);

	stopwatch_start(&sums->watch);
	for (unsigned i = 0; i < digests->len; i++) {
		g_autoptr(GError) error = NULL;
		GBytes *message = renderer_compose(renderer, digests->pdata[i], &error);

		g_assert_no_error(error);
		g_ptr_array_add(messages, message);
	}
	stopwatch_stop(&sums->watch);
	stopwatch_start(&sums->copy);
	for (unsigned i = 0; i < messages->len; i++) {
		size_t size = 0;
		const void *data = g_bytes_get_data(messages->pdata[i], &size);

		g_bytes_unref(g_bytes_new(data, size));
		sums->bytes += size;
	}
	stopwatch_stop(&sums->copy);
	sums->messages += digests->len;
}

static void
compose_same(struct store *store, struct renderer *renderer, bool is_cold,
    unsigned count, struct sums *sums)
{
	g_autoptr(GPtrArray) digests = input_load_digests(store, DIGESTS);
	struct sums ignored = {0};

	compose_some(renderer, digests, &ignored);
	while (sums->messages < count) {
		for (unsigned i = 0; is_cold && i < digests->len; i++)
			make_cold(digests->pdata[i], sums->messages + i);
		compose_some(renderer, digests, sums);
	}
}

static void
compose_all(
    struct store *store, struct renderer *renderer, unsigned count, struct sums *sums)
{
	pb_auto(paper_cache) paper_cache = paper_cache_new(store);
	int64_t id = 1;

	while (sums->messages < count) {
		g_autoptr(GPtrArray) digests =
		    g_ptr_array_new_with_free_func((GDestroyNotify)digest_free);
		struct digest *digest;

		stopwatch_start(&sums->load);
		while (digests->len < DIGESTS &&
		       (digest = input_load_digest(store, paper_cache, &id)))
			g_ptr_array_add(digests, digest);
		stopwatch_stop(&sums->load);
		if (!digests->len)
			break;
		compose_some(renderer, digests, sums);
	}
}

int
main(int argc, char **argv)
{
	pb_auto(store) store = NULL;
	pb_auto(renderer) renderer = NULL;
	struct sums sums = {0};
	unsigned count;

	if (argc != 5) {
		fprintf(stderr,
		    "usage: compose_digests STORE TEMPLATES warm|mixed|cold COUNT\n");
		return 64;
	}
	store = input_open_store(argv[1]);
	renderer = input_new_renderer(argv[2]);
	count = (unsigned)strtoul(argv[4], NULL, 10);
	if (strcmp(argv[3], "mixed") == 0)
		compose_all(store, renderer, count, &sums);
	else
		compose_same(
		    store, renderer, strcmp(argv[3], "cold") == 0, count, &sums);
	stopwatch_print(&sums.watch);
	printf("messages=%u bytes=%zu load_wall=%.6f copy_wall=%.6f\n", sums.messages,
	    sums.bytes / sums.messages, (double)sums.load.wall_us / 1e6,
	    (double)sums.copy.wall_us / 1e6);
	return 0;
}
