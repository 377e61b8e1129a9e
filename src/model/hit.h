/*
 * hit.h - the words of a paper that a filter matches, as stored with a digest.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/po.h"

/* Between the phrases of a NEAR; paper text has no control characters. */
#define HIT_SEPARATOR "\x1f"

/* In the order of explanations. */
enum hit_field {
	HIT_FIELD_TITLE,
	HIT_FIELD_ABSTRACT,
	HIT_FIELD_AUTHOR,
	HIT_FIELD_ORGANIZATION,
	HIT_FIELD_KEYWORD,
	HIT_FIELD_COMMENT,
	HIT_FIELD_JOURNAL,
	HIT_FIELD_MESH,
	HIT_FIELD_PRIMARY, /* the first category */
	HIT_FIELD_CATEGORY,
	HIT_FIELD_SOURCE,
	HIT_FIELD_TYPE,
	HIT_FIELD_DATE,
	HIT_FIELD_ID,
	HIT_FIELD_DOI,
	HIT_FIELD_PMID,
	HIT_FIELD_UPVOTES,
	HIT_FIELD_COMMENTS,
	HIT_FIELD_STARS,
	HIT_FIELD_AUTHORS, /* their number */
	HIT_FIELD_HAS,     /* code, project, video */
	HIT_FIELDS
};

struct hit {
	enum hit_field field;
	bool is_repeated; /* an earlier hit is the same word; only to be marked */
	char words[]; /* as in the paper; those of a NEAR separated by HIT_SEPARATOR */
};

/** Allocate a hit. @return to be freed with g_free() */
struct hit *hit_new(enum hit_field field, bool is_repeated, const char *words);

/** Allocate an array that owns hits. */
GPtrArray *hits_new(void);

/** Whether words of a field are those of a text, in which they are found. */
bool hit_field_is_text(enum hit_field field);

/**
 * Format hits on one line: `"state space", mamba in the title; ssm in the abstract;
 * cs.LG; 23 votes; code`.
 *
 * Repeated ones are left out.  At most BOUNDS_QUERY_EXPLAIN_CHARS characters, cut
 * between hits if there are several.
 *
 * @param hits  of struct hit *, by field
 * @param po    of a language; NULL: English
 * @return owned by the caller
 */
char *hits_format(const GPtrArray *hits, const struct po *po);

/** Append the stored form: fields separated by tabs. */
void hits_append(GString *out, const GPtrArray *hits);

/** Parse the stored form; unknown hits are skipped. @return owned by the caller */
GPtrArray *hits_parse(const char *text);
