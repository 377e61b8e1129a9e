/*
 * page.h - the parts of a digest around its papers.
 *
 * The templates of a digest contain `{{{papers}}}` and `{{{titles}}}`, each alone on a
 * line, where the papers' blocks are inserted.  A page is rendered once for all digests
 * of a date and form; the values of the reader, the counts and the overview are left
 * open.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "render/compiled_template.h"
#include "render/locale_format.h"
#include "render/sender.h"
#include "render/template.h"

/* Names that a digest's template may use; ends with NULL. */
extern const char *const page_names[];

/* Maximum number of notices in the overview; the last one holds the rest. */
#define PAGE_NOTICES_MAX 4

/* Maximum number of papers in the overview "At the top". */
#define PAGE_TOP_MAX 3

/* Maximum number of filters that are named, others are counted.  With a larger one
 * PAGE_VALUES would be above COMPILED_TEMPLATE_PLACEHOLDERS_MAX. */
#define PAGE_FILTERS_MAX 10

/* Values of a filter, and of a paper at the top. */
enum page_filter {
	PAGE_FILTER_NUMBER,
	PAGE_FILTER_LABEL,
	PAGE_FILTER_COUNT,
	PAGE_FILTER_EDIT_URL,
	PAGE_FILTER_VALUES
};
enum page_top { PAGE_TOP_NUMBER, PAGE_TOP_TITLE, PAGE_TOP_URL, PAGE_TOP_VALUES };

/* Values of one digest, which a page has placeholders for. */
enum page_value {
	PAGE_RECIPIENT,
	/* In links to unsubscribe, pause or reduce; unused without a web page and
	 * without commands by mail. */
	PAGE_LEAVE_TOKEN,
	/* In the link to the digest on the web; unused without a web page. */
	PAGE_VIEW_TOKEN,
	PAGE_SUBJECT, /* in both parts */
	PAGE_PREHEADER,
	PAGE_FIRST_TITLE,
	PAGE_COUNT_NEW,
	PAGE_COUNT_PAPERS,
	PAGE_REST, /* if fewer papers are shown */
	PAGE_NOTICES,
	PAGE_TOP = PAGE_NOTICES + PAGE_NOTICES_MAX,
	PAGE_FILTERS = PAGE_TOP + PAGE_TOP_MAX * PAGE_TOP_VALUES,
	PAGE_VALUES = PAGE_FILTERS + PAGE_FILTERS_MAX * PAGE_FILTER_VALUES
};

/* All are borrowed for the lifetime of the pages. */
struct page_settings {
	const struct template *subject;
	const struct template *text;
	const struct template *html;
	const struct locale_format *format;
	const struct sender_identity *sender;
};

struct page_part {
	struct compiled_template *head;   /* before the papers */
	struct compiled_template *middle; /* between papers and titles */
	struct compiled_template *tail;   /* after the titles; empty without titles */
};

struct page {
	struct page_part text;
	struct page_part html;
};

/* Everything that a page and its counts depend on. */
struct page_params {
	const char *date;      /* YYYY-MM-DD */
	const char *coverage;  /* any text, or NULL */
	unsigned total;        /* papers in the digest */
	unsigned shown;        /* papers that are shown */
	bool has_titles;       /* some are shown by title */
	unsigned titles_start; /* the number of the first title, or 0 */
	bool is_note;          /* no new papers */
	bool is_grouped;       /* the papers come with headings */
	unsigned notices;      /* lines of the overview */
	unsigned top;          /* papers in the overview, */
	unsigned top_linked;   /* and bits for those with a link */
	unsigned filters;      /* that are named */
	unsigned more_filters; /* that are not */
	bool is_overlapping;   /* some papers matched several filters */
};

/* Forms of a title for people, cut at a blank. */
struct page_title {
	char *line;       /* for the subject and the overview */
	char *short_line; /* for the preheader */
};

struct pages;

/**
 * Allocate the pages of one language, which several threads may use.  Nothing is
 * removed from them: what they lend is valid until they are freed.
 */
struct pages *pages_new(const struct page_settings *settings);

/** Get an additional reference, for one digest. */
struct pages *pages_ref(struct pages *pages);
void pages_unref(struct pages *pages);
PB_DEFINE_AUTO(pages, pages_unref);

/** Replace pages that are full by new ones. */
void pages_renew_if_full(struct pages **pages);

/**
 * Get a page, rendering it unless it is cached.
 *
 * @return borrowed; NULL with PB_ERROR_INPUT for an invalid date,
 *         or if a tag for papers or titles is missing, repeated or not alone on its
 *         line, or titles come before papers
 */
const struct page *
pages_get(struct pages *pages, const struct page_params *params, GError **error);

/**
 * Format the subject, one line.
 *
 * @param values  by enum page_value, set through PAGE_REST; the first title "" is left
 *                out
 * @return owned by the caller; NULL for an invalid date
 */
char *pages_format_subject(struct pages *pages, const struct page_params *params,
    const char *const *values, GError **error);

/** Set the counts. @param values  borrowed */
void pages_set_counts(
    struct pages *pages, const struct page_params *params, const char **values);

/** Get the forms of a title. @return borrowed */
const struct page_title *pages_get_title(struct pages *pages, const char *text);

/* Phrases of preheaders. */
enum page_phrase {
	PAGE_PHRASE_ALSO,        /* before the next titles */
	PAGE_PHRASE_NOTHING_NEW, /* of a note */
	PAGE_PHRASE_NO_NEW_PAPERS,
	PAGE_PHRASE_NO_PAPERS,
	PAGE_PHRASES
};

/** Get a phrase. @return borrowed */
const char *pages_get_phrase(const struct pages *pages, enum page_phrase phrase);
