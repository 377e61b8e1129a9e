/*
 * paper_news.c - what an answer tells of a paper that is not known yet.
 */
#include "store/paper_news.h"

#include <string.h>

static bool
is_new_number(int64_t told, int64_t kept)
{
	return told != PAPER_UNKNOWN && told != kept;
}

static bool
is_new_text(const char *told, const char *kept)
{
	return told && g_strcmp0(told, kept) != 0;
}

static bool
is_new_list(const GPtrArray *told, const GPtrArray *kept)
{
	if (!told)
		return false;
	if (!kept || told->len != kept->len)
		return true;
	for (unsigned i = 0; i < told->len; i++)
		if (strcmp(told->pdata[i], kept->pdata[i]) != 0)
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
paper_news_find_enrichment(const struct paper *told, const struct paper *kept,
    bool is_settled, struct paper_news *news)
{
	/* With the categories comes that there is no comment, journal or DOI. */
	bool was_told = kept->categories || is_settled;

	*news = (struct paper_news){0};
	note(news, is_new_list(told->categories, kept->categories), was_told);
	note(news, is_new_text(told->comment, kept->comment), was_told);
	note(news, is_new_text(told->journal, kept->journal), was_told);
	note(news, is_new_text(told->doi, kept->doi), was_told);
}

void
paper_news_find(const struct paper *told, const struct paper *kept, bool is_settled,
    struct paper_news *news)
{
	paper_news_find_enrichment(told, kept, is_settled, news);
	news->is_text = strcmp(told->title, kept->title) != 0 ||
	                strcmp(told->abstract, kept->abstract) != 0 ||
	                is_new_list(told->authors, kept->authors);
	news->are_links = is_new_text(told->id, kept->id) ||
	                  is_new_text(told->url, kept->url) ||
	                  is_new_text(told->code_url, kept->code_url) ||
	                  is_new_text(told->project_url, kept->project_url) ||
	                  is_new_text(told->video_url, kept->video_url);
	news->is_changed |= is_new_number(told->upvotes, kept->upvotes) ||
	                    is_new_number(told->comments, kept->comments) ||
	                    is_new_number(told->stars, kept->stars);
	note(news, is_new_text(told->organization, kept->organization),
	    kept->organization != NULL);
	note(news, is_new_list(told->keywords, kept->keywords), kept->keywords != NULL);
}
