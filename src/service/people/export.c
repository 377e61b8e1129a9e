/*
 * export.c - export subscribers as CSV.
 */
#include "service/people/export.h"

#include <string.h>

#include "service/people/subscriber_csv.h"
#include "store/subscriber/subscribers.h"

#define PAGE_PEOPLE 500

bool
export_includes(
    const struct export_request *request, const struct subscriber *subscriber)
{
	return !request->state ||
	       strcmp(subscriber_state_name(subscriber->state), request->state) == 0;
}

/* @param count  increased */
static bool
append_page(GString *text, struct store *store, const GPtrArray *people,
    const struct export_request *request, unsigned *count, GError **error)
{
	for (unsigned i = 0; i < people->len; i++) {
		const struct subscriber *subscriber = people->pdata[i];
		g_autoptr(GPtrArray) filters = NULL;

		if (!export_includes(request, subscriber))
			continue;
		if (request->has_filters) {
			filters = subscribers_load_subscriptions(
			    store, subscriber->id, error);
			if (!filters)
				return false;
		}
		subscriber_csv_append(text, subscriber, filters);
		++*count;
	}
	return true;
}

bool
export_people(struct store *store, const struct export_request *request,
    export_write write, void *data, unsigned *count, GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);
	int64_t after = 0;
	unsigned total = 0;

	subscriber_csv_append_head(text, request->has_filters);
	for (;;) {
		g_autoptr(GPtrArray) people =
		    subscribers_load_page(store, after, PAGE_PEOPLE, error);

		if (!people ||
		    !append_page(text, store, people, request, &total, error) ||
		    !write(data, text->str, text->len, error))
			return false;
		if (!people->len)
			break;
		g_string_truncate(text, 0);
		after = ((struct subscriber *)people->pdata[people->len - 1])->id;
	}
	*count = total;
	return true;
}
