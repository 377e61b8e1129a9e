/*
 * entry_view.c - the view of a paper for its templates, and its summary.
 */
#include "render/entry_view.h"

#include <stdint.h>

#include "base/bounds.h"
#include "message/sanitize.h"
#include "model/paper_id.h"
#include "render/mark.h"
#include "render/sentence.h"

/* Between the details about a paper. */
#define DETAIL_SEPARATOR " \xc2\xb7 "

const char *const entry_view_names[] = {"abstract", "details", "filter", "full",
    "is_generated", "is_later", "label", "links", "number", "reasons", "sentence",
    "title", "url", "words", NULL};

enum phrase {
	PHRASE_UNTITLED,
	PHRASE_PDF,
	PHRASE_CODE,
	PHRASE_PROJECT,
	PHRASE_VIDEO,
	PHRASES
};

struct entry_view_context {
	const struct locale_format *format;
	char *phrases[PHRASES];
};

struct entry_view_context *
entry_view_context_new(const struct locale_format *format)
{
	static const char *const names[] = {
	    [PHRASE_UNTITLED] = N_("(untitled)"),
	    [PHRASE_PDF] = N_("PDF"),
	    [PHRASE_CODE] = N_("Code"),
	    [PHRASE_PROJECT] = N_("Project"),
	    [PHRASE_VIDEO] = N_("Video"),
	};
	struct entry_view_context *context = g_new0(struct entry_view_context, 1);

	context->format = format;
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		context->phrases[i] = locale_format_text(format, names[i]);
	return context;
}

void
entry_view_context_free(struct entry_view_context *context)
{
	if (!context)
		return;
	for (size_t i = 0; i < PHRASES; i++)
		g_free(context->phrases[i]);
	g_free(context);
}

/* Put a text whose words may be marked. @param text  or NULL */
static void
put_markable(struct view *map, const char *name, const char *mark, const char *text)
{
	g_autofree char *marked = g_strconcat(mark, text ? text : "", MARK_END, NULL);

	if (text && *text)
		view_put_text(map, name, marked);
}

/* The sentence of the source, else one of the abstract unless that is shown. */
static void
set_sentence(
    struct entry_summary *summary, const struct paper *paper, bool has_abstract)
{
	summary->is_generated = paper->summary != NULL;
	if (paper->summary)
		summary->sentence = sanitize_paper_text(paper->summary, 0);
	else if (!has_abstract)
		summary->sentence = sentence_find_key(paper->abstract);
}

void
entry_summary_init(
    struct entry_summary *summary, const struct paper *paper, enum entry_depth depth)
{
	*summary = (struct entry_summary){0};
	switch (depth) {
	case ENTRY_DEPTH_TITLE:
	case ENTRY_DEPTH_NO_ABSTRACT:
		break;
	case ENTRY_DEPTH_EXCERPT:
		summary->abstract = sentence_format_excerpt(paper->abstract);
		break;
	case ENTRY_DEPTH_BRIEF:
		set_sentence(summary, paper, false);
		break;
	case ENTRY_DEPTH_SUMMARY:
		set_sentence(summary, paper, true);
		summary->abstract = sanitize_paper_text(paper->abstract, 0);
		break;
	case ENTRY_DEPTH_FULL:
		summary->abstract = sanitize_paper_text(paper->abstract, 0);
		break;
	}
}

void
entry_summary_clear(struct entry_summary *summary)
{
	g_free(summary->sentence);
	g_free(summary->abstract);
}

static void
put_summary(struct view *view, const struct paper *paper, enum entry_depth depth)
{
	pb_local(entry_summary) summary = {0};

	entry_summary_init(&summary, paper, depth);
	put_markable(view, "sentence", MARK_BODY, summary.sentence);
	view_put(view, "is_generated", view_new_bool(summary.is_generated));
	put_markable(view, "abstract", MARK_BODY, summary.abstract);
}

static void
add_detail(GString *details, const char *detail)
{
	if (!detail || !*detail)
		return;
	if (details->len)
		g_string_append(details, DETAIL_SEPARATOR);
	g_string_append(details, detail);
}

/* "23 votes (+5 since yesterday)"; NULL without votes */
static char *
format_votes(const struct locale_format *format, const struct digest_entry *entry)
{
	int64_t change = entry->upvotes - entry->upvotes_before;
	g_autofree char *votes = NULL;
	g_autofree char *sign = NULL;

	if (entry->upvotes <= 0)
		return NULL;
	votes =
	    locale_format_count(format, entry->upvotes, PL_("1 vote", "{count} votes"));
	if (entry->upvotes_before == PAPER_UNKNOWN || change == 0)
		return g_steal_pointer(&votes);
	sign = g_strdup_printf(
	    "%s%" G_GINT64_FORMAT, change > 0 ? "+" : "\xe2\x88\x92", ABS(change));
	return catalog_format(format->catalog, format->language,
	    N_("{votes} ({change} since yesterday)"), "votes", votes, "change", sign,
	    NULL);
}

/*
 * Numbers and venue are those stored with the digest: the paper's own may have changed
 * since.  A title has only the votes.
 */
static void
put_details(struct view *view, const struct locale_format *format,
    const struct digest_entry *entry, enum entry_depth depth)
{
	bool is_title = depth == ENTRY_DEPTH_TITLE;
	g_autofree char *authors =
	    is_title ? NULL
	             : locale_format_names(
	                   format, entry->paper->authors, BOUNDS_DIGEST_AUTHORS);
	g_autofree char *venue =
	    is_title ? NULL : sanitize_paper_text(entry->venue, BOUNDS_VENUE_CHARS);
	g_autofree char *votes = format_votes(format, entry);
	g_autoptr(GString) details = g_string_sized_new(128);

	add_detail(details, authors);
	add_detail(details, venue);
	add_detail(details, votes);
	view_put_text(view, "details", details->str);
}

static void
add_link(struct view *links, const char *label, const char *url)
{
	struct view *link;

	if (!sanitize_is_web_url(url))
		return;
	link = view_new_map();
	view_put_text(link, "label", label);
	view_put_text(link, "url", url);
	view_append(links, link);
}

/* "code (1,234 stars)" */
static char *
format_code_label(const struct entry_view_context *context, int64_t stars)
{
	g_autofree char *count = NULL;

	if (stars <= 0)
		return g_strdup(context->phrases[PHRASE_CODE]);
	count =
	    locale_format_count(context->format, stars, PL_("1 star", "{count} stars"));
	return g_strdup_printf("%s (%s)", context->phrases[PHRASE_CODE], count);
}

static void
put_links(struct view *view, const struct entry_view_context *context,
    const struct digest_entry *entry)
{
	const struct paper *paper = entry->paper;
	struct view *links = view_new_list();
	g_autofree char *pdf_url = paper_id_format_arxiv_url(paper->id, "pdf");
	g_autofree char *code =
	    paper->code_url ? format_code_label(context, entry->stars) : NULL;

	add_link(links, context->phrases[PHRASE_PDF], pdf_url);
	add_link(links, code, paper->code_url);
	add_link(links, context->phrases[PHRASE_PROJECT], paper->project_url);
	add_link(links, context->phrases[PHRASE_VIDEO], paper->video_url);
	view_put(view, "links", links);
}

struct view *
entry_view_new(const struct entry_view_context *context,
    const struct digest_entry *entry, enum entry_depth depth)
{
	const struct paper *paper = entry->paper;
	struct view *view = view_new_map();
	g_autofree char *title = sanitize_paper_text(paper->title, 0);

	view_put_text(view, "number", ENTRY_VIEW_NUMBER);
	put_markable(view, "title", MARK_TITLE,
	    *title ? title : context->phrases[PHRASE_UNTITLED]);
	if (sanitize_is_web_url(paper->url))
		view_put_text(view, "url", paper->url);
	put_details(view, context->format, entry, depth);
	/* Only so that the section is not empty: reasons are rendered separately. */
	view_put(view, "reasons", view_new_bool(entry->reasons->len > 0));
	if (depth == ENTRY_DEPTH_TITLE)
		return view;
	view_put(view, "full", view_new_bool(true));
	put_links(view, context, entry);
	put_summary(view, paper, depth);
	return view;
}
