/*
 * page.c - both parts of a digest: its papers, and what is around them.
 */
#include "render/page.h"

#include <string.h>

#include "base/bounds.h"
#include "base/error.h"
#include "message/sanitize.h"
#include "render/view.h"

/* Maximum number of filters that are named; others are counted. */
#define FILTERS_MAX 10

/* Maximum number of papers in a digest that does not say how it is ordered. */
#define UNORDERED_MAX 4

/* A digest that is too large shows papers by title until this number is left in full;
 * then it omits titles. */
#define FULL_KEPT 20

/* Counts of filters in the preheader are shown up to this size, bytes. */
#define COUNTS_BYTES 40

/* Place of the papers: a control character, which templates and sanitized text lack. */
#define MARKER "\x03"

const char *const page_names[] = {"change_url", "commands", "count", "count_new",
    "coverage", "date", "date_long", "fewer_address", "fewer_url", "filters",
    "first_title", "has_counts", "has_edit", "has_papers", "has_subjects", "is_failed",
    "is_last", "is_note", "is_page", "is_welcome", "label", "lang", "list_name",
    "more_filters", "notices", "number", "order", "owner", "owner_url", "papers",
    "pause_address", "pause_url", "preheader", "recipient", "rest", "stop_address",
    "stop_url", "subject", "text", "view_url", "weekly_address", "weekly_url", NULL};

/* ---- entries ---- */

static void
append_entry(struct page *page, const struct digest *digest, unsigned index)
{
	unsigned number = index + 1;

	g_ptr_array_add(page->entries, digest->entries->pdata[index]);
	g_array_append_val(page->numbers, number);
}

/* Numbers are those of the digest, which commands refer to: `why 3`. */
static void
choose_entries(struct page *page, const struct digest *digest)
{
	g_autoptr(GArray) titles = g_array_new(FALSE, FALSE, sizeof(unsigned));

	for (unsigned i = 0; i < digest->entries->len; i++) {
		const struct digest_entry *entry = digest->entries->pdata[i];

		if (entry->shown == DIGEST_DETAIL_FULL &&
		    page->entries->len < BOUNDS_DIGEST_FULL_MAX)
			append_entry(page, digest, i);
		else if (entry->shown != DIGEST_DETAIL_COUNT)
			g_array_append_val(titles, i);
	}
	page->full = page->entries->len;
	for (unsigned i = 0; i < MIN(titles->len, BOUNDS_DIGEST_TITLES_MAX); i++)
		append_entry(page, digest, g_array_index(titles, unsigned, i));
	page->shown = page->entries->len;
}

enum entry_depth
page_get_depth(const struct page *page, unsigned index)
{
	if (index >= page->full)
		return ENTRY_DEPTH_TITLE;
	switch (page->abstract) {
	case PREFERENCE_ABSTRACT_BRIEF:
		return page->is_single ? ENTRY_DEPTH_SUMMARY : ENTRY_DEPTH_BRIEF;
	case PREFERENCE_ABSTRACT_SHORT:
		return ENTRY_DEPTH_EXCERPT;
	case PREFERENCE_ABSTRACT_FULL:
		return ENTRY_DEPTH_FULL;
	case PREFERENCE_ABSTRACT_NONE:
		break;
	}
	return ENTRY_DEPTH_NO_ABSTRACT;
}

/* The filter that a paper counts for. */
static const char *
get_group(const struct page *page, unsigned index)
{
	const GPtrArray *reasons =
	    ((const struct digest_entry *)page->entries->pdata[index])->reasons;

	return reasons->len ? ((const struct digest_reason *)reasons->pdata[0])->filter
	                    : "";
}

static struct entry *
new_block(const struct page *page, const struct page_settings *settings,
    const struct digest *digest, const char *token, unsigned index)
{
	bool is_grouped = digest->style.group == PREFERENCE_GROUP_ON;
	bool is_start = is_grouped && index < page->full &&
	                (index == 0 || strcmp(get_group(page, index),
	                                   get_group(page, index - 1)) != 0);
	const struct entry_params params = {
	    .entry = page->entries->pdata[index],
	    .depth = page_get_depth(page, index),
	    .heading = is_start ? get_group(page, index) : NULL,
	    .is_first_title = page->full > 0 && index == page->full,
	    .is_grouped = is_grouped,
	    .is_filter_hidden = digest->filters->len == 1 && !is_grouped,
	    .is_page = settings->is_page,
	    .number = g_array_index(page->numbers, unsigned, index),
	    .token = digest->style.feedback == PREFERENCE_FEEDBACK_ON ? token : NULL,
	};

	return entry_new(settings->cache, &params);
}

/* ---- the view of the rest ---- */

static void
put_counts(struct view *view, const struct page *page,
    const struct page_settings *settings, const struct digest *digest)
{
	const struct locale_format *format = settings->format;
	unsigned total = digest->entries->len;
	g_autofree char *count = NULL;

	if (digest->style.is_failed && digest->is_note)
		count = locale_format_text(format, N_("No papers could be fetched"));
	else if (digest->is_note)
		count = locale_format_text(format, N_("No new papers"));
	else
		count = locale_format_count(
		    format, total, PL_("1 new paper", "{count} new papers"));
	view_put_text(view, "count_new", count);
	if (page->shown < total) {
		g_autofree char *rest = locale_format_count(format, total - page->shown,
		    PL_("1 more paper", "{count} more papers"));

		view_put_text(view, "rest", rest);
	}
}

/* "20 of 56, best first" */
static void
put_order(struct view *view, const struct page *page,
    const struct page_settings *settings, const struct digest *digest)
{
	static const char *const orders[] = {
	    [PREFERENCE_ORDER_SCORE] = N_("best first"),
	    [PREFERENCE_ORDER_VOTES] = N_("most votes first"),
	    [PREFERENCE_ORDER_DATE] = N_("newest first"),
	};
	const struct locale_format *format = settings->format;
	bool is_grouped = digest->style.group == PREFERENCE_GROUP_ON;
	g_autofree char *order = locale_format_text(
	    format, is_grouped ? N_("by filter") : orders[digest->style.order]);
	g_autofree char *full = g_strdup_printf("%u", page->full);
	g_autofree char *total = g_strdup_printf("%u", digest->entries->len);
	g_autofree char *line = NULL;

	if (digest->entries->len <= UNORDERED_MAX)
		return;
	if (page->full == digest->entries->len)
		line = g_steal_pointer(&order);
	else
		line = catalog_format(format->catalog, format->language,
		    N_("{shown} of {total}, {order}"), "shown", full, "total", total,
		    "order", order, NULL);
	view_put_text(view, "order", line);
}

static void
put_page_url(struct view *view, const char *name, const char *base, const char *path,
    const char *token, const char *fragment)
{
	g_autofree char *url = g_strconcat(base, path, token, fragment, NULL);

	view_put_text(view, name, url);
}

/* Put links to the web page.  Digests are forwarded, so that none leads to the
 * preferences: with "change_url" the page mails a link to them to the subscriber. */
static void
put_page_links(struct view *view, const char *base, const struct sender_links *tokens)
{
	static const char *const links[][2] = {{"stop_url", ""},
	    {"pause_url", "#pause"}, {"weekly_url", "#weekly"}, {"fewer_url", "#fewer"},
	    {"change_url", "#preferences"}};

	for (size_t i = 0; i < G_N_ELEMENTS(links); i++)
		put_page_url(
		    view, links[i][0], base, "/u/", tokens->leave_token, links[i][1]);
	put_page_url(view, "view_url", base, "/d/", tokens->view_token, "");
}

static void
put_mail_links(struct view *view, const struct sender_identity *sender,
    const struct sender_links *tokens)
{
	static const char *const links[][2] = {
	    [SENDER_STOP] = {"stop_url", "stop_address"},
	    [SENDER_PAUSE] = {"pause_url", "pause_address"},
	    [SENDER_WEEKLY] = {"weekly_url", "weekly_address"},
	    [SENDER_FEWER] = {"fewer_url", "fewer_address"},
	};

	if (!sender->has_commands) {
		view_put_text(view, "stop_url", sender->stop_url);
		return;
	}
	view_put(view, "has_subjects", view_new_bool(!sender->has_subaddresses));
	for (size_t i = 0; i < G_N_ELEMENTS(links); i++) {
		const struct sender_link *link = &sender->links[i];
		g_autofree char *url =
		    subaddress_template_expand(&link->url, tokens->leave_token);
		g_autofree char *whole = g_strconcat(url, link->end, NULL);
		g_autofree char *address =
		    subaddress_template_expand(&link->address, tokens->leave_token);

		view_put_text(view, links[i][0], whole);
		view_put_text(view, links[i][1], address);
	}
}

static void
put_links(struct view *view, const struct sender_identity *sender,
    const struct sender_links *tokens)
{
	view_put_text(view, "owner", sender->owner);
	view_put_text(view, "owner_url", sender->change_url);
	if (sender->has_commands)
		view_put_text(view, "commands", sender->owner);
	if (sender->web_url)
		put_page_links(view, sender->web_url, tokens);
	else
		put_mail_links(view, sender, tokens);
}

static void
put_filters(struct view *view, const struct page_settings *settings,
    const struct digest *digest)
{
	const GPtrArray *filters = digest->filters;
	unsigned count = MIN(filters->len, FILTERS_MAX);
	struct view *list = view_new_list();

	for (unsigned i = 0; i < count; i++) {
		const struct digest_filter *filter = filters->pdata[i];
		struct view *item = view_new_map();
		g_autofree char *label = sanitize_line(filter->label, 0);
		g_autofree char *number = g_strdup_printf("%d", filter->number);
		g_autofree char *papers = g_strdup_printf("%u", filter->papers);

		view_put_text(item, "label", label);
		view_put_text(item, "number", number);
		view_put_text(item, "count", papers);
		view_put(item, "is_last", view_new_bool(i + 1 == count));
		view_append(list, item);
	}
	view_put(view, "filters", list);
	view_put(
	    view, "has_counts", view_new_bool(count > 1 && digest->entries->len > 1));
	view_put(view, "has_edit",
	    view_new_bool(count > 0 && settings->sender->has_commands &&
	                  !settings->sender->web_url));
	if (filters->len > count) {
		g_autofree char *more = locale_format_count(settings->format,
		    filters->len - count, PL_("and 1 more", "and {count} more"));

		view_put_text(view, "more_filters", more);
	}
}

static void
put_notices(struct view *view, const struct digest *digest)
{
	bool is_first = digest->slot && g_str_has_prefix(digest->slot, "first-");
	g_auto(GStrv) lines = NULL;
	struct view *list = view_new_list();

	view_put(view, "notices", list);
	if (!digest->notices || !*digest->notices)
		return;
	lines = g_strsplit(digest->notices, "\n", -1);
	for (unsigned i = 0; lines[i]; i++) {
		g_autofree char *text = sanitize_line(lines[i], 0);
		struct view *item = view_new_map();

		view_put_text(item, "text", text);
		view_put(item, "is_welcome", view_new_bool(is_first && i == 0));
		view_append(list, item);
	}
}

/* ---- subject and preheader ---- */

static char *
format_title(const struct page *page, unsigned index, size_t chars)
{
	const struct digest_entry *entry = page->entries->pdata[index];

	return sanitize_paper_text(entry->paper->title, chars);
}

/* "rlhf 8, agents 4"; nothing if it is long. */
static void
append_counts(GString *line, const GPtrArray *filters)
{
	size_t before = line->len;

	for (unsigned i = 0; i < filters->len; i++) {
		const struct digest_filter *filter = filters->pdata[i];
		g_autofree char *label = sanitize_line(filter->label, 0);

		g_string_append_printf(
		    line, "%s%s %u", i ? ", " : " \xc2\xb7 ", label, filter->papers);
		if (line->len - before > COUNTS_BYTES) {
			g_string_truncate(line, before);
			return;
		}
	}
}

/* The next titles, or the counts of the filters. */
static char *
format_next(const struct page *page, const struct page_settings *settings,
    const struct digest *digest)
{
	g_autofree char *also = locale_format_text(settings->format, N_("Also:"));
	g_autofree char *second = format_title(page, 1, BOUNDS_PREHEADER_TITLE_CHARS);
	GString *line = g_string_new(also);
	size_t end;

	g_string_append_printf(line, " %s", second);
	end = line->len;
	if (digest->filters->len > 1)
		append_counts(line, digest->filters);
	if (line->len == end && page->entries->len > 2) {
		g_autofree char *third =
		    format_title(page, 2, BOUNDS_PREHEADER_TITLE_CHARS);

		g_string_append_printf(line, "; %s", third);
	}
	return g_string_free(line, FALSE);
}

/* The subject has the first title: the preheader goes on from there. */
static char *
format_preheader(const struct page *page, const struct page_settings *settings,
    const struct digest *digest)
{
	const struct digest_entry *first =
	    page->entries->len ? page->entries->pdata[0] : NULL;
	const char *text = NULL;

	if (page->entries->len > 1)
		return format_next(page, settings, digest);
	if (first)
		text = first->paper->summary && *first->paper->summary
		           ? first->paper->summary
		           : first->paper->abstract;
	if (text && *text)
		return sanitize_paper_text(text, BOUNDS_PREHEADER_CHARS);
	if (digest->notices && *digest->notices)
		return sanitize_line(digest->notices, BOUNDS_PREHEADER_CHARS);
	if (first)
		return format_title(page, 0, BOUNDS_PREHEADER_CHARS);
	return locale_format_text(settings->format,
	    N_("Nothing new matched your filters since the last digest."));
}

/* Without papers the notice for which the digest comes. @return NULL: nothing */
static char *
format_subject_title(const struct page *page, const struct digest *digest)
{
	g_auto(GStrv) notices = NULL;

	if (page->entries->len)
		return format_title(page, 0, BOUNDS_SUBJECT_TITLE_CHARS);
	if (!digest->is_note || !digest->style.is_event)
		return NULL;
	notices = g_strsplit(digest->notices, "\n", 2);
	return sanitize_line(notices[0], BOUNDS_SUBJECT_TITLE_CHARS);
}

static void
put_subject(struct view *view, struct page *page, const struct page_settings *settings,
    const struct digest *digest)
{
	g_autofree char *title = format_subject_title(page, digest);
	g_autoptr(GString) subject = g_string_new(NULL);

	view_put_text(view, "first_title", title);
	template_append(settings->subject, view, subject);
	g_free(page->subject);
	page->subject = sanitize_line(subject->str, BOUNDS_SUBJECT_CHARS);
	view_put_text(view, "subject", page->subject);
}

/* @return NULL for an invalid date */
static struct view *
new_view(struct page *page, const struct page_settings *settings,
    const struct digest *digest, const struct sender_links *links, GError **error)
{
	const struct locale_format *format = settings->format;
	g_autofree char *list_name = sanitize_line(settings->sender->list_name, 0);
	g_autofree char *date =
	    locale_format_day(format, digest->date, LOCALE_FORMAT_SHORT);
	g_autofree char *date_long =
	    locale_format_day(format, digest->date, LOCALE_FORMAT_LONG);
	g_autofree char *coverage = sanitize_line(digest->coverage, 0);
	g_autofree char *recipient = sanitize_line(digest->recipient, 0);
	g_autofree char *preheader = format_preheader(page, settings, digest);
	struct view *view;

	if (!date) {
		pb_fail(
		    error, PB_ERROR_INPUT, "invalid digest date '%s'", digest->date);
		return NULL;
	}
	view = view_new_map();
	view_put_text(view, "list_name", list_name);
	view_put_text(view, "date", date);
	view_put_text(view, "date_long", date_long);
	view_put_text(view, "lang", format->language);
	view_put_text(view, "coverage", coverage);
	view_put_text(view, "recipient", recipient);
	view_put_text(view, "preheader", preheader);
	view_put_text(view, "papers", MARKER);
	view_put(view, "has_papers", view_new_bool(page->shown > 0));
	view_put(view, "is_note", view_new_bool(digest->is_note));
	view_put(view, "is_failed",
	    view_new_bool(digest->is_note && digest->style.is_failed));
	view_put(view, "is_page", view_new_bool(settings->is_page));
	put_counts(view, page, settings, digest);
	put_order(view, page, settings, digest);
	put_links(view, settings->sender, links);
	put_filters(view, settings, digest);
	put_notices(view, digest);
	put_subject(view, page, settings, digest);
	return view;
}

/* ---- parts ---- */

/*
 * Render and encode what is around the papers.
 *
 * @param head  set to what comes before them, and tail to the rest
 */
static bool
render_frame(const struct template *template, const struct view *view, bool is_html,
    bool has_papers, GString **head, GString **tail, GError **error)
{
	g_autoptr(GString) whole = g_string_sized_new(8192);
	char *marker, *rest;

	template_append(template, view, whole);
	if (whole->len && whole->str[whole->len - 1] != '\n')
		g_string_append_c(whole, '\n');
	marker = strstr(whole->str, MARKER);
	rest = marker ? marker + strlen(MARKER) : whole->str + whole->len;
	if (marker ? *rest != '\n' || strstr(rest, MARKER) ||
	                 (marker > whole->str && marker[-1] != '\n')
	           : has_papers)
		return pb_fail(error, PB_ERROR_INPUT,
		    "digest.%s: expected {{{papers}}} once, alone on a line",
		    is_html ? "html" : "txt");
	if (marker) {
		*marker = '\0';
		rest++;
	}
	*head = g_string_sized_new(whole->len + whole->len / 8);
	*tail = g_string_sized_new(2048);
	entry_encode(*head, whole->str, is_html);
	entry_encode(*tail, rest, is_html);
	return true;
}

static bool
render_part(GString **part, const struct page *page,
    const struct page_settings *settings, const struct view *view, bool is_html,
    GError **error)
{
	g_autoptr(GString) tail = NULL;

	if (*part)
		g_string_free(g_steal_pointer(part), TRUE);
	if (!render_frame(is_html ? settings->html : settings->text, view, is_html,
	        page->shown > 0, part, &tail, error))
		return false;
	for (unsigned i = 0; i < page->shown; i++)
		entry_append(page->blocks->pdata[i], is_html, *part);
	g_string_append_len(*part, tail->str, (gssize)tail->len);
	return true;
}

static size_t
count_html(const struct entry *block)
{
	g_autoptr(GString) html = g_string_new(NULL);

	entry_append(block, true, html);
	return html->len;
}

/*
 * Make the HTML smaller by one step: show the last full paper by title only or, once
 * FULL_KEPT full papers are left, omit the last title; without titles, full papers
 * become titles again.
 *
 * @return the bytes of HTML that this saves
 */
static size_t
demote_last(struct page *page, const struct page_settings *settings,
    const struct digest *digest, const char *token)
{
	bool has_titles = page->shown > page->full;
	unsigned last =
	    page->full > (has_titles ? FULL_KEPT : 0) ? --page->full : --page->shown;
	struct entry *old = page->blocks->pdata[last];
	size_t saved = count_html(old);

	if (last == page->shown) {
		g_ptr_array_set_size(page->blocks, (int)last);
		return saved;
	}
	page->blocks->pdata[last] = new_block(page, settings, digest, token, last);
	saved -= count_html(page->blocks->pdata[last]);
	entry_free(old);
	/* The heading of the titles moves up. */
	if (last + 1 < page->shown) {
		entry_free(page->blocks->pdata[last + 1]);
		page->blocks->pdata[last + 1] =
		    new_block(page, settings, digest, token, last + 1);
	}
	return saved;
}

/* Counts change with the papers, so that all is rendered again after papers were
 * demoted. */
static bool
render_both(struct page *page, const struct page_settings *settings,
    const struct digest *digest, const struct sender_links *links, const char *token,
    GError **error)
{
	for (;;) {
		pb_auto(view) view = new_view(page, settings, digest, links, error);
		size_t bytes;

		if (!view ||
		    !render_part(&page->html, page, settings, view, true, error))
			return false;
		bytes = page->html->len;
		if (bytes <= BOUNDS_HTML_PART_BYTES || settings->is_page)
			return render_part(
			    &page->text, page, settings, view, false, error);
		if (page->shown == 0)
			return pb_fail(error, PB_ERROR_LIMIT,
			    "digest.html without papers is larger than %d bytes",
			    BOUNDS_HTML_PART_BYTES);
		while (page->shown > 0 && bytes > BOUNDS_HTML_PART_BYTES)
			bytes -= demote_last(page, settings, digest, token);
	}
}

bool
page_init(struct page *page, const struct page_settings *settings,
    const struct digest *digest, const struct sender_links *links, GError **error)
{
	g_autofree char *token = sender_format_answer_token(settings->sender, digest);
	struct page result = {
	    .entries = g_ptr_array_new(),
	    .numbers = g_array_new(FALSE, FALSE, sizeof(unsigned)),
	    .is_single = digest->entries->len == 1,
	    .abstract = digest->style.abstract,
	    .blocks = g_ptr_array_new_with_free_func((GDestroyNotify)entry_free),
	};

	choose_entries(&result, digest);
	for (unsigned i = 0; i < result.shown; i++)
		g_ptr_array_add(
		    result.blocks, new_block(&result, settings, digest, token, i));
	if ((digest->entries->len || digest->is_note ||
	        pb_fail(error, PB_ERROR_INPUT, "a digest without papers")) &&
	    render_both(&result, settings, digest, links, token, error)) {
		*page = result;
		return true;
	}
	page_clear(&result);
	return false;
}

void
page_clear(struct page *page)
{
	g_ptr_array_unref(page->entries);
	g_array_unref(page->numbers);
	g_ptr_array_unref(page->blocks);
	if (page->text)
		g_string_free(page->text, TRUE);
	if (page->html)
		g_string_free(page->html, TRUE);
	g_free(page->subject);
	*page = (struct page){0};
}
