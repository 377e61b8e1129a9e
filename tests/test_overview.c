/*
 * test_overview.c - what a digest begins with, and what inboxes show of it.
 */
#include <string.h>

#include "lib/cases.h"
#include "lib/render_sample.h"
#include "lib/unit.h"

static void
set_overview(struct digest *digest)
{
	render_sample_set_filters(digest,
	    "1\t7\trl<hf>\t\"reward model\" OR rlhf\n3\t2\tstate space\tspace state\n"
	    "4\t1\tssm\tssm");
	render_sample_set_text(&digest->notices,
	    "arXiv cs.CL has had no new papers since Tue\nFirst papers for ssm\nMore "
	    "papers than usual "
	    "(about 4)");
}

static struct renderer *
new_renderer_with_commands(void)
{
	g_autofree char *dir = render_sample_get_template_dir();
	g_autoptr(GBytes) key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	struct renderer_settings settings = render_sample_settings(dir, key);
	pb_local(subaddress_base) commands = {0};
	struct renderer *renderer;

	g_assert_true(
	    subaddress_base_parse("paperboy@papers.example.org", "+", &commands, NULL));
	settings.commands = &commands;
	renderer = renderer_new(&settings, NULL);
	g_assert_nonnull(renderer);
	return renderer;
}

/* Groups, nine papers, several filters, and something unusual. */
TEST(overview_is_at_the_top)
{
	pb_auto(renderer) renderer = new_renderer_with_commands();
	pb_auto(digest) digest = render_sample_new_digest();
	g_autofree char *text = NULL;
	g_autofree char *html = NULL;

	digest->style.group = PREFERENCE_GROUP_ON;
	digest->style.abstract = PREFERENCE_ABSTRACT_NONE;
	for (unsigned i = 1; i <= 9; i++) {
		g_autofree char *id = g_strdup_printf("%u", i);

		render_sample_add_to_group(
		    digest, id, i < 8 ? "rl<hf>" : "state space", DIGEST_DETAIL_FULL);
	}
	set_overview(digest);
	text = renderer_format_text(renderer, digest, NULL);
	render_sample_check_golden("digest-overview.txt", text);
	html = renderer_format_html(renderer, digest, NULL);
	render_sample_check_golden("digest-overview.html", strstr(html, "<body>"));
}

TEST(counts_are_those_of_several_filters_and_papers)
{
	static const char one[] = "1\t1\tdiffusion\tdiffusion";
	static const char two[] = "1\t1\tdiffusion\tdiffusion\n2\t1\tssm\tssm";
	static const struct {
		const char *filters;
		unsigned papers;
		bool has_counts;
	} rows[] = {{one, 2, false}, {two, 1, false}, {two, 2, true}};
	pb_auto(renderer) renderer = new_renderer_with_commands();

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		pb_auto(digest) digest = render_sample_new_digest();
		g_autofree char *html = NULL;

		for (unsigned paper = 0; paper < rows[i].papers; paper++)
			render_sample_add(digest, "1", "A title", DIGEST_DETAIL_FULL);
		render_sample_set_filters(digest, rows[i].filters);
		html = renderer_format_html(renderer, digest, NULL);
		g_assert_true(
		    (strstr(html, "class=\"counts\"") != NULL) == rows[i].has_counts);
		/* With one filter no paper says by which one it was found. */
		g_assert_true((strstr(html, "<b dir=\"auto\">diffusion") != NULL) ==
		              (rows[i].filters == two));
	}
}

/* Inboxes show both: each makes sense alone, and the second adds to the first. */
TEST(preheader_goes_on_from_the_subject)
{
	pb_auto(renderer) renderer = new_renderer_with_commands();

	CASES_FOREACH(row, "overview_preheaders", *papers, *filters, *notices, *subject,
	    *preheader) {
		pb_auto(digest) digest = render_sample_new_digest();
		g_autofree char *subject =
		    g_strdup_printf("<title>%s</title>", row->subject);
		g_autofree char *preheader =
		    g_strdup_printf("mso-hide:all\">\n%s</div>", row->preheader);
		g_autofree char *html = NULL;

		for (unsigned j = 1; j <= cases_number(row->papers); j++) {
			g_autofree char *title = g_strdup_printf("Title %u of a", j);

			render_sample_add(digest, title, title, DIGEST_DETAIL_FULL);
		}
		digest->is_note = cases_number(row->papers) == 0;
		render_sample_set_filters(digest, row->filters);
		render_sample_set_text(&digest->notices, row->notices);
		html = renderer_format_html(renderer, digest, NULL);
		if (!strstr(html, subject) || !strstr(html, preheader))
			g_error("no %s %s in %s", subject, preheader, html);
	}
}

UNIT_MAIN
