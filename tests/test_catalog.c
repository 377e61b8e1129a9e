/*
 * test_catalog.c - message catalogue: parsing, placeholders, completeness.
 */
#include "render/catalog.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <glob.h>
#include <string.h>

#include "base/error.h"
#include "lib/unit.h"
#include "service/advice/why.h"
#include "service/command/command_private.h"

static char *
get_source_path(const char *path)
{
	const char *top = g_getenv("top_srcdir");

	return g_build_filename(top ? top : ".", path, NULL);
}

static struct catalog *
load_shipped(void)
{
	g_autofree char *directory = get_source_path("etc/templates");
	g_autoptr(GError) error = NULL;
	struct catalog *catalog = catalog_load(directory, &error);

	g_assert_no_error(error);
	return catalog;
}

/* @param german  NULL: no such file @return the error, or NULL */
static char *
load(const char *english, const char *german, struct catalog **catalog)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *directory = g_dir_make_tmp("pb-phrases-XXXXXX", NULL);
	g_autofree char *en = g_build_filename(directory, "answers.en", NULL);
	g_autofree char *de = g_build_filename(directory, "answers.de", NULL);
	struct catalog *loaded;

	g_assert_true(g_file_set_contents(en, english, -1, NULL));
	if (german)
		g_assert_true(g_file_set_contents(de, german, -1, NULL));
	loaded = catalog_load(directory, &error);
	g_unlink(en);
	g_unlink(de);
	g_rmdir(directory);
	g_assert_true(!loaded == !!error);
	if (catalog)
		*catalog = loaded;
	else
		catalog_free(loaded);
	return error ? g_strdup(error->message) : NULL;
}

TEST(messages_are_filled_in)
{
	pb_auto(catalog) catalog = NULL;
	g_autofree char *problem =
	    load("# to the writer\n[a]\nso {x} and {y}\n[b]\none\n\n"
	         "two\n\n[n.one]\n1 day\n[n.many]\n{count} days\n",
	        "[a]\n{y}, dann {x}\n", &catalog);
	g_autofree char *plain = NULL;
	g_autofree char *german = NULL;
	g_autofree char *braces = NULL;
	g_autofree char *lines = NULL;
	g_autofree char *other = NULL;
	g_autofree char *one = NULL;
	g_autofree char *many = NULL;

	g_assert_null(problem);
	plain = catalog_format(catalog, "en", "a", "x", "1", "y", "2", NULL);
	g_assert_cmpstr(plain, ==, "so 1 and 2");
	german = catalog_format(catalog, "de", "a", "x", "1", "y", "2", NULL);
	g_assert_cmpstr(german, ==, "2, dann 1");
	/* Values are not expanded. */
	braces = catalog_format(catalog, "en", "a", "x", "{y}", "y", "{x}", NULL);
	g_assert_cmpstr(braces, ==, "so {y} and {x}");
	lines = catalog_format(catalog, "de", "b", NULL);
	g_assert_cmpstr(lines, ==, "one\n\ntwo");
	other = catalog_format(catalog, "fr", "b", NULL);
	g_assert_cmpstr(other, ==, "one\n\ntwo");
	one = catalog_format_count(catalog, "en", "n", 1);
	g_assert_cmpstr(one, ==, "1 day");
	many = catalog_format_count(catalog, "en", "n", 0);
	g_assert_cmpstr(many, ==, "0 days");
}

TEST(invalid_file_is_rejected_with_its_position)
{
	static const struct {
		const char *english, *german, *says;
	} rows[] = {
	    {"words\n", NULL, "answers.en:1: expected a line [name]"},
	    {"[a]\nx\n[a]\ny\n", NULL, "answers.en:3: duplicate phrase"},
	    {"[a]\n\xff\n", NULL, "not UTF-8"},
	    {"[a]\nx\n", "[b]\ny\n", "no such phrase in English: [b]"},
	    {"[a]\nx {y}\n", "[a]\nx {z}\n", "[a] has no {z} in English"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *problem = load(rows[i].english, rows[i].german, NULL);

		g_assert_nonnull(problem);
		if (!strstr(problem, rows[i].says))
			g_error("%zu: %s", i, problem);
	}
}

/* Check the phrases used in a source file. @return their number */
static unsigned
check_phrases(const struct catalog *catalog, const GRegex *call, const char *path)
{
	g_autofree char *text = NULL;
	g_autoptr(GMatchInfo) match = NULL;
	unsigned found = 0;

	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	g_regex_match(call, text, 0, &match);
	for (; g_match_info_matches(match); g_match_info_next(match, NULL)) {
		g_autofree char *phrase = g_match_info_fetch(match, 1);
		g_autofree char *counted = g_strconcat(phrase, ".many", NULL);

		found++;
		if (!catalog_has(catalog, phrase) && !catalog_has(catalog, counted))
			g_error("%s: there is no phrase [%s]", path, phrase);
	}
	return found;
}

#define CATALOG_TEST(function) TEST_WITH(function, catalog, catalog, load_shipped())

/* Names in literal strings of the program. */
CATALOG_TEST(shipped_files_have_all_phrases_of_the_program)
{
	g_autofree char *pattern = get_source_path("src/service/*/*.c");
	glob_t files;
	/* Only reply_phrase() has an argument before the name: the margin. */
	g_autoptr(GRegex) call = g_regex_new(
	    "(?:reply_phrase\\(\\s*&request->text,\\s*\"[a-z]*\",|"
	    "(?:reply_text_add_paragraph|reply_text_format|reply_text_format_count|"
	    "pick_word)\\(\\s*(?:&request->text|&text|reply),|"
	    "command_fail\\(\\s*request, error,|"
	    "reply_to_recipient\\(\\s*request, confirmation,)"
	    "\\s*\"([a-z_.]+)\"",
	    0, 0, NULL);
	unsigned found = 0;

	g_assert_cmpint(glob(pattern, 0, NULL, &files), ==, 0);
	for (size_t i = 0; i < files.gl_pathc; i++)
		found += check_phrases(catalog, call, files.gl_pathv[i]);
	globfree(&files);
	g_assert_cmpuint(found, >, 60);
}

TEST(every_command_that_waits_for_a_confirmation_is_decided_first)
{
	for (const struct command_row *row = command_rows; row->verb; row++)
		if (!row->decide != !row->confirm)
			g_error("%s: confirmation without decide function, or reverse",
			    row->verb);
}

CATALOG_TEST(every_command_has_its_help)
{
	for (const struct command_row *row = command_rows; row->verb; row++) {
		g_autofree char *help = g_strconcat("help.", row->verb, NULL);
		g_autofree char *brief = g_strconcat("brief.", row->verb, NULL);

		g_assert_true(catalog_has(catalog, help));
		g_assert_true(catalog_has(catalog, brief));
	}
	g_assert_true(catalog_has_language(catalog, "de"));
	g_assert_false(catalog_has_language(catalog, "xx"));
}

static void
assert_has(const struct catalog *catalog, const char *kind, const char *word)
{
	g_autofree char *name = g_strconcat(kind, word, NULL);

	g_strdelimit(name, "-", '_');
	if (!catalog_has(catalog, name))
		g_error("there is no phrase [%s]", name);
}

/* Names composed of states or match results. */
CATALOG_TEST(every_state_and_outcome_has_a_phrase)
{
	static const char *const digests[] = {
	    "live", "sent", "failed", "cancelled"}; /* of the store */

	for (int i = WHY_SENT; i <= WHY_NEXT; i++)
		assert_has(catalog, "why_", why_outcome_name((enum why_outcome)i));
	for (int i = QUERY_FALSE; i <= QUERY_TRUE; i++) {
		assert_has(catalog, "truth_", why_verdict_name((enum query_verdict)i));
		assert_has(catalog, "mark_", why_verdict_name((enum query_verdict)i));
	}
	assert_has(catalog, "state_", subscriber_state_name(SUBSCRIBER_ACTIVE));
	assert_has(catalog, "state_", subscriber_state_name(SUBSCRIBER_PAUSED));
	assert_has(catalog, "state_", subscriber_state_name(SUBSCRIBER_SUSPENDED));
	for (size_t i = 0; i < G_N_ELEMENTS(digests); i++)
		assert_has(catalog, "status_", digests[i]);
}

/* Phrases that are the same in both languages. */
static const char *const same_in_german[] = {"list_filter", "hit", "set_is",
    "mark_unknown", "digest.code_at", "digest.pdf_at", "digest.video_at",
    "digest.subject", "digest.pause", "web.problem", "web.title.filter", "web.filter",
    "web.filter_number", "web.pause_title", "web.set.language.en",
    "web.set.language.de", "web.set.format", "web.set.attach.bibtex",
    "web.set.attach.ris", "web.set.attach.markdown", "web.feeds", "web.export_format",
    "web.export_text", "proposal", "proposal_runs", "msg.proposal_same",
    "checkup.point", "checkup.point_word", NULL};

static char *
read_german(void)
{
	g_autofree char *path = get_source_path("etc/templates/answers.de");
	char *text = NULL;

	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	return text;
}

CATALOG_TEST(german_catalog_is_complete)
{
	g_autoptr(GPtrArray) names = catalog_list(catalog);
	g_autofree char *german = read_german();
	unsigned wrong = 0;

	g_assert_cmpuint(names->len, >, 350);
	for (unsigned i = 0; i < names->len; i++) {
		const char *name = names->pdata[i];
		g_autofree char *head = g_strdup_printf("[%s]\n", name);
		g_autofree char *en = catalog_format(catalog, "en", name, NULL);
		g_autofree char *de = catalog_format(catalog, "de", name, NULL);
		bool is_same = strcmp(en, de) == 0;
		bool may_be = g_strv_contains(same_in_german, name) ||
		              g_str_has_prefix(name, "example.");

		if (is_same == may_be && (may_be || strstr(german, head)))
			continue;
		g_test_message("[%s] is %s", name,
		    is_same ? "the same in German" : "listed as the same, and is not");
		wrong++;
	}
	g_assert_cmpuint(wrong, ==, 0);
}

/* German must use every argument. */
CATALOG_TEST(german_has_the_arguments_of_each_message)
{
	const char *const *texts = catalog_get_texts(catalog, "de");
	g_autoptr(GRegex) word = g_regex_new("\\{[a-z_]+\\}", 0, 0, NULL);

	for (int id = MSG_NONE + 1; id < MSG_COUNT; id++) {
		const char *english = msg_get_english((enum msg_id)id);
		g_autoptr(GMatchInfo) match = NULL;

		g_regex_match(word, english, 0, &match);
		for (; g_match_info_matches(match); g_match_info_next(match, NULL)) {
			g_autofree char *found = g_match_info_fetch(match, 0);

			if (!strstr(texts[id], found))
				g_error("%s: no %s", texts[id], found);
		}
	}
	g_assert_true(
	    catalog_get_texts(catalog, "xx") == catalog_get_texts(catalog, "en"));
}

/* The message goes with the error, and with its copies. */
CATALOG_TEST(an_error_is_read_in_any_language)
{
	g_autoptr(GError) error = NULL, copy = NULL, plain = NULL;
	g_autofree char *german = NULL;

	g_assert_false(
	    pb_error_set(&error, PB_ERROR_INPUT, MSG_FILTER_NONE, "number", "7", NULL));
	g_assert_cmpstr(error->message, ==, "no such filter: 7");
	copy = g_error_copy(error);
	g_clear_error(&error);
	german = msg_format(pb_error_get_msg(copy), catalog_get_texts(catalog, "de"));
	g_assert_cmpstr(german, ==, "einen Filter 7 gibt es nicht");
	g_assert_false(
	    pb_error_set(NULL, PB_ERROR_INPUT, MSG_FILTER_NONE, "number", "7", NULL));
	g_set_error(&plain, PB_ERROR, PB_ERROR_TEMPORARY, "busy");
	g_assert_null(pb_error_get_msg(plain));
}

UNIT_MAIN
