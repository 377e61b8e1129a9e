/*
 * show.c - the commands that show digests: preview, digest list, digest show.
 */
#include <stdio.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/fnv1a.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "service/digest/digest_build.h"
#include "service/match/match.h"
#include "service/people/subscribe.h"
#include "service/setup/factory.h"
#include "service/setup/startup.h"
#include "store/mail/digests.h"
#include "store/mail/outbox_queue.h"

static struct renderer *
new_renderer(struct ctl *ctl, GError **error)
{
	g_autoptr(GBytes) key = startup_load_key(ctl->settings, ctl->store, error);

	return key ? factory_new_renderer(ctl->settings, key, error) : NULL;
}

static bool
print_digest(struct ctl *ctl, const struct digest *digest, bool is_html, bool is_raw,
    GError **error)
{
	pb_auto(renderer) renderer = new_renderer(ctl, error);
	g_autoptr(GBytes) message = NULL;
	g_autofree char *text = NULL;

	if (!renderer)
		return false;
	if (is_raw) {
		message = renderer_compose(renderer, digest, error);
		if (message)
			fwrite(g_bytes_get_data(message, NULL), 1,
			    g_bytes_get_size(message), stdout);
		return message != NULL;
	}
	text = is_html ? renderer_format_html(renderer, digest, error)
	               : renderer_format_text(renderer, digest, error);
	if (text)
		fputs(text, stdout);
	return text != NULL;
}

/*
 * Are the octets that can be composed now those that were sent?  Only the fingerprint
 * of what was composed last can say yes; without it, of a message whose result was
 * lost, another render key can say no.
 *
 * @return why not, or NULL
 */
static const char *
find_difference(const struct outbox_message *message, const struct renderer *renderer,
    GBytes *bytes)
{
	const char *key = renderer_get_cache_key(renderer);
	bool is_key_other = message->cache_key && strcmp(message->cache_key, key) != 0;

	if (message->message_hash >= 0 && message->message_hash == fnv1a_hash(bytes))
		return NULL;
	if (is_key_other)
		return "templates or settings have changed since";
	return message->message_hash >= 0
	           ? "a paper or the reader's name has changed since"
	           : NULL;
}

/* On standard error, so that the octets stay what they are. */
static bool
warn_of_difference(struct ctl *ctl, const struct digest *digest, GError **error)
{
	pb_auto(outbox_message) message = NULL;
	pb_auto(renderer) renderer = NULL;
	g_autoptr(GBytes) bytes = NULL;
	const char *difference;

	if (!outbox_find_digest(ctl->store, digest->id, &message, error))
		return false;
	if (!message) {
		fputs(
		    "note: when it was sent is forgotten, and so is whether these were "
		    "its octets\n",
		    stderr);
		return true;
	}
	renderer = new_renderer(ctl, error);
	bytes = renderer ? renderer_compose(renderer, digest, error) : NULL;
	if (!bytes)
		return false;
	difference = find_difference(message, renderer, bytes);
	if (difference)
		fprintf(stderr, "note: this is not what was sent: %s\n", difference);
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

			json_array_append_new(
			    reasons, json_pack("{s:s, s:s}", "filter", reason->filter,
			                 "words", reason->words));
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
ctl_run_preview(struct ctl *ctl, int argc, char **argv, GError **error)
{
	gboolean is_html = FALSE, is_raw = FALSE;
	const GOptionEntry entries[] = {
	    {"html", 0, 0, G_OPTION_ARG_NONE, &is_html, NULL, NULL},
	    {"raw", 0, 0, G_OPTION_ARG_NONE, &is_raw, NULL, NULL},
	    {0},
	};
	struct match_report matched = {0};
	pb_auto(subscriber) subscriber = NULL;
	pb_auto(catalog) book = NULL;
	pb_auto(digest) digest = NULL;
	int64_t now = clock_get_now(&ctl->clock);

	if (!ctl_parse(entries, 1, &argc, &argv, error))
		return false;
	subscriber = subscribe_load(ctl->store, argv[1], error);
	/* Matching is the same whoever does it; a filter given just now is in then. */
	if (!subscriber || !match_run(ctl->store, now, &matched, error))
		return false;
	book = catalog_load(ctl->settings->template_dir, error);
	digest =
	    book ? digest_build_preview(ctl->store, book, subscriber->id, now, error)
	         : NULL;
	if (!digest)
		return false;
	if (ctl->is_json) {
		print_json(json_of_digest(digest));
		return true;
	}
	if (digest->entries->len || digest->is_note)
		return print_digest(ctl, digest, is_html, is_raw, error);
	printf("Nothing new for %s: no digest would go out now.\n", argv[1]);
	return true;
}

static json_t *
json_of_row(const struct digest_row *row)
{
	return json_pack("{s:I, s:s, s:s, s:s, s:s, s:o, s:I, s:I}", "digest",
	    (json_int_t)row->id, "recipient", row->recipient, "slot", row->slot, "date",
	    row->date, "state", row->state, "message",
	    print_json_text(row->message_state), "made_at", (json_int_t)row->created_at,
	    "papers", (json_int_t)row->papers);
}

static char **
table_row(const struct digest_row *row)
{
	g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, row->id);
	g_autofree char *papers = g_strdup_printf("%" G_GINT64_FORMAT, row->papers);
	g_autofree char *made = ctl_format_time(row->created_at);

	return print_row(id, row->date, row->message_state ? row->message_state : "-",
	    papers, made, row->recipient, NULL);
}

static void
print_rows(const struct ctl *ctl, const GPtrArray *rows)
{
	g_autoptr(GPtrArray) table =
	    g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
	json_t *list = json_array();

	g_ptr_array_add(table, print_row("DIGEST", "DATE", "MESSAGE", "PAPERS", "MADE",
	                           "RECIPIENT", NULL));
	for (unsigned i = 0; i < rows->len; i++) {
		json_array_append_new(list, json_of_row(rows->pdata[i]));
		g_ptr_array_add(table, table_row(rows->pdata[i]));
	}
	if (ctl->is_json) {
		print_json(list);
		return;
	}
	json_decref(list);
	if (rows->len)
		print_table(table);
	else
		puts("No digest was made yet.");
}

bool
ctl_run_digest_list(struct ctl *ctl, int argc, char **argv, GError **error)
{
	g_autofree char *address = NULL;
	int limit = 20;
	const GOptionEntry entries[] = {
	    {"address", 0, 0, G_OPTION_ARG_STRING, &address, NULL, NULL},
	    {"limit", 0, 0, G_OPTION_ARG_INT, &limit, NULL, NULL},
	    {0},
	};
	g_autoptr(GPtrArray) rows = NULL;
	int64_t subscriber_id = 0;

	if (!ctl_parse(entries, 0, &argc, &argv, error))
		return false;
	if (limit < 1 || limit > BOUNDS_LIST_ROWS) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "the limit must be from 1 to %d", BOUNDS_LIST_ROWS);
		return false;
	}
	if (address && !subscribe_load_id(ctl->store, address, &subscriber_id, error))
		return false;
	rows = digests_load_newest(ctl->store, subscriber_id, (unsigned)limit, error);
	if (!rows)
		return false;
	print_rows(ctl, rows);
	return true;
}

static bool
find_digest(struct ctl *ctl, const char *text, int64_t *id, GError **error)
{
	guint64 number = 0;

	if (strcmp(text, "last") == 0)
		return digests_load_last(ctl->store, id, error);
	if (!g_ascii_string_to_unsigned(text, 10, 1, G_MAXINT64, &number, NULL)) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "'%s' is no digest: its number, or last, is wanted", text);
		return false;
	}
	*id = (int64_t)number;
	return true;
}

bool
ctl_run_digest_show(struct ctl *ctl, int argc, char **argv, GError **error)
{
	gboolean is_html = FALSE, is_raw = FALSE;
	const GOptionEntry entries[] = {
	    {"html", 0, 0, G_OPTION_ARG_NONE, &is_html, NULL, NULL},
	    {"raw", 0, 0, G_OPTION_ARG_NONE, &is_raw, NULL, NULL},
	    {0},
	};
	pb_auto(digest) digest = NULL;
	int64_t id;

	if (!ctl_parse(entries, 1, &argc, &argv, error) ||
	    !find_digest(ctl, argv[1], &id, error))
		return false;
	digest = digests_load(ctl->store, id, error);
	if (!digest)
		return false;
	if (ctl->is_json) {
		print_json(json_of_digest(digest));
		return true;
	}
	return warn_of_difference(ctl, digest, error) &&
	       print_digest(ctl, digest, is_html, is_raw, error);
}
