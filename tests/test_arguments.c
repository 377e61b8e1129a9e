/*
 * test_arguments.c - the arguments of a paperboyctl command are counted and checked.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "lib/cases.h"
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
	CASES_FOREACH(row, "arguments", *line, *least, *most, *error) {
		pb_local(vector) vector;
		const struct ctl_command command = {.least = cases_number(row->least),
		    .most = cases_number(row->most),
		    .options = ""};
		struct ctl ctl = {0};
		g_autoptr(GError) error = NULL;
		bool is_ok;

		vector_init(&vector, row->line);
		ctl.argc = vector.argc;
		ctl.argv = vector.argv;
		is_ok = ctl_parse(&command, &ctl, &error);
		g_assert_true(is_ok == !row->error);
		g_assert_cmpstr(error ? error->message : NULL, ==, row->error);
	}
}

UNIT_MAIN
