/*
 * po_files.h - the files of po/, which are compiled in.
 */
#pragma once

struct po_file {
	const char *name; /* "de.po"; NULL after the last one */
	const char *text;
};

/* The first one is the template, paperboy.pot. */
extern const struct po_file po_files[];
