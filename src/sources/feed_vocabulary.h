/*
 * feed_vocabulary.h - the elements of feeds that tell something.
 */
#ifndef PAPERBOY_SOURCES_FEED_VOCABULARY_H
#define PAPERBOY_SOURCES_FEED_VOCABULARY_H

#define FEED_XML_WORDS_RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

/* Whose words an element's name is of. */
enum vocabulary {
	VOCABULARY_RSS,
	VOCABULARY_ATOM,
	VOCABULARY_DC,
	VOCABULARY_CONTENT,
	VOCABULARY_ARXIV,
	VOCABULARY_PRISM,
	VOCABULARY_SEARCH,
	VOCABULARY_RDF,
	VOCABULARY_OTHER,
};

/* What an open element is to those in it. */
enum place {
	PLACE_ELSEWHERE,
	PLACE_CHANNEL,
	PLACE_ENTRY,
	PLACE_AUTHOR,
	PLACE_SKIP_DAYS,
};

/* What becomes of an element's text. */
enum meaning {
	MEANING_NONE,
	MEANING_GUID,
	MEANING_LINK,
	MEANING_TITLE,
	MEANING_SUMMARY,
	MEANING_CONTENT,
	MEANING_AUTHOR,
	MEANING_CREATOR,
	MEANING_CATEGORY,
	MEANING_ANNOUNCEMENT,
	MEANING_COMMENT,
	MEANING_JOURNAL,
	MEANING_DOI,
	MEANING_IDENTIFIER,
	MEANING_PUBLISHED,
	MEANING_UPDATED,
	MEANING_DATE,
	MEANING_BUILT,
	MEANING_SKIP_DAY,
	MEANING_TOTAL,
};

/**
 * Whose word an element's name is.
 *
 * @param name   "URI name", as expat joins them, or a name alone
 * @param local  set to the name alone
 */
enum vocabulary feed_vocabulary_find_vocabulary(const char *name, const char **local);

/** What becomes of an element's text. @param place  that of the element around it */
enum meaning feed_vocabulary_find_meaning(
    enum place place, enum vocabulary vocabulary, const char *local);

#endif
