/*
 * html_tag.h - one tag of HTML, and what mail programs mean by it.
 */
#ifndef PAPERBOY_BASE_HTML_TAG_H
#define PAPERBOY_BASE_HTML_TAG_H

#include <glib.h>
#include <stdbool.h>

#define HTML_TAG_NAME_BYTES 16

/* What an element does to the text in and around it; flags. */
enum html_effect {
	HTML_EFFECT_NONE = 0,
	HTML_EFFECT_BREAK = 1 << 0,     /* begins and ends a line */
	HTML_EFFECT_PARAGRAPH = 1 << 1, /* with an empty line before and after it */
	HTML_EFFECT_DROP = 1 << 2,      /* does not show */
	HTML_EFFECT_QUOTE = 1 << 3,     /* is quoted */
	HTML_EFFECT_REST = 1 << 4,      /* it and all that follows is quoted */
	HTML_EFFECT_PRE = 1 << 5,       /* white space counts */
	HTML_EFFECT_RAW = 1 << 6,       /* no tags in it; does not show */
	HTML_EFFECT_VOID = 1 << 7,      /* has no end tag */
	HTML_EFFECT_LINE = 1 << 8,      /* is a line end itself */
	HTML_EFFECT_CELL = 1 << 9,      /* a blank apart from its neighbour */
	HTML_EFFECT_ITSELF = 1 << 10,   /* ends one of its own name that is open */
};

struct html_tag {
	char name[HTML_TAG_NAME_BYTES]; /* in lower case; longer ones are cut */
	bool is_end;
	unsigned
	    effects; /* of enum html_effect; what the name does and attributes do */
};

/**
 * Parse a tag.
 *
 * @param text  begins with "<" and a letter or "</" and a letter
 * @return how many octets it has.  One that does not end within BOUNDS_HTML_TAG_BYTES
 * takes them all, so that looking for its end stays linear.
 */
size_t html_tag_parse(const char *text, size_t size, struct html_tag *tag);

#endif
