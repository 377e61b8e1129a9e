/*
 * test_json_pages.c - bioRxiv, Europe PMC and Crossref: parsing and fetching of pages.
 */
#include <glib/gstdio.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "lib/cases.h"
#include "lib/paperserver.h"
#include "lib/texts.h"
#include "lib/unit.h"
#include "model/paper_id.h"
#include "sources/biorxiv.h"
#include "sources/crossref.h"
#include "sources/europepmc.h"

#define DAY "2026-11-18"

/* A page of each service with one element. */
#define PREPRINTS(elements)                                                   \
	"{\"messages\":[{\"status\":\"ok\",\"count\":30,\"total\":\"200\"}]," \
	"\"collection\":[" elements "]}"
#define PREPRINT(members) \
	"{\"doi\":\"10.1101/2026.11.18.000001\",\"title\":\"T\"," members "}"
#define ARTICLES(elements) "{\"hitCount\":1,\"resultList\":{\"result\":[" elements "]}}"
#define ARTICLE(members)   "{\"source\":\"MED\",\"id\":\"1\",\"title\":\"T.\"" members "}"
#define WORKS(elements)    "{\"message\":{\"items\":[" elements "]}}"
#define WORK(members)      "{\"DOI\":\"10.5555/1\",\"title\":[\"T\"]" members "}"

static const char *const cell_biology[] = {"Cell Biology", NULL};

static struct source_options
make_options(const char *kind, const char *url)
{
	return (struct source_options){
	    .name = kind,
	    .kind = kind,
	    .url = url,
	    .query = "title:\"a & b\"",
	    .issn = "0092-8674",
	    .prefix = "",
	    .contact = "postmaster+papers@example.org",
	};
}

static struct source *
make_source(const struct source_options *options)
{
	if (strcmp(options->kind, "crossref") == 0)
		return crossref_new(options);
	return strcmp(options->kind, "europepmc") == 0 ? europepmc_new(options)
	                                               : biorxiv_new(options);
}

/* Parse the first page. @param page  or NULL */
static GPtrArray *
parse(const char *kind, const char *json, struct json_page *page, GError **error)
{
	struct source_options options = make_options(kind, "");
	g_autoptr(GBytes) bytes = g_bytes_new(json, strlen(json));
	struct json_page own = {.total = -1};
	GPtrArray *listings;

	page = page ? page : &own;
	if (strcmp(kind, "crossref") == 0)
		listings = crossref_parse(bytes, &options, DAY, page, error);
	else if (strcmp(kind, "europepmc") == 0)
		listings = europepmc_parse(bytes, &options, DAY, page, error);
	else
		listings = biorxiv_parse(bytes, &options, DAY, page, error);
	g_free(own.next);
	return listings ? source_merge_listings(listings) : NULL;
}

/* Parse a page with one paper. @return owned by the caller */
static struct listing *
parse_one(const char *kind, const char *json)
{
	g_autoptr(GPtrArray) listings = NO_ERROR(parse(kind, json, NULL, &error));

	g_assert_cmpuint(listings->len, ==, 1);
	return g_ptr_array_steal_index(listings, 0);
}

static bool
fetch(
    const struct source_options *options, struct source_answer *answer, GError **error)
{
	return paperserver_fetch(make_source(options), DAY, NULL, answer, error);
}

TEST(a_preprint_is_read)
{
	pb_auto(listing) listing = parse_one("medrxiv",
	    "{\"messages\":[{\"status\":\"ok\",\"count\":\"1\",\"total\":1}],"
	    "\"collection\":[{\"doi\":\"10.64898/"
	    "2026.11.18.26000001\",\"version\":\"2\","
	    "\"title\":\"Role of {beta}-catenin (p &lt; 0.05)\",\"authors\":"
	    "\"van der Berg, A. B.; L\\u00e9vy, C.; ; The "
	    "Group\",\"date\":\"2026-11-17\","
	    "\"category\":\"Infectious Diseases (except HIV/AIDS)\",\"abstract\":"
	    "\" One.\\n {Delta}G {other}.\",\"published\":\"10.1016/j.x\"}]}");
	const struct paper *paper = listing->paper;

	g_assert_cmpstr(listing->day, ==, DAY);
	g_assert_cmpint(listing->listing_type, ==, LISTING_REPLACE);
	g_assert_cmpuint(listing->version, ==, 2);
	g_assert_cmpstr(paper->id, ==, "doi:10.64898/2026.11.18.26000001");
	g_assert_cmpstr(paper->title, ==, "Role of β-catenin (p < 0.05)");
	g_assert_cmpstr(paper->abstract, ==, "One. ΔG {other}.");
	g_assert_cmpuint(paper->authors->len, ==, 3);
	g_assert_cmpstr(paper->authors->pdata[0], ==, "van der Berg, A. B.");
	g_assert_cmpstr(paper->authors->pdata[2], ==, "The Group");
	g_assert_cmpuint(paper->categories->len, ==, 1);
	g_assert_cmpstr(paper->categories->pdata[0], ==, "infectious-diseases");
	g_assert_cmpstr(paper->url, ==,
	    "https://www.medrxiv.org/content/10.64898/2026.11.18.26000001v2");
	g_assert_cmpint(paper->published_at, ==, 1794873600);
	g_assert_cmpint(paper->source_rank, ==, PAPER_SOURCE_RANK_FEED);
	g_assert_cmpint(paper->looked_up, ==, 0);
}

/* The newest version is kept; with the first one, the paper is new. */
TEST(versions_of_a_preprint_are_one_paper)
{
	static const struct {
		const char *versions[3];
		unsigned version;
		enum listing_type listing_type;
	} rows[] = {
	    {{"1"}, 1, LISTING_NEW},
	    {{"\"3\"", "2"}, 3, LISTING_REPLACE},
	    {{"2", "\"3\"", "2"}, 3, LISTING_REPLACE},
	    {{"1", "2"}, 2, LISTING_NEW},
	    {{"2", "1"}, 2, LISTING_NEW},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GString) json = g_string_new(NULL);
		g_autofree char *page = NULL;
		pb_auto(listing) listing = NULL;

		for (size_t n = 0; n < 3 && rows[i].versions[n]; n++)
			g_string_append_printf(json, "%s" PREPRINT("\"version\":%s"),
			    n ? "," : "", rows[i].versions[n]);
		page = g_strdup_printf(PREPRINTS("%s"), json->str);
		listing = parse_one("biorxiv", page);
		g_assert_cmpuint(listing->version, ==, rows[i].version);
		g_assert_cmpint(listing->listing_type, ==, rows[i].listing_type);
	}
}

TEST(names_of_europe_pmc_become_last_name_and_initials)
{
	CASES_FOREACH(row, "json_pages_names", *name, *want) {
		g_autofree char *list = g_strdup_printf(
		    ARTICLES(ARTICLE(",\"authorString\":\"No X.\",\"authorList\":"
		                     "{\"author\":[{\"fullName\":\"%s\"}]}")),
		    row->name);
		g_autofree char *line = g_strdup_printf(
		    ARTICLES(ARTICLE(",\"authorString\":\"Li B, %s.\"")), row->name);
		pb_auto(listing) one = parse_one("europepmc", list);
		pb_auto(listing) other = parse_one("europepmc", line);

		g_assert_cmpuint(one->paper->authors->len, ==, 1);
		g_assert_cmpstr(one->paper->authors->pdata[0], ==, row->want);
		g_assert_cmpuint(other->paper->authors->len, ==, 2);
		g_assert_cmpstr(other->paper->authors->pdata[1], ==, row->want);
	}
}

/* The preprints of an article and the article of a preprint, as each service says. */
TEST(other_records_of_a_work_are_read)
{
	static const struct {
		const char *kind, *json, *names;
	} rows[] = {
	    {"biorxiv",
	        PREPRINTS(PREPRINT("\"version\":1,\"published\":\"10.1371/J.Pone.1\"")),
	        "doi:10.1371/j.pone.1"},
	    {"biorxiv", PREPRINTS(PREPRINT("\"version\":1,\"published\":\"NA\"")),
	        NULL},
	    {"crossref",
	        WORKS(
	            WORK(",\"relation\":{\"has-preprint\":[{\"id-type\":\"doi\",\"id\":"
	                 "\"10.48550/arXiv.2511.01234v2\"},{\"id\":\"10.1101/2\"}],"
	                 "\"is-preprint-of\":[{\"id\":\"https://doi.org/10.5555/A\"}],"
	                 "\"references\":[{\"id\":\"10.5555/b\"}]}")),
	        "2511.01234|doi:10.1101/2|doi:10.5555/a"},
	    {"crossref",
	        WORKS(WORK(",\"relation\":{\"is-preprint-of\":[{\"id\":\"10.5555/a\"},"
	                   "{\"id\":\"10.5555/b\"}]}")),
	        NULL},
	    {"crossref", WORKS(WORK(",\"relation\":[{\"id\":1}]")), NULL},
	    {"europepmc",
	        ARTICLES(ARTICLE(
	            ",\"commentCorrectionList\":{\"commentCorrection\":[{\"type\":"
	            "\"Preprint in\",\"source\":\"PPR\",\"id\":\"PPR1\"},{\"type\":"
	            "\"Comment in\",\"source\":\"MED\",\"id\":\"2\"},{\"type\":"
	            "\"Preprint of\",\"source\":\"MED\",\"id\":\"a b\"}]}")),
	        "europepmc:PPR/PPR1"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(listing) listing = parse_one(rows[i].kind, rows[i].json);
		g_autofree char *names = listing->paper->records
		                             ? texts_join(listing->paper->records)
		                             : NULL;

		g_assert_cmpstr(names, ==, rows[i].names);
	}
}

/* A notice is not a paper; what it retracts is marked in the store. */
TEST(retractions_are_read)
{
	static const struct {
		const char *kind, *json, *title, *records;
	} rows[] = {
	    {"crossref",
	        WORKS(WORK(
	            ",\"update-to\":[{\"type\":\"retraction\",\"DOI\":\"10.5555/A\"},"
	            "{\"type\":\"correction\",\"DOI\":\"10.5555/B\"}]")),
	        "T", "doi:10.5555/a"},
	    {"crossref",
	        WORKS(WORK(",\"updated-by\":[{\"type\":\"correction\"},{\"type\":"
	                   "\"retraction\",\"DOI\":\"10.5555/c\"}]")),
	        "RETRACTED: T", NULL},
	    {"crossref", WORKS(WORK(",\"updated-by\":[{\"type\":\"erratum\"}]")), "T",
	        NULL},
	    {"europepmc",
	        ARTICLES(ARTICLE(",\"commentCorrectionList\":{\"commentCorrection\":[{"
	                         "\"type\":\"Retraction in\",\"source\":\"MED\"}]}")),
	        "RETRACTED: T", NULL},
	    {"europepmc",
	        ARTICLES(ARTICLE(",\"commentCorrectionList\":{\"commentCorrection\":[{"
	                         "\"type\":\"Retraction of\",\"source\":\"MED\","
	                         "\"id\":\"2\"}]}")),
	        "T", "pmid:2"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(listing) listing = parse_one(rows[i].kind, rows[i].json);
		const struct paper *paper = listing->paper;
		g_autofree char *records =
		    paper->records ? texts_join(paper->records) : NULL;

		g_assert_cmpstr(paper->title, ==, rows[i].title);
		g_assert_cmpstr(records, ==, rows[i].records);
		g_assert_true(paper->is_notice == (records != NULL));
	}
}

TEST(only_some_records_of_a_work_are_read)
{
	pb_auto(paper) paper = paper_new();

	for (int i = 0; i <= BOUNDS_PAPER_RECORDS; i++)
		paper_id_add_record(paper, "2511.01234");
	g_assert_cmpuint(paper->records->len, ==, BOUNDS_PAPER_RECORDS);
}

/* Europe PMC's own identifier finds the record when its DOI comes later. */
TEST(an_article_without_a_doi_has_an_id_of_the_source)
{
	pb_auto(listing) listing = parse_one("europepmc", ARTICLES(ARTICLE("")));

	g_assert_true(g_str_has_prefix(listing->paper->id, "europepmc:"));
	g_assert_cmpstr(listing->paper->guid, ==, "europepmc:MED/1");
	g_assert_cmpstr(listing->paper->title, ==, "T");
	g_assert_cmpstr(listing->paper->abstract, ==, "");
	g_assert_null(listing->paper->doi);
	g_assert_null(listing->paper->categories);
}

TEST(dates_of_crossref_have_up_to_three_parts)
{
	static const struct {
		const char *members;
		int64_t at;
	} rows[] = {
	    {"\"published-online\":{\"date-parts\":[[2026,11,17]]}", 1794873600},
	    {"\"published-online\":{\"date-parts\":[[2026,11]]}", 1793491200},
	    {"\"published-online\":{\"date-parts\":[[2026]]}", 1767225600},
	    {"\"published-online\":{\"date-parts\":[[2026,11]]},"
	     "\"created\":{\"date-parts\":[[2026,11,17]]}",
	        1794873600},
	    {"\"created\":{\"date-parts\":[[2026,2,30]]}", PAPER_UNKNOWN},
	    {"\"created\":{\"date-parts\":[[2026,99999999999,1]]}", PAPER_UNKNOWN},
	    {"\"issued\":{\"date-parts\":[[null]]}", PAPER_UNKNOWN},
	    {"\"issued\":{\"date-parts\":[2026]}", PAPER_UNKNOWN},
	    {"\"issued\":[]", PAPER_UNKNOWN},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *json =
		    g_strdup_printf(WORKS(WORK(",%s")), rows[i].members);
		pb_auto(listing) listing = parse_one("crossref", json);

		g_test_message("%s", rows[i].members);
		g_assert_cmpint(listing->paper->published_at, ==, rows[i].at);
	}
}

/* Of these only the first is a paper of the day. */
TEST(works_that_are_not_new_papers_are_left_out)
{
	pb_auto(listing) listing = parse_one("crossref",
	    WORKS("{\"DOI\":\"10.5555/"
	          "0\",\"title\":[\"T\"],\"issued\":"
	          "{\"date-parts\":[[2025,1]]},\"update-to\":"
	          "[]}," WORK(
	              ",\"issued\":{\"date-parts\":[["
	              "2024,12,31]]}") "," WORK(",\"update-to\":[{\"DOI\":\"10.5555/"
	                                        "2\"}]") ","
	                                                 "{\"DOI\":\"10.5555/"
	                                                 "3\",\"title\":[]},"
	                                                 "{\"DOI\":\"10.5555/"
	                                                 "4\"},{\"DOI\":\"10.5555/"
	                                                 "5\",\"title\":[\" \"]}"));

	g_assert_cmpstr(listing->paper->id, ==, "doi:10.5555/0");
}

TEST(a_strange_doi_still_has_an_id_and_a_link)
{
	pb_auto(listing) listing = parse_one(
	    "crossref", WORKS("{\"DOI\":\"10.5555/a b\\u00e9{\",\"title\":[\"T\"]}"));

	g_assert_true(g_str_has_prefix(listing->paper->id, "crossref:"));
	g_assert_cmpstr(
	    listing->paper->url, ==, "https://doi.org/10.5555/a%20b%C3%A9%7B");
}

TEST(four_thousand_authors_are_read)
{
	g_autoptr(GString) names = g_string_new(NULL);
	g_autoptr(GString) people = g_string_new(NULL);
	g_autofree char *preprint = NULL, *article = NULL, *work = NULL;
	pb_auto(listing) one = NULL;
	pb_auto(listing) two = NULL;
	pb_auto(listing) three = NULL;

	for (int i = 0; i < 4000; i++) {
		g_string_append_printf(names, "%sExample, A.", i ? "; " : "");
		g_string_append_printf(people,
		    "%s{\"fullName\":\"Example A\",\"given\":\"A.\",\"family\":\"E\"}",
		    i ? "," : "");
	}
	preprint = g_strdup_printf(
	    PREPRINTS(PREPRINT("\"version\":1,\"authors\":\"%s\"")), names->str);
	article = g_strdup_printf(
	    ARTICLES(ARTICLE(",\"authorList\":{\"author\":[%s]}")), people->str);
	work = g_strdup_printf(WORKS(WORK(",\"author\":[%s]")), people->str);
	one = parse_one("biorxiv", preprint);
	two = parse_one("europepmc", article);
	three = parse_one("crossref", work);
	g_assert_cmpuint(one->paper->authors->len, ==, 4000);
	g_assert_cmpuint(two->paper->authors->len, ==, 4000);
	g_assert_cmpuint(three->paper->authors->len, ==, 4000);
	g_assert_cmpstr(three->paper->authors->pdata[3999], ==, "A. E");
}

TEST(a_malformed_answer_is_rejected_with_its_position)
{
	static const struct {
		const char *kind, *json, *says;
	} rows[] = {
	    {"biorxiv", PREPRINTS(PREPRINT("\"version\":1") ",5"),
	        "element 1 of the list is malformed: doi is not a DOI"},
	    {"biorxiv", PREPRINTS("{\"doi\":\"10.1101/1\",\"version\":1}"),
	        "element 0 of the list is malformed: blank title"},
	    {"biorxiv", PREPRINTS(PREPRINT("\"version\":\"x\"")), "version is not"},
	    {"biorxiv", PREPRINTS(PREPRINT("\"version\":99999999999")),
	        "version is not"},
	    {"europepmc", ARTICLES("{\"source\":\"MED\",\"title\":\"T\"}"),
	        "element 0 of the list is malformed: invalid source or id"},
	    {"europepmc", ARTICLES("{\"source\":\"MED\",\"id\":\"1/../2\"}"),
	        "invalid source or id"},
	    {"europepmc", ARTICLES("{\"source\":\"MED\",\"id\":\"1\",\"title\":[]}"),
	        "title is not a string"},
	    {"europepmc", "{\"hitCount\":0}", "not a JSON array"},
	    {"crossref", WORKS("{\"title\":[\"T\"]}"), "DOI is not a string"},
	    {"crossref", WORKS("{\"DOI\":\"10.5555/1\",\"title\":\"T\"}"),
	        "title is not a list"},
	    {"crossref", "{\"status\":\"failed\",\"message\":[]}", "not a JSON array"},
	    {"crossref", "{\"message\":\n{\"items\":[", "line 2, column"},
	    {"europepmc", "<!doctype html>", "line 1, column 1"},
	    {"biorxiv", "{\"messages\":[{\"status\":\"ok\"", "line 1, column"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;

		g_test_message("%s", rows[i].json);
		g_assert_null(parse(rows[i].kind, rows[i].json, NULL, &error));
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		if (!strstr(error->message, rows[i].says))
			g_error("'%s' lacks '%s'", error->message, rows[i].says);
	}
}

/* The next page begins after the records that were shown. */
TEST(the_next_page_follows_count)
{
	CASES_FOREACH(row, "json_pages_next", *message, *cursor, *next) {
		struct json_page page = {.cursor = row->cursor, .total = -1};
		g_autofree char *json =
		    g_strdup_printf("{\"messages\":[{\"status\":\"ok\",%s}],"
		                    "\"collection\":[" PREPRINT("\"version\":1") "]}",
		        row->message);
		g_autoptr(GError) error = NULL;
		g_autoptr(GPtrArray) listings = parse("biorxiv", json, &page, &error);

		g_test_message("%s", row->message);
		g_assert_no_error(error);
		g_assert_cmpstr(page.next, ==, row->next);
		g_free(page.next);
	}
}

TEST(requests_have_the_parameters_of_the_service)
{
	static const struct {
		const char *kind, *mode, *line;
	} rows[] = {
	    {"biorxiv", "preprints-1",
	        "/preprints-1/details/biorxiv/" DAY "/" DAY "/0/json"},
	    {"medrxiv", "preprints-1",
	        "/preprints-1/details/medrxiv/" DAY "/" DAY "/0/json"},
	    {"europepmc", "articles-1",
	        "/articles-1/search?query=%28title%3A%22a%20%26%20b%22%29%20AND%20"
	        "%28FIRST_IDATE%3A%5B" DAY "%20TO%20" DAY "%5D%29&resultType=core"
	        "&format=json&pageSize=200&cursorMark=*"},
	    {"crossref", "works-1",
	        "/works-1/works?filter=from-created-date:" DAY
	        ",until-created-date:" DAY
	        ",type:journal-article,issn:0092-8674&select=DOI,URL,title,abstract,"
	        "author,container-title,short-container-title,created,issued,"
	        "published-online,relation,update-to,updated-by"
	        "&rows=200&cursor=*&mailto=postmaster%2Bpapers%40example.org"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(paperserver) server = paperserver_start(NULL, NULL);
		g_autofree char *want =
		    g_strdup_printf("GET %s if-none-match=", rows[i].line);
		g_autofree char *base = NULL;
		struct source_options options;
		g_autofree char *line = NULL;
		source_answer_auto answer = {0};

		if (!server)
			return;
		base = g_strconcat(server->url, "/", rows[i].mode, "//", NULL);
		options = make_options(rows[i].kind, base);
		NO_ERROR(fetch(&options, &answer, &error));
		line = paperserver_read_line(server);
		g_assert_cmpstr(line, ==, want);
	}
}

TEST(the_fallback_is_the_feed_of_the_categories)
{
	static const char *const two[] = {"Cell Biology", "neuroscience", NULL};
	struct source_options options = make_options("medrxiv", "");
	pb_auto(source) whole = make_source(&options);
	pb_auto(source) part = NULL;

	options.kind = "biorxiv";
	options.categories = two;
	part = make_source(&options);
	g_assert_cmpstr(whole->fallback->url, ==,
	    "https://connect.medrxiv.org/medrxiv_xml.php?subject=all");
	g_assert_cmpstr(part->fallback->url, ==,
	    "https://connect.biorxiv.org/biorxiv_xml.php?subject="
	    "cell_biology+neuroscience");
}

TEST(pages_are_fetched_until_the_last_one)
{
	static const struct {
		const char *kind, *mode;
		enum source_status status;
		size_t count;
		unsigned requests;
	} rows[] = {
	    {"biorxiv", "preprints-0", SOURCE_EMPTY, 0, 1},
	    {"biorxiv", "preprints-30", SOURCE_OK, 30, 1},
	    {"biorxiv", "preprints-70", SOURCE_OK, 70, 3},
	    {"biorxiv", "preprints-versions-40", SOURCE_OK, 20, 2},
	    /* Twice more, as the total says that there are other records. */
	    {"biorxiv", "preprints-overstated-40", SOURCE_OK, 40, 9},
	    {"biorxiv", "preprints-overstated-600", SOURCE_OK, 600, 63},
	    {"biorxiv", "preprints-shift", SOURCE_OK, 71, 6},
	    {"biorxiv", "preprints-withdrawn", SOURCE_OK, 70, 6},
	    {"biorxiv", "preprints-rush", SOURCE_OK, 77, 9},
	    {"europepmc", "articles-0", SOURCE_EMPTY, 0, 1},
	    {"europepmc", "articles-450", SOURCE_OK, 450, 4},
	    {"crossref", "works-0", SOURCE_EMPTY, 0, 1},
	    {"crossref", "works-450", SOURCE_OK, 450, 4},
	    {"crossref", "works-5000", SOURCE_OK, 5000, 26},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(paperserver) server = paperserver_start(NULL, NULL);
		g_autofree char *base = NULL;
		struct source_options options;
		source_answer_auto answer = {0};

		if (!server)
			return;
		base = paperserver_mode_url(server, rows[i].mode);
		options = make_options(rows[i].kind, base);
		g_test_message("%s", rows[i].mode);
		NO_ERROR(fetch(&options, &answer, &error));
		g_assert_cmpint(answer.status, ==, rows[i].status);
		g_assert_cmpuint(answer.count, ==, rows[i].count);
		g_assert_cmpuint(
		    paperserver_count_requests(server), ==, rows[i].requests);
	}
}

TEST(failures_return_no_papers_and_the_retry_time)
{
	static const struct paperserver_failure rows[] = {
	    {"429", PB_ERROR_TEMPORARY, -1, "status 429"},
	    {"429-retry", PB_ERROR_TEMPORARY, 120, "status 429"},
	    {"503", PB_ERROR_TEMPORARY, 60, "status 503"},
	    {"404", PB_ERROR_PERMANENT, -1, "status 404"},
	    {"bytes-0", PB_ERROR_TEMPORARY, -1, "answered without a list"},
	    {"cut", PB_ERROR_INPUT, -1, "invalid JSON: line 1, column"},
	    {"html", PB_ERROR_INPUT, -1, "line 1, column 1"},
	};
	static const char *const kinds[] = {"biorxiv", "europepmc", "crossref"};
	pb_auto(paperserver) server = paperserver_start(NULL, NULL);

	for (size_t i = 0; server && i < G_N_ELEMENTS(rows) * 3; i++) {
		g_autofree char *base = paperserver_mode_url(server, rows[i / 3].mode);
		struct source_options options = make_options(kinds[i % 3], base);

		paperserver_check_failure(make_source(&options), DAY, &rows[i / 3]);
	}
}

TEST(an_answer_without_a_list_is_not_an_empty_day)
{
	static const struct {
		const char *kind;
		struct paperserver_failure failure;
	} rows[] = {
	    {"biorxiv", {"preprints-failed", PB_ERROR_TEMPORARY, -1, "without a list"}},
	    {"biorxiv", {"empty", PB_ERROR_TEMPORARY, -1, "without a list"}},
	    {"biorxiv", {"preprints-lost", PB_ERROR_TEMPORARY, -1, "without a list"}},
	    {"europepmc", {"articles-lost", PB_ERROR_TEMPORARY, -1, "without a list"}},
	    {"europepmc",
	        {"articles-failed", PB_ERROR_TEMPORARY, -1, "status 503: The"}},
	    {"europepmc",
	        {"articles-refused", PB_ERROR_PERMANENT, -1, "No such field"}},
	    {"biorxiv", {"preprints-1600", PB_ERROR_LIMIT, -1, "more than 50 pages"}},
	    {"crossref", {"works-5001", PB_ERROR_LIMIT, -1, "more than 5000 papers"}},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(paperserver) server = paperserver_start(NULL, NULL);
		g_autofree char *base = NULL;
		struct source_options options;

		if (!server)
			return;
		base = paperserver_mode_url(server, rows[i].failure.mode);
		options = make_options(rows[i].kind, base);
		paperserver_check_failure(make_source(&options), DAY, &rows[i].failure);
	}
}

static bool
pause_once(void *data, int64_t ms)
{
	int64_t *waited_ms = data;

	*waited_ms += ms;
	return true;
}

TEST(each_request_waits)
{
	pb_auto(paperserver) server = paperserver_start(NULL, NULL);
	int64_t waited_ms = 0;
	struct http_settings settings = {
	    .user_agent = "paperboy/test (postmaster@example.org)",
	    .wait = pause_once,
	    .wait_data = &waited_ms,
	};
	pb_auto(http) http = http_new(&settings);
	g_autofree char *base = NULL;
	struct source_options options;
	pb_auto(source) source = NULL;
	source_answer_auto answer = {0};

	if (!server)
		return;
	base = paperserver_mode_url(server, "preprints-70");
	options = make_options("biorxiv", base);
	options.request_interval_ms = 1000;
	source = make_source(&options);
	g_assert_true(source_fetch_day(source, http, DAY, NULL, &answer, NULL));
	g_assert_cmpint(waited_ms, ==, 3000);
}

/* A directory of recorded answers, and categories as people write them. */
TEST(a_directory_is_a_source)
{
	g_autofree char *directory = g_dir_make_tmp("paperboy-days-XXXXXX", NULL);
	g_autofree char *path =
	    g_build_filename(directory, "biorxiv-" DAY ".json", NULL);
	g_autofree char *base = g_filename_to_uri(directory, NULL, NULL);
	struct source_options options = make_options("biorxiv", base);
	g_autoptr(GError) error = NULL;
	source_answer_auto answer = {0};

	g_assert_true(fetch(&options, &answer, &error));
	g_assert_cmpint(answer.status, ==, SOURCE_NOT_YET);
	g_assert_true(g_file_set_contents(path,
	    PREPRINTS(PREPRINT(
	        "\"version\":1,\"category\":\"neuroscience\"") ","
	                                                       "{\"doi\":\"10.1101/"
	                                                       "2\",\"title\":\"U\","
	                                                       "\"version\":1,"
	                                                       "\"category\":\"cell "
	                                                       "biology\"}"),
	    -1, NULL));
	g_assert_true(fetch(&options, &answer, &error));
	g_assert_cmpuint(answer.count, ==, 2);
	options.categories = cell_biology;
	g_assert_true(fetch(&options, &answer, &error));
	g_assert_cmpuint(answer.count, ==, 1);
	g_assert_cmpstr(
	    ((struct listing *)answer.listings->pdata[0])->paper->title, ==, "U");
	g_unlink(path);
	g_rmdir(directory);
	g_assert_false(fetch(&options, &answer, &error));
	g_assert_error(error, PB_ERROR, PB_ERROR_TEMPORARY);
}

UNIT_MAIN
