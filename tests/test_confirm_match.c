/*
 * test_confirm_match.c - replies to a confirmation: yes, no, automatic, or unclear.
 */
#include <string.h>

#include "lib/cases.h"
#include "lib/conversation.h"
#include "lib/unit.h"
#include "service/inbound/confirm_match.h"

#define TOKEN   "abcdefghijklmnopqrstuvwx23"
#define ID      "letter.0123456789@example.org"
#define OURS    "Please confirm your request to paperboy@example.org"
#define OURS_DE "Bitte best\u00e4tigen: deine Anfrage an paperboy@example.org"

static const char *const subjects[] = {OURS, OURS_DE, NULL};
static const struct consent_question question = {TOKEN, ID, subjects};

static const char *const names[] = {
    [CONSENT_YES] = "yes",
    [CONSENT_NO] = "no",
    [CONSENT_AUTOMATIC] = "automatic",
    [CONSENT_UNCLEAR] = "unclear",
};

static enum consent
check_mail(const char *subject, const char *text, bool has_reference)
{
	pb_auto(inmail) mail = conversation_new_mail("eva@example.com", subject, text);

	if (has_reference)
		g_ptr_array_add(mail->references, g_strdup(ID));
	return confirm_match(mail, &question);
}

static unsigned
check(enum consent wanted, const char *subject, const char *text)
{
	enum consent found = check_mail(subject, text, true);

	if (found == wanted)
		return 0;
	g_test_message("subject '%s', text '%s': %s, expected %s", subject, text,
	    names[found], names[wanted]);
	return 1;
}

static void
check_texts(enum consent wanted, const char *table)
{
	unsigned wrong = 0;

	CASES_FOREACH(row, table, *text)
		wrong += check(wanted, "Re: " OURS, row->text);
	g_assert_cmpuint(wrong, ==, 0);
}

TEST(consent_at_the_start_is_a_yes)
{
	check_texts(CONSENT_YES, "confirm_match_yes");
}

TEST(refusal_anywhere_is_a_no)
{
	check_texts(CONSENT_NO, "confirm_match_no");
}

/* A consent with a refusal in a later part is asked about. */
TEST(consent_with_a_refusal_is_unclear)
{
	check_texts(CONSENT_UNCLEAR, "confirm_match_but");
}

/* A correction is not a consent; a wish that is understood may follow one. */
TEST(consent_with_a_correction_is_unclear)
{
	check_texts(CONSENT_UNCLEAR, "confirm_match_corrections");
	check_texts(CONSENT_YES, "confirm_match_wishes");
}

TEST(other_text_is_unclear)
{
	check_texts(CONSENT_UNCLEAR, "confirm_match_other");
}

TEST(automatic_replies_are_recognised)
{
	unsigned wrong = 0;

	CASES_FOREACH(row, "confirm_match_automatic", *text) {
		wrong += check(CONSENT_AUTOMATIC, row->text, "Yes, I am away.");
		wrong += check(CONSENT_AUTOMATIC, row->text, "");
		wrong += check(CONSENT_AUTOMATIC, row->text, "No.");
	}
	CASES_FOREACH(row, "confirm_match_automatic_texts", *text)
		wrong += check(CONSENT_AUTOMATIC, "Re: " OURS, row->text);
	g_assert_cmpuint(wrong, ==, 0);
}

TEST(reply_prefixes_and_tags_are_ignored)
{
	static const char *const replies[] = {OURS, OURS_DE, "Re: " OURS, "RE: " OURS,
	    "AW: " OURS_DE, "Antw: " OURS, "SV: " OURS, "R: " OURS, "Odp: " OURS,
	    "TR: " OURS, "RV: " OURS, "Re[2]: " OURS, "Re(3): " OURS, "Re: Re: " OURS,
	    "Fwd: " OURS, "回复: " OURS, "答复：" OURS, "返信: " OURS,
	    "[EXT] Re: " OURS, "[External] " OURS, "Re: [EXTERN] " OURS,
	    "[SPAM] Re: " OURS, "***SPAM*** Re: " OURS, "{Spam?} Re: " OURS,
	    "EXTERNAL: Re: " OURS, "Re: [list] " OURS, "re: " OURS " ",
	    "Re:  Please  confirm your request to paperboy@example.org"};
	unsigned wrong = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(replies); i++) {
		wrong += check(CONSENT_YES, replies[i], "");
		wrong +=
		    check(CONSENT_YES, replies[i], "> To start it, reply with yes.\n");
		wrong += check(CONSENT_YES, replies[i], "yes");
		wrong += check(CONSENT_NO, replies[i], "no");
		wrong += check(CONSENT_UNCLEAR, replies[i], "What is this?");
	}
	g_assert_cmpuint(wrong, ==, 0);
}

TEST(empty_reply_needs_our_subject_and_message_id)
{
	pb_auto(inmail) direct =
	    conversation_new_mail("eva@example.com", "Re: " OURS, " \n\n");
	unsigned wrong = 0;

	g_ptr_array_add(direct->in_reply_to, g_strdup(ID));
	g_assert_cmpint(confirm_match(direct, &question), ==, CONSENT_YES);
	g_assert_cmpint(check_mail("Re: " OURS, "", true), ==, CONSENT_YES);
	g_assert_cmpint(check_mail("Re: " OURS, "", false), ==, CONSENT_UNCLEAR);
	g_assert_cmpint(
	    check_mail("Re: " OURS, "> quoted", false), ==, CONSENT_UNCLEAR);
	wrong += check(CONSENT_UNCLEAR, "", "");
	wrong += check(CONSENT_UNCLEAR, "Re:", "");
	wrong += check(CONSENT_UNCLEAR, "(no subject)", "");
	wrong += check(CONSENT_UNCLEAR, "Re: your letter", "");
	wrong += check(CONSENT_UNCLEAR, "Invitation: meeting on Monday", "");
	g_assert_cmpuint(wrong, ==, 0);
}

TEST(changed_subject_counts_as_a_whole)
{
	unsigned wrong = 0;

	CASES_FOREACH(row, "confirm_match_subjects", *verdict, *subject, *text) {
		enum consent wanted = CONSENT_YES;

		while (strcmp(names[wanted], row->verdict) != 0)
			wanted++;
		wrong += check(wanted, row->subject, row->text);
	}
	g_assert_cmpuint(wrong, ==, 0);
}

/* The phrases of a block of a file, of which groups have one a "|". */
static GPtrArray *
read_phrases(const char *path, const char *block)
{
	g_autofree char *content = NULL;
	g_auto(GStrv) lines = NULL;
	GPtrArray *phrases = g_ptr_array_new_with_free_func(g_free);
	bool is_in = false;

	g_assert_true(g_file_get_contents(path, &content, NULL, NULL));
	lines = g_strsplit(content, "\n", -1);
	for (char **line = lines; *line; line++) {
		g_auto(GStrv) parts = NULL;

		if (**line != '\t')
			is_in = strcmp(*line, block) == 0 || (is_in && !**line);
		if (**line != '\t' || !is_in)
			continue;
		parts = g_strsplit_set(*line, "\t(|)", -1);
		for (char **part = parts; *part; part++) {
			g_strdelimit(*part, "=*$", ' ');
			if (*g_strstrip(*part))
				g_ptr_array_add(phrases, g_strdup(*part));
		}
	}
	return phrases;
}

static unsigned
check_phrases(const char *path, const char *block, enum consent wanted)
{
	g_autoptr(GPtrArray) phrases = read_phrases(path, block);
	unsigned wrong = 0;

	for (guint i = 0; i < phrases->len; i++)
		wrong += wanted == CONSENT_AUTOMATIC
		             ? check(wanted, phrases->pdata[i], "")
		             : check(wanted, "Re: " OURS, phrases->pdata[i]);
	return wrong;
}

TEST(every_phrase_matches_beside_all_others)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *directory =
	    g_build_filename(top ? top : "..", "etc/phrases", NULL);
	g_autoptr(GDir) files = g_dir_open(directory, 0, NULL);
	const char *name;
	unsigned wrong = 0;

	g_assert_nonnull(files);
	while ((name = g_dir_read_name(files))) {
		g_autofree char *path = g_build_filename(directory, name, NULL);

		wrong += check_phrases(path, "yes", CONSENT_YES);
		wrong += check_phrases(path, "yes-anyway", CONSENT_YES);
		wrong += check_phrases(path, "no", CONSENT_NO);
		wrong += check_phrases(path, "not-no", CONSENT_UNCLEAR);
		wrong += check_phrases(path, "automatic", CONSENT_AUTOMATIC);
	}
	g_assert_cmpuint(wrong, ==, 0);
}

/* A refusal, an automatic reply or a quoted consent, in any dress, is never a yes. */
TEST(what_is_not_consent_never_confirms)
{
	static const char *const dresses[][2] = {{"", ""}, {"Hi,\n", ""}, {"", "!!!"},
	    {"*", "*"}, {"", "\n> yes"}, {"> yes\n", ""}, {"  ", "  "}, {"\"", "\""},
	    {"Dear all,\n\n", "\n\nEva"}, {"", "\nOn Monday paperboy wrote:\n> yes"},
	    {"", ". Bye"}, {"", " :-)"}, {"", "\nyes"}, {"", "\nconfirm"}};
	static const char *const blocks[] = {"no", "automatic"};
	const char *top = g_getenv("top_srcdir");
	g_autofree char *directory =
	    g_build_filename(top ? top : "..", "etc/phrases", NULL);
	g_autoptr(GDir) files = g_dir_open(directory, 0, NULL);
	const char *name;
	unsigned count = 0, wrong = 0;

	while ((name = g_dir_read_name(files))) {
		g_autofree char *path = g_build_filename(directory, name, NULL);

		for (size_t b = 0; b < G_N_ELEMENTS(blocks); b++) {
			g_autoptr(GPtrArray) phrases = read_phrases(path, blocks[b]);

			for (guint i = 0; i < phrases->len; i++)
				for (size_t d = 0; d < G_N_ELEMENTS(dresses); d++) {
					g_autofree char *upper =
					    g_utf8_strup(phrases->pdata[i], -1);
					g_autofree char *text =
					    g_strconcat(dresses[d][0],
					        d % 2 ? upper : phrases->pdata[i],
					        dresses[d][1], NULL);

					count++;
					if (check_mail("Re: " OURS, text, true) !=
					    CONSENT_YES)
						continue;
					g_test_message("'%s' is a yes", text);
					wrong++;
				}
		}
	}
	g_assert_cmpuint(count, >, 10000);
	g_assert_cmpuint(wrong, ==, 0);
}

TEST(long_lines_are_matched_in_bounded_time)
{
	int size = g_getenv("PAPERBOY_LONG") ? 64 * 1024 : 8 * 1024;
	g_autofree char *words = g_strnfill((size_t)size, '?');
	g_autoptr(GString) many = g_string_new(NULL);

	for (int i = 0; i < size / 4; i++)
		g_string_append(many, "so ");
	g_string_append(many, "yes");
	g_assert_cmpint(check_mail("Re: " OURS, words, true), ==, CONSENT_UNCLEAR);
	g_assert_cmpint(check_mail("Re: " OURS, many->str, true), ==, CONSENT_UNCLEAR);
}

UNIT_MAIN
