/*
 * confirm_match.c - classify a reply to a confirmation request: yes, no, or unclear.
 */
#include "service/inbound/confirm_match.h"

#include <string.h>

#include "message/command_text.h"
#include "message/prose.h"
#include "model/phrases.h"

/* Maximum length of a greeting. */
#define GREETING_BYTES 60

/* Maximum number of words of a salutation that is only a name and a comma. */
#define SALUTATION_WORDS 3

/* ---- phrases ---- */

static struct phrases_span
make_span(struct phrases_text *text)
{
	return (struct phrases_span){text, 0, text->words->len};
}

static char
get_mark(const struct phrases_span *span, unsigned at)
{
	return at < span->to ? phrases_get_word(span->text, at)->mark : '\0';
}

static unsigned
skip_marks(const struct phrases_span *span)
{
	unsigned at = span->from;

	while (get_mark(span, at))
		at++;
	return at;
}

/* @return the first of these marks, or the end */
static unsigned
find_mark(const struct phrases_span *span, const char *marks)
{
	unsigned at = span->from;

	while (at < span->to &&
	       (!get_mark(span, at) || !strchr(marks, get_mark(span, at))))
		at++;
	return at;
}

/* Whether a condition follows a word in a language that has a phrase of the section. */
static bool
is_conditional(const struct phrases_span *span, unsigned after, const char *section)
{
	const struct phrases *const *language = phrases_get_all();

	for (; *language; language++) {
		bool has_phrase = false, has_doubt = false;
		struct phrases_span rest = *span;

		for (; rest.from < rest.to; rest.from++) {
			has_phrase = has_phrase || phrases_skip(*language, section,
			                               &rest) > rest.from;
			has_doubt =
			    has_doubt ||
			    (rest.from >= after &&
			        phrases_skip(*language, "doubt", &rest) > rest.from &&
			        phrases_skip_any("courtesy", &rest) == rest.from);
		}
		if (has_phrase && has_doubt)
			return true;
	}
	return false;
}

/* Whether there is a refusal other than in "no problem" and the like. */
static bool
has_refusal(const struct phrases_span *span)
{
	unsigned excused = span->from; /* end of such a phrase */

	for (struct phrases_span rest = *span; rest.from < rest.to; rest.from++) {
		excused = MAX(excused, phrases_skip_any("yes-anyway", &rest));
		excused = MAX(excused, phrases_skip_any("not-no", &rest));
		if (rest.from >= excused && phrases_skip_any("no", &rest) > rest.from)
			return true;
	}
	return false;
}

/* Whether a sentence refuses without a condition: "only if you never sell it". */
static bool
is_refusal(const struct phrases_span *span)
{
	struct phrases_span sentence = *span;

	for (; sentence.from < span->to; sentence.from = sentence.to + 1) {
		sentence.to = span->to;
		sentence.to = find_mark(&sentence, ".?");
		/* "Maybe. Can I stop at any time?" */
		if (phrases_has("doubt", &sentence) && !has_refusal(&sentence))
			return false;
		if (has_refusal(&sentence) &&
		    !is_conditional(&sentence, sentence.from, "no"))
			return true;
	}
	return false;
}

/*
 * "yes?" and "yes or no" are not consent, "why not?" is.
 *
 * @return the end of the consent, or the start of the span
 */
static unsigned
skip_consent(const struct phrases_span *span)
{
	unsigned agreement = phrases_skip_any("yes-anyway", span);
	unsigned end = MAX(phrases_skip_any("yes", span), agreement);

	if (phrases_skip_any("not-no", span) > end)
		return span->from;
	if (agreement > span->from || end == span->from ||
	    get_mark(span, find_mark(span, ",.?()")) != '?')
		return end;
	return phrases_has("yes-anyway", span) ? end : span->from;
}

/* @return the first "but", or the end; after: set to the word after it */
static unsigned
find_contrast(const struct phrases_span *span, unsigned *after)
{
	struct phrases_span rest = {span->text, skip_consent(span), span->to};

	while (rest.from < rest.to &&
	       (*after = phrases_skip_any("contrast", &rest)) == rest.from)
		rest.from++;
	return rest.from;
}

/* "Yes, but the other one instead", "Yes, but filter 2": a wish that is not understood.
 */
static bool
is_corrected(const struct phrases_span *line)
{
	unsigned after = line->to, at = find_contrast(line, &after);
	g_autofree char *wish = phrases_copy(line->text, after, line->to);
	pb_auto(prose_item) item = at < line->to ? prose_read_line(wish) : NULL;
	const struct phrases_span rest = {line->text, skip_consent(line), line->to};

	return (at < line->to && !item) || phrases_has("correction", &rest);
}

/*
 * Whether a condition or refusal follows a consent.  A question after it has neither:
 * "Yes. Can I change topics if I want?"
 */
static bool
is_limited(const struct phrases_span *consent)
{
	struct phrases_span part = *consent;

	for (; part.from < consent->to; part.from = part.to + 1) {
		bool is_first = part.from == consent->from;

		part.to = consent->to;
		part.to = find_mark(&part, ".?");
		if ((is_first || get_mark(consent, part.to) != '?') &&
		    (has_refusal(&part) || (is_first && is_corrected(&part)) ||
		        (is_first ? is_conditional(&part, skip_consent(&part), "yes")
		                  : phrases_has("doubt", &part))))
			return true;
	}
	return false;
}

/* Whether it consists of consent and courtesy. */
static bool
is_only_consent(struct phrases_text *text)
{
	struct phrases_span rest = make_span(text);

	if (skip_consent(&rest) == rest.from)
		return false;
	while ((rest.from = skip_marks(&rest)) < rest.to) {
		unsigned end =
		    MAX(skip_consent(&rest), phrases_skip_any("courtesy", &rest));

		if (end == rest.from)
			return false;
		rest.from = end;
	}
	return true;
}

/* ---- lines ---- */

static void
skip_greetings(struct phrases_span *span)
{
	while ((span->from = skip_marks(span)) < span->to) {
		struct phrases_span rest = *span, clause = *span;

		rest.from = MAX(phrases_skip_any("salutation", span),
		    phrases_skip_any("opening", span));
		clause.to = find_mark(span, ",.?()");
		/* "hi yes": the greeting is not a separate clause. */
		if (rest.from > span->from && rest.from < rest.to &&
		    skip_consent(&rest) > rest.from) {
			*span = rest;
			return;
		}
		if ((rest.from == span->from && !phrases_has("honorific", &clause)) ||
		    phrases_get_word(span->text, clause.to - 1)->end -
		            phrases_get_word(span->text, span->from)->start >
		        GREETING_BYTES)
			return;
		span->from = clause.to;
	}
}

/* "Paperboy team," above the text. */
static bool
is_salutation(const char *raw, const struct phrases_span *span)
{
	return (g_str_has_suffix(raw, ",") || g_str_has_suffix(raw, "\uff0c")) &&
	       find_mark(span, ",.?()") - span->from <= SALUTATION_WORDS &&
	       skip_consent(span) == span->from;
}

static bool
is_confirm_line(struct phrases_text *text, const char *token)
{
	g_autofree char *low = g_ascii_strdown(token, -1);
	GPtrArray *words = g_ptr_array_new();
	bool is_found;

	for (guint i = 0; i < text->words->len; i++)
		if (!phrases_get_word(text, i)->mark)
			g_ptr_array_add(words, phrases_get_word(text, i)->plain);
	is_found = words->len == 2 && strcmp(words->pdata[0], "confirm") == 0 &&
	           strcmp(words->pdata[1], low) == 0;
	g_ptr_array_unref(words);
	return is_found;
}

/* ---- the text ---- */

/* Findings in the lines that are not quoted. */
struct reading {
	bool has_text;
	bool is_automatic;
	bool is_refusal;
	bool is_consent;
	bool is_conditional; /* or refused in a later part: "Yes please, I have no ..."
	                      */
	bool has_token;
};

/* A question, and a consent or a condition after it. */
static bool
is_answered_question(const struct phrases_span *span)
{
	struct phrases_span rest = *span;

	rest.from = find_mark(span, "?");
	return phrases_has("yes", &rest) || phrases_has("doubt", &rest);
}

/* @return whether it is the deciding line: neither greeting nor empty */
static bool
read_line(const char *raw, struct phrases_text *text, struct reading *reading)
{
	struct phrases_span line = make_span(text), first;

	if (skip_marks(&line) == line.to)
		return false;
	reading->is_automatic = phrases_has("automatic", &line);
	first = line;
	skip_greetings(&line);
	if (line.from < line.to && skip_consent(&line) > line.from) {
		first.to = MIN(
		    find_mark(&line, ",.?()"), find_contrast(&line, &(unsigned){0}));
		reading->is_consent = true;
		reading->is_conditional = is_limited(&line);
	}
	/* "What does it cost? If nothing, yes." */
	if (is_answered_question(&first))
		reading->is_conditional = true;
	else
		reading->is_refusal = reading->is_refusal || is_refusal(&first);
	return reading->is_automatic ||
	       (line.from < line.to && !is_salutation(raw, &line));
}

static void
read_text(const char *text, const char *token, struct reading *reading)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	bool is_found = false;

	for (char **at = lines; *at; at++) {
		char *raw = g_strstrip(*at);
		pb_auto(phrases_text) line = NULL;

		if (!*raw || *raw == '>')
			continue;
		line = phrases_text_new(raw);
		reading->has_text = true;
		is_found = is_found || read_line(raw, line, reading);
		reading->has_token = reading->has_token || is_confirm_line(line, token);
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

/* The subject without that of the request. @return NULL if it is another one */
static char *
remove_ours(const char *subject, const struct consent_question *question)
{
	g_autofree char *all = g_utf8_casefold(subject, -1);
	g_auto(GStrv) words = g_strsplit_set(all, " \t", -1);
	g_autoptr(GString) whole = g_string_new(NULL);

	for (char **word = words; *word; word++)
		if (**word)
			g_string_append_printf(
			    whole, "%s%s", whole->len ? " " : "", *word);
	for (size_t i = 0; question->subjects[i]; i++) {
		g_autofree char *ours = g_utf8_casefold(question->subjects[i], -1);
		const char *at = strstr(whole->str, ours);

		if (at)
			return g_strdup_printf("%.*s %s", (int)(at - whole->str),
			    whole->str, at + strlen(ours));
	}
	return NULL;
}

static enum subject
read_subject(const char *raw, const struct consent_question *question)
{
	g_autofree char *whole = remove_ours(raw, question);
	g_autofree char *rest = remove_ours(command_text_skip_prefixes(raw), question);
	bool is_ours = whole && rest;

	if (has_ticket_number(raw) || prose_has("automatic", is_ours ? whole : raw) ||
	    (is_ours && rest[strcspn(rest, "0123456789")]))
		return SUBJECT_AUTOMATIC;
	return is_ours ? SUBJECT_OURS : SUBJECT_OTHER;
}

enum consent
confirm_match(const struct inmail *mail, const struct consent_question *question)
{
	enum subject kind = read_subject(mail->subject, question);
	struct reading reading = {0};
	pb_auto(phrases_text) subject =
	    phrases_text_new(command_text_skip_prefixes(mail->subject));
	const struct phrases_span span = make_span(subject);

	read_text(mail->text ? mail->text : "", question->token, &reading);
	if (kind == SUBJECT_AUTOMATIC || reading.is_automatic)
		return CONSENT_AUTOMATIC;
	if (reading.is_refusal || (kind == SUBJECT_OTHER && is_refusal(&span)))
		return CONSENT_NO;
	if (reading.is_conditional)
		return CONSENT_UNCLEAR;
	if (reading.is_consent || reading.has_token)
		return CONSENT_YES;
	if (kind == SUBJECT_OTHER &&
	    (is_only_consent(subject) || is_confirm_line(subject, question->token)))
		return CONSENT_YES;
	if (kind == SUBJECT_OURS && !reading.has_text &&
	    (g_ptr_array_find_with_equal_func(
	         mail->in_reply_to, question->message_id, g_str_equal, NULL) ||
	        g_ptr_array_find_with_equal_func(
	            mail->references, question->message_id, g_str_equal, NULL)))
		return CONSENT_YES;
	return CONSENT_UNCLEAR;
}
