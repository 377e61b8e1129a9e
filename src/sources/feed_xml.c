/*
 * feed_xml.c - parser for RSS and Atom documents.
 */
#include "sources/feed_xml.h"

#include <expat.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/text.h"
#include "sources/feed_entry.h"

#define XML_BASE "http://www.w3.org/XML/1998/namespace base"

struct parser {
	XML_Parser expat;
	struct feed_xml *feed;
	struct feed_xml_entry *entry; /* the current one, or NULL */
	enum feed_place places[BOUNDS_XML_DEPTH + 1];
	char *bases[BOUNDS_XML_DEPTH + 1]; /* xml:base of each open element, or NULL */
	int depth;
	int text_depth; /* of the element whose text is collected; 0: none */
	enum feed_field field;
	enum feed_xml_form form;
	bool is_permalink;
	GString *text;
	GError *error;
};

void
feed_xml_free(struct feed_xml *feed)
{
	if (!feed)
		return;
	g_free(feed->title);
	g_free(feed->url);
	g_ptr_array_unref(feed->entries);
	g_free(feed);
}

static void G_GNUC_PRINTF(3, 4)
    set_error(struct parser *parser, enum pb_error code, const char *format, ...)
{
	va_list arguments;

	if (parser->error)
		return;
	va_start(arguments, format);
	parser->error = g_error_new_valist(PB_ERROR, (int)code, format, arguments);
	va_end(arguments);
	XML_StopParser(parser->expat, XML_FALSE);
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
get_base(const struct parser *parser)
{
	for (int depth = parser->depth; depth >= 0; depth--)
		if (parser->bases[depth])
			return parser->bases[depth];
	return NULL;
}

static void
read_link(struct parser *parser, const char **attributes)
{
	const char *rel = get_attribute(attributes, "rel");
	const char *href = get_attribute(attributes, "href");
	const char *title = get_attribute(attributes, "title");
	struct feed_xml_entry *entry = parser->entry;
	char **url = entry ? &entry->url : &parser->feed->url;

	if (!href)
		return;
	if (entry && title && strcmp(title, "doi") == 0)
		feed_entry_set_field(&entry->doi, href);
	if (!*url && (!rel || !*rel || strcmp(rel, "alternate") == 0))
		*url = feed_entry_resolve(get_base(parser), href);
}

/* Elements whose information is in attributes. */
static void
read_attributes(struct parser *parser, enum feed_namespace namespace, const char *local,
    const char **attributes)
{
	enum feed_place place = parser->places[parser->depth - 1];

	if (namespace == NS_ATOM && strcmp(local, "link") == 0 &&
	    (place == PLACE_ENTRY || place == PLACE_CHANNEL))
		read_link(parser, attributes);
	if (place != PLACE_ENTRY)
		return;
	if (namespace == NS_ATOM && strcmp(local, "category") == 0)
		feed_entry_add_text(parser->entry->categories,
		    get_attribute(attributes, "term"), BOUNDS_PAPER_KEYWORDS);
	else if (namespace == NS_ARXIV && strcmp(local, "primary_category") == 0)
		feed_entry_set_field(
		    &parser->entry->primary, get_attribute(attributes, "term"));
}

static enum feed_xml_form
get_form(enum feed_namespace namespace, const char **attributes)
{
	const char *type = get_attribute(attributes, "type");

	if (namespace != NS_ATOM)
		return FEED_XML_MAYBE_HTML;
	/* xhtml consists of elements; their text is plain. */
	return type && (strcmp(type, "html") == 0 || strcmp(type, "text/html") == 0)
	           ? FEED_XML_HTML
	           : FEED_XML_PLAIN;
}

static void
start_text(struct parser *parser, enum feed_namespace namespace, const char *local,
    const char **attributes)
{
	enum feed_place place = parser->places[parser->depth - 1];
	const char *permalink = get_attribute(attributes, "isPermaLink");

	parser->field = feed_entry_find_field(place, namespace, local);
	if (parser->field == FIELD_NONE)
		return;
	parser->text_depth = parser->depth;
	parser->form = get_form(namespace, attributes);
	parser->is_permalink =
	    namespace == NS_RSS && (!permalink || strcmp(permalink, "false") != 0);
	g_string_truncate(parser->text, 0);
}

static void
start_entry(struct parser *parser, const char **attributes)
{
	if (parser->feed->entries->len == BOUNDS_PAPERS_BATCH) {
		set_error(parser, PB_ERROR_LIMIT, "the feed has more than %d papers",
		    BOUNDS_PAPERS_BATCH);
		return;
	}
	parser->entry = feed_entry_new();
	g_ptr_array_add(parser->feed->entries, parser->entry);
	feed_entry_set_field(&parser->entry->guid,
	    get_attribute(attributes, FEED_ENTRY_NS_RDF " about"));
}

static enum feed_place
get_place(struct parser *parser, enum feed_namespace namespace, const char *local,
    const char **attributes)
{
	enum feed_place parent =
	    parser->depth > 1 ? parser->places[parser->depth - 1] : PLACE_ELSEWHERE;
	bool is_own = namespace == NS_RSS || namespace == NS_ATOM;

	if (!is_own)
		return PLACE_ELSEWHERE;
	if (parser->depth <= 2 &&
	    (strcmp(local, "channel") == 0 || strcmp(local, "feed") == 0))
		return PLACE_CHANNEL;
	if (!parser->entry && parser->depth <= 3 &&
	    (strcmp(local, "item") == 0 || strcmp(local, "entry") == 0)) {
		start_entry(parser, attributes);
		return PLACE_ENTRY;
	}
	if (parent == PLACE_ENTRY && namespace == NS_ATOM &&
	    strcmp(local, "author") == 0)
		return PLACE_AUTHOR;
	return PLACE_ELSEWHERE;
}

/* Inside text, elements that browsers put on a new line separate words. */
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
check_root(struct parser *parser, enum feed_namespace namespace, const char *local)
{
	g_autofree char *shown = NULL;

	if ((namespace == NS_RSS && strcmp(local, "rss") == 0) ||
	    (namespace == NS_RDF && strcmp(local, "RDF") == 0) ||
	    (namespace == NS_ATOM && strcmp(local, "feed") == 0))
		return;
	shown = text_quote(local, 40);
	set_error(parser, PB_ERROR_INPUT, "not a feed: root element is <%s>", shown);
}

static void XMLCALL
start_element(void *user, const char *name, const char **attributes)
{
	struct parser *parser = user;
	const char *local, *base;
	enum feed_namespace namespace = feed_entry_find_namespace(name, &local);

	if (parser->error)
		return;
	if (parser->depth == BOUNDS_XML_DEPTH) {
		set_error(parser, PB_ERROR_LIMIT,
		    "elements are nested more than %d deep", BOUNDS_XML_DEPTH);
		return;
	}
	parser->depth++;
	if (parser->depth == 1)
		check_root(parser, namespace, local);
	base = get_attribute(attributes, XML_BASE);
	if (base) {
		/* Its own base is relative to its parent's. */
		parser->bases[parser->depth] = NULL;
		parser->bases[parser->depth] =
		    feed_entry_resolve(get_base(parser), base);
	}
	parser->places[parser->depth] = PLACE_ELSEWHERE;
	if (parser->text_depth) {
		if (is_block(local))
			g_string_append_c(parser->text, '\n');
		return;
	}
	parser->places[parser->depth] = get_place(parser, namespace, local, attributes);
	if (parser->depth > 1 && parser->places[parser->depth] == PLACE_ELSEWHERE) {
		read_attributes(parser, namespace, local, attributes);
		start_text(parser, namespace, local, attributes);
	}
}

/* The limit may have cut a character. */
static void
trim_to_character(GString *text)
{
	const char *end;

	if (!g_utf8_validate(text->str, (gssize)text->len, &end))
		g_string_truncate(text, (gsize)(end - text->str));
}

static void
end_text(struct parser *parser)
{
	const struct feed_element element = {
	    .text = parser->text->str,
	    .field = parser->field,
	    .form = parser->form,
	    .is_permalink = parser->is_permalink,
	    .base = get_base(parser),
	};

	if (parser->entry)
		feed_entry_add_element(parser->entry, &element);
	else
		feed_entry_add_feed_element(parser->feed, &element);
}

static void XMLCALL
end_element(void *user, const char *name)
{
	struct parser *parser = user;
	const char *local;

	feed_entry_find_namespace(name, &local);
	if (parser->error)
		return;
	if (parser->text_depth == parser->depth) {
		trim_to_character(parser->text);
		end_text(parser);
		parser->text_depth = 0;
	} else if (parser->text_depth && is_block(local)) {
		g_string_append_c(parser->text, '\n');
	}
	if (parser->places[parser->depth] == PLACE_ENTRY)
		parser->entry = NULL;
	g_clear_pointer(&parser->bases[parser->depth], g_free);
	parser->depth--;
}

static void XMLCALL
add_characters(void *user, const char *text, int length)
{
	struct parser *parser = user;
	size_t room = BOUNDS_XML_TEXT_BYTES -
	              MIN(parser->text->len, (size_t)BOUNDS_XML_TEXT_BYTES);

	if (parser->text_depth && !parser->error)
		g_string_append_len(
		    parser->text, text, (gssize)MIN((size_t)length, room));
}

static void XMLCALL
reject_doctype(void *user, const char *name, const char *system, const char *public,
    int has_subset)
{
	(void)name, (void)system, (void)public, (void)has_subset;
	set_error(user, PB_ERROR_INPUT, "not a feed: DOCTYPE is not allowed");
}

static void
set_handlers(struct parser *parser)
{
	XML_SetUserData(parser->expat, parser);
	XML_SetElementHandler(parser->expat, start_element, end_element);
	XML_SetCharacterDataHandler(parser->expat, add_characters);
	XML_SetStartDoctypeDeclHandler(parser->expat, reject_doctype);
	XML_SetParamEntityParsing(parser->expat, XML_PARAM_ENTITY_PARSING_NEVER);
}

static void
run(struct parser *parser, const char *text, size_t length)
{
	enum XML_Status status;

	set_handlers(parser);
	status = XML_Parse(parser->expat, text, (int)length, XML_TRUE);
	if (status == XML_STATUS_OK || parser->error)
		return;
	g_set_error(&parser->error, PB_ERROR, PB_ERROR_INPUT,
	    "line %lu, column %lu: %s", XML_GetCurrentLineNumber(parser->expat),
	    XML_GetCurrentColumnNumber(parser->expat) + 1,
	    XML_ErrorString(XML_GetErrorCode(parser->expat)));
}

/*
 * Find an encoding that GLib can convert and expat cannot.  Only those that contain
 * ASCII are supported, so that the declaration can be read.
 */
static char *
find_charset(const char *text, size_t length)
{
	/* expat reads ISO 8859-1 itself. */
	static const char declaration[] =
	    "^<\\?xml\\s[^>]*encoding[\\s=]*[\"']("
	    "(?:iso-8859-(?!1[\"'])|windows-125|cp125|koi8-|gb|big5|shift_jis|euc-|"
	    "macintosh|tis-620)[a-z0-9_-]*)[^>]*\\?>";
	g_autofree char *head = g_strndup(text, MIN(length, 200));
	g_autoptr(GRegex) regex =
	    g_regex_new(declaration, G_REGEX_CASELESS | G_REGEX_RAW, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;

	return g_regex_match(regex, head, 0, &match) ? g_match_info_fetch(match, 1)
	                                             : NULL;
}

struct feed_xml *
feed_xml_parse(GBytes *xml, const char *base, GError **error)
{
	size_t length;
	const char *text = g_bytes_get_data(xml, &length);
	g_autofree char *charset = length ? find_charset(text, length) : NULL;
	gsize size = 0;
	g_autofree char *converted = NULL;
	struct parser parser = {.text = g_string_new(NULL)};

	if (length > G_MAXINT / 4) {
		g_string_free(parser.text, TRUE);
		pb_fail(error, PB_ERROR_LIMIT, "the feed is too large");
		return NULL;
	}
	if (charset)
		converted = g_convert_with_fallback(text, (gssize)length, "UTF-8",
		    charset, "\xef\xbf\xbd", NULL, &size, NULL);
	/* If conversion fails, expat reports the position. */
	parser.expat = XML_ParserCreateNS(converted ? "UTF-8" : NULL, ' ');
	parser.feed = g_new0(struct feed_xml, 1);
	parser.feed->total = -1;
	parser.feed->entries = g_ptr_array_new_with_free_func(feed_entry_free);
	parser.bases[0] = g_strdup(base);
	run(&parser,
	    converted ? converted
	    : text    ? text
	              : "",
	    converted ? size : length);
	XML_ParserFree(parser.expat);
	for (int i = 0; i <= BOUNDS_XML_DEPTH; i++)
		g_free(parser.bases[i]);
	g_string_free(parser.text, TRUE);
	if (!parser.error)
		return parser.feed;
	g_propagate_error(error, parser.error);
	feed_xml_free(parser.feed);
	return NULL;
}
