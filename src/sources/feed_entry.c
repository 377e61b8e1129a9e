/*
 * feed_entry.c - the fields of a feed and its entries.
 */
#include "sources/feed_entry.h"

#include <string.h>

#include "base/bounds.h"
#include "base/html.h"
#include "base/text.h"
#include "sources/feed_date.h"

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
    {FEED_ENTRY_NS_RDF, NS_RDF},
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

enum feed_namespace
feed_entry_find_namespace(const char *name, const char **local)
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

enum feed_field
feed_entry_find_field(
    enum feed_place place, enum feed_namespace namespace, const char *local)
{
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
		if (fields[i].place == place && fields[i].namespace == namespace &&
		    strcmp(fields[i].name, local) == 0)
			return fields[i].field;
	return FIELD_NONE;
}

void
feed_entry_free(void *data)
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

struct feed_xml_entry *
feed_entry_new(void)
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
char *
feed_entry_resolve(const char *base, const char *link)
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

void
feed_entry_set_field(char **field, const char *text)
{
	if (!*field && text && *text)
		*field = g_strdup(text);
}

void
feed_entry_add_text(GPtrArray *texts, const char *text, unsigned max)
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
	feed_entry_add_text(entry->authors, text, BOUNDS_PAPER_AUTHORS);
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
	feed_entry_set_field(&entry->guid, line);
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

void
feed_entry_add_element(struct feed_xml_entry *entry, const struct feed_element *element)
{
	g_autofree char *line = g_strstrip(g_strdup(element->text));

	switch (element->field) {
	case FIELD_GUID:
		set_guid(entry, element, line);
		break;
	case FIELD_LINK:
		g_free(entry->url);
		entry->url = feed_entry_resolve(element->base, line);
		break;
	case FIELD_TITLE:
		if (!entry->title)
			entry->title_form = element->form;
		feed_entry_set_field(&entry->title, line);
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
		feed_entry_add_text(entry->categories, line, BOUNDS_PAPER_KEYWORDS);
		break;
	case FIELD_LISTING_TYPE:
		feed_entry_set_field(&entry->listing_type, line);
		break;
	case FIELD_COMMENT:
		feed_entry_set_field(&entry->comment, line);
		break;
	case FIELD_JOURNAL:
		feed_entry_set_field(&entry->journal, line);
		break;
	case FIELD_IDENTIFIER:
		if (!g_str_has_prefix(line, "10.") && !strstr(line, "doi"))
			break;
		/* fall through */
	case FIELD_DOI:
		feed_entry_set_field(&entry->doi, line);
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

void
feed_entry_add_feed_element(struct feed_xml *feed, const struct feed_element *element)
{
	g_autofree char *line = g_strstrip(g_strdup(element->text));
	char day[DAY_BYTES];
	int64_t at;

	switch (element->field) {
	case FIELD_TITLE:
		feed_entry_set_field(&feed->title, line);
		break;
	case FIELD_PUBLISHED:
	case FIELD_DATE:
	case FIELD_UPDATED:
		if (feed_date_parse(line, &at, day))
			g_strlcpy(feed->day, day, sizeof(feed->day));
		break;
	case FIELD_LINK:
		if (!feed->url)
			feed->url = feed_entry_resolve(element->base, line);
		break;
	case FIELD_TOTAL:
		feed->total = g_ascii_strtoll(line, NULL, 10);
		break;
	case FIELD_NONE:
	case FIELD_GUID:
	case FIELD_SUMMARY:
	case FIELD_CONTENT:
	case FIELD_AUTHOR:
	case FIELD_CREATOR:
	case FIELD_CATEGORY:
	case FIELD_LISTING_TYPE:
	case FIELD_COMMENT:
	case FIELD_JOURNAL:
	case FIELD_DOI:
	case FIELD_IDENTIFIER:
		break;
	}
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
