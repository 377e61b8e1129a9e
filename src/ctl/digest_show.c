/*
 * digest_show.c - the commands preview, digest list and digest show.
 */
#include <stdio.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/fnv1a.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "service/digest/digest_build.h"
#include "service/match/match.h"
#include "service/people/person.h"
#include "service/setup/factory.h"
#include "service/setup/startup.h"
#include "store/mail/digests.h"
#include "store/mail/outbox.h"

static struct renderer *
new_renderer(struct ctl *ctl, GError **error)
{
	g_autoptr(GBytes) key = startup_load_key(ctl->settings, ctl->store, error);
	struct settings settings = *ctl->settings;

	if (ctl->options.templates)
		settings.template_dir = ctl->options.templates;
	return key ? factory_new_renderer(&settings, key, error) : NULL;
}

static bool
print_digest(struct ctl *ctl, const struct digest *digest, GError **error)
{
	pb_auto(renderer) renderer = new_renderer(ctl, error);
	g_autoptr(GBytes) message = NULL;
	g_autofree char *text = NULL;

	if (!renderer)
		return false;
	if (ctl->options.is_raw) {
		message = renderer_compose(renderer, digest, error);
		if (message)
			fwrite(g_bytes_get_data(message, NULL), 1,
			    g_bytes_get_size(message), stdout);
		return message != NULL;
	}
	text = ctl->options.is_html ? renderer_format_html(renderer, digest, error)
	                            : renderer_format_text(renderer, digest, error);
	if (text)
		fputs(text, stdout);
	return text != NULL;
}

/*
 * Compare the bytes composed now with those that were sent: by the hash of the last
 * composition, or, when that is unknown, by the cache key.
 *
 * @return the reason for a difference, or NULL
 */
static const char *
find_difference(const struct outbox_message *message, const struct renderer *renderer,
    GBytes *bytes)
{
	const char *key = renderer_get_cache_key(renderer);
	bool has_other_key = message->cache_key && strcmp(message->cache_key, key) != 0;

	if (message->message_hash >= 0 &&
	    message->message_hash == fnv1a_hash_bytes(bytes))
		return NULL;
	if (has_other_key)
		return "templates or settings have changed";
	return message->message_hash >= 0
	           ? "a paper or the subscriber's name has changed"
	           : NULL;
}

/* On standard error: standard output may be the message itself. */
static bool
warn_of_difference(struct ctl *ctl, const struct digest *digest, GError **error)
{
	g_autofree struct outbox_message *message = NULL;
	pb_auto(renderer) renderer = NULL;
	g_autoptr(GBytes) bytes = NULL;
	const char *difference;

	if (!outbox_find_digest(ctl->store, digest->id, &message, error))
		return false;
	if (!message) {
		fputs("note: the delivery record is deleted, so these may not be the "
		      "bytes that were sent\n",
		    stderr);
		return true;
	}
	renderer = new_renderer(ctl, error);
	bytes = renderer ? renderer_compose(renderer, digest, error) : NULL;
	if (!bytes)
		return false;
	difference = find_difference(message, renderer, bytes);
	if (difference)
		fprintf(stderr, "note: these are not the bytes that were sent: %s\n",
		    difference);
	return true;
}

static json_t *
json_of_digest(const struct digest *digest)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < digest->entries->len; i++) {
		const struct digest_entry *entry = digest->entries->pdata[i];
		json_t *reasons = json_array();

		for (unsigned j = 0; j < entry->reasons->len; j++) {
			const struct digest_reason *reason = entry->reasons->pdata[j];
			g_autofree char *words = hits_format(reason->hits, NULL);

			json_array_append_new(
			    reasons, json_pack("{s:s, s:s}", "filter", reason->filter,
			                 "words", words));
		}
		json_array_append_new(
		    list, json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "id",
		              entry->paper->id, "title", entry->paper->title, "url",
		              entry->paper->url, "day", entry->day, "upvotes",
		              print_json_number(entry->upvotes), "reasons", reasons));
	}
	return list;
}

bool
ctl_run_preview(struct ctl *ctl, GError **error)
{
	struct match_report matched = {0};
	pb_auto(subscriber) subscriber = NULL;
	pb_auto(catalog) catalog = NULL;
	pb_auto(digest) digest = NULL;
	int64_t now = clock_get_now(&ctl->clock);

	subscriber = person_load(ctl->store, ctl->argv[1], error);
	/* Include filters added since the last match run. */
	if (!subscriber || !match_run(ctl->store, now, &matched, error))
		return false;
	catalog = catalog_load(ctl->settings->po_dir, error);
	digest = catalog ? digest_build_preview(
	                       ctl->store, catalog, subscriber->id, now, error)
	                 : NULL;
	if (!digest)
		return false;
	if (ctl->is_json) {
		print_json(json_of_digest(digest));
		return true;
	}
	if (digest->entries->len || digest->is_note)
		return print_digest(ctl, digest, error);
	printf("No new papers for %s: no digest would be sent now.\n", ctl->argv[1]);
	return true;
}

static const struct table_column digest_columns[] = {
    TABLE_COLUMN("DIGEST", "digest", TABLE_INT64, digest_row, id),
    TABLE_COLUMN("DATE", "date", TABLE_TEXT, digest_row, date),
    TABLE_COLUMN("MESSAGE", "message", TABLE_TEXT, digest_row, message_state),
    TABLE_COLUMN("PAPERS", "papers", TABLE_INT64, digest_row, papers),
    TABLE_COLUMN("CREATED", "created_at", TABLE_TIME, digest_row, created_at),
    TABLE_COLUMN("RECIPIENT", "recipient", TABLE_TEXT, digest_row, recipient),
    TABLE_COLUMN(NULL, "slot", TABLE_TEXT, digest_row, slot),
    TABLE_COLUMN(NULL, "state", TABLE_TEXT, digest_row, state),
    {0},
};

bool
ctl_run_digest_list(struct ctl *ctl, GError **error)
{
	int limit = ctl_get_number(ctl->options.limit, 20);
	const struct table table = {digest_columns, "No digests yet.", NULL, NULL};
	g_autoptr(GPtrArray) rows = NULL;
	int64_t subscriber_id = 0;

	if (limit < 1 || limit > BOUNDS_LIST_ROWS)
		return pb_fail(error, PB_ERROR_INPUT, "--limit must be from 1 to %d",
		    BOUNDS_LIST_ROWS);
	if (ctl->options.address &&
	    !person_load_id(ctl->store, ctl->options.address, &subscriber_id, error))
		return false;
	rows = digests_load_newest(ctl->store, subscriber_id, (unsigned)limit, error);
	if (!rows)
		return false;
	table_print_newest(ctl, &table, rows, (unsigned)limit);
	return true;
}

static bool
find_digest(struct ctl *ctl, const char *text, int64_t *id, GError **error)
{
	guint64 number = 0;

	if (strcmp(text, "last") == 0)
		return digests_load_last(ctl->store, id, error);
	if (!g_ascii_string_to_unsigned(text, 10, 1, G_MAXINT64, &number, NULL))
		return pb_fail(error, PB_ERROR_INPUT,
		    "invalid digest '%s' (expected a number or 'last')", text);
	*id = (int64_t)number;
	return true;
}

bool
ctl_run_digest_show(struct ctl *ctl, GError **error)
{
	pb_auto(digest) digest = NULL;
	int64_t id;

	if (!find_digest(ctl, ctl->argv[1], &id, error))
		return false;
	digest = digests_load(ctl->store, id, error);
	if (!digest)
		return false;
	if (ctl->is_json) {
		print_json(json_of_digest(digest));
		return true;
	}
	return warn_of_difference(ctl, digest, error) &&
	       print_digest(ctl, digest, error);
}
