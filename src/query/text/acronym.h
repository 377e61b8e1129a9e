/*
 * acronym.h - what a text says its short forms stand for: "low-rank adaptation
 * (LoRA)", "LoRA (low-rank adaptation)".
 *
 * In the manner of A. Schwartz and M. Hearst (2003), but strict, since what it finds is
 * suggested to people.  Each letter of the short form stands for a word, in order:
 *   - the first one for the word that the long form begins with; the long form ends at
 *     the parenthesis, has two words or more and no other punctuation than - and /;
 *   - a capital is the first letter of a word, or goes on where the one before it was
 *     (DETR: DEtection TRansformer); another letter may be anywhere in the word (LoRA);
 *   - "2" stands for "to" as well;
 *   - only small words (of, the, with) and what follows a hyphen may be left out.
 * The short form has two capitals or more and at most BOUNDS_ACRONYM_CHARS letters
 * and digits; the s of its plural is left out.
 */
#ifndef PAPERBOY_QUERY_TEXT_ACRONYM_H
#define PAPERBOY_QUERY_TEXT_ACRONYM_H

#include <glib.h>

#include "base/cleanup.h"

struct acronym {
	char *short_text; /* as written, singular: "LoRA" */
	char *long_text;  /* as written: "low-rank adaptation" */
};

/** Find all in a normalised text. @return of struct acronym *, in their order */
GPtrArray *acronym_find(const char *text);
void acronym_free(struct acronym *form);
PB_DEFINE_AUTO(acronym, acronym_free);

#endif
