/*
 * paper.c - one paper as paperboy knows it, and its listing by a source.
 */
#include "model/paper.h"

struct paper *
paper_new(void)
{
	struct paper *paper = g_new0(struct paper, 1);

	paper->authors = g_ptr_array_new_with_free_func(g_free);
	paper->published_at = PAPER_UNKNOWN;
	paper->upvotes = PAPER_UNKNOWN;
	paper->comments = PAPER_UNKNOWN;
	paper->stars = PAPER_UNKNOWN;
	return paper;
}

void
paper_free(struct paper *paper)
{
	if (!paper)
		return;
	g_free(paper->id);
	g_free(paper->title);
	g_free(paper->abstract);
	g_ptr_array_unref(paper->authors);
	g_free(paper->url);
	g_free(paper->code_url);
	g_free(paper->project_url);
	g_free(paper->organization);
	g_free(paper);
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
