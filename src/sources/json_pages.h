/*
 * json_pages.h - sources that list any day in pages of JSON.
 *
 * The common part of Hugging Face, bioRxiv, Europe PMC and Crossref: requests, files,
 * limits and repeated papers.  A service adds its URLs and its parser.
 */
#pragma once

#include "sources/source.h"

/* Error of a response that has neither papers nor a statement that there are none. */
#define JSON_PAGES_NO_LIST "the service answered without a list"

/* A page of a day's list: what was requested, and what the parser found out. */
struct json_page {
	const char *cursor; /* of the request; NULL: the first page */
	char *next;         /* cursor of the next page; NULL: this is the last one */
	/* Number of records of the day, if papers that arrive shift those on later
	 * pages; -1: they cannot, or it is not stated. */
	int64_t total;
};

/* Differences between the services. */
struct json_pages_service {
	const char *url;  /* if the options have none */
	const char *file; /* NAME of recorded answers; NULL: the name of the source */
	/* @return the URL of a page, owned by the caller; options->url has no final
	 * slash */
	char *(*format_url)(
	    const struct source_options *options, const char *day, const char *cursor);
	/*
	 * @param page  next and total are set on success; NULL and -1 before
	 * @return of struct listing *, with those that are repeated
	 */
	GPtrArray *(*parse)(GBytes *json, const struct source_options *options,
	    const char *day, struct json_page *page, GError **error);
	/*
	 * Parse a response that is not a list; or NULL.
	 *
	 * @param means_not_yet  set: it says that the day does not exist yet
	 * @return the message, owned by the caller; NULL if it is something else
	 */
	char *(*parse_error)(GBytes *json, bool *means_not_yet);
};

/**
 * Create a source.
 *
 * With a url of file:///DIRECTORY a day is one page in the file NAME-YYYY-MM-DD.json,
 * a missing file is SOURCE_NOT_YET.  Papers of other categories than those of the
 * options are left out, if the service has categories.  The ETag is returned for
 * answers of one page only: other pages may change while the first does not.
 *
 * @param service  static
 * @param options  copied
 * @return to be freed by source_free()
 */
struct source *json_pages_new(
    const struct json_pages_service *service, const struct source_options *options);

/**
 * Send one request, after a pause, for papers by their identities.
 *
 * @return as of source_find_fn
 */
GPtrArray *json_pages_find(const struct json_pages_service *service, struct http *http,
    const struct source_options *options, const char *url, struct source_lookup *lookup,
    GError **error);

/**
 * Format the name of a category as filters and paperboy.conf can have it: lower case, a
 * hyphen for anything but letters and digits, and without what is in parentheses.
 * "Infectious Diseases (except HIV/AIDS)" is "infectious-diseases".
 *
 * @return owned by the caller
 */
char *json_pages_format_category(const char *text);

/**
 * Complete a paper whose texts, authors and url are set: its DOI, its id, and the
 * members that are the same for all papers of these services.
 *
 * @param doi   or NULL
 * @param name  of the source
 * @param own   identifier in the source, for papers without DOI
 */
void json_pages_complete(
    struct paper *paper, const char *doi, const char *name, const char *own);
