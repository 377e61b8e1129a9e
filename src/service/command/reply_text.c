/*
 * reply_text.c - compose the text of a reply: quoted commands, results, paragraphs.
 */
#include "service/command/reply_text.h"

#include <string.h>

#include "base/bounds.h"
#include "base/zone.h"
#include "message/sanitize.h"
#include "render/wrap.h"

#define MARGIN      7   /* columns before a text, for a word or number */
#define PASTE_BLANK 4   /* columns before the further lines of a command */
#define GUARDED     120 /* maximum length of a guarded quote, characters */

/* @param kind, text  copied */
static struct reply_result *
reply_result_new(const char *kind, const char *text)
{
	struct reply_result *result = g_new0(struct reply_result, 1);

	result->kind = g_strdup(kind);
	result->text = g_strdup(text);
	return result;
}

void
reply_result_free(struct reply_result *result)
{
	g_free(result->kind);
	g_free(result->text);
	g_free(result->filter);
	g_free(result);
}

void
reply_text_init(struct reply_text *reply, const struct catalog *catalog,
    const char *language, bool is_guarded)
{
	*reply = (struct reply_text){.catalog = catalog,
	    .language = language,
	    .is_guarded = is_guarded,
	    .text = g_string_new(NULL)};
}

void
reply_text_clear(struct reply_text *reply)
{
	if (reply->text)
		g_string_free(reply->text, TRUE);
	reply->text = NULL;
}

char *
reply_text_format_count(const struct reply_text *reply, const char *name, int64_t count)
{
	return catalog_format_count(reply->catalog, reply->language, name, count);
}

char *
reply_text_format_forecast(
    const struct reply_text *reply, const struct forecast *forecast)
{
	static const char *const phrases[] = {
	    [FORECAST_UNKNOWN] = NULL,
	    [FORECAST_DAY] = N_("Expect about {papers} a day ({low} to {high})."),
	    [FORECAST_WEEK] = N_("Expect about {papers} a week ({low} to {high})."),
	    [FORECAST_RARE] = N_("Expect less than one paper a week."),
	};
	bool is_day = forecast->span == FORECAST_DAY;
	const char *phrase = is_day && forecast->is_weekdays
	                         ? N_("Expect about {papers} a day from Monday to "
	                              "Friday ({low} to {high}).")
	                         : phrases[forecast->span];
	double rate = is_day ? forecast->a_day : forecast->a_week;
	g_autofree char *papers = reply_text_format_count(
	    reply, PL_("1 paper", "{count} papers"), (int64_t)(rate + 0.5));

	return phrase ? reply_text_format(reply, phrase, "papers", papers, "low",
	                    MSG_INT(forecast->low), "high", MSG_INT(forecast->high))
	              : NULL;
}

/*
 * Remove strings that mail programs turn into links: hosts, URLs, addresses, numbers.
 */
static char *
defang(const char *text, size_t limit_chars)
{
	g_autoptr(GRegex) links =
	    g_regex_new("[^\\s\"()]*(?:@|://|\\p{L}\\.\\p{L}\\p{L}|\\.\\w+/)[^\\s\"()]*"
	                "|\\+?\\d(?:[\\s./-]?\\d){6,}",
	        0, 0, NULL);
	/*
	 * Full-width dots also separate labels, as does U+3002 (RFC 3490 section 3.1).
	 */
	g_autofree char *whole = g_utf8_normalize(text, -1, G_NORMALIZE_NFKC);
	g_auto(GStrv) parts = g_strsplit(whole ? whole : "", "\u3002", -1);
	g_autofree char *plain = g_strjoinv(".", parts);
	g_autofree char *one = sanitize_line(plain, limit_chars);

	return g_regex_replace_literal(links, one, -1, 0, "[...]", 0, NULL);
}

char *
reply_text_quote(const struct reply_text *reply, const char *text)
{
	return reply->is_guarded ? defang(text, GUARDED)
	                         : sanitize_line(text, BOUNDS_COMMAND_ECHO);
}

char *
reply_text_quote_message(const struct reply_text *reply, const char *text)
{
	g_auto(GStrv) lines = NULL;

	if (!reply->is_guarded)
		return g_strdup(text);
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		char *sanitized = defang(*line, BOUNDS_COMMAND_ECHO);

		g_free(*line);
		*line = sanitized;
	}
	return g_strjoinv("\n", lines);
}

/* Append a text, wrapped, with a prefix for its first line and the others. */
static void
append_wrapped(
    struct reply_text *reply, const char *first, const char *rest, const char *text)
{
	g_autofree char *blank = g_strnfill(strlen(rest), ' ');
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	const char *before = first;

	for (char **line = lines; *line; line++) {
		g_autofree char *indented = g_strconcat(blank, *line, NULL);
		g_autofree char *wrapped =
		    wrap_format_text(indented, BOUNDS_TEXT_COLUMNS);
		g_auto(GStrv) parts = g_strsplit(g_strchomp(wrapped), "\n", -1);

		/* Keep empty lines. */
		if (!*parts)
			g_string_append_c(reply->text, '\n');
		for (char **part = parts; *part; part++) {
			size_t skip = MIN(strlen(rest), strlen(*part));
			g_autofree char *whole =
			    g_strconcat(before, *part + skip, NULL);

			g_string_append_printf(reply->text, "%s\n", g_strchomp(whole));
			before = rest;
		}
	}
}

void
reply_text_add_quoted(struct reply_text *reply, const char *line)
{
	g_autofree char *shown = reply_text_quote(reply, line);

	append_wrapped(reply, "> ", "> ", shown);
}

/* Texts without a margin continue the result before them. */
static void
record_result(GPtrArray *results, const char *margin, const char *text)
{
	struct reply_result *last =
	    results->len ? results->pdata[results->len - 1] : NULL;

	if (*margin) {
		g_ptr_array_add(results,
		    reply_result_new(strcmp(margin, "-") == 0 ? "wait" : margin, text));
	} else if (last) {
		char *whole = g_strconcat(last->text, "\n", text, NULL);

		g_free(last->text);
		last->text = whole;
	}
}

void
reply_text_add(struct reply_text *reply, const char *margin, const char *text)
{
	g_autofree char *first = g_strdup_printf("%-*s", MARGIN, margin);
	g_autofree char *rest = g_strnfill(MARGIN, ' ');

	append_wrapped(reply, first, rest, text);
	if (reply->results)
		record_result(reply->results, margin, text);
}

void
reply_text_add_block(struct reply_text *reply, const char *text)
{
	append_wrapped(reply, "", "", text);
}

void
reply_text_add_command(struct reply_text *reply, const char *line)
{
	g_autofree char *rest = g_strnfill(PASTE_BLANK, ' ');
	g_autofree char *shown = reply_text_quote(reply, line);

	append_wrapped(reply, "", rest, shown);
}

void
reply_text_add_blank(struct reply_text *reply)
{
	if (reply->text->len && !g_str_has_suffix(reply->text->str, "\n\n"))
		g_string_append_c(reply->text, '\n');
}

/* @return the nth word of a phrase, a new string */
static char *
pick_word(const struct reply_text *reply, const char *name, int n)
{
	g_autofree char *all = reply_text_format(reply, name);
	g_auto(GStrv) words = g_strsplit(all, " ", -1);

	return g_strdup(n < (int)g_strv_length(words) ? words[n] : "");
}

static char *
format_date(const struct reply_text *reply, GDateTime *at, const char *name)
{
	g_autofree char *weekday = pick_word(reply, N_("Mon Tue Wed Thu Fri Sat Sun"),
	    g_date_time_get_day_of_week(at) - 1);
	g_autofree char *month =
	    pick_word(reply, N_("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"),
	        g_date_time_get_month(at) - 1);
	g_autofree char *day = g_date_time_format(at, "%-d");
	g_autofree char *year = g_date_time_format(at, "%Y");

	return reply_text_format(
	    reply, name, "weekday", weekday, "day", day, "month", month, "year", year);
}

char *
reply_text_format_time(const struct reply_text *reply, int64_t at, const char *zone)
{
	g_autoptr(GTimeZone) loaded = zone_load_or_utc(zone);
	g_autoptr(GDateTime) utc = NULL;
	g_autoptr(GDateTime) local = NULL;
	g_autofree char *date = NULL;
	g_autofree char *clock = NULL;

	if (at < 0)
		return reply_text_format(reply, N_("never"));
	utc = g_date_time_new_from_unix_utc(at);
	local = g_date_time_to_timezone(utc, loaded);
	date = format_date(reply, local, N_("{weekday} {day} {month}"));
	clock = g_date_time_format(local, "%H:%M");
	return g_strdup_printf("%s %s %s", date, clock, zone);
}

char *
reply_text_format_day(const struct reply_text *reply, const char *day)
{
	g_autofree char *whole = g_strconcat(day, "T12:00:00Z", NULL);
	g_autoptr(GDateTime) at = g_date_time_new_from_iso8601(whole, NULL);

	return at ? format_date(
	                reply, at, NC_("short date", "{weekday} {day} {month} {year}"))
	          : g_strdup(day);
}
