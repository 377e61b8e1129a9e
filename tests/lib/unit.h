/*
 * unit.h - the main() of a test program: each function is a test, named after itself.
 */
#ifndef PAPERBOY_TESTS_LIB_UNIT_H
#define PAPERBOY_TESTS_LIB_UNIT_H

#include <glib.h>

/* @param names  separated by commas @return "/name of the function" of each */
static inline char **
unit_list_paths(const char *names)
{
	char **paths = g_strsplit(names, ",", -1);

	for (char **at = paths; *at; at++) {
		char *name = *at;

		*at = g_strconcat("/", g_strdelimit(g_strstrip(name), "_", ' '), NULL);
		g_free(name);
	}
	return paths;
}

static inline void
unit_add(const char *names, void (*const *functions)(void))
{
	g_auto(GStrv) paths = unit_list_paths(names);

	for (size_t i = 0; paths[i]; i++)
		g_test_add_func(paths[i], functions[i]);
}

/** Add tests, after g_test_init(). */
#define UNIT_ADD(...) unit_add(#__VA_ARGS__, (void (*const[])(void)){__VA_ARGS__})

/** Define a main() that only runs these tests. @param add  UNIT_ADD */
#define UNIT_MAIN_WITH(add, ...)                 \
	int main(int argc, char **argv)          \
	{                                        \
		g_test_init(&argc, &argv, NULL); \
		add(__VA_ARGS__);                \
		return g_test_run();             \
	}
#define UNIT_MAIN(...) UNIT_MAIN_WITH(UNIT_ADD, __VA_ARGS__)

#endif
