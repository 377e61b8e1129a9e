/*
 * bibtex.h - papers as entries of a bibliography (BibTeX).
 *
 * UTF-8, as biber and every BibTeX of this century read it; what TeX would take for
 * its own is escaped, so that a title says what it says here.
 */
#ifndef PAPERBOY_RENDER_BIBTEX_H
#define PAPERBOY_RENDER_BIBTEX_H

#include <glib.h>

#include "model/paper.h"

/**
 * Append one entry, with a blank line behind it: @misc with title, author, year,
 * eprint (of an arXiv id alone), doi and url, as far as they are known.
 *
 * @param day  the day it was listed, YYYY-MM-DD: tells the year where nothing else does
 */
void bibtex_append(GString *out, const struct paper *paper, const char *day);

#endif
