/*
 * cleanup.h - cleanup attribute for pointers to structs without a typedef.
 *
 * Declare PB_DEFINE_AUTO(paper, paper_free) next to the functions of the type; then
 * `pb_auto(paper) p = paper_new();` frees p when it goes out of scope.
 * The free function must accept NULL.
 */
#ifndef PAPERBOY_BASE_CLEANUP_H
#define PAPERBOY_BASE_CLEANUP_H

#include <glib.h>

#define PB_DEFINE_AUTO(name, free_function)                           \
	static inline void pb_auto_free_##name(struct name **pointer) \
	{                                                             \
		free_function(*pointer);                              \
	}                                                             \
	struct name

#define pb_auto(name) __attribute__((cleanup(pb_auto_free_##name))) struct name *

#endif
