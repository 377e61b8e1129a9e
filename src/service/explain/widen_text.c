/*
 * widen_text.c - the text of a filter, with an alternative to one of its clauses.
 */
#include "service/explain/widen_text.h"

#include <string.h>

#include "query/parse/canonical.h"
#include "query/query.h"

char *
widen_text_quote(const char *term)
{
	g_auto(GStrv) parts = g_strsplit(term, CANONICAL_OR, -1);

	for (char **part = parts; *part; part++)
		if (strchr(*part, ' ')) {
			char *quoted = g_strdup_printf("\"%s\"", *part);

			g_free(*part);
			*part = quoted;
		}
	return g_strjoinv(CANONICAL_OR, parts);
}

/* @return the end of the clause that begins there */
static const char *
skip_clause(const char *at)
{
	bool is_quoted = false;

	for (; *at; at = g_utf8_next_char(at)) {
		if (*at == '"')
			is_quoted = !is_quoted;
		else if (!is_quoted && strchr(" ()|&", *at))
			break;
	}
	return at;
}

static bool
is_format(const struct tokenizer *tokenizer, const char *text, const char *canonical)
{
	pb_auto(query) query = query_parse(text, tokenizer, NULL, NULL, NULL);
	g_autofree char *own = query ? query_format(query) : NULL;

	return g_strcmp0(own, canonical) == 0;
}

char *
widen_text_format(const struct widen_text *change, const struct tokenizer *tokenizer)
{
	const char *typed = change->typed;
	g_autofree char *canonical = query_format(change->widened);
	g_autoptr(GString) field = g_string_new(NULL);
	const char *from, *to;
	unsigned column = change->clause->column;

	node_append_field(change->clause, field);
	if (column < 1 || column > (unsigned)g_utf8_strlen(typed, -1))
		return g_steal_pointer(&canonical);
	from = g_utf8_offset_to_pointer(typed, column - 1);
	to = skip_clause(from);
	{
		int before = (int)(from - typed), inside = (int)(to - from);
		char *tries[] = {
		    g_strdup_printf(
		        "%s OR %s%s", typed, field->str, change->alternative),
		    g_strdup_printf("%.*s OR %s%s%s", before + inside, typed,
		        field->str, change->alternative, to),
		    g_strdup_printf("%.*s(%.*s OR %s)%s", before, typed, inside, from,
		        change->alternative, to),
		    g_strdup_printf("%.*s(%.*s OR %s%s)%s", before, typed, inside, from,
		        field->str, change->alternative, to),
		    g_strdup_printf("%.*s OR %s%s", before + inside, typed,
		        change->alternative, to),
		};
		char *found = NULL;

		for (size_t i = 0; i < G_N_ELEMENTS(tries); i++)
			if (!found && is_format(tokenizer, tries[i], canonical))
				found = tries[i];
			else
				g_free(tries[i]);
		return found ? found : g_steal_pointer(&canonical);
	}
}
