/*
 * prose.c - what a mail in ordinary words asks for.
 */
#include "message/prose.h"

#include <string.h>

#include "base/zone.h"
#include "message/command_text.h"
#include "message/sanitize.h"

/* Maximum words of a topic; a Chinese or Japanese character counts as a quarter. */
#define TOPIC_WORDS     6
#define WORD_WEIGHT     4
#define TOPIC_WEIGHT    (TOPIC_WORDS * WORD_WEIGHT)
#define TOPIC_CHARS     80
#define AUTHOR_WORDS    4  /* of the name of an author of papers */
#define TITLE_WORDS     12 /* of the title of a paper */
#define NAMED_WORDS     5  /* of a filter or place */
#define STATED_WORDS    5  /* of a topic that ends like a sentence */
#define GREETED_WORDS   5  /* of a name after a salutation */
#define NAME_WORDS      4  /* of a name at the end of a mail */
#define CLOSING_WORDS   3  /* of a closing formula before a name */
/* A line of at least that length may go on in the next one. */
#define WRAPPED_CHARS   45
/* Words of a wish beside a telephone number, to be one. */
#define CONTACT_WORDS   3
/* Words of a pattern that are enough in a sentence that is not understood otherwise. */
#define WEAK_WORDS      3
/* Words of a wish that is only asked about: "Unsubscribe?" */
#define QUESTION_WORDS  2
/* After so many sentences a mail has no further languages: trying all takes long. */
#define MIXED_SENTENCES 12
/* Cues are looked for in so many sentences that were not understood: each takes long.
 */
#define CUE_SENTENCES   10
/* Words of a mail without requests that tell its language. */
#define GUESS_WORDS     3
/* A longer part of a sentence, in words, is not compared with the patterns: people
 * write one wish in fewer, and comparing takes long. */
#define PART_WORDS      80
/* Parts of a sentence that are tried as wishes of their own. */
#define CUTS_MAX        20
/* Of a word beside a cue: more than what is gained by all words of the patterns. */
#define LOOSE_COST      (2 * PART_WORDS * CUTS_MAX)

#define FOREACH_LANGUAGE(language)                                                 \
	for (const struct phrases *const *language = phrases_get_all(); *language; \
	     language++)

static struct phrases_span
make_span(struct phrases_text *text, unsigned from, unsigned to)
{
	return (struct phrases_span){text, from, to};
}

static struct phrases_span
make_whole(struct phrases_text *text)
{
	return make_span(text, 0, text->words->len);
}

static const struct phrases_word *
get_word(const struct phrases_span *span, unsigned at)
{
	return phrases_get_word(span->text, at);
}

static char *
copy_span(const struct phrases_span *span)
{
	return phrases_copy(span->text, span->from, span->to);
}

static unsigned
count_words(const struct phrases_span *span)
{
	unsigned count = 0;

	for (unsigned at = span->from; at < span->to; at++)
		count += !get_word(span, at)->mark;
	return count;
}

/* @return English if the code is NULL */
static const struct phrases *
find_language(const char *code)
{
	FOREACH_LANGUAGE(language)
	if (strcmp(phrases_get_language(*language), code ? code : "en") == 0)
		return *language;
	g_assert_not_reached();
}

/* ---- topics ---- */

static bool
is_unspaced(const struct phrases_word *word)
{
	gunichar c = g_utf8_get_char(word->start);

	return c >= 0x2E80 && !g_unichar_islower(c) && !g_unichar_isupper(c) &&
	       g_utf8_next_char(word->start) == word->end;
}

/* Whether the words from there are a topic that is not shortened. */
static bool
ends_whole(const struct phrases *language, const struct phrases_span *span, unsigned at)
{
	const struct phrases_span rest = make_span(span->text, at, span->to);

	return phrases_skip(language, "whole", &rest) == span->to;
}

/* Skip words such as "papers on the" before a topic, and "etc" after it. */
static void
trim_topic(const struct phrases *language, struct phrases_span *span)
{
	unsigned after;

	while ((after = phrases_skip(language, "lead", span)) > span->from)
		span->from = after;
	for (unsigned at = span->from; at < span->to; at++) {
		const struct phrases_span rest = make_span(span->text, at, span->to);

		/* "operations research" */
		if (phrases_skip(language, "trail", &rest) != span->to ||
		    (at > span->from && ends_whole(language, span, at - 1)))
			continue;
		span->to = at;
		at = span->from - (at > span->from);
	}
}

/* Whether the first or last word is one that means nothing: "them", "later"; in
 * "post-quantum" it does not stand for itself. */
static bool
has_filler_at_end(const struct phrases *language, const struct phrases_span *span)
{
	const struct phrases_span first =
	    make_span(span->text, span->from, span->from + 1);
	const struct phrases_span last = make_span(span->text, span->to - 1, span->to);

	return (!get_word(span, span->from)->mark &&
	           *get_word(span, span->from)->end != '-' &&
	           phrases_is_filler(language, &first)) ||
	       (!get_word(span, span->to - 1)->mark &&
	           phrases_is_filler(language, &last));
}

static bool
is_author(const struct phrases_span *span)
{
	for (unsigned at = span->from; at < span->to; at++) {
		const struct phrases_word *word = get_word(span, at);

		if (word->mark != '.' &&
		    (word->mark || !g_unichar_isupper(g_utf8_get_char(word->start))))
			return false;
	}
	return count_words(span) > 1 && count_words(span) <= AUTHOR_WORDS;
}

/* "papers by Ada Lovelace": this is not a topic. */
static bool
is_named_author(const struct phrases_span *span)
{
	const struct phrases_span before =
	    make_span(span->text, span->from - (span->from > 0), span->from);

	return phrases_has("by", &before) && is_author(span);
}

/* A word of the patterns that may be of a topic, too: "active learning" */
static bool
is_subject_word(
    const struct phrases *language, const struct phrases_span *span, unsigned at)
{
	const struct phrases_span word = make_span(span->text, at, at + 1);

	return span->to - span->from > 1 &&
	       phrases_skip(language, "subject-word", &word) > at;
}

/* Whether a word can be of a topic, and is not only one of requests. */
static bool
is_new_word(
    const struct phrases *language, const struct phrases_span *span, unsigned at)
{
	const struct phrases_word *word = get_word(span, at);

	return is_unspaced(word) ||
	       (!phrases_knows(language, word) && !g_ascii_isdigit(*word->plain)) ||
	       is_subject_word(language, span, at);
}

/* "お願いします" in an English mail is no topic. */
static bool
is_foreign_courtesy(const struct phrases_span *span)
{
	return !g_ascii_isalnum(*get_word(span, span->from)->start) &&
	       (phrases_skip_any("courtesy", span) == span->to ||
	           phrases_skip_any("filler", span) == span->to);
}

/* Whether words may be one topic. @param is_first  the request is before it */
static bool
is_topic(const struct phrases *language, const struct phrases_span *span, bool is_first)
{
	struct phrases_span outside = *span;
	g_autofree char *raw = copy_span(span);
	bool is_new = false, has_letter = false; /* new: not only words of requests */
	unsigned weight = 0;

	for (unsigned at = span->from; at < span->to; at++) {
		const struct phrases_word *word = get_word(span, at);

		if (word->mark == '.' || word->mark == '?')
			return false;
		if (word->mark == '(')
			outside.to = MIN(outside.to, at);
		if (word->mark || at > outside.to)
			continue;
		/* "J. Smith", "lang=de" */
		if (strchr(word->plain, '@') || *word->end == '=' ||
		    (*word->end == '.' && !word->plain[1]))
			return false;
		weight += is_unspaced(word) ? 1 : WORD_WEIGHT;
		is_new = is_new || is_new_word(language, span, at);
		has_letter = has_letter || !strpbrk(word->plain, "0123456789");
	}
	/* "up to 30 % off" */
	return !strchr(raw, '%') && has_letter && is_new && weight > 1 &&
	       weight <= TOPIC_WEIGHT &&
	       (strchr(raw, '(') != NULL) == (strchr(raw, ')') != NULL) &&
	       get_word(span, span->to - 1)->end - get_word(span, span->from)->start <=
	           TOPIC_CHARS &&
	       !phrases_has_in(language, "never", &outside) &&
	       phrases_skip(language, "not-first", span) == span->from &&
	       (is_first || phrases_skip(language, "not-next", span) == span->from) &&
	       !phrases_is_filler(language, span) && !is_foreign_courtesy(span) &&
	       !has_filler_at_end(language, span) && !is_named_author(span);
}

/* @return the end of the comma or connective that starts there, or the start */
static unsigned
skip_connective(const struct phrases *language, const struct phrases_span *span)
{
	const struct phrases_word *word = get_word(span, span->from);

	/* Topics are English in mails of any language: "sur robots and drones". */
	if (word->mark == ',' || g_strcmp0(word->plain, "and") == 0)
		return span->from + 1;
	return phrases_skip(language, "connective", span);
}

/*
 * Split words at commas and connectives into topics.
 *
 * @param is_asked  the words follow a request for topics
 * @param topics    of char *; or NULL
 * @return false if a part is not a topic
 */
static bool
split_topics(const struct phrases *language, const struct phrases_span *span,
    bool is_asked, GPtrArray *topics)
{
	unsigned start = span->from, at = span->from, count = 0, depth = 0;

	while (at <= span->to) {
		const struct phrases_span rest = make_span(span->text, at, span->to);
		struct phrases_span part = make_span(span->text, start, at);
		unsigned after = at;

		if (at < span->to) {
			char mark = get_word(span, at)->mark;

			depth += mark == '(';
			depth -= mark == ')';
			after = depth ? at : skip_connective(language, &rest);
			if (after == at) {
				at++;
				continue;
			}
		}
		if (part.from < part.to) {
			trim_topic(language, &part);
			/* "add robots, drop agents" */
			if (part.from == part.to ||
			    !is_topic(language, &part, is_asked && count == 0))
				return false;
			count++;
			if (topics)
				g_ptr_array_add(topics, copy_span(&part));
		}
		start = at = MAX(after, at + 1);
	}
	return count > 0;
}

/* Whether the last words are the name of an installed zone: "in New York". */
static bool
is_place(const struct phrases_span *span)
{
	for (unsigned at = span->from; at < span->to; at++) {
		g_autofree char *name = phrases_copy(span->text, at, span->to);
		g_autofree char *zone = zone_find(name, NULL);

		if (zone)
			return true;
	}
	return false;
}

/* Whether a phrase of a section ends where a span begins: "thanks, Ann". */
static bool
is_after(const struct phrases_span *span, const char *section)
{
	unsigned least = span->from - MIN(span->from, CLOSING_WORDS);

	for (unsigned at = least; at < span->from; at++) {
		const struct phrases_span before =
		    make_span(span->text, at, span->from);

		if (phrases_skip_any(section, &before) == span->from)
			return true;
	}
	return false;
}

static bool
has_new_word(const struct phrases *language, const struct phrases_span *span)
{
	for (unsigned at = span->from; at < span->to; at++)
		if (!get_word(span, at)->mark && is_new_word(language, span, at))
			return true;
	return false;
}

static bool
accept_value(
    const struct phrases *language, const char *slot, const struct phrases_span *span)
{
	bool is_title = strcmp(slot, "title") == 0;

	if (strcmp(slot, "topics") == 0)
		return get_word(span, span->to - 1)->mark != ',' &&
		       !is_after(span, "closing") &&
		       split_topics(language, span, true, NULL);
	for (unsigned at = span->from; !is_title && at < span->to; at++) {
		const struct phrases_span rest = make_span(span->text, at, span->to);

		if (get_word(span, at)->mark == '(' ||
		    skip_connective(language, &rest) > at)
			return false;
	}
	if (strcmp(slot, "author") == 0)
		return is_author(span);
	if (strcmp(slot, "place") == 0 && !is_place(span))
		return false;
	/* "stop stop stop" is not about a filter. */
	if (strcmp(slot, "filter") == 0 && !has_new_word(language, span))
		return false;
	return (is_title || !phrases_has_in(language, "never", span)) &&
	       span->to - span->from <= (is_title ? TITLE_WORDS : NAMED_WORDS) &&
	       !phrases_is_filler(language, span) &&
	       !g_ascii_isdigit(*get_word(span, span->from)->start);
}

/* Slots that take any words. */
static const char *const open_slots[] = {
    "topics", "author", "title", "filter", "place", NULL};

/* Topics may follow it, each on a line. */
static bool
is_open_wish(const char *intent)
{
	return strcmp(intent, "subscribe") == 0 || strcmp(intent, "add") == 0;
}

/* Whether the slots of a match have what they are for. */
static bool
accept_match(struct phrases_text *text, const struct phrases_match *match)
{
	for (guint i = 0; i < match->values->len; i++) {
		const struct phrases_value *value =
		    &g_array_index(match->values, struct phrases_value, i);
		const struct phrases_span span =
		    make_span(text, value->from, value->to);

		if (g_strv_contains(open_slots, value->name) &&
		    (span.from >= span.to ||
		        !accept_value(match->language, value->name, &span)))
			return false;
	}
	return true;
}

/* ---- items ---- */

void
prose_item_free(struct prose_item *item)
{
	if (!item)
		return;
	g_free(item->line);
	phrases_match_clear(&item->wish);
	g_free(item);
}

static struct prose_item *
item_new(enum prose_kind kind, char *line)
{
	struct prose_item *item = g_new0(struct prose_item, 1);

	item->kind = kind;
	item->line = line;
	return item;
}

/* "l'apprentissage": without the article, if it is one of those before topics */
static char *
skip_elision(const struct phrases *language, const char *topic)
{
	const char *quote = strpbrk(topic, "'");
	const char *curly = strstr(topic, "\u2019");
	const char *at = !quote || (curly && curly < quote) ? curly : quote;
	g_autofree char *article = at ? g_strndup(topic, (gsize)(at - topic)) : NULL;
	pb_auto(phrases_text) text = article ? phrases_text_new(article) : NULL;
	struct phrases_span span;

	if (!text || !text->words->len)
		return g_strdup(topic);
	span = make_whole(text);
	return phrases_skip(language, "lead", &span) == span.to
	           ? g_strdup(g_utf8_next_char(at))
	           : g_strdup(topic);
}

/* Each topic becomes a value. */
static void
add_topics(struct prose_item *item, const struct phrases_span *span)
{
	const struct phrases *language = item->wish.language;
	g_autoptr(GPtrArray) topics = g_ptr_array_new_with_free_func(g_free);

	split_topics(language, span, true, topics);
	for (guint i = 0; i < topics->len; i++)
		phrases_add_value(
		    &item->wish, "topic", skip_elision(language, topics->pdata[i]));
}

/* "the topic protein", "the protein filter": without the words around its name */
static void
trim_filter(const struct phrases *language, struct phrases_text *text,
    struct phrases_value *value)
{
	struct phrases_span first = make_span(text, value->from, value->from + 1);
	struct phrases_span last = make_span(text, value->to - 1, value->to);

	while (value->to - value->from > 1 &&
	       (phrases_is_filler(language, &first) ||
	           phrases_skip(language, "keyword", &first) == first.to))
		first = make_span(text, ++value->from, first.to + 1);
	while (value->to - value->from > 1 &&
	       phrases_skip(language, "keyword", &last) == last.to)
		last = make_span(text, last.from - 1, --value->to);
	g_free(value->text);
	value->text = phrases_copy(text, value->from, value->to);
}

/* Take a match over. */
static void
take_wish(
    struct prose_item *item, struct phrases_text *text, struct phrases_match *match)
{
	guint count = match->values->len;

	item->wish = *match;
	match->values = NULL;
	for (guint i = 0; i < count; i++) {
		struct phrases_value *value =
		    &g_array_index(item->wish.values, struct phrases_value, i);
		const struct phrases_span span =
		    make_span(text, value->from, value->to);

		if (strcmp(value->name, "filter") == 0)
			trim_filter(item->wish.language, text, value);
		else if (strcmp(value->name, "topics") == 0)
			add_topics(item, &span); /* the values move */
	}
}

const struct prose_item *
prose_find(const struct prose *prose, const char *intent)
{
	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];

		if (item->kind == PROSE_WISH && strcmp(item->wish.intent, intent) == 0)
			return item;
	}
	return NULL;
}

/* ---- sentences ---- */

/* How the words from..to of a sentence were read. */
struct part {
	unsigned start; /* with a connective before from */
	unsigned from, to;
	struct phrases_match match; /* without intent: fillers, or not read */
	unsigned unread;            /* words */
	unsigned loose;             /* words beside a cue */
	unsigned skipped;           /* words that "..." of a pattern stands for */
};

/* The best way to read a sentence, in one language. */
struct parse {
	const struct phrases *language;
	struct part parts[CUTS_MAX];
	unsigned count, unread, loose, wishes, literal;
};

static void
parse_clear(struct parse *parse)
{
	for (unsigned i = 0; i < parse->count; i++)
		phrases_match_clear(&parse->parts[i].match);
}

/* Whether a word has a meaning of its own, and a reading of the span makes no use of
 * it. */
static bool
is_unused(const struct phrases *language, const struct phrases_span *span,
    const struct phrases_match *match, unsigned at)
{
	const struct phrases_span word = make_span(span->text, at, at + 1);

	return !get_word(span, at)->mark &&
	       !(match->intent && match->used >> MIN(at - span->from, 63) & 1) &&
	       !phrases_is_filler(language, &word);
}

/* The words beside those of a pattern and its slots that may say something else. */
static unsigned
count_unused(const struct phrases *language, const struct phrases_span *span,
    const struct phrases_match *match)
{
	unsigned count = 0;

	for (unsigned at = span->from; at < span->to; at++)
		count += is_unused(language, span, match, at);
	return count;
}

static bool
is_capitalised(const struct phrases_word *word)
{
	return word->mark || g_unichar_isupper(g_utf8_get_char(word->start)) ||
	       is_unspaced(word);
}

/* "Danke! Fabi" */
static bool
is_name_like(const struct phrases_span *span)
{
	for (unsigned at = span->from; at < span->to; at++)
		if (!is_capitalised(get_word(span, at)))
			return false;
	return count_words(span) <= NAME_WORDS;
}

/* "Kind regards", "best, Ann" in a sentence. */
static bool
is_formula(const struct phrases *language, const struct phrases_span *span)
{
	const struct phrases_span rest =
	    make_span(span->text, phrases_skip(language, "closing", span), span->to);

	return rest.from > span->from && is_name_like(&rest);
}

/* "Please skip papers that are about robots" is not a wish for robots. */
static bool
is_excluding(const struct phrases_span *span, const struct phrases_match *match)
{
	return is_open_wish(match->intent) && phrases_has("hint exclude", span);
}

static void
read_part(const struct phrases *language, const struct phrases_span *span,
    bool has_cues, struct part *part)
{
	*part = (struct part){.from = span->from, .to = span->to};
	if (span->from >= span->to)
		return;
	if (span->to - span->from <= PART_WORDS) {
		if (phrases_find_intent(
		        language, span, false, accept_match, &part->match)) {
			part->skipped = count_unused(language, span, &part->match);
			return;
		}
		if (phrases_is_filler(language, span) ||
		    phrases_skip(language, "salutation", span) == span->to ||
		    is_formula(language, span))
			return;
		if (has_cues && phrases_find_intent(
		                    language, span, true, accept_match, &part->match)) {
			part->loose =
			    MAX(count_unused(language, span, &part->match), 1);
			if (!is_excluding(span, &part->match))
				return;
			phrases_match_clear(&part->match);
			part->match = (struct phrases_match){0};
			part->loose = 0;
		}
	}
	part->unread = count_words(span);
}

/* "at eight instead of half past seven": what follows is not wanted. */
static bool
is_after_instead(const struct phrases_span *span, unsigned at)
{
	for (unsigned from = at; from > span->from && from + 2 >= at; from--) {
		const struct phrases_span before = make_span(span->text, from - 1, at);

		if (phrases_skip_any("instead", &before) == at)
			return true;
	}
	return false;
}

/* Places where a sentence may be divided. @return their number, start and end included
 */
static unsigned
find_cuts(const struct phrases *language, const struct phrases_span *span,
    unsigned cuts[CUTS_MAX])
{
	unsigned count = 1;

	cuts[0] = span->from;
	if (span->from >= span->to)
		return count;
	for (unsigned at = span->from + 1; at < span->to && count < CUTS_MAX - 1;
	     at++) {
		const struct phrases_span rest = make_span(span->text, at, span->to);

		if (skip_connective(language, &rest) > at ||
		    phrases_skip(language, "clause", &rest) > at ||
		    (phrases_skip(language, "break", &rest) > at &&
		        !is_after_instead(span, at)))
			cuts[count++] = at;
	}
	cuts[count++] = span->to;
	return count;
}

/* Connectives at the start of a part are not read; "which" starts a question, too. */
static struct phrases_span
make_part(const struct phrases *language, const struct phrases_span *span,
    unsigned from, unsigned to)
{
	struct phrases_span part = make_span(span->text, from, to);

	while (part.from < to) {
		unsigned after = skip_connective(language, &part);

		if (phrases_skip(language, "break", &part) > part.from)
			break;
		if (from > span->from)
			after = MAX(after, phrases_skip(language, "clause", &part));

		if (after == part.from)
			break;
		part.from = after;
	}
	return part;
}

/* Words of the pattern, if it has values, but no slot that any words fit: "not 3, more
 * like 2" is two wishes, "graphs and skip connections" is one. */
static unsigned
count_certain(const struct part *part)
{
	for (const char *const *slot = open_slots; *slot; slot++)
		if (part->match.values && phrases_get_value(&part->match, *slot, 0))
			return 0;
	return part->match.values && part->match.values->len &&
	               strcmp(part->match.intent, "keep") != 0
	           ? part->match.literal
	           : 0;
}

/*
 * Divide a sentence so that the fewest words are not read, the most are certain, and
 * then into the fewest parts.  best[i] is the best way to read the words up to cuts[i].
 *
 * @param has_cues  a cue is enough; a word beside one counts as half a word that is not
 *                  read
 */
static void
parse_sentence(const struct phrases *language, const struct phrases_span *span,
    bool has_cues, struct parse *parse)
{
	unsigned cuts[CUTS_MAX], count = find_cuts(language, span, cuts);
	struct {
		int cost;
		unsigned before;
		struct part part;
	} best[CUTS_MAX] = {{0}};

	for (unsigned to = 1; to < count; to++) {
		best[to].cost = G_MAXINT;
		for (unsigned from = 0; from < to; from++) {
			const struct phrases_span words =
			    make_part(language, span, cuts[from], cuts[to]);
			struct part part;
			int cost;

			read_part(language, &words, has_cues, &part);
			cost = best[from].cost +
			       (int)(part.unread * 2 + part.loose) * LOOSE_COST -
			       (int)count_certain(&part) * CUTS_MAX +
			       (int)part.skipped * 2 - (int)part.match.literal + 1;
			/* Words that are not read are of one part only. */
			if ((part.unread && from + 1 < to) || cost >= best[to].cost) {
				phrases_match_clear(&part.match);
				continue;
			}
			phrases_match_clear(&best[to].part.match);
			best[to].cost = cost;
			best[to].before = from;
			best[to].part = part;
			best[to].part.start =
			    cuts[from] + (get_word(span, cuts[from])->mark == ',');
		}
	}
	*parse = (struct parse){.language = language};
	for (unsigned at = count - 1; at; at = best[at].before)
		parse->count++;
	for (unsigned at = count - 1, i = parse->count; at; at = best[at].before) {
		const struct part *part = parse->parts + --i;

		parse->parts[i] = best[at].part;
		best[at].part.match.values = NULL;
		parse->unread += part->unread;
		parse->loose += part->loose;
		parse->wishes += part->match.intent != NULL;
		parse->literal += part->match.literal;
	}
	for (unsigned at = 1; at < count; at++)
		phrases_match_clear(&best[at].part.match);
}

static bool
is_better(const struct parse *one, const struct parse *other)
{
	if (one->unread != other->unread)
		return one->unread < other->unread;
	return one->literal > other->literal;
}

/*
 * Read a sentence in each language.
 *
 * @param first  is preferred; or NULL
 * @param seen   with the languages that are tried; NULL: all
 */
static void
parse_best(const char *first, GHashTable *seen, const struct phrases_span *span,
    struct parse *best)
{
	*best = (struct parse){0};
	FOREACH_LANGUAGE(language)
	{
		struct parse one;

		if (seen &&
		    !g_hash_table_contains(seen, phrases_get_language(*language)))
			continue;
		parse_sentence(*language, span, false, &one);
		if (!best->language || is_better(&one, best) ||
		    (!is_better(best, &one) && first &&
		        strcmp(first, phrases_get_language(*language)) == 0)) {
			parse_clear(best);
			*best = one;
		} else {
			parse_clear(&one);
		}
	}
}

/*
 * Find the language of which words have the most.
 *
 * @param first  is preferred; or NULL
 * @return NULL if no language has so many
 */
static const struct phrases *
guess_language(const char *first, const struct phrases_span *span, unsigned least)
{
	const struct phrases *best = NULL;
	unsigned most = least - 1;

	/* Chinese has the same characters, but for these. */
	for (unsigned at = span->from; at < span->to; at++)
		if (g_unichar_get_script(g_utf8_get_char(get_word(span, at)->start)) ==
		    G_UNICODE_SCRIPT_HIRAGANA)
			return find_language("ja");
	FOREACH_LANGUAGE(language)
	{
		const char *code = phrases_get_language(*language);
		unsigned known = g_strcmp0(first, code) == 0;

		for (unsigned at = span->from; at < span->to; at++)
			known += !get_word(span, at)->mark &&
			         phrases_knows(*language, get_word(span, at));
		if (known > most) {
			best = *language;
			most = known;
		}
	}
	return best;
}

static bool
has_topics(const struct parse *parse)
{
	for (unsigned i = 0; i < parse->count; i++)
		if (phrases_get_value(&parse->parts[i].match, "topics", 0))
			return true;
	return false;
}

/* Whether one author of several was read: "papers of Marie Curie and Lise Meitner" */
static bool
has_one_of_authors(const struct parse *parse)
{
	for (unsigned i = 0; i + 1 < parse->count; i++)
		if (parse->parts[i].loose && parse->parts[i + 1].unread &&
		    phrases_get_value(&parse->parts[i].match, "author", 0))
			return true;
	return false;
}

/* Read a sentence again that was not understood: cues are enough. */
static void
parse_by_cues(const char *first, const struct phrases_span *span, struct parse *parse)
{
	const struct phrases *language = guess_language(first, span, 1);
	struct parse again;
	bool is_better_read;

	if (!language)
		return;
	parse_sentence(language, span, true, &again);
	is_better_read = again.wishes > parse->wishes ||
	                 (again.wishes && again.wishes == parse->wishes &&
	                     has_topics(&again) >= has_topics(parse) &&
	                     again.unread + again.loose <= parse->unread);
	if (is_better_read && !has_one_of_authors(&again)) {
		parse_clear(parse);
		*parse = again;
	} else {
		parse_clear(&again);
	}
}

/* Whether words are wishes, and nothing else. */
static bool
is_wish(const struct phrases_span *span)
{
	struct parse parse;
	bool is_found;

	parse_best(NULL, NULL, span, &parse);
	is_found = parse.wishes && !parse.unread;
	parse_clear(&parse);
	return is_found;
}

struct prose_item *
prose_read_line(const char *line)
{
	pb_auto(phrases_text) text = phrases_text_new(line);
	const struct phrases_span span = make_whole(text);
	struct prose_item *item = NULL;
	struct parse parse;

	parse_best(NULL, NULL, &span, &parse);
	for (unsigned i = 0; !parse.unread && parse.wishes == 1 && i < parse.count;
	     i++) {
		if (!parse.parts[i].match.intent)
			continue;
		item = item_new(PROSE_WISH, g_strdup(line));
		take_wish(item, text, &parse.parts[i].match);
	}
	parse_clear(&parse);
	return item;
}

bool
prose_has(const char *section, const char *line)
{
	pb_auto(phrases_text) text = phrases_text_new(line);
	const struct phrases_span span = make_whole(text);

	return phrases_has(section, &span);
}

bool
prose_is_answer(const char *line)
{
	pb_auto(phrases_text) text = phrases_text_new(line);
	struct phrases_span rest = make_whole(text);

	while (rest.to && get_word(&rest, rest.to - 1)->mark)
		rest.to--;
	return rest.to && (phrases_skip_any("yes", &rest) == rest.to ||
	                      phrases_skip_any("no", &rest) == rest.to);
}

/* In a language or in English: Portuguese "se" is "if", Spanish "se" is not. */
static bool
has_doubt(const struct phrases *language, const struct phrases_span *span)
{
	if (!phrases_has("doubt", span))
		return false;
	for (struct phrases_span rest = *span; rest.from < rest.to; rest.from++) {
		unsigned end = MAX(phrases_skip(language, "doubt", &rest),
		    phrases_skip(find_language(NULL), "doubt", &rest));
		unsigned polite = MAX(phrases_skip_any("filler", &rest),
		    phrases_skip_any("courtesy", &rest));

		if (end > rest.from && end >= polite)
			return true;
		if (polite > rest.from)
			rest.from = polite - 1;
	}
	return false;
}

bool
prose_has_doubt(const struct prose *prose, const char *line)
{
	pb_auto(phrases_text) text = phrases_text_new(line);
	const struct phrases_span span = make_whole(text);

	return has_doubt(find_language(prose->language), &span);
}

/* ---- lines ---- */

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
	unsigned sentences;    /* so far */
	unsigned cue_sentences; /* in which cues were looked for */
	bool has_closed;        /* after a closing formula */
	bool is_disclaimer;
	bool is_open;               /* topics may follow on lines of their own */
	bool has_topics;            /* in a sentence */
	bool has_thanked;           /* by the sentence before */
	bool has_read;              /* a sentence or command of the text */
	unsigned last_paragraph;    /* that can have such lines; 0: any */
	bool is_subject_only;       /* the text has no wish */
	bool is_alone;              /* the subject has no text below it */
	struct phrases_span before; /* the sentence before, if it was not understood */
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

/* A telephone number, a link, an address, opening hours, a room. */
static bool
is_contact(const char *line)
{
	static const char pattern[] =
	    "(?:\\+|\\(0|\\b0)[\\d ()/.-]{7,}\\d|\\(\\d{3}\\) "
	    "?\\d{3}|https?://|www\\.|\\S@\\S+\\.\\w|"
	    "\\b(?:Mo|Di|Mi|Do|Fr|Sa|Mon|Tue|Wed|Thu|Fri|Sat)\\w* ?[-\\x{2013}].*"
	    "\\d ?[-\\x{2013}] ?\\d|(?:^|[,|] ?)(?:Raum|Room|Zimmer) ?[A-Z]?\\d";

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

bool
prose_starts_with(const char *section, const char *line)
{
	pb_auto(phrases_text) text = phrases_text_new(line);
	const struct phrases_span span = make_whole(text);

	return phrases_skip_any(section, &span) > 0;
}

/* Whether the line before goes on in this one. */
static bool
goes_on(const struct unit *before, const char *line)
{
	return before && !before->is_command && !before->is_subject &&
	       g_utf8_strlen(before->text, -1) >= WRAPPED_CHARS &&
	       !strchr(".!?:", before->text[strlen(before->text) - 1]) &&
	       skip_bullet(line) == line && !prose_starts_with("closing", line) &&
	       /* "name: Ada" */
	       !g_regex_match_simple("^\\p{L}{1,20}:\\s", line, 0, 0);
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
	item->is_listed = unit && unit->is_item;
	item->paragraph = unit ? unit->paragraph : 0;
	item->sentence = reading->sentences;
	g_ptr_array_add(reading->prose->items, item);
}

/* @param line  taken over */
static void
cut(struct reading *reading, char *line, const char *reason, const struct unit *unit)
{
	struct prose_item *item = item_new(PROSE_CUT, line);

	item->reason = reason;
	add_item(reading, item, unit);
}

/* Split the text into units and paragraphs; quotes and signatures are cut. */
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
		if (has_ended || strchr(">|", *line)) {
			cut(reading, g_strdup(line), has_ended ? "signature" : "quote",
			    NULL);
			continue;
		}
		goes_on_below = g_str_has_suffix(line, "\\");
		if (goes_on_below)
			line[strlen(line) - 1] = '\0';
		if (last && last->is_command && (is_indented || was_going_on)) {
			join_units(last, g_strchomp(line));
			continue;
		}
		is_command = mail->is_command && mail->is_command(g_strchomp(line));
		/* "-- Jay", "~max" */
		if (strchr("-~_", *line) && skip_bullet(line) == line) {
			cut(reading, g_strdup(line), "signature", NULL);
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
is_own_name(const struct reading *reading, struct phrases_text *text)
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

/* "Kind regards", "Danke und Gruß, Holger": a formula, and perhaps a name. */
static bool
is_closing(struct phrases_text *text)
{
	const struct phrases_span span = make_whole(text);
	unsigned at = phrases_skip_any("closing", &span), words = 0;

	/* German "Grüß Gott" is no name after "Gruß". */
	if (!at || phrases_skip_any("salutation", &span) > at)
		return false;
	for (; at < span.to; at++) {
		struct phrases_span rest = make_span(text, at, span.to);
		unsigned next = phrases_skip_any("closing", &rest);

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

/* A last paragraph of few capitalised words is a name, unless topics are expected. */
static bool
is_last_name(
    const struct reading *reading, const struct unit *unit, struct phrases_text *text)
{
	unsigned count = reading->units->len;
	const struct unit *last = reading->units->pdata[count - 1];
	const struct unit *before = count > 1 ? reading->units->pdata[count - 2] : NULL;
	const struct phrases_span span = make_whole(text);

	/* Or a line below the end of a sentence. */
	return unit == last && before && !before->is_subject &&
	       (before->paragraph < unit->paragraph ||
	           strchr(".!?", before->text[strlen(before->text) - 1])) &&
	       span.to && is_name_like(&span) &&
	       (count_words(&span) == 1 || reading->has_topics || !reading->is_open);
}

/*
 * Lines above a name with initials or a title at the end of a mail are an address:
 * "City Library", "J. Smith".
 */
static bool
is_address_block(const struct reading *reading, const struct unit *unit)
{
	static const char pattern[] =
	    "^(?:\\p{Lu}\\. ?)+\\p{Lu}[\\p{L}-]+$|^(?:Dr|Prof|Dipl)\\b";
	unsigned count = reading->units->len;
	const struct unit *last = reading->units->pdata[count - 1];

	return unit->paragraph > 1 && unit->paragraph == last->paragraph &&
	       !unit->is_item && !unit->is_subject &&
	       g_regex_match_simple(pattern, last->text, 0, 0);
}

/* Skip "Dear Sir," at the start. @return the first word after it */
static unsigned
skip_salutation(struct phrases_text *text)
{
	struct phrases_span span = make_whole(text);
	unsigned end = phrases_skip_any("salutation", &span), at;

	if (!end)
		return 0;
	for (at = end; at < span.to && at <= end + GREETED_WORDS; at++)
		if (phrases_get_word(text, at)->mark &&
		    phrases_get_word(text, at)->mark != '(')
			break;
	/* "Hello paperboy" on a line of its own, "Hi all, ..."; but "hi subscribe" */
	span.from = end;
	span.to = at;
	if (at <= end + GREETED_WORDS && !is_wish(&span))
		return MIN(at + 1, text->words->len);
	return end;
}

/* ---- reading ---- */

/* @param part  its match is taken over */
static void
add_wish(struct reading *reading, struct part *part, struct phrases_text *text,
    const struct unit *unit)
{
	struct prose_item *item =
	    item_new(PROSE_WISH, phrases_copy(text, part->start, part->to));

	take_wish(item, text, &part->match);
	/* Topics in a subject may be a heading of those below. */
	if (!unit->is_subject && phrases_get_value(&item->wish, "topic", 0))
		reading->has_topics = true;
	else if (is_open_wish(item->wish.intent) &&
	         (unit->is_subject || !reading->has_topics)) {
		reading->is_open = true;
		/* A signature follows "Please add me to the list." */
		if (!unit->is_subject &&
		    strchr(".!", unit->text[strlen(unit->text) - 1]))
			reading->last_paragraph = unit->paragraph;
	}
	add_item(reading, item, unit);
}

static void
count_language(struct reading *reading, const struct phrases *language)
{
	const char *code = phrases_get_language(language);
	guint count =
	    GPOINTER_TO_UINT(g_hash_table_lookup(reading->languages, code)) + 1;

	g_hash_table_insert(
	    reading->languages, (gpointer)code, GUINT_TO_POINTER(count));
	if (!reading->prose->language ||
	    count > GPOINTER_TO_UINT(g_hash_table_lookup(
	                reading->languages, reading->prose->language)))
		reading->prose->language = code;
}

/* "Auf Deutsch" in "Auf Deutsch, mein Englisch ist nicht gut." */
static bool
is_between_marks(const struct part *part, const struct phrases_span *span)
{
	return (part->start == span->from || get_word(span, part->start - 1)->mark) &&
	       (part->to == span->to || get_word(span, part->to)->mark);
}

/*
 * One word of an intent beside others that were not understood may have another
 * meaning: "the end of my sabbatical".  Not so "unsubscribe", or between commas.
 */
static bool
is_weak(const struct part *part, const struct phrases_span *span)
{
	const struct phrases_span words = make_span(span->text, part->from, part->to);

	if (phrases_has("misspelt", &words))
		return false;
	/* Leaving is not asked about again: "2: not needed" */
	if (strcmp(part->match.intent, "leave") == 0 &&
	    part->match.literal < WEAK_WORDS)
		return true;
	/* A few words of a long sentence of which the rest is not understood; a
	 * complaint only gets an answer. */
	if (part->match.literal < WEAK_WORDS &&
	    strcmp(part->match.intent, "complaint") != 0 &&
	    !(part->match.values->len && is_between_marks(part, span)) &&
	    count_words(&words) * 2 < count_words(span) &&
	    !phrases_get_value(&part->match, "topics", 0))
		return true;
	return part->match.literal <= 1 && !part->match.values->len &&
	       !is_between_marks(part, span);
}

/* "Unsubscribe?" is undecided, "Can you unsubscribe me?" and "Unsubscribe, please?"
 * are polite. */
static bool
is_short_question(const struct phrases_span *span)
{
	return get_word(span, span->to - 1)->mark == '?' &&
	       count_words(span) <= QUESTION_WORDS && !phrases_has("courtesy", span);
}

/* "Last week", "two weeks ago": not when something is to be. */
static bool
is_in_past(const struct phrases_span *span, unsigned at)
{
	for (struct phrases_span rest = *span; rest.from <= at; rest.from++)
		if (phrases_skip_any("past", &rest) > at)
			return true;
	return false;
}

/* Find the value of a section at the start of words that a reading makes no use of. */
static bool
has_value(const struct phrases *language, const struct phrases_span *rest,
    const char *const *sections)
{
	for (; *sections; sections++)
		if (phrases_skip(language, *sections, rest) > rest->from)
			return true;
	return false;
}

/*
 * Whether a sentence names a time or a filter that is not used by what was read: "every
 * day is a bit much, what about Mondays?"  Then the reading may be wrong.
 */
static bool
has_unused_value(const struct parse *parse, const struct phrases_span *span)
{
	static const char *const intents[] = {"leave", "pause", "away", "resume",
	    "frequency", "time", "remove", "edit", NULL};
	static const char *const topics[] = {
	    "subscribe", "add", "author", "fewer", NULL};
	static const char *const sections[] = {
	    "unit", "day", "filter-word", "every", "weekday", "hour", NULL};
	const char *const *wanted = NULL;

	for (unsigned i = 0; i < parse->count; i++) {
		const struct phrases_match *match = &parse->parts[i].match;
		const char *intent = match->intent;

		/* "One mail a week, on Mondays"; "In the coming weeks I am away, pause
		 * until May." */
		if (intent && phrases_get_value(match, "weekday", 0))
			continue;
		if (intent && g_strv_contains(intents, intent))
			wanted = sections +
			         (strcmp(intent, "pause") == 0 && match->values->len);
		else if (intent && !wanted && g_strv_contains(topics, intent))
			wanted = sections + 4;
	}
	for (unsigned i = 0; wanted && i < parse->count; i++) {
		const struct part *part = &parse->parts[i];
		const struct phrases_span words =
		    make_span(span->text, part->from, part->to);
		const struct phrases_span until =
		    make_span(span->text, span->from, part->to);
		struct phrases_span rest = words;

		/* "I do not read on Saturdays, only send on weekdays" */
		if (!part->match.intent && phrases_has("no", &until))
			continue;
		for (; rest.from < rest.to && !is_after_instead(&words, rest.from);
		     rest.from++)
			if (is_unused(
			        parse->language, &words, &part->match, rest.from) &&
			    !is_in_past(&words, rest.from) &&
			    (has_value(parse->language, &rest, wanted) ||
			        (part->loose &&
			            g_ascii_isdigit(
			                *get_word(&rest, rest.from)->start))))
				return true;
	}
	return false;
}

/* A part of a sentence beside a cue that says something else is not read: "... and also
 * do this". */
static void
add_loose(struct reading *reading, const struct phrases *language, struct part *part,
    const struct phrases_span *sentence, const struct unit *unit)
{
	const struct phrases_span words =
	    make_span(sentence->text, part->from, part->to);
	unsigned cuts[CUTS_MAX], count = find_cuts(language, &words, cuts);

	for (unsigned i = 0; part->loose && i + 1 < count; i++) {
		const struct phrases_span piece =
		    make_part(language, &words, cuts[i], cuts[i + 1]);
		unsigned loose = 0;
		bool is_used = false;

		for (unsigned at = piece.from; at < piece.to; at++) {
			is_used =
			    is_used || part->match.used >> MIN(at - words.from, 63) & 1;
			loose += is_unused(language, &words, &part->match, at);
		}
		/* "Robots, once a week", not "On the side, ..." */
		if (!is_used &&
		    loose > (unsigned)(i > 0 || piece.to > piece.from + 1)) {
			add_item(
			    reading, item_new(PROSE_UNREAD, copy_span(&piece)), unit);
			if (i == 0)
				part->start = cuts[1];
		}
	}
}

/* "Nothing at all in 30 days?" asks for no pause: it requests nothing. */
static bool
is_mere_question(const struct part *part, const struct phrases_span *span)
{
	static const char *const intents[] = {
	    "pause", "leave", "remove", "edit", "fewer", NULL};

	if (get_word(span, span->to - 1)->mark != '?')
		return false;
	return part->loose
	           ? g_strv_contains(intents, part->match.intent) &&
	                 !phrases_has("asking", span)
	           : strcmp(part->match.intent, "pause") == 0 &&
	                 !phrases_has("hold", span) && !phrases_has("courtesy", span);
}

/* "The Falcon paper | I do not want to see again": neither a mark nor a connective is
 * between a part and the one before. */
static bool
goes_on_in(const struct phrases *language, const struct phrases_span *span,
    const struct part *part)
{
	const struct phrases_span before =
	    make_span(span->text, part->start - 1, part->to);

	return part->start == part->from && !get_word(span, part->start - 1)->mark &&
	       skip_connective(language, &before) == before.from;
}

/* A sentence in which nothing was understood is one item. */
static void
add_parts(struct reading *reading, struct parse *parse, const struct phrases_span *span,
    const struct unit *unit)
{
	bool has_topics = false, is_leaving = false, is_leaving_of_rest = false;

	for (unsigned i = 0; i < parse->count; i++) {
		const struct part *part = &parse->parts[i];

		if (g_strcmp0(part->match.intent, "leave") != 0)
			continue;
		is_leaving = true;
		is_leaving_of_rest =
		    is_leaving_of_rest || (i && parse->parts[i - 1].unread &&
		                              goes_on_in(parse->language, span, part));
	}
	for (unsigned i = 0; i < parse->count; i++)
		has_topics = has_topics || (parse->parts[i].match.values &&
		                               phrases_get_value(&parse->parts[i].match,
		                                   "topics", 0) &&
		                               i + 1 < parse->count);
	if (((parse->unread || parse->loose || is_leaving) &&
	        has_doubt(parse->language, span)) ||
	    is_leaving_of_rest || (is_leaving && is_short_question(span)) ||
	    has_unused_value(parse, span)) {
		struct prose_item *item = item_new(PROSE_DOUBT, copy_span(span));

		item->is_leaving = is_leaving;
		add_item(reading, item, unit);
		return;
	}
	if (parse->unread && !parse->wishes) {
		struct prose_item *item = item_new(PROSE_UNREAD, copy_span(span));

		item->is_whole = true;
		add_item(reading, item, unit);
		return;
	}
	for (unsigned i = 0; i < parse->count; i++) {
		struct part *part = &parse->parts[i];
		const struct phrases_span words = make_span(span->text,
		    part->from + (unsigned)MAX(g_bit_nth_lsf(part->match.used, -1), 0),
		    part->to);
		bool goes_on = g_strcmp0(part->match.intent, "exclude") == 0 &&
		               part->match.literal < 3 &&
		               phrases_skip_any("break", &words) > words.from;

		/* "robots without surveys", not "I tried without success" */
		if (part->match.intent && (has_topics || !goes_on) &&
		    !is_mere_question(part, span) &&
		    (part->loose || !(parse->unread && is_weak(part, span))) &&
		    !(parse->unread > part->match.literal && !part->loose &&
		        phrases_get_value(&part->match, "topics", 0))) {
			add_loose(reading, parse->language, part, span, unit);
			add_wish(reading, part, span->text, unit);
		} else if (part->unread || part->match.intent)
			add_item(reading,
			    item_new(PROSE_UNREAD,
			        phrases_copy(span->text, part->start, part->to)),
			    unit);
		else
			cut(reading, phrases_copy(span->text, part->start, part->to),
			    "filler", unit);
	}
}

static bool
is_thanks(const struct parse *parse)
{
	return !parse->unread && parse->wishes == 1 &&
	       g_strcmp0(parse->parts[0].match.intent, "thanks") == 0;
}

/* Whether a wish is for a filter that it does not name: "make it ..." */
static bool
lacks_filter(const struct phrases_match *match)
{
	return match->intent &&
	       (strcmp(match->intent, "edit") == 0 ||
	           strcmp(match->intent, "remove") == 0) &&
	       !phrases_get_value(match, "filter", 0) &&
	       !phrases_get_value(match, "number", 0) &&
	       !phrases_get_value(match, "count", 0) &&
	       !phrases_get_value(match, "nth", 0);
}

/* Add the values of the only phrase of a section that a sentence has to a match.
 * @param used  set to the words of the phrase */
static bool
add_value(const char *section, struct phrases_span rest, struct phrases_match *match,
    struct phrases_span *used)
{
	struct phrases_match found = {0};

	for (; rest.from < rest.to; rest.from++) {
		const struct phrases_span phrase =
		    make_span(rest.text, rest.from, phrases_skip_any(section, &rest));
		struct phrases_match one;

		if (phrase.from == phrase.to || !phrases_cover(section, &phrase, &one))
			continue;
		if (found.values) {
			phrases_match_clear(&found);
			phrases_match_clear(&one);
			return false;
		}
		found = one;
		*used = phrase;
		rest.from = phrase.to - 1;
	}
	for (guint i = 0; found.values && i < found.values->len; i++) {
		const struct phrases_value *value =
		    &g_array_index(found.values, struct phrases_value, i);

		phrases_add_value(match, value->name, g_strdup(value->text));
	}
	phrases_match_clear(&found);
	return used->text != NULL;
}

/*
 * A wish without a value gets the only one that its sentence has: "I am on holiday
 * until Monday, please pause."
 */
static void
add_values(const struct phrases_span *span, struct parse *parse)
{
	static const struct {
		const char *intent, *section;
	} slots[] = {{"pause", "until"}, {"time", "hour"}, {"frequency", "every"}};

	for (unsigned i = 0; i < parse->count; i++) {
		struct part *part = &parse->parts[i];
		struct phrases_span used = {0};
		const char *section = NULL;

		for (size_t j = 0; part->match.intent && j < G_N_ELEMENTS(slots); j++)
			if (strcmp(part->match.intent, slots[j].intent) == 0)
				section = slots[j].section;
		if (!section || part->match.values->len ||
		    !add_value(section, *span, &part->match, &used))
			continue;
		for (unsigned j = 0; j < parse->count; j++) {
			struct part *other = &parse->parts[j];
			unsigned at = MAX(used.from, other->from);

			for (; at < MIN(used.to, other->to); at++)
				other->match.used |= 1ULL << MIN(at - other->from, 63);
		}
	}
}

/* Find the number or name of a filter in words, and add it to a match. */
static bool
add_filter(struct phrases_span rest, struct phrases_match *match)
{
	static const char *const sections[] = {"filter-number", "filter-name"};

	for (; rest.from < rest.to; rest.from++) {
		for (size_t i = 0; i < G_N_ELEMENTS(sections); i++) {
			unsigned end = phrases_skip_any(sections[i], &rest);
			const struct phrases_span named =
			    make_span(rest.text, rest.from, end);
			struct phrases_match found;
			const struct phrases_value *value;

			/* "first" alone may be of anything. */
			if (end < rest.from + 2 ||
			    !phrases_cover(sections[i], &named, &found))
				continue;
			value = &g_array_index(found.values, struct phrases_value, 0);
			phrases_add_value(
			    match, i ? "filter" : "number", g_strdup(value->text));
			phrases_match_clear(&found);
			return true;
		}
	}
	return false;
}

/* "Filter 1 is too broad. Make it ...": the filter is named before, or its words are
 * in the sentence, which the value "context" has. */
static void
refer_to_filter(
    struct reading *reading, const struct phrases_span *span, struct parse *parse)
{
	GPtrArray *items = reading->prose->items;
	const struct prose_item *last =
	    items->len ? items->pdata[items->len - 1] : NULL;
	bool goes_back = reading->before.text && reading->before.to == span->from &&
	                 last && last->kind == PROSE_UNREAD && last->is_whole;

	for (unsigned i = 0; i < parse->count; i++) {
		struct part *part = &parse->parts[i];
		const struct phrases_span before =
		    make_span(span->text, span->from, part->from);

		if (!lacks_filter(&part->match))
			continue;
		if (!add_filter(before, &part->match)) {
			if (goes_back && add_filter(reading->before, &part->match))
				g_ptr_array_remove_index(items, items->len - 1);
			else
				phrases_add_value(
				    &part->match, "context", copy_span(span));
		} else if (i && parse->parts[i - 1].unread) {
			parse->unread -= parse->parts[i - 1].unread;
			parse->parts[i - 1].unread = 0;
			parse->parts[i - 1].from = parse->parts[i - 1].to;
		}
	}
}

/* "I read on Fridays. Could it come then?" @param span  set to both sentences then */
static void
join_sentences(struct reading *reading, struct phrases_span *span, struct parse *parse)
{
	GPtrArray *items = reading->prose->items;
	const struct prose_item *last =
	    items->len ? items->pdata[items->len - 1] : NULL;
	const struct phrases_span both =
	    make_span(span->text, reading->before.from, span->to);
	struct parse joined = {.unread = G_MAXUINT};

	if (!last || last->kind != PROSE_UNREAD || !last->is_whole)
		return;
	parse_by_cues(reading->prose->language, &both, &joined);
	if (!joined.wishes) {
		parse_clear(&joined);
		return;
	}
	parse_clear(parse);
	*parse = joined;
	g_ptr_array_remove_index(items, items->len - 1);
	*span = both;
}

/* Whether words ask for topics and name none: "Sign me up for". */
static bool
is_open(const char *language, const struct phrases_span *span)
{
	struct parse parse;
	bool is_found;

	parse_best(language, NULL, span, &parse);
	is_found = parse.wishes == 1 && !parse.unread;
	for (unsigned i = 0; is_found && i < parse.count; i++)
		is_found = !parse.parts[i].match.intent ||
		           (is_open_wish(parse.parts[i].match.intent) &&
		               !phrases_get_value(&parse.parts[i].match, "topics", 0));
	parse_clear(&parse);
	return is_found;
}

/*
 * "I need two more topics: robots, drones"
 *
 * @param parse  of the sentence; other wishes in it stay
 * @return whether the sentence is that
 */
static bool
read_list(struct reading *reading, const struct phrases_span *span,
    const struct parse *parse, const struct unit *unit)
{
	const struct phrases *language = parse->language;
	struct phrases_span head = make_span(span->text, span->from, span->from), tail;
	g_autoptr(GPtrArray) topics = g_ptr_array_new_with_free_func(g_free);
	struct prose_item *item;
	bool has_wish = false;

	/* "Nehmen Sie folgende Themen auf" looks like "nehmen Sie ... raus", which has
	 * a word that refuses. */
	for (unsigned i = 0; i < parse->count; i++)
		has_wish = has_wish ||
		           (parse->parts[i].match.intent &&
		               strcmp(parse->parts[i].match.intent, "remove") != 0);

	while (head.to < span->to && *get_word(&head, head.to)->start != ':')
		head.to++;
	tail = make_span(span->text, head.to + 1, span->to);
	while (tail.to > tail.from && get_word(&tail, tail.to - 1)->mark)
		tail.to--;
	if (head.from == head.to || tail.from >= tail.to || phrases_has("no", &head) ||
	    phrases_has("hint exclude", &head) ||
	    !split_topics(language, &tail, true, topics) ||
	    !((!has_wish && (phrases_has("keyword", &head) ||
	                        (topics->len > 1 && phrases_has("asking", &head)))) ||
	        is_open(reading->prose->language, &head)))
		return false;
	item = item_new(PROSE_WISH, copy_span(span));
	item->wish.language = language;
	item->wish.intent = "add";
	add_topics(item, &tail);
	add_item(reading, item, unit);
	reading->has_topics = reading->has_topics || !unit->is_subject;
	return true;
}

static void
read_sentence(struct reading *reading, const struct phrases_span *sentence,
    const struct unit *unit)
{
	struct phrases_span both = *sentence, *span = &both;
	struct parse parse;
	bool has_cues = !unit->is_subject || reading->is_subject_only;
	bool is_contact_line =
	    g_array_index(reading->paragraphs, bool, unit->paragraph);
	bool is_doubtful, has_thanked, is_address = false;

	reading->sentences++;
	parse_best(reading->prose->language,
	    reading->prose->language && reading->sentences > MIXED_SENTENCES
	        ? reading->languages
	        : NULL,
	    span, &parse);
	if (parse.unread && !reading->has_closed &&
	    read_list(reading, span, &parse, unit)) {
		reading->before = make_span(NULL, 0, 0);
		parse_clear(&parse);
		return;
	}
	if (parse.unread && !reading->has_closed && has_cues &&
	    reading->cue_sentences++ < CUE_SENTENCES)
		parse_by_cues(reading->prose->language, span, &parse);
	refer_to_filter(reading, span, &parse);
	add_values(span, &parse);
	if (!parse.wishes && has_cues && reading->before.text &&
	    reading->before.to == span->from)
		join_sentences(reading, span, &parse);
	reading->before = parse.wishes ? make_span(NULL, 0, 0) : *span;
	if (parse.wishes || !parse.unread)
		count_language(reading, parse.language);
	has_thanked = is_thanks(&parse);
	/* After the closing formula only what is certainly a wish is read. */
	for (unsigned i = 0; i < parse.count; i++)
		is_address = is_address ||
		             g_strcmp0(parse.parts[i].match.intent, "address") == 0;
	is_doubtful = !parse.wishes || (reading->has_closed && parse.unread) ||
	              (is_contact_line && !is_address &&
	                  (parse.loose || parse.literal < CONTACT_WORDS));
	/* A whole sentence beside an address is not part of it. */
	if (!reading->has_closed && count_words(span) > CONTACT_WORDS &&
	    strchr(".?", get_word(span, span->to - 1)->mark ?: ' '))
		is_contact_line = false;
	if ((reading->has_closed || is_contact_line) && is_doubtful)
		cut(reading, copy_span(span), is_contact_line ? "contact" : "closing",
		    unit);
	else if (reading->has_thanked && !parse.wishes && is_name_like(span))
		cut(reading, copy_span(span), "name", unit);
	else
		add_parts(reading, &parse, span, unit);
	reading->has_read = reading->has_read || !unit->is_subject;
	reading->has_thanked = has_thanked;
	parse_clear(&parse);
}

/* Whether a wish is before a semicolon, and no topic after it: "stop the mails; I am
 * busy", not "filter 2; stop it" or "send robots; drones". */
static bool
is_between_sentences(
    const struct reading *reading, const struct phrases_span *span, unsigned at)
{
	const struct phrases_span before = make_span(span->text, span->from, at);
	struct phrases_span next = make_span(span->text, at + 1, at + 1);

	while (next.to < span->text->words->len && !get_word(&next, next.to)->mark)
		next.to++;
	return next.to > next.from && before.from < before.to &&
	       !split_topics(
	           find_language(reading->prose->language), &next, false, NULL) &&
	       is_wish(&before);
}

static void
read_sentences(struct reading *reading, struct phrases_text *text, unsigned from,
    const struct unit *unit)
{
	struct phrases_span span = make_span(text, from, from);
	unsigned semicolons = 0; /* in the sentence: a look at one takes long */

	for (unsigned at = from; at < text->words->len; at++) {
		char mark = phrases_get_word(text, at)->mark;
		const struct phrases_span word =
		    make_span(text, at - (at > span.from), at);
		bool is_end =
		    mark == '?' ||
		    (mark == '.' && !phrases_has("abbreviation", &word)) ||
		    (*phrases_get_word(text, at)->start == ';' && !semicolons++ &&
		        is_between_sentences(reading, &span, at));

		if (!is_end && at + 1 < text->words->len)
			continue;
		span.to = at + 1;
		if (count_words(&span))
			read_sentence(reading, &span, unit);
		span.from = at + 1;
		semicolons = 0;
	}
}

static void
read_unit(struct reading *reading, const struct unit *unit)
{
	pb_auto(phrases_text) text = phrases_text_new(unit->text);
	const struct phrases_span span = make_whole(text);
	unsigned from;

	reading->before = make_span(NULL, 0, 0);
	phrases_correct(text);
	reading->is_disclaimer =
	    reading->is_disclaimer || phrases_skip_any("disclaimer", &span) > 0;
	if (reading->is_disclaimer && !unit->is_subject) {
		cut(reading, g_strdup(unit->text), "disclaimer", unit);
	} else if (unit->is_command) {
		pb_auto(prose_item) wish = prose_read_line(unit->text);

		reading->is_open = reading->is_open ||
		                   (wish && is_open_wish(wish->wish.intent) &&
		                       !phrases_get_value(&wish->wish, "topic", 0));
		reading->has_read = reading->has_read || !unit->is_subject;
		add_item(reading, item_new(PROSE_COMMAND, g_strdup(unit->text)), unit);
	} else if (!count_words(&span)) {
		cut(reading, g_strdup(unit->text), "filler", unit);
	} else if (!unit->is_subject && (reading->has_read || reading->is_open) &&
	           is_closing(text)) {
		reading->has_closed = true;
		cut(reading, g_strdup(unit->text), "closing", unit);
	} else if (!unit->is_subject &&
	           (is_own_name(reading, text) || is_last_name(reading, unit, text) ||
	               is_address_block(reading, unit))) {
		cut(reading, g_strdup(unit->text), "name", unit);
	} else {
		from = skip_salutation(text);
		if (from)
			cut(reading, phrases_copy(text, 0, from), "salutation", unit);
		read_sentences(reading, text, from, unit);
	}
}

/* ---- lines that are topics ---- */

/* @param item  becomes a wish if all of it is topics */
static void
read_topics(struct reading *reading, struct prose_item *item)
{
	pb_auto(phrases_text) text = phrases_text_new(item->line);
	struct phrases_span span = make_whole(text);
	const struct phrases *language = find_language(reading->prose->language);

	g_autoptr(GPtrArray) topics = g_ptr_array_new_with_free_func(g_free);
	unsigned words = count_words(&span), stops = 0;

	while (span.to && get_word(&span, span.to - 1)->mark == '.') {
		span.to--;
		stops++;
	}
	/* "Robots. Drones." are topics, "I have to run now." is not. */
	if (!split_topics(language, &span, false, topics) ||
	    (stops && !item->is_listed && words > STATED_WORDS * topics->len))
		return;
	reading->has_topics = true;
	item->kind = PROSE_WISH;
	item->wish.language = language;
	item->wish.intent = "add";
	add_topics(item, &span);
}

/* Topics that another wish follows: "robots and drones, once a week". */
static bool
is_before_wish(const GPtrArray *items, guint at)
{
	static const char *const wishes[] = {
	    "frequency", "time", "fewer", "author", NULL};
	const struct prose_item *item = items->pdata[at];
	const struct prose_item *next =
	    at + 1 < items->len ? items->pdata[at + 1] : NULL;

	return next && next->sentence == item->sentence && next->kind == PROSE_WISH &&
	       g_strv_contains(wishes, next->wish.intent) &&
	       (!at || ((const struct prose_item *)items->pdata[at - 1])->sentence !=
	                   item->sentence);
}

/* "Could you send me what is new on" above lines with bullets */
static bool
is_above_list(const GPtrArray *items, guint at)
{
	const struct prose_item *item = items->pdata[at];
	const struct prose_item *next =
	    at + 1 < items->len ? items->pdata[at + 1] : NULL;

	return next && next->is_listed && next->kind == PROSE_UNREAD &&
	       next->sentence != item->sentence && !item->is_listed &&
	       item->kind == PROSE_UNREAD && !item->is_in_subject &&
	       !prose_has("no", item->line) && !prose_has("hint exclude", item->line) &&
	       (prose_has("asking", item->line) || g_str_has_suffix(item->line, ":"));
}

/* Whether a text asks for topics, and for nothing else. */
static bool
is_only_wish(const GPtrArray *items)
{
	for (guint i = 0; i < items->len; i++) {
		const struct prose_item *item = items->pdata[i];

		if (!item->is_in_subject && item->kind != PROSE_CUT &&
		    item->kind != PROSE_WISH)
			return false;
	}
	return true;
}

/* Whether no pattern has a word of a line: "seismic inversion", not "new papers". */
static bool
has_no_known(const char *code, const char *line)
{
	pb_auto(phrases_text) text = phrases_text_new(line);

	for (guint i = 0; i < text->words->len; i++)
		if (phrases_get_word(text, i)->mark ||
		    phrases_knows(find_language(code), phrases_get_word(text, i)))
			return false;
	return true;
}

/* Whether nothing of a sentence was understood. */
static bool
is_all_unread(const GPtrArray *items, guint at)
{
	unsigned sentence = ((const struct prose_item *)items->pdata[at])->sentence;

	for (guint i = 0; i < items->len; i++) {
		const struct prose_item *item = items->pdata[i];

		if (item->sentence == sentence &&
		    (item->kind == PROSE_DOUBT ||
		        (item->kind == PROSE_WISH &&
		            !phrases_get_value(&item->wish, "topic", 0))))
			return false;
	}
	return true;
}

/*
 * Lines are topics if the message asks for some, and has none in a sentence.  Those
 * with bullets always are; others only before the first sentence that was not
 * understood, unless it announces topics: then names and remarks are likely.
 */
static void
read_all_topics(struct reading *reading)
{
	const struct prose_mail *mail = reading->mail;
	const GPtrArray *items = reading->prose->items;
	bool is_open, can_be;

	for (guint i = 0; !reading->has_topics && i < items->len; i++) {
		struct prose_item *item = items->pdata[i];

		if (!is_above_list(items, i))
			continue;
		reading->is_open = true;
		if (strchr(item->line, '?'))
			continue;
		item->kind = PROSE_CUT;
		item->reason = "heading";
	}
	is_open = can_be = reading->is_open && !reading->has_topics;
	for (guint i = 0; is_open && i < items->len; i++) {
		struct prose_item *item = items->pdata[i];

		/* "A friend told me. Sign me up. Robots and drones." */
		if (item->kind == PROSE_WISH && !item->is_in_subject &&
		    is_open_wish(item->wish.intent))
			can_be = true;
		if (item->kind == PROSE_DOUBT)
			can_be = false;
		if (item->kind != PROSE_UNREAD || item->is_in_subject)
			continue;
		if (reading->last_paragraph &&
		    item->paragraph > reading->last_paragraph && !item->is_listed)
			continue;
		if ((is_all_unread(items, i) || is_before_wish(items, i)) &&
		    (can_be || item->is_listed) &&
		    !(mail->is_slip && mail->is_slip(item->line)))
			read_topics(reading, item);
		can_be = can_be && (item->kind == PROSE_WISH ||
		                       g_str_has_suffix(item->line, ":") ||
		                       prose_has("keyword", item->line));
	}
	/* "Subject: robots, drones": a list, and the text only asks to subscribe. */
	is_open = !reading->has_topics && (reading->is_open || reading->is_alone);
	for (guint i = 0; is_open && i < items->len; i++) {
		struct prose_item *item = items->pdata[i];

		if (item->kind == PROSE_UNREAD && item->is_in_subject &&
		    (!item->is_whole || strpbrk(item->line, ",;") ||
		        (is_only_wish(items) &&
		            has_no_known(reading->prose->language, item->line))))
			read_topics(reading, item);
	}
}

bool
prose_is_topic(const char *line)
{
	pb_auto(phrases_text) text = phrases_text_new(line);
	const struct phrases_span span = make_whole(text);

	for (unsigned at = 0; at < span.to; at++)
		if (get_word(&span, at)->mark == '.' ||
		    get_word(&span, at)->mark == '?')
			return false;
	return !phrases_has("never", &span) &&
	       phrases_skip_any("not-first", &span) == 0 &&
	       phrases_skip_any("not-next", &span) == 0 &&
	       phrases_skip_any("connective", &span) == 0;
}

/* ---- the mail ---- */

/* @param is_of_text  in the subject there is none, nor are thanks and "I am away",
 *                    which an automatic reply says; but a question, which it does not
 *                    ask */
static bool
has_wish(const struct prose *prose, bool is_of_text)
{
	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];

		if (is_of_text && !item->is_in_subject &&
		    g_str_has_suffix(item->line, "?"))
			return true;
		if (item->kind <= PROSE_WISH &&
		    !(is_of_text && (item->is_in_subject ||
		                        g_strcmp0(item->wish.intent, "away") == 0 ||
		                        g_strcmp0(item->wish.intent, "thanks") == 0)))
			return true;
	}
	return false;
}

/* Whether the text asks for something that was not understood. */
static bool
has_request(const struct prose *prose)
{
	for (guint i = 0; i < prose->items->len; i++) {
		const struct prose_item *item = prose->items->pdata[i];

		if (!item->is_in_subject && item->kind > PROSE_CUT &&
		    prose_has("asking", item->line))
			return true;
	}
	return false;
}

/* A phrase of automatic replies, and then a colon and another subject. */
static bool
is_automatic_subject(const char *subject)
{
	pb_auto(phrases_text) text = phrases_text_new(subject);
	const struct phrases_span span = make_whole(text);
	unsigned end = phrases_skip_any("automatic", &span);

	if (!end || end + 1 >= span.to)
		return false;
	/* "Away Re: your subject" */
	return *get_word(&span, end)->start == ':' ||
	       command_text_skip_prefixes(get_word(&span, end)->start) !=
	           get_word(&span, end)->start;
}

/* Guess the language of a mail of which no sentence was understood. */
static void
guess_of_mail(struct prose *prose, const struct prose_mail *mail)
{
	g_autofree char *whole = g_strconcat(mail->subject, "\n", mail->text, NULL);
	pb_auto(phrases_text) text = phrases_text_new(whole);
	const struct phrases_span span = make_whole(text);
	const struct phrases *language = guess_language(NULL, &span, GUESS_WORDS);

	prose->language = language ? phrases_get_language(language) : NULL;
}

/* Cues count in the subject, too, if the text says nothing: it is read again. */
static void
read_subject_again(struct reading *reading)
{
	g_autoptr(GPtrArray) before = reading->prose->items;
	GPtrArray *items =
	    g_ptr_array_new_with_free_func((GDestroyNotify)prose_item_free);

	reading->prose->items = items;
	reading->is_subject_only = true;
	reading->has_closed = false;
	read_unit(reading, reading->units->pdata[0]);
	for (guint i = 0; i < before->len; i++) {
		struct prose_item *item = before->pdata[i];

		if (item->is_in_subject)
			continue;
		before->pdata[i] = NULL;
		g_ptr_array_add(items, item);
	}
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
		    mail->is_command && mail->is_command(mail->subject), 0);
		((struct unit *)units->pdata[0])->is_subject = true;
	}
	find_units(&reading, mail->text);
	for (guint i = 0; i < units->len; i++)
		read_unit(&reading, units->pdata[i]);
	reading.is_alone = *mail->subject && units->len == 1;
	if (*mail->subject && !has_wish(prose, false))
		read_subject_again(&reading);
	read_all_topics(&reading);
	if (!prose->language)
		guess_of_mail(prose, mail);
	first = units->len > (*mail->subject ? 1 : 0)
	            ? ((struct unit *)units->pdata[*mail->subject ? 1 : 0])->text
	            : "";
	/* "Out of office: your subject"; a person can be on holiday, too. */
	prose->is_automatic =
	    is_automatic_subject(
	        mail->whole_subject ? mail->whole_subject : mail->subject) ||
	    (!has_wish(prose, true) && (mail->is_reply || !has_request(prose)) &&
	        (prose_has("automatic", mail->subject) ||
	            (mail->is_reply && prose_has("automatic", first))));
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
is_acronym(const char *letters, struct phrases_text *text)
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
