/*
 * source_kinds.c - the kinds of sources: options, checks, constructors.
 *
 * A new kind is a constructor in src/sources and a row of the table.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/edit_distance.h"
#include "config/setting.h"
#include "query/parse/category.h"
#include "service/setup/factory.h"
#include "sources/arxiv.h"
#include "sources/biorxiv.h"
#include "sources/crossref.h"
#include "sources/europepmc.h"
#include "sources/feed.h"
#include "sources/huggingface.h"
#include "sources/json_pages.h"

static const char *
get(const struct settings_source *source, const char *option)
{
	return settings_get_option(source, option);
}

static char *
find_category_problem(const struct settings_source *source)
{
	g_auto(GStrv) names = g_strsplit(get(source, "categories"), "\n", -1);

	for (char **name = names; *name; name++) {
		g_autofree char *archive = category_find_archive(*name, strlen(*name));
		const char *category = category_find(*name, strlen(*name));
		g_autofree char *nearest = NULL;

		if (g_strcmp0(archive, *name) == 0 || g_strcmp0(category, *name) == 0)
			continue;
		/* Its list would be empty every day. */
		nearest = category_find_nearest(*name, strlen(*name));
		return g_strdup_printf("'%s' is not a category of arXiv%s%s%s", *name,
		    nearest ? ": did you mean " : " (expected names such as cs.CL)",
		    nearest ? nearest : "", nearest ? "?" : "");
	}
	return NULL;
}

/* "Cell Biology" and "cell-biology" are the same. */
static char *
find_preprint_problem(const struct settings_source *source)
{
	g_auto(GStrv) names = g_strsplit(get(source, "categories"), "\n", -1);

	for (char **name = names; *name; name++) {
		g_autofree char *form = json_pages_format_category(*name);
		g_autofree char *nearest = NULL;

		if (category_find_preprint(form, strlen(form)))
			continue;
		nearest = category_find_nearest(form, strlen(form));
		return g_strdup_printf("'%s' is not a category of bioRxiv or medRxiv: "
		                       "did you mean %s?",
		    *name, nearest);
	}
	return NULL;
}

static char *
find_list_problem(const struct settings_source *source)
{
	static const char *const lists[] = {"", "days", "weeks", "trending", NULL};
	const char *list = get(source, "list");

	return g_strv_contains(lists, list)
	           ? NULL
	           : g_strdup_printf("list: '%s' is not days, weeks or trending", list);
}

/* "0092-8674" */
static char *
find_journal_problem(const struct settings_source *source)
{
	const char *issn = get(source, "issn"), *prefix = get(source, "prefix");

	if (!*issn && !*prefix)
		return g_strdup(
		    "issn or prefix is missing: the kind crossref needs one "
		    "of them");
	if (*issn && !g_regex_match_simple("^\\d{4}-\\d{3}[\\dX]$", issn, 0, 0))
		return g_strdup_printf(
		    "issn: '%s' is not an ISSN (expected one such as 0092-8674)", issn);
	if (*prefix && !g_regex_match_simple("^10\\.\\d{4,9}$", prefix, 0, 0))
		return g_strdup_printf(
		    "prefix: '%s' is not a DOI prefix (expected one such as 10.1101)",
		    prefix);
	return NULL;
}

/* Options that all kinds take. */
#define COMMON "name kind url private enabled interval_min days"

static const struct kind {
	const char *name;
	struct source *(*create)(const struct source_options *options);
	const char *needed, *taken; /* further options, separated by blanks */
	/* Find an invalid value. @return a new string, or NULL */
	char *(*find_problem)(const struct settings_source *source); /* or NULL */
	int request_interval_s; /* unless it is set */
	bool is_by_category;    /* one source for each category */
} kinds[] = {
    {"huggingface", huggingface_new, "", "list", find_list_problem, 0, false},
    {"arxiv", arxiv_new, "categories", "api_url request_interval_s",
        find_category_problem, 3, true},
    {"biorxiv", biorxiv_new, "", "categories feed_url request_interval_s",
        find_preprint_problem, 1, false},
    {"medrxiv", biorxiv_new, "", "categories feed_url request_interval_s",
        find_preprint_problem, 1, false},
    {"europepmc", europepmc_new, "query", "request_interval_s", NULL, 1, false},
    {"crossref", crossref_new, "", "issn prefix request_interval_s",
        find_journal_problem, 1, false},
    {"feed", feed_source_new, "url", "", NULL, 0, false},
};

/* @param names  set to the names of all kinds, and NULL. @return NULL for no kind */
static const struct kind *
find_kind(const char *name, const char *names[G_N_ELEMENTS(kinds) + 1])
{
	const struct kind *found = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		names[i] = kinds[i].name;
		if (strcmp(names[i], name) == 0)
			found = &kinds[i];
	}
	names[G_N_ELEMENTS(kinds)] = NULL;
	return found;
}

static void G_GNUC_PRINTF(3, 4) add_problem(
    GPtrArray *problems, const struct settings_source *source, const char *format, ...)
{
	g_autofree char *problem = NULL;
	va_list arguments;

	va_start(arguments, format);
	problem = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_ptr_array_add(problems, g_strconcat(source->place, problem, NULL));
}

bool
factory_is_url(const char *text)
{
	static const char *const schemes[] = {"https://", "http://", "file:///"};

	for (size_t i = 0; i < G_N_ELEMENTS(schemes); i++)
		if (g_str_has_prefix(text, schemes[i]) && text[strlen(schemes[i])])
			return true;
	return false;
}

static void
check_url(const struct settings_source *source, const char *option, GPtrArray *problems)
{
	const char *url = get(source, option);

	if (*url && !factory_is_url(url))
		add_problem(problems, source,
		    "%s: '%s' is not a URL (expected https://, http:// or "
		    "file:///PATH)",
		    option, url);
}

/* Check which options are set. */
static void
check_options(
    const struct kind *kind, const struct settings_source *source, GPtrArray *problems)
{
	g_autofree char *all = g_strjoin(" ", COMMON, kind->needed, kind->taken, NULL);
	g_auto(GStrv) taken = g_strsplit(all, " ", -1);
	g_auto(GStrv) needed = g_strsplit(kind->needed, " ", -1);
	GHashTableIter options;
	void *name;

	g_hash_table_iter_init(&options, source->options);
	while (g_hash_table_iter_next(&options, &name, NULL))
		if (!g_strv_contains((const char *const *)taken, name))
			add_problem(problems, source,
			    "the kind %s does not take %s: remove it", kind->name,
			    (char *)name);
	/* A wrong value, which has been reported, is not set. */
	for (char **option = needed; !source->is_invalid && *option; option++)
		if (!*get(source, *option))
			add_problem(problems, source,
			    "%s is missing: the kind %s needs it", *option, kind->name);
}

/* Check numbers as typed for paperboyctl source try; those of the file are valid. */
static void
check_numbers(const struct settings_source *source, GPtrArray *problems)
{
	for (size_t i = 0; i < source_option_count; i++) {
		const struct source_option *option = &source_option_table[i];
		const char *value = get(source, option->name);

		if (option->type == OPTION_INT && *value &&
		    !g_ascii_string_to_unsigned(value, 10, (guint64)option->minimum,
		        (guint64)option->maximum, NULL, NULL))
			add_problem(problems, source, "%s must be %s", option->name,
			    option->expected);
	}
}

static void
check_source(const struct settings_source *source, GPtrArray *problems)
{
	const char *names[G_N_ELEMENTS(kinds) + 1];
	const char *name = get(source, "kind");
	const struct kind *kind = find_kind(name, names);
	const char *nearest = edit_distance_find_closest(name, names);
	g_autofree char *list = g_strjoinv(", ", (char **)names);
	g_autofree char *problem = NULL;

	if (!kind && *name)
		add_problem(problems, source, "unknown kind \"%s\"%s%s%s", name,
		    nearest ? ": did you mean \"" : " (expected one of ",
		    nearest ? nearest : list, nearest ? "\"?" : ")");
	if (!kind)
		return;
	check_options(kind, source, problems);
	check_numbers(source, problems);
	check_url(source, "url", problems);
	check_url(source, "api_url", problems);
	check_url(source, "feed_url", problems);
	problem = kind->find_problem ? kind->find_problem(source) : NULL;
	if (problem)
		add_problem(problems, source, "%s", problem);
}

void
factory_check_sources(const struct settings *settings, GPtrArray *problems)
{
	for (unsigned i = 0; i < settings->sources->len; i++)
		check_source(settings->sources->pdata[i], problems);
}

/* Duplicates and sources above the limit are dropped. */
static void
add_source(GPtrArray *sources, const struct settings_source *settings_source,
    struct source *source)
{
	bool is_dropped = sources->len == BOUNDS_SOURCE_LISTS;

	for (unsigned i = 0; i < sources->len; i++)
		is_dropped |= strcmp(((struct source *)sources->pdata[i])->name,
		                  source->name) == 0;
	source->interval_s =
	    60 * g_ascii_strtoll(get(settings_source, "interval_min"), NULL, 10);
	source->days = atoi(get(settings_source, "days"));
	if (is_dropped)
		source_free(source);
	else
		g_ptr_array_add(sources, source);
}

static void
add_sources(const struct settings *settings, const struct settings_source *source,
    GPtrArray *sources)
{
	const char *names[G_N_ELEMENTS(kinds) + 1];
	const struct kind *kind = find_kind(get(source, "kind"), names);
	const char *interval_s = get(source, "request_interval_s");
	g_auto(GStrv) categories = g_strsplit(get(source, "categories"), "\n", -1);
	struct source_options options = {
	    .name = get(source, "name"),
	    .kind = kind->name,
	    .url = get(source, "url"),
	    .api_url = get(source, "api_url"),
	    .feed_url = get(source, "feed_url"),
	    .categories = (const char *const *)categories,
	    .list = get(source, "list"),
	    .query = get(source, "query"),
	    .issn = get(source, "issn"),
	    .prefix = get(source, "prefix"),
	    .contact = factory_get_contact(settings),
	    .request_interval_ms =
	        1000 * (*interval_s ? g_ascii_strtoll(interval_s, NULL, 10)
	                            : kind->request_interval_s),
	};

	if (!kind->is_by_category)
		add_source(sources, source, kind->create(&options));
	for (char **at = categories; kind->is_by_category && *at; at++) {
		const char *const one[] = {*at, NULL};

		options.categories = one;
		add_source(sources, source, kind->create(&options));
	}
}

GPtrArray *
factory_new_sources(const struct settings *settings)
{
	GPtrArray *sources =
	    g_ptr_array_new_with_free_func((GDestroyNotify)source_free);

	for (unsigned i = 0; i < settings->sources->len; i++) {
		const struct settings_source *source = settings->sources->pdata[i];
		g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);

		check_source(source, problems);
		if (!source->is_invalid && !problems->len &&
		    strcmp(get(source, "enabled"), "false") != 0)
			add_sources(settings, source, sources);
	}
	return sources;
}
