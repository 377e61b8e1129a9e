/*
 * web_sample.c - sample replies of paperboyd for the web pages.
 */
#include "web_sample.h"

#include <string.h>

#include "base/bounds.h"

#define PARTS "parts"

static const char *const page_names[WEB_PAGES] = {
    [WEB_PAGE_NONE] = "none",
    [WEB_PAGE_HOME] = "home",
    [WEB_PAGE_CONFIRM] = "confirm",
    [WEB_PAGE_LEAVE] = "leave",
    [WEB_PAGE_LEFT] = "left",
    [WEB_PAGE_PREFERENCES] = "preferences",
    [WEB_PAGE_SEARCH] = "search",
    [WEB_PAGE_MESSAGE] = "message",
    [WEB_PAGE_DIGEST] = "digest",
    [WEB_PAGE_FEED] = "feed",
};

static const char *const status_names[WEB_STATUSES] = {
    [WEB_STATUS_OK] = "ok",
    [WEB_STATUS_NOT_MODIFIED] = "not-modified",
    [WEB_STATUS_BAD_REQUEST] = "bad-request",
    [WEB_STATUS_FORBIDDEN] = "forbidden",
    [WEB_STATUS_NOT_FOUND] = "not-found",
    [WEB_STATUS_LIMITED] = "limited",
    [WEB_STATUS_UNAVAILABLE] = "unavailable",
};

static void
sample_free(void *data)
{
	struct web_sample *sample = data;

	g_free(sample->name);
	g_free(sample->path);
	g_free(sample->values);
	g_free(sample);
}

static unsigned
find_name(const char *const *names, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	g_error("web_samples.ini: unknown name '%s'", name);
}

/* Replace the names of parts, the last ones first. @return owned by the caller */
static char *
expand(GKeyFile *file, const char *text)
{
	g_auto(GStrv) names = g_key_file_get_keys(file, PARTS, NULL, NULL);
	g_autoptr(GString) out = g_string_new(text);

	for (guint i = g_strv_length(names); i-- > 0;) {
		g_autofree char *name = g_strconcat("$", names[i], NULL);
		g_autofree char *part =
		    g_key_file_get_value(file, PARTS, names[i], NULL);

		g_string_replace(out, name, part, 0);
	}
	return g_string_free(g_steal_pointer(&out), FALSE);
}

static char *
get_value(GKeyFile *file, const char *group, const char *key)
{
	char *value = g_key_file_get_value(file, group, key, NULL);

	if (!value)
		g_error("web_samples.ini: [%s] has no %s", group, key);
	return value;
}

static struct web_sample *
load_sample(GKeyFile *file, const char *group)
{
	struct web_sample *sample = g_new0(struct web_sample, 1);
	g_autofree char *page = get_value(file, group, "page");
	g_autofree char *status = get_value(file, group, "status");
	g_autofree char *values = get_value(file, group, "values");

	sample->name = g_strdup(group);
	sample->path = get_value(file, group, "path");
	sample->page = find_name(page_names, WEB_PAGES, page);
	sample->status = find_name(status_names, WEB_STATUSES, status);
	sample->values = expand(file, values);
	return sample;
}

/* ---- pages at their largest ---- */

/* @param values  with the names of parts */
static struct web_sample *
new_sample(GKeyFile *file, const char *name, enum web_page page, const char *values)
{
	struct web_sample *sample = g_new0(struct web_sample, 1);

	sample->name = g_strdup(name);
	sample->path = g_strdup("/p/aaaa");
	sample->page = page;
	sample->values = expand(file, values);
	return sample;
}

/* @param item  of a list; NUMBER and the longest text, LONG, are replaced */
static struct web_sample *
new_largest(GKeyFile *file, const char *name, enum web_page page, const char *before,
    unsigned count, const char *item)
{
	g_autofree char *word = g_strnfill(BOUNDS_QUERY_BYTES, 'w');
	g_auto(GStrv) parts = g_strsplit(item, "LONG", -1);
	g_autofree char *filled = g_strjoinv(word, parts);
	g_auto(GStrv) head = g_strsplit(before, "LONG", -1);
	g_autoptr(GString) values = g_string_new(NULL);
	g_autofree char *start = NULL;

	start = g_strjoinv(word, head);
	g_string_append(values, start);
	for (unsigned i = 0; i < count; i++) {
		g_autofree char *number = g_strdup_printf("%u", i + 9);
		g_auto(GStrv) around = g_strsplit(filled, "NUMBER", -1);
		g_autofree char *text = g_strjoinv(number, around);

		g_string_append_printf(values, "%s{%s}", i ? ", " : "", text);
	}
	g_string_append(values, page == WEB_PAGE_SEARCH ? "]>}>}" : "]>}");
	return new_sample(file, name, page, values->str);
}

#define PAGER \
	"'page': <'2'>, 'pages': <'8'>, 'previous_page': <'1'>, 'next_page': <'3'>"

static void
add_largest(GKeyFile *file, GPtrArray *samples)
{
	g_ptr_array_add(
	    samples, new_largest(file, "largest-filters", WEB_PAGE_PREFERENCES,
	                 "{$active, 'show': <''>, " PAGER
	                 ", 'form_filter': <'LONG'>, 'filters': <[",
	                 WEB_PROTO_PAGE_FILTERS,
	                 "'number': <'NUMBER'>, 'name': <'A name of thirty "
	                 "characters...'>, 'query': "
	                 "<'LONG'>, 'backtest': <{$by_day}>"));
	g_ptr_array_add(samples,
	    new_largest(file, "largest-blocks", WEB_PAGE_PREFERENCES,
	        "{$active, 'show': <'blocks'>, " PAGER ", 'form_filter': <'LONG'>, "
	        "'blocks': <[",
	        WEB_PROTO_PAGE_BLOCKS, "'number': <'NUMBER'>, 'query': <'LONG'>"));
	g_ptr_array_add(samples,
	    new_largest(file, "largest-search", WEB_PAGE_SEARCH,
	        "{$common, 'form_filter': <'LONG'>, 'backtest': <{'count': <'many'>, "
	        "'papers': <[",
	        20,
	        "'id': <'NUMBER'>, 'title': <'LONG'>, 'day': <'2026-11-22'>, 'url': "
	        "<'https://arxiv.org/abs/2611.1520NUMBER'>"));
}

/* ---- loading ---- */

GPtrArray *
web_sample_load(void)
{
	g_autofree char *path =
	    g_build_filename(g_getenv("top_srcdir"), "tests/lib/web_samples.ini", NULL);
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) groups = NULL;
	GPtrArray *samples = g_ptr_array_new_with_free_func(sample_free);

	if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, &error))
		g_error("%s: %s", path, error->message);
	groups = g_key_file_get_groups(file, NULL);
	for (char **group = groups; *group; group++)
		if (strcmp(*group, PARTS) != 0)
			g_ptr_array_add(samples, load_sample(file, *group));
	add_largest(file, samples);
	return samples;
}

struct web_reply *
web_sample_new_reply(const struct web_sample *sample, const char *language)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GVariant) values =
	    g_variant_parse(G_VARIANT_TYPE_VARDICT, sample->values, NULL, NULL, &error);

	if (!values)
		g_error("%s: %s", sample->name, error->message);
	return web_reply_new(sample->status, sample->page, language, values);
}
