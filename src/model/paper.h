/*
 * paper.h - a paper's metadata, and its listings by sources.
 *
 * Text is normalised (base/text.h): one line of valid UTF-8, NFC, TeX accents
 * decoded, white space collapsed, no control characters.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/day.h"

/* A number or time that no source has reported yet. */
#define PAPER_UNKNOWN ((int64_t)-1)

/* Services at which papers are looked up by their identities; bits of a set. */
enum paper_lookup {
	PAPER_LOOKUP_ARXIV = 1 << 0,     /* by arXiv id */
	PAPER_LOOKUP_EUROPEPMC = 1 << 1, /* by DOI, PMID or PMCID */
	PAPER_LOOKUP_CROSSREF = 1 << 2,  /* by DOI */
	/* By arXiv id, and only what becomes of watched papers. */
	PAPER_LOOKUP_HUGGINGFACE = 1 << 3,
};
#define PAPER_LOOKUP_ALL \
	(PAPER_LOOKUP_ARXIV | PAPER_LOOKUP_EUROPEPMC | PAPER_LOOKUP_CROSSREF)

/* Announcement types (arXiv's). */
enum listing_type {
	LISTING_NEW,
	LISTING_CROSS,         /* new, with another primary category */
	LISTING_REPLACE,       /* a new version */
	LISTING_REPLACE_CROSS, /* a new version of a cross-list */
};

/* Source of title and abstract; a higher rank replaces a lower one. */
enum paper_source_rank {
	PAPER_SOURCE_RANK_FEED,
	PAPER_SOURCE_RANK_HF,
	PAPER_SOURCE_RANK_ARXIV
};

/* One listing of a paper: by a source on a day. */
struct paper_listing {
	char *source;        /* "hf" */
	char day[DAY_BYTES]; /* YYYY-MM-DD, UTC */
	enum listing_type listing_type;
	/* Dated on or before the day the paper was first seen, but collected on a later
	 * day. */
	bool is_late;
};

struct paper {
	int shares; /* references besides the first, atomic; immutable if > 0 */
	char *id;   /* canonical (model/paper_id.h); never NULL */
	char *guid; /* "SOURCE:identifier in that source", or NULL */
	/* Keys of a feed entry (model/paper_id.h), or NULL. */
	char *link;      /* "link=..." */
	char *entry_key; /* "post=SOURCE:..." */
	enum paper_source_rank source_rank;
	char *title;          /* never NULL, never empty */
	char *abstract;       /* never NULL; may be empty */
	char *summary;        /* one sentence that the source generated, or NULL */
	GPtrArray *authors;   /* of char *, in order, without hidden ones; never NULL */
	char *url;            /* page for readers: http(s), validated; never NULL */
	int64_t published_at; /* s since the epoch, UTC, or PAPER_UNKNOWN */
	int64_t upvotes;      /* >= 0, or PAPER_UNKNOWN; may decrease */
	int64_t comments;     /* >= 0, or PAPER_UNKNOWN */
	int64_t stars;        /* of the code repository; >= 0, or PAPER_UNKNOWN */
	char *code_url;       /* http(s), validated, or NULL */
	char *project_url;    /* http(s), validated, or NULL */
	char *video_url;      /* http(s), validated, or NULL */
	char *organization;   /* display name, or NULL if not reported */
	GPtrArray *keywords;  /* of char *, as in the source; NULL if not reported */
	GPtrArray *categories; /* of char *, primary first: "cs.CL"; or NULL */
	/* Set of enum paper_lookup that have reported the paper.  Missing values that
	 * no other service can report (query/parse/field.h) are known not to exist. */
	unsigned looked_up;
	char *comment;
	char *journal;
	GPtrArray *journal_names; /* of char *, abbreviations of its name; or NULL */
	char *doi;                /* without https://doi.org/ */
	char *pmid;               /* of PubMed: "41792208" */
	char *pmcid;              /* of PubMed Central: "PMC12938590" */
	GPtrArray *mesh;          /* of char *, Medical Subject Headings; or NULL */
	/* Other records of the same work, as the source states, by any of their names
	 * (paper_id_add_record()); only in what a source returned, and NULL for none.
	 */
	GPtrArray *records;
	bool is_notice;   /* not a paper, but a notice that retracts the records */
	GArray *listings; /* of struct paper_listing, by day; empty until stored */
};

/* A paper as a source listed it on a day. */
struct listing {
	struct paper *paper; /* owned */
	char day[DAY_BYTES]; /* YYYY-MM-DD, UTC, the date of the source's list */
	enum listing_type listing_type;
	unsigned version; /* of the paper, from 1; 0: not reported */
};

/** Allocate a paper with unknown numbers, no authors, and all else NULL. */
struct paper *paper_new(void);
void paper_free(struct paper *paper);

/** Whether a name is an abbreviation of that of its journal. */
bool paper_has_journal_name(const struct paper *paper, const char *name);

/**
 * Add a name of its journal, the full one first; NULL and known ones are left out.
 *
 * @param name  taken
 */
void paper_add_journal_name(struct paper *paper, char *name);

/** Whether a title says that the paper was retracted: "RETRACTED: On robots". */
bool paper_is_retracted(const char *title);

/** Make its title say so. */
void paper_mark_retracted(struct paper *paper);

/**
 * Find the services that know an identity of a paper and have not reported it.
 *
 * @return a set of enum paper_lookup; 0: missing values are known not to exist
 */
unsigned paper_find_lookups(const struct paper *paper);

/**
 * Add a reference to a paper, which is immutable from then on, so that equal pointers
 * mean equal text.  Several threads may have references.
 *
 * @return the paper; each reference needs a paper_free()
 */
struct paper *paper_share(struct paper *paper);

/** Whether others have references to a paper. */
bool paper_is_shared(const struct paper *paper);
PB_DEFINE_AUTO(paper, paper_free);

void paper_add_listing(struct paper *paper, const char *source, const char *day,
    enum listing_type listing_type);

/** "new", "cross", "replace", "replace-cross" */
const char *listing_type_name(enum listing_type listing_type);

/** @return false if there is no type of that name */
bool listing_type_parse(const char *name, enum listing_type *listing_type);

/**
 * Whether a subscriber's preferences admit a paper: one listed as new by any source
 * always, cross-lists and new versions if the subscriber wants them.
 *
 * @param wants_crosslist  the preference "crosslist"
 * @param wants_updates    the preference "updates"
 */
bool paper_matches_preferences(
    const struct paper *paper, bool wants_crosslist, bool wants_updates);

/** Find the last day with such a listing. @return NULL if there is none */
const char *paper_find_matching_day(
    const struct paper *paper, bool wants_crosslist, bool wants_updates);

/** Allocate a listing of type LISTING_NEW. @param paper taken */
struct listing *listing_new(struct paper *paper, const char *day);
void listing_free(struct listing *listing);
PB_DEFINE_AUTO(listing, listing_free);
