/*
 * test_thirty_mails.c - thirty mails of a subscriber, and the replies as they are read.
 *
 * They are in tests/golden/thirty-mails.txt.  GOLDEN_WRITE=1 in the environment
 * writes them; read the difference before you commit it.
 */
#include <string.h>

#include "lib/cases.h"
#include "lib/conversation.h"
#include "lib/unit.h"

static const struct store_fixture_copies papers[] = {
    {"Agents and function calling",
        "Agents plan steps. Function calling helps with tools.", 8},
    {"Function calling without tears",
        "Function calling helps to plan steps with tools.", 3},
    {"Large language models (LLMs) at sea", "Large language models (LLMs) speak words.",
        4},
    {"What an LLM writes", "An LLM speaks words of the sea.", 5},
    {"Weather by night", "Rain and snow over the sea.", 120},
    {"Folding in cells", "Proteins in cells.", 120},
};

/* Mails of Eva, and the days since the one before. */
struct mail {
	const char *subject, *text, *days;
};

static void
fill(struct conversation *c)
{
	store_fixture_save_copies(c->fixture, papers, G_N_ELEMENTS(papers), 0);
}

/* Decode quoted-printable (RFC 2045 section 6.7). */
static char *
decode(const char *text)
{
	GString *plain = g_string_new(NULL);

	for (; *text; text++) {
		if (g_str_has_prefix(text, "=\r\n")) {
			text += 2;
		} else if (*text == '=') {
			g_string_append_c(
			    plain, (char)(g_ascii_xdigit_value(text[1]) * 16 +
			                  g_ascii_xdigit_value(text[2])));
			text += 2;
		} else if (*text != '\r') {
			g_string_append_c(plain, *text);
		}
	}
	return g_string_free(plain, FALSE);
}

/* The first part; the HTML part follows. */
static char *
decode_text_part(const char *mail)
{
	const char *start = strstr(mail, "Content-Transfer-Encoding:");
	const char *end = strstr(start, "\r\n--=_");
	g_autofree char *part =
	    g_strndup(start, end ? (size_t)(end - start) : strlen(start));

	return decode(strstr(part, "\r\n\r\n") + 4);
}

static void
add_indented(GString *all, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++)
		if (**line || line[1])
			g_string_append_printf(
			    all, "%s%s\n", **line ? "    " : "", *line);
}

static void
exchange(struct conversation *c, const struct mail *row, char **reply, GString *all)
{
	const char *to = *reply ? *reply : HOME;
	pb_auto(inmail) mail = conversation_new_mail(EVA, row->subject, row->text);
	g_autofree char *answer = NULL, *text = NULL;
	int64_t before = conversation_count_mails(c);

	c->options.now += cases_number(row->days) * (int64_t)DAY + 60;
	store_fixture_set_now(c->fixture, c->options.now);
	g_string_append_printf(
	    all, "%s\n%s%s", row->subject, row->text, *row->text ? "\n" : "");
	conversation_hand_in(c, mail, EVA, to);
	g_assert_cmpint(conversation_count_mails(c), ==, before + 1);
	answer = conversation_get_mail(c);
	text = decode_text_part(answer);
	g_string_append_c(all, '\n');
	add_indented(all, text);
	g_string_append_c(all, '\n');
	g_free(*reply);
	*reply = g_strdup(strstr(answer, "Reply-To: ") + strlen("Reply-To: "));
	*strchr(*reply, '\r') = '\0';
	/* The daily limit is not the subject here. */
	store_fixture_run(c->fixture, "DELETE FROM rate_log");
}

static void
compare_golden(const char *text)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *path = g_build_filename(
	    top ? top : ".", "tests", "golden", "thirty-mails.txt", NULL);
	g_autofree char *wanted = NULL;
	g_autoptr(GError) error = NULL;

	if (g_getenv("GOLDEN_WRITE"))
		g_file_set_contents(path, text, -1, &error);
	else
		g_file_get_contents(path, &wanted, NULL, &error);
	g_assert_no_error(error);
	if (wanted)
		g_assert_cmpstr(text, ==, wanted);
}

TEST(thirty_mails_and_their_replies)
{
	pb_auto(conversation) c = conversation_new();
	g_autoptr(GString) all = g_string_new(NULL);
	g_autofree char *reply = NULL;
	unsigned number = 0;

	fill(c);
	conversation_load_templates(c);
	conversation_subscribe(c, EVA);
	CASES_FOREACH_AS(struct mail, row, "thirty_mails") {
		g_string_append_printf(all, "%u. ", ++number);
		exchange(c, row, &reply, all);
	}
	compare_golden(all->str);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_set_nonfatal_assertions();
	unit_add_all();
	return g_test_run();
}
