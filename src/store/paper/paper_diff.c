/*
 * paper_diff.c - what an answer tells of a paper that is not known yet.
 */
#include "store/paper/paper_diff.h"

#include <string.h>

static bool
is_new_number(int64_t reported, int64_t stored)
{
	return reported != PAPER_UNKNOWN && reported != stored;
}

static bool
is_new_text(const char *reported, const char *stored)
{
	return reported && g_strcmp0(reported, stored) != 0;
}

static bool
is_new_list(const GPtrArray *reported, const GPtrArray *stored)
{
	if (!reported)
		return false;
	if (!stored || reported->len != stored->len)
		return true;
	for (unsigned i = 0; i < reported->len; i++)
		if (strcmp(reported->pdata[i], stored->pdata[i]) != 0)
			return true;
	return false;
}

/* A field that is told once and then seldom changes. */
static void
note(struct paper_news *news, bool is_new, bool was_known)
{
	news->is_changed |= is_new;
	news->is_anew |= is_new && was_known;
}

void
paper_diff_find_enrichment(const struct paper *reported, const struct paper *stored,
    bool is_settled, struct paper_news *news)
{
	/* With the categories comes that there is no comment, journal or DOI. */
	bool was_reported = stored->categories || is_settled;

	*news = (struct paper_news){0};
	note(news, is_new_list(reported->categories, stored->categories), was_reported);
	note(news, is_new_text(reported->comment, stored->comment), was_reported);
	note(news, is_new_text(reported->journal, stored->journal), was_reported);
	note(news, is_new_text(reported->doi, stored->doi), was_reported);
}

void
paper_diff_find(const struct paper *reported, const struct paper *stored,
    bool is_settled, struct paper_news *news)
{
	paper_diff_find_enrichment(reported, stored, is_settled, news);
	news->is_text = strcmp(reported->title, stored->title) != 0 ||
	                strcmp(reported->abstract, stored->abstract) != 0 ||
	                is_new_list(reported->authors, stored->authors);
	news->are_links = is_new_text(reported->id, stored->id) ||
	                  is_new_text(reported->url, stored->url) ||
	                  is_new_text(reported->code_url, stored->code_url) ||
	                  is_new_text(reported->project_url, stored->project_url) ||
	                  is_new_text(reported->video_url, stored->video_url);
	news->is_changed |= is_new_number(reported->upvotes, stored->upvotes) ||
	                    is_new_number(reported->comments, stored->comments) ||
	                    is_new_number(reported->stars, stored->stars);
	note(news, is_new_text(reported->organization, stored->organization),
	    stored->organization != NULL);
	note(news, is_new_list(reported->keywords, stored->keywords),
	    stored->keywords != NULL);
}
