/*
 * compose.c - renderer_compose of digests of five papers.
 *
 * compose STORE TEMPLATES WAY COUNT: a fragment is what a paper becomes for one set of
 * reasons.  "warm": all were rendered before; "cold": none was; "mixed": each person's
 * digest once, in the order in which they were made, as the post has them.
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "stopwatch.h"

/* Their fragments fit into the renderer's cache. */
#define DIGESTS 50

/* Reasons that nobody had before make fragments that nobody had before. */
static void
make_cold(struct digest *digest, unsigned serial)
{
	for (unsigned i = 0; i < digest->entries->len; i++) {
		struct digest_entry *entry = digest->entries->pdata[i];
		struct digest_reason *reason = entry->reasons->pdata[0];

		g_free(reason->filter);
		reason->filter = g_strdup_printf("filter %06u", serial);
	}
}

/* What was composed, and how long it took. */
struct sums {
	struct stopwatch watch;
	unsigned messages;
	size_t bytes;
};

static void
compose(struct renderer *renderer, const struct digest *digest, struct sums *sums)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) message = NULL;

	stopwatch_start(&sums->watch);
	message = renderer_compose(renderer, digest, &error);
	stopwatch_stop(&sums->watch);
	g_assert_no_error(error);
	sums->messages++;
	sums->bytes += g_bytes_get_size(message);
}

static void
compose_same(struct store *store, struct renderer *renderer, bool is_cold,
    unsigned count, struct sums *sums)
{
	g_autoptr(GPtrArray) digests = input_load_digests(store, DIGESTS);
	struct sums ignored = {0};

	for (unsigned i = 0; i < digests->len; i++)
		compose(renderer, digests->pdata[i], &ignored);
	for (unsigned i = 0; i < count; i++) {
		struct digest *digest = digests->pdata[i % digests->len];

		if (is_cold)
			make_cold(digest, i);
		compose(renderer, digest, sums);
	}
}

static void
compose_all(
    struct store *store, struct renderer *renderer, unsigned count, struct sums *sums)
{
	int64_t id = 1;

	while (sums->messages < count) {
		pb_auto(digest) digest = input_load_digest(store, &id);

		if (!digest)
			break;
		compose(renderer, digest, sums);
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
		fprintf(
		    stderr, "usage: compose STORE TEMPLATES warm|mixed|cold COUNT\n");
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
	printf("messages=%u bytes=%zu\n", sums.messages, sums.bytes / sums.messages);
	return 0;
}
