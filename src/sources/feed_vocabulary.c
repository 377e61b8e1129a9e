/*
 * feed_vocabulary.c - the elements of feeds that tell something.
 */
#include "sources/feed_vocabulary.h"

#include <glib.h>
#include <string.h>

static const struct {
	const char *uri; /* or how it begins */
	enum vocabulary vocabulary;
} vocabularies[] = {
    {"http://purl.org/rss/1.0/modules/content/", VOCABULARY_CONTENT},
    {"http://purl.org/rss/1.0/modules/", VOCABULARY_OTHER},
    {"http://purl.org/rss/1.0/", VOCABULARY_RSS},
    {"http://my.netscape.com/rdf/simple/0.9/", VOCABULARY_RSS},
    {"http://backend.userland.com/rss", VOCABULARY_RSS},
    {"http://blogs.law.harvard.edu/tech/rss", VOCABULARY_RSS},
    {"http://www.w3.org/2005/Atom", VOCABULARY_ATOM},
    {"http://purl.org/atom/ns#", VOCABULARY_ATOM},
    {"http://purl.org/dc/", VOCABULARY_DC},
    {"http://arxiv.org/schemas/atom", VOCABULARY_ARXIV},
    {"http://prismstandard.org/namespaces/", VOCABULARY_PRISM},
    {"http://a9.com/-/spec/opensearch/", VOCABULARY_SEARCH},
    {FEED_XML_WORDS_RDF, VOCABULARY_RDF},
};

static const struct {
	enum place place;
	enum vocabulary vocabulary;
	const char *name;
	enum meaning meaning;
} meanings[] = {
    {PLACE_ENTRY, VOCABULARY_RSS, "guid", MEANING_GUID},
    {PLACE_ENTRY, VOCABULARY_RSS, "link", MEANING_LINK},
    {PLACE_ENTRY, VOCABULARY_RSS, "title", MEANING_TITLE},
    {PLACE_ENTRY, VOCABULARY_RSS, "description", MEANING_SUMMARY},
    {PLACE_ENTRY, VOCABULARY_RSS, "author", MEANING_AUTHOR},
    {PLACE_ENTRY, VOCABULARY_RSS, "category", MEANING_CATEGORY},
    {PLACE_ENTRY, VOCABULARY_RSS, "pubDate", MEANING_PUBLISHED},
    {PLACE_ENTRY, VOCABULARY_CONTENT, "encoded", MEANING_CONTENT},
    {PLACE_ENTRY, VOCABULARY_DC, "title", MEANING_TITLE},
    {PLACE_ENTRY, VOCABULARY_DC, "creator", MEANING_CREATOR},
    {PLACE_ENTRY, VOCABULARY_DC, "subject", MEANING_CATEGORY},
    {PLACE_ENTRY, VOCABULARY_DC, "description", MEANING_SUMMARY},
    {PLACE_ENTRY, VOCABULARY_DC, "identifier", MEANING_IDENTIFIER},
    {PLACE_ENTRY, VOCABULARY_DC, "date", MEANING_DATE},
    {PLACE_ENTRY, VOCABULARY_DC, "issued", MEANING_PUBLISHED},
    {PLACE_ENTRY, VOCABULARY_DC, "modified", MEANING_UPDATED},
    {PLACE_ENTRY, VOCABULARY_PRISM, "doi", MEANING_DOI},
    {PLACE_ENTRY, VOCABULARY_PRISM, "publicationName", MEANING_JOURNAL},
    {PLACE_ENTRY, VOCABULARY_PRISM, "publicationDate", MEANING_DATE},
    {PLACE_ENTRY, VOCABULARY_ATOM, "id", MEANING_GUID},
    {PLACE_ENTRY, VOCABULARY_ATOM, "title", MEANING_TITLE},
    {PLACE_ENTRY, VOCABULARY_ATOM, "summary", MEANING_SUMMARY},
    {PLACE_ENTRY, VOCABULARY_ATOM, "content", MEANING_CONTENT},
    {PLACE_ENTRY, VOCABULARY_ATOM, "published", MEANING_PUBLISHED},
    {PLACE_ENTRY, VOCABULARY_ATOM, "issued", MEANING_PUBLISHED},
    {PLACE_ENTRY, VOCABULARY_ATOM, "updated", MEANING_UPDATED},
    {PLACE_ENTRY, VOCABULARY_ATOM, "modified", MEANING_UPDATED},
    {PLACE_AUTHOR, VOCABULARY_ATOM, "name", MEANING_AUTHOR},
    {PLACE_ENTRY, VOCABULARY_ARXIV, "announce_type", MEANING_ANNOUNCEMENT},
    {PLACE_ENTRY, VOCABULARY_ARXIV, "comment", MEANING_COMMENT},
    {PLACE_ENTRY, VOCABULARY_ARXIV, "journal_ref", MEANING_JOURNAL},
    {PLACE_ENTRY, VOCABULARY_ARXIV, "journal_reference", MEANING_JOURNAL},
    {PLACE_ENTRY, VOCABULARY_ARXIV, "doi", MEANING_DOI},
    {PLACE_ENTRY, VOCABULARY_ARXIV, "DOI", MEANING_DOI},
    {PLACE_CHANNEL, VOCABULARY_RSS, "title", MEANING_TITLE},
    {PLACE_CHANNEL, VOCABULARY_RSS, "link", MEANING_LINK},
    {PLACE_CHANNEL, VOCABULARY_RSS, "pubDate", MEANING_PUBLISHED},
    {PLACE_CHANNEL, VOCABULARY_RSS, "lastBuildDate", MEANING_BUILT},
    {PLACE_CHANNEL, VOCABULARY_DC, "date", MEANING_DATE},
    {PLACE_CHANNEL, VOCABULARY_ATOM, "title", MEANING_TITLE},
    {PLACE_CHANNEL, VOCABULARY_ATOM, "updated", MEANING_UPDATED},
    {PLACE_CHANNEL, VOCABULARY_ATOM, "modified", MEANING_UPDATED},
    {PLACE_CHANNEL, VOCABULARY_SEARCH, "totalResults", MEANING_TOTAL},
    {PLACE_SKIP_DAYS, VOCABULARY_RSS, "day", MEANING_SKIP_DAY},
};

enum vocabulary
feed_vocabulary_find_vocabulary(const char *name, const char **local)
{
	const char *blank = strrchr(name, ' ');

	*local = blank ? blank + 1 : name;
	if (!blank)
		return VOCABULARY_RSS;
	for (size_t i = 0; i < G_N_ELEMENTS(vocabularies); i++)
		if (g_str_has_prefix(name, vocabularies[i].uri))
			return vocabularies[i].vocabulary;
	return VOCABULARY_OTHER;
}

enum meaning
feed_vocabulary_find_meaning(
    enum place place, enum vocabulary vocabulary, const char *local)
{
	for (size_t i = 0; i < G_N_ELEMENTS(meanings); i++)
		if (meanings[i].place == place &&
		    meanings[i].vocabulary == vocabulary &&
		    strcmp(meanings[i].name, local) == 0)
			return meanings[i].meaning;
	return MEANING_NONE;
}
