/*
 * helper_query.c - the filter language, for the scripts that compare it with theirs.
 *
 * helper_query fold: for each word on standard input, its singular.
 *
 * helper_query find BASE-URL DAY: for each filter on standard input, what it finds
 * among the papers of a day of Hugging Face's list: "found", the canonical text, the
 * ids, the ids that it cannot decide yet, the ids to decide again when numbers change;
 * or "refused", the column, the reason.  Tabs between, blanks between ids.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/plural.h"
#include "query/query.h"
#include "sources/huggingface.h"
#include "store/tokenizer.h"

/* The papers of the day, each ready for many filters. */
struct bench {
	const struct tokenizer *tokenizer;
	GPtrArray *listings;  /* of struct listing * */
	GPtrArray *documents; /* of struct query_document *, in the same order */
};

static void
fold_line(void *data, const char *line)
{
	g_autofree char *folded = plural_fold(line, strlen(line));

	(void)data;
	puts(folded);
}

static void
print_ids(const struct bench *bench, const struct query *query, enum query_mode mode,
    enum query_truth truth)
{
	const char *blank = "";

	putchar('\t');
	for (guint i = 0; i < bench->documents->len; i++) {
		const struct listing *listing = bench->listings->pdata[i];

		if (query_evaluate(query, bench->documents->pdata[i], mode) != truth)
			continue;
		printf("%s%s", blank, listing->paper->id);
		blank = " ";
	}
}

static void
find_line(void *data, const char *line)
{
	const struct bench *bench = data;
	struct query_problem problem = {0};
	pb_auto(query) query =
	    query_parse(line, bench->tokenizer, NULL, &problem, NULL);
	g_autofree char *canonical = query ? query_format(query) : NULL;

	if (query) {
		printf("found\t%s", canonical);
		print_ids(bench, query, QUERY_AS_TOLD, QUERY_TRUE);
		print_ids(bench, query, QUERY_AS_TOLD, QUERY_UNKNOWN);
		print_ids(bench, query, QUERY_MAY_CHANGE, QUERY_UNKNOWN);
		putchar('\n');
	} else {
		printf("refused\t%u\t%s\n", problem.column, problem.message);
	}
	query_problem_clear(&problem);
}

static void
read_lines(void (*handle)(void *data, const char *line), void *data)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	while ((length = getline(&line, &size, stdin)) >= 0) {
		if (length > 0 && line[length - 1] == '\n')
			line[length - 1] = '\0';
		handle(data, line);
	}
	free(line);
}

static bool
fill_bench(struct bench *bench, const struct source_answer *answer, GError **error)
{
	for (guint i = 0; answer->listings && i < answer->listings->len; i++) {
		struct listing *listing = answer->listings->pdata[i];
		struct query_document *document =
		    query_document_new(listing->paper, NULL, bench->tokenizer, error);

		if (!document)
			return false;
		g_ptr_array_add(bench->listings, listing);
		g_ptr_array_add(bench->documents, document);
	}
	return true;
}

static bool
run_find(
    const struct tokenizer *tokenizer, const char *url, const char *day, GError **error)
{
	const struct http_settings settings = {
	    .user_agent = "paperboy/test (postmaster@example.org)",
	    .allow_private = true,
	    .allow_file = true,
	};
	pb_auto(http) http = http_new(&settings);
	pb_auto(source) source = huggingface_new(url);
	g_autoptr(GPtrArray) listings = g_ptr_array_new();
	g_autoptr(GPtrArray) documents =
	    g_ptr_array_new_with_free_func((GDestroyNotify)query_document_free);
	struct bench bench = {tokenizer, listings, documents};
	struct source_answer answer;
	bool is_ok;

	source_answer_init(&answer);
	is_ok = source_fetch_day(source, http, day, NULL, &answer, error) &&
	        fill_bench(&bench, &answer, error);
	if (is_ok)
		read_lines(find_line, &bench);
	source_answer_clear(&answer);
	return is_ok;
}

int
main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	pb_auto(tokenizer) tokenizer = NULL;
	sqlite3 *db = NULL;

	if (argc == 2 && strcmp(argv[1], "fold") == 0) {
		read_lines(fold_line, NULL);
		return 0;
	}
	if (argc != 4 || strcmp(argv[1], "find") != 0) {
		fprintf(stderr, "usage: helper_query fold | find BASE-URL DAY\n");
		return 64;
	}
	if (sqlite3_open(":memory:", &db) == SQLITE_OK)
		tokenizer = tokenizer_new_unicode61(db, &error);
	if (!tokenizer || !run_find(tokenizer, argv[2], argv[3], &error))
		fprintf(
		    stderr, "helper_query: %s\n", error ? error->message : "no SQLite");
	g_clear_pointer(&tokenizer, tokenizer_free);
	sqlite3_close(db);
	return pb_error_exit_status(error);
}
