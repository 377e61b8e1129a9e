/*
 * test_bounce_class.c - refusals have the class of their meaning.
 *
 * The bars are those of the whole feature, since no table of rules fits all texts.
 */
#include <glib.h>
#include <string.h>

#include "lib/bounce_refusals.h"
#include "lib/unit.h"
#include "transport/bounce_class.h"

/* Percentages, of all refusals. */
#define DEAD_FOUND_MIN  90
#define CALLED_DEAD_MAX 1
#define SAME_CLASS_MIN  90

/* clang-format off */
/* Precedence, as documented in bounce_class.h. */
static const struct refusal precedence[] = {
    {SENDER, RCPT, 550, "5.1.1", "rejected as spam"},
    {DEAD, RCPT, 550, "5.7.1", "user unknown"},
    {DEAD, DOT, 550, "5.1.1", "user unknown"},
    {UNKNOWN, DOT, 550, "", "user unknown"},
    {UNKNOWN, DOT, 550, "", "Unknown user eva@docomo.example"},
    {DEAD, RCPT, 550, "", "Unknown user eva@docomo.example"},
    {SENDER, MAIL, 550, "5.1.1", "user unknown"},
    {TEMPORARY, MAIL, 450, "", "user unknown"},
    {TEMPORARY, RCPT, 550, "5.1.1", "greylisted, user unknown"},
    {FULL, RCPT, 550, "5.1.1", "mailbox full"},
    {SENDER, RCPT, 550, "5.1.8", "does not exist"},
    {TEMPORARY, RCPT, 450, "", "mailbox disabled"},
    {DEAD, RCPT, 550, "5.1.1", ""},
    {TEMPORARY, RCPT, 450, "", ""},
    {SENDER, RCPT, 550, "5.7.1", ""},
    {UNKNOWN, RCPT, 550, "", ""},
    {UNKNOWN, NO, 0, "", ""},
    {DEAD, DOT, 554, "5.3.0", "This user doesn't have a mail.example account (a@b.example)"},
    {DEAD, DOT, 554, "", "This account has been permanently discontinued"},
    {DEAD, DOT, 550, "5.7.13", "Disabled recipient"},
    {SENDER, MAIL, 550, "5.7.13", "This account has been disabled"},
    {UNKNOWN, DOT, 554, "", "This account has been disabled for sending"},
    {TEMPORARY, RCPT, 550, "", "The recipient's account is locked"},
    {TEMPORARY, NO, 550, "5.5.0", "Recipient account is blocked"},
};

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

static enum bounce_class
classify(const struct bounce_rules *rules, const struct refusal *refusal)
{
	const struct bounce_refusal asked = {
	    .stage = refusal->stage,
	    .code = refusal->code,
	    .status = refusal->status,
	    .text = refusal->text,
	};
	struct bounce_verdict verdict = bounce_classify(rules, &asked);

	if (verdict.class != refusal->class)
		g_test_message("%s instead of %s by %s: %d %s %s",
		    bounce_class_get_name(verdict.class),
		    bounce_class_get_name(refusal->class), verdict.rule, refusal->code,
		    refusal->status, refusal->text);
	return verdict.class;
}

struct figures {
	unsigned dead, dead_found, others, called_dead, same;
};

static void
count(struct figures *figures, const struct refusal *refusals_of, size_t n)
{
	pb_auto(bounce_rules) rules = bounce_rules_new();

	for (size_t i = 0; i < n; i++) {
		enum bounce_class class = classify(rules, &refusals_of[i]);
		bool is_dead = refusals_of[i].class == BOUNCE_DEAD;

		figures->dead += is_dead;
		figures->others += !is_dead;
		figures->dead_found += is_dead && class == BOUNCE_DEAD;
		figures->called_dead += !is_dead && class == BOUNCE_DEAD;
		figures->same += class == refusals_of[i].class;
	}
}

static void
refusals_have_the_class_of_their_meaning(void)
{
	struct figures all = {0};

	count(&all, refusals, G_N_ELEMENTS(refusals));
	count(&all, tempting, G_N_ELEMENTS(tempting));
	g_test_message("dead: %u of %u; others called dead: %u of %u; same class: %u",
	    all.dead_found, all.dead, all.called_dead, all.others, all.same);
	g_assert_cmpuint(all.dead_found * 100, >=, all.dead * DEAD_FOUND_MIN);
	g_assert_cmpuint(all.called_dead * 100, <=, all.others * CALLED_DEAD_MAX);
	g_assert_cmpuint(all.same * 100, >=, (all.dead + all.others) * SAME_CLASS_MIN);
}

static void
code_and_text_that_disagree_have_a_precedence(void)
{
	pb_auto(bounce_rules) rules = bounce_rules_new();

	for (size_t i = 0; i < G_N_ELEMENTS(precedence); i++)
		g_assert_cmpint(
		    classify(rules, &precedence[i]), ==, precedence[i].class);
}

static void
sender_refusals_name_the_domain_or_the_message(void)
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
	pb_auto(bounce_rules) rules = bounce_rules_new();

	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++) {
		const struct bounce_refusal refusal = {
		    SMTP_STAGE_RCPT, 550, faults[i].status, faults[i].text};

		g_assert_cmpint(
		    bounce_classify(rules, &refusal).fault, ==, faults[i].fault);
	}
}

/* @return the class of two fragments, repeated up to a length, before a plain refusal
 */
static enum bounce_class
classify_repeated(const struct bounce_rules *rules, const char *first,
    const char *second, gsize length)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct bounce_refusal refusal = {.stage = SMTP_STAGE_RCPT, .code = 550};

	do
		g_string_append_printf(text, "%s%s", first, second);
	while (text->len < length);
	g_string_append(text, ". user unknown");
	refusal.text = text->str;
	return bounce_classify(rules, &refusal).class;
}

/* A pattern that reached the matcher's limit of steps would not match. */
static void
hostile_text_stays_within_the_limit_of_steps(void)
{
	pb_auto(bounce_rules) rules = bounce_rules_new();
	unsigned differences = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(fragments); i++)
		for (size_t j = 0; j <= i; j++) {
			const char *first = fragments[i], *second = fragments[j];

			if (classify_repeated(rules, first, second, 60) ==
			    classify_repeated(rules, first, second, 4000))
				continue;
			g_test_message("'%s%s'", first, second);
			differences++;
		}
	g_assert_cmpuint(differences, ==, 0);
}

UNIT_MAIN(refusals_have_the_class_of_their_meaning,
    code_and_text_that_disagree_have_a_precedence,
    sender_refusals_name_the_domain_or_the_message,
    hostile_text_stays_within_the_limit_of_steps)
