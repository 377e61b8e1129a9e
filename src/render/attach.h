/*
 * attach.h - the papers of a digest as a file, for reference managers and notes.
 *
 * A format is a row of formats[] in attach.c, and the functions in it.
 */
#pragma once

#include <glib.h>

#include "render/locale_format.h"
#include "render/page.h"

/* All are borrowed. */
struct attach_input {
	const struct digest *digest;
	const struct page *page;
	const struct locale_format *format;
	const char *list_name;
};

struct attach_format {
	const char *extension; /* of the file's name: "bib" */
	const char *mime_type;
	/* Append what comes before the papers; NULL: nothing. */
	void (*append_head)(GString *out, const struct attach_input *input);
	/* Append an entry that the message shows. @param index  in the message, from 0
	 */
	void (*append_paper)(
	    GString *out, const struct attach_input *input, unsigned index);
};

/** Get the format of a preference. @return NULL for PREFERENCE_ATTACH_NONE */
const struct attach_format *attach_get_format(enum preference_attach attach);

/**
 * Format the papers that the message shows, in the same order: UTF-8, lines end in LF,
 * which the transfer encoding makes CRLF.
 *
 * @return owned by the caller
 */
GString *
attach_new_file(const struct attach_format *format, const struct attach_input *input);

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
