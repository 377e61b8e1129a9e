/*
 * feed_xml.c - an RSS or Atom document, read.
 */
#include "sources/feed_xml.h"

#include <expat.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/text.h"
#include "sources/feed_charset.h"
#include "sources/feed_entry.h"
#include "sources/feed_vocabulary.h"

#define XML_BASE "http://www.w3.org/XML/1998/namespace base"

struct reading {
	XML_Parser parser;
	struct feed_xml *bulletin;
	struct feed_xml_entry *entry; /* the open one, or NULL */
	enum place places[BOUNDS_XML_DEPTH + 1];
	char *bases[BOUNDS_XML_DEPTH + 1]; /* owned where one begins, else NULL */
	int depth;
	int text_depth; /* of the element whose text is taken; 0: none */
	enum meaning meaning;
	enum feed_xml_form form;
	bool is_permalink;
	GString *text;
	GError *error;
};

void
feed_xml_free(struct feed_xml *bulletin)
{
	if (!bulletin)
		return;
	g_free(bulletin->title);
	g_free(bulletin->url);
	g_ptr_array_unref(bulletin->entries);
	g_free(bulletin);
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

static void
take_link(struct reading *reading, const char **attributes)
{
	const char *rel = get_attribute(attributes, "rel");
	const char *href = get_attribute(attributes, "href");
	const char *title = get_attribute(attributes, "title");
	struct feed_xml_entry *entry = reading->entry;
	char **url = entry ? &entry->url : &reading->bulletin->url;

	if (!href)
		return;
	if (entry && title && strcmp(title, "doi") == 0)
		feed_entry_set(&entry->doi, href);
	if (!*url && (!rel || !*rel || strcmp(rel, "alternate") == 0))
		*url = feed_entry_resolve(get_base(reading), href);
}

/* Elements whose attributes tell all. */
static void
take_attributes(struct reading *reading, enum vocabulary vocabulary, const char *local,
    const char **attributes)
{
	enum place place = reading->places[reading->depth - 1];

	if (vocabulary == VOCABULARY_ATOM && strcmp(local, "link") == 0 &&
	    (place == PLACE_ENTRY || place == PLACE_CHANNEL))
		take_link(reading, attributes);
	if (place != PLACE_ENTRY)
		return;
	if (vocabulary == VOCABULARY_ATOM && strcmp(local, "category") == 0)
		feed_entry_add(reading->entry->categories,
		    get_attribute(attributes, "term"), BOUNDS_PAPER_KEYWORDS);
	else if (vocabulary == VOCABULARY_ARXIV &&
	         strcmp(local, "primary_category") == 0)
		feed_entry_set(
		    &reading->entry->primary, get_attribute(attributes, "term"));
}

static enum feed_xml_form
form_of(enum vocabulary vocabulary, const char **attributes)
{
	const char *type = get_attribute(attributes, "type");

	if (vocabulary != VOCABULARY_ATOM)
		return FEED_XML_MAYBE_HTML;
	/* xhtml is of elements: their text is plain. */
	return type && (strcmp(type, "html") == 0 || strcmp(type, "text/html") == 0)
	           ? FEED_XML_HTML
	           : FEED_XML_PLAIN;
}

static void
begin_text(struct reading *reading, enum vocabulary vocabulary, const char *local,
    const char **attributes)
{
	enum place place = reading->places[reading->depth - 1];
	const char *permalink = get_attribute(attributes, "isPermaLink");

	reading->meaning = feed_vocabulary_find_meaning(place, vocabulary, local);
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
	reading->entry = feed_entry_new_entry();
	g_ptr_array_add(reading->bulletin->entries, reading->entry);
	feed_entry_set(&reading->entry->guid,
	    get_attribute(attributes, FEED_XML_WORDS_RDF " about"));
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
	enum vocabulary vocabulary = feed_vocabulary_find_vocabulary(name, &local);

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
		reading->bases[reading->depth] =
		    feed_entry_resolve(get_base(reading), base);
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

/* What was cut may have been cut within a character. */
static void
end_at_character(GString *text)
{
	const char *end;

	if (!g_utf8_validate(text->str, (gssize)text->len, &end))
		g_string_truncate(text, (gsize)(end - text->str));
}

static void
end_text(struct reading *reading)
{
	const struct feed_entry reported = {
	    .text = reading->text->str,
	    .meaning = reading->meaning,
	    .form = reading->form,
	    .is_permalink = reading->is_permalink,
	    .base = get_base(reading),
	};

	if (reading->entry)
		feed_entry_take_entry(reading->entry, &reported);
	else
		feed_entry_take_channel(reading->bulletin, &reported);
}

static void XMLCALL
end_element(void *user, const char *name)
{
	struct reading *reading = user;
	const char *local;

	feed_vocabulary_find_vocabulary(name, &local);
	if (reading->error)
		return;
	if (reading->text_depth == reading->depth) {
		end_at_character(reading->text);
		end_text(reading);
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

struct feed_xml *
feed_xml_parse(GBytes *xml, const char *base, GError **error)
{
	size_t length;
	const char *text = g_bytes_get_data(xml, &length);
	g_autofree char *charset = length ? feed_charset_find(text, length) : NULL;
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
	reading.bulletin = g_new0(struct feed_xml, 1);
	reading.bulletin->built_at = reading.bulletin->total = -1;
	reading.bulletin->entries =
	    g_ptr_array_new_with_free_func(feed_entry_free_entry);
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
	feed_xml_free(reading.bulletin);
	return NULL;
}
