/*
 * paper.c - a paper's metadata, and its listings by sources.
 */
#include "model/paper.h"

#include <string.h>

#include "model/paper_id.h"

static const char *const type_names[] = {
    [LISTING_NEW] = "new",
    [LISTING_CROSS] = "cross",
    [LISTING_REPLACE] = "replace",
    [LISTING_REPLACE_CROSS] = "replace-cross",
};

static void
clear_listing(void *data)
{
	struct paper_listing *paper_listing = data;

	g_free(paper_listing->source);
}

struct paper *
paper_new(void)
{
	struct paper *paper = g_new0(struct paper, 1);

	paper->authors = g_ptr_array_new_with_free_func(g_free);
	paper->listings = g_array_new(FALSE, FALSE, sizeof(struct paper_listing));
	g_array_set_clear_func(paper->listings, clear_listing);
	paper->published_at = PAPER_UNKNOWN;
	paper->upvotes = PAPER_UNKNOWN;
	paper->comments = PAPER_UNKNOWN;
	paper->stars = PAPER_UNKNOWN;
	return paper;
}

void
paper_free(struct paper *paper)
{
	if (!paper || g_atomic_int_add(&paper->shares, -1) > 0)
		return;
	g_free(paper->id);
	g_free(paper->guid);
	g_free(paper->link);
	g_free(paper->entry_key);
	g_free(paper->title);
	g_free(paper->abstract);
	g_ptr_array_unref(paper->authors);
	g_free(paper->url);
	g_free(paper->code_url);
	g_free(paper->project_url);
	g_free(paper->video_url);
	g_free(paper->summary);
	g_free(paper->organization);
	g_clear_pointer(&paper->keywords, g_ptr_array_unref);
	g_clear_pointer(&paper->categories, g_ptr_array_unref);
	g_free(paper->comment);
	g_free(paper->journal);
	g_clear_pointer(&paper->journal_names, g_ptr_array_unref);
	g_free(paper->doi);
	g_free(paper->pmid);
	g_free(paper->pmcid);
	g_clear_pointer(&paper->mesh, g_ptr_array_unref);
	g_clear_pointer(&paper->records, g_ptr_array_unref);
	g_array_unref(paper->listings);
	g_free(paper);
}

bool
paper_has_journal_name(const struct paper *paper, const char *name)
{
	return paper->journal_names &&
	       g_ptr_array_find_with_equal_func(
	           paper->journal_names, name, g_str_equal, NULL);
}

void
paper_add_journal_name(struct paper *paper, char *name)
{
	g_autofree char *taken = name;

	if (!paper->journal)
		paper->journal = g_steal_pointer(&taken);
	if (!taken || strcmp(taken, paper->journal) == 0 ||
	    paper_has_journal_name(paper, taken))
		return;
	if (!paper->journal_names)
		paper->journal_names = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(paper->journal_names, g_steal_pointer(&taken));
}

bool
paper_is_retracted(const char *title)
{
	const char *at = title;

	while (g_ascii_ispunct(*at) || g_ascii_isspace(*at))
		at++;
	if (g_ascii_strncasecmp(at, "retracted", 9) != 0 &&
	    g_ascii_strncasecmp(at, "withdrawn", 9) != 0)
		return false;
	at += 9;
	if (g_ascii_strncasecmp(at, " article", 8) == 0)
		at += 8;
	return *at == ':' || *at == ']';
}

void
paper_mark_retracted(struct paper *paper)
{
	g_autofree char *title = paper->title;

	paper->title = paper_is_retracted(title)
	                   ? g_steal_pointer(&title)
	                   : g_strconcat("RETRACTED: ", title, NULL);
}

unsigned
paper_find_lookups(const struct paper *paper)
{
	unsigned lookups = 0;

	if (paper_id_is_arxiv(paper->id))
		lookups |= PAPER_LOOKUP_ARXIV;
	/* arXiv's own DOIs are registered elsewhere. */
	if (paper->doi && !paper_id_parse_arxiv(paper->doi, NULL, NULL))
		lookups |= PAPER_LOOKUP_EUROPEPMC | PAPER_LOOKUP_CROSSREF;
	if (paper->pmid || paper->pmcid)
		lookups |= PAPER_LOOKUP_EUROPEPMC;
	return lookups & ~paper->looked_up;
}

struct paper *
paper_share(struct paper *paper)
{
	g_atomic_int_inc(&paper->shares);
	return paper;
}

bool
paper_is_shared(const struct paper *paper)
{
	return g_atomic_int_get(&paper->shares) > 0;
}

void
paper_add_listing(struct paper *paper, const char *source, const char *day,
    enum listing_type listing_type)
{
	struct paper_listing paper_listing = {
	    .source = g_strdup(source), .listing_type = listing_type};

	g_strlcpy(paper_listing.day, day, sizeof(paper_listing.day));
	g_array_append_val(paper->listings, paper_listing);
}

const char *
listing_type_name(enum listing_type listing_type)
{
	return type_names[listing_type];
}

bool
listing_type_parse(const char *name, enum listing_type *listing_type)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(type_names); i++)
		if (strcmp(name, type_names[i]) == 0) {
			*listing_type = (enum listing_type)i;
			return true;
		}
	return false;
}

const char *
paper_find_matching_day(
    const struct paper *paper, bool wants_crosslist, bool wants_updates)
{
	const bool wanted[] = {
	    [LISTING_NEW] = true,
	    [LISTING_CROSS] = wants_crosslist,
	    [LISTING_REPLACE] = wants_updates,
	    [LISTING_REPLACE_CROSS] = wants_crosslist && wants_updates,
	};
	const char *day = NULL;

	for (unsigned i = 0; i < paper->listings->len; i++) {
		const struct paper_listing *paper_listing =
		    &g_array_index(paper->listings, struct paper_listing, i);

		if (wanted[paper_listing->listing_type] &&
		    (!day || strcmp(paper_listing->day, day) > 0))
			day = paper_listing->day;
	}
	return day;
}

bool
paper_matches_preferences(
    const struct paper *paper, bool wants_crosslist, bool wants_updates)
{
	return paper->listings->len == 0 ||
	       paper_find_matching_day(paper, wants_crosslist, wants_updates) != NULL;
}

struct listing *
listing_new(struct paper *paper, const char *day)
{
	struct listing *listing = g_new0(struct listing, 1);

	listing->paper = paper;
	g_strlcpy(listing->day, day, sizeof(listing->day));
	return listing;
}

void
listing_free(struct listing *listing)
{
	if (!listing)
		return;
	paper_free(listing->paper);
	g_free(listing);
}
