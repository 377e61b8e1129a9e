/*
 * digest.c - the digest of one subscriber for one slot, as stored.
 */
#include "model/digest.h"

struct digest_reason *
digest_reason_new(const char *filter, const char *words)
{
	struct digest_reason *reason = g_new0(struct digest_reason, 1);

	reason->filter = g_strdup(filter);
	reason->words = g_strdup(words);
	return reason;
}

void
digest_reason_free(struct digest_reason *reason)
{
	if (!reason)
		return;
	g_free(reason->filter);
	g_free(reason->words);
	g_free(reason);
}

struct digest_filter *
digest_filter_new(int number, unsigned papers, const char *label, const char *query)
{
	struct digest_filter *filter = g_new0(struct digest_filter, 1);

	filter->number = number;
	filter->papers = papers;
	filter->label = g_strdup(label);
	filter->query = g_strdup(query);
	return filter;
}

void
digest_filter_free(struct digest_filter *filter)
{
	if (!filter)
		return;
	g_free(filter->label);
	g_free(filter->query);
	g_free(filter);
}

struct digest_entry *
digest_entry_new(struct paper *paper, const char *day)
{
	struct digest_entry *entry = g_new0(struct digest_entry, 1);

	entry->paper = paper;
	g_strlcpy(entry->day, day, sizeof(entry->day));
	entry->upvotes = PAPER_UNKNOWN;
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
	g_ptr_array_unref(entry->reasons);
	g_free(entry);
}

struct digest *
digest_new(void)
{
	struct digest *digest = g_new0(struct digest, 1);

	digest->entries =
	    g_ptr_array_new_with_free_func((GDestroyNotify)digest_entry_free);
	digest->filters =
	    g_ptr_array_new_with_free_func((GDestroyNotify)digest_filter_free);
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
	g_ptr_array_unref(digest->filters);
	g_ptr_array_unref(digest->entries);
	g_free(digest);
}
