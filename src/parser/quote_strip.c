/*
 * quote_strip.c - remove quotes and signatures from a message.
 */
#include "parser/quote_strip.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

/* ---- attribution lines and other markers of quotes, by language ---- */

static const char *const verbs[] = {"wrote", "writes:", "schrieb", "a écrit",
    "écrivait", "escribió", "ha scritto", "scrive:", "scriveva", "escreveu", "schreef",
    "geschreven:", "skrev", "kirjoitti", "napisał", "pisze:", "napsal", "napísal",
    "írta", "yazdı", "a scris", "έγραψε", "пишет", "написал", "пише", "написав",
    "のメール:", "さんは書きました", "写道", "寫道", "님이 작성", "작성:", "đã viết",
    "menulis", "כתב", "كتب"};

static const char *const openings[] = {"on ", "am ", "le ", "el ", "il ", "em ", "op ",
    "a(z) ", "den ", "dnia ", "dne ", "în ", "la ", "στις ", "вт", "пн", "ср", "чт",
    "пт", "сб", "вс", "в ", "на ", "在 ", "于 ", "於 ", "pe ", "vào ", "pada ",
    "de: ", "mon,", "tue,", "wed,", "thu,", "fri,", "sat,", "sun,"};

static const char *const dividers[] = {"begin forwarded message:",
    "anfang der weitergeleiteten nachricht:", "début du message réexpédié",
    "inicio del mensaje reenviado:", "inizio messaggio inoltrato:",
    "início da mensagem encaminhada:", "begin doorgestuurd bericht:",
    "начало переадресованного сообщения:", "転送されたメッセージ:",
    "下面是被转发的邮件:", "下面是被轉寄的郵件:"};

static const char *const advertisements[] = {"sent from my ", "sent from mail for ",
    "sent from yahoo mail", "sent from outlook", "sent from proton mail",
    "sent with proton", "sent from the ", "get outlook for ", "get bluemail for ",
    "gesendet von ", "gesendet mit der ", "holen sie sich outlook für ",
    "envoyé de mon ", "envoyé depuis ", "envoyé à partir de ",
    "télécharger outlook pour ", "obtenez outlook pour ", "enviado desde ",
    "obtener outlook para ", "inviato da ", "inviato dal mio ", "scarica outlook per ",
    "enviado do meu ", "enviado a partir do ", "obter o outlook para ",
    "verstuurd vanaf ", "verzonden vanuit ", "verzonden vanaf ", "skickat från min ",
    "sendt fra min ", "wysłane z ", "отправлено с ", "отправлено из ", "iphoneから送信",
    "ipadから送信", "androidから送信", "发自我的", "發自我的"};

/* Beginning of the line, and text that must occur in it. */
static const struct {
	const char *beginning, *contains;
} other_advertisements[] = {
    {"von meine", "gesendet"},
    {"diese nachricht wurde von meinem ", "gesendet"},
    {"outlook voor ", "downloaden"},
    {"lähetetty ", "iphone"},
    {"從我的", "傳送"},
    {"나의 ", "보냄"},
};

static const char *const froms[] = {"from", "von", "de", "da", "van", "от", "od",
    "från", "fra", "差出人", "送信者", "发件人", "寄件者", "寄件人", "發件人",
    "보낸 사람"};

static const char *const headers[] = {"sent", "date", "to", "cc", "subject", "reply-to",
    "gesendet", "datum", "an", "betreff", "envoyé", "à", "objet", "enviado",
    "enviado el", "fecha", "para", "asunto", "inviato", "data", "a", "oggetto",
    "enviada em", "enviado em", "assunto", "verzonden", "aan", "onderwerp",
    "отправлено", "дата", "кому", "тема", "wysłano", "do", "temat", "skickat", "till",
    "ämne", "送信日時", "日時", "宛先", "件名", "发送时间", "日期", "收件人", "抄送",
    "主题", "傳送時間", "寄件日期", "收件者", "主旨", "主題", "보낸 날짜", "받는 사람",
    "제목"};

static bool
has_any(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

static bool
begins_with_any(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (g_str_has_prefix(text, words[i]))
			return true;
	return false;
}

/* "From:", "*From:*", "From :", "差出人：" */
static bool
is_any_header(const char *line, const char *const *words, size_t count)
{
	line += strspn(line, "* ");
	for (size_t i = 0; i < count; i++) {
		const char *at = line + strlen(words[i]);

		if (!g_str_has_prefix(line, words[i]))
			continue;
		at += strspn(at, "* ");
		if (g_str_has_prefix(at, "\xc2\xa0"))
			at += 2;
		if (*at == ':' || g_str_has_prefix(at, "："))
			return true;
	}
	return false;
}

/* Whether the text contains a verb for "wrote". */
static bool
quote_patterns_has_verb(const char *folded)
{
	return has_any(folded, verbs, G_N_ELEMENTS(verbs));
}

/* Whether a line starts like an attribution of several lines. */
static bool
quote_patterns_has_opening(const char *folded)
{
	return begins_with_any(folded, openings, G_N_ELEMENTS(openings));
}

/* Whether a line introduces a forwarded or quoted message. */
static bool
quote_patterns_is_divider(const char *folded)
{
	return begins_with_any(folded, dividers, G_N_ELEMENTS(dividers));
}

/* Whether a line was added by a mail program or phone ("sent from my ..."). */
static bool
quote_patterns_is_advertisement(const char *folded)
{
	for (size_t i = 0; i < G_N_ELEMENTS(other_advertisements); i++)
		if (g_str_has_prefix(folded, other_advertisements[i].beginning) &&
		    strstr(folded, other_advertisements[i].contains))
			return true;
	return begins_with_any(folded, advertisements, G_N_ELEMENTS(advertisements));
}

/* Whether a line is the From: line of a quoted header. */
static bool
quote_patterns_is_from(const char *folded)
{
	return is_any_header(folded, froms, G_N_ELEMENTS(froms));
}

/* Whether a line is another header line of a quoted message. */
static bool
quote_patterns_is_header(const char *folded)
{
	return is_any_header(folded, headers, G_N_ELEMENTS(headers));
}

/* ---- quote strip ---- */

/* Limits of an attribution, which may be wrapped and contain long names. */
#define ATTRIBUTION_LINES 4
#define ATTRIBUTION_BYTES 500

/* Lines examined after "From:", and how many of them must be header lines. */
#define HEADER_LINES 6
#define HEADER_COUNT 2

#define UNDERSCORES_MIN     20
#define DIVIDER_BYTES       120
#define DIVIDER_DASHES      3
#define ADVERTISEMENT_BYTES 160

static bool
is_empty(const char *line)
{
	return line[0] == '\0';
}

/* Some programs indent quotes. */
static bool
is_quoted(const char *line)
{
	return line[strspn(line, " ")] == '>';
}

/* @return the next line that is not empty, or NULL */
static const char *
find_next(char *const *lines)
{
	while (*lines && is_empty(*lines))
		lines++;
	return *lines;
}

static bool
ends_with_colon(const char *text)
{
	return g_str_has_suffix(text, ":") || g_str_has_suffix(text, "：");
}

/* "10:00", "20.11.", "2026-11-20", "11/20", "2026年": whether the text has a time or
 * date. */
static bool
has_date(const char *text)
{
	for (const char *p = text; *p; p++) {
		if (!g_ascii_isdigit(*p))
			continue;
		if (g_str_has_prefix(p + 1, "年"))
			return true;
		if (p[1] && strchr(":.-/h", p[1]) && g_ascii_isdigit(p[2]))
			return true;
	}
	return false;
}

static unsigned
count_digits(const char *text)
{
	unsigned count = 0;

	for (; *text; text++)
		count += g_ascii_isdigit(*text);
	return count;
}

/* "Fri, 20 Nov 2026 at 10:00, Eva <eva@example.org>:", of programs that use no verb. */
static bool
is_date_and_address(const char *text)
{
	const char *at = strrchr(text, '<');
	const char *close = at ? strchr(at, '>') : NULL;

	return close && memchr(at, '@', (size_t)(close - at)) &&
	       (!strcmp(close, ">:") || !strcmp(close, ">：")) &&
	       count_digits(text) >= 6 && has_date(text);
}

/* @return the lines joined and case-folded; NULL if they cannot be an attribution */
static char *
join_lines(char *const *lines, unsigned count)
{
	g_autoptr(GString) joined = g_string_new(NULL);
	char *folded;

	for (unsigned i = 0; i < count; i++) {
		if (!lines[i] || is_empty(lines[i]) || is_quoted(lines[i]))
			return NULL;
		if (i > 0)
			g_string_append_c(joined, ' ');
		g_string_append(joined, lines[i] + strspn(lines[i], " "));
		if (joined->len > ATTRIBUTION_BYTES)
			return NULL;
	}
	if (!ends_with_colon(joined->str))
		return NULL;
	folded = g_utf8_casefold(joined->str, -1);
	return folded;
}

/* Whether exactly these lines are an attribution. */
static bool
is_attribution_of(char *const *lines, unsigned count)
{
	g_autofree char *text = join_lines(lines, count);

	if (!text)
		return false;
	if (count > 1 && !quote_patterns_has_opening(text) &&
	    !g_ascii_isdigit(text[0]) && !strchr(lines[0], '<') &&
	    !strchr(lines[0], '"'))
		return false;
	return is_date_and_address(text) ||
	       (quote_patterns_has_verb(text) && (strchr(text, '@') || has_date(text)));
}

/* "Eva wrote:" counts as an attribution only before a quote. */
static bool
is_short_attribution(char *const *lines)
{
	g_autofree char *text = join_lines(lines, 1);
	const char *next;

	if (!text ||
	    (!quote_patterns_has_verb(text) && !(strchr(text, '@') && has_date(text))))
		return false;
	next = find_next(lines + 1);
	return next && is_quoted(next);
}

static bool
has_opening(const char *line)
{
	g_autofree char *folded = g_utf8_casefold(line + strspn(line, " "), -1);

	return quote_patterns_has_opening(folded);
}

/*
 * Number of lines of an attribution, 0 if none.  It may start later, after a line of
 * the author: "more 2 3 On Friday, Eva wrote:".
 */
static unsigned
count_attribution_lines(char *const *lines)
{
	for (unsigned count = 1; count <= ATTRIBUTION_LINES; count++) {
		bool begins_later = false;

		if (!is_attribution_of(lines, count))
			continue;
		for (unsigned i = 1; i < count && !begins_later; i++)
			begins_later =
			    is_attribution_of(lines + i, count - i) &&
			    (has_opening(lines[i]) || !has_opening(lines[0]));
		return begins_later ? 0 : count;
	}
	return is_short_attribution(lines) ? 1 : 0;
}

static bool
has_alpha(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (g_ascii_isalpha(text[i]) || (guchar)text[i] >= 0x80)
			return true;
	return false;
}

/* Like "-----Original Message-----", in any language. */
static bool
is_dashed(const char *line)
{
	size_t size = strlen(line);
	size_t before = strspn(line, "-");
	size_t after = 0;

	while (after < size && line[size - 1 - after] == '-')
		after++;
	return size <= DIVIDER_BYTES && before >= DIVIDER_DASHES &&
	       after >= DIVIDER_DASHES && before + after < size &&
	       has_alpha(line + before, size - before - after);
}

static bool
is_underscored(const char *line)
{
	size_t count = strspn(line, "_");

	return count >= UNDERSCORES_MIN && line[count] == '\0';
}

static bool
is_header_block(char *const *lines)
{
	g_autofree char *first = g_utf8_casefold(lines[0], -1);
	bool has_from = quote_patterns_is_from(first);
	unsigned count = 0;

	/* Some programs put the date first. */
	if (!has_from && !quote_patterns_is_header(first))
		return false;
	for (unsigned i = 1, seen = 0; lines[i] && seen < HEADER_LINES; i++) {
		g_autofree char *line = g_utf8_casefold(lines[i], -1);

		if (is_empty(line))
			continue;
		seen++;
		has_from = has_from || quote_patterns_is_from(line);
		count += quote_patterns_is_header(line);
	}
	return has_from && count >= HEADER_COUNT;
}

/* Whether the text ends here. */
static bool
is_end(char *const *lines)
{
	const char *line = lines[0];
	g_autofree char *folded = NULL;

	/* Trailing blanks, as of "-- ", have been removed. */
	if (!strcmp(line, "--") || is_underscored(line) || is_dashed(line))
		return true;
	if (is_header_block(lines))
		return true;
	folded = g_utf8_casefold(line, -1);
	return quote_patterns_is_divider(folded);
}

/* An advertisement at the end, or right before a quote. */
static bool
is_advertisement(char *const *lines)
{
	g_autofree char *folded = NULL;
	const char *next;

	if (strlen(lines[0]) > ADVERTISEMENT_BYTES)
		return false;
	folded = g_utf8_casefold(lines[0], -1);
	if (!quote_patterns_is_advertisement(folded))
		return false;
	for (lines++; *lines && is_empty(*lines);)
		lines++;
	next = *lines;
	return !next || is_quoted(next) || is_end(lines) ||
	       count_attribution_lines(lines) > 0;
}

/*
 * Header of a clear-signed message (RFC 9580 section 7) up to an empty line.
 * @return number of lines; 0 if it does not start here
 */
static unsigned
count_signed_header_lines(char *const *lines)
{
	unsigned count = 1;

	if (strcmp(lines[0], "-----BEGIN PGP SIGNED MESSAGE-----") != 0)
		return 0;
	while (lines[count] && !is_empty(lines[count]))
		count++;
	return count;
}

static void
trim(char *line)
{
	size_t size = strlen(line);

	for (;;) {
		if (size > 0 && strchr(" \t\r", line[size - 1]))
			size--;
		else if (size > 1 && !memcmp(line + size - 2, "\xc2\xa0", 2))
			size -= 2;
		else
			break;
	}
	line[size] = '\0';
}

static void
append_line(GString *out, const char *line)
{
	if (is_empty(line) && (out->len == 0 || g_str_has_suffix(out->str, "\n\n")))
		return;
	g_string_append(out, line);
	g_string_append_c(out, '\n');
}

char *
quote_strip(const char *text)
{
	g_auto(GStrv) all = g_strsplit(text, "\n", -1);
	GString *out = g_string_new(NULL);

	for (char **line = all; *line; line++)
		trim(*line);
	for (char **lines = all; *lines;) {
		unsigned skipped = count_signed_header_lines(lines);
		const char *next;

		if (skipped == 0 && is_end(lines))
			break;
		if (skipped == 0 && (is_quoted(*lines) || is_advertisement(lines)))
			skipped = 1;
		if (skipped == 0) {
			skipped = count_attribution_lines(lines);
			next = find_next(lines + skipped);
			if (skipped > 0 && next && !is_quoted(next))
				break;
		}
		if (skipped == 0)
			append_line(out, *lines++);
		lines += skipped;
	}
	while (g_str_has_suffix(out->str, "\n\n"))
		g_string_truncate(out, out->len - 1);
	return g_string_free(out, FALSE);
}
