/*
 * edition.c - edition_run on a matched store in which everybody is due.
 *
 * edition STORE: changes the store.
 */
#include <glib.h>
#include <stdio.h>

#include "input.h"
#include "service/edition.h"
#include "stopwatch.h"

int
main(int argc, char **argv)
{
	pb_auto(store) store = NULL;
	g_autoptr(GError) error = NULL;
	struct edition_report report = {0};
	struct stopwatch watch = {0};

	if (argc != 2) {
		fprintf(stderr, "usage: edition STORE\n");
		return 64;
	}
	store = input_open_store(argv[1]);
	stopwatch_start(&watch);
	edition_run(store, INPUT_NOW, &report, &error);
	stopwatch_stop(&watch);
	g_assert_no_error(error);
	stopwatch_print(&watch);
	printf(
	    "due=%u digests=%u papers=%u\n", report.due, report.digests, report.papers);
	store_checkpoint(store);
	return 0;
}
