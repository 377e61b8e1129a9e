/*
 * bibtex.h - papers as BibTeX entries.
 *
 * UTF-8, which biber and current BibTeX read; TeX's special characters are escaped.
 */
#ifndef PAPERBOY_RENDER_BIBTEX_H
#define PAPERBOY_RENDER_BIBTEX_H

#include <glib.h>

#include "model/paper.h"

/**
 * Append one @misc entry and a blank line: title, author, year, eprint (arXiv ids
 * only), doi and url, as far as they are known.
 *
 * @param day  the day of listing, YYYY-MM-DD: gives the year if nothing else does
 */
void bibtex_append(GString *out, const struct paper *paper, const char *day);

#endif
