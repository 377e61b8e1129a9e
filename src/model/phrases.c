/*
 * phrases.c - read etc/phrases, and match its patterns.
 *
 * Patterns become regular expressions over tokens, which end with a blank: of a mark
 *"," and the like; of a word three flags, the word without accents, and with them, such
 *as
 *
 *	~--mochte="möchte=
 *
 * The first flag is "^" for a courtesy, "~" for another filler; the second is "!" for a
 * word that no topic has, the third "#" for one that refuses or doubts.  They are those
 * of one language, the second also of English.
 */
#include "model/phrases.h"

#include <string.h>

#include "base/edit_distance.h"
#include "base/error.h"
#include "base/text.h"
#include "model/phrase_files.h"

#define FOLDER  "/paperboy/phrases/"
/* Between a pattern and its value. */
#define EQUALS  " = "
#define INTENT  "intent "
#define CUE     "cue "
#define ENGLISH "en"

#define FLAGS "---"

/* Characters of words that are the same when they are folded. */
#define PLAIN "abcdefghijklmnopqrstuvwxyz"

/* Skip fillers, marks, and text in brackets; courtesies only. */
#define SKIP_FILLERS    "(?&fillers)"
#define SKIP_COURTESIES "(?&courtesies)"
#define DEFINE                                                             \
	"(?(DEFINE)(?<fillers>(?:(?:[~^][^ ]*|[,:.?()]|\\( [^)]*\\)) )*?)" \
	"(?<courtesies>(?:(?:\\^[^ ]*|[,:.?()]|\\( [^)]*\\)) )*?)"

/* A word: its flags, what follows its form, and what follows the beginning of one. */
#define WORD_START  "..."
#define WORD_END    "=[^ ]* "
#define WORD_PREFIX "[^ ]* "
/* Of a word that is not given; a mark is two characters. */
#define ANY_WORD    "(?=[-~^])..."
/* Other words in a sentence. */
#define GAP         "(?:(?=[-~^])..[^#][^ ]* ){0,6}?"
#define CUE_GAP     "(?:(?:(?=[-~^])..[^#][^ ]*|[,.]) ){0,8}?"
/* Other words beside a cue, up to a comma; none that refuses or doubts.  A stop is
 * there if two sentences are one wish. */
#define LOOSE       "(?:(?:(?=[-~^])..[^#][^ ]*|[.:()]) ){0,30}?"
/* Text after a topic beside a cue: it begins with a word that no topic has. */
#define AFTER_TOPIC "(?:(?=.!)" LOOSE "[,.?]? ?)?"
/* Before the form with accents. */
#define WORD_EXACT  "[^ ]*=\""

/* The words of a slot: a word first, no end of a sentence; no word of no topic. */
#define SLOT_ANY   "(?=[^ ]{2})(?:(?![.?])[^ ]+ ){1,40}?"
#define SLOT_WORDS "(?=[^ ]{2})(?:(?![.?])(?!.!)[^ ]+ ){1,40}?"
#define BRACKETS   "(?:\\( [^)]*\\) )?+" /* acronyms of topics */

/* Maximum number of steps in which PCRE matches a pattern; one that needs more does not
 * match.  A larger one lets a message take longer. */
#define LIMIT     "(*LIMIT_MATCH=10000)"
#define LIMIT_GAP "(*LIMIT_MATCH=2000)" /* there are many, of any words */

/* Maximum number of phrases in a regular expression, whose size PCRE limits. */
#define EXPRESSION_CHOICES 200

/* Text in brackets is looked for within that many bytes. */
#define BRACKET_BYTES 160

/* Minimum length of a word that is corrected if up to SLIPS_MAX letters are wrong;
 * shorter ones are too often another word. */
#define MISSPELT_BYTES 8
#define SLIPS_MAX      2
/* Minimum length of one in which two swapped letters or a missing one are corrected. */
#define SWAPPED_BYTES  5

/* ---- text ---- */

#define UNSPACED "\\p{Han}\\p{Hiragana}\\p{Katakana}\\x{30FC}"
#define LETTER   "(?:(?![" UNSPACED "])[\\p{L}\\p{N}\\p{M}])"
#define QUOTE    "['`\\x{B4}\\x{2BC}\\x{2018}\\x{2019}]"
#define OUTSIDE  "[^\\s<>(),;\"]"

/* "1)" of a list in a sentence. */
#define ENUMERATOR                            \
	"(?:(?<!\\S)[1-9]\\)|(?:^|(?<=[,:;] " \
	"))[1-9]\\.|(?<!\\S)1\\.(?=\\s.*\\s2\\.\\s+\\S))(?=\\s)"

/* Enumerators; addresses and links; numbers such as 18:30 or 2026-12-01; Europe/Berlin;
 * words such as c++; symbols */
static const char word_pattern[] =
    "(" ENUMERATOR ")|(?<![^\\s<(])(?:" OUTSIDE "+@" OUTSIDE
    "+(?<![.!?:])|\\w+://" OUTSIDE "+(?<![.!?:])|\\+1)|\\d+(?:[.:/-]\\d+)+" LETTER
    "*|(?=\\p{L})[" UNSPACED "]|\\p{Lu}\\p{L}+/\\p{Lu}[\\p{L}_]+|" LETTER "(?:" LETTER
    "|" QUOTE "(?=" LETTER "))*(?:[+#]+(?!" LETTER "))?|\\p{So}";

static GRegex *
compile(const char *pattern, GRegexCompileFlags flags)
{
	g_autoptr(GError) error = NULL;
	GRegex *regex = g_regex_new(pattern, flags, 0, &error);

	g_assert_no_error(error);
	return regex;
}

static void *
compile_word(void *unused)
{
	(void)unused;
	return compile(word_pattern, G_REGEX_OPTIMIZE);
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

/* Lower case, without apostrophes and characters that tokens use. */
static char *
fold(const char *raw)
{
	static const gunichar quotes[] = {'\'', '`', 0xB4, 0x2BC, 0x2018, 0x2019};
	g_autofree char *whole = g_utf8_normalize(raw, -1, G_NORMALIZE_NFKC);
	g_autofree char *lower = g_utf8_casefold(whole ? whole : "", -1);
	g_autofree char *composed = g_utf8_normalize(lower, -1, G_NORMALIZE_NFKC);
	GString *exact = g_string_new(NULL);

	for (const char *at = composed; *at; at = g_utf8_next_char(at)) {
		gunichar c = g_utf8_get_char(at);
		bool is_quote = false;

		for (size_t i = 0; i < G_N_ELEMENTS(quotes); i++)
			is_quote = is_quote || c == quotes[i];
		if (!is_quote)
			g_string_append_unichar(
			    exact, g_unichar_isspace(c) || c == '=' ? '_' : c);
	}
	return g_string_free(exact, FALSE);
}

/* A word as it is compared first: "moechte" is "möchte"; of Chinese, a character. */
static char *
format_key(const char *plain)
{
	GString *key = g_string_new(NULL);

	for (const char *at = plain; *at; at++)
		if (*at != 'e' || at == plain || !strchr("aou", at[-1]))
			g_string_append_c(key, *at);
	if (g_utf8_get_char(key->str) >= 0x2E80)
		g_string_truncate(key, (gsize)(g_utf8_next_char(key->str) - key->str));
	return g_string_free(key, FALSE);
}

static void
add_token(struct phrases_text *text, const char *start, const char *end, char mark)
{
	struct phrases_word word = {
	    .start = start, .end = end, .mark = mark, .offset = text->tokens->len};

	if (mark) {
		bool is_colon = *start == ':' || g_str_has_prefix(start, "\uff1a");

		g_string_append_printf(text->tokens, "%c ", is_colon ? ':' : mark);
	} else {
		g_autofree char *raw = g_strndup(start, (gsize)(end - start));
		g_autofree char *exact = fold(raw);

		word.plain = strip_accents(exact);
		word.key = format_key(word.plain);
		g_string_append_printf(
		    text->tokens, FLAGS "%s=\"%s= ", word.plain, exact);
	}
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

/* @param at  of a stop
 * @return 0: it is of an abbreviation, "14. dezember", "J. Smith", "e.g."; ',': it may
 * end a sentence, "I know 1. I know 5" */
static char
read_stop(const struct phrases_text *text, const char *at)
{
	const struct phrases_word *last =
	    text->words->len ? phrases_get_word(text, text->words->len - 1) : NULL;
	const char *next = at + strspn(at, ". \n");

	if (!*next || !last || last->mark || last->end != at ||
	    g_utf8_get_char(last->start) >= 0x2E80)
		return '.';
	if (g_utf8_strlen(last->plain, -1) == 1 && !g_ascii_isdigit(*last->plain))
		return 0;
	if (strspn(last->plain, "0123456789") < strlen(last->plain))
		return '.';
	return g_unichar_isupper(g_utf8_get_char(next)) ? ',' : 0;
}

/* The marks inside brackets are ignored. @param closing  of the open bracket, or NULL
 */
static void
read_mark(struct phrases_text *text, const char *at, const char **closing)
{
	gunichar c = g_utf8_get_char(at);
	const char *end = g_utf8_next_char(at);
	char mark = get_mark(c);

	if (*closing && at < *closing)
		return;
	if (mark == '(' && g_unichar_get_mirror_char(c, &c)) {
		char utf8[7] = {0};

		g_unichar_to_utf8(c, utf8);
		*closing = g_strstr_len(end, BRACKET_BYTES, utf8);
		mark = *closing ? mark : 0;
	} else if (mark == ')') {
		bool is_smiley = at > text->text && strchr(":;-", at[-1]);

		mark = *closing == at ? mark : is_smiley ? '.' : 0;
	} else if (c == '-') {
		/* A dash, or the beginning of an item. */
		mark =
		    (at == text->text || is_blank(at - 1)) && is_blank(end) ? ',' : 0;
	} else if (c < 0x80 && mark == '.' && !is_blank(end)) {
		mark = strchr(".!?", *end) ? '.' : 0;
	} else if (c == '.') {
		mark = read_stop(text, at);
	} else if (c == '/' && g_ascii_isdigit(*end)) {
		mark = 0;
	}
	if (mark)
		add_token(text, at, end, mark);
}

struct phrases_text *
phrases_text_new(const char *raw)
{
	static GOnce once = G_ONCE_INIT;
	const GRegex *regex = g_once(&once, compile_word, NULL);
	struct phrases_text *text = g_new0(struct phrases_text, 1);
	g_autoptr(GMatchInfo) match = NULL;
	const char *at, *closing = NULL;
	bool is_found;

	text->text = g_strdup(raw);
	text->tokens = g_string_new(NULL);
	text->flagged = g_ptr_array_new_with_free_func(g_free);
	text->words = g_array_new(FALSE, FALSE, sizeof(struct phrases_word));
	at = text->text;
	is_found = g_regex_match(regex, text->text, 0, &match);
	while (*at) {
		int start = -1, end = -1;

		if (is_found)
			g_match_info_fetch_pos(match, 0, &start, &end);
		if (at - text->text != start) {
			read_mark(text, at, &closing);
			at = g_utf8_next_char(at);
			continue;
		}
		add_token(text, at, text->text + end,
		    g_match_info_get_match_count(match) > 1 ? ',' : 0);
		at = text->text + end;
		is_found = g_match_info_next(match, NULL);
	}
	return text;
}

void
phrases_text_free(struct phrases_text *text)
{
	if (!text)
		return;
	for (guint i = 0; i < text->words->len; i++) {
		g_free(g_array_index(text->words, struct phrases_word, i).plain);
		g_free(g_array_index(text->words, struct phrases_word, i).key);
	}
	g_array_unref(text->words);
	g_string_free(text->tokens, TRUE);
	g_ptr_array_unref(text->flagged);
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

static int
get_offset(const struct phrases_text *text, unsigned at)
{
	return at < text->words->len ? (int)phrases_get_word(text, at)->offset
	                             : (int)text->tokens->len;
}

/* The word that begins at an offset; their number for the end. */
static unsigned
find_word(const struct phrases_text *text, int offset)
{
	unsigned low = 0, high = text->words->len;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (get_offset(text, middle) < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- patterns ---- */

struct pattern {
	char *text;
	const char *value; /* or NULL */
	const struct section *section;
	bool is_cue;
	guint8 needed; /* parts of which a sentence has a word, as bits */
	/* Made when they are needed. */
	GRegex *whole;
	GPtrArray *groups; /* see struct source */
};

struct section {
	const char *name;
	GPtrArray *patterns; /* struct pattern *, in the order of the file */
	GPtrArray *starts;   /* GRegex *: of some of them; compiled when it is needed */
};

struct phrases {
	char *language;
	unsigned number;
	GHashTable *sections; /* static name -> struct section * */
	GPtrArray
	    *intents; /* struct pattern *: of all intents, in the order of the file */
	GHashTable *words;  /* of intents */
	GHashTable *needed; /* key of a word -> GArray of struct needed */
};

/* A pattern of an intent that needs a word or one of some others. */
struct needed {
	unsigned number; /* in intents */
	guint8 part;     /* a bit of struct pattern.needed */
};

/* Slots that are not sections. */
static const struct {
	const char *name, *form;
	bool is_open;
} slots[] = {
    {"topics", SLOT_WORDS BRACKETS, true},
    {"author", SLOT_ANY, true},
    {"title", SLOT_ANY, true},
    {"filter", SLOT_WORDS, true},
    {"place", SLOT_WORDS, true},
    {"number", ANY_WORD "\\d{1,4}(?:st|nd|rd|th)?" WORD_END, false},
    {"clock",
        ANY_WORD
        "(?:(?:[01]?\\d|2[0-4])[:.h][0-5]\\d(?:am|pm|h)?|\\d{1,2}(?:am|pm|h))" WORD_END,
        false},
    {"date",
        ANY_WORD
        "(?:\\d{4}-\\d\\d?-\\d\\d?|\\d{1,2}[./-]\\d{1,2}(?:[./-]\\d{2,4})?)" WORD_END,
        false},
    {"address", ANY_WORD "[^ @=]+@[^ @=]+\\.[^ @=]+" WORD_END, false},
};

static void
pattern_free(struct pattern *pattern)
{
	g_free(pattern->text);
	g_clear_pointer(&pattern->whole, g_regex_unref);
	g_clear_pointer(&pattern->groups, g_ptr_array_unref);
	g_free(pattern);
}

static void
section_free(struct section *section)
{
	g_ptr_array_unref(section->patterns);
	g_clear_pointer(&section->starts, g_ptr_array_unref);
	g_free(section);
}

/* ---- writing regular expressions ---- */

struct source {
	const struct phrases *language;
	GString *text;
	/* const char *: of each capture, its slot or section; NULL: a word of the
	 * pattern */
	GPtrArray *groups;
	GPtrArray *defined; /* const struct section *: that are referred to */
	bool is_definition; /* words need no captures */
	bool has_fillers;   /* may be between words */
	bool is_open;       /* has a slot that takes any words */
	bool is_cuttable;   /* that slot is the last part, but for optional ones */
	bool is_known;      /* words are those of requests */
	bool is_cue;        /* commas may be among other words */
	GString *problem;
};

static void
source_init(struct source *source, const struct phrases *language, bool has_fillers)
{
	*source = (struct source){.language = language,
	    .text = g_string_new(NULL),
	    .groups = g_ptr_array_new(),
	    .defined = g_ptr_array_new(),
	    .has_fillers = has_fillers,
	    .problem = g_string_new(NULL)};
}

static void
source_clear(struct source *source)
{
	if (!source->text)
		return;
	g_string_free(source->text, TRUE);
	g_clear_pointer(&source->groups, g_ptr_array_unref);
	g_ptr_array_unref(source->defined);
	g_string_free(source->problem, TRUE);
}

static void write_sequence(struct source *source, const char *at);

static gint
compare_lengths(gconstpointer a, gconstpointer b)
{
	const char *first = *(char *const *)a, *second = *(char *const *)b;
	/* Slots are last: "(<zone>|<place>)". */
	size_t one = *first == '<' ? 0 : strlen(first);
	size_t other = *second == '<' ? 0 : strlen(second);

	return (one < other) - (one > other);
}

/* @return the end of a choice, or of the text in brackets that begins before it */
static const char *
find_end(const char *at, const char *stops)
{
	unsigned depth = 0;

	for (; *at; at++) {
		if (!depth && strchr(stops, *at))
			return at;
		depth += *at == '(' || *at == '[';
		depth -= depth && (*at == ')' || *at == ']');
	}
	return at;
}

static void
split_choices(const char *text, GPtrArray *choices)
{
	for (const char *at = text, *end;; at = end + 1) {
		end = find_end(at, "|");
		g_ptr_array_add(choices, g_strndup(at, (gsize)(end - at)));
		if (!*end)
			break;
	}
}

/* Longer choices first: a regular expression takes the first one. */
static void
write_choices(struct source *source, const char *text)
{
	g_autoptr(GPtrArray) choices = g_ptr_array_new_with_free_func(g_free);

	split_choices(text, choices);
	g_ptr_array_sort(choices, compare_lengths);
	for (guint i = 0; i < choices->len; i++) {
		g_string_append(source->text, i ? "|" : "(?:");
		write_sequence(source, choices->pdata[i]);
	}
	g_string_append_c(source->text, ')');
}

static const char *
write_brackets(struct source *source, const char *at)
{
	bool is_optional = *at == '[', was_cuttable = source->is_cuttable;
	const char *end = find_end(at + 1, is_optional ? "]" : ")");
	g_autofree char *inside = g_strndup(at + 1, (gsize)(end - at - 1));

	if (!*end) {
		g_string_assign(source->problem, "a bracket is not closed");
		return end;
	}
	write_choices(source, inside);
	if (is_optional)
		g_string_append_c(source->text, '?');
	source->is_cuttable = source->is_cuttable || (is_optional && was_cuttable);
	return end + 1;
}

/* "intent away" is not a name of a group. */
static char *
format_group_name(const char *section)
{
	return g_strdelimit(g_strdup(section), " -", '_');
}

static const char *
write_slot(struct source *source, const char *at)
{
	const char *end = strchr(at, '>');
	g_autofree char *name = end ? g_strndup(at + 1, (gsize)(end - at - 1)) : NULL;
	const struct section *section =
	    name ? g_hash_table_lookup(source->language->sections, name) : NULL;
	g_autofree char *group = section ? format_group_name(name) : NULL;

	for (size_t i = 0; name && i < G_N_ELEMENTS(slots); i++) {
		if (strcmp(slots[i].name, name) != 0)
			continue;
		source->is_open = source->is_open || slots[i].is_open;
		source->is_cuttable = slots[i].is_open;
		if (source->has_fillers)
			g_string_append(source->text,
			    slots[i].is_open ? SKIP_COURTESIES : SKIP_FILLERS);
		g_string_append_printf(source->text, "(%s)", slots[i].form);
		g_ptr_array_add(source->groups, (gpointer)slots[i].name);
		return end + 1;
	}
	if (!section) {
		g_string_printf(source->problem, "no such section: %s", at);
		return at + strlen(at);
	}
	g_string_append_printf(source->text, "((?&%s))", group);
	g_ptr_array_add(source->groups, (gpointer)section->name);
	if (!g_ptr_array_find(source->defined, section, NULL))
		g_ptr_array_add(source->defined, (gpointer)section);
	return end + 1;
}

/* Define the sections that are referred to, and those that they refer to. */
static void
write_definitions(struct source *source)
{
	source->is_definition = true;
	g_string_append(source->text, DEFINE);
	for (guint i = 0; i < source->defined->len; i++) {
		const struct section *section = source->defined->pdata[i];
		g_autofree char *group = format_group_name(section->name);

		g_string_append_printf(source->text, "(?<%s>", group);
		for (guint j = 0; j < section->patterns->len; j++) {
			g_string_append(source->text, j ? "|" : "");
			write_sequence(source,
			    ((struct pattern *)section->patterns->pdata[j])->text);
		}
		g_string_append_c(source->text, ')');
	}
	g_string_append_c(source->text, ')');
}

/* "mochte" is "möchte" and "moechte", too. */
static char *
format_form(const char *plain)
{
	g_autofree char *form = g_regex_escape_string(plain, -1);
	GString *text = g_string_new(NULL);

	for (const char *at = form; *at; at++) {
		g_string_append_c(text, *at);
		if (strchr("aou", *at))
			g_string_append(text, "e?");
	}
	return g_string_free(text, FALSE);
}

/* @param form  with accents, or NULL */
static void
write_word(struct source *source, const char *plain, const char *exact, bool is_prefix)
{
	g_autofree char *form =
	    exact ? g_regex_escape_string(exact, -1) : format_form(plain);

	if (source->is_known)
		g_hash_table_add(source->language->words, g_strdup(plain));
	g_string_append_printf(source->text, "%s(%s" WORD_START "%s%s%s)",
	    source->has_fillers ? SKIP_FILLERS : "", source->is_definition ? "?:" : "",
	    exact ? WORD_EXACT : "", form, is_prefix ? WORD_PREFIX : WORD_END);
	if (!source->is_definition)
		g_ptr_array_add(source->groups, NULL);
}

/* A word of the file can be several: "e-mail"; "=sí" is compared with accents. */
static const char *
write_words(struct source *source, const char *at)
{
	size_t size = strcspn(at, " |()[]<>$");
	g_autofree char *raw = g_strndup(at, size);
	bool is_exact = *raw == '=', is_prefix = g_str_has_suffix(raw, "*");
	g_autofree char *exact = NULL;
	pb_auto(phrases_text) text = NULL;

	if (is_prefix)
		raw[size - 1] = '\0';
	/* Else a topic would end after one word. */
	if (strcmp(raw, "...") == 0 && source->is_cuttable)
		g_string_printf(
		    source->problem, "other words after a slot of any words: %s", at);
	if (strcmp(raw, "...") == 0) {
		g_string_append(source->text, source->is_cue ? CUE_GAP : GAP);
		return at + size;
	}
	source->is_cuttable = false;
	if (size && strspn(raw, PLAIN) == strlen(raw)) {
		write_word(source, raw, NULL, is_prefix);
		return at + size;
	}
	text = phrases_text_new(raw + is_exact);
	exact = is_exact ? fold(raw + 1) : NULL;
	if (strcmp(raw, ":") == 0)
		g_string_append(source->text, ": ");
	else if (!text->words->len || phrases_get_word(text, 0)->mark || !size)
		g_string_printf(source->problem, "not a word: %s", at);
	for (guint i = 0; i < text->words->len; i++)
		if (!phrases_get_word(text, i)->mark)
			write_word(source, phrases_get_word(text, i)->plain, exact,
			    is_prefix && i + 1 == text->words->len);
	return at + size;
}

static void
write_sequence(struct source *source, const char *at)
{
	while (*at && !source->problem->len) {
		if (*at == ' ')
			at++;
		else if (*at == '(' || *at == '[')
			at = write_brackets(source, at);
		else if (*at == '<')
			at = write_slot(source, at);
		else if (*at == '$' && at++)
			g_string_append(source->text, "(?=[,:.?()]|\\z)");
		else
			at = write_words(source, at);
	}
}

/* ---- reading a file ---- */

/* Sections of answers, greetings and the like; topics can have their words. */
static bool
is_of_requests(const char *name)
{
	static const char *const others[] = {"yes", "yes-anyway", "no", "not-no",
	    "automatic", "disclaimer", "closing", "verbs", "zone", "speech", "month",
	    "away", "not-next", "swapped", "undecided", "subject-word", NULL};

	return !g_str_has_prefix(name, "hint ") && !g_str_has_prefix(name, CUE) &&
	       !g_strv_contains(others, name);
}

static bool
begin_section(struct phrases *phrases, const char *name, struct section **section)
{
	*section = g_new0(struct section, 1);
	(*section)->name = g_intern_string(name);
	(*section)->patterns =
	    g_ptr_array_new_with_free_func((GDestroyNotify)pattern_free);
	if (g_hash_table_contains(phrases->sections, name)) {
		section_free(*section);
		return false;
	}
	g_hash_table_insert(phrases->sections, (char *)(*section)->name, *section);
	return true;
}

static struct pattern *
add_pattern(struct section *section, const char *line)
{
	g_auto(GStrv) parts = g_strsplit(line, EQUALS, 2);
	struct pattern *pattern = g_new0(struct pattern, 1);

	pattern->text = g_strdup(parts[0]);
	pattern->value = parts[1] ? g_intern_string(parts[1]) : NULL;
	pattern->section = section;
	pattern->is_cue = g_str_has_prefix(section->name, CUE);
	g_ptr_array_add(section->patterns, pattern);
	return pattern;
}

/* Write each pattern once: for its errors, and the words of requests. */
static bool
check_patterns(const struct phrases *phrases, const char *const *lines, GError **error)
{
	bool is_known = false, is_ok = true;

	for (unsigned i = 0; lines[i] && is_ok; i++) {
		g_auto(GStrv) parts = g_strsplit(lines[i], EQUALS, 2);
		pb_local(source) source = {0};

		source_init(&source, phrases, false);
		source.is_known = is_known;
		if (*lines[i] == '\t')
			write_sequence(&source, parts[0] + 1);
		else if (*lines[i] && *lines[i] != '#')
			is_known = is_of_requests(lines[i]);
		is_ok = !source.problem->len;
		if (!is_ok)
			pb_fail(error, PB_ERROR_INPUT, "%s:%u: %s", phrases->language,
			    i + 1, source.problem->str);
	}
	return is_ok;
}

/* The key of the first word of a choice. @return NULL if any word can be there */
static char *
find_key(const char *choice)
{
	size_t size = strcspn(choice, " -");
	g_autofree char *raw = g_strndup(choice, size), *exact = NULL, *plain = NULL;

	for (const char *at = raw; *at; at = g_utf8_next_char(at))
		if (!g_unichar_isalnum(g_utf8_get_char(at)) && *at != '\'')
			return NULL;
	exact = fold(raw);
	plain = strip_accents(exact);
	return *plain ? format_key(plain) : NULL;
}

/* Note that a pattern needs one of some words. @param choices  unless one is any word
 */
static void
add_needed(struct phrases *phrases, struct pattern *pattern, const GPtrArray *choices)
{
	const struct needed needed = {phrases->intents->len - 1, pattern->needed + 1};
	g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < choices->len; i++) {
		char *key = find_key(choices->pdata[i]);

		if (!key)
			return;
		g_ptr_array_add(keys, key);
	}
	/* The next bit. */
	pattern->needed |= needed.part;
	for (guint i = 0; i < keys->len && needed.part; i++) {
		GArray *all = g_hash_table_lookup(phrases->needed, keys->pdata[i]);

		if (!all) {
			all = g_array_new(FALSE, FALSE, sizeof(struct needed));
			g_hash_table_insert(
			    phrases->needed, g_strdup(keys->pdata[i]), all);
		}
		g_array_append_val(all, needed);
	}
}

/* Find the words that a pattern needs: the first ones of its parts that are not
 * optional. */
static void
add_intent(struct phrases *phrases, struct pattern *pattern)
{
	g_ptr_array_add(phrases->intents, pattern);
	for (const char *at = pattern->text; *at;) {
		bool is_group = *at == '(';
		const char *end = *at == '['   ? find_end(at + 1, "]") + 1
		                  : is_group   ? find_end(at + 1, ")") + 1
		                  : *at == '<' ? at + strcspn(at, ">") + 1
		                               : at + MAX(strcspn(at, " ([<"), 1);
		g_autofree char *part =
		    g_strndup(at + is_group, (gsize)(end - at - 2 * is_group));
		g_autoptr(GPtrArray) choices = g_ptr_array_new_with_free_func(g_free);

		split_choices(part, choices);
		if (!strchr(" [<$:", *at))
			add_needed(phrases, pattern, choices);
		at = end;
	}
}

struct phrases *
phrases_parse(const char *name, const char *text, GError **error)
{
	pb_auto(phrases) phrases = g_new0(struct phrases, 1);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	struct section *section = NULL;

	phrases->language = g_strdup(name);
	phrases->sections = g_hash_table_new_full(
	    g_str_hash, g_str_equal, NULL, (GDestroyNotify)section_free);
	phrases->intents = g_ptr_array_new();
	phrases->words = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	phrases->needed = g_hash_table_new_full(
	    g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
	for (unsigned i = 0; lines[i]; i++) {
		const char *line = lines[i], *problem = NULL;
		struct pattern *pattern = NULL;

		if (!*line || *line == '#')
			continue;
		if (!g_utf8_validate(line, -1, NULL))
			problem = "not UTF-8";
		else if (*line != '\t' && !begin_section(phrases, line, &section))
			problem = "there is such a section already";
		else if (!section)
			problem =
			    "expected the name of a section before the first pattern";
		else if (*line == '\t')
			pattern = add_pattern(section, line + 1);
		if (pattern &&
		    (pattern->is_cue || g_str_has_prefix(section->name, INTENT)))
			add_intent(phrases, pattern);
		if (!problem)
			continue;
		pb_fail(error, PB_ERROR_INPUT, "%s:%u: %s", name, i + 1, problem);
		return NULL;
	}
	return check_patterns(phrases, (const char *const *)lines, error)
	           ? g_steal_pointer(&phrases)
	           : NULL;
}

void
phrases_free(struct phrases *phrases)
{
	if (!phrases)
		return;
	g_free(phrases->language);
	g_hash_table_unref(phrases->sections);
	g_ptr_array_unref(phrases->intents);
	g_hash_table_unref(phrases->words);
	g_hash_table_unref(phrases->needed);
	g_free(phrases);
}

/* All languages, and one that has the patterns of all. */
struct library {
	GPtrArray *languages; /* struct phrases *, NULL-terminated */
	struct phrases *any;
};

static void
merge(struct phrases *any, const struct phrases *language)
{
	GHashTableIter iter;
	gpointer each;

	g_hash_table_iter_init(&iter, language->sections);
	while (g_hash_table_iter_next(&iter, NULL, &each)) {
		const struct section *from = each;
		struct section *section =
		    g_hash_table_lookup(any->sections, from->name);

		if (!section)
			begin_section(any, from->name, &section);
		for (guint i = 0; i < from->patterns->len; i++)
			add_pattern(section,
			    ((struct pattern *)from->patterns->pdata[i])->text);
	}
}

static void *
load_all(void *unused)
{
	GResource *resource = phrase_files_get_resource();
	g_auto(GStrv) files = g_resource_enumerate_children(resource, FOLDER, 0, NULL);
	struct library *library = g_new0(struct library, 1);

	(void)unused;
	library->languages = g_ptr_array_new();
	library->any = phrases_parse("any", "", NULL);
	qsort(files, g_strv_length(files), sizeof(*files), text_compare_pointers);
	for (char **file = files; *file; file++) {
		g_autofree char *path = g_strconcat(FOLDER, *file, NULL);
		g_autoptr(GBytes) bytes = g_resources_lookup_data(path, 0, NULL);
		/* Files of G_RESOURCE_OVERLAYS do not end with NUL. */
		g_autofree char *text =
		    g_strndup(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
		g_autoptr(GError) error = NULL;
		struct phrases *phrases = phrases_parse(*file, text, &error);

		g_assert_no_error(error);
		merge(library->any, phrases);
		/* Of equal readings the first one counts. */
		g_ptr_array_insert(
		    library->languages, strcmp(*file, ENGLISH) == 0 ? 0 : -1, phrases);
	}
	for (guint i = 0; i < library->languages->len; i++)
		((struct phrases *)library->languages->pdata[i])->number = i;
	g_ptr_array_add(library->languages, NULL);
	return library;
}

static const struct library *
get_library(void)
{
	static GOnce once = G_ONCE_INIT;

	return g_once(&once, load_all, NULL);
}

const struct phrases *const *
phrases_get_all(void)
{
	return (const struct phrases *const *)get_library()->languages->pdata;
}

const char *
phrases_get_language(const struct phrases *phrases)
{
	return phrases->language;
}

bool
phrases_knows(const struct phrases *phrases, const struct phrases_word *word)
{
	return g_hash_table_contains(phrases->words, word->plain);
}

/* ---- matching ---- */

void
phrases_match_clear(struct phrases_match *match)
{
	g_clear_pointer(&match->values, g_array_unref);
}

static void
value_clear(void *data)
{
	g_free(((struct phrases_value *)data)->text);
}

static GArray *
new_values(void)
{
	GArray *values = g_array_new(FALSE, FALSE, sizeof(struct phrases_value));

	g_array_set_clear_func(values, value_clear);
	return values;
}

const char *
phrases_get_value(const struct phrases_match *match, const char *name, unsigned n)
{
	for (guint i = 0; match->values && i < match->values->len; i++) {
		const struct phrases_value *value =
		    &g_array_index(match->values, struct phrases_value, i);

		if (strcmp(value->name, name) == 0 && n-- == 0)
			return value->text;
	}
	return NULL;
}

void
phrases_add_value(struct phrases_match *match, const char *name, char *text)
{
	const struct phrases_value value = {.name = name, .text = text};

	if (!match->values)
		match->values = new_values();
	g_array_append_val(match->values, value);
}

/* Threads compile the patterns of a section one after the other. */
static GMutex compiling;

/* The choices of a group that is a whole pattern, or the pattern. */
static void
add_choices(GPtrArray *choices, const struct pattern *pattern)
{
	size_t size = strlen(pattern->text);
	bool is_group = *pattern->text == '(' &&
	                find_end(pattern->text + 1, ")") == pattern->text + size - 1;
	g_autofree char *text =
	    g_strndup(pattern->text + is_group, size - 2 * is_group);

	split_choices(text, choices);
}

/* All patterns of a section, the longest first, in expressions of bounded size. */
static void
compile_section(const struct phrases *language, struct section *section)
{
	g_autoptr(GPtrArray) choices = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GMutexLocker) lock = g_mutex_locker_new(&compiling);

	if (section->starts)
		return;
	section->starts = g_ptr_array_new_with_free_func((GDestroyNotify)g_regex_unref);
	for (guint i = 0; i < section->patterns->len; i++)
		add_choices(choices, section->patterns->pdata[i]);
	g_ptr_array_sort(choices, compare_lengths);
	for (guint i = 0; i < choices->len; i += EXPRESSION_CHOICES) {
		pb_local(source) source = {0};

		source_init(&source, language, false);
		source.is_definition = true;
		for (guint j = i; j < MIN(choices->len, i + EXPRESSION_CHOICES); j++) {
			g_string_append(source.text, j > i ? "|" : "(?<![^ ])(?:");
			write_sequence(&source, choices->pdata[j]);
		}
		g_string_append_c(source.text, ')');
		write_definitions(&source);
		g_ptr_array_add(
		    section->starts, compile(source.text->str, G_REGEX_OPTIMIZE));
	}
}

/* Find the first phrase of a section, and the longest there. @return false: none */
static bool
search(const struct phrases *language, const char *name,
    const struct phrases_span *span, GRegexMatchFlags flags, unsigned *from,
    unsigned *to)
{
	struct section *section = g_hash_table_lookup(language->sections, name);
	int first = G_MAXINT, last = 0;

	if (!section || span->from >= span->to)
		return false;
	compile_section(language, section);
	for (guint i = 0; i < section->starts->len; i++) {
		g_autoptr(GMatchInfo) match = NULL;
		int start, end;

		if (!g_regex_match_full(section->starts->pdata[i],
		        span->text->tokens->str, get_offset(span->text, span->to),
		        get_offset(span->text, span->from), flags, &match, NULL))
			continue;
		g_match_info_fetch_pos(match, 0, &start, &end);
		if (start < first || (start == first && end > last)) {
			first = start;
			last = end;
		}
	}
	if (first == G_MAXINT)
		return false;
	*from = find_word(span->text, first);
	*to = find_word(span->text, last);
	return true;
}

unsigned
phrases_skip(const struct phrases *language, const char *section,
    const struct phrases_span *span)
{
	unsigned from, to;

	return search(language, section, span, G_REGEX_MATCH_ANCHORED, &from, &to)
	           ? to
	           : span->from;
}

unsigned
phrases_skip_any(const char *section, const struct phrases_span *span)
{
	return phrases_skip(get_library()->any, section, span);
}

bool
phrases_has_in(const struct phrases *language, const char *section,
    const struct phrases_span *span)
{
	unsigned from, to;

	return search(language, section, span, 0, &from, &to) ||
	       search(*phrases_get_all(), section, span, 0, &from, &to);
}

bool
phrases_has(const char *section, const struct phrases_span *span)
{
	unsigned from, to;

	return search(get_library()->any, section, span, 0, &from, &to);
}

/*
 * Set a flag of the words of a section; phrases may overlap.  Each expression goes its
 * own way through the text, or those without a match would search all of it each time.
 */
static void
flag(struct phrases_text *text, const struct phrases *language, const char *name,
    char *tokens, unsigned position, char sign)
{
	struct section *section = g_hash_table_lookup(language->sections, name);

	if (!section)
		return;
	compile_section(language, section);
	for (guint i = 0; i < section->starts->len; i++) {
		int start = 0, end;

		for (;;) {
			g_autoptr(GMatchInfo) match = NULL;
			unsigned from;

			if (!g_regex_match_full(section->starts->pdata[i],
			        text->tokens->str, (gssize)text->tokens->len, start, 0,
			        &match, NULL))
				break;
			g_match_info_fetch_pos(match, 0, &start, &end);
			from = find_word(text, start);
			for (unsigned at = from; at < find_word(text, end); at++)
				tokens[get_offset(text, at) + (int)position] = sign;
			start = get_offset(text, from + 1);
		}
	}
}

static const char *
get_flagged(struct phrases_text *text, const struct phrases *language)
{
	char *tokens;

	if (text->flagged->len == 0)
		g_ptr_array_set_size(text->flagged, (int)get_library()->languages->len);
	tokens = text->flagged->pdata[language->number];
	if (tokens)
		return tokens;
	tokens = g_strdup(text->tokens->str);
	flag(text, language, "never", tokens, 1, '!');
	if (language->number)
		flag(text, *phrases_get_all(), "never", tokens, 1, '!');
	flag(text, language, "filler", tokens, 0, '~');
	flag(text, language, "courtesy", tokens, 0, '^');
	flag(text, language, "no", tokens, 2, '#');
	flag(text, language, "not-no", tokens, 2, '-');
	flag(text, language, "doubt", tokens, 2, '#');
	/* Pictographs, which say nothing but in patterns that have them. */
	for (guint i = 0; i < text->words->len; i++) {
		const struct phrases_word *word = phrases_get_word(text, i);

		if (g_unichar_type(g_utf8_get_char(word->start)) ==
		    G_UNICODE_OTHER_SYMBOL)
			tokens[get_offset(text, i)] = '^';
	}
	text->flagged->pdata[language->number] = tokens;
	return tokens;
}

bool
phrases_is_filler(const struct phrases *language, const struct phrases_span *span)
{
	const char *tokens = get_flagged(span->text, language);

	for (unsigned at = span->from; at < span->to; at++) {
		bool is_filler = strchr("~^", tokens[get_offset(span->text, at)]);

		if (!phrases_get_word(span->text, at)->mark && !is_filler)
			return false;
	}
	return true;
}

static void
compile_pattern(const struct phrases *language, struct pattern *pattern)
{
	pb_local(source) source = {0};
	g_autofree char *text = NULL, *whole = NULL;
	guint count;
	bool is_open;
	g_autoptr(GMutexLocker) lock = g_mutex_locker_new(&compiling);

	if (pattern->groups)
		return;
	source_init(&source, language, true);
	source.is_cue = pattern->is_cue;
	write_sequence(&source, pattern->text);
	count = source.groups->len;
	/* Slots of the sections that it refers to are not at its end. */
	is_open = source.is_open;
	text = g_strdup(source.text->str);
	g_string_truncate(source.text, 0);
	write_definitions(&source);
	g_ptr_array_set_size(source.groups, (int)count);
	whole = g_strconcat(
	    strstr(pattern->text, "...") && !pattern->is_cue ? LIMIT_GAP : LIMIT,
	    pattern->is_cue ? LOOSE : "", text,
	    is_open           ? SKIP_COURTESIES
	    : pattern->is_cue ? LOOSE "(?:[,:.?()] )*"
	                      : SKIP_FILLERS,
	    pattern->is_cue && is_open ? AFTER_TOPIC : "", "\\z", source.text->str,
	    NULL);
	pattern->whole = compile(whole, 0);
	pattern->groups = g_steal_pointer(&source.groups);
}

static bool match_pattern(const struct phrases *language, struct pattern *pattern,
    const struct phrases_span *span, struct phrases_match *match);

/* The values of the pattern of a section that covers a span. */
static void
take_section(const struct section *section, const struct phrases_span *span,
    struct phrases_match *match)
{
	for (guint i = 0; i < section->patterns->len; i++) {
		struct phrases_match inner;

		if (!match_pattern(
		        match->language, section->patterns->pdata[i], span, &inner))
			continue;
		g_array_append_vals(
		    match->values, inner.values->data, inner.values->len);
		match->literal += inner.literal;
		g_array_set_clear_func(inner.values, NULL);
		g_array_unref(inner.values);
		return;
	}
}

static void
take_values(const struct pattern *pattern, GMatchInfo *info,
    const struct phrases_span *span, struct phrases_match *match)
{
	match->values = new_values();
	match->literal = 0;
	match->used = 0;
	for (guint i = 0; i < pattern->groups->len; i++) {
		const char *name = pattern->groups->pdata[i];
		const struct section *section =
		    name ? g_hash_table_lookup(match->language->sections, name) : NULL;
		struct phrases_value value = {.name = name};
		struct phrases_span part = *span;
		int start, end;

		if (!g_match_info_fetch_pos(info, (int)i + 1, &start, &end) ||
		    start < 0)
			continue;
		part.from = value.from = find_word(span->text, start);
		part.to = value.to = find_word(span->text, end);
		for (unsigned at = part.from; at < part.to; at++)
			match->used |= 1ULL << MIN(at - span->from, 63);
		if (!name) {
			match->literal++;
			continue;
		}
		if (section) {
			take_section(section, &part, match);
			continue;
		}
		value.text = phrases_copy(span->text, value.from, value.to);
		g_array_append_val(match->values, value);
	}
}

/* Match a pattern that covers a span. */
static bool
match_pattern(const struct phrases *language, struct pattern *pattern,
    const struct phrases_span *span, struct phrases_match *match)
{
	const char *name = pattern->section->name;
	struct phrases_text *text = span->text;
	const char *tokens = get_flagged(text, language);
	const char *intent = pattern->is_cue                  ? name + strlen(CUE)
	                     : g_str_has_prefix(name, INTENT) ? name + strlen(INTENT)
	                                                      : NULL;
	g_autoptr(GMatchInfo) info = NULL;

	compile_pattern(language, pattern);
	if (!g_regex_match_full(pattern->whole, tokens, get_offset(text, span->to),
	        get_offset(text, span->from), G_REGEX_MATCH_ANCHORED, &info, NULL))
		return false;
	match->language = language;
	match->intent = intent ? intent : name;
	take_values(pattern, info, span, match);
	if (pattern->value)
		phrases_add_value(
		    match, intent ? "value" : name, g_strdup(pattern->value));
	return true;
}

/*
 * Replace a match by that of a pattern, if it covers a span and has more words of its
 * own.
 *
 * @param accept  or NULL
 */
static void
match_better(const struct phrases *language, struct pattern *pattern,
    const struct phrases_span *span, phrases_accept_fn *accept,
    struct phrases_match *best)
{
	struct phrases_match one;

	if (!match_pattern(language, pattern, span, &one))
		return;
	/* An intent has a word of its own, not only optional ones. */
	if ((one.literal || !accept) &&
	    (!best->values || one.literal > best->literal) &&
	    (!accept || accept(span->text, &one))) {
		phrases_match_clear(best);
		*best = one;
	} else {
		phrases_match_clear(&one);
	}
}

bool
phrases_cover(
    const char *name, const struct phrases_span *span, struct phrases_match *match)
{
	const struct phrases *const *language = phrases_get_all();

	*match = (struct phrases_match){0};
	for (; *language; language++) {
		const struct section *section =
		    g_hash_table_lookup((*language)->sections, name);

		for (guint i = 0; section && i < section->patterns->len; i++)
			match_better(
			    *language, section->patterns->pdata[i], span, NULL, match);
	}
	return match->values;
}

bool
phrases_find_intent(const struct phrases *language, const struct phrases_span *span,
    bool is_cue, phrases_accept_fn *accept, struct phrases_match *match)
{
	g_autofree guint8 *found = g_malloc0(language->intents->len + 1);

	for (unsigned at = span->from; at < span->to; at++) {
		const char *key = phrases_get_word(span->text, at)->key;
		const GArray *all =
		    key ? g_hash_table_lookup(language->needed, key) : NULL;

		for (guint i = 0; all && i < all->len; i++) {
			const struct needed *needed =
			    &g_array_index(all, struct needed, i);

			found[needed->number] |= needed->part;
		}
	}
	*match = (struct phrases_match){0};
	for (guint i = 0; i < language->intents->len; i++) {
		struct pattern *pattern = language->intents->pdata[i];

		if (pattern->is_cue == is_cue && found[i] == pattern->needed)
			match_better(language, pattern, span, accept, match);
	}
	return match->values;
}

const char *
phrases_find_value(const char *name, const char *phrase)
{
	const struct phrases *const *language = phrases_get_all();

	for (; *language; language++) {
		const struct section *section =
		    g_hash_table_lookup((*language)->sections, name);

		for (guint i = 0; section && i < section->patterns->len; i++) {
			const struct pattern *pattern = section->patterns->pdata[i];

			if (strcmp(pattern->text, phrase) == 0)
				return pattern->value;
		}
	}
	return NULL;
}

/* ---- misspelt words ---- */

static const char *
find_misspelt(const struct phrases *language, const char *plain, unsigned *best)
{
	const struct section *section =
	    g_hash_table_lookup(language->sections, "misspelt");
	const char *found = NULL;

	for (guint i = 0; section && i < section->patterns->len; i++) {
		const struct pattern *pattern = section->patterns->pdata[i];
		g_auto(GStrv) words = g_strsplit_set(pattern->text, "(|) ", -1);

		for (char **word = words; *word; word++) {
			unsigned slips = edit_distance_count_slips(
			    plain, strlen(plain), *word, strlen(*word));

			if (**word && slips < *best) {
				*best = slips;
				found = g_intern_string(*word);
			}
		}
	}
	return found;
}

/* Two letters swapped, or one left out: "remvoe", "flter". */
static bool
is_swapped(const char *word, const char *name)
{
	size_t a = strlen(word), b = strlen(name), i = 0;

	while (word[i] && word[i] == name[i])
		i++;
	if (a == b)
		return a > i + 1 && word[i] == name[i + 1] && word[i + 1] == name[i] &&
		       strcmp(word + i + 2, name + i + 2) == 0;
	return a + 1 == b && strcmp(word + i, name + i + 1) == 0;
}

/* The word of the section "swapped" that is meant by one that no pattern has. */
static const char *
find_swapped(const struct phrases_word *word)
{
	const struct phrases *const *language = phrases_get_all();
	const char *found = NULL;

	for (; *language; language++) {
		const struct section *section =
		    g_hash_table_lookup((*language)->sections, "swapped");

		if (phrases_knows(*language, word))
			return NULL;
		for (guint i = 0; section && i < section->patterns->len; i++) {
			const struct pattern *pattern = section->patterns->pdata[i];
			g_auto(GStrv) names = g_strsplit_set(pattern->text, "(|)", -1);

			for (char **name = names; *name; name++)
				if (**name && is_swapped(word->plain, *name))
					found = g_intern_string(*name);
		}
	}
	return found;
}

/* "Pleeease", "obrigadaaa" @return the word with single letters, if a language has it
 */
static const char *
find_stretched(const struct phrases_word *word)
{
	const struct phrases *const *language = phrases_get_all();
	g_autoptr(GString) single = g_string_new(NULL);
	size_t size = strlen(word->plain);

	for (const char *at = word->plain; *at; at++)
		if (at < word->plain + 2 || at[0] != at[-1] || at[0] != at[-2])
			g_string_append_c(single, *at);
		else if (single->len > 1 && single->str[single->len - 2] == *at)
			g_string_truncate(single, single->len - 1);
	for (; single->len < size && *language; language++)
		if (g_hash_table_contains((*language)->words, single->str))
			return g_intern_string(single->str);
	return NULL;
}

static const char *
find_meant(const struct phrases_word *word)
{
	const struct phrases *const *language = phrases_get_all();
	const char *found = NULL, *one;
	unsigned best = SLIPS_MAX + 1;
	size_t size = word->mark ? 0 : strlen(word->plain);

	if (size < SWAPPED_BYTES || size > 2 * MISSPELT_BYTES)
		return NULL;
	if ((found = find_stretched(word)))
		return found;
	for (; size >= MISSPELT_BYTES && *language; language++)
		if ((one = find_misspelt(*language, word->plain, &best)))
			found = one;
	/* German "bestellen" is not meant as "abbestellen". */
	if (found && best > 0 && strlen(found) <= size + SLIPS_MAX &&
	    !(strlen(found) > size + 1 && g_str_has_suffix(found, word->plain)))
		return found;
	return best == 0 ? NULL : find_swapped(word);
}

void
phrases_correct(struct phrases_text *text)
{
	for (guint i = 0; i < text->words->len; i++) {
		struct phrases_word *word =
		    &g_array_index(text->words, struct phrases_word, i);
		const char *found = find_meant(word);
		size_t size = word->mark ? 0 : strlen(word->plain);
		gssize start = (gssize)word->offset + (gssize)strlen(FLAGS);

		if (!found)
			continue;
		/* Replace its first form. */
		g_free(word->plain);
		g_free(word->key);
		word->plain = g_strdup(found);
		word->key = format_key(found);
		g_string_erase(text->tokens, start, (gssize)size);
		g_string_insert(text->tokens, start, found);
		for (guint j = i + 1; j < text->words->len; j++)
			g_array_index(text->words, struct phrases_word, j).offset +=
			    (unsigned)strlen(found) - (unsigned)size;
	}
}
