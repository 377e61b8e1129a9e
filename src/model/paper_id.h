/*
 * paper_id.h - canonical ids of papers, independent of the source.
 *
 * A paper's id is the first available of: its arXiv id without version, its DOI, and a
 * hash of its link, of its identifier in the source, or of its title and text.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "model/paper.h"

/**
 * Read an arXiv id (https://info.arxiv.org/help/arxiv_identifier.html), new or old:
 * bare, or after "oai:arXiv.org:", "arXiv:", the URL of its page, or arXiv's DOI
 * prefix.
 *
 * @param text     or NULL
 * @param id       NULL, or set on success: without the version, owned by the caller
 * @param version  NULL, or set on success; 0 if there is none
 */
bool paper_id_parse_arxiv(const char *text, char **id, unsigned *version);

/** Whether a string is an arXiv id as stored: bare, without version. */
bool paper_id_is_arxiv(const char *id);

/**
 * Format the URL of an arXiv paper's newest version.
 *
 * @param kind  "abs" for its page, "pdf"
 * @return owned by the caller; NULL for other ids
 */
char *paper_id_format_arxiv_url(const char *id, const char *kind);

/**
 * Read a DOI: bare, or after "doi:" or the URL of the resolver.
 *
 * @param text  or NULL
 * @return in lower case (DOI Handbook section 3.7), owned by the caller; NULL if it is
 *         not a DOI, is too long, or has characters that are invalid in a URL
 */
char *paper_id_parse_doi(const char *text);

/**
 * Canonicalise a URL, so that all spellings of a page compare equal: strip scheme,
 * "www.", default port, fragment, trailing slashes and tracking parameters.
 *
 * @param url  from text_normalize_url(), or NULL
 * @return owned by the caller; NULL if it is not a web address, or is the home page of
 *         a site, which does not identify an entry
 */
char *paper_id_format_link(const char *url);

/**
 * Format a key from the feed and the title of an entry.
 *
 * @return owned by the caller
 */
char *paper_id_format_entry(const char *source, const char *title);

/** Whether a title is long enough to identify a paper. */
bool paper_id_is_long_title(const char *title);

/**
 * Format a key for papers without a common id: letters and digits of the title, and
 * the first author's family name.
 *
 * @return "title:...", owned by the caller; NULL if the title is too short to identify
 *         a paper, or there are no authors
 */
char *paper_id_format_title(const struct paper *paper);

/** Whether two papers have an author's family name in common, or one has no authors. */
bool paper_id_share_author(const struct paper *one, const struct paper *other);

/**
 * Note that a source calls another record the same work as a paper: its preprint or its
 * article.
 *
 * @param text  arXiv id or DOI of the record in any form; others are ignored; or NULL
 */
void paper_id_add_record(struct paper *paper, const char *text);

/** The same for a name as in the table paper_alias. @param name  taken */
void paper_id_add_name(struct paper *paper, char *name);

/** Whether an id is that of a preprint: of arXiv, or a DOI of a preprint server. */
bool paper_id_is_preprint(const char *id);

/**
 * Set a paper's id to the best one available.
 *
 * @param arxiv_id  or NULL
 * @param source    name of the source, prefix of its own ids
 * @param own       identifier of the paper within the source
 */
void paper_id_choose(
    struct paper *paper, const char *arxiv_id, const char *source, const char *own);
