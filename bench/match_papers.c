/*
 * match_papers.c - match_run() on a store with a new day.
 *
 * match_papers STORE: changes the store.
 */
#include <glib.h>
#include <stdio.h>

#include "input.h"
#include "service/match/match.h"
#include "stopwatch.h"

int
main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	struct match_report report = {0};
	struct stopwatch watch = {0};
	pb_auto(store) store = NULL;

	if (argc != 2) {
		fprintf(stderr, "usage: match_papers STORE\n");
		return 64;
	}
	store = input_open_store(argv[1]);
	stopwatch_start(&watch);
	match_run(store, INPUT_NOW, &report, &error);
	stopwatch_stop(&watch);
	g_assert_no_error(error);
	stopwatch_print(&watch);
	printf("pairs=%u\n", report.found);
	return 0;
}
