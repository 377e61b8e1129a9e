/*
 * cleanup.h - cleanup for pointers to our structs, without a typedef.
 *
 * PB_DEFINE_AUTO(paper, paper_free) once beside the type's functions; then
 * `pb_auto(paper) p = paper_new();` frees p on every way out of the block.
 * The free function takes NULL.
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
