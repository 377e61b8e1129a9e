/*
 * test_render.c - digests as messages: output, caching, neutralised text, limits.
 */
#include <glib/gstdio.h>
#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "base/token.h"
#include "lib/cases.h"
#include "lib/render_sample.h"
#include "lib/unit.h"

static char *
compose(struct renderer *renderer, const struct digest *digest)
{
	g_autoptr(GBytes) message =
	    NO_ERROR(renderer_compose(renderer, digest, &error));
	size_t size;
	const char *data;

	data = g_bytes_get_data(message, &size);
	g_assert_null(memchr(data, '\0', size));
	return g_strndup(data, size);
}

#define RENDER_TEST(function) \
	TEST_WITH(function, renderer, renderer, render_sample_new_renderer())

RENDER_TEST(text_equals_the_golden_file)
{
	pb_auto(digest) digest = render_sample_new_full_digest();
	g_autofree char *text = renderer_format_text(renderer, digest, NULL);

	render_sample_check_golden("digest.txt", text);
}

/* An empty and a filled cache give the same output. */
TEST(same_digest_gives_the_same_bytes)
{
	pb_auto(renderer) one = render_sample_new_renderer();
	pb_auto(renderer) other = render_sample_new_renderer();
	pb_auto(digest) digest = render_sample_new_full_digest();
	g_autofree char *first = compose(one, digest);
	g_autofree char *again = compose(one, digest);
	g_autofree char *fresh = compose(other, digest);

	g_assert_cmpstr(first, ==, again);
	g_assert_cmpstr(first, ==, fresh);
	g_assert_cmpstr(renderer_get_cache_key(one), ==, renderer_get_cache_key(other));
	g_assert_cmpuint(strlen(renderer_get_cache_key(one)), ==, 64);
}

/* Each single change must show although the paper is cached. */
RENDER_TEST(changed_paper_is_rendered_again)
{
	pb_auto(digest) digest = render_sample_new_digest();
	struct digest_entry *entry =
	    render_sample_add(digest, "1", "A title", DIGEST_DETAIL_FULL);
	struct digest_reason *reason = entry->reasons->pdata[0];
	const struct {
		char **text;
		const char *value;
	} texts[] = {
	    {&entry->paper->title, "B title"},
	    {&entry->paper->abstract, "Another abstract."},
	    {&entry->paper->url, "https://papers.example.net/2"},
	    {&entry->paper->code_url, "https://code.example.net/"},
	    {&entry->paper->project_url, "https://project.example.net/"},
	};
	g_autofree char *before = compose(renderer, digest);

	for (unsigned change = 0; change < 10; change++) {
		g_autofree char *after = NULL;
		pb_auto(renderer) fresh = render_sample_new_renderer();
		g_autofree char *wanted = NULL;

		if (change < G_N_ELEMENTS(texts))
			render_sample_set_text(texts[change].text, texts[change].value);
		else if (change == 5)
			g_ptr_array_add(entry->paper->authors, g_strdup("New Author"));
		else if (change == 6)
			entry->upvotes = 77;
		else if (change == 7)
			entry->stars = 1234;
		else if (change == 8)
			g_ptr_array_add(reason->hits,
			    hit_new(HIT_FIELD_AUTHOR, false, "Other Author"));
		else
			entry->shown = DIGEST_DETAIL_TITLE;
		after = compose(renderer, digest);
		wanted = compose(fresh, digest);
		g_assert_cmpstr(after, !=, before);
		g_assert_cmpstr(after, ==, wanted);
		g_free(g_steal_pointer(&before));
		before = g_steal_pointer(&after);
	}
}

/* A shared paper is identified by its address. */
RENDER_TEST(shared_paper_gives_the_same_bytes)
{
	pb_auto(renderer) fresh = render_sample_new_renderer();
	pb_auto(digest) digest = render_sample_new_full_digest();
	struct digest_entry *entry = digest->entries->pdata[0];
	struct digest_reason *reason = entry->reasons->pdata[0];
	g_autofree char *alone = compose(renderer, digest);
	struct paper *shared = paper_share(entry->paper);
	g_autofree char *first = compose(renderer, digest);
	g_autofree char *again = compose(renderer, digest);
	g_autofree char *other = NULL;
	g_autofree char *wanted = NULL;

	g_assert_cmpstr(first, ==, alone);
	g_assert_cmpstr(again, ==, alone);
	g_ptr_array_add(reason->hits, hit_new(HIT_FIELD_AUTHOR, false, "Other Author"));
	other = compose(renderer, digest);
	wanted = compose(fresh, digest);
	g_assert_cmpstr(other, !=, alone);
	g_assert_cmpstr(other, ==, wanted);
	paper_free(shared);
}

enum { THREADS = 4, ROUNDS = 20 };

/* Digests that several threads compose. */
struct shared_work {
	struct renderer *renderer;
	struct digest *digests[THREADS];
	char *wanted[THREADS];
};

static void *
compose_all(void *data)
{
	const struct shared_work *work = data;

	for (unsigned i = 0; i < ROUNDS * THREADS; i++) {
		g_autofree char *message =
		    compose(work->renderer, work->digests[i % THREADS]);

		g_assert_cmpstr(message, ==, work->wanted[i % THREADS]);
	}
	return NULL;
}

RENDER_TEST(threads_compose_the_same_bytes_with_one_renderer)
{
	pb_auto(renderer) fresh = render_sample_new_renderer();
	struct shared_work work = {.renderer = renderer};
	GThread *threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		struct digest *digest = render_sample_new_full_digest();
		struct digest_entry *entry = digest->entries->pdata[0];

		g_snprintf(digest->date, sizeof(digest->date), "2026-11-%02u", i + 1);
		/* Two digests share a paper. */
		if (i % 2) {
			struct digest_entry *other =
			    work.digests[i - 1]->entries->pdata[0];

			paper_free(entry->paper);
			entry->paper = paper_share(other->paper);
		}
		work.digests[i] = digest;
		work.wanted[i] = compose(fresh, digest);
	}
	for (unsigned i = 0; i < THREADS; i++)
		threads[i] = g_thread_new("compose", compose_all, &work);
	for (unsigned i = 0; i < THREADS; i++)
		g_thread_join(threads[i]);
	for (unsigned i = 0; i < THREADS; i++) {
		digest_free(work.digests[i]);
		g_free(work.wanted[i]);
	}
}

/* Twice the capacity of the cache, with all blocks in use. */
RENDER_TEST(full_cache_does_not_change_the_output)
{
	pb_auto(digest) early = render_sample_new_full_digest();
	g_autofree char *before = compose(renderer, early);
	g_autofree char *abstract = g_strnfill(BOUNDS_PAPER_ABSTRACT_BYTES, 'a');
	g_autofree char *after = NULL;

	for (unsigned round = 0; round < 3; round++) {
		pb_auto(digest) digest = render_sample_new_digest();
		g_autofree char *message = NULL;

		for (unsigned i = 0; i < BOUNDS_DIGEST_FULL_MAX; i++) {
			g_autofree char *id = g_strdup_printf("%u.%u", round, i);
			struct digest_entry *entry =
			    render_sample_add(digest, id, "Title", DIGEST_DETAIL_FULL);

			render_sample_set_text(&entry->paper->abstract, abstract);
		}
		message = compose(renderer, digest);
		g_assert_nonnull(strstr(message, "200 new papers: "));
	}
	after = compose(renderer, early);
	g_assert_cmpstr(before, ==, after);
}

static size_t
get_html_bytes(const char *message)
{
	const char *html = strstr(message, "Content-Type: text/html");
	const char *body = strstr(html, "\r\n\r\n") + 4;

	return (size_t)(strstr(body, "\r\n--=_") - body);
}

static char *
compose_with_abstract(struct renderer *renderer, size_t size)
{
	pb_auto(digest) digest = render_sample_new_digest();

	digest->style.abstract = PREFERENCE_ABSTRACT_FULL;
	for (unsigned i = 0; i < 3; i++) {
		struct digest_entry *entry =
		    render_sample_add(digest, "1", "Title", DIGEST_DETAIL_FULL);

		if (i == 2) {
			g_free(entry->paper->abstract);
			entry->paper->abstract = g_strnfill(size, 'a');
		}
	}
	return compose(renderer, digest);
}

/* Find the longest abstract that fits, then add one byte. */
RENDER_TEST(html_fills_its_size_limit)
{
	size_t fits = 0;
	size_t fails = 2 * BOUNDS_HTML_PART_BYTES;
	g_autofree char *at = NULL;
	g_autofree char *over = NULL;

	while (fails - fits > 1) {
		size_t middle = (fits + fails) / 2;
		g_autofree char *message = compose_with_abstract(renderer, middle);

		g_assert_cmpuint(get_html_bytes(message), <=, BOUNDS_HTML_PART_BYTES);
		if (strstr(message, "More by title"))
			fails = middle;
		else
			fits = middle;
	}
	at = compose_with_abstract(renderer, fits);
	over = compose_with_abstract(renderer, fails);
	/* One byte more of text may add a soft line break. */
	g_assert_cmpuint(get_html_bytes(at), >, BOUNDS_HTML_PART_BYTES - 8);
	g_assert_null(strstr(at, "More by title"));
	g_assert_nonnull(strstr(over, "More by title"));
	g_assert_cmpuint(get_html_bytes(over), <, BOUNDS_HTML_PART_BYTES / 4);
}

static unsigned
count(const char *text, const char *needle)
{
	unsigned found = 0;

	for (const char *p = strstr(text, needle); p; p = strstr(p + 1, needle))
		found++;
	return found;
}

RENDER_TEST(full_papers_and_titles_are_limited)
{
	for (unsigned extra = 0; extra <= 1; extra++) {
		pb_auto(digest) digest = render_sample_new_digest();
		g_autofree char *text = NULL, *html = NULL;
		unsigned full = BOUNDS_DIGEST_FULL_MAX + extra;
		unsigned titles = BOUNDS_DIGEST_TITLES_MAX;

		for (unsigned i = 0; i < full + titles; i++) {
			struct digest_entry *entry = render_sample_add(digest, "1", "T",
			    i < full ? DIGEST_DETAIL_FULL : DIGEST_DETAIL_TITLE);

			render_sample_set_text(&entry->paper->abstract, "");
			render_sample_set_text(&entry->paper->url, "");
			g_ptr_array_set_size(entry->paper->authors, 0);
		}
		text = renderer_format_text(renderer, digest, NULL);
		g_assert_cmpuint(count(text, ". T\n"), ==, 400);
		g_assert_cmpuint(count(text, "\n  1. T\n"), ==, 1);
		g_assert_cmpuint(count(text, "\n200. T\n"), ==, 1);
		g_assert_cmpuint(count(text, "\n201. T\n"), ==, 1);
		g_assert_cmpuint(count(text, "\n400. T\n"), ==, 1);
		/* The HTML part has the same numbers. */
		html = renderer_format_html(renderer, digest, NULL);
		for (unsigned i = 1; i <= 400; i += 133) {
			g_autofree char *number =
			    g_strdup_printf("<p class=\"filters\">%3u ", i);

			g_assert_cmpuint(count(html, number), ==, 1);
		}
		g_assert_cmpuint(
		    count(text, "diffusion in the title"), ==, BOUNDS_DIGEST_FULL_MAX);
		g_assert_true((strstr(text, "And 1 more paper,") != NULL) == extra);
	}
}

RENDER_TEST(hostile_text_is_neutralised)
{
	pb_auto(digest) digest = render_sample_new_hostile_digest();
	g_autofree char *message = compose(renderer, digest);
	g_autofree char *html = renderer_format_html(renderer, digest, NULL);
	g_autofree char *header = NULL;
	g_autofree char *text = renderer_format_text(renderer, digest, NULL);

	header = g_strndup(message, (size_t)(strstr(message, "\r\n\r\n") - message));
	g_assert_null(strstr(header, "\nBcc:"));
	g_assert_null(strstr(html, "<img"));
	g_assert_null(strstr(html, "<script"));
	g_assert_null(strstr(html, "\"onmouseover"));
	g_assert_null(strstr(html, "javascript:"));
	g_assert_null(strstr(html, "onclick"));
	g_assert_null(strstr(text, "javascript:"));
	g_assert_null(strstr(text, "\u202E"));
	g_assert_null(strstr(html, "\u202E"));
	g_assert_nonnull(strstr(html, "{{7*7}} {{{papers}}} {{#full}}"));
	g_assert_nonnull(strstr(text, "{{7*7}} {{{papers}}} {{#full}}"));
	g_assert_true(g_utf8_validate(text, -1, NULL));
	g_assert_true(g_utf8_validate(html, -1, NULL));
	g_assert_null(strpbrk(text, "\x01\x02\x1B\x7F\r"));
}

RENDER_TEST(blocks_do_not_contain_the_reader)
{
	pb_auto(digest) one = render_sample_new_full_digest();
	pb_auto(digest) other = render_sample_new_full_digest();
	g_autofree char *one_html = renderer_format_html(renderer, one, NULL);
	g_autofree char *other_html = NULL;
	const char *one_papers = strstr(one_html, "<td class=\"paper\"");
	const char *other_papers;
	const char *end = strstr(one_papers, "You get this");

	render_sample_set_text(&other->recipient, "someone.else@reader.example");
	other->id = 99;
	other_html = renderer_format_html(renderer, other, NULL);
	other_papers = strstr(other_html, "<td class=\"paper\"");
	g_assert_nonnull(end);
	g_assert_cmpint(
	    strncmp(one_papers, other_papers, (size_t)(end - one_papers)), ==, 0);
	g_assert_nonnull(strstr(other_html, "someone.else@reader.example"));
}

RENDER_TEST(invalid_digest_is_rejected)
{
	pb_auto(digest) digest = render_sample_new_digest();
	g_autoptr(GError) empty_error = NULL;
	g_autoptr(GError) date_error = NULL;
	g_autoptr(GError) address_error = NULL;

	g_assert_null(renderer_compose(renderer, digest, &empty_error));
	g_assert_error(empty_error, PB_ERROR, PB_ERROR_INPUT);
	render_sample_add(digest, "1", "T", DIGEST_DETAIL_COUNT);
	g_free(compose(renderer, digest));
	g_strlcpy(digest->date, "2026-02-30", sizeof(digest->date));
	g_assert_null(renderer_compose(renderer, digest, &date_error));
	g_assert_error(date_error, PB_ERROR, PB_ERROR_INPUT);
	g_strlcpy(digest->date, "2026-02-28", sizeof(digest->date));
	render_sample_set_text(
	    &digest->recipient, "a@b.example>\r\nRCPT TO:<c@d.example");
	g_assert_null(renderer_compose(renderer, digest, &address_error));
	g_assert_error(address_error, PB_ERROR, PB_ERROR_INPUT);
}

TEST(invalid_settings_are_rejected)
{
	g_autofree char *dir = render_sample_get_template_dir();
	g_autoptr(GBytes) key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	g_autoptr(GBytes) short_key =
	    g_bytes_new_static("0123456789abcdef0123456789abcde", 31);

	for (unsigned wrong = 0; wrong < 9; wrong++) {
		struct renderer_settings settings = render_sample_settings(dir, key);
		g_autoptr(GError) error = NULL;
		const struct {
			const char **field;
			const char *value;
		} rows[] = {{&settings.from_address, "nobody"},
		    {&settings.owner_address, "a@b\r\nX: y"},
		    {&settings.message_domain, "localhost"},
		    {&settings.message_domain, "a>b.example"},
		    {&settings.list_id, "Digest.example.org"},
		    {&settings.list_id, "x>\r\nBcc: y"}, {&settings.list_id, ""},
		    {&settings.template_dir, "/nonexistent"}};

		if (wrong < G_N_ELEMENTS(rows))
			*rows[wrong].field = rows[wrong].value;
		else
			settings.key = short_key;
		g_assert_null(renderer_new(&settings, &error));
		if (wrong == 7)
			g_assert_error(error, PB_ERROR, PB_ERROR_NOT_FOUND);
		else
			g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
	}
}

TEST(each_setting_changes_the_cache_key)
{
	g_autofree char *dir = render_sample_get_template_dir();
	g_autoptr(GBytes) key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	g_autoptr(GBytes) other_key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdeX", 32);
	g_autoptr(GHashTable) seen =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (unsigned change = 0; change < 8; change++) {
		struct renderer_settings settings = render_sample_settings(dir, key);
		pb_auto(renderer) renderer = NULL;
		const char **const fields[] = {&settings.from_name,
		    &settings.from_address, &settings.message_domain, &settings.list_id,
		    &settings.list_name, &settings.owner_address};
		static const char *const values[] = {"Other", "other@example.org",
		    "other.example", "other.example", "Other", "other@example.org"};

		if (change < G_N_ELEMENTS(fields))
			*fields[change] = values[change];
		else if (change == G_N_ELEMENTS(fields))
			settings.key = other_key;
		renderer = renderer_new(&settings, NULL);
		g_assert_nonnull(renderer);
		g_assert_true(
		    g_hash_table_add(seen, g_strdup(renderer_get_cache_key(renderer))));
	}
}

/* A directory with the shipped templates, one of them replaced. */
static struct renderer *
new_with_template(const char *name, const char *text, size_t size, GError **error)
{
	static const char *const names[] = {"digest.subject", "digest.txt",
	    "digest.html", "paper.txt", "paper.html", "reply.html"};
	g_autofree char *from = render_sample_get_template_dir();
	g_autofree char *dir = g_dir_make_tmp("paperboy-test-XXXXXX", NULL);
	g_autoptr(GBytes) key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	struct renderer_settings settings = render_sample_settings(dir, key);
	struct renderer *renderer;

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *source = g_build_filename(from, names[i], NULL);
		g_autofree char *path = g_build_filename(dir, names[i], NULL);
		g_autofree char *shipped = NULL;

		g_assert_true(g_file_get_contents(source, &shipped, NULL, NULL));
		if (strcmp(names[i], name) == 0)
			g_assert_true(
			    g_file_set_contents(path, text, (gssize)size, NULL));
		else
			g_assert_true(g_file_set_contents(path, shipped, -1, NULL));
	}
	renderer = renderer_new(&settings, error);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_build_filename(dir, names[i], NULL);

		g_unlink(path);
	}
	g_rmdir(dir);
	return renderer;
}

/* Values of the reader are in holes of what others share, wherever they are. */
TEST(numbers_and_tokens_follow_the_template)
{
	static const char template[] =
	    "{{title}} {{title}} {{title}} {{title}} {{title}} {{title}} [{{number}}]\n"
	    "{{number}}{{number}} {{like_url}}\n{{like_url}}{{number}}\n";
	pb_auto(renderer) renderer = NO_ERROR(
	    new_with_template("paper.html", template, strlen(template), &error));
	/* Soft line breaks come at each place of the values. */
	for (unsigned size = 1; size < 40; size++) {
		pb_auto(digest) digest = render_sample_new_digest();
		g_autofree char *long_title = g_strnfill(size, 'x');
		g_autofree char *first = NULL, *again = NULL, *wanted = NULL;
		struct digest_entry *entry;
		struct paper *shared;

		for (unsigned i = 0; i < 12; i++)
			render_sample_add(digest, "1", long_title, DIGEST_DETAIL_FULL);
		entry = digest->entries->pdata[11];
		shared = paper_share(entry->paper);
		first = renderer_format_html(renderer, digest, NULL);
		again = renderer_format_html(renderer, digest, NULL);
		wanted = g_strdup_printf("%s [ 12]\n 12 12", long_title);
		g_assert_nonnull(strstr(first, wanted));
		g_assert_cmpstr(first, ==, again);
		paper_free(shared);
	}
}

TEST(templates_may_use_the_reader_anywhere)
{
	static const char *const readers[] = {
	    "ann@example.org", "b.o'neill@example.org", "ann@example.org"};
	static const char subject[] = "{{recipient}} has {{count_new}}\n";
	static const char html[] =
	    "<p>{{subject}}</p><p>{{recipient}}, {{{recipient}}}</p>\n{{{papers}}}\n"
	    "<i>{{recipient}}</i>\n";
	g_autoptr(GError) error = NULL;
	pb_auto(renderer) named =
	    new_with_template("digest.subject", subject, strlen(subject), &error);
	pb_auto(renderer) page =
	    new_with_template("digest.html", html, strlen(html), &error);

	g_assert_no_error(error);
	for (size_t i = 0; i < G_N_ELEMENTS(readers); i++) {
		pb_auto(digest) digest = render_sample_new_digest();
		g_autofree char *field =
		    g_strdup_printf("\r\nSubject: %s has 1 new paper\r\n", readers[i]);
		g_auto(GStrv) parts = g_strsplit(readers[i], "'", -1);
		g_autofree char *escaped = g_strjoinv("&#39;", parts);
		g_autofree char *line =
		    g_strdup_printf("<p>%s, %s</p>\n", escaped, readers[i]);
		g_autofree char *last = g_strdup_printf("<i>%s</i>\n", escaped);
		g_autofree char *message = NULL;
		g_autofree char *part = NULL;

		render_sample_set_text(&digest->recipient, readers[i]);
		render_sample_add(digest, "1", "A title", DIGEST_DETAIL_FULL);
		message = compose(named, digest);
		g_assert_nonnull(strstr(message, field));
		part = renderer_format_html(page, digest, NULL);
		g_assert_nonnull(strstr(part, line));
		g_assert_true(g_str_has_suffix(part, last));
	}
}

TEST(digests_show_the_coverage)
{
	static const char *const lines[] = {
	    "Hugging Face: 31 listed, 31 read", NULL, "A & <b>", "", "B & <i>"};
	static const char *const pages[] = {"<p>Hugging Face: 31 listed, 31 read</p>",
	    NULL, "<p>A &amp; &lt;b&gt;</p>", NULL, "<p>B &amp; &lt;i&gt;</p>"};
	g_autofree char *dir = render_sample_get_template_dir();
	g_autoptr(GBytes) key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	struct renderer_settings settings = render_sample_settings(dir, key);
	pb_auto(renderer) renderer = renderer_new(&settings, NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
		pb_auto(digest) digest = render_sample_new_digest();
		g_autofree char *text = NULL;
		g_autofree char *html = NULL;

		render_sample_set_text(&digest->coverage, lines[i]);
		render_sample_add(digest, "1", "A title", DIGEST_DETAIL_FULL);
		text = renderer_format_text(renderer, digest, NULL);
		html = renderer_format_html(renderer, digest, NULL);
		for (size_t j = 0; j < G_N_ELEMENTS(lines); j++) {
			if (!pages[j])
				continue;
			g_assert_true((strstr(text, lines[j]) != NULL) == (i == j));
			g_assert_true((strstr(html, pages[j]) != NULL) == (i == j));
		}
	}
}

/* RFC 9477: only if the relay signs it. */
/* However many papers are watched. */
TEST(each_notice_has_a_line)
{
	g_autofree char *dir = render_sample_get_template_dir();
	g_autoptr(GBytes) key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	struct renderer_settings settings = render_sample_settings(dir, key);
	pb_auto(renderer) renderer = renderer_new(&settings, NULL);
	pb_auto(digest) digest = render_sample_new_digest();
	g_autofree char *text = NULL;

	render_sample_set_text(&digest->notices, "one\ntwo\nthree\nfour\nfive\nsix");
	render_sample_add(digest, "1", "A title", DIGEST_DETAIL_FULL);
	text = renderer_format_text(renderer, digest, NULL);
	g_assert_nonnull(strstr(text, "\none\ntwo\nthree\nfour\nfive\nsix\n"));
}

/* A digest that comes for what became of a paper says so, not only its date. */
TEST(the_first_notice_is_the_subject_without_papers)
{
	g_autofree char *dir = render_sample_get_template_dir();
	g_autoptr(GBytes) key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	struct renderer_settings settings = render_sample_settings(dir, key);
	pb_auto(renderer) renderer = renderer_new(&settings, NULL);
	pb_auto(digest) digest = render_sample_new_digest();
	g_autofree char *message = NULL;

	digest->is_note = digest->style.is_event = true;
	render_sample_set_text(&digest->notices, "It was retracted\ntwo");
	message = compose(renderer, digest);
	g_assert_nonnull(
	    strstr(message, "Subject: No new papers: It was retracted\r\n"));
}

TEST(digests_ask_for_complaints_if_that_is_signed)
{
	g_autofree char *dir = render_sample_get_template_dir();
	g_autoptr(GBytes) key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	struct renderer_settings settings = render_sample_settings(dir, key);
	pb_local(subaddress_base) commands = {0};
	g_autofree char *cache_key = NULL;

	g_assert_true(
	    subaddress_base_parse("paperboy@papers.example.org", "+", &commands, NULL));
	settings.commands = &commands;
	for (int has_feedback = 0; has_feedback <= 1; has_feedback++) {
		pb_auto(renderer) renderer = NULL;
		pb_auto(digest) digest = render_sample_new_digest();
		g_autofree char *message = NULL;

		settings.has_feedback = has_feedback;
		renderer = renderer_new(&settings, NULL);
		render_sample_add(digest, "1", "A title", DIGEST_DETAIL_FULL);
		message = compose(renderer, digest);
		g_assert_cmpint(
		    strstr(message,
		        "\r\nCFBL-Address: paperboy+fbl@papers.example.org; "
		        "report=arf\r\n") != NULL,
		    ==, has_feedback);
		g_assert_cmpstr(renderer_get_cache_key(renderer), !=, cache_key);
		cache_key =
		    cache_key ? cache_key : g_strdup(renderer_get_cache_key(renderer));
	}
}

RENDER_TEST(groups_have_headings)
{
	pb_auto(digest) digest = render_sample_new_digest();
	g_autofree char *text = NULL;
	g_autofree char *html = NULL;
	g_autofree char *message = NULL;

	digest->style.group = PREFERENCE_GROUP_ON;
	render_sample_add_to_group(digest, "1", "reward <model>", DIGEST_DETAIL_FULL);
	render_sample_add_to_group(digest, "2", "reward <model>", DIGEST_DETAIL_FULL);
	render_sample_add_to_group(digest, "3", "ssm", DIGEST_DETAIL_FULL);
	render_sample_add_to_group(digest, "4", "ssm", DIGEST_DETAIL_TITLE)->upvotes =
	    7;
	text = renderer_format_text(renderer, digest, NULL);
	render_sample_check_golden("digest-groups.txt", text);
	html = renderer_format_html(renderer, digest, NULL);
	render_sample_check_golden("digest-groups.html", html);
	message = compose(renderer, digest);
	g_assert_nonnull(strstr(message, "\r\n=3D=3D ssm =3D=3D\r\n"));
}

/* Ids name papers in a reply to the digest and anywhere. */
TEST(links_answer_each_paper)
{
	static const struct {
		const char *delimiter, *like;
	} rows[] = {
	    {"+", "mailto:paperboy+r-"},
	    {"", "mailto:paperboy@papers.example.org?subject=like%20"},
	};
	g_autofree char *dir = render_sample_get_template_dir();
	g_autoptr(GBytes) key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct renderer_settings settings = render_sample_settings(dir, key);
		pb_local(subaddress_base) commands = {0};
		pb_auto(renderer) renderer = NULL;
		pb_auto(digest) digest = render_sample_new_digest();
		g_autofree char *text = NULL, *html = NULL, *message = NULL;

		g_assert_true(subaddress_base_parse(
		    "paperboy@papers.example.org", rows[i].delimiter, &commands, NULL));
		settings.commands = &commands;
		renderer = renderer_new(&settings, NULL);
		digest->style.feedback = PREFERENCE_FEEDBACK_ON;
		render_sample_add_to_group(digest, "1", "ssm", DIGEST_DETAIL_FULL);
		render_sample_add_to_group(digest, "2", "ssm", DIGEST_DETAIL_TITLE);
		text = renderer_format_text(renderer, digest, NULL);
		html = renderer_format_html(renderer, digest, NULL);
		message = compose(renderer, digest);
		g_assert_cmpuint(count(text, rows[i].like), >=, 2);
		g_assert_cmpuint(count(text, "more like this:"), ==, 2);
		g_assert_cmpuint(count(html, "subject=hide%20"), ==, 2);
		g_assert_cmpuint(count(html, ">less of this</a>"), ==, 2);
		g_assert_nonnull(strstr(message, "subject=3Dlike%20"));
		g_assert_nonnull(strstr(html, "subject=hide%202\""));
		if (i == 0) {
			render_sample_check_golden("digest-answers.txt", text);
			render_sample_check_golden("digest-answers.html", html);
		}
	}
}

/* The last papers of a large digest become titles, without their headings. */
RENDER_TEST(groups_of_a_large_digest_are_closed)
{
	pb_auto(digest) digest = render_sample_new_digest();
	g_autofree char *abstract = g_strnfill(BOUNDS_HTML_PART_BYTES / 5, 'a');
	g_autofree char *html = NULL;

	digest->style.group = PREFERENCE_GROUP_ON;
	digest->style.abstract = PREFERENCE_ABSTRACT_FULL;
	for (int i = 1; i <= 20; i++) {
		g_autofree char *id = g_strdup_printf("%d", i);
		struct digest_entry *entry =
		    render_sample_add_to_group(digest, id, id, DIGEST_DETAIL_FULL);

		render_sample_set_text(&entry->paper->abstract, abstract);
	}
	html = renderer_format_html(renderer, digest, NULL);
	g_assert_cmpuint(count(html, "<h2 class=\"group\" dir"), ==, 4);
	g_assert_cmpuint(count(html, "<h2 class=\"group\">More by title</h2>"), ==, 1);
	g_assert_cmpuint(count(html, "<tr>"), ==, count(html, "</tr>"));
	for (unsigned i = 0; i < digest->entries->len; i++) {
		struct digest_entry *entry = digest->entries->pdata[i];

		entry->shown = DIGEST_DETAIL_TITLE;
	}
	g_free(html);
	html = renderer_format_html(renderer, digest, NULL);
	g_assert_cmpuint(count(html, "<h2 class=\"group\""), ==, 0);
}

RENDER_TEST(single_paper_has_its_abstract)
{
	for (unsigned papers = 1; papers <= 2; papers++) {
		pb_auto(digest) digest = render_sample_new_digest();
		g_autofree char *html = NULL, *page = NULL;

		for (unsigned i = 0; i < papers; i++) {
			struct digest_entry *entry =
			    render_sample_add(digest, "1", "T", DIGEST_DETAIL_FULL);

			entry->paper->summary = g_strdup("A summary.");
			render_sample_set_text(&entry->paper->abstract, "The whole.");
		}
		html = renderer_format_html(renderer, digest, NULL);
		page = renderer_format_page(renderer, digest, NULL);
		g_assert_cmpuint(count(html, "The whole."), ==, papers == 1);
		g_assert_cmpuint(count(html, "<details>"), ==, 0);
		/* In a browser the others have it on demand. */
		g_assert_cmpuint(count(page, "The whole."), ==, papers);
		g_assert_cmpuint(count(page, "<details>"), ==, papers == 1 ? 0 : 2);
	}
}

TEST(a_day_without_answers_is_no_quiet_day)
{
	static const char nothing[] = "Nothing new matched";
	pb_auto(renderer) renderer = render_sample_new_renderer();

	for (unsigned is_failed = 0; is_failed <= 1; is_failed++) {
		pb_auto(digest) digest = render_sample_new_digest();
		g_autofree char *message = NULL, *html = NULL, *text = NULL;

		digest->is_note = true;
		digest->style.is_failed = is_failed;
		render_sample_set_text(
		    &digest->notices, "Hugging Face failed since Tue");
		message = compose(renderer, digest);
		text = renderer_format_text(renderer, digest, NULL);
		html = renderer_format_html(renderer, digest, NULL);
		g_assert_cmpint(
		    strstr(message, "Subject: No papers could be fetched,") != NULL, ==,
		    is_failed);
		g_assert_cmpint(
		    strstr(html, "<h1>No papers could be fetched</h1>") != NULL, ==,
		    is_failed);
		g_assert_cmpint(strstr(html, nothing) == NULL, ==, is_failed);
		g_assert_cmpint(strstr(text, nothing) == NULL, ==, is_failed);
		g_assert_cmpint(strstr(text, "Nothing is lost") != NULL, ==, is_failed);
		g_assert_nonnull(strstr(html, "Hugging Face failed since Tue"));
	}
}

TEST(order_and_language_are_said)
{
	static const struct {
		unsigned full;
		enum preference_order order;
		const char *wanted;
	} rows[] = {
	    {6, PREFERENCE_ORDER_SCORE, "<span class=\"order\">best first<"},
	    {4, PREFERENCE_ORDER_DATE, "<span class=\"order\">4 of 6, newest first<"},
	    {2, PREFERENCE_ORDER_VOTES,
	        "<span class=\"order\">2 of 6, most votes first<"},
	};
	pb_auto(renderer) renderer = render_sample_new_renderer();

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(digest) digest = render_sample_new_digest();
		g_autofree char *html = NULL, *german = NULL;

		digest->style.order = rows[i].order;
		for (unsigned at = 0; at < 6; at++)
			render_sample_add(digest, "1", at ? "Title" : "\u6a21\u578b",
			    at < rows[i].full ? DIGEST_DETAIL_FULL
			                      : DIGEST_DETAIL_TITLE);
		html = renderer_format_html(renderer, digest, NULL);
		g_assert_nonnull(strstr(html, rows[i].wanted));
		g_assert_cmpuint(count(html, "lang=\"en\""), ==, 1);
		g_strlcpy(digest->style.language, "de", 3);
		german = renderer_format_html(renderer, digest, NULL);
		/* Five titles in English, and the sentences of those in full. */
		g_assert_cmpuint(
		    count(german, "lang=\"en\""), ==, 5 + rows[i].full - 1);
	}
}

/* RFC 8058: the https link comes first, once, and is not folded. */
TEST(digests_link_to_the_page)
{
	static const struct {
		const char *url;
		bool has_one_click, has_commands;
		const char *golden;
	} rows[] = {
	    {"https://papers.example.org", true, true, "digest-web.eml"},
	    {"https://papers.example.org", false, true, "digest-web-plain.eml"},
	    {"http://localhost:8080/papers", true, true, NULL},
	    {"https://papers.example.org", true, false, NULL},
	    {NULL, true, true, NULL},
	};
	g_autofree char *dir = render_sample_get_template_dir();
	g_autoptr(GBytes) key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	pb_local(subaddress_base) commands = {0};
	g_autoptr(GHashTable) seen =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	g_assert_true(
	    subaddress_base_parse("paperboy@papers.example.org", "+", &commands, NULL));
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct renderer_settings settings = render_sample_settings(dir, key);
		pb_auto(renderer) renderer = NULL;
		pb_auto(digest) digest = render_sample_new_digest();
		g_autofree char *message = NULL;
		bool is_https = i != 2 && i != 4;

		settings.commands = rows[i].has_commands ? &commands : NULL;
		settings.web_url = rows[i].url;
		settings.has_one_click = rows[i].has_one_click;
		renderer = renderer_new(&settings, NULL);
		g_assert_true(
		    g_hash_table_add(seen, g_strdup(renderer_get_cache_key(renderer))));
		render_sample_add(digest, "1", "A title", DIGEST_DETAIL_FULL);
		message = compose(renderer, digest);
		g_assert_cmpint(
		    strstr(message, "\r\nList-Unsubscribe-Post: "
		                    "List-Unsubscribe=One-Click\r\n") != NULL,
		    ==, rows[i].has_one_click && is_https);
		g_assert_cmpint(
		    strstr(message, "\r\nList-Unsubscribe: <https://papers.example.org"
		                    "/u/") != NULL,
		    ==, rows[i].has_one_click && is_https);
		g_assert_cmpuint(count(message, "List-Unsubscribe: "), ==, 1);
		g_assert_cmpint(strstr(message, "In a browser: http") != NULL, ==,
		    rows[i].url != NULL);
		if (rows[i].golden)
			render_sample_check_golden(rows[i].golden, message);
	}
}

/* A line of the header has room for the longest one. */
TEST(link_of_the_longest_base_is_one_word)
{
	g_autofree char *dir = render_sample_get_template_dir();
	g_autoptr(GBytes) key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	struct renderer_settings settings = render_sample_settings(dir, key);
	g_autofree char *path =
	    g_strnfill(BOUNDS_WEB_URL_BYTES - strlen("https://p.example/"), 'p');
	g_autofree char *url = g_strconcat("https://p.example/", path, NULL);
	g_autofree char *start = g_strdup_printf("\r\nList-Unsubscribe: <%s/u/", url);
	pb_auto(digest) digest = render_sample_new_digest();
	pb_auto(renderer) renderer = NULL;
	g_autofree char *message = NULL;
	const char *link;

	digest->subscriber_id = G_MAXINT64;
	settings.web_url = url;
	settings.has_one_click = true;
	renderer = renderer_new(&settings, NULL);
	render_sample_add(digest, "1", "A title", DIGEST_DETAIL_FULL);
	message = compose(renderer, digest);
	link = strstr(message, start);
	g_assert_nonnull(link);
	link += strlen(start);
	g_assert_cmpuint(strspn(link, "abcdefghijklmnopqrstuvwxyz234567"), ==,
	    TOKEN_SIGNED_BYTES_MAX);
	g_assert_true(
	    g_str_has_prefix(link + TOKEN_SIGNED_BYTES_MAX, ">,\r\n <mailto:"));
}

TEST(invalid_template_is_reported_at_start)
{
	CASES_FOREACH(row, "render_template_errors", *name, *text, *message) {
		g_autoptr(GError) error = NULL;

		g_assert_null(
		    new_with_template(row->name, row->text, strlen(row->text), &error));
		g_assert_error(error, PB_ERROR, PB_ERROR_INPUT);
		if (!g_str_has_prefix(error->message, row->message))
			g_error("%s", error->message);
	}
}

TEST(each_template_changes_the_cache_key)
{
	g_autoptr(GHashTable) seen =
	    g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	CASES_FOREACH(row, "render_templates", *name, *text) {
		pb_auto(renderer) renderer = NO_ERROR(
		    new_with_template(row->name, row->text, strlen(row->text), &error));

		g_assert_true(
		    g_hash_table_add(seen, g_strdup(renderer_get_cache_key(renderer))));
	}
}

TEST(template_size_is_limited)
{
	g_autofree char *at = g_strnfill(BOUNDS_TEMPLATE_BYTES, 'x');
	g_autofree char *over = g_strnfill(BOUNDS_TEMPLATE_BYTES + 1, 'x');
	g_autoptr(GError) zero_error = NULL;
	pb_auto(renderer) renderer =
	    new_with_template("digest.subject", at, BOUNDS_TEMPLATE_BYTES, NULL);

	g_assert_nonnull(renderer);
	FAILS(PB_ERROR_LIMIT, new_with_template("digest.subject", over,
	                          BOUNDS_TEMPLATE_BYTES + 1, &error));
	g_assert_null(new_with_template("digest.subject", "a\0b", 3, &zero_error));
	g_assert_error(zero_error, PB_ERROR, PB_ERROR_INPUT);
}

/* 64 KB of template, three times as much encoded, leave no room. */
TEST(templates_without_room_for_papers_are_rejected)
{
	g_autoptr(GString) text = g_string_new(NULL);

	while (text->len < 60000)
		g_string_append(text, "======================================\n");
	g_string_append(text, "{{{papers}}}\n");
	FAILS(PB_ERROR_LIMIT,
	    new_with_template("digest.html", text->str, text->len, &error));
}

TEST(subject_length_is_limited)
{
	static const char template[] =
	    "{{subject}}{{first_title}}{{first_title}}{{first_title}}{{first_title}}";
	pb_auto(renderer) renderer =
	    new_with_template("digest.subject", template, strlen(template), NULL);
	pb_auto(digest) digest = render_sample_new_digest();
	g_autofree char *title = g_strnfill(500, 't');
	g_autofree char *message = NULL;
	const char *subject;
	unsigned messages = 0;

	g_assert_nonnull(renderer);
	render_sample_add(digest, "1", title, DIGEST_DETAIL_FULL);
	message = compose(renderer, digest);
	subject = strstr(message, "Subject: ");
	for (const char *p = subject; p < strstr(subject, "Message-ID"); p++)
		messages += *p == 't';
	/* Three titles of 79 letters and an ellipsis, cut at 200 characters. */
	g_assert_cmpuint(messages, >, BOUNDS_SUBJECT_CHARS - 10);
	g_assert_cmpuint(messages, <, BOUNDS_SUBJECT_CHARS + 1);
}

UNIT_MAIN
