/*
 * name.h - names of authors, in filters and in papers.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "query/tokenizer_ops.h"

struct name {
	GArray *parts; /* of struct name_part: given names first, then the last name */
	unsigned last; /* number of parts, from the end, that are the last name */
	bool is_any_word; /* one word without a comma: matches any whole word */
};

/**
 * Parse a name: "Yann LeCun", "LeCun, Yann", "Y. LeCun", "LeCun", "LeCun,".
 *
 * Without a comma the last name is the last word with its hyphens. Trailing Jr., Sr.,
 * II, III and IV are dropped.
 *
 * @param name  set to NULL when the text has no word
 * @return false when the tokenizer failed
 */
bool name_parse(const char *text, size_t len, const struct tokenizer *tokenizer,
    struct name **name);
void name_free(struct name *name);

/** Whether the name of a filter matches that of a paper. */
bool name_is_match(const struct name *pattern, const struct name *author);

/** Get a folded word; the last `last` ones are the last name. */
const char *name_get_part(const struct name *name, unsigned i);

/** Format a name, quoted where needed: "yann lecun", ben-david. */
void name_append(const struct name *name, GString *out);
