/*
 * ctl_why.c - the commands that explain a match: why and filter explain.
 */
#include <stdio.h>
#include <string.h>

#include "ctl/ctl.h"
#include "ctl/print.h"
#include "message/sanitize.h"
#include "query/query.h"
#include "service/advice/why.h"
#include "store/paper/paper_history.h"

/* Hits printed for one clause. */
#define HITS_MAX 4

static const char *const field_names[] = {
    [HIT_FIELD_TITLE] = "title",
    [HIT_FIELD_ABSTRACT] = "abstract",
    [HIT_FIELD_AUTHOR] = "author",
    [HIT_FIELD_ORGANIZATION] = "organization",
    [HIT_FIELD_KEYWORD] = "keywords",
    [HIT_FIELD_COMMENT] = "comment",
    [HIT_FIELD_JOURNAL] = "journal",
    [HIT_FIELD_MESH] = "mesh",
    [HIT_FIELD_PRIMARY] = "primary category",
    [HIT_FIELD_CATEGORY] = "categories",
    [HIT_FIELD_SOURCE] = "source",
    [HIT_FIELD_TYPE] = "type",
    [HIT_FIELD_DATE] = "date",
    [HIT_FIELD_ID] = "id",
    [HIT_FIELD_DOI] = "doi",
    [HIT_FIELD_PMID] = "pmid",
    [HIT_FIELD_UPVOTES] = "votes",
    [HIT_FIELD_COMMENTS] = "comments",
    [HIT_FIELD_STARS] = "stars",
    [HIT_FIELD_AUTHORS] = "number of authors",
    [HIT_FIELD_HAS] = "links",
};

/* `Diffusion in the title, diffusion in the abstract (3)` */
static char *
format_hits(const GPtrArray *hits)
{
	GString *text = g_string_new(NULL);
	unsigned count = 0;

	for (unsigned i = 0; i < hits->len; i++) {
		const struct query_hit *hit = hits->pdata[i];
		const struct query_hit *before = i ? hits->pdata[i - 1] : NULL;

		if (before && before->field == hit->field &&
		    strcmp(before->folded, hit->folded) == 0)
			continue;
		if (count++ == HITS_MAX) {
			g_string_append(text, ", ...");
			break;
		}
		g_string_append_printf(text, "%s%s: %s", text->len ? "; " : "",
		    field_names[hit->field], hit->words);
	}
	return g_string_free(text, FALSE);
}

static void
print_steps(const struct why_filter *filter, bool has_paper)
{
	if (!filter->is_readable)
		puts("  not a valid query for this version");
	for (unsigned i = 0; filter->steps && i < filter->steps->len; i++) {
		const struct query_step *step = filter->steps->pdata[i];
		g_autofree char *hits = format_hits(step->hits);
		g_autofree char *weight =
		    step->boost > 1 ? g_strdup_printf("^%u", step->boost) : NULL;
		g_autofree char *line = g_strdup_printf("%*s%s%s",
		    2 + 2 * (int)step->depth, "", step->text, weight ? weight : "");

		fputs(line, stdout);
		if (has_paper) {
			int used = (int)g_utf8_strlen(line, -1);

			printf("%*s%s", MAX(44 - used, 2), "",
			    why_verdict_name(step->truth));
			if (*hits && step->truth == QUERY_TRUE)
				printf("  %s", hits);
		}
		putchar('\n');
	}
}

static json_t *
json_of_steps(const GPtrArray *steps)
{
	json_t *list = json_array();

	for (unsigned i = 0; steps && i < steps->len; i++) {
		const struct query_step *step = steps->pdata[i];
		json_t *hits = json_array();

		for (unsigned j = 0; j < step->hits->len; j++) {
			const struct query_hit *hit = step->hits->pdata[j];

			json_array_append_new(
			    hits, json_pack("{s:s, s:i, s:i, s:i, s:s}", "field",
			              field_names[hit->field], "item", (int)hit->item,
			              "start", (int)hit->start, "end", (int)hit->end,
			              "words", hit->words));
		}
		json_array_append_new(list,
		    json_pack("{s:i, s:s, s:s, s:b, s:o}", "depth", (int)step->depth,
		        "text", step->text, "truth", why_verdict_name(step->truth),
		        "final", (int)step->is_final, "hits", hits));
	}
	return list;
}

static json_t *
json_of_filter(const struct why_filter *filter)
{
	return json_pack("{s:i, s:s, s:s, s:b, s:b, s:s, s:b, s:o, s:o, s:o}", "number",
	    filter->number, "label", filter->label, "canonical", filter->canonical,
	    "block", (int)filter->is_block, "readable", (int)filter->is_readable,
	    "truth", why_verdict_name(filter->truth), "found", (int)filter->is_found,
	    "found_at", print_json_number(filter->found_at), "waits_until",
	    print_json_number(filter->waits_until), "steps",
	    json_of_steps(filter->steps));
}

static json_t *
json_of_why(const struct why *why)
{
	json_t *listings = json_array(), *filters = json_array();
	json_t *digests = json_array();

	for (unsigned i = 0; i < why->listings->len; i++) {
		const struct paper_history_listing *listing = why->listings->pdata[i];

		json_array_append_new(listings,
		    json_pack("{s:s, s:s, s:s, s:I}", "source", listing->source, "day",
		        listing->day, "type", listing->listing_type, "seen_at",
		        (json_int_t)listing->first_seen_at));
	}
	for (unsigned i = 0; i < why->filters->len; i++)
		json_array_append_new(filters, json_of_filter(why->filters->pdata[i]));
	for (unsigned i = 0; i < why->digests->len; i++) {
		const struct paper_history_digest *digest = why->digests->pdata[i];

		json_array_append_new(digests,
		    json_pack("{s:I, s:I, s:s, s:i, s:o, s:o, s:o}", "id",
		        (json_int_t)digest->id, "created_at",
		        (json_int_t)digest->created_at, "state", digest->state, "shown",
		        (int)digest->shown, "message", print_json_text(digest->message),
		        "ended_at", print_json_number(digest->ended_at), "reply",
		        print_json_text(digest->reply)));
	}
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "id",
	    why->stored->paper->id, "title", why->stored->paper->title, "outcome",
	    why_outcome_name(why->outcome), "sentence", why->sentence, "at",
	    print_json_number(why->at), "listings", listings, "filters", filters,
	    "digests", digests, "raised", print_json_text(why->taste.raised), "lowered",
	    print_json_text(why->taste.lowered));
}

static void
print_listings(const GPtrArray *listings)
{
	for (unsigned i = 0; i < listings->len; i++) {
		const struct paper_history_listing *listing = listings->pdata[i];
		g_autofree char *seen = day_format_minute(listing->first_seen_at);

		printf("%-9s%s on %s as %s, seen at %s\n", i ? "" : "listed",
		    listing->source, listing->day, listing->listing_type, seen);
	}
}

static void
print_filter(const struct why_filter *filter)
{
	g_autofree char *found = day_format_minute(filter->found_at);
	g_autofree char *waits = day_format_minute(filter->waits_until);

	printf("\n%s %d, %s: %s", filter->is_block ? "block" : "filter", filter->number,
	    filter->label, why_verdict_name(filter->truth));
	if (filter->is_found && !filter->is_block)
		printf("; matched at %s%s", found,
		    filter->truth == QUERY_TRUE ? ""
		                                : ", but the paper has changed since");
	if (filter->waits_until >= 0)
		printf("; waits until %s", waits);
	putchar('\n');
	print_steps(filter, true);
}

static void
print_why(const struct why *why)
{
	const struct paper *paper = why->stored->paper;
	g_autofree char *title = sanitize_paper_text(paper->title, 0);

	printf("%s  %s\n%s\n\n%-9s%s\n", paper->id, title, paper->url, "answer",
	    why->sentence);
	print_listings(why->listings);
	if (why->taste.raised && *why->taste.raised)
		printf("%-9sby likes: %s\n", "raised", why->taste.raised);
	if (why->taste.lowered && *why->taste.lowered)
		printf("%-9sby hides: %s\n", "lowered", why->taste.lowered);
	for (unsigned i = 0; i < why->digests->len; i++) {
		const struct paper_history_digest *digest = why->digests->pdata[i];
		g_autofree char *made = day_format_minute(digest->created_at);

		printf("%-9s%" G_GINT64_FORMAT " of %s: %s\n", "digest", digest->id,
		    made, digest->state);
	}
	for (unsigned i = 0; i < why->filters->len; i++)
		print_filter(why->filters->pdata[i]);
}

bool
ctl_run_why(struct ctl *ctl, GError **error)
{
	g_autofree char *id = NULL;
	pb_auto(why) why = NULL;

	id = why_find_id(ctl->store, ctl->argv[2], clock_get_now(&ctl->clock), error);
	if (!id)
		return false;
	why = why_find_outcome(
	    ctl->store, ctl->argv[1], id, clock_get_now(&ctl->clock), error);
	if (!why)
		return false;
	if (ctl->is_json)
		print_json(json_of_why(why));
	else
		print_why(why);
	return true;
}

bool
ctl_run_filter_explain(struct ctl *ctl, GError **error)
{
	bool has_paper;
	pb_local(query_error) query_error = {0};
	g_autoptr(GPtrArray) warnings = NULL;
	g_autofree char *id = NULL;
	pb_auto(stored_paper) stored = NULL;
	pb_auto(why_filter) filter = NULL;
	g_autofree char *shown = NULL;

	has_paper = ctl->argc == 3;
	if (has_paper) {
		id = why_find_id(
		    ctl->store, ctl->argv[2], clock_get_now(&ctl->clock), error);
		stored = id ? papers_load_id(ctl->store, id, error) : NULL;
		if (!stored)
			return false;
	}
	filter = why_explain(ctl->store, ctl->argv[1], stored,
	    clock_get_now(&ctl->clock), &warnings, &query_error, error);
	if (!filter)
		return ctl_print_query_error(ctl->argv[1], &query_error, error);
	if (ctl->is_json) {
		print_json(json_of_filter(filter));
		return true;
	}
	ctl_print_warnings(warnings);
	shown = query_format_accented(
	    filter->canonical, ctl->argv[1], store_get_tokenizer(ctl->store));
	printf("%s\n", shown);
	if (stored) {
		g_autofree char *title = sanitize_paper_text(stored->paper->title, 0);

		printf("%s  %s: %s\n", stored->paper->id, title,
		    why_verdict_name(filter->truth));
	}
	print_steps(filter, has_paper);
	return true;
}
