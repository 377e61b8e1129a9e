/*
 * test_delivery_options.c - effect of each key of `set` on the next digest.
 */
#include <glib.h>
#include <string.h>

#include "base/bounds.h"
#include "lib/render_sample.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "render/bibtex.h"
#include "render/excerpt.h"
#include "service/digest/digest_build.h"
#include "service/people/profile.h"
#include "service/people/subscribe.h"
#include "store/mail/digests.h"

#define ADA "ada@example.org"
#define NOW "2026-11-20T13:00:00Z" /* a Friday */

#define ABSTRACT                                                        \
	"Kernels come first. Then come trees, e.g. Oaks. Of the third " \
	"sentence nobody reads much."

static struct store_fixture *
new_fixture(void)
{
	struct store_fixture *fixture = store_fixture_new();
	struct paper *first =
	    store_fixture_paper("2611.00001", "A kernel of kernels", ABSTRACT);
	struct paper *second =
	    store_fixture_paper("2611.00002", "Trees & co", ABSTRACT);

	first->upvotes = 1;
	second->upvotes = 2;
	second->doi = g_strdup("10.1000/182");
	store_fixture_save(fixture, "made-up", "2026-11-20",
	    store_fixture_time("2026-11-20T12:00:00Z"), first);
	store_fixture_save(fixture, "made-up", "2026-11-19",
	    store_fixture_time("2026-11-20T12:00:00Z"), second);
	store_fixture_subscribe(
	    fixture, ADA, "Europe/Berlin", "kernel", store_fixture_time(NOW));
	/* The other orders have the first paper first. */
	store_fixture_run(fixture, "UPDATE subscriber SET sorting = 'votes'");
	return fixture;
}

static void
change(struct store_fixture *fixture, const struct profile_change *preferences)
{
	struct profile_change whole = *preferences;
	g_autoptr(GError) error = NULL;
	pb_auto(subscriber) subscriber = NULL;

	whole.who = "test";
	subscriber =
	    profile_set(fixture->store, ADA, &whole, store_fixture_time(NOW), &error);
	g_assert_no_error(error);
}

static char *
compose(struct renderer *renderer, const struct digest *digest)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) message = renderer_compose(renderer, digest, &error);
	size_t size;
	const char *data;

	g_assert_no_error(error);
	data = g_bytes_get_data(message, &size);
	return g_strndup(data, size);
}

/* Compose the newest digest. */
static char *
compose_newest(struct store_fixture *fixture)
{
	pb_auto(renderer) renderer = render_sample_new_renderer();
	g_autoptr(GError) error = NULL;
	pb_auto(digest) digest = NULL;
	int64_t id;

	digests_load_last(fixture->store, &id, &error);
	g_assert_no_error(error);
	digest = digests_load(fixture->store, id, &error);
	g_assert_no_error(error);
	return compose(renderer, digest);
}

static void
check(const char *key, const char *message, const char *wanted, bool is_expected)
{
	if (wanted && !!strstr(message, wanted) != is_expected)
		g_test_fail_printf(
		    "%s: %s%s in:\n%s", key, is_expected ? "no " : "", wanted, message);
}

#define WORD(preference, word)                     \
	{                                          \
		.words = { [preference] = (word) } \
	}

static void
each_option_changes_the_next_digest(void)
{
	static const struct {
		const char *key;
		struct profile_change preferences;
		const char *with[3]; /* in the message only with the option */
		const char *without; /* in the message only without it */
	} rows[] = {
	    {"max 1", {.max_full = 1}, {"More by title"}, NULL},
	    {"name", {.name = "Countess"}, {"To: Countess <ada@example.org>"}, NULL},
	    {"order date", WORD(PREFERENCE_ORDER, "date"),
	        {"2 new papers: A kernel of kernels"}, "2 new papers: Trees & co"},
	    {"order score", WORD(PREFERENCE_ORDER, "score"),
	        {"2 new papers: A kernel of kernels"}, "2 new papers: Trees & co"},
	    {"group on", WORD(PREFERENCE_GROUP, "on"),
	        {"\r\n=3D=3D kernel =3D=3D\r\n", "<h2 class=3D\"group\""}, NULL},
	    {"abstract none", WORD(PREFERENCE_ABSTRACT, "none"), {NULL},
	        "Kernels come first"},
	    {"abstract short", WORD(PREFERENCE_ABSTRACT, "short"),
	        {"e.g. Oaks. =E2=80=A6"}, "Of the third"},
	    {"format text", WORD(PREFERENCE_FORMAT, "text"),
	        {">\r\nContent-Type: text/plain; charset=utf-8\r\n"}, "text/html"},
	    {"format html", WORD(PREFERENCE_FORMAT, "html"),
	        {">\r\nContent-Type: text/html; charset=utf-8\r\n"}, "text/plain"},
	    {"attach bibtex", WORD(PREFERENCE_ATTACH, "bibtex"),
	        {"Content-Type: multipart/mixed; boundary=",
	            "Content-Disposition: attachment; "
	            "filename=\"paperboy-2026-11-20.bib\"",
	            "doi =3D {10.1000/182},"},
	        NULL},
	    {"language de", {.language = "de"},
	        {"Subject: 2 neue Artikel: ", "2 neue Artikel",
	            "Freitag, 20. November 2026"},
	        "new papers"},
	};
	pb_auto(store_fixture) plain = new_fixture();
	g_autofree char *usual = NULL;

	assert_digests_at(plain, NOW, 1);
	usual = compose_newest(plain);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = new_fixture();
		g_autofree char *message = NULL;

		change(fixture, &rows[i].preferences);
		assert_digests_at(fixture, NOW, 1);
		message = compose_newest(fixture);
		for (size_t j = 0; j < G_N_ELEMENTS(rows[i].with); j++) {
			check(rows[i].key, message, rows[i].with[j], true);
			check("usual", usual, rows[i].with[j], false);
		}
		check(rows[i].key, message, rows[i].without, false);
		check("usual", usual, rows[i].without, true);
	}
}

static void
each_schedule_option_moves_the_next_digest(void)
{
	static const struct {
		struct profile_change preferences;
		const char *due;
	} rows[] = {
	    {{.zone = "Asia/Tokyo"}, "2026-11-20 22:30"},
	    {{.at = "06:15"}, "2026-11-21 05:15"},
	    {{.frequency = "now"}, "2026-11-20 14:00"},
	    {{.frequency = "weekdays"}, "2026-11-23 06:30"},
	    {{.frequency = "weekly"}, "2026-11-23 06:30"},
	    {{.days = "sun,wed"}, "2026-11-22 06:30"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = new_fixture();

		assert_digests_at(fixture, NOW, 1);
		change(fixture, &rows[i].preferences);
		assert_rows(fixture,
		    "SELECT strftime('%Y-%m-%d %H:%M', next_due_at, 'unixepoch')"
		    " FROM subscriber",
		    rows[i].due);
	}
}

static void
later_changes_do_not_affect_a_built_digest(void)
{
	static const struct profile_change others[] = {
	    WORD(PREFERENCE_ABSTRACT, "none"),
	    WORD(PREFERENCE_FORMAT, "text"),
	    WORD(PREFERENCE_ATTACH, "bibtex"),
	    WORD(PREFERENCE_ORDER, "date"),
	    WORD(PREFERENCE_GROUP, "on"),
	    {.language = "de"},
	    {.max_full = 1},
	};
	pb_auto(store_fixture) fixture = new_fixture();
	g_autofree char *before = NULL;

	assert_digests_at(fixture, NOW, 1);
	before = compose_newest(fixture);
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
		g_autofree char *after = NULL;

		change(fixture, &others[i]);
		after = compose_newest(fixture);
		g_assert_cmpstr(after, ==, before);
	}
}

static void
day_without_papers_has_a_line(void)
{
	static const struct {
		const char *language;
		const char *wanted[3];
	} rows[] = {
	    {"", {"Subject: No new papers, Sat 21 Nov 2026\r\n",
	             "Nothing new matched your filters since the last digest.",
	             "is subscribed to paperboy.\r\n"}},
	    {"de", {"Subject: Keine neuen Artikel, Sa 21", "Keine neuen Artikel",
	               "Seit der letzten Sendung hat nichts Neues"}},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct profile_change preferences = WORD(PREFERENCE_EMPTY, "note");
		pb_auto(store_fixture) fixture = new_fixture();
		g_autofree char *message = NULL;

		assert_digests_at(fixture, NOW, 1);
		store_fixture_run(fixture,
		    "INSERT INTO delivered (subscriber_id, paper_seq, digest_id, at)"
		    " SELECT 1, paper_seq, 1, 0 FROM"
		    " digest_item; UPDATE digest SET state = 'sent'");
		preferences.language = rows[i].language;
		change(fixture, &preferences);
		assert_digests_at(fixture, "2026-11-21T06:30:00Z", 1);
		message = compose_newest(fixture);
		for (size_t j = 0; j < G_N_ELEMENTS(rows[i].wanted); j++)
			check("quiet note", message, rows[i].wanted[j], true);
	}
}

static void
preview_uses_the_options(void)
{
	static const struct profile_change preferences = {.language = "de",
	    .max_full = 1,
	    .words = {[PREFERENCE_FORMAT] = "text", [PREFERENCE_ATTACH] = "bibtex"}};
	pb_auto(store_fixture) fixture = new_fixture();
	pb_auto(renderer) renderer = render_sample_new_renderer();
	g_autoptr(GError) error = NULL;
	pb_auto(digest) digest = NULL;
	g_autofree char *message = NULL;

	change(fixture, &preferences);
	store_fixture_build_digests(
	    fixture, store_fixture_time("2026-11-20T12:59:59Z"));
	store_fixture_run(fixture, "DELETE FROM outbox; DELETE FROM digest");
	digest = digest_build_preview(
	    fixture->store, NULL, 1, store_fixture_time(NOW), &error);
	g_assert_no_error(error);
	message = compose(renderer, digest);
	check("preview", message, "2 neue Artikel", true);
	check("preview", message, "Weitere, nur mit Titel", true);
	check("preview", message, "text/x-bibtex", true);
	check("preview", message, "text/html", false);
}

static void
excerpt_is_limited_in_sentences_and_characters(void)
{
	g_autofree char *words = g_strnfill(EXCERPT_CHARS, 'x');
	g_autofree char *over = g_strconcat(words, "x", NULL);
	const struct {
		const char *text;
		const char *wanted;
	} rows[] = {
	    {"", ""},
	    {"One.", "One."},
	    {"One. Two.", "One. Two."},
	    {"One. Two. Three.", "One. Two. \u2026"},
	    {"One! Two? Three.", "One! Two? \u2026"},
	    {"By J. Doe et al. We see. In Fig. 2 it is. Three.",
	        "By J. Doe et al. We see. In Fig. 2 it is. \u2026"},
	    {"It is 0.1 points. of two. So it is. Three.",
	        "It is 0.1 points. of two. So it is. \u2026"},
	    {"一。二。三。", "一。二。 \u2026"},
	    {words, words},
	};
	g_autofree char *cut = excerpt_format(over);

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *got = excerpt_format(rows[i].text);

		g_assert_cmpstr(got, ==, rows[i].wanted);
	}
	g_assert_cmpint(g_utf8_strlen(cut, -1), <=, EXCERPT_CHARS);
	g_assert_true(g_str_has_suffix(cut, "\u2026"));
}

static void
bibtex_entry_has_the_fields_of_the_paper(void)
{
	pb_auto(paper) paper =
	    store_fixture_paper("2611.00001", "100% {of} $x_1$ & C# ~ \\alpha^2", "");
	pb_auto(paper) other = store_fixture_paper("old paper}", "T", "");
	g_autoptr(GString) text = g_string_new(NULL);

	g_ptr_array_set_size(paper->authors, 0);
	g_ptr_array_add(paper->authors, g_strdup("José Núñez"));
	g_ptr_array_add(paper->authors, g_strdup("Research and Development"));
	g_ptr_array_add(paper->authors, g_strdup("Doe, Inc."));
	g_ptr_array_add(paper->authors, g_strdup("Alexand Rand"));
	paper->categories = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(paper->categories, g_strdup("cs.CL"));
	g_ptr_array_add(paper->categories, g_strdup("cs.AI"));
	paper->doi = g_strdup("10.1000/x}y");
	paper->published_at = store_fixture_time("2025-12-31T23:00:00Z");
	bibtex_append(text, paper, "2026-01-01");
	g_assert_true(g_str_has_prefix(text->str,
	    "@misc{2611.00001,\n"
	    "  title = {{100\\% \\{of\\} \\$x\\_1\\$ \\& C\\# \\textasciitilde{} "
	    "\\textbackslash{}alpha\\textasciicircum{}2}},\n"
	    "  author = {José Núñez and {Research and Development} and {Doe, Inc.} "
	    "and Alexand Rand},\n"
	    "  year = {2025},\n"
	    "  eprint = {2611.00001},\n"
	    "  archivePrefix = {arXiv},\n"
	    "  primaryClass = {cs.CL},\n"
	    "  url = {http"));
	g_string_truncate(text, 0);
	g_ptr_array_set_size(other->authors, 0);
	g_clear_pointer(&other->url, g_free);
	other->url = g_strdup("https://example.org/a_b%20c");
	bibtex_append(text, other, "2026-01-01");
	g_assert_cmpstr(text->str, ==,
	    "@misc{old-paper-,\n  title = {{T}},\n  year = {2026},\n"
	    "  url = {https://example.org/a_b%20c},\n}\n\n");
}

UNIT_MAIN(each_option_changes_the_next_digest,
    each_schedule_option_moves_the_next_digest,
    later_changes_do_not_affect_a_built_digest, day_without_papers_has_a_line,
    preview_uses_the_options, excerpt_is_limited_in_sentences_and_characters,
    bibtex_entry_has_the_fields_of_the_paper)
