/*
 * test_sentence.c - the key sentence of an abstract, and the abstracts of a digest.
 */
#include <glib.h>
#include <string.h>

#include "lib/render_sample.h"
#include "lib/unit.h"
#include "render/sentence.h"

TEST(key_sentence_states_idea_or_result)
{
	static const struct {
		const char *abstract;
		const char *sentence;
	} rows[] = {
	    {"", ""},
	    {"Only this.", "Only this."},
	    {"No full stop", "No full stop"},
	    {"Language models are widely used. However, they often fail at sums. We "
	     "propose Abacus, a framework that adds numbers by moving beads. Code is "
	     "available at https://example.org/abacus.",
	        "We propose Abacus, a framework that adds numbers by moving beads."},
	    {"Recent models have become large. It remains unclear why they work. "
	     "Experiments show that pruning improves accuracy by 4% compared with the "
	     "dense model. The data will be made public.",
	        "Experiments show that pruning improves accuracy by 4% compared with "
	        "the dense model."},
	    {"By J. Doe et al. in Fig. 2. A second\x01 one.\r\nAnd a third?",
	        "And a third?"},
	    {"我们提出一种方法。它更快。", "它更快。"},
	    {"\xff\xfe. \xff", "\uFFFD"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *got = sentence_find_key(rows[i].abstract);

		g_assert_cmpstr(got, ==, rows[i].sentence);
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
	g_autoptr(GError) error = NULL;
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
	text = renderer_format_text(renderer, digest, &error);
	g_assert_no_error(error);
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

TEST(brief_digest_has_sentences_and_three_abstracts)
{
	check_text(PREFERENCE_ABSTRACT_BRIEF, NULL,
	    LIST("     It is hard 0. We propose a way 0.",
	        "     It is hard 2. We propose a way 2.", "     We propose a way 3.",
	        "     We propose a way 4."),
	    LIST("It is hard 3", "AI"));
	check_text(PREFERENCE_ABSTRACT_BRIEF, "A way.",
	    LIST("     A way. (AI)", "     It is hard 2. We propose a way 2."),
	    LIST("way 3", "way 4"));
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
