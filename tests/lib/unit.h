/*
 * unit.h - tests that are registered where they are defined, and named after
 * themselves.
 */
#pragma once

#include <glib.h>

#include "base/cleanup.h"
#include "errors.h"

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

/**
 * Begin the function that calls a test with arguments of these types; its block and the
 * head of the test follow, as in TEST_WITH().
 */
#define UNIT_CALLER(function, ...)                    \
	static void function(__VA_ARGS__);            \
	static void unit_run_##function(void);        \
	UNIT_REGISTER(unit_run_##function, #function) \
	static void unit_run_##function(void)

/** Define a test that gets `struct type *name`, which the call of a function makes. */
#define TEST_WITH(function, type, name, call) \
	UNIT_CALLER(function, struct type *)  \
	{                                     \
		pb_auto(type) name = call;    \
		function(name);               \
	}                                     \
	static void function(G_GNUC_UNUSED struct type *name)

/** The same with a local structure, which type_init() fills and type_clear() clears. */
#define TEST_WITH_LOCAL(function, type, name) \
	UNIT_CALLER(function, struct type *)  \
	{                                     \
		pb_local(type) name = {0};    \
		type##_init(&name);           \
		function(&name);              \
	}                                     \
	static void function(G_GNUC_UNUSED struct type *name)

/** Define a main() that only runs the tests of this file. */
#define UNIT_MAIN UNIT_MAIN_WITH((void)0)

/** The same for tests in which warnings are logged. */
#define UNIT_MAIN_WITH_WARNINGS UNIT_MAIN_WITH(g_log_set_always_fatal(G_LOG_FATAL_MASK))

#define UNIT_MAIN_WITH(preparation)              \
	int main(int argc, char **argv)          \
	{                                        \
		g_test_init(&argc, &argv, NULL); \
		preparation;                     \
		unit_add_all();                  \
		return g_test_run();             \
	}
