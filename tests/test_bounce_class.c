/*
 * test_bounce_class.c - refusals have the class of their meaning.
 *
 * The bars are those of the whole feature, since no table of rules fits all texts.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/unit.h"
#include "transport/bounce_class.h"

/* Percentages, of all refusals. */
#define DEAD_FOUND_MIN  90
#define CALLED_DEAD_MAX 1
#define SAME_CLASS_MIN  90

/* clang-format off */
/* Fragments of the patterns, which hostile text repeats. */
static const char *const fragments[] = {
    "user ", "user that you ", "addr ", "a@b.example ", "(<addr>) ", "is ", "has been ",
    "mailbox ", "mailbox exceeds ", "quota is ", "no such ", "not a ", "unknown ",
    "invalid user ", "exceeded the disk ", "message was ", "from ip ", "relay ",
    "your host ", "sender ", "domain of sender ", "please check ", "may be ", "a.", "a@",
    "1.2.3.", "ab:", "f::", "<", "x", "\"", "http://", "host or domain ", "name/",
    "not found, ", "dns error ", "utilisateur ", "unbekannt ", "メールボックス", "容量",
    "用户", "e\u0301", "\xff", "5.1.1 ", "recipient refused: access denied. ",
};
/* clang-format on */

/* @return the lines of a file of the source */
static char **
read_lines(const char *directory, const char *name)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *path =
	    g_build_filename(top ? top : ".", directory, name, NULL);
	g_autofree char *text = NULL;

	NO_ERROR(g_file_get_contents(path, &text, NULL, &error));
	return g_strsplit(text, "\n", -1);
}

struct figures {
	unsigned dead, dead_found, others, called_dead, same;
};

/* @param field  class, stage, reply code, enhanced code ("-": none), text */
static void
check_refusal(char *const field[5], struct figures *figures, GHashTable *rules)
{
	static const struct {
		const char *name;
		enum smtp_stage stage;
	} stages[] = {
	    {"-", SMTP_STAGE_NONE},
	    {"connect", SMTP_STAGE_CONNECT},
	    {"ehlo", SMTP_STAGE_EHLO},
	    {"mail", SMTP_STAGE_MAIL},
	    {"rcpt", SMTP_STAGE_RCPT},
	    {"data", SMTP_STAGE_DOT},
	};
	struct bounce_refusal refusal = {
	    .code = atoi(field[2]),
	    .status = strcmp(field[3], "-") == 0 ? "" : field[3],
	    .text = field[4],
	};
	struct bounce_verdict verdict;
	const char *class;
	bool is_dead = strcmp(field[0], "dead") == 0;
	size_t i = 0;

	while (strcmp(field[1], stages[i].name) != 0)
		g_assert_cmpuint(++i, <, G_N_ELEMENTS(stages));
	refusal.stage = stages[i].stage;
	verdict = bounce_classify(&refusal);
	class = bounce_class_get_name(verdict.class);
	g_hash_table_add(rules, (char *)verdict.rule);
	figures->dead += is_dead;
	figures->others += !is_dead;
	figures->dead_found += is_dead && verdict.class == BOUNCE_DEAD;
	figures->called_dead += !is_dead && verdict.class == BOUNCE_DEAD;
	if (strcmp(class, field[0]) == 0)
		figures->same++;
	else
		g_test_message("%s instead of %s by %s: %s %s %s", class, field[0],
		    verdict.rule, field[2], field[3], field[4]);
}

/* Classify the refusals of a file in tests/bounces. @param rules  adds those that
 * decided */
static struct figures
check_file(const char *name, GHashTable *rules)
{
	struct figures figures = {0};
	g_auto(GStrv) lines = read_lines("tests/bounces", name);

	for (char **line = lines; *line; line++) {
		g_auto(GStrv) fields = g_strsplit(*line, "\t", -1);

		if (**line == '#' || !**line)
			continue;
		g_assert_cmpuint(g_strv_length(fields), ==, 5);
		check_refusal(fields, &figures, rules);
	}
	return figures;
}

TEST(refusals_have_the_class_of_their_meaning)
{
	g_autoptr(GHashTable) rules = g_hash_table_new(g_str_hash, g_str_equal);
	struct figures all = check_file("refusals.tsv", rules);

	g_test_message("dead: %u of %u; others called dead: %u of %u; same class: %u",
	    all.dead_found, all.dead, all.called_dead, all.others, all.same);
	g_assert_cmpuint(all.dead_found * 100, >=, all.dead * DEAD_FOUND_MIN);
	g_assert_cmpuint(all.called_dead * 100, <=, all.others * CALLED_DEAD_MAX);
	g_assert_cmpuint(all.same * 100, >=, (all.dead + all.others) * SAME_CLASS_MIN);
}

TEST(code_and_text_that_disagree_have_a_precedence)
{
	g_autoptr(GHashTable) rules = g_hash_table_new(g_str_hash, g_str_equal);
	struct figures all = check_file("precedence.tsv", rules);

	g_assert_cmpuint(all.same, ==, all.dead + all.others);
}

TEST(every_rule_decides_a_sample)
{
	g_autoptr(GHashTable) rules = g_hash_table_new(g_str_hash, g_str_equal);
	g_auto(GStrv) lines = read_lines("etc/bounces", "rules");
	unsigned missing = 0;

	check_file("refusals.tsv", rules);
	check_file("precedence.tsv", rules);
	for (char **line = lines; *line; line++) {
		g_auto(GStrv) words = g_strsplit(*line, " ", -1);

		if (**line && strcmp(*words, "rule") == 0 &&
		    !g_hash_table_contains(rules, words[1])) {
			g_test_message("%s: no sample", *line);
			missing++;
		}
	}
	g_assert_cmpuint(missing, ==, 0);
}

TEST(sender_refusals_name_the_domain_or_the_message)
{
	static const struct {
		const char *status, *text;
		enum bounce_fault fault;
	} faults[] = {
	    {"5.7.26", "fails DMARC", BOUNCE_FAULT_DOMAIN},
	    {"5.7.1", "IP has a poor reputation", BOUNCE_FAULT_DOMAIN},
	    {"5.7.1", "relaying denied", BOUNCE_FAULT_DOMAIN},
	    {"5.7.0", "", BOUNCE_FAULT_DOMAIN},
	    {"5.3.4", "message too big", BOUNCE_FAULT_MESSAGE},
	    {"5.6.0", "", BOUNCE_FAULT_MESSAGE},
	    {"", "virus found", BOUNCE_FAULT_MESSAGE},
	    {"5.1.1", "user unknown", BOUNCE_FAULT_NONE},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++) {
		const struct bounce_refusal refusal = {
		    SMTP_STAGE_RCPT, 550, faults[i].status, faults[i].text};

		g_assert_cmpint(bounce_classify(&refusal).fault, ==, faults[i].fault);
	}
}

/* @return the class of two fragments, repeated up to a length, before a plain refusal
 */
static enum bounce_class
classify_repeated(const char *first, const char *second, gsize length)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct bounce_refusal refusal = {.stage = SMTP_STAGE_RCPT, .code = 550};

	do
		g_string_append_printf(text, "%s%s", first, second);
	while (text->len < length);
	g_string_append(text, ". user unknown");
	refusal.text = text->str;
	return bounce_classify(&refusal).class;
}

/* A pattern that reached the matcher's limit of steps would not match. */
TEST(hostile_text_stays_within_the_limit_of_steps)
{
	unsigned differences = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(fragments); i++)
		for (size_t j = 0; j <= i; j++) {
			const char *first = fragments[i], *second = fragments[j];

			if (classify_repeated(first, second, 60) ==
			    classify_repeated(first, second, 4000))
				continue;
			g_test_message("'%s%s'", first, second);
			differences++;
		}
	g_assert_cmpuint(differences, ==, 0);
}

UNIT_MAIN
