/*
 * test_phrases.c - files of phrases, and how their patterns match.
 */
#include "model/phrases.h"

#include <string.h>

#include "base/error.h"
#include "lib/unit.h"

TEST(errors_say_where)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
	    {"\tbye\n", "xx:1: expected the name"},
	    {"leave\n\tbye\nleave\n", "xx:3: there is such a section already"},
	    {"leave\n\t\xff\n", "xx:2: not UTF-8"},
	    {"# A comment\n\nleave\n\t(bye\n", "xx:4: a bracket is not closed"},
	    {"leave\n\tgood [bye\n", "xx:2: a bracket is not closed"},
	    {"leave\n\tbye <now>\n", "xx:2: no such section: <now>"},
	    {"leave\n\tbye <now\n", "xx:2: no such section: <now"},
	    {"leave\n\tbye )\n", "xx:2: not a word: )"},
	    {"leave\n\tbye .\n", "xx:2: not a word: ."},
	    {"add\n\tadd <topics> [too] ... now\n",
	        "xx:2: other words after a slot of any words: ... now"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;

		g_assert_null(phrases_parse("xx", rows[i].text, &error));
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		if (!g_str_has_prefix(error->message, rows[i].says))
			g_error("%zu: %s", i, error->message);
	}
}

static const char file[] =
    "filler\n\t(please|the|so to say)\n"
    "courtesy\n\tthanks\n"
    "never\n\tmy\n"
    "weekday\n\t(monday|mon) = mon\n\tfriday = fri\n"
    "on\n\ton <weekday> [and <weekday>]\n"
    "short\n\tgood\n\t(good night|night owl*)\n\t=\u00fcber\n"
    "intent ask\n\t(ask|beg) [me] <on>\n\ttell <topics> [now] = loud\n"
    "\tend $\n"
    "no\n\t(refuse|never)\n"
    "cue ask\n\twant ... back\n\tgive <topics>\n";

static bool
accept_all(struct phrases_text *text, const struct phrases_match *match)
{
	(void)text;
	(void)match;
	return true;
}

static char *
match_intent(const struct phrases *phrases, bool is_cue, const char *line)
{
	pb_auto(phrases_text) text = phrases_text_new(line);
	const struct phrases_span span = {text, 0, text->words->len};
	struct phrases_match match;
	GString *found = g_string_new(NULL);

	if (!phrases_find_intent(phrases, &span, is_cue, accept_all, &match))
		return g_string_free(found, FALSE);
	g_string_append(found, match.intent);
	for (guint i = 0; i < match.values->len; i++) {
		const struct phrases_value *value =
		    &g_array_index(match.values, struct phrases_value, i);

		g_string_append_printf(found, " %s=%s", value->name, value->text);
	}
	phrases_match_clear(&match);
	return g_string_free(found, FALSE);
}

/* @param rows  {sentence, its intent; "" for none} */
static void
check_intents(bool is_cue, const char *const rows[][2], size_t count)
{
	pb_auto(phrases) phrases = NO_ERROR(phrases_parse("xx", file, &error));

	for (size_t i = 0; i < count; i++) {
		g_autofree char *found = match_intent(phrases, is_cue, rows[i][0]);

		if (strcmp(found, rows[i][1]) != 0)
			g_error("'%s': '%s'", rows[i][0], found);
	}
}

TEST(a_pattern_covers_its_sentence_but_for_fillers)
{
	static const char *const rows[][2] = {
	    {"ask on Monday", "ask weekday=mon"},
	    {"Please, so to say: BEG me the on mon and Friday!",
	        "ask weekday=mon weekday=fri"},
	    {"ask on Tuesday", ""},
	    {"ask on Monday slowly", ""},
	    {"so ask on Monday", ""},
	    {"tell graph theory", "ask topics=graph theory value=loud"},
	    {"tell graph theory now, thanks", "ask topics=graph theory value=loud"},
	    {"tell graphs (or trees)", "ask topics=graphs (or trees) value=loud"},
	    {"tell my theory", ""},
	    {"end. please", "ask"},
	    {"end it", ""},
	    {"", ""},
	};

	check_intents(false, rows, G_N_ELEMENTS(rows));
}

TEST(a_cue_is_enough_unless_a_word_refuses)
{
	static const char *const rows[][2] = {
	    {"want it back", "ask"},
	    {"After all I want my old digest back said Ada", "ask"},
	    {"After all, I want my old digest back", ""},
	    {"I refuse that they want it back", ""},
	    {"want it back but never again", ""},
	    {"could they give graph theory", "ask topics=graph theory"},
	    {"could they give graph theory, thanks", "ask topics=graph theory"},
	    {"could they give graph theory my dog likes", "ask topics=graph theory"},
	    {"ask on Monday", ""},
	};

	check_intents(true, rows, G_N_ELEMENTS(rows));
}

TEST(the_longest_phrase_at_a_start_is_skipped)
{
	static const struct {
		const char *line;
		unsigned end;
	} rows[] = {{"good morning", 1}, {"good night", 2}, {"Night owls", 2},
	    {"night", 0}, {"\u00dcber", 1}, {"uber", 0}, {"goodly", 0}};
	pb_auto(phrases) phrases = phrases_parse("xx", file, NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(phrases_text) text = phrases_text_new(rows[i].line);
		const struct phrases_span span = {text, 0, text->words->len};

		if (phrases_skip(phrases, "short", &span) != rows[i].end)
			g_error("'%s'", rows[i].line);
	}
}

TEST(text_becomes_words_and_marks)
{
	static const char *const rows[][2] = {
	    {"Don't e-mail \u00c9va, c++!", "dont e mail eva , c++ ."},
	    {"at 18:30 on 2026-12-01.", "at 18:30 on 2026-12-01 ."},
	    {"14. Dezember: J. Smith", "14 , dezember , j smith"},
	    {"I know 1. I know 5. am 4. 5.", "i know 1 , i know 5 am 4 5 ."},
	    {"Like 1. Hide 2.", "like 1 , hide 2 ."},
	    {"on 1. Whales 2. Seals", "on , whales 2 , seals"},
	    {"see http://x.example/a?b=c, me@x.example.",
	        "see http://x.example/a?b_c , me@x.example ."},
	    {"graphs (a, b) x", "graphs ( a b ) x"},
	    {"( unclosed, x", "unclosed , x"},
	    {"\u8ba2\u9605rlhf\u3002", "\u8ba2 \u9605 rlhf ."},
	    {"what? ok", "what ? ok"},
	    {"well - no", "well , no"},
	    {"\U0001f44d +1", "\U0001f44d +1"},
	    {"", ""},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(phrases_text) text = phrases_text_new(rows[i][0]);
		g_autoptr(GString) found = g_string_new(NULL);

		for (guint j = 0; j < text->words->len; j++) {
			const struct phrases_word *word = phrases_get_word(text, j);
			char mark[2] = {word->mark};

			g_string_append_printf(found, "%s%s", j ? " " : "",
			    word->mark ? mark : word->plain);
		}
		if (strcmp(found->str, rows[i][1]) != 0)
			g_error("'%s': '%s'", rows[i][0], found->str);
	}
}

/* A pattern of many optional words has a limit of steps, not of time. */
TEST(a_long_line_of_fillers_ends)
{
	g_autoptr(GString) line = g_string_new("please");
	g_autofree char *found = NULL;
	pb_auto(phrases) phrases = phrases_parse("xx", file, NULL);

	for (unsigned i = 0; i < 2000; i++)
		g_string_append(line, " the (so to say, please)");
	found = match_intent(phrases, false, line->str);
	g_assert_cmpstr(found, ==, "");
}

TEST(values_are_found_in_any_language)
{
	g_assert_cmpstr(phrases_find_value("verbs", "hilfe"), ==, "help");
	g_assert_null(phrases_find_value("verbs", "hilf"));
	g_assert_null(phrases_find_value("none", "hilfe"));
}

UNIT_MAIN
