/*
 * fetchlist.c - print the papers in a stored response of a source, for script tests.
 *
 * fetchlist FILE prints a line for each paper of a feed or a response of arXiv's API,
 * with tabs between the fields: id, listing type, version, day, authors (separated by
 * "|"), categories (by blanks), doi, title, abstract.
 *
 * fetchlist KIND FILE DAY does so for another kind of source, with further fields: url,
 * day of publication, journal, its abbreviations (by "|"), keywords, MeSH headings (by
 * "|").  Notices are left out.
 */
#include <stdio.h>
#include <string.h>

#include "sources/arxiv_listing.h"
#include "sources/biorxiv.h"
#include "sources/crossref.h"
#include "sources/europepmc.h"

static char *
join(const GPtrArray *texts, const char *between)
{
	GString *out = g_string_new(NULL);

	for (guint i = 0; texts && i < texts->len; i++)
		g_string_append_printf(
		    out, "%s%s", i ? between : "", (char *)texts->pdata[i]);
	return g_string_free(out, FALSE);
}

static void
print_listing(const struct listing *listing)
{
	const struct paper *paper = listing->paper;
	g_autofree char *authors = join(paper->authors, "|");
	g_autofree char *categories = join(paper->categories, " ");

	printf("%s\t%s\t%u\t%s\t%s\t%s\t%s\t%s\t%s", paper->id,
	    listing_type_name(listing->listing_type), listing->version, listing->day,
	    authors, categories, paper->doi ? paper->doi : "", paper->title,
	    paper->abstract);
}

static void
print_more(const struct paper *paper)
{
	g_autofree char *names = join(paper->journal_names, "|");
	g_autofree char *keywords = join(paper->keywords, "|");
	g_autofree char *mesh = join(paper->mesh, "|");
	char day[DAY_BYTES] = "";

	if (paper->published_at != PAPER_UNKNOWN)
		day_format(paper->published_at, day);
	printf("\t%s\t%s\t%s\t%s\t%s\t%s", paper->url, day,
	    paper->journal ? paper->journal : "", names, keywords, mesh);
}

static GPtrArray *
read_arxiv(const char *path, GError **error)
{
	g_autoptr(GBytes) xml = NULL;
	pb_auto(feed_xml) feed = NULL;
	char *text = NULL;
	gsize size = 0;

	if (!g_file_get_contents(path, &text, &size, error))
		return NULL;
	xml = g_bytes_new_take(text, size);
	feed = feed_xml_parse(xml, NULL, error);
	if (!feed)
		return NULL;
	return feed->total >= 0 ? arxiv_listing_from_api(feed, error)
	                        : arxiv_listing_from_feed(feed, feed->day, error);
}

static GPtrArray *
read_kind(const char *kind, const char *path, const char *day, GError **error)
{
	struct source_options options = {.name = kind,
	    .kind = kind,
	    .url = "",
	    .query = "",
	    .issn = "",
	    .prefix = "",
	    .contact = ""};
	pb_auto(source) source = strcmp(kind, "crossref") == 0 ? crossref_new(&options)
	                         : strcmp(kind, "europepmc") == 0
	                             ? europepmc_new(&options)
	                             : biorxiv_new(&options);
	struct source_answer answer;

	source_answer_init(&answer);
	source_read_day(source, path, day, &answer, error);
	return answer.listings;
}

int
main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) listings = NULL;

	if (argc != 2 && argc != 4)
		return 2;
	listings = argc == 2 ? read_arxiv(argv[1], &error)
	                     : read_kind(argv[1], argv[2], argv[3], &error);
	for (guint i = 0; listings && i < listings->len; i++) {
		const struct listing *listing = listings->pdata[i];

		if (listing->paper->is_notice)
			continue;
		print_listing(listing);
		if (argc == 4)
			print_more(listing->paper);
		printf("\n");
	}
	if (error)
		fprintf(stderr, "%s\n", error->message);
	return error ? 1 : 0;
}
