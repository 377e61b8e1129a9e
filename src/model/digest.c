/*
 * digest.c - the digest of one subscriber for one slot, as stored.
 */
#include "model/digest.h"

#include <string.h>

struct digest_reason *
digest_reason_new(const char *filter, GPtrArray *hits)
{
	struct digest_reason *reason = g_new0(struct digest_reason, 1);

	reason->filter = g_strdup(filter);
	reason->hits = hits;
	return reason;
}

void
digest_reason_free(struct digest_reason *reason)
{
	if (!reason)
		return;
	g_free(reason->filter);
	g_ptr_array_unref(reason->hits);
	g_free(reason);
}

/* A filter and its texts are one block of memory. */
static void
add_filter(GPtrArray *filters, const char *line, size_t size)
{
	struct digest_filter *filter =
	    g_malloc0(sizeof(struct digest_filter) + size + 1);
	char *text = (char *)(filter + 1), *end;

	g_ptr_array_add(filters, filter);
	memcpy(text, line, size);
	filter->number = (int)g_ascii_strtoll(text, &end, 10);
	filter->papers = (unsigned)g_ascii_strtoull(end, &end, 10);
	filter->label = *end ? end + 1 : end;
	filter->query = end = strchrnul(filter->label, '\t');
	if (*end) {
		*end = '\0';
		filter->query++;
	}
}

GPtrArray *
digest_parse_filters(const char *lines)
{
	GPtrArray *filters = g_ptr_array_new_with_free_func(g_free);

	while (lines && *lines) {
		size_t size = strcspn(lines, "\n");

		add_filter(filters, lines, size);
		lines += size + (lines[size] == '\n');
	}
	return filters;
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

void
digest_entry_free(struct digest_entry *entry)
{
	if (!entry)
		return;
	paper_free(entry->paper);
	g_free(entry->venue);
	g_ptr_array_unref(entry->reasons);
	g_free(entry);
}

struct digest *
digest_new(void)
{
	struct digest *digest = g_new0(struct digest, 1);

	digest->entries =
	    g_ptr_array_new_with_free_func((GDestroyNotify)digest_entry_free);
	return digest;
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
	g_free(digest->filters);
	g_ptr_array_unref(digest->entries);
	g_free(digest);
}
