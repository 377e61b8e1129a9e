/*
 * test_shelf.c - papers are read once, and again when somebody has written.
 */
#include <glib.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/lab.h"
#include "store/shelf.h"

static struct paper *
take(struct shelf *shelf, int64_t seq)
{
	g_autoptr(GError) error = NULL;
	struct paper *paper;

	g_assert_true(shelf_look(shelf, &error));
	paper = shelf_get(shelf, seq, &error);
	g_assert_no_error(error);
	return paper;
}

/* The post reads on a handle of its own; who collects writes on another. */
static void
a_paper_is_the_same_one_until_its_texts_change(void)
{
	pb_auto(lab) lab = lab_new();
	pb_auto(store) reader = NULL;
	pb_auto(shelf) shelf = NULL;
	pb_auto(paper) first = NULL;
	pb_auto(paper) again = NULL;
	pb_auto(paper) voted = NULL;
	pb_auto(paper) changed = NULL;

	lab_list(lab, "2026-11-20", "2611.00001", "A title", 23);
	reader = store_open(lab->path, NULL);
	shelf = shelf_new(reader);
	first = take(shelf, 1);
	again = take(shelf, 1);
	g_assert_true(first == again);
	g_assert_cmpuint(first->shares, >, 0);

	lab_run(lab, "UPDATE paper SET upvotes = 99");
	voted = take(shelf, 1);
	g_assert_true(voted == first);

	lab_run(lab, "UPDATE paper SET code_url = 'https://code.example.org/'");
	changed = take(shelf, 1);
	g_assert_true(changed != first);
	g_assert_cmpstr(changed->code_url, ==, "https://code.example.org/");
	g_assert_cmpstr(first->title, ==, "A title");
	g_assert_null(first->code_url);
}

/* Each column that a digest tells. */
static void
every_text_counts(void)
{
	static const char *const changes[] = {
	    "UPDATE paper SET title = 'Another'",
	    "UPDATE paper SET abstract = 'Another'",
	    "UPDATE paper SET authors = 'Some One'",
	    "UPDATE paper SET authors = 'Some One' || char(10) || 'Another One'",
	    "UPDATE paper SET authors = 'Some One' || char(10) || 'Another'",
	    "UPDATE paper SET url = 'https://papers.example.net/'",
	    "UPDATE paper SET code_url = 'https://code.example.org/'",
	    "UPDATE paper SET project_url = 'https://project.example.org/'",
	    "UPDATE paper SET project_url = NULL",
	};
	pb_auto(lab) lab = lab_new();
	pb_auto(store) reader = NULL;
	pb_auto(shelf) shelf = NULL;
	pb_auto(paper) before = NULL;

	lab_list(lab, "2026-11-20", "2611.00001", "A title", 23);
	reader = store_open(lab->path, NULL);
	shelf = shelf_new(reader);
	before = take(shelf, 1);
	for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
		struct paper *after;

		lab_run(lab, changes[i]);
		after = take(shelf, 1);
		if (after == before)
			g_error("not seen: %s", changes[i]);
		paper_free(before);
		before = after;
	}
}

static void
it_holds_no_more_than_its_bound(void)
{
	pb_auto(lab) lab = lab_new();
	pb_auto(shelf) shelf = shelf_new(lab->store);
	pb_auto(paper) first = NULL;
	pb_auto(paper) again = NULL;
	pb_auto(paper) anew = NULL;
	g_autoptr(GError) error = NULL;

	for (unsigned i = 1; i <= BOUNDS_SHELF_PAPERS + 1; i++) {
		g_autofree char *id = g_strdup_printf("2611.%05u", i);

		lab_list(lab, "2026-11-20", id, "A title", 1);
	}
	first = take(shelf, 1);
	for (int64_t seq = 2; seq <= BOUNDS_SHELF_PAPERS; seq++)
		paper_free(take(shelf, seq));
	again = take(shelf, 1);
	g_assert_true(again == first);
	paper_free(take(shelf, BOUNDS_SHELF_PAPERS + 1));
	anew = take(shelf, 1);
	g_assert_true(anew != first);

	g_assert_null(shelf_get(shelf, BOUNDS_SHELF_PAPERS + 2, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_NOT_FOUND);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/shelf/a paper is the same one until its texts change",
	    a_paper_is_the_same_one_until_its_texts_change);
	g_test_add_func("/shelf/every text counts", every_text_counts);
	g_test_add_func(
	    "/shelf/it holds no more than its bound", it_holds_no_more_than_its_bound);
	return g_test_run();
}
