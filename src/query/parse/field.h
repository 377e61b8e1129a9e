/*
 * field.h - table of the fields of a filter.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "query/query.h"

/* Bits of the texts that are searched for words. */
#define FIELD_IN_TITLE    (1U << HIT_FIELD_TITLE)
#define FIELD_IN_ABSTRACT (1U << HIT_FIELD_ABSTRACT)

/* Kind of value after the colon. */
enum field_kind {
	FIELD_WORDS,       /* words, phrases and NEAR in title and abstract */
	FIELD_VALUE_WORDS, /* words and phrases within one value of the paper */
	FIELD_NAME,        /* name of an author */
	FIELD_CATEGORY,    /* an arXiv category or archive */
	FIELD_KEYWORD,     /* whole value or prefix */
	FIELD_SOURCE,      /* the name of a source */
	FIELD_CHOICE,      /* one of a fixed list */
	FIELD_NUMBER,      /* a comparison or a range */
	FIELD_DATE,        /* a day, or a range of days */
};

/* Time until the field is final; see enum query_finality. */
enum field_availability {
	FIELD_AVAILABLE_AT_ONCE, /* always known */
	FIELD_AVAILABLE_LOOKED_UP,
	FIELD_AVAILABLE_LATE,
};

struct field {
	const char *name;
	const char *alias; /* or NULL */
	const char
	    *column; /* of the FTS5 index of papers, several for texts; or NULL */
	enum field_kind kind;
	enum field_availability availability;
	unsigned lookups;           /* enum paper_lookup: services that report it */
	unsigned texts;             /* for FIELD_WORDS: bits of texts */
	enum hit_field hit;         /* for other kinds: the field of hits */
	bool changes;               /* reported values may change */
	bool is_first;              /* only the first value of a list */
	const char *const *choices; /* for FIELD_CHOICE: NULL-terminated */
	const char *example;        /* a filter that uses it */
};

/** Find a field by name or alias, in any case. @return NULL when there is none */
const struct field *field_find(const char *name, size_t len);

/** Find the field whose name is closest to a misspelt one. */
const struct field *field_find_nearest(const char *name, size_t len);

/** Get the default field: title and abstract. */
const struct field *field_get_text(void);

/** Get the field of bare category names. */
const struct field *field_get_category(void);

/** Get a field by index. @return NULL after the last one */
const struct field *field_get(size_t i);
