/*
 * field.h - the fields that a filter can name: one table.
 */
#ifndef PAPERBOY_QUERY_PARSE_FIELD_H
#define PAPERBOY_QUERY_PARSE_FIELD_H

#include <stdbool.h>
#include <stddef.h>

#include "query/query.h"

/* The texts of a paper that are searched for words, as bits. */
#define FIELD_IN_TITLE    (1U << QUERY_FIELD_TITLE)
#define FIELD_IN_ABSTRACT (1U << QUERY_FIELD_ABSTRACT)

/* What stands behind the colon. */
enum field_kind {
	FIELD_WORDS,      /* words, phrases and NEAR in title and abstract */
	FIELD_FACT_WORDS, /* words and phrases within one value of the paper */
	FIELD_NAME,       /* a person */
	FIELD_CATEGORY,   /* a category of arXiv, or an archive */
	FIELD_WHOLE,      /* the whole value, or its beginning */
	FIELD_SOURCE,     /* the name of a source */
	FIELD_CHOICE,     /* one of a few words */
	FIELD_NUMBER,     /* a comparison or a range */
	FIELD_DATE,       /* a day, or a range of days */
};

/* How long a field may be not told; see enum query_finality. */
enum field_availability {
	FIELD_WAITS_NEVER, /* always known */
	FIELD_WAITS_FOR_ENRICHMENT,
	FIELD_WAITS_FINALLY,
};

struct field {
	const char *name;
	const char *alias; /* or NULL */
	enum field_kind kind;
	enum field_availability wait;
	unsigned texts;             /* of FIELD_WORDS: where to look */
	enum query_field hit;       /* of the others: what explain says was hit */
	bool changes;               /* what was told may change */
	bool is_first;              /* of a list: its first value only */
	const char *const *choices; /* of FIELD_CHOICE: NULL-terminated */
	const char *example;        /* a filter with it */
};

/** Find a field by its name or alias in any case; NULL when there is none. */
const struct field *field_find(const char *name, size_t len);

/** Find the field whose name is the nearest to a misspelt one. */
const struct field *field_find_nearest(const char *name, size_t len);

/** Get the field of a word without one: title and abstract. */
const struct field *field_get_text(void);

/** Get the field of a category's name without one. */
const struct field *field_get_category(void);

/** Walk the table. @return NULL behind the last one */
const struct field *field_get(size_t i);

#endif
