/*
 * web_page.c - replies of paperboyd as HTML pages and feeds.
 */
#include "web/web_page.h"

#include <string.h>

struct web_pages {
	int unused;
};

void
web_body_clear(struct web_body *body)
{
	g_clear_pointer(&body->bytes, g_bytes_unref);
	g_free(body->content_policy);
}

struct web_pages *
web_pages_load(const char *template_dir, const char *url, GError **error)
{
	(void)template_dir;
	(void)url;
	(void)error;
	return g_new0(struct web_pages, 1);
}

void
web_pages_free(struct web_pages *pages)
{
	g_free(pages);
}

bool
web_pages_has_language(const struct web_pages *pages, const char *language)
{
	(void)pages;
	return g_str_equal(language, "en") || g_str_equal(language, "de");
}

bool
web_page_render(const struct web_pages *pages, const struct web_reply *reply,
    const char *path, struct web_body *body, GError **error)
{
	(void)pages;
	(void)path;
	(void)error;
	*body = (struct web_body){g_bytes_new("", 0), NULL, NULL};
	if (reply->page != WEB_PAGE_NONE)
		*body = (struct web_body){g_bytes_new("page\n", 5),
		    "text/html; charset=utf-8", g_strdup("default-src 'none'")};
	return true;
}

void
web_page_render_error(const struct web_pages *pages, unsigned http_status,
    const char *language, struct web_body *body)
{
	char *text = g_strdup_printf("%u %s\n", http_status, language);

	(void)pages;
	*body = (struct web_body){g_bytes_new_take(text, strlen(text)),
	    "text/html; charset=utf-8", g_strdup("default-src 'none'")};
}
