/*
 * seeds.c - run a fuzz target on its seeds, without a fuzzer.
 *
 * The program is named seeds_NAME and reads fuzz/corpus/NAME.  The target gets each
 * seed, and truncated copies of it to detect reads past the end of the input.
 */
#include <string.h>

#include "fuzz.h"

#define CUTS 32

static void
run_file(const void *data)
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
run_empty(void)
{
	g_assert_cmpint(LLVMFuzzerTestOneInput((const uint8_t *)"", 0), ==, 0);
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
add_seeds(const char *directory)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GDir) dir = g_dir_open(directory, 0, &error);
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
		    g_build_filename(directory, names->pdata[i], NULL), run_file,
		    g_free);
	}
}

int
main(int argc, char **argv)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *program = g_path_get_basename(argv[0]);
	g_autofree char *directory = NULL;

	g_test_init(&argc, &argv, NULL);
	g_assert(g_str_has_prefix(program, "seeds_"));
	directory = g_build_filename(
	    top ? top : ".", "fuzz", "corpus", program + strlen("seeds_"), NULL);
	g_test_add_func("/seed/no input", run_empty);
	add_seeds(directory);
	return g_test_run();
}
