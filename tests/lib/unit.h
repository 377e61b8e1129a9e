/*
 * unit.h - tests that are registered where they are defined, and named after
 * themselves.
 */
#ifndef PAPERBOY_TESTS_LIB_UNIT_H
#define PAPERBOY_TESTS_LIB_UNIT_H

#include <glib.h>

struct unit_test {
	const char *name;
	void (*run)(void);
	int line;
	struct unit_test *next; /* on a later line of the same file */
};

/* The tests of this file. */
static struct unit_test *unit_tests;

static inline void
unit_register(struct unit_test *test)
{
	struct unit_test **at = &unit_tests;

	while (*at && (*at)->line < test->line)
		at = &(*at)->next;
	test->next = *at;
	*at = test;
}

/** @return "/name of the function", a new string */
static inline char *
unit_get_path(const char *name)
{
	char *path = g_strconcat("/", name, NULL);

	return g_strdelimit(path, "_", ' ');
}

/** Add the tests of this file, after g_test_init(). */
static inline void
unit_add_all(void)
{
	for (const struct unit_test *test = unit_tests; test; test = test->next) {
		g_autofree char *path = unit_get_path(test->name);

		g_test_add_func(path, test->run);
	}
}

/* Registered before main(). */
#define UNIT_REGISTER(function, test_name)                                            \
	__attribute__((constructor)) static void unit_register_##function(void)       \
	{                                                                             \
		static struct unit_test test = {test_name, function, __LINE__, NULL}; \
		unit_register(&test);                                                 \
	}

/** Define a test: TEST(a_line_is_read) { ... } */
#define TEST(function)                     \
	static void function(void);        \
	UNIT_REGISTER(function, #function) \
	static void function(void)

/** Define a main() that only runs the tests of this file. */
#define UNIT_MAIN_ALL                            \
	int main(int argc, char **argv)          \
	{                                        \
		g_test_init(&argc, &argv, NULL); \
		unit_add_all();                  \
		return g_test_run();             \
	}

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

/** Define a main() that only runs these tests. */
#define UNIT_MAIN(...)                           \
	int main(int argc, char **argv)          \
	{                                        \
		g_test_init(&argc, &argv, NULL); \
		UNIT_ADD(__VA_ARGS__);           \
		return g_test_run();             \
	}

#endif
