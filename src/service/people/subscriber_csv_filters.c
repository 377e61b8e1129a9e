/*
 * subscriber_csv_filters.c - the filters of one person, as the lines of a cell.
 */
#include "service/people/subscriber_csv_filters.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/text.h"
#include "model/subscriber.h"
#include "query/query.h"
#include "service/people/filters.h"
#include "service/people/profile.h"

/* NUMBER, NAME, KIND, MAX, NOTE and QUERY. */
#define PREFERENCES_PARTS 6

/* @return the canonical form, borrowed; NULL with an error */
static const char *
get_canonical(
    const struct subscriber_csv_filters *context, const char *text, GError **error)
{
	const char *known = g_hash_table_lookup(context->queries, text);
	pb_auto(query) query = NULL;
	char *canonical;

	if (known)
		return known;
	query =
	    query_parse(text, store_get_tokenizer(context->store), NULL, NULL, error);
	if (!query)
		return NULL;
	canonical = query_format(query);
	g_hash_table_insert(context->queries, g_strdup(text), canonical);
	return canonical;
}

/* KIND, MAX and NOTE. @return false with an error */
static bool
read_preferences(struct subscription *filter, char **parts, GError **error)
{
	bool is_block = strcmp(parts[0], "block") == 0;
	guint64 max = 0;

	if (!is_block && strcmp(parts[0], "filter") != 0) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "what it is, is filter or block, not '%s'", parts[0]);
		return false;
	}
	if (*parts[1] &&
	    (!g_ascii_string_to_unsigned(parts[1], 10, 0, G_MAXINT, &max, NULL) ||
	        !profile_check_max((int)max, error))) {
		if (error && !*error)
			profile_check_max(0, error);
		return false;
	}
	if (*parts[2] && !text_check_line("note", parts[2], BOUNDS_FILTER_NOTE, error))
		return false;
	filter->is_block = is_block;
	filter->max_papers = (int)max;
	filter->note = *parts[2] ? g_strdup(parts[2]) : NULL;
	return true;
}

bool
subscriber_csv_filters_add(const struct subscriber_csv_filters *context,
    const char *line, GPtrArray *filters, GError **error)
{
	g_auto(GStrv) parts = g_strsplit(line, "\t", -1);
	guint count = g_strv_length(parts);
	bool has_preferences = count == PREFERENCES_PARTS;
	const char *name = has_preferences ? parts[1]
	                   : count > 1     ? parts[count - 2]
	                                   : "";
	const char *text = parts[count - 1];
	const char *canonical = NULL;
	pb_auto(subscription) filter = subscription_new();
	guint64 number = 0;

	if (count > 3 && !has_preferences) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "more than two tabs: NUMBER, NAME and QUERY are wanted, or "
		    "NUMBER, NAME, filter or block, MAX, NOTE and QUERY");
		return false;
	}
	if (has_preferences && !read_preferences(filter, parts + 2, error))
		return false;
	if (count >= 3 && !g_ascii_string_to_unsigned(
	                      parts[0], 10, 1, FILTERS_NUMBER_MAX, &number, NULL)) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "the number of a filter is from 1 to %d", FILTERS_NUMBER_MAX);
		return false;
	}
	if (*name && !text_check_line("name", name, BOUNDS_FILTER_NAME, error))
		return false;
	canonical = get_canonical(context, text, error);
	if (!canonical)
		return false;
	for (unsigned i = 0; i < filters->len; i++) {
		const struct subscription *other = filters->pdata[i];

		if (number && other->number == (int)number) {
			g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
			    "number %d is there twice", (int)number);
			return false;
		}
		if (strcmp(other->canonical, canonical) == 0) {
			g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
			    "the same filter is there twice: %s", canonical);
			return false;
		}
	}
	filter->number = (int)number;
	filter->name = *name ? g_strdup(name) : NULL;
	filter->text = g_strdup(text);
	filter->canonical = g_strdup(canonical);
	g_ptr_array_add(filters, g_steal_pointer(&filter));
	return true;
}

void
subscriber_csv_filters_number(GPtrArray *filters)
{
	for (unsigned i = 0; i < filters->len; i++) {
		struct subscription *filter = filters->pdata[i];
		unsigned other = 0;
		int number = 1;

		while (!filter->number && other < filters->len) {
			if (((struct subscription *)filters->pdata[other])->number ==
			    number) {
				number++;
				other = 0;
			} else {
				other++;
			}
		}
		if (!filter->number)
			filter->number = number;
	}
}
