/*
 * suggest_terms.c - suggestions for filters on a store, and their CPU time.
 *
 * suggest STORE DAY [CORPUS.jsonl] <FILTERS: add the papers of a file, as listed on
 * that day, read filters from standard input, one a line, and print "FILTER TAB TERM
 * TAB PAPERS TAB TITLE TAB NEW FILTER" for each suggestion at noon of the day, then
 * "FILTER TAB TAB MILLISECONDS".
 */
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/day.h"
#include "paper_file.h"
#include "service/advice/suggest.h"
#include "store/core/transaction.h"
#include "store/paper/papers.h"

#define LINE_BYTES 4096

static double
get_cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void
print_suggestions(struct store *store, const char *filter, int64_t now)
{
	const struct suggest_request request = {.text = filter, .now = now};
	double begin = get_cpu_ms();
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) found = suggest_find(store, &request, &error);

	if (!found) {
		fprintf(stderr, "%s: %s\n", filter, error->message);
		return;
	}
	begin = get_cpu_ms() - begin;
	for (unsigned i = 0; i < found->len; i++) {
		const struct suggestion *one = found->pdata[i];

		printf("%s\t%s\t%u\t%s\t%s\n", filter, one->term, one->gained,
		    one->title, one->text);
	}
	printf("%s\t\t%.1f\n", filter, begin);
	fflush(stdout);
}

static bool
save_papers(struct store *store, void *data, GError **error)
{
	const char *const *arguments = data;
	const char *day = arguments[0];
	const struct source_fetch batch = {.source = "file",
	    .day = day,
	    .fetched_at = day_start(day),
	    .status = SOURCE_FETCH_OK};
	g_autoptr(GPtrArray) papers = paper_file_read(arguments[1]);
	g_autoptr(GPtrArray) listings =
	    g_ptr_array_new_with_free_func((GDestroyNotify)listing_free);
	struct papers_saved saved;

	for (unsigned i = 0; i < papers->len; i++)
		g_ptr_array_add(
		    listings, listing_new(g_steal_pointer(&papers->pdata[i]), day));
	return papers_save_fetch(store, &batch, listings, &saved, error);
}

int
main(int argc, char **argv)
{
	char line[LINE_BYTES];
	g_autoptr(GError) error = NULL;
	struct store *store;

	g_set_prgname("suggest");
	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: suggest STORE DAY [CORPUS.jsonl] <FILTERS\n");
		return 64;
	}
	store = store_open(argv[1], &error);
	if (!store ||
	    (argc == 4 && !store_transact(store, save_papers, argv + 2, &error))) {
		fprintf(stderr, "suggest: %s\n", error->message);
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		g_strstrip(line);
		if (*line)
			print_suggestions(
			    store, line, day_start(argv[2]) + CLOCK_DAY_S / 2);
	}
	store_free(store);
	return 0;
}
