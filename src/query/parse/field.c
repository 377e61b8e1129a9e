/*
 * field.c - table of the fields of a filter.
 */
#include "query/parse/field.h"

#include <glib.h>
#include <string.h>

#include "base/edit_distance.h"

static const char *const links[] = {"code", "project", "video", NULL};
static const char *const listing_types[] = {"new", "cross", "replace", NULL};

static const struct field fields[] = {
    {.name = "text",
        .alias = "all",
        .column = "title abstract",
        .kind = FIELD_WORDS,
        .texts = FIELD_IN_TITLE | FIELD_IN_ABSTRACT,
        .example = "text:mamba"},
    {.name = "title",
        .alias = "ti",
        .column = "title",
        .kind = FIELD_WORDS,
        .texts = FIELD_IN_TITLE,
        .example = "title:mamba"},
    {.name = "abstract",
        .alias = "abs",
        .column = "abstract",
        .kind = FIELD_WORDS,
        .texts = FIELD_IN_ABSTRACT,
        .example = "abstract:mamba"},
    {.name = "author",
        .alias = "au",
        .column = "authors",
        .kind = FIELD_NAME,
        .hit = HIT_FIELD_AUTHOR,
        .example = "author:\"Yann LeCun\""},
    {.name = "first",
        .column = "authors",
        .kind = FIELD_NAME,
        .hit = HIT_FIELD_AUTHOR,
        .is_first = true,
        .example = "first:hinton"},
    {.name = "cat",
        .column = "categories",
        .kind = FIELD_CATEGORY,
        .availability = FIELD_AVAILABLE_ENRICHED,
        .hit = HIT_FIELD_CATEGORY,
        .example = "cat:cs.CL"},
    {.name = "primary",
        .column = "categories",
        .kind = FIELD_CATEGORY,
        .availability = FIELD_AVAILABLE_ENRICHED,
        .hit = HIT_FIELD_PRIMARY,
        .is_first = true,
        .example = "primary:cs.CL"},
    {.name = "source",
        .kind = FIELD_SOURCE,
        .hit = HIT_FIELD_SOURCE,
        .example = "source:hf diffusion"},
    {.name = "org",
        .column = "organization",
        .kind = FIELD_VALUE_WORDS,
        .availability = FIELD_AVAILABLE_LATE,
        .hit = HIT_FIELD_ORGANIZATION,
        .example = "org:\"allen institute\""},
    {.name = "kw",
        .column = "keywords",
        .kind = FIELD_VALUE_WORDS,
        .availability = FIELD_AVAILABLE_LATE,
        .hit = HIT_FIELD_KEYWORD,
        .example = "kw:\"reward model\""},
    {.name = "comment",
        .alias = "co",
        .column = "comment",
        .kind = FIELD_VALUE_WORDS,
        .availability = FIELD_AVAILABLE_ENRICHED,
        .hit = HIT_FIELD_COMMENT,
        .example = "comment:neurips"},
    {.name = "journal",
        .alias = "jr",
        .column = "journal",
        .kind = FIELD_VALUE_WORDS,
        .availability = FIELD_AVAILABLE_ENRICHED,
        .hit = HIT_FIELD_JOURNAL,
        .example = "journal:nature"},
    {.name = "doi",
        .column = "doi",
        .kind = FIELD_KEYWORD,
        .availability = FIELD_AVAILABLE_ENRICHED,
        .hit = HIT_FIELD_DOI,
        .example = "doi:10.1145*"},
    {.name = "id",
        .column = "id",
        .kind = FIELD_KEYWORD,
        .hit = HIT_FIELD_ID,
        .example = "id:2605.15202"},
    {.name = "has",
        .kind = FIELD_CHOICE,
        .availability = FIELD_AVAILABLE_LATE,
        .hit = HIT_FIELD_HAS,
        .choices = links,
        .example = "diffusion has:code"},
    {.name = "upvotes",
        .kind = FIELD_NUMBER,
        .availability = FIELD_AVAILABLE_LATE,
        .hit = HIT_FIELD_UPVOTES,
        .changes = true,
        .example = "diffusion upvotes:>=10"},
    {.name = "comments",
        .kind = FIELD_NUMBER,
        .availability = FIELD_AVAILABLE_LATE,
        .hit = HIT_FIELD_COMMENTS,
        .changes = true,
        .example = "diffusion comments:>=3"},
    {.name = "stars",
        .kind = FIELD_NUMBER,
        .availability = FIELD_AVAILABLE_LATE,
        .hit = HIT_FIELD_STARS,
        .changes = true,
        .example = "diffusion stars:>=100"},
    {.name = "authors",
        .kind = FIELD_NUMBER,
        .hit = HIT_FIELD_AUTHORS,
        .example = "diffusion authors:<=3"},
    {.name = "date",
        .kind = FIELD_DATE,
        .hit = HIT_FIELD_DATE,
        .example = "diffusion date:7d.."},
    {.name = "type",
        .kind = FIELD_CHOICE,
        .hit = HIT_FIELD_TYPE,
        .choices = listing_types,
        .example = "diffusion type:new"},
};

/* Names in other catalogues, for suggestions. */
static const struct {
	const char *theirs;
	const char *ours;
} synonyms[] = {
    {"affiliation", "org"},
    {"by", "author"},
    {"from", "author"},
    {"institution", "org"},
    {"keyword", "kw"},
    {"keywords", "kw"},
    {"likes", "upvotes"},
    {"published", "date"},
    {"since", "date"},
    {"subject", "cat"},
    {"submitted", "date"},
    {"submitteddate", "date"},
    {"tag", "kw"},
    {"tags", "kw"},
    {"topic", "kw"},
    {"year", "date"},
};

static bool
is_name(const char *known, const char *name, size_t len)
{
	return known && strlen(known) == len &&
	       g_ascii_strncasecmp(known, name, len) == 0;
}

const struct field *
field_find(const char *name, size_t len)
{
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
		if (is_name(fields[i].name, name, len) ||
		    is_name(fields[i].alias, name, len))
			return &fields[i];
	return NULL;
}

const struct field *
field_find_nearest(const char *name, size_t len)
{
	const struct field *nearest = &fields[0];
	g_autofree char *typed = g_ascii_strdown(name, (gssize)len);
	unsigned least = G_MAXUINT;

	for (size_t i = 0; i < G_N_ELEMENTS(synonyms); i++)
		if (strcmp(synonyms[i].theirs, typed) == 0)
			return field_find(synonyms[i].ours, strlen(synonyms[i].ours));
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
		const char *const spellings[] = {fields[i].name, fields[i].alias};

		for (size_t j = 0; j < G_N_ELEMENTS(spellings); j++) {
			unsigned distance;

			if (!spellings[j])
				continue;
			distance = edit_distance_measure(typed, spellings[j]);
			if (distance < least) {
				least = distance;
				nearest = &fields[i];
			}
		}
	}
	return nearest;
}

const struct field *
field_get_text(void)
{
	return &fields[0];
}

const struct field *
field_get_category(void)
{
	return field_find("cat", 3);
}

const struct field *
field_get(size_t i)
{
	return i < G_N_ELEMENTS(fields) ? &fields[i] : NULL;
}
