/*
 * page.h - what stands around the papers in both parts of a digest.
 *
 * The digest's own templates know the reader; they hold two places,
 * `{{{papers}}}` and `{{{titles}}}`, each alone on a line, where the papers'
 * fragments go.  All digests of one date share their frame but for some values: so
 * it is rendered once a date, and brought to the numbers and the first title
 * of a digest once for all who have the same.  What is left is the reader.
 */
#ifndef PAPERBOY_RENDER_PAGE_H
#define PAPERBOY_RENDER_PAGE_H

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "render/compiled_template.h"
#include "render/locale_format.h"
#include "render/template.h"

/* Every name that a digest's view may have; ends with NULL. */
extern const char *const page_names[];

/* What differs from digest to digest of one date. */
enum page_value {
	PAGE_RECIPIENT,
	PAGE_STOP_URL,
	PAGE_SUBJECT,
	PAGE_COUNT_NEW,
	PAGE_COUNT_PAPERS,
	PAGE_FIRST_TITLE,
	PAGE_PREHEADER,
	PAGE_REST,
	PAGE_COVERAGE,
	PAGE_VALUES
};

/* Of these a frame has holes; the subject only where it names the reader. */
#define PAGE_OPEN_VALUES (PAGE_SUBJECT + 1)

/* All are borrowed for the frames' life. */
struct page_settings {
	const struct template *subject;
	const struct template *text;
	const struct template *html;
	const struct words *words;
	const char *list_name;  /* any text */
	const char *owner;      /* an address */
	const char *change_url; /* a mailto link to it */
};

struct page_part {
	struct compiled_template *head;   /* before the papers */
	struct compiled_template *middle; /* between papers and titles */
	struct compiled_template
	    *tail; /* behind the titles; empty where they have no place */
};

struct page {
	struct compiled_template
	    *subject;        /* with a hole for the reader, or NULL: it is known */
	char *known_subject; /* one line */
	char *subject_field; /* that as a field of the header */
	struct page_part text;
	struct page_part html;
};

/* What a frame is chosen by. */
struct page_heading {
	const char *date;        /* YYYY-MM-DD */
	const char *first_title; /* any text */
	const char *coverage;    /* any text, or NULL */
	unsigned total;          /* papers */
	unsigned shown;          /* of them */
	bool has_titles;         /* there is a place for titles */
	unsigned titles_start;   /* the number of the first one, or 0 */
	bool is_note;            /* there is nothing new, and the title is empty */
};

struct pages;

/** Allocate frames for one thread; a few hundred are kept. */
struct pages *pages_new(const struct page_settings *settings);
void pages_free(struct pages *frames);
PB_DEFINE_AUTO(pages, pages_free);

/**
 * Get the frame of a digest.
 *
 * @return borrowed until the next call; NULL with PB_ERROR_INPUT for no date, or where
 *         a place is missing, comes twice, does not stand alone, or titles come
 *         before papers
 */
const struct page *
pages_get(struct pages *frames, const struct page_heading *heading, GError **error);

/**
 * Get room for one part of a message, empty.
 *
 * @return borrowed until it is asked for again
 */
struct filling *pages_get_filling(struct pages *frames, bool is_html);

/** Format a subject that names the reader. @return owned by the caller */
char *
page_format_subject(const struct compiled_template *subject, const char *const *values);

#endif
