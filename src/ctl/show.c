/*
 * show.c - the commands that show digests: preview, digest show.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ctl/ctl.h"
#include "ctl/print.h"
#include "service/assembly.h"
#include "service/edition.h"
#include "service/match.h"
#include "service/startup.h"
#include "service/subscribe.h"
#include "store/editions.h"

static bool
print_digest(struct ctl *ctl, const struct digest *digest, bool is_html, bool is_raw,
    GError **error)
{
	g_autoptr(GBytes) key = startup_load_key(ctl->settings, ctl->store, error);
	pb_auto(renderer) renderer =
	    key ? assembly_new_renderer(ctl->settings, key, error) : NULL;
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
	pb_auto(digest) digest = NULL;
	int64_t now = clock_get_now(&ctl->clock);

	if (!ctl_parse(entries, 1, &argc, &argv, error))
		return false;
	subscriber = subscribe_find(ctl->store, argv[1], error);
	/* Matching is the same whoever does it; a filter given just now is in then. */
	if (!subscriber || !match_run(ctl->store, now, &matched, error))
		return false;
	digest = edition_preview(ctl->store, subscriber->id, now, error);
	if (!digest)
		return false;
	if (ctl->is_json) {
		print_json(json_of_digest(digest));
		return true;
	}
	if (digest->entries->len)
		return print_digest(ctl, digest, is_html, is_raw, error);
	printf("Nothing new for %s: no digest would go out now.\n", argv[1]);
	return true;
}

static bool
find_digest(struct ctl *ctl, const char *text, int64_t *id, GError **error)
{
	guint64 number = 0;

	if (strcmp(text, "last") == 0)
		return editions_load_last(ctl->store, id, error);
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
	digest = editions_load(ctl->store, id, error);
	if (!digest)
		return false;
	if (ctl->is_json) {
		print_json(json_of_digest(digest));
		return true;
	}
	return print_digest(ctl, digest, is_html, is_raw, error);
}
