/*
 * test_arguments.c - the arguments of a paperboyctl command are counted and checked.
 */
#include <glib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "lib/unit.h"

#define MAX_WORDS 8

/* An argument vector followed by an inaccessible page. */
struct vector {
	char *words[MAX_WORDS + 1]; /* as they are to be freed */
	void *pages;
	size_t size;
	char **argv;
	int argc;
};

static void
vector_init(struct vector *vector, const char *line)
{
	g_auto(GStrv) words = g_strsplit(line, " ", MAX_WORDS);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	*vector = (struct vector){.size = 2 * page, .argc = (int)g_strv_length(words)};
	vector->pages = mmap(NULL, vector->size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	g_assert_true(vector->pages != MAP_FAILED);
	g_assert_cmpint(mprotect((char *)vector->pages + page, page, PROT_NONE), ==, 0);
	vector->argv = (char **)((char *)vector->pages + page) - vector->argc - 1;
	for (int i = 0; i < vector->argc; i++)
		vector->argv[i] = vector->words[i] = g_strdup(words[i]);
	vector->argv[vector->argc] = NULL;
}

static void
vector_clear(struct vector *vector)
{
	for (int i = 0; i <= MAX_WORDS; i++)
		g_free(vector->words[i]);
	munmap(vector->pages, vector->size);
}

TEST(missing_and_surplus_arguments_are_reported)
{
	static const struct {
		const char *line;
		int least, most; /* -1: any number */
		const char *error;
	} rows[] = {
	    {"edit", 3, 3, "missing argument"},
	    {"edit a", 3, 3, "missing argument"},
	    {"edit a b c", 3, 3, NULL},
	    {"edit a b c d", 3, 3, "unexpected argument 'd'"},
	    {"edit a b c d e", 3, 3, "unexpected argument 'd'"},
	    {"edit -- a b", 3, 3, "missing argument"},
	    {"drop", 1, -1, "missing argument"},
	    {"drop a b c", 1, -1, NULL},
	    {"config", 0, 1, NULL},
	    {"config a b", 0, 1, "unexpected argument 'b'"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_local(vector) vector;
		const struct ctl_command command = {
		    .least = rows[i].least, .most = rows[i].most, .options = ""};
		struct ctl ctl = {0};
		g_autoptr(GError) error = NULL;
		bool is_ok;

		vector_init(&vector, rows[i].line);
		ctl.argc = vector.argc;
		ctl.argv = vector.argv;
		is_ok = ctl_parse(&command, &ctl, &error);
		g_assert_true(is_ok == !rows[i].error);
		g_assert_cmpstr(error ? error->message : NULL, ==, rows[i].error);
	}
}

UNIT_MAIN
