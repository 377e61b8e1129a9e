/*
 * field.c - table of the fields of a filter.
 */
#include "query/parse/field.h"

#include <glib.h>
#include <string.h>

#include "base/edit_distance.h"

static const char *const links[] = {"code", "project", "video", NULL};
static const char *const listing_types[] = {"new", "cross", "replace", NULL};

/* Fields that services report which know the paper by an identity. */
#define LOOKED_UP(services) \
	.availability = FIELD_AVAILABLE_LOOKED_UP, .lookups = (services)

#define ROW(field_name, field_kind, ...)                                    \
	{                                                                   \
		.name = field_name, .kind = FIELD_##field_kind, __VA_ARGS__ \
	}
static const struct field fields[] = {
    ROW("text", WORDS, .alias = "all", .column = "title abstract",
        .texts = FIELD_IN_TITLE | FIELD_IN_ABSTRACT, .example = "text:mamba"),
    ROW("title", WORDS, .alias = "ti", .column = "title", .texts = FIELD_IN_TITLE,
        .example = "title:mamba"),
    ROW("abstract", WORDS, .alias = "abs", .column = "abstract",
        .texts = FIELD_IN_ABSTRACT, .example = "abstract:mamba"),
    ROW("author", NAME, .alias = "au", .column = "authors", .hit = HIT_FIELD_AUTHOR,
        .example = "author:\"Yann LeCun\""),
    ROW("first", NAME, .column = "authors", .hit = HIT_FIELD_AUTHOR, .is_first = true,
        .example = "first:hinton"),
    ROW("cat", CATEGORY, .column = "categories", LOOKED_UP(PAPER_LOOKUP_ARXIV),
        .hit = HIT_FIELD_CATEGORY, .example = "cat:cs.CL"),
    ROW("primary", CATEGORY, .column = "categories", LOOKED_UP(PAPER_LOOKUP_ARXIV),
        .hit = HIT_FIELD_PRIMARY, .is_first = true, .example = "primary:cs.CL"),
    ROW("source", SOURCE, .hit = HIT_FIELD_SOURCE, .example = "source:hf diffusion"),
    ROW("org", VALUE_WORDS, .column = "organization",
        .availability = FIELD_AVAILABLE_LATE, .hit = HIT_FIELD_ORGANIZATION,
        .example = "org:\"allen institute\""),
    ROW("kw", VALUE_WORDS, .column = "keywords", .availability = FIELD_AVAILABLE_LATE,
        .hit = HIT_FIELD_KEYWORD, .example = "kw:\"reward model\""),
    ROW("comment", VALUE_WORDS, .alias = "co", .column = "comment",
        LOOKED_UP(PAPER_LOOKUP_ARXIV), .hit = HIT_FIELD_COMMENT,
        .example = "comment:neurips"),
    ROW("journal", VALUE_WORDS, .alias = "jr", .column = "journal",
        LOOKED_UP(PAPER_LOOKUP_ALL), .hit = HIT_FIELD_JOURNAL,
        .example = "journal:nature"),
    ROW("mesh", VALUE_WORDS, .column = "mesh", LOOKED_UP(PAPER_LOOKUP_EUROPEPMC),
        .hit = HIT_FIELD_MESH, .example = "mesh:\"alzheimer disease\""),
    ROW("doi", KEYWORD, .column = "doi",
        LOOKED_UP(PAPER_LOOKUP_ARXIV | PAPER_LOOKUP_EUROPEPMC), .hit = HIT_FIELD_DOI,
        .example = "doi:10.1145*"),
    ROW("pmid", KEYWORD, .column = "pmid pmcid", LOOKED_UP(PAPER_LOOKUP_EUROPEPMC),
        .hit = HIT_FIELD_PMID, .example = "pmid:41792208"),
    ROW("id", KEYWORD, .column = "id pmid pmcid", .hit = HIT_FIELD_ID,
        .example = "id:2605.15202"),
    ROW("has", CHOICE, .availability = FIELD_AVAILABLE_LATE, .hit = HIT_FIELD_HAS,
        .choices = links, .example = "diffusion has:code"),
    ROW("upvotes", NUMBER, .availability = FIELD_AVAILABLE_LATE,
        .hit = HIT_FIELD_UPVOTES, .changes = true, .example = "diffusion upvotes:>=10"),
    ROW("comments", NUMBER, .availability = FIELD_AVAILABLE_LATE,
        .hit = HIT_FIELD_COMMENTS, .changes = true,
        .example = "diffusion comments:>=3"),
    ROW("stars", NUMBER, .availability = FIELD_AVAILABLE_LATE, .hit = HIT_FIELD_STARS,
        .changes = true, .example = "diffusion stars:>=100"),
    ROW("authors", NUMBER, .hit = HIT_FIELD_AUTHORS,
        .example = "diffusion authors:<=3"),
    ROW("date", DATE, .hit = HIT_FIELD_DATE, .example = "diffusion date:7d.."),
    ROW("type", CHOICE, .hit = HIT_FIELD_TYPE, .choices = listing_types,
        .example = "diffusion type:new"),
};

/* Names in other catalogues, between blanks, for suggestions. */
static const struct {
	const char *ours, *theirs;
} synonyms[] = {
    {"org", " affiliation institution "},
    {"author", " by from "},
    {"kw", " keyword keywords tag tags topic "},
    {"mesh", " heading "},
    {"upvotes", " likes "},
    {"pmid", " pmc pmcid pubmed "},
    {"date", " published since submitted submitteddate year "},
    {"cat", " subject "},
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
	g_autofree char *word = g_strconcat(" ", typed, " ", NULL);
	unsigned least = G_MAXUINT;

	for (size_t i = 0; i < G_N_ELEMENTS(synonyms); i++)
		if (strstr(synonyms[i].theirs, word))
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
