/*
 * field.h - the fields that a filter can name: one table.
 */
#ifndef PAPERBOY_QUERY_FIELD_H
#define PAPERBOY_QUERY_FIELD_H

#include <stdbool.h>
#include <stddef.h>

#include "query/query.h"

/* The texts of a paper that are searched for words, as bits. */
#define FIELD_IN_TITLE    (1U << QUERY_FIELD_TITLE)
#define FIELD_IN_ABSTRACT (1U << QUERY_FIELD_ABSTRACT)

/* What stands behind the colon. */
enum field_kind {
	FIELD_WORDS,  /* words and phrases */
	FIELD_NAME,   /* a person */
	FIELD_NUMBER, /* a comparison or a range */
	FIELD_LATER,  /* known to the language, not yet to the matcher */
};

struct field {
	const char *name;
	const char *alias; /* or NULL */
	enum field_kind kind;
	unsigned texts;       /* of FIELD_WORDS: where to look */
	enum query_field hit; /* of the others: what explain says was hit */
	bool changes;         /* its value changes with time */
};

/** Find a field by its name or alias in any case; NULL when there is none. */
const struct field *field_find(const char *name, size_t len);

/** Find the field whose name is the nearest to a misspelt one. */
const struct field *field_find_nearest(const char *name, size_t len);

/** Get the field of a word without one: title and abstract. */
const struct field *field_get_text(void);

#endif
