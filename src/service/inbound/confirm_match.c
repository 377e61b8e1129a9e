/*
 * confirm_match.c - classify a reply to a confirmation request: yes, no, or unclear.
 *
 * Phrases of etc/phrases are in lower case, without apostrophes and Latin accents,
 * words separated by one blank, as a line is folded here.  Those with other non-ASCII
 * letters are matched with accents.  A final "*" matches the rest of a word, "$" the
 * end of a clause.
 */
#include "service/inbound/confirm_match.h"

#include <string.h>

#include "message/command_text.h"
#include "model/phrases.h"

/* Maximum length of a greeting: words, and characters where words are not separated. */
#define GREETING_WORDS 6
#define GREETING_CHARS 40

/* Maximum number of words of a salutation that is only a name and a comma. */
#define SALUTATION_WORDS 3

#define FOREACH_LANGUAGE(language)                                                 \
	for (const struct phrases *const *language = phrases_get_all(); *language; \
	     language++)

/*
 * A text prepared for matching: words separated by blanks, " | " or " ? " at the end of
 * each clause; both strings with the same words.
 */
struct folded {
	GString *plain; /* Latin letters without accents */
	GString *exact;
};

static void
folded_clear(struct folded *folded)
{
	g_string_free(folded->plain, TRUE);
	g_string_free(folded->exact, TRUE);
}

/* ---- folding ---- */

/* Scripts without blanks between words. */
static bool
is_unspaced(gunichar c)
{
	switch (g_unichar_get_script(c)) {
	case G_UNICODE_SCRIPT_HAN:
	case G_UNICODE_SCRIPT_HIRAGANA:
	case G_UNICODE_SCRIPT_KATAKANA:
		return true;
	default:
		/* U+30FC belongs to both Japanese scripts. */
		return c == 0x30FC;
	}
}

static bool
is_word(gunichar c)
{
	return g_unichar_isalnum(c) || is_unspaced(c) || c == '+';
}

static bool
is_apostrophe(gunichar c)
{
	return c == '\'' || c == '`' || c == 0xB4 || c == 0x2BC || c == 0x2018 ||
	       c == 0x2019;
}

/* Brackets, quotation marks and emphasis do not end a clause. */
static bool
is_enclosing(gunichar c)
{
	switch (g_unichar_type(c)) {
	case G_UNICODE_OPEN_PUNCTUATION:
	case G_UNICODE_CLOSE_PUNCTUATION:
	case G_UNICODE_INITIAL_PUNCTUATION:
	case G_UNICODE_FINAL_PUNCTUATION:
		return true;
	default:
		return c < 0x80 && strchr("\"*_~<>/\\", (int)c);
	}
}

static void
append_blank(struct folded *folded)
{
	if (folded->plain->str[folded->plain->len - 1] == ' ')
		return;
	g_string_append_c(folded->plain, ' ');
	g_string_append_c(folded->exact, ' ');
}

/* @param mark  '|' after a clause, '?' after a question; of adjacent ones '?' stays */
static void
append_end(struct folded *folded, char mark)
{
	append_blank(folded);
	if (folded->plain->len == 1)
		return;
	if (g_str_has_suffix(folded->plain->str, " | ") ||
	    g_str_has_suffix(folded->plain->str, " ? ")) {
		if (mark == '?') {
			folded->plain->str[folded->plain->len - 2] = mark;
			folded->exact->str[folded->exact->len - 2] = mark;
		}
		return;
	}
	g_string_append_printf(folded->plain, "%c ", mark);
	g_string_append_printf(folded->exact, "%c ", mark);
}

static void
append_word(struct folded *folded, gunichar c, gunichar before)
{
	char utf8[7] = {0};

	if (before && is_word(before) && is_unspaced(c) != is_unspaced(before))
		append_blank(folded);
	g_unichar_to_utf8(c, utf8);
	g_string_append(folded->exact, utf8);
	if (g_unichar_get_script(c) == G_UNICODE_SCRIPT_LATIN) {
		g_autofree char *ascii = g_str_to_ascii(utf8, "C");

		/* g_str_to_ascii() does not know dotless i. */
		g_string_append(folded->plain, c == 0x131 ? "i" : ascii);
	} else {
		g_string_append(folded->plain, utf8);
	}
}

static void
append_symbol(struct folded *folded, gunichar c)
{
	append_blank(folded);
	append_word(folded, c, 0);
	append_blank(folded);
}

static void
append_char(struct folded *folded, gunichar before, gunichar c, gunichar after)
{
	bool is_inside = is_word(before) && is_word(after);

	if (is_word(c))
		append_word(folded, c, before);
	else if (is_apostrophe(c) ? is_inside : g_unichar_ismark(c) || c == 0x200D)
		return;
	else if (c == '?' || c == 0x61F || c == 0x37E)
		append_end(folded, '?');
	else if (g_unichar_type(c) == G_UNICODE_OTHER_SYMBOL)
		append_symbol(folded, c);
	else if (g_unichar_type(c) == G_UNICODE_MODIFIER_SYMBOL)
		return; /* skin tone of an emoji */
	else if (g_unichar_isspace(c) || is_apostrophe(c) || is_enclosing(c) ||
	         (c == '-' && is_inside) || c == '#' || c == '@')
		append_blank(folded);
	else
		append_end(folded, '|');
}

static struct folded
fold(const char *text)
{
	g_autofree char *whole = g_utf8_normalize(text, -1, G_NORMALIZE_NFKC);
	g_autofree char *lower = g_utf8_casefold(whole ? whole : "", -1);
	g_autofree char *composed = g_utf8_normalize(lower, -1, G_NORMALIZE_NFKC);
	struct folded folded = {g_string_new(" "), g_string_new(" ")};
	gunichar before = ' ';

	for (const char *at = composed; *at; at = g_utf8_next_char(at)) {
		gunichar c = g_utf8_get_char(at);

		append_char(&folded, before, c, g_utf8_get_char(g_utf8_next_char(at)));
		before = c;
	}
	append_end(&folded, '|');
	return folded;
}

static struct folded
copy(const struct folded *folded)
{
	return (struct folded){
	    g_string_new(folded->plain->str), g_string_new(folded->exact->str)};
}

static bool
is_empty(const struct folded *folded)
{
	return folded->plain->len == 1;
}

/* ---- phrases ---- */

static GString *
get_text(const struct folded *folded, const char *phrase)
{
	return g_str_is_ascii(phrase) ? folded->plain : folded->exact;
}

static bool
is_clause_end(const char *at)
{
	return at[0] == ' ' && (at[1] == '|' || at[1] == '?');
}

/* @return the end of the phrase if it starts here, or NULL */
static const char *
match(const char *at, const char *phrase)
{
	size_t size = strlen(phrase);
	char mark = phrase[size - 1];

	if (mark == '*' || mark == '$')
		size--;
	if (strncmp(at, phrase, size) != 0)
		return NULL;
	at += size;
	if (mark == '*')
		return at + strcspn(at, " ");
	if (mark == '$')
		return is_clause_end(at) ? at : NULL;
	return *at == ' ' || phrase[size - 1] == ' ' ||
	               is_unspaced(g_utf8_get_char(g_utf8_prev_char(phrase + size)))
	           ? at
	           : NULL;
}

/* @return the next occurrence of the phrase, or NULL */
static const char *
find(const char *from, const char *phrase, const char **end)
{
	bool is_anywhere = is_unspaced(g_utf8_get_char(phrase));

	for (const char *at = from; *at; at = g_utf8_next_char(at))
		if ((is_anywhere || at[-1] == ' ') && (*end = match(at, phrase)))
			return at;
	return NULL;
}

static bool
contains_one(const struct folded *folded, const char *const *phrases)
{
	const char *end;

	for (; *phrases; phrases++)
		if (find(get_text(folded, *phrases)->str + 1, *phrases, &end))
			return true;
	return false;
}

/* The longest phrase at the start of a text. */
struct start {
	size_t size;  /* bytes, 0: none */
	size_t words; /* 0: ends inside a word, in scripts without blanks */
};

static void
find_start(const struct folded *folded, const char *const *phrases, struct start *start)
{
	for (; *phrases; phrases++) {
		const char *at = get_text(folded, *phrases)->str + 1;
		const char *end = match(at, *phrases);

		if (!end || (size_t)(end - at) <= start->size)
			continue;
		*start = (struct start){.size = (size_t)(end - at)};
		if (*end != ' ')
			continue;
		for (; at <= end; at++)
			start->words += *at == ' ';
	}
}

static void
drop_words(GString *text, size_t words)
{
	const char *at = text->str;

	for (; words; words--)
		at = strchr(at + 1, ' ');
	g_string_erase(text, 0, at - text->str);
}

/* Remove a phrase from the start, and the end of clause after it. */
static void
drop_start(struct folded *folded, const struct start *start)
{
	if (start->words) {
		drop_words(folded->plain, start->words);
		drop_words(folded->exact, start->words);
	} else {
		g_string_erase(folded->plain, 1, (gssize)start->size);
		g_string_erase(folded->exact, 1, (gssize)start->size);
	}
	while (is_clause_end(folded->plain->str)) {
		drop_words(folded->plain, 1);
		drop_words(folded->exact, 1);
	}
}

static size_t
count_clause_words(const struct folded *folded)
{
	size_t words = 0;

	for (const char *at = folded->plain->str; *at && !is_clause_end(at); at++)
		words += *at == ' ';
	return words;
}

static bool
is_automatic(const struct folded *folded)
{
	FOREACH_LANGUAGE(language)
	if (contains_one(folded, phrases_get(*language, "automatic")))
		return true;
	return false;
}

/* Mask all occurrences of phrases, which may overlap. */
static void
mask(const struct folded *folded, const char *const *phrases, struct folded *masked)
{
	for (; *phrases; phrases++) {
		const GString *text = get_text(folded, *phrases);
		GString *out = get_text(masked, *phrases);
		const char *at = text->str + 1, *end;

		for (; (at = find(at, *phrases, &end)); at = end)
			memset(out->str + (at - text->str), '#', (size_t)(end - at));
	}
}

/* Whether there is a refusal other than in "no problem" and the like. */
static bool
is_refusal(const struct folded *folded)
{
	pb_local(folded) rest = copy(folded);

	FOREACH_LANGUAGE(language)
	{
		mask(folded, phrases_get(*language, "agreements"), &rest);
		mask(folded, phrases_get(*language, "neutral"), &rest);
	}
	FOREACH_LANGUAGE(language)
	if (contains_one(&rest, phrases_get(*language, "refusals")))
		return true;
	return false;
}

/* ---- lines ---- */

static bool
is_question(const struct folded *line)
{
	return line->plain->str[strcspn(line->plain->str, "|?")] == '?';
}

/* "yes?" and "yes or no" are not consent, "why not?" is. */
static bool
starts_with_consent(const struct folded *line)
{
	struct start consent = {0}, agreement = {0}, neutral = {0};

	FOREACH_LANGUAGE(language)
	{
		find_start(line, phrases_get(*language, "consents"), &consent);
		find_start(line, phrases_get(*language, "agreements"), &agreement);
		find_start(line, phrases_get(*language, "neutral"), &neutral);
	}
	if (neutral.size > MAX(consent.size, agreement.size))
		return false;
	if (agreement.size || !consent.size || !is_question(line))
		return agreement.size || consent.size;
	FOREACH_LANGUAGE(language)
	if (contains_one(line, phrases_get(*language, "agreements")))
		return true;
	return false;
}

/* Whether it consists of consent and courtesy. */
static bool
is_only_consent(const struct folded *line)
{
	pb_local(folded) rest = copy(line);

	if (!starts_with_consent(&rest) || strchr(rest.plain->str, '?'))
		return false;
	while (!is_empty(&rest)) {
		struct start start = {0};

		FOREACH_LANGUAGE(language)
		{
			find_start(&rest, phrases_get(*language, "courtesies"), &start);
			find_start(&rest, phrases_get(*language, "consents"), &start);
			find_start(&rest, phrases_get(*language, "agreements"), &start);
		}
		if (!start.size)
			return false;
		drop_start(&rest, &start);
	}
	return true;
}

static bool
has_honorific(const struct folded *line)
{
	size_t size = strcspn(line->exact->str, "|?");
	g_autofree char *clause = g_strndup(line->exact->str, size);

	g_strchomp(clause);
	FOREACH_LANGUAGE(language)
	{
		const char *const *title = phrases_get(*language, "honorifics");

		for (; *title; title++)
			if (g_str_has_suffix(clause, *title))
				return true;
	}
	return false;
}

static bool
is_short_clause(const struct folded *line)
{
	size_t size = strcspn(line->exact->str, "|?");

	return count_clause_words(line) <= GREETING_WORDS &&
	       g_utf8_strlen(line->exact->str, (gssize)size) <= GREETING_CHARS;
}

/* "hi yes": the greeting is not a separate clause. */
static bool
drop_greeting_word(struct folded *line, const struct start *start)
{
	pb_local(folded) rest = copy(line);

	drop_start(&rest, start);
	if (!starts_with_consent(&rest))
		return false;
	g_string_assign(line->plain, rest.plain->str);
	g_string_assign(line->exact, rest.exact->str);
	return true;
}

static void
skip_greetings(struct folded *line)
{
	while (!is_empty(line)) {
		struct start start = {0}, clause = {0};

		FOREACH_LANGUAGE(language)
		find_start(line, phrases_get(*language, "greetings"), &start);
		if (start.size && drop_greeting_word(line, &start))
			return;
		if ((!start.size && !has_honorific(line)) || !is_short_clause(line))
			return;
		clause.words = count_clause_words(line);
		drop_start(line, &clause);
	}
}

/* "Paperboy team," above the text. */
static bool
is_salutation(const char *raw, const struct folded *line)
{
	return (g_str_has_suffix(raw, ",") || g_str_has_suffix(raw, "\uff0c")) &&
	       count_clause_words(line) <= SALUTATION_WORDS &&
	       !starts_with_consent(line);
}

static bool
is_confirm_line(const struct folded *line, const char *token)
{
	g_autofree char *low = g_ascii_strdown(token, -1);
	g_autofree char *wanted = g_strconcat(" confirm ", low, " | ", NULL);

	return strcmp(line->plain->str, wanted) == 0;
}

/* ---- the text ---- */

/* Findings in the lines that are not quoted. */
struct reading {
	bool has_text;
	bool is_automatic;
	bool is_refusal;
	bool is_consent;
	bool has_token;
};

/* @return whether it is the deciding line: neither greeting nor empty */
static bool
read_line(const char *raw, struct reading *reading)
{
	pb_local(folded) line = fold(raw);

	if (is_empty(&line))
		return false;
	reading->is_automatic = is_automatic(&line);
	reading->is_refusal = reading->is_refusal || is_refusal(&line);
	skip_greetings(&line);
	reading->is_consent = starts_with_consent(&line);
	return reading->is_automatic ||
	       (!is_empty(&line) && !is_salutation(raw, &line));
}

static void
read_text(const char *text, const char *token, struct reading *reading)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	bool is_found = false;

	for (char **at = lines; *at; at++) {
		char *raw = g_strstrip(*at);
		pb_local(folded) line = fold(raw);

		if (!*raw || *raw == '>')
			continue;
		reading->has_text = true;
		is_found = is_found || read_line(raw, reading);
		reading->has_token =
		    reading->has_token || is_confirm_line(&line, token);
	}
}

/* ---- the subject ---- */

enum subject {
	SUBJECT_OURS,
	SUBJECT_OTHER,
	SUBJECT_AUTOMATIC,
};

/* "[Ticket #123]", "(case 42)", "#7", but not "Re[2]:" */
static bool
has_ticket_number(const char *subject)
{
	static const char pattern[] =
	    "(^|[^\\w])[\\[(][^\\])]*\\d[^\\])]*[\\])](?!:)|#\\s*\\d";

	return g_regex_match_simple(pattern, subject, 0, 0);
}

/* Mask the subject of the request in another one. @return whether it was found */
static bool
mask_subject(struct folded *subject, const struct consent_question *question)
{
	for (size_t i = 0; question->subjects[i]; i++) {
		pb_local(folded) ours = fold(question->subjects[i]);
		char *at;

		at = strstr(subject->plain->str, ours.plain->str);
		if (!at)
			continue;
		memset(at + 1, '#', ours.plain->len - 2);
		at = strstr(subject->exact->str, ours.exact->str);
		memset(at + 1, '#', ours.exact->len - 2);
		return true;
	}
	return false;
}

static enum subject
read_subject(const char *raw, const struct consent_question *question)
{
	pb_local(folded) whole = fold(raw);
	pb_local(folded) rest = fold(command_text_skip_prefixes(raw));
	bool is_ours;

	is_ours = mask_subject(&whole, question) && mask_subject(&rest, question);
	if (has_ticket_number(raw) || is_automatic(&whole) ||
	    (is_ours && rest.plain->str[strcspn(rest.plain->str, "0123456789")]))
		return SUBJECT_AUTOMATIC;
	return is_ours ? SUBJECT_OURS : SUBJECT_OTHER;
}

static bool
has_id(const GPtrArray *ids, const char *id)
{
	for (unsigned i = 0; i < ids->len; i++)
		if (strcmp(ids->pdata[i], id) == 0)
			return true;
	return false;
}

enum consent
confirm_match(const struct inmail *mail, const struct consent_question *question)
{
	enum subject kind = read_subject(mail->subject, question);
	struct reading reading = {0};
	pb_local(folded) subject = fold(command_text_skip_prefixes(mail->subject));

	read_text(mail->text ? mail->text : "", question->token, &reading);
	if (kind == SUBJECT_AUTOMATIC || reading.is_automatic)
		return CONSENT_AUTOMATIC;
	if (reading.is_refusal || (kind == SUBJECT_OTHER && is_refusal(&subject)))
		return CONSENT_NO;
	if (reading.is_consent || reading.has_token)
		return CONSENT_YES;
	if (kind == SUBJECT_OTHER &&
	    (is_only_consent(&subject) || is_confirm_line(&subject, question->token)))
		return CONSENT_YES;
	if (kind == SUBJECT_OURS && !reading.has_text &&
	    (has_id(mail->in_reply_to, question->message_id) ||
	        has_id(mail->references, question->message_id)))
		return CONSENT_YES;
	return CONSENT_UNCLEAR;
}
