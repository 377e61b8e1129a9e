/*
 * cleanup.h - cleanup attributes for structs without a typedef.
 *
 * Declare PB_DEFINE_AUTO(paper, paper_free) next to the functions of the type; then
 * `pb_auto(paper) p = paper_new();` frees p when it goes out of scope.
 * The free function must accept NULL.
 */
#pragma once

#include <glib.h>

#define PB_DEFINE_AUTO(name, free_function)                           \
	static inline void pb_auto_free_##name(struct name **pointer) \
	{                                                             \
		free_function(*pointer);                              \
	}                                                             \
	struct name

#define pb_auto(name) __attribute__((cleanup(pb_auto_free_##name))) struct name *

/* A local struct that name_clear() clears; initialized, at least to zeros. */
#define pb_local(name) __attribute__((cleanup(name##_clear))) struct name
