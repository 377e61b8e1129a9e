/*
 * page.h - the parts of a digest around its papers.
 *
 * The templates of a digest contain `{{{papers}}}` and `{{{titles}}}`, each alone on a
 * line, where the papers' blocks are inserted.  A page is rendered once for all digests
 * with the same date, numbers and first title; only the values of the reader are left
 * open.
 */
#ifndef PAPERBOY_RENDER_PAGE_H
#define PAPERBOY_RENDER_PAGE_H

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "render/compiled_template.h"
#include "render/locale_format.h"
#include "render/template.h"

/* Names that a digest's template may use; ends with NULL. */
extern const char *const page_names[];

/* Values of the reader, which a page has placeholders for. */
enum page_value {
	PAGE_RECIPIENT,
	PAGE_STOP_URL,
	PAGE_CHANGE_URL, /* with a page on the web */
	PAGE_VIEW_URL,   /* likewise */
	PAGE_SUBJECT,    /* only if it depends on the others */
	PAGE_VALUES
};

/* All are borrowed for the lifetime of the pages. */
struct page_settings {
	const struct template *subject;
	const struct template *text;
	const struct template *html;
	const struct locale_format *format;
	const char *list_name;  /* any text */
	const char *owner;      /* an address */
	const char *change_url; /* a mailto link to it; NULL: each reader has another */
};

struct page_part {
	struct compiled_template *head;   /* before the papers */
	struct compiled_template *middle; /* between papers and titles */
	struct compiled_template *tail;   /* after the titles; empty without titles */
};

struct page {
	struct compiled_template *subject; /* with placeholders; NULL: fixed_subject */
	char *fixed_subject;               /* one line */
	char *subject_field;               /* the same as a header field */
	struct page_part text;
	struct page_part html;
};

/* Everything that a page depends on. */
struct page_params {
	const char *date;        /* YYYY-MM-DD */
	const char *first_title; /* any text */
	const char *coverage;    /* any text, or NULL */
	unsigned total;          /* papers in the digest */
	unsigned shown;          /* papers that are shown */
	bool has_titles;         /* some are shown by title */
	unsigned titles_start;   /* the number of the first title, or 0 */
	bool is_note;            /* no new papers; first_title is empty */
	bool is_grouped;         /* the papers come with headings */
};

struct pages;

/** Allocate the pages of one thread and language. */
struct pages *pages_new(const struct page_settings *settings);
void pages_free(struct pages *pages);
PB_DEFINE_AUTO(pages, pages_free);

/**
 * Get a page, rendering it unless it is cached.
 *
 * @return borrowed until the next call; NULL with PB_ERROR_INPUT for an invalid date,
 *         or if a tag for papers or titles is missing, repeated or not alone on its
 *         line, or titles come before papers
 */
const struct page *
pages_get(struct pages *pages, const struct page_params *params, GError **error);

/** Get an empty buffer for one part. @return borrowed until the next call */
struct template_buffer *pages_get_buffer(struct pages *pages, bool is_html);

/** Format a subject with placeholders. @return owned by the caller */
char *
page_format_subject(const struct compiled_template *subject, const char *const *values);

#endif
