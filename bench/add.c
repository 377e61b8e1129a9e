/*
 * add.c - time to add a filter to a subscriber, until it is committed and indexed.
 *
 * add STORE COUNT: print the median and the longest time.  Changes the store.
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

#include "input.h"
#include "service/people/subscribe.h"
#include "stopwatch.h"
#include "store/subscriber/subscribers.h"

static gint
compare_times(gconstpointer a, gconstpointer b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return left < right ? -1 : left > right;
}

/* Somebody of the middle gets a filter that nobody has. */
static int64_t
add_one(struct store *store, const char *address, int i)
{
	g_autofree char *text = g_strdup_printf(
	    "\"diffusion model\" OR (\"state space\" novelty%d NOT survey)", i);
	const struct subscribe_filter filter = {.text = text};
	g_autoptr(GError) error = NULL;
	int64_t started = g_get_monotonic_time();
	struct subscription *subscription = subscribe_add_filter(
	    store, address, &filter, "bench", INPUT_NOW, NULL, NULL, &error);
	int64_t took = g_get_monotonic_time() - started;

	g_assert_no_error(error);
	subscription_free(subscription);
	return took;
}

int
main(int argc, char **argv)
{
	g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(int64_t));
	struct stopwatch watch = {0};
	pb_auto(store) store = NULL;
	g_autoptr(GPtrArray) people = NULL;
	int count;

	if (argc != 3) {
		fprintf(stderr, "usage: add STORE COUNT\n");
		return 64;
	}
	store = input_open_store(argv[1]);
	count = atoi(argv[2]);
	people = subscribers_load_page(store, 0, (unsigned)count, NULL);
	g_assert_true(people && people->len);
	stopwatch_start(&watch);
	for (int i = 0; i < count; i++) {
		const struct subscriber *person = people->pdata[i % (int)people->len];
		int64_t took = add_one(store, person->address, i);

		g_array_append_val(times, took);
	}
	stopwatch_stop(&watch);
	g_array_sort(times, compare_times);
	stopwatch_print(&watch);
	printf("median_ms=%.3f longest_ms=%.3f\n",
	    (double)g_array_index(times, int64_t, times->len / 2) / 1e3,
	    (double)g_array_index(times, int64_t, times->len - 1) / 1e3);
	return 0;
}
