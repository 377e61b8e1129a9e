/*
 * po.h - the translations of one language: reads PO files (GNU gettext manual, "PO
 * Files").
 *
 * The English text is the key, as in gettext: a catalogue without an entry, or with an
 * empty or fuzzy one, leaves it English.  A text with a context is NC_(), one that
 * depends on a number PL_(); both are single strings, which xgettext(1) recognises.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

/* Marks a text for translation. */
#define N_(text)           text
/* The same text may have another translation in another context. */
#define NC_(context, text) context "\004" text
/* The texts for one and for several, of which {count} selects one. */
#define PL_(one, many)     one "\0" many

struct po;

struct po *po_new(void);
void po_free(struct po *po);
PB_DEFINE_AUTO(po, po_free);

/**
 * Add the entries of a PO file, in UTF-8; they replace those with the same key.
 *
 * @param label  of the file, in errors
 * @param known  a catalogue that has all texts of the program, such as the template; an
 *               entry that it lacks is an error.  NULL: not checked
 * @return false with PB_ERROR_INPUT (`label:line: …`): not in the format, a placeholder
 *         `{word}` that the English text lacks, or plural forms that the header
 *         `Plural-Forms` does not describe.  Some entries may have been added
 */
bool po_parse(struct po *po, const char *label, const char *text,
    const struct po *known, GError **error);

/** Get the translation. @param po  NULL for English @return borrowed */
const char *po_get(const struct po *po, const char *text);

/** Get the translation of a PL_() for a count. @return borrowed */
const char *po_get_count(const struct po *po, const char *text, int64_t count);
