/*
 * command_filter_ref.c - what lines call a filter by, today and when they have waited.
 */
#include <string.h>

#include "base/bounds.h"
#include "service/command/command_private.h"
#include "store/subscriber/subscribers.h"

#define REFERENCE_CHARS 20

/* What lines that waited call a filter by: numbers and rows may be another's later. */
static char *
format_reference(const struct subscription *subscription)
{
	g_autofree char *hash = g_compute_checksum_for_string(
	    G_CHECKSUM_SHA256, subscription->canonical, -1);

	return g_strdup_printf("#%.*s", REFERENCE_CHARS, hash);
}

char *
command_format_references(struct command_work *work, const char *line, GError **error)
{
	g_autoptr(GPtrArray) own = subscribers_load_subscriptions(
	    work->context->store, work->subscriber->id, error);
	char *text = own ? g_strdup(line) : NULL;

	for (unsigned i = 0; own && i < own->len; i++) {
		const struct subscription *one = own->pdata[i];
		g_autofree char *reference = format_reference(one);
		g_autofree char *number = g_strdup_printf("%d", one->number);
		g_auto(GStrv) parts = g_strsplit(text, reference, -1);

		g_free(text);
		text = g_strjoinv(number, parts);
	}
	return text;
}

struct subscription *
command_find_reference(struct command_work *work, const char *word, GError **error)
{
	g_autoptr(GPtrArray) own = subscribers_load_subscriptions(
	    work->context->store, work->subscriber->id, error);
	g_autofree char *shown = NULL;

	if (!own)
		return NULL;
	for (unsigned i = 0; i < own->len; i++) {
		const struct subscription *one = own->pdata[i];
		g_autofree char *number = g_strdup_printf("%d", one->number);
		g_autofree char *reference = format_reference(one);

		if (strcmp(word, number) == 0 || strcmp(word, reference) == 0 ||
		    (one->name && g_ascii_strcasecmp(word, one->name) == 0))
			return g_ptr_array_steal_index(own, i);
	}
	if (*word == '#' && work->is_final) {
		command_fail(work, error, "filter_gone");
		return NULL;
	}
	shown = reply_text_quote(&work->answer, word);
	command_fail(work, error, "no_such_filter", "filter", shown);
	return NULL;
}

GPtrArray *
command_find_references(
    struct command_work *work, const char *arguments, bool blocks_only, GError **error)
{
	g_autoptr(GPtrArray) found =
	    g_ptr_array_new_with_free_func((GDestroyNotify)subscription_free);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash, g_int64_equal);

	for (unsigned i = 0; *arguments; i++) {
		g_autofree char *word = command_take_word(&arguments);
		struct subscription *one;

		g_strdelimit(word, ",", ' ');
		g_strstrip(word);
		if (!*word)
			continue;
		if (i == BOUNDS_COMMAND_ARGUMENTS) {
			command_fail(work, error, "too_many_words");
			return NULL;
		}
		one = command_find_reference(work, word, error);
		if (!one)
			return NULL;
		if (blocks_only && !one->is_block) {
			command_fail(work, error, "no_block", "filter", word);
			subscription_free(one);
			return NULL;
		}
		if (g_hash_table_contains(seen, &one->id)) {
			subscription_free(one);
			continue;
		}
		g_hash_table_add(seen, &one->id);
		g_ptr_array_add(found, one);
	}
	return g_steal_pointer(&found);
}

static char *
fix_references(
    struct command_work *work, const char *arguments, bool blocks_only, GError **error)
{
	g_autoptr(GPtrArray) found =
	    command_find_references(work, arguments, blocks_only, error);
	GString *line = NULL;

	if (!found)
		return NULL;
	line = g_string_new(NULL);
	for (unsigned i = 0; i < found->len; i++) {
		g_autofree char *reference = format_reference(found->pdata[i]);

		g_string_append_printf(line, "%s%s", i ? " " : "", reference);
	}
	return g_string_free(line, FALSE);
}

char *
command_fix_del(struct command_work *work, const char *arguments, GError **error)
{
	return fix_references(work, arguments, false, error);
}

char *
command_fix_unblock(struct command_work *work, const char *arguments, GError **error)
{
	return fix_references(work, arguments, true, error);
}

char *
command_fix_reference(struct command_work *work, const char *arguments, GError **error)
{
	g_autofree char *word = command_take_word(&arguments);
	pb_auto(subscription) one =
	    word ? command_find_reference(work, word, error) : NULL;

	g_autofree char *reference = one ? format_reference(one) : NULL;

	return one ? g_strconcat(reference, " ", arguments, NULL) : NULL;
}
