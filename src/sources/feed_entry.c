/*
 * feed_entry.c - what the texts of a feed come to in its entries.
 */
#include "sources/feed_entry.h"

#include <string.h>

#include "base/bounds.h"
#include "base/html.h"
#include "base/text.h"
#include "sources/feed_date.h"

void
feed_entry_free_entry(void *data)
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
feed_entry_new_entry(void)
{
	struct feed_xml_entry *entry = g_new0(struct feed_xml_entry, 1);

	entry->authors = g_ptr_array_new_with_free_func(g_free);
	entry->categories = g_ptr_array_new_with_free_func(g_free);
	entry->published_at = entry->updated_at = -1;
	return entry;
}

/* Whether a link names its own scheme or host, so that no base applies. */
static bool
is_absolute(const char *link)
{
	return g_str_has_prefix(link, "//") || g_uri_peek_scheme(link);
}

/* As browsers do: controls are dropped, blanks inside are escaped. */
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
 * GLib resolves wrongly, with a critical warning, where the base has no host or the
 * link has an odd one ("//;x"): so it is given web addresses and relative links only.
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
feed_entry_set(char **field, const char *text)
{
	if (!*field && text && *text)
		*field = g_strdup(text);
}

void
feed_entry_add(GPtrArray *texts, const char *text, unsigned most)
{
	if (text && *text && texts->len < most)
		g_ptr_array_add(texts, g_strdup(text));
}

/* RSS's author is "name@example.org (A. Name)", or just a name. */
static void
add_author(struct feed_xml_entry *entry, const char *text)
{
	const char *open = strchr(text, '('), *close = open ? strrchr(text, ')') : NULL;
	g_autofree char *inside = NULL;

	if (strchr(text, '@') && open && close > open + 1) {
		inside = g_strndup(open + 1, (gsize)(close - open - 1));
		text = inside;
	}
	feed_entry_add(entry->authors, text, BOUNDS_PAPER_AUTHORS);
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
take_text(
    struct feed_xml_entry *entry, const struct feed_entry *reported, bool is_content)
{
	/* A summary is what it says; the content is better than nothing. */
	if (entry->summary && (is_content || entry->has_summary))
		return;
	g_free(entry->summary);
	entry->summary = g_strdup(reported->text);
	entry->summary_form = reported->form;
	entry->has_summary = !is_content;
}

static void
take_guid(
    struct feed_xml_entry *entry, const struct feed_entry *reported, const char *line)
{
	g_clear_pointer(&entry->guid, g_free);
	feed_entry_set(&entry->guid, line);
	if (!entry->url && reported->is_permalink &&
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
feed_entry_take_entry(struct feed_xml_entry *entry, const struct feed_entry *reported)
{
	g_autofree char *line = g_strstrip(g_strdup(reported->text));

	switch (reported->meaning) {
	case MEANING_GUID:
		take_guid(entry, reported, line);
		break;
	case MEANING_LINK:
		g_free(entry->url);
		entry->url = feed_entry_resolve(reported->base, line);
		break;
	case MEANING_TITLE:
		if (!entry->title)
			entry->title_form = reported->form;
		feed_entry_set(&entry->title, line);
		break;
	case MEANING_SUMMARY:
	case MEANING_CONTENT:
		if (*line)
			take_text(
			    entry, reported, reported->meaning == MEANING_CONTENT);
		break;
	case MEANING_AUTHOR:
		add_author(entry, line);
		break;
	case MEANING_CREATOR:
		add_creator(entry, line);
		break;
	case MEANING_CATEGORY:
		feed_entry_add(entry->categories, line, BOUNDS_PAPER_KEYWORDS);
		break;
	case MEANING_ANNOUNCEMENT:
		feed_entry_set(&entry->listing_type, line);
		break;
	case MEANING_COMMENT:
		feed_entry_set(&entry->comment, line);
		break;
	case MEANING_JOURNAL:
		feed_entry_set(&entry->journal, line);
		break;
	case MEANING_IDENTIFIER:
		if (!g_str_has_prefix(line, "10.") && !strstr(line, "doi"))
			break;
		/* fall through */
	case MEANING_DOI:
		feed_entry_set(&entry->doi, line);
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

void
feed_entry_take_channel(struct feed_xml *bulletin, const struct feed_entry *reported)
{
	g_autofree char *line = g_strstrip(g_strdup(reported->text));
	char day[DAY_BYTES];
	int64_t at;

	switch (reported->meaning) {
	case MEANING_TITLE:
		feed_entry_set(&bulletin->title, line);
		break;
	case MEANING_PUBLISHED:
	case MEANING_DATE:
	case MEANING_UPDATED:
		if (feed_date_parse(line, &at, day))
			g_strlcpy(bulletin->day, day, sizeof(bulletin->day));
		if (reported->meaning == MEANING_UPDATED)
			set_time(&bulletin->built_at, line, true);
		break;
	case MEANING_BUILT:
		set_time(&bulletin->built_at, line, false);
		break;
	case MEANING_LINK:
		if (!bulletin->url)
			bulletin->url = feed_entry_resolve(reported->base, line);
		break;
	case MEANING_SKIP_DAY:
		bulletin->skip_days |= bit_of_day(line);
		break;
	case MEANING_TOTAL:
		bulletin->total = g_ascii_strtoll(line, NULL, 10);
		break;
	case MEANING_NONE:
	case MEANING_GUID:
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

/* Whether a text of RSS was written as HTML: it has an end tag, or an entity. */
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
