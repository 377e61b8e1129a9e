/*
 * bulletin.c - an RSS or Atom document, read.
 */
#include "sources/bulletin.h"

#include <expat.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/html.h"
#include "base/text.h"
#include "sources/bulletin_date.h"
#include "sources/bulletin_words.h"

#define XML_BASE "http://www.w3.org/XML/1998/namespace base"

struct reading {
	XML_Parser parser;
	struct bulletin *bulletin;
	struct bulletin_entry *entry; /* the open one, or NULL */
	enum place places[BOUNDS_XML_DEPTH + 1];
	char *bases[BOUNDS_XML_DEPTH + 1]; /* owned where one begins, else NULL */
	int depth;
	int text_depth; /* of the element whose text is taken; 0: none */
	enum meaning meaning;
	enum bulletin_form form;
	bool is_permalink;
	bool is_summary_told; /* by a summary, not by the content */
	GString *text;
	GError *error;
};

static void
entry_free(void *data)
{
	struct bulletin_entry *entry = data;

	g_free(entry->guid);
	g_free(entry->url);
	g_free(entry->title);
	g_free(entry->summary);
	g_ptr_array_unref(entry->authors);
	g_free(entry->creator);
	g_ptr_array_unref(entry->categories);
	g_free(entry->primary);
	g_free(entry->announcement);
	g_free(entry->comment);
	g_free(entry->journal);
	g_free(entry->doi);
	g_free(entry);
}

void
bulletin_free(struct bulletin *bulletin)
{
	if (!bulletin)
		return;
	g_free(bulletin->title);
	g_ptr_array_unref(bulletin->entries);
	g_free(bulletin);
}

static struct bulletin_entry *
entry_new(void)
{
	struct bulletin_entry *entry = g_new0(struct bulletin_entry, 1);

	entry->authors = g_ptr_array_new_with_free_func(g_free);
	entry->categories = g_ptr_array_new_with_free_func(g_free);
	entry->published_at = entry->updated_at = -1;
	return entry;
}

static void G_GNUC_PRINTF(3, 4)
    stop(struct reading *reading, enum pb_error code, const char *format, ...)
{
	va_list arguments;

	if (reading->error)
		return;
	va_start(arguments, format);
	reading->error = g_error_new_valist(PB_ERROR, (int)code, format, arguments);
	va_end(arguments);
	XML_StopParser(reading->parser, XML_FALSE);
}

static const char *
get_attribute(const char **attributes, const char *name)
{
	for (; *attributes; attributes += 2)
		if (strcmp(attributes[0], name) == 0)
			return attributes[1];
	return NULL;
}

static const char *
get_base(const struct reading *reading)
{
	for (int depth = reading->depth; depth >= 0; depth--)
		if (reading->bases[depth])
			return reading->bases[depth];
	return NULL;
}

/* @return NULL for what is no link at all */
static char *
resolve(const struct reading *reading, const char *link)
{
	g_autofree char *trimmed = g_strstrip(g_strdup(link));
	const char *base = get_base(reading);

	if (!*trimmed || strlen(trimmed) > BOUNDS_HTTP_URL_BYTES)
		return NULL;
	return base ? g_uri_resolve_relative(
	                  base, trimmed, G_URI_FLAGS_PARSE_RELAXED, NULL)
	            : g_steal_pointer(&trimmed);
}

/* The first one that is told stays. */
static void
set_once(char **field, const char *text)
{
	if (!*field && text && *text)
		*field = g_strdup(text);
}

static void
add_some(GPtrArray *texts, const char *text, unsigned most)
{
	if (text && *text && texts->len < most)
		g_ptr_array_add(texts, g_strdup(text));
}

static void
take_link(struct reading *reading, const char **attributes)
{
	const char *rel = get_attribute(attributes, "rel");
	const char *href = get_attribute(attributes, "href");
	const char *title = get_attribute(attributes, "title");
	struct bulletin_entry *entry = reading->entry;

	if (!href || !entry)
		return;
	if (title && strcmp(title, "doi") == 0)
		set_once(&entry->doi, href);
	if (!entry->url && (!rel || !*rel || strcmp(rel, "alternate") == 0))
		entry->url = resolve(reading, href);
}

/* Elements whose attributes tell all. */
static void
take_attributes(struct reading *reading, enum vocabulary vocabulary, const char *local,
    const char **attributes)
{
	if (reading->places[reading->depth - 1] != PLACE_ENTRY)
		return;
	if (vocabulary == VOCABULARY_ATOM && strcmp(local, "link") == 0)
		take_link(reading, attributes);
	else if (vocabulary == VOCABULARY_ATOM && strcmp(local, "category") == 0)
		add_some(reading->entry->categories, get_attribute(attributes, "term"),
		    BOUNDS_PAPER_KEYWORDS);
	else if (vocabulary == VOCABULARY_ARXIV &&
	         strcmp(local, "primary_category") == 0)
		set_once(&reading->entry->primary, get_attribute(attributes, "term"));
}

static enum bulletin_form
form_of(enum vocabulary vocabulary, const char **attributes)
{
	const char *type = get_attribute(attributes, "type");

	if (vocabulary != VOCABULARY_ATOM)
		return BULLETIN_MAYBE_HTML;
	/* xhtml is of elements: their text is plain. */
	return type && (strcmp(type, "html") == 0 || strcmp(type, "text/html") == 0)
	           ? BULLETIN_HTML
	           : BULLETIN_PLAIN;
}

static void
begin_text(struct reading *reading, enum vocabulary vocabulary, const char *local,
    const char **attributes)
{
	enum place place = reading->places[reading->depth - 1];
	const char *permalink = get_attribute(attributes, "isPermaLink");

	reading->meaning = bulletin_words_find_meaning(place, vocabulary, local);
	if (reading->meaning == MEANING_NONE)
		return;
	reading->text_depth = reading->depth;
	reading->form = form_of(vocabulary, attributes);
	reading->is_permalink = vocabulary == VOCABULARY_RSS &&
	                        (!permalink || strcmp(permalink, "false") != 0);
	g_string_truncate(reading->text, 0);
}

static void
begin_entry(struct reading *reading, const char **attributes)
{
	if (reading->bulletin->entries->len == BOUNDS_PAPERS_BATCH) {
		stop(reading, PB_ERROR_LIMIT, "the feed has more than %d papers",
		    BOUNDS_PAPERS_BATCH);
		return;
	}
	reading->entry = entry_new();
	reading->is_summary_told = false;
	g_ptr_array_add(reading->bulletin->entries, reading->entry);
	set_once(&reading->entry->guid,
	    get_attribute(attributes, BULLETIN_WORDS_RDF " about"));
}

static enum place
place_of(struct reading *reading, enum vocabulary vocabulary, const char *local,
    const char **attributes)
{
	enum place parent =
	    reading->depth > 1 ? reading->places[reading->depth - 1] : PLACE_ELSEWHERE;
	bool is_own = vocabulary == VOCABULARY_RSS || vocabulary == VOCABULARY_ATOM;

	if (!is_own)
		return PLACE_ELSEWHERE;
	if (reading->depth <= 2 &&
	    (strcmp(local, "channel") == 0 || strcmp(local, "feed") == 0))
		return PLACE_CHANNEL;
	if (!reading->entry && reading->depth <= 3 &&
	    (strcmp(local, "item") == 0 || strcmp(local, "entry") == 0)) {
		begin_entry(reading, attributes);
		return PLACE_ENTRY;
	}
	if (parent == PLACE_ENTRY && vocabulary == VOCABULARY_ATOM &&
	    strcmp(local, "author") == 0)
		return PLACE_AUTHOR;
	if (parent == PLACE_CHANNEL && strcmp(local, "skipDays") == 0)
		return PLACE_SKIP_DAYS;
	return PLACE_ELSEWHERE;
}

/* Inside a text: what a browser would begin a line for is apart. */
static bool
is_block(const char *local)
{
	static const char *const blocks[] = {"p", "div", "br", "li", "ul", "ol", "tr",
	    "td", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre"};

	for (size_t i = 0; i < G_N_ELEMENTS(blocks); i++)
		if (strcmp(local, blocks[i]) == 0)
			return true;
	return false;
}

static void
check_root(struct reading *reading, enum vocabulary vocabulary, const char *local)
{
	g_autofree char *shown = NULL;

	if ((vocabulary == VOCABULARY_RSS && strcmp(local, "rss") == 0) ||
	    (vocabulary == VOCABULARY_RDF && strcmp(local, "RDF") == 0) ||
	    (vocabulary == VOCABULARY_ATOM && strcmp(local, "feed") == 0))
		return;
	shown = text_quote(local, 40);
	stop(
	    reading, PB_ERROR_INPUT, "it is no feed: its first element is <%s>", shown);
}

static void XMLCALL
start_element(void *user, const char *name, const char **attributes)
{
	struct reading *reading = user;
	const char *local, *base;
	enum vocabulary vocabulary = bulletin_words_find_vocabulary(name, &local);

	if (reading->error)
		return;
	if (reading->depth == BOUNDS_XML_DEPTH) {
		stop(reading, PB_ERROR_LIMIT, "elements are nested more than %d deep",
		    BOUNDS_XML_DEPTH);
		return;
	}
	reading->depth++;
	if (reading->depth == 1)
		check_root(reading, vocabulary, local);
	base = get_attribute(attributes, XML_BASE);
	if (base) {
		/* Its own base is what is around it. */
		reading->bases[reading->depth] = NULL;
		reading->bases[reading->depth] = resolve(reading, base);
	}
	reading->places[reading->depth] = PLACE_ELSEWHERE;
	if (reading->text_depth) {
		if (is_block(local))
			g_string_append_c(reading->text, '\n');
		return;
	}
	reading->places[reading->depth] =
	    place_of(reading, vocabulary, local, attributes);
	if (reading->depth > 1 && reading->places[reading->depth] == PLACE_ELSEWHERE) {
		take_attributes(reading, vocabulary, local, attributes);
		begin_text(reading, vocabulary, local, attributes);
	}
}

/* RSS's author is "name@example.org (A. Name)", or just a name. */
static void
add_author(struct bulletin_entry *entry, const char *text)
{
	const char *open = strchr(text, '('), *close = open ? strrchr(text, ')') : NULL;
	g_autofree char *inside = NULL;

	if (strchr(text, '@') && open && close > open + 1) {
		inside = g_strndup(open + 1, (gsize)(close - open - 1));
		text = inside;
	}
	add_some(entry->authors, text, BOUNDS_PAPER_AUTHORS);
}

static void
add_creator(struct bulletin_entry *entry, const char *text)
{
	g_autofree char *before = g_steal_pointer(&entry->creator);

	add_author(entry, text);
	if (before && strlen(before) > BOUNDS_XML_TEXT_BYTES)
		entry->creator = g_steal_pointer(&before);
	else
		entry->creator =
		    before ? g_strconcat(before, ", ", text, NULL) : g_strdup(text);
}

static void
take_text(struct reading *reading, bool is_content)
{
	struct bulletin_entry *entry = reading->entry;

	/* A summary is what it says; the content is better than nothing. */
	if (entry->summary && (is_content || reading->is_summary_told))
		return;
	g_free(entry->summary);
	entry->summary = g_strdup(reading->text->str);
	entry->summary_form = reading->form;
	reading->is_summary_told = !is_content;
}

static void
set_time(int64_t *field, const char *text, bool is_first)
{
	int64_t at;

	if ((!is_first || *field < 0) && bulletin_date_parse(text, &at, NULL))
		*field = at;
}

static void
end_entry_text(struct reading *reading, const char *text)
{
	struct bulletin_entry *entry = reading->entry;
	g_autofree char *line = g_strstrip(g_strdup(text));

	switch (reading->meaning) {
	case MEANING_GUID:
		g_clear_pointer(&entry->guid, g_free);
		set_once(&entry->guid, line);
		if (!entry->url && reading->is_permalink &&
		    (g_str_has_prefix(line, "http://") ||
		        g_str_has_prefix(line, "https://")))
			entry->url = g_strdup(line);
		break;
	case MEANING_LINK:
		g_free(entry->url);
		entry->url = resolve(reading, line);
		break;
	case MEANING_TITLE:
		if (entry->title)
			break;
		set_once(&entry->title, line);
		entry->title_form = reading->form;
		break;
	case MEANING_SUMMARY:
	case MEANING_CONTENT:
		if (*line)
			take_text(reading, reading->meaning == MEANING_CONTENT);
		break;
	case MEANING_AUTHOR:
		add_author(entry, line);
		break;
	case MEANING_CREATOR:
		add_creator(entry, line);
		break;
	case MEANING_CATEGORY:
		add_some(entry->categories, line, BOUNDS_PAPER_KEYWORDS);
		break;
	case MEANING_ANNOUNCEMENT:
		set_once(&entry->announcement, line);
		break;
	case MEANING_COMMENT:
		set_once(&entry->comment, line);
		break;
	case MEANING_JOURNAL:
		set_once(&entry->journal, line);
		break;
	case MEANING_IDENTIFIER:
		if (!g_str_has_prefix(line, "10.") && !strstr(line, "doi"))
			break;
		/* fall through */
	case MEANING_DOI:
		set_once(&entry->doi, line);
		break;
	case MEANING_PUBLISHED:
		set_time(&entry->published_at, line, false);
		break;
	case MEANING_DATE:
		set_time(&entry->published_at, line, true);
		break;
	case MEANING_UPDATED:
		set_time(&entry->updated_at, line, false);
		break;
	case MEANING_NONE:
	case MEANING_BUILT:
	case MEANING_SKIP_DAY:
	case MEANING_TOTAL:
		break;
	}
}

static unsigned
bit_of_day(const char *name)
{
	static const char *const days[] = {
	    "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

	for (unsigned i = 0; i < G_N_ELEMENTS(days); i++)
		if (g_ascii_strncasecmp(name, days[i], 3) == 0)
			return 1U << i;
	return 0;
}

static void
end_channel_text(struct reading *reading, const char *text)
{
	struct bulletin *bulletin = reading->bulletin;
	g_autofree char *line = g_strstrip(g_strdup(text));
	char day[11];
	int64_t at;

	switch (reading->meaning) {
	case MEANING_TITLE:
		set_once(&bulletin->title, line);
		break;
	case MEANING_PUBLISHED:
	case MEANING_DATE:
	case MEANING_UPDATED:
		if (bulletin_date_parse(line, &at, day))
			g_strlcpy(bulletin->day, day, sizeof(bulletin->day));
		if (reading->meaning == MEANING_UPDATED)
			set_time(&bulletin->built_at, line, true);
		break;
	case MEANING_BUILT:
		set_time(&bulletin->built_at, line, false);
		break;
	case MEANING_SKIP_DAY:
		bulletin->skip_days |= bit_of_day(line);
		break;
	case MEANING_TOTAL:
		bulletin->total = g_ascii_strtoll(line, NULL, 10);
		break;
	case MEANING_NONE:
	case MEANING_GUID:
	case MEANING_LINK:
	case MEANING_SUMMARY:
	case MEANING_CONTENT:
	case MEANING_AUTHOR:
	case MEANING_CREATOR:
	case MEANING_CATEGORY:
	case MEANING_ANNOUNCEMENT:
	case MEANING_COMMENT:
	case MEANING_JOURNAL:
	case MEANING_DOI:
	case MEANING_IDENTIFIER:
		break;
	}
}

/* What was cut may have been cut within a character. */
static void
end_at_character(GString *text)
{
	const char *end;

	if (!g_utf8_validate(text->str, (gssize)text->len, &end))
		g_string_truncate(text, (gsize)(end - text->str));
}

static void XMLCALL
end_element(void *user, const char *name)
{
	struct reading *reading = user;
	const char *local;

	bulletin_words_find_vocabulary(name, &local);
	if (reading->error)
		return;
	if (reading->text_depth == reading->depth) {
		end_at_character(reading->text);
		if (reading->entry)
			end_entry_text(reading, reading->text->str);
		else
			end_channel_text(reading, reading->text->str);
		reading->text_depth = 0;
	} else if (reading->text_depth && is_block(local)) {
		g_string_append_c(reading->text, '\n');
	}
	if (reading->places[reading->depth] == PLACE_ENTRY)
		reading->entry = NULL;
	g_clear_pointer(&reading->bases[reading->depth], g_free);
	reading->depth--;
}

static void XMLCALL
take_characters(void *user, const char *text, int length)
{
	struct reading *reading = user;
	size_t room = BOUNDS_XML_TEXT_BYTES -
	              MIN(reading->text->len, (size_t)BOUNDS_XML_TEXT_BYTES);

	if (reading->text_depth && !reading->error)
		g_string_append_len(
		    reading->text, text, (gssize)MIN((size_t)length, room));
}

static void XMLCALL
refuse_doctype(void *user, const char *name, const char *system, const char *public,
    int has_subset)
{
	(void)name, (void)system, (void)public, (void)has_subset;
	stop(user, PB_ERROR_INPUT, "it has a DOCTYPE: that is no feed's");
}

/*
 * The encoding that the declaration names, when expat does not know it and GLib
 * may: those that keep ASCII as it is, so that the declaration could be read.
 */
static char *
find_charset(const char *text, size_t length)
{
	static const char *const known[] = {"iso-8859-", "windows-125", "cp125",
	    "koi8-", "gb", "big5", "shift_jis", "euc-", "macintosh", "tis-620"};
	size_t head = MIN(length, 200);
	const char *end = g_strstr_len(text, (gssize)head, "?>");
	const char *at = end && length > 5 && memcmp(text, "<?xml", 5) == 0
	                     ? g_strstr_len(text, end - text, "encoding")
	                     : NULL;
	char name[BOUNDS_XML_CHARSET_BYTES + 1];
	size_t size = 0;

	if (!at)
		return NULL;
	at += strlen("encoding");
	at += strspn(at, " \t\r\n=");
	if (*at != '"' && *at != '\'')
		return NULL;
	for (at++; size < BOUNDS_XML_CHARSET_BYTES &&
	           (g_ascii_isalnum(*at) || (*at && strchr("-_", *at)));
	     at++)
		name[size++] = g_ascii_tolower(*at);
	name[size] = '\0';
	/* This one is expat's own. */
	if (strcmp(name, "iso-8859-1") == 0)
		return NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
		if (g_str_has_prefix(name, known[i]))
			return g_strdup(name);
	return NULL;
}

static void
set_handlers(struct reading *reading)
{
	XML_SetUserData(reading->parser, reading);
	XML_SetElementHandler(reading->parser, start_element, end_element);
	XML_SetCharacterDataHandler(reading->parser, take_characters);
	XML_SetStartDoctypeDeclHandler(reading->parser, refuse_doctype);
	XML_SetParamEntityParsing(reading->parser, XML_PARAM_ENTITY_PARSING_NEVER);
}

static void
run(struct reading *reading, const char *text, size_t length)
{
	enum XML_Status status;

	set_handlers(reading);
	status = XML_Parse(reading->parser, text, (int)length, XML_TRUE);
	if (status == XML_STATUS_OK || reading->error)
		return;
	g_set_error(&reading->error, PB_ERROR, PB_ERROR_INPUT,
	    "line %lu, column %lu: %s", XML_GetCurrentLineNumber(reading->parser),
	    XML_GetCurrentColumnNumber(reading->parser) + 1,
	    XML_ErrorString(XML_GetErrorCode(reading->parser)));
}

struct bulletin *
bulletin_parse(GBytes *xml, const char *base, GError **error)
{
	size_t length;
	const char *text = g_bytes_get_data(xml, &length);
	g_autofree char *charset = length ? find_charset(text, length) : NULL;
	gsize size = 0;
	g_autofree char *converted = NULL;
	struct reading reading = {.text = g_string_new(NULL)};

	if (length > G_MAXINT / 4) {
		g_string_free(reading.text, TRUE);
		g_set_error(error, PB_ERROR, PB_ERROR_LIMIT, "the feed is too large");
		return NULL;
	}
	if (charset)
		converted = g_convert_with_fallback(text, (gssize)length, "UTF-8",
		    charset, "\xef\xbf\xbd", NULL, &size, NULL);
	/* What does not convert is for expat to refuse, with its place. */
	reading.parser = XML_ParserCreateNS(converted ? "UTF-8" : NULL, ' ');
	reading.bulletin = g_new0(struct bulletin, 1);
	reading.bulletin->built_at = reading.bulletin->total = -1;
	reading.bulletin->entries = g_ptr_array_new_with_free_func(entry_free);
	reading.bases[0] = g_strdup(base);
	run(&reading,
	    converted ? converted
	    : text    ? text
	              : "",
	    converted ? size : length);
	XML_ParserFree(reading.parser);
	for (int i = 0; i <= BOUNDS_XML_DEPTH; i++)
		g_free(reading.bases[i]);
	g_string_free(reading.text, TRUE);
	if (!reading.error)
		return reading.bulletin;
	g_propagate_error(error, reading.error);
	bulletin_free(reading.bulletin);
	return NULL;
}

/* Whether a text of RSS was written as HTML: it has an end tag, or an entity. */
static bool
is_html(const char *text)
{
	const char *amp = strchr(text, '&');

	return strstr(text, "</") || strstr(text, "<br") || strstr(text, "/>") ||
	       strstr(text, "<p>") || (amp && strchr(amp, ';'));
}

char *
bulletin_format_line(const char *text, enum bulletin_form form, size_t max_bytes)
{
	g_autofree char *plain = NULL;
	g_autofree char *line = NULL;

	if (!text)
		return NULL;
	if (form == BULLETIN_HTML || (form == BULLETIN_MAYBE_HTML && is_html(text)))
		plain = html_format_text(text, strlen(text));
	line = text_normalize(
	    plain ? plain : text, strlen(plain ? plain : text), max_bytes);
	return *line ? g_steal_pointer(&line) : NULL;
}
