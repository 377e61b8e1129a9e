/*
 * render_sample.c - made-up digests for the tests of the renderer.
 */
#include "render_sample.h"

#include "errors.h"

char *
render_sample_get_template_dir(void)
{
	const char *top = g_getenv("top_srcdir");

	return g_build_filename(top ? top : ".", "etc", "templates", NULL);
}

struct renderer_settings
render_sample_settings(const char *template_dir, GBytes *key)
{
	return (struct renderer_settings){
	    .template_dir = template_dir,
	    .from_name = "paperboy",
	    .from_address = "paperboy@papers.example.org",
	    .message_domain = "papers.example.org",
	    .list_id = "digest.papers.example.org",
	    .list_name = "paperboy",
	    .owner_address = "paperboy+owner@papers.example.org",
	    .key = key,
	};
}

struct renderer *
render_sample_new_renderer(void)
{
	g_autofree char *dir = render_sample_get_template_dir();
	g_autoptr(GBytes) key =
	    g_bytes_new_static("0123456789abcdef0123456789abcdef", 32);
	struct renderer_settings settings = render_sample_settings(dir, key);
	struct renderer *renderer = NO_ERROR(renderer_new(&settings, &error));

	return renderer;
}

struct digest *
render_sample_new_digest(void)
{
	struct digest *digest = digest_new();

	digest->id = 4711;
	digest->subscriber_id = 7;
	digest->slot = g_strdup("2026-11-21T07:30");
	digest->message_token = g_strdup("abcdefghijklmnopq");
	g_strlcpy(digest->date, "2026-11-21", sizeof(digest->date));
	digest->created_at = 1795242600; /* 2026-11-21 06:30 UTC */
	digest->recipient = g_strdup("robin@reader.example");
	digest->recipient_name = g_strdup("Robin Reader");
	return digest;
}

struct digest_entry *
render_sample_add(
    struct digest *digest, const char *id, const char *title, enum digest_detail shown)
{
	struct paper *paper = paper_new();
	struct digest_entry *entry;

	paper->id = g_strdup(id);
	paper->title = g_strdup(title);
	paper->abstract = g_strdup("An abstract.");
	paper->url = g_strdup_printf("https://papers.example.net/abs/%s", id);
	g_ptr_array_add(paper->authors, g_strdup("Ada Example"));
	entry = digest_entry_new(paper, "2026-11-20");
	entry->shown = shown;
	g_ptr_array_add(
	    entry->reasons, digest_reason_new("diffusion", hits_parse("tdiffusion")));
	g_ptr_array_add(digest->entries, entry);
	return entry;
}

void
render_sample_set_text(char **field, const char *text)
{
	g_free(*field);
	*field = g_strdup(text);
}

struct digest_entry *
render_sample_add_to_group(
    struct digest *digest, const char *id, const char *filter, enum digest_detail shown)
{
	g_autofree char *title = g_strconcat("Paper ", id, NULL);
	struct digest_entry *entry = render_sample_add(digest, id, title, shown);
	struct digest_reason *reason = entry->reasons->pdata[0];

	g_ptr_array_insert(entry->reasons, 0,
	    digest_reason_new(filter, g_ptr_array_ref(reason->hits)));
	g_ptr_array_remove_index(entry->reasons, 1);
	return entry;
}

void
render_sample_set_filters(struct digest *digest, const char *lines)
{
	g_auto(GStrv) all = g_strsplit(lines ? lines : "", "\n", -1);

	g_ptr_array_set_size(digest->filters, 0);
	for (char **line = all; *line; line++) {
		g_auto(GStrv) cells = g_strsplit(*line, "\t", 4);
		struct digest_filter filter;

		if (g_strv_length(cells) < 4)
			continue;
		filter.number = (int)g_ascii_strtoll(cells[0], NULL, 10);
		filter.papers = (unsigned)g_ascii_strtoull(cells[1], NULL, 10);
		filter.label = cells[2];
		filter.query = cells[3];
		digest_add_filter(digest, &filter);
	}
}

void
render_sample_check_golden(const char *name, const char *text)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *path =
	    g_build_filename(top ? top : ".", "tests", "golden", name, NULL);
	g_autofree char *golden = NULL;

	if (g_getenv("GOLDEN_WRITE"))
		g_file_set_contents(path, text, -1, NULL);
	if (!g_file_get_contents(path, &golden, NULL, NULL))
		g_error("cannot read %s", path);
	g_assert_cmpstr(text, ==, golden);
}

static void
add_rich_papers(struct digest *digest)
{
	struct digest_entry *entry;

	entry = render_sample_add(digest, "2611.01001",
	    "Sparse Routing of Tokens through Mixtures of State Space Models: A Long "
	    "Title that Nobody Could Bring Themselves to Shorten before the Deadline",
	    DIGEST_DETAIL_FULL);
	render_sample_set_text(&entry->paper->abstract,
	    "We route tokens through a mixture of state space models and ask how few "
	    "of "
	    "them a token must visit. On four made-up corpora two visits are enough, "
	    "and "
	    "the third buys less than 0.1 points. The cost per token is $O(k \\log n)$ "
	    "with $k \\ll n$, against $O(n)$ for the dense model. We describe when the "
	    "router collapses, how to see it coming, and a remedy of one line. Code "
	    "and "
	    "the four corpora are public.");
	entry->paper->code_url =
	    g_strdup("https://code.example.net/sparse/routing?tab=readme&lang=en");
	entry->paper->project_url = g_strdup("https://sparse-routing.example.net/");
	for (unsigned i = 0; i < 17; i++)
		g_ptr_array_add(entry->paper->authors,
		    g_strdup_printf("%c. Sample-Coauthor", 'B' + (int)i));
	entry->paper->summary =
	    g_strdup("Two visits to a mixture of state space models are enough.");
	entry->upvotes = 128;
	g_ptr_array_add(
	    entry->reasons, digest_reason_new("ssm",
	                        hits_parse("tState Space\tbmixture\tBstate space")));

	entry = render_sample_add(digest, "2611.01002",
	    "Schrödinger bridges with $\\alpha$-divergences: \u2016x\u2016\u2082 "
	    "\u2264 \u03B5 is not enough",
	    DIGEST_DETAIL_FULL);
	render_sample_set_text(&entry->paper->abstract,
	    "For \u03B1 \u2208 (0, 1) we show that an \u2113\u2082 bound of \u03B5 "
	    "does not keep two bridges together. "
	    "The counterexample lives in \u211D\u00B3.");
	entry->upvotes = 1;
	g_ptr_array_add(entry->paper->authors, g_strdup("Bjørn Ångström"));
	g_ptr_array_add(entry->paper->authors, g_strdup("José Núñez-O'Hara"));

	entry = render_sample_add(digest, "2611.01003",
	    "面向长文档的稀疏路由状态空间模型：方法、实验与一个不肯结束的标题，直到一行"
	    "再也放不下为止",
	    DIGEST_DETAIL_FULL);
	render_sample_set_text(&entry->paper->abstract,
	    "我们研究如何用尽可能少的状态空间模型处理一个词元。在四个虚构的语料库上，两"
	    "次访问已经足够。"
	    "本文还描述了路由器何时会崩溃，以及如何提前发现。");
	g_ptr_array_set_size(entry->paper->authors, 0);
	g_ptr_array_add(entry->paper->authors, g_strdup("王小明"));
	g_ptr_array_add(entry->paper->authors, g_strdup("李样本"));
	entry->upvotes = 0;
}

struct digest *
render_sample_new_full_digest(void)
{
	struct digest *digest = render_sample_new_digest();
	struct digest_entry *entry;

	add_rich_papers(digest);
	entry =
	    render_sample_add(digest, "2611.01004", "On Diffusion", DIGEST_DETAIL_FULL);
	render_sample_set_text(&entry->paper->abstract, "");
	g_ptr_array_set_size(entry->paper->authors, 0);
	entry = render_sample_add(digest, "2611.01005",
	    "Antidisestablishmentarianism_in_file_names_and_other_words_that_do_not_"
	    "break_"
	    "anywhere: a survey",
	    DIGEST_DETAIL_FULL);
	render_sample_set_text(&entry->paper->abstract,
	    "We survey words that do not break, such as "
	    "long.example.net/a/path/that/goes/on/and/on/and/on/until/it/is/"
	    "wider/"
	    "than/any/telephone and what layouts do with them.");
	entry = render_sample_add(digest, "2611.01006",
	    "\u0646\u0645\u0627\u0630\u062C "
	    "\u0627\u0644\u0627\u0646\u062A\u0634\u0627\u0631 "
	    "\u0644\u0644\u0635\u0648\u0631",
	    DIGEST_DETAIL_FULL);
	render_sample_set_text(&entry->paper->abstract,
	    "A title from right to left, an abstract from left to right.");
	entry->upvotes = 12;
	render_sample_add(digest, "2611.01007",
	    "Diffusion models of rumours in small towns", DIGEST_DETAIL_TITLE);
	render_sample_add(digest, "2611.01008",
	    "Does diffusion of responsibility explain why nobody reviewed this paper "
	    "with "
	    "a title of two lines?",
	    DIGEST_DETAIL_TITLE);
	for (unsigned i = 0; i < 3; i++) {
		g_autofree char *id = g_strdup_printf("2611.0101%u", i);

		render_sample_add(digest, id, "Never shown", DIGEST_DETAIL_COUNT);
	}
	return digest;
}

struct digest *
render_sample_new_hostile_digest(void)
{
	static const char *const texts[] = {
	    "</a><img src=x onerror=alert(1)>",
	    "\"onmouseover=\"alert(1)",
	    "' autofocus onfocus='alert(1)",
	    "safe \u202E gnp.exe \u2066 \u200F",
	    "{{7*7}} {{{papers}}} {{#full}}",
	    "line\r\nBcc: victim@example.net\r\n\r\nbody",
	    "From the start",
	    ".",
	    "..",
	    "-- ",
	    "--",
	    "\x01\x02\x1B[31m\x7F",
	    "</title></style><script>alert(1)</script>",
	    "ill \xFF\xC3( formed \xED\xA0\x80",
	    "=?utf-8?Q?x=0D=0ABcc:_v@example.net?=",
	    "&lt;b&gt; &amp;amp;",
	};
	struct digest *digest = render_sample_new_digest();
	g_autofree char *long_text = g_strnfill(5000, 'x');

	render_sample_set_text(&digest->recipient_name,
	    "Eve\r\nBcc: victim@example.net \"<x@y.example>\u202E");
	for (unsigned i = 0; i <= G_N_ELEMENTS(texts); i++) {
		const char *text = i < G_N_ELEMENTS(texts) ? texts[i] : long_text;
		g_autofree char *id = g_strdup_printf("2611.0%u", 2000 + i);
		struct digest_entry *entry =
		    render_sample_add(digest, id, text, DIGEST_DETAIL_FULL);

		render_sample_set_text(&entry->paper->abstract, text);
		g_ptr_array_add(entry->paper->authors, g_strdup(text));
		g_ptr_array_add(
		    entry->reasons, digest_reason_new(text, hits_parse(text)));
		entry->paper->code_url = g_strdup("javascript:alert(1)");
		entry->paper->project_url =
		    g_strdup("https://user@example.net/\"onclick=x");
	}
	return digest;
}
