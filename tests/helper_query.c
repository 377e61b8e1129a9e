/*
 * helper_query.c - evaluate filters for the scripts that compare them with an oracle.
 *
 * helper_query fold: print the stem of each word on standard input.
 *
 * helper_query sentence: print the key sentence of each abstract on standard input.
 *
 * helper_query evaluate PAPERS DAY: evaluate each filter on standard input on papers
 * first seen on DAY.  PAPERS has a JSON object on each line, with the member names of
 * struct paper.  The fields of an output line are separated by tabs:
 *
 *     found CANONICAL TRUTHS...   six strings with a digit for each paper (0 no,
 *                                 1 unknown, 2 yes): with no field final, enriched, all
 *                                 final; the same for fields that may still change
 *     invalid COLUMN REASON       a parse error
 *     changed CANONICAL AGAIN     the canonical text is parsed as another query
 */
#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/text.h"
#include "query/query.h"
#include "query/text/stem.h"
#include "render/sentence.h"
#include "store/core/tokenizer.h"

/* Papers to evaluate filters on. */
struct corpus {
	const struct tokenizer *tokenizer;
	const char *today;
	GPtrArray *papers;    /* struct paper * */
	GPtrArray *documents; /* struct query_document *, same order */
};

static const enum query_mode modes[] = {QUERY_AS_REPORTED, QUERY_MAY_CHANGE};
static const enum query_finality finalities[] = {
    QUERY_FINALITY_NONE,
    QUERY_FINALITY_LOOKED_UP,
    QUERY_FINALITY_ALL,
};

static void
fold_line(void *data, const char *line)
{
	g_autofree char *folded = stem_plural(line, strlen(line));

	(void)data;
	puts(folded);
}

/* Format the six strings of truth values, each after a tab. */
static char *
format_truths(const struct corpus *corpus, const struct query *query)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < G_N_ELEMENTS(modes) * G_N_ELEMENTS(finalities); i++) {
		enum query_mode mode = modes[i / G_N_ELEMENTS(finalities)];

		g_string_append_c(text, '\t');
		for (guint at = 0; at < corpus->documents->len; at++) {
			struct query_document *document = corpus->documents->pdata[at];

			query_document_finalize(
			    document, finalities[i % G_N_ELEMENTS(finalities)]);
			g_string_append_c(
			    text, (char)('0' + query_evaluate(query, document, mode)));
		}
	}
	return g_string_free(text, FALSE);
}

/* Print a query; its canonical text must be parsed as the same query. */
static void
print_query(const struct corpus *corpus, const struct query *query)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *canonical = query_format(query);
	g_autofree char *truths = format_truths(corpus, query);
	pb_auto(query) again =
	    query_parse_canonical(canonical, corpus->tokenizer, &error);
	g_autofree char *text = again ? query_format(again) : NULL;
	g_autofree char *same = again ? format_truths(corpus, again) : NULL;

	if (!again)
		printf("changed\t%s\t%s\n", canonical, error->message);
	else if (strcmp(canonical, text) != 0 || strcmp(truths, same) != 0)
		printf("changed\t%s\t%s\n", canonical, text);
	else
		printf("found\t%s%s\n", canonical, truths);
}

static void
evaluate_line(void *data, const char *line)
{
	const struct corpus *corpus = data;
	struct query_error problem = {0};
	pb_auto(query) query =
	    query_parse(line, corpus->tokenizer, NULL, &problem, NULL);

	if (query)
		print_query(corpus, query);
	else
		printf("invalid\t%u\t%s\n", problem.column, problem.message->text);
	query_error_clear(&problem);
}

static void
read_lines(FILE *file, void (*handle)(void *data, const char *line), void *data)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	while ((length = getline(&line, &size, file)) >= 0) {
		if (length > 0 && line[length - 1] == '\n')
			line[length - 1] = '\0';
		handle(data, line);
	}
	free(line);
}

/* A text normalised as by a source, or NULL. */
static char *
read_text(const json_t *value)
{
	if (!json_is_string(value))
		return NULL;
	return text_normalize(json_string_value(value), json_string_length(value),
	    BOUNDS_PAPER_ABSTRACT_BYTES);
}

static int64_t
read_number(const json_t *value)
{
	return json_is_integer(value) ? json_integer_value(value) : PAPER_UNKNOWN;
}

static GPtrArray *
read_texts(const json_t *value)
{
	GPtrArray *texts;
	const json_t *item;
	size_t at;

	if (!json_is_array(value))
		return NULL;
	texts = g_ptr_array_new_with_free_func(g_free);
	json_array_foreach(value, at, item) g_ptr_array_add(texts, read_text(item));
	return texts;
}

/* Each listing is an array: source, day, listing type and optionally "late". */
static void
read_listings(struct paper *paper, const json_t *value)
{
	const json_t *item;
	size_t at;

	json_array_foreach(value, at, item)
	{
		const char *word = json_string_value(json_array_get(item, 2));
		enum listing_type listing_type = LISTING_NEW;

		while (strcmp(listing_type_name(listing_type), word) != 0)
			listing_type++;
		paper_add_listing(paper, json_string_value(json_array_get(item, 0)),
		    json_string_value(json_array_get(item, 1)), listing_type);
		g_array_index(paper->listings, struct paper_listing, at).is_late =
		    json_array_size(item) > 3;
	}
}

static struct paper *
read_paper(const json_t *json)
{
	struct paper *paper = paper_new();
	const json_t *authors = json_object_get(json, "authors");

	paper->id = read_text(json_object_get(json, "id"));
	paper->title = read_text(json_object_get(json, "title"));
	paper->abstract = read_text(json_object_get(json, "abstract"));
	if (!paper->abstract)
		paper->abstract = g_strdup("");
	if (json_is_array(authors)) {
		g_ptr_array_unref(paper->authors);
		paper->authors = read_texts(authors);
	}
	paper->url = g_strdup("https://example.org/");
	paper->upvotes = read_number(json_object_get(json, "upvotes"));
	paper->comments = read_number(json_object_get(json, "comments"));
	paper->stars = read_number(json_object_get(json, "stars"));
	paper->code_url = read_text(json_object_get(json, "code_url"));
	paper->project_url = read_text(json_object_get(json, "project_url"));
	paper->video_url = read_text(json_object_get(json, "video_url"));
	paper->organization = read_text(json_object_get(json, "organization"));
	paper->keywords = read_texts(json_object_get(json, "keywords"));
	paper->categories = read_texts(json_object_get(json, "categories"));
	paper->looked_up =
	    json_object_get(json, "looked_up")
	        ? (unsigned)json_integer_value(json_object_get(json, "looked_up"))
	    : paper->categories ? PAPER_LOOKUP_ALL
	                        : 0;
	paper->pmid = read_text(json_object_get(json, "pmid"));
	paper->pmcid = read_text(json_object_get(json, "pmcid"));
	paper->mesh = read_texts(json_object_get(json, "mesh"));
	paper->comment = read_text(json_object_get(json, "comment"));
	paper->journal = read_text(json_object_get(json, "journal"));
	paper->journal_names = read_texts(json_object_get(json, "journal_names"));
	paper->doi = read_text(json_object_get(json, "doi"));
	read_listings(paper, json_object_get(json, "listings"));
	return paper;
}

static void
paper_line(void *data, const char *line)
{
	struct corpus *corpus = data;
	json_error_t where;
	json_t *json = json_loads(line, 0, &where);
	struct query_document *document;

	if (!json)
		g_error("papers: %s", where.text);
	g_ptr_array_add(corpus->papers, read_paper(json));
	json_decref(json);
	document = query_document_new(corpus->papers->pdata[corpus->papers->len - 1],
	    corpus->today, corpus->tokenizer, NULL);
	g_assert(document);
	g_ptr_array_add(corpus->documents, document);
}

static bool
run_evaluate(const struct tokenizer *tokenizer, const char *path, const char *today,
    GError **error)
{
	g_autoptr(GPtrArray) papers =
	    g_ptr_array_new_with_free_func((GDestroyNotify)paper_free);
	g_autoptr(GPtrArray) documents =
	    g_ptr_array_new_with_free_func((GDestroyNotify)query_document_free);
	struct corpus corpus = {tokenizer, today, papers, documents};
	FILE *file = fopen(path, "re");

	if (!file) {
		g_set_error(
		    error, PB_ERROR, PB_ERROR_NOT_FOUND, "cannot open '%s'", path);
		return false;
	}
	read_lines(file, paper_line, &corpus);
	fclose(file);
	read_lines(stdin, evaluate_line, &corpus);
	return true;
}

static void
sentence_line(void *data, const char *line)
{
	g_autofree char *sentence = sentence_find_key(line);

	(void)data;

	puts(sentence);
}

int
main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	pb_auto(tokenizer) tokenizer = NULL;
	sqlite3 *db = NULL;

	if (argc == 2 && strcmp(argv[1], "fold") == 0) {
		read_lines(stdin, fold_line, NULL);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "sentence") == 0) {
		read_lines(stdin, sentence_line, NULL);
		return 0;
	}
	if (argc != 4 || strcmp(argv[1], "evaluate") != 0) {
		fprintf(stderr,
		    "usage: helper_query fold | sentence | evaluate PAPERS DAY\n");
		return 64;
	}
	if (sqlite3_open(":memory:", &db) == SQLITE_OK)
		tokenizer = tokenizer_new(db, &error);
	if (!tokenizer || !run_evaluate(tokenizer, argv[2], argv[3], &error))
		fprintf(
		    stderr, "helper_query: %s\n", error ? error->message : "no SQLite");
	g_clear_pointer(&tokenizer, tokenizer_free);
	sqlite3_close(db);
	return pb_error_exit_status(error);
}
