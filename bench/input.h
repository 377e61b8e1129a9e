/*
 * input.h - test data for the benchmarks, read from the store that fill.c made.
 *
 * Errors end the program.
 */
#ifndef PAPERBOY_BENCH_INPUT_H
#define PAPERBOY_BENCH_INPUT_H

#include <glib.h>
#include <stdint.h>

#include "render/renderer.h"
#include "store/core/store.h"
#include "store/paper/paper_cache.h"

/* The day of the papers, and the noon at which everything happens. */
#define INPUT_DAY "2026-11-20"
#define INPUT_NOW ((int64_t)1795176000)

/** @param path  or the URL of a server, whose papers are copied to $BENCH_ARCHIVE */
struct store *input_open_store(const char *path);

/** CPU time of the server's process for this handle, on this host, s; 0 without one. */
double input_load_server_cpu(struct store *store);

/** @return of struct stored_filter *: the distinct filters of all people */
GPtrArray *input_load_filters(struct store *store);

/** @return of struct stored_paper * */
GPtrArray *input_load_papers(struct store *store);

/* In every digest that is composed. */
#define INPUT_DIGEST_PAPERS 5

/**
 * Load the first digest from an id on that has INPUT_DIGEST_PAPERS papers, cut to them.
 *
 * @param id  moved behind it
 * @return NULL at the end
 */
struct digest *
input_load_digest(struct store *store, struct paper_cache *paper_cache, int64_t *id);

/** Load the first few of them. @return of struct digest *, not empty */
GPtrArray *input_load_digests(struct store *store, unsigned most);

/** With the shipped templates. @param template_dir  etc/templates */
struct renderer *input_new_renderer(const char *template_dir);

#endif
