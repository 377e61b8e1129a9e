/*
 * test_sentence.c - the key sentence of an abstract, and the abstracts of a digest.
 */
#include <string.h>

#include "lib/cases.h"
#include "lib/render_sample.h"
#include "lib/unit.h"
#include "render/sentence.h"

TEST(key_sentence_states_idea_or_result)
{
	CASES_FOREACH(row, "sentence", *abstract, *sentence) {
		g_autofree char *got = sentence_find_key(row->abstract);

		g_assert_cmpstr(got, ==, row->sentence);
	}
}

TEST(key_sentence_is_limited)
{
	g_autofree char *exact = g_strnfill(SENTENCE_CHARS, 'x');
	g_autofree char *over = g_strconcat(exact, "x", NULL);
	g_autofree char *same = sentence_find_key(exact);
	g_autofree char *cut = sentence_find_key(over);

	g_assert_cmpstr(same, ==, exact);
	g_assert_cmpint(g_utf8_strlen(cut, -1), ==, SENTENCE_CHARS);
	g_assert_true(g_str_has_suffix(cut, "\u2026"));
}

/* Format the text part of five papers. @param summary  of the source, or NULL */
static char *
format_text(enum preference_abstract abstract, const char *summary)
{
	pb_auto(renderer) renderer = render_sample_new_renderer();
	pb_auto(digest) digest = render_sample_new_digest();
	char *text;

	digest->style.abstract = abstract;
	for (unsigned i = 0; i < 5; i++) {
		g_autofree char *id = g_strdup_printf("2611.0100%u", i);
		struct digest_entry *entry =
		    render_sample_add(digest, id, "A title", DIGEST_DETAIL_FULL);

		g_free(entry->paper->abstract);
		entry->paper->abstract =
		    g_strdup_printf("It is hard %u. We propose a way %u.", i, i);
		entry->paper->summary = g_strdup(summary);
	}
	text = NO_ERROR(renderer_format_text(renderer, digest, &error));
	return text;
}

static void
check_text(enum preference_abstract abstract, const char *summary,
    const char *const *with, const char *const *without)
{
	g_autofree char *text = format_text(abstract, summary);

	for (; *with; with++)
		if (!strstr(text, *with))
			g_test_fail_printf("no '%s' in:\n%s", *with, text);
	for (; *without; without++)
		if (strstr(text, *without))
			g_test_fail_printf("'%s' in:\n%s", *without, text);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

TEST(brief_digest_has_sentences)
{
	check_text(PREFERENCE_ABSTRACT_BRIEF, NULL,
	    LIST("     We propose a way 0.", "     We propose a way 4."),
	    LIST("It is hard", "AI"));
	/* One sentence of a summary. */
	check_text(PREFERENCE_ABSTRACT_BRIEF, "A way, e.g. this. Another one.",
	    LIST("     A way, e.g. this. (AI)"), LIST("Another", "way 3", "way 4"));
}

TEST(other_digests_have_no_sentence)
{
	check_text(PREFERENCE_ABSTRACT_FULL, "A way.",
	    LIST("     It is hard 4. We propose a way 4."), LIST("A way."));
	check_text(PREFERENCE_ABSTRACT_SHORT, "A way.",
	    LIST("     It is hard 4. We propose a way 4."), LIST("A way."));
	check_text(PREFERENCE_ABSTRACT_NONE, "A way.", LIST("A title"),
	    LIST("A way.", "We propose"));
}

UNIT_MAIN
