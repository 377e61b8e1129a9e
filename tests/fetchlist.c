/*
 * fetchlist.c - print the papers in a stored response of arXiv, for script tests.
 *
 * fetchlist FILE prints a line for each paper of a feed or a response of the API, with
 * tabs between the fields: id, listing type, version, day, authors (separated by "|"),
 * categories (by blanks), doi, title, abstract.
 */
#include <stdio.h>
#include <string.h>

#include "sources/arxiv_listing.h"

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

	printf("%s\t%s\t%u\t%s\t%s\t%s\t%s\t%s\t%s\n", paper->id,
	    listing_type_name(listing->listing_type), listing->version, listing->day,
	    authors, categories, paper->doi ? paper->doi : "", paper->title,
	    paper->abstract);
}

int
main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) listings = NULL;
	g_autoptr(GBytes) xml = NULL;
	pb_auto(feed_xml) feed = NULL;
	char *text = NULL;
	gsize size = 0;

	if (argc != 2 || !g_file_get_contents(argv[1], &text, &size, &error))
		return 2;
	xml = g_bytes_new_take(text, size);
	feed = feed_xml_parse(xml, NULL, &error);
	if (feed)
		listings = feed->total >= 0
		               ? arxiv_listing_from_api(feed, &error)
		               : arxiv_listing_from_feed(feed, feed->day, &error);
	for (guint i = 0; listings && i < listings->len; i++)
		print_listing(listings->pdata[i]);
	if (error)
		fprintf(stderr, "%s\n", error->message);
	return error ? 1 : 0;
}
