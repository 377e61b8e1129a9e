/*
 * digest.c - the digest of one subscriber for one slot, as stored.
 */
#include "model/digest.h"

#include <string.h>

struct digest_reason *
digest_reason_new(const char *filter, GPtrArray *hits)
{
	size_t size = strlen(filter) + 1;
	struct digest_reason *reason = g_malloc(sizeof(*reason) + size);

	memcpy(reason->filter, filter, size);
	reason->hits = hits;
	return reason;
}

static void
digest_reason_free(struct digest_reason *reason)
{
	g_ptr_array_unref(reason->hits);
	g_free(reason);
}

struct digest_entry *
digest_entry_new(struct paper *paper, const char *day)
{
	struct digest_entry *entry = g_new0(struct digest_entry, 1);

	entry->paper = paper;
	g_strlcpy(entry->day, day, sizeof(entry->day));
	entry->upvotes = PAPER_UNKNOWN;
	entry->upvotes_before = PAPER_UNKNOWN;
	entry->stars = PAPER_UNKNOWN;
	entry->reasons =
	    g_ptr_array_new_with_free_func((GDestroyNotify)digest_reason_free);
	return entry;
}

static void
digest_entry_free(struct digest_entry *entry)
{
	paper_free(entry->paper);
	g_free(entry->venue);
	g_ptr_array_unref(entry->reasons);
	g_free(entry);
}

struct digest *
digest_new(void)
{
	struct digest *digest = g_new0(struct digest, 1);

	digest->filters = g_ptr_array_new_with_free_func(g_free);
	digest->entries =
	    g_ptr_array_new_with_free_func((GDestroyNotify)digest_entry_free);
	return digest;
}

/* A filter and its texts are one block of memory. */
void
digest_add_filter(struct digest *digest, const struct digest_filter *filter)
{
	size_t label_bytes = strlen(filter->label) + 1;
	size_t query_bytes = strlen(filter->query) + 1;
	struct digest_filter *added =
	    g_malloc(sizeof(*added) + label_bytes + query_bytes);
	char *text = (char *)(added + 1);

	*added = *filter;
	added->label = memcpy(text, filter->label, label_bytes);
	added->query = memcpy(text + label_bytes, filter->query, query_bytes);
	g_ptr_array_add(digest->filters, added);
}

void
digest_free(struct digest *digest)
{
	if (!digest)
		return;
	g_free(digest->slot);
	g_free(digest->message_token);
	g_free(digest->recipient);
	g_free(digest->recipient_name);
	g_free(digest->coverage);
	g_free(digest->notices);
	g_ptr_array_unref(digest->filters);
	g_ptr_array_unref(digest->entries);
	g_free(digest);
}
