/*
 * phrases.c - read etc/phrases, and match its patterns.
 */
#include "message/phrases.h"

#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

#include "base/edit_distance.h"
#include "message/phrases_data.h"

#define PHRASES_PATH "/paperboy/phrases"
#define ENGLISH      "en"
#define INTENT       "intent "

/* Maximum number of words that a slot takes. */
#define SLOT_WORDS_MAX 40

/*
 * Maximum number of steps to match one pattern at one place; a pattern of the files
 * needs less than a tenth for any sentence that a person writes.
 */
#define STEPS_MAX 20000

/* Text in brackets is looked for within that many bytes. */
#define BRACKET_BYTES 160

/*
 * Words from that length are corrected if up to so many letters are wrong; shorter ones
 * are too often another word.
 */
#define MISSPELT_BYTES 8
#define SLIPS_MAX      2

/* Maximum number of words of a filler. */
#define FILLER_WORDS_MAX 8

/* ---- text ---- */

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
is_symbol(gunichar c)
{
	return g_unichar_type(c) == G_UNICODE_OTHER_SYMBOL;
}

static bool
is_letter(gunichar c)
{
	return g_unichar_isalnum(c) || g_unichar_ismark(c) || is_unspaced(c);
}

static bool
is_apostrophe(gunichar c)
{
	return c == '\'' || c == '`' || c == 0xB4 || c == 0x2BC || c == 0x2018 ||
	       c == 0x2019;
}

static char *
strip_accents(const char *exact)
{
	GString *plain = g_string_new(NULL);

	for (const char *at = exact; *at; at = g_utf8_next_char(at)) {
		gunichar c = g_utf8_get_char(at);
		char utf8[7] = {0};
		g_autofree char *ascii = NULL;

		g_unichar_to_utf8(c, utf8);
		/* Of the Turkish capital I with a dot. */
		if (c == 0x307)
			continue;
		if (g_unichar_get_script(c) == G_UNICODE_SCRIPT_LATIN)
			ascii = g_str_to_ascii(utf8, "C");
		/* g_str_to_ascii() does not know dotless i. */
		g_string_append(plain, c == 0x131 ? "i" : ascii ? ascii : utf8);
	}
	return g_string_free(plain, FALSE);
}

/* "moechte" for "möchte" @return NULL if there is none */
static char *
fold_digraphs(const char *plain)
{
	GString *folded = g_string_new(NULL);

	for (const char *at = plain; *at; at++) {
		g_string_append_c(folded, *at);
		at += strchr("aou", *at) && at[1] == 'e';
	}
	return g_string_free(folded, strcmp(folded->str, plain) == 0);
}

static void
add_word(struct phrases_text *text, const char *start, const char *end)
{
	struct phrases_word word = {.start = start, .end = end};
	g_autofree char *raw = g_strndup(start, (gsize)(end - start));
	g_autofree char *whole = g_utf8_normalize(raw, -1, G_NORMALIZE_NFKC);
	g_autofree char *lower = g_utf8_casefold(whole ? whole : "", -1);
	g_autofree char *composed = g_utf8_normalize(lower, -1, G_NORMALIZE_NFKC);
	GString *exact = g_string_new(NULL);

	for (const char *at = composed; *at; at = g_utf8_next_char(at))
		if (!is_apostrophe(g_utf8_get_char(at)))
			g_string_append_unichar(exact, g_utf8_get_char(at));
	word.exact = g_string_free(exact, FALSE);
	word.plain = strip_accents(word.exact);
	word.digraph = fold_digraphs(word.plain);
	g_array_append_val(text->words, word);
}

static void
add_mark(struct phrases_text *text, const char *start, const char *end, char mark)
{
	struct phrases_word word = {.start = start, .end = end, .mark = mark};

	g_array_append_val(text->words, word);
}

/* Marks of sentences; others are ignored. */
static char
get_mark(gunichar c)
{
	static const struct {
		const char *characters;
		char mark;
	} marks[] = {{",;:|&/+•·，；：、–—", ','}, {".!…。！．", '.'}, {"?？;", '?'},
	    {"([{（【「", '('}, {")]}）】」", ')'}};

	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++)
		if (g_utf8_strchr(marks[i].characters, -1, c))
			return marks[i].mark;
	return 0;
}

static bool
is_blank(const char *at)
{
	return !*at || g_unichar_isspace(g_utf8_get_char(at));
}

/* "14. Dezember", "J. Smith", "e.g." */
static bool
is_abbreviation(const struct phrases_text *text, const char *at)
{
	const struct phrases_word *last =
	    text->words->len ? phrases_get_word(text, text->words->len - 1) : NULL;
	bool is_short;

	if (!last || last->mark || last->end != at ||
	    is_unspaced(g_utf8_get_char(last->start)))
		return false;
	is_short =
	    g_utf8_strlen(last->plain, -1) == 1 && !g_ascii_isdigit(*last->plain);
	return is_short || (strspn(last->plain, "0123456789") == strlen(last->plain) &&
	                       at[strspn(at, ". \n")] != '\0');
}

/* The marks inside brackets are ignored. @param closing  of the open bracket, or NULL
 */
static void
read_mark(
    struct phrases_text *text, const char *at, const char *end, const char **closing)
{
	gunichar c = g_utf8_get_char(at);
	char mark = get_mark(c);

	if (*closing && at < *closing)
		return;
	if (mark == '(' && g_unichar_get_mirror_char(c, &c)) {
		char utf8[7] = {0};

		g_unichar_to_utf8(c, utf8);
		*closing = g_strstr_len(end, BRACKET_BYTES, utf8);
		mark = *closing ? mark : 0;
	} else if (mark == ')') {
		mark = *closing == at ? mark : 0;
	} else if (c == '-') {
		/* A dash, or the beginning of an item. */
		bool is_after = at == text->text || is_blank(at - 1);

		mark = is_after && is_blank(end) ? ',' : 0;
	} else if (c < 0x80 && mark == '.' &&
	           (!is_blank(end) || (c == '.' && is_abbreviation(text, at)))) {
		mark = strchr(".!?", *end) ? '.' : 0;
	} else if (c == '/' && !is_blank(end) && g_ascii_isdigit(*end)) {
		mark = 0;
	}
	if (mark)
		add_mark(text, at, end, mark);
}

/* An address or a link is one word, without the punctuation after it. @return its end
 */
static const char *
find_link_end(const char *at)
{
	size_t size = strcspn(at, " \t\r\n<>(),;\"");
	const char *end = at + size;
	const char *sign = memchr(at, '@', size);

	if (!(sign && sign > at && sign + 1 < end) &&
	    !g_strstr_len(at, (gssize)size, "://"))
		return NULL;
	while (end > at && strchr(".!?:", end[-1]))
		end--;
	return end;
}

/* "18:30", "7.12", "2026-12-01", "don't", "c++" */
static const char *
find_word_end(const char *at)
{
	bool is_number = g_unichar_isdigit(g_utf8_get_char(at));

	if (is_unspaced(g_utf8_get_char(at)) || is_symbol(g_utf8_get_char(at)))
		return g_utf8_next_char(at);
	for (;;) {
		const char *next = g_utf8_next_char(at);
		gunichar c = *next ? g_utf8_get_char(next) : 0;
		gunichar after = c ? g_utf8_get_char(g_utf8_next_char(next)) : 0;
		bool is_inside =
		    after && is_letter(after) && !is_unspaced(after) &&
		    (is_apostrophe(c) || (is_number && g_unichar_isdigit(after) &&
		                             c < 0x80 && strchr(".:-/", (int)c)));

		/* "c++" */
		if ((c == '+' || c == '#') && !is_letter(after)) {
			at = next;
			continue;
		}
		if (!c || is_unspaced(c) || (!is_letter(c) && !is_inside))
			return next;
		at = next;
	}
}

struct phrases_text *
phrases_text_new(const char *raw)
{
	struct phrases_text *text = g_new0(struct phrases_text, 1);
	const char *at, *closing = NULL;

	text->text = g_strdup(raw);
	text->lengths = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	text->words = g_array_new(FALSE, FALSE, sizeof(struct phrases_word));
	at = text->text;
	while (*at) {
		gunichar c = g_utf8_get_char(at);
		bool is_start = at == text->text || strchr(" \t\n<(", at[-1]);
		const char *end = is_start && is_letter(c) ? find_link_end(at) : NULL;

		if (!end && (is_letter(c) || is_symbol(c)))
			end = find_word_end(at);
		/* "+1" */
		if (!end && c == '+' && at[1] == '1' && is_start)
			end = at + 2;
		if (end) {
			add_word(text, at, end);
		} else {
			end = g_utf8_next_char(at);
			read_mark(text, at, end, &closing);
		}
		at = end;
	}
	return text;
}

void
phrases_text_free(struct phrases_text *text)
{
	if (!text)
		return;
	for (guint i = 0; i < text->words->len; i++) {
		struct phrases_word *word =
		    &g_array_index(text->words, struct phrases_word, i);

		g_free(word->plain);
		g_free(word->digraph);
		g_free(word->exact);
	}
	g_array_unref(text->words);
	g_hash_table_unref(text->lengths);
	g_free(text->text);
	g_free(text);
}

const struct phrases_word *
phrases_get_word(const struct phrases_text *text, unsigned at)
{
	return &g_array_index(text->words, struct phrases_word, at);
}

char *
phrases_copy(const struct phrases_text *text, unsigned from, unsigned to)
{
	const char *start;

	if (from >= to)
		return g_strdup("");
	start = phrases_get_word(text, from)->start;
	return g_strndup(start, (gsize)(phrases_get_word(text, to - 1)->end - start));
}

/* ---- patterns ---- */

enum kind {
	KIND_WORD,  /* a word */
	KIND_GROUP, /* (a|b), [a] or a set, <name> */
	KIND_SLOT,  /* words without a set */
	KIND_END,   /* $, the end of a clause */
	KIND_VALUE, /* the end of a pattern with a value */
};

struct node {
	enum kind kind;
	char *word;
	bool is_prefix, is_exact, is_optional;
	GPtrArray *choices; /* struct node *, owned; may be NULL: empty */
	const char *name;   /* of a set or slot; static */
	const char *value;
	struct node *next;
};

struct pattern {
	struct node *first;
	unsigned line;
};

struct set {
	GPtrArray *choices; /* struct node * */
};

struct phrases_language {
	char *code;
	GHashTable *sets;   /* name to GPtrArray of struct node * */
	GPtrArray *intents; /* const char * */
	GHashTable *words;  /* const char *: those of requests */
};

/* Slots that are not sets of a file. */
static const char *const slots[] = {"topics", "author", "title", "filter", "place",
    "number", "clock", "date", "address", NULL};

/* ---- reading a file ---- */

struct reader {
	const char *code;
	unsigned line;
	struct phrases_language *language;
	GPtrArray *set; /* the block that is read, or NULL */
	const char *set_name;
	GArray *uses; /* struct use: of sets, to be found at the end */
};

struct use {
	struct node *node;
	unsigned line;
};

/* The file is part of the program: an error in it is one in the program. */
static void G_NORETURN
fail(const struct reader *reader, unsigned line, const char *message, const char *what)
{
	g_autofree char *text = g_strconcat(message, what, NULL);
	g_autofree char *path = g_strconcat("etc/phrases/", reader->code, NULL);

	g_assertion_message(G_LOG_DOMAIN, path, (int)line, "", text);
	abort();
}

static struct node *
node_new(enum kind kind)
{
	struct node *node = g_new0(struct node, 1);

	node->kind = kind;
	return node;
}

static struct node *parse_sequence(struct reader *reader, const char **at);

/* "a|b" up to the closing bracket */
static struct node *
parse_group(struct reader *reader, const char **at, char closing)
{
	struct node *node = node_new(KIND_GROUP);

	node->is_optional = closing == ']';
	node->choices = g_ptr_array_new();
	do {
		++*at;
		g_ptr_array_add(node->choices, parse_sequence(reader, at));
	} while (**at == '|');
	if (**at != closing)
		fail(reader, reader->line, "a bracket is not closed", "");
	++*at;
	return node;
}

static struct node *
parse_slot(struct reader *reader, const char **at)
{
	const char *end = strchr(*at, '>');
	g_autofree char *name = end ? g_strndup(*at + 1, (gsize)(end - *at - 1)) : NULL;
	struct node *node;

	if (!end)
		fail(reader, reader->line, "'<' without '>'", "");
	*at = end + 1;
	node = node_new(g_strv_contains(slots, name) ? KIND_SLOT : KIND_GROUP);
	node->name = g_intern_string(name);
	if (node->kind == KIND_GROUP) {
		struct use use = {node, reader->line};

		g_array_append_val(reader->uses, use);
	}
	return node;
}

/* Blocks whose words are not those of requests. */
static bool
is_of_answers(const char *set)
{
	static const char *const answers[] = {"yes", "yes-anyway", "no", "not-no",
	    "automatic", "disclaimer", "closing", NULL};

	return g_strv_contains(answers, set);
}

/* A word of the file can be several: "e-mail". */
static struct node *
parse_words(struct reader *reader, const char **at, struct node ***last)
{
	size_t size = strcspn(*at, " |()[]<>$");
	g_autofree char *raw = g_strndup(*at, size);
	bool is_exact = *raw == '=', is_prefix = g_str_has_suffix(raw, "*");
	pb_auto(phrases_text) text = NULL;
	struct node *node = NULL;

	*at += size;
	if (strcmp(raw, ":") == 0) {
		node = node_new(KIND_WORD);
		node->word = g_strdup(raw);
		**last = node;
		*last = &node->next;
		return node;
	}
	if (is_prefix)
		raw[size - 1] = '\0';
	text = phrases_text_new(raw + is_exact);
	for (guint i = 0; i < text->words->len; i++) {
		const struct phrases_word *word = phrases_get_word(text, i);

		if (word->mark)
			continue;
		node = node_new(KIND_WORD);
		node->word = g_strdup(is_exact ? word->exact : word->plain);
		node->is_exact = is_exact;
		if (!is_prefix && !is_of_answers(reader->set_name))
			g_hash_table_add(reader->language->words, node->word);
		**last = node;
		*last = &node->next;
	}
	if (!node)
		fail(reader, reader->line, "not a word: ", raw);
	node->is_prefix = is_prefix;
	return node;
}

/* @return the first node, up to "|", a closing bracket, " = " or the end */
static struct node *
parse_sequence(struct reader *reader, const char **at)
{
	struct node *first = NULL, **last = &first;

	for (;;) {
		struct node *node;

		*at += strspn(*at, " ");
		if (!**at || strchr("|)]", **at) || g_str_has_prefix(*at, "= "))
			return first;
		if (**at == '(' || **at == '[')
			node = parse_group(reader, at, **at == '(' ? ')' : ']');
		else if (**at == '<')
			node = parse_slot(reader, at);
		else if (**at == '$')
			node = node_new(KIND_END), ++*at;
		else
			node = parse_words(reader, at, &last);
		if (node->kind != KIND_WORD) {
			*last = node;
			last = &node->next;
		}
	}
}

static void
read_pattern(struct reader *reader, const char *text)
{
	const char *at = text;
	struct node *first, **last = &first;

	if (!reader->set)
		fail(reader, reader->line, "a pattern before the first block", "");
	first = parse_sequence(reader, &at);
	if (!first || (*at && *at != '='))
		fail(reader, reader->line, "unexpected: ", *at ? at : text);
	if (*at) {
		while (*last)
			last = &(*last)->next;
		*last = node_new(KIND_VALUE);
		(*last)->name = g_str_has_prefix(reader->set_name, INTENT)
		                    ? "value"
		                    : reader->set_name;
		(*last)->value = g_intern_string(at + 2);
	}
	g_ptr_array_add(reader->set, first);
}

static void
read_line(struct reader *reader, const char *line)
{
	GHashTable *sets = reader->language->sets;

	reader->line++;
	if (!g_utf8_validate(line, -1, NULL))
		fail(reader, reader->line, "not UTF-8", "");
	if (*line == '\t') {
		read_pattern(reader, line + 1);
	} else if (*line && *line != '#') {
		reader->set_name = g_intern_string(line);
		reader->set = g_hash_table_lookup(sets, line);
		if (reader->set)
			fail(reader, reader->line,
			    "there is such a block already: ", line);
		reader->set = g_ptr_array_new();
		g_hash_table_insert(sets, g_strdup(line), reader->set);
		if (g_str_has_prefix(line, INTENT))
			g_ptr_array_add(
			    reader->language->intents, (gpointer)reader->set_name);
	}
}

static void
find_sets(struct reader *reader)
{
	for (guint i = 0; i < reader->uses->len; i++) {
		const struct use *use = &g_array_index(reader->uses, struct use, i);

		use->node->choices =
		    g_hash_table_lookup(reader->language->sets, use->node->name);
		if (!use->node->choices)
			fail(reader, use->line, "no such block: ", use->node->name);
	}
}

static struct phrases_language *
load_language(const char *code)
{
	g_autofree char *path = g_strconcat(PHRASES_PATH, "/", code, NULL);
	g_autoptr(GBytes) bytes = g_resources_lookup_data(path, 0, NULL);
	/* An overlay does not end with NUL. */
	g_autofree char *content =
	    g_strndup(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
	g_auto(GStrv) lines = g_strsplit(content, "\n", -1);
	g_autoptr(GArray) uses = g_array_new(FALSE, FALSE, sizeof(struct use));
	struct phrases_language *language = g_new0(struct phrases_language, 1);
	struct reader reader = {.code = code, .language = language, .uses = uses};

	language->code = g_strdup(code);
	language->sets = g_hash_table_new(g_str_hash, g_str_equal);
	language->intents = g_ptr_array_new();
	language->words = g_hash_table_new(g_str_hash, g_str_equal);
	for (char **line = lines; *line; line++)
		read_line(&reader, *line);
	find_sets(&reader);
	return language;
}

static gpointer
load_languages(gpointer unused)
{
	GPtrArray *languages = g_ptr_array_new();
	g_auto(GStrv) codes = NULL;

	(void)unused;
	(void)phrases_data_get_resource(); /* registers it */
	codes = g_resources_enumerate_children(PHRASES_PATH, 0, NULL);
	for (char **code = codes; code && *code; code++)
		g_ptr_array_insert(languages, strcmp(*code, ENGLISH) == 0 ? 0 : -1,
		    load_language(*code));
	return languages;
}

const GPtrArray *
phrases_get_languages(void)
{
	static GOnce once = G_ONCE_INIT;

	return g_once(&once, load_languages, NULL);
}

const char *
phrases_get_code(const struct phrases_language *language)
{
	return language->code;
}

const GPtrArray *
phrases_get_intents(const struct phrases_language *language)
{
	return language->intents;
}

bool
phrases_knows(const struct phrases_language *language, const struct phrases_word *word)
{
	return g_hash_table_contains(language->words, word->plain);
}

/* ---- matching ---- */

/* What follows a group that is being matched. */
struct frame {
	const struct node *next;
	const struct frame *up;
};

struct matcher {
	const struct phrases_language *language;
	const struct phrases_span *span;
	struct phrases_match found;      /* so far */
	struct phrases_match *best;      /* of all ways to match; NULL: the first one */
	bool is_whole;                   /* has to cover the span */
	const unsigned char *fillers;    /* see get_lengths() */
	const unsigned char *courtesies; /* the same, of courtesies only */
	unsigned steps;
	bool is_after_slot; /* the last thing matched is a slot of any words */
};

static bool
run(struct matcher *m, const struct node *node, unsigned at, const struct frame *frame);

static bool
is_word(const struct node *node, const struct phrases_word *word)
{
	const char *const forms[] = {node->is_exact ? word->exact : word->plain,
	    node->is_exact ? NULL : word->digraph};

	for (size_t i = 0; i < G_N_ELEMENTS(forms); i++)
		if (forms[i] &&
		    (node->is_prefix ? g_str_has_prefix(forms[i], node->word)
		                     : strcmp(forms[i], node->word) == 0))
			return true;
	return false;
}

/* @return the word after the closing bracket of an opening one; at if it is none */
static unsigned
skip_brackets(const struct phrases_span *span, unsigned at)
{
	unsigned end = at;

	if (phrases_get_word(span->text, at)->mark != '(')
		return at;
	while (end < span->to && phrases_get_word(span->text, end)->mark != ')')
		end++;
	return end < span->to ? end + 1 : at;
}

/* Whether fillers cover the rest. */
static bool
is_rest_filler(const struct matcher *m, unsigned at)
{
	const unsigned char *fillers = m->is_after_slot ? m->courtesies : m->fillers;

	if (at >= m->span->to)
		return true;
	if (phrases_get_word(m->span->text, at)->mark)
		return is_rest_filler(m, at + 1) ||
		       (skip_brackets(m->span, at) > at &&
		           is_rest_filler(m, skip_brackets(m->span, at)));
	for (unsigned size = 1; fillers && size <= FILLER_WORDS_MAX; size++)
		if (fillers[at] & 1U << (size - 1) && at + size <= m->span->to &&
		    is_rest_filler(m, at + size))
			return true;
	return false;
}

static bool
finish(struct matcher *m, unsigned at)
{
	if (m->is_whole && !is_rest_filler(m, at))
		return false;
	m->found.to = at;
	if (!m->best)
		return true;
	if (at > m->best->to)
		*m->best = m->found;
	return false;
}

/* Try each end of a slot that takes any words, the shortest first. */
static bool
run_slot(
    struct matcher *m, const struct node *node, unsigned at, const struct frame *frame)
{
	const struct phrases_span *span = m->span;
	unsigned last = MIN(span->to, at + SLOT_WORDS_MAX), count = m->found.count;

	for (unsigned to = at + 1; to <= last; to++) {
		if (phrases_get_word(span->text, to - 1)->mark == '.')
			break;
		if (count == PHRASES_VALUES_MAX ||
		    (span->check && !span->check(m->language, span->text, at, to,
		                        node->name, span->data)))
			continue;
		m->found.values[count] =
		    (struct phrases_value){node->name, NULL, at, to};
		m->found.count = count + 1;
		m->is_after_slot = true;
		if (run(m, node->next, to, frame))
			return true;
		m->is_after_slot = false;
	}
	m->found.count = count;
	return false;
}

/* Slots of one word. */
static bool
is_form(const char *name, const char *word)
{
	static const struct {
		const char *name, *form;
	} forms[] = {
	    {"number", "^\\d{1,4}(?:st|nd|rd|th)?$"},
	    {"clock", "^(?:\\d{1,2}[:.h]\\d\\d(?:am|pm|h)?|\\d{1,2}(?:am|pm|h))$"},
	    {"date",
	        "^(?:\\d{4}-\\d\\d?-\\d\\d?|\\d{1,2}[./-]\\d{1,2}(?:[./-]\\d{2,4})?)$"},
	    {"address", "^[^@]+@[^@]+\\.[^@]+$"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(forms); i++)
		if (strcmp(name, forms[i].name) == 0)
			return g_regex_match_simple(forms[i].form, word, 0, 0);
	return false;
}

static bool
is_open_slot(const char *name)
{
	static const char *const open[] = {
	    "topics", "author", "title", "filter", "place", NULL};

	return g_strv_contains(open, name);
}

static bool
run_one_word(
    struct matcher *m, const struct node *node, unsigned at, const struct frame *frame)
{
	const struct phrases_word *word = phrases_get_word(m->span->text, at);
	bool was_after = m->is_after_slot;
	unsigned count = m->found.count, literal = m->found.literal;

	if (word->mark) {
		/* ":" in a pattern */
		return node->kind == KIND_WORD && *node->word == ':' &&
		       (*word->start == ':' ||
		           g_str_has_prefix(word->start, "\uff1a")) &&
		       run(m, node->next, at + 1, frame);
	}
	if (node->kind == KIND_WORD && is_word(node, word)) {
		m->found.literal++;
	} else if (node->kind == KIND_SLOT && count < PHRASES_VALUES_MAX &&
	           is_form(node->name, word->plain)) {
		m->found.values[m->found.count++] =
		    (struct phrases_value){node->name, NULL, at, at + 1};
	} else {
		return false;
	}
	m->is_after_slot = false;
	if (run(m, node->next, at + 1, frame))
		return true;
	m->is_after_slot = was_after;
	m->found.literal = literal;
	m->found.count = count;
	return false;
}

/* A word or slot, after fillers. */
static bool
run_word(
    struct matcher *m, const struct node *node, unsigned at, const struct frame *frame)
{
	const unsigned char *fillers = m->is_after_slot ? m->courtesies : m->fillers;

	if (at >= m->span->to)
		return false;
	if (node->kind == KIND_SLOT && is_open_slot(node->name)
	        ? run_slot(m, node, at, frame)
	        : run_one_word(m, node, at, frame))
		return true;
	if (phrases_get_word(m->span->text, at)->mark)
		return m->is_whole &&
		       (run_word(m, node, at + 1, frame) ||
		           (skip_brackets(m->span, at) > at &&
		               run_word(m, node, skip_brackets(m->span, at), frame)));
	/* Words before a topic are part of it. */
	if (node->kind == KIND_SLOT && is_open_slot(node->name))
		fillers = m->courtesies;
	for (unsigned size = 1; fillers && size <= FILLER_WORDS_MAX; size++)
		if (fillers[at] & 1U << (size - 1) &&
		    run_word(m, node, at + size, frame))
			return true;
	return false;
}

static bool
run_group(
    struct matcher *m, const struct node *node, unsigned at, const struct frame *frame)
{
	const struct frame after = {node->next, frame};

	for (guint i = 0; i < node->choices->len; i++)
		if (run(m, node->choices->pdata[i], at, &after))
			return true;
	return node->is_optional && run(m, node->next, at, frame);
}

static bool
run_value(
    struct matcher *m, const struct node *node, unsigned at, const struct frame *frame)
{
	unsigned count = m->found.count;

	if (count == PHRASES_VALUES_MAX)
		return false;
	m->found.values[m->found.count++] =
	    (struct phrases_value){node->name, node->value, at, at};
	if (run(m, node->next, at, frame))
		return true;
	m->found.count = count;
	return false;
}

static bool
is_end(const struct phrases_span *span, unsigned at)
{
	char mark = at < span->to ? phrases_get_word(span->text, at)->mark : '.';

	return mark && mark != PHRASES_MASKED;
}

/* @return whether the rest of the pattern matches */
static bool
run(struct matcher *m, const struct node *node, unsigned at, const struct frame *frame)
{
	if (m->steps++ > STEPS_MAX)
		return false;
	if (!node)
		return frame ? run(m, frame->next, at, frame->up) : finish(m, at);
	switch (node->kind) {
	case KIND_WORD:
	case KIND_SLOT:
		return run_word(m, node, at, frame);
	case KIND_GROUP:
		return run_group(m, node, at, frame);
	case KIND_VALUE:
		return run_value(m, node, at, frame);
	case KIND_END:
		return is_end(m->span, at) && run(m, node->next, at, frame);
	}
	g_assert_not_reached();
}

static GPtrArray *
get_set(const struct phrases_language *language, const char *name)
{
	return g_hash_table_lookup(language->sets, name);
}

/* Whether the first word of a pattern is another one, so that it cannot match there. */
static bool
starts_otherwise(const struct node *first, const struct phrases_word *word)
{
	return first->kind == KIND_WORD && !is_word(first, word);
}

/* Find the fillers of a text once. */
static void
add_lengths(
    const GPtrArray *set, const struct phrases_text *text, unsigned char *lengths)
{
	const struct phrases_span span = {.text = text, .to = text->words->len};

	for (unsigned at = 0; set && at < span.to; at++) {
		const struct phrases_word *word = phrases_get_word(text, at);

		for (guint i = 0; !word->mark && i < set->len; i++) {
			struct matcher m = {.span = &span};

			if (starts_otherwise(set->pdata[i], word) ||
			    !run(&m, set->pdata[i], at, NULL) ||
			    m.found.to - at > FILLER_WORDS_MAX)
				continue;
			lengths[at] |= (unsigned char)(1U << (m.found.to - at - 1));
		}
	}
}

/* @return for each word, bits of the lengths of the fillers that start there */
static const unsigned char *
get_lengths(const struct phrases_language *language, const struct phrases_text *text,
    bool is_courtesy)
{
	const GPtrArray *courtesies = get_set(language, "courtesy");
	const GPtrArray *fillers = get_set(language, "filler");
	const void *key = is_courtesy ? courtesies : fillers;
	unsigned char *lengths = key ? g_hash_table_lookup(text->lengths, key) : NULL;

	if (lengths || !key)
		return lengths;
	lengths = g_new0(unsigned char, text->words->len + 1);
	add_lengths(courtesies, text, lengths);
	if (!is_courtesy)
		add_lengths(fillers, text, lengths);
	g_hash_table_insert(text->lengths, (gpointer)key, lengths);
	return lengths;
}

/* The word of a set that a longer word is a misspelling of. @return NULL: none */
static const char *
find_misspelt(const GPtrArray *choices, const char *plain, unsigned *best)
{
	const char *found = NULL;

	for (guint i = 0; choices && i < choices->len; i++) {
		const struct node *node = choices->pdata[i];
		const char *word = node->kind == KIND_GROUP
		                       ? find_misspelt(node->choices, plain, best)
		                       : node->word;
		unsigned slips = word ? edit_distance_count_slips(
		                            plain, strlen(plain), word, strlen(word))
		                      : G_MAXUINT;

		if (slips > *best || (slips == *best && node->kind == KIND_WORD))
			continue;
		*best = slips;
		found = word;
	}
	return found;
}

void
phrases_correct(struct phrases_text *text)
{
	const GPtrArray *languages = phrases_get_languages();

	for (guint i = 0; i < text->words->len; i++) {
		struct phrases_word *word =
		    &g_array_index(text->words, struct phrases_word, i);
		unsigned best = SLIPS_MAX + 1;
		const char *found = NULL;

		if (word->mark || strlen(word->plain) < MISSPELT_BYTES ||
		    strlen(word->plain) > 2 * MISSPELT_BYTES)
			continue;
		for (guint j = 0; j < languages->len; j++) {
			const char *one =
			    find_misspelt(get_set(languages->pdata[j], "misspelt"),
			        word->plain, &best);

			found = one ? one : found;
		}
		if (!found || best == 0)
			continue;
		g_free(word->plain);
		word->plain = g_strdup(found);
		g_clear_pointer(&word->digraph, g_free);
	}
}

bool
phrases_cover(const struct phrases_language *language, const char *name,
    const struct phrases_span *span, struct phrases_match *match)
{
	const GPtrArray *set = get_set(language, name);
	bool is_found = false;

	for (guint i = 0; set && i < set->len; i++) {
		struct matcher m = {.language = language,
		    .span = span,
		    .is_whole = true,
		    .fillers = get_lengths(language, span->text, false),
		    .courtesies = get_lengths(language, span->text, true)};

		if (!run(&m, set->pdata[i], span->from, NULL) ||
		    (is_found && m.found.literal <= match->literal))
			continue;
		*match = m.found;
		is_found = true;
	}
	return is_found;
}

bool
phrases_start(const struct phrases_language *language, const char *name,
    const struct phrases_span *span, struct phrases_match *match)
{
	const GPtrArray *set = get_set(language, name);
	struct phrases_match best = {.to = span->from};

	for (guint i = 0; set && i < set->len && span->from < span->to; i++) {
		struct matcher m = {.language = language, .span = span, .best = &best};

		run(&m, set->pdata[i], span->from, NULL);
	}
	if (best.to == span->from)
		return false;
	*match = best;
	return true;
}

bool
phrases_find(const struct phrases_language *language, const char *name,
    const struct phrases_span *span, unsigned *at)
{
	struct phrases_span rest = *span;
	struct phrases_match match;

	for (; rest.from < rest.to; rest.from++)
		if (phrases_start(language, name, &rest, &match)) {
			*at = rest.from;
			return true;
		}
	return false;
}

bool
phrases_find_any(const char *name, const struct phrases_span *span)
{
	const GPtrArray *languages = phrases_get_languages();
	unsigned at;

	for (guint i = 0; i < languages->len; i++)
		if (phrases_find(languages->pdata[i], name, span, &at))
			return true;
	return false;
}

bool
phrases_is_filler(
    const struct phrases_language *language, const struct phrases_span *span)
{
	struct matcher m = {.language = language,
	    .span = span,
	    .fillers = get_lengths(language, span->text, false)};

	return is_rest_filler(&m, span->from);
}

const struct phrases_value *
phrases_get_value(const struct phrases_match *match, const char *name)
{
	for (unsigned i = 0; i < match->count; i++)
		if (strcmp(match->values[i].name, name) == 0)
			return &match->values[i];
	return NULL;
}
