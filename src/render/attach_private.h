/*
 * attach_private.h - the formats, and what they share.
 */
#ifndef PAPERBOY_RENDER_ATTACH_PRIVATE_H
#define PAPERBOY_RENDER_ATTACH_PRIVATE_H

#include <stdbool.h>

#include "base/day.h"
#include "render/attach.h"

/* BibTeX in UTF-8, which biber and current BibTeX read. */
void
attach_bibtex_append(GString *out, const struct attach_input *input, unsigned index);

/* RIS, with the tags that Zotero, JabRef and EndNote read. */
void attach_ris_append(GString *out, const struct attach_input *input, unsigned index);

/* CommonMark (https://spec.commonmark.org/0.30/) after front matter in YAML. */
void attach_markdown_append_head(GString *out, const struct attach_input *input);
void
attach_markdown_append(GString *out, const struct attach_input *input, unsigned index);

/* The parts of an author's name, sanitized. */
struct attach_name {
	char *family; /* or the whole name: of a group, or a single word */
	char *given;  /* or NULL */
	char *suffix; /* "Jr.", or NULL */
};

/**
 * Split a name as BibTeX does: the family name starts at the first word in lower case,
 * or is the last word.  "A, B" is a family name and given names.
 */
void attach_name_init(struct attach_name *name, const char *author);
void attach_name_clear(struct attach_name *name);

/** Get the day of publication, or of listing if that is not known. */
void attach_get_day(const struct digest_entry *entry, char day[DAY_BYTES]);

/** Format the title as the digest shows it. @return owned by the caller; may be empty
 */
char *attach_format_title(const struct paper *paper);

/**
 * Format the link to the page of a paper: arXiv's if it is there, else the source's.
 *
 * @return owned by the caller; NULL if there is none
 */
char *attach_format_page(const struct paper *paper);

#endif
