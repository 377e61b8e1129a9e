/*
 * helper_web_page.c - write the sample web pages to a directory.
 *
 * helper_web_page TEMPLATES PO DIRECTORY writes NAME.LANGUAGE.html and its
 * Content-Security-Policy, NAME.LANGUAGE.policy, in each language that ships and, with
 * a file PO/fa.po, in the test language of lib/po.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/web_sample.h"
#include "web/web_page.h"

static void
write_page(const struct web_body *body, const char *directory, const char *name,
    const char *language)
{
	const char *suffix = strstr(body->type, "html") ? "html" : "feed";
	g_autofree char *path =
	    g_strdup_printf("%s/%s.%s.%s", directory, name, language, suffix);
	g_autofree char *policy =
	    g_strdup_printf("%s/%s.%s.policy", directory, name, language);
	gsize size;
	const char *bytes = g_bytes_get_data(body->bytes, &size);

	if (!g_file_set_contents(path, bytes, (gssize)size, NULL) ||
	    !g_file_set_contents(policy, body->content_policy, -1, NULL))
		g_error("cannot write %s", path);
	printf("%s %zu\n", path, size);
}

static void
write_sample(const struct web_pages *pages, const struct web_sample *sample,
    const char *directory, const char *language)
{
	pb_auto(web_reply) reply = web_sample_new_reply(sample, language);
	g_autoptr(GError) error = NULL;
	pb_local(web_body) body = {0};

	if (!web_page_render(pages, reply, sample->path, &body, &error))
		g_error("%s: %s", sample->name, error->message);
	write_page(&body, directory, sample->name, language);
}

int
main(int argc, char **argv)
{
	static const char *const languages[] = {"en", "de", "fr", "zh", "fa"};
	g_autoptr(GPtrArray) samples = web_sample_load();
	g_autoptr(GError) error = NULL;
	pb_auto(web_pages) pages = NULL;

	if (argc != 4)
		return EXIT_FAILURE;
	pages = web_pages_load(argv[1], argv[2], "https://papers.example.org", &error);
	if (!pages)
		g_error("%s", error->message);
	for (unsigned i = 0; i < samples->len; i++) {
		for (size_t j = 0; j < G_N_ELEMENTS(languages); j++)
			if (web_pages_has_language(pages, languages[j]))
				write_sample(
				    pages, samples->pdata[i], argv[3], languages[j]);
	}
	return EXIT_SUCCESS;
}
