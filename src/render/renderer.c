/*
 * renderer.c - a digest becomes a message.
 */
#include "render/renderer.h"

#include <string.h>

#include "message/compose.h"
#include "render/assemble.h"
#include "render/bibtex.h"
#include "render/cache_key.h"
#include "render/locales.h"
#include "render/sender.h"

struct renderer {
	struct sender_identity sender_identity;
	struct locales locales;
	GArray *runs;        /* of struct compose_span: to work on */
	int64_t dated_at;    /* digests that are made together have one date */
	GString *date_field; /* of that time; empty: not made yet */
	char *key;
};

static void
make_frames(struct renderer *renderer)
{
	for (unsigned i = 0; i < renderer->locales.list->len; i++) {
		struct locale *locale = renderer->locales.list->pdata[i];
		const struct page_settings settings = {
		    .subject = locale->templates[LOCALE_SUBJECT],
		    .text = locale->templates[LOCALE_TEXT],
		    .html = locale->templates[LOCALE_HTML],
		    .words = &locale->words,
		    .list_name = renderer->sender_identity.list_name,
		    .owner = renderer->sender_identity.owner,
		    .change_url = renderer->sender_identity.change_url,
		};

		locale->frames = pages_new(&settings);
	}
	renderer->runs = g_array_new(FALSE, FALSE, sizeof(struct compose_span));
}

/*
 * A template can be wrong in ways that only show when it is used; better at the
 * start than in the night.
 */
static bool
check_locale(struct renderer *renderer, const struct locale *locale, GError **error)
{
	for (unsigned titles = 0; titles <= 1; titles++) {
		pb_auto(digest) digest = digest_new();
		g_autoptr(GBytes) message = NULL;

		g_strlcpy(digest->look.language, locale->language,
		    sizeof(digest->look.language));
		digest->recipient = g_strdup("reader@example.org");
		g_strlcpy(digest->date, "2000-01-01", sizeof(digest->date));
		for (unsigned i = 0; i <= titles; i++) {
			struct paper *paper = paper_new();
			struct digest_entry *entry;

			paper->id = g_strdup("0000.00000");
			paper->title = g_strdup("Title");
			paper->abstract = g_strdup("Abstract");
			paper->url = g_strdup("https://example.org/");
			entry = digest_entry_new(paper, digest->date);
			entry->shown =
			    i == 0 ? DIGEST_DETAIL_FULL : DIGEST_DETAIL_TITLE;
			g_ptr_array_add(
			    entry->reasons, digest_reason_new("filter", "word"));
			g_ptr_array_add(digest->entries, entry);
		}
		message = renderer_compose(renderer, digest, error);
		if (!message)
			return false;
	}
	return true;
}

static bool
check_by_use(struct renderer *renderer, GError **error)
{
	for (unsigned i = 0; i < renderer->locales.list->len; i++)
		if (!check_locale(renderer, renderer->locales.list->pdata[i], error))
			return false;
	return true;
}

struct renderer *
renderer_new(const struct renderer_settings *settings, GError **error)
{
	pb_auto(renderer) renderer = g_new0(struct renderer, 1);
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);

	renderer->date_field = g_string_new(NULL);
	if (!sender_identity_init(&renderer->sender_identity, settings, error) ||
	    !locales_load(&renderer->locales, settings->template_dir, sum, error))
		return NULL;
	cache_key_add(sum, CACHE_KEY_VERSION);
	sender_identity_hash(&renderer->sender_identity, sum);
	renderer->key = g_strdup(g_checksum_get_string(sum));
	make_frames(renderer);
	if (!check_by_use(renderer, error))
		return NULL;
	return g_steal_pointer(&renderer);
}

void
renderer_free(struct renderer *renderer)
{
	if (!renderer)
		return;
	locales_clear(&renderer->locales);
	sender_identity_clear(&renderer->sender_identity);
	g_clear_pointer(&renderer->runs, g_array_unref);
	g_string_free(renderer->date_field, TRUE);
	g_free(renderer->key);
	g_free(renderer);
}

const struct catalog *
renderer_get_phrases(const struct renderer *renderer)
{
	return renderer->locales.book;
}

const char *
renderer_get_cache_key(const struct renderer *renderer)
{
	return renderer->key;
}

static bool
lay_out(struct renderer *renderer, const struct digest *digest,
    struct assembled_message *layout, GError **error)
{
	g_autofree char *stop_url =
	    sender_identity_format_stop_url(&renderer->sender_identity, digest);
	const struct locale *locale =
	    locales_get(&renderer->locales, digest->look.language);

	return assemble_init(
	    layout, locale->frames, locale->cache, digest, stop_url, error);
}

/*
 * List both parts, the text's runs first.  Quoted-printable is copied from where it is;
 * base64, which depends on what stands before, is made here.
 *
 * @param octets  set for a part that was made: kept until the message is built
 */
static unsigned
list_part(const struct assembled_message *layout, bool is_html, GArray *runs,
    GString **bytes, enum encoding *encoding)
{
	const struct assemble_part *part = is_html ? &layout->html : &layout->text;
	unsigned before = runs->len;

	*encoding = chunk_stats_get_encoding(&part->sum);
	switch (*encoding) {
	case ENCODING_QUOTED_PRINTABLE:
		assemble_list_runs(layout, is_html, runs);
		break;
	case ENCODING_BASE64: {
		g_autofree char *plain = assemble_format_plain(layout, is_html);
		struct compose_span run;

		*bytes = g_string_new(NULL);
		encoding_append_base64(*bytes, plain, strlen(plain));
		run = (struct compose_span){(*bytes)->str, (*bytes)->len};
		g_array_append_val(runs, run);
		break;
	}
	}
	return runs->len - before;
}

/* What is shown, in the same order; encoded. */
static enum encoding
append_bibtex(GString *out, const struct assembled_message *layout)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (unsigned i = 0; i < layout->shown; i++) {
		const struct digest_entry *entry = layout->entries->pdata[i];

		bibtex_append(text, entry->paper, entry->day);
	}
	g_string_truncate(text, text->len - 1); /* no blank line at its end */
	return encoding_append_text(out, text->str, text->len);
}

static bool
make_date_field(struct renderer *renderer, int64_t at, GError **error)
{
	if (renderer->date_field->len && renderer->dated_at == at)
		return true;
	g_string_truncate(renderer->date_field, 0);
	renderer->dated_at = at;
	return header_append_date(renderer->date_field, "Date", at, 0, error);
}

static GBytes *
build_message(struct renderer *renderer, const struct digest *digest,
    const struct assembled_message *layout, GError **error)
{
	g_autofree char *stop = g_strconcat("<", layout->stop_url, ">", NULL);
	const char *token = digest->message_token ? digest->message_token : "preview";
	g_autofree char *reply_to =
	    sender_identity_format_reply_to(&renderer->sender_identity, digest);
	const struct compose_header own[] = {
	    {"Reply-To", reply_to},
	    {"List-Unsubscribe", stop},
	};
	g_autofree char *message_id = g_strconcat(
	    "digest.", token, "@", renderer->sender_identity.message_domain, NULL);
	/* "=_" comes in neither encoding (RFC 2045 section 6.7). */
	g_autofree char *boundary = g_strconcat("=_", token, NULL);
	g_autoptr(GString) text = NULL;
	g_autoptr(GString) html = NULL;
	g_autofree char *file_name = NULL;
	g_autoptr(GString) papers = NULL;
	struct compose_span papers_run;
	GArray *runs = g_array_set_size(renderer->runs, 0);
	struct compose_headers fields = {
	    .to = {digest->recipient_name, digest->recipient},
	    .subject = assemble_get_subject(layout),
	    .subject_field = layout->frame->subject_field,
	    .message_id = message_id,
	    .extra = own,
	    .extra_count = G_N_ELEMENTS(own),
	    .boundary = boundary,
	    .fixed = &renderer->sender_identity.fixed,
	};

	if (!make_date_field(renderer, digest->created_at, error))
		return NULL;
	fields.date_field = renderer->date_field->str;
	fields.text.run_count =
	    list_part(layout, false, runs, &text, &fields.text.encoding);
	fields.html.run_count =
	    list_part(layout, true, runs, &html, &fields.html.encoding);
	fields.text.runs = (const struct compose_span *)(void *)runs->data;
	fields.html.runs = fields.text.runs + fields.text.run_count;
	if (digest->look.format == PREFERENCE_FORMAT_HTML)
		fields.text = (struct compose_part){0};
	if (digest->look.format == PREFERENCE_FORMAT_TEXT)
		fields.html = (struct compose_part){0};
	if (digest->look.attach == PREFERENCE_ATTACH_BIBTEX && layout->shown) {
		papers = g_string_new(NULL);
		file_name = g_strdup_printf("paperboy-%s.bib", digest->date);
		fields.file = (struct compose_attachment){
		    .name = file_name,
		    .type = "text/x-bibtex",
		    .part = {&papers_run, 1, append_bibtex(papers, layout)},
		};
		papers_run = (struct compose_span){papers->str, papers->len};
	}
	return compose_message(&fields, error);
}

GBytes *
renderer_compose(struct renderer *renderer, const struct digest *digest, GError **error)
{
	struct assembled_message layout;
	GBytes *message;

	if (!lay_out(renderer, digest, &layout, error))
		return NULL;
	message = build_message(renderer, digest, &layout, error);
	assemble_clear(&layout);
	return message;
}

static char *
format_part(struct renderer *renderer, const struct digest *digest, bool is_html,
    GError **error)
{
	struct assembled_message layout;
	char *part;

	if (!lay_out(renderer, digest, &layout, error))
		return NULL;
	part = assemble_format_plain(&layout, is_html);
	assemble_clear(&layout);
	return part;
}

char *
renderer_format_text(
    struct renderer *renderer, const struct digest *digest, GError **error)
{
	return format_part(renderer, digest, false, error);
}

char *
renderer_format_html(
    struct renderer *renderer, const struct digest *digest, GError **error)
{
	return format_part(renderer, digest, true, error);
}
