/*
 * bibliography.h - the works in a file of a reference manager: BibTeX or RIS.
 *
 * Read as Zotero, JabRef, EndNote and Mendeley write them.  Broken entries are skipped,
 * and whatever comes after them is read.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

/* Maximum size of a file, and number of entries that are read. */
#define BIBLIOGRAPHY_BYTES      (1024 * 1024)
#define BIBLIOGRAPHY_ENTRIES    5000
#define BIBLIOGRAPHY_WORK_BYTES 4096

struct bibliography {
	/* of char *: the names of each entry as in paper_alias, ids and title with
	 * author, separated by blanks; at most BIBLIOGRAPHY_WORK_BYTES */
	GPtrArray *works;
	unsigned unnamed; /* entries without a name, or beyond BIBLIOGRAPHY_ENTRIES */
};

/** Whether a file starts like one in RIS or BibTeX, in UTF-8, whatever its name. */
bool bibliography_is_likely(const char *data, size_t size);

/** Read a file in UTF-8, UTF-16 with a byte order mark, or else Windows-1252. */
struct bibliography *bibliography_parse(const char *data, size_t size);
void bibliography_free(struct bibliography *bibliography);
PB_DEFINE_AUTO(bibliography, bibliography_free);
