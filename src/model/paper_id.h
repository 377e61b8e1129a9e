/*
 * paper_id.h - by which names one paper is known, whoever lists it.
 *
 * A paper's id is its arXiv id without version, else its DOI, else a hash of its link,
 * of what the source calls it, or of its title and text, whichever comes first.  Pure.
 */
#ifndef PAPERBOY_MODEL_PAPER_ID_H
#define PAPERBOY_MODEL_PAPER_ID_H

#include <glib.h>
#include <stdbool.h>

#include "model/paper.h"

/**
 * Read an arXiv id (https://info.arxiv.org/help/arxiv_identifier.html), new or old:
 * bare, or behind "oai:arXiv.org:", "arXiv:", a link to its page, or arXiv's own DOI.
 *
 * @param text     or NULL
 * @param id       set on success when it is not NULL: without the version, owned by the
 *                 caller
 * @param version  set on success when it is not NULL; 0 when none is told
 */
bool paper_id_parse_arxiv(const char *text, char **id, unsigned *version);

/** Whether it is an arXiv id as it is kept: bare, without version. */
bool paper_id_is_arxiv(const char *id);

/**
 * Read a DOI: bare, or behind "doi:" or a link to the resolver.
 *
 * @param text  or NULL
 * @return in lower case (DOI Handbook section 3.7), owned by the caller; NULL when it
 * is none, is too long, or holds what does not belong into a link
 */
char *paper_id_parse_doi(const char *text);

/**
 * The form of a link that is the same for all spellings of one page: without scheme,
 * "www.", default port, fragment, trailing slashes and parameters that only track
 * readers.
 *
 * @param url  as text_normalize_url() leaves it, or NULL
 * @return owned by the caller; NULL for the front page of a site, which tells no entry
 *         from another, and for what is not a web address
 */
char *paper_id_format_link(const char *url);

/**
 * The name of an entry by its feed and title.
 *
 * @return owned by the caller
 */
char *paper_id_format_entry(const char *source, const char *title);

/** Whether a title is too long to be that of another paper by chance. */
bool paper_id_is_long_title(const char *title);

/**
 * Format a key for papers without a common id: letters and digits of the title, and the
 * first author's family name.
 *
 * @return "title:..." owned by the caller; NULL when the title is too short to tell
 *         papers apart, or nobody is named
 */
char *paper_id_format_title(const struct paper *paper);

/**
 * Give a paper the best id that is known of it.
 *
 * @param arxiv_id  or NULL
 * @param source    name of the source, for ids of its own
 * @param own       what tells it from the source's others
 */
void paper_id_choose(
    struct paper *paper, const char *arxiv_id, const char *source, const char *own);

#endif
