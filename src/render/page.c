/*
 * page.c - what stands around the papers in both parts of a digest.
 */
#include "render/page.h"

#include <string.h>

#include "base/bounds.h"
#include "base/day.h"
#include "base/error.h"
#include "message/header.h"
#include "message/sanitize.h"
#include "render/view.h"

/* So many are kept: a day has two or three drafts, and some hundred frames. */
#define DRAFTS_MAX 64
#define FRAMES_MAX 1000

/* A date, then hexadecimal digits with two bits for each value, and one. */
#define KEY_DIGITS   5
#define START_DIGITS 3 /* of the number of the first title */
#define KEY_BYTES    (DAY_BYTES + KEY_DIGITS + START_DIGITS)

/* What stands for the reader while nobody is known. */
#define SOMEBODY "?"

const char *const page_names[] = {"change_url", "count_new", "count_papers", "coverage",
    "date", "date_long", "first_title", "has_titles", "is_note", "list_name", "owner",
    "papers", "preheader", "recipient", "rest", "stop_url", "subject", "titles",
    "titles_start", NULL};

static const char *const value_names[PAGE_VALUES] = {
    [PAGE_RECIPIENT] = "recipient",
    [PAGE_STOP_URL] = "stop_url",
    [PAGE_COUNT_NEW] = "count_new",
    [PAGE_COUNT_PAPERS] = "count_papers",
    [PAGE_FIRST_TITLE] = "first_title",
    [PAGE_PREHEADER] = "preheader",
    [PAGE_REST] = "rest",
    [PAGE_COVERAGE] = "coverage",
    [PAGE_SUBJECT] = "subject",
};

/*
 * A place is a control character, which neither a template may hold nor a
 * text that was made inert: so nobody can forge one.
 */
#define PLACE_PAPERS "\x01"
#define PLACE_TITLES "\x02"

/* The templates of one date, rendered with a hole for each value that there is. */
struct skeleton {
	struct compiled_template *subject;
	struct page_part text;
	struct page_part html;
};

struct pages {
	struct page_settings settings;
	GHashTable *drafts; /* key -> struct draft * */
	GHashTable *known;  /* heading in one text -> struct frame * */
	GString *probe;
	struct filling text, html; /* kept, so that no message allocates them */
};

static void
clear_part(struct page_part *part)
{
	compiled_template_free(part->head);
	compiled_template_free(part->middle);
	compiled_template_free(part->tail);
}

static void
draft_free(struct skeleton *skeleton)
{
	if (!skeleton)
		return;
	compiled_template_free(skeleton->subject);
	clear_part(&skeleton->text);
	clear_part(&skeleton->html);
	g_free(skeleton);
}
PB_DEFINE_AUTO(skeleton, draft_free);

static void
page_free(struct page *frame)
{
	compiled_template_free(frame->subject);
	g_free(frame->known_subject);
	g_free(frame->subject_field);
	clear_part(&frame->text);
	clear_part(&frame->html);
	g_free(frame);
}

struct pages *
pages_new(const struct page_settings *settings)
{
	struct pages *frames = g_new0(struct pages, 1);

	frames->settings = *settings;
	frames->drafts = g_hash_table_new_full(
	    g_str_hash, g_str_equal, g_free, (GDestroyNotify)draft_free);
	frames->known = g_hash_table_new_full(
	    g_str_hash, g_str_equal, g_free, (GDestroyNotify)page_free);
	frames->probe = g_string_new(NULL);
	filling_init(&frames->text);
	filling_init(&frames->html);
	return frames;
}

void
pages_free(struct pages *frames)
{
	if (!frames)
		return;
	g_hash_table_unref(frames->drafts);
	g_hash_table_unref(frames->known);
	g_string_free(frames->probe, TRUE);
	filling_clear(&frames->text);
	filling_clear(&frames->html);
	g_free(frames);
}

struct filling *
pages_get_filling(struct pages *frames, bool is_html)
{
	struct filling *filling = is_html ? &frames->html : &frames->text;

	g_string_truncate(filling->encoded, 0);
	filling->sum = (struct chunk_stats){0};
	return filling;
}

/*
 * Cut the line of a place out of a text.  On success *rest is what follows.
 */
static bool
cut_at(char *text, const char *place, char **rest)
{
	char *found = strstr(text, place);

	if (!found || strstr(found + 1, place) || found[1] != '\n' ||
	    (found > text && found[-1] != '\n'))
		return false;
	*found = '\0';
	*rest = found + 2;
	return true;
}

/* @param label  what errors call the template */
static bool
init_part(struct page_part *part, const char *label, const struct template *template,
    const struct view *view, unsigned columns, GError **error)
{
	g_autoptr(GString) whole = g_string_new(NULL);
	bool has_titles = view_is_true(view_find(view, "has_titles"));
	char *middle;
	char *tail = NULL;

	template_append(template, view, whole);
	if (!cut_at(whole->str, PLACE_PAPERS, &middle) ||
	    (has_titles ? !cut_at(middle, PLACE_TITLES, &tail)
	                : strstr(middle, PLACE_TITLES) != NULL)) {
		g_set_error(error, PB_ERROR, PB_ERROR_INPUT,
		    "%s wants {{{papers}}} once, and after it {{{titles}}} once where "
		    "has_titles is true, each alone on a line",
		    label);
		return false;
	}
	part->head = compiled_template_new(whole->str, columns);
	part->middle = compiled_template_new(middle, columns);
	part->tail = compiled_template_new(tail ? tail : "", columns);
	return true;
}

static void
put_value(struct view *view, unsigned number, const char *value)
{
	char placeholder[COMPILED_TEMPLATE_HOLE_BYTES];

	if (!value)
		return;
	compiled_template_format_hole(number, placeholder);
	view_put_text(view, value_names[number], *value ? placeholder : "");
}

/* @return NULL for no such date */
static struct view *
new_view(const struct page_settings *settings, const struct page_heading *heading)
{
	g_autofree char *list_name = sanitize_line(settings->list_name, 0);
	g_autofree char *date_short =
	    locale_format_format_day(settings->words, heading->date, WORDS_SHORT);
	g_autofree char *date_long =
	    locale_format_format_day(settings->words, heading->date, WORDS_LONG);
	g_autofree char *start = g_strdup_printf("%u", heading->titles_start);
	struct view *view;

	if (!date_short)
		return NULL;
	view = view_new_map();
	view_put_text(view, "list_name", list_name);
	view_put_text(view, "owner", settings->owner);
	view_put_text(view, "change_url", settings->change_url);
	view_put_text(view, "date", date_short);
	view_put_text(view, "date_long", date_long);
	view_put_text(view, "papers", PLACE_PAPERS);
	view_put_text(view, "titles", PLACE_TITLES);
	view_put(view, "has_titles", view_new_bool(heading->has_titles));
	view_put_text(view, "titles_start", start);
	view_put(view, "is_note", view_new_bool(heading->is_note));
	return view;
}

static struct skeleton *
new_draft(const struct page_settings *settings, const struct page_heading *heading,
    const char *const *values, GError **error)
{
	pb_auto(skeleton) skeleton = g_new0(struct skeleton, 1);
	pb_auto(view) view = new_view(settings, heading);
	g_autoptr(GString) subject = g_string_new(NULL);

	if (!view) {
		g_set_error(
		    error, PB_ERROR, PB_ERROR_INPUT, "the digest has no valid date");
		return NULL;
	}
	/* The subject sees all but itself. */
	for (unsigned i = 0; i < PAGE_VALUES; i++)
		if (i != PAGE_SUBJECT)
			put_value(view, i, values[i]);
	template_append(settings->subject, view, subject);
	skeleton->subject = compiled_template_new(subject->str, 0);
	put_value(view, PAGE_SUBJECT, values[PAGE_SUBJECT]);
	if (!init_part(
	        &skeleton->html, "digest.html", settings->html, view, 0, error) ||
	    !init_part(&skeleton->text, "digest.txt", settings->text, view,
	        BOUNDS_TEXT_COLUMNS, error))
		return NULL;
	return g_steal_pointer(&skeleton);
}

static void
set_key(
    char key[KEY_BYTES], const struct page_heading *heading, const char *const *values)
{
	static const char hex[] = "0123456789abcdef";
	unsigned bits = (unsigned)heading->is_note << 1 | heading->has_titles;
	unsigned start = heading->titles_start;
	size_t at = g_strlcpy(key, heading->date, DAY_BYTES);

	for (unsigned i = 0; i < PAGE_VALUES; i++)
		bits = bits << 2 | (values[i] ? 1U + (*values[i] != '\0') : 0U);
	at = MIN(at, DAY_BYTES - 1);
	for (unsigned i = 0; i < KEY_DIGITS; i++, bits >>= 4)
		key[at++] = hex[bits & 15];
	for (unsigned i = 0; i < START_DIGITS; i++, start >>= 4)
		key[at++] = hex[start & 15];
	key[at] = '\0';
}

/* Of the values it only counts whether they are there and empty. */
static const struct skeleton *
get_draft(struct pages *frames, const struct page_heading *heading,
    const char *const *values, GError **error)
{
	struct skeleton *skeleton;
	char key[KEY_BYTES];

	set_key(key, heading, values);
	skeleton = g_hash_table_lookup(frames->drafts, key);
	if (skeleton)
		return skeleton;
	skeleton = new_draft(&frames->settings, heading, values, error);
	if (!skeleton)
		return NULL;
	if (g_hash_table_size(frames->drafts) >= DRAFTS_MAX)
		g_hash_table_remove_all(frames->drafts);
	g_hash_table_insert(frames->drafts, g_strdup(key), skeleton);
	return skeleton;
}

static void
make_values(
    const struct words *words, char **values, const struct page_heading *heading)
{
	g_autofree char *sentence = NULL;

	for (unsigned i = 0; i < PAGE_OPEN_VALUES; i++)
		values[i] = g_strdup(SOMEBODY);
	values[PAGE_COUNT_NEW] =
	    heading->is_note
	        ? locale_format_text(words, "no_new_papers")
	        : locale_format_format_count(words, heading->total, "new_papers");
	values[PAGE_COUNT_PAPERS] =
	    heading->is_note
	        ? locale_format_text(words, "no_papers")
	        : locale_format_format_count(words, heading->total, "papers");
	values[PAGE_FIRST_TITLE] =
	    sanitize_line(heading->first_title, BOUNDS_SUBJECT_TITLE_CHARS);
	sentence = g_strconcat(values[PAGE_COUNT_NEW], heading->is_note ? "" : ": ",
	    values[PAGE_FIRST_TITLE], NULL);
	values[PAGE_PREHEADER] = sanitize_line(sentence, BOUNDS_PREHEADER_CHARS);
	if (heading->coverage && *heading->coverage)
		values[PAGE_COVERAGE] = sanitize_line(heading->coverage, 0);
	if (heading->shown < heading->total)
		values[PAGE_REST] = locale_format_format_count(
		    words, heading->total - heading->shown, "more_papers");
}

char *
page_format_subject(const struct compiled_template *subject, const char *const *values)
{
	g_autoptr(GString) line = g_string_new(NULL);

	compiled_template_append_plain(subject, values, line);
	return sanitize_line(line->str, BOUNDS_SUBJECT_CHARS);
}

static void
bind_part(
    struct page_part *part, const struct page_part *skeleton, const char *const *values)
{
	part->head = compiled_template_bind(skeleton->head, values);
	part->middle = compiled_template_bind(skeleton->middle, values);
	part->tail = compiled_template_bind(skeleton->tail, values);
}

/* @param values  all; the reader's are taken away */
static struct page *
new_frame(struct pages *frames, const struct page_heading *heading, char **values,
    GError **error)
{
	const char *const *known = (const char *const *)values;
	const struct skeleton *skeleton = get_draft(frames, heading, known, error);
	struct compiled_template *subject;
	struct page *frame;

	if (!skeleton)
		return NULL;
	for (unsigned i = 0; i < PAGE_OPEN_VALUES; i++)
		g_clear_pointer(&values[i], g_free);
	frame = g_new0(struct page, 1);
	subject = compiled_template_bind(skeleton->subject, known);
	if (compiled_template_has_hole(subject)) {
		frame->subject = subject;
	} else {
		GString *field = g_string_new(NULL);

		frame->known_subject = page_format_subject(subject, known);
		header_append_text(field, "Subject", frame->known_subject);
		frame->subject_field = g_string_free(field, FALSE);
		values[PAGE_SUBJECT] = g_strdup(frame->known_subject);
		compiled_template_free(subject);
	}
	/* A subject that came out empty is none to the templates either. */
	if (values[PAGE_SUBJECT] && !*values[PAGE_SUBJECT]) {
		for (unsigned i = 0; i < PAGE_SUBJECT; i++)
			values[i] = g_strdup(SOMEBODY);
		skeleton = get_draft(frames, heading, known, error);
		for (unsigned i = 0; i < PAGE_SUBJECT; i++)
			g_clear_pointer(&values[i], g_free);
	}
	if (!skeleton) {
		page_free(frame);
		return NULL;
	}
	bind_part(&frame->text, &skeleton->text, known);
	bind_part(&frame->html, &skeleton->html, known);
	return frame;
}

static void
set_probe(GString *probe, const struct page_heading *heading)
{
	const char *coverage = heading->coverage ? heading->coverage : "";
	const unsigned numbers[] = {heading->total, heading->shown, heading->has_titles,
	    heading->titles_start, heading->is_note, (unsigned)strlen(coverage)};

	g_string_assign(probe, heading->date);
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
		/* Seven bits at a time, and never a zero octet. */
		for (unsigned rest = numbers[i]; rest; rest >>= 7)
			g_string_append_c(probe, (char)(rest | 128));
		g_string_append_c(probe, '\n');
	}
	g_string_append(probe, coverage);
	g_string_append(probe, heading->first_title);
}

const struct page *
pages_get(struct pages *frames, const struct page_heading *heading, GError **error)
{
	char *values[PAGE_VALUES] = {0};
	struct page *frame;

	set_probe(frames->probe, heading);
	frame = g_hash_table_lookup(frames->known, frames->probe->str);
	if (frame)
		return frame;
	make_values(frames->settings.words, values, heading);
	frame = new_frame(frames, heading, values, error);
	for (unsigned i = 0; i < PAGE_VALUES; i++)
		g_free(values[i]);
	if (!frame)
		return NULL;
	if (g_hash_table_size(frames->known) >= FRAMES_MAX)
		g_hash_table_remove_all(frames->known);
	g_hash_table_insert(frames->known, g_strdup(frames->probe->str), frame);
	return frame;
}
