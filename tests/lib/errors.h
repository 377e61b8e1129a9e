/*
 * errors.h - calls that set no error, or an expected one.
 *
 * Both macros declare the `error` to whose address the call refers.
 */
#pragma once

#include <glib.h>

#include "base/error.h"

/** @return the result of a call that sets no error, as store_open(path, &error) */
#define NO_ERROR(...)                                        \
	({                                                   \
		g_autoptr(GError) error = NULL;              \
		__auto_type no_error_result = (__VA_ARGS__); \
		g_assert_no_error(error);                    \
		no_error_result;                             \
	})

/** Assert that a call returns NULL or false, with an error of this code. */
#define FAILS(code, ...)                                      \
	do {                                                  \
		g_autoptr(GError) error = NULL;               \
		g_assert_false(__VA_ARGS__);                  \
		g_assert_error(error, PB_ERROR, (int)(code)); \
	} while (0)
