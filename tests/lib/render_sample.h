/*
 * render_sample.h - made-up digests for the tests of the renderer.
 */
#pragma once

#include "model/digest.h"
#include "render/renderer.h"

/** A renderer with the shipped templates and made-up settings. */
struct renderer *render_sample_new_renderer(void);

/** Settings with a template directory. @param key  borrowed by the settings */
struct renderer_settings render_sample_settings(const char *template_dir, GBytes *key);

/** The directory of the shipped templates; owned by the caller. */
char *render_sample_get_template_dir(void);

/** A digest for a made-up subscriber, without entries. */
struct digest *render_sample_new_digest(void);

/** Append a paper with this title, an author, a reason and an abstract. */
struct digest_entry *render_sample_add(
    struct digest *digest, const char *id, const char *title, enum digest_detail shown);

/** The same, of a filter. */
struct digest_entry *render_sample_add_to_group(struct digest *digest, const char *id,
    const char *filter, enum digest_detail shown);

/** Replace a text. */
void render_sample_set_text(char **field, const char *text);

/** Replace the filters. @param lines  of number, papers, label and query, with tabs; or
 * NULL */
void render_sample_set_filters(struct digest *digest, const char *lines);

/** Compare with a file of tests/golden, or write it (GOLDEN_WRITE=1). */
void render_sample_check_golden(const char *name, const char *text);

/** Six full papers of different kinds, two titles and three that are only counted. */
struct digest *render_sample_new_full_digest(void);

/** Papers whose texts attack headers, HTML, terminals or templates. */
struct digest *render_sample_new_hostile_digest(void);
