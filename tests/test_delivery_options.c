/*
 * test_delivery_options.c - effect of each key of `set` on the next digest.
 */
#include <string.h>

#include "lib/cases.h"
#include "lib/render_sample.h"
#include "lib/store_fixture.h"
#include "lib/unit.h"
#include "render/attach.h"
#include "render/sentence.h"
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
	g_autoptr(GBytes) message =
	    NO_ERROR(renderer_compose(renderer, digest, &error));
	size_t size;
	const char *data;

	data = g_bytes_get_data(message, &size);
	return g_strndup(data, size);
}

/* Compose the newest digest. */
static char *
compose_newest(struct store_fixture *fixture)
{
	pb_auto(renderer) renderer = render_sample_new_renderer();
	pb_auto(digest) digest = NULL;
	int64_t id;

	NO_ERROR(digests_load_last(fixture->store, &id, &error));
	digest = NO_ERROR(digests_load(fixture->store, id, &error));
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

TEST(each_option_changes_the_next_digest)
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
	        "Of the third"},
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
	    {"attach ris", WORD(PREFERENCE_ATTACH, "ris"),
	        {"Content-Type: application/x-research-info-systems; charset=utf-8",
	            "filename=\"paperboy-2026-11-20.ris\"",
	            "\r\nDO  - 10.1000/182\r\n"},
	        NULL},
	    {"attach markdown", WORD(PREFERENCE_ATTACH, "markdown"),
	        {"Content-Type: text/markdown; charset=utf-8",
	            "filename=\"paperboy-2026-11-20.md\"", "\r\n## [Trees &"},
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

TEST(attached_files_have_the_full_name_of_a_journal)
{
	static const struct {
		struct profile_change preferences;
		const char *line;
	} rows[] = {
	    {WORD(PREFERENCE_ATTACH, "bibtex"), "journal =3D {J. of Kernels},"},
	    {WORD(PREFERENCE_ATTACH, "ris"), "\r\nJF  - J. of Kernels\r\n"},
	    {WORD(PREFERENCE_ATTACH, "markdown"), "=C2=B7 J. of Kernels =C2=B7 arXiv:"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(store_fixture) fixture = new_fixture();
		g_autofree char *message = NULL;

		store_fixture_run(fixture,
		    "UPDATE paper SET journal = 'J. of Kernels' || char(10) || 'JoK'");
		change(fixture, &rows[i].preferences);
		assert_digests_at(fixture, NOW, 1);
		message = compose_newest(fixture);
		check("journal", message, rows[i].line, true);
		check("journal", message, "JoK", false);
	}
}

TEST(each_schedule_option_moves_the_next_digest)
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

TEST(later_changes_do_not_affect_a_built_digest)
{
	static const struct profile_change others[] = {
	    WORD(PREFERENCE_ABSTRACT, "none"),
	    WORD(PREFERENCE_FORMAT, "text"),
	    WORD(PREFERENCE_ATTACH, "bibtex"),
	    WORD(PREFERENCE_ORDER, "date"),
	    WORD(PREFERENCE_GROUP, "on"),
	    WORD(PREFERENCE_FEEDBACK, "on"),
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

TEST(day_without_papers_has_a_line)
{
	static const struct {
		const char *language;
		const char *wanted[3];
	} rows[] = {
	    {"", {"Subject: No new papers, Sat 21 Nov 2026\r\n",
	             "Nothing new matched your filters since the last digest.",
	             "is subscribed to paperboy.\r\n"}},
	    {"de", {"Subject: Keine neuen Artikel, Sa 21", "Keine neuen Artikel",
	               "Seit dem letzten Digest hat nichts Neues"}},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct profile_change preferences = WORD(PREFERENCE_EMPTY, "note");
		pb_auto(store_fixture) fixture = new_fixture();
		g_autofree char *message = NULL;

		assert_digests_at(fixture, NOW, 1);
		store_fixture_run(fixture,
		    "INSERT INTO delivered_paper (subscriber_id, paper_seq, digest_id, "
		    "at)"
		    " SELECT 1, paper_seq, 1, 1795000000 FROM"
		    " digest_item; UPDATE digest SET state = 'sent'");
		preferences.language = rows[i].language;
		change(fixture, &preferences);
		assert_digests_at(fixture, "2026-11-21T06:30:00Z", 1);
		message = compose_newest(fixture);
		for (size_t j = 0; j < G_N_ELEMENTS(rows[i].wanted); j++)
			check("quiet note", message, rows[i].wanted[j], true);
	}
}

TEST(preview_uses_the_options)
{
	static const struct profile_change preferences = {.language = "de",
	    .max_full = 1,
	    .words = {[PREFERENCE_FORMAT] = "text", [PREFERENCE_ATTACH] = "bibtex"}};
	pb_auto(store_fixture) fixture = new_fixture();
	pb_auto(renderer) renderer = render_sample_new_renderer();
	pb_auto(digest) digest = NULL;
	g_autofree char *message = NULL;

	change(fixture, &preferences);
	store_fixture_build_digests(
	    fixture, store_fixture_time("2026-11-20T12:59:59Z"));
	store_fixture_run(fixture, "DELETE FROM outbox; DELETE FROM digest");
	digest = NO_ERROR(digest_build_preview(
	    fixture->store, NULL, 1, store_fixture_time(NOW), &error));
	message = compose(renderer, digest);
	check("preview", message, "2 neue Artikel", true);
	check("preview", message, "Weitere, nur mit Titel", true);
	check("preview", message, "text/x-bibtex", true);
	check("preview", message, "text/html", false);
}

TEST(excerpt_is_limited_in_sentences_and_characters)
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
	g_autofree char *cut = sentence_format_excerpt(over);

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *got = sentence_format_excerpt(rows[i].text);

		g_assert_cmpstr(got, ==, rows[i].wanted);
	}
	g_assert_cmpint(g_utf8_strlen(cut, -1), <=, EXCERPT_CHARS);
	g_assert_true(g_str_has_suffix(cut, "\u2026"));
}

/* A file of one paper, listed on the first day of 2026. */
static char *
attach_paper(enum preference_attach attach, struct paper *paper)
{
	pb_auto(digest) digest = digest_new();
	struct digest_entry *entry = digest_entry_new(paper, "2026-01-01");
	const struct page page = {
	    .entries = digest->entries,
	    .shown = 1,
	    .full = 1,
	};
	const struct attach_input input = {.digest = digest, .page = &page};

	g_ptr_array_add(digest->entries, entry);
	return g_string_free(attach_new_file(attach_get_format(attach), &input), FALSE);
}

static void
add_authors(struct paper *paper, const char *names)
{
	g_auto(GStrv) all = g_strsplit(names, "|", 0);

	g_ptr_array_set_size(paper->authors, 0);
	for (unsigned i = 0; all[i]; i++)
		g_ptr_array_add(paper->authors, g_strdup(all[i]));
}

static struct paper *
new_rich_paper(void)
{
	struct paper *paper = store_fixture_paper(
	    "2611.00001", "100% {of} $x_1$ & C# ~ \\kern^2", "Ab{s");

	add_authors(paper, "José Núñez|Research and Development|Hal Daumé III");
	paper->categories = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(paper->categories, g_strdup("cs.CL"));
	g_ptr_array_add(paper->categories, g_strdup("cs.AI"));
	paper->keywords = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(paper->keywords, g_strdup("kernels"));
	g_ptr_array_add(paper->keywords, g_strdup("trees"));
	paper->journal = g_strdup("J. Kernels 1");
	paper->code_url = g_strdup("https://code.example/a_b");
	paper->published_at = store_fixture_time("2025-12-31T23:00:00Z");
	return paper;
}

TEST(bibtex_has_the_fields_of_a_paper)
{
	struct paper *rich = new_rich_paper();
	struct paper *plain = store_fixture_paper("old paper}", "T", "");
	g_autofree char *first = NULL;
	g_autofree char *second = NULL;

	rich->doi = g_strdup("10.1000/x}y"); /* would end its field */
	first = attach_paper(PREFERENCE_ATTACH_BIBTEX, rich);
	g_assert_cmpstr(first, ==,
	    "@article{2611.00001,\n"
	    "  title = {{100\\% \\{of\\} x\u2081 \\& C\\# {\\textasciitilde} "
	    "{\\textasciicircum}2}},\n"
	    "  author = {Núñez, José and {Research and Development} and "
	    "Daumé, III, Hal},\n"
	    "  journal = {J. Kernels 1},\n"
	    "  year = {2025},\n"
	    "  month = dec,\n"
	    "  eprint = {2611.00001},\n"
	    "  archivePrefix = {arXiv},\n"
	    "  primaryClass = {cs.CL},\n"
	    "  url = {https://arxiv.org/abs/2611.00001},\n"
	    "  abstract = {Ab{\\textbraceleft}s},\n"
	    "  keywords = {kernels, trees},\n"
	    "  annote = {Code: https://code.example/a\\_b},\n"
	    "}\n\n");
	g_ptr_array_set_size(plain->authors, 0);
	g_free(plain->url);
	plain->url = g_strdup("https://example.org/a_b%20c");
	second = attach_paper(PREFERENCE_ATTACH_BIBTEX, plain);
	g_assert_cmpstr(second, ==,
	    "@misc{old-paper-,\n  title = {{T}},\n  year = {2026},\n  month = jan,\n"
	    "  url = {https://example.org/a_b%20c},\n}\n\n");
}

TEST(ris_has_the_fields_of_a_paper)
{
	struct paper *rich = new_rich_paper();
	struct paper *plain = store_fixture_paper("10.1000/182", "ER  - ", "");
	g_autofree char *first = attach_paper(PREFERENCE_ATTACH_RIS, rich);
	g_autofree char *second = NULL;

	g_assert_cmpstr(first, ==,
	    "TY  - JOUR\n"
	    "ID  - 2611.00001\n"
	    "TI  - 100% {of} x\u2081 & C# ~ ^2\n"
	    "AU  - Núñez, José\n"
	    "AU  - Research and Development\n"
	    "AU  - Daumé, Hal, III\n"
	    "JF  - J. Kernels 1\n"
	    "PY  - 2025\n"
	    "DA  - 2025/12/31\n"
	    "AB  - Ab{s\n"
	    "DO  - 10.48550/arXiv.2611.00001\n"
	    "UR  - https://arxiv.org/abs/2611.00001\n"
	    "L1  - https://arxiv.org/pdf/2611.00001\n"
	    "N1  - Code: https://code.example/a_b\n"
	    "KW  - kernels\n"
	    "KW  - trees\n"
	    "ER  - \n\n");
	plain->doi = g_strdup("10.1000/182");
	add_authors(plain, "Doe, Inc.");
	g_free(plain->url);
	plain->url = g_strdup("https://example.org/1");
	second = attach_paper(PREFERENCE_ATTACH_RIS, plain);
	g_assert_cmpstr(second, ==,
	    "TY  - UNPB\nID  - 10.1000/182\nTI  - ER -\nAU  - Doe Inc.\n"
	    "PY  - 2026\nDA  - 2026/01/01\nDO  - 10.1000/182\n"
	    "UR  - https://example.org/1\nER  - \n\n");
}

TEST(names_are_split_into_family_and_given)
{
	CASES_FOREACH(row, "delivery_options_names", *author, *wanted) {
		pb_local(attach_name) name = {0};
		g_autofree char *got = NULL;

		attach_name_init(&name, row->author);
		got = g_strjoin("|", name.family, name.given, name.suffix, NULL);
		g_assert_cmpstr(got, ==, row->wanted);
	}
}

TEST(lists_of_values_are_complete)
{
	g_autofree char *abstract = preferences_format_words(PREFERENCE_ABSTRACT);
	g_autofree char *attach = preferences_format_words(PREFERENCE_ATTACH);

	g_assert_cmpstr(abstract, ==, "brief, short, full, none");
	g_assert_cmpstr(attach, ==, "none, bibtex, ris, markdown");
}

UNIT_MAIN
