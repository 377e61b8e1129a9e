/*
 * seeds.c - plays the seeds of a fuzz target as a test, without a fuzzer.
 *
 * The program is called seeds_NAME and reads fuzz/corpus/NAME.  Each seed is
 * given whole and cut short in many places: a parser that reads past the end of
 * its input does so on a cut one.
 */
#include <string.h>

#include "fuzz.h"

#define CUTS 32

static void
play_file(const void *data)
{
	const char *path = data;
	g_autoptr(GError) error = NULL;
	g_autofree char *content = NULL;
	gsize size;

	g_file_get_contents(path, &content, &size, &error);
	g_assert_no_error(error);
	for (size_t i = 0; i <= CUTS; i++) {
		size_t length = size * i / CUTS;
		g_autofree uint8_t *copy = g_memdup2(content, length);

		if (length > 0)
			g_assert_cmpint(LLVMFuzzerTestOneInput(copy, length), ==, 0);
	}
}

static void
play_nothing(void)
{
	g_assert_cmpint(LLVMFuzzerTestOneInput((const uint8_t *)"", 0), ==, 0);
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
add_seeds(const char *folder)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GDir) dir = g_dir_open(folder, 0, &error);
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	const char *name;

	g_assert_no_error(error);
	while ((name = g_dir_read_name(dir)))
		g_ptr_array_add(names, g_strdup(name));
	g_assert_cmpuint(names->len, >, 0);
	g_ptr_array_sort(names, compare_names);
	for (guint i = 0; i < names->len; i++) {
		g_autofree char *test = g_strconcat("/seed/", names->pdata[i], NULL);

		g_test_add_data_func_full(test,
		    g_build_filename(folder, names->pdata[i], NULL), play_file, g_free);
	}
}

int
main(int argc, char **argv)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *program = g_path_get_basename(argv[0]);
	g_autofree char *folder = NULL;

	g_test_init(&argc, &argv, NULL);
	g_assert(g_str_has_prefix(program, "seeds_"));
	folder = g_build_filename(
	    top ? top : ".", "fuzz", "corpus", program + strlen("seeds_"), NULL);
	g_test_add_func("/seed/nothing at all", play_nothing);
	add_seeds(folder);
	return g_test_run();
}
