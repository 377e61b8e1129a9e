/*
 * suggest_terms.c - suggestions for filters on a store, and their CPU time.
 *
 * suggest STORE DAY <FILTERS: read filters from standard input, one a line, and print
 * "FILTER TAB TERM TAB PAPERS TAB SIMILAR% TAB TITLE TAB NEW FILTER" for each
 * suggestion at noon of a day, then "FILTER TAB TAB MILLISECONDS".
 */
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/day.h"
#include "service/explain/suggest.h"

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

		printf("%s\t%s\t%u\t%u%%\t%s\t%s\n", filter, one->term, one->gained,
		    one->similar, one->title, one->text);
	}
	printf("%s\t\t%.1f\n", filter, begin);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	char line[LINE_BYTES];
	g_autoptr(GError) error = NULL;
	struct store *store;

	g_set_prgname("suggest");
	if (argc != 3) {
		fprintf(stderr, "usage: suggest STORE DAY <FILTERS\n");
		return 64;
	}
	store = store_open(argv[1], &error);
	if (!store) {
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
