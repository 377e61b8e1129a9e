/*
 * name.h - a person's name, as asked for and as printed on a paper.
 */
#ifndef PAPERBOY_QUERY_PARSE_NAME_H
#define PAPERBOY_QUERY_PARSE_NAME_H

#include <glib.h>
#include <stdbool.h>

#include "query/tokenizer_ops.h"

struct name {
	GArray *parts; /* of struct name_part: given names first, then the last name */
	unsigned last; /* how many parts, from the end, are the last name */
	bool is_any_word; /* one word without a comma: any whole word of a name */
};

/**
 * Read a name: "Yann LeCun", "LeCun, Yann", "Y. LeCun", "LeCun", "LeCun,".
 *
 * Without a comma the last name is the last word, its hyphens included.
 * Jr., Sr., II, III and IV at the end are left out.
 *
 * @param name  set to NULL when there is no word in it
 * @return false when the tokenizer failed
 */
bool name_parse(const char *text, size_t len, const struct tokenizer *tokenizer,
    struct name **name);
void name_free(struct name *name);

/** Tell whether a name on a paper is the one asked for. */
bool name_is_match(const struct name *asked, const struct name *printed);

/** A word of the name, folded; the last `last` ones are the last name. */
const char *name_get_part(const struct name *name, unsigned i);

/** Format it, in quotation marks where needed: "yann lecun", ben-david. */
void name_append(const struct name *name, GString *out);

#endif
