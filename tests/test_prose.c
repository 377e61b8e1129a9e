/*
 * test_prose.c - what mails in ordinary words ask for.
 */
#include "message/prose.h"

#include <string.h>

#include "base/bounds.h"
#include "lib/unit.h"

static bool
is_command(const char *line, void *data)
{
	(void)data;
	return g_str_has_prefix(line, "add ");
}

static struct prose *
read_mail(const char *subject, const char *text)
{
	static const char *const names[] = {"Ada Reader", "reader", NULL};
	const struct prose_mail mail = {
	    .subject = subject, .text = text, .names = names, .is_command = is_command};

	return prose_read(&mail);
}

/* "subscribe; add=robots; -name; ?what" */
static char *
summarize(const struct prose *prose)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];

		if (text->len)
			g_string_append(text, "; ");
		switch (item->kind) {
		case PROSE_COMMAND:
			g_string_append_printf(text, "!%s", item->line);
			break;
		case PROSE_WISH:
			g_string_append(text, item->intent);
			for (guint j = 0; j < item->values->len; j++)
				g_string_append_printf(text, "%c%s", j ? '|' : '=',
				    (char *)item->values->pdata[j]);
			break;
		case PROSE_CUT:
			g_string_append_printf(text, "-%s", item->reason);
			break;
		case PROSE_DOUBT:
			g_string_append(text, "??");
			break;
		case PROSE_UNREAD:
			g_string_append_printf(text, "?%s", item->line);
			break;
		}
	}
	return g_string_free(text, FALSE);
}

static const struct {
	const char *subject, *text, *expected;
} rows[] = {
    {"subscribe", "", "subscribe"},
    {"", "Hello,\n\nplease sign me up for robots and graph theory.\n\nBest,\nAda",
        "-salutation; subscribe=robots|graph theory; -closing; -closing"},
    {"Subscribe", "- robot arms\n- protein design\n\nKind regards\nBob B.",
        "subscribe; add=robot arms; add=protein design; -closing; -closing"},
    {"", "robot arms", "?robot arms"},
    {"", "add robots\nThanks\nAda", "!add robots; -closing; -name"},
    {"Please take me off your list", "", "leave"},
    {"", "stop sending papers about agents", "exclude=agents"},
    {"", "Remove me. My phone is out of order.", "leave; ?My phone is out of order."},
    {"", "unsubscribe me if it costs something", "??"},
    {"", "Please pause until 7 December.", "pause=7|12"},
    {"", "Add tax law, but no surveys", "add=tax law; exclude=surveys"},
    {"subscribe", "swarm robots\n\nJane Roe\nTel. +49 30 1234567",
        "subscribe; add=swarm robots; -contact; -contact"},
    {"subscribe", "swarm robots\n-- \nJane Roe",
        "subscribe; add=swarm robots; "
        "-signature; -signature"},
    {"", "Bitte künftig nur noch dienstags", "frequency=tue"},
    {"", "Moechte mich bitte abmelden, danke!", "leave"},
    {"", "退订", "leave"},
    {"", "请订阅强化学习和机器人的论文", "subscribe=强化学习|机器人"},
    {"", "Je voudrais recevoir les articles sur l'optique", "subscribe=optique"},
};

/* The order of what is cut before and after is of no interest. */
TEST(mails_are_understood)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(prose) prose = read_mail(rows[i].subject, rows[i].text);
		g_autofree char *found = summarize(prose);
		g_auto(GStrv) one = g_strsplit(found, "; ", -1);
		g_auto(GStrv) two = g_strsplit(rows[i].expected, "; ", -1);
		bool is_same = g_strv_length(one) == g_strv_length(two);

		for (char **part = two; *part; part++)
			is_same =
			    is_same && g_strv_contains((const char *const *)one, *part);
		if (is_same)
			continue;
		g_test_message(
		    "'%s': %s, not %s", rows[i].text, found, rows[i].expected);
		wrong++;
	}
	g_assert_cmpuint(wrong, ==, 0);
}

/* The letters and digits of a text. */
static char *
get_letters(const char *text)
{
	GString *letters = g_string_new(NULL);

	for (; *text; text = g_utf8_next_char(text))
		if (g_unichar_isalnum(g_utf8_get_char(text)))
			g_string_append_unichar(letters, g_utf8_get_char(text));
	return g_string_free(letters, FALSE);
}

/* Every word of a mail is in an item: done, proposed, cut or not read. */
TEST(each_word_is_accounted_for)
{
	static const char *const parts[] = {"Hello,", "please subscribe me to",
	    "add robots", "robots and", "\n", "\n\n", "Best\nAda", "-- \nAda", "until",
	    "by 7. May?", "> quoted", "unless (maybe)", "(((", "me@example.org",
	    "+49 30 123 4567", "ja, bitte", "不要再发", "x 1. y", "____",
	    "pause 2 weeks; stop", "!!! ...", "end"};
	g_autoptr(GRand) random = g_rand_new_with_seed(7);

	for (unsigned round = 0; round < 300; round++) {
		g_autoptr(GString) text = g_string_new(NULL);
		g_autoptr(GString) read = g_string_new(NULL);
		pb_auto(prose) prose = NULL;
		g_autofree char *all = NULL, *found = NULL;

		for (unsigned i = 0; i < 12; i++)
			g_string_append_printf(text, "%s%c",
			    parts[g_rand_int_range(random, 0, G_N_ELEMENTS(parts))],
			    g_rand_boolean(random) ? ' ' : '\n');
		prose = read_mail("", text->str);
		for (guint i = 0; i < prose->items->len; i++)
			g_string_append(
			    read, ((struct prose_item *)prose->items->pdata[i])->line);
		all = get_letters(text->str);
		found = get_letters(read->str);
		if (strlen(all) != strlen(found))
			g_error("%s\n---\n%s", text->str, read->str);
	}
}

TEST(topics_become_filters)
{
	static const char *const topics[][3] = {
	    {"robots", "robots", NULL},
	    {"graph theory", "\"graph theory\"", NULL},
	    {"graph neural networks (GNNs)", "\"graph neural networks\" OR GNNs", NULL},
	    {"transformers (the network)", "transformers", "the network"},
	    {"\"quoted\" words", "\"quoted  words\"", NULL},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(topics); i++) {
		g_autofree char *unused = NULL;
		g_autofree char *query = prose_format_topic(topics[i][0], &unused);

		g_assert_cmpstr(query, ==, topics[i][1]);
		g_assert_cmpstr(unused, ==, topics[i][2]);
	}
}

UNIT_MAIN
