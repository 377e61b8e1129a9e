/*
 * feed_xml.c - parser for RSS and Atom documents.
 */
#include "sources/feed_xml.h"

#include <expat.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/html.h"
#include "base/text.h"
#include "sources/feed_date.h"

/* ---- the fields of a feed and its entries ---- */

#define RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

enum feed_namespace {
	NS_RSS,
	NS_ATOM,
	NS_DC,
	NS_CONTENT,
	NS_ARXIV,
	NS_PRISM,
	NS_SEARCH,
	NS_RDF,
	NS_OTHER,
};

/* The role of a parent element. */
enum feed_place {
	PLACE_ELSEWHERE,
	PLACE_CHANNEL,
	PLACE_ENTRY,
	PLACE_AUTHOR,
};

enum feed_field {
	FIELD_NONE,
	FIELD_GUID,
	FIELD_LINK,
	FIELD_TITLE,
	FIELD_SUMMARY,
	FIELD_CONTENT,
	FIELD_AUTHOR,
	FIELD_CREATOR,
	FIELD_CATEGORY,
	FIELD_LISTING_TYPE,
	FIELD_COMMENT,
	FIELD_JOURNAL,
	FIELD_DOI,
	FIELD_IDENTIFIER,
	FIELD_PUBLISHED,
	FIELD_UPDATED,
	FIELD_DATE,
	FIELD_TOTAL,
};

/* An element with text.  Borrowed. */
struct feed_element {
	const char *text;
	enum feed_field field;
	enum feed_xml_form form;
	bool is_permalink; /* an RSS guid that is the page's address */
	const char *base;  /* base of relative links, or NULL */
};

static const struct {
	const char *uri; /* a prefix */
	enum feed_namespace namespace;
} namespaces[] = {
    {"http://purl.org/rss/1.0/modules/content/", NS_CONTENT},
    {"http://purl.org/rss/1.0/modules/", NS_OTHER},
    {"http://purl.org/rss/1.0/", NS_RSS},
    {"http://my.netscape.com/rdf/simple/0.9/", NS_RSS},
    {"http://backend.userland.com/rss", NS_RSS},
    {"http://blogs.law.harvard.edu/tech/rss", NS_RSS},
    {"http://www.w3.org/2005/Atom", NS_ATOM},
    {"http://purl.org/atom/ns#", NS_ATOM},
    {"http://purl.org/dc/", NS_DC},
    {"http://arxiv.org/schemas/atom", NS_ARXIV},
    {"http://prismstandard.org/namespaces/", NS_PRISM},
    {"http://a9.com/-/spec/opensearch/", NS_SEARCH},
    {RDF, NS_RDF},
};

static const struct {
	enum feed_place place;
	enum feed_namespace namespace;
	const char *name;
	enum feed_field field;
} fields[] = {
    {PLACE_ENTRY, NS_RSS, "guid", FIELD_GUID},
    {PLACE_ENTRY, NS_RSS, "link", FIELD_LINK},
    {PLACE_ENTRY, NS_RSS, "title", FIELD_TITLE},
    {PLACE_ENTRY, NS_RSS, "description", FIELD_SUMMARY},
    {PLACE_ENTRY, NS_RSS, "author", FIELD_AUTHOR},
    {PLACE_ENTRY, NS_RSS, "category", FIELD_CATEGORY},
    {PLACE_ENTRY, NS_RSS, "pubDate", FIELD_PUBLISHED},
    {PLACE_ENTRY, NS_CONTENT, "encoded", FIELD_CONTENT},
    {PLACE_ENTRY, NS_DC, "title", FIELD_TITLE},
    {PLACE_ENTRY, NS_DC, "creator", FIELD_CREATOR},
    {PLACE_ENTRY, NS_DC, "subject", FIELD_CATEGORY},
    {PLACE_ENTRY, NS_DC, "description", FIELD_SUMMARY},
    {PLACE_ENTRY, NS_DC, "identifier", FIELD_IDENTIFIER},
    {PLACE_ENTRY, NS_DC, "date", FIELD_DATE},
    {PLACE_ENTRY, NS_DC, "issued", FIELD_PUBLISHED},
    {PLACE_ENTRY, NS_DC, "modified", FIELD_UPDATED},
    {PLACE_ENTRY, NS_PRISM, "doi", FIELD_DOI},
    {PLACE_ENTRY, NS_PRISM, "publicationName", FIELD_JOURNAL},
    {PLACE_ENTRY, NS_PRISM, "publicationDate", FIELD_DATE},
    {PLACE_ENTRY, NS_ATOM, "id", FIELD_GUID},
    {PLACE_ENTRY, NS_ATOM, "title", FIELD_TITLE},
    {PLACE_ENTRY, NS_ATOM, "summary", FIELD_SUMMARY},
    {PLACE_ENTRY, NS_ATOM, "content", FIELD_CONTENT},
    {PLACE_ENTRY, NS_ATOM, "published", FIELD_PUBLISHED},
    {PLACE_ENTRY, NS_ATOM, "issued", FIELD_PUBLISHED},
    {PLACE_ENTRY, NS_ATOM, "updated", FIELD_UPDATED},
    {PLACE_ENTRY, NS_ATOM, "modified", FIELD_UPDATED},
    {PLACE_AUTHOR, NS_ATOM, "name", FIELD_AUTHOR},
    {PLACE_ENTRY, NS_ARXIV, "announce_type", FIELD_LISTING_TYPE},
    {PLACE_ENTRY, NS_ARXIV, "comment", FIELD_COMMENT},
    {PLACE_ENTRY, NS_ARXIV, "journal_ref", FIELD_JOURNAL},
    {PLACE_ENTRY, NS_ARXIV, "journal_reference", FIELD_JOURNAL},
    {PLACE_ENTRY, NS_ARXIV, "doi", FIELD_DOI},
    {PLACE_ENTRY, NS_ARXIV, "DOI", FIELD_DOI},
    {PLACE_CHANNEL, NS_RSS, "title", FIELD_TITLE},
    {PLACE_CHANNEL, NS_RSS, "link", FIELD_LINK},
    {PLACE_CHANNEL, NS_RSS, "pubDate", FIELD_PUBLISHED},
    {PLACE_CHANNEL, NS_DC, "date", FIELD_DATE},
    {PLACE_CHANNEL, NS_ATOM, "title", FIELD_TITLE},
    {PLACE_CHANNEL, NS_ATOM, "updated", FIELD_UPDATED},
    {PLACE_CHANNEL, NS_ATOM, "modified", FIELD_UPDATED},
    {PLACE_CHANNEL, NS_SEARCH, "totalResults", FIELD_TOTAL},
};

/*
 * Find the namespace of an element.
 *
 * @param name   "URI name", as expat joins them, or a name alone
 * @param local  set to the local name
 */
static enum feed_namespace
find_namespace(const char *name, const char **local)
{
	const char *blank = strrchr(name, ' ');

	*local = blank ? blank + 1 : name;
	if (!blank)
		return NS_RSS;
	for (size_t i = 0; i < G_N_ELEMENTS(namespaces); i++)
		if (g_str_has_prefix(name, namespaces[i].uri))
			return namespaces[i].namespace;
	return NS_OTHER;
}

/* Find the field of an element. @param place  of the parent element */
static enum feed_field
find_field(enum feed_place place, enum feed_namespace namespace, const char *local)
{
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
		if (fields[i].place == place && fields[i].namespace == namespace &&
		    strcmp(fields[i].name, local) == 0)
			return fields[i].field;
	return FIELD_NONE;
}

static void
free_entry(void *data)
{
	struct feed_xml_entry *entry = data;

	g_free(entry->guid);
	g_free(entry->url);
	g_free(entry->title);
	g_free(entry->summary);
	g_ptr_array_unref(entry->authors);
	g_free(entry->creator);
	g_ptr_array_unref(entry->categories);
	g_free(entry->primary);
	g_free(entry->listing_type);
	g_free(entry->comment);
	g_free(entry->journal);
	g_free(entry->doi);
	g_free(entry);
}

/* Allocate an empty entry. */
static struct feed_xml_entry *
new_entry(void)
{
	struct feed_xml_entry *entry = g_new0(struct feed_xml_entry, 1);

	entry->authors = g_ptr_array_new_with_free_func(g_free);
	entry->categories = g_ptr_array_new_with_free_func(g_free);
	entry->published_at = entry->updated_at = -1;
	return entry;
}

/* Whether a link has a scheme or host, so that no base applies. */
static bool
is_absolute(const char *link)
{
	return g_str_has_prefix(link, "//") || g_uri_peek_scheme(link);
}

/* As browsers do: drop control characters, escape blanks. */
static char *
clean_link(const char *link)
{
	g_autofree char *stored = g_strdup(link);
	GString *out;
	char *to = stored;

	for (const char *at = stored; *at; at++)
		if (!g_ascii_iscntrl(*at))
			*to++ = *at;
	*to = '\0';
	out = g_string_new(g_strstrip(stored));
	g_string_replace(out, " ", "%20", 0);
	return g_string_free(out, FALSE);
}

/*
 * g_uri_resolve_relative() fails with a critical warning if the base has no host or the
 * link an invalid one ("//;x"), so it gets web addresses and relative links only.
 */
static char *
resolve_link(const char *base, const char *link)
{
	g_autofree char *clean = clean_link(link);
	g_autofree char *web = text_normalize_url(base, BOUNDS_HTTP_URL_BYTES);

	if (!*clean || strlen(clean) > BOUNDS_HTTP_URL_BYTES)
		return NULL;
	if (!web || (is_absolute(clean) && *clean != '/'))
		return g_steal_pointer(&clean);
	if (is_absolute(clean))
		return g_strdup_printf(
		    "%.*s%s", (int)(strchr(web, ':') - web + 1), web, clean);
	return g_uri_resolve_relative(web, clean, G_URI_FLAGS_PARSE_RELAXED, NULL);
}

/* Set a field unless it is set: the first value wins. */
static void
set_field(char **field, const char *text)
{
	if (!*field && text && *text)
		*field = g_strdup(text);
}

/* Append a text unless it is empty or the list is full. */
static void
add_text(GPtrArray *texts, const char *text, unsigned max)
{
	if (text && *text && texts->len < max)
		g_ptr_array_add(texts, g_strdup(text));
}

/* RSS: "name@example.org (A. Name)", or a name. */
static void
add_author(struct feed_xml_entry *entry, const char *text)
{
	const char *open = strchr(text, '('), *close = open ? strrchr(text, ')') : NULL;
	g_autofree char *inside = NULL;

	if (strchr(text, '@') && open && close > open + 1) {
		inside = g_strndup(open + 1, (gsize)(close - open - 1));
		text = inside;
	}
	add_text(entry->authors, text, BOUNDS_PAPER_AUTHORS);
}

static void
add_creator(struct feed_xml_entry *entry, const char *text)
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
set_summary(
    struct feed_xml_entry *entry, const struct feed_element *element, bool is_content)
{
	/* A summary is preferred to the content. */
	if (entry->summary && (is_content || entry->has_summary))
		return;
	g_free(entry->summary);
	entry->summary = g_strdup(element->text);
	entry->summary_form = element->form;
	entry->has_summary = !is_content;
}

static void
set_guid(
    struct feed_xml_entry *entry, const struct feed_element *element, const char *line)
{
	g_clear_pointer(&entry->guid, g_free);
	set_field(&entry->guid, line);
	if (!entry->url && element->is_permalink &&
	    (g_str_has_prefix(line, "http://") || g_str_has_prefix(line, "https://")))
		entry->url = g_strdup(line);
}

static void
set_time(int64_t *field, const char *text, bool is_first)
{
	int64_t at;

	if ((!is_first || *field < 0) && feed_date_parse(text, &at, NULL))
		*field = at;
}

/* Store an element of an entry, or of the feed itself. */
static void
add_entry_element(struct feed_xml_entry *entry, const struct feed_element *element)
{
	g_autofree char *line = g_strstrip(g_strdup(element->text));

	switch (element->field) {
	case FIELD_GUID:
		set_guid(entry, element, line);
		break;
	case FIELD_LINK:
		g_free(entry->url);
		entry->url = resolve_link(element->base, line);
		break;
	case FIELD_TITLE:
		if (!entry->title)
			entry->title_form = element->form;
		set_field(&entry->title, line);
		break;
	case FIELD_SUMMARY:
	case FIELD_CONTENT:
		if (*line)
			set_summary(entry, element, element->field == FIELD_CONTENT);
		break;
	case FIELD_AUTHOR:
		add_author(entry, line);
		break;
	case FIELD_CREATOR:
		add_creator(entry, line);
		break;
	case FIELD_CATEGORY:
		add_text(entry->categories, line, BOUNDS_PAPER_KEYWORDS);
		break;
	case FIELD_LISTING_TYPE:
		set_field(&entry->listing_type, line);
		break;
	case FIELD_COMMENT:
		set_field(&entry->comment, line);
		break;
	case FIELD_JOURNAL:
		set_field(&entry->journal, line);
		break;
	case FIELD_IDENTIFIER:
		if (!g_str_has_prefix(line, "10.") && !strstr(line, "doi"))
			break;
		/* fall through */
	case FIELD_DOI:
		set_field(&entry->doi, line);
		break;
	case FIELD_PUBLISHED:
		set_time(&entry->published_at, line, false);
		break;
	case FIELD_DATE:
		set_time(&entry->published_at, line, true);
		break;
	case FIELD_UPDATED:
		set_time(&entry->updated_at, line, false);
		break;
	case FIELD_NONE:
	case FIELD_TOTAL:
		break;
	}
}

static void
add_feed_element(struct feed_xml *feed, const struct feed_element *element)
{
	g_autofree char *line = g_strstrip(g_strdup(element->text));
	char day[DAY_BYTES];
	int64_t at;

	if (element->field == FIELD_TITLE)
		set_field(&feed->title, line);
	else if (element->field == FIELD_LINK)
		feed->url = feed->url ? feed->url : resolve_link(element->base, line);
	else if (element->field == FIELD_TOTAL)
		feed->total = g_ascii_strtoll(line, NULL, 10);
	else if (feed_date_parse(line, &at, day))
		g_strlcpy(feed->day, day, sizeof(feed->day));
}

/* RSS does not declare HTML: look for tags and entities. */
static bool
is_html(const char *text)
{
	const char *amp = strchr(text, '&');

	return strstr(text, "</") || strstr(text, "<br") || strstr(text, "/>") ||
	       strstr(text, "<p>") || (amp && strchr(amp, ';'));
}

char *
feed_xml_format_line(const char *text, enum feed_xml_form form, size_t max_bytes)
{
	g_autofree char *plain = NULL;
	g_autofree char *line = NULL;

	if (!text)
		return NULL;
	if (form == FEED_XML_HTML || (form == FEED_XML_MAYBE_HTML && is_html(text)))
		plain = html_format_text(text, strlen(text));
	line = text_normalize(
	    plain ? plain : text, strlen(plain ? plain : text), max_bytes);
	return *line ? g_steal_pointer(&line) : NULL;
}

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
		set_field(&entry->doi, href);
	if (!*url && (!rel || !*rel || strcmp(rel, "alternate") == 0))
		*url = resolve_link(get_base(parser), href);
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
		add_text(parser->entry->categories, get_attribute(attributes, "term"),
		    BOUNDS_PAPER_KEYWORDS);
	else if (namespace == NS_ARXIV && strcmp(local, "primary_category") == 0)
		set_field(&parser->entry->primary, get_attribute(attributes, "term"));
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

	parser->field = find_field(place, namespace, local);
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
	parser->entry = new_entry();
	g_ptr_array_add(parser->feed->entries, parser->entry);
	set_field(&parser->entry->guid, get_attribute(attributes, RDF " about"));
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
	enum feed_namespace namespace = find_namespace(name, &local);

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
		parser->bases[parser->depth] = resolve_link(get_base(parser), base);
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
		add_entry_element(parser->entry, &element);
	else
		add_feed_element(parser->feed, &element);
}

static void XMLCALL
end_element(void *user, const char *name)
{
	struct parser *parser = user;
	const char *local;

	find_namespace(name, &local);
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
	parser.feed->entries = g_ptr_array_new_with_free_func(free_entry);
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
