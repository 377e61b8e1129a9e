/*
 * prose.c - what a mail in ordinary words asks for.
 */
#include "message/prose.h"

#include <string.h>

#include "base/bounds.h"
#include "message/sanitize.h"

/* A topic has at most so many words; a Chinese or Japanese character is a quarter. */
#define TOPIC_WORDS     6
#define WORD_WEIGHT     4
#define TOPIC_WEIGHT    (TOPIC_WORDS * WORD_WEIGHT)
#define TOPIC_CHARS     80
#define AUTHOR_WORDS    4
#define TITLE_WORDS     12
#define PLACE_WORDS     3
#define GREETED_WORDS   5
#define NAME_WORDS      3
/* A line of at least that length may go on in the next one. */
#define WRAPPED_CHARS   45
/* Words that a wish names beside a telephone number, to be one. */
#define CONTACT_LITERAL 3
/* Parts of a sentence that are tried as wishes of their own. */
#define CUTS_MAX        14

/* ---- topics ---- */

static bool
is_unspaced(const struct phrases_word *word)
{
	gunichar c = g_utf8_get_char(word->start);

	return c >= 0x2E80 && !g_unichar_islower(c) && !g_unichar_isupper(c) &&
	       g_utf8_next_char(word->start) == word->end;
}

static struct phrases_span
make_span(const struct phrases_text *text, unsigned from, unsigned to)
{
	return (struct phrases_span){.text = text, .from = from, .to = to};
}

/* Skip words such as "papers on the" before a topic, and "etc" after it. */
static void
trim_topic(const struct phrases_language *language, struct phrases_span *span)
{
	struct phrases_match match;
	bool is_done = false;

	while (span->from < span->to && phrases_start(language, "lead", span, &match))
		span->from = match.to;
	while (!is_done && span->from < span->to) {
		is_done = true;
		for (unsigned at = span->from; at < span->to && is_done; at++) {
			const struct phrases_span rest =
			    make_span(span->text, at, span->to);

			if (phrases_start(language, "trail", &rest, &match) &&
			    match.to == span->to) {
				span->to = at;
				is_done = false;
			}
		}
	}
}

/* Whether words may be one topic. */
static bool
is_topic(const struct phrases_language *language, const struct phrases_span *span)
{
	unsigned weight = 0, at, depth = 0;
	bool is_new = false; /* not only words of requests */
	struct phrases_span outside = *span;
	struct phrases_match match;
	bool has_letter = false;

	for (at = span->from; at < span->to; at++) {
		const struct phrases_word *word = phrases_get_word(span->text, at);

		depth += word->mark == '(';
		depth -= word->mark == ')';
		if (word->mark == '.' || word->mark == '?')
			return false;
		if (word->mark || depth)
			continue;
		weight += is_unspaced(word) ? 1 : WORD_WEIGHT;
		is_new =
		    is_new || is_unspaced(word) ||
		    (!phrases_knows(language, word) && !g_ascii_isdigit(*word->plain));
		has_letter = has_letter ||
		             strcspn(word->plain, "0123456789") == strlen(word->plain);
		if (strchr(word->plain, '@'))
			return false;
	}
	for (at = span->from; at < span->to; at++)
		if (phrases_get_word(span->text, at)->mark == '(')
			break;
	outside.to = at;
	return has_letter && is_new && weight <= TOPIC_WEIGHT &&
	       phrases_get_word(span->text, span->to - 1)->end -
	               phrases_get_word(span->text, span->from)->start <=
	           TOPIC_CHARS &&
	       !phrases_find_any("never", &outside) &&
	       !phrases_start(language, "not-first", span, &match) &&
	       !phrases_is_filler(language, span);
}

/* @return the end of the connective that starts there, or at */
static unsigned
skip_connective(const struct phrases_language *language,
    const struct phrases_span *span, unsigned at)
{
	const struct phrases_span rest = make_span(span->text, at, span->to);
	struct phrases_match match;

	if (phrases_get_word(span->text, at)->mark == ',')
		return at + 1;
	return phrases_start(language, "connective", &rest, &match) ? match.to : at;
}

/*
 * Split words at commas and connectives into topics.
 *
 * @param topics  of char *; or NULL
 * @return false if a part is not a topic
 */
static bool
split_topics(const struct phrases_language *language, const struct phrases_span *span,
    GPtrArray *topics)
{
	unsigned start = span->from, at = span->from, count = 0, depth = 0;

	while (at <= span->to) {
		unsigned after = at;
		struct phrases_span part = make_span(span->text, start, at);

		if (at < span->to) {
			char mark = phrases_get_word(span->text, at)->mark;

			depth += mark == '(';
			depth -= mark == ')';
			after = depth ? at : skip_connective(language, span, at);
			if (after == at) {
				at++;
				continue;
			}
		}
		/* "and the rest" */
		if (part.from < part.to) {
			trim_topic(language, &part);
			if (part.from == part.to)
				return false;
			if (!is_topic(language, &part))
				return false;
			count++;
			if (topics)
				g_ptr_array_add(topics,
				    phrases_copy(part.text, part.from, part.to));
		}
		start = at = MAX(after, at + 1);
	}
	return count > 0;
}

static bool
is_author(const struct phrases_text *text, unsigned from, unsigned to)
{
	unsigned words = 0;

	for (unsigned at = from; at < to; at++) {
		const struct phrases_word *word = phrases_get_word(text, at);

		if (word->mark == '.')
			continue;
		if (word->mark || !g_unichar_isupper(g_utf8_get_char(word->start)))
			return false;
		words++;
	}
	return words > 1 && words <= AUTHOR_WORDS;
}

static bool
check_slot(const struct phrases_language *language, const struct phrases_text *text,
    unsigned from, unsigned to, const char *slot, void *data)
{
	const struct phrases_span span = make_span(text, from, to);

	(void)data;
	if (phrases_get_word(text, from)->mark == ',')
		return false;
	if (strcmp(slot, "topics") == 0)
		return phrases_get_word(text, to - 1)->mark != ',' &&
		       split_topics(language, &span, NULL);
	if (strcmp(slot, "author") == 0)
		return is_author(text, from, to);
	if (strcmp(slot, "title") != 0 && phrases_find_any("never", &span))
		return false;
	return to - from <= (strcmp(slot, "place") == 0 ? PLACE_WORDS : TITLE_WORDS) &&
	       !phrases_is_filler(language, &span) &&
	       !g_ascii_isdigit(*phrases_get_word(text, from)->start);
}

/* ---- wishes ---- */

void
prose_item_free(struct prose_item *item)
{
	if (!item)
		return;
	g_free(item->line);
	g_ptr_array_unref(item->names);
	g_ptr_array_unref(item->values);
	g_free(item);
}

static struct prose_item *
item_new(enum prose_kind kind, const char *line)
{
	struct prose_item *item = g_new0(struct prose_item, 1);

	item->kind = kind;
	item->line = g_strdup(line);
	item->names = g_ptr_array_new();
	item->values = g_ptr_array_new_with_free_func(g_free);
	return item;
}

static void
add_value(struct prose_item *item, const char *name, char *value)
{
	g_ptr_array_add(item->names, (gpointer)name);
	g_ptr_array_add(item->values, value);
}

const char *
prose_get(const struct prose_item *item, const char *name, unsigned n)
{
	for (guint i = 0; i < item->names->len; i++)
		if (strcmp(item->names->pdata[i], name) == 0 && n-- == 0)
			return item->values->pdata[i];
	return NULL;
}

/* "l'apprentissage": without the article, if it is one of those before topics */
static char *
skip_elision(const struct phrases_language *language, char *topic)
{
	size_t size = strcspn(topic, "'");
	const char *curly = strstr(topic, "\342\200\231");
	g_autofree char *article = NULL;
	pb_auto(phrases_text) text = NULL;
	struct phrases_span span = {0};
	struct phrases_match match;

	if (curly && (size_t)(curly - topic) < size)
		size = (size_t)(curly - topic);
	if (!topic[size])
		return topic;
	article = g_strndup(topic, size);
	text = phrases_text_new(article);
	span = make_span(text, 0, text->words->len);
	if (phrases_start(language, "lead", &span, &match) && match.to == span.to)
		memmove(topic, g_utf8_next_char(topic + size),
		    strlen(g_utf8_next_char(topic + size)) + 1);
	return topic;
}

static void
add_topics(struct prose_item *item, const struct phrases_language *language,
    const struct phrases_span *span)
{
	g_autoptr(GPtrArray) topics = g_ptr_array_new();

	split_topics(language, span, topics);
	for (guint i = 0; i < topics->len; i++)
		add_value(item, "topics", skip_elision(language, topics->pdata[i]));
}

/* Values of a match, those of slots as they were written. */
static void
add_values(struct prose_item *item, const struct phrases_language *language,
    const struct phrases_text *text, const struct phrases_match *match)
{
	for (unsigned i = 0; i < match->count; i++) {
		const struct phrases_value *value = &match->values[i];
		const struct phrases_span span =
		    make_span(text, value->from, value->to);

		if (value->value)
			add_value(item, value->name, g_strdup(value->value));
		else if (strcmp(value->name, "topics") == 0)
			add_topics(item, language, &span);
		else
			add_value(item, value->name,
			    phrases_copy(text, value->from, value->to));
	}
}

/* The best intent for words. @return its name, or NULL */
static const char *
find_intent(const struct phrases_language *language, const struct phrases_span *span,
    struct phrases_match *match)
{
	const GPtrArray *intents = phrases_get_intents(language);
	const char *found = NULL;
	struct phrases_match one;

	for (guint i = 0; i < intents->len; i++) {
		if (!phrases_cover(language, intents->pdata[i], span, &one) ||
		    (found && one.literal <= match->literal))
			continue;
		*match = one;
		found = intents->pdata[i];
	}
	return found;
}

/* ---- sentences ---- */

/* How the words from..to of a sentence were read. */
struct part {
	unsigned start; /* with a connective before from */
	unsigned from, to;
	const char *intent; /* NULL: fillers, or not read */
	struct phrases_match match;
	unsigned unread; /* words */
};

/* The best way to read a sentence, in one language. */
struct parse {
	const struct phrases_language *language;
	GArray *parts; /* struct part */
	unsigned unread, wishes, literal;
};

static void
parse_clear(struct parse *parse)
{
	g_clear_pointer(&parse->parts, g_array_unref);
}

static unsigned
count_words(const struct phrases_span *span)
{
	unsigned count = 0;

	for (unsigned at = span->from; at < span->to; at++)
		count += !phrases_get_word(span->text, at)->mark;
	return count;
}

static void
read_part(const struct phrases_language *language, const struct phrases_span *span,
    struct part *part)
{
	*part = (struct part){.from = span->from, .to = span->to};
	part->intent = find_intent(language, span, &part->match);
	if (!part->intent && !phrases_is_filler(language, span) &&
	    !phrases_cover(language, "salutation", span, &part->match) &&
	    !phrases_cover(language, "closing", span, &part->match))
		part->unread = count_words(span);
}

/* Places where a sentence may be divided. */
static unsigned
find_cuts(const struct phrases_language *language, const struct phrases_span *span,
    unsigned cuts[CUTS_MAX])
{
	unsigned count = 1;

	cuts[0] = span->from;
	for (unsigned at = span->from + 1; at < span->to && count < CUTS_MAX - 1;
	     at++) {
		const struct phrases_span rest = make_span(span->text, at, span->to);
		struct phrases_match match;

		if (phrases_get_word(span->text, at)->mark == ',' ||
		    phrases_start(language, "connective", &rest, &match) ||
		    phrases_start(language, "clause", &rest, &match))
			cuts[count++] = at;
	}
	cuts[count++] = span->to;
	return count;
}

/* Connectives at the start of a part are not read. */
static struct phrases_span
make_part(const struct phrases_language *language, const struct phrases_span *span,
    unsigned from, unsigned to)
{
	struct phrases_span part = *span;
	unsigned after;

	part.from = from;
	part.to = to;
	while (part.from < to) {
		struct phrases_match match;

		after = skip_connective(language, &part, part.from);
		if (after == part.from &&
		    phrases_start(language, "clause", &part, &match))
			after = match.to;
		if (after == part.from)
			break;
		part.from = after;
	}
	return part;
}

/*
 * Divide a sentence so that the fewest words are not read, then into the fewest parts.
 * best[i] is the best way to read the words up to cuts[i].
 */
static void
parse_sentence(const struct phrases_language *language, const struct phrases_span *span,
    struct parse *parse)
{
	unsigned cuts[CUTS_MAX], count = find_cuts(language, span, cuts);
	struct {
		unsigned cost, before;
		struct part part;
	} best[CUTS_MAX] = {{0}};

	for (unsigned to = 1; to < count; to++) {
		best[to].cost = G_MAXUINT;
		for (unsigned from = 0; from < to; from++) {
			struct phrases_span words =
			    make_part(language, span, cuts[from], cuts[to]);
			struct part part = {.from = words.from, .to = words.to};
			unsigned cost;

			if (words.from < words.to)
				read_part(language, &words, &part);
			/* Words that are not read are of one part only. */
			if (part.unread && from + 1 < to)
				continue;
			cost = best[from].cost + part.unread * CUTS_MAX + 1;
			if (cost >= best[to].cost)
				continue;
			best[to].cost = cost;
			best[to].before = from;
			best[to].part = part;
			best[to].part.start =
			    cuts[from] +
			    (phrases_get_word(span->text, cuts[from])->mark == ',');
		}
	}
	*parse = (struct parse){.language = language,
	    .parts = g_array_new(FALSE, FALSE, sizeof(struct part))};
	for (unsigned at = count - 1; at; at = best[at].before) {
		const struct part *part = &best[at].part;

		g_array_prepend_val(parse->parts, *part);
		parse->unread += part->unread;
		parse->wishes += part->intent != NULL;
		parse->literal += part->match.literal;
	}
}

static bool
is_better(const struct parse *one, const struct parse *other)
{
	if (one->unread != other->unread)
		return one->unread < other->unread;
	return one->literal > other->literal;
}

/* Read a sentence in each language. @param first  is tried first; or NULL */
static void
parse_best(const char *first, const struct phrases_span *span, struct parse *best)
{
	const GPtrArray *languages = phrases_get_languages();

	*best = (struct parse){0};
	for (guint i = 0; i < languages->len; i++) {
		struct parse one;

		parse_sentence(languages->pdata[i], span, &one);
		if (!best->parts || is_better(&one, best) ||
		    (!is_better(best, &one) && first &&
		        strcmp(first, phrases_get_code(one.language)) == 0)) {
			parse_clear(best);
			*best = one;
		} else {
			parse_clear(&one);
		}
	}
}

/* Whether words are wishes, and nothing else. */
static bool
has_intent(const struct phrases_span *words)
{
	struct phrases_span span = *words;
	struct parse parse;
	bool is_intent;

	span.check = check_slot;
	parse_best(NULL, &span, &parse);
	is_intent = parse.wishes && !parse.unread;
	parse_clear(&parse);
	return is_intent;
}

struct prose_item *
prose_read_line(const char *line)
{
	pb_auto(phrases_text) text = phrases_text_new(line);
	struct phrases_span span = make_span(text, 0, text->words->len);
	struct prose_item *item = NULL;
	struct parse parse;

	span.check = check_slot;
	parse_best(NULL, &span, &parse);
	for (guint i = 0; !parse.unread && parse.wishes == 1 && i < parse.parts->len;
	     i++) {
		const struct part *part = &g_array_index(parse.parts, struct part, i);

		if (!part->intent)
			continue;
		item = item_new(PROSE_WISH, line);
		item->intent = part->intent + strlen("intent ");
		add_values(item, parse.language, text, &part->match);
	}
	parse_clear(&parse);
	return item;
}

struct prose_item *
prose_read_set(const char *set, const char *line)
{
	pb_auto(phrases_text) text = phrases_text_new(line);
	const struct phrases_span span = make_span(text, 0, text->words->len);
	const GPtrArray *languages = phrases_get_languages();

	for (guint i = 0; i < languages->len; i++) {
		struct phrases_match match;
		struct prose_item *item;

		if (!phrases_cover(languages->pdata[i], set, &span, &match))
			continue;
		item = item_new(PROSE_WISH, line);
		add_values(item, languages->pdata[i], text, &match);
		return item;
	}
	return NULL;
}

bool
prose_has(const char *set, const char *line)
{
	pb_auto(phrases_text) text = phrases_text_new(line);
	const struct phrases_span span = make_span(text, 0, text->words->len);

	return phrases_find_any(set, &span);
}

int
prose_guess(const char *line, const char *const *intents, int from)
{
	pb_auto(phrases_text) text = phrases_text_new(line);
	struct phrases_span span = make_span(text, 0, text->words->len);

	span.check = check_slot;
	for (int i = from + 1; intents[i]; i++) {
		g_autofree char *set = g_strconcat("intent ", intents[i], NULL);

		if (phrases_find_any(set, &span))
			return i;
	}
	return -1;
}

/* ---- lines ---- */

enum line_kind {
	LINE_BLANK,
	LINE_COMMAND,
	LINE_TEXT,
	LINE_END, /* what follows is not read */
};

/* Lines that were joined. */
struct unit {
	char *text;
	bool is_command;
	bool is_item; /* of a list with bullets */
	bool is_subject;
	unsigned paragraph;
};

struct reading {
	const struct prose_mail *mail;
	struct prose *prose;
	GPtrArray *units;      /* struct unit * */
	GArray *paragraphs;    /* bool: whether it has a telephone number or the like */
	GHashTable *languages; /* code to number of sentences */
	bool has_closed;       /* after a closing formula */
	bool is_disclaimer;
	bool is_open;     /* topics may follow on lines of their own */
	bool has_topics;  /* in a sentence */
	bool has_thanked; /* by the sentence before */
	bool has_read;    /* a sentence or command of the text */
};

static void
unit_free(struct unit *unit)
{
	g_free(unit->text);
	g_free(unit);
}

/* "-- ", "----", "____" */
static bool
is_divider(const char *line)
{
	size_t size = strlen(line);

	return size >= 2 && strspn(line, "-_=*~") == size;
}

/* A telephone number, a link, an address, or a label before one. */
static bool
is_contact(const char *line)
{
	static const char pattern[] =
	    "(?:\\+|\\(0|\\b0)[\\d ()/.-]{7,}\\d|\\(\\d{3}\\) "
	    "?\\d{3}|https?://|www\\.|\\S@\\S+\\.\\w";

	return g_regex_match_simple(pattern, line, 0, 0);
}

/* "- diffusion", "2. agents" @return the text after it */
static const char *
skip_bullet(const char *line)
{
	g_autoptr(GRegex) mark = g_regex_new(
	    "^(?:[-*+\\x{2022}\\x{b7}\\x{2013}>]|\\d{1,2}[.)]|[a-z]\\))\\s+", 0, 0,
	    NULL);
	g_autoptr(GMatchInfo) match = NULL;
	int end = 0;

	if (g_regex_match(mark, line, 0, &match))
		g_match_info_fetch_pos(match, 0, NULL, &end);
	return line + end;
}

/* Whether the line before goes on in this one. */
static bool
goes_on(const struct unit *before, const char *line)
{
	return before && !before->is_command && !before->is_subject &&
	       g_utf8_strlen(before->text, -1) >= WRAPPED_CHARS &&
	       !strchr(".!?:", before->text[strlen(before->text) - 1]) &&
	       skip_bullet(line) == line;
}

static void
add_unit(struct reading *reading, const char *line, bool is_command, unsigned paragraph)
{
	struct unit *unit = g_new0(struct unit, 1);
	const char *text = is_command ? line : skip_bullet(line);

	unit->text = g_strdup(text);
	unit->is_command = is_command;
	unit->is_item = text != line;
	unit->paragraph = paragraph;
	g_ptr_array_add(reading->units, unit);
}

static struct unit *
get_last_unit(const struct reading *reading, unsigned paragraph)
{
	struct unit *last =
	    reading->units->len ? reading->units->pdata[reading->units->len - 1] : NULL;

	return last && last->paragraph == paragraph ? last : NULL;
}

static void
join_units(struct unit *unit, const char *line)
{
	char *whole = g_strconcat(unit->text, " ", line, NULL);

	g_free(unit->text);
	unit->text = whole;
}

static bool
is_end(const char *line)
{
	return g_regex_match_simple("^(?:end|quit)\\.?$", line, G_REGEX_CASELESS, 0);
}

static void
add_item(struct reading *reading, struct prose_item *item, const struct unit *unit)
{
	item->is_in_subject = unit && unit->is_subject;
	g_ptr_array_add(reading->prose->items, item);
}

static void
cut(struct reading *reading, const char *line, const char *reason,
    const struct unit *unit)
{
	struct prose_item *item = item_new(PROSE_CUT, line);

	item->reason = reason;
	add_item(reading, item, unit);
}

/* Split the text into units and paragraphs; lines after the end are cut. */
static void
find_units(struct reading *reading, const char *text)
{
	const struct prose_mail *mail = reading->mail;
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	unsigned paragraph = 1;
	bool has_ended = false, goes_on_below = false;

	for (char **at = lines; *at; at++) {
		bool is_indented = g_ascii_isspace(**at), is_command;
		g_autofree char *line = sanitize_line(*at, 0);
		struct unit *last = get_last_unit(reading, paragraph);
		bool was_going_on = goes_on_below;

		if (!*line) {
			paragraph++;
			continue;
		}
		g_array_set_size(reading->paragraphs, paragraph + 1);
		has_ended = has_ended || is_divider(line) || is_end(line);
		if (has_ended || *line == '>') {
			cut(reading, line, has_ended ? "signature" : "quote", NULL);
			continue;
		}
		goes_on_below = g_str_has_suffix(line, "\\");
		if (goes_on_below)
			line[strlen(line) - 1] = '\0';
		if (last && last->is_command && (is_indented || was_going_on)) {
			join_units(last, g_strchomp(line));
			continue;
		}
		is_command =
		    mail->is_command && mail->is_command(g_strchomp(line), mail->data);
		/* "-- Jay", "~max" */
		if (strchr("-~_", *line) && skip_bullet(line) == line) {
			cut(reading, line, "signature", NULL);
			continue;
		}
		if (!is_command && is_contact(line))
			g_array_index(reading->paragraphs, bool, paragraph) = true;
		if (!is_command && goes_on(last, line))
			join_units(last, line);
		else
			add_unit(reading, line, is_command, paragraph);
	}
}

/* ---- what is cut ---- */

/* Find a set of any language at the start of a text. @return the end, or from */
static unsigned
skip_set(const char *set, const struct phrases_span *span)
{
	const GPtrArray *languages = phrases_get_languages();
	unsigned end = span->from;

	for (guint i = 0; i < languages->len; i++) {
		struct phrases_match match;

		if (phrases_start(languages->pdata[i], set, span, &match))
			end = MAX(end, match.to);
	}
	return end;
}

static bool
is_name_word(const struct reading *reading, const struct phrases_word *word)
{
	for (const char *const *name = reading->mail->names; name && *name; name++) {
		pb_auto(phrases_text) text = phrases_text_new(*name);

		for (guint i = 0; i < text->words->len; i++)
			if (g_strcmp0(phrases_get_word(text, i)->plain, word->plain) ==
			    0)
				return true;
	}
	return false;
}

/* The sender's name, with initials: "A. Reader". */
static bool
is_own_name(const struct reading *reading, const struct phrases_text *text)
{
	unsigned named = 0;

	for (guint i = 0; i < text->words->len; i++) {
		const struct phrases_word *word = phrases_get_word(text, i);

		if (word->mark)
			continue;
		if (is_name_word(reading, word))
			named++;
		else if (g_utf8_strlen(word->plain, -1) > 1)
			return false;
	}
	return named > 0;
}

static bool
is_capitalised(const struct phrases_word *word)
{
	return word->mark || g_unichar_isupper(g_utf8_get_char(word->start)) ||
	       is_unspaced(word);
}

/* "Kind regards", "Danke und Gruß, Holger": a formula, and perhaps a name. */
static bool
is_closing(const struct phrases_text *text)
{
	const struct phrases_span span = make_span(text, 0, text->words->len);
	unsigned at = skip_set("closing", &span), words = 0;

	if (!at)
		return false;
	for (; at < span.to; at++) {
		struct phrases_span rest = make_span(text, at, span.to);
		unsigned next = skip_set("closing", &rest);

		if (next > at) {
			at = next - 1;
			continue;
		}
		if (!is_capitalised(phrases_get_word(text, at)))
			return false;
		words += !phrases_get_word(text, at)->mark;
	}
	return words <= NAME_WORDS;
}

/* A last paragraph of one capitalised word is a name. */
static bool
is_last_word(const struct reading *reading, const struct unit *unit,
    const struct phrases_text *text)
{
	const struct unit *last = reading->units->pdata[reading->units->len - 1];
	const struct unit *first = reading->units->pdata[0];

	return unit == last && unit->paragraph > first->paragraph &&
	       (reading->units->len < 2 ||
	           ((struct unit *)reading->units->pdata[reading->units->len - 2])
	                   ->paragraph < unit->paragraph) &&
	       text->words->len >= 1 && text->words->len <= 2 &&
	       is_capitalised(phrases_get_word(text, 0)) &&
	       (text->words->len == 1 || phrases_get_word(text, 1)->mark);
}

/* Skip "Dear Sir," at the start. @return the first word after it */
static unsigned
skip_salutation(const struct phrases_text *text)
{
	struct phrases_span span = make_span(text, 0, text->words->len);
	unsigned end = skip_set("salutation", &span), at;

	if (!end)
		return 0;
	for (at = end; at < span.to && at <= end + GREETED_WORDS; at++)
		if (phrases_get_word(text, at)->mark &&
		    phrases_get_word(text, at)->mark != '(')
			break;
	/* "Hello paperboy" on a line of its own, "Hi all, ..."; but "hi subscribe" */
	span.from = end;
	span.to = at;
	if (at <= end + GREETED_WORDS && !has_intent(&span))
		return MIN(at + 1, text->words->len);
	return end;
}

bool
prose_is_greeting(const char *line)
{
	pb_auto(phrases_text) text = phrases_text_new(line);
	struct phrases_span span = make_span(text, 0, text->words->len);
	const GPtrArray *languages = phrases_get_languages();

	span.from = skip_salutation(text);
	if (!span.from)
		return false;
	for (guint i = 0; i < languages->len; i++)
		if (phrases_is_filler(languages->pdata[i], &span))
			return true;
	return false;
}

/* ---- reading ---- */

/* Topics may follow it, each on a line. */
static bool
is_open_wish(const char *intent)
{
	return strcmp(intent, "subscribe") == 0 || strcmp(intent, "add") == 0;
}

static void
add_wish(struct reading *reading, const struct parse *parse, const struct part *part,
    const struct phrases_text *text, const struct unit *unit)
{
	g_autofree char *line = phrases_copy(text, part->start, part->to);
	struct prose_item *item = item_new(PROSE_WISH, line);

	item->intent = part->intent + strlen("intent ");
	add_values(item, parse->language, text, &part->match);
	if (prose_get(item, "topics", 0))
		reading->has_topics = true;
	else if (is_open_wish(item->intent) &&
	         (unit->is_subject || !reading->has_topics))
		reading->is_open = true;
	add_item(reading, item, unit);
}

static void
add_unread(struct reading *reading, const struct phrases_text *text, unsigned from,
    unsigned to, bool is_whole, const struct unit *unit)
{
	g_autofree char *line = phrases_copy(text, from, to);
	struct prose_item *item = item_new(PROSE_UNREAD, line);

	item->is_whole = is_whole;
	add_item(reading, item, unit);
}

static void
count_language(struct reading *reading, const struct phrases_language *language)
{
	const char *code = phrases_get_code(language);
	guint count =
	    GPOINTER_TO_UINT(g_hash_table_lookup(reading->languages, code)) + 1;

	g_hash_table_insert(
	    reading->languages, (gpointer)code, GUINT_TO_POINTER(count));
	if (!reading->prose->language ||
	    count > GPOINTER_TO_UINT(g_hash_table_lookup(
	                reading->languages, reading->prose->language)))
		reading->prose->language = code;
}

/* The words of a sentence that were not read, as one item. */
static void
add_parts(struct reading *reading, const struct parse *parse,
    const struct phrases_span *span, const struct unit *unit)
{
	bool is_doubt = phrases_find_any("doubt", span);

	if (is_doubt && parse->unread) {
		g_autofree char *line = phrases_copy(span->text, span->from, span->to);

		add_item(reading, item_new(PROSE_DOUBT, line), unit);
		return;
	}
	for (guint i = 0; i < parse->parts->len; i++) {
		const struct part *part = &g_array_index(parse->parts, struct part, i);

		if (part->intent)
			add_wish(reading, parse, part, span->text, unit);
		else if (parse->unread && !parse->wishes)
			break;
		else if (part->unread)
			add_unread(
			    reading, span->text, part->start, part->to, false, unit);
		else {
			g_autofree char *line =
			    phrases_copy(span->text, part->start, part->to);

			cut(reading, line, "filler", unit);
		}
	}
	if (parse->unread && !parse->wishes)
		add_unread(reading, span->text, span->from, span->to, true, unit);
}

/* "Danke! Fabi" */
static bool
is_name_like(const struct phrases_span *span)
{
	for (unsigned at = span->from; at < span->to; at++)
		if (!is_capitalised(phrases_get_word(span->text, at)))
			return false;
	return count_words(span) <= NAME_WORDS;
}

static bool
is_thanks(const struct parse *parse)
{
	return !parse->unread && parse->wishes == 1 &&
	       g_strcmp0(g_array_index(parse->parts, struct part, 0).intent,
	           "intent thanks") == 0;
}

static void
read_sentence(
    struct reading *reading, const struct phrases_span *span, const struct unit *unit)
{
	struct parse parse;
	bool is_contact_line =
	    g_array_index(reading->paragraphs, bool, unit->paragraph);

	parse_best(reading->prose->language, span, &parse);
	if (parse.wishes || !parse.unread)
		count_language(reading, parse.language);
	/* After the closing formula only what is certainly a wish is read. */
	if ((reading->has_closed && (!parse.wishes || parse.unread)) ||
	    (is_contact_line && (!parse.wishes || parse.literal < CONTACT_LITERAL))) {
		g_autofree char *line = phrases_copy(span->text, span->from, span->to);

		cut(reading, line, is_contact_line ? "contact" : "closing", unit);
	} else if (reading->has_thanked && !parse.wishes && is_name_like(span)) {
		g_autofree char *line = phrases_copy(span->text, span->from, span->to);

		cut(reading, line, "name", unit);
	} else {
		add_parts(reading, &parse, span, unit);
	}
	reading->has_read = reading->has_read || !unit->is_subject;
	reading->has_thanked = is_thanks(&parse);
	parse_clear(&parse);
}

static void
read_sentences(struct reading *reading, const struct phrases_text *text, unsigned from,
    const struct unit *unit)
{
	struct phrases_span span = make_span(text, from, from);

	span.check = check_slot;
	for (unsigned at = from; at < text->words->len; at++) {
		char mark = phrases_get_word(text, at)->mark;
		bool is_end = mark == '.' || mark == '?';
		const struct phrases_span word =
		    make_span(text, at - (at > span.from), at);

		if (is_end && mark == '.' && phrases_find_any("abbreviation", &word))
			continue;
		if (!is_end && at + 1 < text->words->len)
			continue;
		span.to = at + 1;
		if (count_words(&span))
			read_sentence(reading, &span, unit);
		span.from = at + 1;
	}
}

static void
read_unit(struct reading *reading, const struct unit *unit)
{
	pb_auto(phrases_text) text = phrases_text_new(unit->text);
	const struct phrases_span span = make_span(text, 0, text->words->len);
	unsigned from;

	phrases_correct(text);
	reading->is_disclaimer =
	    reading->is_disclaimer || skip_set("disclaimer", &span) > 0;
	if (reading->is_disclaimer && !unit->is_subject) {
		cut(reading, unit->text, "disclaimer", unit);
	} else if (unit->is_command) {
		pb_auto(prose_item) wish = prose_read_line(unit->text);

		reading->is_open =
		    reading->is_open || (wish && is_open_wish(wish->intent) &&
		                            !prose_get(wish, "topics", 0));
		reading->has_read = reading->has_read || !unit->is_subject;
		add_item(reading, item_new(PROSE_COMMAND, unit->text), unit);
	} else if (!count_words(&span)) {
		cut(reading, unit->text, "filler", unit);
	} else if (!unit->is_subject && reading->has_read && is_closing(text)) {
		reading->has_closed = true;
		cut(reading, unit->text, "closing", unit);
	} else if (!unit->is_subject &&
	           (is_own_name(reading, text) || is_last_word(reading, unit, text))) {
		cut(reading, unit->text, "name", unit);
	} else {
		from = skip_salutation(text);
		if (from) {
			g_autofree char *line = phrases_copy(text, 0, from);

			cut(reading, line, "salutation", unit);
		}
		read_sentences(reading, text, from, unit);
	}
}

/* ---- lines that are topics ---- */

/* @return English if the code is NULL */
static const struct phrases_language *
find_language(const char *code)
{
	const GPtrArray *languages = phrases_get_languages();

	for (guint i = 0; i < languages->len; i++)
		if (g_strcmp0(phrases_get_code(languages->pdata[i]), code) == 0)
			return languages->pdata[i];
	return languages->pdata[0];
}

/* @param item  becomes a wish if all of it is topics */
static void
read_topics(struct reading *reading, struct prose_item *item)
{
	pb_auto(phrases_text) text = phrases_text_new(item->line);
	struct phrases_span span = make_span(text, 0, text->words->len);
	const struct phrases_language *language =
	    find_language(reading->prose->language);

	while (span.to && phrases_get_word(text, span.to - 1)->mark == '.')
		span.to--;
	if (!split_topics(language, &span, NULL))
		return;
	reading->has_topics = true;
	item->kind = PROSE_WISH;
	item->intent = "add";
	add_topics(item, language, &span);
}

/*
 * Lines are topics if the message asks for some, has none in a sentence, and no other
 * sentence that was not understood: then names and remarks are likely.
 */
static void
read_all_topics(struct reading *reading)
{
	const struct prose_mail *mail = reading->mail;
	const GPtrArray *items = reading->prose->items;
	bool can_be = reading->is_open && !reading->has_topics;

	for (guint i = 0; can_be && i < items->len; i++) {
		struct prose_item *item = items->pdata[i];

		if (item->kind == PROSE_DOUBT)
			can_be = false;
		if (item->kind != PROSE_UNREAD || item->is_in_subject)
			continue;
		if (item->is_whole &&
		    !(mail->is_slip && mail->is_slip(item->line, mail->data)))
			read_topics(reading, item);
		can_be = item->kind == PROSE_WISH || g_str_has_suffix(item->line, ":");
	}
	/* "Subject: robots, drones": a list, and the text only asks to subscribe. */
	if (reading->is_open && !reading->has_topics && items->len) {
		struct prose_item *item = items->pdata[0];

		if (item->kind == PROSE_UNREAD && item->is_in_subject &&
		    item->is_whole && strpbrk(item->line, ",;"))
			read_topics(reading, item);
	}
}

bool
prose_is_topic(const char *line)
{
	pb_auto(phrases_text) text = phrases_text_new(line);
	const struct phrases_span span = make_span(text, 0, text->words->len);

	for (unsigned at = 0; at < span.to; at++)
		if (strchr(".?", phrases_get_word(text, at)->mark) &&
		    phrases_get_word(text, at)->mark)
			return false;
	return !phrases_find_any("never", &span);
}

/* ---- the mail ---- */

/* Whether the text has a wish; that of an automatic reply is not one. */
static bool
has_wish(const struct prose *prose)
{
	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];

		if (item->is_in_subject)
			continue;
		if (item->kind == PROSE_COMMAND ||
		    (item->kind == PROSE_WISH && strcmp(item->intent, "away") != 0))
			return true;
	}
	return false;
}

struct prose *
prose_read(const struct prose_mail *mail)
{
	struct prose *prose = g_new0(struct prose, 1);
	g_autoptr(GPtrArray) units =
	    g_ptr_array_new_with_free_func((GDestroyNotify)unit_free);
	g_autoptr(GArray) paragraphs = g_array_new(FALSE, TRUE, sizeof(bool));
	g_autoptr(GHashTable) languages = g_hash_table_new(g_str_hash, g_str_equal);
	struct reading reading = {.mail = mail,
	    .prose = prose,
	    .units = units,
	    .paragraphs = paragraphs,
	    .languages = languages};
	const char *first;

	prose->items = g_ptr_array_new_with_free_func((GDestroyNotify)prose_item_free);
	g_array_set_size(paragraphs, 1);
	if (*mail->subject) {
		add_unit(&reading, mail->subject,
		    mail->is_command && mail->is_command(mail->subject, mail->data), 0);
		((struct unit *)units->pdata[0])->is_subject = true;
	}
	find_units(&reading, mail->text);
	for (guint i = 0; i < units->len; i++)
		read_unit(&reading, units->pdata[i]);
	read_all_topics(&reading);
	first = units->len > (*mail->subject ? 1 : 0)
	            ? ((struct unit *)units->pdata[*mail->subject ? 1 : 0])->text
	            : "";
	prose->is_automatic =
	    !has_wish(prose) &&
	    (prose_has("automatic", mail->subject) || prose_has("automatic", first));
	return prose;
}

void
prose_free(struct prose *prose)
{
	if (!prose)
		return;
	g_ptr_array_unref(prose->items);
	g_free(prose);
}

/* ---- filters ---- */

/* Whether letters are the initials of words, but for a plural s. */
static bool
is_acronym(const char *letters, const struct phrases_text *text)
{
	const char *at = letters;

	for (guint i = 0; i < text->words->len; i++) {
		const struct phrases_word *word = phrases_get_word(text, i);

		if (word->mark)
			continue;
		if (!*at || g_unichar_tolower(g_utf8_get_char(at)) !=
		                g_unichar_tolower(g_utf8_get_char(word->start)))
			return false;
		at = g_utf8_next_char(at);
	}
	return text->words->len > 1 && (!*at || strcmp(at, "s") == 0);
}

static char *
quote_topic(const char *topic)
{
	static const char plain[] = "^[\\p{L}\\p{N}]+$";
	g_autofree char *clean = g_strdelimit(g_strdup(topic), "\"\\", ' ');

	g_strstrip(clean);
	return g_regex_match_simple(plain, clean, 0, 0)
	           ? g_steal_pointer(&clean)
	           : g_strdup_printf("\"%s\"", clean);
}

char *
prose_format_topic(const char *topic, char **unused)
{
	const char *open = strchr(topic, '(');
	const char *close = open ? strchr(open, ')') : NULL;
	g_autofree char *inside =
	    close ? g_strndup(open + 1, (gsize)(close - open - 1)) : NULL;
	g_autofree char *rest =
	    close ? g_strdup_printf("%.*s%s", (int)(open - topic), topic, close + 1)
	          : g_strdup(topic);
	pb_auto(phrases_text) words = phrases_text_new(rest);
	g_autofree char *phrase = quote_topic(g_strstrip(rest));

	*unused = NULL;
	if (inside && is_acronym(g_strstrip(inside), words))
		return g_strdup_printf("%s OR %s", phrase, inside);
	*unused = g_steal_pointer(&inside);
	return g_steal_pointer(&phrase);
}
