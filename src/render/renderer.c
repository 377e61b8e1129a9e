/*
 * renderer.c - a digest becomes a message.
 */
#include "render/renderer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/token.h"
#include "mail/address.h"
#include "mail/message.h"
#include "render/bibtex.h"
#include "render/layout.h"
#include "render/voice.h"

/* Raise it whenever the code makes other octets of the same input. */
#define ENGLISH "en"

#define RENDER_VERSION "4"

struct renderer {
	struct phrasebook *book;
	GPtrArray *voices; /* of struct voice *; the first speaks English */
	struct message_fixed fixed;
	struct token_maker *tokens;
	GArray *runs;        /* of struct message_run: to work on */
	int64_t dated_at;    /* digests that are made together have one date */
	GString *date_field; /* of that time; empty: not made yet */
	char *from_name;
	char *from_address;
	char *message_domain;
	char *list_name;
	char *list_id_value; /* the List-Id field */
	char *list_owner_value;
	char *list_help_value;       /* NULL without commands by mail */
	char *list_subscribe_value;  /* likewise */
	struct extension_form leave; /* a link; empty without commands by mail */
	struct extension_form reply;
	bool has_commands;
	char *owner;
	char *stop_url;
	char *change_url;
	GBytes *secret;
	char *key;
};

/* The size is known before the text is kept: a template may be any file. */
static char *
load_file(const char *path, GError **error)
{
	g_autofree char *text = g_malloc(BOUNDS_TEMPLATE_BYTES + 2);
	FILE *file = fopen(path, "re");
	size_t size = file ? fread(text, 1, BOUNDS_TEMPLATE_BYTES + 1, file) : 0;
	int saved = errno;
	bool is_read = file && !ferror(file);

	if (file)
		fclose(file);
	if (!is_read) {
		g_set_error(error, PB_ERROR,
		    saved == ENOENT ? PB_ERROR_NOT_FOUND : PB_ERROR_INPUT,
		    "cannot read '%s': %s", path, g_strerror(saved));
		return NULL;
	}
	if (size > BOUNDS_TEMPLATE_BYTES) {
		g_set_error(error, PB_ERROR, PB_ERROR_LIMIT,
		    "'%s' has more than %d octets", path, BOUNDS_TEMPLATE_BYTES);
		return NULL;
	}
	text[size] = '\0';
	if (strlen(text) != size) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "'%s' has a zero octet in it", path);
		return NULL;
	}
	return g_steal_pointer(&text);
}

/* With its zero octet, so that no two settings run into each other. */
static void
hash_text(GChecksum *sum, const char *text)
{
	if (!text)
		text = "";
	g_checksum_update(sum, (const guchar *)text, (gssize)strlen(text) + 1);
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The phrases of digests, and the dates; what answers say does not matter here. */
static void
hash_phrases(const struct phrasebook *book, const char *language, GChecksum *sum)
{
	g_autoptr(GPtrArray) names = phrases_list(book);

	g_ptr_array_sort(names, compare_names);
	hash_text(sum, language);
	for (unsigned i = 0; i < names->len; i++) {
		const char *name = names->pdata[i];
		g_autofree char *text = NULL;

		if (!g_str_has_prefix(name, "digest.") && strcmp(name, "weekdays") &&
		    strcmp(name, "months") && strcmp(name, "date_year"))
			continue;
		text = phrases_format(book, language, name, NULL);
		hash_text(sum, name);
		hash_text(sum, text);
	}
}

static bool
add_voice(struct renderer *renderer, const char *language, char *const *texts,
    GChecksum *sum, GError **error)
{
	struct voice *voice = voice_new(renderer->book, language, texts, error);

	if (!voice)
		return false;
	g_ptr_array_add(renderer->voices, voice);
	hash_phrases(renderer->book, language, sum);
	return true;
}

static bool
load_templates(
    struct renderer *renderer, const char *dir, GChecksum *sum, GError **error)
{
	g_auto(GStrv) texts = g_new0(char *, VOICE_FILES + 1);
	g_autofree char *known = NULL;
	g_auto(GStrv) languages = NULL;

	for (size_t i = 0; i < VOICE_FILES; i++) {
		const char *name = voice_get_file_name((enum voice_file)i);
		g_autofree char *path = g_build_filename(dir, name, NULL);

		texts[i] = load_file(path, error);
		if (!texts[i])
			return false;
		hash_text(sum, texts[i]);
	}
	renderer->book = phrasebook_load(dir, error);
	if (!renderer->book || !add_voice(renderer, ENGLISH, texts, sum, error))
		return false;
	known = phrasebook_format_languages(renderer->book);
	languages = g_strsplit(known, ", ", -1);
	for (char **language = languages; *language; language++)
		if (strcmp(*language, ENGLISH) != 0 &&
		    !add_voice(renderer, *language, texts, sum, error))
			return false;
	return true;
}

/* A language that there is not (any more) is English. */
static struct voice *
get_voice(const struct renderer *renderer, const struct digest *digest)
{
	for (unsigned i = 0; i < renderer->voices->len; i++) {
		struct voice *voice = renderer->voices->pdata[i];

		if (strcmp(voice->language, digest->look.language) == 0)
			return voice;
	}
	return renderer->voices->pdata[0];
}

static bool
check_address(const char *name, const char *text, struct address *out, GError **error)
{
	if (!address_parse(text, out, error)) {
		g_prefix_error(error, "%s: ", name);
		return false;
	}
	return true;
}

static bool
take_owner(struct renderer *renderer, const char *text, GError **error)
{
	struct address owner = {0};
	g_autofree char *link = NULL;

	if (!check_address("owner", text, &owner, error))
		return false;
	link = address_format_mailto(&owner, NULL);
	renderer->owner = g_strdup(owner.text);
	renderer->stop_url = address_format_mailto(&owner, "unsubscribe");
	renderer->change_url = address_format_mailto(&owner, "change my filters");
	renderer->list_owner_value = g_strdup_printf("<%s>", link);
	address_clear(&owner);
	return true;
}

/* People write commands instead of letters to the owner. */
static void
take_commands(struct renderer *renderer, const struct extension_base *base)
{
	g_autofree char *subscribe =
	    extension_format_mailto(base, EXTENSION_SUBSCRIBE, NULL);
	g_autofree char *help = extension_format_mailto(base, EXTENSION_HELP, NULL);

	extension_form_init(&renderer->leave, base, EXTENSION_LEAVE, true);
	extension_form_init(&renderer->reply, base, EXTENSION_REPLY, false);
	renderer->has_commands = true;
	renderer->list_subscribe_value = g_strdup_printf("<%s>", subscribe);
	renderer->list_help_value = g_strdup_printf("<%s>", help);
	g_free(renderer->owner);
	renderer->owner = g_strdup(base->address.text);
	g_free(renderer->change_url);
	renderer->change_url = address_format_mailto(&base->address, "help");
}

/* A list id looks like a domain (RFC 2919 section 2) and goes into angle brackets. */
static bool
check_list_id(const char *list_id, GError **error)
{
	g_autofree char *domain = address_parse_domain(list_id, NULL);

	if (!domain || strcmp(domain, list_id) != 0 ||
	    strlen(list_id) > BOUNDS_LIST_ID_BYTES) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "list id: wanted is a name like "
		    "'digest.example.org', in lower case");
		return false;
	}
	return true;
}

/* What stands in all our messages alike. */
static bool
make_fixed(struct renderer *renderer, GError **error)
{
	const struct message_field extra[] = {
	    {"List-Id", renderer->list_id_value},
	    {"List-Help", renderer->list_help_value},
	    {"List-Subscribe", renderer->list_subscribe_value},
	    {"List-Owner", renderer->list_owner_value},
	    {"List-Post", "NO"},
	    {"Auto-Submitted", "auto-generated"},
	    {"Precedence", "bulk"},
	    /* Not "All": that would silence delivery reports too (MS-OXCMAIL). */
	    {"X-Auto-Response-Suppress", "OOF, AutoReply"},
	};
	const struct message_fields fields = {
	    .from = {renderer->from_name, renderer->from_address},
	    .extra = extra,
	    .extra_count = G_N_ELEMENTS(extra),
	};

	return message_fixed_init(&renderer->fixed, &fields, error);
}

static bool
take_settings(
    struct renderer *renderer, const struct renderer_settings *settings, GError **error)
{
	struct address from = {0};
	g_autofree char *phrase = NULL;

	if (g_bytes_get_size(settings->key) < BOUNDS_KEY_BYTES_MIN) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "the secret key has fewer than %d octets", BOUNDS_KEY_BYTES_MIN);
		return false;
	}
	if (!check_list_id(settings->list_id, error) ||
	    !take_owner(renderer, settings->owner_address, error))
		return false;
	if (settings->commands)
		take_commands(renderer, settings->commands);
	renderer->message_domain =
	    address_parse_domain(settings->message_domain, error);
	if (!renderer->message_domain) {
		g_prefix_error(error, "message domain: ");
		return false;
	}
	if (!check_address("from", settings->from_address, &from, error))
		return false;
	renderer->from_address = g_strdup(from.text);
	address_clear(&from);
	renderer->from_name = g_strdup(settings->from_name);
	renderer->list_name = g_strdup(settings->list_name);
	renderer->secret = g_bytes_ref(settings->key);

	renderer->tokens = token_maker_new(settings->key);

	phrase = header_format_phrase(settings->list_name);
	renderer->list_id_value = g_strdup_printf(
	    "%s%s<%s>", phrase, phrase[0] != '\0' ? " " : "", settings->list_id);
	return make_fixed(renderer, error);
}

/* The secret itself is not hashed, only a token that changes with it. */
static void
finish_key(struct renderer *renderer, GChecksum *sum)
{
	g_autofree char *token = token_derive(renderer->secret, "render-key", 0);

	hash_text(sum, RENDER_VERSION);
	hash_text(sum, renderer->from_name);
	hash_text(sum, renderer->from_address);
	hash_text(sum, renderer->message_domain);
	hash_text(sum, renderer->list_id_value);
	hash_text(sum, renderer->list_name);
	hash_text(sum, renderer->owner);
	hash_text(sum, renderer->stop_url);
	hash_text(sum, renderer->list_help_value);
	hash_text(sum, token);
	renderer->key = g_strdup(g_checksum_get_string(sum));
}

static void
make_frames(struct renderer *renderer)
{
	for (unsigned i = 0; i < renderer->voices->len; i++) {
		struct voice *voice = renderer->voices->pdata[i];
		const struct frame_settings settings = {
		    .subject = voice->templates[VOICE_SUBJECT],
		    .text = voice->templates[VOICE_TEXT],
		    .html = voice->templates[VOICE_HTML],
		    .words = &voice->words,
		    .list_name = renderer->list_name,
		    .owner = renderer->owner,
		    .change_url = renderer->change_url,
		};

		voice->frames = frames_new(&settings);
	}
	renderer->runs = g_array_new(FALSE, FALSE, sizeof(struct message_run));
}

/*
 * A template can be wrong in ways that only show when it is used; better at the
 * start than in the night.
 */
static bool
check_voice(struct renderer *renderer, const struct voice *voice, GError **error)
{
	for (unsigned titles = 0; titles <= 1; titles++) {
		pb_auto(digest) digest = digest_new();
		g_autoptr(GBytes) message = NULL;

		g_strlcpy(digest->look.language, voice->language,
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
			entry->shown = i == 0 ? DIGEST_SHOWN_FULL : DIGEST_SHOWN_TITLE;
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
	for (unsigned i = 0; i < renderer->voices->len; i++)
		if (!check_voice(renderer, renderer->voices->pdata[i], error))
			return false;
	return true;
}

struct renderer *
renderer_new(const struct renderer_settings *settings, GError **error)
{
	pb_auto(renderer) renderer = g_new0(struct renderer, 1);
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);

	renderer->voices = g_ptr_array_new_with_free_func((GDestroyNotify)voice_free);
	renderer->date_field = g_string_new(NULL);
	if (!take_settings(renderer, settings, error) ||
	    !load_templates(renderer, settings->template_dir, sum, error))
		return NULL;
	finish_key(renderer, sum);
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
	g_clear_pointer(&renderer->voices, g_ptr_array_unref);
	phrasebook_free(renderer->book);
	message_fixed_clear(&renderer->fixed);
	token_maker_free(renderer->tokens);
	g_clear_pointer(&renderer->runs, g_array_unref);
	g_string_free(renderer->date_field, TRUE);
	g_free(renderer->from_name);
	g_free(renderer->from_address);
	g_free(renderer->message_domain);
	g_free(renderer->list_name);
	g_free(renderer->list_id_value);
	g_free(renderer->list_owner_value);
	g_free(renderer->list_help_value);
	g_free(renderer->list_subscribe_value);
	extension_form_clear(&renderer->leave);
	extension_form_clear(&renderer->reply);
	g_free(renderer->owner);
	g_free(renderer->stop_url);
	g_free(renderer->change_url);
	g_clear_pointer(&renderer->secret, g_bytes_unref);
	g_free(renderer->key);
	g_free(renderer);
}

const char *
renderer_get_key(const struct renderer *renderer)
{
	return renderer->key;
}

/* How to stop: by a letter to the owner, or one to an address that does it. */
static char *
format_stop_url(const struct renderer *renderer, const struct digest *digest)
{
	g_autofree char *token = NULL;

	if (!renderer->has_commands)
		return g_strdup(renderer->stop_url);
	token = token_maker_sign(renderer->tokens, EXTENSION_TOKEN_LEAVE,
	    digest->subscriber_id, digest->subscriber_since);
	return extension_form_fill(&renderer->leave, token);
}

static bool
lay_out(struct renderer *renderer, const struct digest *digest, struct layout *layout,
    GError **error)
{
	g_autofree char *stop_url = format_stop_url(renderer, digest);

	const struct voice *voice = get_voice(renderer, digest);

	return layout_init(
	    layout, voice->frames, voice->cache, digest, stop_url, error);
}

/*
 * List both parts, the text's runs first.  Quoted-printable is copied from where it is;
 * base64, which depends on what stands before, is made here.
 *
 * @param octets  set for a part that was made: kept until the message is built
 */
static unsigned
list_part(const struct layout *layout, bool is_html, GArray *runs, GString **octets,
    enum encoding *encoding)
{
	const struct layout_part *part = is_html ? &layout->html : &layout->text;
	unsigned before = runs->len;

	*encoding = piece_sum_get_encoding(&part->sum);
	switch (*encoding) {
	case ENCODING_QUOTED_PRINTABLE:
		layout_list_runs(layout, is_html, runs);
		break;
	case ENCODING_BASE64: {
		g_autofree char *plain = layout_format_plain(layout, is_html);
		struct message_run run;

		*octets = g_string_new(NULL);
		encoding_append_base64(*octets, plain, strlen(plain));
		run = (struct message_run){(*octets)->str, (*octets)->len};
		g_array_append_val(runs, run);
		break;
	}
	}
	return runs->len - before;
}

/*
 * Answers to a digest are its reader's own (service/front.h).
 *
 * @param name  set: what the digest is called in its Message-ID, like which no other
 *              store's is
 */
static char *
format_reply_to(
    const struct renderer *renderer, const struct digest *digest, char **name)
{
	g_autofree char *token = NULL;

	if (!renderer->has_commands) {
		*name = token_maker_derive(renderer->tokens, "message-id", digest->id);
		return NULL;
	}
	/* One MAC for both: MACs are half of what a digest takes. */
	token = token_maker_sign_named(renderer->tokens, EXTENSION_TOKEN_REPLY,
	    digest->id, digest->created_at, name);
	return extension_form_fill(&renderer->reply, token);
}

/* What is shown, in the same order; encoded. */
static enum encoding
append_bibtex(GString *out, const struct layout *layout)
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
    const struct layout *layout, GError **error)
{
	g_autofree char *stop = g_strconcat("<", layout->stop_url, ">", NULL);
	g_autofree char *name = NULL;
	g_autofree char *reply_to = format_reply_to(renderer, digest, &name);
	const struct message_field own[] = {
	    {"Reply-To", reply_to},
	    {"List-Unsubscribe", stop},
	};
	g_autofree char *message_id =
	    g_strdup_printf("digest.%" G_GINT64_FORMAT ".%s@%s", digest->id, name,
	        renderer->message_domain);
	/* "=_" comes in neither encoding (RFC 2045 section 6.7). */
	g_autofree char *boundary = g_strconcat("=_", name, NULL);
	g_autoptr(GString) text = NULL;
	g_autoptr(GString) html = NULL;
	g_autofree char *file_name = NULL;
	g_autoptr(GString) papers = NULL;
	struct message_run papers_run;
	GArray *runs = g_array_set_size(renderer->runs, 0);
	struct message_fields fields = {
	    .to = {digest->recipient_name, digest->recipient},
	    .subject = layout_get_subject(layout),
	    .subject_field = layout->frame->subject_field,
	    .message_id = message_id,
	    .extra = own,
	    .extra_count = G_N_ELEMENTS(own),
	    .boundary = boundary,
	    .fixed = &renderer->fixed,
	};

	if (!make_date_field(renderer, digest->created_at, error))
		return NULL;
	fields.date_field = renderer->date_field->str;
	fields.text.run_count =
	    list_part(layout, false, runs, &text, &fields.text.encoding);
	fields.html.run_count =
	    list_part(layout, true, runs, &html, &fields.html.encoding);
	fields.text.runs = (const struct message_run *)(void *)runs->data;
	fields.html.runs = fields.text.runs + fields.text.run_count;
	if (digest->look.format == PREFERENCE_FORMAT_HTML)
		fields.text = (struct message_part){0};
	if (digest->look.format == PREFERENCE_FORMAT_TEXT)
		fields.html = (struct message_part){0};
	if (digest->look.attach == PREFERENCE_ATTACH_BIBTEX && layout->shown) {
		papers = g_string_new(NULL);
		file_name = g_strdup_printf("paperboy-%s.bib", digest->date);
		fields.file = (struct message_file){
		    .name = file_name,
		    .type = "text/x-bibtex",
		    .part = {&papers_run, 1, append_bibtex(papers, layout)},
		};
		papers_run = (struct message_run){papers->str, papers->len};
	}
	return message_build(&fields, error);
}

GBytes *
renderer_compose(struct renderer *renderer, const struct digest *digest, GError **error)
{
	struct layout layout;
	GBytes *message;

	if (!lay_out(renderer, digest, &layout, error))
		return NULL;
	message = build_message(renderer, digest, &layout, error);
	layout_clear(&layout);
	return message;
}

static char *
format_part(struct renderer *renderer, const struct digest *digest, bool is_html,
    GError **error)
{
	struct layout layout;
	char *part;

	if (!lay_out(renderer, digest, &layout, error))
		return NULL;
	part = layout_format_plain(&layout, is_html);
	layout_clear(&layout);
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
