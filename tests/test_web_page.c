/*
 * test_web_page.c - pages and feeds of paperboy-web.
 */
#include "web/web_page.h"

#include <string.h>

#include "lib/cases.h"
#include "lib/unit.h"
#include "lib/web_sample.h"

#define BASE      "https://papers.example.org"
#define PAGE_MAX  (16 * 1024)
#define TEMPLATES "etc/templates"

static struct web_pages *
load_pages(void)
{
	g_autofree char *dir =
	    g_build_filename(g_getenv("top_srcdir"), TEMPLATES, NULL);
	struct web_pages *pages = NO_ERROR(web_pages_load(dir, NULL, BASE, &error));

	return pages;
}

/* Render and free a reply. @return owned by the caller */
static char *
render(struct web_reply *reply, const char *path, char **policy)
{
	pb_auto(web_pages) pages = load_pages();
	struct web_body body = {0};
	char *text;
	gsize size;

	NO_ERROR(web_page_render(pages, reply, path, &body, &error));
	size = g_bytes_get_size(body.bytes);
	text = g_strndup(g_bytes_get_data(body.bytes, NULL), size);
	g_assert_cmpuint(strlen(text), ==, size);
	if (policy)
		*policy = g_steal_pointer(&body.content_policy);
	web_body_clear(&body);
	web_reply_free(reply);
	return text;
}

static char *
render_values(enum web_page page, const char *values)
{
	struct web_sample sample = {.page = page, .values = (char *)values};

	return render(web_sample_new_reply(&sample, "en"), "/", NULL);
}

static void
assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		g_error("'%s' is missing in:\n%s", part, text);
}

static void
assert_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		g_error("'%s' is in:\n%s", part, text);
}

TEST(every_page_is_below_16_kb)
{
	static const char *const languages[] = {"en", "de", "fr", "zh"};
	g_autoptr(GPtrArray) samples = web_sample_load();

	for (unsigned i = 0; i < 4 * samples->len; i++) {
		const struct web_sample *sample = samples->pdata[i / 4];
		g_autofree char *text = render(
		    web_sample_new_reply(sample, languages[i % 4]), sample->path, NULL);

		if (strlen(text) > PAGE_MAX)
			g_error("%s: %zu bytes", sample->name, strlen(text));
	}
}

TEST(nothing_in_a_page_runs_or_comes_from_elsewhere)
{
	g_autoptr(GPtrArray) samples = web_sample_load();

	for (unsigned i = 0; i < samples->len; i++) {
		const struct web_sample *sample = samples->pdata[i];
		g_autofree char *policy = NULL;
		g_autofree char *text =
		    render(web_sample_new_reply(sample, "en"), sample->path, &policy);

		assert_lacks(text, "<script");
		assert_lacks(text, "<img");
		assert_lacks(text, " style=");
		assert_lacks(text, "@import");
		if (strcmp(sample->name, "hostile") != 0)
			assert_lacks(text, "{{");
		if (sample->page != WEB_PAGE_FEED)
			assert_has(policy, "style-src 'sha256-");
		assert_lacks(policy, "unsafe");
		assert_has(policy, "default-src 'none'");
		assert_has(policy, "frame-ancestors 'none'");
		assert_has(policy, "base-uri 'none'");
		assert_has(policy, "form-action 'self'");
	}
}

#define HOSTILE \
	"</a><img src=x onerror=alert(1)>{{7*7}}{{{csrf}}}\" ' &lt; \342\200\256"

TEST(hostile_values_stay_text)
{
	static const char *const pages[] = {
	    "{'service': <'%s'>, 'owner': <'%s'>, 'form_filter': <'%s'>, 'messages': "
	    "<[{'kind': <'error'>, 'field': <'filter'>, 'text': <'%s'>, 'line': "
	    "<'%s'>, "
	    "'column': <'3'>}]>, 'backtest': <{'count': <'%s'>, 'papers': <[{'title': "
	    "<'%s'>, 'url': <'javascript:alert(1)'>, 'day': <'%s'>}]>}>}",
	    "{'show': <'filter'>, 'filters': <[{'number': <'%s'>, 'name': <'%s'>, "
	    "'query': <'%s'>, 'note': <'%s'>}]>, 'next': <'%s'>, 'csrf': <'%s'>, "
	    "'content': <'%s'>, 'found': <'%s'>}",
	    "{'show': <'settings'>, 'settings': <[{'key': <'%s'>, 'value': <'%s'>, "
	    "'options': <[{'value': <'%s'>, 'label': <'%s'>}]>}]>, 'paused_until': "
	    "<'%s'>, 'state': <'paused'>, 'subscriber': <'%s'>, 'page': <'%s'>, "
	    "'undo': <'%s'>}"};
	static const enum web_page kinds[] = {
	    WEB_PAGE_HOME, WEB_PAGE_PREFERENCES, WEB_PAGE_PREFERENCES};
	g_autofree char *quoted = g_strescape(HOSTILE, "\342\200\256");
	g_auto(GStrv) parts = g_strsplit(quoted, "'", -1);
	g_autofree char *value = g_strjoinv("\\'", parts);

	for (size_t i = 0; i < G_N_ELEMENTS(pages); i++) {
		g_auto(GStrv) around = g_strsplit(pages[i], "%s", -1);
		g_autofree char *values = g_strjoinv(value, around);
		g_autofree char *text = render_values(kinds[i], values);

		assert_lacks(text, "<img");
		assert_lacks(text, "javascript:");
		assert_has(text, "&lt;/a&gt;&lt;img src=x onerror=alert(1)&gt;{{7*7}}");
	}
}

TEST(error_has_its_caret_below_the_column)
{
	CASES_FOREACH(row, "web_page_carets", *line, *column, *excerpt) {
		g_autofree char *values = g_strdup_printf(
		    "{'messages': <[{'kind': <'error'>, 'field': <'filter'>, 'text': "
		    "<'no'>, 'line': <'%s'>, 'column': <'%s'>}]>}",
		    row->line, row->column);
		g_autofree char *text = render_values(WEB_PAGE_HOME, values);

		if (row->excerpt)
			assert_has(text, row->excerpt);
		else
			assert_lacks(text, "<pre>");
	}
}

TEST(errors_name_their_status)
{
	static const unsigned statuses[] = {400, 403, 404, 405, 413, 429, 503, 500};
	pb_auto(web_pages) pages = load_pages();

	for (size_t i = 0; i < G_N_ELEMENTS(statuses); i++) {
		struct web_body english = {0}, german = {0};

		web_page_render_error(pages, statuses[i], "", &english);
		web_page_render_error(pages, statuses[i], "de", &german);
		assert_has(g_bytes_get_data(english.bytes, NULL), "<html lang=\"en\"");
		assert_has(g_bytes_get_data(german.bytes, NULL), "<html lang=\"de\"");
		g_assert_cmpstr(english.type, ==, "text/html; charset=utf-8");
		g_assert_cmpuint(g_bytes_get_size(english.bytes), <, PAGE_MAX);
		web_body_clear(&english);
		web_body_clear(&german);
	}
}

TEST(digest_is_sent_as_it_is_with_the_hashes_of_its_styles)
{
	static const char html[] =
	    "<style>p { color: red }</style><p style=\"margin:0\">x</p>"
	    "<p style=\"margin:0\">y</p>";
	g_autofree char *values = g_strdup_printf("{'html': <'%s'>}", html);
	struct web_sample sample = {.page = WEB_PAGE_DIGEST, .values = values};
	g_autofree char *policy = NULL;
	g_autofree char *text =
	    render(web_sample_new_reply(&sample, "en"), "/d/aaaa", &policy);

	g_assert_cmpstr(text, ==, html);
	/* Computed with: printf %s ... | openssl dgst -sha256 -binary | base64 */
	g_assert_cmpstr(policy, ==,
	    "default-src 'none'; img-src data:; style-src 'unsafe-hashes' "
	    "'sha256-ngewhhP73WDIbgwseeu52VAAJgKdGUsu1IUQQsAm8m4=' "
	    "'sha256-q3nqK4VzeI/SowYCYQ/tCfo056B/JMutuSpzbJbHczk='; form-action "
	    "'self'; "
	    "frame-ancestors 'none'; base-uri 'none'");
}

TEST(language_switch_keeps_what_is_shown)
{
	g_autofree char *filter = render_values(WEB_PAGE_PREFERENCES,
	    "{'show': <'filter'>, 'page': <'2'>, 'filters': <[{'number': <'7'>}]>}");
	g_autofree char *blocks =
	    render_values(WEB_PAGE_PREFERENCES, "{'show': <'blocks'>, 'page': <'2'>}");

	assert_has(filter, "href=\"?lang=de&amp;show=filter&amp;number=7\"");
	assert_has(filter, "<h1>Filter 7</h1>");
	assert_has(blocks, "href=\"?lang=de&amp;show=blocks&amp;page=2\"");
}

TEST(filter_has_its_chart_and_its_papers)
{
	g_autofree char *text = render_values(WEB_PAGE_PREFERENCES,
	    "{'show': <'filter'>, 'filters': <[{'number': <'7'>, 'backtest': "
	    "<{'count': "
	    "<'6 papers'>, 'days': <[{'day': <'2026-11-20'>, 'papers': <'4'>}, {'day': "
	    "<'2026-11-21'>, 'papers': <'0'>}, {'day': <'2026-11-22'>, 'papers': "
	    "<'2'>}]>, 'papers': <[{'title': <'One'>, 'day': <'2026-11-22'>}]>}>}]>}");

	assert_has(text, "<b>6 papers</b>");
	assert_has(text, "viewBox=\"0 0 30 40\"");
	assert_has(text, "<path d=\"M5 40v-40M25 40v-20\"/>");
	assert_has(text,
	    "aria-label=\"Bar chart of the papers by day. Most on Fri 20 Nov: 4 "
	    "papers\"");
	assert_has(text, "<tr><td>Sat 21 Nov</td><td>0</td></tr>");
	assert_has(
	    text, "<bdi lang=\"en\">One</bdi> <span class=\"soft\">Sun 22 Nov</span>");
}

TEST(each_proposal_has_its_answers)
{
	g_autofree char *text = render_values(WEB_PAGE_PREFERENCES,
	    "{'show': <'filter'>, "
	    "'filters': <[{'number': <'7'>}]>, 'proposals': "
	    "<[{'number': <'3'>, 'text': <'a: <b>'>, 'query': <'edit 7 a'>, "
	    "'is_applied': "
	    "<true>}, {'number': <'4'>, 'text': <'c'>, 'is_applied': <false>}]>}");
	g_autofree char *none = render_values(
	    WEB_PAGE_PREFERENCES, "{'show': <'account'>, 'proposals': <@aa{sv} []>}");
	const char *second = strstr(text, "<li id=\"s4\">");

	g_assert_nonnull(second);
	assert_has(text, "a: &lt;b&gt;");
	assert_has(
	    text, "name=\"action_undo_answer\" aria-describedby=\"s3\" value=\"Undo\"");
	assert_lacks(second, "action_undo_answer");
	assert_has(second, "name=\"number\" value=\"7\"");
	assert_has(second, "name=\"proposal\" value=\"4\"");
	assert_has(second, "value=\"Accept\"");
	assert_has(second, "value=\"Do not suggest again\"");
	assert_lacks(none, "id=\"suggestions\"");
}

UNIT_MAIN
